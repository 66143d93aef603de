/* One row an operation: X(op, type, ID, PTX register, kind of operands, form, instruction before and after the rounding
 * modifier, whether it takes one, needs). op and type as in the finding's key arith.<op>.<type>.
 * Forms: guarded, two predicates that are always true guard neighbouring links in turn, which a compiler could merge
 * otherwise; plain; three, with three sources; divisor, where the chain runs through the divisor: with a constant
 * divisor its reciprocal would be computed once. */
#ifndef FATHOM_ARITHMETIC_ROWS_H
#define FATHOM_ARITHMETIC_ROWS_H

/* clang-format off */
#define ARITHMETIC_ROWS(X) \
	X("add", "u32", add_u32, "u32", "int", "guarded", "add.u32", "", 0, NEED_NOTHING) \
	X("add", "s32", add_s32, "s32", "int", "guarded", "add.s32", "", 0, NEED_NOTHING) \
	X("sub", "u32", sub_u32, "u32", "int", "guarded", "sub.u32", "", 0, NEED_NOTHING) \
	X("sub", "s32", sub_s32, "s32", "int", "guarded", "sub.s32", "", 0, NEED_NOTHING) \
	X("max", "u32", max_u32, "u32", "int", "guarded", "max.u32", "", 0, NEED_NOTHING) \
	X("max", "s32", max_s32, "s32", "int", "guarded", "max.s32", "", 0, NEED_NOTHING) \
	X("min", "u32", min_u32, "u32", "int", "guarded", "min.u32", "", 0, NEED_NOTHING) \
	X("min", "s32", min_s32, "s32", "int", "guarded", "min.s32", "", 0, NEED_NOTHING) \
	X("mad", "u32", mad_u32, "u32", "int", "three", "mad.lo.u32", "", 0, NEED_NOTHING) \
	X("mad", "s32", mad_s32, "s32", "int", "three", "mad.lo.s32", "", 0, NEED_NOTHING) \
	X("mul", "u32", mul_u32, "u32", "int", "guarded", "mul.lo.u32", "", 0, NEED_NOTHING) \
	X("mul", "s32", mul_s32, "s32", "int", "guarded", "mul.lo.s32", "", 0, NEED_NOTHING) \
	X("div", "u32", div_u32, "u32", "int", "divisor", "div.u32", "", 0, NEED_NOTHING) \
	X("div", "s32", div_s32, "s32", "int", "divisor", "div.s32", "", 0, NEED_NOTHING) \
	X("rem", "u32", rem_u32, "u32", "int", "divisor", "rem.u32", "", 0, NEED_NOTHING) \
	X("rem", "s32", rem_s32, "s32", "int", "divisor", "rem.s32", "", 0, NEED_NOTHING) \
	X("and", "b32", and_b32, "b32", "int", "guarded", "and.b32", "", 0, NEED_NOTHING) \
	X("or", "b32", or_b32, "b32", "int", "guarded", "or.b32", "", 0, NEED_NOTHING) \
	X("xor", "b32", xor_b32, "b32", "int", "guarded", "xor.b32", "", 0, NEED_NOTHING) \
	X("shl", "b32", shl_b32, "b32", "shift", "plain", "shl.b32", "", 0, NEED_NOTHING) \
	X("shr", "u32", shr_u32, "u32", "shift", "guarded", "shr.u32", "", 0, NEED_NOTHING) \
	X("add", "f32", add_f32, "f32", "f32", "plain", "add.f32", "", 0, NEED_NOTHING) \
	X("sub", "f32", sub_f32, "f32", "f32", "plain", "sub.f32", "", 0, NEED_NOTHING) \
	X("max", "f32", max_f32, "f32", "f32", "guarded", "max.f32", "", 0, NEED_NOTHING) \
	X("min", "f32", min_f32, "f32", "f32", "guarded", "min.f32", "", 0, NEED_NOTHING) \
	X("mad", "f32", mad_f32, "f32", "f32", "three", "mad", ".f32", 1, NEED_NOTHING) \
	X("mul", "f32", mul_f32, "f32", "f32", "plain", "mul.f32", "", 0, NEED_NOTHING) \
	X("div", "f32", div_f32, "f32", "f32", "divisor", "div", ".f32", 1, NEED_NOTHING) \
	X("fma", "f32", fma_f32, "f32", "f32", "three", "fma.rn.f32", "", 0, NEED_FMA) \
	X("add", "f64", add_f64, "f64", "f64", "plain", "add.rn.f64", "", 0, NEED_F64) \
	X("sub", "f64", sub_f64, "f64", "f64", "plain", "sub.rn.f64", "", 0, NEED_F64) \
	X("max", "f64", max_f64, "f64", "f64", "plain", "max.f64", "", 0, NEED_F64) \
	X("min", "f64", min_f64, "f64", "f64", "plain", "min.f64", "", 0, NEED_F64) \
	X("mad", "f64", mad_f64, "f64", "f64", "three", "mad.rn.f64", "", 0, NEED_F64) \
	X("mul", "f64", mul_f64, "f64", "f64", "plain", "mul.rn.f64", "", 0, NEED_F64) \
	X("div", "f64", div_f64, "f64", "f64", "divisor", "div.rn.f64", "", 0, NEED_F64) \
	X("fma", "f64", fma_f64, "f64", "f64", "three", "fma.rn.f64", "", 0, NEED_F64) \
	X("add", "f16", add_f16, "b16", "f16", "plain", "add.f16", "", 0, NEED_F16) \
	X("mul", "f16", mul_f16, "b16", "f16", "plain", "mul.f16", "", 0, NEED_F16) \
	X("fma", "f16", fma_f16, "b16", "f16", "three", "fma.rn.f16", "", 0, NEED_F16) \
	X("add", "f16x2", add_f16x2, "b32", "f16x2", "plain", "add.f16x2", "", 0, NEED_F16) \
	X("mul", "f16x2", mul_f16x2, "b32", "f16x2", "plain", "mul.f16x2", "", 0, NEED_F16) \
	X("fma", "f16x2", fma_f16x2, "b32", "f16x2", "three", "fma.rn.f16x2", "", 0, NEED_F16)
/* clang-format on */

#endif
