/* Compiling: the driver's own linker turns PTX into an image. */
#ifndef FATHOM_CUDA_LINK_H
#define FATHOM_CUDA_LINK_H
#include "gpu/cuda/cuda_driver.h"
#include "gpu/gpu.h"
#include <stddef.h>

/* The image of one kernel, to be freed with mem_free. The context has to be current in the calling thread. 0; -EINVAL with the compiler's
 * first complaint; -ENOMEM; -ENODEV when the context is dead. */
int cuda_link(const struct cuda_driver *d, const struct kernel_source *src, void **image, size_t *bytes, struct err *e);

#endif
