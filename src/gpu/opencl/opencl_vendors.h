/* What is wrong with the drivers that the loader looks for. */
#ifndef FATHOM_OPENCL_VENDORS_H
#define FATHOM_OPENCL_VENDORS_H
#include <stdbool.h>
#include <stddef.h>

#define OPENCL_WHY 400
/* One sentence without its full stop: no .icd file stands where the loader looks, one names a library that does not load, or all do load.
 * True: one does not load, whatever the others do.
 * Opens the libraries that the files name; what was opened stays, as a driver has threads and exit handlers of its own. */
bool opencl_why_none(char why[OPENCL_WHY]);

#endif
