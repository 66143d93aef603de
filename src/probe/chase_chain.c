/* How long the chains are that say what a load takes on average. */
#include "data/native_record.h"
#include "probe/chase_parts.h"
#include "stat/stat.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define END_APART 4.0 /* cycles that either end of a chain is uncertain by */
#define LUCKY	  3   /* rounds that may have been faster than they should */
#define ROUNDS	  32
#define HEAD	  8
#define FEW_LOADS 2 /* of the shortest chain */
#define LEAST_LOADS                                                                                                    \
	4 /* where others are asked beside it: what comes before a chain may delay its first load, and less of that is in each of many */

static uint64_t lap_ticks(const uint32_t *y)
{
	uint64_t sum = 0;
	for (unsigned i = 0; i < ROUNDS; i++)
		sum += (y[HEAD + 4 * i + 1] - y[HEAD + 4 * i]) + (uint64_t)(y[HEAD + 4 * i + 3] - y[HEAD + 4 * i + 2]);
	return sum;
}

enum chase_state chase_lap(struct chase_path *c, double start, double footprint, uint64_t stride, bool cold,
			   unsigned loads, uint32_t sm, struct chase_lap *out)
{
	double p[POINT_PARAMS] = {0}, shorter[ROUNDS], longer[ROUNDS];
	p[CHASE_STRIDE] = (double)stride;
	p[CHASE_WARM] = cold ? 0 : (2 + c->again) * ceil(footprint / (double)stride);
	p[CHASE_TIMED] = loads;
	p[CHASE_START] = start;
	p[CHASE_PLACE] = 8.0 * sm + c->lap_kind;
	const struct point *pt = study_ask(c->study, c->lap, footprint, p);

	if (!pt)
		return chase_missing(c);
	if (pt->outcome != OUTCOME_OK || pt->words_per_repeat < HEAD + 4 * ROUNDS)
		return CHASE_WHY(c->why, "a lap over %.0f bytes came back %s%s%.120s", footprint,
				 outcome_name(pt->outcome), pt->message[0] ? ": " : "", pt->message);
	uint32_t n = chase_elements(footprint, p);
	uint64_t total = (uint64_t)p[CHASE_WARM] + (ROUNDS + 2) * 3ull * loads;
	if (pt->y[2] != (uint32_t)(total % n * stride))
		return CHASE_WHY(c->why, "a lap over %.0f bytes did not follow its ring", footprint);
	/* Of several launches the one that nothing slowed down. */
	const uint32_t *y = pt->y;
	for (uint32_t r = 1; r < pt->repeats; r++) {
		const uint32_t *other = pt->y + (size_t)r * pt->words_per_repeat;
		if (lap_ticks(other) < lap_ticks(y))
			y = other;
	}
	for (unsigned i = 0; i < ROUNDS; i++) {
		const uint32_t *w = y + HEAD + 4 * i;
		shorter[i] = w[1] - w[0];
		longer[i] = w[3] - w[2];
	}
	/* One element alone has no luck; elsewhere a hit now and then makes a round too fast. */
	qsort(shorter, ROUNDS, sizeof(*shorter), stat_compare_double);
	qsort(longer, ROUNDS, sizeof(*longer), stat_compare_double);
	*out = (struct chase_lap){.least = shorter[n == 1 ? 0 : LUCKY], .most = longer[n == 1 ? 0 : LUCKY]};
	out->cycles = (out->most - out->least) / loads;
	/* A clock that ticks in steps, and code that differs by an instruction, make either end uncertain by some cycles. */
	out->spread = fmax(END_APART, c->grain) / loads;
	const struct native_info *native = study_native(c->study, c->lap, pt);
	if (native && native->region_count >= 3) {
		double more = (double)native->region[2].count[NATIVE_ALU] - native->region[0].count[NATIVE_ALU];
		out->ops = round(more / loads);
	}
	return CHASE_DONE;
}

/* Tells which of two chains took nothing but its loads' own time. If each load of a chain of `few` takes less, the
 * longer chain waited for something else. *loads becomes the length to believe. *more is the cycles of a load that may
 * be such waits, if the shorter chain is too rough to say. */
static enum chase_state shorter_chain(struct chase_path *c, uint32_t sm, unsigned few, unsigned *loads, double *more)
{
	struct chase_lap longer = {.cycles = NAN}, shorter = {.cycles = NAN};
	char why[sizeof(c->why)];

	*more = 0;
	enum chase_state a = chase_lap(c, 0, (double)c->stride, c->stride, false, *loads, sm, &longer);
	memcpy(why, c->why, sizeof(why));
	enum chase_state b = chase_lap(c, 0, (double)c->stride, c->stride, false, few, sm, &shorter);
	/* The longer one is believed when nobody asked for the shorter one, as in an older recording. */
	memcpy(c->why, why, sizeof(why));
	if (a != CHASE_DONE || b == CHASE_PENDING)
		return a != CHASE_DONE ? a : b;
	if (b != CHASE_DONE)
		return CHASE_DONE;
	const double apart = longer.cycles - shorter.cycles, spread = longer.spread + shorter.spread;
	/* Nothing is ever early. An end that comes later than the other chain says was therefore delayed each time, as
	 * by refreshes as frequent as its rounds. */
	const bool late =
	    longer.least > shorter.most + (*loads - 2.0 * few) * shorter.cycles + fmax(END_APART, c->grain);
	if (apart > spread || (apart < -spread && late))
		*loads = few;
	else
		*more = fmax(0, apart - longer.spread);
	return CHASE_DONE;
}

enum chase_state chase_chain_near(struct chase_path *c, unsigned *loads, double *more)
{
	const unsigned again = c->again;

	*loads = CHASE_LOADS;
	c->again = 0; /* code is as long as before */
	const enum chase_state state = shorter_chain(c, c->sm, CHASE_LOADS / 4, loads, more);
	c->again = again;
	return state;
}

/* Refreshes that come about as often as a chain's rounds are waited for in the same place each time, when memory
 * answers each load. They cannot keep step with several chains whose lengths have no common measure. Two such chains
 * that agree are believed, and the longer of them is taken. *told is false when nobody asked for those chains, as in an
 * older recording. */
static enum chase_state agreed_chain(struct chase_path *c, uint32_t sm, unsigned *loads, bool *told)
{
	const unsigned length[] = {*loads > LEAST_LOADS ? *loads : LEAST_LOADS, 3, 5, FEW_LOADS};
	struct chase_lap lap[sizeof(length) / sizeof(length[0])] = {{0}};
	char why[sizeof(c->why)];

	*told = false;
	memcpy(why, c->why, sizeof(why));
	for (unsigned i = 0; i < sizeof(length) / sizeof(length[0]); i++) {
		const enum chase_state state =
		    chase_lap(c, 0, (double)c->stride, c->stride, false, length[i], sm, &lap[i]);
		if (state != CHASE_DONE) {
			memcpy(c->why, why, sizeof(why));
			return state == CHASE_PENDING ? state : CHASE_DONE;
		}
		for (unsigned q = 0; q < i; q++)
			if (fabs(lap[i].cycles - lap[q].cycles) <= lap[i].spread + lap[q].spread) {
				*told = true;
				*loads = length[i] > length[q] ? length[i] : length[q];
				return CHASE_DONE;
			}
	}
	/* SMs are compared later. */
	return CHASE_DONE;
}

enum chase_state chase_chain_far(struct chase_path *c, uint32_t sm, unsigned *loads, double *more)
{
	const bool memory = !(c->level[0].floor > 0) && c->touch != TOUCH_SLOWER;
	bool told = false;
	enum chase_state state = memory ? agreed_chain(c, sm, loads, &told) : CHASE_DONE;

	*more = 0;
	if (state == CHASE_DONE && !told && *loads > FEW_LOADS)
		state = shorter_chain(c, sm, FEW_LOADS, loads, more);
	return state;
}
