/* The operations that are asked, and their operands. Private to the probe. */
#ifndef FATHOM_FLOAT_ROWS_H
#define FATHOM_FLOAT_ROWS_H
#include "data/device.h"
#include "exact_float.h"

#define FLOAT_ROUNDS 20 /* compute capability x 10 from which operations say how they round */

enum float_does { DOES_ADD, DOES_MULTIPLY, DOES_MULTIPLY_ADD, DOES_DIVIDE, DOES_ROOT, DOES_CONVERT };
enum float_needs { NEEDS_NOTHING, NEEDS_FMA, NEEDS_F64, NEEDS_F16, NEEDS_ROUNDING };
struct float_row {
	const char *name; /* float.NAME.rounding */
	const char *op;	  /* PTX; %s is .rn where operations say so */
	enum float_does does;
	unsigned arity;
	const struct float_format *from, *to; /* NULL: s32 */
	const char *from_type, *to_type, *load, *store;
	unsigned storage; /* bits of the result */
	enum float_needs needs;
};
extern const struct float_row float_rows[];
extern const unsigned float_row_count;

bool float_row_runs(const struct float_row *row, const struct device_info *d);
/* Operands number i of a row: three words of which the first `arity` count. The same for the same seed. */
void float_operands(const struct float_row *row, uint64_t seed, unsigned i, uint64_t operand[3]);

#endif
