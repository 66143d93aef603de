/* Instruction caches of a .gpu file, and where native instructions lie. */
#include "gpu/sim/spec_file.h"
#include <stdio.h>
#include <string.h>

#define KEY_BYTES 128

const char *const spec_share_names[] = {"none",	       "constant.l1", "constant.l2",
					"constant.l3", "constant.l4", "global.l2"};
#define SHARE_WORDS "none constant.l1 constant.l2 constant.l3 constant.l4 global.l2"

int spec_read_fetch(const struct spec_file *f, struct sim_spec *s)
{
	struct fetch_spec *p = &s->fetch;
	int rc = spec_read_levels(f, s, &p->path, "instruction");
	for (uint32_t i = 0; rc == 0 && i < CONST_LEVELS; i++) {
		char key[KEY_BYTES];
		unsigned index = 0;
		snprintf(key, sizeof key, "cache.instruction.%s.shared_with", spec_level_names[i]);
		const struct spec_line *l = spec_line(f, key);
		if (!l)
			continue;
		rc = spec_word(f, l, SHARE_WORDS, l->value, key, &index);
		p->share[i] = (enum fetch_share)index;
	}
	if (rc || !p->path.levels)
		return rc;
	if (!p->block)
		return spec_fail(f, 0,
				 "the key 'cache.instruction.fetch_bytes' is missing: bytes that one fetch takes from "
				 "the first instruction cache (bytes)");
	return spec_take(f, s, spec_key_find("memory.instruction.latency"), "memory.instruction.latency", &p->path);
}

static bool is_power_of_two(uint64_t v)
{
	return v && (v & (v - 1)) == 0;
}

static const struct cache_spec *partner(const struct sim_spec *s, enum fetch_share share)
{
	const struct cache_spec *c =
	    share == SHARE_GLOBAL_L2 ? &s->global.level[1] : &s->constant.level[share - SHARE_CONSTANT_L1];
	return c->present ? c : NULL;
}

/* One array cannot have two geometries. */
static int check_shared(const struct spec_file *f, const struct sim_spec *s, uint32_t i)
{
	const struct cache_spec *c = &s->fetch.path.level[i];
	enum fetch_share share = s->fetch.share[i];
	const char *name = spec_share_names[share], *level = spec_level_names[i];
	char key[KEY_BYTES];
	snprintf(key, sizeof key, "cache.instruction.%s.shared_with", level);
	unsigned line = spec_line_number(f, key);
	if (!c->present)
		return spec_fail(f, line, "'%s' is given, but there is no such level", key);
	const struct cache_spec *o = partner(s, share);
	if (!o)
		return spec_fail(f, line, "'%s' is %s, but there is no such cache", key, name);
	for (uint32_t k = 0; k < i; k++)
		if (s->fetch.share[k] == share)
			return spec_fail(f, line, "'%s' is %s, and so is another instruction cache", key, name);
	const struct {
		const char *property;
		uint64_t ours, theirs;
	} same[] = {{"size", c->size, o->size},	      {"line", c->line, o->line},
		    {"sector", c->sector, o->sector}, {"ways", c->ways, o->ways},
		    {"policy", c->policy, o->policy}, {"mapping", c->mapping, o->mapping},
		    {"scope", c->scope, o->scope},    {"partitions", c->partitions, o->partitions}};
	for (size_t k = 0; k < sizeof same / sizeof same[0]; k++) {
		if (same[k].ours == same[k].theirs)
			continue;
		snprintf(key, sizeof key, "cache.instruction.%s.%s", level, same[k].property);
		return spec_fail(f, spec_line_number(f, key),
				 "'%s' differs from that of cache.%s, which is said to be the same cache", key, name);
	}
	return 0;
}

static int check_bytes(const struct spec_file *f, const struct sim_spec *s, const char *key, uint32_t bytes)
{
	if (!is_power_of_two(bytes))
		return spec_fail(f, spec_line_number(f, key), "'%s' is %u bytes, no power of two", key, bytes);
	if (s->fetch.block && bytes > s->fetch.block)
		return spec_fail(f, spec_line_number(f, key), "'%s' is %u bytes, more than one fetch takes, %u", key,
				 bytes, s->fetch.block);
	return 0;
}

int spec_check_fetch(const struct spec_file *f, const struct sim_spec *s)
{
	const struct fetch_spec *p = &s->fetch;
	int rc = 0;
	for (uint32_t i = 0; rc == 0 && i < CONST_LEVELS; i++)
		if (p->share[i] != SHARE_NONE)
			rc = check_shared(f, s, i);
	if (rc == 0)
		rc = check_bytes(f, s, "native.bytes", p->bytes);
	for (uint32_t i = 0; rc == 0 && i < s->op_count; i++) {
		char key[KEY_BYTES];
		snprintf(key, sizeof key, "arith.%s.%s.bytes", s->op[i].op, s->op[i].type);
		rc = s->op[i].bytes ? check_bytes(f, s, key, s->op[i].bytes) : 0;
	}
	if (rc)
		return rc;
	if (!p->path.levels) {
		static const char *const keys[] = {"cache.instruction.fetch_bytes", "cache.instruction.prefetch",
						   "memory.instruction.latency"};
		for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
			if (spec_line(f, keys[i]))
				return spec_fail(f, spec_line_number(f, keys[i]),
						 "'%s' is given, but there is no instruction cache", keys[i]);
		return 0;
	}
	unsigned line = spec_line_number(f, "cache.instruction.fetch_bytes");
	if (!is_power_of_two(p->block))
		return spec_fail(f, line, "'cache.instruction.fetch_bytes' is %u, no power of two", p->block);
	if (p->block > p->path.level[0].sector)
		return spec_fail(f, line,
				 "'cache.instruction.fetch_bytes' is %u, more than the first level fills at once, %u",
				 p->block, p->path.level[0].sector);
	/* What is taken along must be near: nobody waits for it, so nothing may have to travel for it. */
	if (p->ahead && (p->path.levels < 2 || p->path.level[1].scope == SCOPE_GPU || p->share[1] == SHARE_GLOBAL_L2))
		return spec_fail(f, spec_line_number(f, "cache.instruction.prefetch"),
				 "'cache.instruction.prefetch' needs a second level with scope sm or cluster that is "
				 "not the global L2");
	return 0;
}
