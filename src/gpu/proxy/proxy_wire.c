#include "gpu/proxy/proxy_wire.h"
#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

#define SPIN_NS 400000 /* so long is looked before sleeping */

void wire_free(struct wire *w)
{
	mem_free(w->data);
	memset(w, 0, sizeof *w);
}

void wire_clear(struct wire *w)
{
	w->len = w->at = 0;
	w->failed = false;
}

static bool reserve(struct wire *w, size_t n)
{
	if (w->failed || n > WIRE_MAX - w->len) {
		w->failed = true;
		return false;
	}
	if (w->cap - w->len >= n)
		return true;
	size_t cap = w->cap ? w->cap : 4096;
	while (cap - w->len < n)
		cap *= 2;
	uint8_t *p = mem_grow(w->data, cap);
	if (!p) {
		w->failed = true;
		return false;
	}
	w->data = p;
	w->cap = cap;
	return true;
}

void wire_put(struct wire *w, const void *p, size_t n)
{
	if (!reserve(w, n) || !n)
		return;
	memcpy(w->data + w->len, p, n);
	w->len += n;
}

/* Pieces start at multiples of 8, so that a ring can be used where it lies. */
static void pad(struct wire *w)
{
	static const uint8_t zeros[8];

	wire_put(w, zeros, (8 - w->len % 8) % 8);
}

void wire_put_bytes(struct wire *w, const void *p, size_t n)
{
	uint64_t size = n;

	wire_put(w, &size, sizeof size);
	pad(w);
	wire_put(w, p, n);
}

void wire_put_string(struct wire *w, const char *s)
{
	wire_put_bytes(w, s, strlen(s) + 1);
}

bool wire_get(struct wire *w, void *p, size_t n)
{
	if (w->failed || w->len - w->at < n) {
		w->failed = true;
		memset(p, 0, n);
		return false;
	}
	memcpy(p, w->data + w->at, n);
	w->at += n;
	return true;
}

const void *wire_get_bytes(struct wire *w, size_t *n)
{
	uint64_t size = 0;

	*n = 0;
	if (!wire_get(w, &size, sizeof size))
		return NULL;
	size_t start = (w->at + 7) / 8 * 8;
	if (start > w->len || size > w->len - start) {
		w->failed = true;
		return NULL;
	}
	w->at = start + size;
	*n = size;
	return size ? w->data + start : NULL;
}

const char *wire_get_string(struct wire *w)
{
	size_t n;
	const char *s = wire_get_bytes(w, &n);

	if (!s || s[n - 1]) {
		w->failed = true;
		return "";
	}
	return s;
}

int64_t wire_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static int send_all(int fd, const uint8_t *p, size_t n)
{
	while (n) {
		ssize_t k = send(fd, p, n, MSG_NOSIGNAL);
		if (k < 0 && errno == EINTR)
			continue;
		if (k <= 0)
			return -EPIPE;
		p += k;
		n -= (size_t)k;
	}
	return 0;
}

int wire_send(int fd, const struct wire *w)
{
	uint64_t size = w->len;

	if (w->failed)
		return -ENOMEM;
	int r = send_all(fd, (const uint8_t *)&size, sizeof size);
	return r ? r : send_all(fd, w->data, w->len);
}

static int wait_readable(int fd, int64_t deadline)
{
	struct pollfd f = {.fd = fd, .events = POLLIN};
	/* Most answers and most next questions come at once, and to be woken takes longer than most launches. */
	for (const int64_t until = wire_now() + SPIN_NS; wire_now() < until;) {
		int k = poll(&f, 1, 0);
		if (k > 0)
			return 0;
		if (k < 0 && errno != EINTR)
			return -EPIPE;
		sched_yield();
	}
	for (;;) {
		int ms = -1;
		if (deadline != INT64_MAX) {
			int64_t left = deadline - wire_now();
			if (left <= 0)
				return -ETIMEDOUT;
			ms = left > 1000000000000 ? 1000000 : (int)(left / 1000000) + 1;
		}
		int k = poll(&f, 1, ms);
		if (k > 0)
			return 0;
		if (k < 0 && errno != EINTR)
			return -EPIPE;
	}
}

static int receive_all(int fd, uint8_t *p, size_t n, int64_t deadline)
{
	while (n) {
		int r = wait_readable(fd, deadline);
		if (r)
			return r;
		ssize_t k = recv(fd, p, n, 0);
		if (k < 0 && errno == EINTR)
			continue;
		if (k <= 0)
			return -EPIPE;
		p += k;
		n -= (size_t)k;
	}
	return 0;
}

int wire_receive(int fd, struct wire *w, int64_t deadline)
{
	uint64_t size = 0;
	int r = receive_all(fd, (uint8_t *)&size, sizeof size, deadline);

	wire_clear(w);
	if (r)
		return r;
	if (size > WIRE_MAX)
		return -EBADMSG;
	if (!reserve(w, size))
		return -ENOMEM;
	r = receive_all(fd, w->data, size, deadline);
	if (r == 0)
		w->len = size;
	return r;
}

void wire_put_launch(struct wire *w, const struct launch *l)
{
	wire_put(w, l, sizeof *l);
	for (uint32_t i = 0; i < l->buffer_count && i < LAUNCH_BUFFERS; i++) {
		const struct launch_buffer *b = &l->buffers[i];
		wire_put_bytes(w, b->init, b->init ? b->init_bytes : 0);
		wire_put_bytes(w, b->ring, b->ring ? b->ring_count * sizeof *b->ring : 0);
	}
}

int wire_get_launch(struct wire *w, struct launch *l)
{
	wire_get(w, l, sizeof *l);
	if (l->buffer_count > LAUNCH_BUFFERS || l->arg_count > LAUNCH_ARGS || l->texture_count > LAUNCH_TEXTURES)
		return -EBADMSG;
	l->label[sizeof l->label - 1] = l->entry[sizeof l->entry - 1] = 0;
	for (uint32_t i = 0; i < l->buffer_count; i++) {
		struct launch_buffer *b = &l->buffers[i];
		size_t n;
		b->symbol[sizeof b->symbol - 1] = 0;
		b->init = wire_get_bytes(w, &n);
		b->init_bytes = n;
		b->ring = wire_get_bytes(w, &n);
		if (n / sizeof *b->ring != b->ring_count)
			return -EBADMSG;
	}
	return w->failed ? -EBADMSG : 0;
}

void wire_put_sample(struct wire *w, const struct sample *s)
{
	wire_put(w, s, sizeof *s);
	wire_put_bytes(w, s->words, s->words ? (size_t)s->repeats * s->words_per_repeat * sizeof *s->words : 0);
}

int wire_get_sample(struct wire *w, struct sample *s)
{
	size_t n;

	wire_get(w, s, sizeof *s);
	s->words = NULL;
	s->message[sizeof s->message - 1] = 0;
	const void *words = wire_get_bytes(w, &n);
	if (w->failed || (n && n != (uint64_t)s->repeats * s->words_per_repeat * sizeof *s->words))
		return -EBADMSG;
	if (!n)
		return 0;
	s->words = mem_alloc(n);
	if (!s->words)
		return -ENOMEM;
	memcpy(s->words, words, n);
	return 0;
}
