#include "probe/witness.h"
#include "probe/chase.h"
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ELEMENTS_MOST 20000  /* of a ring: larger ones are of levels beyond the SM */
#define PART_LEAST    256    /* accesses of a lap that is not seen whole */
#define COMMON	      0.0005 /* of all accesses, and ... */
#define COMMON_LEAST  3	     /* ... a few more, that take so long make a class */
#define APART	      5	     /* ticks, and ... */
#define APART_SHARE   0.08   /* ... a share of the fastest, between two classes */

/* Kind 0 is the path's own load in each of these probes. */
const struct witness_path witness_paths[] = {
    {"constant", "constant_cache", "chase", 0, false, false},
    {"texture", "texture_cache", "chase", 0, true, true},
    {"global", "global_cache", "chase", 0, true, false},
    {"readonly", "readonly_cache", "chase", 0, true, true},
};
const unsigned witness_count = sizeof(witness_paths) / sizeof(witness_paths[0]);

/* The ticks at which hits of the first level end and what misses it begins. */
struct edge {
	uint32_t last, next;
};

/* The words of the launch that nothing slowed down. */
static const uint32_t *words_of(const struct point *pt)
{
	const uint32_t *y = pt->y;

	for (uint32_t i = 1; i < pt->repeats; i++)
		if (pt->y[(size_t)i * pt->words_per_repeat + 4] < y[4])
			y = pt->y + (size_t)i * pt->words_per_repeat;
	return y;
}

static uint32_t kept_of(const struct point *pt, const uint32_t *y)
{
	const uint32_t room = pt->words_per_repeat - CHASE_HEAD;
	return y[3] < room ? y[3] : room;
}

/* A warm chase of the path's kind. */
static bool is_ring(const struct point *pt, unsigned kind)
{
	const uint32_t n = chase_elements(pt->x, pt->p);

	return pt->outcome == OUTCOME_OK && pt->words_per_repeat > CHASE_HEAD &&
	       (unsigned)pt->p[CHASE_PLACE] % 8 == kind && n && n <= ELEMENTS_MOST && pt->p[CHASE_WARM] >= n;
}

/* The median of the fastest chase is a hit; the next class is what many accesses take, some ticks beyond the last common ones. */
static bool find_edge(const struct series *s, unsigned kind, struct edge *out)
{
	double of[CHASE_CAP + 1] = {0}, all = 0;
	uint32_t first = CHASE_CAP;

	for (size_t i = 0; i < s->count; i++) {
		const struct point *pt = &s->points[i];
		uint32_t count[CHASE_CAP + 1] = {0}, below = 0, t = 0;
		if (!is_ring(pt, kind) || pt->p[CHASE_FLOOR] > 0)
			continue;
		const uint32_t *y = words_of(pt), kept = kept_of(pt, y);
		for (uint32_t k = 0; k < kept; k++)
			count[chase_ticks(y[CHASE_HEAD + k])]++;
		for (; t <= CHASE_CAP; t++) {
			of[t] += count[t];
			below += count[t];
			if (2 * below > kept && t < first && 2 * (below - count[t]) <= kept)
				first = t;
		}
		all += kept;
	}
	*out = (struct edge){first, first};
	for (uint32_t t = first; t <= CHASE_CAP; t++) {
		if (of[t] <= COMMON * all + COMMON_LEAST)
			continue;
		out->next = t;
		if (t - out->last > APART + APART_SHARE * first)
			return true;
		out->last = t;
	}
	return false;
}

/* One chase as a ring whose first element is the first that was timed. laps is 0 where too few accesses were. 0 or -ENOMEM. */
static int read_ring(struct arena *a, const struct point *pt, double floor, struct judge_ring *r)
{
	const double *p = pt->p;
	const uint32_t n = chase_elements(pt->x, p), *y = words_of(pt), kept = kept_of(pt, y),
		       covered = kept == y[3] ? (uint32_t)p[CHASE_TIMED] : chase_index(y[CHASE_HEAD + kept - 1]);
	const uint64_t *ring = chase_ring(a, pt->x, p);
	uint64_t *at = ARENA_ARRAY(a, n, uint64_t);
	uint32_t *missed = ARENA_ARRAY(a, kept + 1, uint32_t);

	if (!ring || !at || !missed)
		return -ENOMEM;
	*r = (struct judge_ring){.n = n,
				 .laps = covered / n ? covered / n : covered >= PART_LEAST,
				 .seen = covered < n ? covered : n,
				 .at = at,
				 .missed = missed,
				 .warm = (uint32_t)p[CHASE_WARM] + CHASE_PRE,
				 .bytes = pt->x,
				 .step = p[CHASE_STRIDE]};
	for (uint32_t i = 0; i < n; i++)
		at[i] = ring[chase_at(p, n, i)];
	for (uint32_t k = 0; k < kept; k++) {
		const uint32_t index = chase_index(y[CHASE_HEAD + k]);
		if (index < r->laps * r->seen && chase_ticks(y[CHASE_HEAD + k]) >= floor)
			missed[r->misses++] = index;
	}
	return judge_ring_ready(a, r);
}

int witness_rings(struct arena *a, struct run *run, const struct witness_path *path, struct judge_ring **ring,
		  unsigned *rings)
{
	const struct series *s = run_series(run, path->probe, path->experiment);
	struct edge edge;

	*rings = 0;
	if (!s || !s->count || !find_edge(s, path->kind, &edge))
		return 0;
	*ring = ARENA_ARRAY(a, s->count, struct judge_ring);
	if (!*ring)
		return -ENOMEM;
	for (size_t i = 0; i < s->count; i++) {
		const struct point *pt = &s->points[i];
		const double from = pt->p[CHASE_FLOOR];
		/* Records from another level's floor on do not say what missed this one. */
		if (!is_ring(pt, path->kind) || (from > 0 && (from <= edge.last || from > edge.next)))
			continue;
		if (read_ring(a, pt, (edge.last + edge.next) / 2.0, *ring + *rings))
			return -ENOMEM;
		*rings += (*ring)[*rings].laps > 0;
	}
	return 0;
}

/* ---- beside the findings ---- */

bool witness_tells(const struct witness_path *p, enum judge_key k)
{
	return k != JUDGE_MAPPING || !p->plane;
}

bool witness_at_least(const struct witness_path *p, enum judge_key k)
{
	return p->beside && (k == JUDGE_SIZE || k == JUDGE_WAYS);
}

int witness_agrees(const struct witness_path *p, const struct judge_shape *q, enum judge_key k, const struct finding *f)
{
	const double v = (double)judge_value(q, k);
	const bool least = witness_at_least(p, k);

	if (!f)
		return -1;
	if (f->verdict == VERDICT_BOUND)
		return least || (!(v < f->lo) && !(v > f->hi));
	if (!finding_estimated(f))
		return -1;
	if (f->value.kind == VALUE_TEXT)
		return strcmp(f->value.text, q->folded ? "hash" : "modulo") == 0;
	if (f->value.kind != VALUE_NUMBER)
		return -1;
	return least ? f->value.number >= v : f->value.number == v;
}

static struct finding *of_key(struct run *r, const struct witness_path *p, enum judge_key k)
{
	char key[96];

	snprintf(key, sizeof(key), "cache.%s.l1.%s", p->path, judge_key_name(k));
	for (size_t i = 0; i < r->findings.count; i++)
		if (strcmp(r->findings.items[i].key, key) == 0)
			return &r->findings.items[i];
	return NULL;
}

static bool estimates(const struct witness_path *p, enum judge_key k, const struct finding *f)
{
	return f && f->verdict == VERDICT_INCONCLUSIVE && !witness_at_least(p, k) && witness_tells(p, k);
}

/* Whether there is something to estimate, and something that was measured to hold a shape against. */
static bool is_open(struct run *r, const struct witness_path *p)
{
	unsigned open = 0, measured = 0;

	for (enum judge_key k = 0; k < JUDGE_KEYS; k++) {
		const struct finding *f = of_key(r, p, k);
		open += estimates(p, k, f);
		measured += f && f->verdict == VERDICT_MEASURED;
	}
	return open && measured;
}

static void estimate(struct finding *f, const struct judge_result *j, enum judge_key k)
{
	const struct judge_shape *q = &j->shape[0];
	char why[sizeof(f->because)];

	snprintf(
	    why, sizeof(why),
	    "of %u shapes beside %u rings the likeliest says so, and others are worse by %.0f nats; not proven: %.160s",
	    j->candidates, j->rings, fmin(j->fact[k].margin, 1e6), f->because);
	memcpy(f->because, why, sizeof(why));
	snprintf(f->method, sizeof(f->method), "one likelihood of all shapes, beside all rings of the path");
	f->verdict = VERDICT_LIKELY;
	if (k == JUDGE_MAPPING) {
		f->value = (struct value){.kind = VALUE_TEXT};
		snprintf(f->value.text, sizeof(f->value.text), "%s", q->folded ? "hash" : "modulo");
		return;
	}
	f->value = (struct value){.kind = VALUE_NUMBER, .number = (double)judge_value(q, k)};
	f->lo = f->hi = f->value.number;
}

static int estimate_level(struct run *r, const struct witness_path *p, struct judge_result *j)
{
	struct judge_ring *ring = NULL;
	struct arena a;
	unsigned rings;

	arena_init(&a);
	int rc = witness_rings(&a, r, p, &ring, &rings);
	if (!rc)
		rc = judge_weigh(ring, rings, j);
	bool denied = rc || !j->kept;
	for (enum judge_key k = 0; !denied && k < JUDGE_KEYS; k++)
		denied = witness_tells(p, k) && witness_agrees(p, &j->shape[0], k, of_key(r, p, k)) == 0;
	for (enum judge_key k = 0; !denied && k < JUDGE_KEYS; k++) {
		struct finding *f = of_key(r, p, k);
		if (estimates(p, k, f) && judge_verdict(j, k) != JUDGE_OPEN)
			estimate(f, j, k);
	}
	arena_free(&a);
	return rc;
}

int witness_estimate(struct run *r)
{
	struct judge_result *j = mem_zero(1, sizeof(*j));
	int rc = j ? 0 : -ENOMEM;

	for (unsigned i = 0; !rc && i < witness_count; i++)
		if (is_open(r, &witness_paths[i]))
			rc = estimate_level(r, &witness_paths[i], j);
	mem_free(j);
	return rc;
}
