/* What was measured is stored while the run goes on: all of it arrives, and what does not is told when the next probe comes. */
#include "base/arena.h"
#include "cmd/keeping.h"
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cmocka.h>

enum { POINTS = 40, WORDS = 1000 };

static void measure(struct run *r, const char *probe, uint32_t first)
{
	static uint32_t words[WORDS];
	struct series *s = run_series_new(r, probe, "chase");

	assert_non_null(s);
	s->axis = s->unit = "";
	for (uint32_t i = 0; i < POINTS; i++) {
		for (uint32_t k = 0; k < WORDS; k++)
			words[k] = (first + i) * 2654435761u * (k + 1);
		const struct point pt = {
		    .x = i, .repeats = 1, .words_per_repeat = WORDS, .y = words, .native = UINT32_MAX};
		assert_int_equal(series_add(r, s, &pt), 0);
	}
	run_probe(r, probe)->state = PROBE_DONE;
}

static void begin_run(struct run *r)
{
	run_init(r);
	snprintf(r->fathom, sizeof r->fathom, "test");
	snprintf(r->device.name, sizeof r->device.name, "GPU");
	assert_non_null(run_probe(r, "clock"));
	assert_non_null(run_probe(r, "tlb"));
}

static void all_of_it_arrives(void **state)
{
	(void)state;
	struct keeping k = {0};
	struct store *s = NULL;
	struct run r, back;
	struct err e = {0};

	unlink("keeping.fathom");
	begin_run(&r);
	assert_int_equal(keeping_end(&k, &e), 0); /* nothing was begun */
	assert_int_equal(store_create(&s, "keeping.fathom", &r, &e), 0);
	measure(&r, "clock", 1);
	assert_int_equal(keeping_begin(&k, s, &r, "clock", &e), 0);
	measure(&r, "tlb", 1000); /* while that is stored */
	assert_int_equal(keeping_begin(&k, s, &r, "tlb", &e), 0);
	assert_int_equal(keeping_end(&k, &e), 0);
	store_close(s);
	assert_int_equal(store_load(&back, "keeping.fathom", &e), 0);
	assert_int_equal(back.series_count, 2);
	for (size_t i = 0; i < r.series_count; i++) {
		const struct series *a = &r.series[i], *b = run_series(&back, a->probe, a->experiment);
		assert_non_null(b);
		assert_int_equal(run_probe(&back, a->probe)->state, PROBE_DONE);
		assert_int_equal(b->count, POINTS);
		for (size_t n = 0; n < POINTS; n++)
			assert_memory_equal(a->points[n].y, b->points[n].y, WORDS * sizeof(uint32_t));
	}
	run_free(&back);
	run_free(&r);
	unlink("keeping.fathom");
}

static void a_full_disk_is_told(void **state)
{
	(void)state;
	struct keeping k = {0};
	struct store *s = NULL;
	struct run r;
	struct err e = {0};
	struct rlimit old, limit;

	unlink("keeping.fathom");
	begin_run(&r);
	assert_int_equal(store_create(&s, "keeping.fathom", &r, &e), 0);
	measure(&r, "clock", 1);
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
	limit = old;
	limit.rlim_cur = 64 << 10;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
	assert_int_equal(keeping_begin(&k, s, &r, "clock", &e), 0);
	measure(&r, "tlb", 1000);
	assert_true(keeping_begin(&k, s, &r, "tlb", &e) < 0);
	assert_non_null(strstr(e.text, "keeping.fathom"));
	assert_int_equal(keeping_end(&k, &e), 0); /* it was told, and the second was not begun */
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
	store_close(s);
	run_free(&r);
	unlink("keeping.fathom");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(all_of_it_arrives),
	    cmocka_unit_test(a_full_disk_is_told),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
