#include "gpu/sim/func/func.h"
#include <errno.h>
#include <string.h>

/* Larger ones cost only what is touched of them. */
#define SPARSE_FROM (1u << 20)

void *func_region_memory(uint64_t size)
{
	return size >= SPARSE_FROM ? mem_sparse((size_t)size) : mem_zero((size_t)size, 1);
}

void func_region_free(struct func_region *r)
{
	if (r->size >= SPARSE_FROM)
		mem_sparse_free(r->data, (size_t)r->size);
	else
		mem_free(r->data);
	r->data = NULL;
}

int func_memory_add(struct func_memory *m, uint64_t base, uint64_t size, struct func_region **out)
{
	if (m->count == FUNC_REGIONS || size == 0 || base + size < base || size > SIZE_MAX)
		return -EINVAL;
	for (uint32_t i = 0; i < m->count; i++) {
		const struct func_region *r = &m->region[i];
		if (base < r->base + r->size && r->base < base + size)
			return -EINVAL;
	}
	uint8_t *data = func_region_memory(size);
	if (!data)
		return -ENOMEM;
	struct func_region *r = &m->region[m->count++];
	r->base = base;
	r->size = size;
	r->data = data;
	if (out)
		*out = r;
	return 0;
}

void func_memory_free(struct func_memory *m)
{
	for (uint32_t i = 0; i < m->count; i++)
		func_region_free(&m->region[i]);
	memset(m, 0, sizeof *m);
}

uint8_t *func_memory_find(struct func_memory *m, uint64_t addr, uint64_t bytes)
{
	for (uint32_t i = 0; i < m->count; i++) {
		const struct func_region *r = &m->region[i];
		uint64_t at = addr - r->base;
		if (at < r->size && bytes <= r->size - at) {
			m->last = i;
			return r->data + at;
		}
	}
	return NULL;
}
