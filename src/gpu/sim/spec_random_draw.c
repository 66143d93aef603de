#include "gpu/sim/spec_random_draw.h"
#include "base/str.h"
#include <stdarg.h>
#include <stdio.h>

int draw_between(struct rng *r, int lo, int hi)
{
	return hi <= lo ? lo : lo + (int)rng_below(r, (uint64_t)(hi - lo) + 1);
}

bool draw_chance(struct rng *r, double p)
{
	return rng_unit(r) < p;
}

void draw_put(struct str *out, const char *key, const char *unit, const char *fmt, ...)
{
	char value[512];
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(value, sizeof value, fmt, ap);
	va_end(ap);
	str_addf(out, "%s = %s %s # guess: drawn\n", key, value, unit);
}

void draw_put_int(struct str *out, const char *key, const char *unit, long long v)
{
	draw_put(out, key, unit, "%lld", v);
}
