/* The special function unit against long double, for the statistics of Nickolls and Kirk, Figure B.6.1. They are over
 * every argument of the interval, from both sides, and what is at its edges. Sine and cosine are over a dense
 * sample. */
#include "gpu/sim/func/exec.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static struct sfu unit;

static float float_of(uint32_t u)
{
	float f;
	memcpy(&f, &u, sizeof f);
	return f;
}

static uint32_t bits_of(float f)
{
	uint32_t u;
	memcpy(&u, &f, sizeof u);
	return u;
}

struct statistics {
	long double worst; /* absolute error */
	double ulps;	   /* worst error in units of the last place of the result */
	double exact;	   /* % of results that are the nearest float */
	bool monotonic;
};

typedef long double function(long double);

static long double reciprocal(long double x)
{
	return 1 / x;
}

static long double reciprocal_root(long double x)
{
	return 1 / sqrtl(x);
}

/* Whether v is the float nearest to the truth: no neighbour is nearer. */
static bool is_nearest(float v, long double truth)
{
	long double error = fabsl((long double)v - truth);
	return error <= fabsl((long double)nextafterf(v, 100) - truth) &&
	       error <= fabsl((long double)nextafterf(v, -100) - truth);
}

static struct statistics measure(int op, function *f, float from, float to, float step, int direction)
{
	struct statistics s = {.monotonic = true};
	uint64_t count = 0, exact = 0;
	float last = 0;
	bool first = true;
	/* step 0: every float */
	uint32_t steps = step > 0 ? (uint32_t)ceilf((to - from) / step) : bits_of(to) - bits_of(from);
	for (uint32_t n = 0; n < steps; n++) {
		float x = step > 0 ? from + (float)n * step : float_of(bits_of(from) + n);
		float v = exec_sfu(&unit, op, 0, x);
		long double truth = f((long double)x), error = fabsl((long double)v - truth);
		int e;
		frexpl(truth, &e);
		double ulps = (double)ldexpl(error, 24 - e);
		s.worst = error > s.worst ? error : s.worst;
		s.ulps = ulps > s.ulps ? ulps : s.ulps;
		exact += is_nearest(v, truth);
		count++;
		if (!first && direction && (direction > 0 ? v < last : v > last))
			s.monotonic = false;
		first = false;
		last = v;
	}
	s.exact = 100.0 * (double)exact / (double)count;
	return s;
}

/* The figure's row, from both sides; what it does not give is negative. What a description's words promise without any argument being
 * run is as near. */
static void check(const char *name, const struct statistics *s, double good_bits, double ulps, double exact,
		  bool monotonic, int words)
{
	const struct sfu_accuracy told =
	    words < 0 ? (struct sfu_accuracy){0} : sfu_accuracy(&unit, (enum sfu_function)words);
	double good = (double)-log2l(s->worst);
	print_message("%-8s %5.2f good bits (figure %5.2f, told %.2f), %smonotonic", name, good, good_bits,
		      told.good_bits, s->monotonic ? "" : "not ");
	if (ulps > 0)
		print_message(", %4.2f ulp (%4.2f, %.2f), %2.1f %% exact (%2.0f, %.1f)", s->ulps, ulps, told.max_ulp,
			      s->exact, exact, 100 * told.exact_ratio);
	print_message("\n");
	assert_true(fabs(good - good_bits) < 0.1);
	if (ulps > 0)
		assert_true(fabs(s->ulps - ulps) < 0.05);
	if (exact > 0)
		assert_true(fabs(s->exact - exact) < 2);
	assert_int_equal(s->monotonic, monotonic);
	if (words >= 0)
		assert_true(fabs(good - told.good_bits) < 0.1);
	if (words >= 0 && ulps > 0) {
		assert_true(fabs(s->ulps - told.max_ulp) < 0.05);
		assert_true(fabs(s->exact / 100 - told.exact_ratio) < 0.01);
	}
}

static void the_figure(void **state)
{
	(void)state;
	struct statistics s;
	sfu_build(&unit, sfu_published);
	s = measure(PTX_OP_RCP, reciprocal, 1, 2, 0, -1);
	check("1/x", &s, 24.02, 0.98, 87, true, SFU_RCP);
	s = measure(PTX_OP_RSQRT, reciprocal_root, 1, 4, 0, -1);
	check("1/sqrt", &s, 23.40, 1.52, 78, true, SFU_RSQRT);
	s = measure(PTX_OP_EX2, exp2l, 0, 1, 0x1p-23f, 1);
	check("2^x", &s, 22.51, 1.41, 74, true, SFU_EX2);
	s = measure(PTX_OP_LG2, log2l, 1, 2, 0, 1);
	check("log2", &s, 22.57, -1, -1, true, SFU_LG2);
	s = measure(PTX_OP_SIN, sinl, 0, 1.57079637f, 0x1p-20f, 1);
	check("sin", &s, 22.47, -1, -1, false, SFU_SIN);
	s = measure(PTX_OP_COS, cosl, 0, 1.57079637f, 0x1p-20f, -1);
	check("cos", &s, 22.47, -1, -1, false, SFU_SIN);
}

/* No row of the figure: what PTX promises for them. */
static void the_others(void **state)
{
	(void)state;
	struct statistics s = measure(PTX_OP_SQRT, sqrtl, 1, 4, 0, 1);
	check("sqrt", &s, 23.5, -1, -1, true, -1);
	for (int n = -12 * 4096; n < 12 * 4096; n++) {
		float x = (float)n / 4096;
		long double truth = tanhl((long double)x);
		assert_true(fabsl((long double)exec_sfu(&unit, PTX_OP_TANH, 0, x) - truth) <= fabsl(truth) * 0x1p-18L);
	}
}

/* The whole range: a significand's result moves along with the exponent. */
static void every_exponent(void **state)
{
	(void)state;
	for (uint32_t u = 1; u < 0x7f800000u; u += 104729) {
		float x = float_of(u);
		long double t = x, half = 0x1p-149L / 2;
		const struct {
			int op;
			long double truth;
		} one[] = {
		    {PTX_OP_RCP, 1 / t}, {PTX_OP_RSQRT, 1 / sqrtl(t)}, {PTX_OP_SQRT, sqrtl(t)}, {PTX_OP_LG2, log2l(t)}};
		for (size_t k = 0; k < sizeof one / sizeof *one; k++) {
			float v = exec_sfu(&unit, one[k].op, 0, x);
			long double bound = fabsl(one[k].truth) * 0x1p-22L + half;
			if (one[k].op == PTX_OP_LG2 && x > 0.5f && x < 2)
				bound = 0x1p-22L;
			if (isinf(v) ? fabsl(one[k].truth) < 0x1p128L * (1 - 0x1p-24L)
				     : fabsl((long double)v - one[k].truth) > bound)
				fail_msg("%s of %a: %a, not %La", ptx_op_name((enum ptx_op)one[k].op), (double)x,
					 (double)v, one[k].truth);
		}
	}
	for (int n = -11400; n < 9750; n++) {
		float x = (float)n / 75;
		long double truth = exp2l((long double)x);
		float v = exec_sfu(&unit, PTX_OP_EX2, 0, x);
		assert_true(isinf(v) ? x > 127.9f : fabsl((long double)v - truth) <= truth * 0x1p-22L + 0x1p-150L);
	}
	for (int n = -43600; n < 43600; n++) {
		float x = (float)n * 0.0917f;
		assert_true(fabsl((long double)exec_sfu(&unit, PTX_OP_SIN, 0, x) - sinl((long double)x)) < 0x1p-22L);
		assert_true(fabsl((long double)exec_sfu(&unit, PTX_OP_COS, 0, x) - cosl((long double)x)) < 0x1p-22L);
	}
}

static void edges(void **state)
{
	(void)state;
	const float inf = INFINITY;
	static const uint32_t nan = FUNC_NAN32;
	const struct {
		int op;
		unsigned flags;
		float x;
		uint32_t want;
	} cases[] = {
	    {PTX_OP_RCP, 0, 0, 0x7f800000},
	    {PTX_OP_RCP, 0, -0.0f, 0xff800000},
	    {PTX_OP_RCP, 0, -inf, 0x80000000},
	    {PTX_OP_RCP, 0, 1, 0x3f800000},
	    {PTX_OP_RCP, 0, 0x1p-100f, 0x71800000},
	    {PTX_OP_RCP, 0, 0x1p127f, 0x00400000},
	    {PTX_OP_RCP, EXEC_FTZ, 0x1p127f, 0},
	    {PTX_OP_RCP, EXEC_FTZ, -0x1p-127f, 0xff800000},
	    {PTX_OP_RCP, 0, NAN, nan},
	    {PTX_OP_RSQRT, 0, 0, 0x7f800000},
	    {PTX_OP_RSQRT, 0, -0.0f, 0xff800000},
	    {PTX_OP_RSQRT, 0, -1, nan},
	    {PTX_OP_RSQRT, 0, inf, 0},
	    {PTX_OP_RSQRT, 0, 4, 0x3f000000},
	    {PTX_OP_RSQRT, 0, 0x1p-148f, 0x64800000},
	    {PTX_OP_SQRT, 0, -0.0f, 0x80000000},
	    {PTX_OP_SQRT, 0, -1, nan},
	    {PTX_OP_SQRT, 0, inf, 0x7f800000},
	    {PTX_OP_SQRT, EXEC_FTZ, 0x1p-130f, 0},
	    {PTX_OP_SQRT, 0, 4, 0x40000000},
	    {PTX_OP_EX2, 0, inf, 0x7f800000},
	    {PTX_OP_EX2, 0, -inf, 0},
	    {PTX_OP_EX2, 0, -0.0f, 0x3f800000},
	    {PTX_OP_EX2, 0, 128, 0x7f800000},
	    {PTX_OP_EX2, 0, -149, 1},
	    {PTX_OP_EX2, EXEC_FTZ, -127, 0},
	    {PTX_OP_EX2, 0, -3, 0x3e000000},
	    {PTX_OP_LG2, 0, 0, 0xff800000},
	    {PTX_OP_LG2, 0, -0.0f, 0xff800000},
	    {PTX_OP_LG2, 0, -1, nan},
	    {PTX_OP_LG2, 0, 1, 0},
	    {PTX_OP_LG2, 0, 0x1p-149f, 0xc3150000},
	    {PTX_OP_LG2, EXEC_FTZ, 0x1p-149f, 0xff800000},
	    {PTX_OP_LG2, 0, inf, 0x7f800000},
	    {PTX_OP_SIN, 0, 0, 0},
	    {PTX_OP_SIN, 0, -0.0f, 0x80000000},
	    {PTX_OP_SIN, 0, inf, nan},
	    {PTX_OP_COS, 0, -inf, nan},
	    {PTX_OP_COS, 0, 0, 0x3f800000},
	    {PTX_OP_COS, 0, 0x1p-140f, 0x3f800000},
	    {PTX_OP_TANH, 0, inf, 0x3f800000},
	    {PTX_OP_TANH, 0, -20, 0xbf800000},
	    {PTX_OP_TANH, 0, -0.0f, 0x80000000},
	    {PTX_OP_TANH, 0, 0x1p-140f, 0x00000200},
	    {PTX_OP_TANH, 0, NAN, nan},
	};
	for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
		uint32_t have = bits_of(exec_sfu(&unit, cases[k].op, cases[k].flags, cases[k].x));
		if (have != cases[k].want)
			fail_msg("case %zu, %s of %a: %08x, not %08x", k, ptx_op_name((enum ptx_op)cases[k].op),
				 (double)cases[k].x, have, cases[k].want);
	}
	/* x 2^127 / y is beyond the reciprocal's reach but not beyond div.full's. */
	assert_int_equal(bits_of(exec_sfu_divide(&unit, 0, 0x1p100f, 0x1.8p126f)), 0);
	assert_int_equal(bits_of(exec_sfu_divide(&unit, 0, inf, 0x1.8p126f)), nan);
	assert_int_equal(bits_of(exec_sfu_divide(&unit, EXEC_FULL, 0x1p100f, 0x1p127f)), bits_of(0x1p-27f));
	assert_int_equal(bits_of(exec_sfu_divide(&unit, EXEC_FULL, -inf, 0x1p127f)), 0xff800000);
	assert_int_equal(bits_of(exec_sfu_divide(&unit, EXEC_FULL, 0, 0)), nan);
	assert_int_equal(bits_of(exec_sfu_divide(&unit, EXEC_FULL, -1, 0)), 0xff800000);
	assert_int_equal(bits_of(exec_sfu_divide(&unit, EXEC_FULL, 0, -0x1p-149f)), 0x80000000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(the_figure),
	    cmocka_unit_test(the_others),
	    cmocka_unit_test(every_exponent),
	    cmocka_unit_test(edges),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
