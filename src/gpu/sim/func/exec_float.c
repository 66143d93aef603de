/* Float operations with any rounding mode and modifier, one lane at a time; the common ones are in exec_alu.def. */
#include "exec.h"
#include <fenv.h>
#include <math.h>
#include <string.h>

static float f32_of(uint64_t bits)
{
	uint32_t u = (uint32_t)bits;
	float f;
	memcpy(&f, &u, sizeof f);
	return f;
}

static uint64_t bits_of_f32(float f)
{
	uint32_t u;
	memcpy(&u, &f, sizeof u);
	return u;
}

static double f64_of(uint64_t bits)
{
	double d;
	memcpy(&d, &bits, sizeof d);
	return d;
}

static uint64_t bits_of_f64(double d)
{
	uint64_t bits;
	memcpy(&bits, &d, sizeof bits);
	return bits;
}

static float flush32(float v)
{
	return fpclassify(v) == FP_SUBNORMAL ? copysignf(0, v) : v;
}

/* The host's own rounding mode does the work. Operands and results are volatile, so that no operation moves across the
 * change of mode. */
static int set_mode(int round)
{
	int old = fegetround();
	int mode = round == PTX_RZ   ? FE_TOWARDZERO
		   : round == PTX_RM ? FE_DOWNWARD
		   : round == PTX_RP ? FE_UPWARD
				     : FE_TONEAREST;
	if (mode != old)
		fesetround(mode);
	return old;
}

static void restore_mode(int old)
{
	if (fegetround() != old)
		fesetround(old);
}

static float truncated_product(float x, float y)
{
	double exact = (double)x * y;
	float v = (float)exact;
	if (fabs((double)v) > fabs(exact) && fabs(exact) < 0x1p128)
		v = nextafterf(v, 0);
	return v;
}

/* Two roundings: the product's, then the sum's, which is to nearest. */
static float unfused(unsigned flags, float x, float y, float z)
{
	volatile float product = flags & EXEC_TRUNCATED ? truncated_product(x, y) : x * y;
	if (flags & EXEC_FTZ)
		product = flush32(product);
	return product + z;
}

static bool first_is_less(double x, double y)
{
	return x < y || (x == y && signbit(x) && !signbit(y));
}

static float compute32(int op, int round, unsigned flags, float x, float y, float z)
{
	volatile float a = x, b = y, c = z, v = 0;
	bool nan = (flags & EXEC_NAN) && (x != x || y != y);
	if (op == PTX_OP_MAD && (flags & (EXEC_TRUNCATED | EXEC_ROUNDED)))
		return unfused(flags, x, y, z);
	int old = set_mode(round);
	switch (op) {
	case PTX_OP_ADD:
		v = a + b;
		break;
	case PTX_OP_SUB:
		v = a - b;
		break;
	case PTX_OP_MUL:
		v = a * b;
		break;
	case PTX_OP_MAD:
	case PTX_OP_FMA:
		v = fmaf(a, b, c);
		break;
	case PTX_OP_DIV:
		v = a / b;
		break;
	case PTX_OP_RCP:
		v = 1.0f / a;
		break;
	case PTX_OP_SQRT:
		v = sqrtf(a);
		break;
	case PTX_OP_RSQRT:
		v = (float)(1.0 / sqrt((double)x));
		break;
	case PTX_OP_MIN:
		v = nan ? NAN : x != x ? y : y != y ? x : first_is_less(x, y) ? x : y;
		break;
	case PTX_OP_MAX:
		v = nan ? NAN : x != x ? y : y != y ? x : first_is_less(x, y) ? y : x;
		break;
	default:
		v = copysignf(y, x);
		break;
	}
	restore_mode(old);
	return v;
}

static double compute64(int op, int round, double x, double y, double z)
{
	volatile double a = x, b = y, c = z, v = 0;
	int old = set_mode(round);
	switch (op) {
	case PTX_OP_ADD:
		v = a + b;
		break;
	case PTX_OP_SUB:
		v = a - b;
		break;
	case PTX_OP_MUL:
		v = a * b;
		break;
	case PTX_OP_MAD:
	case PTX_OP_FMA:
		v = fma(a, b, c);
		break;
	case PTX_OP_DIV:
		v = a / b;
		break;
	case PTX_OP_RCP:
		v = 1.0 / a;
		break;
	case PTX_OP_SQRT:
		v = sqrt(a);
		break;
	default:
		v = copysign(y, x);
		break;
	}
	restore_mode(old);
	return v;
}

/* Whether only rounding made the result a normal number: what is too small before that is flushed (seen on an H200). */
static bool rounded_up(int op, float x, float y, float z, float v)
{
	if (fabsf(v) != 0x1p-126f)
		return false;
	if (op == PTX_OP_MUL)
		return fabs((double)x * y) < 0x1p-126;
	return (op == PTX_OP_FMA || op == PTX_OP_MAD) && fabs(fma(x, y, z)) < 0x1p-126;
}

uint64_t exec_float_value(int op, int type, int round, unsigned flags, uint64_t a, uint64_t b, uint64_t c)
{
	if (type == PTX_F64)
		return bits_of_f64(compute64(op, round, f64_of(a), f64_of(b), f64_of(c)));
	float x = f32_of(a), y = f32_of(b), z = f32_of(c);
	/* Signs and nothing else: a NaN keeps its bits. */
	if (op == PTX_OP_COPYSIGN)
		return (b & 0x7fffffffu) | (a & 0x80000000u);
	if (op == PTX_OP_ABS || op == PTX_OP_NEG) {
		if (flags & EXEC_FTZ)
			a = bits_of_f32(flush32(x));
		return op == PTX_OP_ABS ? a & 0x7fffffffu : a ^ 0x80000000u;
	}
	if (flags & EXEC_FTZ) {
		x = flush32(x);
		y = flush32(y);
		z = flush32(z);
	}
	const uint64_t sign = flags & EXEC_XORSIGN_ABS ? (a ^ b) & 0x80000000u : 0;
	if (flags & EXEC_XORSIGN_ABS) {
		x = fabsf(x);
		y = fabsf(y);
	}
	float v = compute32(op, round, flags, x, y, z);
	if (flags & EXEC_FTZ)
		v = rounded_up(op, x, y, z, v) ? copysignf(0, v) : flush32(v);
	if (flags & EXEC_SAT)
		v = v > 0 ? (v < 1 ? v : 1) : 0;
	return v != v ? FUNC_NAN32 : bits_of_f32(v) | sign;
}

void exec_wide_float(struct func_warp *w, const struct func_inst *i, uint32_t mask)
{
	bool wide = i->more[1] == PTX_F64;
	EACH_LANE(l, mask)
	{
		uint64_t a = exec_get(w, i->a, wide, l), b = exec_get(w, i->b, wide, l), c = exec_get(w, i->c, wide, l);
		exec_put(w, i->dst, wide, l, exec_float_value(i->more[0], i->more[1], i->more[2], i->more[3], a, b, c));
	}
}
EXEC_FORWARD(float)

static bool test(int sub, int class)
{
	switch (sub) {
	case PTX_SUB_FINITE:
		return class != FP_NAN && class != FP_INFINITE;
	case PTX_SUB_INFINITE:
		return class == FP_INFINITE;
	case PTX_SUB_NUMBER:
		return class != FP_NAN;
	case PTX_SUB_NOTANUMBER:
		return class == FP_NAN;
	case PTX_SUB_NORMAL:
		return class == FP_NORMAL || class == FP_ZERO; /* as the ISA has it */
	default:
		return class == FP_SUBNORMAL;
	}
}

void exec_wide_testp(struct func_warp *w, const struct func_inst *i, uint32_t mask)
{
	uint32_t m = 0;
	EACH_LANE(l, mask)
	{
		int class = i->more[0] == PTX_F64 ? fpclassify(f64_of(exec_row64(w, i->a)[l]))
						  : fpclassify(f32_of(exec_row(w, i->a)[l]));
		m |= (uint32_t)test(i->more[1], class) << l;
	}
	exec_put_pred(w, i->dst, mask, m);
}
EXEC_FORWARD(testp)
