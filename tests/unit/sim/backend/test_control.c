/* What lanes and warps do to each other: reconvergence, barriers, and launches that never end. The kernels are Wong's
 * listings 3 to 7 and the classics. Results are as the paper reports, or as the programming guide promises. */
#include "base/arena.h"
#include "base/rng.h"
#include "base/str.h"
#include "gpu/sim/func/func_run.h"
#include "gpu/sim/sim.h"
#include <stdio.h>
#include <string.h>
#include <time.h>

/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
/* clang-format on */

#define WORDS 128
#define HEAD                                                                                                           \
	".version 6.0\n.target sm_70\n.address_size 64\n.visible .entry k(.param .u64 out)\n{\n"                       \
	"	.reg .pred %p, %q, %r;\n	.reg .b32 %t, %l, %a, %b, %c, %d, %i;\n	.reg .b64 %o, %w;\n"                        \
	"	.shared .align 4 .b8 s[512];\n	ld.param.u64 %o, [out];\n	mov.u32 %t, %tid.x;\n	mul.wide.u32 "                \
	"%w, "                                                                                                         \
	"%t, 4;\n	add.u64 %o, %o, %w;\n	mov.u32 %l, %laneid;\n"

enum kind { STACK, THREADS };

struct end {
	enum outcome outcome;
	char message[256];
	uint32_t word[WORDS];
	double seconds;
	struct time_result time;
};

static struct end go_on(const struct sim_spec *base, enum kind kind, const char *text, uint32_t grid, uint32_t block,
			uint32_t limit_ms)
{
	struct sim_spec s = *base;
	struct gpu *g = NULL;
	struct err e = {0};
	struct sample out;
	struct end end = {0};
	struct timespec a, b;
	uint32_t id;
	s.independent_threads = kind == THREADS;
	if (sim_open_spec(&g, &s, 1, &e))
		fail_msg("%s", e.text);
	struct kernel_source src = {.name = "test", .entry = "k", .text = text};
	if (g->ops->load(g, &src, 1, &id, NULL, &e))
		fail_msg("%s", e.text);
	struct launch l = {.entry = "k",
			   .grid = {grid, 1, 1},
			   .block = {block, 1, 1},
			   .buffer_count = 1,
			   .arg_count = 1,
			   .time_limit_ms = limit_ms};
	l.buffers[0] = (struct launch_buffer){.bytes = WORDS * 4, .output = true, .output_words = WORDS};
	l.args[0].kind = ARG_BUFFER;
	clock_gettime(CLOCK_MONOTONIC, &a);
	if (g->ops->run(g, id, &l, &out, &e))
		fail_msg("%s", e.text);
	clock_gettime(CLOCK_MONOTONIC, &b);
	end.seconds = (double)(b.tv_sec - a.tv_sec) + (double)(b.tv_nsec - a.tv_nsec) * 1e-9;
	end.outcome = out.outcome;
	end.time = *sim_result(g);
	memcpy(end.message, out.message, sizeof end.message);
	if (out.words)
		memcpy(end.word, out.words, sizeof end.word);
	sample_free(&out);
	g->ops->close(g);
	return end;
}

static struct end go(enum kind kind, const char *text, uint32_t block)
{
	struct arena arena;
	struct sim_spec *toy;
	struct err e = {0};
	arena_init(&arena);
	assert_int_equal(spec_open(&toy, &arena, "toy", &e), 0);
	struct end end = go_on(toy, kind, text, 1, block, 10000);
	arena_free(&arena);
	return end;
}

static void ends(const struct end *e, enum outcome o, const char *words)
{
	if (e->outcome != o || !strstr(e->message, words))
		fail_msg("%s \"%s\", not %s \"%s\"", outcome_name(e->outcome), e->message, outcome_name(o), words);
}

/* ---- reconvergence ---- */

/* Listing 3: the lanes leave one after another through a chain of conditions; the side that is taken runs first. Every lane
 * writes down when it was there. */
static void the_taken_path_runs_first(void **state)
{
	(void)state;
	static const char text[] =
	    HEAD "	setp.lt.u32 %p, %l, 8;\n	@!%p bra ELSE1;\n	mov.u32 %a, "
		 "%clock;\n	bra.uni END;\n"
		 "ELSE1:\n	setp.lt.u32 %p, %l, 16;\n	@!%p bra ELSE2;\n	mov.u32 %a, "
		 "%clock;\n	bra.uni END;\n"
		 "ELSE2:\n	mov.u32 %a, %clock;\nEND:\n	st.global.u32 [%o], %a;\n	ret;\n}\n";
	struct end e = go(STACK, text, 32);
	ends(&e, OUTCOME_OK, "");
	assert_true(e.word[16] < e.word[8] && e.word[8] < e.word[0]);
	for (unsigned l = 0; l < 32; l++)
		assert_int_equal(e.word[l], e.word[l < 8 ? 0 : l < 16 ? 8 : 16]);

	struct arena arena;
	struct sim_spec *toy;
	struct err err = {0};
	arena_init(&arena);
	assert_int_equal(spec_open(&toy, &arena, "toy", &err), 0);
	toy->first_path = FIRST_FALLTHROUGH;
	for (enum kind k = STACK; k <= THREADS; k++) {
		e = go_on(toy, k, text, 1, 32, 10000);
		ends(&e, OUTCOME_OK, "");
		assert_true(e.word[0] < e.word[8] && e.word[8] < e.word[16]);
	}
	arena_free(&arena);
}

/* Listing 4: each lane waits until it is its number's turn. With a stack the first lane out waits for the others at the
 * meeting point and the others for it. */
static void waiting_for_a_lane_of_the_same_warp(void **state)
{
	(void)state;
	static const char text[] =
	    HEAD "LOOP:\n	ld.volatile.shared.u32 %a, [s];\n	setp.ne.u32 %p, %a, %l;\n	@%p bra LOOP;\n"
		 "	add.u32 %a, %a, 1;\n	st.volatile.shared.u32 [s], %a;\n	st.global.u32 [%o], "
		 "%a;\n	ret;\n}\n";
	struct end e = go(STACK, text, 32);
	ends(&e, OUTCOME_DEADLOCK, "1 goes round the loop of line 18");
	assert_true(e.seconds < 2); /* milliseconds, but for sanitizers and busy machines */
	e = go(THREADS, text, 32);
	ends(&e, OUTCOME_OK, "");
	for (unsigned l = 0; l < 32; l++)
		assert_int_equal(e.word[l], l + 1);
}

static const char lock_text[] =
    HEAD "LOOP:\n	atom.shared.cas.b32 %a, [s], 0, 1;\n	setp.ne.u32 %p, %a, 0;\n	@%p bra LOOP;\n"
	 "	ld.volatile.shared.u32 %b, [s+4];\n	add.u32 %b, %b, 1;\n	st.volatile.shared.u32 [s+4], %b;\n"
	 "	atom.shared.exch.b32 %a, [s], 0;\n	st.global.u32 [%o], %b;\n	ret;\n}\n";

static void a_lock_between_the_lanes_of_a_warp(void **state)
{
	(void)state;
	struct end e = go(STACK, lock_text, 64);
	ends(&e, OUTCOME_DEADLOCK, "2 go round the loop of line 18");
	assert_true(e.seconds < 2);
	e = go(THREADS, lock_text, 64);
	ends(&e, OUTCOME_OK, "");
	uint64_t seen = 0;
	for (unsigned l = 0; l < 64; l++)
		seen |= 1ull << (e.word[l] - 1);
	assert_true(seen == UINT64_MAX); /* 64 lanes were in it one after another */
}

/* A counter of attempts: no state comes back, so the patience of the waiting lanes decides. */
static void a_lock_with_a_count_of_attempts(void **state)
{
	(void)state;
	static const char text[] =
	    HEAD "	mov.u32 %c, 0;\nLOOP:\n	add.u32 %c, %c, 1;\n	atom.shared.cas.b32 %a, [s], 0, 1;\n"
		 "	setp.ne.u32 %p, %a, 0;\n	@%p bra LOOP;\n	atom.shared.exch.b32 %a, [s], 0;\n"
		 "	st.global.u32 [%o], 7;\n	ret;\n}\n";
	struct arena arena;
	struct sim_spec *toy;
	struct err err = {0};
	arena_init(&arena);
	assert_int_equal(spec_open(&toy, &arena, "toy", &err), 0);
	toy->yield_after = 500;
	struct end e = go_on(toy, THREADS, text, 1, 8, 10000);
	ends(&e, OUTCOME_OK, "");
	for (unsigned l = 0; l < 8; l++)
		assert_int_equal(e.word[l], 7);
	arena_free(&arena);
}

/* A loop of as many rounds as the lane says is no spin: all lanes meet behind it and store together. */
static void lanes_meet_behind_a_loop(void **state)
{
	(void)state;
	static const char text[] =
	    HEAD "	mad.lo.u32 %i, %l, 20, 1;\nLOOP:\n	sub.u32 %i, %i, 1;\n	setp.ne.u32 "
		 "%p, %i, 0;\n	@%p bra LOOP;\n	mov.u32 %a, %clock;\n	activemask.b32 %b;\n"
		 "	st.global.u32 [%o], %b;\n	ret;\n}\n";
	for (enum kind k = STACK; k <= THREADS; k++) {
		struct end e = go(k, text, 32);
		ends(&e, OUTCOME_OK, "");
		for (unsigned l = 0; l < 32; l++)
			assert_int_equal(e.word[l], UINT32_MAX);
	}
}

/* ---- lanes that are named ---- */

static enum func_end untimed(const char *text, enum kind kind, uint32_t block, uint32_t *word);

static void named_lanes_are_waited_for(void **state)
{
	(void)state;
	/* Both sides hand a value over through shared memory, with bar.warp.sync in two different places. */
	static const char text[] =
	    HEAD "	shl.b32 %i, %l, 2;\n	mov.u32 %c, s;\n	add.u32 %i, %i, %c;\n	xor.b32 %c, %l, 16;\n"
		 "	shl.b32 %c, %c, 2;\n	mov.u32 %d, s;\n	add.u32 %c, %c, %d;\n	add.u32 %a, %l, 100;\n"
		 "	setp.lt.u32 %p, %l, 16;\n	@%p bra LOW;\n"
		 "	st.volatile.shared.u32 [%i], %a;\n	bar.warp.sync -1;\n	ld.volatile.shared.u32 %b, "
		 "[%c];\n	"
		 "bra.uni END;\n"
		 "LOW:\n	st.volatile.shared.u32 [%i], %a;\n	bar.warp.sync -1;\n	ld.volatile.shared.u32 "
		 "%b, [%c];\n"
		 "END:\n	st.global.u32 [%o], %b;\n	ret;\n}\n";
	struct end e = go(THREADS, text, 32);
	ends(&e, OUTCOME_OK, "");
	for (unsigned l = 0; l < 32; l++)
		assert_int_equal(e.word[l], 100 + (l ^ 16));

	/* One shuffle that lanes come to at different times: by a loop of different length whose lanes never meet before it. */
	static const char shuffle[] =
	    HEAD "	mov.u32 %i, %l;\nLOOP:\n	setp.eq.u32 %q, %i, 0;\n	@%q bra SHUF;\n	sub.u32 %i, "
		 "%i, 1;\n	bra "
		 "LOOP;\n"
		 "SHUF:\n	shfl.sync.bfly.b32 %a|%r, %l, 5, 31, -1;\n	vote.sync.ballot.b32 %b, %p, -1;\n"
		 "	st.global.u32 [%o], %a;\n	ret;\n}\n";
	for (enum kind k = STACK; k <= THREADS; k++) {
		e = go(k, shuffle, 32);
		ends(&e, OUTCOME_OK, "");
		for (unsigned l = 0; l < 32; l++)
			assert_int_equal(e.word[l], l ^ 5);
	}
}

/* As an H200 does it: lanes 16 .. 31 shuffle and vote in one place, the others in another, with other registers. */
static void named_lanes_in_two_places(void **state)
{
	(void)state;
	static const char text[] = HEAD
	    "	add.u32 %c, %l, 100;\n	setp.lt.u32 %p, %l, 16;\n	setp.gt.u32 %q, %l, 29;\n	@%p bra A;\n"
	    "	shfl.sync.bfly.b32 %c|%r, %c, 16, 31, -1;\n	vote.sync.ballot.b32 %d, %q, -1;\n	mad.lo.u32 %c, "
	    "%d, 1000, %c;\n"
	    "	bra.uni E;\nA:\n	add.u32 %a, %l, 500;\n	setp.lt.u32 %r, %l, 2;\n	shfl.sync.bfly.b32 "
	    "%c|%q, %a, 16, 31, -1;\n"
	    "	vote.sync.ballot.b32 %a, %r, -1;\n	mad.lo.u32 %c, %a, 1000, %c;\nE:\n	st.global.u32 [%o], "
	    "%c;\n	ret;\n}\n";
	struct end e = go(THREADS, text, 32);
	ends(&e, OUTCOME_OK, "");
	for (unsigned l = 0; l < 32; l++)
		assert_int_equal(e.word[l], (l < 16 ? 100 : 500) + (l ^ 16) + 0xc0000003u * 1000u);
	uint32_t word[WORDS];
	assert_int_equal(untimed(text, THREADS, 32, word), FUNC_DONE);
	assert_memory_equal(word, e.word, 32 * 4);

	static const char match[] =
	    HEAD "	cvt.u64.u32 %w, %l;\n	and.b64 %w, %w, 1;\n	setp.lt.u32 %p, %l, 16;\n	@%p bra A;\n"
		 "	match.any.sync.b64 %a, %w, -1;\n	bra.uni E;\nA:\n	match.any.sync.b64 %b, %w, "
		 "-1;\n	mov.u32 %a, %b;\n"
		 "E:\n	st.global.u32 [%o], %a;\n	ret;\n}\n";
	e = go(THREADS, match, 32);
	ends(&e, OUTCOME_OK, "");
	for (unsigned l = 0; l < 32; l++)
		assert_int_equal(e.word[l], l & 1 ? 0xaaaaaaaau : 0x55555555u);
}

static void named_lanes_that_never_come(void **state)
{
	(void)state;
	/* Lane 0 goes round for ever; the others name it. */
	static const char text[] =
	    HEAD "	setp.eq.u32 %p, %l, 0;\n	@!%p bra REST;\nLOOP:\n	bra LOOP;\nREST:\n"
		 "	bar.warp.sync -1;\n	ret;\n}\n";
	struct end e = go(THREADS, text, 32);
	ends(&e, OUTCOME_DEADLOCK, "goes round the loop of line 18");
	/* Lanes that have left are not waited for, even when they leave late. */
	static const char left[] =
	    HEAD "	setp.eq.u32 %p, %l, 0;\n	@!%p bra REST;\n	mov.u32 %i, 50;\nLOOP:\n"
		 "	sub.u32 %i, %i, 1;\n	setp.ne.u32 %q, %i, 0;\n	@%q bra LOOP;\n	exit;\n"
		 "REST:\n	bar.warp.sync -1;\n	st.global.u32 [%o], 3;\n	ret;\n}\n";
	e = go(THREADS, left, 32);
	ends(&e, OUTCOME_OK, "");
	assert_int_equal(e.word[0], 0);
	assert_int_equal(e.word[31], 3);
}

/* ---- barriers ---- */

/* Listing 5: half of the one warp writes, the other half reads behind a barrier of its own. */
static void barriers_of_two_paths_of_one_warp(void **state)
{
	(void)state;
	static const char text[] = HEAD
	    "	and.b32 %i, %l, 15;\n	shl.b32 %i, %i, 2;\n	mov.u32 %c, s;\n	add.u32 %i, %i, %c;\n"
	    "	add.u32 %a, %l, 500;\n	setp.lt.u32 %p, %t, 16;\n	@!%p bra ELSE;\n"
	    "	st.shared.u32 [%i], %a;\n	bar.sync 0;\n	bra.uni END;\n"
	    "ELSE:\n	bar.sync 0;\n	ld.shared.u32 %b, [%i];\n	st.global.u32 [%o], %b;\nEND:\n	ret;\n}\n";
	struct end e = go(STACK, text, 32);
	ends(&e, OUTCOME_OK, "");
	for (unsigned l = 16; l < 32; l++)
		assert_int_equal(e.word[l], 0); /* no deadlock, and the old values */
	e = go(THREADS, text, 32);
	ends(&e, OUTCOME_OK, "");
	for (unsigned l = 16; l < 32; l++)
		assert_int_equal(e.word[l], 500 + l - 16);
}

/* Listing 6: one warp waits at the barrier, the other for what the first does behind it. */
static void a_warp_that_waits_for_what_lies_behind_a_barrier(void **state)
{
	(void)state;
	static const char text[] = HEAD "	setp.lt.u32 %p, %t, 32;\n	@!%p bra ELSE;\n	bar.sync "
					"0;\n	st.volatile.shared.u32 [s], 1;\n	"
					"bra.uni END;\n"
					"ELSE:\n	ld.volatile.shared.u32 %a, [s];\n	setp.eq.u32 %q, %a, "
					"0;\n	@%q bra ELSE;\nEND:\n	ret;\n}\n";
	for (enum kind k = STACK; k <= THREADS; k++) {
		struct end e = go(k, text, 64);
		ends(&e, OUTCOME_DEADLOCK, "1 waits at the barrier of line 17");
		ends(&e, OUTCOME_DEADLOCK, "1 goes round the loop of line 23");
		assert_true(e.seconds < 2);
	}
}

/* Listing 7: [2] goes with [3], then [1] with [4]. Warp 1 raises a flag before each of its two, after a long while. */
static void divergent_barriers_pair_with_the_other_warp(void **state)
{
	(void)state;
#define DELAY(label)                                                                                                   \
	"	mov.u32 %i, 100;\n" label                                                                              \
	":\n	sub.u32 %i, %i, 1;\n	setp.ne.u32 %r, %i, 0;\n	@%r bra " label ";\n"
	static const char text[] = HEAD
	    "	setp.lt.u32 %p, %t, 32;\n	@!%p bra WARP1;\n	setp.lt.u32 %q, %t, 16;\n	@!%q bra "
	    "ELSE;\n"
	    "	bar.sync 0;\n	ld.volatile.shared.u32 %a, [s];\n	st.global.u32 [%o], %a;\n	ret;\n"
	    "ELSE:\n	bar.sync 0;\n	ld.volatile.shared.u32 %a, [s];\n	st.global.u32 [%o], %a;\n	"
	    "ret;\n"
	    "WARP1:\n" DELAY("D1") "	st.volatile.shared.u32 [s], 3;\n	bar.sync 0;\n" DELAY(
		"D2") "	st.volatile.shared.u32 [s], 4;\n	bar.sync 0;\n	ret;\n}\n";
	struct end e = go(STACK, text, 64);
	ends(&e, OUTCOME_OK, "");
	for (unsigned l = 0; l < 32; l++)
		assert_int_equal(e.word[l], l < 16 ? 4 : 3);
	/* By threads both sides of warp 0 and all of warp 1 make one barrier; then warp 1 is alone. */
	e = go(THREADS, text, 64);
	ends(&e, OUTCOME_OK, "");
	for (unsigned l = 0; l < 32; l++)
		assert_int_equal(e.word[l], 3);
}

static void those_that_left_release_a_barrier(void **state)
{
	(void)state;
	static const char text[] =
	    HEAD "	setp.lt.u32 %p, %t, 16;\n	@%p bra STAY;\n	mov.u32 %i, 100;\nD:\n"
		 "	sub.u32 %i, %i, 1;\n	setp.ne.u32 %r, %i, 0;\n	@%r bra D;\n	ret;\n"
		 "STAY:\n	bar.sync 0;\n	st.global.u32 [%o], 9;\n	ret;\n}\n";
	for (enum kind k = STACK; k <= THREADS; k++) {
		struct end e = go(k, text, 96);
		ends(&e, OUTCOME_OK, "");
		assert_int_equal(e.word[0], 9);
	}
}

static void arrive_counts_and_does_not_wait(void **state)
{
	(void)state;
	/* The first warp waits for the second's data; the third has nothing to do with that barrier. */
	static const char text[] = HEAD
	    "	setp.lt.u32 %p, %t, 32;\n	@%p bra WAIT;\n	setp.lt.u32 %q, %t, 64;\n	@!%q ret;\n" DELAY(
		"D") "	st.volatile.shared.u32 [s], 77;\n	bar.arrive 15, 64;\n	ret;\nWAIT:\n	bar.sync 15, "
		     "64;\n"
		     "	ld.volatile.shared.u32 %a, [s];\n	st.global.u32 [%o], %a;\n	ret;\n}\n";
	for (enum kind k = STACK; k <= THREADS; k++) {
		struct end e = go(k, text, 96);
		ends(&e, OUTCOME_OK, "");
		assert_int_equal(e.word[5], 77);
	}
}

/* ---- what is no deadlock ---- */

static void what_looks_endless_and_is_not(void **state)
{
	(void)state;
	/* Half a million rounds; then a flag for the warp that spins meanwhile. Two windows at least fall into it. */
	static const char text[] = HEAD
	    "	setp.lt.u32 %p, %t, 32;\n	@%p bra SPIN;\n	mov.u32 %i, 500000;\nD:\n	sub.u32 %i, %i, "
	    "1;\n	setp.ne.u32 %r, %i, 0;\n	@%r bra D;\n	st.volatile.shared.u32 [s], 1;\n	ret;\n"
	    "SPIN:\n	ld.volatile.shared.u32 %a, [s];\n	setp.eq.u32 %q, %a, 0;\n	@%q bra SPIN;\n"
	    "	st.global.u32 [%o], 5;\n	ret;\n}\n";
	/* Nothing but the clock changes. */
	static const char clock_text[] =
	    HEAD "	mov.u32 %a, %clock;\nL:\n	mov.u32 %b, %clock;\n	sub.u32 %b, %b, "
		 "%a;\n	setp.lt.u32 %p, %b, 4000000;\n	mov.u32 %b, 0;\n	@%p bra L;\n"
		 "	st.global.u32 [%o], 5;\n	ret;\n}\n";
	/* The same value stored again and again by one warp is no change; another value after a long while is. */
	static const char again[] = HEAD
	    "	setp.lt.u32 %p, %t, 32;\n	@%p bra SPIN;\n	mov.u32 %i, 500000;\nD:\n	st.volatile.shared.u32 "
	    "[s+8], 3;\n	sub.u32 %i, %i, 1;\n	setp.ne.u32 %r, %i, 0;\n	@%r bra D;\n	"
	    "st.volatile.shared.u32 [s], 1;\n	ret;\n"
	    "SPIN:\n	ld.volatile.shared.u32 %a, [s];\n	setp.eq.u32 %q, %a, 0;\n	@%q bra SPIN;\n"
	    "	st.global.u32 [%o], 5;\n	ret;\n}\n";
	const char *const all[] = {text, clock_text, again};
	for (size_t n = 0; n < sizeof all / sizeof all[0]; n++)
		for (enum kind k = STACK; k <= THREADS; k++) {
			struct end e = go(k, all[n], 64);
			ends(&e, OUTCOME_OK, "");
			assert_int_equal(e.word[1], 5);
		}
}

static void what_never_ends_is_found_or_timed_out(void **state)
{
	(void)state;
	static const char store[] = HEAD "L:\n	st.global.u32 [%o], 3;\n	bra L;\n}\n";
	static const char nested[] = HEAD "OUTER:\n	mov.u32 %i, 37;\nL:\n	sub.u32 %i, %i, 1;\n	setp.ne.u32 "
					  "%r, %i, 0;\n	@%r bra L;\n	bra "
					  "OUTER;\n}\n";
	static const char counts[] = HEAD "L:\n	add.u32 %i, %i, 1;\n	bra L;\n}\n";
	struct arena arena;
	struct sim_spec *toy;
	struct err err = {0};
	arena_init(&arena);
	assert_int_equal(spec_open(&toy, &arena, "toy", &err), 0);
	for (enum kind k = STACK; k <= THREADS; k++) {
		struct end e = go_on(toy, k, store, 12, 128, 20000);
		ends(&e, OUTCOME_DEADLOCK, "32 go round the loop of line 17");
		e = go_on(toy, k, nested, 2, 64, 20000);
		ends(&e, OUTCOME_DEADLOCK, "loop of line");
		e = go_on(toy, k, counts, 1, 32, 50);
		ends(&e, OUTCOME_TIMEOUT, "still running");
	}
	arena_free(&arena);
}

/* ---- the engine without time ends alike ---- */

static enum func_end untimed(const char *text, enum kind kind, uint32_t block, uint32_t *word)
{
	struct arena a;
	struct ptx_module *m;
	struct func_program *p;
	struct func_memory memory = {0};
	struct func_outcome o;
	struct err e = {0};
	struct func_target t = {.cc = 70};
	uint64_t out = FUNC_GLOBAL_BASE;
	arena_init(&a);
	assert_int_equal(ptx_parse(&m, &a, "test", text, strlen(text), &e), 0);
	assert_int_equal(func_decode(&p, &a, "test", m, "k", &t, &e), 0);
	assert_int_equal(func_memory_add(&memory, FUNC_GLOBAL_BASE, WORDS * 4, NULL), 0);
	struct func_launch l = {.program = p,
				.grid = {1, 1, 1},
				.block = {block, 1, 1},
				.warp_size = 32,
				.shared_bytes = (uint32_t)p->shared_static,
				.params = (const uint8_t *)&out,
				.memory = &memory,
				.independent = kind == THREADS,
				.yield_after = 65536};
	assert_int_equal(func_run(&l, &(struct func_how){.limit = 3000000}, &o), 0);
	memcpy(word, memory.region[0].data, WORDS * 4);
	func_memory_free(&memory);
	arena_free(&a);
	return o.end;
}

static void without_time_lanes_make_progress_too(void **state)
{
	(void)state;
	uint32_t word[WORDS];
	assert_int_equal(untimed(lock_text, THREADS, 64, word), FUNC_DONE);
	uint64_t seen = 0;
	for (unsigned l = 0; l < 64; l++)
		seen |= 1ull << (word[l] - 1);
	assert_true(seen == UINT64_MAX);
	assert_int_equal(untimed(lock_text, STACK, 64, word), FUNC_LIMIT);
}

/* ---- lanes that do not see each other compute the same, however they are scheduled ---- */

#define STEPS	40
#define KERNELS 60

/* Branches from anywhere to anywhere, forwards freely and backwards a few times a lane; exits; named lanes never. */
static void random_kernel(struct str *s, struct rng *r)
{
	str_clear(s);
	str_add(s, HEAD "	mov.u32 %a, %t;\n	mov.u32 %b, 77;\n	mov.u32 %c, 0;\n	mov.u32 %d, "
			"1;\n");
	for (unsigned k = 0; k < STEPS; k++) {
		unsigned bit = 1u << rng_below(r, 5), to = k + 1 + (unsigned)rng_below(r, STEPS - k);
		str_addf(s, "L%u:\n", k);
		switch (rng_below(r, 6)) {
		case 0:
			str_addf(s, "	mad.lo.u32 %%a, %%a, %u, %%b;\n", (unsigned)rng_below(r, 1000) * 2 + 1);
			break;
		case 1:
			str_addf(s, "	xor.b32 %%b, %%b, %%a;\n	add.u32 %%d, %%d, %u;\n", k);
			break;
		case 2: /* backwards: at most twelve times a lane */
			str_addf(s,
				 "	add.u32 %%c, %%c, 1;\n	and.b32 %%i, %%a, %u;\n	setp.ne.u32 %%p, %%i, 0;\n"
				 "	setp.lt.and.u32 %%q, %%c, 12, %%p;\n	@%%q bra L%u;\n",
				 bit, (unsigned)rng_below(r, k + 1));
			break;
		case 3:
			str_addf(s, "	setp.eq.u32 %%p, %%a, %u;\n	@%%p bra END;\n", (unsigned)rng_below(r, 64));
			break;
		default:
			str_addf(s, "\tand.b32 %%i, %%%c, %u;\n", rng_below(r, 3) ? 'l' : 'a', bit);
			str_addf(s, "\tsetp.%s.u32 %%p, %%i, 0;\n", rng_below(r, 2) ? "eq" : "ne");
			str_addf(s, "\t@%%p bra L%u;\n", to);
			break;
		}
	}
	str_addf(s,
		 "L%u:\n	mad.lo.u32 %%d, %%d, 31, %%c;\nEND:\n	mad.lo.u32 %%a, %%a, 31, %%b;\n"
		 "	add.u32 %%a, %%a, %%d;\n	st.global.u32 [%%o], %%a;\n	ret;\n}\n",
		 STEPS);
}

static void scheduling_changes_no_result(void **state)
{
	(void)state;
	struct arena arena;
	struct sim_spec *toy;
	struct err err = {0};
	struct str text;
	struct rng r;
	str_init(&text);
	arena_init(&arena);
	assert_int_equal(spec_open(&toy, &arena, "toy", &err), 0);
	rng_seed(&r, 20261120);
	for (unsigned n = 0; n < KERNELS; n++) {
		uint32_t want[WORDS];
		random_kernel(&text, &r);
		assert_int_equal(untimed(str_text(&text), STACK, 70, want), FUNC_DONE);
		toy->warp_size = 32;
		for (unsigned how = 0; how < 6; how++) { /* 4, 5: one warp of 64 lanes and one of 6 */
			toy->first_path = how & 1 ? FIRST_FALLTHROUGH : FIRST_TAKEN;
			toy->warp_size = how & 4 ? 64 : 32;
			struct end e = go_on(toy, how & 2 ? THREADS : STACK, str_text(&text), 1, 70, 10000);
			ends(&e, OUTCOME_OK, "");
			if (memcmp(e.word, want, sizeof want) != 0)
				fail_msg("kernel %u, way %u:\n%s", n, how, str_text(&text));
		}
		uint32_t again[WORDS];
		assert_int_equal(untimed(str_text(&text), THREADS, 70, again), FUNC_DONE);
		assert_memory_equal(again, want, sizeof want);
	}
	arena_free(&arena);
	str_free(&text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(the_taken_path_runs_first),
	    cmocka_unit_test(waiting_for_a_lane_of_the_same_warp),
	    cmocka_unit_test(a_lock_between_the_lanes_of_a_warp),
	    cmocka_unit_test(a_lock_with_a_count_of_attempts),
	    cmocka_unit_test(lanes_meet_behind_a_loop),
	    cmocka_unit_test(named_lanes_are_waited_for),
	    cmocka_unit_test(named_lanes_in_two_places),
	    cmocka_unit_test(named_lanes_that_never_come),
	    cmocka_unit_test(barriers_of_two_paths_of_one_warp),
	    cmocka_unit_test(a_warp_that_waits_for_what_lies_behind_a_barrier),
	    cmocka_unit_test(divergent_barriers_pair_with_the_other_warp),
	    cmocka_unit_test(those_that_left_release_a_barrier),
	    cmocka_unit_test(arrive_counts_and_does_not_wait),
	    cmocka_unit_test(what_looks_endless_and_is_not),
	    cmocka_unit_test(what_never_ends_is_found_or_timed_out),
	    cmocka_unit_test(without_time_lanes_make_progress_too),
	    cmocka_unit_test(scheduling_changes_no_result),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
