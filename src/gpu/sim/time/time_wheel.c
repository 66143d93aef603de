#include "gpu/sim/time/time_wheel.h"
#include "base/arena.h"
#include <assert.h>
#include <errno.h>
#include <string.h>

#define MASK  (WHEEL_CYCLES - 1)
#define WORDS (WHEEL_CYCLES / 64)
#define ALL   ((1u << WORDS) - 1)
static_assert(WORDS < 32, "a word has a bit for each");

enum wheel_place { NOWHERE, ON_WHEEL, FAR };

int wheel_open(struct time_wheel *w, uint32_t count)
{
	memset(w, 0, sizeof *w);
	w->count = count;
	w->words = (count + 63) / 64;
	w->bits = mem_zero((size_t)WHEEL_CYCLES * w->words, sizeof *w->bits);
	w->at = mem_alloc(count * sizeof *w->at);
	w->place = mem_zero(count, 1);
	if (!w->bits || !w->at || !w->place) {
		wheel_close(w);
		return -ENOMEM;
	}
	memset(w->at, 0xff, count * sizeof *w->at);
	w->far_least = WHEEL_NEVER;
	return 0;
}

void wheel_close(struct time_wheel *w)
{
	mem_free(w->bits);
	mem_free(w->at);
	mem_free(w->place);
	memset(w, 0, sizeof *w);
}

static void take_off(struct time_wheel *w, uint32_t n)
{
	if (w->place[n] == FAR) {
		w->far_count--;
	} else if (w->place[n] == ON_WHEEL) {
		uint32_t slot = (uint32_t)w->at[n] & MASK;
		uint64_t *bits = w->bits + (size_t)slot * w->words, any = 0;
		bits[n / 64] &= ~(1ull << n % 64);
		for (uint32_t k = 0; k < w->words; k++)
			any |= bits[k];
		if (!any)
			w->used[slot / 64] &= ~(1ull << slot % 64);
		if (!w->used[slot / 64])
			w->any &= ~(1u << slot / 64);
	}
	w->place[n] = NOWHERE;
}

void wheel_move(struct time_wheel *w, uint32_t n, uint64_t at)
{
	take_off(w, n);
	w->at[n] = at;
	if (at == WHEEL_NEVER)
		return;
	if (at - w->now < WHEEL_CYCLES) {
		uint32_t slot = (uint32_t)at & MASK;
		w->bits[(size_t)slot * w->words + n / 64] |= 1ull << n % 64;
		w->used[slot / 64] |= 1ull << slot % 64;
		w->any |= 1u << slot / 64;
		w->place[n] = ON_WHEEL;
	} else {
		assert(at > w->now); /* a turn in the past would come a round of the wheel later */
		w->place[n] = FAR;
		/* Of a far turn that has come near, far_least may still tell, and the wheel may have gone beyond it. */
		w->far_least = !w->far_count || at < w->far_least ? at : w->far_least;
		w->far_count++;
	}
}

void wheel_reset(struct time_wheel *w, uint64_t now)
{
	for (uint32_t n = 0; n < w->count; n++)
		wheel_set(w, n, WHEEL_NEVER);
	w->far_least = WHEEL_NEVER;
	w->now = now;
}

/* The first used cycle from now on, or WHEEL_NEVER. */
static inline uint64_t first_used(const struct time_wheel *w)
{
	const uint32_t from = (uint32_t)w->now & MASK, first = from / 64;
	uint64_t bits = w->used[first] >> from % 64;
	if (bits)
		return w->now + (uint32_t)__builtin_ctzll(bits);
	if (!w->any)
		return WHEEL_NEVER;
	/* The words in order of their turns; the first one's cycles before `from` come last of all. */
	const uint32_t turned = (w->any >> first | w->any << (WORDS - first)) & (ALL & ~1u);
	const uint32_t at = turned ? (first + (uint32_t)__builtin_ctz(turned)) % WORDS : first;
	return w->now + ((at * 64 + (uint32_t)__builtin_ctzll(w->used[at]) - from) & MASK);
}

/* Far turns that have come near go on the wheel, which then starts at the earliest turn of all. */
static void draw_near(struct time_wheel *w, uint64_t first)
{
	uint64_t least = WHEEL_NEVER;
	for (uint32_t n = 0; n < w->count; n++)
		if (w->place[n] == FAR)
			least = w->at[n] < least ? w->at[n] : least;
	assert(w->now <= least && w->now <= first);
	w->now = least < first ? least : first;
	w->far_least = WHEEL_NEVER;
	for (uint32_t n = 0; n < w->count; n++)
		if (w->place[n] == FAR)
			wheel_move(w, n, w->at[n]);
}

uint64_t wheel_least(const struct time_wheel *w)
{
	uint32_t n;
	if (w->count <= WHEEL_FEW)
		return wheel_least_of_few(w, &n);
	uint64_t first = first_used(w);
	return w->far_count && w->far_least < first ? w->far_least : first;
}

uint64_t wheel_next_of_many(struct time_wheel *w, uint64_t end, uint32_t *n)
{
	uint64_t first = first_used(w);
	if (__builtin_expect(w->far_count && w->far_least <= first, 0)) {
		if (w->far_least >= end)
			return w->far_least;
		draw_near(w, first < end ? first : end);
		first = first_used(w);
		if (w->far_count && w->far_least < first)
			return w->far_least;
	}
	if (first >= end)
		return first;
	w->now = first;
	const uint64_t *bits = w->bits + (size_t)(first & MASK) * w->words;
	uint32_t k = 0;
	while (!bits[k])
		k++;
	*n = k * 64 + (uint32_t)__builtin_ctzll(bits[k]);
	return first;
}
