/* Conversions between any two types, one lane at a time; the plain ones are in exec_alu.def. */
#include "exec.h"
#include <fenv.h>
#include <math.h>
#include <string.h>

static unsigned bits_in(int type)
{
	return ptx_type_bytes((enum ptx_type)type) * 8;
}

static bool is_float(int type)
{
	return ptx_type_class((enum ptx_type)type) == 'f';
}

static __int128 lowest(int type)
{
	return ptx_type_signed((enum ptx_type)type) ? -((__int128)1 << (bits_in(type) - 1)) : 0;
}

static __int128 highest(int type)
{
	return ((__int128)1 << (bits_in(type) - ptx_type_signed((enum ptx_type)type))) - 1;
}

static __int128 clamp(__int128 v, int type)
{
	return v < lowest(type) ? lowest(type) : v > highest(type) ? highest(type) : v;
}

/* The value of an integer of `type` in the low bits of v. */
static __int128 integer(int type, uint64_t v)
{
	unsigned n = bits_in(type);
	uint64_t low = n == 64 ? v : v & ((1ull << n) - 1);
	if (!ptx_type_signed((enum ptx_type)type) || !(low >> (n - 1)))
		return low;
	return (__int128)low - ((__int128)1 << n);
}

/* The integer in a register of `width` bytes: cut to its type, then extended by its type's rule. */
static uint64_t in_register(__int128 v, int type, unsigned width)
{
	__int128 cut = integer(type, (uint64_t)v);
	return width >= 8 ? (uint64_t)cut : (uint64_t)cut & ((1ull << (width * 8)) - 1);
}

static double float_of(int type, unsigned flags, uint64_t v)
{
	float f;
	double d;
	uint32_t low = (uint32_t)v;
	if (type == PTX_F16)
		return exec_from_half((uint16_t)v);
	if (type == PTX_BF16)
		return exec_from_small(&exec_bf16, (uint16_t)v);
	if (type == PTX_F64) {
		memcpy(&d, &v, sizeof d);
		return d;
	}
	memcpy(&f, &low, sizeof f);
	if ((flags & EXEC_FTZ) && fpclassify(f) == FP_SUBNORMAL)
		f = copysignf(0, f);
	return f;
}

static double integral(double v, int round)
{
	switch (round) {
	case PTX_RNI:
		return nearbyint(v);
	case PTX_RZI:
		return trunc(v);
	case PTX_RMI:
		return floor(v);
	case PTX_RPI:
		return ceil(v);
	default:
		return v;
	}
}

static int host_mode(int round)
{
	return round == PTX_RZ	 ? FE_TOWARDZERO
	       : round == PTX_RM ? FE_DOWNWARD
	       : round == PTX_RP ? FE_UPWARD
				 : FE_TONEAREST;
}

static float narrow(double v, int round)
{
	volatile double from = v;
	volatile float to;
	int old = fegetround();
	fesetround(host_mode(round));
	to = (float)from;
	fesetround(old);
	return to;
}

#define HALF_MOST 65504.0 /* IEEE 754, binary16 */

static uint64_t float_bits(int type, int round, unsigned flags, double v)
{
	uint64_t bits = 0;
	if (flags & EXEC_SAT)
		v = v > 0 ? (v < 1 ? v : 1) : 0;
	if ((flags & EXEC_RELU) && v <= 0) /* -0 becomes 0, too */
		v = 0;
	if ((flags & EXEC_SATFINITE) && v == v)
		v = fmax(fmin(v, type == PTX_BF16 ? exec_bf16.most : HALF_MOST),
			 type == PTX_BF16 ? -exec_bf16.most : -HALF_MOST);
	if (type == PTX_F16)
		return exec_to_half(v, round >= PTX_RN && round <= PTX_RP ? round : PTX_RN);
	if (type == PTX_BF16)
		return exec_to_small(&exec_bf16, v, round >= PTX_RN && round <= PTX_RP ? round : PTX_RN, false);
	if (type == PTX_F64) {
		memcpy(&bits, &v, sizeof v);
		return bits;
	}
	if (v != v)
		return FUNC_NAN32;
	float f = narrow(v, round);
	if ((flags & EXEC_FTZ) && fpclassify(f) == FP_SUBNORMAL)
		f = copysignf(0, f);
	memcpy(&bits, &f, sizeof f);
	return bits;
}

/* 64-bit integers do not fit a double: converted by the host in the mode asked for, directly to the type asked for. */
static uint64_t float_from_integer(int to, int round, unsigned flags, __int128 v)
{
	volatile int64_t s = (int64_t)v;
	volatile uint64_t u = (uint64_t)v;
	volatile double d = 0;
	volatile float f = 0;
	int old = fegetround();
	fesetround(host_mode(round));
	if (to == PTX_F32)
		f = v < 0 ? (float)s : (float)u;
	else
		d = v < 0 ? (double)s : (double)u;
	fesetround(old);
	/* What is inexact in a double is far beyond the largest half. */
	return float_bits(to, round, flags, to == PTX_F32 ? (double)f : d);
}

/* 0, but where 64 bits are on one side: there the highest bit of the destination alone. */
static uint64_t nan_as_integer(int to, int from, unsigned width)
{
	bool wide = bits_in(to) == 64 || from == PTX_F64;
	return wide ? in_register((__int128)1 << (bits_in(to) - 1), to, width) : 0;
}

uint64_t exec_convert(int to, int from, int round, unsigned flags, uint64_t v)
{
	unsigned width = flags >> EXEC_WIDTH_SHIFT;
	if (!is_float(from)) {
		__int128 n = integer(from, v);
		if (is_float(to))
			return float_from_integer(to, round, flags, n);
		return in_register(flags & EXEC_SAT ? clamp(n, to) : n, to, width);
	}
	double d = float_of(from, flags, v);
	if (is_float(to))
		return float_bits(to, round, flags, integral(d, round));
	if (d != d)
		return nan_as_integer(to, from, width);
	d = integral(d, round);
	/* Beyond 2^64 a double holds what no register does; clamp before it becomes an integer. */
	__int128 n = d >= 0x1p65 ? (__int128)1 << 65 : d <= -0x1p65 ? -((__int128)1 << 65) : (__int128)d;
	return in_register(clamp(n, to), to, width);
}

void exec_wide_cvt(struct func_warp *w, const struct func_inst *i, uint32_t mask)
{
	bool from_wide = bits_in(i->more[1]) == 64, to_wide = i->more[3] >> EXEC_WIDTH_SHIFT == 8;
	EACH_LANE(l, mask)
	{
		uint64_t v = exec_get(w, i->a, from_wide, l);
		if (i->more[0] == PTX_F16X2) { /* two sources, the upper half first */
			uint64_t high = exec_convert(PTX_F16, PTX_F32, i->more[2], i->more[3], v);
			exec_row(w, i->dst)[l] =
			    (uint32_t)(high << 16 |
				       exec_convert(PTX_F16, PTX_F32, i->more[2], i->more[3], exec_row(w, i->b)[l]));
			continue;
		}
		exec_put(w, i->dst, to_wide, l, exec_convert(i->more[0], i->more[1], i->more[2], i->more[3], v));
	}
}
EXEC_FORWARD(cvt)
