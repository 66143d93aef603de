/* The judge on a TLB: a cache whose lines are what one entry covers. Entries are few and rings over them long, so
 * nothing is simulated. The place of the buffer, which a folded mapping depends on, is not known. Symbols as in
 * doc/inference.md. */
#ifndef FATHOM_PAGES_H
#define FATHOM_PAGES_H
#include "judge/judge.h"

struct pages_shape {
	uint64_t line; /* bytes under one entry */
	uint32_t sets, ways;
	bool folded;
	uint64_t first; /* folded: the line that address 0 lies in */
	double ll;	/* log P(record | shape), nats */
};
enum pages_key { PAGES_LINE, PAGES_ENTRIES, PAGES_SETS, PAGES_WAYS, PAGES_KEYS };
uint64_t pages_value(const struct pages_shape *q, enum pages_key k); /* entries: those of the sets */

struct pages_result {
	struct pages_shape best;
	bool found;
	unsigned rings, unexplained, candidates;
	/* Rings that were not weighed, all over the same addresses as one, and those that the shape does not explain.
	 * */
	unsigned foretold, refuted;
	double margin[PAGES_KEYS], weight[PAGES_KEYS];
};
/* Rings that were made ready, of which each visit asked this level. line: bytes under one entry as others say, or 0. It
 * only says near which lines a hash is looked for. Returns 0 or -ENOMEM. */
int judge_pages(const struct judge_ring *ring, unsigned rings, uint64_t line, struct pages_result *out);
/* The one rule of the verdict; no rule of replacement was held against single visits, so that MEASURED leaves no ring
 * unforetold. */
enum judge_verdict pages_verdict(const struct pages_result *r, enum pages_key k);

#endif
