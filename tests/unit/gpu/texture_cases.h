/* What every backend with textures has to answer, whatever the GPU. Fails the test that calls it. */
#ifndef FATHOM_TEXTURE_CASES_H
#define FATHOM_TEXTURE_CASES_H
#include "gpu/gpu.h"

void texture_cases(struct gpu *g);

#endif
