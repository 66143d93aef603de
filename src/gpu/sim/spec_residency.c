/* What a probe should find of the places of an SM and of its schedulers. */
#include "gpu/sim/spec_file.h"
#include <math.h>
#include <string.h>

static uint32_t least(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

/* The most threads, or warps, that blocks of one size come to. */
static uint32_t most_there(const struct sim_spec *s, bool warps)
{
	uint32_t most = 0;
	for (uint32_t n = 1; n <= s->max_blocks_per_sm; n++) {
		/* Warps are filled to the last thread, or have a thread each but for the first ones of a block. */
		const uint32_t each = s->max_warps_per_sm / n,
			       fit = least(s->max_threads_per_block, s->max_threads_per_sm / n),
			       full = least(each * s->warp_size, fit),
			       thin = fit ? least(each, (fit - 1) / s->warp_size + 1) : 0,
			       is = n * (warps ? thin : full);
		most = is > most ? is : most;
	}
	return most;
}

int spec_truth_residency(const struct sim_spec *s, int (*each)(void *ctx, const struct truth *t), void *ctx)
{
	static const char *const policies[] = {"round_robin", "oldest", "youngest", "greedy"};
	const struct truth all[] = {
	    {.key = "device.max_threads_per_sm", .number = most_there(s, false)},
	    {.key = "device.max_warps_per_sm", .number = most_there(s, true)},
	    {.key = "device.max_blocks_per_sm", .number = least(s->max_blocks_per_sm, s->max_warps_per_sm)},
	    {.key = "core.schedulers", .number = s->schedulers},
	    {.key = "core.policy", .text = policies[s->policy]},
	    {.key = "core.dual_issue", .text = s->dual_issue ? "yes" : "no"},
	};
	int rc = 0;
	for (size_t i = 0; rc == 0 && i < sizeof all / sizeof *all; i++)
		rc = each(ctx, &all[i]);
	return rc;
}
