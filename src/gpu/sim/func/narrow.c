/* Of a row of 64 bits whose upper half is known to be zero, only the lower half is computed. */
#include "gpu/sim/func/compile_impl.h"
#include <errno.h>

static bool is_unsigned_word(uint8_t type)
{
	return type == PTX_U8 || type == PTX_U16 || type == PTX_U32 || type == PTX_B8 || type == PTX_B16 ||
	       type == PTX_B32;
}

static bool is_wide_logic(const struct func_info *n)
{
	return (n->ptx_op == PTX_OP_AND || n->ptx_op == PTX_OP_OR || n->ptx_op == PTX_OP_XOR) &&
	       ptx_type_bytes((enum ptx_type)n->type) == 8;
}

/* Whether the upper half of what the record writes is zero, if that of the rows in `narrow` is. */
static bool writes_narrow(const struct func_inst *i, const struct func_info *n, const bool *narrow)
{
	if (i->kind != FUNC_ALU || n->write_count != 1)
		return false;
	switch (n->ptx_op) {
	case PTX_OP_CVT:
		return is_unsigned_word(n->type2);
	case PTX_OP_AND:
		return is_wide_logic(n) && (narrow[i->a] || narrow[i->b]);
	case PTX_OP_OR:
	case PTX_OP_XOR:
		return is_wide_logic(n) && narrow[i->a] && narrow[i->b];
	default:
		return false;
	}
}

int func_narrow(const struct func_program *p, const struct func_inst *inst, struct func_info *info)
{
	bool *narrow = mem_zero((size_t)p->rows + p->preds + 1, sizeof *narrow), changed = narrow != NULL;
	if (!narrow)
		return -ENOMEM;
	for (uint32_t r = 0; r < p->rows; r++)
		narrow[r] = true;
	for (uint32_t k = 0; k < p->literal_count; k++)
		narrow[p->literal[k].row] = p->literal[k].bits <= UINT32_MAX;
	while (changed) {
		changed = false;
		for (uint32_t k = 0; k < p->inst_count; k++)
			for (uint32_t w = 0; w < info[k].write_count && !writes_narrow(&inst[k], &info[k], narrow);
			     w++) {
				changed |= narrow[info[k].write[w]];
				narrow[info[k].write[w]] = false;
			}
	}
	for (uint32_t k = 0; k < p->inst_count; k++)
		if (is_wide_logic(&info[k]) && writes_narrow(&inst[k], &info[k], narrow))
			info[k].type = PTX_B32;
	mem_free(narrow);
	return 0;
}
