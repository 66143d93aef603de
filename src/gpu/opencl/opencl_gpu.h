/* One open OpenCL device: what the files of this room share.
 *
 * Kernels are OpenCL C. The arguments of a launch become those of the kernel one by one: a number as itself, a buffer
 * as a pointer to global memory. Buffers for constant memory follow them, in their order, as pointers to constant
 * memory. A launch that asks for dynamic shared memory has a pointer to local memory last. Work items of a block are
 * counted by get_local_id. */
#ifndef FATHOM_OPENCL_GPU_H
#define FATHOM_OPENCL_GPU_H
#include "gpu/gpu.h"
#include "gpu/opencl/opencl_api.h"

struct opencl_kernel {
	uint64_t hash; /* of text and entry */
	size_t text_bytes;
	char name[96], entry[64];
	cl_program program;
	cl_kernel kernel;
	struct native_info native;
};

struct opencl_block { /* device memory that stays between launches */
	cl_mem memory;
	uint64_t bytes, content; /* content: names what is in it; 0 = unknown */
};

#define OPENCL_NO_KERNEL UINT32_MAX

struct opencl_gpu {
	struct gpu base;
	struct opencl_api api;
	struct device_info info;
	cl_device_id device;
	cl_context context;
	cl_command_queue queue;
	size_t sub_align; /* of a sub-buffer's start, bytes */
	bool lost;
	char lost_why[200];
	struct opencl_kernel *kernels;
	size_t kernel_count, kernel_cap;
	struct opencl_block block[LAUNCH_BUFFERS];
	/* Of buffers without content, which are as large as a part of the memory: to make and fill one takes longer than most launches. */
	struct opencl_block as_is[LAUNCH_BUFFERS];
	cl_mem scratch;	  /* read to evict caches */
	bool evict_fills; /* overwritten instead: work items of a CPU's threads read too slowly */
	unsigned flushes;
	size_t scratch_bytes;
	uint32_t evict_id; /* of the kernel that reads it; OPENCL_NO_KERNEL: not made yet */
	uint32_t fill_id;  /* of the one that fills large buffers */
};

/* opencl_info.c: what device `number` of the platform says of itself. */
void opencl_info_fill(const struct opencl_api *api, cl_device_id device, unsigned platform, unsigned number,
		      struct device_info *info);
/* opencl_load.c */
int opencl_load(struct gpu *g, const struct kernel_source *src, size_t n, uint32_t *ids, struct native_info *native,
		struct err *e);
void opencl_kernels_free(struct opencl_gpu *g);
/* opencl_evict.c. Makes what opencl_evict needs, before a launch is queued: 0 or negative. */
int opencl_evict_ready(struct opencl_gpu *g, struct err *e);
cl_int opencl_evict(struct opencl_gpu *g);
/* Queues zeros for a buffer of any size, to 16 bytes. *r: what the driver refused; the return value: no such kernel could be made. */
int opencl_fill_large(struct opencl_gpu *g, cl_mem memory, uint64_t bytes, cl_int *r, struct err *e);
/* opencl_copy.c. The launch's copies, and its kernel where it runs beside them; what they take goes into out. */
int opencl_copies(struct opencl_gpu *g, const struct opencl_kernel *k, const struct launch *l, struct sample *out,
		  struct err *e);
/* opencl_run.c */
int64_t opencl_now(void); /* ns */
int64_t opencl_limit_ns(const struct launch *l);
/* 1 done, 0 not within the limit; *r is how it ended. Its queue was flushed. */
int opencl_wait(struct opencl_gpu *g, cl_event done, int64_t limit_ns, cl_int *r);
/* The driver's answer to the launch, as an outcome; and that it did not end. 0. */
int opencl_said(struct opencl_gpu *g, const struct launch *l, cl_int r, struct sample *out);
int opencl_late(struct opencl_gpu *g, const struct launch *l, int64_t limit_ms, struct sample *out);
int opencl_run(struct gpu *g, uint32_t id, const struct launch *l, struct sample *out, struct err *e);
void opencl_memory_free(struct opencl_gpu *g);

#endif
