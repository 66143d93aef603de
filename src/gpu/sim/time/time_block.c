/* Blocks and warps: who sits where, barriers, exits. */
#include "gpu/sim/time/time_fetch.h"
#include "gpu/sim/time/time_next.h"
#include "gpu/sim/time/time_tally.h"
#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#define HOST_LINE 64 /* bytes of a line of the host's caches */

int time_blocks_check(struct time_run *x)
{
	const struct sim_spec *s = x->g->spec;
	const struct func_launch *l = x->l;
	uint64_t threads = (uint64_t)l->block[0] * l->block[1] * l->block[2];

	x->grid->blocks = (uint64_t)l->grid[0] * l->grid[1] * l->grid[2];
	time_need(&x->need, s, threads, x->p->func->registers, l->shared_bytes, x->p->barriers);
	x->need.room = time_shared_room(s, x->g->shared_percent, x->need.shared);
	time_choose_l1(x->g, x->need.room);
	x->warps_per_block = x->need.warps;
	x->block_launch = (uint32_t)(s->block_launch + 0.5);
	x->warp_launch = (uint32_t)(s->warp_launch + 0.5);
	if (!time_need_check(s, &x->need, l, x->p->func, x->r->message, sizeof x->r->message))
		return 0;
	x->r->end = TIME_REFUSED;
	return -EINVAL;
}

/* ---- pools: what a block and a warp need is kept for the next ones ---- */

static void warp_free(struct time_warp *w)
{
	mem_free(w->memory);
	mem_free(w->f.local);
	mem_free(w->together);
	mem_free(w->f.upper);
	mem_free(w);
}

static void block_free(struct time_block *b)
{
	mem_free(b->f.shared);
	mem_free(b->warp);
	mem_free(b);
}

void time_pool_free(struct time_cluster *c)
{
	while (c->warp_pool) {
		struct time_warp *w = c->warp_pool;
		c->warp_pool = w->next;
		warp_free(w);
	}
	while (c->block_pool) {
		struct time_block *b = c->block_pool;
		c->block_pool = b->next;
		block_free(b);
	}
}

void time_left(struct time_cluster *c)
{
	if (!c->warp_left)
		return;
	c->warp_left_last->next = c->warp_pool;
	c->warp_pool = c->warp_left;
	c->warp_left = NULL;
}

static int room(void **memory, size_t *have, size_t want, size_t size)
{
	if (*have >= want && *memory)
		return 0;
	void *fresh = mem_zero(want, size);
	if (!fresh)
		return -ENOMEM;
	mem_free(*memory);
	*memory = fresh;
	*have = want;
	return 0;
}

static struct time_warp *warp_back(struct time_cluster *g, struct time_warp *w)
{
	w->next = g->warp_pool;
	g->warp_pool = w;
	return NULL;
}

/* Places in the warp's memory side by side: a warp is cold when its turn comes, and its pages are then few. False: out of memory. */
static bool lay_out(struct time_warp *w, const struct time_run *x, uint32_t halves, uint32_t in_flight)
{
	const struct func_program *p = x->p->func;
	size_t times = x->p->slots + 1 + in_flight, preds = (size_t)halves * p->preds + 1;
	size_t front = (times * sizeof(uint64_t) + preds * sizeof(uint32_t) + HOST_LINE - 1) & ~(size_t)(HOST_LINE - 1);
	size_t rows = (size_t)p->rows * halves * FUNC_LANES * sizeof(uint32_t);
	size_t before = w->bytes;
	if (room(&w->memory, &w->bytes, front + rows + HOST_LINE, 1))
		return false;
	uint64_t *at = (uint64_t *)(((uintptr_t)w->memory + HOST_LINE - 1) & ~(uintptr_t)(HOST_LINE - 1));
	uint32_t *reg = (uint32_t *)(void *)((char *)at + front);
	if (w->bytes != before || w->f.reg != reg)
		w->literals = 0;
	w->ready = at;
	w->flight = in_flight ? at + x->p->slots + 1 : NULL;
	w->f.pred = (uint32_t *)(void *)(at + times);
	w->f.reg = reg;
	memset(w->ready, 0, times * sizeof *w->ready);
	return true;
}

static struct time_warp *warp_new(struct time_run *x)
{
	struct time_cluster *g = x->c;
	uint32_t in_flight = x->g->spec->loads_in_flight + x->g->spec->constant_blocks;
	const struct func_program *p = x->p->func;
	struct time_warp *w = g->warp_pool;
	if (w) {
		g->warp_pool = w->next;
	} else {
		bool paths = x->g->spec->independent_threads;
		w = mem_zero(1,
			     sizeof *w + (paths ? sizeof(struct func_paths) : FUNC_STACK * sizeof(struct func_path)));
		if (!w)
			return NULL;
		if (paths)
			w->f.paths = (struct func_paths *)(void *)(w + 1);
		else
			w->f.stack = (struct func_path *)(void *)(w + 1);
	}
	void *local = w->f.local;
	uint32_t halves = x->g->spec->warp_size > FUNC_LANES ? 2 : 1;
	if (halves == 2 && !w->f.upper && !(w->f.upper = mem_zero(1, sizeof *w->f.upper)))
		return warp_back(g, w);
	if (!lay_out(w, x, halves, in_flight))
		return warp_back(g, w);
	int bad = 0;
	if (p->local_bytes)
		bad = room(&local, &w->local_bytes, func_local_room(p) * halves, 1);
	w->f.local = local;
	if (bad)
		return warp_back(g, w);
	if (w->f.upper) {
		struct func_warp *upper = w->f.upper;
		if (upper->reg != w->f.reg + (size_t)p->rows * FUNC_LANES)
			w->literals = 0;
		upper->reg = w->f.reg + (size_t)p->rows * FUNC_LANES;
		upper->pred = w->f.pred + p->preds;
		upper->local = p->local_bytes ? w->f.local + func_local_room(p) : NULL;
	}
	if (x->together) {
		void *all = w->together;
		bad = room(&all, &w->together_bytes, sizeof *w->together + x->p->slots + 1, 1);
		w->together = all;
		if (bad)
			return warp_back(g, w);
		memset(w->together, 0, sizeof *w->together + x->p->slots + 1);
	}
	w->turn = 0;
	w->turned = NEVER;
	w->flight_at = w->sub = w->ahead = w->waiting = 0;
	w->fetched = 0;
	w->watched.epoch = 0;
	if (w->literals != x->p->literals) {
		func_warp_literals(&w->f, p);
		w->literals = x->p->literals;
	}
	return w;
}

static struct time_block *block_new(struct time_run *x)
{
	struct time_cluster *g = x->c;
	struct time_block *b = g->block_pool;
	if (b) {
		g->block_pool = b->next;
	} else {
		b = mem_zero(1, sizeof *b);
		if (!b)
			return NULL;
	}
	void *shared = b->f.shared, *warp = b->warp;
	size_t bytes = b->shared_bytes, places = b->warp_room;
	int bad = room(&shared, &b->shared_bytes, (size_t)x->l->shared_bytes + 16, 1);
	bad |= room(&warp, &places, x->warps_per_block, sizeof *b->warp);
	b->f.shared = shared;
	b->warp = warp;
	b->warp_room = (uint32_t)places;
	if (bad) {
		b->next = g->block_pool;
		g->block_pool = b;
		return NULL;
	}
	/* Shared memory starts as zeros, so that a run does not depend on what ran before it. */
	if ((b->shared_written || b->f.shared_changed) && b->shared_bytes == bytes)
		memset(b->f.shared, 0, b->shared_bytes);
	b->shared_written = b->f.shared_changed = false;
	memset(b->f.count, 0, sizeof b->f.count);
	memset(b->barrier, 0, sizeof b->barrier);
	return b;
}

/* ---- placement ---- */

static bool fits(const struct time_run *x, const struct time_sm *m)
{
	return time_fits(x->g->spec, &m->used, &x->need);
}

/* The part of the L1 that resident blocks use as shared memory holds no lines. */
static void share_l1(struct time_run *x, uint32_t sm)
{
	struct time_gpu *g = x->g;
	if (!g->spec->l1_shares_shared || !g->global_l1)
		return;
	const struct cache_spec *s = g->global_l1->spec;
	struct time_cache *c = &g->global_l1->cache[g->global_l1->scope == SCOPE_SM ? sm : 0];
	uint64_t used = g->sm[sm].used.shared;
	uint32_t ways = used < s->size ? (uint32_t)((s->size - used) * s->ways / s->size) : 0;
	cache_narrow(c, ways ? ways : 1);
}

static void account(struct time_run *x, uint32_t sm, int sign)
{
	struct time_sm *m = &x->g->sm[sm];
	uint32_t one = (uint32_t)sign;
	m->used.blocks += one;
	m->used.warps += one * x->need.warps;
	m->used.threads += one * x->need.threads;
	m->used.registers += one * x->need.registers;
	m->used.barriers += one * x->need.barriers;
	m->used.shared += (uint64_t)(int64_t)sign * x->need.shared;
	if (x->l->shared_bytes)
		share_l1(x, sm);
}

static void block_leave(struct time_run *x, struct time_block *b)
{
	account(x, b->sm, -1);
	func_block_end(&b->f);
	b->next = x->c->block_pool;
	x->c->block_pool = b;
}

/* All places below `first` are taken, before and after. */
static bool place_warp(struct time_run *x, struct time_block *b, uint32_t n, uint64_t t, uint32_t *first)
{
	const struct sim_spec *s = x->g->spec;
	struct time_sm *m = &x->g->sm[b->sm];
	uint32_t id = *first, per = (s->max_warps_per_sm + s->schedulers - 1) / s->schedulers;
	while (m->sched[id % s->schedulers].warp[id / s->schedulers])
		id++;
	*first = id;
	assert(id / s->schedulers < per);
	(void)per;
	struct time_warp *w = warp_new(x);
	if (!w)
		return false;
	struct time_sched *sched = &m->sched[id % s->schedulers];
	w->sched = sched;
	w->slot = id / s->schedulers;
	w->block = b;
	w->f.warp_id = id;
	if (w->f.upper)
		w->f.upper->warp_id = id;
	w->held = x->g->fetch ? FETCH_NOTHING : 0;
	func_warp_start(&w->f, &b->f, n * s->warp_size);
	b->warp[n] = w;
	sched->warp[w->slot] = w;
	sched->age[w->slot] = sched->started++;
	if (w->slot >= sched->slots)
		sched->slots = w->slot + 1;
	x->alive++;
	if (__builtin_expect(x->tally != NULL, 0))
		time_tally_warp(x, w);
	time_next(x, w, t);
	time_turn(sched, sched->wake[w->slot]);
	return true;
}

static bool place(struct time_run *x, uint64_t n, uint32_t sm, uint64_t t)
{
	struct time_block *b = block_new(x);
	if (!b)
		return false;
	func_block_begin(&b->f, x->l, n);
	b->sm = sm;
	b->f.sm = x->g->spec->sm_number ? x->g->spec->sm_number[sm] : sm;
	b->warps = b->alive = x->warps_per_block;
	b->threads = x->l->block[0] * x->l->block[1] * x->l->block[2];
	memset(b->warp, 0, b->warps * sizeof *b->warp);
	account(x, sm, 1);
	/* Its warps start one after the other, at the rate at which the SM makes them. */
	t += x->block_launch;
	for (uint32_t k = 0, first = 0; k < b->warps; k++) {
		if (place_warp(x, b, k, t + (uint64_t)k * x->warp_launch, &first))
			continue;
		/* The warps that sit already take the block with them when time_blocks_stop clears the SMs. */
		b->alive = k;
		if (!k) {
			block_leave(x, b);
		}
		return false;
	}
	return true;
}

/* All blocks want the same and the SMs are empty, so every SM gets the same number of them, but for where the grid ends. */
void time_blocks_count(struct time_gpu *g, struct time_grid *grid)
{
	const struct sim_spec *s = g->spec;
	struct time_need used;
	const uint64_t sms = (uint64_t)s->sm_per_cluster * s->cluster_count;
	const uint64_t each = time_most(s, &g->cluster[0].run.need, &used, (grid->blocks + sms - 1) / sms);
	grid->next_block = each * sms < grid->blocks ? each * sms : grid->blocks;
	grid->blocks_each = each;
	grid->handed = (double)grid->next_block * s->block_interval;
}

/* The SM that one of the first blocks goes to. */
static uint32_t first_home(const struct time_run *x, uint64_t n)
{
	const struct sim_spec *s = x->g->spec;
	switch (s->block_order) {
	case ORDER_SM:
		return (uint32_t)(n % s->sm_count);
	case ORDER_FILL:
		return (uint32_t)(n / x->grid->blocks_each);
	case ORDER_CLUSTER:
		break;
	}
	return (uint32_t)(n % s->cluster_count * s->sm_per_cluster + n / s->cluster_count % s->sm_per_cluster);
}

bool time_blocks_start(struct time_run *x, uint64_t first, uint64_t end)
{
	const struct sim_spec *s = x->g->spec;
	const bool turns = s->block_order == ORDER_CLUSTER;
	for (uint64_t n = first + (turns ? x->c->number : 0); n < end; n += turns ? s->cluster_count : 1) {
		const uint32_t sm = first_home(x, n);
		if (sm / s->sm_per_cluster != x->c->number)
			continue;
		assert(fits(x, &x->g->sm[sm]));
		if (!place(x, n, sm, x->start + (uint64_t)((double)n * s->block_interval)))
			return false;
	}
	return true;
}

/* All blocks of a grid want the same, so one that ends makes room for exactly one. Who gets the next block is decided for
 * the whole GPU, and the answer takes as long as the fastest one from there. */
void time_dispatch(struct time_cluster *c, struct time_grid *grid, uint32_t sm, uint64_t t)
{
	if (grid->next_block == grid->blocks)
		return;
	if (c->start_count == c->start_room && c->start_first) {
		c->start_count -= c->start_first;
		memmove(c->start, c->start + c->start_first, c->start_count * sizeof *c->start);
		c->start_first = 0;
	}
	if (c->start_count == c->start_room) {
		uint32_t room = c->start_room ? c->start_room * 2 : 16;
		struct time_start *more = mem_grow(c->start, room * sizeof *more);
		if (!more) {
			c->out_of_memory = true;
			return;
		}
		c->start = more;
		c->start_room = room;
	}
	const double interval = c->run.g->spec->block_interval;
	const uint64_t stored = c->run.g->sm[sm].stored;
	uint64_t at = (t > stored ? t : stored) + c->run.g->epoch;
	if (interval > 0) {
		const double soonest = (double)(at - grid->start);
		grid->handed = grid->handed > soonest ? grid->handed : soonest;
		at = grid->start + (uint64_t)grid->handed;
		grid->handed += interval;
	}
	/* A block that waits for stores on its SM lets later ones of the other SMs go first. */
	uint32_t place = c->start_count++;
	for (; place > c->start_first && c->start[place - 1].at > at; place--)
		c->start[place] = c->start[place - 1];
	c->start[place] = (struct time_start){.at = at, .block = grid->next_block++, .sm = sm};
	c->start_next = c->start[c->start_first].at;
}

void time_arrive(struct time_run *x)
{
	struct time_cluster *c = x->c;
	struct time_start s = c->start[c->start_first++];
	if (c->start_first == c->start_count)
		c->start_first = c->start_count = 0;
	c->start_next = c->start_count ? c->start[c->start_first].at : NEVER;
	c->now = s.at;
	if (!place(x, s.block, s.sm, s.at))
		c->out_of_memory = x->stop = true;
}

/* ---- exits ---- */

static void warp_leave(struct time_run *x, struct time_warp *w)
{
	struct time_sched *s = w->sched;
	struct time_block *b = w->block;
	s->warp[w->slot] = NULL;
	time_wake(s, w->slot, NEVER);
	while (s->slots && !s->warp[s->slots - 1])
		s->slots--;
	for (uint32_t k = 0; k < b->warps; k++)
		if (b->warp[k] == w)
			b->warp[k] = NULL;
	/* What it has asked the far side may still be on its way to its registers. */
	struct time_warp **list = x->c->direct ? &x->c->warp_pool : &x->c->warp_left;
	if (!x->c->warp_left)
		x->c->warp_left_last = w;
	w->next = *list;
	*list = w;
	x->alive--;
	b->alive--;
}

void time_warp_done(struct time_run *x, struct time_warp *w, uint64_t t)
{
	struct time_block *b = w->block;
	warp_leave(x, w);
	time_cluster_try(x, b, t);
	if (b->alive) {
		time_barriers_try(x, b, t);
		return;
	}
	uint32_t sm = b->sm;
	block_leave(x, b);
	if (x->grid->next_block == x->grid->blocks)
		return;
	if (x->c->direct) {
		time_dispatch(x->c, x->grid, sm, t);
		return;
	}
	struct far_request *q = far_request(x->c, FAR_BLOCK, t, x->c->piece_count);
	if (q)
		q->piece = sm;
}

void time_blocks_stop(struct time_run *x)
{
	struct time_cluster *c = x->c;
	for (uint32_t n = 0; n < c->sched_count; n++) {
		struct time_sched *s = &x->g->sched[c->sched_first + n];
		for (uint32_t k = s->slots; k-- > 0;) {
			struct time_warp *w = s->warp[k];
			if (!w)
				continue;
			struct time_block *b = w->block;
			if (x->tally && w->past.lanes)
				time_tally_done(x, w, x->last);
			warp_leave(x, w);
			if (!b->alive)
				block_leave(x, b);
		}
	}
	time_left(c);
	c->start_first = c->start_count = 0;
	c->start_next = NEVER;
}
