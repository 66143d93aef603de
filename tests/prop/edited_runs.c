/* Run files with one value edited. SQLite finds each valid. Whatever the value is, it is refused in one sentence, or
 * the run can be concluded from, drawn and reported in every format. Every column of every table is set to every value,
 * in all rows and, where there are several, in one.
 *
 * Usage: edited_runs PROBE... */
#include "run_edits.h"
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static unsigned edits, refused;

static int edit(const unsigned char *bytes, size_t n, const char *path, sqlite3_stmt *at, size_t value, bool all)
{
	const char *table = (const char *)sqlite3_column_text(at, 0),
		   *column = (const char *)sqlite3_column_text(at, 1);
	sqlite3 *db = edit_copy(bytes, n);
	bool refuses = false;
	char said[600] = "";
	int bad = 0;

	if (edit_set(db, table, column, edit_values[value], all, 7)) {
		bad = edit_judge(db, path, &refuses, said);
		edits++;
		refused += refuses;
	}
	if (bad)
		printf("%s.%s = %s in %s: %s\n", table, column, edit_values[value], all ? "all rows" : "one row", said);
	sqlite3_close(db);
	return bad;
}

static bool has_several(sqlite3 *db, const char *table)
{
	char sql[100];
	sqlite3_stmt *rows = NULL;

	snprintf(sql, sizeof(sql), "SELECT 1 FROM %s LIMIT 1 OFFSET 1", table);
	const bool several =
	    sqlite3_prepare_v2(db, sql, -1, &rows, NULL) == SQLITE_OK && sqlite3_step(rows) == SQLITE_ROW;
	sqlite3_finalize(rows);
	return several;
}

int main(int argc, char **argv)
{
	static const char list[] = "SELECT m.name, p.name FROM sqlite_schema m JOIN pragma_table_info(m.name) p "
				   "WHERE m.type = 'table'";
	char path[] = "/tmp/fathom-edited-XXXXXX";
	size_t n = 0;
	unsigned char *bytes = edit_make_run((const char *const *)argv + 1, (size_t)argc - 1, &n);
	const int fd = mkstemp(path);
	sqlite3_stmt *at;
	int bad = 0;

	if (!n || fd < 0)
		return 2;
	close(fd);
	sqlite3 *db = edit_copy(bytes, n);
	if (sqlite3_prepare_v2(db, list, -1, &at, NULL))
		return 2;
	while (sqlite3_step(at) == SQLITE_ROW) {
		const size_t ways = has_several(db, (const char *)sqlite3_column_text(at, 0)) ? 2 : 1;
		for (size_t i = 0; i < ways * edit_value_count; i++)
			bad += edit(bytes, n, path, at, i / ways, i % ways == 0);
	}
	sqlite3_finalize(at);
	sqlite3_close(db);
	sqlite3_free(bytes);
	unlink(path);
	printf("%u edits: %u refused, %u used, %d wrong\n", edits, refused, edits - refused, bad);
	return bad || !refused || refused == edits;
}
