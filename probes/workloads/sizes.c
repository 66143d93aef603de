/* Rates of some programs against their sizes, as figures. */
#include "workloads.h"
#include <stdio.h>
#include <string.h>

enum { SIZES_MOST = 8 };

struct curve {
	const char *workload, *name; /* of the table; of the curve */
	uint32_t first, count;	     /* each size is twice the last */
	uint32_t few;		     /* of them those that are no more work than the workload's own size */
	uint32_t own;		     /* a size that the workload has by itself, or 0 */
};
static const struct drawn {
	const char *figure, *title, *x;
	struct curve curve[2];
} drawn[] = {
    {"sgemm-size", "A dense matrix product against its size", "rows and columns", {{"sgemm", "products", 64, 4, 3, 0}}},
    {"fft-points",
     "Fourier transforms against their length",
     "points of a transform",
     {{"fft", "transforms", 16, 6, 6, FFT_POINTS}}},
    {"nbody-bodies",
     "Bodies that pull each other against their number",
     "bodies",
     {{"nbody_small", "a thread each", 512, 6, 3, BODIES_SMALL},
      {"nbody_split", "four threads each", 512, 6, 3, BODIES_SMALL}}},
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
			const uint32_t count = study_for_figures(s) ? k->count : k->few;
			for (uint32_t i = 0; i < count; i++)
				if (k->first << i != k->own)
					study_ask(s, experiment, (double)(k->first << i), p);
		}
}

/* Of a point whose answers are right; 0: there is none. */
static double rate_of(const struct study *s, const struct point *pt, uint32_t which, uint32_t size)
{
	const struct workload *k = &workload_table[which];
	struct workload_problem w = {.size = size};
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

static const struct point *point_of(const struct series *v, double x, double p)
{
	for (size_t i = 0; v && i < v->count; i++)
		if (v->points[i].x == x && v->points[i].p[0] == p)
			return &v->points[i];
	return NULL;
}

int workload_sizes_draw(const struct study *s, unsigned run, unsigned sizes, struct figure_list *out)
{
	for (unsigned f = 0; f < DRAWN; f++) {
		struct figure *to = NULL;
		for (unsigned c = 0; c < CURVES && drawn[f].curve[c].workload; c++) {
			const struct curve *k = &drawn[f].curve[c];
			const uint32_t which = number_of(k->workload);
			double x[SIZES_MOST], y[SIZES_MOST];
			size_t n = 0;
			for (uint32_t i = 0; i < k->count; i++) {
				const uint32_t size = k->first << i;
				const struct point *pt = size == k->own ? point_of(study_series(s, run), which, 0)
									: point_of(study_series(s, sizes), size, which);
				x[n] = size;
				y[n] = rate_of(s, pt, which, size);
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
