/* Record's op to handler. */
#include "exec.h"

func_wide_fn *const func_wide[] = {
#define SLOW(name)     [EXEC_##name] = exec_wide_##name,
#define UN(name, ...)  SLOW(name)
#define BI(name, ...)  SLOW(name)
#define TRI(name, ...) SLOW(name)
#define CMP(name, ...) SLOW(name)
#include "exec_alu.def"
#include "exec_slow.def"
#undef SLOW
};

func_one_fn *const func_one[] = {
#define SLOW(name) [EXEC_##name] = exec_one_##name,
#include "exec_alu.def"
#include "exec_slow.def"
#undef SLOW
#undef UN
#undef BI
#undef TRI
#undef CMP
};

bool func_is_private(const struct func_inst *i)
{
	if (i->kind != FUNC_ALU || i->flags & (FUNC_GATHER | FUNC_WARP_SYNC))
		return false;
	switch (i->op) {
#define UN(name, ...)  case EXEC_##name:
#define BI(name, ...)  case EXEC_##name:
#define TRI(name, ...) case EXEC_##name:
#define CMP(name, ...) case EXEC_##name:
#include "exec_alu.def"
#undef UN
#undef BI
#undef TRI
#undef CMP
	case EXEC_selp_32:
	case EXEC_selp_64:
	case EXEC_pred:
	case EXEC_pred_set:
	case EXEC_lop3:
	case EXEC_prmt:
	case EXEC_bits:
	case EXEC_carry:
	case EXEC_float:
	case EXEC_half:
	case EXEC_special:
	case EXEC_cvt:
	case EXEC_compare:
	case EXEC_slct:
	case EXEC_testp:
	case EXEC_sreg:
	case EXEC_cvt_small:
	case EXEC_packed:
	case EXEC_words:
	case EXEC_load_param:
		return true;
	default:
		return false;
	}
}
