/* How accurate the special functions are, over the intervals of Nickolls and Kirk, Figure B.6.1. */
#include "base/arena.h"
#include "base/rng.h"
#include "probe/probe.h"
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	THREADS = 256,
	SPREAD = 16384, /* arguments, one in each of as many equal parts of the interval */
	EDGES = 256,	/* parts of a table, or more, at whose ends ... */
	EDGE_RUN = 32,	/* ... so many neighbours are looked at */
	RUN = 8192,	/* neighbours at either end of the interval */
	WINDOW = 512,	/* neighbours where the error is largest */
	WINDOWS = 16,
	GROUP = 8, /* of SPREAD: their mean error is the table's, without what rounding adds */
	GROUPS = SPREAD / GROUP,
};
enum part { PART_SPREAD, PART_EDGES, PART_FIRST, PART_LAST, PART_WINDOW };
#define STEP   0x1p-23 /* from one argument to its neighbour */
#define DIGITS 24
#define SURE   3.3 /* deviations of a share that is drawn: one in a thousand is farther off */
/* How much larger the largest error among all arguments may be than among those that were looked at. Three runs of an
 * H200, which look at others, lay 0.06 ulp and 0.07 bits apart, and half as much again below what is published. */
#define UNSEEN 0.1

struct special {
	const char *name, *op;
	double from;
	uint32_t count; /* arguments of the interval */
	long double (*f)(long double);
	bool in_ulp; /* results have one last place, or nearly */
	int direction;
};

static long double reciprocal(long double x)
{
	return 1 / x;
}

static long double reciprocal_root(long double x)
{
	return 1 / sqrtl(x);
}

#define ARGUMENTS 0x800000u /* of an interval as long as 1 */
#define QUARTER	  13176795u /* of a quarter turn */
static const struct special functions[] = {
    {"rcp", "rcp", 1, ARGUMENTS, reciprocal, true, -1}, {"rsqrt", "rsqrt", 1, 2 * ARGUMENTS, reciprocal_root, true, -1},
    {"ex2", "ex2", 0, ARGUMENTS, exp2l, true, 1},	{"lg2", "lg2", 1, ARGUMENTS, log2l, false, 1},
    {"sin", "sin", 0, QUARTER, sinl, false, 1},		{"cos", "cos", 0, QUARTER, cosl, false, -1},
};
enum { FUNCTIONS = sizeof functions / sizeof *functions };

/* The n-th argument of the interval. Beyond 2, floats are twice as far apart. */
static float argument(const struct special *f, uint32_t n)
{
	if (f->from >= 1 && n >= ARGUMENTS)
		return (float)(2 + (n - ARGUMENTS) * (2 * STEP));
	return (float)(f->from + n * STEP);
}

static uint32_t part_count(enum part part)
{
	static const uint32_t counts[] = {SPREAD, EDGES * EDGE_RUN, RUN, RUN, WINDOW};
	return counts[part];
}

/* Which argument is the i-th of a part. from: of a window. */
static uint32_t place(const struct special *f, uint64_t seed, enum part part, uint32_t from, uint32_t i)
{
	struct rng r;
	uint64_t n = 0;
	switch (part) {
	case PART_SPREAD:
		rng_seed(&r, seed ^ (uint64_t)(f - functions) << 32 ^ i);
		n = ((uint64_t)i * f->count + rng_below(&r, f->count)) / SPREAD;
		break;
	case PART_EDGES:
		n = (uint64_t)(i / EDGE_RUN) * f->count / EDGES + i % EDGE_RUN;
		n = n >= EDGE_RUN / 2 ? n - EDGE_RUN / 2 : n;
		break;
	case PART_LAST:
		n = f->count - RUN + i;
		break;
	default:
		n = (uint64_t)from + i;
		break;
	}
	return n < f->count ? (uint32_t)n : f->count - 1;
}

/* x: the function; p[0]: the part; p[1]: its first argument, of a window. */
static int setup_special(const struct study *s, double x, const double *p, struct job *j)
{
	const struct special *f = &functions[(unsigned)x];
	const enum part part = (enum part)p[0];
	const uint32_t count = part_count(part), bytes = count * (uint32_t)sizeof(float);
	float *in = ARENA_ARRAY(j->arena, count, float);
	if (!in)
		return -ENOMEM;
	for (uint32_t i = 0; i < count; i++)
		in[i] = argument(f, place(f, study_seed(s), part, (uint32_t)p[1], i));
	j->template_path = "probes/sfu/sfu.ptx";
	job_param_text(j, "OP", f->op);
	snprintf(j->launch.entry, sizeof j->launch.entry, "special");
	j->launch.grid[0] = count / THREADS;
	j->launch.block[0] = THREADS;
	j->launch.grid[1] = j->launch.grid[2] = j->launch.block[1] = j->launch.block[2] = 1;
	job_output(j, count);
	struct launch_buffer *b = &j->launch.buffers[j->launch.buffer_count];
	*b = (struct launch_buffer){.space = BUFFER_GLOBAL, .bytes = bytes, .init = in, .init_bytes = bytes};
	job_arg_buffer(j, j->launch.buffer_count++, 0);
	j->launch.repeats = 1;
	return 0;
}

static const struct experiment experiments[] = {
    {.name = "special", .axis = "function", .unit = "number", .params = {"part", "first"}, .setup = setup_special},
};

/* ---- what came back, beside the truth ---- */

struct seen {
	uint64_t looked, spread, exact; /* arguments; of those of SPREAD, and rounded right */
	double error, ulp;		/* the largest */
	uint64_t neighbours;
	bool back; /* a step against the direction: */
	float back_at;
	double mean[GROUPS]; /* errors of SPREAD, by groups */
	bool strange;	     /* a result that is no number near the truth */
	float strange_at;
};

static float float_of(uint32_t bits)
{
	float v;
	memcpy(&v, &bits, sizeof v);
	return v;
}

static void look(struct seen *o, const struct special *f, uint64_t seed, const struct point *pt)
{
	const enum part part = (enum part)pt->p[0];
	uint32_t before = 0;
	float last = 0;
	for (uint32_t i = 0; i < part_count(part); i++) {
		const uint32_t n = place(f, seed, part, (uint32_t)pt->p[1], i);
		const float x = argument(f, n), v = float_of(pt->y[i]);
		const long double truth = f->f(x);
		const double error = (double)(v - truth);
		int exponent;
		frexpl(truth, &exponent);
		o->looked++;
		if (!(fabs(error) < 0x1p-10)) {
			o->strange = true;
			o->strange_at = x;
			continue;
		}
		o->error = fmax(o->error, fabs(error));
		o->ulp = fmax(o->ulp, fabs(ldexp(error, DIGITS - exponent)));
		if (part == PART_SPREAD) {
			o->spread++;
			o->exact += v == (float)truth;
			o->mean[i / GROUP] += error / GROUP;
		}
		if (i && n > before) {
			o->neighbours += n == before + 1;
			if (!o->back && (f->direction > 0 ? v < last : v > last)) {
				o->back = true;
				o->back_at = x;
			}
		}
		before = n;
		last = v;
	}
}

/* Finds the windows in which the table is worst: the groups of the largest mean errors, that of either sign first. */
static void windows_of(const struct seen *o, const struct special *f, uint32_t first[WINDOWS])
{
	bool taken[GROUPS] = {false};
	for (unsigned k = 0; k < WINDOWS; k++) {
		unsigned best = 0;
		double most = -1;
		for (unsigned g = 0; g < GROUPS; g++) {
			const double size = k & 1 ? -o->mean[g] : o->mean[g];
			if (!taken[g] && size > most) {
				most = size;
				best = g;
			}
		}
		taken[best] = true;
		first[k] = (uint32_t)(((uint64_t)best * GROUP + GROUP / 2) * f->count / SPREAD) - WINDOW / 2;
		if (first[k] > f->count - WINDOW)
			first[k] = f->count - WINDOW;
	}
}

/* Asks for all of a function's points. False: some are not there, and why says why where they never will be. */
static bool gather(struct study *s, unsigned which, struct seen *o, const char **why)
{
	const struct special *f = &functions[which];
	const struct point *pt[PART_LAST + 1 + WINDOWS];
	unsigned n = 0;
	memset(o, 0, sizeof *o);
	for (unsigned part = PART_SPREAD; part <= PART_LAST; part++) {
		const double p[POINT_PARAMS] = {part};
		pt[n++] = study_ask(s, 0, which, p);
	}
	for (unsigned k = 0; k < n; k++)
		if (!pt[k] || pt[k]->outcome != OUTCOME_OK) {
			*why = point_why(pt[k]);
			return false;
		}
	uint32_t first[WINDOWS];
	look(o, f, study_seed(s), pt[PART_SPREAD]);
	windows_of(o, f, first);
	for (unsigned k = 0; k < WINDOWS; k++) {
		const double p[POINT_PARAMS] = {PART_WINDOW, first[k]};
		pt[n++] = study_ask(s, 0, which, p);
	}
	for (unsigned k = PART_EDGES; k < n; k++) {
		if (!pt[k] || pt[k]->outcome != OUTCOME_OK) {
			*why = point_why(pt[k]);
			return false;
		}
		look(o, f, study_seed(s), pt[k]);
	}
	return true;
}

/* ---- conclusions ---- */

static const char method[] = "results of single arguments beside exact ones";

static void conclude_error(struct study *s, const struct special *f, const struct seen *o)
{
	char key[64];
	const double bits = -log2(o->error);
	snprintf(key, sizeof key, "sfu.%s.good_bits", f->name);
	study_likely_number(s, key, bits, bits - UNSEEN, bits, "card", method, "special",
			    "%llu of %u arguments, most of them where the error is largest; others were not looked at",
			    (unsigned long long)o->looked, f->count);
	if (!f->in_ulp)
		return;
	snprintf(key, sizeof key, "sfu.%s.max_ulp", f->name);
	study_likely_number(s, key, o->ulp, o->ulp, o->ulp + UNSEEN, "card", method, "special",
			    "%llu of %u arguments, most of them where the error is largest; others were not looked at",
			    (unsigned long long)o->looked, f->count);
	snprintf(key, sizeof key, "sfu.%s.exact_ratio", f->name);
	const double share = (double)o->exact / (double)o->spread,
		     off = SURE * sqrt(fmax(share * (1 - share), 1.0 / (double)o->spread) / (double)o->spread);
	study_measured_number(s, key, share, fmax(0, share - off), fmin(1, share + off), "card", method, "special",
			      "%llu of %llu arguments, one drawn from each of as many equal parts of the interval",
			      (unsigned long long)o->exact, (unsigned long long)o->spread);
}

static void conclude(struct study *s, const struct special *f, const struct seen *o, const char *why)
{
	static const char *const properties[] = {"good_bits", "monotonic", "max_ulp", "exact_ratio"};
	char key[64];
	for (unsigned k = 0; (why || o->strange) && k < (f->in_ulp ? 4u : 2u); k++) {
		snprintf(key, sizeof key, "sfu.%s.%s", f->name, properties[k]);
		if (why)
			study_verdict(s, key, VERDICT_INCONCLUSIVE, "special", "%s", why);
		else
			study_verdict(s, key, VERDICT_INCONCLUSIVE, "special",
				      "the result of %.9g is nowhere near the truth", (double)o->strange_at);
	}
	if (why || o->strange)
		return;
	conclude_error(s, f, o);
	snprintf(key, sizeof key, "sfu.%s.monotonic", f->name);
	if (o->back)
		study_text(s, key, "no", method, "special",
			   "the result of %.9g steps back from that of an argument before it", (double)o->back_at);
	else
		study_likely_text(
		    s, key, "yes", method, "special",
		    "no step back between %llu neighbours, at the ends of %d parts and where errors are largest",
		    (unsigned long long)o->neighbours, EDGES);
}

static void study_sfu(struct study *s)
{
	struct seen *o = ARENA_ARRAY(study_arena(s), FUNCTIONS, struct seen);
	const char *why[FUNCTIONS] = {NULL};
	for (unsigned k = 0; o && k < FUNCTIONS; k++)
		gather(s, k, &o[k], &why[k]);
	if (!o || study_pending(s))
		return;
	for (unsigned k = 0; k < FUNCTIONS; k++)
		conclude(s, &functions[k], &o[k], why[k]);
}

/* The largest error in each of some parts of the interval. */
static int draw_sfu(const struct study *s, struct figure_list *out)
{
	enum { PARTS = 64 }; /* about eight pixels of a plot each */
	const struct series *series = study_series(s, 0);
	struct figure *fig = NULL;
	for (size_t i = 0; series && i < series->count; i++) {
		const struct point *pt = &series->points[i];
		if (pt->outcome != OUTCOME_OK || pt->p[0] != PART_SPREAD || pt->x == FUNCTIONS - 1)
			continue;
		const struct special *f = &functions[(unsigned)pt->x];
		double x[PARTS], y[PARTS] = {0};
		for (uint32_t k = 0; k < SPREAD; k++) {
			const float at = argument(f, place(f, study_seed(s), PART_SPREAD, 0, k));
			const double error = fabs((double)(float_of(pt->y[k]) - f->f(at))) * 0x1p24;
			y[k * PARTS / SPREAD] = fmax(y[k * PARTS / SPREAD], error);
		}
		for (unsigned k = 0; k < PARTS; k++)
			x[k] = (k + 0.5) / PARTS;
		if (!fig) {
			fig = figures_new(out, "sfu-error", "Special functions: error over the interval");
			if (!fig)
				return -ENOMEM;
			figure_repeats(fig, "Nickolls and Kirk, Fig. B.6.1", "sfu.*");
			fig->x = (struct figure_axis){.label = "where in the function's interval", .unit = "ratio"};
			fig->y = (struct figure_axis){.label = "largest error seen nearby", .unit = "2^-24"};
		}
		int rc = figure_add(fig, f->name, MARK_LINE, x, y, NULL, PARTS);
		if (rc)
			return rc;
	}
	return 0;
}

static const char *const claims[] = {"sfu.*", NULL};

const struct probe probe_sfu = {
    .name = "sfu",
    .asks = "How accurate are the special functions 1/x, 1/sqrt(x), 2^x, log2, sin and cos?",
    .source = "Nickolls and Kirk, B.6, Figure B.6.1, over its intervals; here not every argument is run, but those "
	      "where the error is largest are looked for",
    .how = "16384 arguments, spread over a function's interval, give the share of results that are rounded right. They "
	   "also show where the "
	   "table behind the function is worst. There, at both ends, and where parts of a table may meet, runs of "
	   "neighbours are "
	   "looked at. They give the largest error, and whether a result ever steps back. The host computes what is "
	   "right with more digits.",
    .fooled = "The one argument that is worse than all that were looked at: the largest error is an estimate, and so "
	      "is that a function never "
	      "steps back. Arguments that a compiler knows: they come from memory.",
    .figure = "sfu-error",
    .claims = claims,
    .experiments = experiments,
    .experiment_count = sizeof experiments / sizeof *experiments,
    .study = study_sfu,
    .draw = draw_sfu,
};
