/* Libraries and kernels of CUDA 12: a library is a module, and a kernel its function. */
#include "exec/driver.h"
#include <string.h>

EXEC_API CUresult cuLibraryLoadData(CUmodule *out, const void *image, int *option, void **value, unsigned options,
				    int *library_option, void **library_value, unsigned library_options)
{
	(void)library_option, (void)library_value, (void)library_options;
	return cuModuleLoadDataEx(out, image, options, option, value);
}

EXEC_API CUresult cuLibraryLoadFromFile(CUmodule *out, const char *path, int *option, void **value, unsigned options,
					int *library_option, void **library_value, unsigned library_options)
{
	(void)option, (void)value, (void)options, (void)library_option, (void)library_value, (void)library_options;
	return cuModuleLoad(out, path);
}

EXEC_API CUresult cuLibraryUnload(CUmodule m)
{
	return cuModuleUnload(m);
}

EXEC_API CUresult cuLibraryGetModule(CUmodule *out, CUmodule m)
{
	*out = m;
	return m ? EXEC_OK : EXEC_INVALID_HANDLE;
}

EXEC_API CUresult cuLibraryGetKernel(CUfunction *f, CUmodule m, const char *name)
{
	return cuModuleGetFunction(f, m, name);
}

EXEC_API CUresult cuLibraryGetGlobal(CUdeviceptr *p, size_t *bytes, CUmodule m, const char *name)
{
	return cuModuleGetGlobal_v2(p, bytes, m, name);
}

EXEC_API CUresult cuLibraryGetManaged(CUdeviceptr *p, size_t *bytes, CUmodule m, const char *name)
{
	return cuModuleGetGlobal_v2(p, bytes, m, name);
}

static unsigned kernels_of(const struct CUmod_st *m, const char **name, unsigned most)
{
	unsigned n = 0;
	for (uint32_t k = 0; k < m->ptx->func_count; k++)
		if (m->ptx->funcs[k].entry) {
			if (name && n < most)
				name[n] = m->ptx->funcs[k].name;
			n++;
		}
	return n;
}

EXEC_API CUresult cuLibraryGetKernelCount(unsigned *count, CUmodule m)
{
	EXEC_ENTER();
	*count = kernels_of(m, NULL, 0);
	return exec_leave(EXEC_OK);
}

EXEC_API CUresult cuModuleGetFunctionCount(unsigned *count, CUmodule m)
{
	return cuLibraryGetKernelCount(count, m);
}

EXEC_API CUresult cuLibraryEnumerateKernels(CUfunction *out, unsigned most, CUmodule m)
{
	const char **name = mem_zero(most + 1, sizeof *name);
	if (!name)
		return EXEC_OUT_OF_MEMORY;
	CUresult r = exec_enter();
	if (!r) {
		const unsigned n = kernels_of(m, name, most);
		for (unsigned k = 0; k < n && k < most && !r; k++)
			r = exec_function(&out[k], m, name[k]);
		exec_leave(r);
	}
	mem_free(name);
	return r;
}

EXEC_API CUresult cuModuleEnumerateFunctions(CUfunction *out, unsigned most, CUmodule m)
{
	return cuLibraryEnumerateKernels(out, most, m);
}

EXEC_API CUresult cuKernelGetFunction(CUfunction *out, CUfunction f)
{
	*out = f;
	return f ? EXEC_OK : EXEC_INVALID_HANDLE;
}

EXEC_API CUresult cuKernelGetLibrary(CUmodule *m, CUfunction f)
{
	return cuFuncGetModule(m, f);
}

EXEC_API CUresult cuKernelGetName(const char **name, CUfunction f)
{
	*name = f ? f->name : NULL;
	return f ? EXEC_OK : EXEC_INVALID_HANDLE;
}

EXEC_API CUresult cuFuncGetName(const char **name, CUfunction f)
{
	return cuKernelGetName(name, f);
}

EXEC_API CUresult cuFuncLoad(CUfunction f)
{
	EXEC_ENTER();
	return exec_leave(f ? exec_function_ready(f) : EXEC_INVALID_HANDLE);
}

EXEC_API CUresult cuFuncIsLoaded(int *loaded, CUfunction f)
{
	*loaded = f && f->program;
	return f ? EXEC_OK : EXEC_INVALID_HANDLE;
}

EXEC_API CUresult cuKernelGetAttribute(int *v, int attribute, CUfunction f, CUdevice device)
{
	return !exec_numbered(device) ? EXEC_INVALID_DEVICE : cuFuncGetAttribute(v, attribute, f);
}

EXEC_API CUresult cuKernelSetAttribute(int attribute, int v, CUfunction f, CUdevice device)
{
	return !exec_numbered(device) ? EXEC_INVALID_DEVICE : cuFuncSetAttribute(f, attribute, v);
}

EXEC_API CUresult cuKernelSetCacheConfig(CUfunction f, int config, CUdevice device)
{
	(void)config, (void)device;
	return f ? EXEC_OK : EXEC_INVALID_HANDLE;
}

EXEC_API CUresult cuKernelGetParamInfo(CUfunction f, size_t i, size_t *offset, size_t *size)
{
	return cuFuncGetParamInfo(f, i, offset, size);
}
