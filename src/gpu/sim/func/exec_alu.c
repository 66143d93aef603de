/* The elementwise operations: for each line of exec_alu.def a loop over 32 lanes that the compiler turns into vectors, and
 * the same for one lane. */
#include "exec.h"
#include <float.h>
#include <math.h>
#include <string.h>

/* The choice of a clone runs before the sanitizers are ready, so they get the plain version. */
#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(memory_sanitizer) || __has_feature(thread_sanitizer)
#define FUNC_NO_CLONES
#endif
#endif
#if defined(__x86_64__) && defined(__gnu_linux__) && !defined(__SANITIZE_ADDRESS__) &&                                 \
    !defined(__SANITIZE_THREAD__) && !defined(__SANITIZE_THREAD__) && !defined(FUNC_NO_CLONES)
#if !defined(__clang__) && __GNUC__ < 12 /* knows the levels by their first processors only */
#define CLONES __attribute__((target_clones("arch=skylake-avx512", "arch=haswell", "default")))
#else
#define CLONES __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#endif
#else
#define CLONES
#endif
#define INLINE static inline __attribute__((always_inline))
#if defined(__clang__)
#define LANES_APART _Pragma("clang loop vectorize(assume_safety)")
#else
#define LANES_APART _Pragma("GCC ivdep")
#endif

/* What a lane of a kind is in its row, as a value, and how it goes back. */
typedef uint32_t row_u16, row_s16, row_u32, row_s32;
typedef uint64_t row_u64, row_s64;
typedef float row_f32;
typedef double row_f64;
typedef uint16_t val_u16, out_u16, out_s16;
typedef int16_t val_s16;
typedef uint32_t val_u32, out_u32, out_s32;
typedef int32_t val_s32;
typedef uint64_t val_u64, out_u64, out_s64;
typedef int64_t val_s64;
typedef float val_f32, out_f32;
typedef double val_f64, out_f64;

INLINE float from_bits(uint32_t u)
{
	float f;
	memcpy(&f, &u, sizeof f);
	return f;
}

INLINE uint32_t to_bits(float f)
{
	uint32_t u;
	memcpy(&u, &f, sizeof u);
	return u;
}

INLINE float nan32(float v)
{
	return v != v ? from_bits(FUNC_NAN32) : v;
}

/* Subnormal to zero of the same sign. */
INLINE float flush(float v)
{
	uint32_t u = to_bits(v);
	return from_bits((u & 0x7f800000u) ? u : u & 0x80000000u);
}

/* Flushes as the hardware does (seen on an H200): what is too small before it is rounded. Rounding might have made a
 * normal number of it. */
INLINE float flush_exact(float v, double exact)
{
	uint32_t u = to_bits(v);
	return from_bits(exact > -0x1p-126 && exact < 0x1p-126 ? u & 0x80000000u : u);
}

INLINE int32_t clamp_s32(int64_t v)
{
	return (int32_t)(v > INT32_MAX ? INT32_MAX : v < INT32_MIN ? INT32_MIN : v);
}

INLINE uint64_t low24(uint32_t v)
{
	return v & 0xffffffu;
}

INLINE int64_t slow24(int32_t v)
{
	return (int32_t)((uint32_t)v << 8) >> 8;
}

INLINE uint32_t reverse32(uint32_t v)
{
	v = (v >> 1 & 0x55555555u) | (v & 0x55555555u) << 1;
	v = (v >> 2 & 0x33333333u) | (v & 0x33333333u) << 2;
	v = (v >> 4 & 0x0f0f0f0fu) | (v & 0x0f0f0f0fu) << 4;
	return __builtin_bswap32(v);
}

/* The multiply-add of compute capability 1.x keeps 24 bits of the product, towards zero, before it adds. The product of
 * two floats is exact in a double. What a float has no room for is cut off there, which needs no branch. */
INLINE float truncated_product(float x, float y)
{
	const double exact = (double)x * y;
	uint64_t u;
	double cut;
	memcpy(&u, &exact, sizeof u);
	u &= ~(uint64_t)0 << (DBL_MANT_DIG - FLT_MANT_DIG);
	memcpy(&cut, &u, sizeof cut);
	return flush_exact((float)cut, exact);
}

/* A NaN loses against a number; -0 is less than +0. */
INLINE float min_f32(float x, float y)
{
	float less = x < y || (x == y && signbit(x)) ? x : y;
	return nan32(x != x ? y : y != y ? x : less);
}

INLINE float max_f32(float x, float y)
{
	float more = x > y || (x == y && signbit(y)) ? x : y;
	return nan32(x != x ? y : y != y ? x : more);
}

INLINE double min_f64(double x, double y)
{
	double less = x < y || (x == y && signbit(x)) ? x : y;
	return x != x ? y : y != y ? x : less;
}

INLINE double max_f64(double x, double y)
{
	double more = x > y || (x == y && signbit(y)) ? x : y;
	return x != x ? y : y != y ? x : more;
}

/* A half in the low bits to a float, exactly. Scaling by 2^112 moves the exponent and makes subnormals normal. */
INLINE float widen(uint32_t h)
{
	float v = from_bits((h & 0x7fff) << 13) * 0x1p112f;
	uint32_t bits = to_bits(v) | ((h & 0x7c00) == 0x7c00 ? 0x7f800000u : 0);
	return from_bits(bits | (h & 0x8000) << 16);
}

/* To the nearest half, ties to even; every NaN becomes the one pattern. */
INLINE uint32_t narrow(float v)
{
	uint32_t bits = to_bits(v), a = bits & 0x7fffffffu;
	/* normal: the exponent moves by 112; half of the last bit less one, and the last bit itself, decide a tie */
	uint32_t normal = (a - (112u << 23) + 0xfff + (a >> 13 & 1)) >> 13;
	/* below 2^-14: adding 1/2 leaves multiples of 2^-24 in the last bits, rounded as every sum is */
	uint32_t small = to_bits(from_bits(a) + 0.5f) - 0x3f000000u;
	uint32_t h = a < 0x38800000u ? small : a >= 0x47800000u ? 0x7c00 : normal;
	return a > 0x7f800000u ? FUNC_NAN16 : h | (bits >> 16 & 0x8000);
}

/* 24 bits are twice 11 and two more: rounding a sum or a product first to them changes nothing. */
INLINE uint32_t half_add(uint32_t x, uint32_t y)
{
	return narrow(widen(x) + widen(y));
}

INLINE uint32_t half_mul(uint32_t x, uint32_t y)
{
	return narrow(widen(x) * widen(y));
}

/* The product is exact. The sum is made odd where it is not, so that the second rounding does not see a tie. */
INLINE uint32_t half_fma(uint32_t x, uint32_t y, uint32_t z)
{
	float p = widen(x) * widen(y), c = widen(z), sum = p + c, part = sum - p;
	float error = (p - (sum - part)) + (c - part);
	uint32_t bits = to_bits(sum), inexact = error < 0 || error > 0; /* not when the sum is infinite or no number */
	uint32_t away = (error > 0) == (sum > 0) ? 1 : UINT32_MAX;
	return narrow(from_bits(inexact && !(bits & 1) ? bits + away : bits));
}

/* Rows are the same or apart, never shifted against each other, so lanes do not depend on each other. */
#define LOOP(mask, body)                                                                                               \
	if ((mask) == UINT32_MAX) {                                                                                    \
		LANES_APART for (unsigned l = 0; l < FUNC_LANES; l++)                                                  \
		{                                                                                                      \
			body;                                                                                          \
			d[l] = v;                                                                                      \
		}                                                                                                      \
	} else {                                                                                                       \
		LANES_APART for (unsigned l = 0; l < FUNC_LANES; l++)                                                  \
		{                                                                                                      \
			body;                                                                                          \
			d[l] = (mask) >> l & 1 ? v : d[l];                                                             \
		}                                                                                                      \
	}

#define HANDLERS(name, D, operands, value)                                                                             \
	CLONES void exec_wide_##name(struct func_warp *w, const struct func_inst *i, uint32_t mask)                    \
	{                                                                                                              \
		row_##D *d = (row_##D *)exec_row(w, i->dst);                                                           \
		operands;                                                                                              \
		LOOP(mask, value)                                                                                      \
	}                                                                                                              \
	void exec_one_##name(struct func_warp *w, const struct func_inst *i, unsigned l)                               \
	{                                                                                                              \
		row_##D *d = (row_##D *)exec_row(w, i->dst);                                                           \
		operands;                                                                                              \
		value;                                                                                                 \
		d[l] = v;                                                                                              \
	}

#define ROW(r, K, field) const row_##K *r = (const row_##K *)exec_row(w, i->field)
#define VALUE(D, expr)	 row_##D v = (row_##D)(out_##D)(expr)

#define UN(name, D, A, expr) HANDLERS(name, D, ROW(a, A, a), val_##A x = (val_##A)a[l]; VALUE(D, expr))
#define BI(name, D, A, B, expr)                                                                                        \
	HANDLERS(name, D, ROW(a, A, a); ROW(b, B, b), val_##A x = (val_##A)a[l]; val_##B y = (val_##B)b[l];            \
		 VALUE(D, expr))
#define TRI(name, D, A, B, C, expr)                                                                                    \
	HANDLERS(name, D, ROW(a, A, a); ROW(b, B, b); ROW(c, C, c), val_##A x = (val_##A)a[l];                         \
		 val_##B y = (val_##B)b[l]; val_##C z = (val_##C)c[l]; VALUE(D, expr))
#define CMP(name, A, expr)                                                                                             \
	CLONES void exec_wide_##name(struct func_warp *w, const struct func_inst *i, uint32_t mask)                    \
	{                                                                                                              \
		ROW(a, A, a);                                                                                          \
		ROW(b, A, b);                                                                                          \
		uint32_t m = 0;                                                                                        \
		for (unsigned l = 0; l < FUNC_LANES; l++) {                                                            \
			val_##A x = (val_##A)a[l], y = (val_##A)b[l];                                                  \
			m |= (uint32_t)(expr) << l;                                                                    \
		}                                                                                                      \
		exec_put_pred(w, i->dst, mask, m);                                                                     \
	}                                                                                                              \
	void exec_one_##name(struct func_warp *w, const struct func_inst *i, unsigned l)                               \
	{                                                                                                              \
		ROW(a, A, a);                                                                                          \
		ROW(b, A, b);                                                                                          \
		val_##A x = (val_##A)a[l], y = (val_##A)b[l];                                                          \
		exec_put_pred(w, i->dst, 1u << l, (uint32_t)(expr) << l);                                              \
	}
#include "exec_alu.def"
