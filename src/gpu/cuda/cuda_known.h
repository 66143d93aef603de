/* What the driver said about its GPUs when it was last asked, on this boot and with this environment. To start the driver
 * takes more than a tenth of a second, and its GPUs are the same until something that the key holds changes. */
#ifndef FATHOM_CUDA_KNOWN_H
#define FATHOM_CUDA_KNOWN_H
#include "data/device.h"
#include <stdbool.h>

/* Text that tells one state of drivers and GPUs from another: boot, driver, GPUs, the environment's choice of them. proc: where
 * the kernel's files are, "/proc". False: it cannot be told, so nothing can be known. */
#define CUDA_KNOWN_KEY 4096
bool cuda_known_key(char key[CUDA_KNOWN_KEY], const char *proc);
/* The devices that were kept under this key: appends them to list. A file that is missing, older, damaged or not ours is as
 * good as none: false. */
bool cuda_known_read(struct device_list *list, const char *path, const char *key);
/* Keeps them. Nothing depends on it, so failing is silent, and no other process ever sees half a file. */
void cuda_known_write(const struct device_list *list, const char *path, const char *key);
/* ${XDG_CACHE_HOME:-$HOME/.cache}/fathom/devices; false: neither is set. */
bool cuda_known_path(char *path, size_t n);

#endif
