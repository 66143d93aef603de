/* Functions by name, and those of the driver's interface that are not served. */
#include "exec/driver.h"
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

/* In this library only: the program may have functions of these names, too. */
static void *own(const char *name, const char *suffix)
{
	static const char here;
	char whole[128];
	Dl_info info;
	snprintf(whole, sizeof whole, "%s%s", name, suffix);
	void *lib = dladdr(&here, &info) ? dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD) : NULL;
	void *p = lib ? dlsym(lib, whole) : NULL;
	if (lib)
		dlclose(lib);
	return p;
}

/* The documented names have no suffix; which revision is meant is what version says, 13000 for CUDA 13.0. */
EXEC_API CUresult cuGetProcAddress_v2(const char *name, void **out, int version, uint64_t flags, int *status)
{
	enum { FOUND = 0, NOT_FOUND = 1 };
	(void)flags;
	void *p = version >= 13000 ? own(name, "_v4") : NULL;
	if (!p)
		p = own(name, "_v2");
	if (!p)
		p = own(name, "");
	*out = p;
	if (status)
		*status = p ? FOUND : NOT_FOUND;
	return p ? EXEC_OK : EXEC_NOT_FOUND;
}

EXEC_API CUresult cuGetProcAddress(const char *name, void **out, int version, uint64_t flags)
{
	return cuGetProcAddress_v2(name, out, version, flags, NULL);
}

/* Only NVIDIA's own runtime asks for these, which are documented nowhere. */
EXEC_API CUresult cuGetExportTable(const void **table, const void *uuid)
{
	(void)table, (void)uuid;
	exec_unserved("cuGetExportTable", "a CUDA runtime inside the program wants undocumented tables of the driver; "
					  "link the program with -cudart shared, or do not strip it");
}

#define EXEC_UNSERVED(name)                                                                                            \
	EXEC_API void name(void)                                                                                       \
	{                                                                                                              \
		exec_unserved(#name, "");                                                                              \
	}
#include "exec/driver_unserved.def"
