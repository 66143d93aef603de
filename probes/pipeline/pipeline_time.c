/* Run times of launches, and what a link takes by the difference of two lengths.
 *
 * Two kernels differ only in how many links stand in their loop. Their run times, after as many rounds, differ by links alone:
 * launching, beginning, the loop's own instructions and the end cancel. How often a launch is repeated and how many rounds it
 * makes is decided by what was seen: where two repeats agree and the timer tells them apart well enough, that is all; else
 * there are as many as the paper makes, then more rounds. */
#include "pipeline.h"
#include "stat/stat.h"
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
	SHORT_OPS = 32, /* native-like operations in the loop, over all chains */
	LONG_OPS = 96,
	SOFT_STEPS = 8, /* instructions of a function without hardware */
	FIRST_ROUNDS = 4,
	FIRST_REPEATS = 2,
	REPEATS = 25, /* Lemeire 2016, III */
	ROUNDS_MOST = 1 << 20,
	BLOCKS_MOST = 8,  /* on an SM: what even the oldest devices take */
	LIMIT_MS = 30000, /* some devices compile for each size of a block, when it is first launched */
	TIMER_POINTS = 6
};

#define GOOD	    0.01  /* half of a 95 % interval, of the value */
#define QUIET	    0.005 /* the same of what is as good as exact */
#define USABLE	    0.05
#define ENDS	    0.01   /* of the value: what filling and draining the pipelines hides */
#define NS_MOST	    400e3  /* of a launch that is made longer */
#define DEVIATION   1.4826 /* standard deviations in a MAD */
#define CONFIDENCE  1.96
#define OUTLIER_MAD 5

unsigned pipeline_blocks(const struct device_info *d, unsigned warps)
{
	const unsigned block = d->max_threads_per_block / d->warp_size;
	/* Several blocks have to be on every SM, so few steps have to do there. */
	if (block && warps > block && warps % ((block + 3) / 4))
		return 0;
	for (unsigned n = 1; n <= BLOCKS_MOST && block; n++)
		if (warps % n == 0 && warps / n <= block)
			return n;
	return 0;
}

unsigned pipeline_most_warps(const struct device_info *d, bool *known)
{
	*known = d->max_threads_per_sm >= d->warp_size;
	return (*known ? d->max_threads_per_sm : 2 * d->max_threads_per_block) / d->warp_size;
}

int pipeline_setup(const struct study *s, enum pipeline_class c, double x, const double *p, struct job *j)
{
	const struct device_info *d = study_device(s);
	const struct pipeline_row *r = &pipeline_row[c];
	const unsigned warps = (unsigned)x, blocks = pipeline_blocks(d, warps), chains = (unsigned)p[P_CHAINS];
	const bool text = strcmp(d->dialect, "cl") != 0;
	if (!blocks)
		return -ENOTSUP;
	j->template_path = "probes/pipeline/roof.ptx";
	job_param_text(j, "CLASS", r->name);
	job_param_text(j, "REG", r->reg);
	job_param(j, "CHAINS", chains);
	job_param(j, "LINKS", (long long)p[P_LINKS]);
	job_param_text(j, "FMA", text ? d->has_fma ? "fma.rn.f32" : "mad.f32" : d->has_fma ? "fma" : "mad");
	snprintf(j->launch.entry, sizeof j->launch.entry, "roof");
	/* One block finds room on any SM. More have to be on all of them, or they would spread. */
	j->launch.grid[0] = blocks == 1 ? 1 : blocks * d->sm_count;
	j->launch.block[0] = warps / blocks * d->warp_size;
	/* Equation 2: no more blocks than that have room in the local memory, if an SM has no more than a block may have. */
	j->launch.shared_bytes = (uint32_t)(d->shared_per_block / (blocks + 1) + 256) & ~255u;
	struct launch_buffer *sink = &j->launch.buffers[j->launch.buffer_count];
	sink->space = BUFFER_GLOBAL;
	sink->bytes = 8ull * chains * j->launch.block[0];
	job_arg_buffer(j, j->launch.buffer_count++, 0);
	job_arg_u32(j, (uint32_t)p[P_ROUNDS]);
	job_arg_u32(j, 0);
	job_arg_u32(j, 17);
	job_arg_u32(j, 29);
	j->launch.warmups = 1;
	j->launch.repeats = (uint32_t)p[P_REPEATS];
	j->launch.timed = SPAN_KERNELS;
	j->launch.time_limit_ms = LIMIT_MS;
	j->check.cls = NATIVE_ALU;
	j->check.min = (unsigned)p[P_LINKS] * chains * (c == CLASS_SOFTSF ? SOFT_STEPS : 1);
	j->check.max = UINT32_MAX;
	j->check.others = UINT32_MAX;
	return 0;
}

/* ---- times of a point ---- */

struct times {
	double ns, spread; /* robust mean; half of its repeats' 95 % interval */
};

static struct times times_of(const struct point *pt)
{
	double v[LAUNCH_TIMED] = {0}, scratch[LAUNCH_TIMED];
	size_t n = 0, used = 0;
	for (uint32_t r = 0; r < pt->repeats && n < LAUNCH_TIMED; r++) {
		const uint32_t *w = pt->y + (size_t)(r + 1) * pt->words_per_repeat - 2;
		v[n++] = (double)w[0] + 4294967296.0 * w[1];
	}
	const double mad = stat_mad(v, n, scratch);
	const double low = stat_quantile(v, n, 0, scratch), high = stat_quantile(v, n, 1, scratch);
	return (struct times){.ns = stat_trimmed_mean(v, n, OUTLIER_MAD, 0, scratch, &used),
			      .spread = n < 5 ? (high - low) / 2 : CONFIDENCE * DEVIATION * mad};
}

static const struct point *ask(struct study *s, enum pipeline_class c, unsigned warps, unsigned chains, unsigned links,
			       unsigned rounds, unsigned repeats)
{
	const double p[POINT_PARAMS] = {
	    [P_CHAINS] = chains, [P_LINKS] = links, [P_ROUNDS] = rounds, [P_REPEATS] = repeats};
	return study_ask(s, c, warps, p);
}

bool pipeline_timer(struct study *s, double *ns, const char **why)
{
	static const unsigned rounds[TIMER_POINTS] = {7, 61, 127, 251, 509, 1021};
	double x[TIMER_POINTS], y[TIMER_POINTS], off[TIMER_POINTS], scratch[TIMER_POINTS], slope, start, noise = 0;
	bool all = true;
	*why = NULL;
	for (unsigned i = 0; i < TIMER_POINTS; i++) {
		const struct point *pt = ask(s, CLASS_SP, 1, 1, SHORT_OPS, rounds[i], FIRST_REPEATS + 1);
		all = all && pt;
		if (!pt)
			continue;
		if (pt->outcome != OUTCOME_OK) {
			*why = point_why(pt);
			return false;
		}
		const struct times t = times_of(pt);
		x[i] = rounds[i];
		y[i] = t.ns;
		noise = fmax(noise, t.spread / 2);
	}
	if (!all)
		return false;
	if (!stat_line(x, y, TIMER_POINTS, &slope, &start) || !(slope > 0)) {
		*why = "longer kernels do not take longer";
		return false;
	}
	for (unsigned i = 0; i < TIMER_POINTS; i++)
		off[i] = fabs(y[i] - start - slope * x[i]);
	*ns = fmax(1, fmax(noise, 2 * stat_median(off, TIMER_POINTS, scratch)));
	return true;
}

/* ---- a link's time ---- */

struct difference {
	bool there;
	double ns, half, coarse; /* for one link; half of the 95 % interval */
	double launch;		 /* the longer launch */
	const struct point *point, *bad;
};

static struct difference difference(struct study *s, enum pipeline_class c, unsigned chains, unsigned warps,
				    double timer, unsigned rounds, unsigned repeats)
{
	const unsigned step = chains * (c == CLASS_SOFTSF ? SOFT_STEPS : 1);
	const unsigned few = SHORT_OPS / step, many = LONG_OPS / step;
	const struct point *a = ask(s, c, warps, chains, few, rounds, repeats),
			   *b = ask(s, c, warps, chains, many, rounds, repeats);
	struct difference out = {.point = b};
	if (a && a->outcome != OUTCOME_OK)
		out.bad = a;
	if (b && b->outcome != OUTCOME_OK)
		out.bad = b;
	if (!a || !b || out.bad)
		return out;
	const struct times ta = times_of(a), tb = times_of(b);
	const double links = (double)(many - few) * chains * rounds;
	out.there = true;
	out.launch = tb.ns;
	out.ns = (tb.ns - ta.ns) / links;
	/* A mean over many repeats is as far off as the timer is only when all of them are, in the same direction. */
	out.half = fmax(hypot(ta.spread, tb.spread), timer) / links;
	out.coarse = tb.ns / ((double)many * chains * rounds);
	return out;
}

struct pipeline_time pipeline_ask(struct study *s, enum pipeline_class c, unsigned chains, unsigned warps, double timer)
{
	struct pipeline_time out = {.ok = false};
	unsigned rounds = FIRST_ROUNDS, repeats = FIRST_REPEATS;
	struct difference d = {.there = false};
	for (unsigned step = 0; step < 8; step++) {
		d = difference(s, c, chains, warps, timer, rounds, repeats);
		out.bad = d.bad;
		if (!d.there)
			return out;
		const double good = repeats < REPEATS ? QUIET : GOOD;
		if (d.ns > 0 && d.half <= good * d.ns)
			break;
		/* Where the timer is what is too coarse, more repeats of the same are of no use. */
		const double links = d.launch / d.coarse, want = GOOD / 2;
		if (repeats < REPEATS && d.ns > 0 && timer / links <= want * d.ns) {
			repeats = REPEATS;
			continue;
		}
		const double more = d.ns > 0 ? fmin(fmax(d.half / (want * d.ns), 2), 64) : 64;
		const unsigned next = (unsigned)fmin(ROUNDS_MOST, rounds * exp2(ceil(log2(more))));
		const double fits = NS_MOST / fmax(d.launch, 1);
		if (next == rounds || fits < 2) {
			if (repeats == REPEATS)
				break;
			repeats = REPEATS;
			continue;
		}
		repeats = REPEATS;
		rounds = fmin(next, rounds * fits) < 2 * rounds
			     ? 2 * rounds
			     : (unsigned)exp2(floor(log2(fmin(next, rounds * fits))));
	}
	/* The mean is better known than one repeat is. */
	out.ok = d.ns > 0 && d.half * 2 / sqrt(fmax(repeats, 4)) <= USABLE * d.ns;
	out.ns = d.ns;
	out.lo = d.ns - hypot(d.half, ENDS * d.ns);
	out.hi = d.ns + hypot(d.half, ENDS * d.ns);
	out.coarse = d.coarse;
	out.repeats = repeats;
	out.point = d.point;
	return out;
}
