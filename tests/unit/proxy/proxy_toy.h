/* A backend that hangs, crashes and loses its device on demand: a launch's label says which, a kernel's text what its compiler does. What it
 * computes shows what arrived. */
#ifndef FATHOM_PROXY_TOY_H
#define FATHOM_PROXY_TOY_H
#include "gpu/gpu.h"

extern const struct gpu_ops toy_ops;

#endif
