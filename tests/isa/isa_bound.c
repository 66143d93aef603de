#include "isa_bound.h"
#include "base/str.h"
#include <math.h>
#include <string.h>

static long double half_value(uint16_t h)
{
	int e = h >> 10 & 31;
	long double f = h & 1023, v = e == 31 ? (f > 0 ? NAN : INFINITY)
				      : e     ? ldexpl(f + 1024, e - 25)
					      : ldexpl(f, -24);
	return h & 0x8000 ? -v : v;
}

static long double number(enum ptx_type t, uint64_t bits, bool ftz)
{
	uint32_t low = (uint32_t)bits;
	float f;
	double d;
	if (t == PTX_F16)
		return half_value((uint16_t)bits);
	if (t == PTX_F64) {
		memcpy(&d, &bits, sizeof d);
		return ftz && fpclassify(d) == FP_SUBNORMAL ? copysign(0, d) : d;
	}
	memcpy(&f, &low, sizeof f);
	return ftz && fpclassify(f) == FP_SUBNORMAL ? copysignf(0, f) : f;
}

static long double exact(const char *line, long double x, long double y)
{
	if (str_starts(line, "rcp"))
		return 1 / x;
	if (str_starts(line, "sqrt"))
		return sqrtl(x);
	if (str_starts(line, "rsqrt"))
		return 1 / sqrtl(x);
	if (str_starts(line, "ex2"))
		return exp2l(x);
	if (str_starts(line, "lg2"))
		return log2l(x);
	if (str_starts(line, "sin"))
		return sinl(x);
	if (str_starts(line, "cos"))
		return cosl(x);
	if (str_starts(line, "tanh"))
		return tanhl(x);
	return x / y;
}

struct format {
	long double largest, subnormal, normal; /* largest finite, smallest subnormal, smallest normal number */
};

static struct format format_of(enum ptx_type t)
{
	if (t == PTX_F16)
		return (struct format){65504, 0x1p-24L, 0x1p-14L};
	if (t == PTX_F64)
		return (struct format){0x1.fffffffffffffp1023L, 0x1p-1074L, 0x1p-1022L};
	return (struct format){0x1.fffffep127L, 0x1p-149L, 0x1p-126L};
}

/* The bound of the manual at x (and y), as an absolute error; negative: nothing is promised. */
static long double bound(enum isa_rule rule, long double x, long double y, long double truth)
{
	long double t = fabsl(truth);
	switch (rule) {
	case ISA_RELATIVE_11:
		return t * 0x1p-11L;
	case ISA_RELATIVE_10:
		return t * 0x1.12p-10L; /* 2^-9.9 */
	case ISA_TRIGONOMETRIC:
		return fabsl(x) > 3.14159274102L && isfinite(x) ? -1 : 0x1.6a0ap-21L; /* 2^-20.5 */
	case ISA_LOGARITHM:
		return x > 0.5L && x < 2 ? 0x1p-22L : t * 0x1p-22L;
	case ISA_DIVISION:
		return isfinite(y) && (fabsl(y) < 0x1p-126L || fabsl(y) > 0x1p126L) ? -1 : t * 0x1p-22L;
	case ISA_DOUBLE_19:
		return t * 0x1p-19L;
	default:
		return t * 0x1p-22L;
	}
}

bool isa_within_bound(const struct isa_case *c, uint32_t thread, uint64_t answer, double *truth)
{
	enum ptx_type t = (enum ptx_type)c->d;
	bool ftz = strstr(c->line, ".ftz") != NULL;
	struct format f = format_of(t);
	long double x = number(t, isa_input(t, 0, thread), ftz);
	long double y = c->b == PTX_NONE ? 0 : number(t, isa_input(t, 1, thread), ftz);
	long double v = number(t, answer, false), want = exact(c->line, x, y);
	long double allowed = bound((enum isa_rule)c->rule, x, y, want);
	*truth = (double)want;
	if (allowed < 0)
		return true;
	if (want != want || v != v)
		return want != want && v != v;
	/* Flushed results are zeros of the right sign; the tanh unit and its kin round what is subnormal as they like. */
	allowed += ftz || c->rule == ISA_RELATIVE_11 ? f.normal : f.subnormal * 1.001L;
	if (isinf(v))
		return isinf(want) ? signbit(v) == signbit(want)
				   : fabsl(want) + allowed > f.largest && signbit(v) == signbit(want);
	if (isinf(want))
		return false;
	return fabsl(v - want) <= allowed;
}
