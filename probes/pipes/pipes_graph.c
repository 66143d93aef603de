/* How the operations that name units are related: which of them are on one pipe. */
#include "pipes_graph.h"
#include <math.h>

/* The first that can be used stands for its kind. */
const int graph_choice[ANCHORS][GRAPH_CHOICES] = {{ROW_add_f32, ROW_fma_f32, ROW_mul_f32, NONE},
						  {ROW_add_u32, ROW_max_s32, ROW_and_b32, NONE},
						  {ROW_rsqrt_f32, ROW_lg2_f32, ROW_rcp_f32, NONE},
						  {ROW_add_f64, ROW_mul_f64, ROW_fma_f64, NONE},
						  {ROW_add_f16x2, ROW_fma_f16x2, ROW_add_f16, NONE}};
/* Slower operations that may be on the pipe of one anchor and show its relation to another, if issuing hides that. */
static const int links[] = {ROW_mulhi_u32, ROW_shl_b32, ROW_mul_u32, ROW_max_f32, ROW_shr_u32,
			    ROW_mul24_u32, ROW_mad_u32, ROW_and_b32, ROW_max_s32};
#define LINK_SLOWER 1.5	 /* than the faster one of the two */
#define SAME_RATE   0.05 /* by which rates may differ that are one */

bool graph_shares(enum relation r)
{
	return r == REL_SHARED || r == REL_PART;
}

static void set(struct graph *g, unsigned a, unsigned b, enum relation r)
{
	g->sure[a][b] = g->sure[b][a] = r;
}

static void look(struct graph *g, unsigned a, unsigned b)
{
	g->pair[a][b] = g->pair[b][a] =
	    pipes_pair(g->u, (unsigned)g->row[a], (unsigned)g->row[b], a < ANCHORS && b < ANCHORS);
	/* Two that name units of their own are not on one unit for a little that they seem to take from each other.
	 * They may overlap badly. */
	const bool little =
	    a < ANCHORS && b < ANCHORS && g->pair[a][b].is == REL_PART && g->pair[a][b].excess < HALF_OF_IT;
	set(g, a, b, little ? REL_HIDDEN : g->pair[a][b].is);
}

/* Whether all of node a is on the pipe of a link that seems to have all of it. A faster operation than the link may be
 * on another pipe as well, and still take turns with it. It does not beside more of the link. False as well while
 * points are missing. */
static bool is_wholly_with(struct graph *g, unsigned a, unsigned link)
{
	const struct solo *o = &g->u->solo[g->row[a]], *l = &g->u->solo[g->row[link]];

	return o->cycles >= l->cycles * (1 - SAME_RATE) ||
	       pipes_mostly(g->u, (unsigned)g->row[a], (unsigned)g->row[link]) >= ALL_OF_MOST;
}

/* An operation of one instruction that has all of its pipe in common with a is where a is. One that shares more with a and
 * b together than it has to share is on a pipe that both of them have. */
static bool follow(struct graph *g, unsigned a, unsigned b)
{
	for (unsigned k = 0; k < g->nodes; k++) {
		if (k == a || k == b || g->row[k] == NONE || g->u->solo[g->row[k]].native != 1)
			continue;
		const enum relation x = g->sure[k][a], y = g->sure[k][b];
		if (x == REL_SHARED && y == REL_SHARED) {
			set(g, a, b, REL_SHARED);
			return true;
		}
		if ((x == REL_SHARED && y == REL_APART && is_wholly_with(g, a, k)) ||
		    (y == REL_SHARED && x == REL_APART && is_wholly_with(g, b, k))) {
			set(g, a, b, REL_APART);
			return true;
		}
		if (graph_shares(g->pair[k][a].is) && graph_shares(g->pair[k][b].is) &&
		    fmin(g->pair[k][a].excess, g->pair[k][b].excess) >= HALF_OF_IT &&
		    g->pair[k][a].excess + g->pair[k][b].excess > MORE_THAN_ALL) {
			set(g, a, b, REL_PART);
			return true;
		}
	}
	return false;
}

static void follow_all(struct graph *g)
{
	for (bool again = true; again;) {
		again = false;
		for (unsigned a = 0; a < ANCHORS; a++)
			for (unsigned b = 0; b < g->nodes; b++)
				if (b != a && g->row[a] != NONE && g->row[b] != NONE && g->sure[a][b] == REL_HIDDEN)
					again |= follow(g, a, b);
	}
}

/* Drops relations that contradict each other. Suppose a node shares more with two others than it has, although those
 * two run side by side. It then shares less with one of them. A pipe in common makes no stream shorter than its work
 * takes, but warps that overlap badly make one longer. Nobody knows which of the two it is. */
static void contradictions(struct graph *g)
{
	for (unsigned k = 0; k < ANCHORS; k++)
		for (unsigned a = 0; a < ANCHORS; a++)
			for (unsigned b = 0; b < a; b++) {
				if (k == a || k == b || g->row[k] == NONE || g->row[a] == NONE || g->row[b] == NONE ||
				    g->pair[a][b].is != REL_APART)
					continue;
				const struct pair *x = &g->pair[k][a], *y = &g->pair[k][b];
				if (!graph_shares(x->is) || !graph_shares(y->is) ||
				    x->excess + y->excess <= MORE_THAN_ALL)
					continue;
				set(g, k, a, REL_HIDDEN);
				set(g, k, b, REL_HIDDEN);
			}
}

static bool any_hidden(const struct graph *g, double *fastest)
{
	bool any = false;
	*fastest = INFINITY;
	for (unsigned a = 0; a < ANCHORS; a++)
		for (unsigned b = 0; b < a; b++)
			if (g->sure[a][b] == REL_HIDDEN) {
				*fastest =
				    fmin(*fastest, fmin(g->u->solo[g->row[a]].cycles, g->u->solo[g->row[b]].cycles));
				any = true;
			}
	return any;
}

/* Anchors whose relation nothing else has told, by how much longer one of them takes than its issue. */
static bool look_uneven(struct graph *g)
{
	for (unsigned a = 0; a < ANCHORS; a++)
		for (unsigned b = 0; b < a; b++)
			if (g->sure[a][b] == REL_HIDDEN && g->pair[a][b].is == REL_HIDDEN)
				set(g, a, b, pipes_pair_uneven(g->u, (unsigned)g->row[a], (unsigned)g->row[b]).is);
	if (study_pending(g->u->s))
		return false;
	follow_all(g);
	return !study_pending(g->u->s);
}

/* All relations of the anchors. False while points are missing. */
bool graph_relate(struct graph *g)
{
	double fastest;
	g->nodes = ANCHORS;
	for (unsigned a = 0; a < ANCHORS; a++) {
		g->row[a] = NONE;
		for (unsigned i = 0; graph_choice[a][i] != NONE && g->row[a] == NONE; i++)
			if (g->u->solo[graph_choice[a][i]].usable && !g->u->solo[graph_choice[a][i]].estimated &&
			    g->u->solo[graph_choice[a][i]].native == 1)
				g->row[a] = graph_choice[a][i];
	}
	for (unsigned a = 0; a < ANCHORS; a++)
		for (unsigned b = 0; b < a; b++)
			if (g->row[a] != NONE && g->row[b] != NONE)
				look(g, a, b);
	if (study_pending(g->u->s))
		return false;
	contradictions(g);
	follow_all(g);
	if (study_pending(g->u->s))
		return false;
	if (!any_hidden(g, &fastest))
		return true;
	for (unsigned i = 0; i < sizeof links / sizeof *links && g->nodes < NODES; i++) {
		const struct solo *o = &g->u->solo[links[i]];
		bool known = false;
		for (unsigned k = 0; k < ANCHORS; k++)
			known |= g->row[k] == links[i];
		if (known || !o->usable || o->estimated || o->native != 1 || o->cycles < LINK_SLOWER * fastest)
			continue;
		g->row[g->nodes] = links[i];
		for (unsigned a = 0; a < ANCHORS; a++)
			if (g->row[a] != NONE)
				look(g, a, g->nodes);
		g->nodes++;
	}
	if (study_pending(g->u->s))
		return false;
	follow_all(g);
	return !study_pending(g->u->s) && look_uneven(g);
}

void graph_group(struct graph *g)
{
	for (unsigned a = 0; a < ANCHORS; a++)
		g->unit[a] = (int)a;
	for (unsigned round = 0; round < ANCHORS; round++)
		for (unsigned a = 0; a < ANCHORS; a++)
			for (unsigned b = 0; b < ANCHORS; b++)
				if (g->row[a] != NONE && g->row[b] != NONE && graph_shares(g->sure[a][b]) &&
				    g->unit[b] < g->unit[a])
					g->unit[a] = g->unit[b];
}

bool graph_has(const struct graph *g, int unit, enum anchor a)
{
	return g->row[a] != NONE && g->unit[a] == unit;
}
