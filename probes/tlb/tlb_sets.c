/* Ways and sets of a TLB level: which partition of the pages that fit makes those miss that do beside one page more (src/judge/parts.c). */
#include "base/arena.h"
#include "judge/parts.h"
#include "stat/stat.h"
#include "tlb.h"
#include <math.h>
#include <string.h>

#define HOT_ORDERS  4	 /* ways to go round a ring, ... */
#define MORE_ORDERS 16	 /* ... and where pages of a set take turns in missing, which depends on them */
#define ROOM_ORDERS 12	 /* in which pages are looked at: six where they fit are worth the nats of the house */
#define PASSES	    3	 /* in which pages come to be told from others */
#define RATE_MOST   0.5	 /* of noise: what comes more often is none */
#define MANY	    1024 /* pages, of which ... */
#define MANY_ROWS   4	 /* ... each ring costs as much as many rings of few */

/* Visits of a page, or of all: those that seemed to miss, that were seen, and that were as much too cheap. */
struct count {
	double missed, seen, low;
};
struct misses {
	struct tlb_path *c;
	unsigned k, orders;
	uint32_t pages;
	struct count *page; /* of each order and page */
};

static void add(struct count *to, struct count one)
{
	*to = (struct count){to->missed + one.missed, to->seen + one.seen, to->low + one.low};
}

static void add_misses(void *ctx, unsigned order, const struct tlb_view *w)
{
	struct misses *m = ctx;
	struct count *page = m->page + (size_t)m->orders * m->pages;

	if (order && w->order == 1) /* it has been added */
		return;
	for (uint32_t v = 0; v < w->visits; v++)
		add(&page[ring_page(w, v)], (struct count){tlb_missed(m->c, m->k, w->cost[v]), !isnan(w->cost[v]),
							   tlb_is_low(m->c, m->k, w->cost[v])});
	m->orders++;
}

struct asking {
	struct tlb_path *c;
	unsigned k, orders;
	struct misses fit; /* of as many pages as fit */
};

/* log P of what a page does in one order if noise of that rate is all of it. */
static double log_noise(const struct count *is, double rate)
{
	const double hits = is->seen - is->missed, least = judge_noise(is->missed, is->seen);

	/* What misses less often than noise does is as probable as if it did as often. */
	rate = fmin(rate, is->seen > 0 ? is->missed / is->seen : 0);
	return rate > 0 ? fmax(least, is->missed * log(rate) + hits * log1p(-rate)) : least;
}

/* Adds up what one order says of each page. Noise is the largest of several rates. Those are the survey's, and that of
 * visits that are too cheap here. The page's own misses if all fit are one, as are those of pages that are out of the
 * set so far. */
static void add_order(const struct asking *a, const struct count *page, const bool *out, double *noise)
{
	const uint32_t n = a->fit.pages;
	struct count all = {0}, others = {0};

	for (uint32_t q = 0; q < n; q++) {
		add(&all, page[q]);
		if (out[q])
			add(&others, page[q]);
	}
	const double least = fmax(a->c->level[a->k].noise, all.seen > 0 ? all.low / all.seen : 0),
		     rate = fmax(least, others.seen > 0 ? others.missed / others.seen : 0);
	for (uint32_t q = 0; q < n; q++) {
		const struct count *was = &a->fit.page[q];
		noise[q] +=
		    log_noise(&page[q], fmin(RATE_MOST, fmax(rate, was->seen > 0 ? was->missed / was->seen : 0)));
	}
}

/* Says by how many nats a rate of its own, the same in all orders, explains a page's misses better than noise. */
static void add_orders(const struct asking *a, const struct misses *m, const bool *out, double *nats)
{
	memset(nats, 0, a->fit.pages * sizeof(*nats));
	for (unsigned i = 0; i < m->orders; i++)
		add_order(a, m->page + (size_t)i * m->pages, out, nats);
	for (uint32_t q = 0; q < a->fit.pages; q++) {
		struct count is = {0};
		for (unsigned i = 0; i < m->orders; i++)
			add(&is, m->page[(size_t)i * m->pages + q]);
		nats[q] = judge_log_beta(is.missed, is.seen - is.missed) - nats[q];
	}
}

/* The quieter half of the pages, in all orders. */
static bool quieter_half(struct arena *arena, const struct misses *m, uint32_t n, bool *out)
{
	double *missed = ARENA_ARRAY(arena, 2 * (size_t)n, double);

	if (!missed)
		return false;
	for (unsigned i = 0; i < m->orders; i++)
		for (uint32_t q = 0; q < n; q++)
			missed[q] += m->page[(size_t)i * m->pages + q].missed;
	const double middle = stat_median(missed, n, missed + n);
	for (uint32_t q = 0; q < n; q++)
		out[q] = missed[q] <= middle;
	return true;
}

/* Leaves those out that are not told from noise. None, if they miss more often than noise does. */
static void leave_out(const struct asking *a, const struct misses *m, const double *nats, bool *out)
{
	const uint32_t n = a->fit.pages;
	struct count others = {0};
	bool any = false;

	for (uint32_t q = 0; q < n; q++) {
		out[q] = nats[q] < JUDGE_NATS;
		any = any || !out[q];
		for (unsigned i = 0; i < m->orders && out[q]; i++)
			add(&others, m->page[(size_t)i * m->pages + q]);
	}
	if (!any || others.missed > RATE_MOST * others.seen)
		memset(out, 0, n * sizeof(*out));
}

/* A delay comes in some orders, and upon all pages alike. Pages of the set are those that miss more than the others do
 * in the same order. If none do, all are of it. */
static void weigh(struct arena *arena, const struct asking *a, const struct misses *m, double *nats)
{
	bool *out = ARENA_ARRAY(arena, a->fit.pages, bool);

	if (!out || !quieter_half(arena, m, a->fit.pages, out))
		return;
	for (unsigned pass = 0; pass < PASSES; pass++) {
		add_orders(a, m, out, nats);
		leave_out(a, m, nats, out);
	}
	add_orders(a, m, out, nats);
}

struct row_key {
	struct tlb_look look;
	uint64_t orders;
};

/* Many visits in many orders are counted for each look, so what was seen is kept for the passes to come. */
static enum parts_state ask_row(void *ctx, uint32_t past, double *nats)
{
	struct asking *a = ctx;
	const struct tlb_level *l = &a->c->level[a->k];
	const uint32_t n = (uint32_t)l->entries.value;
	const struct tlb_ring ring = {.pages = n + 1, .stride = l->line.value, .extra = past ? n + past : 0};
	struct row_key key = {.orders = a->orders};
	struct arena *arena = study_arena(a->c->study);
	struct misses m = {.c = a->c,
			   .k = a->k,
			   .pages = n + 1,
			   .page = ARENA_ARRAY(arena, (size_t)a->orders * (n + 1), struct count)};

	tlb_look_of(a->c, a->k, &ring, &key.look);
	const double *before = study_recall(a->c->study, "pages beside one more", &key, sizeof(key));
	if (before) {
		memcpy(nats, before, n * sizeof(*nats));
		return PARTS_DONE;
	}
	if (!m.page)
		return PARTS_OPEN;
	const enum chase_state state = tlb_over_orders(a->c, &ring, 0, a->orders - 1, 0, add_misses, &m);
	if (state != CHASE_DONE)
		return state == CHASE_PENDING ? PARTS_PENDING : PARTS_OPEN;
	weigh(arena, a, &m, nats);
	study_keep(a->c->study, "pages beside one more", &key, sizeof(key), nats, n * sizeof(*nats));
	return PARTS_DONE;
}

/* A level above that keeps a page of a full set makes room for it, in one order of visits and not in another. So an
 * order in which all fit is worth a hidden miss. An order in which they do not is worth the chance that a look at a
 * ring is wrong. */
static enum parts_state ask_room(void *ctx, uint32_t past, uint32_t first, uint32_t count, double *nats)
{
	const struct asking *a = ctx;
	const struct tlb_level *l = &a->c->level[a->k];
	const uint32_t n = (uint32_t)l->entries.value;
	const uint64_t line = l->line.value;
	struct tlb_ring ring = {
	    .pages = n + 1 - count, .stride = line, .from = first, .offset = count * line, .extra = n + past - count};
	bool pending = false;

	*nats = 0;
	for (unsigned which = 1, open = 0; which <= ROOM_ORDERS && open <= which / 2 + 1 && fabs(*nats) < JUDGE_NATS;
	     which++) {
		bool fit = false;
		ring.order = which > 1 ? tlb_order(ring.pages, which) : 0;
		const enum chase_state state = tlb_fits(a->c, a->k, &ring, &fit);
		pending = pending || state == CHASE_PENDING;
		/* As many as have to be read at least are asked for at once. */
		if (pending && (which == 2 || which == 6 || which == ROOM_ORDERS))
			break;
		if (state == CHASE_DONE)
			*nats += fit ? JUDGE_HIDDEN : -log(JUDGE_CHANCE_ALONE);
		open += state == CHASE_UNDECIDED;
	}
	return pending ? PARTS_PENDING : PARTS_DONE;
}

static enum parts_state sets_by(struct asking *a, struct parts *out)
{
	const struct parts_asks asks = {a, ask_row, ask_room};
	const uint32_t n = (uint32_t)a->c->level[a->k].entries.value;

	return judge_parts(study_arena(a->c->study), n, n <= MANY ? PARTS_ROWS : MANY_ROWS, &asks, out);
}

enum chase_state tlb_sets(struct tlb_path *c, unsigned k)
{
	struct tlb_level *l = &c->level[k];
	const uint32_t n = (uint32_t)l->entries.value;
	struct asking a = {c,
			   k,
			   HOT_ORDERS,
			   {.c = c, .k = k, .pages = n, .page = ARENA_ARRAY(study_arena(c->study), n, struct count)}};
	struct parts parts;

	l->set_count = 0;
	if (!a.fit.page)
		return chase_undecided(&l->ways, "out of memory");
	const enum chase_state fit =
	    tlb_over_orders(c, &(struct tlb_ring){.pages = n, .stride = l->line.value}, 1, 1, 0, add_misses, &a.fit);
	if (fit != CHASE_DONE)
		return l->ways.state = fit;
	enum parts_state state = sets_by(&a, &parts);
	if (state == PARTS_OPEN) {
		a.orders = MORE_ORDERS;
		state = sets_by(&a, &parts);
	}
	if (state == PARTS_PENDING)
		return l->ways.state = CHASE_PENDING;
	l->shown = !l->blurred && (parts.shown || parts.sets > 1);
	if (!parts.sets)
		return chase_undecided(&l->ways, "%s", parts.why);
	l->sets = (struct chase_fact){.state = CHASE_DONE, .value = parts.sets};
	l->ways = (struct chase_fact){.state = CHASE_DONE, .value = n / parts.sets};
	if (parts.size && parts.sets > sizeof(l->set_size) / sizeof(l->set_size[0])) {
		l->sets.state = CHASE_UNDECIDED;
		return chase_undecided(&l->ways, "there are more sets of unequal size than can be told");
	}
	for (uint32_t i = 0; parts.size && i < parts.sets; i++)
		l->set_size[l->set_count++] = parts.size[i];
	if (parts.size)
		chase_undecided(&l->ways, "sets are of unequal size");
	return CHASE_DONE;
}
