/* cp.async.bulk and cp.reduce.async.bulk: a loop of pieces in the one thread that asks for it. What hardware does beside the thread takes the thread's
 * time here. */
#include "decode.h"
#include <string.h>

enum { PIECE = 16 }; /* bytes: bulk copies are aligned to and made of so many */

int decode_begin_on(struct decoder *d, struct decode_frame *f, const struct ptx_inst *in, struct decode_record *r,
		    uint16_t pred)
{
	DECODE_TRY(decode_begin(d, f, in, r));
	r->i.guard = pred;
	r->i.flags &= (uint8_t)~FUNC_GUARD_NOT;
	if (pred != FUNC_NONE)
		decode_reads(d, r, DECODE_PRED_SLOT + pred);
	return 0;
}

int decode_place(struct decoder *d, struct decode_frame *f, const struct ptx_inst *in, const struct ptx_operand *o,
		 struct decode_place *p)
{
	struct decode_record r;
	unsigned code = 0;
	if (o->kind != PTX_OPND_ADDRESS)
		return decode_not(d, in);
	DECODE_TRY(decode_begin(d, f, in, &r));
	DECODE_TRY(decode_address(d, f, &r, o, &code));
	const uint64_t fixed = r.i.imm;
	p->wide = code & MEM_ADDRESS_64;
	r.i.imm = 0;
	DECODE_TRY(decode_new_row(d, p->wide, &p->row));
	DECODE_TRY(decode_literal(d, fixed, p->wide, &r.i.b));
	r.i.op = (uint16_t)decode_plain(PTX_OP_ADD, p->wide ? PTX_U64 : PTX_U32, 0);
	r.i.dst = p->row;
	decode_writes(&r, p->row);
	return decode_emit(d, &r);
}

int decode_step(struct decoder *d, struct decode_frame *f, const struct ptx_inst *in, uint16_t pred, uint16_t op,
		const struct decode_place *to, uint16_t a, uint16_t b)
{
	struct decode_record r;
	DECODE_TRY(decode_begin_on(d, f, in, &r, pred));
	r.i.op = op;
	r.i.dst = to->row;
	r.i.a = a;
	r.i.b = b;
	r.i.more[0] = to->wide;
	decode_reads(d, &r, a);
	if (b != FUNC_NONE)
		decode_reads(d, &r, b);
	decode_writes(&r, to->row);
	return decode_emit(d, &r);
}

int decode_add(struct decoder *d, struct decode_frame *f, const struct ptx_inst *in, uint16_t pred,
	       const struct decode_place *p, uint64_t n)
{
	struct decode_record r;
	DECODE_TRY(decode_begin_on(d, f, in, &r, pred));
	r.i.op = (uint16_t)decode_plain(PTX_OP_ADD, p->wide ? PTX_U64 : PTX_U32, 0);
	r.i.dst = r.i.a = p->row;
	DECODE_TRY(decode_literal(d, n, p->wide, &r.i.b));
	decode_reads(d, &r, p->row);
	decode_writes(&r, p->row);
	return decode_emit(d, &r);
}

int decode_test(struct decoder *d, struct decode_frame *f, const struct ptx_inst *in, enum ptx_cmp cmp, uint16_t row,
		uint32_t with, uint16_t pred)
{
	struct decode_record r;
	DECODE_TRY(decode_begin_on(d, f, in, &r, FUNC_NONE));
	r.i.op = (uint16_t)decode_compare(cmp, PTX_U32);
	r.i.dst = pred;
	r.i.a = row;
	DECODE_TRY(decode_literal(d, with, false, &r.i.b));
	decode_reads(d, &r, row);
	decode_writes(&r, DECODE_PRED_SLOT + pred);
	return decode_emit(d, &r);
}

int decode_jump(struct decoder *d, struct decode_frame *f, const struct ptx_inst *in, uint16_t pred, uint32_t to)
{
	struct decode_record r;
	DECODE_TRY(decode_begin_on(d, f, in, &r, pred));
	r.i.kind = FUNC_BRANCH;
	r.i.target = to;
	return decode_emit(d, &r);
}

static enum ptx_type bits_type(unsigned bytes)
{
	return bytes == 1 ? PTX_B8 : bytes == 2 ? PTX_B16 : bytes == 4 ? PTX_B32 : PTX_B64;
}

int decode_move_bytes(struct decoder *d, struct decode_frame *f, const struct ptx_inst *in, uint16_t pred,
		      enum ptx_space space, const struct decode_place *p, unsigned bytes, const uint16_t row[2],
		      bool store)
{
	struct decode_record r;
	const unsigned count = bytes > 8 ? 2 : 1, width = bytes < 8 ? 4 : 8;
	DECODE_TRY(decode_begin_on(d, f, in, &r, pred));
	r.i.kind = store ? FUNC_STORE : FUNC_LOAD;
	r.i.op = store ? EXEC_store : EXEC_load;
	r.i.space = (uint8_t)space;
	r.info.space = r.i.space;
	r.i.bytes = (uint8_t)bytes;
	r.i.a = p->row;
	decode_reads(d, &r, p->row);
	for (unsigned k = 0; k < count; k++) {
		*(k ? &r.i.more[0] : store ? &r.i.b : &r.i.dst) = row[k];
		if (store)
			decode_reads(d, &r, row[k]);
		else
			decode_writes(&r, row[k]);
	}
	r.i.more[3] = (uint16_t)((unsigned)bits_type(bytes / count) | count << MEM_COUNT_SHIFT |
				 width << MEM_WIDTH_SHIFT | (p->wide ? MEM_ADDRESS_64 : 0));
	return decode_emit(d, &r);
}

int decode_reduce(struct decoder *d, struct decode_frame *f, const struct ptx_inst *in, uint16_t pred,
		  enum ptx_space space, const struct decode_place *p, enum ptx_atom atom, enum ptx_type type,
		  uint16_t row)
{
	struct decode_record r;
	DECODE_TRY(decode_begin_on(d, f, in, &r, pred));
	r.i.kind = FUNC_ATOMIC;
	r.i.op = EXEC_atomic;
	r.i.space = (uint8_t)space;
	r.info.space = r.i.space;
	r.i.bytes = (uint8_t)ptx_type_bytes(type);
	r.i.dst = FUNC_NONE;
	decode_orders(d, &r.i, atom, type);
	r.i.a = p->row;
	r.i.b = r.i.c = row;
	r.i.dst = FUNC_NONE;
	decode_reads(d, &r, p->row);
	decode_reads(d, &r, row);
	r.i.more[0] = (uint16_t)atom;
	r.i.more[1] = (uint16_t)type;
	r.i.more[2] = p->wide ? MEM_ADDRESS_64 : 0;
	return decode_emit(d, &r);
}

enum ptx_atom decode_atom(const struct ptx_inst *in)
{
	static const struct {
		const char *word;
		enum ptx_atom atom;
	} atoms[] = {{"inc", PTX_ATOM_INC}, {"dec", PTX_ATOM_DEC}, {"min", PTX_ATOM_MIN}, {"max", PTX_ATOM_MAX},
		     {"add", PTX_ATOM_ADD}, {"and", PTX_ATOM_AND}, {"or", PTX_ATOM_OR},	  {"xor", PTX_ATOM_XOR}};
	for (size_t n = 0; n < sizeof atoms / sizeof *atoms; n++)
		if (decode_word(in, atoms[n].word))
			return atoms[n].atom;
	return PTX_ATOM_NONE;
}

/* ---- a copy ---- */

struct bulk {
	const struct ptx_inst *in;
	enum ptx_space from_space, to_space;
	bool tensor, load;
	unsigned barrier; /* operand, 0: none */
	uint16_t on;	  /* predicate of the lanes that copy, FUNC_NONE: the instruction's own guard */
	struct decode_place to, from, signal; /* of a tensor only the one in shared memory */
	uint16_t bytes;			      /* row: that were copied */
};

static int begin(struct decoder *d, struct decode_frame *f, const struct bulk *b, struct decode_record *r)
{
	return b->on == FUNC_NONE ? decode_begin(d, f, b->in, r) : decode_begin_on(d, f, b->in, r, b->on);
}

/* The row is 0 for all lanes but those that copy, which have a value. */
static int count(struct decoder *d, struct decode_frame *f, const struct bulk *b, unsigned operand, unsigned bytes,
		 uint16_t *row)
{
	struct decode_record r;
	struct decode_place to = {.wide = false};
	DECODE_TRY(decode_new_row(d, false, row));
	to.row = *row;
	DECODE_TRY(decode_begin_on(d, f, b->in, &r, FUNC_NONE));
	r.i.op = EXEC_mov_32;
	r.i.dst = to.row;
	DECODE_TRY(decode_literal(d, 0, false, &r.i.a));
	decode_writes(&r, to.row);
	DECODE_TRY(decode_emit(d, &r));
	DECODE_TRY(begin(d, f, b, &r));
	DECODE_TRY(decode_value(d, f, &r, b->in, operand, bytes, &r.i.a));
	r.i.op = EXEC_mov_32;
	r.i.dst = to.row;
	decode_writes(&r, to.row);
	return decode_emit(d, &r);
}

/* Through registers, or to shared memory as cp.async does it. */
static int piece(struct decoder *d, struct decode_frame *f, const struct bulk *b, uint16_t here)
{
	struct decode_record r;
	uint16_t copies, row[2];
	if (b->from_space == PTX_SHARED) {
		DECODE_TRY(decode_new_row(d, true, &row[0]));
		DECODE_TRY(decode_new_row(d, true, &row[1]));
		DECODE_TRY(decode_move_bytes(d, f, b->in, here, b->from_space, &b->from, PIECE, row, false));
		return decode_move_bytes(d, f, b->in, here, b->to_space, &b->to, PIECE, row, true);
	}
	DECODE_TRY(decode_copies(d, &copies));
	DECODE_TRY(decode_begin_on(d, f, b->in, &r, here));
	r.i.kind = FUNC_LOAD;
	r.i.op = EXEC_copy;
	r.i.bytes = PIECE;
	r.i.space = PTX_GLOBAL;
	r.info.space = PTX_GLOBAL;
	r.i.a = b->from.row;
	r.i.b = b->to.row;
	r.i.c = FUNC_NONE;
	r.i.more[0] = b->to.wide;
	r.i.more[3] = b->from.wide ? MEM_ADDRESS_64 : 0;
	decode_reads(d, &r, b->from.row);
	decode_reads(d, &r, b->to.row);
	decode_writes(&r, copies);
	return decode_emit(d, &r);
}

/* Pieces from `from` to `to`, whose rows go on with them; with a reduction elements. */
static int pieces(struct decoder *d, struct decode_frame *f, struct bulk *b)
{
	const enum ptx_type type = decode_word_type(b->in, 0);
	const enum ptx_atom atom = decode_word(b->in, "reduce") ? decode_atom(b->in) : PTX_ATOM_NONE;
	const unsigned step = atom ? ptx_type_bytes(type) : PIECE;
	uint16_t left, here, row[2] = {FUNC_NONE, FUNC_NONE};
	DECODE_TRY(count(d, f, b, 2, 4, &left));
	DECODE_TRY(decode_new_pred(d, &here));
	const struct decode_place rest = {.row = left};
	const uint32_t again = d->n;
	DECODE_TRY(decode_test(d, f, b->in, PTX_GE, left, step, here));
	if (atom) {
		DECODE_TRY(decode_new_row(d, step == 8, &row[0]));
		DECODE_TRY(decode_move_bytes(d, f, b->in, here, b->from_space, &b->from, step, row, false));
		DECODE_TRY(decode_reduce(d, f, b->in, here, b->to_space, &b->to, atom, type, row[0]));
	} else {
		DECODE_TRY(piece(d, f, b, here));
	}
	DECODE_TRY(decode_add(d, f, b->in, here, &b->to, step));
	DECODE_TRY(decode_add(d, f, b->in, here, &b->from, step));
	DECODE_TRY(decode_add(d, f, b->in, here, &rest, (uint32_t) - (int32_t)step));
	DECODE_TRY(decode_jump(d, f, b->in, here, again));
	return count(d, f, b, 2, 4, &b->bytes);
}

static int one(struct decoder *d, struct decode_frame *f, struct bulk *b)
{
	struct decode_record r;
	if (b->tensor)
		DECODE_TRY(decode_tensor(d, f, b->in, b->load ? &b->to : &b->from, b->on, b->load, &b->bytes));
	else
		DECODE_TRY(pieces(d, f, b));
	if (!b->barrier)
		return 0;
	DECODE_TRY(begin(d, f, b, &r));
	r.i.a = b->signal.row;
	r.i.b = b->bytes;
	decode_reads(d, &r, b->signal.row);
	decode_reads(d, &r, b->bytes);
	if (d->copies != FUNC_NONE)
		decode_reads(d, &r, d->copies);
	decode_barrier(d, &r, MBARRIER_COMPLETE, PTX_SHARED, b->signal.wide ? MEM_ADDRESS_64 : 0);
	return decode_emit(d, &r);
}

/* The same for each block of the cluster that a mask names: its shared memory and its barrier. */
static int multicast(struct decoder *d, struct decode_frame *f, struct bulk *b, unsigned mask_at)
{
	const struct bulk all = *b;
	uint16_t mask, here, rank, less;
	DECODE_TRY(count(d, f, b, mask_at, 2, &mask));
	DECODE_TRY(decode_new_pred(d, &here));
	DECODE_TRY(decode_new_row(d, false, &rank));
	DECODE_TRY(decode_new_row(d, false, &less));
	DECODE_TRY(decode_new_row(d, all.to.wide, &b->to.row));
	DECODE_TRY(decode_new_row(d, all.signal.wide, &b->signal.row));
	if (!b->tensor)
		DECODE_TRY(decode_new_row(d, all.from.wide, &b->from.row));
	b->on = here;
	const struct decode_place number = {.row = rank}, named = {.row = mask}, lower = {.row = less};
	const uint16_t reversed = (uint16_t)decode_plain(PTX_OP_BREV, PTX_B32, 0),
		       zeros = (uint16_t)decode_plain(PTX_OP_CLZ, PTX_B32, 0),
		       both = (uint16_t)decode_plain(PTX_OP_AND, PTX_B32, 0);
	const uint32_t again = d->n;
	DECODE_TRY(decode_test(d, f, b->in, PTX_NE, mask, 0, here));
	DECODE_TRY(decode_step(d, f, b->in, here, reversed, &number, mask, FUNC_NONE));
	DECODE_TRY(decode_step(d, f, b->in, here, zeros, &number, rank, FUNC_NONE));
	DECODE_TRY(decode_step(d, f, b->in, here, EXEC_mapa, &b->to, all.to.row, rank));
	DECODE_TRY(decode_step(d, f, b->in, here, EXEC_mapa, &b->signal, all.signal.row, rank));
	if (!b->tensor)
		DECODE_TRY(decode_step(d, f, b->in, here, all.from.wide ? EXEC_mov_64 : EXEC_mov_32, &b->from,
				       all.from.row, FUNC_NONE));
	DECODE_TRY(one(d, f, b));
	DECODE_TRY(decode_step(d, f, b->in, here, EXEC_mov_32, &lower, mask, FUNC_NONE));
	DECODE_TRY(decode_add(d, f, b->in, here, &lower, UINT32_MAX));
	DECODE_TRY(decode_step(d, f, b->in, here, both, &named, mask, less));
	return decode_jump(d, f, b->in, here, again);
}

int decode_bulk(struct decoder *d, struct decode_frame *f, const struct ptx_inst *in)
{
	struct decode_record r;
	if (strstr(in->tail, "commit_group") || strstr(in->tail, "wait_group") || decode_word(in, "prefetch")) {
		DECODE_TRY(decode_begin(d, f, in, &r));
		r.i.op = EXEC_nothing;
		return decode_emit(d, &r);
	}
	d->p->borrows = "cp.async.bulk";
	const char *global = strstr(in->tail, ".global"), *shared = strstr(in->tail, ".shared");
	const bool across = strstr(in->tail, ".shared::cluster.shared::cta") != NULL,
		   reduces = decode_word(in, "reduce"), everywhere = decode_word(in, "multicast::cluster");
	struct bulk b = {.in = in, .tensor = decode_word(in, "tensor"), .on = FUNC_NONE};
	if ((!global && !across) || !shared || decode_word(in, "cp_mask") || in->operand_count < 3)
		return decode_not(d, in);
	b.load = !across && shared < global;
	b.to_space = across || b.load ? PTX_SHARED : PTX_GLOBAL;
	b.from_space = b.load ? PTX_GLOBAL : PTX_SHARED;
	b.barrier = across || b.load ? 3 : 0;
	const enum ptx_type type = decode_word_type(in, 0);
	if (reduces ? !decode_atom(in) || b.load || (!b.tensor && type == PTX_NONE) : type != PTX_NONE)
		return decode_not(d, in);
	const unsigned shared_at = b.tensor && !b.load ? 2 : 0;
	DECODE_TRY(decode_place(d, f, in, &in->operand[shared_at], b.tensor && !b.load ? &b.from : &b.to));
	if (!b.tensor)
		DECODE_TRY(decode_place(d, f, in, &in->operand[1], &b.from));
	if (b.barrier && in->operand_count <= b.barrier)
		return decode_not(d, in);
	if (b.barrier)
		DECODE_TRY(decode_place(d, f, in, &in->operand[b.barrier], &b.signal));
	/* Behind the barrier: offsets of im2col, the mask, a cache policy. */
	const unsigned offsets = b.tensor && b.load && decode_word(in, "im2col");
	return everywhere ? multicast(d, f, &b, b.barrier + 1 + offsets) : one(d, f, &b);
}
