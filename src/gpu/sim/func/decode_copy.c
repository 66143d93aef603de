/* Copies that do not pass registers, cp.async and its groups, and the barriers in memory that wait for them. A copy is done at once: its groups
 * and barriers have nothing to wait for but time. */
#include "decode.h"
#include <string.h>

/* The row whose arrival stands for that of all copies so far. */
int decode_copies(struct decoder *d, uint16_t *row)
{
	if (d->copies == FUNC_NONE)
		DECODE_TRY(decode_new_row(d, false, &d->copies));
	*row = d->copies;
	return 0;
}

/* cp.async with a predicate: no byte is read where it is true. */
static int taken(struct decoder *d, struct decode_frame *f, const struct ptx_inst *in, uint64_t bytes, uint16_t *take)
{
	const struct ptx_operand *ignore = &in->operand[3];
	struct decode_record r;
	uint16_t none, all;
	DECODE_TRY(decode_new_row(d, false, take));
	DECODE_TRY(decode_literal(d, 0, false, &none));
	DECODE_TRY(decode_literal(d, bytes, false, &all));
	DECODE_TRY(decode_begin(d, f, in, &r));
	DECODE_TRY(decode_pred_source(d, f, &r, ignore, &r.i.c));
	r.i.op = EXEC_selp_32;
	r.i.dst = *take;
	r.i.a = ignore->negated ? all : none;
	r.i.b = ignore->negated ? none : all;
	decode_writes(&r, *take);
	return decode_emit(d, &r);
}

static int copy(struct decoder *d, struct decode_frame *f, const struct ptx_inst *in)
{
	struct decode_record r;
	unsigned code = 0, unused = 0;
	uint16_t row, take = FUNC_NONE;
	const struct ptx_operand *to = &in->operand[0], *from = &in->operand[1], *bytes = &in->operand[2];
	const bool ignores = in->operand_count > 3 && decode_is_pred(f, &in->operand[3]);
	DECODE_TRY(decode_copies(d, &row));
	if (ignores)
		DECODE_TRY(taken(d, f, in, bytes->imm, &take));
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
	if (ignores)
		decode_reads(d, &r, take);
	else if (in->operand_count > 3u + policy) /* how much of it is read */
		DECODE_TRY(decode_value(d, f, &r, in, 3, 4, &take));
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

void decode_barrier(struct decoder *d, struct decode_record *r, enum exec_barrier_op op, enum ptx_space space,
		    unsigned code)
{
	r->i.kind = FUNC_ATOMIC;
	r->i.op = EXEC_mbarrier;
	r->i.space = (uint8_t)space;
	d->p->atomics |= space != PTX_SHARED;
	d->p->ordered |= space != PTX_SHARED;
	r->info.space = r->i.space;
	r->i.bytes = 8;
	r->i.more[0] = (uint16_t)op;
	r->i.more[1] = PTX_B64;
	r->i.more[2] = (uint16_t)code;
}

static enum ptx_space barrier_space(const struct ptx_inst *in, unsigned k)
{
	return decode_word(in, "shared") || decode_word(in, "shared::cta") || decode_word(in, "shared::cluster") ||
		       in->operand[k].sym >= 0
		   ? PTX_SHARED
		   : PTX_GENERIC;
}

/* What a barrier still waited for, from the state that an arrival saw: the state is the barrier's word. */
static int pending_count(struct decoder *d, struct decode_frame *f, const struct ptx_inst *in)
{
	struct decode_record r;
	uint16_t low;
	DECODE_TRY(decode_new_row(d, false, &low));
	DECODE_TRY(decode_begin(d, f, in, &r));
	DECODE_TRY(decode_value(d, f, &r, in, 1, 8, &r.i.a));
	r.i.op = EXEC_mov_32_64;
	r.i.dst = low;
	decode_writes(&r, low);
	DECODE_TRY(decode_emit(d, &r));
	DECODE_TRY(decode_begin(d, f, in, &r));
	DECODE_TRY(decode_result(d, f, &r, in, 4));
	DECODE_TRY(decode_literal(d, EXEC_BARRIER_COUNT, false, &r.i.b));
	r.i.op = (uint16_t)decode_plain(PTX_OP_AND, PTX_B32, 0);
	r.i.a = low;
	decode_reads(d, &r, low);
	return decode_emit(d, &r);
}

static int mbarrier(struct decoder *d, struct decode_frame *f, const struct ptx_inst *in)
{
	static const struct {
		const char *word;
		enum exec_barrier_op op;
	} ops[] = {{"init", MBARRIER_INIT},	{"inval", MBARRIER_INVAL},	   {"expect_tx", MBARRIER_EXPECT},
		   {"arrive", MBARRIER_ARRIVE}, {"arrive_drop", MBARRIER_DROP},	   {"test_wait", MBARRIER_TEST},
		   {"try_wait", MBARRIER_TEST}, {"complete_tx", MBARRIER_COMPLETE}};
	struct decode_record r;
	unsigned code = 0, at = 0, k;
	const size_t count = sizeof ops / sizeof *ops;
	size_t n = count;
	if (decode_word(in, "pending_count"))
		return pending_count(d, f, in);
	/* arrive.expect_tx is an arrival */
	for (size_t x = 0; x < count; x++)
		if (decode_word(in, ops[x].word) && (n == count || ops[x].op != MBARRIER_EXPECT))
			n = x;
	if (n == count) /* .noComplete: it promises that the phase goes on */
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
	decode_barrier(d, &r, op, barrier_space(in, k), code);
	return decode_emit(d, &r);
}

/* cp.async.mbarrier.arrive: all copies so far are there. Unless .noinc is said the barrier was told to expect it, by the same instruction. */
static int arrive(struct decoder *d, struct decode_frame *f, const struct ptx_inst *in)
{
	struct decode_record r;
	unsigned code = 0;
	uint16_t row;
	const bool counts = decode_word(in, "noinc");
	DECODE_TRY(decode_copies(d, &row));
	DECODE_TRY(decode_begin(d, f, in, &r));
	decode_reads(d, &r, row);
	if (in->operand_count != 1 || in->operand[0].kind != PTX_OPND_ADDRESS)
		return decode_not(d, in);
	DECODE_TRY(decode_address(d, f, &r, &in->operand[0], &code));
	if (counts)
		decode_barrier(d, &r, MBARRIER_ARRIVE, barrier_space(in, 0), code);
	else
		r.i.op = EXEC_nothing;
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
	decode_barrier(d, &r, MBARRIER_COMPLETE, PTX_SHARED, code);
	return decode_emit(d, &r);
}

/* A store to, or an atomic on, shared memory of the cluster, done at once, of which a barrier beside it hears. */
static int remote(struct decoder *d, struct decode_frame *f, const struct ptx_inst *in)
{
	struct ptx_inst one = *in;
	const bool store = in->op == PTX_OP_ST_ASYNC;
	one.op = store ? PTX_OP_ST : PTX_OP_RED;
	one.type = (uint8_t)decode_word_type(in, 0);
	one.space = PTX_SHARED;
	one.vec_width = decode_word(in, "v4") ? 4 : decode_word(in, "v2") ? 2 : 1;
	one.operand_count = 2;
	if (one.type == PTX_NONE || in->operand_count != 3 || in->operand[0].kind != PTX_OPND_ADDRESS ||
	    !decode_word(in, "mbarrier::complete_tx::bytes") || (!store && !decode_atom(in)))
		return decode_not(d, in);
	one.atom = (uint8_t)decode_atom(in);
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
		return decode_bulk(d, f, in);
	return decode_word(in, "mbarrier") ? arrive(d, f, in) : copy(d, f, in);
}
