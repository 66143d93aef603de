/* The tables behind the enumerations: spellings, shapes, and what each operation accepts. */
#include "ptx/ptx_impl.h"
#include <string.h>

#define T_S(t)	(1u << PTX_##t)
#define T_INT16 (T_S(U16) | T_S(S16))
#define T_INT32 (T_S(U32) | T_S(S32))
#define T_INT64 (T_S(U64) | T_S(S64))
#define T_INT8	(T_S(U8) | T_S(S8))
#define T_INT	(T_INT16 | T_INT32 | T_INT64)
#define T_SINT	(T_S(S16) | T_S(S32) | T_S(S64))
#define T_FLOAT (T_S(F32) | T_S(F64))
#define T_HALF	(T_S(F16) | T_S(F16X2))
#define T_PAIR	(T_S(U16X2) | T_S(S16X2))
#define T_BF	(T_S(BF16) | T_S(BF16X2))
#define T_SMALL (T_S(E4M3X2) | T_S(E5M2X2) | T_S(TF32))
#define T_BITS	(T_S(B16) | T_S(B32) | T_S(B64))
#define T_MEM	(T_INT8 | T_INT | T_FLOAT | T_BITS | T_S(B8) | T_S(B128))
#define T_ATOM	(T_INT32 | T_INT64 | T_S(B16) | T_S(B32) | T_S(B64) | T_S(B128) | T_FLOAT | T_HALF | T_BF)
#define S_(s)	(1u << PTX_SUB_##s)

const struct ptx_opinfo ptx_ops[PTX_OPS] = {
#define PTX_OP(id, ...) [PTX_OP_##id] = {__VA_ARGS__},
#include "ops.def"
#undef PTX_OP
};

static const struct {
	const char *name;
	uint8_t bytes;
	char class;
	bool is_signed;
} types[PTX_TYPES] = {
    [PTX_NONE] = {"", 0, 0, false},	     [PTX_PRED] = {"pred", 0, 'p', false},
    [PTX_B8] = {"b8", 1, 'b', false},	     [PTX_B16] = {"b16", 2, 'b', false},
    [PTX_B32] = {"b32", 4, 'b', false},	     [PTX_B64] = {"b64", 8, 'b', false},
    [PTX_B128] = {"b128", 16, 'b', false},   [PTX_U8] = {"u8", 1, 'i', false},
    [PTX_U16] = {"u16", 2, 'i', false},	     [PTX_U32] = {"u32", 4, 'i', false},
    [PTX_U64] = {"u64", 8, 'i', false},	     [PTX_S8] = {"s8", 1, 'i', true},
    [PTX_S16] = {"s16", 2, 'i', true},	     [PTX_S32] = {"s32", 4, 'i', true},
    [PTX_S64] = {"s64", 8, 'i', true},	     [PTX_F16] = {"f16", 2, 'f', true},
    [PTX_F16X2] = {"f16x2", 4, 'f', true},   [PTX_F32] = {"f32", 4, 'f', true},
    [PTX_F64] = {"f64", 8, 'f', true},	     [PTX_BF16] = {"bf16", 2, 'f', true},
    [PTX_BF16X2] = {"bf16x2", 4, 'f', true}, [PTX_U16X2] = {"u16x2", 4, 'i', false},
    [PTX_S16X2] = {"s16x2", 4, 'i', true},   [PTX_E4M3X2] = {"e4m3x2", 2, 'f', true},
    [PTX_E5M2X2] = {"e5m2x2", 2, 'f', true}, [PTX_TF32] = {"tf32", 4, 'f', true},
};

const struct ptx_word ptx_words[] = {
#define TYPE(t, s)                                                                                                     \
	{                                                                                                              \
		s, M_TYPE, PTX_##t                                                                                     \
	}
    TYPE(PRED, "pred"),
    TYPE(B8, "b8"),
    TYPE(B16, "b16"),
    TYPE(B32, "b32"),
    TYPE(B64, "b64"),
    TYPE(B128, "b128"),
    TYPE(U8, "u8"),
    TYPE(U16, "u16"),
    TYPE(U32, "u32"),
    TYPE(U64, "u64"),
    TYPE(S8, "s8"),
    TYPE(S16, "s16"),
    TYPE(S32, "s32"),
    TYPE(S64, "s64"),
    TYPE(F16, "f16"),
    TYPE(F16X2, "f16x2"),
    TYPE(F32, "f32"),
    TYPE(F64, "f64"),
    TYPE(BF16, "bf16"),
    TYPE(BF16X2, "bf16x2"),
    TYPE(E4M3X2, "e4m3x2"),
    TYPE(E5M2X2, "e5m2x2"),
    TYPE(TF32, "tf32"),
    TYPE(U16X2, "u16x2"),
    TYPE(S16X2, "s16x2"),
    {"rn", M_RND, PTX_RN},
    {"rz", M_RND, PTX_RZ},
    {"rm", M_RND, PTX_RM},
    {"rp", M_RND, PTX_RP},
    {"rna", M_RND, PTX_RNA},
    {"rni", M_RNDI, PTX_RNI},
    {"rzi", M_RNDI, PTX_RZI},
    {"rmi", M_RNDI, PTX_RMI},
    {"rpi", M_RNDI, PTX_RPI},
    {"ftz", M_FTZ, PTX_FTZ},
    {"noftz", M_NOFTZ, PTX_NOFTZ},
    {"sat", M_SAT, PTX_SAT},
    {"satfinite", M_SAT, PTX_SATFINITE},
    {"aligned", M_HINT, 0},
    {"cc", M_CC, PTX_CC_OUT},
    {"lo", M_PART, PTX_LO_PART},
    {"hi", M_PART, PTX_HI_PART},
    {"wide", M_WIDE, PTX_WIDE},
    {"approx", M_APPROX, PTX_APPROX},
    {"full", M_FULL, PTX_FULL},
    {"NaN", M_NAN, PTX_NAN_OUT},
    {"relu", M_RELU, PTX_RELU},
    {"shiftamt", M_OWN, PTX_SHIFTAMT},
    {"xorsign.abs", M_OWN, PTX_XORSIGN_ABS},
    {"oob", M_OWN, PTX_OOB},
    {"eq", M_CMP, PTX_EQ},
    {"ne", M_CMP, PTX_NE},
    {"lt", M_CMP, PTX_LT},
    {"le", M_CMP, PTX_LE},
    {"gt", M_CMP, PTX_GT},
    {"ge", M_CMP, PTX_GE},
    {"lo", M_CMP, PTX_LO},
    {"ls", M_CMP, PTX_LS},
    {"hi", M_CMP, PTX_HI},
    {"hs", M_CMP, PTX_HS},
    {"equ", M_CMP, PTX_EQU},
    {"neu", M_CMP, PTX_NEU},
    {"ltu", M_CMP, PTX_LTU},
    {"leu", M_CMP, PTX_LEU},
    {"gtu", M_CMP, PTX_GTU},
    {"geu", M_CMP, PTX_GEU},
    {"num", M_CMP, PTX_NUM},
    {"nan", M_CMP, PTX_NAN},
    {"and", M_BOOL, PTX_BOOL_AND},
    {"or", M_BOOL, PTX_BOOL_OR},
    {"xor", M_BOOL, PTX_BOOL_XOR},
    {"param", M_SPACE, PTX_PARAM},
    {"const", M_SPACE, PTX_CONST},
    {"global", M_SPACE, PTX_GLOBAL},
    {"shared", M_SPACE, PTX_SHARED},
    {"local", M_SPACE, PTX_LOCAL},
    {"shared::cta", M_SPACE, PTX_SHARED},
    {"param::entry", M_SPACE, PTX_PARAM},
    {"param::func", M_SPACE, PTX_PARAM},
    {"shared::cluster", M_SPACE, PTX_SHARED},
    {"ca", M_CACHE, PTX_CA},
    {"cg", M_CACHE, PTX_CG},
    {"cs", M_CACHE, PTX_CS},
    {"lu", M_CACHE, PTX_LU},
    {"cv", M_CACHE, PTX_CV},
    {"wb", M_CACHE, PTX_WB},
    {"wt", M_CACHE, PTX_WT},
    {"nc", M_CACHE, PTX_NC},
    {"volatile", M_VOL, PTX_VOLATILE},
    {"v2", M_VEC, 2},
    {"v4", M_VEC, 4},
    {"v8", M_VEC, 8},
    {"relaxed", M_SEM, PTX_RELAXED},
    {"acquire", M_SEM, PTX_ACQUIRE},
    {"release", M_SEM, PTX_RELEASE},
    {"acq_rel", M_SEM, PTX_ACQ_REL},
    {"weak", M_SEM, PTX_WEAK},
    {"sc", M_SEM, PTX_SC},
    {"cta", M_SCOPE, PTX_SCOPE_CTA},
    {"gpu", M_SCOPE, PTX_SCOPE_GPU},
    {"cluster", M_SCOPE, PTX_SCOPE_GPU},
    {"sys", M_SCOPE, PTX_SCOPE_SYS},
    {"and", M_ATOM, PTX_ATOM_AND},
    {"or", M_ATOM, PTX_ATOM_OR},
    {"xor", M_ATOM, PTX_ATOM_XOR},
    {"add", M_ATOM, PTX_ATOM_ADD},
    {"inc", M_ATOM, PTX_ATOM_INC},
    {"dec", M_ATOM, PTX_ATOM_DEC},
    {"min", M_ATOM, PTX_ATOM_MIN},
    {"max", M_ATOM, PTX_ATOM_MAX},
    {"exch", M_ATOM, PTX_ATOM_EXCH},
    {"cas", M_ATOM, PTX_ATOM_CAS},
    {"L1::evict_normal", M_HINT, 0},
    {"L1::evict_unchanged", M_HINT, 0},
    {"L1::evict_first", M_HINT, 0},
    {"L1::evict_last", M_HINT, 0},
    {"L1::no_allocate", M_HINT, 0},
    {"L2::evict_normal", M_HINT, 0},
    {"L2::evict_first", M_HINT, 0},
    {"L2::evict_last", M_HINT, 0},
    {"L2::64B", M_HINT, 0},
    {"mmio", M_HINT, 0},
    {"L2::128B", M_HINT, 0},
    {"L2::256B", M_HINT, 0},
    {"L2::cache_hint", M_HINT, PTX_POLICY},
    {"sync_restrict::shared::cta", M_HINT, 0},
    {"sync_restrict::shared::cluster", M_HINT, 0},
    {"to", M_TO, PTX_TO},
    {"sync", M_SYNC, PTX_SYNC},
    {"uni", M_UNI, PTX_UNI},
#define SUB(s, text)                                                                                                   \
	{                                                                                                              \
		text, M_SUB, PTX_SUB_##s                                                                               \
	}
    SUB(ALL, "all"),
    SUB(ANY, "any"),
    SUB(UNI, "uni"),
    SUB(BALLOT, "ballot"),
    SUB(UP, "up"),
    SUB(DOWN, "down"),
    SUB(BFLY, "bfly"),
    SUB(IDX, "idx"),
    SUB(L_CLAMP, "l.clamp"),
    SUB(L_WRAP, "l.wrap"),
    SUB(R_CLAMP, "r.clamp"),
    SUB(R_WRAP, "r.wrap"),
    SUB(F4E, "f4e"),
    SUB(B4E, "b4e"),
    SUB(RC8, "rc8"),
    SUB(ECL, "ecl"),
    SUB(ECR, "ecr"),
    SUB(RC16, "rc16"),
    SUB(CTA, "cta"),
    SUB(GL, "gl"),
    SUB(SYS, "sys"),
    SUB(L1, "L1"),
    SUB(L2, "L2"),
    SUB(L2, "L2::evict_last"),
    SUB(L2, "L2::evict_normal"),
    SUB(FINITE, "finite"),
    SUB(INFINITE, "infinite"),
    SUB(NUMBER, "number"),
    SUB(NOTANUMBER, "notanumber"),
    SUB(NORMAL, "normal"),
    SUB(SUBNORMAL, "subnormal"),
    SUB(CLUSTER, "shared::cluster"),
};
const size_t ptx_word_count = sizeof ptx_words / sizeof *ptx_words;

const char *ptx_word_of(uint32_t class, uint32_t value)
{
	for (size_t i = 0; i < ptx_word_count; i++)
		if (ptx_words[i].class == class && ptx_words[i].value == value)
			return ptx_words[i].word;
	return "";
}

const char *ptx_class_name(uint32_t class)
{
	switch (class) {
	case M_RND:
		return "a rounding mode (.rn .rz .rm .rp)";
	case M_RNDI:
		return "an integer rounding mode (.rni .rzi .rmi .rpi)";
	case M_PART:
		return ".lo or .hi";
	case M_CMP:
		return "a comparison (.eq .ne .lt .le .gt .ge ...)";
	case M_BOOL:
		return "a boolean operator (.and .or .xor)";
	case M_TYPE:
		return "a type";
	case M_TYPE2:
		return "a second type";
	case M_SPACE:
		return "a state space (.global .shared .const .local .param)";
	case M_CACHE:
		return "a cache operator";
	case M_VEC:
		return "a vector width (.v2 .v4)";
	case M_SEM:
		return "a memory order (.relaxed .acquire .release .acq_rel .sc)";
	case M_SCOPE:
		return "a scope (.cta .gpu .sys)";
	case M_ATOM:
		return "an atomic operation (.add .exch .cas ...)";
	case M_SYNC:
		return ".sync";
	case M_SUB:
		return "a shape";
	default:
		return "a modifier";
	}
}

const char *ptx_sub_text(enum ptx_sub sub)
{
	return ptx_word_of(M_SUB, sub);
}

bool ptx_cvt_pairs(const struct ptx_inst *in)
{
	bool pair = in->type == PTX_F16X2 || in->type == PTX_BF16X2 || in->type == PTX_E4M3X2 || in->type == PTX_E5M2X2;
	return pair && in->type2 == PTX_F32;
}

bool ptx_writes_first(enum ptx_op o)
{
	return ptx_ops[o].shape[0] && strchr("dDtePQBVz", ptx_ops[o].shape[0]);
}

unsigned ptx_type_bytes(enum ptx_type t)
{
	return types[t].bytes;
}

const char *ptx_type_name(enum ptx_type t)
{
	return types[t].name;
}

char ptx_type_class(enum ptx_type t)
{
	return types[t].class;
}

bool ptx_type_signed(enum ptx_type t)
{
	return types[t].is_signed;
}

const char *ptx_op_name(enum ptx_op o)
{
	return ptx_ops[o].name;
}

static const struct {
	const char *name;
	enum ptx_type type;
} sregs[PTX_SREGS] = {
#define PTX_SREG(id, spelling, t) [PTX_SREG_##id] = {spelling, t},
#include "sregs.def"
#undef PTX_SREG
};

const char *ptx_sreg_name(enum ptx_sreg r)
{
	return sregs[r].name;
}

enum ptx_type ptx_sreg_type(enum ptx_sreg r)
{
	return sregs[r].type;
}
