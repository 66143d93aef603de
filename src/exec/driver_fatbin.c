/* The PTX in what a program brings along: text, or a fat binary as nvcc and fatbinary write it, compressed or not. */
#include "exec/driver.h"
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#define WRAPPER_MAGIC  0x466243b1u
#define WRAPPER_LINKED 2 /* its last member is a list of the fat binaries that nvlink made it of */
#define FATBIN_MAGIC   0xba55ed50u
#define ZSTD_MAGIC     0xfd2fb528u /* RFC 8878, 3.1.1 */
#define ELF_MAGIC      0x464c457fu
#define KIND_PTX       1
#define TEXT_MOST      (256ull << 20)

struct wrapper { /* __fatDeviceText: what __cudaRegisterFatBinary gets */
	uint32_t magic, version;
	const void *data;
	const void *const *name;
};
struct header {
	uint32_t magic;
	uint16_t version, bytes;
	uint64_t size; /* of the entries behind it */
};
struct entry {
	uint16_t kind, unknown;
	uint32_t header_bytes;
	uint64_t size;	 /* until the next entry, from the end of this header */
	uint32_t packed; /* bytes of them, when they are compressed */
	uint32_t options;
	uint16_t minor, major;
	uint32_t arch; /* compute capability x 10 */
	uint32_t name_at, name_bytes;
	uint64_t flags, zero, unpacked;
};

/* The block format of LZ4 (lz4_Block_format.md of its source): tokens of literals and of copies from what came out before. */
int exec_lz4(uint8_t *out, size_t out_bytes, const uint8_t *in, size_t in_bytes)
{
	size_t i = 0, o = 0;
	while (i < in_bytes) {
		const uint8_t token = in[i++];
		size_t literals = token >> 4, length = token & 15;
		for (uint8_t more = 255; literals >= 15 && more == 255 && i < in_bytes;)
			literals += more = in[i++];
		if (literals > in_bytes - i || literals > out_bytes - o)
			return -EINVAL;
		memcpy(out + o, in + i, literals);
		i += literals;
		o += literals;
		if (i == in_bytes) /* the last sequence is literals only */
			break;
		if (in_bytes - i < 2)
			return -EINVAL;
		size_t back = in[i] | (size_t)in[i + 1] << 8;
		i += 2;
		for (uint8_t more = 255; length >= 15 && more == 255 && i < in_bytes;)
			length += more = in[i++];
		length += 4;
		if (!back || back > o || length > out_bytes - o)
			return -EINVAL;
		for (; length; length--, o++)
			out[o] = out[o - back];
	}
	return o == out_bytes ? 0 : -EINVAL;
}

/* The system's own library: every Debian or Fedora has it, few have what compiling against it takes. */
static int unpack_zstd(uint8_t *out, size_t out_bytes, const uint8_t *in, size_t in_bytes, struct err *e)
{
	void *lib = dlopen("libzstd.so.1", RTLD_NOW | RTLD_LOCAL);
	size_t (*decompress)(void *, size_t, const void *, size_t) = NULL;
	if (lib)
		*(void **)&decompress = dlsym(lib, "ZSTD_decompress");
	size_t n = decompress ? decompress(out, out_bytes, in, in_bytes) : 0;
	if (lib)
		dlclose(lib);
	if (!decompress)
		return err_set(e, -ENOENT,
			       "the program's PTX is compressed with zstd: install libzstd.so.1, or compile with "
			       "-compress-mode=speed");
	return n == out_bytes ? 0 : err_set(e, -EINVAL, "the program's PTX is compressed with zstd and damaged");
}

static const char *entry_text(struct arena *a, const struct entry *h, const uint8_t *data, struct err *e)
{
	uint64_t bytes = h->unpacked ? h->unpacked : h->size;
	uint32_t magic = 0;
	if (bytes > TEXT_MOST || (h->unpacked && h->packed > h->size)) {
		err_set(e, -EINVAL, "the program's fat binary is damaged: an entry of %llu bytes",
			(unsigned long long)bytes);
		return NULL;
	}
	uint8_t *text = arena_alloc(a, bytes + 1, 1);
	if (!text) {
		err_nomem(e);
		return NULL;
	}
	if (h->size >= sizeof magic)
		memcpy(&magic, data, sizeof magic);
	if (!h->unpacked)
		memcpy(text, data, bytes);
	else if (magic == ZSTD_MAGIC ? unpack_zstd(text, bytes, data, h->packed, e) != 0
				     : exec_lz4(text, bytes, data, h->packed) != 0) {
		if (magic != ZSTD_MAGIC)
			err_set(e, -EINVAL, "the program's PTX is compressed with LZ4 and damaged");
		return NULL;
	}
	return (const char *)text;
}

/* The entry with the newest PTX that the GPU takes. least: the oldest one, where none fits; binaries: how many are none. */
static const uint8_t *choose(const uint8_t *at, const struct header *h, int cc, uint32_t *least, uint32_t *binaries)
{
	const uint8_t *best = NULL, *end = at + h->bytes + h->size;
	uint32_t newest = 0;
	*least = 0;
	*binaries = 0;
	for (const uint8_t *p = at + h->bytes; (size_t)(end - p) >= sizeof(struct entry);) {
		struct entry one;
		memcpy(&one, p, sizeof one);
		if (one.header_bytes < sizeof one || one.size > (uint64_t)(end - p) - one.header_bytes)
			break;
		if (one.kind != KIND_PTX)
			(*binaries)++;
		else if (one.arch > (uint32_t)cc && (!*least || one.arch < *least))
			*least = one.arch;
		if (one.kind == KIND_PTX && one.arch <= (uint32_t)cc && one.arch >= newest) {
			newest = one.arch;
			best = p;
		}
		p += one.header_bytes + one.size;
	}
	return best;
}

const void *const *exec_image_parts(const void *image)
{
	struct wrapper w;
	memcpy(&w.magic, image, sizeof w.magic);
	if (w.magic != WRAPPER_MAGIC)
		return NULL;
	memcpy(&w, image, sizeof w);
	return w.version == WRAPPER_LINKED ? w.name : NULL;
}

const char *exec_image_text(struct arena *a, const void *image, int cc, struct err *e)
{
	struct wrapper w;
	struct header h;
	struct entry one = {0};
	uint32_t magic, least, binaries;
	memcpy(&magic, image, sizeof magic);
	if (magic == WRAPPER_MAGIC) {
		memcpy(&w, image, sizeof w);
		image = w.data;
		memcpy(&magic, image, sizeof magic);
	}
	if (magic == ELF_MAGIC && exec_image_ptx(image))
		return arena_strdup(a, exec_image_ptx(image));
	if (magic == ELF_MAGIC) {
		err_set(e, -ENOTSUP, "the program brings a module of native code and no PTX");
		return NULL;
	}
	if (magic != FATBIN_MAGIC)
		return arena_strdup(a, image);
	memcpy(&h, image, sizeof h);
	const uint8_t *p = choose(image, &h, cc, &least, &binaries);
	if (!p && least)
		err_set(e, -ENOTSUP,
			"the program's PTX is for sm_%u and later, but this GPU is sm_%d: choose a later one", least,
			cc);
	else if (!p)
		err_set(e, -ENOTSUP,
			"the program brings %u native binaries and no PTX: compile it with -gencode "
			"arch=compute_%d,code=compute_%d",
			binaries, cc, cc);
	if (!p)
		return NULL;
	memcpy(&one, p, sizeof one);
	return entry_text(a, &one, p + one.header_bytes, e);
}
