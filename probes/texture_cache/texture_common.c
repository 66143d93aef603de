#include "texture_common.h"
#include "data/native_record.h"
#include "stat/stat.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { HEAD = 8, ROUNDS = 96, COLD = 8, STEP = 512, TEXEL = 4 };
#define SPREAD 0.2 /* of the accesses on either side may be otherwise, by noise or by a page that they enter */
#define STEPS  2.0 /* of the clock, by which two times may differ for no reason */

int texture_reuse_setup(const struct study *s, double x, const double *p, struct job *j)
{
	const bool fetched = (unsigned)x == REUSE_FETCHED;
	struct launch *l = &j->launch;

	(void)p;
	j->template_path = "probes/paths/reuse.ptx";
	snprintf(l->entry, sizeof(l->entry), "reuse");
	job_param_text(j, "FIRST", study_device(s)->cc < 20 ? "ld.volatile.global.u32" : "ld.global.cg.u32");
	job_param_text(j, "SECOND", "");
	job_param(j, "FIRST_TEXTURE", fetched);
	job_param(j, "SECOND_TEXTURE", 1);
	job_param(j, "STEP", STEP);
	l->block[0] = l->block[1] = l->block[2] = 1;
	job_output(j, HEAD + ROUNDS);
	job_pin(j, study_device(s), 0);
	const uint32_t b = l->buffer_count++;
	l->buffers[b] =
	    (struct launch_buffer){.space = BUFFER_GLOBAL, .bytes = (uint64_t)ROUNDS * STEP, .align = 1u << 16};
	job_arg_buffer(j, b, 0);
	job_texture(j, b, (uint64_t)ROUNDS * STEP / TEXEL);
	job_arg_texture(j, 0);
	job_arg_u32(j, ROUNDS);
	l->carveout = CARVEOUT_MAX_L1;
	l->flush = true;
	/* Region 0 is one timed fetch, a comparison and a branch. */
	j->check.cls = NATIVE_TEXTURE;
	j->check.region = 0;
	j->check.min = j->check.max = 1;
	j->check.others = 12;
	return 0;
}

/* Ticks of most fetches: from low to high. False: the point is not there, or not what was asked for. */
static bool fetches(struct study *s, unsigned experiment, enum texture_reuse how, double *low, double *high)
{
	const double p[POINT_PARAMS] = {0};
	const struct point *pt = study_ask(s, experiment, how, p);
	double v[ROUNDS];

	if (!pt || pt->outcome != OUTCOME_OK || pt->words_per_repeat < HEAD + ROUNDS || pt->y[2] != ROUNDS)
		return false;
	for (unsigned i = COLD; i < ROUNDS; i++)
		v[i - COLD] = pt->y[HEAD + i];
	qsort(v, ROUNDS - COLD, sizeof(*v), stat_compare_double);
	*low = v[(unsigned)(SPREAD * (ROUNDS - COLD))];
	*high = v[(unsigned)((1 - SPREAD) * (ROUNDS - COLD))];
	return true;
}

/* Ticks from which a fetch was not answered by level k. */
static double end_of(const struct chase_path *c, unsigned k)
{
	const struct chase_level *l = &c->level[k];

	if (l->floor > 0)
		return l->floor;
	return c->touch == TOUCH_SLOWER ? chase_floor(c->classes[l->class_last].centre, c->cold) : INFINITY;
}

enum chase_state texture_common_find(const struct chase_path *c, unsigned experiment, unsigned caches,
				     struct texture_common *out)
{
	struct study *s = c->study;
	const struct finding *size = study_finding(s, "cache.global.l2.size");
	double low[2], high[2];

	*out = (struct texture_common){.known = false};
	out->none = size && size->verdict == VERDICT_ABSENT;
	if (!caches || out->none)
		return CHASE_DONE;
	const bool fetched = fetches(s, experiment, REUSE_FETCHED, &low[0], &high[0]),
		   past = fetches(s, experiment, REUSE_PAST, &low[1], &high[1]);
	if (!fetched || !past)
		return study_pending(s) ? CHASE_PENDING : CHASE_DONE;
	/* Both kernels are one but for the load before; a chase takes other instructions, so only what a level adds to the first is compared. */
	const double zero = c->classes[0].centre - low[0], slack = STEPS * c->grain + high[0] - low[0],
		     least = low[1] + zero - slack, most = high[1] + zero + slack + c->swing * high[1];
	out->before = low[0];
	out->past = low[1];
	for (unsigned k = 0; k < caches; k++) {
		const double end = end_of(c, k), begin = k ? end_of(c, k - 1) : -INFINITY;
		if (least > begin && most < end) {
			out->known = true;
			out->level = k;
		}
	}
	if (least > end_of(c, caches - 1)) {
		out->known = true;
		out->level = caches;
	}
	return CHASE_DONE;
}

/* Whether the first level is not the L1 of global loads: there is none, or it has another shape. */
static bool is_apart_from_l1(const struct study *s)
{
	static const char *const shape[][2] = {{"cache.global.l1.size", "cache.texture.l1.size"},
					       {"cache.global.l1.line", "cache.texture.l1.line"}};
	const struct finding *l1 = study_finding(s, shape[0][0]);

	if (l1 && l1->verdict == VERDICT_ABSENT)
		return true;
	for (size_t i = 0; i < sizeof(shape) / sizeof(shape[0]); i++) {
		const struct finding *a = study_finding(s, shape[i][0]), *b = study_finding(s, shape[i][1]);
		if (a && b && a->verdict == VERDICT_MEASURED && b->verdict == VERDICT_MEASURED &&
		    (a->hi < b->lo || a->lo > b->hi))
			return true;
	}
	return false;
}

void texture_common_conclude(struct study *s, const struct texture_common *t, unsigned k)
{
	char key[64];

	snprintf(key, sizeof(key), "cache.texture.l%u.shared_with", k + 1);
	if (t->none)
		study_text(s, key, "none", "loads of global memory", "", "global memory has no L2");
	if (!t->known || k > t->level)
		return;
	/* Only loads past the SM's caches went before: they say nothing of the L1, which many GPUs share with textures. */
	if (k == 0 && t->level > 0 && !is_apart_from_l1(s)) {
		study_verdict(s, key, VERDICT_INCONCLUSIVE, "reuse",
			      "it is nearer than the common L2; whether loads by the L1 use it was not asked");
		return;
	}
	study_text(s, key, k == t->level ? "global.l2" : "none",
		   "a line read past the SM's caches, and at once by a texture fetch", "reuse",
		   "%.0f ticks where the line was fetched before, %.0f where it was read past the SM's caches: %s",
		   t->before, t->past, k == t->level ? "it is in this level" : "it is not in this level");
}
