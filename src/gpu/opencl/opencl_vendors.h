/* What is wrong with the drivers that the loader looks for. */
#ifndef FATHOM_OPENCL_VENDORS_H
#define FATHOM_OPENCL_VENDORS_H
#include <stdbool.h>
#include <stddef.h>

#define OPENCL_WHY 400
/* One sentence without its full stop. It says that no .icd file stands in the loader's folders, that one names a
 * library that does not load, or that all load. True: one does not load, whatever the others do. Opens the libraries
 * that the files name; what was opened stays, as a driver has threads and exit handlers of its own. */
bool opencl_why_none(char why[OPENCL_WHY]);

#endif
