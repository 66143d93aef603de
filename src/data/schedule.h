/* A fixed order in which the ways of a set are replaced, over and over: how it is written where nobody knows the ways' names. */
#ifndef FATHOM_SCHEDULE_H
#define FATHOM_SCHEDULE_H
#include <stddef.h>
#include <stdint.h>

#define SCHEDULE_MOST 24 /* places, all of which a finding's text can hold */
#define SCHEDULE_WAYS 64

/* way[count]: numbers below SCHEDULE_WAYS. Writes "1,2,1,3". Ways are numbered as they come up, from the place on that
 * gives the least numbers. Two schedules are thus one if they differ only in names of ways and in where they begin. */
void schedule_text(char *out, size_t n, const uint16_t *way, uint32_t count);

#endif
