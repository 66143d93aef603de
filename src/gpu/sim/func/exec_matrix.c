/* Matrix operations of a warp: fragments of mma.sync and wmma, and the products of them.
 *
 * Operations mma.sync and ldmatrix spread elements over lanes as the PTX manual draws it. The manual leaves that open
 * for wmma; here lane l holds the l-th part of the matrix as it lies in memory. A sum of binary32 is done as tensor
 * cores do it, where that is known (tests/isa/h200.matrix); else in double precision, rounded once. */
#include "exec.h"
#include <float.h>
#include <limits.h>
#include <math.h>
#include <string.h>

static unsigned bits_of(unsigned format)
{
	static const uint8_t bits[MATRIX_FORMATS] = {
	    [MATRIX_F16] = 16, [MATRIX_BF16] = 16, [MATRIX_TF32] = 32, [MATRIX_F64] = 64, [MATRIX_F32] = 32,
	    [MATRIX_S32] = 32, [MATRIX_S8] = 8,	   [MATRIX_U8] = 8,    [MATRIX_S4] = 4,	  [MATRIX_U4] = 4,
	    [MATRIX_B1] = 1,   [MATRIX_E4M3] = 8,  [MATRIX_E5M2] = 8};
	return bits[format];
}

static double value_of(unsigned format, uint64_t v)
{
	float f;
	double d;
	uint32_t low = (uint32_t)v;
	switch (format) {
	case MATRIX_F16:
		return exec_from_half((uint16_t)v);
	case MATRIX_BF16:
		low <<= 16;
		break;
	case MATRIX_TF32:
		low &= ~0x1fffu; /* what is beyond ten bits of the fraction is not looked at */
		break;
	case MATRIX_F64:
		memcpy(&d, &v, sizeof d);
		return d;
	case MATRIX_F32:
		break;
	case MATRIX_S32:
		return (int32_t)v;
	case MATRIX_S8:
		return (int8_t)v;
	case MATRIX_S4:
		return (double)((int)(v & 15) - (v & 8 ? 16 : 0));
	case MATRIX_E4M3:
		return exec_from_small(&exec_e4m3, (uint8_t)v);
	case MATRIX_E5M2:
		return exec_from_small(&exec_e5m2, (uint8_t)v);
	default:
		return (double)v;
	}
	memcpy(&f, &low, sizeof f);
	return f;
}

static uint64_t bits_from(unsigned format, double v, bool clamp)
{
	float f = (float)v;
	uint64_t bits = 0;
	switch (format) {
	case MATRIX_F16:
		return exec_to_half(v, PTX_RN);
	case MATRIX_F64:
		memcpy(&bits, &v, sizeof v);
		return bits;
	case MATRIX_S32:
		if (clamp)
			return (uint32_t)(int32_t)(v > INT32_MAX ? INT32_MAX : v < INT32_MIN ? INT32_MIN : v);
		return (uint32_t)(int64_t)v;
	default:
		memcpy(&bits, &f, sizeof f);
		return f != f ? FUNC_NAN32 : bits;
	}
}

/* One operand of a product: its fragment's rows of registers, and what matrix it is. */
struct fragment {
	const uint16_t *row;
	unsigned rows, format, height, width;
	bool transposed; /* B of mma.sync; what wmma loads column by column: lines of the fragment are columns */
	bool linear;	 /* of wmma */
	bool result;	 /* C and D */
	unsigned quad;	 /* of m8n8k4 of binary16: 1 + which four lanes, and those sixteen on; 0: all lanes */
};

/* m8n8k4 of binary16 (PTX manual, matrix fragments). Lanes 16 to 31 hold the lower half of A, C and D, and the right
 * one of B. */
static void place_of_quad(const struct fragment *f, unsigned lane, unsigned i, unsigned *y, unsigned *x)
{
	const unsigned member = lane % EXEC_GROUP, half = lane / 16 * 4;
	if (f->result && f->format == MATRIX_F32) {
		*y = (lane & 1) + (i & 2) + half;
		*x = (i & 4) + (lane & 2) + (i & 1);
	} else if (f->height == 8) {
		*y = f->transposed ? i + half : member + half;
		*x = f->transposed ? member : i;
	} else {
		*y = f->transposed ? i : member;
		*x = f->transposed ? member + half : i + half;
	}
}

/* The place of element i of a lane's fragment, elements counted through its registers. */
static void place_of(const struct fragment *f, unsigned lane, unsigned i, unsigned *y, unsigned *x)
{
	unsigned bits = bits_of(f->format), per = bits >= 32 ? 1 : 32 / bits, reg = i / per, at = i % per;
	unsigned group = lane / EXEC_GROUP, member = lane % EXEC_GROUP, line, along;
	if (f->quad) {
		place_of_quad(f, lane, i, y, x);
		return;
	}
	if (f->linear) {
		unsigned length = f->transposed ? f->height : f->width, each = f->height * f->width / FUNC_LANES;
		unsigned n = lane * each + i % each;
		line = n / length;
		along = n % length;
	} else if (f->result) {
		line = group + 8 * (i / 2);
		along = member * 2 + i % 2;
	} else if (f->transposed) {
		line = group;
		along = member * per + at + reg * per * EXEC_GROUP;
	} else {
		unsigned tall = f->height > 8;
		line = group + 8 * (reg & tall);
		along = member * per + at + (reg >> tall) * per * EXEC_GROUP;
	}
	*y = f->transposed ? along : line;
	*x = f->transposed ? line : along;
}

static unsigned elements_of(const struct fragment *f)
{
	return f->height * f->width / (f->quad ? 2 * EXEC_GROUP : FUNC_LANES);
}

static bool takes_part(const struct fragment *f, unsigned lane)
{
	return !f->quad || lane % 16 / EXEC_GROUP == f->quad - 1;
}

static void gather(const struct func_warp *w, const struct fragment *f, double *m)
{
	unsigned bits = bits_of(f->format), per = bits >= 32 ? 1 : 32 / bits, y, x;
	for (unsigned lane = 0; lane < FUNC_LANES; lane++)
		for (unsigned i = 0; i < elements_of(f) && takes_part(f, lane); i++) {
			uint64_t v = exec_get(w, f->row[i / per], bits == 64, lane);
			if (bits < 32)
				v = v >> (i % per * bits) & ((1u << bits) - 1);
			place_of(f, lane, i, &y, &x);
			m[y * f->width + x] = value_of(f->format, v);
		}
}

static void scatter(const struct func_warp *w, const struct fragment *f, const double *m, uint32_t mask, bool clamp)
{
	unsigned bits = bits_of(f->format), per = bits >= 32 ? 1 : 32 / bits, y, x;
	EACH_LANE(l, mask)
	{
		for (unsigned reg = 0; reg < f->rows && takes_part(f, l); reg++) {
			uint64_t v = 0;
			for (unsigned at = 0; at < per; at++) {
				place_of(f, l, reg * per + at, &y, &x);
				v |= bits_from(f->format, m[y * f->width + x], clamp) << (at * bits);
			}
			exec_put(w, f->row[reg], bits == 64, l, v);
		}
	}
}

enum { MOST_AB = 32 * 256, MOST_CD = 32 * 32, MOST_K = 256 };

/* What is beyond the bit of 2^least is dropped, towards zero. */
static double cut(double v, int least)
{
	return ldexp(trunc(ldexp(v, -least)), least);
}

/* Of several NaNs, one of q stays before one of the sum, and that before one of p, made quiet (seen on an H200). Which
 * one the host's fma takes differs from processor to processor. */
static double add_product(double p, double q, double sum)
{
	return q != q ? q + 0 : sum != sum ? sum + 0 : p != p ? p + 0 : fma(p, q, sum);
}

/* What the sum of a fragment's row and column is made of. */
enum terms { TERMS_FINITE, TERMS_ZERO, TERMS_OTHER };

struct fusing {
	int bits, kept; /* bits 0: sums are not fused */
	int least_p,
	    least_q; /* powers of two that factors count as at least: subnormal numbers as the smallest normal one */
};

/* c and n products at once: each is cut `bits` bits below the largest of them, and the sum `kept` bits below its own size. The size of a product is
 * that of its factors, whose fractions may make it twice as large. Only finite terms are added up. */
static enum terms fused(double *c, const double *p, const double *q, unsigned n, const struct fusing *r)
{
	const int bits = r->bits;
	int most = INT_MIN;
	double sum = 0;
	for (unsigned z = 0; z < n; z++) {
		if (!isfinite(p[z]) || !isfinite(q[z]))
			return TERMS_OTHER;
		if (p[z] != 0 && q[z] != 0) {
			const int a = ilogb(p[z]), b = ilogb(q[z]);
			const int size = (a > r->least_p ? a : r->least_p) + (b > r->least_q ? b : r->least_q);
			most = size > most ? size : most;
		}
	}
	if (!isfinite(*c))
		return TERMS_OTHER;
	if (*c != 0)
		most = ilogb(*c) > most ? ilogb(*c) : most;
	if (most == INT_MIN)
		return TERMS_ZERO;
	for (unsigned z = 0; z < n; z++)
		sum += cut(p[z] * q[z], most - bits);
	sum += cut(*c, most - bits);
	if (sum != 0) {
		const int last = ilogb(sum) - r->kept, least = FLT_MIN_EXP - FLT_MANT_DIG;
		sum = cut(sum, last > least ? last : least);
	}
	*c = sum;
	return TERMS_FINITE;
}

/* Numbers of 8 bits. The products of each register's two lower bytes are summed, then those of the two upper ones, as
 * if they were of 16 bits. The end is to add c, rounded. To binary16 every step is rounded. False: not only finite
 * terms. */
static bool fused_bytes(double *c, const double *p, const double *q, unsigned n, const struct fusing *r, bool narrow)
{
	double half[2][MOST_K], sum = 0;
	for (unsigned z = 0; z < n; z++)
		if (!isfinite(p[z]) || !isfinite(q[z]))
			return false;
	for (unsigned upper = 0; upper < 2 && isfinite(sum); upper++) {
		unsigned count = 0;
		for (unsigned z = 0; z < n; z++)
			if ((z % 4 >= 2) == (upper != 0)) {
				half[0][count] = p[z];
				half[1][count++] = q[z];
			}
		fused(&sum, half[0], half[1], count, r);
		sum = narrow ? exec_from_half(exec_to_half(sum, PTX_RN)) : sum;
	}
	if (!isfinite(*c) && !narrow)
		return false;
	*c = narrow ? sum + *c : exec_add_odd(sum, *c);
	return true;
}

/* What products of a row of a, times a column of b, make of *to. */
struct summing {
	unsigned k, flags;	       /* enum of exec.h */
	bool small, single_bits, half; /* half: the result is of binary16 */
	struct fusing fusing;
};

/* The power of two of a format's smallest normal number. */
static int least_of(unsigned format)
{
	return 1 - (format == MATRIX_E4M3 ? exec_e4m3.bias : exec_e5m2.bias);
}

static struct summing summing_of(const struct func_program *p, unsigned to, unsigned from, unsigned other, unsigned k,
				 unsigned flags, bool group)
{
	const bool small = from == MATRIX_E4M3 || from == MATRIX_E5M2;
	const bool narrow = small || from == MATRIX_F16 || from == MATRIX_BF16 || from == MATRIX_TF32;
	/* A warpgroup adds numbers of 8 bits all at once, to fewer bits. */
	const bool few = group && small && p->matrix_byte_bits;
	const bool half = to == MATRIX_F16;
	struct fusing fusing = {.kept = FLT_MANT_DIG - 1, .least_p = -FLT_MAX_EXP, .least_q = -FLT_MAX_EXP};
	if (few)
		fusing = (struct fusing){.bits = p->matrix_byte_bits,
					 .kept = half ? FLT_MANT_DIG - 1 : p->matrix_byte_bits,
					 .least_p = least_of(from),
					 .least_q = least_of(other)};
	else if (narrow && (to == MATRIX_F32 || small))
		fusing.bits = p->matrix_bits;
	return (struct summing){.k = k,
				.flags = flags,
				.small = small && !few,
				.single_bits = from == MATRIX_B1,
				.half = half,
				.fusing = fusing};
}

/* An H200 does m8n8k4 of binary16 without tensor cores: products in their order, each sum rounded, and c at the end. */
static void chain(double *to, const double *row, const double *column, unsigned n)
{
	float sum = (float)(row[0] * column[0]);
	for (unsigned z = 1; z < n; z++)
		sum += (float)(row[z] * column[z]); /* of so few bits that it is exact */
	sum += (float)*to;
	*to = sum;
}

static void sum_up(const struct summing *s, double *to, const double *row, const double *column)
{
	if (s->flags & MATRIX_QUADS) {
		chain(to, row, column, s->k);
		return;
	}
	if (s->fusing.bits && (s->small ? fused_bytes(to, row, column, s->k, &s->fusing, s->half)
					: fused(to, row, column, s->k, &s->fusing) == TERMS_FINITE))
		return;
	for (unsigned z = 0; z < s->k; z++) {
		const double p = row[z], q = column[z];
		const unsigned x = s->single_bits ? (unsigned)p : 0, y = s->single_bits ? (unsigned)q : 0;
		if (s->single_bits)
			*to += __builtin_popcount(s->flags & MATRIX_XOR ? x ^ y : x & y);
		else
			*to = add_product(p, q, *to);
	}
}

/* A sparse matrix: of each chunk of four columns, or of two of 32 bits, or of four pairs of 4 bits, half are there. Four bits say which (PTX manual,
 * sparse matrix storage); where those of a line lie was asked of an H200. Column of the element z that is there in line y. */
static unsigned sparse_column(const struct func_warp *w, uint16_t row, unsigned selector, unsigned bits, unsigned k,
			      unsigned y, unsigned z)
{
	const unsigned alike = bits == 4 ? 2 : 1, of = bits == 32 ? 1 : 2, wide = 2 * of * alike, chunks = k / wide,
		       unit = z / alike, chunk = unit / of;
	unsigned member, place;
	if (bits >= 16) {
		member = selector * (chunks / 4) + chunk / 4;
		place = chunk % 4 + 4 * (y / 8);
	} else {
		member = 2 * (chunks > 8 ? chunk / 8 : selector) + y / 8;
		place = chunk % 8;
	}
	const unsigned code = exec_row(w, row)[(y % 8 * EXEC_GROUP + member) % FUNC_LANES] >> 4 * place & 15;
	const unsigned which = of == 1 ? code >> 3 : code >> 2 * (unit % of) & 3;
	return chunk * wide + which * alike + z % alike;
}

void exec_wide_mma(struct func_warp *w, const struct func_inst *i, uint32_t mask)
{
	const uint16_t *row = w->block->launch->program->many + (uint32_t)i->imm;
	const unsigned m = i->more[0], n = i->more[1] & 63, k = i->more[1] >> 6, flags = i->more[3] >> 5;
	const unsigned there = flags & MATRIX_SPARSE ? k / 2 : k; /* columns of a */
	const bool linear = flags & MATRIX_WMMA;
	struct fragment f[4]; /* d, a, b, c */
	const unsigned format[4] = {i->more[2] & 31, i->more[2] >> 5 & 31, i->more[2] >> 10 & 31, i->more[3] & 31};
	const unsigned height[4] = {m, m, k, m}, width[4] = {n, there, n, n};
	double a[MOST_AB], b[MOST_AB], c[MOST_CD];
	for (unsigned x = 0; x < 4; x++) {
		f[x] = (struct fragment){.row = row + 1,
					 .rows = row[0],
					 .format = format[x],
					 .height = height[x],
					 .width = width[x],
					 .linear = linear,
					 .result = x == 0 || x == 3};
		row += row[0] + 1;
	}
	const bool quads = flags & MATRIX_QUADS;
	const unsigned selector = flags >> MATRIX_SELECTOR & 3;
	f[1].transposed = (linear || quads) && flags & MATRIX_A_COLUMNS;
	f[2].transposed = !(linear || quads) || flags & MATRIX_B_COLUMNS;
	const struct summing sums =
	    summing_of(w->block->launch->program, format[0], format[1], format[2], there, flags, false);
	for (unsigned quad = quads; quad <= (quads ? EXEC_GROUP : 0); quad++) {
		for (unsigned x = 0; x < 4; x++)
			f[x].quad = quad;
		gather(w, &f[1], a);
		gather(w, &f[2], b);
		gather(w, &f[3], c);
		for (unsigned y = 0; y < m; y++) {
			unsigned at[MOST_K];
			for (unsigned z = 0; z < there; z++)
				at[z] = flags & MATRIX_SPARSE
					    ? sparse_column(w, *row, selector, bits_of(format[1]), k, y, z)
					    : z;
			for (unsigned x = 0; x < n; x++) {
				double column[MOST_K];
				for (unsigned z = 0; z < there; z++)
					column[z] = b[at[z] * n + x];
				sum_up(&sums, &c[y * n + x], &a[y * there], column);
			}
		}
		scatter(w, &f[0], c, mask, flags & MATRIX_CLAMP);
	}
}
EXEC_FORWARD(mma)

/* ---- of four warps ---- */

enum { LINES = 16, GROUP_N = 256, GROUP_K = 64 }; /* of one warp; columns and elements of a product, at most */

/* A matrix in shared memory by its descriptor (PTX manual, asynchronous warpgroup level matrix operations, shared
 * memory layout). It says where the matrix begins, the distances of its parts, and how 16-byte pieces trade places. */
struct matrix_place {
	uint64_t start, leading, stride, swizzle; /* swizzle: bits of the address that others are added to; 0: none */
	uint64_t turned;			  /* by so many lines the swizzle begins later than the address says */
	unsigned width;				  /* bytes of what is swizzled together */
	bool across;
};

static struct matrix_place matrix_place(uint64_t d, bool across)
{
	const unsigned swizzle = (unsigned)(d >> 62), width = swizzle ? 256u >> swizzle : 16;
	return (struct matrix_place){.start = (d & 0x3fff) << 4,
				     .leading = (d >> 16 & 0x3fff) << 4,
				     .stride = (d >> 32 & 0x3fff) << 4,
				     .swizzle = width / 16 - 1,
				     .turned = d >> 49 & 7,
				     .width = width,
				     .across = across};
}

/* Element z of line y. Eight lines of `width` bytes, or columns of them where the matrix lies across, are a tile. */
static uint64_t matrix_at(const struct matrix_place *p, unsigned y, unsigned z, unsigned bytes)
{
	const unsigned along = (p->across ? y : z) * bytes, line = p->across ? z : y;
	/* The distance from eight lines to the next is the stride; only where a matrix lies across without a swizzle it is the leading one. */
	const bool turned = p->across && p->width == 16;
	const uint64_t down = turned ? p->leading : p->stride, next = turned ? p->stride : p->leading;
	uint64_t at = p->start + line / 8 * down + line % 8 * p->width;
	at += along / p->width * next + along % p->width;
	return at ^ (((at >> 7) - p->turned) & p->swizzle) << 4;
}

static bool lines_of(struct func_warp *w, const struct matrix_place *p, unsigned format, unsigned lines, unsigned k,
		     double *out)
{
	const unsigned bytes = bits_of(format) / 8;
	for (unsigned y = 0; y < lines; y++)
		for (unsigned z = 0; z < k; z++) {
			const uint64_t at = matrix_at(p, y, z, bytes);
			uint64_t v = 0;
			if (at + bytes > w->block->launch->shared_bytes) {
				w->space = PTX_SHARED;
				w->fault = FUNC_FAULT_BOUNDS;
				w->fault_lane = 0;
				w->fault_address = at;
				return false;
			}
			memcpy(&v, w->block->shared + at, bytes);
			out[y * k + z] = value_of(format, v);
		}
	return true;
}

/* Which element of a warp's lines the i-th of a lane is. */
static unsigned result_at(unsigned lane, unsigned i, unsigned n)
{
	const unsigned y = lane / EXEC_GROUP + i / 2 % 2 * 8, x = i / 4 * 8 + lane % EXEC_GROUP * 2 + i % 2;
	return y * n + x;
}

/* What stands behind so many lists of rows. */
static const uint16_t *behind(const uint16_t *row, unsigned lists)
{
	while (lists--)
		row += row[0] + 1;
	return row;
}

/* A warp does its own sixteen of the 64 lines. */
void exec_wide_wgmma(struct func_warp *w, const struct func_inst *i, uint32_t mask)
{
	const uint16_t *row = w->block->launch->program->many + (uint32_t)i->imm;
	const unsigned n = i->more[0], k = i->more[1], first = (unsigned)__builtin_ctz(mask), flags = i->more[3];
	const unsigned to = i->more[2] & 31, kind = i->more[2] >> 5 & 31, other = i->more[2] >> 10 & 31;
	const unsigned from = kind == MATRIX_B1 ? MATRIX_U8 : kind; /* eight bits at once */
	const unsigned per = bits_of(to) == 16 ? 2 : 1, line = w->thread / FUNC_LANES % 4 * LINES;
	const bool predicate = i->c != FUNC_NONE && w->pred[i->c] >> first & 1;
	const bool adds = i->c == FUNC_NONE ? flags & WARPGROUP_ADDS : predicate != ((flags & WARPGROUP_ADDS_NOT) != 0);
	const bool sparse = flags & WARPGROUP_SPARSE;
	const unsigned there = sparse ? k / 2 : k; /* columns of a */
	double a[4 * LINES * GROUP_K], b[GROUP_N * GROUP_K], c[LINES * GROUP_N];
	const double *own = a;
	if (i->a != FUNC_NONE) {
		const struct matrix_place at = matrix_place(exec_row64(w, i->a)[first], flags & WARPGROUP_A_ACROSS);
		if (!lines_of(w, &at, from, 4 * LINES, there, a))
			return;
		own += line * there;
	} else {
		const struct fragment f = {
		    .row = row + 1 + row[0] + 1, .rows = 4, .format = from, .height = LINES, .width = there};
		gather(w, &f, a);
	}
	const struct matrix_place at = matrix_place(exec_row64(w, i->b)[first], flags & WARPGROUP_B_ACROSS);
	if (!lines_of(w, &at, kind == MATRIX_B1 ? from : other, n, k, b))
		return;
	for (unsigned z = 0; z < LINES * there && flags & WARPGROUP_MINUS_A; z++)
		a[(size_t)(own - a) + z] = -own[z];
	for (unsigned z = 0; z < n * k && flags & WARPGROUP_MINUS_B; z++)
		b[z] = -b[z];
	for (unsigned lane = 0; lane < FUNC_LANES; lane++)
		for (unsigned e = 0; e < n / 2; e++) {
			const uint32_t v = exec_row(w, row[1 + e / per])[lane] >> (per == 2 ? e % 2 * 16 : 0);
			c[result_at(lane, e, n)] = adds ? value_of(to, per == 2 ? (uint16_t)v : v) : 0;
		}
	const struct summing sums = summing_of(w->block->launch->program, to, kind, other, there, 0, true);
	const uint16_t meta = sparse ? *behind(row, i->a == FUNC_NONE ? 2 : 1) : FUNC_NONE;
	for (unsigned y = 0; y < LINES; y++) {
		unsigned at_z[GROUP_K];
		for (unsigned z = 0; z < there; z++)
			at_z[z] = sparse
				      ? sparse_column(w, meta, flags >> WARPGROUP_SELECTOR & 3, bits_of(from), k, y, z)
				      : z;
		for (unsigned x = 0; x < n; x++) {
			double column[GROUP_K];
			for (unsigned z = 0; z < there; z++)
				column[z] = b[x * k + at_z[z]];
			sum_up(&sums, &c[y * n + x], own + y * there, column);
		}
	}
	EACH_LANE(l, mask)
	{
		for (unsigned e = 0; e < n / 2; e += per) {
			uint32_t v = (uint32_t)bits_from(to, c[result_at(l, e, n)], flags & WARPGROUP_CLAMP);
			if (per == 2)
				v |= (uint32_t)bits_from(to, c[result_at(l, e + 1, n)], false) << 16;
			exec_row(w, row[1 + e / per])[l] = v;
		}
	}
}
EXEC_FORWARD(wgmma)
