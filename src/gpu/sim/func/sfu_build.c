/* Coefficients of the special function unit.
 *
 * Every function is cut into segments; in each, f = c0 + c1 x + c2 x^2. The quadratic through the Chebyshev points is
 * rounded word by word, c1 and its neighbours first. Each of these gets the c2 that suits it, and then the c0 that
 * halves the error that is left. Of what comes out, the most accurate is taken that does not turn back from the end of
 * the segment before. The whole is thus monotonic (after Oberman and Siu 2005 and Pineiro 2005). */
#include "gpu/sim/func/sfu.h"
#include <math.h>
#include <stddef.h>

#define POINTS	  24 /* a segment's error is looked at here, and at its ends */
#define ALL	  (POINTS + 2)
#define HALF_TURN 3.14159265358979323846264338327950288L
#define OLD_C0	  26 /* words of what the figure does not have, sqrt and tanh: as published for the others */
#define OLD_C1	  16
#define OLD_C2	  10
#define DIGITS	  24 /* of f32 */
#define LOOKS	  16 /* a segment, in its middle and evenly around */

const char *const sfu_names[SFU_FUNCTIONS] = {"rcp", "rsqrt", "ex2", "lg2", "sin"};

const struct sfu_words sfu_published[SFU_FUNCTIONS] = {
    [SFU_RCP] = {7, 26, 15, 11, 14}, [SFU_RSQRT] = {6, 24, 16, 11, 13}, [SFU_EX2] = {6, 24, 15, 10, 12},
    [SFU_LG2] = {6, 26, 15, 11, 11}, [SFU_SIN] = {6, 26, 16, 12, 12},
};

typedef long double real;

static real reciprocal(real v)
{
	return 1 / v;
}

static real reciprocal_root(real v)
{
	return 1 / sqrtl(v);
}

static real quarter_sine(real v)
{
	return sinl(v * HALF_TURN / 2);
}

static real tanh_over_x(real v)
{
	return v == 0 ? 1 : tanhl(v) / v;
}

struct plan {
	real (*f)(real);
	real first;	    /* argument */
	int bits, weight;   /* of an argument, as an integer: how many, and the last one is 2^-weight */
	int large1, large2; /* c1 < 2^large1, c2 < 2^large2 */
	bool exact;	    /* the first value is kept exactly */
	int result;	    /* fraction bits of the rounded result */
	int direction;
	int index; /* of a table without words of its own */
	int words; /* enum sfu_function, or -1 */
};

static const struct plan plan[SFU_TABLES] = {
    [SFU_TABLE_RCP] = {reciprocal, 1, 23, 23, 0, 0, true, 24, -1, 0, SFU_RCP},
    [SFU_TABLE_RSQRT_LOW] = {reciprocal_root, 1, 23, 23, -1, -1, true, 24, -1, 0, SFU_RSQRT},
    [SFU_TABLE_RSQRT_HIGH] = {reciprocal_root, 2, 23, 22, -2, -3, false, 24, -1, 0, SFU_RSQRT},
    [SFU_TABLE_SQRT_LOW] = {sqrtl, 1, 23, 23, -1, -2, true, 23, 1, 6, -1},
    [SFU_TABLE_SQRT_HIGH] = {sqrtl, 2, 23, 22, -1, -4, false, 23, 1, 6, -1},
    [SFU_TABLE_EX2] = {exp2l, 0, 23, 23, 1, -1, true, 23, 1, 0, SFU_EX2},
    [SFU_TABLE_LG2] = {log2l, 1, 23, 23, 1, 0, true, 32, 1, 0, SFU_LG2},
    [SFU_TABLE_SIN] = {quarter_sine, 0, 25, 25, 1, 1, true, 30, 0, 0, SFU_SIN},
    [SFU_TABLE_TANH] = {tanh_over_x, 0, 23, 20, 0, -2, true, 24, 0, 7, -1},
};

struct nodes {
	real three[3], many[POINTS]; /* from 0 to 1 */
};

static void chebyshev(real *at, int n)
{
	for (int k = 0; k < n; k++)
		at[k] = (1 + cosl(HALF_TURN * (2 * k + 1) / (2 * n))) / 2;
}

struct segment {
	real at[ALL], value[ALL]; /* of the function, at so much behind the segment's first argument */
	real q1, q2;		  /* the quadratic through three points; q0 follows */
};

static void look(struct segment *s, const struct plan *p, const struct nodes *n, real start, real width, real step)
{
	real x[3], y[3];
	for (int k = 0; k < 3; k++) {
		x[k] = width * n->three[k];
		y[k] = p->f(start + x[k]);
	}
	for (int k = 0; k < POINTS; k++)
		s->at[k] = width * n->many[k];
	s->at[POINTS] = 0;
	s->at[POINTS + 1] = width - step;
	for (int k = 0; k < ALL; k++)
		s->value[k] = p->f(start + s->at[k]);
	real first = (y[1] - y[0]) / (x[1] - x[0]), second = (y[2] - y[1]) / (x[2] - x[1]);
	s->q2 = (second - first) / (x[2] - x[0]);
	s->q1 = first - s->q2 * (x[0] + x[1]);
}

/* The words with the least error that go on, in the table's direction, from `last`, the result where the segment before ended. False: there
 * are none. */
static bool choose(struct sfu_coefficients *best, const struct segment *s, const struct plan *p,
		   const struct sfu_table *t, int c0_bits, bool exact, const int64_t *last)
{
	const int s2 = t->scale - 2 * p->weight, s1 = t->scale - p->weight - t->shift1, drop = t->scale - p->result;
	const real scale0 = ldexpl(1, c0_bits), unit1 = ldexpl(1, -s1), unit2 = ldexpl(1, -s2),
		   width = s->at[POINTS + 1] + ldexpl(1, -p->weight);
	const int from1 = (int)floorl(s->q1 / unit1) - 1;
	real least = INFINITY;
	for (int c1 = from1; c1 < from1 + 4; c1++) {
		/* What c1 is too large or too small by is made good by c2, in the mean over the segment. */
		const int from2 = (int)floorl((s->q2 + (s->q1 - c1 * unit1) / width) / unit2) - 1;
		for (int c2 = from2; c2 < from2 + 4; c2++) {
			real most = -INFINITY, few = INFINITY;
			for (int k = 0; k < ALL; k++) {
				real rest = s->value[k] - (c1 * unit1 + c2 * unit2 * s->at[k]) * s->at[k];
				most = fmaxl(most, rest);
				few = fminl(few, rest);
			}
			const int middle = (int)llrintl((exact ? s->value[POINTS] : (most + few) / 2) * scale0);
			for (int c0 = exact ? middle : middle - 2; c0 <= (exact ? middle : middle + 2); c0++) {
				real error = fmaxl(most - c0 / scale0, c0 / scale0 - few);
				int64_t begins = (((int64_t)c0 << t->shift0) + ((int64_t)1 << (drop - 1))) >> drop;
				if (error >= least || (last && (begins - *last) * p->direction < 0))
					continue;
				least = error;
				*best = (struct sfu_coefficients){c0, c1, c2};
			}
		}
	}
	return least < INFINITY;
}

static void build(struct sfu_table *t, const struct plan *p, const struct sfu_words *w, const struct nodes *n,
		  bool goes_on, int64_t *last)
{
	const int s1 = w->c1 - p->large1, s2 = w->c2 - p->large2, low = p->bits - w->index;
	const real step = ldexpl(1, -p->weight), width = ldexpl(1, low - p->weight);
	*t = (struct sfu_table){.low = (uint8_t)low, .scale = (uint8_t)(2 * p->weight + s2)};
	t->shift0 = (uint8_t)(t->scale - w->c0);
	t->shift1 = (uint8_t)(t->scale - p->weight - s1);
	t->dropped = w->square && w->square < 2 * low ? (uint8_t)(2 * low - w->square) : 0;
	for (uint32_t k = 0; k < 1u << w->index; k++) {
		struct segment s;
		look(&s, p, n, p->first + width * k, width, step);
		const bool exact = p->exact && k == 0, bound = (k || goes_on) && p->direction;
		/* Words that are too narrow may all turn back. */
		if (!bound || !choose(&t->c[k], &s, p, t, w->c0, exact, last))
			choose(&t->c[k], &s, p, t, w->c0, exact, NULL);
		*last = sfu_rounded(t, ((k + 1) << low) - 1, p->result);
	}
}

void sfu_build(struct sfu *out, const struct sfu_words words[SFU_FUNCTIONS])
{
	struct nodes n;
	int64_t last = 0;
	chebyshev(n.three, 3);
	chebyshev(n.many, POINTS);
	for (int k = 0; k < SFU_TABLES; k++) {
		const struct sfu_words own = {(uint8_t)plan[k].index, OLD_C0, OLD_C1, OLD_C2, 0};
		/* The upper half of a root goes on where its lower half ended. */
		build(&out->table[k], &plan[k], plan[k].words < 0 ? &own : &words[plan[k].words], &n,
		      k == SFU_TABLE_RSQRT_HIGH || k == SFU_TABLE_SQRT_HIGH, &last);
	}
}

/* ---- what comes of it ---- */

/* Mean distance from 0 of what lies evenly between two numbers. */
static double mean_distance(double a, double b)
{
	double x = fabs(a), y = fabs(b);
	if (x + y == 0)
		return 0;
	return (a < 0) == (b < 0) ? (x + y) / 2 : (x * x + y * y) / (2 * (x + y));
}

struct errors {
	double largest; /* absolute, and with the half of a last place that rounding adds */
	double wrong;	/* share of results that rounding takes elsewhere */
	unsigned looks;
};

/* What is cut off x^2 is anything from nothing to one bit less than the last that is kept. */
static void look_up(struct errors *e, const struct sfu_table *t, const struct plan *p)
{
	for (uint32_t k = 0; k < 1u << (p->bits - t->low); k++)
		for (uint32_t i = 0; i < LOOKS; i++) {
			const uint32_t n = (uint32_t)((((uint64_t)2 * i + 1) << t->low) / (2 * LOOKS)),
				       x = (k << t->low) + n;
			const struct sfu_coefficients *c = &t->c[k];
			const real whole =
			    ldexpl((real)c->c0, t->shift0) + ldexpl((real)c->c1 * n, t->shift1) + (real)c->c2 * n * n;
			const real truth = p->f(p->first + ldexpl(x, -p->weight)),
				   cut = (real)c->c2 * ((1u << t->dropped) - 1);
			int exponent;
			frexpl(truth, &exponent);
			const double ulp = ldexp(1, exponent - DIGITS),
				     error = (double)(ldexpl(whole, -t->scale) - truth),
				     least = error - (double)ldexpl(cut, -t->scale);
			/* An angle was rounded to a whole x before. */
			const double turned =
			    p->direction ? 0 : (double)fabsl(p->f(p->first + ldexpl(x + 1, -p->weight)) - truth) / 2;
			e->largest = fmax(e->largest, fmax(fabs(error), fabs(least)) + ulp / 2 + turned);
			e->wrong += fmin(1, mean_distance(error, least) / ulp);
			e->looks++;
		}
}

struct sfu_accuracy sfu_accuracy(const struct sfu *s, enum sfu_function f)
{
	static const struct {
		int first, tables;
		double ulps; /* in 1, where all results have one last place; else 0 */
	} of[SFU_FUNCTIONS] = {[SFU_RCP] = {SFU_TABLE_RCP, 1, 0x1p24},
			       [SFU_RSQRT] = {SFU_TABLE_RSQRT_LOW, 2, 0x1p24},
			       [SFU_EX2] = {SFU_TABLE_EX2, 1, 0x1p23},
			       [SFU_LG2] = {SFU_TABLE_LG2, 1, 0},
			       [SFU_SIN] = {SFU_TABLE_SIN, 1, 0}};
	struct errors e = {0};
	for (int k = 0; k < of[f].tables; k++)
		look_up(&e, &s->table[of[f].first + k], &plan[of[f].first + k]);
	struct sfu_accuracy a = {.good_bits = -log2(e.largest), .max_ulp = e.largest * of[f].ulps};
	if (of[f].ulps > 0)
		a.exact_ratio = 1 - e.wrong / e.looks;
	return a;
}

/* ---- steps back: where segments meet, and at the top of a sine, where the function itself hardly rises ---- */

/* Of sines of angles 2^-23 apart, from so many before one of so many quarters of a turn. */
static bool sine_steps_back(const struct sfu_table *t, double quarters, int before, int count)
{
	enum { WEIGHT = 30 };
	float last = -1;
	for (int i = -before; i < count; i++) {
		const double at = (quarters + i * 0x1p-23 / (double)(HALF_TURN / 2)) * 0x1p25;
		const float v = (float)((double)sfu_rounded(t, (uint32_t)lrint(at), WEIGHT) * 0x1p-30);
		if (v < last)
			return true;
		last = v;
	}
	return false;
}

bool sfu_steps_back(const struct sfu *s, enum sfu_function f)
{
	enum { TOP = 16384, EDGE = 32 };
	static const int table[SFU_FUNCTIONS] = {SFU_TABLE_RCP, SFU_TABLE_RSQRT_LOW, SFU_TABLE_EX2, SFU_TABLE_LG2,
						 SFU_TABLE_SIN};
	bool back = f == SFU_SIN && sine_steps_back(&s->table[SFU_TABLE_SIN], 1, TOP, 0);
	for (int n = table[f]; n <= table[f] + (f == SFU_RSQRT); n++) {
		const struct sfu_table *t = &s->table[n];
		const struct plan *p = &plan[n];
		/* Of a sine, within segments too. */
		const int low = t->low - (p->direction ? 0 : 3);
		const uint32_t places = 1u << (p->bits - low);
		for (uint32_t k = 1; k < places && !back; k++) {
			const uint32_t x = k << low;
			const int64_t step = sfu_rounded(t, x, p->result) - sfu_rounded(t, x - 1, p->result);
			back =
			    p->direction ? step * p->direction < 0 : sine_steps_back(t, (double)k / places, EDGE, EDGE);
		}
	}
	return back;
}
