/* The chains of the arithmetic probe: what to launch, and what a link takes. */
#include "arithmetic.h"
#include "base/units.h"
#include "stat/stat.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
	ITERATIONS = ARITHMETIC_ROUNDS,
	HEADER_WORDS = 2,
	SHORT_SPAN = 128, /* operations of one warp by which the lengths of a throughput point differ */
	SPANS = 64
};
#define BLOCKS_APART 0.015 /* of what a whole block reaches: three runs of an H200 lay up to 2.8 % apart */

const struct arithmetic_row arithmetic_row[] = {
#define ROW_DATA(op, type, ID, reg, kind, form, text, suffix, round, need)                                             \
	{op, type, reg, kind, form, text, suffix, round, need},
    ARITHMETIC_ROWS(ROW_DATA)
#undef ROW_DATA
};

bool arithmetic_is_function(const struct arithmetic_row *r)
{
	return !strcmp(r->form, "unary") || !strcmp(r->form, "inverse") || !strcmp(r->form, "divisor");
}

void arithmetic_block(struct job *j, const struct device_info *d, unsigned warps, unsigned words, uint64_t sink)
{
	j->launch.block[0] = warps * d->warp_size;
	j->launch.block[1] = j->launch.block[2] = 1;
	job_output(j, words);
	job_pin(j, d, 0);
	j->launch.buffers[j->launch.buffer_count] =
	    (struct launch_buffer){.space = BUFFER_GLOBAL, .bytes = sink * warps * d->warp_size};
	job_arg_buffer(j, j->launch.buffer_count++, 0);
	job_arg_u32(j, 17); /* seeds: only that the compiler cannot know them matters */
	job_arg_u32(j, 29);
}

int arithmetic_setup(const struct study *s, unsigned row, double x, const double *p, struct job *j)
{
	const struct device_info *d = study_device(s);
	const struct arithmetic_row *r = &arithmetic_row[row];
	const unsigned links = (unsigned)x, warps = (unsigned)p[0], chains = (unsigned)p[1],
		       rounds = p[2] > 0 ? (unsigned)p[2] : ITERATIONS;

	j->template_path = "probes/arithmetic/chain.ptx";
	job_param(j, "N", links);
	job_param(j, "ITER", rounds);
	job_param(j, "TOGETHER", !(p[2] > 0));
	job_param(j, "WARPLOG", log2_floor(d->warp_size));
	job_param_text(j, "REG", r->reg);
	job_param_text(j, "KIND", r->kind);
	job_param_text(j, "FORM", r->form);
	job_param_text(j, "OP", r->text);
	job_param_text(j, "SUFFIX", r->suffix);
	job_param(j, "ROUND", r->round);
	job_param(j, "CHAINS", chains);
	snprintf(j->launch.entry, sizeof j->launch.entry, "chain");
	arithmetic_block(j, d, warps, HEADER_WORDS + 2 * rounds * warps, 8ull * chains);
	/* no launch before them: the first round of each is not counted, nor the first part of many that warps run for themselves */
	j->launch.repeats = p[2] > 0 ? 1 : 2;
	j->check.cls = NATIVE_ALU;
	j->check.region = 0;
	j->check.min = links * chains; /* fewer: the chain was folded */
	j->check.max = UINT32_MAX;
	j->check.others = UINT32_MAX; /* long sequences have branches and calls */
	return 0;
}

/* Cycles between the first clock read and the last of one iteration, over all warps. */
static double iteration_span(const uint32_t *words, unsigned iteration, unsigned warps)
{
	const uint32_t *w = words + HEADER_WORDS + (size_t)2 * iteration * warps;
	int32_t first = 0, last = INT32_MIN;
	for (unsigned i = 0; i < warps; i++) {
		/* relative to one read, so that a counter that wraps does no harm */
		const int32_t start = (int32_t)(w[2 * i] - w[0]), end = (int32_t)(w[2 * i + 1] - w[0]);
		first = start < first ? start : first;
		last = end > last ? end : last;
	}
	return (double)last - first;
}

struct spans {
	double typical, lo, hi;
};

/* All iterations of all repeats but the first of each, which runs with cold instruction caches. What disturbs a launch
 * only ever makes it slower, so the typical span is the lower quartile, and lo..hi the least and the median. */
static struct spans point_spans(const struct point *pt, unsigned warps)
{
	double v[SPANS] = {0}, scratch[SPANS];
	size_t n = 0;
	for (unsigned r = 0; r < pt->repeats; r++)
		for (unsigned i = 1; i < ITERATIONS && n < SPANS; i++)
			v[n++] = iteration_span(pt->y + (size_t)r * pt->words_per_repeat, i, warps);
	return (struct spans){stat_quantile(v, n, 0.25, scratch), stat_quantile(v, n, 0, scratch),
			      stat_quantile(v, n, 0.5, scratch)};
}

double arithmetic_span(const struct point *pt, unsigned warps)
{
	return point_spans(pt, warps).typical;
}

/* A short chain's fill and drain, and warps that end apart, are part of the time: what programs of such a length reach. */
void arithmetic_conclude_block(struct study *s, unsigned row)
{
	const struct arithmetic_row *r = &arithmetic_row[row];
	const struct device_info *d = study_device(s);
	const unsigned warps = d->max_threads_per_block / d->warp_size;
	const double p[POINT_PARAMS] = {warps, 1}, operations = (double)warps * d->warp_size * BLOCK_LINKS;
	const struct point *pt = study_ask(s, row, BLOCK_LINKS, p);
	char key[KEY_BYTES], evidence[64];
	if (!pt)
		return;
	arithmetic_key(key, r, PART_BLOCK);
	snprintf(evidence, sizeof evidence, "%s.%s:%u", r->op, r->type, BLOCK_LINKS);
	if (pt->outcome != OUTCOME_OK) {
		study_verdict(s, key, pt->outcome == OUTCOME_CRASH ? VERDICT_FAILED : VERDICT_INCONCLUSIVE, evidence,
			      "%s", pt->message[0] ? pt->message : outcome_name(pt->outcome));
		return;
	}
	const struct spans t = point_spans(pt, warps);
	const double rate = operations / t.typical;
	double lo = operations / t.hi, hi = operations / t.lo;
	stat_widen(rate, BLOCKS_APART, &lo, &hi);
	study_measured_number(s, key, rate, lo, hi, "sm",
			      "operations over the clocks from the first warp's begin to the last one's end", evidence,
			      "%u warps of one chain of %u links", warps, BLOCK_LINKS);
}

void arithmetic_expect(struct study *s, unsigned row, unsigned unit, unsigned warps, unsigned chains)
{
	const double p[POINT_PARAMS] = {warps, chains};
	for (unsigned i = 0; i < LENGTHS; i++)
		study_expect(s, row, (double)unit * (i + 1), p);
}

struct slope arithmetic_slope(struct study *s, unsigned row, unsigned unit, unsigned warps, unsigned chains)
{
	const double p[POINT_PARAMS] = {warps, chains};
	const struct point *pt[LENGTHS];
	struct spans span[LENGTHS];
	struct slope out = {.unit = unit};
	bool all = true;
	for (unsigned i = 0; i < LENGTHS; i++) {
		pt[i] = study_ask(s, row, (double)unit * (i + 1), p);
		if (!pt[i])
			all = false;
		else if (pt[i]->outcome != OUTCOME_OK)
			out.bad = pt[i];
	}
	if (!all || out.bad)
		return out;
	for (unsigned i = 0; i < LENGTHS; i++)
		span[i] = point_spans(pt[i], warps);
	const double a = (span[1].typical - span[0].typical) / unit, b = (span[2].typical - span[1].typical) / unit;
	out.value = (span[2].typical - span[0].typical) / (2.0 * unit);
	out.start = span[0].typical - unit * out.value;
	/* what is left when the spread of the repeats works against the slope */
	const double noise = ((span[2].hi - span[2].lo) + (span[0].hi - span[0].lo)) / (4.0 * unit);
	out.lo = fmin(fmin(a, b), out.value - noise);
	out.hi = fmax(fmax(a, b), out.value + noise);
	out.shorter = a;
	out.first = pt[0];
	out.last = pt[2];
	out.ok = true;
	return out;
}

bool arithmetic_supported(const struct device_info *d, enum arithmetic_need need)
{
	switch (need) {
	case NEED_FMA:
		return d->has_fma;
	case NEED_F64:
		return d->has_f64;
	case NEED_F16:
		return d->has_f16;
	case NEED_NOTHING:
		break;
	}
	return true;
}

/* A compiler packs two chains of halves into one. */
bool arithmetic_is_single(const struct arithmetic_row *r)
{
	return r->need == NEED_F16 && !strcmp(r->kind, "f16");
}

/* Several loads are tried, as it differs which one reaches a unit's rate. An in-order SM needs many warps, and a greedy
 * scheduler starves some. Some recent units run at full rate only when few warps with several chains each feed them. */
unsigned arithmetic_loads(struct load *out, const struct device_info *d, const struct arithmetic_row *r, bool steps)
{
	const unsigned full = d->max_threads_per_block / d->warp_size;
	/* Loads of as many chains have as many links, so that they share their kernels. */
	const struct load many[] = {{4, 4, SHORT_SPAN / 8},
				    {4, 8, SHORT_SPAN / 8},
				    {full, 1, SHORT_SPAN / 2},
				    {full, 4, SHORT_SPAN / 8},
				    {16, 8, SHORT_SPAN / 8}};
	const struct load sequence[] = {{full, 1, LONG_UNIT},
					{full, 2, LONG_UNIT},
					{16, 2, LONG_UNIT},
					{8, 4, LONG_UNIT},
					{full / 2, 2, LONG_UNIT}};
	const struct load single[] = {{full, 1, SHORT_SPAN}, {full / 2, 1, SHORT_SPAN}, {full / 4, 1, SHORT_SPAN}};
	const struct load *from = steps ? sequence : arithmetic_is_single(r) ? single : many;
	const unsigned n = from == single ? 3 : 5;
	for (unsigned i = 0; i < n; i++) {
		out[i] = from[i];
		out[i].warps = out[i].warps > full ? full : out[i].warps ? out[i].warps : 1;
	}
	return n;
}
