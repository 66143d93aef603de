/* Levels from the latency of a random walk: what equation 6 makes is recovered, and nothing else is taken for it. */
#include "base/rng.h"
#include "stat/walk_levels.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

enum { POINTS = 46 };

struct curve {
	double size[POINTS], value[POINTS], error[POINTS];
};

/* noise: of each value, one standard deviation. */
static void make(struct curve *c, const double *sizes, const double *values, size_t levels, double noise, uint64_t seed)
{
	struct rng r;
	rng_seed(&r, seed);
	for (size_t i = 0; i < POINTS; i++) {
		double v = values[0], gauss = -6;
		c->size[i] = 512 * exp2((double)i / 3);
		for (size_t k = 0; k + 1 < levels; k++)
			v += (values[k + 1] - values[k]) * fmax(0, 1 - sizes[k] / c->size[i]);
		for (unsigned k = 0; k < 12; k++)
			gauss += rng_unit(&r);
		c->value[i] = v * (1 + noise * gauss);
		c->error[i] = noise * v;
	}
}

static void levels_are_found(void **state)
{
	(void)state;
	const double sizes[3] = {8192, 49152, 700000}, values[4] = {48, 90, 220, 500};
	unsigned held = 0, all = 0;
	for (uint64_t seed = 0; seed < 20; seed++)
		for (size_t levels = 1; levels <= 4; levels++) {
			struct curve c;
			struct stat_level out[STAT_LEVELS];
			double misfit;
			make(&c, sizes, values, levels, 0.01, seed);
			assert_int_equal(stat_levels(c.size, c.value, c.error, POINTS, out, &misfit), levels);
			assert_true(misfit < 2.5);
			for (size_t k = 0; k < levels; k++) {
				assert_true(fabs(out[k].value / values[k] - 1) < 0.06);
				assert_true(out[k].lo <= out[k].value && out[k].value <= out[k].hi);
				held += out[k].lo <= values[k] && values[k] <= out[k].hi;
				all++;
				if (k + 1 == levels)
					continue;
				assert_true(fabs(out[k].size / sizes[k] - 1) < 0.2);
				assert_true(out[k].size_lo < out[k].size && out[k].size < out[k].size_hi);
				held += out[k].size_lo <= sizes[k] && sizes[k] <= out[k].size_hi;
				all++;
			}
		}
	assert_true(held >= 0.93 * all);
}

/* All at once: a cache whose every line is used in turn, and then misses. And what falls. */
static void other_curves_are_no_levels(void **state)
{
	(void)state;
	struct curve c;
	struct stat_level out[STAT_LEVELS];
	double misfit;
	make(&c, NULL, (const double[]){100}, 1, 0.01, 1);
	for (size_t i = POINTS / 2; i < POINTS; i++) {
		c.value[i] *= 5;
		c.error[i] *= 5;
	}
	assert_int_equal(stat_levels(c.size, c.value, c.error, POINTS, out, &misfit), 0);
	make(&c, NULL, (const double[]){100}, 1, 0.01, 1);
	for (size_t i = POINTS / 2; i < POINTS; i++)
		c.value[i] /= 2;
	assert_int_equal(stat_levels(c.size, c.value, c.error, POINTS, out, &misfit), 0);
	assert_int_equal(stat_levels(c.size, c.value, c.error, 2, out, &misfit), 0);
}

/* Three levels of which two are nearly as fast, met by few walks, look like two: then none of those behind the first is told. */
static void a_level_may_hide(void **state)
{
	(void)state;
	enum { FEW = 22 };
	const double sizes[3] = {1625, 6400, 15600}, values[4] = {100, 473, 515, 938};
	unsigned hidden = 0;
	for (uint64_t seed = 0; seed < 20; seed++) {
		struct curve c;
		struct stat_level out[STAT_LEVELS];
		double misfit;
		make(&c, sizes, values, 4, 0.01, seed);
		for (size_t i = 0; i < FEW; i++)
			c.error[i] *= 2; /* what is known of them is less than what they are */
		const size_t levels = stat_levels(c.size, c.value, c.error, FEW, out, &misfit);
		assert_true(levels == 3 || levels == 4);
		hidden += levels == 3;
		for (size_t k = 0; k + 1 < levels; k++)
			assert_true(out[k].size_lo <= 1.1 * sizes[k] && sizes[k] <= 1.1 * out[k].size_hi);
	}
	assert_true(hidden > 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(levels_are_found),
	    cmocka_unit_test(other_curves_are_no_levels),
	    cmocka_unit_test(a_level_may_hide),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
