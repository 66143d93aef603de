/* The tables of the special function unit: a quadratic interpolation, in integers (Nickolls and Kirk, B.6).
 *
 * The upper bits of a significand choose three coefficients, the lower bits x give c0 + c1 x + c2 x^2. How many bits choose, how wide the
 * words are, and how much of x^2 is kept, says the description. */
#ifndef FATHOM_SFU_H
#define FATHOM_SFU_H
#include <stdbool.h>
#include <stdint.h>

enum sfu_function { SFU_RCP, SFU_RSQRT, SFU_EX2, SFU_LG2, SFU_SIN, SFU_FUNCTIONS };
extern const char *const sfu_names[SFU_FUNCTIONS];

/* Bits: of the segment's number, of the coefficients, and of x^2, counted from its top; square 0: all of them. */
struct sfu_words {
	uint8_t index, c0, c1, c2, square;
};
/* What the words are where a description does not say: with them come the numbers of Nickolls and Kirk, Figure B.6.1. */
extern const struct sfu_words sfu_published[SFU_FUNCTIONS];
#define SFU_INDEX_LEAST 4
#define SFU_INDEX_MOST	7

struct sfu_coefficients {
	int32_t c0, c1, c2;
};
struct sfu_table {
	uint8_t low;		/* bits of x */
	uint8_t shift0, shift1; /* what brings c0 and c1 x to the weight of c2 x^2 */
	uint8_t scale;		/* which is 2^-scale */
	uint8_t dropped;	/* lowest bits of x^2 that are cut off */
	struct sfu_coefficients c[1 << SFU_INDEX_MOST];
};

/* Reciprocal roots and roots have one table for even exponents and one for odd ones. sin has an argument in quarters of a turn. */
enum sfu_table_name {
	SFU_TABLE_RCP,
	SFU_TABLE_RSQRT_LOW,
	SFU_TABLE_RSQRT_HIGH,
	SFU_TABLE_SQRT_LOW,
	SFU_TABLE_SQRT_HIGH,
	SFU_TABLE_EX2,
	SFU_TABLE_LG2,
	SFU_TABLE_SIN,
	SFU_TABLE_TANH,
	SFU_TABLES
};
struct sfu {
	struct sfu_table table[SFU_TABLES];
};
void sfu_build(struct sfu *out, const struct sfu_words words[SFU_FUNCTIONS]);

static inline int64_t sfu_interpolate(const struct sfu_table *t, uint32_t x)
{
	const struct sfu_coefficients *k = &t->c[x >> t->low];
	int64_t n = x & ((1u << t->low) - 1), square = n * n >> t->dropped << t->dropped;
	return ((int64_t)k->c0 << t->shift0) + k->c1 * n * ((int64_t)1 << t->shift1) + k->c2 * square;
}

/* The sum as an integer of weight 2^-bits, to nearest. */
static inline int64_t sfu_rounded(const struct sfu_table *t, uint32_t x, int bits)
{
	int drop = t->scale - bits;
	return (sfu_interpolate(t, x) + ((int64_t)1 << (drop - 1))) >> drop;
}

/* What the words make of a function over Figure B.6.1's interval, without running every argument. */
struct sfu_accuracy {
	double good_bits;   /* of the largest absolute error */
	double max_ulp;	    /* of a result; 0 for lg2 and sin, whose results come near 0 */
	double exact_ratio; /* share of results rounded correctly; 0 likewise */
};
bool sfu_steps_back(const struct sfu *s, enum sfu_function f);
struct sfu_accuracy sfu_accuracy(const struct sfu *s, enum sfu_function f);

#endif
