/* Conversions between all types against long double and 128-bit integers, and everything that halves do. */
#include "func_values.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

typedef __int128 i128;

/* A half by the definition of its fields. */
static long double from_half(uint16_t h)
{
	int e = h >> 10 & 31, f = h & 1023;
	long double v = e == 31 ? (f ? NAN : INFINITY) : e ? ldexpl(1 + f / 1024.0L, e - 15) : ldexpl(f / 1024.0L, -14);
	return h & 0x8000 ? -v : v;
}

static bool is_float(enum ptx_type t)
{
	return ptx_type_class(t) == 'f';
}

static i128 lowest(enum ptx_type t)
{
	return ptx_type_signed(t) ? -((i128)1 << (ptx_type_bytes(t) * 8 - 1)) : 0;
}

static i128 highest(enum ptx_type t)
{
	return ((i128)1 << (ptx_type_bytes(t) * 8 - ptx_type_signed(t))) - 1;
}

/* Every source value is exact in a long double of 64 bits. */
static long double number(enum ptx_type t, uint64_t v)
{
	float f;
	double d;
	uint32_t low = (uint32_t)v;
	switch (t) {
	case PTX_F16:
		return from_half((uint16_t)v);
	case PTX_F32:
		memcpy(&f, &low, sizeof f);
		return f;
	case PTX_F64:
		memcpy(&d, &v, sizeof d);
		return d;
	case PTX_S8:
		return (int8_t)v;
	case PTX_S16:
		return (int16_t)v;
	case PTX_S32:
		return (int32_t)v;
	case PTX_S64:
		return (int64_t)v;
	default:
		return v & type_mask(t);
	}
}

/* The number of the type that v is rounded to, by trying the neighbours of a first guess. */
static long double step(enum ptx_type t, long double v, long double towards)
{
	if (t == PTX_F32)
		return nextafterf((float)v, (float)towards);
	if (t == PTX_F64)
		return nextafter((double)v, (double)towards);
	/* halves: 11 bits, down to 2^-24 */
	int e;
	if (isinf(v))
		return (v > 0) == (towards > 0) && towards != 0 ? v : copysignl(65504, v);
	frexpl(v, &e);
	long double up = towards > v ? 1 : -1;
	long double weight = ldexpl(1, (e - 11 < -24 ? -24 : e - 11));
	if (fabsl(v) == ldexpl(0.5L, e) && (up > 0) != (v > 0) && e - 11 > -24)
		weight /= 2;
	long double next = v + up * weight;
	return fabsl(next) >= 65536 ? copysignl(INFINITY, next) : next;
}

static bool is_even(enum ptx_type t, long double v)
{
	if (t == PTX_F32) {
		float f = (float)v;
		uint32_t u;
		memcpy(&u, &f, sizeof u);
		return !(u & 1);
	}
	if (t == PTX_F64) {
		double d = (double)v;
		uint64_t u;
		memcpy(&u, &d, sizeof u);
		return !(u & 1);
	}
	int e;
	frexpl(v, &e);
	return fmodl(v / ldexpl(1, e - 11 < -24 ? -24 : e - 11), 2) == 0;
}

static long double place(enum ptx_type t, long double v)
{
	static const int top[PTX_TYPES] = {[PTX_F16] = 16, [PTX_F32] = 128, [PTX_F64] = 1024};
	return isinf(v) ? copysignl(ldexpl(1, top[t]), v) : v;
}

static bool rounded(enum ptx_type t, const char *mode, long double x, long double r)
{
	long double at = place(t, r), up = place(t, step(t, r, INFINITY)), down = place(t, step(t, r, -INFINITY));
	bool infinite = isinf(r);
	if (isinf(x))
		return r == x;
	if (infinite && fabsl(x) >= fabsl(at))
		return mode[2] == 'n' || (mode[2] == 'p' && r > 0) || (mode[2] == 'm' && r < 0);
	if (x == at && !infinite)
		return true;
	if (mode[2] == 'n' && infinite) { /* from the middle between the largest number and the place of infinity on */
		long double largest = step(t, r, 0);
		return fabsl(x) >= (fabsl(largest) + fabsl(at)) / 2;
	}
	bool beyond = !infinite && isinf(step(t, r, r > 0 ? INFINITY : -INFINITY)); /* r is the largest number */
	switch (mode[2]) {
	case 'm':
		return at < x && (x < up || (beyond && r > 0));
	case 'p':
		return at > x && (x > down || (beyond && r < 0));
	case 'z':
		return x > 0 ? at < x && (x < up || beyond) : at > x && (x > down || beyond);
	default: {
		long double here = fabsl(x - at), there = x > at ? fabsl(up - x) : fabsl(x - down);
		return here < there || (here == there && is_even(t, r));
	}
	}
}

static long double integral(const char *mode, long double v)
{
	switch (mode[2]) {
	case 'n':
		return rintl(v);
	case 'z':
		return truncl(v);
	case 'm':
		return floorl(v);
	default:
		return ceill(v);
	}
}

static bool right(enum ptx_type to, enum ptx_type from, const char *mode, bool sat, uint64_t in, uint64_t out)
{
	long double x = number(from, in), r = number(to, out);
	if (!is_float(to)) {
		/* the lowest signed or the middle of the unsigned numbers where 64 bits take part */
		bool wide = ptx_type_bytes(to) == 8 || from == PTX_F64;
		if (isnan(x))
			return out == (wide ? (type_mask(to) >> 1) + 1 : 0);
		if (is_float(from)) {
			x = integral(mode, x);
			x = x < (long double)lowest(to)	   ? (long double)lowest(to)
			    : x > (long double)highest(to) ? (long double)highest(to)
							   : x;
			return r == x;
		}
		i128 v = (i128)x;
		if (sat)
			v = v < lowest(to) ? lowest(to) : v > highest(to) ? highest(to) : v;
		return out == ((uint64_t)v & type_mask(to));
	}
	if (sat) {
		x = isnan(x) || x < 0 ? 0 : x > 1 ? 1 : x;
		return rounded(to, *mode ? mode : ".rn", x, r);
	}
	if (isnan(x))
		return isnan(r) && (to != PTX_F32 || out == 0x7fffffff) && (to != PTX_F16 || out == 0x7fff);
	if (strlen(mode) == 4)
		x = integral(mode, x);
	return rounded(to, strlen(mode) == 3 ? mode : ".rn", x, r) && signbit(x) == signbit(r);
}

static void check_pair(enum ptx_type to, enum ptx_type from, const char *mode, const char *sat, struct rng *r)
{
	struct one_op o;
	char line[64];
	snprintf(line, sizeof line, "cvt%s%s.%s.%s d, a;", mode, sat, ptx_type_name(to), ptx_type_name(from));
	one_op_open(&o, line, to, from, PTX_NONE, PTX_NONE, 90);
	for (int pass = 0; pass < 16; pass++) {
		one_op_fill(&o, r);
		/* floats near the limits of the integer types */
		for (int l = 0; is_float(from) && !is_float(to) && from != PTX_F16 && l < 32; l += 2) {
			double near = ldexp(1, (int)rng_below(r, 66)) + (double)rng_below(r, 5) / 2 - 1;
			float f = (float)near;
			near = rng_below(r, 2) ? -near : near;
			f = rng_below(r, 2) ? -f : f;
			o.in[0][l] = 0;
			memcpy(&o.in[0][l], from == PTX_F32 ? (void *)&f : (void *)&near, ptx_type_bytes(from));
		}
		o.mask = pass % 4 ? UINT32_MAX : 1u << rng_below(r, 32);
		one_op_run(&o);
		for (int l = 0; l < 32; l++)
			if ((o.mask >> l & 1) && !right(to, from, mode, *sat, o.in[0][l] & type_mask(from), o.out[l]))
				fail_msg("%s: %llx gives %llx", line, (unsigned long long)o.in[0][l],
					 (unsigned long long)o.out[l]);
			else if (!(o.mask >> l & 1))
				assert_true(o.out[l] == (UNTOUCHED & type_mask(to)));
	}
	one_op_close(&o);
}

static void every_pair_and_mode(void **state)
{
	static const enum ptx_type types[] = {PTX_U8,  PTX_S8,	PTX_U16, PTX_S16, PTX_U32, PTX_S32,
					      PTX_U64, PTX_S64, PTX_F16, PTX_F32, PTX_F64};
	static const char *const real[] = {".rn", ".rz", ".rm", ".rp"}, *const whole[] = {".rni", ".rzi", ".rmi",
											  ".rpi"};
	struct rng r;
	unsigned n = 0;
	(void)state;
	rng_seed(&r, 21);
	for (size_t i = 0; i < sizeof types / sizeof *types; i++)
		for (size_t k = 0; k < sizeof types / sizeof *types; k++) {
			enum ptx_type to = types[i], from = types[k];
			bool narrows = is_float(to) && (!is_float(from) || ptx_type_bytes(from) > ptx_type_bytes(to));
			bool truncates = is_float(from) && !is_float(to);
			for (int mode = 0; mode < 4; mode++)
				for (int sat = 0; sat < 2; sat++) {
					const char *m = narrows ? real[mode] : truncates ? whole[mode] : "";
					if (!*m && mode)
						continue;
					/* written only where some value does not fit */
					if (sat && !is_float(to) && !is_float(from) && lowest(to) <= lowest(from) &&
					    highest(to) >= highest(from))
						continue;
					check_pair(to, from, m, sat ? ".sat" : "", &r);
					n++;
				}
			if (is_float(to) && to == from)
				for (int mode = 0; mode < 4; mode++, n++)
					check_pair(to, from, whole[mode], "", &r);
		}
	print_message("%u conversions\n", n);
}

/* Registers wider than the type: the value is cut, then extended by the rule of its type. */
static void wide_registers(void **state)
{
	static const struct {
		const char *line;
		uint64_t in, out;
	} cases[] = {
	    {"cvt.s8.s32 d, a;", 0x80, 0xffffffffffffff80},
	    {"cvt.u8.s32 d, a;", 0x1ff, 0xff},
	    {"cvt.s16.u8 d, a;", 0xff, 0xff},
	    {"cvt.s16.s8 d, a;", 0xff, 0xffffffffffffffff},
	    {"cvt.u32.u64 d, a;", 0x123456789, 0x23456789},
	    {"cvt.s32.s64 d, a;", 0x80000000, 0xffffffff80000000},
	    {"cvt.u64.u16 d, a;", 0x12345, 0x2345},
	    {"cvt.sat.s8.s32 d, a;", 0x7fffffff, 0x7f},
	};
	(void)state;
	for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
		struct one_op o;
		one_op_open(&o, cases[k].line, PTX_B64, PTX_B64, PTX_NONE, PTX_NONE, 90);
		for (int l = 0; l < 32; l++)
			o.in[0][l] = cases[k].in;
		one_op_run(&o);
		if (o.out[7] != cases[k].out)
			fail_msg("%s: %llx gives %llx, not %llx", cases[k].line, (unsigned long long)cases[k].in,
				 (unsigned long long)o.out[7], (unsigned long long)cases[k].out);
		one_op_close(&o);
	}
}

static long double half_result(const char *op, long double x, long double y, long double z)
{
	if (strcmp(op, "add") == 0)
		return x + y;
	if (strcmp(op, "sub") == 0)
		return x - y;
	return strcmp(op, "mul") == 0 ? x * y : x * y + z;
}

/* Sums and products of halves. A long double holds sums of two and products exactly. It does not hold the rare fused
 * sum, whose distance is checked loosely, by the rounding of the long double itself. */
static void halves(void **state)
{
	static const char *const ops[] = {"add", "sub", "mul", "fma"};
	struct rng r;
	(void)state;
	rng_seed(&r, 22);
	for (int k = 0; k < 4; k++)
		for (int two = 0; two < 2; two++) {
			struct one_op o;
			enum ptx_type t = two ? PTX_F16X2 : PTX_F16;
			char line[64];
			snprintf(line, sizeof line, "%s.rn.%s d, a, b%s;", ops[k], ptx_type_name(t),
				 k == 3 ? ", c" : "");
			one_op_open(&o, line, t, t, t, k == 3 ? t : PTX_NONE, 90);
			for (int pass = 0; pass < 60; pass++) {
				one_op_fill(&o, &r);
				one_op_run(&o);
				for (int l = 0; l < 32; l++)
					for (int part = 0; part <= two; part++) {
						int s = 16 * part;
						long double x = from_half((uint16_t)(o.in[0][l] >> s));
						long double y = from_half((uint16_t)(o.in[1][l] >> s));
						long double z = from_half((uint16_t)(o.in[2][l] >> s));
						long double want = half_result(ops[k], x, y, z);
						uint16_t got = (uint16_t)(o.out[l] >> s);
						if (isnan(want) ? got != 0x7fff
								: !rounded(PTX_F16, ".rn", want, from_half(got)))
							fail_msg("%s: %llx %llx %llx gives %llx", line,
								 (unsigned long long)o.in[0][l],
								 (unsigned long long)o.in[1][l],
								 (unsigned long long)o.in[2][l],
								 (unsigned long long)o.out[l]);
					}
			}
			one_op_close(&o);
		}
}

static const struct {
	const char *line;
	uint64_t a, b, c, want;
} half_cases[] = {
    {"add.f16 d, a, b;", 0x0001, 0x0001, 0, 0x0002},
    {"add.ftz.f16 d, a, b;", 0x0001, 0x0001, 0, 0},
    {"add.sat.f16 d, a, b;", 0x3c00, 0x3c00, 0, 0x3c00},
    {"fma.rn.relu.f16 d, a, b, c;", 0xbc00, 0x3c00, 0, 0},
    {"fma.rn.sat.f16 d, a, b, c;", 0x7e00, 0, 0, 0},
    {"neg.f16 d, a;", 0x3c00, 0, 0, 0xbc00},
    {"abs.f16 d, a;", 0xfc00, 0, 0, 0x7c00},
    {"min.f16 d, a, b;", 0x7e00, 0x3c00, 0, 0x3c00},
    {"max.NaN.f16 d, a, b;", 0x7e00, 0x3c00, 0, 0x7fff},
    {"max.f16 d, a, b;", 0x8000, 0x0000, 0, 0x0000},
    {"min.f16 d, a, b;", 0x0000, 0x8000, 0, 0x8000},
    {"ex2.approx.f16 d, a;", 0x4200, 0, 0, 0x4800},
    {"tanh.approx.f16 d, a;", 0x7c00, 0, 0, 0x3c00},
    /* 2^-14 * 2^-11 is half of the smallest number: a tie to zero, which one more bit moves up */
    {"fma.rn.f16 d, a, b, c;", 0x0400, 0x1000, 0x0000, 0x0000},
    {"fma.rn.f16 d, a, b, c;", 0x0401, 0x1000, 0x0000, 0x0001},
    /* 1 + 2^-11 is a tie; a product of 2^-48 decides it */
    {"fma.rn.f16 d, a, b, c;", 0x0001, 0x0001, 0x3c00, 0x3c00},
};

static void half_modifiers(void **state)
{
	(void)state;
	for (size_t k = 0; k < sizeof half_cases / sizeof *half_cases; k++) {
		struct one_op o;
		const char *line = half_cases[k].line;
		one_op_open(&o, line, PTX_F16, PTX_F16, strstr(line, ", b") ? PTX_F16 : PTX_NONE,
			    strstr(line, ", c") ? PTX_F16 : PTX_NONE, 90);
		for (int l = 0; l < 32; l++) {
			o.in[0][l] = half_cases[k].a;
			o.in[1][l] = half_cases[k].b;
			o.in[2][l] = half_cases[k].c;
		}
		one_op_run(&o);
		if (o.out[9] != half_cases[k].want)
			fail_msg("%s: gives %llx, not %llx", line, (unsigned long long)o.out[9],
				 (unsigned long long)half_cases[k].want);
		one_op_close(&o);
	}
}

/* All 65,536 of them: to f32 and back. */
static void every_half(void **state)
{
	struct one_op up, back;
	(void)state;
	one_op_open(&up, "cvt.f32.f16 d, a;", PTX_F32, PTX_F16, PTX_NONE, PTX_NONE, 90);
	one_op_open(&back, "cvt.rn.f16.f32 d, a;", PTX_F16, PTX_F32, PTX_NONE, PTX_NONE, 90);
	for (uint32_t first = 0; first < 65536; first += 32) {
		for (uint32_t l = 0; l < 32; l++)
			up.in[0][l] = first + l;
		one_op_run(&up);
		memcpy(back.in[0], up.out, sizeof up.out);
		one_op_run(&back);
		for (uint32_t l = 0; l < 32; l++) {
			long double v = from_half((uint16_t)(first + l));
			if (isnan(v))
				assert_true(up.out[l] == 0x7fffffff && back.out[l] == 0x7fff);
			else
				assert_true(number(PTX_F32, up.out[l]) == v && back.out[l] == first + l);
		}
	}
	one_op_close(&up);
	one_op_close(&back);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(every_pair_and_mode), cmocka_unit_test(wide_registers), cmocka_unit_test(halves),
	    cmocka_unit_test(half_modifiers),	   cmocka_unit_test(every_half),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
