/* Which member of a record stands in which column: one table serves INSERT and SELECT. */
#ifndef FATHOM_STORE_FIELDS_H
#define FATHOM_STORE_FIELDS_H
#include "base/arena.h"
#include "base/str.h"
#include <sqlite3.h>
#include <stddef.h>
#include <stdint.h>

enum field_kind {
	FIELD_TEXT, /* char[size] */
	FIELD_NAME, /* const char *, NULL allowed; read into the arena */
	FIELD_INT,  /* int */
	FIELD_U32,
	FIELD_INDEX, /* u32; UINT32_MAX is NULL */
	FIELD_U64,   /* all 64 bits, stored as a signed number */
	FIELD_I64,
	FIELD_REAL, /* NaN is NULL */
	FIELD_FINITE,
	FIELD_BOOL,
	FIELD_STATE,   /* enum probe_state, by name */
	FIELD_OUTCOME, /* enum outcome, by name */
	FIELD_VERDICT, /* enum verdict, by name */
	FIELD_VALUE,   /* enum value_kind, by name */
};
struct field {
	const char *column;
	enum field_kind kind;
	size_t offset, size;
};
struct field_table {
	const char *table;
	const struct field *fields;
	size_t count;
};
extern const struct field_table run_table, concluded_table, device_table, probe_table_fields, series_table,
    native_table, layout_table, region_table, point_table, finding_table,
    rival_table; /* of a finding, too: what came second */

/* "INSERT OR REPLACE INTO t(extra,columns...) VALUES(?,...)"; extra: comma-separated further columns, bound first, or "". */
void fields_insert(struct str *sql, const struct field_table *t, const char *extra);
/* "SELECT columns...,extra FROM t" */
void fields_select(struct str *sql, const struct field_table *t, const char *extra);
/* Binds all fields of the record from parameter `first` on. A SQLite code. */
int fields_bind(sqlite3_stmt *st, int first, const struct field_table *t, const void *record);
/* Reads columns 0.. of the row into the record. 0; -ENOMEM; -EINVAL with *column = the column whose value is impossible. */
int fields_read(sqlite3_stmt *st, const struct field_table *t, void *record, struct arena *a, const char **column);
/* Text of a column: NUL-terminated, without NUL inside, or NULL. */
const char *fields_text(sqlite3_stmt *st, int column);
/* What a terminal would obey instead of showing goes no further than here: commands print texts as they are. */
void fields_defuse(char *text);

#endif
