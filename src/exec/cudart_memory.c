/* The runtime's memory: allocation, copies, symbols, arrays and textures. */
#include "exec/cudart.h"
#include <string.h>

struct channel { /* cudaChannelFormatDesc */
	int bits[4], kind;
};
enum { CHANNEL_SIGNED = 0, CHANNEL_UNSIGNED = 1, CHANNEL_FLOAT = 2 };
enum {
	COPY_TO_HOST = 2,
	COPY_DEFAULT = 4
}; /* cudaMemcpyKind: host to host is 0, to the device 1, from device to device 3 */

static CUdeviceptr address(const void *p)
{
	return (uintptr_t)p;
}

/* ---- allocation ---- */

/* Of no bytes there is no memory, and no error. */
EXEC_API cudaError_t cudaMalloc(void **p, size_t bytes)
{
	CUdeviceptr at = 0;
	CUresult r = !p ? EXEC_INVALID_VALUE : bytes ? cuMemAlloc_v2(&at, bytes) : EXEC_OK;
	if (!r)
		*p = (void *)(uintptr_t)at;
	return cudart_result(r);
}

static CUresult from_pool(void **p, size_t bytes, CUmemPool pool, cudaStream_t s)
{
	CUdeviceptr at = 0;
	CUresult r = !p ? EXEC_INVALID_VALUE : bytes ? cuMemAllocFromPoolAsync(&at, bytes, pool, s) : EXEC_OK;
	if (!r)
		*p = (void *)(uintptr_t)at;
	return r;
}

EXEC_API cudaError_t cudaMallocFromPoolAsync(void **p, size_t bytes, CUmemPool pool, cudaStream_t s)
{
	return cudart_result(from_pool(p, bytes, pool, s));
}

EXEC_API cudaError_t cudaMallocAsync(void **p, size_t bytes, cudaStream_t s)
{
	CUmemPool pool;
	CUresult r = cuDeviceGetDefaultMemPool(&pool, 0);
	return cudart_result(r ? r : from_pool(p, bytes, pool, s));
}

EXEC_API cudaError_t cudaMallocManaged(void **p, size_t bytes, unsigned flags)
{
	CUdeviceptr at = 0;
	CUresult r = p ? cuMemAllocManaged(&at, bytes, flags) : EXEC_INVALID_VALUE;
	if (!r)
		*p = (void *)(uintptr_t)at;
	return cudart_result(r);
}

EXEC_API cudaError_t cudaMallocPitch(void **p, size_t *pitch, size_t width, size_t height)
{
	*pitch = (width + 511) / 512 * 512;
	return cudaMalloc(p, *pitch * height);
}

EXEC_API cudaError_t cudaMalloc3D(struct pitched *p, struct extent e)
{
	*p = (struct pitched){.width = e.width, .height = e.height};
	return cudaMallocPitch(&p->p, &p->pitch, e.width, e.height * e.depth);
}

EXEC_API cudaError_t cudaFree(void *p)
{
	CUresult r = cuInit(0); /* cudaFree(0) is how programs open the device */
	return cudart_result(r ? r : cuMemFree_v2(address(p)));
}

EXEC_API cudaError_t cudaFreeAsync(void *p, cudaStream_t s)
{
	CUresult r = cuInit(0);
	return cudart_result(r || !p ? r : cuMemFreeAsync(address(p), s));
}

EXEC_API cudaError_t cudaMallocHost(void **p, size_t bytes)
{
	return cudart_result(cuMemAllocHost_v2(p, bytes));
}

EXEC_API cudaError_t cudaHostAlloc(void **p, size_t bytes, unsigned flags)
{
	(void)flags;
	return cudaMallocHost(p, bytes);
}

EXEC_API cudaError_t cudaFreeHost(void *p)
{
	return cudart_result(cuMemFreeHost(p));
}

EXEC_API cudaError_t cudaHostRegister(void *p, size_t bytes, unsigned flags)
{
	return cudart_result(cuMemHostRegister_v2(p, bytes, flags));
}

EXEC_API cudaError_t cudaHostUnregister(void *p)
{
	return cudart_result(cuMemHostUnregister(p));
}

EXEC_API cudaError_t cudaHostGetDevicePointer(void **d, void *p, unsigned flags)
{
	CUdeviceptr at = 0;
	CUresult r = cuMemHostGetDevicePointer_v2(&at, p, flags);
	*d = (void *)(uintptr_t)at;
	return cudart_result(r);
}

EXEC_API cudaError_t cudaMemGetInfo(size_t *left, size_t *total)
{
	return cudart_result(cuMemGetInfo_v2(left, total));
}

EXEC_API cudaError_t cudaPointerGetAttributes(void *out, const void *p)
{
	enum { UNREGISTERED = 0, HOST = 1, DEVICE = 2, MANAGED = 3 };
	struct {
		int type, device;
		void *device_pointer, *host_pointer;
	} a = {UNREGISTERED, -2, NULL, (void *)(uintptr_t)p};
	unsigned type, managed = 0;
	if (!cuPointerGetAttribute(&type, 2, address(p))) {
		cuPointerGetAttribute(&managed, 8, address(p));
		a.type = managed ? MANAGED : type == EXEC_MEMORY_HOST ? HOST : DEVICE;
		cuPointerGetAttribute(&a.device, 9, address(p));
		a.device_pointer = (void *)(uintptr_t)p;
		if (a.type == DEVICE)
			a.host_pointer = NULL;
	}
	memcpy(out, &a, sizeof a);
	return EXEC_OK;
}

/* The device stands as an int in CUDA 12 and as a struct in 13: nothing that is said here matters to the simulated GPU. */
EXEC_API cudaError_t cudaMemPrefetchAsync(const void *p, size_t bytes)
{
	(void)p, (void)bytes;
	return EXEC_OK;
}

EXEC_API cudaError_t cudaMemAdvise(const void *p, size_t bytes, int advice)
{
	(void)p, (void)bytes, (void)advice;
	return EXEC_OK;
}

/* ---- copies ---- */

static CUresult copy(void *to, const void *from, size_t bytes, int kind, cudaStream_t s)
{
	if (kind < 0 || kind > COPY_DEFAULT)
		return EXEC_INVALID_VALUE;
	switch (kind) {
	case 1:
		return cuMemcpyHtoDAsync_v2(address(to), from, bytes, s);
	case COPY_TO_HOST:
		return cuMemcpyDtoHAsync_v2(to, address(from), bytes, s);
	case 3:
		return cuMemcpyDtoDAsync_v2(address(to), address(from), bytes, s);
	default:
		return cuMemcpyAsync(address(to), address(from), bytes, s);
	}
}

EXEC_API cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, int kind, cudaStream_t s)
{
	return cudart_result(copy(to, from, bytes, kind, s));
}

EXEC_API cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, int kind)
{
	return cudaMemcpyAsync(to, from, bytes, kind, NULL);
}

EXEC_API cudaError_t cudaMemcpyPeerAsync(void *to, int to_device, const void *from, int from_device, size_t bytes,
					 cudaStream_t s)
{
	CUcontext c;
	CUresult r = cuDevicePrimaryCtxRetain(&c, to_device);
	if (!r)
		r = cuDevicePrimaryCtxRetain(&c, from_device);
	return cudart_result(r ? r : copy(to, from, bytes, 3, s));
}

EXEC_API cudaError_t cudaMemcpyPeer(void *to, int to_device, const void *from, int from_device, size_t bytes)
{
	return cudaMemcpyPeerAsync(to, to_device, from, from_device, bytes, NULL);
}

/* Rows; kind as cudaMemcpy's. */
static CUresult rows(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t height,
		     int kind, cudaStream_t s)
{
	const bool known = kind != COPY_DEFAULT;
	const struct exec_copy_3d c = {.source_type = known && kind < 2 ? EXEC_MEMORY_HOST
						      : known		? EXEC_MEMORY_DEVICE
									: EXEC_MEMORY_UNIFIED,
				       .source_host = from,
				       .source_device = address(from),
				       .source_pitch = from_pitch,
				       .target_type = kind == COPY_TO_HOST || kind == 0 ? EXEC_MEMORY_HOST
						      : known				? EXEC_MEMORY_DEVICE
											: EXEC_MEMORY_UNIFIED,
				       .target_host = to,
				       .target_device = address(to),
				       .target_pitch = to_pitch,
				       .width_bytes = width,
				       .height = height,
				       .depth = 1};
	return width > to_pitch || width > from_pitch ? EXEC_INVALID_VALUE : cuMemcpy3DAsync_v2(&c, s);
}

EXEC_API cudaError_t cudaMemcpy2DAsync(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width,
				       size_t height, int kind, cudaStream_t s)
{
	return cudart_result(rows(to, to_pitch, from, from_pitch, width, height, kind, s));
}

EXEC_API cudaError_t cudaMemcpy2D(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width,
				  size_t height, int kind)
{
	return cudaMemcpy2DAsync(to, to_pitch, from, from_pitch, width, height, kind, NULL);
}

static size_t texel_bytes(cudaArray_t a)
{
	struct exec_array_shape s;
	cuArray3DGetDescriptor_v2(&s, a);
	size_t bytes = s.format == EXEC_FORMAT_U8 || s.format == EXEC_FORMAT_S8					   ? 1
		       : s.format == EXEC_FORMAT_U16 || s.format == EXEC_FORMAT_S16 || s.format == EXEC_FORMAT_F16 ? 2
														   : 4;
	return bytes * s.channels;
}

struct exec_copy_3d cudart_copy_3d(const struct copy_3d *p)
{
	size_t unit = p->from_array ? texel_bytes(p->from_array) : p->to_array ? texel_bytes(p->to_array) : 1;
	const bool from_host = p->kind < 2, to_host = p->kind == 0 || p->kind == COPY_TO_HOST;
	const bool known = p->kind != COPY_DEFAULT;
	return (struct exec_copy_3d){.source_x_bytes = p->from_at.x * (p->from_array ? unit : 1),
				     .source_y = p->from_at.y,
				     .source_z = p->from_at.z,
				     .source_type = p->from_array ? EXEC_MEMORY_ARRAY
						    : !known	  ? EXEC_MEMORY_UNIFIED
						    : from_host	  ? EXEC_MEMORY_HOST
								  : EXEC_MEMORY_DEVICE,
				     .source_host = p->from.p,
				     .source_device = address(p->from.p),
				     .source_array = p->from_array,
				     .source_pitch = p->from.pitch,
				     .source_height = p->from.height,
				     .target_x_bytes = p->to_at.x * (p->to_array ? unit : 1),
				     .target_y = p->to_at.y,
				     .target_z = p->to_at.z,
				     .target_type = p->to_array ? EXEC_MEMORY_ARRAY
						    : !known	? EXEC_MEMORY_UNIFIED
						    : to_host	? EXEC_MEMORY_HOST
								: EXEC_MEMORY_DEVICE,
				     .target_host = p->to.p,
				     .target_device = address(p->to.p),
				     .target_array = p->to_array,
				     .target_pitch = p->to.pitch,
				     .target_height = p->to.height,
				     .width_bytes = p->extent.width * unit,
				     .height = p->extent.height ? p->extent.height : 1,
				     .depth = p->extent.depth ? p->extent.depth : 1};
}

EXEC_API cudaError_t cudaMemcpy3DAsync(const struct copy_3d *p, cudaStream_t s)
{
	const struct exec_copy_3d c = cudart_copy_3d(p);
	return cudart_result(cuMemcpy3DAsync_v2(&c, s));
}

EXEC_API cudaError_t cudaMemcpy3D(const struct copy_3d *p)
{
	return cudaMemcpy3DAsync(p, NULL);
}

EXEC_API cudaError_t cudaMemcpy2DToArray(cudaArray_t to, size_t x_bytes, size_t y, const void *from, size_t pitch,
					 size_t width, size_t height, int kind)
{
	const size_t unit = texel_bytes(to);
	const struct copy_3d p = {.from = {(void *)(uintptr_t)from, pitch, width, height},
				  .to_array = to,
				  .to_at = {x_bytes / unit, y, 0},
				  .extent = {width / unit, height, 1},
				  .kind = kind};
	return cudaMemcpy3D(&p);
}

EXEC_API cudaError_t cudaMemcpy2DFromArray(void *to, size_t pitch, cudaArray_t from, size_t x_bytes, size_t y,
					   size_t width, size_t height, int kind)
{
	const size_t unit = texel_bytes(from);
	const struct copy_3d p = {.to = {to, pitch, width, height},
				  .from_array = from,
				  .from_at = {x_bytes / unit, y, 0},
				  .extent = {width / unit, height, 1},
				  .kind = kind};
	return cudaMemcpy3D(&p);
}

EXEC_API cudaError_t cudaMemcpyToArray(cudaArray_t to, size_t x_bytes, size_t y, const void *from, size_t bytes,
				       int kind)
{
	struct exec_array_shape s;
	cuArray3DGetDescriptor_v2(&s, to);
	const size_t row = s.width * texel_bytes(to);
	return bytes <= row ? cudaMemcpy2DToArray(to, x_bytes, y, from, bytes, bytes, 1, kind)
			    : cudaMemcpy2DToArray(to, x_bytes, y, from, row, row, bytes / row, kind);
}

EXEC_API cudaError_t cudaMemsetAsync(void *to, int value, size_t bytes, cudaStream_t s)
{
	return cudart_result(cuMemsetD8Async(address(to), (unsigned char)value, bytes, s));
}

EXEC_API cudaError_t cudaMemset(void *to, int value, size_t bytes)
{
	return cudaMemsetAsync(to, value, bytes, NULL);
}

EXEC_API cudaError_t cudaMemset2DAsync(void *to, size_t pitch, int value, size_t width, size_t height, cudaStream_t s)
{
	return cudart_result(cuMemsetD2D8Async(address(to), pitch, (unsigned char)value, width, height, s));
}

EXEC_API cudaError_t cudaMemset2D(void *to, size_t pitch, int value, size_t width, size_t height)
{
	return cudaMemset2DAsync(to, pitch, value, width, height, NULL);
}

EXEC_API cudaError_t cudaMemset3D(struct pitched p, int value, struct extent e)
{
	return cudaMemset2D(p.p, p.pitch, value, e.width, e.height * e.depth);
}

/* ---- symbols ---- */

static CUresult symbol_at(void **at, const void *symbol, size_t bytes, size_t offset)
{
	uint64_t base = 0;
	size_t size = 0;
	CUresult r = cudart_symbol(&base, &size, symbol);
	if (!r && (offset > size || bytes > size - offset))
		r = EXEC_INVALID_VALUE;
	*at = (void *)(uintptr_t)(base + offset);
	return r;
}

EXEC_API cudaError_t cudaMemcpyToSymbolAsync(const void *symbol, const void *from, size_t bytes, size_t offset,
					     int kind, cudaStream_t s)
{
	void *at;
	CUresult r = symbol_at(&at, symbol, bytes, offset);
	return cudart_result(r ? r : copy(at, from, bytes, kind, s));
}

EXEC_API cudaError_t cudaMemcpyToSymbol(const void *symbol, const void *from, size_t bytes, size_t offset, int kind)
{
	return cudaMemcpyToSymbolAsync(symbol, from, bytes, offset, kind, NULL);
}

EXEC_API cudaError_t cudaMemcpyFromSymbolAsync(void *to, const void *symbol, size_t bytes, size_t offset, int kind,
					       cudaStream_t s)
{
	void *at;
	CUresult r = symbol_at(&at, symbol, bytes, offset);
	return cudart_result(r ? r : copy(to, at, bytes, kind, s));
}

EXEC_API cudaError_t cudaMemcpyFromSymbol(void *to, const void *symbol, size_t bytes, size_t offset, int kind)
{
	return cudaMemcpyFromSymbolAsync(to, symbol, bytes, offset, kind, NULL);
}

EXEC_API cudaError_t cudaGetSymbolAddress(void **p, const void *symbol)
{
	return cudart_result(symbol_at(p, symbol, 0, 0));
}

EXEC_API cudaError_t cudaGetSymbolSize(size_t *bytes, const void *symbol)
{
	uint64_t at;
	return cudart_result(cudart_symbol(&at, bytes, symbol));
}

/* ---- arrays and textures ---- */

EXEC_API struct channel cudaCreateChannelDesc(int x, int y, int z, int w, int kind)
{
	return (struct channel){{x, y, z, w}, kind};
}

static int format_of(const struct channel *c)
{
	if (c->kind == CHANNEL_FLOAT)
		return c->bits[0] == 16 ? EXEC_FORMAT_F16 : EXEC_FORMAT_F32;
	const int width = c->bits[0] == 8 ? 0 : c->bits[0] == 16 ? 1 : 2;
	return (c->kind == CHANNEL_SIGNED ? EXEC_FORMAT_S8 : EXEC_FORMAT_U8) + width;
}

static unsigned channels_of(const struct channel *c)
{
	unsigned n = 0;
	while (n < 4 && c->bits[n])
		n++;
	return n;
}

static struct channel channel_of(int format, unsigned channels)
{
	const bool is_float = format == EXEC_FORMAT_F16 || format == EXEC_FORMAT_F32,
		   is_signed = format >= EXEC_FORMAT_S8 && !is_float;
	const int bits = is_float ? (format == EXEC_FORMAT_F16 ? 16 : 32)
				  : 8 << (format - (is_signed ? EXEC_FORMAT_S8 : EXEC_FORMAT_U8));
	struct channel c = {.kind = is_float ? CHANNEL_FLOAT : is_signed ? CHANNEL_SIGNED : CHANNEL_UNSIGNED};
	for (unsigned k = 0; k < channels && k < 4; k++)
		c.bits[k] = bits;
	return c;
}

EXEC_API cudaError_t cudaArrayGetInfo(struct channel *c, struct extent *e, unsigned *flags, cudaArray_t a)
{
	struct exec_array_shape s = {.width = 0};
	const CUresult r = cuArray3DGetDescriptor_v2(&s, a);
	if (c)
		*c = channel_of(s.format, s.channels);
	if (e)
		*e = (struct extent){s.width, s.height, s.depth};
	if (flags)
		*flags = s.flags;
	return cudart_result(r);
}

EXEC_API cudaError_t cudaGetChannelDesc(struct channel *c, cudaArray_t a)
{
	return cudaArrayGetInfo(c, NULL, NULL, a);
}

EXEC_API cudaError_t cudaMalloc3DArray(cudaArray_t *a, const struct channel *c, struct extent e, unsigned flags)
{
	const struct exec_array_shape s = {.width = e.width,
					   .height = e.height,
					   .depth = e.depth,
					   .format = format_of(c),
					   .channels = channels_of(c),
					   .flags = flags};
	return cudart_result(cuArray3DCreate_v2(a, &s));
}

EXEC_API cudaError_t cudaMallocArray(cudaArray_t *a, const struct channel *c, size_t width, size_t height,
				     unsigned flags)
{
	return cudaMalloc3DArray(a, c, (struct extent){width, height, 0}, flags);
}

EXEC_API cudaError_t cudaFreeArray(cudaArray_t a)
{
	return cudart_result(a ? cuArrayDestroy(a) : EXEC_OK);
}

struct resource { /* cudaResourceDesc */
	int kind;
	union {
		cudaArray_t array;
		struct {
			void *at;
			struct channel format;
			size_t bytes;
		} linear;
		struct {
			void *at;
			struct channel format;
			size_t width, height, pitch;
		} rows;
		int reserved[16];
	} of;
};
struct texture { /* cudaTextureDesc, its begin */
	int address[3], filter, read, srgb;
	float border[4];
	int normalized;
};

EXEC_API cudaError_t cudaCreateTextureObject(CUtexObject *out, const struct resource *r, const struct texture *t,
					     const void *view)
{
	struct exec_resource what = {.kind = r->kind};
	struct exec_texture_how how = {.address = {t->address[0], t->address[1], t->address[2]}, .filter = t->filter};
	how.flags = (t->read == 0 ? EXEC_TEXTURE_INTEGERS : 0) | (t->normalized ? EXEC_TEXTURE_NORMALIZED : 0) |
		    (t->srgb ? EXEC_TEXTURE_SRGB : 0);
	memcpy(how.border, t->border, sizeof how.border);
	if (r->kind == EXEC_RESOURCE_ARRAY) {
		what.of.array = r->of.array;
	} else if (r->kind == EXEC_RESOURCE_LINEAR) {
		what.of.linear.at = address(r->of.linear.at);
		what.of.linear.format = format_of(&r->of.linear.format);
		what.of.linear.channels = channels_of(&r->of.linear.format);
		what.of.linear.bytes = r->of.linear.bytes;
	} else if (r->kind == EXEC_RESOURCE_PITCH) {
		what.of.rows.at = address(r->of.rows.at);
		what.of.rows.format = format_of(&r->of.rows.format);
		what.of.rows.channels = channels_of(&r->of.rows.format);
		what.of.rows.width = r->of.rows.width;
		what.of.rows.height = r->of.rows.height;
		what.of.rows.pitch = r->of.rows.pitch;
	}
	return cudart_result(cuTexObjectCreate(out, &what, &how, view));
}

EXEC_API cudaError_t cudaGetTextureObjectResourceDesc(struct resource *r, CUtexObject t)
{
	struct exec_resource what;
	const CUresult result = cuTexObjectGetResourceDesc(&what, t);
	if (result)
		return cudart_result(result);
	*r = (struct resource){.kind = what.kind};
	if (what.kind == EXEC_RESOURCE_ARRAY) {
		r->of.array = what.of.array;
	} else if (what.kind == EXEC_RESOURCE_LINEAR) {
		r->of.linear.at = (void *)(uintptr_t)what.of.linear.at;
		r->of.linear.format = channel_of(what.of.linear.format, what.of.linear.channels);
		r->of.linear.bytes = what.of.linear.bytes;
	} else {
		r->of.rows.at = (void *)(uintptr_t)what.of.rows.at;
		r->of.rows.format = channel_of(what.of.rows.format, what.of.rows.channels);
		r->of.rows.width = what.of.rows.width;
		r->of.rows.height = what.of.rows.height;
		r->of.rows.pitch = what.of.rows.pitch;
	}
	return cudart_result(EXEC_OK);
}

EXEC_API cudaError_t cudaGetSurfaceObjectResourceDesc(struct resource *r, CUsurfObject s)
{
	return cudaGetTextureObjectResourceDesc(r, s);
}

EXEC_API cudaError_t cudaGetTextureObjectTextureDesc(struct texture *t, CUtexObject object)
{
	struct exec_texture_how how;
	const CUresult r = cuTexObjectGetTextureDesc(&how, object);
	if (r)
		return cudart_result(r);
	*t = (struct texture){.address = {how.address[0], how.address[1], how.address[2]},
			      .filter = how.filter,
			      .read = !(how.flags & EXEC_TEXTURE_INTEGERS),
			      .normalized = !!(how.flags & EXEC_TEXTURE_NORMALIZED)};
	memcpy(t->border, how.border, sizeof t->border);
	return cudart_result(EXEC_OK);
}

EXEC_API cudaError_t cudaDestroyTextureObject(CUtexObject t)
{
	return cudart_result(cuTexObjectDestroy(t));
}

EXEC_API cudaError_t cudaCreateSurfaceObject(CUsurfObject *out, const struct resource *r)
{
	const struct exec_resource what = {.kind = r->kind, .of.array = r->of.array};
	return cudart_result(cuSurfObjectCreate(out, &what));
}

EXEC_API cudaError_t cudaDestroySurfaceObject(CUsurfObject s)
{
	return cudaDestroyTextureObject(s);
}
