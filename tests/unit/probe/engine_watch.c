#include "engine_watch.h"
#include "base/arena.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static void on_begin(void *ctx, const struct engine_at *at)
{
	assert_non_null(at->probe);
	struct watch *w = ctx;
	assert_true(at->index < at->total);
	w->begun++;
	snprintf(w->order + strlen(w->order), sizeof(w->order) - strlen(w->order), "%s ", at->probe->name);
}

static void on_progress(void *ctx, const struct engine_at *at)
{
	assert_true(at->index < at->total);
	assert_true(at->points_done > 0 && at->points_done <= at->points_wished);
	assert_true(at->seconds >= 0);
	((struct watch *)ctx)->progressed++;
}

static void on_end(void *ctx, const struct engine_at *at, const struct probe_record *r)
{
	struct watch *w = ctx;

	assert_string_equal(at->probe->name, r->name);
	assert_true(at->index < at->total);
	snprintf(w->ends + strlen(w->ends), sizeof(w->ends) - strlen(w->ends), "%s ", at->probe->name);
	w->ended++;
	assert_true(w->committed >= w->ended); /* what is told to be done is stored */
}

static int on_commit(void *ctx, struct run *r, const char *probe, struct err *e)
{
	struct watch *w = ctx;

	assert_non_null(run_probe(r, probe));
	w->committed++;
	return w->commit_rc ? err_set(e, w->commit_rc, "no room") : 0;
}

static bool on_stop(void *ctx)
{
	struct watch *w = ctx;

	return w->stop_after && w->progressed >= w->stop_after;
}

int measure(struct run *r, struct null_gpu *g, const char *const *names, size_t n, struct watch *w, struct err *e)
{
	const struct engine_events ev = {w, on_begin, on_progress, on_end, on_commit, on_stop};
	struct engine_plan plan;
	int rc = engine_plan(&plan, names, n, e);

	if (rc)
		return rc;
	rc = engine_measure(r, &g->gpu, &plan, &ev, e);
	mem_free(plan.probes);
	return rc;
}

void expect_same(const struct finding_list *a, const struct finding_list *b)
{
	assert_int_equal(a->count, b->count);
	for (size_t i = 0; i < a->count; i++) {
		const struct finding *x = &a->items[i], *y = &b->items[i];
		assert_string_equal(x->key, y->key);
		assert_int_equal(x->verdict, y->verdict);
		assert_memory_equal(&x->value, &y->value, sizeof(x->value));
		assert_true(x->lo == y->lo || (isnan(x->lo) && isnan(y->lo)));
		assert_true(x->hi == y->hi || (isnan(x->hi) && isnan(y->hi)));
		assert_string_equal(x->because, y->because);
		assert_string_equal(x->method, y->method);
		assert_string_equal(x->probe, y->probe);
	}
}
