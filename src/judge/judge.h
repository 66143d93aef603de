/* Which shapes of a cache could have made a record: candidates, what each predicts of every ring, and what that leaves.
 * The symbols are those of doc/inference.md. A ring r visits n addresses in L laps. A shape has lines of b bytes,
 * sectors of u, and S sets of w ways. A set that k of the ring's lines fall into fits when k is at most w. */
#ifndef FATHOM_JUDGE_H
#define FATHOM_JUDGE_H
#include "base/arena.h"
#include "judge/house.h"
#include "model/cache.h"

#define JUDGE_SETS_MOST 4096 /* the most sets that are tried */
#define JUDGE_WAYS_MOST 128  /* the most ways, as in src/model */

/* ---- a record ---- */
struct judge_ring {
	uint32_t n, laps;	/* n, L */
	uint32_t seen;		/* elements that were visited: n, or fewer of a part of one lap */
	const uint64_t *at;	/* byte addresses in the order of the visits */
	uint32_t misses;	/* in the order of time: */
	const uint32_t *missed; /* lap * n + element of each */
	uint32_t warm;		/* visits before the first of them, from empty caches */
	uint32_t
	    kept;  /* lines of this level that those before it hold at most, and so may answer for it in every lap */
	bool cold; /* nothing was visited before, and what was left in the cache by others is not known */
	double bytes, step; /* footprint and distance, for people */
	uint32_t number;    /* that its owner knows it by */
	/* filled by judge_ring_ready */
	const uint32_t *sorted; /* elements by address */
	const uint32_t *count;	/* misses of each element */
};
/* Fills the rest of a ring. 0 or -ENOMEM. */
int judge_ring_ready(struct arena *a, struct judge_ring *r);

/* ---- candidates: space.c ---- */
struct judge_shape {
	uint32_t line, sector, sets, ways, shift;
	bool folded;
	double ll;	  /* log P(record | shape), nats */
	bool exact;	  /* rules of replacement were simulated and are in ll */
	enum rule rule;	  /* then: the one that explains most; RULES: none that always does the same */
	double wrong, of; /* and how many accesses were otherwise than it says, of so many */
};
/* What can be told of a shape apart from the rest of it: what a finding names. */
enum judge_key { JUDGE_SIZE, JUDGE_LINE, JUDGE_SECTOR, JUDGE_SETS, JUDGE_WAYS, JUDGE_MAPPING, JUDGE_KEYS };
const char *judge_key_name(enum judge_key k);			     /* "size" ... */
uint64_t judge_value(const struct judge_shape *q, enum judge_key k); /* JUDGE_MAPPING: 0 modulo, 1 folded */
struct model_shape judge_model(const struct judge_shape *q, enum rule rule);
struct judge_space {
	uint32_t line_most;  /* bytes, a power of two */
	double least, most;  /* bytes that the sizes of candidates lie between */
	uint32_t sets_dense; /* up to so many sets all numbers are candidates; above, powers of two */
};
/* The space that a record's dense rings leave: half of what surely fits to twice what surely does not. */
struct judge_space judge_space_of(const struct judge_ring *ring, unsigned rings);
/* The next mapping of a space, from *q all zero on: everything but the ways. False: there is none. */
bool judge_next(const struct judge_space *space, struct judge_shape *q);

#define JUDGE_FITS_MOST	 0.06 /* of the accesses miss where a ring surely fits */
#define JUDGE_OVER_LEAST 0.25 /* and where it surely does not */
#define JUDGE_FAR	 5000 /* nats: what is so much worse than the best beside the same rings does not come near it again */

/* ---- the noise: noise.c ---- */
/* What a mapping makes of one ring; index k and w up to JUDGE_WAYS_MOST, all above are one. */
struct judge_tally {
	uint32_t most;							 /* the largest k */
	double visits[JUDGE_WAYS_MOST + 2], misses[JUDGE_WAYS_MOST + 2]; /* of elements in sets of k lines */
	double follow, follow_misses; /* of elements visited right behind another one of their sector */
	double need[JUDGE_WAYS_MOST + 2],
	    cover[JUDGE_WAYS_MOST + 2]; /* misses that have to be if there are w ways, and those that were */
};
struct judge_room; /* scratch memory */
struct judge_room *judge_room(struct arena *a, const struct judge_ring *ring, unsigned rings);
void judge_tally(struct judge_room *room, const struct judge_ring *r, const struct judge_shape *q,
		 struct judge_tally *t);
/* log P(ring | shape) of all ways 1 .. most: adds to ll[w]. */
void judge_likelihood(const struct judge_tally *t, uint32_t most, double *ll);
/* log P of so many misses and hits at a rate that may be any. */
double judge_log_beta(double misses, double hits);
/* log P of m misses of v visits at a rate that is one of the noise's. */
double judge_noise(double m, double v);
/* How much worse a rate p explains m misses of v visits than their own share does, nats. */
double judge_deviance(double m, double v, double p);
/* How far a ring is beyond what a shape predicts, nats: 0 or less as a rule; above JUDGE_NATS it is unexplained. */
double judge_surprise(struct judge_room *room, const struct judge_ring *r, const struct judge_shape *q);

/* ---- rules of replacement: exact.c ---- */
/* Simulates each rule that always does the same over the rings, from empty caches. of_ring: log P of each ring where no rule is assumed. Sets ll to log P
 * of either, each as probable, and rule, wrong and of. 0 or -ENOMEM. */
int judge_exact(const struct judge_ring *ring, unsigned rings, const double *of_ring, struct judge_shape *q);

/* ---- weighing: weigh.c ---- */
#define JUDGE_KEPT 120
struct judge_result {
	unsigned rings, candidates;
	unsigned kept; /* the best, by likelihood */
	struct judge_shape shape[JUDGE_KEPT];
	struct judge_fact {
		double margin;	 /* nats to the best shape that says another value */
		double weight;	 /* of all shapes that say this value */
		unsigned rival;	 /* that shape; 0: none was kept */
		unsigned ring;	 /* then: the one that parts them most, were no rule of replacement known */
		double least[2]; /* misses that it has at least, by the best shape and by that one */
	} fact[JUDGE_KEYS];
	/* of the best one */
	unsigned unexplained, worst; /* rings, and the number of the worst */
	double worst_by;	     /* nats */
};
/* 0 or -ENOMEM. Without rings, kept is 0. */
int judge_weigh(const struct judge_ring *ring, unsigned rings, struct judge_result *out);

/* ---- the verdict: explain.c ---- */
enum judge_verdict { JUDGE_OPEN, JUDGE_LIKELY, JUDGE_MEASURED };
const char *judge_verdict_name(enum judge_verdict v);
enum judge_verdict judge_verdict(const struct judge_result *r, enum judge_key k);

#endif
