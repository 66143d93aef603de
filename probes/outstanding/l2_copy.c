/* How much of an array the L2 still holds when it is copied again: its size, by the time of a copy (Lashgar 2015, 3.3). */
#include "l2_copy.h"
#include <math.h>
#include <stdio.h>

enum { ELEMENT = 8, THREADS = 256, SMALL_PLACE = 16384, STEPS_PER_OCTAVE = 8, OCTAVES_MOST = 16, ROUNDS_COPIED = 2 };

#define FIRST	    65536.0 /* bytes */
#define LONG_ENOUGH 1e6	    /* bytes: the time of a launch itself no longer matters */
#define QUANTUM	    2048    /* of sizes: bytes of one block */
#define GAIN	    0.3	    /* of the time from memory: what an L2 gains at least */
#define GONE	    0.5	    /* of the most that was gained: the array is no longer held */
#define GROWS	    1.3	    /* times from octave to octave, at least ... */
#define GROWS_MOST  2.8
#define LEFT	    0.2	 /* of the most that was gained, an octave further on */
#define HELD	    0.75 /* of what is expected to be gained */
#define FADED	    0.35 /* of that: hardly anything is held */
#define WHOLE	    0.9	 /* of the most that a byte gained: all is held; waves of blocks differ by 4 % */
#define SHARP	    1.3	 /* sizes from one to the other: what is replaced is not what comes next */
#define OVERFLOWED  0.3	 /* of a size: so much too large an array is held in part, where not the oldest is replaced */

enum copy_param { COPY_FLUSHED, COPY_ROUND };

int copy_setup(const struct study *s, double x, const double *p, struct job *j)
{
	const struct device_info *d = study_device(s);
	const uint32_t threads = d->max_threads_per_block < THREADS ? d->max_threads_per_block : THREADS;

	j->template_path = "probes/outstanding/copy.ptx";
	/* Past the L1, which is not asked for. */
	job_param_text(j, "LD", d->cc < 20 ? "ld.volatile.global" : "ld.global.cg");
	snprintf(j->launch.entry, sizeof j->launch.entry, "copy");
	j->launch.grid[0] = (uint32_t)(x / ELEMENT / threads);
	j->launch.grid[1] = j->launch.grid[2] = 1;
	j->launch.block[0] = threads;
	j->launch.block[1] = j->launch.block[2] = 1;
	job_output(j, 1);
	for (unsigned k = 0; k < 2; k++) {
		const uint32_t b = j->launch.buffer_count++;
		j->launch.buffers[b] = (struct launch_buffer){
		    .space = BUFFER_GLOBAL, .bytes = k ? SMALL_PLACE : COPY_MOST, .align = 4096, .as_is = true};
		job_arg_buffer(j, b, 0);
	}
	job_arg_u32(j, SMALL_PLACE - 1);
	j->launch.flush = p[COPY_FLUSHED] > 0;
	j->launch.warmups = j->launch.flush ? 0 : 1;
	return 0;
}

/* Milliseconds of a copy, the least of some. NAN: not yet, or not at all. */
static double copy_time(struct study *s, unsigned experiment, double bytes, bool flushed)
{
	double least = INFINITY;

	for (unsigned r = 0; r < (bytes < LONG_ENOUGH ? ROUNDS_COPIED : 1); r++) {
		const double p[POINT_PARAMS] = {flushed, r};
		const struct point *pt = study_ask(s, experiment, bytes, p);
		if (!pt || pt->outcome != OUTCOME_OK || pt->elapsed_ms < 0 || pt->y[0] != 1)
			return NAN;
		least = fmin(least, pt->elapsed_ms);
	}
	return least;
}

struct times {		   /* milliseconds of a copy; what a launch costs with hardly anything to copy is taken off */
	double warm, cold; /* when it was made just before, and from memory */
};

static struct times copy_times(struct study *s, unsigned experiment, double bytes)
{
	return (struct times){
	    copy_time(s, experiment, bytes, false) - copy_time(s, experiment, QUANTUM, false),
	    copy_time(s, experiment, bytes, true) - copy_time(s, experiment, QUANTUM, true),
	};
}

static double gain(struct times t)
{
	return t.cold - t.warm;
}

/* Whether both times about double from each of the last octaves to the next. The L2 still holds all then, and the
 * memory does not slow down for reasons of its own. */
static bool doubles(const struct times *t, unsigned best)
{
	if (best < 2)
		return false;
	for (unsigned k = best - 1; k <= best; k++) {
		const double warm = t[k].warm / t[k - 1].warm, cold = t[k].cold / t[k - 1].cold;
		if (!(warm > GROWS && warm < GROWS_MOST && cold > GROWS && cold < GROWS_MOST))
			return false;
	}
	return true;
}

static double size_of_step(unsigned step)
{
	return floor(FIRST * exp2((double)step / STEPS_PER_OCTAVE) / QUANTUM) * QUANTUM;
}

/* The last size from step lo on, below hi, at which a share of the expected gain is there. */
static enum chase_state last_gain(struct study *s, unsigned experiment, unsigned lo, unsigned hi, double most,
				  double growth, double part, unsigned *last)
{
	const unsigned from = lo;

	while (hi - lo > 1) {
		const unsigned mid = (lo + hi) / 2;
		const double more = size_of_step(mid) / size_of_step(from) - 1,
			     is = gain(copy_times(s, experiment, size_of_step(mid)));
		if (study_pending(s))
			return CHASE_PENDING;
		if (!(is >= part * most * (1 + (growth - 1) * more)))
			hi = mid;
		else
			lo = mid;
	}
	*last = lo;
	return CHASE_DONE;
}

/* The last size from `from` on, below `gone`, of which each byte gains as before. */
static enum chase_state last_whole(struct study *s, unsigned experiment, double from, double gone, double *last)
{
	double lo = from / QUANTUM, hi = gone / QUANTUM, most = gain(copy_times(s, experiment, from)) / lo;

	while (hi - lo > 1) {
		const double mid = floor((lo + hi) / 2), is = gain(copy_times(s, experiment, mid * QUANTUM)) / mid;
		if (study_pending(s))
			return CHASE_PENDING;
		if (is >= WHOLE * most) {
			lo = mid;
			most = fmax(most, is);
		} else {
			hi = mid;
		}
	}
	*last = lo * QUANTUM;
	return CHASE_DONE;
}

enum chase_state copy_size(struct study *s, unsigned experiment, struct copied *out)
{
	struct times t[OCTAVES_MOST] = {0};
	unsigned n = 0, best = 0;
	bool lost = false;

	*out = (struct copied){0};
	for (; !lost && n < OCTAVES_MOST && size_of_step(n * STEPS_PER_OCTAVE) <= COPY_MOST; n++) {
		t[n] = copy_times(s, experiment, size_of_step(n * STEPS_PER_OCTAVE));
		if (study_pending(s))
			return CHASE_PENDING;
		if (!isfinite(gain(t[n]))) {
			snprintf(out->why, sizeof out->why, "copies of %.0f bytes could not be timed",
				 size_of_step(n * STEPS_PER_OCTAVE));
			return CHASE_UNDECIDED;
		}
		if (gain(t[n]) > gain(t[best]))
			best = n;
		lost = gain(t[n]) < GONE * gain(t[best]);
	}
	out->share = gain(t[best]) / t[best].cold;
	if (!(out->share > GAIN)) {
		snprintf(out->why, sizeof out->why,
			 "a copy that was made before takes %.2f times as long as one from memory", 1 - out->share);
		return CHASE_UNDECIDED;
	}
	unsigned lo = best * STEPS_PER_OCTAVE, hi = (n - 1) * STEPS_PER_OCTAVE;
	const double from = size_of_step(lo);
	if (!doubles(t, best) || (lost && gain(t[n - 1]) > LEFT * gain(t[best]))) {
		snprintf(out->why, sizeof out->why,
			 "what a second copy gains does not grow with the size and end: "
			 "%.3g ms at %.0f bytes, %.3g ms at %.0f",
			 gain(t[best]), from, gain(t[n - 1]), size_of_step((n - 1) * STEPS_PER_OCTAVE));
		return CHASE_UNDECIDED;
	}
	if (!lost) {
		out->least = from / (1 + OVERFLOWED);
		return CHASE_DONE;
	}
	/* What is gained grows with what is copied, or where latencies hide behind each other, less. */
	const double growth = fmin(fmax(gain(t[best]) / gain(t[best - 1]), 1), 2);
	unsigned fits = lo, gone = lo;
	enum chase_state state = last_gain(s, experiment, lo, hi, gain(t[best]), growth, HELD, &fits);
	if (state == CHASE_DONE)
		state = last_gain(s, experiment, fits, hi, gain(t[best]), growth, FADED, &gone);
	if (state == CHASE_PENDING)
		return state;
	if (size_of_step(gone + 1) > SHARP * size_of_step(fits)) {
		snprintf(out->why, sizeof out->why, "what a second copy gains fades from %.0f to %.0f bytes",
			 size_of_step(fits), size_of_step(gone + 1));
		return CHASE_UNDECIDED;
	}
	out->least = size_of_step(fits) / (1 + OVERFLOWED);
	out->most = size_of_step(gone + 1);
	/* An array with some gain left may fit, or be too large and held in part. The rule of replacement decides that,
	 * which is not known here. By any rule the gain of a byte falls from the size on that no longer fits. */
	state = last_whole(s, experiment, from, out->most, &out->size);
	out->size = fmax(out->size, ceil(out->least));
	return state;
}
