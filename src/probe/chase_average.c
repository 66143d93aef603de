/* The method of averages (Wong 2010, III-B; Saavedra before him) beside that of single accesses (Mei 2014, 3.2): mean times of whole
 * laps say a size, a line and, where sets are lru, ways of their own. Where the two disagree, one of them was fooled. */
#include "probe/chase_shape.h"
#include <math.h>
#include <stdio.h>

#define LAPS_WARM   2
#define TIMED_LEAST 512
#define TIMED_LONG  16384 /* accesses, beside which what the launch brought with it counts little */
#define LINES_MOST  65536 /* of one ring */
#define RISE_LEAST  0.03  /* of a hit's time, that misses have to take longer for averages to say anything */
#define RISE_TICKS  6	  /* and so much longer that no step of a clock makes it */
#define FLAT	    0.1	  /* of the rise: what may be of the lower plateau */
#define EARLY	    0.4	  /* of the least misses that sets with one line too many make */
#define TOP	    0.9	  /* from here on it is the upper plateau */
#define HALF_DOWN                                                                                                      \
	0.25 /* that a walk by half lines has to be below one by whole lines, and one by two lines at most above */

static double share(const struct chase_means *m, double v)
{
	return (v - m->below) / (m->top - m->below);
}

void chase_average_judge(const struct chase_means *m, const struct chase_shape_known *is, struct chase_average *out)
{
	const double rise = m->top - m->below, way = (double)(is->size / is->ways), size = (double)is->size;

	*out = (struct chase_average){.size[0] = '\0'};
	if (!(rise > RISE_LEAST * m->below) || !(rise > RISE_TICKS))
		return;
	if (share(m, m->full) > FLAT && m->full - m->below > RISE_TICKS)
		snprintf(out->size, sizeof(out->size),
			 "single accesses say %.0f bytes, averages (Wong 2010, III-B) less, between %.0f and %.0f: "
			 "their means "
			 "are %.1f and %.1f ticks",
			 size, m->below_bytes, size, m->below, m->full);
	else if (isfinite(m->over) && share(m, m->over) < EARLY / ((double)is->ways + 1))
		snprintf(out->size, sizeof(out->size),
			 "single accesses say %.0f bytes, averages (Wong 2010, III-B) more, above %.0f: the means are "
			 "%.1f and "
			 "%.1f ticks",
			 size, size + way, m->full, m->over);
	if (isfinite(m->narrow) && share(m, m->narrow) > 1 - HALF_DOWN)
		snprintf(out->line, sizeof(out->line),
			 "single accesses say lines of %llu bytes, averages (Wong 2010, III-B) at most %llu: in such "
			 "steps the "
			 "mean is %.1f ticks, in whole lines %.1f",
			 (unsigned long long)is->line, (unsigned long long)is->line / 2, m->narrow, m->top);
	else if (isfinite(m->wide) && share(m, m->wide) > 1 + HALF_DOWN)
		snprintf(out->line, sizeof(out->line),
			 "single accesses say lines of %llu bytes, averages (Wong 2010, III-B) at least %llu: in such "
			 "steps the "
			 "mean is %.1f ticks, in steps of one line %.1f",
			 (unsigned long long)is->line, 2 * (unsigned long long)is->line, m->wide, m->top);
	if (!isfinite(m->over) || is->ways < 2 || out->size[0])
		return;
	/* The rise ends where every set has one line too many, if those are lru. */
	if (share(m, m->over) < TOP)
		snprintf(out->ways, sizeof(out->ways),
			 "; averages, which take sets for lru, say fewer than %llu ways (Wong 2010, III-B): %.0f bytes "
			 "more are "
			 "%.0f %% of the way up",
			 (unsigned long long)is->ways, way, 100 * share(m, m->over));
	else if (isfinite(m->half) && share(m, m->half) > TOP)
		snprintf(out->ways, sizeof(out->ways),
			 "; averages, which take sets for lru, say %llu ways or more (Wong 2010, III-B): the rise is "
			 "over after %.0f bytes",
			 2 * (unsigned long long)is->ways, way / 2);
}

/* Mean ticks of an access of a lap over `bytes` in steps. NAN with DONE: such a lap is not made. */
static enum chase_state mean_of(struct chase_path *c, double bytes, uint64_t step, double timed, double *mean)
{
	double p[POINT_PARAMS] = {0}, n = floor(bytes / (double)step);
	struct chase_run r;

	*mean = NAN;
	if (n < 2 || n > LINES_MOST || bytes > (double)c->limit || step % c->word)
		return CHASE_DONE;
	p[CHASE_STRIDE] = (double)step;
	p[CHASE_WARM] = LAPS_WARM * n;
	p[CHASE_TIMED] = n * ceil(timed / n);
	p[CHASE_FLOOR] = CHASE_CAP;
	p[CHASE_PLACE] = 8.0 * c->sm + c->kind;
	enum chase_state state = chase_get(c, &r, n * (double)step, p);
	if (state == CHASE_DONE)
		*mean = (double)r.ticks / (r.timed + CHASE_PRE);
	/* What cannot be had says nothing against anybody. */
	return state == CHASE_PENDING ? state : CHASE_DONE;
}

/* Ticks that levels above save, on average of all accesses of such a lap. NAN with DONE: it cannot be told. */
static enum chase_state saved_above(struct chase_path *c, unsigned k, double bytes, uint64_t step, double *ticks)
{
	const double hit = c->classes[c->level[k].class_first].centre,
		     from = (c->classes[c->level[k - 1].class_last].centre + hit) / 2, n = floor(bytes / (double)step);
	double p[POINT_PARAMS] = {0}, sum = 0;
	struct chase_run r;

	*ticks = NAN;
	p[CHASE_STRIDE] = (double)step;
	p[CHASE_WARM] = LAPS_WARM * n;
	/* As many whole laps as can be recorded. */
	p[CHASE_TIMED] = n <= c->room ? n * floor(c->room / n) : c->room;
	p[CHASE_PLACE] = 8.0 * c->sm + c->kind;
	enum chase_state state = chase_get(c, &r, n * (double)step, p);
	if (state != CHASE_DONE || !r.kept)
		return state == CHASE_PENDING ? state : CHASE_DONE;
	for (uint32_t i = 0; i < r.kept; i++) {
		const double t = chase_ticks(r.record[i]);
		sum += t < from ? hit - t : 0;
	}
	*ticks = sum / r.kept;
	return CHASE_DONE;
}

/* Where victims above are not the oldest, some of a lap's lines are still there when it comes again, and of a longer lap fewer: that it is slower says
 * nothing of this level. What single accesses saw of it is taken off. */
static enum chase_state less_above(struct chase_path *c, unsigned k, const struct chase_shape_known *is,
				   struct chase_means *m)
{
	double below, full;
	const enum chase_state a = saved_above(c, k, m->below_bytes, is->line, &below),
			       b = saved_above(c, k, (double)is->size, is->line, &full);

	if (a == CHASE_PENDING || b == CHASE_PENDING)
		return CHASE_PENDING;
	if (below > full)
		m->below += below - full;
	return CHASE_DONE;
}

enum chase_state chase_average(struct chase_path *c, unsigned k)
{
	struct chase_level *l = &c->level[k];
	const struct chase_shape_known is = {l->size.value, l->line.value, l->ways.value, l->sets.value};
	bool even = !l->hashed && !l->unequal && is.sets > 1;
	struct chase_means m = {.half = NAN, .over = NAN, .narrow = NAN, .wide = NAN};

	l->average = (struct chase_average){.size[0] = '\0'};
	if (l->endless || l->size.state != CHASE_DONE || l->line.state != CHASE_DONE || l->ways.state != CHASE_DONE ||
	    l->sets.state != CHASE_DONE || !is.ways || !is.line || is.size / is.line < 8)
		return CHASE_DONE;
	/* Averages count every access, so none may wait for a translation. */
	const uint64_t way = is.size / is.ways, most = c->reach && c->reach < c->limit ? c->reach : c->limit,
		       top = 2 * is.size < most ? 2 * is.size : most;
	if (top < is.size + way || chase_hidden(c, k, (uint32_t)(is.size / is.line * 3 / 4)))
		return CHASE_DONE;
	m.below_bytes = (double)(is.size / is.line * 3 / 4 * is.line);
	struct {
		double bytes;
		uint64_t step;
		double *to;
		bool wanted;
	} asks[] = {{m.below_bytes, is.line, &m.below, true},
		    {(double)is.size, is.line, &m.full, true},
		    {(double)(is.size + way / 2 / is.line * is.line), is.line, &m.half, even && is.ways > 1},
		    {(double)(is.size + way), is.line, &m.over, even},
		    {(double)top, is.line, &m.top, true},
		    {(double)top, is.line / 2, &m.narrow, l->sector.state == CHASE_DONE && l->sector.value == is.line},
		    {(double)top, 2 * is.line, &m.wide, true}};
	enum chase_state all = CHASE_DONE;
	for (size_t i = 0; i < sizeof(asks) / sizeof(asks[0]); i++)
		if (asks[i].wanted && mean_of(c, asks[i].bytes, asks[i].step, TIMED_LEAST, asks[i].to) == CHASE_PENDING)
			all = CHASE_PENDING;
	if (all != CHASE_DONE)
		return all;
	chase_average_judge(&m, &is, &l->average);
	if (!l->average.size[0])
		return CHASE_DONE;
	/* The code of the timed loop may have driven lines out, where instructions share the level: they miss once, and what does not fit
	 * misses as often in many laps as in few. */
	double longer;
	all = mean_of(c, (double)is.size, is.line, TIMED_LONG, &longer);
	if (all == CHASE_DONE && longer < m.full) {
		m.full = longer;
		chase_average_judge(&m, &is, &l->average);
	}
	if (all != CHASE_DONE || !l->average.size[0] || !k || share(&m, m.full) <= FLAT)
		return all;
	all = less_above(c, k, &is, &m);
	if (all == CHASE_DONE)
		chase_average_judge(&m, &is, &l->average);
	return all;
}
