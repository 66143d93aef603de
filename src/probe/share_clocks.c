/* Which SMs read the same clock counter. */
#include "base/arena.h"
#include "probe/share.h"
#include <stdio.h>
#include <stdlib.h>

enum { HEADER_WORDS = 2, BLOCKS_PER_SM = 8, LAUNCHES = 4, LEAP = 1 << 11 /* cycles */ };
/* Of one counter, SMs that follow one another in time are no further apart than so many times the usual step, and so many cycles. */
enum { UNUSUAL = 16, UNUSUAL_LEAST = 64 };

int share_clock_setup(const struct study *s, double x, const double *p, struct job *j)
{
	const struct device_info *d = study_device(s);
	(void)x;
	(void)p;
	j->template_path = "probes/clock/scope.ptx";
	snprintf(j->launch.entry, sizeof(j->launch.entry), "scope");
	j->launch.grid[0] = BLOCKS_PER_SM * d->sm_count;
	j->launch.grid[1] = j->launch.grid[2] = 1;
	j->launch.block[0] = j->launch.block[1] = j->launch.block[2] = 1;
	job_output(j, HEADER_WORDS + 2 * d->sm_count);
	job_arg_u32(j, d->sm_count);
	job_arg_u32(j, 5);
	j->launch.repeats = LAUNCHES;
	j->launch.warmups = 1;
	return 0;
}

static const uint32_t *of_sm(const struct point *pt, unsigned repeat, unsigned sm)
{
	return pt->y + (size_t)repeat * pt->words_per_repeat + HEADER_WORDS + 2 * (size_t)sm;
}

bool share_clock_time(const struct point *pt, unsigned sm, double *cycles)
{
	*cycles = (int32_t)(of_sm(pt, 0, sm)[1] - of_sm(pt, 0, 0)[1]);
	return of_sm(pt, 0, sm)[0] != 0;
}

struct seen {
	int32_t time; /* of its first block, from that of SM 0 */
	uint32_t sm;
};

static int compare_seen(const void *a, const void *b)
{
	const int32_t x = ((const struct seen *)a)->time, y = ((const struct seen *)b)->time;
	return (x > y) - (x < y);
}

/* The SMs of one launch in the order of their times. */
static void in_order(const struct point *pt, unsigned repeat, unsigned sms, struct seen *seen)
{
	for (unsigned i = 0; i < sms; i++)
		seen[i] = (struct seen){(int32_t)(of_sm(pt, repeat, i)[1] - of_sm(pt, repeat, 0)[1]), i};
	qsort(seen, sms, sizeof(*seen), compare_seen);
}

/* Groups of one launch: blocks come to one SM after another in small steps, and from one counter to the next is a leap. */
static void groups_of(const struct point *pt, unsigned repeat, unsigned sms, struct seen *seen, uint32_t *group)
{
	in_order(pt, repeat, sms, seen);
	for (unsigned from = 0, to; from < sms; from = to) {
		uint32_t first = seen[from].sm;
		for (to = from + 1; to < sms && (int64_t)seen[to].time - seen[to - 1].time < LEAP; to++)
			first = seen[to].sm < first ? seen[to].sm : first;
		for (unsigned i = from; i < to; i++)
			group[seen[i].sm] = first;
	}
}

static int compare_step(const void *a, const void *b)
{
	const int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
	return (x > y) - (x < y);
}

/* The longest step from one SM to the next in time, of one launch, when it is far longer than most; else 0. */
static int32_t unusual_step(const struct point *pt, unsigned repeat, unsigned sms, struct seen *seen, int32_t *step)
{
	in_order(pt, repeat, sms, seen);
	for (unsigned i = 0; i + 1 < sms; i++)
		step[i] = seen[i + 1].time - seen[i].time;
	qsort(step, sms - 1, sizeof(*step), compare_step);
	const int32_t longest = step[sms - 2];
	return longest >= UNUSUAL_LEAST && longest >= UNUSUAL * step[(sms - 1) / 2] ? longest : 0;
}

bool share_clock_groups(struct arena *a, const struct point *pt, unsigned sms, uint32_t *group, char *why, size_t n)
{
	struct seen *seen = ARENA_ARRAY(a, sms, struct seen);
	uint32_t *again = ARENA_ARRAY(a, sms, uint32_t);
	int32_t *step = ARENA_ARRAY(a, sms, int32_t), shortest = INT32_MAX;

	if (!seen || !again || !step)
		return chase_why(why, n, "out of memory");
	for (unsigned r = 0; r < pt->repeats; r++) {
		for (unsigned i = 0; i < sms; i++)
			if (!of_sm(pt, r, i)[0])
				return chase_why(why, n, "not every SM got a block");
		groups_of(pt, r, sms, seen, r ? again : group);
		for (unsigned i = 0; r && i < sms; i++)
			if (again[i] != group[i])
				return chase_why(why, n, "SM %u counts with SM %u in one launch and with %u in another",
						 i, group[i], again[i]);
	}
	bool one = sms > 2 && pt->repeats;
	for (unsigned i = 0; i < sms; i++)
		one = one && group[i] == group[0];
	/* Counters of several groups of SMs that were started together, as when the GPU was just switched on. */
	for (unsigned r = 0; one && r < pt->repeats; r++) {
		const int32_t longest = unusual_step(pt, r, sms, seen, step);
		shortest = longest < shortest ? longest : shortest;
	}
	if (one && shortest)
		return chase_why(
		    why, n,
		    "SMs show times that are at least %d cycles apart between some and hardly between others: "
		    "counters that were started together, or one",
		    shortest);
	return true;
}
