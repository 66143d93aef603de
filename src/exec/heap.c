#include "exec/heap.h"
#include "base/arena.h"
#include <errno.h>
#include <string.h>

int exec_heap_take(struct exec_heap *h, uint64_t bytes, struct exec_block **out)
{
	uint64_t at = h->base, room = (bytes + h->apart + h->align - 1) / h->align * h->align;
	size_t i = 0;
	if (!bytes || bytes > h->size)
		return bytes ? -ENOMEM : -EINVAL;
	h->fresh = h->fresh ? h->fresh : h->base;
	if (h->apart && room <= h->size - (h->fresh - h->base)) {
		at = h->fresh;
		i = h->count;
	}
	for (; i < h->count && h->block[i].base - at < room; i++)
		at = h->block[i].base + h->block[i].room;
	if (room > h->size || at - h->base > h->size - room)
		return -ENOMEM;
	if (mem_room((void **)&h->block, &h->cap, h->count, sizeof *h->block))
		return -ENOMEM;
	memmove(&h->block[i + 1], &h->block[i], (h->count - i) * sizeof *h->block);
	h->block[i] = (struct exec_block){.base = at, .bytes = bytes, .room = room};
	h->count++;
	h->fresh = at + room > h->fresh ? at + room : h->fresh;
	*out = &h->block[i];
	return 0;
}

/* The first block that ends beyond the address. */
static size_t place_of(const struct exec_heap *h, uint64_t address)
{
	size_t low = 0, high = h->count;
	while (low < high) {
		size_t mid = (low + high) / 2;
		if (h->block[mid].base + h->block[mid].room <= address)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

struct exec_block *exec_heap_at(const struct exec_heap *h, uint64_t address)
{
	size_t i = place_of(h, address);
	return i < h->count && address >= h->block[i].base ? &h->block[i] : NULL;
}

void exec_heap_give(struct exec_heap *h, struct exec_block *b)
{
	size_t i = (size_t)(b - h->block);
	memmove(b, b + 1, (--h->count - i) * sizeof *b);
}
