/* Reading options, failing with a sentence, writing results. */
#include "base/str.h"
#include "cmd/cmd.h"
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

const char *cmd_value_at(const struct cmd_context *c, const char *option, size_t i)
{
	for (size_t k = 0; k < c->given_count; k++)
		if (strcmp(c->given[k].option->name, option) == 0 && i-- == 0)
			return c->given[k].value;
	return NULL;
}

const char *cmd_value(const struct cmd_context *c, const char *option)
{
	for (size_t k = c->given_count; k-- > 0;)
		if (strcmp(c->given[k].option->name, option) == 0)
			return c->given[k].value;
	return NULL;
}

bool cmd_flag(const struct cmd_context *c, const char *option)
{
	for (size_t k = 0; k < c->given_count; k++)
		if (strcmp(c->given[k].option->name, option) == 0)
			return true;
	return false;
}

int cmd_number(struct cmd_context *c, const char *option, double least, double most, double *value)
{
	const char *text = cmd_value(c, option);
	char *end;
	double v;

	if (!text)
		return CMD_OK;
	v = strtod(text, &end);
	if (end == text || *end || !isfinite(v) || v < least || v > most)
		return cmd_fail(c, CMD_USAGE, "--%s takes a number from %g to %g, not '%s'", option, least, most, text);
	*value = v;
	return CMD_OK;
}

int cmd_seconds(struct cmd_context *c, const char *option, double least, double most, double *value)
{
	static const struct {
		const char *suffix;
		double seconds;
	} units[] = {{"", 1}, {"s", 1}, {"ms", 0.001}, {"m", 60}, {"min", 60}, {"h", 3600}};
	const char *text = cmd_value(c, option);
	char *end;
	double v, scale = 0;

	if (!text)
		return CMD_OK;
	v = strtod(text, &end);
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
		if (strcmp(end, units[i].suffix) == 0)
			scale = units[i].seconds;
	v *= scale;
	if (end == text || scale == 0 || !isfinite(v) || v < least || v > most)
		return cmd_fail(c, CMD_USAGE,
				"--%s takes a time from %g to %g seconds, such as 90, 90s or 1.5m, not '%s'", option,
				least, most, text);
	*value = v;
	return CMD_OK;
}

int cmd_integer(struct cmd_context *c, const char *option, uint64_t *value)
{
	const char *text = cmd_value(c, option);
	unsigned long long v;
	char *end;

	if (!text)
		return CMD_OK;
	errno = 0;
	v = strtoull(text, &end, 0);
	/* strtoull takes "-1" for the largest number; nobody means that. */
	if (text[0] < '0' || text[0] > '9' || *end || errno)
		return cmd_fail(c, CMD_USAGE, "--%s takes a whole number, not '%s'", option, text);
	*value = v;
	return CMD_OK;
}

int cmd_gpu_code(const char *gpu, int rc)
{
	return rc == -ENOMEM ? CMD_DEVICE : strchr(gpu, '/') || str_ends(gpu, ".gpu") ? CMD_FILE : CMD_USAGE;
}

int cmd_threads(struct cmd_context *c)
{
	uint64_t n = 0;
	int rc = cmd_integer(c, "threads", &n);
	if (rc || !cmd_value(c, "threads"))
		return rc;
	if (n < 1 || n > 256)
		return cmd_fail(c, CMD_USAGE, "--threads takes a number from 1 to 256, not '%s'",
				cmd_value(c, "threads"));
	/* Simulated GPUs of a run live in a child process, which inherits this. */
	if (setenv("FATHOM_THREADS", cmd_value(c, "threads"), 1))
		return cmd_fail(c, CMD_DEVICE, "out of memory");
	return CMD_OK;
}

int cmd_fail(struct cmd_context *c, enum cmd_exit code, const char *fmt, ...)
{
	char text[sizeof(c->error.text)];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	err_set(&c->error, -EINVAL, "%s", text);
	return code;
}

int cmd_print(struct cmd_context *c, const struct str *s)
{
	if (s->failed)
		return cmd_fail(c, CMD_DEVICE, "out of memory while writing the result");
	errno = 0;
	if (s->len && fwrite(s->data, 1, s->len, c->out) != s->len)
		goto broken;
	if (fflush(c->out))
		goto broken;
	return CMD_OK;
broken:
	/* A reader that has seen enough (`| head`) is no failure. */
	if (errno == EPIPE)
		return CMD_OK;
	return cmd_fail(c, CMD_DEVICE, "cannot write to standard output: %s", strerror(errno));
}
