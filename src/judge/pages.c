#include "judge/pages.h"
#include "judge/pages_tally.h"
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LINE_LEAST  4096	  /* bytes: no GPU has smaller pages */
#define LINE_MOST   (64ull << 20) /* nobody saw an entry cover more: Mei 2014, 4.2, has 2 MB, and recorded cards 32 MB */
#define SETS_DENSE  64		  /* up to so many sets all numbers are candidates; above, powers of two */
#define FOLDED_MOST 512		  /* sets of a folded mapping */
#define LINE_NEAR   2		  /* times the best plain line, up and down: what a folded one may have */

#define RINGS_MOST  128	   /* that are weighed; the others are foretold */
#define ALIKE_MOST  2	   /* of them over the same addresses */
#define VISITS_MOST 200000 /* of a lap over all of them */
#define KEPT	    256

#define ALIGNED	    (64ull << 20) /* what the buffer's address is a multiple of: probes/tlb asks for that */
#define BLOCKS	    32		  /* as many times as a ring reaches over all sets, at most */
#define CARRIES	    8		  /* times as far, where the digit above those carries on */
#define BLOCK_COUNT 4		  /* of those: 0, 1, 3 and 7 times as far */
#define PLACES_WORK (1u << 23)	  /* lines that are looked at for one mapping: a twentieth of a second */
#define WAY_WORK    16		  /* lines that the noise of one number of ways takes as long as */
#define BASES_SEEN  128		  /* places of the buffer that the first parting ring leaves */
#define BASES_LEFT  16		  /* places of the buffer that are held to all rings, by ... */
#define PARTINGS    2		  /* ... the rings that tell them best, ... */
#define ALWAYS	    0.9		  /* ... of whose lines so many visits miss, or hit */

#define REMAINDER 0.05 /* of the rings a LIKELY shape may leave unforetold: of as many as it may be wrong */

struct search {
	const struct judge_ring *ring[RINGS_MOST];
	unsigned index[RINGS_MOST];
	unsigned rings;
	struct pages_lines of[RINGS_MOST], any; /* room for any ring */
	struct pages_tally t;
	struct pages_shape shape[2 * KEPT];
	unsigned n, candidates;
	double best[RINGS_MOST]; /* of all candidates so far, up to this ring */
	double least, most;	 /* bytes */
};

uint64_t pages_value(const struct pages_shape *q, enum pages_key k)
{
	const uint64_t of[PAGES_KEYS] = {q->line, (uint64_t)q->sets * q->ways, q->sets, q->ways};
	return of[k];
}

/* ---- the search ---- */

static double telling(const struct judge_ring *r)
{
	const double v = (double)r->laps * r->n, share = r->misses / v;
	return share * (1 - share) * sqrt(v);
}

/* Whether two rings are over the same addresses, in whatever order. */
static bool alike(const struct judge_ring *r, const struct judge_ring *o)
{
	return o->n == r->n && o->step == r->step && o->at[o->sorted[o->n - 1]] == r->at[r->sorted[r->n - 1]];
}

/* Whether so many rings over the same addresses have been taken: those say little more. */
static bool known(const struct search *s, const struct judge_ring *r)
{
	unsigned n = 0;

	for (unsigned i = 0; i < s->rings; i++)
		n += alike(s->ring[i], r);
	return n >= ALIKE_MOST;
}

/* By turns the ring that tells most and the next of all in a row. */
static void choose(struct search *s, const struct judge_ring *ring, unsigned rings, bool *taken)
{
	double visits = 0;

	for (unsigned tries = 0; s->rings < RINGS_MOST && tries < 4 * RINGS_MOST; tries++) {
		unsigned best = (unsigned)((uint64_t)tries * rings / (4 * RINGS_MOST));
		double most = -1;
		for (unsigned i = 0; !(tries % 2) && i < rings; i++)
			if (!taken[i] && telling(&ring[i]) > most) {
				most = telling(&ring[i]);
				best = i;
			}
		if (taken[best])
			continue;
		taken[best] = true;
		if (visits + ring[best].n > VISITS_MOST || known(s, &ring[best]))
			continue;
		visits += ring[best].n;
		s->index[s->rings] = best;
		s->ring[s->rings++] = &ring[best];
	}
}

static int better(const void *a, const void *b)
{
	const struct pages_shape *x = a, *y = b;
	return (x->ll < y->ll) - (x->ll > y->ll);
}

static void keep(struct search *s, const struct pages_shape *q)
{
	s->shape[s->n++] = *q;
	if (s->n < 2 * KEPT)
		return;
	qsort(s->shape, s->n, sizeof(*s->shape), better);
	s->n = KEPT;
}

/* Adds what a ring says of a mapping with all ways. Returns the best sum. */
static double add_ring(struct search *s, unsigned i, const struct pages_shape *q, uint32_t least, uint32_t most,
		       double *ll)
{
	const uint32_t laps = s->ring[i]->laps;
	double best = -INFINITY;
	struct pages_sums u;

	pages_tally_of(&s->of[i], q, &s->t);
	pages_sum_up(&s->t, &u);
	const uint32_t top = s->t.most;
	const double all = pages_noise(u.misses[top], u.visits[top]);
	double fits = 0;
	for (uint32_t w = least; w <= most; w++) {
		/* Few numbers of lines occur in sets: between them one way more fits no more. */
		if (w < top && (w == least || s->t.count[w] > 0))
			fits = pages_noise(u.misses[w], u.visits[w]);
		ll[w] += w < top ? fits + u.rate[w] + JUDGE_HIDDEN * pages_hidden(&u, top, laps, w) : all;
		best = fmax(best, ll[w]);
	}
	return best;
}

/* Holds a mapping to all rings with all ways. False: it is far from the best of all. */
static bool hold(struct search *s, const struct pages_shape *q, uint32_t least, uint32_t most, double *ll)
{
	for (unsigned i = 0; i < s->rings; i++) {
		const double here = add_ring(s, i, q, least, most, ll);
		s->best[i] = fmax(s->best[i], here);
		if (here < s->best[i] - JUDGE_FAR)
			return false;
	}
	return true;
}

static bool ways_of(const struct search *s, const struct pages_shape *q, uint32_t *least, uint32_t *most)
{
	const double way = (double)q->line * q->sets;

	*least = (uint32_t)fmax(1, fmin(s->least / way, JUDGE_WAYS_MOST + 1));
	*most = (uint32_t)fmin(s->most / way, JUDGE_WAYS_MOST);
	return *least <= *most;
}

static void add_mapping(struct search *s, struct pages_shape q)
{
	double ll[JUDGE_WAYS_MOST + 1] = {0};
	uint32_t least, most;

	if (!ways_of(s, &q, &least, &most))
		return;
	s->candidates += most - least + 1;
	if (!hold(s, &q, least, most, ll))
		return;
	for (uint32_t w = least; w <= most; w++) {
		q.ways = w;
		q.ll = ll[w];
		keep(s, &q);
	}
}

/* The rings whose lines mostly miss always or never, and both: they tell which lines have a set in common. Returns how
 * many. */
static unsigned partings(const struct search *s, unsigned *ring)
{
	double tells[PARTINGS] = {0};
	unsigned n = 0;

	for (unsigned i = 0; i < s->rings; i++) {
		const struct pages_lines *r = &s->of[i];
		double hot = 0, cold = 0;
		for (uint32_t l = 0; l < r->n; l++) {
			hot += r->misses[l] >= ALWAYS * r->visits[l];
			cold += r->misses[l] <= (1 - ALWAYS) * r->visits[l];
		}
		const double is = hot * cold * (hot + cold) / ((double)r->n * r->n);
		if (!(is > 0))
			continue;
		unsigned at = n < PARTINGS ? n++ : PARTINGS;
		for (; at && tells[at - 1] < is; at--)
			if (at < PARTINGS) {
				tells[at] = tells[at - 1];
				ring[at] = ring[at - 1];
			}
		if (at < PARTINGS) {
			tells[at] = is;
			ring[at] = i;
		}
	}
	return n;
}

struct bases {
	struct {
		uint64_t first;
		double ll;
	} left[BASES_SEEN + 1];
	unsigned n;
};

/* Keeps the best so many, in order. */
static void add_base(struct bases *b, unsigned most, uint64_t first, double ll)
{
	unsigned at = b->n < most ? b->n++ : most;

	for (; at && b->left[at - 1].ll < ll; at--)
		b->left[at] = b->left[at - 1];
	b->left[at].first = first;
	b->left[at].ll = ll;
}

/* How many places are passed by for each that is tried, of work that is too much: what is not found stays open. */
static uint64_t coarser(uint64_t work)
{
	uint64_t by = 1;

	while (work / by > PLACES_WORK)
		by *= 2;
	return by;
}

/* The begin of the buffer is not known. In which of the sets it lies, and how the next digit goes on, is tried as far
 * as it shows. The ring that parts sets best leaves few places, and the next one fewer. */
static void add_folded(struct search *s, struct pages_shape q)
{
	const uint64_t part = (uint64_t)q.sets * BLOCKS;
	uint64_t step = q.line < ALIGNED ? ALIGNED / q.line : 1;
	uint32_t least, most;
	struct bases seen = {.n = 0}, left = {.n = 0};
	unsigned ring[PARTINGS];

	q.folded = true;
	if (!ways_of(s, &q, &least, &most))
		return;
	const unsigned parting = partings(s, ring);
	if (parting)
		step *= coarser(BLOCK_COUNT * (part / step) * (s->of[ring[0]].n + WAY_WORK * (most - least + 1)));
	for (uint64_t from = 0; parting && from < part * q.sets && from < CARRIES * part; from += from + part)
		for (q.first = from; q.first < from + part; q.first += step) {
			double ll[JUDGE_WAYS_MOST + 1] = {0};
			add_base(&seen, BASES_SEEN, q.first, add_ring(s, ring[0], &q, least, most, ll));
		}
	for (unsigned i = 0; i < seen.n; i++) {
		double ll[JUDGE_WAYS_MOST + 1] = {0}, here = 0;
		q.first = seen.left[i].first;
		for (unsigned k = 0; k < parting; k++)
			here = add_ring(s, ring[k], &q, least, most, ll);
		add_base(&left, BASES_LEFT, q.first, here);
	}
	for (unsigned i = 0; i < left.n; i++) {
		q.first = left.left[i].first;
		add_mapping(s, q);
	}
}

static void space_of(struct search *s, const struct judge_ring *ring, unsigned rings)
{
	s->least = 0;
	s->most = INFINITY;
	for (unsigned i = 0; i < rings; i++) {
		const struct judge_ring *r = &ring[i];
		const double share = r->misses / ((double)r->n * r->laps);
		if (share < JUDGE_FITS_MOST)
			s->least = fmax(s->least, r->n * fmin(r->step, LINE_LEAST) / 2);
		if (share > JUDGE_OVER_LEAST)
			s->most = fmin(s->most, 2 * r->bytes);
	}
}

static void search_plain(struct search *s, uint64_t line)
{
	for (unsigned i = 0; i < s->rings; i++)
		pages_lines_of(s->ring[i], line, &s->of[i]);
	for (uint32_t sets = 1; sets <= PAGES_SETS_MOST; sets = sets < SETS_DENSE ? sets + 1 : 2 * sets)
		add_mapping(s, (struct pages_shape){.line = line, .sets = sets});
}

static void search_folded(struct search *s, uint64_t line)
{
	for (unsigned i = 0; i < s->rings; i++)
		pages_lines_of(s->ring[i], line, &s->of[i]);
	for (uint32_t sets = 2; sets <= FOLDED_MOST; sets *= 2)
		add_folded(s, (struct pages_shape){.line = line, .sets = sets});
}

/* Folded mappings are held to lines near the best plain one's and near the line that others told, and to those in between.
 * Each is tried with every place of the buffer, and takes as long as all plain ones. Plain shapes of a hashed level are all
 * wrong, so the best of them need not have its line. */
static void search(struct search *s, uint64_t told)
{
	for (unsigned i = 0; i < RINGS_MOST; i++)
		s->best[i] = -INFINITY;
	for (uint64_t line = LINE_LEAST; line <= LINE_MOST; line *= 2)
		search_plain(s, line);
	qsort(s->shape, s->n, sizeof(*s->shape), better);
	const uint64_t near = s->n ? s->shape[0].line : 0, least = told && told < near ? told : near,
		       most = told > near ? told : near;
	for (uint64_t line = LINE_LEAST; near && line <= LINE_MOST; line *= 2)
		if (line >= least / LINE_NEAR && line <= most * LINE_NEAR)
			search_folded(s, line);
	qsort(s->shape, s->n, sizeof(*s->shape), better);
}

/* What so many deviances are beyond chance: each is half a chi-square of one degree of freedom. */
static double beyond_chance(double sum, double n)
{
	return fmax(0, sum - n / 2 - JUDGE_SIGMA * sqrt(n / 2));
}

/* How unlike the lines of sets that overflow miss: whatever is replaced, none of a set's has a place of its own. Only
 * where each is visited once a lap. */
static double unlike(const struct pages_lines *r, const struct pages_shape *q, const struct pages_tally *t,
		     uint32_t laps)
{
	const struct pages_mapping map = pages_mapping_of(q);
	double sum = 0, n = 0;

	for (uint32_t l = 0; l < r->n; l++) {
		const struct pages_set *set = &t->set[pages_set_of(map, r->line[l])];
		if (set->k <= q->ways || r->visits[l] != laps)
			continue;
		const double p = fmin(fmax((double)set->m / (double)set->v, 1e-9), 1 - 1e-9);
		sum += judge_deviance(r->misses[l], r->visits[l], p);
		n++;
	}
	return beyond_chance(sum, n);
}

/* How far a ring is beyond what a shape predicts, as judge_surprise says. */
static double surprise(struct search *s, const struct judge_ring *ring, const struct pages_shape *q)
{
	struct pages_tally *t = &s->t;
	double v = 0, m = 0, off = 0, used = 0;
	struct pages_sums u;

	pages_lines_of(ring, q->line, &s->any);
	pages_tally_of(&s->any, q, t);
	pages_sum_up(t, &u);
	for (uint32_t i = 0; i < q->sets; i++)
		if (t->set[i].k && t->set[i].k <= q->ways) {
			v += (double)t->set[i].v;
			m += (double)t->set[i].m;
			used++;
		}
	const double p = v > 0 ? fmin(m / v, 1 - 1e-9) : 0;
	for (uint32_t i = 0; i < q->sets && m > 0; i++)
		if (t->set[i].k && t->set[i].k <= q->ways)
			off += judge_deviance((double)t->set[i].m, (double)t->set[i].v, p);
	off = beyond_chance(off, used) + unlike(&s->any, q, t, ring->laps);
	if (m > JUDGE_NOISE * v)
		off += judge_deviance(m, v, JUDGE_NOISE);
	/* A line that a level before keeps is kept in every lap: it hides once, and not once a lap. */
	const double hidden = pages_hidden(&u, t->most, ring->laps, q->ways), each = hidden / ring->laps;
	return off - JUDGE_HIDDEN * (each <= ring->kept ? each : hidden);
}

/* Those that were not weighed are as good as measured after the shape was found. What hides misses of one hides those
 * of all over the same addresses, as in walks that find their tables at hand. Together they count once, as most of them
 * say. */
static void foretell(struct search *s, const struct judge_ring *ring, unsigned rings, bool *done,
		     struct pages_result *out)
{
	for (unsigned i = 0; i < rings; i++) {
		unsigned of = 0, off = 0;
		for (unsigned k = i; k < rings; k++) {
			if (done[k] || !alike(&ring[i], &ring[k]))
				continue;
			done[k] = true;
			of++;
			off += surprise(s, &ring[k], &out->best) > JUDGE_NATS;
		}
		out->foretold += of > 0;
		out->refuted += 2 * off > of;
	}
}

static void explain(struct search *s, const struct judge_ring *ring, unsigned rings, bool *weighed,
		    struct pages_result *out)
{
	memset(weighed, 0, rings * sizeof(*weighed));
	for (unsigned i = 0; i < s->rings; i++) {
		weighed[s->index[i]] = true;
		out->unexplained += surprise(s, s->ring[i], &out->best) > JUDGE_NATS;
	}
	foretell(s, ring, rings, weighed, out);
}

static void facts(const struct search *s, struct pages_result *out)
{
	const unsigned n = s->n < KEPT ? s->n : KEPT;
	double all = 0;

	for (unsigned i = 0; i < n; i++)
		all += exp(s->shape[i].ll - s->shape[0].ll);
	for (enum pages_key k = 0; k < PAGES_KEYS; k++) {
		const uint64_t value = pages_value(&s->shape[0], k);
		double same = 0;
		/* Those that were dropped are no better than the last one that was kept. */
		out->margin[k] = s->shape[0].ll - s->shape[n - 1].ll;
		for (unsigned i = 0, first = 1; i < n; i++) {
			if (pages_value(&s->shape[i], k) == value) {
				same += exp(s->shape[i].ll - s->shape[0].ll);
			} else if (first) {
				first = 0;
				out->margin[k] = s->shape[0].ll - s->shape[i].ll;
			}
		}
		out->weight[k] = same / all;
	}
}

static bool room_for(struct arena *a, uint32_t n, struct pages_lines *out)
{
	*out = (struct pages_lines){0, ARENA_ARRAY(a, n, uint64_t), ARENA_ARRAY(a, n, uint32_t),
				    ARENA_ARRAY(a, n, uint32_t)};
	return out->line && out->visits && out->misses;
}

static int weigh(struct arena *a, const struct judge_ring *ring, unsigned rings, uint64_t line,
		 struct pages_result *out)
{
	struct search *s = ARENA_NEW(a, struct search);
	bool *taken = ARENA_ARRAY(a, rings, bool);
	uint32_t most = 1;

	if (!s || !taken)
		return -ENOMEM;
	choose(s, ring, rings, taken);
	for (unsigned i = 0; i < rings; i++)
		most = ring[i].n > most ? ring[i].n : most;
	if (!room_for(a, most, &s->any))
		return -ENOMEM;
	for (unsigned i = 0; i < s->rings; i++)
		if (!room_for(a, s->ring[i]->n, &s->of[i]))
			return -ENOMEM;
	space_of(s, ring, rings);
	if (isinf(s->most) || !s->rings)
		return 0;
	search(s, line);
	if (!s->n)
		return 0;
	out->best = s->shape[0];
	explain(s, ring, rings, taken, out);
	out->found = true;
	out->rings = s->rings;
	out->candidates = s->candidates;
	facts(s, out);
	return 0;
}

int judge_pages(const struct judge_ring *ring, unsigned rings, uint64_t line, struct pages_result *out)
{
	struct arena a;

	memset(out, 0, sizeof(*out));
	if (!rings)
		return 0;
	arena_init(&a);
	const int rc = weigh(&a, ring, rings, line, out);
	arena_free(&a);
	return rc;
}

enum judge_verdict pages_verdict(const struct pages_result *r, enum pages_key k)
{
	if (!r->found || r->unexplained || r->refuted > REMAINDER * (r->rings + r->foretold))
		return JUDGE_OPEN;
	if (!r->refuted && r->margin[k] >= JUDGE_NATS)
		return JUDGE_MEASURED;
	/* Others that were dropped are as probable as the last one that was kept, at most. */
	return r->weight[k] >= JUDGE_WEIGHT && r->margin[k] >= log(JUDGE_WEIGHT / (1 - JUDGE_WEIGHT)) ? JUDGE_LIKELY
												      : JUDGE_OPEN;
}
