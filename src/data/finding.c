#include "data/finding.h"
#include "base/arena.h"
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static const char *const names[] = {
    [VERDICT_MEASURED] = "MEASURED",
    [VERDICT_LIKELY] = "LIKELY",
    [VERDICT_BOUND] = "BOUND",
    [VERDICT_ABSENT] = "ABSENT",
    [VERDICT_INCONCLUSIVE] = "INCONCLUSIVE",
    [VERDICT_UNSUPPORTED] = "UNSUPPORTED",
    [VERDICT_FAILED] = "FAILED",
};
#define COUNT (sizeof(names) / sizeof(names[0]))

const char *verdict_name(enum verdict v)
{
	return (size_t)v < COUNT ? names[v] : "?";
}

int verdict_parse(const char *name, enum verdict *v)
{
	for (size_t i = 0; i < COUNT; i++) {
		if (strcmp(name, names[i]) == 0) {
			*v = (enum verdict)i;
			return 0;
		}
	}
	return -EINVAL;
}

bool finding_estimated(const struct finding *f)
{
	return f->verdict == VERDICT_MEASURED || f->verdict == VERDICT_LIKELY;
}

bool finding_answered(const struct finding *f)
{
	return finding_estimated(f) || f->verdict == VERDICT_BOUND || f->verdict == VERDICT_ABSENT;
}

void findings_free(struct finding_list *l)
{
	mem_free(l->items);
	*l = (struct finding_list){0};
}

/* The key's place, or count if it is not there. Run files hold findings in order: loading many must not take the square
 * of their number. */
static size_t position(const struct finding_list *l, const char *key)
{
	size_t low = 0, high = l->sorted < l->count ? l->sorted : l->count, i = high;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;
		const int order = strcmp(l->items[middle].key, key);
		if (order == 0)
			return middle;
		*(order < 0 ? &low : &high) = order < 0 ? middle + 1 : middle;
	}
	while (i < l->count && strcmp(l->items[i].key, key) != 0)
		i++;
	return i;
}

int findings_add(struct finding_list *l, const struct finding *f)
{
	size_t i = position(l, f->key);

	if (i == l->cap) {
		size_t cap = l->cap ? l->cap * 2 : 64;
		if (cap > PTRDIFF_MAX / sizeof(*l->items))
			return -ENOMEM;
		struct finding *items = mem_grow(l->items, cap * sizeof(*items));
		if (!items)
			return -ENOMEM;
		l->items = items;
		l->cap = cap;
	}
	if (i == l->count) {
		l->sorted = l->sorted < i ? l->sorted : i;
		l->sorted += l->sorted == i && (i == 0 || strcmp(l->items[i - 1].key, f->key) < 0);
		l->count++;
	}
	l->items[i] = *f;
	return 0;
}

const struct finding *findings_get(const struct finding_list *l, const char *key)
{
	size_t i = position(l, key);

	return i < l->count ? &l->items[i] : NULL;
}

void findings_forget(struct finding_list *l, const char *probe)
{
	size_t kept = 0, sorted = 0;

	for (size_t i = 0; i < l->count; i++) {
		if (strcmp(l->items[i].probe, probe) == 0)
			continue;
		sorted += i < l->sorted;
		l->items[kept++] = l->items[i];
	}
	l->count = kept;
	l->sorted = sorted;
}

static int by_key(const void *a, const void *b)
{
	return strcmp(((const struct finding *)a)->key, ((const struct finding *)b)->key);
}

void findings_sort(struct finding_list *l)
{
	if (l->count)
		qsort(l->items, l->count, sizeof(*l->items), by_key);
	l->sorted = l->count;
}
