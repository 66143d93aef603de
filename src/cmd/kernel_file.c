/* Kernels of the user's, their launches and their arguments. */
#include "cmd/kernel_file.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define FILE_MAX (64u << 20)

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

int kernel_file_triple(struct cmd_context *c, const char *option, uint32_t out[3])
{
	const char *s = cmd_value(c, option);
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
	return cmd_fail(c, CMD_USAGE, "--%s takes one to three counts, as in 30 or 8,4, not \"%s\"", option,
			s ? s : "");
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
			return cmd_fail(c, CMD_USAGE, "--arg %s does not fit in the %u bytes of parameter %s", text,
					p->size, p->name);
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
		return cmd_fail(c, CMD_USAGE, "--arg takes a number or a buffer, not \"%s\"", text);
	float f = (float)d;
	a->kind = p->size == 8 && !single ? ARG_F64 : ARG_F32;
	a->bits = 0;
	memcpy(&a->bits, a->kind == ARG_F64 ? (void *)&d : (void *)&f, a->kind == ARG_F64 ? 8 : 4);
	return CMD_OK;
}
