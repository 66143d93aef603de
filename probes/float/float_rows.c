#include "float_rows.h"
#include "base/rng.h"
#include <string.h>

#define F16 &format_f16
#define F32 &format_f32
#define F64 &format_f64
const struct float_row float_rows[] = {
    {"add", "add.rn.f32", DOES_ADD, 2, F32, F32, "f32", "f32", "f32", "f32", 32, NEEDS_NOTHING},
    {"mul", "mul.rn.f32", DOES_MULTIPLY, 2, F32, F32, "f32", "f32", "f32", "f32", 32, NEEDS_NOTHING},
    {"mad", "mad%s.f32", DOES_MULTIPLY_ADD, 3, F32, F32, "f32", "f32", "f32", "f32", 32, NEEDS_NOTHING},
    {"fma", "fma.rn.f32", DOES_MULTIPLY_ADD, 3, F32, F32, "f32", "f32", "f32", "f32", 32, NEEDS_FMA},
    {"div", "div%s.f32", DOES_DIVIDE, 2, F32, F32, "f32", "f32", "f32", "f32", 32, NEEDS_NOTHING},
    {"sqrt", "sqrt%s.f32", DOES_ROOT, 1, F32, F32, "f32", "f32", "f32", "f32", 32, NEEDS_NOTHING},
    {"add_f64", "add.rn.f64", DOES_ADD, 2, F64, F64, "f64", "f64", "f64", "f64", 64, NEEDS_F64},
    {"mul_f64", "mul.rn.f64", DOES_MULTIPLY, 2, F64, F64, "f64", "f64", "f64", "f64", 64, NEEDS_F64},
    {"fma_f64", "fma.rn.f64", DOES_MULTIPLY_ADD, 3, F64, F64, "f64", "f64", "f64", "f64", 64, NEEDS_F64},
    {"div_f64", "div.rn.f64", DOES_DIVIDE, 2, F64, F64, "f64", "f64", "f64", "f64", 64, NEEDS_F64},
    {"sqrt_f64", "sqrt.rn.f64", DOES_ROOT, 1, F64, F64, "f64", "f64", "f64", "f64", 64, NEEDS_F64},
    {"add_f16", "add.rn.f16", DOES_ADD, 2, F16, F16, "f16", "f16", "b16", "b16", 16, NEEDS_F16},
    {"mul_f16", "mul.rn.f16", DOES_MULTIPLY, 2, F16, F16, "f16", "f16", "b16", "b16", 16, NEEDS_F16},
    {"fma_f16", "fma.rn.f16", DOES_MULTIPLY_ADD, 3, F16, F16, "f16", "f16", "b16", "b16", 16, NEEDS_F16},
    {"from_s32", "cvt.rn.f32.s32", DOES_CONVERT, 1, NULL, F32, "s32", "f32", "s32", "f32", 32, NEEDS_NOTHING},
    {"to_s32", "cvt.rni.s32.f32", DOES_CONVERT, 1, F32, NULL, "f32", "s32", "f32", "s32", 32, NEEDS_NOTHING},
    {"from_f64", "cvt.rn.f32.f64", DOES_CONVERT, 1, F64, F32, "f64", "f32", "f64", "f32", 32, NEEDS_F64},
    {"to_f16", "cvt.rn.f16.f32", DOES_CONVERT, 1, F32, F16, "f32", "b16", "f32", "b16", 16, NEEDS_NOTHING},
};
const unsigned float_row_count = sizeof float_rows / sizeof *float_rows;

bool float_row_runs(const struct float_row *row, const struct device_info *d)
{
	switch (row->needs) {
	case NEEDS_FMA:
		return d->has_fma;
	case NEEDS_F64:
		return d->has_f64;
	case NEEDS_F16:
		return d->has_f16;
	default:
		return true;
	}
}

static uint64_t packed(const struct float_format *f, bool negative, int exponent, uint64_t fraction)
{
	return (uint64_t)negative << (f->storage - 1) | (uint64_t)(exponent - f->least + 1) << (f->digits - 1) |
	       fraction;
}

/* A normal number with so many digits, the last of which is 1. */
static uint64_t short_number(const struct float_format *f, struct rng *r, int digits, int exponent)
{
	const int low = f->digits - digits;
	const uint64_t some = rng_next(r) & (((uint64_t)1 << (digits - 1)) - 1);
	return packed(f, rng_next(r) & 1, exponent, (some | 1) << low & (((uint64_t)1 << (f->digits - 1)) - 1));
}

static int near_exponent(struct rng *r, int most)
{
	return (int)rng_below(r, (uint32_t)(2 * most + 1)) - most;
}

static uint64_t some_number(const struct float_format *f, struct rng *r, int most)
{
	return short_number(f, r, f->digits, near_exponent(r, most));
}

static uint64_t subnormal(const struct float_format *f, struct rng *r)
{
	const uint64_t most = ((uint64_t)1 << (f->digits - 1)) - 1;
	return (rng_next(r) & 1) << (f->storage - 1) | ((rng_next(r) & most) | most >> 1);
}

/* Infinities, NaNs, zeros, the largest and the smallest normal number. */
static uint64_t special(const struct float_format *f, unsigned k)
{
	const uint64_t sign = (uint64_t)(k & 1) << (f->storage - 1), one = (uint64_t)1 << (f->digits - 1),
		       infinity = (uint64_t)(f->most - f->least + 2) << (f->digits - 1);
	switch (k / 2 % 6) {
	case 0:
		return sign | infinity;
	case 1:
		return sign | infinity | one >> 1;
	case 2:
		return sign;
	case 3:
		return sign | (infinity - 1);
	case 4:
		return sign | one; /* the smallest normal one */
	default:
		return packed(f, k & 1, 0, 0);
	}
}

/* Half-way between two results. */
static void tie(const struct float_row *row, struct rng *r, uint64_t operand[3])
{
	const struct float_format *f = row->from;
	const int digits = f->digits, more = row->does == DOES_CONVERT && row->to ? row->to->digits + 1 : digits;
	switch (row->does) {
	case DOES_ADD:
		operand[0] =
		    short_number(f, r, digits - (int)(rng_next(r) & 1), 0) & ~((uint64_t)1 << (f->storage - 1));
		operand[1] = packed(f, false, -digits, 0);
		break;
	case DOES_MULTIPLY:
		operand[0] = short_number(f, r, (digits + 2) / 2, 0);
		operand[1] = short_number(f, r, (digits + 1) / 2, 0);
		break;
	case DOES_MULTIPLY_ADD:
		operand[0] = short_number(f, r, digits / 2, 0);
		operand[1] = short_number(f, r, digits / 2, 0);
		operand[2] = packed(f, rng_next(r) & 1, -digits, 0);
		break;
	case DOES_CONVERT:
		operand[0] = row->to ? short_number(f, r, more, near_exponent(r, 3))
				     : short_number(f, r, 8, 6); /* 64 to 127 and a half */
		break;
	default:
		operand[0] = some_number(f, r, 3);
		operand[1] = some_number(f, r, 3);
		break;
	}
}

static void small(const struct float_row *row, struct rng *r, unsigned i, uint64_t operand[3])
{
	const struct float_format *f = row->from;
	const uint64_t sign = (uint64_t)1 << (f->storage - 1);
	const bool from_normal = i & 1;
	/* Normal ones whose result is too small ... */
	if (from_normal && row->does == DOES_ADD) {
		operand[0] = packed(f, false, f->least + 1, rng_next(r) & (((uint64_t)1 << (f->digits - 1)) - 1));
		operand[1] = (operand[0] ^ sign) - ((uint64_t)1 << (f->digits - 3));
	} else if (from_normal) {
		operand[0] = short_number(f, r, f->digits, f->least / 2 - 1);
		operand[1] = row->does == DOES_DIVIDE ? short_number(f, r, f->digits, -f->least / 2 + 1)
						      : short_number(f, r, f->digits, f->least / 2 - 1);
		operand[2] = packed(f, false, f->least, 1);
	} else {
		/* ... and small ones, whose result need not be. */
		operand[0] = subnormal(f, r);
		operand[1] = row->does == DOES_ADD ? (i & 2 ? operand[0] : packed(f, i & 4, f->least, 5))
						   : short_number(f, r, f->digits, i & 2 ? 8 : 0);
		operand[2] = some_number(f, r, 1);
		if (i & 4)
			operand[2] = subnormal(f, r);
	}
}

static void usual(const struct float_row *row, struct rng *r, unsigned i, uint64_t operand[3])
{
	const struct float_format *f = row->from;
	for (unsigned k = 0; k < 3; k++)
		operand[k] = some_number(f, r, row->does == DOES_ADD ? f->digits / 2 : 3);
	if (row->does == DOES_CONVERT && !row->to)
		operand[0] = some_number(f, r, 20);
	if (row->does == DOES_ROOT && i % 8)
		operand[0] &= ~((uint64_t)1 << (f->storage - 1));
	/* What is left of a product when its rounded negative is added. */
	if (row->does == DOES_MULTIPLY_ADD && i & 1)
		operand[2] = exact_round(row->to, exact_multiply(exact_of(f, operand[0]), exact_of(f, operand[1])),
					 i & 2 ? ROUND_NEAREST : ROUND_ZERO) ^
			     (uint64_t)1 << (f->storage - 1);
}

void float_operands(const struct float_row *row, uint64_t seed, unsigned i, uint64_t operand[3])
{
	struct rng r;
	rng_seed(&r, seed * 0x9e3779b97f4a7c15u ^ ((uint64_t)(row - float_rows) << 32 | i));
	memset(operand, 0, 3 * sizeof *operand);
	if (!row->from) {
		/* More digits than a result has, and every fourth number half-way between two. */
		const uint32_t v = (uint32_t)rng_next(&r);
		operand[0] = i % 4 ? v : (v & 0x81ffffffu) | 0x01000001u;
		return;
	}
	switch (i % 8) {
	case 0:
		for (unsigned k = 0; k < 3; k++)
			operand[k] = special(row->from, (i / 8) * (2 * k + 1) + 5 * k);
		break;
	case 1:
	case 2:
		small(row, &r, i / 8, operand);
		break;
	case 3:
	case 4:
		tie(row, &r, operand);
		break;
	default:
		usual(row, &r, i / 8, operand);
		break;
	}
}
