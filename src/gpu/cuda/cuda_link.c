#include "gpu/cuda/cuda_link.h"
#include "base/arena.h"
#include "base/str.h"
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define LOG_BYTES 4096

/* The compiler's first complaint, on one line. */
static void first_error(char *out, size_t n, const char *log)
{
	const char *at = strstr(log, "error");

	if (!at)
		at = log;
	while (at > log && at[-1] != '\n')
		at--;
	snprintf(out, n, "%.*s", (int)strcspn(at, "\n"), at);
	for (char *p = out; *p; p++) /* the driver pads its columns */
		while (p[0] == ' ' && p[1] == ' ')
			memmove(p, p + 1, strlen(p));
}

static int link_failed(const struct cuda_driver *d, CUresult r, const struct kernel_source *src, const char *log,
		       struct err *e)
{
	struct cuda_words w;
	char line[256];

	if (cuda_sticky(r))
		return err_set(e, -ENODEV, "kernel %s could not be compiled: %s", src->name, cuda_words(d, r, &w));
	if ((int)r == RESULT_OUT_OF_MEMORY)
		return err_set(e, -ENOMEM, "kernel %s could not be compiled: %s", src->name, cuda_words(d, r, &w));
	first_error(line, sizeof line, log);
	/* "uses too much global constant data (0x10004 bytes, 0x10000 max)", and so for shared memory and parameters. */
	if (line[0])
		return err_set(e, strstr(line, "uses too much") ? -E2BIG : -EINVAL, "kernel %s does not compile: %s",
			       src->name, line);
	return err_set(e, -EINVAL, "kernel %s does not compile: %s", src->name, cuda_words(d, r, &w));
}

/* Arrays in constant memory are filled by name, and only a name that leaves the module is sure to be found. A `.const`
 * at the start of a line therefore becomes `.visible .const`. It stays on the same line, so that the compiler's line
 * numbers stay right. */
static void visible_constants(struct str *out, const char *text)
{
	while (*text) {
		size_t blank = strspn(text, " \t"), line = strcspn(text, "\n");
		if (str_starts(text + blank, ".const "))
			str_add(out, ".visible ");
		line += text[line] == '\n';
		str_addn(out, text, line);
		text += line;
	}
}

int cuda_link(const struct cuda_driver *d, const struct kernel_source *src, void **image, size_t *bytes, struct err *e)
{
	char info[LOG_BYTES] = "", error[LOG_BYTES] = "";
	CUjit_option options[] = {CU_JIT_INFO_LOG_BUFFER, CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES, CU_JIT_ERROR_LOG_BUFFER,
				  CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
	void *values[] = {info, (void *)(uintptr_t)sizeof info, error, (void *)(uintptr_t)sizeof error};
	CUlinkState link = NULL;
	void *linked = NULL;
	int result = 0;
	struct str text;

	*image = NULL;
	*bytes = 0;
	str_init(&text);
	visible_constants(&text, src->text);
	CUresult r = text.failed ? (CUresult)RESULT_OUT_OF_MEMORY
				 : d->link_create(sizeof options / sizeof *options, options, values, &link);
	if (r) {
		str_free(&text);
		return link_failed(d, r, src, error, e);
	}
	/* The interface lacks the const; the driver reads the text only. */
	r = d->link_add_data(link, CU_JIT_INPUT_PTX, (void *)(uintptr_t)str_text(&text), text.len + 1, src->name, 0,
			     NULL, NULL);
	str_free(&text);
	if (!r)
		r = d->link_complete(link, &linked, bytes);
	if (r) {
		error[sizeof error - 1] = 0;
		result = link_failed(d, r, src, error, e);
	} else {
		*image = mem_alloc(*bytes ? *bytes : 1);
		if (*image && *bytes)
			memcpy(*image, linked, *bytes); /* the linker's copy goes with it */
		else if (!*image)
			result = err_nomem(e);
	}
	d->link_destroy(link);
	return result;
}
