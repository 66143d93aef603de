#include "gpu/opencl/opencl_api.h"
#include "base/str.h"
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

static const struct symbol {
	const char *name;
	size_t offset;
} symbols[] = {
#define CL_SYMBOL(member, symbol) {#symbol, offsetof(struct opencl_api, member)},
#include "opencl_symbols.def"
#undef CL_SYMBOL
};

int opencl_api_open(struct opencl_api *api, struct err *e)
{
	memset(api, 0, sizeof *api);
	api->lib = dlopen("libOpenCL.so.1", RTLD_NOW | RTLD_LOCAL);
	if (!api->lib) {
		const char *why = dlerror();
		if (!why || str_starts(why, "libOpenCL.so.1: cannot open shared object file: No such file"))
			return err_set(e, -ENODEV, "no OpenCL: libOpenCL.so.1 was not found");
		return err_set(e, -ENODEV, "the OpenCL loader could not be loaded: %s", why);
	}
	for (size_t i = 0; i < sizeof symbols / sizeof *symbols; i++) {
		void *p = dlsym(api->lib, symbols[i].name);
		if (!p)
			return err_set(e, -ENOTSUP, "the OpenCL loader lacks %s; one of OpenCL 1.2 or newer is needed",
				       symbols[i].name);
		/* A function pointer from dlsym: copied as bytes, since ISO C has no cast for it. */
		memcpy((char *)api + symbols[i].offset, &p, sizeof p);
	}
	return 0;
}

/* What drivers answer to the calls above; the numbers are those of cl.h. */
static const struct word {
	cl_int code;
	const char *name;
} words[] = {
#define WORD(name)                                                                                                     \
	{                                                                                                              \
		name, #name                                                                                            \
	}
    WORD(CL_DEVICE_NOT_FOUND),
    WORD(CL_DEVICE_NOT_AVAILABLE),
    WORD(CL_COMPILER_NOT_AVAILABLE),
    WORD(CL_MEM_OBJECT_ALLOCATION_FAILURE),
    WORD(CL_OUT_OF_RESOURCES),
    WORD(CL_OUT_OF_HOST_MEMORY),
    WORD(CL_PROFILING_INFO_NOT_AVAILABLE),
    WORD(CL_BUILD_PROGRAM_FAILURE),
    WORD(CL_MISALIGNED_SUB_BUFFER_OFFSET),
    WORD(CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST),
    WORD(CL_COMPILE_PROGRAM_FAILURE),
    WORD(CL_INVALID_VALUE),
    WORD(CL_INVALID_DEVICE),
    WORD(CL_INVALID_CONTEXT),
    WORD(CL_INVALID_COMMAND_QUEUE),
    WORD(CL_INVALID_MEM_OBJECT),
    WORD(CL_INVALID_PROGRAM_EXECUTABLE),
    WORD(CL_INVALID_KERNEL_NAME),
    WORD(CL_INVALID_ARG_INDEX),
    WORD(CL_INVALID_ARG_VALUE),
    WORD(CL_INVALID_ARG_SIZE),
    WORD(CL_INVALID_KERNEL_ARGS),
    WORD(CL_INVALID_WORK_DIMENSION),
    WORD(CL_INVALID_WORK_GROUP_SIZE),
    WORD(CL_INVALID_WORK_ITEM_SIZE),
    WORD(CL_INVALID_OPERATION),
    WORD(CL_INVALID_BUFFER_SIZE),
    WORD(CL_INVALID_GLOBAL_WORK_SIZE),
    {-1001, "CL_PLATFORM_NOT_FOUND_KHR"},
    {-9999, "illegal read or write of a buffer (-9999)"},
#undef WORD
};

const char *opencl_words(cl_int code, char room[OPENCL_WORDS])
{
	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (words[i].code == code)
			return words[i].name;
	snprintf(room, OPENCL_WORDS, "error %d", code);
	return room;
}

bool opencl_lost(cl_int code)
{
	return code == CL_INVALID_CONTEXT || code == CL_INVALID_COMMAND_QUEUE || code == CL_DEVICE_NOT_AVAILABLE ||
	       code == -9999;
}

bool opencl_refuses(cl_int code)
{
	return code == CL_OUT_OF_RESOURCES || code == CL_MISALIGNED_SUB_BUFFER_OFFSET || code == CL_INVALID_VALUE ||
	       (code <= CL_INVALID_ARG_INDEX && code >= CL_INVALID_WORK_ITEM_SIZE) || code == CL_INVALID_BUFFER_SIZE ||
	       code == CL_INVALID_GLOBAL_WORK_SIZE;
}

int opencl_fail(cl_int code, struct err *e, const char *what)
{
	char room[OPENCL_WORDS];
	int rc = code == CL_OUT_OF_HOST_MEMORY ? -ENOMEM : opencl_lost(code) ? -ENODEV : -EIO;
	return err_set(e, rc, "%s: %s", what, opencl_words(code, room));
}
