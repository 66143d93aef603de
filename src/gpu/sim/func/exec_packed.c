/* Video instructions, dot products of bytes, small formats, reductions over a warp or a block. */
#include "exec.h"
#include <math.h>
#include <string.h>

/* ---- formats of 8 and 16 bits ---- */
const struct exec_small exec_e4m3 = {
    .exponent = 4, .fraction = 3, .bias = 7, .most = 448, .nan = 0x7f, .no_infinity = true};
const struct exec_small exec_e5m2 = {.exponent = 5, .fraction = 2, .bias = 15, .most = 57344, .nan = 0x7f};
const struct exec_small exec_bf16 = {.exponent = 8, .fraction = 7, .bias = 127, .most = 0x1.fep127, .nan = 0x7fff};
const struct exec_small exec_tf32 = {.exponent = 8, .fraction = 10, .bias = 127, .most = 0x1.ffcp127, .nan = 0x3ffff};

double exec_from_small(const struct exec_small *s, uint32_t v)
{
	unsigned size = s->exponent + s->fraction;
	uint32_t exponent = v >> s->fraction & ((1u << s->exponent) - 1), fraction = v & ((1u << s->fraction) - 1);
	bool negative = v >> size & 1, top = exponent == (1u << s->exponent) - 1;
	double r;
	if (s->no_infinity ? top && fraction == (1u << s->fraction) - 1 : top && fraction)
		return (double)NAN;
	if (top && !s->no_infinity)
		r = (double)INFINITY;
	else if (exponent)
		r = ldexp(1 + ldexp(fraction, -(int)s->fraction), (int)exponent - s->bias);
	else
		r = ldexp(fraction, 1 - s->bias - (int)s->fraction);
	return negative ? -r : r;
}

/* finite: what is too large becomes the largest number there is */
uint32_t exec_to_small(const struct exec_small *s, double v, int mode, bool finite)
{
	uint32_t sign = (uint32_t)(signbit(v) != 0) << (s->exponent + s->fraction), infinite = ((1u << s->exponent) - 1)
											       << s->fraction;
	double a = fabs(v);
	int e;
	if (v != v)
		return s->nan;
	if (isinf(a) && !finite)
		return s->no_infinity ? s->nan : sign | infinite;
	if (a == 0)
		return sign;
	frexp(isinf(a) ? s->most : a, &e);
	int last = e - 1 < 1 - s->bias ? 1 - s->bias - (int)s->fraction : e - 1 - (int)s->fraction;
	double scaled = ldexp(isinf(a) ? s->most : a, -last), whole = floor(scaled), rest = scaled - whole;
	bool away = mode == PTX_RM ? sign != 0 : mode == PTX_RP ? !sign : false;
	if (mode == PTX_RNA  ? rest >= 0.5
	    : mode == PTX_RN ? rest > 0.5 || (rest == 0.5 && fmod(whole, 2) == 1)
			     : away && rest > 0)
		whole++;
	double r = ldexp(whole, last);
	if (r > s->most) {
		if (finite || mode == PTX_RZ)
			r = s->most;
		else
			return s->no_infinity ? s->nan : sign | infinite;
	}
	frexp(r, &e);
	if (r < ldexp(1, 1 - s->bias))
		return sign | (uint32_t)ldexp(r, (int)s->fraction - 1 + s->bias);
	return sign | (uint32_t)(e - 1 + s->bias) << s->fraction |
	       ((uint32_t)ldexp(r, (int)s->fraction + 1 - e) & ((1u << s->fraction) - 1));
}

/* cvt to and from formats that only this knows. more: type, type2, round, flags; b: the lower of two sources */
static uint32_t pair_of(const struct func_inst *i, uint64_t high, uint64_t low)
{
	const int to = i->more[0], from = i->more[1], mode = i->more[2];
	const bool relu = i->more[3] & EXEC_RELU, finite = i->more[3] & EXEC_SATFINITE;
	double v[2];
	for (unsigned k = 0; k < 2; k++) {
		uint32_t word = (uint32_t)(k ? high : low);
		float f;
		if (from == PTX_F32) {
			memcpy(&f, &word, sizeof f);
			v[k] = f;
		} else {
			uint32_t part = (uint32_t)low >> (from == PTX_F16X2 ? 16 * k : 8 * k);
			v[k] = from == PTX_F16X2    ? exec_from_half((uint16_t)part)
			       : from == PTX_E4M3X2 ? exec_from_small(&exec_e4m3, part & 0xff)
						    : exec_from_small(&exec_e5m2, part & 0xff);
		}
		if (relu && v[k] == v[k])
			v[k] = v[k] > 0 ? v[k] : 0;
	}
	switch (to) {
	case PTX_BF16X2:
		return exec_to_small(&exec_bf16, v[1], mode, finite) << 16 |
		       exec_to_small(&exec_bf16, v[0], mode, finite);
	case PTX_F16X2:
		return (uint32_t)exec_to_half(v[1], PTX_RN) << 16 | exec_to_half(v[0], PTX_RN);
	case PTX_TF32:
		if (mode == PTX_RNA &&
		    v[0] != v[0]) /* cut off like any number, and .satfinite one step less, as an H200 does */
			return ((uint32_t)low & ~0x1fffu) - (finite ? 0x2000 : 0);
		return exec_to_small(&exec_tf32, v[0], mode, finite) << 13;
	default: {
		const struct exec_small *s = to == PTX_E4M3X2 ? &exec_e4m3 : &exec_e5m2;
		return exec_to_small(s, v[1], mode, true) << 8 | exec_to_small(s, v[0], mode, true);
	}
	}
}

void exec_wide_cvt_small(struct func_warp *w, const struct func_inst *i, uint32_t mask)
{
	const uint32_t *high = exec_row(w, i->a), *low = exec_row(w, i->b);
	EACH_LANE(l, mask)
	{
		exec_row(w, i->dst)[l] = pair_of(i, high[l], low[l]);
	}
}
EXEC_FORWARD(cvt_small)

/* ---- integers side by side ---- */
static int64_t part_of(uint32_t v, unsigned type, unsigned selector)
{
	bool is_signed = type == PTX_S32;
	if (!selector)
		return is_signed ? (int64_t)(int32_t)v : (int64_t)v;
	if (selector < 5)
		return is_signed ? (int64_t)(int8_t)(v >> 8 * (selector - 1))
				 : (int64_t)(v >> 8 * (selector - 1) & 0xff);
	return is_signed ? (int64_t)(int16_t)(v >> 16 * (selector - 5)) : (int64_t)(v >> 16 * (selector - 5) & 0xffff);
}

static int64_t saturated(int64_t v, unsigned bits, bool is_signed)
{
	int64_t most = (int64_t)((1ull << (bits - is_signed)) - 1), least = is_signed ? -most - 1 : 0;
	return v > most ? most : v < least ? least : v;
}

static int64_t video(const struct func_inst *i, int64_t a, int64_t b, int64_t c)
{
	uint64_t p = i->imm;
	unsigned shift = (unsigned)b;
	switch (i->more[0]) {
	case PTX_OP_VADD:
	case PTX_OP_VADD2:
	case PTX_OP_VADD4:
		return a + b;
	case PTX_OP_VSUB:
	case PTX_OP_VSUB2:
	case PTX_OP_VSUB4:
		return a - b;
	case PTX_OP_VABSDIFF:
	case PTX_OP_VABSDIFF2:
	case PTX_OP_VABSDIFF4:
		return a > b ? a - b : b - a;
	case PTX_OP_VMIN:
	case PTX_OP_VMIN2:
	case PTX_OP_VMIN4:
		return a < b ? a : b;
	case PTX_OP_VMAX:
	case PTX_OP_VMAX2:
	case PTX_OP_VMAX4:
		return a > b ? a : b;
	case PTX_OP_VAVRG2:
	case PTX_OP_VAVRG4:
		return (a + b + (a + b >= 0)) >> 1; /* away from zero at a half */
	case PTX_OP_VSHL:
		shift = p & PACKED_WRAP ? shift & 31 : shift > 32 ? 32 : shift;
		return shift > 31 ? 0 : (int64_t)((uint64_t)a << shift);
	case PTX_OP_VSHR:
		shift = p & PACKED_WRAP ? shift & 31 : shift > 32 ? 32 : shift;
		return a >> shift;
	case PTX_OP_VMAD:
		a = p & PACKED_MINUS ? -a : a;
		c = p & PACKED_MINUS_C ? -c : c;
		return (a * b + c + (p & PACKED_PLUS_ONE ? 1 : 0)) >> (p >> PACKED_SHIFT & 15);
	default: { /* vset */
		int order = (a > b) - (a < b), cmp = (int)(p >> PACKED_CMP & 31);
		return cmp == PTX_EQ   ? order == 0
		       : cmp == PTX_NE ? order != 0
		       : cmp == PTX_LT ? order < 0
		       : cmp == PTX_LE ? order <= 0
		       : cmp == PTX_GT ? order > 0
				       : order >= 0;
	}
	}
}

/* Part `which` of a, and behind its parts of b. */
static int64_t side_by_side(uint32_t a, uint32_t b, unsigned type, unsigned parts, unsigned which)
{
	return part_of(which < parts ? a : b, type, (parts == 4 ? 1 : 5) + which % parts);
}

/* more: operation; the types of d, a and b, five bits each; parts side by side, 1, 2 or 4. imm: PACKED_ code */
static uint32_t packed(const struct func_inst *i, uint32_t a, uint32_t b, uint32_t c)
{
	uint64_t p = i->imm;
	unsigned to = i->more[1] & 31, of_a = i->more[1] >> 5 & 31, of_b = i->more[1] >> 10 & 31, parts = i->more[2],
		 bits = 32 / parts;
	unsigned second = p >> PACKED_SECOND & 3, into = p >> PACKED_D & 15;
	bool is_signed = to == PTX_S32;
	int64_t sum = 0;
	uint32_t all = 0;
	for (unsigned k = 0; k < parts; k++) {
		int64_t x = parts == 1 ? part_of(a, of_a, p >> PACKED_A & 15)
				       : side_by_side(a, b, of_a, parts, p >> (PACKED_PARTS_A + 3 * k) & 7),
			y = parts == 1 ? part_of(b, of_b, p >> PACKED_B & 15)
				       : side_by_side(a, b, of_b, parts, p >> (PACKED_PARTS_B + 3 * k) & 7);
		int64_t v = video(i, x, y, is_signed ? (int64_t)(int32_t)c : (int64_t)c);
		unsigned room = parts > 1 ? bits : into ? (into < 5 ? 8 : 16) : 32;
		if (p & PACKED_SATURATED)
			v = saturated(v, room, is_signed);
		if (parts > 1 && !(p >> (PACKED_MASK + k) & 1)) {
			all |= c & ((1u << bits) - 1) << (bits * k);
			continue;
		}
		sum += v; /* whole, as an H200 adds it up */
		all |= (uint32_t)((uint64_t)v & (bits == 32 ? UINT32_MAX : (1u << bits) - 1)) << (bits * k);
	}
	if (parts > 1)
		return second == PACKED_ADD ? c + (uint32_t)sum : all;
	if (into) { /* d's part, the rest of it from c */
		unsigned shift = into < 5 ? 8 * (into - 1) : 16 * (into - 5);
		uint32_t keep = (into < 5 ? 0xffu : 0xffffu) << shift;
		return (c & ~keep) | (all << shift & keep);
	}
	int64_t x = is_signed ? (int64_t)(int32_t)all : (int64_t)all, y = is_signed ? (int64_t)(int32_t)c : (int64_t)c;
	return second == PACKED_ADD   ? all + c
	       : second == PACKED_MIN ? (uint32_t)(x < y ? x : y)
	       : second == PACKED_MAX ? (uint32_t)(x > y ? x : y)
				      : all;
}

void exec_wide_packed(struct func_warp *w, const struct func_inst *i, uint32_t mask)
{
	const uint32_t *a = exec_row(w, i->a), *b = exec_row(w, i->b), *c = exec_row(w, i->c);
	uint32_t *d = exec_row(w, i->dst);
	EACH_LANE(l, mask)
	{
		d[l] = packed(i, a[l], b[l], c[l]);
	}
}
EXEC_FORWARD(packed)

/* ---- dot products, masks, bits ---- */
static uint32_t dot(const struct func_inst *i, uint32_t a, uint32_t b, uint32_t c)
{
	bool signed_a = i->more[1] == PTX_S32, signed_b = i->more[2] == PTX_S32, two = i->more[0] == PTX_OP_DP2A;
	for (unsigned k = 0; k < (two ? 2u : 4u); k++) {
		uint32_t x = two ? (signed_a ? (uint32_t)(int16_t)(a >> 16 * k) : a >> 16 * k & 0xffff)
				 : (signed_a ? (uint32_t)(int8_t)(a >> 8 * k) : a >> 8 * k & 0xff);
		unsigned at = 8 * (k + (two && i->imm ? 2 : 0));
		c += x * (signed_b ? (uint32_t)(int8_t)(b >> at) : b >> at & 0xff);
	}
	return c;
}

/* The n-th set bit of `mask` from bit `base` on, upwards for n > 0, downwards for n < 0; n = 0: bit base itself. */
static uint32_t find_nth(uint32_t mask, uint32_t base, int32_t n)
{
	if (n == 0)
		return base < 32 && mask >> base & 1 ? base : UINT32_MAX;
	for (int64_t k = base; k >= 0 && k<32; k += n> 0 ? 1 : -1)
		if (mask >> k & 1) {
			n += n > 0 ? -1 : 1;
			if (!n)
				return (uint32_t)k;
		}
	return UINT32_MAX;
}

static uint32_t field(const struct func_inst *i, uint32_t a, uint32_t b)
{
	bool wrap = i->imm;
	if (i->more[0] == PTX_OP_SZEXT) { /* the low b bits of a */
		b = wrap ? b & 31 : b;
		if (!b || b > 31)
			return b ? a : 0;
		uint32_t low = a & ((1u << b) - 1);
		return i->more[1] == PTX_S32 && low >> (b - 1) ? low | ~0u << b : low;
	}
	/* bmsk: b ones from bit a on */
	a = wrap ? a & 31 : a;
	b = wrap ? b & 31 : b;
	if (a > 31 || !b)
		return 0;
	return (b > 31 ? ~0u : (1u << b) - 1) << a;
}

/* cvt.pack: a above b, above what is left of c. more[1]: bits of each; more[2]: signed */
static uint32_t packed_small(const struct func_inst *i, uint32_t a, uint32_t b, uint32_t c)
{
	const unsigned bits = i->more[1];
	const bool is_signed = i->more[2];
	uint32_t keep = (1u << bits) - 1, x = (uint32_t)saturated((int32_t)a, bits, is_signed) & keep,
		 y = (uint32_t)saturated((int32_t)b, bits, is_signed) & keep;
	return (bits < 16 ? c << (2 * bits) : 0) | x << bits | y;
}

/* more[0]: operation; more[1], more[2]: types, or bits and sign; imm: what it adds */
void exec_wide_words(struct func_warp *w, const struct func_inst *i, uint32_t mask)
{
	const uint32_t *a = exec_row(w, i->a), *b = exec_row(w, i->b), *c = exec_row(w, i->c);
	uint32_t *d = exec_row(w, i->dst);
	EACH_LANE(l, mask)
	{
		switch (i->more[0]) {
		case PTX_OP_DP4A:
		case PTX_OP_DP2A:
			d[l] = dot(i, a[l], b[l], c[l]);
			break;
		case PTX_OP_FNS:
			d[l] = find_nth(a[l], b[l], (int32_t)c[l]);
			break;
		case PTX_OP_CVT_PACK:
			d[l] = packed_small(i, a[l], b[l], c[l]);
			break;
		default:
			d[l] = field(i, a[l], b[l]);
			break;
		}
	}
}
EXEC_FORWARD(words)

/* ---- over a warp or a block ---- */

static uint32_t reduced(const struct func_inst *i, const uint32_t *a, uint32_t with)
{
	uint32_t v = a[__builtin_ctz(with)];
	for (uint32_t rest = with & (with - 1); rest; rest &= rest - 1) {
		uint32_t x = a[__builtin_ctz(rest)];
		switch (i->more[0]) {
		case PTX_ATOM_ADD:
			v += x;
			break;
		case PTX_ATOM_AND:
			v &= x;
			break;
		case PTX_ATOM_OR:
			v |= x;
			break;
		case PTX_ATOM_XOR:
			v ^= x;
			break;
		case PTX_ATOM_MIN:
			v = exec_compare_value(i->more[1], PTX_LT, 0, x, v) ? x : v;
			break;
		default:
			v = exec_compare_value(i->more[1], PTX_GT, 0, x, v) ? x : v;
			break;
		}
	}
	return v;
}

/* Lanes that name the same ones are together, each such group by itself. a: value; more: enum ptx_atom, type, row of the lane mask */
void exec_wide_redux(struct func_warp *w, const struct func_inst *i, uint32_t mask)
{
	const uint32_t *named = exec_row(w, i->more[2]);
	for (uint32_t rest = mask; rest;) {
		const uint32_t group = exec_together(named, rest);
		const uint32_t v = reduced(i, exec_row(w, i->a), group);
		EACH_LANE(l, group)
		{
			exec_row(w, i->dst)[l] = v;
		}
		rest &= ~group;
	}
}
EXEC_FORWARD(redux)

/* dst: register, FUNC_NONE: none; more[0]: predicate of the chosen lane; more[2]: row of the lane mask */
void exec_wide_elect(struct func_warp *w, const struct func_inst *i, uint32_t mask)
{
	const uint32_t *named = exec_row(w, i->more[2]);
	for (uint32_t rest = mask; rest;) {
		const uint32_t group = exec_together(named, rest), leader = (uint32_t)__builtin_ctz(group);
		EACH_LANE(l, i->dst != FUNC_NONE ? group : 0)
		{
			exec_row(w, i->dst)[l] = leader;
		}
		exec_put_pred(w, i->more[0], group, 1u << leader);
		rest &= ~group;
	}
}
EXEC_FORWARD(elect)

/* bar.red before its barrier: adds the warp's lanes to what the block counts. A warp's next count is another one, and
 * the one after that is cleared, so that nobody's result is taken away before it is read. In a: number; more[0]:
 * predicate; more[1]: negated */
void exec_wide_count_in(struct func_warp *w, const struct func_inst *i, uint32_t mask)
{
	unsigned n = exec_row(w, i->a)[__builtin_ctz(mask)] & 15, turn = w->counted[n];
	uint32_t p = (i->more[1] ? ~w->pred[i->more[0]] : w->pred[i->more[0]]) & mask;
	struct func_count *c = &w->block->count[n][turn];
	c->yes += (uint32_t)__builtin_popcount(p);
	c->no += (uint32_t)__builtin_popcount(mask & ~p);
	w->block->count[n][(turn + 1) % 3] = (struct func_count){0, 0};
}
EXEC_FORWARD(count_in)

/* and after it. more[0]: 0 popc, 1 and, 2 or */
void exec_wide_count_out(struct func_warp *w, const struct func_inst *i, uint32_t mask)
{
	unsigned n = exec_row(w, i->a)[__builtin_ctz(mask)] & 15;
	struct func_count c = w->block->count[n][w->counted[n]];
	w->counted[n] = (uint8_t)((w->counted[n] + 1) % 3);
	if (i->more[0]) {
		exec_put_pred(w, i->dst, mask, (i->more[0] == 1 ? !c.no : c.yes != 0) ? UINT32_MAX : 0);
		return;
	}
	EACH_LANE(l, mask)
	{
		exec_row(w, i->dst)[l] = c.yes;
	}
}
EXEC_FORWARD(count_out)
