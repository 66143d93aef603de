/* Loads, stores, atomics, and arguments of calls. */
#include "decode.h"

static unsigned register_bytes(const struct decode_frame *f, const struct ptx_operand *o, unsigned least)
{
	if (o->kind != PTX_OPND_REG)
		return least >= 8 ? 8 : 4;
	const enum ptx_type type = (enum ptx_type)f->f->regs[o->reg].type;
	return type == PTX_B128 ? 8 : ptx_type_bytes(type); /* each half */
}

/* The same where a place is named: from address 0 on, or from the stack pointer. */
static int named(struct decoder *d, struct decode_record *r, uint64_t place, unsigned *code)
{
	r->i.imm += place & ~DECODE_FRAMED;
	*code |= MEM_ADDRESS_64;
	if (!(place & DECODE_FRAMED))
		return decode_literal(d, 0, true, &r->i.a);
	r->i.a = d->stack;
	decode_reads(d, r, d->stack);
	return 0;
}

/* Row a and imm of an access; in code whether the row is wide. */
int decode_address(struct decoder *d, struct decode_frame *f, struct decode_record *r, const struct ptx_operand *o,
		   unsigned *code)
{
	r->i.imm = (uint64_t)o->offset;
	if (o->has_reg) {
		if (decode_reg_wide(f, o->reg))
			*code |= MEM_ADDRESS_64;
		DECODE_TRY(decode_reg(d, f, o->reg, &r->i.a));
		decode_reads(d, r, r->i.a);
		return 0;
	}
	return named(d, r, o->sym >= 0 ? d->address[o->sym] : 0, code);
}

/* Parameters and results, and .param variables around a call. -1: of the entry's parameter block, else its place in local
 * memory. */
static int64_t hidden_place(const struct decoder *d, const struct decode_frame *f, int32_t sym)
{
	if (sym >= 0)
		return (int64_t)d->address[sym];
	return f->f->entry ? -1 : (int64_t)f->slot[-2 - sym];
}

int decode_elements(struct decoder *d, struct decode_frame *f, struct decode_record *r, const struct ptx_inst *in,
		    const struct ptx_operand *o, bool dest, unsigned *code)
{
	enum ptx_type type = (enum ptx_type)in->type;
	unsigned n = o->kind == PTX_OPND_VECTOR ? o->count : 1, bytes = ptx_type_bytes(type), width = 0;
	for (unsigned k = 0; k < n; k++) {
		const struct ptx_operand *e = o->kind == PTX_OPND_VECTOR ? &in->vec[o->index + (int)k] : o;
		uint16_t *row = k ? &r->i.more[k - 1] : dest ? &r->i.dst : &r->i.b;
		if (e->kind == PTX_OPND_SINK) {
			*row = FUNC_NONE;
			continue;
		}
		unsigned own = register_bytes(f, e, bytes);
		if (width && e->kind == PTX_OPND_REG && own != width)
			return decode_fail(d, "the registers of one vector have different sizes");
		if (e->kind == PTX_OPND_REG || !width)
			width = own;
		DECODE_TRY(dest ? decode_dest(d, f, r, e, row) : decode_source(d, f, r, e, type, row));
	}
	/* A constant's row is as wide as its type needs; registers beside it must agree. */
	for (unsigned k = 0; !dest && k < n; k++) {
		const struct ptx_operand *e = o->kind == PTX_OPND_VECTOR ? &in->vec[o->index + (int)k] : o;
		if (e->kind != PTX_OPND_REG && width == 8 && bytes < 8)
			DECODE_TRY(decode_literal(d, e->imm, true, k ? &r->i.more[k - 1] : &r->i.b));
	}
	if (width == 0)
		width = bytes >= 8 ? 8 : 4;
	*code |= (unsigned)type | n << MEM_COUNT_SHIFT | width << MEM_WIDTH_SHIFT;
	if (ptx_type_class(type) == 'i' && ptx_type_signed(type))
		*code |= MEM_SIGNED;
	r->i.bytes = (uint8_t)(n * bytes);
	return 0;
}

static bool skips_l1(const struct ptx_inst *in)
{
	const uint32_t strong = PTX_VOLATILE | PTX_RELAXED | PTX_ACQUIRE | PTX_RELEASE | PTX_ACQ_REL | PTX_SC;
	return in->cache == PTX_CG || in->cache == PTX_CV || (in->mods & strong);
}

/* The usual load and store have handlers of their own. */
static uint16_t special_handler(const struct func_inst *i, unsigned code, bool store, uint16_t otherwise)
{
	unsigned type = code & MEM_TYPE, width = code >> MEM_WIDTH_SHIFT & 15;
	unsigned bytes = ptx_type_bytes((enum ptx_type)type);
	if ((bytes != 4 && bytes != 8) || width != bytes || (code >> MEM_COUNT_SHIFT & 7) != 1)
		return otherwise;
	if (!store && i->dst == FUNC_NONE)
		return otherwise;
	if (bytes == 8)
		return store || i->space != PTX_GLOBAL || !(code & MEM_ADDRESS_64) ? otherwise : EXEC_ld_global_64;
	switch (i->space) {
	case PTX_GLOBAL:
		return !(code & MEM_ADDRESS_64) ? otherwise : store ? EXEC_st_global_32 : EXEC_ld_global_32;
	case PTX_SHARED:
		return store ? otherwise : EXEC_ld_shared_32;
	case PTX_CONST:
		return store ? otherwise : EXEC_ld_const_32;
	default:
		return otherwise;
	}
}

static int hidden(struct decoder *d, struct decode_record *r, uint64_t place, unsigned *code)
{
	r->i.kind = FUNC_ALU;
	r->i.space = PTX_LOCAL;
	return named(d, r, place, code);
}

static int load_store(struct decoder *d, struct decode_frame *f, const struct ptx_inst *in, bool store)
{
	struct decode_record r;
	const struct ptx_operand *where = &in->operand[store ? 0 : 1], *what = &in->operand[store ? 1 : 0];
	unsigned code = 0;
	DECODE_TRY(decode_begin(d, f, in, &r));
	r.i.kind = store ? FUNC_STORE : FUNC_LOAD;
	r.i.space = in->op == PTX_OP_LDU && !in->space ? PTX_GLOBAL : in->space;
	if (r.i.space == PTX_GENERIC && !where->has_reg && where->sym >= 0)
		r.i.space = d->m->vars[where->sym].space;
	DECODE_TRY(decode_elements(d, f, &r, in, what, !store, &code));
	r.i.op = store ? EXEC_store : EXEC_load;
	if (r.i.space == PTX_PARAM && where->has_reg) {
		DECODE_TRY(decode_address(d, f, &r, where, &code));
		if (store && f->f->entry)
			return decode_fail(d, "the parameters of a kernel cannot be written");
		r.i.kind = FUNC_ALU; /* what ld.param is with a name, too */
		r.i.space = f->f->entry ? PTX_PARAM : PTX_LOCAL;
	} else if (r.i.space == PTX_PARAM) {
		int64_t place = hidden_place(d, f, where->sym);
		r.i.imm = (uint64_t)where->offset;
		if (place >= 0) {
			DECODE_TRY(hidden(d, &r, (uint64_t)place, &code));
		} else {
			if (store)
				return decode_fail(d, "the parameters of a kernel cannot be written");
			r.i.kind = FUNC_ALU;
			r.i.op = EXEC_load_param;
			r.i.imm += f->f->params[-2 - where->sym].offset;
		}
	} else {
		DECODE_TRY(decode_address(d, f, &r, where, &code));
		r.i.op = special_handler(&r.i, code, store, r.i.op);
		if (skips_l1(in))
			r.i.flags |= FUNC_SKIP_L1;
		if (in->cache == PTX_NC)
			r.i.flags |= FUNC_READONLY;
	}
	r.i.more[3] = (uint16_t)code;
	return decode_emit(d, &r);
}

/* One argument or result between a register or constant and its place in local memory. */
int decode_slot_copy(struct decoder *d, struct decode_frame *f, const struct ptx_inst *in, const struct ptx_operand *o,
		     enum ptx_type type, uint64_t slot, bool store)
{
	struct decode_record r;
	struct ptx_inst one = *in;
	unsigned code = 0;
	one.type = (uint8_t)type;
	DECODE_TRY(decode_begin(d, f, in, &r));
	DECODE_TRY(decode_elements(d, f, &r, &one, o, !store, &code));
	r.i.imm = 0;
	r.i.op = store ? EXEC_store : EXEC_load;
	DECODE_TRY(hidden(d, &r, slot, &code));
	r.i.more[3] = (uint16_t)code;
	return decode_emit(d, &r);
}

int decode_slot_row(struct decoder *d, struct decode_frame *f, const struct ptx_inst *in, uint16_t row, unsigned bytes,
		    uint64_t slot, bool store)
{
	struct decode_record r;
	const unsigned type = bytes == 8 ? PTX_B64 : bytes == 4 ? PTX_B32 : bytes == 2 ? PTX_B16 : PTX_B8;
	unsigned code = type | 1u << MEM_COUNT_SHIFT | (bytes == 8 ? 8u : 4u) << MEM_WIDTH_SHIFT;
	DECODE_TRY(decode_begin(d, f, in, &r));
	r.i.op = store ? EXEC_store : EXEC_load;
	r.i.imm = 0;
	r.i.bytes = (uint8_t)bytes;
	if (store) {
		r.i.b = row;
		decode_reads(d, &r, row);
	} else {
		r.i.dst = row;
		decode_writes(&r, row);
	}
	DECODE_TRY(hidden(d, &r, slot, &code));
	r.i.more[3] = (uint16_t)code;
	return decode_emit(d, &r);
}

/* Whole numbers come out the same in whatever order they are added, compared or combined, if nobody is told what was there before. */
void decode_orders(struct decoder *d, const struct func_inst *i, enum ptx_atom atom, enum ptx_type type)
{
	const bool swaps =
	    atom == PTX_ATOM_EXCH || atom == PTX_ATOM_CAS || atom == PTX_ATOM_INC || atom == PTX_ATOM_DEC;
	if (i->space == PTX_SHARED)
		return;
	d->p->atomics = true;
	d->p->ordered |= i->dst != FUNC_NONE || swaps || ptx_type_class(type) == 'f' || ptx_type_bytes(type) < 4;
}

/* made: a row of 32 bits for the answer, in place of the destination; NULL: none */
static int atomic(struct decoder *d, struct decode_frame *f, const struct ptx_inst *in, uint16_t *made)
{
	struct decode_record r;
	const struct ptx_operand *o = in->operand;
	enum ptx_type type = (enum ptx_type)in->type;
	unsigned code = 0;
	DECODE_TRY(decode_begin(d, f, in, &r));
	r.i.kind = FUNC_ATOMIC;
	r.i.op = EXEC_atomic;
	r.i.space = in->space;
	r.i.bytes = (uint8_t)ptx_type_bytes(type);
	if (made) {
		DECODE_TRY(decode_new_row(d, false, made));
		decode_writes(&r, *made);
		r.i.dst = *made;
		o++;
	} else if (in->op == PTX_OP_ATOM) {
		DECODE_TRY(decode_dest(d, f, &r, o++, &r.i.dst));
	}
	if (r.i.space == PTX_GENERIC && !o->has_reg && o->sym >= 0)
		r.i.space = d->m->vars[o->sym].space;
	decode_orders(d, &r.i, (enum ptx_atom)in->atom, type);
	DECODE_TRY(decode_address(d, f, &r, o++, &code));
	DECODE_TRY(decode_source(d, f, &r, o++, type, &r.i.b));
	r.i.c = r.i.b;
	if (in->atom == PTX_ATOM_CAS)
		DECODE_TRY(decode_source(d, f, &r, o, type, &r.i.c));
	r.i.more[0] = in->atom;
	r.i.more[1] = in->type;
	r.i.more[2] = (uint16_t)code;
	return decode_emit(d, &r);
}

/* Of a vector: one element after the other. A list may name a register of the address, so results come last. */
static int atomics(struct decoder *d, struct decode_frame *f, const struct ptx_inst *in)
{
	const bool answers = in->op == PTX_OP_ATOM;
	struct decode_record r;
	struct ptx_inst each = *in;
	const struct ptx_operand *to = &in->operand[0];
	uint16_t made[8], at;
	if (in->vec_width > sizeof made / sizeof *made)
		return decode_not(d, in);
	each.vec_width = 1;
	for (unsigned k = 0; k < in->vec_width; k++) {
		each.operand[answers ? 2 : 1] = in->vec[in->operand[answers ? 2 : 1].index + (int)k];
		DECODE_TRY(atomic(d, f, &each, answers ? &made[k] : NULL));
		each.operand[answers ? 1 : 0].offset += ptx_type_bytes((enum ptx_type)in->type);
	}
	for (unsigned k = 0; answers && k < in->vec_width; k++) {
		const struct ptx_operand *e = &in->vec[to->index + (int)k];
		if (e->kind == PTX_OPND_SINK)
			continue;
		DECODE_TRY(decode_begin(d, f, in, &r));
		DECODE_TRY(decode_dest(d, f, &r, e, &at));
		r.i.op = EXEC_mov_32;
		r.i.dst = at;
		r.i.a = made[k];
		decode_reads(d, &r, made[k]);
		DECODE_TRY(decode_emit(d, &r));
	}
	return 0;
}

/* More than a record moves: the first and the second half, one after the other. */
static int in_halves(struct decoder *d, struct decode_frame *f, const struct ptx_inst *in, bool store)
{
	struct ptx_inst half = *in;
	struct ptx_operand *what = &half.operand[store ? 1 : 0], *where = &half.operand[store ? 0 : 1];
	half.vec_width /= 2;
	what->count /= 2;
	DECODE_TRY(load_store(d, f, &half, store));
	what->index += what->count;
	where->offset += half.vec_width * ptx_type_bytes((enum ptx_type)in->type);
	return load_store(d, f, &half, store);
}

/* One element of 128 bits: two of 64 that lie side by side. */
static int large(struct decoder *d, struct decode_frame *f, const struct ptx_inst *in, bool store)
{
	struct ptx_inst two = *in;
	struct ptx_operand half[2], *what = &two.operand[store ? 1 : 0];
	if (what->kind != PTX_OPND_REG)
		return decode_fail(d, "an access of 128 bits takes a register");
	decode_halves(what, half);
	*what = (struct ptx_operand){.kind = PTX_OPND_VECTOR, .count = 2, .sym = -1, .reg = -1};
	two.type = PTX_B64;
	two.vec_width = 2;
	two.vec = half;
	return load_store(d, f, &two, store);
}

int decode_memory(struct decoder *d, struct decode_frame *f, const struct ptx_inst *in)
{
	if (in->type == PTX_B128 && (in->op == PTX_OP_LD || in->op == PTX_OP_ST))
		return large(d, f, in, in->op == PTX_OP_ST);

	if ((in->op == PTX_OP_LD || in->op == PTX_OP_ST) &&
	    in->vec_width * ptx_type_bytes((enum ptx_type)in->type) > 16)
		return in_halves(d, f, in, in->op == PTX_OP_ST);
	switch (in->op) {
	case PTX_OP_LD:
	case PTX_OP_LDU:
		return load_store(d, f, in, false);
	case PTX_OP_ST:
		return load_store(d, f, in, true);
	default:
		return in->vec_width > 1 ? atomics(d, f, in) : atomic(d, f, in, NULL);
	}
}
