/* Host threads that run clusters side by side. Private to time/.
 *
 * Which thread runs which cluster is left to chance; nothing that a cluster does in an epoch depends on it. */
#ifndef FATHOM_TIME_THREADS_H
#define FATHOM_TIME_THREADS_H
#include <stdint.h>

struct time_cluster;
struct time_threads;

/* `others` threads besides the caller's. NULL when there is no memory for them or the system gives none: the caller then works
 * alone, more slowly. */
struct time_threads *threads_open(uint32_t others);
void threads_close(struct time_threads *p);
/* Does job(list[k], arg) for all k below count, in whatever order, and returns when all are done. */
void threads_each(struct time_threads *p, struct time_cluster **list, uint32_t count,
		  void (*job)(struct time_cluster *c, uint64_t arg), uint64_t arg);

#endif
