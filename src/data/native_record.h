/* What the hardware really executes: counted from the compiled image, region by region. A region is the straight run of
 * native instructions from one clock read to the next in program order. A kernel that reads no clock is one region. */
#ifndef FATHOM_NATIVE_RECORD_H
#define FATHOM_NATIVE_RECORD_H
#include <stdint.h>

enum native_class {
	NATIVE_ALU, /* arithmetic, logic, conversion, moves: register in, register out */
	NATIVE_LOAD_GLOBAL,
	NATIVE_LOAD_SHARED,
	NATIVE_LOAD_CONST,
	NATIVE_LOAD_LOCAL,
	NATIVE_TEXTURE,
	NATIVE_STORE,
	NATIVE_ATOMIC,
	NATIVE_BRANCH, /* branch, call, return, reconvergence instructions that transfer control */
	NATIVE_BARRIER,
	NATIVE_CLOCK,
	NATIVE_OTHER,	/* no-ops, scoreboard waits, reconvergence markers */
	NATIVE_UNKNOWN, /* an opcode the table does not know */
	NATIVE_CLASSES
};
const char *native_class_name(enum native_class c); /* "alu" "load.global" ... */

struct native_region {
	uint32_t total; /* instructions strictly between the two clock reads */
	uint32_t count[NATIVE_CLASSES];
	uint32_t top_count; /* occurrences of the most frequent opcode */
	char mix[192];	    /* most frequent first: "FFMA*128 MOV*2" */
};

/* How the code lies, in bytes from the entry's first instruction: the longest run of evenly spaced clock reads. Code
 * that was written to lie in equal pieces shows so that it does. */
struct native_layout {
	uint32_t code_bytes; /* of the whole entry, padding excluded; 0 = the backend does not say */
	uint32_t first, step,
	    reads; /* of the run: where it begins, from one to the next, how many; reads 0: there is none */
};

#define NATIVE_REGIONS 8
struct native_info {
	uint64_t fingerprint;  /* hash of the kernel's native code; 0 when it could not be read back */
	uint32_t instructions; /* of the whole entry, padding excluded */
	uint32_t registers;    /* per thread, 0 unknown */
	uint32_t clock_reads;
	uint32_t region_count; /* the first NATIVE_REGIONS regions */
	struct native_region region[NATIVE_REGIONS];
	struct native_layout layout;
	char source[32]; /* "cubin sm_90", "sim"; "" when there is none */
	char problem
	    [192]; /* why what runs could not be read or decoded; "" when fine. Regions are those of what could be read instead */
};

#endif
