/* One launch of a class: its shape, and the two lengths that are compared. */
#include "pipeline.h"
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
	SHORT_OPS = PIPELINE_OPS,
	LONG_OPS = 192,
	FIRST_ROUNDS = 2,
	SOFT_STEPS = 8,	 /* instructions of a function without hardware */
	BLOCKS_MOST = 8, /* on an SM: what even the oldest devices take */
	ROOM = 256,	 /* bytes of local memory, of which the kernel's other launches have more */
	WARPS_MOST = 128 /* of an SM that does not tell: twice as many as any is known to take */
};

unsigned pipeline_blocks(const struct device_info *d, unsigned warps)
{
	const unsigned block = d->max_threads_per_block / d->warp_size;
	/* Several blocks have to be on every SM, so few steps have to do there. */
	if (block && warps > block && warps % ((block + 3) / 4))
		return 0;
	for (unsigned n = 1; n <= BLOCKS_MOST && block; n++)
		if (warps % n == 0 && warps / n <= block)
			return n;
	return 0;
}

unsigned pipeline_most_warps(const struct device_info *d, bool *known)
{
	const unsigned blocks = 2 * d->max_threads_per_block / d->warp_size;
	*known = d->max_threads_per_sm >= d->warp_size;
	if (*known)
		return d->max_threads_per_sm / d->warp_size;
	return blocks < WARPS_MOST ? blocks : WARPS_MOST;
}

/* The job but for the shape of its launch. words: of output. */
static void job_of(struct job *j, enum pipeline_class c, bool together, bool clocked, const double *p, unsigned words)
{
	const bool spans = p[P_SPANS] > 0;
	const unsigned out = spans ? SPAN_WORDS * j->launch.grid[0] : words;
	const struct pipeline_row *r = &pipeline_row[c];
	const unsigned chains = (unsigned)p[P_CHAINS];
	j->template_path = "probes/pipeline/roof.ptx";
	job_param_text(j, "CLASS", r->name);
	job_param_text(j, "REG", r->reg);
	job_param(j, "TOGETHER", together);
	job_param(j, "CLOCKED", clocked || spans);
	job_param(j, "SPANS", spans);
	job_param(j, "CHAINS", chains);
	job_param(j, "LINKS", (long long)p[P_LINKS]);
	snprintf(j->launch.entry, sizeof j->launch.entry, "roof");
	struct launch_buffer *sink = &j->launch.buffers[j->launch.buffer_count];
	sink->space = BUFFER_GLOBAL;
	sink->bytes = 8ull * chains * j->launch.block[0];
	if (sink->bytes < 4ull * out)
		sink->bytes = 4ull * out;
	sink->output = true;
	sink->output_words = out;
	job_arg_buffer(j, j->launch.buffer_count++, 0);
	job_arg_u32(j, (uint32_t)p[P_ROUNDS]);
	job_arg_u32(j, 0);
	job_arg_u32(j, 17);
	job_arg_u32(j, 29);
	timed_job(j, p[P_REPEATS]);
	j->check.cls = NATIVE_ALU;
	j->check.min = (unsigned)p[P_LINKS] * chains * (c == CLASS_SOFTSF ? SOFT_STEPS : 1);
	j->check.max = UINT32_MAX;
	j->check.others = UINT32_MAX;
}

int pipeline_setup(const struct study *s, enum pipeline_class c, bool together, double x, const double *p,
		   struct job *j)
{
	const struct device_info *d = study_device(s);
	const unsigned warps = (unsigned)x, blocks = pipeline_blocks(d, warps);
	if (!blocks || (together && blocks > 1))
		return -ENOTSUP;
	/* One block finds room on any SM. More have to be on all of them, or they would spread. */
	j->launch.grid[0] = blocks == 1 ? 1 : blocks * d->sm_count;
	j->launch.block[0] = warps / blocks * d->warp_size;
	/* Equation 2: no more blocks than that have room in the local memory, if an SM has no more than a block may have. */
	j->launch.shared_bytes = (uint32_t)(d->shared_per_block / (blocks + 1) + 256) & ~255u;
	job_of(j, c, together, blocks == 1, p, CLOCK_WORDS + (together ? warps : 0));
	return 0;
}

unsigned pipeline_item_block(const struct device_info *d)
{
	bool known;
	const unsigned most = pipeline_most_warps(d, &known), warps = (most + BLOCKS_MOST - 1) / BLOCKS_MOST;
	const unsigned block = d->max_threads_per_block / d->warp_size;
	return (warps < 1 ? 1 : warps < block ? warps : block) * d->warp_size;
}

int pipeline_items_setup(const struct study *s, double x, const double *p, struct job *j)
{
	const unsigned items = (unsigned)x, block = (unsigned)p[P_BLOCK];
	(void)s;
	j->launch.grid[0] = items < block ? 1 : items / block;
	j->launch.block[0] = items < block ? items : block;
	j->launch.shared_bytes = ROOM;
	job_of(j, CLASS_SP, false, false, p, CLOCK_WORDS);
	return 0;
}

struct timed_pair pipeline_pair(const struct device_info *d, enum pipeline_class c, unsigned chains, unsigned warps,
				unsigned shorter, bool spans)
{
	const unsigned step = chains * (c == CLASS_SOFTSF ? SOFT_STEPS : 1);
	const bool one = pipeline_blocks(d, warps) == 1;
	return (struct timed_pair){.experiment = c,
				   .together = CLASSES + c,
				   .x = warps,
				   .p = {[P_CHAINS] = chains, [P_SPANS] = spans && !one},
				   .links_at = P_LINKS,
				   .rounds_at = P_ROUNDS,
				   .repeats_at = P_REPEATS,
				   .few = SHORT_OPS / shorter / step,
				   .many = LONG_OPS / shorter / step,
				   .first = FIRST_ROUNDS,
				   .each = chains,
				   /* One block's clock tells what one block took. */
				   .clock_hz = one || spans ? d->clock_hz : 0,
				   .words = spans && !one ? WORDS_SPANS : WORDS_WHOLE};
}
