#include "base/set.h"
#include "base/arena.h"

/* The slot at which it is, or belongs. */
static uint64_t *slot_of(const struct hash_set *s, uint64_t hash)
{
	size_t i = hash & (s->cap - 1);

	while (s->items[i] && s->items[i] != hash)
		i = (i + 1) & (s->cap - 1);
	return &s->items[i];
}

static bool grow(struct hash_set *s)
{
	struct hash_set more = {.count = s->count, .cap = s->cap ? 2 * s->cap : 256};

	more.items = mem_zero(more.cap, sizeof(*more.items));
	if (!more.items)
		return false;
	for (size_t i = 0; i < s->cap; i++)
		if (s->items[i])
			*slot_of(&more, s->items[i]) = s->items[i];
	hash_set_free(s);
	*s = more;
	return true;
}

bool hash_set_add(struct hash_set *s, uint64_t hash)
{
	hash += hash == 0; /* 0 is a free slot */
	if (2 * (s->count + 1) > s->cap && !grow(s))
		return false;
	uint64_t *slot = slot_of(s, hash);
	if (*slot)
		return false;
	*slot = hash;
	s->count++;
	return true;
}

void hash_set_free(struct hash_set *s)
{
	mem_free(s->items);
	*s = (struct hash_set){0};
}
