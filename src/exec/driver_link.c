/* Linking at run time: modules of PTX become one image. Also the options with which programs have something compiled, and its logs. */
#include "exec/driver.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { /* CUjit_option */
       JIT_INFO_LOG = 3,
       JIT_INFO_LOG_BYTES = 4,
       JIT_ERROR_LOG = 5,
       JIT_ERROR_LOG_BYTES = 6
};
enum { INPUT_PTX = 1 }; /* CUjitInputType */

struct CUlinkState_st {
	struct exec_jit jit;
	struct str text;      /* of all modules */
	struct str image;     /* of what they make */
	struct CUmod_st *one; /* the first of them */
	struct exec_device *device;
	unsigned inputs;
};

/* ---- options ---- */

static void log_open(struct exec_log *l, unsigned at, void **value)
{
	l->room = (size_t)(uintptr_t)value[at];
	l->bytes = &value[at];
}

struct exec_jit exec_jit_open(unsigned n, const int *option, void **value)
{
	struct exec_jit j = {0};
	for (unsigned k = 0; k < n && option && value; k++) {
		if (option[k] == JIT_INFO_LOG)
			j.info.text = value[k];
		else if (option[k] == JIT_ERROR_LOG)
			j.error.text = value[k];
		else if (option[k] == JIT_INFO_LOG_BYTES)
			log_open(&j.info, k, value);
		else if (option[k] == JIT_ERROR_LOG_BYTES)
			log_open(&j.error, k, value);
	}
	if (j.info.text && j.info.room) /* nothing is told there */
		j.info.text[0] = '\0';
	if (j.info.bytes)
		*j.info.bytes = NULL;
	return j;
}

/* In the words of NVIDIA's compiler, which programs look into; without a log on standard error. */
CUresult exec_jit_fail(const struct exec_jit *j, const struct err *e, CUresult r)
{
	const char *at = e->text, *place = strchr(e->text, ':'); /* name:line:column: sentence, or a sentence */
	char *end = NULL;
	long line = 0;
	if (e->code == -ENOMEM)
		return EXEC_OUT_OF_MEMORY;
	if (!j || !j->error.text || !j->error.room) {
		exec_say("%s", e->text);
		return r;
	}
	if (place && place[1] >= '0' && place[1] <= '9') {
		line = strtol(place + 1, &end, 10);
		at = *end == ':' && end[1] != ' ' ? strchr(end + 1, ':') : end;
		at = at ? at + strspn(at, ": ") : end;
	}
	const int n = line ? snprintf(j->error.text, j->error.room,
				      "ptxas application ptx input, line %ld; error   : %s\n"
				      "ptxas fatal   : Ptx assembly aborted due to errors\n",
				      line, at)
			   : snprintf(j->error.text, j->error.room, "ptxas error   : %s\n", at);
	if (j->error.bytes)
		*j->error.bytes = (void *)(uintptr_t)((size_t)n < j->error.room ? (size_t)n : j->error.room - 1);
	return r;
}

/* ---- the linker ---- */

EXEC_API CUresult cuLinkCreate_v2(unsigned n, const int *option, void **value, CUlinkState *out)
{
	EXEC_ENTER();
	CUlinkState l = out ? mem_zero(1, sizeof *l) : NULL;
	if (!l)
		return exec_leave(out ? EXEC_OUT_OF_MEMORY : EXEC_INVALID_VALUE);
	l->jit = exec_jit_open(n, option, value);
	l->device = exec_here;
	str_init(&l->text);
	str_init(&l->image);
	*out = l;
	return exec_leave(EXEC_OK);
}

/* Its own .version, .target and .address_size are the first module's business: they become blanks, so that lines stay where they are. */
static void without_head(char *text)
{
	for (;;) {
		text += strspn(text, " \t\r\n");
		if (str_starts(text, "//")) {
			text += strcspn(text, "\n");
		} else if (str_starts(text, "/*")) {
			const char *end = strstr(text, "*/");
			text = end ? text + (end + 2 - text) : text + strlen(text);
		} else if (str_starts(text, ".version") || str_starts(text, ".target") ||
			   str_starts(text, ".address_size")) {
			const size_t line = strcspn(text, "\n");
			memset(text, ' ', line);
			text += line;
		} else {
			return;
		}
	}
}

/* The linker's own state only, without the lock: several programs' threads compile side by side. */
static CUresult add(CUlinkState l, const char *given, size_t bytes, int type)
{
	struct CUmod_st *m = mem_zero(1, sizeof *m);
	struct err e = {0};
	CUresult r = EXEC_OK;
	if (!m)
		return EXEC_OUT_OF_MEMORY;
	arena_init(&m->arena);
	m->device = l->device;
	char *text = arena_alloc(&m->arena, bytes + 1, 1);
	if (!text)
		err_nomem(&e);
	else
		memcpy(text, given, bytes);
	if (text && type != INPUT_PTX)
		text = (char *)(uintptr_t)exec_image_text(&m->arena, text, l->device->spec->cc, &e);
	if (!text)
		r = exec_jit_fail(&l->jit, &e, EXEC_NO_BINARY);
	else
		r = exec_module_parse(m, text, &l->jit);
	if (!r && l->inputs++)
		without_head(text);
	if (!r) {
		str_add(&l->text, text);
		str_addc(&l->text, '\n');
	}
	if (!r && !l->one) {
		l->one = m;
	} else {
		arena_free(&m->arena);
		mem_free(m);
	}
	return l->text.failed ? EXEC_OUT_OF_MEMORY : r;
}

EXEC_API CUresult cuLinkAddData_v2(CUlinkState l, int type, const void *data, size_t bytes, const char *name,
				   unsigned n, const int *option, void **value)
{
	(void)name, (void)n, (void)option, (void)value;
	if (!l || !data || bytes < sizeof(uint32_t))
		return l ? EXEC_INVALID_VALUE : EXEC_INVALID_HANDLE;
	EXEC_ENTER();
	exec_leave(EXEC_OK);
	return add(l, data, bytes, type);
}

EXEC_API CUresult cuLinkAddFile_v2(CUlinkState l, int type, const char *path, unsigned n, const int *option,
				   void **value)
{
	struct str text;
	CUresult r = exec_read_file(&text, path);
	if (!r)
		r = cuLinkAddData_v2(l, type, text.data, text.len, path, n, option, value);
	str_free(&text);
	return r;
}

/* All kernels: one that this GPU cannot run says so when it is asked for, and is no hindrance to others. */
static CUresult compile(struct CUmod_st *m, const struct exec_jit *jit)
{
	struct err e = {0};
	unsigned kernels = 0, good = 0;
	CUresult r = EXEC_OK;
	for (uint32_t k = 0; k < m->ptx->func_count; k++) {
		struct CUfunc_st *f;
		if (!m->ptx->funcs[k].entry)
			continue;
		kernels++;
		r = exec_function(&f, m, m->ptx->funcs[k].name);
		if (!r)
			r = exec_compile(f, &e);
		if (r == EXEC_OUT_OF_MEMORY)
			return r;
		good += r == EXEC_OK;
	}
	return kernels && !good ? exec_jit_fail(jit, &e, r) : EXEC_OK;
}

EXEC_API CUresult cuLinkComplete(CUlinkState l, void **image, size_t *bytes)
{
	if (!l || !image || !l->inputs)
		return l ? EXEC_INVALID_VALUE : EXEC_INVALID_HANDLE;
	EXEC_ENTER();
	exec_leave(EXEC_OK);
	CUresult r = EXEC_OK;
	struct CUmod_st *m = l->one;
	if (l->inputs > 1) {
		m->functions = NULL;
		r = exec_module_parse(m, str_text(&l->text), &l->jit);
	}
	if (!r)
		r = compile(m, &l->jit);
	str_clear(&l->image);
	if (!r && exec_image_write(&l->image, str_text(&l->text), m->functions, l->device->spec))
		r = EXEC_OUT_OF_MEMORY;
	*image = r ? NULL : l->image.data;
	if (bytes)
		*bytes = r ? 0 : l->image.len;
	return r;
}

EXEC_API CUresult cuLinkDestroy(CUlinkState l)
{
	if (!l)
		return EXEC_INVALID_HANDLE;
	if (l->one)
		arena_free(&l->one->arena);
	mem_free(l->one);
	str_free(&l->text);
	str_free(&l->image);
	mem_free(l);
	return EXEC_OK;
}

/* The names of before CUDA 6.5. */
EXEC_API CUresult cuLinkCreate(unsigned n, const int *option, void **value, CUlinkState *out)
{
	return cuLinkCreate_v2(n, option, value, out);
}

EXEC_API CUresult cuLinkAddData(CUlinkState l, int type, const void *data, size_t bytes, const char *name, unsigned n,
				const int *option, void **value)
{
	return cuLinkAddData_v2(l, type, data, bytes, name, n, option, value);
}

EXEC_API CUresult cuLinkAddFile(CUlinkState l, int type, const char *path, unsigned n, const int *option, void **value)
{
	return cuLinkAddFile_v2(l, type, path, n, option, value);
}
