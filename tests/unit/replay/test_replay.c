/* A stored run answers as the device that was measured, point by point. */
#include "base/arena.h"
#include "gpu/gpu.h"
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

static char path[] = "/tmp/fathom-replay-XXXXXX";

static int make(void **state)
{
	static struct run r;
	struct store *s;
	struct err e;
	int fd = mkstemp(path);
	if (fd < 0 || close(fd) || unlink(path) || sample_run(&r) || store_create(&s, path, &r, &e))
		return -1;
	int rc = store_probe(s, &r, "constant", &e);
	store_close(s);
	*state = &r;
	return rc;
}

static int clean(void **state)
{
	run_free(*state);
	return unlink(path);
}

static void answers(void **state)
{
	const struct run *r = *state;
	const struct series *s = &r->series[0];
	struct gpu *g;
	struct err e;
	uint32_t id[2];
	struct native_info native[2];
	struct kernel_source src[2] = {{0}};
	assert_int_equal(gpu_replay.open(&g, path, 1, &e), 0);
	const struct device_info *d = g->ops->info(g);
	assert_string_equal(d->backend, "replay");
	assert_true(strncmp(d->spec, "replay:", 7) == 0 && strcmp(d->spec + 7, path) == 0);
	assert_string_equal(d->name, r->device.name);
	assert_string_equal(d->target, r->device.target);
	assert_int_equal(d->sm_count, r->device.sm_count);
	const struct run *recorded = g->ops->recording(g);
	assert_true(recorded->seed == r->seed);
	assert_string_equal(recorded->device.backend, "sim");
	assert_int_equal(g->ops->load(g, src, 2, id, native, &e), 0);
	assert_int_not_equal(id[0], id[1]);
	assert_string_equal(native[0].source, "");
	for (size_t i = 0; i < s->count; i++) {
		const struct point *p = &s->points[i];
		struct launch l = {.repeats = 99};
		struct sample y;
		series_label(l.label, sizeof(l.label), s, p->x, p->p);
		assert_int_equal(g->ops->run(g, id[1], &l, &y, &e), 0);
		assert_int_equal(y.outcome, p->outcome);
		assert_int_equal(y.repeats, p->repeats);
		assert_int_equal(y.words_per_repeat, p->words_per_repeat);
		assert_true(y.elapsed_ms == p->elapsed_ms);
		assert_string_equal(y.message, p->message);
		if (p->y)
			assert_memory_equal(y.words, p->y, (size_t)p->repeats * p->words_per_repeat * 4);
		else
			assert_null(y.words);
		sample_free(&y);
	}
	struct launch l = {.label = "constant.chase x=257 stride=64 sm=3"};
	struct sample y;
	assert_int_equal(g->ops->run(g, id[0], &l, &y, &e), 0);
	assert_int_equal(y.outcome, OUTCOME_REFUSED);
	assert_string_equal(y.message, "not in the recording");
	assert_int_equal(g->ops->run(g, 2, &l, &y, &e), -EINVAL);
	g->ops->close(g);
}

static void refuses(void **state)
{
	(void)state;
	struct gpu *g = NULL;
	struct err e;
	assert_int_equal(gpu_replay.open(&g, "/nowhere.fathom", 1, &e), -ENOENT);
	assert_string_equal(e.text, "there is no file /nowhere.fathom");
	assert_null(g);
}

static void labels(void **state)
{
	(void)state;
	char a[256], b[256];
	struct series s = {.probe = "p", .experiment = "e", .params = {"stride", NULL, "sm"}};
	assert_string_equal(series_label(a, sizeof(a), &s, 4096, (double[POINT_PARAMS]){16, 0, 2}),
			    "p.e x=4096 stride=16 sm=2");
	assert_string_equal(series_label(a, sizeof(a), &s, 0.1, NULL), "p.e x=0.1");
	assert_string_equal(series_label(a, sizeof(a), &s, 1, (double[POINT_PARAMS]){0, 3}),
			    "p.e x=1 stride=0 p1=3 sm=0");
	/* all digits count */
	series_label(a, sizeof(a), &s, 0.1, NULL);
	series_label(b, sizeof(b), &s, 0.1 + 1e-17 * 2, NULL);
	assert_string_not_equal(a, b);
	/* too long: still different, and in bounds */
	double p[POINT_PARAMS] = {1.0 / 3, 1.0 / 7, 1.0 / 9, 1.0 / 11, 1.0 / 13, 1.0 / 17, 1.0 / 19, 1.0 / 21};
	double q[POINT_PARAMS];
	memcpy(q, p, sizeof(p));
	q[7] *= 2;
	series_label(a, 100, &s, 1.0 / 3, p);
	series_label(b, 100, &s, 1.0 / 3, q);
	assert_int_equal(strlen(a), 98);
	assert_string_not_equal(a, b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(answers), cmocka_unit_test(refuses),
					   cmocka_unit_test(labels)};
	return cmocka_run_group_tests(tests, make, clean);
}
