/* Latency of one level on one SM. */
#include "base/arena.h"
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
 * the faster rate explains was delayed if all are of one line. Else it is another part of the level, if it is not few, and parts count the
 * same. */
static double usual_mean(const struct chase_path *c, double *v, size_t n, bool one_line, double *scratch,
			 size_t *counted)
{
	double sum = 0, parts = 0;

	qsort(v, n, sizeof(*v), stat_compare_double);
	for (size_t at = 0, used; at == 0 || (!one_line && (double)(n - at) > CHASE_ALIKE * (double)n);) {
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

/* A ring, as a chase times it. */
struct timed_ring {
	double footprint;
	uint64_t stride;
	bool cold;  /* from empty caches */
	bool brief; /* no longer than what ends before the clock changes, as a rule */
};

/* Those of its accesses that the level served. */
struct accesses {
	struct chase_run r;
	double p[POINT_PARAMS], lo, hi; /* lo, hi: ticks between which they are */
	double (*v)[2];			/* line, and ticks; ascending */
	double *own, *means;		/* own: room for twice as many; means: of lines, or one of all */
	uint32_t *whole;		/* room for as many */
	size_t count, groups;
	bool by_line; /* each line was met often enough to be known by itself */
};

static enum chase_state accesses_get(struct chase_path *c, unsigned k, const struct timed_ring *ring, uint32_t sm,
				     struct accesses *a)
{
	const struct chase_level *l = &c->level[k];
	const double n = ceil(ring->footprint / (double)ring->stride);
	const uint32_t room = c->quiet_room ? c->quiet_room : c->room, most = ring->brief ? CHASE_BRIEF : SAMPLED;
	double *p = a->p;

	/* Half way from the level above: another SM may be nearer to this level than the one that the floor was found on. */
	*a = (struct accesses){
	    .lo = k ? (c->classes[c->level[k - 1].class_last].centre + c->classes[l->class_first].centre) / 2 : 0,
	    .hi = l->floor > 0 ? l->floor : CHASE_CAP};
	p[CHASE_STRIDE] = (double)ring->stride;
	p[CHASE_TIMED] = (room < most ? room : most) - (ring->cold ? c->again : 0);
	/* Each SM times another piece of a ring that is longer than what is timed. If ways differ in length, a single
	 * piece would show only a few of them. */
	p[CHASE_WARM] = ring->cold		  ? 0
			: k && n > p[CHASE_TIMED] ? (1 + c->again) * n + fmod(sm * p[CHASE_TIMED], n)
						  : (2 + c->again) * n;
	p[CHASE_PLACE] = 8.0 * sm + (c->quiet_room ? c->quiet_kind : c->kind);
	enum chase_state state = chase_get(c, &a->r, ring->footprint, p);
	if (state != CHASE_DONE)
		return state;
	const size_t kept = a->r.kept;
	a->v = (double(*)[2])ARENA_ARRAY(study_arena(c->study), 2 * kept + 2, double);
	a->own = ARENA_ARRAY(study_arena(c->study), 3 * kept + 3, double);
	a->whole = ARENA_ARRAY(study_arena(c->study), kept + 1, uint32_t);
	if (!a->v || !a->own || !a->whole)
		return CHASE_WHY(c->why, "out of memory");
	a->means = a->own + 2 * kept + 2;
	for (size_t i = 0; i < kept; i++) {
		double t = chase_ticks(a->r.record[i]);
		if (t >= a->lo && t < a->hi) {
			a->v[a->count][0] = chase_at(p, a->r.elements, chase_index(a->r.record[i]));
			a->v[a->count++][1] = t;
		}
	}
	a->by_line = a->count >= 6.0 * a->r.elements;
	qsort(a->v, a->count, sizeof(*a->v), compare_access);
	return CHASE_DONE;
}

static double *ticks_of(const struct accesses *a)
{
	for (size_t i = 0; i < a->count; i++)
		a->own[i] = a->v[i][1];
	return a->own;
}

/* Lines may differ, as in a level with a near and a far part, so the mean is of the lines' means. Inside a line, what
 * jitter delayed is left out. */
static void mean_of_lines(const struct chase_path *c, struct accesses *a, struct served *out)
{
	size_t used, counted = 0;
	double sum = 0;

	for (size_t i = 0, to; i < a->count; i = to) {
		for (to = i; to < a->count && (!a->by_line || a->v[to][0] == a->v[i][0]); to++)
			a->own[to - i] = a->v[to][1];
		const size_t n = to - i;
		if (n >= 4)
			a->means[a->groups++] =
			    c->swing > 0 ? usual_mean(c, a->own, n, a->by_line, a->own + n, &counted)
					 : stat_trimmed_mean(a->own, n, 4, 1.5 + c->grain, a->own + n, &used);
	}
	for (size_t i = 0; i < a->groups; i++)
		sum += a->means[i];
	out->mean = sum / (double)a->groups;
	out->usual = (double)counted / a->r.kept;
}

/* Parts of the level show among all accesses, if lines are too many for that. */
static void mean_of_parts(const struct chase_path *c, struct accesses *a, struct served *out)
{
	struct chase_parts parts;
	const bool apart = chase_parts_of(ticks_of(a), a->count, c->grain, a->own + a->count, a->whole, &parts);

	if (!apart ||
	    (c->swing > 0 && !chase_take_turns(&a->r, &parts) && !chase_beyond_swing(&parts, c->swing, c->grain)))
		return;
	out->mean = parts.mean;
	if (c->swing > 0)
		out->usual = (double)parts.counted / a->r.kept;
}

/* First touches may wait for translations, rows and refreshes, in step with the chase: the fastest of them did not. */
static void mean_undelayed(const struct chase_path *c, struct accesses *a, struct served *out)
{
	struct stat_mode mode[CHASE_PARTS];
	const double *own = ticks_of(a);

	if (stat_modes(a->own, a->count, 2.5 + c->grain, UNDELAYED, mode, CHASE_PARTS, a->own + a->count) < 2)
		return;
	out->mean = c->grain > 1 ? mean_between(own, a->count, mode[0].lo, mode[0].hi) : mode[0].centre;
	out->usual = fmin(out->usual, (double)mode[0].count / a->r.kept);
}

/* Groups of lines, and the mean as those say. memory: nothing is behind the level. */
static void parts_of_lines(const struct chase_path *c, struct accesses *a, bool memory, struct served *out,
			   struct chase_latency *lines)
{
	struct stat_mode mode[CHASE_PARTS + 1] = {{0}};
	const double groups = (double)a->groups;
	bool wide = false;

	lines->parts =
	    (unsigned)stat_modes(a->means, a->groups, 2.5 + c->grain / 2.0, 0.1, mode, CHASE_PARTS + 1, a->own);
	/* When a lap is a whole number of a coarse clock's steps, each line loses the same part of a step every time.
	 * What most lines lose is then not what they lose on average. */
	for (unsigned i = 0; i < lines->parts && c->grain > 1; i++)
		mode[i].centre = mean_between(a->means, a->groups, mode[i].lo, mode[i].hi);
	const double one = (double)mode[0].count / groups, other = (double)mode[1].count / groups;
	if (lines->parts == 2 && one > CHASE_ALIKE && other > CHASE_ALIKE) {
		/* Two parts are alike, and which lines were met is chance. */
		out->mean = (mode[0].centre + mode[1].centre) / 2;
	} else if (lines->parts == 2 && one > CHASE_ALIKE && memory) {
		/* Few lines of the memory that take longer than most wait, lap after lap: for refreshes that are in step with the laps. */
		out->mean = mean_between(a->means, a->groups, mode[0].lo, mode[0].hi);
		out->usual *= one;
	}
	for (unsigned i = 0; i < lines->parts && i < CHASE_PARTS; i++) {
		lines->part[i] = mode[i].centre - out->mean;
		lines->part_share[i] = (double)mode[i].count / groups;
		/* A wide group is many ways of different length, run together. */
		wide = wide || mode[i].hi - mode[i].lo > 6 + 2.0 * c->grain;
	}
	if (wide)
		lines->parts = CHASE_PARTS + 1;
}

/* How far off the mean may be. */
static void slack_of(const struct chase_path *c, const struct accesses *a, bool brief, struct served *out)
{
	const double reach = 1.5 + c->grain;
	double delayed = 0;
	size_t near = 0;

	for (size_t i = 0; i < a->count; i++) {
		delayed += a->v[i][1] - out->mean;
		near += fabs(a->v[i][1] - out->mean) <= reach;
	}
	out->before = brief ? fabs(delayed) / a->r.kept * CHASE_PRE / (a->r.timed + CHASE_PRE) : 0;
	out->astray = 0;
	/* The mean of several parts is near none of them. */
	if (c->swing > 0 && c->grain > 1)
		out->astray = 2 * near > a->count ? chase_unsteady(&a->r, out->mean - reach, out->mean + reach, a->own)
						  : chase_unsteady(&a->r, a->lo, a->hi, a->own);
}

/* Mean ticks of the accesses that this level served, and their share of all. lines: NULL, or gets groups of lines. */
static enum chase_state served_get(struct chase_path *c, unsigned k, const struct timed_ring *ring, uint32_t sm,
				   struct served *out, struct chase_latency *lines)
{
	const bool last = k && c->level[k].floor <= 0;
	struct accesses a;
	const enum chase_state state = accesses_get(c, k, ring, sm, &a);

	if (state != CHASE_DONE)
		return state;
	out->share = a.r.kept ? (double)a.count / a.r.kept : 0;
	if (chase_lag(c, ring->footprint, a.p, &a.r, !ring->brief, &out->lag, &out->apart) == CHASE_PENDING)
		return CHASE_PENDING;
	if (a.count < 32)
		return CHASE_WHY(c->why, "only %zu of %u accesses over %.0f bytes were of this level", a.count,
				 a.r.kept, ring->footprint);
	/* What is behind all levels serves a footprint beyond them; the few that are slower than the rest may be delayed. */
	if (last && out->share < LAST_SHARE)
		return CHASE_WHY(c->why, "only %zu of %u accesses over %.0f bytes were as slow as the slowest group",
				 a.count, a.r.kept, ring->footprint);
	mean_of_lines(c, &a, out);
	if (!a.groups)
		return CHASE_WHY(c->why, "too few accesses over %.0f bytes were of this level", ring->footprint);
	if (!a.by_line)
		mean_of_parts(c, &a, out);
	if (ring->cold)
		mean_undelayed(c, &a, out);
	if (lines && a.by_line)
		parts_of_lines(c, &a, last && c->touch != TOUCH_SLOWER, out, lines);
	slack_of(c, &a, ring->brief, out);
	return CHASE_DONE;
}

/* A footprint that this level serves, and as few others as possible. */
static double served_by(const struct chase_path *c, unsigned k)
{
	const struct chase_level *l = &c->level[k];
	double stride = (double)c->stride, top = (double)(c->limit / c->stride) * stride;

	/* All of a large cache takes long, and only the first SAMPLED accesses are timed. Any part that mostly leaves
	 * the levels above does as well, because what those serve is left out. Some accesses are of no class, where
	 * latencies vary. */
	for (unsigned i = 0; c->touch == TOUCH_SLOWER && k && l->floor <= 0 && top > FAR_FROM && i < c->survey_count;
	     i++) {
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

/* How far off that may be. Accesses of other levels may have lost another part of a step, either way, and so may those
 * that met a faster clock. */
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

/* The same of a smaller footprint that the level above does not hold either, when this level does not serve all of it.
 * What shares the level, such as the running code, takes lines of a full one. The wait for them is in no access's time,
 * only in the loop's. The larger one has to do when nobody asked for the smaller, as in an older recording. */
static enum chase_state purer(struct chase_path *c, unsigned k, struct timed_ring *ring, uint32_t sm,
			      struct served *all, struct chase_latency *lines)
{
	const struct chase_level *l = &c->level[k];

	if (!k || all->share >= PURE || l->floor <= 0 || l->size.state != CHASE_DONE || l[-1].size.state != CHASE_DONE)
		return CHASE_DONE;
	const double above = (double)l[-1].size.value, least = above + 2 * (double)l[-1].sector.value,
		     stride = (double)ring->stride;
	const struct timed_ring half = {.footprint = floor((above + ring->footprint) / 2 / stride) * stride,
					.stride = ring->stride};
	if (half.footprint < FILLED * above || half.footprint < least || half.footprint >= ring->footprint)
		return CHASE_DONE;
	struct chase_latency other = *lines;
	struct served less;
	char why[sizeof(c->why)];
	memcpy(why, c->why, sizeof(why));
	const enum chase_state state = served_get(c, k, &half, sm, &less, &other);
	memcpy(c->why, why, sizeof(why));
	if (state == CHASE_DONE && less.share > all->share) {
		*all = less;
		*lines = other;
		ring->footprint = half.footprint;
	}
	return state;
}

/* Whether something else is waited for: turns of the loop take longer than the steps of the clock can hide. Either end
 * of an access, and of one beside it, loses less than one step. Asked only if other levels serve some of the turns. */
static bool beyond_steps(const struct chase_path *c, const struct served *all, const struct served *one)
{
	return c->grain > 1 && all->share < PURE && fabs(all->lag - one->lag) >= 2.0 * c->grain;
}

/* The ring whose accesses tell the level. */
static struct timed_ring ring_of(const struct chase_path *c, unsigned k)
{
	const struct chase_level *l = &c->level[k], *up = k ? l - 1 : NULL;
	const bool far = !k && c->beyond_sm, fetched = up && up->sector.state == CHASE_DONE;
	struct timed_ring ring = {.footprint = served_by(c, k), .stride = c->stride};

	/* Every access must leave what the level above fetched at once. */
	if (fetched) {
		ring.stride = c->grain > 1 ? up->sector.value : chase_step(c, k, up->sector.value, ring.footprint);
	} else if (far && (l->floor > 0 || c->touch == TOUCH_SLOWER)) {
		/* A few whole lines: each is timed often enough to be known by itself. */
		ring.stride = l->line.state == CHASE_DONE ? l->line.value : LINE_MOST;
		ring.footprint = (l->floor > 0 ? FEW_LINES : MANY_LINES) * (double)ring.stride;
	} else if (!k && l->class_first < l->class_last && ring.footprint < FEW_LINES * (double)ring.stride) {
		/* Groups of lines with latencies of their own: a few lines do not stand for them. */
		ring.footprint = FEW_LINES * (double)ring.stride;
	}
	/* A ring that is longer than the chase, from empty caches: nothing but memory answers. */
	ring.cold = !(l->floor > 0) && c->touch != TOUCH_SLOWER && c->cold > c->classes[0].centre &&
		    ring.footprint / (double)ring.stride >= COLD_RING;
	/* No level keeps anything of it, so every step may leave what the last level fetched at once. */
	if (ring.cold && fetched && ring.footprint / (double)up->sector.value >= COLD_RING)
		ring.stride = up->sector.value;
	if (ring.cold)
		ring.footprint = COLD_RING * (double)ring.stride;
	else if (far && c->level_count == 1 && ring.footprint > FAR_FROM)
		/* Whatever answers, it is this level: its largest footprint would take long and say no more. */
		ring.footprint = MANY_LINES * (double)ring.stride;
	/* No ring exceeds what the path may use, since translations would be in the way there. First touches are
	 * excepted: some of those did not wait for any. */
	if (!ring.cold && ring.footprint > (double)c->limit) {
		while ((double)c->limit / (double)ring.stride < FEW_LINES && ring.stride > c->stride)
			ring.stride /= 2;
		ring.footprint = (double)c->limit;
	}
	return ring;
}

/* The same in steps as wide as do. All pieces do if those do not tell, or were not asked for, as in an older recording. */
static enum chase_state ring_get(struct chase_path *c, unsigned k, struct timed_ring *ring, uint32_t sm,
				 struct served *all, struct chase_latency *out)
{
	const double every = ring->footprint;
	const uint64_t fine = ring->stride;
	enum chase_state state = CHASE_UNDECIDED;

	ring->stride = ring->cold ? fine : chase_coarser(c, k, fine, every);
	for (;; ring->stride = fine) {
		ring->footprint = floor(every / (double)ring->stride) * (double)ring->stride;
		state = served_get(c, k, ring, sm, all, out);
		if (state != CHASE_UNDECIDED || ring->stride <= fine)
			return state;
	}
}

/* Many short chases, of which the best met no faster clock, if those say more of what the clock's steps cut off. An older recording has none. */
static enum chase_state shorter(struct chase_path *c, unsigned k, const struct timed_ring *ring, uint32_t sm,
				double step, double one_lap, struct served *all, struct served *one,
				struct chase_latency *out, double *cut)
{
	const struct timed_ring few = {ring->footprint, ring->stride, ring->cold, true},
				lone = {(double)c->stride, c->stride, false, true};
	struct chase_latency lines = *out;
	struct served brief, brief_one;
	char why[sizeof(c->why)];

	memcpy(why, c->why, sizeof(why));
	const enum chase_state a = served_get(c, k, &few, sm, &brief, &lines),
			       b = served_get(c, 0, &lone, sm, &brief_one, NULL);
	memcpy(c->why, why, sizeof(why));
	if (a == CHASE_PENDING || b == CHASE_PENDING)
		return CHASE_PENDING;
	const double least =
	    a == CHASE_DONE && b == CHASE_DONE ? cut_off(c, step, &brief, &brief_one, one_lap) : INFINITY;
	if (least < *cut) {
		*all = brief;
		*one = brief_one;
		*out = lines;
		out->brief = true;
		*cut = least;
	}
	return CHASE_DONE;
}

/* From single accesses, and what the clock adds to them. */
static enum chase_state by_accesses(struct chase_path *c, unsigned k, struct timed_ring *ring, uint32_t sm,
				    struct served *all, struct served *one, const struct chase_lap *one_chain,
				    double fetched, struct chase_latency *out)
{
	const double one_lap = one_chain->cycles;
	double step = 1, cut = 0;

	study_number(c->study, "clock.granularity", &step);
	if (step > COARSE || beyond_steps(c, all, one)) {
		if (purer(c, k, ring, sm, all, out) == CHASE_PENDING)
			return CHASE_PENDING;
		cut = step > COARSE ? cut_off(c, step, all, one, one_lap) : 0;
	}
	if (cut > CUT_BOOSTED && c->swing > 0 &&
	    shorter(c, k, ring, sm, step, one_lap, all, one, out, &cut) == CHASE_PENDING)
		return CHASE_PENDING;
	out->value = single_of(c, all, one, one_lap);
	out->half = one_chain->spread + fetched + (c->grain > 1 ? 1 : 0.5) + cut;
	if (beyond_steps(c, all, one))
		return CHASE_WHY(
		    c->why,
		    "only %.0f %% of a chain's accesses are of this level. Its turns take %.1f cycles that no "
		    "access takes, more than the clock's steps hide",
		    100 * all->share, fabs(all->lag - one->lag));
	if (cut > CUT_BOOSTED && c->swing > 0)
		return CHASE_WHY(
		    c->why,
		    "the clock counts in steps of %.0f cycles and is faster now and then. What its steps take off "
		    "is not always the same, and may be %.1f cycles",
		    step, cut);
	if (cut > CUT_MOST && !(c->swing > 0))
		return CHASE_WHY(
		    c->why,
		    "the clock counts in steps of %.0f cycles, and only %.0f %% of a chain's accesses are of this "
		    "level",
		    step, 100 * all->share);
	/* What was cut off one SM's accesses, the clock's steps cut off another's or not. */
	out->single = one->mean + (c->grain > 1 ? one->lag : 0);
	out->clock = out->single - one_lap;
	out->apart = step > COARSE ? all->apart : 0;
	return CHASE_DONE;
}

enum chase_state chase_latency(struct chase_path *c, unsigned k, uint32_t sm, struct chase_latency *out)
{
	const struct chase_level *first = &c->level[0];
	const struct timed_ring lone = {.footprint = (double)c->stride, .stride = c->stride};
	struct chase_lap lap = {0}, one_chain = {0};
	double fetched = 0;
	struct served all, one;
	/* Beyond the SM, stalls are part of life: short chains sometimes escape them. */
	bool outside = c->level_count == 1 || c->beyond_sm;
	/* Either end of a chain loses up to a step of the clock: the longer it is, the less of that is a load's. */
	unsigned one_loads = c->grain > 2 || (c->grain > 1 && c->swing > 0) ? 8 : c->grain > 1 ? 4 : 2;

	*out = (struct chase_latency){.clock = NAN, .value = NAN};
	enum chase_state known =
	    !outside ? chase_chain_near(c, &one_loads, &fetched) : chase_chain_far(c, sm, &one_loads, &fetched);
	if (known != CHASE_DONE)
		return known;
	struct timed_ring ring = ring_of(c, k);
	enum chase_state state[4] = {ring_get(c, k, &ring, sm, &all, out), CHASE_DONE};
	/* Only the nearest level can serve a whole chain alone. */
	bool chain = !k && !outside && !chase_beyond_reach(c, 0, ring.footprint, 0);
	if (chain)
		state[1] = chase_lap(c, 0, ring.footprint, ring.stride, ring.cold, one_loads, sm, &lap);
	/* One element that leads to itself: single accesses carry the cost of the clock, and this tells what it is. */
	state[2] = served_get(c, 0, &lone, sm, &one, NULL);
	state[3] = chase_lap(c, 0, lone.footprint, lone.stride, false, one_loads, sm, &one_chain);
	for (unsigned i = 0; i < 4; i++)
		if (state[i] == CHASE_UNDECIDED)
			return CHASE_UNDECIDED;
	for (unsigned i = 0; i < 4; i++)
		if (state[i] == CHASE_PENDING)
			return CHASE_PENDING;
	out->address_ops = one_chain.ops;
	if (c->grain > 2 && !k && c->beyond_sm && out->parts) {
		enum chase_state lines = parts_by_lines(c, ring.stride, sm, out);
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
	bool cached = first->floor > 0 && first->sector.state == CHASE_DONE && first->sector.value <= LINE_SURE;
	if (one.share < (cached ? ALONE : PURE))
		return CHASE_WHY(c->why, "not even the nearest level serves one line alone");
	return by_accesses(c, k, &ring, sm, &all, &one, &one_chain, fetched, out);
}
