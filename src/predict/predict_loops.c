/* Which way of a branch stays in a loop, when the other one leaves it. */
#include "predict/predict_impl.h"
#include <assert.h>
#include <errno.h>
#include <string.h>

enum { IN_REGION = 1, AFTER = 2, BEFORE = 4 };

struct search {
	const struct ptx_func *f;
	uint8_t *mark;
	uint32_t *stack;
};

/* The instructions that may come next; UINT32_MAX: it has no such way. */
static void ways(const struct ptx_func *f, uint32_t pc, uint32_t *on, uint32_t *jump)
{
	const struct ptx_inst *in = &f->insts[pc];
	bool leaves = in->op == PTX_OP_BRA || in->op == PTX_OP_RET || in->op == PTX_OP_EXIT || in->op == PTX_OP_TRAP;
	*on = (leaves && in->guard < 0) || pc + 1 >= f->inst_count ? UINT32_MAX : pc + 1;
	*jump = in->op == PTX_OP_BRA ? f->labels[in->operand[0].index].inst : UINT32_MAX;
	if (*jump >= f->inst_count)
		*jump = UINT32_MAX;
}

static bool has(const struct search *s, uint32_t pc, uint8_t marks)
{
	return pc != UINT32_MAX && (s->mark[pc] & marks) == marks;
}

static void push_way(struct search *s, uint32_t to, uint32_t *depth)
{
	if (!has(s, to, IN_REGION) || has(s, to, AFTER))
		return;
	s->mark[to] |= AFTER;
	s->stack[(*depth)++] = to;
}

/* The instructions of the region that come after pc and lead back to it are marked AFTER and BEFORE: the loop around it. */
static bool find_loop(struct search *s, uint32_t pc)
{
	uint32_t depth = 0, on, jump;
	ways(s->f, pc, &on, &jump);
	push_way(s, on, &depth);
	push_way(s, jump, &depth);
	while (depth) {
		ways(s->f, s->stack[--depth], &on, &jump);
		push_way(s, on, &depth);
		push_way(s, jump, &depth);
	}
	if (!has(s, pc, AFTER))
		return false;
	s->mark[pc] |= BEFORE;
	for (bool more = true; more;) {
		more = false;
		for (uint32_t k = s->f->inst_count; k-- > 0;) {
			if (!has(s, k, IN_REGION | AFTER) || has(s, k, BEFORE))
				continue;
			ways(s->f, k, &on, &jump);
			if (has(s, on, BEFORE) || has(s, jump, BEFORE)) {
				s->mark[k] |= BEFORE;
				more = true;
			}
		}
	}
	return true;
}

/* The region becomes the loop without the instructions at which it is entered: what still goes round is a loop within. */
static void go_inside(struct search *s)
{
	const uint8_t loop = AFTER | BEFORE;
	uint32_t on, jump;
	for (uint32_t k = 0; k < s->f->inst_count; k++)
		s->mark[k] = has(s, k, loop) ? loop | IN_REGION : 0;
	if (has(s, 0, loop))
		s->mark[0] &= (uint8_t)~IN_REGION;
	for (uint32_t k = 0; k < s->f->inst_count; k++) {
		if (has(s, k, loop))
			continue;
		ways(s->f, k, &on, &jump);
		if (has(s, on, loop))
			s->mark[on] &= (uint8_t)~IN_REGION;
		if (has(s, jump, loop))
			s->mark[jump] &= (uint8_t)~IN_REGION;
	}
	for (uint32_t k = 0; k < s->f->inst_count; k++)
		s->mark[k] &= IN_REGION;
}

static enum loop_way way_of(struct search *s, uint32_t pc)
{
	uint32_t on, jump;
	assert(s->mark);
	ways(s->f, pc, &on, &jump);
	memset(s->mark, IN_REGION, s->f->inst_count);
	while (has(s, pc, IN_REGION) && find_loop(s, pc)) {
		bool on_stays = has(s, on, AFTER | BEFORE), jump_stays = has(s, jump, AFTER | BEFORE);
		if (on_stays != jump_stays)
			return on_stays ? LOOP_STAYS_ON : LOOP_STAYS_JUMP;
		go_inside(s);
	}
	return LOOP_NONE;
}

int loop_ways(const struct ptx_func *f, uint8_t *way, struct err *e)
{
	struct search s = {.f = f,
			   .mark = mem_zero((size_t)f->inst_count + 1, sizeof *s.mark),
			   .stack = mem_zero((size_t)f->inst_count + 1, sizeof *s.stack)};
	int rc = s.mark && s.stack ? 0 : err_nomem(e);
	for (uint32_t k = 0; !rc && k < f->inst_count; k++) {
		const uint16_t op = f->insts[k].op;
		bool decides = op == PTX_OP_BRA || op == PTX_OP_RET || op == PTX_OP_EXIT;
		way[k] = decides && f->insts[k].guard >= 0 ? (uint8_t)way_of(&s, k) : LOOP_NONE;
	}
	mem_free(s.mark);
	mem_free(s.stack);
	return rc;
}
