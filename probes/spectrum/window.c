/* Pages at which every lap over all of them stalls: the first ones of windows of active translations. */
#include "base/arena.h"
#include "spectrum.h"
#include "stat/stat.h"
#include <math.h>

#define STALLS_MOST 64
#define STALL_LEAST 16	 /* cycles */
#define STALL_SHARE 0.05 /* of what a page usually costs */
#define ALIKE_LEAST 2

struct laps {
	const uint32_t *ticks[WINDOW_LAPS];
	uint32_t pages;
	double usual, more; /* a page stalls that takes so much more than usual */
};

static bool laps_of(struct arena *a, struct laps *l)
{
	double *v = ARENA_ARRAY(a, 2 * (size_t)l->pages, double);

	if (!v)
		return false;
	for (uint32_t i = 0; i < l->pages; i++)
		v[i] = l->ticks[1][i];
	l->usual = stat_median(v, l->pages, v + l->pages);
	l->more = fmax(STALL_LEAST, STALL_SHARE * l->usual);
	return true;
}

static bool stalls(const struct laps *l, unsigned lap, uint32_t page)
{
	return l->ticks[lap][page] > l->usual + l->more;
}

/* Whether the stalls are as long as those of the first lap at pages that stall no more. The first lap fetches each line
 * of the page tables. Whatever else a lap reads may drive some of those out of a cache again, as regularly as windows
 * begin. */
static bool as_first_reads(struct arena *a, const struct laps *l, const uint32_t *at, uint32_t n)
{
	double *v = ARENA_ARRAY(a, 2 * (size_t)n, double);
	uint32_t first = 0, alike = 0;

	if (!v)
		return true;
	for (uint32_t i = 0; i < n; i++)
		v[i] = l->ticks[1][at[i]];
	const double stall = stat_median(v, n, v + n);
	for (uint32_t i = 1, k = 0; i < l->pages; i++) {
		while (k < n && at[k] < i)
			k++;
		if ((k < n && at[k] == i) || !stalls(l, 0, i))
			continue;
		first++;
		alike += fabs(l->ticks[0][i] - stall) <= l->more;
	}
	return alike >= ALIKE_LEAST && 2 * alike >= first;
}

void spectrum_window(struct study *s, const char *key, const uint32_t *ticks, uint32_t pages, uint64_t page)
{
	struct laps l = {.pages = pages};
	uint32_t at[STALLS_MOST] = {0}, n = 0;

	for (uint32_t i = 0; i < WINDOW_LAPS; i++)
		l.ticks[i] = ticks + (size_t)i * pages;
	if (!laps_of(study_arena(s), &l)) {
		study_verdict(s, key, VERDICT_INCONCLUSIVE, "window", "out of memory");
		return;
	}
	for (uint32_t i = 0; i < pages; i++)
		if (stalls(&l, 1, i) && stalls(&l, 2, i) && n++ < STALLS_MOST)
			at[n - 1] = i;
	const uint32_t step = n > 2 && n <= STALLS_MOST ? at[2] - at[1] : 0;
	if (!n) {
		study_verdict(s, key, VERDICT_ABSENT, "window",
			      "laps over %u pages, all over %llu bytes, stall nowhere", pages,
			      (unsigned long long)(pages * page));
		return;
	}
	/* The first page follows the last one of a lap. The buffer may begin anywhere in a window, and end anywhere. */
	bool even = step && !at[0] && at[1] <= step && pages - at[n - 1] <= step;
	for (uint32_t i = 3; i < n && even; i++)
		even = at[i] - at[i - 1] == step;
	if (!even || step & (step - 1))
		study_verdict(s, key, VERDICT_INCONCLUSIVE, "window",
			      "laps over %u pages stall at %u of them, which are not evenly apart", pages, n);
	else if (as_first_reads(study_arena(s), &l, at, n))
		study_verdict(s, key, VERDICT_INCONCLUSIVE, "window",
			      "laps over %u pages stall at every %uth as long as the first lap at others: page "
			      "tables may leave a cache as regularly",
			      pages, step);
	else
		study_measured_number(
		    s, key, (double)step * (double)page, (double)step * (double)page, (double)step * (double)page, "",
		    "where laps over all pages stall", "window",
		    "each of %u laps over %u pages stalls at its first page, and at every %uth from some page on",
		    WINDOW_LAPS - 1, pages, step);
}
