/* From the lines of a .gpu file to a struct sim_spec. */
#include "gpu/sim/spec.h"
#include "base/embed.h"
#include "base/str.h"
#include "gpu/sim/spec_file.h"
#include <assert.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define KEY_BYTES  128
#define FILE_BYTES (1u << 20) /* far beyond any description */

_Static_assert(sizeof(enum cache_scope) == sizeof(unsigned), "spec_keys.c stores enums as unsigned numbers");

/* ---- one key ---- */
int spec_word(const struct spec_file *f, const struct spec_line *l, const char *words, const char *word,
	      const char *key, unsigned *out)
{
	unsigned index = 0;
	size_t n = strlen(word);
	for (const char *w = words; *w; index++) {
		size_t len = strcspn(w, " ");
		if (len == n && memcmp(w, word, n) == 0) {
			*out = index;
			return 0;
		}
		w += len + (w[len] == ' ');
	}
	return spec_fail(f, l ? l->line : 0, "'%s' is '%.40s'; it may be one of: %s", key, word, words);
}

static int store_number(const struct spec_file *f, const struct spec_line *l, const struct spec_key *k,
			const char *value, void *to)
{
	double v;
	int rc = spec_number(f, l, value, &v);
	if (rc)
		return rc;
	if (k->kind == KIND_DOUBLE) {
		*(double *)to = v;
		return 0;
	}
	if (k->kind == KIND_TENTHS) {
		*(int *)to = (int)(v * 10 + 0.5);
		return 0;
	}
	uint64_t whole = v < 0 ? 0 : (uint64_t)v;
	if ((double)whole != v)
		return spec_fail(f, l->line, "'%s' is %.10g: it has to be a whole number of %s", l->key, v,
				 spec_dim_name(k->dim));
	if (k->kind == KIND_U64)
		*(uint64_t *)to = whole;
	else
		*(uint32_t *)to = (uint32_t)whole;
	return 0;
}

static int store(const struct spec_file *f, const struct sim_spec *s, const struct spec_key *k,
		 const struct spec_line *l, void *to)
{
	unsigned index = 0;
	int rc;
	switch (k->kind) {
	case KIND_TEXT:
		if (strlen(l->value) >= (size_t)k->max || strlen(l->value) < (size_t)k->min)
			return spec_fail(f, l->line, "'%s' has to have %g to %g characters", l->key, k->min,
					 k->max - 1);
		snprintf(to, (size_t)k->max, "%s", l->value);
		return 0;
	case KIND_BOOL:
		rc = spec_word(f, l, "no yes", l->value, l->key, &index);
		if (rc == 0)
			*(bool *)to = index == 1;
		return rc;
	case KIND_WORD:
		/* The enums start at 0 and have the order of the words. */
		rc = spec_word(f, l, k->words, l->value, l->key, &index);
		if (rc == 0)
			memcpy(to, &index, sizeof index);
		return rc;
	case KIND_PIPE:
		return spec_pipe(f, s, l, l->value, to);
	case KIND_CUSTOM:
		return 0;
	default:
		return store_number(f, l, k, l->value, to);
	}
}

int spec_take(const struct spec_file *f, const struct sim_spec *s, const struct spec_key *k, const char *key,
	      void *home)
{
	const struct spec_line *l = spec_line(f, key);
	if (l)
		return store(f, s, k, l, (char *)home + k->offset);
	if (!k->fallback)
		return spec_fail(f, 0, "the key '%s' is missing: %s (%s)", key, k->meaning, spec_dim_name(k->dim));
	if (k->fallback[0] == '\0')
		return 0;
	struct spec_line given = {.key = key, .value = k->fallback, .unit = spec_dim_name(k->dim)};
	return store(f, s, k, &given, (char *)home + k->offset);
}

/* ---- the whole GPU ---- */
static int read_scalars(const struct spec_file *f, struct sim_spec *s)
{
	for (size_t i = 0; i < spec_key_count; i++) {
		const struct spec_key *k = &spec_keys[i];
		if (k->home != HOME_SPEC)
			continue;
		int rc = spec_take(f, s, k, k->pattern, s);
		if (rc)
			return rc;
	}
	return 0;
}

static int read_clock(const struct spec_file *f, struct sim_spec *s)
{
	const struct spec_line *l = spec_line(f, "clock.read_latency");
	double whole;
	int rc = spec_number(f, l, l->value, &whole);
	if (rc)
		return rc;
	if (s->clock_native_ops > 1 && s->clock_op_latency <= 0)
		return spec_fail(f, spec_line_number(f, "clock.native_ops"),
				 "'clock.op_latency' is missing: a clock read of %u instructions needs it",
				 s->clock_native_ops);
	s->clock_issue = whole - (s->clock_native_ops - 1) * s->clock_op_latency;
	if (s->clock_issue <= 0)
		return spec_fail(f, l->line,
				 "'clock.read_latency' is %g cycles, but its %u instructions take %g before the last",
				 whole, s->clock_native_ops, whole - s->clock_issue);
	return 0;
}

/* "add.u32" */
static int read_op_name(const struct spec_file *f, const struct sim_spec *s, const struct spec_line *l, int *out)
{
	char op[16] = "", type[8] = "";
	const char *dot = strchr(l->value, '.');
	if (dot && (size_t)(dot - l->value) < sizeof op && strlen(dot + 1) < sizeof type) {
		memcpy(op, l->value, (size_t)(dot - l->value));
		snprintf(type, sizeof type, "%s", dot + 1);
	}
	*out = op[0] ? spec_find_op(s, op, type) : -1;
	if (*out < 0)
		return spec_fail(f, l->line,
				 "'%s' is '%.40s', which is no operation that the file gives as arith.%.40s.*", l->key,
				 l->value, l->value);
	return 0;
}

static int read_weights(const struct spec_file *f, struct cache_spec *c, const char *key)
{
	const struct spec_line *l = spec_line(f, key);
	if (!l)
		return 0;
	if (c->policy != POLICY_WEIGHTED)
		return spec_fail(f, l->line, "'%s' is only for policy weighted", key);
	return spec_numbers(f, l, c->weight, c->ways, "the cache has", "ways");
}

static int read_cache(const struct spec_file *f, const struct sim_spec *s, struct cache_spec *c, const char *path,
		      const char *level)
{
	char key[KEY_BYTES];
	for (size_t i = 0; i < spec_key_count; i++) {
		const struct spec_key *k = &spec_keys[i];
		if (k->home != HOME_CACHE)
			continue;
		spec_key_fill(key, sizeof key, k->pattern, path, level);
		int rc = spec_take(f, s, k, key, c);
		if (rc == 0 && k->kind == KIND_CUSTOM && str_ends(key, ".replacement_probability"))
			rc = read_weights(f, c, key);
		if (rc == 0 && k->kind == KIND_CUSTOM && str_ends(key, ".schedule"))
			rc = spec_schedule(f, c, key);
		if (rc)
			return rc;
	}
	c->present = true;
	if (c->sector == 0)
		c->sector = c->line;
	snprintf(key, sizeof key, "cache.%s.%s.set_sizes", path, level);
	if (spec_line(f, key))
		return spec_set_sizes(f, c, key);
	if (c->ways == 0)
		return spec_fail(f, 0, "the key 'cache.%s.%s.ways' is missing: lines of one set (count)", path, level);
	uint64_t way = (uint64_t)c->ways * c->line;
	assert(way > 0); /* the limits of both keys say so */
	if (c->size % way || c->size / way == 0) {
		snprintf(key, sizeof key, "cache.%s.%s.size", path, level);
		return spec_fail(f, spec_line_number(f, key),
				 "'%s' is %llu bytes, no multiple of %u ways of %u bytes a line", key,
				 (unsigned long long)c->size, c->ways, c->line);
	}
	uint64_t sets = c->size / way;
	if (c->sets && c->sets != sets) {
		snprintf(key, sizeof key, "cache.%s.%s.sets", path, level);
		return spec_fail(f, spec_line_number(f, key), "'%s' is %u, but size / (ways x line) is %llu", key,
				 c->sets, (unsigned long long)sets);
	}
	c->sets = (uint32_t)sets;
	return 0;
}

static bool level_is_given(const struct spec_file *f, const char *path, const char *level, unsigned *line)
{
	char prefix[KEY_BYTES];
	snprintf(prefix, sizeof prefix, "cache.%s.%s.", path, level);
	for (size_t i = 0; i < f->count; i++)
		if (str_starts(f->lines[i].key, prefix)) {
			*line = f->lines[i].line;
			return true;
		}
	return false;
}

int spec_level_count(const struct spec_file *f, const char *key, uint32_t described)
{
	const struct spec_line *l = spec_line(f, key);
	double levels = 0;
	int rc = l ? spec_number(f, l, l->value, &levels) : 0;
	if (rc == 0 && levels != described)
		rc = spec_fail(f, l ? l->line : 0, "'%s' is %g, but the file describes %u levels", key, levels,
			       described);
	return rc;
}

int spec_read_levels(const struct spec_file *f, struct sim_spec *s, struct path_spec *p, const char *path)
{
	char key[KEY_BYTES];
	bool global = strcmp(path, "global") == 0;
	for (unsigned i = 0; i < CONST_LEVELS; i++) {
		unsigned line = 0;
		if (!level_is_given(f, path, spec_level_names[i], &line))
			continue;
		if (global && i > 1)
			return spec_fail(f, line,
					 "the global path has the levels l1 (in the SM) and l2 (of the GPU) only");
		if (!global && i != p->levels)
			return spec_fail(f, line, "cache.%s.%s is described, but cache.%s.%s is not", path,
					 spec_level_names[i], path, spec_level_names[i - 1]);
		int rc = read_cache(f, s, &p->level[i], path, spec_level_names[i]);
		if (rc)
			return rc;
		p->levels++;
		if (global && i == 0)
			s->has_l1 = true;
		if (global && i == 1)
			s->has_l2 = true;
	}
	snprintf(key, sizeof key, "cache.%s.levels", path);
	return spec_level_count(f, key, p->levels);
}

static int read_path(const struct spec_file *f, struct sim_spec *s, struct path_spec *p, const char *path)
{
	char key[KEY_BYTES];
	bool shared = strcmp(path, "shared") == 0;
	for (size_t i = 0; i < spec_key_count; i++) {
		const struct spec_key *k = &spec_keys[i];
		/* Shared memory is no cached path: its latency has a key of its own. */
		if (k->home != HOME_PATH || (shared && strstr(k->pattern, "<p>")))
			continue;
		spec_key_fill(key, sizeof key, k->pattern, path, NULL);
		int rc = spec_take(f, s, k, key, p);
		if (rc)
			return rc;
	}
	if (p->address_ops) {
		snprintf(key, sizeof key, "load.%s.address_op", path);
		const struct spec_line *l = spec_line(f, key);
		if (!l) {
			char ops[KEY_BYTES];
			snprintf(ops, sizeof ops, "load.%s.address_ops", path);
			return spec_fail(f, spec_line_number(f, ops),
					 "the key '%s' is missing: which operation those %u are", key, p->address_ops);
		}
		int op;
		int rc = read_op_name(f, s, l, &op);
		if (rc)
			return rc;
		p->address_latency = s->op[op].latency;
	}
	return shared ? 0 : spec_read_levels(f, s, p, path);
}

static int read_choices(const struct spec_file *f, struct sim_spec *s)
{
	const struct spec_line *l = spec_line(f, "core.default_op");
	int rc = read_op_name(f, s, l, &s->default_op);
	unsigned index = 0;
	l = spec_line(f, "cache.global.l1.shared_with");
	if (rc == 0 && l) {
		rc = spec_word(f, l, "none shared", l->value, l->key, &index);
		s->l1_shares_shared = rc == 0 && index == 1;
	}
	l = spec_line(f, "cache.readonly.l1.shared_with");
	if (rc == 0 && l) {
		rc = spec_word(f, l, "global.l1 texture.l1", l->value, l->key, &index);
		s->readonly_by_texture = rc == 0 && index == 1;
	}
	l = spec_line(f, "cache.local.l1.shared_with");
	if (rc == 0 && l) {
		rc = spec_word(f, l, "global.l1 global.l2", l->value, l->key, &index);
		s->local_past_l1 = rc == 0 && index == 1;
	}
	l = spec_line(f, "cache.constant.backing");
	if (rc == 0 && l) {
		rc = spec_word(f, l, "memory global.l2", l->value, l->key, &index);
		s->constant_uses_l2 = rc == 0 && index == 1;
	}
	return rc;
}

static int read_offsets(const struct spec_file *f, struct sim_spec *s)
{
	s->cluster_offset = ARENA_ARRAY(f->a, s->cluster_count, double);
	if (!s->cluster_offset)
		return err_nomem(f->e);
	const struct spec_line *l = spec_line(f, "network.cluster_offset");
	return l ? spec_numbers(f, l, s->cluster_offset, s->cluster_count, "the GPU has", "clusters") : 0;
}

static int read_splits(const struct spec_file *f, struct sim_spec *s)
{
	const struct spec_line *l = spec_line(f, "shared.splits");
	if (!l)
		return 0;
	const char *list = l->value;
	char item[48];
	uint64_t last = 0;
	while (spec_item(&list, item, sizeof item)) {
		double v;
		int rc = spec_number(f, l, item, &v);
		if (rc)
			return rc;
		if (s->shared_splits == SPEC_SPLITS || v <= (double)last)
			return spec_fail(f, l->line, "'%s' has at most %d sizes, each larger than the last", l->key,
					 SPEC_SPLITS);
		s->shared_split[s->shared_splits++] = last = (uint64_t)v;
	}
	if (last != s->shared_per_sm || s->shared_splits < 2)
		return spec_fail(f, l->line, "'%s' ends with 'shared.size', and has another size before it", l->key);
	if (s->l1_shares_shared)
		return spec_fail(f, l->line,
				 "'%s' are chosen, so what the L1 has does not depend on the shared memory of blocks: "
				 "leave out 'cache.global.l1.shared_with'",
				 l->key);
	return 0;
}

/* Every number from 0 on once. */
static int read_numbers(const struct spec_file *f, struct sim_spec *s)
{
	const struct spec_line *l = spec_line(f, "topology.sm_numbers");
	if (!l)
		return 0;
	uint32_t *number = ARENA_ARRAY(f->a, s->sm_count, uint32_t);
	bool *taken = ARENA_ARRAY(f->a, s->sm_count, bool);
	if (!number || !taken)
		return err_nomem(f->e);
	const char *list = l->value;
	char item[48];
	uint32_t n = 0;
	while (spec_item(&list, item, sizeof item)) {
		double v;
		if (n == s->sm_count)
			return spec_fail(f, l->line, "'%s' has more values than the GPU has SMs, %u", l->key,
					 s->sm_count);
		int rc = spec_number(f, l, item, &v);
		if (rc)
			return rc;
		if (v >= s->sm_count || v != floor(v) || taken[(uint32_t)v])
			return spec_fail(f, l->line, "'%s' has %s, but every number from 0 to %u stands there once",
					 l->key, item, s->sm_count - 1);
		taken[(uint32_t)v] = true;
		number[n++] = (uint32_t)v;
	}
	if (n != s->sm_count)
		return spec_fail(f, l->line, "'%s' has %u values for %u SMs", l->key, n, s->sm_count);
	s->sm_number = number;
	return 0;
}

static int read_all(const struct spec_file *f, struct sim_spec *s)
{
	int rc = spec_read_pipes(f, s);
	if (rc == 0)
		rc = read_scalars(f, s);
	if (rc == 0 && s->sm_count % s->sm_per_cluster)
		rc = spec_fail(f, spec_line_number(f, "device.sm_count"),
			       "'device.sm_count' is %u, no multiple of 'topology.sm_per_cluster', %u", s->sm_count,
			       s->sm_per_cluster);
	if (rc == 0)
		s->cluster_count = s->sm_count / s->sm_per_cluster;
	if (rc == 0)
		rc = read_numbers(f, s);
	if (rc == 0)
		rc = spec_read_ops(f, s);
	if (rc == 0)
		rc = read_clock(f, s);
	if (rc == 0)
		rc = read_path(f, s, &s->shared, "shared");
	if (rc == 0)
		rc = read_path(f, s, &s->constant, "constant");
	if (rc == 0)
		rc = read_path(f, s, &s->global, "global");
	s->has_texture = spec_has_texture(f);
	if (rc == 0 && s->has_texture)
		rc = read_path(f, s, &s->texture, "texture");
	if (rc == 0)
		rc = spec_read_texture(f, s);
	if (rc == 0)
		rc = spec_read_tlbs(f, s);
	if (rc == 0)
		rc = spec_read_fetch(f, s);
	if (rc == 0)
		rc = read_choices(f, s);
	if (rc == 0)
		rc = spec_read_atomics(f, s);
	if (rc == 0)
		rc = spec_read_float(f, s);
	if (rc == 0)
		rc = read_offsets(f, s);
	if (rc == 0)
		rc = read_splits(f, s);
	if (rc == 0)
		rc = spec_split_l1(f, s);
	return rc ? rc : spec_check(f, s);
}

int spec_parse(struct sim_spec **out, struct arena *a, const char *file, const char *text, size_t size, struct err *e)
{
	struct spec_file f = {.a = a, .e = e, .name = file};
	struct sim_spec *s = ARENA_NEW(a, struct sim_spec);
	if (!s)
		return err_nomem(e);
	snprintf(s->file, sizeof s->file, "%s", file);
	const struct embedded *base;
	int rc = spec_lines(&f, text, size, &base);
	s->hash = hash64(text, size, 0);
	if (base)
		s->hash = hash64(base->data, base->size, s->hash);
	if (rc == 0)
		rc = read_all(&f, s);
	if (rc == 0)
		*out = s;
	return rc;
}

int spec_open(struct sim_spec **out, struct arena *a, const char *name_or_path, struct err *e)
{
	static const struct embed_kind kind = {"gpus/", ".gpu", "simulated GPU", "GPU description", FILE_BYTES};
	struct embed_text t;
	int rc = embed_open(&t, &kind, a, name_or_path, e);
	return rc ? rc : spec_parse(out, a, t.path, t.data, t.size, e);
}
