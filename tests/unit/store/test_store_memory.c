/* The n-th allocation fails, for all n: -ENOMEM, nothing lost, nothing leaked. */
#include "base/arena.h"
#include "sample_run.h"
#include "store/store.h"
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static char path[] = "/tmp/fathom-memory-XXXXXX";

static int save(const struct run *r, struct err *e)
{
	struct store *s = NULL;
	unlink(path);
	int rc = store_create(&s, path, r, e);
	for (size_t i = 0; rc == 0 && i < r->probe_count; i++)
		rc = store_probe(s, r, r->probes[i].name, e);
	if (rc == 0)
		rc = store_findings(s, r, e);
	store_close(s);
	return rc;
}

/* Runs `what` with ever later failures until none is met. */
static void every(int (*what)(struct run *r, struct err *e), struct run *r)
{
	long n = 1;
	for (int rc = -ENOMEM; rc; n++) {
		struct err e = {0};
		mem_fail_after(n);
		rc = what(r, &e);
		mem_fail_after(0);
		if (rc && rc != -ENOMEM)
			fail_msg("allocation %ld: %d %s", n, rc, e.text);
	}
	print_message("%ld allocations failed one by one\n", n - 2);
	assert_true(n > 3);
}

static int do_save(struct run *r, struct err *e)
{
	return save(r, e);
}

static int do_load(struct run *r, struct err *e)
{
	struct run copy;
	int rc = store_load(&copy, path, e);
	if (rc == 0) {
		assert_int_equal(copy.findings.count, r->findings.count);
		run_free(&copy);
	}
	return rc;
}

static int do_resume(struct run *r, struct err *e)
{
	struct store *s = NULL;
	int rc = store_resume(&s, path, e);
	if (rc == 0)
		rc = store_probe(s, r, "constant", e);
	store_close(s);
	return rc;
}

static void memory(void **state)
{
	(void)state;
	struct run r;
	int fd = mkstemp(path);
	assert_true(fd >= 0 && close(fd) == 0);
	assert_int_equal(sample_run(&r), 0);
	every(do_save, &r);
	every(do_load, &r);
	every(do_resume, &r);
	/* after all those failures the file is whole */
	struct err e;
	struct run copy;
	assert_int_equal(store_load(&copy, path, &e), 0);
	assert_int_equal(copy.series[0].count, r.series[0].count);
	run_free(&copy);
	run_free(&r);
	unlink(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(memory)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
