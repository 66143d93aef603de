/* Whether the modifiers of an instruction go together, and with its types. */
#include "ptx/ptx_impl.h"
#include <stdio.h>
#include <string.h>

static int mod_error(struct ptx_parser *p, const struct ptx_inst *in, const char *what)
{
	return ptx_fail(p, in->line, in->column, "%s.%s %s", ptx_op_name(in->op),
			ptx_type_name((enum ptx_type)in->type), what);
}

static int check_cmp(struct ptx_parser *p, const struct ptx_inst *in)
{
	enum ptx_type t = (enum ptx_type)in->type;
	char what[80];
	bool ok = true;
	if (in->cmp >= PTX_EQU)
		ok = ptx_is_float(t);
	else if (in->cmp >= PTX_LO)
		ok = ptx_type_class(t) == 'i' && !ptx_type_signed(t);
	else if (in->cmp >= PTX_LT)
		ok = ptx_type_class(t) != 'b';
	if (ok)
		return 0;
	snprintf(what, sizeof what, "cannot compare by .%s", ptx_word_of(M_CMP, in->cmp));
	return mod_error(p, in, what);
}

/* Halves have results of their own, and pairs of them only these. */
static int check_set(struct ptx_parser *p, const struct ptx_inst *in)
{
	bool pair = in->type == PTX_F16X2 || in->type == PTX_BF16X2,
	     wide = in->type2 == PTX_U32 || in->type2 == PTX_S32;
	bool short_int = in->type2 == PTX_U16 || in->type2 == PTX_S16,
	     brain = in->type2 == PTX_BF16 || in->type2 == PTX_BF16X2;
	if (pair && !wide && in->type2 != in->type)
		return mod_error(p, in, "gives a pair of its own type, .u32 or .s32");
	if (!pair && (in->type2 == PTX_F16X2 || in->type2 == PTX_BF16X2))
		return mod_error(p, in, "gives no .f16x2 or .bf16x2");
	if (brain && in->type != in->type2)
		return mod_error(p, in, "gives no result of that type");
	return short_int && in->type != PTX_F16 && in->type != PTX_BF16
		   ? mod_error(p, in, "gives no result of 16 bits but .f16")
		   : 0;
}

static int check_atom(struct ptx_parser *p, const struct ptx_inst *in)
{
	const uint32_t halves = 1u << PTX_F16 | 1u << PTX_F16X2 | 1u << PTX_BF16 | 1u << PTX_BF16X2, t = 1u << in->type;
	uint32_t ok = 0;
	char what[80];
	switch (in->atom) {
	case PTX_ATOM_AND:
	case PTX_ATOM_OR:
	case PTX_ATOM_XOR:
		ok = 1u << PTX_B32 | 1u << PTX_B64;
		break;
	case PTX_ATOM_ADD:
		ok = 1u << PTX_U32 | 1u << PTX_S32 | 1u << PTX_U64 | 1u << PTX_F32 | 1u << PTX_F64 | halves;
		break;
	case PTX_ATOM_INC:
	case PTX_ATOM_DEC:
		ok = 1u << PTX_U32;
		break;
	case PTX_ATOM_MIN:
	case PTX_ATOM_MAX:
		ok = 1u << PTX_U32 | 1u << PTX_S32 | 1u << PTX_U64 | 1u << PTX_S64 | (in->vec_width > 1 ? halves : 0);
		break;
	default:
		ok = 1u << PTX_B32 | 1u << PTX_B64 | 1u << PTX_B128 | (in->atom == PTX_ATOM_CAS ? 1u << PTX_B16 : 0);
		break;
	}
	snprintf(what, sizeof what, "cannot do .%s", ptx_word_of(M_ATOM, in->atom));
	if (!(ok & t))
		return mod_error(p, in, what);
	bool half = ptx_type_class((enum ptx_type)in->type) == 'f' && in->type != PTX_F32 && in->type != PTX_F64;
	if (half != ((in->mods & PTX_NOFTZ) != 0))
		return mod_error(p, in, half ? "needs .noftz" : "does not take .noftz");
	if (in->vec_width > 1 && (!(t & (halves | 1u << PTX_F32)) || in->space != PTX_GLOBAL))
		return ptx_fail(p, in->line, in->column,
				"%s takes vectors of floating-point numbers in global memory only",
				ptx_op_name(in->op));
	if (in->op == PTX_OP_RED && (in->atom == PTX_ATOM_EXCH || in->atom == PTX_ATOM_CAS))
		return ptx_fail(p, in->line, in->column, "red returns nothing; use atom.%s",
				ptx_word_of(M_ATOM, in->atom));
	return 0;
}

static int check_space(struct ptx_parser *p, const struct ptx_inst *in)
{
	const char *word = ptx_space_name((enum ptx_space)in->space);
	bool ok = true;
	switch (in->op) {
	case PTX_OP_ST:
		ok = in->space != PTX_CONST;
		break;
	case PTX_OP_ATOM:
	case PTX_OP_RED:
		ok = in->space == PTX_GENERIC || in->space == PTX_GLOBAL || in->space == PTX_SHARED;
		break;
	case PTX_OP_LDU:
		ok = in->space == PTX_GENERIC || in->space == PTX_GLOBAL;
		break;
	case PTX_OP_PREFETCH:
		ok = in->space == PTX_GENERIC || in->space == PTX_GLOBAL || in->space == PTX_LOCAL;
		break;
	default:
		break;
	}
	if (!ok)
		return ptx_fail(p, in->line, in->column, "%s does not work on .%s", ptx_op_name(in->op), word);
	if (in->cache == PTX_NC && in->space != PTX_GLOBAL)
		return ptx_fail(p, in->line, in->column, ".nc is for ld.global only");
	if (in->cache) {
		bool store = in->cache == PTX_WB || in->cache == PTX_WT;
		bool load = in->cache == PTX_CA || in->cache == PTX_LU || in->cache == PTX_CV || in->cache == PTX_NC;
		if ((in->op == PTX_OP_LD && store) || (in->op == PTX_OP_ST && load))
			return ptx_fail(p, in->line, in->column, "%s does not take .%s", ptx_op_name(in->op),
					ptx_word_of(M_CACHE, in->cache));
	}
	const unsigned bytes = ptx_type_bytes((enum ptx_type)in->type),
		       most = in->op == PTX_OP_ATOM || in->op == PTX_OP_RED || in->type == PTX_B128 ? 16 : 32;
	if (in->vec_width * bytes > most || (in->vec_width == 8 && bytes * 8 != most))
		return mod_error(
		    p, in, most == 32 ? "in a vector is wider than 32 bytes" : "in a vector is wider than 16 bytes");
	if (in->op == PTX_OP_LDU && in->vec_width == 8)
		return mod_error(p, in, "does not take .v8");
	return 0;
}

static bool is_small(enum ptx_type t)
{
	return t == PTX_E4M3X2 || t == PTX_E5M2X2;
}

/* Conversions to and from formats that arithmetic knows only in pairs, or not at all. */
static int check_cvt_small(struct ptx_parser *p, const struct ptx_inst *in)
{
	enum ptx_type d = (enum ptx_type)in->type, s = (enum ptx_type)in->type2;
	bool from_small = d == PTX_F16X2 && is_small(s) && in->round == PTX_RN;
	bool to_small =
	    is_small(d) && (s == PTX_F32 || s == PTX_F16X2) && in->round == PTX_RN && in->mods & PTX_SATFINITE;
	bool pair = d == PTX_BF16X2 && s == PTX_F32 && (in->round == PTX_RN || in->round == PTX_RZ);
	bool tensor =
	    d == PTX_TF32 && s == PTX_F32 && (in->round == PTX_RNA || in->round == PTX_RN || in->round == PTX_RZ);
	if (in->mods & PTX_SAT)
		return mod_error(p, in, "takes .satfinite, not .sat");
	return from_small || to_small || pair || tensor
		   ? 0
		   : mod_error(p, in, "is not made of that, or is rounded in another way");
}

static int check_cvt(struct ptx_parser *p, const struct ptx_inst *in)
{
	enum ptx_type d = (enum ptx_type)in->type, s = (enum ptx_type)in->type2;
	if (is_small(d) || is_small(s) || d == PTX_BF16X2 || s == PTX_BF16X2 || d == PTX_TF32 || s == PTX_TF32 ||
	    s == PTX_F16X2)
		return check_cvt_small(p, in);
	bool fd = ptx_is_float(d), fs = ptx_is_float(s);
	const bool brain = d == PTX_BF16 || s == PTX_BF16;
	if (brain && (in->mods & PTX_SAT || ptx_type_bytes(d) == 1 || ptx_type_bytes(s) == 1))
		return mod_error(p, in, "takes .bf16 without .sat and from no 8 bits");
	if (in->round == PTX_RNA)
		return mod_error(p, in, "takes .rna to .tf32 only");
	bool integer_mode = in->round >= PTX_RNI;
	bool pair = d == PTX_F16X2, half = pair || d == PTX_F16 || d == PTX_BF16,
	     nearest = in->round == PTX_RN || in->round == PTX_RZ;
	if ((in->mods & PTX_RELU) && (!half || s != PTX_F32 || !nearest))
		return mod_error(p, in, "takes .relu only from .f32, with .rn or .rz");
	if ((in->mods & PTX_SATFINITE) && (!half || s != PTX_F32 || !nearest))
		return mod_error(p, in, "takes .satfinite only from .f32, with .rn or .rz");
	if (pair && (s != PTX_F32 || !nearest || in->mods & (PTX_FTZ | PTX_SAT)))
		return mod_error(p, in, "is made of two .f32, with .rn or .rz");
	if (pair)
		return 0;
	if (fd && fs && (ptx_type_bytes(d) < ptx_type_bytes(s) || (d != s && ptx_type_bytes(d) == 2))) {
		if (integer_mode || !in->round)
			return mod_error(p, in, "from a wider float needs a rounding mode: .rn .rz .rm .rp");
	} else if (fd && fs) {
		if (in->round && (d != s ? !brain || integer_mode : !integer_mode))
			return mod_error(p, in,
					 d != s
					     ? "from a narrower float does not round"
					     : "from a float as narrow rounds to integers only: .rni .rzi .rmi .rpi");
	} else if (fd) {
		if (integer_mode || !in->round)
			return mod_error(p, in, "from an integer needs a rounding mode: .rn .rz .rm .rp");
	} else if (fs) {
		if (!integer_mode)
			return mod_error(p, in, "from a float needs an integer rounding mode: .rni .rzi .rmi .rpi");
	} else if (in->round) {
		return mod_error(p, in, "from an integer does not round");
	} else if (in->mods & PTX_SAT) {
		unsigned n = ptx_type_bytes(d), m = ptx_type_bytes(s);
		bool fits = ptx_type_signed(d) == ptx_type_signed(s) ? n >= m : ptx_type_signed(d) && n > m;
		if (fits)
			return mod_error(p, in, "has nothing to saturate: every value of the source fits");
	}
	if ((in->mods & PTX_FTZ) && d != PTX_F32 && s != PTX_F32)
		return mod_error(p, in, "takes .ftz only when one side is .f32");
	return 0;
}

/* From sm_20 on a compiler wants to be told how a result is rounded, or that it may be approximate. */
static int check_rounding(struct ptx_parser *p, const struct ptx_inst *in)
{
	bool approx = in->mods & (PTX_APPROX | PTX_FULL),
	     f16 = in->type == PTX_F16 || in->type == PTX_F16X2 || in->type == PTX_BF16 || in->type == PTX_BF16X2;
	bool modern = p->sm >= 20 && p->m->version >= 20;
	if (f16 && in->round > PTX_RN)
		return mod_error(p, in, "rounds to nearest only: .rn");
	switch (in->op) {
	case PTX_OP_FMA:
		return in->round ? 0 : mod_error(p, in, "needs a rounding mode: .rn .rz .rm .rp");
	case PTX_OP_MAD:
		return !modern || in->round ? 0 : mod_error(p, in, "needs a rounding mode: .rn .rz .rm .rp");
	case PTX_OP_DIV:
	case PTX_OP_RCP:
	case PTX_OP_SQRT:
		if (approx && in->type == PTX_F64 && !(in->op == PTX_OP_RCP && in->mods & PTX_FTZ))
			return mod_error(p, in, "has no such approximation; use .rn");
		return !modern || in->round || approx
			   ? 0
			   : mod_error(p, in,
				       in->type == PTX_F64 ? "needs a rounding mode: .rn .rz .rm .rp"
							   : "needs .approx or a rounding mode");
	case PTX_OP_RSQRT:
	case PTX_OP_SIN:
	case PTX_OP_COS:
	case PTX_OP_EX2:
	case PTX_OP_LG2:
	case PTX_OP_TANH:
		return !modern || approx ? 0 : mod_error(p, in, "needs .approx");
	default:
		return 0;
	}
}

int ptx_check_mods(struct ptx_parser *p, const struct ptx_inst *in)
{
	const struct ptx_opinfo *op = &ptx_ops[in->op];
	enum ptx_type t = (enum ptx_type)in->type;
	bool f = ptx_is_float(t), part = (in->mods & (PTX_LO_PART | PTX_HI_PART)) != 0;
	if (in->op == PTX_OP_CVT)
		return check_cvt(p, in);
	if (op->may & M_CMP)
		PTX_TRY(check_cmp(p, in));
	if (in->op == PTX_OP_SET)
		PTX_TRY(check_set(p, in));
	if (op->may & M_ATOM)
		PTX_TRY(check_atom(p, in));
	if (op->may & (M_SPACE | M_CACHE))
		PTX_TRY(check_space(p, in));
	if (in->op == PTX_OP_MOV && in->vec_width > 1 && (!ptx_type_bytes(t) || ptx_type_bytes(t) * in->vec_width > 16))
		return mod_error(p, in, "moves a vector of 16 bytes at most");
	if (in->round && !f)
		return mod_error(p, in, "does not round");
	const bool brain = t == PTX_BF16 || t == PTX_BF16X2, power = in->op == PTX_OP_EX2;
	bool ftz_type = t == PTX_F32 || (power ? brain : t == PTX_F16 || t == PTX_F16X2) || in->op == PTX_OP_SLCT;
	if (power && brain && !(in->mods & PTX_FTZ))
		return mod_error(p, in, "needs .ftz");
	bool ftz_f64 = t == PTX_F64 && (in->op == PTX_OP_RCP || (in->op == PTX_OP_RSQRT && in->mods & PTX_APPROX));
	if ((in->mods & PTX_FTZ) && !ftz_type && !ftz_f64)
		return mod_error(p, in, "does not take .ftz");
	if (in->mods & PTX_SAT) {
		bool ints =
		    t == PTX_S32 && (in->op == PTX_OP_ADD || in->op == PTX_OP_SUB ||
				     ((in->op == PTX_OP_MAD || in->op == PTX_OP_MAD24) && in->mods & PTX_HI_PART));
		if (t == PTX_F64 || brain || (!f && !ints))
			return mod_error(p, in, "does not take .sat");
	}
	if ((op->may & M_PART) && !f && !part && !(in->mods & PTX_WIDE))
		return mod_error(p, in, "needs .lo, .hi or .wide");
	if (f && (part || in->mods & PTX_WIDE))
		return mod_error(p, in, "does not take .lo, .hi or .wide");
	if ((in->mods & PTX_WIDE) && (part || ptx_type_bytes(t) > 4))
		return mod_error(p, in, part ? "takes one of .lo, .hi and .wide" : "does not take .wide");
	if ((in->mods & PTX_CC_OUT) &&
	    (f || t == PTX_U16X2 || t == PTX_S16X2 || ptx_type_bytes(t) < 4 || in->mods & (PTX_WIDE | PTX_SAT)))
		return mod_error(p, in, "does not take .cc");
	if ((in->mods & PTX_APPROX) && in->round)
		return mod_error(p, in, "takes .approx or a rounding mode, not both");
	if ((in->mods & (PTX_APPROX | PTX_FULL)) && !f)
		return mod_error(p, in, "does not take .approx or .full");
	if ((in->mods & PTX_NAN_OUT) && (!f || t == PTX_F64))
		return mod_error(p, in, "does not take .NaN");
	const bool order = in->op == PTX_OP_MIN || in->op == PTX_OP_MAX;
	const bool small = ptx_type_class(t) == 'f' && t != PTX_F64 && t != PTX_F32;
	if (((in->mods & PTX_XORSIGN_ABS) && !(order && (small || t == PTX_F32))) ||
	    ((in->mods & PTX_OOB) && !(in->op == PTX_OP_FMA && small)) ||
	    ((in->mods & PTX_SHIFTAMT) && in->op != PTX_OP_BFIND))
		return mod_error(p, in, "does not take .shiftamt, .xorsign.abs or .oob");
	if ((in->mods & PTX_SATFINITE) && in->op != PTX_OP_CVT)
		return mod_error(p, in, "does not take .satfinite");
	if ((in->mods & PTX_RELU) && !(order ? t == PTX_S32 || t == PTX_S16X2
					     : t == PTX_F16 || t == PTX_F16X2 || t == PTX_BF16 || t == PTX_BF16X2))
		return mod_error(p, in, "does not take .relu");
	if (in->op == PTX_OP_VOTE && (in->sub == PTX_SUB_BALLOT) != (t == PTX_B32))
		return ptx_fail(p, in->line, in->column, "vote.ballot is .b32, the other votes are .pred");
	bool unsynced = (in->op == PTX_OP_VOTE || in->op == PTX_OP_SHFL) && !(in->mods & PTX_SYNC);
	if (unsynced && p->sm >= 70 && p->m->version >= 64)
		return ptx_fail(p, in->line, in->column, "%s needs .sync and a mask of lanes on sm_70 and later",
				ptx_op_name(in->op));
	return f ? check_rounding(p, in) : 0;
}
