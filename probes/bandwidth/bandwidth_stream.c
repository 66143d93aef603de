/* What is drawn in streams: bytes of two launches that differ in length alone, over what their cycles differ by. */
#include "bandwidth.h"
#include "base/arena.h"
#include "stat/stat.h"
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { UNROLL = 2, BYTES = 16, SHARED_LOADS = 32, TRIALS = 2, ROUNDS_MAX = 64, SHARED_ROUNDS = 32 };
enum { PLACES = 5 }; /* where two differ */
/* No warp of a launch of one round waits for a load before the next. A second round's time is then not what each round
 * takes, although the whole launch may take just twice as long. */
enum { ROUNDS_ALIKE = 2 };
enum { FEWEST = 128 };	      /* threads of a block, of which half are asked yet */
enum { ROUNDS_TOGETHER = 4 }; /* warps that are still apart in launches that long will not be together in longer ones */
enum { SHARED_LONG = STREAM_FOOTPRINT }; /* blocks and threads are where a stream has them */
/* A launch is at least this many times as long as the latency of what it reads. */
#define STRETCH 16
/* Repeats this far apart ask for longer launches, and so far apart they say nothing. */
#define CLOSE 1.01
#define APART 1.1
/* Half of the threads that reach this much of the rate of all show that more of them would not reach more. */
#define SATURATED 0.95
/* So many times what all draw, by half of the threads, shows that all of them are too many. */
#define CROWDED 1.03
/* One SM alone draws so much more than its share of what all draw: it is not what holds them up. */
#define CLEARLY 1.1
/* Two places on the way are so far apart when the slower one is not held up by the other. */
#define FAR_APART 1.5
/* The part of what the L2 holds that is read again and again beside a stream. For each byte of it the stream brings two. */
#define BESIDE_PART 8
/* Half of the threads being enough, all is as busy as can be until half of the warps have come to their end. The rest, in which less may be drawn, may
 * be this long: the value is too small by as much at the worst. */
#define TOGETHER 1.05
/* The same of a whole launch, of which the half that is first may have been preferred from the beginning. */
#define TOGETHER_WHOLE 1.2
/* Of the longer launch, what cancels in the difference: beginnings and ends that take more may not be alike in both lengths. */
#define ENDS	  0.15
#define ENDS_LONG 0.04 /* with more of them longer launches are asked for */
#define ENDS_HALF 0.3  /* of half of the threads, which only have to be about as fast */
/* Instructions beside each load: as if the SM had so much less time for it. */
#define MORE 4
/* A level that gives so much less than the one behind it is not what holds an SM up. */
#define NEARER 0.99

/* Of a thread, before it waits for them. */
static unsigned loads_of(const double *p)
{
	return (p[STREAM_LEVEL] == LEVEL_L1 ? 1 : UNROLL) * (p[STREAM_TWICE] > 0 ? 2 : 1);
}

uint64_t bandwidth_piece(const double *p)
{
	return (uint64_t)p[STREAM_THREADS] * BYTES * loads_of(p);
}

/* Of a block: those of all kernels here, and one of each warp. */
static uint32_t words_of(const struct device_info *d, double threads)
{
	return BANDWIDTH_WORDS + ((uint32_t)threads + d->warp_size - 1) / d->warp_size;
}

/* x: rounds. Footprint 0: every piece is read once, in a place that no other launch has read. Other places of what is read again and again lie
 * in other parts of a cache, of which some may be nearer than others. */
int bandwidth_stream_setup(const struct study *s, double x, const double *p, struct job *j)
{
	const struct device_info *d = study_device(s);
	const bool once = p[STREAM_FOOTPRINT] == 0;
	const uint64_t piece = bandwidth_piece(p), blocks = (uint64_t)p[STREAM_BLOCKS],
		       beside = (uint64_t)p[STREAM_BESIDE],
		       all = once ? piece * blocks * (uint64_t)x : (uint64_t)p[STREAM_FOOTPRINT],
		       begin = (uint64_t)p[STREAM_PLACE] * all;
	/* A piece that is larger than what is read again and again would lead out of it. */
	if (begin + all > d->memory_bytes / 2 || all > UINT32_MAX || piece > all)
		return -ENOTSUP;
	j->template_path = "probes/bandwidth/stream.ptx";
	job_param(j, "PIECE", (long long)piece);
	job_param(j, "STEP", (long long)(once ? piece * blocks : piece));
	job_param(j, "MASK", once ? 0xffffffffll : (long long)p[STREAM_FOOTPRINT] - 1);
	job_param(j, "THREADS", (long long)p[STREAM_THREADS]);
	job_param(j, "MORE", (long long)p[STREAM_MORE]);
	job_param(j, "UNROLL", loads_of(p));
	job_param(j, "BESIDE", (long long)beside);
	/* What has no L1 for these loads has no such words either. */
	job_param_text(j, "LD", p[STREAM_LEVEL] == LEVEL_L2 ? "global.cg" : "global");
	snprintf(j->launch.entry, sizeof j->launch.entry, "stream");
	j->launch.grid[0] = (uint32_t)blocks;
	j->launch.block[0] = (uint32_t)p[STREAM_THREADS];
	j->launch.carveout = CARVEOUT_MAX_L1;
	job_param(j, "WORDS", words_of(d, p[STREAM_THREADS]));
	job_output(j, words_of(d, p[STREAM_THREADS]) * (uint32_t)blocks);
	j->launch.buffers[j->launch.buffer_count++] =
	    (struct launch_buffer){.bytes = begin + all + beside, .as_is = true};
	job_arg_buffer(j, 1, begin);
	job_arg_u32(j, (uint32_t)x);
	job_arg_u32(j, (uint32_t)all);
	/* Bytes that are read once come from memory. The launch before has already asked for their translations. To
	 * walk for those would be a fifth of such a launch on a real GPU. */
	j->launch.flush = once;
	j->launch.warmups = 1;
	return 0;
}

/* x: rounds; p[SHARED_LONG]: 1, with twice the loads in each. */
int bandwidth_shared_setup(const struct study *s, double x, const double *p, struct job *j)
{
	j->template_path = "probes/bandwidth/shared_stream.ptx";
	job_param(j, "ROUNDS", (long long)x);
	job_param(j, "THREADS", (long long)p[STREAM_THREADS]);
	job_param(j, "LOADS", p[SHARED_LONG] > 0 ? 2 * SHARED_LOADS : SHARED_LOADS);
	snprintf(j->launch.entry, sizeof j->launch.entry, "shared_stream");
	j->launch.block[0] = (uint32_t)p[STREAM_THREADS];
	job_output(j, words_of(study_device(s), p[STREAM_THREADS]));
	j->launch.warmups = 1;
	return 0;
}

struct rate {
	double value, lo, hi; /* bytes a cycle of all blocks */
	double whole;	      /* what the longer launch reached at least, with its beginning and end */
	/* Time of all warps over that of the half which is first, of what the longer launch has more. */
	double straggling;
	double apart; /* the same of the whole longer launch */
	bool differ;  /* repeats are so far apart that they say nothing */
	double ends;  /* part of the longer launch that a launch of no length would take, or a launch is shorter by */
	const struct point *at; /* says why there is no value */
};

/* The rate from launches of `rounds` and of twice as many, so that beginning and end cancel. Shared memory instead has
 * twice the loads in as many rounds, so that the loop cancels, too. */
static struct rate stream_rate(struct study *s, unsigned experiment, const double *given, unsigned rounds,
			       double round_bytes)
{
	struct rate r = {.value = NAN,
			 .lo = INFINITY,
			 .hi = 0,
			 .whole = INFINITY,
			 .straggling = NAN,
			 .apart = NAN,
			 .ends = INFINITY};
	double took[2][TRIALS], end[2][2] = {{0}}, p[POINT_PARAMS];
	const bool stream = experiment == EXPERIMENT_STREAM;
	memcpy(p, given, sizeof p);
	for (unsigned longer = 0; longer < 2; longer++)
		for (unsigned k = 0; k < TRIALS; k++) {
			if (stream)
				p[STREAM_PLACE] = given[STREAM_PLACE] + k;
			else
				p[SHARED_LONG] = longer;
			const struct point *pt = study_ask(s, experiment, stream && longer ? 2 * rounds : rounds, p);
			const uint32_t *first = bandwidth_begun(study_arena(s), pt);
			took[longer][k] = bandwidth_longest(pt, first);
			end[longer][0] += bandwidth_half_ended(s, pt, first);
			end[longer][1] += took[longer][k];
			if (!r.at || isnan(took[longer][k]))
				r.at = pt;
		}
	for (unsigned k = 0; k < TRIALS; k++)
		for (unsigned i = 0; i < TRIALS; i++) {
			const double rate = rounds * round_bytes / (took[1][k] - took[0][i]);
			if (!(rate > 0))
				return r;
			r.lo = fmin(r.lo, rate);
			r.hi = fmax(r.hi, rate);
		}
	r.ends = 0;
	for (unsigned k = 0; k < TRIALS; k++) {
		r.whole = fmin(r.whole, 2 * rounds * round_bytes / took[1][k]);
		r.ends = fmax(r.ends, fabs(2 * took[0][k] / took[1][k] - 1));
	}
	r.straggling = (end[1][1] - end[0][1]) / (end[1][0] - end[0][0]);
	r.apart = end[1][1] / end[1][0];
	r.value = fmin(fmax(2 * r.lo * r.hi / (r.lo + r.hi), r.lo), r.hi);
	r.differ = r.hi > APART * r.lo;
	return r;
}

/* A slow place is slow in launches of both lengths. A difference of launches in two places is off by twice as much as
 * the places differ. own: the rates of each place. All but the slowest have to agree, and the interval includes that
 * one, too. */
static void each_its_own(double *own, struct rate *r)
{
	double scratch[PLACES];
	for (unsigned k = 0; k < PLACES; k++)
		if (!(own[k] > 0))
			return;
	const double slowest = stat_quantile(own, PLACES, 0, scratch),
		     second = stat_quantile(own, PLACES, 1.0 / (PLACES - 1), scratch);
	r->lo = slowest;
	r->hi = stat_quantile(own, PLACES, 1, scratch);
	r->differ = r->hi > APART * second;
	r->value = fmin(fmax(r->value, r->lo), r->hi);
}

/* Takes the value of the quickest launch of more places, if two places differ. One launch of the two may have been
 * disturbed, or lain in a slow part of the memory. Nothing makes a launch quicker, and the middle of few is a disturbed
 * one as often as not. Launches that could not be had are left out. */
static void steady_value(struct study *s, unsigned experiment, const double *given, unsigned rounds, double round_bytes,
			 struct rate *r)
{
	double quickest[2] = {INFINITY, INFINITY}, took[2], own[PLACES], p[POINT_PARAMS];
	if (experiment != EXPERIMENT_STREAM || !(r->hi > CLOSE * r->lo))
		return;
	memcpy(p, given, sizeof p);
	for (unsigned k = 0; k < 2 * PLACES; k++) {
		const unsigned longer = k % 2;
		p[STREAM_PLACE] = given[STREAM_PLACE] + k / 2;
		const struct point *pt = study_ask(s, experiment, longer ? 2 * rounds : rounds, p);
		took[longer] = bandwidth_cycles(study_arena(s), pt);
		quickest[longer] = fmin(quickest[longer], took[longer]);
		if (longer)
			own[k / 2] = rounds * round_bytes / (took[1] - took[0]);
	}
	if (study_pending(s))
		return;
	if (r->differ)
		each_its_own(own, r);
	const double rate = rounds * round_bytes / (quickest[1] - quickest[0]);
	if (rate >= r->lo && rate <= r->hi)
		r->value = rate;
}

/* Rounds after which a launch is long enough, as far as launches twice as long can be had. False: wait for points. */
static bool long_enough(struct study *s, unsigned experiment, const double *p, double latency, unsigned *rounds)
{
	const unsigned least = *rounds;
	double first[POINT_PARAMS];
	memcpy(first, p, sizeof first);
	if (experiment == EXPERIMENT_STREAM)
		first[STREAM_PLACE] = 1;
	while (*rounds < ROUNDS_MAX) {
		const struct point *pt = study_ask(s, experiment, *rounds, first);
		if (study_pending(s))
			return false;
		if (!(bandwidth_cycles(study_arena(s), pt) < STRETCH * latency))
			break;
		*rounds *= 2;
	}
	if (experiment == EXPERIMENT_STREAM && *rounds < ROUNDS_ALIKE)
		*rounds = ROUNDS_ALIKE;
	for (; experiment == EXPERIMENT_STREAM && *rounds > least; *rounds /= 2) {
		const struct point *pt = study_ask(s, experiment, 2 * *rounds, first);
		if (study_pending(s))
			return false;
		if (pt && pt->outcome == OUTCOME_OK)
			break;
	}
	return true;
}

/* Whether all warps read for nearly as long as the launch takes. */
static bool together(const struct rate *r)
{
	return r->straggling <= TOGETHER && r->apart <= TOGETHER_WHOLE;
}

struct drawn {
	const char *key, *what, *where; /* "memory", "one SM" */
	unsigned experiment;
	double all[POINT_PARAMS], half[POINT_PARAMS]; /* of the threads */
	double all_bytes, half_bytes;		      /* of a round */
	double latency;
	double sms, one; /* that draw, and what one of them is known to draw at least, or NAN */
	double farther;	 /* what one SM draws from the level behind, or NAN */
	double nearer;	 /* what all SMs draw for certain from the level before memory, or NAN */
	double beside;	 /* bytes of that level that loads beside a stream of memory read again and again */
	unsigned rounds;
};

/* The stream of all threads with one thing changed. */
static struct rate with(struct study *s, const struct drawn *w, unsigned what, double value, unsigned rounds)
{
	double p[POINT_PARAMS];
	memcpy(p, w->all, sizeof p);
	p[what] = value;
	return stream_rate(s, w->experiment, p, rounds, w->all_bytes * (what == STREAM_TWICE ? 2 : 1));
}

/* Half of the threads draw clearly more: they get into each other's way, and the most that can be drawn is asked of fewer. False as well
 * where those are too few, or a recording has none. */
static bool ask_fewer(struct study *s, const struct drawn *w, const struct rate *a, const struct rate *h,
		      unsigned rounds, struct drawn *fewer)
{
	if (w->experiment != EXPERIMENT_STREAM || !(h->value > CROWDED * a->value) || w->half[STREAM_THREADS] < FEWEST)
		return false;
	*fewer = *w;
	memcpy(fewer->all, w->half, sizeof fewer->all);
	fewer->all_bytes = w->half_bytes;
	fewer->half[STREAM_THREADS] /= 2;
	fewer->half_bytes /= 2;
	return !isnan(stream_rate(s, w->experiment, fewer->half, rounds, fewer->half_bytes).value);
}

enum limit { LIMIT_UNKNOWN, LIMIT_ELSEWHERE, LIMIT_MEMORY };

/* Whether a limit of all SMs lies beyond them. What each of them lets through, each still does when fewer of them read. */
static enum limit beyond_sms(struct study *s, const struct drawn *w, const struct rate *a, unsigned rounds, char *why,
			     size_t n)
{
	const double blocks = floor(w->sms / 2), bytes = w->all_bytes / w->all[STREAM_BLOCKS] * blocks;
	double p[POINT_PARAMS];
	if (blocks < 1)
		return LIMIT_UNKNOWN;
	memcpy(p, w->all, sizeof p);
	p[STREAM_BLOCKS] = blocks;
	struct rate r = stream_rate(s, w->experiment, p, rounds, bytes);
	steady_value(s, w->experiment, p, rounds, bytes, &r); /* as that of all has it */
	if (isnan(r.value))
		return LIMIT_UNKNOWN;
	const double sms = bandwidth_sms(s, r.at), each = r.value / sms, share = a->value / w->sms;
	snprintf(why, n, "each of %.0f SMs alone draws %.4g, of all %.4g", sms, each, share);
	return each >= FAR_APART * share ? LIMIT_MEMORY : LIMIT_ELSEWHERE;
}

/* What a stream of `a` bytes a cycle would become beside half as many loads that the L2 answers, if the L2 were full. A
 * byte of the memory then takes 1 / a of a cycle in the L2, and one of the L2's own 1 / most. */
static double if_l2_were_full(double a, double most)
{
	return a / (1 + a / (2 * most));
}

/* Whether a limit of all SMs lies behind the L2. What the L2 lets through is less of the memory's when it answers other loads as well. */
static enum limit behind_l2(struct study *s, const struct drawn *w, const struct rate *a, unsigned rounds, char *why,
			    size_t n)
{
	const struct finding *l2 = study_finding(s, "cache.global.l2.bandwidth_total");
	if (l2 && l2->verdict == VERDICT_ABSENT)
		return LIMIT_MEMORY;
	if (!(w->nearer > CLEARLY * a->value)) {
		snprintf(why, n, "the L2 is not known to give more");
		return LIMIT_ELSEWHERE;
	}
	const struct rate r = with(s, w, STREAM_BESIDE, w->beside, rounds);
	if (isnan(r.value)) {
		snprintf(why, n, "they draw %.4g from the L2", w->nearer);
		return LIMIT_UNKNOWN;
	}
	const bool told = l2 && l2->verdict == VERDICT_MEASURED && isfinite(l2->hi);
	const double full = if_l2_were_full(a->value, told ? l2->hi : INFINITY);
	snprintf(why, n, "beside half as many loads that the L2 answers they draw %.4g, and %.4g were that their limit",
		 r.value, full);
	return r.value >= fmin(SATURATED * a->value, full / SATURATED) ? LIMIT_MEMORY : LIMIT_ELSEWHERE;
}

/* What all SMs drew is known. What memory gives is that only where memory is what held them up: of a way of several places, none before it. */
static void conclude_memory(struct study *s, const struct drawn *w, const struct rate *a, double lo, double hi,
			    unsigned rounds, const char *method, const char *seen)
{
	char sms[80] = "nothing tells whether an SM lets less through", l2[120] = "there is no L2";
	const enum limit beyond = beyond_sms(s, w, a, rounds, sms, sizeof sms),
			 behind = behind_l2(s, w, a, rounds, l2, sizeof l2);
	if (study_pending(s))
		return;
	study_measured_number(s, "memory.global.drawn", a->value, lo, hi, "card", method, "stream", "%s", seen);
	if (beyond == LIMIT_MEMORY && behind == LIMIT_MEMORY)
		study_measured_number(s, w->key, a->value, lo, hi, "card", method, "stream", "%s; %s; %s", seen, sms,
				      l2);
	else if (beyond != LIMIT_ELSEWHERE && behind != LIMIT_ELSEWHERE && w->nearer > CLEARLY * a->value)
		study_likely_number(s, w->key, a->value, lo, hi, "card", method, "stream", "%s; %s; %s", seen, sms, l2);
	else
		study_bound(s, w->key, fmin(lo, a->whole), INFINITY, method, "stream",
			    "the SMs draw %.4g bytes a cycle, and something before memory may be their limit: %s; %s",
			    a->value, sms, l2);
}

/* Returns what was drawn at least, or NAN. */
static double conclude(struct study *s, const struct drawn *w)
{
	static const char method[] = "bytes of two launches over their cycles, subtracted";
	const char *evidence = w->experiment == EXPERIMENT_SHARED ? "shared" : "stream";
	unsigned rounds = w->rounds;
	if (!long_enough(s, w->experiment, w->all, w->latency, &rounds))
		return NAN;
	struct rate a, h, m = {.value = NAN}, twice = m, all = m, half = m;
	for (unsigned next = rounds;; next *= 2) {
		a = stream_rate(s, w->experiment, w->all, next, w->all_bytes);
		h = stream_rate(s, w->experiment, w->half, next, w->half_bytes);
		if (study_pending(s))
			return NAN;
		/* What was seen of less has to do if so much more cannot be read. */
		if (next > rounds && (isnan(a.value) || isnan(h.value))) {
			a = all;
			h = half;
			break;
		}
		all = a;
		half = h;
		rounds = next;
		const bool as_one = together(&a) || next >= ROUNDS_TOGETHER;
		if (2 * next > ROUNDS_MAX || (a.hi < CLOSE * a.lo && h.hi < CLOSE * h.lo && a.ends <= ENDS_LONG &&
					      h.ends <= 2 * ENDS_LONG && as_one && !(h.value > APART * a.value)))
			break;
	}
	struct drawn fewer;
	const bool crowded = ask_fewer(s, w, &a, &h, rounds, &fewer);
	if (study_pending(s))
		return NAN;
	if (crowded)
		return conclude(s, &fewer);
	steady_value(s, w->experiment, w->all, rounds, w->all_bytes, &a);
	if (h.value < SATURATED * a.value)
		steady_value(s, w->experiment, w->half, rounds, w->half_bytes, &h);
	/* SMs that are known to issue fast enough need not be asked whether they are held up by that. */
	const bool ask = w->experiment == EXPERIMENT_STREAM && !(w->one > CLEARLY * a.value / w->sms);
	if (ask)
		m = with(s, w, STREAM_MORE, MORE, rounds);
	/* If half of the threads do not reach it, too few loads may be under way. Twice as many show whether. */
	if (w->experiment == EXPERIMENT_STREAM && h.value < SATURATED * a.value)
		twice = with(s, w, STREAM_TWICE, 1, rounds);
	if (study_pending(s))
		return NAN;
	const bool enough = twice.value >= SATURATED * a.value && a.value >= SATURATED * twice.value;
	/* Two launches may differ by less than what one more piece takes, if warps of the shorter one were apart. Only
	 * what a whole launch reached was surely drawn. */
	const double least = fmin(a.lo, a.whole);
	if (isnan(a.value))
		study_verdict(s, w->key, VERDICT_INCONCLUSIVE, evidence, "%s",
			      a.at && a.at->outcome == OUTCOME_OK ? "twice as much did not take longer"
								  : point_why(a.at));
	else if (a.differ)
		study_verdict(s, w->key, VERDICT_INCONCLUSIVE, evidence, "repeats give %.4g to %.4g bytes a cycle",
			      a.lo, a.hi);
	else if (!together(&a) && w->all[STREAM_BLOCKS] > 1)
		study_verdict(s, w->key, VERDICT_INCONCLUSIVE, evidence,
			      "half of the warps had all from %s when %.2g of the time had passed: the clocks do "
			      "not tell when all SMs were busy",
			      w->what, 1 / fmax(a.straggling, a.apart));
	else if (!together(&a))
		study_bound(s, w->key, least, INFINITY, method, evidence,
			    "half of the warps had all from %s when %.2g of the time had passed: the others may "
			    "have been too few",
			    w->what, 1 / fmax(a.straggling, a.apart));
	else if (!(a.ends <= ENDS && h.ends <= ENDS_HALF))
		study_bound(s, w->key, least, INFINITY, method, evidence,
			    "a launch of no length would take %.2g of the time of one: beginnings and ends that "
			    "long may differ in launches of two lengths",
			    fmax(a.ends, h.ends));
	else if (isnan(h.value) || (h.value < SATURATED * a.value && !enough))
		study_bound(s, w->key, least, INFINITY, method, evidence,
			    "%s draws %.4g bytes a cycle from %s, and with half of the threads %.4g: more of them may "
			    "draw more",
			    w->where, a.value, w->what, h.value);
	else if (h.value > APART * a.value)
		study_bound(s, w->key, least, INFINITY, method, evidence,
			    "%s draws %.4g bytes a cycle from %s, and with half of the threads %.4g: something else "
			    "holds all of them up",
			    w->where, a.value, w->what, h.value);
	else if (ask && !(m.value >= SATURATED * a.value))
		study_bound(
		    s, w->key, least, INFINITY, method, evidence,
		    "%s draws %.4g bytes a cycle from %s, and with more instructions beside the loads %.4g: it may "
		    "be issuing them that takes so long",
		    w->where, a.value, w->what, m.value);
	else if (a.hi < NEARER * w->farther)
		study_bound(s, w->key, least, INFINITY, method, evidence,
			    "%s draws %.4g bytes a cycle from %s, and %.4g from the level behind it: something else is "
			    "its limit",
			    w->where, a.value, w->what, w->farther);
	else {
		/* Shared memory's two kernels have loops of two lengths, whose branches need not cost alike. What the
		 * longer one reached as a whole was surely drawn. Of the other levels many places are read, which
		 * differ by more than that. */
		const double sure = w->experiment == EXPERIMENT_SHARED ? a.whole : INFINITY;
		/* More threads than there are would draw at most as much more again as the second half of them did. */
		const struct rate *other = enough ? &twice : &h;
		const double rising = fmax(0, enough ? twice.value - a.value : a.value - h.value);
		const double lo = fmin(fmin(a.lo, other->lo), sure), hi = fmax(a.hi, other->hi) + rising;
		char seen[120];
		snprintf(seen, sizeof seen, "%s draws as much from %s with %s: %.4g", w->where, w->what,
			 enough ? "twice as many loads under way" : "half of the threads", other->value);
		if (w->experiment == EXPERIMENT_STREAM && w->all[STREAM_LEVEL] == LEVEL_MEMORY)
			conclude_memory(s, w, &a, lo, hi, rounds, method, seen);
		else
			study_measured_number(s, w->key, a.value, lo, hi, "card", method, evidence, "%s", seen);
	}
	/* What repeats that differ say at the least was drawn, too. */
	return !(a.lo <= a.value) ? NAN : w->sms > 1 ? least : a.lo;
}

/* A recording from before launches of memory were repeated: there every launch walked for its translations. True: it is one. */
static bool cold(struct study *s, const struct drawn *w)
{
	const struct point *first = study_ask(s, EXPERIMENT_STREAM, w->rounds, w->all);
	const struct series *series = study_series(s, EXPERIMENT_STREAM);
	double least = 0;
	if (study_pending(s) || first || !series)
		return false;
	for (size_t i = 0; i < series->count; i++) {
		const struct point *pt = &series->points[i];
		const double bytes = pt->x * (double)bandwidth_piece(pt->p) * pt->p[STREAM_BLOCKS];
		if (pt->p[STREAM_LEVEL] == LEVEL_MEMORY)
			least = fmax(least, bytes / bandwidth_cycles(study_arena(s), pt));
	}
	if (least > 0)
		study_bound(s, w->key, least, INFINITY, "bytes of a launch over its cycles", "stream",
			    "it was measured when launches waited for translations as well");
	return least > 0;
}

double bandwidth_stream(struct study *s, const char *key, unsigned level, double known, double other, double footprint,
			double latency)
{
	const bool one = known == 0;
	const struct device_info *d = study_device(s);
	const uint64_t threads = bandwidth_power_below(d->max_threads_per_block),
		       fit = d->max_threads_per_sm > threads ? d->max_threads_per_sm / threads : 1;
	struct drawn w = {
	    .key = key, .experiment = EXPERIMENT_STREAM, .latency = latency, .rounds = latency > 0 ? 1 : 4};
	static const char *const names[] = {"memory", "the L2", "the L1"};
	w.what = names[level];
	w.where = one ? "one SM" : "the GPU";
	w.sms = one ? 1 : d->sm_count;
	w.one = one ? NAN : known;
	w.farther = level == LEVEL_MEMORY ? NAN : other;
	w.nearer = level == LEVEL_MEMORY ? other : NAN;
	w.beside = level == LEVEL_MEMORY ? footprint / BESIDE_PART : 0;
	footprint = level == LEVEL_MEMORY ? 0 : footprint;
	for (unsigned k = 0; k < 2; k++) {
		double *p = k ? w.half : w.all;
		p[STREAM_THREADS] = (double)(k ? threads / 2 : threads);
		if (footprint > 0) /* what one block reads at once stays in it */
			p[STREAM_THREADS] =
			    fmin(p[STREAM_THREADS], footprint / BYTES / (level == LEVEL_L1 ? 1 : UNROLL) / (k ? 2 : 1));
		p[STREAM_BLOCKS] = one ? 1 : (double)(fit * d->sm_count);
		p[STREAM_FOOTPRINT] = footprint;
		p[STREAM_LEVEL] = level;
		*(k ? &w.half_bytes : &w.all_bytes) = (double)bandwidth_piece(p) * p[STREAM_BLOCKS];
	}
	/* One SM has to come everywhere by itself. */
	if (one)
		w.rounds = (unsigned)fmin(ROUNDS_MAX, ceil(footprint / (double)bandwidth_piece(w.half)));
	return level == LEVEL_MEMORY && cold(s, &w) ? NAN : conclude(s, &w);
}

void bandwidth_shared(struct study *s)
{
	const struct device_info *d = study_device(s);
	struct drawn w = {.key = "shared.bandwidth",
			  .what = "shared memory",
			  .where = "one SM",
			  .experiment = EXPERIMENT_SHARED,
			  .rounds = SHARED_ROUNDS}; /* of some hundred cycles: warps end some tens of them apart */
	double fits = (double)bandwidth_power_below((double)d->shared_per_block * 0.75 / 16);
	w.all[STREAM_BLOCKS] = w.half[STREAM_BLOCKS] = 1;
	w.all[STREAM_THREADS] = fmin(fits, (double)bandwidth_power_below(d->max_threads_per_block));
	w.half[STREAM_THREADS] = w.all[STREAM_THREADS] / 2;
	w.all_bytes = w.all[STREAM_THREADS] * 4 * SHARED_LOADS;
	w.half_bytes = w.half[STREAM_THREADS] * 4 * SHARED_LOADS;
	/* Older recordings have fewer. */
	if (!study_ask(s, EXPERIMENT_SHARED, w.rounds, w.all)) {
		if (study_pending(s))
			return;
		w.rounds /= 4;
	}
	if (study_number(s, "shared.latency", &w.latency))
		conclude(s, &w);
	else
		study_verdict(s, w.key, VERDICT_INCONCLUSIVE, "", "the latency of shared memory is not known");
}
