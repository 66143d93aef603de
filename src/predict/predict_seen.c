#include "predict/predict_seen.h"
#include "base/arena.h"

static uint64_t slot_of(const struct seen *s, uint64_t piece)
{
	uint64_t at = ((piece + 1) * 0x9e3779b97f4a7c15u >> 20) & (s->cap - 1);
	while (s->key[at] && s->key[at] != piece + 1)
		at = (at + 1) & (s->cap - 1);
	return at;
}

static bool grow(struct seen *s)
{
	struct seen more = {.cap = s->cap ? 2 * s->cap : 1024, .count = s->count, .brought = s->brought};
	more.key = mem_zero(more.cap, sizeof *more.key);
	more.when = mem_zero(more.cap, sizeof *more.when);
	more.there = mem_zero(more.cap, sizeof *more.there);
	if (!more.key || !more.when || !more.there) {
		seen_free(&more);
		return false;
	}
	for (uint64_t k = 0; k < s->cap; k++) {
		if (!s->key[k])
			continue;
		uint64_t at = slot_of(&more, s->key[k] - 1);
		more.key[at] = s->key[k];
		more.when[at] = s->when[k];
		more.there[at] = s->there[k];
	}
	seen_free(s);
	*s = more;
	return true;
}

bool seen_touch(struct seen *s, uint64_t piece, double window, bool *failed)
{
	if (2 * s->count >= s->cap && !grow(s)) {
		*failed = true;
		return false;
	}
	uint64_t at = slot_of(s, piece);
	if (s->key[at] && (double)(s->brought - s->when[at]) < window)
		return true;
	s->count += !s->key[at];
	s->key[at] = piece + 1;
	s->when[at] = s->brought++;
	return false;
}

double *seen_there(struct seen *s, uint64_t piece)
{
	uint64_t at = s->cap ? slot_of(s, piece) : 0;
	return s->cap && s->key[at] ? &s->there[at] : NULL;
}

bool seen_has(const struct seen *s, uint64_t piece)
{
	return s->cap && s->key[slot_of(s, piece)];
}

void seen_free(struct seen *s)
{
	mem_free(s->key);
	mem_free(s->when);
	mem_free(s->there);
	*s = (struct seen){.key = NULL};
}
