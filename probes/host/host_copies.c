/* Copies: bandwidth and latency each way, both ways at once, and beside a kernel. */
#include "base/units.h"
#include "host.h"
#include "stat/stat.h"
#include <math.h>
#include <stdio.h>

enum { SIZES = 14, LEAST = 4, STEP = 4, STEPS = 3 }; /* 4 bytes to 256 MB; sizes of which one tells from the next */
#define SPREAD	  0.1				     /* of a value, that copies alike may differ by */
#define WHOLE	  0.1 /* by which the whole time of the largest copy may say something else */
#define BESIDE_NS 3e5 /* a kernel takes about as long, and a copy beside it */

static double size_of(unsigned k)
{
	double bytes = LEAST;
	while (k-- > 0)
		bytes *= STEP;
	return bytes;
}

static const struct point *ask(struct study *s, enum way way, bool pinned, double bytes)
{
	const double p[POINT_PARAMS] = {[COPY_WAY] = way, [COPY_PINNED] = pinned};
	return study_ask(s, HOST_COPY, bytes, p);
}

/* By the device's timer where it has one. */
static struct times by_device(const struct point *pt)
{
	const struct times t = host_times(pt, BY_DEVICE);
	return t.ok || t.bad ? t : host_times(pt, BY_HOST);
}

struct rate {
	double bytes_ns, lo, hi, largest;
};

/* What copies of two sizes differ by. False: they cannot tell. */
static bool rate_between(const struct times *small, const struct times *large, double more, struct rate *r)
{
	if (!large->ok || !small->ok || large->lo <= small->hi)
		return false;
	r->bytes_ns = more / (large->ns - small->ns);
	r->lo = more / (large->hi - small->lo);
	r->hi = more / (large->lo - small->hi);
	return true;
}

/* The rate from the largest copies that there is memory for: the middle of what each takes beyond the next smaller one.
 * The host's own memory may be slow for as long as all copies of one size take. Copies of 256 MB came at 50.6 GB/s
 * through a link of 55, and those of 64 and 16 MB did not. False: they cannot tell, and why says so. */
static bool rate_of(struct study *s, enum way way, bool pinned, struct rate *r, const char **why)
{
	unsigned top = SIZES, n = 0;
	struct times large, small;
	struct rate step[STEPS];
	double v[STEPS], scratch[STEPS];
	const double times = way == WAY_BOTH ? 2 : 1;
	const bool one = way == WAY_BOTH || !pinned; /* the host's caches have part of smaller pageable ones */
	*why = "copies take no time";
	do {
		const struct point *pt = ask(s, way, pinned, size_of(--top));
		if (!pt)
			return false;
		large = by_device(pt);
	} while (large.bad && large.bad->outcome == OUTCOME_REFUSED && top > SIZES / 2);
	const double whole = times * size_of(top) / large.ns;
	for (unsigned k = top; n < (one ? 1 : STEPS); k--) {
		small = by_device(ask(s, way, pinned, size_of(k - 1)));
		if (large.bad || small.bad)
			*why = point_why(large.bad ? large.bad : small.bad);
		if (!rate_between(&small, &large, times * (size_of(k) - size_of(k - 1)), &step[n]))
			break;
		v[n] = step[n].bytes_ns;
		n++;
		large = small;
	}
	if (!n)
		return false;
	const double middle = stat_median(v, n, scratch);
	*r = step[0];
	for (unsigned k = 1; k < n; k++)
		if (fabs(v[k] - middle) < fabs(r->bytes_ns - middle))
			*r = step[k];
	for (unsigned k = 0; k < n; k++) {
		r->lo = fmin(r->lo, v[k]);
		r->hi = fmax(r->hi, v[k]);
	}
	r->largest = size_of(top);
	r->lo = whole < r->lo && whole > (1 - WHOLE) * r->bytes_ns ? whole : r->lo;
	return true;
}

static void conclude_rate(struct study *s, const char *key, enum way way, bool pinned, double *bytes_ns)
{
	static const char method[] = "time of copies of two sizes subtracted";
	const double steps = way == WAY_BOTH || !pinned ? 1 : STEPS;
	struct rate r;
	const char *why;
	const bool known = rate_of(s, way, pinned, &r, &why);
	*bytes_ns = known ? r.bytes_ns : 0;
	if (study_pending(s))
		return;
	const bool alike = known && r.hi - r.lo <= SPREAD * r.bytes_ns;
	if (known && pinned)
		stat_widen(r.bytes_ns, way == WAY_BOTH ? HOST_BETWEEN_RUNS : LINK_BETWEEN_RUNS, &r.lo, &r.hi);
	if (known && !pinned) {
		r.lo = fmin(r.lo, r.bytes_ns / PAGEABLE_BETWEEN_RUNS);
		r.hi = fmax(r.hi, PAGEABLE_BETWEEN_RUNS * r.bytes_ns);
	}
	if (!known)
		study_verdict(s, key, VERDICT_UNSUPPORTED, "copy", "%s", why);
	else if (!pinned)
		study_likely_number(s, key, r.bytes_ns, r.lo, r.hi, "card", method, "copy",
				    "the host copies to memory of the driver's, as fast as it can at that time");
	else if (alike)
		study_measured_number(s, key, r.bytes_ns, r.lo, r.hi, "card", method, "copy",
				      "copies of %.0f to %.0f MB", r.largest / pow(STEP, steps) / (1 << 20),
				      r.largest / (1 << 20));
	else
		study_likely_number(s, key, r.bytes_ns, r.lo, r.hi, "card", method, "copy",
				    "copies alike differ by %.0f %%", 100 * (r.hi / r.lo - 1));
}

static void conclude_latency(struct study *s, const char *key, enum way way)
{
	static const char method[] =
	    "copies of four bytes of pinned memory, by the host's clock until their end is known";
	const struct times t = host_times(ask(s, way, true, LEAST), BY_HOST);
	if (study_pending(s))
		return;
	double lo = t.lo, hi = t.hi;
	stat_widen(t.ns, HOST_BETWEEN_RUNS, &lo, &hi);
	if (!t.ok)
		study_verdict(s, key, VERDICT_UNSUPPORTED, "copy", "%s",
			      t.bad ? point_why(t.bad) : "copies take no time");
	else
		study_likely_number(
		    s, key, 1e-9 * t.ns, 1e-9 * lo, 1e-9 * hi, "card", method, "copy",
		    "the host has a part in it: the slowest copy takes %.2f times as long as the fastest", t.hi / t.lo);
}

/* ---- beside a kernel ---- */

static double power_near(double v)
{
	return exp2(round(log2(fmax(v, 1))));
}

/* bytes_ns: of copies of pinned memory to the device. */
static void study_overlap(struct study *s, double bytes_ns)
{
	enum { FEW = 256, MANY = 2048 };
	static const char key[] = "host.overlap";
	const double bytes = power_near(BESIDE_NS * bytes_ns);
	const struct times few = host_times(study_ask(s, HOST_SPIN, FEW, NULL), 2),
			   many = host_times(study_ask(s, HOST_SPIN, MANY, NULL), 2),
			   copy = by_device(ask(s, WAY_IN, true, bytes));
	if (!few.ok || !many.ok || !copy.ok || many.ns <= few.ns) {
		if (!study_pending(s))
			study_verdict(s, key, VERDICT_UNSUPPORTED, "copy",
				      "the timer does not tell kernels or copies apart");
		return;
	}
	const double turns = power_near(copy.ns / (many.ns - few.ns) * (MANY - FEW)),
		     p[POINT_PARAMS] = {[COPY_WAY] = WAY_IN, [COPY_PINNED] = 1, [COPY_TURNS] = turns};
	const struct times kernel = host_times(study_ask(s, HOST_SPIN, turns, NULL), 2),
			   both = by_device(study_ask(s, HOST_COPY, bytes, p));
	if (study_pending(s))
		return;
	const double hidden = (copy.ns + kernel.ns - both.ns) / fmin(copy.ns, kernel.ns);
	static const char method[] = "time of a copy, of a kernel, and of both at once";
	if (!kernel.ok || !both.ok)
		study_verdict(s, key, VERDICT_INCONCLUSIVE, "copy", "%s",
			      both.bad ? point_why(both.bad) : "the timer does not tell them apart");
	else if (copy.hi > HOST_ALIKE * copy.lo || kernel.hi > HOST_ALIKE * kernel.lo || both.hi > HOST_ALIKE * both.lo)
		study_verdict(s, key, VERDICT_INCONCLUSIVE, "copy", "copies or kernels alike differ too much");
	else if (hidden > 0.7 || hidden < 0.15)
		study_text(s, key, hidden > 0.7 ? "yes" : "no", method, "copy",
			   "%.0f us alone, a kernel %.0f us, both at once %.0f us", 1e-3 * copy.ns, 1e-3 * kernel.ns,
			   1e-3 * both.ns);
	else
		study_verdict(s, key, VERDICT_INCONCLUSIVE, "copy", "%.0f %% of the shorter one is hidden",
			      100 * hidden);
}

/* What figures show, and more. Large ones first, and one kind of memory after the other: the host's is made once for them. */
static void ask_all(struct study *s, bool pinned)
{
	for (unsigned k = SIZES; k-- > 0;)
		for (unsigned way = WAY_IN; way <= (unsigned)(pinned && k >= SIZES - 2 ? WAY_BOTH : WAY_OUT); way++)
			ask(s, (enum way)way, pinned, size_of(k));
}

void host_copies(struct study *s)
{
	double in, out, other;
	ask_all(s, true);
	ask_all(s, false);
	conclude_rate(s, "host.h2d.bandwidth", WAY_IN, true, &in);
	conclude_rate(s, "host.d2h.bandwidth", WAY_OUT, true, &out);
	conclude_rate(s, "host.both.bandwidth", WAY_BOTH, true, &other);
	conclude_rate(s, "host.h2d.pageable_bandwidth", WAY_IN, false, &other);
	conclude_rate(s, "host.d2h.pageable_bandwidth", WAY_OUT, false, &other);
	conclude_latency(s, "host.h2d.latency", WAY_IN);
	conclude_latency(s, "host.d2h.latency", WAY_OUT);
	if (in > 0)
		study_overlap(s, in);
	else if (!study_pending(s))
		study_verdict(s, "host.overlap", VERDICT_UNSUPPORTED, "copy", "copies take no time");
}

int host_draw(const struct study *s, struct figure_list *out)
{
	static const char *const names[] = {"to the device, pageable", "from the device, pageable",
					    "to the device, pinned", "from the device, pinned"};
	const struct series *c = study_series(s, HOST_COPY);
	struct figure *f = NULL;
	for (unsigned line = 0; c && line < 4; line++) {
		double x[SIZES], y[SIZES];
		size_t n = 0;
		for (unsigned k = 0; k < SIZES; k++)
			for (size_t i = 0; i < c->count; i++) {
				const struct point *pt = &c->points[i];
				const struct times t = by_device(pt);
				if (!t.ok || pt->x != size_of(k) || pt->p[COPY_TURNS] > 0 ||
				    pt->p[COPY_WAY] != line % 2 || pt->p[COPY_PINNED] != line / 2)
					continue;
				x[n] = pt->x;
				y[n++] = pt->x / t.ns;
			}
		if (!n)
			continue;
		if (!f)
			f = figures_new(out, "host-copies", "Copies: bandwidth against size");
		if (!f)
			return -1;
		f->x = (struct figure_axis){.label = "bytes of one copy", .unit = "bytes", .log2 = true};
		f->y = (struct figure_axis){.label = "bytes over the copy's time", .unit = "GB/s"};
		if (figure_add(f, names[line], MARK_LINE, x, y, NULL, n))
			return -1;
	}
	return 0;
}
