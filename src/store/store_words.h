/* Raw words of a point as a compact blob: predicted from earlier words, the rest as variable-length integers. */
#ifndef FATHOM_STORE_WORDS_H
#define FATHOM_STORE_WORDS_H
#include <stddef.h>
#include <stdint.h>

struct blob {
	uint8_t *data; /* mem_free */
	size_t len, cap;
};

/* Appends the encoding of n words (words_per_repeat of them belong together). 0 or -ENOMEM. */
int words_encode(struct blob *out, const uint32_t *w, size_t n, size_t words_per_repeat);
/* Decodes exactly n words into w. -EINVAL when the blob does not hold exactly that. */
int words_decode(uint32_t *w, size_t n, const void *blob, size_t bytes);

#endif
