/* The special function unit around its tables (sfu.h).
 *
 * In front of a table stands what brings the argument into its range. Reciprocals, roots and logarithms use the
 * exponent, and 2^x a fixed-point number with 23 bits of fraction. The functions sin and cos use the angle as quarters
 * of a turn. */
#include "exec.h"
#include <float.h>
#include <math.h>
#include <string.h>

#define FRACTION      23 /* bits of f32 */
#define BIAS	      127
#define QUARTER	      25 /* bits of a quarter turn */
#define TANH_FRACTION 20
#define TANH_END      8 /* from here on tanh is 1 */

static uint32_t bits_of(float f)
{
	uint32_t u;
	memcpy(&u, &f, sizeof u);
	return u;
}

static float float_of(uint32_t u)
{
	float f;
	memcpy(&f, &u, sizeof f);
	return f;
}

/* 2^e, for e where that is a normal double. */
static double power(int e)
{
	uint64_t u = (uint64_t)(e + 1023) << 52;
	double d;
	memcpy(&d, &u, sizeof d);
	return d;
}

/* An integer of few bits times 2^e, rounded once, to nearest. */
static float scaled(int64_t n, int e)
{
	return (float)((double)n * power(e < -1000 ? -1000 : e > 1000 ? 1000 : e));
}

enum kind { ZERO, FINITE, INFINITE, NOT_A_NUMBER };
struct number {
	enum kind kind;
	bool negative;
	int exponent;
	uint32_t fraction; /* of 1.fraction x 2^exponent; subnormal numbers are normal here */
};

static struct number take_apart(float x, bool ftz)
{
	uint32_t u = bits_of(x), field = u >> FRACTION & 255, fraction = u & ((1u << FRACTION) - 1);
	struct number n = {.negative = u >> 31, .exponent = (int)field - BIAS, .fraction = fraction};
	if (field == 255) {
		n.kind = fraction ? NOT_A_NUMBER : INFINITE;
	} else if (field == 0 && (!fraction || ftz)) {
		n.kind = ZERO;
	} else {
		n.kind = FINITE;
		if (field == 0) {
			int up = __builtin_clz(fraction) - (31 - FRACTION);
			n.exponent = 1 - BIAS - up;
			n.fraction = fraction << up & ((1u << FRACTION) - 1);
		}
	}
	return n;
}

static float with_sign(float v, bool negative)
{
	return float_of(bits_of(v) | (uint32_t)negative << 31);
}

static float infinity(void)
{
	return float_of(0x7f800000u);
}

static float nan_value(void)
{
	return float_of(FUNC_NAN32);
}

static float reciprocal(const struct sfu *s, const struct number *n)
{
	if (n->kind == ZERO || n->kind == INFINITE)
		return with_sign(n->kind == ZERO ? infinity() : 0, n->negative);
	return with_sign(scaled(sfu_rounded(&s->table[SFU_TABLE_RCP], n->fraction, 24), -24 - n->exponent),
			 n->negative);
}

/* Even exponents leave [1, 2), odd ones [2, 4); each has a table. */
static float reciprocal_root(const struct sfu *s, const struct number *n)
{
	if (n->kind == ZERO)
		return with_sign(infinity(), n->negative);
	if (n->negative)
		return nan_value();
	if (n->kind == INFINITE)
		return 0;
	bool odd = n->exponent & 1;
	return scaled(
	    sfu_rounded(odd ? &s->table[SFU_TABLE_RSQRT_HIGH] : &s->table[SFU_TABLE_RSQRT_LOW], n->fraction, 24),
	    -24 - (n->exponent - odd) / 2);
}

static float root(const struct sfu *s, const struct number *n)
{
	if (n->kind == ZERO)
		return with_sign(0, n->negative);
	if (n->negative)
		return nan_value();
	if (n->kind == INFINITE)
		return infinity();
	bool odd = n->exponent & 1;
	return scaled(
	    sfu_rounded(odd ? &s->table[SFU_TABLE_SQRT_HIGH] : &s->table[SFU_TABLE_SQRT_LOW], n->fraction, 23),
	    -23 + (n->exponent - odd) / 2);
}

/* The significand, moved so that its last bit weighs 2^-fraction; to nearest. What is too large is cut off on top. */
static uint64_t fixed_point(const struct number *n, int fraction)
{
	uint64_t m = 1u << FRACTION | n->fraction;
	int left = n->exponent - FRACTION + fraction;
	if (left >= 0)
		return left < 40 ? m << left : 0;
	return left > -40 ? (m + ((uint64_t)1 << (-left - 1))) >> -left : 0;
}

static float power_of_two(const struct sfu *s, const struct number *n)
{
	if (n->kind == ZERO)
		return 1;
	if (n->kind == INFINITE || n->exponent >= 8)
		return n->negative ? 0 : infinity();
	int64_t x = (int64_t)fixed_point(n, FRACTION);
	x = n->negative ? -x : x;
	uint32_t fraction = (uint32_t)x & ((1u << FRACTION) - 1);
	int whole = (int)((x - fraction) / (1 << FRACTION));
	return scaled(sfu_rounded(&s->table[SFU_TABLE_EX2], fraction, 23), whole - 23);
}

static float logarithm(const struct sfu *s, const struct number *n)
{
	enum { WEIGHT = 32 };
	if (n->kind == ZERO)
		return -infinity();
	if (n->negative)
		return nan_value();
	if (n->kind == INFINITE)
		return infinity();
	int64_t sum =
	    (int64_t)n->exponent * ((int64_t)1 << WEIGHT) + sfu_rounded(&s->table[SFU_TABLE_LG2], n->fraction, WEIGHT);
	return (float)sum * float_of((uint32_t)(BIAS - WEIGHT) << FRACTION);
}

/* Sine of f / 2^QUARTER of a quarter turn, both ends included. */
static float quarter_sine(const struct sfu *s, uint32_t f)
{
	enum { WEIGHT = 30 };
	if (f >> QUARTER)
		return 1;
	float v = scaled(sfu_rounded(&s->table[SFU_TABLE_SIN], f, WEIGHT), -WEIGHT);
	return v < 1 ? v : 1;
}

/* Angles are turned into quarters with 96 bits of 2 / pi; past 2^94 none of those are left and the angle counts as 0. */
static float trigonometric(const struct sfu *s, const struct number *n, bool cosine)
{
	const unsigned __int128 two_by_pi = (unsigned __int128)0xa2f9836eull << 64 | 0x4e441529fc2757d1ull;
	if (n->kind == INFINITE)
		return nan_value();
	uint64_t quarters = 0;
	int down = 96 + FRACTION - QUARTER - n->exponent;
	if (n->kind == FINITE && down > 0 && down < 127) {
		unsigned __int128 whole = two_by_pi * (1u << FRACTION | n->fraction);
		quarters = (uint64_t)((whole + ((unsigned __int128)1 << (down - 1))) >> down);
	}
	uint32_t f = (uint32_t)quarters & ((1u << QUARTER) - 1);
	unsigned quadrant = (unsigned)(quarters >> QUARTER) + cosine;
	float v = quarter_sine(s, quadrant & 1 ? (1u << QUARTER) - f : f);
	bool negative = (quadrant & 2) != 0;
	return with_sign(v, cosine ? negative : negative != n->negative);
}

/* x times tanh(x) / x: the quotient is smooth. */
static float hyperbolic_tangent(const struct sfu *s, const struct number *n, float x)
{
	if (n->kind == ZERO)
		return x;
	uint64_t at = n->kind == INFINITE || n->exponent >= 3 ? UINT64_MAX : fixed_point(n, TANH_FRACTION);
	if (at >= (uint64_t)TANH_END << TANH_FRACTION)
		return with_sign(1, n->negative);
	return x * scaled(sfu_rounded(&s->table[SFU_TABLE_TANH], (uint32_t)at, 24), -24);
}

static float flushed(float v)
{
	uint32_t u = bits_of(v);
	return u & 0x7f800000u ? v : float_of(u & 0x80000000u);
}

float exec_sfu(const struct sfu *s, int op, unsigned flags, float x)
{
	bool ftz = flags & EXEC_FTZ;
	struct number n = take_apart(x, ftz);
	float v;
	if (n.kind == NOT_A_NUMBER)
		return nan_value();
	switch (op) {
	case PTX_OP_RCP:
		v = reciprocal(s, &n);
		break;
	case PTX_OP_SQRT:
		v = root(s, &n);
		break;
	case PTX_OP_RSQRT:
		v = reciprocal_root(s, &n);
		break;
	case PTX_OP_EX2:
		v = power_of_two(s, &n);
		break;
	case PTX_OP_LG2:
		v = logarithm(s, &n);
		break;
	case PTX_OP_TANH:
		v = hyperbolic_tangent(s, &n, x);
		break;
	default:
		v = trigonometric(s, &n, op == PTX_OP_COS);
		break;
	}
	return ftz ? flushed(v) : v;
}

/* A product with the reciprocal. The reciprocal of a divisor beyond 2^126 is flushed to 0; div.full keeps the exponents
 * apart, so that it has no such hole. */
float exec_sfu_divide(const struct sfu *s, unsigned flags, float x, float y)
{
	bool ftz = flags & EXEC_FTZ;
	struct number a = take_apart(x, ftz), b = take_apart(y, ftz);
	float v;
	if ((flags & EXEC_FULL) && a.kind == FINITE && b.kind == FINITE) {
		float significand = float_of((uint32_t)BIAS << FRACTION | a.fraction);
		float by = scaled(sfu_rounded(&s->table[SFU_TABLE_RCP], b.fraction, 24), -24),
		      product = significand * by;
		v = (float)((double)product * power(a.exponent - b.exponent));
		v = with_sign(v, a.negative != b.negative);
	} else if ((flags & EXEC_FULL) && b.kind == FINITE) {
		v = (a.kind == ZERO ? with_sign(0, a.negative) : x) * with_sign(1, b.negative);
	} else {
		if (ftz)
			x = flushed(x);
		else if (y != 0 && fabsf(y) < FLT_MIN) { /* the reciprocal is taken of normal numbers only */
			x *= 0x1p24f;
			y *= 0x1p24f;
		}
		v = x * exec_sfu(s, PTX_OP_RCP, EXEC_FTZ, y);
	}
	v = ftz ? flushed(v) : v;
	return v != v ? nan_value() : v;
}

/* f64: the upper 32 bits in, the upper 32 bits out. Subnormal numbers are zeros. */
static uint64_t high_word(const struct sfu *s, int op, uint64_t bits)
{
	uint64_t sign = bits & 1ull << 63, out = 0;
	int field = (int)(bits >> 52 & 2047);
	bool nan = (bits & INT64_MAX) > 0x7ff0000000000000ull, infinite = field == 2047 && !nan;
	struct number n = {
	    .kind = field ? FINITE : ZERO, .exponent = field - 1023, .fraction = (uint32_t)(bits >> 32 & 0xfffff) << 3};
	if (nan || (op == PTX_OP_RSQRT && sign && n.kind == FINITE))
		return 0x7fffffffffffffffull;
	if (n.kind == ZERO)
		return sign | 0x7ff0000000000000ull;
	if (infinite)
		return sign;
	/* A result in [1/2, 1] of 24 bits, to 21 of them. */
	bool odd = n.exponent & 1;
	const struct sfu_table *t = op == PTX_OP_RCP ? &s->table[SFU_TABLE_RCP]
				    : odd	     ? &s->table[SFU_TABLE_RSQRT_HIGH]
						     : &s->table[SFU_TABLE_RSQRT_LOW];
	int e = op == PTX_OP_RCP ? -n.exponent : -(n.exponent - odd) / 2;
	double v = (double)sfu_rounded(t, n.fraction, 21) * power(-21);
	memcpy(&out, &v, sizeof out);
	int64_t result = (int64_t)(out >> 52) + e;
	if (result <= 0)
		return sign;
	return sign | (uint64_t)result << 52 | (out & 0xfffff00000000ull);
}

void exec_wide_special(struct func_warp *w, const struct func_inst *i, uint32_t mask)
{
	int op = i->more[0];
	unsigned flags = i->more[3];
	const struct sfu *s = w->block->launch->program->sfu;
	if (i->more[1] == PTX_F64) {
		EACH_LANE(l, mask)
		{
			exec_row64(w, i->dst)[l] = high_word(s, op, exec_row64(w, i->a)[l]);
		}
		return;
	}
	uint32_t *d = exec_row(w, i->dst);
	const uint32_t *a = exec_row(w, i->a), *b = exec_row(w, i->b);
	uint32_t of = 0, by = 0, result = 0; /* of the lane before: many kernels ask the same for all lanes */
	bool any = false;
	EACH_LANE(l, mask)
	{
		if (any && a[l] == of && (op != PTX_OP_DIV || b[l] == by)) {
			d[l] = result;
			continue;
		}
		any = true;
		of = a[l];
		by = op == PTX_OP_DIV ? b[l] : 0;
		float v = op == PTX_OP_DIV ? exec_sfu_divide(s, flags, float_of(of), float_of(by))
					   : exec_sfu(s, op, flags, float_of(of));
		if (flags & EXEC_SAT)
			v = v > 0 ? (v < 1 ? v : 1) : 0;
		d[l] = result = bits_of(v);
	}
}
EXEC_FORWARD(special)
