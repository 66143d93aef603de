/* Paths that use one cache see one shape: what one of them leaves open is what the other one found. */
#include "base/str.h"
#include "probe/gates.h"
#include "probe/study.h"
#include <stdio.h>
#include <string.h>

static struct finding *find(struct finding_list *l, const char *cache, const char *what)
{
	char key[96];

	snprintf(key, sizeof(key), "cache.%.60s.%s", cache, what);
	return gates_find(l, key);
}

static void take(struct finding *own, const struct finding *other, const char *whose)
{
	char why[sizeof(own->because)];

	if (!own || !other || own->verdict != VERDICT_INCONCLUSIVE || other->verdict != VERDICT_MEASURED ||
	    other->value.kind != VALUE_NUMBER)
		return;
	snprintf(why, sizeof(why), "found for %s, which is the same cache; by itself: %.200s", whose, own->because);
	own->verdict = VERDICT_LIKELY;
	own->value = other->value;
	own->lo = other->lo;
	own->hi = other->hi;
	snprintf(own->because, sizeof(own->because), "%s", why);
	snprintf(own->method, sizeof(own->method), "of the same cache by another path");
	snprintf(own->scope, sizeof(own->scope), "%s", other->scope);
}

void same_cache_estimate(struct finding_list *l)
{
	static const char *const what[] = {"size", "line", "sector", "ways", "sets"};
	static const char before[] = "cache.", behind[] = ".shared_with";

	for (size_t i = 0; i < l->count; i++) {
		const struct finding *with = &l->items[i];
		char own[64];
		if (with->verdict != VERDICT_MEASURED || with->value.kind != VALUE_TEXT ||
		    !str_starts(with->key, before) || !str_ends(with->key, behind))
			continue;
		snprintf(own, sizeof(own), "%.*s", (int)(strlen(with->key) - strlen(before) - strlen(behind)),
			 with->key + strlen(before));
		const char *other = with->value.text;
		for (size_t k = 0; k < sizeof(what) / sizeof(what[0]); k++) {
			struct finding *a = find(l, own, what[k]), *b = find(l, other, what[k]);
			take(a, b, other);
			take(b, a, own);
		}
	}
}
