/* libcuda.so.1 on a simulated GPU: what `fathom exec` runs programs with.
 *
 * A device has one primary context. Its memory is a region that begins at the same address for the host and the GPU,
 * and so is page-locked memory. Managed and mapped memory need nothing further. All work is done when the call that asks
 * for it returns. Time is the simulated GPU's, so that events read how long it would have taken. Streams are served in
 * the order of the calls, one after another.
 *
 * The interface has no handle of the process's state: `exec_process` is this library's one mutable global, under its
 * lock. As commands do, the library prints (what kernels print, and one sentence about what it cannot serve) and ends
 * the program.
 *
 * `fathom exec` sets in the environment:
 *
 *   FATHOM_EXEC_GPU      what spec_open takes, of each device, with commas between
 *   FATHOM_EXEC_STATS    the file that statistics go to, "" for standard error
 *   FATHOM_EXEC_CHECK    set: what kernels do is looked at
 *   FATHOM_EXEC_UNTIMED  set: kernels take no time */
#ifndef FATHOM_EXEC_DRIVER_H
#define FATHOM_EXEC_DRIVER_H
#include "base/arena.h"
#include "base/str.h"
#include "exec/driver_abi.h"
#include "exec/heap.h"
#include "gpu/sim/func/func.h"
#include "gpu/sim/sim_check.h"
#include "gpu/sim/spec.h"
#include "gpu/sim/time/time.h"
#include "ptx/ptx.h"
#include <pthread.h>
#include <signal.h>

#define EXEC_EXIT 3 /* as a command that lacks its environment: enum cmd_exit */
/* The first GPU's memory begins here, and each next one's so far behind: clear of what the system's loader and sanitizers
 * use. The one for threads leaves little else. */
#ifdef __SANITIZE_THREAD__
#define EXEC_BASE   0x550000000000ull
#define EXEC_STRIDE (16ull << 30)
#else
#define EXEC_BASE   0x200000000000ull
#define EXEC_STRIDE (1ull << 40)
#endif
#define EXEC_HOST_MOST	(256ull << 30) /* bytes of the host's memory, of address space: whatever a machine has */
#define EXEC_REGISTERED 2
#define EXEC_ALIGN	512u
#define EXEC_TEXTURES	1024
#define EXEC_PARAMS	32764 /* bytes of a kernel's parameters, CUDA Programming Guide */

struct exec_shape {
	uint32_t grid[3], block[3], shared;
	uint32_t cluster[3]; /* blocks; 0 in the first: as the kernel says, or one */
	bool cooperative;
};
struct CUfunc_st {
	struct CUmod_st *module;
	struct CUfunc_st *next;
	char *name;
	struct func_program *program;
	struct time_program *time;
	uint32_t dynamic_shared;   /* opted in */
	bool large_clusters;	   /* likewise, beyond those that every GPU takes */
	struct time_stats *counts; /* of all its launches; NULL: none yet, or nobody asked */
	struct exec_shape shape;   /* of the latest launch */
	uint64_t launches, cycles;
	double ns;
};
struct CUmod_st {
	struct CUmod_st *next;
	struct exec_device *device;
	struct arena arena; /* everything of it */
	struct ptx_module *ptx;
	struct CUfunc_st *functions; /* those that were asked for */
	uint64_t globals, constants; /* allocations; 0: none */
	uint64_t constant_bytes;
	bool filled; /* variables have their initial values */
	uint64_t
	    *named; /* by variables: objects that textures and surfaces of the module are bound to. NULL: none yet */
};
struct CUctx_st {
	int device;
};
struct CUstream_st {
	struct exec_device *device;
	unsigned flags;
	struct CUgraph_st *graph; /* that it captures into, or NULL */
	bool origin;		  /* the capture began with it */
	struct CUstream_st *next;
};
struct CUevent_st {
	double ns;
	bool recorded, timeless;  /* timeless: nobody asks when */
	struct CUgraph_st *graph; /* was recorded while captured into it */
};
struct CUarray_st {
	uint64_t base;
	struct exec_array_shape shape; /* depth: layers, where it has some */
	uint32_t texel_bytes;
	struct CUarray_st *next;
};

enum exec_work_kind {
	EXEC_WORK_EMPTY,
	EXEC_WORK_KERNEL,
	EXEC_WORK_COPY,
	EXEC_WORK_FILL,
	EXEC_WORK_HOST,
	EXEC_WORK_RECORD,
	EXEC_WORK_GRAPH,
	EXEC_WORK_TAKE,
	EXEC_WORK_GIVE
};
struct exec_work { /* what a stream is given, and a node of a graph */
	enum exec_work_kind kind;
	union {
		struct {
			struct CUfunc_st *f;
			struct exec_shape shape;
			uint8_t *packed; /* its parameters */
			size_t bytes;
		} kernel;
		struct exec_copy_3d copy;
		struct exec_fill fill;
		struct exec_host_node host;
		struct CUevent_st *event;
		struct CUgraph_st *graph;
		struct exec_graph_memory *memory; /* TAKE */
		uint64_t address;		  /* GIVE */
	} of;
};
struct CUgraphNode_st {
	struct exec_work work;
	struct CUgraphNode_st **after; /* that go before it */
	size_t after_count;
	const struct CUgraphNode_st *origin; /* in what can be launched: the node that it was made of */
	bool off;
};
struct CUgraph_st {
	struct CUgraphNode_st **node;
	size_t count, cap;
};

struct exec_device { /* a simulated GPU and its primary context */
	int index;
	struct CUctx_st primary;
	CUresult sticky; /* the context is dead */
	struct sim_spec *spec;
	struct time_gpu *time;
	struct func_memory
	    memory; /* regions: its own, the host's, from EXEC_REGISTERED on the host's that is registered */
	struct exec_heap heap;
	struct CUmod_st *last; /* whose constants the caches may hold */
	uint64_t workspace;    /* of cooperative launches; 0: none yet */
	struct CUmemPool_st *pool;
	double ns;			   /* simulated time */
	struct sim_check *check;	   /* NULL: not asked for */
	uint64_t graph_bytes, graph_most;  /* of memory that graphs have, now and at most */
	uint64_t graph_taken, graph_trims; /* of it what launches took; how often the rest was given up */
	uint64_t heap_most, heap_used;	   /* bytes that kernels' malloc may have, and has */
};
struct exec_object { /* of a texture or a surface */
	struct exec_resource what;
	struct exec_texture_how how;
};

struct exec_process {
	pthread_mutex_t lock;
	bool open;
	volatile sig_atomic_t ending; /* the signal that ends the program, 0: none */
	int told[2];		      /* a pipe that says which signal it is */
	pid_t owner;		      /* the process that opened it, which a fork is not */
	struct arena arena;
	struct exec_device device[EXEC_DEVICES];
	int devices;
	struct exec_heap host; /* page-locked memory, which all devices reach */
	struct CUmod_st *modules;
	struct CUstream_st *streams;
	struct CUarray_st *arrays; /* that are not destroyed */
	struct exec_range *ranges; /* driver_virtual.c */
	struct exec_piece *pieces;
	struct func_texture texture[EXEC_TEXTURES]; /* dimensions 0: free */
	struct exec_object object[EXEC_TEXTURES];   /* what they were made of */
	struct func_print print;
	bool untimed, events_told, slow_told, borrows_told; /* no cycles; what was said about it */
	double wall;					    /* seconds that this machine took for launches */
	const char *stats;				    /* where to; NULL: not asked for */
	struct str log;					    /* of launches, as JSON */
};
extern struct exec_process exec_process;
/* That the call under way is about: of the thread's context, until exec_on says otherwise. */
extern _Thread_local struct exec_device *exec_here;

/* driver_process.c. Begins a call of the driver's interface: takes the lock and opens the device. What to return at once, the lock released, or 0. */
CUresult exec_enter(void);
void exec_begin(void);		 /* the same, and nothing is returned at once */
CUresult exec_leave(CUresult r); /* releases the lock; r */
#define EXEC_ENTER()                                                                                                   \
	do {                                                                                                           \
		CUresult entered_ = exec_enter();                                                                      \
		if (entered_)                                                                                          \
			return entered_;                                                                               \
	} while (0)
CUresult exec_on(struct exec_device *d);	    /* the call is about this one, NULL: as it is; d->sticky */
int exec_current(void);				    /* driver_device.c: of the thread's context, 0 where it has none */
struct exec_device *exec_numbered(CUdevice device); /* or NULL */
/* A sentence on standard error, after "fathom exec: ". */
void exec_say(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* The program calls what the simulated GPU does not serve: says which call, and ends the program. */
_Noreturn void exec_unserved(const char *call, const char *why);
void exec_copy_takes(uint64_t bytes, bool to_device); /* simulated time of a copy */

/* driver_memory.c: under the lock */
CUresult exec_alloc(uint64_t bytes, enum exec_kind kind, uint64_t *out);
CUresult exec_free(uint64_t address);
void exec_pool_gave_back(const struct exec_block *b); /* driver_pool.c: b is freed */
struct exec_device *exec_device_of(uint64_t address); /* whose memory it is; NULL: the host's, or nobody's */
struct exec_block *exec_block_of(uint64_t address);   /* that it lies in, or NULL */
/* Host memory behind a device address, NULL: not all of it is allocated. */
uint8_t *exec_at(uint64_t address, uint64_t bytes);
bool exec_is_device(uint64_t address);
void exec_written(uint64_t address, uint64_t bytes); /* by the host: caches forget it */

/* driver_fatbin.c: the PTX of an image, which is text, or what exec_image_write made, or a fat binary that a wrapper may point to. In arena a, ends with NUL. cc: the newest that
 * this GPU takes is chosen. NULL and a sentence where there is none. */
const char *exec_image_text(struct arena *a, const void *image, int cc, struct err *e);
/* Of a program whose parts were compiled apart (nvcc -rdc=true): an image of each, NULL behind the last. NULL: there is but the image itself. */
const void *const *exec_image_parts(const void *image);
int exec_lz4(uint8_t *out, size_t out_bytes, const uint8_t *in, size_t in_bytes); /* 0 or -EINVAL */

/* driver_image.c: an image of the PTX and of those kernels that are decoded, behind what is in out. 0 or -1: out of memory. */
int exec_image_write(struct str *out, const char *text, const struct CUfunc_st *functions, const struct sim_spec *s);
const char *exec_image_ptx(const void *image); /* of an ELF file; NULL: it is not one of ours */

/* driver_link.c: where a program wants to read what is said about what it has compiled. */
struct exec_log {
	char *text; /* NULL: nowhere */
	size_t room;
	void **bytes; /* how many there are, or NULL */
};
struct exec_jit {
	struct exec_log info, error;
};
struct exec_jit exec_jit_open(unsigned n, const int *option, void **value); /* CUjit_option */
CUresult exec_jit_fail(const struct exec_jit *j, const struct err *e,
		       CUresult r); /* r, or that memory ran out; j NULL: none */

/* driver_module.c. Without the lock: what only they have is given. */
CUresult exec_read_file(struct str *text, const char *path);
CUresult exec_module_parse(struct CUmod_st *m, const char *text, const struct exec_jit *jit);
CUresult exec_compile(struct CUfunc_st *f, struct err *e); /* decodes it */
/* Under the lock: */
CUresult exec_module_open(struct CUmod_st **out, const void *image, const struct exec_jit *jit);
CUresult exec_function(struct CUfunc_st **out, struct CUmod_st *m, const char *name);
CUresult exec_function_ready(struct CUfunc_st *f); /* decoded, with its module's variables */
CUresult exec_variable(struct CUmod_st *m, const char *name, uint64_t *at, uint64_t *bytes);

/* driver_graph.c: takes the lock. Does the work, or puts it into the graph that the stream captures into. */
CUresult exec_submit(CUstream s, const struct exec_work *w);
struct CUgraph_st *exec_capturing(const struct CUstream_st *s); /* or NULL */
CUresult exec_work_copy(struct exec_work *to, const struct exec_work *from);
CUresult exec_node_add(struct CUgraphNode_st **out, struct CUgraph_st *g, struct CUgraphNode_st *const *after,
		       size_t count, const struct exec_work *w);
/* driver_graph_memory.c: take the lock. Memory of a graph that is being captured; what its nodes hold it by. */
CUresult exec_graph_take(struct CUgraph_st *g, uint64_t bytes, uint64_t *address);
void exec_graph_memory_keep(struct exec_graph_memory *m);
void exec_graph_memory_drop(struct exec_graph_memory *m);
CUresult exec_graph_memory_take(struct exec_graph_memory *m); /* under the lock: by a launch */
CUresult exec_graph_memory_give(struct exec_graph_memory *m); /* likewise */
CUresult exec_release(uint64_t address);		      /* driver_copy.c: takes the lock. What programs free */
/* driver_copy.c: under the lock */
CUresult exec_copy(const struct exec_copy_3d *c);
CUresult exec_fill(const struct exec_fill *f);

/* driver_launch.c: under the lock. What a launch is given as one block of parameters, which is the caller's to free. */
CUresult exec_pack(struct CUfunc_st *f, void **params, void **extra, uint8_t **packed, size_t *bytes);
CUresult exec_launch(struct CUfunc_st *f, const struct exec_shape *s, const uint8_t *packed);
uint32_t exec_blocks_per_sm(struct CUfunc_st *f, uint64_t threads, uint64_t dynamic_shared);

void exec_check_open(
    struct exec_device *d); /* driver_check.c; if it is asked for: what is found is summed up when the program ends */
void exec_check_write(void);
void exec_signals_open(void); /* driver_signal.c; if there is something to write when a signal ends the program */

/* driver_stats.c */
void exec_stats_open(void); /* if they are asked for: they are written when the program ends */
void exec_stats_write(void);
struct time_stats *exec_stats_of(struct CUfunc_st *f); /* counts the next launch; NULL: nobody asked */
void exec_stats_launch(struct CUfunc_st *f, const struct exec_shape *s, const struct time_result *r);

/* ---- calls of the interface that other calls are made of ---- */
CUresult cuTexObjectCreate(CUtexObject *out, const struct exec_resource *what, const struct exec_texture_how *how,
			   const void *view);
CUresult cuTexObjectDestroy(CUtexObject t);
CUresult cuModuleLoad(CUmodule *out, const char *path);
CUresult cuModuleLoadData(CUmodule *out, const void *image);
CUresult cuModuleLoadDataEx(CUmodule *out, const void *image, unsigned n, const int *option, void **value);
CUresult cuModuleUnload(CUmodule m);
CUresult cuModuleGetFunction(CUfunction *f, CUmodule m, const char *name);
CUresult cuModuleGetGlobal_v2(CUdeviceptr *p, size_t *bytes, CUmodule m, const char *name);
CUresult cuFuncGetModule(CUmodule *m, CUfunction f);
CUresult cuFuncGetAttribute(int *v, int attribute, CUfunction f);
CUresult cuFuncSetAttribute(CUfunction f, int attribute, int v);
CUresult cuFuncGetParamInfo(CUfunction f, size_t i, size_t *offset, size_t *size);

#endif
