/* Region allocator: everything of one run, one module or one study is freed at once.
 * Every allocation may fail; callers pass the NULL on as -ENOMEM. */
#ifndef FATHOM_ARENA_H
#define FATHOM_ARENA_H
#include <stdbool.h>
#include <stddef.h>

struct arena_block;
struct arena {
	struct arena_block *head; /* newest block first */
	size_t bytes;		  /* handed out so far */
};

void arena_init(struct arena *a);
void arena_free(struct arena *a); /* safe on an initialised, empty arena */
/* Zeroed memory aligned to 16 bytes, or NULL. count * size is checked for overflow. */
void *arena_alloc(struct arena *a, size_t count, size_t size);
void *arena_copy(struct arena *a, const void *data, size_t bytes);
char *arena_strdup(struct arena *a, const char *s);
char *arena_printf(struct arena *a, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#define ARENA_NEW(a, type)	((type *)arena_alloc((a), 1, sizeof(type)))
#define ARENA_ARRAY(a, n, type) ((type *)arena_alloc((a), (n), sizeof(type)))

/* The program's allocator: malloc and friends, with a switch that lets a test make the n-th call fail.
 * All fathom code allocates through these, never through malloc directly. */
void *mem_alloc(size_t bytes); /* uninitialised */
void *mem_zero(size_t count, size_t size);
void *mem_grow(void *p, size_t bytes);
void mem_free(void *p);
/* Makes room for one item more in an array of count items of so many bytes. *items and *cap grow when it is full.
 * Returns 0, or -ENOMEM, and both are as they were. */
int mem_room(void **items, size_t *cap, size_t count, size_t size);
/* Zeroed memory that costs only what is touched, however large: address space, not memory, is what it takes. Freed with
 * its size, by mem_sparse_free only. */
void *mem_sparse(size_t bytes);
void mem_sparse_free(void *p, size_t bytes);
/* The same at an address of the caller's choice, a multiple of a page; NULL also when something lies there. */
void *mem_sparse_at(void *where, size_t bytes);

/* For tests: the n-th allocation from now fails (once; mem_fail_from: and all after it). n <= 0 switches it off. */
void mem_fail_after(long n);
void mem_fail_from(long n);
long mem_count(void); /* allocations since the program started, failed ones included */

#endif
