/* When the devices of the OpenCL drivers are those that they told last: on this boot, with these drivers and this environment. */
#ifndef FATHOM_OPENCL_KNOWN_H
#define FATHOM_OPENCL_KNOWN_H
#include "data/known_devices.h"

/* root: what comes before /proc and /dev, ""; vendors: where the drivers' .icd files are. False: it cannot be told. */
bool opencl_known_key(char key[KNOWN_KEY], const char *root, const char *vendors);

#endif
