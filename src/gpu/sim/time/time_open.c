#include "gpu/sim/time/time_fetch.h"
#include "gpu/sim/time/time_threads.h"
#include <errno.h>
#include <math.h>

static int open_sms(struct time_gpu *g)
{
	const struct sim_spec *s = g->spec;
	uint32_t per = (s->max_warps_per_sm + s->schedulers - 1) / s->schedulers;
	size_t slots = (size_t)g->sched_count * per;
	g->sm = mem_zero(s->sm_count, sizeof *g->sm);
	g->sched = mem_zero(g->sched_count, sizeof *g->sched);
	g->pipe_free = mem_zero((size_t)g->sched_count * SPEC_PIPES, sizeof *g->pipe_free);
	g->pipe_user = mem_zero((size_t)s->sm_count * SPEC_PIPES, 1);
	g->age = mem_zero(slots, sizeof *g->age);
	g->wake = mem_alloc(slots * sizeof *g->wake);
	g->set = mem_zero(slots, 1);
	g->warp = mem_zero(slots, sizeof(struct time_warp *));
	if (!g->pipe_user || !g->age || !g->sm || !g->sched || !g->pipe_free || !g->wake || !g->set || !g->warp)
		return -ENOMEM;
	for (size_t k = 0; k < slots; k++)
		g->wake[k] = NEVER;
	for (uint32_t n = 0; n < g->sched_count; n++) {
		struct time_sched *d = &g->sched[n];
		uint32_t sm = n / s->schedulers, index = n % s->schedulers;
		uint64_t *of_sm = g->pipe_free + (size_t)sm * s->schedulers * SPEC_PIPES;
		d->sm = sm;
		d->index = index;
		d->kept = UINT32_MAX;
		wakes_open(&d->wakes);
		d->want[0] = UINT64_MAX;
		d->wake = g->wake + (size_t)n * per;
		d->age = g->age + (size_t)n * per;
		d->user = g->pipe_user + (size_t)sm * SPEC_PIPES;
		d->set = g->set + (size_t)n * per;
		d->warp = g->warp + (size_t)n * per;
		for (uint32_t p = 0; p < SPEC_PIPES; p++)
			d->pipe[p] = of_sm + (size_t)p * s->schedulers + (s->pipe[p].per_scheduler ? index : 0);
		if (!index) {
			g->sm[sm].sched = d;
			g->sm[sm].cluster = sm / s->sm_per_cluster;
		}
	}
	return 0;
}

static int open_clocks(struct time_gpu *g, uint64_t seed)
{
	struct rng r;
	rng_seed(&r, seed);
	g->clock_offset = mem_zero(g->spec->sm_count, sizeof *g->clock_offset);
	if (!g->clock_offset)
		return -ENOMEM;
	/* Counters of different units were started at different times; nothing may depend on where. */
	for (uint32_t k = 0; k < g->spec->sm_count; k++)
		g->clock_offset[k] = rng_below(&r, 1u << 30);
	return 0;
}

int time_open(struct time_gpu **out, const struct sim_spec *s, uint64_t seed)
{
	struct time_gpu *g = mem_zero(1, sizeof *g);
	if (!g)
		return -ENOMEM;
	g->spec = s;
	g->sched_count = s->sm_count * s->schedulers;
	boost_init(&g->boost, s, seed);
	double issue = s->scheduler_issue * FIX_ONE;
	/* A port that is never busy would let one cycle last for ever. */
	g->issue = issue >= 1 ? (uint32_t)llround(issue) : 1;
	g->part_issue = (uint32_t)(s->branch_split_issue + 0.5);
	rng_seed(&g->noise, seed ^ 0x9e3779b97f4a7c15u);
	rng_seed(&g->host, seed ^ 0xd1b54a32d192ed03u);
	if (open_sms(g) || time_clusters_open(g, seed) || open_clocks(g, seed + 1) || time_memory_open(g, seed + 2) ||
	    time_fetch_open(g, seed + 77)) {
		time_close(g);
		return -ENOMEM;
	}
	g->serial = g->inflight != NULL;
	/* Translations behind the near levels belong to the far side, whoever has the TLBs. */
	g->serial |= time_translates_near(&g->global) || (g->texture && time_translates_near(&g->texture->route));
	*out = g;
	return 0;
}

void time_threads(struct time_gpu *g, uint32_t threads)
{
	threads_close(g->pool);
	g->pool = NULL;
	g->threads = threads ? threads : 1;
}

void time_close(struct time_gpu *g)
{
	if (!g)
		return;
	time_clusters_close(g);
	time_fetch_close(g);
	time_memory_close(g);
	mem_free(g->clock_offset);
	mem_free(g->sm);
	mem_free(g->sched);
	mem_free(g->pipe_free);
	mem_free(g->pipe_user);
	mem_free(g->age);
	mem_free(g->wake);
	mem_free(g->set);
	mem_free(g->warp);
	mem_free(g);
}
