#include "probe/batch.h"
#include "base/str.h"
#include "probe/expand.h"
#include <assert.h>
#include <errno.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define JOBS_KEPT_MAX ((size_t)32 << 20) /* bytes of rings kept between the two phases; above, setup runs twice */
#define SPIN_SECONDS  0.002		 /* so long launches are waited for without sleeping */
#define PAUSE_NS      200000

static bool must_stop(const struct batch *b)
{
	return b->events && b->events->stop && b->events->stop(b->events->ctx);
}

/* ---- jobs ---- */

static void item_drop(struct item *it)
{
	arena_free(&it->arena);
	sample_free(&it->sample);
	it->ready = false;
}

static int item_setup(const struct batch *b, struct item *it, struct err *e)
{
	const struct experiment *x = &b->at.probe->experiments[it->wish->experiment];

	it->job = (struct job){.arena = &it->arena, .check = {.cls = -1}};
	int rc = x->setup(b->study, it->wish->x, it->wish->p, &it->job);
	if (rc == -ENOMEM)
		return err_nomem(e);
	if (rc) {
		it->outcome = OUTCOME_REFUSED;
		snprintf(it->message, sizeof(it->message), "%s",
			 rc == -ENOTSUP ? "this device cannot do it" : strerror(-rc));
		item_drop(it);
		return 0;
	}
	struct launch *l = &it->job.launch;
	for (int i = 0; i < 3; i++) {
		l->grid[i] += l->grid[i] == 0;
		l->block[i] += l->block[i] == 0;
	}
	const struct series *s = run_series(b->run, b->at.probe->name, x->name);
	series_label(l->label, sizeof(l->label), s, it->wish->x, it->wish->p);
	/* the claim count is the first word that a pinned kernel writes */
	assert(!it->job.pinned || (l->buffers[0].output && l->buffers[0].output_words >= 2));
	it->ready = true;
	return 0;
}

/* ---- kernels ---- */

/* Texts of this batch that were not loaded before. */
struct fresh {
	struct arena arena;
	struct kernel_source *src;
	size_t count, first; /* first: where they begin in the cache */
	size_t calls;	     /* that the cache had before */
};

/* What was foreseen, which is no longer kept then; else it is expanded now. */
static int text_of(struct batch *b, const struct item *it, struct str *text, uint64_t hash[2], struct err *e)
{
	struct kernel_cache *k = b->kernels;
	const size_t at = kernels_foreseen(k, it->call);

	if (at != SIZE_MAX) {
		struct kernel_foreseen *f = &k->foreseen[at];
		*text = f->text;
		memcpy(hash, f->hash, sizeof(f->hash));
		k->foreseen_bytes -= text->len;
		*f = k->foreseen[--k->foreseen_count];
		return 0;
	}
	struct expansion_wish wish = expand_wish(&it->job, it->job.param, it->call);
	const int rc = expand_one(&b->run->device, &wish, e);
	*text = wish.text;
	memcpy(hash, wish.hash, sizeof(wish.hash));
	return rc;
}

/* Whether its kernel was not loaded so far, and no item before it has the same. */
static bool is_new(const struct batch *b, const struct item *it, struct hash_set *asked)
{
	return it->outcome == OUTCOME_OK && hash_set_add(asked, it->call[0]) &&
	       kernels_of_call(b->kernels, it->call) == SIZE_MAX;
}

/* Texts of the batch that nobody foresaw are expanded together, each once. Those that fail fail again, and say why, when they are loaded. */
static void expand_texts(struct batch *b, const struct item *items, size_t n, struct arena *a)
{
	struct expansion_wish *wish = ARENA_ARRAY(a, n, struct expansion_wish);
	struct hash_set asked = {0};
	size_t count = 0;

	for (size_t i = 0; i < n && wish; i++) {
		const struct item *it = &items[i];
		if (is_new(b, it, &asked) && kernels_foreseen(b->kernels, it->call) == SIZE_MAX)
			wish[count++] = expand_wish(&it->job, it->job.param, it->call);
	}
	hash_set_free(&asked);
	expand_all(&b->run->device, wish, count);
	for (size_t i = 0; i < count; i++)
		if (!wish[i].rc)
			kernels_foresee(b->kernels, wish[i].call, wish[i].hash, &wish[i].text);
		else
			str_free(&wish[i].text);
}

static int item_kernel(struct batch *b, struct item *it, struct fresh *f, struct err *e)
{
	const struct job *j = &it->job;
	uint64_t hash[2] = {0};
	struct str text;

	it->kernel = kernels_of_call(b->kernels, it->call);
	if (it->kernel != SIZE_MAX)
		return 0;
	str_init(&text);
	int rc = text_of(b, it, &text, hash, e);
	if (rc) {
		str_free(&text);
		return rc;
	}
	it->kernel = kernels_find(b->kernels, hash);
	if (it->kernel == b->kernels->count) {
		char *copy = arena_copy(&f->arena, text.data, text.len + 1);
		rc = copy ? kernels_add(b->kernels, hash) : -ENOMEM;
		if (!rc)
			f->src[f->count++] = (struct kernel_source){j->template_path, j->launch.entry, copy};
	}
	str_free(&text);
	if (!rc)
		rc = kernels_add_call(b->kernels, it->call, it->kernel);
	return rc ? err_nomem(e) : 0;
}

/* The device itself says no: that is an answer to a probe of limits, and everywhere else a reason. */
static bool refuses_kernel(int rc)
{
	return rc == -E2BIG || rc == -ENOTSUP;
}

/* It is about one kernel; others may load. */
static bool is_of_kernel(int rc)
{
	return rc == -EINVAL || refuses_kernel(rc);
}

/* Loads all at once. When that fails, one after the other, so that one bad kernel costs its own points only. */
static int load(struct batch *b, struct fresh *f, struct err *e)
{
	struct kernel_entry *k = b->kernels->items + f->first;
	uint32_t *ids = ARENA_ARRAY(&f->arena, f->count, uint32_t);
	struct native_info *native = ARENA_ARRAY(&f->arena, f->count, struct native_info);

	if (!ids || !native)
		return err_nomem(e);
	struct err all = {0};
	const double began = engine_now();
	int rc = b->gpu->ops->load(b->gpu, f->src, f->count, ids, native, &all);
	if (rc == -ENODEV) /* it was lost before; what comes next is a fresh one, if there is one */
		rc = b->gpu->ops->load(b->gpu, f->src, f->count, ids, native, &all);
	if (rc == -ENODEV)
		return err_set(e, rc, "%s", all.text);
	for (size_t i = 0; i < f->count; i++) {
		struct err one = all;
		int failed = rc;
		if (is_of_kernel(rc) && f->count > 1)
			failed = b->gpu->ops->load(b->gpu, &f->src[i], 1, &ids[i], &native[i], &one);
		if (failed && !is_of_kernel(failed))
			return err_set(e, -ECANCELED, "%s", one.text[0] ? one.text : strerror(-failed));
		if (failed) {
			k[i].problem = arena_strdup(&b->kernels->arena, one.text[0] ? one.text : strerror(-failed));
			if (!k[i].problem)
				return err_nomem(e);
			k[i].outcome = refuses_kernel(failed) ? OUTCOME_REFUSED : OUTCOME_CRASH;
			continue;
		}
		k[i].id = ids[i];
		*k[i].native = native[i];
	}
	b->compile_seconds += engine_now() - began;
	b->compiled += f->count;
	return 0;
}

/* ---- native code ---- */

/* NULL when the code is what the probe claims to time, or cannot be seen at all. Text that only comes near to what runs
 * has a problem and still has regions. What was to be timed has to be left in those, too. */
static const char *native_problem(const struct native_check *c, const struct native_info *n, char *out, size_t size)
{
	if (c->cls < 0 || !n->fingerprint || (n->problem[0] && !n->region_count))
		return NULL;
	/* Code that reads no clock is one region. */
	const unsigned at = n->clock_reads ? c->region : 0;
	if (at >= n->region_count) {
		snprintf(out, size, "the timed region is gone: %u clock reads are left in the native code",
			 n->clock_reads);
		return out;
	}
	const struct native_region *r = &n->region[at];
	const unsigned max = c->max ? c->max : c->min, have = r->count[c->cls], others = r->total - have;
	if (have >= c->min && have <= max && others <= c->others)
		return NULL;
	char right[64], rest[48] = "";
	if (max == UINT32_MAX)
		snprintf(right, sizeof(right), "at least %u", c->min);
	else if (max == c->min)
		snprintf(right, sizeof(right), "%u", max);
	else
		snprintf(right, sizeof(right), "%u to %u", c->min, max);
	if (c->others != UINT32_MAX)
		snprintf(rest, sizeof(rest), " and at most %u others", c->others);
	snprintf(out, size, "the native code holds %u %s and %u other instructions where %s%s are right (%s)", have,
		 native_class_name(c->cls), others, right, rest, r->mix);
	return out;
}

/* The kernel's index in the series; the recording's own record when this is a replay. */
static int native_index(struct batch *b, const struct item *it, struct series *s, uint32_t *index, struct err *e)
{
	const struct native_info *n = NULL;

	*index = UINT32_MAX;
	if (b->recording) {
		const struct series *old = run_series((struct run *)b->recording, s->probe, s->experiment);
		const struct point *pt = old ? series_find(old, it->wish->x, it->wish->p) : NULL;
		n = pt && pt->native < old->native_count ? &old->native[pt->native] : NULL;
	} else if (it->kernel != SIZE_MAX && !b->kernels->items[it->kernel].problem) {
		n = b->kernels->items[it->kernel].native;
	}
	if (!n)
		return 0;
	*index = series_add_native(b->run, s, n);
	return *index == UINT32_MAX ? err_nomem(e) : 0;
}

/* ---- launches ---- */

/* Takes a sample over into the series. */
static int store(struct batch *b, struct item *it, struct sample *s, struct err *e)
{
	const struct experiment *x = &b->at.probe->experiments[it->wish->experiment];
	struct series *series = run_series(b->run, b->at.probe->name, x->name);
	struct point pt = {.x = it->wish->x, .outcome = s->outcome, .elapsed_ms = s->elapsed_ms};

	memcpy(pt.p, it->wish->p, sizeof(pt.p));
	snprintf(pt.message, sizeof(pt.message), "%s", s->message);
	if (pt.outcome == OUTCOME_OK) {
		pt.repeats = s->repeats;
		pt.words_per_repeat = s->words_per_repeat;
		pt.y = s->words;
	}
	int rc = native_index(b, it, series, &pt.native, e);
	if (!rc && series_add(b->run, series, &pt))
		rc = err_nomem(e);
	return rc;
}

static int land_item(struct batch *b, struct item *it, struct err *e)
{
	struct sample *s = &it->sample;

	b->lost = it->rc ? b->lost + 1 : it->outcome == OUTCOME_OK ? 0 : b->lost;
	if (it->rc) {
		b->lost_code = it->rc;
		*s = (struct sample){.outcome = OUTCOME_CRASH, .elapsed_ms = -1};
		snprintf(s->message, sizeof(s->message), "%.255s", it->why.text[0] ? it->why.text : strerror(-it->rc));
		snprintf(b->lost_message, sizeof(b->lost_message), "%s", s->message);
	} else if (it->outcome != OUTCOME_OK) {
		snprintf(s->message, sizeof(s->message), "%s", it->message);
	}
	int rc = store(b, it, s, e);
	item_drop(it);
	if (!rc && b->lost >= LOST_MAX && b->lost_code == -ENODEV)
		rc = err_set(e, -ENODEV, "%s", b->lost_message);
	else if (!rc && b->lost >= LOST_MAX)
		rc = err_set(e, -ECANCELED, "%u launches in a row failed: %s", b->lost, b->lost_message);
	return rc;
}

/* ---- a batch ---- */

static void sense(struct batch *b, const struct item *items, size_t n, bool before, const bool *had_points)
{
	struct condition c = {-1, -1, -1, -1, -1};

	if (!b->gpu->ops->sense || b->gpu->ops->sense(b->gpu, &c, NULL))
		return;
	for (size_t i = 0; i < n; i++) {
		const unsigned k = items[i].wish->experiment;
		struct series *s = run_series(b->run, b->at.probe->name, b->at.probe->experiments[k].name);
		const int64_t seen = s->after.throttle > 0 ? s->after.throttle : 0;
		if (!before)
			s->after = c;
		if (!before && c.throttle >= 0)
			s->after.throttle |= seen;
		else if (!had_points[k])
			s->before = c;
	}
}

/* A series for every experiment that is wished for, with what describes it. */
static int make_series(struct batch *b, const struct item *items, size_t n, bool *had_points, struct err *e)
{
	for (size_t i = 0; i < n; i++) {
		const unsigned k = items[i].wish->experiment;
		const struct experiment *x = &b->at.probe->experiments[k];
		struct series *s = run_series(b->run, b->at.probe->name, x->name);
		if (!s) {
			s = run_series_new(b->run, b->at.probe->name, x->name);
			if (!s)
				return err_nomem(e);
			/* names live in the run, not in the probe: a run read from a file looks the same */
			s->axis = arena_strdup(&b->run->arena, x->axis ? x->axis : "");
			s->unit = arena_strdup(&b->run->arena, x->unit ? x->unit : "");
			bool ok = s->axis && s->unit;
			for (unsigned j = 0; j < POINT_PARAMS && x->params[j]; j++) {
				s->params[j] = arena_strdup(&b->run->arena, x->params[j]);
				ok &= s->params[j] != NULL;
			}
			if (!ok)
				return err_nomem(e);
		}
		had_points[k] = s->count > 0;
	}
	return 0;
}

static uint64_t memory_of(const struct launch *l)
{
	uint64_t bytes = 0;

	for (uint32_t i = 0; i < l->buffer_count; i++)
		bytes += l->buffers[i].bytes;
	return bytes;
}

static int set_up(struct batch *b, struct err *e)
{
	size_t kept = 0;

	for (size_t i = 0; i < b->count; i++) {
		struct item *it = &b->items[i];
		const int rc = item_setup(b, it, e);
		if (rc)
			return rc;
		if (it->outcome == OUTCOME_OK) {
			expand_call(&it->job, it->call);
			const uint64_t bytes = memory_of(&it->job.launch);
			b->largest = bytes > b->largest ? bytes : b->largest;
		}
		kept += it->arena.bytes;
		if (it->arena.bytes && kept > JOBS_KEPT_MAX) {
			kept -= it->arena.bytes;
			item_drop(it); /* its launch goes; what its text is made of stays */
		}
	}
	return 0;
}

/* Kernels that were not loaded before are loaded, and what their native code says about each point is looked at. */
static int load_kernels(struct batch *b, struct err *e)
{
	struct fresh f = {.first = b->kernels->count, .calls = b->kernels->call_count};
	int rc = 0;

	f.src = ARENA_ARRAY(&f.arena, b->count, struct kernel_source);
	if (!f.src)
		rc = err_nomem(e);
	for (size_t i = 0; !rc && i < b->count; i++)
		if (b->items[i].outcome == OUTCOME_OK)
			rc = item_kernel(b, &b->items[i], &f, e);
	if (!rc && f.count)
		rc = load(b, &f, e);
	if (rc) { /* ids of kernels that were never loaded must not be found again */
		b->kernels->count = f.first;
		b->kernels->call_count = f.calls;
	}
	arena_free(&f.arena);
	if (rc == -EINVAL)
		rc = -ECANCELED;
	for (size_t i = 0; !rc && i < b->count; i++) {
		struct item *it = &b->items[i];
		if (it->outcome != OUTCOME_OK)
			continue;
		const struct kernel_entry *k = &b->kernels->items[it->kernel];
		it->id = k->id;
		if (k->problem) {
			it->outcome = k->outcome;
			snprintf(it->message, sizeof(it->message), "%.255s", k->problem);
		} else if (!b->recording &&
			   native_problem(&it->job.check, k->native, it->message, sizeof(it->message))) {
			it->outcome = OUTCOME_INVALID;
		}
	}
	return rc;
}

static void tell_progress(const struct batch *b, size_t flown)
{
	struct engine_at at = b->at;

	at.points_wished = at.points_done + b->count - b->landed;
	at.points_done += flown;
	if (!b->events || !b->events->progress || !at.points_done)
		return;
	at.seconds += engine_now() - b->since;
	b->events->progress(b->events->ctx, &at);
}

/* Sends the next items on their way: those that are filled at a time where others go on meanwhile, else one. */
static int take_off(struct batch *b, struct err *e)
{
	size_t kept = 0, to = b->landed;
	int rc = 0;

	if (must_stop(b))
		return err_set(e, -EINTR, "stopped");
	while (!rc && to < b->count && kept <= JOBS_KEPT_MAX && (b->gpu->ops->apart || to == b->landed)) {
		struct item *it = &b->items[to++];
		if (it->outcome == OUTCOME_OK && !it->ready)
			rc = item_setup(b, it, e);
		kept += it->arena.bytes;
	}
	if (!rc)
		flight_begin(&b->flight, &b->items[b->landed], to - b->landed, b->lost);
	return rc;
}

/* Stores what has come back. */
static int land(struct batch *b, struct err *e)
{
	struct flight *f = &b->flight;
	int rc = 0;

	const double from = engine_now();
	while (!flight_over(f)) {
		const struct timespec t = {.tv_nsec = PAUSE_NS};
		if (engine_now() - from < SPIN_SECONDS) {
			sched_yield();
			continue;
		}
		nanosleep(&t, NULL);
		if (must_stop(b))
			atomic_store(&f->stop, true);
		tell_progress(b, atomic_load(&f->done));
	}
	flight_end(f);
	b->since += engine_now() - from; /* the flight's own time counts instead */
	const size_t done = atomic_load(&f->done);
	b->launch_seconds += f->seconds;
	b->launches += f->launches;
	b->at.seconds += f->span;
	f->seconds = 0;
	f->launches = 0;
	for (size_t i = 0; !rc && i < done; i++) {
		rc = land_item(b, &b->items[b->landed], e);
		b->landed++;
		b->at.points_done += rc == 0;
		if (!rc)
			tell_progress(b, 0);
	}
	return rc;
}

int batch_begin(struct batch *b, struct err *e)
{
	struct arena arena = {0};

	b->count = b->study->wish_count;
	b->items = mem_zero(b->count, sizeof(*b->items));
	b->had_points = mem_zero(b->at.probe->experiment_count, sizeof(*b->had_points));
	if (!b->items || !b->had_points) {
		batch_end(b);
		return err_nomem(e);
	}
	for (size_t i = 0; i < b->count; i++) {
		b->items[i].wish = &b->study->wishes[i];
		b->items[i].outcome = OUTCOME_OK;
		b->items[i].kernel = SIZE_MAX;
	}
	int rc = make_series(b, b->items, b->count, b->had_points, e);
	study_series_moved(b->study);
	if (!rc)
		rc = set_up(b, e);
	if (!rc)
		expand_texts(b, b->items, b->count, &arena);
	arena_free(&arena);
	return rc == -EINVAL ? -ECANCELED : rc;
}

bool batch_expect(struct batch *b, uint32_t group, bool soon)
{
	struct kernel_source *src = mem_alloc((b->count + 1) * sizeof(*src));
	struct hash_set asked = {0};
	struct err why = {0};
	size_t n = 0;

	for (size_t i = 0; src && i < b->count; i++) {
		const struct item *it = &b->items[i];
		if (!is_new(b, it, &asked))
			continue;
		const size_t at = kernels_foreseen(b->kernels, it->call);
		if (at != SIZE_MAX)
			src[n++] = (struct kernel_source){it->job.template_path, it->job.launch.entry,
							  b->kernels->foreseen[at].text.data, group};
	}
	/* What could not be expected costs time only. */
	if (n)
		b->gpu->ops->expect(b->gpu, src, n, soon, &why);
	hash_set_free(&asked);
	mem_free(src);
	return n > 0;
}

int batch_launch(struct batch *b, struct err *e)
{
	int rc = load_kernels(b, e);

	study_series_moved(b->study); /* others may have measured since batch_begin */
	if (rc)
		return rc;
	sense(b, b->items, b->count, true, b->had_points);
	b->flight = (struct flight){.gpu = b->gpu, .recorded = b->recording != NULL};
	b->landed = 0;
	return take_off(b, e);
}

bool batch_landed(const struct batch *b)
{
	return flight_over(&b->flight);
}

int batch_land(struct batch *b, bool *all, struct err *e)
{
	int rc = land(b, e);

	while (!rc && b->landed < b->count) {
		rc = take_off(b, e);
		if (rc || b->flight.begun)
			break;
		rc = land(b, e);
	}
	*all = rc || b->landed == b->count;
	if (*all)
		sense(b, b->items, b->count, false, b->had_points);
	return rc;
}

void batch_end(struct batch *b)
{
	atomic_store(&b->flight.stop, true);
	flight_end(&b->flight);
	for (size_t i = 0; b->items && i < b->count; i++)
		item_drop(&b->items[i]);
	mem_free(b->items);
	mem_free(b->had_points);
	b->items = NULL;
	b->had_points = NULL;
	b->count = 0;
}
