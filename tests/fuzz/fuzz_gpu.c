/* Any bytes as a .gpu file: it reads, or there is one sentence; what reads can be told and holds together. */
#include "gpu/sim/spec.h"
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int each(void *ctx, const struct truth *t)
{
	unsigned *count = ctx;
	++*count;
	if (!t->key[0] || isnan(t->number) || t->number == -INFINITY) /* what has no limit is infinite */
		abort();
	return 0;
}

static void check_path(const struct path_spec *p)
{
	uint32_t present = 0;
	for (uint32_t i = 0; i < CONST_LEVELS; i++) {
		const struct cache_spec *c = &p->level[i];
		if (!c->present)
			continue;
		present++;
		if (!c->sets || !c->ways || !c->line || !c->sector || c->line % c->sector ||
		    (uint64_t)c->sets * c->ways * c->line != c->size)
			abort();
	}
	if (present != p->levels)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct arena a;
	struct err e = {0};
	struct sim_spec *s = NULL;
	arena_init(&a);
	int rc = spec_parse(&s, &a, "input", (const char *)data, size, &e);
	if (rc && (e.code != rc || strncmp(e.text, "input:", 6) != 0))
		abort();
	if (rc == 0) {
		unsigned count = 0;
		check_path(&s->constant);
		check_path(&s->global);
		if (spec_truth(s, each, &count) || count < 10 || s->default_op < 0)
			abort();
	}
	arena_free(&a);
	return 0;
}
