/* The geometry of a level from rings of code. */
#include "base/arena.h"
#include "code_ring.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

static enum code_state unknown(struct code_fact *f, const char *why)
{
	f->known = false;
	snprintf(f->why, sizeof f->why, "%s", why);
	return CODE_MISSING;
}

static void known(struct code_fact *f, uint32_t value)
{
	f->known = true;
	f->value = f->lo = f->hi = value;
}

enum code_state code_fits(const struct code *c, const struct code_survey *v, unsigned k, const struct code_ring *r,
			  bool *out)
{
	const struct code_level *l = &v->level[k];
	struct code_run run;
	enum code_state st = code_get(c, r, &run);
	if (st == CODE_HERE)
		*out = !code_overflows(&run, l->floor, code_noise_below(v, l->floor, l->fits));
	return st;
}

enum code_state code_smallest(const struct code *c, const struct code_survey *v, unsigned k, struct code_ring r,
			      unsigned low, unsigned high, unsigned step, unsigned *out)
{
	while (low + 1 < high) {
		bool yes;
		const unsigned middle = (low + high) / 2;
		r.count = middle * step;
		enum code_state st = code_fits(c, v, k, &r, &yes);
		if (st != CODE_HERE)
			return st;
		if (yes)
			low = middle;
		else
			high = middle;
	}
	*out = high;
	return CODE_HERE;
}

/* Descending, the first piece of a line that misses brings the others: slow jumps are a line apart. */
static enum code_state find_line(const struct code *c, const struct code_survey *v, unsigned k, unsigned above,
				 struct code_level *l)
{
	/* So large that all of it misses: what the loop takes of the first level makes that level look smaller than it is. */
	unsigned at = code_large_ring(v, l);
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
	known(&l->line, best * c->unit);
	/* What comes in whole lines of the level above shows no shorter ones. */
	if (best == 1 && above == c->unit) {
		l->line.likely = true;
		snprintf(l->line.why, sizeof l->line.why,
			 "every line that the level above fetches misses: a shorter one would not show");
		return CODE_HERE;
	}
	if (best == 1)
		return unknown(&l->line, "every piece of code misses: a line may be as short as one, or shorter");
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
	double noise = code_noise_below(v, l->miss, l->fits) * r->laps;
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
		struct code_ring r = {
		    .first = l->first + j * per, .stride = per * sets, .warm = 4, .laps = CODE_LAPS_SURE};
		if (beside_loop(c, l, sets, code_line_of(l, c->unit, r.first)))
			continue;
		unsigned over = 2, high = (c->pieces - r.first - 1) / r.stride + 1;
		high = high > most ? most : high;
		bool yes;
		tried++;
		if (high < 2)
			return unknown(&l->ways, "the code is too short for a ring in one set");
		r.count = high;
		enum code_state st = code_fits(c, v, k, &r, &yes);
		if (st == CODE_HERE && yes)
			return unknown(&l->ways, "no ring of lines that should conflict is too large for one set");
		if (st == CODE_HERE)
			st = code_smallest(c, v, k, r, 1, high, 1, &over);
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

/* Whether lines that conflict are as far apart wherever they begin. Lines of one set of a hash may be evenly spaced,
 * and hardly those of another, too. A set that has a line of the loop does not hold as many, either. clear: one of the
 * sets has none of the loop's. */
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

/* The largest distance at which each of the lines has another one. It is that of lines of one set, if lines of several
 * sets conflict. 0: there is none. */
static unsigned common_distance(const unsigned *line, unsigned n)
{
	unsigned best = 0;
	for (unsigned k = 1; k < n; k++) {
		const unsigned d = line[k] - line[0];
		unsigned paired = 0;
		for (unsigned i = 0; i < n; i++)
			for (unsigned j = 0; j < n; j++)
				if (line[i] + d == line[j] || line[j] + d == line[i]) {
					paired++;
					break;
				}
		best = paired == n ? d : best;
	}
	return best;
}

static const char not_among[] = "the line too many is not among those that conflict";

/* Ways of a level behind the first, of which n lines conflict when the ring has one line too many. CODE_MISSING: why says why they do not tell. */
static enum code_state in_a_row(const struct code *c, struct code_survey *v, unsigned k, struct code_ring r,
				unsigned sets, unsigned *line, unsigned n, const char **why)
{
	struct code_level *l = &v->level[k];
	bool same, clear;
	*why = not_among;
	if (line[n - 1] != code_line_of(l, c->unit, r.first) + r.count - 1)
		return CODE_MISSING;
	if (same_elsewhere(c, v, k, r, sets, line, &same, &clear) == CODE_PENDING)
		return CODE_PENDING;
	*why = !same	? "lines that conflict are not as far apart elsewhere"
	       : !clear ? "the loop that jumps may have a line in each set that was looked at"
			: "what fits in a row and how many lines conflict do not agree";
	if (!same || !clear || l->lines != (n - 1) * sets)
		return CODE_MISSING;
	known(&l->ways, n - 1);
	return CODE_HERE;
}

static enum code_state all_unknown(struct code_level *l, const char *why)
{
	unknown(&l->size, why);
	unknown(&l->ways, why);
	return unknown(&l->sets, why);
}

/* The line, and how many lines in a row fit. out: the ring of one line too many. */
static enum code_state lines_in_a_row(const struct code *c, struct code_survey *v, unsigned k, unsigned above,
				      struct code_ring *out)
{
	struct code_level *l = &v->level[k];
	struct code_ring r = {.first = c->low, .stride = 1, .warm = 2, .laps = 4};
	enum code_state st = code_smallest(c, v, k, r, l->fits, l->over, 1, &l->over);
	if (st == CODE_PENDING)
		return st;
	if (st == CODE_MISSING)
		return all_unknown(l, "a ring of code could not be measured");
	l->fits = l->over - 1;
	if (find_line(c, v, k, above, l) != CODE_HERE) {
		char why[sizeof l->line.why];
		snprintf(why, sizeof why, "%.190s", l->line.why);
		return all_unknown(l, why);
	}
	unsigned per = l->line.value / c->unit;
	if (!per)
		return all_unknown(l, "a line is shorter than a piece of code");
	r.stride = per;
	r.warm = 4;
	r.laps = CODE_LAPS_SURE;
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
	st = code_fits(c, v, k, &r, &yes);
	if (st == CODE_HERE && yes)
		return all_unknown(l, "rings of one piece a line hold more than rings of all pieces");
	if (st == CODE_HERE)
		st = code_smallest(c, v, k, r, low, high, 1, &over);
	if (st == CODE_PENDING)
		return st;
	if (st == CODE_MISSING)
		return all_unknown(l, "a ring of one piece a line could not be measured");
	l->lines = over - 1;
	r.count = over;
	*out = r;
	return CODE_HERE;
}

enum code_state code_geometry(const struct code *c, struct code_survey *v, unsigned k, unsigned above)
{
	struct code_level *l = &v->level[k];
	struct code_ring r;
	enum code_state st = lines_in_a_row(c, v, k, above, &r);
	if (st != CODE_HERE)
		return st;
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
	const bool even = evenly_spaced(line, n, sets);
	if (!even)
		sets = k ? common_distance(line, n) : 0;
	if (!sets)
		return all_unknown(l, "lines that conflict are not evenly spaced");
	/* One line too many of several sets is too many for one of them; of a single one it is for all lines. */
	if (k == 0 && sets == 1 && n * 4 >= r.count * 3) {
		code_one_set(c, l);
		return CODE_HERE;
	}
	if (k == 0) {
		if (line[n - 1] != code_line_of(l, c->unit, r.first) + r.count - 1)
			return all_unknown(l, not_among);
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
		const char *why = "lines that conflict are not evenly spaced";
		st = even ? in_a_row(c, v, k, r, sets, line, n, &why) : CODE_MISSING;
		if (st == CODE_MISSING)
			st = code_rows(c, v, k, sets);
		if (st == CODE_PENDING)
			return st;
		if (st == CODE_MISSING) {
			char rows[sizeof l->ways.why];
			snprintf(rows, sizeof rows, "%.100s; %.90s", why, l->ways.why);
			return all_unknown(l, rows);
		}
	}
	known(&l->sets, sets);
	known(&l->size, l->ways.value * sets * l->line.value);
	return CODE_HERE;
}
