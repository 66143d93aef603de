/* The chase as a launch, and its words read back. */
#include "probe/chase.h"
#include "base/arena.h"
#include "base/rng.h"
#include "data/native_record.h"
#include "probe/chase_walk.h"
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define LAP_WORDS     128   /* 32 rounds of four clock values */
#define SHARED_ROOM   3000u /* records in shared memory: 12 KB, which every block may have */
#define GLOBAL_ROOM   32768u
#define LOCAL_BATCH   8u /* words of a thread that are copied at once */
#define LOCAL_CELLS   8u /* bytes of shared memory in which lanes tell each other where the ring goes on */
#define ALIGNMENT     (1u << 20)
#define CHASE_REPEATS 4 /* where the clock was seen to change */
#define BRIEF_REPEATS 8 /* of which one or another is between two changes */
#define ALIKE_SWING   8 /* so small a part of what the clock changes is no difference between two launches */
#define LAP_REPEATS                                                                                                    \
	8 /* each takes some hundred thousand cycles where it leaves the SM, and boosts last no longer than all of them */

uint32_t chase_elements(double x, const double *p)
{
	return (uint32_t)ceil(x / p[CHASE_STRIDE]) + (p[CHASE_EXTRA] > 0);
}

/* at: ascending. The access that enters a page is another one from page to page, so that no set of lines consists of such. */
static uint64_t *page_by_page(struct arena *a, const uint64_t *at, uint32_t n, uint64_t seed)
{
	uint64_t *out = ARENA_ARRAY(a, n, uint64_t), *first = ARENA_ARRAY(a, n + 1, uint64_t);
	uint32_t pages = 0, done = 0;
	struct rng r;

	if (!out || !first)
		return NULL;
	for (uint32_t i = 0; i < n; i++)
		if (!i || at[i] / CHASE_PAGE != at[i - 1] / CHASE_PAGE)
			first[pages++] = i;
	rng_seed(&r, seed);
	if (seed)
		rng_shuffle(&r, first, pages);
	for (uint32_t q = 0; q < pages; q++) {
		uint32_t from = (uint32_t)first[q], count = 1;
		while (from + count < n && at[from + count] / CHASE_PAGE == at[from] / CHASE_PAGE)
			count++;
		uint64_t turn = at[from] / CHASE_PAGE * 2654435761u >> 7;
		for (uint32_t i = 0; i < count; i++)
			out[done + i] = at[from + (i + turn) % count];
		if (seed)
			rng_shuffle(&r, out + done, count);
		done += count;
	}
	return out;
}

uint64_t *chase_ring(struct arena *a, double x, const double *p)
{
	uint32_t n = chase_elements(x, p);
	uint64_t *order = ARENA_ARRAY(a, n, uint64_t);

	if (!order)
		return NULL;
	for (uint32_t i = 0; i < n; i++)
		order[i] = (uint64_t)p[CHASE_START] + (uint64_t)i * (uint64_t)p[CHASE_STRIDE];
	if (p[CHASE_EXTRA] > 0)
		order[n - 1] = (uint64_t)p[CHASE_EXTRA];
	if (p[CHASE_ORDER] >= CHASE_PAGED)
		return page_by_page(a, order, n, (uint64_t)p[CHASE_ORDER] - CHASE_PAGED);
	if (p[CHASE_ORDER] > 0) {
		struct rng r;
		rng_seed(&r, (uint64_t)p[CHASE_ORDER]);
		rng_shuffle(&r, order, n);
	}
	return order;
}

uint32_t chase_at(const double *p, uint32_t elements, uint32_t index)
{
	return (uint32_t)(((uint64_t)p[CHASE_WARM] + CHASE_PRE + index) % elements);
}

uint32_t chase_room(const struct device_info *d, bool in_shared)
{
	if (!in_shared)
		return GLOBAL_ROOM;
	uint64_t fits = d->shared_per_block > CHASE_SHARED_SPARE ? (d->shared_per_block - CHASE_SHARED_SPARE) / 4 : 0;
	return fits < SHARED_ROOM ? (uint32_t)fits : SHARED_ROOM;
}

uint32_t chase_split_room(const struct device_info *d, const struct finding *splits)
{
	const double least = splits && splits->value.array_count ? splits->value.array[0] : 0,
		     fits = fmax(floor((least - CHASE_SHARED_SPARE) / 4), 0);
	return (uint32_t)fmin(fits, chase_room(d, true));
}

/* Bytes of a warp's local memory that its lanes copy at once. */
static uint64_t local_batch(const struct device_info *d)
{
	return (uint64_t)LOCAL_BATCH * 4 * d->warp_size;
}

/* The offset from which the ring goes on to offset 0. The word there is 0, as are words of the buffer outside the ring.
 * Local memory that a thread has not written holds anything: on an H200, words of earlier launches that had left the
 * L1. */
static uint32_t before_zero(const struct launch_buffer *b)
{
	for (uint32_t i = 0; i < b->ring_count; i++)
		if (!b->ring[(i + 1) % b->ring_count])
			return (uint32_t)b->ring[i];
	return (uint32_t)b->ring[b->ring_count - 1];
}

/* The ring is where its buffer is, but a warp's local memory is filled with it. */
static void local_setup(const struct study *s, const double *p, struct job *j, const struct chase_kernel *k)
{
	const struct device_info *d = study_device(s);
	const uint32_t ring = j->launch.buffer_count - 1;
	const uint64_t batches = j->launch.buffers[ring].bytes / local_batch(d);
	unsigned shift = 2;

	while (4u * d->warp_size >> shift > 1)
		shift++;
	job_param(j, "LOCAL", (long long)k->local_bytes);
	job_param(j, "SHIFT", shift);
	job_param(j, "BATCH", LOCAL_BATCH);
	j->launch.block[0] = d->warp_size;
	job_arg_buffer(j, ring, 0);
	job_arg_u32(j, (uint32_t)batches);
	job_arg_u32(j, before_zero(&j->launch.buffers[ring]));
	/* Nothing that is cold may have been left by the copying. */
	job_arg_u32(j, p[CHASE_WARM] > 0 ? 0 : (uint32_t)(k->local_bytes / 4 - batches * LOCAL_BATCH));
}

struct chase_load chase_load_of(const struct study *s, enum chase_way way)
{
	/* Before there were cache operators, volatile loads were those that no L1 answers. */
	static const struct {
		const char *name, *before;
		int class;
	} rows[] = {[WAY_NEAR] = {"ld.global.ca.u64", "ld.global.u64", NATIVE_LOAD_GLOBAL},
		    [WAY_PAST_L1] = {"ld.global.cg.u64", "ld.volatile.global.u64", NATIVE_LOAD_GLOBAL},
		    [WAY_TEXTURE] = {"tex.1d.v4.u32.s32", NULL, NATIVE_TEXTURE},
		    [WAY_CONSTANT] = {"ld.const.u32", NULL, NATIVE_LOAD_CONST},
		    [WAY_READONLY] = {"ld.global.nc.u64", NULL, NATIVE_LOAD_GLOBAL},
		    [WAY_LOCAL] = {"ld.local.u32", NULL, NATIVE_LOAD_LOCAL}};
	const struct device_info *d = study_device(s);
	const bool constant = way == WAY_CONSTANT;

	return (struct chase_load){.name = d->cc < 20 && rows[way].before ? rows[way].before : rows[way].name,
				   .class = rows[way].class,
				   .texture = way == WAY_TEXTURE,
				   .symbol = constant ? "ring" : NULL,
				   .space_bytes = constant ? d->constant_bytes : 0};
}

/* What both kernels have in common: output, pin, ring, where it starts. */
static int ring_setup(const struct study *s, double x, const double *p, struct job *j, const struct chase_kernel *k,
		      uint32_t words, uint32_t repeats)
{
	const struct device_info *d = study_device(s);
	bool constant = k->load.symbol != NULL, wide = !constant && !k->load.texture && !k->local_bytes;
	uint32_t n = chase_elements(x, p);
	char load[96];
	uint64_t *order = chase_ring(j->arena, x, p);
	uint64_t top = 0;

	if (!order)
		return -ENOMEM;
	for (uint32_t i = 0; i < n; i++)
		top = order[i] > top ? order[i] : top;
	top += wide ? 8 : 4;
	if ((constant && top > k->load.space_bytes) || (k->local_bytes && top > k->local_bytes * d->warp_size))
		return -ENOTSUP;
	j->template_path = k->template_path;
	snprintf(load, sizeof(load),
		 k->load.texture ? "%s {%%p, %%other0, %%other1, %%other2}, [%%image, {%%p}]" : "%s %%p, [%%p]",
		 k->load.name);
	job_param_text(j, "LOAD", load);
	job_param(j, "TEXTURE", k->load.texture);
	job_param(j, "WIDE", wide);
	job_param(j, "NEVER", k->load.texture ? UINT32_MAX : 1); /* addresses are even, indices are few */
	if (constant)
		job_param(j, "SIZE", (long long)k->load.space_bytes);
	j->launch.block[0] = j->launch.block[1] = j->launch.block[2] = 1;
	j->launch.carveout = CARVEOUT_MAX_L1;
	j->launch.flush = true;
	/* Latencies are those of the usual clock: several launches, of which not all meet one that is faster for a while. */
	if (study_swing(s) > 0 && !(p[CHASE_FLOOR] > 0))
		j->launch.repeats = repeats;
	job_output(j, words);
	job_pin(j, d, (uint32_t)p[CHASE_PLACE] / 8);
	const uint64_t whole = k->local_bytes ? local_batch(d) : 256;
	uint32_t b =
	    job_ring(j, constant ? BUFFER_CONSTANT : BUFFER_GLOBAL, k->load.symbol,
		     constant ? k->load.space_bytes : (top + whole - 1) / whole * whole, order, n, wide ? 8 : 4);
	j->launch.buffers[b].align = constant ? 0 : ALIGNMENT;
	/* What lines share a hashed set is told by the bits in which one more line differs: nothing may carry into others. */
	while (!constant && p[CHASE_EXTRA] > 0 && j->launch.buffers[b].align < top)
		j->launch.buffers[b].align *= 2;
	if (k->load.texture) {
		j->launch.buffers[b].ring_unit = CHASE_TEXEL;
		job_texture(j, b, j->launch.buffers[b].bytes / CHASE_TEXEL);
		job_arg_u32(j, (uint32_t)(order[0] / CHASE_TEXEL));
	} else if (constant || k->local_bytes)
		job_arg_u32(j, (uint32_t)order[0]);
	else
		job_arg_buffer(j, b, order[0]);
	job_arg_u32(j, (uint32_t)p[CHASE_WARM]);
	return 0;
}

int chase_setup(const struct study *s, double x, const double *p, struct job *j, const struct chase_kernel *k)
{
	const uint32_t timed = (uint32_t)p[CHASE_TIMED],
		       most = k->records ? k->records : chase_room(study_device(s), k->in_shared),
		       room = timed < most ? timed : most;
	int rc = ring_setup(s, x, p, j, k, CHASE_HEAD + room,
			    timed <= CHASE_BRIEF && timed > CHASE_BRIEF - CHASE_AGAIN ? BRIEF_REPEATS : CHASE_REPEATS);
	if (rc)
		return rc;
	snprintf(j->launch.entry, sizeof(j->launch.entry), "chase");
	job_param(j, "SHARED", k->in_shared);
	job_param(j, "PRE", CHASE_PRE);
	/* Old chips have no such choice, and no L1 that would mind. */
	job_param_text(j, "STORE", study_device(s)->cc >= 20 ? "st.global.cg.u32" : "st.global.u32");
	job_arg_u32(j, timed);
	job_arg_u32(j, (uint32_t)p[CHASE_FLOOR]);
	job_arg_u32(j, room);
	if (k->load.texture)
		job_arg_texture(j, 0);
	if (k->local_bytes)
		local_setup(s, p, j, k);
	/* Always as much, or an L1 that is in one piece with shared memory would shrink as rings grow. */
	j->launch.shared_bytes = k->in_shared ? most * 4 + (k->local_bytes ? LOCAL_CELLS : 0) : 0;
	/* Region 0 leads to the loop, region 1 is one timed access: the load, a comparison and a branch. */
	j->check.cls = k->load.class;
	j->check.region = 1;
	j->check.min = j->check.max = 1;
	j->check.others = 12;
	return 0;
}

int lap_setup(const struct study *s, double x, const double *p, struct job *j, const struct chase_kernel *k)
{
	int rc = ring_setup(s, x, p, j, k, CHASE_HEAD + LAP_WORDS, LAP_REPEATS);

	if (rc)
		return rc;
	if (k->load.texture)
		job_arg_texture(j, 0);
	snprintf(j->launch.entry, sizeof(j->launch.entry), "lap");
	job_param(j, "N", (long long)p[CHASE_TIMED]);
	j->check.cls = k->load.class;
	j->check.region = 0;
	j->check.min = j->check.max = (unsigned)p[CHASE_TIMED];
	j->check.others = 8 + 4 * (unsigned)p[CHASE_TIMED]; /* some chips need arithmetic for every address */
	return 0;
}

enum chase_state chase_missing(struct chase_path *c)
{
	if (study_pending(c->study))
		return CHASE_PENDING;
	return CHASE_WHY(c->why, "a point that is needed was not measured");
}

/* Whether such ticks are those of a class that misses what the floor is of. */
static bool is_miss(const struct chase_path *c, double ticks, double floor)
{
	for (unsigned q = 0; q < c->class_count; q++)
		if (c->classes[q].centre >= floor && fabs(ticks - c->classes[q].centre) <= chase_reach(ticks, c->grain))
			return true;
	return false;
}

/* Leaves out the records of accesses that waited for a translation: those that entered a page. The entering access may
 * be found in a level that is asked before anything is translated, and so is not slow. The first slow access of that
 * page then waits instead, and is left out unless it took no longer than a miss. */
static enum chase_state stay_in_pages(struct chase_path *c, struct chase_run *r, double footprint, const double *p)
{
	struct arena *a = study_arena(c->study);
	const uint64_t *ring = chase_ring(a, footprint, p);
	const uint32_t n = r->elements;
	uint32_t *stayed = ARENA_ARRAY(a, r->kept + 1, uint32_t), *since = ARENA_ARRAY(a, n + 1, uint32_t);
	uint32_t left = 0, pages = 0, alike = 0, unsure = 0;
	/* Nothing is asked before the first level. */
	const double floor = c->level_count && p[CHASE_FLOOR] > c->level[0].floor ? p[CHASE_FLOOR] : 0;

	if (!ring || !stayed || !since)
		return CHASE_WHY(c->why, "out of memory");
	for (uint32_t e = 0; e < n; e++) {
		const bool enters = ring[e] / CHASE_PAGE != ring[e ? e - 1 : n - 1] / CHASE_PAGE;
		since[e] = enters || !e ? 0 : since[e - 1] + 1;
		pages += enters;
	}
	for (uint32_t i = 0; i < r->kept; i++) {
		const uint32_t index = chase_index(r->record[i]), e = chase_at(p, n, index);
		const double ticks = chase_ticks(r->record[i]);
		const bool enters = ring[e] / CHASE_PAGE != ring[e ? e - 1 : n - 1] / CHASE_PAGE,
			   first = !i || index - chase_index(r->record[i - 1]) > since[e],
			   miss = floor > 0 && is_miss(c, ticks, floor);
		if (enters) {
			r->entered++;
			r->entered_ticks += ticks;
			alike += miss;
		} else if (!first || miss || !(floor > 0)) {
			stayed[left++] = r->record[i];
			unsure += first && miss;
		}
	}
	const double visits = (double)r->covered / n * pages;
	/* Accesses that come later in a page did miss, however. */
	if (2 * unsure > left && 2 * alike > visits)
		return CHASE_WHY(c->why, "an access that waits for a translation takes as long as a miss does");
	r->slow -= r->kept - left;
	r->kept = left;
	r->record = stayed;
	return CHASE_DONE;
}

/* Mean ticks of a launch's accesses but for the slowest quarter, which is where what waits for a refresh is. */
static double faster_ticks(const struct point *pt, const uint32_t *y)
{
	const uint32_t room = pt->words_per_repeat - CHASE_HEAD, n = y[3] < room ? y[3] : room;
	uint32_t count[CHASE_CAP + 1] = {0}, left = n - n / 4;
	double sum = 0;

	for (uint32_t i = 0; i < n; i++)
		count[chase_ticks(y[CHASE_HEAD + i])]++;
	for (uint32_t t = 0; t <= CHASE_CAP && left; t++) {
		const uint32_t some = count[t] < left ? count[t] : left;
		sum += (double)some * t;
		left -= some;
	}
	return n ? sum / (n - n / 4) : 0;
}

/* A chase that memory answers, and that takes turns with its refreshes, takes as long under either of two clocks. It
 * waits for the next refresh. Of launches that take about as long as y, the least, one whose accesses are clearly
 * faster met the usual clock. */
static const uint32_t *fastest_alike(const struct chase_path *c, const struct point *pt, const uint32_t *y)
{
	const double alike = 1 + c->swing / ALIKE_SWING, most = alike * y[4];
	double least = faster_ticks(pt, y) / alike;

	for (uint32_t i = 0; i < pt->repeats; i++) {
		const uint32_t *other = pt->y + (size_t)i * pt->words_per_repeat;
		const double ticks = other[4] <= most ? faster_ticks(pt, other) : INFINITY;
		if (ticks < least) {
			least = ticks;
			y = other;
		}
	}
	return y;
}

enum chase_state chase_get(struct chase_path *c, struct chase_run *r, double footprint, const double *p)
{
	const struct point *pt = study_ask(c->study, c->chase, footprint, p);

	if (!pt)
		return chase_missing(c);
	*r = (struct chase_run){
	    .point = pt, .elements = chase_elements(footprint, p), .timed = (uint32_t)p[CHASE_TIMED]};
	if (pt->outcome != OUTCOME_OK || pt->words_per_repeat < CHASE_HEAD)
		return CHASE_WHY(c->why, "a chase over %.0f bytes came back %s%s%.120s", footprint,
				 outcome_name(pt->outcome), pt->message[0] ? ": " : "", pt->message);
	/* Of several launches the one that nothing slowed down. */
	const uint32_t *y = pt->y;
	for (uint32_t i = 1; i < pt->repeats; i++)
		if (pt->y[(size_t)i * pt->words_per_repeat + 4] < y[4])
			y = pt->y + (size_t)i * pt->words_per_repeat;
	if (c->level_count == 1 && c->swing > 0)
		y = fastest_alike(c, pt, y);
	/* The chase ends where the ring says only if every load was executed, once. */
	uint32_t last = chase_at(p, r->elements, r->timed), end = (uint32_t)(last * p[CHASE_STRIDE]);
	if (p[CHASE_ORDER] > 0) {
		const uint64_t *ring = chase_ring(study_arena(c->study), footprint, p);
		if (!ring)
			return CHASE_WHY(c->why, "out of memory");
		end = (uint32_t)(ring[last] - ring[0]);
	} else if (p[CHASE_EXTRA] > 0 && last == r->elements - 1) {
		end = (uint32_t)(p[CHASE_EXTRA] - p[CHASE_START]);
	}
	if (y[2] != end)
		return CHASE_WHY(c->why,
				 "a chase over %.0f bytes ended at offset %u, not at %u: it did not follow its ring",
				 footprint, y[2], end);
	uint32_t room = pt->words_per_repeat - CHASE_HEAD;
	r->slow = y[3];
	r->ticks = y[4];
	r->kept = r->slow < room ? r->slow : room;
	r->record = y + CHASE_HEAD;
	r->covered = r->slow <= room ? r->timed : room ? chase_index(r->record[room - 1]) : 0;
	return chase_beyond_reach(c, p[CHASE_START], footprint, p[CHASE_EXTRA]) ? stay_in_pages(c, r, footprint, p)
										: CHASE_DONE;
}

unsigned chase_placements(const struct device_info *d, unsigned most, uint32_t *sm)
{
	unsigned n = d->sm_count < most ? d->sm_count : most;

	for (unsigned i = 0; i < n; i++)
		sm[i] = (uint32_t)((uint64_t)i * d->sm_count / n);
	return n;
}
