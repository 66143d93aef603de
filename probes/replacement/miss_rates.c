#include "base/arena.h"
#include "replacement.h"
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define STEPS	   12
#define LAPS	   16
#define WARM	   3  /* laps, by which these points are told from others */
#define LONG_WARM  16 /* the same of those that are asked where what misses may not be the same in all laps */
#define LATE_LAPS  6  /* whole ones of those, at least: of many lines a launch times fewer, and others what follows */
#define PARTS_MOST 4  /* launches */
#define PAGES_MOST 400u
#define LATE	   6 /* ticks, and a share, beyond a hit */
#define LATE_SHARE 0.02
#define NOISE	   0.02 /* share of hits that may be slow */
#define RATE_SURE  0.04

static const char rate_key[] = "cache.global.l1.miss_rate";

static bool is_miss(double ticks, double hit)
{
	return ticks > hit + LATE + LATE_SHARE * hit;
}

/* The share of the point's accesses that are slower than a hit. */
static double missed_of(const struct point *pt, double hit)
{
	uint32_t kept = pt->words_per_repeat - CHASE_HEAD, missed = 0;

	for (uint32_t k = 0; k < kept; k++)
		missed += is_miss(chase_ticks(pt->y[CHASE_HEAD + k]), hit);
	return (double)missed / kept;
}

/* Of whole laps: how many, and what they missed. */
struct laps {
	double n, sum, squares;
};

/* Those of launches whose accesses follow one another. */
static void add_laps(struct laps *l, const struct point *const *point, unsigned parts, double hit)
{
	const uint32_t lines = (uint32_t)(point[0]->x / point[0]->p[CHASE_STRIDE]);
	uint32_t seen = 0, missed = 0;

	for (unsigned i = 0; lines && i < parts; i++)
		for (uint32_t k = CHASE_HEAD; k < point[i]->words_per_repeat; k++) {
			missed += is_miss(chase_ticks(point[i]->y[k]), hit);
			if (++seen < lines)
				continue;
			const double rate = (double)missed / lines;
			l->n++;
			l->sum += rate;
			l->squares += rate * rate;
			seen = missed = 0;
		}
}

/* How far the mean of the laps may be from that of very many. */
static double unsure_of(const struct laps *l)
{
	const double mean = l->sum / l->n, spread = fmax(0, l->squares / l->n - mean * mean);

	return l->n > 1 ? 2 * sqrt(spread / (l->n - 1)) : 0;
}

/* Ticks of the point's fastest access. */
static double fastest_of(const struct point *pt)
{
	double hit = INFINITY;

	for (uint32_t k = CHASE_HEAD; k < pt->words_per_repeat; k++)
		if (chase_ticks(pt->y[k]) > 0)
			hit = fmin(hit, chase_ticks(pt->y[k]));
	return hit;
}

static bool is_read(const struct point *pt)
{
	return pt && pt->outcome == OUTCOME_OK && pt->words_per_repeat > CHASE_HEAD;
}

static double hit_of(const struct point *const *point, unsigned n)
{
	double hit = INFINITY;

	for (unsigned i = 0; i < n; i++)
		hit = fmin(hit, fastest_of(point[i]));
	return hit;
}

/* Whether some lines stay at every footprint, which others in other laps may, so that it takes more of them to know how many do. */
static bool is_mixed(const struct point *const *point, unsigned n)
{
	const double hit = hit_of(point, n);

	for (unsigned i = 1; i < n; i++)
		if (missed_of(point[i], hit) >= 1 - RATE_SURE)
			return false;
	return true;
}

/* A footprint after more laps than at first. */
struct late {
	const struct point *part[PARTS_MOST];
	unsigned parts;
};

/* late: of all footprints, or NULL. */
static void conclude_rate(struct study *s, const struct point *const *point, const struct late *late, unsigned n)
{
	const double hit = hit_of(point, n), noise = missed_of(point[0], hit);
	double most = 0, least = 0, up_to = 0, at = 0;

	/* What misses although everything fits says how many misses are none. */
	for (unsigned i = 1; i < n; i++) {
		struct laps all = {0};
		double missed = missed_of(point[i], hit), unsure = 0;
		add_laps(&all, &point[i], 1, hit);
		if (late)
			add_laps(&all, late[i].part, late[i].parts, hit);
		if (late && all.n > 1) {
			missed = all.sum / all.n;
			unsure = unsure_of(&all);
		}
		least = fmax(least, missed - unsure);
		up_to = fmax(up_to, missed + unsure);
		if (missed > most) {
			most = missed;
			at = point[i]->x;
		}
	}
	if (noise > NOISE)
		study_verdict(s, rate_key, VERDICT_INCONCLUSIVE, "near", "%.1f %% of as many lines as fit are slow",
			      100 * noise);
	else if (least < most - RATE_SURE || up_to > most + RATE_SURE)
		study_verdict(s, rate_key, VERDICT_INCONCLUSIVE, "near",
			      "not as many lines miss in each lap, and of very many laps from %.2f to %.2f of the "
			      "accesses may",
			      fmax(0, least), fmin(1, up_to));
	else
		study_measured_number(
		    s, rate_key, round(1000 * most) / 1000, fmax(0, most - RATE_SURE), fmin(1, most + RATE_SURE), "sm",
		    "laps over more lines than fit", "near",
		    "of laps over %u footprints, up to half as large again as the level, those over %.0f bytes "
		    "miss most",
		    n, at);
}

/* The footprints are from as many lines as fit to half as many more. */
static double lines_of(double fits, unsigned step)
{
	return floor(fits * (1 + 0.5 * step / STEPS));
}

/* `part`: launches before it have timed what comes before. NULL: it could not be measured, or will be. */
static const struct point *ask_step(struct study *s, double n, double line, double warm, unsigned part)
{
	double p[POINT_PARAMS] = {0};

	p[CHASE_STRIDE] = line;
	p[CHASE_TIMED] = fmin(LAPS * n, chase_room(study_device(s), true));
	p[CHASE_WARM] = warm * n + part * p[CHASE_TIMED];
	const struct point *pt = study_ask(s, SET_CHASE_NEAR + SET_NEAR, n * line, p);
	return is_read(pt) ? pt : NULL;
}

static bool ask_steps(struct study *s, double fits, double line, const struct point **point)
{
	bool all = true;

	for (unsigned i = 0; i <= STEPS; i++)
		all &= (point[i] = ask_step(s, lines_of(fits, i), line, WARM, 0)) != NULL;
	return all;
}

/* False: none, or not of all footprints. In an older recording there is one part of each. */
static bool ask_late(struct study *s, double fits, double line, struct late *late)
{
	bool all = true;

	for (unsigned i = 0; i <= STEPS; i++) {
		const double n = lines_of(fits, i), timed = fmin(LAPS * n, chase_room(study_device(s), true));
		const unsigned parts = (unsigned)fmin(PARTS_MOST, ceil(LATE_LAPS * n / timed));
		late[i].parts = 0;
		for (unsigned k = 0; k < parts; k++) {
			const struct point *pt = ask_step(s, n, line, LONG_WARM, k);
			if (pt && late[i].parts == k)
				late[i].part[late[i].parts++] = pt;
		}
		all &= late[i].parts > 0;
	}
	return all;
}

/* Lines of the first level of global memory. */
static void ask_lines(struct study *s)
{
	const struct finding *f = study_finding(s, "cache.global.l1.size");
	double size, line;
	const struct point *point[STEPS + 1];
	struct late late[STEPS + 1];

	if (f && f->verdict == VERDICT_ABSENT)
		study_verdict(s, rate_key, VERDICT_ABSENT, "near", "there is no such level");
	if (!study_number(s, "cache.global.l1.size", &size) || !study_number(s, "cache.global.l1.line", &line))
		return;
	const double fits = size / line;
	if (2 * fits >= chase_room(study_device(s), true)) {
		study_verdict(s, rate_key, VERDICT_INCONCLUSIVE, "near", "%.0f lines are more than can be timed", fits);
		return;
	}
	const bool asked = ask_steps(s, fits, line, point);
	if (study_pending(s))
		return;
	if (!asked) {
		study_verdict(s, rate_key, VERDICT_INCONCLUSIVE, "near", "a point that is needed was not measured");
		return;
	}
	const bool mixed = is_mixed(point, STEPS + 1);
	double ways;
	if (mixed && !study_number(s, "cache.global.l1.ways", &ways)) {
		study_verdict(s, rate_key, VERDICT_INCONCLUSIVE, "near",
			      "some lines stay at every footprint, and its sets are not known to be alike: how many "
			      "stay hangs on where a lap begins");
		return;
	}
	/* The first laps are believed if nobody asked for more, as in an older recording. */
	const bool more = mixed && ask_late(s, fits, line, late);
	if (!study_pending(s))
		conclude_rate(s, point, more ? late : NULL, STEPS + 1);
}

static void ask_pages(struct study *s)
{
	double entries, line;

	for (unsigned k = 4; k >= 1; k--) {
		if (!study_number(s, KEY("tlb.global.l%u.entries", k), &entries) || entries > PAGES_MOST)
			continue;
		if (!study_number(s, KEY("tlb.global.l%u.line", k), &line) ||
		    (entries + STEPS + 2) * line > (double)study_device(s)->memory_bytes / 2)
			return;
		for (unsigned i = 0; i <= STEPS; i++) {
			unsigned n = (unsigned)entries + i;
			struct set_lines l = {.path = SET_PAGES,
					      .mode = SET_DENSE,
					      .line = (uint64_t)line,
					      .extra = n * (uint64_t)line,
					      .ways = n,
					      .lines = n + 1};
			struct set_ask ask = {s, &l};
			struct policy_plan plan = {POLICY_RING, n, n + 1, 0, LAPS * (n + 1)};
			struct policy_sequence q;
			uint32_t *ticks;
			char why[200];
			if (policy_sequence(study_arena(s), &plan, &q))
				set_trace(&ask, &plan, &q, &ticks, why, sizeof(why));
		}
		return;
	}
}

void miss_rates_ask(struct study *s)
{
	ask_lines(s);
	ask_pages(s);
}

struct curve {
	double x[4 * STEPS], y[4 * STEPS];
	size_t n;
};

static void put(struct curve *c, double x, double y)
{
	size_t at = c->n;

	if (at == sizeof(c->x) / sizeof(c->x[0]))
		return;
	for (c->n++; at && c->x[at - 1] > x; at--) {
		c->x[at] = c->x[at - 1];
		c->y[at] = c->y[at - 1];
	}
	c->x[at] = x;
	c->y[at] = y;
}

/* keys: a glob of the findings that it is the evidence of. */
static int draw(struct figure_list *out, const struct curve *c, const char *name, const char *title, const char *label,
		const char *unit, const char *keys)
{
	struct figure *f = c->n > 1 ? figures_new(out, name, title) : NULL;

	if (c->n < 2)
		return 0;
	if (!f)
		return -ENOMEM;
	figure_key(f, keys);
	f->x = (struct figure_axis){.label = "footprint"};
	snprintf(f->x.unit, sizeof(f->x.unit), "%s", unit);
	f->y = (struct figure_axis){.label = "accesses that miss", .unit = "ratio"};
	return figure_add(f, label, MARK_LINE, c->x, c->y, NULL, c->n);
}

static int draw_lines(const struct study *s, struct figure_list *out)
{
	const struct series *series = study_series(s, SET_CHASE_NEAR + SET_NEAR);
	struct curve c = {.n = 0};
	double hit = INFINITY;

	for (unsigned pass = 0; series && pass < 2; pass++)
		for (size_t i = 0; i < series->count; i++) {
			const struct point *pt = &series->points[i];
			double n = floor(pt->x / pt->p[CHASE_STRIDE]);
			if (!is_read(pt) || pt->p[CHASE_WARM] != WARM * n || pt->p[CHASE_FLOOR] != 0)
				continue;
			if (pass)
				put(&c, pt->x, missed_of(pt, hit));
			else
				hit = fmin(hit, fastest_of(pt));
		}
	return draw(out, &c, "miss-rate-l1", "First level of global memory: how many of a lap's lines miss", "lines",
		    "bytes", "cache.global.l1.*");
}

static int draw_pages(const struct study *s, struct figure_list *out)
{
	const struct series *series = study_series(s, SET_TRACE);
	struct arena scratch;
	struct curve c = {.n = 0};
	unsigned least = UINT_MAX;
	double hit = NAN;

	arena_init(&scratch);
	for (unsigned pass = 0; series && pass < 2; pass++)
		for (size_t i = 0; i < series->count; i++) {
			const struct point *pt = &series->points[i];
			struct policy_sequence q;
			struct policy_plan plan;
			struct set_lines l;
			uint32_t missed = 0;
			set_point(pt, &l, &plan);
			if (pt->outcome != OUTCOME_OK || l.path != SET_PAGES || l.mode != SET_DENSE ||
			    l.extra != plan.ways * l.line || !policy_sequence(&scratch, &plan, &q) ||
			    pt->words_per_repeat < TRACE_HEAD + q.count)
				continue;
			/* As many as fit: what a hit takes. */
			if (!pass && plan.ways < least) {
				least = plan.ways;
				hit = pt->y[TRACE_HEAD + q.fits_to - 1] & CHASE_CAP;
			}
			for (uint32_t k = q.from; k < q.count; k++)
				missed += is_miss(pt->y[TRACE_HEAD + k] & CHASE_CAP, hit);
			if (pass)
				put(&c, plan.ways + 1, (double)missed / (q.count - q.from));
		}
	arena_free(&scratch);
	return draw(out, &c, "miss-rate-tlb", "Last TLB of global memory: how many of a lap's pages miss", "pages",
		    "pages", "tlb.global.*");
}

int miss_rates_draw(const struct study *s, struct figure_list *out)
{
	int rc = draw_lines(s, out);

	return rc ? rc : draw_pages(s, out);
}
