/* Addresses and memory apart: a program reserves addresses, makes memory, and maps the one at the other. Reserved addresses have memory here from the
 * beginning; what a program makes keeps its bytes for itself while it is mapped nowhere. */
#include "exec/driver.h"
#include <string.h>

#define GRANULARITY (2ull << 20) /* bytes, what CUDA gives on cards of today */

struct exec_piece { /* of memory that a program made */
	size_t bytes;
	uint64_t at;   /* mapped there; 0: nowhere */
	uint8_t *kept; /* its bytes meanwhile; NULL: zeros */
	bool released;
	struct exec_piece *next;
};
struct exec_range { /* reserved addresses */
	uint64_t begin, taken;
	size_t bytes;
	struct exec_range *next;
};

static bool whole(size_t bytes)
{
	return bytes && bytes % GRANULARITY == 0;
}

EXEC_API CUresult cuMemGetAllocationGranularity(size_t *bytes, const void *how, int option)
{
	(void)option;
	if (!bytes || !how)
		return EXEC_INVALID_VALUE;
	*bytes = GRANULARITY;
	return EXEC_OK;
}

EXEC_API CUresult cuMemAddressReserve(CUdeviceptr *at, size_t bytes, size_t align, CUdeviceptr wish, uint64_t flags)
{
	(void)wish, (void)flags;
	if (!at || !whole(bytes))
		return EXEC_INVALID_VALUE;
	align = align > GRANULARITY ? align : GRANULARITY;
	EXEC_ENTER();
	struct exec_range *r = mem_zero(1, sizeof *r);
	CUresult result = r ? exec_alloc(bytes + align, EXEC_DEVICE, &r->taken) : EXEC_OUT_OF_MEMORY;
	if (result) {
		mem_free(r);
		return exec_leave(result);
	}
	r->begin = *at = (r->taken + align - 1) / align * align;
	r->bytes = bytes;
	r->next = exec_process.ranges;
	exec_process.ranges = r;
	return exec_leave(EXEC_OK);
}

EXEC_API CUresult cuMemAddressFree(CUdeviceptr at, size_t bytes)
{
	EXEC_ENTER();
	struct exec_range **p = &exec_process.ranges;
	while (*p && ((*p)->begin != at || (*p)->bytes != bytes))
		p = &(*p)->next;
	struct exec_range *r = *p;
	if (!r)
		return exec_leave(EXEC_INVALID_VALUE);
	*p = r->next;
	const CUresult result = exec_free(r->taken);
	mem_free(r);
	return exec_leave(result);
}

EXEC_API CUresult cuMemCreate(struct exec_piece **out, size_t bytes, const void *how, uint64_t flags)
{
	(void)flags;
	if (!out || !how || !whole(bytes))
		return EXEC_INVALID_VALUE;
	EXEC_ENTER();
	struct exec_piece *p = mem_zero(1, sizeof *p);
	if (!p)
		return exec_leave(EXEC_OUT_OF_MEMORY);
	p->bytes = bytes;
	p->next = exec_process.pieces;
	exec_process.pieces = *out = p;
	return exec_leave(EXEC_OK);
}

static struct exec_piece **place_of(const struct exec_piece *p)
{
	struct exec_piece **at = &exec_process.pieces;
	while (*at && *at != p)
		at = &(*at)->next;
	return at;
}

/* Goes when nobody has it any more. */
static void drop(struct exec_piece *p)
{
	if (!p->released || p->at)
		return;
	*place_of(p) = p->next;
	mem_free(p->kept);
	mem_free(p);
}

EXEC_API CUresult cuMemRelease(struct exec_piece *p)
{
	EXEC_ENTER();
	if (!p || !*place_of(p) || p->released)
		return exec_leave(EXEC_INVALID_VALUE);
	p->released = true;
	drop(p);
	return exec_leave(EXEC_OK);
}

EXEC_API CUresult cuMemMap(CUdeviceptr at, size_t bytes, size_t offset, struct exec_piece *p, uint64_t flags)
{
	(void)flags;
	EXEC_ENTER();
	const struct exec_range *r = exec_process.ranges;
	while (r && (at < r->begin || at - r->begin >= r->bytes || bytes > r->bytes - (at - r->begin)))
		r = r->next;
	if (!r || !p || !*place_of(p) || offset || bytes != p->bytes || at % GRANULARITY)
		return exec_leave(EXEC_INVALID_VALUE);
	if (p->at)
		exec_unserved("cuMemMap", "one piece of memory at two addresses is not modelled");
	p->at = at;
	uint8_t *to = exec_at(at, bytes);
	if (p->kept)
		memcpy(to, p->kept, bytes);
	else
		memset(to, 0, bytes);
	mem_free(p->kept);
	p->kept = NULL;
	exec_written(at, bytes);
	return exec_leave(EXEC_OK);
}

EXEC_API CUresult cuMemUnmap(CUdeviceptr at, size_t bytes)
{
	EXEC_ENTER();
	CUresult result = EXEC_INVALID_VALUE;
	for (struct exec_piece *p = exec_process.pieces, *next; p; p = next) {
		next = p->next;
		if (!p->at || p->at < at || p->at - at >= bytes || p->bytes > bytes - (p->at - at))
			continue;
		result = EXEC_OK;
		if (!p->released) {
			p->kept = mem_alloc(p->bytes);
			if (!p->kept)
				return exec_leave(EXEC_OUT_OF_MEMORY);
			memcpy(p->kept, exec_at(p->at, p->bytes), p->bytes);
		}
		p->at = 0;
		drop(p);
	}
	return exec_leave(result);
}

/* There is one GPU, and it may do all. */
EXEC_API CUresult cuMemSetAccess(CUdeviceptr at, size_t bytes, const void *who, size_t count)
{
	(void)at, (void)bytes;
	return who && count ? EXEC_OK : EXEC_INVALID_VALUE;
}
