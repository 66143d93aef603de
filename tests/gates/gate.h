/* The gates of a simulated GPU: small kernels, run directly, give back what the description says. No probe takes part. */
#ifndef FATHOM_TEST_GATES_H
#define FATHOM_TEST_GATES_H
#include "base/str.h"
#include "gpu/sim/sim.h"
#include <stdint.h>

#define GATE_LATENCY   (1 + 1e-9) /* cycles; 1e-9 absorbs the rounding of decimal fractions */
#define GATE_BANDWIDTH 0.05	  /* of the plateau */

struct gate {
	const char *gpu;
	const struct sim_spec *s; /* without noise */
	unsigned checks, failures;
	bool broken; /* a kernel did not run: said already */
	bool off;    /* the GPU that runs is not quite the one described: every gate has to notice */
};

/* One value against the description: |value - truth| <= tolerance. What is wrong is printed. */
void gate_check(struct gate *g, const char *what, double value, double truth, double tolerance);

/* A launch of `text` (its entry is called k) on a fresh GPU with description s. The output is buffer 0 and the first
 * argument, and has `words` words. Returns the cycles of the launch, or 0 if it did not run. */
struct gate_launch {
	const struct sim_spec *s;
	const char *text;
	uint32_t grid, block;
	uint32_t words;
	const uint64_t *ring; /* elements of a pointer chase; the second argument is its first element's address */
	uint32_t ring_count;
	uint64_t bytes;	 /* of the second buffer, when it has one */
	bool texture;	 /* the ring is a texture of 32-bit texels, whose handle is the second argument */
	bool constant;	 /* the ring fills the module's .const variable, called ring; no argument */
	uint32_t arg[4]; /* further arguments */
	uint32_t args;
	uint32_t native; /* comes back: native instructions of the kernel */
};
uint64_t gate_run(struct gate *g, struct gate_launch *l, uint32_t *out);

/* The head of a kernel: version, target, entry and its parameters; `args` further ones of 32 bits called a0, a1, ... */
void gate_head(struct str *t, const struct sim_spec *s, bool ring, uint32_t args, const char *before);
/* Ends a text that counts %r4 down at PASS, with the clock in %r0, and runs it in one block; frees the text. Returns the cycles of the
 * last pass, -1 where it did not run. */
double gate_third_pass(struct gate *g, const struct sim_spec *s, struct str *t, uint32_t threads);

/* ---- a pointer chase of one thread: cyc over n elements, `stride` bytes apart and `skew` more each ---- */
enum gate_path { GATE_CONSTANT, GATE_GLOBAL, GATE_GLOBAL_L2 /* loads that skip the L1 */, GATE_TEXTURE };
struct gate_ring {
	enum gate_path path;
	uint64_t n, stride, skew;
	uint32_t laps; /* before what is measured */
};
/* Mean cycles of one load, address operations included, over one lap; n is a multiple of 32. < 0: did not run. */
double gate_chase(struct gate *g, const struct sim_spec *s, const struct gate_ring *r);
/* Loads of one lap that took more than `limit` cycles, clock reads not counted. < 0: did not run. */
double gate_slow(struct gate *g, const struct sim_spec *s, const struct gate_ring *r, double limit);

void gates_arithmetic(struct gate *g);
void gates_shared(struct gate *g);
void gates_core(struct gate *g);
void gates_caches(struct gate *g);
void gates_translation(struct gate *g);
void gates_fetch(struct gate *g);
void gates_bandwidth(struct gate *g);

#endif
