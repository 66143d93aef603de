/* Which line is replaced, and where lines go: the policy and the mapping of every cache and TLB whose shape is known. Mei 2014, 3.2
 * and 4.2. */
#include "replaced_level.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

#define BUDGET	    60000u
#define BUDGET_RING 250000u
#define ACCESSES    30000u

static const struct experiment experiments[] = {
    [SET_TRACE] =
	{.name = "trace", .axis = "accesses", .unit = "count", .params = SET_PARAM_NAMES, .setup = set_setup_trace},
    [SET_CHASE_NEAR + SET_NEAR] =
	{.name = "near", .axis = "footprint", .unit = "bytes", .params = CHASE_PARAM_NAMES, .setup = set_setup_near},
    [SET_CHASE_NEAR + SET_PAST_L1] =
	{.name = "past", .axis = "footprint", .unit = "bytes", .params = CHASE_PARAM_NAMES, .setup = set_setup_past},
    [SET_CHASE_NEAR + SET_TEXTURE] = {.name = "texture",
				      .axis = "footprint",
				      .unit = "bytes",
				      .params = CHASE_PARAM_NAMES,
				      .setup = set_setup_texture},
    [SET_CHASE_NEAR + SET_CONSTANT] = {.name = "constant",
				       .axis = "footprint",
				       .unit = "bytes",
				       .params = CHASE_PARAM_NAMES,
				       .setup = set_setup_constant},
    [SET_CHASE_NEAR + SET_CONSTANT + 1] = {.name = "readonly",
					   .axis = "footprint",
					   .unit = "bytes",
					   .params = CHASE_PARAM_NAMES,
					   .setup = set_setup_readonly},
};

#define LEVELS	     4		    /* of a path */
#define TEXELS_BYTES (512ull << 20) /* 2^27 texels of 4 bytes */
static const char *const names[LEVELS] = {"l1", "l2", "l3", "l4"};
static const char *const claims[] = {"cache.*.*.policy",
				     "cache.*.*.lru",
				     "tlb.*.*.lru",
				     "cache.*.*.victim_*",
				     "cache.*.*.schedule*",
				     "cache.global.l1.miss_rate",
				     "cache.*.*.replacement_probability",
				     "cache.*.*.mapping",
				     "tlb.*.*.policy",
				     NULL};
static const char *const needs[] = {"clock", "global_cache", "texture_cache", "constant_cache", "tlb", NULL};
static const char *const helped[] = {"readonly_cache", NULL};

static const struct finding *finding_of(const struct level *l, const char *what)
{

	return study_finding(l->study, KEY("%s.%s", l->prefix, what));
}

/* Whether lines that conflict with one line more than the level holds, with none read in between, are not evenly spaced. */
static bool uneven(const struct level *l)
{
	const struct finding *f = finding_of(l, "sets");
	return f && f->verdict == VERDICT_MEASURED && (f->notes & NOTE_UNEVEN);
}

static double latency(const struct level *l, const char *key)
{
	double v;

	return key && study_number(l->study, key, &v) ? v : NAN;
}

/* A number of which only the least is known: of a level in one piece with shared memory, what a chase's records leave. */
static bool at_least(const struct level *l, const char *what, uint64_t *v)
{
	const struct finding *f = finding_of(l, what);

	if (!f || f->verdict != VERDICT_BOUND || !(f->lo >= 1) || !isfinite(f->lo))
		return false;
	*v = (uint64_t)f->lo;
	return true;
}

/* Shape of the level. False: `why` says what is not known. */
static bool shape(struct level *l, char *why, size_t n)
{
	bool pages = set_pages(l->path);
	const struct finding *f = finding_of(l, "set_sizes");

	l->unequal = f && f->verdict == VERDICT_MEASURED && f->value.kind == VALUE_ARRAY && f->value.array_count > 1;
	for (unsigned i = 0; l->unequal && i < f->value.array_count; i++)
		l->largest = fmax(l->largest, f->value.array[i]);
	snprintf(why, n, "skipped: needs size, line, ways and sets, which were not all measured");
	if (!level_number(l, l->prefix, "line", &l->line) || !level_number(l, l->prefix, "sets", &l->sets))
		return false;
	/* The records of a trace take as much. */
	l->lent = !l->unequal && !l->up && !pages && at_least(l, "size", &l->size) && at_least(l, "ways", &l->ways) &&
		  l->ways * l->sets * l->line == l->size;
	return l->lent || (level_number(l, l->prefix, pages ? "reach" : "size", &l->size) &&
			   (l->unequal || level_number(l, l->prefix, "ways", &l->ways)) && l->line <= l->size);
}

static void infer(const struct level *l, const struct set_lines *set, struct policy_result *out)
{
	struct set_ask ask = {l->study, set};
	const struct policy_level level = {.study = l->study,
					   .ways = set->ways,
					   .lines = set->lines,
					   .known = set->known,
					   .parts = set->parts,
					   .others = set_pages(set->path) || set->stride * set->lines > l->limit,
					   .apart = l->up && set_pages(set->path) && !isfinite(set->known.deep),
					   .kept = level_kept(l, set),
					   .most = (uint32_t)least(BUDGET / (1 + set->between), ACCESSES),
					   .most_ring = (uint32_t)least(BUDGET_RING / (1 + set->between), ACCESSES),
					   .ask = set_trace,
					   .ctx = &ask};
	policy_infer(&level, out);
}

/* Bytes that a set's lines lie in, tile by tile. */
static uint64_t span_of(const struct level *l, const struct set_lines *set, unsigned tile)
{
	return ((set->lines - 1) >> tile) * set->stride + (l->line << tile);
}

static void undecided(const struct level *l, const char *why)
{
	level_verdict(l, "policy", VERDICT_INCONCLUSIVE, why);
	if (!set_pages(l->path))
		level_verdict(l, "mapping", VERDICT_INCONCLUSIVE, why);
}

/* Makes room if lines of one set lie further apart than may be read: more of it, or few lines in as many pages. */
static void make_room(struct level *l)
{
	const uint64_t need = (l->ways + 1) * l->line * l->sets;

	if (l->unequal || need <= l->limit)
		return;
	if (need <= l->wider)
		l->limit = l->wider;
	else
		l->spread = l->up && !set_pages(l->path);
}

/* What was seen of which lines share a set, besides how far apart they are. */
struct mapping_seen {
	bool folded, alone; /* level_folded, level_alone */
	int tile;	    /* level_tile, of those that conflict with one more of all lines; -1: not known, too */
};

/* Why lines that conflict, so far apart and by one rule of one set, may share it by another mapping all the same. NULL: they may not. */
static const char *doubt_of(const struct level *l, const struct set_lines *set, const struct spacing *spacing,
			    bool alone)
{
	if (!alone)
		return "lines conflict, but not when the same few are read in between: a hash would do that";
	if (!spacing->tile && set->between && uneven(l))
		return "lines evenly apart conflict while others are read in between, but those that do by themselves "
		       "are not evenly spaced";
	/* Nobody asked whether they conflict when the same few are read in between, as above. */
	if (spacing->tile && set->between)
		return "lines twice as far apart conflict while many others are read in between, which may fill sets "
		       "of another mapping";
	return spacing->tile && !spacing->seen ? "the level above may keep lines that are nearer" : NULL;
}

static void conclude_mapping(const struct level *l, const struct set_lines *set, const struct policy_result *r,
			     const struct spacing *spacing, const struct mapping_seen *seen)
{
	const char *doubt = doubt_of(l, set, spacing, seen->alone);
	char why[240];

	if (!l->unequal && l->sets == 1) {
		level_verdict(l, "mapping", VERDICT_ABSENT, "there is one set");
	} else if (l->unequal) {
		if (r->state == CHASE_DONE && set->lines > set->ways + 1)
			level_mapping(l, "modulo", "lines one size further share the set");
		else
			level_verdict(l, "mapping", VERDICT_INCONCLUSIVE,
				      "sets are unequal, and what lines share one is not known");
	} else if (seen->folded && r->state == CHASE_DONE) {
		level_mapping(l, "hash",
			      "lines one more than the sets apart share one, and as many as the sets apart do not");
	} else if (!spacing->even) {
		if (r->state == CHASE_DONE && level_tile(l, set) >= 0)
			level_verdict(l, "mapping", VERDICT_INCONCLUSIVE,
				      "conflicting lines are evenly apart, but rings of them do not conflict");
		else if (r->state == CHASE_DONE)
			level_mapping(l, "hash", "lines of one set are not evenly spaced, whatever the stride");
		else
			level_verdict(l, "mapping", VERDICT_INCONCLUSIVE, r->seen);
	} else if ((l->up || spacing->tile || !spacing->settled) && r->state != CHASE_DONE) {
		/* Many lines in between may fill other sets of another mapping, and noise makes conflicts of neighbours. */
		level_verdict(l, "mapping", VERDICT_INCONCLUSIVE,
			      "lines conflict, but as no rule of one set makes them");
	} else if (doubt && seen->tile != (int)spacing->tile) {
		level_verdict(l, "mapping", VERDICT_INCONCLUSIVE, doubt);
	} else {
		snprintf(why, sizeof(why), "%u lines %llu bytes apart do not fit together%s%s", set->ways + 1,
			 (unsigned long long)set->stride,
			 spacing->tile && spacing->seen ? ", half as far apart they do" : "",
			 doubt ? "; of all lines it holds, those conflict with one more" : "");
		level_mapping(l, spacing->tile ? "tiled2d" : "modulo", why);
	}
}

/* Whether a rule of replacement is to be looked for; else what there is to say has been said. */
static bool has_rule(struct level *l)
{
	const bool pages = set_pages(l->path);
	const struct finding *f = finding_of(l, pages ? "reach" : "size");
	char why[240];

	/* What does not show by addresses is not asked. */
	if (!f || (f->verdict != VERDICT_ABSENT && !pages && !l->unequal && !finding_of(l, "sets") &&
		   !finding_of(l, "set_sizes")))
		return false;
	if (f->verdict == VERDICT_ABSENT)
		level_verdict(l, "policy", VERDICT_ABSENT, "there is no such level");
	else if (!shape(l, why, sizeof(why)))
		undecided(l, why);
	else if (l->lent && l->ways == 1)
		undecided(l, "a set has one line besides what the trace takes, so that nothing is chosen");
	else if (!l->unequal && l->ways == 1)
		level_verdict(l, "policy", VERDICT_ABSENT, "a set has one line, so that nothing is chosen");
	else if (l->ways > RULE_WAYS)
		undecided(l, "a set has more lines than rules are simulated for");
	else
		return true;
	return false;
}

/* What is known of latencies beside those that a trace shows. */
static void know_latencies(const struct level *l, struct set_lines *set)
{
	const bool pages = set_pages(l->path);
	const double here = latency(l, KEY("%s.latency", l->prefix)), next = latency(l, l->next);

	set->known.grain = latency(l, "clock.granularity");
	*(pages ? &set->parts : &set->known.spread) = level_spread(l);
	set->known.swing = study_swing(l->study);
	set->known.first = !pages && !l->up;
	set->known.above = l->up && !pages ? here - latency(l, KEY("%s.latency", l->up)) : l->up ? here : NAN;
	set->known.below = pages ? next : next - here;
	set->known.deep = pages ? l->deep : here - latency(l, l->nearest);
}

/* Lines of one set, at even distances or as they are listed. folded: those that a hash makes of even ones. UNDECIDED: why says why. */
static enum chase_state lines_of_set(struct level *l, struct set_lines *set, struct spacing *spacing, bool *folded,
				     char *why, size_t n)
{
	enum chase_state state = !l->unequal && l->sets > 1 ? level_spacing(l, set, spacing, why, n) : CHASE_DONE;
	const struct set_lines plain = *set;

	*folded = false;
	if (state == CHASE_DONE && (l->unequal || !spacing->even))
		state = level_list(l, set, why, n);
	/* Others empty the level while all its lines are looked at: a few of them tell, if they are known. */
	if (state == CHASE_UNDECIDED && !spacing->even) {
		state = level_folded(l, &plain, folded);
		if (*folded)
			*set = plain;
		else if (state == CHASE_DONE)
			state = CHASE_UNDECIDED;
	}
	if (state != CHASE_DONE)
		return state;
	if (l->lists && set->mode == SET_HASHED && level_tile(l, set) < 0)
		l->lists[l->depth] = *set;
	if (l->unequal || (!spacing->even && !*folded))
		return state;
	set->mode = SET_STRIDED;
	set->tile = spacing->tile;
	set->stride = *folded ? set_folded(l) : l->line * l->sets << spacing->tile;
	set->lines = 2 * set->ways;
	while (set->lines > set->ways + 1 && !level_reads(l, set->lines, span_of(l, set, spacing->tile)))
		set->lines--;
	if (level_reads(l, set->lines, span_of(l, set, spacing->tile)))
		return state;
	return chase_why(why, n, "%u lines of one set are more than can be read", set->ways + 1);
}

static void study_level(struct level *l)
{
	const bool pages = set_pages(l->path);
	struct policy_result r = {.state = CHASE_UNDECIDED};
	struct spacing spacing = {.even = true, .seen = true};
	bool folded, alone = true;
	char why[240];

	if (!has_rule(l))
		return;
	struct set_lines set = {.path = l->path, .line = l->line, .ways = (unsigned)l->ways};
	know_latencies(l, &set);
	make_room(l);
	/* What pages cost above it is driven out, or told by what fits. */
	if (l->up && !isfinite(set.known.deep) && !pages) {
		undecided(l, "its latency has to be known, so that hits are not taken for those above it");
		return;
	}
	if (!isfinite(set.known.below) && !pages && level_gap_behind(l, &set, &set.known.below) == CHASE_PENDING)
		return;
	enum chase_state state = lines_of_set(l, &set, &spacing, &folded, why, sizeof(why));
	if (state == CHASE_UNDECIDED)
		undecided(l, why);
	if (state != CHASE_DONE)
		return;
	if (l->lists && set.mode == SET_STRIDED && !folded)
		l->lists[l->depth] = set;
	for (unsigned effort = spacing.effort; effort < (l->up ? EFFORTS : 1); effort++) {
		level_between(l, &set, effort);
		infer(l, &set, &r);
		if (r.state != CHASE_UNDECIDED || !r.hidden)
			break;
	}
	if (r.state == CHASE_PENDING)
		return;
	if (r.state == CHASE_DONE && !pages && set.mode == SET_STRIDED && !spacing.tile && set.between && !set.flips &&
	    !(l->sets & (l->sets - 1)) && l->sets > 1 && set.stride % set.apart == 0 &&
	    level_alone(l, &set, &alone) == CHASE_PENDING)
		return;
	if (r.state == CHASE_DONE && l->lent && l->ways == 2 && strcmp(r.name, rule_name(RULE_LRU)) == 0)
		r.state = CHASE_WHY(r.seen, "of two lines the one that was used longer ago goes. With more of them it "
					    "may be another rule: shared memory takes the rest of the set");
	/* Of all lines, those that conflict with one more say whether they are so far apart. */
	int tile = -1;
	if (r.state == CHASE_DONE && !pages && set.mode == SET_STRIDED && !folded && l->sets > 1 &&
	    doubt_of(l, &set, &spacing, alone)) {
		struct set_lines all = {.path = l->path, .line = l->line, .ways = set.ways, .known = set.known};
		state = level_list(l, &all, why, sizeof(why));
		if (state == CHASE_PENDING)
			return;
		tile = state == CHASE_DONE ? level_tile(l, &all) : -1;
	}
	level_policy(l, &r);
	if (!pages)
		conclude_mapping(l, &set, &r, &spacing,
				 &(struct mapping_seen){.folded = folded, .alone = alone, .tile = tile});
}

/* The key of what lies behind a level. In `next` is that of the next level's latency, known or not. It becomes `last`
 * if there is no next level. */
static void behind(const struct study *s, char *next, size_t n, const char *what, const char *last)
{
	double one;

	if (study_number(s, next, &one))
		return;
	const struct finding *f = study_finding(s, KEY("%.*s.%s", (int)(strrchr(next, '.') - next), next, what));
	if (!f || f->verdict == VERDICT_ABSENT)
		snprintf(next, n, "%s", last);
}

/* TLBs of one path, of which at most `limit` bytes can be read. */
static void study_pages(struct study *s, const char *path, enum set_path kind, uint64_t limit)
{
	char prefix[32], up[32], next[48], last[48];
	double deep = 0;

	snprintf(last, sizeof(last), "tlb.%s.miss_latency", path);
	for (unsigned k = 0; k < LEVELS; k++) {
		double one;
		snprintf(prefix, sizeof(prefix), "tlb.%s.%s", path, names[k]);
		snprintf(up, sizeof(up), "tlb.%s.%s", path, names[k ? k - 1 : 0]);
		snprintf(next, sizeof(next), "tlb.%s.%s.latency", path, names[k]);
		if (k)
			deep += study_number(s, next, &one) ? one : NAN;
		snprintf(next, sizeof(next), "tlb.%s.%s.latency", path, k + 1 < LEVELS ? names[k + 1] : "l5");
		behind(s, next, sizeof(next), "reach", last);
		struct level l = {.study = s,
				  .prefix = prefix,
				  .up = k ? up : NULL,
				  .next = next,
				  .deep = deep,
				  .path = kind,
				  .limit = limit};
		study_level(&l);
	}
}

/* A cache that its loads ask first, and what answers behind it. */
static void study_first(struct study *s, enum set_path path, const char *prefix, const char *next, uint64_t limit,
			uint64_t apart, uint64_t entries)
{
	const struct key_text nearest = key_text("%s.latency", prefix);
	struct level l = {.study = s,
			  .prefix = prefix,
			  .next = next,
			  .nearest = nearest.of,
			  .path = path,
			  .limit = limit,
			  .apart = apart,
			  .entries = entries};
	study_level(&l);
}

/* Bytes that the first TLB of a path translates, and its entries; as they were, where nobody knows. */
static void translated(const struct study *s, const char *path, uint64_t *reach, uint64_t *entries)
{
	double count;

	const struct finding *f = study_finding(s, KEY("tlb.%s.l1.reach", path));
	if (f && f->verdict == VERDICT_MEASURED)
		*reach = least(*reach, (uint64_t)f->value.number);
	else if (f && f->verdict == VERDICT_BOUND)
		*reach = least(*reach, (uint64_t)f->lo);
	if (study_number(s, KEY("tlb.%s.l1.entries", path), &count))
		*entries = (uint64_t)count;
}

static void study_replacement(struct study *s)
{
	const struct device_info *d = study_device(s);
	uint64_t memory = d->memory_bytes / 8, reach = memory, entries = 0, pages = d->memory_bytes / 8 * 7;
	char prefix[32], up[32], top[32], next[48], last[48];

	translated(s, "global", &reach, &entries);
	/* Textures may have a TLB of their own, beside the one of all accesses. */
	uint64_t texture_reach = reach, texture_entries = entries;
	translated(s, "texture", &texture_reach, &texture_entries);
	double l2;
	bool has_l2 = study_number(s, "cache.global.l2.latency", &l2);
	study_first(s, SET_NEAR, "cache.global.l1", has_l2 ? "cache.global.l2.latency" : "memory.global.latency", reach,
		    memory, entries);
	study_first(s, SET_PAST_L1, "cache.global.l2", "memory.global.latency", reach, memory, entries);
	const struct finding *untranslated = study_finding(s, "tlb.texture.levels");
	const uint64_t texels =
	    untranslated && untranslated->verdict == VERDICT_ABSENT ? memory : chase_translated(s, "texture");
	static const struct {
		const char *path;
		enum set_path kind;
	} paths[] = {{"texture", SET_TEXTURE}, {"constant", SET_CONSTANT}};
	for (unsigned i = 0; i < 2; i++) {
		struct set_lines lists[LEVELS] = {0};
		for (unsigned k = 0; k < LEVELS; k++) {
			double one;
			snprintf(prefix, sizeof(prefix), "cache.%s.%s", paths[i].path, names[k]);
			snprintf(up, sizeof(up), "cache.%s.%s", paths[i].path, names[k ? k - 1 : 0]);
			snprintf(top, sizeof(top), "cache.%s.%s", paths[i].path, names[0]);
			snprintf(next, sizeof(next), "cache.%s.%s.latency", paths[i].path, k < 3 ? names[k + 1] : "l5");
			snprintf(last, sizeof(last), "memory.%s.latency", paths[i].path);
			if (!study_number(s, last, &one) && i)
				snprintf(last, sizeof(last), "cache.global.l2.latency");
			behind(s, next, sizeof(next), "size", last);
			struct level l = {.study = s,
					  .prefix = prefix,
					  .up = k ? up : NULL,
					  .next = next,
					  .nearest = i ? "cache.constant.l1.latency" : "cache.texture.l1.latency",
					  .path = paths[i].kind,
					  .limit = i ? d->constant_bytes : least(texture_reach, 64u << 20),
					  .apart = i ? 0 : least(memory, 64u << 20),
					  .entries = i ? 0 : texture_entries,
					  .lists = lists,
					  .depth = k,
					  .top = k > 1 ? top : NULL,
					  .wider = i ? 0 : least(least(memory, 64u << 20), texels)};
			study_level(&l);
		}
	}
	/* Of a cache of loads marked read-only whose shape is not known that is said once, by its trace. */
	const struct finding *marked = study_finding(s, "cache.readonly.l1.sets");
	if (marked && marked->verdict == VERDICT_MEASURED)
		study_first(s, SET_READONLY, "cache.readonly.l1", "memory.readonly.latency",
			    least(memory, least(chase_translated(s, "global"), chase_translated(s, "texture"))), memory,
			    0);
	study_pages(s, "global", SET_PAGES, pages);
	study_pages(s, "texture", SET_TEXTURE_PAGES, least(pages, TEXELS_BYTES));
	miss_rates_ask(s);
	if (!study_pending(s) && !study_finding(s, "cache.global.l1.policy"))
		study_verdict(s, "cache.global.l1.policy", VERDICT_INCONCLUSIVE, "trace", "no cache is known");
}

const struct probe probe_replacement = {
    .name = "replacement",
    .asks = "Which line of a full set is replaced, and which lines share a set?",
    .source = "Mei 2014, 3.2 and 4.2; every access is seen, and rules are eliminated instead of recognised",
    .how = "Lines of one set are read in laps, which bring it into a known state, and then in random order, and "
	   "every access is timed. Each rule (lru, fifo, a tree, not recently used) is simulated beside what "
	   "was seen, and dropped when it is contradicted. The next order is the one that tells best what is "
	   "left. When none is left the victim is drawn at random. Laps over one line more than fits say which "
	   "way each miss replaced, and counts say how likely each is. If a victim says something of later "
	   "ones, the same lines in any order show whether a list says which way goes.",
    .fooled =
	"Noise, which makes hits look like misses: an access of no class says nothing, and a rule falls only when "
	"most rounds contradict it. A level above that keeps lines: its hits are told by their speed, and other "
	"lines of its sets are read in between. A cache in front of the TLB of textures: each page has several lines, "
	"which take turns. A rule that nobody thought of: victims that depend on earlier ones "
	"are not drawn, and nothing is concluded.",
    .figure = "miss-rate-tlb",
    .needs = needs,
    .helped = helped,
    .claims = claims,
    .experiments = experiments,
    .experiment_count = sizeof(experiments) / sizeof(experiments[0]),
    .study = study_replacement,
    .draw = miss_rates_draw,
};
