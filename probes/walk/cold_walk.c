/* Walks through memory whose every place is new: what their loops must not hide, and which of them tell. */
#include "stat/stat.h"
#include "walk.h"
#include <math.h>
#include <string.h>

enum {
	EVEN_LEAST = 4, /* sizes of which most are not spoilt */
	COMPARED = 2	/* the size of loads whose loops are compared: 4 bytes */
};

#define UNEVEN 1.03 /* a step of the longer loop, over one of the shorter with its part of the loop */
#define UNLIKE 1.02 /* a step of many rounds over one of half as many, or of one loop over one of another */
#define BESIDE 2.0  /* steps that a round takes at least, beside its own, if it waits for translations */

const char cold_late[] =
    "steps of the longer loop through memory take longer than those of the shorter: its instructions did not "
    "come as fast";

/* Pauses take as long between loads of shared memory, which nothing else delays. */
static struct timed without_pauses(struct study *s, struct timed t, unsigned pauses, struct walk_loops loops,
				   const struct walk_clock *clock)
{
	const struct timed with = walk_ask(s, SPACE_SHARED, 4, pauses, loops, clock),
			   plain = walk_ask(s, SPACE_SHARED, 4, 0, loops, clock);
	const double pause = with.ns - plain.ns, unsure = hypot(with.hi - with.ns, plain.hi - plain.ns);
	t.ok = t.ok && with.ok && plain.ok;
	t.ns -= pause;
	t.lo -= pause + unsure;
	t.hi += unsure - pause;
	return t;
}

/* Evens out launches that a faster clock or a refresh made shorter than their like. Such a launch spoils one half of
 * the rounds and the other half in opposite directions, so that all rounds together tell a step better. All rounds take
 * more, or less, by what comes once. That is alike for all sizes of this region that made as many rounds. */
static void even_out(const struct timed raw[WALK_SIZES], struct cold *c, unsigned place)
{
	double more[WALK_SIZES], scratch[WALK_SIZES];
	for (unsigned i = 0; i < WALK_SIZES; i++) {
		size_t n = 0;
		for (unsigned k = 0; k < WALK_SIZES && raw[i].ok; k++)
			if (raw[k].ok && raw[k].fewer > 0 && raw[k].point->p[P_ROUNDS] == raw[i].point->p[P_ROUNDS])
				more[n++] = raw[k].fewer - raw[k].ns;
		if (n < EVEN_LEAST || !(raw[i].fewer > 0))
			continue;
		const double by = (raw[i].fewer - stat_median(more, n, scratch) - raw[i].ns) / 2;
		c->walk[i][place].ns += by;
		c->walk[i][place].lo += by;
		c->walk[i][place].hi += by;
	}
}

/* Whether a step of the longer loop takes longer than one of the shorter. Each round of both waits for translations.
 * They are a greater part of a shorter loop's step, and hide it. They do so as much in the first region, whose code is
 * shortest. */
static bool is_late(const struct timed *walk, const struct timed *first)
{
	const double usual = first->ok ? fmin(first->ns - first->alone, 0) : 0;
	return walk->ns - walk->alone - usual > (UNEVEN - 1) * walk->alone;
}

void cold_ask(struct study *s, struct walk_loops loops, const struct walk_clock *clock, struct cold *c)
{
	struct timed raw[COLD_PLACES][WALK_SIZES];
	*c = (struct cold){.loops = loops};
	for (unsigned i = 0; i < WALK_SIZES; i++)
		for (unsigned k = 0; k < COLD_PLACES; k++) {
			const struct timed walk = walk_ask(s, EXPERIMENT_COLD, 1u << i, k, loops, clock);
			/* What comes once, as code does, makes fewer rounds take longer for a step as well, but not a round
			 * longer than its steps. */
			const bool beside = loops.few * (walk.alone - walk.ns) > BESIDE * walk.ns,
				   unlike = walk.ns > UNLIKE * walk.fewer || walk.fewer > UNLIKE * walk.ns;
			raw[k][i] = walk;
			c->walk[i][k] = without_pauses(s, walk, 1 + k, loops, clock);
			c->told[k] += walk.ok;
			c->code[k] += walk.ok && is_late(&walk, &raw[0][i]);
			c->pages[k] += walk.ok && beside && unlike;
			c->longer[k] += walk.ok && walk.ns > UNLIKE * walk.fewer;
		}
	for (unsigned k = 0; k < COLD_PLACES; k++)
		even_out(raw[k], c, k);
	memcpy(c->raw, raw[0], sizeof c->raw);
}

/* How many regions, from the first one on, say what a load takes. Each one's code is longer than the last one's. The
 * regions before the first whose code no longer comes in time tell, unless they are too few to agree. With still longer
 * code neither loop's may come in time, and they seem alike again. */
unsigned cold_good(const struct cold *c, const char **why)
{
	unsigned good = 0, pages = 0, longer = 0, told = 0;
	while (good < COLD_PLACES && !(c->told[good] && c->code[good] == c->told[good]))
		good++;
	for (unsigned k = 0; k < COLD_PLACES; k++) {
		pages += c->pages[k];
		longer += c->longer[k];
		told += c->told[k];
	}
	*why = NULL;
	if (told && good < 2)
		*why = cold_late;
	else if (told && (pages == told || longer == told))
		*why = "steps through memory take not as long in twice as many rounds: not all pages' translations "
		       "were at hand "
		       "in both";
	return good;
}

/* Several regions: what one memory answers to each of them is between the extremes. */
struct timed cold_walk(const struct timed *walk, unsigned good)
{
	struct timed all = {.ok = false};
	double sum = 0;
	for (unsigned k = 0; k < COLD_PLACES; k++) {
		const struct timed t = walk[k];
		if (!k || (all.ok && !t.ok)) {
			all = t;
		} else if (all.ok) {
			all.lo = fmin(all.lo, t.lo);
			all.hi = fmax(all.hi, t.hi);
		}
		sum += k < good ? t.ns : 0;
	}
	all.ns = all.ok && good ? sum / good : all.ns;
	return all;
}

/* Whether pauses take unlike long between loads of shared memory. Each region's steps have one pause more than the last
 * one's. If instructions do not come in time, pauses do not take what is taken off for them. */
static bool uneven_pauses(struct study *s, double step, struct walk_loops loops, const struct walk_clock *clock)
{
	double least = INFINITY, most = -INFINITY, half = 0;
	struct timed last = {.ok = false};
	for (unsigned k = 1; k <= COLD_PLACES; k++) {
		const struct timed t = walk_ask(s, SPACE_SHARED, 4, k, loops, clock);
		if (!t.ok)
			return false;
		if (k > 1) {
			least = fmin(least, t.ns - last.ns);
			most = fmax(most, t.ns - last.ns);
		}
		half = fmax(half, t.half);
		last = t;
	}
	return most - least > (UNLIKE - 1) * step + 2 * half;
}

bool cold_uneven(struct study *s, const struct cold *c, const struct walk_clock *clock)
{
	return c->raw[0].ok && uneven_pauses(s, c->raw[0].ns, c->loops, clock);
}

/* Whether steps of two pairs of loops take as long, as far as they are known. */
static bool alike(const struct timed *a, const struct timed *b)
{
	return fabs(a->ns - b->ns) <= (UNLIKE - 1) * fmin(a->ns, b->ns) + hypot(a->half, b->half);
}

/* A step of the size compared, in the first region, by such loops. Links of one part of a loop may have more pauses than those of another. */
static struct timed step_of(struct study *s, struct walk_loops loops, const struct walk_clock *clock)
{
	return without_pauses(s, walk_ask(s, EXPERIMENT_COLD, 1u << COMPARED, 0, loops, clock), 1, loops, clock);
}

/* Whether the code of a walk's longer loop has no room in the first instruction cache. */
static bool no_room(struct study *s, const struct timed *walk)
{
	const struct native_info *n = study_native(s, EXPERIMENT_COLD, walk->point);
	const double room = study_code_room(s);
	return n && room > 0 && n->layout.code_bytes > room;
}

bool cold_bends(struct study *s, const struct cold *c, const struct walk_clock *clock)
{
	const unsigned few = c->loops.few, many = c->loops.many, middle = (few + many) / 2;
	if (!no_room(s, &c->raw[COMPARED]))
		return false;
	const struct timed first = step_of(s, (struct walk_loops){few, middle}, clock),
			   last = step_of(s, (struct walk_loops){middle, many}, clock);
	return !study_pending(s) && first.ok && last.ok && !alike(&first, &last);
}

enum cold_code cold_compare(struct study *s, const struct cold *c, struct walk_loops loops,
			    const struct walk_clock *clock)
{
	const unsigned middle = (loops.few + loops.many) / 2;
	const struct walk_loops parts[] = {loops, {loops.few, middle}, {middle, loops.many}};
	const struct timed *usual = &c->raw[COMPARED];
	struct timed t[3];
	for (unsigned i = 0; i < 3; i++)
		t[i] = step_of(s, parts[i], clock);
	/* An older recording has none of them. */
	const bool missing = !t[0].repeats || !t[1].repeats || !t[2].repeats;
	const struct timed longer = without_pauses(s, *usual, 1, c->loops, clock);
	const bool uneven = uneven_pauses(s, t[0].ns, loops, clock);
	if (study_pending(s) || missing)
		return COLD_UNKNOWN;
	if (uneven || !t[0].ok || !t[1].ok || !t[2].ok || !longer.ok || !alike(&t[1], &t[2]))
		return COLD_LATE;
	return alike(&longer, &t[0]) ? COLD_AS_LONG : COLD_SHORTER;
}
