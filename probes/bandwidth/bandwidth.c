/* What one SM and all of them draw from memory, from the caches in front of it and from shared memory; what a launch costs;
 * how fast the SM's clock runs and what a turn of a loop takes. What a model of a kernel's run time has to know. */
#include "bandwidth.h"
#include "base/arena.h"
#include "stat/stat.h"
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
	WORDS = 4, /* clock before, clock after, a sum, the SM */
	WORD_SM = 3,
	UNROLL = 2,
	BYTES = 16,
	SHARED_LOADS = 32,
	TRIALS = 2,
	ROUNDS_MAX = 16,
	L1_LEAST = 8 << 10,
	L2_LEAST = 32 << 10
};
/* A launch is at least this many times as long as the latency of what it reads. */
#define STRETCH 16
enum { SCATTER_APART = 512, SCATTER_ROUNDS = 2, SCATTER_TRIALS = 3 };
/* Repeats this far apart ask for longer launches, and so far apart they say nothing. */
#define CLOSE 1.03
#define APART 1.1
/* Half of the threads that reach this much of the rate of all show that more of them would not reach more. */
#define SATURATED 0.95
#define CLEARLY	  1.1
/* Half of the threads being enough, all is as busy as can be until half of the warps have come to their end. The rest may be this long. */
#define TOGETHER 1.1

enum { EXPERIMENT_STREAM, EXPERIMENT_SHARED, EXPERIMENT_SCATTER = EXPERIMENT_EMPTY + 1 };
enum { STREAM_BLOCKS, STREAM_THREADS, STREAM_FOOTPRINT, STREAM_LEVEL, STREAM_PLACE, STREAM_MORE, STREAM_PLACE_LONG };
enum { SHARED_LONG = STREAM_FOOTPRINT }; /* blocks and threads are where a stream has them */
/* Instructions beside each load: as if the SM had so much less time for it. */
#define MORE 4
enum { LEVEL_MEMORY, LEVEL_L2, LEVEL_L1 };

static uint64_t piece_bytes(const double *p)
{
	return (uint64_t)p[STREAM_THREADS] * BYTES * (p[STREAM_LEVEL] == LEVEL_L1 ? 1 : UNROLL);
}

/* Of a block: those of all kernels here, and one of each warp. */
static uint32_t words_of(const struct device_info *d, double threads)
{
	return WORDS + ((uint32_t)threads + d->warp_size - 1) / d->warp_size;
}

/* x: rounds. Footprint 0: every piece is read once, in a place that no other launch has read. */
static int setup_stream(const struct study *s, double x, const double *p, struct job *j)
{
	const struct device_info *d = study_device(s);
	const bool once = p[STREAM_FOOTPRINT] == 0;
	const uint64_t piece = piece_bytes(p), blocks = (uint64_t)p[STREAM_BLOCKS],
		       all = once ? piece * blocks * (uint64_t)x : (uint64_t)p[STREAM_FOOTPRINT],
		       begin = once ? (uint64_t)p[STREAM_PLACE] * all : 0;
	if (begin + all > d->memory_bytes / 2 || all > UINT32_MAX)
		return -ENOTSUP;
	j->template_path = "probes/bandwidth/stream.ptx";
	job_param(j, "PIECE", (long long)piece);
	job_param(j, "STEP", (long long)(once ? piece * blocks : piece));
	job_param(j, "MASK", once ? 0xffffffffll : (long long)p[STREAM_FOOTPRINT] - 1);
	job_param(j, "ROUNDS", (long long)x);
	job_param(j, "THREADS", (long long)p[STREAM_THREADS]);
	job_param(j, "MORE", (long long)p[STREAM_MORE]);
	job_param(j, "UNROLL", p[STREAM_LEVEL] == LEVEL_L1 ? 1 : UNROLL);
	/* What has no L1 for these loads has no such words either. */
	job_param_text(j, "LD", p[STREAM_LEVEL] == LEVEL_L2 ? "global.cg" : "global");
	snprintf(j->launch.entry, sizeof j->launch.entry, "stream");
	j->launch.grid[0] = (uint32_t)blocks;
	j->launch.block[0] = (uint32_t)p[STREAM_THREADS];
	j->launch.carveout = CARVEOUT_MAX_L1;
	job_param(j, "WORDS", words_of(d, p[STREAM_THREADS]));
	job_output(j, words_of(d, p[STREAM_THREADS]) * (uint32_t)blocks);
	j->launch.buffers[j->launch.buffer_count++] = (struct launch_buffer){.bytes = begin + all, .as_is = true};
	job_arg_buffer(j, 1, begin);
	/* A launch again would find in a cache what the first one read. */
	j->launch.warmups = once ? 0 : 1;
	return 0;
}

/* x: rounds of four loads; one block on each SM's share of the threads, as a stream has them. */
static int setup_scatter(const struct study *s, double x, const double *p, struct job *j)
{
	const struct device_info *d = study_device(s);
	const double loads = p[STREAM_BLOCKS] * p[STREAM_THREADS], all = loads * 4 * x * SCATTER_APART;
	if (all > (double)d->memory_bytes / 2)
		return -ENOTSUP;
	j->template_path = "probes/bandwidth/scatter.ptx";
	job_param(j, "APART", SCATTER_APART);
	job_param(j, "STEP", (long long)loads * SCATTER_APART);
	job_param(j, "ROUNDS", (long long)x);
	snprintf(j->launch.entry, sizeof j->launch.entry, "scatter");
	j->launch.grid[0] = (uint32_t)p[STREAM_BLOCKS];
	j->launch.block[0] = (uint32_t)p[STREAM_THREADS];
	job_output(j, WORDS * j->launch.grid[0]);
	j->launch.buffers[j->launch.buffer_count++] = (struct launch_buffer){.bytes = (uint64_t)all, .as_is = true};
	job_arg_buffer(j, 1, 0);
	j->launch.flush = true;
	return 0;
}

/* x: rounds; p[SHARED_LONG]: 1, with twice the loads in each. */
static int setup_shared(const struct study *s, double x, const double *p, struct job *j)
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

static unsigned blocks_of(const struct point *pt)
{
	return pt && pt->outcome == OUTCOME_OK ? (unsigned)pt->p[STREAM_BLOCKS] : 0;
}

/* When the first block of this one's SM began, by the SM's clock: one that had to wait for another is part of what both took. */
static uint32_t began(const struct point *pt, unsigned block)
{
	const size_t words = pt->words_per_repeat / blocks_of(pt);
	const uint32_t *y = pt->y + block * words;
	uint32_t first = y[0];
	for (unsigned b = 0; b < blocks_of(pt); b++) {
		const uint32_t *o = pt->y + b * words;
		if (o[WORD_SM] == y[WORD_SM] && (int32_t)(o[0] - first) < 0)
			first = o[0];
	}
	return first;
}

/* Cycles of the SM that took longest. NAN without. */
static double stream_cycles(const struct point *pt)
{
	uint32_t most = 0;
	for (unsigned b = 0; b < blocks_of(pt); b++) {
		const uint32_t *y = pt->y + (size_t)b * (pt->words_per_repeat / blocks_of(pt)),
			       took = y[1] - began(pt, b);
		most = took > most ? took : most;
	}
	return most ? most : NAN;
}

/* Cycles after which such a part of all warps had come to their end. NAN without. */
static double ended(struct study *s, const struct point *pt, double part)
{
	const unsigned blocks = blocks_of(pt), words = blocks ? pt->words_per_repeat / blocks : WORDS;
	size_t n = 0;
	double *end = ARENA_ARRAY(study_arena(s), 2 * (size_t)blocks * (words - WORDS) + 1, double);
	for (unsigned b = 0; b < blocks && end; b++) {
		const uint32_t *y = pt->y + (size_t)b * words, start = began(pt, b);
		for (unsigned w = WORDS; w < words; w++)
			end[n++] = y[w] - start;
	}
	return n ? stat_quantile(end, n, part, end + n) : NAN;
}

struct rate {
	double value, lo, hi; /* bytes a cycle of all blocks */
	double whole;	      /* what the longer launch reached at least, with its beginning and end */
	/* Time of all warps over that of the half which is first, of what the longer launch has more. */
	double straggling;
	const struct point *at; /* says why there is no value */
};

/* From launches of `rounds` and of twice as many, so that beginning and end cancel; from shared memory of twice the loads in as
 * many rounds, so that the loop cancels, too. */
static struct rate stream_rate(struct study *s, unsigned experiment, const double *given, unsigned rounds,
			       double round_bytes)
{
	struct rate r = {.value = NAN, .lo = INFINITY, .hi = 0, .whole = INFINITY, .straggling = NAN};
	double took[2][TRIALS], end[2] = {0, 0}, p[POINT_PARAMS];
	const bool stream = experiment == EXPERIMENT_STREAM;
	memcpy(p, given, sizeof p);
	for (unsigned longer = 0; longer < 2; longer++)
		for (unsigned k = 0; k < TRIALS; k++) {
			if (stream)
				p[STREAM_PLACE] = given[longer ? STREAM_PLACE_LONG : STREAM_PLACE] + k;
			else
				p[SHARED_LONG] = longer;
			p[STREAM_PLACE_LONG] = 0;
			const struct point *pt = study_ask(s, experiment, stream && longer ? 2 * rounds : rounds, p);
			took[longer][k] = stream_cycles(pt);
			for (unsigned i = 0; i < 2; i++)
				end[i] += (longer ? 1 : -1) * ended(s, pt, i ? 1 : 0.5);
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
	for (unsigned k = 0; k < TRIALS; k++)
		r.whole = fmin(r.whole, 2 * rounds * round_bytes / took[1][k]);
	r.straggling = end[1] / end[0];
	r.value = fmin(fmax(2 * r.lo * r.hi / (r.lo + r.hi), r.lo), r.hi);
	return r;
}

/* Rounds after which a launch is long enough. False: wait for points. */
static bool long_enough(struct study *s, unsigned experiment, const double *p, double latency, unsigned *rounds)
{
	while (*rounds < ROUNDS_MAX) {
		double first[POINT_PARAMS];
		memcpy(first, p, sizeof first);
		first[STREAM_PLACE_LONG] = 0;
		if (experiment == EXPERIMENT_STREAM)
			first[STREAM_PLACE] = 1;
		const struct point *pt = study_ask(s, experiment, *rounds, first);
		if (study_pending(s))
			return false;
		if (!(stream_cycles(pt) < STRETCH * latency))
			return true;
		*rounds *= 2;
	}
	return true;
}

struct drawn {
	const char *key, *what, *where; /* "memory", "one SM" */
	unsigned experiment;
	double all[POINT_PARAMS], half[POINT_PARAMS], more[POINT_PARAMS]; /* of the threads; all with more to issue */
	double all_bytes, half_bytes;					  /* of a round */
	double latency;
	double sms, one; /* that draw, and what one of them is known to draw at least, or NAN */
	unsigned rounds;
};

/* Returns what was drawn at least, or NAN. */
static double conclude(struct study *s, const struct drawn *w)
{
	static const char method[] = "bytes of two launches over their cycles, subtracted";
	const char *evidence = w->experiment == EXPERIMENT_SHARED ? "shared" : "stream";
	unsigned rounds = w->rounds;
	if (!long_enough(s, w->experiment, w->all, w->latency, &rounds))
		return NAN;
	struct rate a, h, m = {.value = NAN};
	for (;; rounds *= 2) {
		a = stream_rate(s, w->experiment, w->all, rounds, w->all_bytes);
		h = stream_rate(s, w->experiment, w->half, rounds, w->half_bytes);
		if (study_pending(s))
			return NAN;
		if (2 * rounds > ROUNDS_MAX || (a.hi < CLOSE * a.lo && h.hi < CLOSE * h.lo))
			break;
	}
	/* SMs that are known to issue fast enough need not be asked whether they are held up by that. */
	const bool ask = w->experiment == EXPERIMENT_STREAM && !(w->one > CLEARLY * a.value / w->sms);
	if (ask)
		m = stream_rate(s, w->experiment, w->more, rounds, w->all_bytes);
	if (study_pending(s))
		return NAN;
	if (isnan(a.value))
		study_verdict(s, w->key, VERDICT_INCONCLUSIVE, evidence, "%s",
			      a.at && a.at->outcome == OUTCOME_OK ? "twice as much did not take longer"
								  : point_why(a.at));
	else if (a.hi > APART * a.lo)
		study_verdict(s, w->key, VERDICT_INCONCLUSIVE, evidence, "repeats give %.4g to %.4g bytes a cycle",
			      a.lo, a.hi);
	else if (!(a.straggling <= TOGETHER) && w->all[STREAM_BLOCKS] > 1)
		study_verdict(
		    s, w->key, VERDICT_INCONCLUSIVE, evidence,
		    "half of the warps had all from %s when %.2g of the time had passed: when all SMs were busy "
		    "together their clocks do not tell",
		    w->what, 1 / a.straggling);
	else if (!(a.straggling <= TOGETHER))
		study_bound(
		    s, w->key, fmin(a.lo, a.whole), INFINITY, method, evidence,
		    "half of the warps had all from %s when %.2g of the time had passed: the others may have been too "
		    "few for what is there",
		    w->what, 1 / a.straggling);
	else if (isnan(h.value) || h.value < SATURATED * a.value)
		study_bound(s, w->key, a.lo, INFINITY, method, evidence,
			    "%s draws %.4g bytes a cycle from %s, and with half of the threads %.4g: more of them may "
			    "draw more",
			    w->where, a.value, w->what, h.value);
	else if (ask && !(m.value >= SATURATED * a.value))
		study_bound(
		    s, w->key, a.lo, INFINITY, method, evidence,
		    "%s draws %.4g bytes a cycle from %s, and with more instructions beside the loads %.4g: it may "
		    "be issuing them that takes so long",
		    w->where, a.value, w->what, m.value);
	else
		study_measured_number(s, w->key, a.value, fmin(a.lo, h.lo), fmax(a.hi, h.hi), "card", method, evidence,
				      "%s draws as much from %s with half of the threads: %.4g", w->where, w->what,
				      h.value);
	return a.lo <= a.value && a.hi <= APART * a.lo ? a.lo : NAN;
}

static uint64_t power_below(double v)
{
	uint64_t p = 1;
	while ((double)(2 * p) <= v)
		p *= 2;
	return p;
}

/* known: what one SM draws at least from there or from nearer, NAN where nobody knows; 0: it is one SM that is asked. */
static double stream_of(struct study *s, const char *key, unsigned level, double known, double footprint,
			double latency)
{
	const bool one = known == 0;
	const struct device_info *d = study_device(s);
	const uint64_t threads = power_below(d->max_threads_per_block),
		       fit = d->max_threads_per_sm > threads ? d->max_threads_per_sm / threads : 1;
	struct drawn w = {
	    .key = key, .experiment = EXPERIMENT_STREAM, .latency = latency, .rounds = latency > 0 ? 1 : 4};
	static const char *const names[] = {"memory", "the L2", "the L1"};
	w.what = names[level];
	w.where = one ? "one SM" : "the GPU";
	w.sms = one ? 1 : d->sm_count;
	w.one = one ? NAN : known;
	for (unsigned k = 0; k < 2; k++) {
		double *p = k ? w.half : w.all;
		p[STREAM_THREADS] = (double)(k ? threads / 2 : threads);
		if (footprint > 0) /* what one block reads at once stays in it */
			p[STREAM_THREADS] =
			    fmin(p[STREAM_THREADS], footprint / BYTES / (level == LEVEL_L1 ? 1 : UNROLL) / (k ? 2 : 1));
		p[STREAM_BLOCKS] = one ? 1 : (double)(fit * d->sm_count);
		p[STREAM_FOOTPRINT] = footprint;
		p[STREAM_LEVEL] = level;
		/* In units of the launch's own size, so that no two launches of whatever length read the same: the short ones
		 * of all threads take 16 to 18 sizes of theirs, the long ones 18 to 22, those of half of the threads 22 to 25;
		 * with twice the rounds all begins at 32. */
		p[STREAM_PLACE] = footprint > 0 ? 0 : k ? 44 : 16;
		p[STREAM_PLACE_LONG] = footprint > 0 ? 0 : k ? 23 : 9;
		*(k ? &w.half_bytes : &w.all_bytes) = (double)piece_bytes(p) * p[STREAM_BLOCKS];
	}
	memcpy(w.more, w.all, sizeof w.more);
	w.more[STREAM_MORE] = MORE;
	w.more[STREAM_PLACE] = footprint > 0 ? 0 : 25;
	w.more[STREAM_PLACE_LONG] = footprint > 0 ? 0 : 14;
	/* One SM has to come everywhere by itself. */
	if (one)
		w.rounds = (unsigned)fmin(ROUNDS_MAX, ceil(footprint / (double)piece_bytes(w.half)));
	return conclude(s, &w);
}

/* Whether the level is there for certain; if not, says so of the keys. */
static bool is_there(struct study *s, const char *level, const char *name, const char *const *keys)
{
	static const char *const parts[] = {"size", "latency", "line"};
	bool there = false, absent = false;
	for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
		char key[64];
		snprintf(key, sizeof key, "cache.global.%s.%s", level, parts[i]);
		const struct finding *f = study_finding(s, key);
		there |= f && (f->verdict == VERDICT_MEASURED || f->verdict == VERDICT_BOUND);
		absent |= f && f->verdict == VERDICT_ABSENT;
	}
	double levels;
	there |= study_number(s, "cache.global.levels", &levels) && levels >= 2;
	for (; !there && *keys; keys++)
		if (absent)
			study_verdict(s, *keys, VERDICT_ABSENT, "stream", "loads from global memory have no %s", name);
		else
			study_verdict(s, *keys, VERDICT_INCONCLUSIVE, "stream", "nobody knows whether there is an %s",
				      name);
	return there;
}

/* The value or the known end of a bound. */
static bool at_least(const struct study *s, const char *key, double *v)
{
	const struct finding *f = study_finding(s, key);
	if (study_number(s, key, v))
		return true;
	if (!f || f->verdict != VERDICT_BOUND || !isfinite(f->lo))
		return false;
	*v = f->lo;
	return true;
}

/* Bytes that a level holds for certain: where its size could not be told, it is no smaller than a few of its lines, and a level
 * that was seen at all held many of them. */
static double held(const struct study *s, const char *key, double most, double least)
{
	double size;
	return (double)power_below(at_least(s, key, &size) ? fmin(size / 2, most) : least);
}

/* Cycles that loads take at most, about, or 0: launches have to be so much longer, and longer does no harm. */
static double slowest(const struct study *s)
{
	static const char *const keys[] = {"memory.global.latency", "cache.global.l2.latency"};
	double latency = 0;
	for (unsigned k = 0; k < 2; k++)
		if (at_least(s, keys[k], &latency))
			return latency * (k + 1);
	return 0;
}

/* Returns what one SM draws at least, or NAN. */
static double study_caches(struct study *s, double latency)
{
	static const char *const l2[] = {"cache.global.l2.bandwidth", "cache.global.l2.bandwidth_total", NULL},
				 *const l1[] = {"cache.global.l1.bandwidth", NULL};
	double one = NAN;
	if (is_there(s, "l1", "L1", l1))
		stream_of(s, l1[0], LEVEL_L1, 0, held(s, "cache.global.l1.size", 32 << 10, L1_LEAST), latency);
	if (is_there(s, "l2", "L2", l2)) {
		one = stream_of(s, l2[0], LEVEL_L2, 0, held(s, "cache.global.l2.size", 256 << 10, L2_LEAST), latency);
		if (!study_pending(s))
			stream_of(s, l2[1], LEVEL_L2, one, held(s, "cache.global.l2.size", 1 << 20, L2_LEAST), latency);
	}
	return one;
}

static void study_shared_memory(struct study *s)
{
	const struct device_info *d = study_device(s);
	struct drawn w = {.key = "shared.bandwidth",
			  .what = "shared memory",
			  .where = "one SM",
			  .experiment = EXPERIMENT_SHARED,
			  .rounds = 2};
	double fits = (double)power_below((double)d->shared_per_block * 0.75 / 16);
	w.all[STREAM_BLOCKS] = w.half[STREAM_BLOCKS] = 1;
	w.all[STREAM_THREADS] = fmin(fits, (double)power_below(d->max_threads_per_block));
	w.half[STREAM_THREADS] = w.all[STREAM_THREADS] / 2;
	w.all_bytes = w.all[STREAM_THREADS] * 4 * SHARED_LOADS;
	w.half_bytes = w.half[STREAM_THREADS] * 4 * SHARED_LOADS;
	if (study_number(s, "shared.latency", &w.latency))
		conclude(s, &w);
	else
		study_verdict(s, w.key, VERDICT_INCONCLUSIVE, "", "the latency of shared memory is not known");
}

/* Whether a cache was seen to fetch as many bytes with a miss. */
static bool fetched_at_once(const struct study *s, double lo, double hi)
{
	static const char *const pieces[] = {"cache.global.l1.sector", "cache.global.l2.sector", "cache.global.l1.line",
					     "cache.global.l2.line"};
	for (size_t i = 0; i < sizeof pieces / sizeof *pieces; i++) {
		double bytes;
		if (study_number(s, pieces[i], &bytes) && bytes >= lo && bytes <= hi)
			return true;
	}
	return false;
}

/* Whether what all SMs draw from memory is less than they could take: each draws more from the L2. And the L2 gives twice as much: a
 * line of which the first piece misses passes it up to two times. */
static bool memory_limits(const struct study *s, double rate)
{
	double one, all;
	return at_least(s, "cache.global.l2.bandwidth", &one) && one * study_device(s)->sm_count > CLEARLY * rate &&
	       at_least(s, "cache.global.l2.bandwidth_total", &all) && all > 2 * rate;
}

/* What memory moves for a word that stands alone: the rate of such words against that of a stream. */
static void study_scatter(struct study *s)
{
	static const char key[] = "memory.global.fetch";
	const struct device_info *d = study_device(s);
	const double threads = (double)power_below(d->max_threads_per_block) / 2;
	double p[POINT_PARAMS] = {0}, rate, lo = INFINITY, hi = 0, v[SCATTER_TRIALS * SCATTER_TRIALS],
	       scratch[SCATTER_TRIALS * SCATTER_TRIALS], shorter[SCATTER_TRIALS], longer[SCATTER_TRIALS];
	const struct finding *stream = study_finding(s, "memory.global.bandwidth");
	size_t n = 0;
	p[STREAM_BLOCKS] = d->sm_count * fmax(1, floor(d->max_threads_per_sm / threads / 2));
	p[STREAM_THREADS] = threads;
	for (unsigned k = 0; k < SCATTER_TRIALS; k++) {
		p[STREAM_PLACE] = k;
		const struct point *a = study_ask(s, EXPERIMENT_SCATTER, SCATTER_ROUNDS, p),
				   *b = study_ask(s, EXPERIMENT_SCATTER, 2 * SCATTER_ROUNDS, p);
		shorter[k] = stream_cycles(a);
		longer[k] = stream_cycles(b);
	}
	if (study_pending(s))
		return;
	if (!at_least(s, "memory.global.bandwidth", &rate)) {
		study_verdict(s, key, VERDICT_INCONCLUSIVE, "scatter", "what a stream reads is not known");
		return;
	}
	const double words = SCATTER_ROUNDS * 4 * p[STREAM_BLOCKS] * threads;
	for (unsigned k = 0; k < SCATTER_TRIALS; k++)
		for (unsigned i = 0; i < SCATTER_TRIALS; i++) {
			const double bytes = (longer[k] - shorter[i]) * rate / words;
			if (bytes > 0)
				v[n++] = bytes;
			lo = fmin(lo, bytes);
			hi = fmax(hi, bytes);
		}
	const double median = n ? stat_median(v, n, scratch) : NAN;
	if (n < sizeof v / sizeof v[0] || hi > 1.5 * lo)
		study_verdict(s, key, VERDICT_INCONCLUSIVE, "scatter", "repeats give %.3g to %.3g bytes a word", lo,
			      hi);
	else if (stream->verdict == VERDICT_BOUND ||
		 !memory_limits(s, stream->hi)) /* words may reach more of it than a stream */
		study_verdict(
		    s, key, VERDICT_INCONCLUSIVE, "scatter",
		    "a stream draws %.4g bytes a cycle, which may be what SMs take, and not what memory gives", rate);
	else if (fetched_at_once(s, lo * stream->lo / rate, hi * stream->hi / rate))
		study_measured_number(s, key, median, lo * stream->lo / rate, hi * stream->hi / rate, "card",
				      "rate of words far apart against that of a stream", "scatter",
				      "%.4g words a cycle of all SMs, about %d bytes apart", rate / median,
				      SCATTER_APART);
	else /* what takes an access at a time on its way may be narrower for words than what moves bytes */
		study_bound(
		    s, key, -INFINITY, hi * stream->hi / rate, "rate of words far apart against that of a stream",
		    "scatter",
		    "%.4g words a cycle of all SMs, about %d bytes apart; no cache was seen to fetch as much at once",
		    rate / median, SCATTER_APART);
}

static void study_bandwidth(struct study *s)
{
	double latency = slowest(s);
	study_shared_memory(s);
	const double one = study_caches(s, latency);
	if (!study_pending(s))
		stream_of(s, "memory.global.bandwidth", LEVEL_MEMORY, one, 0, latency);
	study_scatter(s);
	launch_study(s);
}

static const struct experiment experiments[] = {
    [EXPERIMENT_STREAM] = {.name = "stream",
			   .axis = "rounds",
			   .unit = "count",
			   .params = {"blocks", "threads", "footprint", "level", "place", "more"},
			   .setup = setup_stream},
    [EXPERIMENT_SHARED] = {.name = "shared",
			   .axis = "rounds",
			   .unit = "count",
			   .params = {"blocks", "threads", "long"},
			   .setup = setup_shared},
    [EXPERIMENT_TURNS] = {.name = "turns", .axis = "turns", .unit = "count", .params = {"trial"}, .setup = turns_setup},
    [EXPERIMENT_SCATTER] = {.name = "scatter",
			    .axis = "rounds",
			    .unit = "count",
			    .params = {"blocks", "threads", "footprint", "level", "trial"},
			    .setup = setup_scatter},
    [EXPERIMENT_EMPTY] =
	{.name = "empty", .axis = "trial", .unit = "number", .params = {"again"}, .setup = empty_setup},
};

static const char *const needs[] = {"global_cache", "shared_memory", NULL};
static const char *const claims[] = {"memory.global.bandwidth",
				     "memory.global.fetch",
				     "cache.global.*.bandwidth",
				     "cache.global.l2.bandwidth_total",
				     "shared.bandwidth",
				     "host.launch_latency",
				     "device.clock_hz",
				     "branch.turn",
				     NULL};

static int draw_bandwidth(const struct study *s, struct figure_list *out)
{
	const struct series *series = study_series(s, EXPERIMENT_STREAM);
	static const char *const names[] = {"memory", "L2", "L1"};
	double x[ROUNDS_MAX], y[ROUNDS_MAX];
	struct figure *f = NULL;
	for (unsigned level = 0; series && level < 3; level++) {
		size_t n = 0;
		for (size_t i = 0; i < series->count && n < ROUNDS_MAX; i++) {
			const struct point *pt = &series->points[i];
			const double took = stream_cycles(pt);
			if (pt->p[STREAM_LEVEL] != level || isnan(took))
				continue;
			x[n] = pt->p[STREAM_BLOCKS] * pt->p[STREAM_THREADS];
			y[n++] = pt->x * (double)piece_bytes(pt->p) * pt->p[STREAM_BLOCKS] / took;
		}
		if (!n)
			continue;
		if (!f)
			f = figures_new(out, "bandwidth-threads", "Reads: bytes a cycle against threads");
		if (!f)
			return -1;
		f->x = (struct figure_axis){.label = "threads that read", .unit = "count", .log2 = true};
		f->y = (struct figure_axis){.label = "all together", .unit = "bytes/clk"};
		if (figure_add(f, names[level], MARK_POINTS, x, y, NULL, n))
			return -1;
	}
	return 0;
}

const struct probe probe_bandwidth = {
    .name = "bandwidth",
    .asks = "How many bytes a cycle can be read from memory, caches and shared memory, and what does a launch cost?",
    .source = "Lemeire 2016, VI-A, the copy kernel; reads only, with the clock read between stretches",
    .how =
	"Blocks read pieces of memory one after the other, as many threads as an SM takes, on one SM or on all. "
	"Launches of "
	"two lengths are subtracted, so that their beginnings and ends cancel. What is read from memory is read once; "
	"what is read from a cache goes round a footprint that it holds. "
	"A launch of an empty kernel and a loop of known length give the cost of a launch and the rate of the clock.",
    .fooled = "Too few threads: half of them must reach the same rate, else the value is a bound. An SM that cannot "
	      "issue as fast: "
	      "with more instructions beside the loads the rate has to be the same. Caches that keep what an "
	      "earlier launch read: each launch that reads memory does so in a place of its own. Lines that the host's "
	      "writing left in the L2: nothing is written before.",
    .figure = "bandwidth-threads",
    .needs = needs,
    .claims = claims,
    .experiments = experiments,
    .experiment_count = sizeof experiments / sizeof *experiments,
    .study = study_bandwidth,
    .draw = draw_bandwidth,
};
