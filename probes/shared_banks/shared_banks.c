/* Bank conflicts of shared memory: what a load takes when the threads of a warp read words at a stride. Mei 2014, Listing 1. */
#include "probe/probe.h"
#include "stat/stat.h"
#include <assert.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
	ITERATIONS = 5,
	HEAD = 2,
	SHORT = 32,
	LONG = 96,
	STRIDES = 65,
	HALF = 32,
	LANES_MOST = 64,
	MODES = 2,
	ODD_MOST = 7
};
#define OTHER_MODE 8 /* bytes */
#define SPARE	   2048u
#define FITS	   0.3 /* cycles that a load may differ from what an arrangement of banks says ... */
#define FITS_SHARE 0.01

/* x: words between threads; p[0]: loads; p[1]: the SM; p[2]: bytes after which banks follow each other, 0 = as the device has it. */
static int setup_conflict(const struct study *s, double x, const double *p, struct job *j)
{
	const struct device_info *d = study_device(s);
	uint32_t stride = (uint32_t)x * 4, bytes = stride * (d->warp_size - 1) + 4;

	if (bytes + SPARE > d->shared_per_block)
		return -ENOTSUP;
	j->template_path = "probes/shared_banks/conflict.ptx";
	job_param(j, "N", (long long)p[0]);
	job_param(j, "ITER", ITERATIONS);
	snprintf(j->launch.entry, sizeof j->launch.entry, "conflict");
	j->launch.block[0] = d->warp_size;
	j->launch.block[1] = j->launch.block[2] = 1;
	j->launch.shared_bytes = (bytes + 15) / 16 * 16;
	j->launch.bank_bytes = (uint32_t)p[2];
	job_output(j, HEAD + 2 * ITERATIONS + 2);
	job_pin(j, d, (uint32_t)p[1]);
	job_arg_u32(j, stride);
	j->launch.warmups = 1;
	j->check.cls = NATIVE_LOAD_SHARED;
	j->check.region = 0;
	j->check.min = j->check.max = (unsigned)p[0];
	j->check.others = 4;
	return 0;
}

enum { EXPERIMENT_CONFLICT };
static const struct experiment experiments[] = {
    [EXPERIMENT_CONFLICT] = {.name = "conflict",
			     .axis = "stride",
			     .unit = "words",
			     .params = {"loads", "sm", "mode"},
			     .setup = setup_conflict},
};

static double ticks_of(const struct point *pt)
{
	double v[ITERATIONS], scratch[ITERATIONS];

	for (unsigned i = 0; i < ITERATIONS; i++)
		v[i] = (uint32_t)(pt->y[HEAD + 2 * i + 1] - pt->y[HEAD + 2 * i]);
	return stat_median(v, ITERATIONS, scratch);
}

/* Cycles of one load at this stride; NAN where it was not measured. */
static double load_cycles(struct study *s, unsigned stride, unsigned mode, uint32_t *base, const char **why)
{
	const double few[POINT_PARAMS] = {SHORT, 0, mode}, many[POINT_PARAMS] = {LONG, 0, mode};
	const struct point *a = study_ask(s, EXPERIMENT_CONFLICT, stride, few),
			   *b = study_ask(s, EXPERIMENT_CONFLICT, stride, many);

	if (!a || !b)
		return NAN;
	if (a->outcome != OUTCOME_OK || b->outcome != OUTCOME_OK) {
		*why = point_why(a->outcome != OUTCOME_OK ? a : b);
		return NAN;
	}
	if (a->y[HEAD + 2 * ITERATIONS] || b->y[HEAD + 2 * ITERATIONS]) {
		*why = "the first thread did not end where it has to";
		return NAN;
	}
	*base = a->y[HEAD + 2 * ITERATIONS + 1];
	return (ticks_of(b) - ticks_of(a)) / (LONG - SHORT);
}

/* ---- arrangements of banks ---- */
struct banks {
	unsigned banks, width, mode, lanes; /* lanes: threads that one access serves at most */
	uint32_t base;			    /* where the first thread's word lies */
};

/* Passes beyond the first of each group of threads: a bank gives one row at a time. */
static unsigned extra_passes(const struct banks *b, unsigned threads, unsigned stride)
{
	unsigned row = b->banks * b->width, group = row / 4, extra = 0;

	assert(b->banks && b->mode && row);
	group = group > b->banks ? b->banks : group;
	group = group > b->lanes ? b->lanes : group;
	group = group > HALF ? HALF : group;
	for (unsigned first = 0; first < threads; first += group) {
		unsigned most = 0;
		for (unsigned i = first; i < first + group && i < threads; i++) {
			unsigned at = b->base + i * stride * 4, bank = at / b->mode % b->banks, rows = 0;
			/* Distinct rows of this bank, counted at the last thread that asks for each. */
			for (unsigned k = first; k < first + group && k < threads; k++) {
				unsigned other = b->base + k * stride * 4;
				bool again = false;
				if (other / b->mode % b->banks != bank)
					continue;
				for (unsigned n = k + 1; n < first + group && n < threads && !again; n++) {
					unsigned last = b->base + n * stride * 4;
					again = last / b->mode % b->banks == bank && last / row == other / row;
				}
				rows += !again;
			}
			most = rows > most ? rows : most;
		}
		extra += most ? most - 1 : 0;
	}
	return extra;
}

/* Cycles that a pass costs when the banks are arranged so; NAN: they are not. */
static double cost_of(const struct banks *b, unsigned threads, const double *cycles, unsigned strides)
{
	double x[STRIDES], y[STRIDES], slope, base;
	unsigned n = 0;

	for (unsigned i = 0; i < strides; i++)
		if (isfinite(cycles[i])) {
			x[n] = extra_passes(b, threads, i);
			y[n++] = cycles[i];
		}
	if (n < 8 || !stat_line(x, y, n, &slope, &base) || !(slope > 0))
		return NAN;
	for (unsigned i = 0; i < n; i++)
		if (fabs(base + slope * x[i] - y[i]) > FITS + FITS_SHARE * y[i])
			return NAN;
	return slope;
}

#define KEYS 5
static const char *const keys[KEYS] = {"shared.banks", "shared.bank_width", "shared.conflict_cost", "shared.bank_mode",
				       "shared.broadcast"};

static void all(struct study *s, enum verdict v, const char *why)
{
	for (size_t i = 0; i < KEYS; i++)
		study_verdict(s, keys[i], v, "conflict", "%s", why);
}

struct fits {
	struct banks first;
	bool any, banks_differ, width_differs, mode_differs;
	double least, most; /* cost of a pass */
};

static struct fits eliminate(uint32_t base, unsigned threads, const double *cycles, unsigned strides)
{
	struct fits f = {.least = INFINITY, .most = -INFINITY};

	for (unsigned banks = 8; banks <= 128; banks *= 2)
		for (unsigned width = 4; width <= 16; width *= 2)
			for (unsigned mode = 4; mode <= width; mode *= 2)
				for (unsigned lanes = 8; lanes <= HALF; lanes *= 2) {
					const struct banks b = {banks, width, mode, lanes, base};
					double cost = cost_of(&b, threads, cycles, strides);
					if (isnan(cost))
						continue;
					if (!f.any)
						f.first = b;
					f.any = true;
					f.banks_differ |= banks != f.first.banks;
					f.width_differs |= width != f.first.width;
					f.mode_differs |= mode != f.first.mode;
					f.least = fmin(f.least, cost);
					f.most = fmax(f.most, cost);
				}
	return f;
}

/* Even strides of few words, at which Mei lays both ways to arrange Kepler's banks beside each other. */
static const unsigned ways_at[] = {2, 4, 6};

/* cycles: of one load at each stride, of either mode; cost: of a pass. All threads that are served together wait for the bank that most rows are
 * asked of. */
static void conclude_ways(struct study *s, const struct fits *f, unsigned threads, const double cycles[MODES][STRIDES],
			  unsigned strides, bool wide)
{
	const double cost = (f->least + f->most) / 2;
	unsigned group = f->first.lanes < f->first.banks ? f->first.lanes : f->first.banks;
	group = group < threads ? group : threads;
	for (unsigned i = 0; i < sizeof ways_at / sizeof *ways_at && ways_at[i] < strides; i++)
		for (unsigned mode = 0; mode < (wide ? 2u : 1u); mode++) {
			char key[64];
			const double more = cycles[mode][ways_at[i]] - cycles[0][1],
				     ways = 1 + more / cost / ((double)threads / group);
			struct banks here = f->first, aligned;
			here.mode = mode ? OTHER_MODE : here.mode;
			aligned = here;
			aligned.base = 0;
			snprintf(key, sizeof key, "shared.stride%u.%s", ways_at[i], mode ? "wide_ways" : "ways");
			/* Words of one row of banks conflict where the array begins within a row. */
			if (extra_passes(&here, threads, ways_at[i]) != extra_passes(&aligned, threads, ways_at[i]))
				study_verdict(
				    s, key, VERDICT_INCONCLUSIVE, "conflict",
				    "the words began %u bytes into a row of banks, and that costs passes of its own",
				    (unsigned)(here.base % (here.banks * here.width)));
			else if (fabs(ways - round(ways)) < 0.1)
				study_measured_number(s, key, round(ways), round(ways), round(ways), "",
						      "a load's time over that of a pass", "conflict",
						      "%.2f cycles more than without a conflict, of %.2f a pass", more,
						      cost);
			else
				study_verdict(s, key, VERDICT_INCONCLUSIVE, "conflict",
					      "%.2f cycles more than without a conflict are no whole passes of %.2f",
					      more, cost);
		}
}

/* Powers of two, and three, five and seven times these, tell arrangements of banks from each other; other strides are drawn. */
static bool is_asked(const struct study *s, unsigned stride)
{
	while (stride && stride % 2 == 0)
		stride /= 2;
	return stride <= ODD_MOST || study_for_figures(s);
}

static void study_banks(struct study *s)
{
	const struct device_info *d = study_device(s);
	unsigned strides = 0, asked = 0, threads = d->warp_size < LANES_MOST ? d->warp_size : LANES_MOST;
	double both[MODES][STRIDES], *cycles = both[0];
	const char *why = "points are missing";
	uint32_t base = 0;

	while (strides < STRIDES && strides * 4 * (d->warp_size - 1) + 4 + SPARE <= d->shared_per_block)
		strides++;
	for (unsigned i = 0; i < strides; i++)
		cycles[i] = is_asked(s, i) ? load_cycles(s, i, 0, &base, &why) : NAN;
	/* Strides that tell whether banks can follow each other otherwise; that is drawn, too. */
	bool other = false;
	static const unsigned telling[] = {2, 3, 4, 6};
	for (unsigned i = 0; i < sizeof telling / sizeof *telling && telling[i] < strides; i++) {
		const char *ignored;
		double is = load_cycles(s, telling[i], OTHER_MODE, &base, &ignored);
		other |= fabs(is - cycles[telling[i]]) > 1;
	}
	for (unsigned i = 0; i < strides && other && !study_pending(s); i++) {
		const char *ignored;
		both[1][i] = is_asked(s, i) ? load_cycles(s, i, OTHER_MODE, &base, &ignored) : NAN;
	}
	if (study_pending(s))
		return;
	if (strides < 8 || isnan(cycles[0]) || isnan(cycles[1])) {
		all(s, VERDICT_INCONCLUSIVE, strides < 8 ? "a block has too little shared memory" : why);
		return;
	}
	struct fits f = eliminate(base, threads, cycles, strides);
	for (unsigned i = 0; i < strides; i++)
		asked += isfinite(cycles[i]);
	if (fabs(cycles[0] - cycles[1]) <= FITS + FITS_SHARE * cycles[1])
		study_text(s, "shared.broadcast", "yes", "one word for all threads, and one for each", "conflict:0",
			   "a load takes %.2f cycles when all threads read one word, %.2f when each reads its own",
			   cycles[0], cycles[1]);
	else
		study_verdict(s, "shared.broadcast", VERDICT_INCONCLUSIVE, "conflict:0",
			      "a load takes %.2f cycles when all threads read one word, %.2f when each reads its own",
			      cycles[0], cycles[1]);
	if (!f.any) {
		for (size_t i = 0; i < KEYS - 1; i++)
			study_verdict(s, keys[i], VERDICT_INCONCLUSIVE, "conflict",
				      "no arrangement of banks explains what loads take at strides up to %u words",
				      strides - 1);
		return;
	}
	if (f.most - f.least <= 0.04 * f.least && !f.banks_differ)
		conclude_ways(s, &f, threads, (const double(*)[STRIDES])both, strides, other);
	static const char method[] = "arrangements of banks that explain the cost of every stride";
	if (f.banks_differ)
		study_verdict(s, keys[0], VERDICT_INCONCLUSIVE, "conflict",
			      "several numbers of banks explain every stride");
	else
		study_measured_number(s, keys[0], f.first.banks, f.first.banks, f.first.banks, "", method, "conflict",
				      "only %u banks explain strides from 0 to %u words", f.first.banks, strides - 1);
	if (f.width_differs)
		study_verdict(s, keys[1], VERDICT_INCONCLUSIVE, "conflict",
			      "several widths of banks explain every stride");
	else
		study_measured_number(s, keys[1], f.first.width, f.first.width, f.first.width, "", method, "conflict",
				      "only banks of %u bytes explain strides from 0 to %u words", f.first.width,
				      strides - 1);
	if (f.mode_differs)
		study_verdict(s, keys[3], VERDICT_INCONCLUSIVE, "conflict",
			      "banks that follow each other after several numbers of bytes explain every stride");
	else
		study_measured_number(
		    s, keys[3], f.first.mode, f.first.mode, f.first.mode, "", method, "conflict",
		    "only banks that follow each other every %u bytes explain strides from 0 to %u words", f.first.mode,
		    strides - 1);
	if (f.most - f.least > 0.04 * f.least)
		study_verdict(s, keys[2], VERDICT_INCONCLUSIVE, "conflict",
			      "a pass costs from %.2f to %.2f cycles, as banks are arranged", f.least, f.most);
	else
		study_measured_number(s, keys[2], (f.least + f.most) / 2, f.least * 0.99, f.most * 1.01, "sm",
				      "slope of a load's time over the passes that its most wanted bank needs",
				      "conflict", "loads at %u strides, of one warp", asked);
}

static int draw_banks(const struct study *s, struct figure_list *out)
{
	const struct series *series = study_series(s, EXPERIMENT_CONFLICT);
	static const char *const labels[MODES] = {"as the device has it", "banks of 8 bytes"};
	struct figure *f = NULL;

	for (unsigned mode = 0; series && mode < MODES; mode++) {
		double few[STRIDES], x[STRIDES], y[STRIDES];
		size_t n = 0;
		for (unsigned i = 0; i < STRIDES; i++)
			few[i] = NAN;
		for (unsigned pass = 0; pass < 2; pass++)
			for (size_t i = 0; i < series->count; i++) {
				const struct point *pt = &series->points[i];
				if (pt->outcome != OUTCOME_OK || pt->p[2] != mode * OTHER_MODE || pt->x >= STRIDES)
					continue;
				if (!pass && pt->p[0] == SHORT)
					few[(unsigned)pt->x] = ticks_of(pt);
				if (!pass || pt->p[0] != LONG || isnan(few[(unsigned)pt->x]) || n == STRIDES)
					continue;
				size_t at = n++;
				for (; at && x[at - 1] > pt->x; at--) {
					x[at] = x[at - 1];
					y[at] = y[at - 1];
				}
				x[at] = pt->x;
				y[at] = (ticks_of(pt) - few[(unsigned)pt->x]) / (LONG - SHORT);
			}
		if (n < 8)
			continue;
		if (!f) {
			f = figures_new(out, "shared-conflicts", "Shared memory: bank conflicts against stride");
			if (!f)
				return -ENOMEM;
			figure_key(f, "shared.*");
			f->x = (struct figure_axis){.label = "between the words of two threads", .unit = "words"};
			f->y = (struct figure_axis){.label = "one load of a warp", .unit = "cycles"};
		}
		int rc = figure_add(f, labels[mode], MARK_LINE, x, y, NULL, n);
		if (rc)
			return rc;
	}
	return 0;
}

static const char *const claims[] = {"shared.banks",
				     "shared.bank_width",
				     "shared.conflict_cost",
				     "shared.bank_mode",
				     "shared.broadcast",
				     "shared.stride*",
				     NULL};

const struct probe probe_shared_banks = {
    .name = "shared_banks",
    .asks = "How many banks has shared memory, how wide are they, and what does a conflict cost?",
    .source = "Mei 2014, Listing 1 and 4.1, Figures 5 and 7; every arrangement of banks is tried against every stride",
    .how = "The threads of one warp read words of shared memory at a stride from 0 to 64 words. "
	   "Two lengths of the chain of loads give what one load takes. An arrangement of banks "
	   "is their number, width and distance in bytes, and how many threads are served at a "
	   "time. Those that do not explain what every stride takes are dropped. If a launch can "
	   "have banks of 8 bytes, that is drawn beside it.",
    .fooled = "The array's beginning: rows of banks begin elsewhere, so the kernel says where it lies. "
	      "Arrangements that explain all strides alike: then nothing is concluded of what they differ in.",
    .figure = "shared-conflicts",
    .claims = claims,
    .experiments = experiments,
    .experiment_count = sizeof experiments / sizeof *experiments,
    .study = study_banks,
    .draw = draw_banks,
};
