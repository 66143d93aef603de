/* When each scheduler has its next turn. A wheel of cycles has a bit a scheduler in each. Finding the next turn and
 * moving one thus takes a few steps however many schedulers are busy in the same cycle. Turns of one cycle come in the
 * order of the schedulers' numbers. Turns further away wait in a list that is looked through rarely. Of a few
 * schedulers the earliest turn is found sooner by a look at all of them: then there is nothing but the list. Private to
 * time/. */
#ifndef FATHOM_TIME_WHEEL_H
#define FATHOM_TIME_WHEEL_H
#include <stdbool.h>
#include <stdint.h>

#define WHEEL_FEW    8
#define WHEEL_CYCLES 1024
#define WHEEL_NEVER  UINT64_MAX

struct time_wheel {
	uint64_t *bits;			  /* WHEEL_CYCLES x words */
	uint64_t used[WHEEL_CYCLES / 64]; /* which cycles have a bit */
	uint32_t any;			  /* which words of `used` have one */
	uint64_t *at;			  /* of each scheduler, WHEEL_NEVER */
	uint8_t *place;			  /* of each scheduler: enum wheel_place */
	uint32_t count, words;
	uint32_t far_count;
	uint64_t far_least; /* no far turn comes before it */
	uint64_t now;	    /* no turn comes before it; what is on the wheel lies within WHEEL_CYCLES */
};

int wheel_open(struct time_wheel *w, uint32_t count); /* 0 or -ENOMEM */
void wheel_close(struct time_wheel *w);
void wheel_reset(struct time_wheel *w, uint64_t now);			      /* nobody has a turn */
void wheel_move(struct time_wheel *w, uint32_t n, uint64_t at);		      /* wheel_set of many schedulers */
uint64_t wheel_next_of_many(struct time_wheel *w, uint64_t end, uint32_t *n); /* wheel_next likewise */

/* Puts scheduler n's turn at a cycle that is not before the latest wheel_next. */
static inline void wheel_set(struct time_wheel *w, uint32_t n, uint64_t at)
{
	if (w->count <= WHEEL_FEW)
		w->at[n] = at;
	else
		wheel_move(w, n, at);
}

/* The earliest turn of a few schedulers and the first that has it. */
static inline uint64_t wheel_least_of_few(const struct time_wheel *w, uint32_t *n)
{
	uint64_t least = w->at[0];
	uint32_t first = 0;
	for (uint32_t k = 1; k < w->count; k++) {
		first = w->at[k] < least ? k : first;
		least = w->at[k] < least ? w->at[k] : least;
	}
	*n = first;
	return least;
}

/* The earliest turn's cycle when it comes before `end`, and whose it is; it stays where it is. Else nothing changes for
 * the cycles from the latest one up to `end`. The cycle that comes back, not before `end`, is one that no turn is
 * before: WHEEL_NEVER when there is none at all. */
static inline uint64_t wheel_next(struct time_wheel *w, uint64_t end, uint32_t *n)
{
	return w->count <= WHEEL_FEW ? wheel_least_of_few(w, n) : wheel_next_of_many(w, end, n);
}

uint64_t wheel_least(const struct time_wheel *w); /* no turn comes before it */

#endif
