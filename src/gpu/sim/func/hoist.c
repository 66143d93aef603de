#include "gpu/sim/func/hoist.h"
#include "gpu/sim/func/fold.h"
#include <errno.h>
#include <string.h>

#define SLICE_MOST 64 /* records that move along with one load: more is no address any more */

/* One stretch of records that is passed through from its first to its last. */
struct stretch {
	struct func_inst *inst;
	struct func_info *info;
	uint32_t count;
};

static const uint32_t strong = PTX_VOLATILE | PTX_RELAXED | PTX_ACQUIRE | PTX_RELEASE | PTX_ACQ_REL | PTX_SC;

static bool in(uint16_t slot, const uint16_t *list, uint32_t count)
{
	for (uint32_t k = 0; k < count; k++)
		if (list[k] == slot)
			return true;
	return false;
}

static bool meet(const uint16_t *a, uint32_t na, const uint16_t *b, uint32_t nb)
{
	for (uint32_t k = 0; k < na; k++)
		if (in(a[k], b, nb))
			return true;
	return false;
}

/* Register in, register out, and all of both are listed. */
static bool is_plain(const struct func_inst *i, const struct func_info *n)
{
	bool listed = n->read_count < FUNC_READS && n->write_count < FUNC_WRITES;
	return i->kind == FUNC_ALU && listed &&
	       (n->ptx_op <= PTX_OP_SHFL || (n->ptx_op == PTX_OP_LD && n->space == PTX_PARAM));
}

static bool is_load(const struct func_inst *i, const struct func_info *n)
{
	return i->kind == FUNC_LOAD && n->ptx_op == PTX_OP_LD && !(n->mods & strong) && n->read_count < FUNC_READS;
}

static bool is_store(const struct func_inst *i, const struct func_info *n)
{
	return i->kind == FUNC_STORE && n->ptx_op == PTX_OP_ST && !(n->mods & strong) && n->read_count < FUNC_READS;
}

/* It may move with a load whose address it computes. Lanes of a shuffle have to come together, and a carry has no slot. */
static bool may_move(const struct func_inst *i, const struct func_info *n)
{
	bool carries = n->ptx_op == PTX_OP_ADDC || n->ptx_op == PTX_OP_SUBC || n->ptx_op == PTX_OP_MADC ||
		       n->mods & (PTX_CC_OUT | PTX_CARRY_IN);
	return is_plain(i, n) && !(i->flags & FUNC_GATHER) && n->ptx_op != PTX_OP_SHFL && !carries;
}

static bool may_alias(const struct func_inst *load, const struct func_inst *store)
{
	if (load->flags & FUNC_READONLY)
		return false;
	return load->space == store->space || load->space == PTX_GENERIC || store->space == PTX_GENERIC;
}

/* The records that have to come before a load, the load included, in falling order. */
struct slice {
	uint32_t at[SLICE_MOST], count;
};

/* Some record of the slice is tied to record j: it reads what j writes (needs), or the two may not change places. */
static void ties(const struct stretch *s, const struct slice *c, uint32_t j, bool *needs, bool *clashes)
{
	const struct func_info *n = &s->info[j];
	*needs = *clashes = false;
	for (uint32_t k = 0; k < c->count; k++) {
		const struct func_info *m = &s->info[c->at[k]];
		*needs |= meet(n->write, n->write_count, m->read, m->read_count);
		*clashes |= meet(n->write, n->write_count, m->write, m->write_count) ||
			    meet(n->read, n->read_count, m->write, m->write_count);
	}
}

static void move(struct stretch *s, uint32_t from, uint32_t to)
{
	struct func_inst i = s->inst[from];
	struct func_info n = s->info[from];
	memmove(&s->inst[to + 1], &s->inst[to], (from - to) * sizeof *s->inst);
	memmove(&s->info[to + 1], &s->info[to], (from - to) * sizeof *s->info);
	s->inst[to] = i;
	s->info[to] = n;
}

/* Moves the load at `from`, with what its address needs, up to `floor` or as far as it may. Returns the place behind it. */
static uint32_t hoist(struct stretch *s, uint32_t from, uint32_t floor)
{
	const struct func_inst *load = &s->inst[from];
	struct slice c = {.at = {from}, .count = 1};
	uint32_t to = from;
	while (to > floor) {
		const struct func_inst *i = &s->inst[to - 1];
		const struct func_info *n = &s->info[to - 1];
		bool needs, clashes;
		ties(s, &c, to - 1, &needs, &clashes);
		if (needs) {
			if (c.count == SLICE_MOST || !may_move(i, n))
				break;
			c.at[c.count++] = to - 1;
		} else if (clashes || !(is_plain(i, n) || is_load(i, n) || is_store(i, n)) ||
			   (is_store(i, n) && may_alias(load, i))) {
			break;
		}
		to--;
	}
	/* What stands at `to` and belongs to the slice stays. */
	for (uint32_t k = c.count, place = to; k-- > 0; place++)
		if (c.at[k] != place)
			move(s, c.at[k], place);
	return to + c.count;
}

static bool uses(const struct func_info *n, const uint16_t *row, uint32_t rows)
{
	return meet(n->read, n->read_count, row, rows) || meet(n->write, n->write_count, row, rows);
}

static void hoist_stretch(struct stretch *s, uint32_t registers)
{
	uint16_t row[256]; /* filled by the loads of this group */
	uint32_t rows = 0, filled = 0, floor = 0, limit = registers < 256 ? registers : 256;
	for (uint32_t k = 0; k < s->count; k++) {
		const struct func_info n = s->info[k];
		uint32_t more = (s->inst[k].bytes + 3u) / 4;
		if (!is_load(&s->inst[k], &n))
			continue;
		if (filled + more > limit || rows + n.write_count > 256) {
			/* The next group begins behind the first use of this one. */
			while (floor < k && !uses(&s->info[floor], row, rows))
				floor++;
			floor = floor < k ? floor + 1 : k;
			rows = filled = 0;
		}
		memcpy(row + rows, n.write, n.write_count * sizeof *row);
		rows += n.write_count;
		filled += more;
		floor = hoist(s, k, floor);
	}
}

int func_hoist(struct func_program **out, struct arena *a, const struct func_program *p, uint32_t registers)
{
	struct func_program *q = arena_copy(a, p, sizeof *p);
	struct func_inst *inst = arena_copy(a, p->inst, p->inst_count * sizeof *inst);
	struct func_info *info = arena_copy(a, p->info, p->inst_count * sizeof *info);
	for (uint32_t k = 0; inst && k < p->inst_count; k++)
		if (inst[k].kind == FUNC_LOAD && inst[k].space == PTX_CONST && inst[k].a == FUNC_NONE)
			inst[k].kind = FUNC_ALU;
	bool *leader = func_leaders(p);
	if (!q || !inst || !info || !leader) {
		mem_free(leader);
		return -ENOMEM;
	}
	for (uint32_t k = 0, end; k < p->inst_count; k = end) {
		for (end = k + 1; !leader[end]; end++)
			;
		struct stretch s = {.inst = inst + k, .info = info + k, .count = end - k};
		hoist_stretch(&s, registers);
	}
	mem_free(leader);
	q->inst = inst;
	q->info = info;
	*out = q;
	return 0;
}
