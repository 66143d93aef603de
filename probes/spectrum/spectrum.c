/* Every latency that a load of global memory can have: data near or far, translations at hand or not. Mei 2014, Table 3 and 4.2. */
#include "spectrum.h"
#include "base/arena.h"
#include "stat/stat.h"
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PAGE, HOT, REACH, MIDDLE, FAR, KIND }; /* p[]; x is how many pages are more than all TLBs hold, or all pages */

#define PLACES_MOST  64u
#define PLACES_LEAST 16u
#define PAGE_NONE    (1u << 20) /* where nothing is translated */
#define FRESH	     8u		/* places of a page from this one on are not read before */
#define LAPS	     4u
#define SAME	     32u /* laps over what is at hand, from which all others are counted */
#define FAR_PAGES    32u
#define PAGES_MOST   16384u
#define NEAREST	     0.05 /* quantile of a chain's accesses that is one of its nearest kind */
#define ALONE	     0.4  /* share of a segment that its latency has to have */
#define FINE	     2.0  /* steps of a clock that make no difference here */
#define COARSE	     2.0  /* a clock of larger steps is a cycle or two wrong about any single access */
#define TLBS	     4

static const char near_at_hand[] = "the data are near, translations at hand",
		  far_at_hand[] = "the data are far, translations at hand";

static uint32_t places_of(uint64_t page)
{
	uint64_t n = page / SPACING;
	return n < PLACES_MOST ? (uint32_t)n : PLACES_MOST;
}

static uint32_t place(uint64_t page, uint64_t address, uint64_t number, uint32_t nth)
{
	return (uint32_t)((address + (13 * number + nth) % places_of(page) * SPACING) >> SHIFT);
}

static void segment(struct sequence *q, const char *what, uint32_t from)
{
	q->segment[q->segments++] = (struct segment){what, from, q->count, 1};
}

/* What is read, in order. False: out of memory. */
static bool sequence_of(struct arena *a, double x, const double *p, struct sequence *q)
{
	uint64_t page = (uint64_t)p[PAGE], far = (uint64_t)p[FAR];
	uint32_t pages = (uint32_t)x, hot = (uint32_t)p[HOT], middle = (uint32_t)p[MIDDLE], places = places_of(page),
		 from = 0;

	*q = (struct sequence){0};
	q->at = ARENA_ARRAY(a, TRACE_LEAD + 3 * pages + 2 * LAPS * middle + (2 + places + SAME) * hot + FAR_PAGES + 64,
			    uint32_t);
	if (!q->at)
		return false;
	while (q->count < TRACE_LEAD)
		q->at[q->count++] = place(page, 0, 0, 0);
	for (uint32_t lap = 0; pages && lap < 3; lap++) {
		static const char *const what[] = {"nothing is at hand", "the data are near, no translation is",
						   "the data are far, the page table is near"};
		from = q->count + !lap;
		for (uint32_t i = 0; i < pages; i++)
			q->at[q->count++] = place(page, i * page, i, lap == 2);
		segment(q, what[lap], from);
	}
	for (uint32_t fresh = 0; middle && fresh < 2; fresh++) {
		for (uint32_t lap = 0; lap < LAPS; lap++) {
			if (lap == LAPS / 2)
				from = q->count;
			for (uint32_t i = 0; i < middle; i++)
				q->at[q->count++] = place(page, i * page, i, fresh ? 2 + lap : 0);
		}
		segment(q, fresh ? "the data are far, a second TLB helps" : "the data are near, a second TLB helps",
			from);
	}
	for (uint32_t i = 0; i < 2 * hot; i++)
		q->at[q->count++] = place(page, i % hot * page, i % hot, 0);
	from = q->count;
	for (uint32_t n = FRESH; n < places; n++)
		for (uint32_t i = 0; i < hot; i++)
			q->at[q->count++] = place(page, i * page, i, n);
	segment(q, far_at_hand, from);
	for (uint32_t i = 0; i < hot; i++)
		q->at[q->count++] = place(page, i * page, i, 0);
	from = q->count;
	for (uint32_t i = 0; i < SAME * hot; i++)
		q->at[q->count++] = place(page, i % hot * page, i % hot, 0);
	segment(q, near_at_hand, from);
	from = q->count;
	for (uint32_t i = 0; far && i < FAR_PAGES; i++) {
		uint64_t number = i % 2 ? FAR_PAGES / 2 + i / 2 : i / 2;
		/* Between the pages of the laps. */
		q->at[q->count++] = place(page, (number * (far / FAR_PAGES) / page + 1) * page, number, 7);
	}
	if (far)
		segment(q, "nothing is at hand, and each is far from the one before", from + 1);
	return true;
}

/* Laps over all pages there are. */
static bool laps_of(struct arena *a, double x, const double *p, struct sequence *q)
{
	uint32_t pages = (uint32_t)x;
	uint64_t page = (uint64_t)p[PAGE];

	*q = (struct sequence){.at = ARENA_ARRAY(a, TRACE_LEAD + WINDOW_LAPS * pages, uint32_t)};
	if (!q->at)
		return false;
	while (q->count < TRACE_LEAD)
		q->at[q->count++] = place(page, 0, 0, 0);
	for (uint32_t i = 0; i < WINDOW_LAPS * pages; i++)
		q->at[q->count++] = place(page, i % pages * page, i % pages, 0);
	return true;
}

int spectrum_spec(struct arena *a, const struct sequence *q, struct trace_spec *t)
{
	uint32_t *sorted = ARENA_ARRAY(a, q->count, uint32_t), n = 0;

	if (!sorted)
		return -ENOMEM;
	memcpy(sorted, q->at, q->count * sizeof(*sorted));
	qsort(sorted, q->count, sizeof(*sorted), stat_compare_u32);
	for (uint32_t i = 0; i < q->count; i++)
		if (!n || sorted[i] != sorted[n - 1])
			sorted[n++] = sorted[i];
	*t = (struct trace_spec){.shift = SHIFT,
				 .bytes = ((uint64_t)sorted[n - 1] << SHIFT) + SPACING,
				 .align = 1u << 20,
				 .places = n,
				 .place = sorted,
				 .count = q->count,
				 .at = q->at};
	while (t->align < t->bytes / 128)
		t->align *= 2;
	return 0;
}

struct trace_kernel spectrum_kernel(const struct study *s, bool past)
{
	return (struct trace_kernel){.template_path = "probes/spectrum/spectrum_trace.ptx",
				     .load = chase_load_of(s, past ? WAY_PAST_L1 : WAY_NEAR),
				     .roomy = past};
}

static int setup(const struct study *s, double x, const double *p, struct job *j, bool laps)
{
	struct trace_kernel k = spectrum_kernel(s, (int)p[KIND] == PAST);
	struct trace_spec t;
	struct sequence q;

	if (!(laps ? laps_of : sequence_of)(j->arena, x, p, &q))
		return -ENOMEM;
	int rc = spectrum_spec(j->arena, &q, &t);
	t.far = !laps; /* the first access of a place has to find it far away */
	return rc ? rc : trace_setup(s, j, &k, &t);
}

static int setup_spectrum(const struct study *s, double x, const double *p, struct job *j)
{
	return setup(s, x, p, j, false);
}

static int setup_window(const struct study *s, double x, const double *p, struct job *j)
{
	return setup(s, x, p, j, true);
}

#define PARAMS                                                                                                         \
	{                                                                                                              \
		"page", "hot", "reach", "middle", "far", "kind"                                                        \
	}
static const struct experiment experiments[] = {
    [SPECTRUM] = {.name = "spectrum", .axis = "pages", .unit = "count", .params = PARAMS, .setup = setup_spectrum},
    [WINDOW] = {.name = "window", .axis = "pages", .unit = "count", .params = PARAMS, .setup = setup_window},
    [L1_COST] = {.name = "l1",
		 .axis = "pages",
		 .unit = "count",
		 .params = {"page", "middle", "lines", "stride", "kind"},
		 .setup = l1_cost_setup},
};
static const char spectrum_key[] = "memory.global.latency_spectrum", window_key[] = "tlb.active_window";

/* Ticks of a point's accesses, NULL: pending or, with a reason, not to be had. */
static uint32_t *ticks_of(struct study *s, unsigned experiment, double x, const double *p, struct sequence *q,
			  char *why, size_t n)
{
	struct arena *a = study_arena(s);
	struct trace_kernel k = spectrum_kernel(s, (int)p[KIND] == PAST);
	const struct point *pt = study_ask(s, experiment, x, p);
	struct trace_spec t;

	snprintf(why, n, "a point that is needed was not measured");
	if (!pt)
		return NULL;
	snprintf(why, n, "out of memory");
	uint32_t *ticks = (experiment == WINDOW ? laps_of : sequence_of)(a, x, p, q) && !spectrum_spec(a, q, &t)
			      ? ARENA_ARRAY(a, q->count, uint32_t)
			      : NULL;
	return ticks && trace_read(pt, &k, &t, ticks, why, n) ? ticks : NULL;
}

double spectrum_latency(const uint32_t *ticks, const struct segment *g)
{
	uint32_t count[CHASE_CAP + 1] = {0}, best = 0, at = 0;

	for (uint32_t i = g->from; i < g->to; i += g->step)
		count[ticks[i]]++;
	for (uint32_t t = 1; t < CHASE_CAP; t++) {
		uint32_t sum = count[t - 1] + count[t] + count[t + 1];
		if (sum > best || (sum == best && count[t] > count[at])) {
			best = sum;
			at = t;
		}
	}
	return best >= ALONE * ((g->to - g->from) / g->step) ? at : NAN;
}

double spectrum_mean(const uint32_t *ticks, const struct segment *g, double grain)
{
	const double usual = spectrum_latency(ticks, g);
	double sum = 0;
	uint32_t n = 0;

	for (uint32_t i = g->from; i < g->to; i += g->step)
		if (fabs(ticks[i] - usual) <= grain + 0.5) {
			sum += ticks[i];
			n++;
		}
	return n ? sum / n : NAN;
}

bool spectrum_locked(double mean, double grain)
{
	return grain > FINE && fabs(mean - round(mean / grain) * grain) < 0.05 * grain;
}

struct tlbs {
	bool none;
	unsigned levels;
	uint64_t page; /* the largest line */
	double reach, least, entries[TLBS];
};

/* The TLBs whose reach and line are known, from the first one on. Pages that wait for a switch of page tables hide how
 * many there are. False: none is. */
static bool tlbs_of(struct study *s, struct tlbs *t)
{
	const struct finding *f = study_finding(s, "tlb.global.levels");
	char key[64];

	*t = (struct tlbs){.none = f && f->verdict == VERDICT_ABSENT, .page = PAGE_NONE};
	for (unsigned k = 0; k < TLBS && !t->none; k++) {
		double line, reach;
		snprintf(key, sizeof(key), "tlb.global.l%u.line", k + 1);
		if (!study_number(s, key, &line))
			break;
		snprintf(key, sizeof(key), "tlb.global.l%u.reach", k + 1);
		if (!study_number(s, key, &reach))
			break;
		t->entries[t->levels++] = reach / line;
		t->reach = reach;
		t->page = k && t->page > (uint64_t)line ? t->page : (uint64_t)line;
	}
	return t->none || t->levels;
}

struct seen {
	double v[2 * SEGMENTS];
	unsigned n;
};

double spectrum_where(const uint32_t *ticks, const struct sequence *q, const char *what, double grain)
{
	for (uint32_t k = 0; k < q->segments; k++)
		if (strcmp(q->segment[k].what, what) == 0)
			return spectrum_mean(ticks, &q->segment[k], grain);
	return NAN;
}

/* Adds the segments' latencies in cycles, by one of them that is known already. */
static bool add(struct seen *to, const uint32_t *ticks, const struct sequence *q, double nearest, double grain,
		char *why, size_t n)
{
	double base = spectrum_where(ticks, q, near_at_hand, grain) - nearest;

	for (uint32_t k = 0; k < q->segments; k++) {
		double v = spectrum_mean(ticks, &q->segment[k], grain);
		if (isnan(v)) {
			snprintf(why, n, "loads where %s have no latency in common", q->segment[k].what);
			return false;
		}
		if (spectrum_locked(v, grain)) {
			snprintf(why, n, "loads where %s all take %.0f of a clock of steps of %.0f", q->segment[k].what,
				 v, grain);
			return false;
		}
		to->v[to->n++] = v - base;
	}
	return true;
}

void spectrum_conclude(struct study *s, const char *key, double *v, unsigned n, const char *series)
{
	double latency[VALUE_ARRAY_MAX];
	unsigned count = 0;

	qsort(v, n, sizeof(v[0]), stat_compare_double);
	for (unsigned i = 0; i < n; i++)
		if (!count || v[i] > latency[count - 1] + APART)
			latency[count++] = round(v[i] * 10) / 10;
	study_measured_array(s, key, latency, count, "sm",
			     "latency of each kind of access in one chain, by the known one of hits", series,
			     "%u kinds of access have %u latencies", n, count);
}

/* What the latencies cannot be told for, in `why`; or false, and then x, p and the latencies of L2 and memory are known. */
static bool hindered(struct study *s, const struct tlbs *t, double *x, double *p, double *l2, double *far, char *why,
		     size_t n)
{
	const uint64_t memory = study_device(s)->memory_bytes / 16 * 15;
	const bool has_l2 = study_number(s, "cache.global.l2.latency", l2);

	snprintf(why, n, "the latency of memory is not known");
	if (!study_number(s, "memory.global.latency", far))
		return true;
	double grain;
	if (study_number(s, "clock.granularity", &grain) && grain > COARSE) {
		snprintf(why, n, "the clock counts in steps of %g cycles, and each access is timed once", grain);
		return true;
	}
	const double swing = study_swing(s);
	if (swing > 0) {
		snprintf(why, n,
			 "the SM's clock is up to %.3g times as fast at times. What is beyond the SM then takes so "
			 "many more of its cycles",
			 1 + swing);
		return true;
	}
	const struct finding *second = study_finding(s, "cache.global.l2.size");
	snprintf(why, n, "the latency of the L2 is not known, or whether there is one");
	if (!has_l2 && !(second && second->verdict == VERDICT_ABSENT))
		return true;
	/* SMs may differ, because what they differ by is the same in all latencies; lines may not. */
	const struct finding *known = study_finding(s, "cache.global.l2.latency");
	double parts = 0;
	const bool told = study_number(s, "cache.global.l2.partitions", &parts);
	/* Means over the lines may agree where the lines do not, and the few that answer here are of whichever part. */
	if (has_l2 && (parts >= 2 || !told)) {
		snprintf(
		    why, n,
		    "hits take from %.1f to %.1f cycles, as SMs and lines lie, and the rest is counted from theirs",
		    known->lo, known->hi);
		return true;
	}
	snprintf(why, n, "pages of %llu bytes have too few lines", (unsigned long long)t->page);
	if (places_of(t->page) < PLACES_LEAST)
		return true;
	if (t->levels) {
		*x = 2 * t->reach / (double)t->page;
		p[HOT] = fmax(1, fmin(4, floor(t->entries[0] / 2)));
		if (t->levels > 1)
			p[MIDDLE] = floor(fmin(1.5 * t->entries[t->levels - 2] + 1, t->entries[t->levels - 1]));
		p[FAR] = (double)memory;
		snprintf(why, n, "TLBs reach as far as memory does");
		if (*x * (double)t->page > (double)memory || *x > PAGES_MOST)
			return true;
	}
	return false;
}

static void study_latencies(struct study *s, const struct tlbs *t)
{
	double p[POINT_PARAMS] = {[PAGE] = (double)t->page, [HOT] = 1}, x = 0, l1, l2, far, grain = 1;
	bool has_l1 = study_number(s, "cache.global.l1.latency", &l1),
	     has_l2 = study_number(s, "cache.global.l2.latency", &l2);
	struct sequence q = {0}, near = {0};
	struct seen seen = {0};
	char why[240];

	if (hindered(s, t, &x, p, &l2, &far, why, sizeof(why))) {
		study_verdict(s, spectrum_key, VERDICT_INCONCLUSIVE, "spectrum", "%s", why);
		l1_cost_study(s, &(struct l1_cost_ask){.why = why});
		return;
	}
	study_number(s, "clock.granularity", &grain);
	l1_cost_study(s, &(struct l1_cost_ask){t->page, (uint32_t)x, (uint32_t)p[MIDDLE], has_l2, NULL});
	p[KIND] = PAST;
	const uint32_t *past_ticks = ticks_of(s, SPECTRUM, x, p, &q, why, sizeof(why));
	const double only[POINT_PARAMS] = {[PAGE] = (double)t->page, [HOT] = 1, [KIND] = NEAR};
	const uint32_t *near_ticks = has_l1 ? ticks_of(s, SPECTRUM, 0, only, &near, why, sizeof(why)) : NULL;
	if (study_pending(s))
		return;
	/* Without a cache both are accesses to memory, and rows that stay open tell one kind from the other. */
	if (past_ticks && !has_l2 &&
	    !(fabs(spectrum_where(past_ticks, &q, near_at_hand, grain) -
		   spectrum_where(past_ticks, &q, far_at_hand, grain)) <= APART)) {
		study_verdict(
		    s, spectrum_key, VERDICT_INCONCLUSIVE, "spectrum",
		    "loads of one place and of several have not the same latency, although no cache holds them");
		return;
	}
	bool all = past_ticks && (near_ticks || !has_l1) &&
		   add(&seen, past_ticks, &q, has_l2 ? l2 : far, grain, why, sizeof(why)) &&
		   (!has_l1 || add(&seen, near_ticks, &near, l1, grain, why, sizeof(why)));
	const double deep = all ? spectrum_where(past_ticks, &q, far_at_hand, grain) -
				      spectrum_where(past_ticks, &q, near_at_hand, grain)
				: 0;
	if (all && has_l2 && deep < (far - l2) / 2) {
		snprintf(why, sizeof why,
			 "places that nothing has read yet answer %.1f cycles after the L2, and memory %.1f", deep,
			 far - l2);
		all = false;
	}
	if (all)
		spectrum_conclude(s, spectrum_key, seen.v, seen.n, "spectrum");
	else
		study_verdict(s, spectrum_key, VERDICT_INCONCLUSIVE, "spectrum", "%s", why);
}

static void study_window(struct study *s, const struct tlbs *t)
{
	uint64_t memory = study_device(s)->memory_bytes / 16 * 15, page = t->page;
	struct sequence q;
	char why[240];

	if (t->none) {
		study_verdict(s, window_key, VERDICT_ABSENT, "window", "no access waits for a translation");
		return;
	}
	while (memory / page > PAGES_MOST)
		page *= 2;
	uint32_t pages = (uint32_t)(memory / page);
	if (pages < 16 || (double)pages * (double)page < 2 * t->reach) {
		study_verdict(s, window_key, VERDICT_INCONCLUSIVE, "window", "TLBs reach as far as memory does");
		return;
	}
	const double p[POINT_PARAMS] = {[PAGE] = (double)page, [KIND] = PAST};
	const uint32_t *ticks = ticks_of(s, WINDOW, pages, p, &q, why, sizeof(why));
	if (study_pending(s))
		return;
	if (!ticks) {
		study_verdict(s, window_key, VERDICT_INCONCLUSIVE, "window", "%s", why);
		return;
	}
	spectrum_window(s, window_key, ticks + TRACE_LEAD, pages, page);
}

static void study_spectrum(struct study *s)
{
	struct tlbs t;

	if (!tlbs_of(s, &t)) {
		study_verdict(s, spectrum_key, VERDICT_INCONCLUSIVE, "spectrum", "the TLBs are not known");
		study_verdict(s, window_key, VERDICT_INCONCLUSIVE, "window", "the TLBs are not known");
		l1_cost_study(s, &(struct l1_cost_ask){.why = "the TLBs are not known"});
		return;
	}
	study_latencies(s, &t);
	study_window(s, &t);
}

static int draw_spectrum(const struct study *s, struct figure_list *out)
{
	const struct series *series = study_series(s, SPECTRUM);

	for (size_t i = 0; series && i < series->count; i++) {
		const struct point *pt = &series->points[i];
		if (pt->outcome != OUTCOME_OK || (int)pt->p[KIND] != PAST || pt->words_per_repeat < TRACE_HEAD + 64)
			continue;
		uint32_t n = pt->words_per_repeat - TRACE_HEAD;
		double *x = ARENA_ARRAY(study_arena((struct study *)s), 2 * (size_t)n, double), *y = x + n;
		struct figure *f =
		    x ? figures_new(out, "latency-spectrum", "Global memory: every access of one chain") : NULL;
		if (!f)
			return -ENOMEM;
		for (uint32_t k = 0; k < n; k++)
			y[k] = pt->y[TRACE_HEAD + k] & CHASE_CAP;
		const struct finding *known = study_finding(s, spectrum_key);
		const bool is_known = known && known->verdict == VERDICT_MEASURED && known->value.kind == VALUE_ARRAY;
		const double nearest = stat_quantile(y, n, NEAREST, x); /* x is scratch yet */
		for (uint32_t k = 0; k < n; k++) {
			x[k] = k;
			y[k] += (is_known ? known->value.array[0] : 0) - nearest;
		}
		f->x = (struct figure_axis){.label = "access", .unit = "count"};
		f->y = (struct figure_axis){.unit = "cycles"};
		snprintf(f->y.label, sizeof(f->y.label), "%s", is_known ? "latency" : "beyond the nearest");
		for (unsigned k = 0; is_known && k < known->value.array_count && k < FIGURE_NOTES; k++) {
			char text[32];
			snprintf(text, sizeof(text), "%.0f", known->value.array[k]);
			figure_note(f, false, known->value.array[k], text);
		}
		return figure_add(f, "past the L1", MARK_POINTS, x, y, NULL, n);
	}
	return 0;
}

static const char *const claims[] = {spectrum_key,
				     window_key,
				     "cache.global.l1.latency_spectrum",
				     "cache.global.l1.miss_cost",
				     "cache.global.l1.fill_cost",
				     NULL};
static const char *const needs[] = {"clock", "global_cache", "tlb", NULL};

const struct probe probe_spectrum = {
    .name = "spectrum",
    .asks = "Which latencies can a load of global memory have, and of how much memory are translations active?",
    .source = "Mei 2014, 3.2, Table 3 and 4.2; the chain is put together from what TLBs and caches were found to hold",
    .how = "One chain reads pages and lines in an order in which each kind of access occurs many times. The "
	   "data are in a cache or not, the translation in the first TLB, in the second one or in none. Its "
	   "page table entry is in a cache or not. Each kind's own latency is counted from that of a hit, which "
	   "is known. Another chain, of more lines than the L1 holds, is read with the L1 asked first and past "
	   "it: what asking in vain costs. Then laps over all pages of the memory show whether there are pages "
	   "at which every lap stalls.",
    .fooled =
	"Kinds of access that turn out to be of several latencies, by rows of the memory or distances: then nothing is "
	"concluded. A stall that falls on a page by chance: it has to be there in every lap, and evenly apart.",
    .figure = "latency-spectrum",
    .needs = needs,
    .claims = claims,
    .experiments = experiments,
    .experiment_count = sizeof(experiments) / sizeof(experiments[0]),
    .study = study_spectrum,
    .draw = draw_spectrum,
};
