#include "base/err.h"
#include <assert.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int err_set(struct err *e, int code, const char *fmt, ...)
{
	assert(code < 0);
	if (e) {
		va_list ap;
		char text[sizeof(e->text)]; /* the old sentence may be one of the arguments */

		va_start(ap, fmt);
		vsnprintf(text, sizeof(text), fmt, ap);
		va_end(ap);
		memcpy(e->text, text, sizeof(text));
		e->code = code;
	}
	return code;
}

int err_prefix(struct err *e, const char *fmt, ...)
{
	if (!e)
		return -EIO;
	va_list ap;
	char text[sizeof(e->text)];

	va_start(ap, fmt);
	int n = vsnprintf(text, sizeof(text) - 3, fmt, ap); /* room for the colon, whatever the prefix */
	va_end(ap);
	size_t at = n < 0 ? 0 : strlen(text), left = sizeof(text) - at - 3, more = strnlen(e->text, left);
	memcpy(text + at, ": ", 2);
	memcpy(text + at + 2, e->text, more);
	text[at + 2 + more] = '\0';
	memcpy(e->text, text, sizeof(text));
	return e->code;
}

int err_nomem(struct err *e)
{
	return err_set(e, -ENOMEM, "out of memory");
}
