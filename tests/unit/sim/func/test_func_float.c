/* Float operations: every rounding mode is checked against the exact value, which is a sum of doubles that nothing rounds. */
#include "func_values.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static float f32_of(uint64_t v)
{
	uint32_t u = (uint32_t)v;
	float f;
	memcpy(&f, &u, sizeof f);
	return f;
}

static uint64_t bits32(float f)
{
	uint32_t u;
	memcpy(&u, &f, sizeof u);
	return u;
}

static double f64_of(uint64_t v)
{
	double d;
	memcpy(&d, &v, sizeof d);
	return d;
}

/* Sign of the exact sum of up to 16 doubles: terms are added into a list of parts that do not overlap. */
struct exact {
	double part[16];
	int n;
};

static void add_term(struct exact *x, double v)
{
	int kept = 0;
	for (int k = 0; k < x->n; k++) {
		double big = fabs(v) >= fabs(x->part[k]) ? v : x->part[k],
		       small = fabs(v) >= fabs(x->part[k]) ? x->part[k] : v;
		double sum = big + small, rest = small - (sum - big);
		if (rest != 0)
			x->part[kept++] = rest;
		v = sum;
	}
	x->n = kept;
	x->part[x->n++] = v;
}

static void add_product(struct exact *x, double a, double b)
{
	double p = a * b;
	add_term(x, p);
	add_term(x, fma(a, b, -p)); /* exact, unless it underflows: the operands are chosen so that it does not */
}

static int sign_of(struct exact x)
{
	for (int k = x.n; k-- > 0;)
		if (x.part[k] != 0)
			return x.part[k] > 0 ? 1 : -1;
	return 0;
}

static int compare_to(const struct exact *x, double v)
{
	struct exact d = *x;
	add_term(&d, -v);
	return sign_of(d);
}

/* What a float stands for on the number line; infinity is the next step behind the largest number. */
static double place32(float f)
{
	return isinf(f) ? copysign(0x1p128, f) : (double)f;
}

/* Twice x against the sum of two neighbours: which is nearer? */
static int against_middle(const struct exact *x, double one, double other)
{
	struct exact d = {.n = 0};
	for (int k = 0; k < x->n; k++)
		add_term(&d, 2 * x->part[k]);
	add_term(&d, -one);
	add_term(&d, -other);
	return sign_of(d);
}

/* Is `r` the exact value, rounded in the mode? up and down are r's neighbours. */
static bool rounded(const struct exact *x, double r, double down, double up, bool even, const char *mode)
{
	int at = compare_to(x, r);
	if (at == 0)
		return true;
	if (strcmp(mode, ".rm") == 0)
		return at > 0 && compare_to(x, up) < 0;
	if (strcmp(mode, ".rp") == 0)
		return at < 0 && compare_to(x, down) > 0;
	if (strcmp(mode, ".rz") == 0)
		return sign_of(*x) > 0 ? at > 0 && compare_to(x, up) < 0 : at < 0 && compare_to(x, down) > 0;
	int middle = at > 0 ? against_middle(x, r, up) : -against_middle(x, r, down);
	return middle < 0 || (middle == 0 && even);
}

static bool rounded32(const struct exact *x, float r, const char *mode)
{
	double down = place32(nextafterf(r, -INFINITY)), up = place32(nextafterf(r, INFINITY));
	if (isinf(r)) /* anything beyond is infinity too */
		down = r > 0 ? (double)0x1.fffffep127f : -0x1p130, up = r > 0 ? 0x1p130 : -(double)0x1.fffffep127f;
	if (isinf(r) && (r > 0 ? compare_to(x, 0x1p128) > 0 : compare_to(x, -0x1p128) < 0))
		return strcmp(mode, ".rz") != 0 && strcmp(mode, r > 0 ? ".rm" : ".rp") != 0;
	if (fabsf(r) == 0x1.fffffep127f && (r > 0 ? compare_to(x, 0x1p128) >= 0 : compare_to(x, -0x1p128) <= 0))
		return strcmp(mode, ".rz") == 0 || strcmp(mode, r > 0 ? ".rm" : ".rp") == 0;
	return rounded(x, place32(r), down, up, !(bits32(r) & 1), mode);
}

static bool rounded64(const struct exact *x, double r, const char *mode)
{
	uint64_t u;
	memcpy(&u, &r, sizeof u);
	return rounded(x, r, nextafter(r, -INFINITY), nextafter(r, INFINITY), !(u & 1), mode);
}

enum form { ADD, SUB, MUL, FMA, DIV, SQRT };
static const char *const names[] = {"add", "sub", "mul", "fma", "div", "sqrt"};
static const char *const modes[] = {".rn", ".rz", ".rm", ".rp"};

/* The exact value for add, sub, mul, fma. */
static struct exact exact_value(enum form f, double a, double b, double c)
{
	struct exact x = {.n = 0};
	if (f == ADD || f == SUB) {
		add_term(&x, a);
		add_term(&x, f == ADD ? b : -b);
	} else {
		add_product(&x, a, b);
		if (f == FMA)
			add_term(&x, c);
	}
	return x;
}

/* Quotients and roots are compared by multiplying back: the sign of a - m b with the sign of b, of a - m m. */
static int compare_back(enum form f, double a, double b, double m)
{
	struct exact x = {.n = 0};
	add_term(&x, a);
	add_product(&x, -m, f == DIV ? b : m);
	return sign_of(x) * (f == DIV && b < 0 ? -1 : 1);
}

static bool rounded_back(enum form f, double a, double b, float r, const char *mode)
{
	double up = place32(nextafterf(r, INFINITY)), down = place32(nextafterf(r, -INFINITY)), at = place32(r);
	int here = compare_back(f, a, b, at);
	bool positive = f == SQRT || (a < 0) == (b < 0);
	if (here == 0)
		return true;
	if (strcmp(mode, ".rm") == 0 || (positive && strcmp(mode, ".rz") == 0))
		return here > 0 && compare_back(f, a, b, up) < 0;
	if (strcmp(mode, ".rp") == 0 || strcmp(mode, ".rz") == 0)
		return here < 0 && compare_back(f, a, b, down) > 0;
	/* the middle of two floats is exact in a double */
	int middle = here > 0 ? compare_back(f, a, b, (at + up) / 2) : -compare_back(f, a, b, (at + down) / 2);
	return middle < 0 || (middle == 0 && !(bits32(r) & 1));
}

static double plain(enum form f, double a, double b, double c)
{
	switch (f) {
	case ADD:
		return a + b;
	case SUB:
		return a - b;
	case MUL:
		return a * b;
	case FMA:
		return fma(a, b, c);
	case DIV:
		return a / b;
	default:
		return sqrt(a);
	}
}

/* Infinities, NaNs, zeros and division by zero: the same for every mode but for the sign of an exact zero. */
static bool special(enum form f, double a, double b, double c)
{
	return !isfinite(a) || (f != SQRT && !isfinite(b)) || (f == FMA && !isfinite(c)) || (f == DIV && b == 0) ||
	       (f == SQRT && a <= 0);
}

static void check32(enum form f, const char *mode, const char *line, uint64_t a, uint64_t b, uint64_t c, uint64_t got)
{
	double x = f32_of(a), y = f32_of(b), z = f32_of(c);
	float r = f32_of(got);
	bool ok;
	if (special(f, x, y, z)) {
		float want = (float)plain(f, x, y, z);
		ok = isnan(want) ? got == 0x7fffffff : got == bits32(want);
	} else if (isnan(r)) {
		ok = false;
	} else if (f == DIV || f == SQRT) {
		ok = (x == 0 && r == 0) || (fabs(plain(f, x, y, z)) >= 0x1p127) || rounded_back(f, x, y, r, mode);
	} else {
		struct exact e = exact_value(f, x, y, z);
		ok = rounded32(&e, r, mode);
		/* an exact zero of different signs is -0 when rounding down only */
		if (sign_of(e) == 0 && (f == ADD || f == SUB) && x != 0)
			ok = ok && got == (strcmp(mode, ".rm") == 0 ? 0x80000000u : 0);
	}
	if (!ok)
		fail_msg("%s: %08llx %08llx %08llx gives %08llx", line, (unsigned long long)a, (unsigned long long)b,
			 (unsigned long long)c, (unsigned long long)got);
}

static uint64_t moderate64(struct rng *r)
{
	/* exponents within 2^+-40: products and their errors are normal, sums overlap */
	return (rng_next(r) & 0x800fffffffffffff) | (uint64_t)(983 + rng_below(r, 80)) << 52;
}

static void check64(enum form f, const char *mode, const char *line, uint64_t a, uint64_t b, uint64_t c, uint64_t got)
{
	struct exact e = exact_value(f, f64_of(a), f64_of(b), f64_of(c));
	if (!rounded64(&e, f64_of(got), mode))
		fail_msg("%s: %016llx %016llx %016llx gives %016llx", line, (unsigned long long)a,
			 (unsigned long long)b, (unsigned long long)c, (unsigned long long)got);
}

static void every_mode_rounds_right(void **state)
{
	struct rng r;
	(void)state;
	rng_seed(&r, 11);
	for (int form = ADD; form <= SQRT; form++)
		for (int mode = 0; mode < 4; mode++)
			for (int wide = 0; wide < 2; wide++) {
				enum ptx_type t = wide ? PTX_F64 : PTX_F32;
				struct one_op o;
				char line[64];
				if (wide && form >= DIV)
					continue;
				snprintf(line, sizeof line, "%s%s.%s d, a%s%s;", names[form], modes[mode],
					 ptx_type_name(t), form == SQRT ? "" : ", b", form == FMA ? ", c" : "");
				one_op_open(&o, line, t, t, form == SQRT ? PTX_NONE : t, form == FMA ? t : PTX_NONE,
					    90);
				for (int pass = 0; pass < 40; pass++) {
					one_op_fill(&o, &r);
					for (int k = 0; wide && k < 96; k++)
						o.in[k / 32][k % 32] = moderate64(&r);
					o.mask = pass % 8 ? UINT32_MAX : 1u << rng_below(&r, 32);
					one_op_run(&o);
					for (int l = 0; l < 32; l++)
						if (!(o.mask >> l & 1))
							assert_true(o.out[l] == (UNTOUCHED & type_mask(t)));
						else
							(wide ? check64 : check32)((enum form)form, modes[mode], line,
										   o.in[0][l], o.in[1][l], o.in[2][l],
										   o.out[l]);
				}
				one_op_close(&o);
			}
}

/* Hand-made: what the modifiers do. */
static const struct {
	const char *line;
	int cc;
	uint64_t a, b, c, want;
} cases[] = {
    {"add.f32 d, a, b;", 90, 0x3f800000, 0x33800000, 0, 0x3f800000}, /* tie to even */
    {"add.f32 d, a, b;", 90, 0x00000001, 0x00000001, 0, 0x00000002},
    {"add.ftz.f32 d, a, b;", 90, 0x00000001, 0x00000001, 0, 0},
    {"add.f32 d, a, b;", 13, 0x00000001, 0x00000001, 0, 0}, /* the first generation has no denormals */
    {"add.ftz.f32 d, a, b;", 90, 0x80000001, 0x80000001, 0, 0x80000000},
    {"add.sat.f32 d, a, b;", 90, 0x3f800000, 0x3f800000, 0, 0x3f800000},
    {"add.sat.f32 d, a, b;", 90, 0xbf800000, 0x00000000, 0, 0},
    {"add.sat.f32 d, a, b;", 90, 0x7fc00000, 0x00000000, 0, 0},
    {"add.sat.f32 d, a, b;", 90, 0x3f000000, 0x3e800000, 0, 0x3f400000},
    {"mul.ftz.sat.f32 d, a, b;", 90, 0x3f000000, 0x3f000000, 0, 0x3e800000},
    {"mul.ftz.f32 d, a, b;", 90, 0x00800000, 0x3f000000, 0, 0},
    {"mul.f32 d, a, b;", 90, 0x00800000, 0x3f000000, 0, 0x00400000},
    {"mul.f32 d, a, b;", 90, 0x7f800000, 0, 0, 0x7fffffff},
    /* (1 + 2^-12)^2 - 1: the tail 2^-24 is there once fused, lost once truncated */
    {"fma.rn.f32 d, a, b, c;", 90, 0x3f800800, 0x3f800800, 0xbf800000, 0x3a000400},
    {"mad.rn.f32 d, a, b, c;", 90, 0x3f800800, 0x3f800800, 0xbf800000, 0x3a000400},
    {"mad.f32 d, a, b, c;", 13, 0x3f800800, 0x3f800800, 0xbf800000, 0x3a000000},
    {"mad.f32 d, a, b, c;", 13, 0xbf800800, 0x3f800800, 0x3f800000, 0xba000000},
    /* the product 1.5 ulp below a power of two is cut, not rounded up to it */
    {"mad.f32 d, a, b, c;", 13, 0x3f7fffff, 0x3f7fffff, 0, 0x3f7ffffe},
    {"mul.f32 d, a, b;", 13, 0x3f7fffff, 0x3f7fffff, 0, 0x3f7ffffe},
    {"mad.f32 d, a, b, c;", 13, 0x3f800001, 0x3fc00000, 0, 0x3fc00001},
    {"mul.f32 d, a, b;", 13, 0x3f800001, 0x3fc00000, 0, 0x3fc00002},
    {"mad.sat.f32 d, a, b, c;", 13, 0x40000000, 0x40000000, 0, 0x3f800000},
    {"min.f32 d, a, b;", 90, 0x7fc00000, 0x3f800000, 0, 0x3f800000},
    {"min.f32 d, a, b;", 90, 0x3f800000, 0x7fc00000, 0, 0x3f800000},
    {"max.f32 d, a, b;", 90, 0x7fc00001, 0xffc00000, 0, 0x7fffffff},
    {"min.NaN.f32 d, a, b;", 90, 0x7fc00000, 0x3f800000, 0, 0x7fffffff},
    {"max.NaN.f32 d, a, b;", 90, 0x40000000, 0x3f800000, 0, 0x40000000},
    {"min.f32 d, a, b;", 90, 0, 0x80000000, 0, 0x80000000},
    {"min.f32 d, a, b;", 90, 0x80000000, 0, 0, 0x80000000},
    {"max.f32 d, a, b;", 90, 0, 0x80000000, 0, 0},
    {"max.f32 d, a, b;", 90, 0x80000000, 0, 0, 0},
    {"max.ftz.f32 d, a, b;", 90, 0x80000000, 1, 0, 0},
    {"abs.f32 d, a;", 90, 0xbf800000, 0, 0, 0x3f800000},
    {"abs.ftz.f32 d, a;", 90, 0x80000001, 0, 0, 0},
    {"neg.f32 d, a;", 90, 0, 0, 0, 0x80000000},
    {"neg.ftz.f32 d, a;", 90, 1, 0, 0, 0x80000000},
    {"copysign.f32 d, a, b;", 90, 0x80000000, 0x40000000, 0, 0xc0000000},
    {"rcp.rn.f32 d, a;", 90, 0x40000000, 0, 0, 0x3f000000},
    {"rcp.approx.f32 d, a;", 90, 0x80000000, 0, 0, 0xff800000},
    {"rcp.approx.ftz.f32 d, a;", 90, 1, 0, 0, 0x7f800000},
    {"rcp.rz.f32 d, a;", 90, 0x40400000, 0, 0, 0x3eaaaaaa},
    {"rcp.rp.f32 d, a;", 90, 0x40400000, 0, 0, 0x3eaaaaab},
    {"sqrt.approx.f32 d, a;", 90, 0x40800000, 0, 0, 0x40000000},
    {"sqrt.rn.f32 d, a;", 90, 0xbf800000, 0, 0, 0x7fffffff},
    {"sqrt.rn.f32 d, a;", 90, 0x80000000, 0, 0, 0x80000000},
    {"rsqrt.approx.f32 d, a;", 90, 0x40800000, 0, 0, 0x3f000000},
    {"rsqrt.approx.ftz.f32 d, a;", 90, 0x80000001, 0, 0, 0xff800000},
    {"sin.approx.f32 d, a;", 90, 0, 0, 0, 0},
    {"cos.approx.f32 d, a;", 90, 0, 0, 0, 0x3f800000},
    {"ex2.approx.f32 d, a;", 90, 0x40400000, 0, 0, 0x41000000},
    {"ex2.approx.ftz.f32 d, a;", 90, 0xc3000000, 0, 0, 0},
    {"lg2.approx.f32 d, a;", 90, 0x41000000, 0, 0, 0x40400000},
    {"lg2.approx.f32 d, a;", 90, 0xbf800000, 0, 0, 0x7fffffff},
    {"tanh.approx.f32 d, a;", 90, 0x7f800000, 0, 0, 0x3f800000},
    {"div.approx.f32 d, a, b;", 90, 0x40c00000, 0x40000000, 0, 0x40400000},
    {"div.full.ftz.f32 d, a, b;", 90, 0x00800000, 0x40000000, 0, 0},
    {"set.gtu.u32.f32 d, a, b;", 90, 0x7fc00000, 0, 0, 0xffffffff},
    {"set.gt.u32.f32 d, a, b;", 90, 0x7fc00000, 0, 0, 0},
    {"set.ne.f32.f32 d, a, b;", 90, 0x7fc00000, 0, 0, 0},
    {"set.neu.f32.f32 d, a, b;", 90, 0x7fc00000, 0, 0, 0x3f800000},
    {"set.num.u32.f32 d, a, b;", 90, 0x3f800000, 0, 0, 0xffffffff},
    {"set.nan.u32.f32 d, a, b;", 90, 0x3f800000, 0, 0, 0},
    {"set.gt.ftz.u32.f32 d, a, b;", 90, 1, 0, 0, 0},
    {"set.gt.u32.f32 d, a, b;", 90, 1, 0, 0, 0xffffffff},
    {"slct.f32.f32 d, a, b, c;", 90, 5, 6, 0x80000000, 5},
    {"slct.f32.f32 d, a, b, c;", 90, 5, 6, 0x7fc00000, 6},
    {"slct.f32.f32 d, a, b, c;", 90, 5, 6, 0x80000001, 6},
    {"slct.ftz.f32.f32 d, a, b, c;", 90, 5, 6, 0x80000001, 5},
};

static void modifiers(void **state)
{
	(void)state;
	for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
		bool b = strchr(cases[k].line, 'b') && strstr(cases[k].line, ", b"),
		     c = strstr(cases[k].line, ", c") != NULL;
		struct one_op o;
		enum ptx_type d = strstr(cases[k].line, ".u32") ? PTX_U32 : PTX_F32;
		one_op_open(&o, cases[k].line, d, PTX_F32, b ? PTX_F32 : PTX_NONE, c ? PTX_F32 : PTX_NONE, cases[k].cc);
		for (int l = 0; l < 32; l++) {
			o.in[0][l] = cases[k].a;
			o.in[1][l] = cases[k].b;
			o.in[2][l] = cases[k].c;
		}
		for (int single = 0; single < 2; single++) {
			o.mask = single ? 4 : UINT32_MAX;
			one_op_run(&o);
			if (o.out[2] != cases[k].want)
				fail_msg("%s on %d: %llx %llx %llx gives %llx, not %llx", cases[k].line, cases[k].cc,
					 (unsigned long long)cases[k].a, (unsigned long long)cases[k].b,
					 (unsigned long long)cases[k].c, (unsigned long long)o.out[2],
					 (unsigned long long)cases[k].want);
		}
		one_op_close(&o);
	}
}

/* Comparisons against C's own, all of them, both types, with NaNs among the operands. */
static bool compares(const char *cmp, double x, double y)
{
	bool nan = isnan(x) || isnan(y);
	size_t n = strlen(cmp);
	if (strcmp(cmp, "num") == 0)
		return !nan;
	if (strcmp(cmp, "nan") == 0)
		return nan;
	if (nan)
		return cmp[n - 1] == 'u';
	switch (cmp[0] << 8 | cmp[1]) {
	case 'e' << 8 | 'q':
		return x == y;
	case 'n' << 8 | 'e':
		return x != y;
	case 'l' << 8 | 't':
		return x < y;
	case 'l' << 8 | 'e':
		return x <= y;
	case 'g' << 8 | 't':
		return x > y;
	default:
		return x >= y;
	}
}

static void comparisons(void **state)
{
	static const char *const cmps[] = {"eq",  "ne",	 "lt",	"le",  "gt",  "ge",  "equ",
					   "neu", "ltu", "leu", "gtu", "geu", "num", "nan"};
	struct rng r;
	(void)state;
	rng_seed(&r, 12);
	for (size_t k = 0; k < sizeof cmps / sizeof *cmps; k++)
		for (int wide = 0; wide < 2; wide++) {
			enum ptx_type t = wide ? PTX_F64 : PTX_F32;
			struct one_op o;
			char line[64];
			snprintf(line, sizeof line, "setp.%s.%s d, a, b;", cmps[k], ptx_type_name(t));
			one_op_open(&o, line, PTX_PRED, t, t, PTX_NONE, 90);
			for (int pass = 0; pass < 30; pass++) {
				one_op_fill(&o, &r);
				for (int l = 0; l < 32; l += 3)
					o.in[1][l] = o.in[0][l];
				o.mask = pass % 4 ? UINT32_MAX : 1u << rng_below(&r, 32);
				one_op_run(&o);
				for (int l = 0; l < 32; l++) {
					double x = wide ? f64_of(o.in[0][l]) : (double)f32_of(o.in[0][l]);
					double y = wide ? f64_of(o.in[1][l]) : (double)f32_of(o.in[1][l]);
					assert_int_equal(o.out[l], (o.mask >> l & 1) && compares(cmps[k], x, y));
				}
			}
			one_op_close(&o);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(every_mode_rounds_right),
	    cmocka_unit_test(modifiers),
	    cmocka_unit_test(comparisons),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
