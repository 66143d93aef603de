/* Size of one level, and the way to all of its shape. */
#include "probe/chase_shape.h"
#include "base/arena.h"
#include "probe/chase_fit.h"
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define PIECES_MOST 8192 /* of a ring of pieces of lines: a lap of more costs every SM more than what it times */
#define LATE_ORDER  3	 /* in which what may fit late is looked at: none of those of other looks at the size */
#define STRANGERS   256	 /* of so many lines one may be a stranger's */

enum chase_state chase_why(char *why, size_t n, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(why, n, fmt, ap);
	va_end(ap);
	return CHASE_UNDECIDED;
}

enum chase_state chase_undecided(struct chase_fact *f, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(f->why, sizeof(f->why), fmt, ap);
	va_end(ap);
	return f->state = CHASE_UNDECIDED;
}

enum chase_state chase_decided(struct chase_fact *f, uint64_t value)
{
	f->state = CHASE_DONE;
	f->value = value;
	return CHASE_DONE;
}

/* ---- size ---- */

void chase_bracket(const struct chase_path *c, unsigned k, double *lo, double *hi)
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
	unsigned order;
	bool endless;
};

static enum chase_state find_edge(struct chase_path *c, unsigned k, struct edge *e)
{
	bool fits_lo, fits_hi;
	double hi_misses, past_misses = 0;
	uint64_t past = 0;
	enum chase_state a = fits_elements(c, k, e->lo, e->order, &fits_lo, NULL);
	enum chase_state b = fits_elements(c, k, e->hi, e->order, &fits_hi, &hi_misses);

	if (a != CHASE_DONE || b != CHASE_DONE)
		return a == CHASE_UNDECIDED || b == CHASE_UNDECIDED ? CHASE_UNDECIDED : CHASE_PENDING;
	while (!fits_lo) {
		if (e->lo == 1)
			return CHASE_WHY(c->why, "not even a single line stays");
		e->hi = e->lo;
		fits_hi = false;
		e->lo -= (e->lo + 7) / 8;
		e->lo = e->lo ? e->lo : 1;
		a = fits_elements(c, k, e->lo, e->order, &fits_lo, &hi_misses);
		if (a != CHASE_DONE)
			return a;
	}
	while (fits_hi && e->hi < e->most) {
		e->lo = e->hi;
		e->hi = e->hi + e->hi / 8 + 1 < e->most ? e->hi + e->hi / 8 + 1 : e->most;
		b = fits_elements(c, k, e->hi, e->order, &fits_hi, &hi_misses);
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
		a = fits_elements(c, k, at, e->order, &fits, &misses);
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

bool chase_hidden(const struct chase_path *c, unsigned k, uint32_t elements)
{
	for (unsigned i = 0; i < k; i++) {
		const struct chase_level *up = &c->level[i];
		if (up->size.state != CHASE_DONE || up->line.state != CHASE_DONE ||
		    elements < 2 * (up->size.value / up->line.value))
			return true;
	}
	return false;
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

uint64_t chase_coarser(const struct chase_path *c, unsigned k, uint64_t stride, double footprint)
{
	const struct chase_level *up = k ? &c->level[k - 1] : NULL;

	if (!up || footprint / (double)stride <= PIECES_MOST || up->line.state != CHASE_DONE ||
	    up->line.value <= stride)
		return stride;
	const uint64_t step = chase_step(c, k, up->line.value, footprint);
	return step > stride && step % stride == 0 ? step : stride;
}

uint64_t chase_shape_step(const struct chase_path *c, unsigned k, uint64_t unit, double footprint)
{
	uint64_t step = chase_step(c, k, unit, footprint);

	for (unsigned i = 0; i < k; i++) {
		const struct chase_level *up = &c->level[i];
		/* Steps that pass lines by use sets unevenly, and what is in a set that they hardly use stays there. */
		while ((up->unequal || up->sets.state != CHASE_DONE) && step > up->line.value && step % 2 == 0 &&
		       step / 2 % c->stride == 0)
			step /= 2;
	}
	return step;
}

/* What does not fit misses for ever. A ring that fits may have found a stranger's line in its set, such as the
 * output's. It drives that out in the end, soon or late as the policy has it. One after the other, however, lines may
 * drive out only each other. */
static enum chase_state settle_edge(struct chase_path *c, unsigned k, struct edge *e)
{
	struct chase_level *l = &c->level[k];
	bool fits_late;

	if (l->patience)
		return CHASE_DONE;
	l->patience = PATIENCE;
	enum chase_state state = fits_elements(c, k, e->hi, LATE_ORDER, &fits_late, NULL);
	l->patience = state == CHASE_DONE && fits_late ? PATIENCE : 0;
	if (!l->patience)
		return state;
	const uint64_t hi = e->hi + e->hi / STRANGERS + 1;
	*e = (struct edge){.lo = e->hi, .hi = hi > e->most ? e->most : hi, .most = e->most, .order = LATE_ORDER};
	if (e->hi > e->lo)
		return find_edge(c, k, e);
	e->endless = true;
	return CHASE_DONE;
}

/* Both sides of the edge again, in other orders. */
static enum chase_state edge_again(struct chase_path *c, unsigned k, const struct edge *e)
{
	struct chase_level *l = &c->level[k];
	enum chase_state all = CHASE_DONE;
	bool fits_lo = false, fits_hi = false;

	for (unsigned order = 1; order <= 2; order++) {
		const unsigned patience = l->patience;
		l->patience = PATIENCE;
		const enum chase_state a = fits_elements(c, k, e->lo, order, &fits_lo, NULL);
		l->patience = patience;
		const enum chase_state b = fits_elements(c, k, e->hi, order, &fits_hi, NULL);
		if (a == CHASE_UNDECIDED || b == CHASE_UNDECIDED)
			return CHASE_UNDECIDED;
		if (a == CHASE_PENDING || b == CHASE_PENDING)
			all = CHASE_PENDING;
		else if (!fits_lo || fits_hi)
			return CHASE_WHY(c->why, "%llu bytes %s and %llu %s, in another order of the accesses",
					 (unsigned long long)(e->lo * l->stride), fits_lo ? "fit" : "do not fit",
					 (unsigned long long)(e->hi * l->stride), fits_hi ? "fit" : "do not fit");
	}
	return all;
}

enum chase_state chase_size(struct chase_path *c, unsigned k)
{
	struct chase_level *l = &c->level[k];
	double from, to;

	if (k && c->level[k - 1].ways.state == CHASE_PENDING)
		return l->size.state = CHASE_PENDING;
	if (l->clarity == BLURRED)
		return chase_undecided(&l->size,
				       "the SM's clock is faster at times, and then a hit takes as long as a miss at "
				       "others");
	/* Coarser steps than what one miss fetches leave out lines, and make the level look larger. */
	if (l->sector.state != CHASE_DONE)
		return chase_undecided(&l->size, "what one miss fetches is not known");
	if (c->stride > l->sector.value || l->sector.value % c->stride)
		return chase_undecided(
		    &l->size, "what one miss fetches is smaller than the steps in which this level was walked");
	chase_bracket(c, k, &from, &to);
	l->stride = k ? chase_shape_step(c, k, l->sector.value, from) : c->stride;
	uint64_t lo = (uint64_t)(from / (double)l->stride), hi = (uint64_t)ceil(to / (double)l->stride);
	uint64_t most = c->limit / l->stride;
	lo = lo ? lo : 1;
	hi = hi > most ? most : hi;
	struct edge e = {.lo = lo, .hi = hi > lo ? hi : lo + 1, .most = most};
	enum chase_state state = find_edge(c, k, &e);
	if (state == CHASE_DONE && !e.endless) {
		/* When noise alone makes misses, counting them finds the edge only about. */
		if (l->noise * (double)e.lo > 0.1 || l->noise_seen < 1000)
			l->clarity = NOISY;
		state = settle_edge(c, k, &e);
	}
	if (state == CHASE_DONE && e.endless) {
		l->endless = true;
		return chase_decided(&l->size, most * l->stride);
	}
	if (state == CHASE_DONE)
		state = edge_again(c, k, &e);
	if (state == CHASE_DONE)
		return chase_decided(&l->size, e.lo * l->stride);
	return state == CHASE_PENDING ? (l->size.state = state) : chase_undecided(&l->size, "%s", c->why);
}

static enum chase_state shape_of(struct chase_path *c, unsigned k)
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

enum chase_state chase_geometry(struct chase_path *c, unsigned k)
{
	struct chase_level *l = &c->level[k];
	enum chase_state state = shape_of(c, k);

	if (state != CHASE_PENDING)
		state = chase_by_lines(c, k);
	if (state == CHASE_PENDING || l->sets.state == CHASE_DONE || k)
		return state;
	/* Pages are no matter there: neighbours of lines that conflict, in the same pages, do not. */
	const enum chase_state few = chase_by_strides(c);
	return few == CHASE_UNDECIDED ? state : few;
}
