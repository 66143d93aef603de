/* The process's one simulated GPU, and what every call begins and ends with. */
#include "base/embed.h"
#include "exec/driver.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct exec_process exec_process = {.lock = PTHREAD_MUTEX_INITIALIZER};

#define MEMORY_LEAST (64ull << 20)
#define APART	     (1ull << 30) /* the host's memory begins at a multiple of it */
#define THREADS_MOST 16
#define HEAP_BYTES   (8u << 20) /* CUDA C++ Programming Guide, dynamic global memory allocation */

void exec_say(const char *fmt, ...)
{
	va_list ap;
	fflush(stdout);
	fputs("fathom exec: ", stderr);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
}

void exec_unserved(const char *call, const char *why)
{
	exec_say("the program calls %s, which the simulated GPU does not serve%s%s", call, *why ? ": " : "", why);
	_exit(EXEC_EXIT);
}

/* As much memory from base on as the system gives address space for, at most so much. */
static int open_region(struct exec_process *x, struct exec_heap *h, uint64_t base, uint64_t most)
{
	for (uint64_t bytes = most; bytes; bytes /= 2) {
		uint8_t *data = mem_sparse_at((void *)(uintptr_t)base, bytes);
		if (data) {
			x->memory.region[x->memory.count++] =
			    (struct func_region){.base = base, .size = bytes, .data = data};
			*h = (struct exec_heap){.base = base, .size = bytes, .align = EXEC_ALIGN};
			return 0;
		}
		if (bytes < MEMORY_LEAST)
			break;
	}
	return -1;
}

static int open_memory(struct exec_process *x)
{
	const uint64_t after = (x->spec->memory_bytes + APART - 1) / APART * APART;
	return open_region(x, &x->heap, EXEC_BASE, x->spec->memory_bytes) ||
		       open_region(x, &x->host, EXEC_BASE + after, EXEC_HOST_MOST)
		   ? -1
		   : 0;
}

static uint32_t threads_wanted(void)
{
	const char *text = getenv("FATHOM_THREADS");
	long n = text && *text ? strtol(text, NULL, 10) : sysconf(_SC_NPROCESSORS_ONLN);
	return n < 1 ? 1 : n > THREADS_MOST ? THREADS_MOST : (uint32_t)n;
}

static int open_device(struct exec_process *x)
{
	struct err e = {0};
	const char *gpu = getenv("FATHOM_EXEC_GPU");
	arena_init(&x->arena);
	if (!gpu) {
		exec_say("FATHOM_EXEC_GPU does not name a simulated GPU: start the program with `fathom exec`");
		return -1;
	}
	if (spec_open(&x->spec, &x->arena, gpu, &e)) {
		exec_say("%s", e.text);
		return -1;
	}
	x->heap_most = HEAP_BYTES;
	x->untimed = getenv("FATHOM_EXEC_UNTIMED") != NULL;
	x->print.text = arena_alloc(&x->arena, FUNC_PRINT_MOST, 1);
	if (!x->print.text || time_open(&x->time, x->spec, 1) || open_memory(x)) {
		exec_say("out of memory for the simulated GPU");
		return -1;
	}
	time_threads(x->time, threads_wanted());
	exec_stats_open();
	exec_check_open();
	exec_signals_open();
	x->open = true;
	return 0;
}

CUresult exec_leave(CUresult r)
{
	pthread_mutex_unlock(&exec_process.lock);
	while (exec_process.ending) /* the program's end has begun, and what it does now would be counted */
		pause();
	return r;
}

CUresult exec_enter(void)
{
	pthread_mutex_lock(&exec_process.lock);
	if (!exec_process.open && open_device(&exec_process))
		_exit(EXEC_EXIT);
	return exec_process.sticky ? exec_leave(exec_process.sticky) : EXEC_OK;
}

void exec_copy_takes(uint64_t bytes, bool to_device)
{
	const struct host_spec *h = &exec_process.spec->host;
	double bandwidth = to_device ? h->h2d : h->d2h;
	exec_process.ns += 1e9 * (h->copy_latency + (bandwidth > 0 ? (double)bytes / bandwidth : 0));
}
