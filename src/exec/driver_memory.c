/* Memory of the simulated GPU, and the host's that it may touch: two regions, and what of them is whose. */
#include "exec/driver.h"
#include <errno.h>

CUresult exec_alloc(uint64_t bytes, enum exec_kind kind, uint64_t *out)
{
	/* Memory that is managed is reached by every device, and so the host's where there are several. */
	const bool shared = kind == EXEC_HOST || (kind == EXEC_MANAGED && exec_process.devices > 1);
	struct exec_block *b;
	int r = exec_heap_take(shared ? &exec_process.host : &exec_here->heap, bytes, &b);
	if (r)
		return r == -EINVAL ? EXEC_INVALID_VALUE : EXEC_OUT_OF_MEMORY;
	b->kind = kind;
	if (!shared)
		sim_check_fresh(exec_here->check, b->base, b->room);
	*out = b->base;
	return EXEC_OK;
}

static struct exec_heap *heap_of(uint64_t address)
{
	struct exec_device *d = exec_device_of(address);
	return d ? &d->heap : &exec_process.host;
}

struct exec_block *exec_block_of(uint64_t address)
{
	return exec_heap_at(heap_of(address), address);
}

CUresult exec_free(uint64_t address)
{
	struct exec_block *b = exec_block_of(address);
	if (!b || b->base != address)
		return EXEC_INVALID_VALUE;
	exec_pool_gave_back(b);
	exec_heap_give(heap_of(address), b);
	return EXEC_OK;
}

uint8_t *exec_at(uint64_t address, uint64_t bytes)
{
	const struct func_memory *m = &exec_process.device[0].memory; /* registered for all */
	const struct exec_block *b = exec_block_of(address);
	if (b)
		return bytes <= b->bytes - (address - b->base) && address - b->base <= b->bytes
			   ? (uint8_t *)(uintptr_t)address
			   : NULL;
	for (uint32_t k = EXEC_REGISTERED; k < m->count; k++)
		if (address - m->region[k].base < m->region[k].size &&
		    bytes <= m->region[k].size - (address - m->region[k].base))
			return (uint8_t *)(uintptr_t)address;
	return NULL;
}

struct exec_device *exec_device_of(uint64_t address)
{
	const uint64_t index = (address - EXEC_BASE) / EXEC_STRIDE;
	struct exec_device *d = index < (uint64_t)exec_process.devices ? &exec_process.device[index] : NULL;
	return d && address - d->heap.base < d->heap.size ? d : NULL;
}

bool exec_is_device(uint64_t address)
{
	return exec_device_of(address) != NULL;
}

void exec_written(uint64_t address, uint64_t bytes)
{
	struct exec_device *d = exec_device_of(address);
	if (!d || !bytes)
		return;
	sim_check_written(d->check, address, bytes);
	time_forget(d->time, TIME_GLOBAL, address, bytes);
	const struct CUmod_st *m = d->last;
	if (m && m->constants && address < m->constants + m->constant_bytes && address + bytes > m->constants) {
		uint64_t from = address > m->constants ? address - m->constants : 0;
		time_forget(d->time, TIME_CONSTANT, from, m->constant_bytes - from);
	}
}
