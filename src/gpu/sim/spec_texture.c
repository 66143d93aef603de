/* What a probe should find of the texture unit: its filter, and how many threads' reads it takes in a cycle. */
#include "gpu/sim/spec_file.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

#define KEY_BYTES 64
#define RATE	  0.03 /* of a rate: how far off a right one may be */
#define ANY	  1e9  /* what the description does not decide */

/* Reads that are asked for: bytes of a texel, and texels of a thread. */
static const struct read {
	const char *name;
	unsigned bytes, texels;
} reads[] = {{"f32_1d", 4, 1},	      {"f32_2d", 4, 1},	       {"f32_3d", 4, 1},
	     {"f32_2d_linear", 4, 4}, {"f32_3d_linear", 4, 8}, {"u8_2d", 1, 1},
	     {"f32x2_2d", 8, 1},      {"f32x4_2d", 16, 1},     {"f32x4_2d_linear", 16, 4}};

/* Cycles from one read of a warp to the next. *told: the unit itself is what takes so long, and nothing on the way to its texels. */
static double cycles_of(const struct sim_spec *s, const struct read *r, bool *told)
{
	const struct path_spec *p = s->has_texture ? &s->texture : &s->global;
	const struct cache_spec *c = s->has_texture && p->levels ? &p->level[0] : NULL;
	const double unit = s->texture_lanes > 0
				? s->warp_size / s->texture_lanes * spec_texture_turns(s, r->bytes, r->texels)
				: 0,
		     ways = fmax(p->issue, c ? c->interval : 0) * r->texels + p->request;
	*told = unit > 0 && c && c->scope != SCOPE_GPU && ways <= unit && c->latency < ANY;
	return fmax(unit, fmax(ways, p->issue));
}

int spec_truth_texture(const struct sim_spec *s, int (*each)(void *ctx, const struct truth *t), void *ctx)
{
	int rc = each(ctx, &(struct truth){.key = "texture.filter.fraction_bits", .number = s->texture_fraction_bits});
	if (rc == 0)
		rc = each(ctx, &(struct truth){.key = "texture.filter.modes", .text = "point,linear"});
	for (size_t k = 0; rc == 0 && k < sizeof reads / sizeof *reads; k++) {
		bool told;
		const double rate = s->warp_size / cycles_of(s, &reads[k], &told);
		char key[KEY_BYTES];
		snprintf(key, sizeof key, "texture.%s.rate", reads[k].name);
		struct truth t = {.key = key, .number = rate, .tolerance = told ? RATE * rate : ANY};
		rc = each(ctx, &t);
		t.key = "texture.rate";
		if (rc == 0 && strcmp(reads[k].name, "f32_2d") == 0)
			rc = each(ctx, &t);
	}
	return rc;
}
