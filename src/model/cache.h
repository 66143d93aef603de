/* What a cache would answer: a shape and a stream of addresses in, hit or miss out. A TLB is a cache over pages, open rows are one of sets of
 * one line. Symbols as in doc/inference.md: lines of b bytes, filled in sectors of u, in S sets of w ways. */
#ifndef FATHOM_CACHE_H
#define FATHOM_CACHE_H
#include "model/rule.h"

struct model_shape {
	uint64_t line, sector;	  /* b, u: bytes; b / u is at most 64 */
	uint32_t sets, ways;	  /* S, w */
	const uint32_t *set_ways; /* of each set where they differ, and ways is the most; else NULL */
	uint32_t shift;		  /* address bits between the line and the set's index */
	bool folded;		  /* the upper digits of a line's number permute the sets; else they are left out */
	struct rule_params rule;
};
/* Lines that all sets hold together. */
uint64_t model_lines(const struct model_shape *s);
/* The set of a line number. Not for unequal sets. */
uint32_t model_set_of(const struct model_shape *s, uint64_t line);

struct model_cache {
	struct model_shape shape;
	struct rule_way *way;	  /* sets x ways */
	struct rule_state *state; /* of each set */
	uint32_t *dealt;	  /* unequal sets: that of each of `lines` line numbers in a row; else NULL */
	uint64_t lines;
	struct rng rng;
};
/* An empty cache; what shape points to must outlive it. 0 or -ENOMEM. */
int model_cache_open(struct model_cache *c, const struct model_shape *shape, uint64_t seed);
void model_cache_close(struct model_cache *c);
void model_flush(struct model_cache *c);
/* One access to a byte address: whether its sector was there. It is afterwards. */
bool model_access(struct model_cache *c, uint64_t address);
/* A line that is read again and again: what is known of it from the last time. */
struct model_line {
	uint64_t number;
	uint32_t set, way; /* way: where it is, unless it is nowhere */
};
/* The line of an address, which was never in the cache. */
struct model_line model_line_of(const struct model_cache *c, uint64_t address);
/* The same as model_access, of an address in the line. Nobody has to look for it. */
bool model_access_line(struct model_cache *c, struct model_line *l, uint64_t address);
/* Somebody takes the n-th line of all away, n below model_lines. */
void model_take(struct model_cache *c, uint64_t n);

#endif
