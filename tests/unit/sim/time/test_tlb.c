/* Translation alone: what an access waits for its TLBs and the walk, exactly, beside a model that keeps lists. */
#include "base/arena.h"
#include "gpu/sim/time/time_state.h"
#include <string.h>

/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
/* clang-format on */

#define KB 1024ull
#define MB (1024 * KB)

static void entries(struct cache_spec *c, uint32_t sets, uint32_t ways, uint64_t line, enum cache_scope scope,
		    double latency)
{
	*c = (struct cache_spec){.present = true,
				 .size = sets * ways * line,
				 .line = (uint32_t)line,
				 .sector = (uint32_t)line,
				 .sets = sets,
				 .ways = ways,
				 .scope = scope,
				 .latency = latency,
				 .partitions = 1};
}

/* The global path of the GTX 280: Wong 2010, IV-I1. */
static void wong(struct sim_spec *s)
{
	*s = (struct sim_spec){.sm_count = 6, .sm_per_cluster = 3, .cluster_count = 2, .page_size = 4 * KB};
	struct tlb_spec *t = &s->tlb[TLB_GLOBAL];
	t->levels = 2;
	t->miss_latency = 211;
	entries(&t->level[0], 1, 16, 512 * KB, SCOPE_CLUSTER, 0);
	entries(&t->level[1], 1024, 8, 4 * KB, SCOPE_GPU, 47);
	t->level[0].sector = 4 * KB;
}

static uint64_t window;

static void open_tlb(struct time_tlb *t, const struct sim_spec *s, const struct time_level *table)
{
	window = 0;
	assert_int_equal(tlb_open(t, s, TLB_GLOBAL, table, &window, 9), 0);
}

/* Cycles that SM sm waits at cycle now. */
static double ask(struct time_tlb *t, uint32_t sm, uint64_t address, uint64_t now)
{
	uint64_t extra = 0;
	assert_true(tlb_translate(t, sm, sm / 3, address, now, &extra));
	return (double)extra / FIX_ONE;
}

/* Mean cycles of the accesses of a ring that was walked until it settled, each long after the one before. */
static double ring(struct time_tlb *t, const uint64_t *address, uint32_t n)
{
	double sum = 0;
	static uint64_t now;
	for (uint32_t round = 0; round < 4; round++)
		for (uint32_t k = 0; k < n; k++) {
			double one = ask(t, 0, address[k], now += 2000);
			sum += round == 3 ? one : 0;
		}
	return sum / n;
}

static double stride(struct time_tlb *t, uint32_t n, uint64_t bytes)
{
	static uint64_t address[4096];
	for (uint32_t k = 0; k < n; k++)
		address[k] = 1040 * MB + k * bytes; /* 8 runs of 65 x 2 MB */
	return ring(t, address, n);
}

/* Fig. 13: at a stride of 512 KB three plateaus, to 8 MB, to 32 MB and from 36 MB on. */
static void reaches_are_where_the_plateaus_end(void **state)
{
	(void)state;
	struct sim_spec s;
	struct time_tlb t;
	wong(&s);
	open_tlb(&t, &s, NULL);
	for (uint32_t n = 1; n <= 80; n++) {
		uint32_t lost = n <= 64 ? 0 : n < 72 ? (n - 64) * 9 : n; /* sets of the L2 with 9 pages for 8 ways */
		double wanted = n <= 16 ? 0 : 47 + 211.0 * lost / n;
		assert_float_equal(stride(&t, n, 512 * KB), wanted, 1e-9);
	}
	tlb_close(&t);
}

/* Fig. 14: 17 elements miss at every stride from 512 KB on, so there is one set; at less they share entries. */
static void the_first_level_has_one_set(void **state)
{
	(void)state;
	struct sim_spec s;
	struct time_tlb t;
	wong(&s);
	open_tlb(&t, &s, NULL);
	static const uint64_t wide[] = {512 * KB, 608 * KB, 724 * KB, 821 * KB, 1 * MB, 3 * MB, 8 * MB};
	for (uint32_t k = 0; k < 7; k++) {
		assert_true(stride(&t, 17, wide[k] / 4096 * 4096) >= 47);
		assert_float_equal(stride(&t, 16, wide[k] / 4096 * 4096), 0, 0);
	}
	assert_float_equal(stride(&t, 17, 481 * KB), 0, 0);
	tlb_close(&t);
}

/* Fig. 15: 20 elements 2 MB apart fill two sets of the L2 with ten each. If 4 KB lie between the halves, these are four
 * sets of five. */
static void the_second_level_has_pages_of_4_kb(void **state)
{
	(void)state;
	struct sim_spec s;
	struct time_tlb t;
	wong(&s);
	open_tlb(&t, &s, NULL);
	for (uint64_t offset = 0; offset <= 8 * KB; offset += 512) {
		uint64_t address[20];
		for (uint64_t k = 0; k < 20; k++)
			address[k] = 512 * MB + k * 2 * MB + (k < 10 ? 0 : offset);
		assert_float_equal(ring(&t, address, 20), offset < 4 * KB ? 47 + 211 : 47, 0);
	}
	tlb_close(&t);
}

/* Parts of an entry come alone: walked page by page, each page of an entry is asked for. */
static void an_entry_fills_part_by_part(void **state)
{
	(void)state;
	struct sim_spec s;
	struct time_tlb t;
	wong(&s);
	open_tlb(&t, &s, NULL);
	for (uint64_t page = 0; page < 128; page++) {
		assert_float_equal(ask(&t, 0, page * 4 * KB, page * 10000), 258, 0);
		assert_float_equal(ask(&t, 0, page * 4 * KB + 4000, page * 10000 + 5000), 0, 0);
	}
	tlb_close(&t);
	s.tlb[TLB_GLOBAL].level[0].sector = 512 * KB;
	open_tlb(&t, &s, NULL);
	for (uint64_t page = 0; page < 128; page++)
		assert_float_equal(ask(&t, 0, page * 4 * KB, page * 10000), page ? 0 : 258, 0);
	tlb_close(&t);
}

static void a_walk_under_way_is_waited_for(void **state)
{
	(void)state;
	struct sim_spec s;
	struct time_tlb t;
	wong(&s);
	open_tlb(&t, &s, NULL);
	assert_float_equal(ask(&t, 0, 0, 1000), 258, 0);
	assert_float_equal(ask(&t, 1, 0, 1100), 158, 0); /* the same cluster: the same entry */
	assert_float_equal(ask(&t, 4, 0, 1100), 158, 0); /* another: finds it in the L2, on its way */
	assert_float_equal(ask(&t, 5, 0, 1257), 1, 0);
	assert_float_equal(ask(&t, 0, 0, 1258), 0, 0);
	assert_float_equal(ask(&t, 3, 8, 2000), 0, 0);
	tlb_close(&t);
}

static void scopes_share_what_they_should(void **state)
{
	(void)state;
	for (uint32_t scope = SCOPE_SM; scope <= SCOPE_GPU; scope++) {
		struct sim_spec s;
		struct time_tlb t;
		wong(&s);
		s.tlb[TLB_GLOBAL].level[0].scope = (enum cache_scope)scope;
		open_tlb(&t, &s, NULL);
		assert_int_equal(t.near, scope == SCOPE_GPU ? 0 : 1);
		ask(&t, 0, 0, 1000);
		assert_float_equal(ask(&t, 0, 0, 9000), 0, 0);
		assert_float_equal(ask(&t, 1, 0, 9000), scope == SCOPE_SM ? 47 : 0, 0);
		assert_float_equal(ask(&t, 3, 0, 9000), scope == SCOPE_GPU ? 0 : 47, 0);
		tlb_close(&t);
	}
}

/* Mei 2014, Fig. 10 and 11: a second level of one set of 17 and six of 8, entries of 2 MB. */
static void unequal_sets_lose_one_set_at_a_time(void **state)
{
	(void)state;
	static const uint32_t sizes[] = {17, 8, 8, 8, 8, 8, 8};
	struct sim_spec s = {.sm_count = 6, .sm_per_cluster = 3, .cluster_count = 2, .page_size = 2 * MB};
	struct time_tlb t;
	s.tlb[TLB_GLOBAL] = (struct tlb_spec){.levels = 2, .miss_latency = 100};
	entries(&s.tlb[TLB_GLOBAL].level[0], 1, 16, 2 * MB, SCOPE_GPU, 0);
	entries(&s.tlb[TLB_GLOBAL].level[1], 7, 17, 2 * MB, SCOPE_GPU, 6);
	s.tlb[TLB_GLOBAL].level[1].set_ways = sizes;
	s.tlb[TLB_GLOBAL].level[1].size = 130 * MB;
	open_tlb(&t, &s, NULL);
	for (uint32_t n = 14; n <= 76; n++) {
		uint32_t lost = n <= 65 ? 0 : n <= 72 ? 18 + 9 * (n - 66) : n;
		assert_float_equal(stride(&t, n, 2 * MB), n <= 16 ? 0 : 6 + 100.0 * lost / n, 1e-9);
	}
	tlb_close(&t);
}

/* Mei 2014, 4.2: 512 MB are active; a walk elsewhere switches. What the TLBs hold does not. */
static void a_walk_outside_of_the_window_switches(void **state)
{
	(void)state;
	struct sim_spec s;
	struct time_tlb t;
	wong(&s);
	s.tlb_window = 512 * MB;
	s.tlb_window_switch = 266;
	open_tlb(&t, &s, NULL);
	assert_float_equal(ask(&t, 0, 100 * MB, 1000), 258, 0);
	assert_float_equal(ask(&t, 0, 511 * MB, 2000), 258, 0);
	assert_float_equal(ask(&t, 0, 512 * MB, 3000), 258 + 266, 0);
	assert_float_equal(ask(&t, 0, 1023 * MB, 4000), 258, 0);
	assert_float_equal(ask(&t, 0, 100 * MB, 5000), 0, 0);
	assert_float_equal(ask(&t, 0, 200 * MB, 6000), 258 + 266, 0);
	tlb_close(&t);
}

/* A walk through the L2: four entries of 8 bytes lie in one of its sectors. */
static void a_walk_may_find_its_entry_in_the_cache(void **state)
{
	(void)state;
	struct sim_spec s;
	struct time_tlb t;
	struct cache_spec l2;
	struct time_cache cache;
	wong(&s);
	s.tlb[TLB_GLOBAL].walk = WALK_L2;
	s.tlb[TLB_GLOBAL].walk_memory = 300;
	entries(&l2, 64, 4, 128, SCOPE_GPU, 200);
	l2.sector = 32;
	cache_init(&cache, &l2, 1, 0);
	struct time_level level = {.cache = &cache, .scope = SCOPE_GPU, .spec = &l2, .count = 1};
	open_tlb(&t, &s, &level);
	for (uint64_t page = 0; page < 16; page++) {
		double wanted = page % 4 ? 258 : 558;
		assert_float_equal(ask(&t, 0, page * 4 * KB, page * 10000), wanted, 0);
	}
	/* Two pages of one sector at once: the second waits for the first one's sector. */
	assert_float_equal(ask(&t, 0, 16 * 4 * KB, 500000), 558, 0);
	assert_float_equal(ask(&t, 0, 17 * 4 * KB, 500100), 458, 0);
	cache_free(&cache);
	tlb_close(&t);
}

/* ---- two levels as lists, youngest first ---- */
#define LIST 64
struct list {
	uint64_t line[LIST];
	unsigned char part[LIST][16];
	unsigned count;
};

/* Whether the part was there; it is now, and its entry is the youngest of at most `ways`. */
static bool list_ask(struct list *l, unsigned ways, uint64_t line, unsigned part)
{
	unsigned at = 0;
	unsigned char parts[16] = {0};
	while (at < l->count && l->line[at] != line)
		at++;
	if (at < l->count)
		memcpy(parts, l->part[at], sizeof parts);
	else if (l->count < ways)
		l->count++;
	else
		at = ways - 1;
	for (; at; at--) {
		l->line[at] = l->line[at - 1];
		memcpy(l->part[at], l->part[at - 1], sizeof parts);
	}
	bool was = parts[part];
	parts[part] = 1;
	l->line[0] = line;
	memcpy(l->part[0], parts, sizeof parts);
	return was;
}

static void random_accesses_are_what_the_lists_say(void **state)
{
	(void)state;
	for (uint32_t n = 0; n < 24; n++) {
		struct sim_spec s = {.sm_count = 6, .sm_per_cluster = 3, .cluster_count = 2, .page_size = 4 * KB};
		uint32_t ways[2] = {1 + n % 5, 2 + n % 7}, sets[2] = {1 + n % 3, 3 + n % 6};
		static struct list list[2][16];
		struct time_tlb t;
		struct rng r;
		memset(list, 0, sizeof list);
		rng_seed(&r, n);
		s.tlb[TLB_GLOBAL] = (struct tlb_spec){.levels = 2, .miss_latency = 200};
		entries(&s.tlb[TLB_GLOBAL].level[0], sets[0], ways[0], 32 * KB, SCOPE_SM, n % 2 ? 3 : 0);
		entries(&s.tlb[TLB_GLOBAL].level[1], sets[1], ways[1], 16 * KB, SCOPE_GPU, 50);
		s.tlb[TLB_GLOBAL].level[0].sector = 4 * KB;
		open_tlb(&t, &s, NULL);
		for (uint64_t k = 0; k < 4000; k++) {
			uint64_t a = rng_below(&r, 200 + k % 800) * 1000;
			double wanted = n % 2 ? 3 : 0;
			if (!list_ask(&list[0][a / (32 * KB) % sets[0]], ways[0], a / (32 * KB),
				      (unsigned)(a / (4 * KB) % 8))) {
				wanted += 50;
				if (!list_ask(&list[1][a / (16 * KB) % sets[1]], ways[1], a / (16 * KB), 0))
					wanted += 200;
			}
			assert_float_equal(ask(&t, 2, a, k * 1000), wanted, 0);
		}
		tlb_close(&t);
	}
}

/* The near levels first and the rest later, as the engine does it, is the same as all at once. */
static void in_two_parts_it_is_the_same(void **state)
{
	(void)state;
	struct sim_spec s;
	struct time_tlb whole, parts;
	struct rng r;
	wong(&s);
	rng_seed(&r, 3);
	open_tlb(&whole, &s, NULL);
	open_tlb(&parts, &s, NULL);
	for (uint64_t k = 0; k < 5000; k++) {
		uint64_t a = rng_below(&r, 3000) * 16 * KB, now = k * 37;
		uint32_t sm = (uint32_t)rng_below(&r, 6);
		struct tlb_look look = {.extra = 0};
		assert_true(tlb_levels(&parts, 0, parts.near, sm, sm / 3, a, now, &look));
		if (!look.found)
			assert_true(tlb_levels(&parts, parts.near, parts.levels, sm, sm / 3, a, now, &look));
		if (!look.found)
			assert_true(tlb_walk(&parts, a, now, &look));
		tlb_fill(&look, now);
		assert_float_equal(ask(&whole, sm, a, now), (double)look.extra / FIX_ONE, 0);
	}
	tlb_close(&whole);
	tlb_close(&parts);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(reaches_are_where_the_plateaus_end),
	    cmocka_unit_test(the_first_level_has_one_set),
	    cmocka_unit_test(the_second_level_has_pages_of_4_kb),
	    cmocka_unit_test(an_entry_fills_part_by_part),
	    cmocka_unit_test(a_walk_under_way_is_waited_for),
	    cmocka_unit_test(scopes_share_what_they_should),
	    cmocka_unit_test(unequal_sets_lose_one_set_at_a_time),
	    cmocka_unit_test(a_walk_outside_of_the_window_switches),
	    cmocka_unit_test(a_walk_may_find_its_entry_in_the_cache),
	    cmocka_unit_test(random_accesses_are_what_the_lists_say),
	    cmocka_unit_test(in_two_parts_it_is_the_same),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
