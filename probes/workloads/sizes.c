/* Rates of some programs against their sizes, as figures. */
#include "workloads.h"
#include <stdio.h>
#include <string.h>

enum { SIZES_MOST = 8 };

struct curve {
	const char *workload, *name; /* of the table; of the curve */
	uint32_t first, count;	     /* each size is twice the last */
};
static const struct drawn {
	const char *figure, *title, *x;
	struct curve curve[2];
} drawn[] = {
    {"sgemm-size", "A dense matrix product against its size", "rows and columns", {{"sgemm", "products", 64, 4}}},
    {"fft-points", "Fourier transforms against their length", "points of a transform", {{"fft", "transforms", 16, 6}}},
    {"nbody-bodies",
     "Bodies that pull each other against their number",
     "bodies",
     {{"nbody_small", "a thread each", 512, 6}, {"nbody_split", "four threads each", 512, 6}}},
};
enum { DRAWN = sizeof drawn / sizeof *drawn, CURVES = 2 };

static uint32_t number_of(const char *name)
{
	uint32_t i = 0;
	while (i < workload_count && strcmp(workload_table[i].name, name) != 0)
		i++;
	return i;
}

int workload_sizes_setup(const struct study *s, double x, const double *p, struct job *j)
{
	return workload_setup(s, (uint32_t)p[0], 0, (uint32_t)x, j);
}

void workload_sizes_study(struct study *s, unsigned experiment)
{
	for (unsigned f = 0; f < DRAWN; f++)
		for (unsigned c = 0; c < CURVES && drawn[f].curve[c].workload; c++) {
			const struct curve *k = &drawn[f].curve[c];
			const double p[POINT_PARAMS] = {number_of(k->workload)};
			for (uint32_t i = 0; i < k->count; i++)
				study_ask(s, experiment, (double)k->first * (1u << i), p);
		}
}

/* Of a point whose answers are right; 0: there is none. */
static double rate_of(const struct study *s, const struct point *pt)
{
	const struct workload *k = &workload_table[(uint32_t)pt->p[0]];
	struct workload_problem w = {.size = (uint32_t)pt->x};
	struct arena a;
	char why[160];
	double rate = 0;
	arena_init(&a);
	if (k->prepare(&w, &a, study_device(s)) == 0 && workload_ran(pt, &w) &&
	    workload_right(&w, pt, why, sizeof why)) {
		const uint32_t *time = pt->y + pt->words_per_repeat - WORKLOAD_TIME_WORDS;
		const double ns = (double)time[0] + (double)time[1] * 0x1p32;
		rate = ns > 0 ? w.work / ns : 0;
	}
	arena_free(&a);
	return rate;
}

int workload_sizes_draw(const struct study *s, unsigned experiment, struct figure_list *out)
{
	const struct series *v = study_series(s, experiment);
	for (unsigned f = 0; f < DRAWN; f++) {
		struct figure *to = NULL;
		for (unsigned c = 0; c < CURVES && drawn[f].curve[c].workload; c++) {
			const uint32_t which = number_of(drawn[f].curve[c].workload);
			double x[SIZES_MOST], y[SIZES_MOST];
			size_t n = 0;
			for (size_t i = 0; v && i < v->count && n < SIZES_MOST; i++) {
				if ((uint32_t)v->points[i].p[0] != which)
					continue;
				x[n] = v->points[i].x;
				y[n] = rate_of(s, &v->points[i]);
				n += y[n] > 0;
			}
			if (!n)
				continue;
			if (!to) {
				to = figures_new(out, drawn[f].figure, drawn[f].title);
				if (!to)
					return -1;
				figure_key(to, "workload.*");
				to->x = (struct figure_axis){.unit = "count", .log2 = true};
				snprintf(to->x.label, sizeof to->x.label, "%s", drawn[f].x);
				to->y = (struct figure_axis){.label = "rate", .unit = "Gop/s"};
			}
			if (figure_add(to, drawn[f].curve[c].name, MARK_LINE, x, y, NULL, n))
				return -1;
		}
	}
	return 0;
}
