/* What memory moves for a word that stands alone. */
#include "bandwidth.h"
#include "stat/stat.h"
#include <errno.h>
#include <math.h>
#include <stdio.h>

enum { SCATTER_APART = 512, SCATTER_ROUNDS = 2, SCATTER_TRIALS = 3 };
#define TWO	1.9 /* times what a miss brings: what is nearer to two of them may be two */
#define REPEATS "repeats take %.3g to %.3g cycles a word"

/* x: rounds of four loads; one block on each SM's share of the threads, as a stream has them. */
int bandwidth_scatter_setup(const struct study *s, double x, const double *p, struct job *j)
{
	const struct device_info *d = study_device(s);
	const double loads = p[STREAM_BLOCKS] * p[STREAM_THREADS], all = loads * 4 * x * SCATTER_APART,
		     longest = loads * 4 * 2 * SCATTER_ROUNDS * SCATTER_APART, most = (double)d->memory_bytes / 2;
	if (all > most)
		return -ENOTSUP;
	/* Each launch reads another place, if there is room. Pages lie in places that the driver chooses, and some are
	 * slower by a sixth on a real GPU. */
	const double begin = (p[STREAM_PLACE] + 1) * longest > most ? 0 : p[STREAM_PLACE] * longest;
	j->template_path = "probes/bandwidth/scatter.ptx";
	job_param(j, "APART", SCATTER_APART);
	job_param(j, "STEP", (long long)loads * SCATTER_APART);
	snprintf(j->launch.entry, sizeof j->launch.entry, "scatter");
	j->launch.grid[0] = (uint32_t)p[STREAM_BLOCKS];
	j->launch.block[0] = (uint32_t)p[STREAM_THREADS];
	job_output(j, BANDWIDTH_WORDS * j->launch.grid[0]);
	j->launch.buffers[j->launch.buffer_count++] =
	    (struct launch_buffer){.bytes = (uint64_t)(begin + all), .as_is = true};
	job_arg_buffer(j, 1, (uint64_t)begin);
	job_arg_u32(j, (uint32_t)x);
	j->launch.flush = true;
	j->launch.warmups = 1; /* as in a stream */
	return 0;
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

/* What a miss of the last cache brings, NAN where nobody knows: a word moves no less than that. */
static double brought(const struct study *s)
{
	const struct finding *l2 = study_finding(s, "cache.global.l2.size");
	double bytes;
	return study_number(
		   s, l2 && l2->verdict == VERDICT_ABSENT ? "cache.global.l1.sector" : "cache.global.l2.sector", &bytes)
		   ? bytes
		   : NAN;
}

/* value, lo, hi: bytes of a stream that take as long as a word; words: a cycle. */
static void scatter_fetch(struct study *s, const struct finding *stream, double value, double lo, double hi,
			  double words)
{
	static const char key[] = "memory.global.fetch", method[] = "rate of words far apart against that of a stream";
	const double least = brought(s);

	/* Words may reach more of it than a stream. */
	if (stream->verdict != VERDICT_MEASURED) {
		if (least > 0)
			study_bound(
			    s, key, least, INFINITY, "what a miss of the last cache brings", "scatter",
			    "a word takes as long as %.4g bytes of a stream, whose %.4g bytes a cycle may be what "
			    "SMs take and not memory's limit",
			    value, stream->lo);
		else
			study_verdict(s, key, VERDICT_INCONCLUSIVE, "scatter",
				      "a stream draws %.4g bytes a cycle, which may be what SMs take, and not what "
				      "memory gives",
				      stream->lo);
	} else if (fetched_at_once(s, lo, hi)) {
		study_measured_number(s, key, value, lo, hi, "card", method, "scatter",
				      "%.4g words a cycle of all SMs, about %d bytes apart", words, SCATTER_APART);
	} else if (least < lo && hi < TWO * least) { /* memory moves whole ones of what is brought */
		study_measured_number(s, key, least, least, hi, "card", method, "scatter",
				      "%.4g words a cycle, about %d bytes apart, take as long as %.4g bytes each of a "
				      "stream, less than two of a miss's %.0f",
				      words, SCATTER_APART, value, least);
	} else { /* what takes an access at a time on its way may be narrower for words than what moves bytes */
		study_bound(
		    s, key, -INFINITY, hi, method, "scatter",
		    "%.4g words a cycle of all SMs, about %d bytes apart; no cache was seen to fetch as much at once",
		    words, SCATTER_APART);
	}
}

/* The rate of such words against that of a stream. */
void bandwidth_scatter(struct study *s)
{
	static const char key[] = "memory.global.fetch", rate_key[] = "memory.global.scattered_loads";
	const struct device_info *d = study_device(s);
	const double threads = (double)bandwidth_power_below(d->max_threads_per_block) / 2;
	double p[POINT_PARAMS] = {0}, rate, lo = INFINITY, hi = -INFINITY, v[SCATTER_TRIALS * SCATTER_TRIALS],
	       scratch[SCATTER_TRIALS * SCATTER_TRIALS], shorter[SCATTER_TRIALS], longer[SCATTER_TRIALS];
	const struct finding *stream = study_finding(s, "memory.global.bandwidth");
	size_t n = 0;
	p[STREAM_BLOCKS] = d->sm_count * fmax(1, floor(d->max_threads_per_sm / threads / 2));
	p[STREAM_THREADS] = threads;
	for (unsigned k = 0; k < SCATTER_TRIALS; k++) {
		p[STREAM_PLACE] = k;
		const struct point *a = study_ask(s, EXPERIMENT_SCATTER, SCATTER_ROUNDS, p),
				   *b = study_ask(s, EXPERIMENT_SCATTER, 2 * SCATTER_ROUNDS, p);
		shorter[k] = bandwidth_cycles(study_arena(s), a);
		longer[k] = bandwidth_cycles(study_arena(s), b);
	}
	if (study_pending(s))
		return;
	const double words = SCATTER_ROUNDS * 4 * p[STREAM_BLOCKS] * threads;
	for (unsigned k = 0; k < SCATTER_TRIALS; k++)
		for (unsigned i = 0; i < SCATTER_TRIALS; i++) {
			const double cycles = (longer[k] - shorter[i]) / words;
			if (cycles > 0)
				v[n++] = cycles;
			lo = fmin(lo, cycles);
			hi = fmax(hi, cycles);
		}
	if (n < sizeof v / sizeof v[0] || hi > 1.5 * lo) {
		study_verdict(s, key, VERDICT_INCONCLUSIVE, "scatter", REPEATS, lo, hi);
		study_verdict(s, rate_key, VERDICT_INCONCLUSIVE, "scatter", REPEATS, lo, hi);
		return;
	}
	const double median = stat_median(v, n, scratch);
	study_measured_number(s, rate_key, 1 / median, 1 / hi, 1 / lo, "card",
			      "launches of two lengths, every word in a place of its own", "scatter",
			      "%.4g words, about %d bytes apart", words, SCATTER_APART);
	if (stream && stream->verdict == VERDICT_LIKELY)
		scatter_fetch(s, stream, median * stream->value.number, lo * stream->lo, hi * stream->hi, 1 / median);
	else if (bandwidth_at_least(s, "memory.global.bandwidth", &rate))
		scatter_fetch(s, stream, median * rate, lo * stream->lo, hi * stream->hi, 1 / median);
	else
		study_verdict(s, key, VERDICT_INCONCLUSIVE, "scatter", "what a stream reads is not known");
}
