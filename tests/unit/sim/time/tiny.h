/* A handful of instructions of its own, so that timing is tested without a decoder: programs are written as records. */
#ifndef FATHOM_TINY_H
#define FATHOM_TINY_H
#include "gpu/sim/spec.h"
#include "gpu/sim/time/time.h"

enum tiny_op { TINY_ADD, TINY_IMM, TINY_TID, TINY_CLOCK, TINY_LOAD, TINY_STORE, TINY_LESS, TINY_SMID, TINY_OPS };

#define TINY_MAX 256
struct tiny {
	struct func_program func;
	struct func_inst inst[TINY_MAX];
	struct func_info info[TINY_MAX];
	uint32_t rows;
};

void tiny_init(struct tiny *t);
/* All append one record and return its index. Rows hold u32; dst is written, a and b read. */
uint32_t tiny_add(struct tiny *t, uint16_t dst, uint16_t a, uint16_t b); /* add.u32 */
uint32_t tiny_mul(struct tiny *t, uint16_t dst, uint16_t a, uint16_t b); /* timed as mul.u32, computes a + b */
uint32_t tiny_imm(struct tiny *t, uint16_t dst, uint64_t value);	 /* mov */
uint32_t tiny_tid(struct tiny *t, uint16_t dst);
uint32_t tiny_smid(struct tiny *t, uint16_t dst);
uint32_t tiny_clock(struct tiny *t, uint16_t dst);
uint32_t tiny_load(struct tiny *t, uint8_t space, uint16_t dst, uint16_t address, uint64_t offset); /* 4 bytes */
uint32_t tiny_store(struct tiny *t, uint8_t space, uint16_t address, uint64_t offset, uint16_t value);
uint32_t tiny_less(struct tiny *t, uint16_t pred, uint16_t a, uint16_t b);
uint32_t tiny_branch(struct tiny *t, uint16_t guard, bool negated, uint32_t target, uint32_t join);
uint32_t tiny_barrier(struct tiny *t);
uint32_t tiny_exit(struct tiny *t, uint16_t guard, bool negated);

/* A GPU with round numbers, of which a test changes what it is about:
 *
 *   clusters     2 of 2 SMs
 *   add          10 cycles, 8 a cycle
 *   mul          four native steps, 40 cycles, 2 a cycle
 *   constant L1  1 KB, of an SM
 *   constant L2  4 KB, of a cluster
 *
 * There is no global cache. */
void tiny_spec(struct sim_spec *s);
struct cache_spec tiny_level(uint32_t size, uint32_t line, uint32_t sector, uint32_t ways, enum cache_scope scope,
			     double latency); /* LRU */
void tiny_levels(struct sim_spec *s); /* the same GPU with an L1 of 2 KB, 28 cycles, and an L2 of 16 KB, 200 cycles */

#define TINY_OUT 0x10000000u
struct tiny_result {
	struct time_result time;
	uint32_t *out;
	struct func_memory memory;
};
/* Runs on an open gpu with `bytes` of global memory at TINY_OUT (after init, when not NULL) and a constant space. */
void tiny_run(struct tiny_result *r, struct time_gpu *g, const struct sim_spec *s, struct tiny *t, uint32_t grid,
	      uint32_t block, const void *init, uint32_t bytes, const uint32_t *constant, uint32_t constant_words,
	      int how);
enum { TINY_GENERAL = 1, TINY_POLL = 2 }; /* last argument: how the engine runs, 0 = as it likes */
void tiny_free(struct tiny_result *r);

/* One kernel on a fresh GPU: fill in s, bench_start, append records, bench_go, look at r, bench_stop. */
#define OUT 20 /* row that holds TINY_OUT */
struct bench {
	struct sim_spec s;
	struct time_gpu *g;
	struct tiny t;
	struct tiny_result r;
};
void bench_start(struct bench *b);
void bench_go(struct bench *b, uint32_t grid, uint32_t block); /* appends the exit */
void bench_stop(struct bench *b);

#endif
