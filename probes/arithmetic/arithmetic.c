/* Latency, throughput, issue interval and native instruction count of arithmetic operations.
 *
 * One kernel times a chain of n dependent links between two clock reads. Lengths n, 2n and 3n give two slopes, so that
 * the cost of reading the clock and of filling the pipeline cancels. The slopes differ if a region does not grow
 * linearly, as a chain that spills out of an instruction cache or one that was folded. One warp gives latency. Several
 * loads of warps and independent chains give throughput, and only a rate that two of them reach counts as the
 * unit's. */
#include "arithmetic.h"
#include <math.h>
#include <stdio.h>
#include <string.h>
enum {
	FEW_UNIT = 2, /* links of so short a chain of a long sequence that they stay at hand */
	SHORTER = 8   /* times: code of a throughput point that does */
};

#define UNEVEN	   0.9	/* a first warp that ends so early was preferred */
#define JUST_GAINS 1.02 /* a rate so much higher is no chance */
#define SAME	   0.8	/* cycles */

#define ROW_SETUP(op, type, ID, reg, kind, form, text, suffix, round, need)                                            \
	static int setup_##ID(const struct study *s, double x, const double *p, struct job *j)                         \
	{                                                                                                              \
		return arithmetic_setup(s, ROW_##ID, x, p, j);                                                         \
	}
ARITHMETIC_ROWS(ROW_SETUP)
#undef ROW_SETUP

/* Rates and latencies of one operation a pipe, those that addresses are made of, and both ways to write a multiply-add. */
#define IS_PLAIN(row)                                                                                                  \
	((row) == ROW_add_u32 || (row) == ROW_add_s32 || (row) == ROW_add_f32 || (row) == ROW_mad_f32 ||               \
	 (row) == ROW_fma_f32 || (row) == ROW_add_f64 || (row) == ROW_fma_f64 || (row) == ROW_fma_f16x2 ||             \
	 (row) == ROW_ex2_f32)

static const struct experiment experiments[] = {
#define ROW_EXPERIMENT(op, type, ID, reg, kind, form, text, suffix, round, need)                                       \
	{.name = op "." type,                                                                                          \
	 .axis = "links",                                                                                              \
	 .unit = "count",                                                                                              \
	 .params = {"warps", "chains", "rounds"},                                                                      \
	 .setup = setup_##ID,                                                                                          \
	 .thorough = !IS_PLAIN(ROW_##ID)},
    ARITHMETIC_ROWS(ROW_EXPERIMENT)
#undef ROW_EXPERIMENT
};

static const char *const parts[] = {"latency", "throughput", "issue", "native_ops", "block_rate"};

void arithmetic_key(char *out, const struct arithmetic_row *r, unsigned part)
{
	snprintf(out, KEY_BYTES, "arith.%s.%s.%s", r->op, r->type, parts[part]);
}

void arithmetic_verdicts(struct study *s, const struct arithmetic_row *r, unsigned from, unsigned to, enum verdict v,
			 const char *evidence, const char *because)
{
	for (unsigned i = from; i <= to; i++) {
		char key[KEY_BYTES];
		arithmetic_key(key, r, i);
		study_verdict(s, key, v, evidence, "%s", because);
	}
}

/* Native instructions of a link, 0 where the code could not be read. */
static double native_read(const struct study *s, unsigned row, const struct slope *lat)
{
	const struct native_info *n1 = study_native(s, row, lat->first), *n3 = study_native(s, row, lat->last);
	if (!n1 || !n3 || !n1->region_count || !n3->region_count)
		return 0;
	return ((double)n3->region[0].total - n1->region[0].total) / (2.0 * lat->unit);
}

static double native_ops(const struct study *s, unsigned row, const struct slope *lat)
{
	const double ops = native_read(s, row, lat);
	return ops > 0 ? ops : 1;
}

static void conclude_native(struct study *s, unsigned row, const struct slope *lat, const char *evidence)
{
	char key[KEY_BYTES];
	const struct arithmetic_row *r = &arithmetic_row[row];
	arithmetic_key(key, r, PART_NATIVE);
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
 * chain takes is a property of the mixture, which the finding names. */
const char *arithmetic_mixture(const struct native_info *n, unsigned links)
{
	if (!n || !n->region_count)
		return NULL;
	const struct native_region *r = &n->region[0];
	return r->total < links + links / 4 && r->top_count < 0.9 * links ? r->mix : NULL;
}

/* Whether the line begins so far below nothing that its longer chains ran slower than shorter ones. Reading the clock
 * takes time, too, though nobody waits for the last instruction of the last link. */
static bool begins_below(const struct slope *t, double ops)
{
	return t->start < -(t->value / fmax(1, ops) + t->unit * (0.5 + t->value / 1000));
}

/* Concludes the latency if only the longest chain is slow, as its code is far. A few links then take the same as those
 * of the two shorter chains, which are many times as many. */
static bool conclude_shorter(struct study *s, const char *key, const struct slope *lat, const struct slope *few,
			     double ops, const char *evidence)
{
	const double tolerance = fmax(0.5, 0.02 * few->value), lo = fmin(few->lo, lat->shorter),
		     hi = fmax(few->hi, lat->shorter);
	if (!few->ok || !(few->lo > 0) || fabs(few->value - lat->shorter) > SAME || lat->value < lat->shorter ||
	    hi - lo > 2 * tolerance || begins_below(few, ops))
		return false;
	study_measured_number(s, key, few->value, lo, hi, "sm", "slope of a dependent chain of a few links, one warp",
			      evidence, "%u to %u links take %.2f cycles each, and more are slower: %.2f to %u",
			      lat->unit, 2 * lat->unit, lat->shorter, 2 * lat->value - lat->shorter,
			      LENGTHS * lat->unit);
	return true;
}

/* few: of shorter chains, where the usual ones are long code; else it is not ok. */
static void conclude_latency(struct study *s, unsigned row, const struct slope *lat, const struct slope *few,
			     const char *evidence)
{
	char key[KEY_BYTES];
	arithmetic_key(key, &arithmetic_row[row], PART_LATENCY);
	const double tolerance = fmax(0.5, 0.02 * lat->value), ops = native_ops(s, row, lat);
	if (!(lat->value > 0) || lat->hi - lat->lo > 2 * tolerance) {
		if (conclude_shorter(s, key, lat, few, ops, evidence))
			return;
		study_verdict(
		    s, key, VERDICT_INCONCLUSIVE, evidence,
		    "time does not grow linearly with the chain: %.2f to %.2f cycles a link over %u to %u links",
		    lat->lo, lat->hi, lat->unit, LENGTHS * lat->unit);
		return;
	}
	if (begins_below(lat, ops)) {
		study_verdict(s, key, VERDICT_INCONCLUSIVE, evidence,
			      "%u links take %.0f cycles less than their share of %u: the longer chain has left the "
			      "instruction cache, or the clock has changed",
			      lat->unit, -lat->start, LENGTHS * lat->unit);
		return;
	}
	/* Code that does not fit the first instruction cache takes proportional time as well if all of it is fetched
	 * each time. The code of a few links is at hand. */
	const bool differ = few->ok && fabs(few->value - lat->value) > SAME;
	const double lo = differ ? fmin(few->lo, lat->lo) : lat->lo, hi = differ ? fmax(few->hi, lat->hi) : lat->hi;
	if (hi - lo > 2 * tolerance) {
		study_between(
		    s, key, few->value, lo, hi, "sm", "slopes of dependent chains of a few and of many links, one warp",
		    evidence,
		    "%.2f cycles a link over %u to %u links, and %.2f over %u to %u: instructions may not be at hand",
		    lat->value, lat->unit, LENGTHS * lat->unit, few->value, few->unit, LENGTHS * few->unit);
		return;
	}
	const struct native_info *n = study_native(s, row, lat->last);
	const char *mix = arithmetic_mixture(n, LENGTHS * lat->unit);
	study_measured_number(
	    s, key, differ ? few->value : lat->value, lo, hi, "sm",
	    differ ? "slope of a dependent chain of a few links, one warp" : "slope of a dependent chain, one warp",
	    evidence, "%s: %s", mix ? "mean of a mixture that the compiler makes" : "native code of the longest chain",
	    n && n->region_count ? n->region[0].mix : "not readable");
}

/* Links of a point whose code is so much shorter. */
static unsigned shorter(const struct load *l)
{
	return l->unit / SHORTER < 2 ? 2 : l->unit / SHORTER;
}

/* What the row will ask for if it is one instruction, or a sequence where operations of its kind mostly are one. */
static void expect(struct study *s, unsigned row)
{
	const struct arithmetic_row *r = &arithmetic_row[row];
	const bool steps = arithmetic_is_function(r);
	struct load load[CONFIGS];
	const unsigned loads = arithmetic_loads(load, study_device(s), r, steps);
	arithmetic_expect(s, row, steps ? LONG_UNIT : SHORT_UNIT, 1, 1);
	for (unsigned i = 0; i < loads; i++)
		arithmetic_expect(s, row, load[i].unit, load[i].warps, load[i].chains);
	/* Of loads that reach as much the first is the best, of which shorter code is asked as well. */
	if (!steps)
		arithmetic_expect(s, row, shorter(&load[0]), load[0].warps, load[0].chains);
}

/* What every operation is asked first. */
struct asked {
	bool there; /* all of it; else there is nothing to conclude, or not yet */
	bool is_long, steps;
	unsigned unit, loads;
	struct load load[CONFIGS + JUST];
	struct slope full[CONFIGS + JUST], lat, few; /* under those loads; of one warp; of its shorter chains */
};

static void ask_row(struct study *s, unsigned row, struct asked *o)
{
	const struct device_info *d = study_device(s);
	const struct arithmetic_row *r = &arithmetic_row[row];
	*o = (struct asked){.there = false};
	if (!arithmetic_supported(d, r->need)) {
		arithmetic_verdicts(s, r, 0, PARTS - 1, VERDICT_UNSUPPORTED, experiments[row].name,
				    "the device does not have this operation");
		return;
	}
	const size_t missing = study_missing(s);
	/* A short chain first tells whether this is one instruction or a long sequence. */
	const double one[POINT_PARAMS] = {1, 1};
	const struct point *pilot = study_ask(s, row, LONG_UNIT, one);
	if (!pilot) {
		expect(s, row);
		return;
	}
	if (pilot->outcome != OUTCOME_OK) {
		arithmetic_verdicts(
		    s, r, 0, PARTS - 1, pilot->outcome == OUTCOME_INVALID ? VERDICT_INCONCLUSIVE : VERDICT_FAILED,
		    experiments[row].name, pilot->message[0] ? pilot->message : outcome_name(pilot->outcome));
		return;
	}
	const struct native_info *n = study_native(s, row, pilot);
	const double cycles = arithmetic_span(pilot, 1) / LONG_UNIT;
	o->is_long = (n && n->region_count && n->region[0].total > 4 * LONG_UNIT) || cycles > 150;
	o->steps = o->is_long || (n && n->region_count && n->region[0].total >= 2 * LONG_UNIT);
	o->unit = o->is_long ? LONG_UNIT : SHORT_UNIT;
	o->loads = arithmetic_loads(o->load, d, r, o->steps);
	o->lat = arithmetic_slope(s, row, o->unit, 1, 1);
	if (o->steps)
		o->few = arithmetic_slope(s, row, o->is_long ? FEW_UNIT : LONG_UNIT, 1, 1);
	for (unsigned i = 0; i < o->loads; i++)
		o->full[i] = arithmetic_slope(s, row, o->load[i].unit, o->load[i].warps, o->load[i].chains);
	o->there = study_missing(s) == missing;
}

/* What a warp issues a cycle of the operation that it is fastest with, of those that have been asked by now. */
static double fastest_warp(const struct asked *row, unsigned count)
{
	double most = 0;
	for (unsigned i = 0; i < count; i++)
		for (unsigned k = 0; k < row[i].loads && row[i].there && !row[i].steps; k++)
			if (row[i].full[k].ok && row[i].full[k].value > 0)
				most = fmax(most, row[i].load[k].chains / row[i].full[k].value);
	return most;
}

/* Of an operation that is a sequence. */
static unsigned steady_links(const struct asked *o)
{
	return o->is_long ? 2 : 8;
}

static struct arithmetic_steady steady_rate(struct study *s, unsigned row, const struct asked *o, bool more)
{
	return o->steps ? arithmetic_steady(s, row, steady_links(o), more)
			: arithmetic_steady_one(s, row, arithmetic_is_single(&arithmetic_row[row]) ? 1 : 2, more);
}

/* The load of the best blocks is `best`, or -1. If `uneven`, warps end apart under some load. If `open`, blocks do not
 * decide, so that it is worthwhile to ask for more. */
static struct arithmetic_steady steady_of(struct study *s, unsigned row, const struct asked *o, int best, bool uneven,
					  bool open)
{
	const struct device_info *d = study_device(s);
	const size_t missing = study_missing(s);
	struct arithmetic_steady rate = {0};
	/* What blocks leave open few rounds mostly leave open, too. */
	if (open)
		rate = steady_rate(s, row, o, true);
	if (study_missing(s) > missing)
		return rate;
	if (uneven && !(rate.lo > 0))
		rate = steady_rate(s, row, o, false);
	if (best < 0)
		return rate;
	if (!open && arithmetic_steady_is_wide(&rate, &o->full[best], &o->load[best], d)) {
		const struct arithmetic_steady more = steady_rate(s, row, o, true);
		rate = more.hi > 0 ? more : rate;
	}
	if (o->steps && arithmetic_steady_is_more(&rate, &o->full[best], &o->load[best], d))
		rate = arithmetic_steady_longer(s, row, steady_links(o), &rate);
	return rate;
}

/* Asks for single chains of just as many warps as fill the unit by their latency. A warp may wait for turns that are
 * out of step with the unit. Loads that always want to issue then all lose the same part of the unit's time. Just
 * enough warps come at other moments. Those that are faster join the loads. */
static void ask_just(struct study *s, unsigned row, struct asked *o, int best, double fastest)
{
	const struct device_info *d = study_device(s);
	if (best < 0 || o->steps || !(fastest > 0) || fastest >= EACH_CYCLE || !(o->lat.value > 0))
		return;
	const struct load like = o->load[best];
	const double most = like.warps * like.chains / o->full[best].value; /* chains' links a cycle */
	const unsigned least = (unsigned)ceil(most * o->lat.value);
	for (unsigned w = least; w < least + JUST && w <= d->max_threads_per_block / d->warp_size; w++) {
		const struct slope t = arithmetic_slope(s, row, o->unit, w, 1);
		if (!t.ok || !(t.lo > 0) || w <= JUST_GAINS * most * t.hi)
			continue;
		o->load[o->loads] = (struct load){.unit = o->unit, .warps = w, .chains = 1};
		o->full[o->loads++] = t;
	}
}

static void conclude_row(struct study *s, unsigned row, struct asked *o, double fastest)
{
	const struct device_info *d = study_device(s);
	const struct arithmetic_row *r = &arithmetic_row[row];
	const struct slope *full = o->full;
	const struct load *load = o->load;
	const bool steps = o->steps;
	const size_t missing = study_missing(s);
	ask_just(s, row, o, arithmetic_best(full, load, o->loads, d), fastest);
	/* An operation of one instruction mostly fills its unit by a few warps of several chains, which the loads above have. */
	const int best = arithmetic_best(full, load, o->loads, d);
	const struct slope few_full =
	    best < 0 ? (struct slope){0}
		     : arithmetic_slope(s, row, shorter(&load[best]), load[best].warps, load[best].chains);
	const double ops = !steps ? 1 : o->lat.ok ? native_read(s, row, &o->lat) : 0;
	struct rates rates = {.slope = full,
			      .load = load,
			      .count = o->loads,
			      .is_long = o->is_long,
			      .single = steps ? NULL : &o->lat,
			      .few = &few_full,
			      .fastest = ops > 0 ? fastest / ops : 0};
	/* Of a mixture no more is asked. */
	bool uneven =
	    !steps && best >= 0 &&
	    !arithmetic_mixture(study_native(s, row, full[best].last), LENGTHS * load[best].unit * load[best].chains) &&
	    !arithmetic_blocks_tell(&rates, (unsigned)best, &o->lat, true, d);
	for (unsigned i = 0; i < o->loads && steps; i++)
		uneven |= full[i].ok && arithmetic_evenness(full[i].last, load[i].warps, ARITHMETIC_ROUNDS) < UNEVEN;
	/* Chains that end while all warps run may tell what blocks leave open, however even those ends are. */
	const bool open = study_missing(s) == missing && !arithmetic_blocks_decide(s, row, &rates);
	struct arithmetic_steady rate = {0};
	if (uneven || open)
		rate = steady_of(s, row, o, best, uneven, open);
	if (study_missing(s) > missing)
		return;
	char evidence[64];
	snprintf(evidence, sizeof evidence, "%s:%u", experiments[row].name, o->unit * LENGTHS);
	if (o->lat.ok) {
		conclude_latency(s, row, &o->lat, &o->few, evidence);
		conclude_native(s, row, &o->lat, evidence);
	} else {
		const char *why = o->lat.bad ? o->lat.bad->message : "points are missing";
		const enum verdict v =
		    o->lat.bad && o->lat.bad->outcome == OUTCOME_CRASH ? VERDICT_FAILED : VERDICT_INCONCLUSIVE;
		arithmetic_verdicts(s, r, PART_LATENCY, PART_LATENCY, v, evidence, why);
		arithmetic_verdicts(s, r, PART_NATIVE, PART_NATIVE, v, evidence, why);
	}
	if (!steps)
		arithmetic_conclude_block(s, row);
	rates.steady = uneven || rate.hi > 0 ? &rate : NULL;
	arithmetic_conclude_rates(s, row, &rates);
}

static void study_arithmetic(struct study *s)
{
	struct asked row[ARITHMETIC_COUNT];
	for (unsigned i = 0; i < ARITHMETIC_COUNT; i++)
		ask_row(s, i, &row[i]);
	const double fastest = fastest_warp(row, ARITHMETIC_COUNT);
	for (unsigned i = 0; i < ARITHMETIC_COUNT; i++)
		if (row[i].there)
			conclude_row(s, i, &row[i], fastest);
}

static const char *const claims[] = {"arith.*.latency",	   "arith.*.throughput", "arith.*.issue",
				     "arith.*.native_ops", "arith.*.block_rate", NULL};

const struct probe probe_arithmetic = {
    .name = "arithmetic",
    .quick = true,
    .asks =
	"How long does each arithmetic operation take, how many run at once, and how many native instructions is it?",
    .source =
	"Wong 2010, IV-B, Tables III and IV; here slopes over three chain lengths, and the compiled code is counted",
    .how = "A chain of operations, each of which needs the result of the last, stands between two clock reads. "
	   "Three lengths of it give two slopes, so that what reading the clock costs cancels. One warp gives "
	   "the latency. Five loads of warps and independent chains give the throughput and the time between "
	   "two warp instructions. How many native instructions one operation is, is counted in the compiled "
	   "code.",
    .fooled = "A compiler that folds the chain, or makes another instruction of it: the native code between the "
	      "clock reads is counted, and a point that holds something else is INVALID. A chain that leaves the "
	      "instruction cache, or a clock that changes: the two slopes differ, and nothing is concluded. A load "
	      "that does not fill the unit: only a rate that two loads reach is called the unit's, else it is an "
	      "estimate or a bound. A compiler that makes several instructions of one operation in turn: what they "
	      "take together is told, and which they are. A scheduler that prefers some warps, so that the last "
	      "ones run alone: the ends of chains are counted while most of the work is still to be done. That is "
	      "so for operations of several steps, for units that no few warps fill, and when no two loads agree.",
    .claims = claims,
    .experiments = experiments,
    .experiment_count = ARITHMETIC_COUNT,
    .study = study_arithmetic,
};
