/* The patterns as launches, and what comes back. */
#include "base/units.h"
#include "data/native_record.h"
#include "outstanding.h"
#include "stat/stat.h"
#include <errno.h>
#include <math.h>
#include <stdio.h>

#define LATE 0.5 /* of a jump: what another SM may not make of it */

enum {
	WORD_BEFORE = 2,
	WORD_ISSUED,
	WORD_AFTER,
	WORD_THREADS,
	WORD_SAW = 8,
	WORD_ENDED = 10,
	WORDS_OF_THREAD, /* a record that is older has no more */
	WORD_READY = WORDS_OF_THREAD,
	WORD_LAST,
	WORDS
};
enum { MEASURED_SM = 0, BESIDE_SPIN = 20000, BESIDE_BUSY = 64 };

/* What all kernels have: the block, its lines, and who loads them. Returns the bytes that one load of the block covers. */
static uint32_t setup_block(const struct study *s, double x, const double *p, uint32_t stride, unsigned way,
			    uint32_t first, struct job *j)
{
	const struct device_info *d = study_device(s);
	const uint32_t warp = d->warp_size, loads = (uint32_t)p[LATENCY_LOADS], group = (uint32_t)p[LATENCY_GROUP],
		       threads = (uint32_t)x, extra = (uint32_t)p[LATENCY_EXTRA], more = (uint32_t)p[LATENCY_MORE],
		       per_warp = (warp + group - 1) / group;
	uint32_t warps = (threads + (extra ? more : 0) + warp - 1) / warp, b;

	if (warps * warp > d->max_threads_per_block)
		return 0;
	warps = warps ? warps : 1;
	j->template_path = "probes/outstanding/thread_latency.ptx";
	job_param(j, "LOADS", loads);
	job_param(j, "WARPLOG", log2_floor(warp));
	job_param(j, "WARPS", d->max_threads_per_block / warp);
	snprintf(j->launch.entry, sizeof j->launch.entry, "thread_latency");
	j->launch.block[0] = warps * warp;
	j->launch.block[1] = j->launch.block[2] = 1;
	j->launch.carveout = CARVEOUT_MAX_L1;
	job_output(j, WORDS);
	job_pin(j, d, MEASURED_SM);
	b = j->launch.buffer_count++;
	j->launch.buffers[b] = (struct launch_buffer){
	    .space = BUFFER_GLOBAL,
	    .bytes = (uint64_t)2 * LOADS_MOST * d->max_threads_per_block * 2 * LATENCY_STRIDE_BYTES +
		     (uint64_t)PLACES * 2 * LATENCY_STRIDE_BYTES,
	    .align = 4096,
	    .as_is = true,
	};
	job_arg_buffer(j, b, (uint64_t)first * stride);
	job_arg_u32(j, warps * per_warp * stride);
	job_arg_u32(j, stride);
	job_arg_u32(j, group);
	job_arg_u32(j, per_warp);
	job_arg_u32(j, p[LATENCY_LANES] > 0 ? (uint32_t)p[LATENCY_LANES] : warp);
	job_arg_u32(j, threads);
	job_arg_u32(j, extra);
	job_arg_u32(j, more);
	job_arg_u32(j, way == LATENCY_MEMORY ? stride / 2 : 0);
	j->launch.flush = way == LATENCY_MEMORY;
	j->launch.repeats = LATENCY_RUNS;
	j->check.cls = NATIVE_LOAD_GLOBAL;
	j->check.region = 0;
	j->check.min = j->check.max = loads;
	j->check.others = 4 * loads + 8;
	return warps * per_warp * stride;
}

static const char *past_l1(const struct study *s)
{
	return study_device(s)->cc < 20 ? "ld.volatile.global" : "ld.global.cg";
}

static int latency_setup(const struct study *s, double x, const double *p, struct job *j, unsigned way)
{
	if (!setup_block(s, x, p, (uint32_t)p[LATENCY_STRIDE], way, (uint32_t)p[LATENCY_ROUND], j))
		return -ENOTSUP;
	job_param(j, "BESIDE", 0);
	/* Past the L1 the same lines can be asked for again, and come from the L2. */
	job_param_text(j, "LD", way == LATENCY_MEMORY ? "ld.global" : past_l1(s));
	return 0;
}

int beside_setup(const struct study *s, double x, const double *p, struct job *j)
{
	const uint32_t region = setup_block(s, x, p, LATENCY_STRIDE_BYTES, (unsigned)p[BESIDE_WAY], 0, j);

	if (!region)
		return -ENOTSUP;
	job_param(j, "BESIDE", 1);
	job_param(j, "SPIN", BESIDE_SPIN);
	/* Past the L1 also where memory answers: the other SM asks for the same lines again and again. */
	job_param_text(j, "LD", past_l1(s));
	job_arg_u32(j, (uint32_t)p[BESIDE_SM]);
	job_arg_u32(j, (uint32_t)p[BESIDE_ROUNDS]);
	job_arg_u32(j, (uint32_t)p[LATENCY_LOADS] * region);
	return 0;
}

const struct point *latency_ask(struct study *s, unsigned way, const struct pattern *m)
{
	const double p[POINT_PARAMS] = {m->loads, m->group,  m->lanes,	  m->extra,
					m->more,  m->stride, MEASURED_SM, m->round};
	return study_ask(s, way, m->threads, p);
}

/* Of thread 0 until it had issued its loads; or of the block, from when its last warp was ready to the last one's end. */
static size_t cycles_of(const struct point *pt, bool issue, double *v)
{
	size_t n = 0;
	for (uint32_t r = 0; pt && pt->outcome == OUTCOME_OK && r < pt->repeats && n < LATENCY_RUNS; r++) {
		const uint32_t *w = pt->y + (size_t)r * pt->words_per_repeat;
		if (pt->words_per_repeat < WORDS_OF_THREAD)
			continue;
		v[n++] = (uint32_t)(issue			    ? w[WORD_ISSUED] - w[WORD_BEFORE]
				    : pt->words_per_repeat >= WORDS ? w[WORD_LAST] - w[WORD_READY]
								    : w[WORD_AFTER] - w[WORD_BEFORE]);
	}
	return n;
}

double latency_mean(const struct point *pt)
{
	double v[LATENCY_RUNS];
	size_t n = cycles_of(pt, false, v);
	return n ? stat_harmonic_mean(v, n) : NAN;
}

static double least(const struct point *pt, bool issue)
{
	double v[LATENCY_RUNS], least = INFINITY;
	size_t n = cycles_of(pt, issue, v);
	for (size_t i = 0; i < n; i++)
		least = fmin(least, v[i]);
	return n ? least : NAN;
}

double latency_least(const struct point *pt)
{
	return least(pt, false);
}

double latency_issue(const struct point *pt)
{
	return least(pt, true);
}

double latency_whole(const struct point *pt)
{
	double least = INFINITY;

	for (uint32_t r = 0; pt && pt->outcome == OUTCOME_OK && r < pt->repeats; r++) {
		const uint32_t *w = pt->y + (size_t)r * pt->words_per_repeat;
		if (pt->words_per_repeat >= WORDS)
			least = fmin(least, fmax((uint32_t)(w[WORD_LAST] - w[WORD_BEFORE]), latency_least(pt)));
	}
	return isfinite(least) ? least : latency_least(pt);
}

/* Least cycles of n steps of a curve while the SM `other` does the same. */
static double time_beside(struct study *s, const struct curve *c, unsigned n, unsigned other, unsigned rounds)
{
	const struct pattern m = curve_pattern(s, c, n);
	const double p[POINT_PARAMS] = {m.loads, m.group, m.lanes, m.extra, m.more, c->way->number, other, rounds};
	const struct point *pt = study_ask(s, BESIDE, m.threads, p);

	for (uint32_t r = 0; pt && pt->outcome == OUTCOME_OK && r < pt->repeats; r++) {
		const uint32_t *w = pt->y + (size_t)r * pt->words_per_repeat;
		if (!w[WORD_SAW] || (rounds == BESIDE_BUSY && w[WORD_ENDED]))
			return NAN; /* it was not there all the time */
	}
	return latency_least(pt);
}

enum chase_state beside_measure(struct study *s, const struct curve *c, bool *own, char *why, size_t n)
{
	const unsigned sms = study_device(s)->sm_count, others[] = {1, sms - 1};
	enum chase_state state = CHASE_DONE;

	*own = true;
	if (sms < 2) {
		snprintf(why, n, "there is no other SM to compare with");
		return CHASE_UNDECIDED;
	}
	for (unsigned k = 0; k < (sms > 2 ? 2 : 1); k++) {
		const double alone = time_beside(s, c, c->fits, others[k], 1),
			     full = time_beside(s, c, c->fits + 1, others[k], 1),
			     busy = time_beside(s, c, c->fits, others[k], BESIDE_BUSY);
		if (study_pending(s)) {
			state = CHASE_PENDING;
		} else if (!isfinite(alone + full + busy)) {
			snprintf(why, n, "SMs 0 and %u could not be timed together", others[k]);
			return CHASE_UNDECIDED;
		} else if (busy - alone > LATE * (full - alone)) {
			*own = false;
			snprintf(why, n, "what is full is shared: %.0f cycles become %.0f while SM %u does the same",
				 alone, busy, others[k]);
		}
	}
	return state;
}

int memory_setup(const struct study *s, double x, const double *p, struct job *j)
{
	return latency_setup(s, x, p, j, LATENCY_MEMORY);
}

int l2_setup(const struct study *s, double x, const double *p, struct job *j)
{
	return latency_setup(s, x, p, j, LATENCY_L2);
}
