/* Functions that call themselves, directly or through others. Their bodies stand once, behind the entry's. A thread has a stack in its local memory:
 * what a body names there, and its registers that are needed behind a call. Arguments and results are handed over at a fixed place of each function. */
#include "decode.h"
#include <string.h>

#define STACK_BYTES  (16u << 10) /* of a thread, where there is so much local memory */
#define STACK_NAME   (DECODE_FRAMED | 1)
#define FRAME_ALIGN  16u
#define PREDS_A_WORD 32u

static uint64_t align_up(uint64_t n)
{
	return (n + FRAME_ALIGN - 1) / FRAME_ALIGN * FRAME_ALIGN;
}

/* What is so large, at a multiple of its alignment: its place, and *at behind it. */
static uint64_t put(uint64_t *at, uint64_t bytes, uint32_t align)
{
	const uint64_t to = align > 8 ? FRAME_ALIGN : 8, place = (*at + to - 1) / to * to;
	*at = place + bytes;
	return place;
}

bool decode_is_framed(const struct decoder *d, int32_t sym)
{
	return d->m->vars[sym].func >= 0 && d->recursive[d->m->vars[sym].func];
}

bool decode_any_recursive(const struct decoder *d)
{
	for (uint32_t k = 0; k < d->m->func_count; k++)
		if (d->recursive[k])
			return true;
	return false;
}

int decode_again(struct decoder *d, const struct decode_frame *caller, int32_t index)
{
	const struct decode_frame *x = caller;
	d->recursive[index] = true;
	for (; x->index != index; x = x->caller)
		d->recursive[x->index] = true;
	return DECODE_AGAIN;
}

/* ---- rows and bytes ---- */

static int set_row(struct decoder *d, struct decode_frame *f, const struct ptx_inst *in, uint16_t row, uint64_t bits)
{
	struct decode_record r;
	const bool wide = d->wide[row];
	DECODE_TRY(decode_begin(d, f, in, &r));
	r.i.op = wide ? EXEC_mov_64 : EXEC_mov_32;
	r.i.dst = row;
	DECODE_TRY(decode_literal(d, bits, wide, &r.i.a));
	decode_writes(&r, row);
	return decode_emit(d, &r);
}

int decode_framed_address(struct decoder *d, struct decode_frame *f, uint64_t place, bool wide, uint16_t *row)
{
	struct decode_record r;
	struct ptx_inst in = *d->at;
	uint16_t whole = FUNC_NONE;
	in.guard = -1;
	DECODE_TRY(decode_new_row(d, true, &whole));
	DECODE_TRY(decode_begin(d, f, &in, &r));
	r.i.op = EXEC_add_u64;
	r.i.dst = whole;
	r.i.a = d->stack;
	DECODE_TRY(decode_literal(d, place & ~DECODE_FRAMED, true, &r.i.b));
	decode_reads(d, &r, d->stack);
	decode_writes(&r, whole);
	DECODE_TRY(decode_emit(d, &r));
	*row = whole;
	if (wide)
		return 0;
	DECODE_TRY(decode_new_row(d, false, row));
	DECODE_TRY(decode_begin(d, f, &in, &r));
	r.i.op = EXEC_mov_32_64;
	r.i.dst = *row;
	r.i.a = whole;
	decode_reads(d, &r, whole);
	decode_writes(&r, *row);
	return decode_emit(d, &r);
}

static int copy(struct decoder *d, struct decode_frame *f, const struct ptx_inst *in, uint64_t to, uint64_t from,
		uint32_t bytes)
{
	for (uint32_t at = 0, unit; at < bytes; at += unit) {
		uint16_t row = FUNC_NONE;
		unit = 8;
		while ((to + at) % unit || (from + at) % unit || unit > bytes - at)
			unit /= 2;
		DECODE_TRY(decode_new_row(d, unit == 8, &row));
		DECODE_TRY(decode_slot_row(d, f, in, row, unit, from + at, false));
		DECODE_TRY(decode_slot_row(d, f, in, row, unit, to + at, true));
	}
	return 0;
}

/* ---- regions ---- */

static const struct ptx_param *handed(const struct ptx_func *f, uint32_t k)
{
	return k < f->param_count ? &f->params[k] : &f->rets[k - f->param_count];
}

/* Place of argument or result k in what is handed over, and in the frame; of the one behind the last: how much all take. */
static uint64_t place_of(const struct ptx_func *f, uint32_t k)
{
	uint64_t at = 0, place = 0;
	for (uint32_t n = 0; n <= k && n < f->param_count + f->ret_count; n++)
		place = put(&at, handed(f, n)->size, handed(f, n)->align);
	return k < f->param_count + f->ret_count ? place : at;
}

static int region_new(struct decoder *d, int32_t index)
{
	const struct ptx_func *f = &d->m->funcs[index];
	struct decode_region *g = &d->region[d->regions];
	const uint32_t all = f->param_count + f->ret_count;
	for (uint32_t k = 0; k < all; k++)
		if (handed(f, k)->reg >= 0 || !handed(f, k)->size)
			return decode_fail(d, "'%s' calls itself and takes %s, which is not executed", f->name,
					   handed(f, k)->size ? "registers" : "an array without a size");
	*g = (struct decode_region){.func = index, .box = align_up(d->local_bytes), .bytes = place_of(f, all)};
	d->local_bytes = g->box + g->bytes;
	for (uint32_t k = 0; k < d->m->var_count; k++) {
		const struct ptx_var *v = &d->m->vars[k];
		if (v->func != index || (v->space != PTX_LOCAL && v->space != PTX_PARAM))
			continue;
		d->address[k] = DECODE_FRAMED | put(&g->bytes, v->size, v->align);
	}
	g->bytes = align_up(g->bytes);
	d->regions++;
	return 0;
}

static int region_of(struct decoder *d, int32_t index, uint32_t *n)
{
	for (*n = 0; *n < d->regions; ++*n)
		if (d->region[*n].func == index)
			return 0;
	return region_new(d, index);
}

/* What is handed over: bytes of the caller's variable, or a register of it. */
static int hand_over(struct decoder *d, struct decode_frame *caller, const struct ptx_inst *in,
		     const struct ptx_operand *o, const struct ptx_param *q, uint64_t box, bool result)
{
	uint64_t place = 0;
	if (o->kind == PTX_OPND_SINK)
		return 0;
	if (o->kind != PTX_OPND_SYMBOL)
		return decode_slot_copy(d, caller, in, o, (enum ptx_type)q->type, box, !result);
	DECODE_TRY(decode_param_place(d, caller, o, q, &place));
	return copy(d, caller, in, result ? place : box, result ? box : place, q->size);
}

static int frame_record(struct decoder *d, struct decode_frame *f, const struct ptx_inst *in, uint16_t op)
{
	struct decode_record r;
	DECODE_TRY(decode_begin(d, f, in, &r));
	r.i.op = op;
	r.i.space = PTX_LOCAL;
	r.i.a = r.i.dst = d->stack;
	decode_reads(d, &r, d->stack);
	decode_writes(&r, d->stack);
	return decode_emit(d, &r);
}

static int jump(struct decoder *d, struct decode_frame *f, const struct ptx_inst *in, uint32_t callee)
{
	struct decode_record r;
	if (mem_room((void **)&d->site, &d->site_cap, d->sites, sizeof *d->site))
		return err_nomem(d->e);
	if (f->region >= 0)
		DECODE_TRY(frame_record(d, f, in, EXEC_push));
	DECODE_TRY(set_row(d, f, in, d->back, d->region[callee].sites++));
	DECODE_TRY(decode_begin(d, f, in, &r));
	r.i.kind = FUNC_BRANCH;
	r.i.flags = FUNC_UNIFORM;
	d->site[d->sites++] = (struct decode_site){.callee = callee, .caller = f->region, .jump = d->n};
	DECODE_TRY(decode_emit(d, &r));
	return f->region >= 0 ? frame_record(d, f, in, EXEC_pop) : 0;
}

int decode_call_apart(struct decoder *d, struct decode_frame *caller, const struct ptx_inst *in, int32_t index)
{
	const struct ptx_func *f = &d->m->funcs[index];
	uint32_t n = 0;
	DECODE_TRY(region_of(d, index, &n));
	const uint64_t box = d->region[n].box;
	for (uint32_t k = 0; k < f->param_count; k++)
		DECODE_TRY(hand_over(d, caller, in, &in->vec[in->operand[2].index + (int)k], &f->params[k],
				     box + place_of(f, k), false));
	DECODE_TRY(jump(d, caller, in, n));
	for (uint32_t k = 0; k < f->ret_count; k++)
		DECODE_TRY(hand_over(d, caller, in, &in->vec[in->operand[0].index + (int)k], &f->rets[k],
				     box + place_of(f, f->param_count + k), true));
	return 0;
}

/* Lanes go back to where they came from: those of one place after those of another. */
static int go_back(struct decoder *d, struct decode_frame *f, struct decode_region *g)
{
	const struct ptx_inst in = {.op = PTX_OP_RET, .guard = -1, .line = d->at->line, .column = d->at->column};
	struct decode_record r;
	DECODE_TRY(decode_begin(d, f, &in, &r));
	r.i.kind = FUNC_BRANCH;
	r.i.flags = FUNC_INDEXED;
	r.i.a = d->back;
	decode_reads(d, &r, d->back);
	g->back = d->n;
	DECODE_TRY(decode_emit(d, &r));
	DECODE_TRY(decode_begin(d, f, &in, &r));
	r.i.kind = FUNC_BRANCH;
	r.i.target = g->back;
	return decode_emit(d, &r);
}

static int region_body(struct decoder *d, struct decode_frame *f, struct decode_region *g)
{
	const struct ptx_func *func = f->f;
	const struct ptx_inst start = {.op = PTX_OP_CALL, .guard = -1, .line = func->line, .column = 1};
	const uint32_t manies = d->manies;
	f->region = (int32_t)(g - d->region);
	g->entry = d->n;
	g->row = d->rows;
	g->pred = d->preds;
	d->at = &start;
	for (uint32_t k = 0; k < func->param_count + func->ret_count; k++) {
		f->slot[k] = DECODE_FRAMED | place_of(func, k);
		if (k < func->param_count)
			DECODE_TRY(copy(d, f, &start, f->slot[k], g->box + place_of(func, k), handed(func, k)->size));
	}
	DECODE_TRY(decode_body(d, f));
	d->at = &start;
	for (uint32_t k = func->param_count; k < func->param_count + func->ret_count; k++)
		DECODE_TRY(copy(d, f, &start, g->box + place_of(func, k), f->slot[k], handed(func, k)->size));
	DECODE_TRY(go_back(d, f, g));
	g->row_end = d->rows;
	g->pred_end = d->preds;
	g->all = d->manies != manies;
	return 0;
}

int decode_frames_begin(struct decoder *d, struct decode_frame *entry)
{
	bool any = false;
	for (uint32_t k = 0; k < d->m->func_count; k++)
		any |= d->recursive[k];
	if (!any)
		return 0;
	d->region = mem_zero(d->m->func_count, sizeof *d->region);
	if (!d->region)
		return err_nomem(d->e);
	DECODE_TRY(decode_new_row(d, true, &d->stack));
	DECODE_TRY(decode_new_row(d, false, &d->back));
	return set_row(d, entry, d->at, d->stack, STACK_NAME);
}

int decode_frames(struct decoder *d)
{
	for (uint32_t k = 0; k < d->regions; k++) {
		struct decode_region *g = &d->region[k];
		struct decode_frame f;
		int rc = decode_frame_init(d, &f, NULL, &d->m->funcs[g->func], g->func);
		if (!rc)
			rc = region_body(d, &f, g);
		decode_frame_free(&f);
		if (rc)
			return rc;
	}
	return 0;
}

/* ---- when all bodies stand ---- */

static int targets(struct decoder *d, uint32_t region)
{
	struct func_inst *i = &d->inst[d->region[region].back];
	i->imm = (uint64_t)d->tables << 32 | d->region[region].sites;
	for (uint32_t k = 0; k < d->sites; k++) {
		if (d->site[k].callee != region)
			continue;
		if (mem_room((void **)&d->table, &d->table_cap, d->tables, sizeof *d->table))
			return err_nomem(d->e);
		i->target = d->site[k].jump + 1;
		d->table[d->tables++] = i->target;
		d->inst[d->site[k].jump].target = d->region[region].entry;
	}
	return 0;
}

int decode_frames_place(struct decoder *d)
{
	const uint64_t base = align_up(d->local_bytes), most = FUNC_LOCAL_MOST(d->target->cc);
	if (!d->regions)
		return 0;
	for (uint32_t k = 0; k < d->regions; k++) {
		DECODE_TRY(targets(d, k));
		if (d->region[k].bytes > d->p->frame_bytes)
			d->p->frame_bytes = d->region[k].bytes;
	}
	for (uint32_t k = 0; k < d->literals; k++)
		if (d->literal[k].wide && d->literal[k].bits == STACK_NAME)
			d->literal[k].bits = base;
	d->local_bytes = base + STACK_BYTES > most && base < most ? most : base + STACK_BYTES;
	return 0;
}

static int save(struct decoder *d, uint16_t row, uint64_t *bytes)
{
	if (mem_room((void **)&d->many, &d->many_cap, d->manies, sizeof *d->many))
		return err_nomem(d->e);
	d->many[d->manies++] = row;
	*bytes += d->wide[row] ? 8 : 4;
	return 0;
}

/* live: a bit for each row that is needed behind the call. */
int decode_frames_save(struct decoder *d, const struct decode_site *s, const uint64_t *live)
{
	const struct decode_region *g = &d->region[s->caller];
	const uint32_t first = d->manies, preds = g->pred_end - g->pred;
	struct func_inst *pair[] = {&d->inst[s->jump - 2], &d->inst[s->jump + 1]};
	uint64_t bytes = (preds + PREDS_A_WORD - 1) / PREDS_A_WORD * 4;
	/* Those of 64 bits come first, and so at multiples of their size. */
	for (int wide = 1; wide >= 0; wide--)
		for (uint32_t r = g->row; r < g->row_end; r += d->wide[r] ? 2 : 1)
			if (d->wide[r] == wide && (g->all || live[r / 64] >> r % 64 & 1))
				DECODE_TRY(save(d, (uint16_t)r, &bytes));
	DECODE_TRY(save(d, d->back, &bytes));
	if (first > UINT16_MAX || d->manies - first > UINT16_MAX)
		return decode_fail(d, "'%s' calls itself and has too many registers", d->m->funcs[g->func].name);
	for (unsigned k = 0; k < 2; k++) {
		pair[k]->imm = g->bytes | align_up(bytes) << 32;
		pair[k]->more[0] = (uint16_t)first;
		pair[k]->more[1] = (uint16_t)(d->manies - first);
		pair[k]->more[2] = (uint16_t)g->pred;
		pair[k]->more[3] = (uint16_t)preds;
	}
	return 0;
}
