/* Programs: built by the device's own compiler, and what it made of them read back where it hands that out. */
#include "base/arena.h"
#include "base/str.h"
#include "gpu/opencl/opencl_gpu.h"
#include "native/native.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>

/* The first line of a build log that names an error, without the path that compilers put in front. */
static void first_error(char *out, size_t n, const char *log)
{
	const char *at = strstr(log, "error");
	if (!at) {
		snprintf(out, n, "%.*s", (int)strcspn(log, "\n"), log);
		return;
	}
	while (at > log && at[-1] != '\n')
		at--;
	size_t length = strcspn(at, "\n");
	for (size_t i = 0; i + 1 < length; i++) /* "/tmp/x.cl:3:1: error": from the number on */
		if (at[i] == ':' && at[i + 1] >= '0' && at[i + 1] <= '9') {
			snprintf(out, n, "line %.*s", (int)(length - i - 1), at + i + 1);
			return;
		}
	snprintf(out, n, "%.*s", (int)length, at);
}

static int build_failed(struct opencl_gpu *g, cl_program p, cl_int r, const struct kernel_source *src, struct err *e)
{
	char line[200], room[OPENCL_WORDS];
	size_t size = 0;
	if (r == CL_OUT_OF_HOST_MEMORY || opencl_lost(r)) {
		g->lost = opencl_lost(r);
		return opencl_fail(r, e, "a kernel could not be built");
	}
	g->api.get_build_info(p, g->device, CL_PROGRAM_BUILD_LOG, 0, NULL, &size);
	char *log = size ? mem_zero(size + 1, 1) : NULL;
	if (log && !g->api.get_build_info(p, g->device, CL_PROGRAM_BUILD_LOG, size, log, NULL) && *log)
		first_error(line, sizeof line, log);
	else
		snprintf(line, sizeof line, "%s", opencl_words(r, room));
	mem_free(log);
	return err_set(e, -EINVAL, "kernel %s does not compile: %s", src->name, line);
}

/* The program as the device's compiler left it names what ran; its form is the vendor's own. PTX, as NVIDIA's form is,
 * gets counted; the last step to what runs is not seen. */
static void read_back(struct opencl_gpu *g, struct opencl_kernel *k)
{
	size_t size = 0;
	unsigned char *binary;
	k->native.fingerprint = 0;
	snprintf(k->native.problem, sizeof k->native.problem, "the device's compiler hands out no native code");
	if (g->api.get_program_info(k->program, CL_PROGRAM_BINARY_SIZES, sizeof size, &size, NULL) || !size)
		return;
	binary = mem_zero(size + 1, 1);
	if (!binary)
		return;
	if (!g->api.get_program_info(k->program, CL_PROGRAM_BINARIES, sizeof binary, &binary, NULL)) {
		bool ptx = strstr((const char *)binary, ".version") && strstr((const char *)binary, ".entry");
		if (ptx)
			native_read_ptx(&k->native, (const char *)binary, size, k->entry, "OpenCL, PTX");
		else
			snprintf(k->native.source, sizeof k->native.source, "OpenCL binary");
		if (ptx && !k->native.problem[0])
			snprintf(k->native.problem, sizeof k->native.problem,
				 "the device's compiler hands out PTX, which is not what runs");
		k->native.fingerprint = hash64(binary, size, 1);
	}
	mem_free(binary);
}

static int build(struct opencl_gpu *g, struct opencl_kernel *k, const struct kernel_source *src, struct err *e)
{
	cl_int r;
	const char *text = src->text;
	k->program = g->api.create_program(g->context, 1, &text, NULL, &r);
	if (r)
		return opencl_fail(r, e, "no OpenCL program can be made");
	r = g->api.build_program(k->program, 1, &g->device, "-cl-std=CL1.2", NULL, NULL);
	if (r)
		return build_failed(g, k->program, r, src, e);
	k->kernel = g->api.create_kernel(k->program, k->entry, &r);
	if (r) {
		char room[OPENCL_WORDS];
		return err_set(e, -EINVAL, "kernel %s has no entry %s: %s", k->name, k->entry, opencl_words(r, room));
	}
	read_back(g, k);
	return 0;
}

static void kernel_free(struct opencl_gpu *g, struct opencl_kernel *k)
{
	if (k->kernel && !g->lost)
		g->api.release_kernel(k->kernel);
	if (k->program && !g->lost)
		g->api.release_program(k->program);
	memset(k, 0, sizeof *k);
}

void opencl_kernels_free(struct opencl_gpu *g)
{
	while (g->kernel_count)
		kernel_free(g, &g->kernels[--g->kernel_count]);
}

static int load_one(struct opencl_gpu *g, const struct kernel_source *src, uint32_t *id, struct err *e)
{
	size_t bytes = strlen(src->text);
	uint64_t hash = hash64(src->text, bytes, 1);
	for (size_t i = 0; i < g->kernel_count; i++) {
		const struct opencl_kernel *k = &g->kernels[i];
		if (k->hash == hash && k->text_bytes == bytes && !strcmp(k->entry, src->entry)) {
			*id = (uint32_t)i;
			return 0;
		}
	}
	if (g->kernel_count == g->kernel_cap) {
		size_t cap = g->kernel_cap ? g->kernel_cap * 2 : 32;
		struct opencl_kernel *more = mem_grow(g->kernels, cap * sizeof *more);
		if (!more)
			return err_nomem(e);
		g->kernels = more;
		g->kernel_cap = cap;
	}
	struct opencl_kernel *k = &g->kernels[g->kernel_count];
	*k = (struct opencl_kernel){.hash = hash, .text_bytes = bytes};
	snprintf(k->name, sizeof k->name, "%s", src->name);
	if (snprintf(k->entry, sizeof k->entry, "%s", src->entry) >= (int)sizeof k->entry)
		return err_set(e, -EINVAL, "kernel %s: the entry's name %s is too long", src->name, src->entry);
	int rc = build(g, k, src, e);
	if (rc) {
		kernel_free(g, k);
		return rc;
	}
	*id = (uint32_t)g->kernel_count++;
	return 0;
}

int opencl_load(struct gpu *gpu, const struct kernel_source *src, size_t n, uint32_t *ids, struct native_info *native,
		struct err *e)
{
	struct opencl_gpu *g = (struct opencl_gpu *)gpu;
	size_t before = g->kernel_count;
	int rc = 0;
	if (g->lost)
		return err_set(e, -ENODEV, "%s is lost: %s", g->info.spec, g->lost_why);
	for (size_t i = 0; i < n && !rc; i++)
		rc = load_one(g, &src[i], &ids[i], e);
	while (rc && g->kernel_count > before) /* all or none, so that ids stay dense */
		kernel_free(g, &g->kernels[--g->kernel_count]);
	for (size_t i = 0; native && !rc && i < n; i++)
		native[i] = g->kernels[ids[i]].native;
	return rc;
}
