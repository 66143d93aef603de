/* Which card of many differs from its like: findings of equal models beside each other, by median and spread. */
#ifndef FATHOM_FLEET_H
#define FATHOM_FLEET_H
#include "data/run.h"

#define FLEET_LEAST 3 /* cards that decide a key: of two nobody knows which one is odd */
/* A number lies apart if it is more than so many spreads from the median, ... One spread is 1.4826 times the median
 * absolute deviation. Iglewicz and Hoaglin 1993 take 3.5 for one number; a card has hundreds. */
#define FLEET_SPREADS 5.0
#define FLEET_SHARE                                                                                                    \
	0.02 /* ... more than this part of it, unless it is a whole number, and when its interval excludes the median. */

struct fleet_card {
	const struct run *run;
	const char *name; /* its file */
	size_t group;	  /* index of its model */
	size_t apart;	  /* keys in which it lies apart from its like */
};
struct fleet_row {
	const char *key;
	size_t group;
	size_t decided;		    /* cards that say MEASURED or ABSENT */
	bool is_number;		    /* else most of them say `like` */
	double median, mad;	    /* in the finding's unit */
	const struct finding *like; /* what most cards say; of numbers, one nearest to the median */
};
struct fleet_outlier {
	size_t row, card;
	const struct finding *finding;
	double spreads; /* how many the number is from the median; INFINITY: all others are alike */
};
struct fleet_group {
	const char *gpu; /* the model */
	size_t cards, rows, outliers;
};
struct fleet {
	struct fleet_card *card; /* as given */
	size_t card_count;
	struct fleet_group *group; /* in the order of their first card */
	size_t group_count;
	struct fleet_row *row; /* by group, then by key: keys that FLEET_LEAST cards of a model decide */
	size_t row_count;
	struct fleet_outlier *outlier; /* by row */
	size_t outlier_count, outlier_cap;
};

/* runs and names: `n` of each, which have to stay. All memory is of `a`. 0 or -ENOMEM. */
int fleet_judge(struct fleet *f, struct arena *a, const struct run *const *runs, const char *const *names, size_t n);

#endif
