/* One sentence about what failed in the environment. Functions that can fail return 0 or a negative errno
 * and fill a struct err; nothing below main.c prints. */
#ifndef FATHOM_ERR_H
#define FATHOM_ERR_H

struct err {
	int code; /* negative errno, 0 when unset */
	char text[512];
};

/* Writes the sentence and returns code, so that callers can say `return err_set(e, -EINVAL, "...")`. e may be NULL. */
int err_set(struct err *e, int code, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
/* Puts "prefix: " before the sentence already there. Returns e->code. */
int err_prefix(struct err *e, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
int err_nomem(struct err *e); /* -ENOMEM and its sentence */

#endif
