/* Warps of 64 lanes, which go through the handlers in halves: one pc, one stack of paths, one scoreboard. */
#include "base/arena.h"
#include "gpu/sim/sim.h"
#include <stdio.h>
#include <string.h>

/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
/* clang-format on */

#define WORDS 512
#define LANES 64
#define HEAD                                                                                                           \
	".version 2.0\n.target sm_20\n.address_size 64\n.visible .entry k(.param .u64 out)\n{\n"                       \
	".reg .pred %p, %q;\n.reg .b32 %t, %l, %a, %b, %c, %e;\n.reg .b64 %o, %w;\n.shared .align 4 .b8 s[1024];\n"    \
	"ld.param.u64 %o, [out];\nmov.u32 %t, %tid.x;\nmul.wide.u32 %w, %t, 4;\nadd.u64 %w, %o, %w;\n"                 \
	"mov.u32 %l, %laneid;\n"

struct bed {
	struct arena a;
	struct sim_spec *s;
};

static int set_up(void **state)
{
	static struct bed bed;
	struct err e = {0};
	arena_init(&bed.a);
	if (spec_open(&bed.s, &bed.a, "hd7970", &e))
		fail_msg("%s", e.text);
	bed.s->clock_granularity = 1;
	*state = &bed;
	return 0;
}

static int tear_down(void **state)
{
	struct bed *b = *state;
	arena_free(&b->a);
	return 0;
}

static struct sample run(const struct sim_spec *s, const char *text, uint32_t blocks, uint32_t threads)
{
	struct gpu *g;
	struct err e = {0};
	struct sample out;
	uint32_t id;
	if (sim_open_spec(&g, s, 1, &e))
		fail_msg("%s", e.text);
	struct kernel_source src = {.name = "wide", .entry = "k", .text = text};
	if (g->ops->load(g, &src, 1, &id, NULL, &e))
		fail_msg("%s", e.text);
	struct launch l = {
	    .entry = "k", .grid = {blocks, 1, 1}, .block = {threads, 1, 1}, .buffer_count = 1, .arg_count = 1};
	l.buffers[0] = (struct launch_buffer){.bytes = WORDS * 4, .output = true, .output_words = WORDS};
	l.args[0].kind = ARG_BUFFER;
	if (g->ops->run(g, id, &l, &out, &e))
		fail_msg("%s", e.text);
	g->ops->close(g);
	return out;
}

static void ends(const struct sample *out, enum outcome want, const char *says)
{
	if (out->outcome != want || !strstr(out->message, says))
		fail_msg("%s: %s", outcome_name(out->outcome), out->message);
}

static void lanes_are_numbered_through(void **state)
{
	const struct bed *b = *state;
	struct sample out = run(b->s, HEAD "st.global.u32 [%w], %l;\nret;\n}\n", 1, 200);
	ends(&out, OUTCOME_OK, "");
	for (uint32_t t = 0; t < 200; t++)
		assert_int_equal(out.words[t], t % LANES);
	assert_int_equal(out.words[200], 0);
	sample_free(&out);
}

/* Lanes on both sides of the middle take one path together: each path runs once, the taken one first. */
#define PATHS                                                                                                          \
	HEAD "setp.lt.u32 %p, %l, 40;\n@%p bra A;\nmov.u32 %a, %clock;\nbra J;\nA:\nmov.u32 %a, %clock;\n"             \
	     "J:\nmov.u32 %b, %clock;\nst.global.u32 [%w], %a;\nst.global.u32 [%w+1024], %b;\nret;\n}\n"
static void paths_part_anywhere(void **state)
{
	const struct bed *b = *state;
	struct sample out = run(b->s, PATHS, 1, LANES);
	ends(&out, OUTCOME_OK, "");
	for (uint32_t t = 0; t < LANES; t++) {
		assert_int_equal(out.words[t], out.words[t < 40 ? 0 : 63]);
		assert_int_equal(out.words[256 + t], out.words[256]);
	}
	assert_true(out.words[0] < out.words[63]);
	assert_true(out.words[63] < out.words[256]);
	sample_free(&out);
}

/* A barrier counts the warp once, whichever half comes to it. */
#define BARRIERS                                                                                                       \
	HEAD "mov.u32 %b, s;\nmad.lo.u32 %a, %t, 4, %b;\nst.shared.u32 [%a], %t;\nsetp.lt.u32 %p, %t, 33;\n@%p "       \
	     "exit;\nbar.sync 0;\n"                                                                                    \
	     "xor.b32 %a, %a, 64;\nld.shared.u32 %b, [%a];\nadd.u32 %b, %b, 1000;\nst.global.u32 [%w], %b;\nret;\n}\n"
static void barriers_count_warps(void **state)
{
	const struct bed *b = *state;
	struct sample out = run(b->s, BARRIERS, 1, 192);
	ends(&out, OUTCOME_OK, "");
	for (uint32_t t = 0; t < 192; t++)
		assert_int_equal(out.words[t], t < 33 ? 0 : 1000 + (t ^ 16));
	sample_free(&out);
}

/* The access of the upper half follows the lower one's, and an instruction that needs the result waits for both.
 * Accesses of the lower half hit what they read before, and those of the upper one may not. One cluster alone asks the
 * far side at once, several queue. */
#define MISSES                                                                                                         \
	HEAD "mov.u32 %c, %smid;\nsetp.ne.u32 %q, %c, 0;\n@%q bra E;\nsetp.lt.u32 %p, %l, 32;\n"                       \
	     "@%p ld.global.u32 %a, [%w+1024];\n@%p add.u32 %a, %a, 1;\nmov.u32 %b, %clock;\n"                         \
	     "ld.global.u32 %a, [%w+1024];\nadd.u32 %a, %a, 5;\nmov.u32 %c, %clock;\nld.global.u32 %a, [%w+1024];\n"   \
	     "add.u32 %a, %a, 5;\nmov.u32 %e, %clock;\nsub.u32 %e, %e, %c;\nsub.u32 %c, %c, %b;\n"                     \
	     "st.global.u32 [%o], %c;\nst.global.u32 [%o+4], %e;\nE:\nret;\n}\n"
static void both_halves_are_waited_for(void **state)
{
	const struct bed *b = *state;
	uint32_t alone[2] = {0};
	for (uint32_t blocks = 1; blocks <= 9; blocks += 8) {
		struct sample out = run(b->s, MISSES, blocks, LANES);
		ends(&out, OUTCOME_OK, "");
		double miss = b->s->global.memory_latency, hit = b->s->global.level[0].latency;
		assert_true(out.words[0] >= miss && out.words[0] < miss + 60);
		assert_true(out.words[1] >= hit && out.words[1] < hit + 60);
		if (blocks == 1)
			memcpy(alone, out.words, sizeof alone);
		else
			assert_memory_equal(alone, out.words, sizeof alone);
		sample_free(&out);
	}
}

static void atomics_reach_memory(void **state)
{
	const struct bed *b = *state;
	struct sample out =
	    run(b->s, HEAD "atom.global.add.u32 %a, [%o], 1;\nadd.u64 %w, %w, 4;\nst.global.u32 [%w], %a;\nret;\n}\n",
		1, 100);
	ends(&out, OUTCOME_OK, "");
	uint64_t seen[2] = {0};
	assert_int_equal(out.words[0], 100);
	for (uint32_t t = 0; t < 100; t++)
		seen[out.words[1 + t] / 64] |= 1ull << out.words[1 + t] % 64;
	assert_true(seen[0] == UINT64_MAX && seen[1] == (1ull << 36) - 1);
	sample_free(&out);
}

/* The guard of each half is its own, and a fault of the upper one names the lane. */
static void faults_name_their_lane(void **state)
{
	const struct bed *b = *state;
	struct sample out = run(b->s,
				HEAD "setp.eq.u32 %p, %l, 50;\nadd.u64 %w, %o, 1048576;\n@%p st.global.u32 [%w], %l;\n"
				     "ret;\n}\n",
				1, LANES);
	ends(&out, OUTCOME_CRASH, "lane 50 of warp 0");
	sample_free(&out);
}

/* Half of the lanes wait for what the other half never does. */
static void endless_loops_are_seen(void **state)
{
	const struct bed *b = *state;
	struct sample out = run(b->s,
				HEAD "setp.lt.u32 %p, %l, 40;\n@!%p bra X;\nS:\nld.volatile.global.u32 %a, [%o];\n"
				     "setp.eq.u32 %q, %a, 0;\n@%q bra S;\nX:\nst.global.u32 [%o], 1;\nret;\n}\n",
				1, LANES);
	ends(&out, OUTCOME_DEADLOCK, "loop of line");
	sample_free(&out);
}

static void independent_threads_are_refused(void **state)
{
	(void)state;
	struct arena a;
	struct sim_spec *s;
	struct err e = {0};
	static const char text[] = "device.warp_size = 64 count\nbranch.independent_threads = yes yes/no\n";
	arena_init(&a);
	assert_true(spec_parse(&s, &a, "wide.gpu", text, sizeof text - 1, &e) != 0);
	assert_non_null(strstr(e.text, "wide.gpu"));
	arena_free(&a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(lanes_are_numbered_through), cmocka_unit_test(paths_part_anywhere),
	    cmocka_unit_test(barriers_count_warps),	  cmocka_unit_test(both_halves_are_waited_for),
	    cmocka_unit_test(atomics_reach_memory),	  cmocka_unit_test(faults_name_their_lane),
	    cmocka_unit_test(endless_loops_are_seen),	  cmocka_unit_test(independent_threads_are_refused),
	};
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
