/* The runtime's graphs, captures and memory pools. */
#include "exec/cudart.h"
#include <string.h>

struct kernel_node { /* cudaKernelNodeParams */
	const void *host;
	struct dim3 grid, block;
	unsigned shared;
	void **params, **extra;
};

static CUresult driver_node(struct exec_kernel_node *out, const struct kernel_node *p)
{
	*out = (struct exec_kernel_node){.grid = {p->grid.x, p->grid.y, p->grid.z},
					 .block = {p->block.x, p->block.y, p->block.z},
					 .shared = p->shared,
					 .params = p->params,
					 .extra = p->extra};
	return cudart_function(&out->f, p->host);
}

EXEC_API cudaError_t cudaGraphCreate(CUgraph *g, unsigned flags)
{
	return cudart_result(cuGraphCreate(g, flags));
}

EXEC_API cudaError_t cudaGraphDestroy(CUgraph g)
{
	return cudart_result(cuGraphDestroy(g));
}

EXEC_API cudaError_t cudaGraphClone(CUgraph *out, CUgraph g)
{
	return cudart_result(cuGraphClone(out, g));
}

EXEC_API cudaError_t cudaGraphAddKernelNode(CUgraphNode *out, CUgraph g, const CUgraphNode *after, size_t count,
					    const struct kernel_node *p)
{
	struct exec_kernel_node n;
	CUresult r = driver_node(&n, p);
	return cudart_result(r ? r : cuGraphAddKernelNode_v2(out, g, after, count, &n));
}

EXEC_API cudaError_t cudaGraphKernelNodeSetParams(CUgraphNode node, const struct kernel_node *p)
{
	struct exec_kernel_node n;
	CUresult r = driver_node(&n, p);
	return cudart_result(r ? r : cuGraphKernelNodeSetParams_v2(node, &n));
}

EXEC_API cudaError_t cudaGraphExecKernelNodeSetParams(CUgraphExec g, CUgraphNode node, const struct kernel_node *p)
{
	struct exec_kernel_node n;
	CUresult r = driver_node(&n, p);
	return cudart_result(r ? r : cuGraphExecKernelNodeSetParams_v2(g, node, &n));
}

EXEC_API cudaError_t cudaGraphAddMemcpyNode(CUgraphNode *out, CUgraph g, const CUgraphNode *after, size_t count,
					    const struct copy_3d *p)
{
	const struct exec_copy_3d c = cudart_copy_3d(p);
	return cudart_result(cuGraphAddMemcpyNode(out, g, after, count, &c, NULL));
}

EXEC_API cudaError_t cudaGraphAddMemcpyNode1D(CUgraphNode *out, CUgraph g, const CUgraphNode *after, size_t count,
					      void *to, const void *from, size_t bytes, int kind)
{
	const struct copy_3d p = {.from = {(void *)(uintptr_t)from, bytes, bytes, 1},
				  .to = {to, bytes, bytes, 1},
				  .extent = {bytes, 1, 1},
				  .kind = kind};
	return cudaGraphAddMemcpyNode(out, g, after, count, &p);
}

EXEC_API cudaError_t cudaGraphAddMemsetNode(CUgraphNode *out, CUgraph g, const CUgraphNode *after, size_t count,
					    const struct exec_fill *p)
{
	return cudart_result(cuGraphAddMemsetNode(out, g, after, count, p, NULL));
}

EXEC_API cudaError_t cudaGraphAddHostNode(CUgraphNode *out, CUgraph g, const CUgraphNode *after, size_t count,
					  const struct exec_host_node *p)
{
	return cudart_result(cuGraphAddHostNode(out, g, after, count, p));
}

EXEC_API cudaError_t cudaGraphAddEmptyNode(CUgraphNode *out, CUgraph g, const CUgraphNode *after, size_t count)
{
	return cudart_result(cuGraphAddEmptyNode(out, g, after, count));
}

EXEC_API cudaError_t cudaGraphAddEventRecordNode(CUgraphNode *out, CUgraph g, const CUgraphNode *after, size_t count,
						 cudaEvent_t e)
{
	return cudart_result(cuGraphAddEventRecordNode(out, g, after, count, e));
}

EXEC_API cudaError_t cudaGraphAddEventWaitNode(CUgraphNode *out, CUgraph g, const CUgraphNode *after, size_t count,
					       cudaEvent_t e)
{
	return cudart_result(cuGraphAddEventWaitNode(out, g, after, count, e));
}

EXEC_API cudaError_t cudaGraphAddChildGraphNode(CUgraphNode *out, CUgraph g, const CUgraphNode *after, size_t count,
						CUgraph child)
{
	return cudart_result(cuGraphAddChildGraphNode(out, g, after, count, child));
}

EXEC_API cudaError_t cudaGraphAddMemAllocNode(CUgraphNode *out, CUgraph g, const CUgraphNode *after, size_t count,
					      struct exec_take_node *p)
{
	return cudart_result(cuGraphAddMemAllocNode(out, g, after, count, p));
}

EXEC_API cudaError_t cudaGraphAddMemFreeNode(CUgraphNode *out, CUgraph g, const CUgraphNode *after, size_t count,
					     void *p)
{
	return cudart_result(cuGraphAddMemFreeNode(out, g, after, count, (uintptr_t)p));
}

EXEC_API cudaError_t cudaDeviceGetGraphMemAttribute(int device, int which, void *value)
{
	return cudart_result(cuDeviceGetGraphMemAttribute(device, which, value));
}

EXEC_API cudaError_t cudaDeviceSetGraphMemAttribute(int device, int which, void *value)
{
	return cudart_result(cuDeviceSetGraphMemAttribute(device, which, value));
}

EXEC_API cudaError_t cudaDeviceGraphMemTrim(int device)
{
	return cudart_result(cuDeviceGraphMemTrim(device));
}

#if CUDART_MAJOR >= 13
EXEC_API cudaError_t cudaGraphAddDependencies(CUgraph g, const CUgraphNode *from, const CUgraphNode *to,
					      const void *data, size_t count)
{
	(void)data;
	return cudart_result(cuGraphAddDependencies(g, from, to, count));
}
#else
EXEC_API cudaError_t cudaGraphAddDependencies(CUgraph g, const CUgraphNode *from, const CUgraphNode *to, size_t count)
{
	return cudart_result(cuGraphAddDependencies(g, from, to, count));
}
#endif

EXEC_API cudaError_t cudaGraphGetNodes(CUgraph g, CUgraphNode *nodes, size_t *count)
{
	return cudart_result(cuGraphGetNodes(g, nodes, count));
}

EXEC_API cudaError_t cudaGraphGetRootNodes(CUgraph g, CUgraphNode *nodes, size_t *count)
{
	return cudart_result(cuGraphGetRootNodes(g, nodes, count));
}

EXEC_API cudaError_t cudaGraphNodeGetType(CUgraphNode n, int *type)
{
	return cudart_result(cuGraphNodeGetType(n, type));
}

EXEC_API cudaError_t cudaGraphNodeSetEnabled(CUgraphExec g, CUgraphNode n, unsigned on)
{
	return cudart_result(cuGraphNodeSetEnabled(g, n, on));
}

EXEC_API cudaError_t cudaGraphInstantiate(CUgraphExec *out, CUgraph g, unsigned long long flags)
{
	return cudart_result(cuGraphInstantiateWithFlags(out, g, flags));
}

EXEC_API cudaError_t cudaGraphInstantiateWithFlags(CUgraphExec *out, CUgraph g, unsigned long long flags)
{
	return cudaGraphInstantiate(out, g, flags);
}

EXEC_API cudaError_t cudaGraphInstantiateWithParams(CUgraphExec *out, CUgraph g, const void *params)
{
	(void)params;
	return cudaGraphInstantiate(out, g, 0);
}

EXEC_API cudaError_t cudaGraphExecUpdate(CUgraphExec g, CUgraph from, void *result)
{
	return cudart_result(cuGraphExecUpdate_v2(g, from, result));
}

EXEC_API cudaError_t cudaGraphExecDestroy(CUgraphExec g)
{
	return cudaGraphDestroy(g);
}

EXEC_API cudaError_t cudaGraphUpload(CUgraphExec g, cudaStream_t s)
{
	return cudart_result(cuGraphUpload(g, s));
}

EXEC_API cudaError_t cudaGraphLaunch(CUgraphExec g, cudaStream_t s)
{
	return cudart_result(cuGraphLaunch(g, s));
}

EXEC_API cudaError_t cudaStreamBeginCapture(cudaStream_t s, int mode)
{
	return cudart_result(cuStreamBeginCapture_v2(s, mode));
}

EXEC_API cudaError_t cudaStreamEndCapture(cudaStream_t s, CUgraph *g)
{
	return cudart_result(cuStreamEndCapture(s, g));
}

EXEC_API cudaError_t cudaThreadExchangeStreamCaptureMode(int *mode)
{
	*mode = 0;
	return EXEC_OK;
}

/* ---- pools ---- */

EXEC_API cudaError_t cudaDeviceGetDefaultMemPool(CUmemPool *pool, int device)
{
	return cudart_result(cuDeviceGetDefaultMemPool(pool, device));
}

EXEC_API cudaError_t cudaDeviceGetMemPool(CUmemPool *pool, int device)
{
	return cudaDeviceGetDefaultMemPool(pool, device);
}

EXEC_API cudaError_t cudaDeviceSetMemPool(int device, CUmemPool pool)
{
	return cudart_result(cuDeviceSetMemPool(device, pool));
}

EXEC_API cudaError_t cudaMemPoolCreate(CUmemPool *pool, const void *props)
{
	return cudart_result(cuMemPoolCreate(pool, props));
}

EXEC_API cudaError_t cudaMemPoolDestroy(CUmemPool pool)
{
	return cudart_result(cuMemPoolDestroy(pool));
}

EXEC_API cudaError_t cudaMemPoolTrimTo(CUmemPool pool, size_t keep)
{
	return cudart_result(cuMemPoolTrimTo(pool, keep));
}

EXEC_API cudaError_t cudaMemPoolSetAccess(CUmemPool pool, const void *what, size_t count)
{
	return cudart_result(cuMemPoolSetAccess(pool, what, count));
}

EXEC_API cudaError_t cudaMemPoolSetAttribute(CUmemPool pool, int which, void *value)
{
	return cudart_result(cuMemPoolSetAttribute(pool, which, value));
}

EXEC_API cudaError_t cudaMemPoolGetAttribute(CUmemPool pool, int which, void *value)
{
	return cudart_result(cuMemPoolGetAttribute(pool, which, value));
}
