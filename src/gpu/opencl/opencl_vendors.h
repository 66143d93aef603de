/* Why the loader may have found no driver. */
#ifndef FATHOM_OPENCL_VENDORS_H
#define FATHOM_OPENCL_VENDORS_H
#include <stddef.h>

#define OPENCL_WHY 400
/* One sentence without its full stop: no .icd file stands where the loader looks, one names a library that does not load, or all do load.
 * Opens the libraries that the files name; what was opened stays, as a driver has threads and exit handlers of its own. */
void opencl_why_none(char why[OPENCL_WHY]);

#endif
