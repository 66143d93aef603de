/* Arguments of `fathom sim`: numbers, structs, and buffers with what is in them. */
#include "cmd/sim_args.h"
#include "base/rng.h"
#include "cmd/kernel_file.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WORDS_MAX (1u << 26)
#define FILE_MOST (1ull << 30)
enum { NO_BUFFER = -1 };

/* bytes:00ff..., in the order of memory; what is not written is 0. */
static int given_bytes(struct cmd_context *c, struct gpu *g, const char *hex, const struct ptx_param *p, uint32_t n)
{
	uint8_t *bytes = arena_alloc(&c->arena, p->size, 1);
	size_t digits = strlen(hex);
	if (!bytes)
		return cmd_fail(c, CMD_DEVICE, "out of memory");
	if (digits % 2 || digits / 2 > p->size || strspn(hex, "0123456789abcdefABCDEF") != digits)
		return cmd_fail(c, CMD_USAGE,
				"--arg bytes:HEX takes two digits for each of at most %u bytes of %s, not \"%s\"",
				p->size, p->name, hex);
	for (size_t k = 0; k < digits; k += 2) {
		const char pair[3] = {hex[k], hex[k + 1], '\0'};
		bytes[k / 2] = (uint8_t)strtoul(pair, NULL, 16);
	}
	sim_argument(g, n, bytes);
	return CMD_OK;
}

static int count_of(struct cmd_context *c, const char *text, char until, const char *form, uint32_t *words,
		    const char **rest)
{
	char *end;
	errno = 0;
	unsigned long v = strtoul(text, &end, 0);
	if (end == text || *text == '-' || errno || !v || v > WORDS_MAX || (*end && *end != until) || (until && !*end))
		return cmd_fail(c, CMD_USAGE, "--arg %s takes a count of 32-bit words up to %u, not \"%s\"", form,
				WORDS_MAX, text);
	*words = (uint32_t)v;
	*rest = end + (*end != '\0');
	return CMD_OK;
}

/* Where the data of an .npy file begin (NumPy Enhancement Proposal 1); of another file: at 0. size: the header is damaged. */
static uint64_t npy_data(const uint8_t *data, uint64_t size)
{
	if (size < 10 || memcmp(data, "\x93NUMPY", 6) != 0)
		return 0;
	const uint64_t small = 10 + (uint64_t)(data[8] | data[9] << 8);
	if (data[6] == 1)
		return small;
	return size < 12 ? size : 12 + (uint64_t)(data[8] | data[9] << 8 | data[10] << 16) + ((uint64_t)data[11] << 24);
}

static int file_content(struct cmd_context *c, const char *path, struct launch_buffer *b)
{
	FILE *f = fopen(path, "rb");
	long size = -1;
	if (f && fseek(f, 0, SEEK_END) == 0)
		size = ftell(f);
	if (size < 0 || fseek(f, 0, SEEK_SET) != 0) {
		int bad = errno;
		if (f)
			fclose(f);
		return cmd_fail(c, CMD_FILE, "cannot read %s: %s", path, strerror(bad));
	}
	if (size == 0 || (uint64_t)size > FILE_MOST) {
		fclose(f);
		return cmd_fail(c, CMD_FILE, "%s has %ld bytes; a buffer has 1 byte to %llu", path, size,
				(unsigned long long)FILE_MOST);
	}
	void *data = arena_alloc(&c->arena, (size_t)size, 1);
	bool good = data && fread(data, 1, (size_t)size, f) == (size_t)size;
	fclose(f);
	if (!good)
		return data ? cmd_fail(c, CMD_FILE, "cannot read all of %s", path)
			    : cmd_fail(c, CMD_DEVICE, "out of memory");
	uint64_t first = npy_data(data, (uint64_t)size);
	if (first >= (uint64_t)size)
		return cmd_fail(c, CMD_FILE, "%s is an .npy file without data, or its header is damaged", path);
	*b = (struct launch_buffer){.bytes = (uint64_t)size - first,
				    .init = (const uint8_t *)data + first,
				    .init_bytes = (uint64_t)size - first};
	return CMD_OK;
}

/* fill:WORDS:VALUE, random:WORDS:SEED (any bits), uniform:WORDS:SEED (.f32 from 0 to 1) */
static int made_content(struct cmd_context *c, const char *text, struct launch_buffer *b)
{
	const char kind = text[0], *rest = "",
		   *form = kind == 'f'	 ? "fill:WORDS:VALUE"
			   : kind == 'r' ? "random:WORDS:SEED"
					 : "uniform:WORDS:SEED";
	const struct ptx_param word = {.name = "a word", .type = PTX_B32, .size = 4};
	struct launch_arg value = {.kind = ARG_U32};
	uint32_t words = 0;
	struct rng r;
	int rc = count_of(c, strchr(text, ':') + 1, ':', form, &words, &rest);
	if (!rc)
		rc = kernel_file_number(c, rest, &word, &value);
	if (rc)
		return rc;
	uint32_t *data = arena_alloc(&c->arena, words, sizeof *data);
	if (!data)
		return cmd_fail(c, CMD_DEVICE, "out of memory");
	rng_seed(&r, value.bits);
	for (uint32_t k = 0; k < words; k++) {
		float f = (float)(rng_next(&r) >> 40) * 0x1p-24f;
		data[k] = kind == 'f' ? (uint32_t)value.bits : (uint32_t)(rng_next(&r) >> 32);
		if (kind == 'u')
			memcpy(&data[k], &f, sizeof f);
	}
	*b = (struct launch_buffer){.bytes = 4ull * words, .init = data, .init_bytes = 4ull * words};
	return CMD_OK;
}

/* NO_BUFFER: the text names none */
static int buffer(struct cmd_context *c, const char *text, struct launch *l, struct launch_arg *a)
{
	struct launch_buffer b = {.bytes = 0};
	const char *rest = "";
	uint32_t words = 0;
	int rc = NO_BUFFER;
	if (str_starts(text, "out:")) {
		rc = count_of(c, text + 4, strchr(text + 4, ':') ? ':' : '\0', "out:WORDS or out:WORDS:FILE", &words,
			      &rest);
		b = (struct launch_buffer){.bytes = 4ull * words, .output = true, .output_words = words};
		for (uint32_t k = 0; !rc && k < l->buffer_count; k++)
			if (l->buffers[k].output)
				rc = cmd_fail(c, CMD_USAGE, "only one --arg can be out:WORDS");
	} else if (str_starts(text, "in:")) {
		rc = file_content(c, text + 3, &b);
	} else if (str_starts(text, "fill:") || str_starts(text, "random:") || str_starts(text, "uniform:")) {
		rc = made_content(c, text, &b);
	}
	if (rc)
		return rc;
	if (l->buffer_count == LAUNCH_BUFFERS)
		return cmd_fail(c, CMD_USAGE, "more than %d buffers", LAUNCH_BUFFERS);
	*a = (struct launch_arg){.kind = ARG_BUFFER, .buffer = l->buffer_count};
	l->buffers[l->buffer_count++] = b;
	return CMD_OK;
}

int sim_args(struct cmd_context *c, struct gpu *g, const struct func_program *p, struct launch *l)
{
	const char *text;
	size_t n = 0;
	while (cmd_value_at(c, "arg", n))
		n++;
	if (n != p->param_count)
		return cmd_fail(c, CMD_USAGE, "%s takes %u arguments, %zu were given with --arg", p->name,
				p->param_count, n);
	if (n > LAUNCH_ARGS)
		return cmd_fail(c, CMD_USAGE, "%s takes more than %d arguments", p->name, LAUNCH_ARGS);
	for (size_t i = 0; (text = cmd_value_at(c, "arg", i)); i++) {
		struct launch_arg *a = &l->args[l->arg_count++];
		int rc = str_starts(text, "bytes:") ? given_bytes(c, g, text + 6, &p->param[i], (uint32_t)i)
						    : buffer(c, text, l, a);
		if (rc == NO_BUFFER)
			rc = kernel_file_number(c, text, &p->param[i], a);
		if (rc)
			return rc;
	}
	return CMD_OK;
}
