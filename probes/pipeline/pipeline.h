/* Classes of instructions and how long a launch of them takes. Inside this folder. */
#ifndef FATHOM_PIPELINE_H
#define FATHOM_PIPELINE_H
#include "probe/launch_time.h"
#include "probe/probe.h"

/* X(name, ID, reg, operations). The operations are what one link counts as in rates. An integer link is a
 * multiplication and an addition in one instruction, as the paper counts them. */
#define PIPELINE_CLASSES(X)                                                                                            \
	X("sp", SP, "f32", 1)                                                                                          \
	X("mad", MAD, "f32", 1)                                                                                        \
	X("int", INT, "u32", 2)                                                                                        \
	X("dp", DP, "f64", 1)                                                                                          \
	X("sf", SF, "f32", 1)                                                                                          \
	X("softsf", SOFTSF, "f32", 1)

enum pipeline_class {
#define CLASS_ID(name, ID, reg, operations) CLASS_##ID,
	PIPELINE_CLASSES(CLASS_ID)
#undef CLASS_ID
	    CLASSES
};

struct pipeline_row {
	const char *name, *reg;
	unsigned operations;
};
extern const struct pipeline_row pipeline_row[CLASSES];

/* params of the experiments, one for each class, and behind them one for each class whose warps stop together; x is warps on an SM */
enum {
	CLOCK_WORDS = 2,
	SPAN_WORDS = 3
}; /* in front of a launch's words, for timed_pair.clock_hz; of each block, with P_SPANS */
enum { P_CHAINS, P_LINKS, P_ROUNDS, P_REPEATS, P_BLOCK, P_SPANS };

/* Blocks that make up so many warps. They are as few as can be, all equal, and in steps of a quarter of a block beyond
 * the first. The result is 0 if this number cannot be had. */
unsigned pipeline_blocks(const struct device_info *d, unsigned warps);
/* Most warps that an SM can have, as far as the device tells. *known: it does tell. */
unsigned pipeline_most_warps(const struct device_info *d, bool *known);
/* together: all warps stop with the first one, and say how many turns they made. */
int pipeline_setup(const struct study *s, enum pipeline_class c, bool together, double x, const double *p,
		   struct job *j);

/* The class with so many chains in each of so many warps of an SM, in loops so many times shorter than usual. The
 * result's few is 0 if a loop cannot be as short. With `spans`, each of a launch's blocks reads its SM's clock, if
 * there are several. Otherwise only launches are timed. */
struct timed_pair pipeline_pair(const struct device_info *d, enum pipeline_class c, unsigned chains, unsigned warps,
				unsigned shorter, bool spans);
/* Operations in the shorter loop, over all chains: in shorter ones its end shows, longer ones leave instruction buffers. */
#define PIPELINE_OPS	  64
#define PIPELINE_SHORTEST 16 /* with four operations the end of the loop is still behind them */

/* Operations of each chain in those, at least. */
#define PIPELINE_LINKS_LEAST 4

/* pipeline_shorter.c. How many times shorter loops have to be for their instructions to be at hand, turn after turn.
 * The code then fits the first instruction cache. If that is not known, a link takes as long in the shortest loop. The
 * result is 0 if it is not known yet, or cannot be told, for the reason in *why. */
unsigned pipeline_shorter(struct study *s, enum pipeline_class class, double timer, const char **why);

/* pipeline_gaps.c: of warps that stop together. The rest of the shorter loop may leave gaps in the pipe. The longer
 * loop, in which it hides, then costs too little more. */
enum pipeline_gaps { GAPS_NONE, GAPS_SOME, GAPS_WIDE /* what a link takes is not known well enough then */ };
/* Whether the longer loop takes noticeably more for a link, with all that is in there, than what both differ by. */
bool pipeline_may_have_gaps(const struct timed *t, const struct timed_pair *k);
/* Compares t with `upper`, the same from the upper half of what the two loops differ by. If that says `fills` times
 * more, t becomes what both of them and the longer loop allow. */
enum pipeline_gaps pipeline_gaps(struct timed *t, const struct timed *upper, const struct timed_pair *k, double fills);

/* pipeline_items.c: run time against work items, Lemeire's Fig. 1; x is work items, in blocks of so many where there is more than one. */
#define EXPERIMENT_ITEMS (2 * CLASSES)
int pipeline_items_setup(const struct study *s, double x, const double *p, struct job *j);
/* Work items of each of as few blocks as fill an SM even of the oldest devices. */
unsigned pipeline_item_block(const struct device_info *d);
/* timer: how well launches are told apart, ns: those whose kernel reads no clock, or, with spans, in which each block does. */
void pipeline_items(struct study *s, double timer, bool spans);

/* Figures 1 to 3. */
int pipeline_draw(const struct study *s, struct figure_list *out);

#endif
