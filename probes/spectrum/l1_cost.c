/* What a load takes longer that asks the L1 in vain: the same accesses with the L1 and past it. Mei 2014, Table 3 and 4.2. */
#include "base/arena.h"
#include "spectrum.h"
#include "stat/stat.h"
#include <errno.h>
#include <math.h>
#include <stdio.h>

enum { PAGE, MIDDLE, LINES, STRIDE, KIND }; /* p[]; x is how many pages */

#define LAPS	  2u  /* that make a part known, and as many that count */
#define TIMES	  3.0 /* as many lines as the L1 has, so that none is left when its turn comes */
#define SAME	  96u /* accesses to one place */
#define MOST	  (1u << 15)
#define GRAIN	  4.0  /* cycles of a clock that hides too much */
#define DEEP	  24.0 /* cycles that memory is at least farther than the L2 */
#define SURE	  1.0  /* cycles */
#define ONE_STEP  0.75 /* of the accesses; beyond it two means may differ by more than a cycle */
#define SURE_BOTH 1.5

static const char hit[] = "the L1 has the data", near_here[] = "the data are near, translations at hand",
		  far_here[] = "the data are far, translations at hand",
		  near_none[] = "the data are near, no translation is", far_none[] = "nothing is at hand",
		  near_second[] = "the data are near, a second TLB helps";
static const char spectrum_key[] = "cache.global.l1.latency_spectrum", cost_key[] = "cache.global.l1.miss_cost",
		  fill_key[] = "cache.global.l1.fill_cost";

static void segment(struct sequence *q, const char *what, uint32_t from, uint32_t step)
{
	q->segment[q->segments++] = (struct segment){what, from, q->count, step};
}

static uint32_t each_of(uint32_t lines, uint32_t pages)
{
	return pages ? (lines + pages - 1) / pages + 1 : 0;
}

/* One lap over pages, to so many places of each that the lap is more than the L1 holds. The first place of a page asks
 * for its translation. */
static void lap(struct sequence *q, uint64_t page, uint32_t pages, uint32_t each)
{
	for (uint32_t i = 0; i < pages; i++)
		for (uint32_t k = 0; k < each; k++) {
			uint64_t place = ((uint64_t)i * each + k) % (page / SPACING);
			q->at[q->count++] = (uint32_t)((i * page + place * SPACING) >> SHIFT);
		}
}

static double count_of(double pages, double middle, double lines)
{
	return TRACE_LEAD + LAPS * (lines + 2 * pages) + (middle > 0 ? 2 * LAPS * (lines + 2 * middle) : 0) +
	       (LAPS + 1) * lines + SAME;
}

/* False: out of memory. */
static bool sequence_of(struct arena *a, double x, const double *p, struct sequence *q)
{
	const uint64_t page = (uint64_t)p[PAGE], base = (uint64_t)x * page, stride = (uint64_t)p[STRIDE];
	const uint32_t pages = (uint32_t)x, middle = (uint32_t)p[MIDDLE], lines = (uint32_t)p[LINES],
		       each = each_of(lines, pages), more = each_of(lines, middle);
	uint32_t from;

	*q = (struct sequence){0};
	q->at = ARENA_ARRAY(a, (size_t)count_of(x, middle, lines), uint32_t);
	if (!q->at)
		return false;
	while (q->count < TRACE_LEAD)
		q->at[q->count++] = 0;
	from = q->count;
	if (pages) {
		lap(q, page, pages, each);
		segment(q, far_none, from + each, each); /* the first page was read before */
		from = q->count;
		lap(q, page, pages, each);
		segment(q, near_none, from, each);
	}
	for (uint32_t n = 0; middle && n < 2 * LAPS; n++) {
		if (n == LAPS)
			from = q->count;
		lap(q, page, middle, more);
	}
	if (middle)
		segment(q, near_second, from, more);
	for (uint32_t n = 0; n <= LAPS; n++) {
		from = q->count;
		for (uint32_t i = 0; i < lines; i++)
			q->at[q->count++] = (uint32_t)((base + i * stride) >> SHIFT);
		if (!n || n == LAPS)
			segment(q, n ? near_here : far_here, from, 1);
	}
	for (from = q->count + SAME / 2; q->count < from + SAME / 2;)
		q->at[q->count++] = (uint32_t)(base >> SHIFT);
	segment(q, hit, from, 1);
	return true;
}

int l1_cost_setup(const struct study *s, double x, const double *p, struct job *j)
{
	struct trace_kernel k = spectrum_kernel(s, (int)p[KIND] == PAST);
	struct trace_spec t;
	struct sequence q;

	if (!sequence_of(j->arena, x, p, &q))
		return -ENOMEM;
	int rc = spectrum_spec(j->arena, &q, &t);
	t.far = true;
	return rc ? rc : trace_setup(s, j, &k, &t);
}

struct both {
	struct sequence q;
	const uint32_t *near, *past;
	double grain;
};

static double of(const struct both *b, const uint32_t *ticks, const char *what)
{
	return spectrum_where(ticks, &b->q, what, b->grain);
}

static double later(const struct both *b, const char *what)
{
	return of(b, b->near, what) - of(b, b->past, what);
}

static bool has(const struct both *b, const char *what)
{
	for (uint32_t k = 0; k < b->q.segments; k++)
		if (b->q.segment[k].what == what)
			return true;
	return false;
}

static void undecided(struct study *s, const char *key, const char *why)
{
	study_verdict(s, key, VERDICT_INCONCLUSIVE, "l1", "%s", why);
}

static void all_undecided(struct study *s, const char *why)
{
	undecided(s, spectrum_key, why);
	undecided(s, cost_key, why);
	undecided(s, fill_key, why);
}

static void conclude_spectrum(struct study *s, const struct both *b, double l1)
{
	double v[SEGMENTS], base = of(b, b->near, hit) - l1;
	char why[160];

	for (uint32_t k = 0; k < b->q.segments; k++) {
		double mean = spectrum_mean(b->near, &b->q.segment[k], b->grain);
		v[k] = spectrum_locked(mean, b->grain) ? NAN : mean - base;
		if (isnan(v[k])) {
			snprintf(why, sizeof(why), "loads where %s have no latency in common", b->q.segment[k].what);
			undecided(s, spectrum_key, why);
			return;
		}
	}
	spectrum_conclude(s, spectrum_key, v, b->q.segments, "l1");
}

/* How far off the mean may be, in cycles: most such accesses may have begun at the same place between two steps. */
static double hidden(const struct both *b, const uint32_t *ticks, const char *what)
{
	uint32_t same = 0, all = 0;

	for (uint32_t k = 0; k < b->q.segments; k++) {
		const struct segment *g = &b->q.segment[k];
		if (g->what != what)
			continue;
		/* The middle of two steps that are nearly as common, or one of them. */
		const double usual = spectrum_latency(ticks, g);
		uint32_t below = 0, at = 0, above = 0;
		for (uint32_t i = g->from; i < g->to; i += g->step) {
			const double off = ticks[i] - usual;
			below += off < 0 && -off <= b->grain;
			at += off == 0;
			above += off > 0 && off <= b->grain;
		}
		all += below + at + above;
		same += at > below && at > above ? at : below > above ? below : above;
	}
	return same > ONE_STEP * all ? b->grain - 1 : 0;
}

static double hidden_of_both(const struct both *b, const char *what)
{
	return hidden(b, b->near, what) + hidden(b, b->past, what);
}

/* How much later the L2's lines come, and how much more memory's: whatever is translated, it has to be the same. */
static void conclude_costs(struct study *s, const struct both *b)
{
	static const char method[] = "the same accesses with the L1 asked first and past it";
	const double cost = later(b, near_here), deep = of(b, b->past, far_here) - of(b, b->past, near_here),
		     fill = later(b, far_here) - cost, slack = APART + b->grain,
		     fill_off = SURE_BOTH + hidden_of_both(b, far_here);
	char why[200];

	if (hidden_of_both(b, near_here) > 0 || spectrum_locked(of(b, b->near, far_here), b->grain) ||
	    spectrum_locked(of(b, b->past, far_here), b->grain)) {
		undecided(s, cost_key, "the clock counts in steps that hide a few cycles");
		undecided(s, fill_key, "the clock counts in steps that hide a few cycles");
		return;
	}
	if (!(cost > -SURE && cost < of(b, b->past, near_here)) ||
	    of(b, b->near, near_here) - of(b, b->near, hit) < DEEP) {
		snprintf(why, sizeof(why), "more lines than the L1 holds do not answer as the L2 does");
		undecided(s, cost_key, why);
		undecided(s, fill_key, why);
		return;
	}
	for (unsigned i = 0; i < 2; i++) {
		const char *what = i ? near_second : near_none;
		if (!has(b, what) || fabs(later(b, what) - cost) <= slack)
			continue;
		snprintf(why, sizeof(why),
			 "where %s a load is %.1f cycles later than past the L1, with all at hand %.1f", what,
			 later(b, what), cost);
		undecided(s, cost_key, why);
		undecided(s, fill_key, why);
		return;
	}
	study_measured_number(s, cost_key, fmax(0, round(10 * cost) / 10), fmax(0, cost - SURE), cost + SURE, "sm",
			      method, "l1",
			      "hits of the L2 take %.1f ticks when the L1 is asked first, and %.1f past it",
			      of(b, b->near, near_here), of(b, b->past, near_here));
	const double other = has(b, far_none) ? later(b, far_none) - cost : fill;
	if (!(deep > DEEP) || !(fill > -fill_off) || !(fabs(other - fill) <= slack)) {
		snprintf(why, sizeof(why),
			 "places that nothing has read yet are %.1f ticks farther than the L2, %.1f cycles later with "
			 "the L1 and %.1f without a translation",
			 deep, fill + cost, other + cost);
		undecided(s, fill_key, why);
		return;
	}
	study_measured_number(
	    s, fill_key, fmax(0, round(10 * fill) / 10), fmax(0, fill - fill_off), fill + fill_off, "sm", method, "l1",
	    "memory's lines are %.1f cycles later when the L1 is asked first, of which the L2's are %.1f", fill + cost,
	    cost);
}

/* False: pending, or all is concluded. */
static bool ask(struct study *s, const struct l1_cost_ask *k, double lines, double stride, struct both *b)
{
	double p[POINT_PARAMS] = {
	    [PAGE] = (double)k->page, [MIDDLE] = k->middle, [LINES] = lines, [STRIDE] = stride, [KIND] = NEAR};
	char why[240] = "out of memory";

	for (unsigned past = 0; past < 2; past++) {
		p[KIND] = past ? PAST : NEAR;
		const struct point *pt = study_ask(s, L1_COST, k->pages, p);
		struct trace_kernel kernel = spectrum_kernel(s, past);
		struct trace_spec t;
		if (!pt)
			continue;
		uint32_t *ticks =
		    sequence_of(study_arena(s), k->pages, p, &b->q) && !spectrum_spec(study_arena(s), &b->q, &t)
			? ARENA_ARRAY(study_arena(s), b->q.count, uint32_t)
			: NULL;
		if (!ticks || !trace_read(pt, &kernel, &t, ticks, why, sizeof(why))) {
			all_undecided(s, why);
			return false;
		}
		*(past ? &b->past : &b->near) = ticks;
	}
	if (study_pending(s))
		return false;
	if (!b->near || !b->past) {
		all_undecided(s, "a point that is needed was not measured");
		return false;
	}
	return true;
}

/* What all times have in common: the clock's steps are no larger, and may be as large. */
static double steps_of(const struct both *b)
{
	uint64_t common = 0;

	for (uint32_t i = 0; i < b->q.count && common != 1; i++)
		common = stat_gcd(stat_gcd(common, b->near[i]), b->past[i]);
	return common > GRAIN ? GRAIN : common ? (double)common : 1;
}

void l1_cost_study(struct study *s, const struct l1_cost_ask *k)
{
	const struct finding *f = study_finding(s, "cache.global.l1.size");
	const uint64_t memory = study_device(s)->memory_bytes / 16 * 15;
	double l1, size, line, behind_line, behind_size, grain = 1;
	struct both b = {.near = NULL};

	if (f && f->verdict == VERDICT_ABSENT) {
		static const char *const keys[] = {spectrum_key, cost_key, fill_key};
		for (unsigned i = 0; i < 3; i++)
			study_verdict(s, keys[i], VERDICT_ABSENT, "l1", "there is no L1");
		return;
	}
	if (k->why) {
		all_undecided(s, k->why);
		return;
	}
	const bool steps = study_number(s, "clock.granularity", &grain);
	if (!study_number(s, "cache.global.l1.latency", &l1) || !study_number(s, "cache.global.l1.size", &size) ||
	    !study_number(s, "cache.global.l1.line", &line)) {
		all_undecided(s, "skipped: needs the L1's size, line and latency, which were not all measured");
		return;
	}
	if (!k->has_l2 || !study_level_held(s, "cache.global.l2", &behind_size) ||
	    !study_number(s, "cache.global.l2.line", &behind_line)) {
		all_undecided(s, "there is no L2 that is known and could answer what the L1 does not");
		return;
	}
	if (grain > GRAIN) {
		all_undecided(s, "the clock counts in steps that hide a few cycles");
		return;
	}
	b.grain = grain;
	/* So far apart, no two places come with one miss of either level. */
	double stride = fmax(fmax(line, behind_line), 1 << SHIFT), lines = ceil(TIMES * size / line);
	if (2 * lines * stride > behind_size) {
		all_undecided(s, "the L2 is too small for several times what the L1 holds");
		return;
	}
	if (count_of(k->pages, k->middle, lines) > MOST ||
	    (double)k->pages * (double)k->page + lines * stride > (double)memory) {
		all_undecided(s, "several times what the L1 holds, in pages that no TLB holds, are too many accesses");
		return;
	}
	if (ask(s, k, lines, stride, &b)) {
		if (!steps)
			b.grain = steps_of(&b);
		conclude_spectrum(s, &b, l1);
		conclude_costs(s, &b);
	}
}
