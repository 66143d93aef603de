/* Any bytes as PTX: it reads, or there is one sentence with a place. What reads prints and reads back the same, and every
 * kernel of it becomes a program or, again, one sentence. */
#include "gpu/sim/func/func.h"
#include "ptx/ptx.h"
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_sentence(int rc, const struct err *e)
{
	unsigned line, column;
	if (rc == -12) /* more memory than the fuzzer has */
		return;
	if (e->code != rc || sscanf(e->text, "input:%u:%u: ", &line, &column) != 2 || !line || !column) {
		/* variables larger than the memory are nobody's line */
		if (!strstr(e->text, "variables in .global"))
			abort();
	}
}

static void check_program(const struct func_program *p)
{
	if (!p->inst_count || p->inst[p->inst_count - 1].kind != FUNC_EXIT || p->rows + p->preds >= FUNC_NONE)
		abort();
	for (uint32_t k = 0; k < p->inst_count; k++) {
		const struct func_inst *i = &p->inst[k];
		if (i->kind == FUNC_BRANCH && i->target >= p->inst_count)
			abort();
		if (i->kind == FUNC_BRANCH && i->join != FUNC_NO_JOIN && i->join >= p->inst_count)
			abort();
		for (unsigned x = 0; x < p->info[k].read_count; x++)
			if (p->info[k].read[x] >= p->rows + p->preds)
				abort();
	}
}

/* Constants of gigabytes are right and cost only time. */
static bool small(const struct ptx_module *m)
{
	uint64_t bytes = 0;
	for (uint32_t k = 0; k < m->var_count; k++)
		bytes += m->vars[k].size;
	return bytes < 1 << 20;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct arena a;
	struct err e = {0};
	struct ptx_module *m, *again;
	struct str text;
	const struct func_target targets[] = {{.cc = 13}, {.cc = 90}};
	arena_init(&a);
	str_init(&text);
	int rc = ptx_parse(&m, &a, "input", (const char *)data, size, &e);
	if (rc)
		check_sentence(rc, &e);
	if (rc == 0 && small(m)) {
		if (ptx_print(&text, m) || ptx_parse(&again, &a, "input", text.data, text.len, &e) ||
		    !ptx_equal(m, again))
			abort();
		for (uint32_t k = 0; k < m->func_count; k++) {
			struct func_program *p;
			if (!m->funcs[k].entry)
				continue;
			rc = func_decode(&p, &a, "input", m, m->funcs[k].name, &targets[k % 2], &e);
			if (rc)
				check_sentence(rc, &e);
			else
				check_program(p);
		}
	}
	str_free(&text);
	arena_free(&a);
	return 0;
}
