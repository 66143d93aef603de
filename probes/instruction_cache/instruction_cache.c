/* Caches of instructions: how many, their geometry, who shares them. Wong 2010, IV-J5 and IV-K. */
#include "base/arena.h"
#include "code_ring.h"
#include "code_share.h"
#include "stat/stat.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

#define SMALL_UNIT  32
#define SMALL_BYTES (64u << 10)
#define STAGES	    3 /* kernels, each of more code, until one shows what lies behind all caches */
#define NEARER	    0.75
#define ROWS	    0.85 /* of the slowest jumps' time: what takes no less may be the memory's rows */
#define FIRST                                                                                                          \
	1.2 /* times what surely is as long: a row that is opened for a first touch does not take so much longer */
#define RARE   0.3
#define LARGER 1.25
#define COMMON 0.15 /* of a hit of the common L2: fetches and loads go there on unlike ways */
#define ROW    4    /* pieces */
#define KEYS   3    /* levels that are spoken of when they are not there */

static const struct experiment experiments[] = {
    [EXPERIMENT_LAYOUT] = {.name = "layout",
			   .axis = "filling instructions",
			   .unit = "count",
			   .setup = code_layout_setup},
    [EXPERIMENT_JUMP] =
	{.name = "jump", .axis = "pieces of code", .unit = "count", .params = CODE_PARAM_NAMES, .setup = code_setup},
    [EXPERIMENT_TIMELINE] = {.name = "timeline",
			     .axis = "pieces of a line",
			     .unit = "count",
			     .params = {"lines", "filling instructions", "behind a read", "warp that evicts"},
			     .setup = code_timeline_setup},
    [EXPERIMENT_ROWS] = {.name = "rows",
			 .axis = "pieces of code",
			 .unit = "count",
			 .params = CODE_ROW_NAMES,
			 .setup = code_rows_setup,
			 .thorough = true},
    [EXPERIMENT_CROWD] = {.name = "crowd",
			  .axis = "pieces of code",
			  .unit = "count",
			  .params = CODE_CROWD_NAMES,
			  .setup = code_crowd_setup,
			  .thorough = true},
};

static const char *const claims[] = {"cache.instruction.*", "cache.constant.*.shared_with",
				     "memory.instruction.latency", NULL};
static const char *const needs[] = {"clock", "global_cache", "constant_cache", NULL};

static void all_inconclusive(struct study *s, enum verdict v, const char *why)
{
	static const char *const keys[] = {"cache.instruction.levels", "cache.instruction.l1.size",
					   "cache.instruction.fetch_bytes"};
	for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
		study_verdict(s, keys[i], v, "jump", "%s", why);
}

static void conclude_fact(struct study *s, const char *key, const struct code_fact *f, const char *method)
{
	if (f->known && f->likely)
		study_likely_number(s, key, f->value, f->lo, f->hi, "", method, "jump", "%s", f->why);
	else if (f->known)
		study_measured_number(s, key, f->value, f->value, f->value, "", method, "jump", "%s", "");
	else
		study_verdict(s, key, VERDICT_INCONCLUSIVE, "jump", "%s", f->why);
}

/* above: bytes that fit in the level above, 0 when this is the first. */
static void conclude_level(struct study *s, const struct code *c, const struct code_level *l, unsigned k,
			   unsigned above)
{
	const struct key_text size = key_text("cache.instruction.l%u.size", k + 1);
	if (l->doubtful) {
		static const char *const what[] = {"size", "line", "ways", "sets"};
		for (size_t i = 0; i < sizeof what / sizeof *what; i++)
			study_verdict(s, KEY("cache.instruction.l%u.%s", k + 1, what[i]), VERDICT_INCONCLUSIVE, "jump",
				      l->beside ? "jumps of %.0f cycles appear together with those that what lies "
						  "behind answers"
						: "a jump of %.0f cycles is hardly faster than what lies behind: it "
						  "may be the open rows of the memory",
				      l->ticks);
		return;
	}
	if (l->size.known)
		conclude_fact(s, size.of, &l->size, "lines that fit in a ring, ways and sets of those that conflict");
	else if (!l->endless && l->fits * c->unit > above) /* levels may hold different lines of a ring */
		study_bound(s, size.of, (double)l->fits * c->unit - above, INFINITY, "rings of code of growing size",
			    "jump", "%u bytes of code in a row fit beside the loop that jumps, %u do not; %s",
			    l->fits * c->unit, l->over * c->unit, l->size.why);
	else
		study_verdict(s, size.of, VERDICT_INCONCLUSIVE, "jump", "%s", l->size.why);
	conclude_fact(s, KEY("cache.instruction.l%u.line", k + 1), &l->line, "distance of the jumps that miss");
	conclude_fact(s, KEY("cache.instruction.l%u.ways", k + 1), &l->ways, "lines that fit in one set");
	conclude_fact(s, KEY("cache.instruction.l%u.sets", k + 1), &l->sets, "distance of lines that conflict");
}

static void conclude_text(struct study *s, const char *key, const struct code_shared *x, const char *method)
{
	if (x->text[0])
		study_text(s, key, x->text, method, "jump", "%s", x->why);
	else
		study_verdict(s, key, VERDICT_INCONCLUSIVE, "jump", "%s", x->why);
}

/* Constants, from what instructions share with them: none, where every level of instructions says so. */
static void conclude_constants(struct study *s, const struct code_shared *with, unsigned n, bool all)
{
	char name[24];
	double levels;
	if (!study_number(s, "cache.constant.levels", &levels))
		return;
	for (unsigned k = 1; k <= levels; k++) {
		bool known = all;
		struct code_shared x = {
		    .text = "none", .why = "no level of instructions is evicted by constants as if it were this one"};
		snprintf(name, sizeof name, "constant.l%u", k);
		for (unsigned i = 0; i < n; i++) {
			if (!strcmp(with[i].text, name)) {
				snprintf(x.text, sizeof x.text, "instruction.l%u", i + 1);
				snprintf(x.why, sizeof x.why, "%s", with[i].why);
				known = true;
				break;
			}
			known = known && with[i].text[0];
		}
		if (!known) {
			x.text[0] = '\0';
			snprintf(x.why, sizeof x.why, "not every level of instructions could be asked");
		}
		conclude_text(s, KEY("cache.constant.l%u.shared_with", k), &x,
			      "constants that are read between laps through code");
	}
}

/* Of the kernel whose code was never executed. */
static unsigned fresh_pieces(const struct code *c)
{
	return 26 * c->low < c->pieces ? 26 * c->low : c->pieces;
}

/* Is the slowest class what answers the first touch of code that was never executed, too? Then it is memory. cache: first touches take
 * longer, so it is none. */
static enum code_state is_memory(const struct code *all, const struct code_survey *v, bool *yes, bool *cache,
				 double *first)
{
	struct code few = *all;
	const struct code *c = &few;
	few.pieces = fresh_pieces(all);
	const unsigned step = (few.pieces - few.low) / 48 ? (few.pieces - few.low) / 48 : 1;
	const struct code_ring r = {.first = few.low,
				    .stride = step,
				    .count = (few.pieces - few.low) / step < 48 ? (few.pieces - few.low) / step : 48,
				    .laps = 1,
				    .fresh = 1};
	struct code_run run;
	double ticks[48], scratch[48], cold;
	enum code_state st = code_get(c, &r, &run);
	if (st != CODE_HERE)
		return st;
	for (unsigned i = 0; i < run.visits; i++)
		ticks[i] = code_ticks(&run, i);
	cold = stat_median(ticks, run.visits, scratch);
	*first = fmax(*first, cold);
	/* Code may have come near before it was executed for the first time: nothing that answers much sooner than the memory does
	 * for data is memory. */
	double data;
	const double alike = v->level[v->levels - 1].ticks * 1.1 + 5;
	/* All first touches may have met a faster clock, by which the same memory is farther: then nobody knows. */
	*yes = cold < alike;
	*cache = cold >= FIRST * alike * (1 + study_swing(all->study));
	/* Without any slower class there is nothing that memory could be told from: all code is at hand. */
	if (v->levels > 1) {
		const bool known = study_number(all->study, "memory.global.latency", &data);
		const double behind = cold - v->level[0].ticks;
		*cache = *cache || (known && behind <= data / 2);
		/* A level that is nearer than the cache of all data is no memory, either. */
		*cache =
		    *cache || (study_number(all->study, "cache.global.l2.latency", &data) && behind < NEARER * data);
		*yes = *yes && known && !*cache;
	}
	return CODE_HERE;
}

/* Bytes of a piece and of all code. The last one has as short lines as the level that its pieces are fetched through. */
static const struct stage {
	uint32_t unit, bytes;
} stages[STAGES] = {{SMALL_UNIT, SMALL_BYTES}, {512, 128u << 10}, {128, 256u << 10}};

struct found {
	struct code kernel[STAGES];
	struct code_survey seen[STAGES];
	unsigned stages; /* whose survey is there */
	unsigned caches; /* levels, memory not among them */
	bool open;	 /* the last of them never overflowed, so that more may lie behind */
	bool cache;	 /* and it is a cache, not the memory */
	bool common;	 /* what is behind the last of them seems to be the L2 of data */
	double cold;	 /* ticks of first touches */
	const struct code *code[CODE_LEVELS + 2];
	struct code_survey *survey[CODE_LEVELS + 2];
	unsigned index[CODE_LEVELS + 2]; /* in its survey */
};

/* Levels that the code of stage `at` shows behind those that less of it did. CODE_MISSING: it could not be measured. */
static enum code_state find_more(struct study *s, struct found *f, unsigned at)
{
	struct code *c = &f->kernel[at];
	struct code_survey *v = &f->seen[at];
	const unsigned n = f->caches;
	const bool small_cache = f->cache;
	const double last = f->survey[n - 1]->level[f->index[n - 1]].ticks, swing = study_swing(s);
	bool memory;
	enum code_state st = code_open(c, s, stages[at].unit, stages[at].bytes);
	if (st == CODE_HERE)
		st = code_measure_survey(c, v);
	if (st == CODE_HERE)
		st = is_memory(c, v, &memory, &f->cache, &f->cold);
	if (st != CODE_HERE)
		return st;
	f->stages = at + 1;
	for (unsigned k = 0; k < v->levels; k++) {
		double ticks = v->level[k].ticks;
		if (ticks < last / (1 + swing) * 0.92 - 4)
			continue;
		unsigned to = ticks < last * (1 + swing) * 1.08 + 4 ? n - 1 : f->caches;
		if (to > CODE_LEVELS)
			break;
		f->code[to] = c;
		f->survey[to] = v;
		f->index[to] = k;
		f->caches = to + 1;
	}
	/* A look at less code found one more cache, because its first touches took longer. That is none only if they
	 * may have met a faster clock. Otherwise the two looks contradict each other. */
	f->open = !memory || (f->caches == n && small_cache);
	if (memory && (f->caches > n || (!f->open && n > 1)))
		f->caches--;
	return CODE_HERE;
}

/* Compilers take seconds for the most code, which a quick run does not wait for: it has no rows. An older recording has
 * none, either. */
static bool is_quick(const struct code *c)
{
	const struct code_ring r = {
	    .first = c->low, .stride = 1, .count = ROW, .warm = 1, .laps = 1, .group = ROW, .period = ROW};
	struct code_run run;
	return code_get(c, &r, &run) != CODE_HERE;
}

/* CODE_MISSING: concluded already. */
static enum code_state find_levels(struct study *s, struct found *f)
{
	struct code *small = &f->kernel[0];
	struct code_survey *near = &f->seen[0];
	bool memory = false;
	unsigned stages_asked = 1;
	enum code_state st = code_open(small, s, SMALL_UNIT, SMALL_BYTES);
	if (st == CODE_HERE) {
		stages_asked = is_quick(small) ? STAGES - 1 : STAGES;
		code_expect(small, fresh_pieces(small));
		for (unsigned i = 1; i < stages_asked; i++)
			if (code_open(&f->kernel[i], s, stages[i].unit, stages[i].bytes) == CODE_HERE)
				code_expect(&f->kernel[i], fresh_pieces(&f->kernel[i]));
	}
	if (st == CODE_HERE)
		st = code_measure_survey(small, near);
	if (st == CODE_MISSING) {
		all_inconclusive(s, VERDICT_INCONCLUSIVE, small->why[0] ? small->why : near->why);
		return st;
	}
	if (st == CODE_HERE)
		st = is_memory(small, near, &memory, &f->cache, &f->cold);
	if (st == CODE_PENDING)
		return st;
	if (st == CODE_MISSING) {
		all_inconclusive(s, VERDICT_INCONCLUSIVE, "first touches of code could not be timed");
		return st;
	}
	f->stages = 1;
	f->caches = memory ? near->levels - 1 : near->levels;
	f->open = !memory;
	for (unsigned k = 0; k < near->levels; k++) {
		f->code[k] = small;
		f->survey[k] = near;
		f->index[k] = k;
	}
	for (unsigned i = 1; i < stages_asked && f->open && f->caches; i++)
		if (find_more(s, f, i) != CODE_HERE)
			return study_pending(s) ? CODE_PENDING : CODE_HERE;
	return CODE_HERE;
}

/* Open rows of a memory hold some code, too, and are hardly faster than the others. And what answers few jumps of the largest ring is
 * not what lies behind all caches, but the same delayed now and then. */
static void find_doubtful(struct found *f)
{
	const struct code_survey *v = &f->seen[f->stages - 1];
	const struct code_run *r = &v->run[v->count - 1];
	const double last = v->level[v->levels - 1].ticks;
	const struct code_level *before = v->levels > 1 ? &v->level[v->levels - 2] : NULL;
	const unsigned slow = before ? code_slow(r, before->floor) : 0;
	const bool rare = before && slow < RARE * r->visits && 2 * code_slow_always(r, before->floor) < slow;
	for (unsigned k = 1; k < f->caches; k++) {
		struct code_level *l = &f->survey[k]->level[f->index[k]];
		/* No cache is as far as what answers code that was never executed: jumps that take even longer wait for two lines. */
		const bool memory = !f->cache && l->ticks > ROWS * f->cold;
		l->doubtful = !l->endless && (l->ticks > ROWS * last || memory || (rare && l == before));
	}
}

/* A level that holds hardly more than the one above is what lies behind this, met on the way. */
static void find_hardly_larger(struct found *f)
{
	for (unsigned k = 1; k < f->caches; k++) {
		struct code_level *l = &f->survey[k]->level[f->index[k]];
		const struct code_level *up = &f->survey[k - 1]->level[f->index[k - 1]];
		l->beside = !l->doubtful && !l->endless && !up->endless &&
			    l->fits * f->code[k]->unit < LARGER * up->fits * f->code[k - 1]->unit;
		l->doubtful |= l->beside;
	}
}

static struct code_level *level_of(const struct found *f, unsigned k)
{
	return &f->survey[k]->level[f->index[k]];
}

/* Whether the last class, which all code fits in, takes as long as a hit of the GPU's L2 of data. */
static bool is_common(const struct study *s, const struct found *f)
{
	const struct finding *l2 = study_finding(s, "cache.global.l2.latency");
	if (f->caches < 2 || !level_of(f, f->caches - 1)->endless || !l2 || !finding_estimated(l2))
		return false;
	const double behind = level_of(f, f->caches - 1)->ticks - level_of(f, 0)->ticks,
		     swing = 1 + COMMON + study_swing(s);
	return behind > l2->lo / swing && behind < l2->hi * swing;
}

/* Levels that may be caches. Nothing lies behind what all code fits in: what is slower was delayed. */
static unsigned caches_at_most(const struct found *f)
{
	const unsigned most = f->open && !f->cache ? f->caches - 1 : f->caches;
	for (unsigned k = 0; k < most; k++)
		if (level_of(f, k)->endless && k + 1 < f->caches)
			return k;
	return most;
}

/* The first level that may be no cache of its own, but the memory, its open rows, or a part of what lies behind. */
static unsigned first_doubtful(const struct found *f)
{
	const unsigned most = caches_at_most(f);
	unsigned k = 0;
	while (k < most && !level_of(f, k)->doubtful)
		k++;
	return k;
}

/* At least so many caches there are, wherever the doubtful ones lie. */
static unsigned sure_levels(const struct found *f)
{
	unsigned sure = 0;
	for (unsigned k = caches_at_most(f); k-- > 0;)
		sure += !level_of(f, k)->doubtful;
	return sure;
}

static void conclude_levels(struct study *s, const struct found *f)
{
	const unsigned sure = f->caches ? sure_levels(f) : 0, first = f->caches ? first_doubtful(f) : 0;
	const struct code_level *last =
	    &f->survey[f->caches ? f->caches - 1 : 0]->level[f->index[f->caches ? f->caches - 1 : 0]];
	if (!f->caches || (f->open && f->caches == 1)) {
		study_verdict(s, "cache.instruction.levels", f->caches ? VERDICT_INCONCLUSIVE : VERDICT_ABSENT, "jump",
			      "a jump takes %.0f cycles whatever the code's size, up to %u KB%s", last->ticks,
			      stages[f->stages - 1].bytes >> 10,
			      f->caches ? "; only first touches take longer" : ", and at the first touch");
	} else if (!sure) {
		study_verdict(s, "cache.instruction.levels", VERDICT_INCONCLUSIVE, "jump",
			      "no class of jumps is surely a cache");
	} else if (sure < f->caches) {
		study_bound(s, "cache.instruction.levels", sure, INFINITY,
			    "classes of jumps that appear as the code grows", "jump",
			    "behind level %u jumps take %.0f cycles: by the memory, its open rows, a part of what lies "
			    "behind, or one more cache",
			    first, level_of(f, first)->ticks);
	} else if (f->common) {
		study_likely_number(s, "cache.instruction.levels", f->caches, f->caches, f->caches, "",
				    "classes of jumps that appear as the code grows", "jump",
				    "what lies behind takes as long as the L2 of data");
	} else if (f->open) {
		study_bound(s, "cache.instruction.levels", f->caches, INFINITY,
			    "classes of jumps that appear as the code grows", "jump",
			    "level %u holds all code of this kernel, so what lies behind it is never seen", f->caches);
	} else {
		study_measured_number(s, "cache.instruction.levels", f->caches, f->caches, f->caches, "",
				      "classes of jumps that appear as the code grows", "jump", "%s", "");
	}
	for (unsigned k = f->caches; k < KEYS && !f->open; k++)
		study_verdict(s, KEY("cache.instruction.l%u.size", k + 1), VERDICT_ABSENT, "jump",
			      "no class of jumps is left for it");
}

/* What fetches take longer that level k answers than those of the nearest one. The memory is nearer to some SMs than to others, and one was asked. */
static void conclude_wait(struct study *s, const char *key, const struct found *f, unsigned k, bool memory)
{
	static const char method[] = "jumps that a level answers against those that the nearest one does";
	struct code_wait w;
	if (!code_later(s, f->survey[0], f->survey[k], f->index[k], &w))
		study_verdict(s, key, VERDICT_INCONCLUSIVE, "jump",
			      "too few jumps tell what it answers from what the nearest level does");
	else if (w.exact && !memory)
		study_measured_number(s, key, w.value, w.lo, w.hi, "sm", method, "jump",
				      "a jump takes %.4g cycles, one within the nearest level %.4g", w.far, w.near);
	else
		study_between(s, key, w.value, w.lo, w.hi, "sm", method, "jump",
			      "a jump takes from %.4g to %.4g cycles longer than the %.4g within the nearest level",
			      w.lo, w.hi, w.near);
}

static void conclude_waits(struct study *s, const struct found *f)
{
	static const char behind[] = "memory.instruction.latency";
	const unsigned first = f->caches ? first_doubtful(f) : 0;
	for (unsigned k = 1; k < f->caches; k++) {
		const struct key_text key = key_text("cache.instruction.l%u.latency", k + 1);
		if (k >= first) /* behind a doubtful one nobody knows its number */
			study_verdict(s, key.of, VERDICT_INCONCLUSIVE, "jump",
				      "whether it is a cache at all is not known");
		else
			conclude_wait(s, key.of, f, k, false);
	}
	if (!f->caches)
		study_verdict(s, behind, VERDICT_ABSENT, "jump", "there is no cache to miss");
	else if (f->open && !f->common)
		study_verdict(s, behind, VERDICT_INCONCLUSIVE, "jump", "no code was surely beyond all caches");
	else
		conclude_wait(s, behind, f, f->caches, true);
}

static void study_instruction(struct study *s)
{
	struct found *f = ARENA_NEW(study_arena(s), struct found);
	bool pending = false;
	if (!f)
		return all_inconclusive(s, VERDICT_FAILED, "out of memory");
	if (study_device(s)->constant_bytes < 1024)
		return all_inconclusive(s, VERDICT_UNSUPPORTED, "this device has no constant space to speak of");
	if (find_levels(s, f) != CODE_HERE)
		return;
	find_doubtful(f);
	if (f->open && is_common(s, f)) {
		f->common = f->cache = true;
		f->caches--;
	}
	for (unsigned k = 0; k < f->caches; k++) {
		struct code_level *l = &f->survey[k]->level[f->index[k]];
		if (l->endless)
			snprintf(l->size.why, sizeof l->size.why, "all code of this kernel fits");
		const struct code_fact *up = k ? &level_of(f, k - 1)->line : NULL;
		if (!l->endless && code_geometry(f->code[k], f->survey[k], f->index[k],
						 up && up->known ? up->value : 0) == CODE_PENDING)
			pending = true;
	}
	if (pending || study_pending(s))
		return;
	find_hardly_larger(f);
	struct code_shared scope[CODE_LEVELS + 2] = {0}, with[CODE_LEVELS + 2] = {0};
	struct code_fact fetch = {0};
	for (unsigned k = 0; k < f->caches; k++) {
		const struct code_level *l = &f->survey[k]->level[f->index[k]];
		if (l->endless) {
			snprintf(scope[k].why, sizeof scope[k].why, "all code of this kernel fits");
			with[k] = scope[k];
			continue;
		}
		/* Rows of the memory are everybody's. */
		if (l->doubtful)
			snprintf(scope[k].why, sizeof scope[k].why, "whether it is a cache at all is not known");
		else
			code_scope(f->code[k], f->survey[k], f->index[k], &scope[k]);
		code_constants(f->code[k], f->survey[k], f->index[k], &with[k]);
	}
	if (f->caches)
		code_fetch(f->code[0], f->survey[0], &fetch);
	if (study_pending(s))
		return;
	conclude_levels(s, f);
	conclude_waits(s, f);
	conclude_constants(s, with, f->caches, !f->open);
	if (f->caches)
		conclude_fact(s, "cache.instruction.fetch_bytes", &fetch,
			      "where one warp waits while others evict what it executes");
	else
		study_verdict(s, "cache.instruction.fetch_bytes", VERDICT_ABSENT, "jump",
			      "there is no cache to fetch from");
	for (unsigned k = 0; k < f->caches; k++) {
		struct code_level *l = &f->survey[k]->level[f->index[k]];
		if (l->endless) {
			snprintf(l->line.why, sizeof l->line.why, "all code of this kernel fits");
			l->ways = l->sets = l->line;
		}
		if (l->endless && f->caches == 1)
			continue;
		const struct code_level *up = k ? &f->survey[k - 1]->level[f->index[k - 1]] : NULL;
		conclude_level(s, f->code[k], l, k, up ? up->fits * f->code[k - 1]->unit : 0);
		if (l->doubtful)
			with[k] = scope[k];
		conclude_text(s, KEY("cache.instruction.l%u.scope", k + 1), &scope[k],
			      "code on another SM that evicts");
		/* A level of all SMs may also be the common one of data, which was not asked. */
		if (!strcmp(with[k].text, "none") && strcmp(scope[k].text, "partition") &&
		    strcmp(scope[k].text, "sm") && strcmp(scope[k].text, "cluster"))
			with[k].text[0] = '\0';
		conclude_text(s, KEY("cache.instruction.l%u.shared_with", k + 1), &with[k],
			      "constants that are read between laps through code");
	}
}

const struct probe probe_instruction_cache = {
    .name = "instruction_cache",
    .quick = true,
    .asks = "How many caches do instructions have, what are their size, line, ways and sets, and who shares them?",
    .source = "Wong 2010, IV-J5 and IV-K. Here jumps from line to line are timed one by one, so that no bandwidth "
	      "hides a level. Neither LRU replacement nor modulo mapping is assumed",
    .how = "A kernel holds many pieces of code of one length, and a loop jumps from one to the next in the "
	   "order of a ring. The time from the read in front of a jump to the one behind it is the fetch. "
	   "Growing rings show the levels, one line too many the lines of one set. A second block on another "
	   "SM, or constants read between laps, evict the code where the level is shared. The engine that "
	   "traces loads one by one cannot trace fetches. The place of a fetch is the code itself, and it "
	   "brings no value that would say what came. Jumps can, which this does, and in any order; what reads "
	   "the clock and keeps the times is fetched as well.",
    .fooled = "The loop itself takes lines of the first level: sets that it may be in are left out. What is "
	      "fetched ahead is never what comes next, because rings go downwards. Jumps through a table miss "
	      "constant caches: each is done twice. If code is brought near before it runs, the slowest jumps are "
	      "not called memory.",
    .figure = "instruction-latency",
    .needs = needs,
    .claims = claims,
    .experiments = experiments,
    .experiment_count = sizeof experiments / sizeof experiments[0],
    .study = study_instruction,
    .draw = code_draw,
};
