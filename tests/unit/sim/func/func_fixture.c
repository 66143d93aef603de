#include "func_fixture.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

void fixture_open(struct func_fixture *f)
{
	memset(f, 0, sizeof *f);
	arena_init(&f->a);
	assert_int_equal(func_memory_add(&f->memory, FIXTURE_OUT, FIXTURE_BYTES, &f->out), 0);
	assert_int_equal(func_memory_add(&f->memory, FIXTURE_IN, FIXTURE_BYTES, &f->in), 0);
	f->out = &f->memory.region[0];
	f->in = &f->memory.region[1];
	for (int k = 0; k < 3; k++)
		f->grid[k] = f->block[k] = 1;
	f->block[0] = 32;
}

void fixture_close(struct func_fixture *f)
{
	func_memory_free(&f->memory);
	arena_free(&f->a);
}

int fixture_load(struct func_fixture *f, const char *text, int cc)
{
	struct ptx_module *m;
	struct func_target t = {.cc = cc, .flushes = cc < 20, .mad = cc < 20 ? FUNC_MAD_TRUNCATED : FUNC_MAD_FUSED};
	struct func_region *globals;
	int rc = ptx_parse(&m, &f->a, "test", text, strlen(text), &f->e);
	if (!rc)
		rc = func_decode(&f->program, &f->a, "test", m, "k", &t, &f->e);
	if (rc || !f->program->global_bytes)
		return rc;
	assert_int_equal(func_memory_add(&f->memory, FUNC_MODULE_BASE, f->program->global_bytes, &globals), 0);
	if (f->program->global_init)
		memcpy(globals->data, f->program->global_init, f->program->global_bytes);
	return 0;
}

int fixture_try(struct func_fixture *f, struct func_outcome *out)
{
	uint64_t params[16] = {FIXTURE_OUT, FIXTURE_IN, 0x1122334455667788ull, 7};
	struct func_launch l = {.program = f->program,
				.warp_size = 32,
				.sm_count = 4,
				.max_warps = 32,
				.shared_bytes = (uint32_t)f->program->shared_static + f->dynamic_shared,
				.params = (const uint8_t *)params,
				.constant = f->program->const_init,
				.constant_bytes = f->program->const_init ? f->program->const_bytes : 0,
				.memory = &f->memory};
	memcpy(l.grid, f->grid, sizeof l.grid);
	memcpy(l.block, f->block, sizeof l.block);
	return func_run(&l, &(struct func_how){.limit = 1000000}, out);
}

void fixture_run(struct func_fixture *f)
{
	struct func_outcome out = {0};
	assert_int_equal(fixture_try(f, &out), 0);
	if (out.end != FUNC_DONE)
		fail_msg("%s", out.message);
}
