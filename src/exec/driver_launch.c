/* Launches, and how many blocks of a kernel an SM takes. */
#include "exec/driver.h"
#include "gpu/sim/sim_stats.h"
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define WORKSPACE_BYTES	 64
#define CLUSTER_PORTABLE 8 /* blocks: CUDA C++ Programming Guide, thread block clusters */
#define SLOW_SECONDS	 30

static CUresult failed(const struct CUfunc_st *f, const struct time_result *r)
{
	exec_say("kernel %s: %s", f->name, r->message);
	if (r->end == TIME_REFUSED)
		return strstr(r->message, "too many resources") ? EXEC_OUT_OF_RESOURCES : EXEC_INVALID_VALUE;
	exec_here->sticky = r->end != TIME_FAULT					      ? EXEC_TIMEOUT
			    : r->fault == FUNC_FAULT_ALIGN				      ? EXEC_MISALIGNED
			    : r->fault == FUNC_FAULT_ASSERT				      ? EXEC_ASSERT
			    : r->fault == FUNC_FAULT_TRAP				      ? EXEC_LAUNCH_FAILED
			    : r->fault == FUNC_FAULT_BARRIER || r->fault == FUNC_FAULT_TENSOR ? EXEC_ILLEGAL_INSTRUCTION
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

/* The kernels' own malloc: an allocation like the program's, which cannot free it. */
static uint64_t take(void *ctx, uint64_t bytes)
{
	uint64_t at;
	exec_here = ctx; /* a thread of the launch may be another one */
	if (bytes > exec_here->heap_most - exec_here->heap_used || exec_alloc(bytes, EXEC_DEVICE, &at))
		return 0;
	exec_here->heap_used += bytes;
	exec_block_of(at)->module = true;
	return at;
}

static void give(void *ctx, uint64_t address)
{
	const struct exec_block *b = exec_block_of(address);
	exec_here = ctx;
	const uint64_t bytes = b ? b->bytes : 0;
	if (b && b->module && !exec_free(address))
		exec_here->heap_used -= bytes;
}

static double seconds_now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* A program may need far more cycles than anybody waits for: what to do about it is said once. True: a signal ends it. */
static bool slow(void *begun, uint64_t blocks_begun, uint64_t blocks)
{
	struct exec_process *x = &exec_process;
	const double now = seconds_now() - *(const double *)begun;
	if (x->ending)
		return true;
	if (!x->slow_told && !x->untimed && x->wall + now > SLOW_SECONDS) {
		x->slow_told = true;
		exec_say("kernels have taken %d s of this machine, and of the latest %llu of %llu blocks have begun; "
			 "`fathom exec --untimed` computes the same without cycles, 10 to 100 times as fast",
			 SLOW_SECONDS, (unsigned long long)blocks_begun, (unsigned long long)blocks);
	}
	return false;
}

static CUresult run(struct CUfunc_st *f, struct func_launch *l, const struct exec_shape *s)
{
	struct exec_process *x = &exec_process;
	struct time_result r;
	double begun = seconds_now();
	const struct func_watch watch = {.ctx = &begun, .look = slow};
	struct time_request q = {.program = f->time,
				 .launch = l,
				 .host_ns = 1e9 * exec_here->spec->host.launch_latency,
				 .stats = exec_stats_of(f),
				 .watch = &watch,
				 .untimed = x->untimed,
				 .check = sim_check_launch(exec_here->check, f, f->program)};
	if (f->program->borrows && !x->untimed && !x->borrows_told) {
		x->borrows_told = true;
		exec_say("kernel %s: the time of %s is not modelled; it takes that of other instructions", f->name,
			 f->program->borrows);
	}
	if (exec_here->last != f->module) { /* the caches hold another module's constants at these addresses */
		time_forget(exec_here->time, TIME_CONSTANT, 0, exec_here->spec->constant_bytes);
		exec_here->last = f->module;
	}
	if (time_launch(exec_here->time, &q, &r))
		return EXEC_OUT_OF_MEMORY;
	x->wall += seconds_now() - begun;
	exec_stats_launch(f, s, &r);
	exec_here->ns += x->untimed ? fmax(q.host_ns, 1e9 * exec_here->spec->host.launch_interval) : r.ns + q.host_ns;
	print(x);
	return r.end == TIME_DONE || x->ending ? EXEC_OK : failed(f, &r);
}

/* All blocks have to be there at once: they wait for each other, by a word behind the first one of the workspace. */
static CUresult cooperative(struct CUfunc_st *f, const struct exec_shape *s, uint64_t *workspace)
{
	const uint64_t threads = (uint64_t)s->block[0] * s->block[1] * s->block[2];
	const uint64_t blocks = (uint64_t)s->grid[0] * s->grid[1] * s->grid[2];
	if (blocks > (uint64_t)exec_blocks_per_sm(f, threads, s->shared) * exec_here->spec->sm_count)
		return EXEC_COOPERATIVE_TOO_LARGE;
	if (!exec_here->workspace) {
		CUresult r = exec_alloc(WORKSPACE_BYTES, EXEC_MANAGED, &exec_here->workspace);
		if (r)
			return r;
		exec_block_of(exec_here->workspace)->module = true;
	}
	memset((void *)(uintptr_t)exec_here->workspace, 0, WORKSPACE_BYTES);
	exec_written(exec_here->workspace, WORKSPACE_BYTES);
	*workspace = exec_here->workspace;
	return EXEC_OK;
}

CUresult exec_pack(struct CUfunc_st *f, void **params, void **extra, uint8_t **packed, size_t *bytes)
{
	enum { EXTRA_END = 0, EXTRA_POINTER = 1, EXTRA_SIZE = 2 }; /* CU_LAUNCH_PARAM_* */
	const uint8_t *given = NULL;
	size_t given_bytes = 0;
	CUresult r = exec_function_ready(f);
	if (r)
		return r;
	const struct func_program *p = f->program;
	for (void **e = extra; e && (uintptr_t)*e != EXTRA_END; e += 2) {
		if ((uintptr_t)*e == EXTRA_POINTER)
			given = e[1];
		else if ((uintptr_t)*e == EXTRA_SIZE)
			given_bytes = *(size_t *)e[1];
	}
	if (p->param_bytes > EXEC_PARAMS || (p->param_count && !params && !given) ||
	    (given && given_bytes < p->param_bytes))
		return EXEC_INVALID_VALUE;
	*bytes = p->param_bytes;
	*packed = mem_zero(*bytes + 1, 1);
	if (!*packed)
		return EXEC_OUT_OF_MEMORY;
	if (given)
		memcpy(*packed, given, *bytes);
	for (uint32_t k = 0; !given && k < p->param_count; k++)
		memcpy(*packed + p->param[k].offset, params[k], p->param[k].size);
	return EXEC_OK;
}

/* How many blocks the clusters have that a launch asks for, or its kernel. */
static uint64_t cluster_size(const struct CUfunc_st *f, const uint32_t cluster[3])
{
	const uint32_t *of = cluster[0] ? cluster : f->program->cluster;
	return of[0] ? (uint64_t)of[0] * of[1] * of[2] : 1;
}

static bool cluster_fits(const struct CUfunc_st *f, const struct exec_shape *s)
{
	const uint32_t *of = s->cluster[0] ? s->cluster : f->program->cluster;
	for (unsigned k = 0; of[0] && k < 3; k++)
		if (!of[k] || s->grid[k] % of[k])
			return false;
	return cluster_size(f, s->cluster) <= (f->large_clusters ? FUNC_CLUSTER_MOST : CLUSTER_PORTABLE);
}

CUresult exec_launch(struct CUfunc_st *f, const struct exec_shape *s, const uint8_t *packed)
{
	struct exec_process *x = &exec_process;
	CUresult r = exec_function_ready(f);
	if (r)
		return r;
	const struct func_program *p = f->program;
	uint64_t shared = p->shared_static;
	if (s->shared)
		shared = ((shared + 15) & ~15ull) + s->shared;
	if (shared > UINT32_MAX || (shared > exec_here->spec->shared_per_block && s->shared > f->dynamic_shared))
		return EXEC_INVALID_VALUE; /* more than a kernel has that did not opt in */
	if (!cluster_fits(f, s))
		return EXEC_INVALID_CLUSTER;
	const struct func_heap heap = {.ctx = exec_here, .take = take, .give = give};
	struct func_launch l = {.heap = &heap,
				.grid = {s->grid[0], s->grid[1], s->grid[2]},
				.block = {s->block[0], s->block[1], s->block[2]},
				.cluster = {s->cluster[0], s->cluster[1], s->cluster[2]},
				.shared_bytes = (uint32_t)shared,
				.params = packed,
				.constant = (const uint8_t *)(uintptr_t)f->module->constants,
				.constant_bytes = f->module->constant_bytes,
				.memory = &exec_here->memory,
				.texture = x->texture,
				.texture_count = EXEC_TEXTURES,
				.named = f->module->named,
				.named_count = f->module->named ? f->module->ptx->var_count : 0,
				.print = p->prints ? &x->print : NULL};
	r = s->cooperative ? cooperative(f, s, &l.workspace) : EXEC_OK;
	return r ? r : run(f, &l, s);
}

uint32_t exec_blocks_per_sm(struct CUfunc_st *f, uint64_t threads, uint64_t dynamic_shared)
{
	uint64_t shared = f->program->shared_static;
	const char *limit;
	if (dynamic_shared)
		shared = ((shared + 15) & ~15ull) + dynamic_shared;
	return sim_blocks_per_sm(exec_here->spec, f->program, threads, shared, &limit);
}

/* ---- the driver's calls ---- */

static CUresult launch(CUfunction f, const struct exec_shape *s, CUstream stream, void **params, void **extra)
{
	struct exec_work w = {.kind = EXEC_WORK_KERNEL, .of.kernel = {.f = f, .shape = *s}};
	if (!f)
		return EXEC_INVALID_HANDLE;
	EXEC_ENTER();
	CUresult r = exec_leave(exec_pack(f, params, extra, &w.of.kernel.packed, &w.of.kernel.bytes));
	if (!r)
		r = exec_submit(stream, &w);
	mem_free(w.of.kernel.packed);
	return r;
}

EXEC_API CUresult cuLaunchKernel(CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
				 unsigned bz, unsigned shared, CUstream stream, void **params, void **extra)
{
	return launch(f, &(struct exec_shape){.grid = {gx, gy, gz}, .block = {bx, by, bz}, .shared = shared}, stream,
		      params, extra);
}

EXEC_API CUresult cuLaunchCooperativeKernel(CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
					    unsigned by, unsigned bz, unsigned shared, CUstream stream, void **params)
{
	return launch(
	    f, &(struct exec_shape){.grid = {gx, gy, gz}, .block = {bx, by, bz}, .shared = shared, .cooperative = true},
	    stream, params, NULL);
}

static void config_shape(struct exec_shape *s, const struct exec_launch_config *c)
{
	enum { COOPERATIVE = 2, CLUSTER = 4 }; /* CUlaunchAttributeID */
	*s = (struct exec_shape){.grid = {c->grid[0], c->grid[1], c->grid[2]},
				 .block = {c->block[0], c->block[1], c->block[2]},
				 .shared = c->shared};
	for (unsigned k = 0; k < c->attribute_count; k++) {
		const struct exec_launch_attribute *a = &c->attribute[k];
		if (a->id == COOPERATIVE)
			s->cooperative = a->value[0] != 0;
		if (a->id == CLUSTER)
			memcpy(s->cluster, a->value, sizeof s->cluster);
	}
}

EXEC_API CUresult cuLaunchKernelEx(const struct exec_launch_config *c, CUfunction f, void **params, void **extra)
{
	struct exec_shape s;
	config_shape(&s, c);
	return launch(f, &s, c->stream, params, extra);
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

static uint64_t blocks_at_once(struct CUfunc_st *f, const struct exec_shape *s)
{
	const uint64_t threads = (uint64_t)s->block[0] * s->block[1] * s->block[2];
	return (uint64_t)exec_blocks_per_sm(f, threads, s->shared) * exec_here->spec->sm_count;
}

/* What both questions about clusters begin with. */
static CUresult cluster_asked(const int *out, CUfunction f, const struct exec_launch_config *c, struct exec_shape *s)
{
	const CUresult r = out && f && c ? exec_function_ready(f) : EXEC_INVALID_VALUE;
	if (!r)
		config_shape(s, c);
	return r;
}

EXEC_API CUresult cuOccupancyMaxActiveClusters(int *clusters, CUfunction f, const struct exec_launch_config *c)
{
	struct exec_shape s;
	EXEC_ENTER();
	CUresult r = cluster_asked(clusters, f, c, &s);
	if (!r && !cluster_fits(f, &s))
		r = EXEC_INVALID_CLUSTER;
	if (!r)
		*clusters = (int)(blocks_at_once(f, &s) / cluster_size(f, s.cluster));
	return exec_leave(r);
}

EXEC_API CUresult cuOccupancyMaxPotentialClusterSize(int *blocks, CUfunction f, const struct exec_launch_config *c)
{
	struct exec_shape s;
	EXEC_ENTER();
	const CUresult r = cluster_asked(blocks, f, c, &s);
	if (r)
		return exec_leave(r);
	const uint64_t most = f->large_clusters ? FUNC_CLUSTER_MOST : CLUSTER_PORTABLE, room = blocks_at_once(f, &s);
	*blocks = (int)(room < most ? room : most);
	return exec_leave(EXEC_OK);
}

/* The block with which most threads are on an SM; among equals the largest. */
EXEC_API CUresult cuOccupancyMaxPotentialBlockSize(int *grid, int *block, CUfunction f, size_t (*shared_of)(int),
						   size_t shared, int most)
{
	EXEC_ENTER();
	CUresult r = grid && block && f ? exec_function_ready(f) : EXEC_INVALID_VALUE;
	if (r)
		return exec_leave(r);
	const struct sim_spec *s = exec_here->spec;
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
