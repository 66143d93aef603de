/* Kernels for the tests of func/: text in, words out. */
#ifndef FATHOM_FUNC_FIXTURE_H
#define FATHOM_FUNC_FIXTURE_H
#include "gpu/sim/func/func_run.h"

struct func_fixture {
	struct arena a;
	struct func_memory memory;
	struct func_program *program;
	struct func_region *out, *in; /* 64 KB each; parameters 0 and 1 are their addresses */
	uint32_t grid[3], block[3];
	uint32_t dynamic_shared;
	struct err e;
};

void fixture_open(struct func_fixture *f);
void fixture_close(struct func_fixture *f);
/* Parses and decodes the entry `k` of a module for compute capability cc. */
int fixture_load(struct func_fixture *f, const char *text, int cc);
/* One block of 32 threads unless f->block says otherwise. Fails the test when it does not end well. */
void fixture_run(struct func_fixture *f);
int fixture_try(struct func_fixture *f, struct func_outcome *out);

#define FIXTURE_BYTES 65536u
#define FIXTURE_OUT   0x10000000ull
#define FIXTURE_IN    0x20000000ull
#endif
