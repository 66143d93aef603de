#include "predict/predict_impl.h"

uint32_t pieces_of(const struct step *s, uint32_t piece, uint64_t *out)
{
	uint32_t n = 0;
	for (uint64_t rest = s->mask; rest; rest &= rest - 1) {
		uint64_t a = s->address[__builtin_ctzll(rest)], last = (a + s->bytes - 1) / piece;
		for (uint64_t p = a / piece; p <= last; p++) {
			uint32_t k = n;
			while (k && out[k - 1] != p)
				k--;
			if (!k && n < STEP_PIECES)
				out[n++] = p;
		}
	}
	return n;
}

/* How often the fullest bank of these lanes is asked for different rows. */
static uint32_t fullest(const struct step *s, uint64_t mask, uint32_t banks, uint32_t width, uint32_t mode)
{
	uint64_t row[PREDICT_LANES], bank[PREDICT_LANES];
	uint32_t n = 0, most = 1;
	for (uint64_t rest = mask; rest; rest &= rest - 1) {
		const uint64_t at = s->address[__builtin_ctzll(rest)], r = at / ((uint64_t)banks * width),
			       b = at / mode % banks;
		uint32_t k = 0, same = 1;
		while (k < n && (row[k] != r || bank[k] != b))
			k++;
		if (k < n)
			continue;
		for (k = 0; k < n; k++)
			same += bank[k] == b;
		row[n] = r;
		bank[n++] = b;
		most = same > most ? same : most;
	}
	return most;
}

uint32_t bank_conflicts(const struct step *s, uint32_t banks, uint32_t width, uint32_t mode)
{
	uint32_t more = 0, group = banks < PREDICT_LANES / 2 ? banks : PREDICT_LANES / 2;
	uint64_t ones = (1ull << group) - 1;
	for (uint32_t at = 0; at < PREDICT_LANES; at += group)
		if (s->mask >> at & ones)
			more += fullest(s, s->mask & ones << at, banks, width, mode) - 1;
	return more;
}
