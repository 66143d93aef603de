/* Run files with one value edited: SQLite finds each valid, and whatever the value is, it is refused in one sentence, or the run can be
 * concluded from, drawn and reported in every format. Every column of every table is set to what its type allows and a run does not, in every
 * row at once and in one row.
 *
 * Usage: edited_runs PROBE... */
#include "gpu/gpu.h"
#include "probe/engine.h"
#include "report/report.h"
#include "store/store.h"
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *const values[] = {
    "NULL", "0",      "1",  "-1",  "3",		"4294967295", "9223372036854775807", "1e308", "-9e999",
    "0.5",  "'text'", "''", "x''", "x'000000'", "'OK'",	      "'MEASURED'",	     "'DONE'"};
#define VALUES (sizeof values / sizeof *values)

static unsigned edits, accepted, refused;

static int text_is_clean(struct str *out, int rc)
{
	int bad = rc || out->failed;

	for (size_t i = 0; !bad && i < out->len; i++)
		bad = (unsigned char)out->data[i] < ' ' && out->data[i] != '\n';
	str_clear(out);
	return bad;
}

/* What infer and report do, in this process. */
static int use(struct run *r, struct err *e)
{
	const struct report_style plain = {.width = 80};
	struct figure_list figures = {0};
	struct str out;
	int bad;

	str_init(&out);
	bad = engine_draw(r, &figures, e) || text_is_clean(&out, report_text(&out, r, &figures, &plain, e));
	bad |= engine_infer(r, e);
	for (size_t i = 0; !bad && i < figures.count; i++)
		bad = text_is_clean(&out, report_svg(&out, &figures.items[i], e));
	bad |= text_is_clean(&out, report_summary(&out, r, &plain, e));
	bad |= text_is_clean(&out, report_csv(&out, r, e));
	bad |= text_is_clean(&out, report_json_series(&out, r, NULL, e));
	figures_free(&figures);
	str_free(&out);
	return bad;
}

/* Loads the database's bytes as a run file. */
static int judge(sqlite3 *db, const char *path, const char *sql)
{
	struct err e = {0};
	struct run r;
	sqlite3_int64 n = 0;
	unsigned char *bytes = sqlite3_serialize(db, "main", &n, 0);
	FILE *f = bytes ? fopen(path, "wb") : NULL;
	int bad = !f || fwrite(bytes, 1, (size_t)n, f) != (size_t)n;

	bad |= f && fclose(f);
	sqlite3_free(bytes);
	edits++;
	const int rc = bad ? 0 : store_load(&r, path, &e);
	if (rc) {
		bad = !strstr(e.text, path) || strpbrk(e.text, "\n\033");
		refused++;
	} else if (!bad) {
		bad = use(&r, &e);
		run_free(&r);
		accepted++;
	}
	if (bad)
		printf("%s: %s\n", sql, e.text);
	return bad;
}

static int edit(sqlite3 *db, const char *path, const char *table, const char *column, const char *value, bool all)
{
	char sql[400], one[200] = "";

	if (!all) {
		const char *key = strcmp(table, "point") == 0 || strcmp(table, "native") == 0 ? "series,number"
				  : strcmp(table, "native_region") == 0			      ? "series,native,number"
				  : strcmp(table, "native_layout") == 0			      ? "series,native"
											      : "rowid";
		snprintf(one, sizeof(one),
			 "WHERE (%s) IN (SELECT %s FROM %s LIMIT 1 OFFSET (SELECT count(*) FROM %s) / 2)", key, key,
			 table, table);
	}
	snprintf(sql, sizeof(sql), "UPDATE OR IGNORE %s SET %s = %s %s", table, column, value, one);
	/* What SQLite itself does not let in cannot stand in a file that it finds whole. */
	if (sqlite3_exec(db, "BEGIN", NULL, NULL, NULL))
		return 1;
	int bad = 0;
	if (sqlite3_exec(db, sql, NULL, NULL, NULL) == SQLITE_OK && sqlite3_changes(db) &&
	    sqlite3_exec(db, "COMMIT", NULL, NULL, NULL) == SQLITE_OK)
		bad = judge(db, path, sql);
	else
		sqlite3_exec(db, "ROLLBACK", NULL, NULL, NULL);
	return bad;
}

/* A copy in memory, to be edited. */
static sqlite3 *copy_of(const unsigned char *bytes, size_t n)
{
	sqlite3 *db = NULL;
	unsigned char *own = sqlite3_malloc64(n);

	if (!own || sqlite3_open(":memory:", &db))
		exit(2);
	memcpy(own, bytes, n);
	if (sqlite3_deserialize(db, "main", own, (sqlite3_int64)n, (sqlite3_int64)n,
				SQLITE_DESERIALIZE_FREEONCLOSE | SQLITE_DESERIALIZE_RESIZEABLE))
		exit(2);
	return db;
}

static int edit_all(const unsigned char *bytes, size_t n, const char *path)
{
	sqlite3 *list = copy_of(bytes, n);
	sqlite3_stmt *st;
	int bad = 0;

	if (sqlite3_prepare_v2(
		list,
		"SELECT m.name, p.name FROM sqlite_schema m JOIN pragma_table_info(m.name) p WHERE m.type = 'table'",
		-1, &st, NULL))
		exit(2);
	while (sqlite3_step(st) == SQLITE_ROW)
		for (size_t i = 0; i < 2 * VALUES; i++) {
			sqlite3 *db = copy_of(bytes, n);
			bad += edit(db, path, (const char *)sqlite3_column_text(st, 0),
				    (const char *)sqlite3_column_text(st, 1), values[i / 2], i % 2 == 0);
			sqlite3_close(db);
		}
	sqlite3_finalize(st);
	sqlite3_close(list);
	return bad;
}

/* A run of these probes, stored at path. */
static int make_run(const char *path, const char *const *probes, size_t n, struct err *e)
{
	struct engine_plan plan = {0};
	struct store *store = NULL;
	struct gpu *gpu = NULL;
	struct run r;
	int rc = run_init(&r);

	if (rc == 0)
		rc = gpu_open(&gpu, "sim:toy", 1, false, e);
	if (rc == 0)
		rc = engine_plan(&plan, probes, n, e);
	if (rc == 0)
		rc = engine_measure(&r, gpu, &plan, NULL, e);
	if (rc == 0)
		rc = store_create(&store, path, &r, e);
	for (size_t i = 0; rc == 0 && i < r.probe_count; i++)
		rc = store_probe(store, &r, r.probes[i].name, e);
	if (rc == 0)
		rc = store_findings(store, &r, e);
	store_close(store);
	mem_free(plan.probes);
	if (gpu)
		gpu->ops->close(gpu);
	run_free(&r);
	return rc;
}

static unsigned char *read_file(const char *path, size_t *n)
{
	FILE *f = fopen(path, "rb");
	unsigned char *bytes = f ? sqlite3_malloc64(1 << 22) : NULL;

	*n = bytes ? fread(bytes, 1, 1 << 22, f) : 0;
	if (f)
		fclose(f);
	return bytes;
}

int main(int argc, char **argv)
{
	char path[] = "/tmp/fathom-edited-XXXXXX", file[64];
	struct err e = {0};
	size_t n = 0;

	if (!mkdtemp(path))
		return 2;
	snprintf(file, sizeof(file), "%s/run.fathom", path);
	int bad = make_run(file, (const char *const *)argv + 1, (size_t)argc - 1, &e);
	if (bad)
		fprintf(stderr, "%s\n", e.text);
	unsigned char *bytes = bad ? NULL : read_file(file, &n);
	bad = !n || edit_all(bytes, n, file);
	sqlite3_free(bytes);
	unlink(file);
	rmdir(path);
	printf("%u edits: %u refused, %u used\n", edits, refused, accepted);
	return bad || !accepted || !refused;
}
