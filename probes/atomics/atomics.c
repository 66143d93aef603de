/* What atomics cost: one after the other, many on one address, on other words of a line, in global and in shared memory. */
#include "atomics_rows.h"
#include "probe/probe.h"
#include "stat/stat.h"
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { EXPERIMENT_CHAIN, EXPERIMENT_RATE };
enum where { WHERE_GLOBAL, WHERE_SHARED, WHERE_CTA, WHERE_SYS };
enum pattern { PATTERN_SAME, PATTERN_LINE, PATTERN_ONE };
enum {
	HEAD = 2,
	SHORT = 2,
	LONG = 10,
	REPEATS = 9,
	LINES = 32,	   /* of global memory, whose distances are laid beside each other */
	LINE_APART = 4224, /* bytes: 33 lines of 128 */
	FEW = 20,	   /* atomics of each warp, more than wait for their turn at once: both lengths end alike */
	MANY = 40,
	FEW_ONE = 24, /* of warps of which one thread asks */
	MANY_ONE = 72,
	WARPS = 4,	    /* of a block */
	BLOCKS = 8,	    /* that ask at once, at most */
	RATE_BYTES = 32 * 8 /* words of a line */
};
/* Cycles that an atomic of two equal chains differs by, from launch to launch: three runs of an H200. */
#define CHAINS_APART 1
#define SWING	     0.5   /* cycles: what a faster clock may change without a word */
#define AGREES	     0.005 /* of a latency: that usual launches may be off */
#define SAME_RATE    0.1   /* of half as many SMs: then it is not they that are the limit */
#define ENDS	     0.03  /* of a rate: launches of two lengths do not end alike */
#define SPREAD	     0.1   /* of a rate, at most */
#define APART	     10.0  /* cycles between near and far */
#define CLASS_LEAST  3	   /* lines of a class */

/* x: the row; p: atomics in the chain, threads, where, which line. */
static int setup_chain(const struct study *s, double x, const double *p, struct job *j)
{
	const struct device_info *d = study_device(s);
	const struct atomic_row *row = &atomic_rows[(unsigned)x];
	const enum where where = (enum where)p[2];
	static const char *const prefix[] = {"atom.global.", "atom.shared.", "atom.cta.global.", "atom.sys.global."};
	char op[48];
	snprintf(op, sizeof op, "%s%s", prefix[where], row->op);
	j->template_path = "probes/atomics/chain.ptx";
	job_param_text(j, "DO", op);
	job_param_text(j, "WORD", row->word);
	job_param_text(j, "LOAD", row->word);
	job_param(j, "LINKS", (long long)p[0]);
	job_param(j, "LANES", (long long)p[1]);
	job_param(j, "CAS", row->cas);
	job_param(j, "SHARED", where == WHERE_SHARED);
	snprintf(j->launch.entry, sizeof j->launch.entry, "chain");
	j->launch.block[0] = d->warp_size;
	j->launch.block[1] = j->launch.block[2] = 1;
	job_output(j, HEAD + 4);
	job_pin(j, d, 0);
	struct launch_buffer *b = &j->launch.buffers[j->launch.buffer_count];
	*b = (struct launch_buffer){.space = BUFFER_GLOBAL, .bytes = LINES * LINE_APART, .align = 4096};
	job_arg_buffer(j, j->launch.buffer_count++, 0);
	j->launch.args[j->launch.arg_count++] =
	    (struct launch_arg){.kind = ARG_U64, .bits = (uint64_t)p[3] * LINE_APART};
	job_arg_u32(j, 0);
	j->launch.repeats = REPEATS;
	j->launch.warmups = 1;
	j->check.cls = NATIVE_ATOMIC;
	j->check.region = 0;
	j->check.min = j->check.max = (unsigned)p[0];
	j->check.others =
	    8 + (row->cas ? 2 * (unsigned)p[0] * row->bytes / 4 : 0); /* a pair of operands lies side by side */
	return 0;
}

/* x: the row; p: atomics of each warp, the pattern, whether results are needed, blocks. */
static int setup_rate(const struct study *s, double x, const double *p, struct job *j)
{
	const struct device_info *d = study_device(s);
	const struct atomic_row *row = &atomic_rows[(unsigned)x];
	char op[48];
	snprintf(op, sizeof op, "global.%s", row->op);
	j->template_path = "probes/atomics/rate.ptx";
	job_param_text(j, "DO", op);
	job_param_text(j, "WORD", row->word);
	job_param_text(j, "LOAD", row->word);
	job_param(j, "BITS", 8 * row->bytes);
	job_param(j, "STEP", row->bytes);
	job_param(j, "COUNT", (long long)p[0]);
	job_param(j, "PATTERN", (long long)p[1]);
	job_param(j, "RETURNS", (long long)p[2]);
	job_param(j, "CAS", row->cas);
	snprintf(j->launch.entry, sizeof j->launch.entry, "rate");
	j->launch.grid[0] = (uint32_t)p[3];
	j->launch.block[0] = WARPS * d->warp_size;
	j->launch.grid[1] = j->launch.grid[2] = j->launch.block[1] = j->launch.block[2] = 1;
	job_output(j, 2 * WARPS * (uint32_t)p[3]);
	struct launch_buffer *b = &j->launch.buffers[j->launch.buffer_count];
	*b = (struct launch_buffer){.space = BUFFER_GLOBAL, .bytes = RATE_BYTES, .align = 4096};
	job_arg_buffer(j, j->launch.buffer_count++, 0);
	job_arg_u32(j, 0);
	j->launch.repeats = REPEATS;
	j->launch.warmups = 1;
	j->check.cls = NATIVE_ATOMIC;
	j->check.region = 0;
	j->check.min = j->check.max = (unsigned)p[0] + 1;
	j->check.others = 4 * (unsigned)p[0] + 16;
	return 0;
}

static const struct experiment experiments[] = {
    [EXPERIMENT_CHAIN] = {.name = "chain",
			  .axis = "operation",
			  .unit = "number",
			  .params = {"atomics", "threads", "where", "line"},
			  .setup = setup_chain},
    [EXPERIMENT_RATE] = {.name = "rate",
			 .axis = "operation",
			 .unit = "number",
			 .params = {"atomics", "pattern", "returns", "blocks"},
			 .setup = setup_rate},
};

static bool runs(const struct study *s, const struct atomic_row *row, enum where where)
{
	const int cc = study_device(s)->cc, least = where == WHERE_GLOBAL   ? row->cc
						    : where == WHERE_SHARED ? ATOMICS_SHARED_CC
									    : ATOMICS_SCOPES_CC;
	return cc >= least && cc >= row->cc;
}

/* ---- chains ---- */

static const struct point *chain(struct study *s, unsigned row, unsigned links, unsigned threads, enum where where,
				 unsigned line)
{
	const double p[POINT_PARAMS] = {links, threads, where, line};
	return study_ask(s, EXPERIMENT_CHAIN, row, p);
}

struct range {
	double value, lo, hi;
	const char *why; /* not NULL: there is none */
	bool vague;	 /* disturbed launches say something else */
};

static struct range ticks(const struct point *pt)
{
	struct range r = {.value = NAN, .lo = INFINITY, .hi = -INFINITY};
	double each[REPEATS], scratch[REPEATS];
	if (!pt || pt->outcome != OUTCOME_OK) {
		r.why = point_why(pt);
		return r;
	}
	for (unsigned i = 0; i < REPEATS; i++) {
		const uint32_t *y = pt->y + (size_t)i * pt->words_per_repeat + HEAD;
		each[i] = (uint32_t)(y[1] - y[0]);
		if (y[2]) {
			r.why = "a result was not the word that had to be there";
			return r;
		}
		r.lo = fmin(r.lo, each[i]);
		r.hi = fmax(r.hi, each[i]);
	}
	r.value = stat_median(each, REPEATS, scratch);
	return r;
}

/* Widens r for a faster clock, by which everything beyond the SM takes longer. All launches of one length may have met
 * it, those of the longer chains or of the shorter ones. */
static void may_be_faster(const struct study *s, struct range *r)
{
	const double swing = study_swing(s) * r->value, links = LONG - SHORT;
	if (!(swing > SWING))
		return;
	r->vague = true;
	r->lo -= swing * LONG / links;
	r->hi += swing * SHORT / links;
}

/* Of one atomic, from two lengths. Whatever disturbs a launch makes it longer, so the shortest ones count; where half of all launches say
 * something else, the number is only likely. */
static struct range link_of(const struct point *few, const struct point *many)
{
	const struct range a = ticks(few), b = ticks(many);
	struct range r = {.why = a.why ? a.why : b.why};
	const double links = LONG - SHORT;
	if (r.why)
		return r;
	const double usual = (b.value - a.value) / links;
	r.value = (b.lo - a.lo) / links;
	r.lo = r.value - 1 / links;
	r.hi = r.value + 1 / links;
	r.vague = fabs(usual - r.value) > AGREES * r.value;
	if (!(r.value > 0))
		r.why = "more atomics take no longer";
	return r;
}

static struct range asked_link(struct study *s, unsigned row, unsigned threads, enum where where)
{
	const struct point *few = chain(s, row, SHORT, threads, where, 0),
			   *many = chain(s, row, LONG, threads, where, 0);
	if (study_pending(s))
		return (struct range){.why = "it was not measured"};
	struct range r = link_of(few, many);
	if (where != WHERE_SHARED)
		may_be_faster(s, &r);
	return r;
}

static void conclude_link(struct study *s, const char *key, const struct range *r, const char *method, const char *what)
{
	if (r->why)
		study_verdict(s, key, VERDICT_INCONCLUSIVE, "chain", "%s", r->why);
	else if (r->vague)
		study_likely_number(s, key, r->value, r->lo, r->hi, "sm", method, "chain",
				    "%s; launches take longer, or may have met another clock", what);
	else
		study_measured_number(s, key, r->value, r->lo, r->hi, "sm", method, "chain", "%s", what);
}

static const char chained[] = "slope over 2 and 10 atomics, each with the last one's result",
		  moved[] =
		      "slope over 2 and 10 atomics of one word, taken to the mean over lines by that of additions";

/* ---- near and far lines ---- */

static void sort(double *v, unsigned n)
{
	for (unsigned i = 1; i < n; i++)
		for (unsigned k = i; k && v[k - 1] > v[k]; k--) {
			const double w = v[k];
			v[k] = v[k - 1];
			v[k - 1] = w;
		}
}

static double mean(const double *v, unsigned n)
{
	double sum = 0;
	for (unsigned i = 0; i < n; i++)
		sum += v[i];
	return sum / n;
}

/* How far the mean over these lines may be from that over all. That is three standard errors, and what a step of the
 * clock adds to a chain. */
static double mean_off(const double *v, unsigned n)
{
	const double m = mean(v, n);
	double squares = 0;
	for (unsigned i = 0; i < n; i++)
		squares += (v[i] - m) * (v[i] - m);
	return 1.0 / LONG + 3 * sqrt(squares) / n;
}

/* Of the first class. */
static void bound_classes(const struct study *s, struct finding *f, double off)
{
	const double is = f->value.array[0];
	struct range r = {.value = is, .lo = is - off, .hi = is + off};
	may_be_faster(s, &r);
	f->verdict = r.vague ? VERDICT_LIKELY : VERDICT_MEASURED;
	f->lo = r.lo;
	f->hi = r.hi;
}

static void conclude_classes(struct study *s, const double *line)
{
	static const char key[] = "atomic.add.latency_classes",
			  method[] = "chains of atomics on 32 lines, laid beside each other";
	double gap = 0, off;
	unsigned at = 0;
	for (unsigned k = 1; k < LINES; k++)
		if (line[k] - line[k - 1] > gap) {
			gap = line[k] - line[k - 1];
			at = k;
		}
	const double near = at ? line[at - 1] - line[0] : 0, far = line[LINES - 1] - line[at];
	struct finding f = study_measured(key, 0, NAN, NAN, method);
	f.value.kind = VALUE_ARRAY;
	snprintf(f.evidence[0], sizeof f.evidence[0], "chain");
	f.evidence_count = 1;
	/* A faster clock, which only some of the launches met, looks like far lines. */
	if (line[LINES - 1] - line[0] > APART && gap <= study_swing(s) * line[LINES - 1]) {
		study_verdict(s, key, VERDICT_INCONCLUSIVE, "chain",
			      "%u lines take %.1f to %.1f cycles: some may have met a faster clock", (unsigned)LINES,
			      line[0], line[LINES - 1]);
	} else if (gap > APART && at >= CLASS_LEAST && LINES - at >= CLASS_LEAST && gap > fmax(near, far)) {
		f.value.array_count = 2;
		f.value.array[0] = mean(line, at);
		f.value.array[1] = mean(line + at, LINES - at);
		off = fmax(mean_off(line, at), mean_off(line + at, LINES - at));
		bound_classes(s, &f, off);
		snprintf(f.because, sizeof f.because,
			 "%u of %u lines take %.1f to %.1f cycles, the others %.1f to %.1f", at, (unsigned)LINES,
			 line[0], line[at - 1], line[at], line[LINES - 1]);
		study_conclude(s, &f);
	} else if (line[LINES - 1] - line[0] <= APART) {
		f.value.array_count = 1;
		f.value.array[0] = mean(line, LINES);
		bound_classes(s, &f, mean_off(line, LINES));
		snprintf(f.because, sizeof f.because, "all of %u lines take %.1f to %.1f cycles", (unsigned)LINES,
			 line[0], line[LINES - 1]);
		study_conclude(s, &f);
	} else {
		study_verdict(s, key, VERDICT_INCONCLUSIVE, "chain",
			      "%u lines take %.1f to %.1f cycles, without a clear gap", (unsigned)LINES, line[0],
			      line[LINES - 1]);
	}
}

/* Of 32 lines. */
struct lines {
	double line[LINES]; /* ascending */
	double mean, off;   /* how far off the mean of all lines may be */
	double first;	    /* of the line that other chains take */
	bool alike;	    /* for all that is known: a faster clock may make as much of them */
	bool vague;
	const char *why; /* not NULL: there is none */
};

static bool ask_lines(struct study *s, struct lines *l)
{
	const struct point *few = chain(s, ATOMIC_ADD, SHORT, 1, WHERE_GLOBAL, 0), *pt[LINES];
	for (unsigned k = 0; k < LINES; k++)
		pt[k] = chain(s, ATOMIC_ADD, LONG, 1, WHERE_GLOBAL, k);
	if (study_pending(s))
		return false;
	const struct range own = link_of(few, pt[0]);
	*l = (struct lines){.first = own.value, .why = own.why, .vague = own.vague};
	const double before = own.why ? 0 : ticks(few).lo - SHORT * own.value;
	for (unsigned k = 0; k < LINES && !l->why; k++) {
		const struct range r = ticks(pt[k]);
		l->why = r.why;
		l->line[k] = (r.lo - before) / LONG;
		l->vague |= r.value - r.lo > AGREES * r.lo;
	}
	if (l->why)
		return true;
	sort(l->line, LINES);
	l->mean = mean(l->line, LINES);
	l->off = mean_off(l->line, LINES);
	l->alike = l->line[LINES - 1] - l->line[0] <= study_swing(s) * l->line[LINES - 1];
	return true;
}

static void study_lines(struct study *s, const struct lines *l)
{
	struct range r = {
	    .value = l->mean, .lo = l->mean - l->off, .hi = l->mean + l->off, .why = l->why, .vague = l->vague};
	may_be_faster(s, &r);
	char what[96];
	snprintf(what, sizeof what, "one thread; lines take %.1f to %.1f cycles", l->line[0], l->line[LINES - 1]);
	conclude_link(s, "atomic.add.latency", &r, "chains of atomics on 32 lines of global memory, their mean", what);
	if (l->why)
		study_verdict(s, "atomic.add.latency_classes", VERDICT_INCONCLUSIVE, "chain", "%s", l->why);
	else
		conclude_classes(s, l->line);
}

/* Of the word that chains take, moved to the mean over lines. */
static struct range over_lines(struct range r, const struct lines *l)
{
	if (r.why || l->why) {
		r.why = r.why ? r.why : l->why;
		return r;
	}
	const double more = l->mean - l->first;
	r.value += l->alike ? 0 : more;
	r.lo += (l->alike ? fmin(0, more) : more) - l->off;
	r.hi += (l->alike ? fmax(0, more) : more) + l->off;
	return r;
}

static void study_latencies(struct study *s, const struct lines *l)
{
	for (unsigned k = 0; k < ATOMIC_ROWS; k++) {
		char key[64];
		const struct atomic_row *row = &atomic_rows[k];
		snprintf(key, sizeof key, "atomic.%s.latency", row->name);
		if (!runs(s, row, WHERE_GLOBAL)) {
			study_verdict(s, key, VERDICT_UNSUPPORTED, "chain", "the device has no such atomics");
			continue;
		}
		if (k == ATOMIC_ADD)
			continue;
		const struct range own = asked_link(s, k, 1, WHERE_GLOBAL), r = over_lines(own, l);
		conclude_link(s, key, &r, moved, "one thread, one word of global memory");
	}
}

/* What each further thread of a warp on the same word costs. */
static void study_threads(struct study *s, const char *key, enum where where)
{
	const unsigned threads = study_device(s)->warp_size < 32 ? study_device(s)->warp_size : 32;
	const struct range one = asked_link(s, ATOMIC_ADD, 1, where), all = asked_link(s, ATOMIC_ADD, threads, where);
	struct range r = {.why = one.why ? one.why : all.why};
	if (study_pending(s))
		return;
	const double more = threads - 1;
	r.value = (all.value - one.value) / more;
	r.lo = fmax(0, (all.lo - one.hi - CHAINS_APART) / more);
	r.hi = (all.hi - one.lo + CHAINS_APART) / more;
	r.vague = one.vague || all.vague;
	if (!r.why && r.value < 0)
		r.value = r.lo = 0;
	conclude_link(s, key, &r, "chains of one thread and of 32 on one word", "threads of one warp on one word");
}

static void study_places(struct study *s, const struct lines *l)
{
	const struct {
		const char *key;
		enum where where;
	} place[] = {{"atomic.shared.latency", WHERE_SHARED},
		     {"atomic.add_cta.latency", WHERE_CTA},
		     {"atomic.add_sys.latency", WHERE_SYS}};
	for (unsigned k = 0; k < sizeof place / sizeof *place; k++) {
		if (!runs(s, &atomic_rows[ATOMIC_ADD], place[k].where)) {
			study_verdict(s, place[k].key, VERDICT_UNSUPPORTED, "chain", "the device has no such atomics");
			continue;
		}
		struct range r = asked_link(s, ATOMIC_ADD, 1, place[k].where);
		const bool shared = place[k].where == WHERE_SHARED;
		r = shared ? r : over_lines(r, l);
		if (!study_pending(s))
			conclude_link(s, place[k].key, &r, shared ? chained : moved,
				      shared ? "one thread, one word of shared memory"
					     : "one thread, one word of global memory, with this scope");
	}
	if (runs(s, &atomic_rows[ATOMIC_ADD], WHERE_SHARED))
		study_threads(s, "atomic.shared.same_address", WHERE_SHARED);
	else
		study_verdict(s, "atomic.shared.same_address", VERDICT_UNSUPPORTED, "chain",
			      "the device has no such atomics");
	study_threads(s, "atomic.add.lanes", WHERE_GLOBAL);
}

/* ---- rates ---- */

static const struct point *rate(struct study *s, unsigned row, unsigned count, enum pattern pattern, bool returns,
				unsigned blocks)
{
	const double p[POINT_PARAMS] = {count, pattern, returns, blocks};
	return study_ask(s, EXPERIMENT_RATE, row, p);
}

static unsigned few_of(enum pattern pattern)
{
	return pattern == PATTERN_ONE ? FEW_ONE : FEW;
}

static unsigned most_of(enum pattern pattern)
{
	return pattern == PATTERN_ONE ? MANY_ONE : MANY;
}

/* From the first warp's begin to the last one's end, of the block that took longest. */
static struct range span(const struct point *pt)
{
	struct range r = {.value = NAN, .lo = INFINITY, .hi = -INFINITY};
	double each[REPEATS], scratch[REPEATS];
	if (!pt || pt->outcome != OUTCOME_OK) {
		r.why = point_why(pt);
		return r;
	}
	for (unsigned i = 0; i < REPEATS; i++) {
		const uint32_t *y = pt->y + (size_t)i * pt->words_per_repeat;
		each[i] = 0;
		for (uint32_t b = 0; b < pt->words_per_repeat; b += 2 * WARPS) {
			int32_t first = 0, last = 0;
			for (unsigned w = 0; w < WARPS; w++) {
				const int32_t begin = (int32_t)(y[b + 2 * w] - y[b]),
					      end = (int32_t)(y[b + 2 * w + 1] - y[b]);
				first = begin < first ? begin : first;
				last = end > last ? end : last;
			}
			each[i] = fmax(each[i], last - first);
		}
		r.lo = fmin(r.lo, each[i]);
		r.hi = fmax(r.hi, each[i]);
	}
	r.value = stat_median(each, REPEATS, scratch);
	return r;
}

/* Cycles between two threads' atomics. */
static struct range interval(const struct study *s, const struct point *few, const struct point *many,
			     enum pattern pattern, unsigned blocks)
{
	const struct range a = span(few), b = span(many);
	struct range r = {.why = a.why ? a.why : b.why};
	const double threads = pattern == PATTERN_ONE ? 1 : study_device(s)->warp_size,
		     all = threads * WARPS * blocks * (most_of(pattern) - few_of(pattern));
	r.value = (b.value - a.value) / all;
	r.lo = (b.lo - a.hi) / all;
	r.hi = (b.hi - a.lo) / all;
	return r;
}

static void study_rate(struct study *s, unsigned row, enum pattern pattern, bool returns, const char *key,
		       const char *what)
{
	static const char method[] = "slope over two numbers of atomics a warp, of many SMs at once";
	const unsigned sms = study_device(s)->sm_count, blocks = sms < BLOCKS ? sms : BLOCKS, half = blocks / 2;
	const struct point *pt[4] = {rate(s, row, few_of(pattern), pattern, returns, blocks),
				     rate(s, row, most_of(pattern), pattern, returns, blocks),
				     half ? rate(s, row, few_of(pattern), pattern, returns, half) : NULL,
				     half ? rate(s, row, most_of(pattern), pattern, returns, half) : NULL};
	if (study_pending(s))
		return;
	const struct range all = interval(s, pt[0], pt[1], pattern, blocks);
	if (all.why) {
		study_verdict(s, key, VERDICT_INCONCLUSIVE, "rate", "%s", all.why);
		return;
	}
	if (!(all.lo > 0) || all.hi - all.lo > SPREAD * all.value + 0.01) {
		study_between(s, key, all.value, all.lo, all.hi, "card", method, "rate",
			      "from %.3f to %.3f cycles a thread", all.lo, all.hi);
		return;
	}
	const struct range few = half ? interval(s, pt[2], pt[3], pattern, half) : (struct range){.why = "one SM"};
	const double swing = study_swing(s), lo = fmin(all.lo, few.value) * (1 - ENDS - swing),
		     hi = fmax(all.hi, few.value) * (1 + ENDS);
	if (few.why || fabs(few.value - all.value) > SAME_RATE * all.value)
		study_bound(s, key, -INFINITY, hi, method, "rate",
			    "%s: %u SMs get %.3f cycles, half as many %.3f: they may be the limit", what, blocks,
			    all.value, few.why ? NAN : few.value);
	else if (swing * all.value > SWING)
		study_likely_number(s, key, all.value, lo, hi, "card", method, "rate",
				    "%s: %u SMs, and half as many are no slower; the clock may have been a faster one",
				    what, blocks);
	else
		study_measured_number(s, key, all.value, lo, hi, "card", method, "rate",
				      "%s: %u SMs, and half as many are no slower", what, blocks);
}

static void study_rates(struct study *s)
{
	static const char same[] = "all threads on one word";
	char key[64];
	for (unsigned k = 0; k < ATOMIC_ROWS; k++) {
		if (!atomic_rows[k].rated)
			continue;
		snprintf(key, sizeof key, "atomic.%s.same_address", atomic_rows[k].name);
		study_rate(s, k, PATTERN_SAME, true, key, same);
		snprintf(key, sizeof key, "atomic.%s.distinct", atomic_rows[k].name);
		study_rate(s, k, PATTERN_ONE, true, key, "one thread of each warp, on words of one line");
	}
	study_rate(s, ATOMIC_ADD, PATTERN_LINE, true, "atomic.add.line", "each warp on the words of one line");
	study_rate(s, ATOMIC_ADD, PATTERN_SAME, false, "atomic.add.unused",
		   "all threads on one word, and nobody needs a result");
}

static void study_atomics(struct study *s)
{
	struct lines l = {.why = "it was not measured"};
	if (runs(s, &atomic_rows[ATOMIC_ADD], WHERE_GLOBAL))
		ask_lines(s, &l);
	study_latencies(s, &l);
	if (!runs(s, &atomic_rows[ATOMIC_ADD], WHERE_GLOBAL)) {
		study_verdict(s, "atomic.add.same_address", VERDICT_UNSUPPORTED, "rate", "the device has no atomics");
		return;
	}
	study_lines(s, &l);
	study_places(s, &l);
	study_rates(s);
}

static const char *const claims[] = {"atomic.*", NULL}, *const helped[] = {"clock", NULL};

const struct probe probe_atomics = {
    .name = "atomics",
    .asks = "What does an atomic cost, alone, on an address that many want, on other words of a line, and in shared "
	    "memory?",
    .source = "Nickolls and Kirk, B.5 (atomic operations at the memory); which operations there are: CUDA C "
	      "Programming Guide",
    .how = "Chains of atomics, each of which needs the last one's result, give latencies: of each operation, type, "
	   "memory and scope. "
	   "Chains on 32 lines show near and far homes. Warps of several SMs, none of which waits for a result, give "
	   "what passes between two "
	   "threads' atomics. They take one word, other words of its line, or one word whose results nobody needs.",
    .fooled = "SMs that send too little: half as many have to be as fast together, or the number is only a bound. "
	      "Atomics that a compiler "
	      "puts together or whose results it drops: the native code is counted, and every result is used but where "
	      "it must not be. "
	      "Blocks that begin later than others: two lengths are laid beside each other.",
    .helped = helped,
    .claims = claims,
    .experiments = experiments,
    .experiment_count = sizeof experiments / sizeof *experiments,
    .study = study_atomics,
};
