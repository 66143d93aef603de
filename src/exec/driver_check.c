/* --check: what a program's kernels do that is wrong and that a GPU lets pass. Each line of each kernel is told of once. */
#include "exec/driver.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TOLD_MOST 100 /* sentences */
enum fault_kind { OUTSIDE, UNWRITTEN, RACE, FAULT_KINDS };

#define SEVERAL UINT32_MAX /* warps */
struct byte { /* of a block's shared memory: who touched it last, warp + 1, and after how many barriers, + 1 */
	uint32_t writer, reader, written, read;
};
struct block_state {
	const struct func_block *block; /* NULL: free */
	uint32_t ctaid[3];
	uint64_t launch;
	uint32_t bytes, warps;
	struct byte *byte;
	uint32_t *barriers; /* that each warp has come to */
};
struct exec_check {
	uint8_t *written; /* a bit for each byte of the GPU's memory */
	uint64_t bytes;
	struct block_state *block; /* a power of two of them */
	uint32_t block_room, block_count;
	uint64_t launch;
	const struct CUfunc_st *function;
	struct {
		const struct CUfunc_st *function;
		uint32_t line;
		enum fault_kind kind;
	} told[TOLD_MOST];
	uint32_t told_count, wrong;
};

static struct exec_check *check(void)
{
	return exec_process.check;
}

/* ---- what is told ---- */

static bool first_time(struct exec_check *c, enum fault_kind kind, uint32_t line)
{
	c->wrong++;
	for (uint32_t k = 0; k < c->told_count; k++)
		if (c->told[k].function == c->function && c->told[k].line == line && c->told[k].kind == kind)
			return false;
	if (c->told_count == TOLD_MOST)
		return false;
	c->told[c->told_count].function = c->function;
	c->told[c->told_count].line = line;
	c->told[c->told_count++].kind = kind;
	return true;
}

static void tell(enum fault_kind kind, const struct func_warp *w, const struct func_info *i, uint32_t lane,
		 const char *what)
{
	struct exec_check *c = check();
	const struct func_launch *l = w->block->launch;
	const uint32_t t = w->thread + lane;
	if (first_time(c, kind, i->line))
		exec_say("check: kernel %s, line %u: %s; thread (%u,%u,%u) of block (%u,%u,%u)", c->function->name,
			 i->line, what, t % l->block[0], t / l->block[0] % l->block[1], t / l->block[0] / l->block[1],
			 w->block->ctaid[0], w->block->ctaid[1], w->block->ctaid[2]);
}

/* ---- global memory ---- */

/* Sets the bits of [at, at + n), or says whether they all are. */
static bool bits(uint64_t at, uint64_t n, bool set)
{
	uint8_t *map = check()->written;
	for (uint64_t k = at; k < at + n;) {
		if (k % 8 == 0 && at + n - k >= 8) {
			if (set)
				map[k / 8] = 0xff;
			else if (map[k / 8] != 0xff)
				return false;
			k += 8;
			continue;
		}
		if (set)
			map[k / 8] |= (uint8_t)(1u << k % 8);
		else if (!(map[k / 8] >> k % 8 & 1))
			return false;
		k++;
	}
	return true;
}

void exec_check_written(uint64_t address, uint64_t bytes)
{
	if (check() && exec_is_device(address))
		bits(address - EXEC_BASE, bytes, true);
}

void exec_check_fresh(uint64_t address, uint64_t bytes)
{
	if (check() && bytes)
		memset(check()->written + (address - EXEC_BASE) / 8, 0, (bytes + 7) / 8);
}

static void global(const struct func_warp *w, const struct func_inst *f, const struct func_info *i, uint32_t lane)
{
	const uint64_t at = w->addr[lane];
	char what[160];
	if (!exec_is_device(at)) /* registered host memory */
		return;
	const struct exec_block *b = exec_block_of(at);
	if (!b || at - b->base + f->bytes > b->bytes) {
		if (b)
			snprintf(what, sizeof what, "%u bytes at 0x%llx reach beyond their allocation of %llu bytes",
				 f->bytes, (unsigned long long)at, (unsigned long long)b->bytes);
		else
			snprintf(what, sizeof what, "%u bytes at 0x%llx are in no allocation", f->bytes,
				 (unsigned long long)at);
		tell(OUTSIDE, w, i, lane, what);
		return;
	}
	/* What the host writes to its own and to managed memory is not seen. */
	if (f->kind != FUNC_STORE && b->kind == EXEC_DEVICE && !bits(at - EXEC_BASE, f->bytes, false)) {
		snprintf(what, sizeof what, "%u bytes at 0x%llx are read and were never written", f->bytes,
			 (unsigned long long)at);
		tell(UNWRITTEN, w, i, lane, what);
	}
	if (f->kind != FUNC_LOAD)
		bits(at - EXEC_BASE, f->bytes, true);
}

/* ---- shared memory ---- */

static struct block_state *slot_of(struct exec_check *c, const struct func_block *b)
{
	uint32_t k = (uint32_t)((uintptr_t)b >> 6) * 2654435761u & (c->block_room - 1);
	while (c->block[k].block && c->block[k].block != b)
		k = (k + 1) & (c->block_room - 1);
	return &c->block[k];
}

static bool more_blocks(struct exec_check *c)
{
	if (c->block_room && c->block_count * 2 < c->block_room)
		return true;
	struct block_state *old = c->block;
	const uint32_t room = c->block_room;
	struct block_state *more = mem_zero(room ? room * 2 : 64, sizeof *more);
	if (!more)
		return false;
	c->block = more;
	c->block_room = room ? room * 2 : 64;
	for (uint32_t k = 0; k < room; k++)
		if (old[k].block)
			*slot_of(c, old[k].block) = old[k];
	mem_free(old);
	return true;
}

/* Of the block that sits in this memory now. NULL: out of memory, and races go unseen. */
static struct block_state *state_of(const struct func_block *b)
{
	struct exec_check *c = check();
	const struct func_launch *l = b->launch;
	const uint32_t bytes = l->shared_bytes;
	const uint32_t warps = (l->block[0] * l->block[1] * l->block[2] + l->warp_size - 1) / l->warp_size;
	if (!more_blocks(c))
		return NULL;
	struct block_state *s = slot_of(c, b);
	if (s->block && s->launch == c->launch && !memcmp(s->ctaid, b->ctaid, sizeof s->ctaid))
		return s;
	c->block_count += !s->block;
	s->block = b;
	s->launch = c->launch;
	memcpy(s->ctaid, b->ctaid, sizeof s->ctaid);
	if (s->bytes < bytes || s->warps < warps) {
		mem_free(s->byte);
		mem_free(s->barriers);
		s->byte = mem_alloc((bytes + 1) * sizeof *s->byte);
		s->barriers = mem_alloc((warps + 1) * sizeof *s->barriers);
		s->bytes = bytes;
		s->warps = warps;
	}
	if (!s->byte || !s->barriers) {
		s->bytes = s->warps = 0;
		return NULL;
	}
	memset(s->byte, 0, s->bytes * sizeof *s->byte);
	memset(s->barriers, 0, s->warps * sizeof *s->barriers);
	return s;
}

/* Two warps between the same two barriers, one of which writes. Threads of one warp are not told apart. */
static void shared(const struct func_warp *w, const struct func_inst *f, const struct func_info *i, uint32_t lane)
{
	struct block_state *s = state_of(w->block);
	const uint32_t warp = w->thread / w->block->launch->warp_size;
	const uint64_t first = w->addr[lane], end = first + f->bytes;
	if (!s || warp >= s->warps || f->kind == FUNC_ATOMIC)
		return;
	const uint32_t now = s->barriers[warp] + 1, me = warp + 1;
	for (uint64_t k = first; k < end && k < s->bytes; k++) {
		struct byte *x = &s->byte[k];
		const bool store = f->kind == FUNC_STORE;
		const uint32_t other = x->written == now && x->writer != me	    ? x->writer
				       : store && x->read == now && x->reader != me ? x->reader
										    : 0;
		if (other) {
			char what[160];
			snprintf(what, sizeof what,
				 "warps %s shared memory at %llu, one of them writes, and no barrier is between",
				 store && x->written != now ? "read and write"
				 : store		    ? "write"
							    : "write and read",
				 (unsigned long long)k);
			tell(RACE, w, i, lane, what);
			return;
		}
		if (store) {
			x->writer = me;
			x->written = now;
		} else {
			x->reader = x->read == now && x->reader != me ? SEVERAL : me;
			x->read = now;
		}
	}
}

static void on_access(void *ctx, const struct func_warp *w, const struct func_inst *f, const struct func_info *i,
		      uint32_t mask)
{
	(void)ctx;
	for (uint32_t rest = mask; rest; rest &= rest - 1) {
		const uint32_t lane = (uint32_t)__builtin_ctz(rest);
		const bool generic = f->space == PTX_GENERIC;
		if (f->space == PTX_GLOBAL || (generic && w->space == PTX_GLOBAL && w->addr[lane] >= FUNC_GLOBAL_BASE))
			global(w, f, i, lane);
		else if (f->space == PTX_SHARED || (generic && w->space == PTX_SHARED))
			shared(w, f, i, lane);
	}
}

static void on_barrier(void *ctx, const struct func_warp *w)
{
	(void)ctx;
	struct block_state *s = w->block->launch->shared_bytes ? state_of(w->block) : NULL;
	const uint32_t warp = w->thread / w->block->launch->warp_size;
	if (s && warp < s->warps)
		s->barriers[warp]++;
}

/* ---- begin and end ---- */

const struct time_check *exec_check_launch(const struct CUfunc_st *f)
{
	static const struct time_check hook = {.access = on_access, .barrier = on_barrier};
	if (!check())
		return NULL;
	check()->function = f;
	check()->launch++;
	return &hook;
}

static void at_exit(void)
{
	const struct exec_heap *h = &exec_process.heap;
	uint64_t left = 0, bytes = 0;
	for (size_t k = 0; k < h->count; k++)
		if (!h->block[k].module) {
			left++;
			bytes += h->block[k].bytes;
		}
	if (left)
		exec_say("check: %llu allocations of %llu bytes were never freed", (unsigned long long)left,
			 (unsigned long long)bytes);
	exec_say("check: %u accesses of kernels are wrong, at %u places", check()->wrong, check()->told_count);
}

void exec_check_open(void)
{
	const uint64_t bytes = exec_process.memory.region[0].size;
	if (!getenv("FATHOM_EXEC_CHECK"))
		return;
	struct exec_check *c = mem_zero(1, sizeof *c);
	if (c)
		c->written = mem_sparse(bytes / 8 + 1);
	if (!c || !c->written || atexit(at_exit)) {
		exec_say("out of memory for --check");
		_exit(EXEC_EXIT);
	}
	c->bytes = bytes;
	exec_process.check = c;
}
