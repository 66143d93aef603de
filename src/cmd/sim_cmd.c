/* fathom sim: one kernel of the user's on a simulated GPU. */
#include "cmd/kernel_file.h"
#include "cmd/sim_trace.h"
#include "ptx/ptx.h"
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define OUT_WORDS_MAX (1u << 26)
#define SECONDS_MOST  60 /* where the user says nothing */

/* ---- what the user gave ---- */

/* bytes:00ff..., in the order of memory; what is not written is 0. */
static int argument_bytes(struct cmd_context *c, struct gpu *g, const char *hex, const struct ptx_param *p, uint32_t n)
{
	uint8_t *bytes = arena_alloc(&c->arena, p->size, 1);
	size_t digits = strlen(hex);
	if (!bytes)
		return cmd_fail(c, CMD_DEVICE, "out of memory");
	if (digits % 2 || digits / 2 > p->size || strspn(hex, "0123456789abcdefABCDEF") != digits)
		return cmd_fail(c, CMD_USAGE,
				"--arg bytes:HEX takes two digits for each of at most %u bytes of %s, not \"%s\"",
				p->size, p->name, hex);
	for (size_t k = 0; k < digits; k += 2) {
		const char pair[3] = {hex[k], hex[k + 1], '\0'};
		bytes[k / 2] = (uint8_t)strtoul(pair, NULL, 16);
	}
	sim_argument(g, n, bytes);
	return CMD_OK;
}

static int arguments(struct cmd_context *c, struct gpu *g, const struct func_program *p, struct launch *l)
{
	const char *text;
	size_t n = 0;
	while (cmd_value_at(c, "arg", n))
		n++;
	if (n != p->param_count)
		return cmd_fail(c, CMD_USAGE, "%s takes %u arguments, %zu were given with --arg", p->name,
				p->param_count, n);
	if (n > LAUNCH_ARGS)
		return cmd_fail(c, CMD_USAGE, "%s takes more than %d arguments", p->name, LAUNCH_ARGS);
	for (size_t i = 0; (text = cmd_value_at(c, "arg", i)); i++) {
		struct launch_arg *a = &l->args[l->arg_count++];
		if (str_starts(text, "bytes:")) {
			int rc = argument_bytes(c, g, text + 6, &p->param[i], (uint32_t)i);
			if (rc)
				return rc;
			continue;
		}
		if (!str_starts(text, "out:")) {
			int rc = kernel_file_number(c, text, &p->param[i], a);
			if (rc)
				return rc;
			continue;
		}
		char *end;
		errno = 0;
		unsigned long words = strtoul(text + 4, &end, 0);
		if (end == text + 4 || *end || errno || text[4] == '-' || !words || words > OUT_WORDS_MAX)
			return cmd_fail(c, CMD_USAGE,
					"--arg out:WORDS takes a count of 32-bit words up to %u, not \"%s\"",
					OUT_WORDS_MAX, text + 4);
		if (l->buffer_count == 1)
			return cmd_fail(c, CMD_USAGE, "only one --arg can be out:WORDS");
		l->buffers[0] = (struct launch_buffer){
		    .bytes = (uint64_t)words * 4, .output = true, .output_words = (uint32_t)words};
		*a = (struct launch_arg){.kind = ARG_BUFFER, .buffer = 0};
		l->buffer_count = 1;
	}
	return CMD_OK;
}

/* ---- what came out ---- */

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
	for (uint32_t i = 0; i < s->words_per_repeat; i++) {
		if (i % 8 == 0)
			str_addf(&out, "%s%6u:", i ? "\n" : "words\n", i);
		str_addf(&out, " %10u", s->words[i]);
	}
	if (s->words_per_repeat)
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
	double limit = SECONDS_MOST;
	if (!p)
		return cmd_fail(c, CMD_DEVICE, "out of memory");
	rc = kernel_file_triple(c, "grid", l.grid);
	if (!rc)
		rc = kernel_file_triple(c, "block", l.block);
	if (!rc)
		rc = arguments(c, g, p, &l);
	if (!rc)
		rc = cmd_seconds(c, "time-limit", 0, 1e6, &limit);
	if (!rc && cmd_flag(c, "trace"))
		rc = trace_open(&t, c, cmd_value(c, "trace"), text, p, cmd_value(c, "gpu"), &hook);
	if (rc)
		return rc;
	snprintf(l.entry, sizeof l.entry, "%s", src.entry);
	l.time_limit_ms = (uint32_t)ceil(limit * 1000);
	if (t)
		sim_trace(g, &hook);
	rc = g->ops->run(g, id, &l, &s, &c->error) ? CMD_DEVICE : CMD_OK;
	int written = trace_close(t);
	if (!rc)
		rc = written;
	if (!rc)
		rc = print_result(c, g, &s, &native);
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
	rc = launch(c, g, argv[0], text);
	g->ops->close(g);
	return rc;
}
