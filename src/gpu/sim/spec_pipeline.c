/* What the pipeline model's measurements should find: how long a round of links takes one warp, and a full SM. */
#include "gpu/sim/spec_file.h"
#include <math.h>
#include <stdio.h>

#define TOLERANCE 0.05
#define RIDGE	  0.95
#define UNSURE	  0.02
#define FLAT	  1.05
#define EIGHTH	  8
#define NEARLY	  8 /* one more warp for so many, and they fill the pipe */
#define KEY_BYTES 64
#define STEPS	  8    /* instructions of a link, at most */
#define CHAINS	  4    /* of a warp, at most */
#define TURNS	  64   /* after which chains have found their order, and over which parts of a cycle even out */
#define PARTS	  1024 /* of a cycle */
#define ROUNDING  1e-9 /* of a number of turns */
#define STARTS	  8    /* cycles between the first turns of one warp and the next that are looked at, from 0 on */

/* A link: the instructions of one chain, each of which needs the last. */
struct link {
	const struct op_spec *op[STEPS];
	uint32_t count;
	double operations, flops; /* that one link counts as */
	double alone[CHAINS + 1]; /* cycles of one warp for a link of each of so many chains */
};

static const struct op_spec *op_of(const struct sim_spec *s, const char *op, const char *type)
{
	const int at = spec_find_op(s, op, type);
	return &s->op[at >= 0 ? at : s->default_op];
}

/* Warp instructions a cycle of the pipes of one scheduler, and of those that all share. */
static void rates(const struct sim_spec *s, const struct op_spec *o, double *own, double *common)
{
	*own = *common = 0;
	for (uint32_t k = 0; k < o->pipe_count; k++)
		*(s->pipe[o->pipe[k]].per_scheduler ? own : common) += o->rate[k] / s->warp_size;
	*own /= s->schedulers;
}

static uint32_t steps_of(const struct op_spec *o)
{
	return o->native_ops ? o->native_ops : 1;
}

/* As the simulator counts: in so small parts of a cycle. */
static double in_parts(double cycles)
{
	return round(cycles * PARTS) / PARTS;
}

/* One warp alone on its scheduler. Times are cycles. */
struct lone {
	double port, pipe[SPEC_PIPES]; /* from when each is free */
	double now;		       /* when the last step went out */
	uint32_t first;		       /* pipe that it took */
	bool second;		       /* it was a second one of that cycle already */
	double turn;		       /* from when on the warp may have its next */
	double together;	       /* when all results are there that are known only together */
};

/* Lets a step of o go out in the first whole cycle from `at` on that finds the port and one of its pipes free. Being
 * free in a part of that cycle is enough: what they were late by they make up for. */
static void step_out(struct lone *w, const struct sim_spec *s, const struct op_spec *o, double at, bool begins)
{
	uint32_t k = 0;
	for (uint32_t i = 1; i < o->pipe_count; i++)
		if (w->pipe[o->pipe[i]] < w->pipe[o->pipe[k]])
			k = i;
	double *const pipe = &w->pipe[o->pipe[k]];
	const double ready = fmax(at, floor(*pipe));
	const double copies = s->pipe[o->pipe[k]].per_scheduler ? s->schedulers : 1;
	/* A second instruction, to another pipe, takes no turn of the port. */
	w->second = s->dual_issue && !w->second && ready <= w->now && w->first != o->pipe[k];
	if (!w->second) {
		w->now = fmax(begins ? fmax(ready, w->turn) : ready, floor(w->port));
		if (begins)
			w->turn = w->now + round(s->warp_interval);
		w->port = fmax(w->port, w->now) + in_parts(s->scheduler_issue);
	}
	w->first = o->pipe[k];
	/* Of several pipes one may be fed a turn late. */
	*pipe = fmax(*pipe, o->pipe_count > 1 ? w->now - in_parts(s->scheduler_issue) : w->now) +
		in_parts(s->warp_size * copies / o->rate[k] / steps_of(o));
}

/* Cycles of one warp for a link of each of n chains. Chains take turns operation by operation, so the first chain's
 * next operation waits for the last chain's as well as for its own result. */
static double warp_round(const struct sim_spec *s, const struct link *l, uint32_t n)
{
	struct lone w = {.now = -1, .first = SPEC_PIPES};
	double ready[CHAINS] = {0}, half = 0;
	for (uint32_t turn = 0; turn < 2 * TURNS; turn++) {
		for (uint32_t i = 0; i < l->count; i++)
			for (uint32_t k = 0; k < n && k < CHAINS; k++) {
				const uint32_t steps = steps_of(l->op[i]);
				const double step = in_parts(l->op[i]->latency / steps);
				double at = fmax(w.now, ready[k]);
				const bool together = s->pipe[l->op[i]->pipe[0]].together;
				if (together && ready[k] > w.now)
					at = fmax(at, w.together);
				/* Steps begin with whole cycles, each so long after the one before it, and what that rounds away
				 * ends up in the last one's latency. */
				for (uint32_t j = 0; j < steps; j++) {
					step_out(&w, s, l->op[i], at, j == 0);
					at = w.now + floor((j + 1) * step) - floor(j * step);
				}
				ready[k] = w.now + round(l->op[i]->latency) - floor((steps - 1) * step);
				w.together = together ? fmax(w.together, ready[k]) : w.together;
			}
		if (turn + 1 == TURNS)
			half = w.now;
	}
	return (w.now - half) / TURNS;
}

/* Cycles of w warps for a link of each of their n chains. With `all`, it is as if every instruction had only its own
 * pipes, one kind after the other. Otherwise it is as if kinds never met in a pipe. */
static double round_cycles(const struct sim_spec *s, const struct link *l, uint32_t n, uint32_t w, bool all)
{
	const double most = (w + s->schedulers - 1) / s->schedulers; /* warps of the fullest scheduler */
	double issue = 0, pipes = 0;
	for (uint32_t i = 0; i < l->count; i++) {
		double own, common, lo = 0, hi = 1e9;
		rates(s, l->op[i], &own, &common);
		issue += steps_of(l->op[i]) * s->scheduler_issue;
		for (unsigned k = 0; k < 100;
		     k++) { /* until what the schedulers' own pipes leave fits into the common ones */
			const double t = (lo + hi) / 2;
			double left = 0;
			for (uint32_t c = 0; c < s->schedulers; c++)
				left += fmax(0, n * (double)(w / s->schedulers + (c < w % s->schedulers)) - own * t);
			*(left <= common * t + 1e-9 ? &hi : &lo) = t;
		}
		pipes = all ? pipes + hi : fmax(pipes, hi);
	}
	/* A second instruction of the same warp takes no turn, if it goes to another pipe; single chains have none. */
	if (s->dual_issue && n > 1)
		issue /= 2;
	return fmax(l->alone[n], fmax(pipes, most * n * issue));
}

/* Links a cycle of w warps whose schedulers do not wait for each other. Each warp makes a link of each of its n chains
 * in so many cycles, if it finds its turns. Each scheduler issues what its own warps ask for, as far as its own pipes
 * take it. The rest goes to those that all share. Of links of one instruction. */
static double links_apart(const struct sim_spec *s, const struct link *l, uint32_t n, double cycles, uint32_t w)
{
	double own, common, sum = 0, rest = 0;
	rates(s, l->op[0], &own, &common);
	for (uint32_t c = 0; c < s->schedulers; c++) {
		const double warps = w / s->schedulers + (c < w % s->schedulers),
			     wanted = fmin(warps * n / cycles, 1 / (steps_of(l->op[0]) * s->scheduler_issue));
		sum += fmin(wanted, own);
		rest += fmax(0, wanted - own);
	}
	return sum + fmin(rest, common);
}

/* Whether all instructions of the link go to the same pipes. */
static bool alike(const struct link *l)
{
	for (uint32_t i = 1; i < l->count; i++) {
		bool same = l->op[i]->pipe_count == l->op[0]->pipe_count;
		for (uint32_t k = 0; same && k < l->op[0]->pipe_count; k++)
			same = l->op[i]->pipe[k] == l->op[0]->pipe[k];
		if (!same)
			return false;
	}
	return true;
}

/* Whether a warp waits between steps of one instruction. */
static bool waits(const struct link *l)
{
	bool any = false;
	for (uint32_t i = 0; i < l->count; i++)
		any |= steps_of(l->op[i]) > 1;
	return any;
}

static double link_cycles(const struct sim_spec *s, const struct link *l, uint32_t n, uint32_t w, bool all)
{
	return round_cycles(s, l, n, w, all) / ((double)n * w);
}

static uint32_t most_warps(const struct sim_spec *s)
{
	const uint32_t w = s->max_threads_per_sm / s->warp_size;
	return w < s->max_warps_per_sm ? w : s->max_warps_per_sm;
}

static double best_cycles(const struct sim_spec *s, const struct link *l, uint32_t n, bool all)
{
	double best = INFINITY;
	for (uint32_t w = 1; w <= most_warps(s); w++)
		best = fmin(best, link_cycles(s, l, n, w, all));
	return best;
}

/* Whether warps of one block do without preference. Each scheduler then has so few of them that all have their turns
 * before the first one's result is there and it asks again. A scheduler looks in turns of its own. What comes free and
 * what is asked for between two of them meet in the second. Of links of one instruction. */
static bool all_find_turns(const struct sim_spec *s, const struct link *l, uint32_t n)
{
	const uint32_t block = s->max_threads_per_block / s->warp_size,
		       most = (block + s->schedulers - 1) / s->schedulers;
	double own, common;
	rates(s, l->op[0], &own, &common);
	const double turn = s->scheduler_issue > 0 ? s->scheduler_issue : 1;
	return own > 0 && !(common > 0) &&
	       ceil((most - 1) * n / own / turn - ROUNDING) < ceil(l->alone[n] / turn - ROUNDING);
}

/* The fewest warps that reach this part of the best rate. If a scheduler prefers some warps of a block, what counts is
 * what all do while all have something to do. Those of a scheduler that has one less do not wait for the others.
 * Without preference, what the last warp is done with counts. */
static uint32_t first_that_reaches(const struct sim_spec *s, const struct link *l, uint32_t n, bool all, double part)
{
	if (s->policy != CORE_ROUND_ROBIN && l->count == 1 && !all_find_turns(s, l, n)) {
		const double most = links_apart(s, l, n, l->alone[n], most_warps(s));
		uint32_t at = 1;
		while (at < most_warps(s) && links_apart(s, l, n, l->alone[n], at) < part * most)
			at++;
		return at;
	}
	const double best = best_cycles(s, l, n, all);
	uint32_t w = 1;
	while (w < most_warps(s) && best / link_cycles(s, l, n, w, all) < part)
		w++;
	return w;
}

/* Warps that do so if results are known only together. A warp waits for the last of its chains. That one waits for all
 * other warps, which had their turns between the warp's first chain and its last. Time `full` is the cycles of a link
 * at which the pipes are full. */
static uint32_t first_held_up(const struct sim_spec *s, const struct link *l, uint32_t n, double full, double part)
{
	uint32_t w = 1;
	while (w < most_warps(s) && n * w * full < part * (l->alone[n] + (n - 1.0) * (w - 1.0) * full))
		w++;
	return w;
}

/* Warps that do so for certain if some are preferred. Between two chains of one that is not, another one may have its
 * turn, each time. As many as just fill the pipe without that leave gaps in it. */
static uint32_t first_put_off(const struct sim_spec *s, const struct link *l, uint32_t n, double part)
{
	const double most = links_apart(s, l, n, l->alone[n], most_warps(s)),
		     late = l->alone[n] + (n - 1.0) * s->schedulers / most;
	uint32_t w = 1;
	while (w < most_warps(s) && links_apart(s, l, n, late, w) < part * most)
		w++;
	return w;
}

/* Warps that do so for certain if chains of one warp and of another come when the pipe is busy. How often that happens
 * depends on how the warps began, and the end of a loop lets them begin anew. */
static uint32_t first_in_step(const struct sim_spec *s, const struct link *l, uint32_t n, double part)
{
	const double best = best_cycles(s, l, n, true);
	uint32_t last = 0;
	if (s->policy != CORE_ROUND_ROBIN || l->count > 1 || waits(l) || s->pipe[l->op[0]->pipe[0]].together ||
	    (s->dual_issue && n > 1))
		return 0;
	for (uint32_t i = 0; i <= STARTS; i++) {
		const uint32_t apart = i < STARTS ? i : (uint32_t)(s->warp_launch + 0.5);
		uint32_t w = 1;
		while (w < most_warps(s) && best * n * w < part * spec_turns(s, l->op[0], n, w, apart))
			w++;
		last = w > last ? w : last;
	}
	return last;
}

struct telling {
	int (*each)(void *ctx, const struct truth *t);
	void *ctx;
	const char *class;
	uint32_t chains;
	int rc;
};

static void tell(struct telling *t, const char *part, double number, double tolerance)
{
	char key[KEY_BYTES];
	snprintf(key, sizeof key, "pipeline.%s.ilp%u.%s", t->class, t->chains, part);
	const struct truth one = {.key = key, .number = number, .tolerance = tolerance};
	if (!t->rc)
		t->rc = t->each(t->ctx, &one);
}

static void tell_class(struct telling *t, const struct sim_spec *s, const struct link *l)
{
	static const uint32_t ilp[] = {1, 2, 4};
	const bool same = alike(l);
	for (uint32_t i = 0; i < sizeof ilp / sizeof *ilp; i++) {
		const uint32_t n = t->chains = ilp[i];
		/* How kinds of instructions share pipes in time is between these two. */
		const double slow = best_cycles(s, l, n, true), fast = same ? slow : best_cycles(s, l, n, false);
		const double issue = (slow + fast) / 2, off = TOLERANCE + (slow - fast) / (slow + fast);
		const double peak = s->warp_size / issue, one = l->alone[n] / n;
		const double whole = peak * s->sm_count * s->clock_hz * 1e-9;
		uint32_t lo = UINT32_MAX, hi = 0;
		for (int k = 0; k < 6; k++) {
			const double part = RIDGE + (k % 3 - 1) * UNSURE;
			const uint32_t w = first_that_reaches(s, l, n, k < 3, part);
			lo = w < lo ? w : lo;
			hi = w > hi ? w : hi;
		}
		const uint32_t at = first_that_reaches(s, l, n, true, RIDGE);
		/* Beyond one block, not every number of warps can be. */
		const uint32_t block = s->max_threads_per_block / s->warp_size, gap = hi > block ? (block + 3) / 4 : 1;
		double ridge = fmax(at - lo, hi - at) + (hi > lo || hi > block ? gap : 0);
		/* How steps of several warps, second instructions, or several kinds of them fall into the gaps of a pipe is more
		 * than this model knows. */
		if (waits(l))
			ridge = fmax(ridge, at);
		const uint32_t late = s->policy != CORE_ROUND_ROBIN ? first_put_off(s, l, n, RIDGE + UNSURE) : 0;
		if (late > at)
			ridge = fmax(ridge, late - at);
		const uint32_t held = first_held_up(s, l, n, slow, RIDGE + UNSURE);
		if (s->pipe[l->op[0]->pipe[0]].together && held > at)
			ridge = fmax(ridge, held - at);
		/* From even turns to those that are out of step, all may be. */
		const uint32_t step = first_in_step(s, l, n, RIDGE + UNSURE);
		double middle = at;
		if (step > at + ridge) {
			middle = (at - ridge + step) / 2;
			ridge = step - middle;
		}
		if ((s->dual_issue && n > 1) || l->count > 1)
			ridge = most_warps(s);
		tell(t, "issue", issue / l->operations, off * issue / l->operations);
		tell(t, "completion", one / l->operations, TOLERANCE * one / l->operations);
		tell(t, "peak", peak * l->operations, off * peak * l->operations);
		tell(t, "performance", whole * l->flops, off * whole * l->flops);
		tell(t, "ridge", middle, fmax(TOLERANCE * at, ridge));
	}
}

/* Work items that take as long as one warp. Each SM has as many blocks as its pipelines take at once, and as it has
 * room for. A block is an eighth of its threads, or a warp if one of those is too much already. */
static void tell_items(struct telling *t, const struct sim_spec *s, const struct link *l)
{
	static const double flat[] = {FLAT - UNSURE, FLAT, FLAT + UNSURE};
	const uint32_t full = s->max_threads_per_sm / s->warp_size, most = s->max_threads_per_block / s->warp_size;
	uint32_t warps = (full + EIGHTH - 1) / EIGHTH, blocks[3];
	warps = warps < most ? warps : most;
	if (round_cycles(s, l, 1, warps, true) > FLAT * l->alone[1])
		warps = 1;
	const uint32_t by_warps = most_warps(s) / warps,
		       room = s->max_blocks_per_sm && s->max_blocks_per_sm < by_warps ? s->max_blocks_per_sm : by_warps;
	for (unsigned i = 0; i < 3; i++)
		for (blocks[i] = 0;
		     blocks[i] < room && round_cycles(s, l, 1, (blocks[i] + 1) * warps, true) <= flat[i] * l->alone[1];)
			blocks[i]++;
	const double each = (double)warps * s->warp_size * s->sm_count;
	/* If warps do not take turns, those that are behind may miss theirs when what fills the pipe leaves hardly any
	 * free. */
	const uint32_t more = blocks[1] * warps + (blocks[1] * warps + NEARLY - 1) / NEARLY;
	const bool behind = s->policy != CORE_ROUND_ROBIN && round_cycles(s, l, 1, more, true) > l->alone[1];
	const struct truth one = {.key = "pipeline.items",
				  .number = blocks[1] * each,
				  .tolerance = fmax(blocks[2] - blocks[1], blocks[1] - blocks[0]) * each +
					       blocks[1] * each / 16 + (behind ? each : 0)};
	/* What fills every SM has another verdict. */
	if (!t->rc && blocks[2] < by_warps)
		t->rc = t->each(t->ctx, &one);
}

int spec_truth_pipeline(const struct sim_spec *s, int (*each)(void *ctx, const struct truth *t), void *ctx)
{
	const struct op_spec *fma = op_of(s, s->has_fma ? "fma" : "mad", "f32"), *add = op_of(s, "add", "f32");
	struct {
		const char *class;
		struct link link;
	} rows[] = {
	    {"sp", {.op = {add}, .count = 1, .operations = 1, .flops = 1}},
	    {"mad", {.op = {fma}, .count = 1, .operations = 1, .flops = 2}},
	    {"int", {.op = {op_of(s, "mad", "u32")}, .count = 1, .operations = 2, .flops = 2}},
	    {"dp", {.op = {op_of(s, "add", "f64")}, .count = 1, .operations = 1, .flops = 1}},
	    {"sf", {.op = {op_of(s, "cos", "f32")}, .count = 1, .operations = 1, .flops = 1}},
	    /* a cosine by hand: three steps of reduction, a square, a polynomial */
	    {"softsf",
	     {.op = {fma, add, fma, fma, op_of(s, "mul", "f32"), fma, fma, fma},
	      .count = STEPS,
	      .operations = 1,
	      .flops = 1}},
	};
	struct telling t = {.each = each, .ctx = ctx};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		t.class = rows[i].class;
		for (uint32_t n = 1; n <= CHAINS; n++)
			rows[i].link.alone[n] = warp_round(s, &rows[i].link, n);
		if (s->has_f64 || rows[i].link.op[0] != op_of(s, "add", "f64"))
			tell_class(&t, s, &rows[i].link);
	}
	tell_items(&t, s, &rows[0].link);
	return t.rc;
}
