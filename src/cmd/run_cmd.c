/* fathom run: choose a device, plan, measure, infer, summarise. */
#include "cmd/expecting.h"
#include "cmd/files.h"
#include "cmd/interrupt.h"
#include "cmd/many.h"
#include "cmd/measuring.h"
#include <errno.h>
#include <string.h>

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

static int check_same_device(struct cmd_context *c, const struct run *r, const struct device_info *d, const char *path)
{
	char how[320];

	if (!device_differs(d, &r->device, how, sizeof(how)))
		return CMD_OK;
	return cmd_fail(c, CMD_USAGE,
			"%s was measured on another device than %s: %s; resume it there, or start a new file", path,
			d->spec, how);
}

/* ---- measuring and after ---- */

/* Prints a command to type next as the program was called. What stands before the file is `word`, or nothing if NULL. A
 * page goes to the file `page`, unless NULL. */
static void next_command(struct str *out, const struct cmd_context *c, const char *what, const char *verb,
			 const char *word, const char *path, const char *page)
{
	str_addf(out, "  %-10s ", what);
	help_quote(out, c->program);
	str_addf(out, " %s%s%s ", verb, word ? " " : "", word ? word : "");
	help_quote(out, path);
	if (page) {
		str_add(out, " --html ");
		help_quote(out, page);
	}
	str_addc(out, '\n');
}

/* What `fathom explain` may be asked about this run: of what most people want to know, the first that was answered. */
static const char *example_key(const struct run *r)
{
	static const char *const wanted[] = {"cache.global.l2.latency", "cache.global.l1.size", "memory.global.latency",
					     "cache.constant.l1.size", "shared.latency"};
	for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
		const struct finding *f = findings_get(&r->findings, wanted[i]);
		if (f && finding_estimated(f))
			return i ? wanted[i] : "L2";
	}
	for (size_t i = 0; i < r->findings.count; i++)
		if (finding_estimated(&r->findings.items[i]))
			return r->findings.items[i].key;
	return r->findings.items[0].key;
}

/* gtx280.fathom: gtx280.html. NULL: out of memory. */
static const char *page_of(struct cmd_context *c, const char *path)
{
	static const char end[] = ".fathom";
	const size_t n = strlen(path) - (str_ends(path, end) ? strlen(end) : 0);
	return arena_printf(&c->arena, "%.*s.html", (int)n, path);
}

static int summarise(struct measuring *m, const struct run *r)
{
	struct cmd_context *c = m->c;
	const char *page = page_of(c, m->path);
	struct str out;
	int rc;

	if (!page)
		return cmd_fail(c, CMD_DEVICE, "out of memory");
	progress_say(&m->progress, "wrote %s", m->path);
	str_init(&out);
	rc = report_summary(&out, r, &c->style, &c->error);
	if (rc == 0) {
		next_command(&out, c, "all of it", "report", NULL, m->path, NULL);
		next_command(&out, c, "picture", "report", NULL, m->path, page);
		if (r->findings.count)
			next_command(&out, c, "why", "explain", example_key(r), m->path, NULL);
	}
	rc = rc ? CMD_DEVICE : cmd_print(c, &out);
	str_free(&out);
	return rc;
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

static bool takes_recorded(const struct cmd_context *c)
{
	return !cmd_value(c, "probes") && !cmd_flag(c, "quick");
}

static int measure(struct measuring *m, struct run *r, struct gpu *gpu, const struct engine_plan *plan)
{
	const char *expected = cmd_value(m->c, "expect");
	int rc = measuring_run(m, r, gpu, plan);

	/* Of several devices at once, each has a line in the end. */
	if (rc == CMD_OK && !m->progress.who)
		rc = summarise(m, r);
	if (rc == CMD_OK)
		rc = measuring_outcome(m, r);
	/* How it ended is told first: what was not measured contradicts nothing. */
	return rc == CMD_OK && expected ? expecting_ask(m->c, expected, r) : rc;
}

static int run_new(struct measuring *m, const char *device, struct engine_plan *plan)
{
	struct cmd_context *c = m->c;
	const char *output = cmd_value(c, "output");
	struct gpu *gpu = NULL;
	uint64_t seed = 1;
	struct run r;
	int rc = cmd_integer(c, "seed", &seed);

	if (rc)
		return rc;
	/* Said before the device is opened: that costs the time of a driver's start. */
	if (output && files_exists(output))
		return cmd_fail(c, CMD_USAGE,
				"%s is there already; go on with it by --resume, or give another name to -o", output);
	rc = measuring_open(m, device, NULL, seed, &gpu);
	if (rc)
		return rc;
	interrupt_watch();
	if (run_init(&r)) {
		gpu->ops->close(gpu);
		return cmd_fail(c, CMD_DEVICE, "out of memory");
	}
	measuring_record(c, &r, gpu->ops->info(gpu), seed);
	if (output && !(output = files_output(&c->arena, output, &r.device)))
		rc = cmd_fail(c, CMD_DEVICE, "out of memory");
	if (rc == CMD_OK && gpu->ops->recording && takes_recorded(c))
		rc = recorded_plan(c, gpu->ops->recording(gpu), plan);
	if (rc == CMD_OK) {
		rc = measuring_create(m, &r, plan, output);
		m->path = rc == CMD_OK ? m->path : NULL; /* it is another run's */
	}
	if (rc == CMD_OK)
		rc = measure(m, &r, gpu, plan);
	run_free(&r);
	gpu->ops->close(gpu);
	return rc;
}

static int run_resumed(struct measuring *m, struct engine_plan *plan)
{
	struct cmd_context *c = m->c;
	struct gpu *gpu = NULL;
	uint64_t seed;
	struct run r;
	int rc;

	m->path = cmd_value(c, "output");
	if (!m->path)
		return cmd_fail(c, CMD_USAGE, "--resume needs -o FILE.fathom, the run file to go on with");
	rc = files_open_run(c, m->path, &r, &m->store);
	if (rc)
		return rc;
	if (strcmp(run_concluded(&r), c->build) != 0)
		snprintf(r.concluded, sizeof(r.concluded), "%s", c->build);
	seed = r.seed;
	rc = cmd_integer(c, "seed", &seed);
	if (rc == CMD_OK && seed != r.seed)
		rc = cmd_fail(c, CMD_USAGE, "%s was begun with seed %llu; a resumed run keeps it", m->path,
			      (unsigned long long)r.seed);
	if (rc == CMD_OK && takes_recorded(c))
		rc = recorded_plan(c, &r, plan);
	if (rc == CMD_OK)
		rc = measuring_open(m, cmd_value(c, "device"), &r, seed, &gpu);
	interrupt_watch();
	if (rc == CMD_OK)
		rc = check_same_device(c, &r, gpu->ops->info(gpu), m->path);
	if (rc == CMD_OK)
		rc = measure(m, &r, gpu, plan);
	if (gpu)
		gpu->ops->close(gpu);
	run_free(&r);
	return rc;
}

/* ---- several devices ---- */

struct each {
	struct measuring *m;
	struct engine_plan *plan;
};

/* In a process of its own. */
static int measure_one(void *ctx, const char *device, const char **path)
{
	struct each *x = ctx;
	struct progress *log = &x->m->progress;

	log->who = device;
	log->live = false; /* there is one last line, and several would draw it */
	const int rc = run_new(x->m, device, x->plan);
	if (rc != CMD_OK && x->m->c->error.text[0])
		progress_say(log, "%s", x->m->c->error.text);
	store_close(x->m->store);
	*path = x->m->path;
	return rc;
}

static int run_many(struct measuring *m, struct engine_plan *plan)
{
	struct each each = {m, plan};
	struct cmd_context *c = m->c;
	const char *output = cmd_value(c, "output");
	struct many all;
	int rc = many_list(c, cmd_value(c, "device"), &all);

	if (rc)
		return rc;
	if (all.count > 1 && output && !strstr(output, "%u") && !strstr(output, "%d"))
		return cmd_fail(
		    c, CMD_USAGE,
		    "-o %s names one file, and these are %zu devices; write %%u (a card's UUID) or %%d (cuda-0) "
		    "into it",
		    output, all.count);
	return many_run(c, &all, measure_one, &each);
}

int cmd_run(struct cmd_context *c, int argc, char **argv)
{
	struct measuring m;
	struct engine_plan plan = {0};
	const char **names;
	size_t count;
	int rc;

	(void)argc;
	(void)argv;
	rc = probe_names(c, &names, &count);
	if (rc == CMD_OK)
		rc = measuring_begin(&m, c);
	if (rc)
		return rc;
	if (names && cmd_flag(c, "quick"))
		return cmd_fail(c, CMD_USAGE, "--quick chooses the probes itself; leave out -p or --quick");
	rc = cmd_flag(c, "quick") ? engine_plan_quick(&plan, &c->error) : engine_plan(&plan, names, count, &c->error);
	if (rc)
		return rc == -EINVAL ? CMD_USAGE : CMD_DEVICE;
	if (!many_meant(cmd_value(c, "device")))
		rc = cmd_flag(c, "resume") ? run_resumed(&m, &plan) : run_new(&m, cmd_value(c, "device"), &plan);
	else if (cmd_flag(c, "resume"))
		rc = cmd_fail(c, CMD_USAGE, "--resume goes on with one run file, so -d has to name one device");
	else
		rc = run_many(&m, &plan);
	store_close(m.store);
	mem_free(plan.probes);
	return rc;
}
