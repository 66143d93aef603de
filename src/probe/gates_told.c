/* Who tells that a level is there: a number of a level is none while nobody does. One table serves all paths. */
#include "probe/gates.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

#define LEVEL_MOST 9 /* keys name levels by one digit */

/* Levels of a path have a common stem and one digit; the teller counts them, or is what only a level that is there has. */
static const struct teller {
	const char *stem, *by;
	const char *held; /* of a level that is counted: how much it holds. NULL: nothing is counted */
} tellers[] = {
    {"cache.constant.", "levels", "size"},    {"cache.global.", "levels", "size"},
    {"cache.instruction.", "levels", "size"}, {"cache.texture.", "levels", "size"},
    {"cache.local.", "l1.size", NULL},	      {"cache.readonly.", "l1.size", NULL},
    {"tlb.global.", "levels", "reach"},	      {"tlb.texture.", "levels", "reach"},
};

/* The level that a key is of, from 1; 0: of none. */
static unsigned level_of(const struct teller *t, const char *key)
{
	const size_t n = strlen(t->stem);
	if (strncmp(key, t->stem, n) != 0 || key[n] != 'l' || key[n + 1] < '1' || key[n + 1] > '0' + LEVEL_MOST)
		return 0;
	return strchr(key + n, '.') ? (unsigned)(key[n + 1] - '0') : 0;
}

/* A count that other gates took back leaves those of its levels against which none has anything: at least so many are there. */
static void recount(const struct gates *g, const struct teller *t, struct finding *by)
{
	const double most = g->before[by - g->list->items];
	unsigned n = 0;
	for (bool stands = true; stands && n < most; n += stands) {
		const struct finding *f = gates_find(g->list, KEY("%sl%u.%s", t->stem, n + 1, t->held));
		stands = f && (finding_estimated(f) || f->verdict == VERDICT_BOUND);
	}
	if (!n)
		return;
	by->verdict = VERDICT_BOUND;
	by->value = (struct value){.kind = VALUE_NUMBER, .number = n};
	by->lo = n;
	by->hi = INFINITY;
}

/* So many levels are there for certain. */
static double least_told(const struct gates *g, const struct teller *t, struct finding *by)
{
	if (!t->held) /* a size in doubt is one of something */
		return !isnan(g->before[by - g->list->items]);
	if (by->verdict == VERDICT_INCONCLUSIVE && g->before[by - g->list->items] > 0)
		recount(g, t, by);
	return (finding_estimated(by) || by->verdict == VERDICT_BOUND) && isfinite(by->lo) ? by->lo : 0;
}

static bool is_number_of_level(const struct finding *f)
{
	return finding_estimated(f) || f->verdict == VERDICT_BOUND;
}

/* Levels up to k, of which some number is known. */
static unsigned with_numbers(const struct gates *g, const struct teller *t, unsigned k)
{
	bool has[LEVEL_MOST + 1] = {false};
	unsigned n = 0;
	for (size_t i = 0; i < g->list->count; i++)
		if (is_number_of_level(&g->list->items[i]))
			has[level_of(t, g->list->items[i].key)] = true;
	for (unsigned i = 1; i <= k; i++)
		n += has[i];
	return n;
}

/* One cache of two paths is there if the other one tells it. */
static bool told_by_other(const struct gates *g, const struct teller *t)
{
	const struct finding *with = gates_find(g->list, KEY("%sl1.shared_with", t->stem));
	if (t->held || !with || with->verdict != VERDICT_MEASURED || with->value.kind != VALUE_TEXT)
		return false;
	const struct finding *other =
	    gates_find(g->list, KEY("cache.%.*s.levels", (int)strcspn(with->value.text, "."), with->value.text));
	return other && gates_at_least(other) >= 1;
}

static void tell(struct gates *g, const struct teller *t)
{
	char because[320];
	unsigned fallen[LEVEL_MOST + 1] = {0};
	struct finding *by = gates_find(g->list, KEY("%s%s", t->stem, t->by));
	/* A path that nobody asked has no levels that anything could contradict. */
	if (!by || told_by_other(g, t))
		return;
	const double least = least_told(g, t, by);
	for (unsigned k = 1; k <= LEVEL_MOST; k++)
		fallen[k] = with_numbers(g, t, k) > least;
	snprintf(because, sizeof because, "whether there is such a level was not told: %.240s", by->because);
	for (size_t i = 0; i < g->list->count; i++) {
		struct finding *f = &g->list->items[i];
		/* A miss in every level needs all of them. */
		const bool all = strcmp(f->key, KEY("%smiss_latency", t->stem)) == 0 && !finding_estimated(by);
		if (is_number_of_level(f) && (fallen[level_of(t, f->key)] || all))
			gates_fail(g, &f, 1, "%s", because);
	}
}

void gates_told(struct gates *g)
{
	for (size_t i = 0; i < sizeof tellers / sizeof *tellers; i++)
		tell(g, &tellers[i]);
}
