/* Rows: registers, temporaries, literals; and what a record reads and writes. */
#include "decode.h"
#include <string.h>

/* Registers may do with fewer when they share. Those of a function that calls itself are kept by their numbers, and do not. */
static int no_room(struct decoder *d, const char *what)
{
	if (d->shares || decode_any_recursive(d))
		return decode_fail(d, "this kernel needs more than %u %s", DECODE_ROWS_MAX, what);
	*d->scarce = true;
	return DECODE_AGAIN;
}

int decode_new_row(struct decoder *d, bool wide, uint16_t *row)
{
	if (d->rows + 2 > DECODE_ROWS_MAX)
		return no_room(d, "registers and constants");
	*row = (uint16_t)d->rows;
	d->wide[d->rows] = wide;
	d->rows += wide ? 2 : 1;
	return 0;
}

int decode_new_pred(struct decoder *d, uint16_t *pred)
{
	if (d->preds + 1 > DECODE_ROWS_MAX)
		return no_room(d, "predicates");
	*pred = (uint16_t)d->preds++;
	return 0;
}

static uint32_t place(const struct decoder *d, uint64_t bits, bool wide)
{
	uint64_t h = (bits ^ bits >> 29 ^ wide) * 0x9e3779b97f4a7c15ull;
	uint32_t at = (uint32_t)(h >> 32) & (d->pool_cap - 1);
	while (d->pool[at].used && (d->pool[at].bits != bits || d->pool[at].wide != wide))
		at = (at + 1) & (d->pool_cap - 1);
	return at;
}

static int grow_pool(struct decoder *d)
{
	struct decode_row *old = d->pool;
	uint32_t cap = d->pool_cap;
	struct decode_row *bigger = mem_zero(cap ? cap * 2 : 64, sizeof *bigger);
	if (!bigger)
		return err_nomem(d->e);
	d->pool = bigger;
	d->pool_cap = cap ? cap * 2 : 64;
	for (uint32_t k = 0; k < cap; k++)
		if (old[k].used)
			d->pool[place(d, old[k].bits, old[k].wide)] = old[k];
	mem_free(old);
	return 0;
}

int decode_literal(struct decoder *d, uint64_t bits, bool wide, uint16_t *row)
{
	if (d->literals * 2 >= d->pool_cap)
		DECODE_TRY(grow_pool(d));
	uint32_t at = place(d, bits, wide);
	if (d->pool[at].used) {
		*row = d->pool[at].row;
		return 0;
	}
	if (d->literals == d->literal_cap) {
		uint32_t cap = d->literal_cap ? d->literal_cap * 2 : 32;
		struct func_literal *bigger = mem_grow(d->literal, cap * sizeof *bigger);
		if (!bigger)
			return err_nomem(d->e);
		d->literal = bigger;
		d->literal_cap = cap;
	}
	DECODE_TRY(decode_new_row(d, wide, row));
	d->pool[at] = (struct decode_row){.bits = bits, .row = *row, .wide = wide, .used = true};
	d->literal[d->literals++] = (struct func_literal){.row = *row, .wide = wide, .bits = bits};
	return 0;
}

int decode_keep_row(struct decoder *d, uint16_t row)
{
	if (mem_room((void **)&d->many, &d->many_cap, d->manies, sizeof *d->many))
		return err_nomem(d->e);
	d->many[d->manies++] = row;
	return 0;
}

int decode_wait_for(struct decoder *d, struct decode_frame *f, const struct ptx_inst *in, const uint16_t *row,
		    unsigned n)
{
	struct decode_record r;
	for (unsigned k = 0; k < n; k++) {
		if (k % (FUNC_READS - 1) == 0)
			DECODE_TRY(decode_begin(d, f, in, &r));
		decode_reads(d, &r, row[k]);
		if (k + 1 == n || (k + 1) % (FUNC_READS - 1) == 0)
			DECODE_TRY(decode_emit(d, &r));
	}
	return 0;
}

bool decode_reg_wide(const struct decode_frame *f, int32_t reg)
{
	return ptx_type_bytes((enum ptx_type)f->f->regs[reg].type) == 8;
}

int decode_reg(struct decoder *d, struct decode_frame *f, int32_t reg, uint16_t *row)
{
	enum ptx_type type = (enum ptx_type)f->f->regs[reg].type;
	if (f->row[reg] == FUNC_NONE && !decode_spare_take(d, f, reg, &f->row[reg])) {
		uint16_t upper = FUNC_NONE;
		DECODE_TRY(type == PTX_PRED ? decode_new_pred(d, &f->row[reg])
					    : decode_new_row(d, ptx_type_bytes(type) >= 8, &f->row[reg]));
		if (type == PTX_B128) /* two of 64 bits, one behind the other */
			DECODE_TRY(decode_new_row(d, true, &upper));
	}
	*row = f->row[reg];
	return 0;
}

/* Of a register of 128 bits DECODE_LOWER or DECODE_UPPER, or both. */
static int rows_of(struct decoder *d, struct decode_frame *f, const struct ptx_operand *o, uint16_t *row, bool *both)
{
	DECODE_TRY(decode_reg(d, f, o->reg, row));
	const bool large = f->f->regs[o->reg].type == PTX_B128;
	*both = large && !o->count;
	if (large && o->count == DECODE_UPPER)
		*row += DECODE_HALF_ROWS;
	return 0;
}

void decode_halves(const struct ptx_operand *o, struct ptx_operand half[2])
{
	half[0] = half[1] = *o;
	half[0].count = DECODE_LOWER;
	half[1].count = DECODE_UPPER;
}

void decode_reads(struct decoder *d, struct decode_record *r, uint32_t slot)
{
	(void)d;
	for (unsigned k = 0; k < r->info.read_count; k++)
		if (r->info.read[k] == slot)
			return;
	/* No record reads more: four vector elements, an address, a guard. */
	if (r->info.read_count < FUNC_READS)
		r->info.read[r->info.read_count++] = (uint16_t)slot;
}

void decode_writes(struct decode_record *r, uint32_t slot)
{
	if (r->info.write_count < FUNC_WRITES)
		r->info.write[r->info.write_count++] = (uint16_t)slot;
}

/* The bits of a constant in a register of the type. */
static uint64_t constant_bits(const struct ptx_operand *o, enum ptx_type type)
{
	unsigned bytes = ptx_type_bytes(type);
	uint64_t bits = o->imm;
	float f;
	double v;
	uint32_t low = (uint32_t)bits;
	if (o->kind == PTX_OPND_F64 && type == PTX_F32) {
		memcpy(&v, &bits, sizeof v);
		f = (float)v;
		memcpy(&low, &f, sizeof low);
		return low;
	}
	if (o->kind == PTX_OPND_F32 && type == PTX_F64) {
		memcpy(&f, &low, sizeof f);
		v = f;
		memcpy(&bits, &v, sizeof bits);
		return bits;
	}
	return bytes >= 8 ? bits : bits & ((1ull << (bytes * 8)) - 1);
}

uint64_t decode_symbol(const struct decoder *d, const struct decode_frame *f, int32_t sym)
{
	if (sym >= 0)
		return d->address[sym];
	return f->f->entry ? f->f->params[-2 - sym].offset : f->slot[-2 - sym];
}

static int address_row(struct decoder *d, struct decode_frame *f, struct decode_record *r, uint64_t address, bool wide,
		       uint16_t *row)
{
	if (!(address & DECODE_FRAMED))
		return decode_literal(d, address, wide, row);
	DECODE_TRY(decode_framed_address(d, f, address, wide, row));
	decode_reads(d, r, *row);
	return 0;
}

int decode_source(struct decoder *d, struct decode_frame *f, struct decode_record *r, const struct ptx_operand *o,
		  enum ptx_type type, uint16_t *row)
{
	bool both;
	switch (o->kind) {
	case PTX_OPND_REG:
		DECODE_TRY(rows_of(d, f, o, row, &both));
		decode_reads(d, r, *row);
		if (both)
			decode_reads(d, r, *row + DECODE_HALF_ROWS);
		return 0;
	case PTX_OPND_SYMBOL:
		return address_row(d, f, r, decode_symbol(d, f, o->sym) + (uint64_t)o->offset,
				   ptx_type_bytes(type) == 8, row);
	case PTX_OPND_FUNC:
		return decode_literal(d, FUNC_CODE_BASE + (uint64_t)o->index * FUNC_CODE_STEP,
				      ptx_type_bytes(type) == 8, row);
	default:
		return decode_literal(d, constant_bits(o, type), ptx_type_bytes(type) == 8, row);
	}
}

int decode_dest(struct decoder *d, struct decode_frame *f, struct decode_record *r, const struct ptx_operand *o,
		uint16_t *row)
{
	if (o->kind == PTX_OPND_SINK) {
		*row = FUNC_NONE;
		return 0;
	}
	bool pred = f->f->regs[o->reg].type == PTX_PRED, both;
	DECODE_TRY(rows_of(d, f, o, row, &both));
	decode_writes(r, pred ? DECODE_PRED_SLOT + *row : *row);
	if (both)
		decode_writes(r, *row + DECODE_HALF_ROWS);
	return 0;
}

int decode_pred_source(struct decoder *d, struct decode_frame *f, struct decode_record *r, const struct ptx_operand *o,
		       uint16_t *pred)
{
	DECODE_TRY(decode_reg(d, f, o->reg, pred));
	decode_reads(d, r, DECODE_PRED_SLOT + *pred);
	return 0;
}

int decode_constant_pred(struct decoder *d, struct decode_frame *f, const struct ptx_inst *in, uint64_t value,
			 uint16_t *pred)
{
	struct decode_record r;
	DECODE_TRY(decode_new_pred(d, pred));
	DECODE_TRY(decode_begin(d, f, in, &r));
	r.i.op = EXEC_pred_set;
	r.i.dst = *pred;
	r.i.imm = value != 0;
	decode_writes(&r, DECODE_PRED_SLOT + *pred);
	return decode_emit(d, &r);
}
