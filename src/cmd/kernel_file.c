/* Kernels of the user's, their launches and their arguments. */
#include "cmd/kernel_file.h"
#include "kernel/kernel.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define FILE_MAX    (64u << 20)
#define PARAMS_MOST 16 /* of a template */

int kernel_file_text(struct cmd_context *c, const char *path, char **text)
{
	FILE *f = fopen(path, "rb");
	struct str s;
	char block[8192];
	size_t n;
	if (!f)
		return cmd_fail(c, CMD_FILE, "cannot read %s: %s", path, strerror(errno));
	str_init(&s);
	while ((n = fread(block, 1, sizeof block, f)) > 0 && s.len <= FILE_MAX)
		str_addn(&s, block, n);
	int bad = ferror(f) ? errno : 0;
	fclose(f);
	*text = arena_strdup(&c->arena, str_text(&s));
	size_t length = s.len;
	bool failed = s.failed || !*text;
	str_free(&s);
	if (bad)
		return cmd_fail(c, CMD_FILE, "cannot read %s: %s", path, strerror(bad));
	if (failed)
		return cmd_fail(c, CMD_DEVICE, "out of memory");
	if (length > FILE_MAX || strlen(*text) != length)
		return cmd_fail(c, CMD_FILE, "%s is not PTX text", path);
	return CMD_OK;
}

/* "THREADS=256,CACHED=1". */
static int read_params(struct cmd_context *c, const char *given, struct kernel_param *p, size_t *count)
{
	for (const char *at = given; *at; at += strcspn(at, ","), at += *at == ',') {
		const size_t all = strcspn(at, ","), name = strcspn(at, "=");
		if (*count == PARAMS_MOST || name == 0 || name >= all || name >= sizeof p->name ||
		    all - name > sizeof p->text)
			return cmd_fail(c, CMD_USAGE,
					"--template takes up to %d parameters, as in THREADS=256,CACHED=1, not \"%s\"",
					PARAMS_MOST, given);
		snprintf(p[*count].name, sizeof p->name, "%.*s", (int)name, at);
		snprintf(p[*count].text, sizeof p->text, "%.*s", (int)(all - name - 1), at + name + 1);
		++*count;
	}
	return CMD_OK;
}

int kernel_file_template(struct cmd_context *c, const char *path, const struct device_info *d, char **text)
{
	const char *given = cmd_value(c, "template");
	struct kernel_param params[PARAMS_MOST];
	size_t count = 0;
	struct str out;
	int rc = given ? read_params(c, given, params, &count) : CMD_OK;
	if (rc || !given)
		return rc;
	str_init(&out);
	rc = kernel_expand(&out, path, *text, strlen(*text), params, count, d, &c->error);
	if (rc == 0)
		*text = arena_strdup(&c->arena, str_text(&out));
	str_free(&out);
	if (rc && c->error.code != -ENOMEM)
		return CMD_FILE;
	return rc || !*text ? cmd_fail(c, CMD_DEVICE, "out of memory") : CMD_OK;
}

int kernel_file_triple(struct cmd_context *c, const char *what, const char *s, uint32_t out[3])
{
	char *end = NULL;
	unsigned n = 0;
	out[0] = out[1] = out[2] = 1;
	for (const char *p = s; p && n < 3; p = end + 1) {
		errno = 0;
		unsigned long v = strtoul(p, &end, 10);
		if (end == p || *p == '-' || errno || v == 0 || v > UINT32_MAX || (*end && *end != ','))
			break;
		out[n++] = (uint32_t)v;
		if (!*end)
			return CMD_OK;
	}
	return s ? cmd_fail(c, CMD_USAGE, "%s takes one to three counts, as in 30 or 8,4, not \"%s\"", what, s)
		 : cmd_fail(c, CMD_USAGE, "%s is missing: it takes one to three counts, as in 30 or 8,4", what);
}

/* The type of a number is the parameter's: 5 may fill a .u32 or a .u64, 2.5 an .f32 or an .f64. */
int kernel_file_number(struct cmd_context *c, const char *text, const struct ptx_param *p, struct launch_arg *a)
{
	char *end;
	errno = 0;
	long long i = strtoll(text, &end, 0);
	if (errno == ERANGE && *text != '-') {
		errno = 0;
		i = (long long)strtoull(text, &end, 0);
	}
	if (*text && !*end && !errno) {
		a->kind = p->size == 8 ? ARG_U64 : ARG_U32;
		a->bits = (uint64_t)i;
		if (p->size < 8 && (i > (long long)UINT32_MAX || i < INT32_MIN))
			return cmd_fail(c, CMD_USAGE, "%s does not fit in the %u bytes of parameter %s", text, p->size,
					p->name);
		if (p->type == PTX_F32 || p->type == PTX_F64) {
			double d = (double)i;
			float f = (float)d;
			memcpy(&a->bits, p->size == 8 ? (void *)&d : (void *)&f, p->size == 8 ? 8 : 4);
		}
		return CMD_OK;
	}
	errno = 0;
	double d = strtod(text, &end);
	bool single = *end == 'f' && !end[1];
	if (end == text || (*end && !single))
		return cmd_fail(c, CMD_USAGE, "a number or a buffer belongs here, not \"%s\"", text);
	float f = (float)d;
	a->kind = p->size == 8 && !single ? ARG_F64 : ARG_F32;
	a->bits = 0;
	memcpy(&a->bits, a->kind == ARG_F64 ? (void *)&d : (void *)&f, a->kind == ARG_F64 ? 8 : 4);
	return CMD_OK;
}
