/* Parts of a level that are alike, near and far. */
#include "probe/chase_parts.h"
#include <stdlib.h>

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
