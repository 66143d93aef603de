/* One row an operation: X(op, type, ID, PTX register, kind of operands, store type, even link, odd link, needs)
 * op and type as in the finding's key arith.<op>.<type>; a link is one PTX instruction that reads and writes %a.
 * Where a compiler could merge two neighbouring links, two predicates that are always true guard them in turn.
 * Division and remainder run through the divisor: with a constant divisor its reciprocal would be computed once. */
#define GUARDED(X, op, type, ID, reg, kind, store, text, needs) \
	X(op, type, ID, reg, kind, store, "@%p1 " text " %a, %a, %b;", "@%p2 " text " %a, %a, %c;", needs)
#define PLAIN(X, op, type, ID, reg, kind, store, text, needs) \
	X(op, type, ID, reg, kind, store, text " %a, %a, %b;", text " %a, %a, %c;", needs)
#define THREE(X, op, type, ID, reg, kind, store, text, needs) \
	X(op, type, ID, reg, kind, store, text " %a, %a, %b, %c;", text " %a, %a, %c, %b;", needs)
#define DIVISOR(X, op, type, ID, reg, kind, store, text, needs) \
	X(op, type, ID, reg, kind, store, text " %a, %b, %a;", text " %a, %c, %a;", needs)

#define ARITHMETIC_ROWS(X) \
	GUARDED(X, "add", "u32", add_u32, "u32", "int", "u32", "add.u32", NEED_NOTHING) \
	GUARDED(X, "add", "s32", add_s32, "s32", "int", "u32", "add.s32", NEED_NOTHING) \
	GUARDED(X, "sub", "u32", sub_u32, "u32", "int", "u32", "sub.u32", NEED_NOTHING) \
	GUARDED(X, "sub", "s32", sub_s32, "s32", "int", "u32", "sub.s32", NEED_NOTHING) \
	GUARDED(X, "max", "u32", max_u32, "u32", "int", "u32", "max.u32", NEED_NOTHING) \
	GUARDED(X, "max", "s32", max_s32, "s32", "int", "u32", "max.s32", NEED_NOTHING) \
	GUARDED(X, "min", "u32", min_u32, "u32", "int", "u32", "min.u32", NEED_NOTHING) \
	GUARDED(X, "min", "s32", min_s32, "s32", "int", "u32", "min.s32", NEED_NOTHING) \
	THREE(X, "mad", "u32", mad_u32, "u32", "int", "u32", "mad.lo.u32", NEED_NOTHING) \
	THREE(X, "mad", "s32", mad_s32, "s32", "int", "u32", "mad.lo.s32", NEED_NOTHING) \
	PLAIN(X, "mul", "u32", mul_u32, "u32", "int", "u32", "mul.lo.u32", NEED_NOTHING) \
	PLAIN(X, "mul", "s32", mul_s32, "s32", "int", "u32", "mul.lo.s32", NEED_NOTHING) \
	DIVISOR(X, "div", "u32", div_u32, "u32", "int", "u32", "div.u32", NEED_NOTHING) \
	DIVISOR(X, "div", "s32", div_s32, "s32", "int", "u32", "div.s32", NEED_NOTHING) \
	DIVISOR(X, "rem", "u32", rem_u32, "u32", "int", "u32", "rem.u32", NEED_NOTHING) \
	DIVISOR(X, "rem", "s32", rem_s32, "s32", "int", "u32", "rem.s32", NEED_NOTHING) \
	GUARDED(X, "and", "b32", and_b32, "b32", "int", "b32", "and.b32", NEED_NOTHING) \
	GUARDED(X, "or", "b32", or_b32, "b32", "int", "b32", "or.b32", NEED_NOTHING) \
	GUARDED(X, "xor", "b32", xor_b32, "b32", "int", "b32", "xor.b32", NEED_NOTHING) \
	GUARDED(X, "shl", "b32", shl_b32, "b32", "shift", "b32", "shl.b32", NEED_NOTHING) \
	GUARDED(X, "shr", "u32", shr_u32, "u32", "shift", "u32", "shr.u32", NEED_NOTHING) \
	PLAIN(X, "add", "f32", add_f32, "f32", "f32", "f32", "add.f32", NEED_NOTHING) \
	PLAIN(X, "sub", "f32", sub_f32, "f32", "f32", "f32", "sub.f32", NEED_NOTHING) \
	GUARDED(X, "max", "f32", max_f32, "f32", "f32", "f32", "max.f32", NEED_NOTHING) \
	GUARDED(X, "min", "f32", min_f32, "f32", "f32", "f32", "min.f32", NEED_NOTHING) \
	THREE(X, "mad", "f32", mad_f32, "f32", "f32", "f32", "mad${RN}.f32", NEED_NOTHING) \
	PLAIN(X, "mul", "f32", mul_f32, "f32", "f32", "f32", "mul.f32", NEED_NOTHING) \
	DIVISOR(X, "div", "f32", div_f32, "f32", "f32", "f32", "div${RN}.f32", NEED_NOTHING) \
	THREE(X, "fma", "f32", fma_f32, "f32", "f32", "f32", "fma.rn.f32", NEED_FMA) \
	PLAIN(X, "add", "f64", add_f64, "f64", "f64", "f64", "add.rn.f64", NEED_F64) \
	PLAIN(X, "sub", "f64", sub_f64, "f64", "f64", "f64", "sub.rn.f64", NEED_F64) \
	PLAIN(X, "max", "f64", max_f64, "f64", "f64", "f64", "max.f64", NEED_F64) \
	PLAIN(X, "min", "f64", min_f64, "f64", "f64", "f64", "min.f64", NEED_F64) \
	THREE(X, "mad", "f64", mad_f64, "f64", "f64", "f64", "mad.rn.f64", NEED_F64) \
	PLAIN(X, "mul", "f64", mul_f64, "f64", "f64", "f64", "mul.rn.f64", NEED_F64) \
	DIVISOR(X, "div", "f64", div_f64, "f64", "f64", "f64", "div.rn.f64", NEED_F64) \
	THREE(X, "fma", "f64", fma_f64, "f64", "f64", "f64", "fma.rn.f64", NEED_F64) \
	PLAIN(X, "add", "f16", add_f16, "b16", "f16", "b16", "add.f16", NEED_F16) \
	PLAIN(X, "mul", "f16", mul_f16, "b16", "f16", "b16", "mul.f16", NEED_F16) \
	THREE(X, "fma", "f16", fma_f16, "b16", "f16", "b16", "fma.rn.f16", NEED_F16) \
	PLAIN(X, "add", "f16x2", add_f16x2, "b32", "f16x2", "b32", "add.f16x2", NEED_F16) \
	PLAIN(X, "mul", "f16x2", mul_f16x2, "b32", "f16x2", "b32", "mul.f16x2", NEED_F16) \
	THREE(X, "fma", "f16x2", fma_f16x2, "b32", "f16x2", "b32", "fma.rn.f16x2", NEED_F16)
