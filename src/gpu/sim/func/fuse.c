#include "gpu/sim/func/compile_impl.h"
#include "gpu/sim/func/exec.h"
#include <errno.h>
#include <string.h>

#define USES_MOST 8    /* of a result that becomes an operand */
#define LOOK_MOST 1024 /* records that are looked through for its uses */
#define RUN_MOST  64   /* operands in a row */

/* The records that read a result, in the stretch that computes it. */
struct uses {
	uint32_t at[USES_MOST], count;
	bool all; /* no other record may read it */
};

struct fusing {
	struct stretch s;
	uint32_t *readers; /* of each slot, in the whole program */
	const bool *late;  /* of each slot: something that is performed beyond the SM writes it */
	uint8_t *inputs;   /* of each record of the stretch, that it has taken from others besides its own */
};

static struct uses uses_of(const struct fusing *f, uint32_t k)
{
	const struct stretch *s = &f->s;
	const struct func_info *n = &s->info[k];
	struct uses u = {.all = false};
	uint32_t reads = 0;
	for (uint32_t j = k + 1; j < s->count && j - k < LOOK_MOST; j++) {
		if (stretch_in(n->write[0], s->info[j].read, s->info[j].read_count)) {
			reads++;
			if (u.count == USES_MOST)
				return u;
			u.at[u.count++] = j;
		}
		if (s->inst[j].guard == FUNC_NONE && stretch_in(n->write[0], s->info[j].write, s->info[j].write_count))
			break;
	}
	u.all = u.count && f->readers[n->write[0]] == reads;
	return u;
}

static bool is_integer(const struct func_info *n, unsigned bytes)
{
	char c = ptx_type_class((enum ptx_type)n->type);
	return (c == 'i' || c == 'b') && ptx_type_bytes((enum ptx_type)n->type) == bytes;
}

static bool is_sum(const struct func_info *n, unsigned bytes)
{
	return (n->ptx_op == PTX_OP_ADD || n->ptx_op == PTX_OP_SUB) && is_integer(n, bytes) &&
	       !(n->mods & (PTX_SAT | PTX_CC_OUT));
}

static bool is_logic(const struct func_info *n)
{
	return (n->ptx_op == PTX_OP_AND || n->ptx_op == PTX_OP_OR || n->ptx_op == PTX_OP_XOR ||
		n->ptx_op == PTX_OP_NOT) &&
	       is_integer(n, 4);
}

static bool is_shift(const struct func_info *n, unsigned bytes)
{
	return (n->ptx_op == PTX_OP_SHL || n->ptx_op == PTX_OP_SHR) && is_integer(n, bytes);
}

/* By a distance that the code names, to the left, into a sum. */
static bool is_scaled(const struct func_info *n, const struct func_info *m)
{
	return n->ptx_op == PTX_OP_SHL && n->read_count == 1 &&
	       ((is_shift(n, 4) && is_sum(m, 4)) || (is_shift(n, 8) && is_sum(m, 8)));
}

static bool is_logic_of_answers(const struct func_info *n)
{
	return (n->ptx_op == PTX_OP_AND || n->ptx_op == PTX_OP_OR || n->ptx_op == PTX_OP_XOR) && n->type == PTX_PRED;
}

static bool is_float_with_signs(const struct func_info *n)
{
	return (n->ptx_op == PTX_OP_ADD || n->ptx_op == PTX_OP_SUB || n->ptx_op == PTX_OP_MUL ||
		n->ptx_op == PTX_OP_FMA || n->ptx_op == PTX_OP_SETP || n->ptx_op == PTX_OP_MIN ||
		n->ptx_op == PTX_OP_MAX) &&
	       (n->type == PTX_F32 || n->type == PTX_F64);
}

static bool is_address(const struct func_inst *i, const struct func_info *n, uint16_t row)
{
	bool other = i->b == row || i->c == row || stretch_in(row, i->more, n->vec > 1 ? n->vec - 1u : 0);
	return (i->kind == FUNC_LOAD || i->kind == FUNC_STORE || i->kind == FUNC_ATOMIC) && i->a == row && !other;
}

/* What the only record that reads it becomes with it; false: they stay two. */
static bool joins(struct fusing *f, const struct func_info *n, uint32_t use, bool only)
{
	struct func_info *m = &f->s.info[use];
	uint8_t *inputs = &f->inputs[use];
	bool two = only && !*inputs && f->s.inst[use].kind == FUNC_ALU;
	if (n->ptx_op == PTX_OP_MUL && n->mods & PTX_WIDE && is_integer(n, 4) && is_sum(m, 8) && !*inputs) {
		m->ptx_op = PTX_OP_MAD;
		m->type = n->type;
		m->mods = n->mods;
	} else if (n->ptx_op == PTX_OP_MUL && !(n->mods & (PTX_WIDE | PTX_HI_PART)) && is_integer(n, 4) &&
		   is_sum(m, 4) && two) {
		m->ptx_op = PTX_OP_MAD;
		m->mods = n->mods;
	} else if (n->ptx_op == PTX_OP_SETP && is_logic_of_answers(m) && two) {
		m->ptx_op = PTX_OP_SETP;
		m->type = n->type;
	} else if (m->ptx_op == PTX_OP_SELP && is_integer(m, 4) && two &&
		   (is_sum(n, 4) || is_logic(n) || is_shift(n, 4))) { /* done by those lanes that choose it */
		m->ptx_op = n->ptx_op;
		m->type = n->type;
	} else if (!((is_sum(n, 4) && is_sum(m, 4) && two) || (is_logic(n) && is_logic(m) && two) ||
		     (is_scaled(n, m) && two))) {
		return false;
	}
	*inputs = 1;
	return true;
}

static bool may_join(struct fusing *f, uint32_t k, const struct uses *u)
{
	const struct func_info *n = &f->s.info[k];
	const struct func_info *m = &f->s.info[u->at[0]];
	bool sign = (n->ptx_op == PTX_OP_NEG || n->ptx_op == PTX_OP_ABS) && (n->type == PTX_F32 || n->type == PTX_F64);
	bool step = is_sum(n, ptx_type_bytes((enum ptx_type)n->type)) && n->read_count == 1;
	if (stretch_is_name(&f->s.inst[k], n))
		return true;
	bool all = sign || step;
	for (uint32_t j = 0; j < u->count && all; j++)
		all = sign ? is_float_with_signs(&f->s.info[u->at[j]])
			   : is_address(&f->s.inst[u->at[j]], &f->s.info[u->at[j]], f->s.inst[k].dst);
	if (all)
		return true;
	/* A product of 64 bits goes into each of the sums that need it. */
	for (uint32_t j = 1; j < u->count; j++)
		if (!(n->mods & PTX_WIDE) || !is_sum(&f->s.info[u->at[j]], 8) || f->inputs[u->at[j]])
			return false;
	if (u->count > 1 && !is_sum(m, 8))
		return false;
	for (uint32_t j = 0; j < u->count; j++)
		if (!joins(f, n, u->at[j], u->count == 1))
			return false;
	return true;
}

/* Those that read it wait for what it reads instead. False: one of them has no room. */
static bool pass_on(struct fusing *f, uint32_t k, const struct uses *u)
{
	const struct func_info *n = &f->s.info[k];
	for (uint32_t j = 0; j < u->count; j++)
		if (f->s.info[u->at[j]].read_count + n->read_count >= FUNC_READS)
			return false;
	for (uint32_t j = 0; j < u->count; j++) {
		struct func_info *m = &f->s.info[u->at[j]];
		for (uint32_t r = 0; r < n->read_count; r++)
			if (!stretch_in(n->read[r], m->read, m->read_count)) {
				m->read[m->read_count++] = n->read[r];
				f->readers[n->read[r]]++;
			}
	}
	return true;
}

static bool becomes_operand(struct fusing *f, uint32_t k)
{
	const struct func_inst *i = &f->s.inst[k];
	const struct func_info *n = &f->s.info[k];
	if (!stretch_may_move(i, n) || i->guard != FUNC_NONE || n->write_count != 1)
		return false;
	for (uint32_t r = 0; r < n->read_count; r++)
		if (f->late[n->read[r]])
			return false;
	if (!n->read_count && stretch_is_name(i, n))
		return true;
	struct uses u = uses_of(f, k);
	if (!u.all || (f->inputs[k] && !stretch_is_name(i, n)))
		return false;
	for (uint32_t j = 0; j < u.count; j++)
		if (f->s.info[u.at[j]].read_count + n->read_count >= FUNC_READS)
			return false;
	return may_join(f, k, &u) && pass_on(f, k, &u);
}

/* From the last record to the first, so that what becomes an operand is known by those that it takes in. */
static void fuse_stretch(struct fusing *f)
{
	uint32_t run = 0;
	for (uint32_t k = f->s.count - 1; k-- > 0;) {
		run = run < RUN_MOST && becomes_operand(f, k) ? run + 1 : 0;
		f->s.info[k].fused = run != 0;
	}
}

int func_fuse(const struct func_program *p, struct func_inst *inst, struct func_info *info, const bool *leader)
{
	uint32_t slots = (uint32_t)p->rows + p->preds;
	uint32_t *readers = mem_zero((size_t)slots + 1, sizeof *readers);
	bool *late = mem_zero((size_t)slots + 1, sizeof *late);
	uint8_t *inputs = mem_zero((size_t)p->inst_count + 1, sizeof *inputs);
	bool ok = readers && late && inputs;
	for (uint32_t k = 0; ok && k < p->inst_count; k++) {
		const struct func_inst *i = &inst[k];
		for (uint32_t r = 0; r < info[k].read_count; r++)
			readers[info[k].read[r]]++;
		for (uint32_t w = 0; w < info[k].write_count; w++)
			late[info[k].write[w]] |= i->kind == FUNC_ATOMIC || i->flags & FUNC_SKIP_L1;
	}
	for (uint32_t k = 0, end; ok && k < p->inst_count; k = end) {
		for (end = k + 1; !leader[end]; end++)
			;
		struct fusing f = {.s = {.inst = inst + k, .info = info + k, .count = end - k},
				   .readers = readers,
				   .late = late,
				   .inputs = inputs + k};
		fuse_stretch(&f);
	}
	mem_free(readers);
	mem_free(late);
	mem_free(inputs);
	return ok ? 0 : -ENOMEM;
}
