/* The twin's schedulers, pipes and operations. The simulator takes no operation that is faster than its pipe or its schedulers. */
#include "base/arena.h"
#include "gpu/sim/spec_twin_lines.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

#define COUNT_OF(a) (sizeof(a) / sizeof *(a))
#define OP_PIPES    3
#define PIPES	    15 /* one more is for loads and stores */

struct twin_op {
	char stem[40];			  /* "arith.add.f32" */
	double latency, native_ops, rate; /* rate 0: not known */
	double share[OP_PIPES];		  /* of the rate, of each pipe; they sum to 1 */
	const struct finding *unit;
	char pipe[OP_PIPES][16];
	unsigned pipes;
};
struct twin_core {
	struct twin_op *op;
	size_t count;
	double warp, schedulers;
	double
	    single; /* operations a cycle of the schedulers when no warp has a second one ready; 0: no less than with one */
	char pipe[PIPES][16];
	bool own[PIPES]; /* each scheduler has its own */
	unsigned pipes;
};

static bool names_unit(const struct twin *t, const char *unit)
{
	for (size_t i = 0; i < t->r->findings.count; i++) {
		const struct finding *f = &t->r->findings.items[i];
		if (str_ends(f->key, ".unit") && finding_estimated(f) && strcmp(f->value.text, unit) == 0)
			return true;
	}
	return false;
}

/* What most GPUs do such an operation with; one unit for single precision and integers where the run found such a one. */
static const char *usual_pipe(const struct twin *t, const char *op, const char *type)
{
	static const char *const special[] = {"rcp", "rsqrt", "sqrt", "sin", "cos", "ex2", "lg2", "tanh", "divapprox"};
	for (size_t i = 0; i < COUNT_OF(special); i++)
		if (strcmp(op, special[i]) == 0)
			return "sfu";
	const char *common = strcmp(type, "f32") == 0 ? "fp32" : "int32";
	return strcmp(type, "f64") == 0			       ? "dpu"
	       : str_starts(type, "f16")		       ? "fp16"
	       : !names_unit(t, common) && names_unit(t, "sp") ? "sp"
							       : common;
}

static unsigned pipe_number(struct twin_core *c, const char *name)
{
	unsigned i = 0;
	while (i < c->pipes && strcmp(c->pipe[i], name) != 0)
		i++;
	if (i == c->pipes && i < PIPES)
		snprintf(c->pipe[c->pipes++], sizeof(c->pipe[0]), "%s", name);
	return i < PIPES ? i : 0;
}

static void units_of(const struct twin *t, struct twin_core *c, struct twin_op *o, const char *op, const char *type)
{
	char list[64];
	snprintf(list, sizeof(list), "%s", o->unit ? o->unit->value.text : usual_pipe(t, op, type));
	for (char *at = list; *at && o->pipes < OP_PIPES;) {
		char *end = at + strcspn(at, ", ");
		const bool last = *end == '\0';
		*end = '\0';
		if (*at && strlen(at) < sizeof(o->pipe[0])) {
			/* A unit's name is a word of small letters and digits; any other is of a file that is not ours. */
			const bool plain =
			    strspn(at, "abcdefghijklmnopqrstuvwxyz0123456789_") == strlen(at) && strcmp(at, "mem") != 0;
			const unsigned n = pipe_number(c, plain ? at : "other");
			bool twice = false;
			for (unsigned k = 0; k < o->pipes; k++)
				twice |= strcmp(o->pipe[k], c->pipe[n]) == 0;
			if (!twice)
				snprintf(o->pipe[o->pipes++], sizeof(o->pipe[0]), "%s", c->pipe[n]);
		}
		at = last ? end : end + 1;
	}
	if (!o->pipes)
		snprintf(o->pipe[o->pipes++], sizeof(o->pipe[0]), "%s", c->pipe[pipe_number(c, "other")]);
}

static bool takes(const struct device_info *d, const char *key, const char *op, const char *type)
{
	if (!spec_key_find(key) || (strcmp(type, "f64") == 0 && !d->has_f64) ||
	    (str_starts(type, "f16") && !d->has_f16))
		return false;
	return strcmp(op, "fma") != 0 || strcmp(type, "f32") != 0 || d->has_fma;
}

static int collect(struct twin *t, struct twin_core *c)
{
	const struct finding_list *l = &t->r->findings;
	double v;
	c->op = mem_zero(l->count + 1, sizeof *c->op);
	if (!c->op)
		return -1;
	for (size_t i = 0; i < l->count; i++) {
		char op[16], type[8], key[96];
		const struct finding *f = &l->items[i];
		if (sscanf(f->key, "arith.%15[^.].%7[^.].latency", op, type) != 2 || !finding_estimated(f) ||
		    f->value.kind != VALUE_NUMBER || !(f->value.number >= 1) || !takes(&t->r->device, f->key, op, type))
			continue;
		struct twin_op *o = &c->op[c->count];
		snprintf(o->stem, sizeof(o->stem), "arith.%s.%s", op, type);
		snprintf(key, sizeof(key), "%s.latency", o->stem);
		if (strcmp(key, f->key) != 0)
			continue;
		o->latency = f->value.number;
		snprintf(key, sizeof(key), "%s.native_ops", o->stem);
		o->native_ops = twin_number(l, key, &v) && v >= 1 && v <= 1000 ? floor(v) : 1;
		snprintf(key, sizeof(key), "%s.throughput", o->stem);
		o->rate = twin_number(l, key, &v) && v > 0 ? v : 0;
		o->unit = twin_found(t, "%s.unit", o->stem);
		units_of(t, c, o, op, type);
		c->count++;
	}
	return 0;
}

/* Native instructions a cycle that a pipe is known to do: those of operations that only it does. 0: none is known. */
static double pipe_rate(const struct twin_core *c, const char *pipe)
{
	double most = 0;
	for (size_t i = 0; i < c->count; i++)
		if (c->op[i].unit && c->op[i].pipes == 1 && strcmp(c->op[i].pipe[0], pipe) == 0)
			most = fmax(most, c->op[i].rate * c->op[i].native_ops);
	return most;
}

/* A single instruction that is faster than its pipe takes another beside it. Of several pipes each does what it is known to do. */
static void spread(struct twin_core *c, struct twin_op *o)
{
	double left = o->rate * o->native_ops, first = pipe_rate(c, o->pipe[0]);
	if (c->single > 0 && o->pipes == 1 && left > 1.02 * c->single) {
		snprintf(o->pipe[o->pipes++], sizeof(o->pipe[0]), "%s", c->pipe[pipe_number(c, "second")]);
	}
	const char *beside = strcmp(o->pipe[0], "int32") == 0 ? "fp32" : "sfu";
	const bool common = strcmp(o->pipe[0], "int32") == 0 || strcmp(o->pipe[0], "sp") == 0;
	if (common && o->pipes == 1 && o->native_ops == 1 && first > 0 && left > 1.02 * first)
		for (unsigned p = 0; p < c->pipes && o->pipes == 1; p++)
			if (strcmp(c->pipe[p], beside) == 0)
				snprintf(o->pipe[o->pipes++], sizeof(o->pipe[0]), "%s", beside);
	for (unsigned k = 0; k < o->pipes; k++)
		o->share[k] = 1.0 / o->pipes;
	/* Single instructions that keep all schedulers busy are the first pipe's, and the rest are second ones. Else halves take pairs best. */
	if (c->single > 0)
		first = c->single > 0.98 * c->warp * c->schedulers &&
				o->latency * (left - c->single) >= c->warp * c->schedulers
			    ? c->single
			    : 0;
	if (o->pipes == 2 && first > 0 && first < 0.98 * left) {
		o->share[0] = first / left;
		o->share[1] = 1 - o->share[0];
	}
}

static double least_share(const struct twin_op *o)
{
	double least = 1;
	for (unsigned k = 0; k < o->pipes; k++)
		least = fmin(least, o->share[k]);
	return least;
}

static void choose_number(struct twin *t, const char *key, double v, const char *why)
{
	char text[40];
	snprintf(text, sizeof(text), "%.6g", v);
	twin_choose(t, key, text, "cycles", why, false);
}

/* As many schedulers as were found, or as the fastest operation needs, at one instruction a cycle each. */
static void schedulers(struct twin *t, struct twin_core *c)
{
	double most = 0, found = 0;
	for (size_t i = 0; i < c->count; i++)
		most = fmax(most, c->op[i].rate * c->op[i].native_ops);
	/* Second instructions take no turn. */
	most = c->single > 0 ? fmin(most, c->single) : most;
	c->schedulers = fmin(fmax(ceil(most / c->warp - 0.02), 1), 16);
	const bool enough = twin_number(&t->r->findings, "core.schedulers", &found) && found >= c->schedulers;
	if (enough)
		c->schedulers = found;
	twin_put(t, "core.schedulers", c->schedulers, "count", enough ? twin_found(t, "core.schedulers") : NULL,
		 "as many as the fastest operation needs");
	if (c->single > 0) {
		twin_derive(t, "core.issue_interval", c->warp * c->schedulers / c->single, "cycles",
			    "what warps of one chain reach");
	} else {
		twin_put(t, "core.issue_interval", 1, "cycles", NULL, "one instruction a cycle");
		choose_number(t, "core.issue_interval", c->warp * c->schedulers / most,
			      "what the fastest operation leaves");
		choose_number(t, "core.issue_interval", 2, "half the clock");
	}
}

/* Single chains that reach less than several: the rest are second instructions, which another pipe takes. */
static void pairs(const struct twin *t, struct twin_core *c)
{
	double one, many;
	const struct finding_list *l = &t->r->findings;
	if (twin_found(t, "pipeline.sp.ilp1.peak") && twin_number(l, "pipeline.sp.ilp1.peak", &one) &&
	    twin_number(l, "arith.add.f32.throughput", &many) && one > 0 && many > 1.05 * one)
		c->single = one;
}

/* Cycles between two turns of a warp: no longer than the shortest operation, and what a warp with several chains shows of it. */
static void turns(struct twin *t, const struct twin_core *c)
{
	static const char key[] = "core.warp_interval";
	double least = INFINITY, four;
	for (size_t i = 0; i < c->count; i++)
		least = fmin(least, c->op[i].latency);
	twin_line(t, key, NULL, "cycles", NULL, "none");
	choose_number(t, key, floor(least), "the shortest operation");
	if (twin_number(&t->r->findings, "pipeline.sp.ilp4.completion", &four))
		for (unsigned n = 1; n <= 2; n++)
			if (n * four > 1 && n * four < floor(least))
				choose_number(t, key, n * four, "a link of one of four chains");
	if (!twin_has(t, "core.dual_issue"))
		twin_line(t, "core.dual_issue", c->single > 0 ? "yes" : NULL, "yes/no", NULL,
			  "warps of several chains reach more than those of one");
}

/* A pipe that each scheduler has of its own keeps a warp longer: where an operation is too short for that, the SM has one. */
static void pipes(struct twin *t, struct twin_core *c)
{
	char key[40];
	for (unsigned p = 0; p < c->pipes; p++) {
		c->own[p] = c->schedulers > 1;
		for (size_t i = 0; i < c->count; i++)
			for (unsigned k = 0; k < c->op[i].pipes; k++)
				if (strcmp(c->op[i].pipe[k], c->pipe[p]) == 0 && c->op[i].rate > 0 &&
				    c->warp * c->schedulers / least_share(&c->op[i]) / c->op[i].rate > c->op[i].latency)
					c->own[p] = false;
		snprintf(key, sizeof(key), "pipe.%s.per", c->pipe[p]);
		twin_line(t, key, c->own[p] ? "scheduler" : "sm", "name", NULL,
			  "not known; no operation is too short for it");
		const bool sums = c->single > 0 && (strcmp(c->pipe[p], "sp") == 0 || strcmp(c->pipe[p], "second") == 0);
		if (!sums)
			twin_choose(t, key, c->own[p] ? "sm" : "scheduler", "name",
				    c->own[p] ? "schedulers share it" : "each scheduler has its own", false);
		snprintf(key, sizeof(key), "pipe.%s.results", c->pipe[p]);
		twin_line(t, key, NULL, "name", NULL, "each when it is there");
		twin_choose(t, key, "together", "name", "as chains of one warp wait for each other", false);
	}
	twin_line(t, "pipe.mem.per", "sm", "name", NULL, "one load/store pipe");
}

static bool owned(const struct twin_core *c, const struct twin_op *o)
{
	bool any = false;
	for (unsigned k = 0; k < o->pipes; k++)
		for (unsigned p = 0; p < c->pipes; p++)
			any |= c->own[p] && strcmp(c->pipe[p], o->pipe[k]) == 0;
	return any;
}

static void operation(struct twin *t, const struct twin_core *c, const struct twin_op *o)
{
	char key[64];
	struct str list;
	const struct finding *latency = twin_found(t, "%s.latency", o->stem),
			     *rate = twin_found(t, "%s.throughput", o->stem);
	/* Of a pair, the second takes no turn. */
	const double issued = c->single > 0 && o->pipes > 1 ? 2 * c->single : c->warp * c->schedulers;
	const double copies = owned(c, o) ? c->schedulers : 1, most = issued / o->native_ops;
	/* Not known: as slow as one warp after the other in each copy of the pipe. */
	double throughput = o->rate > 0 ? o->rate : c->warp * copies / least_share(o) / o->latency;
	if (!rate)
		throughput = fmax(throughput, c->warp * copies / least_share(o) / o->latency);
	const bool cut = throughput > most;
	throughput = fmin(throughput, most);
	const double least = fmax(fmax(c->warp * copies / least_share(o) / throughput, o->native_ops), o->latency);
	snprintf(key, sizeof(key), "%s.latency", o->stem);
	twin_put(t, key, least, "cycles", latency, least > o->latency ? "raised to what its pipe takes" : NULL);
	snprintf(key, sizeof(key), "%s.throughput", o->stem);
	twin_put(t, key, throughput, "ops/clk/SM", rate,
		 rate ? cut ? "cut to what schedulers issue" : NULL : "one warp after the other");
	if (o->native_ops > 1) {
		snprintf(key, sizeof(key), "%s.native_ops", o->stem);
		twin_put(t, key, o->native_ops, "count", twin_found(t, "%s", key), "as far as it was counted");
	}
	str_init(&list);
	for (unsigned k = 0; k < o->pipes; k++)
		str_addf(&list, "%s%s", k ? ", " : "", o->pipe[k]);
	snprintf(key, sizeof(key), "%s.unit", o->stem);
	twin_line(t, key, str_text(&list), "name", o->unit, o->unit ? NULL : "what most GPUs do it with");
	str_clear(&list);
	for (unsigned k = 0; k < o->pipes; k++)
		str_addf(&list, "%s%.9g", k ? ", " : "", throughput * o->share[k]);
	snprintf(key, sizeof(key), "%s.rates", o->stem);
	if (o->pipes > 1)
		twin_line(t, key, str_text(&list), "ops/clk/SM", NULL, "what each is known to do");
	t->failed |= list.failed;
	str_free(&list);
}

void twin_operations(struct twin *t)
{
	struct twin_core c = {.warp = 32};
	const char *usual = NULL;
	twin_number(&t->r->findings, "device.warp_size", &c.warp);
	if (collect(t, &c)) {
		t->failed = true;
		return;
	}
	if (c.count == 0) {
		c.count = 1;
		c.op[0] = (struct twin_op){.stem = "arith.add.u32", .latency = 8, .native_ops = 1};
		units_of(t, &c, &c.op[0], "add", "u32");
	}
	pairs(t, &c);
	schedulers(t, &c);
	for (size_t i = 0; i < c.count; i++)
		spread(&c, &c.op[i]);
	turns(t, &c);
	pipes(t, &c);
	for (size_t i = 0; i < c.count; i++) {
		if (!usual || strcmp(c.op[i].stem, "arith.add.u32") == 0)
			usual = c.op[i].stem + strlen("arith.");
		operation(t, &c, &c.op[i]);
	}
	twin_line(t, "core.default_op", usual, "name", NULL, "what was not measured costs as much");
	mem_free(c.op);
}
