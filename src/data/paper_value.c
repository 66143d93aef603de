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

#define TOLERANCE_DIGITS 3 /* a wider one needs an entry in gpus/DEVIATIONS.md */
#define UNITS		 (sizeof units / sizeof units[0])

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

/* The ends of a printed value and one unit of its last digit, in the printed unit. It may be off by `absolute` and by
 * such a share of the end. */
struct ends {
	double lo, hi, digit, absolute, share;
};

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
static int read_list(struct paper_row *row, struct arena *a, double scale, struct ends *ends, struct err *e)
{
	double *list = ARENA_ARRAY(a, PAPER_LIST_MAX, double);
	const char *s = row->printed;
	if (!list)
		return err_nomem(e);
	ends->lo = INFINITY;
	for (;;) {
		double d;
		if (row->list_count == PAPER_LIST_MAX)
			return err_set(e, -EINVAL, "a list has at most %d numbers", PAPER_LIST_MAX);
		size_t n = read_number(s, &list[row->list_count], &d);
		if (n == 0 || (s[n] && !str_starts(s + n, ", ")))
			return not_a_value(row->printed, e);
		ends->digit = fmax(ends->digit, d);
		ends->lo = fmin(ends->lo, list[row->list_count]);
		ends->hi = fmax(ends->hi, list[row->list_count]);
		list[row->list_count++] *= scale;
		if (!s[n])
			break;
		s += n + strspn(s + n, ", ");
	}
	qsort(list, row->list_count, sizeof *list, ascending);
	row->list = list;
	return 0;
}

/* The two ends as printed, without tolerance. */
static int read_ends(const struct paper_row *row, struct ends *n, struct err *e)
{
	double *lo = &n->lo, *hi = &n->hi, *digit = &n->digit;
	const char *s = row->printed + (row->printed[0] == '~');
	bool least = str_starts(s, ">="), most = str_starts(s, "<=");
	s += least || most ? 2 : 0;
	size_t taken = read_number(s, lo, digit);
	*hi = *lo;
	if (taken && s[taken] == '-' && !least && !most) {
		s += taken + 1;
		taken = read_number(s, hi, digit);
	}
	if (taken == 0 || s[taken] || *hi < *lo)
		return not_a_value(row->printed, e);
	*hi = least ? INFINITY : *hi;
	*lo = most ? -INFINITY : *lo;
	return 0;
}

/* "2" is in the printed unit; "5 %" is of the value. */
static int read_tolerance(const struct paper_row *row, struct ends *ends, struct err *e)
{
	double value, digit;
	size_t n = read_number(row->tolerance, &value, &digit);
	const char *rest = row->tolerance + n + strspn(row->tolerance + n, " ");
	if (n == 0 || (*rest && strcmp(rest, "%") != 0))
		return err_set(e, -EINVAL, "'%.40s' is no tolerance; write '+- 2: why' or '+- 5 %%: why'",
			       row->tolerance);
	ends->absolute = *rest ? 0 : value;
	ends->share = *rest ? value / 100 : 0;
	return 0;
}

/* What is left open, in our unit. An end that is open stays open; each number of a list may be off as much as the largest. */
static void leave_open(const struct ends *n, bool list, double scale, double *lo, double *hi, double *open)
{
	const double most = n->share > 0 ? n->share * n->hi : 0,
		     least = n->share > 0 && !list ? n->share * n->lo : most;
	*open = (n->absolute + most) * scale;
	*lo = (n->lo - n->absolute - least) * scale;
	*hi = (n->hi + n->absolute + most) * scale;
}

int paper_value(struct paper_row *row, struct arena *a, struct err *e)
{
	struct ends n = {0};
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
	const bool list = strstr(row->printed, ", ") != NULL, given = *row->tolerance != 0;
	int rc = list ? read_list(row, a, u->scale, &n, e) : read_ends(row, &n, e);
	if (rc == 0 && given)
		rc = read_tolerance(row, &n, e);
	if (rc)
		return rc;
	/* A count is exact; the digits of everything else leave half of the last one open. Sizes are printed whole. */
	const bool exact = strcmp(row->unit, "count") == 0 || strcmp(row->unit, "bytes") == 0;
	const struct ends digits = {n.lo, n.hi, n.digit, exact ? 0 : n.digit / 2, 0};
	const double end = isfinite(n.hi) ? n.hi : n.lo;
	row->wide = n.absolute + n.share * end > TOLERANCE_DIGITS * n.digit * (1 + 1e-9);
	leave_open(given && !*row->deviation ? &n : &digits, list, u->scale, &row->lo, &row->hi, &row->open);
	if (!given)
		n.absolute = INFINITY;
	leave_open(&n, list, u->scale, &row->far_lo, &row->far_hi, &row->far_open);
	return 0;
}
