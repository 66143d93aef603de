/* What `fathom sim` launches: numbers, structs, and buffers with what is in them. */
#include "cmd/sim_plan.h"
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
				"bytes:HEX takes two digits for each of at most %u bytes of %s, not \"%s\"", p->size,
				p->name, hex);
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
		return cmd_fail(c, CMD_USAGE, "%s takes a count of 32-bit words up to %u, not \"%s\"", form, WORDS_MAX,
				text);
	*words = (uint32_t)v;
	*rest = end + (*end != '\0');
	return CMD_OK;
}

/* The byte at which the data of an .npy file begin (NumPy Enhancement Proposal 1); 0 in another file. It is `size` if
 * the header is damaged. */
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
static int buffer_add(struct cmd_context *c, struct sim_plan *p, const char *name, const char *text, uint32_t *n)
{
	struct sim_plan_buffer b = {.name = name};
	const char *rest = "";
	uint32_t words = 0;
	int rc = NO_BUFFER;
	if (str_starts(text, "out:")) {
		rc = count_of(c, text + 4, strchr(text + 4, ':') ? ':' : '\0', "out:WORDS or out:WORDS:FILE", &words,
			      &rest);
		b.content.bytes = 4ull * words;
		b.out = true;
		b.file = *rest ? rest : NULL;
	} else if (str_starts(text, "in:")) {
		rc = file_content(c, text + 3, &b.content);
	} else if (str_starts(text, "fill:") || str_starts(text, "random:") || str_starts(text, "uniform:")) {
		rc = made_content(c, text, &b.content);
	}
	if (rc)
		return rc;
	if (p->buffer_count == LAUNCH_BUFFERS)
		return cmd_fail(c, CMD_USAGE, "more than %d buffers", LAUNCH_BUFFERS);
	*n = p->buffer_count;
	p->buffer[p->buffer_count++] = b;
	return CMD_OK;
}

/* ---- the launch file ---- */

/* The error's sentence with its place. */
static int at_line(struct cmd_context *c, const struct sim_plan *p, unsigned line, int rc)
{
	char text[sizeof c->error.text];
	if (!p->path || rc == CMD_OK || rc == CMD_DEVICE)
		return rc;
	snprintf(text, sizeof text, "%s", c->error.text);
	return cmd_fail(c, CMD_FILE, "%s:%u: %s", p->path, line, text);
}

static char *word_of(char **at)
{
	char *word = *at + strspn(*at, " \t\r");
	if (!*word || *word == '#')
		return NULL;
	*at = word + strcspn(word, " \t\r");
	if (**at)
		*(*at)++ = '\0';
	return word;
}

/* buffer NAME CONTENT */
static int read_buffer(struct cmd_context *c, struct sim_plan *p, char *rest)
{
	const char *name = word_of(&rest), *content = word_of(&rest);
	uint32_t n;
	if (!content || word_of(&rest))
		return cmd_fail(c, CMD_FILE, "a buffer has a name and a content, as in: buffer x fill:1024:0");
	for (uint32_t k = 0; k < p->buffer_count; k++)
		if (strcmp(p->buffer[k].name, name) == 0)
			return cmd_fail(c, CMD_FILE, "there is a buffer %s already", name);
	int rc = buffer_add(c, p, name, content, &n);
	return rc == NO_BUFFER
		   ? cmd_fail(c, CMD_FILE,
			      "\"%s\" is no content: out:WORDS, in:FILE, fill:, random: or uniform:", content)
		   : rc;
}

/* launch ENTRY grid=G block=B [shared=BYTES] ARG... */
static int read_launch(struct cmd_context *c, struct sim_plan *p, char *rest, unsigned line)
{
	struct sim_plan_launch l = {.entry = word_of(&rest), .line = line};
	const char *word;
	int rc = CMD_OK;
	while (rc == CMD_OK && (word = word_of(&rest))) {
		char *end;
		if (str_starts(word, "grid=")) {
			rc = kernel_file_triple(c, "grid=", word + 5, l.grid);
		} else if (str_starts(word, "block=")) {
			rc = kernel_file_triple(c, "block=", word + 6, l.block);
		} else if (str_starts(word, "shared=")) {
			const unsigned long bytes = strtoul(word + 7, &end, 0);
			if (end == word + 7 || *end || bytes > 1 << 24)
				return cmd_fail(c, CMD_FILE, "\"%s\" is no count of bytes", word);
			l.shared_bytes = (uint32_t)bytes;
		} else if (l.arg_count == LAUNCH_ARGS) {
			return cmd_fail(c, CMD_FILE, "more than %d arguments", LAUNCH_ARGS);
		} else {
			l.arg[l.arg_count++] = word;
		}
	}
	if (rc)
		return rc;
	if (!l.entry || !l.grid[0] || !l.block[0])
		return cmd_fail(c, CMD_FILE,
				"a launch has a kernel, a grid and a block, as in: launch add grid=8 "
				"block=256 x y 2048");
	p->launch[p->launch_count++] = l;
	return CMD_OK;
}

static int read_file(struct cmd_context *c, struct sim_plan *p)
{
	char *text;
	unsigned line = 0, lines = 1;
	int rc = kernel_file_text(c, p->path, &text);
	if (rc)
		return rc;
	for (const char *s = text; *s; s++)
		lines += *s == '\n';
	p->launch = ARENA_ARRAY(&c->arena, lines, struct sim_plan_launch);
	if (!p->launch)
		return cmd_fail(c, CMD_DEVICE, "out of memory");
	for (char *next = text; rc == CMD_OK && next;) {
		char *rest = next;
		line++;
		next = strchr(next, '\n');
		if (next)
			*next++ = '\0';
		const char *word = word_of(&rest);
		if (!word)
			continue;
		if (strcmp(word, "buffer") == 0)
			rc = read_buffer(c, p, rest);
		else if (strcmp(word, "launch") == 0)
			rc = read_launch(c, p, rest, line);
		else
			rc = cmd_fail(c, CMD_FILE, "a line begins with buffer or launch, not with \"%s\"", word);
	}
	if (rc)
		return at_line(c, p, line, rc);
	return p->launch_count ? CMD_OK : cmd_fail(c, CMD_FILE, "%s launches nothing", p->path);
}

int sim_plan_place(struct cmd_context *c, const struct sim_plan *p, uint32_t n, int rc)
{
	return at_line(c, p, p->launch[n].line, rc);
}

/* ---- both ---- */

static int read_options(struct cmd_context *c, struct sim_plan *p)
{
	struct sim_plan_launch *l = p->launch = ARENA_ARRAY(&c->arena, 1, struct sim_plan_launch);
	const char *text;
	double shared = 0;
	if (!l)
		return cmd_fail(c, CMD_DEVICE, "out of memory");
	p->launch_count = 1;
	*l = (struct sim_plan_launch){.entry = cmd_value(c, "entry")};
	int rc = kernel_file_triple(c, "--grid", cmd_value(c, "grid"), l->grid);
	if (!rc)
		rc = kernel_file_triple(c, "--block", cmd_value(c, "block"), l->block);
	if (!rc)
		rc = cmd_number(c, "shared", 0, 1 << 24, &shared);
	l->shared_bytes = (uint32_t)shared;
	while (!rc && (text = cmd_value_at(c, "arg", l->arg_count))) {
		if (l->arg_count == LAUNCH_ARGS)
			return cmd_fail(c, CMD_USAGE, "more than %d arguments", LAUNCH_ARGS);
		l->arg[l->arg_count++] = text;
	}
	return rc;
}

int sim_plan_read(struct cmd_context *c, struct sim_plan *p)
{
	static const char *const alone[] = {"grid", "block", "arg", "entry", "shared", "trace", "stats"};
	*p = (struct sim_plan){.path = cmd_value(c, "launches")};
	if (!p->path)
		return read_options(c, p);
	for (size_t k = 0; k < sizeof alone / sizeof *alone; k++)
		if (cmd_flag(c, alone[k]))
			return cmd_fail(c, CMD_USAGE, "--%s is for one launch; %s says what is launched", alone[k],
					p->path);
	return read_file(c, p);
}

static int argument(struct cmd_context *c, struct gpu *g, struct sim_plan *p, const char *text,
		    const struct ptx_param *to, uint32_t n, struct launch_arg *a)
{
	uint32_t b = 0;
	if (str_starts(text, "bytes:"))
		return given_bytes(c, g, text + 6, to, n);
	while (b < p->buffer_count && (!p->buffer[b].name || strcmp(p->buffer[b].name, text) != 0))
		b++;
	int rc = CMD_OK;
	if (b == p->buffer_count)
		rc = p->path ? NO_BUFFER : buffer_add(c, p, NULL, text, &b);
	if (rc == NO_BUFFER)
		return kernel_file_number(c, text, to, a);
	*a = (struct launch_arg){.kind = ARG_BUFFER, .buffer = b};
	return rc;
}

int sim_plan_launch(struct cmd_context *c, struct gpu *g, struct sim_plan *p, uint32_t n, const struct func_program *f,
		    struct launch *l)
{
	const struct sim_plan_launch *from = &p->launch[n];
	int rc = CMD_OK;
	*l = (struct launch){.repeats = 1, .shared_bytes = from->shared_bytes, .arg_count = from->arg_count};
	memcpy(l->grid, from->grid, sizeof l->grid);
	memcpy(l->block, from->block, sizeof l->block);
	snprintf(l->entry, sizeof l->entry, "%s", f->name);
	if (from->arg_count != f->param_count)
		rc = cmd_fail(c, CMD_USAGE, "%s takes %u argument%s, not %u", f->name, f->param_count,
			      f->param_count == 1 ? "" : "s", from->arg_count);
	for (uint32_t k = 0; !rc && k < from->arg_count; k++)
		sim_argument(g, k, NULL);
	for (uint32_t k = 0; !rc && k < from->arg_count; k++)
		rc = argument(c, g, p, from->arg[k], &f->param[k], k, &l->args[k]);
	l->buffer_count = p->buffer_count;
	for (uint32_t k = 0; k < p->buffer_count; k++) {
		l->buffers[k] = p->buffer[k].content;
		l->buffers[k].as_is = n > 0;
	}
	return sim_plan_place(c, p, n, rc);
}
