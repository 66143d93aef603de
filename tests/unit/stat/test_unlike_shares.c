/* Groups of unlike shares: planted ones are found where they were planted, and alike samples stay one group. */
#include "base/rng.h"
#include "stat/stat.h"
#include "stat/unlike_shares.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

enum { MOST = 900 };

/* n values: of each component of which the shares say so, evenly from its lower to its upper end. */
static size_t draw(struct rng *r, double *v, size_t n, const double (*component)[2], const double *share,
		   size_t components)
{
	for (size_t i = 0; i < n; i++) {
		double at = (double)rng_below(r, 1000000) / 1e6;
		size_t k = 0;
		while (k + 1 < components && at >= share[k])
			at -= share[k++];
		v[i] =
		    floor(component[k][0] + (component[k][1] - component[k][0]) * (double)rng_below(r, 1000000) / 1e6);
	}
	qsort(v, n, sizeof(*v), stat_compare_double);
	return n;
}

static const double components[][2] = {{440, 515}, {545, 625}, {700, 900}};

static void planted(void **state)
{
	(void)state;
	static const double few[] = {0.5, 0.45, 0.05}, many[] = {0.06, 0.46, 0.48};
	double a[MOST], b[MOST], scratch[STAT_SHARE_SCRATCH(2 * MOST)];
	struct rng r;

	for (unsigned seed = 1; seed <= 20; seed++) {
		struct stat_share_group g[4];
		rng_seed(&r, seed);
		draw(&r, a, 400, components, few, 3);
		draw(&r, b, MOST, components, many, 3);
		assert_int_equal(stat_share_groups(a, 400, b, MOST, 20, g, 4, scratch), 3);
		/* A few values near an end may fall to the neighbour. */
		assert_true(g[0].hi > 505 && g[0].hi < 560 && g[1].hi > 615 && g[1].hi < 740);
		assert_int_equal(g[0].count[0] + g[1].count[0] + g[2].count[0], 400);
		assert_int_equal(g[0].count[1] + g[1].count[1] + g[2].count[1], MOST);
	}
}

static void alike(void **state)
{
	(void)state;
	static const double share[] = {0.3, 0.3, 0.4};
	double a[MOST], b[MOST], scratch[STAT_SHARE_SCRATCH(2 * MOST)];
	struct rng r;

	for (unsigned seed = 1; seed <= 20; seed++) {
		struct stat_share_group g[4];
		rng_seed(&r, seed);
		draw(&r, a, MOST, components, share, 3);
		draw(&r, b, MOST, components, share, 3);
		assert_int_equal(stat_share_groups(a, MOST, b, MOST, 20, g, 4, scratch), 1);
		assert_int_equal(g[0].count[0], MOST);
	}
}

static void edges(void **state)
{
	(void)state;
	static const double a[] = {1, 1, 1}, b[] = {1, 2};
	double scratch[STAT_SHARE_SCRATCH(5)];
	struct stat_share_group g[2];

	assert_int_equal(stat_share_groups(a, 0, b, 0, 20, g, 2, scratch), 0);
	/* Equal values stay together, however cheap a cut is. */
	assert_int_equal(stat_share_groups(a, 3, b, 2, 0.01, g, 2, scratch), 2);
	assert_int_equal(g[0].count[0], 3);
	assert_int_equal(g[0].count[1], 1);
	assert_true(g[0].hi == 1 && g[1].lo == 2);
	/* More groups than there is room for are counted and not written. */
	g[1].count[1] = 77;
	assert_int_equal(stat_share_groups(a, 3, b, 2, 0.01, g, 1, scratch), 2);
	assert_int_equal(g[1].count[1], 77);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(planted), cmocka_unit_test(alike), cmocka_unit_test(edges)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
