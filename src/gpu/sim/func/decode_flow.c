/* The graph of a program's basic blocks: where the two ways of a branch meet again, and how many registers live at once. */
#include "decode.h"
#include <string.h>

struct block {
	uint32_t first, end; /* records */
	uint32_t next[2];    /* blocks that follow; the graph's exit is block n */
	uint32_t next_count;
	uint32_t more_at, more_count; /* further ones, of an indexed branch, in graph.more */
	uint32_t pred_at, pred_count; /* in graph.pred */
};
struct graph {
	struct block *block;
	uint32_t n;
	uint32_t *block_of; /* of each record */
	uint32_t *pred;
	uint32_t *more; /* the decoder's table of targets, as blocks */
};

static int nomem(const struct decoder *d)
{
	err_nomem(d->e);
	return -ENOMEM;
}

static void graph_free(struct graph *g)
{
	mem_free(g->block);
	mem_free(g->block_of);
	mem_free(g->pred);
	mem_free(g->more);
}

static bool ends_block(const struct func_inst *i)
{
	return i->kind == FUNC_BRANCH || i->kind == FUNC_EXIT;
}

static uint32_t ways_out(const struct block *b)
{
	return b->next_count + b->more_count;
}

static uint32_t way_out(const struct graph *g, const struct block *b, uint32_t n)
{
	return n < b->next_count ? b->next[n] : g->more[b->more_at + n - b->next_count];
}

static int find_blocks(struct decoder *d, struct graph *g)
{
	bool *leader = mem_zero(d->n + 1, sizeof *leader);
	g->block_of = mem_zero(d->n, sizeof *g->block_of);
	g->more = mem_zero((size_t)d->tables + 1, sizeof *g->more);
	if (!leader || !g->block_of || !g->more) {
		mem_free(leader);
		return nomem(d);
	}
	leader[0] = true;
	for (uint32_t k = 0; k < d->n; k++) {
		if (d->inst[k].kind == FUNC_BRANCH)
			leader[d->inst[k].target] = true;
		if (ends_block(&d->inst[k]))
			leader[k + 1] = true;
	}
	for (uint32_t k = 0; k < d->tables; k++)
		leader[d->table[k]] = true;
	for (uint32_t k = 0; k < d->n; k++)
		g->n += leader[k];
	g->block = mem_zero(g->n + 1, sizeof *g->block);
	if (!g->block) {
		mem_free(leader);
		return nomem(d);
	}
	uint32_t b = UINT32_MAX;
	for (uint32_t k = 0; k < d->n; k++) {
		if (leader[k])
			g->block[++b].first = k;
		g->block[b].end = k + 1;
		g->block_of[k] = b;
	}
	for (uint32_t k = 0; k < d->tables; k++)
		g->more[k] = g->block_of[d->table[k]];
	mem_free(leader);
	return 0;
}

static void add_next(struct block *b, uint32_t to)
{
	if (b->next_count == 0 || b->next[0] != to)
		b->next[b->next_count++] = to;
}

static int fill_preds(struct decoder *d, struct graph *g)
{
	uint32_t edges = 0;
	for (uint32_t k = 0; k <= g->n; k++)
		g->block[k].pred_count = 0;
	for (uint32_t k = 0; k < g->n; k++)
		for (uint32_t s = 0; s < ways_out(&g->block[k]); s++, edges++)
			g->block[way_out(g, &g->block[k], s)].pred_count++;
	mem_free(g->pred);
	g->pred = mem_zero(edges + 1, sizeof *g->pred);
	if (!g->pred)
		return nomem(d);
	for (uint32_t k = 0, at = 0; k <= g->n; k++) {
		g->block[k].pred_at = at;
		at += g->block[k].pred_count;
		g->block[k].pred_count = 0;
	}
	for (uint32_t k = 0; k < g->n; k++)
		for (uint32_t s = 0; s < ways_out(&g->block[k]); s++) {
			struct block *to = &g->block[way_out(g, &g->block[k], s)];
			g->pred[to->pred_at + to->pred_count++] = k;
		}
	return 0;
}

static int connect(struct decoder *d, struct graph *g)
{
	for (uint32_t k = 0; k < g->n; k++) {
		struct block *b = &g->block[k];
		const struct func_inst *last = &d->inst[b->end - 1];
		bool always = last->guard == FUNC_NONE;
		/* A call comes back behind itself, whatever stands in its body. */
		if (last->kind == FUNC_BRANCH && always && d->info[b->end - 1].ptx_op == PTX_OP_CALL) {
			add_next(b, k + 1);
			continue;
		}
		if (last->kind == FUNC_BRANCH && last->flags & FUNC_INDEXED &&
		    d->info[b->end - 1].ptx_op == PTX_OP_RET) {
			add_next(b, g->n);
			continue;
		}
		if (last->kind == FUNC_BRANCH && last->flags & FUNC_INDEXED) {
			b->more_at = (uint32_t)(last->imm >> 32);
			b->more_count = (uint32_t)last->imm;
			add_next(b, k + 1); /* for lanes that go elsewhere */
			continue;
		}
		if (last->kind == FUNC_BRANCH)
			add_next(b, g->block_of[last->target]);
		if (last->kind == FUNC_EXIT && always)
			add_next(b, g->n);
		/* Lanes that leave at a guarded exit are waited for nowhere: that edge decides no meeting point. */
		if (!ends_block(last) || !always)
			add_next(b, k + 1);
	}
	return fill_preds(d, g);
}

static int build(struct decoder *d, struct graph *g)
{
	int rc = find_blocks(d, g);
	return rc ? rc : connect(d, g);
}

/* Postorder of the reversed graph, from the exit; number[k] stays UINT32_MAX where no way leads to the exit. */
static uint32_t reverse_postorder(const struct graph *g, uint32_t *order, uint32_t *number, uint32_t *stack,
				  uint32_t *child)
{
	uint32_t depth = 0, count = 0;
	for (uint32_t k = 0; k <= g->n; k++) {
		number[k] = UINT32_MAX;
		child[k] = 0;
	}
	bool *seen = (bool *)(child + g->n + 1);
	memset(seen, 0, (g->n + 1) * sizeof *seen);
	stack[depth++] = g->n;
	seen[g->n] = true;
	while (depth) {
		uint32_t k = stack[depth - 1];
		if (child[k] < g->block[k].pred_count) {
			uint32_t to = g->pred[g->block[k].pred_at + child[k]++];
			if (!seen[to]) {
				seen[to] = true;
				stack[depth++] = to;
			}
			continue;
		}
		number[k] = count;
		order[count++] = k;
		depth--;
	}
	return count;
}

/* Immediate post-dominators after Cooper, Harvey and Kennedy. */
static void post_dominators(const struct graph *g, const uint32_t *order, const uint32_t *number, uint32_t count,
			    uint32_t *dom)
{
	bool changed = true;
	for (uint32_t k = 0; k <= g->n; k++)
		dom[k] = UINT32_MAX;
	dom[g->n] = g->n;
	while (changed) {
		changed = false;
		for (uint32_t o = count - 1; o-- > 0;) { /* from the exit outwards */
			uint32_t k = order[o], best = UINT32_MAX;
			for (uint32_t s = 0; s < ways_out(&g->block[k]); s++) {
				uint32_t x = way_out(g, &g->block[k], s);
				if (number[x] == UINT32_MAX || dom[x] == UINT32_MAX)
					continue;
				while (best != UINT32_MAX && x != best) {
					while (number[x] < number[best])
						x = dom[x];
					while (number[best] < number[x])
						best = dom[best];
				}
				best = x;
			}
			if (dom[k] != best) {
				dom[k] = best;
				changed = true;
			}
		}
	}
}

/* If the only way out is a guarded exit, that edge has to count after all. */
static bool open_guarded_exits(const struct decoder *d, struct graph *g, const uint32_t *number)
{
	bool any = false;
	for (uint32_t k = 0; k < g->n; k++) {
		const struct func_inst *last = &d->inst[g->block[k].end - 1];
		if (number[k] != UINT32_MAX || last->kind != FUNC_EXIT)
			continue;
		add_next(&g->block[k], g->n);
		any = true;
	}
	return any;
}

int decode_joins(struct decoder *d)
{
	struct graph g = {0};
	uint32_t *work = NULL;
	int rc = build(d, &g);
	if (!rc && !(work = mem_zero((size_t)(g.n + 1) * 6, sizeof *work)))
		rc = nomem(d);
	if (!rc) {
		uint32_t m = g.n + 1;
		uint32_t *dom = work, *order = work + m, *number = work + 2 * m, *stack = work + 3 * m,
			 *child = work + 4 * m;
		uint32_t count = reverse_postorder(&g, order, number, stack, child);
		if (open_guarded_exits(d, &g, number)) {
			rc = fill_preds(d, &g);
			count = rc ? 0 : reverse_postorder(&g, order, number, stack, child);
		}
		if (count)
			post_dominators(&g, order, number, count, dom);
		for (uint32_t k = 0; count && k < d->n; k++) {
			struct func_inst *i = &d->inst[k];
			uint32_t b = g.block_of[k];
			if (i->kind == FUNC_BRANCH)
				i->join = dom[b] >= g.n ? FUNC_NO_JOIN : g.block[dom[b]].first;
		}
	}
	mem_free(work);
	graph_free(&g);
	return rc;
}

/* ---- registers live at once ---- */
static void step_back(const struct decoder *d, uint64_t *live, const struct func_inst *i, const struct func_info *info)
{
	/* A guarded write keeps the old value of the other lanes alive. */
	for (unsigned k = 0; k < info->write_count && i->guard == FUNC_NONE; k++)
		if (info->write[k] < d->rows)
			live[info->write[k] / 64] &= ~(1ull << info->write[k] % 64);
	for (unsigned k = 0; k < info->read_count; k++)
		if (info->read[k] < d->rows)
			live[info->read[k] / 64] |= 1ull << info->read[k] % 64;
}

static uint32_t count_live(const uint64_t *live, const uint64_t *pairs, uint32_t words)
{
	uint32_t n = 0;
	for (uint32_t k = 0; k < words; k++)
		n += (uint32_t)(__builtin_popcountll(live[k]) + __builtin_popcountll(live[k] & pairs[k]));
	return n;
}

static void live_behind(const struct graph *g, uint32_t b, const uint64_t *in, uint64_t *live, uint32_t words)
{
	memset(live, 0, words * sizeof *live);
	for (uint32_t s = 0; s < ways_out(&g->block[b]); s++)
		for (uint32_t k = 0; k < words; k++)
			live[k] |= in[(size_t)way_out(g, &g->block[b], s) * words + k];
}

static void flow_back(const struct decoder *d, const struct graph *g, uint64_t *in, uint64_t *live, uint32_t words)
{
	bool changed = true;
	while (changed) {
		changed = false;
		for (uint32_t b = g->n; b-- > 0;) {
			live_behind(g, b, in, live, words);
			for (uint32_t k = g->block[b].end; k-- > g->block[b].first;)
				step_back(d, live, &d->inst[k], &d->info[k]);
			if (memcmp(&in[(size_t)b * words], live, words * sizeof *live) != 0) {
				memcpy(&in[(size_t)b * words], live, words * sizeof *live);
				changed = true;
			}
		}
	}
}

/* pairs: rows that are the first of two. *line: the last one where most of them live. */
static void peak(const struct decoder *d, const struct graph *g, const uint64_t *in, uint64_t *live,
		 const uint64_t *pairs, uint32_t words, uint32_t *most, uint32_t *line)
{
	*most = *line = 0;
	for (uint32_t b = 0; b < g->n; b++) {
		live_behind(g, b, in, live, words);
		for (uint32_t k = g->block[b].end; k-- > g->block[b].first;) {
			const struct func_info *info = &d->info[k];
			uint32_t n = count_live(live, pairs, words);
			/* A result that nobody reads takes a register for a moment all the same. */
			for (unsigned x = 0; x < info->write_count; x++)
				if (info->write[x] < d->rows && !(live[info->write[x] / 64] >> info->write[x] % 64 & 1))
					n++;
			if (n > *most || !*line) {
				*most = n;
				*line = info->line;
			}
			step_back(d, live, &d->inst[k], info);
		}
		uint32_t n = count_live(live, pairs, words);
		*most = n > *most ? n : *most;
	}
}

int decode_live(struct decoder *d, uint32_t *registers, uint32_t *line)
{
	struct graph g = {0};
	uint32_t words = (d->rows + 63) / 64 + 1;
	uint64_t *in = NULL, *live = mem_zero((size_t)words * 2, sizeof *live), *pairs = live ? live + words : NULL;
	int rc = live ? build(d, &g) : nomem(d);
	if (!rc && !(in = mem_zero((size_t)(g.n + 1) * words, sizeof *in)))
		rc = nomem(d);
	if (!rc) {
		for (uint32_t k = 0; k < d->rows; k++)
			if (d->wide[k])
				pairs[k / 64] |= 1ull << k % 64;
		flow_back(d, &g, in, live, words);
		peak(d, &g, in, live, pairs, words, registers, line);
	}
	for (size_t k = 0; !rc && k < d->sites; k++)
		if (d->site[k].caller >= 0)
			rc = decode_frames_save(d, &d->site[k], &in[(size_t)g.block_of[d->site[k].jump + 1] * words]);
	mem_free(in);
	mem_free(live);
	graph_free(&g);
	return rc;
}

int func_pressure(const struct func_program *p, const bool *none, uint16_t *live_before)
{
	struct err e;
	struct decoder d = {.e = &e,
			    .inst = (struct func_inst *)p->inst, /* only read */
			    .info = (struct func_info *)p->info,
			    .n = p->inst_count,
			    .table = (uint32_t *)p->target,
			    .tables = p->target_count,
			    .rows = p->rows};
	struct graph g = {0};
	uint32_t words = (d.rows + 63) / 64 + 1;
	uint64_t *in = NULL, *live = mem_zero((size_t)words * 3, sizeof *live), *pairs = live ? live + words : NULL;
	int rc = live ? build(&d, &g) : -ENOMEM;
	if (!rc && !(in = mem_zero((size_t)(g.n + 1) * words, sizeof *in)))
		rc = -ENOMEM;
	if (!rc) {
		uint64_t *counted = pairs + words;
		for (uint32_t k = 0; k < d.rows; k++) {
			pairs[k / 64] |= (uint64_t)p->wide[k] << k % 64;
			counted[k / 64] |= (uint64_t)!none[k] << k % 64;
		}
		flow_back(&d, &g, in, live, words);
		for (uint32_t b = 0; b < g.n; b++) {
			live_behind(&g, b, in, live, words);
			for (uint32_t k = g.block[b].end; k-- > g.block[b].first;) {
				uint32_t n = 0;
				step_back(&d, live, &d.inst[k], &d.info[k]);
				for (uint32_t w = 0; w < words; w++)
					n += (uint32_t)(__builtin_popcountll(live[w] & counted[w]) +
							__builtin_popcountll(live[w] & counted[w] & pairs[w]));
				live_before[k] = (uint16_t)(n < UINT16_MAX ? n : UINT16_MAX);
			}
		}
	}
	mem_free(in);
	mem_free(live);
	graph_free(&g);
	return rc;
}
