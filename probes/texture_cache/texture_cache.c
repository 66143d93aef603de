/* Textures on linear memory: every cache level on their path. Wong 2010, IV-H, with the single accesses of Mei 2014, 3.2. */
#include "probe/trace.h"
#include "texture_common.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { TEXTURE_CHASE, TEXTURE_LAP, TEXTURE_STRIDES, TEXTURE_REUSE };

#define ZOOM_STRIDE 8 /* bytes, as in the paper's Figures 11 and 12 */
#define LIMIT	    (4u << 20)
#define LEVELS	    4
#define PLACEMENTS  64
#define ALONE	    0.5 /* share of a level at a footprint that it serves */
#define BESIDE	    0.05
#define LIKE_L2	    3 /* cycles */

static int setup_chase(const struct study *s, double x, const double *p, struct job *j)
{
	const struct chase_kernel k = {.template_path = "probes/texture_cache/texture_chase.ptx",
				       .load = chase_load_of(s, WAY_TEXTURE),
				       .in_shared = true};
	return chase_setup(s, x, p, j, &k);
}

static int setup_lap(const struct study *s, double x, const double *p, struct job *j)
{
	const struct chase_kernel k = {.template_path = "probes/texture_cache/texture_lap.ptx",
				       .load = chase_load_of(s, WAY_TEXTURE)};
	return lap_setup(s, x, p, j, &k);
}

static int setup_strides(const struct study *s, double x, const double *p, struct job *j)
{
	const struct trace_kernel k = {.template_path = "probes/replacement/plain_trace.ptx",
				       .load = chase_load_of(s, WAY_TEXTURE)};
	return strides_setup(s, x, p, j, &k);
}

static const struct experiment experiments[] = {
    [TEXTURE_CHASE] =
	{.name = "chase", .axis = "footprint", .unit = "bytes", .params = CHASE_PARAM_NAMES, .setup = setup_chase},
    [TEXTURE_LAP] =
	{.name = "lap", .axis = "footprint", .unit = "bytes", .params = CHASE_PARAM_NAMES, .setup = setup_lap},
    [TEXTURE_STRIDES] =
	{.name = "strides", .axis = "distance", .unit = "bytes", .params = STRIDES_PARAM_NAMES, .setup = setup_strides},
    [TEXTURE_REUSE] = {.name = "reuse", .axis = "read before", .unit = "", .setup = texture_reuse_setup},
};

static const char *const claims[] = {"cache.texture.*", "memory.texture.*", NULL};
static const char by_classes[] = "classes of latency that appear as the footprint grows";
static const char *const needs[] = {"clock", "tlb", "global_cache", NULL};

/* The largest footprint. An L2 that global loads were seen to overflow is worth going further for. */
static uint64_t limit_of(const struct study *s)
{
	uint64_t most = study_device(s)->memory_bytes / 8, limit = LIMIT;
	double l2;

	if (study_level_held(s, "cache.global.l2", &l2) && l2 > LIMIT / 2.0 && 1.5 * l2 <= CHASE_FAR_LIMIT)
		limit = (uint64_t)(2 * l2);
	limit = limit > CHASE_FAR_LIMIT ? CHASE_FAR_LIMIT : limit;
	return limit < most ? limit : most;
}

/* A fact of the common L2 as loads of global memory found it. */
static void adopt(const struct study *s, struct chase_fact *f, const char *what)
{
	char key[64];
	double value;

	snprintf(key, sizeof(key), "cache.global.l2.%s", what);
	const struct finding *found = study_finding(s, key);
	if (study_number(s, key, &value)) {
		f->state = CHASE_DONE;
		f->value = (uint64_t)value;
		return;
	}
	f->state = CHASE_UNDECIDED;
	snprintf(f->why, sizeof(f->why), "it is the L2 of global memory: %.180s",
		 found && found->because[0] ? found->because : "not measured there");
}

/* The same of the sizes of sets that differ. */
static void adopt_unequal(const struct study *s, struct chase_level *l)
{
	const struct finding *f = study_finding(s, "cache.global.l2.set_sizes");

	if (!f || f->verdict != VERDICT_MEASURED || f->value.kind != VALUE_ARRAY || f->value.array_count > CHASE_SETS)
		return;
	l->unequal = f->value.array_count;
	for (unsigned i = 0; i < l->unequal; i++)
		l->set_size[i] = (uint32_t)f->value.array[i];
}

/* Whether this may be that L2 if its size does not tell. Lines read past the SM's caches are in it then. If nobody
 * knows whether they are, it is no slower and no faster. */
static enum chase_state seems_common_l2(struct chase_path *c, unsigned k, const struct texture_common *t, bool *seems)
{
	struct chase_latency one;
	double cycles;

	if (t->known) {
		*seems = t->level == k;
		return CHASE_DONE;
	}
	if (!study_number(c->study, "cache.global.l2.latency", &cycles))
		return CHASE_DONE;
	enum chase_state state = chase_latency(c, k, c->sm, &one);
	*seems = state == CHASE_DONE && fabs(one.value - cycles) <= 3 + 0.02 * cycles;
	return state == CHASE_PENDING ? state : CHASE_DONE;
}

/* Whether this may be some lines of an L2 whose lines differ, more of one kind than of the other. */
static bool is_part_of_l2(const struct study *s, const struct chase_placed *l)
{
	const struct finding *f = study_finding(s, "cache.global.l2.latency_classes");
	double all;

	if (!f || f->verdict != VERDICT_MEASURED || f->value.array_count < 2 || l->state != CHASE_DONE ||
	    !study_number(s, "cache.global.l2.latency", &all))
		return false;
	return fabs(l->mean - all) > LIKE_L2 && l->hi > f->value.array[0] &&
	       l->lo < f->value.array[f->value.array_count - 1];
}

/* Is level k the L2 that serves global memory, too? It then holds what passed the SM's caches, and overflows at the
 * size at which that L2 does, to the byte. It `seems` to be if its size is not known, but the rest is so. */
static enum chase_state is_common_l2(struct chase_path *c, unsigned k, const struct texture_common *t, bool *is,
				     bool *seems)
{
	const struct study *s = c->study;
	const struct finding *f = study_finding(s, "cache.global.l2.size");
	struct chase_level *l = &c->level[k];
	enum chase_state all = CHASE_DONE;
	bool outside = c->beyond_sm;
	double size;

	*is = *seems = false;
	if (t->known && t->level != k)
		return CHASE_DONE;
	if (!study_number(s, "cache.global.l2.size", &size))
		return seems_common_l2(c, k, t, seems);
	if (f->lo < f->hi || l->sector.state != CHASE_DONE || size < (double)l->sector.value ||
	    size + 2.0 * (double)l->sector.value > (double)c->limit || c->stride > l->sector.value)
		return CHASE_DONE;
	const enum chase_clarity clarity = l->clarity;
	bool right = true;
	c->beyond_sm = !k;
	for (unsigned i = 0; i < 4; i++) {
		struct chase_ring_spec ring = {.bytes = (uint64_t)size + (i % 2 ? l->sector.value : 0),
					       .stride = c->stride};
		bool fits;
		ring.order = i / 2;
		enum chase_state state = chase_fits(c, k, &ring, &fits, NULL);
		if (state == CHASE_PENDING)
			all = state;
		else
			right = right && state == CHASE_DONE && fits == (i % 2 == 0);
	}
	c->beyond_sm = outside;
	/* What laps over all of it do not tell where there is noise, a few of its sets may. */
	if (all == CHASE_DONE && !right) {
		c->likely = (uint64_t)size;
		return k ? CHASE_DONE : seems_common_l2(c, k, t, seems);
	}
	if (all != CHASE_DONE)
		return all;
	/* Two caches may be of one size: so one of them has to be seen in the other, or at least to be as far. */
	all = seems_common_l2(c, k, t, seems);
	if (!*seems)
		return all;
	*seems = false;
	*is = true;
	l->shape_by = SHAPE_BY_PATH;
	l->stride = c->stride;
	l->clarity = clarity; /* two paths agree */
	l->size.state = CHASE_DONE;
	l->size.value = (uint64_t)size;
	adopt(s, &l->line, "line");
	adopt(s, &l->ways, "ways");
	adopt(s, &l->sets, "sets");
	adopt_unequal(s, l);
	return CHASE_DONE;
}

/* Whether the first level is as far as the common L2 and not as large as that was found to be. Its own laps gave it a
 * shape. Nothing is nearer than that L2 then. The part that others take of it grows with the lap. */
static enum chase_state is_unlike_l2(struct chase_path *c, unsigned k, const struct texture_common *t, bool *unlike)
{
	double size;

	*unlike = false;
	if (k || c->beyond_sm ||
	    (study_number(c->study, "cache.global.l2.size", &size) && size == (double)c->level[k].size.value))
		return CHASE_DONE;
	return seems_common_l2(c, k, t, unlike);
}

/* Level k, which the common L2 may be if it is the last one. It may also be one before that, if rows of the memory seem
 * to be a level behind it. That is asked if its own laps tell no shape, or another one than that L2 has. */
static enum chase_state shape_of(struct chase_path *c, unsigned k, const struct texture_common *t, bool last)
{
	const struct chase_level before = c->level[k];
	bool common, seems, unlike = false;

	if (!last) {
		const enum chase_state own = chase_geometry(c, k);
		if (own == CHASE_PENDING)
			return own;
		if (c->level[k].sets.state == CHASE_DONE) {
			if (is_unlike_l2(c, k, t, &unlike) == CHASE_PENDING)
				return CHASE_PENDING;
			if (!unlike)
				return own;
		}
	}
	c->level[k] = before;
	const enum chase_state state = is_common_l2(c, k, t, &common, &seems);
	if (state == CHASE_PENDING)
		return state;
	seems = seems || unlike;
	c->beyond_sm = c->beyond_sm || ((common || seems) && !k);
	if (common)
		return CHASE_DONE;
	return chase_geometry(c, k);
}

/* What the level above asks for at once comes at once, however small the sectors are. Nobody makes sectors smaller than what is ever asked
 * for; but global loads may ask the same L2 for less: then it is a bound. */
static bool bounds_sector(const struct study *s, struct chase_path *c, unsigned k, bool common)
{
	struct chase_level *l = &c->level[k];
	const struct finding *size = study_finding(s, "cache.global.l2.size");
	double other;

	if (!k || l->sector.state != CHASE_DONE || c->level[k - 1].sector.state != CHASE_DONE ||
	    l->sector.value > c->level[k - 1].sector.value)
		return false;
	if (study_number(s, "cache.global.l2.sector", &other) && other >= (double)l->sector.value)
		return false;
	if (common) {
		adopt(s, &l->sector, "sector");
		return false;
	}
	const bool none = size && size->verdict == VERDICT_ABSENT,
		   unlike = size && size->verdict == VERDICT_MEASURED && l->size.state == CHASE_DONE && !l->endless &&
			    ((double)l->size.value < size->lo || (double)l->size.value > size->hi);
	return !none && !unlike;
}

/* The first level behind the nearest that is never seen without what is slower. Parts of one level answer side by side
 * at every footprint, whereas a level has footprints that it alone serves. 0: there is none. */
static unsigned first_doubtful(const struct chase_path *c)
{
	for (unsigned k = 1; k + 1 < c->level_count; k++) {
		bool alone = false;
		for (unsigned i = 0; i < c->survey_count && !alone; i++) {
			double own = 0, beyond = 0;
			for (unsigned q = c->level[k].class_first; q < c->class_count; q++)
				*(q <= c->level[k].class_last ? &own : &beyond) += c->survey[i].share[q];
			alone = own >= ALONE && beyond <= BESIDE;
		}
		if (!alone)
			return k;
	}
	return 0;
}

/* Whether the last level that answers is as far as the memory that global loads measured: then it is that memory. */
static bool as_far_as_memory(const struct study *s, struct chase_placed last)
{
	double global;

	return last.state == CHASE_DONE && study_number(s, "memory.global.latency", &global) &&
	       chase_take_off(s, &last) && fabs(last.mean - global) <= 3 + 0.02 * global;
}

/* What was found. The last level holds the largest footprint if first touches are slower than all levels. */
struct textures {
	struct chase_path c;
	struct chase_placed served[CHASE_LEVELS];
	struct texture_common common;
	unsigned caches;   /* groups of classes before the last one, which is memory but for such first touches */
	unsigned levels;   /* that are told */
	unsigned rows;	   /* the level from which on they may be open rows of the memory; UINT_MAX: none */
	unsigned doubtful; /* from this one on they may be parts of one level, which answer side by side; 0: none */
	bool are_rows;	   /* for sure */
	bool more;	   /* such first touches are for certain */
	bool unsure;	   /* whether they are */
};

static bool may_be_rows(const struct textures *m)
{
	return m->rows <= m->caches && !m->are_rows;
}

/* Levels, their shapes and latencies. UNDECIDED: why has been said. */
static enum chase_state find_levels(struct textures *m)
{
	struct chase_path *c = &m->c;
	struct study *s = c->study;
	const enum chase_state state = chase_survey(c);

	if (state == CHASE_UNDECIDED)
		chase_say_nothing(s, "texture", c->why);
	if (state != CHASE_DONE)
		return state;
	const unsigned surveyed = c->level_count - 1;
	m->doubtful = first_doubtful(c);
	if (texture_common_find(c, TEXTURE_REUSE, c->level_count - (c->touch != TOUCH_SLOWER), &m->common) ==
	    CHASE_PENDING)
		return CHASE_PENDING;
	for (unsigned k = 0; k < (m->doubtful ? m->doubtful : surveyed); k++)
		if (shape_of(c, k, &m->common, k + 1 == surveyed) == CHASE_PENDING)
			return CHASE_PENDING;
	if (study_pending(s))
		return CHASE_PENDING;
	chase_merge(c);
	m->rows = chase_rows_level(c, &m->are_rows);
	/* Open rows and closed ones answer side by side. */
	if (m->are_rows && m->doubtful >= m->rows)
		m->doubtful = 0;
	if (m->doubtful && (!c->doubtful || m->doubtful < c->doubtful))
		c->doubtful = m->doubtful;
	m->caches = c->level_count - 1;
	if (c->touch == TOUCH_SLOWER && chase_top_again(c) == CHASE_PENDING)
		return CHASE_PENDING;
	if (c->touch == TOUCH_SLOWER)
		c->level[m->caches].endless = true;

	const bool all = study_device(s)->sm_count <= PLACEMENTS;
	for (unsigned k = 0; k < (m->doubtful ? m->doubtful : c->level_count); k++) {
		const bool far = k || m->caches == 0 || c->beyond_sm;
		chase_latency_over(c, k, far ? CHASE_PLACEMENTS : all ? PLACEMENTS : 16, &m->served[k]);
		/* An older recording has no more of them. */
		if (far && m->served[k].state == CHASE_UNDECIDED && !all)
			chase_latency_over(c, k, PLACEMENTS, &m->served[k]);
	}
	for (unsigned k = 0; k < m->caches && k < 2; k++)
		chase_zoom_ask(c, k, ZOOM_STRIDE, !k);
	return study_pending(s) ? CHASE_PENDING : CHASE_DONE;
}

/* Which of them are caches. */
static void tell_memory(struct textures *m)
{
	struct chase_path *c = &m->c;

	m->unsure =
	    c->touch == TOUCH_UNSURE || (c->touch == TOUCH_SLOWER && as_far_as_memory(c->study, m->served[m->caches]));
	if (m->unsure && (!c->doubtful || c->doubtful > m->caches))
		c->doubtful = m->caches;
	m->more = c->touch == TOUCH_SLOWER && !m->unsure;
	m->levels = m->caches + m->more;
	if (m->rows < m->levels)
		m->levels = m->rows;
	m->are_rows = m->are_rows && !m->unsure;
	if (!m->are_rows)
		return;
	/* Open rows and what is behind them are the memory. */
	m->more = false;
	c->doubtful = c->doubtful && c->doubtful < m->rows ? c->doubtful : 0;
}

static void conclude_each(struct textures *m)
{
	struct chase_path *c = &m->c;
	struct study *s = c->study;

	for (unsigned k = 0; k < m->levels && !(c->doubtful && k >= c->doubtful); k++) {
		const struct key_text latency = key_text("cache.texture.l%u.latency", k + 1);
		const bool least = bounds_sector(s, c, k, c->level[k].shape_by == SHAPE_BY_PATH);
		if (k == m->caches)
			chase_leave_endless(c, k, "the largest footprint fits");
		chase_conclude_geometry(c, k, KEY("cache.texture.l%u", k + 1));
		if (least && c->level[k].sector.state == CHASE_DONE)
			study_bound(s, KEY("cache.texture.l%u.sector", k + 1), -INFINITY,
				    (double)c->level[k].sector.value, "common divisor of the positions of misses",
				    "chase",
				    "the level above asks for no less at once, but another path may ask the same cache "
				    "for less");
		texture_common_conclude(s, &m->common, k);
		if (is_part_of_l2(s, &m->served[k]))
			study_verdict(s, latency.of, VERDICT_INCONCLUSIVE, "chase",
				      "%.1f cycles lie between those of near and far lines of global memory's L2, "
				      "which this may be",
				      m->served[k].mean);
		else
			chase_conclude_latency(s, latency.of, &m->served[k]);
	}
}

static void conclude_levels(const struct textures *m)
{
	static const char key[] = "cache.texture.levels";
	const struct chase_path *c = &m->c;
	const unsigned levels = m->levels;
	struct study *s = c->study;

	if (may_be_rows(m))
		study_at_least(s, key, chase_sure(c, levels), by_classes, "chase", "level %u: %s", m->rows + 1,
			       chase_rows_why);
	else if (c->doubtful)
		study_at_least(s, key, chase_sure(c, levels), by_classes, "chase",
			       "of %u classes of latency, those from number %u on %s", c->level_count + m->more,
			       c->doubtful + 1,
			       c->doubt[0]   ? "may be two: few accesses show what others empty as fast as it is filled"
			       : m->unsure   ? "may be memory, whose first touches something delayed"
			       : m->doubtful ? "appear side by side at every footprint, as parts of one level do"
					     : "hold about as much as one another, as parts of one level do");
	else if (!levels && m->are_rows)
		study_verdict(s, key, VERDICT_ABSENT, "chase",
			      "what is fetched at once is as long as a row of the memory, and nothing keeps it");
	else if (!levels && c->fill_unit > 0)
		study_verdict(s, key, VERDICT_INCONCLUSIVE, "chase",
			      "a walk by words is faster inside of blocks, but no footprint hits");
	else if (!levels)
		study_verdict(s, key, VERDICT_ABSENT, "chase",
			      "a fetch takes %.1f cycles at every footprint up to %llu bytes and at the first touch",
			      m->served[0].mean, (unsigned long long)c->limit);
	else if (m->more)
		study_bound(s, key, levels, INFINITY, by_classes, "chase",
			    "level %u holds %s, so what lies behind it is never seen", levels,
			    c->top == TOP_MISSES ? "what the survey timed" : "the largest footprint");
	else
		study_measured_number(s, key, levels, levels, levels, "", by_classes, "chase",
				      m->are_rows ? "%u classes of latency, of which open rows of the memory are one"
						  : "%u classes of latency, the slowest is memory",
				      c->level_count + (c->touch == TOUCH_SLOWER));
	/* Of levels behind the last that is seen the number of levels says enough. */
	if (!m->doubtful && !may_be_rows(m) && !m->more && !c->doubtful &&
	    (levels || m->are_rows || !(c->fill_unit > 0)))
		chase_say_absent(s, "texture", levels, LEVELS);
}

/* Behind levels that may be parts of one nothing is told. */
static void leave_doubtful(const struct textures *m)
{
	static const char why[] = "classes of latency appear side by side at every footprint, as parts of one level do";
	struct study *s = m->c.study;

	study_verdict(s, KEY("cache.texture.l%u.size", m->doubtful + 1), VERDICT_INCONCLUSIVE, "chase", why);
	study_verdict(s, KEY("cache.texture.l%u.latency", m->doubtful + 1), VERDICT_INCONCLUSIVE, "chase", why);
	study_verdict(s, "memory.texture.latency", VERDICT_INCONCLUSIVE, "chase", why);
}

static void conclude_memory(struct textures *m)
{
	static const char key[] = "memory.texture.latency";
	struct chase_path *c = &m->c;
	struct chase_placed *memory = &m->served[m->caches], last = *memory;
	const char *first_only =
	    m->unsure ? "some first touches took longer than misses in a warm footprint, and some did not"
	    : c->top == TOP_MISSES
		? "only first touches were timed that went to memory for certain"
		: "only first touches went to memory, because the last level holds the largest footprint";

	if ((m->more || m->unsure) && last.state == CHASE_DONE && chase_take_off(c->study, &last))
		return study_bound(c->study, key, last.mean, INFINITY, "slower than the last level", "chase", "%s",
				   first_only);
	if (m->more || m->unsure)
		return study_verdict(c->study, key, VERDICT_INCONCLUSIVE, "chase", "%s", first_only);
	if (!m->levels && !m->are_rows && c->fill_unit > 0)
		return study_verdict(c->study, key, VERDICT_INCONCLUSIVE, "chase",
				     "what answers may be a cache: a walk by words is faster inside of blocks");
	if (m->rows == m->caches) {
		memory->hi += c->cold - c->classes[c->level[m->caches].class_last].centre;
	} else if (m->rows < m->caches) {
		/* With an open row or without, both are the memory's: where there seem to be rows, the interval holds both. */
		const struct chase_placed *open = &m->served[m->rows];
		if (m->are_rows)
			chase_rows_served(c, m->rows, open, memory);
		if (open->state == CHASE_DONE && memory->state == CHASE_DONE)
			memory->lo = fmin(memory->lo, open->lo);
	}
	chase_conclude_latency(c->study, key, memory);
}

static void study_texture(struct study *s)
{
	/* What translation costs looks like a miss of a cache. */
	const uint64_t reach = chase_translated(s, "texture");
	struct textures m = {.c = {.study = s,
				   .chase = TEXTURE_CHASE,
				   .lap = TEXTURE_LAP,
				   .strides = TEXTURE_STRIDES,
				   .limit = limit_of(s),
				   .reach = reach == UINT64_MAX ? 0 : reach,
				   .word = 4,
				   .room = chase_room(study_device(s), true)}};

	if (reach < CHASE_LIMIT_LEAST) {
		chase_say_nothing(s, "texture",
				  "the first TLB reaches too little for a walk, and its misses look like a cache's");
		return;
	}
	if (m.c.limit < CHASE_LIMIT_LEAST || m.c.room < 64) {
		study_verdict(s, "cache.texture.levels", VERDICT_UNSUPPORTED, "",
			      "this device has too little memory for textures to be walked");
		return;
	}
	if (find_levels(&m) != CHASE_DONE)
		return;
	tell_memory(&m);
	conclude_each(&m);
	conclude_levels(&m);
	if (m.doubtful)
		leave_doubtful(&m);
	else
		conclude_memory(&m);
}

static int draw_texture(const struct study *s, struct figure_list *out)
{
	struct figure *f;
	int rc = chase_draw(s, study_series(s, TEXTURE_CHASE), "cache.texture.l1.latency", 0, "texture-latency",
			    "Textures: latency against footprint", out, &f);

	if (f)
		chase_note_sizes(s, f, "texture", LEVELS);
	for (unsigned k = 0; rc == 0 && k < 2; k++) {
		static const char *const names[] = {"texture-l1-sets", "texture-l2-sets"};
		static const char *const titles[] = {"Textures: where the first level overflows, set by set",
						     "Textures: where the second level overflows, set by set"};
		char prefix[32];
		snprintf(prefix, sizeof(prefix), "cache.texture.l%u", k + 1);
		rc = chase_zoom_draw(s, study_series(s, TEXTURE_CHASE), prefix, ZOOM_STRIDE, names[k], titles[k], out);
	}
	return rc;
}

const struct probe probe_texture_cache = {
    .name = "texture_cache",
    .asks =
	"How many caches do textures have, what are their size, line, ways, sets and latency, and how far is memory?",
    .source =
	"Wong 2010, IV-H: dependent fetches from a one-dimensional texture on linear memory; here every conclusion is "
	"from misses of single accesses (Mei 2014, 3.2)",
    .how = "One thread follows a ring of indices through a one-dimensional texture on linear memory, and the "
	   "time of each fetch is kept. Footprints grow until no level answers any more; then each level is "
	   "filled to the last line, and one line more shows what it evicts. A line that was read past the SM's "
	   "caches and is fetched at once is found in the L2 of global memory.",
    .fooled = "Pages that overflow a TLB look like lines that overflow a cache: beyond what the TLB reaches, "
	      "footprints are walked page by page, and the accesses that enter a page do not count. If no TLB is "
	      "known, fewer lines of as many pages have to fit, or size and shape are not concluded. Parts of an "
	      "L2 at different distances look like levels: lines that keep their latency are of one. Open rows of "
	      "the memory look like a level, too: what is as long as a row is none.",
    .figure = "texture-latency",
    .needs = needs,
    .claims = claims,
    .experiments = experiments,
    .experiment_count = sizeof(experiments) / sizeof(experiments[0]),
    .study = study_texture,
    .draw = draw_texture,
};
