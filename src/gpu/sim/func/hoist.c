#include "gpu/sim/func/compile_impl.h"
#include <string.h>

#define SLICE_MOST 64 /* records that move along with one load: more is no address any more */
#define ADDRESS	   2  /* registers of an address */

static const uint32_t strong = PTX_VOLATILE | PTX_RELAXED | PTX_ACQUIRE | PTX_RELEASE | PTX_ACQ_REL | PTX_SC;

static bool meet(const uint16_t *a, uint32_t na, const uint16_t *b, uint32_t nb)
{
	for (uint32_t k = 0; k < na; k++)
		if (stretch_in(a[k], b, nb))
			return true;
	return false;
}

static bool is_load(const struct func_inst *i, const struct func_info *n)
{
	return i->kind == FUNC_LOAD && n->ptx_op == PTX_OP_LD && !(n->mods & strong) && n->read_count < FUNC_READS;
}

static bool is_store(const struct func_inst *i, const struct func_info *n)
{
	return i->kind == FUNC_STORE && n->ptx_op == PTX_OP_ST && !(n->mods & strong) && n->read_count < FUNC_READS;
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
	uint16_t live = s->live[to];
	memmove(&s->live[to + 1], &s->live[to], (from - to) * sizeof *s->live);
	s->live[to] = live;
	memmove(&s->inst[to + 1], &s->inst[to], (from - to) * sizeof *s->inst);
	memmove(&s->info[to + 1], &s->info[to], (from - to) * sizeof *s->info);
	s->inst[to] = i;
	s->info[to] = n;
}

/* Registers that a load fills. The result of one whose address is computed for it alone stands where the address was. */
static uint32_t registers_of(const struct stretch *s, uint32_t k)
{
	uint32_t own = (s->inst[k].bytes + 3u) / 4, j = k;
	while (j > 0 && !stretch_in(s->inst[k].a, s->info[j - 1].write, s->info[j - 1].write_count))
		j--;
	bool step = j && s->info[j - 1].ptx_op == PTX_OP_ADD && s->info[j - 1].read_count == 1;
	bool computed = j && !step && s->inst[k].space != PTX_SHARED;
	return computed && own < ADDRESS ? ADDRESS : own;
}

/* Moves the load at `from`, with what its address needs, up to `floor`, as far as it may and as the registers suffice. Returns the
 * place behind it. */
static uint32_t hoist(struct stretch *s, uint32_t from, uint32_t floor, uint32_t registers)
{
	const struct func_inst *load = &s->inst[from];
	struct slice c = {.at = {from}, .count = 1};
	uint32_t to = from, filled = registers_of(s, from);
	while (to > floor && s->live[to - 1] + filled <= registers) {
		const struct func_inst *i = &s->inst[to - 1];
		const struct func_info *n = &s->info[to - 1];
		bool needs, clashes;
		ties(s, &c, to - 1, &needs, &clashes);
		if (needs) {
			if (c.count == SLICE_MOST || !stretch_may_move(i, n))
				break;
			c.at[c.count++] = to - 1;
		} else if (clashes || !(stretch_is_plain(i, n) || is_load(i, n) || is_store(i, n)) ||
			   (is_store(i, n) && load->kind == FUNC_LOAD && may_alias(load, i))) {
			break;
		}
		to--;
	}
	/* What stands at `to` and belongs to the slice stays. */
	for (uint32_t k = c.count, place = to; k-- > 0; place++)
		if (c.at[k] != place)
			move(s, c.at[k], place);
	for (uint32_t k = to + c.count; k <= from; k++)
		s->live[k] = (uint16_t)(s->live[k] + filled);
	return to + c.count;
}

/* The record that answers whether the stretch's last branch is taken, if that moves; else the branch. */
static uint32_t answer_of(const struct stretch *s)
{
	const uint32_t last = s->count - 1;
	uint32_t k = last;
	if (s->inst[last].kind != FUNC_BRANCH || s->inst[last].guard == FUNC_NONE || !s->info[last].read_count)
		return last;
	while (k > 0 && !stretch_in(s->info[last].read[0], s->info[k - 1].write, s->info[k - 1].write_count))
		k--;
	return k && s->inst[k - 1].guard == FUNC_NONE && stretch_may_move(&s->inst[k - 1], &s->info[k - 1]) ? k - 1
													    : last;
}

void stretch_hoist(struct stretch *s, uint32_t registers)
{
	uint32_t floor = 0;
	for (uint32_t k = 0; k < s->count; k++) {
		const struct func_info n = s->info[k];
		if (is_load(&s->inst[k], &n))
			floor = hoist(s, k, floor, registers);
	}
	/* A branch waits long for its answer, which therefore comes behind the loads. */
	const uint32_t answer = answer_of(s);
	if (answer + 1 < s->count && answer >= floor)
		hoist(s, answer, floor, UINT32_MAX);
}
