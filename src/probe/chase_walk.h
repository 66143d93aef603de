/* Walks in steps of a word, between the files that tell latencies apart. Private to the chase. */
#ifndef FATHOM_CHASE_WALK_H
#define FATHOM_CHASE_WALK_H
#include "probe/chase.h"

#define UNIT_SAMPLES	  512
#define CHASE_SHARE_LEAST 0.02	/* a class has at least this share of the accesses at some footprint */
#define SHARE_REAL	  0.045 /* and one that is no noise so large a one */
#define CHASE_WALKED	  65536 /* bytes of the walks in steps of a word, at most */
#define UNIT_MOST	  1024	/* bytes that one miss fetches, at most */

/* Ticks within which two accesses may be of one class: a clock that ticks in steps of grain, or drifts. */
static inline double chase_reach(double ticks, double grain)
{
	return 1.5 + 1.25 * grain + 0.008 * ticks;
}

/* What a miss of a class fetches, and how much of the walk such misses explain. */
struct chase_walked {
	uint64_t unit;	     /* common divisor of where accesses of these classes fall, 0 = too few */
	double coverage;     /* of all multiples of unit in one walk, the best walk's */
	double own_coverage; /* the same without accesses that are only slower than every class */
	bool lopsided;	     /* every second multiple has far fewer than the others: the unit may be twice as large */
	uint64_t
	    blocks; /* a larger unit of which nearly every block begins with one, and few lie elsewhere; 0 = none */
};

/* Of accesses that are in class first_class or slower. */
struct chase_walked chase_walk_of(struct chase_path *c, const struct chase_run *run, unsigned runs,
				  unsigned first_class);
/* Of those and of all that take `floor` ticks and more. */
struct chase_walked chase_walk_slower(struct chase_path *c, const struct chase_run *run, unsigned runs,
				      unsigned first_class, double floor);
/* Of those that missed level k. If most blocks of a smaller unit begin with an access too slow for level k, that is the
 * unit. What answers may have another latency at every second block, such as rows of the memory that are two blocks
 * long. That need be no class. */
struct chase_walked chase_walk_beyond(struct chase_path *c, const struct chase_run *run, unsigned runs, unsigned k);

/* Chases whose every access is recorded, pooled to classes. */
struct chase_pool {
	struct chase_run run[CHASE_SURVEY + 2];
	unsigned runs;
	struct chase_peak peak[CHASE_CLASSES * (CHASE_SURVEY + 2)];
	unsigned peaks;
};

/* The part of a run's accesses that takes about so many ticks. */
double chase_share_near(const struct chase_run *r, double centre, double grain);
/* The slowest class that a first touch of every block belongs to; 0 when none. */
double chase_cold_class(struct chase_path *c, const struct chase_run *run);
/* First touches that are slower than `slowest` and have no class. run: the cold walk and the warm one. Returns what they fetch, in bytes, and
 * their median time; 0: there are none, or memory ran out. */
uint64_t chase_scattered_cold(struct chase_path *c, const struct chase_run *run, double slowest, double *median);
/* Whether first touches are slower than all that a warm footprint shows: touch, cold, cold_unit and top. Array `run`
 * has the walks; `whole`: the survey went on to the largest footprint. UNDECIDED: out of memory. */
enum chase_state chase_first_touches(struct chase_path *c, const struct chase_pool *pool, const struct chase_run *run,
				     bool whole);
/* What places of class k, which is not the first, are multiples of in the survey's footprints, in bytes. They have to
 * be so of more than those of the class before. Accesses of the class then miss at the begin of something that is
 * fetched at once. 0: it has none of its own. */
uint64_t chase_own_unit(struct chase_path *c, const struct chase_pool *pool, unsigned k);
/* Whether it has such places, those are its own or a slower class's, and others are hardly ever. A clock that is faster
 * now and then slows accesses of any place. */
bool chase_owns_places(struct chase_path *c, const struct chase_pool *pool, unsigned k);
/* Parameters of a chase of which everything is recorded. */
void chase_survey_params(const struct chase_path *c, double *p, double stride, double warm, double timed);
/* Levels from classes: neighbours that are parts of one level are put together. walks: the cold and the warm one. */
enum chase_state chase_group(struct chase_path *c, const struct chase_pool *pool, const struct chase_run *walks);
/* Looks for a level that the survey passed by; sets doubtful and doubt. After the levels are known. */
void chase_unseen(struct chase_path *c, const struct chase_pool *pool, const struct chase_run *walks);
/* Whether what hits the nearest level takes as long in small rings as in large ones. UNDECIDED: it does not, so that it is two levels
 * at least, which the clock or the noise does not part. */
enum chase_state chase_one_latency(struct chase_path *c, const struct chase_pool *pool);

#endif
