/* Writes a run file whose findings are what a simulated GPU's description says: a prediction from it errs only by its model.
 *
 * Usage: truth_run GPU FILE.fathom */
#include "data/keys.h"
#include "gpu/gpu.h"
#include "gpu/sim/spec.h"
#include "store/store.h"
#include <stdio.h>
#include <string.h>

static int add(void *ctx, const struct truth *t)
{
	struct finding f = {.verdict = t->absent ? VERDICT_ABSENT : VERDICT_MEASURED};
	if (strcmp(t->key, "memory.global.scattered_loads") == 0)
		return 0; /* a description has an end of it only */
	snprintf(f.key, sizeof f.key, "%s", t->key);
	snprintf(f.method, sizeof f.method, "the description");
	snprintf(f.because, sizeof f.because, "the description says so");
	snprintf(f.probe, sizeof f.probe, "truth");
	f.lo = f.hi = t->number;
	if (t->text) {
		f.value.kind = VALUE_TEXT;
		snprintf(f.value.text, sizeof f.value.text, "%s", t->text);
	} else if (t->array || t->absent) {
		if (!t->absent)
			return 0; /* lists are not asked for */
	} else {
		f.value.kind = VALUE_NUMBER;
		f.value.number = t->number;
	}
	return findings_add(ctx, &f);
}

int main(int argc, char **argv)
{
	struct arena a;
	struct err e = {0};
	struct sim_spec *s;
	struct gpu *g;
	struct run r;
	struct store *store;
	if (argc != 3) {
		fprintf(stderr, "usage: truth_run GPU FILE.fathom\n");
		return 2;
	}
	arena_init(&a);
	remove(argv[2]);
	int rc = run_init(&r);
	if (!rc)
		rc = spec_open(&s, &a, argv[1], &e);
	if (!rc)
		rc = gpu_sim.open(&g, argv[1], 1, &e);
	if (!rc) {
		r.device = *g->ops->info(g);
		g->ops->close(g);
		snprintf(r.started, sizeof r.started, "2026-01-01T00:00:00Z");
		snprintf(r.fathom, sizeof r.fathom, "truth");
		rc = spec_truth(s, add, &r.findings);
	}
	if (!rc)
		rc = store_create(&store, argv[2], &r, &e);
	if (!rc) {
		rc = store_findings(store, &r, &e);
		store_close(store);
	}
	if (rc)
		fprintf(stderr, "truth_run: %s\n", e.text);
	run_free(&r);
	arena_free(&a);
	return rc ? 1 : 0;
}
