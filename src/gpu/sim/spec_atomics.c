/* The part of a description that says what atomics cost, and what a probe should find of it. */
#include "gpu/sim/spec_tell.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

#define KEY_BYTES  64
#define LANES	   32	/* threads of an instruction that go out together */
#define ASKS	   8	/* SMs that a probe has ask at once, at most */
#define LINE_BYTES 128	/* of words that a probe takes for one line */
#define ANY	   1e9	/* cycles: what no line of the description says may be anything */
#define RATE	   0.08 /* of a number: how far off a right one may be */
#define LATENCY	   2.0	/* cycles */

int spec_read_atomics(const struct spec_file *f, struct sim_spec *s)
{
	static const char *const names[] = {"latency", "same_address", "distinct"};
	for (uint32_t k = 0; k < SPEC_ATOMICS; k++) {
		s->atomic[k] = s->atomic_any;
		double *value[] = {&s->atomic[k].latency, &s->atomic[k].same_address, &s->atomic[k].distinct};
		for (size_t n = 0; n < sizeof names / sizeof names[0]; n++) {
			char key[KEY_BYTES];
			snprintf(key, sizeof key, "atomic.%s.%s", spec_atomics[k], names[n]);
			const struct spec_line *l = spec_line(f, key);
			int rc = l ? spec_number(f, l, l->value, value[n]) : 0;
			if (rc)
				return rc;
		}
	}
	return 0;
}

/* ---- what a probe should find ---- */

static void tell_atomic(struct teller *t, const char *op, const char *property, double number, double tolerance)
{
	char key[KEY_BYTES];
	snprintf(key, sizeof key, "atomic.%s.%s", op, property);
	tell_number(t, key, number, tolerance);
}

/* Transactions of 32 threads on one word, and on the words of a line: what the coalescer makes of them. And the bytes of each. */
struct pieces {
	double same, line, bytes;
};

static struct pieces pieces_of(const struct sim_spec *s)
{
	const struct cache_spec *c = s->has_l1 ? &s->global.level[0] : s->has_l2 ? &s->global.level[1] : NULL;
	struct pieces p = {.bytes = s->coalesce_segment};
	if (c)
		p.bytes = c->sector ? c->sector : c->line;
	switch (s->coalesce) {
	case COALESCE_LINES:
		p.same = 1;
		p.line = fmax(1, LINE_BYTES / (double)s->coalesce_segment);
		break;
	case COALESCE_G80:
		p.same = LANES;
		p.line = 2;
		break;
	default:
		p.same = 2;
		p.line = 2;
		break;
	}
	return p;
}

/* Cycles that a transaction takes beyond the SMs besides its atomics: of the L2's port, or of a partition's bus and bank. */
static double beyond(const struct sim_spec *s, const struct pieces *p)
{
	const struct cache_spec *c = &s->global.level[1];
	if (s->has_l2)
		return fmax(c->interval, c->bandwidth > 0 ? p->bytes / c->bandwidth : 0);
	return fmax(s->dram.bank_busy, p->bytes * fmax(1, s->memory_partitions) / s->dram_bandwidth);
}

/* Cycles between two threads' atomics: of their unit, or of the address. The tolerance is any where something else may be the limit. */
static void tell_apart(struct teller *t, const char *op, const char *property, const struct sim_spec *s,
		       const struct atomic_spec *a, double transactions, double threads, double words)
{
	const struct pieces p = pieces_of(s);
	const double asks = s->sm_count < ASKS ? s->sm_count : ASKS, each = transactions / threads,
		     sends = s->atomic_issue > 0 ? s->atomic_issue : s->global.issue * each,
		     cycles = fmax(a->distinct + s->atomic_request * each, a->same_address / words),
		     others = fmax(beyond(s, &p) * each, (sends + s->global.request / threads) / asks);
	const bool one_unit = words == 1 || !s->atomic_units || spec_atomic_unit(s) >= LINE_BYTES;
	tell_atomic(t, op, property, fmax(cycles, others), one_unit && others < cycles / 2 ? RATE * cycles : ANY);
}

static void tell_rates(struct teller *t, const struct sim_spec *s, const char *op, const struct atomic_spec *a)
{
	const struct pieces p = pieces_of(s);
	tell_apart(t, op, "same_address", s, a, p.same, LANES, 1);
	tell_apart(t, op, "distinct", s, a, 1, 1, LANES);
	if (strcmp(op, "add"))
		return;
	tell_apart(t, op, "line", s, a, p.line, LANES, LANES);
	tell_apart(t, op, "unused", s, a, p.same, LANES, 1);
	const double requests =
			 s->outstanding_merge ? fmax(p.same, ceil(LANES / (double)s->outstanding_merge)) : p.same,
		     sends = s->atomic_issue > 0 ? s->atomic_issue : s->global.issue * requests / LANES,
		     lanes = fmax(fmax(a->same_address, a->distinct), sends);
	tell_atomic(t, op, "lanes", lanes, RATE * lanes + s->atomic_request * p.same / LANES + 1.0 / LANES);
}

int spec_truth_atomics(const struct sim_spec *s, int (*each)(void *ctx, const struct truth *t), void *ctx)
{
	static const struct {
		const char *name;
		unsigned op; /* of spec_atomics */
		int cc;	     /* compute capability x 10 that has it (CUDA C Programming Guide, atomic functions) */
	} named[] = {{"and", 0, 11},	 {"or", 1, 11},	     {"xor", 2, 11},	 {"add", 3, 11},
		     {"inc", 4, 11},	 {"dec", 5, 11},     {"min", 6, 11},	 {"max", 7, 11},
		     {"exch", 8, 11},	 {"cas", 9, 11},     {"add_u64", 3, 12}, {"cas_u64", 9, 12},
		     {"add_f32", 3, 20}, {"add_f64", 3, 60}, {"add_cta", 3, 60}, {"add_sys", 3, 60}};
	static const char *const rated[] = {"add", "exch", "cas"};
	static const unsigned rated_op[] = {3, 8, 9};
	struct teller t = {each, ctx, 0};
	const bool timed = spec_times_atomics(s);
	const double load = s->has_l2 ? s->global.level[1].latency : s->global.memory_latency,
		     far = s->has_l2 && s->global.level[1].partitions > 1 ? s->global.level[1].far_extra : 0;
	double offset = 0;
	for (uint32_t n = 0; n < s->cluster_count; n++)
		offset = fmax(offset, fabs(s->cluster_offset[n]));
	for (size_t k = 0; k < sizeof named / sizeof *named; k++) {
		const double own = s->atomic[named[k].op].latency, latency = (own > 0 ? own : load) + far / 2;
		if (s->cc >= named[k].cc)
			tell_atomic(&t, named[k].name, "latency", latency, timed ? LATENCY + far / 2 + offset : ANY);
	}
	for (size_t k = 0; k < sizeof rated / sizeof *rated; k++) {
		static const struct atomic_spec none;
		if (timed) {
			tell_rates(&t, s, rated[k], &s->atomic[rated_op[k]]);
			continue;
		}
		tell_atomic(&t, rated[k], "same_address", none.same_address, ANY);
		tell_atomic(&t, rated[k], "distinct", none.distinct, ANY);
	}
	for (size_t k = 0; k < 3 && !timed; k++) {
		static const char *const others[] = {"line", "unused", "lanes"};
		tell_atomic(&t, "add", others[k], 0, ANY);
	}
	if (s->cc < 12)
		return t.rc;
	tell_atomic(&t, "shared", "latency",
		    s->shared_atomic_latency > 0 ? s->shared_atomic_latency : s->shared.memory_latency, LATENCY);
	const double more = s->shared_atomic_same > 0 ? s->shared_atomic_same : s->shared_conflict_cost;
	tell_atomic(&t, "shared", "same_address", more, RATE * more + 1.0 / LANES);
	return t.rc;
}
