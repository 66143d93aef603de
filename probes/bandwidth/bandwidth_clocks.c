/* What the clocks of a launch's blocks say: when their SMs began, and when their warps had read all. */
#include "bandwidth.h"
#include "base/arena.h"
#include "stat/stat.h"
#include <math.h>
#include <stdint.h>

enum { WORD_SM = 3 };

static unsigned blocks_of(const struct point *pt)
{
	if (!pt || pt->outcome != OUTCOME_OK || !pt->repeats)
		return 0;
	/* One that only a recording knows may say of itself what its words do not hold. */
	const double blocks = pt->p[STREAM_BLOCKS];
	return blocks >= 1 && blocks <= pt->words_per_repeat / BANDWIDTH_WORDS ? (unsigned)blocks : 0;
}

/* The place of a block's SM, or that it would have, in a table of more places than there are SMs. Each place is a block that ran on it,
 * SIZE_MAX none. words: of a block's output. */
static size_t place_of(const struct point *pt, size_t words, const size_t *table, size_t places, unsigned block)
{
	const uint32_t sm = pt->y[block * words + WORD_SM];
	size_t at = sm % places;

	while (table[at] != SIZE_MAX && pt->y[table[at] * words + WORD_SM] != sm)
		at = (at + 1) % places;
	return at;
}

const uint32_t *bandwidth_begun(struct arena *scratch, const struct point *pt)
{
	const unsigned blocks = blocks_of(pt);
	const size_t places = 2 * (size_t)blocks;

	if (!places)
		return NULL;
	const size_t words = pt->words_per_repeat / blocks;
	uint32_t *first = ARENA_ARRAY(scratch, blocks, uint32_t);
	size_t *table = ARENA_ARRAY(scratch, places, size_t);

	if (!first || !table)
		return NULL;
	for (size_t i = 0; i < places; i++)
		table[i] = SIZE_MAX;
	for (unsigned b = 0; b < blocks; b++) {
		const size_t at = place_of(pt, words, table, places, b);
		if (table[at] == SIZE_MAX || (int32_t)(pt->y[b * words] - pt->y[table[at] * words]) < 0)
			table[at] = b;
	}
	for (unsigned b = 0; b < blocks; b++)
		first[b] = pt->y[table[place_of(pt, words, table, places, b)] * words];
	return first;
}

double bandwidth_sms(struct study *s, const struct point *pt)
{
	const unsigned blocks = blocks_of(pt);
	const uint32_t *first = bandwidth_begun(study_arena(s), pt);
	double sms = 0;
	for (unsigned b = 0; b < blocks && first; b++) {
		const size_t words = pt->words_per_repeat / blocks;
		bool seen = false;
		for (unsigned i = 0; i < b && !seen; i++)
			seen = pt->y[i * words + WORD_SM] == pt->y[b * words + WORD_SM];
		sms += !seen;
	}
	return sms;
}

double bandwidth_longest(const struct point *pt, const uint32_t *first)
{
	const unsigned blocks = blocks_of(pt), words = blocks ? pt->words_per_repeat / blocks : 0;
	uint32_t most = 0;
	for (unsigned b = 0; b < blocks && first; b++) {
		const uint32_t *y = pt->y + (size_t)b * words;
		uint32_t took = words > BANDWIDTH_WORDS ? 0 : y[1] - first[b];
		for (unsigned w = BANDWIDTH_WORDS; w < words; w++)
			took = y[w] - first[b] > took ? y[w] - first[b] : took;
		most = took > most ? took : most;
	}
	return most ? most : NAN;
}

double bandwidth_cycles(struct arena *scratch, const struct point *pt)
{
	return bandwidth_longest(pt, bandwidth_begun(scratch, pt));
}

double bandwidth_half_ended(struct study *s, const struct point *pt, const uint32_t *first)
{
	const unsigned blocks = blocks_of(pt), words = blocks ? pt->words_per_repeat / blocks : BANDWIDTH_WORDS;
	size_t n = 0;
	double *end = ARENA_ARRAY(study_arena(s), 2 * (size_t)blocks * (words - BANDWIDTH_WORDS) + 1, double);
	for (unsigned b = 0; b < blocks && end && first; b++)
		for (unsigned w = BANDWIDTH_WORDS; w < words; w++)
			end[n++] = pt->y[(size_t)b * words + w] - first[b];
	return n ? stat_quantile(end, n, 0.5, end + n) : NAN;
}
