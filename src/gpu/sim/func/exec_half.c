/* f16: every value is exact in a double, so an operation is done there and rounded once. */
#include "exec.h"
#include <math.h>
#include <string.h>

double exec_from_half(uint16_t h)
{
	int exponent = h >> 10 & 31, fraction = h & 1023;
	double v = exponent == 31  ? (fraction ? (double)NAN : (double)INFINITY)
		   : exponent == 0 ? ldexp(fraction, -24)
				   : ldexp(fraction + 1024, exponent - 25);
	return h & 0x8000 ? -v : v;
}

uint16_t exec_to_half(double v, int mode)
{
	bool negative = signbit(v);
	uint16_t sign = negative ? 0x8000 : 0;
	double a = fabs(v);
	int e;
	if (v != v)
		return FUNC_NAN16;
	if (isinf(a))
		return sign | 0x7c00;
	if (a == 0)
		return sign;
	bool away = mode == PTX_RM ? negative : mode == PTX_RP ? !negative : false;
	if (a >= 131072) /* out of reach of every exponent below */
		return sign | (mode == PTX_RN || away ? 0x7c00 : 0x7bff);
	frexp(a, &e);
	int last = e - 1 < -14 ? -24 : e - 11; /* weight of the last bit */
	double scaled = ldexp(a, -last), whole = floor(scaled), rest = scaled - whole;
	uint32_t n = (uint32_t)whole;
	if (mode == PTX_RN ? rest > 0.5 || (rest == 0.5 && (n & 1)) : away && rest > 0)
		n++;
	/* A carry out of the fraction goes into the exponent by itself. */
	uint32_t bits = last == -24 ? n : ((uint32_t)(last + 25) << 10) + n - 1024;
	if (bits >= 0x7c00)
		bits = mode == PTX_RN || away ? 0x7c00 : 0x7bff;
	return sign | (uint16_t)bits;
}

double exec_add_odd(double a, double b)
{
	double sum = a + b, part = sum - a, error = (a - (sum - part)) + (b - part);
	uint64_t bits;
	memcpy(&bits, &sum, sizeof bits);
	if (!isfinite(sum) || error == 0 || (bits & 1))
		return sum;
	bits += (error > 0) == (sum > 0) ? 1 : (uint64_t)-1;
	memcpy(&sum, &bits, sizeof sum);
	return sum;
}

static uint16_t flush16(uint16_t h)
{
	return h & 0x7c00 ? h : h & 0x8000;
}

static double least(double x, double y, bool nan_wins)
{
	if (x != x || y != y)
		return nan_wins || (x != x && y != y) ? (double)NAN : x != x ? y : x;
	return x < y || (x == y && signbit(x)) ? x : y;
}

static double read16(bool brain, uint16_t h)
{
	return brain ? exec_from_small(&exec_bf16, h) : exec_from_half(h);
}

static uint16_t half_value(const struct sfu *s, int op, bool brain, int round, unsigned flags, uint16_t a, uint16_t b,
			   uint16_t c)
{
	if (flags & EXEC_FTZ && !brain) {
		a = flush16(a);
		b = flush16(b);
		c = flush16(c);
	}
	if ((flags & EXEC_OOB) && (a == EXEC_OOB16 || b == EXEC_OOB16))
		return 0;
	const uint16_t sign = flags & EXEC_XORSIGN_ABS ? (a ^ b) & 0x8000 : 0;
	if (flags & EXEC_XORSIGN_ABS) {
		a &= 0x7fff;
		b &= 0x7fff;
	}
	double x = read16(brain, a), y = read16(brain, b), z = read16(brain, c), v;
	int mode = round ? round : PTX_RN;
	switch (op) {
	case PTX_OP_ADD:
		v = x + y;
		break;
	case PTX_OP_SUB:
		v = x - y;
		break;
	case PTX_OP_MUL:
		v = x * y;
		break;
	case PTX_OP_FMA:
		v = exec_add_odd(x * y, z);
		break;
	case PTX_OP_MIN:
		v = least(x, y, flags & EXEC_NAN);
		break;
	case PTX_OP_MAX:
		v = -least(-x, -y, flags & EXEC_NAN);
		break;
	case PTX_OP_NEG: /* what is no number becomes the one that sums give */
		return x != x ? FUNC_NAN16 : a ^ 0x8000;
	case PTX_OP_ABS:
		return x != x ? FUNC_NAN16 : a & 0x7fff;
	case PTX_OP_EX2:
		v = (double)exec_sfu(s, PTX_OP_EX2, 0, (float)x);
		break;
	default:
		v = (double)exec_sfu(s, PTX_OP_TANH, 0, (float)x);
		break;
	}
	if (flags & EXEC_SAT)
		v = v > 0 ? (v < 1 ? v : 1) : 0;
	if ((flags & EXEC_RELU) && v == v)
		v = v > 0 ? v : 0;
	/* What is too small before it is rounded is flushed, even if it would round to a normal number (seen on an H200). */
	if ((flags & EXEC_FTZ) && fabs(v) < (brain ? 0x1p-126 : 0x1p-14))
		return (uint16_t)(sign | (signbit(v) ? 0x8000 : 0));
	if (v != v)
		return FUNC_NAN16;
	return sign | (brain ? (uint16_t)exec_to_small(&exec_bf16, v, mode, false) : exec_to_half(v, mode));
}

void exec_wide_half(struct func_warp *w, const struct func_inst *i, uint32_t mask)
{
	uint32_t *d = exec_row(w, i->dst);
	const uint32_t *a = exec_row(w, i->a), *b = exec_row(w, i->b), *c = exec_row(w, i->c);
	int op = i->more[0], round = i->more[2];
	unsigned flags = i->more[3];
	const struct sfu *s = w->block->launch->program->sfu;
	const bool brain = i->more[1] == PTX_BF16 || i->more[1] == PTX_BF16X2,
		   pair = i->more[1] == PTX_F16X2 || i->more[1] == PTX_BF16X2;
	EACH_LANE(l, mask)
	{
		uint32_t low = half_value(s, op, brain, round, flags, (uint16_t)a[l], (uint16_t)b[l], (uint16_t)c[l]),
			 high = 0;
		if (pair)
			high = half_value(s, op, brain, round, flags, (uint16_t)(a[l] >> 16), (uint16_t)(b[l] >> 16),
					  (uint16_t)(c[l] >> 16));
		d[l] = high << 16 | low;
	}
}
EXEC_FORWARD(half)
