/* The process's simulated GPUs, and what every call begins and ends with. */
#include "base/embed.h"
#include "exec/driver.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct exec_process exec_process = {.lock = PTHREAD_MUTEX_INITIALIZER};
_Thread_local struct exec_device *exec_here;

#define MEMORY_LEAST (64ull << 20)
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
static int open_region(struct func_region *r, struct exec_heap *h, uint64_t base, uint64_t most)
{
	for (uint64_t bytes = most < EXEC_STRIDE ? most : EXEC_STRIDE; bytes; bytes /= 2) {
		uint8_t *data = mem_sparse_at((void *)(uintptr_t)base, bytes);
		if (data) {
			*r = (struct func_region){.base = base, .size = bytes, .data = data};
			*h = (struct exec_heap){.base = base, .size = bytes, .align = EXEC_ALIGN};
			return 0;
		}
		if (bytes < MEMORY_LEAST)
			break;
	}
	return -1;
}

static uint32_t threads_wanted(void)
{
	const char *text = getenv("FATHOM_THREADS");
	long n = text && *text ? strtol(text, NULL, 10) : sysconf(_SC_NPROCESSORS_ONLN);
	return n < 1 ? 1 : n > THREADS_MOST ? THREADS_MOST : (uint32_t)n;
}

static int open_device(struct exec_device *d, const char *gpu, const struct func_region *host)
{
	struct exec_process *x = &exec_process;
	struct err e = {0};
	d->index = d->primary.device = x->devices;
	d->heap_most = HEAP_BYTES;
	if (spec_open(&d->spec, &x->arena, gpu, &e)) {
		exec_say("%s", e.text);
		return -1;
	}
	if (time_open(&d->time, d->spec, 1) ||
	    open_region(&d->memory.region[0], &d->heap, EXEC_BASE + (uint64_t)d->index * EXEC_STRIDE,
			d->spec->memory_bytes)) {
		exec_say("out of memory for the simulated GPU");
		return -1;
	}
	d->memory.region[1] = *host;
	d->memory.count = EXEC_REGISTERED;
	time_threads(d->time, threads_wanted());
	exec_check_open(d);
	x->devices++;
	return 0;
}

static int open_process(struct exec_process *x)
{
	const char *gpus = getenv("FATHOM_EXEC_GPU");
	struct func_region host;
	arena_init(&x->arena);
	if (!gpus) {
		exec_say("FATHOM_EXEC_GPU does not name a simulated GPU: start the program with `fathom exec`");
		return -1;
	}
	x->untimed = getenv("FATHOM_EXEC_UNTIMED") != NULL;
	x->print.text = arena_alloc(&x->arena, FUNC_PRINT_MOST, 1);
	char *names = arena_strdup(&x->arena, gpus), *rest = names;
	if (!x->print.text || !names ||
	    open_region(&host, &x->host, EXEC_BASE + EXEC_DEVICES * EXEC_STRIDE, EXEC_HOST_MOST)) {
		exec_say("out of memory for the simulated GPU");
		return -1;
	}
	for (char *one; (one = strtok_r(rest, ",", &rest)) != NULL;) {
		if (x->devices == EXEC_DEVICES) {
			exec_say("a program can have %d simulated GPUs at most", EXEC_DEVICES);
			return -1;
		}
		if (open_device(&x->device[x->devices], one, &host))
			return -1;
	}
	exec_stats_open();
	exec_signals_open();
	x->open = x->devices > 0;
	return x->open ? 0 : -1;
}

CUresult exec_leave(CUresult r)
{
	pthread_mutex_unlock(&exec_process.lock);
	while (exec_process.ending) /* the program's end has begun, and what it does now would be counted */
		pause();
	return r;
}

void exec_begin(void)
{
	pthread_mutex_lock(&exec_process.lock);
	if (!exec_process.open && open_process(&exec_process))
		_exit(EXEC_EXIT);
	exec_here = &exec_process.device[exec_current()];
}

CUresult exec_enter(void)
{
	exec_begin();
	return exec_here->sticky ? exec_leave(exec_here->sticky) : EXEC_OK;
}

CUresult exec_on(struct exec_device *d)
{
	exec_here = d ? d : exec_here;
	return exec_here->sticky;
}

struct exec_device *exec_numbered(CUdevice device)
{
	return device >= 0 && device < exec_process.devices ? &exec_process.device[device] : NULL;
}

void exec_copy_takes(uint64_t bytes, bool to_device)
{
	const struct host_spec *h = &exec_here->spec->host;
	double bandwidth = to_device ? h->h2d : h->d2h;
	exec_here->ns += 1e9 * (h->copy_latency + (bandwidth > 0 ? (double)bytes / bandwidth : 0));
}
