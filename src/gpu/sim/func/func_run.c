/* The engine without time: who has which block, and whose turn it is. */
#include "gpu/sim/func/func_seat.h"
#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <time.h>

#define BLOCK_TURN    (1u << 18) /* instructions of a block that does not end, before others have a turn */
#define TOGETHER_TURN (1u << 14) /* of one whose blocks wait for each other */
#define LOOK_EVERY    (1u << 22) /* instructions, between looks at the clock and by the watcher */
#define ALONE_FIRST                                                                                                    \
	(1u                                                                                                            \
	 << 22) /* instructions, before other host threads take part: starting those takes as long as many thousands */
#define THREADS_MOST 256

/* ---- seats ---- */

static bool seat_open(struct func_seat *s, const struct func_launch *l, uint32_t warps)
{
	const struct func_program *p = l->program;
	const uint32_t halves = l->warp_size > FUNC_LANES ? 2 * warps : warps;
	s->reg = mem_zero((size_t)halves * p->rows * FUNC_LANES * 4 + 64, 1);
	s->local = mem_zero((size_t)halves * func_local_room(p) + 1, 1);
	s->shared = mem_zero((size_t)l->shared_bytes + 16, 1);
	s->pred = mem_zero((size_t)halves * p->preds + 1, sizeof(uint32_t));
	s->waiting = mem_zero(warps, sizeof(uint32_t));
	s->warp = mem_zero(halves, sizeof(struct func_warp));
	s->paths = mem_zero(l->independent ? warps : 1, sizeof(struct func_paths));
	s->stack = mem_zero(l->independent ? 1 : (size_t)warps * FUNC_STACK, sizeof(struct func_path));
	if (!s->paths || !s->stack || !s->reg || !s->local || !s->shared || !s->pred || !s->waiting || !s->warp)
		return false;
	uint8_t *aligned = (uint8_t *)(((uintptr_t)s->reg + 63) & ~(uintptr_t)63);
	for (uint32_t n = 0; n < halves; n++) {
		struct func_warp *w = &s->warp[n];
		w->reg = (uint32_t *)(aligned + (size_t)n * p->rows * FUNC_LANES * 4);
		w->pred = s->pred + (size_t)n * p->preds;
		w->local = s->local + (size_t)n * func_local_room(p);
		w->paths = l->independent ? &s->paths[n] : NULL; /* never with halves */
		w->stack = l->independent || n >= warps ? NULL : s->stack + (size_t)n * FUNC_STACK;
		w->warp_id = n < warps ? n : n - warps;
		w->upper = n + warps < halves ? &s->warp[n + warps] : NULL;
		func_warp_literals(w, p);
	}
	return true;
}

static void seat_close(struct func_seat *s)
{
	mem_free(s->reg);
	mem_free(s->local);
	mem_free(s->shared);
	mem_free(s->pred);
	mem_free(s->waiting);
	mem_free(s->warp);
	mem_free(s->paths);
	mem_free(s->stack);
	mem_free(s);
}

/* Up to so many seats. */
static void add_seats(struct func_engine *x, uint64_t count)
{
	while (x->seats < x->room && x->seats < count) {
		struct func_seat *s = mem_zero(1, sizeof *s);
		if (!s || !seat_open(s, x->l, x->warps)) {
			if (s)
				seat_close(s);
			x->out_of_memory = true;
			return;
		}
		x->seat[x->seats++] = s;
	}
}

/* False: all blocks have begun. */
static bool sit(struct func_engine *x, struct func_seat *s)
{
	const struct func_launch *l = x->l;
	const uint64_t n = atomic_fetch_add(&x->grid->next, 1);
	if (n >= x->grid->blocks)
		return false;
	s->b = (struct func_block){.shared = s->shared};
	func_block_begin(&s->b, l, n);
	s->b.sm = l->sm_count ? (uint32_t)(n % l->sm_count) : 0;
	memset(s->waiting, 0, x->warps * sizeof *s->waiting);
	memset(s->arrived, 0, sizeof s->arrived);
	memset(s->expected, 0, sizeof s->expected);
	if (l->shared_bytes)
		memset(s->shared, 0, l->shared_bytes);
	for (uint32_t k = 0; k < x->warps; k++)
		func_warp_start(&s->warp[k], &s->b, k * l->warp_size);
	s->taken = true;
	return true;
}

/* ---- turns ---- */

static uint64_t now_ns(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* watch: NULL for all host threads but the one that launched. */
static void look_around(struct func_engine *x, const struct func_watch *watch)
{
	const struct func_grid *g = x->grid;
	if (x->looked - x->left < LOOK_EVERY)
		return;
	x->looked = x->left;
	const uint64_t begun = atomic_load(&g->next);
	if (watch && watch->look(watch->ctx, begun < g->blocks ? begun : g->blocks, g->blocks))
		func_stop(x, FUNC_LIMIT, x->now->warp, "stopped");
	else if (g->deadline && now_ns() > g->deadline)
		func_stop(x, FUNC_LIMIT, x->now->warp, "still running at the limit of time");
}

static bool goes_on(const struct func_engine *x)
{
	return x->out.end == FUNC_DONE && !x->out_of_memory && !atomic_load(&x->grid->halt);
}

/* Blocks of a seat follow each other until one is still there after its turn; then the next seat has one. True: some are there. */
static bool round_of_turns(struct func_engine *x, const struct func_watch *watch)
{
	bool left = false, moved = false;
	for (uint32_t k = 0; k < x->seats; k++) {
		struct func_seat *s = x->seat[k];
		while (goes_on(x) && (s->taken || sit(x, s))) {
			func_turn(x, s, x->grid->how->together ? TOGETHER_TURN : BLOCK_TURN);
			look_around(x, watch);
			moved |= s->moved;
			if (s->taken)
				break;
		}
		left |= s->taken;
	}
	/* All wait for others, and none can begin. */
	const bool full = x->seats == x->room || atomic_load(&x->grid->next) >= x->grid->blocks;
	for (uint32_t k = 0; left && !moved && full && k < x->seats; k++)
		if (x->seat[k]->taken)
			func_stopped(x, x->seat[k]);
	return left && goes_on(x);
}

static void turns(struct func_engine *x, const struct func_watch *watch)
{
	while (goes_on(x) && round_of_turns(x, watch))
		if (atomic_load(&x->grid->next) < x->grid->blocks)
			add_seats(x, 2ull * x->seats);
	if (x->out.end != FUNC_DONE || x->out_of_memory)
		atomic_store(&x->grid->halt, true);
}

/* ---- host threads ---- */

struct helper {
	pthread_t thread;
	struct func_engine x;
	struct func_launch l;
	struct func_memory memory; /* its own memory of where the latest access was */
	bool started;
};

static bool engine_open(struct func_engine *x, struct func_grid *g, const struct func_launch *l, uint32_t room)
{
	const uint64_t threads = (uint64_t)l->block[0] * l->block[1] * l->block[2];
	const uint64_t budget = g->how->limit ? g->how->limit : UINT64_MAX;
	*x = (struct func_engine){.grid = g,
				  .l = l,
				  .check = g->how->check,
				  .out = {.end = FUNC_DONE},
				  .room = room < g->blocks ? room : (uint32_t)g->blocks,
				  .warps = (uint32_t)((threads + l->warp_size - 1) / l->warp_size),
				  .left = budget,
				  .looked = budget};
	x->seat = mem_zero(x->room, sizeof(struct func_seat *));
	return x->seat != NULL;
}

static void engine_close(struct func_engine *x)
{
	for (uint32_t k = 0; k < x->seats; k++)
		seat_close(x->seat[k]);
	mem_free(x->seat);
}

static void *help(void *arg)
{
	struct helper *h = arg;
	add_seats(&h->x, 1);
	turns(&h->x, NULL);
	return NULL;
}

/* Blocks of other kernels have an order that shows: in what they print, in addresses that they are given, in what atomics return. */
static uint32_t helpers_wanted(const struct func_grid *g)
{
	const struct func_program *p = g->l->program;
	const struct func_how *how = g->how;
	if (how->threads < 2 || func_cluster_size(g->l) > 1 || how->limit || how->together || how->check || p->prints ||
	    p->allocates || p->ordered)
		return 0;
	return (how->threads < THREADS_MOST ? how->threads : THREADS_MOST) - 1;
}

/* The others take part once the launch has shown that it is worth it. Without memory or threads for them it goes on alone. */
static struct helper *call_helpers(struct func_engine *x, uint32_t count)
{
	struct helper *h = mem_zero(count, sizeof *h);
	for (uint32_t k = 0; h && k < count; k++) {
		h[k].memory = *x->l->memory;
		h[k].l = *x->l;
		h[k].l.memory = &h[k].memory;
		if (engine_open(&h[k].x, x->grid, &h[k].l, x->room))
			h[k].started = !pthread_create(&h[k].thread, NULL, help, &h[k]);
	}
	return h;
}

static void gather(struct func_engine *x, struct helper *h, uint32_t count)
{
	for (uint32_t k = 0; h && k < count; k++) {
		struct func_engine *other = &h[k].x;
		if (h[k].started)
			pthread_join(h[k].thread, NULL);
		x->out.instructions += other->grid ? UINT64_MAX - other->left : 0;
		x->out_of_memory |= other->out_of_memory && !other->seats;
		if (other->out.end != FUNC_DONE && x->out.end == FUNC_DONE) {
			const uint64_t all = x->out.instructions;
			x->out = other->out;
			x->out.instructions = all;
		}
		engine_close(other);
	}
	mem_free(h);
}

int func_run(const struct func_launch *launch, const struct func_how *how, struct func_outcome *out)
{
	struct func_launch own = *launch, *l = &own;
	struct func_grid g = {.l = l, .how = how, .blocks = (uint64_t)l->grid[0] * l->grid[1] * l->grid[2]};
	struct func_engine x;
	uint32_t helpers = helpers_wanted(&g);
	struct helper *h = NULL;
	uint32_t *stretch = mem_alloc(l->program->inst_count * sizeof *stretch);
	if (!stretch)
		return -ENOMEM;
	func_stretches(l->program, stretch);
	g.stretch = stretch;
	if (how->limit_ms)
		g.deadline = now_ns() + how->limit_ms * 1000000ull;
	if (func_clusters_open(l)) {
		mem_free(stretch);
		return -ENOMEM;
	}
	if (!engine_open(&x, &g, l, how->resident ? how->resident : 1)) {
		func_clusters_close(l);
		mem_free(stretch);
		return -ENOMEM;
	}
	const uint64_t budget = x.left;
	add_seats(&x, how->together ? x.room : 1);
	if (helpers) {
		while (goes_on(&x) && budget - x.left < ALONE_FIRST && (x.seat[0]->taken || sit(&x, x.seat[0])))
			func_turn(&x, x.seat[0], BLOCK_TURN);
		h = goes_on(&x) && atomic_load(&g.next) < g.blocks ? call_helpers(&x, helpers) : NULL;
	}
	turns(&x, how->watch);
	x.out.instructions = budget - x.left;
	gather(&x, h, h ? helpers : 0);
	*out = x.out;
	engine_close(&x);
	func_clusters_close(l);
	mem_free(stretch);
	return x.out_of_memory ? -ENOMEM : 0;
}
