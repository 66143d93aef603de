/* A description becomes the struct that it says. */
#include "base/embed.h"
#include "base/str.h"
#include "gpu/sim/spec.h"
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct sim_spec *open_spec(struct arena *a, const char *name)
{
	struct err e = {0};
	struct sim_spec *s = NULL;
	arena_init(a);
	if (spec_open(&s, a, name, &e))
		fail_msg("%s", e.text);
	return s;
}

static void reads_toy(void **state)
{
	(void)state;
	struct arena a;
	const struct sim_spec *s = open_spec(&a, "toy");
	assert_string_equal(s->name, "Toy");
	assert_int_equal(s->sm_count, 2);
	assert_int_equal(s->cluster_count, 1);
	assert_int_equal(s->warp_size, 32);
	assert_true(s->clock_hz == 1e9);
	assert_string_equal(s->target, "sm_70");
	assert_int_equal(s->ptx_version, 60);
	assert_int_equal(s->cc, 70);
	assert_true(s->has_f64 && s->has_f16 && s->has_fma);
	assert_int_equal(s->shared_per_sm, 16384);
	assert_int_equal(s->constant.levels, 2);
	const struct cache_spec *c = &s->constant.level[1];
	assert_true(c->present);
	assert_int_equal(c->size, 4096);
	assert_int_equal(c->line, 64);
	assert_int_equal(c->sector, 64); /* absent: the line */
	assert_int_equal(c->ways, 4);
	assert_int_equal(c->sets, 16); /* absent: computed */
	assert_int_equal(c->policy, POLICY_LRU);
	assert_int_equal(c->mapping, MAP_MODULO);
	assert_int_equal(c->scope, SCOPE_CLUSTER);
	assert_true(c->latency == 60);
	assert_int_equal(c->partitions, 1);
	assert_true(s->has_l1 && s->has_l2);
	assert_int_equal(s->global.levels, 2);
	assert_int_equal(s->global.level[0].sector, 32);
	assert_true(s->global.memory_latency == 400);
	assert_string_equal(s->pipe[s->global.pipe].name, "mem");
	assert_true(s->cluster_offset[0] == 0);
	assert_true(s->noise.jitter_probability == 0);
	const struct op_spec *o = &s->op[spec_find_op(s, "mad", "s32")];
	assert_true(o->latency == 30 && o->throughput == 5);
	assert_int_equal(o->native_ops, 3);
	assert_int_equal(o->pipe_count, 1);
	assert_true(o->rate[0] == 5);
	assert_string_equal(s->pipe[o->pipe[0]].name, "alu");
	assert_int_equal(s->default_op, spec_find_op(s, "add", "u32"));
	arena_free(&a);
}

static void reads_gtx280(void **state)
{
	(void)state;
	struct arena a;
	const struct sim_spec *s = open_spec(&a, "gtx280");
	assert_int_equal(s->cluster_count, 10);
	assert_int_equal(s->clock_native_ops, 2);
	assert_true(s->clock_op_latency == 24 && s->clock_issue == 4);
	assert_int_equal(s->clock_scope, SCOPE_CLUSTER);
	assert_int_equal(s->constant.levels, 3);
	assert_int_equal(s->constant.address_ops, 2);
	assert_true(s->constant.address_latency == 24);
	assert_false(s->has_l1 || s->has_l2 || s->has_fma || s->has_f16);
	assert_int_equal(s->global.levels, 0);
	double sum = 0, least = 0, most = 0;
	for (unsigned i = 0; i < s->cluster_count; i++) {
		sum += s->cluster_offset[i];
		least = s->cluster_offset[i] < least ? s->cluster_offset[i] : least;
		most = s->cluster_offset[i] > most ? s->cluster_offset[i] : most;
	}
	assert_true(sum == 0);
	assert_true(s->global.memory_latency + least == 436 && s->global.memory_latency + most == 443);
	const struct op_spec *o = &s->op[spec_find_op(s, "mul", "f32")];
	assert_int_equal(o->pipe_count, 2);
	assert_string_equal(s->pipe[o->pipe[0]].name, "sp");
	assert_string_equal(s->pipe[o->pipe[1]].name, "sfu");
	assert_true(o->rate[0] == 8 && o->rate[1] == 4);
	arena_free(&a);
}

static void reads_v100(void **state)
{
	(void)state;
	struct arena a;
	const struct sim_spec *s = open_spec(&a, "v100");
	assert_int_equal(s->schedulers, 4);
	const struct cache_spec *l2 = &s->global.level[1];
	assert_int_equal(l2->partitions, 2);
	assert_true(l2->far_extra == 40);
	assert_int_equal(l2->mapping, MAP_HASH);
	assert_int_equal(l2->size, 6u << 20);
	const struct op_spec *o = &s->op[spec_find_op(s, "fma", "f32")];
	assert_true(s->pipe[o->pipe[0]].per_scheduler);
	arena_free(&a);
}

static void types_stand_in_for_their_sisters(void **state)
{
	(void)state;
	struct arena a;
	const struct sim_spec *s = open_spec(&a, "gtx280");
	assert_int_equal(spec_find_op(s, "shr", "s32"), spec_find_op(s, "shr", "u32"));
	assert_int_equal(spec_find_op(s, "shr", "b32"), spec_find_op(s, "shr", "u32"));
	assert_int_equal(spec_find_op(s, "and", "u32"), spec_find_op(s, "and", "b32"));
	assert_int_not_equal(spec_find_op(s, "div", "u32"), spec_find_op(s, "div", "s32"));
	assert_int_equal(spec_find_op(s, "add", "u64"), -1);
	assert_int_equal(spec_find_op(s, "nonsense", "u32"), -1);
	arena_free(&a);
}

/* One that is like another has its lines, but for those of its own. */
static void one_may_be_like_another(void **state)
{
	static const char text[] = "device.like = toy name # x\ndevice.clock_hz = 2 GHz # x\n";
	struct arena a, b;
	struct err e = {0};
	struct sim_spec *s = NULL;
	const struct sim_spec *toy = open_spec(&b, "toy");
	(void)state;
	arena_init(&a);
	assert_int_equal(spec_parse(&s, &a, "x.gpu", text, strlen(text), &e), 0);
	assert_true(s->clock_hz == 2e9 && toy->clock_hz == 1e9);
	assert_string_equal(s->name, toy->name);
	assert_int_equal(s->op_count, toy->op_count);
	assert_true(s->hash != toy->hash);
	arena_free(&a);
	arena_free(&b);
}

static void every_builtin_reads(void **state)
{
	(void)state;
	unsigned count = 0;
	for (size_t i = 0; i < embedded_count; i++) {
		const struct embedded *m = &embedded_files[i];
		if (!str_starts(m->path, "gpus/") || !str_ends(m->path, ".gpu"))
			continue;
		struct arena a;
		struct err e = {0};
		struct sim_spec *s;
		arena_init(&a);
		if (spec_parse(&s, &a, m->path, m->data, m->size, &e))
			fail_msg("%s", e.text);
		arena_free(&a);
		count++;
	}
	assert_true(count >= 3);
}

static void the_hash_is_of_the_text(void **state)
{
	(void)state;
	const struct embedded *m = embed_find("gpus/toy.gpu");
	struct arena a;
	struct sim_spec *s, *t;
	arena_init(&a);
	char *text = arena_copy(&a, m->data, m->size);
	assert_int_equal(spec_parse(&s, &a, "x", text, m->size, NULL), 0);
	assert_true(s->hash != 0);
	text[2] = text[2] == 'x' ? 'y' : 'x'; /* in the first comment */
	assert_int_equal(spec_parse(&t, &a, "x", text, m->size, NULL), 0);
	assert_true(s->hash != t->hash);
	arena_free(&a);
}

static void opens_files_by_their_path(void **state)
{
	(void)state;
	const struct embedded *m = embed_find("gpus/toy.gpu");
	char path[] = "fathom-test-XXXXXX.gpu";
	int fd = mkstemps(path, 4);
	assert_true(fd >= 0);
	FILE *out = fdopen(fd, "wb");
	assert_int_equal(fwrite(m->data, 1, m->size, out), m->size);
	assert_int_equal(fclose(out), 0);
	struct arena a;
	const struct sim_spec *s = open_spec(&a, path);
	assert_string_equal(s->name, "Toy");
	assert_string_equal(s->file, path);
	arena_free(&a);
	remove(path);
}

/* Whichever allocation fails, the call says so and nothing leaks (the arena still frees all). */
static void survives_every_failing_allocation(void **state)
{
	(void)state;
	for (long n = 1;; n++) {
		struct arena a;
		struct err e = {0};
		struct sim_spec *s = NULL;
		arena_init(&a);
		mem_fail_after(n);
		int rc = spec_open(&s, &a, "gtx280", &e);
		mem_fail_after(0);
		arena_free(&a);
		if (rc == 0) {
			assert_true(n > 1);
			return;
		}
		assert_int_equal(rc, -ENOMEM);
		assert_int_equal(e.code, -ENOMEM);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(reads_toy),
	    cmocka_unit_test(reads_gtx280),
	    cmocka_unit_test(reads_v100),
	    cmocka_unit_test(types_stand_in_for_their_sisters),
	    cmocka_unit_test(one_may_be_like_another),
	    cmocka_unit_test(every_builtin_reads),
	    cmocka_unit_test(the_hash_is_of_the_text),
	    cmocka_unit_test(opens_files_by_their_path),
	    cmocka_unit_test(survives_every_failing_allocation),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
