#include "base/embed.h"
#include "store/store_fields.h"
#include "store/store_file.h"
#include "store/store_words.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Takes the lock that ends with this process. NORMAL: a process's death loses nothing, a power cut at most the last probe. */
static int lock(struct store *s, struct err *e)
{
	if (sqlite3_db_readonly(s->db, "main") == 1)
		return store_fail(s, SQLITE_READONLY, e);
	return store_exec(s,
			  "PRAGMA locking_mode=EXCLUSIVE;PRAGMA journal_mode=DELETE;PRAGMA synchronous=NORMAL;"
			  "PRAGMA foreign_keys=OFF;BEGIN EXCLUSIVE;COMMIT",
			  e);
}

/* Prepared once a transaction, run for every record. */
struct writer {
	struct store *s;
	sqlite3_stmt *probe, *series, *native, *layout, *region, *point, *finding, *rival;
	struct blob words;
	struct str text;
};

static int prepare(struct store *s, sqlite3_stmt **st, const struct field_table *t, const char *extra, struct err *e)
{
	struct str sql;
	str_init(&sql);
	fields_insert(&sql, t, extra);
	return store_prepare(s, st, &sql, e);
}

static void writer_free(struct writer *w)
{
	sqlite3_finalize(w->probe);
	sqlite3_finalize(w->series);
	sqlite3_finalize(w->native);
	sqlite3_finalize(w->layout);
	sqlite3_finalize(w->region);
	sqlite3_finalize(w->point);
	sqlite3_finalize(w->finding);
	sqlite3_finalize(w->rival);
	mem_free(w->words.data);
	str_free(&w->text);
}

/* Runs a statement whose parameters from `first` on are the record; `bound` is the result of binding those before. */
static int put(struct writer *w, sqlite3_stmt *st, int bound, int first, const struct field_table *t,
	       const void *record, struct err *e)
{
	int rc = bound != SQLITE_OK ? bound : fields_bind(st, first, t, record);
	if (rc == SQLITE_OK)
		rc = sqlite3_step(st);
	int code = rc == SQLITE_DONE ? 0 : store_fail(w->s, rc, e);
	sqlite3_reset(st);
	sqlite3_clear_bindings(st);
	return code;
}

static int put_region(struct writer *w, sqlite3_int64 series, size_t native, size_t number,
		      const struct native_region *g, struct err *e)
{
	str_clear(&w->text);
	for (int c = 0; c < NATIVE_CLASSES; c++)
		if (g->count[c])
			str_addf(&w->text, "%s%s=%u", w->text.len ? " " : "", native_class_name((enum native_class)c),
				 g->count[c]);
	if (w->text.failed)
		return err_nomem(e);
	int rc = sqlite3_bind_int64(w->region, 1, series);
	if (rc == SQLITE_OK)
		rc = sqlite3_bind_int64(w->region, 2, (sqlite3_int64)native);
	if (rc == SQLITE_OK)
		rc = sqlite3_bind_int64(w->region, 3, (sqlite3_int64)number);
	if (rc == SQLITE_OK)
		rc = sqlite3_bind_text(w->region, 4, str_text(&w->text), -1, SQLITE_TRANSIENT);
	return put(w, w->region, rc, 5, &region_table, g, e);
}

static int put_point(struct writer *w, sqlite3_int64 series, size_t number, const struct point *p, struct err *e)
{
	int rc = sqlite3_bind_int64(w->point, 1, series);
	if (rc == SQLITE_OK)
		rc = sqlite3_bind_int64(w->point, 2, (sqlite3_int64)number);
	if (rc == SQLITE_OK && p->y) {
		w->words.len = 0;
		if (words_encode(&w->words, p->y, (size_t)p->repeats * p->words_per_repeat, p->words_per_repeat))
			return err_nomem(e);
		rc = sqlite3_bind_blob64(w->point, 3, w->words.data, w->words.len, SQLITE_STATIC);
	}
	return put(w, w->point, rc, 4, &point_table, p, e);
}

static int put_series(struct writer *w, const struct series *x, struct err *e)
{
	int rc = put(w, w->series, SQLITE_OK, 1, &series_table, x, e);
	sqlite3_int64 id = sqlite3_last_insert_rowid(w->s->db);
	for (size_t i = 0; rc == 0 && i < x->native_count; i++) {
		const struct native_info *n = &x->native[i];
		int bound = sqlite3_bind_int64(w->native, 1, id);
		if (bound == SQLITE_OK)
			bound = sqlite3_bind_int64(w->native, 2, (sqlite3_int64)i);
		rc = put(w, w->native, bound, 3, &native_table, n, e);
		if (rc == 0 && n->layout.code_bytes) {
			bound = sqlite3_bind_int64(w->layout, 1, id);
			if (bound == SQLITE_OK)
				bound = sqlite3_bind_int64(w->layout, 2, (sqlite3_int64)i);
			rc = put(w, w->layout, bound, 3, &layout_table, n, e);
		}
		for (size_t k = 0; rc == 0 && k < n->region_count && k < NATIVE_REGIONS; k++)
			rc = put_region(w, id, i, k, &n->region[k], e);
	}
	for (size_t i = 0; rc == 0 && i < x->count; i++)
		rc = put_point(w, id, i, &x->points[i], e);
	return rc;
}

static int put_finding(struct writer *w, const struct finding *f, struct err *e)
{
	str_clear(&w->text);
	for (unsigned i = 0; f->value.kind == VALUE_ARRAY && i < f->value.array_count && i < VALUE_ARRAY_MAX; i++)
		str_addf(&w->text, "%s%.17g", i ? " " : "", f->value.array[i]);
	int rc =
	    w->text.failed ? SQLITE_NOMEM : sqlite3_bind_text(w->finding, 1, str_text(&w->text), -1, SQLITE_TRANSIENT);
	str_clear(&w->text);
	for (unsigned i = 0; i < f->evidence_count && i < FINDING_EVIDENCE; i++)
		str_addf(&w->text, "%s%s", i ? "\n" : "", f->evidence[i]);
	if (rc == SQLITE_OK)
		rc = w->text.failed ? SQLITE_NOMEM
				    : sqlite3_bind_text(w->finding, 2, str_text(&w->text), -1, SQLITE_TRANSIENT);
	const int code = put(w, w->finding, rc, 3, &finding_table, f, e);
	return code || !*f->rival.shape ? code : put(w, w->rival, SQLITE_OK, 1, &rival_table, f, e);
}

static int prepare_findings(struct writer *w, struct err *e)
{
	const int code = prepare(w->s, &w->finding, &finding_table, "array,evidence", e);
	return code ? code : prepare(w->s, &w->rival, &rival_table, "", e);
}

static int forget(struct store *s, const char *sql, const char *probe, struct err *e)
{
	sqlite3_stmt *st = NULL;
	int rc = sqlite3_prepare_v2(s->db, sql, -1, &st, NULL);
	if (rc == SQLITE_OK)
		rc = sqlite3_bind_text(st, 1, probe, -1, SQLITE_STATIC);
	if (rc == SQLITE_OK)
		rc = sqlite3_step(st);
	int code = rc == SQLITE_DONE ? 0 : store_fail(s, rc, e);
	sqlite3_finalize(st);
	return code;
}

static int put_seconds(struct store *s, double seconds, struct err *e)
{
	sqlite3_stmt *st = NULL;
	int rc = sqlite3_prepare_v2(s->db, "UPDATE run SET seconds = ?", -1, &st, NULL);
	if (rc == SQLITE_OK)
		rc = sqlite3_bind_double(st, 1, seconds);
	if (rc == SQLITE_OK)
		rc = sqlite3_step(st);
	int code = rc == SQLITE_DONE ? 0 : store_fail(s, rc, e);
	sqlite3_finalize(st);
	return code;
}

/* Begins a transaction, if the file is still as the last one left it. */
static int begin(struct store *s, const char *sql, struct err *e)
{
	const int code = store_unchanged(s, true, e);

	return code ? code : store_exec(s, sql, e);
}

/* Commits when code is 0 and the file is still the same, else rolls back; the first failure is the one that is told. */
static int end(struct store *s, int code, struct err *e)
{
	if (code == 0)
		code = store_unchanged(s, false, e);
	if (code == 0)
		code = store_exec(s, "COMMIT", e);
	if (code)
		sqlite3_exec(s->db, "ROLLBACK", NULL, NULL, NULL);
	struct err unused = {0};
	struct err *const said = code ? &unused : e;
	int64_t pages = 0, bytes = 0;
	int after = store_unchanged(s, false, said);
	if (after == 0)
		after = store_mark(s, said);
	/* Who cut the file in between left it shorter than what SQLite believes to have written. */
	if (after == 0 && code == 0)
		after = store_number(s, "PRAGMA page_count", &pages, said);
	if (after == 0 && code == 0)
		after = store_number(s, "PRAGMA page_size", &bytes, said);
	if (after == 0 && code == 0 && s->mark.size != pages * bytes)
		after = err_set(said, -ESTALE, "%s was cut while it was being written", s->path);
	return code ? code : after;
}

int store_finish(struct store *s, struct err *e)
{
	char *path = s->name;
	struct store *again = NULL;
	int code = store_unchanged(s, true, e);

	s->name = NULL;
	store_close(s);
	if (code == 0 && path)
		code = store_open(&again, path, false, e);
	if (code == 0)
		code = store_check(again, e);
	store_close(again);
	mem_free(path);
	return code == -EBADMSG || code == -EINVAL ? err_set(e, -ESTALE, "%s", e->text) : code;
}

static int put_head(struct store *s, const struct run *r, struct err *e)
{
	static const struct {
		const struct field_table *table;
		size_t offset;
	} heads[] = {{&run_table, 0}, {&device_table, offsetof(struct run, device)}};
	int code = 0;
	for (size_t i = 0; code == 0 && i < 2; i++) {
		sqlite3_stmt *st = NULL;
		code = prepare(s, &st, heads[i].table, "", e);
		struct writer w = {.s = s};
		if (code == 0)
			code = put(&w, st, SQLITE_OK, 1, heads[i].table, (const char *)r + heads[i].offset, e);
		sqlite3_finalize(st);
	}
	return code;
}

/* All at once. A run that dies before its first probe is done thus knows all of what it was asked for, or there is no
 * run. */
static int put_probes(struct store *s, const struct run *r, struct err *e)
{
	struct writer w = {.s = s};
	int code = prepare(s, &w.probe, &probe_table_fields, "", e);
	for (size_t i = 0; code == 0 && i < r->probe_count; i++)
		if (r->probes[i].state == PROBE_PENDING)
			code = put(&w, w.probe, SQLITE_OK, 1, &probe_table_fields, &r->probes[i], e);
	writer_free(&w);
	return code;
}

static int put_schema(struct store *s, struct err *e)
{
	const struct embedded *schema = embed_find("src/store/schema.sql");
	char mark[96];
	snprintf(mark, sizeof(mark), "PRAGMA application_id=%d;PRAGMA user_version=%d", STORE_APPLICATION,
		 STORE_SCHEMA);
	int code = store_exec(s, schema->data, e);
	return code ? code : store_exec(s, mark, e);
}

/* Writes a whole new run file. */
static int write_new(const char *path, const struct run *r, struct err *e)
{
	struct store *s = NULL;
	int code = store_open(&s, path, true, e);

	if (code == 0)
		code = lock(s, e);
	if (code == 0)
		code = store_mark(s, e);
	if (code == 0)
		code = begin(s, "BEGIN", e);
	if (code == 0) {
		code = put_schema(s, e);
		if (code == 0)
			code = put_head(s, r, e);
		if (code == 0)
			code = put_probes(s, r, e);
		code = end(s, code, e);
	}
	store_close(s);
	return code;
}

/* Gives the whole file its name, which nobody else may have taken. Not every file system has links. */
static int give_name(const char *part, const char *path)
{
	if (link(part, path) == 0)
		return unlink(part) == 0 ? 0 : -errno;
	if (errno == EEXIST)
		return -EEXIST;
	return renameat2(AT_FDCWD, part, AT_FDCWD, path, RENAME_NOREPLACE) == 0 ? 0 : -errno;
}

static int open_locked(struct store **out, const char *path, struct err *e)
{
	int code = store_open(out, path, true, e);

	if (code == 0)
		code = lock(*out, e);
	if (code == 0)
		code = store_mark(*out, e);
	if (code) {
		store_close(*out);
		*out = NULL;
	}
	return code;
}

int store_create(struct store **out, const char *path, const struct run *r, struct err *e)
{
	struct str part;

	*out = NULL;
	if (access(path, F_OK) == 0)
		return err_set(e, -EEXIST, "%s exists already", path);
	/* Whoever dies here leaves no half-made run under its name. */
	str_init(&part);
	str_addf(&part, "%s.%ld.part", path, (long)getpid());
	if (part.failed) {
		str_free(&part);
		return err_nomem(e);
	}
	const int fd = open(str_text(&part), O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC | O_NOFOLLOW, 0666);
	int code = fd < 0 ? err_set(e, -errno, "%s cannot be created: %s", path, strerror(errno)) : 0;
	if (fd >= 0) {
		close(fd);
		code = write_new(str_text(&part), r, e);
		if (code == 0) {
			code = give_name(str_text(&part), path);
			if (code == -EEXIST)
				err_set(e, code, "%s exists already", path);
			else if (code)
				err_set(e, code, "%s cannot be created: %s", path, strerror(-code));
		}
		if (code)
			unlink(str_text(&part));
		/* A disk that fails may have kept it; what it was for is committed, or given up. */
		str_add(&part, "-journal");
		if (!part.failed)
			unlink(str_text(&part));
	}
	str_free(&part);
	if (code)
		return code;
	code = open_locked(out, path, e);
	if (code && code != -EBUSY) /* nothing is in it yet */
		unlink(path);
	return code;
}

int store_resume(struct store **out, const char *path, struct err *e)
{
	*out = NULL;
	int code = store_look(path, e);
	if (code)
		return code;
	struct store *s = NULL;
	code = open_locked(&s, path, e);
	if (code == 0)
		code = store_check(s, e);
	if (code == 0)
		code = store_upgrade(s, e);
	if (code == 0) { /* a folder that takes no journal is found out now, not after an hour of measuring */
		char same[40];
		snprintf(same, sizeof(same), "PRAGMA user_version=%d", STORE_SCHEMA);
		code = store_exec(s, same, e);
	}
	if (code == 0)
		code = store_mark(s, e);
	if (code == 0)
		*out = s;
	else
		store_close(s);
	return code;
}

int store_probe(struct store *s, const struct run *r, const char *probe, struct err *e)
{
	int code = begin(s, "BEGIN", e);
	if (code)
		return code;
	/* What an interrupted attempt left of this probe goes first. */
	static const char *const old[] = {
	    "DELETE FROM native_layout WHERE series IN (SELECT id FROM series WHERE probe = ?1)",
	    "DELETE FROM native_region WHERE series IN (SELECT id FROM series WHERE probe = ?1)",
	    "DELETE FROM native WHERE series IN (SELECT id FROM series WHERE probe = ?1)",
	    "DELETE FROM point WHERE series IN (SELECT id FROM series WHERE probe = ?1)",
	    "DELETE FROM series WHERE probe = ?1",
	    "DELETE FROM rival WHERE key IN (SELECT key FROM finding WHERE probe = ?1)",
	    "DELETE FROM finding WHERE probe = ?1",
	    "DELETE FROM probe WHERE name = ?1",
	};
	for (size_t i = 0; code == 0 && i < sizeof old / sizeof *old; i++)
		code = forget(s, old[i], probe, e);
	struct writer w = {.s = s};
	if (code == 0)
		code = prepare(s, &w.probe, &probe_table_fields, "", e);
	if (code == 0)
		code = prepare(s, &w.series, &series_table, "", e);
	if (code == 0)
		code = prepare(s, &w.native, &native_table, "series,number", e);
	if (code == 0)
		code = prepare(s, &w.layout, &layout_table, "series,native", e);
	if (code == 0)
		code = prepare(s, &w.region, &region_table, "series,native,number,counts", e);
	if (code == 0)
		code = prepare(s, &w.point, &point_table, "series,number,words", e);
	if (code == 0)
		code = prepare_findings(&w, e);
	for (size_t i = 0; code == 0 && i < r->probe_count; i++)
		if (strcmp(r->probes[i].name, probe) == 0)
			code = put(&w, w.probe, SQLITE_OK, 1, &probe_table_fields, &r->probes[i], e);
	for (size_t i = 0; code == 0 && i < r->series_count; i++)
		if (strcmp(r->series[i].probe, probe) == 0)
			code = put_series(&w, &r->series[i], e);
	for (size_t i = 0; code == 0 && i < r->findings.count; i++)
		if (strcmp(r->findings.items[i].probe, probe) == 0)
			code = put_finding(&w, &r->findings.items[i], e);
	if (code == 0)
		code = put_seconds(s, r->seconds, e);
	writer_free(&w);
	return end(s, code, e);
}

static int put_concluded(struct store *s, const struct run *r, struct err *e)
{
	struct writer w = {.s = s};
	sqlite3_stmt *st = NULL;
	int code = *r->concluded ? prepare(s, &st, &concluded_table, "id", e) : 0;
	if (st)
		code = put(&w, st, sqlite3_bind_int(st, 1, 1), 2, &concluded_table, r, e);
	sqlite3_finalize(st);
	return code;
}

int store_findings(struct store *s, const struct run *r, struct err *e)
{
	int code = begin(s, "BEGIN", e);
	if (code)
		return code;
	code = store_exec(s, "DELETE FROM rival; DELETE FROM finding", e);
	if (code == 0)
		code = put_concluded(s, r, e);
	struct writer w = {.s = s};
	if (code == 0)
		code = prepare_findings(&w, e);
	for (size_t i = 0; code == 0 && i < r->findings.count; i++)
		code = put_finding(&w, &r->findings.items[i], e);
	writer_free(&w);
	return end(s, code, e);
}
