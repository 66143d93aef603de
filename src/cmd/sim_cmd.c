/* fathom sim: one kernel of the user's on a simulated GPU. */
#include "cmd/files.h"
#include "cmd/interrupt.h"
#include "cmd/kernel_file.h"
#include "cmd/progress.h"
#include "cmd/sim_plan.h"
#include "cmd/sim_trace.h"
#include "gpu/sim/sim_stats.h"
#include "ptx/ptx.h"
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define SECONDS_MOST 60 /* where the user says nothing */

/* ---- what came out ---- */

/* type: u32, s32, f32 or x32; NULL: u32 */
static void word(struct str *out, uint32_t bits, const char *type)
{
	float f;
	memcpy(&f, &bits, sizeof f);
	switch (type ? *type : 'u') {
	case 's':
		str_addf(out, " %11d", (int32_t)bits);
		break;
	case 'f':
		str_addf(out, " %15.9g", (double)f);
		break;
	case 'x':
		str_addf(out, "   %08x", bits);
		break;
	default:
		str_addf(out, " %10u", bits);
		break;
	}
}

/* The words as they are, behind the header of an .npy file (NumPy Enhancement Proposal 1) where the name says so. */
static int write_words(struct cmd_context *c, const char *path, const uint32_t *words, uint32_t count)
{
	enum { ALIGN = 64, BEFORE = 10 };
	const char *type = cmd_value(c, "out-type");
	const size_t n = strlen(path);
	struct str out, head;
	str_init(&out);
	str_init(&head);
	if (n > 4 && strcmp(path + n - 4, ".npy") == 0) {
		str_addf(&head, "{'descr': '<%c4', 'fortran_order': False, 'shape': (%u,), }",
			 type && (*type == 'f') ? 'f'
			 : type && *type == 's' ? 'i'
						: 'u',
			 count);
		while ((BEFORE + head.len + 1) % ALIGN)
			str_addc(&head, ' ');
		str_addc(&head, '\n');
		const char before[BEFORE] = {
		    '\x93', 'N', 'U', 'M', 'P', 'Y', 1, 0, (char)head.len, (char)(head.len >> 8)};
		str_addn(&out, before, sizeof before);
		str_addn(&out, str_text(&head), head.len);
	}
	str_addn(&out, (const char *)words, 4ull * count);
	int rc = out.failed || head.failed ? cmd_fail(c, CMD_DEVICE, "out of memory") : files_replace(c, path, &out);
	str_free(&head);
	str_free(&out);
	return rc;
}

/* The launch's number is said where there are several. wrong: lines of --check. */
static int print_result(struct cmd_context *c, struct gpu *g, const struct sim_plan *plan, uint32_t n,
			const struct sample *s, const struct native_info *native, const struct str *wrong)
{
	const struct time_result *r = sim_result(g);
	const struct func_print *said = sim_printed(g);
	struct str out;
	str_init(&out);
	if (plan->path)
		str_addf(&out, "%slaunch        %u of %u: %s\n", n ? "\n" : "", n + 1, plan->launch_count,
			 plan->launch[n].entry);
	if (said->length)
		str_addf(&out, "%.*s%s", (int)said->length, said->text,
			 said->text[said->length - 1] == '\n' ? "" : "\n");
	if (said->lost)
		str_addf(&out, "(what was printed beyond %u bytes is lost)\n", FUNC_PRINT_MOST);
	str_addf(&out, "outcome       %s\n", outcome_name(s->outcome));
	if (*s->message)
		str_addf(&out, "because       %s\n", s->message);
	if (s->outcome != OUTCOME_REFUSED) {
		if (cmd_flag(c, "untimed"))
			str_add(&out, "cycles        not counted (--untimed)");
		else
			str_addf(&out, "cycles        %llu", (unsigned long long)r->cycles);
		if (s->elapsed_ms >= 0 && !cmd_flag(c, "untimed"))
			str_addf(&out, " (%.6g ms)", s->elapsed_ms);
		str_addf(&out, "\ninstructions  %llu issued by warps; %u native in the kernel, %u clock reads\n",
			 (unsigned long long)r->instructions, native->instructions, native->clock_reads);
	}
	str_addn(&out, str_text(wrong), wrong->len);
	int rc = out.failed ? cmd_fail(c, CMD_DEVICE, "out of memory") : cmd_print(c, &out);
	str_free(&out);
	return rc;
}

/* What the buffers hold whose words are asked for, printed or into their files. */
static int print_words(struct cmd_context *c, struct gpu *g, const struct sim_plan *plan)
{
	uint32_t outs = 0;
	for (uint32_t b = 0; b < plan->buffer_count; b++)
		outs += plan->buffer[b].out && !plan->buffer[b].file;
	for (uint32_t b = 0; b < plan->buffer_count; b++) {
		const struct sim_plan_buffer *p = &plan->buffer[b];
		uint64_t bytes;
		const uint8_t *data = p->out ? sim_buffer(g, b, &bytes) : NULL;
		struct str out;
		if (!data)
			continue;
		const uint32_t count = (uint32_t)(bytes / 4), *words = (const uint32_t *)(const void *)data;
		if (p->file) {
			int rc = write_words(c, p->file, words, count);
			if (rc)
				return rc;
			continue;
		}
		str_init(&out);
		if (p->name)
			str_addf(&out, "\nwords of %s\n", p->name);
		else if (outs > 1)
			str_addf(&out, "words of argument %u\n", b + 1);
		for (uint32_t i = 0; i < count; i++) {
			if (i % 8 == 0)
				str_addf(&out, "%s%6u:", i ? "\n" : p->name || outs > 1 ? "" : "words\n", i);
			word(&out, words[i], cmd_value(c, "out-type"));
		}
		str_add(&out, "\n");
		int rc = out.failed ? cmd_fail(c, CMD_DEVICE, "out of memory") : cmd_print(c, &out);
		str_free(&out);
		if (rc)
			return rc;
	}
	return CMD_OK;
}

static int first_entry(struct cmd_context *c, const char *path, const char *text, const char **entry)
{
	struct ptx_module *m;
	const char *wanted = *entry;
	if (ptx_parse(&m, &c->arena, path, text, strlen(text), &c->error))
		return CMD_FILE;
	for (uint32_t i = 0; i < m->func_count; i++)
		if (m->funcs[i].entry && (wanted ? strcmp(m->funcs[i].name, wanted) == 0 : !m->funcs[i].refused)) {
			*entry = m->funcs[i].name;
			return CMD_OK;
		}
	return wanted ? cmd_fail(c, CMD_FILE, "%s has no kernel '%s'", path, wanted)
		      : cmd_fail(c, CMD_FILE, "%s has no .entry", path);
}

/* What --stats asks for: a table after the results, or JSON in a file. */
static int print_stats(struct cmd_context *c, struct gpu *g, const struct sim_spec *spec, const struct func_program *p,
		       const struct launch *l, const struct time_stats *counts)
{
	const struct time_result *r = sim_result(g);
	const char *path = cmd_value(c, "stats");
	const struct sim_kernel_stats k = {.spec = spec,
					   .program = p,
					   .counts = counts,
					   .grid = {l->grid[0], l->grid[1], l->grid[2]},
					   .block = {l->block[0], l->block[1], l->block[2]},
					   .shared_bytes = p->shared_static + l->shared_bytes,
					   .launches = 1,
					   .cycles = r->cycles,
					   .ns = r->ns};
	struct str out;
	str_init(&out);
	(path ? sim_stats_json : sim_stats_table)(&out, &k);
	if (path)
		str_add(&out, "\n");
	int rc = out.failed ? cmd_fail(c, CMD_DEVICE, "out of memory")
		 : path	    ? files_replace(c, path, &out)
			    : cmd_print(c, &out);
	str_free(&out);
	return rc;
}

/* ---- while it runs ---- */

struct watch {
	struct progress progress;
	const char *entry;
	double begun;	  /* seconds */
	struct str wrong; /* what --check says of the launch */
};

static void found(void *to, const char *sentence)
{
	struct watch *w = to;
	str_addf(&w->wrong, "wrong         %s\n", sentence);
}

static double seconds_now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Time left is told by the blocks that have begun. */
static bool look(void *ctx, uint64_t begun, uint64_t blocks)
{
	struct watch *w = ctx;
	char left[40], line[200];
	const double now = seconds_now();
	if (progress_due(&w->progress, now)) {
		progress_left(left, sizeof left, begun, blocks, now - w->begun);
		snprintf(line, sizeof line, "%s: %llu of %llu blocks begun%s%s", w->entry, (unsigned long long)begun,
			 (unsigned long long)blocks, *left ? ", " : "", left);
		progress_line(&w->progress, line);
	}
	return interrupt_requested();
}

/* ---- launches ---- */

/* What a launch of the plan needs: its kernel, which later launches of the same name share. */
struct kernel {
	const char *entry;
	uint32_t id;
	struct native_info native;
};

static int load(struct cmd_context *c, struct gpu *g, const char *path, const char *text, struct kernel *k)
{
	struct kernel_source src = {.name = path, .text = text};
	int rc = first_entry(c, path, text, &k->entry);
	if (rc)
		return rc;
	src.entry = k->entry;
	rc = g->ops->load(g, &src, 1, &k->id, &k->native, &c->error);
	return !rc ? CMD_OK : rc == -ENOMEM ? CMD_DEVICE : CMD_FILE;
}

/* The options that hold for every launch. */
static int settings(struct cmd_context *c, struct gpu *g, uint32_t *limit_ms)
{
	double seconds = SECONDS_MOST, cycles = 0, instructions = 0;
	const char *type = cmd_value(c, "out-type");
	int rc = cmd_seconds(c, "time-limit", 0, 1e6, &seconds);
	if (!rc)
		rc = cmd_number(c, "limit", 1, 1e15, &cycles);
	if (!rc)
		rc = cmd_number(c, "limit-instructions", 1, 1e15, &instructions);
	if (!rc && type && strcmp(type, "u32") != 0 && strcmp(type, "s32") != 0 && strcmp(type, "f32") != 0 &&
	    strcmp(type, "x32") != 0)
		rc = cmd_fail(c, CMD_USAGE, "--out-type is u32, s32, f32 or x32, not \"%s\"", type);
	static const char *const of_time[] = {"stats", "trace", "limit", "compiled"};
	for (size_t k = 0; !rc && cmd_flag(c, "untimed") && k < sizeof of_time / sizeof *of_time; k++)
		if (cmd_flag(c, of_time[k]) || cmd_value(c, of_time[k]))
			rc = cmd_fail(c, CMD_USAGE, "--untimed counts no cycles: it does not go with --%s", of_time[k]);
	sim_untimed(g, cmd_flag(c, "untimed"));
	sim_limit(g, (uint64_t)cycles, (uint64_t)instructions);
	*limit_ms = (uint32_t)ceil(seconds * 1000);
	return rc;
}

/* The launch, with the trace and the statistics that are asked for. The sample is the caller's to free. */
static int launch(struct cmd_context *c, struct gpu *g, const struct kernel *k, const struct launch *l,
		  const char *text, struct sample *s, struct time_stats *counts)
{
	const struct func_program *p = sim_program(g, k->id);
	struct trace_writer *t = NULL;
	struct time_hook hook;
	int rc = CMD_OK;
	if (cmd_flag(c, "trace"))
		rc = trace_open(&t, c, cmd_value(c, "trace"), text, p, cmd_value(c, "gpu"), &hook);
	if (rc)
		return rc;
	if (t)
		sim_trace(g, &hook);
	counts->record = ARENA_ARRAY(&c->arena, p->inst_count, struct time_count);
	if (!counts->record)
		return cmd_fail(c, CMD_DEVICE, "out of memory");
	if (cmd_flag(c, "stats"))
		sim_stats(g, counts);
	rc = g->ops->run(g, k->id, l, s, &c->error) ? CMD_DEVICE : CMD_OK;
	const int written = trace_close(t);
	return rc ? rc : written;
}

static int one(struct cmd_context *c, struct gpu *g, struct sim_plan *plan, uint32_t n, const struct kernel *k,
	       const char *text, uint32_t limit_ms, struct watch *w)
{
	const struct func_program *p = sim_program(g, k->id);
	const struct func_watch watch = {.ctx = w, .look = look};
	struct time_stats counts = {0};
	struct sample s = {0};
	struct launch l;
	if (!p)
		return cmd_fail(c, CMD_DEVICE, "out of memory");
	int rc = sim_plan_launch(c, g, plan, n, p, &l);
	if (rc)
		return rc;
	l.time_limit_ms = limit_ms;
	l.compiled = cmd_flag(c, "compiled");
	w->entry = k->entry;
	str_clear(&w->wrong);
	w->begun = w->progress.drawn = seconds_now();
	sim_watch(g, &watch);
	rc = launch(c, g, k, &l, text, &s, &counts);
	sim_watch(g, NULL);
	progress_clear(&w->progress);
	if (!rc)
		rc = print_result(c, g, plan, n, &s, &k->native, &w->wrong);
	if (!rc && s.outcome != OUTCOME_REFUSED && (n + 1 == plan->launch_count || s.outcome != OUTCOME_OK))
		rc = print_words(c, g, plan);
	if (!rc && cmd_flag(c, "stats") && s.outcome != OUTCOME_REFUSED)
		rc = print_stats(c, g, sim_described(g), p, &l, &counts);
	if (!rc && s.outcome != OUTCOME_OK)
		rc = cmd_fail(c, interrupt_requested() ? CMD_INTERRUPTED : CMD_INCOMPLETE,
			      "the kernel did not end well: %s", s.message);
	sample_free(&s);
	return rc;
}

static int launches(struct cmd_context *c, struct gpu *g, struct sim_plan *plan, const char *path, const char *text)
{
	struct kernel *kernels = ARENA_ARRAY(&c->arena, plan->launch_count, struct kernel);
	struct watch w = {.progress = {.log = c->log, .live = c->log_live, .width = c->log_width}};
	uint32_t count = 0, limit_ms = 0, wrong, places;
	int rc = kernels ? settings(c, g, &limit_ms) : cmd_fail(c, CMD_DEVICE, "out of memory");
	str_init(&w.wrong);
	if (!rc && cmd_flag(c, "check") && sim_watch_faults(g, found, &w))
		rc = cmd_fail(c, CMD_DEVICE, "out of memory");
	interrupt_watch();
	for (uint32_t n = 0; !rc && n < plan->launch_count; n++) {
		struct kernel *k = kernels;
		const char *entry = plan->launch[n].entry;
		while (k < kernels + count && (!entry || strcmp(k->entry, entry) != 0))
			k++;
		if (k == kernels + count) {
			k->entry = entry;
			rc = sim_plan_place(c, plan, n, load(c, g, path, text, k));
			count++;
		}
		if (!rc)
			rc = one(c, g, plan, n, k, text, limit_ms, &w);
	}
	str_free(&w.wrong);
	if (rc || !cmd_flag(c, "check"))
		return rc;
	sim_faults(g, &wrong, &places);
	return places ? cmd_fail(c, CMD_INCOMPLETE, "%u accesses are wrong, at %u places", wrong, places) : CMD_OK;
}

int cmd_sim(struct cmd_context *c, int argc, char **argv)
{
	struct sim_plan plan;
	struct gpu *g;
	char *text = NULL;
	(void)argc;
	int rc = cmd_threads(c);
	if (!rc)
		rc = kernel_file_text(c, argv[0], &text);
	if (!rc)
		rc = sim_plan_read(c, &plan);
	if (rc || !text)
		return rc;
	if (gpu_sim.open(&g, cmd_value(c, "gpu"), 1, &c->error))
		return cmd_gpu_code(cmd_value(c, "gpu"), c->error.code);
	rc = kernel_file_template(c, argv[0], g->ops->info(g), &text);
	if (!rc)
		rc = launches(c, g, &plan, argv[0], text);
	g->ops->close(g);
	return rc;
}
