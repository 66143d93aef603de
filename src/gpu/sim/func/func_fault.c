/* What a driver would call it, and what a driver does not say: the line, the access and the thread. */
#include "gpu/sim/func/func.h"
#include <stdio.h>

static const char *space_of(const struct func_warp *w, const struct func_inst *i)
{
	static const char *const name[PTX_SPACES] = {
	    [PTX_GENERIC] = "memory",	    [PTX_CONST] = "constant memory", [PTX_GLOBAL] = "global memory",
	    [PTX_SHARED] = "shared memory", [PTX_LOCAL] = "local memory",    [PTX_PARAM] = "the parameters",
	    [PTX_TEX] = "global memory"};
	unsigned space = w->fault_space ? w->fault_space : i->space == PTX_GENERIC ? w->space : i->space;
	return space < PTX_SPACES && name[space] ? name[space] : "memory";
}

const char *func_line_text(char out[FUNC_LINE_TEXT], const struct func_info *i)
{
	if (i->source)
		snprintf(out, FUNC_LINE_TEXT, "line %u (of the source: %u)", i->line, i->source);
	else
		snprintf(out, FUNC_LINE_TEXT, "line %u", i->line);
	return out;
}

const char *func_fault_text(char *out, size_t n, const struct func_warp *w, const struct func_inst *i,
			    const struct func_info *info)
{
	const char *access = i->kind == FUNC_STORE ? "store" : i->kind == FUNC_ATOMIC ? "atomic" : "load";
	const struct func_launch *l = w->block->launch;
	unsigned long long address = w->fault_address;
	uint32_t t = w->thread + w->fault_lane, size = l->warp_size ? l->warp_size : FUNC_LANES;
	char what[400], line[FUNC_LINE_TEXT];
	switch (w->fault) {
	case FUNC_FAULT_ALIGN:
		snprintf(what, sizeof what, "misaligned address: %s of %u bytes at 0x%llx in %s", access, i->bytes,
			 address, space_of(w, i));
		break;
	case FUNC_FAULT_TRAP:
		snprintf(what, sizeof what, "trap");
		break;
	case FUNC_FAULT_ASSERT:
		snprintf(what, sizeof what, "%s", w->block->said);
		break;
	case FUNC_FAULT_TEXTURE:
		snprintf(what, sizeof what, "illegal address: 0x%llx is no handle of a texture of these dimensions",
			 address);
		break;
	case FUNC_FAULT_TENSOR:
		snprintf(what, sizeof what,
			 "illegal instruction: at 0x%llx lies no map of cuTensorMapEncode, or its box does not begin "
			 "at 16 bytes, or one that is stored begins outside of the tensor",
			 address);
		break;
	case FUNC_FAULT_STACK:
		snprintf(
		    what, sizeof what,
		    "stack overflow: calls within calls, or alloca, need more than the %llu bytes that a thread has",
		    address);
		break;
	case FUNC_FAULT_BARRIER:
		snprintf(what, sizeof what,
			 "illegal instruction: a barrier for %llu threads, which are no whole warps of %u", address,
			 size);
		break;
	default:
		snprintf(what, sizeof what, "illegal address: %s of %u bytes at 0x%llx is outside %s", access, i->bytes,
			 address, space_of(w, i));
		break;
	}
	snprintf(out, n, "%s: %s; thread (%u,%u,%u) of block (%u,%u,%u), lane %u of warp %u",
		 func_line_text(line, info), what, t % l->block[0], t / l->block[0] % l->block[1],
		 t / l->block[0] / l->block[1], w->block->ctaid[0], w->block->ctaid[1], w->block->ctaid[2],
		 w->fault_lane, w->thread / size);
	return out;
}
