/* Latency of one level on one SM. */
#include "base/arena.h"
#include "probe/chase_chain.h"
#include "probe/chase_lag.h"
#include "probe/chase_parts.h"
#include "stat/stat.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COARSE	    2	/* cycles that the clock may count at once where accesses of other levels do not matter */
#define CUT_MOST    0.5 /* cycles that its steps may have taken off more from one level than from another */
#define CUT_BOOSTED 1	/* the same where it is the most that they can */
#define LONE_LINES  32
#define PURE	    0.999 /* share of one class from which an average over laps is that class */
#define ALONE	    0.9	  /* of one line that is asked for again and again: what noise delays is left out */
#define SAMPLED	    1500
#define LAST_SHARE  0.25
#define ABOVE_MOST  0.2		    /* share of levels above in a footprint that is not for them */
#define UNDELAYED   0.25	    /* share of first touches */
#define FAR_FROM    (1024.0 * 1024) /* bytes from which a smaller footprint that does as well is worth having */
#define COLD_RING   2048.0
#define FEW_LINES   64.0
#define MANY_LINES  1024.0 /* of a cache too large to be taken apart: the mean needs many of its lines */
#define FILLED	    1.5	   /* of the level above, so that hardly any of it is still there when it comes again */
#define LINE_SURE   128	   /* bytes at once: pieces of rows are longer */
#define LINE_MOST   1024   /* where the line is not known: surely other lines */

/* Mean of what the usual clock makes of one latency: the faster of the two groups that a clock with two rates leaves. What is slower than
 * the faster rate explains is another part of the level, if it is not few, and parts count the same. */
static double usual_mean(const struct chase_path *c, double *v, size_t n, double *scratch, size_t *counted)
{
	double sum = 0, parts = 0;

	qsort(v, n, sizeof(*v), stat_compare_double);
	for (size_t at = 0, used; at < n && (at == 0 || (double)(n - at) > CHASE_ALIKE * (double)n);) {
		const double least = v[at + (n - at) / 8];
		size_t usual = at, end;
		while (usual < n && v[usual] <= least * (1 + c->swing / 3) + c->grain)
			usual++;
		for (end = usual; end < n && v[end] <= least * (1 + c->swing) + 2.5 + 2 * c->grain;)
			end++;
		sum += stat_trimmed_mean(v + at, usual - at, 4, 1.5 + c->grain, scratch, &used);
		*counted += used;
		parts++;
		at = end;
	}
	return sum / parts;
}

static int compare_access(const void *a, const void *b)
{
	const double *x = a, *y = b;
	if (x[0] != y[0])
		return x[0] < y[0] ? -1 : 1;
	return x[1] < y[1] ? -1 : x[1] > y[1];
}

static double mean_between(const double *v, size_t n, double lo, double hi)
{
	double sum = 0, of = 0;

	for (size_t i = 0; i < n; i++)
		if (v[i] >= lo && v[i] <= hi) {
			sum += v[i];
			of++;
		}
	return sum / of;
}

/* Accesses that one level served. */
struct served {
	double mean;   /* ticks */
	double share;  /* of all */
	double lag;    /* cycles of a turn of the loop beyond what its accesses say, over all of them */
	double apart;  /* of that, by the difference of two chases, from what the longer one alone says */
	double usual;  /* share of those that the mean is of */
	double astray; /* cycles that the mean may be off where a faster clock adds too little to be told */
	double
	    before; /* cycles of a turn that may be other accesses' delays: nobody recorded the first ones, which may have met more or fewer */
};

/* Mean ticks of the accesses that this level served, and their share of all. Lines may differ, as where a level has a near
 * and a far part, so the mean is of the lines' means; inside a line, what jitter delayed is left out. */
static enum chase_state class_get(struct chase_path *c, unsigned k, double footprint, uint64_t stride, bool cold,
				  bool brief, uint32_t sm, struct served *out, struct chase_latency *lines)
{
	const struct chase_level *l = &c->level[k];
	double n = ceil(footprint / (double)stride), p[POINT_PARAMS] = {0};
	/* Half way from the level above: another SM may be nearer to this level than the one that the floor was found on. */
	double lo = k ? (c->classes[c->level[k - 1].class_last].centre + c->classes[l->class_first].centre) / 2 : 0;
	double hi = l->floor > 0 ? l->floor : CHASE_CAP;
	struct chase_run r;

	p[CHASE_STRIDE] = (double)stride;
	uint32_t room = c->quiet_room ? c->quiet_room : c->room;
	const uint32_t most = brief ? CHASE_BRIEF : SAMPLED;
	p[CHASE_TIMED] = (room < most ? room : most) - (cold ? c->again : 0);
	/* Of a ring that is longer than what is timed each SM times another piece: where ways differ in length, one piece alone would be a
	 * few of them. */
	p[CHASE_WARM] = cold			  ? 0
			: k && n > p[CHASE_TIMED] ? (1 + c->again) * n + fmod(sm * p[CHASE_TIMED], n)
						  : (2 + c->again) * n;
	p[CHASE_PLACE] = 8.0 * sm + (c->quiet_room ? c->quiet_kind : c->kind);
	enum chase_state state = chase_get(c, &r, footprint, p);
	if (state != CHASE_DONE)
		return state;
	double(*v)[2] = (double(*)[2])ARENA_ARRAY(study_arena(c->study), 2 * (size_t)r.kept + 2, double);
	double *own = ARENA_ARRAY(study_arena(c->study), 3 * (size_t)r.kept + 3, double);
	uint32_t *whole = ARENA_ARRAY(study_arena(c->study), r.kept + 1, uint32_t);
	if (!v || !own || !whole) {
		snprintf(c->why, sizeof(c->why), "out of memory");
		return CHASE_UNDECIDED;
	}
	size_t m = 0, used, groups = 0, counted = 0;
	double *means = own + 2 * (size_t)r.kept + 2, sum = 0;
	for (uint32_t i = 0; i < r.kept; i++) {
		double t = chase_ticks(r.record[i]);
		if (t >= lo && t < hi) {
			v[m][0] = chase_at(p, r.elements, chase_index(r.record[i]));
			v[m++][1] = t;
		}
	}
	out->share = r.kept ? (double)m / r.kept : 0;
	if (chase_lag(c, footprint, p, &r, !brief, &out->lag, &out->apart) == CHASE_PENDING)
		return CHASE_PENDING;
	if (m < 32) {
		snprintf(c->why, sizeof(c->why), "only %zu of %u accesses over %.0f bytes were of this level", m,
			 r.kept, footprint);
		return CHASE_UNDECIDED;
	}
	/* What is behind all levels serves a footprint beyond them; the few that are slower than the rest may be delayed. */
	if (k && l->floor <= 0 && out->share < LAST_SHARE) {
		snprintf(c->why, sizeof(c->why),
			 "only %zu of %u accesses over %.0f bytes were as slow as the slowest group", m, r.kept,
			 footprint);
		return CHASE_UNDECIDED;
	}
	bool by_line = m >= 6.0 * r.elements;
	qsort(v, m, sizeof(*v), compare_access);
	for (size_t i = 0, to; i < m; i = to) {
		for (to = i; to < m && (!by_line || v[to][0] == v[i][0]); to++)
			own[to - i] = v[to][1];
		if (to - i < 4)
			continue;
		means[groups++] = c->swing > 0
				      ? usual_mean(c, own, to - i, own + (to - i), &counted)
				      : stat_trimmed_mean(own, to - i, 4, 1.5 + c->grain, own + (to - i), &used);
	}
	if (!groups) {
		snprintf(c->why, sizeof(c->why), "too few accesses over %.0f bytes were of this level", footprint);
		return CHASE_UNDECIDED;
	}
	for (size_t i = 0; i < groups; i++)
		sum += means[i];
	out->mean = sum / (double)groups;
	out->usual = (double)counted / r.kept;
	if (!by_line) {
		struct chase_parts parts;
		for (size_t i = 0; i < m; i++)
			own[i] = v[i][1];
		const bool apart = chase_parts_of(own, m, c->grain, own + m, whole, &parts);
		if (apart && !(c->swing > 0)) {
			out->mean = parts.mean;
		} else if (apart && (chase_take_turns(&r, &parts) || chase_beyond_swing(&parts, c->swing, c->grain))) {
			out->mean = parts.mean;
			out->usual = (double)parts.counted / r.kept;
		}
	}
	/* First touches may wait for translations, rows and refreshes, in step with the chase: the fastest of them did not. */
	struct stat_mode undelayed[CHASE_PARTS];
	for (size_t i = 0; i < m; i++)
		own[i] = v[i][1];
	if (cold && stat_modes(own, m, 2.5 + c->grain, UNDELAYED, undelayed, CHASE_PARTS, own + m) > 1) {
		out->mean = c->grain > 1 ? mean_between(own, m, undelayed[0].lo, undelayed[0].hi) : undelayed[0].centre;
		out->usual = fmin(out->usual, (double)undelayed[0].count / r.kept);
	}
	if (lines && by_line) {
		struct stat_mode mode[CHASE_PARTS + 1] = {{0}};
		lines->parts =
		    (unsigned)stat_modes(means, groups, 2.5 + c->grain / 2.0, 0.1, mode, CHASE_PARTS + 1, own);
		bool wide = false;
		/* Where a lap is a whole number of a coarse clock's steps, each line loses the same part of one every time, and what most
		 * of them lose is not what they lose on average. */
		for (unsigned i = 0; i < lines->parts && c->grain > 1; i++)
			mode[i].centre = mean_between(means, groups, mode[i].lo, mode[i].hi);
		/* Two parts are alike, and which lines were met is chance. */
		const double one = (double)mode[0].count / (double)groups,
			     other = (double)mode[1].count / (double)groups;
		if (lines->parts == 2 && one > CHASE_ALIKE && other > CHASE_ALIKE)
			out->mean = (mode[0].centre + mode[1].centre) / 2;
		/* Few lines of the memory that take longer than most wait, lap after lap: for refreshes that are in step with the laps. */
		else if (lines->parts == 2 && one > CHASE_ALIKE && k && l->floor <= 0 && !c->cold_slower) {
			out->mean = mean_between(means, groups, mode[0].lo, mode[0].hi);
			out->usual *= one;
		}
		for (unsigned i = 0; i < lines->parts && i < CHASE_PARTS; i++) {
			lines->part[i] = mode[i].centre - out->mean;
			lines->part_share[i] = (double)mode[i].count / (double)groups;
			/* A wide group is many ways of different length, run together. */
			if (mode[i].hi - mode[i].lo > 6 + 2.0 * c->grain)
				wide = true;
		}
		if (wide)
			lines->parts = CHASE_PARTS + 1;
	}
	out->astray = out->before = 0;
	if (brief) {
		double delayed = 0;
		for (size_t i = 0; i < m; i++)
			delayed += v[i][1] - out->mean;
		out->before = fabs(delayed) / r.kept * CHASE_PRE / (r.timed + CHASE_PRE);
	}
	if (c->swing > 0 && c->grain > 1) {
		const double reach = 1.5 + c->grain;
		size_t near = 0;
		for (size_t i = 0; i < m; i++)
			near += fabs(v[i][1] - out->mean) <= reach;
		/* The mean of several parts is near none of them. */
		out->astray = 2 * near > m ? chase_unsteady(&r, out->mean - reach, out->mean + reach, own)
					   : chase_unsteady(&r, lo, hi, own);
	}
	return CHASE_DONE;
}

/* A footprint that this level serves, and as few others as possible. */
static double served_by(const struct chase_path *c, unsigned k)
{
	const struct chase_level *l = &c->level[k];
	double stride = (double)c->stride, top = (double)(c->limit / c->stride) * stride;

	/* All of a large cache takes long, and the first SAMPLED accesses alone are timed: any part that mostly leaves the levels
	 * above does as well, because what those serve is left out. Some accesses are of no class, where latencies vary. */
	for (unsigned i = 0; c->cold_slower && k && l->floor <= 0 && top > FAR_FROM && i < c->survey_count; i++) {
		double mine = 0, above = 0;
		for (unsigned q = 0; q <= l->class_last; q++)
			*(q < l->class_first ? &above : &mine) += c->survey[i].share[q];
		if (above < ABOVE_MOST && mine > LAST_SHARE)
			return c->survey[i].footprint;
	}
	if (l->floor <= 0)
		return top;
	double size = l->size.state == CHASE_DONE ? (double)l->size.value : 0;
	if (!(size > 0)) {
		/* Size unknown: where the survey showed it purest. */
		double best = 0, best_share = 0;
		for (unsigned i = 0; i < c->survey_count; i++) {
			double mine = 0;
			for (unsigned q = l->class_first; q <= l->class_last; q++)
				mine += c->survey[i].share[q];
			if (mine > best_share) {
				best_share = mine;
				best = c->survey[i].footprint;
			}
		}
		return best;
	}
	if (!k)
		return floor(size / 2 / stride) * stride >= stride ? floor(size / 2 / stride) * stride : stride;
	return size > top ? top : size;
}

/* Groups of lines by rings of one line each: exact where a coarse clock blurs single accesses. */
static enum chase_state parts_by_lines(struct chase_path *c, uint64_t stride, uint32_t sm, struct chase_latency *out)
{
	double v[LONE_LINES] = {0}, scratch[LONE_LINES], mean = 0;
	enum chase_state all = CHASE_DONE;

	for (unsigned i = 0; i < LONE_LINES; i++) {
		struct chase_lap one = {0};
		enum chase_state state =
		    chase_lap(c, i * (double)stride, (double)c->stride, c->stride, false, 8, sm, &one);
		if (state == CHASE_UNDECIDED)
			return state;
		v[i] = one.cycles;
		if (state == CHASE_PENDING)
			all = state;
		else
			mean += v[i] / LONE_LINES;
	}
	if (all != CHASE_DONE)
		return all;
	struct stat_mode mode[CHASE_PARTS + 1];
	out->parts = (unsigned)stat_modes(v, LONE_LINES, 2.5, 0.1, mode, CHASE_PARTS + 1, scratch);
	for (unsigned i = 0; i < out->parts && i < CHASE_PARTS; i++) {
		out->part[i] = mode[i].centre - mean;
		out->part_share[i] = (double)mode[i].count / LONE_LINES;
	}
	return CHASE_DONE;
}

/* Cycles of an access. The same loop ran in both, so what it took beyond its accesses is what the clock's steps cut off, on average of all
 * accesses. */
static double single_of(const struct chase_path *c, const struct served *all, const struct served *one, double one_lap)
{
	return all->mean - (one->mean - one_lap) + (c->grain > 1 ? all->lag - one->lag : 0);
}

/* How far off that may be: accesses of other levels may have lost another part of a step, either way, and so may those that met a faster
 * clock. */
static double cut_off(struct chase_path *c, double step, const struct served *all, const struct served *one,
		      double one_lap)
{
	double faster;

	if (!(c->swing > 0))
		return 2 * (step - 1) * (2 - all->share - one->share);
	study_swing_from(c->study, &faster);
	return 2 * (step - 1) * (2 - all->usual - one->usual) + all->before + one->before +
	       (faster * single_of(c, all, one, one_lap) > 3 * step ? 0 : all->astray) +
	       (faster * one_lap > 3 * step ? 0 : one->astray);
}

/* The same of a smaller footprint that the level above does not hold either, where this level does not serve all of it: what shares the
 * level, as the code does that is running, takes lines of a full one, and what it then waits for is in no access's time but in the loop's.
 * Where nobody asked for it, as in an older recording, the larger one has to do. */
static enum chase_state purer(struct chase_path *c, unsigned k, double *footprint, uint64_t stride, uint32_t sm,
			      struct served *all, struct chase_latency *lines)
{
	const struct chase_level *l = &c->level[k];

	if (!k || all->share >= PURE || l->floor <= 0 || l->size.state != CHASE_DONE || l[-1].size.state != CHASE_DONE)
		return CHASE_DONE;
	const double above = (double)l[-1].size.value, least = above + 2 * (double)l[-1].sector.value,
		     half = floor((above + *footprint) / 2 / (double)stride) * (double)stride;
	if (half < FILLED * above || half < least || half >= *footprint)
		return CHASE_DONE;
	struct chase_latency other = *lines;
	struct served less;
	char why[sizeof(c->why)];
	memcpy(why, c->why, sizeof(why));
	const enum chase_state state = class_get(c, k, half, stride, false, false, sm, &less, &other);
	memcpy(c->why, why, sizeof(why));
	if (state == CHASE_DONE && less.share > all->share) {
		*all = less;
		*lines = other;
		*footprint = half;
	}
	return state;
}

/* Whether turns of the loop, of which other levels serve some, take longer than the steps of the clock can hide, of which either end of an access
 * and of one beside it loses less than one: something else is waited for. */
static bool beyond_steps(const struct chase_path *c, const struct served *all, const struct served *one)
{
	return c->grain > 1 && all->share < PURE && fabs(all->lag - one->lag) >= 2.0 * c->grain;
}

enum chase_state chase_latency(struct chase_path *c, unsigned k, uint32_t sm, struct chase_latency *out)
{
	double footprint = served_by(c, k), fetched = 0;
	struct chase_lap lap = {0}, one_chain = {0};
	struct served all, one;
	uint64_t stride = c->stride;
	enum chase_state state[4] = {CHASE_DONE, CHASE_DONE, CHASE_DONE, CHASE_DONE};
	/* Beyond the SM, stalls are part of life: short chains sometimes escape them. */
	bool outside = c->level_count == 1 || c->beyond_sm;
	/* Either end of a chain loses up to a step of the clock: the longer it is, the less of that is a load's. */
	unsigned one_loads = c->grain > 2 || (c->grain > 1 && c->swing > 0) ? 8 : c->grain > 1 ? 4 : 2;

	*out = (struct chase_latency){.clock = NAN, .value = NAN};
	enum chase_state known =
	    !outside ? chase_chain_near(c, &one_loads, &fetched) : chase_chain_far(c, sm, &one_loads, &fetched);
	if (known != CHASE_DONE)
		return known;
	/* Every access must leave what the level above fetched at once. */
	if (k && c->level[k - 1].sector.state == CHASE_DONE) {
		stride = chase_step(c, k, c->level[k - 1].sector.value, footprint);
		if (c->grain > 1)
			stride = c->level[k - 1].sector.value;
	} else if (!k && c->beyond_sm && (c->level[0].floor > 0 || c->cold_slower)) {
		/* A few whole lines: each is timed often enough to be known by itself. */
		stride = c->level[0].line.state == CHASE_DONE ? c->level[0].line.value : LINE_MOST;
		footprint = (c->level[0].floor > 0 ? FEW_LINES : MANY_LINES) * (double)stride;
	} else if (!k && c->level[0].class_first < c->level[0].class_last && footprint < FEW_LINES * (double)stride) {
		/* Groups of lines with latencies of their own: a few lines do not stand for them. */
		footprint = FEW_LINES * (double)stride;
	}
	/* A ring that is longer than the chase, from empty caches: nothing but memory answers. */
	bool cold = !(c->level[k].floor > 0) && !c->cold_slower && c->cold > c->classes[0].centre &&
		    footprint / (double)stride >= COLD_RING;
	/* No level keeps anything of it, so every step may leave what the last level fetched at once. */
	if (cold && k && c->level[k - 1].sector.state == CHASE_DONE &&
	    footprint / (double)c->level[k - 1].sector.value >= COLD_RING)
		stride = c->level[k - 1].sector.value;
	if (cold)
		footprint = COLD_RING * (double)stride;
	else if (!k && c->beyond_sm && c->level_count == 1 && footprint > FAR_FROM)
		/* Whatever answers, it is this level: its largest footprint would take long and say no more. */
		footprint = MANY_LINES * (double)stride;
	/* Nothing beyond what the path may use: there translations would be in the way, but of first touches, of which some did not
	 * wait for any. */
	if (!cold && footprint > (double)c->limit) {
		while ((double)c->limit / (double)stride < FEW_LINES && stride > c->stride)
			stride /= 2;
		footprint = (double)c->limit;
	}
	const double every = footprint;
	uint64_t coarse = cold ? stride : chase_coarser(c, k, stride, footprint);
	footprint = floor(every / (double)coarse) * (double)coarse;
	state[0] = class_get(c, k, footprint, coarse, cold, false, sm, &all, out);
	/* Where that does not tell, or was not asked for, as in an older recording, all pieces do. */
	if (state[0] == CHASE_UNDECIDED && coarse > stride) {
		coarse = stride;
		footprint = floor(every / (double)stride) * (double)stride;
		state[0] = class_get(c, k, footprint, stride, cold, false, sm, &all, out);
	}
	stride = coarse;
	/* Only the nearest level can serve a whole chain alone. */
	bool chain = !k && !outside && !chase_beyond_reach(c, 0, footprint, 0);
	if (chain)
		state[1] = chase_lap(c, 0, footprint, stride, cold, one_loads, sm, &lap);
	/* One element that leads to itself: single accesses carry the cost of the clock, and this tells what it is. */
	state[2] = class_get(c, 0, (double)c->stride, c->stride, false, false, sm, &one, NULL);
	state[3] = chase_lap(c, 0, (double)c->stride, c->stride, false, one_loads, sm, &one_chain);
	for (unsigned i = 0; i < 4; i++)
		if (state[i] == CHASE_UNDECIDED)
			return CHASE_UNDECIDED;
	for (unsigned i = 0; i < 4; i++)
		if (state[i] == CHASE_PENDING)
			return CHASE_PENDING;
	const double one_lap = one_chain.cycles;
	out->address_ops = one_chain.ops;
	if (c->grain > 2 && !k && c->beyond_sm && out->parts) {
		enum chase_state lines = parts_by_lines(c, stride, sm, out);
		if (lines != CHASE_DONE)
			return lines;
	}
	bool pure = all.share >= PURE && out->parts < 2 && c->level[k].class_first == c->level[k].class_last;
	if (pure && chain) {
		out->averaged = true;
		out->value = lap.cycles;
		out->half = lap.spread + fetched;
		return CHASE_DONE;
	}
	/* A cache keeps it, and what is slow is noise; a row of the memory may have been closed. */
	bool cached =
	    c->level[0].floor > 0 && c->level[0].sector.state == CHASE_DONE && c->level[0].sector.value <= LINE_SURE;
	if (one.share < (cached ? ALONE : PURE)) {
		snprintf(c->why, sizeof(c->why), "not even the nearest level serves one line alone");
		return CHASE_UNDECIDED;
	}
	double step = 1, cut = 0;
	study_number(c->study, "clock.granularity", &step);
	if (step > COARSE || beyond_steps(c, &all, &one)) {
		if (purer(c, k, &footprint, stride, sm, &all, out) == CHASE_PENDING)
			return CHASE_PENDING;
		cut = step > COARSE ? cut_off(c, step, &all, &one, one_lap) : 0;
	}
	/* Many short chases, of which the best met no faster clock. Where nobody asked for them, as in an older recording, the long one has to do. */
	if (cut > CUT_BOOSTED && c->swing > 0) {
		struct chase_latency lines = *out;
		struct served brief, brief_one;
		char why[sizeof(c->why)];
		memcpy(why, c->why, sizeof(why));
		const enum chase_state a = class_get(c, k, footprint, stride, cold, true, sm, &brief, &lines),
				       b = class_get(c, 0, (double)c->stride, c->stride, false, true, sm, &brief_one,
						     NULL);
		memcpy(c->why, why, sizeof(why));
		if (a == CHASE_PENDING || b == CHASE_PENDING)
			return CHASE_PENDING;
		const double least =
		    a == CHASE_DONE && b == CHASE_DONE ? cut_off(c, step, &brief, &brief_one, one_lap) : INFINITY;
		if (least < cut) {
			all = brief;
			one = brief_one;
			*out = lines;
			out->brief = true;
			cut = least;
		}
	}
	out->value = single_of(c, &all, &one, one_lap);
	out->half = one_chain.spread + fetched + (c->grain > 1 ? 1 : 0.5) + cut;
	if (beyond_steps(c, &all, &one)) {
		snprintf(c->why, sizeof(c->why),
			 "only %.0f %% of a chain's accesses are of this level. Its turns take %.1f cycles that no "
			 "access takes, more than the clock's steps hide",
			 100 * all.share, fabs(all.lag - one.lag));
		return CHASE_UNDECIDED;
	}
	if (cut > CUT_BOOSTED && c->swing > 0) {
		snprintf(c->why, sizeof(c->why),
			 "the clock counts in steps of %.0f cycles and is faster now and then. What its steps take off "
			 "is not always the same, and may be %.1f cycles",
			 step, cut);
		return CHASE_UNDECIDED;
	}
	if (cut > CUT_MOST && !(c->swing > 0)) {
		snprintf(c->why, sizeof(c->why),
			 "the clock counts in steps of %.0f cycles, and only %.0f %% of a chain's accesses are of this "
			 "level",
			 step, 100 * all.share);
		return CHASE_UNDECIDED;
	}
	/* What was cut off one SM's accesses, the clock's steps cut off another's or not. */
	out->single = one.mean + (c->grain > 1 ? one.lag : 0);
	out->clock = out->single - one_lap;
	out->apart = step > COARSE ? all.apart : 0;
	return CHASE_DONE;
}
