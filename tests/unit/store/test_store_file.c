/* A run survives its file; whatever is not such a file is refused in one sentence that names it. */
#include "base/err.h"
#include "base/str.h"
#include "sample_run.h"
#include "store/store.h"
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <setjmp.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static struct err e;

static int folder(void **state)
{
	char *dir = strdup("/tmp/fathom-store-XXXXXX");
	*state = dir;
	return dir && mkdtemp(dir) && chdir(dir) == 0 ? 0 : -1;
}

static int clean(void **state)
{
	char command[64];
	snprintf(command, sizeof(command), "rm -rf %s", (char *)*state);
	int rc = chdir("/") || system(command);
	free(*state);
	return rc;
}

static void save(const char *path, const struct run *r)
{
	struct store *s;
	unlink(path);
	assert_int_equal(store_create(&s, path, r, &e), 0);
	for (size_t i = 0; i < r->probe_count; i++)
		assert_int_equal(store_probe(s, r, r->probes[i].name, &e), 0);
	store_close(s);
}

static void same_finding(const struct finding *a, const struct finding *b)
{
	assert_string_equal(a->key, b->key);
	assert_int_equal(a->verdict, b->verdict);
	assert_int_equal(a->value.kind, b->value.kind);
	assert_true(a->value.number == b->value.number);
	assert_string_equal(a->value.text, b->value.text);
	assert_int_equal(a->value.array_count, b->value.array_count);
	assert_memory_equal(a->value.array, b->value.array, a->value.array_count * sizeof(double));
	assert_true(a->lo == b->lo || (isnan(a->lo) && isnan(b->lo)));
	assert_true(a->hi == b->hi || (isnan(a->hi) && isnan(b->hi)));
	assert_string_equal(a->unit, b->unit);
	assert_string_equal(a->method, b->method);
	assert_string_equal(a->because, b->because);
	assert_string_equal(a->scope, b->scope);
	assert_string_equal(a->rival.shape, b->rival.shape);
	assert_string_equal(a->rival.experiment, b->rival.experiment);
	assert_memory_equal(&a->rival.point, &b->rival.point, sizeof(a->rival) - offsetof(struct finding_rival, point));
	assert_true(a->rival.value == b->rival.value && a->rival.nats == b->rival.nats);
	assert_string_equal(a->probe, b->probe);
	assert_int_equal(a->evidence_count, b->evidence_count);
	for (unsigned i = 0; i < a->evidence_count; i++)
		assert_string_equal(a->evidence[i], b->evidence[i]);
}

static void same_series(const struct series *a, const struct series *b)
{
	assert_string_equal(a->probe, b->probe);
	assert_string_equal(a->experiment, b->experiment);
	assert_string_equal(a->axis, b->axis);
	assert_string_equal(a->unit, b->unit);
	for (int i = 0; i < POINT_PARAMS; i++) {
		assert_int_equal(!a->params[i], !b->params[i]);
		if (a->params[i])
			assert_string_equal(a->params[i], b->params[i]);
	}
	assert_true(a->seed == b->seed);
	assert_memory_equal(&a->before, &b->before, sizeof(a->before));
	assert_memory_equal(&a->after, &b->after, sizeof(a->after));
	assert_int_equal(a->native_count, b->native_count);
	for (size_t i = 0; i < a->native_count; i++)
		assert_memory_equal(&a->native[i], &b->native[i], sizeof(a->native[i]));
	assert_int_equal(a->count, b->count);
	for (size_t i = 0; i < a->count; i++) {
		const struct point *p = &a->points[i], *q = &b->points[i];
		assert_true(p->x == q->x && p->outcome == q->outcome && p->repeats == q->repeats);
		assert_true(p->words_per_repeat == q->words_per_repeat && p->elapsed_ms == q->elapsed_ms);
		assert_int_equal(p->native, q->native);
		assert_memory_equal(p->p, q->p, sizeof(p->p));
		assert_string_equal(p->message, q->message);
		assert_int_equal(!p->y, !q->y);
		if (p->y)
			assert_memory_equal(p->y, q->y, (size_t)p->repeats * p->words_per_repeat * 4);
	}
}

static void same(const struct run *a, struct run *b)
{
	assert_string_equal(a->fathom, b->fathom);
	assert_string_equal(a->concluded, b->concluded);
	assert_string_equal(a->started, b->started);
	assert_true(a->seed == b->seed && a->seconds == b->seconds);
	assert_memory_equal(&a->device, &b->device, sizeof(a->device));
	assert_int_equal(a->probe_count, b->probe_count);
	for (size_t i = 0; i < a->probe_count; i++)
		assert_memory_equal(&a->probes[i], &b->probes[i], sizeof(a->probes[i]));
	assert_int_equal(a->series_count, b->series_count);
	for (size_t i = 0; i < a->series_count; i++)
		same_series(&a->series[i], &b->series[i]);
	assert_int_equal(a->findings.count, b->findings.count);
	for (size_t i = 0; i < a->findings.count; i++)
		same_finding(&a->findings.items[i], findings_get(&b->findings, a->findings.items[i].key));
}

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

static void refuse(const char *path, int code, const char *words)
{
	struct run r;
	struct store *s = NULL;
	int rc = store_load(&r, path, &e);
	if (rc != code || !strstr(e.text, words) || !strstr(e.text, path) || strchr(e.text, '\n'))
		fail_msg("%s: %d, \"%s\"", path, rc, e.text);
	assert_null(r.series);
	run_free(&r);
	assert_int_equal(store_resume(&s, path, &e), code);
	assert_null(s);
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

static void write_file(const char *path, const void *data, size_t n)
{
	int fd = open(path, O_CREAT | O_TRUNC | O_WRONLY, 0666);
	assert_true(fd >= 0 && write(fd, data, n) == (ssize_t)n && close(fd) == 0);
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

static void create_refused(void **state)
{
	(void)state;
	struct run r;
	struct store *s = NULL, *t = NULL;
	assert_int_equal(sample_run(&r), 0);
	save("there.fathom", &r);
	assert_int_equal(store_create(&s, "there.fathom", &r, &e), -EEXIST);
	assert_int_equal(store_create(&s, "no/where.fathom", &r, &e), -ENOENT);
	assert_non_null(strstr(e.text, "no/where.fathom cannot be created"));
	assert_null(s);

	/* two runs on one file: the second is refused, from this process and from another one */
	assert_int_equal(store_resume(&s, "there.fathom", &e), 0);
	assert_int_equal(store_resume(&t, "there.fathom", &e), -EBUSY);
	assert_non_null(strstr(e.text, "there.fathom is in use"));
	pid_t child = fork();
	if (child == 0)
		_exit(store_resume(&t, "there.fathom", &e) == -EBUSY ? 7 : 1);
	int status;
	assert_true(waitpid(child, &status, 0) == child && WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 7);
	store_close(s);
	assert_int_equal(store_resume(&t, "there.fathom", &e), 0);
	store_close(t);
	run_free(&r);
}

/* A limit on the file's size stands for the full disk: the write fails in the same place. */
static void full(void **state)
{
	(void)state;
	struct run r, b;
	struct store *s;
	assert_int_equal(sample_run(&r), 0);
	assert_int_equal(store_create(&s, "full.fathom", &r, &e), 0);
	assert_int_equal(store_probe(s, &r, "constant", &e), 0);
	struct stat st;
	struct rlimit old, limit;
	assert_int_equal(stat("full.fathom", &st), 0);
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
	limit = (struct rlimit){(rlim_t)st.st_size, old.rlim_max};
	struct series *big = run_series_new(&r, "global", "big");
	assert_non_null(big);
	static uint32_t words[100000];
	for (uint32_t i = 0; i < 100000; i++)
		words[i] = i * 2654435761u;
	struct point p = {.repeats = 1, .words_per_repeat = 100000, .y = words, .native = UINT32_MAX};
	assert_int_equal(series_add(&r, big, &p), 0);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
	int rc = store_probe(s, &r, "global", &e);
	struct store *t;
	struct err e2;
	int rc2 = store_create(&t, "tiny.fathom", &r, &e2);
	limit.rlim_cur = 8192;
	if (rc2 == 0)
		store_close(t);
	setrlimit(RLIMIT_FSIZE, &limit);
	unlink("tiny.fathom");
	rc2 = store_create(&t, "tiny.fathom", &r, &e2);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
	if (rc != -ENOSPC)
		fail_msg("%d %s", rc, e.text);
	assert_non_null(strstr(e.text, "full.fathom"));
	assert_int_equal(rc2, -ENOSPC);
	assert_int_equal(access("tiny.fathom", F_OK), -1);
	store_close(s);
	assert_int_equal(store_load(&b, "full.fathom", &e), 0);
	assert_int_equal(b.probe_count, 1);
	assert_int_equal(b.series_count, 1);
	same_series(&r.series[0], &b.series[0]);
	run_free(&b);
	run_free(&r);
}

static void read_only(void **state)
{
	(void)state;
	struct run r, b;
	struct store *s = NULL;
	if (geteuid() == 0) /* root is not refused by a mode: give its powers up for this test */
		assert_int_equal(chown(".", 65534, 65534) || seteuid(65534), 0);
	assert_int_equal(sample_run(&r), 0);
	assert_int_equal(mkdir("ro", 0777), 0);
	save("ro/r.fathom", &r);
	save("ro/secret.fathom", &r);
	assert_int_equal(chmod("ro/r.fathom", 0444) || chmod("ro/secret.fathom", 0) || chmod("ro", 0555), 0);
	assert_int_equal(store_load(&b, "ro/r.fathom", &e), 0);
	run_free(&b);
	assert_true(store_resume(&s, "ro/r.fathom", &e) < 0);
	assert_non_null(strstr(e.text, "ro/r.fathom cannot be written"));
	assert_int_equal(chmod("ro/r.fathom", 0666), 0);
	assert_true(store_resume(&s, "ro/r.fathom", &e) < 0);
	assert_non_null(strstr(e.text, "ro/r.fathom cannot be"));
	assert_int_equal(store_create(&s, "ro/new.fathom", &r, &e), -EACCES);
	assert_int_equal(store_load(&b, "ro/secret.fathom", &e), -EACCES);
	assert_non_null(strstr(e.text, "cannot be read"));
	assert_null(s);
	run_free(&r);
	assert_int_equal(chmod("ro", 0777), 0);
	if (getuid() == 0)
		assert_int_equal(seteuid(0), 0);
}

/* SQLite's file format, section 3: a journal without pages that names `victim` as the super-journal of several files. */
static void hostile_journal(const char *path, const char *victim)
{
	static const unsigned char magic[8] = {0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7};
	const uint32_t n = (uint32_t)strlen(victim);
	unsigned char head[512] = {0}, number[4];
	uint32_t sum = 0;
	FILE *f = fopen(path, "wb");

	assert_non_null(f);
	memcpy(head, magic, sizeof(magic));
	fwrite(head, 1, sizeof(head), f);
	for (const char *c = victim; *c; c++)
		sum += (uint32_t)*c;
	for (int i = 0; i < 4; i++)
		number[i] = (unsigned char)(0x40001u >> (24 - 8 * i)); /* the page of the lock byte, pages of 4096 */
	fwrite(number, 1, 4, f);
	fwrite(victim, 1, n, f);
	for (int i = 0; i < 4; i++)
		number[i] = (unsigned char)(n >> (24 - 8 * i));
	fwrite(number, 1, 4, f);
	for (int i = 0; i < 4; i++)
		number[i] = (unsigned char)(sum >> (24 - 8 * i));
	fwrite(number, 1, 4, f);
	fwrite(magic, 1, sizeof(magic), f);
	assert_int_equal(fclose(f), 0);
}

static void strange_company(void **state)
{
	(void)state;
	static const unsigned char two = 2;
	struct run r, b;
	struct store *s;
	assert_int_equal(sample_run(&r), 0);

	save("j.fathom", &r);
	write_file("victim", "precious", 8);
	hostile_journal("j.fathom-journal", "victim");
	refuse("j.fathom", -EBADMSG, "names a further file");
	/* SQLite follows a link to the file that the journal is of. */
	assert_int_equal(symlink("j.fathom", "link"), 0);
	assert_int_equal(store_load(&b, "link", &e), -EBADMSG);
	assert_int_equal(store_resume(&s, "link", &e), -EBADMSG);
	assert_int_equal(access("victim", F_OK), 0);
	assert_int_equal(access("j.fathom-journal", F_OK), 0);
	assert_int_equal(unlink("j.fathom-journal") || symlink("victim", "j.fathom-journal"), 0);
	refuse("j.fathom", -EBADMSG, "is not a regular file");
	assert_int_equal(unlink("j.fathom-journal"), 0);

	int fd = open("j.fathom", O_WRONLY);
	assert_true(fd >= 0 && pwrite(fd, &two, 1, 18) == 1 && pwrite(fd, &two, 1, 19) == 1);
	close(fd);
	refuse("j.fathom", -EINVAL, "write-ahead log");

	/* Names that SQLite takes for more than names. */
	static const char *const names[] = {"file:x?mode=memory", ":memory:"};
	for (size_t i = 0; i < 2; i++) {
		save(names[i], &r);
		assert_int_equal(access(names[i], F_OK), 0);
		assert_int_equal(store_load(&b, names[i], &e), 0);
		same(&r, &b);
		run_free(&b);
		assert_int_equal(store_resume(&s, names[i], &e), 0);
		store_close(s);
	}
	run_free(&r);
}

/* Whatever others do to a file while it is written, no call says that it was stored, and the end says so as well. */
static void taken_away(void **state)
{
	(void)state;
	static const char *const words[] = {"was removed", "was replaced", "was changed", "was changed"};
	struct run r;
	assert_int_equal(sample_run(&r), 0);

	for (unsigned how = 0; how < 4; how++)
		for (unsigned last = 0; last < 2; last++) {
			struct store *s;
			unlink("t.fathom");
			save("other.fathom", &r);
			assert_int_equal(store_create(&s, "t.fathom", &r, &e), 0);
			assert_int_equal(store_probe(s, &r, "constant", &e), 0);
			usleep(5000); /* the clock of the file system counts in steps of 4 ms */
			int fd = how < 2 ? -1 : open("t.fathom", O_WRONLY);
			const bool done = how == 0   ? unlink("t.fathom") == 0
					  : how == 1 ? rename("other.fathom", "t.fathom") == 0
					  : how == 2 ? ftruncate(fd, 0) == 0
						     : pwrite(fd, "junk", 4, 8192) == 4;
			assert_true(done);
			if (fd >= 0)
				close(fd);
			const int rc = last ? store_finish(s, &e) : store_probe(s, &r, "constant", &e);
			if (rc != -ESTALE || !strstr(e.text, words[how]))
				fail_msg("%u %u: %d %s", how, last, rc, e.text);
			if (!last)
				store_close(s);
		}
	run_free(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(round_trip),      cmocka_unit_test(foreign),    cmocka_unit_test(damaged),
	    cmocka_unit_test(defused),	       cmocka_unit_test(torn),	     cmocka_unit_test(full),
	    cmocka_unit_test(create_refused),  cmocka_unit_test(read_only),  cmocka_unit_test(upgraded),
	    cmocka_unit_test(strange_company), cmocka_unit_test(taken_away), cmocka_unit_test(viewed),
	};
	return cmocka_run_group_tests(tests, folder, clean);
}
