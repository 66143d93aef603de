/* Runs every program, or those that are named: programs KERNELS.ptx [NAME ...]. Exit code 1 when one is wrong. */
#include "programs.h"
#include <stdarg.h>
#include <stdio.h>

int cuInit(unsigned flags);
int cuCtxCreate_v2(void **context, unsigned flags, int device);
int cuModuleLoad(void **module, const char *path);
int cuModuleGetFunction(void **f, void *module, const char *name);
int cuModuleGetGlobal_v2(gpu *at, size_t *bytes, void *module, const char *name);
int cuMemAlloc_v2(gpu *p, size_t bytes);
int cuMemcpyHtoD_v2(gpu to, const void *from, size_t bytes);
int cuMemcpyDtoH_v2(void *to, gpu from, size_t bytes);
int cuMemsetD8_v2(gpu to, unsigned char v, size_t n);
int cuLaunchKernel(void *f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
		   unsigned shared, void *stream, void **params, void **extra);
int cuCtxSynchronize(void);

static void *module;
static uint32_t seed;

static void must(int r, const char *what)
{
	if (!r)
		return;
	printf("%s: error %d\n", what, r);
	exit(1);
}

gpu to_gpu(const void *data, size_t bytes)
{
	gpu p;
	must(cuMemAlloc_v2(&p, bytes), "cuMemAlloc");
	must(data ? cuMemcpyHtoD_v2(p, data, bytes) : cuMemsetD8_v2(p, 0, bytes), "copy to the GPU");
	return p;
}

void from_gpu(void *data, gpu from, size_t bytes)
{
	must(cuMemcpyDtoH_v2(data, from, bytes), "copy from the GPU");
}

void *all_kernels(void)
{
	return module;
}

void *function(const char *kernel)
{
	void *f;
	must(cuModuleGetFunction(&f, module, kernel), kernel);
	return f;
}

void go(const char *kernel, unsigned gx, unsigned gy, unsigned bx, unsigned by, ...)
{
	void *params[16];
	va_list ap;
	int n = 0;
	va_start(ap, by);
	while ((params[n] = va_arg(ap, void *)))
		n++;
	va_end(ap);
	must(cuLaunchKernel(function(kernel), gx, gy, 1, bx, by, 1, 0, NULL, params, NULL), kernel);
	must(cuCtxSynchronize(), kernel);
}

void set_variable(const char *name, const void *data, size_t bytes)
{
	gpu at;
	size_t size;
	must(cuModuleGetGlobal_v2(&at, &size, module, name), name);
	must(cuMemcpyHtoD_v2(at, data, bytes), name);
}

uint32_t number(void)
{
	seed = seed * 1103515245u + 12345;
	return seed >> 12;
}

static bool wanted(int argc, char **argv, const char *name)
{
	for (int i = 2; i < argc; i++)
		if (!strcmp(argv[i], name))
			return true;
	return argc <= 2;
}

int main(int argc, char **argv)
{
	const struct program *const all[] = {programs_of_vectors,  programs_of_graphs, programs_of_calls,
					     programs_of_captures, programs_of_arrays, programs_of_recursion,
					     programs_of_tensors};
	void *context;
	int ran = 0, wrong = 0;
	if (argc < 2)
		return 2;
	must(cuInit(0), "cuInit");
	must(cuCtxCreate_v2(&context, 0, 0), "cuCtxCreate");
	must(cuModuleLoad(&module, argv[1]), argv[1]);
	for (size_t k = 0; k < sizeof all / sizeof *all; k++)
		for (const struct program *p = all[k]; p->name; p++) {
			if (!wanted(argc, argv, p->name))
				continue;
			seed = 1;
			ran++;
			if (p->run())
				continue;
			wrong++;
			printf("%s: wrong\n", p->name);
		}
	printf("%d programs, %d wrong\n", ran, wrong);
	return wrong || !ran;
}
