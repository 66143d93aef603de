/* Modules: PTX as it is parsed, its variables in the GPU's memory, and kernels that are decoded when they are first wanted. */
#include "exec/driver.h"
#include "gpu/sim/sim.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>

static void module_free(struct CUmod_st *m)
{
	if (m->globals)
		exec_free(m->globals);
	if (m->constants)
		exec_free(m->constants);
	for (uint32_t k = 0; m->named && k < m->ptx->var_count; k++)
		if (m->named[k])
			exec_process.texture[m->named[k] - FUNC_TEXTURE_HANDLE].dimensions = 0;
	arena_free(&m->arena);
	mem_free(m);
}

static CUresult module_memory(struct CUmod_st *m)
{
	uint64_t bytes = func_space_bytes(m->ptx, PTX_GLOBAL);
	CUresult r = bytes ? exec_alloc(bytes, EXEC_MANAGED, &m->globals) : EXEC_OK;
	m->constant_bytes = (func_space_bytes(m->ptx, PTX_CONST) + EXEC_ALIGN - 1) / EXEC_ALIGN * EXEC_ALIGN;
	if (!r && m->constant_bytes)
		r = exec_alloc(m->constant_bytes, EXEC_DEVICE, &m->constants);
	if (!r && m->globals)
		exec_block_of(m->globals)->module = true;
	if (!r && m->constants)
		exec_block_of(m->constants)->module = true;
	return r;
}

CUresult exec_module_parse(struct CUmod_st *m, const char *text, const struct exec_jit *jit)
{
	struct err e = {0};
	return ptx_parse(&m->ptx, &m->arena, "the program's PTX", text, strlen(text), &e)
		   ? exec_jit_fail(jit, &e, EXEC_INVALID_PTX)
		   : EXEC_OK;
}

/* A part without PTX is none of the program's own, but of a library that comes with a compiler: what it defines stays announced. */
static CUresult read_image(struct CUmod_st *m, const void *image, const struct exec_jit *jit)
{
	const void *const *part = exec_image_parts(image), *const whole[] = {image, NULL};
	struct err e = {0};
	size_t n = 0, taken = 0;
	CUresult r = EXEC_OK;
	part = part && part[0] ? part : whole;
	while (part[n])
		n++;
	struct ptx_module **all = ARENA_ARRAY(&m->arena, n, struct ptx_module *);
	if (!all)
		return EXEC_OUT_OF_MEMORY;
	for (size_t k = 0; k < n && !r; k++) {
		const char *text = exec_image_text(&m->arena, part[k], exec_here->spec->cc, &e);
		if (!text && e.code == -ENOTSUP && n > 1)
			continue;
		r = text ? exec_module_parse(m, text, jit)
			 : exec_jit_fail(jit, &e, e.code == -ENOTSUP ? EXEC_NO_BINARY : EXEC_INVALID_IMAGE);
		all[taken] = m->ptx;
		taken += !r;
	}
	if (!r && !taken)
		return exec_jit_fail(jit, &e, EXEC_NO_BINARY);
	if (!r && taken > 1 && ptx_link(&m->ptx, &m->arena, all, taken, &e))
		r = exec_jit_fail(jit, &e, EXEC_INVALID_IMAGE);
	return r;
}

CUresult exec_module_open(struct CUmod_st **out, const void *image, const struct exec_jit *jit)
{
	struct exec_process *x = &exec_process;
	struct CUmod_st *m = mem_zero(1, sizeof *m);
	if (!m)
		return EXEC_OUT_OF_MEMORY;
	arena_init(&m->arena);
	CUresult r = read_image(m, image, jit);
	if (!r)
		r = module_memory(m);
	if (r) {
		module_free(m);
		return r;
	}
	m->device = exec_here;
	m->next = x->modules;
	x->modules = m;
	*out = m;
	return EXEC_OK;
}

/* The module's variables get their initial values with the first kernel that is decoded: decode knows them. */
static void fill(struct CUmod_st *m, const struct func_program *p)
{
	if (m->filled)
		return;
	m->filled = true;
	if (m->globals) {
		uint8_t *at = (uint8_t *)(uintptr_t)m->globals;
		memset(at, 0, p->global_bytes);
		if (p->global_init)
			memcpy(at, p->global_init, p->global_bytes);
		exec_written(m->globals, p->global_bytes);
	}
	if (m->constants && p->const_bytes <= m->constant_bytes) {
		uint8_t *at = (uint8_t *)(uintptr_t)m->constants;
		memset(at, 0, m->constant_bytes);
		if (p->const_init)
			memcpy(at, p->const_init, p->const_bytes);
		exec_written(m->constants, p->const_bytes);
	}
}

/* What does not fit the registers that a thread may have, a compiler keeps in memory: no program is refused for it. */
static void fit(const struct sim_spec *s, struct func_program *p)
{
	enum { STEP = 8 };
	uint32_t most = s->regfile.max_per_thread ? s->regfile.max_per_thread : p->registers;
	if (p->most_threads && s->registers_per_sm / p->most_threads < most)
		most = (uint32_t)(s->registers_per_sm / p->most_threads / STEP * STEP);
	p->registers = p->registers > most && most ? most : p->registers;
}

CUresult exec_compile(struct CUfunc_st *f, struct err *e)
{
	struct CUmod_st *m = f->module;
	const struct sim_spec *s = m->device->spec;
	struct func_program *p;
	struct func_target t;
	spec_target(s, &t);
	t.globals = m->globals;
	int r = func_decode(&p, &m->arena, f->name, m->ptx, f->name, &t, e);
	if (!r)
		r = sim_check_features(s, f->name, p, m->ptx->target, e);
	if (!r && p->const_bytes > s->constant_bytes)
		r = err_set(e, -EINVAL, "File uses too much global constant data (0x%llx bytes, 0x%llx max)",
			    (unsigned long long)p->const_bytes, (unsigned long long)s->constant_bytes);
	if (r)
		return r == -ENOMEM ? EXEC_OUT_OF_MEMORY : EXEC_INVALID_PTX;
	fit(s, p);
	if (sim_compile(s, &p, &f->time, &m->arena))
		return EXEC_OUT_OF_MEMORY;
	f->program = p;
	return EXEC_OK;
}

CUresult exec_function_ready(struct CUfunc_st *f)
{
	struct err e = {0};
	CUresult r = exec_on(f->module->device);
	if (f->program || r)
		return r;
	r = exec_compile(f, &e);
	if (r)
		return exec_jit_fail(NULL, &e, r);
	fill(f->module, f->program);
	return EXEC_OK;
}

CUresult exec_function(struct CUfunc_st **out, struct CUmod_st *m, const char *name)
{
	bool there = false;
	for (*out = m->functions; *out; *out = (*out)->next)
		if (!strcmp((*out)->name, name))
			return EXEC_OK;
	for (uint32_t k = 0; k < m->ptx->func_count; k++)
		there = there || (m->ptx->funcs[k].entry && !strcmp(m->ptx->funcs[k].name, name));
	if (!there)
		return EXEC_NOT_FOUND;
	struct CUfunc_st *f = ARENA_NEW(&m->arena, struct CUfunc_st);
	if (!f || !(f->name = arena_strdup(&m->arena, name)))
		return EXEC_OUT_OF_MEMORY;
	f->module = m;
	f->next = m->functions;
	m->functions = f;
	*out = f;
	return EXEC_OK;
}

/* Some kernel of the module that decodes, which says where variables lie. */
static const struct func_program *any_program(struct CUmod_st *m)
{
	for (const struct CUfunc_st *f = m->functions; f; f = f->next)
		if (f->program)
			return f->program;
	for (uint32_t k = 0; k < m->ptx->func_count; k++) {
		struct CUfunc_st *f;
		if (m->ptx->funcs[k].entry && !m->ptx->funcs[k].refused &&
		    !exec_function(&f, m, m->ptx->funcs[k].name) && !exec_function_ready(f))
			return f->program;
	}
	return NULL;
}

CUresult exec_variable(struct CUmod_st *m, const char *name, uint64_t *at, uint64_t *bytes)
{
	const struct func_program *p = any_program(m);
	for (uint32_t k = 0; p && k < p->symbol_count; k++) {
		const struct func_symbol *s = &p->symbol[k];
		if ((s->space != PTX_CONST && s->space != PTX_GLOBAL) || strcmp(s->name, name) != 0)
			continue;
		*at = s->address + (s->space == PTX_CONST ? m->constants : 0);
		*bytes = s->size;
		return EXEC_OK;
	}
	return EXEC_NOT_FOUND;
}

/* ---- the driver's calls ---- */

EXEC_API CUresult cuModuleLoadDataEx(CUmodule *out, const void *image, unsigned n, const int *option, void **value)
{
	EXEC_ENTER();
	const struct exec_jit jit = exec_jit_open(n, option, value);
	return exec_leave(out && image ? exec_module_open(out, image, &jit) : EXEC_INVALID_VALUE);
}

EXEC_API CUresult cuModuleLoadData(CUmodule *out, const void *image)
{
	return cuModuleLoadDataEx(out, image, 0, NULL, NULL);
}

EXEC_API CUresult cuModuleLoadFatBinary(CUmodule *out, const void *image)
{
	return cuModuleLoadData(out, image);
}

CUresult exec_read_file(struct str *text, const char *path)
{
	char part[4096];
	FILE *f = path ? fopen(path, "rb") : NULL;
	str_init(text);
	if (!f)
		return EXEC_NOT_FILE;
	for (size_t n; (n = fread(part, 1, sizeof part, f)) > 0;)
		str_addn(text, part, n);
	fclose(f);
	return text->failed ? EXEC_OUT_OF_MEMORY : text->len < sizeof(int) ? EXEC_INVALID_IMAGE : EXEC_OK;
}

EXEC_API CUresult cuModuleLoad(CUmodule *out, const char *path)
{
	struct str text;
	CUresult r = exec_read_file(&text, path);
	if (!r)
		r = cuModuleLoadData(out, text.data);
	str_free(&text);
	return r;
}

EXEC_API CUresult cuModuleUnload(CUmodule m)
{
	EXEC_ENTER();
	if (exec_process.stats) /* they are told at the program's end */
		return exec_leave(m ? EXEC_OK : EXEC_INVALID_HANDLE);
	for (struct CUmod_st **p = &exec_process.modules; *p; p = &(*p)->next)
		if (*p == m) {
			*p = m->next;
			if (m->device->last == m)
				m->device->last = NULL;
			module_free(m);
			return exec_leave(EXEC_OK);
		}
	return exec_leave(EXEC_INVALID_HANDLE);
}

EXEC_API CUresult cuModuleGetFunction(CUfunction *f, CUmodule m, const char *name)
{
	EXEC_ENTER();
	if (!f || !m || !name)
		return exec_leave(EXEC_INVALID_VALUE);
	CUresult r = exec_function(f, m, name);
	return exec_leave(r ? r : exec_function_ready(*f));
}

EXEC_API CUresult cuModuleGetGlobal_v2(CUdeviceptr *p, size_t *bytes, CUmodule m, const char *name)
{
	uint64_t at = 0, size = 0;
	EXEC_ENTER();
	CUresult r = m && name ? exec_variable(m, name, &at, &size) : EXEC_INVALID_VALUE;
	if (!r && p)
		*p = at;
	if (!r && bytes)
		*bytes = size;
	return exec_leave(r);
}

EXEC_API CUresult cuFuncGetModule(CUmodule *m, CUfunction f)
{
	EXEC_ENTER();
	*m = f->module;
	return exec_leave(EXEC_OK);
}

EXEC_API CUresult cuFuncGetAttribute(int *v, int attribute, CUfunction f)
{
	EXEC_ENTER();
	CUresult r = v && f ? exec_function_ready(f) : EXEC_INVALID_VALUE;
	if (r)
		return exec_leave(r);
	const struct sim_spec *s = exec_here->spec;
	const struct func_program *p = f->program;
	switch (attribute) {
	case EXEC_FUNC_MOST_THREADS:
		*v = (int)s->max_threads_per_block;
		if (p->most_threads && p->most_threads < s->max_threads_per_block)
			*v = (int)p->most_threads;
		if (p->registers && p->registers * s->max_threads_per_block > s->registers_per_sm)
			*v = (int)(s->registers_per_sm / p->registers / s->warp_size * s->warp_size);
		break;
	case EXEC_FUNC_SHARED:
		*v = (int)p->shared_static;
		break;
	case EXEC_FUNC_CONST:
		*v = (int)p->const_bytes;
		break;
	case EXEC_FUNC_LOCAL:
		*v = (int)p->local_bytes;
		break;
	case EXEC_FUNC_REGISTERS:
		*v = (int)p->registers;
		break;
	case EXEC_FUNC_PTX_VERSION:
	case EXEC_FUNC_BINARY_VERSION:
		*v = s->cc;
		break;
	case EXEC_FUNC_DYNAMIC_SHARED:
		*v = (int)(f->dynamic_shared ? f->dynamic_shared : s->shared_per_block - p->shared_static);
		break;
	case EXEC_FUNC_CLUSTER_LARGE:
		*v = f->large_clusters;
		break;
	default:
		*v = attribute >= EXEC_FUNC_CLUSTER_X && attribute <= EXEC_FUNC_CLUSTER_Z
			 ? (int)p->cluster[attribute - EXEC_FUNC_CLUSTER_X]
			 : 0;
	}
	return exec_leave(EXEC_OK);
}

EXEC_API CUresult cuFuncSetAttribute(CUfunction f, int attribute, int v)
{
	EXEC_ENTER();
	CUresult r = f ? exec_function_ready(f) : EXEC_INVALID_VALUE;
	if (!r && attribute == EXEC_FUNC_DYNAMIC_SHARED) {
		if (v < 0 || (uint64_t)v + f->program->shared_static > spec_shared_most(exec_here->spec))
			r = EXEC_INVALID_VALUE;
		else
			f->dynamic_shared = (uint32_t)v;
	}
	if (!r && attribute == EXEC_FUNC_CLUSTER_LARGE)
		f->large_clusters = v != 0;
	return exec_leave(r);
}

EXEC_API CUresult cuFuncSetCacheConfig(CUfunction f, int config)
{
	(void)config;
	return f ? EXEC_OK : EXEC_INVALID_VALUE;
}

EXEC_API CUresult cuFuncSetSharedMemConfig(CUfunction f, int config)
{
	(void)config;
	return f ? EXEC_OK : EXEC_INVALID_VALUE;
}

EXEC_API CUresult cuFuncGetParamInfo(CUfunction f, size_t i, size_t *offset, size_t *size)
{
	EXEC_ENTER();
	CUresult r = f ? exec_function_ready(f) : EXEC_INVALID_VALUE;
	if (!r && i >= f->program->param_count)
		r = EXEC_INVALID_VALUE;
	if (!r) {
		*offset = f->program->param[i].offset;
		if (size)
			*size = f->program->param[i].size;
	}
	return exec_leave(r);
}
