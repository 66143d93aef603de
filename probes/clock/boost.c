#include "boost.h"
#include "base/arena.h"
#include "stat/stat.h"
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { HEADER_WORDS = 2, GROUPS = 3000, REPEATS = 4, SPARE = 1024, FEW = 8, LENGTHS = 3 };
/* Loads of a group. The longest only where a clock that counts in steps says too little of the others. */
static const unsigned loads[LENGTHS] = {2, 4, 16};
#define NOTICED 0.012 /* loads that take so much longer do so for a reason; slow drifts are smaller */
#define MANY	0.005 /* of the groups: fewer may be those in which something delayed all four chains */
#define VAGUE	0.01  /* of a load: what is not known better is bounded, and not said to be measured */
#define BOTH	0.25  /* as many are seen at the step beside the usual one: what they took ends between the two */
#define TOGETHER                                                                                                       \
	0.5 /* of the slow groups have one beside them: a clock is faster for a while, what delays a load comes and goes */
#define ALIKE 0.6 /* of the slow groups are as slow as the others, where a clock changed between two rates */

static uint32_t groups_of(const struct device_info *d)
{
	uint64_t fits = d->shared_per_block > SPARE ? (d->shared_per_block - SPARE) / 4 : 0;
	return fits < GROUPS ? (uint32_t)fits : GROUPS;
}

int boost_setup(const struct study *s, double x, const double *p, struct job *j)
{
	uint32_t groups = groups_of(study_device(s));
	uint64_t *order = ARENA_ARRAY(j->arena, 1, uint64_t);
	(void)p;
	if (!order)
		return -ENOMEM;
	if (!groups)
		return -ENOTSUP;
	j->template_path = "probes/clock/boost.ptx";
	snprintf(j->launch.entry, sizeof j->launch.entry, "boost");
	job_param(j, "N", (long long)x);
	j->launch.block[0] = j->launch.block[1] = j->launch.block[2] = 1;
	job_output(j, HEADER_WORDS + groups);
	job_pin(j, study_device(s), 0);
	job_arg_buffer(j, job_ring(j, BUFFER_GLOBAL, NULL, 256, order, 1, 8), 0);
	job_arg_u32(j, groups);
	j->launch.shared_bytes = groups * 4;
	j->launch.repeats = REPEATS;
	j->check.cls = NATIVE_LOAD_GLOBAL;
	j->check.region = 0;
	j->check.min = j->check.max = (unsigned)x;
	j->check.others = 12;
	return 0;
}

/* Cycles that groups took, as the steps of the clock leave them. */
struct span {
	double mid, half;
};

struct pace {
	struct span usual, slow;
	unsigned groups, slower, alike, together;
	double quick;  /* a quarter of them take less */
	double cycles; /* that all of them took */
};

static size_t count_of(const double *v, size_t n, double value)
{
	size_t count = 0;
	for (size_t i = 0; i < n; i++)
		count += v[i] == value;
	return count;
}

/* A time of T cycles is seen as the clock's last step before T or the first one after. T is more than the larger of
 * these less a step, and less than the smaller and one step. v: sorted. Values far from the middle have another cause,
 * or met the boosted clock for a part of their time. */
static struct span span_of(const double *v, size_t n, double step)
{
	const double middle = v[n / 2];
	const size_t same = count_of(v, n, middle), below = count_of(v, n, middle - step),
		     above = count_of(v, n, middle + step);
	if (step <= 1 || BOTH * same > (below > above ? below : above))
		return (struct span){middle, step - 1};
	return (struct span){middle + (below > above ? -step : step) / 2, step / 2 - 1};
}

static bool pace_of(struct study *s, const struct point *pt, double step, struct pace *out)
{
	size_t n = 0, all = (size_t)pt->repeats * (pt->words_per_repeat - HEADER_WORDS), slower = 0;
	double *v = ARENA_ARRAY(study_arena(s), all, double);
	*out = (struct pace){0};
	if (!v)
		return false;
	for (unsigned r = 0; r < pt->repeats; r++)
		for (uint32_t i = 1; i + HEADER_WORDS < pt->words_per_repeat; i++) { /* the first brings its code */
			uint32_t t = pt->y[(size_t)r * pt->words_per_repeat + HEADER_WORDS + i];
			out->cycles += 4.0 * t;
			v[n++] = t;
		}
	if (n < 64)
		return false;
	qsort(v, n, sizeof *v, stat_compare_double);
	out->quick = v[n / 4];
	const double from = out->quick * (1 + NOTICED) + step;
	while (slower < n && v[n - 1 - slower] > from)
		slower++;
	out->groups = (unsigned)n;
	out->slower = (unsigned)slower;
	out->usual = out->slow = span_of(v, n - slower, step);
	if (!slower)
		return true;
	out->slow = span_of(v + (n - slower), slower, step);
	for (unsigned r = 0; r < pt->repeats; r++) {
		const uint32_t *t = pt->y + (size_t)r * pt->words_per_repeat + HEADER_WORDS;
		const uint32_t count = pt->words_per_repeat - HEADER_WORDS;
		for (uint32_t i = 1; i < count; i++)
			out->together +=
			    t[i] > from && ((i > 1 && t[i - 1] > from) || (i + 1 < count && t[i + 1] > from));
	}
	const double slow = v[n - 1 - slower / 2];
	for (size_t i = n - slower; i < n; i++)
		out->alike += fabs(v[i] - slow) <= 0.01 * slow + step;
	return true;
}

void boost_ask(struct study *s, unsigned experiment)
{
	for (unsigned i = 0; i < LENGTHS - 1; i++)
		study_ask(s, experiment, loads[i], NULL);
}

/* False: it says nothing. */
static bool ask_pace(struct study *s, unsigned experiment, unsigned i, double step, struct pace *out, const char **why)
{
	const struct point *pt = study_ask(s, experiment, loads[i], NULL);

	*why = point_why(pt);
	return pt && pt->outcome == OUTCOME_OK && pace_of(s, pt, step, out);
}

/* A load of the usual clock, from two lengths: what lies around the loads is the SM's, and keeps its cycles. */
static struct span load_of(const struct pace *pace, unsigned lengths)
{
	const struct span a = pace[lengths - 2].usual, b = pace[lengths - 1].usual;
	const double more = loads[lengths - 1] - loads[lengths - 2];
	return (struct span){(b.mid - a.mid) / more, (a.half + b.half) / more};
}

/* How far off a share may be that loads of `n` say. It is off by the steps of the clock, and by what is not known of
 * the load. It is off by half a cycle, too, as each load may end later than it would: at a whole cycle. */
static double reach_of(double n, double steps, struct span load, double gain)
{
	return (steps / n + 0.5 + gain * load.half) / load.mid;
}

void boost_study(struct study *s, unsigned experiment, double step)
{
	static const char key[] = "clock.boost", method[] = "dependent loads of one line, over and over";
	struct pace pace[LENGTHS];
	unsigned lengths = 0;
	const char *why;
	if (step < 1) {
		study_verdict(s, key, VERDICT_INCONCLUSIVE, "boost", "the counter hardly moves");
		return;
	}
	for (; lengths < LENGTHS - 1; lengths++)
		if (!ask_pace(s, experiment, lengths, step, &pace[lengths], &why)) {
			study_verdict(s, key, VERDICT_INCONCLUSIVE, "boost", "%s", why);
			return;
		}
	struct span load = load_of(pace, lengths);
	/* Runs from before this was asked do without. */
	if (step > 1 && load.mid > 0 && reach_of(loads[lengths - 1], 2 * (step - 1), load, 0) > VAGUE &&
	    ask_pace(s, experiment, lengths, step, &pace[lengths], &why))
		load = load_of(pace, ++lengths);
	if (study_pending(s))
		return;
	double gain = 0, reach = INFINITY, cycles = 0, least = 0;
	unsigned slower = 0, together = 0, groups = 0;
	for (unsigned i = 0; i < lengths; i++) {
		slower += pace[i].slower;
		together += pace[i].together;
		groups += pace[i].groups;
		cycles += pace[i].cycles;
		if (pace[i].slower < MANY * pace[i].groups || pace[i].alike < ALIKE * pace[i].slower ||
		    pace[i].together < TOGETHER * pace[i].slower || load.mid <= 0)
			continue;
		const double share = (pace[i].slow.mid - pace[i].usual.mid) / (loads[i] * load.mid);
		const double off = reach_of(loads[i], pace[i].slow.half + pace[i].usual.half, load, share);
		if (off > reach)
			continue;
		gain = share;
		reach = off;
		least = 1 / (loads[i] * load.mid);
	}
	if (reach <= VAGUE) {
		study_measured_number(s, key, gain, fmax(gain - reach, least), gain + reach, "sm", method, "boost",
				      "%u of %u groups of loads take as much longer: the SM's clock ran faster against "
				      "that of the memory for a while",
				      slower, groups);
	} else if (reach < INFINITY) {
		/* What others have to reckon with all the same. */
		struct finding f = study_measured(key, gain, fmax(gain - reach, least), gain + reach, method);
		f.verdict = VERDICT_INCONCLUSIVE;
		f.value = (struct value){0};
		snprintf(f.evidence[f.evidence_count++], sizeof f.evidence[0], "boost");
		snprintf(f.because, sizeof f.because,
			 "%u of %u groups of loads take longer, for a while, by a share from %.3f to %.3f. The clock "
			 "counts in steps of %g cycles",
			 slower, groups, f.lo, f.hi, step);
		study_conclude(s, &f);
	} else if (together >= FEW) {
		study_verdict(s, key, VERDICT_INCONCLUSIVE, "boost",
			      "%u of %u groups of loads took longer, too few of them or by too different times", slower,
			      groups);
	} else {
		study_bound(s, key, -INFINITY,
			    NOTICED + 1 / fmax(pace[1].quick - pace[0].quick, 1) +
				2 * (step - 1) / fmax(loads[lengths - 1] * load.mid, 1),
			    method, "boost", "in %.0f million cycles no load took longer for a while", cycles * 1e-6);
	}
}
