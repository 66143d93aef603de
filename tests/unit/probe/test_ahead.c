/* The engine on a gpu that compiles in the background: what it is told to expect, and who goes on while kernels are compiled. */
#include "base/arena.h"
#include "engine_watch.h"
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include <cmocka.h>

/* A device that compiles ahead loads nothing that it was not told of, and nothing more than was asked for. The findings
 * are the same. */
static void kernels_are_foreseen(void **state)
{
	(void)state;
	struct null_gpu g, plain;
	struct run r, s;
	struct watch w = {0}, v = {0};
	struct err e = {0};
	const char *const *names = NAMES("picky", "seer", "child", "idle");

	null_gpu_init(&plain);
	run_init(&s);
	assert_int_equal(measure(&s, &plain, names, 4, &v, &e), 0);
	assert_string_equal(v.order, "picky seer step child idle ");
	assert_int_equal(plain.expected, 0);

	null_gpu_init(&g);
	null_gpu_foresees(&g);
	run_init(&r);
	assert_int_equal(measure(&r, &g, names, 4, &w, &e), 0);
	/* what others wait for, then little text before much */
	assert_string_equal(w.order, "step child idle picky seer ");
	assert_int_equal(g.surprises, 0);
	assert_int_equal(g.kernels, plain.kernels);
	assert_int_equal(g.runs, plain.runs);
	assert_int_equal(g.expected, g.kernels + 1); /* one of the seer's was never asked for */
	assert_int_equal(g.soon, 0);		     /* all of it was known before the probes began */
	expect_same(&s.findings, &r.findings);
	run_free(&r);
	run_free(&s);
}

/* What a pass that waits asks for further on is expected, each once, and measured only when it is asked for. */
static void passes_go_on_ahead(void **state)
{
	(void)state;
	struct null_gpu g, plain;
	struct run r, s;
	struct watch w = {0}, v = {0};
	struct err e = {0};

	null_gpu_init(&plain);
	run_init(&s);
	assert_int_equal(measure(&s, &plain, NAMES("scout"), 1, &v, &e), 0);
	assert_int_equal(plain.runs, 13);
	null_gpu_init(&g);
	null_gpu_foresees(&g);
	run_init(&r);
	assert_int_equal(measure(&r, &g, NAMES("scout"), 1, &w, &e), 0);
	assert_int_equal(g.runs, plain.runs);
	assert_int_equal(g.kernels, plain.kernels);
	assert_int_equal(g.expected, g.kernels);
	assert_int_equal(g.surprises, 0);
	assert_int_equal(g.soon, 0);
	expect_same(&s.findings, &r.findings);
	run_free(&r);
	run_free(&s);
}

/* Much text begins first, and lets the others go on until it is compiled; and what may hang is told of until it is over. */
static void others_go_on_while_much_text_is_compiled(void **state)
{
	(void)state;
	static const struct {
		size_t left;
		const char *ends;
	} cases[] = {{(size_t)1 << 20, "step picky child wordy heir "}, {0, "wordy step picky child heir "}};
	struct run other;
	struct null_gpu plain;
	struct watch v = {0};
	struct err e = {0};

	null_gpu_init(&plain);
	run_init(&other);
	assert_int_equal(measure(&other, &plain, NAMES("child", "heir"), 2, &v, &e), 0);
	assert_false(plain.group_asked);
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct null_gpu g;
		struct run r;
		struct watch w = {0};
		null_gpu_init(&g);
		null_gpu_foresees(&g);
		g.left = cases[i].left;
		run_init(&r);
		assert_int_equal(measure(&r, &g, NAMES("child", "heir"), 2, &w, &e), 0);
		assert_string_equal(w.order, "wordy step picky child heir ");
		assert_string_equal(w.ends, cases[i].ends);
		assert_true(g.group_asked);
		assert_int_equal(g.surprises, 0);
		assert_int_equal(g.runs, plain.runs);
		assert_int_equal(g.braces, 2);
		assert_int_equal(g.braced[0], 1);
		assert_int_equal(g.braced[1], 0);
		expect_same(&other.findings, &r.findings);
		run_free(&r);
	}
	run_free(&other);
}

/* Stopped while several are under way: each says so, is stored, and is measured when the run goes on. */
static void all_that_go_are_stopped(void **state)
{
	(void)state;
	struct null_gpu g;
	struct run r;
	struct watch w = {.stop_after = 1}, again = {0};
	struct err e = {0};

	null_gpu_init(&g);
	null_gpu_foresees(&g);
	g.left = 1;
	run_init(&r);
	assert_int_equal(measure(&r, &g, NAMES("child", "heir"), 2, &w, &e), -EINTR);
	assert_true(w.begun >= 2);
	assert_int_equal(w.ended, w.begun);
	assert_int_equal(w.committed, w.begun);
	assert_int_equal(run_probe(&r, "wordy")->state, PROBE_INTERRUPTED);
	assert_int_equal(run_probe(&r, "heir")->state, PROBE_PENDING);
	assert_int_equal(measure(&r, &g, NAMES("child", "heir"), 2, &again, &e), 0);
	for (size_t i = 0; i < r.probe_count; i++)
		assert_int_equal(r.probes[i].state, PROBE_DONE);
	run_free(&r);
}

/* A run that goes on is told of what is left only; one that is stopped before a probe begins has measured nothing of it. */
static void foreseeing_goes_on(void **state)
{
	(void)state;
	struct null_gpu g;
	struct run r;
	struct watch w = {0}, stop = {.stop_after = 1};
	struct err e = {0};

	null_gpu_init(&g);
	null_gpu_foresees(&g);
	run_init(&r);
	assert_int_equal(measure(&r, &g, NAMES("step"), 1, &w, &e), 0);
	assert_int_equal(g.expected, 1);
	null_gpu_init(&g);
	null_gpu_foresees(&g);
	w = (struct watch){0};
	assert_int_equal(measure(&r, &g, NAMES("child", "seer"), 2, &stop, &e), -EINTR);
	assert_string_equal(stop.order, "child seer ");
	assert_int_equal(g.expected, 3);
	assert_int_equal(g.surprises, 0);
	assert_int_equal(run_probe(&r, "seer")->state, PROBE_INTERRUPTED);
	assert_int_equal(measure(&r, &g, NAMES("child", "seer"), 2, &w, &e), 0);
	assert_int_equal(run_probe(&r, "seer")->state, PROBE_DONE);
	run_free(&r);
}

/* On a device that runs apart one probe thinks while another's launches are waited for. Nobody else calls the device
 * then. All is as without it: findings, a probe that fails, and a run that is stopped. */
static void probes_think_beside_launches(void **state)
{
	(void)state;
	static const unsigned lost_from[] = {0, 3};

	for (size_t i = 0; i < sizeof lost_from / sizeof *lost_from; i++) {
		struct null_gpu g, plain;
		struct run r, s;
		struct watch w = {0}, v = {0};
		struct err e = {0};
		null_gpu_init(&plain);
		null_gpu_init(&g);
		null_gpu_runs_apart(&g);
		g.lost_from = plain.lost_from = lost_from[i];
		g.lost_to = plain.lost_to = lost_from[i] ? 1000 : 0;
		run_init(&s);
		run_init(&r);
		assert_int_equal(measure(&s, &plain, NAMES("child", "seer", "picky"), 3, &v, &e), 0);
		assert_int_equal(measure(&r, &g, NAMES("child", "seer", "picky"), 3, &w, &e), 0);
		assert_int_equal(atomic_load(&g.meddled), 0);
		assert_true(g.beside > 0);
		if (!lost_from[i]) {
			expect_same(&s.findings, &r.findings);
			assert_int_equal(g.runs, plain.runs);
		} else {
			assert_int_equal(run_probe(&r, "step")->state, PROBE_FAILED);
			assert_int_equal(run_probe(&r, "child")->state, PROBE_FAILED);
		}
		run_free(&r);
		run_free(&s);
	}
	struct null_gpu g;
	struct run r;
	struct watch w = {.stop_after = 1}, again = {0};
	struct err e = {0};
	null_gpu_init(&g);
	null_gpu_runs_apart(&g);
	run_init(&r);
	assert_int_equal(measure(&r, &g, NAMES("child", "seer"), 2, &w, &e), -EINTR);
	assert_int_equal(w.ended, w.begun);
	assert_int_equal(measure(&r, &g, NAMES("child", "seer"), 2, &again, &e), 0);
	assert_int_equal(run_probe(&r, "child")->state, PROBE_DONE);
	assert_int_equal(run_probe(&r, "seer")->state, PROBE_DONE);
	run_free(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(kernels_are_foreseen),
	    cmocka_unit_test(passes_go_on_ahead),
	    cmocka_unit_test(others_go_on_while_much_text_is_compiled),
	    cmocka_unit_test(all_that_go_are_stopped),
	    cmocka_unit_test(foreseeing_goes_on),
	    cmocka_unit_test(probes_think_beside_launches),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
