/* Which tables of outstanding requests could have made a set of curves. */
#include "outstanding.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

#define VISIBLE	   0.3	/* of the latency: a jump that cannot be overlooked */
#define HIDDEN	   0.3	/* of a jump, between steps that were measured */
#define LATEST	   0.85 /* of the time at which others jumped */
#define MOST_JUMPS 0.75 /* of the jumps: the table's own */
#define FAINT_MANY 5	/* jumps, of which some may be others' though none is high */
#define SAME_BYTES 0.2	/* what rounding to pages, of each load's lines, makes of a number of bytes */
#define FEWER	   3	/* jumps that one kind of table explains and the other does not: it is that kind */
#define PIECES	   4	/* of a warp's instruction, at most */
#define UNLIKE	   0.4	/* of the latency: what a jump may differ by from what a full table makes */

/* Steps of a curve are counted as entries of a table. */
static unsigned entries_of(const struct study *s, const struct curve *c, unsigned n, bool mshr, unsigned merge)
{
	return mshr ? curve_entries(s, c, n, merge) : curve_pieces(s, c, n, merge);
}

static void describe(char *out, size_t n, const struct curve *c)
{
	const unsigned threads = c->lanes ? c->lanes : c->group;
	snprintf(out, n, "%u load%s a thread, %u thread%s a line, answers from %s", c->loads, c->loads > 1 ? "s" : "",
		 threads, threads > 1 ? "s" : "", c->way->number == LATENCY_L2 ? "the L2" : "memory");
}

/* Entries of such a table by one curve's jump: *lo to *hi. False: no such table makes it. */
static bool entries_by(const struct study *s, const struct curve *c, struct table *t, unsigned merge, unsigned *lo,
		       unsigned *hi)
{
	char where[96];
	/* A line for which several entries are missing may wait for them, or come with the first of them. */
	const unsigned n = c->fits, less = entries_of(s, c, n - 1, t->mshr, merge) + 1,
		       fit = entries_of(s, c, n, t->mshr, merge), full = entries_of(s, c, n + 1, t->mshr, merge);
	/* A table that is full waits for its first answer: for what is left of its latency, or longer when answers queue. */
	const double height = c->after - c->before;

	*lo = t->mshr && less < fit ? less : fit;
	*hi = full - 1;
	describe(where, sizeof where, c);
	if (fit == full)
		snprintf(t->why, sizeof t->why, "a jump where it would be no fuller (%s)", where);
	else if (height < c->expected - UNLIKE * c->way->latency)
		snprintf(t->why, sizeof t->why, "a jump of %.0f cycles where a full table makes one of %.0f (%s)",
			 height, c->expected, where);
	else
		return true;
	return false;
}

/* Whether a curve and its like with lines twice as far apart both jump after as many bytes as this one. A structure
 * that is full there holds bytes, as a TLB or the open rows of the memory do. A table holds as many lines at any
 * distance. */
static bool by_bytes(const struct curve *const *c, unsigned count, const struct curve *one)
{
	const double bytes = (double)one->fits * one->stride;

	for (unsigned k = 0; k < count; k++) {
		const struct curve *near = c[k];
		if (!curve_tells(near) || near->stride != LATENCY_STRIDE_BYTES ||
		    fabs((double)near->fits * near->stride - bytes) > SAME_BYTES * bytes)
			continue;
		for (unsigned m = 0; m < count; m++)
			if (c[m]->stride != near->stride && c[m]->way == near->way && c[m]->loads == near->loads &&
			    c[m]->group == near->group && c[m]->lanes == near->lanes && c[m]->light == near->light &&
			    curve_tells(c[m]) && fabs((double)c[m]->fits * c[m]->stride - bytes) <= SAME_BYTES * bytes)
				return true;
	}
	return false;
}

/* Jumps that such a table of `entries` makes; *strong: of those, the high ones. t->lo and t->hi become what they leave. */
static unsigned explained(const struct study *s, const struct curve *const *c, unsigned count, struct table *t,
			  unsigned merge, unsigned entries, unsigned *strong)
{
	unsigned n = 0, lo, hi, most = UINT32_MAX, least = 1;
	char where[96];

	unsigned loads = 0, fewest = UINT32_MAX, widest = 0;
	bool faint = false;

	*strong = 0;
	t->apart = false;
	t->back = INFINITY;
	for (unsigned k = 0; k < count; k++) {
		if (c[k]->state != CHASE_DONE || !c[k]->jumps || !entries_by(s, c[k], t, merge, &lo, &hi) ||
		    by_bytes(c, count, c[k]))
			continue;
		if (!curve_tells(c[k])) { /* where it is tells more than how high it is */
			faint |= c[k]->stride != LATENCY_STRIDE_BYTES && lo <= entries && hi >= entries;
			continue;
		}
		if (lo > entries || hi < entries) {
			describe(where, sizeof where, c[k]);
			snprintf(t->why, sizeof t->why, "a jump at %u where %u are expected (%s)", lo, entries, where);
			continue;
		}
		n++;
		*strong += !c[k]->weak;
		/* Warps with one load among those with several are as good as another number of loads. */
		loads |= 1u << (c[k]->light ? 1 : c[k]->loads);
		const unsigned warps = curve_warps(s, c[k], c[k]->fits);
		fewest = warps < fewest ? warps : fewest;
		widest = warps > widest ? warps : widest;
		t->apart |= c[k]->stride != LATENCY_STRIDE_BYTES;
		if (c[k]->way->number == LATENCY_MEMORY)
			t->back = fmin(t->back, c[k]->after - c[k]->base);
		least = lo > least ? lo : least;
		most = hi < most ? hi : most;
	}
	t->several = (loads & (loads - 1)) != 0;
	t->unlike_warps = widest > fewest;
	t->apart |= faint && *strong;
	t->lo = least;
	t->hi = most;
	return n;
}

/* Entries of such a table, as far as the jumps say. False: they contradict each other, or there are too few. What queues elsewhere
 * makes a jump, too: some may be none of the table's. */
static bool agree(const struct study *s, const struct curve *const *c, unsigned count, struct table *t, unsigned merge)
{
	unsigned jumps = 0, unlike = 0, best = 0, entries = 0, lo, hi, strong;

	for (unsigned k = 0; k < count; k++) {
		unlike += c[k]->state == CHASE_DONE && c[k]->jumps && !curve_tells(c[k]) &&
			  c[k]->way->number == LATENCY_MEMORY;
		if (!curve_tells(c[k]) || by_bytes(c, count, c[k]))
			continue;
		jumps++;
		if (!entries_by(s, c[k], t, merge, &lo, &hi))
			continue;
		const unsigned is = explained(s, c, count, t, merge, lo, &strong);
		entries = is > best ? lo : entries;
		best = is > best ? is : best;
	}
	t->jumps = explained(s, c, count, t, merge, entries, &strong);
	t->others = jumps - t->jumps;
	if (!jumps)
		snprintf(t->why, sizeof t->why, "no curve jumps");
	else if (t->jumps && !t->apart) /* rows and banks of the memory are as many bytes, however many lines that is */
		snprintf(t->why, sizeof t->why, "no jump at %u where lines lie twice as far apart", entries);
	else if (t->jumps && !t->unlike_warps) /* schedulers, code and blocks have limits of their own */
		snprintf(t->why, sizeof t->why, "all jumps come behind as many warps, which may be what is limited");
	else if (!strong && !t->several)
		snprintf(t->why, sizeof t->why, "only low jumps, and of one number of loads");
	else if (!strong && t->jumps < FAINT_MANY && t->others + unlike > t->jumps)
		snprintf(t->why, sizeof t->why, "only low jumps, and more of them elsewhere");
	return t->jumps && t->apart && t->unlike_warps && t->jumps >= MOST_JUMPS * jumps &&
	       (strong || (t->several && (t->jumps >= FAINT_MANY || t->others + unlike <= t->jumps)));
}

unsigned table_full_at(const struct study *s, const struct curve *c, const struct table *t, double *left)
{
	if (c->state != CHASE_DONE || c->way->number != LATENCY_MEMORY || t->lo != t->hi || !isfinite(t->back))
		return 0;
	for (unsigned n = 1; n < c->at[c->count - 1]; n++) {
		if (entries_of(s, c, n + 1, t->mshr, t->merge_lo) <= t->lo)
			continue;
		*left = t->back - (curve_cycles(c, n) - c->base);
		/* Of one that is full before its first line has all its entries nothing is known. */
		return entries_of(s, c, n, t->mshr, t->merge_lo) == t->lo &&
			       entries_of(s, c, n, t->mshr, t->merge_hi) == t->lo &&
			       entries_of(s, c, n + 1, t->mshr, t->merge_hi) > t->lo
			   ? n
			   : 0;
	}
	return 0;
}

static bool explains(const struct study *s, const struct curve *c, const struct table *t, unsigned merge)
{
	struct table scratch = *t;
	unsigned lo, hi;

	return entries_by(s, c, &scratch, merge, &lo, &hi) && lo <= t->hi && hi >= t->lo;
}

bool table_explains(const struct study *s, const struct curve *c, const struct table *t)
{
	return curve_tells(c) && explains(s, c, t, t->merge_lo) && explains(s, c, t, t->merge_hi);
}

/* The latest that a curve by this way jumped, in cycles after its first step. */
static double latest_jump(const struct curve *const *c, unsigned count, const struct way *w)
{
	double latest = -INFINITY;

	for (unsigned k = 0; k < count; k++)
		if (c[k]->way == w && curve_tells(c[k]))
			latest = fmax(latest, c[k]->before - c[k]->base);
	return latest;
}

/* Whether a jump of so many cycles may hide between the measured steps around n. The curve rises there by more than
 * beside it, and nobody looked in between. It is no curve without a jump then. */
static bool may_jump(const struct curve *c, unsigned n, double height)
{
	for (unsigned i = 1; i < c->count; i++) {
		if (c->at[i - 1] > n || c->at[i] <= n)
			continue;
		double beside = 0, weight = 0;
		for (unsigned k = i - 1; k <= i + 1; k += 2)
			if (k > 0 && k < c->count) {
				beside += c->cycles[k] - c->cycles[k - 1];
				weight += c->at[k] - c->at[k - 1];
			}
		const double usual = weight > 0 ? beside / weight * (c->at[i] - c->at[i - 1]) : 0;
		return c->cycles[i] - c->cycles[i - 1] - usual > HIDDEN * height;
	}
	return false;
}

/* Whether a curve without a jump would have had one. It could not be overlooked where much of the latency is left, or where
 * others that had taken as long did jump. */
static bool missed(const struct study *s, const struct curve *c, struct table *t, unsigned merge, double latest)
{
	char where[96];
	const unsigned end = c->at[c->count - 1];

	if (c->state != CHASE_DONE || (!c->flat && (c->jumps || c->steep)))
		return false;
	for (unsigned n = 1; n < end; n++) {
		if (entries_of(s, c, n, t->mshr, merge) < t->hi || entries_of(s, c, n + 1, t->mshr, merge) <= t->hi)
			continue;
		if (c->flat == n && t->lo == t->hi) {
			describe(where, sizeof where, c);
			snprintf(t->why, sizeof t->why,
				 "no jump at the line behind %u where %u entries would be full (%s)", n, t->hi, where);
			return true;
		}
		if (c->jumps || c->steep)
			return false;
		const double taken = curve_cycles(c, n) - c->base, latency = c->way->latency,
			     back = c->way->number == LATENCY_MEMORY && isfinite(t->back) ? fmax(t->back, latency)
											  : latency;
		if (taken > back - VISIBLE * latency - 2 * c->way->spread && !(t->mshr && taken <= LATEST * latest))
			return false;
		if (may_jump(c, n, back - taken))
			return false;
		describe(where, sizeof where, c);
		snprintf(t->why, sizeof t->why, "no jump where %u entries would be full (%s)", t->hi, where);
		return true;
	}
	return false;
}

static bool stands(const struct study *s, const struct curve *const *c, unsigned count, struct table *t, unsigned merge)
{
	if (!agree(s, c, count, t, merge))
		return false;
	for (unsigned k = 0; k < count; k++)
		if (missed(s, c[k], t, merge, latest_jump(c, count, c[k]->way)))
			return false;
	return true;
}

/* A wide warp's instruction may go out in parts, each with an entry of its own. */
static void try_prt(const struct study *s, const struct curve *const *c, unsigned count, struct table *prt)
{
	const unsigned warp = study_device(s)->warp_size;

	*prt = (struct table){.merge_lo = warp, .merge_hi = warp};
	prt->possible = stands(s, c, count, prt, warp);
	for (unsigned piece = warp / 2; piece >= warp / PIECES && !prt->possible; piece /= 2) {
		struct table t = {.merge_lo = piece, .merge_hi = piece};
		t.possible = stands(s, c, count, &t, piece);
		if (t.possible)
			*prt = t;
	}
}

void table_eliminate(const struct study *s, const struct curve *const *c, unsigned count, struct table *mshr,
		     struct table *prt)
{
	struct table by[MERGE_ANY + 1];
	unsigned most = 0, others = UINT32_MAX;

	*mshr = (struct table){.mshr = true};
	try_prt(s, c, count, prt);
	for (unsigned merge = MERGE_ANY; merge >= 1; merge--) {
		by[merge] = *mshr;
		by[merge].possible = stands(s, c, count, &by[merge], merge);
		most = by[merge].possible && by[merge].jumps > most ? by[merge].jumps : most;
		if (merge == MERGE_ANY)
			memcpy(mshr->why, by[merge].why, sizeof mshr->why);
	}
	for (unsigned merge = MERGE_ANY; merge >= 1; merge--)
		if (by[merge].possible && by[merge].jumps == most && by[merge].others < others)
			others = by[merge].others;
	for (unsigned merge = MERGE_ANY; merge >= 1; merge--) {
		const struct table *one = &by[merge];
		/* One more jump may seem the table's by another number of lanes if some are surely none of it. */
		if (!one->possible || one->jumps + (others ? 1 : 0) < most)
			continue;
		if (!mshr->possible) {
			mshr->lo = one->lo;
			mshr->hi = one->hi;
			mshr->merge_lo = mshr->merge_hi = merge;
			mshr->back = one->back;
			mshr->possible = true;
		}
		mshr->jumps = one->jumps > mshr->jumps ? one->jumps : mshr->jumps;
		mshr->lo = one->lo < mshr->lo ? one->lo : mshr->lo;
		mshr->hi = one->hi > mshr->hi ? one->hi : mshr->hi;
		mshr->merge_lo = merge;
	}
	/* What explains fewer is contradicted by the others. */
	if (mshr->possible && prt->possible) {
		struct table *less = mshr->jumps < prt->jumps ? mshr : prt;
		const struct table *more = less == prt ? mshr : prt;
		less->possible = less->jumps > MOST_JUMPS * more->jumps && less->jumps + FEWER > more->jumps;
		if (!less->possible)
			snprintf(less->why, sizeof less->why, "it explains %u jumps, the other kind %u", less->jumps,
				 more->jumps);
	}
}
