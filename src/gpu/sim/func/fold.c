#include "gpu/sim/func/fold.h"
#include <errno.h>
#include <string.h>

#define WORD_BYTES 4

bool *func_leaders(const struct func_program *p)
{
	bool *leader = mem_zero((size_t)p->inst_count + 1, sizeof *leader);
	if (!leader)
		return NULL;
	for (uint32_t k = 0; k < p->inst_count; k++) {
		const struct func_inst *i = &p->inst[k];
		if (i->kind == FUNC_BRANCH) {
			if (!(i->flags & FUNC_INDEXED))
				leader[i->target] = true;
			if (i->join != FUNC_NO_JOIN)
				leader[i->join] = true;
		}
		if (i->kind == FUNC_BRANCH || i->kind == FUNC_EXIT)
			leader[k + 1] = true;
	}
	for (uint32_t k = 0; k < p->target_count; k++)
		leader[p->target[k]] = true;
	leader[p->inst_count] = true;
	return leader;
}

static bool reads(const struct func_info *n, uint16_t row)
{
	for (uint32_t k = 0; k < n->read_count; k++)
		if (k == FUNC_READS || n->read[k] == row)
			return true;
	return false;
}

static bool writes(const struct func_info *n, uint16_t row)
{
	for (uint32_t k = 0; k < n->write_count; k++)
		if (k == FUNC_WRITES || n->write[k] == row)
			return true;
	return false;
}

/* Rows that some stretch reads before it writes them: what one holds may be needed behind its stretch. inst_count marks at most; NULL: no memory. */
static bool *rows_kept(const struct func_program *p, const bool *leader)
{
	bool *kept = mem_zero((size_t)p->rows + p->preds + 1, sizeof *kept);
	uint32_t *written = mem_zero((size_t)p->rows + p->preds + 1, sizeof *written);
	uint32_t stretch = 0;
	for (uint32_t k = 0; kept && written && k < p->inst_count; k++) {
		const struct func_info *n = &p->info[k];
		stretch += !k || leader[k];
		for (uint32_t r = 0; r < n->read_count && r < FUNC_READS; r++)
			kept[n->read[r]] |= written[n->read[r]] != stretch;
		for (uint32_t w = 0; w < n->write_count && w < FUNC_WRITES; w++)
			if (p->inst[k].guard == FUNC_NONE)
				written[n->write[w]] = stretch;
	}
	if (!written) {
		mem_free(kept);
		kept = NULL;
	}
	mem_free(written);
	return kept;
}

static bool is_word(const struct func_inst *i, const struct func_info *n)
{
	return i->kind == FUNC_LOAD && n->ptx_op == PTX_OP_LD && i->space == PTX_SHARED && i->bytes == WORD_BYTES &&
	       i->guard == FUNC_NONE && n->write_count == 1 && !(n->mods & PTX_VOLATILE);
}

/* Arithmetic of the pipes, one native instruction's worth of operands. */
static bool takes_operand(const struct func_inst *i, const struct func_info *n)
{
	return i->kind == FUNC_ALU && i->guard == FUNC_NONE && n->ptx_op <= PTX_OP_SHFL && n->ptx_op != PTX_OP_SHFL &&
	       !(i->flags & FUNC_GATHER);
}

/* Shared memory may be another behind it. */
static bool changes_shared(const struct func_inst *i)
{
	return (i->kind != FUNC_ALU && i->kind != FUNC_LOAD && i->kind != FUNC_CLOCK) ||
	       (i->kind == FUNC_LOAD && i->space == PTX_GENERIC);
}

/* The one instruction that reads what the load at k writes, before something writes it again. Returns 0 if there is
 * none, or it takes no such operand. */
static uint32_t user_of(const struct func_program *p, const bool *leader, uint32_t k)
{
	const uint16_t row = p->info[k].write[0];
	uint32_t user = 0;
	bool changed = false;
	for (uint32_t j = k + 1; j < p->inst_count && !leader[j]; j++) {
		const struct func_info *n = &p->info[j];
		if (reads(n, row)) {
			if (user || changed || !takes_operand(&p->inst[j], n))
				return 0;
			user = j;
		}
		if (writes(n, row) && p->inst[j].guard == FUNC_NONE)
			break;
		changed |= changes_shared(&p->inst[j]);
	}
	return user;
}

int func_fold(struct func_program **out, struct arena *a, const struct func_program *p)
{
	struct func_program *q = arena_copy(a, p, sizeof *p);
	uint8_t *operand = ARENA_ARRAY(a, p->inst_count + 1, uint8_t);
	bool *leader = func_leaders(p), *kept = leader ? rows_kept(p, leader) : NULL;
	const bool all = q && operand && kept;
	for (uint32_t k = 0; all && k < p->inst_count; k++) {
		if (!is_word(&p->inst[k], &p->info[k]) || kept[p->info[k].write[0]])
			continue;
		const uint32_t user = user_of(p, leader, k);
		if (!user || operand[user] != FUNC_OPERAND_NONE)
			continue;
		operand[k] = FUNC_OPERAND_LOAD;
		operand[user] = FUNC_OPERAND_USE;
	}
	mem_free(leader);
	mem_free(kept);
	if (!all)
		return -ENOMEM;
	q->operand = operand;
	*out = q;
	return 0;
}
