/* When the GPUs of the NVIDIA driver are those that it told last: on this boot, with this driver, these GPUs and this environment. */
#ifndef FATHOM_CUDA_KNOWN_H
#define FATHOM_CUDA_KNOWN_H
#include "data/known_devices.h"

/* proc: where the kernel's files are, "/proc". False: it cannot be told. */
bool cuda_known_key(char key[KNOWN_KEY], const char *proc);

#endif
