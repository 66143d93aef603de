/* A gpu backend that answers the chase kernels, and only those, from the model of caches (src/model): straightforward,
 * and written without the simulator. It takes its structure from a description, which nothing but the test can see. */
#ifndef FATHOM_REFERENCE_GPU_H
#define FATHOM_REFERENCE_GPU_H
#include "gpu/gpu.h"
#include "gpu/sim/spec.h"

/* The description must outlive the gpu. */
int reference_gpu_open(struct gpu **out, const struct sim_spec *spec, uint64_t seed);

#endif
