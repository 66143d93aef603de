/* Average latency around the size of one level. */
#include "texture_zoom.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

#define STEPS	   20 /* footprints */
#define BEFORE	   3  /* of them smaller than the level */
#define PLACES	   10
#define STRIDE	   8	/* bytes, as in the paper */
#define NEAR_MOST  1024 /* elements where many SMs are asked */
#define ALONE_MOST 4096

/* Footprints from a little less than the size to where every set has overflowed. */
struct zoom {
	double x[STEPS];
	unsigned count;
	double stride;
};

static struct zoom zoom_of(double size, double line, double sets, bool wide)
{
	struct zoom z = {.stride = STRIDE};
	double lines = ceil((sets + BEFORE) / (STEPS - BEFORE));

	while (size / z.stride > (wide ? NEAR_MOST : ALONE_MOST) && z.stride < line)
		z.stride *= 2;
	for (unsigned i = 0; i < STEPS; i++) {
		double x = size + ((double)i - BEFORE) * lines * line;
		if (x >= z.stride)
			z.x[z.count++] = x;
	}
	return z;
}

/* One lap before, where the survey has two: so nobody takes the one for the other. */
static void zoom_params(double x, double stride, uint32_t sm, unsigned kind, uint32_t room, double *p)
{
	double n = ceil(x / stride);

	memset(p, 0, POINT_PARAMS * sizeof(*p));
	p[CHASE_STRIDE] = stride;
	p[CHASE_WARM] = n;
	p[CHASE_TIMED] = n < room ? n : room;
	p[CHASE_PLACE] = 8.0 * sm + kind;
}

void zoom_ask(struct chase_path *c, unsigned k, bool wide)
{
	const struct chase_level *l = &c->level[k];
	uint32_t sm[PLACES];
	unsigned places = chase_placements(study_device(c->study), wide ? PLACES : 1, sm);

	if (l->endless || l->size.state != CHASE_DONE || l->line.state != CHASE_DONE || l->sets.state != CHASE_DONE)
		return;
	struct zoom z = zoom_of((double)l->size.value, (double)l->line.value, (double)l->sets.value, wide);
	for (unsigned i = 0; i < z.count; i++)
		for (unsigned q = 0; q < places && z.x[i] <= (double)c->limit; q++) {
			double p[POINT_PARAMS];
			zoom_params(z.x[i], z.stride, sm[q], c->kind, c->room, p);
			study_ask(c->study, c->chase, z.x[i], p);
		}
}

/* Mean ticks of an access of each place, at one footprint. Returns how many places there are. */
static unsigned means_at(const struct series *series, double x, double stride, double *mean)
{
	unsigned n = 0;

	for (size_t i = 0; i < series->count && n < PLACES; i++) {
		const struct point *pt = &series->points[i];
		if (pt->x != x || pt->p[CHASE_STRIDE] != stride || pt->p[CHASE_FLOOR] != 0 ||
		    pt->outcome != OUTCOME_OK || pt->p[CHASE_WARM] != ceil(x / stride) ||
		    pt->words_per_repeat <= CHASE_HEAD)
			continue;
		uint32_t room = pt->words_per_repeat - CHASE_HEAD, kept = room < pt->y[3] ? room : pt->y[3];
		double sum = 0;
		for (uint32_t k = 0; k < kept; k++)
			sum += chase_ticks(pt->y[CHASE_HEAD + k]);
		if (kept)
			mean[n++] = sum / kept;
	}
	return n;
}

int zoom_draw(const struct study *s, const struct series *series, const char *prefix, const char *name,
	      const char *title, struct figure_list *out)
{
	static const char *const what[] = {"size", "line", "sets"};
	double of[3], x[STEPS], mean[STEPS], least[STEPS], most[STEPS];
	unsigned n = 0, places = 0;

	for (unsigned i = 0; i < 3; i++) {
		char key[96];
		snprintf(key, sizeof(key), "%s.%s", prefix, what[i]);
		if (!study_number(s, key, &of[i]))
			return 0;
	}
	for (int wide = 1; wide >= 0 && !n && series; wide--) {
		struct zoom z = zoom_of(of[0], of[1], of[2], wide);
		for (unsigned i = 0; i < z.count; i++) {
			double v[PLACES], sum = 0;
			unsigned seen = means_at(series, z.x[i], z.stride, v);
			if (!seen)
				continue;
			x[n] = z.x[i];
			least[n] = INFINITY;
			most[n] = -INFINITY;
			for (unsigned q = 0; q < seen; q++) {
				sum += v[q] / seen;
				least[n] = fmin(least[n], v[q]);
				most[n] = fmax(most[n], v[q]);
			}
			mean[n++] = sum;
			places = seen > places ? seen : places;
		}
	}
	if (!n)
		return 0;
	struct figure *f = figures_new(out, name, title);
	if (!f)
		return -1;
	f->x = (struct figure_axis){.label = "footprint", .unit = "bytes"};
	f->y = (struct figure_axis){.label = "one access, with the cost of the clock", .unit = "cycles"};
	int rc = figure_add(f, places > 1 ? "mean over SMs" : "mean", MARK_LINE, x, mean, NULL, n);
	if (rc == 0 && places > 1)
		rc = figure_add(f, "fastest SM", MARK_POINTS, x, least, NULL, n);
	if (rc == 0 && places > 1)
		rc = figure_add(f, "slowest SM", MARK_POINTS, x, most, NULL, n);
	figure_note(f, true, of[0], "size");
	return rc;
}
