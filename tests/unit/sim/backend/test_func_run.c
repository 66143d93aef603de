/* The engine without time computes what the engine with time computes, and ends as it does. */
#include "gpu/sim/func/func_run.h"
#include "gpu/sim/sim.h"
#include <stdio.h>
#include <string.h>

/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
/* clang-format on */

#define HEADER ".version 6.0\n.target sm_70\n.address_size 64\n"
#define WORDS  512

struct machine {
	struct arena a;
	struct func_program *p;
	struct func_memory memory;
};

static void prepare(struct machine *m, const char *text)
{
	struct ptx_module *module;
	struct err e = {0};
	struct func_target t = {.cc = 70};
	memset(m, 0, sizeof *m);
	arena_init(&m->a);
	if (ptx_parse(&module, &m->a, "test", text, strlen(text), &e) ||
	    func_decode(&m->p, &m->a, "test", module, "k", &t, &e))
		fail_msg("%s", e.text);
	assert_int_equal(func_memory_add(&m->memory, FUNC_GLOBAL_BASE, WORDS * 4, NULL), 0);
}

static struct func_outcome how(struct machine *m, uint32_t grid, uint32_t block, const struct func_how *h)
{
	uint64_t out = FUNC_GLOBAL_BASE;
	struct func_outcome o;
	struct func_launch l = {.program = m->p,
				.grid = {grid, 1, 1},
				.block = {block, 1, 1},
				.warp_size = 32,
				.sm_count = 2,
				.shared_bytes = (uint32_t)m->p->shared_static,
				.params = (const uint8_t *)&out,
				.memory = &m->memory};
	assert_int_equal(func_run(&l, h, &o), 0);
	return o;
}

static struct func_outcome go(struct machine *m, uint32_t grid, uint32_t block, uint64_t limit)
{
	return how(m, grid, block, &(struct func_how){.limit = limit});
}

static void drop(struct machine *m)
{
	func_memory_free(&m->memory);
	arena_free(&m->a);
}

/* Each block turns 128 words round through shared memory, then sums the odd ones by a loop of as many rounds as the thread. */
static const char turn_text[] = HEADER
    ".visible .entry k(.param .u64 out)\n{\n	.reg .pred %p;\n	.reg .b32 %t, %b, %x, %i, %s;\n	.reg .b64 %o, "
    "%w;\n"
    "	.shared .align 4 .b8 room[512];\n	ld.param.u64 %o, [out];\n	mov.u32 %t, %tid.x;\n	mov.u32 %b, "
    "%ctaid.x;\n"
    "	mad.lo.u32 %x, %b, 1000, %t;\n	shl.b32 %i, %t, 2;\n	mov.u32 %s, room;\n	add.u32 %i, %i, %s;\n"
    "	st.shared.u32 [%i], %x;\n	bar.sync 0;\n	sub.u32 %i, 127, %t;\n	shl.b32 %i, %i, 2;\n	add.u32 %i, "
    "%i, %s;\n"
    "	ld.shared.u32 %x, [%i];\n	and.b32 %i, %t, 15;\nL:\n	setp.eq.u32 %p, %i, 0;\n	@%p bra D;\n"
    "	add.u32 %x, %x, %i;\n	sub.u32 %i, %i, 1;\n	bra L;\nD:\n	mad.lo.u32 %i, %b, 128, %t;\n"
    "	mul.wide.u32 %w, %i, 4;\n	add.u64 %o, %o, %w;\n	st.global.u32 [%o], %x;\n	ret;\n}\n";

static void both_engines_compute_the_same(void **state)
{
	(void)state;
	struct machine m;
	struct err e = {0};
	struct gpu *g;
	struct sample s;
	uint32_t id;
	prepare(&m, turn_text);
	struct func_outcome o = go(&m, 4, 128, 0);
	assert_int_equal(o.end, FUNC_DONE);
	assert_true(o.instructions > 0);
	const uint32_t *words = (const uint32_t *)m.memory.region[0].data;
	for (uint32_t k = 0; k < WORDS; k++) {
		uint32_t n = k % 128 % 16;
		assert_int_equal(words[k], k / 128 * 1000 + 127 - k % 128 + n * (n + 1) / 2);
	}
	assert_int_equal(gpu_sim.open(&g, "toy", 1, &e), 0);
	struct kernel_source src = {.name = "turn", .entry = "k", .text = turn_text};
	assert_int_equal(g->ops->load(g, &src, 1, &id, NULL, &e), 0);
	struct launch l = {.grid = {4, 1, 1}, .block = {128, 1, 1}, .buffer_count = 1, .arg_count = 1};
	l.buffers[0] = (struct launch_buffer){.bytes = WORDS * 4, .output = true, .output_words = WORDS};
	l.args[0].kind = ARG_BUFFER;
	assert_int_equal(g->ops->run(g, id, &l, &s, &e), 0);
	assert_int_equal(s.outcome, OUTCOME_OK);
	assert_memory_equal(s.words, words, WORDS * 4);
	assert_int_equal(sim_result(g)->instructions, o.instructions);
	sample_free(&s);
	/* The simulated GPU asked to take no time: the same words, and the same refusal. */
	sim_untimed(g, true);
	assert_int_equal(g->ops->run(g, id, &l, &s, &e), 0);
	assert_memory_equal(s.words, words, WORDS * 4);
	assert_int_equal(sim_result(g)->instructions, o.instructions);
	assert_int_equal(sim_result(g)->cycles, 0);
	sample_free(&s);
	l.block[0] = 4096;
	assert_int_equal(g->ops->run(g, id, &l, &s, &e), 0);
	assert_int_equal(s.outcome, OUTCOME_REFUSED);
	sample_free(&s);
	g->ops->close(g);
	drop(&m);
}

/* Every block adds one to a word and waits until all have: those that have begun have to make room for the others. */
static const char meet_text[] =
    HEADER ".visible .entry k(.param .u64 out)\n{\n	.reg .pred %p;\n	.reg .b32 %x, %n;\n	.reg .b64 %o;\n"
	   "	ld.param.u64 %o, [out];\n	mov.u32 %n, %nctaid.x;\n	atom.global.add.u32 %x, [%o], 1;\nL:\n"
	   "	ld.volatile.global.u32 %x, [%o];\n	setp.ne.u32 %p, %x, %n;\n	@%p bra L;\n	ret;\n}\n";

static void blocks_wait_for_each_other(void **state)
{
	(void)state;
	const uint64_t limit = 20000000;
	for (int together = 0; together < 2; together++) {
		struct machine m;
		prepare(&m, meet_text);
		struct func_outcome o =
		    how(&m, 9, 1, &(struct func_how){.limit = limit, .resident = 9, .together = together});
		assert_int_equal(o.end, FUNC_DONE);
		memset(m.memory.region[0].data, 0, 4);
		o = how(&m, 9, 1, &(struct func_how){.limit = limit, .resident = 8, .together = together});
		assert_int_equal(o.end, FUNC_LIMIT);
		drop(&m);
	}
}

/* A thread adds up 1 to 8000, and its number. */
static const char sum_text[] =
    HEADER ".visible .entry k(.param .u64 out)\n{\n	.reg .pred %p;\n	.reg .b32 %x, %i, %n;\n	.reg .b64 %o, "
	   "%w;\n	ld.param.u64 %o, [out];\n	mov.u32 %n, %ctaid.x;\n	mov.u32 %i, %tid.x;\n"
	   "	mad.lo.u32 %n, %n, 4, %i;\n	mov.u32 %x, %n;\n	mov.u32 %i, 8000;\nL:\n	add.u32 %x, %x, %i;\n"
	   "	sub.u32 %i, %i, 1;\n	setp.ne.u32 %p, %i, 0;\n	@%p bra L;\n	mul.wide.u32 %w, %n, 4;\n"
	   "	add.u64 %o, %o, %w;\n	st.global.u32 [%o], %x;\n	ret;\n}\n";

static void host_threads_change_nothing(void **state)
{
	(void)state;
	uint64_t instructions = 0;
	for (uint32_t threads = 1; threads <= 4; threads += 3) {
		struct machine m;
		prepare(&m, sum_text);
		const uint32_t blocks =
		    WORDS / 4 * 2; /* the second half writes what lies behind the memory, were it not ended */
		struct func_outcome o = how(&m, WORDS / 4, 4, &(struct func_how){.threads = threads});
		assert_int_equal(o.end, FUNC_DONE);
		assert_true(!instructions || instructions == o.instructions);
		instructions = o.instructions;
		for (uint32_t k = 0; k < WORDS; k++)
			assert_int_equal(((const uint32_t *)(const void *)m.memory.region[0].data)[k], k + 32004000);
		o = how(&m, blocks, 4, &(struct func_how){.threads = threads});
		assert_int_equal(o.end, FUNC_FAULT);
		assert_int_equal(o.fault, FUNC_FAULT_BOUNDS);
		drop(&m);
	}
}

/* A thread adds one to a word 2000 times, and three to a longer one, and says its block's number for the largest. */
static const char add_text[] = HEADER
    ".visible .entry k(.param .u64 out)\n{\n	.reg .pred %p;\n	.reg .b32 %i, %n;\n	.reg .b64 %o;\n"
    "	ld.param.u64 %o, [out];\n	mov.u32 %n, %ctaid.x;\n	mov.u32 %i, 2000;\nL:\n"
    "	red.global.add.u32 [%o], 1;\n	red.global.add.u64 [%o + 8], 3;\n	red.global.max.s32 [%o + 16], %n;\n"
    "	sub.u32 %i, %i, 1;\n	setp.ne.u32 %p, %i, 0;\n	@%p bra L;\n	ret;\n}\n";

static void host_threads_add_up_together(void **state)
{
	(void)state;
	struct machine m;
	uint64_t sum[3];
	const uint64_t each = 2000, blocks = 64, threads = 2;
	prepare(&m, add_text);
	assert_false(m.p->ordered);
	assert_int_equal(how(&m, (uint32_t)blocks, (uint32_t)threads, &(struct func_how){.threads = 4}).end, FUNC_DONE);
	memcpy(sum, m.memory.region[0].data, sizeof sum);
	assert_int_equal(sum[0], each * blocks * threads);
	assert_int_equal(sum[1], 3 * each * blocks * threads);
	assert_int_equal(sum[2], blocks - 1);
	drop(&m);
	prepare(&m, meet_text);
	assert_true(m.p->ordered);
	drop(&m);
}

/* All lanes of a warp store to one place: words, pairs and fours of them. */
static const char place_text[] =
    HEADER ".visible .entry k(.param .u64 out)\n{\n	.reg .b32 %n;\n	.reg .b64 %o;\n"
	   "	ld.param.u64 %o, [out];\n	mov.u32 %n, %tid.x;\n	st.global.u32 [%o], %n;\n"
	   "	st.global.v2.u32 [%o + 8], {%n, %n};\n	st.global.v4.u32 [%o + 16], {%n, %n, %n, %n};\n	ret;\n}\n";

static void lanes_store_to_one_place(void **state)
{
	(void)state;
	struct machine m;
	prepare(&m, place_text);
	assert_int_equal(go(&m, 1, 32, 0).end, FUNC_DONE);
	const uint32_t *words = (const uint32_t *)(const void *)m.memory.region[0].data;
	/* 32, 16 and 8 lanes go together (an H200's answers) */
	assert_int_equal(words[0], 0);
	assert_int_equal(words[3], 16);
	assert_int_equal(words[4], 24);
	drop(&m);
}

static enum func_end end_of(const char *body, uint32_t block, uint64_t limit)
{
	struct machine m;
	char text[1024];
	snprintf(text, sizeof text,
		 HEADER ".visible .entry k(.param .u64 out)\n{\n	.reg .pred %%p;\n	.reg .b32 "
			"%%t;\n	.reg .b64 %%o;\n%s}\n",
		 body);
	prepare(&m, text);
	struct func_outcome o = go(&m, 1, block, limit);
	assert_int_equal(o.end == FUNC_DONE, !*o.message);
	drop(&m);
	return o.end;
}

static void it_ends_as_it_should(void **state)
{
	(void)state;
	assert_int_equal(end_of("	ret;\n", 64, 0), FUNC_DONE);
	assert_int_equal(end_of("L:\n	bra L;\n", 64, 1000), FUNC_LIMIT);
	assert_int_equal(
	    end_of("	ld.param.u64 %o, [out];\n	ld.global.u32 %t, [%o + 2048];\n	ret;\n", 64, 0),
	    FUNC_FAULT);
	assert_int_equal(end_of("	mov.u32 %t, %tid.x;\n	setp.lt.u32 %p, %t, 32;\n	@%p bra A;\n	"
				"bar.sync 1;\n	bra E;\n"
				"A:\n	bar.sync 2;\nE:\n	ret;\n",
				64, 0),
			 FUNC_DEADLOCK);
	/* Those that have left are not waited for. */
	assert_int_equal(
	    end_of("	mov.u32 %t, %tid.x;\n	setp.lt.u32 %p, %t, 32;\n	@%p ret;\n	bar.sync 0;\n	ret;\n",
		   64, 0),
	    FUNC_DONE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(both_engines_compute_the_same), cmocka_unit_test(blocks_wait_for_each_other),
	    cmocka_unit_test(host_threads_change_nothing),   cmocka_unit_test(host_threads_add_up_together),
	    cmocka_unit_test(lanes_store_to_one_place),	     cmocka_unit_test(it_ends_as_it_should),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
