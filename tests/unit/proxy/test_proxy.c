/* The proxy over a backend of the test's own (proxy_toy.h). */
#include "base/arena.h"
#include "gpu/gpu.h"
#include "gpu/proxy/proxy_wire.h"
#include "proxy_toy.h"
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

/* ---- helpers ---- */
static struct gpu *open_toy(const char *spec)
{
	struct gpu *g;
	struct err e = {0};

	if (gpu_open_proxy(&g, &toy_ops, spec, 77, &e))
		fail_msg("%s", e.text);
	return g;
}

static uint32_t load_one(struct gpu *g, const char *text)
{
	struct kernel_source src = {"name", "entry", text};
	struct native_info n;
	struct err e = {0};
	uint32_t id;

	if (g->ops->load(g, &src, 1, &id, &n, &e))
		fail_msg("%s", e.text);
	assert_int_equal(n.instructions, strlen(text));
	assert_string_equal(n.source, "toy");
	return id;
}

static struct sample run_as(struct gpu *g, uint32_t id, const char *label, bool may_hang)
{
	struct launch l = {.entry = "entry", .grid = {9, 1, 1}, .time_limit_ms = 1, .may_hang = may_hang};
	struct sample out;
	struct err e = {0};

	snprintf(l.label, sizeof l.label, "%s", label);
	if (g->ops->run(g, id, &l, &out, &e))
		fail_msg("%s", e.text);
	return out;
}

static struct sample run(struct gpu *g, uint32_t id, const char *label)
{
	return run_as(g, id, label, false);
}

/* ---- tests ---- */
static void everything_arrives(void **state)
{
	(void)state;
	struct gpu *g = open_toy("a");
	struct kernel_source src[] = {{"one", "e", "x"}, {"two", "e", "xyz"}, {"one again", "e", "x"}};
	static const uint8_t init[] = {1, 2, 3};
	static const uint64_t ring[] = {100, 200, 300, 400};
	struct native_info n[3];
	struct sample out;
	struct condition c;
	struct err e = {0};
	uint32_t ids[3];
	struct launch l = {.label = "plain", .entry = "e", .grid = {42, 1, 1}, .buffer_count = 2};

	assert_string_equal(g->ops->name, "toy");
	assert_string_equal(g->ops->info(g)->name, "toy a");
	assert_int_not_equal(g->ops->info(g)->sm_count, getpid());
	assert_int_equal(g->ops->load(g, src, 3, ids, n, &e), 0);
	assert_int_equal(ids[0], ids[2]);
	assert_int_not_equal(ids[0], ids[1]);
	assert_int_equal(n[1].instructions, 3);
	l.buffers[0] = (struct launch_buffer){.bytes = 64, .init = init, .init_bytes = 3};
	l.buffers[1] = (struct launch_buffer){.bytes = 4096, .ring = ring, .ring_count = 4, .ring_word = 8};
	assert_int_equal(g->ops->run(g, ids[1], &l, &out, &e), 0);
	assert_int_equal(out.outcome, OUTCOME_OK);
	assert_int_equal(out.words_per_repeat, 8);
	assert_true(out.elapsed_ms == 2.5);
	assert_string_equal(out.message, "e");
	assert_int_equal(out.words[0], 3);
	assert_int_equal(out.words[1], 77);
	assert_int_equal(out.words[2], 42);
	assert_int_equal(out.words[3], 6);
	assert_int_equal(out.words[4], 1000);
	sample_free(&out);
	assert_int_equal(g->ops->sense(g, &c, &e), 0);
	assert_true(c.temperature_c == 50 && c.throttle == 4);
	assert_int_equal(g->ops->run(g, 99, &l, &out, &e), -EINVAL);
	g->ops->close(g);
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1); /* no child is left behind */
}

static void big_messages_arrive(void **state)
{
	(void)state;
	struct gpu *g = open_toy("a");
	uint32_t count = 1 << 19, id = load_one(g, "k");
	uint64_t *ring = mem_alloc(count * sizeof *ring), sum = 0;
	struct launch l = {.label = "big", .buffer_count = 1};
	struct sample out;
	struct err e = {0};

	assert_non_null(ring);
	for (uint32_t i = 0; i < count; i++)
		sum += ring[i] = i * 64ull;
	l.buffers[0] =
	    (struct launch_buffer){.bytes = count * 64ull, .ring = ring, .ring_count = count, .ring_word = 8};
	assert_int_equal(g->ops->run(g, id, &l, &out, &e), 0);
	assert_int_equal(out.words[4], (uint32_t)sum);
	sample_free(&out);
	mem_free(ring);
	g->ops->close(g);
}

static uint32_t process_of(struct sample s)
{
	assert_int_equal(s.outcome, OUTCOME_OK);
	const uint32_t pid = s.words[5];

	sample_free(&s);
	return pid;
}

static void lost(struct sample s, enum outcome outcome)
{
	assert_int_equal(s.outcome, outcome);
	sample_free(&s);
}

/* Each probe that may hang costs one of the processes that wait for that, and not the one that everything else runs in. */
static void what_may_hang_runs_apart(void **state)
{
	(void)state;
	static const char *const ends[] = {"own limit", "crash", "hang"};
	struct gpu *g = open_toy("a");
	const uint32_t id = load_one(g, "k"), usual = process_of(run(g, id, "plain"));

	assert_int_equal(process_of(run_as(g, id, "plain", true)), usual); /* nobody was told of it */
	g->ops->brace(g, 2);
	const uint32_t first = process_of(run_as(g, id, "plain", true));
	assert_int_not_equal(first, usual);
	assert_int_equal(process_of(run(g, id, "plain")), usual);
	lost(run_as(g, id, ends[0], true), OUTCOME_TIMEOUT);
	const uint32_t second = process_of(run_as(g, id, "plain", true));
	assert_true(second != usual && second != first);
	g->ops->brace(g, 1);
	assert_int_equal(process_of(run_as(g, id, "plain", true)), second);
	lost(run_as(g, id, ends[1], true),
	     OUTCOME_CRASH); /* in the taster, the usual one, and once more in a fresh one */
	/* When all are gone it is as without them. */
	const uint32_t fresh = process_of(run_as(g, id, "plain", true));
	assert_true(fresh != usual && fresh != second);
	lost(run_as(g, id, ends[2], true), OUTCOME_TIMEOUT);
	assert_int_not_equal(process_of(run(g, id, "plain")), fresh);
	g->ops->close(g);
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);

	/* Those that are not needed any more end, and so do all with the gpu. */
	for (unsigned left = 0; left < 2; left++) {
		g = open_toy("a");
		g->ops->brace(g, 2);
		g->ops->brace(g, left);
		const uint32_t other = load_one(g, "k"), plain = process_of(run(g, other, "plain"));
		assert_int_equal(process_of(run_as(g, other, "plain", true)) == plain, left == 0);
		g->ops->close(g);
		assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
	}

	/* One that cannot open the device, or loses it before a launch, is not missed. */
	g = open_toy("a");
	g->ops->brace(g, 1);
	const uint32_t other = load_one(g, "k"), plain = process_of(run(g, other, "plain"));
	assert_int_not_equal(process_of(run_as(g, other, "lose it", true)), plain);
	assert_int_equal(process_of(run_as(g, other, "plain", true)), plain);
	g->ops->close(g);
}

static void open_says_why_not(void **state)
{
	(void)state;
	struct gpu *g;
	struct err e = {0};

	assert_int_equal(gpu_open_proxy(&g, &toy_ops, "none", 1, &e), -ENODEV);
	assert_string_equal(e.text, "there is no such toy");
	assert_null(g);
	assert_int_equal(gpu_open_proxy(&g, &toy_ops, "dies", 1, &e), -EIO);
	assert_non_null(strstr(e.text, "status 3"));
}

static void compile_errors_and_crashes(void **state)
{
	(void)state;
	struct gpu *g = open_toy("a");
	struct kernel_source src[] = {{"good", "e", "good"}, {"bad", "e", "broken"}};
	struct native_info n[2];
	struct err e = {0};
	struct sample s;
	uint32_t ids[2];

	assert_int_equal(g->ops->load(g, src, 2, ids, n, &e), -EINVAL);
	assert_string_equal(e.text, "kernel bad: line 1");
	src[1].text = "kills the compiler";
	assert_int_equal(g->ops->load(g, src, 2, ids, n, &e), -EIO);
	assert_non_null(strstr(e.text, "signal 11"));
	s = run(g, load_one(g, "good"), "plain"); /* and life goes on */
	assert_int_equal(s.words[0], 4);
	sample_free(&s);
	g->ops->close(g);
}

/* What each label does to the child, what the launch's outcome is, and that the next launch works in a fresh child. */
static void one_launch_is_lost(void **state)
{
	(void)state;
	static const struct {
		const char *label, *message;
		enum outcome outcome;
	} cases[] = {
	    {"crash", "signal 11", OUTCOME_CRASH},
	    {"exit", "status 5", OUTCOME_CRASH},
	    {"own limit", "", OUTCOME_TIMEOUT},
	    {"hang", "did not end", OUTCOME_TIMEOUT},
	};
	struct gpu *g = open_toy("a");
	uint32_t first = load_one(g, "1"), second = load_one(g, "22");

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct sample a = run(g, second, "plain"), b = run(g, second, cases[i].label),
			      c = run(g, second, "plain"), d = run(g, first, "plain");
		assert_int_equal(a.outcome, OUTCOME_OK);
		assert_int_equal(b.outcome, cases[i].outcome);
		assert_non_null(strstr(b.message, cases[i].message));
		assert_null(b.words);
		assert_int_equal(c.outcome, OUTCOME_OK);
		assert_int_equal(c.words[0], 2);
		assert_int_equal(d.words[0], 1);
		assert_int_not_equal(a.words[5], c.words[5]);
		assert_int_equal(c.words[5], d.words[5]);
		sample_free(&a);
		sample_free(&c);
		sample_free(&d);
	}
	g->ops->close(g);
}

/* A process that is killed, or dies of something that does not happen again, costs nothing: neither its launch nor the kernel that it compiles. */
static void one_more_try(void **state)
{
	(void)state;
	struct gpu *g = open_toy("a");
	uint32_t id = load_one(g, "1");
	const uint32_t before = process_of(run(g, id, "plain"));
	char label[64], text[64];

	snprintf(label, sizeof label, "crash process %u", before);
	const uint32_t after = process_of(run(g, id, label));
	assert_int_not_equal(after, before);
	assert_int_equal(process_of(run(g, id, "plain")), after);
	snprintf(text, sizeof text, "kills the compiler %u", after);
	assert_int_not_equal(process_of(run(g, load_one(g, text), "plain")), after);
	/* All are killed, and none of them had the launch. */
	g->ops->brace(g, 2);
	const uint32_t taster = process_of(run_as(g, id, "plain", true)), usual = process_of(run(g, id, "plain"));
	assert_int_not_equal(taster, usual);
	kill((pid_t)taster, SIGKILL);
	kill((pid_t)usual, SIGKILL);
	snprintf(label, sizeof label, "crash process %u", taster);
	assert_int_not_equal(process_of(run_as(g, id, label, true)), usual);
	assert_int_not_equal(process_of(run(g, id, "plain")), usual);
	g->ops->close(g);
}

static void lost_device_is_opened_again(void **state)
{
	(void)state;
	struct gpu *g = open_toy("a");
	uint32_t id = load_one(g, "1");
	struct sample a = run(g, id, "lose it"), b = run(g, id, "plain");

	assert_int_equal(b.outcome, OUTCOME_OK);
	assert_int_not_equal(a.words[5], b.words[5]);
	sample_free(&a);
	sample_free(&b);
	g->ops->close(g);
}

static void expect_texts(struct gpu *g, const char *const *texts, size_t n, bool soon, int code)
{
	struct kernel_source src[4];
	struct err e = {0};

	for (size_t i = 0; i < n; i++)
		src[i] = (struct kernel_source){"name", "entry", texts[i]};
	assert_int_equal(g->ops->expect(g, src, n, soon, &e), code);
	if (code)
		assert_true(e.text[0] != 0);
}

/* Letters that the child was told to expect. */
static uint32_t expected(struct gpu *g, uint32_t id, uint32_t soon)
{
	struct sample s = run(g, id, "plain");
	uint32_t n = s.words[6];

	assert_int_equal(s.outcome, OUTCOME_OK);
	assert_int_equal(s.words[7], soon);
	sample_free(&s);
	return n;
}

/* Expected kernels reach the child once. A fresh child is told again of those that were not loaded so far, unless the
 * last one may have died of them. */
static void expected_kernels(void **state)
{
	(void)state;
	static const char *const first[] = {"1", "22", "333"}, *const again[] = {"22", "55555"},
				 *const more[] = {"4444", "333"}, *const bad[] = {"kills the compiler"};
	struct gpu *g = open_toy("a");
	uint32_t id = load_one(g, "1");

	expect_texts(g, first, 3, true, 0);
	assert_int_equal(expected(g, id, 1), 5); /* the first one is there already */
	assert_int_equal(load_one(g, "22"), 1);
	expect_texts(g, again, 2, false, 0);
	assert_int_equal(expected(g, id, 1), 10);
	struct sample late = run(g, id, "own limit");
	assert_int_equal(late.outcome, OUTCOME_TIMEOUT);
	assert_int_equal(expected(g, id, 0), 8); /* 333 and 55555 */
	struct sample crash = run(g, id, "crash");
	assert_int_equal(crash.outcome, OUTCOME_CRASH);
	assert_int_equal(expected(g, id, 0), 0);
	expect_texts(g, more, 2, false, 0);
	assert_int_equal(expected(g, id, 0), 4);
	struct sample a = run(g, load_one(g, "333"), "plain"), b = run(g, load_one(g, "55555"), "plain");
	assert_int_equal(a.words[0], 3);
	assert_int_equal(b.words[0], 5);
	sample_free(&a);
	sample_free(&b);
	/* a compiler that dies costs one child */
	expect_texts(g, bad, 1, false, -EIO);
	assert_int_equal(expected(g, id, 0), 0);
	g->ops->close(g);
}

static void failures_and_interrupts(void **state)
{
	(void)state;
	struct gpu *g = open_toy("a");
	uint32_t id = load_one(g, "1");
	struct launch l = {.label = "fails"};
	struct sample a, b;
	struct err e = {0};

	assert_int_equal(g->ops->run(g, id, &l, &a, &e), -EIO);
	assert_string_equal(e.text, "the toy is broken");
	a = run(g, id, "interrupted");
	assert_int_equal(a.outcome, OUTCOME_OK);
	b = run(g, id, "plain");
	assert_int_equal(a.words[5], b.words[5]);
	sample_free(&a);
	sample_free(&b);
	kill((pid_t)g->ops->info(g)->sm_count, SIGKILL); /* between two launches */
	b = run(g, id, "plain");
	assert_int_equal(b.outcome, OUTCOME_OK);
	sample_free(&b);
	g->ops->close(g);
}

static int dying_list(struct device_list *list, struct err *e)
{
	(void)list;
	(void)e;
	abort();
}

static void lists_in_a_child(void **state)
{
	(void)state;
	struct device_list list = {0};
	struct gpu_ops dying = toy_ops;
	struct err e = {0};

	assert_int_equal(gpu_list_isolated(&toy_ops, &list, &e), 0);
	assert_int_equal(list.count, 2);
	assert_string_equal(list.items[1].name, "second");
	assert_string_equal(list.note, "a note");
	mem_free(list.items);
	memset(&list, 0, sizeof list);
	dying.list = dying_list;
	assert_int_equal(gpu_list_isolated(&dying, &list, &e), 0);
	assert_int_equal(list.count, 0);
	assert_non_null(strstr(list.note, "signal 6"));
}

/* Damaged messages of every length end in an error, never in a read past the end. */
static void damaged_messages(void **state)
{
	(void)state;
	static const uint64_t ring[] = {8, 16};
	struct launch l = {.buffer_count = 1, .label = "x"}, back;
	struct wire w = {0};

	l.buffers[0] = (struct launch_buffer){.init = "abc", .init_bytes = 3, .ring = ring, .ring_count = 2};
	wire_put_launch(&w, &l);
	size_t whole = w.len;
	assert_int_equal(wire_get_launch(&w, &back), 0);
	assert_memory_equal(back.buffers[0].ring, ring, sizeof ring);
	for (size_t cut = 0; cut < whole; cut++) {
		w.at = 0;
		w.len = cut;
		w.failed = false;
		assert_int_equal(wire_get_launch(&w, &back), -EBADMSG);
	}
	wire_clear(&w);
	l.buffer_count = 1000;
	wire_put(&w, &l, sizeof l);
	assert_int_equal(wire_get_launch(&w, &back), -EBADMSG);
	wire_clear(&w);
	struct sample s = {.repeats = 2, .words_per_repeat = 3}, got;
	uint32_t words[6] = {1, 2, 3, 4, 5, 6};
	s.words = words;
	wire_put_sample(&w, &s);
	assert_int_equal(wire_get_sample(&w, &got), 0);
	assert_memory_equal(got.words, words, sizeof words);
	sample_free(&got);
	whole = w.len;
	for (size_t cut = 0; cut < whole; cut++) {
		w.at = 0;
		w.len = cut;
		w.failed = false;
		assert_int_equal(wire_get_sample(&w, &got), -EBADMSG);
	}
	wire_free(&w);
}

/* The n-th allocation of the parent fails, for all n, until one whole round trip works. */
static void no_memory(void **state)
{
	(void)state;
	for (long n = 1; n < 100; n++) {
		struct gpu *g = NULL;
		struct kernel_source src = {"name", "entry", "text"};
		struct launch l = {.label = "plain"};
		struct sample out = {0};
		struct native_info native;
		struct err e = {0};
		uint32_t id = 0;
		mem_fail_after(n);
		int r = gpu_open_proxy(&g, &toy_ops, "a", 1, &e);
		if (r == 0)
			r = g->ops->expect(g, &src, 1, false, &e);
		if (r == 0)
			r = g->ops->load(g, &src, 1, &id, &native, &e);
		if (r == 0)
			r = g->ops->run(g, id, &l, &out, &e);
		mem_fail_after(0);
		if (r == 0)
			assert_true(out.outcome == OUTCOME_OK || out.outcome == OUTCOME_CRASH);
		else
			assert_true(e.text[0] != 0);
		bool whole = r == 0 && out.outcome == OUTCOME_OK;
		sample_free(&out);
		if (g)
			g->ops->close(g);
		if (whole && n > 20)
			return;
	}
	fail_msg("a round trip never succeeded");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(everything_arrives),
	    cmocka_unit_test(big_messages_arrive),
	    cmocka_unit_test(open_says_why_not),
	    cmocka_unit_test(compile_errors_and_crashes),
	    cmocka_unit_test(one_launch_is_lost),
	    cmocka_unit_test(one_more_try),
	    cmocka_unit_test(lost_device_is_opened_again),
	    cmocka_unit_test(failures_and_interrupts),
	    cmocka_unit_test(lists_in_a_child),
	    cmocka_unit_test(damaged_messages),
	    cmocka_unit_test(no_memory),
	    cmocka_unit_test(expected_kernels),
	    cmocka_unit_test(what_may_hang_runs_apart),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
