/* Which unit does an operation, and how many warps keep it full: what follows from pipes and rates. */
#include "gpu/sim/spec_file.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

/* Operations that stand for what pipes are for (src/data/keys.def). The first of one instruction counts. */
enum purpose { PURPOSE_SINGLE, PURPOSE_INTEGER, PURPOSE_SPECIAL, PURPOSE_DOUBLE, PURPOSE_HALF, PURPOSES };
static const struct {
	const char *op, *type;
} stand_in[PURPOSES][3] = {{{"add", "f32"}, {"fma", "f32"}, {"mul", "f32"}},
			   {{"add", "u32"}, {"max", "s32"}, {"and", "b32"}},
			   {{"rsqrt", "f32"}, {"lg2", "f32"}, {"rcp", "f32"}},
			   {{"add", "f64"}, {"mul", "f64"}, {"fma", "f64"}},
			   {{"add", "f16x2"}, {"fma", "f16x2"}, {"add", "f16"}}};

static const struct op_spec *op_of(const struct sim_spec *s, const char *op, const char *type)
{
	const int at = spec_find_op(s, op, type);
	return &s->op[at >= 0 ? at : s->default_op];
}

static const struct op_spec *stands(const struct sim_spec *s, enum purpose k)
{
	if ((k == PURPOSE_DOUBLE && !s->has_f64) || (k == PURPOSE_HALF && !s->has_f16))
		return NULL;
	for (size_t i = 0; i < 3; i++) {
		const struct op_spec *o = op_of(s, stand_in[k][i].op, stand_in[k][i].type);
		if (o->native_ops <= 1)
			return o;
	}
	return NULL;
}

static bool share(const struct op_spec *a, const struct op_spec *b)
{
	for (uint32_t i = 0; i < a->pipe_count; i++)
		for (uint32_t k = 0; k < b->pipe_count; k++)
			if (a->pipe[i] == b->pipe[k])
				return true;
	return false;
}

/* unit[k]: the least kind that kind k shares a pipe with, directly or by way of others. */
static void group(const struct op_spec *const *op, enum purpose *unit)
{
	for (int k = 0; k < PURPOSES; k++)
		unit[k] = (enum purpose)k;
	for (int round = 0; round < PURPOSES; round++)
		for (int a = 0; a < PURPOSES; a++)
			for (int b = 0; b < PURPOSES; b++)
				if (op[a] && op[b] && share(op[a], op[b]) && unit[b] < unit[a])
					unit[a] = unit[b];
}

static const char *name_of(const enum purpose *unit, enum purpose u)
{
	switch (u) {
	case PURPOSE_SINGLE:
		return unit[PURPOSE_INTEGER] == u ? "sp" : "fp32";
	case PURPOSE_INTEGER:
		return "int32";
	case PURPOSE_SPECIAL:
		return "sfu";
	case PURPOSE_DOUBLE:
		return "dpu";
	case PURPOSE_HALF:
	case PURPOSES:
		break;
	}
	return "fp16";
}

void spec_unit_of(const struct sim_spec *s, const struct op_spec *o, char *out, size_t n)
{
	const struct op_spec *op[PURPOSES];
	enum purpose unit[PURPOSES];
	out[0] = '\0';
	for (int k = 0; k < PURPOSES; k++)
		op[k] = stands(s, (enum purpose)k);
	group(op, unit);
	for (int u = 0; u < PURPOSES; u++) {
		bool on = false;
		for (int k = 0; k < PURPOSES; k++)
			on |= unit[k] == (enum purpose)u && op[k] && share(o, op[k]);
		const size_t at = strlen(out);
		if (on)
			snprintf(out + at, n - at, "%s%s", at ? ", " : "", name_of(unit, (enum purpose)u));
	}
	if (!out[0])
		snprintf(out, n, "other");
}

const struct op_spec *spec_unit_op(const struct sim_spec *s, unsigned number, const char **name)
{
	const struct op_spec *op[PURPOSES];
	enum purpose unit[PURPOSES];
	for (int k = 0; k < PURPOSES; k++)
		op[k] = stands(s, (enum purpose)k);
	group(op, unit);
	if (number >= PURPOSES || !op[number] || unit[number] != (enum purpose)number)
		return NULL;
	*name = name_of(unit, (enum purpose)number);
	return op[number];
}

/* Cycles that w warps take for one operation each, when all begin together and there are many more to follow. Several pipes
 * share the work as their rates say; or, whole, each does as many operations as it can end within the round. */
static double round_cycles(const struct sim_spec *s, const struct op_spec *o, uint32_t w, bool whole)
{
	const uint32_t steps = o->native_ops ? o->native_ops : 1;
	double lo = fmax(o->latency, 1), hi = 1e9;
	/* the scheduler with the most warps issues them one after the other; a single chain has no second instruction for it */
	const uint32_t most = (w + s->schedulers - 1) / s->schedulers;
	lo = fmax(lo, (double)most * steps * s->scheduler_issue);
	for (unsigned round = 0; round < 100; round++) {
		const double t = round ? (lo + hi) / 2 : lo;
		double left = 0, own = 0, common = 0;
		for (uint32_t k = 0; k < o->pipe_count; k++) {
			const bool each = s->pipe[o->pipe[k]].per_scheduler;
			const double done = t * o->rate[k] / s->warp_size / (each ? s->schedulers : 1);
			*(each ? &own : &common) += whole ? floor(done + 1e-9) : done;
		}
		for (uint32_t k = 0; k < s->schedulers; k++)
			left += fmax(0, w / s->schedulers + (k < w % s->schedulers) - own);
		if (left <= common + 1e-9)
			hi = t;
		else
			lo = t;
		if (round == 0 && hi == lo)
			break;
	}
	return hi;
}

static uint32_t first_that_reaches(const struct sim_spec *s, const struct op_spec *o, double part, bool whole)
{
	const uint32_t most = s->max_threads_per_block / s->warp_size;
	for (uint32_t w = 1; w <= most; w++)
		if ((double)w * s->warp_size / round_cycles(s, o, w, whole) >= part * o->throughput)
			return w;
	return most + 1;
}

uint32_t spec_warps_to_fill(const struct sim_spec *s, const struct op_spec *o, double *tolerance)
{
	/* Pipes whose operations do not end together leave warps waiting for one while another is free. */
	const uint32_t at = first_that_reaches(s, o, 0.95, false), lo = first_that_reaches(s, o, 0.93, false),
		       hi = first_that_reaches(s, o, 0.97, o->pipe_count > 1);
	*tolerance = fmax(at - lo, hi - at);
	return at;
}
