/* Independent threads: the paths of one warp, each a set of lanes with a pc of its own.
 *
 * A branch on which lanes differ makes two paths out of one and a meeting point at its join. A path that comes to its
 * meeting point waits there for the other lanes of that point, as at a convergence barrier. They then go on together.
 * One path of a warp issues at a time. The turn passes on, in order, when a path waits, ends or branches backwards. An
 * endless path has to do one of them, so each path gets its turns. Waiting to meet is there for speed and never costs
 * progress. The lanes that wait go on without the rest when no other path of the warp can run, or when the others only
 * spin. To spin means that the whole warp came back to the same registers, predicates and paths. As a last resort,
 * `yield_after` backward branches count as spinning.
 *
 * With a reconvergence stack there is none of this: func_warp.paths is NULL. */
#ifndef FATHOM_FUNC_PATHS_H
#define FATHOM_FUNC_PATHS_H
#include "gpu/sim/func/func.h"

enum { FUNC_RUNS, FUNC_WAITS_LANES, FUNC_WAITS_BARRIER }; /* func_track.wait; the last plus the barrier's number */
#define FUNC_NO_MEET 0xffu
#define FUNC_MEETS   64 /* more at once are not made: such lanes meet at the next point further out */

struct func_meet {
	uint32_t pc, lanes, arrived; /* lanes still to be met here, 0 = this place is free; those of them that wait */
	uint8_t outer;		     /* where they meet next, or FUNC_NO_MEET */
};
struct func_track {
	uint64_t at;	   /* cycle from which it may go on: kept by time/ */
	uint32_t pc, mask; /* of the path that issues: in func_warp */
	uint32_t from;	   /* record at which it waits */
	uint8_t meet, wait;
};
struct func_paths {
	struct func_track now;		     /* the one that issues */
	struct func_track other[FUNC_LANES]; /* in order of turn */
	uint32_t count;			     /* of other[] */
	uint32_t held;			     /* lanes that wait at meeting points */
	uint32_t turns;			     /* since lanes began to wait */
	uint32_t meets;			     /* places of meet[] that mean something; those behind were never used */
	uint64_t print[2];		     /* of the warp, some turns ago */
	struct func_meet meet[FUNC_MEETS];
};

/* For func_warp.c and the loops of both engines. */
void func_paths_start(struct func_warp *w);
void func_paths_split(struct func_warp *w, const struct func_inst *i, uint32_t taken);
void func_paths_meet(struct func_warp *w); /* pc has come to join */
void func_paths_exit(struct func_warp *w, uint32_t lanes);
/* The path that issues waits at its pc and goes on at the next record. */
void func_paths_park(struct func_warp *w, uint32_t wait);
/* Paths of these lanes that wait so may go on from cycle at. True: the warp had no path that could run, and has one now. */
bool func_paths_wake(struct func_warp *w, uint32_t wait, uint32_t lanes, uint64_t at);
/* Of a record that names lanes (FUNC_GATHER) or bar.warp.sync, of a diverged warp: the lanes with which it is executed.
 * If 0, the path waits for lanes that are not there yet, and another path has the turn. Lanes may come to two records
 * of one kind; then all of those are executed here, and the handler is not to be called (*executed). */
uint32_t func_paths_gather(struct func_warp *w, const struct func_inst *i, uint32_t mask, bool *executed);
/* Clears w->diverged when all lanes are together again. */
static inline bool func_paths_together(struct func_warp *w)
{
	if (w->paths->count == 0 && w->active == w->live)
		w->diverged = false;
	return !w->diverged;
}

/* Fingerprint of 128 bits of everything that a warp is: registers, predicates, pc, stack or paths. */
void func_warp_print(const struct func_warp *w, uint64_t print[2]);

#endif
