/* Memory of the simulated GPU: one region, handed out in pieces, the first gap that is large enough. */
#include "exec/driver.h"
#include <string.h>

CUresult exec_alloc(uint64_t bytes, enum exec_kind kind, uint64_t *out)
{
	struct exec_heap *h = &exec_process.heap;
	const struct func_region *r = &exec_process.memory.region[0];
	uint64_t at = r->base, room = (bytes + EXEC_ALIGN - 1) / EXEC_ALIGN * EXEC_ALIGN;
	size_t i = 0;
	if (!bytes || bytes > r->size)
		return bytes ? EXEC_OUT_OF_MEMORY : EXEC_INVALID_VALUE;
	for (; i < h->count && h->block[i].base - at < room; i++)
		at = h->block[i].base + h->block[i].room;
	if (at - r->base > r->size - room)
		return EXEC_OUT_OF_MEMORY;
	if (mem_room((void **)&h->block, &h->cap, h->count, sizeof *h->block))
		return EXEC_OUT_OF_MEMORY;
	memmove(&h->block[i + 1], &h->block[i], (h->count - i) * sizeof *h->block);
	h->block[i] = (struct exec_block){.base = at, .bytes = bytes, .room = room, .kind = kind};
	h->count++;
	sim_check_fresh(exec_process.check, at, room);
	*out = at;
	return EXEC_OK;
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

struct exec_block *exec_block_of(uint64_t address)
{
	struct exec_heap *h = &exec_process.heap;
	size_t i = place_of(h, address);
	return i < h->count && address >= h->block[i].base ? &h->block[i] : NULL;
}

CUresult exec_free(uint64_t address)
{
	struct exec_heap *h = &exec_process.heap;
	struct exec_block *b = exec_block_of(address);
	if (!b || b->base != address)
		return EXEC_INVALID_VALUE;
	exec_pool_gave_back(b);
	size_t i = (size_t)(b - h->block);
	memmove(b, b + 1, (--h->count - i) * sizeof *b);
	return EXEC_OK;
}

uint8_t *exec_at(uint64_t address, uint64_t bytes)
{
	const struct func_memory *m = &exec_process.memory;
	const struct exec_block *b = exec_block_of(address);
	if (b)
		return bytes <= b->bytes - (address - b->base) && address - b->base <= b->bytes
			   ? (uint8_t *)(uintptr_t)address
			   : NULL;
	for (uint32_t k = 1; k < m->count; k++) /* registered host memory */
		if (address - m->region[k].base < m->region[k].size &&
		    bytes <= m->region[k].size - (address - m->region[k].base))
			return (uint8_t *)(uintptr_t)address;
	return NULL;
}

bool exec_is_device(uint64_t address)
{
	const struct func_region *r = &exec_process.memory.region[0];
	return address - r->base < r->size;
}

void exec_written(uint64_t address, uint64_t bytes)
{
	struct exec_process *x = &exec_process;
	if (!exec_is_device(address) || !bytes)
		return;
	sim_check_written(x->check, address, bytes);
	time_forget(x->time, TIME_GLOBAL, address, bytes);
	const struct CUmod_st *m = x->last;
	if (m && m->constants && address < m->constants + m->constant_bytes && address + bytes > m->constants) {
		uint64_t from = address > m->constants ? address - m->constants : 0;
		time_forget(x->time, TIME_CONSTANT, from, m->constant_bytes - from);
	}
}
