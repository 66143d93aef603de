/* fathom predict: how long a kernel should take, and how long it takes. */
#include "cmd/files.h"
#include "cmd/kernel_file.h"
#include "cmd/predict_text.h"
#include "gpu/gpu.h"
#include "stat/stat.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
	CHECKS = 3,
	ANY_PTX = 63, /* for a text without a head: shuffles and votes are understood with .sync and without */
};
static const char any_target[] = "sm_60";
#define BYTES_MAX (1ull << 38)

struct kernel {
	const char *path, *text, *entry;
	struct ptx_module *module;
	const struct ptx_func *func;
	struct predict_arg *args;
	struct launch launch;
};

/* Without a head, that of the GPU of the run file. */
static int with_head(struct cmd_context *c, const struct device_info *d, const char *text, const char **out)
{
	const char *at = text;
	for (;;) {
		at += strspn(at, " \t\r\n");
		if (strncmp(at, "//", 2) != 0)
			break;
		at += strcspn(at, "\n");
	}
	*out = text;
	if (strncmp(at, ".version", 8) == 0)
		return CMD_OK;
	/* Devices that compile no PTX tell neither. */
	const int version = d->ptx_version > 0 ? d->ptx_version : ANY_PTX;
	const char *target = d->ptx_version > 0 ? d->target : any_target;
	/* In one line with the text's first, so that lines keep their numbers. */
	*out = arena_printf(&c->arena, ".version %d.%d\t.target %s\t%s%s", version / 10, version % 10, target,
			    version >= 23 ? ".address_size 64\t" : "", text);
	return *out ? CMD_OK : cmd_fail(c, CMD_DEVICE, "out of memory");
}

static int open_kernel(struct cmd_context *c, const char *path, const struct device_info *d, struct kernel *k)
{
	char *text = NULL;
	int rc = kernel_file_text(c, path, &text);
	if (rc == CMD_OK)
		rc = kernel_file_template(c, path, d, &text);
	if (rc == CMD_OK)
		rc = with_head(c, d, text, &k->text);
	if (rc)
		return rc;
	k->path = path;
	if (ptx_parse(&k->module, &c->arena, path, k->text, strlen(k->text), &c->error))
		return c->error.code == -ENOMEM ? CMD_DEVICE : CMD_FILE;
	for (uint32_t i = 0; i < k->module->func_count && !k->func; i++)
		if (k->module->funcs[i].entry)
			k->func = &k->module->funcs[i];
	if (!k->func)
		return cmd_fail(c, CMD_FILE, "%s has no .entry", path);
	k->entry = k->func->name;
	return CMD_OK;
}

/* ---- arguments ---- */

static int bytes_of(struct cmd_context *c, const char *text, uint64_t *bytes)
{
	char *end;
	errno = 0;
	unsigned long long v = strtoull(text, &end, 0);
	unsigned shift = *end == 'K' ? 10 : *end == 'M' ? 20 : *end == 'G' ? 30 : 0;
	if (end == text || *text == '-' || errno || (shift && end[1]) || (!shift && *end) || !v ||
	    v > BYTES_MAX >> shift)
		return cmd_fail(c, CMD_USAGE, "buf:BYTES takes a size like 4096, 64K or 16M, not \"%s\"", text);
	*bytes = (uint64_t)v << shift;
	return CMD_OK;
}

/* "out=buf:4K": the parameter's number, and what follows. */
static int which(struct cmd_context *c, const struct kernel *k, const char *given, uint32_t *n, const char **value)
{
	const char *equals = strchr(given, '=');
	const struct ptx_func *f = k->func;
	*value = given;
	if (!equals)
		return CMD_OK;
	*value = equals + 1;
	for (*n = 0; *n < f->param_count; (*n)++)
		if (strlen(f->params[*n].name) == (size_t)(equals - given) &&
		    strncmp(f->params[*n].name, given, (size_t)(equals - given)) == 0)
			return CMD_OK;
	return cmd_fail(c, CMD_USAGE, "%s has no parameter '%.*s'", f->name, (int)(equals - given), given);
}

static int buffer(struct cmd_context *c, struct kernel *k, uint32_t n, uint64_t bytes)
{
	struct launch *l = &k->launch;
	if (k->func->params[n].size != 8)
		return cmd_fail(c, CMD_USAGE, "parameter %s has %u bytes and can be no buffer", k->func->params[n].name,
				k->func->params[n].size);
	if (l->buffer_count == LAUNCH_BUFFERS)
		return cmd_fail(c, CMD_USAGE, "more than %d buffers", LAUNCH_BUFFERS);
	k->args[n] = (struct predict_arg){.buffer = true, .bytes = bytes};
	l->args[n] = (struct launch_arg){.kind = ARG_BUFFER, .buffer = l->buffer_count};
	/* Whatever is there stays: content would have to be written before each launch, and would then lie in the caches. */
	l->buffers[l->buffer_count++] = (struct launch_buffer){.bytes = bytes, .as_is = true};
	return CMD_OK;
}

static int arguments(struct cmd_context *c, struct kernel *k)
{
	const struct ptx_func *f = k->func;
	uint32_t count = 0, next = 0;
	bool *there = ARENA_ARRAY(&c->arena, f->param_count + 1, bool);
	k->args = ARENA_ARRAY(&c->arena, f->param_count + 1, struct predict_arg);
	if (!there || !k->args)
		return cmd_fail(c, CMD_DEVICE, "out of memory");
	if (f->param_count > LAUNCH_ARGS)
		return cmd_fail(c, CMD_USAGE, "%s takes more than %d arguments", f->name, LAUNCH_ARGS);
	const char *text, *value;
	for (size_t i = 0; (text = cmd_value_at(c, "arg", i)); i++) {
		uint32_t n = next;
		uint64_t bytes = 0;
		int rc = which(c, k, text, &n, &value);
		if (rc)
			return rc;
		if (n >= f->param_count || there[n])
			return cmd_fail(c, CMD_USAGE,
					n >= f->param_count
					    ? "more arguments of %s were given with --arg than the %u that it takes"
					    : "an argument of %s (of %u) was given twice",
					f->name, f->param_count);
		if (str_starts(value, "buf:")) {
			rc = bytes_of(c, value + 4, &bytes);
			rc = rc ? rc : buffer(c, k, n, bytes);
		} else {
			rc = kernel_file_number(c, value, &f->params[n], &k->launch.args[n]);
			k->args[n].bits = k->launch.args[n].bits;
		}
		if (rc)
			return rc;
		there[n] = true;
		next = n + 1;
		count++;
	}
	if (count != f->param_count)
		return cmd_fail(c, CMD_USAGE, "%s takes %u argument%s, not %u", f->name, f->param_count,
				f->param_count == 1 ? "" : "s", count);
	k->launch.arg_count = count;
	return CMD_OK;
}

/* ---- the same on a device ---- */

static int measure(struct cmd_context *c, struct gpu *g, const char *device, struct kernel *k, double *seconds)
{
	struct kernel_source src = {.name = k->path, .entry = k->entry, .text = k->text};
	struct native_info native;
	double took[CHECKS], scratch[CHECKS];
	uint32_t id;
	int rc = g->ops->load(g, &src, 1, &id, &native, &c->error);
	if (rc)
		return rc == -EINVAL ? CMD_FILE : CMD_DEVICE;
	snprintf(k->launch.label, sizeof k->launch.label, "predict %.200s", k->path);
	snprintf(k->launch.entry, sizeof k->launch.entry, "%s", k->entry);
	k->launch.warmups = 1;
	k->launch.flush = !cmd_flag(c, "warm");
	for (unsigned i = 0; i < CHECKS; i++) {
		struct sample s = {0};
		if (g->ops->run(g, id, &k->launch, &s, &c->error))
			return CMD_DEVICE;
		took[i] = s.elapsed_ms * 1e-3;
		if (s.outcome != OUTCOME_OK)
			rc = cmd_fail(c, CMD_INCOMPLETE, "the kernel did not end well on %s: %s", device, s.message);
		else if (s.elapsed_ms < 0)
			rc = cmd_fail(c, CMD_DEVICE, "%s does not say how long a kernel takes", device);
		sample_free(&s);
		if (rc)
			return rc;
	}
	*seconds = stat_median(took, CHECKS, scratch);
	return CMD_OK;
}

static int check(struct cmd_context *c, struct kernel *k, struct predict_page *p)
{
	struct gpu *g;
	p->checked_on = cmd_value(c, "check");
	if (!p->checked_on)
		return CMD_OK;
	if (gpu_open(&g, p->checked_on, 1, true, &c->error))
		return c->error.code == -EINVAL ? CMD_USAGE : CMD_DEVICE;
	int rc = measure(c, g, p->checked_on, k, &p->measured);
	g->ops->close(g);
	return rc;
}

/* ---- all of it ---- */

static int write_page(struct cmd_context *c, const struct predict_page *p)
{
	const char *format = cmd_value(c, "format");
	struct str out;
	str_init(&out);
	if (format && strcmp(format, "json") == 0)
		predict_json(&out, p);
	else
		predict_text(&out, p);
	int rc = out.failed ? cmd_fail(c, CMD_DEVICE, "out of memory") : cmd_print(c, &out);
	str_free(&out);
	return rc;
}

static int failed(int rc)
{
	return rc == -EINVAL ? CMD_USAGE : rc == -ENOMEM ? CMD_DEVICE : CMD_FILE;
}

static int predict_with(struct cmd_context *c, const char *path, const struct run *run)
{
	struct kernel k = {0};
	struct predict_request q = {0};
	struct predict_result r;
	double shared = 0;
	int rc = open_kernel(c, path, &run->device, &k);
	if (!rc)
		rc = kernel_file_triple(c, "--grid", cmd_value(c, "grid"), k.launch.grid);
	if (!rc)
		rc = kernel_file_triple(c, "--block", cmd_value(c, "block"), k.launch.block);
	if (!rc)
		rc = cmd_number(c, "shared", 0, 1 << 24, &shared);
	if (!rc)
		rc = cmd_number(c, "turns", 1, 1e9, &q.turns);
	if (!rc)
		rc = arguments(c, &k);
	if (rc)
		return rc;
	/* A simulated device executes the text itself. */
	q.compiled = k.launch.compiled = cmd_flag(c, "compiled") || strcmp(run->device.backend, "sim") != 0;
	q.warm = cmd_flag(c, "warm");
	q.module = k.module;
	q.entry = k.func;
	q.args = k.args;
	q.shared_bytes = k.launch.shared_bytes = (uint32_t)shared;
	memcpy(q.grid, k.launch.grid, sizeof q.grid);
	memcpy(q.block, k.launch.block, sizeof q.block);
	rc = predict(&r, &c->arena, &q, &run->findings, &run->device, &c->error);
	if (rc)
		return failed(rc);
	struct predict_page p = {
	    .kernel = path, .entry = k.entry, .from = cmd_value(c, "from"), .run = run, .request = &q, .result = &r};
	rc = check(c, &k, &p);
	return rc ? rc : write_page(c, &p);
}

int cmd_predict(struct cmd_context *c, int argc, char **argv)
{
	struct run run;
	(void)argc;
	int rc = files_load_run(c, cmd_value(c, "from"), &run);
	if (rc)
		return rc;
	files_say_foreign(c, cmd_value(c, "from"), &run);
	rc = predict_with(c, argv[0], &run);
	run_free(&run);
	return rc;
}
