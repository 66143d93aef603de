#include "probe/trace.h"
#include "base/arena.h"
#include "base/rng.h"
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SHARED_MOST 40960u
#define LOADED	    0xfffffu /* bits of what was loaded that a record keeps */
#define PEAK_SHARE  0.01
#define FITS_SHARE  0.1
#define MORE_SHARE  0.05
#define PART_SHARE  0.02 /* of the accesses that one part of what lies behind a level answers */
#define NEAR_SHARE  0.3
#define HIT_NEAR    0.35 /* of a level's distance to its neighbours: how far a hit may be from where it should be */
#define FAR_STEP    120
#define LATE_NEAR   0.6 /* of the way from a hit to a miss */
#define LATE_FEW    1
#define LATE_SHARE  0.03
#define APART_SHARE 0.04 /* of what fits that one kind of line has */
#define TOLD	    0.7	 /* of what is seen often has to be a hit or a miss */
#define COST_NEAR   0.2	 /* of a miss's cost: how far what is seen may be from what is known */

/* Accesses of one chunk. */
static uint32_t chunk_of(const struct device_info *d, const struct trace_kernel *k)
{
	uint32_t room = chase_room(d, true);
	uint64_t all = d->shared_per_block > CHASE_SHARED_SPARE ? d->shared_per_block - CHASE_SHARED_SPARE : 0;

	all = all < SHARED_MOST ? all : SHARED_MOST;
	return k->roomy && all / 4 > room ? (uint32_t)(all / 4) : room;
}

int trace_setup(const struct study *s, struct job *j, const struct trace_kernel *k, const struct trace_spec *t)
{
	const struct device_info *d = study_device(s);
	bool constant = k->load.symbol != NULL, wide = !constant && !k->load.texture;
	uint32_t *words = ARENA_ARRAY(j->arena, (size_t)t->places + t->count, uint32_t), chunk = chunk_of(d, k);
	struct launch *l = &j->launch;
	char load[96];

	if (!words)
		return -ENOMEM;
	if (chunk < 64 || !t->count)
		return -ENOTSUP;
	/* A level in one piece with shared memory is as small in every trace as it was in a chase. */
	l->shared_bytes = chunk * 4;
	chunk = chunk < t->count ? chunk : t->count;
	memcpy(words, t->place, t->places * sizeof(*words));
	memcpy(words + t->places, t->at, t->count * sizeof(*words));
	uint64_t bytes = (t->bytes + 255) / 256 * 256;
	uint32_t token =
	    t->far ? (uint32_t)hash64(words, ((size_t)t->places + t->count) * sizeof(*words), t->bytes) >> 1 | 1 : 0;
	j->template_path = k->template_path;
	snprintf(l->entry, sizeof(l->entry), "trace");
	snprintf(load, sizeof(load),
		 k->load.texture ? "%s {%%p, %%other0, %%other1, %%other2}, [%%image, {%%p}]" : "%s %%p, [%%p]",
		 k->load.name);
	job_param_text(j, "LOAD", load);
	job_param(j, "TEXTURE", k->load.texture);
	job_param(j, "WIDE", wide);
	job_param(j, "NEVER", -1);
	job_param(j, "SHIFT", t->shift);
	job_param(j, "WRITE", !constant);
	job_param(j, "TOKEN", token);
	job_param(j, "MARK", (long long)bytes);
	job_param_text(j, "STORE", d->cc >= 20 ? "st.global.cg.u32" : "st.global.u32");
	job_param_text(j, "FETCH", d->cc >= 20 ? "ld.global.cg.u32" : "ld.volatile.global.u32");
	if (constant)
		job_param(j, "SIZE", (long long)k->load.space_bytes);
	l->block[0] = l->block[1] = l->block[2] = 1;
	l->carveout = CARVEOUT_MAX_L1;
	l->flush = true;
	l->warmups = t->far;
	job_output(j, TRACE_HEAD + t->count);
	job_pin(j, d, t->sm);
	uint32_t b = l->buffer_count++;
	const uint64_t given = ((uint64_t)t->places + t->count) * 4;
	l->buffers[b] =
	    (struct launch_buffer){.space = BUFFER_GLOBAL, .bytes = given, .init = words, .init_bytes = given};
	job_arg_buffer(j, b, 0);
	if (constant) {
		uint64_t *ring = ARENA_ARRAY(j->arena, t->places, uint64_t);
		if (!ring)
			return -ENOMEM;
		for (uint32_t i = 0; i < t->places; i++) {
			ring[i] = (uint64_t)t->place[i] << t->shift;
			if (ring[i] + 4 > k->load.space_bytes || (i && t->place[i] <= t->place[i - 1]))
				return -ENOTSUP;
		}
		job_ring(j, BUFFER_CONSTANT, k->load.symbol, k->load.space_bytes, ring, t->places, 4);
	} else {
		uint32_t data = l->buffer_count++;
		l->buffers[data] = (struct launch_buffer){
		    .space = BUFFER_GLOBAL, .bytes = bytes + (t->far ? 256 : 0), .align = t->align, .as_is = true};
		job_arg_buffer(j, data, 0);
		if (k->load.texture) {
			if (t->bytes / CHASE_TEXEL > 1u << 27)
				return -ENOTSUP;
			job_texture(j, data, l->buffers[data].bytes / CHASE_TEXEL);
			job_arg_texture(j, 0);
		}
	}
	job_arg_u32(j, t->places);
	job_arg_u32(j, t->count);
	job_arg_u32(j, chunk);
	/* Region 0 is one timed access: the load, a comparison and a branch. */
	j->check.cls = k->load.class;
	j->check.region = 0;
	j->check.min = j->check.max = 1;
	j->check.others = 12;
	return 0;
}

/* What lies at a place: its own number, or in constant memory where the next one is. */
static uint32_t content(const struct trace_kernel *k, const struct trace_spec *t, uint32_t place)
{
	uint32_t lo = 0, hi = t->places;

	if (!k->load.symbol)
		return place & LOADED;
	while (hi - lo > 1) {
		uint32_t mid = lo + (hi - lo) / 2;
		*(t->place[mid] <= place ? &lo : &hi) = mid;
	}
	return (uint32_t)((uint64_t)t->place[(lo + 1) % t->places] << t->shift) & LOADED;
}

bool trace_read(const struct point *pt, const struct trace_kernel *k, const struct trace_spec *t, uint32_t *ticks,
		char *why, size_t why_bytes)
{
	if (pt->outcome != OUTCOME_OK || pt->words_per_repeat < TRACE_HEAD + t->count || pt->y[2] != t->count)
		return chase_why(why, why_bytes, "a trace of %u accesses came back %s%s%.120s", t->count,
				 outcome_name(pt->outcome), pt->message[0] ? ": " : "", pt->message);
	for (uint32_t i = 0; i < t->count; i++) {
		uint32_t r = pt->y[TRACE_HEAD + i];
		if (r >> 12 != content(k, t, t->at[i]))
			return chase_why(why, why_bytes, "access %u of a trace loaded what does not lie at its place",
					 i);
		ticks[i] = r & CHASE_CAP;
	}
	return true;
}

/* ---- classes ---- */

/* Ticks within which two accesses may be of one class; less where levels are nearer to each other than a clock is usually exact. */
static double reach(const struct trace_classes *c, double ticks)
{
	return fmin(1.5 + 1.25 * c->grain + 0.008 * ticks, c->narrow);
}

/* The densest places, one after the other, each beyond the reach of those before. */
static unsigned peaks_of(const struct trace_classes *c, const uint32_t *v, uint32_t n, double min_share,
			 struct chase_peak *out)
{
	uint32_t count[CHASE_CAP + 1] = {0}, g = (uint32_t)c->grain;
	unsigned found = 0;

	for (uint32_t i = 0; i < n; i++)
		count[v[i] < CHASE_CAP ? v[i] : CHASE_CAP]++;
	while (found < TRACE_PEAKS) {
		uint32_t best = 0, at = 0, sum = 0;
		for (uint32_t t = 0; t <= CHASE_CAP; t++) {
			sum = 0;
			for (uint32_t k = t < g ? 0 : t - g; k <= t + g && k <= CHASE_CAP; k++)
				sum += count[k];
			bool near = false;
			for (unsigned i = 0; i < found && !near; i++)
				near = fabs(out[i].centre - t) <= 2 * reach(c, t);
			/* In the middle of what is as dense. */
			if (!near && (sum > best || (sum == best && count[t] > count[at]))) {
				best = sum;
				at = t;
			}
		}
		if (!best || best < min_share * n)
			break;
		out[found++] = (struct chase_peak){at, (double)best / n};
	}
	return found;
}

static int descending(const void *a, const void *b)
{
	double x = ((const struct chase_peak *)a)->centre, y = ((const struct chase_peak *)b)->centre;
	return (x < y) - (x > y);
}

/* What is slower than every class: a late miss, where hits that are late are never nearly as late as a miss. */
static enum trace_class late_class(const struct trace_classes *c, const uint32_t *all, uint32_t n)
{
	/* What is slower than the floor is a miss in a nearer part. */
	double from = c->hit + reach(c, c->hit), to = fmin(c->miss - reach(c, c->miss), c->floor),
	       near = from + LATE_NEAR * (to - from);
	uint32_t late = 0, nearly = 0;

	for (uint32_t i = 0; i < n; i++) {
		late += all[i] > from && all[i] < to;
		nearly += all[i] > near && all[i] < to;
	}
	return nearly <= LATE_FEW + LATE_SHARE * late ? TRACE_MISS : TRACE_UNSURE;
}

/* Ticks from which an access is nearer to a miss than to a late hit. */
static double nearly_missed(const struct trace_classes *c)
{
	return c->hit + LATE_NEAR * (c->miss - c->hit);
}

/* The ticks from which on an access is a miss. Parts of what lies behind the level answer at several distances, and
 * rows of a memory are open or not. The nearest of these is taken if next to nothing of `fits` is as slow. What is
 * driven out there meanwhile may be in either part. */
static double nearest_miss(const struct trace_classes *c, const struct trace_level *l, struct trace_part fits)
{
	/* Seen while the clock was faster, it takes less at other times. */
	const double usual = c->miss / (1 + l->swing);
	/* At first all that misses may come from farther than what is next. */
	const double nearly = fmin(nearly_missed(c), l->below > 0 ? c->hit + LATE_NEAR * l->below : INFINITY);
	double floor = c->floor;
	uint32_t slow = 0, gone = 0;

	if (l->swing > 0 && usual >= nearly)
		floor = fmin(floor, usual - reach(c, usual));
	for (unsigned i = 0; i < c->peaks; i++) {
		double from = c->peak[i].centre - reach(c, c->peak[i].centre);
		if (c->peak[i].centre >= nearly && c->peak[i].share >= PART_SHARE)
			floor = fmin(floor, from);
	}
	for (uint32_t i = 0; i < fits.count; i++) {
		slow += fits.ticks[i] >= floor && fits.ticks[i] < c->floor;
		gone += fits.ticks[i] >= c->floor;
	}
	return slow <= LATE_FEW + LATE_SHARE * fits.count + gone ? floor : c->floor;
}

/* Ticks that the nearest level takes. */
static double nearest_hit(const struct trace_classes *c, struct trace_part nearest)
{
	struct chase_peak peak[TRACE_PEAKS];

	return peaks_of(c, nearest.ticks, nearest.count, NEAR_SHARE, peak) ? peak[0].centre : NAN;
}

bool trace_classify(struct trace_classes *c, const struct trace_level *l, struct trace_part nearest,
		    struct trace_part fits, struct trace_part more, struct trace_part all)
{
	struct chase_peak low[TRACE_PEAKS], high[TRACE_PEAKS];
	double step = fmin(l->above > 0 ? l->above : INFINITY, l->below > 0 ? l->below : INFINITY);

	*c = (struct trace_classes){.grain = l->grain >= 1 ? l->grain : 1, .late = TRACE_UNSURE, .first = l->first};
	c->narrow = fmax(0.5 + c->grain, 0.3 * step);
	const double hit = nearest_hit(c, nearest) + l->deep;
	unsigned lows = peaks_of(c, fits.ticks, fits.count, FITS_SHARE, low);
	unsigned highs = peaks_of(c, more.ticks, more.count, l->few > 0 ? l->few : MORE_SHARE, high);
	c->peaks = peaks_of(c, all.ticks, all.count, PEAK_SHARE, c->peak);
	qsort(low, lows, sizeof(*low), descending);
	qsort(high, highs, sizeof(*high), descending);
	/* The slowest of what fits that something slower is seen beyond: the lines that do not fit. */
	for (unsigned i = 0; i < lows; i++) {
		double near = reach(c, low[i].centre), gap = fmax(2 * near, l->below > 0 ? 0.4 * l->below : 4 * near);
		if (isfinite(hit) &&
		    fabs(low[i].centre - hit) > l->spread + 2 + fmax(near, HIT_NEAR * fmin(step, FAR_STEP)))
			continue;
		for (unsigned k = highs; k-- > 0;) {
			if (high[k].centre < low[i].centre + gap)
				continue;
			c->hit = low[i].centre;
			c->miss = high[k].centre;
			c->faster = c->miss * (1 + l->swing) + (l->swing > 0 ? reach(c, c->miss) : 0);
			c->floor = chase_floor(c->hit, c->miss);
			c->floor = nearest_miss(c, l, fits);
			c->above = l->above > 0 ? c->hit - 0.5 * l->above : 0;
			c->late = late_class(c, all.ticks, all.count);
			return true;
		}
	}
	return false;
}

static bool is_near(const struct trace_classes *c, double ticks, const struct chase_peak *peak, unsigned peaks)
{
	for (unsigned i = 0; i < peaks; i++)
		if (fabs(ticks - peak[i].centre) <= reach(c, ticks))
			return true;
	return false;
}

/* How much of what only what does not fit has is later than something that fits by a cost. */
static double explained_by(const struct trace_classes *c, double cost, const struct chase_peak *low, unsigned lows,
			   const struct chase_peak *high, unsigned highs)
{
	double share = 0;

	for (unsigned k = 0; k < highs; k++)
		if (!is_near(c, high[k].centre, low, lows) && is_near(c, high[k].centre - cost, low, lows))
			share += high[k].share;
	return share;
}

/* Ticks that a miss takes beyond a hit: from a peak of what fits to one that only what does not fit has. As near as can be to what is
 * known; where nothing is, what explains most of those, and the least there are where several do. NAN: none. */
static double cost_of(const struct trace_classes *c, double known, const struct chase_peak *low, unsigned lows,
		      const struct chase_peak *high, unsigned highs)
{
	double best = NAN, most = 0;

	for (unsigned k = 0; k < highs; k++) {
		const double near = reach(c, high[k].centre);
		if (is_near(c, high[k].centre, low, lows))
			continue;
		for (unsigned i = 0; i < lows; i++) {
			const double d = high[k].centre - low[i].centre;
			if (d <= 2 * near || (known > 0 && fabs(d - known) > near + COST_NEAR * known))
				continue;
			const double all = known > 0 ? 0 : explained_by(c, d, low, lows, high, highs);
			if (!isfinite(best) || all > most ||
			    (all == most && (known > 0 ? fabs(d - known) < fabs(best - known) : d < best))) {
				best = d;
				most = all;
			}
		}
	}
	return best;
}

bool trace_classify_apart(struct trace_classes *c, const struct trace_level *l, struct trace_part fits,
			  struct trace_part more, struct trace_part all)
{
	struct chase_peak low[TRACE_PEAKS], high[TRACE_PEAKS];
	double told = 0, seen = 0;

	*c = (struct trace_classes){.grain = l->grain >= 1 ? l->grain : 1, .late = TRACE_UNSURE};
	c->narrow = fmax(0.5 + c->grain, 0.3 * (l->below > 0 ? l->below : INFINITY));
	const unsigned lows = peaks_of(c, fits.ticks, fits.count, APART_SHARE, low),
		       highs = peaks_of(c, more.ticks, more.count, l->few > 0 ? l->few : MORE_SHARE, high);
	c->peaks = peaks_of(c, all.ticks, all.count, PEAK_SHARE, c->peak);
	const double cost = cost_of(c, l->below, low, lows, high, highs);
	if (!isfinite(cost))
		return false;
	/* What is as much later than another one may be a miss where all should fit. */
	c->hit = INFINITY;
	for (unsigned i = 0; i < lows; i++)
		if (!is_near(c, low[i].centre - cost, low, lows)) {
			c->hit_at[c->hits++] = low[i].centre;
			c->hit = fmin(c->hit, low[i].centre);
		}
	c->miss = c->hit + cost;
	c->floor = chase_floor(c->hit, c->miss);
	for (unsigned i = 0; i < c->peaks; i++) {
		const enum trace_class is = trace_class_of(c, (uint32_t)c->peak[i].centre);
		seen += is == TRACE_ABOVE ? 0 : c->peak[i].share;
		told += is == TRACE_HIT || is == TRACE_MISS ? c->peak[i].share : 0;
	}
	return told >= TOLD * seen;
}

static enum trace_class class_apart(const struct trace_classes *c, double ticks)
{
	const double near = reach(c, ticks), cost = c->miss - c->hit;
	bool hit = false, miss = false;

	if (ticks < c->above)
		return TRACE_ABOVE;

	for (unsigned i = 0; i < c->hits; i++) {
		hit = hit || fabs(ticks - c->hit_at[i]) <= near;
		miss = miss || fabs(ticks - c->hit_at[i] - cost) <= near;
	}
	return hit == miss ? TRACE_UNSURE : hit ? TRACE_HIT : TRACE_MISS;
}

enum trace_class trace_class_of(const struct trace_classes *c, uint32_t ticks)
{
	if (c->hits)
		return class_apart(c, ticks);
	for (unsigned i = 0; i < c->peaks; i++)
		if (fabs(ticks - c->peak[i].centre) <= reach(c, ticks))
			return c->peak[i].centre >= c->floor	      ? TRACE_MISS
			       : c->peak[i].centre < c->above	      ? TRACE_ABOVE
			       : c->peak[i].centre < nearly_missed(c) ? TRACE_HIT
								      : TRACE_UNSURE;
	if (ticks >= c->floor && ticks < fmax(c->miss, c->faster))
		return TRACE_MISS;
	if (ticks < c->above)
		return TRACE_ABOVE;
	/* Nothing is ever early: what is faster than a miss, if not as fast as usual, is a late hit. */
	if (ticks < c->miss)
		return ticks < c->hit && !c->first ? TRACE_UNSURE : TRACE_HIT;
	return c->late;
}
