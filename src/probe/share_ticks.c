/* Which ticks are hits of a level that SMs may share, and which are misses. */
#include "probe/share_ticks.h"
#include "stat/stat.h"
#include <math.h>
#include <stdarg.h>
#include <stdio.h>

#define CALIBRATED 3  /* SMs */
#define APART	   8  /* ticks between two levels at least */
#define NEAR	   12 /* ticks by which hits of one level differ on one SM */

void share_unclear(struct share_level *l, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(l->why, sizeof(l->why), fmt, ap);
	va_end(ap);
	l->state = CHASE_UNDECIDED;
}

double share_slowest(const struct share_level *l, double ticks)
{
	return ticks + fmax(NEAR, (0.05 + l->swing) * ticks);
}

/* Ticks of a hit of a level, as both latencies say; 0: nobody knows. Of the first one nothing hits in a level above. */
static double hit_of(const struct share_path *c, unsigned k)
{
	return k && c->level[k].slower > 0 ? c->level[0].ticks + c->level[k].slower : 0;
}

double share_most_of_hit(const struct share_path *c, unsigned k)
{
	const struct share_level *l = &c->level[k];

	if (!k || !l->cold || !(l->slower > 0))
		return 0;
	const double hit = hit_of(c, k);
	return share_slowest(l, hit);
}

bool share_too_slow(const struct share_path *c, unsigned k, double ticks)
{
	const double most = share_most_of_hit(c, k);

	return most > 0 && ticks > most;
}

/* Mean ticks on a level's ring, over some SMs, of accesses of at least `low`. They are hits, or with `spoilt` as many
 * misses as the SM can cause itself. */
static enum chase_state mean_ticks(struct share_path *c, unsigned k, bool spoilt, double low, double *out)
{
	struct share_level *l = &c->level[k];
	double found[CALIBRATED], scratch[CALIBRATED], p[POINT_PARAMS], x = share_ring(c, k, p);
	uint32_t sm[CALIBRATED];
	unsigned n = chase_placements(study_device(c->study), CALIBRATED, sm);
	bool pending = false;

	if (!spoilt) /* in a cold level, too, it brings its own ring there */
		p[SHARE_OTHER] = -x;
	p[SHARE_LOW] = low;
	p[SHARE_HIGH] = 0;
	p[SHARE_COUNT] = 1;
	for (unsigned i = 0; i < n; i++) {
		struct share_run r;
		p[SHARE_PLACE] = 8.0 * sm[i] + c->kind;
		p[SHARE_FIRST] = sm[i];
		enum chase_state s = share_get(c->study, c->experiment, x, p, &r, l->why, sizeof(l->why));
		if (s == CHASE_UNDECIDED)
			return l->state = s;
		pending |= s == CHASE_PENDING;
		if (s == CHASE_DONE && !(r.slow > 0)) {
			share_unclear(l, "none of %.0f accesses on SM %u misses the levels above", r.counted, sm[i]);
			return l->state;
		}
		found[i] = r.ticks;
	}
	*out = stat_median(found, n, scratch);
	return pending ? CHASE_PENDING : CHASE_DONE;
}

/* Mean ticks on a ring that the SM has brought into the level. That of a cold level may be less than the ring, and lines that lie closer
 * take less of it. */
static enum chase_state own_ticks(struct share_path *c, unsigned k)
{
	struct share_level *l = &c->level[k];

	for (;;) {
		enum chase_state s = mean_ticks(c, k, false, 0, &l->ticks);
		if (s != CHASE_DONE || !share_too_slow(c, k, l->ticks) || l->line < 2 * l[-1].line)
			return s;
		l->line /= 2;
	}
}

/* Ticks of what is behind a level, on average; last: misses of the last one. */
static double behind_of(const struct share_path *c, unsigned k, double last)
{
	const struct share_level *l = &c->level[k];

	if (l->cold) /* what is behind it has to be slower than this, which each SM shows by itself */
		return 1.6 * l->ticks + 2 * APART;
	if (k + 1 == c->levels)
		return last;
	/* A cold one in which not even what the SM has brought itself stays is not what was looked at: that is what lies behind. */
	return share_too_slow(c, k + 1, l[1].ticks) ? hit_of(c, k + 1) : l[1].ticks;
}

/* Ticks from which an access missed a level. */
static double divide(const struct share_path *c, unsigned k, double last)
{
	const struct share_level *l = &c->level[k];

	/* In a line of many steps of the ring few of them miss, and the mean says little of those. */
	if (k + 1 == c->levels && !l->cold && l->swing > 0)
		return ceil(l->ticks + l->gap / 2);
	return ceil((l->ticks + behind_of(c, k, last)) / 2);
}

/* Whether hits are divided from misses among the hits themselves. A level above that replaces at random keeps some of a
 * ring that is larger than it. The mean is then less than a hit takes. A cold level shows it by itself. */
static bool divided_wrong(const struct share_path *c, unsigned k, double last)
{
	const double hit = hit_of(c, k), from = divide(c, k, last);

	return hit > 0 && !c->level[k].cold && from > c->level[k].ticks && from < hit + APART / 2.0;
}

/* Then only accesses that are slower than the level above count. */
static enum chase_state without_above(struct share_path *c, unsigned k)
{
	struct share_level *l = &c->level[k];
	const double hit = hit_of(c, k);

	if (!(hit > 0) || !(l->ticks > 0) || l->ticks > hit - APART / 2.0 || hit < l[-1].ticks + APART)
		return CHASE_DONE;
	return mean_ticks(c, k, false, ceil((l[-1].ticks + hit) / 2), &l->ticks);
}

enum chase_state share_calibrate(struct share_path *c)
{
	double last = 0;
	bool pending = false, lost = false;

	for (unsigned k = 0; k < c->levels; k++) {
		c->level[k].low = c->level[k].high = 0;
		enum chase_state s = own_ticks(c, k);
		if (s == CHASE_DONE && k + 1 == c->levels && !c->level[k].cold)
			s = mean_ticks(c, k, true, 0, &last);
		pending |= s == CHASE_PENDING;
	}
	bool wrong = false;
	for (unsigned k = 0; !pending && k < c->levels; k++)
		wrong |= divided_wrong(c, k, last);
	for (unsigned k = 0; !pending && wrong && k < c->levels; k++)
		pending = without_above(c, k) == CHASE_PENDING;
	if (pending)
		return CHASE_PENDING;
	for (unsigned k = 0; k < c->levels; k++) {
		struct share_level *l = &c->level[k];
		const double behind = behind_of(c, k, last);
		if (!lost && l->state == CHASE_UNDECIDED && l->why[0]) {
			lost = true;
		} else if (!lost && behind < l->ticks + APART) {
			share_unclear(l, "an access takes %.1f ticks where it should hit and %.1f where it should miss",
				      l->ticks, behind);
			lost = true;
		} else if (lost) {
			share_unclear(l, "the levels above could not be told apart");
		} else {
			l->high = divide(c, k, last);
			l->low = k ? l[-1].high : 0;
		}
	}
	return CHASE_DONE;
}
