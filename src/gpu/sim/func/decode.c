/* An entry of a PTX module to a program: control flow, calls put in place, and everything together. */
#include "decode.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int decode_fail(struct decoder *d, const char *fmt, ...)
{
	char text[400];
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	return err_set(d->e, -EINVAL, "%s:%u:%u: %s", d->name, d->at->line, d->at->column, text);
}

static int add_fix(struct decoder *d, uint32_t record, uint32_t inst, bool in_table)
{
	if (mem_room((void **)&d->fix, &d->fix_cap, d->fixes, sizeof *d->fix))
		return err_nomem(d->e);
	d->fix[d->fixes++] = (struct decode_fix){.record = record, .inst = inst, .in_table = in_table};
	return 0;
}

/* A branch to an instruction of this frame. */
static int branch_to(struct decoder *d, struct decode_record *r, uint32_t inst)
{
	r->i.kind = FUNC_BRANCH;
	r->i.op = EXEC_nothing;
	DECODE_TRY(add_fix(d, d->n, inst, false));
	return decode_emit(d, r);
}

static int branch(struct decoder *d, struct decode_frame *f, const struct ptx_inst *in)
{
	struct decode_record r;
	DECODE_TRY(decode_begin(d, f, in, &r));
	if (in->mods & PTX_UNI)
		r.i.flags |= FUNC_UNIFORM;
	return branch_to(d, &r, f->f->labels[in->operand[0].index].inst);
}

static int add_target(struct decoder *d, uint32_t inst)
{
	if (mem_room((void **)&d->table, &d->table_cap, d->tables, sizeof *d->table))
		return err_nomem(d->e);
	d->table[d->tables] = 0;
	return add_fix(d, d->tables++, inst, true);
}

/* brx.idx: lanes that go where the first one goes, and behind it a branch back for the rest. */
static int indexed_branch(struct decoder *d, struct decode_frame *f, const struct ptx_inst *in)
{
	struct decode_record r;
	const struct ptx_operand *list = &in->operand[1];
	uint32_t here = d->n, last = 0;
	DECODE_TRY(decode_begin(d, f, in, &r));
	DECODE_TRY(decode_source(d, f, &r, &in->operand[0], PTX_U32, &r.i.a));
	r.i.flags |= FUNC_INDEXED;
	r.i.imm = (uint64_t)d->tables << 32 | list->count;
	for (unsigned k = 0; k < list->count; k++) {
		last = f->f->labels[in->vec[list->index + (int)k].index].inst;
		DECODE_TRY(add_target(d, last));
	}
	DECODE_TRY(branch_to(d, &r, last));
	DECODE_TRY(decode_begin(d, f, in, &r));
	r.i.kind = FUNC_BRANCH;
	r.i.op = EXEC_nothing;
	r.i.target = here;
	return decode_emit(d, &r);
}

/* ---- calls ---- */
int decode_frame_init(struct decoder *d, struct decode_frame *f, const struct decode_frame *caller,
		      const struct ptx_func *func, int32_t index)
{
	*f = (struct decode_frame){.caller = caller,
				   .f = func,
				   .index = index,
				   .region = caller ? caller->region : -1,
				   .first_fix = (uint32_t)d->fixes};
	f->row = mem_alloc((func->reg_count + 1) * sizeof *f->row);
	f->slot = mem_zero((size_t)func->param_count + func->ret_count + 1, sizeof *f->slot);
	f->inst_at = mem_zero((size_t)func->inst_count + 1, sizeof *f->inst_at);
	if (!f->row || !f->slot || !f->inst_at)
		return err_nomem(d->e);
	for (uint32_t k = 0; k < func->reg_count; k++)
		f->row[k] = FUNC_NONE;
	return decode_spare_begin(d, f);
}

void decode_frame_free(struct decode_frame *f)
{
	mem_free(f->row);
	mem_free(f->slot);
	mem_free(f->inst_at);
	mem_free(f->life);
	mem_free(f->ends);
}

/* Between a register of the caller (or a constant) and a register of the callee. */
static int register_copy(struct decoder *d, struct decode_frame *to_frame, int32_t to, struct decode_frame *from_frame,
			 const struct ptx_operand *from, enum ptx_type type, const struct ptx_inst *in)
{
	struct decode_record r;
	struct ptx_operand dest = {.kind = PTX_OPND_REG, .reg = to, .sym = -1};
	enum ptx_type to_type = (enum ptx_type)to_frame->f->regs[to].type;
	if (from->kind == PTX_OPND_REG) {
		enum ptx_type t = (enum ptx_type)from_frame->f->regs[from->reg].type;
		if (ptx_type_bytes(t) != ptx_type_bytes(to_type) || (t == PTX_PRED) != (to_type == PTX_PRED))
			return decode_fail(d, "'%s' is .%s, the function takes .%s here",
					   from_frame->f->regs[from->reg].name, ptx_type_name(t),
					   ptx_type_name(to_type));
	} else if (from->kind == PTX_OPND_SYMBOL || from->kind == PTX_OPND_SREG || to_type == PTX_PRED) {
		return decode_fail(d, "an argument in .reg is a register or a constant");
	}
	DECODE_TRY(decode_begin(d, from_frame, in, &r));
	DECODE_TRY(decode_dest(d, to_frame, &r, &dest, &r.i.dst));
	if (to_type == PTX_PRED) {
		DECODE_TRY(decode_pred_source(d, from_frame, &r, from, &r.i.a));
		r.i.op = EXEC_pred;
		r.i.more[0] = PTX_OP_MOV;
		r.i.more[1] = from->negated;
	} else {
		DECODE_TRY(decode_source(d, from_frame, &r, from, type, &r.i.a));
		r.i.op = ptx_type_bytes(to_type) == 8 ? EXEC_mov_64 : EXEC_mov_32;
	}
	return decode_emit(d, &r);
}

int decode_param_place(struct decoder *d, struct decode_frame *caller, const struct ptx_operand *o,
		       const struct ptx_param *q, uint64_t *slot)
{
	if (o->kind != PTX_OPND_SYMBOL) {
		if (!q->size)
			return decode_fail(d, "'%s' has no size of its own: a .param variable is passed to it",
					   q->name);
		d->local_bytes = (d->local_bytes + 15) & ~15ull;
		*slot = d->local_bytes;
		d->local_bytes += q->size;
		return 0;
	}
	uint64_t size;
	if (o->sym >= 0) {
		if (d->m->vars[o->sym].space != PTX_PARAM)
			return decode_fail(d, "'%s' is no .param variable", d->m->vars[o->sym].name);
		*slot = d->address[o->sym];
		size = d->m->vars[o->sym].size;
	} else {
		uint32_t k = (uint32_t)(-2 - o->sym);
		if (caller->f->entry)
			return decode_fail(d, "a parameter of a kernel is passed on through a register");
		*slot = caller->slot[k];
		size = k < caller->f->param_count ? caller->f->params[k].size
						  : caller->f->rets[k - caller->f->param_count].size;
	}
	if (o->offset || (q->size && size != q->size))
		return decode_fail(d, "'%s' has %u bytes, what is passed has %llu", q->name, q->size,
				   (unsigned long long)size);
	return 0;
}

static int pass_arguments(struct decoder *d, struct decode_frame *caller, struct decode_frame *f,
			  const struct ptx_inst *in)
{
	const struct ptx_func *func = f->f;
	for (uint32_t k = 0; k < func->param_count; k++) {
		const struct ptx_param *q = &func->params[k];
		const struct ptx_operand *o = &in->vec[in->operand[2].index + (int)k];
		if (q->reg >= 0) {
			DECODE_TRY(register_copy(d, f, q->reg, caller, o, (enum ptx_type)q->type, in));
			continue;
		}
		DECODE_TRY(decode_param_place(d, caller, o, q, &f->slot[k]));
		if (o->kind != PTX_OPND_SYMBOL)
			DECODE_TRY(decode_slot_copy(d, caller, in, o, (enum ptx_type)q->type, f->slot[k], true));
	}
	for (uint32_t k = 0; k < func->ret_count; k++) {
		const struct ptx_param *q = &func->rets[k];
		const struct ptx_operand *o = &in->vec[in->operand[0].index + (int)k];
		if (o->kind != PTX_OPND_SYMBOL && o->kind != PTX_OPND_REG && o->kind != PTX_OPND_SINK)
			return decode_fail(d, "a result goes into a register or a .param variable");
		if (q->reg < 0)
			DECODE_TRY(decode_param_place(d, caller, o, q, &f->slot[func->param_count + k]));
	}
	return 0;
}

static int take_results(struct decoder *d, struct decode_frame *caller, struct decode_frame *f,
			const struct ptx_inst *in)
{
	const struct ptx_func *func = f->f;
	for (uint32_t k = 0; k < func->ret_count; k++) {
		const struct ptx_param *q = &func->rets[k];
		const struct ptx_operand *o = &in->vec[in->operand[0].index + (int)k];
		struct ptx_operand from = {.kind = PTX_OPND_REG, .reg = q->reg, .sym = -1};
		if (o->kind == PTX_OPND_SINK)
			continue;
		if (q->reg >= 0 && o->kind != PTX_OPND_REG)
			return decode_fail(d, "the result '%s' goes into a register", q->name);
		if (q->reg >= 0)
			DECODE_TRY(register_copy(d, caller, o->reg, f, &from, (enum ptx_type)q->type, in));
		else if (o->kind == PTX_OPND_REG)
			DECODE_TRY(decode_slot_copy(d, caller, in, o, (enum ptx_type)q->type,
						    f->slot[func->param_count + k], false));
	}
	return 0;
}

/* What stands for the call itself: a jump to the record behind it, where the callee begins. */
static int call_record(struct decoder *d, struct decode_frame *caller, const struct ptx_inst *in)
{
	struct decode_record r;
	DECODE_TRY(decode_begin(d, caller, in, &r));
	r.i.kind = FUNC_BRANCH;
	r.i.flags = FUNC_UNIFORM;
	r.i.target = d->n + 1;
	return decode_emit(d, &r);
}

static int call_body(struct decoder *d, struct decode_frame *caller, struct decode_frame *f, const struct ptx_inst *in)
{
	DECODE_TRY(pass_arguments(d, caller, f, in));
	DECODE_TRY(call_record(d, caller, in));
	DECODE_TRY(decode_body(d, f));
	d->at = in;
	DECODE_TRY(take_results(d, caller, f, in));
	return decode_spare_end(d, f);
}

int decode_call_of(struct decoder *d, struct decode_frame *caller, const struct ptx_inst *in, int32_t index)
{
	const struct ptx_func *func = &d->m->funcs[index];
	uint32_t depth = 0;
	struct decode_frame f;
	if (d->recursive[index])
		return decode_call_apart(d, caller, in, index);
	if (!func->defined)
		return decode_builtin(d, caller, in);
	if (func->refused)
		return decode_fail(d, "it calls '%s', which is not executed: %s", func->name, func->refused);
	for (const struct decode_frame *up = caller; up; up = up->caller, depth++)
		if (up->index == index)
			return decode_again(d, caller, index);
	if (depth > DECODE_CALLS_MOST)
		return decode_fail(d, "calls are nested deeper than %u here", DECODE_CALLS_MOST);
	int rc = decode_frame_init(d, &f, caller, func, index);
	if (!rc)
		rc = call_body(d, caller, &f, in);
	decode_frame_free(&f);
	return rc;
}

static int call(struct decoder *d, struct decode_frame *caller, const struct ptx_inst *in)
{
	uint32_t around = UINT32_MAX;
	uint16_t kept = FUNC_NONE;
	struct ptx_inst always = *in;
	always.guard = -1;
	if (in->guard >= 0) {
		struct decode_record r;
		DECODE_TRY(decode_begin(d, caller, in, &r));
		r.i.kind = FUNC_BRANCH;
		r.i.flags ^= FUNC_GUARD_NOT;
		around = d->n;
		DECODE_TRY(decode_emit(d, &r));
	}
	DECODE_TRY(decode_stack_keep(d, caller, &always, &kept));
	DECODE_TRY(in->operand[1].kind == PTX_OPND_REG ? decode_indirect(d, caller, &always)
						       : decode_call_of(d, caller, &always, in->operand[1].index));
	DECODE_TRY(decode_stack_back(d, caller, &always, kept));
	if (around != UINT32_MAX)
		d->inst[around].target = d->n;
	return 0;
}

static int leave(struct decoder *d, struct decode_frame *f, const struct ptx_inst *in)
{
	struct decode_record r;
	DECODE_TRY(decode_begin(d, f, in, &r));
	if (in->op == PTX_OP_RET && !f->f->entry)
		return branch_to(d, &r, f->f->inst_count);
	r.i.kind = FUNC_EXIT;
	return decode_emit(d, &r);
}

int decode_body(struct decoder *d, struct decode_frame *f)
{
	for (uint32_t k = 0; k < f->f->inst_count; k++) {
		const struct ptx_inst *in = &f->f->insts[k];
		d->at = in;
		f->inst_at[k] = d->n;
		switch (in->op) {
		case PTX_OP_BRA:
			DECODE_TRY(branch(d, f, in));
			break;
		case PTX_OP_BRX:
			DECODE_TRY(indexed_branch(d, f, in));
			break;
		case PTX_OP_CALL:
			DECODE_TRY(call(d, f, in));
			break;
		case PTX_OP_RET:
		case PTX_OP_EXIT:
			DECODE_TRY(leave(d, f, in));
			break;
		default:
			DECODE_TRY(decode_inst(d, f, in));
			break;
		}
		DECODE_TRY(decode_spare_behind(d, f, k));
	}
	f->inst_at[f->f->inst_count] = d->n;
	for (uint32_t k = f->first_fix; k < d->fixes; k++) {
		const struct decode_fix *x = &d->fix[k];
		*(x->in_table ? &d->table[x->record] : &d->inst[x->record].target) = f->inst_at[x->inst];
	}
	d->fixes = f->first_fix;
	return 0;
}

static int last_exit(struct decoder *d, struct decode_frame *f)
{
	struct ptx_inst in = {.op = PTX_OP_EXIT, .guard = -1, .line = d->at->line, .column = d->at->column};
	return leave(d, f, &in);
}

/* Predicates were numbered behind a gap while rows were still being counted. */
static void number_slots(struct decoder *d)
{
	for (uint32_t k = 0; k < d->n; k++) {
		struct func_info *info = &d->info[k];
		for (unsigned x = 0; x < info->read_count; x++)
			if (info->read[x] >= DECODE_PRED_SLOT)
				info->read[x] = (uint16_t)(info->read[x] - DECODE_PRED_SLOT + d->rows);
		for (unsigned x = 0; x < info->write_count; x++)
			if (info->write[x] >= DECODE_PRED_SLOT)
				info->write[x] = (uint16_t)(info->write[x] - DECODE_PRED_SLOT + d->rows);
	}
}

/* What the entry and its functions name in local memory, and arguments and results of calls. */
static int check_local(struct decoder *d, const struct ptx_func *entry)
{
	const uint64_t most = FUNC_LOCAL_MOST(d->target->cc);
	const struct ptx_var *largest = NULL;
	if (d->local_bytes <= most)
		return 0;
	for (uint32_t k = 0; k < d->m->var_count; k++) {
		const struct ptx_var *v = &d->m->vars[k];
		if (v->space == PTX_LOCAL && (!largest || v->size > largest->size))
			largest = v;
	}
	return err_set(d->e, -EINVAL,
		       "%s:%u:1: kernel '%s' has %llu bytes of local memory in each thread, and a thread can have "
		       "%llu: make '%s' smaller",
		       d->name, largest ? largest->line : entry->line, entry->name, (unsigned long long)d->local_bytes,
		       (unsigned long long)most, largest ? largest->name : "what calls pass");
}

static int finish(struct decoder *d, const struct ptx_func *entry)
{
	struct func_program *p = d->p;
	DECODE_TRY(decode_frames_place(d));
	DECODE_TRY(check_local(d, entry));
	DECODE_TRY(decode_joins(d));
	number_slots(d);
	DECODE_TRY(decode_meets(d));
	DECODE_TRY(decode_live(d, &p->registers, &p->register_line));
	DECODE_TRY(decode_initial(d));
	p->inst = arena_copy(d->a, d->inst, d->n * sizeof *d->inst);
	p->info = arena_copy(d->a, d->info, d->n * sizeof *d->info);
	p->literal = d->literals ? arena_copy(d->a, d->literal, d->literals * sizeof *d->literal) : NULL;
	p->target = d->tables ? arena_copy(d->a, d->table, d->tables * sizeof *d->table) : NULL;
	p->many = d->manies ? arena_copy(d->a, d->many, d->manies * sizeof *d->many) : NULL;
	p->many_count = d->manies;
	p->wide = arena_copy(d->a, d->wide, (d->rows + 1) * sizeof *d->wide);
	p->name = arena_strdup(d->a, entry->name);
	p->param =
	    entry->param_count ? arena_copy(d->a, entry->params, entry->param_count * sizeof *entry->params) : NULL;
	if (!p->inst || !p->info || !p->name || !p->wide || (d->literals && !p->literal) || (d->tables && !p->target) ||
	    (d->manies && !p->many) || (entry->param_count && !p->param))
		return err_nomem(d->e);
	struct ptx_param *q = (struct ptx_param *)p->param; /* ours since a moment ago */
	for (uint32_t k = 0; k < entry->param_count; k++)
		if (!(q[k].name = arena_strdup(d->a, q[k].name)))
			return err_nomem(d->e);
	p->line = entry->line;
	memcpy(p->block, entry->block, sizeof p->block);
	memcpy(p->cluster, entry->cluster, sizeof p->cluster);
	p->most_threads = entry->most_threads;
	p->matrix_bits = d->target->matrix_bits;
	p->matrix_byte_bits = d->target->matrix_byte_bits;
	p->inst_count = d->n;
	p->target_count = d->tables;
	p->rows = d->rows;
	p->preds = d->preds;
	p->literal_count = d->literals;
	p->param_count = entry->param_count;
	p->param_bytes = entry->param_bytes;
	p->local_bytes = (d->local_bytes + 15) & ~15ull;
	return 0;
}

static int entry_body(struct decoder *d, const struct ptx_func *entry, int32_t index)
{
	struct ptx_inst start = {.op = PTX_OP_MOV, .guard = -1, .line = entry->line, .column = 1};
	struct decode_frame f;
	d->at = &start;
	int rc = decode_layout(d, entry);
	if (rc)
		return rc;
	rc = decode_frame_init(d, &f, NULL, entry, index);
	if (!rc)
		rc = decode_stack_begin(d, &f);
	if (!rc)
		rc = decode_frames_begin(d, &f);
	if (!rc)
		rc = decode_body(d, &f);
	if (!rc)
		rc = last_exit(d, &f);
	if (!rc)
		rc = decode_frames(d);
	if (!rc && d->regions)
		rc = last_exit(d, &f);
	decode_frame_free(&f);
	return rc ? rc : finish(d, entry);
}

/* Those of the target, or the published ones. */
static int special_tables(struct decoder *d)
{
	d->p->sfu = d->target->sfu;
	if (d->p->sfu || !d->p->uses_sfu)
		return 0;
	struct sfu *s = ARENA_NEW(d->a, struct sfu);
	if (!s)
		return err_nomem(d->e);
	sfu_build(s, d->target->words ? d->target->words : sfu_published);
	d->p->sfu = s;
	return 0;
}

static int decode(struct func_program **out, struct decoder *d, int32_t index)
{
	d->p = ARENA_NEW(d->a, struct func_program);
	d->wide = mem_zero(DECODE_ROWS_MAX + 2, sizeof *d->wide);
	d->address = mem_zero((size_t)d->m->var_count + 1, sizeof *d->address);
	int rc = d->p && d->wide && d->address ? entry_body(d, &d->m->funcs[index], index) : err_nomem(d->e);
	if (!rc)
		rc = special_tables(d);
	if (!rc)
		*out = d->p;
	mem_free(d->wide);
	mem_free(d->address);
	mem_free(d->inst);
	mem_free(d->info);
	mem_free(d->fix);
	mem_free(d->table);
	mem_free(d->many);
	mem_free(d->region);
	mem_free(d->site);
	mem_free(d->taken);
	mem_free(d->literal);
	mem_free(d->pool);
	for (size_t k = 0; k < sizeof d->spare / sizeof *d->spare; k++)
		mem_free(d->spare[k].row);
	return rc;
}

int func_decode(struct func_program **out, struct arena *a, const char *name, const struct ptx_module *m,
		const char *entry, const struct func_target *t, struct err *e)
{
	int32_t index = -1;
	int rc = DECODE_AGAIN;
	for (uint32_t k = 0; k < m->func_count; k++)
		if (m->funcs[k].entry && strcmp(m->funcs[k].name, entry) == 0)
			index = (int32_t)k;
	if (index < 0)
		return err_set(e, -EINVAL, "%s:1:1: there is no kernel '%s' in this module", name, entry);
	if (m->funcs[index].refused)
		return err_set(e, -EINVAL, "%s", m->funcs[index].refused);
	bool *recursive = mem_zero(m->func_count, sizeof *recursive);
	if (!recursive)
		return err_nomem(e);
	bool scarce = false;
	while (rc == DECODE_AGAIN) { /* at most once for each function, and once for rows */
		struct decoder d = {.a = a,
				    .e = e,
				    .name = name,
				    .m = m,
				    .entry = &m->funcs[index],
				    .target = t,
				    .carry = FUNC_NONE,
				    .copies = FUNC_NONE,
				    .recursive = recursive,
				    .scarce = &scarce};
		d.shares = scarce && !decode_any_recursive(&d);
		rc = decode(out, &d, index);
	}
	mem_free(recursive);
	return rc;
}
