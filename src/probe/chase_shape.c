/* Size, line, ways and sets of one level. */
#include "base/arena.h"
#include "probe/chase.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

#define SETS_TRIED   4
#define OFFSETS_MOST 512
#define LINE_MOST    4096

static enum chase_state undecided(struct chase_fact *f, const char *why)
{
	f->state = CHASE_UNDECIDED;
	snprintf(f->why, sizeof(f->why), "%s", why);
	return CHASE_UNDECIDED;
}

static enum chase_state decided(struct chase_fact *f, uint64_t value)
{
	f->state = CHASE_DONE;
	f->value = value;
	return CHASE_DONE;
}

/* ---- size ---- */

/* The survey's bracket: elements that seem to fit, and that do not. */
static void bracket(const struct chase_path *c, unsigned k, double *lo, double *hi)
{
	const struct chase_level *l = &c->level[k];
	/* Only the first access to what one miss fetches can miss. */
	double unit = l->sector.state == CHASE_DONE ? (double)l->sector.value / (double)c->stride : 1;

	*lo = (double)c->stride;
	*hi = (double)c->limit;
	for (unsigned i = 0; i < c->survey_count; i++) {
		const struct chase_sample *s = &c->survey[i];
		double beyond = 0;
		for (unsigned q = l->class_last + 1; q < c->class_count; q++)
			beyond += s->share[q];
		if (beyond * unit > 0.25) {
			*hi = s->footprint;
			break;
		}
		if (beyond < 0.002 + 3 * l->noise && s->footprint > *lo)
			*lo = s->footprint;
	}
}

static enum chase_state fits_elements(struct chase_path *c, unsigned k, uint64_t n, unsigned order, bool *fits,
				      double *misses)
{
	const struct chase_level *l = &c->level[k];
	return chase_fits(c, k, &(struct chase_ring_spec){.bytes = n * l->stride, .stride = l->stride, .order = order},
			  fits, misses);
}

/* The largest number of elements that fits, lo, and the next one, hi. */
struct edge {
	uint64_t lo, hi, most;
	bool endless;
};

static enum chase_state find_edge(struct chase_path *c, unsigned k, struct edge *e)
{
	bool fits_lo, fits_hi;
	double hi_misses, past_misses = 0;
	uint64_t past = 0;
	enum chase_state a = fits_elements(c, k, e->lo, 0, &fits_lo, NULL);
	enum chase_state b = fits_elements(c, k, e->hi, 0, &fits_hi, &hi_misses);

	if (a != CHASE_DONE || b != CHASE_DONE)
		return a == CHASE_UNDECIDED || b == CHASE_UNDECIDED ? CHASE_UNDECIDED : CHASE_PENDING;
	while (!fits_lo) {
		if (e->lo == 1) {
			snprintf(c->why, sizeof(c->why), "not even a single line stays");
			return CHASE_UNDECIDED;
		}
		e->hi = e->lo;
		fits_hi = false;
		e->lo -= (e->lo + 7) / 8;
		e->lo = e->lo ? e->lo : 1;
		a = fits_elements(c, k, e->lo, 0, &fits_lo, &hi_misses);
		if (a != CHASE_DONE)
			return a;
	}
	while (fits_hi && e->hi < e->most) {
		e->lo = e->hi;
		e->hi = e->hi + e->hi / 8 + 1 < e->most ? e->hi + e->hi / 8 + 1 : e->most;
		b = fits_elements(c, k, e->hi, 0, &fits_hi, &hi_misses);
		if (b != CHASE_DONE)
			return b;
	}
	e->endless = fits_hi;
	/* Sets overflow one by one, so misses grow about evenly behind the edge: that says where it is. Steps that double
	 * from a good guess find it; every third step halves what is left, whatever the guesses were worth. */
	uint64_t hop = 1;
	bool guessed = false;
	for (unsigned step = 1; !e->endless && e->hi - e->lo > 1; step++) {
		uint64_t at = e->lo + (e->hi - e->lo) / 2;
		if (step % 3 && guessed) {
			at = fits_lo ? e->lo + hop : e->hi - hop;
			hop *= 2;
		} else if (step % 3 && past && past_misses > hi_misses) {
			double edge = (double)e->hi - hi_misses * (double)(past - e->hi) / (past_misses - hi_misses);
			at = edge > (double)e->lo ? (uint64_t)edge : e->lo + 1;
			guessed = true;
			hop = 1;
		}
		at = at <= e->lo ? e->lo + 1 : at >= e->hi ? e->hi - 1 : at;
		bool fits;
		double misses;
		a = fits_elements(c, k, at, 0, &fits, &misses);
		if (a != CHASE_DONE)
			return a;
		if (fits) {
			e->lo = at;
		} else {
			past = e->hi;
			past_misses = hi_misses;
			e->hi = at;
			hi_misses = misses;
		}
		/* The other side of the guess was already seen: guess anew. */
		if (guessed && hop > 1 && fits != fits_lo)
			guessed = false;
		fits_lo = fits;
	}
	return CHASE_DONE;
}

uint64_t chase_step(const struct chase_path *c, unsigned k, uint64_t unit, double footprint)
{
	double lines = 0;
	uint64_t step = unit;

	for (unsigned i = 0; i < k; i++) {
		const struct chase_level *up = &c->level[i];
		if (up->size.state != CHASE_DONE || up->line.state != CHASE_DONE)
			return c->stride;
		lines = fmax(lines, (double)up->size.value / (double)up->line.value);
	}
	while (step > c->stride && (footprint / (double)step < 2 * lines || step % 2))
		step /= 2;
	return step < c->stride || step % c->stride || unit % step ? c->stride : step;
}

enum chase_state chase_size(struct chase_path *c, unsigned k)
{
	struct chase_level *l = &c->level[k];
	double from, to;
	bool fits_lo = false, fits_hi = false;

	if (k && c->level[k - 1].line.state == CHASE_PENDING)
		return l->size.state = CHASE_PENDING;
	/* Coarser steps than what one miss fetches leave out lines, and make the level look larger. */
	if (l->sector.state != CHASE_DONE)
		return undecided(&l->size, "what one miss fetches is not known");
	if (c->stride > l->sector.value || l->sector.value % c->stride)
		return undecided(&l->size,
				 "what one miss fetches is smaller than the steps in which this level was walked");
	bracket(c, k, &from, &to);
	l->stride = k && l->sector.state == CHASE_DONE ? chase_step(c, k, l->sector.value, from) : c->stride;
	uint64_t lo = (uint64_t)(from / (double)l->stride), hi = (uint64_t)ceil(to / (double)l->stride);
	uint64_t most = c->limit / l->stride;
	lo = lo ? lo : 1;
	hi = hi > most ? most : hi;
	hi = hi > lo ? hi : lo + 1;
	struct edge e = {.lo = lo, .hi = hi, .most = most};
	enum chase_state a = find_edge(c, k, &e), b;
	if (a == CHASE_UNDECIDED)
		return undecided(&l->size, c->why);
	if (a == CHASE_PENDING)
		return l->size.state = a;
	if (e.endless) {
		l->endless = true;
		return decided(&l->size, most * l->stride);
	}
	lo = e.lo;
	hi = e.hi;
	/* Where noise alone makes misses, counting them finds the edge only about. */
	if (l->noise * (double)lo > 0.1 || l->noise_seen < 1000)
		l->noisy = true;
	/* What does not fit misses for ever. What only found a stranger's line in its set, as that of the output, drives it out
	 * in the end, soon or late as the policy has it. */
	if (!l->patient) {
		bool fits_late;
		l->patient = true;
		b = fits_elements(c, k, hi, 0, &fits_late, NULL);
		l->patient = false;
		if (b == CHASE_PENDING)
			return l->size.state = b;
		if (b == CHASE_UNDECIDED)
			return undecided(&l->size, c->why);
		if (fits_late) {
			l->patient = true;
			e = (struct edge){.lo = hi, .hi = hi + (hi / 16 ? hi / 16 : 1), .most = most};
			e.hi = e.hi > most ? most : e.hi;
			a = e.hi > e.lo ? find_edge(c, k, &e) : CHASE_DONE;
			if (a != CHASE_DONE)
				return a == CHASE_PENDING ? (l->size.state = a) : undecided(&l->size, c->why);
			if (e.endless || e.hi == e.lo) {
				l->endless = true;
				return decided(&l->size, most * l->stride);
			}
			lo = e.lo;
			hi = e.hi;
		}
	}
	/* Both sides of the edge again, in other orders. */
	enum chase_state all = CHASE_DONE;
	for (unsigned order = 1; order <= 2; order++) {
		bool patient = l->patient;
		l->patient = true;
		a = fits_elements(c, k, lo, order, &fits_lo, NULL);
		l->patient = patient;
		b = fits_elements(c, k, hi, order, &fits_hi, NULL);
		if (a == CHASE_UNDECIDED || b == CHASE_UNDECIDED)
			return undecided(&l->size, c->why);
		if (a == CHASE_PENDING || b == CHASE_PENDING) {
			all = CHASE_PENDING;
			continue;
		}
		if (!fits_lo || fits_hi) {
			snprintf(c->why, sizeof(c->why), "%llu bytes %s and %llu %s, in another order of the accesses",
				 (unsigned long long)(lo * l->stride), fits_lo ? "fit" : "do not fit",
				 (unsigned long long)(hi * l->stride), fits_hi ? "fit" : "do not fit");
			return undecided(&l->size, c->why);
		}
	}
	if (all != CHASE_DONE)
		return l->size.state = all;
	return decided(&l->size, lo * l->stride);
}

/* ---- line ---- */

static uint64_t gcd(uint64_t a, uint64_t b)
{
	while (b) {
		uint64_t t = a % b;
		a = b;
		b = t;
	}
	return a;
}

/* The blocks that miss with one more element at extra; hot is NULL when that one finds room, as it may where sets are
 * hashed. */
static enum chase_state conflicting(struct chase_path *c, unsigned k, uint64_t start, uint64_t extra, uint64_t stride,
				    struct chase_blocks *out)
{
	const struct chase_level *l = &c->level[k];
	struct chase_ring_spec ring = {.start = start, .bytes = l->size.value, .stride = stride, .extra = extra};
	bool fits;
	enum chase_state state = chase_fits(c, k, &ring, &fits, NULL);

	*out = (struct chase_blocks){0};
	if (state != CHASE_DONE || fits)
		return state;
	return chase_hot(c, k, &ring, out);
}

/* One set only: every line conflicts with every other. As many elements fit as there are lines, once they lie far enough
 * apart; closer together, fewer lines would have to hold them, and more of them fit. */
static enum chase_state line_of_one_set(struct chase_path *c, struct chase_level *l, unsigned k)
{
	uint64_t unit = l->sector.state == CHASE_DONE && l->sector.value > l->stride ? l->sector.value : l->stride;
	uint64_t size = l->size.value;

	for (uint64_t t = unit; t <= LINE_MOST && t <= size; t += unit) {
		if (size % t)
			continue;
		struct chase_ring_spec ring = {.stride = t + unit, .bytes = size / t * (t + unit)};
		if (ring.bytes > c->limit)
			return undecided(
			    &l->line, "the largest footprint does not hold the lines of its one set far enough apart");
		bool fits;
		enum chase_state state = chase_fits(c, k, &ring, &fits, NULL);
		if (state != CHASE_DONE)
			return state == CHASE_PENDING ? (l->line.state = state) : undecided(&l->line, c->why);
		if (!fits)
			continue;
		/* In one set as many lines fit wherever they lie; in several, lines further apart leave sets empty. And where noise
		 * alone made every line miss, there may be several. */
		for (uint64_t wide = 2; wide <= 4; wide *= 2) {
			struct chase_ring_spec apart = {.stride = wide * t, .bytes = wide * size};
			struct chase_ring_spec more = {.stride = wide * t, .bytes = wide * size, .extra = wide * size};
			bool too_many_fit;
			if (more.extra + t > c->limit)
				return undecided(&l->line,
						 "all lines seem to be in one set, and the largest footprint does not "
						 "hold them far enough apart to see that");
			state = chase_fits(c, k, &apart, &fits, NULL);
			enum chase_state other = chase_fits(c, k, &more, &too_many_fit, NULL);
			if (state == CHASE_UNDECIDED || other == CHASE_UNDECIDED)
				return undecided(&l->line, c->why);
			if (state == CHASE_PENDING || other == CHASE_PENDING)
				return l->line.state = CHASE_PENDING;
			if (!fits || too_many_fit)
				return undecided(&l->line,
						 "every line misses when one more is there, but not because they are "
						 "all in one set");
		}
		return decided(&l->line, t);
	}
	return undecided(&l->line, "all lines seem to be in one set, and no spacing gives each its own line");
}

/* Where a line is looked for: at the size, and some way behind. */
static uint64_t line_extra(uint64_t size, unsigned j, uint64_t unit)
{
	return size + j * (size / 16 / unit) * unit;
}

enum chase_state chase_line(struct chase_path *c, unsigned k)
{
	struct chase_level *l = &c->level[k];
	uint64_t size = l->size.value, unit = l->stride, line = 0;

	if (l->size.state != CHASE_DONE)
		return l->size.state == CHASE_PENDING ? (l->line.state = CHASE_PENDING)
						      : undecided(&l->line, "its size is not known");
	/* A coarser walk would take several lines for one. */
	if (l->sector.state != CHASE_DONE)
		return undecided(&l->line, "what one miss fetches is not known");
	if (l->stride > l->sector.value || l->sector.value % l->stride)
		return undecided(&l->line,
				 "what one miss fetches is smaller than the steps in which this level was walked");
	if (l->endless || size + l->stride > c->limit)
		return undecided(&l->line, "no footprint is large enough to make a conflict");
	if (l->sector.state == CHASE_DONE && l->sector.value > unit)
		unit = l->sector.value;
	if (size % unit)
		return undecided(&l->line, "the size is no multiple of what one miss fetches");
	enum chase_state all = CHASE_DONE;
	bool whole = true;
	struct chase_blocks both[2] = {0};
	for (unsigned j = 0; j < 2; j++) {
		uint64_t extra = line_extra(size, j, unit);
		if (extra + l->stride > c->limit)
			break;
		struct chase_blocks found;
		enum chase_state state = conflicting(c, k, 0, extra, l->stride, &found);
		if (state == CHASE_UNDECIDED)
			return undecided(&l->line, c->why);
		if (state == CHASE_PENDING)
			all = state;
		if (state == CHASE_PENDING || !found.hot)
			continue;
		both[j] = found;
		for (uint32_t i = 1; i < found.count; i++)
			if (found.hot[i] != found.hot[i - 1])
				line = gcd(line, i * unit);
		for (uint32_t i = 0; i < found.count; i++)
			whole = whole && found.hot[i];
	}
	if (all != CHASE_DONE)
		return l->line.state = all;
	if (whole)
		return line_of_one_set(c, l, k);
	if (!line || line > LINE_MOST || size % line)
		return undecided(&l->line, "the lines that one more line evicts do not lie on a regular grid");
	/* A line begins and ends where its neighbours do not conflict, so half of these places are odd multiples of it. */
	unsigned ends = 0, even = 0;
	for (unsigned j = 0; j < 2; j++)
		for (uint32_t i = 1; i < both[j].count; i++)
			if (both[j].hot[i] != both[j].hot[i - 1]) {
				ends++;
				even += i * unit % (2 * line) == 0;
			}
	if (2 * line <= LINE_MOST && ends >= 4 && even > 0.75 * ends)
		return undecided(&l->line,
				 "most lines that one more line evicts lie on a grid twice as wide as all of them");
	return decided(&l->line, line);
}

/* ---- ways and sets ---- */

struct conflict { /* lines of one set */
	uint32_t ways;
	uint64_t spacing; /* bytes between them, 0 = not even */
	struct chase_blocks blocks;
};

/* Two conflicts are about one set or two: all lines in common, or none. What some share is somebody else's line in a third set. */
static bool comparable(const struct conflict *a, const struct conflict *b)
{
	uint32_t common = 0, of_a = 0, of_b = 0;
	if (a->blocks.count != b->blocks.count || a->blocks.unit != b->blocks.unit)
		return true;
	for (uint32_t i = 0; i < a->blocks.count; i++) {
		common += a->blocks.hot[i] && b->blocks.hot[i];
		of_a += a->blocks.hot[i];
		of_b += b->blocks.hot[i];
	}
	return !common || (common == of_a && common == of_b);
}

static enum chase_state conflict_at(struct chase_path *c, unsigned k, uint64_t start, uint64_t extra,
				    struct conflict *out)
{
	struct chase_level *l = &c->level[k];
	uint64_t line = l->line.value, last = UINT64_MAX;
	/* Whole lines are enough where no level above could keep them all. */
	uint64_t stride = k ? chase_step(c, k, line, (double)l->size.value) : line;
	struct chase_blocks found;
	enum chase_state state = conflicting(c, k, start, extra, stride, &found);

	*out = (struct conflict){.blocks = found};
	if (state != CHASE_DONE || !found.hot)
		return state;
	bool even = true;
	for (uint32_t i = 0; i <= found.count; i++) {
		if (i < found.count && !found.hot[i])
			continue;
		uint64_t at = (i < found.count ? start + i * found.unit : extra) / line * line;
		if (at == last)
			continue;
		if (last != UINT64_MAX) {
			even = even && (!out->spacing || at - last == out->spacing);
			out->spacing = at - last;
		}
		last = at;
		out->ways += i < found.count;
	}
	if (!even)
		out->spacing = 0;
	return CHASE_DONE;
}

/* Hashed sets fill evenly from some addresses on only. From there on one line more fits than from elsewhere. */
static enum chase_state largest_start(struct chase_path *c, unsigned k, uint64_t bytes, uint64_t starts, bool *found)
{
	uint64_t line = c->level[k].line.value;
	enum chase_state all = CHASE_DONE;

	*found = false;
	for (uint64_t i = 0; i < starts; i++) {
		if (i * line + bytes > c->limit) {
			snprintf(c->why, sizeof(c->why),
				 "sets are hashed, and a larger footprint that fits may start beyond reach");
			return CHASE_UNDECIDED;
		}
		bool fits;
		enum chase_state state = chase_fits(
		    c, k, &(struct chase_ring_spec){.start = i * line, .bytes = bytes, .stride = c->level[k].stride},
		    &fits, NULL);
		if (state == CHASE_UNDECIDED)
			return state;
		if (state == CHASE_PENDING)
			all = state;
		else if (fits)
			*found = true;
	}
	return all;
}

/* The size was found from address 0 on; with hashed sets it can be a few lines short. Tries the next sizes that whole
 * ways would make. */
static enum chase_state correct_hashed(struct chase_path *c, unsigned k, uint64_t ways)
{
	struct chase_level *l = &c->level[k];
	uint64_t whole = ways * l->line.value, sets = (l->size.value + whole - 1) / whole;

	if (l->size.value % whole == 0) {
		/* A power of two sets: address 0 is where they begin. Else one more set must not fit anywhere. */
		if (!(sets & (sets - 1)))
			return CHASE_DONE;
		sets++;
	}
	for (;; sets++) {
		bool found;
		if (sets > OFFSETS_MOST) {
			snprintf(c->why, sizeof(c->why), "sets are hashed and too many to try every start");
			return CHASE_UNDECIDED;
		}
		enum chase_state state = largest_start(c, k, sets * whole, sets, &found);
		if (state != CHASE_DONE)
			return state;
		if (!found)
			break;
		l->size.value = sets * whole;
	}
	if (l->size.value % whole == 0)
		return CHASE_DONE;
	snprintf(c->why, sizeof(c->why), "sets are hashed, and no start lets whole ways of %llu lines fit",
		 (unsigned long long)ways);
	return CHASE_UNDECIDED;
}

enum chase_state chase_ways(struct chase_path *c, unsigned k)
{
	struct chase_level *l = &c->level[k];
	uint64_t size = l->size.value, line = l->line.value;
	uint64_t unit = l->sector.state == CHASE_DONE && l->sector.value > l->stride ? l->sector.value : l->stride;

	if (l->line.state != CHASE_DONE) {
		l->sets.state = l->ways.state = l->line.state;
		if (l->line.state == CHASE_UNDECIDED) {
			undecided(&l->sets, "its line is not known");
			undecided(&l->ways, "its line is not known");
		}
		return l->ways.state;
	}
	static const unsigned tried[SETS_TRIED] = {0, 1, 3, 0};
	enum chase_state all = CHASE_DONE;
	uint32_t least = UINT32_MAX, most = 0, seen = 0;
	uint64_t spacing = 0;
	bool modulo = true, apart = true;
	struct conflict kept[SETS_TRIED];
	for (unsigned i = 0; i < SETS_TRIED; i++) {
		/* The last one is where the line was looked for, too. */
		uint64_t extra = i + 1 < SETS_TRIED ? size + tried[i] * line : line_extra(size, 1, unit);
		struct conflict found;
		if (extra + l->stride > c->limit)
			break;
		enum chase_state state = conflict_at(c, k, 0, extra, &found);
		if (state == CHASE_PENDING) {
			all = state;
			continue;
		}
		if (state == CHASE_UNDECIDED) {
			undecided(&l->sets, c->why);
			return undecided(&l->ways, c->why);
		}
		if (!found.ways) { /* it found room */
			modulo = false;
			continue;
		}
		least = found.ways < least ? found.ways : least;
		most = found.ways > most ? found.ways : most;
		modulo = modulo && found.spacing && (!spacing || spacing == found.spacing);
		spacing = found.spacing;
		for (unsigned q = 0; q < seen; q++)
			apart = apart && comparable(&kept[q], &found);
		kept[seen++] = found;
	}
	if (all != CHASE_DONE)
		return l->sets.state = l->ways.state = all;
	if (!seen) {
		undecided(&l->sets, c->why);
		return undecided(&l->ways, c->why);
	}
	if (least != most || !least) {
		snprintf(
		    c->why, sizeof(c->why),
		    "one more line conflicts with %u to %u lines: its sets differ, or some conflicts were not seen",
		    least, most);
		undecided(&l->sets, c->why);
		return undecided(&l->ways, c->why);
	}
	/* Every line there is: only what line_of_one_set found can be that. */
	if (!apart || (!modulo && (uint64_t)most * line >= size)) {
		snprintf(c->why, sizeof(c->why),
			 "one more line makes lines of several sets miss, as others' lines in them would: %u lines",
			 most);
		undecided(&l->sets, c->why);
		return undecided(&l->ways, c->why);
	}
	modulo = modulo && spacing * most == size;
	if (!modulo) {
		l->hashed = true;
		enum chase_state state = seen < 2 ? CHASE_UNDECIDED : correct_hashed(c, k, most);
		if (seen < 2)
			snprintf(c->why, sizeof(c->why), "sets are hashed and only one of them could be filled");
		if (state == CHASE_PENDING)
			return l->sets.state = l->ways.state = state;
		if (state == CHASE_UNDECIDED) {
			/* Then the size is in doubt, too. */
			undecided(&l->size, c->why);
			undecided(&l->sets, c->why);
			return undecided(&l->ways, c->why);
		}
		size = l->size.value;
	}
	if (size % (most * line)) {
		snprintf(c->why, sizeof(c->why), "%llu bytes are not a whole number of sets of %u lines of %llu bytes",
			 (unsigned long long)size, most, (unsigned long long)line);
		undecided(&l->sets, c->why);
		return undecided(&l->ways, c->why);
	}
	decided(&l->sets, size / (most * line));
	return decided(&l->ways, most);
}

enum chase_state chase_geometry(struct chase_path *c, unsigned k)
{
	struct chase_level *l = &c->level[k];

	chase_size(c, k);
	if (!k) {
		enum chase_state state = l->size.state == CHASE_DONE ? chase_one_set(c, k) : l->size.state;
		if (state == CHASE_PENDING)
			return l->line.state = l->ways.state = l->sets.state = state;
		if (state == CHASE_DONE)
			return state;
	}
	chase_line(c, k);
	return chase_ways(c, k);
}
