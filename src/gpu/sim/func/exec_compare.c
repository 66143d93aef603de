/* Comparisons with everything they can have, selections, predicates. */
#include "exec.h"
#include <math.h>
#include <string.h>

static double number(int type, unsigned flags, uint64_t v)
{
	float f;
	double d;
	uint32_t low = (uint32_t)v;
	if (type == PTX_F16) {
		d = exec_from_half((uint16_t)v);
		return (flags & EXEC_FTZ) && fabs(d) < 0x1p-14 ? 0 : d;
	}
	if (type == PTX_BF16)
		return exec_from_small(&exec_bf16, (uint16_t)v);
	if (type == PTX_F64) {
		memcpy(&d, &v, sizeof d);
		return d;
	}
	memcpy(&f, &low, sizeof f);
	return (flags & EXEC_FTZ) && fpclassify(f) == FP_SUBNORMAL ? 0 : (double)f;
}

static int64_t sign_extended(int type, uint64_t v)
{
	switch (ptx_type_bytes((enum ptx_type)type)) {
	case 2:
		return (int16_t)v;
	case 4:
		return (int32_t)v;
	default:
		return (int64_t)v;
	}
}

static bool ordered(int cmp, int order)
{
	switch (cmp) {
	case PTX_EQ:
	case PTX_EQU:
		return order == 0;
	case PTX_NE:
	case PTX_NEU:
		return order != 0;
	case PTX_LT:
	case PTX_LO:
	case PTX_LTU:
		return order < 0;
	case PTX_LE:
	case PTX_LS:
	case PTX_LEU:
		return order <= 0;
	case PTX_GT:
	case PTX_HI:
	case PTX_GTU:
		return order > 0;
	case PTX_GE:
	case PTX_HS:
	case PTX_GEU:
		return order >= 0;
	default:
		return cmp == PTX_NUM;
	}
}

bool exec_compare_value(int type, int cmp, unsigned flags, uint64_t a, uint64_t b)
{
	if (ptx_type_class((enum ptx_type)type) == 'f') {
		double x = number(type, flags, a), y = number(type, flags, b);
		if (x != x || y != y)
			return cmp >= PTX_EQU && cmp != PTX_NUM;
		return ordered(cmp, (x > y) - (x < y));
	}
	unsigned bytes = ptx_type_bytes((enum ptx_type)type);
	if (ptx_type_signed((enum ptx_type)type)) {
		int64_t x = sign_extended(type, a), y = sign_extended(type, b);
		return ordered(cmp, (x > y) - (x < y));
	}
	uint64_t keep = bytes == 8 ? UINT64_MAX : (1ull << (bytes * 8)) - 1;
	a &= keep;
	b &= keep;
	return ordered(cmp, (a > b) - (a < b));
}

static uint32_t combine(int boolop, uint32_t x, uint32_t p)
{
	switch (boolop) {
	case PTX_BOOL_AND:
		return x & p;
	case PTX_BOOL_OR:
		return x | p;
	case PTX_BOOL_XOR:
		return x ^ p;
	default:
		return x;
	}
}

static uint32_t truths(const struct func_warp *w, const struct func_inst *i, uint32_t mask, int type, unsigned shift)
{
	bool wide = ptx_type_bytes((enum ptx_type)type) == 8;
	uint32_t m = 0;
	EACH_LANE(l, mask)
	{
		uint64_t a = exec_get(w, i->a, wide, l) >> shift, b = exec_get(w, i->b, wide, l) >> shift;
		m |= (uint32_t)exec_compare_value(type, i->more[1] & 0xff, i->more[3], a, b) << l;
	}
	return m;
}

/* What set writes where the comparison holds. */
static uint32_t truth_of(int type)
{
	switch (type) {
	case PTX_F32:
		return 0x3f800000u;
	case PTX_F16:
		return 0x3c00;
	case PTX_F16X2:
		return 0x3c003c00u;
	case PTX_BF16:
		return 0x3f80;
	case PTX_BF16X2:
		return 0x3f803f80u;
	case PTX_U16:
	case PTX_S16:
		return 0xffff;
	default:
		return UINT32_MAX;
	}
}

/* setp and set of two halves at once: the lower ones decide the first predicate and the lower half of set's result. */
static void compare_pair(struct func_warp *w, const struct func_inst *i, uint32_t mask, uint32_t p)
{
	int boolop = i->more[1] >> 8, set = (int)(i->imm >> 16), half = i->more[0] == PTX_BF16X2 ? PTX_BF16 : PTX_F16;
	uint32_t low = combine(boolop, truths(w, i, mask, half, 0), p);
	uint32_t high = combine(boolop, truths(w, i, mask, half, 16), p);
	if (set) {
		uint32_t truth = truth_of(set);
		EACH_LANE(l, mask)
		{
			exec_row(w, i->dst)[l] =
			    (low >> l & 1 ? truth & 0xffff : 0) | (high >> l & 1 ? truth & 0xffff0000u : 0);
		}
		return;
	}
	if (i->dst != FUNC_NONE)
		exec_put_pred(w, i->dst, mask, low);
	if ((uint16_t)i->imm != FUNC_NONE)
		exec_put_pred(w, (uint16_t)i->imm, mask, high);
}

/* setp and set. imm: second predicate, FUNC_NONE when there is none; above it the type of set's destination. */
void exec_wide_compare(struct func_warp *w, const struct func_inst *i, uint32_t mask)
{
	int type = i->more[0], boolop = i->more[1] >> 8, set = (int)(i->imm >> 16);
	uint32_t p = 0;
	if (boolop)
		p = i->more[3] & EXEC_NEGATED ? ~w->pred[i->more[2]] : w->pred[i->more[2]];
	if (type == PTX_F16X2 || type == PTX_BF16X2) {
		compare_pair(w, i, mask, p);
		return;
	}
	uint32_t m = truths(w, i, mask, type, 0);
	uint32_t first = combine(boolop, m, p), second = combine(boolop, ~m, p);
	if (set) {
		uint32_t truth = truth_of(set);
		EACH_LANE(l, mask)
		{
			exec_row(w, i->dst)[l] = first >> l & 1 ? truth : 0;
		}
		return;
	}
	if (i->dst != FUNC_NONE)
		exec_put_pred(w, i->dst, mask, first);
	if ((uint16_t)i->imm != FUNC_NONE)
		exec_put_pred(w, (uint16_t)i->imm, mask, second);
}
EXEC_FORWARD(compare)

void exec_wide_selp_32(struct func_warp *w, const struct func_inst *i, uint32_t mask)
{
	uint32_t *d = exec_row(w, i->dst), p = w->pred[i->c];
	const uint32_t *a = exec_row(w, i->a), *b = exec_row(w, i->b);
	for (unsigned l = 0; l < FUNC_LANES; l++) {
		uint32_t v = p >> l & 1 ? a[l] : b[l];
		d[l] = mask >> l & 1 ? v : d[l];
	}
}

void exec_one_selp_32(struct func_warp *w, const struct func_inst *i, unsigned l)
{
	exec_row(w, i->dst)[l] = exec_row(w, w->pred[i->c] >> l & 1 ? i->a : i->b)[l];
}

void exec_wide_selp_64(struct func_warp *w, const struct func_inst *i, uint32_t mask)
{
	uint64_t *d = exec_row64(w, i->dst);
	const uint64_t *a = exec_row64(w, i->a), *b = exec_row64(w, i->b);
	uint32_t p = w->pred[i->c];
	for (unsigned l = 0; l < FUNC_LANES; l++) {
		uint64_t v = p >> l & 1 ? a[l] : b[l];
		d[l] = mask >> l & 1 ? v : d[l];
	}
}

void exec_one_selp_64(struct func_warp *w, const struct func_inst *i, unsigned l)
{
	exec_row64(w, i->dst)[l] = exec_row64(w, w->pred[i->c] >> l & 1 ? i->a : i->b)[l];
}

void exec_wide_slct(struct func_warp *w, const struct func_inst *i, uint32_t mask)
{
	bool wide = ptx_type_bytes((enum ptx_type)i->more[0]) == 8;
	EACH_LANE(l, mask)
	{
		bool first = exec_compare_value(i->more[1], PTX_GE, i->more[3], exec_row(w, i->c)[l], 0);
		exec_put(w, i->dst, wide, l, exec_get(w, first ? i->a : i->b, wide, l));
	}
}
EXEC_FORWARD(slct)

void exec_wide_pred(struct func_warp *w, const struct func_inst *i, uint32_t mask)
{
	uint32_t x = w->pred[i->a] ^ (i->more[1] & 1 ? UINT32_MAX : 0), v = x;
	uint32_t y = i->b == FUNC_NONE ? 0 : w->pred[i->b] ^ (i->more[1] & 2 ? UINT32_MAX : 0);
	switch (i->more[0]) {
	case PTX_OP_AND:
		v = x & y;
		break;
	case PTX_OP_OR:
		v = x | y;
		break;
	case PTX_OP_XOR:
		v = x ^ y;
		break;
	case PTX_OP_NOT:
		v = ~x;
		break;
	default:
		break;
	}
	exec_put_pred(w, i->dst, mask, v);
}
EXEC_FORWARD(pred)

void exec_wide_pred_set(struct func_warp *w, const struct func_inst *i, uint32_t mask)
{
	exec_put_pred(w, i->dst, mask, i->imm ? UINT32_MAX : 0);
}
EXEC_FORWARD(pred_set)
