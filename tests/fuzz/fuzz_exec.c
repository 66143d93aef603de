/* Any bytes as PTX that a simulated GPU executes: each kernel ends, is refused or is stopped in time, with one sentence. Its length
 * chooses the launch. */
#include "gpu/gpu.h"
#include "ptx/ptx.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SMALL	  (1u << 20) /* bytes of variables: more is right, and costs only time */
#define LIMIT_MS  150
#define OUT_WORDS 1024

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Pointers to the output where a parameter has their size, else small numbers. */
static bool fill(struct launch *l, const struct ptx_func *f)
{
	l->buffer_count = 1;
	l->buffers[0] = (struct launch_buffer){.bytes = 4 * OUT_WORDS, .output = true, .output_words = OUT_WORDS};
	for (uint32_t i = 0; i < f->param_count && i < LAUNCH_ARGS; i++)
		l->args[l->arg_count++] = f->params[i].size == 8
					      ? (struct launch_arg){.kind = ARG_BUFFER}
					      : (struct launch_arg){.kind = ARG_U32, .bits = 3 * i + 1};
	return f->param_count <= LAUNCH_ARGS;
}

static void execute(const char *device, const char *text, const struct ptx_func *f, size_t size)
{
	struct launch l = {.repeats = 1,
			   .time_limit_ms = LIMIT_MS,
			   .grid = {1 + size % 5, 1, 1},
			   .block = {1 + size % 96, 1 + size / 96 % 2, 1},
			   .shared_bytes = 16 * (size % 64)};
	struct kernel_source source = {.name = "input", .entry = f->name, .text = text};
	struct native_info native;
	struct sample s = {0};
	struct gpu *g;
	struct err e = {0};
	uint32_t id;

	if (gpu_open(&g, device, 1, false, &e))
		abort();
	snprintf(l.entry, sizeof(l.entry), "%s", f->name);
	snprintf(l.label, sizeof(l.label), "input");
	if (fill(&l, f)) {
		int rc = g->ops->load(g, &source, 1, &id, &native, &e);
		if (rc == 0)
			rc = g->ops->run(g, id, &l, &s, &e);
		if (rc && !e.text[0])
			abort();
		sample_free(&s);
	}
	g->ops->close(g);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const devices[] = {"sim:toy", "sim:v100"};
	struct err e = {0};
	struct ptx_module *m;
	struct arena a;
	uint64_t bytes = 0;
	char *text = malloc(size + 1);

	if (!text)
		return 0;
	memcpy(text, data, size);
	text[size] = 0;
	arena_init(&a);
	if (strlen(text) == size && ptx_parse(&m, &a, "input", text, size, &e) == 0) {
		for (uint32_t k = 0; k < m->var_count; k++)
			bytes += m->vars[k].size;
		for (uint32_t k = 0; k < m->func_count && bytes < SMALL; k++)
			if (m->funcs[k].entry)
				execute(devices[size % 2], text, &m->funcs[k], size);
	}
	arena_free(&a);
	free(text);
	return 0;
}
