/* Types and numbers of the CUDA driver's and runtime's interfaces, as far as this library serves them (CUDA Driver API and CUDA Runtime
 * API reference). Programs were compiled with them: no name's value or layout may change. */
#ifndef FATHOM_DRIVER_ABI_H
#define FATHOM_DRIVER_ABI_H
#include <stddef.h>
#include <stdint.h>

#define EXEC_DEVICES 16 /* at most */
#define EXEC_API     __attribute__((visibility("default")))

typedef int CUresult; /* cudaError_t has the same numbers */
enum {
	EXEC_OK = 0,
	EXEC_INVALID_VALUE = 1,
	EXEC_OUT_OF_MEMORY = 2,
	EXEC_NOT_INITIALIZED = 3,
	EXEC_INVALID_CONFIGURATION = 9, /* the runtime's only */
	EXEC_INVALID_SYMBOL = 13,	/* the runtime's only */
	EXEC_INVALID_DEVICE_FUNCTION = 98,
	EXEC_NO_DEVICE = 100,
	EXEC_INVALID_DEVICE = 101,
	EXEC_INVALID_IMAGE = 200,
	EXEC_INVALID_CONTEXT = 201,
	EXEC_NO_BINARY = 209,
	EXEC_INVALID_PTX = 218,
	EXEC_NOT_FILE = 301,
	EXEC_INVALID_HANDLE = 400,
	EXEC_NOT_FOUND = 500,
	EXEC_NOT_READY = 600,
	EXEC_ILLEGAL_ADDRESS = 700,
	EXEC_OUT_OF_RESOURCES = 701,
	EXEC_TIMEOUT = 702,
	EXEC_PEER_ALREADY = 704,
	EXEC_ASSERT = 710,
	EXEC_HOST_ALREADY_REGISTERED = 712,
	EXEC_HOST_NOT_REGISTERED = 713,
	EXEC_ILLEGAL_INSTRUCTION = 715,
	EXEC_MISALIGNED = 716,
	EXEC_LAUNCH_FAILED = 719,
	EXEC_COOPERATIVE_TOO_LARGE = 720,
	EXEC_INVALID_CLUSTER = 912,
	EXEC_NOT_SUPPORTED = 801,
	EXEC_GRAPH_NOT_UPDATED = 910,
	EXEC_UNKNOWN = 999,
};

typedef uint64_t CUdeviceptr, CUtexObject, CUsurfObject;
typedef int CUdevice;
typedef struct CUctx_st *CUcontext;
typedef struct CUmod_st *CUmodule;
typedef struct CUfunc_st *CUfunction;
typedef struct CUstream_st *CUstream;
typedef struct CUevent_st *CUevent;
typedef struct CUarray_st *CUarray;
typedef struct CUgraph_st *CUgraph, *CUgraphExec; /* the second one in the order in which it is done */
typedef struct CUgraphNode_st *CUgraphNode;
typedef struct CUmemPool_st *CUmemPool;
typedef struct CUlinkState_st *CUlinkState;

enum { /* CUmemorytype */
       EXEC_MEMORY_HOST = 1,
       EXEC_MEMORY_DEVICE = 2,
       EXEC_MEMORY_ARRAY = 3,
       EXEC_MEMORY_UNIFIED = 4
};

struct exec_copy_2d { /* CUDA_MEMCPY2D */
	size_t source_x_bytes, source_y;
	int source_type;
	const void *source_host;
	CUdeviceptr source_device;
	CUarray source_array;
	size_t source_pitch;
	size_t target_x_bytes, target_y;
	int target_type;
	void *target_host;
	CUdeviceptr target_device;
	CUarray target_array;
	size_t target_pitch;
	size_t width_bytes, height;
};

struct exec_copy_3d { /* CUDA_MEMCPY3D */
	size_t source_x_bytes, source_y, source_z, source_lod;
	int source_type;
	const void *source_host;
	CUdeviceptr source_device;
	CUarray source_array;
	void *reserved0;
	size_t source_pitch, source_height;
	size_t target_x_bytes, target_y, target_z, target_lod;
	int target_type;
	void *target_host;
	CUdeviceptr target_device;
	CUarray target_array;
	void *reserved1;
	size_t target_pitch, target_height;
	size_t width_bytes, height, depth;
};

enum { /* CUarray_format */
       EXEC_FORMAT_U8 = 1,
       EXEC_FORMAT_U16 = 2,
       EXEC_FORMAT_U32 = 3,
       EXEC_FORMAT_S8 = 8,
       EXEC_FORMAT_S16 = 9,
       EXEC_FORMAT_S32 = 10,
       EXEC_FORMAT_F16 = 16,
       EXEC_FORMAT_F32 = 32
};
enum { EXEC_ARRAY_LAYERED = 1, EXEC_ARRAY_CUBE = 4 }; /* flags */
struct exec_array_shape {			      /* CUDA_ARRAY3D_DESCRIPTOR */
	size_t width, height, depth;
	int format;
	unsigned channels, flags;
};
struct exec_array_flat { /* CUDA_ARRAY_DESCRIPTOR */
	size_t width, height;
	int format;
	unsigned channels;
};
enum { EXEC_RESOURCE_ARRAY = 0, EXEC_RESOURCE_LINEAR = 2, EXEC_RESOURCE_PITCH = 3 }; /* CUresourcetype */
struct exec_resource {								     /* CUDA_RESOURCE_DESC */
	int kind;
	union {
		CUarray array;
		struct {
			CUdeviceptr at;
			int format;
			unsigned channels;
			size_t bytes;
		} linear;
		struct {
			CUdeviceptr at;
			int format;
			unsigned channels;
			size_t width, height, pitch;
		} rows;
		int reserved[32];
	} of;
	unsigned flags;
};
enum { EXEC_TEXTURE_INTEGERS = 1, EXEC_TEXTURE_NORMALIZED = 2, EXEC_TEXTURE_SRGB = 16 }; /* flags of exec_texture_how */
struct exec_texture_how {								 /* CUDA_TEXTURE_DESC */
	int address[3]; /* wrap, clamp, mirror, border */
	int filter;	/* point, linear */
	unsigned flags, anisotropy;
	int level_filter;
	float level_bias, level_least, level_most, border[4];
	int reserved[12];
};

struct exec_kernel_node { /* CUDA_KERNEL_NODE_PARAMS, what its versions have in common */
	CUfunction f;
	unsigned grid[3], block[3], shared;
	void **params, **extra;
};
struct exec_fill { /* CUDA_MEMSET_NODE_PARAMS */
	CUdeviceptr to;
	size_t pitch;
	unsigned value, bytes;
	size_t width, height;
};
struct exec_take_node { /* CUDA_MEM_ALLOC_NODE_PARAMS */
	uint64_t pool[11];
	const void *access;
	size_t access_count, bytes;
	uint64_t address; /* out */
};
struct exec_host_node { /* CUDA_HOST_NODE_PARAMS */
	void (*call)(void *);
	void *data;
};

struct exec_launch_attribute { /* CUlaunchAttribute */
	int id, pad;
	unsigned value[16];
};
struct exec_launch_config { /* CUlaunchConfig */
	unsigned grid[3], block[3], shared;
	CUstream stream;
	const struct exec_launch_attribute *attribute;
	unsigned attribute_count;
};

enum { /* CUfunction_attribute */
       EXEC_FUNC_MOST_THREADS = 0,
       EXEC_FUNC_SHARED = 1,
       EXEC_FUNC_CONST = 2,
       EXEC_FUNC_LOCAL = 3,
       EXEC_FUNC_REGISTERS = 4,
       EXEC_FUNC_PTX_VERSION = 5,
       EXEC_FUNC_BINARY_VERSION = 6,
       EXEC_FUNC_CACHE_MODE = 7,
       EXEC_FUNC_DYNAMIC_SHARED = 8,
       EXEC_FUNC_CARVEOUT = 9,
       EXEC_FUNC_CLUSTER_NEEDED = 10,
       EXEC_FUNC_CLUSTER_X = 11,
       EXEC_FUNC_CLUSTER_Z = 13,
       EXEC_FUNC_CLUSTER_LARGE = 14
};

#endif
