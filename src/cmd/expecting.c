#include "cmd/expecting.h"
#include "cmd/files.h"
#include "data/expect.h"
#include "report/render.h"
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#define TEXT_MAX (1u << 20)

/* A run file begins so. */
static const char magic[] = "SQLite format 3";

static int read_text(struct cmd_context *c, const char *file, struct str *text)
{
	const int fd = open(file, O_RDONLY | O_CLOEXEC);
	char part[4096];
	ssize_t n = -1;

	while (fd >= 0 && (n = read(fd, part, sizeof(part))) > 0 && text->len < TEXT_MAX)
		str_addn(text, part, (size_t)n);
	const int why = errno;
	if (fd >= 0)
		close(fd);
	if (n < 0)
		return cmd_fail(c, CMD_FILE, "cannot read %s: %s", file, strerror(why));
	return text->failed ? cmd_fail(c, CMD_DEVICE, "out of memory") : CMD_OK;
}

/* "200 +- 5 cycles", ">= 64", "lru", "none". */
static void add_value(struct str *out, const struct finding *f, const struct report_style *style)
{
	if (!finding_answered(f)) {
		str_add(out, verdict_name(f->verdict));
		return;
	}
	render_value(out, f, true, style->unicode);
	const size_t n = out->len;
	str_addc(out, ' ');
	const size_t m = out->len;
	render_interval(out, f, false, style->unicode);
	if (out->len == m && out->data)
		out->data[out->len = n] = 0;
}

static int tell(struct cmd_context *c, const struct expect *x, const char *file)
{
	const char *first = NULL;
	struct str line;

	str_init(&line);
	for (size_t i = 0; i < x->count; i++) {
		const struct expect_row *row = &x->row[i];

		if (!expect_contradicted(row))
			continue;
		str_clear(&line);
		str_addf(&line, "%s: expected ", row->says.key);
		add_value(&line, &row->says, &c->style);
		if (row->line)
			str_addf(&line, " (%s:%u)", file, row->line);
		str_add(&line, ", found ");
		add_value(&line, row->found, &c->style);
		fprintf(c->log, "%s\n", str_text(&line));
		first = first ? first : row->says.key;
	}
	if (x->undecided)
		fprintf(c->log, "%zu of %zu expectations of %s were not decided\n", x->undecided, x->count, file);
	const bool failed = line.failed;
	str_free(&line);
	if (failed)
		return cmd_fail(c, CMD_DEVICE, "out of memory");
	if (!x->contradicted)
		return CMD_OK;
	return cmd_fail(c, CMD_INCOMPLETE, "%zu of %zu expectations of %s are contradicted, such as %s",
			x->contradicted, x->count, file, first);
}

int expecting_ask(struct cmd_context *c, const char *file, const struct run *r)
{
	struct run former = {0};
	bool loaded = false;
	struct expect x;
	struct str text;

	str_init(&text);
	int rc = read_text(c, file, &text);
	if (rc == CMD_OK && str_starts(str_text(&text), magic)) {
		rc = files_load_run(c, file, &former);
		loaded = rc == CMD_OK;
		if (loaded && expect_of_run(&x, &c->arena, &former))
			rc = cmd_fail(c, CMD_DEVICE, "out of memory");
	} else if (rc == CMD_OK) {
		rc = expect_parse(&x, &c->arena, str_text(&text), file, &c->error);
		rc = rc == -ENOMEM ? CMD_DEVICE : rc ? CMD_FILE : CMD_OK;
	}
	if (rc == CMD_OK) {
		expect_ask(&x, r);
		rc = tell(c, &x, file);
	}
	if (loaded)
		run_free(&former);
	str_free(&text);
	return rc;
}
