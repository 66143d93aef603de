/* Which operation is done by which unit shows only in how long two of them take together. What issuing them takes may hide that from every
 * kernel: then nobody can tell, and nobody is asked to. */
#include "gpu/sim/spec_file.h"
#include "known.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MIXES = 200, ANCHORS = 5, ALTERNATIVES = 3 };

#define HALF 0.5 /* of what an operation on two pipes does is done by either */

/* The operations that name units, as probes/pipes has them; of each kind the first of one instruction. */
static const struct {
	const char *op, *type;
} anchor[ANCHORS][ALTERNATIVES] = {{{"add", "f32"}, {"fma", "f32"}, {"mul", "f32"}},
				   {{"add", "u32"}, {"max", "s32"}, {"and", "b32"}},
				   {{"rsqrt", "f32"}, {"lg2", "f32"}, {"rcp", "f32"}},
				   {{"add", "f64"}, {"mul", "f64"}, {"fma", "f64"}},
				   {{"add", "f16x2"}, {"fma", "f16x2"}, {"add", "f16"}}};

static const struct op_spec *anchor_of(const struct sim_spec *s, unsigned kind)
{
	if ((kind == 3 && !s->has_f64) || (kind == 4 && !s->has_f16))
		return NULL;
	for (unsigned i = 0; i < ALTERNATIVES; i++) {
		const int at = spec_find_op(s, anchor[kind][i].op, anchor[kind][i].type);
		const struct op_spec *o = &s->op[at >= 0 ? at : s->default_op];
		if (o->native_ops <= 1)
			return o;
	}
	return NULL;
}

static double cycles_of(const struct sim_spec *s, const struct op_spec *o)
{
	return s->warp_size / o->throughput;
}

/* What issuing it takes, of the time it takes. */
static double issue_of(const struct sim_spec *s, const struct op_spec *o)
{
	const double each = s->scheduler_issue / s->schedulers / (s->dual_issue ? 2 : 1);
	return fmax(1, o->native_ops) * each / cycles_of(s, o);
}

/* Part of the work of a that pipes do which b has, too. */
static double common(const struct op_spec *a, const struct op_spec *b)
{
	double rate = 0;
	for (uint32_t i = 0; i < a->pipe_count; i++)
		for (uint32_t k = 0; k < b->pipe_count; k++)
			if (a->pipe[i] == b->pipe[k])
				rate += a->rate[i];
	return rate / a->throughput;
}

/* Whether some mix of the two takes so much longer on one pipe than on two that it can be told. An operation of several pipes keeps the
 * others busy meanwhile. */
static bool is_told(const struct sim_spec *s, const struct op_spec *a, const struct op_spec *b, double told)
{
	const double issue_a = issue_of(s, a), issue_b = issue_of(s, b), of_a = common(a, b), of_b = common(b, a);
	for (unsigned i = 1; i < MIXES; i++) {
		const double u = (double)i / MIXES, v = 1 - u, apart = fmax(fmax(u, v), u * issue_a + v * issue_b);
		/* One of two pipes of an operation goes on while the other is taken. If two operations have no pipe in
		 * common, neither may be on two. */
		const double split_a = u + (of_a > 0 ? of_a : HALF) * v, split_b = v + (of_b > 0 ? of_b : HALF) * u,
			     shared = of_a > 0 ? (of_a < of_b ? split_a : split_b) : fmin(split_a, split_b);
		if (fmax(shared, fmax(u, v)) > told * apart)
			return true;
	}
	return false;
}

/* The same, or by way of a third operation that has all of its pipe in common with one of them. That has a single
 * instruction, because nobody knows that several are on one pipe. */
static bool is_known(const struct sim_spec *s, const struct op_spec *a, const struct op_spec *b, double told)
{
	if (a == b || is_told(s, a, b, told))
		return true;
	for (uint32_t i = 0; i < s->op_count; i++) {
		const struct op_spec *o = &s->op[i];
		if (o->native_ops <= 1 && o->pipe_count == 1 && (common(o, a) > 0 || common(o, b) > 0) &&
		    is_told(s, o, a, told) && is_told(s, o, b, told))
			return true;
	}
	return false;
}

/* Whether a unit's name can be told, of which this kind is the first. Single precision and integers have one name
 * together and two apart. The others are named by the first that they do. */
static bool has_name(const struct sim_spec *s, unsigned kind, double told)
{
	const struct op_spec *o = anchor_of(s, kind);
	for (unsigned k = 0; k < (kind ? kind : 2); k++) {
		const struct op_spec *other = anchor_of(s, k);
		bool known = !other || k == kind || is_known(s, o, other, told);
		/* That the unit does not do something any operation of it may show. */
		for (unsigned m = 0; m < ANCHORS && !known && !(common(o, other) > 0); m++) {
			const struct op_spec *member = anchor_of(s, m);
			known = member && common(member, o) > 0 && is_known(s, member, other, told);
		}
		if (!known)
			return false;
	}
	return true;
}

static bool hides(const struct sim_spec *s, const struct op_spec *o, double told)
{
	bool any = false;
	bool seen[ANCHORS] = {false};
	for (unsigned k = 0; k < ANCHORS; k++) {
		const struct op_spec *a = anchor_of(s, k);
		if (!a || !(common(o, a) > 0))
			continue;
		/* One of the unit's operations is enough; the least of its kinds has its name. */
		unsigned first = k;
		for (unsigned m = 0; m < k; m++) {
			const struct op_spec *b = anchor_of(s, m);
			if (b && common(a, b) > 0 && m < first)
				first = m;
		}
		any = true;
		if (!has_name(s, first, told))
			return true;
		seen[first] |= is_known(s, o, a, told);
		for (unsigned m = k + 1; m < ANCHORS && !seen[first]; m++) {
			const struct op_spec *b = anchor_of(s, m);
			seen[first] |= b && common(a, b) > 0 && common(o, b) > 0 && is_known(s, o, b, told);
		}
		if (!seen[first])
			return true;
	}
	/* On no unit that has a name: it has to be seen apart from all of them. */
	for (unsigned k = 0; k < ANCHORS && !any; k++) {
		const struct op_spec *a = anchor_of(s, k);
		if (a && !is_known(s, o, a, told))
			return true;
	}
	return false;
}

bool known_unit_hidden(const struct sim_spec *s, const char *key, double told)
{
	char op[16], type[8];
	if (sscanf(key, "arith.%15[^.].%7[^.].unit", op, type) == 2 && strlen(key) > 5 &&
	    strcmp(key + strlen(key) - 5, ".unit") == 0) {
		const int at = spec_find_op(s, op, type);
		return at >= 0 && hides(s, &s->op[at], told);
	}
	/* A unit's numbers stand under its name. */
	for (unsigned k = 0; k < ANCHORS; k++) {
		char stem[40];
		const char *name;
		const struct op_spec *o = spec_unit_op(s, k, &name);
		if (!o)
			continue;
		snprintf(stem, sizeof stem, "unit.%s.", name);
		if (strncmp(key, stem, strlen(stem)) == 0)
			return !has_name(s, k, told);
	}
	return false;
}
