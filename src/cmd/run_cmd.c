/* fathom run: choose a device, plan, measure, infer, summarise. */
#include "cmd/cmd.h"
#include "cmd/files.h"
#include "cmd/interrupt.h"
#include "cmd/progress.h"
#include "gpu/gpu.h"
#include "probe/engine.h"
#include <errno.h>
#include <math.h>
#include <string.h>
#include <time.h>

struct running {
	struct cmd_context *c;
	struct progress progress;
	struct store *store;
	const char *path;
	double began;
	double limit; /* seconds; INFINITY: none */
	bool interrupted, timed_out;
};

static double now_seconds(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec * 1e-9;
}

/* ---- what the engine tells us ---- */

static void on_begin(void *ctx, const struct probe *p, unsigned index, unsigned total)
{
	progress_begin(&((struct running *)ctx)->progress, p, index, total);
}

static void on_progress(void *ctx, const struct probe *p, size_t done, size_t wished, double seconds)
{
	progress_step(&((struct running *)ctx)->progress, p, done, wished, seconds, now_seconds());
}

static void on_end(void *ctx, const struct probe *p, const struct probe_record *r)
{
	progress_end(&((struct running *)ctx)->progress, p, r);
}

static int on_commit(void *ctx, struct run *r, const char *probe, struct err *e)
{
	return store_probe(((struct running *)ctx)->store, r, probe, e);
}

static bool on_stop(void *ctx)
{
	struct running *run = ctx;

	if (!run->interrupted && interrupt_requested()) {
		run->interrupted = true;
		progress_say(&run->progress, "stopping after this point; Ctrl-C again ends at once");
	}
	if (!run->interrupted && !run->timed_out && now_seconds() - run->began > run->limit) {
		run->timed_out = true;
		progress_say(&run->progress, "the time limit of %g s is over: stopping after this point", run->limit);
	}
	return run->interrupted || run->timed_out;
}

/* ---- before measuring ---- */

/* "clock,constant_cache" to names. CMD_OK with *names NULL when -p was not given. */
static int probe_names(struct cmd_context *c, const char ***names, size_t *count)
{
	const char *text = cmd_value(c, "probes");
	char *copy, *save = NULL;

	*names = NULL;
	*count = 0;
	if (!text)
		return CMD_OK;
	copy = arena_strdup(&c->arena, text);
	*names = ARENA_ARRAY(&c->arena, strlen(text) + 1, const char *);
	if (!copy || !*names)
		return cmd_fail(c, CMD_DEVICE, "out of memory");
	for (char *word = strtok_r(copy, ",", &save); word; word = strtok_r(NULL, ",", &save)) {
		const char **all, *near;

		if (probe_find(word)) {
			(*names)[(*count)++] = word;
			continue;
		}
		all = ARENA_ARRAY(&c->arena, probe_count + 1, const char *);
		for (size_t i = 0; all && i < probe_count; i++)
			all[i] = probe_table[i]->name;
		near = all ? str_nearest(word, all, probe_count) : NULL;
		if (near)
			return cmd_fail(c, CMD_USAGE, "there is no probe '%s'; did you mean %s?", word, near);
		return cmd_fail(c, CMD_USAGE, "there is no probe '%s'; `fathom list probes` names them", word);
	}
	if (!*count)
		return cmd_fail(c, CMD_USAGE, "-p names no probe; `fathom list probes` names them");
	return CMD_OK;
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
		return strchr(colon, '/') || str_ends(device, ".gpu") ? CMD_FILE : CMD_USAGE;
	if (str_starts(device, "cuda:"))
		return colon[1 + strspn(colon + 1, "0123456789")] ? CMD_USAGE : CMD_DEVICE;
	return CMD_USAGE;
}

static int open_device(struct cmd_context *c, const struct run *resumed, uint64_t seed, struct gpu **gpu)
{
	const char *given = cmd_value(c, "device");
	char device[512], why[512] = "";
	int rc;

	if (given || resumed) {
		/* A stored spec is the first choice on resume: the same device again. */
		snprintf(device, sizeof(device), "%s", given ? given : resumed->device.spec);
	} else {
		rc = gpu_choose(device, sizeof(device), why, sizeof(why), &c->error);
		if (rc)
			return CMD_DEVICE;
	}
	rc = gpu_open(gpu, device, seed, true, &c->error);
	if (rc)
		return open_code(device, rc);
	fprintf(c->log, "device: %s, %s", device, (*gpu)->ops->info(*gpu)->name);
	if (!given)
		fprintf(c->log, " (%s)", resumed ? "from the run file" : why);
	fputc('\n', c->log);
	return CMD_OK;
}

static void start_record(struct run *r, const struct device_info *d, uint64_t seed)
{
	time_t t = time(NULL);
	struct tm tm;

	gmtime_r(&t, &tm);
	strftime(r->started, sizeof(r->started), "%Y-%m-%dT%H:%M:%SZ", &tm);
	snprintf(r->fathom, sizeof(r->fathom), "%s", FATHOM_VERSION);
	r->seed = seed;
	r->device = *d;
}

static int create_file(struct cmd_context *c, struct running *run, struct run *r)
{
	const char *given = cmd_value(c, "output");
	char date[16];
	int rc;

	snprintf(date, sizeof(date), "%.10s", r->started);
	run->path = given;
	for (unsigned attempt = 1;; attempt++) {
		if (!given)
			run->path = files_run_name(&c->arena, &r->device, date, attempt);
		if (!run->path)
			return cmd_fail(c, CMD_DEVICE, "out of memory");
		rc = files_exists(run->path) ? -EEXIST : store_create(&run->store, run->path, r, &c->error);
		if (rc == -EEXIST && !given && attempt < 10000)
			continue;
		if (rc == -EEXIST)
			return cmd_fail(c, CMD_USAGE,
					"%s is there already; go on with it by --resume, or give another name to -o",
					run->path);
		return rc ? CMD_DEVICE : CMD_OK;
	}
}

static int check_same_device(struct cmd_context *c, const struct run *r, const struct device_info *d, const char *path)
{
	if (strcmp(r->device.name, d->name) == 0 && strcmp(r->device.uuid, d->uuid) == 0)
		return CMD_OK;
	return cmd_fail(c, CMD_USAGE, "%s was measured on %s (%s), not on %s (%s); resume there or start a new file",
			path, r->device.name, r->device.uuid, d->name, d->uuid);
}

/* ---- measuring and after ---- */

static size_t count_state(const struct run *r, enum probe_state state)
{
	size_t n = 0;

	for (size_t i = 0; i < r->probe_count; i++)
		n += r->probes[i].state == state;
	return n;
}

static int summarise(struct running *run, const struct run *r)
{
	struct cmd_context *c = run->c;
	struct str out;
	int rc;

	str_init(&out);
	rc = report_summary(&out, r, &c->style, &c->error);
	if (rc == 0)
		str_addf(&out,
			 "\nWrote %s\nNext, the whole report:    fathom report %s\n"
			 "      its figures as SVG:  fathom report %s --figures figures\n",
			 run->path, run->path, run->path);
	rc = rc ? CMD_DEVICE : cmd_print(c, &out);
	str_free(&out);
	return rc;
}

static int outcome(struct running *run, const struct run *r)
{
	size_t done = count_state(r, PROBE_DONE), failed = count_state(r, PROBE_FAILED);
	struct cmd_context *c = run->c;

	if (run->interrupted)
		return cmd_fail(
		    c, CMD_INTERRUPTED,
		    "interrupted; %zu finished probes are kept in %s; go on with: fathom run --resume -o %s", done,
		    run->path, run->path);
	if (run->timed_out)
		return cmd_fail(
		    c, CMD_INCOMPLETE,
		    "out of time; %zu finished probes are kept in %s; go on with: fathom run --resume -o %s", done,
		    run->path, run->path);
	if (failed)
		return cmd_fail(c, CMD_INCOMPLETE, "%zu of %zu probes failed; the others are in %s", failed,
				r->probe_count, run->path);
	return CMD_OK;
}

static int measure(struct running *run, struct run *r, struct gpu *gpu, const struct engine_plan *plan)
{
	const struct engine_events events = {
	    .ctx = run,
	    .probe_begin = on_begin,
	    .progress = on_progress,
	    .probe_end = on_end,
	    .commit = on_commit,
	    .stop = on_stop,
	};
	struct cmd_context *c = run->c;
	int rc = engine_measure(r, gpu, plan, &events, &c->error);

	if (rc && rc != -EINTR) {
		char why[sizeof(c->error.text)];

		snprintf(why, sizeof(why), "%s", c->error.text);
		return cmd_fail(c, CMD_DEVICE, "%.300s; the probes stored in %s before are kept", why, run->path);
	}
	/* The gates look at all findings together, so they are stored once more now that all are there. */
	rc = store_findings(run->store, r, &c->error) ? CMD_DEVICE : summarise(run, r);
	return rc == CMD_OK ? outcome(run, r) : rc;
}

/* The file says from the beginning what was asked for, so that --resume knows what is still to come. */
static int store_plan(struct running *run, struct run *r, const struct engine_plan *plan)
{
	struct cmd_context *c = run->c;

	for (size_t i = 0; i < plan->count; i++) {
		if (!run_probe(r, plan->probes[i]->name))
			return cmd_fail(c, CMD_DEVICE, "out of memory");
		if (store_probe(run->store, r, plan->probes[i]->name, &c->error))
			return CMD_DEVICE;
	}
	return CMD_OK;
}

/* Without -p: the probes that a run was begun with, which is resumed or replayed. */
static int recorded_plan(struct cmd_context *c, const struct run *r, struct engine_plan *plan)
{
	const char **names = ARENA_ARRAY(&c->arena, r->probe_count + 1, const char *);
	size_t count = 0;
	int rc;

	if (!names)
		return cmd_fail(c, CMD_DEVICE, "out of memory");
	/* A probe that this version does not have any more keeps what it has. */
	for (size_t i = 0; i < r->probe_count; i++)
		if (probe_find(r->probes[i].name))
			names[count++] = r->probes[i].name;
	mem_free(plan->probes);
	rc = engine_plan(plan, names, count, &c->error);
	return rc ? CMD_DEVICE : CMD_OK;
}

static int run_new(struct running *run, struct engine_plan *plan)
{
	struct cmd_context *c = run->c;
	struct gpu *gpu = NULL;
	uint64_t seed = 1;
	struct run r;
	int rc = cmd_integer(c, "seed", &seed);

	if (rc)
		return rc;
	/* Said before the device is opened: that costs the time of a driver's start. */
	if (cmd_value(c, "output") && files_exists(cmd_value(c, "output")))
		return cmd_fail(c, CMD_USAGE,
				"%s is there already; go on with it by --resume, or give another name to -o",
				cmd_value(c, "output"));
	rc = open_device(c, NULL, seed, &gpu);
	if (rc)
		return rc;
	if (run_init(&r)) {
		gpu->ops->close(gpu);
		return cmd_fail(c, CMD_DEVICE, "out of memory");
	}
	start_record(&r, gpu->ops->info(gpu), seed);
	if (gpu->ops->recording && !cmd_value(c, "probes"))
		rc = recorded_plan(c, gpu->ops->recording(gpu), plan);
	if (rc == CMD_OK)
		rc = create_file(c, run, &r);
	if (rc == CMD_OK)
		rc = store_plan(run, &r, plan);
	if (rc == CMD_OK)
		rc = measure(run, &r, gpu, plan);
	run_free(&r);
	gpu->ops->close(gpu);
	return rc;
}

static int run_resumed(struct running *run, struct engine_plan *plan)
{
	struct cmd_context *c = run->c;
	struct gpu *gpu = NULL;
	uint64_t seed;
	struct run r;
	int rc;

	run->path = cmd_value(c, "output");
	if (!run->path)
		return cmd_fail(c, CMD_USAGE, "--resume needs -o FILE.fathom, the run file to go on with");
	rc = files_open_run(c, run->path, &r, &run->store);
	if (rc)
		return rc;
	seed = r.seed;
	rc = cmd_integer(c, "seed", &seed);
	if (rc == CMD_OK && seed != r.seed)
		rc = cmd_fail(c, CMD_USAGE, "%s was begun with seed %llu; a resumed run keeps it", run->path,
			      (unsigned long long)r.seed);
	if (rc == CMD_OK && !cmd_value(c, "probes"))
		rc = recorded_plan(c, &r, plan);
	if (rc == CMD_OK)
		rc = open_device(c, &r, seed, &gpu);
	if (rc == CMD_OK)
		rc = check_same_device(c, &r, gpu->ops->info(gpu), run->path);
	if (rc == CMD_OK)
		rc = measure(run, &r, gpu, plan);
	if (gpu)
		gpu->ops->close(gpu);
	run_free(&r);
	return rc;
}

int cmd_run(struct cmd_context *c, int argc, char **argv)
{
	struct running run = {
	    .c = c,
	    .progress = {.log = c->log, .live = c->log_live, .width = c->log_width},
	    .began = now_seconds(),
	    .limit = INFINITY,
	};
	struct engine_plan plan = {0};
	const char **names;
	size_t count;
	int rc;

	(void)argc;
	(void)argv;
	rc = probe_names(c, &names, &count);
	if (rc == CMD_OK)
		rc = cmd_number(c, "time-limit", 0.001, 1e9, &run.limit);
	if (rc == CMD_OK)
		rc = cmd_threads(c);
	if (rc)
		return rc;
	rc = engine_plan(&plan, names, count, &c->error);
	if (rc)
		return rc == -EINVAL ? CMD_USAGE : CMD_DEVICE;
	interrupt_watch();
	rc = cmd_flag(c, "resume") ? run_resumed(&run, &plan) : run_new(&run, &plan);
	store_close(run.store);
	mem_free(plan.probes);
	return rc;
}
