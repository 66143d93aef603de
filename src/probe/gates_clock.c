/* Whether a clock that a device only tells is the one that it ran at. No kernel reads it there, so run times become cycles by what is told. */
#include "probe/gates.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

/* INFERENCE: a result is there after whole cycles. With a wrong clock, a chain's link comes so near to a whole number
 * once in ten, by chance. All of three or more do once in a thousand. On an H200 five chains were 0.043 off at the
 * most. */
#define WHOLE	     0.05
#define CHAINS_LEAST 3

/* Chains of one warp; a link is so many operations. */
static const struct {
	const char *key;
	double operations;
} chains[] = {
    {"pipeline.sp.ilp1.completion", 1}, {"pipeline.mad.ilp1.completion", 1}, {"pipeline.int.ilp1.completion", 2},
    {"pipeline.dp.ilp1.completion", 1}, {"pipeline.sf.ilp1.completion", 1},
};

static bool in_cycles(const struct finding *f)
{
	return strcmp(f->unit, "cycles") == 0 || strstr(f->unit, "/clk");
}

/* If too few chains tell, nothing was shown: what is in cycles is an estimate. */
static void only_told(struct finding *f)
{
	static const char why[] = "in cycles of the clock that the device tells, which too few chains confirm";
	const size_t n = strlen(f->because);

	if (f->verdict != VERDICT_MEASURED)
		return;
	f->verdict = VERDICT_LIKELY;
	snprintf(f->because + n, sizeof f->because - n, "%s%s", n ? "; " : "", why);
}

void gates_clock(struct gates *g)
{
	const struct finding *seen = gates_find(g->list, "clock.granularity");
	unsigned whole = 0, broken = 0;
	char why[200] = "";
	double v;

	if (!seen || seen->verdict != VERDICT_UNSUPPORTED)
		return;
	for (size_t i = 0; i < sizeof chains / sizeof *chains; i++) {
		if (!gates_number(gates_find(g->list, chains[i].key), &v))
			continue;
		v *= chains[i].operations;
		const bool is = v >= 1 - WHOLE && fabs(v - round(v)) <= WHOLE;
		if (!is && !broken)
			snprintf(
			    why, sizeof why,
			    "%.40s: by the clock that the device tells a link takes %.3g cycles, %s: it ran at another",
			    chains[i].key, v, v < 1 ? "less than one" : "not a whole number");
		whole += is;
		broken += !is;
	}
	if (!broken && whole >= CHAINS_LEAST)
		return;
	for (size_t i = 0; i < g->list->count; i++) {
		struct finding *f = &g->list->items[i];
		if (!in_cycles(f) || !(finding_estimated(f) || f->verdict == VERDICT_BOUND))
			continue;
		if (broken)
			gates_fail(g, &f, 1, "%s", why);
		else
			only_told(f);
	}
}
