/* One row an operation: X(op, type, ID, PTX register, kind of operands, form, head, tail, rounds, needs).
 *
 * The op and type are those of the finding's key arith.<op>.<type>. The instruction is head, a rounding modifier if
 * rounds is 1, and tail. Forms:
 *
 *   guarded  of two sources: two predicates that are always true guard neighbouring links in turn, which a compiler
 *            could merge otherwise
 *   unary    the same of one source
 *   inverse  the same of one source, of which every second link undoes the one before
 *   plain    of two sources
 *   three    of three sources
 *   divisor  the chain runs through the divisor, as the reciprocal of a constant divisor would be computed once */
#ifndef FATHOM_ARITHMETIC_ROWS_H
#define FATHOM_ARITHMETIC_ROWS_H
#include <stdbool.h>
#include <stdint.h>

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
	X("fma", "f16x2", fma_f16x2, "b32", "f16x2", "three", "fma.rn.f16x2", "", 0, NEED_F16) \
	X("mul24", "u32", mul24_u32, "u32", "int", "guarded", "mul24.lo.u32", "", 0, NEED_NOTHING) \
	X("mul24", "s32", mul24_s32, "s32", "int", "guarded", "mul24.lo.s32", "", 0, NEED_NOTHING) \
	X("sad", "u32", sad_u32, "u32", "int", "three", "sad.u32", "", 0, NEED_NOTHING) \
	X("sad", "s32", sad_s32, "s32", "int", "three", "sad.s32", "", 0, NEED_NOTHING) \
	X("mulhi", "u32", mulhi_u32, "u32", "int", "guarded", "mul.hi.u32", "", 0, NEED_NOTHING) \
	X("mulhi", "s32", mulhi_s32, "s32", "int", "guarded", "mul.hi.s32", "", 0, NEED_NOTHING) \
	X("divapprox", "f32", divapprox_f32, "f32", "f32", "divisor", "div.approx.ftz.f32", "", 0, NEED_NOTHING) \
	X("rcp", "f32", rcp_f32, "f32", "f32", "inverse", "rcp.approx.ftz.f32", "", 0, NEED_NOTHING) \
	X("rsqrt", "f32", rsqrt_f32, "f32", "f32", "unary", "rsqrt.approx.ftz.f32", "", 0, NEED_NOTHING) \
	X("sqrt", "f32", sqrt_f32, "f32", "f32", "unary", "sqrt.approx.ftz.f32", "", 0, NEED_NOTHING) \
	X("sin", "f32", sin_f32, "f32", "f32", "unary", "sin.approx.ftz.f32", "", 0, NEED_NOTHING) \
	X("cos", "f32", cos_f32, "f32", "f32", "unary", "cos.approx.ftz.f32", "", 0, NEED_NOTHING) \
	X("ex2", "f32", ex2_f32, "f32", "f32", "unary", "ex2.approx.ftz.f32", "", 0, NEED_NOTHING) \
	X("lg2", "f32", lg2_f32, "f32", "f32", "unary", "lg2.approx.ftz.f32", "", 0, NEED_NOTHING)
/* clang-format on */

enum arithmetic_need { NEED_NOTHING, NEED_FMA, NEED_F64, NEED_F16 };

enum arithmetic_row_id {
#define ROW_ID(op, type, ID, reg, kind, form, text, suffix, round, need) ROW_##ID,
	ARITHMETIC_ROWS(ROW_ID)
#undef ROW_ID
	    ARITHMETIC_COUNT
};

struct arithmetic_row {
	const char *op, *type, *reg, *kind, *form, *text, *suffix;
	bool round;
	enum arithmetic_need need;
};
enum { ARITHMETIC_ROUNDS = 4 }; /* of chains that begin together */
extern const struct arithmetic_row arithmetic_row[ARITHMETIC_COUNT];
/* Whether it is a function or a quotient, which are mostly done in several steps, or by a unit of their own. */
bool arithmetic_is_function(const struct arithmetic_row *r);
/* Whether a compiler packs two chains into one. */
bool arithmetic_is_single(const struct arithmetic_row *r);

struct device_info;
struct study;
struct point;
struct job;
/* Fills j with one block of so many warps, and an output of so many words. Each thread has place for `sink` bytes of
 * results, and seeds of what it computes. */
void arithmetic_block(struct job *j, const struct device_info *d, unsigned warps, unsigned words, uint64_t sink);
/* Fills j with dependent chains of the row. The links of a chain are in x, the warps in p[0], and the chains of each in
 * p[1].
 *
 * p[2]: how often each warp runs them without waiting for the others. 0: a few times, and all warps begin each time
 * together. */
int arithmetic_setup(const struct study *s, unsigned row, double x, const double *p, struct job *j);
/* Cycles from the first warp's clock read before the chains to the last one's behind them, in such a point that is OK. */
double arithmetic_span(const struct point *pt, unsigned warps);
/* When the first warp of the last of so many rounds ended, in parts of the time until the last one did; pt is OK. Much less
 * than 1: the scheduler prefers some. */
double arithmetic_evenness(const struct point *pt, unsigned warps, unsigned rounds);
/* What a chain takes, as if all came one after the other. It is told while the warp that is done first runs the later
 * part of its own.
 *
 * pt is OK. Its rounds have words as this probe's have, and no warp begins one together with others. There are at most
 * 120 rounds. All warps begin the first `skipped` ones, which do not count.
 *
 * Both results are in cycles of the SM. They are apart by what warps that were held up may have done. 0: there are no
 * chains. */
struct chain_cycles {
	double least, most;
};
struct chain_cycles arithmetic_between_ends(struct study *s, unsigned experiment, const struct point *pt,
					    unsigned warps, unsigned rounds, unsigned skipped);
/* Throughput from the ends of short chains, under two numbers of warps. Chains have `links` links, and three times as
 * many, enough to outweigh the clock reads between them. The result's lo is 0 if it is not known yet. Three times as
 * many rounds are run if `more`. Only experiments of the arithmetic probe have them. */
struct arithmetic_steady {
	double lo, hi; /* ops/clk/SM; hi is infinite where more warps do more, so that the unit may not be full */
	double all;    /* what the long chains reach with all that is between them */
};
struct arithmetic_steady arithmetic_steady(struct study *s, unsigned row, unsigned links, bool more);
/* Narrows t down by still longer chains. Between two of the shortest ones the unit may have to wait, so that those
 * three times as long seem to cost too little. The result's lo is 0 if it is not known, or if longer chains contradict
 * t. The result is t if they cannot be asked. */
struct arithmetic_steady arithmetic_steady_longer(struct study *s, unsigned row, unsigned links,
						  const struct arithmetic_steady *t);
/* As arithmetic_steady for an operation of one instruction, with so many chains a warp. Rounds are longer and fewer,
 * unless `more` are asked for. */
struct arithmetic_steady arithmetic_steady_one(struct study *s, unsigned row, unsigned chains, bool more);
bool arithmetic_supported(const struct device_info *d, enum arithmetic_need need);

#endif
