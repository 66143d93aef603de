/* What the time of two operations in one stream says about their pipes. */
#include "pipes_stream.h"
#include <math.h>

enum {
	GROUP_MOST = 64, /* instructions of a group */
	UNEVEN_MOST = 8, /* operations of one kind in an uneven one */
	MORE_OF_IT = 3	 /* times as long as the row's work in a stream that is mostly of another operation */
};

#define APART_MOST   0.12 /* excess that imperfect overlap explains */
#define HALF_SEEN    0.25 /* excess that the issue rate may hide before nothing can be said */
#define PART_LEAST   0.2
#define SHARED_LEAST 0.85
#define CONTRAST     1.15
#define LESS_ALONE                                                                                                     \
	0.82 /* of both, one after the other, under the only load that was tried: two on one pipe take more */
#define LESS                                                                                                           \
	0.88 /* of both, one after the other: two on one pipe take no less under most loads, though short streams differ */
#define SLACK	     1.05 /* times shorter than its issue is what does not hold a stream up, too */
#define ISSUE_MARGIN 1.1  /* a stream that takes so much longer than its issue is not held up by that */
#define NEAR_ISSUE   1.6  /* one that takes less may be held up by the order in which warps get their turns ... */
#define BEYOND_ISSUE 1.08 /* ... and one that takes more is held up by something */

/* Instructions of each in one group, so that both take about as long. */
static void balance(const struct pipes *u, unsigned a, unsigned b, unsigned *n_a, unsigned *n_b)
{
	const double q = u->solo[a].cycles / u->solo[b].cycles;
	double best = INFINITY;
	*n_a = *n_b = 1;
	for (unsigned i = 1; i <= 4; i++) {
		unsigned few = i, many = (unsigned)fmax(1, round(i * fmax(q, 1 / q)));
		if (few + many > GROUP_MOST)
			many = GROUP_MOST - few;
		/* a small group is worth a little imbalance */
		const double off = fabs(log((double)many / few / fmax(q, 1 / q))) + 0.02 * i;
		if (off < best) {
			best = off;
			*n_a = q >= 1 ? few : many;
			*n_b = q >= 1 ? many : few;
		}
	}
}

struct times {
	double slower, both, issue; /* cycles: the slower one alone, one after the other, what issuing takes */
};

static struct times times_of(const struct pipes *u, unsigned a, unsigned n_a, unsigned b, unsigned n_b)
{
	const struct solo *x = &u->solo[a], *y = &u->solo[b];
	const double t_a = n_a * x->cycles, t_b = n_b * y->cycles;
	return (struct times){fmax(t_a, t_b), t_a + t_b, (n_a * x->native + n_b * y->native) * u->issue};
}

double pipes_contrast(const struct pipes *u, unsigned a, unsigned b)
{
	unsigned n_a, n_b;
	balance(u, a, b, &n_a, &n_b);
	const struct times t = times_of(u, a, n_a, b, n_b);
	return t.both / fmax(t.slower, t.issue);
}

/* What so long a time of the two says. */
static struct pair judge(const struct times *t, double cycles)
{
	const double excess = (cycles - t->slower) / (t->both - t->slower), floor = fmax(t->slower, t->issue);
	const double beyond = t->both > CONTRAST * floor ? (cycles - floor) / (t->both - floor) : 0;
	if (excess < -APART_MOST || excess > 1 + APART_MOST)
		return (struct pair){.is = REL_UNKNOWN, .excess = excess}; /* neither order of things explains that */
	if (excess <= APART_MOST || (excess <= HALF_SEEN && beyond <= APART_MOST))
		return (struct pair){.is = REL_APART, .excess = excess};
	const bool seen = cycles > ISSUE_MARGIN * t->issue;
	if (seen && beyond >= SHARED_LEAST)
		return (struct pair){.is = REL_SHARED, .excess = excess};
	if (seen && beyond >= PART_LEAST)
		return (struct pair){.is = REL_PART, .excess = excess};
	return (struct pair){.is = REL_HIDDEN, .excess = excess};
}

void pipes_expect_pair(const struct pipes *u, unsigned a, unsigned b, unsigned chains)
{
	const unsigned x = a < b ? a : b, y = a < b ? b : a;
	unsigned n_x, n_y;
	balance(u, x, y, &n_x, &n_y);
	stream_expect(u->s, x, n_x, y, n_y, n_x * u->solo[x].native + n_y * u->solo[y].native, chains, STREAM_LONG);
}

/* Asks streams of other proportions what may share a pipe. A pipe in common makes none of them shorter than its work
 * takes. Warps that get their turns too late for a free pipe wait in some proportions and not in others. So the least
 * counts, over all streams, of the part of either's work that needs the other's pipe.
 *
 * One operation alone may be as fast as issue allows. Issuing the other's instructions then looks like such a part, and
 * no proportions show less. */
static struct pair other_proportions(struct pipes *u, unsigned a, unsigned n_a, unsigned b, unsigned n_b,
				     unsigned first, const struct pair *seen)
{
	/* of the more numerous ones, in quarters */
	static const unsigned char quarters[] = {4, 3, 5, 2};
	const struct solo *x = &u->solo[a], *y = &u->solo[b];
	const size_t missing = study_missing(u->s);
	/* An operation of two pipes does only a part of its work on the other's: one that was seen has to be gone. */
	const double nothing = seen->is == REL_PART ? APART_MOST : PART_LEAST;
	double of_a = INFINITY, of_b = INFINITY, issue_a = INFINITY, issue_b = INFINITY;
	for (size_t k = 0; k < sizeof quarters && study_missing(u->s) == missing && fmax(of_a, of_b) > nothing; k++) {
		unsigned m_a = n_a, m_b = n_b, *many = n_a > n_b ? &m_a : &m_b, *few = n_a > n_b ? &m_b : &m_a;
		const unsigned times = quarters[k] * *many + 4 * *few <= GROUP_MOST ? 4 : 1;
		*many = (quarters[k] * *many * times + 2) / 4;
		*few *= times;
		while (*many % 2 == 0 && *few % 2 == 0) {
			*many /= 2;
			*few /= 2;
		}
		const double steps = (double)m_a * x->native + (double)m_b * y->native, t_a = m_a * x->cycles,
			     t_b = m_b * y->cycles;
		stream_expect_all(u->s, a, m_a, b, m_b, (unsigned)steps);
		for (unsigned i = 0; i < PIPES_LOADS && fmax(of_a, of_b) > nothing; i++) {
			const struct stream m =
			    stream_of(u->s, a, m_a, b, m_b, (unsigned)steps, (first + i) % PIPES_LOADS, STREAM_LONG);
			if (!m.ok || fabs(m.native - steps) > 0.1 * steps)
				continue;
			of_a = fmin(of_a, (m.cycles - t_b) / t_a);
			of_b = fmin(of_b, (m.cycles - t_a) / t_b);
			issue_a = fmin(issue_a, (steps * u->issue - t_b) / t_a);
			issue_b = fmin(issue_b, (steps * u->issue - t_a) / t_b);
		}
	}
	const double most = fmax(of_a, of_b);
	if (most <= nothing)
		return (struct pair){.is = REL_APART, .excess = most};
	const bool by_issue =
	    isfinite(most) && of_a <= fmax(0, issue_a) + nothing && of_b <= fmax(0, issue_b) + nothing;
	return most < seen->excess - APART_MOST || by_issue ? (struct pair){.is = REL_HIDDEN, .excess = most} : *seen;
}

/* Times of one pair under the loads so far. */
struct tried {
	unsigned a, b, count, warps[PIPES_LOADS], load; /* load: of the shortest */
	double cycles[PIPES_LOADS], shortest;
};

/* Whether warps wait for each other under a load that takes about the shortest time: each takes longer there than where they are fewer. One
 * that takes its time whatever the others do need not wait for a pipe: its instructions may not be at hand. */
static bool wait_for_each_other(const struct tried *t)
{
	for (unsigned i = 0; i < t->count; i++)
		for (unsigned k = 0; k < t->count; k++)
			if (t->warps[i] > t->warps[k] && t->cycles[i] <= (1 + APART_MOST) * t->shortest &&
			    t->cycles[i] * t->warps[i] > (1 + APART_MOST) * t->cycles[k] * t->warps[k])
				return true;
	return false;
}

/* Whether two numbers of warps took about the shortest time: then more would not be faster. */
static bool as_fast_with_fewer(const struct tried *t)
{
	for (unsigned i = 0; i < t->count; i++)
		for (unsigned k = 0; k < t->count; k++)
			if (t->warps[i] > t->warps[k] &&
			    fmax(t->cycles[i], t->cycles[k]) <= (1 + APART_MOST) * t->shortest)
				return true;
	return false;
}

/* The same, or as many warps as there can be were among them. Few warps may not hide what holds each of them up, such
 * as code that is not at hand. They may wait for each other a little and still take as long as one after the other. */
static bool enough_warps(const struct pipes *u, const struct tried *t)
{
	bool most = false;
	for (unsigned i = 0; i < t->count; i++)
		most |= t->warps[i] == stream_warps(study_device(u->s), t->a, t->b, 0);
	return most || as_fast_with_fewer(t);
}

/* Whether warps are held up by a pipe, as far as their times under several loads tell. Each warp more then adds at
 * least half of what it may take at most. Even as many warps as there can be may be too few to hide that their code is
 * not at hand. */
static bool by_a_pipe(const struct pair *p, const struct tried *t)
{
	bool held = as_fast_with_fewer(t);
	for (unsigned i = 0; i < t->count && p->is == REL_SHARED; i++)
		for (unsigned k = 0; k < t->count; k++)
			held |= t->warps[i] > t->warps[k] && t->cycles[i] <= (1 + APART_MOST) * t->shortest &&
				2 * t->cycles[i] * t->warps[i] >= t->cycles[k] * (t->warps[i] + t->warps[k]);
	return held && wait_for_each_other(t);
}

static void try_load(const struct pipes *u, struct tried *t, unsigned load, double cycles)
{
	t->warps[t->count] = stream_warps(study_device(u->s), t->a, t->b, load);
	t->cycles[t->count++] = cycles;
	if (cycles < t->shortest) {
		t->shortest = cycles;
		t->load = load;
	}
}

/* Judges warps that do not wait for each other once more, by a stream so short that its code is at hand if any is. */
static struct pair by_short(struct pipes *u, unsigned a, unsigned n_a, unsigned b, unsigned n_b, const struct tried *t,
			    const struct pair *seen)
{
	const double steps = (double)n_a * u->solo[a].native + (double)n_b * u->solo[b].native;
	const struct stream m = stream_together(u->s, a, n_a, b, n_b, (unsigned)steps, t->load, STREAM_SHORT);
	if (!m.ok && !m.bad && m.cycles == 0)
		return (struct pair){.is = REL_UNKNOWN};
	if (!m.ok || fabs(m.native - steps) > 0.1 * steps)
		return (struct pair){.is = REL_HIDDEN, .excess = seen->excess};
	const struct times all = times_of(u, a, n_a, b, n_b);
	return judge(&all, fmin(m.cycles, t->shortest));
}

/* As far as the loads of a pair tell together: what one pipe makes of them, or issuing, holds up all alike. */
static void by_most(const struct pipes *u, unsigned a, unsigned n_a, unsigned b, unsigned n_b, const struct tried *t,
		    struct pair *p)
{
	const struct times all = times_of(u, a, n_a, b, n_b);
	const double steps = (double)n_a * u->solo[a].native + (double)n_b * u->solo[b].native;
	unsigned less = 0;
	for (unsigned i = 0; i < t->count; i++)
		less += t->cycles[i] <= LESS * all.both;
	p->asked = t->count > 0;
	p->less = t->count > 1 ? 2 * less >= t->count : p->asked && t->shortest <= LESS_ALONE * all.both;
	p->more = t->count > 1 && !p->less && all.both > CONTRAST * fmax(all.slower, steps * u->issue_most);
}

/* The two in groups of so many each; a < b, one stream for both orders. */
static struct pair try_groups(struct pipes *u, unsigned a, unsigned n_a, unsigned b, unsigned n_b, bool closely,
			      struct tried *all)
{
	const struct solo *x = &u->solo[a], *y = &u->solo[b];
	const unsigned first = x->load > y->load ? x->load : y->load;
	struct pair out = {.is = REL_UNKNOWN};
	bool loose = false, enough = false;
	unsigned packed = PIPES_LOADS; /* the least load whose chains a compiler packs */
	const double steps = (double)n_a * x->native + (double)n_b * y->native;
	stream_expect_all(u->s, a, n_a, b, n_b, (unsigned)steps);
	/* A time between both extremes may only mean a load under which the two do not overlap well. In a short stream
	 * its ends count. Issuing hides the same things as before. */
	const bool apart = x->least == STREAM_APART || y->least == STREAM_APART;
	for (unsigned least = apart ? STREAM_APART : STREAM_LONG;
	     least <= (apart || loose ? STREAM_APART : STREAM_LONG); least *= STREAM_LONG / STREAM_SHORT) {
		const unsigned count = least == STREAM_APART ? FULLER_LOADS : PIPES_LOADS;
		all->count = 0;
		for (unsigned i = 0; i < count && !enough; i++) {
			const unsigned load = (first + i) % count;
			if (load >= packed)
				continue;
			if (least == STREAM_APART)
				stream_expect_apart(u->s, a, n_a, b, n_b, (unsigned)steps, (load + 1) % count);
			const struct stream m = stream_of(u->s, a, n_a, b, n_b, (unsigned)steps, load, least);
			if (!m.ok && !m.bad && m.cycles == 0)
				return out;
			if (stream_is_packed(a, b, &m))
				packed = load;
			if (m.loose && !loose)
				stream_expect_apart(u->s, a, n_a, b, n_b, (unsigned)steps, first % FULLER_LOADS);
			loose |= m.loose;
			if (!m.ok || fabs(m.native - steps) > 0.1 * steps)
				continue;
			try_load(u, all, load, m.cycles);
			u->issue = fmin(u->issue, m.cycles / m.native);
			const struct times t = times_of(u, a, n_a, b, n_b);
			out = judge(&t, all->shortest);
			out.preferred = least == STREAM_APART;
			/* If some warps are preferred, too few others may be left at the pipe that is not the slower
			 * one's. */
			if (least == STREAM_APART && out.is == REL_PART)
				out.is = REL_HIDDEN;
			/* Neither do those that seem to take turns, as long as only one number of warps says so. */
			if (out.is == REL_APART || t.both < CONTRAST * t.issue)
				return out;
			/* Times of preferred warps prove nothing, either. Such warps may keep one pipe to themselves
			 * until another load lets the others at it. */
			enough = least != STREAM_APART && out.is == REL_SHARED && wait_for_each_other(all) &&
				 enough_warps(u, all);
		}
		if (enough || out.is == REL_HIDDEN)
			break;
	}
	if (!out.preferred && (out.is == REL_SHARED || out.is == REL_PART) && !by_a_pipe(&out, all))
		out = by_short(u, a, n_a, b, n_b, all, &out);
	const double issue = steps * u->issue;
	if (!apart && ((out.is == REL_PART && (all->shortest < NEAR_ISSUE * issue || out.excess < HALF_OF_IT)) ||
		       (out.is == REL_HIDDEN && closely && all->shortest > BEYOND_ISSUE * issue)))
		return other_proportions(u, a, n_a, b, n_b, all->load, &out);
	return out;
}

static struct pair in_groups(struct pipes *u, unsigned a, unsigned n_a, unsigned b, unsigned n_b, bool closely)
{
	struct tried tried = {.a = a, .b = b, .shortest = INFINITY};
	struct pair p = try_groups(u, a, n_a, b, n_b, closely, &tried);
	by_most(u, a, n_a, b, n_b, &tried, &p);
	return p;
}

static void in_order(unsigned *a, unsigned *b)
{
	if (*a > *b) {
		const unsigned t = *a;
		*a = *b;
		*b = t;
	}
}

struct pair pipes_pair(struct pipes *u, unsigned a, unsigned b, bool closely)
{
	unsigned n_a, n_b;
	if (a == b)
		return (struct pair){.is = REL_SHARED, .excess = 1};
	in_order(&a, &b);
	balance(u, a, b, &n_a, &n_b);
	return in_groups(u, a, n_a, b, n_b, closely);
}

/* Whether such a stream would take longer if half of either's work were on the other's pipe, as with an operation on
 * two pipes. The other pipe goes on with its own work meanwhile, so that only a full one shows that. The shorter of
 * both takes `less` alone. */
static bool shows_half(const struct times *t, double less)
{
	return fmin(t->slower + HALF_OF_IT * less, less + HALF_OF_IT * t->slower) > SLACK * fmax(t->slower, t->issue);
}

struct pair pipes_pair_uneven(struct pipes *u, unsigned a, unsigned b)
{
	unsigned n_a = 0, n_b = 0;
	double most = CONTRAST;
	in_order(&a, &b);
	for (unsigned i = 1; i <= UNEVEN_MOST; i++)
		for (unsigned k = 1; k <= UNEVEN_MOST; k++) {
			const struct times t = times_of(u, a, i, b, k);
			/* On two pipes only issuing should hold them up: two things that are nearly full at once do not overlap well. */
			const double c = t.both / fmax(SLACK * t.slower, t.issue);
			if (c > most && t.issue - t.slower <= PART_LEAST * (t.both - t.slower)) {
				most = c;
				n_a = i;
				n_b = k;
			}
		}
	const struct pair p = n_a ? in_groups(u, a, n_a, b, n_b, false) : (struct pair){.is = REL_HIDDEN};
	const struct times t = times_of(u, a, n_a, b, n_b);
	if (p.is == REL_APART && !shows_half(&t, t.both - t.slower))
		return (struct pair){.is = REL_HIDDEN, .excess = p.excess};
	return p.is == REL_APART || p.is == REL_SHARED ? p : (struct pair){.is = REL_HIDDEN, .excess = p.excess};
}

/* Two pipes of one operation take its instructions as they become free. Suppose as much work of an operation that is on
 * the first pipe alone runs beside it. Every other instruction may then find the second pipe busy, which takes as long
 * as one pipe. Beside MORE_OF_IT as much, the second pipe is free again whenever it does a third of the operation's
 * work or more. A smaller part that it does is missing from the first. */
double pipes_mostly(struct pipes *u, unsigned row, unsigned with)
{
	unsigned a = row, b = with, n_row, n_with;
	balance(u, row, with, &n_row, &n_with);
	n_with *= MORE_OF_IT;
	if (n_row + n_with > GROUP_MOST)
		return NAN;
	in_order(&a, &b);
	const unsigned n_a = a == row ? n_row : n_with, n_b = a == row ? n_with : n_row;
	const struct solo *x = &u->solo[a], *y = &u->solo[b];
	const struct times t = times_of(u, a, n_a, b, n_b);
	if (t.both < CONTRAST * fmax(t.slower, t.issue))
		return NAN;
	const double steps = (double)n_a * x->native + (double)n_b * y->native;
	const bool apart = x->least == STREAM_APART || y->least == STREAM_APART;
	const unsigned first = x->load > y->load ? x->load : y->load, count = apart ? FULLER_LOADS : PIPES_LOADS;
	for (unsigned i = 0; i < count; i++) {
		const struct stream m = stream_of(u->s, a, n_a, b, n_b, (unsigned)steps, (first + i) % count,
						  apart ? STREAM_APART : STREAM_LONG);
		if (!m.ok && !m.bad && m.cycles == 0)
			return NAN;
		if (m.ok && fabs(m.native - steps) <= 0.1 * steps)
			return (m.cycles - t.slower) / (t.both - t.slower);
	}
	return NAN;
}
