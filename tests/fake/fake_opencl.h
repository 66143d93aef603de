#ifndef FATHOM_TESTS_FAKE_OPENCL_H
#define FATHOM_TESTS_FAKE_OPENCL_H

struct fake_jump {
	const char *name;
	void **to;
};
extern const struct fake_jump fake_jumps[]; /* up to one without a name */

#endif
