#include "data/paper_value.h"
#include "base/str.h"
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct unit {
	const char *printed, *ours;
	double scale;
} units[] = {
    {"cycles", "cycles", 1},
    {"count", "count", 1},
    {"bytes", "bytes", 1},
    {"KB", "bytes", 1024},
    {"MB", "bytes", 1024 * 1024},
    {"GB", "bytes", 1024.0 * 1024 * 1024},
    {"ops/clk/SM", "ops/clk/SM", 1},
    {"bytes/clk", "bytes/clk", 1},
    {"GB/s", "GB/s", 1},
    {"ratio", "ratio", 1},
    {"%", "ratio", 0.01},
    {"Hz", "Hz", 1},
    {"MHz", "Hz", 1e6},
    {"GHz", "Hz", 1e9},
    {"s", "s", 1},
    {"ms", "s", 1e-3},
    {"us", "s", 1e-6},
    {"ns", "s", 1e-9},
    {"Gop/s", "Gop/s", 1},
};

#define UNITS (sizeof units / sizeof units[0])

static const struct unit *find_unit(const char *printed)
{
	for (size_t i = 0; i < UNITS; i++)
		if (strcmp(units[i].printed, printed) == 0)
			return &units[i];
	return NULL;
}

static int unknown_unit(const char *unit, struct err *e)
{
	char known[256] = "name, yes/no";
	for (size_t i = 0; i < UNITS; i++) {
		size_t n = strlen(known);
		snprintf(known + n, sizeof known - n, ", %s", units[i].printed);
	}
	return err_set(e, -EINVAL, "the unit '%.20s' is unknown; known are %s", unit, known);
}

/* A number at s: digits, one point at most, commas between groups of three ("16,384"). *digit is one unit of its last
 * digit: "7.9" -> 0.1. Bytes taken, 0 when there is none. */
static size_t read_number(const char *s, double *value, double *digit)
{
	char plain[48];
	size_t n = 0, i = 0;
	bool point = false;
	for (; s[i] && n + 1 < sizeof plain; i++) {
		bool group = s[i] == ',' && i > 0 && !point && strspn(s + i + 1, "0123456789") == 3;
		if (group)
			continue;
		if (s[i] == '.' && !point)
			point = true;
		else if (s[i] < '0' || s[i] > '9')
			break;
		plain[n++] = s[i];
	}
	plain[n] = '\0';
	if (strspn(plain, ".") == n)
		return 0;
	const char *dot = strchr(plain, '.');
	*value = strtod(plain, NULL);
	*digit = dot ? pow(10, -(double)(n - (size_t)(dot - plain) - 1)) : 1;
	return i;
}

static int not_a_value(const char *s, struct err *e)
{
	return err_set(e, -EINVAL,
		       "'%.40s' is neither a number nor a range; write 7.9, 436-443, ~440, >=44 or a list: 17, 8, 8",
		       s);
}

static int ascending(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

/* "17, 8, 8": a comma and a blank stand between the numbers. */
static int read_list(struct paper_row *row, struct arena *a, double scale, double *digit, struct err *e)
{
	double *list = ARENA_ARRAY(a, PAPER_LIST_MAX, double), largest = 0;
	const char *s = row->printed;
	if (!list)
		return err_nomem(e);
	*digit = 0;
	for (;;) {
		double d;
		if (row->list_count == PAPER_LIST_MAX)
			return err_set(e, -EINVAL, "a list has at most %d numbers", PAPER_LIST_MAX);
		size_t n = read_number(s, &list[row->list_count], &d);
		if (n == 0 || (s[n] && !str_starts(s + n, ", ")))
			return not_a_value(row->printed, e);
		*digit = fmax(*digit, d);
		largest = fmax(largest, list[row->list_count]);
		list[row->list_count++] *= scale;
		if (!s[n])
			break;
		s += n + strspn(s + n, ", ");
	}
	qsort(list, row->list_count, sizeof *list, ascending);
	row->list = list;
	row->lo = list[0];
	row->hi = largest * scale;
	return 0;
}

/* The two ends as printed, without tolerance. */
static int read_ends(struct paper_row *row, double *lo, double *hi, double *digit, struct err *e)
{
	const char *s = row->printed + (row->printed[0] == '~');
	bool least = str_starts(s, ">="), most = str_starts(s, "<=");
	s += least || most ? 2 : 0;
	size_t n = read_number(s, lo, digit);
	*hi = *lo;
	if (n && s[n] == '-' && !least && !most) {
		s += n + 1;
		n = read_number(s, hi, digit);
	}
	if (n == 0 || s[n] || *hi < *lo)
		return not_a_value(row->printed, e);
	*hi = least ? INFINITY : *hi;
	*lo = most ? -INFINITY : *lo;
	return 0;
}

/* "2" is in the printed unit; "5 %" is of the value. */
static int read_tolerance(const struct paper_row *row, double *absolute, double *share, struct err *e)
{
	double value, digit;
	size_t n = read_number(row->tolerance, &value, &digit);
	const char *rest = row->tolerance + n + strspn(row->tolerance + n, " ");
	if (n == 0 || (*rest && strcmp(rest, "%") != 0))
		return err_set(e, -EINVAL, "'%.40s' is no tolerance; write '+- 2: why' or '+- 5 %%: why'",
			       row->tolerance);
	*absolute = *rest ? 0 : value;
	*share = *rest ? value / 100 : 0;
	return 0;
}

int paper_value(struct paper_row *row, struct arena *a, struct err *e)
{
	double scale, lo = 0, hi = 0, digit = 0, absolute = 0, share = 0;
	row->unit = row->printed_unit;
	row->is_word = strcmp(row->unit, "name") == 0 || strcmp(row->unit, "yes/no") == 0;
	if (row->is_word && *row->tolerance)
		return err_set(e, -EINVAL, "the word '%.40s' cannot have a tolerance", row->printed);
	if (row->is_word)
		return 0;
	const struct unit *u = find_unit(row->printed_unit);
	if (!u)
		return unknown_unit(row->printed_unit, e);
	row->unit = u->ours;
	scale = u->scale;
	bool list = strstr(row->printed, ", ") != NULL;
	int rc = list ? read_list(row, a, scale, &digit, e) : read_ends(row, &lo, &hi, &digit, e);
	if (rc == 0 && *row->tolerance)
		rc = read_tolerance(row, &absolute, &share, e);
	if (rc)
		return rc;
	/* A count is exact; the digits of everything else leave half of the last one open. Sizes are printed whole. */
	bool exact = strcmp(row->unit, "count") == 0 || strcmp(row->unit, "bytes") == 0;
	if (!*row->tolerance)
		absolute = exact ? 0 : digit / 2;
	row->open = absolute * scale;
	if (list) {
		row->open += share * row->hi;
		row->lo -= row->open;
		row->hi += row->open;
	} else {
		row->lo = (lo - absolute - (share ? share * fabs(lo) : 0)) * scale; /* an open end stays open */
		row->hi = (hi + absolute + (share ? share * fabs(hi) : 0)) * scale;
	}
	return 0;
}
