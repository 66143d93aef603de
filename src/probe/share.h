/* Who shares a cache level: found by interference between SMs, never from their numbers.
 *
 * In one launch an SM (the victim) brings a ring into the level. One or many other SMs then read something else that
 * fills the level, and the victim follows its ring again. Lines that have gone say that somebody shares the level. The
 * order is kept by flags in global memory, waited for with an end, and nobody else reads while the victim measures.
 * Each victim is compared with itself: `calm`, where the others read the victim's own ring, and `alone`, where it reads
 * the other data itself.
 *
 * A level that holds whatever can be read cannot be filled. It is asked the other way round: with cold caches, the
 * others read the victim's own ring. What the victim then finds in the level, they have brought there for it. So it is
 * also asked of SMs that take nothing from a level which SMs may share.
 *
 *   some victims, all others at once: nothing has gone, so each SM has the level for itself;
 *   something has gone: halves of the others, and halves of those, until each that matters has been the only one;
 *   something has gone beside each few SMs: all share as a rule, and they are asked about one by one.
 *
 * Whoever shares with an SM is no victim itself, and shares with all that do: sharing is transitive. That is checked
 * afterwards on other members of the groups, and a level where it does not hold has no groups. */
#ifndef FATHOM_SHARE_H
#define FATHOM_SHARE_H
#include "probe/chase.h"

/* p[] of the experiment; x is the victim's ring in bytes. */
enum share_param {
	SHARE_PLACE,  /* 8 x victim's SM + kind; kind is the probe's own: which load */
	SHARE_FIRST,  /* the others: from this SM on ... */
	SHARE_COUNT,  /* ... so many, without the victim; only the victim: it does their work itself */
	SHARE_STRIDE, /* bytes between elements of the ring and between what the others read */
	SHARE_OTHER,  /* bytes that the others read: from the end of the ring on, or when negative the ring itself */
	SHARE_LOW,    /* ticks from which an access missed every level above */
	SHARE_HIGH,   /* ticks from which it missed the level */
	SHARE_LAPS,   /* over the ring before the flag; 0: caches are flushed before the launch */
};
#define SHARE_PARAM_NAMES                                                                                              \
	{                                                                                                              \
		"place", "first", "count", "stride", "other", "low", "high", "laps"                                    \
	}
#define SHARE_REPEATS 3	 /* at least */
#define SHARE_COUNTED 36 /* accesses that count, in all repeats together, at least */
#define SHARE_LEVELS  4

/* Fills the job of a point. 0, -ENOMEM or -ENOTSUP. The kernel text includes share.ptx. */
int share_setup(const struct study *s, double x, const double *p, struct job *j, const struct chase_kernel *k);

/* All repeats of a point together. */
struct share_run {
	double counted, slow, miss, ticks; /* accesses; of them at least low, high; mean ticks of a slow one */
};
/* False: there are no values, or the chase did not follow its ring. */
bool share_read(const struct point *pt, struct share_run *r);
/* PENDING, DONE, or UNDECIDED with a sentence in why (n bytes). */
enum chase_state share_get(struct study *s, unsigned experiment, double x, const double *p, struct share_run *r,
			   char *why, size_t n);

struct share_level {
	/* given */
	uint64_t size, line; /* bytes; a size that is too small does no harm as long as it can be overflown */
	bool cold;     /* it cannot, or not at a bearable cost: ask what others bring there; the last level only */
	double swing;  /* by this share its ticks may be more where the SM's clock goes faster, and still be hits */
	double gap;    /* ticks by which what is behind it is slower; used where there is a swing */
	unsigned few;  /* lines that a cold one is asked about, if it is the first; 0: three quarters of its size */
	double slower; /* ticks by which its hits are slower than those of the first level; 0: nobody knows */
	/* learned */
	double ticks;	  /* of an access that hits */
	double low, high; /* ticks from which an access missed the levels above, and this one */
	enum chase_state state;
	uint32_t *group; /* of each SM: the lowest SM that shares the level with it. In the study's arena */
	unsigned groups, smallest, largest;
	unsigned victims; /* SMs beside which all others read, where nobody shares */
	char why[240];	  /* why it is undecided */
};
struct share_path {
	/* given */
	struct study *study;
	unsigned experiment, kind;
	uint64_t limit; /* bytes of the space */
	bool beyond_sm; /* not even the first level is surely inside the SM */
	unsigned levels;
	struct share_level level[SHARE_LEVELS];
	/* learned */
	char why[240];
};
/* Groups of all levels. DONE: each level has a state of its own. UNDECIDED: nothing can be said, c->why says why. */
enum chase_state share_find(struct share_path *c);
/* ---- SMs that share a clock counter ---- */
/* One launch on all SMs, x and p do not matter; the kernel is that of the probe of the clock. */
int share_clock_setup(const struct study *s, double x, const double *p, struct job *j);
/* What the SM's counter showed in the first launch when its first block began, less what that of SM 0 showed. False: it had no block. */
bool share_clock_time(const struct point *pt, unsigned sm, double *cycles);
/* Counters of their own were started at other moments, so SMs share one when theirs show about the same time. Each SM
 * gets as its group the first SM of that, the same in every launch of the point. False: why says what was in the way.
 * Arena `a` is scratch. */
bool share_clock_groups(struct arena *a, const struct point *pt, unsigned sms, uint32_t *group, char *why, size_t n);

/* ---- parts ---- */
/* The ring with which level k is looked at: its bytes, and the other parameters with nobody else. */
double share_ring(const struct share_path *c, unsigned k, double *p);
/* "sm", "cluster" or "gpu": the word for a level's groups. */
const char *share_word(const struct share_level *l, unsigned sms);
/* Counts groups and the smallest and largest of them. scratch: sms. */
void share_count(const uint32_t *group, unsigned sms, unsigned *scratch, unsigned *groups, unsigned *smallest,
		 unsigned *largest);

#endif
