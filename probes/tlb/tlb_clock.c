/* Visits of a ring while the SM's clock ran faster. Answers come as late as ever then, and so after more of the SM's
 * cycles. A visit then seems dearer against its line as a follower before. The other way round a miss seems to be none,
 * for laps at a time. */
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
#define TELL_LEAST  6u	 /* of a block's visits tell something */
#define UNSURE	    2u	 /* visits before and behind one at which the clock changes */

/* The visit from `from` on and before `to` at which the clock changes, as most accesses say. */
static uint32_t change(const double *ticks, uint32_t from, uint32_t to, double between, bool to_fast)
{
	uint32_t at = from;
	int best = 0, sum = 0;

	/* Against a change at `from`, each visit more before it is one for it or against it. */
	for (uint32_t v = from; v < to; v++) {
		sum += isnan(ticks[v]) ? 0 : (ticks[v] < between) == to_fast ? 1 : -1;
		if (sum > best) {
			best = sum;
			at = v + 1;
		}
	}
	return at;
}

/* ticks: of one access of each visit; NAN: it tells nothing. */
static double clock_of(const struct tlb_path *c, const double *ticks, uint32_t n, enum tlb_pace *pace)
{
	const uint32_t blocks = n / BLOCK;
	struct arena *a = study_arena(c->study);
	double one[BLOCK], scratch[BLOCK], *quick = ARENA_ARRAY(a, 4 * (size_t)blocks + 1, double),
					   *fast = quick + blocks, *told = fast + blocks;
	bool *is_fast = ARENA_ARRAY(a, blocks + 1, bool);
	uint32_t usual = 0, more = 0, tell = 0;

	if (!quick || !is_fast || blocks < BLOCKS || !(c->swing > 0))
		return 1;
	for (uint32_t b = 0; b < blocks; b++) {
		uint32_t m = 0;
		for (uint32_t i = 0; i < BLOCK; i++)
			if (!isnan(ticks[b * BLOCK + i]))
				one[m++] = ticks[b * BLOCK + i];
		quick[b] = m >= TELL_LEAST ? stat_quantile(one, m, QUICK, scratch) : NAN;
		if (!isnan(quick[b]))
			told[tell++] = quick[b];
	}
	if (tell < BLOCKS)
		return 1;
	const double base = stat_quantile(told, tell, QUICKEST, told + blocks), least = 1 + FAST_LEAST * c->swing,
		     most = 1 + FAST_MOST * c->swing;
	if (base * (least - 1) < 2 * c->grain)
		return 1;
	for (uint32_t b = 0; b < blocks; b++) {
		const double ratio = quick[b] / base;
		/* One that does not tell is as the one before. */
		is_fast[b] = isnan(ratio) ? b && is_fast[b - 1] : ratio >= least && ratio <= most;
		if (isnan(ratio))
			continue;
		if (is_fast[b])
			fast[more++] = ratio;
		usual += ratio < least;
	}
	if (!more || usual < USUAL_LEAST * tell)
		return 1;
	const double ratio = stat_median(fast, more, told), between = base * (1 + ratio) / 2;
	bool now = is_fast[0];
	uint32_t from = 0;
	for (uint32_t b = 1; b <= blocks; b++) {
		const bool next = b < blocks ? is_fast[b] : !now;
		if (next == now)
			continue;
		const uint32_t to = b < blocks ? change(ticks, (b - 1) * BLOCK, (b + 1) * BLOCK, between, next) : n;
		for (uint32_t v = from; v < to; v++)
			pace[v] = pace[v] == TLB_CHANGES ? TLB_CHANGES : now ? TLB_FAST : TLB_USUAL;
		for (uint32_t v = to > UNSURE ? to - UNSURE : 0; b < blocks && v < to + UNSURE && v < n; v++)
			pace[v] = TLB_CHANGES;
		from = to;
		now = next;
	}
	return ratio;
}

double tlb_clock(const struct tlb_path *c, const struct tlb_view *w, double from, double below, enum tlb_pace *pace)
{
	double *ticks = c->swing > 0 ? ARENA_ARRAY(study_arena(c->study), (size_t)w->visits + 1, double) : NULL;

	if (!ticks)
		return 1;
	for (uint32_t v = 0; v < w->visits; v++)
		ticks[v] = isnan(from)						    ? w->ticks[2 * v + 1]
			   : w->cost[v] >= (float)from && w->cost[v] < (float)below ? w->ticks[2 * v]
										    : NAN;
	return clock_of(c, ticks, w->visits, pace);
}
