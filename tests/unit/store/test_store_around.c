/* Run files among others: files that are there or in use, full disks, modes, journals, and what others do to a file meanwhile. */
#include "sample_run.h"
#include "store_files.h"
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

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
	    cmocka_unit_test(create_refused),  cmocka_unit_test(full),	     cmocka_unit_test(read_only),
	    cmocka_unit_test(strange_company), cmocka_unit_test(taken_away),
	};
	return cmocka_run_group_tests(tests, folder, clean);
}
