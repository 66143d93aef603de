/* Instruction caches: how much code a loop may have, and what it costs when it has more; without them, nothing. */
#include "gate.h"
#include <stdio.h>

#define ADD   "add.u32 %r2, %r2, 1;"
#define FENCE "membar.cta;" /* waits for nothing and lets the next issue at once, so that it hides no fetch */

/* Cycles of the last pass through a loop of n instructions `text`. *end: where the code of the loop ends. */
static double loop(struct gate *g, const struct sim_spec *s, const char *text, uint32_t n, uint64_t *end)
{
	struct str t;
	uint32_t out[2] = {0};
	str_init(&t);
	gate_head(&t, s, false, 0, "");
	str_add(&t, "\tmov.u32 %r3, 5;\n\tmov.u32 %r2, 0;\n\tmov.u32 %r1, 0;\nPASS:\n");
	/* From one read of the clock to the next is one pass. What waits for something stands in front, where no line ends. */
	str_add(&t,
		"\tmov.u32 %r4, %r1;\n\tmov.u32 %r1, %clock;\n\tsub.u32 %r5, %r1, %r4;\n\tst.global.u32 [%o], %r5;\n"
		"\tst.global.u32 [%o+4], %r2;\n\tsub.u32 %r3, %r3, 1;\n\tsetp.ne.u32 %p0, %r3, 0;\n"
		"\tmov.u32 %r6, %r5;\n\tadd.u32 %r6, %r6, %r3;\n");
	for (uint32_t i = 0; i < n; i++)
		str_addf(&t, "\t%s\n", text);
	str_add(&t, "\t@%p0 bra PASS;\n\texit;\n}\n");
	struct gate_launch l = {.s = s, .text = str_text(&t), .grid = 1, .block = 1, .words = 2};
	uint64_t ran = gate_run(g, &l, out);
	str_free(&t);
	*end = s->fetch.base + (uint64_t)(l.native - 1) * s->fetch.bytes;
	return ran ? (double)out[0] : -1;
}

/* A pass with code up to `end` exactly: a fence is one native instruction. */
static double pass_to(struct gate *g, const struct sim_spec *s, uint64_t end, uint32_t *n)
{
	uint64_t little;
	loop(g, s, FENCE, 40, &little);
	*n = (uint32_t)(40 + (end - little) / s->fetch.bytes);
	double v = loop(g, s, FENCE, *n, &little);
	gate_check(g, "end of the code", (double)little, (double)end, 0);
	return v;
}

static void level(struct gate *g, const struct sim_spec *s, uint32_t k)
{
	const struct cache_spec *c = &s->fetch.path.level[k];
	const struct cache_spec *next = k + 1 < s->fetch.path.levels ? &s->fetch.path.level[k + 1] : NULL;
	double slower = (next ? next->latency : s->fetch.path.memory_latency) - c->latency;
	bool beyond = next ? next->scope == SCOPE_GPU : true,
	     orderly = c->policy == POLICY_LRU || c->policy == POLICY_FIFO;
	uint32_t full, less, more;
	double step = s->scheduler_issue; /* of a fence */
	char what[80];
	slower += (beyond ? s->cluster_offset[0] : 0) - (c->scope == SCOPE_GPU ? s->cluster_offset[0] : 0);
	if (!orderly || c->mapping != MAP_MODULO || c->set_ways)
		return;
	double fits = pass_to(g, s, c->size, &full);
	double before = pass_to(g, s, c->size - s->fetch.block, &less);
	/* Two instructions in the line behind, of which one may be the decoder's own exit. A set now has a line too
	 * many, and misses all of them. A fetch starts the cycle after the fence before it, whose turn takes `step`. */
	double over = pass_to(g, s, c->size + 2 * s->fetch.bytes, &more);
	if (g->broken)
		return;
	snprintf(what, sizeof what, "cost of filling instruction l%u", k + 1);
	double block = fits - before - step * (full - less);
	gate_check(g, what, block > -1 && block <= c->latency + 1, 1, 0);
	snprintf(what, sizeof what, "cost of a miss of instruction l%u", k + 1);
	gate_check(g, what, (over - fits - step * (more - full) - s->fetch.path.level[k].latency) / (c->ways + 1),
		   slower - (step - 1), GATE_LATENCY);
}

void gates_fetch(struct gate *g)
{
	struct sim_spec s = *g->s;
	int32_t op = spec_find_op(&s, "add", "u32");
	double add = op >= 0 ? s.op[op].latency : 0;
	uint64_t end;
	s.fetch.ahead = 0; /* what is taken along would hide the levels */
	if (!s.fetch.path.levels) {
		double few = loop(g, &s, ADD, 100, &end), many = loop(g, &s, ADD, 20100, &end);
		gate_check(g, "an addition in a long loop without instruction caches", (many - few) / 20000, add, 1e-6);
		return;
	}
	for (uint32_t k = 0; k < s.fetch.path.levels; k++)
		level(g, &s, k);
}
