/* Loads and stores: bytes only. Addresses are left in w->addr for time/. */
#include "exec.h"
#include "gpu/sim/func/func_lanes.h"
#include <string.h>

#define INLINE static inline __attribute__((always_inline))

static uint8_t *fault(struct func_warp *w, uint32_t lane, uint64_t address, enum func_fault kind)
{
	w->fault = (uint8_t)kind;
	w->fault_lane = (uint8_t)lane;
	w->fault_address = address;
	return NULL;
}

/* The generic address space: windows of the small spaces, everything else global. */
INLINE int split_generic(uint64_t *address)
{
	static const struct {
		uint64_t base;
		int space;
	} windows[] = {{FUNC_SHARED_WINDOW, PTX_SHARED},
		       {FUNC_LOCAL_WINDOW, PTX_LOCAL},
		       {FUNC_CONST_WINDOW, PTX_CONST},
		       {FUNC_PARAM_WINDOW, PTX_PARAM}};
	for (size_t k = 0; k < sizeof windows / sizeof *windows; k++)
		if (*address - windows[k].base < FUNC_WINDOW_BYTES) {
			*address -= windows[k].base;
			return windows[k].space;
		}
	return PTX_GLOBAL;
}

INLINE bool inside(uint64_t address, uint64_t bytes, uint64_t size)
{
	return bytes <= size && address <= size - bytes;
}

/* Bytes of the warp's local memory, whose pieces get what earlier launches left when they are first touched. */
static uint8_t *local(struct func_warp *w, const struct func_program *p, uint64_t at, unsigned bytes)
{
	uint8_t *touched = w->local + func_local_pieces(p) * FUNC_LOCAL_PIECE;
	for (uint64_t k = at / FUNC_LOCAL_PIECE; k <= (at + bytes - 1) / FUNC_LOCAL_PIECE; k++) {
		if (__builtin_expect(touched[k], 1))
			continue;
		memset(w->local + k * FUNC_LOCAL_PIECE, FUNC_LOCAL_LEFT, FUNC_LOCAL_PIECE);
		touched[k] = 1;
	}
	return w->local + at;
}

/* Of the block that the address names, or of the warp's own. NULL: it has not begun, has ended, or has no such byte. */
static uint8_t *shared(const struct func_warp *w, uint64_t address, unsigned bytes, bool write)
{
	const uint64_t size = w->block->launch->shared_bytes, at = address % FUNC_RANK_BYTES,
		       rank = address / FUNC_RANK_BYTES - 1;
	if (__builtin_expect(inside(address, bytes, size), 1))
		return w->block->shared + address;
	if (rank >= FUNC_CLUSTER_MOST || !inside(at, bytes, size) || !w->block->cluster->block[rank])
		return NULL;
	w->block->cluster->block[rank]->shared_changed |= write;
	return w->block->cluster->block[rank]->shared + at;
}

/* The first lane's space becomes w->space. Lanes in global memory tell it for all, and so does a fault, as that is what
 * is asked about then. */
uint8_t *exec_find(struct func_warp *w, int space, uint32_t lane, uint64_t address, unsigned bytes, bool write)
{
	const struct func_launch *k = w->block->launch;
	uint64_t whole = address;
	uint8_t *p = NULL;
	if (space == PTX_GENERIC)
		space = split_generic(&address);
	w->addr[lane] = address;
	if (w->space == PTX_GENERIC || space == PTX_GLOBAL)
		w->space = (uint8_t)space;
	if (address & (bytes - 1)) {
		w->space = (uint8_t)space;
		return fault(w, lane, whole, FUNC_FAULT_ALIGN);
	}
	switch (space) {
	case PTX_GLOBAL:
		p = func_global(k->memory, address, bytes);
		break;
	case PTX_SHARED:
		p = shared(w, address, bytes, write);
		break;
	case PTX_LOCAL:
		if (inside(address, bytes, k->program->local_bytes))
			p = local(w, k->program, k->program->local_bytes * lane + address, bytes);
		break;
	case PTX_PARAM:
		if (inside(address, bytes, k->program->param_bytes) && !write)
			p = (uint8_t *)k->params + address; /* only read */
		break;
	default:
		if (inside(address, bytes, k->constant_bytes) && !write)
			p = (uint8_t *)k->constant + address; /* only read */
		break;
	}
	if (p)
		return p;
	w->space = (uint8_t)space;
	return fault(w, lane, whole, FUNC_FAULT_BOUNDS);
}

/* ---- frames ---- */

static void move_bytes(void *reg, uint8_t *frame, unsigned bytes, bool pop)
{
	memcpy(pop ? reg : frame, pop ? frame : reg, bytes);
}

static void move_frame(struct func_warp *w, const struct func_inst *i, uint32_t lane, uint8_t *at, bool pop)
{
	const struct func_program *p = w->block->launch->program;
	for (uint32_t k = 0; k < i->more[1]; k++) {
		const uint16_t row = p->many[i->more[0] + k];
		const unsigned bytes = p->wide[row] ? 8 : 4;
		move_bytes((uint8_t *)(w->reg + (size_t)row * FUNC_LANES) + (size_t)lane * bytes, at, bytes, pop);
		at += bytes;
	}
	for (uint32_t k = 0; k < i->more[3]; k++) {
		uint32_t *pred = &w->pred[i->more[2] + k], bit = 1u << k % 32, word;
		memcpy(&word, at + k / 32 * 4, sizeof word);
		if (pop)
			*pred = (*pred & ~(1u << lane)) | (uint32_t)((word & bit) != 0) << lane;
		word = *pred >> lane & 1 ? word | bit : word & ~bit;
		memcpy(at + k / 32 * 4, &word, sizeof word);
	}
}

static void frame(struct func_warp *w, const struct func_inst *i, uint32_t mask, bool pop)
{
	const struct func_program *p = w->block->launch->program;
	const uint64_t before = (uint32_t)i->imm, saved = i->imm >> 32;
	EACH_LANE(l, mask)
	{
		uint64_t *stack = (uint64_t *)(void *)(w->reg + (size_t)i->a * FUNC_LANES) + l;
		if (pop)
			*stack -= before + saved;
		if (!inside(*stack, before + saved + (pop ? 0 : p->frame_bytes), p->local_bytes)) {
			fault(w, l, p->local_bytes, FUNC_FAULT_STACK);
			return;
		}
		move_frame(w, i, l, local(w, p, p->local_bytes * l + *stack + before, (unsigned)saved), pop);
		if (!pop)
			*stack += before + saved;
	}
}

void exec_wide_push(struct func_warp *w, const struct func_inst *i, uint32_t mask)
{
	frame(w, i, mask, false);
}
EXEC_FORWARD(push)

void exec_wide_pop(struct func_warp *w, const struct func_inst *i, uint32_t mask)
{
	frame(w, i, mask, true);
}
EXEC_FORWARD(pop)

void exec_wide_alloca(struct func_warp *w, const struct func_inst *i, uint32_t mask)
{
	const uint64_t align = i->more[0];
	EACH_LANE(l, mask)
	{
		uint64_t *top = exec_row64(w, i->b) + l, place = (*top + align - 1) & -align;
		const uint64_t size = exec_get(w, i->a, i->more[1], l);
		if (place > i->imm || size > i->imm - place) {
			fault(w, l, w->block->launch->program->local_bytes, FUNC_FAULT_STACK);
			return;
		}
		*top = place + size;
		exec_put(w, i->dst, i->more[1], l, place);
	}
}
EXEC_FORWARD(alloca)

/* An element as it is in memory, in a register of `width` bytes: signed types are extended. */
INLINE uint64_t element(const uint8_t *p, unsigned bytes, bool is_signed, unsigned width)
{
	uint64_t v = exec_read_bytes(p, bytes);
	if (is_signed && bytes < width) {
		unsigned up = 64 - bytes * 8;
		v = (uint64_t)((int64_t)(v << up) >> up);
		if (width < 8)
			v &= (1ull << (width * 8)) - 1;
	}
	return v;
}

/* What a register of 32 bits begins is counted in 32 bits: compilers write -8 + 8. */
static uint64_t address_of(const struct func_warp *w, const struct func_inst *i, unsigned code, uint32_t lane)
{
	const uint64_t a = exec_get(w, i->a, code & MEM_ADDRESS_64, lane) + i->imm;
	return code & MEM_ADDRESS_64 ? a : (uint32_t)a;
}

/* Of one element, of 1, 2 or 4. */
INLINE unsigned element_bytes(const struct func_inst *i, unsigned n)
{
	return i->bytes >> (n >> 1);
}

static void put_elements(struct func_warp *w, const struct func_inst *i, unsigned code, uint32_t lane, const uint8_t *p)
{
	unsigned n = code >> MEM_COUNT_SHIFT & 7, width = code >> MEM_WIDTH_SHIFT & 15, bytes = element_bytes(i, n);
	bool is_signed = code & MEM_SIGNED;
	for (unsigned k = 0; k < n; k++) {
		uint16_t row = k ? i->more[k - 1] : i->dst;
		if (row != FUNC_NONE)
			exec_put(w, row, width == 8, lane, element(p + k * bytes, bytes, is_signed, width));
	}
}

void exec_wide_load(struct func_warp *w, const struct func_inst *i, uint32_t mask)
{
	unsigned code = i->more[3];
	w->space = i->space;
	EACH_LANE(l, mask)
	{
		const uint8_t *p = exec_find(w, i->space, l, address_of(w, i, code, l), i->bytes, false);
		if (!p)
			return;
		put_elements(w, i, code, l, p);
	}
}
EXEC_FORWARD(load)

void exec_wide_store(struct func_warp *w, const struct func_inst *i, uint32_t mask)
{
	unsigned code = i->more[3], n = code >> MEM_COUNT_SHIFT & 7, width = code >> MEM_WIDTH_SHIFT & 15;
	unsigned bytes = element_bytes(i, n);
	uint8_t order[FUNC_LANES], *to[FUNC_LANES];
	w->space = i->space;
	EACH_LANE(l, mask)
	{
		to[l] = exec_find(w, i->space, l, address_of(w, i, code, l), i->bytes, true);
		if (!to[l])
			return;
	}
	const unsigned lanes = func_store_order(mask, i->bytes, order);
	for (unsigned at = 0; at < lanes; at++)
		for (unsigned k = 0; k < n; k++)
			exec_write_bytes(to[order[at]] + k * bytes, bytes,
					 exec_get(w, k ? i->more[k - 1] : i->b, width == 8, order[at]));
}
EXEC_FORWARD(store)

/* cp.async: done at once, so its groups have nothing to wait for but time. Bytes beyond those that are read become 0. */
static void copy_lane(struct func_warp *w, const struct func_inst *i, uint32_t lane, const uint8_t *data)
{
	uint64_t to = exec_get(w, i->b, i->more[0], lane) + i->more[1];
	uint32_t take = i->c == FUNC_NONE ? i->bytes : exec_row(w, i->c)[lane];
	to -= to - FUNC_SHARED_WINDOW < FUNC_WINDOW_BYTES ? FUNC_SHARED_WINDOW : 0;
	uint8_t *p = to & (i->bytes - 1u) ? NULL : shared(w, to, i->bytes, true);
	if (!p) {
		w->fault_space = PTX_SHARED;
		fault(w, lane, to, to & (i->bytes - 1u) ? FUNC_FAULT_ALIGN : FUNC_FAULT_BOUNDS);
		return;
	}
	take = take < i->bytes ? take : i->bytes;
	w->block->shared_changed = true;
	if (take && data)
		memcpy(p, data, take);
	memset(p + take, 0, i->bytes - take);
}

void exec_wide_copy(struct func_warp *w, const struct func_inst *i, uint32_t mask)
{
	w->space = i->space;
	EACH_LANE(l, mask)
	{
		uint64_t address = address_of(w, i, i->more[3], l);
		const uint8_t *p = NULL;
		if (i->c == FUNC_NONE || exec_row(w, i->c)[l])
			p = exec_find(w, i->space, l, address, i->bytes, false);
		else
			w->addr[l] = address;
		if (!w->fault)
			copy_lane(w, i, l, p);
		if (w->fault)
			return;
	}
}
EXEC_FORWARD(copy)

void exec_wide_mbarrier(struct func_warp *w, const struct func_inst *i, uint32_t mask)
{
	w->space = i->space;
	EACH_LANE(l, mask)
	{
		uint8_t *p = exec_find(w, i->space, l, address_of(w, i, i->more[2], l), 8, true);
		if (!p)
			return;
		exec_barrier_lane(w, i, l, p);
	}
}
EXEC_FORWARD(mbarrier)

/* The parameter block; nothing of it is an access to memory, and all lanes read the same. */
void exec_wide_load_param(struct func_warp *w, const struct func_inst *i, uint32_t mask)
{
	unsigned code = i->more[3], n = code >> MEM_COUNT_SHIFT & 7, width = code >> MEM_WIDTH_SHIFT & 15;
	const uint8_t *p = w->block->launch->params + i->imm;
	bool is_signed = code & MEM_SIGNED;
	unsigned bytes = element_bytes(i, n);
	for (unsigned k = 0; k < n; k++) {
		uint16_t row = k ? i->more[k - 1] : i->dst;
		if (row == FUNC_NONE)
			continue;
		uint64_t v = element(p + k * bytes, bytes, is_signed, width);
		if (width == 8) {
			func_spread_64(exec_row64(w, row), mask, v);
		} else {
			func_spread_32(exec_row(w, row), mask, (uint32_t)v);
		}
	}
}
EXEC_FORWARD(load_param)

/* ---- the common cases: one element as wide as its register ---- */

/* The one region that the accesses of all lanes lie in, each aligned: then nothing has to be looked up lane by lane. Else NULL.
 * *run: the lanes are all there and follow each other. */
INLINE const struct func_region *one_region(struct func_warp *w, const struct func_inst *i, uint32_t mask,
					    unsigned bytes, bool *run)
{
	const uint64_t *a = exec_row64(w, i->a);
	uint64_t some = a[__builtin_ctz(mask)] + i->imm;
	struct func_memory *m = w->block->launch->memory;
	if (__builtin_expect(!func_global(m, some, bytes), 0))
		return NULL;
	const struct func_region *r = &m->region[m->last];
	struct func_spread s = {.base = r->base, .bytes = bytes};
	func_lanes_add(w->addr, a, mask, some, i->imm);
	func_lanes(w->addr, UINT32_MAX, &s);
	*run = mask == UINT32_MAX && !s.skew;
	return !((some | s.apart) & (bytes - 1)) && r->size >= bytes && s.far <= r->size - bytes ? r : NULL;
}

INLINE void plain_load(struct func_warp *w, const struct func_inst *i, uint32_t mask, unsigned bytes)
{
	bool run;
	const struct func_region *r = one_region(w, i, mask, bytes, &run);
	uint8_t *d = (uint8_t *)exec_row(w, i->dst);
	if (!r) {
		exec_wide_load(w, i, mask);
		return;
	}
	w->space = PTX_GLOBAL;
	if (run) {
		memcpy(d, r->data + (w->addr[0] - r->base), (size_t)bytes * FUNC_LANES);
		return;
	}
	EACH_LANE(l, mask)
	{
		memcpy(d + l * bytes, r->data + (w->addr[l] - r->base), bytes);
	}
}

INLINE void plain_load_one(struct func_warp *w, const struct func_inst *i, unsigned l, unsigned bytes)
{
	uint64_t address = exec_row64(w, i->a)[l] + i->imm;
	const uint8_t *p = address & (bytes - 1) ? NULL : func_global(w->block->launch->memory, address, bytes);
	if (__builtin_expect(!p, 0)) {
		exec_one_load(w, i, l);
		return;
	}
	w->addr[l] = address;
	w->space = PTX_GLOBAL;
	memcpy((uint8_t *)exec_row(w, i->dst) + l * bytes, p, bytes);
}

void exec_wide_ld_global_32(struct func_warp *w, const struct func_inst *i, uint32_t mask)
{
	plain_load(w, i, mask, 4);
}

void exec_one_ld_global_32(struct func_warp *w, const struct func_inst *i, unsigned l)
{
	plain_load_one(w, i, l, 4);
}

void exec_wide_ld_global_64(struct func_warp *w, const struct func_inst *i, uint32_t mask)
{
	plain_load(w, i, mask, 8);
}

void exec_one_ld_global_64(struct func_warp *w, const struct func_inst *i, unsigned l)
{
	plain_load_one(w, i, l, 8);
	func_global_ahead(w->block->launch->memory, exec_row64(w, i->dst)[l]);
}

void exec_wide_st_global_32(struct func_warp *w, const struct func_inst *i, uint32_t mask)
{
	bool run;
	const struct func_region *r = one_region(w, i, mask, 4, &run);
	const uint32_t *b = exec_row(w, i->b);
	if (!r) {
		exec_wide_store(w, i, mask);
		return;
	}
	w->space = PTX_GLOBAL;
	if (run) {
		memcpy(r->data + (w->addr[0] - r->base), b, 4 * FUNC_LANES);
		return;
	}
	for (uint32_t rest = mask; rest;) { /* func_store_order */
		const uint32_t l = 31u - (uint32_t)__builtin_clz(rest);
		memcpy(r->data + (w->addr[l] - r->base), &b[l], 4);
		rest &= ~(1u << l);
	}
}

void exec_one_st_global_32(struct func_warp *w, const struct func_inst *i, unsigned l)
{
	exec_one_store(w, i, l);
}

INLINE void small_load(struct func_warp *w, const struct func_inst *i, uint32_t mask, int space, const uint8_t *base,
		       uint64_t size)
{
	const bool wide = i->more[3] & MEM_ADDRESS_64;
	const uint64_t some = exec_get(w, i->a, wide, (uint32_t)__builtin_ctz(mask)) + i->imm;
	uint32_t *d = exec_row(w, i->dst);
	struct func_spread s = {.bytes = 4};
	if (wide)
		func_lanes_add(w->addr, exec_row64(w, i->a), mask, some, i->imm);
	else
		func_lanes_add_32(w->addr, exec_row(w, i->a), mask, some, i->imm);
	func_lanes(w->addr, UINT32_MAX, &s);
	if (__builtin_expect((some | s.apart) & 3 || !inside(s.far, 4, size), 0)) {
		exec_wide_load(w, i, mask);
		return;
	}
	w->space = (uint8_t)space;
	if (!s.apart) {
		uint32_t v;
		memcpy(&v, base + some, 4);
		func_spread_32(d, mask, v);
		return;
	}
	if (mask == UINT32_MAX && !s.skew) {
		memcpy(d, base + some, 4 * FUNC_LANES);
		return;
	}
	EACH_LANE(l, mask)
	{
		memcpy(&d[l], base + w->addr[l], 4);
	}
}

INLINE void small_load_one(struct func_warp *w, const struct func_inst *i, unsigned l, int space, const uint8_t *base,
			   uint64_t size)
{
	const uint64_t address = exec_get(w, i->a, i->more[3] & MEM_ADDRESS_64, l) + i->imm;
	if (__builtin_expect((address & 3) || !inside(address, 4, size), 0)) {
		exec_one_load(w, i, l);
		return;
	}
	w->addr[l] = address;
	w->space = (uint8_t)space;
	memcpy(exec_row(w, i->dst) + l, base + address, 4);
}

void exec_wide_ld_shared_32(struct func_warp *w, const struct func_inst *i, uint32_t mask)
{
	small_load(w, i, mask, PTX_SHARED, w->block->shared, w->block->launch->shared_bytes);
}

void exec_one_ld_shared_32(struct func_warp *w, const struct func_inst *i, unsigned l)
{
	small_load_one(w, i, l, PTX_SHARED, w->block->shared, w->block->launch->shared_bytes);
}

void exec_wide_ld_const_32(struct func_warp *w, const struct func_inst *i, uint32_t mask)
{
	small_load(w, i, mask, PTX_CONST, w->block->launch->constant, w->block->launch->constant_bytes);
}

void exec_one_ld_const_32(struct func_warp *w, const struct func_inst *i, unsigned l)
{
	small_load_one(w, i, l, PTX_CONST, w->block->launch->constant, w->block->launch->constant_bytes);
}

/* ---- atomics: lanes in ascending order ---- */
void exec_wide_atomic(struct func_warp *w, const struct func_inst *i, uint32_t mask)
{
	unsigned code = i->more[2], bytes = ptx_type_bytes((enum ptx_type)i->more[1]);
	w->space = i->space;
	EACH_LANE(l, mask)
	{
		uint64_t operand[FUNC_ATOMIC_WORDS];
		uint8_t *p = exec_find(w, i->space, l, address_of(w, i, code, l), bytes, true);
		if (!p)
			return;
		func_atomic_data(w, i, l, operand);
		func_atomic_do(w, i, l, p, operand);
	}
}
EXEC_FORWARD(atomic)

uint32_t func_targets(struct func_warp *w, const struct func_inst *i, uint32_t mask, uint8_t *target[FUNC_LANES])
{
	unsigned code = i->kind == FUNC_ATOMIC ? i->more[2] : i->more[3];
	uint32_t known = 0;
	w->space = i->space;
	EACH_LANE(l, mask)
	{
		target[l] = exec_find(w, i->space, l, address_of(w, i, code, l), i->bytes, true);
		known |= (uint32_t)(target[l] != NULL) << l;
	}
	w->fault = FUNC_FAULT_NONE;
	return known;
}

/* ---- the same in parts ---- */

uint32_t func_access_bytes(const struct func_inst *i)
{
	return i->kind == FUNC_ATOMIC ? ptx_type_bytes((enum ptx_type)i->more[1]) : i->bytes;
}

/* All lanes lie in one region and are aligned: then they are global, and nothing has to be asked lane by lane. */
static bool plain_access(struct func_warp *w, const struct func_inst *i, unsigned code, uint32_t mask, unsigned bytes)
{
	bool run;
	return i->space == PTX_GLOBAL && code & MEM_ADDRESS_64 && one_region(w, i, mask, bytes, &run);
}

uint32_t func_access(struct func_warp *w, const struct func_inst *i, uint32_t mask)
{
	unsigned code = i->kind == FUNC_ATOMIC ? i->more[2] : i->more[3], bytes = func_access_bytes(i);
	uint32_t global = 0;
	w->space = i->space;
	if (plain_access(w, i, code, mask, bytes))
		return mask;
	EACH_LANE(l, mask)
	{
		uint64_t address = address_of(w, i, code, l);
		int space = i->space;
		if (space == PTX_GENERIC) {
			uint64_t within = address;
			space = split_generic(&within);
		}
		if (!exec_find(w, i->space, l, address, bytes, i->kind != FUNC_LOAD))
			return 0;
		global |= (uint32_t)(space == PTX_GLOBAL) << l;
	}
	return global;
}

void func_store_data(const struct func_warp *w, const struct func_inst *i, uint32_t mask, uint8_t *data)
{
	unsigned code = i->more[3], n = code >> MEM_COUNT_SHIFT & 7, width = code >> MEM_WIDTH_SHIFT & 15;
	unsigned bytes = ptx_type_bytes((enum ptx_type)(code & MEM_TYPE));
	if (n == 1 && bytes == 4 && width != 8 && mask == UINT32_MAX) {
		memcpy(data, exec_row(w, i->b), sizeof(uint32_t) * FUNC_LANES);
		return;
	}
	EACH_LANE(l, mask)
	{
		for (unsigned k = 0; k < n; k++)
			exec_write_bytes(data + k * bytes, bytes,
					 exec_get(w, k ? i->more[k - 1] : i->b, width == 8, l));
		data += i->bytes;
	}
}

void func_load_data(struct func_warp *w, const struct func_inst *i, uint32_t lane, const uint8_t *data)
{
	if (i->op == EXEC_copy)
		copy_lane(w, i, lane, data);
	else
		put_elements(w, i, i->more[3], lane, data);
}
