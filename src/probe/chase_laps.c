/* What the misses of a ring say, lap after lap. */
#include "probe/chase_fit.h"
#include <math.h>

#define RISING 1.2 /* misses of the last lap over those of the first */

/* Complete laps without a miss. */
unsigned laps_clean(const struct chase_run *r)
{
	uint32_t whole = r->covered / r->elements, dirty = 0, last = UINT32_MAX;

	for (uint32_t i = 0; i < r->kept; i++) {
		uint32_t lap = chase_index(r->record[i]) / r->elements;
		if (lap < whole && lap != last) {
			dirty++;
			last = lap;
		}
	}
	return whole - dirty;
}

/* Whether the later half of the laps was as good as without misses, as far as a level above lets them be seen. What the
 * launch itself brought is driven out by then, such as the timed loop's code in a level that instructions share. What
 * does not fit misses in every lap. laps: how many that half has. */
bool laps_calm_down(const struct chase_run *r, double sure, uint32_t *laps)
{
	const uint32_t whole = r->covered / r->elements, from = whole / 2;
	uint32_t late = 0;

	*laps = whole - from;
	if (r->covered < r->timed || from < 1)
		return false;
	for (uint32_t i = 0; i < r->kept; i++) {
		const uint32_t lap = chase_index(r->record[i]) / r->elements;
		late += lap >= from && lap < whole;
	}
	return late < sure * *laps;
}

/* Whether every block conflicts, and more of them in the last lap than in the first. Each miss then makes others, as
 * its record does when it is written through the level. All sets fill up from one that was too full. */
bool laps_spread(const struct chase_run *run, unsigned runs, const bool *hot, uint32_t blocks)
{
	double first = 0, last = 0;

	for (uint32_t i = 0; i < blocks; i++)
		if (!hot[i])
			return false;
	for (unsigned k = 0; k < runs; k++) {
		const uint32_t n = run[k].elements, laps = run[k].covered / n;
		for (uint32_t i = 0; laps > 1 && i < run[k].kept; i++) {
			const uint32_t lap = chase_index(run[k].record[i]) / n;
			first += lap == 0;
			last += lap + 1 == laps;
		}
	}
	return last > RISING * first + 8 * sqrt(first + 1);
}

/* Whether nothing missed any more in the later half of a run. One line more then fits as well, and a longer look will
 * not tell which lines it conflicts with. What does not fit misses in every lap. Only of the first level, as others
 * hide misses. */
bool laps_settle(const struct chase_run *r)
{
	const uint32_t laps = r->covered / r->elements;

	if (laps < LAPS_SETTLED || r->covered < r->timed)
		return false;
	for (uint32_t i = 0; i < r->kept; i++)
		if (chase_index(r->record[i]) / r->elements >= laps / 2)
			return false;
	return true;
}
