/* Levels and their geometry from rings of code. */
#include "base/arena.h"
#include "code_ring.h"
#include "probe/chase.h"
#include "stat/stat.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

#define PEAKS CODE_CLASSES
#define PEAK  0.025 /* of a ring's jumps make a class */
#define MANY  32    /* laps in which each line that conflicts misses at least twice, whatever is replaced */
#define RARE  0.02  /* share of slow jumps below which they may be noise */
#define ALIKE 0.5   /* two ways to be answered by one level: the nearer takes that part of the other's time, at least */

static double reach(double ticks)
{
	return 3.5 + 0.04 * ticks;
}

/* ---- survey ---- */

static unsigned laps_of(unsigned count)
{
	unsigned laps = 768 / count;
	return laps < 3 ? 3 : laps > 24 ? 24 : laps;
}

/* Jumps that take as long may be read a step of the clock apart, and in which rings they are hangs on what else a turn does. */
static double nearness(const struct code_classes *c, double centre)
{
	return fmax(reach(centre), 1.1 * c->granule);
}

static void add_class(struct code_classes *c, double centre)
{
	const double near = nearness(c, centre);
	unsigned k = 0;
	while (k < c->count && c->centre[k] < centre - near)
		k++;
	if (k < c->count && c->centre[k] < centre + near) {
		c->centre[k] = (c->centre[k] * c->points[k] + centre) / (c->points[k] + 1);
		c->points[k]++;
		return;
	}
	if (c->count == PEAKS)
		return;
	memmove(&c->centre[k + 1], &c->centre[k], (c->count - k) * sizeof *c->centre);
	memmove(&c->points[k + 1], &c->points[k], (c->count - k) * sizeof *c->points);
	c->centre[k] = centre;
	c->points[k] = 1;
	c->count++;
}

static void take_out(struct code_classes *c, unsigned k)
{
	c->count--;
	memmove(&c->centre[k], &c->centre[k + 1], (c->count - k) * sizeof *c->centre);
	memmove(&c->points[k], &c->points[k + 1], (c->count - k) * sizeof *c->points);
}

/* A centre moves with each ring, also to where another class of the same jumps was begun: whatever is as near as that is of both. */
static void join_near(struct code_classes *c)
{
	for (unsigned k = 1; k < c->count;) {
		const unsigned points = c->points[k - 1] + c->points[k];
		if (c->centre[k] - c->centre[k - 1] > nearness(c, c->centre[k])) {
			k++;
			continue;
		}
		c->centre[k - 1] = (c->centre[k - 1] * c->points[k - 1] + c->centre[k] * c->points[k]) / points;
		c->points[k - 1] = points;
		take_out(c, k);
	}
}

static bool find_classes(const struct code *c, const struct code_survey *v, struct code_classes *out)
{
	*out = (struct code_classes){0};
	study_number(c->study, "clock.granularity", &out->granule);
	for (unsigned i = 0; i < v->count; i++) {
		const struct code_run *r = &v->run[i];
		struct chase_peak peak[PEAKS];
		uint32_t *t = ARENA_ARRAY(study_arena(c->study), r->visits, uint32_t);
		if (!t)
			return false;
		for (unsigned n = 0; n < r->visits; n++)
			t[n] = code_ticks(r, n);
		unsigned n = chase_peaks(t, r->visits, 1, PEAK, peak, PEAKS);
		for (unsigned k = 0; k < n; k++)
			add_class(out, peak[k].centre);
	}
	join_near(out);
	return true;
}

static double share_near(const struct code_run *r, double centre)
{
	unsigned n = 0;
	for (unsigned i = 0; i < r->visits; i++)
		n += fabs(code_ticks(r, i) - centre) <= reach(centre);
	return (double)n / r->visits;
}

/* Of all jumps, those that take no less than this class does: what is nearer does not answer them. */
static double share_beyond(const struct code_run *r, double centre)
{
	unsigned n = 0;
	for (unsigned i = 0; i < r->visits; i++)
		n += code_ticks(r, i) >= centre - reach(centre);
	return (double)n / r->visits;
}

/* Whether class k is the one before it while the SM's clock ran faster: no slower than that makes it, and of the larger rings' jumps never
 * most of those that are of either. What is really slower answers most of them in the end. Of a long line only the first jump is of a class, so that
 * rings tell where either class answers some of what nearer ones do not. */
static bool is_ghost(const struct code_survey *v, const struct code_classes *c, unsigned k, double boost)
{
	double part[CODE_SURVEY], scratch[CODE_SURVEY];
	size_t n = 0;
	if (c->centre[k] > c->centre[k - 1] * (1 + boost) + reach(c->centre[k]))
		return false;
	for (unsigned i = 0; i < v->count; i++) {
		const double near = share_near(&v->run[i], c->centre[k - 1]),
			     far = share_near(&v->run[i], c->centre[k]),
			     beyond = share_beyond(&v->run[i], c->centre[k - 1]);
		if (near + far >= PEAK && near + far >= 0.25 * beyond)
			part[n++] = far / (near + far);
	}
	const size_t last = n < 6 ? n : n / 2 < 6 ? 6 : n / 2;
	return n && stat_median(part + (n - last), last, scratch) < 0.5;
}

/* The first class is the SM's own, which keeps its cycles. */
static void drop_ghosts(const struct code *c, const struct code_survey *v, struct code_classes *all)
{
	const double swing = study_swing(c->study);
	if (!(swing > 0))
		return;
	for (unsigned k = 2; k < all->count;) {
		if (!is_ghost(v, all, k, swing)) {
			k++;
			continue;
		}
		take_out(all, k);
	}
}

/* Misses that noise does not explain: at least one a lap. */
static bool overflows(const struct code_run *r, double floor, double noise)
{
	unsigned slow = code_slow(r, floor);
	double chance = noise * r->visits;
	return slow >= r->laps && slow > 2 * chance + 4 * sqrt(chance);
}

/* How often a jump that should hit is slow, from the rings that surely fit. */
static double noise_below(const struct code_survey *v, double floor, unsigned pieces)
{
	double slow = 0, all = 0;
	for (unsigned i = 0; i < v->count; i++)
		if (v->ring[i].count <= pieces) {
			slow += code_slow(&v->run[i], floor);
			all += v->run[i].visits;
		}
	return all > 0 ? slow / all : 0;
}

/* Whether class k and the next one may be the same level's: halves of a cache, rows of a memory. A near cache that others keep emptying
 * shows together with what lies behind it, too, but takes far less time. */
static bool alike(const struct code_classes *c, unsigned k)
{
	return k + 1 == c->count || c->centre[k] - c->centre[0] >= ALIKE * (c->centre[k + 1] - c->centre[0]);
}

/* Each floor that makes no level of its own is dropped. */
void code_find_levels(struct code_survey *v, const struct code_classes *c)
{
	unsigned last = 0;
	v->levels = 0;
	for (unsigned k = 0; k < c->count && v->levels <= CODE_LEVELS; k++) {
		struct code_level l = {.ticks = c->centre[k]};
		l.floor = k + 1 < c->count ? chase_floor(c->centre[k], c->centre[k + 1]) : INFINITY;
		l.miss = l.floor;
		l.endless = true;
		double noise = 0;
		for (unsigned i = 0; i < v->count; i++) {
			if (overflows(&v->run[i], l.floor, noise < RARE ? noise : RARE)) {
				l.over = v->ring[i].count;
				l.endless = false;
				break;
			}
			l.fits = v->ring[i].count;
			noise = noise_below(v, l.floor, l.fits);
		}
		/* Not even the smallest ring is without what is slower: the steps of a coarse clock, no level. */
		if (!l.endless && !l.fits)
			continue;
		/* What is slower but holds no more is the same level: rows of a memory, neighbours of different distance. */
		if (v->levels && !l.endless && l.fits <= last + last / 4 && alike(c, k)) {
			v->level[v->levels - 1].floor = l.floor;
			continue;
		}
		last = l.fits;
		v->level[v->levels++] = l;
		if (l.endless)
			break;
	}
}

enum code_state code_measure_survey(struct code *c, struct code_survey *v)
{
	struct code_classes classes;
	enum code_state all = CODE_HERE;
	*v = (struct code_survey){0};
	for (double n = 4; v->count < CODE_SURVEY && n <= c->pieces - c->low; n *= n < 64 ? 1.42 : 1.26) {
		struct code_ring *r = &v->ring[v->count];
		*r = (struct code_ring){.first = c->low, .stride = 1, .count = (unsigned)n, .warm = 2};
		r->laps = laps_of(r->count);
		enum code_state st = code_get(c, r, &v->run[v->count]);
		if (st == CODE_MISSING) {
			snprintf(v->why, sizeof v->why, "%s", point_why(v->run[v->count].point));
			return st;
		}
		all = st == CODE_PENDING ? st : all;
		v->count++;
	}
	if (all != CODE_HERE)
		return all;
	if (!code_lies(c, v->run[0].point)) {
		snprintf(v->why, sizeof v->why, "the pieces of code do not lie as they were meant to");
		return CODE_MISSING;
	}
	if (!find_classes(c, v, &classes) || !classes.count) {
		snprintf(v->why, sizeof v->why, "the times of jumps form no classes");
		return CODE_MISSING;
	}
	drop_ghosts(c, v, &classes);
	code_find_levels(v, &classes);
	return CODE_HERE;
}

/* ---- one level ---- */

static enum code_state unknown(struct code_fact *f, const char *why)
{
	f->known = false;
	snprintf(f->why, sizeof f->why, "%s", why);
	return CODE_MISSING;
}

static void known(struct code_fact *f, uint32_t value)
{
	f->known = true;
	f->value = value;
}

static enum code_state fits(const struct code *c, const struct code_survey *v, unsigned k, const struct code_ring *r,
			    bool *out)
{
	const struct code_level *l = &v->level[k];
	struct code_run run;
	enum code_state st = code_get(c, r, &run);
	if (st == CODE_HERE)
		*out = !overflows(&run, l->floor, noise_below(v, l->floor, l->fits));
	return st;
}

/* The smallest number of elements that does not fit, between one that does and one that does not. */
static enum code_state smallest(const struct code *c, const struct code_survey *v, unsigned k, struct code_ring r,
				unsigned low, unsigned high, unsigned *out)
{
	while (low + 1 < high) {
		bool yes;
		r.count = (low + high) / 2;
		enum code_state st = fits(c, v, k, &r, &yes);
		if (st != CODE_HERE)
			return st;
		if (yes)
			low = r.count;
		else
			high = r.count;
	}
	*out = high;
	return CODE_HERE;
}

/* Descending, the first piece of a line that misses brings the others: slow jumps are a line apart. */
static enum code_state find_line(const struct code *c, const struct code_survey *v, unsigned k, struct code_level *l)
{
	/* So large that all of it misses: what the loop takes of the first level makes that level look smaller than it is. */
	unsigned at = 0;
	while (at + 1 < v->count && v->ring[at].count < l->over * 2)
		at++;
	if (v->ring[at].count * 4 < l->over * (k ? 5 : 7))
		at = v->count;
	if (at == v->count)
		return unknown(&l->line, "no ring of code is so much larger than the level that all of it misses");
	const struct code_run *r = &v->run[at];
	unsigned *slow = ARENA_ARRAY(study_arena(c->study), c->pieces, unsigned);
	if (!slow)
		return unknown(&l->line, "out of memory");
	memset(slow, 0, c->pieces * sizeof *slow);
	for (unsigned i = 0; i < r->visits; i++)
		slow[code_piece(&v->ring[at], i)] += code_ticks(r, i) >= l->miss;
	unsigned all = 0, best = 0, top = 0, next = 0;
	for (unsigned i = 0; i < c->pieces; i++)
		all += slow[i];
	for (unsigned d = 1; d <= 4096 / c->unit && d * 4 <= l->over; d *= 2) {
		unsigned most = 0, where = 0;
		for (unsigned o = 0; o < d; o++) {
			unsigned n = 0;
			for (unsigned i = o; i < c->pieces; i += d)
				n += slow[i];
			if (n > most) {
				most = n;
				where = o;
			}
		}
		if (most * 10 < all * 9) {
			next = most;
			break;
		}
		best = d;
		top = where;
	}
	if (all < 3 * r->laps || !next || next * 10 > all * 7)
		return unknown(&l->line, "the jumps that miss lie at no common distance");
	l->top = top;
	if (best == 1)
		return unknown(&l->line, "every piece of code misses: a line may be as short as one, or shorter");
	known(&l->line, best * c->unit);
	return CODE_HERE;
}

/* Lines counted in the direction of addresses; line 0 holds the first piece of the kernel, or begins behind it. */
unsigned code_line_of(const struct code_level *l, unsigned unit, unsigned piece)
{
	unsigned n = l->line.value / unit;
	return (piece + n - 1 - l->top) / n;
}

static long floor_div(long a, long b)
{
	return a >= 0 ? a / b : -((-a + b - 1) / b);
}

/* The same of any address of the kernel. */
static long line_at(const struct code *c, const struct code_level *l, uint32_t address)
{
	long end_of_first = (long)c->begin + (long)(l->top + 1) * (long)c->unit;
	return floor_div((long)address - end_of_first, (long)l->line.value) + 1;
}

/* The lines that ever miss when one line too many is visited. hot: count elements of the ring. */
static enum code_state conflicting(const struct code *c, const struct code_survey *v, unsigned k,
				   const struct code_ring *r, unsigned *line, unsigned *n)
{
	const struct code_level *l = &v->level[k];
	struct code_run run;
	enum code_state st = code_get(c, r, &run);
	if (st != CODE_HERE)
		return st;
	/* All that miss count, also those for which what lies behind is at its fastest. */
	double noise = noise_below(v, l->miss, l->fits) * r->laps;
	*n = 0;
	for (unsigned i = r->count; i-- > 0;) { /* ascending */
		unsigned slow = 0;
		for (unsigned lap = 0; lap < r->laps; lap++)
			slow += code_ticks(&run, lap * r->count + i) >= l->miss;
		if (slow >= 2 && slow > 3 * noise + 2)
			line[(*n)++] = code_line_of(l, c->unit, code_piece(r, i));
	}
	return CODE_HERE;
}

static bool holds(const struct code *c, const struct code_level *l, unsigned sets, unsigned line, uint32_t from,
		  uint32_t to)
{
	/* Lines end somewhere within the last piece that begins in them, or right behind it, as line_at has it. */
	for (long at = line_at(c, l, from); from < to && at <= line_at(c, l, to - 1 + c->unit - 1); at++)
		if ((at - (long)line) % (long)sets == 0)
			return true;
	return false;
}

/* May a line of the loop itself be in the set of this line? It is fetched at every jump, or once a lap, and never seen. The loop
 * ends in front of the pieces or begins behind them, as the compiler likes. */
static bool beside_loop(const struct code *c, const struct code_level *l, unsigned sets, unsigned line)
{
	const uint32_t end = c->begin + c->pieces * c->unit;
	return holds(c, l, sets, line, c->begin - c->before, c->begin) || holds(c, l, sets, line, end, end + c->behind);
}

/* Ways of the nearest level, whose sets also hold the loop: rings within one set where the loop is not. */
static enum code_state ways_alone(const struct code *c, struct code_survey *v, unsigned k, unsigned sets)
{
	struct code_level *l = &v->level[k];
	unsigned per = l->line.value / c->unit, tried = 0, ways = 0, most = l->lines / sets + 4;
	enum code_state all = CODE_HERE;
	for (unsigned j = 0; j < sets && tried < 6; j++) {
		struct code_ring r = {.first = l->first + j * per, .stride = per * sets, .warm = 4, .laps = MANY};
		if (beside_loop(c, l, sets, code_line_of(l, c->unit, r.first)))
			continue;
		unsigned over = 2, high = (c->pieces - r.first - 1) / r.stride + 1;
		high = high > most ? most : high;
		bool yes;
		tried++;
		if (high < 2)
			return unknown(&l->ways, "the code is too short for a ring in one set");
		r.count = high;
		enum code_state st = fits(c, v, k, &r, &yes);
		if (st == CODE_HERE && yes)
			return unknown(&l->ways, "no ring of lines that should conflict is too large for one set");
		if (st == CODE_HERE)
			st = smallest(c, v, k, r, 1, high, &over);
		if (st == CODE_MISSING)
			return unknown(&l->ways, "a ring within one set could not be measured");
		if (st == CODE_PENDING) {
			all = st;
			continue;
		}
		if (ways && over - 1 != ways)
			return unknown(&l->ways, "sets hold different numbers of lines");
		ways = over - 1;
	}
	if (all == CODE_PENDING)
		return all;
	if (!tried)
		return unknown(&l->ways, "the loop that jumps has a line in every set");
	known(&l->ways, ways);
	return CODE_HERE;
}

static bool evenly_spaced(const unsigned *line, unsigned n, unsigned sets)
{
	for (unsigned i = 1; i < n; i++)
		if (line[i] - line[i - 1] != sets)
			return false;
	return true;
}

/* Whether lines that conflict are as far apart wherever they begin: those of a set of a hash may be evenly spaced, and hardly those of another. Nor
 * do as many fit into both where the loop takes a line of one. clear: one of them has none of the loop's. */
static enum code_state same_elsewhere(const struct code *c, const struct code_survey *v, unsigned k, struct code_ring r,
				      unsigned sets, unsigned *line, bool *same, bool *clear)
{
	const unsigned moved = r.stride * (sets / 3 + 1);
	unsigned n;

	*same = true;
	*clear = !beside_loop(c, &v->level[k], sets, code_line_of(&v->level[k], c->unit, r.first));
	if (sets < 2)
		return CODE_HERE;
	r.first += r.first + moved + r.stride * r.count <= c->pieces ? moved : r.stride;
	if (r.first + r.stride * r.count > c->pieces)
		return CODE_HERE;
	const enum code_state st = conflicting(c, v, k, &r, line, &n);
	/* An older recording has no such ring. */
	if (st != CODE_HERE)
		return st == CODE_PENDING && study_pending(c->study) ? st : CODE_HERE;
	*clear |= !beside_loop(c, &v->level[k], sets, code_line_of(&v->level[k], c->unit, r.first));
	*same = n > 1 && evenly_spaced(line, n, sets);
	return CODE_HERE;
}

static enum code_state all_unknown(struct code_level *l, const char *why)
{
	unknown(&l->size, why);
	unknown(&l->ways, why);
	return unknown(&l->sets, why);
}

enum code_state code_geometry(const struct code *c, struct code_survey *v, unsigned k)
{
	struct code_level *l = &v->level[k];
	struct code_ring r = {.first = c->low, .stride = 1, .warm = 2, .laps = 4};
	enum code_state st = smallest(c, v, k, r, l->fits, l->over, &l->over);
	if (st == CODE_PENDING)
		return st;
	if (st == CODE_MISSING)
		return all_unknown(l, "a ring of code could not be measured");
	l->fits = l->over - 1;
	if (find_line(c, v, k, l) != CODE_HERE) {
		char why[sizeof l->line.why];
		snprintf(why, sizeof why, "%.190s", l->line.why);
		return all_unknown(l, why);
	}
	unsigned per = l->line.value / c->unit;
	if (!per)
		return all_unknown(l, "a line is shorter than a piece of code");
	r.stride = per;
	r.warm = 4;
	r.laps = MANY;
	/* Elements are the lowest pieces of lines, of which no end lies in the next one. */
	for (l->first = c->low; l->first % per != (l->top + 1) % per; l->first++)
		;
	r.first = l->first;
	unsigned about = l->over / per, over = 1;
	unsigned low = k ? about - about / 4 - (about > 3 ? 3 : 0) : about / 2,
		 high = k ? about + about / 8 + 3 : about * 2 + 6;
	low = low ? low : 1;
	if (r.first + r.stride * high > c->pieces)
		high = (c->pieces - r.first) / r.stride;
	r.count = high;
	if (high <= about || r.first + r.stride * r.count > c->pieces)
		return all_unknown(l, "the code is too short to go beyond this level");
	bool yes = false;
	st = fits(c, v, k, &r, &yes);
	if (st == CODE_HERE && yes)
		return all_unknown(l, "rings of one piece a line hold more than rings of all pieces");
	if (st == CODE_HERE)
		st = smallest(c, v, k, r, low, high, &over);
	if (st == CODE_PENDING)
		return st;
	if (st == CODE_MISSING)
		return all_unknown(l, "a ring of one piece a line could not be measured");
	l->lines = over - 1;
	r.count = over;
	unsigned *line = ARENA_ARRAY(study_arena(c->study), r.count + 2, unsigned), n = 0;
	if (!line)
		return all_unknown(l, "out of memory");
	line[0] = line[1] = 0;
	st = conflicting(c, v, k, &r, line, &n);
	if (st == CODE_PENDING)
		return st;
	if (st == CODE_MISSING)
		return all_unknown(l, "a ring of one line too many could not be measured");
	if (n < 2)
		return all_unknown(l, "with one line too many no two lines miss again and again");
	unsigned sets = line[1] - line[0];
	if (!evenly_spaced(line, n, sets))
		return all_unknown(l, "lines that conflict are not evenly spaced");
	if (line[n - 1] != code_line_of(l, c->unit, r.first) + r.count - 1)
		return all_unknown(l, "the line too many is not among those that conflict");
	if (k == 0) {
		st = ways_alone(c, v, k, sets);
		if (st != CODE_HERE) {
			char why[sizeof l->ways.why];
			snprintf(why, sizeof why, "%.190s", l->ways.why);
			return st == CODE_PENDING ? st : all_unknown(l, why);
		}
		/* The loop takes some lines of some sets. */
		unsigned hidden = 2 + (c->before + c->behind) / (l->line.value * sets);
		if (l->lines > l->ways.value * sets || l->lines + (hidden + 1) * sets < l->ways.value * sets)
			return all_unknown(l, "what fits in a row and what fits in one set do not agree");
	} else {
		bool same, clear;
		st = same_elsewhere(c, v, k, r, sets, line, &same, &clear);
		if (st == CODE_PENDING)
			return st;
		if (!same)
			return all_unknown(l, "lines that conflict are not as far apart elsewhere");
		if (!clear)
			return all_unknown(l, "the loop that jumps may have a line in each set that was looked at");
		known(&l->ways, n - 1);
		if (l->lines != l->ways.value * sets)
			return all_unknown(l, "what fits in a row and how many lines conflict do not agree");
	}
	known(&l->sets, sets);
	known(&l->size, l->ways.value * sets * l->line.value);
	return CODE_HERE;
}
