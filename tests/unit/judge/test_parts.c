/* The judge on sets of pages, by rings that the model of a cache answers. There are rules by which pages of a set take
 * turns in missing, hashed sets, unequal ones, entries of two pages, and one set. */
#include "base/rng.h"
#include "judge/parts.h"
#include "stat/stat.h"
#include <math.h>
#include <string.h>

/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
/* clang-format on */

#define WARM   4
#define LAPS   8
#define ORDERS 4
#define PAGES  400
#define NOISE  0.002

struct gpu {
	struct model_shape shape;
	uint32_t pages;
	enum parts_state room; /* what rings without pages are, if not DONE */
	struct rng rng;
	unsigned rings;
};

static uint32_t order_of(uint32_t n, unsigned which)
{
	uint32_t a = (uint32_t)(n * (0.1 + 0.618 * which - floor(0.618 * which)));

	while (a > 1 && stat_gcd(a, n) != 1)
		a--;
	return a < 1 ? 1 : a;
}

/* Laps over some pages: misses of each, and laps without any. */
static void visit(struct gpu *g, const uint64_t *page, uint32_t n, unsigned which, double *missed, unsigned *clean)
{
	const uint32_t step = order_of(n, which);
	struct model_cache c;

	assert_int_equal(model_cache_open(&c, &g->shape, ++g->rings), 0);
	for (unsigned lap = 0; lap < WARM + LAPS; lap++) {
		bool any = false;
		for (uint32_t i = 0; i < n; i++) {
			const uint32_t q = (uint32_t)((uint64_t)i * step % n);
			const bool miss = !model_access(&c, page[q] * 4096);
			missed[q] += lap >= WARM && (miss || rng_unit(&g->rng) < NOISE);
			any = any || miss;
		}
		*clean += lap >= WARM && !any;
	}
	model_cache_close(&c);
}

static enum parts_state row(void *ctx, uint32_t past, double *nats)
{
	struct gpu *g = ctx;
	const uint32_t n = g->pages;
	uint64_t page[PAGES + 1];
	double missed[PAGES + 1] = {0};
	unsigned clean = 0;

	for (uint32_t q = 0; q < n; q++)
		page[q] = q;
	page[n] = n + past;
	for (unsigned which = 1; which <= ORDERS; which++)
		visit(g, page, n + 1, which, missed, &clean);
	for (uint32_t q = 0; q < n; q++)
		nats[q] = judge_log_beta(missed[q], ORDERS * LAPS - missed[q]) - judge_noise(missed[q], ORDERS * LAPS);
	return PARTS_DONE;
}

static enum parts_state room(void *ctx, uint32_t past, uint32_t first, uint32_t count, double *nats)
{
	struct gpu *g = ctx;
	uint64_t page[PAGES + 1];
	double missed[PAGES + 1] = {0};
	unsigned clean = 0;
	uint32_t n = 0;

	for (uint32_t q = 0; q < g->pages; q++)
		if (q < first || q >= first + count)
			page[n++] = q;
	page[n++] = g->pages + past;
	visit(g, page, n, 1, missed, &clean);
	*nats = clean ? -2 * JUDGE_NATS : 2 * JUDGE_NATS;
	return g->room;
}

/* How many sets are told, all of `alike` pages, or of those sizes if that is 0. */
static uint32_t sets_of(struct gpu *g, uint32_t alike, const uint32_t *size)
{
	const struct parts_asks asks = {g, row, room};
	struct parts out;
	struct arena a;

	rng_seed(&g->rng, 7);
	arena_init(&a);
	const enum parts_state state = judge_parts(&a, g->pages, PARTS_ROWS, &asks, &out);
	assert_int_equal(state, g->room == PARTS_PENDING && !out.sets ? PARTS_PENDING
				: out.sets			      ? PARTS_DONE
								      : PARTS_OPEN);
	if (out.sets && alike) {
		assert_null(out.size);
		assert_int_equal(g->pages, out.sets * alike);
	}
	if (out.sets && !alike) {
		assert_non_null(out.size);
		for (uint32_t i = 0; i < out.sets; i++)
			assert_int_equal(out.size[i], size[i]);
	}
	const uint32_t sets = out.sets;
	arena_free(&a);
	return sets;
}

static struct gpu gpu_of(uint32_t sets, uint32_t ways, enum rule rule)
{
	return (struct gpu){.shape = {.line = 4096, .sector = 4096, .sets = sets, .ways = ways, .rule = {.rule = rule}},
			    .pages = sets * ways,
			    .room = PARTS_DONE};
}

/* Whatever is replaced, and where every second visit of a lap misses in one set of an odd number of pages. */
static void test_alike(void **state)
{
	static const uint32_t of[][2] = {{1, 15}, {1, 16}, {5, 15}, {8, 6}, {16, 2},
					 {24, 1}, {40, 8}, {64, 5}, {6, 32}};

	(void)state;
	for (enum rule rule = RULE_LRU; rule <= RULE_NRU; rule++)
		for (size_t i = 0; i < sizeof(of) / sizeof(of[0]); i++) {
			struct gpu g = gpu_of(of[i][0], of[i][1], rule);
			const uint32_t sets = rule_applies(rule, of[i][1]) ? sets_of(&g, of[i][1], NULL) : of[i][0];
			/* Of many sets half of whose pages hide nobody asks for each. */
			assert_true(sets == of[i][0] || (!sets && rule == RULE_NRU && of[i][0] == 64));
		}
}

static void test_hashed(void **state)
{
	(void)state;
	for (enum rule rule = RULE_LRU; rule <= RULE_FIFO; rule++) {
		struct gpu g = gpu_of(16, 16, rule);
		g.shape.folded = true;
		assert_int_equal(sets_of(&g, 16, NULL), 16);
	}
}

/* Sets of which two are as large as a third, and many of unlike size. */
static void test_unequal(void **state)
{
	static const uint32_t parts[] = {16, 8, 8}, many[] = {11, 8, 11, 11, 9, 14, 11, 12, 16, 13, 3, 11},
			      few[] = {16, 15, 15, 16};
	const struct {
		const uint32_t *size;
		uint32_t sets, pages;
	} of[] = {{parts, 3, 32}, {many, 12, 130}, {few, 4, 62}};

	(void)state;
	for (enum rule rule = RULE_LRU; rule <= RULE_NRU; rule++)
		for (size_t i = 0; i < sizeof(of) / sizeof(of[0]); i++) {
			struct gpu g = gpu_of(of[i].sets, 16, rule);
			if (rule == RULE_PLRU)
				continue;
			g.shape.set_ways = of[i].size;
			g.pages = of[i].pages;
			const uint32_t sets = sets_of(&g, 0, of[i].size);
			assert_true(sets == of[i].sets || (rule != RULE_LRU && !sets));
		}
}

/* Two pages of each entry: twice as many seem to fit, and no set is told. */
static void test_halves(void **state)
{
	struct gpu g = gpu_of(8, 6, RULE_LRU);

	(void)state;
	g.shape.line = g.shape.sector = 8192;
	g.pages *= 2;
	assert_int_equal(sets_of(&g, 0, NULL), 0);
}

static void test_pending(void **state)
{
	struct gpu g = gpu_of(8, 6, RULE_LRU);

	(void)state;
	g.room = PARTS_PENDING;
	assert_int_equal(sets_of(&g, 6, NULL), 0);
	g.room = PARTS_OPEN;
	assert_int_equal(sets_of(&g, 6, NULL), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_alike),  cmocka_unit_test(test_hashed),  cmocka_unit_test(test_unequal),
	    cmocka_unit_test(test_halves), cmocka_unit_test(test_pending),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
