/* An open run file: what saving and loading share. */
#ifndef FATHOM_STORE_FILE_H
#define FATHOM_STORE_FILE_H
#include "base/err.h"
#include "base/str.h"
#include "store/store.h"
#include <sqlite3.h>
#include <sys/types.h>
#include <time.h>

#define STORE_APPLICATION 0x6674686d /* "fthm": says in the file's header that it is ours */

/* What a file was when its writer had last written it. */
struct store_mark {
	dev_t device;
	ino_t inode;
	off_t size;
	struct timespec changed;
};

struct store {
	sqlite3 *db;
	char *path;		/* for messages */
	char *name;		/* the same for SQLite, or of the private copy that is read */
	int schema;		/* of the file, after store_check */
	bool copied;		/* name is of a private copy, which goes with the store */
	struct store_mark mark; /* of a writer */
};

/* Opens the database and sets it up: no statement was run yet that could find it damaged. Not for writing, nothing is written: where a killed
 * writer left a journal, a private copy is rolled back and read. */
int store_open(struct store **out, const char *path, bool write, struct err *e);

/* store_guard.c. A name beside path, as SQLite is given it: never a URI and never ":memory:". NULL: out of memory. */
char *store_beside(const char *path, const char *suffix);
/* Refuses what fathom never leaves: a journal that is no regular file or names a further file, and a write-ahead log. *journal: there is one. */
int store_look_beside(const char *path, bool *journal, struct err *e);
/* Copies a file and its journal into a new private folder; *copy is the copy's name. -EAGAIN: the journal went away meanwhile. */
int store_copy(const char *path, char **copy, struct err *e);
void store_copy_remove(char *copy);
/* Remembers what the file is now that its writer has written it. -ESTALE: it is gone. */
int store_mark(struct store *s, struct err *e);
/* Whether the file is still the one that was marked; content: and was not written since. 0, or -ESTALE with one sentence. */
int store_unchanged(const struct store *s, bool content, struct err *e);
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
