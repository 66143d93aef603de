/* Throughput when warps do not share a pipe evenly. A scheduler that prefers some warps lets the others finish later,
 * when too few are left to keep the pipe full. A block's whole time then tells too little of the pipe. So warps run
 * many short chains without waiting for each other. What counts is how many of them all warps run until the first one
 * is done with its own. */
#include "arithmetic_rows.h"
#include "probe/probe.h"
#include "stat/stat.h"
#include <math.h>
#include <string.h>

enum {
	ROUNDS = 40,	   /* of chains of a few links ... */
	ROUNDS_FEW = 24,   /* ... and of long ones */
	ROUNDS_MORE = 120, /* of the first where they leave too much open ... */
	ROUNDS_SOME = 60,  /* ... and of the others */
	ROUNDS_MOST = ROUNDS_MORE,
	WARPS_MOST = 64, /* of a block */
	SKIPPED = 2,	 /* part of them with which all begin */
	LINKS = 64,	 /* of one instruction: so many that what is between two chains is little beside them */
	CHAINS = 2,
	SHORT = 1, /* times as many links: chains of the three lengths */
	LONG = 3,
	LONGER = 5,
	HEADER_WORDS = 2,
	ROUND_WORDS = 2
};

#define EDGES	1    /* chains, of all warps together */
#define BETWEEN 1.03 /* instructions, with those that follow a long chain and are none of it */
#define HELD_UP 2.5  /* times what a chain of the warp that is done first takes */
#define MORE	1.05 /* a rate so much higher, of a third more warps, is not yet all that there is */
#define NEAR	3.0  /* part of the time that is looked at by which it may begin later, or end earlier */

double arithmetic_evenness(const struct point *pt, unsigned warps, unsigned rounds)
{
	const uint32_t *w = pt->y + HEADER_WORDS + (size_t)ROUND_WORDS * warps * (rounds - 1);
	int32_t first = INT32_MAX, last = INT32_MIN, start = INT32_MAX;
	for (unsigned i = 0; i < warps; i++) {
		const int32_t from = (int32_t)(w[ROUND_WORDS * i] - w[0]),
			      to = (int32_t)(w[ROUND_WORDS * i + 1] - w[0]);
		start = from < start ? from : start;
		first = to < first ? to : first;
		last = to > last ? to : last;
	}
	return ((double)first - start) / fmax(1, (double)last - start);
}

static double clock_of(const struct point *pt, size_t word)
{
	return (int32_t)(pt->y[HEADER_WORDS + word] - pt->y[HEADER_WORDS]);
}

/* All chains of a launch, as times: they are gone through once for each end that a window may have. */
struct chains {
	unsigned count, rounds;
	struct chain {
		double from, to;
	} at[WARPS_MOST * ROUNDS_MOST]; /* of the first warp, of the second, ... */
	double usual, fastest;		/* what one takes the warp that is done first; the fastest of all */
};

static double from_of(const struct chains *c, unsigned round, unsigned warp)
{
	return c->at[c->rounds * warp + round].from;
}

static double to_of(const struct chains *c, unsigned round, unsigned warp)
{
	return c->at[c->rounds * warp + round].to;
}

struct part {
	double lo, hi;
};

/* How much of a chain is done at t. Warps that run abreast end in bursts, so parts of their chains count. One that is held up meanwhile
 * may have run all of it or nothing, but no faster than the fastest. */
static struct part done_at(const struct chains *c, double from, double to, double t)
{
	if (t <= from)
		return (struct part){0, 0};
	if (t >= to)
		return (struct part){1, 1};
	if (to - from <= HELD_UP * c->usual)
		return (struct part){(t - from) / (to - from), (t - from) / (to - from)};
	return (struct part){fmax(0, 1 - (to - t) / c->fastest), fmin(1, (t - from) / c->fastest)};
}

/* What the chains between begin and end are together. A warp that is at one chain all the time is held up and does nothing. */
static struct part done_between(const struct chains *c, double begin, double end)
{
	struct part sum = {0, 0};
	for (unsigned i = 0; i < c->count; i++) {
		const double from = c->at[i].from, to = c->at[i].to;
		if (to <= begin || from >= end || (from < begin && to > end))
			continue;
		if (from >= begin && to <= end) {
			sum.lo += 1;
			sum.hi += 1;
			continue;
		}
		const struct part a = done_at(c, from, to, begin), b = done_at(c, from, to, end);
		sum.lo += fmax(0, b.lo - a.hi);
		sum.hi += b.hi - a.lo;
	}
	return sum;
}

struct window {
	double begin, end;
};

/* What cannot be told, of what is known to be done. */
static double unsure(const struct chains *c, const struct window *w)
{
	const struct part sum = done_between(c, w->begin, w->end);
	return sum.lo > 0 ? (sum.hi - sum.lo) / sum.lo : INFINITY;
}

/* Moves one end of the window, within lo..hi, to the time at which it is best known what has been done. Warps take
 * turns when a chain that was held up begins or ends. */
static void settle(const struct chains *c, struct window *w, bool at_end, double lo, double hi)
{
	double least = unsure(c, w);
	for (unsigned i = 0; i < c->count && least > 0; i++) {
		const double t[2] = {c->at[i].from, c->at[i].to};
		for (unsigned k = 0; k < 2 && t[1] - t[0] > HELD_UP * c->usual; k++) {
			const struct window other = {at_end ? w->begin : t[k], at_end ? t[k] : w->end};
			const double now = t[k] >= lo && t[k] <= hi ? unsure(c, &other) : least;
			if (now < least) {
				least = now;
				*w = other;
			}
		}
	}
}

/* While the warp that is done first runs the later part of its own chains all warps have work. */
static struct chain_cycles between_ends(const struct point *pt, unsigned warps, unsigned rounds, unsigned skipped)
{
	struct chains c = {.count = warps * rounds, .rounds = rounds, .fastest = INFINITY};
	double own[ROUNDS_MOST], scratch[ROUNDS_MOST];
	unsigned first = 0;
	if (!rounds || warps > WARPS_MOST || rounds > ROUNDS_MOST)
		return (struct chain_cycles){0};
	for (unsigned i = 0; i < warps; i++)
		for (unsigned r = 0; r < rounds; r++) {
			const size_t word = (size_t)ROUND_WORDS * ((size_t)warps * r + i);
			struct chain *at = &c.at[i * rounds + r];
			*at = (struct chain){clock_of(pt, word), clock_of(pt, word + 1)};
			c.fastest = fmin(c.fastest, at->to - at->from);
		}
	for (unsigned i = 1; i < warps; i++)
		if (to_of(&c, rounds - 1, i) < to_of(&c, rounds - 1, first))
			first = i;
	for (unsigned r = skipped; r < rounds; r++)
		own[r - skipped] = to_of(&c, r, first) - from_of(&c, r, first);
	c.usual = stat_median(own, rounds - skipped, scratch);
	const double begin = from_of(&c, skipped, first), end = to_of(&c, rounds - 1, first),
		     near = (end - begin) / NEAR;
	struct window w = {begin, end};
	settle(&c, &w, false, begin - near, begin + near);
	settle(&c, &w, true, end - near, end);
	const struct part sum = done_between(&c, w.begin, w.end);
	if (!(sum.lo > 0))
		return (struct chain_cycles){0};
	return (struct chain_cycles){(w.end - w.begin) / sum.hi, (w.end - w.begin) / sum.lo};
}

struct chain_cycles arithmetic_between_ends(struct study *s, unsigned experiment, const struct point *pt,
					    unsigned warps, unsigned rounds, unsigned skipped)
{
	double key[3 + POINT_PARAMS] = {experiment, pt->x, skipped};
	memcpy(key + 3, pt->p, sizeof pt->p);
	const struct chain_cycles *before = study_recall(s, "chains", key, sizeof key);
	if (before)
		return *before;
	const struct chain_cycles c = between_ends(pt, warps, rounds, skipped);
	study_keep(s, "chains", key, sizeof key, &c, sizeof c);
	return c;
}

struct arithmetic_rounds {
	unsigned links, chains, rounds;
	unsigned few, many; /* times as many links: the two lengths that are compared */
	bool is_long;	    /* what is between two chains may play a part */
};

struct rate {
	double lo, hi, all; /* operations of warps a cycle of one SM; 0: not known (yet) */
};

/* The warps' chains do not all advance evenly, so of those that are cut by the window's ends a part too many may be counted. */
static struct chain_cycles miscounted(struct chain_cycles c, double chains)
{
	return (struct chain_cycles){c.least * (1 - EDGES / chains), c.most * (1 + EDGES / chains)};
}

/* By the difference of long chains and short ones. What is between two long chains may hide behind them or not:
 * lo is what the long ones reach with it. */
static struct rate rate(struct study *s, unsigned row, unsigned warps, const struct arithmetic_rounds *how)
{
	const double p[POINT_PARAMS] = {warps, how->chains, how->rounds};
	const struct point *few = study_ask(s, row, (double)how->few * how->links, p),
			   *many = study_ask(s, row, (double)how->many * how->links, p);
	if (!few || !many || few->outcome != OUTCOME_OK || many->outcome != OUTCOME_OK)
		return (struct rate){0};
	const double links = how->links * how->chains;
	const unsigned skipped = how->rounds / SKIPPED;
	const struct chain_cycles x = miscounted(arithmetic_between_ends(s, row, few, warps, how->rounds, skipped),
						 warps * (how->rounds - skipped)),
				  y = miscounted(arithmetic_between_ends(s, row, many, warps, how->rounds, skipped),
						 warps * (how->rounds - skipped));
	if (!(y.least > x.most && x.least > 0))
		return (struct rate){0};
	const double more = (how->many - how->few) * links, whole = how->many * links, least = y.least - x.most,
		     most = y.most - x.least, slow = more / most, fast = more / least, own = how->few * links / x.most;
	const struct rate r = {how->is_long ? fmin(whole / y.most, slow) : slow,
			       how->is_long ? fmin(BETWEEN * whole / y.least, fast) : fast, whole / y.most};
	/* The short chains reach this much with all that is between them. Long ones that seem to allow less do not have
	 * their instructions at hand, and say nothing. */
	return own > r.hi ? (struct rate){0} : (struct rate){fmax(r.lo, own), r.hi, r.all};
}

static struct arithmetic_steady steady(struct study *s, unsigned row, const struct arithmetic_rounds *how)
{
	const struct device_info *d = study_device(s);
	const unsigned full = d->max_threads_per_block / d->warp_size;
	const struct rate a = rate(s, row, full, how), b = rate(s, row, full - full / 4, how);
	/* What one load leaves open the other one may tell, but neither may contradict the other. */
	const struct rate *best = a.hi - a.lo < b.hi - b.lo ? &a : &b;
	const bool agree = a.lo > 0 && b.lo > 0 && a.lo <= b.hi && b.lo <= a.hi, more = b.lo > 0 && a.lo > MORE * b.hi;
	/* A unit that is full gives more warps no more. Else their number holds it up, and it may reach anything. */
	return (struct arithmetic_steady){.lo = (agree ? best->lo : fmin(a.lo, b.lo)) * d->warp_size,
					  .hi = more ? INFINITY : (agree ? best->hi : fmax(a.hi, b.hi)) * d->warp_size,
					  .all = fmin(a.all, b.all) * d->warp_size};
}

struct arithmetic_steady arithmetic_steady(struct study *s, unsigned row, unsigned links, bool more)
{
	const struct arithmetic_rounds how = {
	    .links = links, .chains = CHAINS, .rounds = more ? ROUNDS_MORE : ROUNDS, .few = SHORT, .many = LONG};
	return steady(s, row, &how);
}

struct arithmetic_steady arithmetic_steady_longer(struct study *s, unsigned row, unsigned links,
						  const struct arithmetic_steady *t)
{
	/* They differ by less than those that they are compared with, so they are run more often. */
	const struct arithmetic_rounds how = {
	    .links = links, .chains = CHAINS, .rounds = ROUNDS_MORE, .few = LONG, .many = LONGER};
	const unsigned full = study_device(s)->max_threads_per_block / study_device(s)->warp_size;
	const double p[POINT_PARAMS] = {full, how.chains, how.rounds};
	if (!study_ask(s, row, (double)how.many * how.links, p)) /* not yet, or never, as in an older recording */
		return *t;
	const struct arithmetic_steady o = steady(s, row, &how);
	/* Whole blocks say no more than that it is not less. */
	if (!(o.lo > 0) || o.lo > t->hi)
		return (struct arithmetic_steady){.hi = t->hi};
	return (struct arithmetic_steady){.lo = fmin(t->lo, o.lo), .hi = fmin(t->hi, o.hi)};
}

struct arithmetic_steady arithmetic_steady_one(struct study *s, unsigned row, unsigned chains, bool more)
{
	const struct arithmetic_rounds how = {.links = LINKS * CHAINS / chains,
					      .chains = chains,
					      .rounds = more ? ROUNDS_SOME : ROUNDS_FEW,
					      .few = SHORT,
					      .many = LONG,
					      .is_long = true};
	return steady(s, row, &how);
}
