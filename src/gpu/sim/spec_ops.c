/* Pipes and operations of a .gpu file. */
#include "base/str.h"
#include "gpu/sim/spec_file.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>

#define KEY_BYTES 128

/* ---- pipes ---- */
static bool ends_with(const char *text, const char *end)
{
	const size_t n = strlen(text), m = strlen(end);
	return n >= m && strcmp(text + n - m, end) == 0;
}

int spec_read_pipes(const struct spec_file *f, struct sim_spec *s)
{
	for (size_t i = 0; i < f->count; i++) {
		const struct spec_line *l = &f->lines[i];
		if (!str_starts(l->key, "pipe.") || !ends_with(l->key, ".per"))
			continue;
		if (s->pipe_count == SPEC_PIPES)
			return spec_fail(f, l->line, "more than %d pipes", SPEC_PIPES);
		struct pipe_spec *p = &s->pipe[s->pipe_count++];
		snprintf(p->name, sizeof p->name, "%.*s", (int)strcspn(l->key + 5, "."), l->key + 5);
		p->per_scheduler = strcmp(l->value, "scheduler") == 0;
		if (!p->per_scheduler && strcmp(l->value, "sm") != 0)
			return spec_fail(f, l->line, "'%s' is '%.40s'; it may be one of: sm scheduler", l->key,
					 l->value);
	}
	for (uint32_t i = 0; i < s->pipe_count; i++) {
		char key[KEY_BYTES];
		snprintf(key, sizeof key, "pipe.%s.results", s->pipe[i].name);
		const struct spec_line *l = spec_line(f, key);
		s->pipe[i].together = l && strcmp(l->value, "together") == 0;
		if (l && !s->pipe[i].together && strcmp(l->value, "each") != 0)
			return spec_fail(f, l->line, "'%s' is '%.40s'; it may be one of: each together", key, l->value);
	}
	if (s->pipe_count == 0)
		return spec_fail(f, 0, "no pipe is declared: 'pipe.NAME.per = sm name' or '= scheduler name' does it");
	return 0;
}

int spec_pipe(const struct spec_file *f, const struct sim_spec *s, const struct spec_line *l, const char *name,
	      uint32_t *out)
{
	char known[SPEC_PIPES * 17] = "";
	for (uint32_t i = 0; i < s->pipe_count; i++) {
		if (strcmp(s->pipe[i].name, name) == 0) {
			*out = i;
			return 0;
		}
		size_t len = strlen(known);
		snprintf(known + len, sizeof known - len, "%s%s", len ? " " : "", s->pipe[i].name);
	}
	return spec_fail(f, l->line, "'%s' names the pipe '%.40s', which is not declared; declared are: %.200s", l->key,
			 name, known);
}

/* ---- operations ---- */
static int read_units(const struct spec_file *f, const struct sim_spec *s, struct op_spec *o, const char *unit_key,
		      const char *rates_key)
{
	const struct spec_line *l = spec_line(f, unit_key);
	const char *list = l->value;
	char item[48];
	while (spec_item(&list, item, sizeof item)) {
		if (o->pipe_count == SPEC_OP_PIPES)
			return spec_fail(f, l->line, "'%s' names more than %d pipes", unit_key, SPEC_OP_PIPES);
		int rc = spec_pipe(f, s, l, item, &o->pipe[o->pipe_count]);
		if (rc)
			return rc;
		for (uint32_t i = 0; i < o->pipe_count; i++)
			if (o->pipe[i] == o->pipe[o->pipe_count])
				return spec_fail(f, l->line, "'%s' names the pipe '%s' twice", unit_key, item);
		o->pipe_count++;
	}
	const struct spec_line *r = spec_line(f, rates_key);
	if (!r && o->pipe_count > 1)
		return spec_fail(f, l->line, "the key '%s' is missing: what each of the %u pipes contributes",
				 rates_key, o->pipe_count);
	if (!r) {
		o->rate[0] = o->throughput;
		return 0;
	}
	const int rc = spec_numbers(f, r, o->rate, o->pipe_count, "there are", "pipes");
	if (rc)
		return rc;
	double sum = 0;
	for (uint32_t n = 0; n < o->pipe_count; n++)
		sum += o->rate[n];
	if (sum < o->throughput * 0.999999 || sum > o->throughput * 1.000001)
		return spec_fail(f, r->line, "'%s' sums to %g, but the throughput is %g ops/clk/SM", rates_key, sum,
				 o->throughput);
	return 0;
}

static int read_op(const struct spec_file *f, const struct sim_spec *s, struct op_spec *o)
{
	char key[KEY_BYTES], rates[KEY_BYTES];
	for (size_t i = 0; i < spec_key_count; i++) {
		const struct spec_key *k = &spec_keys[i];
		if (k->home != HOME_OP)
			continue;
		spec_key_fill(key, sizeof key, k->pattern, o->op, o->type);
		int rc = spec_take(f, s, k, key, o);
		if (rc)
			return rc;
	}
	snprintf(key, sizeof key, "arith.%s.%s.unit", o->op, o->type);
	snprintf(rates, sizeof rates, "arith.%s.%s.rates", o->op, o->type);
	o->present = true;
	return read_units(f, s, o, key, rates);
}

int spec_read_ops(const struct spec_file *f, struct sim_spec *s)
{
	/* The lines are sorted, so one operation's keys stand together. */
	for (size_t i = 0; i < f->count; i++) {
		const struct spec_line *l = &f->lines[i];
		char op[16], type[8];
		if (!str_starts(l->key, "arith.") || sscanf(l->key, "arith.%15[^.].%7[^.].", op, type) != 2)
			continue;
		const struct op_spec *last = s->op_count ? &s->op[s->op_count - 1] : NULL;
		if (last && strcmp(last->op, op) == 0 && strcmp(last->type, type) == 0)
			continue;
		if (s->op_count == SPEC_OPS)
			return spec_fail(f, l->line, "more than %d operations", SPEC_OPS);
		struct op_spec *o = &s->op[s->op_count++];
		memcpy(o->op, op, sizeof op);
		memcpy(o->type, type, sizeof type);
		int rc = read_op(f, s, o);
		if (rc)
			return rc;
	}
	return 0;
}

/* ---- look-up ---- */
static int find(const struct sim_spec *s, const char *op, const char *type)
{
	for (uint32_t i = 0; i < s->op_count; i++)
		if (strcmp(s->op[i].op, op) == 0 && strcmp(s->op[i].type, type) == 0)
			return (int)i;
	return -1;
}

int spec_find_op(const struct sim_spec *s, const char *op, const char *type)
{
	/* PTX writes some operations with b32 where others write u32 or s32; the hardware has one of them. A type
	 * takes the first of its row that the file lists. */
	static const char *const row[][4] = {
	    {"b16", "u16", "s16", NULL}, {"u16", "b16", "s16", NULL}, {"s16", "b16", "u16", NULL},
	    {"b32", "u32", "s32", NULL}, {"u32", "b32", "s32", NULL}, {"s32", "b32", "u32", NULL},
	    {"b64", "u64", "s64", NULL}, {"u64", "b64", "s64", NULL}, {"s64", "b64", "u64", NULL},
	};
	int at = find(s, op, type);
	for (size_t i = 0; at < 0 && i < sizeof row / sizeof row[0]; i++)
		for (size_t j = 1; strcmp(row[i][0], type) == 0 && at < 0 && row[i][j]; j++)
			at = find(s, op, row[i][j]);
	return at;
}
