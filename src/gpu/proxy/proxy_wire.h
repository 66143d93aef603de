/* Messages between a proxy and its child: a length and that many bytes, over a socket pair. Both ends are the same
 * program, so plain records travel as they lie in memory; what they point to follows them. */
#ifndef FATHOM_PROXY_WIRE_H
#define FATHOM_PROXY_WIRE_H
#include "base/arena.h"
#include "gpu/gpu.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* No message of ours comes near it; a longer one is damage. */
#define WIRE_MAX (1ull << 30)

struct wire {
	uint8_t *data;
	size_t len, cap; /* written so far; allocated */
	size_t at;	 /* read so far */
	bool failed;	 /* out of memory while writing, or past the end while reading: nothing after counts */
};

void wire_free(struct wire *w);
void wire_clear(struct wire *w);
void wire_put(struct wire *w, const void *p, size_t n);
void wire_put_bytes(struct wire *w, const void *p, size_t n); /* with its length */
void wire_put_string(struct wire *w, const char *s);
/* Reading: false and w->failed when the message is too short. */
bool wire_get(struct wire *w, void *p, size_t n);
/* A piece inside the message, valid as long as it; NULL with *n = 0 when it was empty or the message is too short. */
const void *wire_get_bytes(struct wire *w, size_t *n);
const char *wire_get_string(struct wire *w); /* "" when the message is too short */

/* 0, -EPIPE when the other side is gone, -ETIMEDOUT, -ENOMEM, -EBADMSG for a length that cannot be. The deadline is
 * CLOCK_MONOTONIC in ns; INT64_MAX = none. */
int wire_send(int fd, const struct wire *w);
int wire_receive(int fd, struct wire *w, int64_t deadline);
int64_t wire_now(void);

void wire_put_launch(struct wire *w, const struct launch *l);
/* Pointers lead into the message. 0 or -EBADMSG. */
int wire_get_launch(struct wire *w, struct launch *l);
void wire_put_sample(struct wire *w, const struct sample *s);
int wire_get_sample(struct wire *w, struct sample *s); /* words: mem_free */

#endif
