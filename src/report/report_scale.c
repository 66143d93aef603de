#include "report/report_scale.h"
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define TICKS_MOST  16	 /* but for rows with names */
#define PANEL_SHARE 0.25 /* of the common axis, below which a panel has one of its own */
#define HUGE_RANGE  1e150
#define HUGE_BYTES  0x1p60

struct range {
	double lo, hi;
	bool log2;
};

static void include(struct range *r, double v)
{
	if (!isfinite(v) || (r->log2 && v <= 0))
		return;
	r->lo = fmin(r->lo, v);
	r->hi = fmax(r->hi, v);
}

static void ticks_log2(struct scale *s, size_t max_ticks)
{
	int first = (int)ceil(log2(s->lo) - 1e-9), last = (int)floor(log2(s->hi) + 1e-9);
	int step = 1;
	while ((last - first) / step + 1 > (int)max_ticks)
		step++;
	for (int i = first; i <= last && s->ticks < SCALE_TICKS; i += step)
		s->tick[s->ticks++] = exp2(i);
}

/* Steps of 1, 2 or 5 times a power of ten. */
static double linear_step(const struct scale *s, size_t max_ticks)
{
	double raw = (s->hi - s->lo) / (double)(max_ticks - 1);
	double power = pow(10, floor(log10(raw)));
	double step = power;
	static const double factor[] = {1, 2, 5, 10, 20};
	for (size_t i = 0; i < sizeof factor / sizeof *factor; i++) {
		step = factor[i] * power;
		double lo = floor(s->lo / step), hi = ceil(s->hi / step);
		if (hi - lo + 1 <= (double)max_ticks)
			break;
	}
	return step;
}

/* The axis ends on a tick. */
static void ticks_by(struct scale *s, double step)
{
	double lo = floor(s->lo / step + 1e-9), hi = ceil(s->hi / step - 1e-9);
	for (double i = lo; i <= hi && s->ticks < SCALE_TICKS; i++)
		s->tick[s->ticks++] = i * step;
	s->lo = fmin(s->lo, lo * step);
	s->hi = fmax(s->hi, hi * step);
}

static void ticks_linear(struct scale *s, size_t max_ticks)
{
	ticks_by(s, linear_step(s, max_ticks));
}

/* Bytes come in powers of two: the smallest one that needs no more ticks than there may be. */
static void ticks_bytes(struct scale *s, size_t max_ticks)
{
	double step = 1;
	while (ceil(s->hi / step) - floor(s->lo / step) + 1 > (double)max_ticks)
		step *= 2;
	ticks_by(s, step);
}

/* A map fills its field: the axis ends where its cells do, and ticks lie within. */
static void clip(struct scale *s, struct range r)
{
	size_t kept = 0;

	for (size_t i = 0; i < s->ticks; i++)
		if (s->tick[i] >= r.lo && s->tick[i] <= r.hi)
			s->tick[kept++] = s->tick[i];
	s->ticks = kept;
	s->lo = r.lo;
	s->hi = r.hi;
}

static bool has_cells(const struct figure *f)
{
	for (unsigned m = 0; m < f->marks_count; m++)
		if (f->marks[m].style == MARK_CELLS)
			return true;
	return false;
}

static void finish(struct scale *s, struct range r, bool bytes, bool cells, size_t max_ticks)
{
	*s = (struct scale){.log2 = r.log2};
	if (r.lo > r.hi) /* no value at all */
		r.lo = r.log2 ? 1 : 0, r.hi = r.log2 ? 2 : 1;
	/* Sizes beyond these are no measurement; without the limits the differences below could overflow. */
	r.lo = fmin(fmax(r.lo, r.log2 ? 1 / HUGE_RANGE : -HUGE_RANGE), HUGE_RANGE);
	r.hi = fmin(fmax(r.hi, r.log2 ? 1 / HUGE_RANGE : -HUGE_RANGE), HUGE_RANGE);
	if (r.log2 && r.hi / r.lo < 2) {
		double middle = sqrt(r.lo) * sqrt(r.hi);
		r.lo = middle / M_SQRT2;
		r.hi = middle * M_SQRT2;
	} else if (!r.log2 && !(r.hi - r.lo > 1e-9 * fmax(fabs(r.hi), fabs(r.lo)))) {
		const double v = r.hi, room = v == 0 ? 1 : fabs(v) / 2;
		r.lo = v > 0 ? 0 : v - room; /* a line at its height above nothing */
		r.hi = v < 0 ? 0 : v + room;
	}
	s->lo = r.lo;
	s->hi = r.hi;
	if (max_ticks > TICKS_MOST)
		max_ticks = TICKS_MOST;
	if (max_ticks < 3)
		max_ticks = 3;
	if (s->log2 && !cells && log2(s->hi / s->lo) < 3) { /* few ticks would lie within: it ends on some */
		s->lo = exp2(floor(log2(s->lo) + 1e-9));
		s->hi = exp2(ceil(log2(s->hi) - 1e-9));
	}
	if (s->log2)
		ticks_log2(s, max_ticks);
	else if (bytes && s->hi < HUGE_BYTES && (cells || s->lo >= 0))
		ticks_bytes(s, max_ticks);
	else
		ticks_linear(s, max_ticks);
	if (cells)
		clip(s, r);
}

double scale_half_cell(const struct figure_marks *m, bool vertical, bool log)
{
	const double *v = vertical ? m->y : m->x;
	double least = INFINITY;

	/* Cells of a map come in rows or in columns: neighbours in the list are neighbours along one of its sides. */
	for (size_t i = 1; i < m->count; i++) {
		const double step = fabs(log ? log2(v[i]) - log2(v[i - 1]) : v[i] - v[i - 1]);
		if (step > 0)
			least = fmin(least, step);
	}
	return isfinite(least) ? least / 2 : 0.5;
}

/* One cell or bar reaches a little further than its middle. */
static void include_wide(struct range *r, double v, double half)
{
	include(r, r->log2 ? v * exp2(-half) : v - half);
	include(r, r->log2 ? v * exp2(half) : v + half);
}

/* Of `count` sets of marks, the first of which is `first`. */
static void scale_marks(struct scale *s, const struct figure *f, unsigned first, unsigned count, size_t max_ticks)
{
	struct range r = {INFINITY, -INFINITY, f->x.log2};
	for (unsigned m = first; m < first + count; m++) {
		const struct figure_marks *k = &f->marks[m];
		double room = k->style == MARK_BARS && !r.log2 ? 0.5 : 0; /* half a bar on either side */
		if (k->style == MARK_CELLS)
			room = scale_half_cell(k, false, r.log2);
		for (size_t i = 0; i < k->count; i++) {
			include_wide(&r, k->x[i], room);
			if (k->style == MARK_SPANS)
				include(&r, k->y2[i]);
		}
	}
	for (unsigned i = 0; i < f->notes_count; i++)
		if (f->notes[i].vertical)
			include(&r, f->notes[i].at);
	if (f->rows && r.log2 && r.lo < r.hi) /* dots do not lie on the edge */
		include_wide(&r, r.lo, 0.2), include_wide(&r, r.hi, 0.2);
	finish(s, r, strcmp(f->x.unit, "bytes") == 0, has_cells(f), max_ticks);
}

void scale_x(struct scale *s, const struct figure *f, size_t max_ticks)
{
	scale_marks(s, f, 0, f->marks_count, max_ticks);
}

void scale_x_panel(struct scale *s, const struct figure *f, unsigned i, size_t max_ticks)
{
	struct scale own;
	scale_marks(&own, f, i, 1, max_ticks);
	if (!own.log2 && own.hi - own.lo < PANEL_SHARE * (s->hi - s->lo))
		*s = own;
}

/* Rows with names: from the top downwards, a tick each. */
static void scale_rows(struct scale *s, unsigned rows)
{
	*s = (struct scale){.lo = rows - 0.5, .hi = -0.5};
	for (unsigned i = 0; i < rows; i++)
		s->tick[s->ticks++] = i;
}

void scale_y(struct scale *s, const struct figure *f, size_t max_ticks)
{
	if (f->rows) {
		scale_rows(s, f->rows_count);
		return;
	}
	struct range r = {INFINITY, -INFINITY, f->y.log2};
	for (unsigned m = 0; m < f->marks_count; m++) {
		const struct figure_marks *k = &f->marks[m];
		const double room = k->style == MARK_CELLS ? scale_half_cell(k, true, r.log2) : 0;
		for (size_t i = 0; i < k->count; i++) {
			include_wide(&r, k->y[i], room);
			if (k->style == MARK_BAND)
				include(&r, k->y2[i]);
		}
	}
	bool bars = false;
	unsigned head = 0;
	for (unsigned i = 0; i < f->notes_count; i++) {
		head += f->notes[i].vertical;
		if (!f->notes[i].vertical)
			include(&r, f->notes[i].at);
	}
	for (unsigned m = 0; m < f->marks_count; m++)
		bars |= f->marks[m].style == MARK_BARS;
	if (r.log2 && bars && r.lo < r.hi)
		r.lo /= 2;	   /* the smallest bar is a bar too */
	if (head && r.lo < r.hi) { /* room for the texts of vertical notes, which many make stand in rows */
		const double room = head > 3 ? 0.07 * fmin(head, 6) : 0.08;
		r.hi = r.log2 ? r.hi * pow(r.hi / r.lo, room) : r.hi + room * (r.hi - r.lo);
	}
	/* A latency means something against nothing, so the axis starts there when that costs little room. */
	if (!r.log2 && r.lo > 0 && r.lo < 0.75 * r.hi && !has_cells(f))
		r.lo = 0;
	finish(s, r, strcmp(f->y.unit, "bytes") == 0, has_cells(f), max_ticks);
}

void scale_shades(struct scale_shades *s, const struct figure *f)
{
	*s = (struct scale_shades){.lo = INFINITY, .hi = -INFINITY, .log2 = f->shade.log2};
	for (unsigned k = 0; k < f->marks_count; k++)
		for (size_t i = 0; f->marks[k].style == MARK_CELLS && i < f->marks[k].count; i++) {
			const double v = f->marks[k].y2[i];
			if (isfinite(v) && (v > 0 || !s->log2)) {
				s->lo = fmin(s->lo, v);
				s->hi = fmax(s->hi, v);
			}
		}
}

unsigned scale_shade(const struct scale_shades *s, double v, unsigned of)
{
	if (s->lo == s->hi) /* cells that are there, and no more to tell */
		return of - 1;
	const double at =
	    s->log2 ? (log2(v) - log2(s->lo)) / (log2(s->hi) - log2(s->lo)) : (v - s->lo) / (s->hi - s->lo);
	return isfinite(at) ? (unsigned)(fmin(fmax(at, 0), 1) * (of - 1) + 0.5) : 0;
}

double scale_at(const struct scale *s, double v)
{
	if (!isfinite(v) || (s->log2 && v <= 0))
		return NAN;
	const double at =
	    s->log2 ? (log2(v) - log2(s->lo)) / (log2(s->hi) - log2(s->lo)) : (v - s->lo) / (s->hi - s->lo);
	return at > -0.01 && at < 1.01 ? at : NAN;
}

void scale_text_y(char *out, size_t n, const struct figure *f, double v)
{
	if (f->rows && v >= 0 && v < f->rows_count)
		snprintf(out, n, "%s", f->rows[(unsigned)v]);
	else
		scale_text(out, n, &f->y, v);
}

void scale_text(char *out, size_t n, const struct figure_axis *a, double v)
{
	static const char *const names[] = {"B", "KB", "MB", "GB", "TB", "PB"};
	unsigned i = 0;

	if (strcmp(a->unit, "bytes") == 0 && v >= 0 && v < HUGE_BYTES) {
		for (; v >= 1024 && i < 5; i++)
			v /= 1024;
		snprintf(out, n, v == 0 ? "0" : "%.4g %s", v, names[i]);
	} else if (fabs(v) >= 1e6 && fabs(v) < 1e12)
		snprintf(out, n, fabs(v) < 1e9 ? "%.4g M" : "%.4g G", v / (fabs(v) < 1e9 ? 1e6 : 1e9));
	else
		snprintf(out, n, fabs(v) >= 1e4 && fabs(v) < 1e6 ? "%.0f" : "%.4g", v == 0 ? 0 : v);
}

void scale_title(char *out, size_t n, const struct figure_axis *a)
{
	if (*a->unit && strcmp(a->unit, "count") != 0 && strcmp(a->unit, "bytes") != 0)
		snprintf(out, n, "%s (%s)", a->label, a->unit);
	else
		snprintf(out, n, "%s", a->label);
}
