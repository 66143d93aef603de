/* The native record of a decoded kernel: what the modelled hardware would execute. */
#include "gpu/sim/sim_state.h"
#include "native/native.h"
#include <errno.h>
#include <string.h>

static enum native_class load_class(const struct func_inst *i)
{
	switch (i->space) {
	case PTX_SHARED:
		return NATIVE_LOAD_SHARED;
	case PTX_CONST:
		return NATIVE_LOAD_CONST;
	case PTX_LOCAL:
		return NATIVE_LOAD_LOCAL;
	case PTX_TEX:
		return NATIVE_TEXTURE;
	default:
		return NATIVE_LOAD_GLOBAL;
	}
}

static const char *space_name(uint8_t space)
{
	switch (space) {
	case PTX_SHARED:
		return ".shared";
	case PTX_CONST:
		return ".const";
	case PTX_LOCAL:
		return ".local";
	case PTX_GLOBAL:
		return ".global";
	default:
		return "";
	}
}

/* Address arithmetic that the hardware does with instructions of its own in front of a load. */
static uint32_t address_ops(const struct sim_spec *s, const struct func_inst *i)
{
	if (i->kind != FUNC_LOAD && i->kind != FUNC_ATOMIC)
		return 0;
	return i->space == PTX_SHARED  ? s->shared.address_ops
	       : i->space == PTX_CONST ? s->constant.address_ops
				       : s->global.address_ops;
}

struct sim_steps sim_steps(const struct sim_spec *s, const struct func_program *f, const struct time_program *t,
			   uint32_t pc)
{
	const struct func_inst *i = &f->inst[pc];
	const int32_t op = time_op(t, pc);
	struct sim_steps n = {.address = address_ops(s, i), .beside = time_beside(t, pc), .own = 1};
	if (i->kind == FUNC_ALU && op >= 0 && s->op[op].native_ops)
		n.own = s->op[op].native_ops;
	return n;
}

static enum native_class class_of(const struct func_inst *i)
{
	switch ((enum func_kind)i->kind) {
	case FUNC_ALU:
		return NATIVE_ALU;
	case FUNC_CLOCK:
		return NATIVE_CLOCK;
	case FUNC_LOAD:
		return load_class(i);
	case FUNC_STORE:
		return NATIVE_STORE;
	case FUNC_ATOMIC:
		return NATIVE_ATOMIC;
	case FUNC_BRANCH:
	case FUNC_EXIT:
		return NATIVE_BRANCH;
	case FUNC_BARRIER:
		return NATIVE_BARRIER;
	case FUNC_FENCE:
	case FUNC_KINDS:
		break;
	}
	return NATIVE_OTHER;
}

int sim_native(struct native_info *out, const struct sim_spec *s, const struct func_program *f,
	       const struct time_program *t)
{
	struct arena a;
	size_t total = 0, n = 0;
	int r = -ENOMEM;
	arena_init(&a);
	for (uint32_t pc = 0; pc < f->inst_count; pc++) {
		const struct sim_steps k = sim_steps(s, f, t, pc);
		total += k.address + k.beside + k.own;
	}
	struct native_op *ops = ARENA_ARRAY(&a, total, struct native_op);
	const char *address = arena_printf(&a, "%s.address", s->pipe[s->op[s->default_op].pipe[0]].name);
	if (!ops || !address)
		goto out;
	for (uint32_t pc = 0; pc < f->inst_count; pc++) {
		const struct func_inst *i = &f->inst[pc];
		const struct func_info *info = &f->info[pc];
		int32_t op = time_op(t, pc);
		const char *type = info->type == PTX_NONE ? "" : ptx_type_name((enum ptx_type)info->type);
		const char *dot = *type ? "." : "", *name = ptx_op_name((enum ptx_op)info->ptx_op);
		enum native_class cls = class_of(i);
		const char *spelled;
		uint32_t bytes, at = (uint32_t)(time_address(t, pc, &bytes) - s->fetch.base);
		/* A clock read is one boundary, however many native instructions it takes. */
		if (cls == NATIVE_CLOCK)
			spelled = "clock";
		else if (i->kind == FUNC_ALU && op >= 0)
			spelled = arena_printf(&a, "%s.%s%s%s", s->pipe[s->op[op].pipe[0]].name, name, dot, type);
		else
			spelled = arena_printf(&a, "%s%s%s%s", name, space_name(i->space), dot, type);
		if (!spelled)
			goto out;
		const struct sim_steps count = sim_steps(s, f, t, pc);
		for (uint32_t k = count.address; k > 0; k--)
			ops[n++] = (struct native_op){.name = address, .cls = NATIVE_ALU, .address = at};
		for (uint32_t k = count.beside; k > 0; k--)
			ops[n++] = (struct native_op){.name = "meet", .cls = NATIVE_BRANCH, .address = at};
		for (uint32_t k = count.own; k > 0; k--)
			ops[n++] = (struct native_op){.name = spelled, .cls = cls, .address = at};
	}
	native_count(out, ops, n, "sim");
	out->layout.code_bytes = (uint32_t)time_code_bytes(t);
	out->registers = f->registers;
	r = 0;
out:
	arena_free(&a);
	return r;
}
