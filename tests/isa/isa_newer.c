/* The list of cases goes on: newer GPUs' operations, and what is wider than a register. */
#include "isa_maker.h"

/* What came with sm_86 to sm_90. */
static void extras(struct maker *m)
{
	static const char *const extras[] = {"", ".ftz", ".NaN", ".ftz.NaN"}, *const order[] = {"min", "max"};
	static const char *const saturated[] = {"rn.satfinite", "rz.satfinite", "rn.relu.satfinite",
						"rz.relu.satfinite"};
	static const enum ptx_type ordered[] = {PTX_F32, PTX_F16, PTX_F16X2};
	for (size_t t = 0; t < COUNT(ordered); t++)
		for (size_t x = 0; x < COUNT(extras); x++)
			for (size_t k = 0; k < COUNT(order); k++)
				put(m, ISA_EXACT, ordered[t], ordered[t], ordered[t], PTX_NONE,
				    "%s%s.xorsign.abs.%s d, a, b;", order[k], extras[x], N(ordered[t]));
	for (size_t x = 0; x < 2; x++)
		for (size_t k = 0; k < COUNT(order); k++)
			put(m, ISA_EXACT, PTX_B32, PTX_F32, PTX_F32, PTX_NONE,
			    "{ .reg .b32 k, l; mov.b32 k, a; mov.b32 l, b; %s%s.xorsign.abs.bf16x2 d, k, l; }",
			    order[k], extras[2 * x]);
	/* What a tensor's copy puts outside of it. */
	for (size_t k = 0; k < 3; k++)
		for (size_t x = 0; x < 2; x++) {
			static const char *const with[] = {"k, b, c", "a, k, c", "a, b, k"};
			put(m, ISA_EXACT, PTX_F16X2, PTX_F16X2, PTX_F16X2, PTX_F16X2,
			    "{ .reg .b32 k; selp.b32 k, 0x7ff73c00, 0x40007ff7, p; fma.rn.oob%s.f16x2 d, %s; }",
			    x ? ".relu" : "", with[k]);
			put(m, ISA_EXACT, PTX_B32, PTX_F32, PTX_F32, PTX_F32,
			    "{ .reg .b32 k, l, o, n; mov.b32 k, a; mov.b32 l, b; mov.b32 o, c; selp.b32 n, 0x7ff73f80, "
			    "0x40007ff7, p; fma.rn.oob%s.bf16x2 d, %s; }",
			    x ? ".relu" : "",
			    k == 0   ? "n, l, o"
			    : k == 1 ? "k, n, o"
				     : "k, l, n");
		}
	for (size_t k = 0; k < COUNT(saturated); k++) {
		put(m, ISA_EXACT, PTX_F16X2, PTX_F32, PTX_F32, PTX_NONE, "cvt.%s.f16x2.f32 d, a, b;", saturated[k]);
		put(m, ISA_EXACT, PTX_B32, PTX_F32, PTX_F32, PTX_NONE, "cvt.%s.bf16x2.f32 d, a, b;", saturated[k]);
		put(m, ISA_EXACT, PTX_F16, PTX_F32, PTX_NONE, PTX_NONE, "cvt.%s.f16.f32 d, a;", saturated[k]);
	}
	put(m, ISA_EXACT, PTX_B32, PTX_F32, PTX_NONE, PTX_NONE, "cvt.rna.satfinite.tf32.f32 d, a;");
	put(m, ISA_EXACT, PTX_B32, PTX_F32, PTX_NONE, PTX_NONE, "cvt.rz.relu.tf32.f32 d, a;");
	for (size_t k = 0; k < 2; k++) {
		const char *op = k ? "and" : "or";
		put(m, ISA_EXACT, PTX_B32, PTX_B32, PTX_B32, PTX_B32,
		    "lop3.%s.b32 x|q, a, b, c, 0x1b, p; selp.b32 d, x, 7, q;", op);
		put(m, ISA_EXACT, PTX_PRED, PTX_B32, PTX_B32, PTX_B32, "lop3.%s.b32 _|d, a, b, c, 0x80, p;", op);
		put(m, ISA_EXACT, PTX_B32, PTX_F32, PTX_F32, PTX_NONE,
		    "{ .reg .b32 k, l; mov.b32 k, a; mov.b32 l, b; set.%s.u32.bf16x2 d, k, l; }", k ? "gt" : "leu");
		put(m, ISA_EXACT, PTX_B32, PTX_F32, PTX_F32, PTX_NONE,
		    "{ .reg .b32 k, l; mov.b32 k, a; mov.b32 l, b; set.%s.bf16x2.bf16x2 d, k, l; }", k ? "ne" : "ge");
	}
}

/* Parts of video instructions, 128 bits, vectors of atomics, what barriers wait for. */
static void wide(struct maker *m)
{
	static const char *const pairs[] = {"d, a.h10, b.h32, c", "d, a.h31, b.h02, c", "d.h1, a.h33, b.h10, c",
					    "d.h0, a, b.h11, c"},
				 *const bytes[] = {"d, a.b7531, b.b0246, c", "d.b30, a, b.b3210, c",
						   "d.b2, a.b4444, b, c", "d.b210, a.b0123, b.b7654, c"},
				 *const ops[] = {"vadd", "vsub", "vavrg", "vabsdiff", "vmin", "vmax"},
				 *const ends[] = {"s32.s32.s32", "u32.u32.u32.add", "s32.u32.s32.sat"},
				 *const products[] = {"s32.s32.s32 d, -a.h1, b.h0, c",
						      "s32.s32.s32.sat.shr7 d, a.b1, b.h0, -c",
						      "s32.u32.s32.shr15 d, a.h0, -b.h1, c",
						      "u32.u32.u32.po d, a.b3, b.b0, c",
						      "s32.s32.s32 d, -a.b0, -b.b3, c"},
				 *const packs[] = {"u4", "s4", "u2", "s2"}, *const order[] = {"min", "max", "add"};
	for (size_t o = 0; o < COUNT(ops); o++)
		for (size_t e = 0; e < COUNT(ends); e++)
			for (size_t k = 0; k < COUNT(pairs); k++) {
				put(m, ISA_EXACT, PTX_B32, PTX_B32, PTX_B32, PTX_B32, "mov.b32 d, 0; %s2.%s %s;",
				    ops[o], ends[e], pairs[k]);
				put(m, ISA_EXACT, PTX_B32, PTX_B32, PTX_B32, PTX_B32, "mov.b32 d, 0; %s4.%s %s;",
				    ops[o], ends[e], bytes[k]);
			}
	for (size_t k = 0; k < COUNT(products); k++)
		put(m, ISA_EXACT, PTX_B32, PTX_B32, PTX_B32, PTX_B32, "vmad.%s;", products[k]);
	for (size_t k = 0; k < COUNT(packs); k++)
		put(m, ISA_EXACT, PTX_B32, PTX_S32, PTX_S32, PTX_B32, "cvt.pack.sat.%s.s32.b32 d, a, b, c;", packs[k]);
	put(m, ISA_EXACT, PTX_B64, PTX_B64, PTX_B64, PTX_NONE,
	    "{ .reg .b128 l, k; mov.b128 l, {a, b}; st.global.b128 [cell], l; ld.global.b128 k, [cell]; mov.b128 {w, "
	    "d}, k; sub.u64 d, d, w; }");
	put(m, ISA_EXACT, PTX_B64, PTX_B64, PTX_B64, PTX_NONE,
	    "{ .reg .b128 l, k; st.global.v2.b64 [cell], {a, b}; mov.b128 l, {b, b}; atom.global.exch.b128 k, [cell], "
	    "l; mov.b128 {w, v}, k; "
	    "ld.global.b64 d, [cell]; sub.u64 d, d, v; sub.u64 d, d, w; }");
	put(m, ISA_EXACT, PTX_B64, PTX_B64, PTX_B64, PTX_NONE,
	    "{ .reg .b128 l, k; st.shared.v2.b64 [spot], {a, b}; mov.b128 l, {a, b}; mov.b128 k, {b, a}; "
	    "atom.shared.cas.b128 l, [spot], l, k; "
	    "mov.b128 {w, v}, l; ld.shared.b64 d, [spot]; sub.u64 d, d, v; sub.u64 d, d, w; }");
	put(m, ISA_EXACT, PTX_F32, PTX_F32, PTX_F32, PTX_F32,
	    "st.global.v2.f32 [cell], {a, b}; atom.global.v2.f32.add {_, d}, [cell], {b, c}; ld.global.f32 d, "
	    "[cell+4];");
	put(m, ISA_EXACT, PTX_F32, PTX_F32, PTX_F32, PTX_F32,
	    "st.global.v4.f32 [cell], {a, b, c, a}; atom.global.v4.f32.add {_, _, d, _}, [cell], {b, c, a, b};");
	for (size_t k = 0; k < COUNT(order); k++) {
		put(m, ISA_EXACT, PTX_F16X2, PTX_F16X2, PTX_F16X2, PTX_NONE,
		    "st.global.v2.b32 [cell], {b, a}; red.global.v2.f16x2.%s.noftz [cell], {b, b}; ld.global.b32 d, "
		    "[cell+4];",
		    order[k]);
		put(m, ISA_EXACT, PTX_F16X2, PTX_F16X2, PTX_F16X2, PTX_NONE,
		    "{ .reg .b16 k, l; mov.b32 {k, l}, b; st.global.v4.b32 [cell], {a, a, a, a}; "
		    "red.global.v8.f16.%s.noftz [cell], "
		    "{k, l, k, l, k, l, k, l}; ld.global.b32 d, [cell+12]; }",
		    order[k]);
		put(m, ISA_EXACT, PTX_B32, PTX_F32, PTX_F32, PTX_NONE,
		    "{ .reg .b32 k; st.global.v2.f32 [cell], {b, a}; mov.b32 k, b; atom.global.v2.bf16x2.%s.noftz {x, "
		    "y}, [cell], {k, k}; "
		    "ld.global.b32 d, [cell+4]; }",
		    order[k]);
	}
	put(m, ISA_EXACT, PTX_PRED, PTX_NONE, PTX_NONE, PTX_NONE,
	    "cvt.u64.u32 w, spot; cvta.shared.u64 w, w; isspacep.shared::cta d, w;");
	put(m, ISA_EXACT, PTX_PRED, PTX_NONE, PTX_NONE, PTX_NONE,
	    "cvt.u64.u32 w, spot; cvta.shared.u64 w, w; isspacep.shared::cluster d, w;");
	put(m, ISA_EXACT, PTX_PRED, PTX_NONE, PTX_NONE, PTX_NONE,
	    "cvt.u64.u32 w, spot; cvta.shared.u64 w, w; mapa.u64 w, w, 0; isspacep.shared::cta d, w;");
	put(m, ISA_EXACT, PTX_U32, PTX_NONE, PTX_NONE, PTX_NONE,
	    "mbarrier.init.shared.b64 [spot], 5; mbarrier.arrive.shared.b64 w, [spot]; mbarrier.arrive.shared.b64 w, "
	    "[spot]; "
	    "mbarrier.pending_count.b64 d, w; mbarrier.inval.shared.b64 [spot];");
	put(m, ISA_EXACT, PTX_U32, PTX_U32, PTX_NONE, PTX_NONE,
	    "st.global.b32 [cell], a; cp.async.ca.shared.global [spot], [cell], 4, p; cp.async.wait_all; ld.shared.u32 "
	    "d, [spot];");
	put(m, ISA_EXACT, PTX_U32, PTX_U32, PTX_NONE, PTX_NONE,
	    "{ .reg .u32 %%clock; add.u32 %%clock, a, 1; mov.u32 d, %%clock; }");
}

void isa_newer(struct maker *m)
{
	extras(m);
	wide(m);
}
