/* Requests that an SM has under way: how many, and what remembers them. */
#include "outstanding.h"
#include "base/arena.h"
#include "l2_copy.h"
#include <limits.h>
#include <math.h>
#include <stdio.h>

#define HELD_AT_LEAST 16384.0 /* bytes of any L2 */
#define LEFT_TO_SEE   0.1     /* of the latency: that a full table makes no such jump is seen */
#define TOGETHER      0.8     /* of the latency: what left by then was under way together */

static const struct experiment experiments[] = {
    [LATENCY_MEMORY] =
	{.name = "memory", .axis = "threads", .unit = "count", .params = LATENCY_PARAM_NAMES, .setup = memory_setup},
    [LATENCY_L2] = {.name = "l2", .axis = "threads", .unit = "count", .params = LATENCY_PARAM_NAMES, .setup = l2_setup},
    [BESIDE] = {.name = "beside",
		.axis = "threads",
		.unit = "count",
		.params = {"loads", "group", "lanes", "extra", "more", "way", "other", "rounds"},
		.setup = beside_setup},
    [COPY] = {.name = "copy", .axis = "size", .unit = "bytes", .params = {"flushed", "round"}, .setup = copy_setup},
};

/* ---- the study ---- */

enum { CURVES_MOST = 96, EXTRA_MOST = 8, JUMPS_LEAST = 3, LIGHT_MOST = 2, LONGER = 4 };

struct inquiry {
	struct way way[LATENCY_WAYS];
	struct chain chain[LATENCY_WAYS];
	struct curve *curve[CURVES_MOST];
	unsigned curves;
	struct table mshr, prt;
	bool starved;		 /* of memory for a curve */
	enum chase_state beside; /* whether what is full is the SM's own */
	bool own;
	char why[160];
};

static const char *const keys[] = {"outstanding.kind", "outstanding.entries", "outstanding.merge",
				   "outstanding.loads_per_warp"};
enum { KEY_KIND, KEY_ENTRIES, KEY_MERGE, KEY_CHAIN, KEYS };

static bool add_light(struct study *s, struct inquiry *q, unsigned way, unsigned loads, unsigned group, unsigned lanes,
		      unsigned stride, unsigned light)
{
	for (unsigned k = 0; k < q->curves; k++)
		if (q->curve[k]->way->number == way && q->curve[k]->loads == loads && q->curve[k]->group == group &&
		    q->curve[k]->lanes == lanes && q->curve[k]->stride == stride && q->curve[k]->light == light)
			return false;
	struct curve *c = ARENA_ARRAY(study_arena(s), 1, struct curve);
	q->starved = q->starved || !c;
	if (!c || q->curves == CURVES_MOST)
		return false;
	*c = (struct curve){
	    .way = &q->way[way], .loads = loads, .group = group, .lanes = lanes, .stride = stride, .light = light};
	q->curve[q->curves++] = c;
	curve_measure(s, c);
	return true;
}

static bool add_curve(struct study *s, struct inquiry *q, unsigned way, unsigned loads, unsigned group, unsigned lanes,
		      unsigned stride)
{
	return add_light(s, q, way, loads, group, lanes, stride, 0);
}

/* Loads of one thread that no scoreboard holds up. */
static unsigned loads_at_once(const struct chain *c, unsigned most)
{
	return c->state == CHASE_DONE && c->fits < most ? c->fits : most;
}

/* Asks for the curves that show a table at the least cost: one line an instruction, and all of a warp's lines. The L2
 * answers some, which tells a table from everything that depends on the latency. */
static void ask_first(struct study *s, struct inquiry *q)
{
	const unsigned warp = study_device(s)->warp_size, most = loads_at_once(&q->chain[LATENCY_MEMORY], LOADS_MOST),
		       alone = loads_at_once(&q->chain[LATENCY_MEMORY], LOADS_ALONE);

	for (unsigned way = 0; way < LATENCY_WAYS; way++) {
		if (q->way[way].state != CHASE_DONE)
			continue;
		for (unsigned l = 1; l <= alone; l += l < 4 ? 1 : 2)
			add_curve(s, q, way, l, warp, 1, LATENCY_STRIDE_BYTES);
		for (unsigned l = 1; l <= most; l += most > 1 ? most - 1 : 1)
			for (unsigned g = 1; g <= warp; g = g == 1 ? 8 : g == 8 ? warp : warp + 1)
				add_curve(s, q, way, l, g, 0, LATENCY_STRIDE_BYTES);
	}
}

/* All numbers of loads and all groups, and some with lines twice as far apart. Those tell a table from what depends on
 * addresses: lines that are longer than was thought, caches, TLBs. */
static void ask_all(struct study *s, struct inquiry *q)
{
	const unsigned warp = study_device(s)->warp_size, most = loads_at_once(&q->chain[LATENCY_MEMORY], LOADS_MOST);

	for (unsigned l = 1; l <= most; l++)
		for (unsigned g = 1; g <= warp; g *= 2)
			add_curve(s, q, LATENCY_MEMORY, l, g, 0, LATENCY_STRIDE_BYTES);
	for (unsigned l = 1; l <= most; l += most > 1 ? most - 1 : 1) {
		add_curve(s, q, LATENCY_MEMORY, l, 1, 0, 2 * LATENCY_STRIDE_BYTES);
		add_curve(s, q, LATENCY_MEMORY, l, warp, 1, 2 * LATENCY_STRIDE_BYTES);
	}
	/* Tables of instructions may fill only by more loads than all threads of a warp have. */
	const unsigned alone = loads_at_once(&q->chain[LATENCY_MEMORY], LOADS_ALONE);
	for (unsigned l = LOADS_MOST + 2; l <= alone; l += 2)
		add_curve(s, q, LATENCY_MEMORY, l, warp, 1, 2 * LATENCY_STRIDE_BYTES);
}

/* The same half as far apart again: where they are twice as far, a TLB or rows may be full before the table is. */
static void ask_between(struct study *s, struct inquiry *q)
{
	const unsigned warp = study_device(s)->warp_size, most = loads_at_once(&q->chain[LATENCY_MEMORY], LOADS_MOST);

	for (unsigned l = 1; l <= most; l += most > 1 ? most - 1 : 1) {
		add_curve(s, q, LATENCY_MEMORY, l, 1, 0, LATENCY_STRIDE_BYTES * 3 / 2);
		add_curve(s, q, LATENCY_MEMORY, l, warp, 1, LATENCY_STRIDE_BYTES * 3 / 2);
	}
}

/* One more curve, without which it was tried first: where it cannot be timed it says nothing. */
static void ask_more(struct study *s, struct inquiry *q, unsigned loads, unsigned stride, unsigned light)
{
	if (add_light(s, q, LATENCY_MEMORY, loads, study_device(s)->warp_size, 1, stride, light) &&
	    q->curve[q->curves - 1]->state == CHASE_UNDECIDED)
		q->curves--;
}

/* The same instructions by more warps, some of which do one load only. If only one number of loads fills the table,
 * that tells whether it counts instructions or warps. */
static void ask_light(struct study *s, struct inquiry *q)
{
	const unsigned before = q->curves;

	for (unsigned k = 0; k < before; k++) {
		const struct curve *c = q->curve[k];
		unsigned found = 0;
		if (c->way->number != LATENCY_MEMORY || c->lanes != 1 || c->loads < 2 || c->light || !curve_tells(c))
			continue;
		for (unsigned light = 1; light <= 2 * c->loads && found < LIGHT_MOST; light++) {
			const struct curve with = {
			    .way = c->way, .loads = c->loads, .lanes = 1, .group = c->group, .light = light};
			if (curve_most(s, &with) <= c->fits || c->fits < light + c->loads ||
			    curve_warps(s, &with, c->fits) <= curve_warps(s, c, c->fits))
				continue;
			ask_more(s, q, c->loads, c->stride, light);
			found++;
		}
	}
}

/* More loads of one thread of each warp, if such loads filled something. So few warps issue theirs sooner, and more is
 * left of the latency when a table is full. */
static void ask_longer(struct study *s, struct inquiry *q)
{
	const unsigned most = loads_at_once(&q->chain[LATENCY_MEMORY], CHAIN_MOST);
	unsigned some = 0;

	for (unsigned k = 0; k < q->curves; k++)
		some +=
		    q->curve[k]->way->number == LATENCY_MEMORY && q->curve[k]->lanes == 1 && curve_tells(q->curve[k]);
	if (some < 2) /* one alone is hardly a table */
		return;
	for (unsigned l = LOADS_ALONE; l < most;) {
		l = l + LONGER < most ? l + LONGER : most;
		for (unsigned far = 1; far <= 2; far++)
			ask_more(s, q, l, far * LATENCY_STRIDE_BYTES, 0);
	}
}

/* Asks for more points if two kinds of table are left. One of them may be full in a curve in which the other is not. */
static void look_closely(struct study *s, struct inquiry *q)
{
	const struct table *of[] = {&q->mshr, &q->prt};
	double left;

	for (unsigned k = 0; k < 2 * q->curves; k++) {
		struct curve *c = q->curve[k / 2];
		const unsigned n = table_full_at(s, c, of[k % 2], &left),
			       other = table_full_at(s, c, of[1 - k % 2], &left);
		if (n > 1 && n != other && n + 2 <= curve_most(s, c) && table_full_at(s, c, of[k % 2], &left) &&
		    left > LEFT_TO_SEE * c->way->latency)
			curve_look(s, c, n, left);
	}
}

static unsigned jumps_of(const struct inquiry *q, bool also_weak)
{
	unsigned jumps = 0;

	for (unsigned k = 0; k < q->curves; k++)
		jumps += also_weak ? q->curve[k]->state == CHASE_DONE && q->curve[k]->jumps : curve_tells(q->curve[k]);
	return jumps;
}

static void eliminate(struct study *s, struct inquiry *q)
{
	table_eliminate(s, (const struct curve *const *)q->curve, q->curves, &q->mshr, &q->prt);
}

/* Which of several numbers of lanes an entry serves: a line of as many as half of them serve, and half do not, tells. */
static void narrow_merge(struct study *s, struct inquiry *q)
{
	const unsigned warp = study_device(s)->warp_size, most = loads_at_once(&q->chain[LATENCY_MEMORY], LOADS_MOST);

	for (unsigned n = 0; n < EXTRA_MOST && !study_pending(s); n++) {
		const struct table *t = &q->mshr;
		const unsigned hi = t->merge_hi < warp ? t->merge_hi : warp;
		if (!t->possible || q->prt.possible || t->merge_lo >= hi)
			return;
		const unsigned group = t->merge_lo + (hi - t->merge_lo + 1) / 2;
		if (!add_curve(s, q, LATENCY_MEMORY, most, group, 0, LATENCY_STRIDE_BYTES) &&
		    !add_curve(s, q, LATENCY_MEMORY, 1, group, 0, LATENCY_STRIDE_BYTES))
			return;
		if (!study_pending(s))
			eliminate(s, q);
	}
}

/* Asks beside another SM for the curve that jumps highest, of those whose jump is the table's. What is full in others
 * may be a TLB that all SMs share. */
static enum chase_state ask_beside(struct study *s, struct inquiry *q)
{
	const struct table *t = q->mshr.possible ? &q->mshr : &q->prt;
	const struct curve *best = NULL;
	bool its = false;

	for (unsigned k = 0; k < q->curves; k++) {
		const struct curve *c = q->curve[k];
		if (!curve_tells(c) || c->stride != LATENCY_STRIDE_BYTES)
			continue;
		const bool is = table_explains(s, c, t),
			   higher = !best || c->after - c->before > best->after - best->before;
		if (is > its || (is == its && higher)) {
			best = c;
			its = is;
		}
	}
	return best ? beside_measure(s, best, &q->own, q->why, sizeof q->why) : CHASE_UNDECIDED;
}

/* What one warp has under way: by both ways, as far as they say. */
static void conclude_chain(struct study *s, const struct inquiry *q)
{
	static const char method[] = "time of 1 to 16 independent loads of one thread, alone and of four warps";
	const struct chain *m = &q->chain[LATENCY_MEMORY], *l2 = &q->chain[LATENCY_L2];
	const char *key = keys[KEY_CHAIN];

	if (m->state != CHASE_DONE)
		study_verdict(s, key, VERDICT_INCONCLUSIVE, "memory", "%s", m->why);
	else if (!m->blocks)
		study_bound(s, key, m->fits, INFINITY, method, "memory",
			    "%u loads of a warp take hardly longer than one: none waits for another", m->fits);
	else if (m->shared)
		study_bound(
		    s, key, m->fits - 1, INFINITY, method, "memory",
		    "one warp and four together have some %u loads under way, so it is their sum that is limited",
		    m->fits);
	else if (l2->state == CHASE_DONE && l2->blocks && l2->fits != m->fits)
		study_verdict(s, key, VERDICT_INCONCLUSIVE, "memory, l2",
			      "%u loads go at once to memory and %u to the L2", m->fits, l2->fits);
	else
		study_measured_number(s, key, m->fits, m->fits, m->fits, "sm", method, "memory",
				      "one more load than %u waits for the first: it takes %.2f latencies longer, "
				      "whether one warp loads or four",
				      m->fits, m->height);
}

/* What any answer takes at least. The first lines meet all that is on the way for the first time, translations too, and
 * those behind them need not. The L2's lines have been read before. */
static double quickest(const struct inquiry *q)
{
	double least = INFINITY;

	for (unsigned k = 0; k < LATENCY_WAYS; k++)
		if (q->way[k].state == CHASE_DONE)
			least = fmin(least, TOGETHER * q->way[k].latency - q->way[k].spread);
	return least;
}

/* Instructions of a line each that were under way together. Behind a full table the next answer, even the quickest,
 * comes a latency later than a load alone has its answer. The time after many loads of a thread may be longer than that
 * and hide it, so it is never taken off. */
static unsigned under_way(struct study *s, const struct inquiry *q)
{
	const double together = quickest(q);
	unsigned most = 0;

	for (unsigned k = 0; k < q->curves; k++) {
		const struct curve *c = q->curve[k];
		const struct pattern one = {.loads = 1, .group = 1, .threads = 1, .stride = LATENCY_STRIDE_BYTES};
		if (c->state != CHASE_DONE || c->group != study_device(s)->warp_size)
			continue;
		const double alone = latency_whole(latency_ask(s, c->way->number, &one));
		for (unsigned i = 0; i < c->count; i++) {
			const struct pattern m = curve_pattern(s, c, c->at[i]);
			if (c->at[i] > most && latency_whole(latency_ask(s, c->way->number, &m)) < alone + together)
				most = c->at[i];
		}
	}
	return most;
}

static void conclude_bound(struct study *s, const struct inquiry *q)
{
	const unsigned most = under_way(s, q);

	if (most > 1)
		study_bound(s, keys[KEY_ENTRIES], most, INFINITY, "latency against instructions of one line each",
			    "memory", "so many instructions, of a line each, were under way together");
	else
		study_verdict(s, keys[KEY_ENTRIES], VERDICT_INCONCLUSIVE, "memory", "no two loads overlap");
}

static void conclude_merge(struct study *s, const struct inquiry *q, const char *method)
{
	const struct table *t = &q->mshr;
	const char *key = keys[KEY_MERGE];
	const unsigned warp = study_device(s)->warp_size;

	if (t->merge_lo == t->merge_hi && t->merge_lo < MERGE_ANY && t->merge_lo < warp)
		study_measured_number(s, key, t->merge_lo, t->merge_lo, t->merge_lo, "sm", method, "memory",
				      "lines of more threads take more entries, of up to %u they take one",
				      t->merge_lo);
	else
		study_bound(s, key, t->merge_lo < warp ? t->merge_lo : warp, INFINITY, method, "memory",
			    "lines of up to %u threads take one entry; where more share one the table was not filled",
			    t->merge_lo < warp ? t->merge_lo : warp);
}

/* The fewest threads a line, of the lines that filled the table. */
static unsigned least_group(const struct inquiry *q)
{
	unsigned least = UINT_MAX;

	for (unsigned k = 0; k < q->curves; k++)
		if (curve_tells(q->curve[k]) && q->curve[k]->group < least)
			least = q->curve[k]->group;
	return least;
}

static void conclude_table(struct study *s, const struct inquiry *q, unsigned jumps)
{
	static const char method[] = "jumps of the latency against threads, for 1 to 4 loads and 1 to 32 threads a "
				     "line; tables that contradict them "
				     "dropped";
	const struct table *t = q->mshr.possible ? &q->mshr : &q->prt;
	const unsigned group = least_group(q);
	char why[320];

	if (jumps < JUMPS_LEAST)
		snprintf(why, sizeof why, "only %u curves jump", jumps);
	else if (!q->mshr.possible && !q->prt.possible)
		snprintf(why, sizeof why, "%u curves jump as no table makes them: mshr: %.100s; prt: %.100s", jumps,
			 q->mshr.why, q->prt.why);
	else if (q->mshr.possible && q->prt.possible)
		snprintf(why, sizeof why, "%u curves jump as an mshr of %u entries and a prt of %u make them", jumps,
			 q->mshr.lo, q->prt.lo);
	else if (q->beside != CHASE_DONE || !q->own)
		snprintf(why, sizeof why, "%s", q->why);
	else {
		study_text(s, keys[KEY_KIND], t->mshr ? "mshr" : "prt", method, "memory",
			   "%u curves jump where %s are %u; %s: %.120s", jumps,
			   t->mshr ? "lines under way" : "instructions under way", t->lo,
			   t->mshr ? "not a prt" : "not an mshr", t->mshr ? q->prt.why : q->mshr.why);
		/* Twice the entries, of which each serves half as many threads, would be full of the same lines. */
		if (t->mshr && group > 1) {
			conclude_bound(s, q);
			study_verdict(
			    s, keys[KEY_MERGE], VERDICT_INCONCLUSIVE, "memory",
			    "only lines of %u threads and more filled the table, with %u of them: how many entries "
			    "such a line takes is not known",
			    group, t->lo);
			return;
		}
		if (t->lo == t->hi)
			study_measured_number(s, keys[KEY_ENTRIES], t->lo, t->lo, t->hi, "sm", method, "memory",
					      "the same number in %u curves, from memory and the L2, at two distances",
					      jumps);
		else
			study_verdict(s, keys[KEY_ENTRIES], VERDICT_INCONCLUSIVE, "memory", "%u to %u entries", t->lo,
				      t->hi);
		/* In threads and in lines of whole instructions, which a part's entry is not. */
		if (t->lo == t->hi && (t->mshr || t->merge_lo == study_device(s)->warp_size))
			fits_conclude(s, (const struct curve *const *)q->curve, q->curves, t);
		if (t->mshr)
			conclude_merge(s, q, method);
		else
			study_verdict(s, keys[KEY_MERGE], VERDICT_ABSENT, "memory",
				      "each instruction%s has an entry of its own, whatever its threads share",
				      t->merge_lo < study_device(s)->warp_size ? "'s part" : "");
		return;
	}
	study_verdict(s, keys[KEY_KIND], VERDICT_INCONCLUSIVE, "memory, l2", "%s", why);
	study_verdict(s, keys[KEY_MERGE], VERDICT_INCONCLUSIVE, "memory, l2", "%s", why);
	conclude_bound(s, q);
}

static void conclude(struct study *s, const struct inquiry *q)
{
	const unsigned jumps = jumps_of(q, false), weak = jumps_of(q, true) - jumps;
	unsigned failed = 0;
	const char *why = "";

	for (unsigned k = 0; k < q->curves; k++) {
		const struct curve *c = q->curve[k];
		if (c->state != CHASE_DONE) {
			failed++;
			why = c->why;
			continue;
		}
	}
	conclude_chain(s, q);
	if (failed) {
		for (unsigned k = KEY_KIND; k <= KEY_MERGE; k++)
			study_verdict(s, keys[k], VERDICT_INCONCLUSIVE, "memory, l2", "%s", why);
		return;
	}
	if (jumps) {
		conclude_table(s, q, jumps);
		return;
	}
	conclude_bound(s, q);
	/* Of what nothing fills neither its kind is asked nor what it merges. */
	for (unsigned k = KEY_KIND; weak && k <= KEY_MERGE; k += KEY_MERGE - KEY_KIND)
		study_verdict(s, keys[k], VERDICT_INCONCLUSIVE, "memory, l2",
			      "no queue filled up with %u instructions in flight; the steps seen are too small "
			      "to tell from other delays",
			      under_way(s, q));
}

/* Whether there is an L2 for sure. Rows of the memory are open for a second copy as well, as long as blocks keep to their order. */
static bool has_l2(const struct study *s)
{
	const struct finding *size = study_finding(s, "cache.global.l2.size");

	return size && (size->verdict == VERDICT_MEASURED || size->verdict == VERDICT_BOUND);
}

/* Returns bytes of which the L2 certainly holds several times as many. */
static double study_copy(struct study *s)
{
	static const char key[] = "cache.global.l2.copy_size",
			  method[] = "time of a copy that was made before against one from memory";
	struct copied c;
	const enum chase_state state = copy_size(s, COPY, &c);
	const bool known = state == CHASE_DONE && has_l2(s);

	if (state == CHASE_PENDING)
		return HELD_AT_LEAST;
	if (state == CHASE_UNDECIDED)
		study_verdict(s, key, VERDICT_INCONCLUSIVE, "copy", "%s", c.why);
	else if (!known)
		study_verdict(s, key, VERDICT_INCONCLUSIVE, "copy",
			      "%.2f of the time of a repeated copy is memory's; open rows of memory gain time, too, "
			      "and no L2 is known",
			      1 - c.share);
	else if (c.size > 0)
		study_measured_number(
		    s, key, c.size, c.least, c.most, "card", method, "copy",
		    "an array is copied again in %.2f of the time from memory, one of %.0f bytes no longer",
		    1 - c.share, c.most);
	else
		study_bound(s, key, c.least, INFINITY, method, "copy",
			    "copies are made again in %.2f of the time from memory, whatever was tried", 1 - c.share);
	return known ? fmax(c.least / 4, HELD_AT_LEAST) : HELD_AT_LEAST;
}

static void out_of_memory(struct study *s)
{
	for (unsigned k = 0; k < KEYS; k++)
		study_verdict(s, keys[k], VERDICT_FAILED, "memory", "out of memory");
}

static void study_table(struct study *s, double holds)
{
	struct inquiry *q = ARENA_ARRAY(study_arena(s), 1, struct inquiry);

	if (!q) {
		out_of_memory(s);
		return;
	}
	*q = (struct inquiry){0};
	for (unsigned k = 0; k < LATENCY_WAYS; k++) {
		q->way[k].number = k;
		q->way[k].holds = holds;
		way_measure(s, &q->way[k]);
	}
	for (unsigned k = 0; k < LATENCY_WAYS; k++)
		if (q->way[k].state == CHASE_DONE)
			chain_measure(s, &q->way[k], &q->chain[k]);
	for (unsigned k = 0; k < LATENCY_WAYS && study_ahead(s); k++)
		chain_measure(s, &q->way[k], &q->chain[k]);
	if (study_pending(s))
		return;
	if (q->way[LATENCY_MEMORY].state != CHASE_DONE) {
		for (unsigned k = 0; k < KEYS; k++)
			study_verdict(s, keys[k], VERDICT_INCONCLUSIVE, "memory", "%s", q->way[LATENCY_MEMORY].why);
		return;
	}
	ask_first(s, q);
	if (!study_pending(s) && jumps_of(q, false))
		ask_all(s, q);
	if (study_pending(s))
		return;
	eliminate(s, q);
	if (!q->mshr.possible && !q->prt.possible && jumps_of(q, false) >= JUMPS_LEAST) {
		ask_between(s, q);
		if (study_pending(s))
			return;
		eliminate(s, q);
	}
	if (!q->mshr.possible && !q->prt.possible) {
		ask_longer(s, q);
		ask_light(s, q);
		if (study_pending(s))
			return;
		eliminate(s, q);
	}
	if (q->mshr.possible && q->prt.possible) {
		look_closely(s, q);
		if (study_pending(s))
			return;
		eliminate(s, q);
	}
	narrow_merge(s, q);
	if (study_pending(s))
		return;
	if (q->mshr.possible != q->prt.possible)
		q->beside = ask_beside(s, q);
	if (study_pending(s))
		return;
	if (q->starved)
		out_of_memory(s);
	else
		conclude(s, q);
	parallel_conclude(s, &q->way[LATENCY_L2], q->mshr.possible && !q->prt.possible ? q->mshr.lo : 0);
}

static void study_outstanding(struct study *s)
{
	study_table(s, study_copy(s));
}

static const char *const claims[] = {"outstanding.*", "cache.global.l2.copy_size", NULL};
static const char *const needs[] = {"global_cache", NULL};

const struct probe probe_outstanding = {
    .name = "outstanding",
    .asks = "How many memory requests can an SM have under way, and what remembers them?",
    .source = "Lashgar 2015, sections 3 to 5. Added are loads by one thread of each warp, the same "
	      "from the L2 and beside another SM, and a copy to a small place",
    .how = "One block makes more and more independent loads of a line each: 1 to 4 a thread, "
	   "with 1 to 32 threads a line. When a table is full, the time until it has all of them "
	   "jumps by what is left of the latency. For miss status registers the jump depends on "
	   "lines, for a pending request table on instructions. A table that one curve "
	   "contradicts is dropped. How many loads one warp has in flight shows in the time that "
	   "it needs to issue them. The size of the L2 shows in the time of a copy that was made "
	   "before.",
    .fooled = "What else stands in a request's way: a warp's own limit, which is found first and kept to. "
	      "Bandwidth, which makes a slope and no jump. Distance, caches and TLBs, which move the jump when "
	      "lines lie twice as far apart. Queues of the memory, which the L2 does not have. And what other SMs "
	      "share, which is late while another one does the same. A scheduler that prefers some warps: each "
	      "says when it was ready to load and when it had all, and they wait for each other in between. A "
	      "limit of warps: as many instructions are made by more of them. A table that cannot be filled makes "
	      "no jump: there it is a bound. Open rows of the memory, which a second copy finds as well: its time "
	      "says something of an L2 only where one was found.",
    .figure = "thread-latency-1",
    .needs = needs,
    .claims = claims,
    .experiments = experiments,
    .experiment_count = sizeof experiments / sizeof *experiments,
    .study = study_outstanding,
    .draw = outstanding_draw,
};
