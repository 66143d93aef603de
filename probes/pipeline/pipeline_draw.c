/* Run time against work items (Lemeire's Fig. 1), the occupancy roofline (Fig. 2) and cycles an instruction against warps (Fig. 3). */
#include "pipeline.h"
#include <stdio.h>

enum { LOADS_MOST = 64 };

/* The longer launch's counterpart: the same but for its length. */
static const struct point *mate(const struct series *s, const struct point *pt)
{
	for (size_t i = 0; i < s->count; i++) {
		const struct point *o = &s->points[i];
		if (o->outcome == OUTCOME_OK && o->x == pt->x && o->p[P_CHAINS] == pt->p[P_CHAINS] &&
		    o->p[P_ROUNDS] == pt->p[P_ROUNDS] && o->p[P_REPEATS] == pt->p[P_REPEATS] &&
		    o->p[P_SPANS] == pt->p[P_SPANS] && o->p[P_LINKS] < pt->p[P_LINKS])
			return o;
	}
	return NULL;
}

static double ns_of(const struct timed_pair *by, const struct point *pt)
{
	struct timed_pair k = *by;
	k.words = pt->p[P_SPANS] > 0 ? WORDS_SPANS : WORDS_WHOLE;
	return timed_mean(&k, pt);
}

/* ns of a link of one warp against warps, ascending. The last time counts of a load that was timed more than once. */
static size_t curve(const struct series *s, const struct timed_pair *by, unsigned chains, double *x, double *y)
{
	size_t n = 0;
	for (size_t i = 0; s && i < s->count; i++) {
		const struct point *pt = &s->points[i], *few;
		size_t at = 0;
		if (pt->outcome != OUTCOME_OK || pt->p[P_CHAINS] != chains || !(few = mate(s, pt)))
			continue;
		const double links = (pt->p[P_LINKS] - few->p[P_LINKS]) * chains * pt->p[P_ROUNDS];
		const double ns = (ns_of(by, pt) - ns_of(by, few)) / links;
		while (at < n && x[at] < pt->x)
			at++;
		if (!(ns > 0) || (n == LOADS_MOST && (at == n || x[at] != pt->x)))
			continue;
		if (at == n || x[at] != pt->x) {
			for (size_t k = n++; k > at; k--) {
				x[k] = x[k - 1];
				y[k] = y[k - 1];
			}
		}
		x[at] = pt->x;
		y[at] = ns;
	}
	return n;
}

static int draw_items(const struct study *s, const struct timed_pair *by, struct figure_list *out)
{
	double x[LOADS_MOST], y[LOADS_MOST];
	const size_t n = curve(study_series(s, EXPERIMENT_ITEMS), by, 1, x, y);
	struct figure *f;
	if (!n)
		return 0;
	f = figures_new(out, "pipeline-items", "Run time of a fixed number of instructions against work items");
	if (!f)
		return -1;
	figure_key(f, "pipeline.*");
	f->x = (struct figure_axis){.label = "work items of all SMs", .unit = "count", .log2 = true};
	f->y = (struct figure_axis){.label = "run time for each instruction", .unit = "ns"};
	return figure_add(f, "one chain of additions each", MARK_LINE, x, y, NULL, n) ? -1 : 0;
}

int pipeline_draw(const struct study *s, struct figure_list *out)
{
	static const unsigned ilp[] = {1, 2, 4};
	static const char *const shown[CLASSES] = {
	    [CLASS_SP] = "FP32 add", [CLASS_MAD] = "FP32 fma", [CLASS_INT] = "INT32",
	    [CLASS_DP] = "FP64 add", [CLASS_SF] = "special",   [CLASS_SOFTSF] = "sine in software"};
	const struct device_info *d = study_device(s);
	double x[LOADS_MOST], y[LOADS_MOST];
	const struct timed_pair k = pipeline_pair(d, CLASS_SP, 1, 1, 1, false);
	struct figure *f =
	    figures_new(out, "occupancy-roofline", "Performance against occupancy, one chain in each warp");
	if (!f)
		return -1;
	figure_key(f, "pipeline.*");
	f->x = (struct figure_axis){.label = "warps of the SM", .unit = "count", .log2 = true};
	f->y = (struct figure_axis){.label = "performance of all SMs", .unit = "Gop/s", .log2 = true};
	for (unsigned c = 0; c < CLASSES; c++) {
		const struct pipeline_row *r = &pipeline_row[c];
		const size_t n = curve(study_series(s, c), &k, 1, x, y);
		const double flops = c == CLASS_MAD ? 2 : r->operations;
		for (size_t i = 0; i < n; i++)
			y[i] = flops * x[i] * d->warp_size * d->sm_count / y[i];
		if (n && figure_add(f, shown[c], MARK_LINE, x, y, NULL, n))
			return -1;
	}
	if (draw_items(s, &k, out))
		return -1;
	if (!(d->clock_hz > 0))
		return 0;
	f = figures_new(out, "pipeline-cycles", "Cycles per integer operation of a warp against occupancy");
	if (!f)
		return -1;
	figure_key(f, "pipeline.int.*");
	f->x = (struct figure_axis){.label = "warps of the SM", .unit = "count", .log2 = true};
	f->y = (struct figure_axis){.label = "one operation", .unit = "cycles", .log2 = true};
	for (size_t i = 0; i < sizeof ilp / sizeof *ilp; i++) {
		const size_t n = curve(study_series(s, CLASS_INT), &k, ilp[i], x, y);
		char label[32];
		for (size_t w = 0; w < n; w++)
			y[w] *= d->clock_hz * 1e-9 / pipeline_row[CLASS_INT].operations / x[w];
		snprintf(label, sizeof label, "%u independent", ilp[i]);
		if (n && figure_add(f, label, MARK_LINE, x, y, NULL, n))
			return -1;
	}
	return 0;
}
