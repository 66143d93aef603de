/* Bit fields, permutations, three-input logic, and arithmetic with the carry. */
#include "exec.h"

void exec_wide_lop3(struct func_warp *w, const struct func_inst *i, uint32_t mask)
{
	uint32_t *d = exec_row(w, i->dst);
	const uint32_t *a = exec_row(w, i->a), *b = exec_row(w, i->b), *c = exec_row(w, i->c);
	EACH_LANE(l, mask)
	{
		uint32_t x = a[l], y = b[l], z = c[l], v = 0;
		for (unsigned k = 0; k < 8; k++)
			if (i->more[0] >> k & 1)
				v |= (k & 4 ? x : ~x) & (k & 2 ? y : ~y) & (k & 1 ? z : ~z);
		d[l] = v;
	}
}
EXEC_FORWARD(lop3)

/* Which of the eight bytes of {b, a} goes to byte k. */
static unsigned pick(int sub, uint32_t c, unsigned k)
{
	unsigned s = c & 3;
	switch (sub) {
	case PTX_SUB_F4E:
		return s + k;
	case PTX_SUB_B4E:
		return (s - k) & 7;
	case PTX_SUB_RC8:
		return s;
	case PTX_SUB_ECL:
		return k > s ? k : s;
	case PTX_SUB_ECR:
		return k < s ? k : s;
	case PTX_SUB_RC16:
		return (s & 1) * 2 + (k & 1);
	default:
		return c >> (4 * k) & 7;
	}
}

static uint32_t permute(int sub, uint32_t a, uint32_t b, uint32_t c)
{
	uint64_t both = (uint64_t)b << 32 | a;
	uint32_t v = 0;
	for (unsigned k = 0; k < 4; k++) {
		uint32_t byte = (uint32_t)(both >> (8 * pick(sub, c, k))) & 0xff;
		if (sub == PTX_SUB_INDEX && (c >> (4 * k) & 8)) /* the byte's sign instead of the byte */
			byte = byte & 0x80 ? 0xff : 0;
		v |= byte << (8 * k);
	}
	return v;
}

void exec_wide_prmt(struct func_warp *w, const struct func_inst *i, uint32_t mask)
{
	uint32_t *d = exec_row(w, i->dst);
	const uint32_t *a = exec_row(w, i->a), *b = exec_row(w, i->b), *c = exec_row(w, i->c);
	EACH_LANE(l, mask)
	{
		d[l] = permute(i->more[0], a[l], b[l], c[l]);
	}
}
EXEC_FORWARD(prmt)

static uint64_t extract(uint64_t v, unsigned at, unsigned n, unsigned top, bool is_signed)
{
	unsigned last = at + n - 1 < top ? at + n - 1 : top;
	uint64_t sign = is_signed && n && (v >> last & 1) ? UINT64_MAX : 0;
	uint64_t field = at > top ? 0 : v >> at;
	unsigned have = at > top ? 0 : n < top + 1 - at ? n : top + 1 - at;
	uint64_t keep = have >= 64 ? UINT64_MAX : (1ull << have) - 1;
	return (field & keep) | (sign & ~keep);
}

static uint64_t insert(uint64_t field, uint64_t v, unsigned at, unsigned n, unsigned top)
{
	if (at > top || n == 0)
		return v;
	uint64_t keep = (n >= 64 ? UINT64_MAX : (1ull << n) - 1) << at;
	return (v & ~keep) | (field << at & keep);
}

static uint32_t find(uint64_t v, unsigned top, bool is_signed, bool shift)
{
	if (is_signed && (v >> top & 1))
		v = ~v;
	if (top == 31)
		v = (uint32_t)v;
	if (!v)
		return UINT32_MAX;
	uint32_t at = 63 - (uint32_t)__builtin_clzll(v);
	return shift ? top - at : at;
}

void exec_wide_bits(struct func_warp *w, const struct func_inst *i, uint32_t mask)
{
	enum ptx_type type = (enum ptx_type)i->more[1];
	bool wide = ptx_type_bytes(type) == 8, is_signed = ptx_type_signed(type);
	unsigned top = wide ? 63 : 31;
	EACH_LANE(l, mask)
	{
		uint64_t a = exec_get(w, i->a, wide, l);
		if (i->more[0] == PTX_OP_BFE) {
			unsigned at = exec_row(w, i->b)[l] & 0xff, n = exec_row(w, i->c)[l] & 0xff;
			exec_put(w, i->dst, wide, l, extract(a, at, n, top, is_signed));
		} else if (i->more[0] == PTX_OP_BFI) {
			unsigned at = exec_row(w, i->c)[l] & 0xff, n = exec_row(w, i->more[3])[l] & 0xff;
			exec_put(w, i->dst, wide, l, insert(a, exec_get(w, i->b, wide, l), at, n, top));
		} else {
			exec_row(w, i->dst)[l] = find(a, top, is_signed, i->more[2] != 0);
		}
	}
}
EXEC_FORWARD(bits)

/* a + b + carry in, 32 or 64 bits; *carry: out */
static uint64_t sum(bool wide, uint64_t a, uint64_t b, unsigned in, bool *carry)
{
	unsigned __int128 s = (unsigned __int128)a + b + in;
	*carry = (s >> (wide ? 64 : 32)) & 1;
	return wide ? (uint64_t)s : (uint32_t)s;
}

static uint64_t product(int type, bool high, uint64_t a, uint64_t b)
{
	switch (type) {
	case PTX_U32:
		return (uint32_t)(a * b >> (high ? 32 : 0));
	case PTX_S32:
		return (uint32_t)(((int64_t)(int32_t)a * (int32_t)b) >> (high ? 32 : 0));
	case PTX_U64:
		return (uint64_t)((unsigned __int128)a * b >> (high ? 64 : 0));
	default:
		return (uint64_t)(((__int128)(int64_t)a * (int64_t)b) >> (high ? 64 : 0));
	}
}

void exec_wide_carry(struct func_warp *w, const struct func_inst *i, uint32_t mask)
{
	int op = i->more[0], type = i->more[1];
	unsigned flags = i->more[2];
	uint32_t *cc = &w->pred[i->more[3]];
	bool wide = ptx_type_bytes((enum ptx_type)type) == 8, out;
	EACH_LANE(l, mask)
	{
		uint64_t a = exec_get(w, i->a, wide, l), b = exec_get(w, i->b, wide, l), v;
		unsigned in = flags & EXEC_CARRY_IN ? *cc >> l & 1 : 0;
		/* The carry of a difference is that there is no borrow, as of the sum with the complement: so an H200 answers. */
		if (op == PTX_OP_SUB || op == PTX_OP_SUBC)
			v = sum(wide, a, wide ? ~b : (uint32_t)~b, op == PTX_OP_SUB ? 1 : in, &out);
		else if (op == PTX_OP_ADD || op == PTX_OP_ADDC)
			v = sum(wide, a, b, in, &out);
		else
			v = sum(wide, product(type, flags & EXEC_HI, a, b), exec_get(w, i->c, wide, l), in, &out);
		exec_put(w, i->dst, wide, l, v);
		if (flags & EXEC_CARRY_OUT)
			*cc = (*cc & ~(1u << l)) | (uint32_t)out << l;
	}
}
EXEC_FORWARD(carry)
