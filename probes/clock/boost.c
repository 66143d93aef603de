#include "boost.h"
#include "base/arena.h"
#include "stat/stat.h"
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { HEADER_WORDS = 2, GROUPS = 3000, REPEATS = 4, SPARE = 1024, FEW = 8, LENGTHS = 3 };
/* Loads of a group. The longest only where clocks that count in large steps say too little of the others. */
static const unsigned loads[LENGTHS] = {2, 4, 16};
#define NOTICED 0.012 /* loads that take so much longer do so for a reason; slow drifts are smaller */
#define MANY	0.005 /* of the groups: fewer may be those in which something delayed all four chains */
#define VAGUE	0.01  /* of a load: what two steps of the clock may be of it */
#define ALIKE	0.6   /* of the slow groups are as slow as the others, where a clock changed between two rates */

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

/* Ticks of the usual group, and of those that are clearly slower. */
struct pace {
	double usual, slow;
	unsigned groups, slower, alike;
	double cycles; /* that all of them took */
};

static bool pace_of(struct study *s, const struct point *pt, struct pace *out)
{
	size_t n = 0, all = (size_t)pt->repeats * (pt->words_per_repeat - HEADER_WORDS), slower = 0;
	double *v = ARENA_ARRAY(study_arena(s), all, double);
	uint64_t grain = 0;
	*out = (struct pace){0};
	if (!v)
		return false;
	for (unsigned r = 0; r < pt->repeats; r++)
		for (uint32_t i = 1; i + HEADER_WORDS < pt->words_per_repeat; i++) { /* the first brings its code */
			uint32_t t = pt->y[(size_t)r * pt->words_per_repeat + HEADER_WORDS + i];
			grain = stat_gcd(grain, t);
			out->cycles += 4.0 * t;
			v[n++] = t;
		}
	if (n < 64 || grain == 0)
		return false;
	qsort(v, n, sizeof *v, stat_compare_double);
	out->usual = v[n / 4];
	double from = out->usual * (1 + NOTICED) + (grain > 8 ? 1 : (double)grain);
	while (slower < n && v[n - 1 - slower] > from)
		slower++;
	out->groups = (unsigned)n;
	out->slower = (unsigned)slower;
	out->slow = slower ? v[n - 1 - slower / 2] : out->usual;
	for (size_t i = n - slower; i < n; i++)
		out->alike += fabs(v[i] - out->slow) <= 0.01 * out->slow + (double)(grain > 8 ? 1 : grain);
	return true;
}

/* False: concluded, or to be measured first. */
static bool ask_pace(struct study *s, unsigned experiment, unsigned i, struct pace *out)
{
	const struct point *pt = study_ask(s, experiment, loads[i], NULL);

	if (!pt && study_pending(s))
		return false;
	if (pt && pt->outcome == OUTCOME_OK && pace_of(s, pt, out))
		return true;
	study_verdict(s, "clock.boost", VERDICT_INCONCLUSIVE, "boost", "%s", point_why(pt));
	return false;
}

void boost_study(struct study *s, unsigned experiment)
{
	static const char key[] = "clock.boost", method[] = "dependent loads of one line, over and over";
	struct pace pace[LENGTHS];
	const bool one = ask_pace(s, experiment, 0, &pace[0]), two = ask_pace(s, experiment, 1, &pace[1]);
	if (!one || !two)
		return;
	/* What lies around the loads is the SM's, and keeps its cycles. */
	const double cost = 2 * pace[0].usual - pace[1].usual;
	const unsigned lengths = pace[1].usual - cost > 0 && 2 / (pace[1].usual - cost) > VAGUE ? LENGTHS : LENGTHS - 1;
	if (lengths == LENGTHS && !ask_pace(s, experiment, LENGTHS - 1, &pace[LENGTHS - 1]))
		return;
	double gain = 0, reach = INFINITY, cycles = 0;
	unsigned slower = 0, groups = 0;
	for (unsigned i = 0; i < lengths; i++) {
		const double load = pace[i].usual - cost;
		slower += pace[i].slower;
		groups += pace[i].groups;
		cycles += pace[i].cycles;
		if (pace[i].slower < MANY * pace[i].groups || pace[i].alike < ALIKE * pace[i].slower || load <= 0)
			continue;
		gain = (pace[i].slow - pace[i].usual) / load; /* the longest says it best */
		reach = 2 / load;
	}
	if (reach < INFINITY)
		study_measured_number(s, key, gain, gain - reach, gain + reach, "sm", method, "boost",
				      "%u of %u groups of loads take as much longer: the SM's clock ran faster against "
				      "that of the memory for a while",
				      slower, groups);
	else if (slower >= FEW)
		study_verdict(s, key, VERDICT_INCONCLUSIVE, "boost",
			      "%u of %u groups of loads took longer, too few of them or by too different times", slower,
			      groups);
	else
		study_bound(s, key, -INFINITY, NOTICED + 1 / fmax(pace[0].usual - cost, 1), method, "boost",
			    "in %.0f million cycles no load took longer for a while", cycles * 1e-6);
}
