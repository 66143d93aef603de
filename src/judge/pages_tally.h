/* What a mapping makes of one ring of pages: lines in sets, and what those say of all ways. Symbols as in doc/inference.md. */
#ifndef FATHOM_PAGES_TALLY_H
#define FATHOM_PAGES_TALLY_H
#include "judge/pages.h"

#define PAGES_SETS_MOST 2048

/* A ring as lines of one size: each once, with its visits and misses. */
struct pages_lines {
	uint32_t n;
	uint64_t *line;
	uint32_t *visits, *misses;
};
struct pages_set {
	uint64_t v, m; /* visits of its lines, and misses of those */
	uint32_t k;    /* its lines: 0 where v and m are 0 as well */
};
struct pages_tally {
	struct pages_set set[PAGES_SETS_MOST];
	uint32_t used[PAGES_SETS_MOST + 1], sets; /* those with lines, in the order of their first ones */
	double count[JUDGE_WAYS_MOST + 2], visits[JUDGE_WAYS_MOST + 2], misses[JUDGE_WAYS_MOST + 2];
	uint32_t most;
};
/* A shape's mapping by itself: the loops below write much, and need not read it again for it. */
struct pages_mapping {
	uint64_t first;
	uint32_t sets, mask, digit; /* mask: of a power of two, else 0; digit: bits of a folded one, else 0 */
};

struct pages_mapping pages_mapping_of(const struct pages_shape *q);
static inline uint32_t pages_set_of(struct pages_mapping q, uint64_t line)
{
	uint64_t set = 0;

	if (!q.digit)
		return (uint32_t)(q.mask ? line & q.mask : line % q.sets);
	for (line += q.first; line; line >>= q.digit)
		set ^= line;
	return (uint32_t)set & q.mask;
}

/* What one tally says of all ways: sums over sets of up to k lines, and over those of more. */
struct pages_sums {
	double visits[JUDGE_WAYS_MOST + 2], misses[JUDGE_WAYS_MOST + 2]; /* of sets of k lines and fewer */
	double rate[JUDGE_WAYS_MOST + 2];				 /* of sets of more: log P at any rate */
	double over[JUDGE_WAYS_MOST + 2]; /* lines of a lap that are too many, were there k ways */
};

void pages_lines_of(const struct judge_ring *r, uint64_t line, struct pages_lines *out);
void pages_tally_of(const struct pages_lines *r, const struct pages_shape *q, struct pages_tally *t);
void pages_sum_up(const struct pages_tally *t, struct pages_sums *out);
/* log of sum over rates of prior x rate^m (1 - rate)^(v - m), as judge_noise. Others have a part in what lies beyond the SM, so each rate is only exp(2)
 * less probable than the one before. */
double pages_noise(double m, double v);
/* Misses of a ring that had to be with so many ways, and were not. */
double pages_hidden(const struct pages_sums *u, uint32_t most, uint32_t laps, uint32_t w);

#endif
