/* Integer and bit operations, lane by lane, against arithmetic on 128-bit integers. */
#include "func_values.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

typedef __int128 i128;
typedef unsigned __int128 u128;

/* Operands with their sign; bits: of the type. */
struct args {
	unsigned bits;
	bool is_signed;
	i128 a, b, c;
	bool p;
};
typedef u128 reference(const struct args *x);

static i128 lowest(const struct args *x)
{
	return x->is_signed ? -((i128)1 << (x->bits - 1)) : 0;
}

static i128 highest(const struct args *x)
{
	return ((i128)1 << (x->bits - x->is_signed)) - 1;
}

static i128 clamp(const struct args *x, i128 v)
{
	return v < lowest(x) ? lowest(x) : v > highest(x) ? highest(x) : v;
}

static u128 all_ones(void)
{
	return ~(u128)0;
}

static i128 high(const struct args *x)
{
	if (x->is_signed)
		return (x->a * x->b) >> x->bits;
	return (i128)((u128)x->a * (u128)x->b >> x->bits);
}

static i128 low24(const struct args *x, i128 v)
{
	i128 n = v & 0xffffff;
	return x->is_signed && n >= 0x800000 ? n - 0x1000000 : n;
}

static i128 product24(const struct args *x)
{
	return low24(x, x->a) * low24(x, x->b);
}

/* Bits 16 to 47 of the 48-bit product, with its sign. */
static i128 high24(const struct args *x)
{
	return product24(x) >> 16;
}

#define REF(name, expr)                                                                                                \
	static u128 ref_##name(const struct args *x)                                                                   \
	{                                                                                                              \
		return (u128)(expr);                                                                                   \
	}
REF(add, x->a + x->b)
REF(sub, x->a - x->b)
REF(add_sat, clamp(x, x->a + x->b))
REF(sub_sat, clamp(x, x->a - x->b))
REF(mul, (u128)x->a *(u128)x->b)
REF(mul_hi, high(x))
REF(mad, (u128)x->a *(u128)x->b + (u128)x->c)
REF(mad_hi, high(x) + x->c)
REF(mad_hi_sat, clamp(x, high(x) + x->c))
REF(mul24_lo, product24(x))
REF(mul24_hi, high24(x))
REF(mad24_lo, product24(x) + x->c)
REF(mad24_hi, high24(x) + x->c)
REF(mad24_hi_sat, clamp(x, high24(x) + x->c))
REF(div, x->b ? (u128)(x->a / x->b) : all_ones())
REF(rem, x->b ? (u128)(x->a % x->b) : all_ones()) /* seen on an H200 */
REF(sad, x->c + (x->a < x->b ? x->b - x->a : x->a - x->b))
REF(abs, x->a < 0 ? -x->a : x->a)
REF(neg, -x->a)
REF(min, x->a < x->b ? x->a : x->b)
REF(max, x->a > x->b ? x->a : x->b)
REF(and, x->a & x->b)
REF(or, x->a | x->b)
REF(xor, x->a ^ x->b)
REF(not, ~x->a)
REF(cnot, x->a == 0)
REF(shl, x->b >= x->bits ? 0 : (u128)x->a << (unsigned)x->b)
REF(shr, x->b >= x->bits ? (x->a < 0 ? -1 : 0) : x->a >> (unsigned)x->b)
REF(selp, x->p ? x->a : x->b)
REF(selp_not, x->p ? x->b : x->a)
REF(mov, x->a)
REF(eq, x->a == x->b)
REF(ne, x->a != x->b)
REF(lt, x->a < x->b)
REF(le, x->a <= x->b)
REF(gt, x->a > x->b)
REF(ge, x->a >= x->b)
REF(lt_and_not, x->a < x->b && !x->p)
REF(ge_xor, (x->a >= x->b) != x->p)
REF(ones_lt, x->a < x->b ? 0xffffffff : 0)
REF(one_ge_or, x->a >= x->b || x->p ? 0x3f800000 : 0)
REF(slct, (int32_t)x->c >= 0 ? x->a : x->b)

static u128 ref_popc(const struct args *x)
{
	u128 n = 0;
	for (unsigned k = 0; k < x->bits; k++)
		n += x->a >> k & 1;
	return n;
}

static u128 ref_clz(const struct args *x)
{
	unsigned n = 0;
	while (n < x->bits && !(x->a >> (x->bits - 1 - n) & 1))
		n++;
	return n;
}

static u128 ref_brev(const struct args *x)
{
	u128 v = 0;
	for (unsigned k = 0; k < x->bits; k++)
		v |= (u128)(x->a >> k & 1) << (x->bits - 1 - k);
	return v;
}

static u128 ref_bfind(const struct args *x)
{
	for (unsigned k = x->bits; k-- > 0;)
		if ((x->a >> k & 1) != (x->a < 0))
			return k;
	return all_ones();
}

static u128 ref_bfind_shift(const struct args *x)
{
	u128 at = ref_bfind(x);
	return at == all_ones() ? at : x->bits - 1 - at;
}

/* bit by bit, as the manual writes it */
static u128 ref_bfe(const struct args *x)
{
	unsigned at = (unsigned)x->b & 0xff, n = (unsigned)x->c & 0xff, top = x->bits - 1;
	bool sign = x->is_signed && n && (x->a >> (at + n - 1 < top ? at + n - 1 : top) & 1);
	u128 v = 0;
	for (unsigned k = 0; k <= top; k++)
		v |= (u128)(k < n && at + k <= top ? x->a >> (at + k) & 1 : sign) << k;
	return v;
}

static u128 funnel(const struct args *x, bool left, bool wrap)
{
	unsigned n = (unsigned)((uint64_t)x->c & UINT32_MAX);
	n = wrap ? n & 31 : n > 32 ? 32 : n;
	u128 both = (u128)(uint32_t)x->b << 32 | (uint32_t)x->a;
	return left ? both << n >> 32 : both >> n;
}
REF(shf_lw, funnel(x, true, true))
REF(shf_lc, funnel(x, true, false))
REF(shf_rw, funnel(x, false, true))
REF(shf_rc, funnel(x, false, false))

static u128 ref_lop3(const struct args *x)
{
	u128 v = 0; /* 0x1b: a table with no symmetry */
	for (unsigned k = 0; k < 32; k++)
		v |= (u128)(0x1b >> ((x->a >> k & 1) * 4 + (x->b >> k & 1) * 2 + (x->c >> k & 1)) & 1) << k;
	return v;
}

static u128 bytes_of(const struct args *x, const unsigned at[4], unsigned signs)
{
	u128 v = 0, both = (u128)(uint32_t)x->b << 32 | (uint32_t)x->a;
	for (unsigned k = 0; k < 4; k++) {
		unsigned byte = (unsigned)(both >> (at[k] * 8)) & 0xff;
		v |= (u128)(signs >> k & 1 ? (byte & 0x80 ? 0xff : 0) : byte) << (k * 8);
	}
	return v;
}

static u128 ref_prmt(const struct args *x)
{
	unsigned c = (unsigned)x->c, at[4], signs = 0;
	for (unsigned k = 0; k < 4; k++) {
		at[k] = c >> (4 * k) & 7;
		signs |= (c >> (4 * k + 3) & 1) << k;
	}
	return bytes_of(x, at, signs);
}

/* rows of the manual's table, most significant byte first */
static u128 prmt_table(const struct args *x, const unsigned table[4][4])
{
	const unsigned *row = table[(unsigned)x->c & 3];
	return bytes_of(x, (const unsigned[4]){row[3], row[2], row[1], row[0]}, 0);
}
REF(f4e, prmt_table(x, (const unsigned[4][4]){{3, 2, 1, 0}, {4, 3, 2, 1}, {5, 4, 3, 2}, {6, 5, 4, 3}}))
REF(b4e, prmt_table(x, (const unsigned[4][4]){{5, 6, 7, 0}, {6, 7, 0, 1}, {7, 0, 1, 2}, {0, 1, 2, 3}}))
REF(rc8, prmt_table(x, (const unsigned[4][4]){{0, 0, 0, 0}, {1, 1, 1, 1}, {2, 2, 2, 2}, {3, 3, 3, 3}}))
REF(ecl, prmt_table(x, (const unsigned[4][4]){{3, 2, 1, 0}, {3, 2, 1, 1}, {3, 2, 2, 2}, {3, 3, 3, 3}}))
REF(ecr, prmt_table(x, (const unsigned[4][4]){{0, 0, 0, 0}, {1, 1, 1, 0}, {2, 2, 1, 0}, {3, 2, 1, 0}}))
REF(rc16, prmt_table(x, (const unsigned[4][4]){{1, 0, 1, 0}, {3, 2, 3, 2}, {1, 0, 1, 0}, {3, 2, 3, 2}}))

#define S(t)   (1u << PTX_##t)
#define I16    (S(U16) | S(S16))
#define I32    (S(U32) | S(S32))
#define I64    (S(U64) | S(S64))
#define INTS   (I16 | I32 | I64)
#define SIGNED (S(S16) | S(S32) | S(S64))
#define BITS   (S(B16) | S(B32) | S(B64))

/* d: '=' the type, 'w' twice as wide, '4' 32 bits, 'p' predicate. b, c: '=' the type, 'u' u32, 'w', 's' s32, ' ' none.
 * In the line $ stands for the type's name. */
static const struct {
	const char *line;
	unsigned types;
	char d, b, c;
	reference *ref;
} ops[] = {
    {"add.$ d, a, b;", INTS, '=', '=', ' ', ref_add},
    {"sub.$ d, a, b;", INTS, '=', '=', ' ', ref_sub},
    {"add.sat.$ d, a, b;", S(S32), '=', '=', ' ', ref_add_sat},
    {"sub.sat.$ d, a, b;", S(S32), '=', '=', ' ', ref_sub_sat},
    {"mul.lo.$ d, a, b;", INTS, '=', '=', ' ', ref_mul},
    {"mul.hi.$ d, a, b;", INTS, '=', '=', ' ', ref_mul_hi},
    {"mul.wide.$ d, a, b;", I16 | I32, 'w', '=', ' ', ref_mul},
    {"mad.lo.$ d, a, b, c;", INTS, '=', '=', '=', ref_mad},
    {"mad.hi.$ d, a, b, c;", INTS, '=', '=', '=', ref_mad_hi},
    {"mad.hi.sat.$ d, a, b, c;", S(S32), '=', '=', '=', ref_mad_hi_sat},
    {"mad.wide.$ d, a, b, c;", I16 | I32, 'w', '=', 'w', ref_mad},
    {"mul24.lo.$ d, a, b;", I32, '=', '=', ' ', ref_mul24_lo},
    {"mul24.hi.$ d, a, b;", I32, '=', '=', ' ', ref_mul24_hi},
    {"mad24.lo.$ d, a, b, c;", I32, '=', '=', '=', ref_mad24_lo},
    {"mad24.hi.$ d, a, b, c;", I32, '=', '=', '=', ref_mad24_hi},
    {"mad24.hi.sat.$ d, a, b, c;", S(S32), '=', '=', '=', ref_mad24_hi_sat},
    {"div.$ d, a, b;", INTS, '=', '=', ' ', ref_div},
    {"rem.$ d, a, b;", INTS, '=', '=', ' ', ref_rem},
    {"sad.$ d, a, b, c;", INTS, '=', '=', '=', ref_sad},
    {"abs.$ d, a;", SIGNED, '=', ' ', ' ', ref_abs},
    {"neg.$ d, a;", SIGNED, '=', ' ', ' ', ref_neg},
    {"min.$ d, a, b;", INTS, '=', '=', ' ', ref_min},
    {"max.$ d, a, b;", INTS, '=', '=', ' ', ref_max},
    {"and.$ d, a, b;", BITS, '=', '=', ' ', ref_and},
    {"or.$ d, a, b;", BITS, '=', '=', ' ', ref_or},
    {"xor.$ d, a, b;", BITS, '=', '=', ' ', ref_xor},
    {"not.$ d, a;", BITS, '=', ' ', ' ', ref_not},
    {"cnot.$ d, a;", BITS, '=', ' ', ' ', ref_cnot},
    {"shl.$ d, a, b;", BITS, '=', 'u', ' ', ref_shl},
    {"shr.$ d, a, b;", BITS | INTS, '=', 'u', ' ', ref_shr},
    {"selp.$ d, a, b, p;", BITS | INTS, '=', '=', ' ', ref_selp},
    {"selp.$ d, a, b, !p;", BITS, '=', '=', ' ', ref_selp_not},
    {"mov.$ d, a;", BITS | INTS, '=', ' ', ' ', ref_mov},
    {"setp.eq.$ d, a, b;", BITS | INTS, 'p', '=', ' ', ref_eq},
    {"setp.ne.$ d, a, b;", BITS | INTS, 'p', '=', ' ', ref_ne},
    {"setp.lt.$ d, a, b;", INTS, 'p', '=', ' ', ref_lt},
    {"setp.le.$ d, a, b;", INTS, 'p', '=', ' ', ref_le},
    {"setp.gt.$ d, a, b;", INTS, 'p', '=', ' ', ref_gt},
    {"setp.ge.$ d, a, b;", INTS, 'p', '=', ' ', ref_ge},
    {"setp.lo.$ d, a, b;", S(U16) | S(U32) | S(U64), 'p', '=', ' ', ref_lt},
    {"setp.hs.$ d, a, b;", S(U16) | S(U32) | S(U64), 'p', '=', ' ', ref_ge},
    {"setp.lt.and.$ d, a, b, !p;", INTS, 'p', '=', ' ', ref_lt_and_not},
    {"setp.ge.xor.$ d, a, b, p;", INTS, 'p', '=', ' ', ref_ge_xor},
    {"setp.lt.$ q|d, a, b;", INTS, 'p', '=', ' ', ref_ge},
    {"set.lt.u32.$ d, a, b;", INTS, '4', '=', ' ', ref_ones_lt},
    {"set.ge.or.f32.$ d, a, b, p;", INTS, 'f', '=', ' ', ref_one_ge_or},
    {"slct.$.s32 d, a, b, c;", BITS | INTS, '=', '=', 's', ref_slct},
    {"popc.$ d, a;", S(B32) | S(B64), '4', ' ', ' ', ref_popc},
    {"clz.$ d, a;", S(B32) | S(B64), '4', ' ', ' ', ref_clz},
    {"brev.$ d, a;", S(B32) | S(B64), '=', ' ', ' ', ref_brev},
    {"bfind.$ d, a;", I32 | I64, '4', ' ', ' ', ref_bfind},
    {"bfind.shiftamt.$ d, a;", I32 | I64, '4', ' ', ' ', ref_bfind_shift},
    {"bfe.$ d, a, b, c;", I32 | I64, '=', 'u', 'u', ref_bfe},
    {"shf.l.wrap.$ d, a, b, c;", S(B32), '=', '=', 'u', ref_shf_lw},
    {"shf.l.clamp.$ d, a, b, c;", S(B32), '=', '=', 'u', ref_shf_lc},
    {"shf.r.wrap.$ d, a, b, c;", S(B32), '=', '=', 'u', ref_shf_rw},
    {"shf.r.clamp.$ d, a, b, c;", S(B32), '=', '=', 'u', ref_shf_rc},
    {"lop3.$ d, a, b, c, 0x1b;", S(B32), '=', '=', '=', ref_lop3},
    {"prmt.$ d, a, b, c;", S(B32), '=', '=', 'u', ref_prmt},
    {"prmt.$.f4e d, a, b, c;", S(B32), '=', '=', 'u', ref_f4e},
    {"prmt.$.b4e d, a, b, c;", S(B32), '=', '=', 'u', ref_b4e},
    {"prmt.$.rc8 d, a, b, c;", S(B32), '=', '=', 'u', ref_rc8},
    {"prmt.$.ecl d, a, b, c;", S(B32), '=', '=', 'u', ref_ecl},
    {"prmt.$.ecr d, a, b, c;", S(B32), '=', '=', 'u', ref_ecr},
    {"prmt.$.rc16 d, a, b, c;", S(B32), '=', '=', 'u', ref_rc16},
};

static enum ptx_type other(char rule, enum ptx_type t)
{
	static const enum ptx_type twice[PTX_TYPES] = {
	    [PTX_U16] = PTX_U32, [PTX_S16] = PTX_S32, [PTX_U32] = PTX_U64, [PTX_S32] = PTX_S64};
	switch (rule) {
	case '=':
		return t;
	case 'w':
		return twice[t];
	case '4':
	case 'u':
		return PTX_U32;
	case 's':
		return PTX_S32;
	case 'f':
		return PTX_F32;
	case 'p':
		return PTX_PRED;
	default:
		return PTX_NONE;
	}
}

static i128 with_sign(enum ptx_type t, uint64_t v)
{
	unsigned bits = ptx_type_bytes(t) * 8;
	if (t == PTX_NONE)
		return 0;
	v &= type_mask(t);
	return ptx_type_signed(t) && v >> (bits - 1) & 1 ? (i128)v - ((i128)1 << bits) : (i128)v;
}

static void check_pass(struct one_op *o, const char *line, enum ptx_type t, reference *ref)
{
	uint64_t idle = o->d == PTX_PRED ? 0 : UNTOUCHED & type_mask(o->d);
	one_op_run(o);
	for (unsigned l = 0; l < o->f.block[0]; l++) {
		struct args x = {.bits = ptx_type_bytes(t) * 8,
				 .is_signed = ptx_type_signed(t),
				 .a = with_sign(o->a, o->in[0][l]),
				 .b = with_sign(o->b, o->in[1][l]),
				 .c = with_sign(o->c, o->in[2][l]),
				 .p = o->pred >> l & 1};
		uint64_t want = o->mask >> l & 1 ? (uint64_t)ref(&x) & type_mask(o->d) : idle;
		if (o->out[l] != want)
			fail_msg("%s lane %u: %llx %llx %llx gives %llx, not %llx", line, l,
				 (unsigned long long)o->in[0][l], (unsigned long long)o->in[1][l],
				 (unsigned long long)o->in[2][l], (unsigned long long)o->out[l],
				 (unsigned long long)want);
	}
}

static void check_type(size_t k, enum ptx_type t, struct rng *r)
{
	struct one_op o;
	char line[128], *at = line;
	for (const char *c = ops[k].line; *c; c++)
		at += sprintf(at, *c == '$' ? "%s" : "%.1s", *c == '$' ? ptx_type_name(t) : c);
	one_op_open(&o, line, other(ops[k].d, t), t, other(ops[k].b, t), other(ops[k].c, t), 90);
	for (int pass = 0; pass < 24; pass++) {
		one_op_fill(&o, r);
		if (o.c == PTX_U32 || o.b == PTX_U32) /* amounts of shifts and fields: more of the small ones */
			for (int l = 0; l < 32; l += 2) {
				o.in[1][l] = o.b == PTX_U32 && o.a != PTX_U32 ? rng_below(r, 70) : o.in[1][l];
				o.in[2][l] = o.c == PTX_U32 ? rng_below(r, 70) : o.in[2][l];
			}
		/* all lanes, some lanes, then one lane, which takes the other handler */
		o.mask = pass % 3 == 0 ? UINT32_MAX : pass % 3 == 1 ? (uint32_t)rng_next(r) : 1u << rng_below(r, 32);
		check_pass(&o, line, t, ops[k].ref);
	}
	one_op_close(&o);
}

static void every_operation_and_type(void **state)
{
	struct rng r;
	unsigned n = 0;
	(void)state;
	rng_seed(&r, 77);
	for (size_t k = 0; k < sizeof ops / sizeof *ops; k++)
		for (int t = 0; t < PTX_TYPES; t++)
			if (ops[k].types >> t & 1) {
				check_type(k, (enum ptx_type)t, &r);
				n++;
			}
	print_message("%u operations on their types\n", n);
}

/* The carry of one instruction goes into the next: 96 bits in three steps. */
static void carries(void **state)
{
	struct func_fixture f;
	struct rng r;
	(void)state;
	rng_seed(&r, 5);
	fixture_open(&f);
	assert_int_equal(
	    fixture_load(&f,
			 ".version 8.0\n.target sm_90\n.address_size 64\n.entry k(.param .u64 out, .param .u64 in) {\n"
			 ".reg .u64 i, o; .reg .u32 t, a<3>, b<3>, d<3>, e<3>, m<3>;\n"
			 "ld.param.u64 o, [out]; ld.param.u64 i, [in]; mov.u32 t, %tid.x;\n"
			 "mad.wide.u32 o, t, 64, o; mad.wide.u32 i, t, 64, i;\n"
			 "ld.global.u32 a0, [i]; ld.global.u32 a1, [i+4]; ld.global.u32 a2, [i+8];\n"
			 "ld.global.u32 b0, [i+12]; ld.global.u32 b1, [i+16]; ld.global.u32 b2, [i+20];\n"
			 "add.cc.u32 d0, a0, b0; addc.cc.u32 d1, a1, b1; addc.u32 d2, a2, b2;\n"
			 "sub.cc.u32 e0, a0, b0; subc.cc.u32 e1, a1, b1; subc.u32 e2, a2, b2;\n"
			 "mad.lo.cc.u32 m0, a0, b0, a1; madc.hi.cc.u32 m1, a0, b0, b1; addc.u32 m2, 0, 0;\n"
			 "st.global.u32 [o], d0; st.global.u32 [o+4], d1; st.global.u32 [o+8], d2;\n"
			 "st.global.u32 [o+12], e0; st.global.u32 [o+16], e1; st.global.u32 [o+20], e2;\n"
			 "st.global.u32 [o+24], m0; st.global.u32 [o+28], m1; st.global.u32 [o+32], m2; ret; }\n",
			 90),
	    0);
	for (int pass = 0; pass < 20; pass++) {
		uint32_t *in = (uint32_t *)f.in->data, *out = (uint32_t *)f.out->data;
		for (int k = 0; k < 32 * 16; k++)
			in[k] = (uint32_t)value_of(&r, PTX_U32);
		fixture_run(&f);
		for (int l = 0; l < 32; l++) {
			const uint32_t *x = in + 16 * l, *y = out + 16 * l;
			u128 a = (u128)x[2] << 64 | (u128)x[1] << 32 | x[0],
			     b = (u128)x[5] << 64 | (u128)x[4] << 32 | x[3];
			u128 sum = a + b, difference = a - b;
			u128 wide = (u128)x[0] * x[3] + ((u128)x[4] << 32) + x[1];
			for (int k = 0; k < 3; k++) {
				assert_int_equal(y[k], (uint32_t)(sum >> (32 * k)));
				assert_int_equal(y[3 + k], (uint32_t)(difference >> (32 * k)));
				assert_int_equal(y[6 + k], (uint32_t)(wide >> (32 * k)));
			}
		}
	}
	fixture_close(&f);
}

static void bit_field_insert(void **state)
{
	struct rng r;
	(void)state;
	rng_seed(&r, 6);
	for (int wide = 0; wide < 2; wide++) {
		enum ptx_type t = wide ? PTX_B64 : PTX_B32;
		struct one_op o;
		/* the length is the number of the lane */
		one_op_open(&o, wide ? "bfi.b64 d, a, b, c, t;" : "bfi.b32 d, a, b, c, t;", t, t, t, PTX_U32, 90);
		for (int pass = 0; pass < 60; pass++) {
			one_op_fill(&o, &r);
			for (int l = 0; l < 32; l++)
				o.in[2][l] = rng_below(&r, 3) ? rng_below(&r, 70) : rng_next(&r) & UINT32_MAX;
			one_op_run(&o);
			for (int l = 0; l < 32; l++) {
				unsigned at = (unsigned)o.in[2][l] & 0xff, n = (unsigned)l, top = wide ? 63 : 31;
				uint64_t want = o.in[1][l];
				for (unsigned k = 0; k < n && at + k <= top; k++)
					want = (want & ~(1ull << (at + k))) | (o.in[0][l] >> k & 1) << (at + k);
				assert_int_equal(o.out[l], want);
			}
		}
		one_op_close(&o);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(every_operation_and_type),
	    cmocka_unit_test(carries),
	    cmocka_unit_test(bit_field_insert),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
