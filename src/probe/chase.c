/* The chase as a launch, and its words read back. */
#include "probe/chase.h"
#include "base/arena.h"
#include "base/rng.h"
#include "data/native_record.h"
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define LAP_WORDS     128   /* 32 rounds of four clock values */
#define SHARED_ROOM   3000u /* records in shared memory: 12 KB, which every block may have */
#define SHARED_SPARE  1024u /* what a block's parameters take of it on old chips */
#define GLOBAL_ROOM   32768u
#define ALIGNMENT     (1u << 20)
#define TEXEL	      4
#define CHASE_REPEATS 4 /* where the clock was seen to change */
#define LAP_REPEATS   16

uint32_t chase_elements(double x, const double *p)
{
	return (uint32_t)ceil(x / p[CHASE_STRIDE]) + (p[CHASE_EXTRA] > 0);
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
	if (p[CHASE_ORDER] > 0) {
		struct rng r;
		rng_seed(&r, (uint64_t)p[CHASE_ORDER]);
		for (uint32_t i = n; i > 1; i--) {
			uint32_t k = (uint32_t)rng_below(&r, i);
			uint64_t t = order[i - 1];
			order[i - 1] = order[k];
			order[k] = t;
		}
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
	uint64_t fits = d->shared_per_block > SHARED_SPARE ? (d->shared_per_block - SHARED_SPARE) / 4 : 0;
	return fits < SHARED_ROOM ? (uint32_t)fits : SHARED_ROOM;
}

/* What both kernels have in common: output, pin, ring, where it starts. */
static int ring_setup(const struct study *s, double x, const double *p, struct job *j, const struct chase_kernel *k,
		      uint32_t words, uint32_t repeats)
{
	const struct device_info *d = study_device(s);
	bool constant = k->space == BUFFER_CONSTANT, wide = !constant && !k->texture;
	uint32_t n = chase_elements(x, p);
	char load[96];
	uint64_t *order = chase_ring(j->arena, x, p);
	uint64_t top = 0;

	if (!order)
		return -ENOMEM;
	for (uint32_t i = 0; i < n; i++)
		top = order[i] > top ? order[i] : top;
	top += wide ? 8 : 4;
	if (constant && top > k->space_bytes)
		return -ENOTSUP;
	j->template_path = k->template_path;
	snprintf(load, sizeof(load),
		 k->texture ? "%s {%%p, %%other0, %%other1, %%other2}, [%%image, {%%p}]" : "%s %%p, [%%p]", k->load);
	job_param_text(j, "LOAD", load);
	job_param(j, "TEXTURE", k->texture);
	job_param(j, "WIDE", wide);
	job_param(j, "NEVER", k->texture ? UINT32_MAX : 1); /* addresses are even, indices are few */
	if (constant)
		job_param(j, "SIZE", (long long)k->space_bytes);
	j->launch.block[0] = j->launch.block[1] = j->launch.block[2] = 1;
	j->launch.carveout = CARVEOUT_MAX_L1;
	j->launch.flush = true;
	/* Latencies are those of the usual clock: several launches, of which not all meet one that is faster for a while. */
	const struct finding *boost = study_finding(s, "clock.boost");
	if (boost && boost->verdict == VERDICT_MEASURED && !(p[CHASE_FLOOR] > 0))
		j->launch.repeats = repeats;
	job_output(j, words);
	job_pin(j, d, (uint32_t)p[CHASE_PLACE] / 8);
	uint32_t b = job_ring(j, k->space, k->symbol, constant ? k->space_bytes : (top + 255) / 256 * 256, order, n,
			      wide ? 8 : 4);
	j->launch.buffers[b].align = constant ? 0 : ALIGNMENT;
	if (k->texture) {
		j->launch.buffers[b].ring_unit = TEXEL;
		job_texture(j, b, j->launch.buffers[b].bytes / TEXEL);
		job_arg_u32(j, (uint32_t)(order[0] / TEXEL));
	} else if (constant)
		job_arg_u32(j, (uint32_t)order[0]);
	else
		job_arg_buffer(j, b, order[0]);
	job_arg_u32(j, (uint32_t)p[CHASE_WARM]);
	return 0;
}

int chase_setup(const struct study *s, double x, const double *p, struct job *j, const struct chase_kernel *k)
{
	uint32_t timed = (uint32_t)p[CHASE_TIMED], room = chase_room(study_device(s), k->in_shared);

	if (room > timed)
		room = timed;
	int rc = ring_setup(s, x, p, j, k, CHASE_HEAD + room, CHASE_REPEATS);
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
	if (k->texture)
		job_arg_texture(j, 0);
	j->launch.shared_bytes = k->in_shared ? room * 4 : 0;
	/* Region 0 leads to the loop, region 1 is one timed access: the load, a comparison and a branch. */
	j->check.cls = k->load_class;
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
	if (k->texture)
		job_arg_texture(j, 0);
	snprintf(j->launch.entry, sizeof(j->launch.entry), "lap");
	job_param(j, "N", (long long)p[CHASE_TIMED]);
	j->check.cls = k->load_class;
	j->check.region = 0;
	j->check.min = j->check.max = (unsigned)p[CHASE_TIMED];
	j->check.others = 8 + 4 * (unsigned)p[CHASE_TIMED]; /* some chips need arithmetic for every address */
	return 0;
}

enum chase_state chase_missing(struct chase_path *c)
{
	if (study_pending(c->study))
		return CHASE_PENDING;
	snprintf(c->why, sizeof(c->why), "a point that is needed was not measured");
	return CHASE_UNDECIDED;
}

enum chase_state chase_get(struct chase_path *c, struct chase_run *r, double footprint, const double *p)
{
	const struct point *pt = study_ask(c->study, c->chase, footprint, p);

	if (!pt)
		return chase_missing(c);
	*r = (struct chase_run){
	    .point = pt, .elements = chase_elements(footprint, p), .timed = (uint32_t)p[CHASE_TIMED]};
	if (pt->outcome != OUTCOME_OK || pt->words_per_repeat < CHASE_HEAD) {
		snprintf(c->why, sizeof(c->why), "a chase over %.0f bytes came back %s%s%.120s", footprint,
			 outcome_name(pt->outcome), pt->message[0] ? ": " : "", pt->message);
		return CHASE_UNDECIDED;
	}
	/* Of several launches the one that nothing slowed down. */
	const uint32_t *y = pt->y;
	for (uint32_t i = 1; i < pt->repeats; i++)
		if (pt->y[(size_t)i * pt->words_per_repeat + 4] < y[4])
			y = pt->y + (size_t)i * pt->words_per_repeat;
	/* The chase ends where the ring says only if every load was executed, once. */
	uint32_t last = chase_at(p, r->elements, r->timed), end = (uint32_t)(last * p[CHASE_STRIDE]);
	if (p[CHASE_ORDER] > 0) {
		const uint64_t *ring = chase_ring(study_arena(c->study), footprint, p);
		if (!ring) {
			snprintf(c->why, sizeof(c->why), "out of memory");
			return CHASE_UNDECIDED;
		}
		end = (uint32_t)(ring[last] - ring[0]);
	} else if (p[CHASE_EXTRA] > 0 && last == r->elements - 1) {
		end = (uint32_t)(p[CHASE_EXTRA] - p[CHASE_START]);
	}
	if (y[2] != end) {
		snprintf(c->why, sizeof(c->why),
			 "a chase over %.0f bytes ended at offset %u, not at %u: it did not follow its ring", footprint,
			 y[2], end);
		return CHASE_UNDECIDED;
	}
	uint32_t room = pt->words_per_repeat - CHASE_HEAD;
	r->slow = y[3];
	r->ticks = y[4];
	r->kept = r->slow < room ? r->slow : room;
	r->record = y + CHASE_HEAD;
	r->covered = r->slow <= room ? r->timed : room ? chase_index(r->record[room - 1]) : 0;
	return CHASE_DONE;
}

unsigned chase_placements(const struct device_info *d, unsigned most, uint32_t *sm)
{
	unsigned n = d->sm_count < most ? d->sm_count : most;

	for (unsigned i = 0; i < n; i++)
		sm[i] = (uint32_t)((uint64_t)i * d->sm_count / n);
	return n;
}
