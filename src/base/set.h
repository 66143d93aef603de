/* A set of 64-bit hashes. Zeroed, it is empty. */
#ifndef FATHOM_SET_H
#define FATHOM_SET_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct hash_set {
	uint64_t *items; /* open addressing, 0 = free */
	size_t count, cap;
};
/* Whether it was not there before. Without memory for it, it is told as one that was. */
bool hash_set_add(struct hash_set *s, uint64_t hash);
void hash_set_free(struct hash_set *s);

#endif
