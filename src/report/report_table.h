/* Tables for people, laid out by libsmartcols. One failure is remembered and told by table_print. */
#ifndef FATHOM_REPORT_TABLE_H
#define FATHOM_REPORT_TABLE_H
#include "base/str.h"
#include "data/finding.h"
#include "report/report.h"

struct libscols_table;
struct libscols_line;
struct table {
	struct libscols_table *tb;
	struct libscols_line *line;
	const struct report_style *style;
	size_t column, rows;
	bool failed;
};
enum table_column { TABLE_LEFT, TABLE_RIGHT, TABLE_WRAP };
#define TABLE_INDENT 2

void table_open(struct table *t, const struct report_style *style);
void table_column(struct table *t, const char *title, enum table_column kind);
void table_row(struct table *t);
/* The next cell of the row. v colours it; VERDICT_MEASURED: plain. */
void table_cell(struct table *t, const char *text, enum verdict v);
/* Prints, unless it has no rows, and frees. What is too wide for the page stands a row a paragraph. */
void table_print(struct table *t, struct str *out);

/* "\033[1m" and the like, "" without colour. */
const char *table_bold(const struct report_style *style);
const char *table_plain(const struct report_style *style);

#endif
