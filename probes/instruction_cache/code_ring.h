/* Jumps round a ring of pieces of code, and what they tell. Private to this probe. */
#ifndef FATHOM_CODE_RING_H
#define FATHOM_CODE_RING_H
#include "probe/probe.h"

enum { EXPERIMENT_LAYOUT, EXPERIMENT_JUMP, EXPERIMENT_TIMELINE, EXPERIMENT_ROWS, EXPERIMENT_CROWD };

/* p[] of the experiment "jump"; x is the number of pieces in the ring. */
enum code_param {
	CODE_FIRST,  /* the lowest piece */
	CODE_STRIDE, /* pieces from one element to the next */
	CODE_SHAPE,  /* pieces of the kernel x 1024 + filling instructions of each */
	CODE_WARM,   /* laps before the timed ones */
	CODE_LAPS,   /* timed laps */
	CODE_RIVAL,  /* SM + 1 that goes round the elements behind this ring at the same time; 0 = none */
	CODE_WALK,   /* bytes of constants that are read after each lap */
	CODE_FRESH,  /* 1: nothing of the kernel was ever executed, and caches are flushed */
};
#define CODE_PARAM_NAMES                                                                                               \
	{                                                                                                              \
		"first", "stride", "shape", "warm", "laps", "rival", "walk", "fresh"                                   \
	}
/* Of "rows", from CODE_LAPS on: elements a stride apart make a group, and groups begin a period apart. */
enum code_row_param { CODE_GROUP = CODE_RIVAL, CODE_PERIOD };
#define CODE_ROW_NAMES                                                                                                 \
	{                                                                                                              \
		"first", "stride", "shape", "warm", "laps", "group", "period"                                          \
	}
/* Of "crowd": so many rivals on the SM of the ring. */
enum code_crowd_param { CODE_RIVALS = CODE_RIVAL };
#define CODE_CROWD_NAMES                                                                                               \
	{                                                                                                              \
		"first", "stride", "shape", "warm", "laps", "rivals"                                                   \
	}
#define CODE_LAPS_SURE 32 /* in which each line that conflicts misses at least twice, whatever is replaced */
#define CODE_HEAD      8
#define CODE_PARTS     2048 /* pieces at most */

int code_setup(const struct study *s, double x, const double *p, struct job *j);
int code_rows_setup(const struct study *s, double x, const double *p, struct job *j);
int code_crowd_setup(const struct study *s, double x, const double *p, struct job *j);
int code_layout_setup(const struct study *s, double x, const double *p, struct job *j);

enum code_state { CODE_PENDING, CODE_MISSING, CODE_HERE };

/* One kernel full of pieces. */
struct code {
	struct study *study;
	unsigned pads, pieces;	 /* filling instructions of a piece; how many pieces */
	uint32_t unit, pad;	 /* bytes of a piece, of a filling instruction */
	uint32_t begin, bytes;	 /* where the first piece begins; all code, in bytes from the entry */
	uint32_t before, behind; /* bytes in front of the pieces and behind them that may belong to the loop */
	unsigned low; /* the lowest piece that is visited: what a loop in front of it fetches ahead ends before */
	char why[200];
};
/* Pieces of `unit` bytes, or the next larger length that can be made. */
enum code_state code_open(struct code *c, struct study *s, uint32_t unit, uint32_t bytes);

/* Its kernel will be asked for, and the one of `few` pieces whose code was never executed. c: CODE_HERE. */
void code_expect(const struct code *c, unsigned few);

/* Learns from a point of the kernel where the pieces lie. False: they are not there, or of another length. */
bool code_lies(struct code *c, const struct point *pt);

struct code_ring {
	unsigned first, stride, count, warm, laps, rival, walk, fresh;
	unsigned group, period; /* elements of a group, pieces from one to the next; 0: all are one group */
	unsigned rivals;	/* on the same SM; then `rival` says nothing */
};
struct code_run {
	const struct point *point;
	unsigned count, laps, visits;
	const uint32_t *word; /* clock before and after each jump */
	uint32_t rival_laps;
};
enum code_state code_get(const struct code *c, const struct code_ring *r, struct code_run *out);
static inline uint32_t code_ticks(const struct code_run *r, unsigned visit)
{
	return r->word[2 * visit + 1] - r->word[2 * visit];
}
/* The piece of the n-th timed jump. */
static inline unsigned code_piece(const struct code_ring *ring, unsigned visit)
{
	const unsigned i = ring->count - 1 - visit % ring->count, group = ring->group ? ring->group : ring->count;
	return ring->first + i / group * ring->period + i % group * ring->stride;
}
unsigned code_slow(const struct code_run *r, double floor);
/* Those of them whose jump is slow in most laps: what is not there, and not what is delayed now and then. */
unsigned code_slow_always(const struct code_run *r, double floor);

/* ---- levels ---- */
#define CODE_LEVELS  5
#define CODE_SURVEY  44
#define CODE_CLASSES 12
struct code_fact {
	bool known;
	bool likely; /* an estimate, from lo to hi */
	uint32_t value, lo, hi;
	char why[200];
};
struct code_level {
	double ticks;	     /* of a jump that is answered here */
	double floor;	     /* ticks from which one is not */
	double miss;	     /* ticks from which one is not, of what is nearest behind */
	unsigned fits, over; /* pieces in a row that fit; that do not */
	bool endless;	     /* everything fits */
	bool doubtful;	     /* hardly faster than what lies behind it: it may be the open rows of a memory */
	bool beside;	     /* doubtful, because it answers only where what lies behind it does, too */
	struct code_fact size, line, ways, sets;
	unsigned lines; /* of the largest ring that fits, one element a line */
	unsigned top;	/* the last piece that begins in a line is number top of every line's worth */
	unsigned first; /* the lowest piece of the first line of rings */
};
struct code_survey {
	unsigned count;
	struct code_ring ring[CODE_SURVEY];
	struct code_run run[CODE_SURVEY];
	unsigned levels; /* the last one is what answers when all others miss */
	struct code_level level[CODE_LEVELS + 1];
	char why[200];
};
struct code_wait { /* cycles that a fetch takes longer than one that the nearest level answers */
	double value, lo, hi;
	double near, far; /* ticks of such jumps */
	bool exact;	  /* all of them take about as long */
};
/* Of level k of a survey. near: the survey of the shortest pieces. False: too few jumps say so, or the nearest level answered none of this survey. */
bool code_later(struct study *s, const struct code_survey *near, const struct code_survey *v, unsigned k,
		struct code_wait *out);
struct code_classes {	/* of jumps, by their time */
	double granule; /* cycles from one value of the clock to the next */
	unsigned count;
	double centre[CODE_CLASSES]; /* ticks, ascending */
	unsigned points[CODE_CLASSES];
};
/* Which of the classes are levels, and between which two rings of the survey each is left. */
void code_find_levels(struct code_survey *v, const struct code_classes *c);
/* Ticks from which jumps miss each of the levels. boost: how much faster the SM's clock goes at times. */
void code_find_misses(struct arena *a, struct code_survey *v, const struct code_classes *c, double boost);
/* Misses that noise does not explain: at least one a lap. */
bool code_overflows(const struct code_run *r, double floor, double noise);
/* How often a jump that should hit is slow, from the rings that surely fit. */
double code_noise_below(const struct code_survey *v, double floor, unsigned pieces);
/* The smallest ring that is so much larger than a level that all of it misses, or the largest. */
unsigned code_large_ring(const struct code_survey *v, const struct code_level *l);
enum code_state code_measure_survey(struct code *c, struct code_survey *v);
/* Line, sets, ways and size of level k. above: bytes of a line of the level above, 0: none is known. CODE_MISSING: what is not known says why. */
enum code_state code_geometry(const struct code *c, struct code_survey *v, unsigned k, unsigned above);
/* The first level when all its lines are of one set, the loop's among them. */
void code_one_set(const struct code *c, struct code_level *l);
/* Ways of level k, whose lines conflict when they are `sets` apart, from groups of lines so far apart. CODE_MISSING: l->ways says why. */
enum code_state code_rows(const struct code *c, struct code_survey *v, unsigned k, unsigned sets);
/* Whether rings of code overflow the level. */
enum code_state code_fits(const struct code *c, const struct code_survey *v, unsigned k, const struct code_ring *r,
			  bool *out);
/* The smallest number of elements that does not fit, between one that does and one that does not; `step` elements at a time. */
enum code_state code_smallest(const struct code *c, const struct code_survey *v, unsigned k, struct code_ring r,
			      unsigned low, unsigned high, unsigned step, unsigned *out);
unsigned code_line_of(const struct code_level *l, unsigned unit, unsigned piece);

#endif
