/* Every function of an OpenCL loader that the program calls, as a jump to the real one, whatever its arguments are. Weak, so that
 * those of fake_opencl.c count instead. */
#include "fake_opencl.h"
#include <stddef.h>

#define CL_SYMBOL(member, symbol)                                                                                      \
	__attribute__((visibility("hidden"))) void *real_##member;                                                     \
	__asm__(".text\n.weak " #symbol "\n.type " #symbol ", @function\n" #symbol ":\n\tjmp *real_" #member           \
		"(%rip)\n");
#include "gpu/opencl/opencl_symbols.def"
#undef CL_SYMBOL

const struct fake_jump fake_jumps[] = {
#define CL_SYMBOL(member, symbol) {#symbol, &real_##member},
#include "gpu/opencl/opencl_symbols.def"
#undef CL_SYMBOL
    {NULL, NULL}};
