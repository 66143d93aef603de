/* A disk that fails at the n-th read, write, sync, cut or removal, for all n, once or from then on. A part that was
 * said to be stored is there afterwards. A part that could not be stored is told in one sentence. Nobody reads anything
 * but the run. */
#include "base/err.h"
#include "sample_run.h"
#include "store/store.h"
#include <errno.h>
#include <setjmp.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

/* ---- the disk ---- */

static struct {
	sqlite3_vfs vfs, *real;
	long left;   /* operations until one fails; negative: none does */
	bool stays;  /* all others fail from then on */
	bool failed; /* one has */
} disk;

struct file {
	sqlite3_file base, *real;
};

static bool fails(void)
{
	if (disk.left == 0)
		disk.failed = true;
	const bool now = disk.left == 0 || (disk.failed && disk.stays);
	disk.left -= disk.left >= 0;
	return now;
}

static sqlite3_file *real(sqlite3_file *f)
{
	return ((struct file *)f)->real;
}

static int do_close(sqlite3_file *f)
{
	return real(f)->pMethods ? real(f)->pMethods->xClose(real(f)) : SQLITE_OK;
}

static int do_read(sqlite3_file *f, void *to, int n, sqlite3_int64 at)
{
	return fails() ? SQLITE_IOERR_READ : real(f)->pMethods->xRead(real(f), to, n, at);
}

/* Half of it gets there. */
static int do_write(sqlite3_file *f, const void *from, int n, sqlite3_int64 at)
{
	if (!fails())
		return real(f)->pMethods->xWrite(real(f), from, n, at);
	real(f)->pMethods->xWrite(real(f), from, n / 2, at);
	return SQLITE_IOERR_WRITE;
}

static int do_truncate(sqlite3_file *f, sqlite3_int64 n)
{
	return fails() ? SQLITE_IOERR_TRUNCATE : real(f)->pMethods->xTruncate(real(f), n);
}

/* No machine loses its power here, so what was written is there without waiting for the real disk, which takes most of this test's time. */
static int do_sync(sqlite3_file *f, int flags)
{
	(void)f;
	(void)flags;
	return fails() ? SQLITE_IOERR_FSYNC : SQLITE_OK;
}

static int do_size(sqlite3_file *f, sqlite3_int64 *n)
{
	return real(f)->pMethods->xFileSize(real(f), n);
}

static int do_lock(sqlite3_file *f, int level)
{
	return real(f)->pMethods->xLock(real(f), level);
}

static int do_unlock(sqlite3_file *f, int level)
{
	return real(f)->pMethods->xUnlock(real(f), level);
}

static int do_check(sqlite3_file *f, int *out)
{
	return real(f)->pMethods->xCheckReservedLock(real(f), out);
}

static int do_control(sqlite3_file *f, int what, void *arg)
{
	return real(f)->pMethods->xFileControl(real(f), what, arg);
}

static int do_sector(sqlite3_file *f)
{
	return real(f)->pMethods->xSectorSize(real(f));
}

static int do_character(sqlite3_file *f)
{
	return real(f)->pMethods->xDeviceCharacteristics(real(f));
}

static const sqlite3_io_methods methods = {.iVersion = 1,
					   .xClose = do_close,
					   .xRead = do_read,
					   .xWrite = do_write,
					   .xTruncate = do_truncate,
					   .xSync = do_sync,
					   .xFileSize = do_size,
					   .xLock = do_lock,
					   .xUnlock = do_unlock,
					   .xCheckReservedLock = do_check,
					   .xFileControl = do_control,
					   .xSectorSize = do_sector,
					   .xDeviceCharacteristics = do_character};

static int do_open(sqlite3_vfs *v, const char *name, sqlite3_file *f, int flags, int *out)
{
	struct file *file = (struct file *)f;

	(void)v;
	file->real = (sqlite3_file *)(file + 1);
	const int rc = disk.real->xOpen(disk.real, name, file->real, flags, out);
	file->base.pMethods = rc == SQLITE_OK ? &methods : NULL;
	return rc;
}

static int do_delete(sqlite3_vfs *v, const char *name, int sync)
{
	(void)v;
	(void)sync;
	return fails() ? SQLITE_IOERR_DELETE : disk.real->xDelete(disk.real, name, 0);
}

static void disk_fail(long after, bool stays)
{
	disk.left = after;
	disk.stays = stays;
	disk.failed = false;
}

static int disk_begin(void **state)
{
	char *dir = strdup("/tmp/fathom-faults-XXXXXX");

	*state = dir;
	disk.real = sqlite3_vfs_find(NULL);
	disk.vfs = *disk.real;
	disk.vfs.zName = "failing";
	disk.vfs.szOsFile = (int)sizeof(struct file) + disk.real->szOsFile;
	disk.vfs.xOpen = do_open;
	disk.vfs.xDelete = do_delete;
	disk_fail(-1, false);
	return sqlite3_vfs_register(&disk.vfs, 1) || !dir || !mkdtemp(dir) || chdir(dir) ? -1 : 0;
}

static int disk_end(void **state)
{
	char command[64];

	snprintf(command, sizeof(command), "rm -rf %s", (char *)*state);
	const int rc = sqlite3_vfs_unregister(&disk.vfs) || chdir("/") || system(command);
	free(*state);
	return rc;
}

/* ---- what must hold ---- */

static void check_sentence(int rc, const struct err *e)
{
	assert_int_equal(e->code, rc);
	assert_true(strlen(e->text) > 10);
	assert_null(strchr(e->text, '\n'));
}

/* Stores the run; how many probes were said to be stored, -1: not even the file. *whole: all was. */
static int store_all(const struct run *r, bool *whole)
{
	struct store *s = NULL;
	struct err e = {0};
	int stored = 0, rc = store_create(&s, "f.fathom", r, &e);

	*whole = false;
	if (rc) {
		check_sentence(rc, &e);
		if (!disk.failed)
			print_error("a disk that did not fail: %s\n", e.text);
		return -1;
	}
	for (size_t i = 0; i < r->probe_count && rc == 0; i++) {
		rc = store_probe(s, r, r->probes[i].name, &e);
		stored += rc == 0;
	}
	if (rc == 0)
		rc = store_findings(s, r, &e);
	if (rc)
		store_close(s);
	else
		rc = store_finish(s, &e);
	if (rc)
		check_sentence(rc, &e);
	if (rc && !disk.failed)
		print_error("a disk that did not fail: %s\n", e.text);
	*whole = rc == 0;
	return stored;
}

static void check_stored(const struct run *r, int stored, bool whole)
{
	struct run got;
	struct err e = {0};
	const int rc = store_load(&got, "f.fathom", &e);

	if (stored < 0) {
		assert_int_equal(rc, -ENOENT);
		return;
	}
	assert_int_equal(rc, 0);
	for (int i = 0; i < stored; i++) {
		const struct probe_record *p = run_probe(&got, r->probes[i].name);
		assert_int_equal(p->state, r->probes[i].state);
	}
	for (size_t i = 0; i < r->series_count; i++) {
		const struct series *a = &r->series[i], *b = run_series(&got, a->probe, a->experiment);
		bool is_stored = false;
		for (int k = 0; k < stored; k++)
			is_stored |= strcmp(r->probes[k].name, a->probe) == 0;
		if (!is_stored)
			continue;
		assert_non_null(b);
		assert_int_equal(a->count, b->count);
		for (size_t k = 0; k < a->count; k++)
			assert_int_equal(a->points[k].outcome, b->points[k].outcome);
	}
	if (whole)
		assert_int_equal(got.findings.count, r->findings.count);
	run_free(&got);
}

static void writing(void **state)
{
	struct run r;
	unsigned tries = 0, told = 0, lost = 0;

	(void)state;
	assert_int_equal(sample_run(&r), 0);
	for (int stays = 0; stays < 2; stays++) {
		for (long n = 0, more = 1; more; n++) {
			bool whole;
			disk_fail(n, stays);
			const int stored = store_all(&r, &whole);
			more = disk.failed;
			disk_fail(-1, false);
			check_stored(&r, stored, whole);
			tries++;
			told += !whole;
			lost += !whole && stored < 0;
			assert_true(more || whole);
			unlink("f.fathom");
			unlink("f.fathom-journal");
			/* Nothing else is left. */
			assert_int_equal(system("[ -z \"$(ls)\" ]"), 0);
		}
	}
	print_message("%u failing disks, %u told of, %u of them before there was a file\n", tries, told, lost);
	assert_true(tries > 50 && told > tries / 2);
	run_free(&r);
}

static void reading(void **state)
{
	struct run r, got;
	struct err e = {0};
	bool whole;
	unsigned tries = 0;

	(void)state;
	assert_int_equal(sample_run(&r), 0);
	assert_int_equal(store_all(&r, &whole), r.probe_count);
	for (long n = 0, more = 1; more; n++, tries++) {
		disk_fail(n, false);
		const int rc = store_load(&got, "f.fathom", &e);
		more = disk.failed;
		disk_fail(-1, false);
		if (rc) {
			assert_true(more);
			check_sentence(rc, &e);
			continue;
		}
		assert_int_equal(got.series_count, r.series_count);
		assert_int_equal(got.findings.count, r.findings.count);
		run_free(&got);
	}
	print_message("%u failing reads\n", tries);
	run_free(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(writing), cmocka_unit_test(reading)};

	return cmocka_run_group_tests(tests, disk_begin, disk_end);
}
