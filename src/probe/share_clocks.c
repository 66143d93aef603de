/* Which SMs read the same clock counter. */
#include "probe/share.h"
#include <stdio.h>

enum { HEADER_WORDS = 2, BLOCKS_PER_SM = 8, LAUNCHES = 4, TOGETHER = 1 << 14 };

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

static uint32_t first_of(const struct point *pt, unsigned repeat, unsigned sm, const uint32_t *group)
{
	for (unsigned k = 0; k < sm; k++) {
		int32_t apart = (int32_t)(of_sm(pt, repeat, sm)[1] - of_sm(pt, repeat, k)[1]);
		if (apart > -TOGETHER && apart < TOGETHER)
			return group[k];
	}
	return sm;
}

bool share_clock_groups(const struct point *pt, unsigned sms, uint32_t *group, char *why, size_t n)
{
	for (unsigned r = 0; r < pt->repeats; r++) {
		for (unsigned i = 0; i < sms; i++) {
			if (!of_sm(pt, r, i)[0]) {
				snprintf(why, n, "not every SM got a block");
				return false;
			}
			uint32_t first = first_of(pt, r, i, group);
			if (r == 0)
				group[i] = first;
			if (group[i] == first)
				continue;
			snprintf(why, n, "SM %u counts with SM %u in one launch and with %u in another", i, group[i],
				 first);
			return false;
		}
	}
	return true;
}
