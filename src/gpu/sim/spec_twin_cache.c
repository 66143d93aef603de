/* The twin's caches and translations. A .gpu file's levels have a whole geometry, and each is larger and slower than the one above. */
#include "base/str.h"
#include "data/run_compare.h"
#include "gpu/sim/spec_twin_lines.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

#define COUNT_OF(a) (sizeof(a) / sizeof *(a))
#define LEVELS	    4
#define WAYS_MOST   128
#define KEY_BYTES   96

struct level {
	double size, line, sector, ways, sets, latency;
	bool present, unequal;
	unsigned scope; /* of scopes[] */
};
static const char *const scopes[] = {"sm", "cluster", "gpu"};

static const struct finding *of(const struct twin *t, const char *stem, const char *what)
{
	return twin_found(t, "%s.%s", stem, what);
}

static bool number_of(const struct twin *t, const char *stem, const char *what, double *v)
{
	char key[KEY_BYTES];
	snprintf(key, sizeof(key), "%s.%s", stem, what);
	return twin_number(&t->r->findings, key, v);
}

static void put(struct twin *t, const char *stem, const char *what, double v, const char *unit, const char *why)
{
	char key[KEY_BYTES];
	const struct finding *f = of(t, stem, what);
	snprintf(key, sizeof(key), "%s.%s", stem, what);
	const bool same = f && f->value.kind == VALUE_NUMBER && f->value.number == v;
	twin_put(t, key, v, unit, same ? f : NULL, same ? NULL : why);
}

static double power_of_two(double v)
{
	return v >= 1 ? exp2(floor(log2(v) + 1e-9)) : 1;
}

/* Unequal sets of so many entries together. */
static bool unequal_sets(const struct twin *t, const char *stem, double entries)
{
	const struct finding *f = of(t, stem, "set_sizes");
	double sum = 0, most = 0;
	if (!f || f->value.kind != VALUE_ARRAY || f->value.array_count < 2)
		return false;
	for (unsigned i = 0; i < f->value.array_count; i++) {
		sum += f->value.array[i];
		most = fmax(most, f->value.array[i]);
		if (!(f->value.array[i] >= 1) || f->value.array[i] != floor(f->value.array[i]))
			return false;
	}
	return most <= WAYS_MOST && sum == entries;
}

/* Ways and sets whose product is the size: what was found of them where it fits, else a few ways. */
static void geometry(const struct twin *t, const char *stem, struct level *v)
{
	double ways = 0, sets = 0;
	v->size = fmax(floor(v->size / v->line), 1) * v->line;
	const double lines = v->size / v->line;
	number_of(t, stem, "ways", &ways);
	number_of(t, stem, "sets", &sets);
	v->unequal = unequal_sets(t, stem, lines);
	if (v->unequal)
		return;
	if (!(ways >= 1 && ways <= WAYS_MOST && fmod(lines, ways) == 0))
		ways = sets >= 1 && fmod(lines, sets) == 0 && lines / sets <= WAYS_MOST ? lines / sets : 0;
	for (double n = 16; ways < 1 && n >= 1; n--)
		if (fmod(lines, n) == 0)
			ways = n;
	v->ways = ways;
	v->sets = lines / ways;
}

/* How much more lines of the far half of the last cache take. Two latencies of lines are those of its halves. 0: no
 * halves were seen. */
double twin_far_extra(const struct twin *t)
{
	const struct finding *f = of(t, "cache.global.l2", "latency_classes");
	if (!f)
		f = of(t, "atomic.add", "latency_classes");
	if (!f || f->value.kind != VALUE_ARRAY || f->value.array_count != 2 || !of(t, "cache.global.l2", "size"))
		return 0;
	const double more = fabs(f->value.array[1] - f->value.array[0]);
	return f->value.array[0] > 0 && more > COMPARE_CYCLES ? more : 0;
}

static void shape(const struct twin *t, const char *stem, const struct level *up, struct level *v)
{
	v->size = up ? up->size * 4 : 16384;
	number_of(t, stem, "size", &v->size);
	if (up && !(v->size > up->size))
		v->size = up->size * 2;
	v->line = up ? up->line : 64;
	number_of(t, stem, "line", &v->line);
	v->line = fmin(fmax(power_of_two(v->line), up ? up->sector : 4), 65536);
	v->sector = v->line;
	number_of(t, stem, "sector", &v->sector);
	v->sector = fmin(fmax(power_of_two(v->sector), 4), v->line);
	if (v->size < v->line)
		v->size = v->line;
	geometry(t, stem, v);
	if (up && !(v->size > up->size)) {
		v->size = up->size * 2;
		geometry(t, stem, v);
	}
	v->latency = up ? up->latency * 2 + 10 : str_starts(stem, "cache.instruction.") ? 0 : 30;
	if (number_of(t, stem, "latency", &v->latency) && strcmp(stem, "cache.global.l2") == 0)
		v->latency -= twin_far_extra(t) / 2;
	if (up && !(v->latency > up->latency))
		v->latency = up->latency + 1;
}

static void policy(struct twin *t, const char *stem, const struct level *v)
{
	char key[KEY_BYTES];
	const struct finding *f = of(t, stem, "policy"), *p = of(t, stem, "replacement_probability");
	const bool two = power_of_two(v->ways) == v->ways && !v->unequal;
	snprintf(key, sizeof(key), "%s.policy", stem);
	if (f && strcmp(f->value.text, "weighted") == 0 && p && p->value.array_count == v->ways && !v->unequal) {
		struct str list;
		double sum = 0;
		twin_line(t, key, "weighted", "name", f, NULL);
		str_init(&list);
		for (unsigned i = 0; i < p->value.array_count; i++)
			sum += p->value.array[i];
		for (unsigned i = 0; i < p->value.array_count; i++)
			str_addf(&list, "%s%.9f", i ? ", " : "", p->value.array[i] / sum);
		snprintf(key, sizeof(key), "%s.replacement_probability", stem);
		twin_line(t, key, str_text(&list), "ratio", p, NULL);
		t->failed |= list.failed;
		str_free(&list);
		return;
	}
	const struct finding *s = of(t, stem, "schedule");
	if (f && strcmp(f->value.text, "schedule") == 0 && s && s->value.kind == VALUE_TEXT && !v->unequal) {
		twin_line(t, key, "schedule", "name", f, NULL);
		snprintf(key, sizeof(key), "%s.schedule", stem);
		twin_line(t, key, s->value.text, "count", s, NULL);
		snprintf(key, sizeof(key), "%s.schedule_step", stem);
		twin_word(t, key, "access miss", "", "");
		return;
	}
	twin_word(t, key, two ? "lru fifo random plru nru" : "lru fifo random nru", "lru",
		  "not known, or one that needs what is not");
}

static void set_sizes(struct twin *t, const char *stem)
{
	char key[KEY_BYTES];
	const struct finding *f = of(t, stem, "set_sizes");
	struct str list;
	str_init(&list);
	for (unsigned i = 0; i < f->value.array_count; i++)
		str_addf(&list, "%s%.0f", i ? ", " : "", f->value.array[i]);
	snprintf(key, sizeof(key), "%s.set_sizes", stem);
	twin_line(t, key, str_text(&list), "count", f, NULL);
	t->failed |= list.failed;
	str_free(&list);
}

/* How addresses choose sets. Of what is laid out for two dimensions nothing says how large its tiles are. */
static void mapping(struct twin *t, const char *stem, const struct level *v)
{
	char key[KEY_BYTES];
	const struct finding *f = of(t, stem, "mapping");
	if (v->unequal || power_of_two(v->sets) != v->sets)
		return;
	if (f && strcmp(f->value.text, "tiled2d") == 0) {
		snprintf(key, sizeof(key), "%s.set_bits_from", stem);
		twin_put(t, key, log2(v->line) + 2, "count", NULL, "its sets are of tiles, here of four lines");
		return;
	}
	snprintf(key, sizeof(key), "%s.mapping", stem);
	twin_word(t, key, "modulo hash", "", "");
}

/* What is one cache is described alike: what stands of another level's replacement and of the places of its lines holds here too. */
static void lines_of_same(struct twin *t, const char *stem, const char *same)
{
	static const char *const what[] = {
	    "policy",  "replacement_probability", "schedule",  "schedule_step", "set_sizes",
	    "mapping", "set_bits_from",		  "partitions"};
	char key[KEY_BYTES];
	for (size_t i = 0; i < COUNT_OF(what); i++) {
		snprintf(key, sizeof(key), "cache.%s.%s", same, what[i]);
		const struct twin_line *l = twin_has(t, key);
		if (!l || !l->choice[l->chosen].text)
			continue;
		const struct twin_choice as = l->choice[l->chosen];
		snprintf(key, sizeof(key), "%s.%s", stem, what[i]);
		twin_line(t, key, as.text, as.unit, NULL, "as of the cache that it is");
	}
}

/* same: the level of another path that this one is, as in "global.l2"; NULL: it is its own. */
static void level_lines(struct twin *t, const char *path, const char *stem, const struct level *v, const char *same)
{
	char key[KEY_BYTES];
	put(t, stem, "size", v->size, "bytes", "as far as the run says, in whole sets");
	put(t, stem, "line", v->line, "bytes", "as the level above, or usual");
	if (v->sector < v->line)
		put(t, stem, "sector", v->sector, "bytes", "as far as the run says");
	if (!v->unequal)
		put(t, stem, "ways", v->ways, "count", "what divides the size");
	else if (!same)
		set_sizes(t, stem);
	if (same) {
		lines_of_same(t, stem, same);
	} else {
		policy(t, stem, v);
		mapping(t, stem, v);
	}
	snprintf(key, sizeof(key), "%s.scope", stem);
	const struct finding *f = of(t, stem, "scope");
	const bool said = f && strcmp(f->value.text, scopes[v->scope]) == 0;
	twin_line(t, key, scopes[v->scope], "name", said ? f : NULL, said ? NULL : "usual");
	snprintf(key, sizeof(key), "%s.latency", stem);
	const double far = strcmp(stem, "cache.global.l2") == 0 ? twin_far_extra(t) : 0;
	if (far > 0) {
		snprintf(key, sizeof(key), "%s.partitions", stem);
		twin_derive(t, key, 2, "count", "two latencies of lines");
		snprintf(key, sizeof(key), "%s.far_extra", stem);
		twin_derive(t, key, far, "cycles", "what the second of them takes more");
		snprintf(key, sizeof(key), "%s.latency", stem);
	}
	/* What code in the first level costs is part of every latency that was measured. */
	if (v->latency == 0)
		twin_derive(t, key, 0, "cycles", "part of the operations' latencies");
	else
		put(t, stem, "latency", v->latency, "cycles",
		    far > 0 ? "of a near line; the mean is of both halves" : "longer than the level above");
	/* All SMs together draw less than each alone: the level has a port. */
	double one;
	f = of(t, stem, "bandwidth_total");
	snprintf(key, sizeof(key), "%s.bandwidth", stem);
	if (f && f->value.number > 0 && v->scope == 2 && number_of(t, stem, "bandwidth", &one) &&
	    one * t->r->device.sm_count > 1.05 * f->value.number)
		twin_derive(t, key, f->value.number, "bytes/clk", "bandwidth_total");
	if (strcmp(path, "global") == 0 && str_ends(stem, ".l1"))
		for (unsigned i = 0; i < 2; i++) {
			snprintf(key, sizeof(key), "%s.%s", stem, i ? "fill_cost" : "miss_cost");
			if (twin_found(t, "%s", key))
				twin_take(t, key, "cycles", 0, "");
		}
}

/* Whether something was found of the level, if only an end of its size. */
static bool there(const struct twin *t, const char *stem)
{
	double v;
	return number_of(t, stem, "size", &v) || number_of(t, stem, "latency", &v) || number_of(t, stem, "line", &v);
}

static unsigned scope_of(const struct twin *t, const char *path, const char *stem, const struct level *up, unsigned k)
{
	const struct finding *f = of(t, stem, "scope");
	if (strcmp(path, "global") == 0)
		return k == 0 ? 0 : 2;
	for (unsigned i = 0; f && i < COUNT_OF(scopes); i++)
		if (strcmp(f->value.text, scopes[i]) == 0 && (!up || up->scope <= i))
			return i;
	return up ? up->scope : 0;
}

/* The level of another path that is the very same cache; NULL: none that is described. */
static const struct level *same_as(const struct twin *t, const char *stem, struct level constant[LEVELS],
				   struct level global[LEVELS], const char **name)
{
	const struct finding *f = of(t, stem, "shared_with");
	unsigned n;
	if (!f || f->value.kind != VALUE_TEXT)
		return NULL;
	*name = f->value.text;
	if (strcmp(f->value.text, "global.l2") == 0)
		return global[1].present ? &global[1] : NULL;
	if (sscanf(f->value.text, "constant.l%u", &n) == 1 && n >= 1 && n <= LEVELS &&
	    strlen(f->value.text) == strlen("constant.l1"))
		return constant[n - 1].present ? &constant[n - 1] : NULL;
	return NULL;
}

/* A path's levels: what was found of each, until there is one of which nothing was. Returns the last. */
static const struct level *path_levels(struct twin *t, const char *path, struct level v[LEVELS],
				       struct level constant[LEVELS], struct level global[LEVELS])
{
	char stem[40], key[KEY_BYTES];
	const struct level *up = NULL;
	const bool two = strcmp(path, "global") == 0, fetch = strcmp(path, "instruction") == 0;
	unsigned count = 0;
	bool last_is_l2 = false;
	for (unsigned k = 0; k < (two ? 2 : LEVELS); k++) {
		const char *name = NULL;
		snprintf(stem, sizeof(stem), "cache.%s.l%u", path, k + 1);
		/* A fetch from a level whose size nobody knows would cost what it did not. */
		if (!two && (!there(t, stem) || (fetch && !of(t, stem, "size"))))
			break;
		if (!there(t, stem))
			continue;
		const struct level *same = constant && (fetch || strcmp(path, "texture") == 0)
					       ? same_as(t, stem, constant, global, &name)
					       : NULL;
		if (same && !fetch && same != &global[1])
			same = NULL;
		shape(t, stem, up, &v[k]);
		v[k].scope = scope_of(t, path, stem, up, k);
		if (same) {
			const double latency = v[k].latency;
			v[k] = *same;
			v[k].latency = latency;
			snprintf(key, sizeof(key), "%s.shared_with", stem);
			twin_line(t, key, name, "name", twin_found(t, "%s", key), NULL);
		}
		v[k].present = true;
		level_lines(t, path, stem, &v[k], same ? name : NULL);
		up = &v[k];
		count++;
		last_is_l2 = global && same == &global[1];
		if (last_is_l2)
			break;
	}
	snprintf(key, sizeof(key), "cache.%s.levels", path);
	twin_put(t, key, count, "count", twin_found(t, "%s", key), "those of which something was found");
	snprintf(stem, sizeof(stem), "memory.%s", path);
	double latency = up ? up->latency * 2 + 10 : 400, memory, l2;
	/* Behind the common L2 the way to the memory is common, too. */
	if (last_is_l2 && number_of(t, "memory.global", "latency", &memory) &&
	    number_of(t, "cache.global.l2", "latency", &l2))
		latency = up->latency + memory - l2;
	number_of(t, stem, "latency", &latency);
	if (!fetch || count)
		put(t, stem, "latency", up && !(latency > up->latency) ? up->latency + 1 : latency, "cycles",
		    "slower than the last cache");
	return up;
}

/* ---- translation ---- */

static void translation(struct twin *t, const char *path)
{
	char stem[40], key[KEY_BYTES];
	double reach = 0;
	unsigned count = 0;
	for (unsigned k = 0; k < 2; k++) {
		double line, entries, ways, cost = 0, all;
		snprintf(stem, sizeof(stem), "tlb.%s.l%u", path, k + 1);
		if (!number_of(t, stem, "line", &line) || !of(t, stem, "line") ||
		    !number_of(t, stem, "entries", &entries) || !of(t, stem, "entries") || !(entries * line > reach))
			break;
		ways = entries <= WAYS_MOST ? entries : 4;
		const bool unequal = unequal_sets(t, stem, entries);
		if (number_of(t, stem, "ways", &all) && all >= 1 && all <= WAYS_MOST && fmod(entries, all) == 0)
			ways = all;
		if ((!unequal && fmod(entries, ways) != 0) || line < 256 || line > 1073741824 ||
		    power_of_two(line) != line)
			break;
		put(t, stem, "line", line, "bytes", "");
		if (unequal) {
			set_sizes(t, stem);
		} else {
			put(t, stem, "entries", entries, "count", "");
			put(t, stem, "ways", ways, "count", "what divides the entries");
		}
		snprintf(key, sizeof(key), "%s.policy", stem);
		twin_word(t, key,
			  !unequal && power_of_two(ways) == ways ? "lru fifo random plru nru" : "lru fifo random nru",
			  "", "");
		snprintf(key, sizeof(key), "%s.scope", stem);
		twin_line(t, key, "sm", "name", NULL, "not known");
		if (number_of(t, stem, "latency", &cost) || k)
			put(t, stem, "latency", fmax(cost, k ? 1 : 0), "cycles", "longer than the level above");
		if (count == 0 && !twin_has(t, "tlb.page_size")) {
			double page = line;
			number_of(t, "tlb", "page_size", &page);
			put(t, "tlb", "page_size", fmin(power_of_two(page), line), "bytes", "what an entry covers");
		}
		reach = entries * line;
		count++;
	}
	snprintf(key, sizeof(key), "tlb.%s.levels", path);
	if (!count)
		return;
	twin_put(t, key, count, "count", twin_found(t, "%s", key), "those whose entries were found");
	snprintf(stem, sizeof(stem), "tlb.%s", path);
	double miss = 50;
	number_of(t, stem, "miss_latency", &miss);
	put(t, stem, "miss_latency", miss, "cycles", "not known");
}

/* Textures ask the TLBs of global memory where those that were found look alike, else their own. */
static void texture_translation(struct twin *t)
{
	static const char *const parts[] = {"l1.entries", "l1.line", "l2.entries", "l2.line"};
	const bool global = twin_has(t, "tlb.global.levels"), found = twin_found(t, "tlb.texture.levels");
	bool alike = global && found;
	for (size_t i = 0; i < COUNT_OF(parts); i++) {
		const struct finding *g = of(t, "tlb.global", parts[i]), *x = of(t, "tlb.texture", parts[i]);
		alike = alike && (!g || !x || compare_findings(g, x) != COMPARE_CONTRADICT);
	}
	if (alike)
		twin_line(t, "tlb.texture.shared_with", "global", "name", NULL, "its TLBs look like those of textures");
	else if (found)
		translation(t, "texture");
}

static bool alike(const struct twin *t, const char *a, const char *b)
{
	const struct finding *x = twin_found(t, "%s", a), *y = twin_found(t, "%s", b);
	return x && y && compare_findings(x, y) != COMPARE_CONTRADICT;
}

/* Whether textures ask the L2 first, and wait for it and for memory as loads do. Nothing then says that they have a way
 * of their own. */
static bool way_of_loads(const struct twin *t)
{
	const struct finding *f = of(t, "cache.texture.l1", "shared_with");
	return f && strcmp(f->value.text, "global.l2") == 0 &&
	       alike(t, "cache.texture.l1.latency", "cache.global.l2.latency") &&
	       alike(t, "memory.texture.latency", "memory.global.latency");
}

/* A warp's read takes the pipe once for each row of texels that it wants. Rates thus say what one row takes at the
 * most. */
static void texture_issue(struct twin *t)
{
	static const struct {
		const char *name;
		unsigned rows;
	} reads[] = {{"f32_2d", 1}, {"f32_3d", 1}, {"f32_2d_linear", 2}, {"f32_3d_linear", 4}};
	double least = INFINITY, warp = 32, rate;
	char key[KEY_BYTES];
	twin_number(&t->r->findings, "device.warp_size", &warp);
	for (size_t i = 0; i < COUNT_OF(reads); i++) {
		snprintf(key, sizeof(key), "texture.%s.rate", reads[i].name);
		if (twin_number(&t->r->findings, key, &rate) && rate > 0)
			least = fmin(least, warp / rate / reads[i].rows);
	}
	if (isfinite(least))
		twin_derive(t, "load.texture.issue", fmax(least, 0.25), "cycles",
			    "a warp over the rates of texture reads");
	else
		twin_put(t, "load.texture.issue", 4, "cycles", NULL, "not known");
	twin_line(t, "load.texture.unit", "mem", "name", NULL, "one load/store pipe");
}

void twin_caches(struct twin *t)
{
	struct level constant[LEVELS] = {{0}}, global[LEVELS] = {{0}}, fetch[LEVELS] = {{0}}, texture[LEVELS] = {{0}};
	const bool textures = !way_of_loads(t) && (there(t, "cache.texture.l1") || of(t, "memory.texture", "latency"));
	path_levels(t, "constant", constant, NULL, NULL);
	path_levels(t, "global", global, NULL, NULL);
	if (path_levels(t, "instruction", fetch, constant, global)) {
		double block = fetch[0].sector;
		number_of(t, "cache.instruction", "fetch_bytes", &block);
		put(t, "cache.instruction", "fetch_bytes", fmin(power_of_two(block), fetch[0].sector), "bytes",
		    "a line");
		twin_put(t, "native.bytes", t->r->device.cc >= 70 ? 16 : 8, "bytes", NULL,
			 "usual for the compute capability");
	}
	if (textures) {
		path_levels(t, "texture", texture, constant, global);
		texture_issue(t);
	}
	if (textures && texture[0].present)
		twin_word(t, "cache.readonly.l1.shared_with", "global.l1 texture.l1", "", "");
	if (global[0].present && global[1].present)
		twin_word(t, "cache.local.l1.shared_with", "global.l1 global.l2", "", "");
	translation(t, "global");
	if (textures)
		texture_translation(t);
}
