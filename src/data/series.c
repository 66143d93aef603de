#include "data/series.h"
#include "base/str.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Shortest text that reads back as the same number: labels must tell all coordinates apart. */
static int number(char *out, size_t n, double v)
{
	int len = snprintf(out, n, "%.15g", v);
	return strtod(out, NULL) == v ? len : snprintf(out, n, "%.17g", v);
}

char *series_label(char *out, size_t n, const struct series *s, double x, const double *p)
{
	char text[1024], value[40];
	number(value, sizeof(value), x);
	int len = snprintf(text, sizeof(text), "%.100s.%.100s x=%s", s->probe, s->experiment, value);
	for (unsigned i = 0; p && i < POINT_PARAMS; i++) {
		/* an unnamed parameter still is a coordinate when it is set */
		if (!s->params[i] && p[i] == 0)
			continue;
		number(value, sizeof(value), p[i]);
		len += s->params[i] ? snprintf(text + len, sizeof(text) - (size_t)len, " %.32s=%s", s->params[i], value)
				    : snprintf(text + len, sizeof(text) - (size_t)len, " p%u=%s", i, value);
	}
	if ((size_t)len < n)
		memcpy(out, text, (size_t)len + 1);
	else
		snprintf(out, n, "%.*s #%016llx", (int)(n - 20), text,
			 (unsigned long long)hash64(text, (size_t)len, 0));
	return out;
}

const char *point_why(const struct point *pt)
{
	return !pt ? "points are missing" : pt->message[0] ? pt->message : outcome_name(pt->outcome);
}
