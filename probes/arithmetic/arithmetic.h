/* What the parts of the arithmetic probe share: slopes of chains, loads of a unit, names of findings. */
#ifndef FATHOM_ARITHMETIC_H
#define FATHOM_ARITHMETIC_H
#include "arithmetic_rows.h"
#include "probe/probe.h"

enum {
	LENGTHS = 3,
	SHORT_UNIT = 64,	      /* links of the shortest chain */
	LONG_UNIT = 8,		      /* the same for an operation that is a long sequence */
	BLOCK_LINKS = 2 * SHORT_UNIT, /* of a chain whose block is timed as a whole */
	CONFIGS = 5,		      /* loads of a unit, at most */
	JUST = 2		      /* others, which just fill it */
};
#define EACH_CYCLE 0.96 /* instructions a cycle: one each */

#define APART 0.7 /* a first warp that ends so early leaves the last ones to themselves for long */

struct slope {
	bool ok;
	const struct point *bad; /* the point that stands in the way */
	double value, lo, hi;	 /* cycles a link */
	double shorter;		 /* the same, of the two shorter lengths alone */
	double start;		 /* cycles that no link takes, as the line has it */
	unsigned unit;
	const struct point *first, *last;
};
/* Three lengths, two slopes. lo..hi spans both and the repeats' spread. */
struct slope arithmetic_slope(struct study *s, unsigned row, unsigned unit, unsigned warps, unsigned chains);
/* Points of such a slope, which later passes may ask for. */
void arithmetic_expect(struct study *s, unsigned row, unsigned unit, unsigned warps, unsigned chains);

/* How a unit is loaded for throughput: warps of the block, independent chains in each. */
struct load {
	unsigned warps, chains, unit;
};
/* The loads that are tried, CONFIGS at most; steps: the operation is several instructions. Returns how many. */
unsigned arithmetic_loads(struct load *out, const struct device_info *d, const struct arithmetic_row *r, bool steps);

enum { PART_LATENCY, PART_THROUGHPUT, PART_ISSUE, PART_NATIVE, PART_BLOCK, PARTS };
enum { KEY_BYTES = 96 };
/* out: KEY_BYTES. */
void arithmetic_key(char *out, const struct arithmetic_row *r, unsigned part);
/* The same verdict for the parts from..to. */
void arithmetic_verdicts(struct study *s, const struct arithmetic_row *r, unsigned from, unsigned to, enum verdict v,
			 const char *evidence, const char *because);
/* NULL, or which instructions a chain of so many links is made of in turn. */
const char *arithmetic_mixture(const struct native_info *n, unsigned links);

/* The load that gives the highest rate of those whose time grows with the chain; -1: none does. */
int arithmetic_best(const struct slope *slope, const struct load *load, unsigned n, const struct device_info *d);
/* What was timed under the loads of a unit. */
struct rates {
	const struct slope *slope;
	const struct load *load;
	unsigned count;
	bool is_long;		    /* a long sequence */
	const struct slope *single; /* one chain of one warp; NULL: of an operation of several instructions */
	const struct slope *few;    /* the best load with a few links, which stay at hand */
	/* Of this operation a cycle, if a warp issued it as fast as whatever it is fastest with; 0: not known. */
	double fastest;
	const struct arithmetic_steady *steady; /* NULL: whole blocks will do */
};
/* Whether whole blocks say how fast the unit is, under a load that is about as fast as the best. It is so `surely` even
 * if warps that end a little apart use as little of the unit as their latency promises. Chains that end while all warps
 * run have to agree with blocks that may say it only. */
bool arithmetic_blocks_tell(const struct rates *x, unsigned best, const struct slope *single, bool surely,
			    const struct device_info *d);
/* Whether the steady rate is too uncertain to be told, and not because blocks reach as much: more rounds may tell. */
bool arithmetic_steady_is_wide(const struct arithmetic_steady *t, const struct slope *blocks, const struct load *load,
			       const struct device_info *d);
/* Whether the steady rate would be told, and is more than what blocks reach and, by far, than what long chains do. */
bool arithmetic_steady_is_more(const struct arithmetic_steady *t, const struct slope *blocks, const struct load *load,
			       const struct device_info *d);
/* Whether whole blocks tell the unit's rate, or there is nothing to tell. Otherwise chains may that end while all warps run. */
bool arithmetic_blocks_decide(struct study *s, unsigned row, const struct rates *x);
/* What the largest block reaches from its first clock read to its last, with one chain in each warp. */
void arithmetic_conclude_block(struct study *s, unsigned row);
/* Throughput and issue of the row. */
void arithmetic_conclude_rates(struct study *s, unsigned row, const struct rates *x);

#endif
