/* Kernels that are expected, compiled by threads of their own while the device is busy with others. */
#ifndef FATHOM_CUDA_AHEAD_H
#define FATHOM_CUDA_AHEAD_H
#include "gpu/cuda/cuda_gpu.h"

/* Takes a kernel on, unless it was already; hash: of its text; soon: before all that are not. Makes g->ahead and its threads when they are first wanted. 0 or -ENOMEM. */
int cuda_ahead_add(struct cuda_gpu *g, const struct kernel_source *src, uint64_t hash, bool soon);
/* Bytes of text that is not compiled so far, of one group. a: may be NULL. */
size_t cuda_ahead_left(struct cuda_ahead *a, uint32_t group);
/* A copy of the image of an expected kernel, to be freed with mem_free; one that is being compiled is waited for.
 * *image is NULL if the caller has to compile. The kernel was not expected then, no thread had come to it (and none
 * does any more), or it failed. May be called with `a` NULL. Returns 0 or -ENOMEM. */
int cuda_ahead_take(struct cuda_ahead *a, const struct kernel_source *src, uint64_t hash, void **image, size_t *bytes,
		    struct err *e);
/* Waits for what is being compiled, and forgets the rest. a: may be NULL. */
void cuda_ahead_free(struct cuda_ahead *a);

#endif
