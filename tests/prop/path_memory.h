/* An allocator in the place of base/mem.c that knows by which path of calls it was reached. For tests. */
#ifndef FATHOM_PATH_MEMORY_H
#define FATHOM_PATH_MEMORY_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* From now on: paths are remembered while `record`, and the first allocation by path `fail` (0: none) fails. */
void path_begin(bool record, uint64_t fail);
void path_start_here(void); /* who called the caller of this is no part of any path */
bool path_failed(void);	    /* since path_begin */
size_t path_count(void);    /* distinct ones, ever */
uint64_t path_at(size_t i); /* in the order in which they were first reached */
long path_live(void);	    /* pieces that were handed out and are not free yet */
/* The functions on the way to the allocation that failed last, innermost first. */
void path_print_failed(void);

#endif
