/* From a record to what is left of the candidates: all are held to some rings, the best of those to every ring. */
#include "judge/judge.h"
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Rings that all candidates are held to, those of the better ones, and so on: 30 to 60 of a record's decide, as a rule. */
#define FIRST_RINGS    12
#define SECOND_RINGS   60
#define FIRST_ELEMENTS 2048 /* that those rings have at most */
#define SECOND	       600  /* candidates that are held to the second ones */
#define ROOM	       4096 /* candidates that are kept before the worse ones go */
#define EXACT_FIRST    4    /* shapes that rules are simulated for at first ... */
#define EXACT_MOST     24   /* ... and as the best turn out to be others */

/* ---- rings ---- */

struct placed {
	uint64_t at;
	uint32_t element;
};

static int by_address(const void *a, const void *b)
{
	const struct placed *x = a, *y = b;
	return x->at < y->at ? -1 : x->at > y->at;
}

int judge_ring_ready(struct arena *a, struct judge_ring *r)
{
	struct placed *all = mem_alloc((r->n + 1) * sizeof(*all));
	uint32_t *sorted = ARENA_ARRAY(a, r->n + 1, uint32_t), *count = ARENA_ARRAY(a, r->n + 1, uint32_t);

	if (!all || !sorted || !count) {
		mem_free(all);
		return -ENOMEM;
	}
	for (uint32_t e = 0; e < r->n; e++)
		all[e] = (struct placed){r->at[e], e};
	qsort(all, r->n, sizeof(*all), by_address);
	for (uint32_t e = 0; e < r->n; e++)
		sorted[e] = all[e].element;
	for (uint32_t i = 0; r->n && i < r->misses; i++)
		count[r->missed[i] % r->n]++;
	r->sorted = sorted;
	r->count = count;
	mem_free(all);
	return 0;
}

/* ---- candidates ---- */

static int better(const void *a, const void *b)
{
	const struct judge_shape *x = a, *y = b;
	return x->ll < y->ll ? 1 : x->ll > y->ll ? -1 : 0;
}

/* Adds a mapping with each number of ways that the space has. *n: of shape, which has room for ROOM. */
static void add_ways(struct judge_shape *shape, unsigned *n, struct judge_shape q, uint32_t least, uint32_t most,
		     const double *ll)
{
	for (q.ways = least; q.ways <= most; q.ways++) {
		if (*n == ROOM) {
			qsort(shape, ROOM, sizeof(*shape), better);
			*n = SECOND;
		}
		q.ll = ll[q.ways];
		shape[(*n)++] = q;
	}
}

static double of_ring(struct judge_room *room, const struct judge_ring *r, const struct judge_shape *q)
{
	double ll[JUDGE_WAYS_MOST + 1] = {0};
	struct judge_tally t;

	judge_tally(room, r, q, &t);
	judge_likelihood(&t, q->ways, ll);
	return ll[q->ways];
}

/* A ring with both hits and misses, of many visits, tells most. */
static double telling(const struct judge_ring *r)
{
	const double v = (double)r->laps * r->seen, share = r->misses / v;
	return share * (1 - share) * sqrt(v);
}

/* Chooses the rings that candidates are held to first, into `which`: room for SECOND_RINGS. By turns it is the one that
 * tells most and the next of all in a row. Rings of which all hit, or all miss, bound the size. Returns how many. */
static unsigned choose(const struct judge_ring *ring, unsigned rings, bool *taken, unsigned *which)
{
	unsigned n = 0;

	for (unsigned tries = 0; n < SECOND_RINGS && tries < 2 * SECOND_RINGS; tries++) {
		unsigned best = (unsigned)((uint64_t)tries * rings / (2 * SECOND_RINGS));
		double most = -1;
		for (unsigned i = 0; !(tries % 2) && i < rings; i++)
			if (!taken[i] && ring[i].n <= FIRST_ELEMENTS && telling(&ring[i]) > most) {
				most = telling(&ring[i]);
				best = i;
			}
		if (taken[best] || ring[best].n > FIRST_ELEMENTS)
			continue;
		taken[best] = true;
		which[n++] = best;
	}
	return n;
}

static bool same_mapping(const struct judge_shape *a, const struct judge_shape *b)
{
	return a->line == b->line && a->sector == b->sector && a->sets == b->sets && a->shift == b->shift &&
	       a->folded == b->folded;
}

/* Adds to each shape log P of the rings which[from .. to - 1]; which: NULL: ring[from .. to - 1]. What a mapping makes of a ring is counted once for
 * all its numbers of ways. Up to SECOND shapes. */
static void hold_all(struct judge_room *room, const struct judge_ring *ring, const unsigned *which, unsigned from,
		     unsigned to, struct judge_shape *shape, unsigned n)
{
	bool held[SECOND] = {false};

	for (unsigned k = 0; k < n; k++) {
		unsigned alike[SECOND], count = 0;
		uint32_t most = 0;
		for (unsigned j = k; j < n && !held[k]; j++)
			if (!held[j] && same_mapping(&shape[k], &shape[j])) {
				alike[count++] = j;
				most = shape[j].ways > most ? shape[j].ways : most;
			}
		for (unsigned i = from; i < to && count; i++) {
			double ll[JUDGE_WAYS_MOST + 1] = {0};
			struct judge_tally t;
			judge_tally(room, &ring[which ? which[i] : i], &shape[k], &t);
			judge_likelihood(&t, most, ll);
			for (unsigned j = 0; j < count; j++)
				shape[alike[j]].ll += ll[shape[alike[j]].ways];
		}
		for (unsigned j = 0; j < count; j++)
			held[alike[j]] = true;
	}
}

/* Leaves the best `keep`. */
static void leave(struct judge_shape *shape, unsigned *n, unsigned keep)
{
	qsort(shape, *n, sizeof(*shape), better);
	*n = *n < keep ? *n : keep;
}

/* Holds a mapping to the first rings, with each number of ways. Array `best` has for each ring, so far, log P of the
 * best of all mappings up to it. False: this one is far from that, whatever its ways. */
static bool hold(struct judge_room *room, const struct judge_ring *ring, const unsigned *which, unsigned first,
		 const struct judge_shape *q, uint32_t least, uint32_t most, double *best, double *ll)
{
	struct judge_tally t;

	for (unsigned i = 0; i < first; i++) {
		double here = -INFINITY;
		judge_tally(room, &ring[which[i]], q, &t);
		judge_likelihood(&t, most, ll);
		for (uint32_t w = least; w <= most; w++)
			here = fmax(here, ll[w]);
		best[i] = fmax(best[i], here);
		if (here < best[i] - JUDGE_FAR)
			return false;
	}
	return true;
}

static void screen(struct judge_room *room, const struct judge_ring *ring, unsigned rings, const unsigned *which,
		   unsigned chosen, struct judge_shape *shape, unsigned *n, unsigned *candidates)
{
	const struct judge_space space = judge_space_of(ring, rings);
	const unsigned first = chosen < FIRST_RINGS ? chosen : FIRST_RINGS;
	struct judge_shape q = {0};
	double best[FIRST_RINGS];

	for (unsigned i = 0; i < FIRST_RINGS; i++)
		best[i] = -INFINITY;
	while (judge_next(&space, &q)) {
		double ll[JUDGE_WAYS_MOST + 1] = {0};
		const double way = (double)q.line * q.sets;
		const uint32_t least = (uint32_t)fmax(1, fmin(space.least / way, JUDGE_WAYS_MOST + 1)),
			       most = (uint32_t)fmin(space.most / way, JUDGE_WAYS_MOST);
		if (least > most)
			continue;
		*candidates += most - least + 1;
		if (hold(room, ring, which, first, &q, least, most, best, ll))
			add_ways(shape, n, q, least, most, ll);
	}
	leave(shape, n, SECOND);
	hold_all(room, ring, which, first, chosen, shape, *n);
	leave(shape, n, JUDGE_KEPT);
}

/* ---- what is left ---- */

static void facts(struct judge_result *r)
{
	double all = 0;

	for (unsigned i = 0; i < r->kept; i++)
		all += exp(r->shape[i].ll - r->shape[0].ll);
	for (unsigned k = 0; k < JUDGE_KEYS; k++) {
		const uint64_t value = judge_value(&r->shape[0], k);
		struct judge_fact *f = &r->fact[k];
		double same = 0;
		f->rival = 0;
		/* Those that were dropped are no better than the last one that was kept. */
		f->margin = r->kept == JUDGE_KEPT ? r->shape[0].ll - r->shape[r->kept - 1].ll : JUDGE_FAR;
		for (unsigned i = 0; i < r->kept; i++) {
			if (judge_value(&r->shape[i], k) == value) {
				same += exp(r->shape[i].ll - r->shape[0].ll);
			} else if (!f->rival) {
				f->rival = i;
				f->margin = r->shape[0].ll - r->shape[i].ll;
			}
		}
		f->weight = same / all;
	}
}

static double least_misses(struct judge_room *room, const struct judge_ring *r, const struct judge_shape *q)
{
	struct judge_tally t;

	judge_tally(room, r, q, &t);
	return t.need[q->ways];
}

/* Which ring parts the best shape most from each key's rival. */
static void part(struct judge_room *room, const struct judge_ring *ring, struct judge_result *r)
{
	double most[JUDGE_KEYS];

	for (unsigned i = 0; i < r->rings; i++) {
		const double best = of_ring(room, &ring[i], &r->shape[0]);
		for (unsigned k = 0; k < JUDGE_KEYS; k++) {
			struct judge_fact *f = &r->fact[k];
			const double by = f->rival ? best - of_ring(room, &ring[i], &r->shape[f->rival]) : 0;
			if (i && by <= most[k])
				continue;
			most[k] = by;
			f->ring = i;
		}
	}
	for (unsigned k = 0; k < JUDGE_KEYS; k++) {
		struct judge_fact *f = &r->fact[k];
		f->least[0] = least_misses(room, &ring[f->ring], &r->shape[0]);
		f->least[1] = least_misses(room, &ring[f->ring], &r->shape[f->rival]);
	}
}

static void rings_of_best(struct judge_room *room, const struct judge_ring *ring, struct judge_result *r)
{
	r->worst_by = -INFINITY;
	for (unsigned i = 0; i < r->rings; i++) {
		const double off = judge_surprise(room, &ring[i], &r->shape[0]);
		r->unexplained += off > JUDGE_NATS;
		if (off > r->worst_by) {
			r->worst_by = off;
			r->worst = i;
		}
	}
}

static void sort(struct judge_result *r)
{
	qsort(r->shape, r->kept, sizeof(*r->shape), better);
	facts(r);
}

/* The best shape, or the best that says otherwise on some key, that no rule was simulated for; kept: all of those were. */
static unsigned unsure_of(const struct judge_result *r)
{
	if (!r->shape[0].exact)
		return 0;
	for (unsigned k = 0; k < JUDGE_KEYS; k++)
		if (!r->shape[r->fact[k].rival].exact)
			return r->fact[k].rival;
	return r->kept;
}

/* Rules are simulated for the first shapes, then for those that turn out to be the best or their rivals. */
static int refine(struct judge_room *room, const struct judge_ring *ring, struct judge_result *r)
{
	double *of = mem_alloc(r->rings * sizeof(*of));
	int rc = of ? 0 : -ENOMEM;
	unsigned next = 0;

	for (unsigned tries = 0; !rc && next < r->kept && tries < EXACT_FIRST + EXACT_MOST; tries++) {
		for (unsigned i = 0; i < r->rings; i++)
			of[i] = of_ring(room, &ring[i], &r->shape[next]);
		rc = judge_exact(ring, r->rings, of, &r->shape[next]);
		if (tries + 1 < EXACT_FIRST && ++next < r->kept)
			continue;
		sort(r);
		next = unsure_of(r);
	}
	mem_free(of);
	return rc;
}

static int weigh(struct arena *a, const struct judge_ring *ring, struct judge_result *r)
{
	struct judge_room *room = judge_room(a, ring, r->rings);
	struct judge_shape *shape = ARENA_ARRAY(a, ROOM, struct judge_shape);
	bool *taken = ARENA_ARRAY(a, r->rings, bool);
	unsigned n = 0, which[SECOND_RINGS];

	if (!room || !shape || !taken)
		return -ENOMEM;
	screen(room, ring, r->rings, which, choose(ring, r->rings, taken, which), shape, &n, &r->candidates);
	r->kept = n;
	memcpy(r->shape, shape, n * sizeof(*shape));
	for (unsigned k = 0; k < n; k++)
		r->shape[k].ll = 0;
	hold_all(room, ring, NULL, 0, r->rings, r->shape, n);
	if (!n)
		return 0;
	sort(r);
	if (refine(room, ring, r))
		return -ENOMEM;
	rings_of_best(room, ring, r);
	part(room, ring, r);
	return 0;
}

int judge_weigh(const struct judge_ring *ring, unsigned rings, struct judge_result *out)
{
	struct arena a;

	memset(out, 0, sizeof(*out));
	out->rings = rings;
	if (!rings)
		return 0;
	arena_init(&a);
	const int rc = weigh(&a, ring, out);
	arena_free(&a);
	return rc;
}
