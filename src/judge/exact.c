/* The exact resolution: every access is what a rule of replacement says, or noise. */
#include "base/arena.h"
#include "judge/judge.h"
#include <errno.h>
#include <math.h>

#define RING_MOST 400000  /* accesses of a ring: of longer ones no rule is assumed */
#define ALL_MOST  4000000 /* and of all rings */
#define CONTRADICTED                                                                                                   \
	10 /* accesses of a ring that are otherwise than a rule says, besides the most of noise: then it is another rule */

/* The lines of a ring. */
struct lines {
	uint32_t *of; /* of each element: its line in `line` */
	struct model_line *line;
};

static void lines_of(const struct lines *to, const struct model_cache *c, const struct judge_ring *r)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < r->n; i++) {
		const uint64_t at = r->at[r->sorted[i]];
		if (!n || to->line[n - 1].number != at / c->shape.line)
			to->line[n++] = model_line_of(c, at);
		to->of[r->sorted[i]] = n - 1;
	}
}

/* Accesses of a ring that are otherwise than the cache says; of more than `most` one more. */
static double contradictions(struct model_cache *c, const struct judge_ring *r, const struct lines *lines, double most)
{
	uint32_t next = 0, at = (r->n - r->warm % r->n) % r->n;
	double wrong = 0;

	model_flush(c);
	lines_of(lines, c, r);
	for (uint32_t i = 0; i < r->warm; i++) {
		model_access_line(c, &lines->line[lines->of[at]], r->at[at]);
		at = at + 1 < r->n ? at + 1 : 0;
	}
	for (uint32_t i = 0; i < r->laps * r->seen && wrong <= most; i++) {
		const bool missed = next < r->misses && r->missed[next] == i;
		next += missed;
		wrong += model_access_line(c, &lines->line[lines->of[at]], r->at[at]) == missed;
		at = at + 1 < r->n ? at + 1 : 0;
	}
	return wrong;
}

struct of_rule {
	double ll, wrong, of; /* log P; accesses otherwise than the rule says, of so many */
};

/* ll is -INFINITY as soon as it is below `least`: most rules are soon contradicted. */
static int of_rule(const struct judge_ring *ring, unsigned rings, const double *of_ring, const struct lines *lines,
		   const struct model_shape *shape, double least, struct of_rule *out)
{
	struct model_cache c;
	double all = 0;

	*out = (struct of_rule){0};
	if (model_cache_open(&c, shape, 0))
		return -ENOMEM;
	for (unsigned i = 0; i < rings && out->ll >= least; i++) {
		const double v = (double)ring[i].laps * ring[i].seen, n = v + ring[i].warm;
		if (ring[i].cold || n > RING_MOST || all + n > ALL_MOST) {
			out->ll += of_ring[i];
			continue;
		}
		/* No rule that is not contradicted by noise alone. */
		const double most = JUDGE_NOISE * v + CONTRADICTED, m = contradictions(&c, &ring[i], lines, most);
		all += n;
		out->wrong += m;
		out->of += v;
		out->ll += judge_noise(m, v);
		if (m > most)
			out->ll = -INFINITY;
	}
	model_cache_close(&c);
	if (out->ll < least)
		out->ll = -INFINITY;
	return 0;
}

static int each_rule(const struct judge_ring *ring, unsigned rings, const double *of_ring, const struct lines *lines,
		     struct judge_shape *q)
{
	struct of_rule one[RULES + 1] = {0}; /* the last one: no rule is assumed */
	double sum = 0;

	for (unsigned i = 0; i < rings; i++)
		one[RULES].ll += of_ring[i];
	q->rule = RULES;
	for (enum rule rule = 0; rule < RULES; rule++) {
		const struct model_shape shape = judge_model(q, rule);
		one[rule].ll = -INFINITY;
		if (!rule_applies(rule, q->ways))
			continue;
		if (of_rule(ring, rings, of_ring, lines, &shape, one[q->rule].ll - JUDGE_NATS, &one[rule]))
			return -ENOMEM;
		if (one[rule].ll > one[q->rule].ll)
			q->rule = rule;
	}
	for (unsigned r = 0; r <= RULES; r++)
		sum += exp(one[r].ll - one[q->rule].ll);
	q->ll = one[q->rule].ll + log(sum / (RULES + 1));
	q->wrong = one[q->rule].wrong;
	q->of = one[q->rule].of;
	q->exact = true;
	return 0;
}

int judge_exact(const struct judge_ring *ring, unsigned rings, const double *of_ring, struct judge_shape *q)
{
	size_t most = 1;

	for (unsigned i = 0; i < rings; i++)
		most = ring[i].n > most ? ring[i].n : most;
	struct lines lines = {mem_alloc(most * sizeof(*lines.of)), mem_alloc(most * sizeof(*lines.line))};
	const int rc = lines.of && lines.line ? each_rule(ring, rings, of_ring, &lines, q) : -ENOMEM;
	mem_free(lines.of);
	mem_free(lines.line);
	return rc;
}
