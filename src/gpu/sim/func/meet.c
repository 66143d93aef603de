/* At which branches lanes of a warp might part, as a compiler sees it. */
#include "base/arena.h"
#include "gpu/sim/func/decode.h"
#include "gpu/sim/func/exec.h"

/* Whether all lanes compute the same where they read the same. */
static bool is_common(const struct func_inst *i, const struct func_info *n)
{
	if (i->kind == FUNC_LOAD)
		return i->space == PTX_CONST;
	if (i->kind != FUNC_ALU)
		return false;
	return n->ptx_op != PTX_OP_MOV || i->op != EXEC_sreg ||
	       (i->more[0] >= PTX_SREG_NTID_X && i->more[0] <= PTX_SREG_NTID_Z) ||
	       (i->more[0] >= PTX_SREG_CTAID_X && i->more[0] <= PTX_SREG_NCTAID_Z);
}

int decode_meets(struct decoder *d)
{
	bool *own = mem_zero((size_t)d->rows + d->preds + 1, sizeof *own),
	     changed = own; /* slots in which lanes may differ */
	while (changed) {
		changed = false;
		for (uint32_t k = 0; k < d->n; k++) {
			const struct func_info *n = &d->info[k];
			bool differs = !is_common(&d->inst[k], n);
			for (uint32_t r = 0; r < n->read_count; r++)
				differs |= own[n->read[r]];
			for (uint32_t w = 0; differs && w < n->write_count; w++) {
				changed |= !own[n->write[w]];
				own[n->write[w]] = true;
			}
		}
	}
	for (uint32_t k = 0; own && k < d->n; k++) {
		struct func_inst *i = &d->inst[k];
		const struct func_info *n = &d->info[k];
		const bool forward = i->kind == FUNC_BRANCH && i->join != FUNC_NO_JOIN && i->join > k &&
				     (i->flags & FUNC_INDEXED || i->target > k);
		for (uint32_t r = 0; r < n->read_count; r++)
			if (forward && own[n->read[r]])
				i->flags |= FUNC_PARTING;
	}
	mem_free(own);
	return own ? 0 : err_nomem(d->e);
}
