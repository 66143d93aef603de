/* Wong 2010, Figures 13 to 16: what the first access to a page takes, against the footprint, the stride and an offset. */
#include "base/arena.h"
#include "stat/stat.h"
#include "tlb.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { POINTS = 48, MARKS = 96, HEAD = 8, TURNS = 2, PAGES_MOST = 1024, OFFSETS = 9 };

/* Textures in steps of half a line, so that many lines of them are in the way of a cache in front of the TLB. */
static uint64_t stride_of(const char *path, double line)
{
	uint64_t stride = (uint64_t)line;
	return strcmp(path, "texture") == 0 && stride >= 8192 ? stride / 2 : stride;
}

static void ask(struct tlb_path *c, struct tlb_ring ring)
{
	struct tlb_view w;

	ring.turns = TURNS;
	ring.order = 1;
	tlb_get(c, &ring, &w); /* what cannot be had is not drawn */
}

void tlb_ask_figures(struct tlb_path *c)
{
	const struct tlb_level *l = &c->level[0], *last = &c->level[c->level_count ? c->level_count - 1 : 0];

	if (!c->level_count || l->line.state != CHASE_DONE)
		return;
	uint64_t stride = stride_of(c->name, (double)l->line.value);
	uint64_t reach = last->reach.state == CHASE_DONE ? last->reach.value : 2 * l->reach.value;
	uint64_t most = reach * 5 / 4 / stride;
	most = most > PAGES_MOST ? PAGES_MOST : most;
	for (uint32_t i = 1; i <= POINTS; i++)
		ask(c, (struct tlb_ring){.pages = (uint32_t)((most * i + POINTS - 1) / POINTS), .stride = stride});
	for (uint32_t pages = (uint32_t)l->entries.value; pages <= l->entries.value + 1; pages++)
		for (int k = -8; k <= 12; k++) {
			uint64_t s = (uint64_t)((double)l->line.value * exp2(k / 3.0)) / 4096 * 4096;
			/* Wong's plot ends behind the way of the last level: 17 pages are more than it holds at such strides. */
			if (s >= 4096 && (k <= 8 || s * pages <= 5 * reach))
				ask(c, (struct tlb_ring){.pages = pages, .stride = s});
		}
	if (c->level_count < 2 || c->level[1].line.state != CHASE_DONE)
		return;
	const struct tlb_level *second = &c->level[1];
	/* Twenty pages for Wong: more than the first level holds, by a quarter, at a stride of which the second holds fewer. */
	uint32_t pages = (uint32_t)l->entries.value * 5 / 4;
	uint64_t apart = 1;
	while (apart * pages < second->reach.value)
		apart *= 2;
	for (uint32_t i = 0; i < OFFSETS; i++)
		ask(c, (struct tlb_ring){.pages = pages,
					 .stride = apart,
					 .from = pages / 2,
					 .offset = i * second->line.value / 4 / 16 * 16});
}

struct mark {
	double x, y;
};

/* What the first access to a page takes beyond a later one, on average: what reading the clock costs is in both. */
static double openers(const struct point *pt)
{
	double sum = 0;
	uint32_t n = pt->words_per_repeat - HEAD;

	for (uint32_t i = 0; i < n; i++)
		sum += (double)(pt->y[HEAD + i] & 0xffff) - (double)(pt->y[HEAD + i] >> 16);
	return sum / n;
}

enum abscissa { BY_FOOTPRINT, BY_STRIDE, BY_OFFSET };

/* Points of one kind: of this many pages (0: any) at this stride (0: any). Returns how many marks. */
static size_t collect(const struct series *s, enum abscissa by, double pages, double stride, struct mark *out)
{
	size_t n = 0;

	for (size_t i = 0; s && i < s->count && n < MARKS; i++) {
		const struct point *pt = &s->points[i];
		const double *p = pt->p;
		if (pt->outcome != OUTCOME_OK || pt->words_per_repeat <= HEAD || p[RING_EXTRA] > 0 ||
		    p[RING_ORDER] > 1 || p[RING_TURNS] != TURNS || (pages > 0 && pt->x != pages) ||
		    (stride > 0 && p[RING_STRIDE] != stride) || (by == BY_OFFSET) != (p[RING_FROM] > 0))
			continue;
		double x = by == BY_FOOTPRINT ? pt->x * p[RING_STRIDE] : p[by == BY_STRIDE ? RING_STRIDE : RING_OFFSET];
		out[n++] = (struct mark){.x = x, .y = openers(pt)};
	}
	qsort(out, n, sizeof(*out), stat_compare_double);
	return n;
}

static int add(struct figure *f, const char *label, const struct mark *m, size_t n)
{
	double x[MARKS], y[MARKS];

	for (size_t i = 0; i < n; i++) {
		x[i] = m[i].x;
		y[i] = m[i].y;
	}
	return n ? figure_add(f, label, MARK_LINE, x, y, NULL, n) : 0;
}

static struct figure *figure_of(struct figure_list *out, const char *path, const char *name, const char *title,
				const char *along, bool log2)
{
	char full[64], head[128];

	snprintf(full, sizeof(full), "tlb-%s%s", path, name);
	snprintf(head, sizeof(head), "%s: %s", strcmp(path, "global") ? "Textures" : "Global memory", title);
	struct figure *f = figures_new(out, full, head);
	if (!f)
		return NULL;
	snprintf(full, sizeof(full), "tlb.%s.*", path);
	figure_key(f, full);
	f->x = (struct figure_axis){.unit = "bytes", .log2 = log2};
	snprintf(f->x.label, sizeof(f->x.label), "%s", along);
	f->y = (struct figure_axis){.label = "first access to a page beyond a later one", .unit = "cycles"};
	return f;
}

static int draw_path(const struct study *s, unsigned experiment, const char *path, struct figure_list *out)
{
	const struct series *series = study_series(s, experiment);
	struct mark m[MARKS];
	char label[64];
	double line, entries, reach;
	size_t n;

	if (!study_number(s, KEY("tlb.%s.l1.line", path), &line))
		return 0;
	n = collect(series, BY_FOOTPRINT, 0, (double)stride_of(path, line), m);
	if (n) {
		struct figure *f = figure_of(out, path, "", "translation against footprint", "footprint", false);
		if (!f || add(f, "mean", m, n))
			return -1;
		f->main = strcmp(path, "global") == 0;
		for (unsigned k = 1; k <= 2; k++) {
			snprintf(label, sizeof(label), "L%u TLB", k);
			if (study_number(s, KEY("tlb.%s.l%u.reach", path, k), &reach) && reach <= m[n - 1].x)
				figure_note(f, true, reach, label);
		}
	}
	if (study_number(s, KEY("tlb.%s.l1.entries", path), &entries)) {
		struct figure *f = NULL;
		for (unsigned more = 0; more < 2; more++) {
			n = collect(series, BY_STRIDE, entries + more, 0, m);
			if (n && !f)
				f = figure_of(out, path, "-stride", "pages that just fit, and one more", "stride",
					      true);
			snprintf(label, sizeof(label), "%.0f pages", entries + more);
			if (n && (!f || add(f, label, m, n)))
				return -1;
		}
		if (f)
			figure_note(f, true, line, "line of the L1 TLB");
	}
	n = collect(series, BY_OFFSET, 0, 0, m);
	if (n) {
		struct figure *f = figure_of(out, path, "-offset", "half of the pages moved", "offset", false);
		if (!f || add(f, "mean", m, n))
			return -1;
		if (study_number(s, KEY("tlb.%s.l2.line", path), &line))
			figure_note(f, true, line, "line of the L2 TLB");
	}
	return 0;
}

/* All rings of plain pages that were asked, by powers of two: which reach the levels have, and of what pages. */
static int draw_map(const struct study *s, unsigned experiment, const char *path, struct figure_list *out)
{
	enum { BITS_X = 16, BITS_Y = 28, LEAST_Y = 11 };
	const struct series *series = study_series(s, experiment);
	double sum[BITS_Y][BITS_X] = {{0}}, x[BITS_Y * BITS_X], y[BITS_Y * BITS_X], cost[BITS_Y * BITS_X];
	unsigned seen[BITS_Y][BITS_X] = {{0}}, rows = 0;
	size_t n = 0;

	for (size_t i = 0; series && i < series->count; i++) {
		const struct point *pt = &series->points[i];
		const double *p = pt->p, bx = ceil(log2(pt->x)), by = floor(log2(p[RING_STRIDE])) - LEAST_Y;
		if (pt->outcome != OUTCOME_OK || pt->words_per_repeat <= HEAD || p[RING_EXTRA] > 0 ||
		    p[RING_FROM] > 0 || p[RING_OFFSET] > 0 || !(bx >= 0 && bx < BITS_X && by >= 0 && by < BITS_Y))
			continue;
		sum[(unsigned)by][(unsigned)bx] += openers(pt);
		seen[(unsigned)by][(unsigned)bx]++;
	}
	for (unsigned by = 0; by < BITS_Y; by++) {
		const size_t before = n;
		for (unsigned bx = 0; bx < BITS_X; bx++)
			if (seen[by][bx]) {
				x[n] = exp2(bx);
				y[n] = exp2(by + LEAST_Y);
				cost[n++] = sum[by][bx] / seen[by][bx];
			}
		rows += n > before;
	}
	if (rows < 4)
		return 0;
	struct figure *f = figure_of(out, path, "-map", "what a translation costs", "pages visited", true);
	if (!f)
		return -1;
	f->x.unit[0] = '\0';
	f->y = (struct figure_axis){.label = "stride", .unit = "bytes", .log2 = true};
	f->shade = (struct figure_axis){.label = "first access to a page beyond a later one", .unit = "cycles"};
	snprintf(f->caption, sizeof(f->caption),
		 "Each field: rings of more than half as many pages, at this stride or less than twice as much.");
	return figure_add(f, "rings", MARK_CELLS, x, y, cost, n);
}

int tlb_draw(const struct study *s, struct figure_list *out)
{
	static const char *const paths[] = {"global", "texture"};

	for (unsigned i = 0; i < 2; i++)
		if (draw_path(s, i, paths[i], out) || draw_map(s, i, paths[i], out))
			return -1;
	return 0;
}
