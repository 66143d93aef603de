/* Who shares the caches of constants and of textures and the clock counters, and the clusters of SMs that this tells. Wong 2010, IV-J4,
 * Fig. 20. */
#include "base/arena.h"
#include "constant_bandwidth.h"
#include "probe/share.h"
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { SHARING_PAIR, SHARING_SWEEP, SHARING_CLOCKS, SHARING_BANDWIDTH, SHARING_TEXTURE };
enum {
	SWEEP = 40 /* footprints */,
	FEWER = 4 /* times, where no paper draws them */,
	SWEEP_PLACES = 3,
	SOURCES = 2 * SHARE_LEVELS + 1
};
#define TEXTURE_LINES 1024 /* of a level of textures that is filled: all SMs read more than that, beside each of them */
enum { FEW_LINES = 48 /* of one that is asked the other way round */ };
enum { CLOCK_STEPS = 8 /* cycles that reading the clock may take off a hit, or not */ };

static int setup_pair(const struct study *s, double x, const double *p, struct job *j)
{
	const struct chase_kernel k = {.template_path = "probes/sharing/constant_share.ptx",
				       .load = chase_load_of(s, WAY_CONSTANT)};
	return share_setup(s, x, p, j, &k);
}

static int setup_texture(const struct study *s, double x, const double *p, struct job *j)
{
	const struct chase_kernel k = {.template_path = "probes/sharing/texture_share.ptx",
				       .load = chase_load_of(s, WAY_TEXTURE)};
	return share_setup(s, x, p, j, &k);
}

static const struct experiment experiments[] = {
    [SHARING_PAIR] =
	{.name = "pair", .axis = "footprint", .unit = "bytes", .params = SHARE_PARAM_NAMES, .setup = setup_pair},
    [SHARING_SWEEP] =
	{.name = "sweep", .axis = "footprint", .unit = "bytes", .params = SHARE_PARAM_NAMES, .setup = setup_pair},
    [SHARING_BANDWIDTH] = {.name = "bandwidth",
			   .axis = "blocks",
			   .unit = "count",
			   .params = BANDWIDTH_PARAM_NAMES,
			   .setup = bandwidth_setup},
    [SHARING_TEXTURE] =
	{.name = "texture", .axis = "footprint", .unit = "bytes", .params = SHARE_PARAM_NAMES, .setup = setup_texture},
    [SHARING_CLOCKS] = {.name = "clocks", .axis = "launch", .unit = "number", .setup = share_clock_setup},
};

static const char *const claims[] = {"topology.sm_per_cluster",		 "topology.cluster_count",
				     "cache.constant.*.scope",		 "cache.texture.*.scope",
				     "cache.constant.*.bandwidth_total", NULL};
static const char *const needs[] = {"clock", "global_cache", "constant_cache", "texture_cache", NULL};

/* A path whose levels are looked at, and what it is called. */
struct place {
	struct share_path path;
	const char *name, *experiment;
	uint64_t reach; /* bytes of the largest level that can be filled with no miss of a TLB */
	double lines;	/* of the largest that is asked about */
	unsigned there; /* levels */
	enum chase_state state;
};

/* What is MEASURED, or the least that is sure, or 0. */
static double at_least(const struct study *s, const char *key)
{
	const struct finding *f = study_finding(s, key);
	if (f && f->verdict == VERDICT_MEASURED && f->value.kind == VALUE_NUMBER)
		return f->value.number;
	return f && f->verdict == VERDICT_BOUND && isfinite(f->lo) ? f->lo : 0;
}

/* Cycles of what lies behind a level: the next one's, and memory's only where there is none. */
static bool latency_behind(const struct place *of, unsigned k, double *out)
{
	const struct study *s = of->path.study;
	const struct finding *next = study_finding(s, KEY("cache.%s.l%u.size", of->name, k + 2));
	if (next && next->verdict != VERDICT_ABSENT)
		return study_number(s, KEY("cache.%s.l%u.latency", of->name, k + 2), out);
	/* One more may be there where nobody knows how many there are. */
	double levels;
	if (!next && !study_number(s, KEY("cache.%s.levels", of->name), &levels))
		return false;
	return study_number(s, KEY("memory.%s.latency", of->name), out);
}

/* Allows for a faster clock of a level. The share by which ticks of its hits may differ is 0 if hits of the level
 * behind may be as near. The other number is by how many cycles the level behind is slower. If that is not known it is
 * more than the clock makes of hits. Nearer hits would not have been told from this level's. */
static void allow_for_swing(const struct place *of, unsigned k, struct share_level *l)
{
	const struct study *s = of->path.study;
	const double swing = study_swing(s);
	double own, behind;
	if (!(swing > 0) || !study_number(s, KEY("cache.%s.l%u.latency", of->name, k + 1), &own))
		return;
	if (!latency_behind(of, k, &behind)) {
		l->swing = swing;
		l->gap = 2 * (swing * own + CLOCK_STEPS);
		return;
	}
	if (behind <= own * (1 + 2 * swing + 0.1))
		return;
	l->swing = swing;
	l->gap = behind - own;
}

/* By how many cycles a level's hits are slower than those of the first level; 0 where that is not known. */
static double slower_than_first(const struct place *of, unsigned k)
{
	const struct study *s = of->path.study;
	double own, first;
	if (!k || !study_number(s, KEY("cache.%s.l%u.latency", of->name, k + 1), &own) ||
	    !study_number(s, KEY("cache.%s.l%u.latency", of->name, 1), &first))
		return 0;
	return own - first;
}

/* Why a level cannot be filled, or only by more than all SMs can read beside each of them; false: it can. */
static bool too_large(const struct place *of, double size, double line, char *why, size_t n)
{
	if (size > (double)of->reach)
		snprintf(why, n, "what fills its %.0f bytes is more than a TLB reaches", size);
	else if (size / line > of->lines)
		snprintf(why, n, "its %.0f lines are too many to be read beside each SM", size / line);
	return why[0];
}

/* Asks the other way round for a level that is not filled. Others then bring there a few lines, and those of the level
 * above. False: too many as well. size: 0 if it is not known. */
static bool ask_cold(struct place *of, unsigned k, double size, double line)
{
	struct share_path *c = &of->path;
	double p[POINT_PARAMS], least = FEW_LINES * line;
	if (k)
		least = 3 * (double)c->level[k - 1].size / (double)c->level[k - 1].line * line;
	c->level[k] = (struct share_level){
	    .size = (uint64_t)(size > 0 ? size : 2 * least), .line = (uint64_t)line, .cold = true, .few = FEW_LINES};
	const double ring = share_ring(c, k, p);
	return ring <= (double)of->reach && ring <= (double)c->limit && ring / p[SHARE_STRIDE] <= of->lines;
}

/* Whether a level is asked the other way round whose size is not known: it is there for sure if its latency is. */
static bool unknown_size(struct place *of, unsigned k, double line, char *why, size_t n)
{
	double latency;
	snprintf(why, n, "its size is not known");
	return line > 0 && study_number(of->path.study, KEY("cache.%s.l%u.latency", of->name, k + 1), &latency) &&
	       ask_cold(of, k, 0, line);
}

/* The levels that are known well enough to be asked about. */
static void levels_of(struct place *of)
{
	struct share_path *c = &of->path;
	struct study *s = c->study;
	char why[96] = "";
	of->there = 0;
	for (unsigned k = 0; k < SHARE_LEVELS; k++) {
		const struct finding *f = study_finding(s, KEY("cache.%s.l%u.size", of->name, k + 1));
		double size = at_least(s, KEY("cache.%s.l%u.size", of->name, k + 1)), line = 0;
		bool cold = false;
		if (!f || f->verdict == VERDICT_ABSENT)
			break;
		of->there = k + 1;
		if (!study_number(s, KEY("cache.%s.l%u.line", of->name, k + 1), &line))
			study_number(s, KEY("cache.%s.l%u.sector", of->name, k + 1), &line);
		if (line <= 0 && k)
			line = (double)c->level[k - 1].line;
		if (why[0])
			snprintf(why, sizeof why, "the level above could not be filled");
		else if (size <= 0)
			cold = unknown_size(of, k, line, why, sizeof why);
		else if (line <= 0 || size / line < 8)
			snprintf(why, sizeof why, "its lines are not known");
		else if (k && size < 1.3 * (double)c->level[k - 1].size)
			snprintf(why, sizeof why, "it is hardly larger than the level above");
		else if (too_large(of, size, line, why, sizeof why) && ask_cold(of, k, size, line))
			cold = true;
		if (cold) {
			why[0] = '\0';
		} else {
			c->level[k] = (struct share_level){.size = (uint64_t)size, .line = (uint64_t)line};
			c->level[k].cold = size >= 0.9 * (double)c->limit;
		}
		if (why[0])
			snprintf(c->level[k].why, sizeof c->level[k].why, "%s", why);
		else
			c->levels = k + 1;
		allow_for_swing(of, k, &c->level[k]);
		c->level[k].slower = slower_than_first(of, k);
		if (!why[0] && c->level[k].cold)
			snprintf(why, sizeof why, "the level above could not be filled");
	}
}

static void conclude_scope(struct study *s, const struct place *of, unsigned k)
{
	const struct share_level *l = &of->path.level[k];
	unsigned sms = study_device(s)->sm_count;
	const struct key_text key = key_text("cache.%s.l%u.scope", of->name, k + 1);
	if (l->state == CHASE_DONE && l->groups)
		study_text(
		    s, key.of, share_word(l, sms),
		    l->cold ? "one SM looks what all others, halves of them, quarters of them have brought to it"
			    : "one SM looks what all others, halves of them, quarters of them have taken from it",
		    of->experiment,
		    l->groups == sms ? "what the others read does nothing to any of %u SMs that were asked"
		    : l->groups == 1 ? "what one of %u SMs finds depends on each of the others"
				     : "what each of %u SMs finds depends on others in its group: %u of %u to %u SMs",
		    l->groups == sms ? l->victims : sms, l->groups, l->smallest, l->largest);
	else
		study_verdict(s, key.of, VERDICT_INCONCLUSIVE, of->experiment, "%s",
			      l->why[0] ? l->why : "it was not measured");
}

struct source {
	char name[32];
	const uint32_t *group;
};

static void conclude_topology(struct study *s, const struct source *source, unsigned sources)
{
	static const char count_key[] = "topology.cluster_count", size_key[] = "topology.sm_per_cluster",
			  method[] = "SMs that share a clock counter or lines in a cache";
	unsigned sms = study_device(s)->sm_count, groups = 0, smallest = 0, largest = 0;
	unsigned *members = ARENA_ARRAY(study_arena(s), sms, unsigned);
	char why[200] = "", names[100] = "";
	if (!sources)
		snprintf(why, sizeof why, "nothing that was looked at is shared by some SMs and not by all");
	for (unsigned i = 0; i < sources; i++) {
		size_t n = strlen(names);
		snprintf(names + n, sizeof names - n, "%s%s", i ? ", " : "", source[i].name);
		if (!why[0] && memcmp(source[i].group, source[0].group, sms * sizeof(uint32_t)) != 0)
			snprintf(why, sizeof why, "%s and %s belong to different groups of SMs", source[0].name,
				 source[i].name);
	}
	if (!members)
		snprintf(why, sizeof why, "out of memory");
	if (sources && members)
		share_count(source[0].group, sms, members, &groups, &smallest, &largest);
	/* What is left of clusters with defects differs by a few SMs. */
	if (!why[0] && largest >= 2 * smallest && largest != smallest)
		snprintf(why, sizeof why, "%s: groups of %u to %u SMs are no clusters of one kind", names, smallest,
			 largest);
	if (why[0]) {
		study_verdict(s, count_key, VERDICT_INCONCLUSIVE, "clocks, pair, texture", "%s", why);
		study_verdict(s, size_key, VERDICT_INCONCLUSIVE, "clocks, pair, texture", "%s", why);
		return;
	}
	study_measured_number(s, count_key, groups, groups, groups, "card", method, "clocks, pair, texture",
			      "the same groups of SMs share: %s", names);
	/* Clusters whose SMs are partly switched off are of as many as are left. The value is the largest, and the
	 * interval holds all. */
	study_measured_number(s, size_key, largest, smallest, largest, "card", method, "clocks, pair, texture",
			      "%u clusters of %u to %u SMs share: %s", groups, smallest, largest, names);
}

/* Wong's Fig. 20: latency against footprint beside another SM that has as much. Where: the first SM itself, one that shares a
 * level that not all share, one that shares only what all do. */
static unsigned sweep_places(const struct share_path *c, uint32_t *sm)
{
	unsigned sms = study_device(c->study)->sm_count, n = 1;
	sm[0] = 0;
	for (unsigned near = 2; near-- > 0;) {
		for (unsigned i = 1; i < sms; i++) {
			bool mate = false;
			for (unsigned k = 0; k < c->levels; k++) {
				const struct share_level *l = &c->level[k];
				mate |= l->state == CHASE_DONE && l->groups > 1 && l->group[i] == l->group[0];
			}
			if (mate == (near == 1)) {
				sm[n++] = i;
				break;
			}
		}
	}
	return n;
}

static void sweep(struct share_path *c)
{
	const struct share_level *last = &c->level[c->levels - 1];
	double p[POINT_PARAMS], line = (double)last->line;
	double top = fmin((double)c->limit / 2, 1.25 * (double)last->size) / line;
	unsigned step = (unsigned)ceil(top / SWEEP);
	uint32_t sm[SWEEP_PLACES];
	unsigned places = sweep_places(c, sm);
	for (unsigned i = 0; i < places * SWEEP; i++) {
		unsigned lines = (i % SWEEP + 1) * step;
		if (lines < 4 || lines > top || (i % FEWER && !study_for_figures(c->study)))
			continue;
		share_ring(c, c->levels - 1, p);
		p[SHARE_PLACE] = c->kind;
		p[SHARE_FIRST] = sm[i / SWEEP];
		p[SHARE_COUNT] = 1;
		p[SHARE_STRIDE] = line;
		p[SHARE_OTHER] = lines * line;
		p[SHARE_LOW] = p[SHARE_HIGH] = 0;
		p[SHARE_LAPS] = 2;
		study_ask(c->study, SHARING_SWEEP, lines * line, p);
	}
}

/* Of the levels that all SMs share. */
static void bandwidths(struct share_path *c)
{
	for (unsigned k = 1; k < c->levels; k++) {
		const struct share_level *l = &c->level[k];
		double fill = (double)l[-1].line;
		if (l->state != CHASE_DONE || l->groups != 1 || l[-1].state != CHASE_DONE)
			continue;
		study_number(c->study, KEY("cache.constant.l%u.sector", k), &fill);
		bandwidth_study(c, SHARING_BANDWIDTH, k, fill, KEY("cache.constant.l%u.bandwidth_total", k + 1));
	}
}

static void study_sharing(struct study *s)
{
	const struct device_info *d = study_device(s);
	const uint64_t reach = chase_translated(s, "texture");
	/* The ring and what evicts it are two and a quarter of a level together. */
	struct place place[] = {
	    {.path = {.study = s, .experiment = SHARING_PAIR, .limit = d->constant_bytes},
	     .name = "constant",
	     .experiment = "pair",
	     .reach = UINT64_MAX,
	     .lines = INFINITY},
	    {.path = {.study = s, .experiment = SHARING_TEXTURE, .limit = d->memory_bytes / 8, .beyond_sm = true},
	     .name = "texture",
	     .experiment = "texture",
	     .reach = reach / 9 * 4,
	     .lines = TEXTURE_LINES}};
	enum { PLACES = sizeof place / sizeof *place };
	struct share_path *constant = &place[0].path;
	struct source source[SOURCES];
	unsigned sources = 0, sms = d->sm_count, groups, smallest, largest;
	uint32_t *clocks = ARENA_ARRAY(study_arena(s), sms, uint32_t);
	unsigned *members = ARENA_ARRAY(study_arena(s), sms, unsigned);
	char why[160];
	if (!clocks || !members) {
		conclude_topology(s, source, 0);
		return;
	}
	const struct point *pt = study_ask(s, SHARING_CLOCKS, 0, NULL);
	for (unsigned i = 0; i < PLACES; i++) {
		levels_of(&place[i]);
		place[i].state = place[i].path.levels ? share_find(&place[i].path) : CHASE_UNDECIDED;
	}
	if (study_pending(s))
		return;
	if (place[0].state == CHASE_DONE) {
		sweep(constant);
		bandwidths(constant);
	}
	if (study_pending(s))
		return;
	if (pt && pt->outcome == OUTCOME_OK && share_clock_groups(study_arena(s), pt, sms, clocks, why, sizeof why)) {
		share_count(clocks, sms, members, &groups, &smallest, &largest);
		if (groups > 1 && groups < sms) {
			source[sources].group = clocks;
			snprintf(source[sources++].name, sizeof source[0].name, "clock counters");
		}
	}
	for (unsigned i = 0; i < PLACES; i++) {
		struct share_path *c = &place[i].path;
		for (unsigned k = 0; k < place[i].there; k++) {
			struct share_level *l = &c->level[k];
			if (k < c->levels && place[i].state == CHASE_UNDECIDED)
				snprintf(l->why, sizeof l->why, "%s", c->why);
			conclude_scope(s, &place[i], k);
			if (k >= c->levels || place[i].state != CHASE_DONE || l->state != CHASE_DONE ||
			    l->groups == 1 || l->groups == sms)
				continue;
			source[sources].group = l->group;
			snprintf(source[sources++].name, sizeof source[0].name, "cache.%s.l%u", place[i].name, k + 1);
		}
	}
	conclude_topology(s, source, sources);
	for (unsigned i = 0; i < sources; i++) { /* for the figure */
		study_keep(s, "groups", &i, sizeof i, source[i].group, sms * sizeof *source[i].group);
		study_keep(s, "source", &i, sizeof i, source[i].name, sizeof source[i].name);
	}
}

/* Every two SMs, and how much they share that not all of them do. */
static int draw_pairs(const struct study *s, struct figure_list *out)
{
	const unsigned sms = study_device(s)->sm_count;
	const size_t pairs = (size_t)sms * sms;
	const uint32_t *group[SOURCES];
	unsigned sources = 0;
	while (sources < SOURCES && (group[sources] = study_recall(s, "groups", &sources, sizeof sources)))
		sources++;
	if (!sources)
		return 0;
	struct figure *f = figures_new(out, "sm-pairs", "Which SMs share what");
	double *x = ARENA_ARRAY(study_arena((struct study *)s), 3 * pairs, double), *y = x + pairs, *common = y + pairs;
	if (!f || !x)
		return -ENOMEM;
	for (size_t i = 0; i < pairs; i++) {
		const size_t a = i % sms, b = i / sms;
		unsigned n = 0;
		for (unsigned k = 0; k < sources; k++)
			n += group[k][a] == group[k][b];
		x[i] = (double)a;
		y[i] = (double)b;
		common[i] = n && a >= b ? n : NAN; /* each pair once */
	}
	f->x = (struct figure_axis){.label = "SM"};
	f->y = (struct figure_axis){.label = "SM"};
	f->shade = (struct figure_axis){.label = "in common"};
	figure_key(f, "topology.cluster_count");
	figure_key(f, "topology.sm_per_cluster");
	figure_key(f, "cache.*.scope");
	for (unsigned k = 0; k < sources; k++) {
		const char *name = study_recall(s, "source", &k, sizeof k);
		const size_t n = strlen(f->caption);
		snprintf(f->caption + n, sizeof f->caption - n, "%s%s", k ? ", " : "Looked at: ", name ? name : "?");
	}
	return figure_add(f, "pairs", MARK_CELLS, x, y, common, pairs);
}

static int draw_sharing(const struct study *s, struct figure_list *out)
{
	const struct series *series = study_series(s, SHARING_SWEEP);
	double x[SWEEP_PLACES][SWEEP], y[SWEEP_PLACES][SWEEP];
	uint32_t sm[SWEEP_PLACES];
	size_t n[SWEEP_PLACES] = {0};
	unsigned places = 0;
	for (size_t i = 0; series && i < series->count; i++) {
		const struct point *pt = &series->points[i];
		uint32_t at = (uint32_t)pt->p[SHARE_FIRST];
		struct share_run r;
		unsigned k = 0;
		while (k < places && sm[k] != at)
			k++;
		if (k == SWEEP_PLACES)
			continue;
		if (k == places)
			sm[places++] = at;
		if (n[k] == SWEEP || !share_read(pt, &r))
			continue;
		x[k][n[k]] = pt->x;
		y[k][n[k]++] = r.ticks;
	}
	if (draw_pairs(s, out))
		return -1;
	if (!places)
		return 0;
	if (bandwidth_draw(s, study_series(s, SHARING_BANDWIDTH), out))
		return -1;
	struct figure *f = figures_new(out, "constant-sharing", "Constant memory: latency beside a second reader");
	if (!f)
		return -1;
	f->x = (struct figure_axis){.label = "footprint of each of the two", .unit = "bytes"};
	f->y = (struct figure_axis){.unit = "cycles"};
	figure_key(f, "cache.constant.*.scope");
	snprintf(f->caption, sizeof f->caption,
		 "SM 0 goes over its footprint again after the other one has gone over as much of something else");
	for (unsigned k = 0; k < places; k++) {
		char label[32];
		snprintf(label, sizeof label, sm[k] ? "beside SM %u" : "both on SM %u", sm[k]);
		if (figure_add(f, label, MARK_LINE, x[k], y[k], NULL, n[k]))
			return -1;
	}
	study_take_clock(s, f, "cache.constant.l1.latency");
	for (unsigned k = 0; k < SHARE_LEVELS; k++) {
		char text[24];
		double size;
		if (!study_number(s, KEY("cache.constant.l%u.size", k + 1), &size))
			continue;
		snprintf(text, sizeof text, "L%u / 2", k + 1);
		figure_note(f, true, size / 2, text);
	}
	return 0;
}

const struct probe probe_sharing = {
    .name = "sharing",
    .asks = "Which SMs share each cache of constants and of textures and each clock counter, and what clusters of SMs "
	    "does that tell?",
    .source = "Wong 2010, IV-J4, Fig. 20. Here the second block reads before the first one measures, not while it "
	      "does, and neighbours are found instead of known",
    .how = "One SM brings a ring into a cache level. Then another SM, or half of all the others, reads other "
	   "lines of the same space. Then the first one follows its ring again. What it misses says that the "
	   "two share the level; halves of halves find which SM it is, with no knowledge of numbers. A level "
	   "that nothing can fill is asked the other way round. From cold caches, the others read the ring that "
	   "the first one then looks for. SMs whose clock counters show the same time are found beside it, and "
	   "groups that agree make a cluster. What all SMs together draw from a level is read from clocks on "
	   "their way, where a plateau shows that it is the level's.",
    .fooled = "SMs whose numbers do not say where they are: neighbours are found and never assumed. "
	      "A second reader that came too late or was never there: they wait for each other's "
	      "flags, and the first SM also does the other's reading itself, which has to show. A "
	      "level behind a cold one that is nearly as fast: a hit has to take as long as one of "
	      "the SM's own. Chance: what the first member of a group says has to hold for the last "
	      "one. Groups of one level have to lie in those of the next. Groups of unequal size or "
	      "two sources that disagree: no cluster is named.",
    .figure = "constant-sharing",
    .needs = needs,
    .claims = claims,
    .experiments = experiments,
    .experiment_count = sizeof experiments / sizeof *experiments,
    .study = study_sharing,
    .draw = draw_sharing,
};
