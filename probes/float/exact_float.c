#include "exact_float.h"
#include <assert.h>

typedef unsigned __int128 wide;
#define WIDE_BITS 128
#define ROOM	  126 /* bits that a sum may begin with */

const struct float_format format_f16 = {11, -14, 15, 16}, format_f32 = {24, -126, 127, 32},
			  format_f64 = {53, -1022, 1023, 64};

const char *const rounding_names[ROUNDINGS] = {"nearest", "nearest_away", "zero", "up", "down"};

static int length(wide v)
{
	int n = 0;
	for (; v; v >>= 1)
		n++;
	return n;
}

static uint64_t fraction_mask(const struct float_format *f)
{
	return ((uint64_t)1 << (f->digits - 1)) - 1;
}

static uint64_t field_of(const struct float_format *f, uint64_t bits)
{
	return bits >> (f->digits - 1) & (((uint64_t)1 << (f->storage - (unsigned)f->digits)) - 1);
}

static uint64_t field_most(const struct float_format *f)
{
	return ((uint64_t)1 << (f->storage - (unsigned)f->digits)) - 1;
}

static uint64_t sign_of(const struct float_format *f, bool negative)
{
	return (uint64_t)negative << (f->storage - 1);
}

bool float_is_nan(const struct float_format *f, uint64_t bits)
{
	return field_of(f, bits) == field_most(f) && (bits & fraction_mask(f));
}

bool float_is_subnormal(const struct float_format *f, uint64_t bits)
{
	return field_of(f, bits) == 0 && (bits & fraction_mask(f));
}

uint64_t float_flushed(const struct float_format *f, uint64_t bits)
{
	return float_is_subnormal(f, bits) ? bits & sign_of(f, true) : bits;
}

struct exact exact_of(const struct float_format *f, uint64_t bits)
{
	const uint64_t field = field_of(f, bits), fraction = bits & fraction_mask(f);
	struct exact x = {.negative = bits >> (f->storage - 1) & 1};
	if (field == field_most(f)) {
		x.kind = fraction ? EXACT_NAN : EXACT_INFINITE;
		return x;
	}
	x.significand = field ? fraction | (fraction_mask(f) + 1) : fraction;
	x.exponent = (field ? (int)field + f->least - 1 : f->least) - (f->digits - 1);
	return x;
}

struct exact exact_of_integer(int64_t v)
{
	return (struct exact){.negative = v < 0, .significand = v < 0 ? -(uint64_t)v : (uint64_t)v};
}

/* To an exponent that is no less; what falls off is only noted. */
static struct exact shifted(struct exact x, int exponent)
{
	const int down = exponent - x.exponent;
	if (down <= 0 || !x.significand) {
		x.significand <<= down < 0 && x.significand ? -down : 0;
	} else if (down >= WIDE_BITS) {
		x.more = true;
		x.significand = 0;
	} else {
		x.more |= (x.significand & (((wide)1 << down) - 1)) != 0;
		x.significand >>= down;
	}
	x.exponent = exponent;
	return x;
}

struct exact exact_add(struct exact a, struct exact b)
{
	if (a.kind != EXACT_FINITE || b.kind != EXACT_FINITE) {
		const bool both = a.kind == EXACT_INFINITE && b.kind == EXACT_INFINITE;
		if (a.kind == EXACT_NAN || b.kind == EXACT_NAN || (both && a.negative != b.negative))
			return (struct exact){.kind = EXACT_NAN};
		return a.kind == EXACT_INFINITE ? a : b;
	}
	if (!a.significand || !b.significand) {
		struct exact only = a.significand ? a : b;
		if (!only.significand && a.negative != b.negative)
			only.negative = false;
		return only;
	}
	/* The larger one keeps all its bits, as do both where they are near. */
	int top_a = a.exponent + length(a.significand), top_b = b.exponent + length(b.significand),
	    top = top_a > top_b ? top_a : top_b, low = a.exponent < b.exponent ? a.exponent : b.exponent;
	if (top - low > ROOM)
		low = top - ROOM;
	a = shifted(a, low);
	b = shifted(b, low);
	struct exact sum = {.negative = a.negative, .exponent = low, .more = a.more || b.more};
	if (a.negative == b.negative) {
		sum.significand = a.significand + b.significand;
	} else if (a.significand == b.significand) {
		assert(!sum.more);
		sum.negative = false;
	} else {
		const bool a_is_more = a.significand > b.significand;
		sum.negative = a_is_more ? a.negative : b.negative;
		sum.significand = a_is_more ? a.significand - b.significand : b.significand - a.significand;
		/* What fell off belongs to the smaller one, and is to be taken off. */
		sum.significand -= sum.more;
	}
	return sum;
}

struct exact exact_multiply(struct exact a, struct exact b)
{
	const bool zero = (a.kind == EXACT_FINITE && !a.significand) || (b.kind == EXACT_FINITE && !b.significand),
		   infinite = a.kind == EXACT_INFINITE || b.kind == EXACT_INFINITE;
	struct exact p = {.negative = a.negative != b.negative, .exponent = a.exponent + b.exponent};
	if (a.kind == EXACT_NAN || b.kind == EXACT_NAN || (zero && infinite))
		return (struct exact){.kind = EXACT_NAN};
	p.kind = infinite ? EXACT_INFINITE : EXACT_FINITE;
	p.significand = infinite ? 0 : a.significand * b.significand;
	return p;
}

struct exact exact_divide(struct exact a, struct exact b)
{
	const bool zero = b.kind == EXACT_FINITE && !b.significand, none = a.kind == EXACT_FINITE && !a.significand;
	struct exact q = {.negative = a.negative != b.negative};
	if (a.kind == EXACT_NAN || b.kind == EXACT_NAN || (zero && none) ||
	    (a.kind == EXACT_INFINITE && b.kind == EXACT_INFINITE))
		return (struct exact){.kind = EXACT_NAN};
	if (a.kind == EXACT_INFINITE || zero) {
		q.kind = EXACT_INFINITE;
	} else if (b.kind == EXACT_FINITE && !none) {
		const int up = WIDE_BITS - 1 - length(a.significand);
		q.significand = (a.significand << up) / b.significand;
		q.more = (a.significand << up) % b.significand != 0;
		q.exponent = a.exponent - up - b.exponent;
	}
	return q;
}

struct exact exact_root(struct exact a)
{
	const bool zero = a.kind == EXACT_FINITE && !a.significand;
	if (zero || (a.kind == EXACT_INFINITE && !a.negative))
		return a;
	if (a.kind == EXACT_NAN || a.negative)
		return (struct exact){.kind = EXACT_NAN};
	int up = ROOM - length(a.significand);
	up -= (a.exponent - up) & 1;
	wide rest = a.significand << up, root = 0;
	for (int bit = WIDE_BITS / 2 - 1; bit >= 0; bit--) {
		const wide with = root | (wide)1 << bit;
		if (with <= (((wide)1 << (WIDE_BITS / 2)) - 1) && with * with <= rest)
			root = with;
	}
	return (struct exact){.significand = root, .more = root * root != rest, .exponent = (a.exponent - up) / 2};
}

/* Whether a positive or negative number of so many whole parts, with a part of one behind it, goes to the next one from zero. */
static bool goes_up(enum rounding r, bool negative, bool odd, bool half, bool more)
{
	switch (r) {
	case ROUND_NEAREST:
		return half && (more || odd);
	case ROUND_AWAY:
		return half;
	case ROUND_UP:
		return !negative && (half || more);
	case ROUND_DOWN:
		return negative && (half || more);
	default:
		return false;
	}
}

/* The number in units of 2^unit. */
static wide in_units(struct exact x, int unit, enum rounding r)
{
	const int down = unit - x.exponent;
	if (down <= 0)
		return x.significand << -down; /* with more bits than are asked for nothing is `more` */
	if (down > WIDE_BITS)
		return goes_up(r, x.negative, false, false, x.significand || x.more);
	const wide whole = down == WIDE_BITS ? 0 : x.significand >> down, below = ((wide)1 << (down - 1)) - 1;
	const bool half = x.significand >> (down - 1) & 1, more = x.more || (x.significand & below);
	return whole + goes_up(r, x.negative, whole & 1, half, more);
}

bool exact_is_small(const struct float_format *f, struct exact x)
{
	return x.kind == EXACT_FINITE && x.significand && x.exponent + length(x.significand) - 1 < f->least;
}

uint64_t exact_round(const struct float_format *f, struct exact x, enum rounding r)
{
	const uint64_t sign = sign_of(f, x.negative), infinity = field_most(f) << (f->digits - 1);
	if (x.kind == EXACT_NAN)
		return infinity | ((uint64_t)1 << (f->digits - 2));
	if (x.kind == EXACT_INFINITE)
		return sign | infinity;
	if (!x.significand && !x.more)
		return sign;
	int exponent = x.exponent + length(x.significand) - 1;
	if (exponent < f->least)
		exponent = f->least;
	wide v = in_units(x, exponent - (f->digits - 1), r);
	if (v >> f->digits) {
		v >>= 1;
		exponent++;
	}
	if (exponent > f->most) {
		const bool far = r == ROUND_NEAREST || r == ROUND_AWAY || (r == ROUND_UP && !x.negative) ||
				 (r == ROUND_DOWN && x.negative);
		return sign | (far ? infinity : infinity - 1);
	}
	if (v >> (f->digits - 1))
		return sign | (uint64_t)(exponent - f->least + 1) << (f->digits - 1) | ((uint64_t)v & fraction_mask(f));
	return sign | (uint64_t)v;
}

int64_t exact_integer(struct exact x, enum rounding r)
{
	const int64_t v = (int64_t)in_units(x, 0, r);
	return x.negative ? -v : v;
}
