/* Latency, throughput, issue interval and native instruction count of arithmetic operations.
 *
 * One kernel times a chain of n dependent links between two clock reads. Lengths n, 2n and 3n give two slopes, so the cost
 * of reading the clock and of filling the pipeline cancels, and a region that does not grow linearly (a chain that spills
 * out of an instruction cache, a folded chain) is noticed because the slopes differ. One warp gives latency; several
 * loads of warps and independent chains give throughput, and only a rate that two of them reach counts as the unit's. */
#include "arithmetic_rows.h"
#include "base/units.h"
#include "probe/probe.h"
#include "stat/stat.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
	ITERATIONS = ARITHMETIC_ROUNDS,
	HEADER_WORDS = 2,
	LENGTHS = 3,
	SHORT_UNIT = 64,  /* links of the shortest chain */
	LONG_UNIT = 8,	  /* the same for an operation that is a long sequence */
	SHORT_SPAN = 128, /* operations of one warp by which the lengths of a throughput point differ */
	SPANS = 64,
	FEW_UNIT = 2, /* the same of so few links of one that they stay at hand */
	CONFIGS = 5
};

const struct arithmetic_row arithmetic_row[] = {
#define ROW_DATA(op, type, ID, reg, kind, form, text, suffix, round, need)                                             \
	{op, type, reg, kind, form, text, suffix, round, need},
    ARITHMETIC_ROWS(ROW_DATA)
#undef ROW_DATA
};

#define BLOCKS_MISS  1.02 /* how much a steady rate may differ from that of whole blocks, which it is no less than */
#define BLOCKS_LEAST 0.99 /* of what whole blocks seem to reach: they do */
#define AGREE	     0.04 /* of a steady rate: what it may be known to */
#define UNEVEN	     0.9  /* a first warp that ends so early was preferred */
#define ALONE	     0.98 /* of the unit's rate: a warp that reaches it fills the unit alone */
#define TELLS	     0.97 /* of the best rate: a load that reaches it gives the same */
#define APART	     0.7  /* a first warp that ends so early leaves the last ones to themselves for long */
#define NOT_HALF     0.65 /* of the rate: what half of the warps reach only where the unit is what holds all of them up */
#define SAME	     0.8   /* cycles */
#define HIGHER	     1.04  /* a rate so much higher is another rate */
#define STEADY	     0.015 /* spread of slopes that instruction fetch has no part in */

/* Warps of the largest block. */
static unsigned full_warps(const struct device_info *d)
{
	return d->max_threads_per_block / d->warp_size;
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
	j->launch.block[0] = warps * d->warp_size;
	j->launch.block[1] = j->launch.block[2] = 1;
	job_output(j, HEADER_WORDS + 2 * rounds * warps);
	job_pin(j, d, 0);
	struct launch_buffer *sink = &j->launch.buffers[j->launch.buffer_count];
	sink->space = BUFFER_GLOBAL;
	sink->bytes = 8ull * warps * d->warp_size * chains;
	job_arg_buffer(j, j->launch.buffer_count++, 0);
	job_arg_u32(j, 17); /* seeds: only that the compiler cannot know them matters */
	job_arg_u32(j, 29);
	j->launch.repeats = 2; /* no launch before them: the first round of each is not counted */
	j->check.cls = NATIVE_ALU;
	j->check.region = 0;
	j->check.min = links * chains; /* fewer: the chain was folded */
	j->check.max = UINT32_MAX;
	j->check.others = UINT32_MAX; /* long sequences have branches and calls */
	return 0;
}

#define ROW_SETUP(op, type, ID, reg, kind, form, text, suffix, round, need)                                            \
	static int setup_##ID(const struct study *s, double x, const double *p, struct job *j)                         \
	{                                                                                                              \
		return arithmetic_setup(s, ROW_##ID, x, p, j);                                                         \
	}
ARITHMETIC_ROWS(ROW_SETUP)
#undef ROW_SETUP

static const struct experiment experiments[] = {
#define ROW_EXPERIMENT(op, type, ID, reg, kind, form, text, suffix, round, need)                                       \
	{.name = op "." type,                                                                                          \
	 .axis = "links",                                                                                              \
	 .unit = "count",                                                                                              \
	 .params = {"warps", "chains", "rounds"},                                                                      \
	 .setup = setup_##ID},
    ARITHMETIC_ROWS(ROW_EXPERIMENT)
#undef ROW_EXPERIMENT
};

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

struct slope {
	bool ok;
	const struct point *bad; /* the point that stands in the way */
	double value, lo, hi;	 /* cycles a link */
	double start;		 /* cycles that no link takes, as the line has it */
	unsigned unit;
	const struct point *first, *last;
};

/* Three lengths, two slopes. lo..hi spans both and the repeats' spread. */
static struct slope measure_slope(struct study *s, unsigned row, unsigned unit, unsigned warps, unsigned chains)
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

static const char *const parts[] = {"latency", "throughput", "issue", "native_ops"};
enum { PART_LATENCY, PART_THROUGHPUT, PART_ISSUE, PART_NATIVE, PARTS };

static void key_of(char *out, size_t n, const struct arithmetic_row *r, unsigned part)
{
	snprintf(out, n, "arith.%s.%s.%s", r->op, r->type, parts[part]);
}

static void verdict_all(struct study *s, const struct arithmetic_row *r, unsigned from, unsigned to, enum verdict v,
			const char *evidence, const char *because)
{
	for (unsigned i = from; i <= to; i++) {
		char key[96];
		key_of(key, sizeof key, r, i);
		study_verdict(s, key, v, evidence, "%s", because);
	}
}

/* Native instructions of a link, 1 where the code could not be read. */
static double native_ops(const struct study *s, unsigned row, const struct slope *lat)
{
	const struct native_info *n1 = study_native(s, row, lat->first), *n3 = study_native(s, row, lat->last);
	if (!n1 || !n3 || !n1->region_count || !n3->region_count)
		return 1;
	return ((double)n3->region[0].total - n1->region[0].total) / (2.0 * lat->unit);
}

static void conclude_native(struct study *s, unsigned row, const struct slope *lat, const char *evidence)
{
	char key[96];
	const struct arithmetic_row *r = &arithmetic_row[row];
	key_of(key, sizeof key, r, PART_NATIVE);
	const struct native_info *n1 = study_native(s, row, lat->first), *n3 = study_native(s, row, lat->last);
	if (!n1 || !n3 || !n1->region_count || !n3->region_count || n1->problem[0] || n3->problem[0]) {
		study_verdict(s, key, VERDICT_UNSUPPORTED, evidence,
			      "the device's native code could not be read back%s%s", n1 && n1->problem[0] ? ": " : "",
			      n1 ? n1->problem : "");
		return;
	}
	const struct native_region *a = &n1->region[0], *b = &n3->region[0];
	const double ops = native_ops(s, row, lat);
	if (b->count[NATIVE_BRANCH] > a->count[NATIVE_BRANCH]) {
		study_verdict(s, key, VERDICT_INCONCLUSIVE, evidence,
			      "%.4g native instructions an operation stand in the code, but it branches, so not all of "
			      "them run (%s)",
			      ops, b->mix);
		return;
	}
	if (fabs(ops - round(ops)) > 1.0 / lat->unit || ops < 1) {
		study_verdict(s, key, VERDICT_INCONCLUSIVE, evidence,
			      "the compiler uses different sequences for neighbouring operations, %.4g native "
			      "instructions each on average (%s)",
			      ops, b->mix);
		return;
	}
	study_measured_number(s, key, round(ops), round(ops), round(ops), "card",
			      "counted in the compiled code, chains of n and 3n links", evidence, "%s", b->mix);
}

/* One instruction a link, but not always the same one: the compiler spreads additions over two pipes, say. What such a
 * chain takes is a property of the mixture, not of an operation. */
static const char *mixture(const struct native_info *n, unsigned links)
{
	if (!n || !n->region_count)
		return NULL;
	const struct native_region *r = &n->region[0];
	return r->total < links + links / 4 && r->top_count < 0.9 * links ? r->mix : NULL;
}

/* few: of shorter chains, where the usual ones are long code; else it is not ok. */
static void conclude_latency(struct study *s, unsigned row, const struct slope *lat, const struct slope *few,
			     const char *evidence)
{
	char key[96];
	key_of(key, sizeof key, &arithmetic_row[row], PART_LATENCY);
	const double tolerance = fmax(0.5, 0.02 * lat->value);
	if (!(lat->value > 0) || lat->hi - lat->lo > 2 * tolerance) {
		study_verdict(
		    s, key, VERDICT_INCONCLUSIVE, evidence,
		    "time does not grow linearly with the chain: %.2f to %.2f cycles a link over %u to %u links",
		    lat->lo, lat->hi, lat->unit, LENGTHS * lat->unit);
		return;
	}
	/* Reading the clock takes time, too: a line that begins below nothing is that of chains which run slower than shorter ones.
	 * But nobody waits for the last instruction of the last link. */
	if (lat->start < -(lat->value / fmax(1, native_ops(s, row, lat)) + lat->unit * (0.5 + lat->value / 1000))) {
		study_verdict(s, key, VERDICT_INCONCLUSIVE, evidence,
			      "%u links take %.0f cycles less than their share of %u: the longer chain has left the "
			      "instruction cache, or the clock has changed",
			      lat->unit, -lat->start, LENGTHS * lat->unit);
		return;
	}
	/* Code that does not fit the first instruction cache takes proportional time as well when all of it is fetched each time; a few
	 * links are at hand. */
	const bool differ = few->ok && fabs(few->value - lat->value) > SAME;
	const double lo = differ ? fmin(few->value, lat->lo) : lat->lo,
		     hi = differ ? fmax(few->value, lat->hi) : lat->hi;
	if (hi - lo > 2 * tolerance) {
		study_verdict(
		    s, key, VERDICT_INCONCLUSIVE, evidence,
		    "%.2f cycles a link over %u to %u links, and %.2f over %u to %u: instructions may not be at hand",
		    lat->value, lat->unit, LENGTHS * lat->unit, few->value, few->unit, LENGTHS * few->unit);
		return;
	}
	const struct native_info *n = study_native(s, row, lat->last);
	const char *mix = mixture(n, LENGTHS * lat->unit);
	if (mix) {
		study_verdict(
		    s, key, VERDICT_INCONCLUSIVE, evidence,
		    "the compiler makes different instructions of neighbouring links (%s), %.4g cycles each on average",
		    mix, lat->value);
		return;
	}
	study_measured_number(
	    s, key, differ ? few->value : lat->value, lo, hi, "sm",
	    differ ? "slope of a dependent chain of a few links, one warp" : "slope of a dependent chain, one warp",
	    evidence, "native code of the longest chain: %s", n && n->region_count ? n->region[0].mix : "not readable");
}

/* How a unit is loaded for throughput: warps of the block, independent chains in each. */
struct load {
	unsigned warps, chains, unit;
};

/* A compiler packs two chains of halves into one. */
static bool is_single(const struct arithmetic_row *r)
{
	return r->need == NEED_F16 && !strcmp(r->kind, "f16");
}

/* Which load reaches a unit's rate differs: an in-order SM needs many warps; a greedy scheduler starves warps, and some
 * recent units run at full rate only when few warps with several chains each feed them. So several loads are tried. */
static unsigned loads_of(struct load *out, const struct arithmetic_row *r, bool steps, unsigned full)
{
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
	const struct load *from = steps ? sequence : is_single(r) ? single : many;
	const unsigned n = from == single ? 3 : 5;
	for (unsigned i = 0; i < n; i++) {
		out[i] = from[i];
		out[i].warps = out[i].warps > full ? full : out[i].warps ? out[i].warps : 1;
	}
	return n;
}

static double rate_of(const struct slope *s, const struct load *l, const struct device_info *d)
{
	return (double)l->warps * d->warp_size * l->chains / s->value;
}

/* The steady rate, where warps are not treated alike. False: it says nothing that the blocks do not. */
static bool conclude_steady(struct study *s, unsigned row, const struct arithmetic_steady *t, double blocks,
			    const char *evidence)
{
	/* What whole blocks reach is a bound, too, and where it is the better one they have hardly lost anything. */
	const bool lost = t->lo > BLOCKS_LEAST * blocks;
	const double lanes = study_device(s)->warp_size, lo = lost ? t->lo : BLOCKS_LEAST * blocks,
		     value = lost ? (t->lo + t->hi) / 2 : blocks;
	char key[96], issue[96];
	key_of(key, sizeof key, &arithmetic_row[row], PART_THROUGHPUT);
	key_of(issue, sizeof issue, &arithmetic_row[row], PART_ISSUE);
	if (t->lo > 0 && t->hi >= value && t->hi - lo <= AGREE * t->hi) {
		study_measured_number(s, key, value, lo, t->hi, "sm", "ends of short chains while all warps run",
				      evidence, "some warps end long before others, whole blocks reach %.4g", blocks);
		study_measured_number(s, issue, lanes / value, lanes / t->hi, lanes / lo, "sm",
				      "warp size over throughput", evidence,
				      "some warps end long before others, whole blocks reach %.4g", blocks);
		return true;
	}
	if (t->hi <= BLOCKS_MISS * blocks)
		return false;
	study_bound(s, key, blocks, INFINITY, "best slope over several loads of the unit", evidence,
		    "some warps end long before others, and the rates of their chains differ: %.4g and %.4g", t->lo,
		    t->hi);
	study_bound(s, issue, -INFINITY, lanes / blocks, "warp size over throughput", evidence,
		    "some warps end long before others, and the rates of their chains differ: %.4g and %.4g", t->lo,
		    t->hi);
	return true;
}

/* Does this load's time say how fast the unit is? Where some warps are preferred, the last one of a block runs alone, and that costs
 * nothing only when it fills the unit by itself. preferred: they are under other loads of one chain, too, which then are all held up
 * alike, by a scheduler that goes on with the warp that it has. */
static bool tells_rate(const struct slope *s, const struct load *l, const struct slope *lat, bool preferred,
		       const struct device_info *d)
{
	if (!preferred && arithmetic_evenness(s->last, l->warps, ITERATIONS) >= APART)
		return true;
	return lat->ok && lat->value > 0 && l->chains * (double)d->warp_size / lat->value >= ALONE * rate_of(s, l, d);
}

/* The load that gives the highest rate of those whose time grows with the chain; -1: none does. */
static int best_load(const struct slope *slope, const struct load *load, unsigned n, const struct device_info *d)
{
	int best = -1;
	for (unsigned i = 0; i < n; i++) {
		if (!slope[i].ok || !(slope[i].lo > 0) || slope[i].hi - slope[i].lo > 0.05 * slope[i].value)
			continue;
		if (best < 0 || rate_of(&slope[i], &load[i], d) > rate_of(&slope[best], &load[best], d))
			best = (int)i;
	}
	return best;
}

/* Whether whole blocks say how fast the unit is, under a load that is about as fast as the best. */
static bool blocks_tell(const struct slope *slope, const struct load *load, unsigned n, double value,
			const struct slope *single, const struct device_info *d)
{
	bool tells = false, preferred = false;
	for (unsigned i = 0; i < n; i++)
		preferred |= slope[i].ok && arithmetic_evenness(slope[i].last, load[i].warps, ITERATIONS) < APART;
	for (unsigned i = 0; i < n; i++)
		preferred &= load[i].chains == 1;
	for (unsigned i = 0; i < n && !tells; i++)
		tells = slope[i].ok && slope[i].value > 0 && rate_of(&slope[i], &load[i], d) > TELLS * value &&
			tells_rate(&slope[i], &load[i], single, preferred, d);
	return tells;
}

static void conclude_throughput(struct study *s, unsigned row, const struct slope *slope, const struct load *load,
				unsigned n, bool is_long, const struct slope *single,
				const struct arithmetic_steady *steady_rate)
{
	const struct device_info *d = study_device(s);
	char key[96], issue[96], evidence[64];
	key_of(key, sizeof key, &arithmetic_row[row], PART_THROUGHPUT);
	key_of(issue, sizeof issue, &arithmetic_row[row], PART_ISSUE);
	const struct point *bad = NULL;
	const int best = best_load(slope, load, n, d);
	double lowest = INFINITY, highest = 0;
	for (unsigned i = 0; i < n; i++) {
		if (slope[i].bad)
			bad = slope[i].bad;
		if (!slope[i].ok || !(slope[i].lo > 0))
			continue;
		lowest = fmin(lowest, slope[i].lo);
		highest = fmax(highest, slope[i].hi);
	}
	if (best < 0) {
		char because[200];
		snprintf(because, sizeof because,
			 "under no load does the time grow linearly with the chain: %.2f to %.2f cycles a link over %u "
			 "loads",
			 lowest, highest, n);
		verdict_all(
		    s, &arithmetic_row[row], PART_THROUGHPUT, PART_ISSUE,
		    bad && bad->outcome == OUTCOME_CRASH ? VERDICT_FAILED : VERDICT_INCONCLUSIVE, experiments[row].name,
		    bad && highest == 0 ? (bad->message[0] ? bad->message : outcome_name(bad->outcome)) : because);
		return;
	}
	const struct load *l = &load[best];
	const struct slope *b = &slope[best];
	const double lanes = (double)l->warps * d->warp_size * l->chains, value = rate_of(b, l, d);
	snprintf(evidence, sizeof evidence, "%s:%u", experiments[row].name, l->unit * LENGTHS);
	const char *mix = mixture(study_native(s, row, b->last), LENGTHS * l->unit * l->chains);
	if (mix) {
		char because[320];
		snprintf(because, sizeof because,
			 "the compiler makes different instructions of neighbouring links (%s), together %.4g results "
			 "a cycle",
			 mix, value);
		verdict_all(s, &arithmetic_row[row], PART_THROUGHPUT, PART_ISSUE, VERDICT_INCONCLUSIVE, evidence,
			    because);
		return;
	}
	if (steady_rate && conclude_steady(s, row, steady_rate, value, evidence))
		return;
	/* One warp of a scheduler may be held up where several are not. */
	for (unsigned i = 0; i < n; i++) {
		const double sure = slope[i].ok && slope[i].lo > 0
					? (double)load[i].warps * d->warp_size * load[i].chains / slope[i].hi
					: 0;
		if (sure <= HIGHER * value)
			continue;
		study_bound(s, key, sure, INFINITY, "best slope over several loads of the unit", evidence,
			    "%u warps of %u chains reach %.4g, and %u of %u at least %.4g, but not steadily", l->warps,
			    l->chains, value, load[i].warps, load[i].chains, sure);
		study_bound(s, issue, -INFINITY, d->warp_size / sure, "warp size over throughput", evidence,
			    "%u warps of %u chains reach %.4g, and %u of %u at least %.4g, but not steadily", l->warps,
			    l->chains, value, load[i].warps, load[i].chains, sure);
		return;
	}
	/* A unit that is full gives the same rate to another load; a rate that no other load reaches may be a load's own.
	 * Long sequences may be held up alike by instruction fetch; where that plays a part, code of different length does not
	 * take quite proportional time under some load. */
	unsigned agree = 0, other_warps = 0;
	double most_of_fewer = 0; /* rate that at most half of the warps reach */
	bool steady = true;
	for (unsigned i = 0; i < n; i++) {
		bool again = false;
		for (unsigned k = 0; k < i; k++)
			again = again || (load[i].warps == load[k].warps && load[i].chains == load[k].chains);
		if (again || (load[i].warps == l->warps && load[i].chains == l->chains))
			continue;
		steady = steady && slope[i].ok && slope[i].hi - slope[i].lo <= STEADY * slope[i].value;
		const bool same = slope[i].ok && slope[i].value > 0 && rate_of(&slope[i], &load[i], d) > 0.96 * value;
		agree += same;
		other_warps += same && load[i].warps != l->warps;
		if (slope[i].ok && slope[i].value > 0 && 2 * load[i].warps <= l->warps)
			most_of_fewer = fmax(most_of_fewer, rate_of(&slope[i], &load[i], d));
	}
	steady = steady && b->hi - b->lo <= STEADY * b->value;
	if (single && !blocks_tell(slope, load, n, value, single, d)) {
		study_bound(s, key, value, INFINITY, "best slope over several loads of the unit", evidence,
			    "reached by %u warps of %u chains, some of which end long before others", l->warps,
			    l->chains);
		study_bound(s, issue, -INFINITY, d->warp_size / value, "warp size over throughput", evidence,
			    "reached by %u warps of %u chains, some of which end long before others", l->warps,
			    l->chains);
		return;
	}
	/* A warp may have only one sequence under way, whatever its chains: then loads of as many warps agree below the unit's rate, and
	 * half of the warps reach half of it. Code of a few steps stays where it was fetched, and that is proof enough. */
	if (!agree || (l->unit == LONG_UNIT && !other_warps && (is_long || most_of_fewer < NOT_HALF * value)) ||
	    (is_long && (agree < 2 || !steady))) {
		study_bound(s, key, value, INFINITY, "best slope over several loads of the unit", evidence,
			    "reached by %u warps of %u chains and %u other loads: the unit may not be full", l->warps,
			    l->chains, agree);
		study_bound(s, issue, -INFINITY, d->warp_size / value, "warp size over throughput", evidence,
			    "reached by %u warps of %u chains and %u other loads: the unit may not be full", l->warps,
			    l->chains, agree);
		return;
	}
	study_measured_number(
	    s, key, value, lanes / b->hi, lanes / b->lo, "sm", "best slope over several loads of the unit", evidence,
	    "%u warps of %u chains on one SM; %u other loads within 4 %%", l->warps, l->chains, agree);
	/* the three quotients round on their own, and a value must not fall out of its interval by that */
	const double cycles = d->warp_size / value;
	study_measured_number(s, issue, cycles, fmin(cycles, d->warp_size * b->lo / lanes),
			      fmax(cycles, d->warp_size * b->hi / lanes), "sm", "warp size over throughput", evidence,
			      "%u warps of %u chains on one SM", l->warps, l->chains);
}

static void study_row(struct study *s, unsigned row)
{
	const struct device_info *d = study_device(s);
	const struct arithmetic_row *r = &arithmetic_row[row];
	if (!arithmetic_supported(d, r->need)) {
		verdict_all(s, r, 0, PARTS - 1, VERDICT_UNSUPPORTED, experiments[row].name,
			    "the device does not have this operation");
		return;
	}
	/* A short chain first tells whether this is one instruction or a long sequence. */
	const double one[POINT_PARAMS] = {1, 1};
	const struct point *pilot = study_ask(s, row, LONG_UNIT, one);
	if (!pilot)
		return;
	if (pilot->outcome != OUTCOME_OK) {
		verdict_all(s, r, 0, PARTS - 1,
			    pilot->outcome == OUTCOME_INVALID ? VERDICT_INCONCLUSIVE : VERDICT_FAILED,
			    experiments[row].name, pilot->message[0] ? pilot->message : outcome_name(pilot->outcome));
		return;
	}
	const struct native_info *n = study_native(s, row, pilot);
	const double cycles = point_spans(pilot, 1).typical / LONG_UNIT;
	const bool is_long = (n && n->region_count && n->region[0].total > 4 * LONG_UNIT) || cycles > 150;
	const bool steps = is_long || (n && n->region_count && n->region[0].total >= 2 * LONG_UNIT);
	const unsigned unit = is_long ? LONG_UNIT : SHORT_UNIT;
	struct load load[CONFIGS];
	struct slope full[CONFIGS];
	const unsigned loads = loads_of(load, r, steps, full_warps(d));
	const struct slope lat = measure_slope(s, row, unit, 1, 1),
			   few = is_long ? measure_slope(s, row, FEW_UNIT, 1, 1) : (struct slope){0};
	for (unsigned i = 0; i < loads; i++)
		full[i] = measure_slope(s, row, load[i].unit, load[i].warps, load[i].chains);
	if (study_pending(s))
		return;
	/* An operation of one instruction mostly fills its unit by a few warps of several chains, which the loads above have. */
	const int best = best_load(full, load, loads, d);
	bool uneven =
	    !steps && best >= 0 && !blocks_tell(full, load, loads, rate_of(&full[best], &load[best], d), &lat, d);
	for (unsigned i = 0; i < loads && steps; i++)
		uneven |= full[i].ok && arithmetic_evenness(full[i].last, load[i].warps, ITERATIONS) < UNEVEN;
	struct arithmetic_steady rate = {0};
	if (uneven)
		rate = steps ? arithmetic_steady(s, row, is_long ? 2 : 8)
			     : arithmetic_steady_one(s, row, is_single(r) ? 1 : 2);
	if (study_pending(s))
		return;
	char evidence[64];
	snprintf(evidence, sizeof evidence, "%s:%u", experiments[row].name, unit * LENGTHS);
	if (lat.ok) {
		conclude_latency(s, row, &lat, &few, evidence);
		conclude_native(s, row, &lat, evidence);
	} else {
		const char *why = lat.bad ? lat.bad->message : "points are missing";
		const enum verdict v =
		    lat.bad && lat.bad->outcome == OUTCOME_CRASH ? VERDICT_FAILED : VERDICT_INCONCLUSIVE;
		verdict_all(s, r, PART_LATENCY, PART_LATENCY, v, evidence, why);
		verdict_all(s, r, PART_NATIVE, PART_NATIVE, v, evidence, why);
	}
	conclude_throughput(s, row, full, load, loads, is_long, steps ? NULL : &lat, uneven ? &rate : NULL);
}

static void study_arithmetic(struct study *s)
{
	for (unsigned i = 0; i < ARITHMETIC_COUNT; i++)
		study_row(s, i);
}

static const char *const claims[] = {"arith.*.latency", "arith.*.throughput", "arith.*.issue", "arith.*.native_ops",
				     NULL};

const struct probe probe_arithmetic = {
    .name = "arithmetic",
    .asks =
	"How long does each arithmetic operation take, how many run at once, and how many native instructions is it?",
    .source =
	"Wong 2010, IV-B, Tables III and IV; here slopes over three chain lengths, and the compiled code is counted",
    .how = "A chain of operations, each of which needs the result of the last, stands between two clock reads; "
	   "three lengths of it give two slopes, so that what reading the clock costs cancels. One warp gives "
	   "the latency. Five loads of warps and independent chains give the throughput and the time between two"
	   " warp instructions; how many native instructions one operation is, is counted in the compiled code.",
    .fooled = "A compiler that folds the chain, or makes another instruction of it: the native code between the "
	      "clock reads is counted, and a point that holds something else is INVALID. A chain that leaves the "
	      "instruction cache, or a clock that changes: the two slopes differ, and nothing is concluded. A load "
	      "that does not fill the unit: only a rate that two loads reach is called the unit's, else it is a "
	      "bound. A scheduler that prefers some warps, so that the last ones run alone: for operations of "
	      "several steps, and where no few warps fill the unit, the ends of chains are counted while most of the "
	      "work is still to be done.",
    .claims = claims,
    .experiments = experiments,
    .experiment_count = ARITHMETIC_COUNT,
    .study = study_arithmetic,
};
