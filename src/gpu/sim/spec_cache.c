/* What a cache's description says beyond single numbers: unequal sets, which address bits choose a set, stores. */
#include "base/str.h"
#include "gpu/sim/spec_file.h"
#include <stdio.h>
#include <string.h>

#define KEY_BYTES 128

int spec_set_sizes(const struct spec_file *f, struct cache_spec *c, const char *key)
{
	const struct spec_line *l = spec_line(f, key);
	if (!l)
		return 0;
	uint32_t n = 0, most = 0;
	uint64_t lines = 0;
	char item[48];
	const char *list = l->value;
	while (spec_item(&list, item, sizeof item))
		n++;
	uint32_t *size = ARENA_ARRAY(f->a, n ? n : 1, uint32_t);
	if (!size)
		return err_nomem(f->e);
	list = l->value;
	for (uint32_t k = 0; k < n && spec_item(&list, item, sizeof item); k++) {
		double v;
		int rc = spec_number(f, l, item, &v);
		if (rc)
			return rc;
		size[k] = (uint32_t)v;
		if (size[k] != v)
			return spec_fail(f, l->line, "'%s' has %s ways in a set: it has to be a whole number", key,
					 item);
		most = size[k] > most ? size[k] : most;
		lines += size[k];
	}
	if (c->ways && c->ways != most)
		return spec_fail(f, l->line, "'%s' has a set of %u ways, but the ways are given as %u", key, most,
				 c->ways);
	if (c->sets && c->sets != n)
		return spec_fail(f, l->line, "'%s' has %u sets, but the sets are given as %u", key, n, c->sets);
	if (c->size && c->size != lines * c->line)
		return spec_fail(f, l->line, "'%s' sums to %llu lines of %u bytes, which is not the size, %llu bytes",
				 key, (unsigned long long)lines, c->line, (unsigned long long)c->size);
	c->ways = most;
	c->sets = n;
	c->size = lines * c->line;
	c->set_ways = size;
	return 0;
}

int spec_split_l1(const struct spec_file *f, struct sim_spec *s)
{
	static const char key[] = "cache.global.l1.split.size", ways[] = "cache.global.l1.split.ways";
	struct cache_spec *c = &s->l1_split;
	const struct cache_spec *usual = &s->global.level[0];
	const uint64_t size = c->size, way = (uint64_t)c->ways * usual->line;
	const uint32_t line = spec_line_number(f, spec_line(f, key) ? key : ways), of = c->ways;
	if (!size && !of)
		return 0;
	if (!size || !of)
		return spec_fail(f, line, "'%s' and '%s' are given together", key, ways);
	if (!s->has_l1 || !s->shared_splits)
		return spec_fail(f, line, "'%s' is for an L1 whose launches choose among 'shared.splits'", key);
	if (size % way || usual->set_ways || usual->mapping != MAP_MODULO)
		return spec_fail(
		    f, line,
		    "'%s' is %llu bytes, no multiple of %u ways of %u bytes a line, or of a level whose sets "
		    "are unequal or hashed",
		    key, (unsigned long long)size, of, usual->line);
	*c = *usual;
	c->size = size;
	c->ways = of;
	c->sets = (uint32_t)(size / way);
	if (of != usual->ways && (c->policy == POLICY_SCHEDULE || c->policy == POLICY_WEIGHTED))
		c->policy = POLICY_LRU;
	return 0;
}

int spec_schedule(const struct spec_file *f, struct cache_spec *c, const char *key)
{
	const struct spec_line *l = spec_line(f, key);
	bool seen[SCHEDULE_WAYS] = {false};
	char item[48];
	uint32_t n = 0, ways = 0;
	if (!l)
		return 0;
	if (c->policy != POLICY_SCHEDULE)
		return spec_fail(f, l->line, "'%s' is only for policy schedule", key);
	for (const char *list = l->value; spec_item(&list, item, sizeof item); n++) {
		double v;
		int rc = spec_number(f, l, item, &v);
		if (rc)
			return rc;
		if (v != (uint32_t)v || v < 1 || v > c->ways || v > SCHEDULE_WAYS)
			return spec_fail(f, l->line, "'%s' has %s, which is none of the ways from 1 to %u", key, item,
					 c->ways);
		if (n == SCHEDULE_MOST)
			return spec_fail(f, l->line, "'%s' has more than %u places", key, SCHEDULE_MOST);
		c->schedule[n] = (uint16_t)(v - 1);
		ways += !seen[c->schedule[n]];
		seen[c->schedule[n]] = true;
	}
	if (ways != c->ways)
		return spec_fail(f, l->line, "'%s' has %u of %u ways: each has to be replaced at some time", key, ways,
				 c->ways);
	c->schedule_count = n;
	return 0;
}

int spec_check_cache(const struct spec_file *f, const struct cache_spec *c, const char *stem)
{
	char key[KEY_BYTES];
#define AT(property) (snprintf(key, sizeof key, "%s." property, stem), spec_line_number(f, key))
	uint32_t line_bits = (uint32_t)__builtin_ctz(c->line);
	if (c->set_ways && (c->mapping != MAP_MODULO || c->set_bits_from))
		return spec_fail(f, AT("set_sizes"),
				 "'%s' deals lines round the sets: it goes with mapping modulo, without set_bits_from",
				 key);
	if (c->set_ways && c->policy == POLICY_WEIGHTED)
		return spec_fail(f, AT("policy"), "'%s' is weighted, which needs sets of equal size", key);
	if (c->set_ways && c->policy == POLICY_SCHEDULE)
		return spec_fail(f, AT("policy"), "'%s' is schedule, which needs sets of equal size", key);
	if (c->policy == POLICY_SCHEDULE && !c->schedule_count)
		return spec_fail(f, AT("policy"), "'%s' is schedule, but %s.schedule is missing", key, stem);
	if (c->set_bits_from && c->set_bits_from < line_bits)
		return spec_fail(f, AT("set_bits_from"), "'%s' is %u, below the line, which takes the bits up to %u",
				 key, c->set_bits_from, line_bits - 1);
	uint64_t block = 1ull << (c->set_bits_from ? c->set_bits_from : line_bits);
	if (((uint64_t)c->ways * c->line) % block)
		return spec_fail(f, AT("set_bits_from"),
				 "'%s' puts runs of %llu bytes into one set, but a set holds %u lines of %u bytes", key,
				 (unsigned long long)block, c->ways, c->line);
	if (c->victims && c->write == WRITE_BACK)
		return spec_fail(f, AT("victims"), "'%s' keeps lines that memory has: it does not go with write = back",
				 key);
	if (c->write == WRITE_EVICT && c->write_allocate)
		return spec_fail(f, AT("write_allocate"), "'%s' is yes, but a store drops the line (write = evict)",
				 key);
	return 0;
#undef AT
}
