/* Work that streams are given, and graphs of it. A graph is a sequence: its nodes in an order that their dependencies allow, one after another, as
 * streams are. A stream that captures puts its work into a graph instead of doing it. */
#include "exec/driver.h"
#include <string.h>

/* ---- work ---- */

static CUresult ordered(struct CUgraph_st **out, const struct CUgraph_st *g);
static void graph_free(struct CUgraph_st *g);

/* A graph as work is copied whole: a later change of the program's own is not the copy's. */
CUresult exec_work_copy(struct exec_work *to, const struct exec_work *from)
{
	*to = *from;
	if (from->kind == EXEC_WORK_TAKE)
		exec_graph_memory_keep(from->of.memory);
	if (from->kind == EXEC_WORK_GRAPH)
		return ordered(&to->of.graph, from->of.graph);
	if (from->kind != EXEC_WORK_KERNEL)
		return EXEC_OK;
	to->of.kernel.packed = mem_alloc(from->of.kernel.bytes + 1);
	if (!to->of.kernel.packed)
		return EXEC_OUT_OF_MEMORY;
	memcpy(to->of.kernel.packed, from->of.kernel.packed, from->of.kernel.bytes);
	return EXEC_OK;
}

static void work_free(struct exec_work *w)
{
	if (w->kind == EXEC_WORK_KERNEL)
		mem_free(w->of.kernel.packed);
	else if (w->kind == EXEC_WORK_GRAPH)
		graph_free(w->of.graph);
	else if (w->kind == EXEC_WORK_TAKE)
		exec_graph_memory_drop(w->of.memory);
}

static CUresult graph_run(const struct CUgraph_st *g);

/* Takes the lock. The host's own work is done without it. d: whose stream it is given, NULL: the thread's. */
static CUresult run(const struct exec_work *w, struct exec_device *d)
{
	if (w->kind == EXEC_WORK_HOST) {
		w->of.host.call(w->of.host.data);
		return EXEC_OK;
	}
	if (w->kind == EXEC_WORK_GRAPH)
		return graph_run(w->of.graph);
	if (w->kind == EXEC_WORK_GIVE)
		return exec_release(w->of.address);
	EXEC_ENTER();
	const CUresult dead = exec_on(d);
	if (dead)
		return exec_leave(dead);
	switch (w->kind) {
	case EXEC_WORK_KERNEL:
		return exec_leave(exec_launch(w->of.kernel.f, &w->of.kernel.shape, w->of.kernel.packed));
	case EXEC_WORK_COPY:
		return exec_leave(exec_copy(&w->of.copy));
	case EXEC_WORK_FILL:
		return exec_leave(exec_fill(&w->of.fill));
	case EXEC_WORK_TAKE:
		return exec_leave(exec_graph_memory_take(w->of.memory));
	case EXEC_WORK_RECORD:
		w->of.event->ns = exec_here->ns;
		w->of.event->recorded = true;
		return exec_leave(EXEC_OK);
	default:
		return exec_leave(EXEC_OK);
	}
}

static bool is_stream(const struct CUstream_st *s)
{
	return (uintptr_t)s > 2; /* below: the streams that every context has */
}

struct CUgraph_st *exec_capturing(const struct CUstream_st *s)
{
	return is_stream(s) ? s->graph : NULL;
}

CUresult exec_submit(CUstream s, const struct exec_work *w)
{
	struct CUgraph_st *g = exec_capturing(s);
	struct CUgraphNode_st *n, *last = g && g->count ? g->node[g->count - 1] : NULL;
	return g ? exec_node_add(&n, g, &last, last != NULL, w) : run(w, is_stream(s) ? s->device : NULL);
}

/* ---- graphs ---- */

CUresult exec_node_add(struct CUgraphNode_st **out, struct CUgraph_st *g, struct CUgraphNode_st *const *after,
		       size_t count, const struct exec_work *w)
{
	struct CUgraphNode_st *n = mem_zero(1, sizeof *n);
	if (!n || mem_room((void **)&g->node, &g->cap, g->count, sizeof *g->node)) {
		mem_free(n);
		return EXEC_OUT_OF_MEMORY;
	}
	n->after = mem_alloc((count + 1) * sizeof *n->after);
	const CUresult r = n->after ? exec_work_copy(&n->work, w) : EXEC_OUT_OF_MEMORY;
	if (r) {
		mem_free(n->after);
		mem_free(n);
		return r;
	}
	if (count)
		memcpy(n->after, after, count * sizeof *n->after);
	n->after_count = count;
	g->node[g->count++] = n;
	*out = n;
	return EXEC_OK;
}

static void graph_free(struct CUgraph_st *g)
{
	for (size_t k = 0; k < g->count; k++) {
		work_free(&g->node[k]->work);
		mem_free(g->node[k]->after);
		mem_free(g->node[k]);
	}
	mem_free(g->node);
	mem_free(g);
}

static size_t place_of(const struct CUgraph_st *g, const struct CUgraphNode_st *n)
{
	size_t k = 0;
	while (k < g->count && g->node[k] != n)
		k++;
	return k;
}

/* Node n goes where all that it comes after have gone. */
static bool ready(const struct CUgraph_st *g, const struct CUgraphNode_st *n, const bool *gone)
{
	for (size_t k = 0; k < n->after_count; k++) {
		const size_t at = place_of(g, n->after[k]);
		if (at < g->count && !gone[at])
			return false;
	}
	return true;
}

/* A copy whose nodes stand in an order that can be followed; EXEC_INVALID_VALUE: there is none. */
static CUresult ordered(struct CUgraph_st **out, const struct CUgraph_st *g)
{
	struct CUgraph_st *c = mem_zero(1, sizeof *c);
	bool *gone = mem_zero(g->count + 1, sizeof *gone), found = true;
	CUresult r = c && gone ? EXEC_OK : EXEC_OUT_OF_MEMORY;
	while (!r && found && c->count < g->count) {
		found = false;
		for (size_t k = 0; k < g->count && !r; k++) {
			struct CUgraphNode_st *made;
			if (gone[k] || !ready(g, g->node[k], gone))
				continue;
			r = exec_node_add(&made, c, NULL, 0, &g->node[k]->work);
			if (!r)
				made->origin = g->node[k];
			gone[k] = found = true;
		}
	}
	if (!r && c->count < g->count)
		r = EXEC_INVALID_VALUE;
	mem_free(gone);
	if (r && c)
		graph_free(c);
	*out = r ? NULL : c;
	return r;
}

static CUresult graph_run(const struct CUgraph_st *g)
{
	struct CUgraph_st *once;
	CUresult r = ordered(&once, g);
	for (size_t k = 0; !r && k < once->count; k++)
		if (!once->node[k]->off)
			r = run(&once->node[k]->work, NULL);
	if (once)
		graph_free(once);
	return r;
}

EXEC_API CUresult cuGraphCreate(CUgraph *g, unsigned flags)
{
	(void)flags;
	*g = mem_zero(1, sizeof **g);
	return *g ? EXEC_OK : EXEC_OUT_OF_MEMORY;
}

EXEC_API CUresult cuGraphDestroy(CUgraph g)
{
	if (!g)
		return EXEC_INVALID_VALUE;
	graph_free(g);
	return EXEC_OK;
}

EXEC_API CUresult cuGraphClone(CUgraph *out, CUgraph g)
{
	return ordered(out, g);
}

static CUresult add(CUgraphNode *out, CUgraph g, const CUgraphNode *after, size_t count, const struct exec_work *w)
{
	return g && out ? exec_node_add(out, g, after, count, w) : EXEC_INVALID_VALUE;
}

/* Takes the lock. The arguments as one block, in w, which is the caller's to free. */
static CUresult kernel_work(struct exec_work *w, const struct exec_kernel_node *p)
{
	*w = (struct exec_work){.kind = EXEC_WORK_KERNEL,
				.of.kernel = {.f = p->f,
					      .shape = {.grid = {p->grid[0], p->grid[1], p->grid[2]},
							.block = {p->block[0], p->block[1], p->block[2]},
							.shared = p->shared}}};
	EXEC_ENTER();
	return exec_leave(p->f ? exec_pack(p->f, p->params, p->extra, &w->of.kernel.packed, &w->of.kernel.bytes)
			       : EXEC_INVALID_HANDLE);
}

EXEC_API CUresult cuGraphAddKernelNode_v2(CUgraphNode *out, CUgraph g, const CUgraphNode *after, size_t count,
					  const struct exec_kernel_node *p)
{
	struct exec_work w;
	CUresult r = kernel_work(&w, p);
	if (!r)
		r = add(out, g, after, count, &w);
	work_free(&w);
	return r;
}

EXEC_API CUresult cuGraphAddKernelNode(CUgraphNode *out, CUgraph g, const CUgraphNode *after, size_t count,
				       const struct exec_kernel_node *p)
{
	return cuGraphAddKernelNode_v2(out, g, after, count, p);
}

static CUresult set_kernel(struct CUgraphNode_st *n, const struct exec_kernel_node *p)
{
	struct exec_work w;
	if (!n || n->work.kind != EXEC_WORK_KERNEL)
		return EXEC_INVALID_VALUE;
	CUresult r = kernel_work(&w, p);
	if (r) {
		work_free(&w);
		return r;
	}
	work_free(&n->work);
	n->work = w;
	return EXEC_OK;
}

EXEC_API CUresult cuGraphKernelNodeSetParams_v2(CUgraphNode n, const struct exec_kernel_node *p)
{
	return set_kernel(n, p);
}

EXEC_API CUresult cuGraphKernelNodeSetParams(CUgraphNode n, const struct exec_kernel_node *p)
{
	return set_kernel(n, p);
}

EXEC_API CUresult cuGraphAddMemcpyNode(CUgraphNode *out, CUgraph g, const CUgraphNode *after, size_t count,
				       const struct exec_copy_3d *p, CUcontext c)
{
	const struct exec_work w = {.kind = EXEC_WORK_COPY, .of.copy = *p};
	(void)c;
	return add(out, g, after, count, &w);
}

EXEC_API CUresult cuGraphAddMemsetNode(CUgraphNode *out, CUgraph g, const CUgraphNode *after, size_t count,
				       const struct exec_fill *p, CUcontext c)
{
	const struct exec_work w = {.kind = EXEC_WORK_FILL, .of.fill = *p};
	(void)c;
	return add(out, g, after, count, &w);
}

EXEC_API CUresult cuGraphAddHostNode(CUgraphNode *out, CUgraph g, const CUgraphNode *after, size_t count,
				     const struct exec_host_node *p)
{
	const struct exec_work w = {.kind = EXEC_WORK_HOST, .of.host = *p};
	return add(out, g, after, count, &w);
}

EXEC_API CUresult cuGraphAddEmptyNode(CUgraphNode *out, CUgraph g, const CUgraphNode *after, size_t count)
{
	const struct exec_work w = {.kind = EXEC_WORK_EMPTY};
	return add(out, g, after, count, &w);
}

EXEC_API CUresult cuGraphAddEventRecordNode(CUgraphNode *out, CUgraph g, const CUgraphNode *after, size_t count,
					    CUevent e)
{
	const struct exec_work w = {.kind = EXEC_WORK_RECORD, .of.event = e};
	return add(out, g, after, count, &w);
}

EXEC_API CUresult cuGraphAddEventWaitNode(CUgraphNode *out, CUgraph g, const CUgraphNode *after, size_t count,
					  CUevent e)
{
	(void)e;
	return cuGraphAddEmptyNode(out, g, after, count);
}

/* The child as it is now. */
EXEC_API CUresult cuGraphAddChildGraphNode(CUgraphNode *out, CUgraph g, const CUgraphNode *after, size_t count,
					   CUgraph child)
{
	const struct exec_work w = {.kind = EXEC_WORK_GRAPH, .of.graph = child};
	return child ? add(out, g, after, count, &w) : EXEC_INVALID_VALUE;
}

EXEC_API CUresult cuGraphAddDependencies(CUgraph g, const CUgraphNode *from, const CUgraphNode *to, size_t count)
{
	for (size_t k = 0; k < count; k++) {
		struct CUgraphNode_st *n = to[k];
		if (place_of(g, n) == g->count || place_of(g, from[k]) == g->count)
			return EXEC_INVALID_VALUE;
		CUgraphNode *more = mem_grow(n->after, (n->after_count + 1) * sizeof *more);
		if (!more)
			return EXEC_OUT_OF_MEMORY;
		n->after = more;
		n->after[n->after_count++] = from[k];
	}
	return EXEC_OK;
}

EXEC_API CUresult cuGraphAddDependencies_v2(CUgraph g, const CUgraphNode *from, const CUgraphNode *to, const void *data,
					    size_t count)
{
	(void)data;
	return cuGraphAddDependencies(g, from, to, count);
}

/* Those that the caller has room for; in *count how many there are. */
static CUresult list(CUgraph g, CUgraphNode *nodes, size_t *count, bool roots)
{
	size_t n = 0;
	for (size_t k = 0; k < g->count; k++) {
		if (roots && g->node[k]->after_count)
			continue;
		if (nodes && n < *count)
			nodes[n] = g->node[k];
		n++;
	}
	*count = nodes && *count < n ? *count : n;
	return EXEC_OK;
}

EXEC_API CUresult cuGraphGetNodes(CUgraph g, CUgraphNode *nodes, size_t *count)
{
	return list(g, nodes, count, false);
}

EXEC_API CUresult cuGraphGetRootNodes(CUgraph g, CUgraphNode *nodes, size_t *count)
{
	return list(g, nodes, count, true);
}

EXEC_API CUresult cuGraphNodeGetType(CUgraphNode n, int *type)
{
	static const int types[] = {
	    [EXEC_WORK_KERNEL] = 0, [EXEC_WORK_COPY] = 1,  [EXEC_WORK_FILL] = 2,
	    [EXEC_WORK_HOST] = 3,   [EXEC_WORK_GRAPH] = 4, [EXEC_WORK_EMPTY] = 5,
	    [EXEC_WORK_RECORD] = 7, [EXEC_WORK_TAKE] = 10, [EXEC_WORK_GIVE] = 11}; /* CUgraphNodeType */
	*type = types[n->work.kind];
	return EXEC_OK;
}

/* ---- graphs that can be launched ---- */

EXEC_API CUresult cuGraphInstantiateWithFlags(CUgraphExec *out, CUgraph g, unsigned long long flags)
{
	(void)flags;
	return g ? ordered(out, g) : EXEC_INVALID_VALUE;
}

EXEC_API CUresult cuGraphInstantiate_v2(CUgraphExec *out, CUgraph g, CUgraphNode *wrong, char *log, size_t log_bytes)
{
	if (wrong)
		*wrong = NULL;
	if (log && log_bytes)
		*log = '\0';
	return cuGraphInstantiateWithFlags(out, g, 0);
}

EXEC_API CUresult cuGraphInstantiateWithParams(CUgraphExec *out, CUgraph g, const void *params)
{
	(void)params;
	return cuGraphInstantiateWithFlags(out, g, 0);
}

EXEC_API CUresult cuGraphExecDestroy(CUgraphExec g)
{
	return cuGraphDestroy(g);
}

EXEC_API CUresult cuGraphUpload(CUgraphExec g, CUstream s)
{
	(void)s;
	return g ? EXEC_OK : EXEC_INVALID_VALUE;
}

EXEC_API CUresult cuGraphLaunch(CUgraphExec g, CUstream s)
{
	const struct exec_work w = {.kind = EXEC_WORK_GRAPH, .of.graph = g};
	return g ? exec_submit(s, &w) : EXEC_INVALID_VALUE;
}

static struct CUgraphNode_st *made_of(CUgraphExec g, CUgraphNode n)
{
	for (size_t k = 0; k < g->count; k++)
		if (g->node[k]->origin == n)
			return g->node[k];
	return NULL;
}

EXEC_API CUresult cuGraphExecKernelNodeSetParams_v2(CUgraphExec g, CUgraphNode n, const struct exec_kernel_node *p)
{
	return set_kernel(made_of(g, n), p);
}

EXEC_API CUresult cuGraphExecKernelNodeSetParams(CUgraphExec g, CUgraphNode n, const struct exec_kernel_node *p)
{
	return set_kernel(made_of(g, n), p);
}

EXEC_API CUresult cuGraphNodeSetEnabled(CUgraphExec g, CUgraphNode n, unsigned on)
{
	struct CUgraphNode_st *m = made_of(g, n);
	if (m)
		m->off = !on;
	return m ? EXEC_OK : EXEC_INVALID_VALUE;
}

/* The same kinds of work in the same order with other arguments; else nothing changes. */
EXEC_API CUresult cuGraphExecUpdate_v2(CUgraphExec g, CUgraph from, void *result)
{
	struct CUgraph_st *now;
	int *why = result; /* CUgraphExecUpdateResultInfo begins with CUgraphExecUpdateResult */
	CUresult r = ordered(&now, from);
	if (r)
		return r;
	bool same = now->count == g->count;
	for (size_t k = 0; same && k < g->count; k++)
		same = now->node[k]->work.kind == g->node[k]->work.kind;
	if (why)
		*why = same ? 0 : 2; /* CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED */
	if (same) {
		const struct CUgraph_st before = *g;
		*g = *now;
		*now = before;
	}
	graph_free(now);
	return same ? EXEC_OK : EXEC_GRAPH_NOT_UPDATED;
}

/* ---- capture ---- */

EXEC_API CUresult cuStreamBeginCapture_v2(CUstream s, int mode)
{
	(void)mode;
	if (!is_stream(s) || s->graph)
		return EXEC_INVALID_VALUE;
	s->origin = true;
	return cuGraphCreate(&s->graph, 0);
}

EXEC_API CUresult cuStreamBeginCapture(CUstream s, int mode)
{
	return cuStreamBeginCapture_v2(s, mode);
}

/* Streams that joined by an event captured into the same graph, and have ended with this one. */
EXEC_API CUresult cuStreamEndCapture(CUstream s, CUgraph *out)
{
	struct CUgraph_st *g = exec_capturing(s);
	if (!g || !s->origin || !out)
		return EXEC_INVALID_VALUE;
	EXEC_ENTER();
	for (struct CUstream_st *o = exec_process.streams; o; o = o->next)
		if (o->graph == g) {
			o->graph = NULL;
			o->origin = false;
		}
	*out = g;
	return exec_leave(EXEC_OK);
}

EXEC_API CUresult cuStreamIsCapturing(CUstream s, int *status)
{
	*status = exec_capturing(s) != NULL;
	return EXEC_OK;
}

EXEC_API CUresult cuStreamGetCaptureInfo_v2(CUstream s, int *status, uint64_t *id, CUgraph *g,
					    const CUgraphNode **after, size_t *count)
{
	struct CUgraph_st *now = exec_capturing(s);
	*status = now != NULL;
	if (id)
		*id = (uintptr_t)now;
	if (g)
		*g = now;
	if (after)
		*after = now && now->count ? &now->node[now->count - 1] : NULL;
	if (count)
		*count = now && now->count;
	return EXEC_OK;
}
