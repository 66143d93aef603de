/* Launches, and how many blocks of a kernel an SM takes. */
#include "exec/driver.h"
#include "gpu/sim/sim_stats.h"
#include <stdio.h>
#include <string.h>

static CUresult failed(const struct CUfunc_st *f, const struct time_result *r)
{
	struct exec_process *x = &exec_process;
	exec_say("kernel %s: %s", f->name, r->message);
	if (r->end == TIME_REFUSED)
		return strstr(r->message, "too many resources") ? EXEC_OUT_OF_RESOURCES : EXEC_INVALID_VALUE;
	x->sticky = r->end != TIME_FAULT	     ? EXEC_TIMEOUT
		    : r->fault == FUNC_FAULT_ALIGN   ? EXEC_MISALIGNED
		    : r->fault == FUNC_FAULT_ASSERT  ? EXEC_ASSERT
		    : r->fault == FUNC_FAULT_TRAP    ? EXEC_LAUNCH_FAILED
		    : r->fault == FUNC_FAULT_BARRIER ? EXEC_ILLEGAL_INSTRUCTION
						     : EXEC_ILLEGAL_ADDRESS;
	return EXEC_OK; /* seen when the launch is waited for */
}

static void print(struct exec_process *x)
{
	if (x->print.length)
		fwrite(x->print.text, 1, x->print.length, stdout);
	if (x->print.lost)
		exec_say("what kernels printed beyond %u bytes is lost", FUNC_PRINT_MOST);
	x->print.length = 0;
	x->print.lost = false;
}

static CUresult run(struct CUfunc_st *f, struct func_launch *l, const struct exec_shape *s)
{
	struct exec_process *x = &exec_process;
	struct time_result r;
	struct time_request q = {.program = f->time,
				 .launch = l,
				 .host_ns = 1e9 * x->spec->host.launch_latency,
				 .stats = exec_stats_of(f),
				 .check = exec_check_launch(f)};
	if (x->last != f->module) { /* the caches hold another module's constants at these addresses */
		time_forget(x->time, TIME_CONSTANT, 0, x->spec->constant_bytes);
		x->last = f->module;
	}
	if (time_launch(x->time, &q, &r))
		return EXEC_OUT_OF_MEMORY;
	exec_stats_launch(f, s, &r);
	x->ns += r.ns + q.host_ns;
	print(x);
	return r.end == TIME_DONE ? EXEC_OK : failed(f, &r);
}

CUresult exec_launch(struct CUfunc_st *f, const struct exec_shape *s, void **params, const uint8_t *packed,
		     size_t packed_bytes)
{
	struct exec_process *x = &exec_process;
	CUresult r = exec_function_ready(f);
	if (r)
		return r;
	const struct func_program *p = f->program;
	uint64_t shared = p->shared_static;
	if (s->shared)
		shared = ((shared + 15) & ~15ull) + s->shared;
	if (p->param_bytes > EXEC_PARAMS || (p->param_count && !params && !packed) || shared > UINT32_MAX)
		return EXEC_INVALID_VALUE;
	if (packed && packed_bytes < p->param_bytes)
		return EXEC_INVALID_VALUE;
	uint8_t *bytes = mem_zero(p->param_bytes + 1, 1);
	if (!bytes)
		return EXEC_OUT_OF_MEMORY;
	if (packed)
		memcpy(bytes, packed, p->param_bytes);
	else
		for (uint32_t k = 0; k < p->param_count; k++)
			memcpy(bytes + p->param[k].offset, params[k], p->param[k].size);
	struct func_launch l = {.grid = {s->grid[0], s->grid[1], s->grid[2]},
				.block = {s->block[0], s->block[1], s->block[2]},
				.shared_bytes = (uint32_t)shared,
				.params = bytes,
				.constant = (const uint8_t *)(uintptr_t)f->module->constants,
				.constant_bytes = f->module->constant_bytes,
				.memory = &x->memory,
				.texture = x->texture,
				.texture_count = EXEC_TEXTURES,
				.print = p->prints ? &x->print : NULL};
	r = run(f, &l, s);
	mem_free(bytes);
	return r;
}

uint32_t exec_blocks_per_sm(struct CUfunc_st *f, uint64_t threads, uint64_t dynamic_shared)
{
	uint64_t shared = f->program->shared_static;
	const char *limit;
	if (dynamic_shared)
		shared = ((shared + 15) & ~15ull) + dynamic_shared;
	return sim_blocks_per_sm(exec_process.spec, f->program, threads, shared, &limit);
}

/* ---- the driver's calls ---- */

EXEC_API CUresult cuLaunchKernel(CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
				 unsigned bz, unsigned shared, CUstream stream, void **params, void **extra)
{
	enum { EXTRA_END = 0, EXTRA_POINTER = 1, EXTRA_SIZE = 2 }; /* CU_LAUNCH_PARAM_* */
	const struct exec_shape s = {{gx, gy, gz}, {bx, by, bz}, shared};
	const uint8_t *packed = NULL;
	size_t bytes = 0;
	(void)stream;
	EXEC_ENTER();
	for (void **e = extra; e && (uintptr_t)*e != EXTRA_END; e += 2) {
		if ((uintptr_t)*e == EXTRA_POINTER)
			packed = e[1];
		else if ((uintptr_t)*e == EXTRA_SIZE)
			bytes = *(size_t *)e[1];
	}
	return exec_leave(f ? exec_launch(f, &s, params, packed, bytes) : EXEC_INVALID_HANDLE);
}

EXEC_API CUresult cuLaunchKernelEx(const struct exec_launch_config *c, CUfunction f, void **params, void **extra)
{
	return cuLaunchKernel(f, c->grid[0], c->grid[1], c->grid[2], c->block[0], c->block[1], c->block[2], c->shared,
			      c->stream, params, extra);
}

EXEC_API CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, CUfunction f, int threads, size_t shared)
{
	EXEC_ENTER();
	CUresult r = blocks && f && threads > 0 ? exec_function_ready(f) : EXEC_INVALID_VALUE;
	if (!r)
		*blocks = (int)exec_blocks_per_sm(f, (uint64_t)threads, shared);
	return exec_leave(r);
}

EXEC_API CUresult cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *blocks, CUfunction f, int threads,
								       size_t shared, unsigned flags)
{
	(void)flags;
	return cuOccupancyMaxActiveBlocksPerMultiprocessor(blocks, f, threads, shared);
}

/* The block with which most threads are on an SM; among equals the largest. */
EXEC_API CUresult cuOccupancyMaxPotentialBlockSize(int *grid, int *block, CUfunction f, size_t (*shared_of)(int),
						   size_t shared, int most)
{
	EXEC_ENTER();
	CUresult r = grid && block && f ? exec_function_ready(f) : EXEC_INVALID_VALUE;
	if (r)
		return exec_leave(r);
	const struct sim_spec *s = exec_process.spec;
	uint32_t best = 0, limit = most > 0 ? (uint32_t)most : s->max_threads_per_block;
	for (uint32_t threads = s->warp_size; threads <= limit && threads <= s->max_threads_per_block;
	     threads += s->warp_size) {
		uint32_t blocks = exec_blocks_per_sm(f, threads, shared_of ? shared_of((int)threads) : shared);
		if (blocks * threads >= best) {
			best = blocks * threads;
			*block = (int)threads;
			*grid = (int)(blocks * s->sm_count);
		}
	}
	return exec_leave(best ? EXEC_OK : EXEC_INVALID_VALUE);
}
