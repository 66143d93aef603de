/* Two methods for one key. The L1 of the GTX 560 Ti is not lru, so averages (Wong 2010) say other ways than single accesses (Mei 2014):
 * the finding has to say so, and stays what single accesses made of it. The toy's caches are lru, and nothing is said of them. */
#include "base/embed.h"
#include "known.h"
#include <stdio.h>
#include <string.h>

static int check(const char *name, bool differ)
{
	char path[64];
	struct arena a;
	struct err e = {0};
	struct sim_spec *s;
	struct run r = {0};

	snprintf(path, sizeof path, "gpus/%s.gpu", name);
	const struct embedded *m = embed_find(path);
	arena_init(&a);
	int rc = spec_parse(&s, &a, path, m->data, m->size, &e);
	if (rc == 0) {
		rc = known_measure_probe(&r, s, 1, "global_cache", &e);
		const struct finding *f = rc ? NULL : findings_get(&r.findings, "cache.global.l1.ways");
		if (rc)
			printf("%s: %s\n", name, e.text);
		else if (!f || f->verdict != VERDICT_MEASURED)
			rc = printf("%s: the ways are not MEASURED\n", name);
		else if ((strstr(f->because, "averages") != NULL) != differ)
			rc = printf("%s: %s, but %s\n", name, differ ? "averages differ" : "averages say the same",
				    f->because);
		run_free(&r);
	}
	arena_free(&a);
	return rc != 0;
}

int main(void)
{
	return check("toy", false) | check("gtx560ti", true);
}
