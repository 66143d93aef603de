/* The seam between questions and devices. A backend is a table of functions; nothing else crosses. */
#ifndef FATHOM_GPU_H
#define FATHOM_GPU_H
#include "base/err.h"
#include "data/device.h"
#include "data/launch.h"
#include "data/native_record.h"

struct gpu; /* an open device of one backend */
struct run;

/* A kernel to compile: complete text in the device's dialect. One text holds one .entry. */
struct kernel_source {
	const char *name; /* for messages: "constant/chase" */
	const char *entry;
	const char *text;
	uint32_t
	    group; /* expect: those that uncompiled tells of by this number; 0: none. A text belongs to the group it was expected for last */
};

struct gpu_ops {
	const char *name; /* "cuda", "opencl", "sim", "replay" */
	const char *help; /* one line for `fathom list devices`: "cuda:N, an NVIDIA GPU by its index" */

	/* Required. Appends this backend's devices (simulated GPUs: the built-in ones). No devices is not an error:
	 * return 0 and say why in list->note. Must be fast (no context creation). list->items: mem_free. */
	int (*list)(struct device_list *list, struct err *e);
	/* Required. spec is what follows the colon: "0", "gtx280", "path/to/x.gpu", "run.fathom". */
	int (*open)(struct gpu **out, const char *spec, uint64_t seed, struct err *e);
	/* Required. Valid until close. */
	const struct device_info *(*info)(struct gpu *g);
	/* Required. Compiles n kernels, in parallel where that is faster; ids[i] names kernel i for run. native[i] is
	 * what was compiled, read back. One that does not compile fails the call with its name, line and the compiler's
	 * words. The call returns -E2BIG when it needs more of something than the device has, -ENOTSUP when the device
	 * cannot do it, else -EINVAL. */
	int (*load)(struct gpu *g, const struct kernel_source *src, size_t n, uint32_t *ids, struct native_info *native,
		    struct err *e);
	/* Optional (NULL where loading takes no time to speak of): kernels that load will probably be asked for. They
	 * are compiled in the background, those that are wanted soon before all others, as far as nothing else needs
	 * the processor. One that does not compile is told by load, as if it had not been expected. Returns 0, or
	 * negative when some could not be taken on, which costs time only. */
	int (*expect)(struct gpu *g, const struct kernel_source *src, size_t n, bool soon, struct err *e);
	/* Optional, where there is expect: bytes of text of those that are not compiled so far, of one group. */
	size_t (*uncompiled)(struct gpu *g, uint32_t group);
	/* Optional (NULL where a launch that hangs costs nothing else). So many probes to come have launches that may never end; 0: none
	 * has any more. Best effort: what can be got ready for them in the background is. */
	void (*brace)(struct gpu *g, unsigned probes);
	/* Required. Returns 0 with out->outcome set (REFUSED, TIMEOUT, ... are outcomes), or negative when the
	 * environment failed. If it is -ENODEV, this gpu is lost (the driver's context is dead); proxy starts a fresh
	 * one. */
	int (*run)(struct gpu *g, uint32_t id, const struct launch *l, struct sample *out, struct err *e);
	/* run works beside this process and leaves it free: another thread may wait for it, as long as nobody else uses the gpu. */
	bool apart;
	/* Optional (NULL). The device's clocks, throttling, temperature now. */
	int (*sense)(struct gpu *g, struct condition *c, struct err *e);
	/* Optional (NULL unless the backend plays a recording): the recorded run, valid until close. Function run()
	 * then answers with the recorded outcome, INVALID included, and load() knows no native code. The engine takes a
	 * point's native record and the seed from here instead of checking. Use the recording's seed: another one asks
	 * for other points. */
	const struct run *(*recording)(struct gpu *g);
	/* Required. */
	void (*close)(struct gpu *g);
};

/* Every backend starts its own struct with this. */
struct gpu {
	const struct gpu_ops *ops;
};

extern const struct gpu_ops gpu_cuda, gpu_opencl, gpu_sim, gpu_replay;

/* gpu.c: the table of backends. */
const struct gpu_ops *const *gpu_backends(size_t *count);
/* Opens "cuda:0", "opencl:0.0", "sim:gtx280", "sim:my.gpu", "replay:run.fathom". Unknown names: -EINVAL and a sentence
 * that says what would be right. With `isolate`, a backend that can hang or crash (cuda, opencl) is driven from a child
 * process. */
int gpu_open(struct gpu **out, const char *device, uint64_t seed, bool isolate, struct err *e);
/* Opens what a run without -d takes: the first NVIDIA GPU that opens, else a simulated one. Array `device` says which
 * it is. Array `why` gives the reason as one sentence, and what is wrong with those before it. */
int gpu_open_best(struct gpu **out, uint64_t seed, char *device, size_t n, char *why, size_t why_n, struct err *e);
/* ops->list, in a child where a driver could crash or hang. */
int gpu_list(const struct gpu_ops *ops, struct device_list *list, struct err *e);

/* proxy.c: any backend in a child process. Same contract as ops->open. Enforces launch time limits by killing the
 * child, reports TIMEOUT for that launch, and starts a fresh child; kernels are loaded again on demand. What a child
 * died of is tried once more in a fresh one, and then reported: CRASH for a launch, -EIO for a load. */
int gpu_open_proxy(struct gpu **out, const struct gpu_ops *ops, const char *spec, uint64_t seed, struct err *e);
/* proxy.c: ops->list in a short-lived child, because a driver that was initialised here would not survive a later fork.
 * A child that dies is no device: note says so. */
int gpu_list_isolated(const struct gpu_ops *ops, struct device_list *list, struct err *e);

#endif
