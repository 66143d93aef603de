/* What a backend says about a device before anything is measured. Attributes the vendor documents, never truth. */
#ifndef FATHOM_DEVICE_H
#define FATHOM_DEVICE_H
#include "base/err.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct device_info {
	char backend[16];  /* "cuda", "sim", "replay", "opencl" */
	char spec[512];	   /* what -d accepts to get this device again: "cuda:0", "sim:gtx280" */
	char name[128];	   /* "NVIDIA H200" */
	char uuid[64];	   /* "GPU-...."; a simulated GPU: hash of its file */
	char driver[64];   /* driver version, or the simulator's version */
	char dialect[8];   /* kernel text it takes: "ptx" or "cl" */
	char target[16];   /* PTX .target, e.g. "sm_90", or what an OpenCL device keeps to, "OpenCL 3.0" */
	int ptx_version;   /* PTX .version x 10, e.g. 78 */
	int cc;		   /* compute capability x 10, e.g. 90, 13 */
	uint32_t sm_count; /* SMs that %smid counts */
	uint32_t warp_size;
	uint32_t max_threads_per_block;
	uint32_t max_threads_per_sm;
	uint32_t registers_per_block;
	uint64_t shared_per_block; /* bytes one block may have without opting in */
	uint64_t constant_bytes;   /* size of the user's constant space */
	uint64_t memory_bytes;	   /* global memory */
	double clock_hz;	   /* nominal SM clock; 0 when unknown */
	bool has_f64, has_f16, has_fma;
};

/* Whether a device can be like this, whoever says so: texts end, and arithmetic with its numbers is safe. Returns 0, or
 * -EINVAL and a sentence ("the device has a warp size that cannot be"). */
int device_check(const struct device_info *d, struct err *e);

/* In what two descriptions of a device are unlike: "SMs 132, not 114; driver ...". Its place on the machine, and what
 * is written for it, do not count. Says first what `is`, then what it `was`. Returns false, and out is empty, if they
 * are alike. */
bool device_differs(const struct device_info *is, const struct device_info *was, char *out, size_t n);

struct device_list {
	struct device_info *items;
	size_t count;
	char note[256]; /* why a backend lists none: "no NVIDIA driver: libcuda.so.1 was not found" */
};

/* The device's state beside a series. Fields that could not be had are negative. */
struct condition {
	double sm_clock_mhz, memory_clock_mhz, temperature_c, power_w;
	int64_t throttle; /* reasons as the driver's bit mask, 0 = none, -1 = unknown */
};
#define THROTTLE_WORDS 128
/* What holds the clocks back against the will of whoever set them, "power, heat"; "" where nothing does or nobody knows. Returns words. */
const char *throttle_words(int64_t throttle, char words[THROTTLE_WORDS]);

#endif
