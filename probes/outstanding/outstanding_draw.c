/* Thread-Latency plots with the variance of neighbouring points (Lashgar 2015, Figures 1 and 3 to 10), and copies (Figure 2). */
#include "base/arena.h"
#include "l2_copy.h"
#include "outstanding.h"
#include "stat/stat.h"
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { PLOT_STEP = 2 }; /* threads */

struct dot {
	double x, y;
};

/* The points of one curve, ascending. A thread that does only some of its loads counts for its share. */
static size_t dots_of(const struct series *series, unsigned loads, unsigned group, struct dot *dot)
{
	size_t n = 0, kept = 0;

	for (size_t i = 0; i < series->count; i++) {
		const struct point *pt = &series->points[i];
		const double *p = pt->p, y = latency_mean(pt);
		if (p[LATENCY_LOADS] != loads || p[LATENCY_GROUP] != group || p[LATENCY_LANES] != 0 ||
		    p[LATENCY_STRIDE] != LATENCY_STRIDE_BYTES || p[LATENCY_ROUND] != 0 || !(pt->x > 0) || !isfinite(y))
			continue;
		dot[n++] = (struct dot){pt->x + p[LATENCY_MORE] * p[LATENCY_EXTRA] / p[LATENCY_LOADS], y};
	}
	qsort(dot, n, sizeof *dot, stat_compare_double);
	for (size_t i = 0; i < n; i++)
		if (!kept || dot[i].x > dot[kept - 1].x)
			dot[kept++] = dot[i];
	return kept;
}

static double between(const struct dot *dot, size_t n, double x)
{
	size_t k = 0;

	while (k + 2 < n && dot[k + 1].x <= x)
		k++;
	return dot[k].y + (dot[k + 1].y - dot[k].y) * (x - dot[k].x) / (dot[k + 1].x - dot[k].x);
}

/* The unbiased variance of each point and its two neighbours, two threads away. Measured points lie close around jumps
 * of the latency, and elsewhere a line between them stands for it. */
static size_t variances(const struct dot *dot, size_t n, double *x, double *y)
{
	size_t count = 0;

	if (n < 3)
		return 0;
	const double first = ceil(dot[0].x / PLOT_STEP) * PLOT_STEP + PLOT_STEP;
	for (double t = first; t + PLOT_STEP <= dot[n - 1].x; t += PLOT_STEP) {
		const double v[] = {between(dot, n, t - PLOT_STEP), between(dot, n, t), between(dot, n, t + PLOT_STEP)},
			     mean = (v[0] + v[1] + v[2]) / 3;
		x[count] = t;
		y[count++] =
		    ((v[0] - mean) * (v[0] - mean) + (v[1] - mean) * (v[1] - mean) + (v[2] - mean) * (v[2] - mean)) / 2;
	}
	return count;
}

static struct figure *new_figure(struct figure_list *out, const char *kind, unsigned loads, const char *title,
				 const char *y, const char *unit)
{
	char name[64], text[128];

	snprintf(name, sizeof name, "thread-%s-%u", kind, loads);
	snprintf(text, sizeof text, "%s, %u load%s a thread", title, loads, loads > 1 ? "s" : "");
	struct figure *f = figures_new(out, name, text);
	if (!f)
		return NULL;
	figure_key(f, "outstanding.*");
	f->panels = true;
	f->x = (struct figure_axis){.label = "threads", .unit = "count"};
	snprintf(f->y.label, sizeof f->y.label, "%s", y);
	snprintf(f->y.unit, sizeof f->y.unit, "%s", unit);
	return f;
}

static int draw_loads(const struct study *s, struct figure_list *out, const struct series *series, unsigned loads,
		      struct dot *dot, double *x, double *y)
{
	if (!dots_of(series, loads, 1, dot))
		return 0; /* more than a warp may have under way */
	for (unsigned pass = 0; pass < 2; pass++) {
		struct figure *f = pass ? new_figure(out, "variance", loads, "Variance of three neighbours' latencies",
						     "variance", "cycles^2")
					: new_figure(out, "latency", loads, "Time until all threads have their data",
						     "latency", "cycles");
		if (!f)
			return -ENOMEM;
		f->main = !pass && loads == 1;
		f->y.log2 = pass; /* of few threads it is thousands of times that of many */
		for (unsigned group = 1; group <= study_device(s)->warp_size && f->marks_count < FIGURE_MARKS;
		     group *= 2) {
			size_t n = dots_of(series, loads, group, dot);
			char label[32];
			snprintf(label, sizeof label, "%u thread%s a line", group, group > 1 ? "s" : "");
			if (pass)
				n = variances(dot, n, x, y);
			for (size_t i = 0; !pass && i < n; i++) {
				x[i] = dot[i].x;
				y[i] = dot[i].y;
			}
			if (n && figure_add(f, label, MARK_LINE, x, y, NULL, n))
				return -ENOMEM;
		}
	}
	return 0;
}

static int draw_copies(const struct study *s, struct figure_list *out, struct dot *dot, double *x, double *y)
{
	const struct series *series = study_series(s, COPY);
	double size;

	if (!series)
		return 0;
	struct figure *f = figures_new(out, "l2-copy", "Time of a copy, with the L2 flushed before and not");
	if (!f)
		return -ENOMEM;
	f->x = (struct figure_axis){.label = "size", .unit = "bytes", .log2 = true};
	f->y = (struct figure_axis){.label = "time", .unit = "us"};
	figure_key(f, "cache.global.l2.copy_size");
	for (unsigned flushed = 0; flushed < 2; flushed++) {
		size_t n = 0;
		for (size_t i = 0; i < series->count; i++) {
			const struct point *pt = &series->points[i];
			if (pt->outcome == OUTCOME_OK && pt->p[0] == flushed && pt->p[1] == 0 && pt->elapsed_ms > 0)
				dot[n++] = (struct dot){pt->x, 1000 * pt->elapsed_ms};
		}
		qsort(dot, n, sizeof *dot, stat_compare_double);
		for (size_t i = 0; i < n; i++) {
			x[i] = dot[i].x;
			y[i] = dot[i].y;
		}
		if (n && figure_add(f, flushed ? "flushed" : "copied before", MARK_LINE, x, y, NULL, n))
			return -ENOMEM;
	}
	if (study_number(s, "cache.global.l2.copy_size", &size))
		figure_note(f, true, size, "held");
	return 0;
}

int outstanding_draw(const struct study *s, struct figure_list *out)
{
	const struct series *series = study_series(s, LATENCY_MEMORY), *copies = study_series(s, COPY);
	const size_t most = (series ? series->count : 0) + (copies ? copies->count : 0) +
			    study_device(s)->max_threads_per_block / PLOT_STEP + 2;
	struct arena a;
	int rc = 0;

	arena_init(&a);
	struct dot *dot = ARENA_ARRAY(&a, most, struct dot);
	double *x = ARENA_ARRAY(&a, most, double), *y = ARENA_ARRAY(&a, most, double);
	if (!dot || !x || !y)
		rc = -ENOMEM;
	for (unsigned loads = 1; !rc && series && loads <= LOADS_MOST; loads++)
		rc = draw_loads(s, out, series, loads, dot, x, y);
	if (!rc)
		rc = draw_copies(s, out, dot, x, y);
	arena_free(&a);
	return rc;
}
