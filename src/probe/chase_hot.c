/* Which elements of a ring miss. */
#include "base/arena.h"
#include "probe/chase_fit.h"
#include "stat/stat.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HOT_ORDERS   14
#define HOT_AT_LEAST 3 /* orders */
#define HOT_THOROUGH                                                                                                   \
	32 /* orders, where those left out lines of a set: in each order other lines of it are never given up */
#define HOT_PART     4	     /* of the laps are enough for each of so many */
#define HOT_LEAST    8	     /* but no fewer laps */
#define HOT_LAPS     512     /* of all orders together, where each records only a few */
#define HOT_ACCESSES 12288.0 /* of the first orders */
#define HOT_MOST     1.5e6   /* of all */
#define HOT_LONG     65536.0 /* of one order, if that is enough laps for whatever is seen in their later half */
#define HOT_IN_ORDER 8.0     /* laps */
#define LATE_ORDERS  6
#define LATE_LAPS    128   /* that are timed */
#define LATE_MOST    4.0e5 /* accesses before, of PATIENCE laps, */
#define LATE_LEAST   64	   /* or of no fewer */
#define MANY_MORE    2	   /* misses of some blocks, against those of others: they are not all of one set */
#define FAR_MORE     1.5   /* above the mean of the others, against what noise makes of one of them */
#define FIT_MORE     1.5   /* misses of a ring that does not fit for the same reason as of one that does */
#define HOT_COUNT    5	   /* misses of the quietest element of a set that counts as seen */

static int compare_down(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	return x > y ? -1 : x < y;
}

/* The number after which n counts, the largest first, fall apart. The ratio of a count to the next is widest there.
 * With `whole`, it may also be all n. */
static uint32_t widest_gap(const uint32_t *v, uint32_t n, bool whole)
{
	double widest = 0;
	uint32_t cut = 0;

	for (uint32_t i = 0; i < n - !whole; i++) {
		double ratio = (v[i] + 1.0) / ((i + 1 < n ? v[i + 1] : 0) + 1.0);
		if (ratio > widest) {
			widest = ratio;
			cut = i + 1;
		}
	}
	return cut;
}

/* Splits the counts at the widest ratio into blocks that miss by conflict and those that miss by noise. Returns the count
 * from which a block conflicts, 0 when noise alone could have made that difference. */
static uint32_t split(struct chase_path *c, unsigned k, const struct chase_ring_spec *ring, uint64_t unit,
		      const uint32_t *count, uint32_t n, double laps)
{
	uint32_t *v = ARENA_ARRAY(study_arena(c->study), n + 1, uint32_t), cut;
	double cold = 0;
	unsigned rounds = (unsigned)ceil(laps);

	if (!v)
		return 0;
	memcpy(v, count, n * sizeof(*v));
	qsort(v, n, sizeof(*v), compare_down);
	cut = widest_gap(v, n, true);
	/* Noise that makes every block miss is no conflict of all of them. */
	const bool noisy = n > 1 && cut == n && v[0] > v[n - 1] * MANY_MORE;
	if (noisy)
		cut = widest_gap(v, n, false);
	uint32_t least = v[cut - 1];
	if (least < HOT_COUNT)
		return 0;
	for (uint32_t i = cut; i < n; i++)
		cold += v[i];
	/* If every block conflicts, only smaller footprints can tell what noise makes; what fits misses for no other
	 * reason. */
	double p = cut < n ? cold / (n - cut) / laps
			   : fmax(chase_noise_most(c, k, ring->bytes), FIT_MORE * c->level[k].fit_missed) *
				 (double)unit / (double)ring->stride;
	if (p >= 0.9)
		return 0;
	uint32_t noise = stat_binomial_limit(rounds, p, JUDGE_CHANCE / n);
	if (cut < n && v[cut] > noise)
		return 0;
	/* Then it takes more than that nothing is known between them. */
	if (noisy && least - p * laps < FAR_MORE * (noise - p * laps))
		return 0;
	return least > noise + 1 ? least : 0;
}

/* Of lines that are fetched in parts, read in any order, most parts find their line there. Read one after the other,
 * all parts of all lines of the set miss in every lap if the least recently used line is replaced. */
static enum chase_state hot_in_order(struct chase_path *c, unsigned k, const struct chase_ring_spec *ring,
				     uint64_t unit, uint32_t *count, uint32_t blocks, bool *hot)
{
	uint32_t n = chase_spec_elements(ring), extra = 0;
	struct chase_ring_spec again = *ring;
	double p[POINT_PARAMS];
	struct chase_run r;

	/* A first level in the SM may be in one piece with shared memory, of which the chase itself takes some. What is
	 * left of its sets would look like all of them. */
	if (!k && !c->beyond_sm)
		return CHASE_UNDECIDED;
	if (n * HOT_IN_ORDER >= INDEX_MOST || n <= HOT_ACCESSES / HOT_IN_ORDER)
		return CHASE_UNDECIDED;
	again.order = 0;
	chase_fit_params(c, k, &again, 2.0 * n, n * HOT_IN_ORDER, p);
	enum chase_state state = chase_get(c, &r, (double)ring->bytes, p);
	if (state != CHASE_DONE)
		return state;
	memset(count, 0, blocks * sizeof(*count));
	if (chase_count_blocks(c, &again, &r, unit, count, &extra))
		return CHASE_UNDECIDED;
	uint32_t least = split(c, k, ring, unit, count, blocks, (double)r.covered / n);
	for (uint32_t i = 0; i < blocks; i++)
		hot[i] = least && count[i] >= least;
	return least ? CHASE_DONE : CHASE_UNDECIDED;
}

/* A stranger's line in a set that the ring fills makes the ring's lines miss, too, until it is replaced. If victims are
 * drawn at random, this takes as many laps as the set has ways, and more. After many laps only the set that is too full
 * misses. */
static enum chase_state hot_late(struct chase_path *c, unsigned k, const struct chase_ring_spec *ring, uint64_t unit,
				 uint32_t *count, uint32_t blocks, bool *hot)
{
	const uint32_t n = chase_spec_elements(ring);
	const double warm = fmin(PATIENCE, floor(LATE_MOST / n)), laps = fmin(LATE_LAPS, floor((INDEX_MOST - 1.0) / n));
	struct chase_ring_spec again = *ring;
	uint32_t extra = 0, least = 0;
	double seen = 0, p[POINT_PARAMS];

	if (warm < LATE_LEAST)
		return CHASE_UNDECIDED;
	memset(count, 0, blocks * sizeof(*count));
	for (unsigned order = 0; order < LATE_ORDERS && !least; order++) {
		struct chase_run r;
		again.order = order;
		chase_fit_params(c, k, &again, warm * n, n * laps, p);
		/* Records would be strangers, too. */
		p[CHASE_PLACE] = 8 * c->sm + (c->quiet_room ? c->quiet_kind : c->kind);
		const enum chase_state state = chase_get(c, &r, (double)ring->bytes, p);
		if (state != CHASE_DONE)
			return state;
		if (chase_count_blocks(c, &again, &r, unit, count, &extra))
			return CHASE_UNDECIDED;
		seen += (double)r.covered / n;
		least = order ? split(c, k, ring, unit, count, blocks, seen) : 0;
	}
	for (uint32_t i = 0; i < blocks; i++)
		hot[i] = least && count[i] >= least;
	return least ? CHASE_DONE : CHASE_UNDECIDED;
}

enum chase_state chase_settles(struct chase_path *c, const struct chase_ring_spec *ring, bool *does)
{
	struct chase_ring_spec again = *ring;
	const double n = chase_spec_elements(ring), most = fmin(LAPS_SETTLE, floor((INDEX_MOST - 1) / n));
	double p[POINT_PARAMS];
	struct chase_run r;

	*does = false;
	if (most < LAPS_SETTLED || chase_untranslated(c, ring))
		return CHASE_DONE;
	again.order = HOT_ORDERS;
	chase_fit_params(c, 0, &again, 2 * n, n * most, p);
	enum chase_state state = chase_get(c, &r, (double)ring->bytes, p);
	*does = state == CHASE_DONE && laps_settle(&r);
	return state;
}

/* Looks at one ring in many orders. */
struct hot_looks {
	const struct chase_ring_spec *ring;
	uint64_t unit;
	uint32_t *count, blocks; /* count: misses of each block */
	bool *hot;
	struct chase_run seen[HOT_THOROUGH];
	unsigned runs;
	double laps; /* of all of them */
};

/* Laps of the next order, after looks of so many; 0: no more of them. */
static double laps_of(const struct chase_path *c, unsigned k, const struct hot_looks *h, unsigned order,
		      unsigned at_least, double laps)
{
	const bool thorough = c->level[k].look == LOOK_THOROUGH;
	const double n = chase_spec_elements(h->ring);
	const struct chase_run *last = h->runs ? &h->seen[h->runs - 1] : NULL;

	if (order >= at_least && h->laps * n > HOT_MOST)
		return 0;
	/* What a few laps do not tell is looked at longer each time. When that gets long, another order tells more than
	 * more laps. More orders also tell more where others' misses fill the records of an order in a few laps. */
	if (order >= HOT_ORDERS && !thorough) {
		if (!k || !last || (order == HOT_ORDERS && last->slow <= last->kept) || h->laps >= HOT_LAPS)
			return 0;
		return order == HOT_ORDERS ? floor((double)last->covered / n) + 1 : laps;
	}
	const bool longer = order >= at_least && 2 * laps * n < INDEX_MOST && 2 * laps <= LAPS_MOST &&
			    (laps < CHASE_PARITY_LAPS || laps * n < HOT_LONG);
	return longer ? 2 * laps : laps;
}

/* Whether the looks so far tell which blocks conflict, or that they never will: then *state is what they say. */
static bool looks_tell(struct chase_path *c, unsigned k, struct hot_looks *h, struct chase_blocks *out,
		       enum chase_state *state)
{
	const struct chase_ring_spec *ring = h->ring;
	const uint32_t least = split(c, k, ring, h->unit, h->count, h->blocks, h->laps);

	if (!least && !k && laps_settle(&h->seen[h->runs - 1])) {
		*state = CHASE_WHY(c->why, "one line more than %llu bytes settles down beside them",
				   (unsigned long long)ring->bytes);
		*out = (struct chase_blocks){.settled = true};
		return true;
	}
	/* What the level above hides would be missing. */
	if (!least && (k || !chase_parity(study_arena(c->study), ring, h->unit, h->seen, h->runs, h->hot)))
		return false;
	c->level[k].lent = c->level[k].lent || (!least && !c->beyond_sm);
	for (uint32_t i = 0; i < h->blocks && least; i++)
		h->hot[i] = h->count[i] >= least;
	*state = CHASE_DONE;
	if (least && laps_spread(h->seen, h->runs, h->hot, h->blocks)) {
		*state =
		    CHASE_WHY(c->why, "one line more than %llu bytes makes more miss in each lap, as stored records do",
			      (unsigned long long)ring->bytes);
		/* Elsewhere they take none. */
		if (c->quiet_room && c->quiet_kind != c->kind)
			*state = hot_late(c, k, ring, h->unit, h->count, h->blocks, h->hot);
	}
	if (*state == CHASE_DONE)
		*out = (struct chase_blocks){h->hot, h->blocks, h->unit};
	return true;
}

static enum chase_state look_hot(struct chase_path *c, unsigned k, const struct chase_ring_spec *ring,
				 struct chase_blocks *out)
{
	const struct chase_level *l = &c->level[k];
	const unsigned at_least = l->look == LOOK_THOROUGH ? HOT_THOROUGH : HOT_AT_LEAST;
	uint64_t unit = chase_fit_unit(l, ring->stride);
	uint32_t n = chase_spec_elements(ring), extra = 0;
	struct hot_looks h = {.ring = ring, .unit = unit, .blocks = (uint32_t)((ring->bytes + unit - 1) / unit)};
	double p[POINT_PARAMS], laps = floor(HOT_ACCESSES / n);
	enum chase_state all = CHASE_DONE;

	h.count = ARENA_ARRAY(study_arena(c->study), h.blocks, uint32_t);
	h.hot = ARENA_ARRAY(study_arena(c->study), h.blocks, bool);
	if (!h.count || !h.hot)
		return CHASE_WHY(c->why, "out of memory");
	if (chase_untranslated(c, ring))
		return CHASE_UNDECIDED;
	laps = laps > 128 ? 128 : laps < 2 ? 2 : laps;
	if (l->look == LOOK_THOROUGH)
		laps = fmax(floor(laps / HOT_PART), HOT_LEAST);
	struct chase_ring_spec again = *ring;
	/* Other orders fill the ways differently, so that a line that a policy never gives up is another one each time. */
	for (again.order = 0; again.order < HOT_THOROUGH && l->look != LOOK_LATE; again.order++) {
		struct chase_run r;
		laps = laps_of(c, k, &h, again.order, at_least, laps);
		if (!(laps > 0))
			break;
		chase_fit_params(c, k, &again, 2.0 * n, n * laps, p);
		enum chase_state state = chase_get(c, &r, (double)ring->bytes, p);
		if (state == CHASE_UNDECIDED)
			return state;
		if (state == CHASE_PENDING) {
			all = state;
			if (again.order + 1 >= at_least)
				return state;
			continue;
		}
		if (chase_count_blocks(c, &again, &r, unit, h.count, &extra))
			return CHASE_WHY(c->why, "out of memory");
		h.laps += (double)r.covered / n;
		h.seen[h.runs++] = r;
		if (again.order + 1 >= at_least && all == CHASE_DONE && looks_tell(c, k, &h, out, &state))
			return state;
	}
	if (all != CHASE_DONE)
		return all;
	all = l->look == LOOK_LATE ? CHASE_UNDECIDED : hot_in_order(c, k, ring, unit, h.count, h.blocks, h.hot);
	if (all == CHASE_UNDECIDED)
		all = hot_late(c, k, ring, unit, h.count, h.blocks, h.hot);
	if (all == CHASE_UNDECIDED)
		return CHASE_WHY(c->why,
				 "which lines conflict with one more than %llu bytes could not be told from noise",
				 (unsigned long long)ring->bytes);
	*out = (struct chase_blocks){h.hot, h.blocks, unit};
	return all;
}

/* What a look at a ring depends on. */
struct hot_key {
	uint64_t start, bytes, stride, extra, unit;
	double floor, noise, fit_noise, fit_missed, fit_at;
	uint32_t order, look, k, chase, kind, quiet_room, sm, unused;
};

struct hot_seen {
	bool told, settled, lent; /* lent: it was told by parities */
	char why[sizeof(((struct chase_path *)0)->why)];
	bool hot[]; /* of each block, where it was told */
};

static void keep_hot(struct chase_path *c, const struct hot_key *key, enum chase_state state, bool lent,
		     uint32_t blocks, const struct chase_blocks *found)
{
	const bool told = state == CHASE_DONE && found->count == blocks;
	const size_t bytes = sizeof(struct hot_seen) + (told ? blocks * sizeof(bool) : 0);
	struct hot_seen *seen = arena_alloc(study_arena(c->study), 1, bytes);

	if (!seen || (state == CHASE_DONE && !told))
		return;
	memset(seen, 0, bytes);
	seen->told = told;
	seen->settled = !told && found->settled;
	seen->lent = lent;
	memcpy(seen->why, c->why, sizeof(seen->why));
	if (told)
		memcpy(seen->hot, found->hot, blocks * sizeof(bool));
	study_keep(c->study, "hot", key, sizeof(*key), seen, bytes);
}

/* Rings in other orders are laid again for each look, so what was seen is kept for the passes to come. */
enum chase_state chase_hot(struct chase_path *c, unsigned k, const struct chase_ring_spec *ring,
			   struct chase_blocks *out)
{
	struct chase_level *l = &c->level[k];
	const uint64_t unit = chase_fit_unit(l, ring->stride);
	const uint32_t blocks = (uint32_t)((ring->bytes + unit - 1) / unit);
	const struct hot_key key = {ring->start, ring->bytes,  ring->stride,  ring->extra,   unit,	  l->floor,
				    l->noise,	 l->fit_noise, l->fit_missed, l->fit_at,     ring->order, l->look,
				    k,		 c->chase,     c->kind,	      c->quiet_room, c->sm,	  0};
	const struct hot_seen *before = study_recall(c->study, "hot", &key, sizeof(key));
	bool *kept = ARENA_ARRAY(study_arena(c->study), blocks, bool);
	if (before && kept) {
		l->lent = l->lent || before->lent;
		memcpy(c->why, before->why, sizeof(c->why));
		if (before->told)
			memcpy(kept, before->hot, blocks * sizeof(*kept));
		*out = before->told ? (struct chase_blocks){kept, blocks, unit}
				    : (struct chase_blocks){.settled = before->settled};
		return before->told ? CHASE_DONE : CHASE_UNDECIDED;
	}
	const bool lent = l->lent;
	l->lent = false;
	*out = (struct chase_blocks){0};
	const enum chase_state state = look_hot(c, k, ring, out);
	if (state != CHASE_PENDING)
		keep_hot(c, &key, state, l->lent, blocks, out);
	l->lent = l->lent || lent;
	return state;
}
