/* Opening, locking, checking. A writer holds SQLite's exclusive lock from open to close; it dies with the process.
 * Every probe is one transaction with a rollback journal. Whatever kills the process loses only the transaction in
 * hand. */
#include "base/embed.h"
#include "store/store_file.h"
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int store_damaged(const struct store *s, struct err *e, const char *fmt, ...)
{
	char what[160];
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(what, sizeof(what), fmt, ap);
	va_end(ap);
	for (char *c = what; *c; c++) /* words of the file may be in it */
		if ((unsigned char)*c < ' ' || (unsigned char)*c > '~')
			*c = '?';
	return err_set(e, -EBADMSG, "%s is damaged: %s", s->path, what);
}

/* Why the system refused: SQLite keeps it with the connection or, for a write at commit, with the file. */
static int system_errno(const struct store *s)
{
	int system = sqlite3_system_errno(s->db);
	sqlite3_file *journal = NULL;
	if (system == 0)
		sqlite3_file_control(s->db, "main", SQLITE_FCNTL_LAST_ERRNO, &system);
	if (system == 0)
		sqlite3_file_control(s->db, "main", SQLITE_FCNTL_JOURNAL_POINTER, &journal);
	if (journal && journal->pMethods)
		journal->pMethods->xFileControl(journal, SQLITE_FCNTL_LAST_ERRNO, &system);
	return system;
}

int store_fail(const struct store *s, int code, struct err *e)
{
	int system = system_errno(s);
	switch (code & 0xff) {
	case SQLITE_NOMEM:
		return err_nomem(e);
	case SQLITE_BUSY:
	case SQLITE_LOCKED:
		return err_set(e, -EBUSY, "%s is in use: another fathom is writing it", s->path);
	case SQLITE_FULL:
		return err_set(e, -ENOSPC, "the disk is full: %s could not be extended", s->path);
	case SQLITE_READONLY:
		return err_set(e, -EROFS, "%s cannot be written: the file or its folder is read-only", s->path);
	case SQLITE_CANTOPEN:
	case SQLITE_PERM:
	case SQLITE_AUTH:
		return err_set(e, system ? -system : -EACCES, "%s cannot be opened%s%s", s->path, system ? ": " : "",
			       system ? strerror(system) : "");
	case SQLITE_NOTADB:
		return err_set(e, -EINVAL, "%s is not a run file of fathom (nor any SQLite file)", s->path);
	case SQLITE_IOERR:
		if (system == ENOSPC || system == EFBIG || system == EDQUOT)
			return err_set(e, -ENOSPC, "no more room: %s could not be extended", s->path);
		if (code == SQLITE_IOERR_SHORT_READ)
			return store_damaged(s, e, "it ends too early");
		return err_set(e, -EIO, "%s cannot be read or written: %s", s->path,
			       system ? strerror(system) : sqlite3_errmsg(s->db));
	default:
		return store_damaged(s, e, "%s", sqlite3_errmsg(s->db));
	}
}

int store_exec(struct store *s, const char *sql, struct err *e)
{
	int rc = sqlite3_exec(s->db, sql, NULL, NULL, NULL);
	return rc == SQLITE_OK ? 0 : store_fail(s, rc, e);
}

int store_prepare(struct store *s, sqlite3_stmt **out, struct str *sql, struct err *e)
{
	int rc = sql->failed ? SQLITE_NOMEM : sqlite3_prepare_v2(s->db, str_text(sql), -1, out, NULL);
	str_free(sql);
	return rc == SQLITE_OK ? 0 : store_fail(s, rc, e);
}

int store_number(struct store *s, const char *sql, int64_t *value, struct err *e)
{
	sqlite3_stmt *st = NULL;
	*value = 0;
	int rc = sqlite3_prepare_v2(s->db, sql, -1, &st, NULL);
	if (rc == SQLITE_OK) {
		rc = sqlite3_step(st);
		if (rc == SQLITE_ROW) {
			*value = sqlite3_column_int64(st, 0);
			rc = SQLITE_OK;
		} else if (rc == SQLITE_DONE) {
			rc = SQLITE_CORRUPT;
		}
	}
	sqlite3_finalize(st);
	return rc == SQLITE_OK ? 0 : store_fail(s, rc, e);
}

/* A file that was cut within its last page: SQLite takes what is missing there for zeros. If a killed writer left a
 * journal, that puts the file right. */
static bool ends_within_page(const char *path, off_t size)
{
	unsigned char head[18];
	char journal[4096];
	FILE *f = fopen(path, "rb");
	const bool read = f && fread(head, 1, sizeof head, f) == sizeof head;
	if (f)
		fclose(f);
	if (!read || memcmp(head, "SQLite format 3", 16) != 0)
		return false;
	snprintf(journal, sizeof journal, "%s-journal", path);
	const long page = head[16] << 8 | head[17], bytes = page == 1 ? 65536 : page;
	return bytes && size % bytes != 0 && access(journal, F_OK) != 0;
}

int store_look(const char *path, struct err *e)
{
	struct stat st;
	if (stat(path, &st) != 0)
		return errno == ENOENT ? err_set(e, -ENOENT, "there is no file %s", path)
				       : err_set(e, -errno, "%s cannot be opened: %s", path, strerror(errno));
	if (S_ISDIR(st.st_mode))
		return err_set(e, -EISDIR, "%s is a folder, not a run file", path);
	if (!S_ISREG(st.st_mode))
		return err_set(e, -EINVAL, "%s is not a regular file", path);
	if (st.st_size == 0)
		return err_set(e, -EINVAL, "%s is empty: no run was stored in it", path);
	if (faccessat(AT_FDCWD, path, R_OK, AT_EACCESS) != 0)
		return err_set(e, -errno, "%s cannot be read: %s", path, strerror(errno));
	if (ends_within_page(path, st.st_size))
		return err_set(e, -EINVAL, "%s is damaged: it ends too early", path);
	return 0;
}

/* Opens s->name. A run file may come from anywhere: its schema is data, not code. */
static int open_database(struct store *s, bool write, struct err *e)
{
	const int how = write ? SQLITE_OPEN_READWRITE : SQLITE_OPEN_READONLY,
		  rc = sqlite3_open_v2(s->name, &s->db, how | SQLITE_OPEN_NOMUTEX, NULL);

	if (rc != SQLITE_OK)
		return s->db ? store_fail(s, sqlite3_extended_errcode(s->db), e) : err_nomem(e);
	sqlite3_extended_result_codes(s->db, 1);
	sqlite3_db_config(s->db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
	sqlite3_db_config(s->db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
	sqlite3_db_config(s->db, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
	sqlite3_db_config(s->db, SQLITE_DBCONFIG_ENABLE_VIEW, 0, NULL);
	return 0;
}

/* Whether only a rollback could make the file readable: a killed writer left a transaction half done. */
static bool is_half_done(struct store *s)
{
	return sqlite3_exec(s->db, "PRAGMA user_version", NULL, NULL, NULL) == SQLITE_READONLY_ROLLBACK;
}

static int open_copy(struct store *s, struct err *e)
{
	char *copy;
	const int code = store_copy(s->name, &copy, e);

	if (code)
		return code;
	sqlite3_close(s->db);
	s->db = NULL;
	mem_free(s->name);
	s->name = copy;
	s->copied = true;
	return open_database(s, true, e);
}

int store_open(struct store **out, const char *path, bool write, struct err *e)
{
	struct store *s = mem_zero(1, sizeof(*s));
	bool journal = false;
	if (!s)
		return err_nomem(e);
	/* SQLite follows links, and looks for the journal beside the file itself. */
	char real[PATH_MAX];
	const char *file = realpath(path, real) ? real : path;
	s->path = mem_alloc(strlen(path) + 1);
	s->name = store_beside(file, "");
	int code;
	if (s->path && s->name) {
		memcpy(s->path, path, strlen(path) + 1);
		code = store_look_beside(file, &journal, e);
	} else {
		code = err_nomem(e);
	}
	if (!code)
		code = open_database(s, write, e);
	if (!code && !write && journal && is_half_done(s))
		code = open_copy(s, e);
	if (code)
		store_close(s);
	else
		*out = s;
	return code;
}

void store_close(struct store *s)
{
	if (!s)
		return;
	sqlite3_close(s->db);
	if (s->copied)
		store_copy_remove(s->name);
	mem_free(s->path);
	mem_free(s->name);
	mem_free(s);
}

/* What came with each schema after the first. */
static const struct {
	int schema;
	const char *name, *create;
} since[] = {{2, "native_layout", "CREATE TABLE native_layout"},
	     {3, "findings", "CREATE VIEW findings"},
	     {4, "concluded", "CREATE TABLE concluded"},
	     {5, "rival", "CREATE TABLE rival"}};
#define SINCE_COUNT (sizeof since / sizeof *since)

/* Does a file of this schema lack it? */
static bool not_yet(const char *name, int schema)
{
	for (size_t i = 0; i < SINCE_COUNT; i++)
		if (strcmp(name, since[i].name) == 0)
			return since[i].schema > schema;
	return false;
}

/* The next row of what this program would create in a file of that schema. */
static int step_own(sqlite3_stmt *own, int schema)
{
	for (;;) {
		int rc = sqlite3_step(own);
		const char *table = rc == SQLITE_ROW ? (const char *)sqlite3_column_text(own, 2) : NULL;
		if (!table || !not_yet(table, schema))
			return rc;
	}
}

/* The file's schema must be letter by letter the one that this program, or the older one that wrote it, would create. */
static int schema_matches(struct store *s, struct err *e)
{
	static const char list[] = "SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY type, name";
	const struct embedded *schema = embed_find("src/store/schema.sql");
	sqlite3 *own = NULL;
	sqlite3_stmt *a = NULL, *b = NULL;
	int rc = sqlite3_open(":memory:", &own);
	if (rc == SQLITE_OK)
		rc = sqlite3_exec(own, schema->data, NULL, NULL, NULL);
	if (rc == SQLITE_OK)
		rc = sqlite3_prepare_v2(own, list, -1, &a, NULL);
	if (rc != SQLITE_OK) {
		sqlite3_close(own);
		return err_nomem(e); /* the schema is ours: only memory can be missing */
	}
	rc = sqlite3_prepare_v2(s->db, list, -1, &b, NULL);
	int code = rc == SQLITE_OK ? 0 : store_fail(s, rc, e);
	for (bool more = code == 0; more;) {
		int ra = step_own(a, s->schema), rb = sqlite3_step(b);
		if (rb != SQLITE_ROW && rb != SQLITE_DONE) {
			code = store_fail(s, rb, e);
			break;
		}
		bool same = ra == rb;
		for (int i = 0; same && ra == SQLITE_ROW && i < 4; i++) {
			const char *ta = (const char *)sqlite3_column_text(a, i);
			const char *tb = (const char *)sqlite3_column_text(b, i);
			same = ta && tb ? strcmp(ta, tb) == 0 : ta == tb;
		}
		if (!same)
			code = store_damaged(s, e, "its tables are not those of schema %d", s->schema);
		more = same && ra == SQLITE_ROW;
	}
	sqlite3_finalize(a);
	sqlite3_finalize(b);
	sqlite3_close(own);
	return code;
}

int store_check(struct store *s, struct err *e)
{
	int64_t application, version;
	int rc = store_number(s, "PRAGMA application_id", &application, e);
	if (rc == 0)
		rc = store_number(s, "PRAGMA user_version", &version, e);
	if (rc)
		return rc;
	if (application != STORE_APPLICATION)
		return err_set(e, -EINVAL, "%s is a SQLite file, but not a run file of fathom", s->path);
	if (version > STORE_SCHEMA)
		return err_set(e, -ENOTSUP,
			       "%s was written by a newer fathom (schema %lld, this one reads %d); update fathom",
			       s->path, (long long)version, STORE_SCHEMA);
	if (version < 1)
		return store_damaged(s, e, "it says schema %lld, which never was", (long long)version);
	s->schema = (int)version;
	rc = schema_matches(s, e);
	if (rc)
		return rc;
	sqlite3_stmt *st = NULL;
	int code = sqlite3_prepare_v2(s->db, "PRAGMA quick_check(1)", -1, &st, NULL);
	if (code == SQLITE_OK)
		code = sqlite3_step(st);
	if (code == SQLITE_ROW) {
		const char *text = (const char *)sqlite3_column_text(st, 0);
		if (!text)
			rc = err_nomem(e);
		else if (strcmp(text, "ok") != 0)
			rc = store_damaged(s, e, "%.100s", text + strspn(text, "* "));
	} else {
		rc = store_fail(s, code, e);
	}
	sqlite3_finalize(st);
	return rc;
}

int store_upgrade(struct store *s, struct err *e)
{
	const struct embedded *schema = embed_find("src/store/schema.sql");
	struct str sql;
	if (s->schema == STORE_SCHEMA)
		return 0;
	str_init(&sql);
	str_add(&sql, "BEGIN;");
	for (size_t i = 0; i < SINCE_COUNT; i++) {
		const char *from = strstr(schema->data, since[i].create), *end = from ? strstr(from, ";\n") : NULL;
		assert(end);
		if (since[i].schema > s->schema)
			str_addf(&sql, "%.*s;", (int)(end - from), from);
	}
	str_addf(&sql, "PRAGMA user_version=%d;COMMIT", STORE_SCHEMA);
	int code = sql.failed ? err_nomem(e) : store_exec(s, str_text(&sql), e);
	str_free(&sql);
	if (code == 0)
		s->schema = STORE_SCHEMA;
	return code;
}
