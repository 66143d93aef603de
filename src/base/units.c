#include "base/units.h"
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

char *units_bytes(char *out, size_t n, uint64_t bytes)
{
	static const char *const names[] = {"KB", "MB", "GB", "TB"};
	uint64_t unit = (uint64_t)1 << 40;

	for (int i = 3; i >= 0; i--, unit >>= 10) {
		/* quarters of a unit are still exact and short: 1.25 MB, 1.5 KB */
		if (bytes >= unit && bytes % (unit / 4) == 0) {
			snprintf(out, n, "%.10g %s", (double)bytes / (double)unit, names[i]);
			return out;
		}
	}
	snprintf(out, n, "%llu %s", (unsigned long long)bytes, bytes == 1 ? "byte" : "bytes");
	return out;
}

/* 1.35e9 Hz -> "1.35 GHz" */
static void scaled(char *out, size_t n, double value, const char *unit)
{
	static const char *const prefix[] = {"", "k", "M", "G", "T"};
	int i = 0;

	while (i < 4 && fabs(value) >= 1000) {
		value /= 1000;
		i++;
	}
	snprintf(out, n, "%.6g %s%s", value, prefix[i], unit);
}

char *units_value(char *out, size_t n, double value, const char *unit)
{
	if (strcmp(unit, "bytes") == 0 && value >= 0 && value < 0x1p63 && value == floor(value))
		return units_bytes(out, n, (uint64_t)value);
	if (strcmp(unit, "yes/no") == 0)
		snprintf(out, n, "%s", value != 0 ? "yes" : "no");
	else if (strcmp(unit, "Hz") == 0)
		scaled(out, n, value, unit);
	else if (!*unit || strcmp(unit, "count") == 0 || strcmp(unit, "ratio") == 0 || strcmp(unit, "name") == 0)
		snprintf(out, n, "%.6g", value);
	else if (strcmp(unit, "cycles") == 0 && value == 1)
		snprintf(out, n, "1 cycle");
	else
		snprintf(out, n, "%.6g %s", value, unit);
	return out;
}

int units_parse_bytes(const char *text, uint64_t *bytes)
{
	static const struct {
		char letter;
		unsigned shift;
	} unit[] = {{'K', 10}, {'M', 20}, {'G', 30}, {'T', 40}};
	char *end;

	while (isspace((unsigned char)*text))
		text++;
	if (!isdigit((unsigned char)*text)) /* strtod would take signs, "inf" and "nan" */
		return -EINVAL;
	double v = strtod(text, &end);
	while (isspace((unsigned char)*end))
		end++;
	double scale = 1;
	bool lettered = false;
	for (size_t i = 0; i < sizeof(unit) / sizeof(unit[0]); i++) {
		if (toupper((unsigned char)*end) == unit[i].letter) {
			scale = (double)((uint64_t)1 << unit[i].shift);
			lettered = true;
			end++;
			break;
		}
	}
	if (lettered && *end == 'i')
		end++;
	if (!lettered && (strcmp(end, "bytes") == 0 || strcmp(end, "byte") == 0))
		end += strlen(end);
	else if (*end == 'B' || *end == 'b')
		end++;
	while (isspace((unsigned char)*end))
		end++;
	v *= scale;
	if (*end || !(v < 0x1p63) || v != floor(v))
		return -EINVAL;
	*bytes = (uint64_t)v;
	return 0;
}
