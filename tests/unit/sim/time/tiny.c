#include "tiny.h"
#include <string.h>

/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
/* clang-format on */

#define EACH(l, mask)                                                                                                  \
	for (uint32_t rest_ = (mask), l; rest_ && (l = (uint32_t)__builtin_ctz(rest_), true); rest_ &= rest_ - 1)
#define ROW(w, r) ((w)->reg + (size_t)(r)*FUNC_LANES)

static void add(struct func_warp *w, const struct func_inst *i, uint32_t mask)
{
	EACH(l, mask) ROW(w, i->dst)[l] = ROW(w, i->a)[l] + ROW(w, i->b)[l];
}

static void imm(struct func_warp *w, const struct func_inst *i, uint32_t mask)
{
	EACH(l, mask) ROW(w, i->dst)[l] = (uint32_t)i->imm;
}

static void tid(struct func_warp *w, const struct func_inst *i, uint32_t mask)
{
	EACH(l, mask) ROW(w, i->dst)[l] = w->thread + l;
}

static void smid(struct func_warp *w, const struct func_inst *i, uint32_t mask)
{
	EACH(l, mask) ROW(w, i->dst)[l] = w->block->sm;
}

static void read_clock(struct func_warp *w, const struct func_inst *i, uint32_t mask)
{
	EACH(l, mask) ROW(w, i->dst)[l] = (uint32_t)w->clock;
}

static uint8_t *place(struct func_warp *w, const struct func_inst *i, uint32_t l, bool load)
{
	const struct func_launch *k = w->block->launch;
	uint64_t at = ROW(w, i->a)[l] + i->imm;
	uint8_t *p = NULL;
	w->addr[l] = at;
	if (i->space == PTX_GLOBAL || i->space == PTX_TEX) /* an unfiltered texel is a word */
		p = func_global(k->memory, at, 4);
	else if (i->space == PTX_SHARED && at + 4 <= k->shared_bytes)
		p = w->block->shared + at;
	else if (i->space == PTX_CONST && load && at + 4 <= k->constant_bytes)
		p = (uint8_t *)(uintptr_t)k->constant + at;
	if (!p) {
		w->fault = FUNC_FAULT_BOUNDS;
		w->fault_address = at;
		w->fault_lane = (uint8_t)l;
	}
	return p;
}

static void load(struct func_warp *w, const struct func_inst *i, uint32_t mask)
{
	w->texels = 1;
	EACH(l, mask)
	{
		uint8_t *p = place(w, i, l, true);
		if (!p)
			return;
		memcpy(&ROW(w, i->dst)[l], p, 4);
	}
}

static void store(struct func_warp *w, const struct func_inst *i, uint32_t mask)
{
	EACH(l, mask)
	{
		uint8_t *p = place(w, i, l, false);
		if (!p)
			return;
		memcpy(p, &ROW(w, i->b)[l], 4);
	}
}

uint32_t func_targets(struct func_warp *w, const struct func_inst *i, uint32_t mask, uint8_t *target[FUNC_LANES])
{
	uint32_t known = 0;
	EACH(l, mask)
	{
		target[l] = place(w, i, l, false);
		known |= (uint32_t)(target[l] != NULL) << l;
	}
	w->fault = FUNC_FAULT_NONE;
	return known;
}

static void less(struct func_warp *w, const struct func_inst *i, uint32_t mask)
{
	EACH(l, mask)
	{
		uint32_t bit = 1u << l;
		w->pred[i->dst] = (w->pred[i->dst] & ~bit) | (ROW(w, i->a)[l] < ROW(w, i->b)[l] ? bit : 0);
	}
}

func_wide_fn *const func_wide[] = {add, imm, tid, read_clock, load, store, less, smid};

#define ONE(name)                                                                                                      \
	static void name##_one(struct func_warp *w, const struct func_inst *i, unsigned lane)                          \
	{                                                                                                              \
		name(w, i, 1u << lane);                                                                                \
	}
ONE(add)
ONE(imm)
ONE(tid)
ONE(read_clock)
ONE(load)
ONE(store)
ONE(less)
ONE(smid)
func_one_fn *const func_one[] = {add_one, imm_one, tid_one, read_clock_one, load_one, store_one, less_one, smid_one};

bool func_is_private(const struct func_inst *i)
{
	return i->kind == FUNC_ALU;
}

/* ---- accesses in parts ---- */

uint32_t func_access(struct func_warp *w, const struct func_inst *i, uint32_t mask)
{
	EACH(l, mask)
	{
		if (!place(w, i, l, i->kind == FUNC_LOAD))
			return 0;
	}
	return i->space == PTX_GLOBAL ? mask : 0;
}

uint32_t func_access_bytes(const struct func_inst *i)
{
	(void)i;
	return 4;
}

void func_store_data(const struct func_warp *w, const struct func_inst *i, uint32_t mask, uint8_t *data)
{
	EACH(l, mask)
	{
		memcpy(data, &ROW(w, i->b)[l], 4);
		data += 4;
	}
}

void func_load_data(struct func_warp *w, const struct func_inst *i, uint32_t lane, const uint8_t *data)
{
	memcpy(&ROW(w, i->dst)[lane], data, 4);
}

void func_atomic_data(const struct func_warp *w, const struct func_inst *i, uint32_t lane,
		      uint64_t operand[FUNC_ATOMIC_WORDS])
{
	operand[0] = ROW(w, i->b)[lane];
	operand[1] = 0;
}

void func_atomic_do(struct func_warp *w, const struct func_inst *i, uint32_t lane, uint8_t *p,
		    const uint64_t operand[FUNC_ATOMIC_WORDS])
{
	uint32_t old, sum; /* the only one here is add */
	memcpy(&old, p, 4);
	sum = old + (uint32_t)operand[0];
	memcpy(p, &sum, 4);
	ROW(w, i->dst)[lane] = old;
}

/* ---- records ---- */

#define ROWS  32
#define PREDS 4

void tiny_init(struct tiny *t)
{
	memset(t, 0, sizeof *t);
	t->func = (struct func_program){
	    .name = "tiny", .inst = t->inst, .info = t->info, .rows = ROWS, .preds = PREDS, .registers = ROWS};
}

static struct func_inst *next(struct tiny *t, enum tiny_op op, enum func_kind kind, uint16_t ptx_op)
{
	assert_true(t->func.inst_count < TINY_MAX);
	uint32_t n = t->func.inst_count++;
	t->inst[n] = (struct func_inst){.op = (uint16_t)op,
					.kind = (uint8_t)kind,
					.guard = FUNC_NONE,
					.dst = FUNC_NONE,
					.a = FUNC_NONE,
					.b = FUNC_NONE,
					.c = FUNC_NONE};
	t->info[n] = (struct func_info){.ptx_op = ptx_op, .type = PTX_U32, .line = n + 1};
	return &t->inst[n];
}

static uint32_t wire(struct tiny *t, uint16_t dst, uint16_t a, uint16_t b)
{
	uint32_t n = t->func.inst_count - 1;
	struct func_info *i = &t->info[n];
	t->inst[n].dst = dst;
	t->inst[n].a = a;
	t->inst[n].b = b;
	if (a != FUNC_NONE)
		i->read[i->read_count++] = a;
	if (b != FUNC_NONE)
		i->read[i->read_count++] = b;
	if (dst != FUNC_NONE)
		i->write[i->write_count++] = dst;
	return n;
}

static void guard(struct tiny *t, uint16_t p, bool negated)
{
	uint32_t n = t->func.inst_count - 1;
	struct func_info *i = &t->info[n];
	t->inst[n].guard = p;
	if (negated)
		t->inst[n].flags |= FUNC_GUARD_NOT;
	if (p != FUNC_NONE)
		i->read[i->read_count++] = (uint16_t)(ROWS + p);
}

uint32_t tiny_add(struct tiny *t, uint16_t dst, uint16_t a, uint16_t b)
{
	next(t, TINY_ADD, FUNC_ALU, PTX_OP_ADD);
	return wire(t, dst, a, b);
}

uint32_t tiny_mul(struct tiny *t, uint16_t dst, uint16_t a, uint16_t b)
{
	next(t, TINY_ADD, FUNC_ALU, PTX_OP_MUL);
	return wire(t, dst, a, b);
}

uint32_t tiny_imm(struct tiny *t, uint16_t dst, uint64_t value)
{
	next(t, TINY_IMM, FUNC_ALU, PTX_OP_MOV)->imm = value;
	return wire(t, dst, FUNC_NONE, FUNC_NONE);
}

uint32_t tiny_tid(struct tiny *t, uint16_t dst)
{
	next(t, TINY_TID, FUNC_ALU, PTX_OP_MOV);
	return wire(t, dst, FUNC_NONE, FUNC_NONE);
}

uint32_t tiny_smid(struct tiny *t, uint16_t dst)
{
	next(t, TINY_SMID, FUNC_ALU, PTX_OP_MOV);
	return wire(t, dst, FUNC_NONE, FUNC_NONE);
}

uint32_t tiny_clock(struct tiny *t, uint16_t dst)
{
	next(t, TINY_CLOCK, FUNC_CLOCK, PTX_OP_MOV);
	return wire(t, dst, FUNC_NONE, FUNC_NONE);
}

uint32_t tiny_load(struct tiny *t, uint8_t space, uint16_t dst, uint16_t address, uint64_t offset)
{
	struct func_inst *i = next(t, TINY_LOAD, FUNC_LOAD, PTX_OP_LD);
	i->space = space;
	i->bytes = 4;
	i->imm = offset;
	return wire(t, dst, address, FUNC_NONE);
}

uint32_t tiny_store(struct tiny *t, uint8_t space, uint16_t address, uint64_t offset, uint16_t value)
{
	struct func_inst *i = next(t, TINY_STORE, FUNC_STORE, PTX_OP_ST);
	i->space = space;
	i->bytes = 4;
	i->imm = offset;
	return wire(t, FUNC_NONE, address, value);
}

uint32_t tiny_less(struct tiny *t, uint16_t pred, uint16_t a, uint16_t b)
{
	next(t, TINY_LESS, FUNC_ALU, PTX_OP_SETP);
	uint32_t n = wire(t, FUNC_NONE, a, b);
	t->inst[n].dst = pred;
	t->info[n].write[t->info[n].write_count++] = (uint16_t)(ROWS + pred);
	return n;
}

uint32_t tiny_branch(struct tiny *t, uint16_t p, bool negated, uint32_t target, uint32_t join)
{
	struct func_inst *i = next(t, TINY_ADD, FUNC_BRANCH, PTX_OP_BRA);
	i->target = target;
	i->join = join;
	guard(t, p, negated);
	return t->func.inst_count - 1;
}

uint32_t tiny_barrier(struct tiny *t)
{
	next(t, TINY_ADD, FUNC_BARRIER, PTX_OP_BAR_SYNC);
	return t->func.inst_count - 1;
}

uint32_t tiny_exit(struct tiny *t, uint16_t p, bool negated)
{
	next(t, TINY_ADD, FUNC_EXIT, PTX_OP_EXIT);
	guard(t, p, negated);
	return t->func.inst_count - 1;
}

/* ---- a GPU ---- */

static void level(struct cache_spec *c, uint32_t sets, uint32_t ways, uint32_t line, double latency,
		  enum cache_scope scope)
{
	*c = (struct cache_spec){.present = true,
				 .size = (uint64_t)sets * ways * line,
				 .line = line,
				 .sector = line,
				 .ways = ways,
				 .sets = sets,
				 .policy = POLICY_LRU,
				 .mapping = MAP_MODULO,
				 .scope = scope,
				 .latency = latency,
				 .partitions = 1};
}

void tiny_spec(struct sim_spec *s)
{
	*s = (struct sim_spec){.name = "tiny",
			       .file = "tiny.gpu",
			       .sm_count = 4,
			       .sm_per_cluster = 2,
			       .cluster_count = 2,
			       .warp_size = 32,
			       .clock_hz = 1e9,
			       .target = "sm_13",
			       .ptx_version = 14,
			       .cc = 13,
			       .max_threads_per_block = 512,
			       .max_threads_per_sm = 1024,
			       .max_warps_per_sm = 32,
			       .max_blocks_per_sm = 8,
			       .registers_per_sm = 65536,
			       .shared_per_sm = 16384,
			       .shared_per_block = 16384,
			       .constant_bytes = 65536,
			       .memory_bytes = 1u << 30,
			       .schedulers = 1,
			       .scheduler_issue = 4,
			       .clock_native_ops = 1,
			       .clock_op_latency = 10,
			       .clock_issue = 4,
			       .clock_granularity = 1,
			       .clock_scope = SCOPE_GPU,
			       .barrier_latency = 20,
			       .branch_latency = 4,
			       .shared_banks = 16,
			       .shared_bank_width = 4,
			       .shared_conflict_cost = 2,
			       .coalesce_segment = 32};
	s->pipe_count = 2;
	strcpy(s->pipe[0].name, "sp");
	strcpy(s->pipe[1].name, "lsu");
	s->op_count = 2;
	s->op[0] = (struct op_spec){.op = "add",
				    .type = "u32",
				    .present = true,
				    .latency = 10,
				    .throughput = 8,
				    .native_ops = 1,
				    .pipe_count = 1,
				    .pipe = {0},
				    .rate = {8}};
	s->op[1] = (struct op_spec){.op = "mul",
				    .type = "u32",
				    .present = true,
				    .latency = 40,
				    .throughput = 2,
				    .native_ops = 4,
				    .pipe_count = 1,
				    .pipe = {0},
				    .rate = {2}};
	s->shared = (struct path_spec){.memory_latency = 30, .issue = 4, .pipe = 1};
	s->constant = (struct path_spec){.levels = 2, .memory_latency = 400, .issue = 4, .pipe = 1};
	level(&s->constant.level[0], 4, 4, 64, 12, SCOPE_SM);
	level(&s->constant.level[1], 16, 4, 64, 100, SCOPE_CLUSTER);
	s->global = (struct path_spec){.memory_latency = 400, .issue = 4, .pipe = 1};
}

/* The real finder lies in the reader of .gpu files, which this test does without. */
int spec_find_op(const struct sim_spec *s, const char *op, const char *type)
{
	for (uint32_t k = 0; k < s->op_count; k++)
		if (!strcmp(s->op[k].op, op) && !strcmp(s->op[k].type, type))
			return (int)k;
	return -1;
}

void tiny_run(struct tiny_result *r, struct time_gpu *g, const struct sim_spec *s, struct tiny *t, uint32_t grid,
	      uint32_t block, const void *init, uint32_t bytes, const uint32_t *constant, uint32_t constant_words,
	      int how)
{
	struct arena a;
	struct time_program *p;
	arena_init(&a);
	memset(r, 0, sizeof *r);
	assert_int_equal(time_prepare(&p, &a, s, &t->func), 0);
	assert_int_equal(func_memory_add(&r->memory, TINY_OUT, bytes, NULL), 0);
	if (init)
		memcpy(r->memory.region[0].data, init, bytes);
	struct func_launch l = {.grid = {grid, 1, 1},
				.block = {block, 1, 1},
				.shared_bytes = 4096,
				.memory = &r->memory,
				.constant = (const uint8_t *)constant,
				.constant_bytes = constant_words * 4ull};
	struct time_request q = {
	    .program = p, .launch = &l, .limit_ms = 20000, .no_solo = how & TINY_GENERAL, .poll = how & TINY_POLL};
	assert_int_equal(time_launch(g, &q, &r->time), 0);
	r->out = (uint32_t *)r->memory.region[0].data;
	arena_free(&a);
}

void tiny_free(struct tiny_result *r)
{
	func_memory_free(&r->memory);
}

void bench_start(struct bench *b)
{
	assert_int_equal(time_open(&b->g, &b->s, 7), 0);
	tiny_init(&b->t);
	tiny_imm(&b->t, OUT, TINY_OUT);
}

void bench_go(struct bench *b, uint32_t grid, uint32_t block)
{
	tiny_exit(&b->t, FUNC_NONE, false);
	tiny_run(&b->r, b->g, &b->s, &b->t, grid, block, NULL, 4096, NULL, 0, 0);
}

void bench_stop(struct bench *b)
{
	tiny_free(&b->r);
	time_close(b->g);
}

struct cache_spec tiny_level(uint32_t size, uint32_t line, uint32_t sector, uint32_t ways, enum cache_scope scope,
			     double latency)
{
	return (struct cache_spec){.present = true,
				   .size = size,
				   .line = line,
				   .sector = sector,
				   .ways = ways,
				   .sets = size / line / ways,
				   .policy = POLICY_LRU,
				   .scope = scope,
				   .latency = latency,
				   .partitions = 1};
}

void tiny_levels(struct sim_spec *s)
{
	tiny_spec(s);
	s->has_l1 = s->has_l2 = true;
	s->global.levels = 2;
	s->global.level[0] = tiny_level(2048, 128, 32, 4, SCOPE_SM, 28);
	s->global.level[1] = tiny_level(16384, 64, 32, 16, SCOPE_GPU, 200);
}
