/* Small GPUs, each a shipped one with some lines changed: what a probe concludes follows the lines. */
#include "base/embed.h"
#include "gpu/sim/sim.h"
#include "known.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

#define SEED 1

static const struct variant {
	const char *of, *probe, *lines; /* lines take the place of those with the same keys; one without a # only
					 * removes them */
	struct {
		const char *key, *text; /* NULL: the number; a verdict's name: no value is asked */
		double number;
	} want[3];
} variants[] = {
    {"gpus/toy.gpu", "residency", "core.policy = oldest name # test\n", {{"core.policy", "oldest", 0}}},
    {"gpus/toy.gpu", "residency", "core.policy = youngest name # test\n", {{"core.policy", "youngest", 0}}},
    {"gpus/toy.gpu", "residency", "core.policy = greedy name # test\n", {{"core.policy", "greedy", 0}}},
    {"gpus/toy.gpu",
     "residency",
     "core.policy = round_robin name # test\ndevice.max_warps_per_sm = 21 count # test\n"
     "device.max_blocks_per_sm = 7 count # test\n",
     {{"core.policy", "round_robin", 0}, {"device.max_warps_per_sm", NULL, 21}, {"device.max_blocks_per_sm", NULL, 7}}},
    {"gpus/gtx280.gpu",
     "coalesce",
     "memory.coalesce.rule = lines name # test\nmemory.coalesce.segment = 64 bytes # test\n",
     {{"memory.coalesce.rule", "lines", 0}, {"memory.coalesce.segment", NULL, 64}}},
    {"gpus/gtx280.gpu",
     "partitions",
     "memory.partitions = 3 count # test\nmemory.partition_stride = 1024 bytes # test\n",
     {{"memory.partitions", NULL, 3}, {"memory.partition_stride", NULL, 1024}}},
    /* Addresses that are mixed have no stride that finds a partition. Without a cache nothing tells them from a way to the memory that is slower. */
    {"gpus/gtx280.gpu",
     "partitions",
     "memory.partition_mapping = hash name # test\n",
     {{"memory.partitions", "INCONCLUSIVE", 0}}},
    {"gpus/v100.gpu",
     "partitions",
     "memory.partitions = 16 count # test\nmemory.partition_stride = 512 bytes # test\n"
     "memory.partition_mapping = hash name # test\n",
     {{"memory.partitions", "ABSENT", 0}, {"memory.partition_stride", "ABSENT", 0}}},
    {"gpus/v100.gpu",
     "partitions",
     "memory.partitions = 11 count # test\nmemory.partition_stride = 512 bytes # test\n",
     {{"memory.partitions", "INCONCLUSIVE", 0}}},
    /* Pieces as large as these are seen by no words that are read again, but by those that are read once. */
    {"gpus/gtx280.gpu",
     "partitions",
     "memory.partitions = 4 count # test\nmemory.partition_stride = 16384 bytes # test\n",
     {{"memory.partitions", "INCONCLUSIVE", 0}}},
    /* No eight blocks are on an SM at a time: what launches divide is not known, nor what that leaves of the L1. */
    {"gpus/toy.gpu",
     "split_cache",
     "",
     {{"shared.splits", "INCONCLUSIVE", 0}, {"cache.global.l1.split.size", "INCONCLUSIVE", 0}}},
    {"gpus/toy.gpu",
     "texture_unit",
     "texture.filter.fraction_bits = 6 count # test\n",
     {{"texture.filter.fraction_bits", NULL, 6}}},
    {"gpus/toy.gpu",
     "texture_unit",
     "texture.filter.fraction_bits = 9 count # test\n",
     {{"texture.filter.fraction_bits", NULL, 9}}},
    /* Banks that follow each other row by row are slow at strides as partitions are, and are none. */
    {"gpus/gtx280.gpu",
     "partitions",
     "memory.partitions = 1 count # test\nmemory.partition_stride =\ndram.banks = 8 count # test\ndram.row_bytes = "
     "1024 bytes # test\n"
     "dram.row_miss = 20 cycles # test\ndram.bank_busy = 4 cycles # test\n",
     {{"memory.partitions", "INCONCLUSIVE", 0}}},
    /* The loop that jumps takes lines of the first level's only set. Lines that are fetched ahead are of many sets of
     * the second. */
    {"gpus/toy.gpu",
     "instruction_cache",
     "native.bytes = 16 bytes # test\ncache.instruction.levels = 2 count # test\n"
     "cache.instruction.fetch_bytes = 64 bytes # test\ncache.instruction.prefetch = 6 count # test\n"
     "cache.instruction.l1.size = 4 KB # test\ncache.instruction.l1.line = 128 bytes # test\n"
     "cache.instruction.l1.ways = 32 count # test\ncache.instruction.l1.policy = lru name # test\n"
     "cache.instruction.l1.scope = sm name # test\ncache.instruction.l1.latency = 0 cycles # test\n"
     "cache.instruction.l2.size = 32 KB # test\ncache.instruction.l2.line = 128 bytes # test\n"
     "cache.instruction.l2.ways = 4 count # test\ncache.instruction.l2.policy = lru name # test\n"
     "cache.instruction.l2.scope = sm name # test\ncache.instruction.l2.latency = 20 cycles # test\n"
     "memory.instruction.latency = 300 cycles # test\n",
     {{"cache.instruction.l1.sets", NULL, 1},
      {"cache.instruction.l2.ways", NULL, 4},
      {"cache.instruction.l2.size", NULL, 32768}}},
    /* One thread cannot walk it. */
    {"gpus/toy.gpu",
     "global_cache",
     "cache.global.l2.size = 17 MB # test\ncache.global.l2.ways = 17 count # test\n"
     "cache.global.l2.mapping = hash name # test\nmemory.global.size = 512 MB # test\n",
     {{"cache.global.l2.line", NULL, 128}, {"cache.global.l2.mapping", "hash", 0}}},
};

/* The shipped description without the keys of v's lines, and then those. */
static void describe(const struct variant *v, struct str *out)
{
	const struct embedded *m = embed_find(v->of);
	for (const char *p = m->data; *p;) {
		size_t n = strcspn(p, "\n");
		bool drop = false;
		for (const char *l = v->lines; *l; l += strcspn(l, "\n") + 1)
			drop |= strncmp(l, p, strcspn(l, "=") + 1) == 0;
		n += p[n] == '\n';
		if (!drop)
			str_addn(out, p, n);
		p += n;
	}
	for (const char *l = v->lines; *l; l += strcspn(l, "\n") + 1) {
		const size_t n = strcspn(l, "\n") + 1;
		if (memchr(l, '#', n))
			str_addn(out, l, n);
	}
}

static bool is_wanted(const struct finding *f, const char *text, double number)
{
	if (!f)
		return false;
	if (text && strcmp(text, verdict_name(f->verdict)) == 0)
		return true;
	if (!finding_estimated(f))
		return false;
	return text ? f->value.kind == VALUE_TEXT && strcmp(f->value.text, text) == 0
		    : f->value.kind == VALUE_NUMBER && fabs(f->value.number - number) <= 0.03 * fabs(number);
}

static int one(const struct variant *v)
{
	struct str text;
	struct arena a;
	struct err e = {0};
	struct sim_spec *s;
	struct run r = {0};
	int bad = 0;
	str_init(&text);
	arena_init(&a);
	describe(v, &text);
	int rc = spec_parse(&s, &a, "variant", str_text(&text), text.len, &e);
	if (rc == 0)
		rc = known_measure_probe(&r, s, SEED, v->probe, &e);
	for (unsigned i = 0; rc == 0 && i < sizeof v->want / sizeof *v->want && v->want[i].key; i++) {
		const struct finding *f = findings_get(&r.findings, v->want[i].key);
		char value[80] = "no finding";
		if (is_wanted(f, v->want[i].text, v->want[i].number))
			continue;
		if (f)
			known_value(value, sizeof value, f);
		printf("%s of %swith\n%s%s is %s %s: %s\n", v->probe, v->of, v->lines, v->want[i].key,
		       f ? verdict_name(f->verdict) : "", value, f ? f->because : "");
		bad++;
	}
	if (rc)
		printf("%s with\n%s: %s\n", v->of, v->lines, e.text);
	run_free(&r);
	arena_free(&a);
	str_free(&text);
	return rc || bad;
}

int main(void)
{
	int bad = 0;
	for (size_t i = 0; i < sizeof variants / sizeof *variants; i++)
		bad += one(&variants[i]);
	return bad != 0;
}
