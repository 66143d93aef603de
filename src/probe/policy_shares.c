/* Shares of ways whose names get lost along the draws, where nobody can say which are exchanged when. Shares of all draws are then more even than the
 * chances. Those of pieces over which names hold, each piece's from the least to the greatest, are more uneven, for luck is sorted along with them;
 * but how often two draws of one piece are of one way says without either how uneven the chances are. */
#include "probe/policy.h"
#include "stat/stat.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define EACH_LEAST 8u	/* draws of each way in a piece */
#define PIECES	   4u	/* at least */
#define FEW_EACH   2u	/* the same, in which no names change that hold at all */
#define SURE	   3	/* standard deviations */
#define HOLD	   2.5	/* standard deviations by which a piece's halves may differ, over all pieces */
#define WITHIN	   0.03 /* that chances are wanted to be known to */

static uint32_t piece_of(uint32_t draws, uint32_t pieces, uint32_t k)
{
	return (uint32_t)((uint64_t)draws * k / pieces);
}

/* Whether both halves of each piece have the same shares, but for chance. */
static bool names_hold(const uint16_t *victim, uint32_t draws, unsigned ways, uint32_t pieces)
{
	double chi = 0, free = 0;

	for (uint32_t k = 0; k < pieces; k++) {
		const uint32_t from = piece_of(draws, pieces, k), to = piece_of(draws, pieces, k + 1),
			       middle = from + (to - from) / 2;
		const double first = middle - from, second = to - middle;
		double count[2][RULE_WAYS] = {{0}};
		for (uint32_t i = from; i < to; i++)
			count[i >= middle][victim[i]]++;
		for (unsigned w = 0; w < ways; w++) {
			const double all = count[0][w] + count[1][w];
			if (all > 0)
				chi += pow(count[0][w] * second - count[1][w] * first, 2) / (first * second * all);
			free += all > 0;
		}
		free--;
	}
	return free > 0 && policy_deviations(chi, free) < HOLD;
}

/* Shares of pieces, sorted, on average; and how uneven the chances are: the sum of their squared differences from what each way's would be. */
static double of_pieces(const uint16_t *victim, uint32_t draws, unsigned ways, uint32_t pieces, double *share)
{
	double same = 0, pairs = 0;

	memset(share, 0, ways * sizeof(*share));
	for (uint32_t k = 0; k < pieces; k++) {
		const uint32_t from = piece_of(draws, pieces, k), to = piece_of(draws, pieces, k + 1);
		const double n = to - from;
		double count[RULE_WAYS] = {0};
		for (uint32_t i = from; i < to; i++)
			count[victim[i]]++;
		for (unsigned w = 0; w < ways; w++)
			same += count[w] * (count[w] - 1);
		pairs += n * (n - 1);
		qsort(count, ways, sizeof(*count), stat_compare_double);
		for (unsigned w = 0; w < ways; w++)
			share[w] += count[w] / n / pieces;
	}
	return pairs > 0 ? same / pairs - 1.0 / ways : 0;
}

/* Whether a few draws in a row are of fewer ways than pieces are: names that change all the time leave every piece's halves alike. */
static bool changes_sooner(const uint16_t *victim, uint32_t draws, unsigned ways, double uneven)
{
	const uint32_t few = FEW_EACH * ways;
	double share[RULE_WAYS];

	if (!few)
		return false;
	const double now = of_pieces(victim, draws, ways, draws / few, share), same = now + 1.0 / ways;

	return now - uneven > SURE * sqrt(same * (1 - same) / (0.5 * draws * (few - 1)));
}

bool policy_shares(const uint16_t *victim, uint32_t draws, unsigned ways, double *chance, double *half)
{
	const double even = 1.0 / ways;
	double share[RULE_WAYS], square = 0;
	uint32_t pieces = PIECES;

	while (draws / pieces >= EACH_LEAST * ways && !names_hold(victim, draws, ways, pieces))
		pieces *= 2;
	if (draws / pieces < EACH_LEAST * ways)
		return false;
	const double uneven = of_pieces(victim, draws, ways, pieces, share);
	for (unsigned w = 0; w < ways; w++)
		square += pow(share[w] - even, 2);
	if (!(uneven > 0) || uneven > square || changes_sooner(victim, draws, ways, uneven))
		return false;
	*half = 0;
	for (unsigned w = 0; w < ways; w++) {
		chance[w] = even + (share[w] - even) * sqrt(uneven / square);
		/* What luck adds is taken off as if it were alike everywhere, and may be none of it or twice that. */
		*half = fmax(*half, 2 * fabs(share[w] - chance[w]) + 2 * sqrt(chance[w] * (1 - chance[w]) / draws));
	}
	return *half <= WITHIN;
}
