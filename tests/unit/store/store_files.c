#include "store_files.h"
#include <fcntl.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

struct err e;

int folder(void **state)
{
	char *dir = strdup("/tmp/fathom-store-XXXXXX");
	*state = dir;
	return dir && mkdtemp(dir) && chdir(dir) == 0 ? 0 : -1;
}

int clean(void **state)
{
	char command[64];
	snprintf(command, sizeof(command), "rm -rf %s", (char *)*state);
	int rc = chdir("/") || system(command);
	free(*state);
	return rc;
}

void save(const char *path, const struct run *r)
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

void same_series(const struct series *a, const struct series *b)
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

void same(const struct run *a, struct run *b)
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

void refuse(const char *path, int code, const char *words)
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

void write_file(const char *path, const void *data, size_t n)
{
	int fd = open(path, O_CREAT | O_TRUNC | O_WRONLY, 0666);
	assert_true(fd >= 0 && write(fd, data, n) == (ssize_t)n && close(fd) == 0);
}
