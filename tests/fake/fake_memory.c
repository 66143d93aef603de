/* Device memory: one region of the simulated GPU, handed out in pieces; and the modules' constant arrays. */
#include "fake_state.h"
#include <errno.h>
#include <string.h>

#define ALIGN 256u

CUresult fake_memory_alloc(uint64_t bytes, CUdeviceptr *out)
{
	const struct func_region *r = &fake.memory.region[0];
	struct exec_block *b;

	fake.heap.base = r->base;
	fake.heap.size = r->size;
	fake.heap.align = ALIGN;
	int bad = exec_heap_take(&fake.heap, bytes, &b);
	if (bad)
		return (CUresult)(bad == -EINVAL ? FAKE_INVALID_VALUE : FAKE_OUT_OF_MEMORY);
	/* What was there before is still there: a caller that relies on zeros has to be found out. */
	memset(r->data + (b->base - r->base), 0xa5, b->room < 65536 ? b->room : 65536);
	*out = b->base;
	return CUDA_SUCCESS;
}

CUresult fake_memory_free(CUdeviceptr p)
{
	struct exec_block *b = exec_heap_at(&fake.heap, p);

	if (!b || b->base != p)
		return (CUresult)FAKE_INVALID_VALUE;
	exec_heap_give(&fake.heap, b);
	return CUDA_SUCCESS;
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
	const struct exec_block *b = exec_heap_at(&fake.heap, p);
	return b && bytes <= b->room - (p - b->base) ? r->data + (p - r->base) : NULL;
}

void fake_memory_written(CUdeviceptr p, uint64_t bytes)
{
	struct CUmod_st *m = constant_module(p);

	if (!m)
		time_forget(fake.time, TIME_GLOBAL, p, bytes);
	else if (m == fake.last)
		time_forget(fake.time, TIME_CONSTANT, (p - FAKE_CONSTANT_BASE) % FAKE_CONSTANT_STEP, bytes);
}
