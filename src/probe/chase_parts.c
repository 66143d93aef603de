/* Parts of a level that are alike, near and far. */
#include "probe/chase_parts.h"
#include <stdlib.h>

#define ONE_SIDED 12 /* of a stretch, where it is not chance that most are alike */

bool chase_parts_of(double *v, size_t n, uint32_t grain, double *scratch, uint32_t *ticks, struct chase_parts *out)
{
	*out = (struct chase_parts){0};
	struct stat_mode *const mode = out->mode;
	struct chase_peak peak[3];
	double sum = 0;
	size_t found = stat_modes(v, n, 2.5 + grain, CHASE_ALIKE, mode, 3, scratch), used;

	qsort(v, n, sizeof(*v), stat_compare_double);
	for (size_t i = 0; i < n; i++)
		ticks[i] = (uint32_t)v[i];
	if (found < 2) {
		found = chase_peaks(ticks, (uint32_t)n, grain, CHASE_ALIKE, peak, 3);
		for (size_t i = 0; i < found; i++) {
			mode[i] =
			    (struct stat_mode){.lo = peak[i].centre - 2.5 - grain, .hi = peak[i].centre + 2.5 + grain};
			for (size_t k = 0; k < n; k++)
				mode[i].count += v[k] >= mode[i].lo && v[k] <= mode[i].hi;
		}
	}
	for (size_t i = 0; i < found; i++) {
		size_t at = 0;
		while (v[at] < mode[i].lo)
			at++;
		out->centre[i] = stat_trimmed_mean(v + at, mode[i].count, 4, 1.5 + grain, scratch, &used);
		sum += out->centre[i];
		out->counted += used;
	}
	out->mean = found ? sum / (double)found : 0;
	out->found = found;
	return found > 1;
}

bool chase_take_turns(const struct chase_run *r, const struct chase_parts *parts)
{
	const struct stat_mode *first = &parts->mode[0], *last = &parts->mode[parts->found - 1];
	unsigned slower = 0, in = 0, stretches = 0, one_sided = 0;

	for (uint32_t i = 0; i < r->kept; i++) {
		const double t = chase_ticks(r->record[i]);
		const bool slow = t >= last->lo && t <= last->hi;
		if (!slow && !(t >= first->lo && t <= first->hi))
			continue;
		slower += slow;
		if (++in == CHASE_STRETCH) {
			stretches++;
			one_sided += slower >= ONE_SIDED || slower <= CHASE_STRETCH - ONE_SIDED;
			slower = in = 0;
		}
	}
	return 2 * one_sided < stretches;
}

bool chase_beyond_swing(const struct chase_parts *parts, double swing, uint32_t grain)
{
	for (size_t i = 1; i < parts->found; i++)
		if (parts->centre[i] <= parts->centre[i - 1] * (1 + swing) + grain)
			return false;
	return parts->found > 1;
}
