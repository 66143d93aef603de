/* Visits of a ring while the SM's clock ran faster. What is asked for then answers as late as ever, and so after more of the SM's cycles: a
 * visit then, against its line as a follower before, seems dearer, and the other way round a miss seems to be none, for laps at a time. */
#include "base/arena.h"
#include "stat/stat.h"
#include "tlb.h"
#include <math.h>
#include <string.h>

#define BLOCK	    24u	 /* visits that are looked at together */
#define BLOCKS	    8u	 /* fewer of them tell nothing */
#define QUICK	    0.25 /* of a block's followers are quicker: lines that are near, if some are */
#define QUICKEST    0.1	 /* of the blocks are: those of the usual clock */
#define FAST_LEAST  0.5	 /* of what the clock swings at most, by which blocks are slower, ... */
#define FAST_MOST   1.5	 /* ... and no more: that is not the clock's doing */
#define USUAL_LEAST 0.2	 /* of the blocks */
#define UNSURE	    2u	 /* visits before and behind one at which the clock changes */

static double follower(const struct tlb_view *w, uint32_t v)
{
	return w->ticks[2 * v + 1];
}

/* The visit from `from` on and before `to` at which the clock changes, as most followers say. */
static uint32_t change(const struct tlb_view *w, uint32_t from, uint32_t to, double between, bool to_fast)
{
	uint32_t at = from;
	int best = 0, sum = 0;

	/* Against a change at `from`, each visit more before it is one for it or against it. */
	for (uint32_t v = from; v < to; v++) {
		sum += (follower(w, v) < between) == to_fast ? 1 : -1;
		if (sum > best) {
			best = sum;
			at = v + 1;
		}
	}
	return at;
}

double tlb_clock(const struct tlb_path *c, const struct tlb_view *w, enum tlb_pace *pace)
{
	const uint32_t n = w->visits, blocks = n / BLOCK;
	struct arena *a = study_arena(c->study);
	double one[BLOCK], scratch[BLOCK], *quick = ARENA_ARRAY(a, 3 * (size_t)blocks + 1, double),
					   *fast = quick + blocks;
	bool *is_fast = ARENA_ARRAY(a, blocks + 1, bool);
	uint32_t usual = 0, more = 0;

	if (!quick || !is_fast || blocks < BLOCKS || !(c->swing > 0))
		return 1;
	for (uint32_t b = 0; b < blocks; b++) {
		for (uint32_t i = 0; i < BLOCK; i++)
			one[i] = follower(w, b * BLOCK + i);
		quick[b] = stat_quantile(one, BLOCK, QUICK, scratch);
	}
	const double base = stat_quantile(quick, blocks, QUICKEST, fast + blocks), least = 1 + FAST_LEAST * c->swing,
		     most = 1 + FAST_MOST * c->swing;
	if (base * (least - 1) < 2 * c->grain)
		return 1;
	for (uint32_t b = 0; b < blocks; b++) {
		const double ratio = quick[b] / base;
		is_fast[b] = ratio >= least && ratio <= most;
		if (is_fast[b])
			fast[more++] = ratio;
		usual += ratio < least;
	}
	if (!more || usual < USUAL_LEAST * blocks)
		return 1;
	const double ratio = stat_median(fast, more, fast + blocks), between = base * (1 + ratio) / 2;
	bool now = is_fast[0];
	uint32_t from = 0;
	for (uint32_t b = 1; b <= blocks; b++) {
		const bool next = b < blocks ? is_fast[b] : !now;
		if (next == now)
			continue;
		const uint32_t to = b < blocks ? change(w, (b - 1) * BLOCK, (b + 1) * BLOCK, between, next) : n;
		for (uint32_t v = from; v < to; v++)
			pace[v] = pace[v] == TLB_CHANGES ? TLB_CHANGES : now ? TLB_FAST : TLB_USUAL;
		for (uint32_t v = to > UNSURE ? to - UNSURE : 0; b < blocks && v < to + UNSURE && v < n; v++)
			pace[v] = TLB_CHANGES;
		from = to;
		now = next;
	}
	return ratio;
}
