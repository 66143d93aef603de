/* Device memory: one region of the simulated GPU, handed out in pieces; and the modules' constant arrays. */
#include "base/arena.h"
#include "fake_state.h"
#include <string.h>

#define ALIGN 256u

CUresult fake_memory_alloc(uint64_t bytes, CUdeviceptr *out)
{
	const struct func_region *r = &fake.memory.region[0];
	uint64_t at = r->base;
	size_t i = 0;

	if (!bytes)
		return (CUresult)FAKE_INVALID_VALUE;
	bytes = (bytes + ALIGN - 1) / ALIGN * ALIGN;
	for (; i < fake.block_count && fake.blocks[i].base - at < bytes; i++) /* the first gap that is large enough */
		at = fake.blocks[i].base + fake.blocks[i].bytes;
	if (bytes > r->size || at - r->base > r->size - bytes)
		return (CUresult)FAKE_OUT_OF_MEMORY;
	if (fake.block_count == fake.block_cap) {
		size_t cap = fake.block_cap ? fake.block_cap * 2 : 32;
		struct fake_block *p = mem_grow(fake.blocks, cap * sizeof *p);
		if (!p)
			return (CUresult)FAKE_OUT_OF_MEMORY;
		fake.blocks = p;
		fake.block_cap = cap;
	}
	memmove(&fake.blocks[i + 1], &fake.blocks[i], (fake.block_count - i) * sizeof *fake.blocks);
	fake.blocks[i] = (struct fake_block){at, bytes};
	fake.block_count++;
	/* What was there before is still there: a caller that relies on zeros has to be found out. */
	memset(r->data + (at - r->base), 0xa5, bytes < 65536 ? bytes : 65536);
	*out = at;
	return CUDA_SUCCESS;
}

CUresult fake_memory_free(CUdeviceptr p)
{
	for (size_t i = 0; i < fake.block_count; i++)
		if (fake.blocks[i].base == p) {
			memmove(&fake.blocks[i], &fake.blocks[i + 1], (--fake.block_count - i) * sizeof *fake.blocks);
			return CUDA_SUCCESS;
		}
	return (CUresult)FAKE_INVALID_VALUE;
}

static struct CUmod_st *constant_module(CUdeviceptr p)
{
	for (struct CUmod_st *m = fake.modules; m; m = m->next)
		if (p >= FAKE_CONSTANT_BASE && (p - FAKE_CONSTANT_BASE) / FAKE_CONSTANT_STEP == m->number)
			return m;
	return NULL;
}

uint8_t *fake_memory_at(CUdeviceptr p, uint64_t bytes)
{
	const struct func_region *r = &fake.memory.region[0];
	struct CUmod_st *m = constant_module(p);

	if (m) {
		uint64_t at = (p - FAKE_CONSTANT_BASE) % FAKE_CONSTANT_STEP;
		return at + bytes <= fake.spec->constant_bytes ? m->constant + at : NULL;
	}
	for (size_t i = 0; i < fake.block_count; i++) {
		const struct fake_block *b = &fake.blocks[i];
		if (p >= b->base && p - b->base <= b->bytes && bytes <= b->bytes - (p - b->base))
			return r->data + (p - r->base);
	}
	return NULL;
}

void fake_memory_written(CUdeviceptr p, uint64_t bytes)
{
	struct CUmod_st *m = constant_module(p);

	if (!m)
		time_forget(fake.time, TIME_GLOBAL, p, bytes);
	else if (m == fake.last)
		time_forget(fake.time, TIME_CONSTANT, (p - FAKE_CONSTANT_BASE) % FAKE_CONSTANT_STEP, bytes);
}
