/* Whether pages fit, by when openers answered: no line is compared with itself. A cache of data that has now this line
 * and now that one delays openers as it does followers. A clock that is faster at times does so, too. Followers never
 * miss a translation. So openers come when followers do, later by what hits of the levels cost.
 *
 * A place is a time at which hits are rare, as followers are rare by a hit's cost earlier. If many followers come by a
 * miss's cost earlier, misses fill the place and nothing else does. */
#include "base/arena.h"
#include "tlb.h"
#include <math.h>
#include <string.h>

#define TICKS	   4096u /* later ones are noise */
#define OFTEN	   0.2	 /* of one miss a lap, that may come where none of a known cost does */
#define UNLIKE	   0.25	 /* of what others put in a place, by which openers and followers may differ without a miss */
#define RARE_MOST  0.1	 /* of the followers come within one place's gap, at most, where they are rare */
#define RARE_LEAST 1e-5
#define ABOVE_MOST 0.02	 /* of the openers that a place would have, if all hit a level above */
#define ABOVE_SEEN 0.05	 /* of the followers are in such a place */
#define BULK	   0.003 /* of the followers come as early as one, or what it would be as a miss is not looked at */

struct tlb_roles {
	uint32_t followers[TICKS], openers[TICKS];
	double below[TICKS + 1]; /* followers of fewer ticks */
	bool bulk[TICKS];	 /* many come as early */
	bool rare[TICKS];	 /* no opener that hits comes then, or few do */
	bool place[TICKS];	 /* there misses come, and few others */
	bool lands[TICKS];	 /* a follower that would, as a miss of any cost, come where others are rare */
	double weight[TICKS];	 /* misses that an opener there speaks for */
	double alone[TICKS];	 /* the same by places where one cost's misses are alone */
	double count;
	/* Openers in such places, and the least and most that others put there. Openers anywhere that they are rare,
	 * and others there. Misses that openers speak for, and that others would. */
	double there, least, most, anywhere, others, misses[2], as_misses[2];
};

/* Cycles from..to: a clock that is faster makes it more. */
struct cost {
	double from, at, to;
};
struct costs {
	struct cost hit[2 * (TLB_STEPS + 1)], miss[TLB_STEPS + 1 + TLB_ODD];
	unsigned hits, misses;
};

static struct cost cost_of(const struct tlb_path *c, double at)
{
	return (struct cost){
	    .from = at - c->gap - TLB_COST_ALIKE * at, .at = at, .to = at + c->gap + (TLB_COST_ALIKE + c->swing) * at};
}

/* What a visit costs that hits level k or one above, and that misses it. */
static void costs_of(const struct tlb_path *c, unsigned k, unsigned from, struct costs *out)
{
	*out = (struct costs){.hits = 0};
	for (unsigned i = from; i <= k; i++) {
		out->hit[out->hits++] = cost_of(c, c->step[i]);
		if (c->rows > 0)
			out->hit[out->hits++] = cost_of(c, c->step[i] + c->rows);
	}
	for (unsigned i = k + 1; i < c->steps; i++)
		out->miss[out->misses++] = cost_of(c, c->step[i]);
	for (unsigned i = 0; i < c->odd_count; i++)
		if (c->odd[i] > c->step[k] + c->gap)
			out->miss[out->misses++] = cost_of(c, c->odd[i]);
}

struct tlb_roles *tlb_roles_new(struct arena *a)
{
	return ARENA_ARRAY(a, 1, struct tlb_roles);
}

/* Whether translation is in a visit's opener, and nowhere else, as no cache in front of it answered. */
static bool counts(const struct tlb_path *c, const struct tlb_view *w, uint32_t v)
{
	return w->ticks[2 * v] > c->front && w->ticks[2 * v + 1] > c->front && w->ticks[2 * v] < TICKS &&
	       w->ticks[2 * v + 1] < TICKS;
}

void tlb_roles_add(const struct tlb_path *c, const struct tlb_view *w, struct tlb_roles *r)
{
	for (uint32_t v = 0; v < w->visits; v++)
		if (counts(c, w, v)) {
			r->followers[w->ticks[2 * v + 1]]++;
			r->openers[w->ticks[2 * v]]++;
			r->count++;
		}
}

/* Followers of ticks from..to. */
static double between(const struct tlb_roles *r, double from, double to)
{
	const double most = TICKS;
	const double lo = fmin(most, fmax(0, ceil(from))), hi = fmin(most, fmax(0, floor(to) + 1));

	return hi > lo ? r->below[(unsigned)hi] - r->below[(unsigned)lo] : 0;
}

/* What openers say that hit, as far as followers tell, which come earlier by what a hit costs, and what those say that were seen. */
static void sums(struct tlb_roles *r, const struct costs *cost)
{
	r->least = INFINITY;
	r->there = r->most = r->anywhere = r->others = 0;
	r->misses[0] = r->misses[1] = r->as_misses[0] = r->as_misses[1] = 0;
	for (unsigned t = 0; t < TICKS; t++) {
		r->there += r->place[t] ? r->openers[t] : 0;
		r->anywhere += r->rare[t] ? r->openers[t] : 0;
		r->misses[0] += r->openers[t] * r->weight[t];
		r->misses[1] += r->openers[t] * r->alone[t];
	}
	for (unsigned i = 0; i < 3 * cost->hits; i++) {
		const struct cost *hit = &cost->hit[i / 3];
		const double late = i % 3 == 0 ? hit->from : i % 3 == 1 ? hit->at : hit->to;
		double sum = 0, all = 0, by = 0, alone = 0;
		for (unsigned t = 0; t < TICKS; t++) {
			const double at = round(t - late);
			if (!r->rare[t] || at < 0 || at >= TICKS)
				continue;
			const double seen = r->followers[(unsigned)at];
			all += seen;
			sum += r->place[t] ? seen : 0;
			by += seen * r->weight[t];
			alone += seen * r->alone[t];
		}
		r->least = fmin(r->least, sum);
		r->most = fmax(r->most, sum);
		r->others = fmax(r->others, all);
		r->as_misses[0] = fmax(r->as_misses[0], by);
		r->as_misses[1] = fmax(r->as_misses[1], alone);
	}
}

/* How many ticks before each one others come to. */
struct taken {
	unsigned before[TICKS + 1];
};

static bool is_free(const struct taken *t, unsigned from, unsigned to)
{
	return t->before[to + 1] == t->before[from];
}

/* When a follower of so many ticks would come as a miss of that cost. False: later than anything counts. */
static bool reach(const struct cost *miss, unsigned ticks, unsigned *from, unsigned *to)
{
	const double lo = ceil(ticks + miss->from), hi = floor(ticks + miss->to);

	*from = lo > 0 ? (unsigned)lo : 0;
	*to = hi < TICKS ? (unsigned)hi : TICKS - 1;
	return lo >= 0 && hi < TICKS && lo <= hi;
}

/* Misses that an opener in a place speaks for. A cost counts in any place that its misses reach or, with `alone`, only
 * in places that no other cost's misses reach. */
static void weigh(const struct tlb_roles *r, const struct costs *cost, bool alone, double *weight)
{
	uint8_t by[TICKS] = {0};
	unsigned from, to;

	memset(weight, 0, TICKS * sizeof(*weight));
	for (unsigned i = 0; i < cost->misses; i++)
		for (unsigned u = 0; u < TICKS; u++)
			if (r->bulk[u] && reach(&cost->miss[i], u, &from, &to))
				for (unsigned t = from; t <= to; t++)
					by[t] = !alone || !by[t] || by[t] == i + 1 ? (uint8_t)(i + 1) : UINT8_MAX;
	for (unsigned i = 0; i < cost->misses; i++) {
		bool mine[TICKS];
		double some = 0;
		for (unsigned t = 0; t < TICKS; t++)
			mine[t] = r->place[t] && (!alone || by[t] == i + 1);
		for (unsigned u = 0; u < TICKS; u++)
			if (r->bulk[u] && reach(&cost->miss[i], u, &from, &to)) {
				while (from < to && !mine[from])
					from++;
				some += mine[from] ? r->followers[u] : 0;
			}
		for (unsigned u = 0; u < TICKS && some > 0; u++)
			if (r->bulk[u] && reach(&cost->miss[i], u, &from, &to))
				for (unsigned t = from; t <= to; t++)
					if (mine[t])
						weight[t] = fmin(weight[t] > 0 ? weight[t] : INFINITY, r->count / some);
	}
}

/* Finds the places at which openers that hit come as rarely as `rare`, and the followers that a miss of any cost puts
 * there. Returns how many followers those are. */
static double places(struct tlb_roles *r, const struct costs *cost, double rare, double gap)
{
	struct taken taken = {{0}};
	double lands = 0;
	unsigned from, to;

	for (unsigned t = 0; t < TICKS; t++) {
		double near = 0;
		for (unsigned i = 0; i < cost->hits; i++)
			near = fmax(near, between(r, t - cost->hit[i].to, t - cost->hit[i].from));
		r->rare[t] = near <= rare;
		taken.before[t + 1] = taken.before[t] + !r->rare[t];
	}
	memset(r->place, 0, sizeof(r->place));
	for (unsigned u = 0; u < TICKS; u++) {
		r->bulk[u] = r->followers[u] && between(r, u - gap, u + gap) >= BULK * r->count;
		r->lands[u] = r->bulk[u];
		for (unsigned i = 0; i < cost->misses && r->lands[u]; i++)
			r->lands[u] = reach(&cost->miss[i], u, &from, &to) && is_free(&taken, from, to);
		if (!r->lands[u])
			continue;
		lands += r->followers[u];
		for (unsigned i = 0; i < cost->misses && reach(&cost->miss[i], u, &from, &to); i++)
			memset(r->place + from, true, to - from + 1);
	}
	weigh(r, cost, false, r->weight);
	weigh(r, cost, true, r->alone);
	return lands;
}

/* How far apart openers in those places and others that come there may be without a miss. */
static double chance_of(double openers, double others, double sure)
{
	return sure * sqrt(openers + others + 1) + UNLIKE * others;
}

/* Whether nearly no opener costs as little as a hit of a level above k: those come where followers do that others are late for. */
static bool all_at(const struct tlb_path *c, unsigned k, const struct tlb_roles *r)
{
	const struct cost at = cost_of(c, c->step[k]);
	double openers = 0, followers = 0;

	for (unsigned t = 0; t < TICKS; t++) {
		const double late = between(r, t - at.to - c->rows, t - at.from);
		if (!r->followers[t] || between(r, t - c->gap, t + c->gap) < BULK * r->count ||
		    late > ABOVE_MOST * r->followers[t])
			continue;
		followers += r->followers[t];
		openers += r->openers[t];
	}
	return followers >= ABOVE_SEEN * r->count && openers <= ABOVE_MOST * followers;
}

bool tlb_roles_places(const struct tlb_path *c, unsigned k, double laps, struct tlb_roles *r)
{
	struct costs cost;
	double best = -INFINITY, rare = 0;

	r->below[0] = 0;
	for (unsigned t = 0; t < TICKS; t++)
		r->below[t + 1] = r->below[t] + r->followers[t];
	costs_of(c, k, all_at(c, k, r) ? k : 0, &cost);
	if (!cost.misses || !(r->count > 0))
		return false;
	for (unsigned step = 0; RARE_LEAST * exp2(2.0 * step) <= RARE_MOST; step++) {
		const double part = RARE_LEAST * exp2(2.0 * step);
		const double lands = places(r, &cost, part * r->count, c->gap);
		sums(r, &cost);
		const double power =
		    TLB_LAP_MOST * laps * lands / r->count - chance_of(r->most, r->most, JUDGE_SIGMA_SURE);
		if (lands > 0 && power > best) {
			best = power;
			rare = part * r->count;
		}
	}
	if (!(rare > 0))
		return false;
	places(r, &cost, rare, c->gap);
	sums(r, &cost);
	return true;
}

void tlb_roles_look(const struct tlb_path *c, const struct tlb_view *w, const struct tlb_roles *r, uint32_t *landing)
{
	for (uint32_t v = 0; v < w->visits; v++)
		if (counts(c, w, v))
			landing[ring_page(w, v)] += r->lands[w->ticks[2 * v + 1]];
}

int tlb_roles_say(const struct tlb_roles *r, double laps, double landing)
{
	const double o = r->there, chance = chance_of(o, r->most, JUDGE_SIGMA_SURE);
	/* A miss may cost what the survey never saw. */
	const bool none_elsewhere =
	    r->anywhere - r->others <= OFTEN * laps + chance_of(r->anywhere, r->others, JUDGE_SIGMA_SURE);

	if (none_elsewhere && o - r->least + chance < TLB_LAP_MOST * landing && o >= r->least - chance)
		return 1;
	for (unsigned i = 0; i < 2; i++)
		if (o - r->most > chance_of(o, r->most, TLB_SURE_NOT) &&
		    r->misses[i] - r->as_misses[i] > TLB_LAP_LEAST * laps)
			return -1;
	return 0;
}
