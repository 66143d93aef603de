/* Reads back what the hardware really executes. Pure: image bytes in, counts out. */
#ifndef FATHOM_NATIVE_H
#define FATHOM_NATIVE_H
#include "base/err.h"
#include "data/native_record.h"
#include <stddef.h>

/* Decodes a linked NVIDIA image (ELF cubin) and fills *out for the entry. Never fails the run: what cannot be read is said in
 * out->problem. Volta and later: 16-byte instructions, low 12 bits the opcode; older: problem says that it is not decoded. */
void native_read_cubin(struct native_info *out, const void *image, size_t bytes, const char *entry, int cc);

/* The same record of the PTX that a vendor's compiler hands out when it keeps the machine's code to itself. It is
 * `bytes` of text, not necessarily ended by a 0. Never fails the run. */
void native_read_ptx(struct native_info *out, const char *text, size_t bytes, const char *entry, const char *source);

/* Same record from a list of instructions: for backends that know theirs. layout.code_bytes is the caller's to fill. */
struct native_op {
	const char *name;
	enum native_class cls;
	uint32_t address; /* bytes from the entry's first instruction */
};
void native_count(struct native_info *out, const struct native_op *ops, size_t n, const char *source);

#endif
