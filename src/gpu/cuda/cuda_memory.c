/* Buffers of a launch: device memory that stays between launches, filled only when its content changes. */
#include "base/arena.h"
#include "base/str.h"
#include "gpu/cuda/cuda_gpu.h"
#include <errno.h>
#include <string.h>

#define STAGING_MAX  (32ull << 20) /* host image of a buffer, piece by piece */
#define BLOCK_ALIGN  256u	   /* what the driver's allocator guarantees */
#define BLOCK_COARSE (2ull << 20)  /* larger blocks are multiples of this, so that growing footprints share them */

static uint64_t mix(uint64_t h, uint64_t v)
{
	h = (h ^ v) * 0x9e3779b97f4a7c15u;
	return h ^ (h >> 29);
}

/* Names the content of a buffer; never 0. Two chains a step, since a ring has many words. */
static uint64_t content_hash(const struct launch_buffer *b)
{
	uint64_t h = mix(mix(1, b->bytes), b->align), g = 2;
	uint32_t i = 0;

	if (b->init)
		h = mix(h, hash64(b->init, b->init_bytes, 1));
	h = mix(mix(h, b->init ? b->init_bytes : 0), b->ring_count);
	for (; i + 1 < b->ring_count; i += 2) {
		h = mix(h, b->ring[i]);
		g = mix(g, b->ring[i + 1]);
	}
	if (i < b->ring_count)
		h = mix(h, b->ring[i]);
	h = mix(mix(h, g), b->ring_count ? b->ring_word : 0);
	if (b->ring_count && b->ring_unit)
		h = mix(h, b->ring_unit);
	return h ? h : 1;
}

void cuda_memory_image(const struct launch_buffer *b, CUdeviceptr base, uint64_t from, uint8_t *out, uint64_t n)
{
	uint64_t unit = b->ring_unit ? b->ring_unit : 1;

	memset(out, 0, n);
	if (b->init && from < b->init_bytes) {
		uint64_t k = b->init_bytes - from;
		memcpy(out, (const uint8_t *)b->init + from, k < n ? k : n);
	}
	/* A word that straddles two pieces is written by bytes into both. */
	for (uint32_t i = 0; i < b->ring_count; i++) {
		uint64_t at = b->ring[i], to = b->ring[i + 1 == b->ring_count ? 0 : i + 1];
		uint64_t word = b->ring_word == 8 ? base + to : to / unit;
		uint64_t off = at - from; /* wraps to something huge when at < from */
		if (off < n && off + b->ring_word <= n)
			memcpy(out + off, &word, b->ring_word);
		else if (at < from + n && at + b->ring_word > from)
			for (unsigned k = 0; k < b->ring_word; k++)
				if (at + k >= from && at + k < from + n)
					out[at + k - from] = (uint8_t)(word >> 8 * k);
	}
}

/* Piece [from, from + n) holds something beside zeros. */
static bool piece_has_content(const struct launch_buffer *b, uint64_t from, uint64_t n)
{
	if (b->init && from < b->init_bytes)
		return true;
	for (uint32_t i = 0; i < b->ring_count; i++)
		if (b->ring[i] < from + n && b->ring[i] + b->ring_word > from)
			return true;
	return false;
}

static int staging_room(struct cuda_gpu *g, uint64_t bytes)
{
	if (g->staging_bytes >= bytes)
		return 0;
	mem_free(g->staging); /* no mem_grow: the old content is of no use */
	g->staging_bytes = 0;
	g->staging = mem_alloc(bytes);
	if (!g->staging)
		return -ENOMEM;
	g->staging_bytes = bytes;
	return 0;
}

CUresult cuda_memory_fill(struct cuda_gpu *g, const struct launch_buffer *b, CUdeviceptr base, int *nomem)
{
	const struct cuda_driver *d = &g->d;
	uint64_t piece = b->bytes < STAGING_MAX ? b->bytes : STAGING_MAX;
	CUresult r = CUDA_SUCCESS;

	*nomem = 0;
	if ((!b->init || !b->init_bytes) && !b->ring_count)
		return d->memset_d8_async(base, 0, b->bytes, NULL);
	/* Without room for the ring beside the buffer, pieces are copied. */
	if (cuda_scatters(b)) {
		r = cuda_scatter(g, b, base);
		if ((int)r != RESULT_OUT_OF_MEMORY)
			return r;
		r = CUDA_SUCCESS;
	}
	if (staging_room(g, piece)) {
		*nomem = -ENOMEM;
		return r;
	}
	for (uint64_t from = 0; from < b->bytes && !r; from += piece) {
		uint64_t n = b->bytes - from < piece ? b->bytes - from : piece;
		if (piece < b->bytes && !piece_has_content(b, from, n)) {
			r = d->memset_d8_async(base + from, 0, n, NULL);
			continue;
		}
		cuda_memory_image(b, base, from, g->staging, n);
		/* Not the asynchronous copy: the staging memory is written again at once. */
		r = d->memcpy_htod(base + from, g->staging, n);
	}
	return r;
}

static uint64_t block_bytes(const struct launch_buffer *b)
{
	uint64_t bytes = b->bytes + (b->align > BLOCK_ALIGN ? b->align : 0);
	uint64_t grain = bytes >= BLOCK_COARSE ? BLOCK_COARSE : BLOCK_ALIGN;

	return (bytes + grain - 1) / grain * grain;
}

static void block_drop(struct cuda_gpu *g, struct cuda_block *k)
{
	if (k->base)
		g->d.mem_free(k->base);
	memset(k, 0, sizeof *k);
}

/* A free slot of the table: an empty one, else the one that was used longest ago. */
static struct cuda_block *block_slot(struct cuda_gpu *g)
{
	struct cuda_block *old = NULL;

	for (int i = 0; i < CUDA_BLOCKS; i++) {
		struct cuda_block *k = &g->blocks[i];
		if (!k->base)
			return k;
		if (!k->used && (!old || k->stamp < old->stamp))
			old = k;
	}
	if (old)
		block_drop(g, old);
	return old;
}

static CUresult block_new(struct cuda_gpu *g, uint64_t bytes, struct cuda_block **out)
{
	struct cuda_block *k = block_slot(g);
	uint64_t idle = 0;
	CUresult r;

	/* What idles must not crowd out the rest of the machine's work: at most an eighth of the memory. */
	for (int i = 0; i < CUDA_BLOCKS; i++)
		idle += g->blocks[i].used ? 0 : g->blocks[i].bytes;
	for (int i = 0; i < CUDA_BLOCKS && idle + bytes > g->info.memory_bytes / 8; i++)
		if (g->blocks[i].base && !g->blocks[i].used) {
			idle -= g->blocks[i].bytes;
			block_drop(g, &g->blocks[i]);
		}
	r = g->d.mem_alloc(&k->base, bytes);
	if ((int)r == RESULT_OUT_OF_MEMORY) {
		for (int i = 0; i < CUDA_BLOCKS; i++)
			if (!g->blocks[i].used && &g->blocks[i] != k)
				block_drop(g, &g->blocks[i]);
		r = g->d.mem_alloc(&k->base, bytes);
	}
	if (r) {
		k->base = 0;
		return r;
	}
	k->bytes = bytes;
	*out = k;
	return CUDA_SUCCESS;
}

static CUresult block_get(struct cuda_gpu *g, const struct launch_buffer *b, uint64_t content, struct cuda_block **out)
{
	uint64_t bytes = block_bytes(b);
	struct cuda_block *found = NULL;
	CUresult r = CUDA_SUCCESS;

	for (int i = 0; i < CUDA_BLOCKS; i++) {
		struct cuda_block *k = &g->blocks[i];
		if (!k->base || k->used || k->bytes != bytes)
			continue;
		/* The right content, else the one used longest ago: recent content is likelier to be wanted again. Its
		 * neighbours differ only a little in size, however, so a pool of equal blocks stays small. */
		if (k->content == content) {
			found = k;
			break;
		}
		if (!found || k->stamp < found->stamp)
			found = k;
	}
	if (!found)
		r = block_new(g, bytes, &found);
	if (!r) {
		found->used = true;
		found->stamp = ++g->stamp;
		*out = found;
	}
	return r;
}

static int constant_fill(struct cuda_gpu *g, struct cuda_kernel *k, const struct launch *l, uint32_t i,
			 CUdeviceptr *address, CUresult *r, struct err *e)
{
	const struct launch_buffer *b = &l->buffers[i];
	uint64_t content = content_hash(b);
	size_t bytes = 0;
	int nomem;

	*r = g->d.module_get_global(address, &bytes, k->module, b->symbol);
	if (*r) {
		*r = CUDA_SUCCESS;
		return err_set(e, -EINVAL, "%s: kernel %s has no constant array %s", l->label, k->name, b->symbol);
	}
	if (b->bytes > bytes)
		return err_set(e, -EINVAL, "%s: constant array %s has %zu bytes, not %llu", l->label, b->symbol, bytes,
			       (unsigned long long)b->bytes);
	if (k->constant_content == content && !strcmp(k->constant_symbol, b->symbol))
		return 0;
	*r = cuda_memory_fill(g, b, *address, &nomem);
	if (nomem)
		return err_nomem(e);
	memcpy(k->constant_symbol, b->symbol, sizeof k->constant_symbol);
	k->constant_content = *r ? 0 : content;
	return 0;
}

int cuda_memory_prepare(struct cuda_gpu *g, struct cuda_kernel *k, const struct launch *l, CUdeviceptr *address,
			CUresult *r, struct err *e)
{
	int code = 0;

	*r = CUDA_SUCCESS;
	for (int i = 0; i < CUDA_BLOCKS; i++)
		g->blocks[i].used = false;
	for (uint32_t i = 0; i < l->buffer_count && !code && !*r; i++) {
		const struct launch_buffer *b = &l->buffers[i];
		struct cuda_block *block;
		int nomem = 0;

		code = launch_check_buffer(l, i, 8, e);
		if (code)
			break;
		if (b->space == BUFFER_CONSTANT) {
			code = constant_fill(g, k, l, i, &address[i], r, e);
			continue;
		}
		if (b->space == BUFFER_HOST) {
			*r = cuda_mapped(g, b, &address[i]);
			continue;
		}
		/* Only what has a content of its own is believed to be still there: a buffer of zeros is where kernels write. */
		bool lasting = !b->output && (b->ring_count || (b->init && b->init_bytes));
		uint64_t content = lasting ? content_hash(b) : 0;
		*r = block_get(g, b, lasting ? content : UINT64_MAX, &block);
		if (*r)
			break;
		uint64_t align = b->align > BLOCK_ALIGN ? b->align : 1;
		address[i] = (block->base + align - 1) & ~(CUdeviceptr)(align - 1);
		if (lasting && block->content == content)
			continue;
		block->content = 0;
		if (b->output || b->as_is)
			continue; /* written before every launch, or by nobody */
		*r = cuda_memory_fill(g, b, address[i], &nomem);
		if (nomem)
			code = err_nomem(e);
		else if (!*r)
			block->content = content;
	}
	return code;
}

void cuda_memory_free(struct cuda_gpu *g)
{
	for (int i = 0; i < CUDA_BLOCKS; i++)
		block_drop(g, &g->blocks[i]);
	if (g->scratch)
		g->d.mem_free(g->scratch);
	if (g->pinned)
		g->d.mem_free_host(g->pinned);
	if (g->ring)
		g->d.mem_free(g->ring);
	g->scratch = g->ring = 0;
	g->ring_bytes = 0;
	g->pinned = NULL;
	g->scratch_bytes = g->pinned_bytes = 0;
}
