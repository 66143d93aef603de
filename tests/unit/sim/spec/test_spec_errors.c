/* Each kind of mistake in a .gpu file gives one sentence with the line that is to blame. */
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

/* The toy's text with the line that starts with `start` replaced by `line` (dropped when NULL). Returns its number. */
static unsigned edit(struct str *out, const char *start, const char *line)
{
	const struct embedded *m = embed_find("gpus/toy.gpu");
	unsigned number = 0, at = 1;
	str_init(out);
	for (const char *p = m->data; *p; at++) {
		const char *end = strchr(p, '\n');
		size_t n = end ? (size_t)(end - p) + 1 : strlen(p);
		if (number == 0 && strncmp(p, start, strlen(start)) == 0) {
			number = at;
			if (line) {
				str_add(out, line);
				str_addc(out, '\n');
			}
		} else {
			str_addn(out, p, n);
		}
		p += n;
	}
	if (number == 0)
		fail_msg("the toy has no line '%s'", start);
	return number;
}

/* The error of the edited file. */
static struct err error_of(const struct str *text)
{
	struct arena a;
	struct err e = {0};
	struct sim_spec *s;
	arena_init(&a);
	int rc = spec_parse(&s, &a, "x.gpu", str_text(text), text->len, &e);
	if (rc == 0)
		fail_msg("a wrong file was read without an error");
	assert_int_equal(rc, e.code);
	arena_free(&a);
	return e;
}

/* Replacing the line gives an error at that line which holds these words. */
static void expect_at(const char *start, const char *line, const char *words)
{
	struct str text;
	unsigned number = edit(&text, start, line);
	struct err e = error_of(&text);
	char where[32];
	snprintf(where, sizeof where, "x.gpu:%u: ", number);
	assert_int_equal(e.code, -EINVAL);
	if (!str_starts(e.text, where) || !strstr(e.text, words))
		fail_msg("line %u '%s': expected '%s...%s...', got '%s'", number, line, where, words, e.text);
	str_free(&text);
}

/* Adding the line gives an error at it. */
static void expect_added(const char *line, const char *words)
{
	char both[256];
	snprintf(both, sizeof both, "%s\nbarrier.latency = 10 cycles # x", line);
	expect_at("barrier.latency", both, words);
}

/* The same, but another line is to blame. */
static void expect_elsewhere(const char *start, const char *line, const char *culprit, const char *words)
{
	struct str text, unused;
	unsigned number = edit(&unused, culprit, "");
	str_free(&unused);
	edit(&text, start, line);
	struct err e = error_of(&text);
	char where[32];
	snprintf(where, sizeof where, "x.gpu:%u: ", number);
	if (!str_starts(e.text, where) || !strstr(e.text, words))
		fail_msg("'%s': expected '%s...%s...', got '%s'", line, where, words, e.text);
	str_free(&text);
}

static void syntax(void **state)
{
	(void)state;
	expect_at("barrier.latency", "barrier.latency", "is no line of the form");
	expect_at("barrier.latency", "barrier.latency = # x", "needs a value and a unit");
	expect_at("barrier.latency", "barrier.latency = 10 # x", "needs a value and a unit");
	expect_at("barrier.latency", "barrier.latency = cycles # x", "needs a value and a unit");
	expect_at("barrier.latency", "barrier.latency = 10 cycles", "has no source");
	expect_at("barrier.latency", "barrier.latency = 10 cycles #  ", "has no source");
	expect_at("barrier.latency", "barrier.latency = 10 hours # x", "has no unit: 'hours' is none of cycles");
	expect_at("barrier.latency", "barrier.latency = 10 bytes # x", "is in cycles, not in bytes");
	expect_at("barrier.latency", "barrier latency = 10 cycles # x", "is no key");
	expect_at("barrier.latency", "= 10 cycles # x", "needs a value and a unit");
	expect_at("barrier.latency", "barrier.latency = ten cycles # x", "is no number");
	expect_at("barrier.latency", "barrier.latency = 0x10 cycles # x", "is no number");
	expect_at("barrier.latency", "barrier.latency = nan cycles # x", "is no number");
	expect_at("barrier.latency", "barrier.latency = inf cycles # x", "is no number");
	expect_at("barrier.latency", "barrier.latency = 10 10 cycles # x", "is no number");
	expect_at("barrier.latency", "barrier.latency = 1e999 cycles # x", "has to lie between");
	expect_at("device.name", "device.name = \"Toy name # x", "");
	expect_at("device.name", "device.name = To\"y name # x", "quote");
	expect_at("core.schedulers", "core.schedulers = 1.5 count # x", "a whole number");
	expect_at("arith.shr", "arith.shr.{u32,s32.latency = 10 cycles # x", "'{' without its '}'");
	expect_at("arith.shr", "arith.shr.u32}.latency = 10 cycles # x", "'}' without its '{'");
	expect_at("arith.shr", "arith.shr.{u32,}.latency = 10 cycles # x", "empty choice");
	expect_at("device.has_f64", "device.has_f64 = maybe yes/no # x", "it may be one of: no yes");
	expect_at("clock.scope", "clock.scope = chip name # x", "it may be one of: sm cluster gpu");
}

static void keys(void **state)
{
	(void)state;
	expect_at("barrier.latency", "barier.latency = 10 cycles # x", "did you mean 'barrier.latency'?");
	expect_at("cache.constant.l1.size", "cache.constant.l1.sise = 1 KB # x",
		  "did you mean 'cache.constant.l1.size'?");
	expect_at("cache.constant.l1.size", "cache.constnat.l1.size = 1 KB # x",
		  "did you mean 'cache.constant.l1.size'?");
	expect_at("arith.div.f32.latency", "arith.div.f32.latenzy = 10 cycles # x",
		  "did you mean 'arith.div.f32.latency'?");
	expect_at("arith.div.f32.latency", "arith.dvi.f32.latency = 10 cycles # x", "did you mean 'arith.d");
	expect_at("barrier.latency", "utterly.unheard_of.thing = 10 cycles # x",
		  "unknown key 'utterly.unheard_of.thing'");
}

static void doubles_name_both_lines(void **state)
{
	(void)state;
	struct str text;
	unsigned first = edit(&text, "core.schedulers", "core.issue_interval = 1 cycles # x");
	struct err e = error_of(&text);
	char words[96];
	snprintf(words, sizeof words, "x.gpu:%u: 'core.issue_interval' was already given in line %u", first + 1, first);
	assert_string_equal(e.text, words);
	str_free(&text);
}

static void missing_keys_say_what_they_mean(void **state)
{
	(void)state;
	static const char *const required[] = {"device.name",		"device.sm_count",     "core.schedulers",
					       "clock.read_latency",	"shared.latency",      "cache.constant.l2.ways",
					       "memory.global.latency", "cache.global.levels", "load.shared.unit"};
	for (size_t i = 0; i < sizeof required / sizeof required[0]; i++) {
		struct str text;
		char words[96];
		edit(&text, required[i], NULL);
		struct err e = error_of(&text);
		snprintf(words, sizeof words, "the key '%s' is missing: ", required[i]);
		if (!strstr(e.text, words))
			fail_msg("without %s: %s", required[i], e.text);
		assert_true(strlen(e.text) > strlen("x.gpu: ") + strlen(words) + 10);
		str_free(&text);
	}
}

static void impossible_caches(void **state)
{
	(void)state;
	expect_at("cache.constant.l1.size", "cache.constant.l1.size = 0 KB # x", "has to lie between");
	expect_at("cache.constant.l1.ways", "cache.constant.l1.ways = 0 count # x", "has to lie between");
	expect_at("cache.constant.l1.ways", "cache.constant.l1.ways = 129 count # x", "has to lie between 1 and 128");
	expect_at("cache.constant.l1.sets", "cache.constant.l1.sets = 9 count # x", "size / (ways x line) is 8");
	expect_at("cache.constant.l1.size", "cache.constant.l1.size = 1000 bytes # x",
		  "no multiple of 4 ways of 32 bytes");
	expect_elsewhere("cache.constant.l1.line", "cache.constant.l1.line = 2048 bytes # x", "cache.constant.l1.size",
			 "no multiple");
	expect_elsewhere("cache.constant.l2.line", "cache.constant.l2.line = 16 bytes # x", "cache.constant.l2.line",
			 "less than the level above fills at once");
	expect_at("cache.global.l1.sector", "cache.global.l1.sector = 256 bytes # x", "at most the line of 128");
	expect_at("cache.global.l1.sector", "cache.global.l1.sector = 48 bytes # x", "power of two");
	expect_at("cache.constant.l2.size", "cache.constant.l2.size = 1 KB # x", "no more than the level above has");
	expect_at("cache.constant.l2.latency", "cache.constant.l2.latency = 9 cycles # x",
		  "no more than the level above (10)");
	expect_at("memory.constant.latency", "memory.constant.latency = 60 cycles # x",
		  "no more than the level above (60)");
	expect_elsewhere("cache.constant.l1.scope", "cache.constant.l1.scope = gpu name # x", "cache.constant.l2.scope",
			 "shared by fewer SMs");
	expect_at("cache.constant.levels", "cache.constant.levels = 3 count # x", "describes 2 levels");
	expect_at("cache.global.levels", "cache.global.levels = 0 count # x", "describes 2 levels");
	expect_at("cache.global.l1.scope", "cache.global.l1.scope = cluster name # x", "has to be sm");
	expect_at("cache.global.l2.scope", "cache.global.l2.scope = sm name # x", "has to be gpu");
	expect_at("cache.constant.l1.policy", "cache.constant.l1.policy = weighted name # x",
		  "replacement_probability is missing");
	expect_added("cache.constant.l1.replacement_probability = 0.25, 0.25, 0.25, 0.25 ratio # x",
		     "only for policy weighted");
	expect_at("cache.constant.l1.policy", "cache.constant.l1.policy = schedule name # x",
		  "cache.constant.l1.schedule is missing");
	expect_added("cache.constant.l1.schedule = 1, 2, 3, 4 count # x", "only for policy schedule");
	static const struct {
		const char *list, *words;
	} lists[] = {
	    {"1, 2, 3, 5", "none of the ways from 1 to 4"},
	    {"1, 2, 3, 2", "has 3 of 4 ways"},
	    {"1, 2, 3, 4, 1, 2, 3, 4, 1, 2, 3, 4, 1, 2, 3, 4, 1, 2, 3, 4, 1, 2, 3, 4, 1", "more than 24 places"}};
	for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++) {
		char line[256];
		snprintf(line, sizeof line,
			 "cache.constant.l1.schedule = %s count # x\ncache.constant.l1.policy = schedule name # x",
			 lists[i].list);
		expect_at("cache.constant.l1.policy", line, lists[i].words);
	}
	expect_added("cache.constant.l1.far_extra = 3 cycles # x", "needs two partitions");
	expect_added("cache.constant.l1.set_sizes = 5, 3 count # x", "the ways are given as 4");
	expect_added("cache.constant.l1.set_sizes = 4, 4 count # x", "2 sets, but the sets are given as 8");
	expect_added("cache.constant.l1.set_sizes = 4, 4, 4, 4, 3, 4, 4, 4 count # x", "which is not the size");
	expect_added("cache.constant.l1.set_sizes = 4, 2.5 count # x", "a whole number");
	expect_added("cache.constant.l1.set_sizes = 4, 0 count # x", "has to lie between 1 and 128");
	expect_added("cache.constant.l1.set_bits_from = 3 count # x", "below the line");
	expect_added("cache.constant.l1.set_bits_from = 8 count # x", "a set holds 4 lines of 32 bytes");
	expect_added("cache.constant.l1.write = back name # x", "nothing stores to constants");
	expect_added("cache.global.l1.write = back name # x", "only the last level");
	expect_added("cache.global.{l1,l2}.write_allocate = yes yes/no # x\ncache.global.l1.write = evict name # x",
		     "a store drops the line");
	expect_added("cache.constant.l4.size = 3 KB # x", "cache.constant.l3 is not");
	expect_added("cache.global.l3.size = 3 KB # x", "l1 (in the SM) and l2 (of the GPU) only");
}

/* Lines added to the toy GPU, which has an L1 and an L2 on its global path. */
#define TLB_LINES                                                                                                      \
	"tlb.page_size = 4 KB # x\ntlb.global.levels = 1 count # x\ntlb.global.l1.entries = 16 count # "               \
	"x\ntlb.global.l1.line = 64 KB # x\n"                                                                          \
	"tlb.global.l1.scope = sm name # x\ncache.global.l1.addressed = virtual name # x\n"
#define TWO_LINES                                                                                                      \
	"tlb.page_size = 4 KB # x\ntlb.global.levels = 2 count # x\ntlb.global.l1.entries = 16 count # x\n"            \
	"tlb.global.l1.line = 64 KB # x\ntlb.global.l1.scope = sm name # x\ncache.global.l1.addressed = virtual name " \
	"# x\n"
#define TEXTURE_LINES                                                                                                  \
	"load.texture.issue = 4 cycles # x\nload.texture.unit = mem name # x\nmemory.texture.latency = 900 cycles # "  \
	"x\n"                                                                                                          \
	"cache.texture.levels = 0 count # x\n"

static void expect_text(const char *lines, const char *words)
{
	struct str text;
	char both[2048];
	snprintf(both, sizeof both, "%s\nbarrier.latency = 10 cycles # x", lines);
	edit(&text, "barrier.latency", both);
	struct err e = error_of(&text);
	if (!strstr(e.text, words))
		fail_msg("'%s': expected '%s', got '%s'", lines, words, e.text);
	str_free(&text);
}

static void impossible_translations(void **state)
{
	(void)state;
	expect_text("tlb.page_size = 4 KB # x", "no TLB is described");
	expect_text("tlb.global.levels = 1 count # x", "describes 0 levels");
	expect_text(
	    "tlb.global.levels = 2 count # x\ntlb.global.l1.line = 4 KB # x\ntlb.global.l1.scope = sm name # x\n"
	    "tlb.global.l1.entries = 16 count # x",
	    "describes 1 levels");
	expect_text("tlb.global.l2.line = 4 KB # x", "tlb.global.l1 is not");
	expect_text("tlb.global.l1.line = 4 KB # x\ntlb.global.l1.scope = sm name # x",
		    "tlb.global.l1.entries' is missing");
	expect_text("tlb.global.l1.line = 4 KB # x\ntlb.global.l1.scope = sm name # x\n"
		    "tlb.global.levels = 1 count # x\ntlb.global.l1.entries = 16 count # x",
		    "'tlb.page_size' is missing");
	expect_text("tlb.constant.l1.line = 4 KB # x", "unknown key");
	expect_text("tlb.page_size = 4 KB # x\ntlb.global.levels = 1 count # x\ntlb.global.l1.entries = 1000 count # "
		    "x\ntlb.global.l1.line = 64 KB # x\n"
		    "tlb.global.l1.scope = sm name # x",
		    "give 'tlb.global.l1.ways'");
	expect_text(TLB_LINES "tlb.global.l1.ways = 5 count # x", "no multiple of 5 ways");
	expect_text(TLB_LINES "tlb.global.l1.set_sizes = 8, 4 count # x", "which is not the size");
	expect_text(TLB_LINES "tlb.global.l1.sector = 2 KB # x", "from a page to the line");
	expect_text(TLB_LINES "tlb.global.l1.policy = weighted name # x", "is for caches");
	expect_text(TLB_LINES "tlb.global.l1.policy = schedule name # x", "is for caches");
	expect_text(TWO_LINES "tlb.global.l2.entries = 16 count # x\ntlb.global.l2.line = 4 KB # x\n"
			      "tlb.global.l2.scope = gpu name # x\ntlb.global.l2.latency = 9 cycles # x",
		    "no farther than the level above");
	expect_text(TWO_LINES "tlb.global.l2.entries = 32 count # x\ntlb.global.l2.line = 64 KB # x\n"
			      "tlb.global.l2.scope = gpu name # x",
		    "a level takes longer");
	expect_text(TLB_LINES "tlb.active_window = 3 MB # x", "a power of two");
	expect_text(TLB_LINES "tlb.window_switch = 3 cycles # x", "needs 'tlb.active_window'");
	expect_text(TLB_LINES "tlb.global.walk_memory = 3 cycles # x", "for walks through global.l2");
	expect_text(TLB_LINES "tlb.texture.shared_with = global name # x", "no texture path");
	expect_text("tlb.page_size = 4 KB # x\ntlb.global.levels = 1 count # x\ntlb.global.l1.entries = 16 count # "
		    "x\ntlb.global.l1.line = 64 KB # x\n"
		    "tlb.global.l1.scope = gpu name # x",
		    "'cache.global.l1.addressed' has to be virtual");
	expect_text("tlb.page_size = 4 KB # x\ntlb.global.levels = 1 count # x\ntlb.global.l1.entries = 16 count # x\n"
		    "tlb.global.l1.line = 64 KB # x\ntlb.global.l1.scope = sm name # x\n"
		    "cache.global.l2.addressed = virtual name # x",
		    "the level above is looked up after");
}

static void impossible_textures(void **state)
{
	(void)state;
	expect_text("load.texture.issue = 4 cycles # x", "the key 'cache.texture.levels' is missing");
	expect_text(TEXTURE_LINES "cache.texture.l1.size = 1 KB # x", "the key 'cache.texture.l1.line' is missing");
	expect_text("cache.texture.levels = 1 count # x\nload.texture.issue = 4 cycles # x\n"
		    "load.texture.unit = mem name # x\nmemory.texture.latency = 900 cycles # x\n"
		    "cache.texture.l1.size = 2 KB # x\ncache.texture.l1.line = 32 bytes # x\n"
		    "cache.texture.l1.ways = 4 count # x\ncache.texture.l1.policy = lru name # x\n"
		    "cache.texture.l1.scope = gpu name # x\ncache.texture.l1.latency = 100 cycles # x\n"
		    "cache.texture.l1.shared_with = global.l2 name # x",
		    "differ");
}

static void impossible_cores(void **state)
{
	(void)state;
	expect_at("device.sm_count", "device.sm_count = 3 count # x", "no multiple of 'topology.sm_per_cluster'");
	expect_at("device.sm_count", "device.sm_count = 0 count # x", "has to lie between");
	expect_at("device.target", "device.target = sm_80 name # x", "has to be sm_70");
	expect_at("device.max_threads_per_block", "device.max_threads_per_block = 1024 count # x", "more than");
	expect_at("shared.per_block", "shared.per_block = 32 KB # x", "more than shared.size");
	expect_at("arith.fma.f32.throughput", "arith.fma.f32.throughput = 64 ops/clk/SM # x", "can issue 32 at most");
	expect_at("arith.fma.f32.latency", "arith.fma.f32.latency = 1 cycles # x", "keeps the pipe alu busy for 2");
	expect_at("arith.fma.f32.unit", "arith.fma.f32.unit = fpu name # x", "declared are: alu mem sfu");
	expect_at("arith.fma.f32.unit", "arith.fma.f32.unit = alu, sfu name # x", "arith.fma.f32.rates' is missing");
	expect_at("arith.fma.f32.unit", "arith.fma.f32.unit = alu, alu name # x", "twice");
	expect_added("arith.fma.f32.rates = 15 ops/clk/SM # x", "sums to 15, but the throughput is 16");
	expect_added("arith.fma.f32.rates = 8, 8 ops/clk/SM # x", "more values than there are pipes");
	expect_at("core.default_op", "core.default_op = mov.b128 name # x", "no operation that the file gives");
	expect_at("core.default_op", "core.default_op = add name # x", "no operation that the file gives");
	expect_at("clock.read_latency", "clock.read_latency = 0 cycles # x", "has to lie between");
	expect_added("clock.native_ops = 2 count # x", "'clock.op_latency' is missing");
	expect_added("network.cluster_offset = 1 cycles # x", "sums to 1, not to 0");
	expect_added("shared.splits = 8, 4, 16 KB # x", "each larger than the last");
	expect_added("shared.splits = 4, 8 KB # x", "ends with 'shared.size'");
	expect_added("shared.splits = 16 KB # x", "has another size before it");
	expect_added("cache.global.l1.split.size = 8 KB # x", "are given together");
	expect_added("cache.global.l1.split.size = 8 KB # x\ncache.global.l1.split.ways = 2 count # x",
		     "whose launches choose among 'shared.splits'");
	expect_added("topology.sm_numbers = 0, 0 count # x", "every number from 0 to 1 stands there once");
	expect_added("topology.sm_numbers = 0, 2 count # x", "every number from 0 to 1 stands there once");
	expect_added("topology.sm_numbers = 1 count # x", "has 1 values for 2 SMs");
	expect_added("topology.sm_numbers = 1, 0, 2 count # x", "more values than the GPU has SMs");
	expect_added("network.cluster_offset = 1, -1 cycles # x", "more values than the GPU has clusters");
	expect_added("load.constant.address_ops = 2 count # x", "load.constant.address_op' is missing");
	expect_at("pipe.sfu.per", "pipe.sfu.per = cluster name # x", "one of: sm scheduler");
	expect_elsewhere("device.has_f64", "device.has_f64 = no yes/no # x",
			 "arith.{add,sub,max,min,mul,mad,fma}.f64.latency", "'device.has_f64' is no");
	expect_elsewhere("device.has_fma", "device.has_fma = no yes/no # x", "arith.fma.f32.latency",
			 "'device.has_fma' is no");
}

static void impossible_requests(void **state)
{
	(void)state;
	expect_added("outstanding.kind = mshr name # x", "'outstanding.entries' is missing");
	expect_added("outstanding.entries = 8 count # x", "'outstanding.kind' is none");
	expect_added("outstanding.merge = 8 count # x", "'outstanding.kind' is none");
	expect_added(
	    "outstanding.merge = 8 count # x\noutstanding.entries = 8 count # x\noutstanding.kind = prt name # x",
	    "merges nothing");
	expect_added("outstanding.recorders = 3 count # x", "'outstanding.kind' is none");
	expect_added(
	    "outstanding.recorders = 3 count # x\noutstanding.entries = 8 count # x\noutstanding.kind = prt name # x",
	    "'outstanding.record' is missing");
	expect_added(
	    "outstanding.record = 3 cycles # x\noutstanding.entries = 8 count # x\noutstanding.kind = prt name # x",
	    "there are no 'outstanding.recorders'");
	expect_added("memory.coalesce.rule = g80 name # x", "without caches for global memory, but there are 2 levels");
	expect_added("memory.coalesce.rule = g90 name # x", "one of: lines g80 gt200");
	expect_added("memory.partitions = 4 count # x", "'memory.partition_stride' is missing");
	expect_added("memory.partition_stride = 256 bytes # x", "'memory.partitions' is not more than 1");
	expect_added("memory.partition_mapping = hash name # x", "'memory.partitions' is not more than 1");
	expect_added("memory.partition_stride = 96 bytes # x\nmemory.partitions = 4 count # x", "a power of two");
	expect_added("dram.banks = 4 count # x", "'dram.row_bytes' is missing");
	expect_added("dram.row_miss = 4 cycles # x", "there are no 'dram.banks'");
	expect_added("dram.row_bytes = 1000 bytes # x\ndram.banks = 4 count # x", "a power of two");
	expect_added("shared.bank_mode = 3 bytes # x", "has to divide 'shared.bank_width', 4");
	expect_added("shared.bank_mode = 8 bytes # x", "has to divide 'shared.bank_width', 4");
	expect_added("shared.lanes = 33 count # x", "has to lie between 1 and 32");
	expect_added("shared.broadcast = two name # x", "one of: all one");
	expect_added("atomic.addd.latency = 5 cycles # x", "did you mean 'atomic.add.latency'?");
	expect_added("atomic.cas.same_address = -5 cycles # x", "has to lie between");
	expect_added("noise.boost = 0.1 ratio # x", "'noise.boost_interval' is missing");
	expect_added("noise.boost_cycles = 100 cycles # x", "'noise.boost' is 0");
	expect_added("noise.boost_cycles = 100 cycles # x\nnoise.boost_interval = 100 cycles # x\n"
		     "noise.boost = 0.1 ratio # x",
		     "less than 'noise.boost_interval'");
}

static void files_that_are_none(void **state)
{
	(void)state;
	struct arena a;
	struct err e = {0};
	struct sim_spec *s;
	arena_init(&a);
	assert_int_equal(spec_parse(&s, &a, "x.gpu", "", 0, &e), -EINVAL);
	assert_string_equal(e.text, "x.gpu: the file describes nothing");
	assert_int_equal(spec_parse(&s, &a, "x.gpu", "\n\n\0", 3, &e), -EINVAL);
	assert_string_equal(e.text, "x.gpu:3: a zero byte: this is no text file");
	char *line = arena_alloc(&a, 10000, 1);
	memset(line, 'a', 9999);
	assert_int_equal(spec_parse(&s, &a, "x.gpu", line, 9999, &e), -EINVAL);
	assert_non_null(strstr(e.text, "longer than"));
	assert_int_equal(spec_open(&s, &a, "no_such_gpu", &e), -ENOENT);
	assert_non_null(strstr(e.text, "toy"));
	assert_int_equal(spec_open(&s, &a, "./no_such.gpu", &e), -ENOENT);
	assert_true(spec_open(&s, &a, "./", &e) < 0); /* a folder */
	arena_free(&a);
}

/* Lines of 24 bytes divide their cache evenly and are still impossible. */
static void lines_are_powers_of_two(void **state)
{
	(void)state;
	static const char tail[] = "\ncache.constant.l1.ways = 4 count # x\ncache.constant.l1.size = 960 bytes # x\n"
				   "cache.constant.l1.line = 24 bytes # x\n";
	const struct embedded *m = embed_find("gpus/toy.gpu");
	struct str text;
	str_init(&text);
	for (const char *p = m->data; *p;) {
		size_t n = strcspn(p, "\n") + 1;
		if (!str_starts(p, "cache.constant.l1.line") && !str_starts(p, "cache.constant.l1.size") &&
		    !str_starts(p, "cache.constant.l1.sets") && !str_starts(p, "cache.constant.l1.ways"))
			str_addn(&text, p, n);
		p += n;
	}
	str_add(&text, tail);
	struct err e = error_of(&text);
	assert_non_null(strstr(e.text, "'cache.constant.l1.line' is 24 bytes, no power of two"));
	str_free(&text);
}

/* Braces multiply: a hostile line must be refused, not eat the memory. */
static void braces_are_bounded(void **state)
{
	(void)state;
	struct str text;
	edit(&text, "barrier.latency",
	     "arith.{add,add,add,add,add,add,add,add}.{u32,u32,u32,u32,u32,u32,u32,u32,u32,u32,u32,u32}"
	     "{,,,}.latency = 10 cycles # x");
	struct err e = error_of(&text);
	assert_int_equal(e.code, -EINVAL);
	str_free(&text);
}

/* A first instruction cache and the lines that are given; the error lies at the last of them. */
static void expect_fetch(const char *lines, const char *words)
{
	char all[2048];
	snprintf(all, sizeof all,
		 "cache.instruction.levels = 2 count # x\n"
		 "cache.instruction.{l1,l2}.line = 64 bytes # x\n"
		 "cache.instruction.{l1,l2}.ways = 4 count # x\n"
		 "cache.instruction.l1.size = 512 bytes # x\n"
		 "cache.instruction.l1.scope = sm name # x\n"
		 "cache.instruction.l1.latency = 0 cycles # x\n"
		 "cache.instruction.l2.size = 4 KB # x\n"
		 "cache.instruction.{l1,l2}.policy = lru name # x\n"
		 "cache.instruction.l2.latency = 50 cycles # x\n"
		 "%s\nbarrier.latency = 10 cycles # x",
		 lines);
	struct str text;
	unsigned number = edit(&text, "barrier.latency", all) + 9;
	for (const char *p = strchr(lines, '\n'); p; p = strchr(p + 1, '\n'))
		number++;
	struct err e = error_of(&text);
	char where[32];
	snprintf(where, sizeof where, "x.gpu:%u: ", number);
	bool here = str_starts(e.text, where) || str_starts(e.text, "x.gpu: the key") || strstr(words, "differs");
	if (!strstr(e.text, words) || !here)
		fail_msg("expected '%s...%s...', got '%s'", where, words, e.text);
	str_free(&text);
}

static void instruction_caches(void **state)
{
	(void)state;
#define CLUSTER "cache.instruction.l2.scope = cluster name # x\n"
#define MEMORY	"memory.instruction.latency = 300 cycles # x\n"
#define BLOCK	"cache.instruction.fetch_bytes = 32 bytes # x\n"
	expect_fetch(CLUSTER MEMORY "# x", "'cache.instruction.fetch_bytes' is missing");
	expect_fetch(CLUSTER BLOCK "# x", "'memory.instruction.latency' is missing");
	expect_fetch(CLUSTER MEMORY "cache.instruction.fetch_bytes = 48 bytes # x", "no power of two");
	expect_fetch(CLUSTER MEMORY "cache.instruction.fetch_bytes = 128 bytes # x", "more than the first level fills");
	expect_fetch(CLUSTER BLOCK "memory.instruction.latency = 40 cycles # x", "no more than the level above");
	expect_fetch(CLUSTER MEMORY BLOCK "native.bytes = 12 bytes # x", "no power of two");
	expect_fetch(CLUSTER MEMORY "cache.instruction.fetch_bytes = 4 bytes # x\nnative.bytes = 8 bytes # x",
		     "more than one fetch takes");
	expect_fetch(CLUSTER MEMORY BLOCK "arith.add.u32.bytes = 20 bytes # x", "no power of two");
	expect_fetch("cache.instruction.l2.scope = gpu name # x\n" MEMORY BLOCK
		     "cache.instruction.prefetch = 1 count # x",
		     "needs a second level");
	expect_fetch(CLUSTER MEMORY BLOCK "cache.instruction.l1.shared_with = constant.l4 name # x", "no such cache");
	expect_fetch(CLUSTER MEMORY BLOCK "cache.instruction.l3.shared_with = constant.l2 name # x",
		     "l3.size' is missing");
	expect_fetch(CLUSTER MEMORY BLOCK "cache.instruction.l2.shared_with = texture.l2 name # x", "may be one of");
	expect_fetch(CLUSTER MEMORY BLOCK "cache.instruction.l2.shared_with = constant.l1 name # x",
		     "'cache.instruction.l2.size' differs from that of cache.constant.l1");
	expect_added("cache.instruction.prefetch = 1 count # x", "there is no instruction cache");
}

static void like_another(void **state)
{
	(void)state;
	expect_added("device.like = teapot name # x", "no built-in description is called 'teapot'");
	expect_added("device.like = g8800ultra name # x", "'g8800ultra' is itself like 'g8800gtx'");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(like_another),
	    cmocka_unit_test(instruction_caches),
	    cmocka_unit_test(syntax),
	    cmocka_unit_test(keys),
	    cmocka_unit_test(doubles_name_both_lines),
	    cmocka_unit_test(missing_keys_say_what_they_mean),
	    cmocka_unit_test(impossible_caches),
	    cmocka_unit_test(impossible_translations),
	    cmocka_unit_test(impossible_textures),
	    cmocka_unit_test(impossible_cores),
	    cmocka_unit_test(impossible_requests),
	    cmocka_unit_test(files_that_are_none),
	    cmocka_unit_test(lines_are_powers_of_two),
	    cmocka_unit_test(braces_are_bounded),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
