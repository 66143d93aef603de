/* What the judge says of a level that the rules leave open, from all rings that the record has of it. */
#include "base/arena.h"
#include "judge/pages.h"
#include "tlb.h"
#include <math.h>
#include <string.h>

#define UNTOLD	       0.01 /* of the visits may say nothing */
#define PASSED	       0.02 /* of them the level above may have answered, ... */
#define PASSED_BLURRED 0.3  /* ... or so it seems, where single visits do not tell */

static struct tlb_ring ring_of(const struct point *pt)
{
	const double *p = pt->p;
	return (struct tlb_ring){.pages = (uint32_t)pt->x,
				 .stride = (uint64_t)p[RING_STRIDE],
				 .from = (uint32_t)p[RING_FROM],
				 .offset = (uint64_t)p[RING_OFFSET],
				 .extra = (uint32_t)p[RING_EXTRA],
				 .lines = (uint32_t)p[RING_LINES],
				 .order = (uint32_t)p[RING_ORDER],
				 .turns = (uint32_t)p[RING_TURNS]};
}

bool tlb_judge_ring(struct arena *a, const struct tlb_path *c, unsigned k, const struct tlb_ring *ring,
		    const struct tlb_view *w, struct judge_ring *r)
{
	uint64_t *at = ARENA_ARRAY(a, w->pages, uint64_t);
	uint32_t *missed = ARENA_ARRAY(a, w->visits + 1, uint32_t), untold = 0, above = 0;
	const double passed = k && c->level[k - 1].blurred ? PASSED_BLURRED : PASSED;

	if (!at || !missed)
		return false;
	*r = (struct judge_ring){.n = w->pages,
				 .kept = tlb_hidden(c, k, UINT64_MAX),
				 .laps = w->visits / w->pages,
				 .seen = w->pages,
				 .at = at,
				 .missed = missed,
				 .bytes = (double)w->pages * (double)ring->stride,
				 .step = (double)ring->stride};
	for (uint32_t i = 0; i < w->pages; i++) {
		const uint64_t page = ring_page(w, i);
		at[i] = (page == w->pages - 1 && ring->extra ? ring->extra : page) * ring->stride +
			(page >= ring->from ? ring->offset : 0);
	}
	for (uint32_t v = 0; v < w->visits; v++) {
		untold += isnan(w->cost[v]);
		above += k && w->cost[v] < (float)c->level[k - 1].floor;
		if (tlb_missed(c, k, w->cost[v]))
			missed[r->misses++] = v;
	}
	if (untold > (c->front > 0 ? 0 : UNTOLD * w->visits) || w->skipped || above > passed * w->visits)
		r->laps = 0;
	return judge_ring_ready(a, r) == 0;
}

static bool read_rings(struct arena *a, struct tlb_path *c, unsigned k, const struct series *s, struct judge_ring *ring,
		       unsigned *rings)
{
	for (size_t i = 0; i < s->count; i++) {
		const struct point *pt = &s->points[i];
		const struct tlb_ring one = ring_of(pt);
		struct tlb_view w;
		if (pt->outcome != OUTCOME_OK || (uint64_t)pt->p[RING_BYTES] != c->bytes || one.pages < 2 ||
		    tlb_get(c, &one, &w) != CHASE_DONE)
			continue;
		if (!tlb_judge_ring(a, c, k, &one, &w, &ring[*rings]))
			return false;
		*rings += ring[*rings].laps > 0;
	}
	return true;
}

static bool weigh(struct tlb_path *c, unsigned k, const struct series *s, uint64_t line, struct pages_result *out)
{
	struct judge_ring *ring;
	unsigned rings = 0;
	struct arena a;

	arena_init(&a);
	ring = ARENA_ARRAY(&a, s->count, struct judge_ring);
	const bool done = ring && read_rings(&a, c, k, s, ring, &rings) && judge_pages(ring, rings, line, out) == 0;
	arena_free(&a);
	return done;
}

/* What a record of so many rings says of a level is kept: each pass asks for it. */
bool tlb_judge(struct tlb_path *c, unsigned k, struct pages_result *out)
{
	const struct series *s = study_series(c->study, c->experiment);
	struct {
		struct tlb_look look;
		uint64_t rings, line;
	} key;

	memset(out, 0, sizeof(*out));
	if (!s || c->level[k].blurred)
		return false;
	memset(&key, 0, sizeof(key));
	tlb_look_of(c, k, &(struct tlb_ring){0}, &key.look);
	key.rings = s->count;
	key.line = c->level[k].line.value;
	const struct pages_result *before = study_recall(c->study, "shape of all rings", &key, sizeof(key));
	if (before)
		*out = *before;
	else if (!weigh(c, k, s, key.line, out))
		return false;
	else
		study_keep(c->study, "shape of all rings", &key, sizeof(key), out, sizeof(*out));
	return out->found;
}

enum judge_verdict tlb_judge_verdict(const struct tlb_path *c, unsigned k, const struct pages_result *j)
{
	const struct tlb_level *l = &c->level[k];
	enum judge_verdict verdict = JUDGE_MEASURED;

	for (enum pages_key key = 0; key < PAGES_KEYS; key++) {
		const enum judge_verdict one = pages_verdict(j, key);
		verdict = one < verdict ? one : verdict;
	}
	/* Looks of the rules that saw another line, or more pages fit, have to be outweighed, too. Pages that fit
	 * beyond the shape are what levels before may keep. */
	const double alone = JUDGE_NATS - log(JUDGE_CHANCE_ALONE);
	const uint64_t reach = j->best.line * pages_value(&j->best, PAGES_ENTRIES);
	const bool known = l->reach.state == CHASE_DONE, other = known && j->best.line != l->line.value;
	const uint64_t fit = known ? l->reach.value / j->best.line : 0, entries = pages_value(&j->best, PAGES_ENTRIES);
	/* What the level before holds never asks this one: a level that reaches no farther is the one before, with
	 * another cost. */
	if (k && reach <= c->level[k - 1].reach.value)
		return JUDGE_OPEN;
	if (tlb_are_as_rows(c, k, &j->best) || (other && j->margin[PAGES_LINE] < alone) ||
	    (entries < fit && (entries + tlb_hidden(c, k, UINT64_MAX) < fit || j->margin[PAGES_ENTRIES] < alone)))
		return JUDGE_OPEN;
	return verdict;
}

void tlb_know(struct tlb_level *l, const struct pages_shape *q)
{
	struct chase_fact *const facts[PAGES_KEYS] = {&l->line, &l->entries, &l->sets, &l->ways};

	for (enum pages_key key = 0; key < PAGES_KEYS; key++)
		*facts[key] = (struct chase_fact){.state = CHASE_DONE, .value = pages_value(q, key)};
	l->reach = (struct chase_fact){.state = CHASE_DONE, .value = q->line * l->entries.value};
	l->shown = q->sets > 1;
	l->set_count = 0;
}
