/* Memory that graphs take and give back. It has its address from when its node is made, as programs ask for, and is there until the last graph that
 * has the node is gone; so to take it and to give it back when the graph is launched is no work. */
#include "exec/driver.h"

struct exec_graph_memory {
	uint64_t address, bytes;
	unsigned owners; /* nodes, and copies of them */
};

/* Takes the lock. */
static CUresult take(struct exec_graph_memory **out, uint64_t bytes)
{
	struct exec_graph_memory *m = mem_zero(1, sizeof *m);
	if (!m)
		return EXEC_OUT_OF_MEMORY;
	EXEC_ENTER();
	const CUresult r = exec_alloc(bytes, EXEC_DEVICE, &m->address);
	if (r) {
		mem_free(m);
		return exec_leave(r);
	}
	m->bytes = bytes;
	exec_block_of(m->address)->graph = true;
	exec_process.graph_bytes += bytes;
	if (exec_process.graph_most < exec_process.graph_bytes)
		exec_process.graph_most = exec_process.graph_bytes;
	*out = m;
	return exec_leave(EXEC_OK);
}

void exec_graph_memory_keep(struct exec_graph_memory *m)
{
	m->owners++;
}

void exec_graph_memory_drop(struct exec_graph_memory *m)
{
	if (--m->owners)
		return;
	pthread_mutex_lock(&exec_process.lock);
	exec_free(m->address);
	exec_process.graph_bytes -= m->bytes;
	exec_leave(EXEC_OK);
	mem_free(m);
}

static CUresult add_take(CUgraphNode *out, CUgraph g, const CUgraphNode *after, size_t count, uint64_t bytes,
			 CUdeviceptr *p)
{
	struct exec_work w = {.kind = EXEC_WORK_TAKE};
	CUresult r = take(&w.of.memory, bytes);
	if (r)
		return r;
	exec_graph_memory_keep(w.of.memory);
	*p = w.of.memory->address;
	r = exec_node_add(out, g, after, count, &w);
	exec_graph_memory_drop(w.of.memory);
	return r;
}

EXEC_API CUresult cuGraphAddMemAllocNode(CUgraphNode *out, CUgraph g, const CUgraphNode *after, size_t count,
					 struct exec_take_node *p)
{
	return out && g && p ? add_take(out, g, after, count, p->bytes, &p->address) : EXEC_INVALID_VALUE;
}

EXEC_API CUresult cuGraphAddMemFreeNode(CUgraphNode *out, CUgraph g, const CUgraphNode *after, size_t count,
					CUdeviceptr p)
{
	const struct exec_work w = {.kind = EXEC_WORK_GIVE, .of.address = p};
	return out && g ? exec_node_add(out, g, after, count, &w) : EXEC_INVALID_VALUE;
}

CUresult exec_graph_take(CUgraph g, uint64_t bytes, CUdeviceptr *p)
{
	struct CUgraphNode_st *n, *last = g->count ? g->node[g->count - 1] : NULL;
	return add_take(&n, g, &last, last != NULL, bytes, p);
}

enum { IN_USE, IN_USE_MOST, RESERVED, RESERVED_MOST }; /* CUgraphMem_attribute */

EXEC_API CUresult cuDeviceGetGraphMemAttribute(CUdevice device, int which, void *value)
{
	EXEC_ENTER();
	if (device || which < IN_USE || which > RESERVED_MOST)
		return exec_leave(EXEC_INVALID_VALUE);
	const bool most = which == IN_USE_MOST || which == RESERVED_MOST;
	*(uint64_t *)value = most ? exec_process.graph_most : exec_process.graph_bytes;
	return exec_leave(EXEC_OK);
}

/* Only the largest values so far can be set, to 0: they begin anew. */
EXEC_API CUresult cuDeviceSetGraphMemAttribute(CUdevice device, int which, void *value)
{
	(void)value;
	EXEC_ENTER();
	if (device || (which != IN_USE_MOST && which != RESERVED_MOST))
		return exec_leave(EXEC_INVALID_VALUE);
	exec_process.graph_most = exec_process.graph_bytes;
	return exec_leave(EXEC_OK);
}

EXEC_API CUresult cuDeviceGraphMemTrim(CUdevice device)
{
	return device ? EXEC_INVALID_VALUE : EXEC_OK;
}
