/* The twin's schedulers, pipes and operations. The simulator takes no operation that is faster than its pipe or its schedulers. */
#include "base/arena.h"
#include "report/export_gpu.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

#define COUNT_OF(a) (sizeof(a) / sizeof *(a))
#define OP_PIPES    3
#define PIPES	    15 /* one more is for loads and stores */

struct twin_op {
	char stem[40];			  /* "arith.add.f32" */
	double latency, native_ops, rate; /* rate 0: not known */
	const struct finding *unit;
	char pipe[OP_PIPES][16];
	unsigned pipes;
};
struct twin_core {
	struct twin_op *op;
	size_t count;
	double warp, schedulers;
	char pipe[PIPES][16];
	bool own[PIPES]; /* each scheduler has its own */
	unsigned pipes;
};

/* What most GPUs do such an operation with. */
static const char *usual_pipe(const char *op, const char *type)
{
	static const char *const special[] = {"rcp", "rsqrt", "sqrt", "sin", "cos", "ex2", "lg2", "tanh", "divapprox"};
	for (size_t i = 0; i < COUNT_OF(special); i++)
		if (strcmp(op, special[i]) == 0)
			return "sfu";
	return strcmp(type, "f64") == 0	  ? "dpu"
	       : str_starts(type, "f16")  ? "fp16"
	       : strcmp(type, "f32") == 0 ? "fp32"
					  : "int32";
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

static void units_of(struct twin_core *c, struct twin_op *o, const char *op, const char *type)
{
	char list[64];
	snprintf(list, sizeof(list), "%s", o->unit ? o->unit->value.text : usual_pipe(op, type));
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

static bool takes(const struct device_info *d, const char *op, const char *type)
{
	static const char *const ops =
	    " add sub mul mulhi mulwide mul24 mad mad24 fma div divapprox rem abs neg min max sad and or xor not cnot "
	    "shl "
	    "shr shf bfe bfi bfind popc clz brev lop3 prmt rcp sqrt rsqrt sin cos ex2 lg2 tanh ";
	char word[24];
	snprintf(word, sizeof(word), " %s ", op);
	if (!strstr(ops, word) || (strcmp(type, "f64") == 0 && !d->has_f64) || (str_starts(type, "f16") && !d->has_f16))
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
		    f->value.kind != VALUE_NUMBER || !(f->value.number >= 1) || !takes(&t->r->device, op, type))
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
		units_of(c, o, op, type);
		c->count++;
	}
	return 0;
}

/* As many schedulers as were found, or as the fastest operation needs, at one instruction a cycle each. */
static void schedulers(struct twin *t, struct twin_core *c)
{
	double most = 0, found = 0;
	for (size_t i = 0; i < c->count; i++)
		most = fmax(most, c->op[i].rate * c->op[i].native_ops);
	c->schedulers = fmin(fmax(ceil(most / c->warp - 0.02), 1), 16);
	const bool enough = twin_number(&t->r->findings, "core.schedulers", &found) && found >= c->schedulers;
	if (enough)
		c->schedulers = found;
	twin_put(t, "core.schedulers", c->schedulers, "count", enough ? twin_found(t, "core.schedulers") : NULL,
		 "as many as the fastest operation needs");
	twin_put(t, "core.issue_interval", 1, "cycles", NULL, "one instruction a cycle");
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
				    c->warp * c->schedulers * c->op[i].pipes / c->op[i].rate > c->op[i].latency)
					c->own[p] = false;
		snprintf(key, sizeof(key), "pipe.%s.per", c->pipe[p]);
		twin_line(t, key, c->own[p] ? "scheduler" : "sm", "name", NULL,
			  "not known; no operation is too short for it");
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
	const double copies = owned(c, o) ? c->schedulers : 1, most = c->warp * c->schedulers / o->native_ops;
	/* Not known: as slow as one warp after the other in each copy of the pipe. */
	double throughput = o->rate > 0 ? o->rate : c->warp * copies * o->pipes / o->latency;
	if (!rate)
		throughput = fmax(throughput, c->warp * copies * o->pipes / o->latency);
	const bool cut = throughput > most;
	throughput = fmin(throughput, most);
	const double least = fmax(fmax(c->warp * copies * o->pipes / throughput, o->native_ops), o->latency);
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
		str_addf(&list, "%s%.9g", k ? ", " : "", throughput / o->pipes);
	snprintf(key, sizeof(key), "%s.rates", o->stem);
	if (o->pipes > 1)
		twin_line(t, key, str_text(&list), "ops/clk/SM", NULL, "equal shares");
	t->body.failed |= list.failed;
	str_free(&list);
}

void twin_operations(struct twin *t)
{
	struct twin_core c = {.warp = 32};
	const char *usual = NULL;
	twin_number(&t->r->findings, "device.warp_size", &c.warp);
	if (collect(t, &c)) {
		t->body.failed = true;
		return;
	}
	if (c.count == 0) {
		c.count = 1;
		c.op[0] = (struct twin_op){.stem = "arith.add.u32", .latency = 8, .native_ops = 1};
		units_of(&c, &c.op[0], "add", "u32");
	}
	schedulers(t, &c);
	pipes(t, &c);
	for (size_t i = 0; i < c.count; i++) {
		if (!usual || strcmp(c.op[i].stem, "arith.add.u32") == 0)
			usual = c.op[i].stem + strlen("arith.");
		operation(t, &c, &c.op[i]);
	}
	twin_line(t, "core.default_op", usual, "name", NULL, "what was not measured costs as much");
	mem_free(c.op);
}
