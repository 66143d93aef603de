/* Latency of a load from shared memory, and whether a cache stands in front of it.
 *
 * A ring of addresses is walked by one thread. Three lengths of the walk give two slopes, so the clock's cost cancels.
 * The walk is repeated over footprints from a few words to all of a block's shared memory, at several strides. A cache
 * would make small footprints faster than large ones. */
#include "probe/probe.h"
#include "stat/stat.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { ITERATIONS = 5, HEADER_WORDS = 2, UNIT = 64, LENGTHS = 3, FOOTPRINTS_MAX = 24 };
enum { SHORT_UNIT = UNIT / 4 };
enum { EXPERIMENT_RING };

#define BENT	   0.01 /* two slopes that differ by more are not of one line */
#define BENT_LEAST 0.25 /* cycles */

/* x: footprint in bytes; p[0]: stride in bytes; p[1]: loads; p[2]: the SM. */
static int setup_ring(const struct study *s, double x, const double *p, struct job *j)
{
	const uint32_t stride = (uint32_t)p[0], bytes = (uint32_t)x;
	j->template_path = "probes/shared_memory/ring.ptx";
	job_param(j, "N", (long long)p[1]);
	job_param(j, "ITER", ITERATIONS);
	snprintf(j->launch.entry, sizeof j->launch.entry, "ring_walk");
	j->launch.block[0] = j->launch.block[1] = j->launch.block[2] = 1;
	j->launch.shared_bytes = bytes;
	job_output(j, HEADER_WORDS + 2 * ITERATIONS + 1);
	job_pin(j, study_device(s), (uint32_t)p[2]);
	job_arg_u32(j, bytes / stride);
	job_arg_u32(j, stride);
	j->launch.repeats = 2;
	j->launch.warmups = 1;
	j->check.cls = NATIVE_LOAD_SHARED;
	j->check.region = 0;
	j->check.min = j->check.max = (unsigned)p[1];
	j->check.others = 4;
	return 0;
}

static const struct experiment experiments[] = {
    [EXPERIMENT_RING] = {.name = "ring",
			 .axis = "footprint",
			 .unit = "bytes",
			 .params = {"stride", "loads", "sm"},
			 .setup = setup_ring},
};

struct cycles {
	double median, lo, hi;
	bool closed; /* the walk ended where it had to */
};

static struct cycles point_cycles(const struct point *pt)
{
	double v[ITERATIONS * 8] = {0}, scratch[ITERATIONS * 8];
	size_t n = 0;
	struct cycles c = {.closed = true};
	const uint32_t count = (uint32_t)(pt->x / pt->p[0]), stride = (uint32_t)pt->p[0];
	const uint32_t end = (uint32_t)((uint64_t)pt->p[1] * ITERATIONS % count * stride);
	for (unsigned r = 0; r < pt->repeats && r < 8; r++) {
		const uint32_t *w = pt->y + (size_t)r * pt->words_per_repeat + HEADER_WORDS;
		for (unsigned i = 1; i < ITERATIONS; i++)
			v[n++] = (uint32_t)(w[2 * i + 1] - w[2 * i]);
		c.closed = c.closed && w[2 * ITERATIONS] == end;
	}
	c.median = stat_median(v, n, scratch);
	c.lo = c.hi = v[0];
	for (size_t i = 1; i < n; i++) {
		c.lo = fmin(c.lo, v[i]);
		c.hi = fmax(c.hi, v[i]);
	}
	return c;
}

/* The cycles of a load by three lengths of a walk; a: of the shorter two, b: of the longer two. */
struct grade {
	double value, lo, hi, a, b;
};

static struct grade grade_of(const struct cycles *c, unsigned unit)
{
	struct grade g = {.a = (c[1].median - c[0].median) / unit, .b = (c[2].median - c[1].median) / unit};
	const double spread = ((c[2].hi - c[2].lo) + (c[0].hi - c[0].lo)) / (4.0 * unit);
	g.value = (g.a + g.b) / 2;
	g.lo = fmin(fmin(g.a, g.b), g.value - spread);
	g.hi = fmax(fmax(g.a, g.b), g.value + spread);
	return g;
}

static bool is_bent(const struct grade *g)
{
	return fabs(g->b - g->a) > fmax(BENT_LEAST, BENT * g->value);
}

static bool is_straight(const struct grade *g)
{
	return g->value > 0 && g->hi - g->lo <= fmax(1.0, 0.04 * g->value);
}

static const struct point *ask_ring(struct study *s, double footprint, double stride, unsigned loads, uint32_t sm)
{
	const double p[POINT_PARAMS] = {stride, loads, sm};
	return study_ask(s, EXPERIMENT_RING, footprint, p);
}

/* The three lengths of a walk; false: one of them is not there, or went wrong. */
static bool ask_lengths(struct study *s, unsigned unit, const struct point **out)
{
	bool all = true;
	for (unsigned i = 0; i < LENGTHS; i++) {
		out[i] = ask_ring(s, 256, 4, unit * (i + 1), 0);
		all = all && out[i] && out[i]->outcome == OUTCOME_OK;
	}
	return all;
}

/* False: a walk did not end where the ring leads. */
static bool cycles_of(const struct point *const *length, struct cycles *out)
{
	bool closed = true;
	for (unsigned i = 0; i < LENGTHS; i++) {
		out[i] = point_cycles(length[i]);
		closed = closed && out[i].closed;
	}
	return closed;
}

static void verdict_both(struct study *s, enum verdict v, const char *why)
{
	study_verdict(s, "shared.latency", v, "ring", "%s", why);
	study_verdict(s, "shared.cached", v, "ring", "%s", why);
}

static void study_shared(struct study *s)
{
	const struct device_info *d = study_device(s);
	static const double strides[] = {4, 64};
	const struct point *length[LENGTHS], *sweep[2 * FOOTPRINTS_MAX];
	unsigned points = 0;
	const struct point *bad = NULL;
	bool all;
	/* Some of the block's shared memory is taken by the prologue's word and, on old parts, by parameters. */
	const double most =
	    d->shared_per_block > 2048 ? (double)d->shared_per_block - 1024 : (double)d->shared_per_block / 2;

	all = ask_lengths(s, UNIT, length);
	for (unsigned i = 0; i < LENGTHS; i++)
		if (length[i] && length[i]->outcome != OUTCOME_OK)
			bad = length[i];
	for (unsigned k = 0; k < 2; k++)
		for (double f = 128; points < 2 * FOOTPRINTS_MAX; f = fmin(2 * f, most)) {
			const double footprint = floor(f / strides[k]) * strides[k];
			sweep[points] = ask_ring(s, footprint, strides[k], 3 * UNIT, 0);
			all = all && sweep[points];
			if (sweep[points] && sweep[points]->outcome != OUTCOME_OK)
				bad = sweep[points];
			points++;
			if (f >= most)
				break;
		}
	if (study_pending(s))
		return;
	if (!all || bad) {
		verdict_both(s, bad && bad->outcome == OUTCOME_CRASH ? VERDICT_FAILED : VERDICT_INCONCLUSIVE,
			     bad ? (bad->message[0] ? bad->message : outcome_name(bad->outcome))
				 : "points are missing");
		return;
	}
	struct cycles c[LENGTHS];
	unsigned unit = UNIT;
	if (!cycles_of(length, c)) {
		verdict_both(s, VERDICT_INCONCLUSIVE, "the walk did not end where the ring leads");
		return;
	}
	struct grade g = grade_of(c, unit);
	const double value = g.value, lo = g.lo, hi = g.hi;
	if (is_bent(&g)) {
		/* A walk whose code has left the nearest instruction cache takes longer a load than a shorter one. */
		unit = SHORT_UNIT;
		all = ask_lengths(s, unit, length);
		if (study_pending(s))
			return;
		if (all && cycles_of(length, c))
			g = grade_of(c, unit);
	}
	if (is_bent(&g) || !is_straight(&g))
		study_verdict(s, "shared.latency", VERDICT_INCONCLUSIVE, "ring",
			      "time does not grow linearly with the walk: %.2f to %.2f cycles a load", g.lo, g.hi);
	else
		study_measured_number(s, "shared.latency", g.value, g.lo, g.hi, "sm",
				      "slope of a walk along a pointer ring, one thread", "ring:256",
				      "walks of %u, %u and %u loads", unit, 2 * unit, 3 * unit);

	/* The same number of loads takes the same time at every footprint and stride unless something remembers. */
	double least = INFINITY, most_cycles = 0, at = 0;
	for (unsigned i = 0; i < points; i++) {
		const struct cycles k = point_cycles(sweep[i]);
		if (!k.closed) {
			study_verdict(s, "shared.cached", VERDICT_INCONCLUSIVE, "ring",
				      "the walk over %.0f bytes did not end where the ring leads", sweep[i]->x);
			return;
		}
		least = fmin(least, k.median);
		if (k.median > most_cycles) {
			most_cycles = k.median;
			at = sweep[i]->x;
		}
	}
	const double grows = (most_cycles - least) / (3.0 * UNIT), noise = fmax(0.5, hi - lo);
	char text[64];
	snprintf(text, sizeof text, "ring:%.0f", at);
	if (grows <= noise)
		study_text(
		    s, "shared.cached", "no", "equal walks over growing footprints", "ring",
		    "from 128 to %.0f bytes at strides of 4 and 64 bytes a load takes the same time within %.2f cycles",
		    most, grows);
	else if (grows > 0.1 * value + 2)
		study_text(s, "shared.cached", "yes", "equal walks over growing footprints", text,
			   "a load takes %.1f cycles more at %.0f bytes", grows, at);
	else
		study_verdict(s, "shared.cached", VERDICT_INCONCLUSIVE, text,
			      "a load takes %.2f cycles more at %.0f bytes: neither equal nor a miss", grows, at);
}

static const char *const claims[] = {"shared.latency", "shared.cached", NULL};

/* What a walk costs besides its loads: what two lengths of one footprint say. NAN: there are no two. */
static double clock_cost(const struct series *series)
{
	for (size_t i = 0; i < series->count; i++) {
		const struct point *few = &series->points[i];
		for (size_t k = 0; few->outcome == OUTCOME_OK && few->p[1] == UNIT && k < series->count; k++) {
			const struct point *many = &series->points[k];
			if (many->outcome == OUTCOME_OK && many->x == few->x && many->p[0] == few->p[0] &&
			    many->p[2] == few->p[2] && many->p[1] == 3 * UNIT)
				return (3 * point_cycles(few).median - point_cycles(many).median) / 2;
		}
	}
	return NAN;
}

static int draw_shared(const struct study *s, struct figure_list *out)
{
	const struct series *series = study_series(s, EXPERIMENT_RING);
	if (!series)
		return 0;
	struct figure *f = figures_new(out, "shared-latency", "Shared memory: latency against footprint");
	if (!f)
		return -1;
	f->x = (struct figure_axis){.label = "footprint", .unit = "bytes", .log2 = true};
	f->y = (struct figure_axis){.label = "latency", .unit = "cycles"};
	double x[FOOTPRINTS_MAX], y[FOOTPRINTS_MAX];
	const double cost = clock_cost(series);
	size_t n = 0;
	for (size_t i = 0; i < series->count && n < FOOTPRINTS_MAX; i++) {
		const struct point *pt = &series->points[i];
		if (pt->outcome != OUTCOME_OK || pt->p[0] != 4 || pt->p[1] != 3 * UNIT)
			continue;
		x[n] = pt->x;
		y[n++] = (point_cycles(pt).median - cost) / (3.0 * UNIT);
	}
	f->clock_within = isnan(cost);
	return figure_add(f, "stride 4 bytes", MARK_LINE, x, y, NULL, n);
}

const struct probe probe_shared_memory = {
    .name = "shared_memory",
    .quick = true,
    .asks = "How long does a load from shared memory take, and is shared memory cached?",
    .source = "Wong 2010, IV-F; the same pointer walk, with slopes instead of one average",
    .how = "One thread follows a ring of addresses in shared memory; three lengths of the walk give two slopes, "
	   "and the cost of the clock cancels. The walk is repeated over footprints from a few words to all that"
	   " a block can have, at several strides. A cache would make small footprints faster than large ones.",
    .fooled = "A compiler that sees through the ring: its addresses come from memory, and the walk has to end where"
	      " it must. A footprint that was not the one that was asked for: what the kernel's prologue takes of "
	      "shared memory is left out. A walk whose code leaves the nearest instruction cache:"
	      " where three lengths do not lie on one line, shorter ones are walked. Noise: the spread over footprints "
	      "is compared with that of repeats of one"
	      " of them.",
    .figure = "shared-latency",
    .claims = claims,
    .experiments = experiments,
    .experiment_count = sizeof experiments / sizeof *experiments,
    .study = study_shared,
    .draw = draw_shared,
};
