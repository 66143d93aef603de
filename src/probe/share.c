/* One launch in which SMs take turns at a cache: as a job, and its words read back. */
#include "probe/share.h"
#include "base/arena.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>

#define WORDS 8
#define SPIN  (1 << 16) /* looks at a flag: some ten million cycles */

/* The first accesses after a wait bring code back and are not counted. */
static uint32_t early_of(uint32_t elements)
{
	return elements >= 16 ? 2 : 1;
}

static uint32_t elements_of(double x, const double *p)
{
	uint32_t n = (uint32_t)(x / p[SHARE_STRIDE]);
	return n < 4 ? 4 : n;
}

/* The one before the last element is where it ends, so that a chase that did not go on is seen. */
static uint32_t timed_of(uint32_t elements)
{
	return elements - early_of(elements) - 1;
}

/* A cache of few lines tells as little in each repeat. */
static uint32_t repeats_of(uint32_t elements)
{
	const uint32_t few = (SHARE_COUNTED + timed_of(elements) - 1) / timed_of(elements);
	return few > SHARE_REPEATS ? few : SHARE_REPEATS;
}

int share_setup(const struct study *s, double x, const double *p, struct job *j, const struct chase_kernel *k)
{
	const struct device_info *d = study_device(s);
	bool constant = k->load.symbol != NULL, wide = !constant && !k->load.texture, calm = p[SHARE_OTHER] < 0;
	const char *form =
	    k->load.texture ? "%s {%%%s, %%other0, %%other1, %%other2}, [%%image, {%%%s}]" : "%s %%%s, [%%%s]";
	char load[96], load_other[96];
	uint32_t n = elements_of(x, p), sm = (uint32_t)p[SHARE_PLACE] / 8, first = (uint32_t)p[SHARE_FIRST],
		 count = (uint32_t)p[SHARE_COUNT], stride = (uint32_t)p[SHARE_STRIDE];
	uint64_t ring_bytes = (uint64_t)n * stride, other = (uint64_t)(calm ? -p[SHARE_OTHER] : p[SHARE_OTHER]),
		 top = calm ? ring_bytes : ring_bytes + other;
	uint64_t *order = ARENA_ARRAY(j->arena, n, uint64_t);
	bool alone = count == 1 && first == sm;

	if (!order)
		return -ENOMEM;
	if (constant && top > k->load.space_bytes)
		return -ENOTSUP;
	for (uint32_t i = 0; i < n; i++)
		order[i] = (uint64_t)i * stride;
	j->template_path = k->template_path;
	snprintf(load, sizeof(load), form, k->load.name, "p", "p");
	snprintf(load_other, sizeof(load_other), form, k->load.name, wide ? "q" : "a", "o");
	job_param_text(j, "LOAD", load);
	job_param_text(j, "OTHER", load_other);
	job_param(j, "WIDE", wide);
	job_param(j, "TEXTURE", k->load.texture);
	job_param(j, "SPIN", SPIN);
	if (constant)
		job_param(j, "SIZE", (long long)k->load.space_bytes);
	snprintf(j->launch.entry, sizeof(j->launch.entry), "share");
	j->launch.block[0] = j->launch.block[1] = j->launch.block[2] = 1;
	j->launch.carveout = CARVEOUT_MAX_L1;
	j->launch.repeats = repeats_of(n);
	j->launch.flush = p[SHARE_LAPS] == 0;
	job_output(j, WORDS);
	job_pin(j, d, sm);
	/* Behind the words that come back, one for each SM: who came first. Only the output is zero again for every repeat. */
	j->launch.buffers[0].bytes += (uint64_t)d->sm_count * 4;
	job_arg_buffer(j, 0, WORDS * 4);
	uint32_t b = job_ring(j, constant ? BUFFER_CONSTANT : BUFFER_GLOBAL, k->load.symbol,
			      constant ? k->load.space_bytes : (top + 255) / 256 * 256, order, n, wide ? 8 : 4);
	uint64_t from = calm ? 0 : ring_bytes;
	const uint32_t unit = k->load.texture ? CHASE_TEXEL : 1;
	if (k->load.texture) {
		j->launch.buffers[b].ring_unit = CHASE_TEXEL;
		job_texture(j, b, j->launch.buffers[b].bytes / CHASE_TEXEL);
	}
	if (!wide) {
		job_arg_u32(j, 0);
		job_arg_u32(j, (uint32_t)from / unit);
	} else {
		job_arg_buffer(j, b, 0);
		job_arg_buffer(j, b, from);
	}
	bool within = sm >= first && sm < first + count;
	job_arg_u32(j, n * (uint32_t)p[SHARE_LAPS]);
	job_arg_u32(j, early_of(n));
	job_arg_u32(j, timed_of(n));
	job_arg_u32(j, first);
	job_arg_u32(j, count);
	job_arg_u32(j, count - within);
	job_arg_u32(j, alone);
	job_arg_u32(j, stride / unit);
	job_arg_u32(j, (uint32_t)(other / stride));
	job_arg_u32(j, (uint32_t)p[SHARE_LOW]);
	job_arg_u32(j, (uint32_t)p[SHARE_HIGH]);
	if (k->load.texture)
		job_arg_texture(j, 0);
	/* Between the two clock reads: the load, a comparison and a branch. */
	j->check.cls = k->load.class;
	j->check.region = 0;
	j->check.min = j->check.max = 1;
	j->check.others = 12;
	return 0;
}

bool share_read(const struct point *pt, struct share_run *r)
{
	uint32_t elements = elements_of(pt->x, pt->p), timed = timed_of(elements);

	*r = (struct share_run){0};
	if (pt->outcome != OUTCOME_OK || pt->words_per_repeat < WORDS || !pt->repeats)
		return false;
	for (uint32_t i = 0; i < pt->repeats; i++) {
		const uint32_t *y = pt->y + (size_t)i * pt->words_per_repeat;
		/* It ends where the ring says only if every load was executed. */
		if (y[4] != (uint32_t)((elements - 1) * pt->p[SHARE_STRIDE]))
			return false;
		r->counted += timed;
		r->slow += y[5];
		r->miss += y[6];
		r->ticks += y[7];
	}
	r->ticks = r->slow > 0 ? r->ticks / r->slow : 0;
	return true;
}

enum chase_state share_get(struct study *s, unsigned experiment, double x, const double *p, struct share_run *r,
			   char *why, size_t n)
{
	const struct point *pt = study_ask(s, experiment, x, p);

	*r = (struct share_run){0};
	if (!pt && study_pending(s))
		return CHASE_PENDING;
	if (pt && share_read(pt, r))
		return CHASE_DONE;
	return chase_why(why, n, "SM %u beside %u from SM %u on: %.150s", (unsigned)p[SHARE_PLACE] / 8,
			 (unsigned)p[SHARE_COUNT], (unsigned)p[SHARE_FIRST],
			 pt && pt->outcome == OUTCOME_OK ? "it did not follow its ring" : point_why(pt));
}
