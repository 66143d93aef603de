/* A run survives its file; whatever is not such a file is refused in one sentence that names it. */
#include "base/str.h"
#include "sample_run.h"
#include "store_files.h"
#include <errno.h>
#include <setjmp.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static void round_trip(void **state)
{
	(void)state;
	struct run a, b;
	assert_int_equal(sample_run(&a), 0);
	save("a.fathom", &a);
	assert_int_equal(access("a.fathom-journal", F_OK), -1); /* one file */
	assert_int_equal(store_load(&b, "a.fathom", &e), 0);
	same(&a, &b);
	run_free(&b);

	/* a probe measured again replaces its old self; findings are replaced as a whole */
	struct store *s;
	a.findings.count = 3;
	a.seconds = 9;
	assert_int_equal(store_resume(&s, "a.fathom", &e), 0);
	for (size_t i = 0; i < a.probe_count; i++)
		assert_int_equal(store_probe(s, &a, a.probes[i].name, &e), 0);
	assert_int_equal(store_findings(s, &a, &e), 0);
	store_close(s);
	assert_int_equal(store_load(&b, "a.fathom", &e), 0);
	same(&a, &b);
	run_free(&b);
	run_free(&a);
}

static void spoil(const char *path, const char *sql)
{
	struct run r;
	sqlite3 *db;
	assert_int_equal(sample_run(&r), 0);
	save(path, &r);
	run_free(&r);
	assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
	if (sqlite3_exec(db, sql, NULL, NULL, NULL) != SQLITE_OK)
		fail_msg("%s: %s", sql, sqlite3_errmsg(db));
	assert_int_equal(sqlite3_close(db), SQLITE_OK);
}

/* A file of schema 1 had no layouts: it is read as it is, and becomes one of today when something is added to it. */
static void upgraded(void **state)
{
	(void)state;
	struct run old, b;
	struct store *s;
	assert_int_equal(sample_run(&old), 0);
	bool laid = false;
	for (size_t i = 0; i < old.series_count; i++)
		for (size_t k = 0; k < old.series[i].native_count; k++) {
			struct native_layout *layout = &old.series[i].native[k].layout, none = {0};
			laid |= memcmp(layout, &none, sizeof(none)) != 0;
			*layout = none;
		}
	assert_true(laid); /* or the upgrade has nothing to add */
	for (size_t i = 0; i < old.findings.count; i++)
		old.findings.items[i].rival = (struct finding_rival){0};
	spoil("one.fathom", "DROP VIEW findings; DROP TABLE native_layout; DROP TABLE concluded; DROP TABLE rival; "
			    "PRAGMA user_version=1");
	assert_int_equal(store_load(&b, "one.fathom", &e), 0);
	same(&old, &b);
	run_free(&b);
	run_free(&old);

	struct run now;
	assert_int_equal(sample_run(&now), 0);
	assert_int_equal(store_resume(&s, "one.fathom", &e), 0);
	for (size_t i = 0; i < now.probe_count; i++)
		assert_int_equal(store_probe(s, &now, now.probes[i].name, &e), 0);
	store_close(s);
	assert_int_equal(store_load(&b, "one.fathom", &e), 0);
	same(&now, &b);
	run_free(&b);
	run_free(&now);

	/* the number alone makes no schema */
	spoil("two.fathom", "DROP TABLE native_layout");
	refuse("two.fathom", -EBADMSG, "its tables are not those of schema 5");
	spoil("not_two.fathom", "PRAGMA user_version=2");
	refuse("not_two.fathom", -EBADMSG, "its tables are not those of schema 2");
	spoil("not_one.fathom", "PRAGMA user_version=1");
	refuse("not_one.fathom", -EBADMSG, "its tables are not those of schema 1");
}

/* What other programs read: a row a finding, whatever its kind, and whose it is. */
static void viewed(void **state)
{
	(void)state;
	struct run want;
	sqlite3 *db;
	sqlite3_stmt *st;
	assert_int_equal(sample_run(&want), 0);
	spoil("viewed.fathom", "PRAGMA user_version"); /* makes it */
	assert_int_equal(sqlite3_open("viewed.fathom", &db), SQLITE_OK);
	assert_int_equal(
	    sqlite3_prepare_v2(db, "SELECT key, verdict, value, gpu FROM findings ORDER BY key", -1, &st, NULL),
	    SQLITE_OK);
	size_t rows = 0;
	for (; sqlite3_step(st) == SQLITE_ROW; rows++) {
		const struct finding *f = findings_get(&want.findings, (const char *)sqlite3_column_text(st, 0));
		assert_non_null(f);
		assert_string_equal((const char *)sqlite3_column_text(st, 1), verdict_name(f->verdict));
		assert_string_equal((const char *)sqlite3_column_text(st, 3), want.device.name);
		if (f->value.kind == VALUE_NUMBER)
			assert_true(sqlite3_column_double(st, 2) == f->value.number);
		else if (f->value.kind == VALUE_TEXT)
			assert_string_equal((const char *)sqlite3_column_text(st, 2), f->value.text);
		else
			assert_int_equal(sqlite3_column_type(st, 2) == SQLITE_NULL, f->value.kind == VALUE_NONE);
	}
	assert_int_equal(rows, want.findings.count);
	sqlite3_finalize(st);
	assert_int_equal(sqlite3_close(db), SQLITE_OK);
	run_free(&want);
}

static void foreign(void **state)
{
	(void)state;
	refuse("missing.fathom", -ENOENT, "there is no file");
	refuse("missing/x.fathom", -ENOENT, "there is no file");
	assert_int_equal(mkdir("dir.fathom", 0777), 0);
	refuse("dir.fathom", -EISDIR, "a folder");
	refuse("/dev/null", -EINVAL, "not a regular file");
	write_file("empty.fathom", "", 0);
	refuse("empty.fathom", -EINVAL, "is empty");
	write_file("text.fathom", "Dear fathom,\nI am a letter.\n", 28);
	refuse("text.fathom", -EINVAL, "not a run file of fathom");
	char page[8192];
	memset(page, 'x', sizeof(page));
	write_file("page.fathom", page, sizeof(page));
	refuse("page.fathom", -EINVAL, "not a run file of fathom");
	spoil("other.fathom", "PRAGMA application_id=7");
	refuse("other.fathom", -EINVAL, "a SQLite file, but not a run file");
	spoil("newer.fathom", "PRAGMA user_version=6");
	refuse("newer.fathom", -ENOTSUP, "was written by a newer fathom (schema 6, this one reads 5); update fathom");
	spoil("older.fathom", "PRAGMA user_version=0");
	refuse("older.fathom", -EBADMSG, "schema 0");
}

static void damaged(void **state)
{
	(void)state;
	static const char *const changes[] = {
	    "CREATE TABLE more(x)",
	    "DROP TABLE finding",
	    "DELETE FROM run",
	    "DELETE FROM device",
	    "UPDATE device SET sm_count = 'many'",
	    "UPDATE device SET sm_count = -1",
	    "UPDATE device SET sm_count = 4294967296",
	    "UPDATE device SET has_f64 = 2",
	    "UPDATE device SET warp_size = 0",
	    "UPDATE device SET name = hex(zeroblob(64))",
	    "UPDATE device SET name = 'a' || char(0) || 'b'",
	    "UPDATE device SET name = x'4142'",
	    "UPDATE run SET fathom = 1 || hex(zeroblob(40))",
	    "UPDATE run SET seconds = 'long'",
	    "INSERT INTO concluded VALUES (1, hex(zeroblob(40)))",
	    "INSERT INTO concluded VALUES (1, x'00')",
	    "UPDATE probe SET state = 'ASLEEP'",
	    "UPDATE series SET probe = x'00'",
	    "UPDATE series SET seed = 0.5",
	    "UPDATE native SET number = 1",
	    "UPDATE native_region SET number = 1",
	    "UPDATE native_region SET native = 1",
	    "UPDATE native_region SET counts = 'alu'",
	    "UPDATE native_region SET counts = 'alu=x'",
	    "UPDATE native_region SET counts = 'alu=4294967296'",
	    "UPDATE native_region SET counts = 'fun=1'",
	    "DELETE FROM native; DELETE FROM native_region",
	    "DELETE FROM native",
	    "DELETE FROM point WHERE number = 2",
	    "UPDATE point SET outcome = 'FINE'",
	    "UPDATE point SET outcome = 'CRASH'",
	    "UPDATE point SET repeats = 3",
	    "UPDATE point SET repeats = 4294967295, words_per_repeat = 4294967295",
	    "UPDATE point SET repeats = 0",
	    "UPDATE point SET words = NULL",
	    "UPDATE point SET words = 'text'",
	    "UPDATE point SET words = zeroblob(1000)",
	    "UPDATE point SET native = 1",
	    "UPDATE point SET native = -1",
	    "UPDATE point SET x = 'far'",
	    "UPDATE finding SET verdict = 'TRUE'",
	    "UPDATE finding SET kind = 'vague'",
	    "UPDATE finding SET array = '1 2 x'",
	    "UPDATE finding SET array = '1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1'",
	    "UPDATE finding SET evidence = '1\n2\n3\n4\n5\n6\n7'",
	    "UPDATE finding SET evidence = hex(zeroblob(64))",
	    "UPDATE finding SET because = hex(zeroblob(200))",
	};
	for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
		struct run r;
		spoil("d.fathom", changes[i]);
		int rc = store_load(&r, "d.fathom", &e);
		if (rc != -EBADMSG || !strstr(e.text, "d.fathom is damaged: "))
			fail_msg("%s: %d, \"%s\"", changes[i], rc, e.text);
	}
}

/* Texts of a file are printed by commands: nothing in them may steer a terminal. */
static void defused(void **state)
{
	(void)state;
	struct run r;
	spoil("x.fathom", "UPDATE device SET name = char(27) || '[2J' || char(155) || '1m' || char(233) || char(10)");
	assert_int_equal(store_load(&r, "x.fathom", &e), 0);
	assert_string_equal(r.device.name, " [2J??1m\xc3\xa9 ");
	run_free(&r);
	spoil("x.fathom", "UPDATE series SET axis = 'a' || char(7) || char(127)");
	assert_int_equal(store_load(&r, "x.fathom", &e), 0);
	assert_string_equal(r.series[0].axis, "a  ");
	run_free(&r);
}

/* Cut short anywhere, or with any page overwritten: refused, or not harmed. Never a crash. */
static void torn(void **state)
{
	(void)state;
	struct run r, b;
	assert_int_equal(sample_run(&r), 0);
	save("t.fathom", &r);
	static char whole[1 << 18], part[1 << 18];
	FILE *f = fopen("t.fathom", "rb");
	assert_non_null(f);
	size_t n = fread(whole, 1, sizeof(whole), f);
	assert_int_equal(fclose(f), 0);
	assert_in_range(n, 4096, sizeof(whole) - 1);
	for (size_t cut = n - 1; cut > 0; cut = cut * 7 / 8) {
		write_file("cut.fathom", whole, cut);
		int rc = store_load(&b, "cut.fathom", &e);
		if (rc != -EBADMSG && rc != -EINVAL)
			fail_msg("cut to %zu of %zu bytes: %d %s", cut, n, rc, rc ? e.text : "");
	}
	unsigned refusals = 0;
	for (size_t at = 100; at < n; at += 512) {
		memcpy(part, whole, n);
		memset(part + at, (int)at, 96);
		write_file("cut.fathom", part, n);
		if (store_load(&b, "cut.fathom", &e) == 0)
			run_free(&b);
		else
			refusals++;
	}
	assert_in_range(refusals, 10, n / 512);
	run_free(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(round_trip), cmocka_unit_test(foreign), cmocka_unit_test(damaged),
	    cmocka_unit_test(defused),	  cmocka_unit_test(torn),    cmocka_unit_test(upgraded),
	    cmocka_unit_test(viewed),
	};
	return cmocka_run_group_tests(tests, folder, clean);
}
