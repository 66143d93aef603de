/* Memory pools. All memory of a device is one heap: a pool only counts what is taken through it. */
#include "exec/driver.h"
#include <string.h>

struct CUmemPool_st {
	uint64_t threshold, used, most; /* bytes */
	int reuse[3];			/* whether memory is reused, as programs set it */
};

static struct CUmemPool_st *common(void)
{
	if (!exec_here->pool)
		exec_here->pool = mem_zero(1, sizeof *exec_here->pool);
	return exec_here->pool;
}

EXEC_API CUresult cuDeviceGetDefaultMemPool(CUmemPool *pool, CUdevice device)
{
	EXEC_ENTER();
	if (!exec_numbered(device))
		return exec_leave(EXEC_INVALID_DEVICE);
	exec_on(exec_numbered(device));
	*pool = common();
	return exec_leave(*pool ? EXEC_OK : EXEC_OUT_OF_MEMORY);
}

EXEC_API CUresult cuDeviceGetMemPool(CUmemPool *pool, CUdevice device)
{
	return cuDeviceGetDefaultMemPool(pool, device);
}

EXEC_API CUresult cuDeviceSetMemPool(CUdevice device, CUmemPool pool)
{
	return !exec_numbered(device) || !pool ? EXEC_INVALID_VALUE : EXEC_OK;
}

EXEC_API CUresult cuMemPoolCreate(CUmemPool *pool, const void *props)
{
	if (!pool || !props)
		return EXEC_INVALID_VALUE;
	*pool = mem_zero(1, sizeof **pool);
	return *pool ? EXEC_OK : EXEC_OUT_OF_MEMORY;
}

EXEC_API CUresult cuMemPoolDestroy(CUmemPool pool)
{
	EXEC_ENTER();
	for (int n = 0; n < exec_process.devices; n++)
		if (!pool || pool == exec_process.device[n].pool)
			return exec_leave(EXEC_INVALID_VALUE);
	for (int n = 0; n < exec_process.devices; n++) {
		struct exec_heap *h = &exec_process.device[n].heap;
		for (size_t k = 0; k < h->count; k++)
			if (h->block[k].pool == pool)
				h->block[k].pool = NULL;
	}
	mem_free(pool);
	return exec_leave(EXEC_OK);
}

EXEC_API CUresult cuMemAllocFromPoolAsync(CUdeviceptr *p, size_t bytes, CUmemPool pool, CUstream s)
{
	struct CUgraph_st *g = exec_capturing(s);
	if (g)
		return p && pool ? exec_graph_take(g, bytes, p) : EXEC_INVALID_VALUE;
	EXEC_ENTER();
	CUresult r = p && pool ? exec_alloc(bytes, EXEC_DEVICE, p) : EXEC_INVALID_VALUE;
	if (r)
		return exec_leave(r);
	exec_block_of(*p)->pool = pool;
	pool->used += bytes;
	pool->most = pool->used > pool->most ? pool->used : pool->most;
	return exec_leave(EXEC_OK);
}

EXEC_API CUresult cuMemAllocAsync(CUdeviceptr *p, size_t bytes, CUstream s)
{
	CUmemPool pool = NULL;
	CUresult r = cuDeviceGetDefaultMemPool(&pool, exec_current());
	return r ? r : cuMemAllocFromPoolAsync(p, bytes, pool, s);
}

void exec_pool_gave_back(const struct exec_block *b)
{
	if (b->pool)
		b->pool->used -= b->bytes;
}

EXEC_API CUresult cuMemPoolTrimTo(CUmemPool pool, size_t keep)
{
	(void)keep;
	return pool ? EXEC_OK : EXEC_INVALID_VALUE;
}

EXEC_API CUresult cuMemPoolSetAccess(CUmemPool pool, const void *what, size_t count)
{
	(void)what, (void)count;
	return pool ? EXEC_OK : EXEC_INVALID_VALUE;
}

enum { /* CUmemPool_attribute */
       REUSE_FIRST = 1,
       REUSE_LAST = 3,
       THRESHOLD = 4,
       RESERVED = 5,
       RESERVED_MOST = 6,
       USED = 7,
       USED_MOST = 8
};

EXEC_API CUresult cuMemPoolSetAttribute(CUmemPool pool, int which, void *value)
{
	if (!pool || which < REUSE_FIRST || which > USED_MOST)
		return EXEC_INVALID_VALUE;
	if (which <= REUSE_LAST)
		pool->reuse[which - REUSE_FIRST] = *(int *)value;
	else if (which == THRESHOLD)
		pool->threshold = *(uint64_t *)value;
	else if (which == RESERVED_MOST || which == USED_MOST)
		pool->most = pool->used;
	return EXEC_OK;
}

EXEC_API CUresult cuMemPoolGetAttribute(CUmemPool pool, int which, void *value)
{
	if (!pool || which < REUSE_FIRST || which > USED_MOST)
		return EXEC_INVALID_VALUE;
	if (which <= REUSE_LAST)
		*(int *)value = pool->reuse[which - REUSE_FIRST];
	else
		*(uint64_t *)value = which == THRESHOLD			  ? pool->threshold
				     : which == RESERVED || which == USED ? pool->used
									  : pool->most;
	return EXEC_OK;
}
