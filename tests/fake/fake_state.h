/* A driver without a GPU: the parts of libcuda.so.1 that our backend calls, on top of the simulated GPU.
 *
 * What it plays is chosen by environment variables, read by cuInit:
 *   FAKE_CUDA_GPU      the simulated GPU, as spec_open takes it (default "toy")
 *   FAKE_CUDA_INIT     what cuInit returns (100: no device, 999: unknown); negative: the signal that it dies of
 *   FAKE_CUDA_DEVICES  how many GPUs there are (default 1)
 *   FAKE_CUDA_BUSY     so many of them, from the first one on, are somebody else's
 *   FAKE_CUDA_FAIL     "cuMemAlloc_v2:3:2": the third call of that function returns 2; 0 for the 3: every one
 *   FAKE_CUDA_HANG     "5": the fifth launch never ends
 *   FAKE_CUDA_FAULT    "5": the fifth launch kills the context with an illegal address
 *   FAKE_CUDA_CRASH    "5": the fifth launch kills the process
 *   FAKE_CUDA_GONE    a file: with that fault the GPU itself goes away, which makes the file; who comes later finds no GPU
 *   FAKE_CUDA_ONCE    a file: those three happen only where it does not exist yet, and make it
 *   FAKE_CUDA_VERSION  what cuDriverGetVersion says (default 13000); its compiler takes the PTX of that version only
 *   FAKE_CUDA_CC       the compute capability, 90 is 9.0 (default: the simulated GPU's)
 * Compiled images are ELF files whose instructions are what a compiler that changes nothing would write. */
#ifndef FATHOM_TESTS_FAKE_STATE_H
#define FATHOM_TESTS_FAKE_STATE_H
#include "exec/heap.h"
#include "gpu/cuda/cuda_driver.h"
#include "gpu/sim/spec.h"
#include "gpu/sim/time/time.h"
#include <pthread.h>

enum {
	FAKE_INVALID_VALUE = 1,
	FAKE_OUT_OF_MEMORY = 2,
	FAKE_NOT_INITIALIZED = 3,
	FAKE_UNAVAILABLE = 46,
	FAKE_NO_DEVICE = 100,
	FAKE_INVALID_DEVICE = 101,
	FAKE_INVALID_IMAGE = 200,
	FAKE_INVALID_CONTEXT = 201,
	FAKE_INVALID_PTX = 218,
	FAKE_NOT_FOUND = 500,
	FAKE_ILLEGAL_ADDRESS = 700,
	FAKE_OUT_OF_RESOURCES = 701,
	FAKE_UNKNOWN = 999,
};

/* Constant arrays have addresses of their own, far from global memory: module m's begin here + m * FAKE_CONSTANT_STEP. */
#define FAKE_CONSTANT_BASE 0x700000000000ull
#define FAKE_CONSTANT_STEP 0x1000000ull
#define FAKE_MEMORY_MAX	   (512ull << 20) /* of the simulated memory; taken from the host only where it is touched */

struct CUctx_st {
	int unused;
};
struct CUevent_st {
	double ms;
};
struct CUfunc_st {
	struct CUmod_st *module;
	int max_dynamic_shared;
};
struct CUmod_st {
	uint32_t number;
	struct arena arena;
	struct func_program *program;
	struct time_program *time;
	uint8_t *constant;
	uint8_t *globals; /* the module's .global variables */
	struct CUfunc_st function;
	struct CUmod_st *next;
};
struct CUlinkState_st {
	struct str text;
	char *error, *info; /* the caller's log buffers */
	size_t error_bytes, info_bytes;
	uint8_t *image;
	size_t image_bytes;
};
#define FAKE_TEXTURES	   16
#define FAKE_TEXTURE_ALIGN 256 /* what our allocator gives; the real driver wants, and gives, 512 */
struct CUarray_st {
	uint64_t base; /* 0: free */
	CUDA_ARRAY3D_DESCRIPTOR shape;
};
struct fake {
	pthread_mutex_t lock;
	bool initialised;
	int devices, version, cc; /* version: 13000 is CUDA 13.0; cc: 90 is compute capability 9.0 */
	char fail_name[64];
	long fail_at, fail_calls;
	int fail_code;
	long hang_at, fault_at, crash_at, launches;
	struct arena arena;
	struct sim_spec *spec;
	struct time_gpu *time;
	struct func_memory memory;
	struct exec_heap heap;
	struct CUarray_st arrays[FAKE_TEXTURES];
	struct func_texture textures[FAKE_TEXTURES]; /* dimensions 0: free */
	struct CUctx_st context;
	struct CUmod_st *modules, *last; /* last: whose constants the caches may hold */
	uint32_t module_number;
	double now_ms; /* device time */
	bool hung;
	int sticky;
};
extern struct fake fake;

/* Begins a call: locks, and says what to return at once (after unlocking), or 0. */
CUresult fake_enter(const char *name, bool needs_context);
CUresult fake_leave(CUresult r);

/* fake_targets.c: whether the driver's compiler knows this .version, x 10, and this .target, and the card runs it; else why not. */
bool fake_takes(int ptx, const char *target, char *why, size_t n);
/* fake_image.c */
int fake_image_write(struct CUlinkState_st *l, const struct func_program *p, const struct sim_spec *s);
const char *fake_image_text(const void *image, size_t *bytes, char *entry, size_t entry_bytes);
/* fake_memory.c */
CUresult fake_memory_alloc(uint64_t bytes, CUdeviceptr *out);
CUresult fake_memory_free(CUdeviceptr p);
uint8_t *fake_memory_at(CUdeviceptr p, uint64_t bytes);	 /* NULL: not allocated */
void fake_memory_written(CUdeviceptr p, uint64_t bytes); /* the host wrote there */

#endif
