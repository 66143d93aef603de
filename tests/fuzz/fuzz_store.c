/* Any bytes as a run file: it loads, or there is one sentence. What loads can be reported in every format without a
 * character that a terminal would obey, and can be written and loaded again. */
#include "report/report.h"
#include "store/store.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_text(struct str *out, int rc)
{
	if (rc || out->failed)
		abort();
	for (size_t i = 0; i < out->len; i++)
		if ((unsigned char)out->data[i] < ' ' && out->data[i] != '\n')
			abort();
	str_clear(out);
}

static void check_reports(const struct run *r)
{
	struct str out;
	struct err e = {0};
	const struct report_style plain = {.width = 80};
	str_init(&out);
	check_text(&out, report_text(&out, r, NULL, &plain, &e));
	check_text(&out, report_summary(&out, r, &plain, &e));
	check_text(&out, report_json_series(&out, r, NULL, &e));
	check_text(&out, report_csv(&out, r, &e));
	check_text(&out, report_markdown(&out, r, &e));
	str_free(&out);
}

static void check_copy(const struct run *r, const char *path)
{
	struct store *s;
	struct run copy;
	struct err e = {0};
	unlink(path);
	if (store_create(&s, path, r, &e))
		abort();
	for (size_t i = 0; i < r->series_count; i++)
		if (store_probe(s, r, r->series[i].probe, &e))
			abort();
	if (store_findings(s, r, &e))
		abort();
	store_close(s);
	if (store_load(&copy, path, &e))
		abort();
	if (copy.series_count != r->series_count || copy.findings.count != r->findings.count)
		abort();
	run_free(&copy);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char path[] = "/tmp/fathom-fuzz-XXXXXX", journal[40];
	static const char *const beside[] = {"-journal", "-wal", "-shm"};
	struct err e = {0};
	struct run r;
	int fd = mkstemp(path);
	if (fd < 0 || write(fd, data, size) != (ssize_t)size || close(fd))
		abort();
	int rc = store_load(&r, path, &e);
	if (rc && (e.code != rc || (rc != -ENOMEM && !strstr(e.text, path)) || strpbrk(e.text, "\n\033")))
		abort();
	if (rc == 0) {
		check_reports(&r);
		check_copy(&r, path);
		run_free(&r);
	}
	unlink(path);
	for (size_t i = 0; i < sizeof beside / sizeof *beside; i++) {
		snprintf(journal, sizeof(journal), "%s%s", path, beside[i]);
		unlink(journal);
	}
	return 0;
}
