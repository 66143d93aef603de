/* Translation: the TLBs of a path, the page walk behind them, the window of pages that is active; and the texture path. */
#include "base/str.h"
#include "gpu/sim/spec_file.h"
#include <stdio.h>
#include <string.h>

#define KEY_BYTES 128

const char *const spec_tlb_paths[TLB_PATHS] = {"global", "texture"};

static unsigned first_line(const struct spec_file *f, const char *prefix)
{
	for (size_t i = 0; i < f->count; i++)
		if (str_starts(f->lines[i].key, prefix))
			return f->lines[i].line;
	return 0;
}

static bool is_given(const struct spec_file *f, const char *prefix)
{
	for (size_t i = 0; i < f->count; i++)
		if (str_starts(f->lines[i].key, prefix))
			return true;
	return false;
}

/* Entries, ways and sets: of the three, any that follow from the others may be left out. */
static int read_entries(const struct spec_file *f, struct cache_spec *c, const char *stem)
{
	char key[KEY_BYTES];
	double entries = 0;
	snprintf(key, sizeof key, "%s.entries", stem);
	const struct spec_line *l = spec_line(f, key);
	int rc = l ? spec_number(f, l, l->value, &entries) : 0;
	if (rc == 0 && l && entries != (double)(uint32_t)entries)
		rc = spec_fail(f, l->line, "'%s' is %g: it has to be a whole number", key, entries);
	if (rc)
		return rc;
	c->size = (uint64_t)entries * c->line;
	char sizes[KEY_BYTES];
	snprintf(sizes, sizeof sizes, "%s.set_sizes", stem);
	if (spec_line(f, sizes))
		return spec_set_sizes(f, c, sizes);
	if (!l || entries < 1)
		return spec_fail(f, 0, "the key '%s' is missing: entries of the TLB (count)", key);
	if (!c->ways && entries > CACHE_WAYS_MAX)
		return spec_fail(f, l->line, "'%s' is %g, more than the %d ways that one set can have: give '%s.ways'",
				 key, entries, CACHE_WAYS_MAX, stem);
	if (!c->ways)
		c->ways = (uint32_t)entries;
	if ((uint32_t)entries % c->ways)
		return spec_fail(f, l->line, "'%s' is %g, no multiple of %u ways", key, entries, c->ways);
	c->sets = (uint32_t)entries / c->ways;
	return 0;
}

static int read_level(const struct spec_file *f, const struct sim_spec *s, struct cache_spec *c, const char *path,
		      const char *level)
{
	char key[KEY_BYTES], stem[KEY_BYTES / 2];
	for (size_t i = 0; i < spec_key_count; i++) {
		const struct spec_key *k = &spec_keys[i];
		if (k->home != HOME_TLB)
			continue;
		spec_key_fill(key, sizeof key, k->pattern, path, level);
		int rc = spec_take(f, s, k, key, c);
		if (rc)
			return rc;
	}
	c->present = true;
	c->partitions = 1;
	if (!c->sector)
		c->sector = c->line;
	snprintf(stem, sizeof stem, "tlb.%s.%s", path, level);
	return read_entries(f, c, stem);
}

static int read_path(const struct spec_file *f, const struct sim_spec *s, struct tlb_spec *t, const char *path)
{
	char key[KEY_BYTES];
	for (size_t i = 0; i < spec_key_count; i++) {
		const struct spec_key *k = &spec_keys[i];
		if (k->home != HOME_WALK)
			continue;
		spec_key_fill(key, sizeof key, k->pattern, path, NULL);
		int rc = spec_take(f, s, k, key, t);
		if (rc)
			return rc;
	}
	for (unsigned i = 0; i < TLB_LEVELS; i++) {
		snprintf(key, sizeof key, "tlb.%s.%s.", path, spec_level_names[i]);
		if (!is_given(f, key))
			continue;
		if (i != t->levels)
			return spec_fail(f, first_line(f, key), "tlb.%s.%s is described, but tlb.%s.%s is not", path,
					 spec_level_names[i], path, spec_level_names[i - 1]);
		int rc = read_level(f, s, &t->level[i], path, spec_level_names[i]);
		if (rc)
			return rc;
		t->levels++;
	}
	snprintf(key, sizeof key, "tlb.%s.levels", path);
	return spec_level_count(f, key, t->levels);
}

int spec_read_tlbs(const struct spec_file *f, struct sim_spec *s)
{
	int rc = 0;
	for (unsigned i = 0; rc == 0 && i < TLB_PATHS; i++) {
		char key[KEY_BYTES];
		snprintf(key, sizeof key, "tlb.%s.", spec_tlb_paths[i]);
		if (is_given(f, key))
			rc = read_path(f, s, &s->tlb[i], spec_tlb_paths[i]);
	}
	const struct spec_line *l = spec_line(f, "tlb.texture.shared_with");
	unsigned index = 0;
	if (rc == 0 && l)
		rc = spec_word(f, l, "none global", l->value, l->key, &index);
	s->tlb_shared = rc == 0 && index == 1;
	return rc;
}

/* ---- checks ---- */

static bool is_power_of_two(uint64_t v)
{
	return v && (v & (v - 1)) == 0;
}

static int check_level(const struct spec_file *f, const struct sim_spec *s, const struct cache_spec *c,
		       const struct cache_spec *up, const char *stem)
{
	char key[KEY_BYTES];
#define AT(property) (snprintf(key, sizeof key, "%s." property, stem), spec_line_number(f, key))
	if (!is_power_of_two(c->line) || c->line < s->page_size)
		return spec_fail(f, AT("line"),
				 "'%s' is %u bytes: an entry covers a power of two, at least a page of %llu", key,
				 c->line, (unsigned long long)s->page_size);
	if (!is_power_of_two(c->sector) || c->sector < s->page_size || c->sector > c->line)
		return spec_fail(f, AT("sector"),
				 "'%s' is %u bytes: it has to be a power of two, from a page to the line of %u", key,
				 c->sector, c->line);
	if (c->line / c->sector > 4096)
		return spec_fail(f, AT("sector"), "'%s' makes %u parts of an entry, more than 4096", key,
				 c->line / c->sector);
	if (c->mapping == MAP_HASH && !is_power_of_two(c->sets))
		return spec_fail(f, AT("mapping"), "'%s' is hash, which needs a power of two of sets, not %u", key,
				 c->sets);
	if (c->policy == POLICY_WEIGHTED || c->policy == POLICY_SCHEDULE)
		return spec_fail(f, AT("policy"), "'%s' is %s, which is for caches", key,
				 c->policy == POLICY_WEIGHTED ? "weighted" : "schedule");
	if (c->policy == POLICY_PLRU && !is_power_of_two(c->ways))
		return spec_fail(f, AT("policy"), "'%s' is plru, which needs a power of two of ways, not %u", key,
				 c->ways);
	if (up && c->size <= up->size)
		return spec_fail(f, AT("entries"), "'%s' reach %llu bytes, no farther than the level above", key,
				 (unsigned long long)c->size);
	if (up && c->scope < up->scope)
		return spec_fail(f, AT("scope"), "'%s' is shared by fewer SMs than the level above", key);
	if (up && c->latency <= 0)
		return spec_fail(f, AT("latency"), "'%s' is 0: a level takes longer than the one above", key);
	return spec_check_cache(f, c, stem);
#undef AT
}

/* What lies within a cluster cannot wait for a translation that is shared beyond it. */
static int check_addressed(const struct spec_file *f, const struct path_spec *p, const struct tlb_spec *t,
			   const char *path)
{
	bool near = t->walk != WALK_L2 && (!t->levels || t->level[t->levels - 1].scope != SCOPE_GPU), physical = false;
	for (unsigned i = 0; i < CONST_LEVELS; i++) {
		const struct cache_spec *c = &p->level[i];
		char key[KEY_BYTES];
		if (!c->present)
			continue;
		snprintf(key, sizeof key, "cache.%s.%s.addressed", path, spec_level_names[i]);
		if (c->addressed == ADDRESSED_VIRTUAL && physical)
			return spec_fail(f, spec_line_number(f, key),
					 "'%s' is virtual, but the level above is looked up after the translation",
					 key);
		physical = c->addressed == ADDRESSED_PHYSICAL;
		if (physical && !near && c->scope != SCOPE_GPU && t->levels)
			return spec_fail(f, spec_line_number(f, key),
					 "'%s' has to be virtual: the path's translation is shared by the whole GPU, "
					 "and the level is not",
					 key);
	}
	return 0;
}

int spec_check_tlbs(const struct spec_file *f, const struct sim_spec *s)
{
	const struct path_spec *paths[TLB_PATHS] = {&s->global, &s->texture};
	bool any = s->tlb[TLB_GLOBAL].levels || s->tlb[TLB_TEXTURE].levels;
	unsigned line = first_line(f, "tlb.");
	if (!any) {
		if (is_given(f, "tlb.") && !spec_line(f, "tlb.global.levels") && !spec_line(f, "tlb.texture.levels"))
			return spec_fail(f, line, "a key of tlb is given, but no TLB is described");
		return 0;
	}
	if (!s->page_size)
		return spec_fail(f, 0, "the key 'tlb.page_size' is missing: bytes of one page (bytes)");
	if (!is_power_of_two(s->page_size))
		return spec_fail(f, spec_line_number(f, "tlb.page_size"), "'tlb.page_size' is %llu, no power of two",
				 (unsigned long long)s->page_size);
	if (s->tlb_window && (s->tlb_window < s->page_size || !is_power_of_two(s->tlb_window)))
		return spec_fail(f, spec_line_number(f, "tlb.active_window"),
				 "'tlb.active_window' has to be a power of two, at least a page");
	if (s->tlb_window_switch > 0 && !s->tlb_window)
		return spec_fail(f, spec_line_number(f, "tlb.window_switch"),
				 "'tlb.window_switch' needs 'tlb.active_window'");
	if (s->tlb_shared && s->tlb[TLB_TEXTURE].levels)
		return spec_fail(f, spec_line_number(f, "tlb.texture.shared_with"),
				 "'tlb.texture.shared_with' is global, so there are no levels of its own to describe");
	if (s->tlb_shared && !s->tlb[TLB_GLOBAL].levels)
		return spec_fail(f, spec_line_number(f, "tlb.texture.shared_with"),
				 "'tlb.texture.shared_with' is global, which has no TLB");
	if (!s->has_texture && (s->tlb_shared || s->tlb[TLB_TEXTURE].levels))
		return spec_fail(f, first_line(f, "tlb.texture."), "there is no texture path to translate for");
	for (unsigned i = 0; i < TLB_PATHS; i++) {
		const struct tlb_spec *t = &s->tlb[i];
		char stem[KEY_BYTES / 2];
		for (unsigned k = 0; k < t->levels; k++) {
			snprintf(stem, sizeof stem, "tlb.%s.%s", spec_tlb_paths[i], spec_level_names[k]);
			int rc = check_level(f, s, &t->level[k], k ? &t->level[k - 1] : NULL, stem);
			if (rc)
				return rc;
		}
		snprintf(stem, sizeof stem, "tlb.%s.walk", spec_tlb_paths[i]);
		if (t->walk == WALK_L2 && !s->has_l2)
			return spec_fail(f, spec_line_number(f, stem), "'%s' is global.l2, but there is no such cache",
					 stem);
		snprintf(stem, sizeof stem, "tlb.%s.walk_memory", spec_tlb_paths[i]);
		if (t->walk_memory > 0 && t->walk != WALK_L2)
			return spec_fail(f, spec_line_number(f, stem), "'%s' is for walks through global.l2", stem);
		const struct tlb_spec *used = i == TLB_TEXTURE && s->tlb_shared ? &s->tlb[TLB_GLOBAL] : t;
		int rc = check_addressed(f, paths[i], used, spec_tlb_paths[i]);
		if (rc)
			return rc;
	}
	return 0;
}

/* ---- textures ---- */

bool spec_has_texture(const struct spec_file *f)
{
	return is_given(f, "cache.texture.") || is_given(f, "load.texture.") || is_given(f, "memory.texture.");
}

int spec_read_texture(const struct spec_file *f, struct sim_spec *s)
{
	for (unsigned i = 0; i < CONST_LEVELS; i++) {
		char key[KEY_BYTES];
		unsigned index = 0;
		snprintf(key, sizeof key, "cache.texture.%s.shared_with", spec_level_names[i]);
		const struct spec_line *l = spec_line(f, key);
		int rc = l ? spec_word(f, l, "none global.l2", l->value, key, &index) : 0;
		if (rc)
			return rc;
		s->texture_shared[i] = index == 1;
	}
	return 0;
}

int spec_check_texture(const struct spec_file *f, const struct sim_spec *s)
{
	for (unsigned i = 0; i < CONST_LEVELS; i++) {
		const struct cache_spec *c = &s->texture.level[i], *o = &s->global.level[1];
		char key[KEY_BYTES];
		snprintf(key, sizeof key, "cache.texture.%s.write", spec_level_names[i]);
		if (c->present && (c->write != WRITE_THROUGH || c->write_allocate))
			return spec_fail(f, spec_line_number(f, key),
					 "cache.texture.%s says what a store does, but nothing stores to textures",
					 spec_level_names[i]);
		if (!s->texture_shared[i])
			continue;
		snprintf(key, sizeof key, "cache.texture.%s.shared_with", spec_level_names[i]);
		unsigned line = spec_line_number(f, key);
		if (!c->present)
			return spec_fail(f, line, "'%s' is given, but there is no such level", key);
		if (!s->has_l2)
			return spec_fail(f, line, "'%s' is global.l2, but there is no such cache", key);
		if (i + 1 != s->texture.levels)
			return spec_fail(f, line, "'%s' is global.l2, behind which there is only memory", key);
		if (c->size != o->size || c->line != o->line || c->sector != o->sector || c->ways != o->ways ||
		    c->policy != o->policy || c->mapping != o->mapping || c->scope != o->scope ||
		    c->partitions != o->partitions || c->set_bits_from != o->set_bits_from)
			return spec_fail(f, line,
					 "'%s' is global.l2, but size, line, sector, ways, policy, mapping, scope or "
					 "partitions differ",
					 key);
	}
	return 0;
}
