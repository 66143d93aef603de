/* What the files of this probe share. */
#ifndef FATHOM_HOST_H
#define FATHOM_HOST_H
#include "probe/probe.h"

enum host_experiment { HOST_COPY, HOST_LAUNCHES, HOST_SPIN, HOST_MAPPED };
enum way { WAY_IN, WAY_OUT, WAY_BOTH };
enum { COPY_WAY, COPY_PINNED, COPY_TURNS }; /* places in p */
#define HOST_ALIKE 1.5 /* times as long: what times alike may differ by for the middle one to be believed */
/* Times that the host decides differ more from run to run than within one. On an H200 launches came in rows of 3.5 to
 * 4.8 us each, and copies both ways at 90 to 103 GB/s. */
#define HOST_BETWEEN_RUNS   0.15
#define LINK_BETWEEN_RUNS   0.03 /* the same of copies one way, which the link holds up: 53.1 to 55.5 GB/s */
#define MAPPED_BETWEEN_RUNS 0.06 /* the same of a load of the host's memory: 1.11 to 1.23 us in seven runs of H200s */
/* Copies of memory that can be paged depend on the pages of a process. Six runs of two H200s lay from 0.72 to 1.46
 * times the middle of their card's three. */
#define PAGEABLE_BETWEEN_RUNS 1.5
enum { BY_HOST = 2, BY_DEVICE = 4 }; /* where a copy's times stand, from the end of its words */

void host_idle(struct job *j);
void host_spin(struct job *j, double turns); /* one thread, busy for so many turns */

/* Nanoseconds that stand so many words before the end of a repeat's words. */
double host_ns(const struct point *pt, uint32_t repeat, unsigned from_end);
struct times {
	bool ok;		 /* all of them are more than 0 */
	double ns, lo, hi;	 /* median, least and most of the repeats */
	const struct point *bad; /* NULL, or a point that has none */
};
struct times host_times(const struct point *pt, unsigned from_end);

/* host_copies.c */
void host_copies(struct study *s);
int host_draw(const struct study *s, struct figure_list *out);

#endif
