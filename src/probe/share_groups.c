/* From interference between SMs to the groups that share a level. */
#include "base/arena.h"
#include "probe/share.h"
#include "probe/share_ticks.h"
#include <math.h>
#include <string.h>

#define NONE	UINT32_MAX
#define LAPS	2    /* over the ring before the others begin: where the victim is random, one is not enough */
#define SEEN	24   /* accesses that have to miss every level above, in all repeats together */
#define ENOUGH	24   /* elements of a ring */
#define POWER	0.03 /* of those, more that miss the level when the victim reads the other data itself */
#define LOST	0.1  /* of those that the victim has brought itself: more do not stay in a cold level */
#define GAPS	3    /* stretches of other SMs that a second member of a group is asked about */
#define VICTIMS 16   /* SMs: where some share, at least half do, and one in 2^16 samples has none of those */
#define STRETCH 8    /* SMs: where each stretch of so many has one that shares, as a rule all do */

enum answer { ANSWER_NO, ANSWER_YES, ANSWER_PENDING, ANSWER_UNCLEAR };

#define unclear(l, ...) (share_unclear(l, __VA_ARGS__), ANSWER_UNCLEAR)

double share_ring(const struct share_path *c, unsigned k, double *p)
{
	const struct share_level *l = &c->level[k];
	double size = (double)l->size, stride = (double)l->line, lines = ENOUGH, ring = 0.75 * size;

	/* More lines than any level above can have, wherever it puts them. Not more than leaves room for code, where that has the
	 * level, too. */
	for (unsigned up = 0; up < k; up++)
		lines = fmax(lines, 1.4 * (double)c->level[up].size / (double)c->level[up].line);
	if (!k && l->few)
		ring = fmin(ring, l->few * stride);
	if (k) {
		ring = fmin(lines * stride, 0.75 * size);
		while (ring / stride < lines && stride >= 2 * (double)l[-1].line)
			stride /= 2;
	}
	ring = floor(ring / stride) * stride;
	double other = floor(fmin(1.5 * size, (double)c->limit - ring) / stride) * stride;
	for (unsigned i = 0; i < POINT_PARAMS; i++)
		p[i] = 0;
	p[SHARE_PLACE] = c->kind;
	p[SHARE_STRIDE] = stride;
	p[SHARE_OTHER] = other;
	p[SHARE_LAPS] = l->cold ? 0 : LAPS;
	p[SHARE_LOW] = l->low;
	p[SHARE_HIGH] = l->high;
	return ring;
}

/* SM m measures after `count` SMs from `first` on have read: something else, or its own ring. cold: nobody had read anything before. */
static enum chase_state look_at(struct share_path *c, unsigned k, uint32_t m, uint32_t first, uint32_t count, bool own,
				bool cold, double high, struct share_run *r)
{
	double p[POINT_PARAMS], x = share_ring(c, k, p);

	p[SHARE_LAPS] = cold ? 0 : LAPS;
	p[SHARE_PLACE] += 8.0 * m;
	p[SHARE_FIRST] = first;
	p[SHARE_COUNT] = count;
	p[SHARE_HIGH] = high;
	if (own)
		p[SHARE_OTHER] = -x;
	return share_get(c->study, c->experiment, x, p, r, c->level[k].why, sizeof(c->level[k].why));
}

static enum chase_state look(struct share_path *c, unsigned k, uint32_t m, uint32_t first, uint32_t count, bool own,
			     bool cold, struct share_run *r)
{
	const struct share_level *l = &c->level[k];
	double high = l->high;

	/* What lies behind a cold level is not known, and others may have brought the ring there. A hit is therefore
	 * what takes as long as one that this SM brought itself, or less if not all of that stayed. */
	if (l->cold) {
		enum chase_state s = look_at(c, k, m, m, 1, true, true, high, r);
		if (s != CHASE_DONE)
			return s;
		high = share_slowest(l, r->ticks);
		if (share_too_slow(c, k, r->ticks))
			high = share_most_of_hit(c, k);
		high = ceil(high);
	}
	return look_at(c, k, m, first, count, own, cold, high, r);
}

/* Of the accesses that every level above missed, how many this one missed. */
static double missed(const struct share_run *r)
{
	return r->slow > 0 ? r->miss / r->slow : 0;
}

/* Whether some of these SMs take the level's lines from SM m, or in a cold one bring them there. */
static enum answer touches(struct share_path *c, unsigned k, uint32_t m, uint32_t first, uint32_t count, bool cold)
{
	struct share_level *l = &c->level[k];
	struct share_run calm, alone, r;
	enum chase_state state[3] = {look(c, k, m, cold ? 0 : m, !cold, true, cold, &calm),
				     look(c, k, m, m, 1, cold, cold, &alone),
				     look(c, k, m, first, count, cold, cold, &r)};

	for (unsigned i = 0; i < 3; i++) {
		if (state[i] == CHASE_UNDECIDED) {
			l->state = CHASE_UNDECIDED;
			return ANSWER_UNCLEAR;
		}
	}
	if (state[0] == CHASE_PENDING || state[1] == CHASE_PENDING || state[2] == CHASE_PENDING)
		return ANSWER_PENDING;
	/* What is missed when nobody shares, and when the SM itself does what others might. */
	double yes = missed(&alone), no = missed(&calm), power = fabs(yes - no);
	if (calm.slow < SEEN || alone.slow < SEEN || r.slow < SEEN)
		return unclear(l, "fewer than %d of %.0f accesses on SM %u miss the levels above", SEEN, r.counted, m);
	if (power < POWER || power * alone.slow < SEEN / 1.5 || (yes < no) != cold)
		return unclear(l,
			       "SM %u misses %.0f%% of its lines after it has read %s, and %.0f%% without: that tells "
			       "too little",
			       m, 100 * yes, cold ? "them" : "something else", 100 * no);
	double share = (missed(&r) - no) / (yes - no);
	/* A level behind this one that the others share may be nearly as fast. */
	bool same = !cold || fabs(r.ticks - alone.ticks) <= fmax(2, (0.04 + l->swing) * alone.ticks);
	if (share >= 0.5 && same)
		return ANSWER_YES;
	/* What comes from many SMs goes as well, where not even what comes from one stays. */
	if (share <= 0.25 && cold && yes > LOST)
		return unclear(l, "of what SM %u brings there itself %.0f%% does not stay", m, 100 * yes);
	if (share <= 0.25)
		return ANSWER_NO;
	return unclear(l,
		       "SM %u misses %.0f%% of its lines beside %u SMs from %u on, %.0f%% undisturbed and %.0f%% by "
		       "itself. In %.1f and %.1f ticks that is neither yes nor no",
		       m, 100 * missed(&r), count, first, 100 * no, 100 * yes, r.ticks, alone.ticks);
}

/* Whether some of these SMs share the level with SM m. What many of them read one after the other is a miss for the
 * first of them and a hit for the others. If the victim depends on how often a set was accessed, it may then be the
 * same line each time, and not this SM's. That they take nothing therefore counts only if they bring nothing either. */
static enum answer disturbs(struct share_path *c, unsigned k, uint32_t m, uint32_t first, uint32_t count)
{
	const struct share_level *l = &c->level[k];
	const enum answer taken = touches(c, k, m, first, count, l->cold);
	const bool near = k == 0 && !c->beyond_sm;

	if (l->cold || taken == ANSWER_YES || taken == ANSWER_PENDING || (near && taken == ANSWER_NO))
		return taken;
	return touches(c, k, m, first, count, true);
}

/* How many of [lo, hi) may still share with m, and the last of them. */
static unsigned candidates(const struct share_level *l, uint32_t lo, uint32_t hi, uint32_t *last)
{
	unsigned n = 0;

	for (uint32_t i = lo; i < hi; i++) {
		if (l->group[i] == NONE) {
			n++;
			*last = i;
		}
	}
	return n;
}

/* Whether some of [lo, hi) that no group has yet share with m. */
static enum answer some_share(struct share_path *c, unsigned k, uint32_t m, uint32_t lo, uint32_t hi)
{
	uint32_t last;

	return candidates(&c->level[k], lo, hi, &last) ? disturbs(c, k, m, lo, hi - lo) : ANSWER_NO;
}

/* Whether each stretch of few SMs has one that shares with m. Stretches are those that `split` asks about as well. */
static enum answer everywhere(struct share_path *c, unsigned k, uint32_t m, uint32_t lo, uint32_t hi)
{
	const uint32_t middle = lo + (hi - lo) / 2;

	if (hi - lo <= STRETCH)
		return disturbs(c, k, m, lo, hi - lo);
	const enum answer a = everywhere(c, k, m, lo, middle);
	return a == ANSWER_YES ? everywhere(c, k, m, middle, hi) : a;
}

static enum answer only_together(struct share_level *l, uint32_t last, uint32_t m)
{
	return unclear(l, "SMs up to %u together disturb SM %u, but none of them does by itself", last, m);
}

/* Asks about each SM by itself: where most share with m, halves would only come in between. */
static enum answer one_by_one(struct share_path *c, unsigned k, uint32_t m)
{
	struct share_level *l = &c->level[k];
	const uint32_t sms = study_device(c->study)->sm_count;
	bool pending = false, found = false;

	for (uint32_t i = 0; i < sms; i++) {
		const enum answer a = l->group[i] == NONE ? disturbs(c, k, m, i, 1) : ANSWER_NO;
		if (a == ANSWER_UNCLEAR)
			return a;
		pending |= a == ANSWER_PENDING;
		if (a != ANSWER_YES)
			continue;
		found = true;
		l->group[i] = m;
	}
	if (pending || found)
		return pending ? ANSWER_PENDING : ANSWER_YES;
	return only_together(l, sms - 1, m);
}

/* Gives those of [lo, hi) that share with m to its group. Some do: the range as a whole was asked, or it is what a half left. */
static enum answer split(struct share_path *c, unsigned k, uint32_t m, uint32_t lo, uint32_t hi, bool asked)
{
	struct share_level *l = &c->level[k];
	uint32_t only = 0;
	const unsigned left = candidates(l, lo, hi, &only);

	if (left <= 1) {
		const enum answer a = asked ? ANSWER_YES : some_share(c, k, m, lo, hi);
		if (a == ANSWER_NO)
			return only_together(l, hi - 1, m);
		if (a == ANSWER_YES)
			l->group[only] = m;
		return a;
	}
	const uint32_t middle = lo + (hi - lo) / 2;
	enum answer a1 = some_share(c, k, m, lo, middle);
	if (a1 == ANSWER_UNCLEAR || a1 == ANSWER_PENDING)
		return a1;
	if (a1 == ANSWER_NO)
		return split(c, k, m, middle, hi, false);
	a1 = split(c, k, m, lo, middle, true);
	if (a1 == ANSWER_UNCLEAR)
		return a1;
	enum answer a2 = some_share(c, k, m, middle, hi);
	if (a2 == ANSWER_YES)
		a2 = split(c, k, m, middle, hi, true);
	return a2 == ANSWER_UNCLEAR || a2 == ANSWER_PENDING ? a2 : a1;
}

/* Finds who shares with m, whom some of those that no group has yet disturb. */
static enum answer group_of(struct share_path *c, unsigned k, uint32_t m)
{
	struct share_level *l = &c->level[k];
	const uint32_t sms = study_device(c->study)->sm_count;
	uint32_t other;
	const unsigned left = candidates(l, 0, sms, &other);

	if (!left)
		return unclear(l, "SM %u is disturbed, but all others are known not to share with it", m);
	/* What the first SM says of all others. */
	const enum answer a = left == sms - 1 ? everywhere(c, k, m, 0, sms) : ANSWER_NO;
	if (a == ANSWER_UNCLEAR || a == ANSWER_PENDING)
		return a;
	return a == ANSWER_YES ? one_by_one(c, k, m) : split(c, k, m, 0, sms, true);
}

/* Sharing is transitive: what the first member of a group said has to hold for the last one. */
static enum answer confirm(struct share_path *c, unsigned k, uint32_t m)
{
	struct share_level *l = &c->level[k];
	uint32_t sms = study_device(c->study)->sm_count, last = m, before = m, from = 0;
	struct {
		uint32_t first, count;
	} gap[GAPS] = {{0, 0}};

	for (uint32_t i = 0; i <= sms; i++) {
		if (i < sms && l->group[i] != m)
			continue;
		uint32_t first = from, count = i - from;
		for (unsigned g = 0; g < GAPS; g++) { /* the largest stretches without a member */
			if (count <= gap[g].count)
				continue;
			uint32_t f = gap[g].first, n = gap[g].count;
			gap[g].first = first;
			gap[g].count = count;
			first = f;
			count = n;
		}
		from = i + 1;
		if (i < sms) {
			before = last;
			last = i;
		}
	}
	if (last == m)
		return ANSWER_YES;
	enum answer a = disturbs(c, k, last, m, 1), b = before == m ? a : disturbs(c, k, last, before, 1);
	bool pending = a == ANSWER_PENDING || b == ANSWER_PENDING;
	if (a == ANSWER_NO || b == ANSWER_NO)
		return unclear(l, "SM %u shares with %u, and %u as well, but not these two with each other", m,
			       a == ANSWER_NO ? last : before, last);
	for (unsigned g = 0; g < GAPS && a != ANSWER_UNCLEAR && b != ANSWER_UNCLEAR; g++) {
		enum answer other = gap[g].count ? disturbs(c, k, last, gap[g].first, gap[g].count) : ANSWER_NO;
		if (other == ANSWER_YES)
			return unclear(l, "SM %u shares with %u, and one of %u to %u with %u, but not with each other",
				       m, last, gap[g].first, gap[g].first + gap[g].count - 1, last);
		if (other == ANSWER_UNCLEAR)
			return other;
		pending |= other == ANSWER_PENDING;
	}
	return a == ANSWER_UNCLEAR || b == ANSWER_UNCLEAR ? ANSWER_UNCLEAR : pending ? ANSWER_PENDING : ANSWER_YES;
}

void share_count(const uint32_t *group, unsigned sms, unsigned *scratch, unsigned *groups, unsigned *smallest,
		 unsigned *largest)
{
	*groups = *largest = 0;
	*smallest = sms;
	memset(scratch, 0, sms * sizeof(*scratch));
	for (unsigned i = 0; i < sms; i++)
		scratch[group[i]]++;
	for (unsigned i = 0; i < sms; i++) {
		if (!scratch[i])
			continue;
		++*groups;
		*smallest = scratch[i] < *smallest ? scratch[i] : *smallest;
		*largest = scratch[i] > *largest ? scratch[i] : *largest;
	}
}

const char *share_word(const struct share_level *l, unsigned sms)
{
	return l->groups == sms ? "sm" : l->groups == 1 ? "gpu" : "cluster";
}

/* Whether SMs that are of one group in a are so in b, too. */
static bool is_nested(const uint32_t *a, const uint32_t *b, unsigned sms)
{
	for (unsigned i = 0; i < sms; i++) {
		if (b[i] != b[a[i]])
			return false;
	}
	return true;
}

/* A cold level of unknown size may be smaller than the ring. Its mean does not show that if the level above keeps some
 * of the ring. Lines that lie closer take less of the cold level, as long as the level above does not hold them. */
static enum chase_state make_it_stay(struct share_path *c, unsigned k)
{
	struct share_level *l = &c->level[k];

	while (k && l->cold && l->few && l->line >= 2 * l[-1].line) {
		struct share_run own;
		const enum chase_state s = look(c, k, 0, 0, 1, true, true, &own);
		if (s != CHASE_DONE || own.slow < SEEN || missed(&own) <= LOST)
			return s;
		l->line /= 2;
	}
	return CHASE_DONE;
}

/* Whether nobody shares: of VICTIMS SMs each has the level for itself, beside all others. */
static enum answer all_alone(struct share_path *c, unsigned k)
{
	struct share_level *l = &c->level[k];
	const uint32_t sms = study_device(c->study)->sm_count;
	bool pending = false;

	l->victims = sms < VICTIMS ? sms : VICTIMS;
	for (uint32_t i = 0; i < l->victims; i++) {
		const enum answer a = disturbs(c, k, i * sms / l->victims, 0, sms);
		if (a == ANSWER_UNCLEAR || (i == 0 && a == ANSWER_PENDING))
			return a;
		if (a == ANSWER_YES)
			return ANSWER_NO;
		pending |= a == ANSWER_PENDING;
	}
	return pending ? ANSWER_PENDING : ANSWER_YES;
}

static void find_groups(struct share_path *c, unsigned k)
{
	struct share_level *l = &c->level[k];
	uint32_t sms = study_device(c->study)->sm_count;
	bool pending = false;

	l->group = ARENA_ARRAY(study_arena(c->study), sms, uint32_t);
	unsigned *members = ARENA_ARRAY(study_arena(c->study), sms, unsigned);
	if (!l->group || !members) {
		share_unclear(l, "out of memory");
		return;
	}
	for (uint32_t m = 0; m < sms; m++)
		l->group[m] = NONE;
	l->state = make_it_stay(c, k);
	if (l->state != CHASE_DONE)
		return;
	const enum answer alone = all_alone(c, k);
	if (alone == ANSWER_UNCLEAR)
		return;
	pending = alone == ANSWER_PENDING;
	for (uint32_t m = 0; m < sms && !pending; m++) {
		if (l->group[m] != NONE)
			continue;
		enum answer a = alone == ANSWER_YES ? ANSWER_NO : disturbs(c, k, m, 0, sms);
		if (a == ANSWER_NO || a == ANSWER_YES)
			l->group[m] = m;
		if (a == ANSWER_YES)
			a = group_of(c, k, m);
		if (a == ANSWER_UNCLEAR)
			return;
		pending = a == ANSWER_PENDING;
	}
	for (uint32_t m = 0; m < sms && !pending; m++) {
		if (l->group[m] != m)
			continue;
		enum answer a = confirm(c, k, m);
		if (a == ANSWER_UNCLEAR)
			return;
		pending |= a == ANSWER_PENDING;
	}
	l->state = pending ? CHASE_PENDING : CHASE_DONE;
	if (!pending)
		share_count(l->group, sms, members, &l->groups, &l->smallest, &l->largest);
}

enum chase_state share_find(struct share_path *c)
{
	unsigned sms = study_device(c->study)->sm_count;
	bool pending = false;

	if (sms < 2 || !c->levels)
		return CHASE_WHY(c->why, c->levels ? "there is one SM" : "there is no level");
	enum chase_state s = share_calibrate(c);
	if (s != CHASE_DONE)
		return s;
	for (unsigned k = 0; k < c->levels; k++) {
		if (c->level[k].high > 0)
			find_groups(c, k);
		pending |= c->level[k].state == CHASE_PENDING;
	}
	if (pending)
		return CHASE_PENDING;
	for (unsigned k = 1; k < c->levels; k++) {
		struct share_level *l = &c->level[k], *up = l - 1;
		if (l->state != CHASE_DONE || up->state != CHASE_DONE || is_nested(up->group, l->group, sms))
			continue;
		share_unclear(l, "SMs share the level above, but not this one");
		share_unclear(up, "SMs share it, but not the level below");
	}
	return CHASE_DONE;
}
