/* Clusters of several blocks: who is who, where all of them meet, and each other's shared memory, in both engines. */
#include "gpu/sim/sim.h"
#include <string.h>

/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
/* clang-format on */

#define HEADER	".version 8.0\n.target sm_90\n.address_size 64\n"
#define ACROSS	4 /* blocks of the grid, either way; a cluster has two by two of them */
#define THREADS 64
#define BLOCKS	(ACROSS * ACROSS)
#define EACH	(2 * THREADS + 4) /* words that a block writes */

/* A block puts 1000 * its number + thread into its shared memory, and the cluster meets. Each thread reads what its
 * mirror image in the next block of the cluster put there. It adds its lane to a sum of block 0. The first thread sends
 * its block's number to the next block, whose barrier in memory waits for it. The cluster meets again. */
static const char text[] = HEADER
    ".visible .entry k(.param .u64 out) .reqnctapercluster 2, 2, 1 {\n"
    "	.reg .pred %p, %q;\n	.reg .b32 %t, %b, %x, %y, %r, %n, %a, %m, %s;\n	.reg .b64 %o, %w, %g;\n"
    "	.shared .align 8 .b64 arrived;\n	.shared .align 4 .b32 words[64];\n	.shared .align 4 .b32 sum;\n"
    "	.shared .align 4 .b32 sent;\n"
    "	mov.u32 %t, %tid.x;\n	mov.u32 %x, %ctaid.x;\n	mov.u32 %y, %ctaid.y;\n	mad.lo.u32 %b, %y, 4, %x;\n"
    "	mov.u32 %r, %cluster_ctarank;\n	add.u32 %n, %r, 1;\n	and.b32 %n, %n, 3;\n"
    "	setp.eq.u32 %p, %t, 0;\n	mov.u32 %a, words;\n	shl.b32 %x, %t, 2;\n	add.u32 %a, %a, %x;\n"
    "	mad.lo.u32 %x, %b, 1000, %t;\n	st.shared.u32 [%a], %x;\n	@%p st.shared.u32 [sum], 0;\n"
    "	@%p mbarrier.init.shared::cta.b64 [arrived], 1;\n"
    "	@%p mbarrier.arrive.expect_tx.shared::cta.b64 %w, [arrived], 4;\n"
    "	barrier.cluster.arrive.release.aligned;\n	barrier.cluster.wait.acquire.aligned;\n"
    /* the mirror image */
    "	mov.u32 %a, words;\n	xor.b32 %x, %t, 63;\n	shl.b32 %x, %x, 2;\n	add.u32 %a, %a, %x;\n"
    "	mapa.shared::cluster.u32 %m, %a, %n;\n	ld.shared::cluster.u32 %y, [%m];\n"
    "	getctarank.shared::cluster.u32 %s, %m;\n"
    /* the sum, by a generic address */
    "	cvta.shared.u64 %g, sum;\n	mapa.u64 %g, %g, 0;\n	and.b32 %x, %t, 31;\n"
    "	atom.add.u32 %x, [%g], %x;\n"
    /* what is sent */
    "	mov.u32 %a, sent;\n	mapa.shared::cluster.u32 %a, %a, %n;\n	mov.u32 %m, arrived;\n"
    "	mapa.shared::cluster.u32 %m, %m, %n;\n"
    "	@%p st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.u32 [%a], %b, [%m];\n"
    "W:\n	mbarrier.try_wait.parity.shared::cta.b64 %q, [arrived], 0;\n	@!%q bra W;\n"
    "	ld.shared.u32 %x, [sent];\n"
    "	barrier.cluster.arrive;\n	barrier.cluster.wait;\n"
    "	ld.param.u64 %o, [out];\n	mul.lo.u32 %a, %b, 132;\n	add.u32 %a, %a, %t;\n	mul.wide.u32 %w, %a, "
    "4;\n"
    "	add.u64 %o, %o, %w;\n	st.global.u32 [%o], %y;\n	st.global.u32 [%o + 256], %x;\n"
    "	ld.shared.u32 %x, [sum];\n	@%p st.global.u32 [%o + 512], %x;\n	@%p st.global.u32 [%o + 516], %s;\n"
    "	mov.u32 %x, %cluster_nctarank;\n	@%p st.global.u32 [%o + 520], %x;\n	mov.u32 %x, %clusterid.y;\n"
    "	@%p st.global.u32 [%o + 524], %x;\n	ret;\n}\n";

static void check(const uint32_t *words)
{
	for (uint32_t b = 0; b < BLOCKS; b++) {
		const uint32_t x = b % ACROSS, y = b / ACROSS, rank = y % 2 * 2 + x % 2;
		const uint32_t after = (rank + 1) % 4, before = (rank + 3) % 4, corner = y / 2 * 2 * ACROSS + x / 2 * 2;
		const uint32_t next = corner + after / 2 * ACROSS + after % 2,
			       last = corner + before / 2 * ACROSS + before % 2;
		const uint32_t *w = words + (size_t)b * EACH;
		for (uint32_t t = 0; t < THREADS; t++) {
			assert_int_equal(w[t], 1000 * next + (t ^ 63));
			assert_int_equal(w[THREADS + t], last);
		}
		assert_int_equal(w[2 * THREADS], rank ? 0 : 4 * 2 * (31 * 32 / 2));
		assert_int_equal(w[2 * THREADS + 1], after);
		assert_int_equal(w[2 * THREADS + 2], 4);
		assert_int_equal(w[2 * THREADS + 3], y / 2);
	}
}

static void run(const char *gpu, const char *ptx, uint32_t grid, bool untimed, struct sample *s)
{
	struct err e = {0};
	struct gpu *g;
	uint32_t id;
	if (gpu_sim.open(&g, gpu, 1, &e))
		fail_msg("%s", e.text);
	sim_untimed(g, untimed);
	struct kernel_source src = {.name = "cluster", .entry = "k", .text = ptx};
	if (g->ops->load(g, &src, 1, &id, NULL, &e))
		fail_msg("%s", e.text);
	struct launch l = {.grid = {grid, grid, 1}, .block = {THREADS, 1, 1}, .buffer_count = 1, .arg_count = 1};
	l.buffers[0] =
	    (struct launch_buffer){.bytes = BLOCKS * EACH * 4, .output = true, .output_words = BLOCKS * EACH};
	l.args[0].kind = ARG_BUFFER;
	assert_int_equal(g->ops->run(g, id, &l, s, &e), 0);
	g->ops->close(g);
}

static void they_reach_each_other(void **state)
{
	(void)state;
	for (int untimed = 0; untimed < 2; untimed++) {
		struct sample s;
		run("h200", text, ACROSS, untimed, &s);
		assert_string_equal(s.message, "");
		assert_int_equal(s.outcome, OUTCOME_OK);
		check(s.words);
		sample_free(&s);
	}
}

/* One that a cluster's other blocks wait for never comes to where they meet; and reads of a block that has ended. */
static const char alone_text[] = HEADER ".visible .entry k(.param .u64 out) .reqnctapercluster 2, 2, 1 {\n"
					"	.reg .pred %p;\n	.reg .b32 %r;\n	mov.u32 %r, %cluster_ctarank;\n"
					"	setp.eq.u32 %p, %r, 1;\nL:\n	@%p bra.uni L;\n"
					"	barrier.cluster.arrive;\n	barrier.cluster.wait;\n	ret;\n}\n";
static const char gone_text[] =
    HEADER ".visible .entry k(.param .u64 out) .reqnctapercluster 2, 2, 1 {\n	.reg .b32 %r;\n	.shared .b32 word;\n"
	   "	mov.u32 %r, word;\n	mapa.shared::cluster.u32 %r, %r, 4;\n	ld.shared::cluster.u32 %r, "
	   "[%r];\n	ret;\n}\n";

static void it_ends_as_it_should(void **state)
{
	(void)state;
	for (int untimed = 0; untimed < 2; untimed++) {
		struct sample s;
		run("h200", text, ACROSS - 1, untimed, &s);
		assert_int_equal(s.outcome, OUTCOME_REFUSED);
		assert_non_null(strstr(s.message, "a grid of 3 x 3 x 1 blocks is not made of clusters of 2 x 2 x 1"));
		sample_free(&s);
		run("h200", gone_text, ACROSS, untimed, &s);
		assert_int_equal(s.outcome, OUTCOME_CRASH);
		assert_non_null(strstr(s.message, "illegal address"));
		sample_free(&s);
	}
	struct sample s;
	run("h200", alone_text, ACROSS, false, &s);
	assert_int_equal(s.outcome, OUTCOME_DEADLOCK);
	sample_free(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(they_reach_each_other),
	    cmocka_unit_test(it_ends_as_it_should),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
