/* Figures of the probe, after Wong 2010, Figures 21 to 24. */
#include "code_share.h"
#include "stat/stat.h"
#include <stdio.h>
#include <stdlib.h>

#define MOST_MARKS 400

struct xy {
	double x, mean, most;
};

/* Mean and slowest jump of a point; x is the code in the ring. */
static bool read_point(const struct study *s, const struct point *pt, struct xy *out)
{
	const struct native_info *n = study_native(s, EXPERIMENT_JUMP, pt);
	const unsigned visits = (unsigned)(pt->x * pt->p[CODE_LAPS]);
	double sum = 0;
	if (pt->outcome != OUTCOME_OK || !n || !visits || pt->words_per_repeat != CODE_HEAD + 2 * visits)
		return false;
	*out = (struct xy){.x = pt->x * pt->p[CODE_STRIDE] * n->layout.step};
	for (unsigned i = 0; i < visits; i++) {
		double t = pt->y[CODE_HEAD + 2 * i + 1] - pt->y[CODE_HEAD + 2 * i];
		sum += t;
		out->most = t > out->most ? t : out->most;
	}
	out->mean = sum / visits;
	return true;
}

enum which { WHOLE_RINGS, WITH_CONSTANTS, WITHOUT_CONSTANTS, WITH_RIVAL };

static bool is_of(const struct point *pt, enum which which)
{
	const bool rival = pt->p[CODE_RIVAL] > 0, fresh = pt->p[CODE_FRESH] > 0;
	const double walk = pt->p[CODE_WALK];
	if (fresh)
		return false;
	if (which == WITH_RIVAL)
		return rival;
	if (rival)
		return false;
	return which == WHOLE_RINGS	 ? walk == 0 && pt->p[CODE_STRIDE] == 1
	       : which == WITH_CONSTANTS ? walk > 64
					 : walk == 64;
}

static unsigned collect(const struct study *s, enum which which, struct xy *v)
{
	const struct series *series = study_series(s, EXPERIMENT_JUMP);
	unsigned n = 0;
	for (size_t i = 0; series && i < series->count && n < MOST_MARKS; i++)
		if (is_of(&series->points[i], which) && read_point(s, &series->points[i], &v[n]))
			n++;
	qsort(v, n, sizeof *v, stat_compare_double);
	return n;
}

static int add_marks(struct figure *f, const char *label, enum mark_style style, const struct xy *v, unsigned n,
		     bool most)
{
	double x[MOST_MARKS], y[MOST_MARKS];
	for (unsigned i = 0; i < n; i++) {
		x[i] = v[i].x;
		y[i] = most ? v[i].most : v[i].mean;
	}
	return n ? figure_add(f, label, style, x, y, NULL, n) : 0;
}

static int draw_size(const struct study *s, struct figure_list *out, struct xy *v)
{
	unsigned n = collect(s, WHOLE_RINGS, v);
	struct figure *f =
	    n ? figures_new(out, "instruction-latency", "Jumps through code: time against the code's size") : NULL;
	if (!f)
		return n ? -1 : 0;
	figure_key(f, "cache.instruction.*");
	f->x = (struct figure_axis){.label = "code", .unit = "bytes", .log2 = true};
	f->y = (struct figure_axis){.label = "time of a jump", .unit = "cycles"};
	return add_marks(f, "mean", MARK_LINE, v, n, false) || add_marks(f, "slowest", MARK_POINTS, v, n, true) ? -1
														: 0;
}

static int draw_constants(const struct study *s, struct figure_list *out, struct xy *v)
{
	unsigned n = collect(s, WITH_CONSTANTS, v);
	struct figure *f =
	    n ? figures_new(out, "instruction-constants", "Jumps through code, with constants read between laps")
	      : NULL;
	if (!f)
		return n ? -1 : 0;
	f->x = (struct figure_axis){.label = "code", .unit = "bytes", .log2 = true};
	f->y = (struct figure_axis){.label = "time of a jump", .unit = "cycles"};
	if (add_marks(f, "with constants", MARK_POINTS, v, n, false))
		return -1;
	n = collect(s, WITHOUT_CONSTANTS, v);
	return add_marks(f, "without", MARK_POINTS, v, n, false);
}

static int draw_rivals(const struct study *s, struct figure_list *out, struct xy *v)
{
	const struct series *series = study_series(s, EXPERIMENT_JUMP);
	struct figure *f = NULL;
	double drawn[FIGURE_MARKS];
	for (unsigned marks = 0; series && marks < 4; marks++) {
		double code = 0;
		unsigned n = 0;
		for (size_t i = 0; i < series->count && n < MOST_MARKS; i++) {
			const struct point *pt = &series->points[i];
			struct xy at;
			bool old = false;
			if (!is_of(pt, WITH_RIVAL) || !read_point(s, pt, &at) || (code && at.x != code))
				continue;
			for (unsigned k = 0; k < marks; k++)
				old |= drawn[k] == at.x;
			if (old)
				continue;
			code = at.x;
			v[n++] = (struct xy){.x = pt->p[CODE_RIVAL] - 1, .mean = at.mean};
		}
		if (!n)
			break;
		if (!f && !(f = figures_new(out, "instruction-rivals",
					    "Jumps on SM 0 while another SM goes through code as large")))
			return -1;
		char label[64];
		snprintf(label, sizeof label, "%.0f bytes of code each", code);
		f->x = (struct figure_axis){.label = "the other SM", .unit = "number"};
		f->y = (struct figure_axis){.label = "time of a jump", .unit = "cycles"};
		qsort(v, n, sizeof *v, stat_compare_double);
		if (add_marks(f, label, MARK_LINE, v, n, false))
			return -1;
		drawn[marks] = code;
	}
	return 0;
}

static int draw_fetch(const struct study *s, struct figure_list *out, struct xy *v)
{
	const struct series *series = study_series(s, EXPERIMENT_TIMELINE);
	double late[CODE_READS], sorted[CODE_READS];
	for (size_t i = 0; series && i < series->count; i++) {
		const struct point *pt = &series->points[i];
		const struct native_info *n = study_native(s, EXPERIMENT_TIMELINE, pt);
		if (!n || !code_lateness(pt, late))
			continue;
		struct figure *f = figures_new(out, "instruction-fetch",
					       "Reads of the clock in straight code that is evicted before each");
		if (!f)
			return -1;
		f->x = (struct figure_axis){.label = "place in the code", .unit = "bytes"};
		f->y = (struct figure_axis){.label = "later than most reads", .unit = "cycles"};
		const double usual = stat_median(late, CODE_READS, sorted);
		for (unsigned k = 0; k < CODE_READS; k++)
			v[k] = (struct xy){.x = (double)n->layout.step * k, .mean = late[k] - usual};
		return add_marks(f, "one read", MARK_LINE, v, CODE_READS, false);
	}
	return 0;
}

int code_draw(const struct study *s, struct figure_list *out)
{
	struct xy v[MOST_MARKS];
	return draw_size(s, out, v) || draw_constants(s, out, v) || draw_rivals(s, out, v) || draw_fetch(s, out, v) ? -1
														    : 0;
}
