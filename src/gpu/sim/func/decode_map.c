/* Which elementwise handler does an operation on a type. */
#include "decode.h"

struct row {
	uint16_t op, type;
	uint32_t mods;
	uint16_t exec;
};

#define R(OP, T, mods, name)                                                                                           \
	{                                                                                                              \
		PTX_OP_##OP, PTX_##T, mods, EXEC_##name                                                                \
	}
/* Integers whose sign does not matter, and those whose does. */
#define ANY_SIGN(OP, mods, name)                                                                                       \
	R(OP, U16, mods, name##_u16), R(OP, S16, mods, name##_u16), R(OP, U32, mods, name##_u32),                      \
	    R(OP, S32, mods, name##_u32), R(OP, U64, mods, name##_u64), R(OP, S64, mods, name##_u64)
#define BY_SIGN(OP, mods, name)                                                                                        \
	R(OP, U16, mods, name##_u16), R(OP, S16, mods, name##_s16), R(OP, U32, mods, name##_u32),                      \
	    R(OP, S32, mods, name##_s32), R(OP, U64, mods, name##_u64), R(OP, S64, mods, name##_s64)
#define WIDE(OP, name)                                                                                                 \
	R(OP, U16, PTX_WIDE, name##_u16), R(OP, S16, PTX_WIDE, name##_s16), R(OP, U32, PTX_WIDE, name##_u32),          \
	    R(OP, S32, PTX_WIDE, name##_s32)
#define SIGNED(OP, name)                                                                                               \
	R(OP, S16, 0, name##_s16), R(OP, S32, 0, name##_s32), R(OP, S64, 0, name##_s64), R(OP, F32, 0, name##_f32),    \
	    R(OP, F64, 0, name##_f64)
#define FLOAT(OP, name)		      R(OP, F32, 0, name##_f32), R(OP, F32, PTX_FTZ, name##_ftz_f32), R(OP, F64, 0, name##_f64)
#define BITS(OP, name, n16, n32, n64) R(OP, B16, 0, name##n16), R(OP, B32, 0, name##n32), R(OP, B64, 0, name##n64)
#define PARTS24(OP, name)                                                                                              \
	R(OP, U32, PTX_LO_PART, name##_lo_u32), R(OP, S32, PTX_LO_PART, name##_lo_s32),                                \
	    R(OP, U32, PTX_HI_PART, name##_hi_u32), R(OP, S32, PTX_HI_PART, name##_hi_s32)

static const struct row rows[] = {
    ANY_SIGN(ADD, 0, add),
    FLOAT(ADD, add),
    R(ADD, S32, PTX_SAT, add_sat_s32),
    ANY_SIGN(SUB, 0, sub),
    FLOAT(SUB, sub),
    R(SUB, S32, PTX_SAT, sub_sat_s32),
    ANY_SIGN(MUL, PTX_LO_PART, mul_lo),
    BY_SIGN(MUL, PTX_HI_PART, mul_hi),
    WIDE(MUL, mul_wide),
    FLOAT(MUL, mul),
    ANY_SIGN(MAD, PTX_LO_PART, mad_lo),
    BY_SIGN(MAD, PTX_HI_PART, mad_hi),
    WIDE(MAD, mad_wide),
    R(MAD, S32, PTX_HI_PART | PTX_SAT, mad_hi_sat_s32),
    FLOAT(MAD, fma),
    FLOAT(FMA, fma),
    PARTS24(MUL24, mul24),
    PARTS24(MAD24, mad24),
    R(MAD24, S32, PTX_HI_PART | PTX_SAT, mad24_hi_sat_s32),
    BY_SIGN(DIV, 0, div),
    FLOAT(DIV, div),
    BY_SIGN(REM, 0, rem),
    BY_SIGN(SAD, 0, sad),
    SIGNED(ABS, abs),
    SIGNED(NEG, neg),
    BY_SIGN(MIN, 0, min),
    FLOAT(MIN, min),
    BY_SIGN(MAX, 0, max),
    FLOAT(MAX, max),
    R(ADD, F16, 0, add_f16),
    R(ADD, F16X2, 0, add_f16x2),
    R(SUB, F16, 0, sub_f16),
    R(SUB, F16X2, 0, sub_f16x2),
    R(MUL, F16, 0, mul_f16),
    R(MUL, F16X2, 0, mul_f16x2),
    R(FMA, F16, 0, fma_f16),
    R(FMA, F16X2, 0, fma_f16x2),
    R(RCP, F32, 0, rcp_f32),
    R(RCP, F32, PTX_FTZ, rcp_ftz_f32),
    R(RCP, F64, 0, rcp_f64),
    R(SQRT, F32, 0, sqrt_f32),
    R(SQRT, F32, PTX_FTZ, sqrt_ftz_f32),
    R(SQRT, F64, 0, sqrt_f64),
    R(RSQRT, F64, 0, rsqrt_f64),
    BITS(AND, and, _32, _32, _64),
    BITS(OR, or, _32, _32, _64),
    BITS(XOR, xor, _32, _32, _64),
    BITS(NOT, not, _16, _32, _64),
    BITS(CNOT, cnot, _16, _32, _64),
    BITS(SHL, shl, _16, _32, _64),
    BITS(SHR, shr, _u16, _u32, _u64),
    BY_SIGN(SHR, 0, shr),
    R(POPC, B32, 0, popc_32),
    R(POPC, B64, 0, popc_64),
    R(CLZ, B32, 0, clz_32),
    R(CLZ, B64, 0, clz_64),
    R(BREV, B32, 0, brev_32),
    R(BREV, B64, 0, brev_64),
};

int decode_plain(enum ptx_op op, enum ptx_type type, uint32_t mods)
{
	for (size_t k = 0; k < sizeof rows / sizeof *rows; k++)
		if (rows[k].op == op && rows[k].type == type && rows[k].mods == mods)
			return rows[k].exec;
	return -1;
}

#define C(CMP, T, name) [PTX_##CMP][PTX_##T] = EXEC_##name
#define ORDER(CMP, name)                                                                                               \
	C(CMP, U16, name##_u16), C(CMP, S16, name##_s16), C(CMP, U32, name##_u32), C(CMP, S32, name##_s32),            \
	    C(CMP, U64, name##_u64), C(CMP, S64, name##_s64), C(CMP, F32, name##_f32), C(CMP, F64, name##_f64)
#define SAME(CMP, name)                                                                                                \
	C(CMP, U16, name##_16), C(CMP, S16, name##_16), C(CMP, B16, name##_16), C(CMP, U32, name##_32),                \
	    C(CMP, S32, name##_32), C(CMP, B32, name##_32), C(CMP, U64, name##_64), C(CMP, S64, name##_64),            \
	    C(CMP, B64, name##_64), C(CMP, F32, name##_f32), C(CMP, F64, name##_f64)
#define UNSIGNED(CMP, name) C(CMP, U16, name##_u16), C(CMP, U32, name##_u32), C(CMP, U64, name##_u64)

static const uint16_t compares[PTX_CMPS][PTX_TYPES] = {
    SAME(EQ, eq),  SAME(NE, ne),     ORDER(LT, lt),    ORDER(LE, le),	 ORDER(GT, gt),
    ORDER(GE, ge), UNSIGNED(LO, lt), UNSIGNED(LS, le), UNSIGNED(HI, gt), UNSIGNED(HS, ge),
};

int decode_compare(enum ptx_cmp cmp, enum ptx_type type)
{
	return compares[cmp][type] ? compares[cmp][type] : -1;
}
