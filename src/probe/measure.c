#include "base/arena.h"
#include "probe/batch.h"
#include "probe/engine.h"
#include "probe/order.h"
#include "probe/study.h"
#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

/* Of one probe: a study that wants more never ends. */
#define POINTS_MAX 20000
#define PASSES_MAX 1000

static bool must_stop(const struct engine_events *ev)
{
	return ev && ev->stop && ev->stop(ev->ctx);
}

/* A probe that is taken up again tries once more what failed for reasons outside of the GPU. */
static void drop_failures(struct run *r, const struct probe *p)
{
	for (size_t i = 0; i < r->series_count; i++) {
		struct series *s = &r->series[i];
		size_t kept = 0;
		if (strcmp(s->probe, p->name) != 0)
			continue;
		for (size_t k = 0; k < s->count; k++) {
			if (s->points[k].outcome != OUTCOME_CRASH && s->points[k].outcome != OUTCOME_TIMEOUT)
				s->points[kept++] = s->points[k];
		}
		s->count = kept;
	}
}

static size_t points_of(struct run *r, const struct probe *p)
{
	size_t n = 0;

	for (size_t i = 0; i < r->series_count; i++)
		n += strcmp(r->series[i].probe, p->name) == 0 ? r->series[i].count : 0;
	return n;
}

/* Pass after pass until the study wishes nothing more. -ECANCELED: the probe failed. */
static int pursue(struct batch *b, struct order *o, struct study *s, struct err *e)
{
	size_t before = points_of(b->run, b->probe);

	for (unsigned pass = 0; pass < PASSES_MAX; pass++) {
		if (study_pass(s))
			return err_nomem(e);
		if (!s->wish_count)
			return 0;
		order_foresee(o, s);
		if (before + s->wish_count > POINTS_MAX)
			return err_set(e, -ECANCELED, "the study does not end: it has %zu points and asks for %zu more",
				       before, s->wish_count);
		int rc = batch_measure(b, e);
		if (rc)
			return rc;
		size_t after = points_of(b->run, b->probe);
		if (after == before)
			return err_set(e, -ECANCELED, "none of %zu points could be measured", s->wish_count);
		before = after;
	}
	return err_set(e, -ECANCELED, "the study does not end: it asks for more after %u passes and %zu points",
		       PASSES_MAX, before);
}

/* The first need that was not measured, or NULL. */
static const char *missing_need(struct run *r, const struct probe *p)
{
	for (size_t i = 0; p->needs && p->needs[i]; i++) {
		bool done = false;
		for (size_t k = 0; k < r->probe_count; k++)
			done |= strcmp(r->probes[k].name, p->needs[i]) == 0 && r->probes[k].state == PROBE_DONE;
		if (!done)
			return p->needs[i];
	}
	return NULL;
}

static void set_state(struct probe_record *rec, enum probe_state state, const char *message)
{
	rec->state = state;
	snprintf(rec->message, sizeof(rec->message), "%.255s", message);
}

static int one(struct batch *b, struct order *o, struct probe_record *rec, struct err *e)
{
	const char *need = missing_need(b->run, b->probe);
	struct study s;
	struct err why = {0};
	char text[256];
	size_t concluded = 0;

	snprintf(text, sizeof(text), "probes/%s", b->probe->name);
	const bool mute = strcmp(b->run->device.dialect, "cl") == 0 && !kernel_has_text(text, "cl");
	if (mute || need) {
		if (mute)
			snprintf(text, sizeof(text), "its kernels have no OpenCL text");
		else
			snprintf(text, sizeof(text), "it needs the probe %s, which was not measured", need);
		set_state(rec, PROBE_SKIPPED, text);
		return study_decline(b->run, b->probe, VERDICT_UNSUPPORTED, text) ? err_nomem(e) : 0;
	}
	drop_failures(b->run, b->probe);
	int rc = study_open(&s, b->run, b->probe, STUDY_MEASURE, e);
	if (rc)
		return rc;
	s.foresees = b->gpu->ops->expect != NULL;
	b->study = &s;
	rc = pursue(b, o, &s, &why);
	if (rc == 0) {
		rc = study_publish(&s, &concluded) ? err_nomem(&why) : 0;
		if (!rc && concluded)
			set_state(rec, PROBE_DONE, "");
		else if (!rc)
			rc = err_set(&why, -ECANCELED, "the study concluded nothing");
	}
	study_close(&s);
	b->study = NULL;
	if (rc == -EINTR || rc == -ENODEV) {
		set_state(rec, PROBE_INTERRUPTED,
			  rc == -EINTR ? "stopped before it was done" : "the device was gone before it was done");
		study_forget(b->run, b->probe->name);
	} else if (rc == -ECANCELED) {
		set_state(rec, PROBE_FAILED, why.text);
		return study_decline(b->run, b->probe, VERDICT_FAILED, rec->message) ? err_nomem(e) : 0;
	}
	return rc ? err_set(e, rc, "%s", why.text) : 0;
}

/* A file is one device's: taking it up on another one would mix two. */
static int same_device(struct run *r, struct gpu *g, struct err *e)
{
	const struct device_info *d = g->ops->info(g);

	if (!r->device.name[0])
		r->device = *d;
	if (strcmp(r->device.uuid, d->uuid) != 0 || strcmp(r->device.name, d->name) != 0)
		return err_set(e, -EINVAL, "the run was measured on %s (%s), this device is %s (%s)", r->device.name,
			       r->device.uuid, d->name, d->uuid);
	return 0;
}

/* One probe of the plan, with what it took. */
static int measure_probe(struct batch *b, struct order *o, size_t index, struct probe_record *rec, struct err *e)
{
	const struct engine_events *ev = b->events;
	const double seconds = rec->seconds;

	if (ev && ev->probe_begin)
		ev->probe_begin(ev->ctx, b->probe, (unsigned)o->ended, (unsigned)o->plan->count);
	int rc = one(b, o, rec, e);
	order_end(o, index);
	rec->seconds = seconds + engine_now() - b->began;
	rec->compile_seconds += b->compile_seconds;
	rec->launch_seconds += b->launch_seconds;
	rec->kernels += b->compiled;
	rec->launches += b->launches;
	return rc;
}

int engine_measure(struct run *r, struct gpu *g, const struct engine_plan *plan, const struct engine_events *ev,
		   struct err *e)
{
	struct kernel_cache kernels = {0};
	struct order order;
	const double began = engine_now(), earlier = r->seconds;
	int rc = same_device(r, g, e);
	const struct run *recording = g->ops->recording ? g->ops->recording(g) : NULL;

	if (rc)
		return rc;
	if (recording)
		r->seed = recording->seed;
	/* records of the whole plan first, so that a file says from the beginning what is still to come */
	for (size_t i = 0; i < plan->count; i++) {
		if (!run_probe(r, plan->probes[i]->name))
			return err_nomem(e);
	}
	if (order_open(&order, r, g, &kernels, plan))
		return err_nomem(e);
	rc = engine_conclude(r, plan, e);
	while (!rc && order.ended < plan->count) {
		if (must_stop(ev)) {
			rc = err_set(e, -EINTR, "stopped");
			break;
		}
		const size_t i = order_next(&order);
		const struct probe *p = plan->probes[i];
		struct probe_record *rec = run_probe(r, p->name);
		struct batch b = {.run = r,
				  .gpu = g,
				  .probe = p,
				  .events = ev,
				  .kernels = &kernels,
				  .recording = recording,
				  .began = engine_now()};
		rc = measure_probe(&b, &order, i, rec, e);
		r->seconds = earlier + engine_now() - began;
		if (rc && rc != -EINTR && rc != -ENODEV)
			break;
		if (ev && ev->probe_end)
			ev->probe_end(ev->ctx, p, rec);
		if (ev && ev->commit) {
			int stored = ev->commit(ev->ctx, r, p->name, e);
			rc = stored < 0 ? stored : rc;
		}
	}
	order_close(&order);
	kernels_free(&kernels);
	r->seconds = earlier + engine_now() - began;
	if (!rc || rc == -EINTR || rc == -ENODEV) {
		findings_sort(&r->findings);
		if (gates_apply(&r->findings))
			rc = err_nomem(e);
	}
	return rc;
}
