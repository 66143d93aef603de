/* What kernels do that is wrong and that a GPU lets pass. Each line of each kernel is told of once. */
#include "gpu/sim/sim_check.h"
#include "base/arena.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>

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
struct sim_check {
	struct sim_check_owner owner;
	struct func_check hook;
	uint64_t base, bytes;
	uint8_t *written;	   /* a bit for each byte of the GPU's memory */
	struct block_state *block; /* a power of two of them */
	uint32_t block_room, block_count;
	uint64_t launch;
	const void *kernel; /* of the latest launch */
	const char *name;
	bool shared_seen; /* every write of the kernel to shared memory is */
	struct {
		const void *kernel;
		uint32_t line;
		enum fault_kind kind;
	} told[TOLD_MOST];
	uint32_t told_count, wrong;
};

/* ---- what is told ---- */

static bool first_time(struct sim_check *c, enum fault_kind kind, uint32_t line)
{
	c->wrong++;
	for (uint32_t k = 0; k < c->told_count; k++)
		if (c->told[k].kernel == c->kernel && c->told[k].line == line && c->told[k].kind == kind)
			return false;
	if (c->told_count == TOLD_MOST)
		return false;
	c->told[c->told_count].kernel = c->kernel;
	c->told[c->told_count].line = line;
	c->told[c->told_count++].kind = kind;
	return true;
}

static void tell(struct sim_check *c, enum fault_kind kind, const struct func_warp *w, const struct func_info *i,
		 uint32_t lane, const char *what)
{
	const struct func_launch *l = w->block->launch;
	const uint32_t t = w->thread + lane;
	char text[512], line[FUNC_LINE_TEXT];
	if (!first_time(c, kind, i->line))
		return;
	snprintf(text, sizeof text, "kernel %s, %s: %s; thread (%u,%u,%u) of block (%u,%u,%u)", c->name,
		 func_line_text(line, i), what, t % l->block[0], t / l->block[0] % l->block[1],
		 t / l->block[0] / l->block[1], w->block->ctaid[0], w->block->ctaid[1], w->block->ctaid[2]);
	c->owner.say(c->owner.to, text);
}

/* ---- global memory ---- */

/* Sets the bits of [at, at + n), or says whether they all are. */
static bool bits(struct sim_check *c, uint64_t at, uint64_t n, bool set)
{
	uint8_t *map = c->written;
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

void sim_check_written(struct sim_check *c, uint64_t address, uint64_t bytes)
{
	if (c && address - c->base < c->bytes)
		bits(c, address - c->base, bytes, true);
}

void sim_check_fresh(struct sim_check *c, uint64_t address, uint64_t bytes)
{
	if (c && bytes)
		memset(c->written + (address - c->base) / 8, 0, (bytes + 7) / 8);
}

static void global(struct sim_check *c, const struct func_warp *w, const struct func_inst *f, const struct func_info *i,
		   uint32_t lane)
{
	const uint64_t at = w->addr[lane];
	struct sim_check_memory m = {0};
	char what[160];
	if (!c->owner.memory(c->owner.ctx, at, &m)) {
		snprintf(what, sizeof what, "%u bytes at 0x%llx are in no allocation", f->bytes,
			 (unsigned long long)at);
		tell(c, OUTSIDE, w, i, lane, what);
		return;
	}
	if (at - m.base + f->bytes > m.bytes) {
		snprintf(what, sizeof what, "%u bytes at 0x%llx reach beyond their allocation of %llu bytes", f->bytes,
			 (unsigned long long)at, (unsigned long long)m.bytes);
		tell(c, OUTSIDE, w, i, lane, what);
		return;
	}
	if (m.host || at - c->base >= c->bytes)
		return;
	if (f->kind != FUNC_STORE && !bits(c, at - c->base, f->bytes, false)) {
		snprintf(what, sizeof what, "%u bytes at 0x%llx are read and were never written", f->bytes,
			 (unsigned long long)at);
		tell(c, UNWRITTEN, w, i, lane, what);
	}
	if (f->kind != FUNC_LOAD)
		bits(c, at - c->base, f->bytes, true);
}

/* ---- shared memory ---- */

static struct block_state *slot_of(struct sim_check *c, const struct func_block *b)
{
	uint32_t k = (uint32_t)((uintptr_t)b >> 6) * 2654435761u & (c->block_room - 1);
	while (c->block[k].block && c->block[k].block != b)
		k = (k + 1) & (c->block_room - 1);
	return &c->block[k];
}

static bool more_blocks(struct sim_check *c)
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
static struct block_state *state_of(struct sim_check *c, const struct func_block *b)
{
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

/* The warp that touched the byte between the same two barriers, + 1, where one of both writes; 0: none. */
static uint32_t rival(const struct byte *x, uint32_t now, uint32_t me, bool store)
{
	if (x->written == now && x->writer != me)
		return x->writer;
	return store && x->read == now && x->reader != me ? x->reader : 0;
}

/* Threads of one warp are not told apart. What an atomic writes races with nothing, and what the system keeps there is nobody's business. */
static void shared(struct sim_check *c, const struct func_warp *w, const struct func_inst *f, const struct func_info *i,
		   uint32_t lane)
{
	struct block_state *s = state_of(c, w->block);
	const uint32_t warp = w->thread / w->block->launch->warp_size;
	const uint64_t first = w->addr[lane], end = first + f->bytes,
		       system = w->block->launch->program->reserved_bytes;
	if (!s || warp >= s->warps)
		return;
	const uint32_t now = s->barriers[warp] + 1, me = warp + 1;
	const bool store = f->kind == FUNC_STORE, atomic = f->kind == FUNC_ATOMIC;
	for (uint64_t k = first < system ? system : first; k < end && k < s->bytes; k++) {
		struct byte *x = &s->byte[k];
		char what[160];
		if (!store && !x->written && c->shared_seen) {
			snprintf(what, sizeof what, "shared memory at %llu is read and was never written",
				 (unsigned long long)k);
			tell(c, UNWRITTEN, w, i, lane, what);
			return;
		}
		if (!atomic && rival(x, now, me, store)) {
			snprintf(what, sizeof what,
				 "warps %s shared memory at %llu, one of them writes, and no barrier is between",
				 store && x->written != now ? "read and write"
				 : store		    ? "write"
							    : "write and read",
				 (unsigned long long)k);
			tell(c, RACE, w, i, lane, what);
			return;
		}
		if (store) {
			x->writer = me;
			x->written = now;
		} else if (!atomic) {
			x->reader = x->read == now && x->reader != me ? SEVERAL : me;
			x->read = now;
		}
	}
}

static void on_access(void *ctx, const struct func_warp *w, const struct func_inst *f, const struct func_info *i,
		      uint32_t mask)
{
	struct sim_check *c = ctx;
	for (uint32_t rest = mask; rest; rest &= rest - 1) {
		const uint32_t lane = (uint32_t)__builtin_ctz(rest);
		const bool generic = f->space == PTX_GENERIC;
		if (f->space == PTX_GLOBAL || (generic && w->space == PTX_GLOBAL && w->addr[lane] >= FUNC_GLOBAL_BASE))
			global(c, w, f, i, lane);
		else if (f->space == PTX_SHARED || (generic && w->space == PTX_SHARED))
			shared(c, w, f, i, lane);
	}
}

static void on_barrier(void *ctx, const struct func_warp *w)
{
	struct sim_check *c = ctx;
	struct block_state *s = w->block->launch->shared_bytes ? state_of(c, w->block) : NULL;
	const uint32_t warp = w->thread / w->block->launch->warp_size;
	if (s && warp < s->warps)
		s->barriers[warp]++;
}

/* ---- begin and end ---- */

int sim_check_open(struct sim_check **out, const struct sim_check_owner *owner, uint64_t base, uint64_t bytes)
{
	struct sim_check *c = mem_zero(1, sizeof *c);
	if (!c || !(c->written = mem_sparse(bytes / 8 + 1))) {
		mem_free(c);
		return -ENOMEM;
	}
	c->owner = *owner;
	c->hook = (struct func_check){.ctx = c, .access = on_access, .barrier = on_barrier};
	c->base = base;
	c->bytes = bytes;
	*out = c;
	return 0;
}

void sim_check_close(struct sim_check *c)
{
	if (!c)
		return;
	for (uint32_t k = 0; k < c->block_room; k++) {
		mem_free(c->block[k].byte);
		mem_free(c->block[k].barriers);
	}
	mem_free(c->block);
	mem_sparse_free(c->written, c->bytes / 8 + 1);
	mem_free(c);
}

const struct func_check *sim_check_launch(struct sim_check *c, const void *kernel, const struct func_program *p)
{
	if (!c)
		return NULL;
	c->kernel = kernel;
	c->name = p->name;
	c->launch++;
	c->shared_seen = true;
	for (uint32_t k = 0; k < p->inst_count; k++)
		if (p->info[k].ptx_op == PTX_OP_CP || p->info[k].ptx_op == PTX_OP_STMATRIX ||
		    p->info[k].ptx_op == PTX_OP_MAPA)
			c->shared_seen = false;
	return &c->hook;
}

void sim_check_count(const struct sim_check *c, uint32_t *accesses, uint32_t *places)
{
	*accesses = c->wrong;
	*places = c->told_count;
}
