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
#define AT_ONCE	   4  /* so many have something to think about while others' launches are waited for */
#define HEAVY_PART 16 /* of the memory: less than a backend keeps of what nobody uses at the moment */

static bool must_stop(const struct engine_events *ev)
{
	return ev && ev->stop && ev->stop(ev->ctx);
}

/* A probe that is taken up again tries once more what failed for reasons outside of the GPU. */
static void drop_failures(struct run *r, const struct probe *p)
{
	bool ran = false;

	for (size_t i = 0; i < r->series_count; i++)
		for (size_t k = 0; k < r->series[i].count && strcmp(r->series[i].probe, p->name) == 0; k++)
			ran |= r->series[i].points[k].outcome == OUTCOME_OK;
	for (size_t i = 0; i < r->series_count; i++) {
		struct series *s = &r->series[i];
		size_t kept = 0;
		if (strcmp(s->probe, p->name) != 0)
			continue;
		for (size_t k = 0; k < s->count; k++) {
			const enum outcome o = s->points[k].outcome;
			/* A device that refused everything may not have been well. */
			if (o != OUTCOME_CRASH && o != OUTCOME_TIMEOUT && (ran || o != OUTCOME_REFUSED))
				s->points[kept++] = s->points[k];
		}
		s->count = kept;
	}
}

static void set_state(struct probe_record *rec, enum probe_state state, const char *message)
{
	rec->state = state;
	snprintf(rec->message, sizeof(rec->message), "%.255s", message);
}

static size_t lost_points(const struct run *r, const char *probe)
{
	size_t n = 0;

	for (size_t i = 0; i < r->series_count; i++)
		for (size_t k = 0; k < r->series[i].count && strcmp(r->series[i].probe, probe) == 0; k++)
			n += r->series[i].points[k].outcome == OUTCOME_CRASH;
	return n;
}

static bool names_one_of(const char *const *names, const struct run *r, enum probe_state state)
{
	for (size_t i = 0; names && names[i]; i++)
		for (size_t k = 0; k < r->probe_count; k++)
			if (r->probes[k].state == state && strcmp(r->probes[k].name, names[i]) == 0)
				return true;
	return false;
}

static bool has_failed(const struct run *r, const char *probe)
{
	bool failed = lost_points(r, probe) > 0;

	for (size_t i = 0; i < r->findings.count && !failed; i++)
		failed =
		    r->findings.items[i].verdict == VERDICT_FAILED && strcmp(r->findings.items[i].probe, probe) == 0;
	return failed;
}

/* A probe of which points were lost is taken up again, and so is what may have concluded otherwise without them. A recording lost them for good. */
static void reopen(struct run *r, const struct engine_plan *plan)
{
	for (size_t i = 0; i < plan->count; i++) { /* needs come first */
		const struct probe *p = plan->probes[i];
		struct probe_record *rec = run_probe(r, p->name);
		if (rec && rec->state == PROBE_DONE &&
		    (has_failed(r, p->name) || names_one_of(p->needs, r, PROBE_INTERRUPTED) ||
		     names_one_of(p->helped, r, PROBE_INTERRUPTED)))
			set_state(rec, PROBE_INTERRUPTED, "points of it were lost before");
	}
}

static size_t points_of(struct run *r, const struct probe *p)
{
	size_t n = 0;

	for (size_t i = 0; i < r->series_count; i++)
		n += strcmp(r->series[i].probe, p->name) == 0 ? r->series[i].count : 0;
	return n;
}

/* What a probe that has begun does next. The device is free for one at a time, so others only think meanwhile. */
enum next {
	TO_THINK, /* say what it wishes, or conclude and end */
	TO_TELL,  /* tell the device of that */
	TO_WAIT,  /* launch when its kernels are compiled */
	TO_LAND,  /* take over what comes back */
};

/* A probe that has begun and not ended. */
struct going {
	struct batch b;
	struct study s;
	struct probe_record *rec;
	size_t index; /* in the plan */
	unsigned pass;
	size_t points; /* that it had after the last pass */
	enum next next;
};

/* All that engine_measure does is done by one probe at a time; those whose kernels are being compiled let others go on. */
struct engine {
	struct run *run;
	struct gpu *gpu;
	const struct engine_plan *plan;
	const struct engine_events *events;
	const struct run *recording;
	struct kernel_cache kernels;
	struct order order;
	struct going **
	    going; /* in the order of their turns: the eager ones, then the others, as they began; room for the whole plan */
	struct going *flies; /* the one whose launches are under way; NULL: the device is free */
	size_t count, eager;
	unsigned begun;
	bool ended; /* one has, and what waited for it has not begun */
};

/* The first need that was not measured, or NULL. *failed: because it failed. */
static const char *missing_need(struct run *r, const struct probe *p, bool *failed)
{
	*failed = false;
	for (size_t i = 0; p->needs && p->needs[i]; i++) {
		bool done = false;
		for (size_t k = 0; k < r->probe_count; k++) {
			if (strcmp(r->probes[k].name, p->needs[i]) != 0)
				continue;
			done = r->probes[k].state == PROBE_DONE;
			*failed = r->probes[k].state == PROBE_FAILED;
		}
		if (!done)
			return p->needs[i];
	}
	return NULL;
}

/* Whether it has to be left out: without text in the device's dialect, or without what it needs. *state is what becomes of it then. */
static bool must_skip(const struct engine *m, const struct probe *p, enum probe_state *state, char *why, size_t n)
{
	bool failed;
	const char *need = missing_need(m->run, p, &failed);
	char text[256];

	snprintf(text, sizeof(text), "probes/%s", p->name);
	*state = need && failed ? PROBE_FAILED : PROBE_SKIPPED;
	if (strcmp(m->run->device.dialect, "cl") == 0 && !kernel_has_text(text, "cl"))
		snprintf(why, n, "its kernels have no OpenCL text");
	else if (need)
		snprintf(why, n, "it needs the probe %s, which %s", need, failed ? "failed" : "was not measured");
	else
		return false;
	return true;
}

/* Ends it, whatever came of it, and stores that. rc: what the last step returned, or -EINTR or -ENODEV where it was another's. Returns what ends
 * the run: 0, -EINTR, -ENODEV, or another negative. */
static int finish(struct engine *m, struct going *g, int rc, struct err *why, struct err *e)
{
	const struct engine_events *ev = m->events;
	struct probe_record *rec = g->rec;

	batch_end(&g->b);
	study_close(&g->s);
	if (rc == -EINTR || rc == -ENODEV) {
		set_state(rec, PROBE_INTERRUPTED,
			  rc == -EINTR ? "stopped before it was done" : "the device was gone before it was done");
		findings_forget(&m->run->findings, rec->name);
	} else if (rc == -ECANCELED) {
		set_state(rec, PROBE_FAILED, why->text);
		rc = study_decline(m->run, g->b.at.probe, VERDICT_FAILED, rec->message) ? err_nomem(why) : 0;
	}
	if (rc)
		err_set(e, rc, "%s", why->text);
	order_end(&m->order, g->index);
	rec->seconds += g->b.at.seconds;
	rec->compile_seconds += g->b.compile_seconds;
	rec->launch_seconds += g->b.launch_seconds;
	rec->kernels += g->b.compiled;
	rec->launches += g->b.launches;
	if (rc && rc != -EINTR && rc != -ENODEV)
		return rc;
	/* What is told to be done is stored. */
	const int stored = ev && ev->commit ? ev->commit(ev->ctx, m->run, rec->name, e) : 0;
	if (stored < 0)
		return stored;
	if (ev && ev->probe_end)
		ev->probe_end(ev->ctx, &g->b.at, rec);
	return rc;
}

/* What the study concludes from all its points. */
static int conclude(struct going *g, struct err *e)
{
	size_t concluded = 0;

	if (study_publish(&g->s, &concluded))
		return err_nomem(e);
	if (!concluded)
		return err_set(e, -ECANCELED, "the study concluded nothing");
	const size_t lost = lost_points(g->s.run, g->rec->name);
	char text[64] = "";
	if (lost)
		snprintf(text, sizeof(text), "%zu of its points were lost", lost);
	set_state(g->rec, PROBE_DONE, text);
	return 0;
}

/* What the study wishes next. *over: nothing; it has concluded. Needs no device. */
static int think(struct engine *m, struct going *g, bool *over, struct err *e)
{
	struct study *s = &g->s;

	if (g->pass++ == PASSES_MAX)
		return err_set(e, -ECANCELED, "the study does not end: it asks for more after %u passes and %zu points",
			       PASSES_MAX, g->points);
	if (study_pass(s))
		return err_nomem(e);
	if (!s->wish_count) {
		*over = true;
		return conclude(g, e);
	}
	order_foresee(&m->order, s);
	if (g->points + s->wish_count > POINTS_MAX)
		return err_set(e, -ECANCELED, "the study does not end: it has %zu points and asks for %zu more",
			       g->points, s->wish_count);
	return batch_begin(&g->b, e);
}

static void tell(struct engine *m, struct going *g)
{
	order_tell(&m->order);
	/* What a first pass brings was expected long ago, in its place among all others. */
	if (m->gpu->ops->expect && m->gpu->ops->uncompiled)
		batch_expect(&g->b, (uint32_t)g->index + 1, g->pass > 1);
	g->next = TO_WAIT;
}

static int land(struct engine *m, struct going *g, struct err *e)
{
	bool all;
	int rc = batch_land(&g->b, &all, e);

	if (!all)
		return 0;
	batch_end(&g->b);
	m->flies = NULL;
	g->next = TO_THINK;
	if (rc)
		return rc;
	const size_t points = points_of(m->run, g->b.at.probe);
	if (points == g->points)
		return err_set(e, -ECANCELED, "none of %zu points could be measured", g->s.wish_count);
	g->points = points;
	return 0;
}

/* One step of a probe. *over: it was the last one. */
static int step(struct engine *m, struct going *g, bool *over, struct err *e)
{
	int rc = 0;

	g->b.since = engine_now();
	*over = false;
	switch (g->next) {
	case TO_THINK:
		rc = think(m, g, over, e);
		g->next = TO_TELL;
		break;
	case TO_TELL:
		tell(m, g);
		break;
	case TO_WAIT:
		rc = batch_launch(&g->b, e);
		m->flies = rc ? NULL : g;
		g->next = TO_LAND;
		break;
	case TO_LAND:
		rc = land(m, g, e);
		break;
	}
	g->b.at.seconds += engine_now() - g->b.since;
	*over |= rc != 0;
	return rc;
}

/* One that fills a good part of the memory goes on to its end: backends keep buffers between launches, but not all buffers of everybody. */
static bool is_heavy(const struct engine *m, const struct going *g)
{
	return g->b.largest > m->run->device.memory_bytes / HEAVY_PART;
}

static bool is_compiled(const struct engine *m, const struct going *g)
{
	return g->next != TO_WAIT || !m->gpu->ops->uncompiled ||
	       m->gpu->ops->uncompiled(m->gpu, (uint32_t)g->index + 1) == 0;
}

/* A file is one device's: taking it up on another one would mix two. */
static int same_device(struct run *r, struct gpu *g, struct err *e)
{
	const struct device_info *d = g->ops->info(g);

	if (!r->device.name[0])
		r->device = *d;
	char how[320];
	if (device_differs(d, &r->device, how, sizeof(how)))
		return err_set(e, -EINVAL, "the run was measured on another device than this one: %s", how);
	return 0;
}

static int begin(struct engine *m, size_t index, bool eager, struct err *e)
{
	const struct probe *p = m->plan->probes[index];
	struct going *g = mem_zero(1, sizeof(*g));
	struct err why = {0};
	enum probe_state left_out;
	char text[256];

	if (!g)
		return err_nomem(e);
	const double began = engine_now();
	order_begin(&m->order, index);
	g->rec = run_probe(m->run, p->name);
	g->index = index;
	g->b = (struct batch){.run = m->run,
			      .gpu = m->gpu,
			      .at = {.probe = p, .index = m->begun++, .total = (unsigned)m->plan->count},
			      .events = m->events,
			      .study = &g->s,
			      .kernels = &m->kernels,
			      .recording = m->recording};
	if (m->events && m->events->probe_begin)
		m->events->probe_begin(m->events->ctx, &g->b.at);
	if (must_skip(m, p, &left_out, text, sizeof(text))) {
		const enum verdict v = left_out == PROBE_FAILED ? VERDICT_FAILED : VERDICT_UNSUPPORTED;
		set_state(g->rec, left_out, text);
		int rc = study_decline(m->run, p, v, text) ? err_nomem(&why) : 0;
		rc = finish(m, g, rc, &why, e);
		mem_free(g);
		return rc;
	}
	drop_failures(m->run, p);
	g->points = points_of(m->run, p);
	const int rc = study_open(&g->s, m->run, p, STUDY_MEASURE, e);
	if (rc) {
		mem_free(g);
		return rc;
	}
	g->s.quick = m->plan->quick;
	g->s.for_figures = m->plan->for_figures;
	g->s.sight = m->gpu->ops->expect ? STUDY_FORESEES : STUDY_BLIND;
	g->b.at.seconds = engine_now() - began;
	size_t at_place = eager ? m->eager++ : m->count;
	memmove(&m->going[at_place + 1], &m->going[at_place], (m->count - at_place) * sizeof(struct going *));
	m->going[at_place] = g;
	m->count++;
	return 0;
}

/* The first that does this next, NULL: none. */
static struct going *first(const struct engine *m, enum next next)
{
	for (size_t i = 0; i < m->count; i++)
		if (m->going[i]->next == next && is_compiled(m, m->going[i]))
			return m->going[i];
	return NULL;
}

/* Of those that have begun, the one whose turn it is while the device is free. NULL: none, or each waits for its
 * kernels. Launches that leave this process free come before thoughts. */
static struct going *turn(const struct engine *m)
{
	struct going *g = NULL;

	for (size_t i = 0; i < m->count; i++)
		if (is_heavy(m, m->going[i]))
			return m->going[i];
	if (m->gpu->ops->apart && (g = first(m, TO_WAIT)))
		return g;
	for (size_t i = 0; i < m->count; i++)
		if (is_compiled(m, m->going[i]))
			return m->going[i];
	return NULL;
}

static size_t thinkers(const struct engine *m)
{
	size_t n = 0;

	for (size_t i = 0; i < m->count; i++)
		n += m->going[i]->next == TO_THINK;
	return n;
}

/* What is eager begins as soon as it can: at first, and when another one has ended. */
static int begin_eager(struct engine *m, struct err *e)
{
	size_t next;
	int rc = 0;

	while (!rc && (next = order_next(&m->order, true)) < m->plan->count)
		rc = begin(m, next, true, e);
	return rc;
}

/* The probe that makes the next step, NULL: none is left. Others begin when none goes on, or to have something to think about; where none is left
 * to begin, the first waits for its kernels. */
static int choose(struct engine *m, struct going **chosen, struct err *e)
{
	const size_t wanted = m->gpu->ops->apart ? AT_ONCE : 0;
	size_t next;
	int rc = 0;

	*chosen = m->flies;
	if (m->flies && !batch_landed(&m->flies->b)) {
		struct going *other = first(m, TO_THINK);
		*chosen = other ? other : m->flies;
	}
	if (*chosen)
		return 0;
	if (m->ended)
		rc = begin_eager(m, e);
	m->ended = false;
	*chosen = first(m, TO_TELL);
	while (!*chosen && !rc && (thinkers(m) < wanted || !(*chosen = turn(m))) &&
	       (next = order_next(&m->order, false)) < m->plan->count)
		rc = begin(m, next, false, e);
	if (!*chosen && m->count && !(*chosen = turn(m)))
		*chosen = m->going[0];
	return rc;
}

static void remove_going(struct engine *m, const struct going *g)
{
	size_t kept = 0, eager = 0;

	for (size_t i = 0; i < m->count; i++) {
		if (m->going[i] == g)
			continue;
		eager += i < m->eager;
		m->going[kept++] = m->going[i];
	}
	m->count = kept;
	m->eager = eager;
}

/* Step after step until none is left. */
static int pursue(struct engine *m, double earlier, double began, struct err *e)
{
	int rc = 0;

	m->ended = true; /* nothing has begun */
	while (!rc) {
		struct going *g;
		struct err why = {0};
		bool over = false;

		/* What is under way lands first. */
		if (!m->flies && must_stop(m->events))
			return err_set(e, -EINTR, "stopped");
		rc = choose(m, &g, e);
		if (rc || !g)
			return rc;
		rc = step(m, g, &over, &why);
		m->run->seconds = earlier + engine_now() - began;
		if (!over)
			continue;
		remove_going(m, g);
		rc = finish(m, g, rc, &why, e);
		mem_free(g);
		m->ended = true;
	}
	return rc;
}

/* Those that have not ended when the run does. rc: why it ends. */
static int finish_all(struct engine *m, int rc, struct err *e)
{
	for (size_t i = 0; i < m->count; i++) {
		struct going *g = m->going[i];
		struct err why = *e, other = {0};
		if (rc == -EINTR || rc == -ENODEV) {
			const int stored = finish(m, g, rc, &why, &other);
			if (stored != rc) {
				rc = stored;
				*e = other;
			}
		} else {
			batch_end(&g->b);
			study_close(&g->s);
		}
		mem_free(g);
	}
	m->count = 0;
	return rc;
}

int engine_measure(struct run *r, struct gpu *g, const struct engine_plan *plan, const struct engine_events *ev,
		   struct err *e)
{
	struct engine m = {.run = r, .gpu = g, .plan = plan, .events = ev};
	const double began = engine_now(), earlier = r->seconds;
	int rc = same_device(r, g, e);

	if (rc)
		return rc;
	m.recording = g->ops->recording ? g->ops->recording(g) : NULL;
	if (m.recording)
		r->seed = m.recording->seed;
	/* records of the whole plan first, so that a file says from the beginning what is still to come */
	for (size_t i = 0; i < plan->count; i++) {
		if (!run_probe(r, plan->probes[i]->name))
			return err_nomem(e);
	}
	if (!m.recording)
		reopen(r, plan);
	m.going = mem_zero(plan->count + 1, sizeof(struct going *));
	if (!m.going)
		return err_nomem(e);
	if (order_open(&m.order, r, g, &m.kernels, plan)) {
		mem_free(m.going);
		return err_nomem(e);
	}
	m.begun = (unsigned)m.order.ended;
	rc = engine_conclude(r, e);
	if (!rc)
		rc = pursue(&m, earlier, began, e);
	rc = finish_all(&m, rc, e);
	order_close(&m.order);
	kernels_free(&m.kernels);
	mem_free(m.going);
	r->seconds = earlier + engine_now() - began;
	if ((!rc || rc == -EINTR || rc == -ENODEV) && findings_finish(r))
		rc = err_nomem(e);
	return rc;
}
