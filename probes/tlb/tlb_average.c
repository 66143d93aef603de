/* What pages cost on average, whatever single visits said: rings well within a level's reach, as long as it, a page more in each set,
 * and twice as long. */
#include "tlb.h"
#include <math.h>
#include <string.h>

/* A visit's cost, less a row of the memory where it is what some level costs and such a row: rows come with any number of pages, and what is asked
 * here is how many miss. */
static double without_row(const struct tlb_path *c, double cost)
{
	const double alike = c->gap + TLB_ROWS_ALIKE * c->rows;
	bool with = false;

	for (unsigned i = 0; i < c->steps && c->rows > 0; i++) {
		if (fabs(cost - c->step[i]) <= c->gap)
			return cost;
		with = with || fabs(cost - c->step[i] - c->rows) <= alike;
	}
	return with ? cost - c->rows : cost;
}

/* Mean cost of a visit. NAN with DONE: such a ring is not to be had, or not told. */
static enum chase_state mean_of(struct tlb_path *c, uint64_t pages, uint64_t stride, double *mean)
{
	struct tlb_view w;
	double sum = 0, count = 0;
	char why[sizeof(c->why)];

	*mean = NAN;
	if (pages < 2 || pages > RING_MOST)
		return CHASE_DONE;
	memcpy(why, c->why, sizeof(why));
	enum chase_state state = tlb_get(c, &(struct tlb_ring){.pages = (uint32_t)pages, .stride = stride}, &w);
	memcpy(c->why, why, sizeof(why));
	if (state != CHASE_DONE)
		return state == CHASE_PENDING ? state : CHASE_DONE;
	for (uint32_t v = 0; v < w.visits; v++)
		if (isfinite(w.cost[v])) {
			sum += without_row(c, w.cost[v]);
			count++;
		}
	*mean = count > 0 ? sum / count : NAN;
	return CHASE_DONE;
}

enum chase_state tlb_average(struct tlb_path *c, unsigned k)
{
	struct tlb_level *l = &c->level[k];
	const uint64_t n = l->entries.value, ways = l->set_count ? 1 : l->ways.value, sets = l->sets.value;
	const struct chase_shape_known is = {l->reach.value, l->line.value, ways, sets};
	struct chase_means m = {.half = NAN, .over = NAN, .narrow = NAN, .wide = NAN};

	l->average = (struct chase_average){.size[0] = '\0'};
	if (l->reach.state != CHASE_DONE || l->line.state != CHASE_DONE || l->entries.state != CHASE_DONE ||
	    l->sets.state != CHASE_DONE || (!l->set_count && l->ways.state != CHASE_DONE) || n < 8 || !ways ||
	    (k && n * 3 / 4 <= c->level[k - 1].entries.value))
		return CHASE_DONE;
	m.below_bytes = (double)(n * 3 / 4 * is.line);
	enum chase_state below = mean_of(c, n * 3 / 4, is.line, &m.below), full = mean_of(c, n, is.line, &m.full),
			 over = l->set_count ? CHASE_DONE : mean_of(c, n + sets, is.line, &m.over),
			 top = mean_of(c, 2 * n, is.line, &m.top);
	if (below == CHASE_PENDING || full == CHASE_PENDING || over == CHASE_PENDING || top == CHASE_PENDING)
		return CHASE_PENDING;
	if (isfinite(m.below) && isfinite(m.full) && isfinite(m.top))
		chase_average_judge(&m, &is, &l->average);
	return CHASE_DONE;
}
