/* A ring over pages as a launch, and its words read back. */
#include "base/arena.h"
#include "data/native_record.h"
#include "stat/stat.h"
#include "tlb.h"
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define BLUR 1.5 /* cycles */

enum {
	HEAD = 8,
	PRE = 16,
	OUT_BYTES = 256 * 1024,
	VISITS_MOST = 32768,
	SHARED_SPARE = 1024,
	SHARED_MOST = 40960,
	ENTRY_MOST = 64 << 20
};

/* Turns of the whole ring: few pages are timed often enough to know each, many at least once in each role. */
static uint32_t turns_timed(const struct tlb_path *c, uint32_t visits)
{
	/* The mean of many visits tells what single ones blur. */
	uint32_t turns = (c->sigma > BLUR ? 2048 : 512) / visits, most = c->sigma > BLUR ? 32 : 16;
	return turns < 1 ? 1 : turns > most ? most : turns;
}

/* Lines of a page that are read. Pages that are not moved by less than 4 KB have room for twice as many. */
static uint32_t places_of(uint64_t stride, uint64_t offset)
{
	return (stride < 2 * RING_PAGE || (offset && offset < 2 * RING_PAGE) ? RING_PAGE : 2 * RING_PAGE) / RING_LINE;
}

static uint32_t turns_warm(uint32_t visits)
{
	uint32_t turns = 2048 / visits;
	return 1 + (turns > 7 ? 7 : turns);
}

static uint32_t visits_timed(uint32_t pages, uint32_t lines, uint32_t turns)
{
	uint32_t visits = pages * lines * turns;
	return visits < VISITS_MOST ? visits : VISITS_MOST / pages * pages;
}

static int setup(const struct study *s, double x, const double *p, struct job *j, bool texture)
{
	const struct device_info *d = study_device(s);
	uint32_t pages = (uint32_t)x, lines = (uint32_t)p[RING_LINES], visits = pages * lines;
	uint32_t timed = visits_timed(pages, lines, (uint32_t)p[RING_TURNS]);
	uint64_t bytes = (uint64_t)p[RING_BYTES], room = d->shared_per_block;
	bool shared = room > SHARED_SPARE && 4 * timed <= room - SHARED_SPARE && 4 * timed <= SHARED_MOST;
	struct launch *l = &j->launch;
	uint64_t align = 1;

	/* As much as an entry may cover, and what a small memory has room for. */
	while (align < bytes / 128 || (align < bytes / 32 && align < ENTRY_MOST))
		align *= 2;
	j->template_path = "probes/tlb/pages.ptx";
	snprintf(l->entry, sizeof(l->entry), "pages");
	job_param_text(j, "LOAD", d->cc < 20 ? "ld.volatile.global.u64" : "ld.global.cg.u64");
	job_param_text(j, "STORE", d->cc < 20 ? "st.global.u16" : "st.global.cg.u16");
	job_param(j, "TEXTURE", texture);
	job_param(j, "SHARED", shared);
	job_param(j, "PRE", PRE);
	l->block[0] = d->max_threads_per_block < 256 ? d->max_threads_per_block : 256;
	l->block[1] = l->block[2] = 1;
	l->shared_bytes = shared ? 4 * timed : 0;
	/* Shared memory and the cache in front of the TLB may be one array: the less cache the better. */
	l->carveout = CARVEOUT_MAX_SHARED;
	job_output(j, HEAD + timed);
	/* All of one size, so that none of them takes the place of the large buffer. */
	l->buffers[0].bytes = OUT_BYTES;
	job_pin(j, d, 0);
	uint32_t b = l->buffer_count++;
	l->buffers[b] = (struct launch_buffer){.space = BUFFER_GLOBAL, .bytes = bytes, .align = align, .as_is = true};
	job_arg_buffer(j, b, 0);
	if (texture) {
		if (bytes / 16 > 1u << 27)
			return -ENOTSUP;
		l->textures[0] = (struct launch_texture){.buffer = b,
							 .place = TEXTURE_IN_PLACE,
							 .size = {(uint32_t)(bytes / 16)},
							 .type = TEXEL_U32,
							 .channels = 4};
		l->texture_count = 1;
		l->args[l->arg_count++] = (struct launch_arg){.kind = ARG_TEXTURE};
	}
	job_arg_u32(j, pages);
	l->args[l->arg_count++] = (struct launch_arg){.kind = ARG_U64, .bits = (uint64_t)p[RING_STRIDE]};
	job_arg_u32(j, (uint32_t)p[RING_FROM]);
	l->args[l->arg_count++] = (struct launch_arg){.kind = ARG_U64, .bits = (uint64_t)p[RING_OFFSET]};
	job_arg_u32(j, (uint32_t)p[RING_EXTRA]);
	job_arg_u32(j, lines);
	job_arg_u32(j, (uint32_t)p[RING_ORDER]);
	job_arg_u32(j, places_of((uint64_t)p[RING_STRIDE], (uint64_t)p[RING_OFFSET]));
	job_arg_u32(j, 2 * visits * turns_warm(visits) - PRE);
	job_arg_u32(j, 2 * timed);
	j->check.cls = texture ? NATIVE_TEXTURE : NATIVE_LOAD_GLOBAL;
	j->check.region = 0;
	j->check.min = j->check.max = 1;
	j->check.others = 12;
	return 0;
}

int ring_setup_global(const struct study *s, double x, const double *p, struct job *j)
{
	return setup(s, x, p, j, false);
}

int ring_setup_texture(const struct study *s, double x, const double *p, struct job *j)
{
	return setup(s, x, p, j, true);
}

uint32_t ring_page(const struct tlb_view *w, uint32_t v)
{
	return (uint32_t)((uint64_t)(v % w->pages) * w->order % w->pages);
}

/* The place of visit v's opener, as pages.ptx writes it. */
static uint64_t place(const struct tlb_ring *ring, uint32_t lines, uint32_t v)
{
	uint32_t n = ring->pages, lap = v / n % lines;
	uint64_t i = (uint64_t)(v % n) * ring->order % n;
	uint64_t page = (i == n - 1 && ring->extra ? ring->extra : i) * ring->stride;

	if (i >= ring->from)
		page += ring->offset;
	return page + (13 * i + 11 * lap) % places_of(ring->stride, ring->offset) * RING_LINE;
}

/* Cost of each visit: its opener against the visit in which that line is the follower, half the laps of a turn away. */
uint32_t tlb_other_role(const struct tlb_view *w, uint32_t v)
{
	uint32_t turn = w->pages * w->lines, away = w->pages * (w->lines / 2);

	return v / turn * turn + (v % turn + away) % turn;
}

/* Corrects, by what the follower would have taken, the costs of visits that met another clock. */
static void at_one_pace(const struct tlb_path *c, struct tlb_view *w)
{
	enum tlb_pace *pace = c->swing > 0 ? ARENA_ARRAY(study_arena(c->study), w->visits, enum tlb_pace) : NULL;
	const double ratio = pace ? tlb_clock(c, w, NAN, NAN, pace) : 1;
	bool *moved = ratio > 1 ? ARENA_ARRAY(study_arena(c->study), w->visits, bool) : NULL;

	w->moved = moved;
	for (uint32_t v = 0; moved && v < w->visits; v++) {
		const uint32_t other = tlb_other_role(w, v);
		if (other >= w->visits || (pace[v] == pace[other] && pace[v] != TLB_CHANGES))
			continue;
		moved[v] = true;
		const float is = (float)w->ticks[2 * other + 1], to = (float)(pace[v] == TLB_FAST ? ratio : 1 / ratio);
		w->cost[v] =
		    pace[v] == TLB_CHANGES || pace[other] == TLB_CHANGES ? NAN : (float)w->ticks[2 * v] - is * to;
	}
}

static void pair_up(struct tlb_view *w)
{
	/* as tlb_other_role says, without a division for each of the visits */
	const uint32_t turn = w->pages * w->lines, away = w->pages * (w->lines / 2);

	for (uint32_t begin = 0; begin < w->visits; begin += turn)
		for (uint32_t i = 0; i < turn && begin + i < w->visits; i++) {
			const uint32_t v = begin + i, other = begin + (i + away < turn ? i + away : i + away - turn);
			w->cost[v] = other < w->visits ? (float)w->ticks[2 * v] - (float)w->ticks[2 * other + 1] : NAN;
		}
}

void tlb_cover(const struct tlb_path *c, struct tlb_view *w)
{
	w->skipped = 0;
	for (uint32_t v = 0; v < w->visits && c->front > 0; v++) {
		uint32_t other = tlb_other_role(w, v);
		bool had = w->ticks[2 * v] <= c->front;
		w->skipped += had && w->ticks[2 * v + 1] <= c->front;
		/* A follower that had to do the opener's part tells nothing, either. */
		if (had ||
		    (other < w->visits && (w->ticks[2 * other] <= c->front || w->ticks[2 * other + 1] <= c->front)))
			w->cost[v] = NAN;
	}
}

uint32_t tlb_lines(const struct tlb_path *c, const struct tlb_ring *ring)
{
	uint32_t lines = 2, most = places_of(ring->stride, ring->offset);

	if (ring->lines)
		return ring->lines < most ? ring->lines : most;
	while (lines < places_of(ring->stride, ring->offset) && lines * ring->pages < c->lines)
		lines *= 2;
	return lines;
}

uint32_t tlb_order(uint32_t pages, unsigned which)
{
	uint32_t a = which ? (uint32_t)(pages * (0.1 + 0.618 * which - floor(0.618 * which))) : 1;

	while (a > 1 && stat_gcd(a, pages) != 1)
		a--;
	return a < 1 ? 1 : a;
}

uint32_t tlb_turns(const struct tlb_path *c, const struct tlb_ring *ring)
{
	return ring->turns ? ring->turns : turns_timed(c, ring->pages * tlb_lines(c, ring));
}

enum chase_state tlb_get(struct tlb_path *c, const struct tlb_ring *asked, struct tlb_view *out)
{
	/* Neighbours are visited far apart in time. An entry of a level that covers several of these pages would answer
	 * the second of two neighbours. The next level would never see it. */
	struct tlb_ring one = *asked;
	const struct tlb_ring *ring = &one;
	one.order = asked->order ? asked->order : tlb_order(asked->pages, 1);
	double p[POINT_PARAMS] = {0};
	uint32_t lines = tlb_lines(c, ring);
	uint64_t last = (ring->extra ? ring->extra : ring->pages - 1) * ring->stride + ring->offset;

	if (!ring->pages || ring->pages > RING_MOST + 1 ||
	    last + 2 * RING_PAGE > c->bytes + (ring->stride < 2 * RING_PAGE ? RING_PAGE : 0))
		return CHASE_WHY(c->why, "%u pages in steps of %llu bytes are more than the buffer of %llu bytes has",
				 ring->pages, (unsigned long long)ring->stride, (unsigned long long)c->bytes);
	p[RING_STRIDE] = (double)ring->stride;
	p[RING_FROM] = ring->from;
	p[RING_OFFSET] = (double)ring->offset;
	p[RING_EXTRA] = ring->extra;
	p[RING_LINES] = lines;
	p[RING_ORDER] = ring->order;
	p[RING_BYTES] = (double)c->bytes;
	p[RING_TURNS] = tlb_turns(c, ring);
	const struct point *pt = study_ask(c->study, c->experiment, ring->pages, p);
	if (!pt) {
		snprintf(c->why, sizeof(c->why), "a point that is needed was not measured");
		return study_pending(c->study) ? CHASE_PENDING : CHASE_UNDECIDED;
	}
	uint32_t visits = visits_timed(ring->pages, lines, (uint32_t)p[RING_TURNS]);
	uint64_t end = place(ring, lines, visits % (ring->pages * lines)) - place(ring, lines, 0);
	if (pt->outcome != OUTCOME_OK || pt->words_per_repeat < HEAD + visits ||
	    pt->y[2] != (uint32_t)(c->lines ? end / 16 : end))
		return CHASE_WHY(c->why, "a ring over %u pages %s%.120s", ring->pages,
				 pt->outcome == OUTCOME_OK ? "was not followed" : "failed: ", pt->message);
	*out = (struct tlb_view){.pages = ring->pages, .lines = lines, .visits = visits, .order = ring->order};
	out->cost = ARENA_ARRAY(study_arena(c->study), visits, float);
	uint16_t *ticks = ARENA_ARRAY(study_arena(c->study), 2 * (size_t)visits, uint16_t);
	if (!out->cost || !ticks)
		return CHASE_WHY(c->why, "out of memory");
	/* Two times in each word, the first in its lower half. */
	for (uint32_t v = 0; v < visits; v++) {
		ticks[2 * v] = (uint16_t)(pt->y[HEAD + v] & 0xffff);
		ticks[2 * v + 1] = (uint16_t)(pt->y[HEAD + v] >> 16);
	}
	out->ticks = ticks;
	pair_up(out);
	at_one_pace(c, out);
	tlb_cover(c, out);
	return CHASE_DONE;
}

enum chase_state tlb_over_orders(struct tlb_path *c, const struct tlb_ring *ring, unsigned first, unsigned last,
				 uint32_t turns, void (*add)(void *ctx, unsigned order, const struct tlb_view *w),
				 void *ctx)
{
	enum chase_state all = CHASE_DONE;

	for (unsigned order = first; order <= last; order++) {
		struct tlb_ring again = *ring;
		struct tlb_view w;
		again.order = tlb_order(ring->pages, order);
		again.turns = turns;
		enum chase_state state = tlb_get(c, &again, &w);
		if (state == CHASE_UNDECIDED)
			return state;
		if (state == CHASE_PENDING)
			all = state;
		else
			add(ctx, order, &w);
	}
	return all;
}
