/* Kernels on the device: images are read back before they are loaded, and loaded again when they had to make room. */
#include "base/arena.h"
#include "base/str.h"
#include "gpu/cuda/cuda_ahead.h"
#include "gpu/cuda/cuda_gpu.h"
#include "gpu/cuda/cuda_link.h"
#include "kernel/kernel.h"
#include "native/native.h"
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define THREADS_MAX 16 /* each takes some 15 MB inside the driver */
#define ENTRY_BYTES sizeof(((struct cuda_kernel *)0)->entry)
#define LOADED_MAX  1024 /* modules on the device at a time */

struct compile {
	const struct kernel_source *src;
	struct cuda_kernel *kernel;
	int result;
	struct err err;
};

struct batch {
	struct cuda_gpu *g;
	struct compile *items;
	size_t count;
	atomic_size_t next;
};

static int load_module(struct cuda_gpu *g, struct cuda_kernel *k, struct err *e)
{
	const struct cuda_driver *d = &g->d;
	char what[200];
	CUresult r = d->module_load_data(&k->module, k->image);

	if (r) {
		k->module = NULL;
		snprintf(what, sizeof what, "kernel %s does not load", k->name);
		return cuda_fail(d, r, e, what);
	}
	r = d->module_get_function(&k->function, k->module, k->entry);
	if (r) {
		d->module_unload(k->module);
		k->module = NULL;
		snprintf(what, sizeof what, "kernel %s has no entry %s", k->name, k->entry);
		return cuda_fail(d, r, e, what);
	}
	k->carveout = -1; /* what a new function has */
	k->dynamic_shared = 0;
	k->constant_content = 0;
	return 0;
}

/* What was compiled ahead, else what the driver makes of it now. */
static int compile_one(struct cuda_gpu *g, struct compile *c)
{
	struct cuda_kernel *k = c->kernel;

	int result = cuda_ahead_take(g->ahead, c->src, k->hash, &k->image, &k->image_bytes, &c->err);
	if (!result && !k->image)
		result = cuda_link(&g->d, c->src, &k->image, &k->image_bytes, &c->err);
	if (result)
		return result;
	native_read_cubin(&k->native, k->image, k->image_bytes, k->entry, g->info.cc);
	result = load_module(g, k, &c->err);
	if (!result && g->d.func_get_attribute) {
		int registers = 0;
		if (!g->d.func_get_attribute(&registers, FUNC_REGISTERS, k->function) && registers > 0)
			k->native.registers = (uint32_t)registers;
	}
	return result;
}

static void *compile_thread(void *arg)
{
	struct batch *b = arg;
	CUresult current = b->g->d.ctx_set_current(b->g->context);

	for (size_t i; (i = atomic_fetch_add(&b->next, 1)) < b->count;) {
		struct compile *c = &b->items[i];
		c->result = current ? cuda_fail(&b->g->d, current, &c->err, "a compiling thread has no context")
				    : compile_one(b->g, c);
	}
	return NULL;
}

/* The calling thread works too, so that a system without threads to spare still compiles. */
static void compile_all(struct cuda_gpu *g, struct compile *items, size_t count)
{
	pthread_t thread[THREADS_MAX];
	struct batch b = {.g = g, .items = items, .count = count};
	long cores = sysconf(_SC_NPROCESSORS_ONLN);
	size_t want = cores > 1 ? (size_t)cores : 1, started = 0;

	if (want > THREADS_MAX)
		want = THREADS_MAX;
	if (want > count)
		want = count;
	atomic_init(&b.next, 0);
	while (started + 1 < want && !pthread_create(&thread[started], NULL, compile_thread, &b))
		started++;
	compile_thread(&b);
	while (started)
		pthread_join(thread[--started], NULL);
}

static void kernel_free(struct cuda_gpu *g, struct cuda_kernel *k)
{
	if (k->module && !g->lost)
		g->d.module_unload(k->module);
	mem_free(k->image);
	mem_free(k);
}

void cuda_kernels_free(struct cuda_gpu *g)
{
	for (size_t i = 0; i < g->kernel_count; i++)
		kernel_free(g, g->kernels[i]);
	mem_free(g->kernels);
	g->kernels = NULL;
	g->kernel_count = g->kernel_cap = 0;
}

/* Unloads what was used longest ago until there is room; `keep` stays. */
static void make_room(struct cuda_gpu *g, const struct cuda_kernel *keep)
{
	while (g->loaded > LOADED_MAX) {
		struct cuda_kernel *old = NULL;
		for (size_t i = 0; i < g->kernel_count; i++) {
			struct cuda_kernel *k = g->kernels[i];
			if (k->module && k != keep && (!old || k->stamp < old->stamp))
				old = k;
		}
		if (!old)
			return;
		g->d.module_unload(old->module);
		old->module = NULL;
		g->loaded--;
	}
}

int cuda_kernel_ready(struct cuda_gpu *g, struct cuda_kernel *k, struct err *e)
{
	k->stamp = ++g->stamp;
	if (k->module)
		return 0;
	int r = load_module(g, k, e);
	if (r == 0) {
		g->loaded++;
		make_room(g, k);
	}
	return r;
}

static size_t find_kernel(const struct cuda_gpu *g, uint64_t hash, size_t bytes, const char *entry)
{
	for (size_t i = 0; i < g->kernel_count; i++) {
		const struct cuda_kernel *k = g->kernels[i];
		if (k->hash == hash && k->text_bytes == bytes && !strcmp(k->entry, entry))
			return i;
	}
	return SIZE_MAX;
}

static struct cuda_kernel *add_kernel(struct cuda_gpu *g, const struct kernel_source *s, uint64_t hash, size_t bytes)
{
	if (g->kernel_count == g->kernel_cap) {
		size_t cap = g->kernel_cap ? g->kernel_cap * 2 : 64;
		struct cuda_kernel **p = mem_grow(g->kernels, cap * sizeof(struct cuda_kernel *));
		if (!p)
			return NULL;
		g->kernels = p;
		g->kernel_cap = cap;
	}
	struct cuda_kernel *k = mem_zero(1, sizeof *k);
	if (!k)
		return NULL;
	k->hash = hash;
	k->text_bytes = bytes;
	k->stamp = ++g->stamp;
	snprintf(k->name, sizeof k->name, "%s", s->name);
	snprintf(k->entry, sizeof k->entry, "%s", s->entry);
	g->kernels[g->kernel_count++] = k;
	return k;
}

static int load_new(struct cuda_gpu *g, const struct kernel_source *src, size_t n, uint32_t *ids, struct compile *items,
		    struct err *e)
{
	size_t fresh = 0;

	for (size_t i = 0; i < n; i++) {
		size_t bytes = strlen(src[i].text);
		uint64_t hash = hash64(src[i].text, bytes, 1);
		size_t at = find_kernel(g, hash, bytes, src[i].entry);
		if (strlen(src[i].entry) >= ENTRY_BYTES)
			return err_set(e, -EINVAL, "kernel %s: the entry's name %s is too long", src[i].name,
				       src[i].entry);
		if (at == SIZE_MAX) {
			at = g->kernel_count;
			items[fresh].src = &src[i];
			items[fresh].kernel = add_kernel(g, &src[i], hash, bytes);
			if (!items[fresh].kernel)
				return err_nomem(e);
			fresh++;
		}
		ids[i] = (uint32_t)at;
	}
	compile_all(g, items, fresh);
	for (size_t i = 0; i < fresh; i++)
		if (items[i].result) {
			if (items[i].result == -ENODEV)
				g->lost = true;
			return err_set(e, items[i].result, "%s", items[i].err.text);
		}
	g->loaded += fresh;
	make_room(g, NULL);
	return 0;
}

int cuda_expect(struct gpu *gpu, const struct kernel_source *src, size_t n, bool soon, struct err *e)
{
	struct cuda_gpu *g = (struct cuda_gpu *)gpu;

	if (g->lost)
		return 0;
	for (size_t i = 0; i < n; i++) {
		size_t bytes = strlen(src[i].text);
		uint64_t hash = hash64(src[i].text, bytes, 1);
		int r =
		    find_kernel(g, hash, bytes, src[i].entry) == SIZE_MAX ? cuda_ahead_add(g, &src[i], hash, soon) : 0;
		if (r)
			return err_nomem(e);
	}
	return 0;
}

int cuda_load(struct gpu *gpu, const struct kernel_source *src, size_t n, uint32_t *ids, struct native_info *native,
	      struct err *e)
{
	struct cuda_gpu *g = (struct cuda_gpu *)gpu;
	size_t before = g->kernel_count;

	if (g->lost)
		return err_set(e, -ENODEV, "%s is lost: %s", g->info.spec,
			       g->lost_why[0] ? g->lost_why : "its context died");
	if (!n)
		return 0;
	struct compile *items = mem_zero(n, sizeof *items);
	if (!items)
		return err_nomem(e);
	int r = load_new(g, src, n, ids, items, e);
	if (r)
		while (g->kernel_count > before) /* all or none, so that ids stay dense */
			kernel_free(g, g->kernels[--g->kernel_count]);
	else if (native)
		for (size_t i = 0; i < n; i++)
			native[i] = g->kernels[ids[i]]->native;
	mem_free(items);
	return r;
}

int cuda_own_kernel(struct cuda_gpu *g, const char *path, const char *entry, uint32_t *id, struct err *e)
{
	struct str text;
	int rc;

	if (*id != CUDA_NO_KERNEL)
		return cuda_kernel_ready(g, g->kernels[*id], e);
	str_init(&text);
	rc = kernel_expand_own(&text, path, &g->info, e);
	const struct kernel_source source = {.name = path, .entry = entry, .text = str_text(&text)};
	if (!rc)
		rc = cuda_load(&g->base, &source, 1, id, NULL, e);
	if (rc)
		*id = CUDA_NO_KERNEL;
	str_free(&text);
	return rc;
}

CUresult cuda_own_launch(struct cuda_gpu *g, uint32_t id, unsigned blocks, unsigned threads, const uint64_t *values,
			 unsigned count)
{
	uint64_t value[LAUNCH_ARGS] = {0};
	void *arguments[LAUNCH_ARGS];

	assert(count <= LAUNCH_ARGS);
	memcpy(value, values, count * sizeof *value);
	for (unsigned i = 0; i < LAUNCH_ARGS; i++)
		arguments[i] = &value[i];
	return g->d.launch_kernel(g->kernels[id]->function, blocks, 1, 1, threads, 1, 1, 0, NULL, arguments, NULL);
}
