#include "base/arena.h"
#include <errno.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* The one mutable global of the program: which allocation a test wants to fail. It has to be global because the
 * allocator has no handle that every caller could pass, and atomic because backends allocate in threads. */
static struct {
	atomic_long done;    /* allocations so far */
	atomic_long fail_at; /* the value of `done` that fails; 0 = none */
	atomic_bool forever; /* and all later ones */
} hook;

static bool must_fail(void)
{
	long n = atomic_fetch_add_explicit(&hook.done, 1, memory_order_relaxed) + 1;
	long at = atomic_load_explicit(&hook.fail_at, memory_order_relaxed);

	return at && (n == at || (n > at && atomic_load_explicit(&hook.forever, memory_order_relaxed)));
}

static void arm(long n, bool forever)
{
	atomic_store(&hook.forever, forever);
	atomic_store(&hook.fail_at, n > 0 ? atomic_load(&hook.done) + n : 0);
}

void mem_fail_after(long n)
{
	arm(n, false);
}

void mem_fail_from(long n)
{
	arm(n, true);
}

long mem_count(void)
{
	return atomic_load(&hook.done);
}

void *mem_alloc(size_t bytes)
{
	if (must_fail() || bytes > PTRDIFF_MAX)
		return NULL;
	return malloc(bytes ? bytes : 1);
}

void *mem_zero(size_t count, size_t size)
{
	if (must_fail() || (size && count > PTRDIFF_MAX / size))
		return NULL;
	return calloc(count ? count : 1, size ? size : 1);
}

void *mem_grow(void *p, size_t bytes)
{
	if (must_fail() || bytes > PTRDIFF_MAX)
		return NULL;
	return realloc(p, bytes ? bytes : 1);
}

void *mem_sparse(size_t bytes)
{
	if (must_fail() || !bytes || bytes > PTRDIFF_MAX)
		return NULL;
	void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	return p == MAP_FAILED ? NULL : p;
}

void *mem_sparse_at(void *where, size_t bytes)
{
	if (must_fail() || !bytes || bytes > PTRDIFF_MAX)
		return NULL;
	void *p = mmap(where, bytes, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
	if (p != MAP_FAILED && p != where) { /* a kernel that does not know the flag takes the address as a hint */
		munmap(p, bytes);
		return NULL;
	}
	return p == MAP_FAILED ? NULL : p;
}

void mem_sparse_free(void *p, size_t bytes)
{
	if (p)
		munmap(p, bytes);
}

void mem_free(void *p)
{
	free(p);
}
