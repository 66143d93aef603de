/* One open CUDA device: what the files of this room share. */
#ifndef FATHOM_CUDA_GPU_H
#define FATHOM_CUDA_GPU_H
#include "gpu/cuda/cuda_driver.h"
#include "gpu/gpu.h"
#include <stddef.h>

/* A compiled kernel. The image stays, so that a module that was unloaded to save room comes back without compiling. */
struct cuda_kernel {
	uint64_t hash; /* of text and entry */
	size_t text_bytes;
	char name[96], entry[64];
	void *image;
	size_t image_bytes;
	struct native_info native;
	CUmodule module; /* NULL: not loaded now */
	CUfunction function;
	uint64_t stamp;		      /* when it was last used, for eviction */
	int carveout, dynamic_shared; /* what the function is set to now */
	uint32_t bank_bytes;
	char constant_symbol[64];  /* the .const array whose content is known ... */
	uint64_t constant_content; /* ... by this hash; 0 = unknown */
};

/* Device memory that stays allocated between launches. */
struct cuda_block {
	CUdeviceptr base;
	uint64_t bytes;
	uint64_t content; /* hash of the description of what is in it; 0 = unknown */
	uint64_t stamp;
	bool used; /* by the launch in preparation */
};
#define CUDA_BLOCKS    32
#define CUDA_NO_KERNEL UINT32_MAX

struct cuda_texture { /* of the launch in preparation; 0: none */
	CUtexObject object;
	CUarray array;
};

struct cuda_host_side { /* of copies one way */
	void *memory;
	uint64_t bytes;
	bool pinned;
};
#define CUDA_STREAMS 3 /* a copy either way and a kernel */

struct nvml;
struct cuda_ahead;

struct cuda_gpu {
	struct gpu base;
	struct cuda_driver d;
	struct device_info info;
	CUdevice device;
	CUcontext context;
	bool lost; /* the context is dead or busy for ever */
	char lost_why[200];
	struct cuda_kernel **kernels;
	size_t kernel_count, kernel_cap, loaded;
	struct cuda_ahead *ahead; /* NULL: nothing was expected yet */
	uint64_t stamp;
	struct cuda_block blocks[CUDA_BLOCKS];
	struct cuda_texture textures[LAUNCH_TEXTURES];
	uint8_t *staging; /* host image of a piece of a buffer */
	size_t staging_bytes;
	uint8_t *pinned; /* [the output's initial content][the words of every repeat] */
	size_t pinned_bytes;
	CUdeviceptr scratch; /* to evict caches: its first bytes are overwritten, those behind them read */
	size_t scratch_bytes;
	bool scratch_read; /* and not written */
	uint32_t evict_id; /* of the kernel that reads; CUDA_NO_KERNEL: not made yet */
	CUdeviceptr ring;  /* offsets of the ring that was written last */
	size_t ring_bytes;
	uint32_t scatter_id; /* of the kernel that writes it, as evict_id */
	unsigned flushes;
	volatile uint32_t *held; /* the host's word that a held queue waits for; NULL: nothing is held */
	CUdeviceptr held_at;
	uint32_t holds;		       /* so far: what the word becomes to let the last one go */
	uint32_t hold_id;	       /* of the kernel that waits, as evict_id */
	CUstream stream[CUDA_STREAMS]; /* of copies, made when they are first wanted */
	struct cuda_host_side host[2]; /* to the device, and from it; kept from one launch with copies to the next */
	uint8_t *mapped;	       /* the host's memory that kernels read */
	uint64_t mapped_bytes;
	CUevent begin, end, done;
	CUevent each[2 * LAUNCH_TIMED]; /* around every repeat's kernel, made when they are first wanted */
	struct nvml *nvml;
	bool nvml_tried;
};

/* cuda_info.c: fills *info from the driver; no context. */
int cuda_info_fill(const struct cuda_driver *d, int index, struct device_info *info, struct err *e);
/* The PTX to write, as .version x 10 and .target. A card younger than the table, or than its driver's PTX, gets the
 * newest target that is not above it, which every card runs. A driver_version of 13000 is CUDA 13.0. */
int cuda_ptx_version(int cc, int driver_version, int *target);
/* cuda_load.c */
int cuda_load(struct gpu *g, const struct kernel_source *src, size_t n, uint32_t *ids, struct native_info *native,
	      struct err *e);
int cuda_expect(struct gpu *g, const struct kernel_source *src, size_t n, bool soon, struct err *e);
int cuda_kernel_ready(struct cuda_gpu *g, struct cuda_kernel *k,
		      struct err *e); /* loads the module again when it was evicted */
/* One of src/kernel's that takes part in launches: loads it if it is not there. *id: CUDA_NO_KERNEL at first. To be called before the launch's own
 * kernel is made ready, as one that was not used for long may have to go. */
int cuda_own_kernel(struct cuda_gpu *g, const char *path, const char *entry, uint32_t *id, struct err *e);
/* Queues it. values: of its first `count` parameters; the others, of which no kernel of src/kernel has any, are 0. */
CUresult cuda_own_launch(struct cuda_gpu *g, uint32_t id, unsigned blocks, unsigned threads, const uint64_t *values,
			 unsigned count);
void cuda_kernels_free(struct cuda_gpu *g);
/* cuda_memory.c. Addresses of the launch's buffers, filled. 0 or negative; *r tells a driver's refusal (then -EIO). */
int cuda_memory_prepare(struct cuda_gpu *g, struct cuda_kernel *k, const struct launch *l, CUdeviceptr *address,
			CUresult *r, struct err *e);
/* Initial content of [from, from + n) of a buffer at `base` into host memory. */
void cuda_memory_image(const struct launch_buffer *b, CUdeviceptr base, uint64_t from, uint8_t *out, uint64_t n);
CUresult cuda_memory_fill(struct cuda_gpu *g, const struct launch_buffer *b, CUdeviceptr base, int *nomem);
void cuda_memory_free(struct cuda_gpu *g);
/* cuda_hold.c. What holding needs, before a launch is queued: 0 or negative. Then all that is queued behind cuda_hold waits for cuda_hold_end, or for
 * some milliseconds. Without mapped memory nothing waits. */
int cuda_hold_ready(struct cuda_gpu *g, struct err *e);
CUresult cuda_hold(struct cuda_gpu *g);
void cuda_hold_end(struct cuda_gpu *g);
void cuda_hold_free(struct cuda_gpu *g);
/* cuda_scatter.c. The first says whether a buffer's content is written on the device. The second makes what that needs,
 * before a launch is queued: 0 or negative. The third queues the writing. */
bool cuda_scatters(const struct launch_buffer *b);
int cuda_scatter_ready(struct cuda_gpu *g, const struct launch *l, struct err *e);
CUresult cuda_scatter(struct cuda_gpu *g, const struct launch_buffer *b, CUdeviceptr base);
/* cuda_texture.c. Makes the launch's textures on buffers that are filled. As cuda_memory_prepare, 0 or negative and *r. */
int cuda_textures_make(struct cuda_gpu *g, const struct launch *l, const CUdeviceptr *address, CUresult *r,
		       struct err *e);
void cuda_textures_free(struct cuda_gpu *g);
/* cuda_evict.c. Makes what cuda_evict needs, before a launch is queued: 0 or negative. */
int cuda_evict_ready(struct cuda_gpu *g, struct err *e);
CUresult cuda_evict(struct cuda_gpu *g);
/* cuda_copy.c. The launch's copies, and its kernel where it runs beside them; what they take goes into out. */
int cuda_copies(struct cuda_gpu *g, const struct cuda_kernel *k, const struct launch *l, void **args,
		struct sample *out, struct err *e);
CUresult cuda_mapped(struct cuda_gpu *g, const struct launch_buffer *b,
		     CUdeviceptr *address); /* a buffer of the host's, filled */
void cuda_copies_drop(struct cuda_gpu *g);  /* the host's memory of copies; cheap when there is none */
void cuda_copies_free(struct cuda_gpu *g);
/* cuda_run.c */
#define CUDA_TIME_LIMIT_MS 5000
int64_t cuda_now(void); /* ns */
/* 1 when the event is there, 0 not within the limit; *r is what the driver found. */
int cuda_wait(struct cuda_gpu *g, CUevent event, int64_t limit_ns, CUresult *r);
/* What the driver answered to the launch or while it ran, as an outcome; and that it did not end. 0. */
int cuda_said(struct cuda_gpu *g, const struct launch *l, CUresult r, struct sample *out);
int cuda_late(struct cuda_gpu *g, const struct launch *l, int64_t limit_ms, struct sample *out);
int cuda_run(struct gpu *g, uint32_t id, const struct launch *l, struct sample *out, struct err *e);
/* cuda_sense.c */
int cuda_sense(struct gpu *g, struct condition *c, struct err *e);
void cuda_sense_close(struct cuda_gpu *g);

#endif
