/* Words of a kernel are clock values, differences or addresses: each is near what its neighbours predict. A blob says
 * which prediction it uses (byte 0), the lag of that prediction (varint), then every error as zigzag varint.
 *
 *   0  nothing: the word itself
 *   1  the word `lag` before
 *   2  the straight line through the words `lag` and 2 * `lag` before
 *   3  the word before, moved as it moved `lag` words ago (one repeat is like the last one)
 *
 * The blob is not compressed further: run files are compressed as a whole, where repeats show. */
#include "store/store_words.h"
#include "base/arena.h"
#include <assert.h>
#include <errno.h>
#include <math.h>
#include <string.h>

struct model {
	uint8_t kind;
	size_t lag;
};
#define SAMPLE	     512 /* words by which the candidates are judged */
#define VARINT32_MAX 5

static uint32_t predict(const struct model *m, const uint32_t *w, size_t i)
{
	switch (m->kind) {
	case 1:
		return i >= m->lag ? w[i - m->lag] : 0;
	case 2:
		if (i < m->lag)
			return 0;
		return i >= 2 * m->lag ? 2 * w[i - m->lag] - w[i - 2 * m->lag] : w[i - m->lag];
	case 3:
		if (i < 1)
			return 0;
		return i > m->lag ? w[i - 1] + w[i - m->lag] - w[i - m->lag - 1] : w[i - 1];
	default:
		return 0;
	}
}

static uint32_t zigzag(uint32_t v)
{
	return (v << 1) ^ (0u - (v >> 31));
}

static uint32_t unzigzag(uint32_t v)
{
	return (v >> 1) ^ (0u - (v & 1));
}

static size_t put_varint(uint8_t *out, uint64_t v)
{
	size_t n = 0;
	while (v >= 0x80) {
		out[n++] = (uint8_t)(v | 0x80);
		v >>= 7;
	}
	out[n++] = (uint8_t)v;
	return n;
}

/* Bytes used, or 0 when there is no varint of at most `bits` bits here. */
static size_t get_varint(const uint8_t *in, size_t bytes, unsigned bits, uint64_t *v)
{
	*v = 0;
	for (size_t n = 0; n < bytes && n * 7 < bits; n++) {
		uint64_t part = in[n] & 0x7f;
		if (n * 7 + 7 > bits && part >> (bits - n * 7))
			return 0;
		*v |= part << (n * 7);
		if (!(in[n] & 0x80))
			return n + 1;
	}
	return 0;
}

/* Bits that an order-0 coder would need for the sample: what the whole file's compression will make of it. */
static double cost(const struct model *m, const uint32_t *w, size_t n)
{
	uint32_t seen[256] = {0};
	size_t bytes = 0;
	for (size_t i = 0; i < n; i++) {
		uint8_t v[VARINT32_MAX];
		size_t len = put_varint(v, zigzag(w[i] - predict(m, w, i)));
		for (size_t k = 0; k < len; k++)
			seen[v[k]]++;
		bytes += len;
	}
	double bits = 0;
	for (size_t k = 0; k < 256; k++)
		if (seen[k])
			bits += seen[k] * log2((double)bytes / seen[k]);
	return bits + (double)bytes; /* plus a bit a byte: short blobs win when the guess is close */
}

static struct model choose(const uint32_t *w, size_t n, size_t words_per_repeat)
{
	const struct model candidates[] = {{0, 0},
					   {1, 1},
					   {1, 2},
					   {1, 3},
					   {1, 4},
					   {2, 1},
					   {2, 2},
					   {1, words_per_repeat},
					   {2, words_per_repeat},
					   {3, words_per_repeat}};
	size_t sample = n < SAMPLE ? n : SAMPLE;
	struct model best = candidates[0];
	double best_cost = cost(&best, w, sample);
	for (size_t i = 1; i < sizeof candidates / sizeof *candidates; i++) {
		if (candidates[i].lag == 0 || candidates[i].lag >= n)
			continue;
		double c = cost(&candidates[i], w, sample);
		if (c < best_cost) {
			best_cost = c;
			best = candidates[i];
		}
	}
	return best;
}

static int reserve(struct blob *b, size_t more)
{
	if (b->cap - b->len >= more)
		return 0;
	size_t cap = b->cap ? b->cap : 256;
	while (cap - b->len < more) {
		if (cap > SIZE_MAX / 2)
			return -ENOMEM;
		cap *= 2;
	}
	uint8_t *data = mem_grow(b->data, cap);
	if (!data)
		return -ENOMEM;
	b->data = data;
	b->cap = cap;
	return 0;
}

int words_encode(struct blob *out, const uint32_t *w, size_t n, size_t words_per_repeat)
{
	if (n > (SIZE_MAX - 16) / VARINT32_MAX || reserve(out, 16 + n * VARINT32_MAX))
		return -ENOMEM;
	struct model m = choose(w, n, words_per_repeat);
	out->data[out->len++] = m.kind;
	out->len += put_varint(out->data + out->len, m.lag);
	for (size_t i = 0; i < n; i++)
		out->len += put_varint(out->data + out->len, zigzag(w[i] - predict(&m, w, i)));
	return 0;
}

int words_decode(uint32_t *w, size_t n, const void *blob, size_t bytes)
{
	const uint8_t *in = blob;
	if (bytes < 2 || in[0] > 3)
		return -EINVAL;
	struct model m = {.kind = in[0]};
	uint64_t v;
	size_t used = get_varint(in + 1, bytes - 1, 63, &v);
	if (!used || (m.kind ? v == 0 || v >= n : v != 0))
		return -EINVAL;
	m.lag = (size_t)v;
	size_t at = 1 + used;
	for (size_t i = 0; i < n; i++) {
		used = get_varint(in + at, bytes - at, 32, &v);
		if (!used)
			return -EINVAL;
		at += used;
		w[i] = unzigzag((uint32_t)v) + predict(&m, w, i);
	}
	return at == bytes ? 0 : -EINVAL;
}
