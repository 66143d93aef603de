/* The driver's calls for memory: allocation, copies, filling. */
#include "exec/driver.h"
#include <string.h>

/* ---- allocation ---- */

static CUresult allocate(uint64_t bytes, enum exec_kind kind, uint64_t *out)
{
	EXEC_ENTER();
	return exec_leave(out ? exec_alloc(bytes, kind, out) : EXEC_INVALID_VALUE);
}

/* What a module has is not the program's to free, and what a graph has stays with it: it is given back. */
CUresult exec_release(uint64_t at)
{
	EXEC_ENTER();
	const struct exec_block *b = exec_block_of(at);
	if (!at)
		return exec_leave(EXEC_OK);
	if (b && b->graph && b->base == at)
		return exec_leave(exec_graph_memory_give(b->graph));
	return exec_leave(b && b->module ? EXEC_INVALID_VALUE : exec_free(at));
}

EXEC_API CUresult cuMemAlloc_v2(CUdeviceptr *p, size_t bytes)
{
	return allocate(bytes, EXEC_DEVICE, p);
}

EXEC_API CUresult cuMemAllocPitch_v2(CUdeviceptr *p, size_t *pitch, size_t width, size_t height, unsigned element)
{
	(void)element;
	*pitch = (width + EXEC_ALIGN - 1) / EXEC_ALIGN * EXEC_ALIGN;
	return height && *pitch > SIZE_MAX / height ? EXEC_OUT_OF_MEMORY : allocate(*pitch * height, EXEC_DEVICE, p);
}

EXEC_API CUresult cuMemAllocManaged(CUdeviceptr *p, size_t bytes, unsigned flags)
{
	(void)flags;
	return allocate(bytes, EXEC_MANAGED, p);
}

EXEC_API CUresult cuMemAllocHost_v2(void **p, size_t bytes)
{
	uint64_t at = 0;
	CUresult r = p ? allocate(bytes, EXEC_HOST, &at) : EXEC_INVALID_VALUE;
	if (!r)
		*p = (void *)(uintptr_t)at;
	return r;
}

EXEC_API CUresult cuMemHostAlloc(void **p, size_t bytes, unsigned flags)
{
	(void)flags;
	return cuMemAllocHost_v2(p, bytes);
}

EXEC_API CUresult cuMemFree_v2(CUdeviceptr p)
{
	return exec_release(p);
}

EXEC_API CUresult cuMemFreeAsync(CUdeviceptr p, CUstream s)
{
	const struct exec_work w = {.kind = EXEC_WORK_GIVE, .of.address = p};
	return exec_submit(s, &w);
}

EXEC_API CUresult cuMemFreeHost(void *p)
{
	return exec_release((uintptr_t)p);
}

EXEC_API CUresult cuMemGetInfo_v2(size_t *left, size_t *total)
{
	EXEC_ENTER();
	const struct exec_heap *h = &exec_here->heap;
	*total = *left = exec_here->memory.region[0].size;
	for (size_t k = 0; k < h->count; k++)
		*left -= h->block[k].room;
	return exec_leave(EXEC_OK);
}

EXEC_API CUresult cuMemGetAddressRange_v2(CUdeviceptr *base, size_t *bytes, CUdeviceptr p)
{
	EXEC_ENTER();
	const struct exec_block *b = exec_block_of(p);
	if (!b)
		return exec_leave(EXEC_NOT_FOUND);
	if (base)
		*base = b->base;
	if (bytes)
		*bytes = b->bytes;
	return exec_leave(EXEC_OK);
}

EXEC_API CUresult cuMemHostRegister_v2(void *p, size_t bytes, unsigned flags)
{
	(void)flags;
	EXEC_ENTER();
	const struct func_memory *m = &exec_here->memory;
	uint64_t at = (uintptr_t)p;
	for (uint32_t k = 0; k < m->count; k++)
		if (at < m->region[k].base + m->region[k].size && m->region[k].base < at + bytes)
			return exec_leave(EXEC_HOST_ALREADY_REGISTERED);
	if (!p || !bytes || m->count == FUNC_REGIONS)
		return exec_leave(p && bytes ? EXEC_OUT_OF_MEMORY : EXEC_INVALID_VALUE);
	for (int n = 0; n < exec_process.devices; n++) {
		struct func_memory *each = &exec_process.device[n].memory;
		each->region[each->count++] = (struct func_region){.base = at, .size = bytes, .data = p};
	}
	return exec_leave(EXEC_OK);
}

EXEC_API CUresult cuMemHostUnregister(void *p)
{
	EXEC_ENTER();
	CUresult r = EXEC_HOST_NOT_REGISTERED;
	for (int n = 0; n < exec_process.devices; n++) {
		struct func_memory *m = &exec_process.device[n].memory;
		for (uint32_t k = EXEC_REGISTERED; k < m->count; k++)
			if (m->region[k].base == (uintptr_t)p) {
				m->region[k] = m->region[--m->count];
				m->last = 0;
				r = EXEC_OK;
			}
	}
	return exec_leave(r);
}

EXEC_API CUresult cuMemHostGetDevicePointer_v2(CUdeviceptr *d, void *p, unsigned flags)
{
	(void)flags;
	EXEC_ENTER();
	*d = (uintptr_t)p;
	return exec_leave(exec_at(*d, 1) ? EXEC_OK : EXEC_INVALID_VALUE);
}

EXEC_API CUresult cuMemHostGetFlags(unsigned *flags, void *p)
{
	EXEC_ENTER();
	*flags = 0;
	return exec_leave(exec_at((uintptr_t)p, 1) ? EXEC_OK : EXEC_INVALID_VALUE);
}

EXEC_API CUresult cuPointerGetAttribute(void *out, int attribute, CUdeviceptr p)
{
	enum { CONTEXT = 1, MEMORY_TYPE = 2, DEVICE_POINTER = 3, HOST_POINTER = 4, IS_MANAGED = 8, ORDINAL = 9 };
	EXEC_ENTER();
	const struct exec_block *b = exec_block_of(p);
	if (!b && !exec_at(p, 1))
		return exec_leave(EXEC_INVALID_VALUE);
	const bool host = !b || b->kind == EXEC_HOST;
	struct exec_device *d = exec_device_of(p) ? exec_device_of(p) : exec_here;
	switch (attribute) {
	case CONTEXT:
		*(CUcontext *)out = &d->primary;
		break;
	case MEMORY_TYPE:
		*(unsigned *)out = host ? EXEC_MEMORY_HOST : EXEC_MEMORY_DEVICE;
		break;
	case DEVICE_POINTER:
		*(CUdeviceptr *)out = p;
		break;
	case HOST_POINTER:
		if (b && b->kind == EXEC_DEVICE)
			return exec_leave(EXEC_INVALID_VALUE);
		*(void **)out = (void *)(uintptr_t)p;
		break;
	case IS_MANAGED:
		*(unsigned *)out = b && b->kind == EXEC_MANAGED;
		break;
	case ORDINAL:
		*(int *)out = d->index;
		break;
	default:
		return exec_leave(EXEC_INVALID_VALUE);
	}
	return exec_leave(EXEC_OK);
}

EXEC_API CUresult cuMemPrefetchAsync(CUdeviceptr p, size_t bytes, CUdevice to, CUstream s)
{
	(void)p, (void)bytes, (void)to, (void)s;
	return EXEC_OK;
}

EXEC_API CUresult cuMemAdvise(CUdeviceptr p, size_t bytes, int advice, CUdevice to)
{
	(void)p, (void)bytes, (void)advice, (void)to;
	return EXEC_OK;
}

/* ---- copies ---- */

/* Either end may be the host's own memory, which nobody can check. */
static CUresult copy(uint64_t to, uint64_t from, size_t bytes, bool to_gpu, bool from_gpu)
{
	const bool to_device = exec_is_device(to), from_device = exec_is_device(from);
	if (!bytes)
		return EXEC_OK;
	if (!to || !from || ((to_gpu || to_device) && !exec_at(to, bytes)) ||
	    ((from_gpu || from_device) && !exec_at(from, bytes)))
		return EXEC_INVALID_VALUE;
	memmove((void *)(uintptr_t)to, (const void *)(uintptr_t)from, bytes);
	exec_written(to, bytes);
	if (to_device != from_device)
		exec_copy_takes(bytes, to_device);
	return EXEC_OK;
}

/* Bytes one after another. Types are CUmemorytype's. */
static CUresult linear(CUstream s, uint64_t to, int to_type, uint64_t from, int from_type, size_t bytes)
{
	const struct exec_work w = {.kind = EXEC_WORK_COPY,
				    .of.copy = {.source_type = from_type,
						.source_host = (const void *)(uintptr_t)from,
						.source_device = from,
						.target_type = to_type,
						.target_host = (void *)(uintptr_t)to,
						.target_device = to,
						.width_bytes = bytes,
						.height = 1,
						.depth = 1}};
	return exec_submit(s, &w);
}

#define COPIES(name, to_c, to_type, from_c, from_type)                                                                 \
	EXEC_API CUresult name##Async_v2(to_c to, from_c from, size_t bytes, CUstream s)                               \
	{                                                                                                              \
		return linear(s, (uintptr_t)to, to_type, (uintptr_t)from, from_type, bytes);                           \
	}                                                                                                              \
	EXEC_API CUresult name##_v2(to_c to, from_c from, size_t bytes)                                                \
	{                                                                                                              \
		return name##Async_v2(to, from, bytes, NULL);                                                          \
	}
COPIES(cuMemcpyHtoD, CUdeviceptr, EXEC_MEMORY_DEVICE, const void *, EXEC_MEMORY_HOST)
COPIES(cuMemcpyDtoH, void *, EXEC_MEMORY_HOST, CUdeviceptr, EXEC_MEMORY_DEVICE)
COPIES(cuMemcpyDtoD, CUdeviceptr, EXEC_MEMORY_DEVICE, CUdeviceptr, EXEC_MEMORY_DEVICE)

/* One address space holds the memory of all. */
EXEC_API CUresult cuMemcpyPeerAsync(CUdeviceptr to, CUcontext there, CUdeviceptr from, CUcontext here, size_t bytes,
				    CUstream s)
{
	(void)there, (void)here;
	return cuMemcpyDtoDAsync_v2(to, from, bytes, s);
}

EXEC_API CUresult cuMemcpyPeer(CUdeviceptr to, CUcontext there, CUdeviceptr from, CUcontext here, size_t bytes)
{
	return cuMemcpyPeerAsync(to, there, from, here, bytes, NULL);
}

EXEC_API CUresult cuMemcpyAsync(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream s)
{
	return linear(s, to, EXEC_MEMORY_UNIFIED, from, EXEC_MEMORY_UNIFIED, bytes);
}

EXEC_API CUresult cuMemcpy(CUdeviceptr to, CUdeviceptr from, size_t bytes)
{
	return cuMemcpyAsync(to, from, bytes, NULL);
}

/* One end of a copy of rows: where row y of slice z begins. */
struct end {
	uint64_t base;
	size_t pitch, slice;
	bool gpu;
};

static struct end end_of(int type, const void *host, CUdeviceptr device, CUarray array, const size_t at[3],
			 size_t pitch, size_t height, size_t width_bytes, size_t rows)
{
	struct end e = {.pitch = pitch ? pitch : width_bytes, .gpu = type != EXEC_MEMORY_HOST};
	e.base = type == EXEC_MEMORY_HOST ? (uintptr_t)host : device;
	if (type == EXEC_MEMORY_UNIFIED)
		e.gpu = exec_is_device(device);
	if (type == EXEC_MEMORY_ARRAY) {
		e.base = array->base;
		e.pitch = array->shape.width * array->texel_bytes;
		height = array->shape.height;
	}
	e.slice = e.pitch * (height ? height : rows);
	e.base += at[0] + at[1] * e.pitch + at[2] * e.slice;
	return e;
}

CUresult exec_copy(const struct exec_copy_3d *c)
{
	const size_t source[3] = {c->source_x_bytes, c->source_y, c->source_z},
		     target[3] = {c->target_x_bytes, c->target_y, c->target_z};
	struct end from = end_of(c->source_type, c->source_host, c->source_device, c->source_array, source,
				 c->source_pitch, c->source_height, c->width_bytes, c->height);
	struct end to = end_of(c->target_type, c->target_host, c->target_device, c->target_array, target,
			       c->target_pitch, c->target_height, c->width_bytes, c->height);
	const double before = exec_here->ns;
	CUresult r = EXEC_OK;
	for (size_t z = 0; z < c->depth && !r; z++)
		for (size_t y = 0; y < c->height && !r; y++)
			r = copy(to.base + z * to.slice + y * to.pitch, from.base + z * from.slice + y * from.pitch,
				 c->width_bytes, to.gpu, from.gpu);
	exec_here->ns = before; /* it is one copy, not one a row */
	if (!r && to.gpu != from.gpu)
		exec_copy_takes((uint64_t)c->width_bytes * c->height * c->depth, to.gpu);
	return r;
}

EXEC_API CUresult cuMemcpy3DAsync_v2(const struct exec_copy_3d *c, CUstream s)
{
	const struct exec_work w = {.kind = EXEC_WORK_COPY, .of.copy = *c};
	return exec_submit(s, &w);
}

EXEC_API CUresult cuMemcpy3D_v2(const struct exec_copy_3d *c)
{
	return cuMemcpy3DAsync_v2(c, NULL);
}

EXEC_API CUresult cuMemcpy2DAsync_v2(const struct exec_copy_2d *c, CUstream s)
{
	const struct exec_copy_3d all = {.source_x_bytes = c->source_x_bytes,
					 .source_y = c->source_y,
					 .source_type = c->source_type,
					 .source_host = c->source_host,
					 .source_device = c->source_device,
					 .source_array = c->source_array,
					 .source_pitch = c->source_pitch,
					 .target_x_bytes = c->target_x_bytes,
					 .target_y = c->target_y,
					 .target_type = c->target_type,
					 .target_host = c->target_host,
					 .target_device = c->target_device,
					 .target_array = c->target_array,
					 .target_pitch = c->target_pitch,
					 .width_bytes = c->width_bytes,
					 .height = c->height,
					 .depth = 1};
	return cuMemcpy3DAsync_v2(&all, s);
}

EXEC_API CUresult cuMemcpy2D_v2(const struct exec_copy_2d *c)
{
	return cuMemcpy2DAsync_v2(c, NULL);
}

EXEC_API CUresult cuMemcpy2DUnaligned_v2(const struct exec_copy_2d *c)
{
	return cuMemcpy2D_v2(c);
}

/* ---- filling ---- */

CUresult exec_fill(const struct exec_fill *f)
{
	for (size_t y = 0; y < f->height; y++) {
		const uint64_t at = f->to + y * f->pitch;
		uint8_t *p = exec_at(at, f->width * f->bytes);
		if (!p || f->to % f->bytes)
			return f->width ? EXEC_INVALID_VALUE : EXEC_OK;
		if (f->bytes == 1)
			memset(p, (int)f->value, f->width);
		for (size_t k = 0; f->bytes > 1 && k < f->width; k++)
			memcpy(p + k * f->bytes, &f->value, f->bytes);
		exec_written(at, f->width * f->bytes);
	}
	return EXEC_OK;
}

static CUresult fill(CUstream s, CUdeviceptr to, size_t pitch, unsigned value, unsigned bytes, size_t width,
		     size_t height)
{
	const struct exec_work w = {.kind = EXEC_WORK_FILL, .of.fill = {to, pitch, value, bytes, width, height}};
	return exec_submit(s, &w);
}

#define FILLS(type, suffix, bytes)                                                                                     \
	EXEC_API CUresult cuMemset##suffix##_v2(CUdeviceptr to, type value, size_t n)                                  \
	{                                                                                                              \
		return fill(NULL, to, 0, value, bytes, n, 1);                                                          \
	}                                                                                                              \
	EXEC_API CUresult cuMemset##suffix##Async(CUdeviceptr to, type value, size_t n, CUstream s)                    \
	{                                                                                                              \
		return fill(s, to, 0, value, bytes, n, 1);                                                             \
	}
#define FILLS_2D(type, suffix, bytes)                                                                                  \
	EXEC_API CUresult cuMemset##suffix##_v2(CUdeviceptr to, size_t pitch, type value, size_t w, size_t h)          \
	{                                                                                                              \
		return fill(NULL, to, pitch, value, bytes, w, h);                                                      \
	}                                                                                                              \
	EXEC_API CUresult cuMemset##suffix##Async(CUdeviceptr to, size_t pitch, type value, size_t w, size_t h,        \
						  CUstream s)                                                          \
	{                                                                                                              \
		return fill(s, to, pitch, value, bytes, w, h);                                                         \
	}
FILLS(unsigned char, D8, 1)
FILLS(unsigned short, D16, 2)
FILLS(unsigned, D32, 4)
FILLS_2D(unsigned char, D2D8, 1)
FILLS_2D(unsigned short, D2D16, 2)
FILLS_2D(unsigned, D2D32, 4)
