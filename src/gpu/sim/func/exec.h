/* What the decoder and the handlers agree on. Nothing outside src/gpu/sim/func includes this. */
#ifndef FATHOM_EXEC_H
#define FATHOM_EXEC_H
#include "gpu/sim/func/func.h"
#include <string.h>

enum exec_op {
#define UN(name, ...)	EXEC_##name,
#define BI(name, ...)	EXEC_##name,
#define TRI(name, ...)	EXEC_##name,
#define CMP(name, ...)	EXEC_##name,
#define SLOW(name, ...) EXEC_##name,
#include "exec_alu.def"
#include "exec_slow.def"
#undef UN
#undef BI
#undef TRI
#undef CMP
#undef SLOW
	EXEC_OPS
};

/* flags in more[] */
enum {
	EXEC_FTZ = 1 << 0,
	EXEC_SAT = 1 << 1,
	EXEC_NAN = 1 << 2,
	EXEC_RELU = 1 << 3,
	EXEC_CARRY_IN = 1 << 4,
	EXEC_CARRY_OUT = 1 << 5,
	EXEC_HI = 1 << 6,
	EXEC_NEGATED = 1 << 7,
	EXEC_TRUNCATED = 1 << 8, /* mad.f32 that cuts its product off */
	EXEC_ROUNDED = 1 << 10,	 /* mad.f32 that rounds its product, to nearest */
	EXEC_FULL = 1 << 9,	 /* div.full: any divisor */
	EXEC_XORSIGN_ABS = 1 << 11,
	EXEC_OOB = 1 << 12,
	EXEC_SATFINITE = 1 << 4, /* cvt, which has no carry */
	EXEC_WIDTH_SHIFT = 8,	 /* cvt: bytes of the destination register */
};

/* more[3] of loads and stores, more[2] of atomics: enum ptx_type of an element, then */
enum {
	MEM_TYPE = 0x1f,
	MEM_COUNT_SHIFT = 5,	  /* 3 bits: elements */
	MEM_WIDTH_SHIFT = 8,	  /* 4 bits: bytes of a register of the elements */
	MEM_ADDRESS_64 = 1 << 12, /* row a is 64 bits wide */
	MEM_SIGNED = 1 << 13,	  /* an element narrower than its register is extended by its sign */
};

/* imm of a texture read */
enum {
	TEX_DIMENSIONS = 3,	   /* 1 to 3 */
	TEX_FLOAT_COORDS = 1 << 2, /* else s32 */
	TEX_LAYERED = 1 << 3,	   /* the coordinate behind the others is a layer */
	TEX_CUBE = 1 << 4,	   /* three coordinates are a direction, to one of six layers */
	TEX_GATHER = 1 << 5,	   /* four texels of one channel, which has 2 bits here: */
	TEX_CHANNEL = 6,
	TEX_HALF = 1 << 8,     /* results are binary16, */
	TEX_PAIRS = 1 << 9,    /* or two of them in each of two registers */
	TEX_FURTHER = 1 << 10, /* there are further rows, in program->many from here on: */
	TEX_MANY = 32,
	SURFACE_CLAMP = 1 << 8,	  /* of a surface: what is outside lies at the edge ... */
	SURFACE_ZERO = 1 << 9,	  /* ... or reads as 0 and is not written; else it is a fault */
	SURFACE_BYTES = 10,	  /* 5 bits: of an access */
	SURFACE_TEXELS = 1 << 15, /* the first coordinate counts them, not bytes */
};

enum {					       /* further rows of a texture read, FUNC_NONE: none */
       TEX_MORE_LAYER,			       /* of an array of cubes */
       TEX_MORE_SAMPLE,			       /* of several: there is but number 0 */
       TEX_MORE_OFFSET,			       /* texels, in each of three dimensions */
       TEX_MORE_SAMPLER = TEX_MORE_OFFSET + 3, /* the texture whose filter and address modes count; 64 bits */
       TEX_MORE
};

enum exec_query { /* more[0]: what of a texture or surface */
		  QUERY_ZERO,
		  QUERY_ONE,
		  QUERY_WIDTH,
		  QUERY_HEIGHT,
		  QUERY_DEPTH,
		  QUERY_LAYERS,
		  QUERY_CHANNEL,
		  QUERY_ORDER,
		  QUERY_NORMALIZED,
		  QUERY_FILTER,
		  QUERY_ADDRESS /* of three dimensions */
};
#define EXEC_GROUP 4 /* lanes that share a row of a matrix's fragment */
/* formats of an mma, in more[2] (d, a, b) and more[3] (c), five bits each */
enum matrix_format {
	MATRIX_F16,
	MATRIX_BF16,
	MATRIX_TF32,
	MATRIX_F64,
	MATRIX_F32,
	MATRIX_S32,
	MATRIX_S8,
	MATRIX_U8,
	MATRIX_S4,
	MATRIX_U4,
	MATRIX_B1,
	MATRIX_E4M3,
	MATRIX_E5M2,
	MATRIX_FORMATS
};
enum { /* above them in more[3] */
       MATRIX_WMMA = 1 << 0,
       MATRIX_A_COLUMNS = 1 << 1,
       MATRIX_B_COLUMNS = 1 << 2,
       MATRIX_CLAMP = 1 << 3,
       MATRIX_XOR = 1 << 4,    /* of single bits; else and */
       MATRIX_SPARSE = 1 << 5, /* half of a is there; a fifth row says which */
       MATRIX_SELECTOR = 6,    /* 2 bits: which lanes of four hold that */
       MATRIX_QUADS = 1 << 8,  /* four products of 8 lanes each */
};
enum {				    /* of wgmma, in more[3] */
       WARPGROUP_ADDS = 1 << 0,	    /* c is added; with a predicate: where that is true */
       WARPGROUP_ADDS_NOT = 1 << 1, /* where it is false */
       WARPGROUP_MINUS_A = 1 << 2,
       WARPGROUP_MINUS_B = 1 << 3,
       WARPGROUP_CLAMP = 1 << 4,
       WARPGROUP_A_ACROSS = 1 << 5, /* elements follow each other across lines */
       WARPGROUP_B_ACROSS = 1 << 6,
       WARPGROUP_SPARSE = 1 << 7, /* as MATRIX_SPARSE; the row stands behind the others */
       WARPGROUP_SELECTOR = 8	  /* 2 bits */
};
enum {				     /* of a copy of a tensor's piece */
       EXEC_TENSOR_WIDE = 1 << 0,    /* the address in shared memory has 64 bits */
       EXEC_TENSOR_REDUCES = 1 << 1, /* by elements, of a type each */
       EXEC_TENSOR_LOADS = 1 << 2,
       EXEC_TENSOR_ROUNDED = 32 /* what a piece is: that, and its type, where an element is not copied as it is */
};
enum { /* imm of video instructions; what a, b and d take of their registers is as in ptx_operand.count */
       PACKED_A = 0,
       PACKED_B = 4,
       PACKED_D = 8,
       PACKED_SECOND = 12, /* 2 bits: what is done with c */
       PACKED_ADD = 1,
       PACKED_MIN = 2,
       PACKED_MAX = 3,
       PACKED_SATURATED = 1 << 14,
       PACKED_WRAP = 1 << 15,
       PACKED_PLUS_ONE = 1 << 16,
       PACKED_SHIFT = 17,      /* 4 bits, vmad */
       PACKED_CMP = 21,	       /* 5 bits, vset: enum ptx_cmp */
       PACKED_MINUS = 1 << 26, /* vmad: the product's sign ... */
       PACKED_MINUS_C = 1 << 27,
       PACKED_PARTS_A = 28, /* of parts side by side: which of a and b, three bits each, */
       PACKED_PARTS_B = 40,
       PACKED_MASK = 52 /* and a bit for each that is written */
};
/* Two parts, each of its own place. */
#define PACKED_HALVES (010ull << PACKED_PARTS_A | 032ull << PACKED_PARTS_B | 3ull << PACKED_MASK)
enum exec_barrier_op { /* more[0] of an mbarrier operation */
		       MBARRIER_INIT,
		       MBARRIER_INVAL,
		       MBARRIER_ARRIVE,
		       MBARRIER_DROP,
		       MBARRIER_EXPECT,
		       MBARRIER_COMPLETE,
		       MBARRIER_TEST,
		       MBARRIER_PARITY
};
#define EXEC_BARRIER_COUNT                                                                                             \
	0xfffffu /* of a barrier's word, and of the state that it is: the arrivals that are missing */
/* Formats of 8, 16 and 19 bits beside binary16 (exec_packed.c). */
struct exec_small {
	unsigned exponent, fraction; /* bits */
	int bias;
	double most; /* the largest number */
	uint32_t nan;
	bool no_infinity;
};
extern const struct exec_small exec_e4m3, exec_e5m2, exec_bf16, exec_tf32;
double exec_from_small(const struct exec_small *s, uint32_t v);
uint32_t exec_to_small(const struct exec_small *s, double v, int mode, bool finite);

#define FUNC_NAN32 0x7fffffffu
#define EXEC_OOB16 0x7ff7u /* what an H200's copy puts outside of a tensor, whatever the type */
#define FUNC_NAN16 0x7fffu

static inline uint32_t *exec_row(const struct func_warp *w, uint16_t row)
{
	return w->reg + (size_t)row * FUNC_LANES;
}

static inline uint64_t *exec_row64(const struct func_warp *w, uint16_t row)
{
	return (uint64_t *)exec_row(w, row);
}

static inline uint64_t exec_get(const struct func_warp *w, uint16_t row, bool wide, unsigned lane)
{
	return wide ? exec_row64(w, row)[lane] : exec_row(w, row)[lane];
}

static inline void exec_put(const struct func_warp *w, uint16_t row, bool wide, unsigned lane, uint64_t v)
{
	if (wide)
		exec_row64(w, row)[lane] = v;
	else
		exec_row(w, row)[lane] = (uint32_t)v;
}

static inline void exec_put_pred(const struct func_warp *w, uint16_t p, uint32_t mask, uint32_t value)
{
	w->pred[p] = (w->pred[p] & ~mask) | (value & mask);
}

/* Sizes that the compiler knows: a copy of a variable number of bytes is a call. */
static inline __attribute__((always_inline)) uint64_t exec_read_bytes(const uint8_t *p, unsigned bytes)
{
	uint16_t half;
	uint32_t word;
	uint64_t two;
	switch (bytes) {
	case 1:
		return *p;
	case 2:
		memcpy(&half, p, 2);
		return half;
	case 4:
		memcpy(&word, p, 4);
		return word;
	default:
		memcpy(&two, p, 8);
		return two;
	}
}

static inline __attribute__((always_inline)) void exec_write_bytes(uint8_t *p, unsigned bytes, uint64_t v)
{
	uint16_t half = (uint16_t)v;
	uint32_t word = (uint32_t)v;
	switch (bytes) {
	case 1:
		*p = (uint8_t)v;
		break;
	case 2:
		memcpy(p, &half, 2);
		break;
	case 4:
		memcpy(p, &word, 4);
		break;
	default:
		memcpy(p, &v, 8);
		break;
	}
}

/* Host memory of one lane's access, or NULL and w->fault (exec_memory.c). */
uint8_t *exec_find(struct func_warp *w, int space, uint32_t lane, uint64_t address, unsigned bytes, bool write);
/* On the barrier of 64 bits at p, by lane l. */
void exec_barrier_lane(struct func_warp *w, const struct func_inst *i, uint32_t l, uint8_t *p);

/* for (each lane of mask) */
#define EACH_LANE(l, mask)                                                                                             \
	for (uint32_t rest_ = (mask), l; rest_ && (l = (uint32_t)__builtin_ctz(rest_), true); rest_ &= rest_ - 1)

/* Of lanes, those that name what the first of them names. */
static inline uint32_t exec_together(const uint32_t *named, uint32_t lanes)
{
	const uint32_t first = named[__builtin_ctz(lanes)];
	uint32_t group = 0;
	EACH_LANE(l, lanes)
	{
		group |= (uint32_t)(named[l] == first) << l;
	}
	return group;
}

/* Formats (exec_half.c): exact, any rounding. mode: PTX_RN PTX_RZ PTX_RM PTX_RP. */
#define EXEC_FORWARD(name)                                                                                             \
	void exec_one_##name(struct func_warp *w, const struct func_inst *i, unsigned lane)                            \
	{                                                                                                              \
		exec_wide_##name(w, i, 1u << lane);                                                                    \
	}

double exec_from_half(uint16_t h);
uint16_t exec_to_half(double v, int mode);
/* Sum whose last bit says that it was inexact, so that rounding it once more to a narrower format is rounding once. */
double exec_add_odd(double a, double b);
/* One value, as the slow handlers compute it: bits in, bits out (exec_float.c). */
uint64_t exec_float_value(int op, int type, int round, unsigned flags, uint64_t a, uint64_t b, uint64_t c);
bool exec_compare_value(int type, int cmp, unsigned flags, uint64_t a, uint64_t b); /* exec_compare.c */
/* What the special function unit gives for rcp sqrt rsqrt sin cos ex2 lg2 tanh, and for div built of it (exec_sfu.c). */
float exec_sfu(const struct sfu *s, int op, unsigned flags, float x);
float exec_sfu_divide(const struct sfu *s, unsigned flags, float x, float y);
uint64_t exec_convert(int to, int from, int round, unsigned flags, uint64_t v); /* exec_cvt.c */

#define SLOW(name)                                                                                                     \
	func_wide_fn exec_wide_##name;                                                                                 \
	func_one_fn exec_one_##name;
#define UN(name, ...)  SLOW(name)
#define BI(name, ...)  SLOW(name)
#define TRI(name, ...) SLOW(name)
#define CMP(name, ...) SLOW(name)
#include "exec_alu.def"
#include "exec_slow.def"
#undef UN
#undef BI
#undef TRI
#undef CMP
#undef SLOW

#endif
