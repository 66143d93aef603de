/* A writer that is killed at any moment loses at most the probe in progress. */
#include "base/arena.h"
#include "sample_run.h"
#include "store/store.h"
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define PROBES 40
#define WORDS  20000

/* Adds probe `n` with words that only it has. */
static int add(struct run *r, unsigned n)
{
	static uint32_t words[WORDS];
	char name[32];
	snprintf(name, sizeof(name), "probe%u", n);
	for (uint32_t i = 0; i < WORDS; i++)
		words[i] = (i + n) * 2654435761u;
	struct point p = {.x = n, .repeats = 1, .words_per_repeat = WORDS, .y = words, .native = UINT32_MAX};
	struct series *s = run_series_new(r, name, "only");
	struct probe_record *record = run_probe(r, name);
	if (!s || !record || series_add(r, s, &p))
		return -1;
	record->state = PROBE_DONE;
	return 0;
}

static void writer(const char *path, int told)
{
	struct run r;
	struct store *s;
	struct err e;
	if (sample_run(&r) || store_create(&s, path, &r, &e))
		_exit(1);
	for (unsigned n = 0; n < PROBES; n++) {
		char name[32];
		snprintf(name, sizeof(name), "probe%u", n);
		if (add(&r, n) || store_probe(s, &r, name, &e))
			_exit(2);
		uint8_t done = (uint8_t)(n + 1);
		if (write(told, &done, 1) != 1)
			_exit(3);
	}
	_exit(0);
}

static void killed(void **state)
{
	(void)state;
	char dir[] = "/tmp/fathom-kill-XXXXXX";
	assert_non_null(mkdtemp(dir));
	assert_int_equal(chdir(dir), 0);
	unsigned in_the_middle = 0;
	/* On a busy machine a writer may be slow to begin. */
	for (useconds_t wait = 500; wait < 120000 || (!in_the_middle && wait < 5000000); wait = wait * 5 / 4) {
		int fd[2];
		assert_int_equal(pipe(fd), 0);
		unlink("k.fathom");
		unlink("k.fathom-journal");
		pid_t child = fork();
		if (child == 0)
			writer("k.fathom", fd[1]);
		close(fd[1]);
		usleep(wait);
		kill(child, SIGKILL);
		int status;
		assert_int_equal(waitpid(child, &status, 0), child);
		assert_true(WIFSIGNALED(status) || WEXITSTATUS(status) == 0);
		uint8_t done = 0;
		while (read(fd[0], &done, 1) == 1)
			;
		close(fd[0]);
		struct run r;
		struct err e;
		int rc = store_load(&r, "k.fathom", &e);
		char parts[64];
		snprintf(parts, sizeof(parts), "k.fathom.%ld.part", (long)child);
		unlink(parts);
		strcat(parts, "-journal");
		unlink(parts);
		if (rc) { /* killed before the file was a run: then nothing was promised, and nothing has its name */
			assert_int_equal(done, 0);
			assert_int_equal(rc, -ENOENT);
			continue;
		}
		/* what was told to be done is there; the one in progress may be */
		assert_in_range(r.probe_count, done, done + 1);
		in_the_middle += r.probe_count > 0 && r.probe_count < PROBES;
		for (size_t i = 0; i < r.probe_count; i++) {
			const struct point *p = &r.series[i].points[0];
			assert_int_equal(r.series[i].count, 1);
			for (uint32_t k = 0; k < WORDS; k++)
				assert_true(p->y[k] == (uint32_t)((k + i) * 2654435761u));
		}
		/* and the run goes on */
		struct store *s;
		char name[32];
		unsigned next = (unsigned)r.probe_count;
		snprintf(name, sizeof(name), "probe%u", next);
		assert_int_equal(store_resume(&s, "k.fathom", &e), 0);
		assert_int_equal(add(&r, next), 0);
		assert_int_equal(store_probe(s, &r, name, &e), 0);
		store_close(s);
		assert_int_equal(access("k.fathom-journal", F_OK), -1);
		run_free(&r);
		assert_int_equal(store_load(&r, "k.fathom", &e), 0);
		assert_int_equal(r.probe_count, next + 1);
		run_free(&r);
	}
	print_message("%u writers were killed between their first and their last probe\n", in_the_middle);
	assert_true(in_the_middle > 0);
	unlink("k.fathom");
	assert_int_equal(chdir("/") || rmdir(dir), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(killed)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
