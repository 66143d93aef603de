/* kernels.txt as launches: one configuration a line, with its buffers filled as the line says. */
#ifndef SILICON_LIST_H
#define SILICON_LIST_H
#include "base/arena.h"
#include "data/launch.h"

#define SILICON_TIMES_WORDS 8 /* that a block writes: begin and end, in nanoseconds and in cycles, low words first */

struct silicon_case {
	char name[64], kernel[64]; /* kernel: DIR/kernels/KERNEL.ptx, whose entry has the same name */
	struct launch launch;	   /* buffer 0 holds the times */
};

/* Reads one line. sm_count: what SM stands for. Content of buffers lies in the arena and is the same for every device. Returns 1 for a
 * line without a configuration, 0, or -EINVAL or -ENOMEM with a sentence that names the line's number. */
int silicon_read(struct silicon_case *c, char *line, unsigned number, uint32_t sm_count, struct arena *a,
		 struct err *e);
/* The PTX of a kernel, or NULL with a sentence: mem_free. */
char *silicon_text(const char *dir, const char *kernel, struct err *e);
uint32_t silicon_blocks(const struct silicon_case *c);

#endif
