/* Average latency over the footprint: around the size of one level, or over all of them. */
#include "base/arena.h"
#include "probe/chase.h"
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define STEPS	   20 /* footprints */
#define BEFORE	   3  /* of them smaller than the level */
#define PLACES	   10
#define NEAR_MOST  1024 /* elements where many SMs are asked */
#define ALONE_MOST 4096
#define SPREAD	   28  /* footprints over all levels */
#define MAP_LINES  128 /* accesses of a row that a map shows */
#define MAP_LEAST  32  /* accesses */
#define POINTS	   (STEPS > SPREAD ? STEPS : SPREAD)

/* Footprints from a little less than the size to where every set has overflowed. */
struct zoom {
	double x[POINTS];
	unsigned count;
	double stride;
};

static struct zoom zoom_of(double size, double line, double sets, double stride, bool wide)
{
	struct zoom z = {.stride = stride};
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

/* Footprints from a few lines of the last level to a fifth more than it has. */
static struct zoom spread_of(double size, double line)
{
	struct zoom z = {.stride = line};
	const double step = ceil(1.2 * size / line / SPREAD) * line;

	for (unsigned i = 1; i <= SPREAD; i++)
		if (i * step >= 4 * line)
			z.x[z.count++] = i * step;
	return z;
}

static void ask_all(struct chase_path *c, const struct zoom *z, const uint32_t *sm, unsigned places)
{
	for (unsigned i = 0; i < z->count; i++)
		for (unsigned q = 0; q < places && z->x[i] <= (double)c->limit; q++) {
			double p[POINT_PARAMS];
			zoom_params(z->x[i], z->stride, sm[q], c->kind, c->room, p);
			study_ask(c->study, c->chase, z->x[i], p);
		}
}

void chase_zoom_ask(struct chase_path *c, unsigned k, double stride, bool wide)
{
	const struct chase_level *l = &c->level[k];
	uint32_t sm[PLACES];
	unsigned places = chase_placements(study_device(c->study), wide ? PLACES : 1, sm);

	if (l->endless || l->size.state != CHASE_DONE || l->line.state != CHASE_DONE || l->sets.state != CHASE_DONE)
		return;
	struct zoom z = zoom_of((double)l->size.value, (double)l->line.value, (double)l->sets.value, stride, wide);
	ask_all(c, &z, sm, places);
}

void chase_spread_ask(struct chase_path *c, unsigned levels)
{
	uint32_t sm[PLACES];
	unsigned places = chase_placements(study_device(c->study), PLACES, sm);

	while (levels && (c->level[levels - 1].endless || c->level[levels - 1].size.state != CHASE_DONE ||
			  c->level[levels - 1].line.state != CHASE_DONE))
		levels--;
	if (!levels)
		return;
	const struct chase_level *l = &c->level[levels - 1];
	struct zoom z = spread_of((double)l->size.value, (double)l->line.value);
	ask_all(c, &z, sm, places);
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

struct curve {
	double x[POINTS], mean[POINTS], least[POINTS], most[POINTS];
	unsigned count, places;
};

static void curve_of(struct curve *c, const struct series *series, const struct zoom *z)
{
	*c = (struct curve){0};
	for (unsigned i = 0; series && i < z->count; i++) {
		double v[PLACES], sum = 0;
		unsigned n = c->count, seen = means_at(series, z->x[i], z->stride, v);
		if (!seen)
			continue;
		c->x[n] = z->x[i];
		c->least[n] = INFINITY;
		c->most[n] = -INFINITY;
		for (unsigned q = 0; q < seen; q++) {
			sum += v[q] / seen;
			c->least[n] = fmin(c->least[n], v[q]);
			c->most[n] = fmax(c->most[n], v[q]);
		}
		c->mean[n] = sum;
		c->count++;
		c->places = seen > c->places ? seen : c->places;
	}
}

static int draw_curve(const struct curve *c, const char *name, const char *title, struct figure_list *out,
		      struct figure **figure)
{
	struct figure *f = figures_new(out, name, title);

	*figure = f;
	if (!f)
		return -1;
	f->x = (struct figure_axis){.label = "footprint", .unit = "bytes"};
	f->y = (struct figure_axis){.unit = "cycles"};
	int rc = figure_add(f, c->places > 1 ? "mean over SMs" : "mean", MARK_LINE, c->x, c->mean, NULL, c->count);
	if (rc == 0 && c->places > 1)
		rc = figure_add(f, "fastest to slowest SM", MARK_BAND, c->x, c->least, c->most, c->count);
	return rc;
}

/* A lap over a footprint of the zoom, on the first SM that there is. NULL: none was measured. */
static const struct point *lap_at(const struct series *series, double x, double stride)
{
	for (size_t i = 0; i < series->count; i++) {
		const struct point *pt = &series->points[i];
		if (pt->x == x && pt->p[CHASE_STRIDE] == stride && pt->p[CHASE_FLOOR] == 0 &&
		    pt->outcome == OUTCOME_OK && pt->p[CHASE_WARM] == ceil(x / stride) &&
		    pt->words_per_repeat > CHASE_HEAD)
			return pt;
	}
	return NULL;
}

/* Which lines miss when the footprint grows past the size: those of the sets that have overflowed, as far as the map goes. */
static int draw_sets(const struct study *s, const struct series *series, const struct zoom *z, const char *prefix,
		     const char *name, struct figure_list *out)
{
	double *x = ARENA_ARRAY(study_arena((struct study *)s), (size_t)3 * POINTS * MAP_LINES, double),
	       *y = x + POINTS * MAP_LINES, *ticks = y + POINTS * MAP_LINES, latency = NAN, fastest = INFINITY;
	char full[64], head[128];
	size_t n = 0;

	if (!x)
		return -1;
	for (unsigned i = 0; series && i < z->count; i++) {
		const struct point *pt = lap_at(series, z->x[i], z->stride);
		const uint32_t room = pt ? pt->words_per_repeat - CHASE_HEAD : 0,
			       kept = pt && pt->y[3] < room ? pt->y[3] : room;
		for (uint32_t k = 0; k < kept && k < MAP_LINES; k++, n++) {
			x[n] = k * z->stride;
			y[n] = z->x[i];
			ticks[n] = chase_ticks(pt->y[CHASE_HEAD + k]);
			fastest = fmin(fastest, ticks[n]);
		}
	}
	if (n < MAP_LEAST)
		return 0;
	snprintf(full, sizeof(full), "%.56s-map", name);
	/* "cache.constant.l1": "constant L1" */
	const char *path = strchr(prefix, '.') ? strchr(prefix, '.') + 1 : prefix, *level = strrchr(prefix, 'l');
	snprintf(head, sizeof(head), "%c%.*s L%.8s: which lines miss as the footprint grows",
		 toupper((unsigned char)*path), (int)strcspn(path, ".") - 1, path + 1, level ? level + 1 : "");
	struct figure *f = figures_new(out, full, head);
	if (!f)
		return -1;
	const bool is_known = study_number(s, KEY("%s.latency", prefix), &latency);
	for (size_t i = 0; i < n; i++)
		ticks[i] += (is_known ? latency : 0) - fastest;
	f->x = (struct figure_axis){.label = "address in the footprint", .unit = "bytes"};
	f->y = (struct figure_axis){.label = "footprint", .unit = "bytes"};
	f->shade = (struct figure_axis){.unit = "cycles"};
	snprintf(f->shade.label, sizeof(f->shade.label), "%s", is_known ? "latency" : "beyond the fastest access");
	snprintf(f->caption, sizeof(f->caption), "One lap a row. Lines of a set that overflows miss first.");
	static const char *const of[] = {"sets", "ways", "policy", "mapping"};
	for (unsigned i = 0; i < sizeof(of) / sizeof(of[0]); i++)
		figure_key(f, KEY("%s.%s", prefix, of[i]));
	return figure_add(f, "accesses", MARK_CELLS, x, y, ticks, n);
}

int chase_zoom_draw(const struct study *s, const struct series *series, const char *prefix, double stride,
		    const char *name, const char *title, struct figure_list *out)
{
	static const char *const what[] = {"size", "line", "sets"};
	double of[3];
	struct curve c = {0};
	struct zoom z = {0};
	struct figure *f;

	for (unsigned i = 0; i < 3; i++)
		if (!study_number(s, KEY("%s.%s", prefix, what[i]), &of[i]))
			return 0;
	for (int wide = 1; wide >= 0 && !c.count; wide--) {
		z = zoom_of(of[0], of[1], of[2], stride, wide);
		curve_of(&c, series, &z);
	}
	if (!c.count)
		return 0;
	int rc = draw_curve(&c, name, title, out, &f);
	if (!f)
		return rc;
	study_take_clock(s, f, KEY("%s.latency", prefix));
	figure_key(f, KEY("%s.*", prefix));
	figure_note(f, true, of[0], "size");
	return rc ? rc : draw_sets(s, series, &z, prefix, name, out);
}

int chase_spread_draw(const struct study *s, const struct series *series, const char *prefix, const char *name,
		      const char *title, struct figure_list *out)
{
	double size[CHASE_LEVELS], line = 0;
	unsigned levels = 0;
	char label[16];
	struct curve c;
	struct figure *f;

	for (unsigned k = 0; k < CHASE_LEVELS; k++) {
		double lines;
		if (!study_number(s, KEY("%s.l%u.size", prefix, k + 1), &size[k]))
			break;
		if (!study_number(s, KEY("%s.l%u.line", prefix, k + 1), &lines))
			break;
		line = lines;
		levels = k + 1;
	}
	if (!levels)
		return 0;
	struct zoom z = spread_of(size[levels - 1], line);
	curve_of(&c, series, &z);
	if (!c.count)
		return 0;
	int rc = draw_curve(&c, name, title, out, &f);
	if (f)
		study_take_clock(s, f, KEY("%s.l1.latency", prefix));
	if (f)
		figure_key(f, KEY("%s.*", prefix));
	for (unsigned k = 0; f && k < levels; k++) {
		snprintf(label, sizeof(label), "L%u", k + 1);
		figure_note(f, true, size[k], label);
	}
	return rc;
}
