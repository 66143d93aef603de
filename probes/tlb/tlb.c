/* TLBs of global memory and of textures. Wong 2010, IV-I; Mei 2014, 4.2. */
#include "tlb.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { PATHS = TLB_ON_TEXTURE + 1 };
#define TEXELS_BYTES (2ull << 30) /* 2^27 texels of 16 bytes */
#define BYTES_LEAST  (8ull << 20)
#define NEAR_LINES   1024 /* more than a cache in front of the TLB of textures holds */
#define PAGES_SURE   4096 /* that cost nothing, where there is no TLB */

static const struct experiment experiments[] = {
    [TLB_ON_GLOBAL] =
	{.name = "global", .axis = "pages", .unit = "count", .params = RING_PARAM_NAMES, .setup = ring_setup_global},
    [TLB_ON_TEXTURE] = {.name = "texture",
			.axis = "pages",
			.unit = "count",
			.params = RING_PARAM_NAMES,
			.setup = ring_setup_texture,
			.thorough = true},
};
static const char *const names[PATHS] = {"global", "texture"}, *const levels[] = {"l1", "l2", "l3", "l4"};
#define LEVELS_NAMED (sizeof(levels) / sizeof(levels[0])) /* no key is of a further one */
static const char *const claims[] = {"tlb.*", NULL};
static const char by_costs[] = "costs of a page's first access over a buffer";
static const char *const needs[] = {"clock", NULL};

/* l: the level as it was judged. */
static void conclude_set_sizes(struct study *s, const struct tlb_path *c, unsigned k, const struct tlb_level *l)
{
	double size[VALUE_ARRAY_MAX];

	if (l->sets.state != CHASE_DONE || l->set_count < 2 || l->set_count > VALUE_ARRAY_MAX)
		return;
	for (unsigned i = 0; i < l->set_count; i++)
		size[i] = l->set_size[i];
	study_measured_array(s, KEY("tlb.%s.%s.set_sizes", c->name, levels[k]), size, l->set_count, "",
			     "pages that conflict with one more, for several more", c->name,
			     "%u groups of pages conflict among themselves, and each page is in one", l->set_count);
}

/* Of one level's cost against the one above. What rounds each visit may round all of them alike, and the clock says how much. */
#define VAGUE 0.25 /* of the least that a cost may be: an interval as wide proves too little */
static void conclude_step(struct study *s, const struct tlb_path *c, const char *key, unsigned k)
{
	static const char method[] = "a line as the first of its page, against the same line as the second";
	const struct tlb_price *of = &c->price[k], *above = &c->price[k - 1];
	/* A clock that counts by several errs by less than one step at each end of an access. A cost is the difference
	 * of two accesses. A cost is off by this each time, but a cost of nothing may be exact. */
	const double rows = of->loose + (k > 1 ? above->loose : 0),
		     hits = c->price[0].loose + (k > 1 ? 2 : 1) * c->price[0].either, loose = hits + rows,
		     low = of->low - above->high, high = of->high - above->low,
		     half = fmax(GAP_LEAST, (high - low) / 2) + loose, middle = (low + high) / 2,
		     v = fmax(low, fmin(high, of->value - above->value));
	/* Translation keeps its own clock. While the SM's clock ran faster, a miss took as many more of its cycles.
	 * Some of what was seen, of this cost or of the one above, may be from such a time. */
	const double swing = of->usual && (k < 2 || above->usual) ? 0 : c->swing,
		     less = k > 1 ? above->value * swing / (1 + swing) : 0, lo = (middle - half) / (1 + swing) - less,
		     hi = middle + half + less;

	if (of->state != CHASE_DONE || above->state != CHASE_DONE)
		study_verdict(s, key, VERDICT_INCONCLUSIVE, c->name, "%s",
			      of->state != CHASE_DONE ? of->why : above->why);
	else if ((c->grain > 1 || loose > 0 || swing > 0) && hi - lo > VAGUE * lo)
		study_likely_number(s, key, v, lo, hi, "sm", method, c->name, "pages that miss cost %.1f cycles: %s",
				    of->value,
				    swing > 0	    ? "the SM's clock ran faster for a while"
				    : rows > 0	    ? "open rows of the memory may or may not be in it"
				    : hits > c->gap ? "pages that hit differ by as much"
						    : "the clock's steps allow no more");
	else
		study_measured_number(s, key, v, lo, hi, "sm", method, c->name,
				      "pages that miss cost %.1f cycles, those of the level above %.1f", of->value,
				      above->value);
}

/* A fact without a reason of its own gets the other one's. */
static void explain_by(struct chase_fact *f, const struct chase_fact *other)
{
	if (!f->why[0])
		memcpy(f->why, other->why, sizeof(f->why));
}

static void conclude_level(struct study *s, const struct tlb_path *c, unsigned k)
{
	struct tlb_level l = c->level[k];
	const char *path = c->name, *level = levels[k];
	const unsigned long long reach = l.reach.value, line = l.line.value, entries = l.entries.value,
				 ways = l.ways.value;

	explain_by(&l.line, &l.reach);
	explain_by(&l.entries, &l.reach);
	explain_by(&l.ways, &l.reach);
	explain_by(&l.sets, &l.ways);
	/* Pages that meet by chance, as by a hash, conflict before all entries are taken. */
	if (l.reach.state == CHASE_DONE && l.sets.state != CHASE_DONE) {
		study_bound(s, KEY("tlb.%s.%s.reach", path, level), (double)reach, INFINITY,
			    "pages that fit, lap after lap", path,
			    "%llu pages in steps of %llu bytes fit; no sets confirm that no more do: %.150s", entries,
			    line, c->level[k].ways.why);
		study_verdict(s, KEY("tlb.%s.%s.line", path, level), VERDICT_INCONCLUSIVE, path, "%s",
			      c->level[k].ways.why);
		study_verdict(s, KEY("tlb.%s.%s.entries", path, level), VERDICT_INCONCLUSIVE, path, "%s",
			      c->level[k].ways.why);
	} else {
		chase_conclude_fact(s, KEY("tlb.%s.%s.reach", path, level), &l.reach,
				    "pages that fit at strides of powers of two, and densely", path,
				    "%llu pages in steps of %llu bytes hit, lap after lap, and one more does not",
				    entries, line);
		chase_conclude_fact(s, KEY("tlb.%s.%s.line", path, level), &l.line,
				    "pages in conflict, half of them moved (Wong 2010, Fig. 15)", path,
				    "moved by %llu bytes pages come to another entry, moved by less they do not", line);
		chase_conclude_fact(s, KEY("tlb.%s.%s.entries", path, level), &l.entries, "reach / line", path,
				    "%llu bytes, of which one entry covers %llu", reach, line);
	}
	chase_conclude_fact(s, KEY("tlb.%s.%s.ways", path, level), &l.ways, "pages that conflict with one more", path,
			    "one page more than fits conflicts with %llu pages and no others, wherever it lies", ways);
	chase_conclude_fact(
	    s, KEY("tlb.%s.%s.sets", path, level), &l.sets, "entries / ways, or groups of pages in conflict", path,
	    l.set_count ? "%llu entries in %llu groups that conflict among themselves" : "%llu entries in sets of %llu",
	    entries, l.set_count ? (unsigned long long)l.set_count : ways);
	conclude_set_sizes(s, c, k, &l);
	if (k && l.reach.state == CHASE_DONE)
		conclude_step(s, c, KEY("tlb.%s.%s.latency", path, level), k);
}

static void estimate(struct study *s, const struct tlb_path *c, unsigned k, const char *what, double v, double either,
		     const struct pages_result *j, enum judge_verdict verdict)
{
	static const char method[] = "one likelihood of all shapes, beside the rings of the path";
	const struct pages_shape *q = &j->best;
	char key[96], seen[300];

	snprintf(key, sizeof(key), "tlb.%s.%s.%s", c->name, levels[k], what);
	snprintf(seen, sizeof(seen),
		 "%u sets of %u entries of %llu bytes, %s, explain %u rings; of %u shapes the next is worse by "
		 "%.0f nats",
		 q->sets, q->ways, (unsigned long long)q->line, q->folded ? "found by a hash" : "in turn", j->rings,
		 j->candidates, j->margin[PAGES_ENTRIES]);
	if (verdict == JUDGE_MEASURED)
		study_measured_number(s, key, v, v - either, v + either, "", method, c->name, "%s", seen);
	else
		study_likely_number(s, key, v, v - either, v + either, "", method, c->name, "%s", seen);
}

/* What the judge says of a level that it knows, or that the rules leave open: as a whole, or nothing of it. */
static bool conclude_judged(struct study *s, struct tlb_path *c, unsigned k)
{
	static const char *const what[PAGES_KEYS] = {"line", "entries", "sets", "ways"};
	struct tlb_level *l = &c->level[k];
	struct pages_result j;

	if ((l->reach.state == CHASE_DONE && l->sets.state == CHASE_DONE && !l->judged) || l->is ||
	    (k && c->level[k - 1].reach.state != CHASE_DONE) || !tlb_judge(c, k, &j))
		return false;
	const enum judge_verdict verdict = tlb_judge_verdict(c, k, &j);
	if (verdict == JUDGE_OPEN)
		return false;
	for (enum pages_key key = 0; key < PAGES_KEYS; key++)
		estimate(s, c, k, what[key], (double)pages_value(&j.best, key), 0, &j, verdict);
	estimate(s, c, k, "reach", (double)j.best.line * (double)pages_value(&j.best, PAGES_ENTRIES), 0, &j, verdict);
	/* Rows of the memory and a clock that changes are in what the survey saw. */
	if (k && l->judged)
		conclude_step(s, c, KEY("tlb.%s.%s.latency", c->name, levels[k]), k);
	else if (k && !(c->rows > 0) && !(c->swing > 0))
		estimate(s, c, k, "latency", c->step[k] - c->step[k - 1], fmax(GAP_LEAST, 2 * c->grain), &j,
			 JUDGE_LIKELY);
	if (verdict == JUDGE_MEASURED)
		tlb_know(l, &j.best);
	return true;
}

static bool is_same(const struct tlb_level *l, const struct tlb_level *o)
{
	return l->reach.state == CHASE_DONE && o->reach.state == CHASE_DONE && l->reach.value == o->reach.value &&
	       l->line.value == o->line.value;
}

/* Takes from another path what it found of a level that this path leaves open. The level is likely the same if all
 * before it are alike and it costs as much more. Textures reach too little to overflow a large TLB by themselves. */
static bool conclude_other(struct study *s, const struct tlb_path *c, unsigned k, const struct tlb_path *other)
{
	static const char *const what[] = {"line", "entries", "reach", "sets", "ways", "latency"};
	const struct tlb_level *l = &c->level[k];

	if (!other || !k || k >= other->level_count || l->reach.state == CHASE_DONE || l->is == TLB_IS_TABLES ||
	    other->level[k].is == TLB_IS_TABLES)
		return false;
	for (unsigned i = 0; i < k; i++)
		if (!is_same(&c->level[i], &other->level[i]))
			return false;
	/* A step before it that single lines make is no level. */
	bool alike = false;
	for (unsigned i = k; i < c->steps && !alike; i++)
		alike = fabs(c->step[i] - other->step[k]) <= fmax(GAP_LEAST, 2 * c->grain);
	if (!alike)
		return false;
	for (size_t i = 0; i < sizeof(what) / sizeof(what[0]); i++) {
		const struct finding *f = study_finding(s, KEY("tlb.%s.%s.%s", other->name, levels[k], what[i]));
		const bool told = f && finding_estimated(f) && f->value.kind == VALUE_NUMBER;
		if (!told && i < 3)
			return false;
		if (!told)
			continue;
		study_likely_number(s, KEY("tlb.%s.%s.%s", c->name, levels[k], what[i]), f->value.number, f->lo, f->hi,
				    "", "of another path that has the same levels", c->name,
				    "of %s memory, whose TLBs before it are the same; by itself: %.150s", other->name,
				    l->reach.why);
	}
	return true;
}

/* other: a path that was concluded before, or NULL. */
static void conclude_path(struct study *s, struct tlb_path *c, const struct tlb_path *other)
{
	char text[200], key[64];
	unsigned sure = 0, told = 0;
	bool judged[TLB_STEPS] = {false};
	bool most = c->bytes >= study_device(s)->memory_bytes / 4 * 3;

	while (sure < c->level_count && c->level[sure].reach.state == CHASE_DONE)
		sure++;
	for (unsigned k = 0; k < c->level_count && k < LEVELS_NAMED; k++)
		judged[k] = conclude_judged(s, c, k) || conclude_other(s, c, k, other);
	while (told < c->level_count && (c->level[told].reach.state == CHASE_DONE || judged[told]))
		told++;
	if (!c->level_count) {
		snprintf(text, sizeof(text), "%u pages all over %llu bytes cost no more than two%s",
			 1u << TLB_SURVEY_MOST, (unsigned long long)c->bytes,
			 most ? "" : ", but the memory is much larger");
		if (c->most_pages < PAGES_SURE || c->clarity == TLB_DROPPED) {
			most = false;
			snprintf(text, sizeof(text), "a cache in front of the TLB, or noise, hides what pages cost");
		} else if (c->rows > 0)
			snprintf(text, sizeof(text),
				 "pages cost no more than %.0f cycles, and %s: rows of the memory do that", c->rows,
				 c->rows_short ? "nothing where lines of a page lie farther apart"
					       : "pieces smaller than any page cost as much");
		if (c->clarity == TLB_UNCLEAR)
			snprintf(text, sizeof(text),
				 "pages differ in what they cost, but not as levels would make them");
		study_verdict(s, KEY("tlb.%s.levels", c->name),
			      most && c->clarity != TLB_UNCLEAR ? VERDICT_ABSENT : VERDICT_INCONCLUSIVE, c->name, "%s",
			      text);
		return;
	}
	snprintf(key, sizeof(key), "tlb.%s.levels", c->name);
	if (sure < told && told == c->level_count && c->clarity != TLB_UNCLEAR)
		/* One more may reach over all of the memory, unless the last cost is one of reading tables. */
		study_likely_number(s, key, told, told, tlb_is_walk(c) ? told : LEVELS_NAMED, "", by_costs, c->name,
				    "pages cost one of %u times; level %u is likely, and no more than that", told + 1,
				    sure + 1);
	else if (sure < c->level_count || c->clarity == TLB_UNCLEAR)
		study_at_least(s, key, sure, by_costs, c->name, "%u costs of a page were seen%s: %.150s",
			       c->level_count + 1, c->clarity == TLB_UNCLEAR ? ", and others" : "",
			       sure < c->level_count ? c->level[sure].reach.why
						     : "noise, or one more level, hides whose they are");
	else if (!most)
		study_bound(s, key, c->level_count, INFINITY, by_costs, c->name,
			    "%llu bytes could be used, and the memory is much larger", (unsigned long long)c->bytes);
	else if (tlb_is_behind(c))
		study_bound(s, key, c->level_count, INFINITY, by_costs, c->name,
			    "a miss costs %.0f cycles, less than reading a table: one more level may reach over all of "
			    "the memory",
			    c->step[c->level_count]);
	else
		study_measured_number(
		    s, key, c->level_count, c->level_count, c->level_count, "", by_costs, c->name,
		    "pages cost one of %u times, and each step has a number of pages from which on it comes up",
		    c->level_count + 1);
	for (unsigned k = 0; k < c->level_count && k < LEVELS_NAMED; k++)
		if (!judged[k])
			conclude_level(s, c, k);
	snprintf(key, sizeof(key), "tlb.%s.miss_latency", c->name);
	if (sure == c->level_count && c->clarity != TLB_UNCLEAR && most && !tlb_is_behind(c))
		conclude_step(s, c, key, c->level_count);
	else
		study_verdict(s, key, VERDICT_INCONCLUSIVE, c->name, "%s",
			      sure < c->level_count && !c->level[sure].reach.why[0]
				  ? "what misses the last level was not timed: only all rings together told its shape"
			      : sure < c->level_count	  ? c->level[sure].reach.why
			      : c->clarity == TLB_UNCLEAR ? "noise, or one more level, hides which cost is the last one"
			      : most			  ? "one more level may reach over all of the memory"
							  : "what memory could not be used may show one more level");
}

static void conclude_page(struct study *s, const struct tlb_path *path)
{
	double least = INFINITY;
	unsigned seen = 0;

	for (unsigned i = 0; i < PATHS; i++)
		for (unsigned k = 0; k < path[i].level_count; k++, seen++)
			if (path[i].level[k].line.state == CHASE_DONE && path[i].level[k].sets.state == CHASE_DONE)
				least = fmin(least, (double)path[i].level[k].line.value);
	if (least <= CHASE_PAGE)
		study_measured_number(s, "tlb.page_size", least, least, least, "", "the smallest line of any TLB",
				      "global", "a TLB has lines of %.0f bytes, and nobody has smaller pages", least);
	else if (isfinite(least))
		study_bound(s, "tlb.page_size", -INFINITY, least, "the smallest line of any TLB", "global",
			    "an entry covers whole pages, and %.0f bytes", least);
	else if (seen)
		study_verdict(s, "tlb.page_size", VERDICT_INCONCLUSIVE, "global", "no TLB's line is known");
}

/* Nearly all of the memory, or less where it is not to be had. */
static enum chase_state survey(struct study *s, struct tlb_path *c, uint64_t most)
{
	enum chase_state state = CHASE_UNDECIDED;
	uint64_t room = study_device(s)->memory_bytes / 16 * 15 / BYTES_LEAST * BYTES_LEAST;

	c->bytes = room < most ? room : most;
	snprintf(c->why, sizeof(c->why), "the memory is too small");
	for (unsigned tries = 0; tries < 3 && c->bytes >= BYTES_LEAST && state == CHASE_UNDECIDED; tries++) {
		const double key[] = {c->experiment, (double)c->bytes, c->rows,
				      c->no_row,     c->rows_short,    c->maybe_rows};
		const struct tlb_path *before = study_recall(s, "survey", key, sizeof(key));
		if (before) {
			*c = *before;
			return CHASE_DONE;
		}
		for (c->whole = BYTES_LEAST; 2 * c->whole <= c->bytes;)
			c->whole *= 2;
		state = tlb_survey(c);
		if (state == CHASE_DONE)
			study_keep(s, "survey", key, sizeof(key), c, sizeof(*c));
		if (state == CHASE_UNDECIDED)
			c->bytes = c->whole / 2;
	}
	return state;
}

/* Geometry of all levels. An open row of the memory answers sooner than a closed one, so that pages seem to cost
 * something. Pieces smaller than any page that conflict are such rows. Their cost is left out of the steps from there
 * on. */
static enum chase_state shape(struct study *s, struct tlb_path *c, uint64_t most)
{
	enum chase_state state = survey(s, c, most);

	for (unsigned k = 0; state == CHASE_DONE && k < c->level_count;) {
		if (tlb_geometry(c, k) == CHASE_PENDING)
			return CHASE_PENDING;
		if (c->level[k].is != TLB_IS_ROWS || c->rows > 0) {
			k++;
			continue;
		}
		c->rows = tlb_least_cost(c, k);
		/* Pieces that cost something else are rows that no ring of the survey met; the level is one all the same. */
		if (fabs(c->level[k].piece - c->rows) > c->gap + TLB_ROWS_ALIKE * c->rows)
			c->rows = c->level[k].piece;
		state = survey(s, c, most);
		k = 0;
	}
	return state;
}

/* Survey, geometry, prices and figures of one path. */
static enum chase_state follow(struct study *s, struct tlb_path *c)
{
	const enum chase_state state = shape(s, c, c->experiment == TLB_ON_TEXTURE ? TEXELS_BYTES : UINT64_MAX);

	if (state != CHASE_DONE)
		return state;
	for (unsigned k = 0; k <= c->level_count && !study_pending(s); k++)
		tlb_price_of(c, k, &c->price[k]);
	if (!study_pending(s))
		tlb_ask_figures(c);
	return state;
}

/* A first level as large, in entries as long, as a later level of the other path is likely that level. The level before
 * it was not seen then: a cache hid its pages, or it costs no more than rows of the memory do. */
static void doubt_first(struct tlb_path *c, const struct tlb_path *other)
{
	struct tlb_level *l = &c->level[0];
	char why[sizeof(l->reach.why)];

	for (unsigned k = 1; k < other->level_count && c->level_count; k++) {
		const struct tlb_level *o = &other->level[k];
		if (!is_same(l, o))
			continue;
		snprintf(why, sizeof(why), "level %u of %s memory is as large, so that there may be one before it",
			 k + 1, other->name);
		tlb_refuse(l, why);
	}
}

static void begin(struct study *s, struct tlb_path *c, unsigned experiment)
{
	*c = (struct tlb_path){.study = s, .experiment = experiment, .name = names[experiment]};
	c->swing = study_swing_from(s, &c->swing_least);
	c->lines = experiment == TLB_ON_TEXTURE ? NEAR_LINES : 0;
}

static void study_tlb(struct study *s)
{
	struct tlb_path path[PATHS];
	enum chase_state state[PATHS] = {CHASE_UNDECIDED, CHASE_UNDECIDED};

	for (unsigned i = 0; i < PATHS; i++)
		begin(s, &path[i], i);
	/* One after the other, because the buffer of the first may be all the memory that there is. */
	for (unsigned i = 0; i < PATHS && !study_pending(s); i++) {
		/* The memory is the same, and so is what its rows cost. */
		path[i].rows = i ? path[0].rows : 0;
		path[i].no_row = i ? path[0].no_row : 0;
		path[i].rows_short = i && path[0].rows_short;
		path[i].maybe_rows = i ? path[0].maybe_rows : 0;
		path[i].bare = i && state[TLB_ON_GLOBAL] == CHASE_DONE && tlb_none_quick(&path[TLB_ON_GLOBAL]);
		state[i] = follow(s, &path[i]);
	}
	if (study_pending(s))
		return;
	if (state[TLB_ON_GLOBAL] == CHASE_DONE && state[TLB_ON_TEXTURE] == CHASE_DONE) {
		doubt_first(&path[TLB_ON_TEXTURE], &path[TLB_ON_GLOBAL]);
		doubt_first(&path[TLB_ON_GLOBAL], &path[TLB_ON_TEXTURE]);
	}
	for (unsigned i = 0; i < PATHS; i++) {
		if (state[i] == CHASE_DONE)
			conclude_path(s, &path[i], i && state[i - 1] == CHASE_DONE ? &path[i - 1] : NULL);
		else
			study_verdict(s, KEY("tlb.%s.levels", path[i].name), VERDICT_INCONCLUSIVE, path[i].name, "%s",
				      path[i].why);
	}
	conclude_page(s, path);
}

const struct probe probe_tlb = {
    .name = "tlb",
    .asks = "Which TLBs translate global and texture addresses, what do they reach, and what does a miss cost?",
    .source = "Wong 2010, IV-I. A page's first access is compared with a later one to the same line, so that "
	      "caches cancel. The ring is written on the device, so that it may be as large as the memory",
    .how = "A ring visits pages, and reads two lines of each, one after the other. The first has to wait for "
	   "the page's translation, the second finds it at hand. Each line takes both parts in turn, so that "
	   "the difference is translation and nothing else. How many pages fit at which strides gives reach and "
	   "entries. Moving half of them by an offset gives the line, and the pages that one more conflicts "
	   "with give the ways.",
    .fooled = "Caches of data or of page table entries, which hold fewer pages when each has more "
	      "lines: what fits has to fit with many lines, too, and with several times the data "
	      "between two visits. A cache that answers before addresses are translated: its hits "
	      "are told by their speed and left out. Open rows of memory, which are as a TLB with "
	      "sets of one entry: there is a level only if one page more makes more than two others "
	      "wait, or a set has more pages than memory has banks. An entry that covers more than "
	      "all rows tells it as well. And a cost of pieces smaller than any page, or one that "
	      "comes on top of two others, is left out of the levels. Noise, which makes openers "
	      "and followers slow alike: what is too fast says how much of it there is.",
    .figure = "tlb-global",
    .needs = needs,
    .claims = claims,
    .experiments = experiments,
    .experiment_count = sizeof(experiments) / sizeof(experiments[0]),
    .study = study_tlb,
    .draw = tlb_draw,
};
