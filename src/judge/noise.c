/* The one noise model of levels inside an SM. Nobody else takes lines there, so what fits misses seldom, and alike in
 * all sets of a ring. What does not fit misses at a rate that the rule of replacement decides, which is not known yet.
 * The rate is mostly alike in sets about as full. At least k - w lines of a set miss in each lap. */
#include "judge/judge.h"
#include <errno.h>
#include <math.h>
#include <string.h>

/* Rates of the noise, up to the most that is explained, and how improbable each is beforehand, nats. Nothing but a
 * stranger makes one of a hundred accesses miss. The most that is explained is as improbable as a verdict may be wrong.
 * Otherwise a shape that is too large would see noise in each ring that overflows a set of drawn victims. */
#define RATE_ROWS(R) R(1e-5, 0.0) R(1e-4, 2.0) R(1e-3, 4.0) R(1e-2, JUDGE_NATS / 2) R(JUDGE_NOISE, JUDGE_NATS)
enum { RATES = 5 };
/* How probable it is beforehand that sets of fewer lines, which overflow as well, miss at another rate. Sets that miss
 * alike thus cost a shape a hundredth of a nat a ring for each k more that it makes. JUDGE_NATS need some thousand
 * rings. */
#define UNLIKE 0.01

/* A set in the lap that came up last. */
struct judge_left {
	uint32_t lap;  /* 1 + its number */
	uint32_t left; /* lines of the ring, less the misses so far; 0: more missed than it has */
	uint32_t all;  /* lines of the ring */
};
struct judge_room {
	uint32_t *lines, *set;	 /* of each set: lines of the ring; of each element: its set */
	struct judge_left *left; /* of each set */
	double *visits, *misses; /* of each set */
	uint32_t sets;
};

struct judge_room *judge_room(struct arena *a, const struct judge_ring *ring, unsigned rings)
{
	struct judge_room *room = ARENA_NEW(a, struct judge_room);
	uint32_t most = 1;

	for (unsigned i = 0; i < rings; i++)
		most = ring[i].n > most ? ring[i].n : most;
	if (!room)
		return NULL;
	room->sets = JUDGE_SETS_MOST;
	room->lines = ARENA_ARRAY(a, JUDGE_SETS_MOST, uint32_t);
	room->left = ARENA_ARRAY(a, JUDGE_SETS_MOST, struct judge_left);
	room->visits = ARENA_ARRAY(a, JUDGE_SETS_MOST, double);
	room->misses = ARENA_ARRAY(a, JUDGE_SETS_MOST, double);
	room->set = ARENA_ARRAY(a, most, uint32_t);
	return room->lines && room->left && room->visits && room->misses && room->set ? room : NULL;
}

double judge_log_beta(double misses, double hits)
{
	return lgamma(misses + 1) + lgamma(hits + 1) - lgamma(misses + hits + 2);
}

/* Fills lines and set. */
static void place(struct judge_room *room, const struct judge_ring *r, const struct judge_shape *q)
{
	const struct model_shape shape = judge_model(q, RULE_LRU);
	const unsigned bits = (unsigned)__builtin_ctz(q->line);
	const uint32_t n = r->n, *sorted = r->sorted;
	const uint64_t *at = r->at;
	uint32_t *set_of = room->set, set = 0;
	uint64_t before = UINT64_MAX;

	memset(room->lines, 0, q->sets * sizeof(*room->lines));
	for (uint32_t i = 0; i < n; i++) {
		const uint64_t line = at[sorted[i]] >> bits;
		if (line != before) {
			set = model_set_of(&shape, line);
			room->lines[set]++;
		}
		before = line;
		set_of[sorted[i]] = set;
	}
}

static uint32_t few(uint32_t k)
{
	return k <= JUDGE_WAYS_MOST ? k : JUDGE_WAYS_MOST + 1;
}

/* Visited right behind another element of its sector: that has just been fetched. */
static inline bool follows(const struct judge_ring *r, const struct judge_shape *q, uint32_t e)
{
	return r->n > 1 && !((r->at[e] ^ r->at[e ? e - 1 : r->n - 1]) & -(uint64_t)q->sector);
}

/* Misses that had to be. The first miss of a lap in a set of k lines had to be with any w below k. The second had to be
 * with w below k - 1, and so on. */
static void cover(struct judge_room *room, const struct judge_ring *r, const struct judge_shape *q,
		  struct judge_tally *t)
{
	const uint32_t n = r->n, misses = r->misses, *missed = r->missed, *set = room->set;
	struct judge_left *set_left = room->left;
	uint32_t covered[JUDGE_WAYS_MOST + 2] = {0}, sets_of[JUDGE_WAYS_MOST + 2] = {0}, at_least = 0;

	for (uint32_t s = 0; s < q->sets; s++) {
		set_left[s] = (struct judge_left){.all = few(room->lines[s])};
		sets_of[set_left[s].all]++;
	}
	for (uint32_t i = 0, lap = 1, begin = 0; n && i < misses; i++) {
		for (; missed[i] - begin >= n; begin += n) /* a division of each would show */
			lap++;
		struct judge_left *l = &set_left[set[missed[i] - begin]];
		const uint32_t left = l->lap == lap ? l->left : l->all;
		covered[left]++;
		l->lap = lap;
		l->left = left - (left > 0);
	}
	for (uint32_t w = t->most; w-- > 0;) {
		at_least += sets_of[w + 1];
		t->need[w] = t->need[w + 1] + (double)at_least * r->laps;
		t->cover[w] = t->cover[w + 1] + covered[w + 1];
	}
}

void judge_tally(struct judge_room *room, const struct judge_ring *r, const struct judge_shape *q,
		 struct judge_tally *t)
{
	uint32_t elements[JUDGE_WAYS_MOST + 2] = {0}, follow = 0;
	uint64_t misses[JUDGE_WAYS_MOST + 2] = {0}, follow_misses = 0;

	memset(t, 0, sizeof(*t));
	place(room, r, q);
	for (uint32_t e = 0; e < r->seen; e++) {
		/* Of what was never visited nothing has to be there. */
		const uint32_t k = r->cold ? JUDGE_WAYS_MOST + 1 : few(room->lines[room->set[e]]);
		t->most = k > t->most ? k : t->most;
		if (follows(r, q, e)) {
			follow++;
			follow_misses += r->count[e];
		} else {
			elements[k]++;
			misses[k] += r->count[e];
		}
	}
	for (uint32_t k = 0; k <= t->most; k++) {
		t->visits[k] = (double)elements[k] * r->laps;
		t->misses[k] = (double)misses[k];
	}
	t->follow = (double)follow * r->laps;
	t->follow_misses = (double)follow_misses;
	/* A part of a lap may miss only where it was not looked. */
	if (r->seen == r->n && !r->cold)
		cover(room, r, q, t);
}

/* log of sum over the rates of prior x rate^m (1 - rate)^(v - m). */
double judge_noise(double m, double v)
{
#define RATE_ROW(rate, nats) {log(rate), log1p(-(rate)), nats, exp(-(nats))},
	const struct {
		double miss, hit, nats, prior; /* logs of the rate and of what it leaves; the prior as both */
	} row[RATES] = {RATE_ROWS(RATE_ROW)};
	double best = -INFINITY, term[RATES], sum = 0, prior = 0;

	for (size_t i = 0; i < RATES; i++) {
		term[i] = m * row[i].miss + (v - m) * row[i].hit - row[i].nats;
		prior += row[i].prior;
		best = fmax(best, term[i]);
	}
	for (size_t i = 0; i < RATES; i++)
		sum += exp(term[i] - best);
	return best + log(sum / prior);
}

/* Visits that are taken to miss at one rate. */
struct alike {
	double visits, misses;
};

/* log P of m misses of v visits to sets that overflow and are less full than those of *a. They miss at the rate of
 * those, as a rule, else at any. Afterwards *a is those that they are more probably alike with. A rate of its own for
 * each k would cost a shape nats by how many k it makes, in each ring anew. */
static double overflow_of(struct alike *a, double m, double v)
{
	const double hits = a->visits - a->misses,
		     same = a->visits > 0 ? log1p(-UNLIKE) + judge_log_beta(a->misses + m, hits + v - m) -
						judge_log_beta(a->misses, hits)
					  : -INFINITY,
		     own = judge_log_beta(m, v - m) + (a->visits > 0 ? log(UNLIKE) : 0), best = fmax(same, own);

	*a = same > own ? (struct alike){a->visits + v, a->misses + m} : (struct alike){v, m};
	return best + log(exp(same - best) + exp(own - best));
}

void judge_likelihood(const struct judge_tally *t, uint32_t most, double *ll)
{
	double over[JUDGE_WAYS_MOST + 3] = {0}, v = t->follow, m = t->follow_misses, noise = judge_noise(m, v);
	struct alike fuller = {0};

	for (uint32_t k = t->most; k > 1; k--)
		over[k] = over[k + 1] + (t->visits[k] > 0 ? overflow_of(&fuller, t->misses[k], t->visits[k]) : 0);
	for (uint32_t w = 1; w <= most; w++) {
		if (t->visits[w] > 0) {
			v += t->visits[w];
			m += t->misses[w];
			noise = judge_noise(m, v);
		}
		ll[w] += noise + over[w + 1] + JUDGE_HIDDEN * fmax(0, t->need[w] - t->cover[w]);
	}
}

double judge_deviance(double m, double v, double p)
{
	return (m > 0 ? m * log(m / v / p) : 0) + (v > m ? (v - m) * log((1 - m / v) / (1 - p)) : 0);
}

/* By how much sets, or lines, differ more than chance makes them: the deviance of each is half a chi-square of one degree of freedom. */
static double beyond(double deviance_of_sets, uint32_t sets)
{
	return fmax(0, deviance_of_sets - sets / 2.0 - JUDGE_SIGMA * sqrt(sets / 2.0));
}

/* Fills visits and misses of each set that fits. *v, *m: of all of them. */
static void fitting(struct judge_room *room, const struct judge_ring *r, const struct judge_shape *q, double *v,
		    double *m)
{
	memset(room->visits, 0, q->sets * sizeof(*room->visits));
	memset(room->misses, 0, q->sets * sizeof(*room->misses));
	for (uint32_t e = 0; e < r->seen; e++) {
		const uint32_t s = room->set[e];
		if (room->lines[s] > q->ways || r->cold)
			continue;
		room->visits[s] += r->laps;
		room->misses[s] += r->count[e];
		*v += r->laps;
		*m += r->count[e];
	}
}

/* Without a rule that says which of them go, all sectors in equally full sets miss alike, if each is visited once a
 * lap. */
static double unlike(const struct judge_room *room, const struct judge_ring *r, const struct judge_shape *q,
		     const struct judge_tally *t)
{
	double over = 0;
	uint32_t used = 0;

	if (r->cold || (q->exact && q->rule != RULES))
		return 0;
	for (uint32_t i = 1; i < r->n; i++)
		if (!((r->at[r->sorted[i]] ^ r->at[r->sorted[i - 1]]) & -(uint64_t)q->sector))
			return 0;
	for (uint32_t e = 0; e < r->seen; e++) {
		const uint32_t k = few(room->lines[room->set[e]]);
		if (k <= q->ways || k > JUDGE_WAYS_MOST || !(t->misses[k] > 0) || follows(r, q, e))
			continue;
		over +=
		    judge_deviance(fmin(r->count[e], r->laps), r->laps, fmin(t->misses[k] / t->visits[k], 1 - 1e-9));
		used++;
	}
	return beyond(over, used);
}

double judge_surprise(struct judge_room *room, const struct judge_ring *r, const struct judge_shape *q)
{
	struct judge_tally t;
	double v = 0, m = 0, off = 0;
	uint32_t used = 0;

	judge_tally(room, r, q, &t);
	fitting(room, r, q, &v, &m);
	for (uint32_t s = 0; s < q->sets && m > 0; s++)
		if (room->visits[s] > 0) {
			off += judge_deviance(room->misses[s], room->visits[s], fmin(m / v, 1 - 1e-9));
			used++;
		}
	off = beyond(off, used) + unlike(room, r, q, &t);
	if (m > JUDGE_NOISE * v)
		off += judge_deviance(m, v, JUDGE_NOISE);
	return off - JUDGE_HIDDEN * fmax(0, t.need[q->ways] - t.cover[q->ways]);
}
