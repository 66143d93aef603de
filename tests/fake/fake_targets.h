#ifndef FATHOM_TESTS_FAKE_TARGETS_H
#define FATHOM_TESTS_FAKE_TARGETS_H
#include <stdbool.h>
#include <stddef.h>

/* Whether this driver's compiler knows this .version (x 10) and .target, and a card of compute capability cc runs it.
 * Driver 13000 is CUDA 13.0, and cc 90 is 9.0. Otherwise `why` says why not. */
bool fake_takes(int ptx, const char *target, int driver, int cc, char *why, size_t n);

#endif
