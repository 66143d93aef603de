#include "gpu/sim/func/func_paths.h"
#include <assert.h>
#include <string.h>

#define ROUND	64 /* a fingerprint is taken once in so many turns ... */
#define COMPARE 8  /* ... and compared at the turns after it, so that loops within loops are found too */

void func_paths_start(struct func_warp *w)
{
	struct func_paths *p = w->paths;
	p->now = (struct func_track){.meet = FUNC_NO_MEET};
	p->count = p->held = p->turns = p->meets = 0;
	w->diverged = false;
}

/* ---- the list ---- */

static void push(struct func_warp *w, struct func_track t)
{
	struct func_paths *p = w->paths;
	assert(p->count < FUNC_LANES); /* each has a lane of its own */
	p->other[p->count++] = t;
	w->diverged = true;
}

static struct func_track take_out(struct func_paths *p, uint32_t k)
{
	struct func_track t = p->other[k];
	memmove(&p->other[k], &p->other[k + 1], (--p->count - k) * sizeof t);
	return t;
}

static uint32_t join_of(const struct func_paths *p, uint8_t meet)
{
	return meet == FUNC_NO_MEET ? FUNC_NO_JOIN : p->meet[meet].pc;
}

static void load(struct func_warp *w, struct func_track t)
{
	w->paths->now = t;
	w->pc = t.pc;
	w->active = t.mask;
	w->join = join_of(w->paths, t.meet);
}

static struct func_track save(const struct func_warp *w, uint32_t wait)
{
	struct func_track t = w->paths->now;
	t.pc = t.from = w->pc;
	t.mask = w->active;
	t.wait = (uint8_t)wait;
	t.at = 0;
	return t;
}

static bool load_next(struct func_warp *w)
{
	struct func_paths *p = w->paths;
	for (uint32_t k = 0; k < p->count; k++)
		if (p->other[k].wait == FUNC_RUNS) {
			load(w, take_out(p, k));
			return true;
		}
	return false;
}

/* ---- meeting points ---- */

static uint8_t new_meet(struct func_paths *p, uint32_t pc, uint32_t lanes)
{
	uint32_t k = 0;
	while (k < p->meets && p->meet[k].lanes)
		k++;
	if (k == FUNC_MEETS)
		return p->now.meet;
	p->meets = k < p->meets ? p->meets : k + 1;
	p->meet[k] = (struct func_meet){.pc = pc, .lanes = lanes, .outer = p->now.meet};
	return (uint8_t)k;
}

/* The lanes that wait at m go on as a path of their own. */
static void leave_meet(struct func_warp *w, struct func_meet *m)
{
	push(w, (struct func_track){.pc = m->pc, .mask = m->arrived, .meet = m->outer});
	w->paths->held &= ~m->arrived;
	m->lanes &= ~m->arrived;
	m->arrived = 0;
}

static bool leave_all_meets(struct func_warp *w)
{
	struct func_paths *p = w->paths;
	bool any = p->held != 0;
	for (uint32_t k = 0; k < p->meets && p->held; k++)
		if (p->meet[k].arrived)
			leave_meet(w, &p->meet[k]);
	p->turns = 0;
	return any;
}

/* The path that issues stands at its meeting point. False: it waits there. */
static bool arrive(struct func_warp *w)
{
	struct func_paths *p = w->paths;
	struct func_meet *m = &p->meet[p->now.meet];
	m->arrived |= w->active;
	if (m->arrived != m->lanes) {
		p->held |= w->active;
		p->turns = 0;
		w->active = 0;
		return false;
	}
	p->held &= ~m->lanes;
	w->active = m->lanes;
	m->lanes = m->arrived = 0;
	p->now.meet = m->outer;
	w->join = join_of(p, m->outer);
	return true;
}

/* Until some path can issue, or none can. */
static void settle(struct func_warp *w)
{
	for (;;) {
		if (w->active && w->pc != w->join)
			return;
		if (w->active && arrive(w))
			continue;
		if (load_next(w))
			continue;
		if (leave_all_meets(w))
			continue;
		w->active = 0;
		w->join = FUNC_NO_JOIN;
		return;
	}
}

void func_paths_meet(struct func_warp *w)
{
	settle(w);
}

/* ---- turns ---- */

/* Whether the warp came back to where it was some turns ago. Only asked while lanes wait: it costs a look at all registers. */
static bool spins(struct func_warp *w)
{
	struct func_paths *p = w->paths;
	uint32_t limit = w->block->launch->yield_after, at = ++p->turns % ROUND;
	uint64_t print[2];
	if (limit && p->turns >= limit)
		return true;
	if (at > COMPARE)
		return false;
	func_warp_print(w, print);
	if (at && p->turns > ROUND && memcmp(print, p->print, sizeof print) == 0)
		return true;
	if (!at)
		memcpy(p->print, print, sizeof print);
	return false;
}

/* After a backward branch. */
static void turn(struct func_warp *w)
{
	struct func_paths *p = w->paths;
	if (p->held && spins(w))
		leave_all_meets(w);
	push(w, save(w, FUNC_RUNS));
	w->active = 0;
	settle(w);
}

void func_paths_turn(struct func_warp *w)
{
	if (w->active && (w->paths->count || w->paths->held))
		turn(w);
}

void func_paths_split(struct func_warp *w, const struct func_inst *i, uint32_t taken)
{
	struct func_paths *p = w->paths;
	uint32_t pc = w->pc, join = i->join, rest = w->active & ~taken;
	uint8_t meet = p->now.meet;
	if (join != FUNC_NO_JOIN && join != w->join)
		meet = new_meet(p, join, w->active);
	struct func_track first = {.pc = i->target, .mask = taken, .meet = meet};
	struct func_track second = {.pc = pc + 1, .mask = rest, .meet = meet};
	if (w->block->launch->fallthrough_first) {
		struct func_track t = first;
		first = second;
		second = t;
	}
	load(w, first);
	push(w, second);
	settle(w);
	if (i->target <= pc && w->pc == i->target)
		func_paths_turn(w);
}

void func_paths_exit(struct func_warp *w, uint32_t lanes)
{
	struct func_paths *p = w->paths;
	w->live &= ~lanes;
	w->active &= ~lanes;
	if (!w->diverged && p->now.meet == FUNC_NO_MEET) { /* all are together, and nobody is to be met */
		w->pc += w->active != 0;
		return;
	}
	for (uint32_t k = 0; k < p->meets; k++) {
		struct func_meet *m = &p->meet[k];
		m->lanes &= ~lanes;
		if (m->arrived && m->arrived == m->lanes)
			leave_meet(w, m);
	}
	/* Lanes that have exited are waited for no longer. */
	for (uint32_t k = 0; k < p->count; k++)
		if (p->other[k].wait == FUNC_WAITS_LANES)
			p->other[k].wait = FUNC_RUNS;
	if (w->active)
		w->pc++;
	settle(w);
}

void func_paths_park(struct func_warp *w, uint32_t wait)
{
	struct func_track t = save(w, wait);
	t.pc++;
	push(w, t);
	w->active = 0;
	settle(w);
}

bool func_paths_wake(struct func_warp *w, uint32_t wait, uint32_t lanes, uint64_t at)
{
	struct func_paths *p = w->paths;
	bool any = false;
	for (uint32_t k = 0; k < p->count; k++)
		if (p->other[k].wait == wait && !(p->other[k].mask & ~lanes)) {
			p->other[k].wait = FUNC_RUNS;
			p->other[k].at = at;
			any = true;
		}
	if (!any || w->active)
		return false;
	settle(w);
	return true;
}

/* ---- lanes that are named ---- */

static uint32_t through(const struct func_warp *w, const struct func_inst *i, uint32_t mask)
{
	if (i->guard == FUNC_NONE)
		return mask;
	uint32_t p = w->pred[i->guard];
	return mask & (i->flags & FUNC_GUARD_NOT ? ~p : p);
}

/* The mask that the record's first lane names. */
static uint32_t named_by(const struct func_warp *w, const struct func_inst *i, uint32_t mask)
{
	uint16_t row = i->flags & FUNC_WARP_SYNC ? i->a : i->more[2];
	return row == FUNC_NONE ? 0 : w->reg[(size_t)row * FUNC_LANES + (uint32_t)__builtin_ctz(mask)];
}

/* Whether the waiting path t takes part in what the path that issues has come to. That is so at the same record, or at
 * bar.warp.sync anywhere. It is also so at a record with the same operation, qualifiers and named lanes. */
static bool comes_too(const struct func_warp *w, const struct func_inst *i, const struct func_track *t, uint32_t named)
{
	const struct func_program *p = w->block->launch->program;
	const struct func_inst *other = &p->inst[t->pc];
	if (t->wait != FUNC_WAITS_LANES)
		return false;
	if (t->pc == w->pc)
		return true;
	if (i->flags & FUNC_WARP_SYNC)
		return other->flags & FUNC_WARP_SYNC;
	return other->flags & FUNC_GATHER && other->op == i->op && other->more[0] == i->more[0] &&
	       named_by(w, other, t->mask) == named;
}

/* What one lane brings: its own record, and the value of its source. */
struct bring {
	const struct func_inst *record;
	uint64_t value;
};

static bool is_vote(const struct func_warp *w, const struct func_inst *i)
{
	return w->block->launch->program->info[i - w->block->launch->program->inst].ptx_op == PTX_OP_VOTE;
}

static bool is_wide(const struct func_warp *w, const struct func_inst *i)
{
	const struct func_program *p = w->block->launch->program;
	return p->info[i - p->inst].ptx_op == PTX_OP_MATCH && i->more[3];
}

static uint32_t *row_of(const struct func_warp *w, uint16_t row)
{
	return w->reg + (size_t)row * FUNC_LANES;
}

static uint64_t value_of(const struct func_warp *w, const struct func_inst *i, uint32_t lane)
{
	if (is_vote(w, i))
		return (w->pred[i->a] >> lane ^ (i->more[1] ? 1u : 0u)) & 1;
	return is_wide(w, i) ? ((const uint64_t *)row_of(w, i->a))[lane] : row_of(w, i->a)[lane];
}

/* Executes one record for the lanes of `all` that stand at it. The others lend their values for the time of the call: what the
 * record reads and writes of theirs is put back. */
static void execute(struct func_warp *w, const struct func_inst *i, uint32_t all, const struct bring *lane)
{
	bool vote = is_vote(w, i), wide = is_wide(w, i), row = !vote || i->more[0] == PTX_SUB_BALLOT;
	uint16_t second = vote ? FUNC_NONE : i->more[1];
	uint32_t source[2 * FUNC_LANES], result[FUNC_LANES], preds[3] = {0}, guests = 0;
	for (uint32_t rest = all; rest; rest &= rest - 1) {
		uint32_t l = (uint32_t)__builtin_ctz(rest);
		guests |= (uint32_t)(lane[l].record != i) << l;
	}
	if (vote)
		preds[0] = w->pred[i->a];
	else
		memcpy(source, row_of(w, i->a), (wide ? 2u : 1u) * FUNC_LANES * sizeof *source);
	if (row)
		memcpy(result, row_of(w, i->dst), sizeof result);
	else
		preds[1] = w->pred[i->dst];
	if (second != FUNC_NONE)
		preds[2] = w->pred[second];
	for (uint32_t rest = guests; rest; rest &= rest - 1) {
		uint32_t l = (uint32_t)__builtin_ctz(rest);
		if (vote)
			w->pred[i->a] =
			    (w->pred[i->a] & ~(1u << l)) | (uint32_t)(lane[l].value ^ (i->more[1] ? 1u : 0u)) << l;
		else if (wide)
			((uint64_t *)row_of(w, i->a))[l] = lane[l].value;
		else
			row_of(w, i->a)[l] = (uint32_t)lane[l].value;
	}
	func_wide[i->op](w, i, all);
	for (uint32_t rest = guests; rest; rest &= rest - 1) {
		uint32_t l = (uint32_t)__builtin_ctz(rest);
		if (row)
			row_of(w, i->dst)[l] = result[l];
		if (wide)
			((uint64_t *)row_of(w, i->a))[l] = ((const uint64_t *)source)[l];
		else if (!vote)
			row_of(w, i->a)[l] = source[l];
	}
	if (!row)
		w->pred[i->dst] = (w->pred[i->dst] & ~guests) | (preds[1] & guests);
	if (second != FUNC_NONE)
		w->pred[second] = (w->pred[second] & ~guests) | (preds[2] & guests);
	if (vote && (row || i->dst != i->a))
		w->pred[i->a] = (w->pred[i->a] & ~guests) | (preds[0] & guests);
}

/* All records that lanes have come to, each once, with what all of them brought before any was executed. */
static void execute_all(struct func_warp *w, uint32_t all, struct bring *lane)
{
	for (uint32_t rest = all; rest; rest &= rest - 1) {
		uint32_t l = (uint32_t)__builtin_ctz(rest);
		lane[l].value = value_of(w, lane[l].record, l);
	}
	for (uint32_t rest = all; rest; rest &= rest - 1) {
		uint32_t l = (uint32_t)__builtin_ctz(rest);
		bool before = false;
		for (uint32_t k = 0; k < l; k++)
			before |= all >> k & 1 && lane[k].record == lane[l].record;
		if (!before)
			execute(w, lane[l].record, all, lane);
	}
}

static void bring(struct bring *lane, uint32_t mask, const struct func_inst *record)
{
	for (uint32_t rest = mask; rest; rest &= rest - 1)
		lane[__builtin_ctz(rest)].record = record;
}

uint32_t func_paths_gather(struct func_warp *w, const struct func_inst *i, uint32_t mask, bool *executed)
{
	struct func_paths *p = w->paths;
	const struct func_inst *inst = w->block->launch->program->inst;
	uint32_t all_named = named_by(w, i, mask), named = all_named & w->live, here = w->active;
	struct bring lane[FUNC_LANES];
	bool apart = false;
	if (!(named & mask))
		return mask; /* it names others and not itself: nothing says whom to wait for */
	for (uint32_t k = 0; k < p->count; k++)
		if (comes_too(w, i, &p->other[k], all_named))
			here |= p->other[k].mask;
	if (named & ~here) {
		push(w, save(w, FUNC_WAITS_LANES));
		w->active = 0;
		settle(w);
		return 0;
	}
	bring(lane, mask, i);
	for (uint32_t k = 0; k < p->count;) {
		struct func_track *t = &p->other[k];
		if (!comes_too(w, i, t, all_named) || !(t->mask & named)) {
			k++;
			continue;
		}
		uint32_t too = through(w, &inst[t->pc], t->mask);
		bring(lane, too, &inst[t->pc]);
		mask |= i->flags & FUNC_WARP_SYNC ? 0 : too;
		apart |= t->pc != w->pc && too;
		if (t->pc == w->pc && t->meet == p->now.meet) {
			w->active |= t->mask;
			take_out(p, k);
			continue;
		}
		t->pc++;
		t->wait = FUNC_RUNS;
		k++;
	}
	if (apart && i->flags & FUNC_GATHER) {
		execute_all(w, mask, lane);
		*executed = true;
	}
	return mask;
}

/* ---- fingerprints ---- */

static void mix(uint64_t print[2], uint64_t v)
{
	print[0] = (print[0] ^ v) * 0x9e3779b97f4a7c15u;
	print[0] ^= print[0] >> 29;
	print[1] = (print[1] + v) * 0xd6e8feb86659fd93u;
	print[1] ^= print[1] >> 32;
}

static void mix_words(uint64_t print[2], const uint32_t *word, size_t n)
{
	/* Four lanes of two sums each, so that the multiplications do not wait for each other. */
	uint64_t a[4] = {1, 2, 3, 4}, b[4] = {5, 6, 7, 8};
	for (size_t k = 0; k + 8 <= n; k += 8)
		for (unsigned j = 0; j < 4; j++) {
			uint64_t v = word[k + 2 * j] | (uint64_t)word[k + 2 * j + 1] << 32;
			a[j] = (a[j] ^ v) * 0xbf58476d1ce4e5b9u;
			a[j] ^= a[j] >> 31;
			b[j] = ((b[j] << 23 | b[j] >> 41) + v) * 0x94d049bb133111ebu;
		}
	for (unsigned j = 0; j < 4; j++) {
		mix(print, a[j]);
		mix(print, b[j]);
	}
	for (size_t k = n & ~(size_t)7; k < n; k++)
		mix(print, word[k]);
}

void func_warp_print(const struct func_warp *w, uint64_t print[2])
{
	const struct func_program *p = w->block->launch->program;
	print[0] = 0x243f6a8885a308d3u;
	print[1] = 0x13198a2e03707344u;
	mix_words(print, w->reg, (size_t)p->rows * FUNC_LANES);
	mix_words(print, w->pred, p->preds);
	if (w->upper) {
		mix_words(print, w->upper->reg, (size_t)p->rows * FUNC_LANES);
		mix_words(print, w->upper->pred, p->preds);
	}
	mix(print, (uint64_t)w->pc << 32 | w->join);
	mix(print, w->active);
	mix(print, w->live);
	if (!w->paths) {
		for (uint32_t k = 0; k < w->depth; k++) {
			mix(print, (uint64_t)w->stack[k].pc << 32 | w->stack[k].join);
			mix(print, w->stack[k].mask);
		}
		return;
	}
	for (uint32_t k = 0; k < w->paths->count; k++) {
		const struct func_track *t = &w->paths->other[k];
		mix(print, (uint64_t)t->pc << 32 | t->mask);
		mix(print, (uint64_t)t->meet << 8 | t->wait);
	}
	for (uint32_t k = 0; k < w->paths->meets; k++)
		if (w->paths->meet[k].lanes) {
			const struct func_meet *m = &w->paths->meet[k];
			mix(print, (uint64_t)m->pc << 32 | m->lanes);
			mix(print, (uint64_t)m->arrived << 32 | m->outer << 8 | k);
		}
	mix(print, w->paths->now.meet);
}
