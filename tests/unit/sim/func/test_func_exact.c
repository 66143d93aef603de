/* Tests that have no room among those by kind. Quotients and roots of 64 bits in every rounding mode are held against
 * 113 bits. Operations on halves two by two are held against a search through all halves. */
#include "func_values.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

typedef __float128 quad;

static double f64_of(uint64_t u)
{
	double d;
	memcpy(&d, &u, sizeof d);
	return d;
}

static uint64_t bits_of(double d)
{
	uint64_t u;
	memcpy(&u, &d, sizeof u);
	return u;
}

enum form { DIV, RCP, SQRT };

/* Sign of the true result less y. Products of 53 and 54 bits are exact here. */
static int above(enum form form, double a, double b, quad y)
{
	quad left = form == RCP ? 1 : (quad)a, right = form == SQRT ? y * y : y * (quad)(form == RCP ? a : b);
	int sign = (left > right) - (left < right);
	bool falls = (form == DIV && b < 0) || (form == RCP && a < 0);
	return falls ? -sign : sign;
}

/* Neighbours bracket the true result as the mode demands. */
static bool is_rounded(enum form form, int mode, double a, double b, double r)
{
	double up = nextafter(r, INFINITY), down = nextafter(r, -INFINITY);
	int here = above(form, a, b, (quad)r);
	if (here == 0)
		return true;
	bool below_r = here < 0; /* the truth is below r */
	switch (mode) {
	case 0: {
		quad middle = ((quad)r + (quad)(below_r ? down : up)) / 2;
		int side = above(form, a, b, middle);
		return below_r ? side > 0 || (side == 0 && !(bits_of(r) & 1))
			       : side < 0 || (side == 0 && !(bits_of(r) & 1));
	}
	case 1:
		return r > 0 ? !below_r && above(form, a, b, (quad)up) < 0
			     : below_r && above(form, a, b, (quad)down) > 0;
	case 2:
		return !below_r && above(form, a, b, (quad)up) < 0;
	default:
		return below_r && above(form, a, b, (quad)down) > 0;
	}
}

static void quotients_and_roots(void **state)
{
	static const char *const modes[] = {"rn", "rz", "rm", "rp"}, *const names[] = {"div", "rcp", "sqrt"};
	struct rng r;
	(void)state;
	rng_seed(&r, 31);
	for (int form = DIV; form <= SQRT; form++)
		for (int mode = 0; mode < 4; mode++) {
			struct one_op o;
			char line[64];
			snprintf(line, sizeof line, "%s.%s.f64 d, a%s;", names[form], modes[mode],
				 form == DIV ? ", b" : "");
			one_op_open(&o, line, PTX_F64, PTX_F64, form == DIV ? PTX_F64 : PTX_NONE, PTX_NONE, 90);
			for (int pass = 0; pass < 60; pass++) {
				one_op_fill(&o, &r);
				for (int l = 0; l < 32; l++)
					for (int k = 0; k < 2; k++) {
						uint64_t fraction = rng_next(&r) & 0xfffffffffffffull;
						/* few bits make exact results and near ties */
						if (rng_below(&r, 3) == 0)
							fraction &= ~0ull << (20 + rng_below(&r, 30));
						o.in[k][l] = (form == SQRT ? 0 : rng_below(&r, 2) << 63) |
							     (1000 + rng_below(&r, 46)) << 52 | fraction;
					}
				o.mask = pass % 4 ? UINT32_MAX : 1u << rng_below(&r, 32);
				one_op_run(&o);
				for (int l = 0; l < 32; l++) {
					double a = f64_of(o.in[0][l]), b = f64_of(o.in[1][l]), v = f64_of(o.out[l]);
					if (!(o.mask >> l & 1))
						assert_true(o.out[l] == UNTOUCHED);
					else if (!is_rounded((enum form)form, mode, a, b, v))
						fail_msg("%s: %a, %a gives %a", line, a, b, v);
				}
			}
			one_op_close(&o);
		}
}

/* ---- halves ---- */
static double half_value(uint32_t h)
{
	int e = h >> 10 & 31;
	double f = h & 1023, v = e == 31 ? (f > 0 ? (double)NAN : (double)INFINITY)
				 : e	 ? ldexp(f + 1024, e - 25)
					 : ldexp(f, -24);
	return h & 0x8000 ? -v : v;
}

/* The nearest half by looking at all of them; toward zero: the nearest of those that are no larger. */
static uint32_t search(double v, bool toward_zero)
{
	uint32_t best = 0;
	if (v != v)
		return 0x7fff;
	for (uint32_t h = 1; h <= 0x7c00; h++) {
		double have = half_value(h), was = half_value(best), a = fabs(v);
		/* infinity stands where the next half would */
		double at = h == 0x7c00 ? 65536 : have;
		if (toward_zero ? h < 0x7c00 && have <= a
				: fabs(at - a) < fabs(was - a) || (fabs(at - a) == fabs(was - a) && !(h & 1)))
			best = h;
		if (isinf(v) && h == 0x7c00)
			best = h;
	}
	return best | (signbit(v) ? 0x8000 : 0);
}

static bool same_half(uint32_t a, uint32_t b)
{
	return a == b || ((a & 0x7fff) > 0x7c00 && (b & 0x7fff) > 0x7c00);
}

static void sums_in_memory(void **state)
{
	static const char *const lines[] = {
	    "st.global.b32 [pout], a; atom.global.add.noftz.f16x2 d, [pout], b; ld.global.b32 d, [pout];",
	    "st.global.b32 [pout], a; red.global.add.noftz.f16x2 [pout], b; ld.global.b32 d, [pout];"};
	struct rng r;
	(void)state;
	rng_seed(&r, 32);
	for (size_t k = 0; k < sizeof lines / sizeof *lines; k++) {
		struct one_op o;
		one_op_open(&o, lines[k], PTX_F16X2, PTX_F16X2, PTX_F16X2, PTX_NONE, 90);
		for (int pass = 0; pass < 4; pass++) {
			one_op_fill(&o, &r);
			one_op_run(&o);
			for (int l = 0; l < 32; l++)
				for (int half = 0; half < 32; half += 16) {
					uint32_t a = o.in[0][l] >> half & 0xffff, b = o.in[1][l] >> half & 0xffff;
					uint32_t want = search(half_value(a) + half_value(b), false);
					uint32_t have = o.out[l] >> half & 0xffff;
					if (!same_half(have, want))
						fail_msg("%04x + %04x in memory: %04x, not %04x", a, b, have, want);
				}
		}
		one_op_close(&o);
	}
}

static float f32_of(uint64_t u)
{
	uint32_t low = (uint32_t)u;
	float f;
	memcpy(&f, &low, sizeof f);
	return f;
}

static void pairs_of_floats(void **state)
{
	static const char *const lines[] = {"cvt.rn.f16x2.f32 d, a, b;", "cvt.rz.f16x2.f32 d, a, b;",
					    "cvt.rn.relu.f16x2.f32 d, a, b;"};
	struct rng r;
	(void)state;
	rng_seed(&r, 33);
	for (size_t k = 0; k < sizeof lines / sizeof *lines; k++) {
		struct one_op o;
		one_op_open(&o, lines[k], PTX_F16X2, PTX_F32, PTX_F32, PTX_NONE, 90);
		for (int pass = 0; pass < 4; pass++) {
			one_op_fill(&o, &r);
			one_op_run(&o);
			for (int l = 0; l < 32; l++)
				for (int half = 0; half < 2; half++) {
					double v = (double)f32_of(
					    o.in[half ? 0 : 1][l]); /* the first source is the upper half */
					uint32_t have = o.out[l] >> (16 * half) & 0xffff;
					v = k == 2 && v <= 0 ? 0 : v; /* -0, too */
					uint32_t want = k == 1 && isinf(v) ? search(v, false) : search(v, k == 1);
					if (!same_half(have, want))
						fail_msg("%s of %a: %04x, not %04x", lines[k], v, have, want);
				}
		}
		one_op_close(&o);
	}
}

static void comparisons_of_pairs(void **state)
{
	static const struct {
		const char *line;
		enum ptx_type d;
		uint32_t truth;
	} forms[] = {{"setp.lt.or.f16x2 q|p, a, b, p; selp.u32 d, 0xffff, 0, q; @p or.b32 d, d, 0xffff0000;", PTX_U32,
		      UINT32_MAX},
		     {"set.lt.u32.f16x2 d, a, b;", PTX_U32, UINT32_MAX},
		     {"set.lt.f16x2.f16x2 d, a, b;", PTX_F16X2, 0x3c003c00}};
	struct rng r;
	(void)state;
	rng_seed(&r, 34);
	for (size_t k = 0; k < sizeof forms / sizeof *forms; k++) {
		struct one_op o;
		one_op_open(&o, forms[k].line, forms[k].d, PTX_F16X2, PTX_F16X2, PTX_NONE, 90);
		for (int pass = 0; pass < 40; pass++) {
			one_op_fill(&o, &r);
			one_op_run(&o);
			for (int l = 0; l < 32; l++) {
				uint32_t want = 0;
				for (int half = 0; half < 32; half += 16)
					if (half_value(o.in[0][l] >> half & 0xffff) <
						half_value(o.in[1][l] >> half & 0xffff) ||
					    (k == 0 && (o.pred >> l & 1)))
						want |= forms[k].truth & 0xffffu << half;
				assert_int_equal(o.out[l], want);
			}
		}
		one_op_close(&o);
	}
}

/* Subnormal sums survive in shared memory only. */
static void sums_of_subnormals(void **state)
{
	static const struct {
		const char *line;
		uint32_t want;
	} forms[] = {{"st.global.b32 [pout], a; atom.global.add.f32 d, [pout], b; ld.global.f32 d, [pout];", 0},
		     {".shared .b32 s[32]; mov.u32 word, s; mad.lo.u32 word, t, 4, word; st.shared.b32 [word], a; "
		      "atom.shared.add.f32 d, [word], b; ld.shared.f32 d, [word];",
		      0x00400001}};
	(void)state;
	for (size_t k = 0; k < sizeof forms / sizeof *forms; k++) {
		struct one_op o;
		char line[256];
		/* the guard of the fixture stands before the first word: a declaration takes none */
		snprintf(line, sizeof line, "mov.u32 word, 0; %s", forms[k].line);
		one_op_open(&o, line, PTX_F32, PTX_F32, PTX_F32, PTX_NONE, 90);
		for (int l = 0; l < 32; l++) {
			o.in[0][l] = 0x00400000;
			o.in[1][l] = 1;
		}
		one_op_run(&o);
		for (int l = 0; l < 32; l++)
			assert_int_equal(o.out[l], forms[k].want);
		one_op_close(&o);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(quotients_and_roots), cmocka_unit_test(sums_in_memory),
	    cmocka_unit_test(pairs_of_floats),	   cmocka_unit_test(comparisons_of_pairs),
	    cmocka_unit_test(sums_of_subnormals),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
