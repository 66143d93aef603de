/* kernels.txt as launches: one configuration a line, with its buffers filled as the line says. */
#ifndef SILICON_LIST_H
#define SILICON_LIST_H
#include "base/arena.h"
#include "gpu/gpu.h"

#define SILICON_TIMES_WORDS 8 /* that a block writes: begin and end, in nanoseconds and in cycles, low words first */

struct silicon_case {
	char name[64], kernel[64]; /* kernel: DIR/kernels/KERNEL.ptx, whose entry has the same name */
	struct launch launch;	   /* buffer 0 holds the times */
};

/* What is done with one configuration: 0, or negative with a sentence. */
typedef int silicon_run(struct gpu *g, const char *dir, struct silicon_case *c, struct err *e);
/* Runs the named lines of DIR/kernels.txt, or all, each with so many repeats, on one device that it opens. A `begin`
 * that is not NULL is called first. The content of buffers is the same for every device. Failures are said on standard
 * error. Returns the exit code, which is 1 as well if a name is no line's. */
int silicon_each(const char *device, const char *dir, char **names, int count, uint32_t repeats,
		 void (*begin)(const struct device_info *d), silicon_run *run);
/* The PTX of a kernel, or NULL with a sentence: mem_free. */
char *silicon_text(const char *dir, const char *kernel, struct err *e);
uint32_t silicon_blocks(const struct silicon_case *c);

#endif
