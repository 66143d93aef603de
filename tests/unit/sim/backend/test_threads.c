/* Cycles and results are the same for any number of host threads, on random GPUs with their noise. They are so for a
 * cluster that asks the far side at once or queues what it asks, and for the solo path. Kernels that race on purpose
 * agree, too. So do the ends of kernels that fault or wait for ever, and what is said about them. */
#include "base/arena.h"
#include "base/str.h"
#include "gpu/sim/sim.h"
#include <stdio.h>
#include <string.h>

/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
/* clang-format on */

#define WORDS 8192
#define HEAD                                                                                                           \
	".version 6.0\n.target sm_10\n.address_size 64\n.visible .entry k(.param .u64 out, .param .u64 in, .param "    \
	".u32 n)\n"                                                                                                    \
	"{\n	.reg .pred %p, %q;\n	.reg .b32 %t, %b, %g, %n, %i, %v, %w;\n	.reg .f32 %x, %y;\n	.reg .b64 "              \
	"%o, %a, %d, %s;\n"                                                                                            \
	"	ld.param.u64 %o, [out];\n	ld.param.u64 %d, [in];\n	ld.param.u32 %n, [n];\n	mov.u32 %t, "                     \
	"%tid.x;\n"                                                                                                    \
	"	mov.u32 %b, %ctaid.x;\n	mov.u32 %g, %ntid.x;\n	mad.lo.u32 %g, %b, %g, %t;\n	mul.wide.u32 %s, %g, "           \
	"4;\n"                                                                                                         \
	"	add.u64 %a, %o, %s;\n	mov.u32 %i, 0;\n"
#define LOOP "	add.u32 %i, %i, 1;\n	setp.lt.u32 %p, %i, %n;\n	@%p bra L;\n"
#define TAIL "	mov.u32 %w, %clock;\n	st.global.u32 [%a + 16384], %w;\n	ret;\n}\n"

static const char chase[] =
    HEAD "	mov.u32 %v, 0;\n"
	 "L:\n	mad.lo.u32 %v, %i, 192, %v;\n	and.b32 %v, %v, 65472;\n	cvt.u64.u32 %s, %v;\n"
	 "	add.u64 %s, %d, %s;\n	ld.global.u32 %v, [%s];\n" LOOP "	st.global.u32 [%a], %v;\n" TAIL;
static const char mads[] =
    HEAD "	cvt.rn.f32.u32 %x, %g;\n	mov.f32 %y, 0f3F800000;\n"
	 "L:\n	mad.f32 %y, %y, %x, %x;\n	mad.f32 %y, %y, %x, %x;\n" LOOP "	st.global.f32 [%a], %y;\n" TAIL;
static const char saxpy[] =
    HEAD "	add.u64 %s, %d, %s;\n"
	 "L:\n	ld.global.f32 %x, [%s];\n	ld.global.f32 %y, [%a];\n	mad.f32 %y, %x, 0f40000000, %y;\n"
	 "	st.global.f32 [%a], %y;\n" LOOP TAIL;
static const char gather[] = HEAD
    "	mov.u32 %w, %g;\n"
    "L:\n	mad.lo.u32 %w, %w, 1664525, 1013904223;\n	shr.u32 %v, %w, 10;\n	and.b32 %v, %v, 65532;\n"
    "	cvt.u64.u32 %s, %v;\n	add.u64 %s, %d, %s;\n	ld.global.u32 %v, [%s];\n	add.u32 %w, %w, %v;\n" LOOP
    "	st.global.u32 [%a], %w;\n" TAIL;
/* Who came when, and what a load sees after one's own atomic. */
static const char atomics[] =
    HEAD "L:\n	atom.global.add.u32 %v, [%d], 3;\n	red.global.add.u32 [%d + 4], %v;\n"
	 "	ld.global.u32 %w, [%d + 4];\n	add.u32 %v, %v, %w;\n	st.global.u32 [%a], %v;\n" LOOP TAIL;
/* Each block waits for the one before it. */
static const char spin[] = HEAD
    "	setp.ne.u32 %p, %t, 0;\n	@%p bra E;\n"
    "S:\n	ld.volatile.global.u32 %v, [%d];\n	setp.ne.u32 %p, %v, %b;\n	@%p bra S;\n"
    "	st.global.u32 [%a], %v;\n	membar.gl;\n	add.u32 %v, %v, 1;\n	st.volatile.global.u32 [%d], %v;\n"
    "E:\n" TAIL;
static const char barriers[] = HEAD "	mul.lo.u32 %w, %t, 4;\n"
				    "L:\n	st.shared.u32 [%w], %g;\n	bar.sync 0;\n	xor.b32 %v, %w, "
				    "128;\n	ld.shared.u32 %v, [%v];\n	add.u32 %g, %g, %v;\n"
				    "	bar.sync 0;\n" LOOP "	st.global.u32 [%a], %g;\n" TAIL;
/* As a compiler leaves it, with operands from shared memory where the GPU has such: warps wait for them at each other's cost. */
static const char operands[] =
    HEAD "	mul.lo.u32 %w, %t, 4;\n	st.shared.u32 [%w], %t;\n	bar.sync 0;\n	mov.f32 %y, 0f3F800000;\n"
	 "L:\n	ld.shared.f32 %x, [16];\n	mad.f32 %y, %y, %x, %x;\n	ld.shared.f32 %x, [%w];\n	"
	 "mad.f32 %y, %y, "
	 "%x, %x;\n" LOOP "	st.global.f32 [%a], %y;\n" TAIL;
/* Neighbours in other blocks read what this one writes, without order. */
static const char races[] =
    HEAD "	mov.u32 %w, 0;\nL:\n	and.b32 %v, %t, 3;\n	setp.lt.u32 %q, %v, 2;\n	@%q bra A;\n	"
	 "st.global.u32 [%a], %i;\n	ld.global.u32 %v, [%a];\n"
	 "	bra J;\nA:\n	mad.lo.u32 %v, %i, 37, %g;\n	and.b32 %v, %v, 1023;\n	"
	 "mul.wide.u32 %s, %v, 4;\n	add.u64 %s, %o, %s;\n"
	 "	ld.global.u32 %v, [%s];\n	add.u32 %v, %v, %w;\n	st.global.u32 [%a + "
	 "8192], %v;\n	mov.u32 %w, %v;\n"
	 "J:\n" LOOP TAIL;
/* Two SMs, on many GPUs of one cluster, which is soon alone, read what the other adds to. */
static const char sums[] =
    HEAD "	mov.u32 %w, %smid;\n	setp.ge.u32 %q, %w, 2;\n	@%q ret;\nL:\n	ld.global.u32 %v, "
	 "[%d];\n	red.global.add.u32 [%d], 1;\n	ld.global.u32 %w, [%d];\n"
	 "	add.u32 %g, %g, %v;\n	xor.b32 %g, %g, %w;\n" LOOP "	st.global.u32 [%a], %g;\n" TAIL;
/* Of neighbouring lanes one goes to shared memory and one to global memory; the lanes of a warp begin with either. */
#define SPACES_N 9
static const char spaces[] =
    HEAD "	mul.lo.u32 %w, %t, 4;\n	cvt.u64.u32 %s, %w;\n	cvta.shared.u64 %s, %s;\n	add.u64 %o, %a, 8192;\n"
	 "	shr.u32 %v, %t, 5;\n	add.u32 %v, %v, %t;\n	and.b32 %v, %v, 1;\n	setp.eq.u32 %q, %v, 1;\n"
	 "	@%q mov.u64 %s, %o;\n"
	 "L:\n	st.volatile.u32 [%s], %g;\n	atom.add.u32 %v, [%s], 5;\n	ld.volatile.u32 %w, [%s];\n"
	 "	add.u32 %g, %g, %w;\n	add.u32 %g, %g, %v;\n" LOOP "	st.global.u32 [%a], %g;\n" TAIL;

/* Many blocks store outside, not all in the same round. */
static const char fault[] = HEAD
    "L:\n	ld.global.u32 %v, [%a];\n	add.u32 %v, %v, %i;\n	st.global.u32 [%a], %v;\n	rem.u32 %w, "
    "%b, 5;\n"
    "	add.u32 %w, %w, 40;\n	setp.eq.u32 %q, %w, %i;\n	@%q st.global.u32 [%d + 1048576], %v;\n" LOOP TAIL;
/* The warps of a block wait for each other at two barriers. */
static const char barrier_stuck[] =
    HEAD "L:\n	ld.global.u32 %v, [%a];\n	add.u32 %v, %v, %i;\n	st.global.u32 [%a], %v;\n" LOOP
	 "	setp.lt.u32 %q, %t, 64;\n	@%q bra A;\n	bar.sync 1;\n	ret;\nA:\n	bar.sync 0;\n" TAIL;
/* Nobody ever writes what they wait for. */
static const char spin_stuck[] =
    HEAD "L:\n	atom.global.add.u32 %v, [%d + 64], 1;\n" LOOP
	 "S:\n	ld.volatile.global.u32 %v, [%d];\n	setp.ne.u32 %p, %v, 77;\n	@%p bra S;\n" TAIL;
/* Some wait for ever at a barrier, some go round, and one is told to: a fault comes before both. */
static const char fault_late[] =
    HEAD "	setp.ne.u32 %q, %b, 3;\n	@%q bra S;\n"
	 "L:\n	mad.lo.u32 %v, %i, 37, %g;\n" LOOP "	st.global.u32 [%d + 1048576], %v;\n"
	 "S:\n	ld.volatile.global.u32 %v, [%d];\n	setp.ne.u32 %p, %v, 77;\n	@%p bra S;\n" TAIL;

struct kernel {
	const char *name, *text;
	uint32_t blocks, threads, n; /* blocks 0: one an SM */
	enum outcome outcome;
	const char *says;
	bool compiled;
};
static const struct kernel kernels[] = {
    {"chase", chase, 1, 1, 400},	 {"mads", mads, 40, 64, 60},
    {"saxpy", saxpy, 40, 64, 20},	 {"gather", gather, 24, 64, 12},
    {"atomics", atomics, 24, 64, 6},	 {"spin", spin, 0, 32, 1},
    {"barriers", barriers, 30, 128, 12}, {"races", races, 24, 64, 24},
    {"sums", sums, 0, 64, 30},		 {"operands", operands, 40, 256, 20, OUTCOME_OK, NULL, true},
};
static const struct kernel generic_kernels[] = {{"spaces alone", spaces, 1, 64, SPACES_N},
						{"spaces", spaces, 24, 64, SPACES_N}};
/* Long enough that other threads are called in. */
static const struct kernel wrong_kernels[] = {
    {"fault", fault, 40, 64, 60, OUTCOME_CRASH, "illegal address: store"},
    {"barrier stuck", barrier_stuck, 40, 128, 40, OUTCOME_DEADLOCK, "wait at the barrier"},
    {"spin stuck", spin_stuck, 40, 32, 3, OUTCOME_DEADLOCK, "go round the loop"},
    {"fault late", fault_late, 40, 32, 2000, OUTCOME_CRASH, "of block (3,0,0)"},
};

struct outcome_of {
	enum outcome outcome;
	uint64_t cycles, instructions;
	char message[512];
	uint32_t word[WORDS];
};

enum { GENERAL = 1, APART = 2, ASKED = 4 }; /* ASKED: every cluster asks the far side at once, because of a hook */

static void ignore(void *ctx, const struct time_event *ev)
{
	(void)ctx;
	(void)ev;
}

static void run(struct outcome_of *r, const struct sim_spec *s, const struct kernel *k, uint32_t threads, int how)
{
	struct gpu *g;
	struct err e = {0};
	struct sample out;
	struct time_hook hook = {.issue = ignore};
	uint32_t id;
	if (sim_open_spec(&g, s, 5, &e))
		fail_msg("%s", e.text);
	sim_threads(g, threads);
	sim_general(g, how & GENERAL);
	sim_apart(g, how & APART);
	sim_trace(g, how & ASKED ? &hook : NULL);
	struct kernel_source src = {.name = k->name, .entry = "k", .text = k->text};
	if (g->ops->load(g, &src, 1, &id, NULL, &e))
		fail_msg("%s", e.text);
	uint32_t blocks = k->blocks ? k->blocks : s->sm_count;
	struct launch l = {.entry = "k",
			   .grid = {blocks, 1, 1},
			   .block = {k->threads, 1, 1},
			   .repeats = 1,
			   .shared_bytes = 1024,
			   .compiled = k->compiled};
	l.buffers[0] = (struct launch_buffer){.bytes = WORDS * 4, .output = true, .output_words = WORDS};
	l.buffers[1] = (struct launch_buffer){.bytes = 65536 + 4096};
	l.buffer_count = 2;
	l.args[0] = (struct launch_arg){.kind = ARG_BUFFER, .buffer = 0};
	l.args[1] = (struct launch_arg){.kind = ARG_BUFFER, .buffer = 1};
	l.args[2] = (struct launch_arg){.kind = ARG_U32, .bits = k->n};
	l.arg_count = 3;
	if (g->ops->run(g, id, &l, &out, &e))
		fail_msg("%s", e.text);
	memset(r, 0, sizeof *r);
	r->outcome = out.outcome;
	r->cycles = sim_result(g)->cycles;
	r->instructions = sim_result(g)->instructions;
	if (out.words)
		memcpy(r->word, out.words, sizeof r->word);
	snprintf(r->message, sizeof r->message, "%s", out.message);
	if (out.outcome != k->outcome || (k->says && !strstr(out.message, k->says)))
		fail_msg("%s on %s: %s \"%s\"", k->name, s->name, outcome_name(out.outcome), out.message);
	sample_free(&out);
	g->ops->close(g);
}

static void same(const struct outcome_of *a, const struct outcome_of *b, const char *gpu, const struct kernel *k,
		 uint32_t threads, int how)
{
	for (uint32_t n = 0; n < WORDS; n++)
		if (a->word[n] != b->word[n])
			fail_msg("%s, %s, %u threads, way %d: word %u is %u, not %u", gpu, k->name, threads, how, n,
				 b->word[n], a->word[n]);
	if (strcmp(a->message, b->message) != 0)
		fail_msg("%s, %s, %u threads, way %d: \"%s\", not \"%s\"", gpu, k->name, threads, how, b->message,
			 a->message);
	if (a->cycles != b->cycles || a->instructions != b->instructions)
		fail_msg("%s, %s, %u threads, way %d: %llu cycles and %llu instructions, not %llu and %llu", gpu,
			 k->name, threads, how, (unsigned long long)b->cycles, (unsigned long long)b->instructions,
			 (unsigned long long)a->cycles, (unsigned long long)a->instructions);
}

static void compare_one(const struct sim_spec *s, const char *name, const struct kernel *w)
{
	static struct outcome_of one, other;
	run(&one, s, w, 1, 0);
	for (uint32_t threads = 1; threads <= 4; threads++) {
		run(&other, s, w, threads, threads == 1 ? GENERAL | APART : 0);
		same(&one, &other, name, w, threads, threads == 1 ? GENERAL | APART : 0);
	}
	/* Each thread does the same in a word of its own, wherever that lies. */
	for (uint32_t g = 0; w->text == spaces && g < w->blocks * w->threads; g++) {
		uint32_t want = g;
		for (uint32_t n = 0; n < SPACES_N; n++)
			want = 3 * want + 5;
		assert_int_equal(one.word[g], want);
	}
}

static void compare(const struct sim_spec *s, const char *name)
{
	for (size_t k = 0; k < sizeof kernels / sizeof kernels[0]; k++)
		compare_one(s, name, &kernels[k]);
	for (size_t k = 0; s->cc >= 20 && k < sizeof generic_kernels / sizeof generic_kernels[0]; k++)
		compare_one(s, name, &generic_kernels[k]);
}

/* On one thread with the queues as usual, and on others. */
static void compare_wrong(const struct sim_spec *s, const char *name)
{
	static struct outcome_of one, other;
	for (size_t k = 0; k < sizeof wrong_kernels / sizeof wrong_kernels[0]; k++) {
		const struct kernel *w = &wrong_kernels[k];
		run(&one, s, w, 1, 0);
		for (uint32_t threads = 2; threads <= 3; threads++) {
			run(&other, s, w, threads, 0);
			same(&one, &other, name, w, threads, 0);
		}
	}
}

static void random_gpus(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 8; seed++) {
		struct str text;
		struct arena a;
		struct sim_spec *s;
		struct err e = {0};
		char name[32];
		arena_init(&a);
		str_init(&text);
		snprintf(name, sizeof name, "random %llu", (unsigned long long)seed);
		assert_int_equal(spec_random(&text, seed), 0);
		if (spec_parse(&s, &a, "random.gpu", text.data, strlen(text.data), &e))
			fail_msg("%s", e.text);
		compare(s, name);
		compare_wrong(s, name);
		str_free(&text);
		arena_free(&a);
	}
}

static void shipped_gpus(void **state)
{
	(void)state;
	static const char *const names[] = {"g8800gtx", "gtx280", "toy", "v100", "hd7970"};
	for (size_t k = 0; k < sizeof names / sizeof names[0]; k++) {
		struct arena a;
		struct sim_spec *s;
		struct err e = {0};
		arena_init(&a);
		if (spec_open(&s, &a, names[k], &e))
			fail_msg("%s", e.text);
		compare(s, names[k]);
		compare_wrong(s, names[k]);
		arena_free(&a);
	}
}

/* A cluster finds out beforehand about the lines of the L2 what it finds when its turn comes. That holds if lines go
 * all the time, so that most of it has come to nothing by then. It holds whatever chance and the clocks add. */
static void settled(void **state)
{
	(void)state;
	static const enum cache_policy policies[] = {POLICY_LRU, POLICY_FIFO, POLICY_RANDOM, POLICY_PLRU, POLICY_NRU};
	static const uint32_t sets[] = {8, 16, 64}; /* of 24 lines: a third of the data, three quarters, all */
	static struct outcome_of epochs, asked;
	for (size_t n = 0; n < sizeof policies / sizeof policies[0] * 3; n++) {
		char name[32];
		struct arena a;
		struct sim_spec *s;
		struct err e = {0};
		arena_init(&a);
		assert_int_equal(spec_open(&s, &a, "v100", &e), 0);
		struct cache_spec *l1 = &s->global.level[0], *l2 = &s->global.level[1];
		l1->sets = 1;
		l1->ways = 4;
		l2->sets = sets[n % 3];
		l2->policy = policies[n / 3];
		s->noise.drift = n % 2 ? 0.05 : 0;
		snprintf(name, sizeof name, "policy %d, %u sets", (int)l2->policy, l2->sets);
		for (size_t k = 0; k < sizeof kernels / sizeof kernels[0]; k++) {
			if (kernels[k].text != gather && kernels[k].text != saxpy)
				continue;
			run(&epochs, s, &kernels[k], 1 + (uint32_t)n % 2, 0);
			run(&asked, s, &kernels[k], 1, ASKED);
			same(&asked, &epochs, name, &kernels[k], 1 + (uint32_t)n % 2, 0);
		}
		arena_free(&a);
	}
}

/* With a name: only the test of that name. */
int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(random_gpus), cmocka_unit_test(shipped_gpus),
					   cmocka_unit_test(settled)};
	if (argc > 1)
		cmocka_set_test_filter(argv[1]);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
