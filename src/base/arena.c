#include "base/arena.h"
#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define ALIGN	    16u
#define BLOCK_FIRST ((size_t)4096)
#define BLOCK_MAX   ((size_t)1 << 20)

/* Header padded to the alignment, so that data[] starts aligned. */
struct arena_block {
	_Alignas(ALIGN) struct arena_block *next;
	size_t cap, used;
	_Alignas(ALIGN) unsigned char data[];
};

void arena_init(struct arena *a)
{
	*a = (struct arena){0};
}

void arena_free(struct arena *a)
{
	struct arena_block *b = a->head;

	while (b) {
		struct arena_block *next = b->next;
		mem_free(b);
		b = next;
	}
	*a = (struct arena){0};
}

/* Memory that was never handed out is still zero from calloc, so blocks are never cleared again. */
void *arena_alloc(struct arena *a, size_t count, size_t size)
{
	if (size && count > (PTRDIFF_MAX - 2 * sizeof(struct arena_block) - ALIGN) / size)
		return NULL;
	size_t bytes = (count * size + ALIGN - 1) / ALIGN * ALIGN;
	struct arena_block *b = a->head;

	if (!bytes)
		bytes = ALIGN;
	if (!b || b->cap - b->used < bytes) {
		size_t cap = b ? b->cap * 2 : BLOCK_FIRST;
		if (cap > BLOCK_MAX)
			cap = BLOCK_MAX;
		bool own = bytes > cap / 2;
		if (own)
			cap = bytes;
		struct arena_block *fresh = mem_zero(1, sizeof(*fresh) + cap);
		if (!fresh)
			return NULL;
		fresh->cap = cap;
		if (own && b) { /* a big piece must not hide the room that is left in the current block */
			fresh->next = b->next;
			b->next = fresh;
		} else {
			fresh->next = b;
			a->head = fresh;
		}
		b = fresh;
	}
	void *p = b->data + b->used;
	b->used += bytes;
	a->bytes += bytes;
	return p;
}

void *arena_copy(struct arena *a, const void *data, size_t bytes)
{
	void *p = arena_alloc(a, 1, bytes);

	if (p && bytes)
		memcpy(p, data, bytes);
	return p;
}

char *arena_strdup(struct arena *a, const char *s)
{
	return arena_copy(a, s, strlen(s) + 1);
}

char *arena_printf(struct arena *a, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	int n = vsnprintf(NULL, 0, fmt, ap);
	va_end(ap);
	if (n < 0)
		return NULL;
	char *p = arena_alloc(a, 1, (size_t)n + 1);
	if (!p)
		return NULL;
	va_start(ap, fmt);
	vsnprintf(p, (size_t)n + 1, fmt, ap);
	va_end(ap);
	return p;
}

int mem_room(void **items, size_t *cap, size_t count, size_t size)
{
	if (count < *cap)
		return 0;
	const size_t fresh = *cap ? *cap * 2 : 16;
	if (fresh > PTRDIFF_MAX / size)
		return -ENOMEM;
	void *p = mem_grow(*items, fresh * size);
	if (!p)
		return -ENOMEM;
	*items = p;
	*cap = fresh;
	return 0;
}
