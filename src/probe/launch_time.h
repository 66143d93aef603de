/* What a repeated piece of a kernel takes, from outside: run times of two launches that differ by it alone. For probes
 * without a clock in their kernel.
 *
 * Two kernels differ only in how many links stand in their loop. Their run times, after as many rounds, differ by links
 * alone: launching, beginning, the loop's own instructions and the end cancel. What was seen decides how often a launch
 * is repeated and how many rounds it makes. Two repeats that agree are enough if the timer tells them apart well
 * enough. Otherwise there are as many as Lemeire makes, then more rounds. */
#ifndef FATHOM_LAUNCH_TIME_H
#define FATHOM_LAUNCH_TIME_H
#include "probe/probe.h"

#define LAUNCH_GOOD   0.01  /* half of a 95 % interval, of the value, that will do */
#define LAUNCH_USABLE 0.05  /* the same of one that says something */
#define LAUNCH_DIFFER 0.015 /* of the value, by run times and by cycles: more is a clock that was not steady */

/* Launches of one kernel in two lengths. p: the experiment's params; the places named are filled in here. */
struct timed_pair {
	unsigned experiment;
	unsigned
	    together; /* the experiment of the same kernels whose warps stop together; only for the last two functions below */
	double x, p[POINT_PARAMS];
	unsigned links_at, rounds_at, repeats_at;
	unsigned few, many; /* links of the two */
	unsigned first;	    /* rounds to begin with; 0 is 4 */
	unsigned longer;    /* so many times as many; 0 is 1 */
	unsigned most;	    /* repeats; 0 is 25 */
	bool
	    all; /* repeats from the beginning: of launches of this kind some are known to be disturbed, so that two may agree by chance */
	double quiet; /* half of two repeats' interval, of the value, that will do; 0 is 0.005 */
	double ends;  /* part of the value that beginning and end of a launch may hide; 0 is 0.01 */
	double each;  /* what one link counts as; 0 is 1 */
	bool
	    fresh; /* a launch finds nothing in caches, its own instructions neither: what half of its rounds take is taken off */
	bool stretch;	 /* what differs from launch to launch is as much of long ones: make them longer for it */
	double clock_hz; /* of the device, where a thread writes the SM's clock before and after its work into the first
			     * two words of the output; else 0. Times are then those of so many cycles at this rate, as
			     * a clock that is not steady goes faster for some launches only. No words, or words of 0:
			     * run times are taken as they are */
	/* SPANS: with clock_hz, in launches of many blocks. Each block writes its three words: the clock before and
	 * after, and its SM. A launch takes as long as its slowest SM, from the SM's first begin of a block to its last
	 * end. INNER: with both_hz. The third word is the clock when the links begin, and the value is what they take
	 * by it. What comes before them need not be the same in each launch then. */
	enum timed_words { WORDS_WHOLE, WORDS_SPANS, WORDS_INNER } words;
	double both_hz; /* the same, for what need not keep the SM's clock, as memory. Run times count, of those repeats
			 * whose cycles go with them as most repeats' do. Cycles at this rate have to say the same in
			 * the end. 0: no such thing */
};

struct timed {
	bool ok;
	double ns, lo, hi; /* of one link */
	double
	    half; /* half of that interval without what beginning and end may hide, which is as much in another pair of the same instructions */
	double coarse; /* the same from one launch alone, over all that it did */
	bool unsteady; /* not ok because run times and cycles do not go together */
	/* ns of a link by the shorter kernel alone, with its part of the loop. Only a fresh pair, and warps that stop
	 * together, tell it; else 0. Links of the longer kernel that take longer than this need what the shorter one's
	 * do not: their instructions do not come as fast. */
	double alone;
	/* ns of a link in half as many rounds; 0: only a fresh pair tells. If it is not that of all rounds, what comes
	 * with a round differs between the two. Translations of pages do when half of them are all at hand. */
	double fewer;
	unsigned repeats;
	const struct point *point, *bad;
};

/* Fills in what the launch needs for this: warm-up, repeats, their times, a limit. */
void timed_job(struct job *j, double repeats);
/* The pair's point of that experiment with so many links, rounds and repeats; NULL: not measured yet. */
const struct point *timed_point(struct study *s, const struct timed_pair *k, unsigned experiment, unsigned links,
				unsigned rounds, unsigned repeats);
/* Robust mean of the run times of a point, ns. k: NULL, or by whose clock. */
double timed_mean(const struct timed_pair *k, const struct point *pt);
/* Which repeats that mean is made of: bit r is repeat r. */
uint32_t timed_counted(const struct timed_pair *k, const struct point *pt);
/* Half of the 95 % interval of one of its repeats, ns. */
double timed_spread(const struct timed_pair *k, const struct point *pt);
/* By how many ns two launches differ otherwise in run time than in cycles, beyond what their repeats and the timer
 * explain. The clock was faster for one of them then. 0 if they do not say both. */
double timed_gap(const struct timed_pair *k, const struct point *a, const struct point *b, double timer);
/* How fast the SM's clock ran by the timer of launches, as a part of the rate that the pair gives. Ask once timed_timer
 * has told. It is 1 if no kernel writes its clock or the clock was not steady; *steady tells. */
double timed_pace(struct study *s, const struct timed_pair *k, bool *steady);
/* Rounds that make a launch of `launch` ns so many times longer. They are rounded down to a power of two, and end where
 * launches may be made no longer. */
unsigned timed_longer(unsigned rounds, double times, double launch);
/* How well the device's timer tells launches of the pair's shorter kernel apart, in ns. False: not yet, or it cannot be told (*why then). */
bool timed_timer(struct study *s, const struct timed_pair *k, double *ns, const char **why);
/* Both at once, for a pair whose both_hz is what the device tells: that becomes what the clock ran at. */
bool timed_steady(struct study *s, struct timed_pair *k, double *ns, const char **why);
/* ok is false as long as points are missing, and for good when a point went wrong (bad) or the spread is too large. */
struct timed timed_ask(struct study *s, const struct timed_pair *k, double timer);

/* launch_together.c: warps of one block, some of which a scheduler may prefer. Kernels of the pair's experiment
 * `together`, with the same params, write the SM's clock into the first two words. For each warp they then write how
 * many turns it had made when the first one had made all, with which all stop. */
/* Whether a warp was behind when another one had come to its end. False as well: not known yet, or cannot be known. */
bool timed_starves(struct study *s, const struct timed_pair *k);
/* As timed_ask, of a launch of so many warps: what a link of all of them takes as long as all want to issue. */
struct timed timed_together(struct study *s, const struct timed_pair *k, double warps, double timer);

#endif
