/* A launch of which nobody asks how long it takes. What it may ask of an SM is looked at, and then the engine without
 * time runs it. */
#include "gpu/sim/func/func_run.h"
#include "gpu/sim/time/time_state.h"
#include <errno.h>
#include <stdio.h>

int time_untimed(struct time_gpu *g, const struct time_run *x)
{
	static const enum time_end ends[] = {[FUNC_DONE] = TIME_DONE,
					     [FUNC_DEADLOCK] = TIME_DEADLOCK,
					     [FUNC_LIMIT] = TIME_LIMIT,
					     [FUNC_FAULT] = TIME_FAULT};
	const struct time_request *q = x->q;
	struct time_need used = {0};
	struct func_outcome o;
	const struct func_how how = {.limit = q->limit_instructions,
				     .limit_ms = q->limit_ms,
				     .resident =
					 g->spec->sm_count * time_most(g->spec, &x->need, &used, x->grid->blocks),
				     .together = x->l->workspace != 0,
				     .threads = g->threads,
				     .check = q->check,
				     .watch = q->watch};
	if (func_run(x->l, &how, &o))
		return -ENOMEM;
	x->r->end = ends[o.end];
	x->r->fault = o.fault;
	x->r->instructions = o.instructions;
	snprintf(x->r->message, sizeof x->r->message, "%s", o.message);
	for (uint32_t k = 0; k < x->l->memory->count; k++)
		x->l->memory->region[k].written = true;
	return 0;
}
