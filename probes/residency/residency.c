/* What an SM holds at a time, and which of its warps a scheduler takes. */
#include "residency.h"

static const struct experiment experiments[RESIDENCY_EXPERIMENTS] = {
    [RESIDENCY_FILL] = {.name = "fill",
			.axis = "threads of a block",
			.unit = "count",
			.params = {"blocks for each SM", "loads"},
			.setup = residency_fill_setup},
    [RESIDENCY_ISSUE] = {.name = "issue",
			 .axis = "warps that run",
			 .unit = "count",
			 .params = {"stride", "stream", "stall"},
			 .setup = residency_issue_setup},
};

static void study_residency(struct study *s)
{
	residency_fill(s);
	residency_issue(s);
}

static const char *const claims[] = {"device.max_threads_per_sm",
				     "device.max_warps_per_sm",
				     "device.max_blocks_per_sm",
				     "core.schedulers",
				     "core.policy",
				     "core.dual_issue",
				     NULL};
static const char *const helped[] = {"registers", NULL};

const struct probe probe_residency = {
    .name = "residency",
    .asks = "How many threads, warps and blocks has an SM at a time, how many schedulers share its warps, and which "
	    "warp does one take?",
    .source = "Nickolls and Kirk, B.4 and B.7; here every number is counted, and the rule of a scheduler is seen by "
	      "when its warps end",
    .how = "Blocks count themselves in on their SM and wait until nobody else comes. Sizes of blocks are chosen "
	   "so that one warp or thread more or less decides how many fit. Warps of one block that are some "
	   "numbers apart run the same stream. Those of one scheduler take its turns from each other, those of "
	   "others do not. Its rule shows in when the warps of one scheduler end, all at once or one after the "
	   "other. It also shows in whether the others' bursts hold up the first of them. Two operations of two "
	   "units, side by side or each in need of the last, show whether a turn may take two instructions.",
    .fooled = "Registers that run out before threads do: the kernel needs next to none, and what the register file has "
	      "for it is "
	      "compared. Blocks that leave before the last one comes: sizes that decide are counted again by blocks "
	      "that wait longer. "
	      "Units that all schedulers share look like one scheduler: then the number is an estimate. Streams that "
	      "do not fill a "
	      "scheduler say nothing, and a rule of another kind than the four that are known gets no name.",
    .helped = helped,
    .claims = claims,
    .experiments = experiments,
    .experiment_count = RESIDENCY_EXPERIMENTS,
    .study = study_residency,
};
