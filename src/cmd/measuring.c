#include "cmd/measuring.h"
#include "cmd/files.h"
#include "cmd/interrupt.h"
#include <errno.h>
#include <math.h>
#include <string.h>
#include <time.h>

static double now_seconds(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec * 1e-9;
}

/* ---- what the engine tells us ---- */

static void on_begin(void *ctx, const struct engine_at *at)
{
	progress_begin(&((struct measuring *)ctx)->progress, at);
}

static void on_progress(void *ctx, const struct engine_at *at)
{
	progress_step(&((struct measuring *)ctx)->progress, at, now_seconds());
}

static void on_end(void *ctx, const struct engine_at *at, const struct probe_record *r)
{
	progress_end(&((struct measuring *)ctx)->progress, at, r);
}

/* Stores the whole run once more, in a new file beside the one that somebody took away. */
static int rescue(struct measuring *m, const struct run *r, struct err *e)
{
	const size_t n = strlen(m->path), stem = str_ends(m->path, ".fathom") ? n - strlen(".fathom") : n;
	struct store *fresh = NULL;
	char *path = NULL;
	char why[sizeof(e->text)];
	int rc = -EEXIST;

	snprintf(why, sizeof(why), "%s", e->text);
	for (unsigned attempt = 1; rc == -EEXIST && attempt < 100; attempt++) {
		path = arena_printf(&m->c->arena, "%.*s-kept-%u.fathom", (int)stem, m->path, attempt);
		rc = path ? store_create(&fresh, path, r, e) : err_nomem(e);
	}
	for (size_t i = 0; rc == 0 && i < r->probe_count; i++)
		if (r->probes[i].state != PROBE_PENDING)
			rc = store_probe(fresh, r, r->probes[i].name, e);
	if (rc) {
		store_close(fresh);
		return rc;
	}
	store_close(m->store);
	m->store = fresh;
	m->lost = m->lost ? m->lost : m->path;
	m->path = path;
	progress_say(&m->progress, "%s; the run is kept in %s", why, path);
	return 0;
}

static int on_commit(void *ctx, struct run *r, const char *probe, struct err *e)
{
	struct measuring *m = ctx;
	const int rc = store_probe(m->store, r, probe, e);

	return rc == -ESTALE ? rescue(m, r, e) : rc;
}

/* The gates look at all findings together, so they are stored once more when all are there. The file is then looked at
 * as a reader would. */
static int store_all(struct measuring *m, const struct run *r, struct err *e)
{
	int rc = store_findings(m->store, r, e);

	if (rc == 0) {
		rc = store_finish(m->store, e);
		m->store = NULL;
	}
	return rc;
}

static int finish(struct measuring *m, const struct run *r)
{
	struct err *e = &m->c->error;
	int rc = store_all(m, r, e);

	if (rc != -ESTALE)
		return rc;
	rc = rescue(m, r, e);
	return rc ? rc : store_all(m, r, e);
}

static bool on_stop(void *ctx)
{
	struct measuring *m = ctx;

	if (!m->interrupted && interrupt_requested()) {
		m->interrupted = true;
		progress_say(&m->progress, "stopping after this point; Ctrl-C again ends at once");
	}
	if (!m->interrupted && !m->timed_out && now_seconds() - m->began > m->limit) {
		m->timed_out = true;
		progress_say(&m->progress, "the time limit of %g s is over: stopping after this point", m->limit);
	}
	return m->interrupted || m->timed_out;
}

/* ---- before measuring ---- */

int measuring_begin(struct measuring *m, struct cmd_context *c)
{
	int rc;

	*m = (struct measuring){
	    .c = c,
	    .progress = {.log = c->log, .live = c->log_live, .width = c->log_width},
	    .began = now_seconds(),
	    .limit = INFINITY,
	    .verbose = cmd_flag(c, "verbose"),
	};
	rc = cmd_seconds(c, "time-limit", 0.001, 1e9, &m->limit);
	if (rc == CMD_OK)
		rc = cmd_threads(c);
	return rc;
}

/* What a device that does not open means: a name that is none, a file that is bad, or a machine without it. */
static int open_code(const char *device, int rc)
{
	const char *colon = strchr(device, ':');

	if (rc == -ENOMEM)
		return CMD_DEVICE;
	if (!colon || !colon[1])
		return CMD_USAGE;
	if (str_starts(device, "replay:"))
		return CMD_FILE;
	if (str_starts(device, "sim:"))
		return cmd_gpu_code(colon + 1, rc);
	if (str_starts(device, "cuda:"))
		return colon[1 + strspn(colon + 1, "0123456789")] ? CMD_USAGE : CMD_DEVICE;
	if (str_starts(device, "opencl:"))
		return colon[1 + strspn(colon + 1, "0123456789.")] || rc == -EINVAL ? CMD_USAGE : CMD_DEVICE;
	return CMD_USAGE;
}

int measuring_open(struct measuring *m, const char *given, const struct run *resumed, uint64_t seed, struct gpu **gpu)
{
	struct cmd_context *c = m->c;
	char device[512], why[512] = "";
	int rc;

	/* The time limit is this device's: others may have been measured before. */
	m->began = now_seconds();
	if (given || resumed) {
		/* A stored spec is the first choice on resume: the same device again. */
		snprintf(device, sizeof(device), "%s", given ? given : resumed->device.spec);
		rc = gpu_open(gpu, device, seed, true, &c->error);
	} else {
		rc = gpu_open_best(gpu, seed, device, sizeof(device), why, sizeof(why), &c->error);
	}
	if (rc)
		return given || resumed ? open_code(device, rc) : CMD_DEVICE;
	const char *by = resumed ? "from the run file" : why;
	progress_say(&m->progress, "device: %s, %s%s%s%s", device, (*gpu)->ops->info(*gpu)->name, given ? "" : " (",
		     given ? "" : by, given ? "" : ")");
	return CMD_OK;
}

void measuring_record(const struct cmd_context *c, struct run *r, const struct device_info *d, uint64_t seed)
{
	time_t t = time(NULL);
	struct tm tm;

	gmtime_r(&t, &tm);
	strftime(r->started, sizeof(r->started), "%Y-%m-%dT%H:%M:%SZ", &tm);
	snprintf(r->fathom, sizeof(r->fathom), "%s", c->build);
	r->seed = seed;
	r->device = *d;
}

int measuring_create(struct measuring *m, struct run *r, const struct engine_plan *plan, const char *given)
{
	struct cmd_context *c = m->c;
	char date[16];
	int rc;

	snprintf(date, sizeof(date), "%.10s", r->started);
	m->path = given;
	/* The file says from the beginning what was asked for, so that --resume knows what is still to come. */
	for (size_t i = 0; i < plan->count; i++)
		if (!run_probe(r, plan->probes[i]->name))
			return cmd_fail(c, CMD_DEVICE, "out of memory");
	for (unsigned attempt = 1;; attempt++) {
		if (!given)
			m->path = files_run_name(&c->arena, &r->device, date, attempt);
		if (!m->path)
			return cmd_fail(c, CMD_DEVICE, "out of memory");
		rc = files_exists(m->path) ? -EEXIST : store_create(&m->store, m->path, r, &c->error);
		if (rc == -EEXIST && !given && attempt < 10000)
			continue;
		if (rc == -EEXIST)
			return cmd_fail(c, CMD_USAGE,
					"%s is there already; go on with it by --resume, or give another name to -o",
					m->path);
		return rc ? CMD_DEVICE : CMD_OK;
	}
}

/* ---- measuring and after ---- */

static size_t count_state(const struct run *r, enum probe_state state)
{
	size_t n = 0;

	for (size_t i = 0; i < r->probe_count; i++)
		n += r->probes[i].state == state;
	return n;
}

static size_t count_lost(const struct run *r, const struct point **first)
{
	size_t n = 0;

	*first = NULL;
	for (size_t i = 0; i < r->series_count; i++)
		for (size_t k = 0; k < r->series[i].count; k++) {
			const struct point *pt = &r->series[i].points[k];
			if (pt->outcome != OUTCOME_CRASH)
				continue;
			*first = *first ? *first : pt;
			n++;
		}
	return n;
}

static size_t count_failed(const struct run *r, const struct finding **first)
{
	size_t n = 0;

	*first = NULL;
	for (size_t i = 0; i < r->findings.count; i++) {
		const struct finding *f = &r->findings.items[i];
		if (f->verdict != VERDICT_FAILED)
			continue;
		*first = *first ? *first : f;
		n++;
	}
	return n;
}

/* What the environment kept from being measured, in one sentence. */
static int say_failed(struct measuring *m, const struct run *r)
{
	const struct finding *f;
	const struct point *pt;
	const size_t findings = count_failed(r, &f), points = count_lost(r, &pt), probes = count_state(r, PROBE_FAILED);
	char what[512];

	if (findings)
		snprintf(what, sizeof(what), "%zu finding%s FAILED, such as %s (%.200s)", findings,
			 findings == 1 ? "" : "s", f->key, f->because);
	else if (probes)
		snprintf(what, sizeof(what), "%zu of %zu probes failed", probes, r->probe_count);
	else if (points)
		snprintf(what, sizeof(what), "%zu point%s lost (%.200s)", points, points == 1 ? " was" : "s were",
			 point_why(pt));
	else
		return CMD_OK;
	return cmd_fail(m->c, CMD_INCOMPLETE, "%s; the others are in %s; to try again: fathom run --resume -o %s", what,
			m->path, m->path);
}

int measuring_run(struct measuring *m, struct run *r, struct gpu *gpu, const struct engine_plan *plan)
{
	const struct engine_events events = {
	    .ctx = m,
	    .probe_begin = on_begin,
	    .progress = on_progress,
	    .probe_end = on_end,
	    .commit = on_commit,
	    .stop = on_stop,
	};
	struct cmd_context *c = m->c;
	int rc = engine_measure(r, gpu, plan, &events, &c->error);

	if (rc == -ENODEV) {
		m->gone = true;
		snprintf(m->why, sizeof(m->why), "%.255s", c->error.text);
	}
	if (rc && rc != -EINTR && !m->gone) {
		char why[sizeof(c->error.text)];

		snprintf(why, sizeof(why), "%s", c->error.text);
		return cmd_fail(c, CMD_DEVICE, "%.300s; the probes that ended are kept in %s", why, m->path);
	}
	if (m->verbose)
		progress_times(&m->progress, r);
	return finish(m, r) ? CMD_DEVICE : CMD_OK;
}

int measuring_outcome(struct measuring *m, const struct run *r)
{
	const size_t done = count_state(r, PROBE_DONE);
	struct cmd_context *c = m->c;

	if (m->lost)
		return cmd_fail(c, CMD_FILE,
				"%s was removed, replaced or changed while the run wrote it; the run is kept in %s",
				m->lost, m->path);
	if (m->gone)
		return cmd_fail(c, CMD_DEVICE,
				"%s is gone: %.200s; the %zu probes that were done are kept in %s; go on when it is "
				"back: fathom "
				"run --resume -o %s%s%s",
				r->device.spec, m->why, done, m->path, m->path, m->then ? ", then " : "",
				m->then ? m->then : "");
	if (m->interrupted || m->timed_out)
		return cmd_fail(c, m->interrupted ? CMD_INTERRUPTED : CMD_INCOMPLETE,
				"%s; %zu finished probes are kept in %s; go on with: fathom run --resume -o %s%s%s",
				m->interrupted ? "interrupted" : "out of time", done, m->path, m->path,
				m->then ? ", then " : "", m->then ? m->then : "");
	return say_failed(m, r);
}
