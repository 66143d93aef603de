/* An open run file: what saving and loading share. */
#ifndef FATHOM_STORE_FILE_H
#define FATHOM_STORE_FILE_H
#include "base/err.h"
#include "base/str.h"
#include "store/store.h"
#include <sqlite3.h>

#define STORE_APPLICATION 0x6674686d /* "fthm": says in the file's header that it is ours */

struct store {
	sqlite3 *db;
	char *path; /* for messages */
	int schema; /* of the file, after store_check */
};

/* Opens the database and sets it up: no statement was run yet that could find it damaged. */
int store_open(struct store **out, const char *path, struct err *e);
/* One sentence for a SQLite code. Damage and foreign files are told apart from full disks and locks. */
int store_fail(const struct store *s, int code, struct err *e);
int store_damaged(const struct store *s, struct err *e, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
/* Runs statements that return nothing. */
int store_exec(struct store *s, const char *sql, struct err *e);
/* Is this a regular file with content? Everything that can be said without SQLite. */
int store_look(const char *path, struct err *e);
/* Is it one of ours, of a schema that we know, and whole? */
int store_check(struct store *s, struct err *e);
/* Gives a file of an older schema what this one has beyond it. After store_check. */
int store_upgrade(struct store *s, struct err *e);
/* sql is freed. */
int store_prepare(struct store *s, sqlite3_stmt **out, struct str *sql, struct err *e);
/* One integer: "PRAGMA user_version". */
int store_number(struct store *s, const char *sql, int64_t *value, struct err *e);

#endif
