/* What a compiler makes of the kernel, by the simulator's own model of one (gpu/sim/func/compile.h). */
#include "gpu/sim/func/compile.h"
#include "predict/predict_impl.h"
#include <errno.h>

/* How often each instruction has a record, and the first one. */
struct places {
	uint32_t *records, *first;
};

static int count_records(struct places *at, struct arena *a, const struct func_program *p, uint32_t insts)
{
	at->records = ARENA_ARRAY(a, insts + 1, uint32_t);
	at->first = ARENA_ARRAY(a, insts + 1, uint32_t);
	if (!at->records || !at->first)
		return -ENOMEM;
	for (uint32_t k = 0; k < p->inst_count; k++) {
		uint32_t n = p->info[k].number;
		if (n >= insts)
			continue;
		if (!at->records[n]++)
			at->first[n] = k;
	}
	return 0;
}

/* As what the instruction counts: two that became one count as that one. */
static void cost_of(struct ptx_inst *cost, const struct func_info *written, const struct func_info *compiled)
{
	if (written->ptx_op == compiled->ptx_op && written->type == compiled->type && written->mods == compiled->mods)
		return;
	cost->op = compiled->ptx_op;
	cost->type = compiled->type;
	cost->mods = compiled->mods;
}

/* Instructions without a record stay where they are; the others take the places between them in the compiler's order. */
static void put_in_order(struct native *n, const struct ptx_func *f, const struct func_program *written,
			 const struct func_program *compiled, struct places *at)
{
	uint32_t place = 0;
	for (uint32_t k = 0; k < compiled->inst_count; k++) {
		const struct func_info *i = &compiled->info[k];
		if (i->number >= f->inst_count || --at->records[i->number])
			continue;
		while (at->first[place] == UINT32_MAX)
			place++;
		n->run.insts[place] = n->cost.insts[place] = f->insts[i->number];
		n->operand[place] = i->fused;
		n->meets[place] = compiled->inst[k].flags & FUNC_PARTING;
		cost_of(&n->cost.insts[place], &written->info[at->first[i->number]], i);
		place++;
	}
}

int native_open(struct native *n, struct arena *a, const struct predict_request *q, int cc, uint32_t registers,
		struct err *e)
{
	const struct func_target target = {.cc = cc};
	const struct ptx_func *f = q->entry;
	struct func_program *written, *compiled;
	struct places at;
	int rc = func_decode(&written, a, f->name, q->module, f->name, &target, e);
	if (rc)
		return rc == -EINVAL ? (e->code = -ENOTSUP) : rc;
	*n = (struct native){.run = *f, .cost = *f, .registers = written->registers};
	n->run.insts = arena_copy(a, f->insts, f->inst_count * sizeof *f->insts);
	n->cost.insts = arena_copy(a, f->insts, f->inst_count * sizeof *f->insts);
	n->operand = ARENA_ARRAY(a, f->inst_count + 1, bool);
	n->meets = ARENA_ARRAY(a, f->inst_count + 1, bool);
	if (!n->run.insts || !n->cost.insts || !n->operand || !n->meets ||
	    count_records(&at, a, written, f->inst_count))
		return err_nomem(e);
	for (uint32_t k = 0; k < written->inst_count; k++)
		if (written->info[k].number < f->inst_count)
			n->meets[written->info[k].number] |= (written->inst[k].flags & FUNC_PARTING) != 0;
	if (!q->compiled || !registers)
		return 0;
	if (func_compile(&compiled, a, written, registers))
		return err_nomem(e);
	for (uint32_t k = 0; k < f->inst_count; k++)
		at.first[k] = at.records[k] ? at.first[k] : UINT32_MAX;
	put_in_order(n, f, written, compiled, &at);
	return 0;
}
