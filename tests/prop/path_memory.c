#include "path_memory.h"
#include "base/arena.h"
#include <errno.h>
#include <execinfo.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define FRAMES 64
#define SLOTS  (1u << 16)

extern const char __executable_start, etext; /* of the linker: what lies between them is this program */

static struct {
	pthread_mutex_t lock;
	uint64_t slot[SLOTS], order[SLOTS / 2]; /* hashes, open addressing; in the order of their coming */
	size_t count;
	long live, done;
	bool record, failed;
	uint64_t fail;
	void *frame[FRAMES];
	int frames, outside;
} hook = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* The same in every process of this program, wherever it was loaded; never 0. Recursion of any depth is one path. */
static uint64_t hash_path(void **frame, int n)
{
	uint64_t h = 0xcbf29ce484222325u, last = 0;
	for (int i = 2; i < n; i++) {
		const char *at = frame[i];
		if (at < &__executable_start || at >= &etext)
			continue;
		uint64_t place = (uint64_t)(at - &__executable_start);
		if (place == last)
			continue;
		last = place;
		h = (h ^ place) * 0x100000001b3u;
		h ^= h >> 31;
	}
	return h ? h : 1;
}

static bool is_new(uint64_t h)
{
	uint32_t i = (uint32_t)(h * 0x9e3779b97f4a7c15u >> 48) % SLOTS;
	for (; hook.slot[i]; i = (i + 1) % SLOTS)
		if (hook.slot[i] == h)
			return false;
	if (hook.count < SLOTS / 2) {
		hook.slot[i] = h;
		hook.order[hook.count++] = h;
	}
	return true;
}

static bool must_fail(void)
{
	void *frame[FRAMES];
	bool fails = false;
	pthread_mutex_lock(&hook.lock);
	hook.done++;
	if (hook.record || (hook.fail && !hook.failed)) {
		int n = backtrace(frame, FRAMES);
		uint64_t h = hash_path(frame, n - hook.outside);
		if (hook.record)
			is_new(h);
		if (hook.fail == h && !hook.failed) {
			fails = hook.failed = true;
			memcpy(hook.frame, frame, sizeof frame);
			hook.frames = n;
		}
	}
	pthread_mutex_unlock(&hook.lock);
	return fails;
}

static void count(long by)
{
	pthread_mutex_lock(&hook.lock);
	hook.live += by;
	pthread_mutex_unlock(&hook.lock);
}

static void *given(void *p)
{
	if (p)
		count(1);
	return p;
}

void path_begin(bool record, uint64_t fail)
{
	hook.record = record;
	hook.fail = fail;
	hook.failed = false;
}

void path_start_here(void)
{
	void *frame[FRAMES];
	hook.outside = backtrace(frame, FRAMES) - 2;
}

bool path_failed(void)
{
	return hook.failed;
}

size_t path_count(void)
{
	return hook.count;
}

uint64_t path_at(size_t i)
{
	return hook.order[i];
}

long path_live(void)
{
	return hook.live;
}

void path_print_failed(void)
{
	fflush(stderr);
	for (int i = 2; i < hook.frames && i < 14; i++)
		fprintf(stderr, "    +0x%lx\n", (unsigned long)((const char *)hook.frame[i] - &__executable_start));
}

/* ---- what base/arena.h promises ---- */

void *mem_alloc(size_t bytes)
{
	return must_fail() || bytes > PTRDIFF_MAX ? NULL : given(malloc(bytes ? bytes : 1));
}

void *mem_zero(size_t count, size_t size)
{
	return must_fail() || (size && count > PTRDIFF_MAX / size) ? NULL
								   : given(calloc(count ? count : 1, size ? size : 1));
}

void *mem_grow(void *p, size_t bytes)
{
	if (must_fail() || bytes > PTRDIFF_MAX)
		return NULL;
	void *q = realloc(p, bytes ? bytes : 1);
	return p ? q : given(q);
}

void *mem_sparse(size_t bytes)
{
	if (must_fail() || !bytes || bytes > PTRDIFF_MAX)
		return NULL;
	void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	return p == MAP_FAILED ? NULL : given(p);
}

void mem_sparse_free(void *p, size_t bytes)
{
	if (!p)
		return;
	munmap(p, bytes);
	count(-1);
}

void mem_free(void *p)
{
	if (p)
		count(-1);
	free(p);
}

void mem_fail_after(long n)
{
	(void)n;
}

void mem_fail_from(long n)
{
	(void)n;
}

long mem_count(void)
{
	return hook.done;
}
