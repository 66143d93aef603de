/* Floating-point arithmetic without rounding, and the rounding of what comes out in any way: what a unit's results are laid beside. */
#ifndef FATHOM_EXACT_FLOAT_H
#define FATHOM_EXACT_FLOAT_H
#include <stdbool.h>
#include <stdint.h>

struct float_format {
	int digits;	  /* of a significand, the leading one included: 24 */
	int least, most;  /* exponents of normal numbers: -126, 127 */
	unsigned storage; /* bits: 32 */
};
extern const struct float_format format_f16, format_f32, format_f64;

enum exact_kind { EXACT_FINITE, EXACT_INFINITE, EXACT_NAN };
/* significand x 2^exponent, and a little more where `more`: less than 1 in the last place of the significand, which is long enough then. */
struct exact {
	enum exact_kind kind;
	bool negative, more;
	unsigned __int128 significand;
	int exponent;
};

enum rounding { ROUND_NEAREST, ROUND_AWAY, ROUND_ZERO, ROUND_UP, ROUND_DOWN, ROUNDINGS };
extern const char *const rounding_names[ROUNDINGS];

struct exact exact_of(const struct float_format *f, uint64_t bits);
struct exact exact_of_integer(int64_t v);
struct exact exact_add(struct exact a, struct exact b);
struct exact exact_multiply(struct exact a, struct exact b);
struct exact exact_divide(struct exact a, struct exact b);
struct exact exact_root(struct exact a);
/* Bits of the format; overflow as IEEE 754 has it, NaN as one pattern. */
uint64_t exact_round(const struct float_format *f, struct exact x, enum rounding r);
int64_t exact_integer(struct exact x, enum rounding r); /* of a number that fits */

bool float_is_nan(const struct float_format *f, uint64_t bits);
bool float_is_subnormal(const struct float_format *f, uint64_t bits); /* and not zero */
uint64_t float_flushed(const struct float_format *f, uint64_t bits);  /* a subnormal number is a zero of its sign */
/* Whether the number is nearer to zero than every normal one, and no zero. */
bool exact_is_small(const struct float_format *f, struct exact x);

#endif
