/* What a probe should find of operations and of the units that do them. */
#include "gpu/sim/spec_tell.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

#define KEY_BYTES 128

static bool same_rates(const struct op_spec *o, const struct op_spec *p)
{
	for (uint32_t k = 0; k < o->pipe_count && k < p->pipe_count; k++)
		if (o->pipe[k] != p->pipe[k] || o->rate[k] != p->rate[k])
			return false;
	return o->pipe_count == p->pipe_count;
}

/* An operation before it of the same timing, and on the same pipes: what takes long to count is the same. */
static const struct op_spec *same_timing(const struct sim_spec *s, uint32_t i)
{
	const struct op_spec *o = &s->op[i];
	for (const struct op_spec *p = s->op; p < o; p++)
		if (p->latency == o->latency && p->throughput == o->throughput && p->native_ops == o->native_ops &&
		    same_rates(o, p))
			return p;
	return NULL;
}

/* A whole block is no faster than its lanes, nor than its links one after the other. The description does not say what
 * it loses beside, as to code that is not at hand. The clock is read twice, in steps. */
static void tell_block(struct teller *t, const struct sim_spec *s, const struct op_spec *o, const char *key)
{
	enum { LINKS = 128 };
	const double operations = (double)(s->max_threads_per_block / s->warp_size * s->warp_size) * LINKS,
		     least = fmax(operations / o->throughput, LINKS * o->latency),
		     most = operations / fmax(least - 2.0 * s->clock_granularity - o->latency, 1);
	if (o->native_ops == 1)
		tell_number(t, key, most / 2, most / 2);
}

static void tell_ops(struct teller *t, const struct sim_spec *s)
{
	char key[KEY_BYTES];
	uint32_t filled[SPEC_OPS];
	double unsure[SPEC_OPS];
	for (uint32_t i = 0; i < s->op_count; i++) {
		const struct op_spec *o = &s->op[i];
		snprintf(key, sizeof key, "arith.%s.%s.latency", o->op, o->type);
		tell_number(t, key, o->latency, LATENCY_TOLERANCE);
		snprintf(key, sizeof key, "arith.%s.%s.throughput", o->op, o->type);
		tell_number(t, key, o->throughput, THROUGHPUT_TOLERANCE * o->throughput);
		snprintf(key, sizeof key, "arith.%s.%s.block_rate", o->op, o->type);
		tell_block(t, s, o, key);
		snprintf(key, sizeof key, "arith.%s.%s.issue", o->op, o->type);
		tell_number(t, key, s->warp_size / o->throughput, ISSUE_TOLERANCE * s->warp_size / o->throughput);
		snprintf(key, sizeof key, "arith.%s.%s.native_ops", o->op, o->type);
		tell_number(t, key, o->native_ops, 0);
		char unit[64];
		spec_unit_of(s, o, unit, sizeof unit);
		snprintf(key, sizeof key, "arith.%s.%s.unit", o->op, o->type);
		tell_text(t, key, unit);
		const struct op_spec *same = same_timing(s, i);
		if (same) {
			filled[i] = filled[same - s->op];
			unsure[i] = unsure[same - s->op];
		} else {
			filled[i] = spec_warps_to_fill(s, o, &unsure[i]);
		}
		snprintf(key, sizeof key, "arith.%s.%s.warps_to_fill", o->op, o->type);
		tell_number(t, key, filled[i], unsure[i]);
	}
}

/* The numbers of a unit are those of the operation that names it. */
static void tell_units(struct teller *t, const struct sim_spec *s)
{
	char key[KEY_BYTES];
	for (unsigned k = 0; k < SPEC_UNIT_KINDS; k++) {
		const char *name;
		const struct op_spec *o = spec_unit_op(s, k, &name);
		if (!o)
			continue;
		double issue = s->warp_size / o->throughput;
		snprintf(key, sizeof key, "unit.%s.latency", name);
		tell_number(t, key, o->latency, LATENCY_TOLERANCE);
		snprintf(key, sizeof key, "unit.%s.throughput", name);
		tell_number(t, key, o->throughput, THROUGHPUT_TOLERANCE * o->throughput);
		snprintf(key, sizeof key, "unit.%s.issue", name);
		tell_number(t, key, issue, ISSUE_TOLERANCE * issue);
	}
}

int spec_truth_core(const struct sim_spec *s, int (*each)(void *ctx, const struct truth *t), void *ctx)
{
	struct teller t = {each, ctx, 0};
	tell_ops(&t, s);
	tell_units(&t, s);
	return t.rc ? t.rc : spec_truth_pipeline(s, each, ctx);
}
