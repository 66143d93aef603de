#include "judge/pages_tally.h"
#include <assert.h>
#include <math.h>
#include <string.h>

#define RATE_NATS 2.0

void pages_lines_of(const struct judge_ring *r, uint64_t line, struct pages_lines *out)
{
	uint64_t before = UINT64_MAX;

	out->n = 0;
	for (uint32_t i = 0; i < r->n; i++) {
		const uint32_t e = r->sorted[i];
		if (r->at[e] / line != before) {
			before = r->at[e] / line;
			out->line[out->n] = before;
			out->visits[out->n] = out->misses[out->n] = 0;
			out->n++;
		}
		out->visits[out->n - 1] += r->laps;
		out->misses[out->n - 1] += r->count[e];
	}
}

struct pages_mapping pages_mapping_of(const struct pages_shape *q)
{
	assert(q->sets);
	const bool even = !(q->sets & (q->sets - 1));

	return (struct pages_mapping){q->first, q->sets, even ? q->sets - 1 : 0,
				      q->folded ? (uint32_t)__builtin_ctz(q->sets) : 0};
}

void pages_tally_of(const struct pages_lines *r, const struct pages_shape *q, struct pages_tally *t)
{
	uint32_t used = 0;

	for (uint32_t i = 0; i < t->sets; i++)
		t->set[t->used[i]] = (struct pages_set){0};
	memset(t->count, 0, sizeof(t->count));
	memset(t->visits, 0, sizeof(t->visits));
	memset(t->misses, 0, sizeof(t->misses));
	t->most = 0;
	const struct pages_mapping map = pages_mapping_of(q);
	const struct pages_lines of = *r;
	for (uint32_t i = 0; i < of.n; i++) {
		const uint32_t number = pages_set_of(map, of.line[i]);
		struct pages_set *s = &t->set[number];
		t->used[used] = number;
		used += !s->k++;
		s->v += of.visits[i];
		s->m += of.misses[i];
	}
	t->sets = used;
	t->count[0] = map.sets - used;
	for (uint32_t i = 0; i < used; i++) {
		const struct pages_set *s = &t->set[t->used[i]];
		const uint32_t k = s->k <= JUDGE_WAYS_MOST ? s->k : JUDGE_WAYS_MOST + 1;
		t->count[k]++;
		t->visits[k] += (double)s->v;
		t->misses[k] += (double)s->m;
		t->most = k > t->most ? k : t->most;
	}
}

double pages_noise(double m, double v)
{
#define RATE_ROW(rate, i)                                                                                              \
	{                                                                                                              \
		log(rate), log1p(-(rate)), RATE_NATS *(i), exp(-RATE_NATS *(i))                                        \
	}
	const struct {
		double miss, hit, nats, prior; /* logs of the rate and of what it leaves; the prior as both */
	} row[] = {RATE_ROW(1e-5, 0), RATE_ROW(1e-4, 1), RATE_ROW(1e-3, 2), RATE_ROW(1e-2, 3),
		   RATE_ROW(JUDGE_NOISE, 4)};
	enum { RATES = sizeof(row) / sizeof(row[0]) };
	double term[RATES], sum = 0, all = 0, best = -INFINITY;

	for (size_t i = 0; i < RATES; i++) {
		term[i] = m * row[i].miss + (v - m) * row[i].hit - row[i].nats;
		best = fmax(best, term[i]);
		all += row[i].prior;
	}
	for (size_t i = 0; i < RATES; i++)
		sum += exp(term[i] - best);
	return best + log(sum / all);
}

void pages_sum_up(const struct pages_tally *t, struct pages_sums *out)
{
	double sets = 0;

	out->visits[0] = out->misses[0] = 0;
	for (uint32_t k = 1; k <= t->most; k++) {
		out->visits[k] = out->visits[k - 1] + t->visits[k];
		out->misses[k] = out->misses[k - 1] + t->misses[k];
	}
	out->rate[t->most] = out->over[t->most] = 0;
	for (uint32_t k = t->most; k > 0; k--) {
		const double v = t->visits[k], m = t->misses[k];
		sets += t->count[k];
		out->rate[k - 1] = out->rate[k] + (v > 0 ? judge_log_beta(m, v - m) : 0);
		out->over[k - 1] = out->over[k] + sets;
	}
}

double pages_hidden(const struct pages_sums *u, uint32_t most, uint32_t laps, uint32_t w)
{
	if (w >= most)
		return 0;
	return fmax(0, u->over[w] * laps - (u->misses[most] - u->misses[w]));
}
