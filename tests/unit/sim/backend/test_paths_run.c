/* Chases through textures and pages on whole simulated GPUs: the published plots' corners come out where the description has
 * them, and nowhere else. */
#include "base/arena.h"
#include "base/embed.h"
#include "base/str.h"
#include "gpu/sim/sim.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
/* clang-format on */

#define KB   1024ull
#define MB   (1024 * KB)
#define MOST 8192 /* elements of a ring */

struct bed {
	struct arena a;
	struct sim_spec *s;
	struct gpu *g;
	uint32_t kernel[3];
	double offset;	/* cycles of the network to the SM that runs */
	uint32_t first; /* address of a ring's first element */
	uint64_t start; /* of a ring, in its buffer */
};
enum { BY_TEXTURE, BY_GLOBAL, EACH };

/* A ring is walked once, and `timed` steps more with the clock; x: what leads on. */
#define WALK(decls, step, value)                                                                                       \
	".visible .entry k(.param .u64 out, .param .u64 from, .param .u32 count, .param .u32 timed)\n{\n"              \
	".reg .b64 o, t;\n.reg .b32 n, c, b, e, m, u, v, w;\n.reg .pred p;\n" decls                                    \
	"ld.param.u64 o, [out];\nld.param.u64 t, [from];\nld.param.u32 c, [count];\nmov.u32 n, 0;\n"                   \
	"ONE:\n.pragma \"nounroll\";\n" step "add.u32 n, n, 1;\nsetp.lt.u32 p, n, c;\n@p bra ONE;\n"                   \
	"ld.param.u32 c, [timed];\nmov.u32 n, 0;\nmov.u32 b, %clock;\n"                                                \
	"TWO:\n.pragma \"nounroll\";\n" step "add.u32 n, n, 1;\nsetp.lt.u32 p, n, c;\n@p bra TWO;\n"                   \
	"cvt.u32." value " m, x;\nmov.u32 e, %clock;\nsub.u32 e, e, b;\nst.global.u32 [o], e;\n"                       \
	"st.global.u32 [o+8], m;\nmov.u32 m, %smid;\nst.global.u32 [o+4], m;\nret;\n}\n"

static const char *const body[] = {
    WALK(".reg .b32 x;\nmov.u32 x, 0;\n", "tex.1d.v4.u32.s32 {x, u, v, w}, [t, {x}];\n", "u32"),
    WALK(".reg .b64 x;\nld.param.u64 x, [from];\n", "ld.global.u64 x, [x];\n", "u64"),
    /* Each access by itself: the comparison waits for it, and the clock comes behind. */
    ".visible .entry k(.param .u64 out, .param .u64 from, .param .u32 count)\n{\n.reg .b64 o, x;\n"
    ".reg .b32 n, c, b, e;\n.reg .pred p, q;\n"
    "ld.param.u64 o, [out];\nld.param.u64 x, [from];\nld.param.u32 c, [count];\nmov.u32 n, 0;\n"
    "ONE:\n.pragma \"nounroll\";\nmov.u32 b, %clock;\nld.global.u64 x, [x];\nsetp.eq.u64 q, x, 0;\n@q ret;\n"
    "mov.u32 e, %clock;\nsub.u32 e, e, b;\nst.global.u32 [o], e;\nadd.u64 o, o, 4;\nadd.u32 n, n, 1;\n"
    "setp.lt.u32 p, n, c;\n@p bra ONE;\nret;\n}\n",
};

static void open_text(struct bed *b, const char *text, size_t size)
{
	struct err e = {0};
	b->start = 0;
	arena_init(&b->a);
	if (spec_parse(&b->s, &b->a, "test.gpu", text, size, &e) || sim_open_spec(&b->g, b->s, 1, &e))
		fail_msg("%s", e.text);
	const struct device_info *d = b->g->ops->info(b->g);
	for (uint32_t k = 0; k < 3; k++) {
		char source[4096];
		struct native_info n;
		snprintf(source, sizeof source, ".version %d.%d\n.target %s\n.address_size 64\n%s", d->ptx_version / 10,
			 d->ptx_version % 10, d->target, body[k]);
		struct kernel_source src = {.name = "chase", .entry = "k", .text = source};
		if (b->g->ops->load(b->g, &src, 1, &b->kernel[k], &n, &e))
			fail_msg("%s", e.text);
	}
}

static void close_bed(struct bed *b)
{
	b->g->ops->close(b->g);
	arena_free(&b->a);
}

/* The words that the kernel writes when it walks the ring of those byte offsets. */
static void walk(struct bed *b, uint32_t how, const uint64_t *ring, uint32_t n, uint32_t timed, uint64_t bytes,
		 struct sample *out)
{
	struct launch l = {.label = "chase", .entry = "k", .grid = {1, 1, 1}, .block = {1, 1, 1}, .buffer_count = 2};
	uint32_t words = how == EACH ? n : 3;
	struct err e = {0};
	l.buffers[0] = (struct launch_buffer){.bytes = words * 4ull, .output = true, .output_words = words};
	l.buffers[1] = (struct launch_buffer){
	    .bytes = bytes, .align = 1 * MB, .ring = ring, .ring_count = n, .ring_word = 8, .ring_unit = 1};
	l.args[0] = (struct launch_arg){.kind = ARG_BUFFER};
	l.args[1] = (struct launch_arg){.kind = ARG_BUFFER, .buffer = 1, .bits = ring[0]};
	l.args[2] = (struct launch_arg){.kind = ARG_U32, .bits = n};
	l.args[3] = (struct launch_arg){.kind = ARG_U32, .bits = timed};
	l.arg_count = how == EACH ? 3 : 4;
	l.warmups = how == EACH ? 0 : 1; /* brings the code into the instruction caches */
	if (how == BY_TEXTURE) {
		l.buffers[1].ring_word = 4;
		l.buffers[1].ring_unit = 4;
		l.args[1] = (struct launch_arg){.kind = ARG_TEXTURE};
		l.textures[0] = (struct launch_texture){
		    .buffer = 1, .size = {(uint32_t)(bytes / 4)}, .type = TEXEL_U32, .channels = 1};
		l.texture_count = 1;
	}
	if (b->g->ops->run(b->g, b->kernel[how], &l, out, &e))
		fail_msg("%s", e.text);
	if (out->outcome != OUTCOME_OK)
		fail_msg("%s: %s", outcome_name(out->outcome), out->message);
}

/* Cycles a step of n elements, stride bytes apart, the first of them at `start`: of two rounds less one. */
static double mean(struct bed *b, uint32_t how, uint64_t start, uint32_t n, uint64_t stride)
{
	static uint64_t ring[MOST];
	struct sample out[2];
	assert_true(n <= MOST);
	for (uint32_t k = 0; k < n; k++)
		ring[k] = start + k * stride;
	for (uint32_t k = 0; k < 2; k++)
		walk(b, how, ring, n, (k + 1) * n, start + n * stride, &out[k]);
	double cycles = (double)(out[1].words[0] - out[0].words[0]) / n;
	b->offset = b->s->cluster_offset ? b->s->cluster_offset[out[0].words[1] / b->s->sm_per_cluster] : 0;
	b->first = out[0].words[2];
	sample_free(&out[0]);
	sample_free(&out[1]);
	return cycles;
}

/* beyond: the part of the steps that go to other clusters' side of the network. A clock of coarse steps moves the mean of a
 * round by one of them at most. */
static void expect(struct bed *b, uint32_t how, uint32_t n, uint64_t stride, double wanted, double beyond)
{
	double is = mean(b, how, b->start, n, stride) - b->offset * beyond;
	if (fabs(is - wanted) > (double)b->s->clock_granularity / n + 0.001)
		fail_msg("%u elements, %llu bytes apart: %.3f cycles a step instead of %.3f", n,
			 (unsigned long long)stride, is, wanted);
}

static void open_gtx280(struct bed *b)
{
	const struct embedded *m = embed_find("gpus/gtx280.gpu");
	open_text(b, m->data, m->size);
	assert_int_equal(b->s->tlb[TLB_GLOBAL].levels, 2);
}

/* Lines of a set-associative LRU cache that miss in every round of a ring of `lines` neighbours. */
static uint32_t lost(uint32_t lines, uint32_t sets, uint32_t ways)
{
	uint32_t n = 0;
	for (uint32_t set = 0; set < sets; set++) {
		uint32_t here = lines / sets + (set < lines % sets);
		n += here > ways ? here : 0;
	}
	return n;
}

/* Wong 2010, Fig. 11: 8-byte stride around 5 KB. Four elements share a line, the first of them misses. */
static void texture_l1_has_5_kb_in_20_ways_of_32_byte_lines(void **state)
{
	(void)state;
	struct bed b;
	open_gtx280(&b);
	for (uint32_t n = 600; n <= 704; n += n < 636 || n > 676 ? 8 : 1) {
		uint32_t missed = lost((n + 3) / 4, 8, 20);
		expect(&b, BY_TEXTURE, n, 8, 261 + (double)missed / n * (371 - 261), (double)missed / n);
	}
	close_bed(&b);
}

/* Fig. 12: 64-byte stride around 256 KB. All miss the L1; four elements share a line of the L2. */
static void texture_l2_has_256_kb_in_8_ways_of_256_byte_lines(void **state)
{
	(void)state;
	struct bed b;
	open_gtx280(&b);
	for (uint32_t n = 4080; n <= 4112; n++) {
		uint32_t missed = lost((n + 3) / 4, 128, 8);
		expect(&b, BY_TEXTURE, n, 64, 371 + (double)missed / n * (499 - 371), 1);
	}
	expect(&b, BY_TEXTURE, 4608, 64, 371 + (499 - 371) / 4.0, 1); /* 288 KB: every line misses */
	close_bed(&b);
}

/* Fig. 16: 256 KB stride; 8 and 16 MB. At 512 KB the 20 ways of the L1 hide the steps. */
static void texture_tlbs_reach_8_and_16_mb(void **state)
{
	(void)state;
	struct bed b;
	open_gtx280(&b);
	static const uint32_t counts[] = {22, 31, 32, 34, 40, 63, 64, 65, 66, 68, 71, 72, 80};
	for (size_t k = 0; k < sizeof counts / sizeof counts[0]; k++) {
		uint32_t n = counts[k], second = lost(n, 8, 8);
		expect(&b, BY_TEXTURE, n, 256 * KB, 499 + (n > 32 ? 47 : 0) + 209.0 * second / n, 1);
	}
	expect(&b, BY_TEXTURE, 20, 512 * KB, 261, 0);
	expect(&b, BY_TEXTURE, 21, 512 * KB, 499 + 47, 1);
	close_bed(&b);
}

/* Fig. 13: 512 KB stride; 8 and 32 MB. */
static void global_tlbs_reach_8_and_32_mb(void **state)
{
	(void)state;
	struct bed b;
	open_gtx280(&b);
	static const uint32_t counts[] = {8, 15, 16, 17, 24, 63, 64, 65, 66, 70, 71, 72, 80};
	for (size_t k = 0; k < sizeof counts / sizeof counts[0]; k++) {
		uint32_t n = counts[k], second = lost(n, 8, 8);
		expect(&b, BY_GLOBAL, n, 512 * KB, 440 + (n > 16 ? 47 : 0) + 211.0 * second / n, 1);
	}
	close_bed(&b);
}

/* ---- Mei 2014, Table 3: a GPU like Kepler, with small pages so that little memory does ---- */
static const char kepler[] = "cache.global.levels = 1 count # x\ncache.global.l2.size = 1 MB # x\n"
			     "cache.global.l2.line = 128 bytes # x\ncache.global.l2.sector = 32 bytes # x\n"
			     "cache.global.l2.ways = 128 count # x\ncache.global.l2.policy = lru name # x\n"
			     "cache.global.l2.scope = gpu name # x\ncache.global.l2.latency = 230 cycles # x\n"
			     "memory.global.latency = 371 cycles # x\n"
			     "tlb.page_size = 4 KB # x\ntlb.global.levels = 2 count # x\n"
			     "tlb.global.l1.entries = 16 count # x\ntlb.global.{l1,l2}.line = 4 KB # x\n"
			     "tlb.global.{l1,l2}.scope = gpu name # x\n"
			     "tlb.global.l2.set_sizes = 17, 8, 8, 8, 8, 8, 8 count # x\n"
			     "tlb.global.l2.latency = 6 cycles # x\ntlb.global.miss_latency = 53 cycles # x\n"
			     "tlb.global.walk = global.l2 name # x\ntlb.global.walk_memory = 304 cycles # x\n"
			     "tlb.active_window = 1 MB # x\ntlb.window_switch = 266 cycles # x\n";

static void open_kepler(struct bed *b)
{
	static const char *const without[] = {"cache.global.", "memory.global.latency", "network.", "noise."};
	const struct embedded *m = embed_find("gpus/toy.gpu");
	struct str text;
	str_init(&text);
	for (const char *p = m->data; *p;) {
		size_t n = strcspn(p, "\n") + 1;
		bool keep = true;
		for (size_t k = 0; k < sizeof without / sizeof without[0]; k++)
			keep &= !str_starts(p, without[k]);
		if (keep)
			str_addn(&text, p, n);
		p += n;
	}
	str_add(&text, kepler);
	open_text(b, str_text(&text), text.len);
	str_free(&text);
}

static void six_patterns_have_six_latencies(void **state)
{
	(void)state;
	struct bed b;
	struct sample out;
	uint64_t ring[256];
	uint32_t wanted[256], n = 0;
	open_kepler(&b);
#define STEP(offset, cycles)                                                                                           \
	do {                                                                                                           \
		ring[n] = (offset);                                                                                    \
		wanted[n++] = (cycles);                                                                                \
	} while (0)
	STEP(0, 734);			  /* 5: nothing is there, not even the page table entry */
	STEP(8, 230);			  /* 1: the same sector */
	STEP(512, 371);			  /* 4: the same page */
	for (uint64_t k = 1; k < 17; k++) /* four page table entries in a sector */
		STEP(k * 4 * KB, k % 4 ? 371 + 59 : 734);
	STEP(16, 236);			    /* 2: its page fell out of the first level */
	for (uint64_t k = 17; k < 150; k++) /* more than twice what the second level holds */
		STEP(k * 4 * KB, k % 4 ? 371 + 59 : 734);
	STEP(24, 289);		/* 3 */
	STEP(1 * MB, 1000);	/* 6: another window */
	STEP(1 * MB + 8, 230);	/* 1 */
	STEP(1 * MB + 64, 371); /* 4 */
	walk(&b, EACH, ring, n, 0, 2 * MB, &out);
	uint32_t besides = out.words[1] - wanted[1];
	for (uint32_t k = 0; k < n; k++)
		if (out.words[k] - besides != wanted[k])
			fail_msg("access %u, at %llu: %u cycles instead of %u", k, (unsigned long long)ring[k],
				 out.words[k] - besides, wanted[k]);
	sample_free(&out);
	close_bed(&b);
}

/* Fig. 11: the miss rate of the second level over entries. All data and page table entries lie in the L2. */
static void unequal_sets_are_lost_one_by_one(void **state)
{
	(void)state;
	struct bed b;
	open_kepler(&b);
	/* Runs of 65 entries are dealt from addresses that are multiples of their reach. */
	mean(&b, BY_GLOBAL, 0, 2, 4 * KB);
	b.start = (65 - b.first / (4 * KB) % 65) * 4 * KB;
	for (uint32_t n = 14; n <= 76; n++) {
		uint32_t missed = n <= 65 ? 0 : n <= 72 ? 18 + 9 * (n - 66) : n;
		expect(&b, BY_GLOBAL, n, 4 * KB, 230 + (n > 16 ? 6 : 0) + 53.0 * missed / n, 0);
	}
	close_bed(&b);
}

/* A cache holds exactly its size of neighbours, whatever the policy, the sets and how they are found. One line more
 * costs at least that line. */
static void drawn_texture_caches_hold_what_they_say(void **state)
{
	(void)state;
	uint32_t looked = 0, unequal = 0, tiled = 0;
	for (uint64_t seed = 0; seed < 100; seed++) {
		struct str drawn, quiet;
		struct bed b;
		str_init(&drawn);
		str_init(&quiet);
		assert_int_equal(spec_random(&drawn, seed), 0);
		for (const char *p = str_text(&drawn); *p;) {
			size_t n = strcspn(p, "\n") + 1;
			if (!str_starts(p, "noise."))
				str_addn(&quiet, p, n);
			p += n;
		}
		/* The L2 is as far from each cluster as the cluster is from it. */
		if (!strstr(str_text(&drawn), "cache.texture.l1.") ||
		    strstr(str_text(&drawn), "cache.texture.l1.shared_with")) {
			str_free(&drawn);
			str_free(&quiet);
			continue;
		}
		open_text(&b, str_text(&quiet), quiet.len);
		const struct cache_spec *c = &b.s->texture.level[0];
		uint32_t lines = (uint32_t)(c->size / c->line);
		looked++;
		unequal += c->set_ways != NULL;
		tiled += c->set_bits_from != 0;
		expect(&b, BY_TEXTURE, lines, c->line, c->latency, 0);
		double more = mean(&b, BY_TEXTURE, 0, lines + 1, c->line), next = b.s->texture.memory_latency;
		if (b.s->texture.levels > 1)
			next = b.s->texture.level[1].latency;
		assert_true(more * (lines + 1) > c->latency * lines + next - 50);
		/* Two elements a line, and one line too many: one of the two still hits. The others have not settled. */
		double halves = mean(&b, BY_TEXTURE, 0, 2 * lines + 2, c->line / 2);
		assert_true(halves * 2 < more + c->latency + 1 ||
			    (c->policy != POLICY_LRU && c->policy != POLICY_FIFO));
		close_bed(&b);
		str_free(&drawn);
		str_free(&quiet);
	}
	assert_true(looked > 8 && unequal > 0 && tiled > 0);
}

/* Many blocks read scattered texels and words, through TLBs of every scope. */
static const char scatter[] =
    ".visible .entry k(.param .u64 out, .param .u64 tex, .param .u64 words)\n{\n.reg .b64 o, t, w, a;\n"
    ".reg .b32 n, x, y, i, u, v, s;\n.reg .pred p;\n"
    "ld.param.u64 o, [out];\nld.param.u64 t, [tex];\nld.param.u64 w, [words];\n"
    "mov.u32 n, %ctaid.x;\nmov.u32 x, %ntid.x;\nmul.lo.u32 n, n, x;\nmov.u32 x, %tid.x;\nadd.u32 n, n, x;\n"
    "mov.u32 i, 0;\nmov.u32 s, 0;\n"
    "LOOP:\n.pragma \"nounroll\";\nadd.u32 n, n, 12345;\nmul.lo.u32 n, n, 1664525;\nand.b32 x, n, 262143;\n"
    "tex.1d.v4.u32.s32 {y, u, v, u}, [t, {x}];\nshr.u32 x, n, 12;\nand.b32 x, x, 262143;\nmul.wide.u32 a, x, 4;\n"
    "add.u64 a, a, w;\nld.global.u32 u, [a];\nadd.u32 s, s, y;\nadd.u32 s, s, u;\nadd.u32 i, i, 1;\n"
    "setp.lt.u32 p, i, 6;\n@p bra LOOP;\nst.global.u32 [o], s;\nret;\n}\n";

static void ignore(void *ctx, const struct time_event *ev)
{
	(void)ctx;
	(void)ev;
}

static void scattered(struct bed *b, uint64_t cycles[3])
{
	struct launch l = {
	    .label = "scatter", .entry = "k", .grid = {40, 1, 1}, .block = {64, 1, 1}, .buffer_count = 2};
	const struct device_info *d = b->g->ops->info(b->g);
	const struct time_hook hook = {.issue = ignore};
	char source[4096];
	struct err e = {0};
	struct native_info ni;
	uint32_t id;
	snprintf(source, sizeof source, ".version %d.%d\n.target %s\n.address_size 64\n%s", d->ptx_version / 10,
		 d->ptx_version % 10, d->target, scatter);
	struct kernel_source src = {.name = "scatter", .entry = "k", .text = source};
	if (b->g->ops->load(b->g, &src, 1, &id, &ni, &e))
		fail_msg("%s", e.text);
	l.buffers[0] = (struct launch_buffer){.bytes = 4, .output = true, .output_words = 1};
	l.buffers[1] = (struct launch_buffer){.bytes = 1 * MB, .align = 1 * MB};
	l.args[0] = (struct launch_arg){.kind = ARG_BUFFER};
	l.args[1] = (struct launch_arg){.kind = ARG_TEXTURE};
	l.args[2] = (struct launch_arg){.kind = ARG_BUFFER, .buffer = 1};
	l.arg_count = 3;
	l.textures[0] =
	    (struct launch_texture){.buffer = 1, .size = {(uint32_t)(MB / 4)}, .type = TEXEL_U32, .channels = 1};
	l.texture_count = 1;
	for (uint32_t k = 0; k < 3; k++) {
		struct sample out;
		if (b->g->ops->run(b->g, id, &l, &out, &e))
			fail_msg("%s", e.text);
		assert_int_equal(out.outcome, OUTCOME_OK);
		cycles[k] = sim_result(b->g)->cycles;
		sample_free(&out);
		sim_trace(b->g, k == 0 ? &hook : NULL);
	}
}

/* One cluster's cycles after the other's or all in step: whether the translations lie with the far side makes no difference. */
static void in_epochs_and_in_step_it_is_the_same(void **state)
{
	(void)state;
	static const char *const scopes[] = {"sm", "cluster", "gpu"};
	/* The last one has an L1 that is asked in vain. */
	for (uint32_t k = 0; k < 7; k++) {
		const struct embedded *m = embed_find(k < 6 ? "gpus/gtx280.gpu" : "gpus/gtx560ti.gpu");
		uint64_t cycles[2][3];
		struct str text;
		str_init(&text);
		for (const char *p = m->data; *p;) {
			size_t n = strcspn(p, "\n") + 1;
			if (k == 6 || !strstr(p, ".l1.scope") || strstr(p, ".l1.scope") > p + n ||
			    !str_starts(p, "tlb."))
				str_addn(&text, p, n);
			p += n;
		}
		if (k < 6)
			str_addf(&text, "tlb.global.l1.scope = %s name # x\ntlb.texture.l1.scope = %s name # x\n",
				 scopes[k % 3], scopes[k / 2]);
		for (uint32_t again = 0; again < 2; again++) {
			struct bed b;
			open_text(&b, str_text(&text), text.len);
			if (again) { /* the first launch in step with the others' cycles, else in epochs */
				static const struct time_hook hook = {.issue = ignore};
				sim_trace(b.g, &hook);
			}
			scattered(&b, cycles[again]);
			close_bed(&b);
		}
		assert_true(cycles[0][0] > 5000);
		assert_int_equal(cycles[0][0], cycles[1][0]);
		assert_int_equal(cycles[0][1], cycles[1][1]);
		str_free(&text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(texture_l1_has_5_kb_in_20_ways_of_32_byte_lines),
	    cmocka_unit_test(texture_l2_has_256_kb_in_8_ways_of_256_byte_lines),
	    cmocka_unit_test(texture_tlbs_reach_8_and_16_mb),
	    cmocka_unit_test(global_tlbs_reach_8_and_32_mb),
	    cmocka_unit_test(six_patterns_have_six_latencies),
	    cmocka_unit_test(unequal_sets_are_lost_one_by_one),
	    cmocka_unit_test(drawn_texture_caches_hold_what_they_say),
	    cmocka_unit_test(in_epochs_and_in_step_it_is_the_same),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
