/* Random GPUs: every text reads, the same seed gives the same text, and the draw covers what it promises. */
#include "base/str.h"
#include "gpu/sim/spec_file.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#define GPUS 400

static void same_seed_same_text(void **state)
{
	(void)state;
	struct str a, b, c;
	str_init(&a);
	str_init(&b);
	str_init(&c);
	assert_int_equal(spec_random(&a, 42), 0);
	assert_int_equal(spec_random(&b, 42), 0);
	assert_int_equal(spec_random(&c, 43), 0);
	assert_string_equal(str_text(&a), str_text(&b));
	assert_string_not_equal(str_text(&a), str_text(&c));
	str_free(&a);
	str_free(&b);
	str_free(&c);
}

struct census {
	unsigned levels[4], policies[7], unequal, set_bits, ports, writes, textures, texture_tlbs, hashes, odd_sizes,
	    odd_ways, partitioned, quiet, spread, renumbered, no_l1, no_l2, sectored;
	unsigned schedulers[5];
	unsigned outstanding[3], coalesce[3], parted, one_word, atomics;
};

static void count_cache(struct census *n, const struct cache_spec *c)
{
	n->policies[c->policy]++;
	n->hashes += c->mapping == MAP_HASH;
	n->odd_sizes += (c->size & (c->size - 1)) != 0;
	n->odd_ways += c->ways & 1;
	n->partitioned += c->partitions == 2;
	n->sectored += c->sector < c->line;
	n->unequal += c->set_ways != NULL;
	n->set_bits += c->set_bits_from != 0;
	n->ports += c->bandwidth > 0;
	n->writes += c->write != WRITE_THROUGH;
	assert_true(c->ways >= 3 && c->ways <= (c->set_ways ? 40 : 24));
	assert_true(c->line >= 16 && c->line <= 256);
	assert_true(c->set_ways || c->size == (uint64_t)c->sets * c->ways * c->line);
}

static void check_path(const struct path_spec *p)
{
	const struct cache_spec *up = NULL;
	for (unsigned i = 0; i < CONST_LEVELS; i++) {
		const struct cache_spec *c = &p->level[i];
		if (!c->present)
			continue;
		assert_true(!up || c->latency >= up->latency + up->far_extra + 15);
		assert_true(!up || c->size >= 2 * up->size);
		up = c;
	}
	assert_true(!up || p->memory_latency >= up->latency + up->far_extra + 15);
}

static void every_draw_reads_and_is_told_apart(void **state)
{
	(void)state;
	struct census n = {0};
	for (uint64_t seed = 0; seed < GPUS; seed++) {
		struct str text;
		struct arena a;
		struct err e = {0};
		struct sim_spec *s;
		str_init(&text);
		arena_init(&a);
		assert_int_equal(spec_random(&text, seed), 0);
		if (spec_parse(&s, &a, "random", str_text(&text), text.len, &e))
			fail_msg("seed %llu: %s", (unsigned long long)seed, e.text);
		assert_true(s->sm_count >= 2 && s->sm_count <= 24 && s->sm_per_cluster <= 4);
		n.levels[s->constant.levels]++;
		n.schedulers[s->schedulers]++;
		for (unsigned i = 0; i < s->constant.levels; i++)
			count_cache(&n, &s->constant.level[i]);
		for (unsigned i = 0; i < 2; i++)
			if (i ? s->has_l2 : s->has_l1)
				count_cache(&n, &s->global.level[i]);
		n.textures += s->has_texture;
		n.texture_tlbs += s->tlb[TLB_TEXTURE].levels > 0;
		for (unsigned i = 0; i < s->texture.levels; i++) {
			n.unequal += s->texture.level[i].set_ways != NULL;
			n.set_bits += s->texture.level[i].set_bits_from != 0;
		}
		check_path(&s->constant);
		check_path(&s->global);
		n.outstanding[s->outstanding]++;
		n.coalesce[s->coalesce]++;
		n.parted += s->memory_partitions > 1;
		n.one_word += s->shared_broadcast == BROADCAST_ONE;
		n.atomics += s->atomic[0].same_address > 0;
		n.renumbered += s->sm_number != NULL;
		n.no_l1 += !s->has_l1;
		n.no_l2 += !s->has_l2;
		const struct noise_spec *z = &s->noise;
		n.quiet +=
		    z->jitter_probability == 0 && z->refresh_interval == 0 && z->neighbour_rate == 0 && z->drift == 0;
		for (unsigned i = 0; i < s->cluster_count; i++)
			if (s->cluster_offset[i] != 0) {
				n.spread++;
				break;
			}
		arena_free(&a);
		str_free(&text);
	}
	for (unsigned i = 0; i < 4; i++)
		assert_true(n.levels[i] > GPUS / 10);
	for (unsigned i = 0; i < 7; i++)
		assert_true(n.policies[i] > 10);
	assert_true(n.unequal > 5 && n.set_bits > 5 && n.ports > GPUS / 10 && n.writes > GPUS / 5);
	assert_true(n.textures > GPUS / 5 && n.texture_tlbs > GPUS / 10);
	for (unsigned i = 1; i <= 4; i *= 2)
		assert_true(n.schedulers[i] > GPUS / 10);
	assert_true(n.hashes > 10 && n.odd_sizes > GPUS / 2 && n.odd_ways > GPUS / 2 && n.partitioned > 10);
	assert_true(n.outstanding[OUTSTANDING_MSHR] > GPUS / 10 && n.outstanding[OUTSTANDING_PRT] > GPUS / 10);
	assert_true(n.outstanding[OUTSTANDING_NONE] > GPUS / 2 && n.coalesce[COALESCE_LINES] > GPUS / 2);
	assert_true(n.coalesce[COALESCE_G80] > 5 && n.coalesce[COALESCE_GT200] > 5);
	assert_true(n.parted > GPUS / 5 && n.one_word > GPUS / 10 && n.atomics > GPUS / 5);
	assert_true(n.quiet > GPUS / 4 && n.quiet < GPUS / 2);
	assert_true(n.renumbered > GPUS / 2 && n.renumbered < GPUS);
	assert_true(n.spread > GPUS / 4 && n.no_l1 > GPUS / 10 && n.no_l2 > GPUS / 10 && n.sectored > 10);
}

/* What no candidate of the inference has is for the exam (tests/exam/strange.py): who is calibrated by these GPUs has not met it. A drawn GPU
 * is like no other. */
static bool is_kept_for_the_exam(const char *pattern)
{
	static const char *const keys[] = {"cache.<p>.<l>.insert_age", "cache.<p>.<l>.victims", "device.like",
					   "noise.neighbour_insert"};
	for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
		if (strcmp(pattern, keys[i]) == 0)
			return true;
	return false;
}

static void every_key_is_drawn(void **state)
{
	(void)state;
	static bool seen[512];
	assert_true(spec_key_count < sizeof seen / sizeof seen[0]);
	for (uint64_t seed = 0; seed < GPUS; seed++) {
		struct str text;
		struct arena a;
		struct err e = {0};
		str_init(&text);
		arena_init(&a);
		struct spec_file f = {.a = &a, .e = &e, .name = "random"};
		assert_int_equal(spec_random(&text, seed), 0);
		const struct embedded *base;
		assert_int_equal(spec_lines(&f, str_text(&text), text.len, &base), 0);
		for (size_t i = 0; i < f.count; i++)
			seen[spec_key_find(f.lines[i].key) - spec_keys] = true;
		arena_free(&a);
		str_free(&text);
	}
	for (size_t i = 0; i < spec_key_count; i++)
		if (seen[i] == is_kept_for_the_exam(spec_keys[i].pattern))
			fail_msg("%s: drawn and for the exam only, or neither", spec_keys[i].pattern);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(same_seed_same_text),
	    cmocka_unit_test(every_draw_reads_and_is_told_apart),
	    cmocka_unit_test(every_key_is_drawn),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
