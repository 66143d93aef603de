/* Memory that graphs take and give back. It has its address from when its node is made, as programs ask for. It is
 * there until the last graph that has the node is gone and it was given back. The end of a graph gives nothing back
 * (CUDA C++ Programming Guide, graph memory nodes; a card answers as this does). */
#include "exec/driver.h"

struct exec_graph_memory {
	uint64_t address, bytes;
	unsigned owners;  /* nodes, and copies of them */
	bool taken;	  /* by a launch, and not given back */
	uint64_t counted; /* among what graphs have, until the trim of this number; 0: not yet */
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
	exec_block_of(m->address)->graph = m;
	*out = m;
	return exec_leave(EXEC_OK);
}

void exec_graph_memory_keep(struct exec_graph_memory *m)
{
	m->owners++;
}

/* Under the lock. */
static void end(struct exec_graph_memory *m)
{
	exec_free(m->address);
	mem_free(m);
}

void exec_graph_memory_drop(struct exec_graph_memory *m)
{
	pthread_mutex_lock(&exec_process.lock);
	if (--m->owners == 0 && !m->taken)
		end(m);
	exec_leave(EXEC_OK);
}

CUresult exec_graph_memory_take(struct exec_graph_memory *m)
{
	exec_on(exec_device_of(m->address));
	if (m->taken)
		return EXEC_INVALID_VALUE;
	m->taken = true;
	exec_here->graph_taken += m->bytes;
	if (m->counted != exec_here->graph_trims + 1)
		exec_here->graph_bytes += m->bytes;
	m->counted = exec_here->graph_trims + 1;
	if (exec_here->graph_most < exec_here->graph_bytes)
		exec_here->graph_most = exec_here->graph_bytes;
	return EXEC_OK;
}

CUresult exec_graph_memory_give(struct exec_graph_memory *m)
{
	exec_on(exec_device_of(m->address));
	if (!m->taken)
		return EXEC_INVALID_VALUE;
	m->taken = false;
	m->counted = exec_here->graph_trims + 1; /* no trim took what was taken */
	exec_here->graph_taken -= m->bytes;
	if (!m->owners)
		end(m);
	return EXEC_OK;
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
	if (!exec_numbered(device) || which < IN_USE || which > RESERVED_MOST)
		return exec_leave(EXEC_INVALID_VALUE);
	exec_on(exec_numbered(device));
	const bool most = which == IN_USE_MOST || which == RESERVED_MOST;
	*(uint64_t *)value = most ? exec_here->graph_most : exec_here->graph_bytes;
	return exec_leave(EXEC_OK);
}

/* Only the largest values so far can be set, to 0: they begin anew. */
EXEC_API CUresult cuDeviceSetGraphMemAttribute(CUdevice device, int which, void *value)
{
	(void)value;
	EXEC_ENTER();
	if (!exec_numbered(device) || (which != IN_USE_MOST && which != RESERVED_MOST))
		return exec_leave(EXEC_INVALID_VALUE);
	exec_on(exec_numbered(device));
	exec_here->graph_most = exec_here->graph_bytes;
	return exec_leave(EXEC_OK);
}

EXEC_API CUresult cuDeviceGraphMemTrim(CUdevice device)
{
	EXEC_ENTER();
	if (!exec_numbered(device))
		return exec_leave(EXEC_INVALID_VALUE);
	exec_on(exec_numbered(device));
	exec_here->graph_bytes = exec_here->graph_taken;
	exec_here->graph_trims++;
	return exec_leave(EXEC_OK);
}
