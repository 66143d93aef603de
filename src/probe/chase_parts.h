/* What latencies are made of: parts of a level that are alike, near and far, what the clock cuts off, and chains. Private to the chase. */
#ifndef FATHOM_CHASE_PARTS_H
#define FATHOM_CHASE_PARTS_H
#include "probe/chase.h"
#include "stat/stat.h"

#define CHASE_ALIKE   0.3 /* least share of the lines or accesses of parts that are alike */
#define CHASE_STRETCH 16  /* accesses in a row: what a clock that is faster now and then does lasts for more */

struct chase_parts {
	double mean;		  /* ticks; each part counts the same */
	size_t counted;		  /* accesses that it is of */
	size_t found;		  /* parts */
	struct stat_mode mode[3]; /* of them, ascending */
	double centre[3];	  /* ticks: the mean of each */
};

/* Mean of two or three parts of a level that are alike, each group of accesses counting the same. How often which part
 * was met is chance. An average that leaves out what is far from the median would leave out one part. When delayed
 * accesses fill the gaps between the groups, an average over all would take those for the slower part. Then only what
 * is near a peak counts. False: there are no such parts. scratch: n doubles, ticks: n words; v, in ticks, is
 * reordered. */
bool chase_parts_of(double *v, size_t n, uint32_t grain, double *scratch, uint32_t *ticks, struct chase_parts *out);
/* Whether accesses to the fastest and the slowest part take turns, as places do that lie side by side. A clock that is
 * faster now and then slows many accesses in a row, so that most stretches are of one kind. */
bool chase_take_turns(const struct chase_run *r, const struct chase_parts *parts);
/* Whether each part is later than the one before it would be by such a clock: by more than its swing, a ratio. */
bool chase_beyond_swing(const struct chase_parts *parts, double swing, uint32_t grain);

/* ---- what the steps of the clock cut off single accesses, as the whole loop tells: chase_lag.c ---- */
/* Cycles that a turn of the loop took beyond what its accesses say: the loop, less what the clock's steps cut off. The
 * first turns, whose accesses are not recorded, fetch the code, from far if the chase has driven it out. With `twice`,
 * and a clock that counts in steps, a chase of half as many accesses is asked for, too, which fetches it as well. What
 * the two differ by is of the other turns alone. The long one has to do when nobody asked for the short one, as in an
 * older recording. Run `r` is of that footprint with these params. *apart is by how much that differs from what the
 * long one alone says, which includes the first turns. PENDING or DONE. */
enum chase_state chase_lag(struct chase_path *c, double footprint, const double *p, const struct chase_run *r,
			   bool twice, double *lag, double *apart);

/* How far the mean of accesses from `least` to `most`, within a step of the clock, may be off. Some may have met a
 * faster clock, taken a few cycles longer, and not be told from the rest access by access. A faster clock lasts for
 * many accesses in a row, so that most stretches know nothing of it. */
double chase_unsteady(const struct chase_run *r, double least, double most, double *scratch);

/* ---- how long the chains are that say what a load takes on average: chase_chain.c ---- */
/* Two lengths of one chain. */
struct chase_lap {
	double cycles;	    /* of one load */
	double spread;	    /* of that */
	double least, most; /* cycles of the shorter chain, and of the one twice as long */
	double ops;	    /* arithmetic instructions that each load needs for its address */
};
/* Cycles for one load, from two lengths of the same chain: the fastest round of each, because noise only delays. */
enum chase_state chase_lap(struct chase_path *c, double start, double footprint, uint64_t stride, bool cold,
			   unsigned loads, uint32_t sm, struct chase_lap *out);
/* Loads of the shorter chain over one line that the nearest level answers. The code of all of them has to stay in the
 * nearest instruction cache, else the rest is fetched anew in each round. *more is the cycles of a load that may be
 * such waits. */
enum chase_state chase_chain_near(struct chase_path *c, unsigned *loads, double *more);
/* The same of what lies outside the SM. A chain of *loads is long for the sake of the clock's steps. Refreshes of the
 * memory may delay each such chain, and one of twice as many loads more often. Returns *loads of a chain that does not
 * meet them. */
enum chase_state chase_chain_far(struct chase_path *c, uint32_t sm, unsigned *loads, double *more);

#endif
