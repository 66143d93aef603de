#include "run_edits.h"
#include "gpu/gpu.h"
#include "probe/engine.h"
#include "report/report.h"
#include "store/store.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define RUN_MOST ((size_t)1 << 22) /* bytes; a run of a few probes has a tenth of them */

const char *const edit_values[] = {
    "NULL",  "0",      "1",   "-1",	"3",  "1000", "1000000",   "4294967295", "9223372036854775807",
    "1e308", "-9e999", "0.5", "'text'", "''", "x''",  "x'000000'", "'OK'",	 "'MEASURED'",
    "'DONE'"};
const size_t edit_value_count = sizeof edit_values / sizeof *edit_values;

/* ---- a run ---- */

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

unsigned char *edit_make_run(const char *const *probes, size_t n, size_t *bytes)
{
	char folder[] = "/tmp/fathom-edits-XXXXXX", path[64];
	unsigned char *all = sqlite3_malloc64(RUN_MOST);
	struct err e = {0};

	*bytes = 0;
	if (!all || !mkdtemp(folder))
		return NULL;
	snprintf(path, sizeof(path), "%s/run.fathom", folder);
	FILE *f = make_run(path, probes, n, &e) ? NULL : fopen(path, "rb");
	if (f) {
		*bytes = fread(all, 1, RUN_MOST, f);
		fclose(f);
	} else {
		fprintf(stderr, "%s\n", e.text);
	}
	unlink(path);
	rmdir(folder);
	return all;
}

sqlite3 *edit_copy(const unsigned char *bytes, size_t n)
{
	const unsigned how = SQLITE_DESERIALIZE_FREEONCLOSE | SQLITE_DESERIALIZE_RESIZEABLE;
	unsigned char *own = sqlite3_malloc64(n);
	sqlite3 *db = NULL;

	if (!own || sqlite3_open(":memory:", &db))
		exit(2);
	memcpy(own, bytes, n);
	if (sqlite3_deserialize(db, "main", own, (sqlite3_int64)n, (sqlite3_int64)n, how))
		exit(2);
	return db;
}

/* ---- an edit ---- */

/* Tables without a rowid have to be told by their keys. */
static const char *key_of(const char *table)
{
	if (strcmp(table, "point") == 0 || strcmp(table, "native") == 0)
		return "series,number";
	if (strcmp(table, "native_region") == 0)
		return "series,native,number";
	return strcmp(table, "native_layout") == 0 ? "series,native" : "rowid";
}

bool edit_set(sqlite3 *db, const char *table, const char *column, const char *value, bool all, unsigned row)
{
	const char *key = key_of(table);
	char sql[400], one[200] = "";

	if (!all)
		snprintf(one, sizeof(one),
			 "WHERE (%s) IN (SELECT %s FROM %s LIMIT 1 OFFSET %u %% (SELECT count(*) FROM %s))", key, key,
			 table, row, table);
	snprintf(sql, sizeof(sql), "UPDATE OR IGNORE %s SET %s = %s %s", table, column, value, one);
	return sqlite3_exec(db, sql, NULL, NULL, NULL) == SQLITE_OK && sqlite3_changes(db);
}

/* ---- what must hold ---- */

static int text_is_clean(struct str *out, int rc)
{
	int bad = rc || out->failed;

	for (size_t i = 0; !bad && i < out->len; i++)
		bad = (unsigned char)out->data[i] < ' ' && out->data[i] != '\n';
	str_clear(out);
	return bad;
}

static int use(struct run *r, struct err *e)
{
	const struct report_style plain = {.width = 80};
	struct figure_list figures = {0};
	struct str out;
	int bad;

	str_init(&out);
	bad = engine_draw(r, &figures, e) || text_is_clean(&out, report_text(&out, r, &figures, &plain, e));
	for (size_t i = 0; !bad && i < figures.count; i++)
		bad = text_is_clean(&out, report_svg(&out, &figures.items[i], e));
	bad = bad || engine_infer(r, e) || text_is_clean(&out, report_summary(&out, r, &plain, e)) ||
	      text_is_clean(&out, report_csv(&out, r, e)) || text_is_clean(&out, report_json_series(&out, r, NULL, e));
	figures_free(&figures);
	str_free(&out);
	return bad;
}

int edit_judge(sqlite3 *db, const char *path, bool *refused, char *said)
{
	struct err e = {0};
	struct run r;
	sqlite3_int64 n = 0;
	unsigned char *bytes = sqlite3_serialize(db, "main", &n, 0);
	FILE *f = bytes ? fopen(path, "wb") : NULL;
	int bad = !f || fwrite(bytes, 1, (size_t)n, f) != (size_t)n;

	bad |= f && fclose(f);
	sqlite3_free(bytes);
	const int rc = bad ? 0 : store_load(&r, path, &e);
	*refused = rc != 0;
	if (rc) {
		bad = !strstr(e.text, path) || strpbrk(e.text, "\n\033");
	} else if (!bad) {
		bad = use(&r, &e);
		run_free(&r);
	}
	snprintf(said, 600, "%s", e.text);
	return bad;
}
