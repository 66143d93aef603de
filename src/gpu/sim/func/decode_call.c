/* Calls of what no module has: vprintf, __assertfail, malloc and free. Calls through registers go to one of the
 * functions whose address is taken. */
#include "decode.h"
#include <string.h>

/* Argument k in a row of its own, so many bytes of it. */
static int argument(struct decoder *d, struct decode_frame *f, const struct ptx_inst *in, unsigned k, unsigned bytes,
		    uint16_t *row)
{
	const struct ptx_operand *o = &in->vec[in->operand[2].index + (int)k];
	if (o->kind == PTX_OPND_REG && ptx_type_bytes((enum ptx_type)f->f->regs[o->reg].type) == bytes)
		return decode_reg(d, f, o->reg, row);
	if (o->kind == PTX_OPND_INT)
		return decode_literal(d, o->imm, bytes == 8, row);
	if (o->kind != PTX_OPND_SYMBOL || o->sym < 0 || d->m->vars[o->sym].size != bytes)
		return decode_fail(d, "argument %u of '%s' has %u bytes", k + 1, d->m->funcs[in->operand[1].index].name,
				   bytes);
	DECODE_TRY(decode_new_row(d, bytes == 8, row));
	return decode_slot_row(d, f, in, *row, bytes, d->address[o->sym], false);
}

/* The call's result, if anybody wants it. */
static int give_back(struct decoder *d, struct decode_frame *f, const struct ptx_inst *in, uint16_t result,
		     unsigned bytes)
{
	struct decode_record r;
	if (!in->operand[0].count)
		return 0;
	const struct ptx_operand *o = &in->vec[in->operand[0].index];
	if (o->kind == PTX_OPND_SYMBOL && o->sym >= 0 && d->m->vars[o->sym].size == bytes)
		return decode_slot_row(d, f, in, result, bytes, d->address[o->sym], true);
	if (o->kind != PTX_OPND_REG)
		return o->kind == PTX_OPND_SINK ? 0 : decode_fail(d, "the function gives %u bytes", bytes);
	DECODE_TRY(decode_begin(d, f, in, &r));
	DECODE_TRY(decode_dest(d, f, &r, o, &r.i.dst));
	r.i.op = bytes == 8 ? EXEC_mov_64 : EXEC_mov_32;
	r.i.a = result;
	decode_reads(d, &r, result);
	return decode_emit(d, &r);
}

static int print(struct decoder *d, struct decode_frame *f, const struct ptx_inst *in)
{
	struct decode_record r;
	uint16_t format = FUNC_NONE, list = FUNC_NONE, result;
	DECODE_TRY(argument(d, f, in, 0, 8, &format));
	DECODE_TRY(argument(d, f, in, 1, 8, &list));
	DECODE_TRY(decode_new_row(d, false, &result));
	DECODE_TRY(decode_begin(d, f, in, &r));
	r.i.op = EXEC_print;
	r.i.a = format;
	r.i.b = list;
	r.i.dst = result;
	decode_reads(d, &r, format);
	decode_reads(d, &r, list);
	decode_writes(&r, result);
	d->p->prints = true;
	DECODE_TRY(decode_emit(d, &r));
	return give_back(d, f, in, result, 4);
}

static int heap(struct decoder *d, struct decode_frame *f, const struct ptx_inst *in, bool frees)
{
	struct decode_record r;
	uint16_t argued = FUNC_NONE, result;
	DECODE_TRY(argument(d, f, in, 0, 8, &argued));
	DECODE_TRY(decode_new_row(d, true, &result));
	DECODE_TRY(decode_begin(d, f, in, &r));
	r.i.op = EXEC_heap;
	r.i.imm = frees;
	r.i.a = argued;
	r.i.dst = result;
	decode_reads(d, &r, argued);
	if (!frees)
		decode_writes(&r, result);
	d->p->allocates = true;
	DECODE_TRY(decode_emit(d, &r));
	return give_back(d, f, in, result, 8);
}

static int assertion(struct decoder *d, struct decode_frame *f, const struct ptx_inst *in)
{
	struct decode_record r;
	uint16_t row[4];
	for (unsigned k = 0; k < 4; k++)
		DECODE_TRY(argument(d, f, in, k, k == 2 ? 4 : 8, &row[k]));
	DECODE_TRY(decode_begin(d, f, in, &r));
	r.i.op = EXEC_assert;
	r.i.a = row[0];
	r.i.b = row[1];
	r.i.c = row[2];
	r.i.more[0] = row[3];
	for (unsigned k = 0; k < 4; k++)
		decode_reads(d, &r, row[k]);
	return decode_emit(d, &r);
}

int decode_builtin(struct decoder *d, struct decode_frame *f, const struct ptx_inst *in)
{
	const char *name = d->m->funcs[in->operand[1].index].name;
	unsigned count = in->operand[2].count;
	if (strcmp(name, "vprintf") == 0 && count == 2 && in->operand[0].count <= 1)
		return print(d, f, in);
	if (strcmp(name, "__assertfail") == 0 && count == 5)
		return assertion(d, f, in);
	if (strcmp(name, "malloc") == 0 && count == 1)
		return heap(d, f, in, false);
	if (strcmp(name, "free") == 0 && count == 1)
		return heap(d, f, in, true);
	if (strstr(name, "LaunchDevice") || strstr(name, "GetParameterBuffer"))
		return decode_fail(
		    d,
		    "the kernel launches kernels itself (dynamic parallelism, '%s'), which is not executed: launch "
		    "them from the host",
		    name);
	return decode_fail(d, "'%s' has no body in this module", name);
}

/* ---- through a register ---- */

/* Functions whose address some variable or instruction of the module holds. */
static int find_taken(struct decoder *d)
{
	const struct ptx_module *m = d->m;
	d->taken = mem_zero((size_t)m->func_count + 1, sizeof *d->taken);
	if (!d->taken)
		return err_nomem(d->e);
	for (uint32_t k = 0; k < m->var_count; k++)
		for (uint32_t n = 0; n < m->vars[k].address_count; n++)
			if (m->vars[k].addresses[n].func >= 0)
				d->taken[m->vars[k].addresses[n].func] = true;
	for (uint32_t k = 0; k < m->func_count; k++)
		for (uint32_t n = 0; n < m->funcs[k].inst_count; n++) {
			const struct ptx_inst *in = &m->funcs[k].insts[n];
			for (unsigned x = 0; x < in->operand_count; x++)
				if (in->operand[x].kind == PTX_OPND_FUNC && in->op != PTX_OP_CALL)
					d->taken[in->operand[x].index] = true;
		}
	return 0;
}

static bool fits(const struct ptx_param *a, uint32_t n, const struct ptx_param *b, uint32_t m)
{
	if (n != m)
		return false;
	for (uint32_t k = 0; k < n; k++)
		if (a[k].size != b[k].size && a[k].size && b[k].size) /* one without a size takes any */
			return false;
	return true;
}

static bool is_candidate(const struct decoder *d, const struct ptx_prototype *t, uint32_t k)
{
	const struct ptx_func *f = &d->m->funcs[k];
	return d->taken[k] && !f->entry && f->defined && !f->refused &&
	       fits(f->params, f->param_count, t->params, t->param_count) &&
	       fits(f->rets, f->ret_count, t->rets, t->ret_count);
}

/* Lanes whose register holds the function's address go through its body, the others around it; who finds none is trapped. */
int decode_indirect(struct decoder *d, struct decode_frame *f, const struct ptx_inst *in)
{
	struct decode_record r;
	const struct ptx_prototype *t = &d->m->prototypes[in->operand[3].index];
	const bool wide = decode_reg_wide(f, in->operand[1].reg);
	uint16_t target, here, done;
	if (!d->taken)
		DECODE_TRY(find_taken(d));
	DECODE_TRY(decode_reg(d, f, in->operand[1].reg, &target));
	DECODE_TRY(decode_new_pred(d, &here));
	DECODE_TRY(decode_new_pred(d, &done));
	DECODE_TRY(decode_begin(d, f, in, &r));
	r.i.op = EXEC_pred_set;
	r.i.dst = done;
	decode_writes(&r, DECODE_PRED_SLOT + done);
	DECODE_TRY(decode_emit(d, &r));
	for (uint32_t k = 0; k < d->m->func_count; k++) {
		if (!is_candidate(d, t, k))
			continue;
		DECODE_TRY(decode_begin(d, f, in, &r));
		r.i.op = (uint16_t)decode_compare(PTX_EQ, wide ? PTX_U64 : PTX_U32);
		r.i.dst = here;
		r.i.a = target;
		DECODE_TRY(decode_literal(d, FUNC_CODE_BASE + (uint64_t)k * FUNC_CODE_STEP, wide, &r.i.b));
		decode_reads(d, &r, target);
		decode_writes(&r, DECODE_PRED_SLOT + here);
		DECODE_TRY(decode_emit(d, &r));
		uint32_t around = d->n;
		DECODE_TRY(decode_begin(d, f, in, &r));
		r.i.kind = FUNC_BRANCH;
		r.i.guard = here;
		r.i.flags |= FUNC_GUARD_NOT;
		decode_reads(d, &r, DECODE_PRED_SLOT + here);
		DECODE_TRY(decode_emit(d, &r));
		DECODE_TRY(decode_begin(d, f, in, &r));
		r.i.op = EXEC_pred_set;
		r.i.dst = done;
		r.i.imm = 1;
		decode_writes(&r, DECODE_PRED_SLOT + done);
		DECODE_TRY(decode_emit(d, &r));
		DECODE_TRY(decode_call_of(d, f, in, (int32_t)k));
		d->inst[around].target = d->n;
	}
	DECODE_TRY(decode_begin(d, f, in, &r));
	r.i.op = EXEC_trap;
	r.i.guard = done;
	r.i.flags |= FUNC_GUARD_NOT;
	decode_reads(d, &r, DECODE_PRED_SLOT + done);
	return decode_emit(d, &r);
}
