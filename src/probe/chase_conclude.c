/* From facts of a path to findings and a figure. */
#include "base/arena.h"
#include "probe/chase.h"
#include "stat/stat.h"
#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define SMS_LEAST 4 /* of which most can be told from others */
#define SMS_APART 2 /* cycles that SMs may be apart, besides those of the clock's steps */

void chase_conclude_fact(struct study *s, const char *key, const struct chase_fact *f, const char *method,
			 const char *evidence, const char *fmt, ...)
{
	const double v = (double)f->value;
	char seen[400];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(seen, sizeof(seen), fmt, ap);
	va_end(ap);
	if (f->state == CHASE_DONE)
		study_measured_number(s, key, v, v, v, "", method, evidence, "%s", seen);
	else
		study_verdict(s, key, VERDICT_INCONCLUSIVE, evidence, "%s", f->why[0] ? f->why : "it was not measured");
}

static void conclude_unequal(struct study *s, const char *prefix, const struct chase_level *l)
{
	static const char method[] = "the lines that conflict with each line beyond the size, until all were seen";
	double size[CHASE_SETS];

	study_measured_number(s, KEY("%s.sets", prefix), l->unequal, l->unequal, l->unequal, "", method, "chase",
			      "%u sets of %u to %u lines hold every line", l->unequal, l->set_size[0],
			      l->set_size[l->unequal - 1]);
	for (uint32_t i = 0; i < l->unequal; i++)
		size[i] = l->set_size[i];
	study_measured_array(s, KEY("%s.set_sizes", prefix), size, l->unequal, "", method, "chase",
			     "%u sets of %u to %u lines hold every line", l->unequal, l->set_size[0],
			     l->set_size[l->unequal - 1]);
}

static const char lent_why[] =
    "what the chase itself takes, where it is in one piece with shared memory, is not counted";

void chase_leave_endless(struct chase_path *c, unsigned k, const char *top)
{
	struct chase_level *l = &c->level[k];
	struct chase_fact *unknown[] = {&l->line, &l->ways, &l->sets, &l->sector};

	l->spaced = SPACED_UNSEEN;
	l->size.value = c->top == TOP_FITS ? c->limit : 0;
	for (size_t i = 0; i < sizeof(unknown) / sizeof(unknown[0]); i++) {
		unknown[i]->state = CHASE_UNDECIDED;
		snprintf(unknown[i]->why, sizeof(unknown[i]->why), "%s, so that nothing can be made to conflict",
			 c->top == TOP_MISSES ? "how much fits is not known" : top);
	}
}

static void conclude_size(const struct chase_path *c, unsigned k, const char *prefix, const struct chase_fact *sized)
{
	static const char method[] = "footprint bisection, misses of single accesses counted";
	const struct key_text key = key_text("%s.size", prefix);
	const struct chase_level *l = &c->level[k];
	const unsigned long long size = l->size.value, more = size + l->stride;
	const bool done = sized->state == CHASE_DONE, told = !l->endless && done;
	struct study *s = c->study;
	char seen[400];

	snprintf(seen, sizeof(seen), "%llu bytes hit, lap after lap, and %llu do not, in three orders of the accesses",
		 size, more);
	if (l->settled)
		snprintf(seen, sizeof(seen),
			 "%llu bytes hit, lap after lap, in three orders of the accesses, and up to %llu after some "
			 "laps in one of them; %llu never do",
			 (unsigned long long)l->settled, size, more);
	if (told && l->line.state != CHASE_DONE) {
		/* Hits prove that much fits. That the rest does not is only sure where single lines can be seen to conflict. */
		study_bound(
		    s, key.of, (double)size, INFINITY, method, "chase",
		    "%llu bytes hit, lap after lap; no single lines in conflict confirm that no more fits: %.120s",
		    size, l->line.why);
		if (!k && !c->beyond_sm)
			study_note(s, key.of, NOTE_LENT);
	} else if (told && l->has_room && l->sets.state != CHASE_DONE) {
		/* Some sets are not full of so many bytes, so there may be room for more of other lines. */
		study_bound(s, key.of, (double)size, INFINITY, method, "chase", "%s; but %.200s", seen, l->sets.why);
	} else if (l->lent && done) {
		study_bound(s, key.of, (double)size, INFINITY, method, "chase", "%s; %s", seen, lent_why);
		study_note(s, key.of, NOTE_LENT);
	} else if (l->endless && c->top == TOP_MISSES) {
		study_verdict(
		    s, key.of, VERDICT_INCONCLUSIVE, "chase",
		    "the first accesses to the largest footprint of %llu bytes hit, but whole laps of it miss, "
		    "and how much fits is not known",
		    (unsigned long long)c->limit);
	} else if (l->endless && !size) {
		study_verdict(
		    s, key.of, VERDICT_INCONCLUSIVE, "chase",
		    "no footprint was seen to miss for certain, and how large those are that hit is not known");
	} else if (l->endless) {
		study_bound(s, key.of, (double)size, INFINITY, "misses of single accesses against footprint", "chase",
			    "the largest footprint of %llu bytes hits", size);
	} else if (l->shape_by == SHAPE_BY_FEW) {
		chase_conclude_fact(
		    s, key.of, sized, "lines that share a set, looked for at every distance", "chase",
		    "%llu lines %llu bytes apart fit, and one more does not, wherever they begin; laps over all of it "
		    "are so long that others evict as much",
		    (unsigned long long)l->ways.value, (unsigned long long)(l->sets.value * l->line.value));
	} else {
		chase_conclude_fact(s, key.of, sized, method, "chase", "%s", seen);
	}
}

static void conclude_sector(struct study *s, const struct chase_level *l, const char *prefix)
{
	chase_conclude_fact(s, KEY("%s.sector", prefix), &l->sector, "common divisor of the positions of misses",
			    "chase", "in a walk by words, accesses that go further are multiples of %llu bytes apart",
			    (unsigned long long)l->sector.value);
}

static void conclude_sets(struct study *s, const struct chase_level *l, const char *prefix)
{
	static const char method[] = "lines that conflict with one more line than fits",
			  seen[] =
			      "one more line than fits conflicts with %llu lines and no others, wherever it lies%s%s",
			  whole[] = "%s, and size / (ways x line) is whole%s%s";
	const struct key_text ways = key_text("%s.ways", prefix), sets = key_text("%s.sets", prefix);
	const char *spaced =
	    l->spaced == SPACED_UNEVENLY ? CHASE_UNEVEN_SAY : "conflicting lines are sets x line apart";

	if (l->lent && l->ways.state == CHASE_DONE) {
		study_bound(s, ways.of, (double)l->ways.value, INFINITY, method, "chase", seen,
			    (unsigned long long)l->ways.value, "; ", lent_why);
		study_note(s, ways.of, NOTE_LENT);
	} else {
		chase_conclude_fact(s, ways.of, &l->ways, method, "chase", seen, (unsigned long long)l->ways.value, "",
				    "");
	}
	if (l->unequal)
		return conclude_unequal(s, prefix, l);
	/* When lines side by side are of one set, shared memory may leave that set less room than they take. Every
	 * other set then goes unnoticed. */
	if (l->lent && l->sets.state == CHASE_DONE && l->sets.value == 1)
		return study_bound(s, sets.of, 1, INFINITY, "size / (ways x line)", "chase", whole, spaced, "; ",
				   lent_why);
	chase_conclude_fact(s, sets.of, &l->sets, "spacing of conflicting lines; size / (ways x line)", "chase", whole,
			    spaced, "", "");
	if (l->spaced == SPACED_UNEVENLY)
		study_note(s, sets.of, NOTE_UNEVEN);
}

void chase_conclude_geometry(struct chase_path *c, unsigned k, const char *prefix)
{
	const struct chase_level *l = &c->level[k];
	struct chase_fact sized = l->size, lined = l->line;

	if (!k && !l->unequal && chase_conclude_judged(c, prefix))
		return;
	/* When noise had a say, size and line count only if whole sets of equal conflicts make them up. */
	if (l->clarity == NOISY && l->sets.state != CHASE_DONE && sized.state == CHASE_DONE) {
		sized.state = CHASE_UNDECIDED;
		snprintf(sized.why, sizeof(sized.why), "noise, and no ways and sets that confirm %llu bytes: %.120s",
			 (unsigned long long)sized.value, l->sets.why);
		if (lined.state == CHASE_DONE)
			snprintf(lined.why, sizeof(lined.why), "%s", sized.why);
		lined.state = CHASE_UNDECIDED;
	}
	conclude_size(c, k, prefix, &sized);
	conclude_sector(c->study, l, prefix);
	chase_conclude_fact(c->study, KEY("%s.line", prefix), &lined,
			    l->shape_by == SHAPE_BY_FEW ? "lines that share a set, one of them moved"
							: "grid of the misses that one more access causes",
			    "chase",
			    l->shape_by == SHAPE_BY_FEW
				? "one of the lines that conflict, moved by %llu bytes, no longer does"
				: "what one access beyond the size evicts are pieces of %llu bytes",
			    (unsigned long long)l->line.value);
	if (l->spaced != SPACED_UNSEEN)
		conclude_sets(c->study, l, prefix);
}

/* How far an SM may be from most before it is doubted. A clock that is faster for longer than all launches of a point
 * makes the SM seem farther by that much. The nearest level's points tell the clock's own cost; if the clock was faster
 * in one of those, the SM seems nearer or farther. INFINITY: it makes less of a level than SMs differ by. */
static double doubted_from(const struct chase_path *c, double median)
{
	const double nearest = fmin(median, c->classes[0].centre), told = SMS_APART + c->grain;

	if (c->swing * median <= told)
		return INFINITY;
	return fmax(told, c->swing / 2 * (c->swing / 2 * nearest > told ? nearest : median));
}

/* A latency that is really so far is so again later, also with a slow drift against the SM's clock in between.
 * Otherwise the middle one of three answers counts, and *torn is set. */
static enum chase_state latency_again(struct chase_path *c, unsigned k, uint32_t sm, struct chase_latency *one,
				      bool *torn)
{
	struct chase_latency other[2];
	enum chase_state state;

	c->again = 1;
	state = chase_latency(c, k, sm, &other[0]);
	*torn = state == CHASE_DONE && fabs(other[0].value - one->value) > SMS_APART + c->grain;
	if (*torn) {
		c->again = 2;
		state = chase_latency(c, k, sm, &other[1]);
		if (state == CHASE_DONE && (other[0].value - one->value) * (other[1].value - one->value) > 0)
			*one =
			    fabs(other[0].value - one->value) < fabs(other[1].value - one->value) ? other[0] : other[1];
	} else if (state == CHASE_DONE) {
		const double half = (other[0].value - one->value) / 2;
		one->value += half;
		one->half = fmax(one->half, other[0].half) + fabs(half);
	}
	c->again = 0;
	return state;
}

/* Asks again for those of n SMs' latencies that are doubted. Those that cannot be asked, as in an older recording, are
 * `left`; those that answered otherwise are `torn`. */
static enum chase_state latency_settled(struct chase_path *c, unsigned k, const uint32_t *sm, unsigned n,
					struct chase_latency *one, bool *left, bool *torn)
{
	double value[CHASE_PLACEMENTS], scratch[CHASE_PLACEMENTS];
	for (unsigned i = 0; i < n; i++)
		value[i] = one[i].value;
	const double median = stat_median(value, n, scratch), near = doubted_from(c, median);
	const bool outside = k || c->beyond_sm;
	enum chase_state all = CHASE_DONE;

	for (unsigned i = 0; i < n; i++) {
		/* Of few, most may have met it. */
		if (!outside || !isfinite(near) || (n >= SMS_LEAST && fabs(value[i] - median) <= near))
			continue;
		const enum chase_state state = latency_again(c, k, sm[i], &one[i], &torn[i]);
		left[i] = state == CHASE_UNDECIDED && n >= SMS_LEAST && near > SMS_APART + c->grain;
		if (state == CHASE_PENDING)
			all = state;
	}
	return all;
}

/* Whether an SM that always answered alike is as far as SM i: one of the same cluster, as a rule. */
static bool has_like(const double *value, unsigned n, const bool *torn, unsigned i, double reach)
{
	for (unsigned q = 0; q < n; q++)
		if (!torn[q] && fabs(value[q] - value[i]) <= reach)
			return true;
	return false;
}

/* How many of n SMs are in the mean; the others are in the interval only. SMs that were left out before stay out. So
 * does one that answered unlike itself and seems farther than most by what a clock causes that is faster now and then.
 * It is in the mean nevertheless if another SM is as far. */
static unsigned latency_usual(const struct chase_path *c, unsigned k, const struct chase_latency *one, unsigned n,
			      const bool *torn, bool *left)
{
	double value[CHASE_PLACEMENTS], scratch[CHASE_PLACEMENTS];
	unsigned usual = 0;

	for (unsigned i = 0; i < n; i++)
		value[i] = one[i].value;
	const double median = stat_median(value, n, scratch), near = doubted_from(c, median),
		     most = c->swing * median + SMS_APART + c->grain;
	const bool outside = k || c->beyond_sm;

	for (unsigned i = 0; i < n; i++) {
		/* Nearer ones are never a faster clock's doing, but for what it makes of the clock's own cost. */
		const double apart = value[i] - median;
		if (outside && isfinite(near) && n >= SMS_LEAST && torn[i] && apart > near && apart <= most &&
		    !has_like(value, n, torn, i, SMS_APART + c->grain))
			left[i] = true;
		usual += !left[i];
	}
	if (usual)
		return usual;
	memset(left, 0, n * sizeof(*left));
	return n;
}

#define TURNS_APART 2 /* cycles */
#define TRIES	    3 /* that may each meet the faster clock at another time */

/* The cost of the clock's own steps stays unknown when the clock was faster meanwhile. Other launches may meet the
 * faster clock less. The first ones have to do when nobody asked for others, as in an older recording. */
static enum chase_state latency_tried(struct chase_path *c, unsigned k, uint32_t sm, struct chase_latency *out)
{
	const enum chase_state first = chase_latency(c, k, sm, out);
	enum chase_state state = first;
	char why[sizeof(c->why)];

	if (first != CHASE_UNDECIDED || !(c->swing > 0) || !isfinite(out->value))
		return first;
	memcpy(why, c->why, sizeof(why));
	for (c->again = 1; state == CHASE_UNDECIDED && c->again < TRIES; c->again++) {
		struct chase_latency other;
		state = chase_latency(c, k, sm, &other);
		if (state == CHASE_DONE)
			*out = other;
	}
	c->again = 0;
	memcpy(c->why, why, sizeof(why));
	return state;
}

/* By how much SMs differ in what two chases say of a turn and the longer one alone does not. An example is code that
 * only one of them fetches from the memory. All run the same loop. */
static double turns_apart(const struct chase_latency *one, unsigned n)
{
	double least = INFINITY, most = -INFINITY;

	for (unsigned i = 0; i < n; i++) {
		least = fmin(least, one[i].apart);
		most = fmax(most, one[i].apart);
	}
	return most - least;
}

void chase_latency_over(struct chase_path *c, unsigned k, unsigned most, struct chase_placed *out)
{
	struct chase_latency one[CHASE_PLACEMENTS];
	uint32_t sm[CHASE_PLACEMENTS];
	bool left[CHASE_PLACEMENTS] = {false}, torn[CHASE_PLACEMENTS] = {false};
	unsigned n = chase_placements(study_device(c->study), most < CHASE_PLACEMENTS ? most : CHASE_PLACEMENTS, sm);

	*out =
	    (struct chase_placed){.lo = INFINITY, .hi = -INFINITY, .averaged = true, .rough = NAN, .state = CHASE_DONE};
	for (unsigned i = 0; i < n; i++) {
		enum chase_state state = latency_tried(c, k, sm[i], &one[i]);
		if (state == CHASE_UNDECIDED) {
			out->state = state;
			out->rough = one[i].value;
			out->lo = one[i].value - one[i].half;
			out->hi = one[i].value + one[i].half;
			snprintf(out->why, sizeof(out->why), "%s", c->why);
			return;
		}
		if (state == CHASE_PENDING) {
			out->state = state;
			continue;
		}
		out->sms++;
		out->address_ops = fmax(out->address_ops, one[i].address_ops);
		out->averaged = out->averaged && one[i].averaged;
	}
	if (out->state != CHASE_DONE)
		return;
	out->state = latency_settled(c, k, sm, n, one, left, torn);
	const unsigned usual = latency_usual(c, k, one, n, torn, left);
	if (out->state == CHASE_DONE && 3 * usual < 2 * n) {
		out->state = CHASE_UNDECIDED;
		snprintf(out->why, sizeof(out->why),
			 "%u of %u SMs are as far from the others as their clock, which is faster now and then, makes "
			 "them seem",
			 n - usual, n);
	}
	const double apart = turns_apart(one, n);
	if (out->state == CHASE_DONE && apart > TURNS_APART) {
		out->state = CHASE_UNDECIDED;
		snprintf(out->why, sizeof(out->why),
			 "what the clock's steps cut off seems to differ by %.1f cycles from SM to SM. Some chases "
			 "waited for something that is in no access's time",
			 turns_apart(one, n));
	}
	out->first = one[0];
	for (unsigned i = n; i-- > 0;)
		if (!left[i])
			out->first = one[i];
	for (unsigned i = 0; i < n; i++) {
		out->lo = fmin(out->lo, one[i].value - one[i].half);
		out->hi = fmax(out->hi, one[i].value + one[i].half);
		if (!left[i])
			out->mean += one[i].value / usual;
	}
	if (out->state != CHASE_DONE)
		out->rough = out->mean;
}

bool chase_take_off(const struct study *s, struct chase_placed *l)
{
	double add;

	if (l->address_ops <= 0)
		return true;
	if (!study_number(s, "arith.add.u32.latency", &add))
		return false;
	l->mean -= l->address_ops * add;
	l->lo -= l->address_ops * add;
	l->hi -= l->address_ops * add;
	return true;
}

void chase_conclude_latency(struct study *s, const char *key, struct chase_placed *l)
{
	char method[160];

	if (l->state != CHASE_DONE) {
		study_verdict(s, key, VERDICT_INCONCLUSIVE, "lap", "%s", l->why[0] ? l->why : "it was not measured");
		return;
	}
	if (!chase_take_off(s, l)) {
		study_verdict(s, key, VERDICT_INCONCLUSIVE, "lap",
			      "every load needs %.0f arithmetic instructions, whose latency is not known",
			      l->address_ops);
		return;
	}
	snprintf(method, sizeof(method), "%s%s",
		 l->averaged ? "two lengths of a dependent chain"
			     : "single accesses of this level, less the cost of the clock",
		 l->address_ops > 0 ? ", less the latency of the address arithmetic in the chain" : "");
	study_measured_number(s, key, l->mean, l->lo, l->hi, l->sms == 1 ? "sm" : "card", method, "lap",
			      "from %.2f to %.2f cycles over %u SMs", l->lo, l->hi, l->sms);
}

int chase_draw(const struct study *s, const struct series *series, const char *near, unsigned kind, const char *name,
	       const char *title, struct figure_list *out, struct figure **figure)
{
	double x[CHASE_SURVEY], y[CHASE_SURVEY], worst[CHASE_SURVEY];
	double stride = 0;
	size_t n = 0;

	*figure = NULL;
	for (size_t i = 0; series && i < series->count && n < CHASE_SURVEY; i++) {
		const struct point *pt = &series->points[i];
		uint32_t elements = chase_elements(pt->x, pt->p);
		/* The survey: everything recorded, two laps before, on SM 0, one element less would not be one. */
		if (pt->outcome != OUTCOME_OK || pt->p[CHASE_FLOOR] != 0 || pt->p[CHASE_PLACE] != kind ||
		    pt->p[CHASE_WARM] != 2.0 * elements || pt->words_per_repeat <= CHASE_HEAD || elements < 2)
			continue;
		/* The survey comes first; later walks in other steps reuse what they fetch in other ways. */
		if (stride > 0 && pt->p[CHASE_STRIDE] != stride)
			continue;
		stride = pt->p[CHASE_STRIDE];
		uint32_t room = pt->words_per_repeat - CHASE_HEAD, kept = room < pt->y[3] ? room : pt->y[3];
		double sum = 0, most = 0;
		for (uint32_t k = 0; k < kept; k++) {
			sum += chase_ticks(pt->y[CHASE_HEAD + k]);
			most = fmax(most, chase_ticks(pt->y[CHASE_HEAD + k]));
		}
		if (!kept)
			continue;
		size_t at = n++;
		for (; at && x[at - 1] > pt->x; at--) {
			x[at] = x[at - 1];
			y[at] = y[at - 1];
			worst[at] = worst[at - 1];
		}
		x[at] = pt->x;
		y[at] = sum / kept;
		worst[at] = most;
	}
	if (!n)
		return 0;
	struct figure *f = figures_new(out, name, title);
	if (!f)
		return -1;
	f->main = true;
	f->x = (struct figure_axis){.label = "footprint", .unit = "bytes", .log2 = true};
	f->y = (struct figure_axis){.unit = "cycles"};
	int rc = figure_add(f, "mean", MARK_LINE, x, y, NULL, n);
	*figure = f;
	if (rc == 0)
		rc = figure_add(f, "slowest", MARK_POINTS, x, worst, NULL, n);
	study_take_clock(s, f, near);
	return rc;
}

#define ROW_LEAST   512	 /* bytes: rows of a DRAM are a multiple of this, and lines of caches are shorter */
#define ROW_MOST    2048 /* longer rows are pages' doing, as far as first touches show */
#define PIECE_LEAST 256	 /* of a row, where partitions take turns in more than lines */
#define ROW_OPENS   1.5	 /* opening a row takes less than half of the way to the memory and back */

const char chase_rows_why[] = "what is fetched there at once is a piece of a row of the memory, or unknown. Open rows "
			      "would do the same as a cache";
const char chase_untold_why[] =
    "what answers such loads first is nearer than what answers those past the L1, but by so little that both may be "
    "one cache";

/* The lowest level but the first from which on no size is known and each next level is hardly slower. Nothing shows
 * that any of these keeps what it was asked for. Open rows and pages of the memory make such classes. UINT_MAX:
 * none. */
static unsigned unproved_level(const struct chase_path *c)
{
	unsigned found = UINT_MAX;
	for (unsigned k = c->level_count - (c->touch == TOUCH_SLOWER ? 1 : 2); k >= 1 && k < c->level_count; k--) {
		const struct chase_level *l = &c->level[k];
		const double next = k + 1 < c->level_count ? c->classes[c->level[k + 1].class_first].centre : c->cold;
		if (l->size.state == CHASE_DONE || next >= ROW_OPENS * c->classes[l->class_last].centre)
			break;
		/* A level from beyond which mostly smaller pieces are fetched is not made of rows or pages either. */
		if (l->sector.state == CHASE_DONE && l->sector.value < PIECE_LEAST)
			break;
		if (!l->endless) /* what the largest footprint fits into is a question of its own */
			found = k;
	}
	return found;
}

unsigned chase_rows_level(const struct chase_path *c, bool *sure)
{
	*sure = false;
	if (c->level_count < 2 && c->touch != TOUCH_SLOWER)
		return UINT_MAX;
	unsigned k = c->level_count - (c->touch == TOUCH_SLOWER ? 1 : 2);
	const struct chase_level *l = &c->level[k];
	/* When others close rows, a few accesses inside of one are as slow as those that open it. */
	const bool opened = c->touch != TOUCH_SLOWER && l->sector.state != CHASE_DONE && l->blocks;
	bool known = c->touch == TOUCH_SLOWER || l->sector.state == CHASE_DONE || opened;
	uint64_t unit = c->touch == TOUCH_SLOWER ? c->cold_unit : opened ? l->blocks : l->sector.value;
	double miss = c->touch == TOUCH_SLOWER ? c->cold : c->classes[l[1].class_first].centre;
	/* A bank has one row open: nothing with two ways and more is made of rows. */
	bool ways = c->touch != TOUCH_SLOWER && (l->ways.state == CHASE_DONE ? l->ways.value > 1 : l->unequal > 0);
	bool row = !known || unit >= ROW_LEAST;
	bool opens = !ways && miss < ROW_OPENS * c->classes[l->class_last].centre;
	*sure = known && unit >= ROW_LEAST && unit <= ROW_MOST && opens;
	if (!row && !(opens && unit >= PIECE_LEAST))
		k = UINT_MAX;
	const unsigned unproved = *sure ? UINT_MAX : unproved_level(c);
	return unproved < k ? unproved : k;
}

void chase_rows_served(const struct chase_path *c, unsigned rows, const struct chase_placed *open,
		       struct chase_placed *memory)
{
	if (memory->state == CHASE_DONE || open->state != CHASE_DONE || rows + 1 >= c->level_count)
		return;
	const double here = c->classes[c->level[rows].class_last].centre;
	*memory = *open;
	memory->hi += c->classes[c->level[c->level_count - 1].class_last].centre - here;
}

#define NEARER_LEAST 4	  /* cycles, ... */
#define NEARER_PART  0.02 /* ... and of what all loads have in common, by which a cache of the SM is nearer for sure */

enum chase_side chase_side_of(const struct chase_path *near, const struct chase_path *past)
{
	const double usual = past->classes[0].centre / (1 + past->swing), sooner = usual - near->classes[0].centre;

	if (sooner > NEARER_LEAST + NEARER_PART * usual)
		return CHASE_NEARER;
	/* Each of two times is rounded by less than one step of the clock. */
	return sooner <= CHASE_MEANS_LEAST + CHASE_MEANS_PART * usual + near->grain - 1 ? CHASE_AS_FAR : CHASE_UNTOLD;
}

bool chase_common_l2(const struct study *s, const struct chase_level *l)
{
	const struct finding *f = study_finding(s, "cache.global.l2.size");
	double size;

	return study_number(s, "cache.global.l2.size", &size) && f->lo == f->hi && l->size.state == CHASE_DONE &&
	       (double)l->size.value == size;
}

void chase_say_geometry(struct study *s, const char *prefix, enum verdict v, const char *because)
{
	static const char *const what[] = {"size", "line", "sector", "ways", "sets"};

	for (size_t i = 0; i < sizeof(what) / sizeof(what[0]); i++) {
		study_verdict(s, KEY("%s.%s", prefix, what[i]), v, "chase", "%s", because);
	}
}

void chase_say_nothing(struct study *s, const char *path, const char *why)
{
	study_verdict(s, KEY("cache.%s.levels", path), VERDICT_INCONCLUSIVE, "chase", "%s", why);
	study_verdict(s, KEY("cache.%s.l1.size", path), VERDICT_INCONCLUSIVE, "chase", "%s", why);
	study_verdict(s, KEY("memory.%s.latency", path), VERDICT_INCONCLUSIVE, "chase", "%s", why);
}

void chase_say_absent(struct study *s, const char *path, unsigned from, unsigned end)
{
	for (unsigned k = from; k < end; k++)
		study_verdict(s, KEY("cache.%s.l%u.size", path, k + 1), VERDICT_ABSENT, "chase",
			      "no class of latency is left for it between level %u and memory", k);
}

void chase_note_sizes(const struct study *s, struct figure *f, const char *path, unsigned levels)
{
	for (unsigned k = 1; k <= levels; k++) {
		char text[16];
		double size;
		if (!study_number(s, KEY("cache.%s.l%u.size", path, k), &size))
			continue;
		snprintf(text, sizeof(text), "L%u", k);
		figure_note(f, true, size, text);
	}
}
