/* Small programs with their own check, over the driver's interface: what each of them needs. */
#ifndef FATHOM_TESTS_PROGRAMS_H
#define FATHOM_TESTS_PROGRAMS_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef uint64_t gpu; /* an address in the GPU's memory */

/* programs.c. A program whose calls fail ends at once. */
gpu to_gpu(const void *data, size_t bytes); /* data NULL: zeros */
void from_gpu(void *data, gpu from, size_t bytes);
/* kernel<<<(gx, gy), (bx, by)>>>(args): pointers to each argument, NULL at the end. */
void go(const char *kernel, unsigned gx, unsigned gy, unsigned bx, unsigned by, ...);
void *all_kernels(void); /* the module of them */
void *function(const char *kernel);
void set_variable(const char *name, const void *data, size_t bytes);
uint32_t number(void); /* the next of a fixed sequence */

struct program {
	const char *name;
	bool (*run)(void); /* whether all is as the host reckons */
};
extern const struct program programs_of_vectors[], programs_of_graphs[], programs_of_calls[], programs_of_captures[],
    programs_of_arrays[], programs_of_recursion[], programs_of_tensors[]; /* end with a name of NULL */

#endif
