/* Linking, loading and launching: PTX goes through the simulator's own parser and runs on the simulated GPU. */
#include "base/arena.h"
#include "base/str.h"
#include "fake_state.h"
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define EXPORT		 __attribute__((visibility("default")))
#define FAKE(name, type) EXPORT type name
#define PARAM_MAX	 4096
#define STATIC_MAX	 (48u << 10) /* shared memory without opting in */

#define ENTER()                                                                                                        \
	do {                                                                                                           \
		CUresult entered = fake_enter(__func__, true);                                                         \
		if (entered)                                                                                           \
			return entered;                                                                                \
	} while (0)

/* ---- the linker: works on its own state only, so that several run at a time ---- */
#ifndef FAKE_WITHOUT_LINKER
FAKE(cuLinkCreate_v2, tcuLinkCreate);
CUresult cuLinkCreate_v2(unsigned n, CUjit_option *option, void **value, CUlinkState *out)
{
	ENTER();
	CUlinkState l = mem_zero(1, sizeof *l);
	if (!l)
		return fake_leave((CUresult)FAKE_OUT_OF_MEMORY);
	str_init(&l->text);
	for (unsigned i = 0; i < n; i++) {
		if (option[i] == CU_JIT_INFO_LOG_BUFFER)
			l->info = value[i];
		else if (option[i] == CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES)
			l->info_bytes = (size_t)(uintptr_t)value[i];
		else if (option[i] == CU_JIT_ERROR_LOG_BUFFER)
			l->error = value[i];
		else if (option[i] == CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES)
			l->error_bytes = (size_t)(uintptr_t)value[i];
	}
	*out = l;
	return fake_leave(CUDA_SUCCESS);
}
#endif

/* The real one says "ptxas application ptx input, line 7; error   : Not a name of any known instruction: 'frob'". */
static CUresult compile_error(CUlinkState l, const char *what)
{
	const char *colon = strchr(what, ':'), *text = strrchr(what, ':');
	long line = colon ? strtol(colon + 1, NULL, 10) : 0;

	if (l->error && l->error_bytes)
		snprintf(l->error, l->error_bytes,
			 "ptxas application ptx input, line %ld; error   :%s\nptxas fatal   : "
			 "Ptx assembly aborted due to errors\n",
			 line, text ? text + 1 : what);
	return (CUresult)FAKE_INVALID_PTX;
}

static CUresult too_large(CUlinkState l, uint64_t bytes)
{
	if (l->error && l->error_bytes)
		snprintf(l->error, l->error_bytes,
			 "ptxas error   : File uses too much global constant data (0x%llx bytes, 0x%llx max)\n",
			 (unsigned long long)bytes, (unsigned long long)fake.spec->constant_bytes);
	return (CUresult)FAKE_INVALID_PTX;
}

static int parse(struct func_program **p, struct arena *a, const char *text, size_t bytes, const char *entry,
		 struct err *e)
{
	struct func_target target;
	char why[128];
	struct ptx_module *m;
	struct arena scratch;
	int r;

	spec_target(fake.spec, &target);
	arena_init(&scratch);
	r = ptx_parse(&m, &scratch, "input", text, bytes, e);
	for (uint32_t i = 0; !r && !entry && i < m->func_count; i++)
		if (m->funcs[i].entry)
			entry = m->funcs[i].name;
	if (!r && !entry)
		r = err_set(e, -1, "input:1:1: no entry");
	if (!r && !fake_takes(m->version, m->target, why, sizeof why))
		r = err_set(e, -1, "%s", why);
	if (!r)
		r = func_decode(p, a, "input", m, entry, &target, e);
	arena_free(&scratch);
	return r;
}

FAKE(cuLinkAddData_v2, tcuLinkAddData);
CUresult cuLinkAddData_v2(CUlinkState l, CUjitInputType type, void *data, size_t size, const char *name, unsigned n,
			  CUjit_option *option, void **value)
{
	struct func_program *p;
	struct arena a;
	struct err e = {0};
	CUresult r = CUDA_SUCCESS;

	(void)name;
	(void)n;
	(void)option;
	(void)value;
	ENTER();
	fake_leave(CUDA_SUCCESS);
	if (type != CU_JIT_INPUT_PTX || !size)
		return (CUresult)FAKE_INVALID_VALUE;
	arena_init(&a);
	str_addn(&l->text, data, size - 1);
	if (parse(&p, &a, str_text(&l->text), l->text.len, NULL, &e))
		r = compile_error(l, e.text);
	else if (p->const_bytes > fake.spec->constant_bytes)
		r = too_large(l, p->const_bytes);
	else if (l->text.failed || fake_image_write(l, p, fake.spec))
		r = (CUresult)FAKE_OUT_OF_MEMORY;
	arena_free(&a);
	return r;
}

FAKE(cuLinkComplete, tcuLinkComplete);
CUresult cuLinkComplete(CUlinkState l, void **image, size_t *bytes)
{
	ENTER();
	*image = l->image;
	*bytes = l->image_bytes;
	return fake_leave(l->image ? CUDA_SUCCESS : (CUresult)FAKE_INVALID_VALUE);
}

FAKE(cuLinkDestroy, tcuLinkDestroy);
CUresult cuLinkDestroy(CUlinkState l)
{
	ENTER();
	str_free(&l->text);
	mem_free(l->image);
	mem_free(l);
	return fake_leave(CUDA_SUCCESS);
}

/* ---- modules ---- */
static void module_free(CUmodule m)
{
	arena_free(&m->arena);
	mem_free(m);
}

static CUresult module_open(CUmodule m, const void *image)
{
	char entry[128];
	size_t bytes;
	struct err e = {0};
	const char *text = fake_image_text(image, &bytes, entry, sizeof entry);

	if (!text)
		return (CUresult)FAKE_INVALID_IMAGE;
	if (parse(&m->program, &m->arena, text, bytes, entry, &e))
		return (CUresult)FAKE_INVALID_IMAGE;
	const struct func_program *p = m->program;
	if (p->const_bytes > fake.spec->constant_bytes)
		return (CUresult)FAKE_INVALID_PTX;
	m->constant = arena_alloc(&m->arena, fake.spec->constant_bytes, 1);
	m->globals = arena_alloc(&m->arena, p->global_bytes + 1, 1);
	if (!m->constant || !m->globals || time_prepare(&m->time, &m->arena, fake.spec, p))
		return (CUresult)FAKE_OUT_OF_MEMORY;
	if (p->const_init)
		memcpy(m->constant, p->const_init, p->const_bytes);
	if (p->global_init)
		memcpy(m->globals, p->global_init, p->global_bytes);
	return CUDA_SUCCESS;
}

FAKE(cuModuleLoadData, tcuModuleLoadData);
CUresult cuModuleLoadData(CUmodule *out, const void *image)
{
	ENTER();
	CUmodule m = mem_zero(1, sizeof *m);
	if (!m)
		return fake_leave((CUresult)FAKE_OUT_OF_MEMORY);
	arena_init(&m->arena);
	CUresult r = module_open(m, image);
	if (r) {
		module_free(m);
		return fake_leave(r);
	}
	m->number = fake.module_number++;
	m->function.module = m;
	m->next = fake.modules;
	fake.modules = m;
	*out = m;
	return fake_leave(CUDA_SUCCESS);
}

FAKE(cuModuleUnload, tcuModuleUnload);
CUresult cuModuleUnload(CUmodule m)
{
	ENTER();
	for (CUmodule *p = &fake.modules; *p; p = &(*p)->next)
		if (*p == m) {
			*p = m->next;
			if (fake.last == m)
				fake.last = NULL;
			module_free(m);
			return fake_leave(CUDA_SUCCESS);
		}
	return fake_leave((CUresult)FAKE_INVALID_VALUE);
}

FAKE(cuModuleGetFunction, tcuModuleGetFunction);
CUresult cuModuleGetFunction(CUfunction *f, CUmodule m, const char *name)
{
	ENTER();
	if (strcmp(m->program->name, name) != 0)
		return fake_leave((CUresult)FAKE_NOT_FOUND);
	*f = &m->function;
	return fake_leave(CUDA_SUCCESS);
}

FAKE(cuModuleGetGlobal_v2, tcuModuleGetGlobal);
CUresult cuModuleGetGlobal_v2(CUdeviceptr *p, size_t *bytes, CUmodule m, const char *name)
{
	ENTER();
	for (uint32_t i = 0; i < m->program->symbol_count; i++) {
		const struct func_symbol *s = &m->program->symbol[i];
		if (s->space != PTX_CONST || strcmp(s->name, name) != 0)
			continue;
		*p = FAKE_CONSTANT_BASE + m->number * FAKE_CONSTANT_STEP + s->address;
		*bytes = s->size;
		return fake_leave(CUDA_SUCCESS);
	}
	return fake_leave((CUresult)FAKE_NOT_FOUND);
}

FAKE(cuFuncGetAttribute, tcuFuncGetAttribute);
CUresult cuFuncGetAttribute(int *v, int attribute, CUfunction f)
{
	ENTER();
	if (attribute == FUNC_SHARED_BYTES)
		*v = (int)f->module->program->shared_static;
	else if (attribute == FUNC_REGISTERS)
		*v = (int)f->module->program->registers;
	else
		return fake_leave((CUresult)FAKE_INVALID_VALUE);
	return fake_leave(CUDA_SUCCESS);
}

FAKE(cuFuncSetAttribute, tcuFuncSetAttribute);
CUresult cuFuncSetAttribute(CUfunction f, int attribute, int v)
{
	ENTER();
	if (attribute == FUNC_MAX_DYNAMIC_SHARED) {
		if (v < 0 || (uint64_t)v + f->module->program->shared_static > fake.spec->shared_per_sm)
			return fake_leave((CUresult)FAKE_INVALID_VALUE);
		f->max_dynamic_shared = v;
	} else if (attribute != FUNC_CARVEOUT || v < -1 || v > 100) {
		return fake_leave((CUresult)FAKE_INVALID_VALUE);
	}
	return fake_leave(CUDA_SUCCESS);
}

FAKE(cuFuncGetParamInfo, tcuFuncGetParamInfo);
CUresult cuFuncGetParamInfo(CUfunction f, size_t i, size_t *offset, size_t *size)
{
	const struct func_program *p = f->module->program;

	ENTER();
	if (i >= p->param_count)
		return fake_leave((CUresult)FAKE_INVALID_VALUE);
	*offset = p->param[i].offset;
	*size = p->param[i].size;
	return fake_leave(CUDA_SUCCESS);
}

/* ---- launches ---- */
/* With FAKE_CUDA_ONCE naming a file, what is played happens once, however many processes follow: the first one that gets
 * there makes the file. */
static bool again(void)
{
	const char *marker = getenv("FAKE_CUDA_ONCE");

	if (!marker)
		return true;
	int fd = open(marker, O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0)
		return false;
	close(fd);
	return true;
}

/* Whether the GPU goes away with the fault. */
static bool gone(void)
{
	const char *marker = getenv("FAKE_CUDA_GONE");
	int fd = marker ? open(marker, O_CREAT | O_CLOEXEC, 0600) : -1;

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

static CUresult played(void)
{
	long n = ++fake.launches;

	if ((n == fake.crash_at || n == fake.hang_at || n == fake.fault_at) && !again())
		return CUDA_SUCCESS;

	if (n == fake.crash_at)
		raise(SIGSEGV);
	if (n == fake.hang_at)
		fake.hung = true;
	if (n == fake.fault_at)
		fake.sticky = gone() ? FAKE_UNKNOWN : FAKE_ILLEGAL_ADDRESS;
	return fake.hung || fake.sticky ? CUDA_ERROR_NOT_READY : CUDA_SUCCESS;
}

static CUresult ended(const struct time_result *r)
{
	fake.now_ms += fake.spec->clock_hz > 0 ? (double)r->cycles / fake.spec->clock_hz * 1e3 : 0;
	switch (r->end) {
	case TIME_REFUSED:
		return (CUresult)(strstr(r->message, "register") || strstr(r->message, "shared") ? FAKE_OUT_OF_RESOURCES
												 : FAKE_INVALID_VALUE);
	case TIME_DEADLOCK:
	case TIME_LIMIT:
		fake.hung = true;
		break;
	case TIME_FAULT:
		fake.sticky = FAKE_ILLEGAL_ADDRESS;
		break;
	case TIME_DONE:
		break;
	}
	return CUDA_SUCCESS;
}

static CUresult launch(CUfunction f, struct func_launch *l)
{
	CUmodule m = f->module;
	struct time_result result;
	struct time_request q = {.program = m->time, .launch = l, .limit_ms = 2000};

	if (fake.last != m) { /* the caches hold another module's constants and variables at these addresses */
		time_forget(fake.time, TIME_CONSTANT, 0, fake.spec->constant_bytes);
		if (m->program->global_bytes)
			time_forget(fake.time, TIME_GLOBAL, FUNC_MODULE_BASE, m->program->global_bytes);
		fake.last = m;
	}
	fake.memory.count = 1;
	fake.memory.last = 0;
	if (m->program->global_bytes)
		fake.memory.region[fake.memory.count++] = (struct func_region){
		    .base = FUNC_MODULE_BASE, .size = m->program->global_bytes, .data = m->globals};
	if (time_launch(fake.time, &q, &result))
		return (CUresult)FAKE_OUT_OF_MEMORY;
	return ended(&result);
}

FAKE(cuLaunchKernel, tcuLaunchKernel);
CUresult cuLaunchKernel(CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
			unsigned shared, CUstream s, void **param, void **extra)
{
	uint8_t params[PARAM_MAX] = {0};
	const struct func_program *p = f->module->program;

	(void)s;
	(void)extra;
	ENTER();
	if (p->param_bytes > sizeof params)
		return fake_leave((CUresult)FAKE_INVALID_VALUE);
	for (uint32_t i = 0; i < p->param_count; i++)
		memcpy(params + p->param[i].offset, param[i], p->param[i].size);
	if (shared + p->shared_static > STATIC_MAX && shared > (unsigned)f->max_dynamic_shared)
		return fake_leave((CUresult)FAKE_INVALID_VALUE);
	if ((uint64_t)bx * by * bz > fake.spec->max_threads_per_block)
		return fake_leave((CUresult)FAKE_INVALID_VALUE);
	struct func_launch l = {
	    .grid = {gx, gy, gz},
	    .block = {bx, by, bz},
	    .shared_bytes = (uint32_t)(shared ? ((p->shared_static + 15) & ~15ull) + shared : p->shared_static),
	    .params = params,
	    .constant = f->module->constant,
	    .constant_bytes = fake.spec->constant_bytes,
	    .memory = &fake.memory,
	    .texture = fake.textures,
	    .texture_count = FAKE_TEXTURES,
	};
	if (played())
		return fake_leave(CUDA_SUCCESS); /* what it plays is seen when the launch is waited for */
	return fake_leave(launch(f, &l));
}
