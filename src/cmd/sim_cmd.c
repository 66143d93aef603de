/* fathom sim: one kernel of the user's on a simulated GPU. */
#include "cmd/files.h"
#include "cmd/kernel_file.h"
#include "cmd/sim_args.h"
#include "cmd/sim_trace.h"
#include "gpu/sim/sim_stats.h"
#include "ptx/ptx.h"
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

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

/* The path of --arg out:WORDS:FILE, or NULL. */
static const char *out_file(const struct cmd_context *c)
{
	const char *text, *colon;
	for (size_t n = 0; (text = cmd_value_at(c, "arg", n)); n++)
		if (str_starts(text, "out:") && (colon = strchr(text + 4, ':')))
			return colon + 1;
	return NULL;
}

/* The words as they are, behind the header of an .npy file (NumPy Enhancement Proposal 1) where the name says so. */
static int write_words(struct cmd_context *c, const char *path, const struct sample *s)
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
			 s->words_per_repeat);
		while ((BEFORE + head.len + 1) % ALIGN)
			str_addc(&head, ' ');
		str_addc(&head, '\n');
		const char before[BEFORE] = {
		    '\x93', 'N', 'U', 'M', 'P', 'Y', 1, 0, (char)head.len, (char)(head.len >> 8)};
		str_addn(&out, before, sizeof before);
		str_addn(&out, str_text(&head), head.len);
	}
	str_addn(&out, (const char *)s->words, 4ull * s->words_per_repeat);
	int rc = out.failed || head.failed ? cmd_fail(c, CMD_DEVICE, "out of memory") : files_replace(c, path, &out);
	str_free(&head);
	str_free(&out);
	return rc;
}

static int print_result(struct cmd_context *c, struct gpu *g, const struct sample *s, const struct native_info *n)
{
	const struct time_result *r = sim_result(g);
	const struct func_print *said = sim_printed(g);
	struct str out;
	str_init(&out);
	if (said->length)
		str_addf(&out, "%.*s%s", (int)said->length, said->text,
			 said->text[said->length - 1] == '\n' ? "" : "\n");
	if (said->lost)
		str_addf(&out, "(what was printed beyond %u bytes is lost)\n", FUNC_PRINT_MOST);
	str_addf(&out, "outcome       %s\n", outcome_name(s->outcome));
	if (*s->message)
		str_addf(&out, "because       %s\n", s->message);
	if (s->outcome != OUTCOME_REFUSED) {
		str_addf(&out, "cycles        %llu", (unsigned long long)r->cycles);
		if (s->elapsed_ms >= 0)
			str_addf(&out, " (%.6g ms)", s->elapsed_ms);
		str_addf(&out, "\ninstructions  %llu issued by warps; %u native in the kernel, %u clock reads\n",
			 (unsigned long long)r->instructions, n->instructions, n->clock_reads);
	}
	for (uint32_t i = 0; !out_file(c) && i < s->words_per_repeat; i++) {
		if (i % 8 == 0)
			str_addf(&out, "%s%6u:", i ? "\n" : "words\n", i);
		word(&out, s->words[i], cmd_value(c, "out-type"));
	}
	if (s->words_per_repeat && !out_file(c))
		str_add(&out, "\n");
	int rc = out.failed ? cmd_fail(c, CMD_DEVICE, "out of memory") : cmd_print(c, &out);
	str_free(&out);
	return rc;
}

static int first_entry(struct cmd_context *c, const char *path, const char *text, const char **entry)
{
	struct ptx_module *m;
	const char *wanted = cmd_value(c, "entry");
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

static int launch(struct cmd_context *c, struct gpu *g, const char *path, const char *text)
{
	struct launch l = {.repeats = 1};
	struct sample s = {0};
	struct native_info native;
	struct kernel_source src = {.name = path, .text = text};
	uint32_t id;
	int rc = first_entry(c, path, text, &src.entry);
	if (rc)
		return rc;
	rc = g->ops->load(g, &src, 1, &id, &native, &c->error);
	if (rc)
		return rc == -ENOMEM ? CMD_DEVICE : CMD_FILE;
	const struct func_program *p = sim_program(g, id);
	struct trace_writer *t = NULL;
	struct time_hook hook;
	double limit = SECONDS_MOST, shared = 0, cycles = 0;
	const char *type = cmd_value(c, "out-type");
	if (!p)
		return cmd_fail(c, CMD_DEVICE, "out of memory");
	rc = kernel_file_triple(c, "grid", l.grid);
	if (!rc)
		rc = kernel_file_triple(c, "block", l.block);
	if (!rc)
		rc = sim_args(c, g, p, &l);
	if (!rc)
		rc = cmd_seconds(c, "time-limit", 0, 1e6, &limit);
	if (!rc)
		rc = cmd_number(c, "limit", 1, 1e15, &cycles);
	if (!rc)
		rc = cmd_number(c, "shared", 0, 1 << 24, &shared);
	if (!rc && type && strcmp(type, "u32") != 0 && strcmp(type, "s32") != 0 && strcmp(type, "f32") != 0 &&
	    strcmp(type, "x32") != 0)
		rc = cmd_fail(c, CMD_USAGE, "--out-type is u32, s32, f32 or x32, not \"%s\"", type);
	l.shared_bytes = (uint32_t)shared;
	sim_limit(g, (uint64_t)cycles);
	if (!rc && cmd_flag(c, "trace"))
		rc = trace_open(&t, c, cmd_value(c, "trace"), text, p, cmd_value(c, "gpu"), &hook);
	if (rc)
		return rc;
	snprintf(l.entry, sizeof l.entry, "%s", src.entry);
	l.time_limit_ms = (uint32_t)ceil(limit * 1000);
	l.compiled = cmd_flag(c, "compiled");
	if (t)
		sim_trace(g, &hook);
	struct time_stats counts = {.record = ARENA_ARRAY(&c->arena, p->inst_count, struct time_count)};
	if (!counts.record)
		return cmd_fail(c, CMD_DEVICE, "out of memory");
	if (cmd_flag(c, "stats"))
		sim_stats(g, &counts);
	rc = g->ops->run(g, id, &l, &s, &c->error) ? CMD_DEVICE : CMD_OK;
	int written = trace_close(t);
	if (!rc)
		rc = written;
	if (!rc)
		rc = print_result(c, g, &s, &native);
	if (!rc && out_file(c) && s.words_per_repeat)
		rc = write_words(c, out_file(c), &s);
	if (!rc && cmd_flag(c, "stats") && s.outcome != OUTCOME_REFUSED)
		rc = print_stats(c, g, sim_described(g), p, &l, &counts);
	if (!rc && s.outcome != OUTCOME_OK)
		rc = cmd_fail(c, CMD_INCOMPLETE, "the kernel did not end well: %s", s.message);
	sample_free(&s);
	return rc;
}

int cmd_sim(struct cmd_context *c, int argc, char **argv)
{
	struct gpu *g;
	char *text = NULL;
	(void)argc;
	int rc = cmd_threads(c);
	if (!rc)
		rc = kernel_file_text(c, argv[0], &text);
	if (rc || !text)
		return rc;
	if (gpu_sim.open(&g, cmd_value(c, "gpu"), 1, &c->error))
		return c->error.code == -ENOMEM ? CMD_DEVICE : CMD_FILE;
	rc = kernel_file_template(c, argv[0], g->ops->info(g), &text);
	if (!rc)
		rc = launch(c, g, argv[0], text);
	g->ops->close(g);
	return rc;
}
