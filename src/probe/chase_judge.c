/* The judge on a path's first level: its rings as the record has them, what they make most probable, and what is found of it. */
#include "base/arena.h"
#include "judge/judge.h"
#include "probe/chase.h"
#include "probe/engine.h"
#include "probe/study.h"
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define ELEMENTS_MOST 20000	     /* of a ring: larger ones are of levels beyond the SM */
#define PART_LEAST    256	     /* accesses of a lap that is not seen whole */
#define FOLD	      1099511628211u /* the prime of FNV-1a for 64 bits */

static const char method[] = "one likelihood of all shapes, beside all rings of the path";

/* What is kept of a judgement: the result, and each key's ring that parts it from its rival. */
struct judged {
	struct judge_result is;
	struct finding_rival rival[JUDGE_KEYS], worst; /* worst: of the ring that is explained least, only the ring */
};

/* ---- rings ---- */

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

/* A chase of the path's kind, warm or all cold, that says what missed the first level, and nothing else that takes as long. */
static bool is_ring(const struct chase_path *c, const struct point *pt)
{
	const struct chase_level *l = &c->level[0];
	const uint32_t n = chase_elements(pt->x, pt->p);
	const double from = pt->p[CHASE_FLOOR], hit = c->classes[l->class_last].centre,
		     miss = c->classes[l->class_last + 1].centre;

	return pt->outcome == OUTCOME_OK && pt->words_per_repeat > CHASE_HEAD &&
	       (unsigned)pt->p[CHASE_PLACE] % 8 == c->kind && n && n <= ELEMENTS_MOST &&
	       (pt->p[CHASE_WARM] >= n || !(pt->p[CHASE_WARM] > 0)) && (!(from > 0) || (from > hit && from <= miss)) &&
	       !chase_beyond_reach(c, pt->p[CHASE_START], pt->x, pt->p[CHASE_EXTRA]);
}

/* One chase as a ring whose first element is the first that was timed. laps is 0 where too few accesses were. False: out of memory. */
static bool read_ring(struct arena *a, const struct point *pt, uint32_t number, double floor, struct judge_ring *r)
{
	const double *p = pt->p;
	const uint32_t n = chase_elements(pt->x, p), *y = words_of(pt), kept = kept_of(pt, y),
		       covered = kept == y[3] ? (uint32_t)p[CHASE_TIMED] : chase_index(y[CHASE_HEAD + kept - 1]);
	const uint64_t *ring = chase_ring(a, pt->x, p);
	uint64_t *at = ARENA_ARRAY(a, n, uint64_t);
	uint32_t *missed = ARENA_ARRAY(a, kept + 1, uint32_t);

	if (!ring || !at || !missed)
		return false;
	*r = (struct judge_ring){.n = n,
				 .laps = covered / n ? covered / n : covered >= PART_LEAST,
				 .seen = covered < n ? covered : n,
				 .at = at,
				 .missed = missed,
				 .warm = (uint32_t)p[CHASE_WARM] + CHASE_PRE,
				 .cold = !(p[CHASE_WARM] > 0),
				 .bytes = pt->x,
				 .number = number,
				 .step = p[CHASE_STRIDE]};
	for (uint32_t i = 0; i < n; i++)
		at[i] = ring[chase_at(p, n, i)];
	for (uint32_t k = 0; k < kept; k++) {
		const uint32_t index = chase_index(y[CHASE_HEAD + k]);
		if (index < r->laps * r->seen && chase_ticks(y[CHASE_HEAD + k]) >= floor)
			missed[r->misses++] = index;
	}
	return judge_ring_ready(a, r) == 0;
}

/* Ticks that part hits from misses: the middle, as what answers misses may be nearer to some SMs than to the surveyed
 * one. */
static double between(const struct chase_path *c)
{
	const struct chase_class *hit = &c->classes[c->level[0].class_last];
	return (hit->centre + fmin(hit[1].centre, hit[1].first)) / 2;
}

/* The rings of the first level that the study has asked for, in the arena. False: out of memory. */
static bool read_rings(struct arena *a, const struct chase_path *c, const struct series *s, struct judge_ring **ring,
		       unsigned *rings)
{
	*rings = 0;
	*ring = ARENA_ARRAY(a, s->count, struct judge_ring);
	for (size_t i = 0; *ring && i < s->count; i++) {
		if (!study_asked(c->study, c->chase, i) || !is_ring(c, &s->points[i]))
			continue;
		if (!read_ring(a, &s->points[i], (uint32_t)i, between(c), *ring + *rings))
			return false;
		*rings += (*ring)[*rings].laps > 0;
	}
	return *ring;
}

/* ---- the judgement ---- */

static void say_shape(char *out, size_t n, const struct judge_shape *q)
{
	snprintf(out, n, "%u sets of %u lines of %u bytes%s", q->sets, q->ways, q->line,
		 q->folded ? ", found by a hash" : "");
}

static struct finding_rival of_ring(const struct chase_path *c, const struct series *s, const struct judge_ring *r)
{
	struct finding_rival out = {.point = r->number,
				    .addresses = r->n,
				    .bytes = r->bytes,
				    .step = r->step,
				    .floor = between(c),
				    .visits = (double)r->laps * r->seen,
				    .misses = r->misses};

	snprintf(out.experiment, sizeof(out.experiment), "%s", s->experiment);
	return out;
}

static struct finding_rival rival_of(const struct chase_path *c, const struct series *s, const struct judge_ring *ring,
				     const struct judge_result *is, enum judge_key k)
{
	const struct judge_fact *f = &is->fact[k];
	struct finding_rival out = of_ring(c, s, &ring[f->ring]);

	out.value = (double)judge_value(&is->shape[f->rival], k);
	out.nats = f->margin;
	out.best_least = f->least[0];
	out.least = f->least[1];
	if (f->rival)
		say_shape(out.shape, sizeof(out.shape), &is->shape[f->rival]);
	return out;
}

/* False: out of memory. */
static bool weigh(struct chase_path *c, const struct series *s, struct judged *j)
{
	struct judge_ring *ring;
	unsigned rings;
	struct arena a;

	arena_init(&a);
	const bool done = read_rings(&a, c, s, &ring, &rings) && judge_weigh(ring, rings, &j->is) == 0;
	for (unsigned k = 0; done && rings && k < JUDGE_KEYS; k++)
		j->rival[k] = rival_of(c, s, ring, &j->is, k);
	if (done && rings)
		j->worst = of_ring(c, s, &ring[j->is.worst]);
	arena_free(&a);
	return done;
}

/* NULL: there is no judgement, as nothing of the level was seen to overflow. */
static const struct judged *judged(struct chase_path *c)
{
	const struct series *s = study_series(c->study, c->chase);
	struct {
		uint64_t chase, kind, points, which; /* which: of the points were asked for, folded */
		double hit, miss;
	} key = {
	    .chase = c->chase, .kind = c->kind, .hit = c->classes[c->level[0].class_last].centre, .miss = between(c)};
	struct judged *j;

	if (!s || !s->count || !(c->level[0].floor > 0) || c->level[0].clarity == BLURRED)
		return NULL;
	for (size_t i = 0; i < s->count; i++)
		if (study_asked(c->study, c->chase, i)) {
			key.points++;
			key.which = key.which * FOLD + i;
		}
	const struct judged *before = study_recall(c->study, "judged", &key, sizeof(key));
	if (before)
		return before->is.kept ? before : NULL;
	j = ARENA_NEW(study_arena(c->study), struct judged);
	if (!j || !weigh(c, s, j)) {
		c->study->no_memory = true;
		return NULL;
	}
	study_keep(c->study, "judged", &key, sizeof(key), j, sizeof(*j));
	return j->is.kept ? j : NULL;
}

/* ---- findings ---- */

static void say(const struct judged *j, enum judge_key k, char *out, size_t n)
{
	const struct judge_result *r = &j->is;
	char shape[sizeof(j->worst.shape)];

	say_shape(shape, sizeof(shape), &r->shape[0]);
	snprintf(out, n, "%s explain %u rings; of %u shapes all others are worse by %.0f nats or more", shape, r->rings,
		 r->candidates, r->fact[k].margin);
}

/* At least: shared memory takes a part of the level, or may do so. */
static void conclude(struct chase_path *c, const struct judged *j, enum judge_key k, const char *prefix, bool least)
{
	const double v = (double)judge_value(&j->is.shape[0], k);
	const enum judge_verdict is = judge_verdict(&j->is, k);
	char key[96], why[sizeof(((struct finding *)NULL)->because)];

	snprintf(key, sizeof(key), "%s.%s", prefix, judge_key_name(k));
	say(j, k, why, sizeof(why));
	if (is == JUDGE_OPEN || (is == JUDGE_LIKELY && least))
		study_verdict(c->study, key, VERDICT_INCONCLUSIVE, "chase", "%s", why);
	else if (is == JUDGE_LIKELY)
		study_likely_number(c->study, key, v, v, v, "", method, "chase", "%s", why);
	else if (!least)
		study_measured_number(c->study, key, v, v, v, "", method, "chase", "%s", why);
	else
		study_bound(c->study, key, v, INFINITY, method, "chase",
			    "%s; the chase itself takes a part where the level is one with shared memory", why);
	study_second(c->study, key, &j->rival[k]);
	study_note(c->study, key, is != JUDGE_OPEN && least && k != JUDGE_SETS ? NOTE_LENT : 0);
}

bool chase_conclude_judged(struct chase_path *c, const char *prefix)
{
	const struct judged *j = c->beyond_sm ? NULL : judged(c);
	const struct chase_level *l = &c->level[0];

	if (!j || j->is.unexplained)
		return false;
	for (enum judge_key k = 0; k < JUDGE_KEYS; k++) {
		const bool one = k == JUDGE_SETS && j->is.shape[0].sets == 1;
		if (k != JUDGE_MAPPING)
			conclude(c, j, k, prefix, l->lent && (k == JUDGE_SIZE || k == JUDGE_WAYS || one));
	}
	return true;
}

/* ---- the ring that parted two shapes, drawn ---- */

/* How often each address missed, in the order of addresses. */
static int draw_misses(struct arena *a, const struct judge_ring *r, const struct finding *f, struct figure_list *out)
{
	double *x = ARENA_ARRAY(a, r->n, double), *y = ARENA_ARRAY(a, r->n, double);
	struct figure *figure = figures_new(out, ENGINE_PARTED, "The ring that parted the best shape from the second");

	if (!x || !y || !figure)
		return -ENOMEM;
	for (uint32_t i = 0; i < r->n; i++) {
		x[i] = (double)(r->at[r->sorted[i]] - r->at[r->sorted[0]]);
		y[i] = r->count[r->sorted[i]];
	}
	figure->x = (struct figure_axis){.label = "place in the ring", .unit = "bytes"};
	figure->y = (struct figure_axis){.label = "misses", .unit = "count"};
	snprintf(figure->caption, sizeof(figure->caption),
		 "%u laps over %u addresses; %.0f accesses have to miss at least by the best shape, %.0f by the second",
		 r->laps, r->n, f->rival.best_least, f->rival.least);
	figure_key(figure, f->key);
	return figure_add(figure, "misses", MARK_POINTS, x, y, NULL, r->n);
}

int engine_draw_parted(struct run *r, const struct finding *f, struct figure_list *out)
{
	const struct finding_rival *v = &f->rival;
	const struct series *s = *v->shape ? run_series(r, f->probe, v->experiment) : NULL;
	const struct point *pt = s && v->point < s->count ? &s->points[v->point] : NULL;
	struct judge_ring ring;
	struct arena a;
	int rc = 0;

	/* The file may say anything. */
	if (!pt || pt->outcome != OUTCOME_OK || pt->words_per_repeat <= CHASE_HEAD || !(pt->p[CHASE_STRIDE] >= 1) ||
	    !(pt->x >= 1) || !(pt->x / pt->p[CHASE_STRIDE] <= ELEMENTS_MOST))
		return 0;
	arena_init(&a);
	if (!read_ring(&a, pt, v->point, v->floor, &ring))
		rc = -ENOMEM;
	else if (ring.laps)
		rc = draw_misses(&a, &ring, f, out);
	arena_free(&a);
	return rc;
}
