/* What a stream of loads should draw from each place. It is at most what the narrowest place on its way lets through.
 * It is at least what is left when a request always finds all others before it. */
#include "gpu/sim/spec_tell.h"
#include <math.h>
#include <stdio.h>

#define KEY_BYTES 128
#define SLACK	  0.05 /* of a rate */
#define NEAR	  1.5  /* two places no further apart hold each other up ... */
#define HELD_UP	  0.2  /* ... by so much */
#define LOAD	  16   /* bytes of one lane */
#define CYCLE	  (1 + 1e-9)

static double fill(const struct cache_spec *c)
{
	return c->sector ? c->sector : c->line;
}

/* Bytes of a request: the older rules make 128 of what neighbours want. */
static double segment(const struct sim_spec *s)
{
	return s->coalesce == COALESCE_LINES ? s->coalesce_segment : 128;
}

/* Requests that go out for a segment all of whose bytes are loaded. Entries that serve fewer lanes than want it need
 * several. Each takes its turns as if it were alone. */
static double requests(const struct sim_spec *s)
{
	if (s->outstanding != OUTSTANDING_MSHR || !s->outstanding_merge)
		return 1;
	return ceil(segment(s) / LOAD / s->outstanding_merge);
}

/* Bytes a cycle that one SM's loads of global memory bring through its load/store pipe. */
static double global_port(const struct sim_spec *s)
{
	const double pieces = s->warp_size * LOAD / segment(s),
		     cycles = s->global.issue * requests(s) + s->global.request / fmax(pieces, 1);
	return cycles > 0 ? segment(s) / cycles : 0;
}

/* The same through what enters misses of the L1, or all loads of it that nothing enters. */
static double missed_port(const struct sim_spec *s, double port)
{
	return s->recorders ? s->recorders * LOAD / s->record : port;
}

/* The same of loads that ask the L1 first. If its data lie in banks, words side by side take what finding their lines
 * takes. Banks that know single words only are left out. */
static double l1_port(const struct sim_spec *s)
{
	const struct cache_spec *l1 = &s->global.level[0];
	if (!s->has_l1 || !l1->tags)
		return global_port(s);
	const double bytes = fmin(s->warp_size, 32) * LOAD, looks = ceil(ceil(bytes / l1->line) / l1->tags),
		     cycles = looks * s->global.issue;
	return s->shared_broadcast != BROADCAST_ONE && cycles > 0 ? bytes / cycles : 0;
}

/* Bytes that one SM may have under way beyond its L1, by loads that look there first or not; infinite where no table counts them. */
static double under_way(const struct sim_spec *s, bool skip_l1)
{
	const struct cache_spec *l1 = s->has_l1 && !skip_l1 ? &s->global.level[0] : NULL;
	double piece = l1 ? fill(l1) : segment(s), lanes = piece / LOAD, each = 1;
	if (s->outstanding == OUTSTANDING_PRT)
		return (double)s->outstanding_entries * s->warp_size * LOAD;
	if (s->outstanding != OUTSTANDING_MSHR)
		return INFINITY;
	if (s->outstanding_merge && s->outstanding_merge < lanes)
		each = ceil(lanes / s->outstanding_merge);
	return s->outstanding_entries * piece / each;
}

/* Places that every byte passes, as bytes a cycle. */
struct way {
	double least, next; /* of those that serve one request after the other */
	double worst;	    /* of a place that serves so slowly at the worst */
	double flight;	    /* bytes under way ... */
	double latency;	    /* ... of which each takes so many cycles */
	double quickest;    /* mean over them, when as many as can be find what others have fetched */
	double slowest;	    /* of an SM whose cluster is far from it */
	double idle;	    /* share of time in which nothing moves */
};

/* One SM's rate hangs on where its cluster is. */
static void of_one_cluster(struct way *w, const struct sim_spec *s)
{
	const double mean = w->latency;
	for (uint32_t k = 0; k < s->cluster_count && s->cluster_offset; k++) {
		w->quickest = fmin(w->quickest, mean + s->cluster_offset[k]);
		w->slowest = fmax(w->slowest, mean + s->cluster_offset[k]);
	}
}

static void pass(struct way *w, double rate)
{
	if (!(rate > 0))
		return;
	w->next = fmin(w->next, fmax(w->least, rate));
	w->least = fmin(w->least, rate);
}

static struct way way(double flight, double latency)
{
	return (struct way){INFINITY, INFINITY, INFINITY, flight, latency, latency, latency, 0};
}

static void tell_way(struct teller *t, const char *key, const struct way *w)
{
	const double waits = isfinite(w->flight) && w->latency > 0 ? w->flight / w->latency : INFINITY;
	const double hi = fmin(w->least, waits * w->latency / w->quickest) * (1 + SLACK);
	/* A closed round of requests: at the worst each waits for all others at the narrowest place, behind its own latency. */
	const double served = fmin(w->least, w->worst) * (1 - w->idle - (w->next > NEAR * w->least ? SLACK : HELD_UP));
	const double lo = isfinite(waits) ? (1 - SLACK) / (1 / served + w->slowest / w->flight) : served;
	if (isfinite(hi))
		tell_number(t, key, (lo + hi) / 2, (hi - lo) / 2);
}

double spec_port_turn(const struct cache_spec *c, double bytes)
{
	return c->access > bytes ? c->interval * bytes / c->access : c->interval;
}

/* A miss moves what it fills, and pieces of that which are asked for later come by the port again. */
double spec_l2_port(const struct sim_spec *s)
{
	if (!s->has_l2)
		return 0;
	const double whole = fill(&s->global.level[1]), piece = s->has_l1 ? fill(&s->global.level[0]) : segment(s);
	/* Without an L1 that knows what is on its way already, every request for a piece comes here. */
	const double again = s->has_l1 ? 0 : requests(s) - 1;
	return s->global.level[1].bandwidth *
	       (piece < whole ? whole / (2 * whole - piece + again * whole) : piece / (whole + again * piece));
}

/* Bytes a cycle of one such cache, each of whose accesses brings so many; 0: no limit. */
static double in_turn(const struct cache_spec *c, double bytes)
{
	return c->interval > 0 ? bytes / spec_port_turn(c, bytes) : 0;
}

/* A level without a limit of its own lets through what the SMs ask for. */
static void tell_cache(struct teller *t, const struct sim_spec *s, uint32_t level, bool all)
{
	const struct cache_spec *c = &s->global.level[level];
	char key[KEY_BYTES];
	snprintf(key, sizeof key, "cache.global.%s.bandwidth%s", spec_level_names[level], all ? "_total" : "");
	if (!(level ? s->has_l2 : s->has_l1)) {
		tell_absent(t, key);
		return;
	}
	const double sms = all ? s->sm_count : 1;
	struct way w = way(level ? sms * under_way(s, true) : INFINITY, c->latency + c->far_extra / 2.0);
	if (level && !all && c->scope == SCOPE_GPU)
		of_one_cluster(&w, s);
	pass(&w, sms * (level ? missed_port(s, global_port(s)) : l1_port(s)));
	pass(&w, c->bandwidth / requests(s));
	pass(&w, in_turn(c, segment(s) / requests(s)));
	tell_way(t, key, &w);
}

/* What all SMs read together: through the pins, through their pipes, or as much as they may have on its way. */
static void tell_memory(struct teller *t, const struct sim_spec *s)
{
	const struct noise_spec *n = &s->noise;
	/* The older rules shrink a segment to 32 bytes at the least. */
	double fetch = s->coalesce == COALESCE_LINES ? s->coalesce_segment : 32, tolerance;
	for (uint32_t k = 0; k < 2; k++) {
		const struct cache_spec *c = &s->global.level[k];
		if (k ? s->has_l2 : s->has_l1)
			fetch = fmax(fetch, fill(c));
	}
	struct way w = way(s->sm_count * under_way(s, false), s->global.memory_latency);
	/* A miss of the L2 fetches several of an SM's pieces. Pieces that find no entry in the table come when the
	 * first has brought them. */
	if (s->has_l2) {
		const double whole = fill(&s->global.level[1]),
			     piece = s->has_l1 ? fill(&s->global.level[0]) : segment(s);
		if (piece < whole)
			w.quickest += (whole - piece) / whole * (s->global.level[1].latency - w.latency);
	}
	/* If no cache knows what is on its way, each request moves the segment anew. */
	pass(&w, s->dram_bandwidth / (s->has_l1 || s->has_l2 ? 1 : requests(s)));
	pass(&w, s->sm_count * missed_port(s, l1_port(s)));
	pass(&w, spec_l2_port(s));
	if (s->has_l1)
		pass(&w, s->sm_count * in_turn(&s->global.level[0], segment(s) / requests(s)));
	if (s->has_l2) /* what the L1 fills at once is one access */
		pass(&w, in_turn(&s->global.level[1],
				 s->has_l1 ? fmax(fill(&s->global.level[0]), segment(s)) : segment(s) / requests(s)));
	/* Every access opens a row of its bank anew. */
	if (s->dram.banks && s->dram.row_miss + s->dram.bank_busy > 0)
		w.worst =
		    fmax(1, s->memory_partitions) * s->dram.banks * fetch / (s->dram.row_miss + s->dram.bank_busy);
	w.idle = n->refresh_interval >= 1 ? n->refresh_cycles / n->refresh_interval : 0;
	tell_way(t, "memory.global.drawn", &w);
	/* What memory gives, whatever lets less through on the way to it. */
	const double pins = s->dram_bandwidth / (s->has_l1 || s->has_l2 ? 1 : requests(s));
	if (w.least < pins)
		tell_number(t, "memory.global.bandwidth", pins, SLACK * pins);
	else
		tell_way(t, "memory.global.bandwidth", &w);
	tolerance = w.idle + (w.next > NEAR * w.least ? SLACK : HELD_UP);
	if (s->dram.banks || s->outstanding != OUTSTANDING_NONE)
		tolerance += 1;
	tell_number(t, "memory.global.fetch", fetch, (tolerance + 0.15) * fetch);
	/* Rows, banks and narrow places on the way take what they take: the pins are the end of it. */
	if (s->dram_bandwidth > 0) {
		const double most = s->dram_bandwidth / fetch * (1 + SLACK);
		tell_number(t, "memory.global.scattered_loads", most / 2, most / 2);
	}
}

/* A warp alone waits for its turn. It also waits for its own last parting, if that takes longer than the way from one
 * branch to the next. */
static void tell_parting(struct teller *t, const struct sim_spec *s)
{
	const double late = fmax(s->branch_split_issue - s->branch_split - 2 * s->branch_latency, 0);
	if (s->branch_split > 0 || late > 0)
		tell_number(t, "branch.split", s->branch_split + late / 2,
			    late / 2 + fmax(s->warp_interval, LATENCY_TOLERANCE));
	else
		tell_absent(t, "branch.split");
	const double own = fmax(s->branch_issue * (1 + s->branch_meet_ops) - s->branch_latency - s->branch_meet, 0);
	if (s->branch_meet > 0 || own > 0)
		tell_number(t, "branch.meet", s->branch_meet + own / 2,
			    own / 2 + fmax(s->warp_interval, LATENCY_TOLERANCE));
	else
		tell_absent(t, "branch.meet");
	if (s->branch_meet_ops)
		tell_number(t, "branch.meet_ops", s->branch_meet_ops, 0);
	else
		tell_absent(t, "branch.meet_ops");
	tell_number(t, "branch.issue", s->branch_issue, 0.02 * s->branch_issue + 0.1);
	tell_number(t, "branch.split_issue", s->branch_split_issue, 0.02 * s->branch_split_issue + 0.5);
}

int spec_truth_rates(const struct sim_spec *s, int (*each)(void *ctx, const struct truth *t), void *ctx)
{
	struct teller t = {each, ctx, 0};
	/* What the pipe takes, of wide warps one half after the other, and what the schedulers can give it. */
	const double halves = s->warp_size > 32 ? 2 : 1;
	double shared = fmax(halves * s->shared.issue + s->shared.request, s->scheduler_issue / s->schedulers);
	shared = shared > 0 ? 4.0 * s->warp_size / shared : 0;
	tell_memory(&t, s);
	if (shared > 0)
		tell_number(&t, "shared.bandwidth", shared, SLACK * shared);
	int add = spec_find_op(s, "add", "u32");
	if (add >= 0)
		tell_number(&t, "branch.turn",
			    s->op[add].latency +
				(s->branch_predicate > 0 ? s->branch_predicate : s->op[s->default_op].latency) +
				fmax(s->branch_latency, round(s->warp_interval)),
			    CYCLE);
	tell_parting(&t, s);
	tell_cache(&t, s, 0, false);
	tell_cache(&t, s, 1, false);
	tell_cache(&t, s, 1, true);
	return t.rc;
}
