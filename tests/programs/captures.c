/* Graphs of work: made node by node, captured, changed, with memory of their own. */
#include "calls.h"

static void count(void *data)
{
	++*(int *)data;
}

/* Set to 5, then v * 3 + 1, then copied; a host function beside. */
static bool graph_nodes(void)
{
	gpu v = to_gpu(NULL, N * sizeof(int));
	int add = 1, times = 3, calls = 0, out[N];
	void *g, *e, *node[4], *params[] = {&v, &add, &times, &n};
	struct kernel_node k = {.f = function("step"), .grid = {2, 1, 1}, .block = {N / 2, 1, 1}, .params = params};
	struct fill_node f = {v, 0, 5, 4, N, 1};
	struct host_node h = {count, &calls};
	struct copy c = {.from_type = DEVICE,
			 .from = v,
			 .to_type = HOST,
			 .to_host = out,
			 .width = sizeof out,
			 .height = 1,
			 .depth = 1};
	size_t nodes = 0, roots = 0;
	/* in an order in which only the dependencies are right */
	if (!good(cuGraphCreate(&g, 0)) || !good(cuGraphAddMemcpyNode(&node[0], g, NULL, 0, &c, NULL)) ||
	    !good(cuGraphAddKernelNode_v2(&node[1], g, NULL, 0, &k)) ||
	    !good(cuGraphAddMemsetNode(&node[2], g, NULL, 0, &f, NULL)) ||
	    !good(cuGraphAddHostNode(&node[3], g, &node[2], 1, &h)) ||
	    !good(cuGraphAddDependencies(g, &node[1], &node[0], 1)) ||
	    !good(cuGraphAddDependencies(g, &node[2], &node[1], 1)) || !good(cuGraphGetNodes(g, NULL, &nodes)) ||
	    !good(cuGraphGetRootNodes(g, NULL, &roots)) || !good(cuGraphInstantiateWithFlags(&e, g, 0)))
		return false;
	for (int k2 = 0; k2 < 3; k2++)
		if (!good(cuGraphLaunch(e, NULL)) || !good(cuCtxSynchronize()))
			return false;
	bool right = nodes == 4 && roots == 1 && calls == 3;
	for (int i = 0; i < N; i++)
		right = right && out[i] == 16;
	return right && good(cuGraphExecDestroy(e)) && good(cuGraphDestroy(g));
}

/* A circle cannot be instantiated. */
static bool graph_circle(void)
{
	struct host_node h = {count, NULL};
	void *g, *e, *node[2];
	return good(cuGraphCreate(&g, 0)) && good(cuGraphAddHostNode(&node[0], g, NULL, 0, &h)) &&
	       good(cuGraphAddHostNode(&node[1], g, &node[0], 1, &h)) &&
	       good(cuGraphAddDependencies(g, &node[1], &node[0], 1)) && cuGraphInstantiateWithFlags(&e, g, 0) == 1 &&
	       good(cuGraphDestroy(g));
}

/* Work of two streams, joined by events: nothing is done until the graph is launched. */
static bool graph_capture(void)
{
	gpu a = to_gpu(NULL, N * sizeof(int)), b = to_gpu(NULL, N * sizeof(int));
	void *s, *t, *fork, *join, *g, *e;
	int capturing = 0, calls = 0;
	if (!good(cuStreamCreate(&s, 1)) || !good(cuStreamCreate(&t, 1)) || !good(cuEventCreate(&fork, 0)) ||
	    !good(cuEventCreate(&join, 0)) || !good(cuStreamBeginCapture_v2(s, 0)) || !step(s, a, 2, 1) ||
	    !good(cuEventRecord(fork, s)) || !good(cuStreamWaitEvent(t, fork, 0)) || !step(t, b, 3, 1) ||
	    !good(cuEventRecord(join, t)) || !good(cuStreamWaitEvent(s, join, 0)) ||
	    !good(cuLaunchHostFunc(s, count, &calls)) || !good(cuStreamIsCapturing(t, &capturing)) ||
	    !good(cuStreamEndCapture(s, &g)))
		return false;
	bool right = capturing == 1 && all_are(a, 0) && all_are(b, 0) && !calls;
	right = right && good(cuGraphInstantiateWithFlags(&e, g, 0));
	for (int k = 0; right && k < 5; k++)
		right = good(cuGraphLaunch(e, s));
	right = right && good(cuStreamSynchronize(s)) && all_are(a, 10) && all_are(b, 15) && calls == 5;
	return right && step(t, b, 1, 1) && all_are(b, 16) && good(cuGraphExecDestroy(e)) && good(cuGraphDestroy(g)) &&
	       good(cuStreamDestroy_v2(s)) && good(cuStreamDestroy_v2(t));
}

static bool capture_steps(void **g, gpu v, int add, int times)
{
	void *s;
	return good(cuStreamCreate(&s, 1)) && good(cuStreamBeginCapture_v2(s, 0)) &&
	       good(cuMemsetD32Async(v, 1, N, s)) && step(s, v, add, times) && step(s, v, add, times) &&
	       good(cuStreamEndCapture(s, g)) && good(cuStreamDestroy_v2(s));
}

/* Other arguments for one node, then for all of them; a graph of another shape is refused. */
static bool graph_update(void)
{
	gpu v = to_gpu(NULL, N * sizeof(int));
	int add = 7, times = 1, result[8];
	void *g, *h, *e, *nodes[3], *params[] = {&v, &add, &times, &n};
	struct kernel_node k = {.f = function("step"), .grid = {2, 1, 1}, .block = {N / 2, 1, 1}, .params = params};
	size_t room = 3;
	if (!capture_steps(&g, v, 1, 2) || !capture_steps(&h, v, 0, 5) ||
	    !good(cuGraphInstantiateWithFlags(&e, g, 0)) || !good(cuGraphLaunch(e, NULL)) || !all_are(v, 7) ||
	    !good(cuGraphGetNodes(g, nodes, &room)) || room != 3)
		return false;
	if (!good(cuGraphExecKernelNodeSetParams_v2(e, nodes[2], &k)) || !good(cuGraphLaunch(e, NULL)) ||
	    !all_are(v, 10) || !good(cuGraphExecUpdate_v2(e, h, result)) || !good(cuGraphLaunch(e, NULL)) ||
	    !all_are(v, 25))
		return false;
	void *empty;
	return good(cuGraphCreate(&empty, 0)) && cuGraphExecUpdate_v2(e, empty, result) == 910 &&
	       good(cuGraphLaunch(e, NULL)) && all_are(v, 25) && good(cuGraphExecDestroy(e)) &&
	       good(cuGraphDestroy(g)) && good(cuGraphDestroy(h)) && good(cuGraphDestroy(empty));
}

static bool graph_child(void)
{
	gpu v = to_gpu(NULL, N * sizeof(int));
	int calls = 0;
	void *g, *child, *e, *node[2];
	struct host_node h = {count, &calls};
	return capture_steps(&child, v, 1, 3) && good(cuGraphCreate(&g, 0)) &&
	       good(cuGraphAddChildGraphNode(&node[0], g, NULL, 0, child)) && good(cuGraphDestroy(child)) &&
	       good(cuGraphAddHostNode(&node[1], g, &node[0], 1, &h)) && good(cuGraphInstantiateWithFlags(&e, g, 0)) &&
	       good(cuGraphLaunch(e, NULL)) && all_are(v, 13) && calls == 1 && good(cuGraphExecDestroy(e)) &&
	       good(cuGraphDestroy(g));
}

/* Memory that a graph takes has its address before the graph runs, and is there in each launch. It stays until it is
 * given back, in the graph or by the program. */
static bool graph_memory(void)
{
	enum { RESERVED = 2 };
	gpu v = to_gpu(NULL, N * sizeof(int)), a = 0;
	struct take_node t = {.pool = {1, 1}, .bytes = N * sizeof(int)};
	void *context, *s, *g, *h, *e, *f, *node[3];
	uint64_t before = 1, during = 0, kept = 0, after = 1;
	struct copy c = {
	    .from_type = DEVICE, .to_type = DEVICE, .to = v, .width = N * sizeof(int), .height = 1, .depth = 1};
	if (!good(cuCtxGetCurrent(&context)) || !good(cuDeviceGetGraphMemAttribute(0, RESERVED, &before)) ||
	    !good(cuStreamCreate(&s, 1)) || !good(cuStreamBeginCapture_v2(s, 0)) ||
	    !good(cuMemAllocAsync(&a, N * sizeof(int), s)) || !good(cuMemsetD32Async(a, 3, N, s)) ||
	    !step(s, a, 1, 2) || !good(cuMemcpyDtoDAsync_v2(v, a, N * sizeof(int), s)) || !good(cuMemFreeAsync(a, s)) ||
	    !good(cuStreamEndCapture(s, &g)) || !good(cuGraphInstantiateWithFlags(&e, g, 0)) ||
	    !good(cuGraphDestroy(g)))
		return false;
	for (int k = 0; k < 2; k++) {
		go("step", 2, 1, N / 2, 1, &v, &n, &n, &n, NULL);
		if (!good(cuGraphLaunch(e, s)) || !good(cuStreamSynchronize(s)) || !all_are(v, 7))
			return false;
	}
	if (!good(cuGraphCreate(&h, 0)) || !good(cuGraphAddMemAllocNode(&node[0], h, NULL, 0, &t)))
		return false;
	struct fill_node fill = {t.at, 0, 5, 4, N, 1};
	c.from = t.at;
	if (!good(cuGraphAddMemsetNode(&node[1], h, &node[0], 1, &fill, context)) ||
	    !good(cuGraphAddMemcpyNode(&node[2], h, &node[1], 1, &c, context)) ||
	    !good(cuGraphInstantiateWithFlags(&f, h, 0)) || !good(cuGraphLaunch(f, s)) ||
	    !good(cuStreamSynchronize(s)) || !all_are(v, 5) || !all_are(t.at, 5) || cuGraphLaunch(f, s) != 1 ||
	    !good(cuMemFreeAsync(t.at, s)) || !good(cuGraphLaunch(f, s)) || !good(cuStreamSynchronize(s)) ||
	    !good(cuDeviceGetGraphMemAttribute(0, RESERVED, &during)) || !good(cuGraphExecDestroy(e)) ||
	    !good(cuGraphExecDestroy(f)) || !good(cuGraphDestroy(h)) || !good(cuDeviceGraphMemTrim(0)) ||
	    !good(cuDeviceGetGraphMemAttribute(0, RESERVED, &kept)) || !all_are(t.at, 5) || !good(cuMemFree_v2(t.at)) ||
	    !good(cuDeviceGraphMemTrim(0)) || !good(cuDeviceGetGraphMemAttribute(0, RESERVED, &after)))
		return false;
	return before == 0 && during >= 2 * N * sizeof(int) && kept >= N * sizeof(int) && after == 0 && a != t.at &&
	       good(cuStreamDestroy_v2(s));
}

const struct program programs_of_captures[] = {
    {"graph_nodes", graph_nodes},
    {"graph_circle", graph_circle},
    {"graph_capture", graph_capture},
    {"graph_update", graph_update},
    {"graph_child", graph_child},
    {"graph_memory", graph_memory},
    {NULL, NULL},
};
