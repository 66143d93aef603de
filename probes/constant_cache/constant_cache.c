/* Constant memory: every cache level on its path. Wong 2010, IV-J, with the single accesses of Mei 2014, 3.2. */
#include "data/native_record.h"
#include "probe/chase.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { CONSTANT_CHASE, CONSTANT_LAP };

static int setup_chase(const struct study *s, double x, const double *p, struct job *j)
{
	const struct chase_kernel k = {.template_path = "probes/constant_cache/constant_chase.ptx",
				       .load = "ld.const.u32",
				       .space = BUFFER_CONSTANT,
				       .symbol = "ring",
				       .space_bytes = study_device(s)->constant_bytes,
				       .in_shared = true,
				       .load_class = NATIVE_LOAD_CONST};
	return chase_setup(s, x, p, j, &k);
}

static int setup_lap(const struct study *s, double x, const double *p, struct job *j)
{
	const struct chase_kernel k = {.template_path = "probes/constant_cache/constant_lap.ptx",
				       .load = "ld.const.u32",
				       .space = BUFFER_CONSTANT,
				       .symbol = "ring",
				       .space_bytes = study_device(s)->constant_bytes,
				       .load_class = NATIVE_LOAD_CONST};
	return lap_setup(s, x, p, j, &k);
}

static const struct experiment experiments[] = {
    [CONSTANT_CHASE] =
	{.name = "chase", .axis = "footprint", .unit = "bytes", .params = CHASE_PARAM_NAMES, .setup = setup_chase},
    [CONSTANT_LAP] =
	{.name = "lap", .axis = "footprint", .unit = "bytes", .params = CHASE_PARAM_NAMES, .setup = setup_lap},
};

static const char *const claims[] = {"cache.constant.*", "memory.constant.latency", NULL};
static const char *const needs[] = {"arithmetic", NULL};

/* Constant misses may go through the GPU's common L2: then that level is no constant cache. */
enum common_l2 { L2_NONE, L2_OTHER, L2_THIS, L2_UNKNOWN };

static enum common_l2 is_common_l2(const struct study *s, double cycles)
{
	const struct finding *f = study_finding(s, "cache.global.l2.size");
	double lo, hi, latency;

	if (f && f->verdict == VERDICT_ABSENT)
		return L2_NONE;
	f = study_finding(s, "cache.global.l2.latency");
	if (!f || f->verdict != VERDICT_MEASURED || !study_number(s, "cache.global.l2.latency", &latency))
		return L2_UNKNOWN;
	lo = isnan(f->lo) ? latency : f->lo;
	hi = isnan(f->hi) ? latency : f->hi;
	/* On real chips the two paths to one L2 differ by some cycles. */
	return cycles > lo * 0.95 - 3 && cycles < hi * 1.05 + 3 ? L2_THIS : L2_OTHER;
}

static const char *key_of(char *out, size_t n, unsigned level, const char *what)
{
	snprintf(out, n, "cache.constant.l%u.%s", level + 1, what);
	return out;
}

static void conclude_fact(struct study *s, unsigned level, const char *what, const struct chase_fact *f,
			  const char *method, const char *seen)
{
	char key[64];

	key_of(key, sizeof(key), level, what);
	if (f->state == CHASE_DONE)
		study_measured_number(s, key, (double)f->value, (double)f->value, (double)f->value, "", method, "chase",
				      "%s", seen);
	else
		study_verdict(s, key, VERDICT_INCONCLUSIVE, "chase", "%s", f->why);
}

static void conclude_geometry(struct study *s, const struct chase_path *c, unsigned k)
{
	const struct chase_level *l = &c->level[k];
	char key[64], seen[200];
	unsigned long long size = l->size.value, line = l->line.value;

	snprintf(seen, sizeof(seen), "%llu bytes hit, lap after lap, and %llu do not, in three orders", size,
		 size + (unsigned long long)c->stride);
	if (l->endless)
		study_bound(s, key_of(key, sizeof(key), k, "size"), (double)size, INFINITY,
			    "misses of single accesses against footprint", "chase",
			    "the whole constant space of %llu bytes hits", size);
	else
		conclude_fact(s, k, "size", &l->size, "footprint bisection, misses of single accesses counted", seen);
	snprintf(seen, sizeof(seen), "in a walk by words, accesses that go further are multiples of %llu bytes apart",
		 (unsigned long long)l->sector.value);
	conclude_fact(s, k, "sector", &l->sector, "common divisor of the positions of misses", seen);
	snprintf(seen, sizeof(seen), "what one access beyond the size evicts are pieces of %llu bytes", line);
	conclude_fact(s, k, "line", &l->line, "grid of the misses that one more access causes", seen);
	snprintf(seen, sizeof(seen), "one more line than fits makes %llu lines miss, and no others, wherever it lies",
		 (unsigned long long)l->ways.value + 1);
	conclude_fact(s, k, "ways", &l->ways, "lines that conflict with one more line than fits", seen);
	snprintf(seen, sizeof(seen), "%s, and size / (ways x line) is whole",
		 l->hashed ? "conflicting lines are not evenly spaced" : "conflicting lines are sets x line apart");
	conclude_fact(s, k, "sets", &l->sets, "spacing of conflicting lines; size / (ways x line)", seen);
}

static void all_inconclusive(struct study *s, const char *why)
{
	static const char *const keys[] = {"cache.constant.levels", "cache.constant.l1.size",
					   "memory.constant.latency"};
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		study_verdict(s, keys[i], VERDICT_INCONCLUSIVE, "chase", "%s", why);
}

#define PLACEMENTS 160

struct placed { /* one level over the SMs sampled */
	enum chase_state state;
	double mean, lo, hi;
	unsigned sms;
	double address_ops;
	bool averaged;
	char why[240];
};

static void latency_over(struct chase_path *c, unsigned k, unsigned most, struct placed *out)
{
	uint32_t sm[PLACEMENTS];
	unsigned n = chase_placements(study_device(c->study), most, sm);

	*out = (struct placed){.lo = INFINITY, .hi = -INFINITY, .averaged = true};
	for (unsigned i = 0; i < n; i++) {
		struct chase_latency one;
		enum chase_state state = chase_latency(c, k, sm[i], &one);
		if (state == CHASE_UNDECIDED) {
			out->state = state;
			snprintf(out->why, sizeof(out->why), "%s", c->why);
			return;
		}
		if (state == CHASE_PENDING) {
			out->state = state;
			continue;
		}
		out->mean += one.value / n;
		out->lo = fmin(out->lo, one.value - one.half);
		out->hi = fmax(out->hi, one.value + one.half);
		out->address_ops = fmax(out->address_ops, one.address_ops);
		out->averaged = out->averaged && one.averaged;
		out->sms++;
	}
}

/* Takes the address arithmetic off. False when it has not been measured. */
static bool take_off(const struct study *s, struct placed *l)
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

static void conclude_latency(struct study *s, const char *key, struct placed *l)
{
	char method[160];

	if (l->state != CHASE_DONE) {
		study_verdict(s, key, VERDICT_INCONCLUSIVE, "lap", "%s", l->why);
		return;
	}
	if (!take_off(s, l)) {
		study_verdict(s, key, VERDICT_INCONCLUSIVE, "lap",
			      "every load needs %.0f arithmetic instructions, whose latency is not known",
			      l->address_ops);
		return;
	}
	snprintf(method, sizeof(method), "%s%s",
		 l->averaged ? "two lengths of a dependent chain" : "class of single accesses",
		 l->address_ops > 0 ? ", less the latency of the address arithmetic in the chain" : "");
	study_measured_number(s, key, l->mean, l->lo, l->hi, l->sms == 1 ? "sm" : "card", method, "lap",
			      "from %.2f to %.2f cycles over %u SMs", l->lo, l->hi, l->sms);
}

static void study_constant(struct study *s)
{
	const struct device_info *d = study_device(s);
	struct chase_path c = {.study = s,
			       .chase = CONSTANT_CHASE,
			       .lap = CONSTANT_LAP,
			       .limit = d->constant_bytes,
			       .word = 4,
			       .room = chase_room(d, true)};
	char key[64];

	if (d->constant_bytes < 1024 || c.room < 64) {
		study_verdict(s, "cache.constant.levels", VERDICT_UNSUPPORTED, "",
			      "this device has no constant space to speak of");
		return;
	}
	enum chase_state state = chase_survey(&c);
	if (state == CHASE_PENDING)
		return;
	if (state == CHASE_UNDECIDED) {
		all_inconclusive(s, c.why);
		return;
	}
	/* The last group of classes is memory, unless first touches were slower still. */
	unsigned caches = c.level_count - 1;
	for (unsigned k = 0; k < caches; k++) {
		chase_size(&c, k);
		chase_line(&c, k);
		chase_ways(&c, k);
	}
	if (study_pending(s))
		return;
	bool more = c.cold_slower;
	if (more)
		c.level[caches].endless = true;

	struct placed served[CHASE_LEVELS];
	for (unsigned k = 0; k < c.level_count; k++)
		latency_over(&c, k, k ? PLACEMENTS : 4, &served[k]);
	if (study_pending(s))
		return;

	/* Which of them is the GPU's common L2? Only the last one that hits can be. */
	unsigned levels = caches + more;
	enum common_l2 common = L2_NONE;
	struct placed last = served[c.level_count - 1];
	bool known = last.state == CHASE_DONE && take_off(s, &last);
	common = known ? is_common_l2(s, last.mean) : L2_UNKNOWN;
	if (more && common == L2_THIS)
		levels = caches;
	if (!more && caches && common != L2_THIS) {
		/* Or the one before, where that L2 is small enough to be seen to overflow. */
		struct placed before = served[caches - 1];
		double size;
		if (before.state == CHASE_DONE && take_off(s, &before) && is_common_l2(s, before.mean) == L2_THIS &&
		    study_number(s, "cache.global.l2.size", &size) && c.level[caches - 1].size.state == CHASE_DONE &&
		    fabs(size - (double)c.level[caches - 1].size.value) < 0.02 * size) {
			levels = caches - 1;
			common = L2_THIS;
		}
	}
	for (unsigned k = 0; k < levels; k++) {
		if (k == caches && common == L2_UNKNOWN) {
			study_verdict(
			    s, key_of(key, sizeof(key), k, "latency"), VERDICT_INCONCLUSIVE, "chase",
			    "whether this level is a constant cache or the GPU's common L2 could not be told");
			continue;
		}
		if (k == caches) {
			c.level[k].size.value = c.limit;
			static const char why[] =
			    "the whole constant space fits, so that nothing can be made to conflict";
			c.level[k].line.state = c.level[k].ways.state = c.level[k].sets.state = CHASE_UNDECIDED;
			snprintf(c.level[k].line.why, sizeof(c.level[k].line.why), why);
			snprintf(c.level[k].ways.why, sizeof(c.level[k].ways.why), why);
			snprintf(c.level[k].sets.why, sizeof(c.level[k].sets.why), why);
			c.level[k].sector.state = CHASE_UNDECIDED;
			snprintf(c.level[k].sector.why, sizeof(c.level[k].sector.why), why);
		}
		conclude_geometry(s, &c, k);
		conclude_latency(s, key_of(key, sizeof(key), k, "latency"), &served[k]);
	}
	if (more && common == L2_UNKNOWN)
		study_bound(s, "cache.constant.levels", caches, INFINITY,
			    "classes of latency that appear as the footprint grows", "chase",
			    "whether the slowest of %u classes that hit is a constant cache or the GPU's common L2 "
			    "could not be told",
			    caches + 1);
	else if (!levels)
		study_verdict(s, "cache.constant.levels", VERDICT_ABSENT, "chase",
			      "a load takes %.1f cycles at every footprint up to %llu bytes and at the first touch%s",
			      served[0].mean, (unsigned long long)c.limit,
			      common == L2_THIS ? ": that of the GPU's common L2" : "");
	else
		study_measured_number(s, "cache.constant.levels", levels, levels, levels, "",
				      "classes of latency that appear as the footprint grows", "chase",
				      "%u classes of latency, the slowest is %s", c.level_count + more,
				      common == L2_THIS ? "beyond the GPU's common L2 or that" : "memory");
	for (unsigned k = levels; k < 3; k++)
		if (!(more && common == L2_UNKNOWN))
			study_verdict(s, key_of(key, sizeof(key), k, "size"), VERDICT_ABSENT, "chase",
				      "no class of latency is left for it between level %u and memory", k);

	if (common == L2_THIS && (more || levels < caches + more))
		study_verdict(s, "memory.constant.latency", VERDICT_INCONCLUSIVE, "chase",
			      "misses of the constant caches are served by the GPU's common L2");
	else if (more)
		study_bound(s, "memory.constant.latency", served[caches].state == CHASE_DONE ? served[caches].mean : 0,
			    INFINITY, "slower than the last level", "chase",
			    "only first touches went to memory, because the last level holds the whole constant space");
	else if (common == L2_THIS)
		study_verdict(s, "memory.constant.latency", VERDICT_INCONCLUSIVE, "chase",
			      "the slowest loads take %.0f cycles, as long as a hit in the GPU's common L2", last.mean);
	else
		conclude_latency(s, "memory.constant.latency", &served[c.level_count - 1]);
}

/* Latency against footprint, as Wong's Figures 17 and 18. */
static int draw_constant(const struct study *s, struct figure_list *out)
{
	const struct series *series = study_series(s, CONSTANT_CHASE);
	double x[CHASE_SURVEY], y[CHASE_SURVEY], worst[CHASE_SURVEY];
	size_t n = 0;

	if (!series)
		return 0;
	for (size_t i = 0; i < series->count && n < CHASE_SURVEY; i++) {
		const struct point *pt = &series->points[i];
		uint32_t elements = chase_elements(pt->x, pt->p);
		/* The survey: everything recorded, two laps before. */
		if (pt->outcome != OUTCOME_OK || pt->p[CHASE_FLOOR] != 0 || pt->p[CHASE_PLACE] != 0 ||
		    pt->p[CHASE_WARM] != 2.0 * elements || pt->words_per_repeat <= 8)
			continue;
		uint32_t kept = pt->words_per_repeat - 8 < pt->y[3] ? pt->words_per_repeat - 8 : pt->y[3];
		double sum = 0, most = 0;
		for (uint32_t k = 0; k < kept; k++) {
			sum += chase_ticks(pt->y[8 + k]);
			most = fmax(most, chase_ticks(pt->y[8 + k]));
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
	struct figure *f = figures_new(out, "constant-latency", "Constant memory: latency against footprint");
	if (!f)
		return -1;
	f->main = true;
	f->x = (struct figure_axis){.label = "footprint", .unit = "bytes", .log2 = true};
	f->y = (struct figure_axis){.label = "latency of one access (with the clock's share)", .unit = "cycles"};
	for (unsigned k = 0; k < 3; k++) {
		char key[64], text[96];
		double size;
		if (!study_number(s, key_of(key, sizeof(key), k, "size"), &size))
			continue;
		snprintf(text, sizeof(text), "L%u", k + 1);
		figure_note(f, true, size, text);
	}
	int rc = figure_add(f, "mean", MARK_LINE, x, y, NULL, n);
	return rc ? rc : figure_add(f, "slowest", MARK_POINTS, x, worst, NULL, n);
}

const struct probe probe_constant_cache = {
    .name = "constant_cache",
    .asks = "How many caches does constant memory have, and what are their size, line, ways, sets and latency?",
    .source = "Wong 2010, IV-J and Mei 2014, 3.2; here every conclusion is from misses of single accesses, so that "
	      "neither LRU "
	      "replacement nor modulo mapping is assumed",
    .needs = needs,
    .claims = claims,
    .experiments = experiments,
    .experiment_count = sizeof(experiments) / sizeof(experiments[0]),
    .study = study_constant,
    .draw = draw_constant,
};
