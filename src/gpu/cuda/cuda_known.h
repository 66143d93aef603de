/* When the GPUs of the NVIDIA driver are those that it told last. The boot, the driver, its GPUs and their parts have
 * to be the same, and so has the access that this process has to them. */
#ifndef FATHOM_CUDA_KNOWN_H
#define FATHOM_CUDA_KNOWN_H
#include "data/known_devices.h"

/* root: what comes before /proc and /dev, "". False: it cannot be told. */
bool cuda_known_key(char key[KNOWN_KEY], const char *root);

#endif
