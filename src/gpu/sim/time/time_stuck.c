/* Launches that never end, found while they run.
 *
 * Nothing can ever happen again when each live warp waits for a barrier or lanes that cannot come, or loops without a
 * change. The latter is exact: what a warp does next follows from its registers, predicates and paths and from memory.
 * Suppose that a warp comes back to a state it has been in. If nobody has changed a byte of memory, come to a barrier,
 * exited or read a clock since, it does for ever what it did. When that holds for all warps that can run, nobody ever
 * changes anything again. States are compared by fingerprints of 128 bits, at backward branches, each with one
 * remembered state after Brent. The remembered one is replaced after 1, 2, 4 ... branches, so that a loop of any length
 * is found.
 *
 * That costs a look at all registers at a branch, so it is done in short windows. They begin when 1, 2, 4, 8 ... times
 * TIME_PATIENCE instructions have been issued. Loops that read a clock are left to the time limit. */
#include "gpu/sim/time/time_state.h"
#include <stdio.h>
#include <string.h>

#define WINDOW_LEAST 8192
#define WINDOW_MOST  (1u << 19)
/* A loop that waits comes back to its state soon. Of one that does not, so many branches are looked at, and then one of so many: what
 * repeats does so in any step. */
#define ROUNDS_ALL  16
#define ROUNDS_STEP 8
#define SAID	    4 /* kinds of waiting that a message names */

/* ---- who waits where ---- */

enum { AT_BARRIER, FOR_LANES, IN_LOOP, REASONS };

struct said {
	uint32_t count, line, why;
};
struct saying {
	struct said said[SAID];
	uint32_t n, others;
};

static void say(struct saying *s, uint32_t why, uint32_t line)
{
	for (uint32_t k = 0; k < s->n; k++)
		if (s->said[k].why == why && s->said[k].line == line) {
			s->said[k].count++;
			return;
		}
	if (s->n == SAID)
		s->others++;
	else
		s->said[s->n++] = (struct said){.count = 1, .line = line, .why = why};
}

static void say_warp(struct saying *s, const struct time_run *x, const struct time_warp *w)
{
	const struct func_info *info = x->p->func->info;
	if (w->waiting) {
		say(s, AT_BARRIER, info[w->waits_at].line);
		return;
	}
	if (w->sched->wake[w->slot] != NEVER) {
		say(s, IN_LOOP, w->watched.line);
		return;
	}
	/* One of its paths stands for a warp of several. */
	const struct func_track *t = w->f.paths && w->f.paths->count ? &w->f.paths->other[0] : NULL;
	if (t)
		say(s, t->wait == FUNC_WAITS_LANES ? FOR_LANES : AT_BARRIER, info[t->from].line);
}

void time_deadlock(struct time_run *x)
{
	static const char *const one[REASONS] = {"waits at the barrier of line", "waits for other lanes in line",
						 "goes round the loop of line"};
	static const char *const many[REASONS] = {"wait at the barrier of line", "wait for other lanes in line",
						  "go round the loop of line"};
	struct saying s = {0};
	char *text = x->r->message;
	size_t room = sizeof x->r->message, at;
	for (uint32_t n = 0; n < x->g->sched_count; n++)
		for (uint32_t k = 0; k < x->g->sched[n].slots; k++)
			if (x->g->sched[n].warp[k])
				say_warp(&s, x, x->g->sched[n].warp[k]);
	x->stop = true;
	x->r->end = TIME_DEADLOCK;
	at = (size_t)snprintf(text, room, "no warp can go on:");
	for (uint32_t k = 0; k < s.n && at < room; k++)
		at += (size_t)snprintf(text + at, room - at, "%s %u %s %u", k ? "," : "", s.said[k].count,
				       (s.said[k].count == 1 ? one : many)[s.said[k].why], s.said[k].line);
	if (s.others && at < room)
		at += (size_t)snprintf(text + at, room - at, ", %u elsewhere", s.others);
	if (at < room)
		snprintf(text + at, room - at, "; nothing can change that");
}

/* ---- windows ---- */

/* Called when patience has run out: opens a window, with its length, or closes it. */
void time_watch_window(struct time_run *x, uint32_t *patience)
{
	if (x->watch) {
		x->watch = false;
		return;
	}
	uint64_t n = ++x->windows;
	if (n & (n - 1))
		return;
	uint64_t length = n * *patience / 64;
	*patience = length < WINDOW_LEAST ? WINDOW_LEAST : length > WINDOW_MOST ? WINDOW_MOST : (uint32_t)length;
	x->watch = true;
	x->epoch++;
}

/* Whether every live warp is stuck. */
static bool all_stuck(const struct time_gpu *g)
{
	for (uint32_t n = 0; n < g->sched_count; n++) {
		const struct time_sched *s = &g->sched[n];
		const struct time_run *x = &s->cluster->run;
		for (uint32_t k = 0; k < s->slots; k++) {
			const struct time_warp *w = s->warp[k];
			if (w && s->wake[k] != NEVER && (w->watched.epoch != x->epoch || !w->watched.line))
				return false;
		}
	}
	return true;
}

bool time_watch_epoch(struct time_gpu *g, struct time_grid *grid)
{
	uint32_t clusters = g->spec->cluster_count;
	uint64_t issued = 0;
	bool starts = false, alive = false;
	for (uint32_t n = 0; n < clusters; n++) {
		issued += g->cluster[n].result.instructions;
		starts |= g->cluster[n].start_next != NEVER;
		alive |= g->cluster[n].run.alive != 0;
	}
	if (grid->watch && !grid->changed && alive && !starts && all_stuck(g))
		return true;
	bool opens = !grid->watch && issued >= grid->window_at;
	if (opens) {
		uint64_t length = grid->window_at / 64;
		grid->window_end = issued + (length < WINDOW_LEAST ? WINDOW_LEAST : length);
		grid->window_at = issued * 2;
		grid->watch = true;
	}
	if (grid->watch && issued >= grid->window_end)
		grid->watch = false;
	for (uint32_t n = 0; n < clusters; n++) {
		struct time_run *x = &g->cluster[n].run;
		x->watch = grid->watch;
		x->epoch += opens || grid->changed;
	}
	grid->changed = false;
	return false;
}

/* A branch of w, at record `from`, has been taken. */
void time_watch_branch(struct time_run *x, struct time_warp *w, const struct func_inst *i, uint32_t from)
{
	struct time_watched *seen = &w->watched;
	uint64_t print[2];
	/* Lanes that wait to meet others go on when those have spun long enough: then the state is no whole one. */
	if (i->target > from || !w->f.active || (w->f.paths && w->f.paths->held) ||
	    (seen->epoch == x->epoch && seen->line))
		return;
	/* The first branch after a change is only counted. In most loops that go on, something changes in every round,
	 * and then no registers are looked at. */
	if (seen->epoch != x->epoch) {
		*seen = (struct time_watched){.epoch = x->epoch};
		return;
	}
	if (++seen->rounds > ROUNDS_ALL && seen->rounds % ROUNDS_STEP)
		return;
	func_warp_print(&w->f, print);
	if (!seen->power) {
		memcpy(seen->print, print, sizeof print);
		seen->power = 1;
		return;
	}
	if (memcmp(seen->print, print, sizeof print) == 0) {
		seen->line = x->p->func->info[from].line;
		if (x->c->alone && all_stuck(x->g))
			time_deadlock(x);
		return;
	}
	if (++seen->steps == seen->power) {
		memcpy(seen->print, print, sizeof print);
		seen->power *= 2;
		seen->steps = 0;
	}
}

static void changed(struct time_run *x)
{
	x->epoch++;
	if (x->c->direct) /* else it is the cluster's own, shared or local, memory */
		x->grid->changed = true;
}

/* Runs the handler of a store or atomic and notes whether it changed a byte. */
void time_watch_handler(struct time_run *x, struct func_warp *w, const struct func_inst *i, uint32_t mask)
{
	uint8_t *target[FUNC_LANES], before[FUNC_LANES][16];
	uint32_t bytes = i->bytes < 16 ? i->bytes : 16;
	uint32_t known = func_targets(w, i, mask, target);
	for (uint32_t rest = known; rest; rest &= rest - 1) {
		unsigned l = (unsigned)__builtin_ctz(rest);
		memcpy(before[l], target[l], bytes);
	}
	func_do_half(w, i, mask);
	for (uint32_t rest = known; rest; rest &= rest - 1) {
		unsigned l = (unsigned)__builtin_ctz(rest);
		if (memcmp(before[l], target[l], bytes) != 0) {
			changed(x);
			return;
		}
	}
	if (known != mask || i->bytes > 16)
		changed(x);
}

/* The same of what a thread keeps for itself. Frames of calls are taken as changed. */
void time_watch_own(struct time_run *x, struct func_warp *w, const struct func_inst *i, uint64_t mask)
{
	if (i->bytes && mask <= UINT32_MAX) {
		time_watch_handler(x, w, i, (uint32_t)mask);
		return;
	}
	func_do(w, i, mask);
	x->epoch++;
}
