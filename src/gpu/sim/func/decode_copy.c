/* Copies that do not pass registers, cp.async and its groups, and the barriers in memory that wait for them. A copy is done at once: its groups
 * and barriers have nothing to wait for but time. */
#include "decode.h"
#include <string.h>

/* The row whose arrival stands for that of all copies so far. */
static int copies_row(struct decoder *d, uint16_t *row)
{
	if (d->copies == FUNC_NONE)
		DECODE_TRY(decode_new_row(d, false, &d->copies));
	*row = d->copies;
	return 0;
}

static int copy(struct decoder *d, struct decode_frame *f, const struct ptx_inst *in)
{
	struct decode_record r;
	unsigned code = 0, unused = 0;
	uint16_t row, take = FUNC_NONE;
	const struct ptx_operand *to = &in->operand[0], *from = &in->operand[1], *bytes = &in->operand[2];
	DECODE_TRY(copies_row(d, &row));
	DECODE_TRY(decode_begin(d, f, in, &r));
	if (decode_word(in, "commit_group") || decode_word(in, "wait_group") || decode_word(in, "wait_all")) {
		if (!decode_word(in, "commit_group"))
			decode_reads(d, &r, row);
		return decode_emit(d, &r);
	}
	bool plain = decode_word(in, "ca") || decode_word(in, "cg"), policy = decode_word(in, "L2::cache_hint");
	if (!plain || in->operand_count < 3u + policy || to->kind != PTX_OPND_ADDRESS ||
	    from->kind != PTX_OPND_ADDRESS || bytes->kind != PTX_OPND_INT ||
	    (bytes->imm != 4 && bytes->imm != 8 && bytes->imm != 16))
		return decode_not(d, in);
	if (in->operand_count > 3u + policy) { /* how much of it is read, or whether nothing is */
		if (decode_is_pred(f, &in->operand[3]))
			return decode_not(d, in);
		DECODE_TRY(decode_value(d, f, &r, in, 3, 4, &take));
	}
	if (to->offset < 0 || to->offset > UINT16_MAX) /* what the record has room for */
		return decode_not(d, in);
	DECODE_TRY(decode_address(d, f, &r, to, &unused));
	uint64_t fixed = r.i.imm;
	r.i.b = r.i.a;
	if (fixed > UINT16_MAX)
		return decode_not(d, in);
	r.i.more[1] = (uint16_t)fixed;
	r.i.more[0] = (unused & MEM_ADDRESS_64) != 0;
	DECODE_TRY(decode_address(d, f, &r, from, &code));
	r.i.c = take;
	r.i.kind = FUNC_LOAD;
	r.i.op = EXEC_copy;
	r.i.space = PTX_GLOBAL;
	r.i.bytes = (uint8_t)bytes->imm;
	r.i.more[3] = (uint16_t)code;
	r.info.space = PTX_GLOBAL;
	decode_writes(&r, row);
	return decode_emit(d, &r);
}

static void barrier_record(struct decoder *d, struct decode_record *r, enum exec_barrier_op op, enum ptx_space space,
			   unsigned code)
{
	r->i.kind = FUNC_ATOMIC;
	r->i.op = EXEC_mbarrier;
	r->i.space = (uint8_t)space;
	d->p->atomics |= space != PTX_SHARED;
	r->info.space = r->i.space;
	r->i.bytes = 8;
	r->i.more[0] = (uint16_t)op;
	r->i.more[1] = PTX_B64;
	r->i.more[2] = (uint16_t)code;
}

static int mbarrier(struct decoder *d, struct decode_frame *f, const struct ptx_inst *in)
{
	static const struct {
		const char *word;
		enum exec_barrier_op op;
	} ops[] = {{"init", MBARRIER_INIT},	{"inval", MBARRIER_INVAL},	{"expect_tx", MBARRIER_EXPECT},
		   {"arrive", MBARRIER_ARRIVE}, {"arrive_drop", MBARRIER_DROP}, {"test_wait", MBARRIER_TEST},
		   {"try_wait", MBARRIER_TEST}};
	struct decode_record r;
	unsigned code = 0, at = 0, k;
	const size_t count = sizeof ops / sizeof *ops;
	size_t n = count;
	/* arrive.expect_tx is an arrival */
	for (size_t x = 0; x < count; x++)
		if (decode_word(in, ops[x].word) && (n == count || ops[x].op != MBARRIER_EXPECT))
			n = x;
	if (n == count || decode_word(in, "noComplete"))
		return decode_not(d, in);
	enum exec_barrier_op op = ops[n].op;
	bool wait = op == MBARRIER_TEST, arrives = op == MBARRIER_ARRIVE || op == MBARRIER_DROP;
	if (wait && decode_word(in, "parity"))
		op = MBARRIER_PARITY;
	DECODE_TRY(decode_begin(d, f, in, &r));
	if (wait) {
		if (!in->operand_count || !decode_is_pred(f, &in->operand[0]))
			return decode_not(d, in);
		DECODE_TRY(decode_dest(d, f, &r, &in->operand[at++], &r.i.more[3]));
	} else if (arrives && in->operand_count && in->operand[0].kind != PTX_OPND_ADDRESS) {
		DECODE_TRY(decode_result(d, f, &r, in, 8));
		at++;
	}
	k = at++;
	if (k >= in->operand_count || in->operand[k].kind != PTX_OPND_ADDRESS)
		return decode_not(d, in);
	if (at < in->operand_count) {
		bool bytes = op == MBARRIER_EXPECT || (arrives && decode_word(in, "expect_tx"));
		DECODE_TRY(
		    decode_value(d, f, &r, in, at, op == MBARRIER_TEST ? 8 : 4, bytes && arrives ? &r.i.c : &r.i.b));
	}
	DECODE_TRY(decode_address(d, f, &r, &in->operand[k], &code));
	const bool shared = decode_word(in, "shared") || decode_word(in, "shared::cta") ||
			    decode_word(in, "shared::cluster") || in->operand[k].sym >= 0;
	barrier_record(d, &r, op, shared ? PTX_SHARED : PTX_GENERIC, code);
	return decode_emit(d, &r);
}

/* cp.async.mbarrier.arrive: all copies so far are there. Unless .noinc is said the barrier was told to expect it, by the same instruction. */
static int arrive(struct decoder *d, struct decode_frame *f, const struct ptx_inst *in)
{
	struct decode_record r;
	unsigned code = 0;
	uint16_t row;
	const bool counts = decode_word(in, "noinc");
	DECODE_TRY(copies_row(d, &row));
	DECODE_TRY(decode_begin(d, f, in, &r));
	decode_reads(d, &r, row);
	if (in->operand_count != 1 || in->operand[0].kind != PTX_OPND_ADDRESS)
		return decode_not(d, in);
	DECODE_TRY(decode_address(d, f, &r, &in->operand[0], &code));
	if (counts)
		barrier_record(d, &r, MBARRIER_ARRIVE, PTX_SHARED, code);
	else
		r.i.op = EXEC_nothing;
	return decode_emit(d, &r);
}

#define BULK_PIECE 16 /* bytes: bulk copies are aligned to and made of so many */

/* A record for the lanes of a predicate alone, FUNC_NONE: for all, whatever the instruction's guard. */
static int begin_on(struct decoder *d, struct decode_frame *f, const struct ptx_inst *in, struct decode_record *r,
		    uint16_t pred)
{
	DECODE_TRY(decode_begin(d, f, in, r));
	r->i.guard = pred;
	r->i.flags &= (uint8_t)~FUNC_GUARD_NOT;
	if (pred != FUNC_NONE)
		decode_reads(d, r, DECODE_PRED_SLOT + pred);
	return 0;
}

/* An address in a row of its own. */
static int address_row(struct decoder *d, struct decode_frame *f, const struct ptx_inst *in,
		       const struct ptx_operand *o, uint16_t *row, bool *wide)
{
	struct decode_record r;
	unsigned code = 0;
	DECODE_TRY(decode_begin(d, f, in, &r));
	DECODE_TRY(decode_address(d, f, &r, o, &code));
	const uint64_t fixed = r.i.imm;
	*wide = code & MEM_ADDRESS_64;
	r.i.imm = 0;
	DECODE_TRY(decode_new_row(d, *wide, row));
	DECODE_TRY(decode_literal(d, fixed, *wide, &r.i.b));
	r.i.op = (uint16_t)decode_plain(PTX_OP_ADD, *wide ? PTX_U64 : PTX_U32, 0);
	r.i.dst = *row;
	decode_writes(&r, *row);
	return decode_emit(d, &r);
}

static int add_to(struct decoder *d, struct decode_frame *f, const struct ptx_inst *in, uint16_t pred, uint16_t row,
		  bool wide, uint64_t n)
{
	struct decode_record r;
	DECODE_TRY(begin_on(d, f, in, &r, pred));
	r.i.op = (uint16_t)decode_plain(PTX_OP_ADD, wide ? PTX_U64 : PTX_U32, 0);
	r.i.dst = r.i.a = row;
	DECODE_TRY(decode_literal(d, n, wide, &r.i.b));
	decode_reads(d, &r, row);
	decode_writes(&r, row);
	return decode_emit(d, &r);
}

enum bulk_way { BULK_IN, BULK_OUT, BULK_ACROSS }; /* global to shared memory, back, from block to block of a cluster */
/* One piece of a bulk copy: from global to shared memory as cp.async does it, or through registers. */
static int piece(struct decoder *d, struct decode_frame *f, const struct ptx_inst *in, const uint16_t row[2],
		 const bool wide[2], enum bulk_way way, uint16_t here)
{
	const bool to_shared = way == BULK_IN;
	const unsigned pair = PTX_B64 | 2u << MEM_COUNT_SHIFT | 8u << MEM_WIDTH_SHIFT;
	struct decode_record r;
	uint16_t copies, low, high;
	DECODE_TRY(copies_row(d, &copies));
	DECODE_TRY(begin_on(d, f, in, &r, here));
	decode_reads(d, &r, row[1]);
	r.i.kind = FUNC_LOAD;
	r.i.bytes = BULK_PIECE;
	r.i.space = to_shared ? PTX_GLOBAL : PTX_SHARED;
	r.info.space = r.i.space;
	r.i.a = row[1];
	r.i.more[3] = wide[1] ? MEM_ADDRESS_64 : 0;
	if (to_shared) {
		r.i.op = EXEC_copy;
		r.i.b = row[0];
		r.i.c = FUNC_NONE;
		r.i.more[0] = wide[0];
		decode_reads(d, &r, row[0]);
		decode_writes(&r, copies);
		return decode_emit(d, &r);
	}
	DECODE_TRY(decode_new_row(d, true, &low));
	DECODE_TRY(decode_new_row(d, true, &high));
	r.i.op = EXEC_load;
	r.i.dst = low;
	r.i.more[0] = high;
	r.i.more[3] = (uint16_t)(r.i.more[3] | pair);
	decode_writes(&r, low);
	decode_writes(&r, high);
	DECODE_TRY(decode_emit(d, &r));
	DECODE_TRY(begin_on(d, f, in, &r, here));
	decode_reads(d, &r, row[0]);
	decode_reads(d, &r, low);
	decode_reads(d, &r, high);
	r.i.kind = FUNC_STORE;
	r.i.op = EXEC_store;
	r.i.bytes = BULK_PIECE;
	r.i.space = way == BULK_OUT ? PTX_GLOBAL : PTX_SHARED;
	r.info.space = r.i.space;
	r.i.a = row[0];
	r.i.b = low;
	r.i.more[0] = high;
	r.i.more[3] = (uint16_t)(pair | (wide[0] ? MEM_ADDRESS_64 : 0));
	return decode_emit(d, &r);
}

/* All pieces, by the lanes that the instruction's guard lets through. */
static int pieces(struct decoder *d, struct decode_frame *f, const struct ptx_inst *in, const uint16_t row[2],
		  const bool wide[2], enum bulk_way way)
{
	struct decode_record r;
	uint16_t left, here;
	DECODE_TRY(decode_new_row(d, false, &left));
	DECODE_TRY(decode_new_pred(d, &here));
	DECODE_TRY(begin_on(d, f, in, &r, FUNC_NONE));
	r.i.op = EXEC_mov_32;
	r.i.dst = left;
	DECODE_TRY(decode_literal(d, 0, false, &r.i.a));
	decode_writes(&r, left);
	DECODE_TRY(decode_emit(d, &r));
	DECODE_TRY(decode_begin(d, f, in, &r));
	DECODE_TRY(decode_value(d, f, &r, in, 2, 4, &r.i.a));
	r.i.op = EXEC_mov_32;
	r.i.dst = left;
	decode_writes(&r, left);
	DECODE_TRY(decode_emit(d, &r));
	const uint32_t again = d->n;
	DECODE_TRY(begin_on(d, f, in, &r, FUNC_NONE));
	r.i.op = (uint16_t)decode_compare(PTX_GE, PTX_U32);
	r.i.dst = here;
	r.i.a = left;
	DECODE_TRY(decode_literal(d, BULK_PIECE, false, &r.i.b));
	decode_reads(d, &r, left);
	decode_writes(&r, DECODE_PRED_SLOT + here);
	DECODE_TRY(decode_emit(d, &r));
	DECODE_TRY(piece(d, f, in, row, wide, way, here));
	for (unsigned k = 0; k < 2; k++)
		DECODE_TRY(add_to(d, f, in, here, row[k], wide[k], BULK_PIECE));
	DECODE_TRY(add_to(d, f, in, here, left, false, (uint32_t)-BULK_PIECE));
	DECODE_TRY(begin_on(d, f, in, &r, here));
	r.i.kind = FUNC_BRANCH;
	r.i.target = again;
	return decode_emit(d, &r);
}

/* cp.async.bulk: a loop of pieces in the one thread that asks for it. What hardware does beside the thread takes the thread's time here. */
static int bulk(struct decoder *d, struct decode_frame *f, const struct ptx_inst *in)
{
	struct decode_record r;
	uint16_t row[2];
	bool wide[2];
	unsigned code = 0;
	if (strstr(in->tail, "commit_group") || strstr(in->tail, "wait_group") || decode_word(in, "prefetch")) {
		DECODE_TRY(decode_begin(d, f, in, &r));
		r.i.op = EXEC_nothing;
		return decode_emit(d, &r);
	}
	const char *global = strstr(in->tail, ".global"), *shared = strstr(in->tail, ".shared");
	const bool across = strstr(in->tail, ".shared::cluster.shared::cta") != NULL;
	if ((!global && !across) || !shared || in->operand_count < 3 || strstr(in->tail, "multicast") ||
	    decode_word(in, "tensor") || decode_word(in, "cp_mask") || decode_word_type(in, 0) != PTX_NONE)
		return decode_not(d, in);
	const enum bulk_way way = across ? BULK_ACROSS : shared < global ? BULK_IN : BULK_OUT;
	for (unsigned k = 0; k < 2; k++) {
		if (in->operand[k].kind != PTX_OPND_ADDRESS)
			return decode_not(d, in);
		DECODE_TRY(address_row(d, f, in, &in->operand[k], &row[k], &wide[k]));
	}
	DECODE_TRY(pieces(d, f, in, row, wide, way));
	if (way == BULK_OUT)
		return 0;
	if (in->operand_count < 4 || in->operand[3].kind != PTX_OPND_ADDRESS)
		return decode_not(d, in);
	DECODE_TRY(decode_begin(d, f, in, &r));
	DECODE_TRY(decode_value(d, f, &r, in, 2, 4, &r.i.b));
	DECODE_TRY(decode_address(d, f, &r, &in->operand[3], &code));
	if (d->copies != FUNC_NONE)
		decode_reads(d, &r, d->copies);
	barrier_record(d, &r, MBARRIER_COMPLETE, PTX_SHARED, code);
	return decode_emit(d, &r);
}

/* The barrier of an instruction is told that so many bytes are there. */
static int told(struct decoder *d, struct decode_frame *f, const struct ptx_inst *in, unsigned barrier, uint64_t bytes)
{
	struct decode_record r;
	unsigned code = 0;
	if (barrier >= in->operand_count || in->operand[barrier].kind != PTX_OPND_ADDRESS)
		return decode_not(d, in);
	DECODE_TRY(decode_begin(d, f, in, &r));
	DECODE_TRY(decode_literal(d, bytes, false, &r.i.b));
	DECODE_TRY(decode_address(d, f, &r, &in->operand[barrier], &code));
	barrier_record(d, &r, MBARRIER_COMPLETE, PTX_SHARED, code);
	return decode_emit(d, &r);
}

/* A store to, or an atomic on, shared memory of the cluster, done at once, of which a barrier beside it hears. */
static int remote(struct decoder *d, struct decode_frame *f, const struct ptx_inst *in)
{
	static const struct {
		const char *word;
		enum ptx_atom atom;
	} atoms[] = {{"inc", PTX_ATOM_INC}, {"dec", PTX_ATOM_DEC}, {"min", PTX_ATOM_MIN}, {"max", PTX_ATOM_MAX},
		     {"add", PTX_ATOM_ADD}, {"and", PTX_ATOM_AND}, {"or", PTX_ATOM_OR},	  {"xor", PTX_ATOM_XOR}};
	struct ptx_inst one = *in;
	const bool store = in->op == PTX_OP_ST_ASYNC;
	one.op = store ? PTX_OP_ST : PTX_OP_RED;
	one.type = (uint8_t)decode_word_type(in, 0);
	one.space = PTX_SHARED;
	one.vec_width = decode_word(in, "v4") ? 4 : decode_word(in, "v2") ? 2 : 1;
	one.operand_count = 2;
	size_t n = 0;
	while (!store && n < sizeof atoms / sizeof *atoms && !decode_word(in, atoms[n].word))
		n++;
	if (one.type == PTX_NONE || in->operand_count != 3 || in->operand[0].kind != PTX_OPND_ADDRESS ||
	    !decode_word(in, "mbarrier::complete_tx::bytes") || n == sizeof atoms / sizeof *atoms)
		return decode_not(d, in);
	one.atom = (uint8_t)atoms[n].atom;
	DECODE_TRY(decode_memory(d, f, &one));
	return told(d, f, in, 2, (uint64_t)one.vec_width * ptx_type_bytes((enum ptx_type)one.type));
}

int decode_copy(struct decoder *d, struct decode_frame *f, const struct ptx_inst *in)
{
	if (in->op == PTX_OP_ST_ASYNC || in->op == PTX_OP_RED_ASYNC)
		return remote(d, f, in);
	if (in->op == PTX_OP_MBARRIER)
		return mbarrier(d, f, in);
	if (!decode_word(in, "async"))
		return decode_not(d, in);
	if (decode_word(in, "bulk"))
		return bulk(d, f, in);
	return decode_word(in, "mbarrier") ? arrive(d, f, in) : copy(d, f, in);
}
