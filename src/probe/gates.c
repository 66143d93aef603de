/* Consistency gates: what all findings together must satisfy. A gate that fails makes the findings it involves
 * INCONCLUSIVE and names the conflict, because it cannot tell which of them is wrong. */
#include "probe/gates.h"
#include "probe/study.h"
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const char *const paths[] = {"global", "texture", "constant", "instruction", "local", "readonly"};
static const char *const levels[] = {"l1", "l15", "l2", "l3", "l4"};
#define PATHS  (sizeof(paths) / sizeof(paths[0]))
#define LEVELS (sizeof(levels) / sizeof(levels[0]))

struct finding *gates_find(struct finding_list *l, const char *key)
{
	for (size_t i = 0; i < l->count; i++) {
		if (strcmp(l->items[i].key, key) == 0)
			return &l->items[i];
	}
	return NULL;
}

static struct finding *of_level(struct finding_list *l, const char *path, const char *level, const char *what)
{

	return gates_find(l, KEY("cache.%s.%s.%s", path, level, what));
}

bool gates_number(const struct finding *f, double *value)
{
	if (!f || f->verdict != VERDICT_MEASURED || f->value.kind != VALUE_NUMBER)
		return false;
	*value = f->value.number;
	return true;
}

double gates_at_least(const struct finding *f)
{
	double v;

	if (gates_number(f, &v))
		return v;
	return f && f->verdict == VERDICT_BOUND ? f->lo : -INFINITY;
}

double gates_at_most(const struct finding *f)
{
	double v;

	if (gates_number(f, &v))
		return v;
	return f && f->verdict == VERDICT_BOUND ? f->hi : INFINITY;
}

void gates_fail(struct gates *g, struct finding *const *f, size_t n, const char *fmt, ...)
{
	va_list ap;
	char text[320];

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	for (size_t i = 0; i < n; i++) {
		char *to = g->conflict[f[i] - g->list->items];
		if (!to[0]) /* the first conflict is reason enough */
			memcpy(to, text, sizeof(text));
	}
}

void gates_fail_of(struct gates *g, const char *stem, const char *const *what, size_t n, const char *why)
{

	for (size_t i = 0; i < n; i++) {
		struct finding *f = gates_find(g->list, KEY("%s%s", stem, what[i]));
		if (f && f->verdict <= VERDICT_ABSENT)
			gates_fail(g, &f, 1, "%s", why);
	}
}

static double sum(const struct value *v)
{
	double total = 0;

	for (unsigned i = 0; i < v->array_count; i++)
		total += v->array[i];
	return total;
}

/* size = sets x ways x line, or the sum of unequal sets x line; a line is whole sectors. */
static void level_geometry(struct gates *g, const char *path, const char *level)
{
	struct finding_list *l = g->list;
	struct finding *size = of_level(l, path, level, "size"), *line = of_level(l, path, level, "line"),
		       *ways = of_level(l, path, level, "ways"), *sets = of_level(l, path, level, "sets"),
		       *sector = of_level(l, path, level, "sector"), *unequal = of_level(l, path, level, "set_sizes");
	double s, b, w, n, c;

	if (gates_number(size, &s) && gates_number(line, &b) && gates_number(ways, &w) && gates_number(sets, &n) &&
	    s != n * w * b)
		gates_fail(g, (struct finding *[]){size, line, ways, sets}, 4,
			   "%s %s: %.6g sets x %.6g ways x %.6g bytes a line is not the size of %.10g bytes", path,
			   level, n, w, b, s);
	if (gates_number(size, &s) && gates_number(line, &b) && unequal && unequal->verdict == VERDICT_MEASURED &&
	    unequal->value.kind == VALUE_ARRAY && s != sum(&unequal->value) * b)
		gates_fail(g, (struct finding *[]){size, line, unequal}, 3,
			   "%s %s: sets of %.6g lines together, %.6g bytes each, are not the size of %.10g bytes", path,
			   level, sum(&unequal->value), b, s);
	if (gates_number(size, &s) && gates_number(line, &b) && (b <= 0 || fmod(s, b) != 0))
		gates_fail(g, (struct finding *[]){size, line}, 2,
			   "%s %s: %.10g bytes are not whole lines of %.6g bytes", path, level, s, b);
	if (gates_number(line, &b) && gates_number(sector, &c) && (c <= 0 || fmod(b, c) != 0))
		gates_fail(g, (struct finding *[]){line, sector}, 2,
			   "%s %s: a line of %.6g bytes is not whole sectors of %.6g bytes", path, level, b, c);
}

/* Loads marked read-only and local memory trace, by themselves, the cache that they ask. A cache that another path has,
 * too, has one shape. */
static void path_shared(struct gates *g, const char *path, const char *whose)
{
	static const char *const what[] = {"size", "line", "sector", "ways", "sets"};
	struct finding *with = of_level(g->list, path, "l1", "shared_with");

	if (!with || with->verdict != VERDICT_MEASURED || with->value.kind != VALUE_TEXT)
		return;
	for (size_t i = 0; i < sizeof(what) / sizeof(what[0]); i++) {
		struct finding *own = of_level(g->list, path, "l1", what[i]),
			       *other = gates_find(g->list, KEY("cache.%.40s.%s", with->value.text, what[i]));
		if (own && other &&
		    (gates_at_least(own) > gates_at_most(other) || gates_at_least(other) > gates_at_most(own)))
			gates_fail(g, (struct finding *[]){own, other, with}, 3,
				   "the cache of %s is said to be %s. Its %s is %.10g to %.10g in one trace and %.10g "
				   "to %.10g in the other",
				   whose, with->value.text, what[i], gates_at_least(own), gates_at_most(own),
				   gates_at_least(other), gates_at_most(other));
	}
}

/* A level that was shown not to exist has no properties. */
static void level_exists(struct gates *g, const char *path, const char *level)
{
	static const char *const what[] = {"line",    "sector",		 "ways",      "sets",
					   "latency", "latency_classes", "partitions"};
	struct finding *size = of_level(g->list, path, level, "size");

	if (!size || size->verdict != VERDICT_ABSENT)
		return;
	for (size_t i = 0; i < sizeof(what) / sizeof(what[0]); i++) {
		struct finding *f = of_level(g->list, path, level, what[i]);
		if (f && f->verdict == VERDICT_MEASURED)
			gates_fail(g, (struct finding *[]){size, f}, 2,
				   "%s %s was shown not to exist, but its %s was measured", path, level, what[i]);
	}
}

/* A size that was found in two ways. */
static void level_copied(struct gates *g, const char *path, const char *level)
{
	struct finding *size = of_level(g->list, path, level, "size"),
		       *copied = of_level(g->list, path, level, "copy_size");

	if (!size || !copied || copied->verdict != VERDICT_MEASURED)
		return;
	if (size->verdict == VERDICT_ABSENT || gates_at_least(size) > copied->hi || gates_at_most(size) < copied->lo)
		gates_fail(
		    g, (struct finding *[]){size, copied}, 2,
		    "%s %s: a traversal and a copy do not find one size: %.10g bytes at least and %.10g at most, and "
		    "%.10g to %.10g",
		    path, level, gates_at_least(size), gates_at_most(size), copied->lo, copied->hi);
}

/* Latency inside what its own classes span. */
static void level_classes(struct gates *g, const char *path, const char *level)
{
	struct finding *latency = of_level(g->list, path, level, "latency"),
		       *classes = of_level(g->list, path, level, "latency_classes");
	double t;

	if (!gates_number(latency, &t) || !classes || classes->verdict != VERDICT_MEASURED ||
	    classes->value.kind != VALUE_ARRAY || !classes->value.array_count)
		return;
	double lo = classes->value.array[0], hi = lo;
	for (unsigned i = 1; i < classes->value.array_count; i++) {
		lo = fmin(lo, classes->value.array[i]);
		hi = fmax(hi, classes->value.array[i]);
	}
	/* both are rounded measurements of their own: a cycle apart is no conflict */
	if (t < lo - 1 || t > hi + 1)
		gates_fail(g, (struct finding *[]){latency, classes}, 2,
			   "%s %s: a latency of %.6g cycles is outside of its own classes, %.6g to %.6g", path, level,
			   t, lo, hi);
}

/* What was found on the way to a size that others contradict is no better than that size. */
static void fail_shape(struct gates *g, const char *path, const char *level)
{
	static const char *const shape[] = {"line", "ways", "sets", "set_sizes", "mapping", "policy", "lru"};
	char stem[64], why[120];
	snprintf(stem, sizeof(stem), "cache.%s.%s.", path, level);
	snprintf(why, sizeof(why), "the size of %s %s is in doubt: a level is not larger than one above it", path,
		 level);
	gates_fail_of(g, stem, shape, sizeof(shape) / sizeof(shape[0]), why);
}

/* Each level is larger and slower than every one above it, and memory is slower than all. */
static void path_order(struct gates *g, const char *path)
{

	struct finding *memory = gates_find(g->list, KEY("memory.%s.latency", path));
	for (size_t i = 0; i < LEVELS; i++) {
		struct finding *size = of_level(g->list, path, levels[i], "size"),
			       *latency = of_level(g->list, path, levels[i], "latency");
		double a, b;
		for (size_t k = i + 1; k < LEVELS; k++) {
			struct finding *lower = of_level(g->list, path, levels[k], "size"),
				       *slower = of_level(g->list, path, levels[k], "latency");
			if (gates_at_most(lower) <= gates_at_least(size)) {
				gates_fail(g, (struct finding *[]){size, lower}, 2,
					   "%s %s of at most %.10g bytes is not larger than %s of at least %.10g bytes",
					   path, levels[k], gates_at_most(lower), levels[i], gates_at_least(size));
				fail_shape(g, path, levels[i]);
				fail_shape(g, path, levels[k]);
			}
			if (gates_number(latency, &a) && gates_number(slower, &b) && b <= a)
				gates_fail(g, (struct finding *[]){latency, slower}, 2,
					   "%s %s with %.6g cycles is not slower than %s with %.6g cycles", path,
					   levels[k], b, levels[i], a);
		}
		if (gates_number(latency, &a) && gates_number(memory, &b) && b <= a)
			gates_fail(g, (struct finding *[]){latency, memory}, 2,
				   "%s memory with %.6g cycles is not slower than %s with %.6g cycles", path, b,
				   levels[i], a);
	}
}

/* As many levels as were counted. */
static void path_count(struct gates *g, const char *path)
{
	struct finding *seen[LEVELS + 1];
	size_t n = 1;
	double count;

	seen[0] = gates_find(g->list, KEY("cache.%s.levels", path));
	if (!gates_number(seen[0], &count))
		return;
	for (size_t i = 0; i < LEVELS; i++) {
		struct finding *size = of_level(g->list, path, levels[i], "size"),
			       *latency = of_level(g->list, path, levels[i], "latency");
		double v;
		if (gates_number(size, &v))
			seen[n++] = size;
		else if (gates_number(latency, &v))
			seen[n++] = latency;
	}
	if ((double)(n - 1) > count)
		gates_fail(g, seen, n, "%s: %zu levels were measured, but %.6g counted", path, n - 1, count);
}

/* NULL when the finding keeps the promise of its verdict. */
static const char *malformed(const struct finding *f)
{
	const struct value *v = &f->value;

	if (f->verdict != VERDICT_MEASURED && !f->because[0])
		return "no reason was given";
	if (f->verdict == VERDICT_BOUND) {
		if (isfinite(f->lo) == isfinite(f->hi) || isnan(f->lo) || isnan(f->hi))
			return "a bound needs one known and one open end";
		if (v->kind == VALUE_NUMBER && !(v->number >= f->lo && v->number <= f->hi))
			return "the value is outside of its own bound";
	}
	if (!finding_estimated(f))
		return NULL;
	switch (v->kind) {
	case VALUE_NONE:
		return "there is no value";
	case VALUE_NUMBER:
		if (!isfinite(v->number) || !isfinite(f->lo) || !isfinite(f->hi))
			return "the value or its interval is not finite";
		if (v->number < f->lo || v->number > f->hi)
			return "the value is outside of its own interval";
		break;
	case VALUE_TEXT:
		if (!v->text[0])
			return "the value is empty";
		if (strcmp(f->unit, "yes/no") == 0 && strcmp(v->text, "yes") != 0 && strcmp(v->text, "no") != 0)
			return "the value is neither yes nor no";
		break;
	case VALUE_ARRAY:
		if (v->array_count == 0 || v->array_count > VALUE_ARRAY_MAX)
			return "the list of values is empty or too long";
		for (unsigned i = 0; i < v->array_count; i++) {
			if (!isfinite(v->array[i]))
				return "a value of the list is not finite";
		}
		break;
	}
	return NULL;
}

static void demote(struct finding *f, const char *conflict)
{
	char because[sizeof(f->because)];

	snprintf(because, sizeof(because), "consistency: %.300s", conflict);
	memcpy(f->because, because, sizeof(because));
	f->verdict = VERDICT_INCONCLUSIVE;
	f->value = (struct value){0};
	f->lo = f->hi = NAN;
}

/* Every gate over all findings. What fails has a conflict afterwards. */
static void look(struct gates *g)
{
	for (size_t p = 0; p < PATHS; p++) {
		for (size_t k = 0; k < LEVELS; k++) {
			level_geometry(g, paths[p], levels[k]);
			level_exists(g, paths[p], levels[k]);
			level_copied(g, paths[p], levels[k]);
			level_classes(g, paths[p], levels[k]);
		}
		path_order(g, paths[p]);
		path_count(g, paths[p]);
	}
	path_shared(g, "readonly", "loads marked read-only");
	path_shared(g, "local", "local memory");
	gates_ways(g);
}

/* What a gate is against falls when it has looked at everything. */
static void demote_all(struct gates *g, void (*gate)(struct gates *))
{
	for (size_t i = 0; i < g->list->count; i++)
		g->conflict[i][0] = '\0';
	gate(g);
	for (size_t i = 0; i < g->list->count; i++) {
		if (g->conflict[i][0])
			demote(&g->list->items[i], g->conflict[i]);
	}
}

/* What is only likely accuses nothing that was measured, so the gates look a second time, as if estimates were measured, and only
 * estimates fall. */
static int look_at_likely(struct gates *g)
{
	struct finding_list *l = g->list;
	bool *likely = mem_zero(l->count, sizeof(*likely)), any = false;

	if (!likely)
		return -ENOMEM;
	for (size_t i = 0; i < l->count; i++) {
		likely[i] = l->items[i].verdict == VERDICT_LIKELY;
		any |= likely[i];
		g->conflict[i][0] = '\0';
		if (likely[i])
			l->items[i].verdict = VERDICT_MEASURED;
	}
	if (any)
		look(g);
	for (size_t i = 0; i < l->count; i++) {
		if (likely[i])
			l->items[i].verdict = VERDICT_LIKELY;
		if (likely[i] && g->conflict[i][0])
			demote(&l->items[i], g->conflict[i]);
	}
	mem_free(likely);
	return 0;
}

int gates_apply(struct finding_list *l)
{
	struct gates g = {.list = l,
			  .conflict = mem_zero(l->count, sizeof(*g.conflict)),
			  .before = mem_zero(l->count, sizeof(*g.before))};
	int code = g.conflict && g.before ? 0 : -ENOMEM;

	/* What is malformed says nothing, so it must not accuse others either. */
	for (size_t i = 0; !code && i < l->count; i++) {
		struct finding *f = &l->items[i];
		const char *problem = malformed(f);
		if (problem)
			demote(f, problem);
		g.before[i] = finding_estimated(f) || f->verdict == VERDICT_BOUND ? f->lo : NAN;
	}
	if (!code) {
		demote_all(&g, look);
		code = look_at_likely(&g);
		demote_all(&g, gates_told);
		demote_all(&g, gates_clock);
	}
	mem_free(g.conflict);
	mem_free(g.before);
	return code;
}
