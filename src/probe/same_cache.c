/* Paths that use one cache see one shape: what one of them leaves open is what the other one found. */
#include "base/str.h"
#include "probe/gates.h"
#include "probe/study.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

static struct finding *find(struct finding_list *l, const char *cache, const char *what)
{
	return gates_find(l, KEY("cache.%.60s.%s", cache, what));
}

/* A bound leaves open what it does not exclude. */
static bool is_open(const struct finding *own, const struct finding *other)
{
	return own->verdict == VERDICT_INCONCLUSIVE ||
	       (own->verdict == VERDICT_BOUND && other->value.kind == VALUE_NUMBER &&
		!(other->value.number < own->lo) && !(other->value.number > own->hi));
}

/* False: there was nothing to take. */
static bool take(struct finding *own, const struct finding *other, const char *whose)
{
	char why[sizeof(own->because)];

	if (!own || !other || !is_open(own, other) || !finding_estimated(other) || other->value.kind == VALUE_ARRAY)
		return false;
	snprintf(why, sizeof(why), "found for %s, which is the same cache; by itself: %.200s", whose, own->because);
	own->verdict = VERDICT_LIKELY;
	own->value = other->value;
	own->lo = other->lo;
	own->hi = other->hi;
	snprintf(own->because, sizeof(own->because), "%s", why);
	snprintf(own->method, sizeof(own->method), "of the same cache by another path");
	snprintf(own->scope, sizeof(own->scope), "%s", other->scope);
	own->notes |= other->notes & NOTE_LENT;
	return true;
}

/* The path and the level of "global.l2". False: it is no such name. */
static bool split(const char *cache, char *path, size_t n, unsigned *level)
{
	const char *dot = strrchr(cache, '.');

	if (!dot || sscanf(dot, ".l%u", level) != 1)
		return false;
	snprintf(path, n, "%.*s", (int)(dot - cache), cache);
	return true;
}

/* What answers behind a cache answers on either path: the path that overflows it tells the other one how many levels there are. */
static void take_levels(struct finding_list *l, const char *cache, const char *whose)
{
	char path[48], other[48];
	unsigned level, there;

	if (!split(cache, path, sizeof(path), &level) || !split(whose, other, sizeof(other), &there))
		return;
	const struct finding *told = find(l, other, "levels");
	struct finding *own = find(l, path, "levels");
	if (!told || !own || own->verdict != VERDICT_BOUND || own->lo != level || !finding_estimated(told) ||
	    told->value.kind != VALUE_NUMBER || !(told->value.number >= there))
		return;
	const double levels = level + told->value.number - there;
	char why[sizeof(own->because)];
	snprintf(why, sizeof(why), "level %u is %s, of which %.0f levels are known there; by itself: %.180s", level,
		 whose, told->value.number, own->because);
	own->verdict = VERDICT_LIKELY;
	own->value = told->value;
	own->value.number = own->lo = own->hi = levels;
	snprintf(own->because, sizeof(own->because), "%s", why);
	snprintf(own->method, sizeof(own->method), "of the same cache by another path");
}

/* Whether it is the last level of its path. */
static bool is_last(struct finding_list *l, const char *path, unsigned level)
{
	const struct finding *levels = find(l, path, "levels");
	return levels && finding_estimated(levels) && levels->value.number == level;
}

/* The memory behind a cache answers whichever path misses it: as much later than a hit. */
static void take_memory(struct finding_list *l, const char *cache, const char *whose)
{
	char path[48], other[48];
	unsigned level, there;

	if (!split(cache, path, sizeof(path), &level) || !split(whose, other, sizeof(other), &there) ||
	    !is_last(l, path, level) || !is_last(l, other, there))
		return;
	struct finding *own = gates_find(l, KEY("memory.%s.latency", path));
	const struct finding *told = gates_find(l, KEY("memory.%s.latency", other)), *hit = find(l, cache, "latency"),
			     *its = find(l, whose, "latency");
	if (!own || own->verdict != VERDICT_BOUND || !told || !hit || !its || !finding_estimated(told) ||
	    !finding_estimated(hit) || !finding_estimated(its))
		return;
	const double more = hit->value.number - its->value.number, value = told->value.number + more;
	char why[sizeof(own->because)];
	if (own->lo > value)
		return;
	snprintf(why, sizeof(why), "as much later than a hit of %s as by that path; by itself: %.200s", whose,
		 own->because);
	own->verdict = VERDICT_LIKELY;
	own->value = told->value;
	own->value.number = value;
	own->lo = fmax(own->lo, told->lo + more);
	own->hi = told->hi + more;
	snprintf(own->because, sizeof(own->because), "%s", why);
	snprintf(own->method, sizeof(own->method), "of the same cache by another path");
	snprintf(own->scope, sizeof(own->scope), "%s", told->scope);
}

/* The name of a cache, "readonly.l1", of which `with` says that another path uses it. False: it says no such thing. */
static bool shares(const struct finding *with, char *own, size_t n)
{
	static const char before[] = "cache.", behind[] = ".shared_with";

	if (with->verdict != VERDICT_MEASURED || with->value.kind != VALUE_TEXT || !str_starts(with->key, before) ||
	    !str_ends(with->key, behind))
		return false;
	snprintf(own, n, "%.*s", (int)(strlen(with->key) - strlen(before) - strlen(behind)),
		 with->key + strlen(before));
	return true;
}

/* Says of all paths to one cache what one of them found, however many pairs lie between. With `lent`, it says only what
 * shared memory took a part of. */
static void spread(struct finding_list *l, const char *const *what, size_t n, bool lent)
{
	bool more;

	do {
		more = false;
		for (size_t i = 0; i < l->count; i++) {
			char cache[2][64];
			if (!shares(&l->items[i], cache[0], sizeof(cache[0])))
				continue;
			snprintf(cache[1], sizeof(cache[1]), "%.60s", l->items[i].value.text);
			for (size_t k = 0; k < 2 * n; k++) {
				struct finding *own = find(l, cache[k % 2], what[k / 2]);
				const struct finding *other = find(l, cache[1 - k % 2], what[k / 2]);
				if (!lent || (own && own->verdict == VERDICT_INCONCLUSIVE && other &&
					      (other->notes & NOTE_LENT)))
					more |= take(own, other, cache[1 - k % 2]);
			}
		}
	} while (more);
}

void same_cache_lent(struct finding_list *l)
{
	static const char *const what[] = {"size", "ways"};

	spread(l, what, sizeof(what) / sizeof(what[0]), true);
}

void same_cache_estimate(struct finding_list *l)
{
	static const char *const what[] = {"size", "line", "sector", "ways", "sets", "mapping", "policy", "scope"};

	spread(l, what, sizeof(what) / sizeof(what[0]), false);
	for (size_t i = 0; i < l->count; i++) {
		const struct finding *with = &l->items[i];
		char own[64];
		if (!shares(with, own, sizeof(own)))
			continue;
		const char *other = with->value.text;
		take_levels(l, own, other);
		take_levels(l, other, own);
		take_memory(l, own, other);
		take_memory(l, other, own);
	}
}
