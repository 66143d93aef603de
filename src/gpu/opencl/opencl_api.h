/* The OpenCL ICD loader, found when the program runs: nothing is linked, so that the program starts without it. */
#ifndef FATHOM_OPENCL_API_H
#define FATHOM_OPENCL_API_H
#define CL_TARGET_OPENCL_VERSION 120
#include "base/err.h"
#include <CL/cl.h>
#include <stdbool.h>
#include <stddef.h>

struct opencl_api {
	void *lib;
#define CL_SYMBOL(member, symbol) __typeof__(&symbol) member;
#include "opencl_symbols.def"
#undef CL_SYMBOL
};

/* 0, or -ENODEV (no loader) or -ENOTSUP (too old) and a sentence. */
int opencl_api_open(struct opencl_api *api, struct err *e);
/* "CL_OUT_OF_RESOURCES", or "error -9999" in `room`. */
#define OPENCL_WORDS 32
const char *opencl_words(cl_int code, char room[OPENCL_WORDS]);
/* Fills e with "what: CL_..."; the negative errno that belongs to the code. */
int opencl_fail(cl_int code, struct err *e, const char *what);
/* After this answer the context is of no use any more. */
bool opencl_lost(cl_int code);
/* The error is an answer to this launch, and not a failure of the driver, the machine or the device. */
bool opencl_refuses(cl_int code);

#endif
