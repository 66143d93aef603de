/* The clusters of a launch, epoch by epoch: each runs ahead alone, then the far side serves what they asked. */
#include "gpu/sim/time/time_fetch.h"
#include "gpu/sim/time/time_tally.h"
#include "gpu/sim/time/time_threads.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>

/* Cycles from the end of a launch to the start of the next. A host is never back after the same time. No parity of the
 * counters, no phase of a refresh and no state of a port thus survives from launch to launch. */
#define GAP_LEAST 1000
#define GAP_RANGE 99001

int time_clusters_open(struct time_gpu *g, uint64_t seed)
{
	const struct sim_spec *s = g->spec;
	uint32_t per = s->sm_per_cluster * s->schedulers;
	g->cluster = mem_zero(s->cluster_count, sizeof *g->cluster);
	g->order = mem_alloc(sizeof *g->order);
	g->busy = mem_zero(s->cluster_count, sizeof(struct time_cluster *));
	g->soonest = mem_zero(s->cluster_count, sizeof *g->soonest);
	if (!g->cluster || !g->order || !g->busy || !g->soonest)
		return -ENOMEM;
	for (uint32_t n = 0; n < s->cluster_count; n++) {
		struct time_cluster *c = &g->cluster[n];
		c->number = n;
		c->sched_first = n * per;
		c->sched_count = g->sched_count - n * per < per ? g->sched_count - n * per : per;
		c->start_next = NEVER;
		rng_seed(&c->noise, (seed ^ 0x9e3779b97f4a7c15u) + n * 0xd1342543de82ef95u);
		if (wheel_open(&c->wheel, c->sched_count))
			return -ENOMEM;
		for (uint32_t k = 0; k < c->sched_count; k++) {
			g->sched[c->sched_first + k].cluster = c;
			g->sched[c->sched_first + k].number = k;
		}
	}
	return 0;
}

void time_clusters_close(struct time_gpu *g)
{
	for (uint32_t n = 0; g->cluster && n < g->spec->cluster_count; n++) {
		struct time_cluster *c = &g->cluster[n];
		time_pool_free(c);
		wheel_close(&c->wheel);
		mem_free(c->start);
		mem_free(c->request);
		mem_free(c->turn);
		mem_free(c->piece);
		mem_free(c->seen);
		mem_free(c->fill);
		mem_free(c->effect);
		mem_free(c->overlay.word);
	}
	mem_free(g->cluster);
	mem_free(g->order);
	mem_free(g->busy);
	mem_free(g->soonest);
	threads_close(g->pool);
}

static bool knows_together(const struct sim_spec *s)
{
	for (uint32_t k = 0; k < s->pipe_count; k++)
		if (s->pipe[k].together)
			return true;
	return false;
}

/* What is told of a launch, or what it prints, has one order. */
static bool in_order(const struct time_gpu *g, const struct time_grid *grid)
{
	const struct func_program *f = grid->q->program->func;
	return g->serial || func_cluster_size(grid->l) > 1 || grid->q->hook || grid->q->check || f->prints ||
	       f->allocates || (f->atomics && g->timed_atomics);
}

static void prepare(struct time_gpu *g, struct time_grid *grid, struct time_cluster *c, const struct time_run *whole)
{
	c->result = (struct time_result){.end = TIME_DONE};
	c->memory = *grid->l->memory;
	c->launch = *grid->l;
	c->launch.memory = &c->memory;
	c->out_of_memory = false;
	c->alone = false;
	c->direct = in_order(g, grid);
	c->run = (struct time_run){.g = g,
				   .c = c,
				   .grid = grid,
				   .p = grid->q->program,
				   .fi = grid->q->program->func->inst,
				   .ti = grid->q->program->inst,
				   .l = &c->launch,
				   .q = grid->q,
				   .note = g->note,
				   .whole = g->spec->warp_size < 64 ? (1ull << g->spec->warp_size) - 1 : UINT64_MAX,
				   .r = &c->result,
				   .start = grid->start,
				   .last = grid->start,
				   .warps_per_block = whole->warps_per_block,
				   .need = whole->need,
				   .block_launch = whole->block_launch,
				   .warp_launch = whole->warp_launch,
				   .dual = g->spec->dual_issue,
				   .together = knows_together(g->spec),
				   .turn = (uint32_t)(g->spec->warp_interval + 0.5),
				   .plain = !g->note && g->spec->warp_interval < 0.5,
				   .policy = g->spec->policy,
				   .schedulers = g->spec->schedulers,
				   .patience = time_is_limited(grid->q) ? 1 : TIME_PATIENCE};
	c->now = grid->start;
	wheel_reset(&c->wheel, grid->start);
}

static bool busy(const struct time_cluster *c)
{
	return c->run.alive || c->start_next != NEVER;
}

/* When the cluster does something next. NEVER: it has nothing to do. */
static uint64_t turn_of(const struct time_cluster *c)
{
	return busy(c) ? time_soonest(c) : NEVER;
}

/* Who comes first, by number among those of one cycle, and before which cycle nobody else does. */
struct leader {
	struct time_cluster *first; /* NULL: nobody has a turn */
	uint64_t at, until;
};

static struct leader find_leader(const struct time_gpu *g)
{
	struct leader l = {.at = NEVER, .until = NEVER};
	uint32_t first = 0;
	for (uint32_t n = 0; n < g->spec->cluster_count; n++) {
		const uint64_t at = g->soonest[n];
		if (at < l.at) {
			l.until = l.at; /* in that cycle it has the lower number */
			l.at = at;
			first = n;
		} else if (at != NEVER && at + 1 < l.until) {
			l.until = at + 1;
		}
	}
	l.first = l.at == NEVER ? NULL : &g->cluster[first];
	return l;
}

static struct time_cluster *last_busy(struct time_gpu *g)
{
	uint32_t n = g->spec->cluster_count;
	while (n-- > 0)
		if (busy(&g->cluster[n]))
			return &g->cluster[n];
	return NULL;
}

/* What cannot wait for an answer is asked at once, and so is what a trace tells of one. The clusters take turns in the
 * order of cycles. What one does changes no other's turn. */
static void run_serial(struct time_gpu *g, struct time_grid *grid)
{
	uint32_t live = 0, step = 0;
	for (uint32_t n = 0; n < g->spec->cluster_count; n++) {
		struct time_cluster *c = &g->cluster[n];
		if (c->run.stop || c->out_of_memory)
			return;
		live += busy(c);
		g->soonest[n] = turn_of(c);
	}
	while (live > 1) {
		const struct leader l = find_leader(g);
		struct time_cluster *c = l.first;
		uint64_t at = l.at;
		if (!c) {
			time_deadlock(&last_busy(g)->run);
			return;
		}
		do {
			if (++step % 1024 == 0 && time_watch_epoch(g, grid)) {
				time_deadlock(&last_busy(g)->run);
				return;
			}
			if (step % 1024 == 0 && time_ended(g, &c->run))
				return;
			/* Its far turns may turn out to be later than it thought: then it has done nothing. */
			time_step(&c->run, at + 1);
			if (c->run.stop || c->out_of_memory)
				return;
			at = turn_of(c);
		} while (at < l.until && !grid->woken);
		for (uint32_t n = 0; grid->woken && n < g->spec->cluster_count; n++)
			g->soonest[n] = turn_of(&g->cluster[n]);
		grid->woken = false;
		live -= !busy(c);
		g->soonest[c->number] = at;
	}
	if (live)
		time_run_direct(&last_busy(g)->run);
}

static void run_epoch(struct time_cluster *c, uint64_t end)
{
	if (c->request_count)
		time_far_answer(c);
	time_run_cluster(&c->run, end);
	time_far_look(c);
	c->next = time_soonest(c);
}

/* Other threads are called in when there is something to do for them: an epoch of a few issues is over before they wake. */
#define WARPS_FIRST  512  /* that start at once: then other threads are there from the beginning */
#define ISSUES_FIRST 4096 /* of a launch with fewer, alone */
#define ISSUES_EPOCH 256  /* in the epoch before, at least */

static void share_out(struct time_gpu *g, uint32_t count, bool many, void (*job)(struct time_cluster *c, uint64_t arg),
		      uint64_t arg)
{
	many = many && g->threads > 1 && count > 1;
	if (many && !g->pool) {
		g->pool = threads_open(g->threads - 1);
		g->threads = g->pool ? g->threads : 1;
	}
	if (many && g->pool) {
		threads_each(g->pool, g->busy, count, job, arg);
		return;
	}
	for (uint32_t k = 0; k < count; k++)
		job(g->busy[k], arg);
}

static void start_blocks(struct time_cluster *c, uint64_t end)
{
	if (!time_blocks_start(&c->run, 0, end))
		c->out_of_memory = true;
}

/* The first blocks, everywhere. Who asks the far side at once does so in the order of the blocks. */
static bool start_all(struct time_gpu *g, struct time_grid *grid)
{
	uint32_t clusters = g->spec->cluster_count;
	time_blocks_count(g, grid);
	if (g->cluster[0].direct) {
		for (uint64_t n = 0; n < grid->next_block; n += clusters)
			for (uint32_t k = 0; k < clusters; k++)
				if (!time_blocks_start(&g->cluster[k].run, n,
						       n + clusters < grid->next_block ? n + clusters
										       : grid->next_block))
					return false;
		return true;
	}
	bool good = true;
	for (uint32_t n = 0; n < clusters; n++)
		g->busy[n] = &g->cluster[n];
	grid->large = grid->next_block * g->cluster[0].run.warps_per_block >= WARPS_FIRST;
	share_out(g, clusters, grid->large, start_blocks, grid->next_block);
	for (uint32_t n = 0; n < clusters; n++)
		good &= !g->cluster[n].out_of_memory;
	return good;
}

static void run_all(struct time_gpu *g, bool many, uint64_t end)
{
	uint32_t count = 0;
	for (uint32_t n = 0; n < g->spec->cluster_count; n++) {
		struct time_cluster *c = &g->cluster[n];
		c->next = time_soonest(c);
		if (c->next < end || c->request_count)
			g->busy[count++] = c;
	}
	share_out(g, count, many, run_epoch, end);
}

/* How the clusters stand at the end of an epoch. */
struct standing {
	uint32_t live;
	bool stop, asks;
	struct time_cluster *one; /* of the live ones */
	uint64_t next, issued;
};

static struct standing look(struct time_gpu *g)
{
	struct standing s = {.next = NEVER};
	for (uint32_t n = 0; n < g->spec->cluster_count; n++) {
		struct time_cluster *c = &g->cluster[n];
		s.stop |= c->run.stop || c->out_of_memory;
		s.asks |= c->request_count != 0;
		s.next = c->next < s.next ? c->next : s.next;
		s.issued += c->result.instructions;
		if (busy(c)) {
			s.live++;
			s.one = c;
		}
	}
	return s;
}

static void run_epochs(struct time_gpu *g, struct time_grid *grid)
{
	/* Epochs lie on a grid from the start of the launch, so that no other way of finding events cuts time otherwise. */
	uint64_t from = grid->start, end = from + g->epoch, issued = 0;
	bool many = grid->large;
	if (g->fetch) /* the first blocks have fetched their first instructions */
		time_far_serve(g, grid, from);
	uint32_t alone = grid->q->apart ? 0 : 1; /* so few are run without epochs */
	if (look(g).live > alone) {
		for (;;) {
			run_all(g, many, end);
			struct standing s = look(g);
			if (s.stop)
				return;
			if (s.live && time_ended(g, &s.one->run))
				return;
			many = (grid->large || s.issued >= ISSUES_FIRST) && s.issued - issued >= ISSUES_EPOCH;
			issued = s.issued;
			if (s.asks)
				time_far_serve(g, grid, from);
			if ((!s.asks && s.live && s.next == NEVER) || time_watch_epoch(g, grid)) {
				time_deadlock(&s.one->run);
				return;
			}
			if (look(g).live <= alone)
				break;
			from = s.asks ? end : s.next - (s.next - grid->start) % g->epoch;
			end = from + g->epoch;
		}
	}
	for (uint32_t n = 0; n < g->spec->cluster_count; n++)
		if (g->cluster[n].request_count)
			time_far_answer(&g->cluster[n]);
	struct standing last = look(g);
	if (last.live && !last.stop)
		time_run_direct(&last.one->run);
}

/* What the clusters have each on their own becomes the result. The earliest end counts; of those at one cycle the first
 * cluster's does. A fault comes before anything that the host decides. */
static void gather(struct time_gpu *g, struct time_grid *grid, struct time_result *r, uint64_t *last)
{
	const struct time_cluster *by = NULL;
	uint64_t landed = dram_free(&g->dram);
	*last = grid->start;
	for (uint32_t n = 0; n < g->spec->cluster_count; n++) {
		const struct time_cluster *c = &g->cluster[n];
		r->instructions += c->result.instructions;
		r->solo += c->result.solo;
		*last = c->run.last > *last ? c->run.last : *last;
		landed = c->run.landed > landed ? c->run.landed : landed;
		for (uint32_t k = 0; k < c->memory.count; k++)
			grid->l->memory->region[k].written |= c->memory.region[k].written;
		if (c->result.end == TIME_DONE)
			continue;
		bool fault = c->result.end == TIME_FAULT, before = by && by->result.end == TIME_FAULT;
		if (!by || fault > before || (fault == before && c->run.last < by->run.last))
			by = c;
	}
	/* A kernel has ended when the memory has all that it stored, and atomics are done whose old values nobody waits for. */
	if (!by && landed > *last)
		*last = landed;
	if (!by)
		return;
	if (by->result.end == TIME_FAULT)
		*last = by->run.last;
	r->end = by->result.end;
	r->fault = by->result.fault;
	memcpy(r->message, by->result.message, sizeof r->message);
}

int time_run_all(struct time_gpu *g, struct time_grid *grid, struct time_result *r)
{
	struct time_run whole = {.g = g, .grid = grid, .p = grid->q->program, .l = grid->l, .q = grid->q, .r = r};
	bool out_of_memory = false;
	if (time_blocks_check(&whole))
		return 0;
	if (grid->q->untimed)
		return time_untimed(g, &whole);
	if (func_clusters_open(grid->l))
		return -ENOMEM;
	time_fetch_program(g, whole.p);
	time_memory_begin(g);
	if (grid->q->hook && time_note_open(&whole)) {
		func_clusters_close(grid->l);
		return -ENOMEM;
	}
	memset(g->pipe_user, (int)g->spec->schedulers - 1, (size_t)g->spec->sm_count * SPEC_PIPES);
	grid->window_at = TIME_PATIENCE;
	grid->start =
	    g->now + GAP_LEAST + rng_below(&g->host, GAP_RANGE) + (uint64_t)(grid->q->host_ns / g->boost.nominal);
	for (uint32_t n = 0; n < g->spec->cluster_count; n++)
		prepare(g, grid, &g->cluster[n], &whole);
	if (time_tally_open(g, grid) || !start_all(g, grid))
		out_of_memory = true;
	else if (in_order(g, grid))
		run_serial(g, grid);
	else
		run_epochs(g, grid);
	time_note_close(&whole);
	for (uint32_t n = 0; n < g->spec->cluster_count; n++) {
		out_of_memory |= g->cluster[n].out_of_memory;
		time_blocks_stop(&g->cluster[n].run);
		time_far_clear(&g->cluster[n]);
	}
	time_tally_close(g, grid);
	func_clusters_close(grid->l);
	gather(g, grid, r, &g->now);
	r->cycles = g->now - grid->start;
	r->ns = boost_ns(&g->boost, g->now) - boost_ns(&g->boost, grid->start);
	return out_of_memory ? -ENOMEM : 0;
}
