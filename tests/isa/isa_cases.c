#include "isa_maker.h"
#include <errno.h>
#include <string.h>

void isa_keep(struct maker *m, enum isa_rule rule, uint32_t types)
{
	struct isa_cases *l = m->c;
	const char *text = str_text(&m->text);
	if (l->count == l->cap) {
		size_t cap = l->cap ? l->cap * 2 : 256;
		struct isa_case *more = mem_grow(l->list, cap * sizeof *more);
		if (!more) {
			m->failed = true;
			return;
		}
		l->list = more;
		l->cap = cap;
	}
	const char *copy = arena_strdup(&l->a, text);
	if (!copy) {
		m->failed = true;
		return;
	}
	bool p = strstr(text, ", p;") || strstr(text, ", p,") || strstr(text, "!p") || strstr(text, "@p");
	l->list[l->count++] = (struct isa_case){.line = copy,
						.d = (uint8_t)(types >> 24),
						.a = (uint8_t)(types >> 16),
						.b = (uint8_t)(types >> 8),
						.c = (uint8_t)(types),
						.rule = (uint8_t)rule,
						.p = p};
}

static const enum ptx_type ints[] = {PTX_U16, PTX_S16, PTX_U32, PTX_S32, PTX_U64, PTX_S64};
static const enum ptx_type all_ints[] = {PTX_U8, PTX_S8, PTX_U16, PTX_S16, PTX_U32, PTX_S32, PTX_U64, PTX_S64};
static const enum ptx_type bits[] = {PTX_B16, PTX_B32, PTX_B64};
static const enum ptx_type floats[] = {PTX_F32, PTX_F64};
static const enum ptx_type halves[] = {PTX_F16, PTX_F16X2};
static const char *const rounds[] = {"rn", "rz", "rm", "rp"};
static const char *const whole[] = {"rni", "rzi", "rmi", "rpi"};

static void integers(struct maker *m)
{
	static const char *const two[] = {"add", "sub", "mul.lo", "mul.hi", "min", "max"};
	static const char *const three[] = {"mad.lo", "mad.hi", "sad"};
	for (size_t t = 0; t < COUNT(ints); t++) {
		enum ptx_type i = ints[t];
		for (size_t k = 0; k < COUNT(two); k++)
			put(m, ISA_EXACT, i, i, i, PTX_NONE, "%s.%s d, a, b;", two[k], N(i));
		put(m, ISA_DIVIDES, i, i, i, PTX_NONE, "div.%s d, a, b;", N(i));
		put(m, ISA_DIVIDES, i, i, i, PTX_NONE, "rem.%s d, a, b;", N(i));
		for (size_t k = 0; k < COUNT(three); k++)
			put(m, ISA_EXACT, i, i, i, i, "%s.%s d, a, b, c;", three[k], N(i));
		if (ptx_type_signed(i)) {
			put(m, ISA_EXACT, i, i, PTX_NONE, PTX_NONE, "abs.%s d, a;", N(i));
			put(m, ISA_EXACT, i, i, PTX_NONE, PTX_NONE, "neg.%s d, a;", N(i));
		}
		put(m, ISA_EXACT, i, i, PTX_U32, PTX_NONE, "shr.%s d, a, b;", N(i));
		if (ptx_type_bytes(i) < 8) {
			enum ptx_type wide = i == PTX_U16   ? PTX_U32
					     : i == PTX_S16 ? PTX_S32
					     : i == PTX_U32 ? PTX_U64
							    : PTX_S64;
			put(m, ISA_EXACT, wide, i, i, PTX_NONE, "mul.wide.%s d, a, b;", N(i));
			put(m, ISA_EXACT, wide, i, i, wide, "mad.wide.%s d, a, b, c;", N(i));
		}
		if (ptx_type_bytes(i) < 4)
			continue;
		enum ptx_type n = PTX_U32;
		put(m, ISA_EXACT, n, i, PTX_NONE, PTX_NONE, "bfind.%s d, a;", N(i));
		put(m, ISA_EXACT, n, i, PTX_NONE, PTX_NONE, "bfind.shiftamt.%s d, a;", N(i));
		/* Places and lengths past a byte are not defined. */
		put(m, ISA_EXACT, i, i, PTX_U32, PTX_U32,
		    "{ .reg .b32 k, l; and.b32 k, b, 0xff; and.b32 l, c, 0xff; bfe.%s d, a, k, l; }", N(i));
		put(m, ISA_EXACT, i, i, i, i, "add.cc.%s d, a, b; addc.%s d, c, 0;", N(i), N(i));
		put(m, ISA_EXACT, i, i, i, i, "sub.cc.%s d, a, b; subc.%s d, c, 0;", N(i), N(i));
		put(m, ISA_EXACT, i, i, i, i, "add.cc.%s d, a, b; addc.cc.%s d, d, c; addc.%s d, a, 0;", N(i), N(i),
		    N(i));
		put(m, ISA_EXACT, i, i, i, i, "mad.lo.cc.%s d, a, b, c; madc.hi.%s d, a, b, c;", N(i), N(i));
		put(m, ISA_EXACT, i, i, i, i, "mad.hi.cc.%s d, a, b, c; madc.lo.cc.%s d, a, d, b; addc.%s d, d, 0;",
		    N(i), N(i), N(i));
	}
	put(m, ISA_EXACT, PTX_S32, PTX_S32, PTX_S32, PTX_NONE, "add.sat.s32 d, a, b;");
	put(m, ISA_EXACT, PTX_S32, PTX_S32, PTX_S32, PTX_NONE, "sub.sat.s32 d, a, b;");
	put(m, ISA_EXACT, PTX_S32, PTX_S32, PTX_S32, PTX_S32, "mad.hi.sat.s32 d, a, b, c;");
	for (int s = 0; s < 2; s++) {
		enum ptx_type i = s ? PTX_S32 : PTX_U32;
		put(m, ISA_EXACT, i, i, i, PTX_NONE, "mul24.lo.%s d, a, b;", N(i));
		put(m, ISA_EXACT, i, i, i, PTX_NONE, "mul24.hi.%s d, a, b;", N(i));
		put(m, ISA_EXACT, i, i, i, i, "mad24.lo.%s d, a, b, c;", N(i));
		put(m, ISA_EXACT, i, i, i, i, "mad24.hi.%s d, a, b, c;", N(i));
	}
	put(m, ISA_EXACT, PTX_S32, PTX_S32, PTX_S32, PTX_S32, "mad24.hi.sat.s32 d, a, b, c;");
}

static void logic(struct maker *m)
{
	static const char *const two[] = {"and", "or", "xor"};
	static const char *const funnels[] = {"l.clamp", "l.wrap", "r.clamp", "r.wrap"};
	static const char *const modes[] = {"", ".f4e", ".b4e", ".rc8", ".ecl", ".ecr", ".rc16"};
	static const unsigned tables[] = {0x00, 0x80, 0xfe, 0x96, 0xe8, 0xca, 0x1b, 0x2d, 0xaa, 0xf0, 0x55, 0xff};
	for (size_t t = 0; t < COUNT(bits); t++) {
		enum ptx_type b = bits[t];
		for (size_t k = 0; k < COUNT(two); k++)
			put(m, ISA_EXACT, b, b, b, PTX_NONE, "%s.%s d, a, b;", two[k], N(b));
		put(m, ISA_EXACT, b, b, PTX_NONE, PTX_NONE, "not.%s d, a;", N(b));
		put(m, ISA_EXACT, b, b, PTX_NONE, PTX_NONE, "cnot.%s d, a;", N(b));
		put(m, ISA_EXACT, b, b, PTX_U32, PTX_NONE, "shl.%s d, a, b;", N(b));
		put(m, ISA_EXACT, b, b, PTX_U32, PTX_NONE, "shr.%s d, a, b;", N(b));
		put(m, ISA_EXACT, b, b, b, PTX_NONE, "selp.%s d, a, b, p;", N(b));
		if (b == PTX_B16)
			continue;
		put(m, ISA_EXACT, PTX_U32, b, PTX_NONE, PTX_NONE, "popc.%s d, a;", N(b));
		put(m, ISA_EXACT, PTX_U32, b, PTX_NONE, PTX_NONE, "clz.%s d, a;", N(b));
		put(m, ISA_EXACT, b, b, PTX_NONE, PTX_NONE, "brev.%s d, a;", N(b));
		put(m, ISA_EXACT, b, b, b, PTX_U32,
		    "and.b32 x, c, 0x3f; shr.u32 y, c, 8; and.b32 y, y, 0xff; bfi.%s d, a, b, x, y;", N(b));
		put(m, ISA_EXACT, b, b, b, PTX_U32,
		    "shr.u32 x, c, 4; and.b32 x, x, 0xff; and.b32 y, c, 0xff; bfi.%s d, a, b, y, x;", N(b));
	}
	for (size_t k = 0; k < COUNT(funnels); k++)
		put(m, ISA_EXACT, PTX_B32, PTX_B32, PTX_B32, PTX_U32, "shf.%s.b32 d, a, b, c;", funnels[k]);
	for (size_t k = 0; k < COUNT(modes); k++)
		put(m, ISA_EXACT, PTX_B32, PTX_B32, PTX_B32, PTX_B32, "prmt.b32%s d, a, b, c;", modes[k]);
	for (size_t k = 0; k < COUNT(tables); k++)
		put(m, ISA_EXACT, PTX_B32, PTX_B32, PTX_B32, PTX_B32, "lop3.b32 d, a, b, c, 0x%02x;", tables[k]);
	put(m, ISA_EXACT, PTX_PRED, PTX_U32, PTX_NONE, PTX_NONE, "setp.lt.u32 q, a, 1000; and.pred d, q, p;");
	put(m, ISA_EXACT, PTX_PRED, PTX_U32, PTX_NONE, PTX_NONE, "setp.lt.u32 q, a, 1000; or.pred d, q, p;");
	put(m, ISA_EXACT, PTX_PRED, PTX_U32, PTX_NONE, PTX_NONE, "setp.lt.u32 q, a, 1000; xor.pred d, q, p;");
	put(m, ISA_EXACT, PTX_PRED, PTX_U32, PTX_NONE, PTX_NONE, "setp.lt.u32 q, a, 1000; not.pred d, q;");
}

static void compares(struct maker *m)
{
	static const char *const any[] = {"eq", "ne", "lt", "le", "gt", "ge"},
				 *const without[] = {"lo", "ls", "hi", "hs"}, *const unordered[] = {"equ", "neu", "ltu",
												    "leu", "gtu", "geu",
												    "num", "nan"},
				 *const bools[] = {"and", "or", "xor"}, *const results[] = {"u32", "s32", "f32"};
	static const enum ptx_type with[] = {PTX_U16, PTX_S16, PTX_U32, PTX_S32, PTX_U64,
					     PTX_S64, PTX_F16, PTX_F32, PTX_F64};
	for (size_t t = 0; t < COUNT(with); t++) {
		enum ptx_type i = with[t];
		bool f = ptx_type_class(i) == 'f';
		for (size_t k = 0; k < COUNT(any); k++)
			put(m, ISA_EXACT, PTX_PRED, i, i, PTX_NONE, "setp.%s.%s d, a, b;", any[k], N(i));
		for (size_t k = 0; k < COUNT(without) && !f && !ptx_type_signed(i); k++)
			put(m, ISA_EXACT, PTX_PRED, i, i, PTX_NONE, "setp.%s.%s d, a, b;", without[k], N(i));
		for (size_t k = 0; k < COUNT(unordered) && f; k++)
			put(m, ISA_EXACT, PTX_PRED, i, i, PTX_NONE, "setp.%s.%s d, a, b;", unordered[k], N(i));
		for (size_t k = 0; k < COUNT(bools); k++) {
			put(m, ISA_EXACT, PTX_U32, i, i, PTX_NONE,
			    "setp.lt.%s.%s q|r, a, b, p; selp.u32 x, 1, 0, q; selp.u32 y, 2, 0, r; or.b32 d, x, y;",
			    bools[k], N(i));
			put(m, ISA_EXACT, PTX_PRED, i, i, PTX_NONE, "setp.ge.%s.%s d, a, b, !p;", bools[k], N(i));
			if (i != PTX_F16)
				put(m, ISA_EXACT, k == 2 ? PTX_F32 : PTX_U32, i, i, PTX_NONE,
				    "set.le.%s.%s.%s d, a, b, p;", bools[k], results[k], N(i));
		}
		for (size_t k = 0; k < COUNT(results) && i != PTX_F16; k++) {
			put(m, ISA_EXACT, k == 2 ? PTX_F32 : PTX_U32, i, i, PTX_NONE, "set.gt.%s.%s d, a, b;",
			    results[k], N(i));
			if (f)
				put(m, ISA_EXACT, k == 2 ? PTX_F32 : PTX_U32, i, i, PTX_NONE, "set.neu.%s.%s d, a, b;",
				    results[k], N(i));
		}
	}
	for (size_t t = 0; t < COUNT(bits); t++) {
		put(m, ISA_EXACT, PTX_PRED, bits[t], bits[t], PTX_NONE, "setp.eq.%s d, a, b;", N(bits[t]));
		put(m, ISA_EXACT, PTX_PRED, bits[t], bits[t], PTX_NONE, "setp.ne.%s d, a, b;", N(bits[t]));
	}
	for (size_t k = 0; k < COUNT(any); k++) {
		put(m, ISA_EXACT, PTX_PRED, PTX_F32, PTX_F32, PTX_NONE, "setp.%s.ftz.f32 d, a, b;", any[k]);
		put(m, ISA_EXACT, PTX_U32, PTX_F16X2, PTX_F16X2, PTX_NONE,
		    "setp.%s.f16x2 q|r, a, b; selp.u32 x, 1, 0, q; selp.u32 y, 2, 0, r; or.b32 d, x, y;", any[k]);
	}
	for (size_t k = 0; k < COUNT(unordered); k++) {
		put(m, ISA_EXACT, PTX_PRED, PTX_F32, PTX_F32, PTX_NONE, "setp.%s.ftz.f32 d, a, b;", unordered[k]);
		put(m, ISA_EXACT, PTX_U32, PTX_F16X2, PTX_F16X2, PTX_NONE,
		    "setp.%s.ftz.f16x2 q|r, a, b; selp.u32 x, 1, 0, q; selp.u32 y, 2, 0, r; or.b32 d, x, y;",
		    unordered[k]);
	}
	put(m, ISA_EXACT, PTX_F16, PTX_F16, PTX_F16, PTX_NONE, "set.ltu.f16.f16 d, a, b;");
	put(m, ISA_EXACT, PTX_F16, PTX_F32, PTX_F32, PTX_NONE, "set.gt.f16.f32 d, a, b;");
	put(m, ISA_EXACT, PTX_U32, PTX_F16, PTX_F16, PTX_NONE, "set.ge.u32.f16 d, a, b;");
	put(m, ISA_EXACT, PTX_U16, PTX_F16, PTX_F16, PTX_NONE, "set.ne.u16.f16 d, a, b;");
	put(m, ISA_EXACT, PTX_F16X2, PTX_F16X2, PTX_F16X2, PTX_NONE, "set.le.f16x2.f16x2 d, a, b;");
	put(m, ISA_EXACT, PTX_U32, PTX_F16X2, PTX_F16X2, PTX_NONE, "set.gt.ftz.u32.f16x2 d, a, b;");
	static const enum ptx_type chosen[] = {PTX_B32, PTX_U64, PTX_F32, PTX_F64, PTX_S16};
	for (size_t t = 0; t < COUNT(chosen); t++) {
		put(m, ISA_EXACT, chosen[t], chosen[t], chosen[t], PTX_S32, "slct.%s.s32 d, a, b, c;", N(chosen[t]));
		put(m, ISA_EXACT, chosen[t], chosen[t], chosen[t], PTX_F32, "slct.%s.f32 d, a, b, c;", N(chosen[t]));
		put(m, ISA_EXACT, chosen[t], chosen[t], chosen[t], PTX_F32, "slct.ftz.%s.f32 d, a, b, c;",
		    N(chosen[t]));
	}
}

static void floating(struct maker *m)
{
	static const char *const two[] = {"add", "sub", "mul"};
	static const char *const tests[] = {"finite", "infinite", "number", "notanumber", "normal", "subnormal"};
	static const char *const extras[] = {"", ".ftz", ".sat", ".ftz.sat"};
	for (size_t t = 0; t < COUNT(floats); t++) {
		enum ptx_type f = floats[t];
		size_t variants = f == PTX_F32 ? 4 : 1, ftz = f == PTX_F32 ? 2 : 1;
		for (size_t r = 0; r < 4; r++) {
			for (size_t x = 0; x < variants; x++) {
				for (size_t k = 0; k < COUNT(two); k++)
					put(m, ISA_EXACT, f, f, f, PTX_NONE, "%s.%s%s.%s d, a, b;", two[k], rounds[r],
					    extras[x], N(f));
				put(m, ISA_EXACT, f, f, f, f, "fma.%s%s.%s d, a, b, c;", rounds[r], extras[x], N(f));
				put(m, ISA_EXACT, f, f, f, f, "mad.%s%s.%s d, a, b, c;", rounds[r], extras[x], N(f));
			}
			for (size_t x = 0; x < ftz; x++) {
				put(m, ISA_EXACT, f, f, f, PTX_NONE, "div.%s%s.%s d, a, b;", rounds[r], extras[x],
				    N(f));
				put(m, ISA_EXACT, f, f, PTX_NONE, PTX_NONE, "rcp.%s%s.%s d, a;", rounds[r], extras[x],
				    N(f));
				put(m, ISA_EXACT, f, f, PTX_NONE, PTX_NONE, "sqrt.%s%s.%s d, a;", rounds[r], extras[x],
				    N(f));
			}
		}
		for (size_t x = 0; x < ftz; x++) {
			put(m, ISA_EXACT, f, f, f, PTX_NONE, "min%s.%s d, a, b;", extras[x], N(f));
			put(m, ISA_EXACT, f, f, f, PTX_NONE, "max%s.%s d, a, b;", extras[x], N(f));
			put(m, ISA_EXACT, f, f, PTX_NONE, PTX_NONE, "abs%s.%s d, a;", extras[x], N(f));
			put(m, ISA_EXACT, f, f, PTX_NONE, PTX_NONE, "neg%s.%s d, a;", extras[x], N(f));
			if (f == PTX_F32) {
				put(m, ISA_EXACT, f, f, f, PTX_NONE, "min%s.NaN.f32 d, a, b;", extras[x]);
				put(m, ISA_EXACT, f, f, f, PTX_NONE, "max%s.NaN.f32 d, a, b;", extras[x]);
			}
		}
		put(m, ISA_EXACT, f, f, f, PTX_NONE, "copysign.%s d, a, b;", N(f));
		for (size_t k = 0; k < COUNT(tests); k++)
			put(m, ISA_EXACT, PTX_PRED, f, PTX_NONE, PTX_NONE, "testp.%s.%s d, a;", tests[k], N(f));
	}
	for (size_t t = 0; t < COUNT(halves); t++) {
		enum ptx_type f = halves[t];
		for (size_t x = 0; x < 4; x++) {
			for (size_t k = 0; k < COUNT(two); k++)
				put(m, ISA_EXACT, f, f, f, PTX_NONE, "%s%s%s.%s d, a, b;", two[k], x & 1 ? ".rn" : "",
				    extras[x], N(f));
			put(m, ISA_EXACT, f, f, f, f, "fma.rn%s.%s d, a, b, c;", extras[x], N(f));
		}
		for (size_t x = 0; x < 2; x++) {
			put(m, ISA_EXACT, f, f, f, f, "fma.rn%s.relu.%s d, a, b, c;", extras[x], N(f));
			put(m, ISA_EXACT, f, f, f, PTX_NONE, "min%s.%s d, a, b;", extras[x], N(f));
			put(m, ISA_EXACT, f, f, f, PTX_NONE, "max%s.%s d, a, b;", extras[x], N(f));
			put(m, ISA_EXACT, f, f, f, PTX_NONE, "min%s.NaN.%s d, a, b;", extras[x], N(f));
			put(m, ISA_EXACT, f, f, f, PTX_NONE, "max%s.NaN.%s d, a, b;", extras[x], N(f));
			put(m, ISA_EXACT, f, f, PTX_NONE, PTX_NONE, "neg%s.%s d, a;", extras[x], N(f));
			put(m, ISA_EXACT, f, f, PTX_NONE, PTX_NONE, "abs%s.%s d, a;", extras[x], N(f));
		}
	}
}

static void special(struct maker *m)
{
	static const struct {
		const char *name;
		enum isa_rule rule;
	} one[] = {{"rcp", ISA_RELATIVE_22},  {"sqrt", ISA_RELATIVE_22}, {"rsqrt", ISA_RELATIVE_22},
		   {"ex2", ISA_RELATIVE_22},  {"lg2", ISA_LOGARITHM},	 {"sin", ISA_TRIGONOMETRIC},
		   {"cos", ISA_TRIGONOMETRIC}};
	const enum ptx_type f = PTX_F32;
	for (size_t k = 0; k < COUNT(one); k++) {
		put(m, one[k].rule, f, f, PTX_NONE, PTX_NONE, "%s.approx.f32 d, a;", one[k].name);
		put(m, one[k].rule, f, f, PTX_NONE, PTX_NONE, "%s.approx.ftz.f32 d, a;", one[k].name);
	}
	put(m, ISA_RELATIVE_11, f, f, PTX_NONE, PTX_NONE, "tanh.approx.f32 d, a;");
	put(m, ISA_DIVISION, f, f, f, PTX_NONE, "div.approx.f32 d, a, b;");
	put(m, ISA_DIVISION, f, f, f, PTX_NONE, "div.approx.ftz.f32 d, a, b;");
	put(m, ISA_QUOTIENT, f, f, f, PTX_NONE, "div.full.f32 d, a, b;");
	put(m, ISA_QUOTIENT, f, f, f, PTX_NONE, "div.full.ftz.f32 d, a, b;");
	put(m, ISA_DOUBLE_19, PTX_F64, PTX_F64, PTX_NONE, PTX_NONE, "rcp.approx.ftz.f64 d, a;");
	put(m, ISA_DOUBLE_19, PTX_F64, PTX_F64, PTX_NONE, PTX_NONE, "rsqrt.approx.ftz.f64 d, a;");
	put(m, ISA_DOUBLE_19, PTX_F64, PTX_F64, PTX_NONE, PTX_NONE, "rsqrt.approx.f64 d, a;");
	put(m, ISA_RELATIVE_10, PTX_F16, PTX_F16, PTX_NONE, PTX_NONE, "ex2.approx.f16 d, a;");
	put(m, ISA_RELATIVE_10, PTX_F16, PTX_F16, PTX_NONE, PTX_NONE, "tanh.approx.f16 d, a;");
}

/* Saturation is written only where a value of the source may lie outside of the destination. */
static bool may_saturate(enum ptx_type to, enum ptx_type from)
{
	unsigned n = ptx_type_bytes(to), k = ptx_type_bytes(from);
	if (ptx_type_signed(to) == ptx_type_signed(from))
		return n < k;
	return ptx_type_signed(from) || n <= k;
}

static void conversions(struct maker *m)
{
	static const enum ptx_type with_half[] = {PTX_F16, PTX_F32, PTX_F64};
	for (size_t t = 0; t < COUNT(all_ints); t++) {
		enum ptx_type i = all_ints[t];
		for (size_t s = 0; s < COUNT(all_ints); s++) {
			enum ptx_type from = all_ints[s];
			put(m, ISA_EXACT, i, from, PTX_NONE, PTX_NONE, "cvt.%s.%s d, a;", N(i), N(from));
			if (may_saturate(i, from))
				put(m, ISA_EXACT, i, from, PTX_NONE, PTX_NONE, "cvt.sat.%s.%s d, a;", N(i), N(from));
		}
		for (size_t s = 0; s < COUNT(with_half); s++) {
			enum ptx_type f = with_half[s];
			for (size_t r = 0; r < 4; r++) {
				put(m, ISA_EXACT, i, f, PTX_NONE, PTX_NONE, "cvt.%s.%s.%s d, a;", whole[r], N(i), N(f));
				put(m, ISA_EXACT, f, i, PTX_NONE, PTX_NONE, "cvt.%s.%s.%s d, a;", rounds[r], N(f),
				    N(i));
			}
			put(m, ISA_EXACT, f, i, PTX_NONE, PTX_NONE, "cvt.rn.sat.%s.%s d, a;", N(f), N(i));
		}
		put(m, ISA_EXACT, i, PTX_F32, PTX_NONE, PTX_NONE, "cvt.rpi.ftz.%s.f32 d, a;", N(i));
	}
	for (size_t r = 0; r < 4; r++) {
		put(m, ISA_EXACT, PTX_F16, PTX_F32, PTX_NONE, PTX_NONE, "cvt.%s.f16.f32 d, a;", rounds[r]);
		put(m, ISA_EXACT, PTX_F16, PTX_F64, PTX_NONE, PTX_NONE, "cvt.%s.f16.f64 d, a;", rounds[r]);
		put(m, ISA_EXACT, PTX_F32, PTX_F64, PTX_NONE, PTX_NONE, "cvt.%s.f32.f64 d, a;", rounds[r]);
		put(m, ISA_EXACT, PTX_F32, PTX_F64, PTX_NONE, PTX_NONE, "cvt.%s.ftz.sat.f32.f64 d, a;", rounds[r]);
		put(m, ISA_EXACT, PTX_F32, PTX_F32, PTX_NONE, PTX_NONE, "cvt.%s.f32.f32 d, a;", whole[r]);
		put(m, ISA_EXACT, PTX_F32, PTX_F32, PTX_NONE, PTX_NONE, "cvt.%s.ftz.sat.f32.f32 d, a;", whole[r]);
		put(m, ISA_EXACT, PTX_F64, PTX_F64, PTX_NONE, PTX_NONE, "cvt.%s.f64.f64 d, a;", whole[r]);
		put(m, ISA_EXACT, PTX_F16, PTX_F16, PTX_NONE, PTX_NONE, "cvt.%s.f16.f16 d, a;", whole[r]);
	}
	put(m, ISA_EXACT, PTX_F16, PTX_F32, PTX_NONE, PTX_NONE, "cvt.rn.ftz.f16.f32 d, a;");
	put(m, ISA_EXACT, PTX_F16, PTX_F32, PTX_NONE, PTX_NONE, "cvt.rn.sat.f16.f32 d, a;");
	put(m, ISA_EXACT, PTX_F32, PTX_F16, PTX_NONE, PTX_NONE, "cvt.f32.f16 d, a;");
	put(m, ISA_EXACT, PTX_F32, PTX_F16, PTX_NONE, PTX_NONE, "cvt.sat.f32.f16 d, a;");
	put(m, ISA_EXACT, PTX_F64, PTX_F16, PTX_NONE, PTX_NONE, "cvt.f64.f16 d, a;");
	put(m, ISA_EXACT, PTX_F64, PTX_F32, PTX_NONE, PTX_NONE, "cvt.f64.f32 d, a;");
	put(m, ISA_EXACT, PTX_F64, PTX_F32, PTX_NONE, PTX_NONE, "cvt.ftz.sat.f64.f32 d, a;");
	put(m, ISA_EXACT, PTX_F32, PTX_F32, PTX_NONE, PTX_NONE, "cvt.sat.f32.f32 d, a;");
	put(m, ISA_EXACT, PTX_F16X2, PTX_F32, PTX_F32, PTX_NONE, "cvt.rn.f16x2.f32 d, a, b;");
	put(m, ISA_EXACT, PTX_F16X2, PTX_F32, PTX_F32, PTX_NONE, "cvt.rz.f16x2.f32 d, a, b;");
	put(m, ISA_EXACT, PTX_F16X2, PTX_F32, PTX_F32, PTX_NONE, "cvt.rn.relu.f16x2.f32 d, a, b;");
	put(m, ISA_EXACT, PTX_F16, PTX_F32, PTX_NONE, PTX_NONE, "cvt.rn.relu.f16.f32 d, a;");
	put(m, ISA_EXACT, PTX_B32, PTX_B32, PTX_NONE, PTX_NONE,
	    "{ .reg .b16 l, m; mov.b32 {l, m}, a; mov.b32 d, {m, l}; }");
	put(m, ISA_EXACT, PTX_B64, PTX_B64, PTX_NONE, PTX_NONE, "mov.b64 {x, y}, a; mov.b64 d, {y, x};");
	put(m, ISA_EXACT, PTX_B64, PTX_B64, PTX_NONE, PTX_NONE,
	    "{ .reg .b16 k, l, m, n; mov.b64 {k, l, m, n}, a; mov.b64 d, {n, k, m, l}; }");
}

static void memory(struct maker *m)
{
	static const enum ptx_type elements[] = {PTX_U8, PTX_S8, PTX_U16, PTX_S16, PTX_U32, PTX_S32};
	static const char *const loads[] = {
	    "global",	 "global.ca",	    "global.cg",   "global.cs",		 "global.lu",
	    "global.cv", "volatile.global", "weak.global", "relaxed.gpu.global", "acquire.sys.global"};
	static const char *const stores[] = {"global",	    "global.wb",	  "global.cg",
					     "global.cs",   "global.wt",	  "volatile.global",
					     "weak.global", "relaxed.cta.global", "release.gpu.global"};
	for (size_t t = 0; t < COUNT(elements); t++) {
		put(m, ISA_EXACT, PTX_U32, PTX_B32, PTX_NONE, PTX_NONE,
		    "st.global.b32 [cell], a; ld.global.%s d, [cell];", N(elements[t]));
		put(m, ISA_EXACT, PTX_U64, PTX_B32, PTX_NONE, PTX_NONE,
		    "st.shared.b32 [spot], a; ld.shared.%s d, [spot];", N(elements[t]));
		put(m, ISA_EXACT, PTX_B32, PTX_B32, PTX_B32, PTX_NONE,
		    "st.global.b32 [cell], b; st.global.%s [cell], a; ld.global.b32 d, [cell];", N(elements[t]));
	}
	for (size_t k = 0; k < COUNT(loads); k++)
		put(m, ISA_EXACT, PTX_B32, PTX_B32, PTX_NONE, PTX_NONE, "st.global.b32 [cell], a; ld.%s.b32 d, [cell];",
		    loads[k]);
	for (size_t k = 0; k < COUNT(stores); k++)
		put(m, ISA_EXACT, PTX_B32, PTX_B32, PTX_NONE, PTX_NONE, "st.%s.b32 [cell], a; ld.global.b32 d, [cell];",
		    stores[k]);
	put(m, ISA_EXACT, PTX_B32, PTX_B32, PTX_B32, PTX_NONE,
	    "st.global.v2.b32 [cell], {a, b}; ld.global.v2.u32 {x, y}, [cell]; sub.u32 d, x, y;");
	put(m, ISA_EXACT, PTX_B32, PTX_B32, PTX_B32, PTX_B32,
	    "st.global.v4.b32 [cell], {a, b, c, a}; membar.gl; ld.global.v4.u32 {x, y, d, x}, [cell]; mad.lo.u32 d, x, "
	    "y, d;");
	put(m, ISA_EXACT, PTX_B64, PTX_B64, PTX_B64, PTX_NONE,
	    "st.shared.v2.b64 [spot], {a, b}; fence.acq_rel.cta; ld.shared.v2.u64 {w, d}, [spot]; xor.b64 d, d, w;");
	put(m, ISA_EXACT, PTX_B64, PTX_B64, PTX_NONE, PTX_NONE,
	    "{ .local .align 8 .b8 hole[16]; st.local.b64 [hole + 8], a; ld.local.b64 d, [hole + 8]; }");
	put(m, ISA_EXACT, PTX_B32, PTX_B32, PTX_NONE, PTX_NONE,
	    "{ .local .align 8 .b8 hole[16]; mov.u64 w, hole; cvta.local.u64 w, w; st.b32 [w], a; fence.sc.gpu; ld.b32 "
	    "d, "
	    "[w]; }");
	put(m, ISA_EXACT, PTX_B32, PTX_B32, PTX_NONE, PTX_NONE,
	    "st.shared.b32 [spot], a; cvt.u64.u32 w, spot; cvta.shared.u64 w, w; ld.b32 d, [w];");
	put(m, ISA_EXACT, PTX_B32, PTX_B32, PTX_NONE, PTX_NONE,
	    "cvta.global.u64 w, cell; st.b32 [w], a; membar.cta; membar.sys; ld.b32 d, [w];");
	put(m, ISA_EXACT, PTX_PRED, PTX_NONE, PTX_NONE, PTX_NONE,
	    "cvt.u64.u32 w, spot; cvta.shared.u64 w, w; isspacep.shared d, w;");
	put(m, ISA_EXACT, PTX_PRED, PTX_NONE, PTX_NONE, PTX_NONE, "isspacep.shared d, cell;");
	put(m, ISA_EXACT, PTX_U32, PTX_U32, PTX_NONE, PTX_NONE,
	    "and.b32 x, a, 7; mul.lo.u32 x, x, 4; cvt.u64.u32 w, x; mov.u64 v, table; add.u64 w, w, v; ld.const.u32 d, "
	    "[w];");
}

static void atomics(struct maker *m)
{
	static const struct {
		const char *op;
		enum ptx_type t;
	} ops[] = {{"and", PTX_B32}, {"and", PTX_B64}, {"or", PTX_B32},	 {"or", PTX_B64},  {"xor", PTX_B32},
		   {"xor", PTX_B64}, {"add", PTX_U32}, {"add", PTX_S32}, {"add", PTX_U64}, {"add", PTX_F32},
		   {"add", PTX_F64}, {"inc", PTX_U32}, {"dec", PTX_U32}, {"min", PTX_U32}, {"min", PTX_S32},
		   {"min", PTX_U64}, {"min", PTX_S64}, {"max", PTX_U32}, {"max", PTX_S32}, {"max", PTX_U64},
		   {"max", PTX_S64}};
	for (size_t k = 0; k < COUNT(ops); k++) {
		enum ptx_type t = ops[k].t;
		unsigned n = ptx_type_bytes(t) * 8;
		for (int shared = 0; shared < 2; shared++) {
			const char *space = shared ? "shared" : "global", *at = shared ? "spot" : "cell";
			put(m, ISA_EXACT, t, t, t, PTX_NONE, "st.%s.b%u [%s], a; atom.%s.%s.%s d, [%s], b;", space, n,
			    at, space, ops[k].op, N(t), at);
			put(m, ISA_EXACT, t, t, t, PTX_NONE,
			    "st.%s.b%u [%s], a; red.%s.%s.%s [%s], b; ld.%s.b%u d, [%s];", space, n, at, space,
			    ops[k].op, N(t), at, space, n, at);
		}
		put(m, ISA_EXACT, t, t, t, PTX_NONE,
		    "st.global.b%u [cell], a; atom.relaxed.gpu.global.%s.%s d, [cell], b; ld.relaxed.gpu.global.b%u d, "
		    "[cell];",
		    n, ops[k].op, N(t), n);
	}
	for (size_t t = 1; t < COUNT(bits); t++) {
		enum ptx_type b = bits[t];
		put(m, ISA_EXACT, b, b, b, PTX_NONE,
		    "st.global.%s [cell], a; atom.global.exch.%s d, [cell], b; ld.global.%s w, [cell]; add.u%u d, d, "
		    "%s;",
		    N(b), N(b), b == PTX_B64 ? "b64" : "u32", ptx_type_bytes(b) * 8, b == PTX_B64 ? "w" : "a");
		put(m, ISA_EXACT, b, b, b, b,
		    "st.shared.%s [spot], a; atom.shared.cas.%s d, [spot], b, c; ld.shared.%s d, [spot];", N(b), N(b),
		    N(b));
		put(m, ISA_EXACT, b, b, b, b,
		    "st.global.%s [cell], a; atom.global.cas.%s d, [cell], a, c; ld.global.%s d, [cell];", N(b), N(b),
		    N(b));
	}
	put(m, ISA_EXACT, PTX_B16, PTX_B16, PTX_B16, PTX_B16,
	    "st.global.b16 [cell], a; atom.global.cas.b16 d, [cell], a, c; ld.global.b16 d, [cell];");
	put(m, ISA_EXACT, PTX_F16X2, PTX_F16X2, PTX_F16X2, PTX_NONE,
	    "st.global.b32 [cell], a; atom.global.add.noftz.f16x2 d, [cell], b; ld.global.b32 d, [cell];");
	put(m, ISA_EXACT, PTX_F16, PTX_F16, PTX_F16, PTX_NONE,
	    "st.global.b16 [cell], a; atom.global.add.noftz.f16 d, [cell], b; ld.global.b16 d, [cell];");
}

static void warps(struct maker *m)
{
	static const char *const ways[] = {"up", "down", "bfly", "idx"};
	for (size_t k = 0; k < COUNT(ways); k++) {
		put(m, ISA_EXACT, PTX_B32, PTX_B32, PTX_U32, PTX_U32, "shfl.sync.%s.b32 d, a, b, c, 0xffffffff;",
		    ways[k]);
		put(m, ISA_EXACT, PTX_PRED, PTX_B32, PTX_U32, PTX_U32, "shfl.sync.%s.b32 x|d, a, b, c, 0xffffffff;",
		    ways[k]);
		put(m, ISA_EXACT, PTX_B32, PTX_B32, PTX_NONE, PTX_NONE, "shfl.sync.%s.b32 d, a, 3, %s, -1;", ways[k],
		    k ? "0x1f" : "0");
		put(m, ISA_EXACT, PTX_B32, PTX_B32, PTX_NONE, PTX_NONE, "shfl.sync.%s.b32 d, a, 5, %s, -1;", ways[k],
		    k ? "0x181f" : "0x1800");
	}
	put(m, ISA_EXACT, PTX_PRED, PTX_NONE, PTX_NONE, PTX_NONE, "vote.sync.all.pred d, p, 0xffffffff;");
	put(m, ISA_EXACT, PTX_PRED, PTX_NONE, PTX_NONE, PTX_NONE, "vote.sync.any.pred d, p, 0xffffffff;");
	put(m, ISA_EXACT, PTX_PRED, PTX_NONE, PTX_NONE, PTX_NONE, "vote.sync.uni.pred d, p, 0xffffffff;");
	put(m, ISA_EXACT, PTX_PRED, PTX_NONE, PTX_NONE, PTX_NONE, "vote.sync.all.pred d, !p, 0xffffffff;");
	put(m, ISA_EXACT, PTX_U32, PTX_NONE, PTX_NONE, PTX_NONE, "vote.sync.ballot.b32 d, p, 0xffffffff;");
	put(m, ISA_EXACT, PTX_U32, PTX_NONE, PTX_NONE, PTX_NONE, "vote.sync.ballot.b32 d, !p, 0xffffffff;");
	put(m, ISA_EXACT, PTX_U32, PTX_U32, PTX_NONE, PTX_NONE,
	    "and.b32 x, a, 3; match.any.sync.b32 d, x, 0xffffffff;");
	put(m, ISA_EXACT, PTX_U32, PTX_U64, PTX_NONE, PTX_NONE,
	    "and.b64 w, a, 1; match.any.sync.b64 d, w, 0xffffffff;");
	put(m, ISA_EXACT, PTX_U32, PTX_U32, PTX_NONE, PTX_NONE,
	    "and.b32 x, a, 0; match.all.sync.b32 d, x, 0xffffffff;");
	put(m, ISA_EXACT, PTX_PRED, PTX_NONE, PTX_NONE, PTX_NONE,
	    "selp.u32 x, 7, 9, p; match.all.sync.b32 y|d, x, 0xffffffff;");
	put(m, ISA_EXACT, PTX_U32, PTX_NONE, PTX_NONE, PTX_NONE,
	    "selp.b64 w, 7, 9, p; match.all.sync.b64 d, w, 0xffffffff;");
	put(m, ISA_EXACT, PTX_U32, PTX_NONE, PTX_NONE, PTX_NONE, "bar.warp.sync 0xffffffff; activemask.b32 d;");
	static const char *const masks[] = {"eq", "le", "lt", "ge", "gt"};
	for (size_t k = 0; k < COUNT(masks); k++)
		put(m, ISA_EXACT, PTX_U32, PTX_NONE, PTX_NONE, PTX_NONE, "mov.u32 d, %%lanemask_%s;", masks[k]);
	put(m, ISA_EXACT, PTX_U32, PTX_NONE, PTX_NONE, PTX_NONE,
	    "mov.u32 x, %%tid.x; mov.u32 y, %%ntid.x; mov.u32 d, %%ctaid.x; mad.lo.u32 d, d, y, x; mov.u32 x, "
	    "%%nctaid.x; "
	    "mad.lo.u32 d, d, 31, x; mov.u32 x, %%laneid; mad.lo.u32 d, d, 7, x;");
}

static void control(struct maker *m)
{
	put(m, ISA_EXACT, PTX_U32, PTX_U32, PTX_NONE, PTX_NONE,
	    "{ .reg .b32 k; and.b32 k, a, 3; mov.u32 d, 0; L: .branchtargets A, B, C, D; brx.idx k, L; A: add.u32 d, "
	    "d, 1; bra E; "
	    "B: add.u32 d, d, 20; bra E; C: add.u32 d, d, 300; D: add.u32 d, d, 4000; E: add.u32 d, d, 50000; }");
	put(m, ISA_EXACT, PTX_U32, PTX_U32, PTX_U32, PTX_NONE,
	    "{ .param .b32 i, j, o; st.param.b32 [i], a; st.param.b32 [j], b; call.uni (o), mix, (i, j); ld.param.b32 "
	    "d, "
	    "[o]; }");
	put(m, ISA_EXACT, PTX_U32, PTX_U32, PTX_NONE, PTX_NONE,
	    "{ and.b32 x, a, 15; mov.u32 d, 0; R: add.u32 d, d, x; sub.u32 x, x, 1; setp.gt.s32 q, x, 0; @q bra R; }");
	put(m, ISA_EXACT, PTX_U32, PTX_U32, PTX_U32, PTX_NONE, "mov.u32 d, a; @p mov.u32 d, b; @!p add.u32 d, d, 1;");
}

int isa_cases_open(struct isa_cases *c)
{
	struct maker m = {.c = c};
	str_init(&m.text);
	memset(c, 0, sizeof *c);
	arena_init(&c->a);
	integers(&m);
	logic(&m);
	compares(&m);
	floating(&m);
	special(&m);
	conversions(&m);
	memory(&m);
	atomics(&m);
	warps(&m);
	control(&m);
	isa_newer(&m);
	bool failed = m.failed || m.text.failed;
	str_free(&m.text);
	return failed ? -ENOMEM : 0;
}

void isa_cases_close(struct isa_cases *c)
{
	mem_free(c->list);
	arena_free(&c->a);
}

bool isa_approximate(enum isa_rule r)
{
	return r > ISA_DIVIDES;
}
