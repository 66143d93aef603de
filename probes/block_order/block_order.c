/* How many SMs there are, and in which order a launch's blocks are given to them.
 *
 * Two blocks for each SM, which wait for each other, so that no place is given away twice. Every block leaves its SM's number.
 * A number says nothing about where an SM is: which of them make a cluster is told by the clock counter that they share. */
#include "base/arena.h"
#include "probe/share.h"
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { HEADER_WORDS = 2, PER_SM = 2, MANY = 65, LAUNCHES = 4 };
enum { EXPERIMENT_ORDER, EXPERIMENT_CLOCKS };

/* x: blocks for each SM. */
static int setup_order(const struct study *s, double x, const double *p, struct job *j)
{
	const uint32_t sms = study_device(s)->sm_count, blocks = (uint32_t)x * sms;
	(void)p;
	j->template_path = "probes/block_order/order.ptx";
	snprintf(j->launch.entry, sizeof j->launch.entry, "order");
	j->launch.grid[0] = blocks;
	j->launch.grid[1] = j->launch.grid[2] = 1;
	j->launch.block[0] = j->launch.block[1] = j->launch.block[2] = 1;
	job_output(j, HEADER_WORDS + 2 * blocks);
	/* More than fit cannot wait for all. */
	job_arg_u32(j, x > PER_SM ? sms : blocks);
	j->launch.repeats = LAUNCHES;
	j->launch.warmups = 1;
	return 0;
}

static const struct experiment experiments[] = {
    [EXPERIMENT_ORDER] = {.name = "order", .axis = "blocks for each SM", .unit = "count", .setup = setup_order},
    [EXPERIMENT_CLOCKS] = {.name = "clocks", .axis = "launch", .unit = "number", .setup = share_clock_setup},
};

static const uint32_t *words(const struct point *pt, unsigned repeat)
{
	return pt->y + (size_t)repeat * pt->words_per_repeat;
}

static uint32_t sm_of(const struct point *pt, unsigned repeat, uint32_t block)
{
	return words(pt, repeat)[HEADER_WORDS + 2 * block] - 1;
}

/* Each SM gets one of the blocks from `first` on. seen: room for a mark an SM. */
static bool each_once(const struct point *pt, unsigned repeat, uint32_t first, uint32_t sms, uint8_t *seen)
{
	memset(seen, 0, sms);
	for (uint32_t b = first; b < first + sms; b++) {
		const uint32_t sm = sm_of(pt, repeat, b);
		if (sm >= sms || seen[sm]++)
			return false;
	}
	return true;
}

/* Each SM gets what it has room for before the next gets any. */
static bool fills(const struct point *pt, unsigned repeat, uint32_t sms, uint8_t *seen)
{
	memset(seen, 0, sms);
	for (uint32_t b = 0; b < PER_SM * sms; b++) {
		const uint32_t sm = sm_of(pt, repeat, b);
		if (sm >= sms || (seen[sm] && sm != sm_of(pt, repeat, b - 1)))
			return false;
		seen[sm] = 1;
	}
	return sm_of(pt, repeat, 0) == sm_of(pt, repeat, PER_SM - 1);
}

struct turns {
	uint32_t whole; /* clusters that got a block for each of their SMs at a time */
	uint32_t one;	/* turns of a cluster that has SMs without a block left, one block each */
	uint32_t all;	/* turns: blocks in a row that went to one cluster */
	bool fair;	/* no cluster had two turns more than another one that had SMs left */
};

/* One block for each SM, cluster by cluster. group: of each SM, the first SM of its cluster. had, size: of each cluster. */
static struct turns turns_of(const struct point *pt, unsigned repeat, uint32_t sms, const uint32_t *group,
			     unsigned *had, unsigned *blocks)
{
	struct turns t = {.fair = true};
	unsigned *size = blocks + sms;
	memset(had, 0, sms * sizeof *had);
	memset(blocks, 0, 2 * sms * sizeof *blocks);
	for (uint32_t i = 0; i < sms; i++)
		size[group[i]]++;
	for (uint32_t b = 0, end; b < sms; b = end) {
		const uint32_t g = group[sm_of(pt, repeat, b)];
		for (end = b; end < sms && group[sm_of(pt, repeat, end)] == g; end++)
			blocks[g]++;
		t.all++;
		t.whole += end - b == size[g];
		t.one += end - b == 1;
		had[g]++;
		for (uint32_t i = 0; i < sms; i++)
			t.fair = t.fair && (!size[i] || blocks[i] == size[i] || had[g] <= had[i] + 1);
	}
	return t;
}

/* SMs that had a block in any launch; UINT32_MAX: one has a number that the driver does not count. */
static uint32_t sms_of(const struct point *pt, uint8_t *seen, uint32_t sms)
{
	uint32_t count = 0;
	for (uint32_t i = 0; i < sms; i++)
		seen[i] = 0;
	for (unsigned r = 0; r < pt->repeats; r++)
		for (uint32_t b = 0; b < (uint32_t)pt->x * sms; b++) {
			const uint32_t sm = sm_of(pt, r, b);
			if (sm >= sms)
				return UINT32_MAX;
			count += !seen[sm];
			seen[sm] = 1;
		}
	return count;
}

static void study_count(struct study *s, const struct point *few, uint8_t *seen, uint32_t sms)
{
	static const char key[] = "device.sm_count";
	uint32_t count = sms_of(few, seen, sms);
	if (count < sms) {
		const struct point *many = study_ask(s, EXPERIMENT_ORDER, MANY, NULL);
		if (many && many->outcome == OUTCOME_OK)
			count = sms_of(many, seen, sms);
	}
	if (count == sms)
		study_measured_number(s, key, count, count, count, "card", "numbers of the SMs that blocks ran on",
				      "order", "every number below %u was seen, and no other", sms);
	else
		study_verdict(s, key, VERDICT_INCONCLUSIVE, "order",
			      count < sms ? "the driver speaks of %u SMs, but blocks ran on fewer"
					  : "the driver speaks of %u SMs, but a block's SM has a larger number",
			      sms);
}

/* Round the SMs: what that means for the clusters. */
static void study_rounds(struct study *s, const struct point *o, const struct point *clocks, uint32_t sms)
{
	static const char key[] = "topology.block_order", evidence[] = "order:2, clocks",
			  method[] = "SMs of blocks that wait for each other; clusters by shared clock counters";
	struct arena *a = study_arena(s);
	uint32_t *group = ARENA_ARRAY(a, sms, uint32_t);
	unsigned *scratch = ARENA_ARRAY(a, sms, unsigned), *blocks = ARENA_ARRAY(a, 2 * (size_t)sms, unsigned);
	unsigned groups = 0, smallest = 0, largest = 0, whole = 0, one = 0;
	char why[160] = "the SMs' clock counters were not read";
	if (!group || !scratch || !blocks) {
		study_verdict(s, key, VERDICT_FAILED, evidence, "out of memory");
		return;
	}
	if (clocks && clocks->outcome == OUTCOME_OK &&
	    share_clock_groups(study_arena(s), clocks, sms, group, why, sizeof why)) {
		share_count(group, sms, scratch, &groups, &smallest, &largest);
		snprintf(why, sizeof why, "the SMs have %s", groups == 1 ? "one time" : "each a time of their own");
	}
	if (groups < 2 || smallest < 2) {
		study_verdict(s, key, VERDICT_INCONCLUSIVE, evidence,
			      "each SM gets a block before any gets two, first SMs %u, %u, %u and %u; their "
			      "clusters are not known: %s",
			      sm_of(o, 0, 0), sm_of(o, 0, 1), sm_of(o, 0, 2 % sms), sm_of(o, 0, 3 % sms), why);
		return;
	}
	struct turns t = {0};
	for (unsigned r = 0; r < o->repeats; r++) {
		t = turns_of(o, r, sms, group, scratch, blocks);
		whole += t.whole == groups && t.all == groups;
		one += t.one == t.all && t.fair;
	}
	if (whole == o->repeats)
		study_text(
		    s, key, "sm", method, evidence,
		    "in %u launches each of %u clusters got a block for each of its SMs, one cluster after the other",
		    o->repeats, groups);
	else if (one == o->repeats)
		study_text(
		    s, key, "cluster", method, evidence,
		    "in %u launches each of %u clusters got one block before any got its next, and each SM one before "
		    "any got two",
		    o->repeats, groups);
	else
		study_verdict(
		    s, key, VERDICT_INCONCLUSIVE, evidence,
		    "each SM gets a block before any gets two; %u clusters get theirs in %u turns, %u of them of one "
		    "block, and %s",
		    groups, t.all, t.one, t.fair ? "take turns" : "not in equal turns");
}

static void study_order(struct study *s)
{
	static const char key[] = "topology.block_order", evidence[] = "order:2";
	const uint32_t sms = study_device(s)->sm_count;
	const struct point *o = study_ask(s, EXPERIMENT_ORDER, PER_SM, NULL),
			   *clocks = study_ask(s, EXPERIMENT_CLOCKS, 0, NULL);
	uint8_t *seen = ARENA_ARRAY(study_arena(s), sms, uint8_t);
	if (study_pending(s))
		return;
	if (!o || o->outcome != OUTCOME_OK || !seen) {
		study_verdict(s, key, VERDICT_INCONCLUSIVE, evidence, "%s", point_why(o));
		study_verdict(s, "device.sm_count", VERDICT_INCONCLUSIVE, evidence, "%s", point_why(o));
		return;
	}
	study_count(s, o, seen, sms);
	unsigned filled = 0, late = 0, rounds = 0;
	for (unsigned r = 0; r < o->repeats; r++) {
		bool all = true;
		for (unsigned k = 0; k < PER_SM; k++)
			all = all && each_once(o, r, k * sms, sms, seen);
		late += words(o, r)[1] != 0;
		filled += fills(o, r, sms, seen);
		rounds += all;
	}
	if (sms < 2)
		study_verdict(s, key, VERDICT_INCONCLUSIVE, evidence, "there is one SM, which gets every block");
	else if (late)
		study_verdict(s, key, VERDICT_INCONCLUSIVE, evidence,
			      "blocks were still missing when others had waited for long");
	else if (filled == o->repeats)
		study_text(s, key, "fill", "SMs of blocks that wait for each other", evidence,
			   "in %u launches one SM after the other got all that it has room for", filled);
	else if (rounds == o->repeats)
		study_rounds(s, o, clocks, sms);
	else
		study_verdict(
		    s, key, VERDICT_INCONCLUSIVE, evidence,
		    "each SM had a block before any had two in only %u of %u launches; first SMs %u, %u, %u and %u",
		    rounds, o->repeats, sm_of(o, 0, 0), sm_of(o, 0, 1), sm_of(o, 0, 2), sm_of(o, 0, 3));
}

static int draw_order(const struct study *s, struct figure_list *out)
{
	const struct series *series = study_series(s, EXPERIMENT_ORDER);
	const struct point *pt = NULL;
	for (size_t i = 0; series && i < series->count && !pt; i++)
		if (series->points[i].x == PER_SM && series->points[i].outcome == OUTCOME_OK)
			pt = &series->points[i];
	if (!pt)
		return 0;
	const uint32_t sms = study_device(s)->sm_count, launches = pt->repeats < LAUNCHES ? pt->repeats : LAUNCHES;
	const size_t cells = (size_t)launches * PER_SM * sms;
	struct figure *f = figures_new(out, "block-order", "Which SM gets a launch's blocks, and when");
	double *x = ARENA_ARRAY(study_arena((struct study *)s), 3 * cells + 1, double), *y = x + cells,
	       *turn = y + cells;
	if (!f || !x)
		return -ENOMEM;
	figure_key(f, "topology.block_order");
	f->x = (struct figure_axis){.label = "SM"};
	f->shade = (struct figure_axis){.label = "turn of the block"};
	snprintf(f->caption, sizeof f->caption,
		 "The darker, the later in its launch. Rows that are alike: every launch has the same order.");
	for (size_t i = 0; i < cells; i++) {
		x[i] = (double)(i % sms);
		y[i] = (double)(i / sms);
		turn[i] = NAN;
	}
	for (unsigned r = 0; r < launches; r++) {
		for (unsigned k = 0; k < PER_SM; k++) {
			char name[FIGURE_ROW];
			snprintf(name, sizeof name, "launch %u, %s", r + 1, k ? "second" : "first");
			if (figure_row(f, name))
				return -ENOMEM;
		}
		for (uint32_t b = 0; b < PER_SM * sms; b++) {
			const uint32_t sm = sm_of(pt, r, b);
			const size_t at = (size_t)r * PER_SM * sms + sm;
			if (sm < sms) /* the second one of an SM that has one */
				turn[isnan(turn[at]) ? at : at + sms] = b;
		}
	}
	return figure_add(f, "blocks", MARK_CELLS, x, y, turn, cells);
}

static const char *const claims[] = {"topology.block_order", "device.sm_count", NULL};

const struct probe probe_block_order = {
    .name = "block_order",
    .asks = "How many SMs are there, and in which order are a launch's blocks given to them?",
    .source = "Wong 2010, IV-A, Fig. 5 and IV-J4, where blocks are placed by what is known of this order",
    .how = "A launch has two blocks for each SM, and they wait for each other, so that no place is given away twice. "
	   "Every block leaves the number of its SM. Which SMs make a cluster is told by the clock counter that they "
	   "share.",
    .fooled = "Blocks that wait in vain, because they do not all fit: that is seen. SM numbers that say nothing about "
	      "clusters: without counters that do, the order stays open. Orders that differ from launch to launch: "
	      "four have to agree.",
    .figure = "block-order",
    .claims = claims,
    .experiments = experiments,
    .experiment_count = sizeof experiments / sizeof *experiments,
    .study = study_order,
    .draw = draw_order,
};
