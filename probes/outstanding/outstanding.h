/* Parts of the probe of outstanding requests.
 *
 * A pattern says who loads what in one block. A curve is the latency of a pattern while it grows by the smallest step
 * that adds requests. A full table shows in it as a jump by what is left of the latency. All curves together are
 * compared with what each kind of table, with each number of entries, would have made. */
#ifndef FATHOM_OUTSTANDING_H
#define FATHOM_OUTSTANDING_H
#include "probe/chase.h"
#include "probe/probe.h"

enum { LATENCY_MEMORY, LATENCY_L2, LATENCY_WAYS }; /* experiments: where the requests are answered */
enum { BESIDE = LATENCY_WAYS, COPY };		   /* experiments: the same, while another SM does so, too; a copy */

/* p[] of all; x is the number of threads. */
enum latency_param {
	LATENCY_LOADS,	/* independent loads of a thread */
	LATENCY_GROUP,	/* neighbours of a warp that ask for one address */
	LATENCY_LANES,	/* of each warp, from its first on; 0: all */
	LATENCY_EXTRA,	/* so many of the loads are done by ... */
	LATENCY_MORE,	/* ... so many threads more */
	LATENCY_STRIDE, /* bytes between unique addresses */
	LATENCY_SM,
	LATENCY_ROUND, /* the same again, so many lines further on */
	/* of BESIDE, instead of the last three: */
	BESIDE_WAY = LATENCY_STRIDE,
	BESIDE_SM,     /* the other one */
	BESIDE_ROUNDS, /* how often it does so */
};
#define LATENCY_PARAM_NAMES                                                                                            \
	{                                                                                                              \
		"loads", "group", "lanes", "extra", "more", "stride", "sm", "round"                                    \
	}
enum {
	LATENCY_RUNS = 3,
	LATENCY_STRIDE_BYTES = 512, /* no line is longer; half of it is where the first pass reads */
	LOADS_MOST = 4,		    /* of a thread that is one of many */
	LOADS_ALONE = 8,	    /* of one thread of each warp */
	CHAIN_MOST = 16,	    /* of one thread of one warp, or of a few */
	GRID = 16,		    /* points of a curve before its jump is looked for */
	GROUPS_MOST = 6,
	MERGE_ANY = 33, /* stands for any number of lanes */
	ROUNDS = 2,
	PLACES = 8, /* lines that are timed alone */
};

/* Load k is done by the threads below `threads`, or for k < extra below threads + more. */
struct pattern {
	unsigned loads, group, lanes, threads, extra, more, stride, round;
};
int memory_setup(const struct study *s, double x, const double *p, struct job *j);
int l2_setup(const struct study *s, double x, const double *p, struct job *j);
int beside_setup(const struct study *s, double x, const double *p, struct job *j);
/* The point of a pattern, NULL: not yet. */
const struct point *latency_ask(struct study *s, unsigned way, const struct pattern *m);
/* Cycles of the runs of a point: their harmonic mean, and the least. NAN: there are none. */
double latency_mean(const struct point *pt);
double latency_least(const struct point *pt);
/* The least from when the first warp was ready, which may have its loads under way before the last one is. */
double latency_whole(const struct point *pt);
/* The least until the first warp had issued its loads. */
double latency_issue(const struct point *pt);

/* ---- a way to memory ---- */
struct way {
	unsigned number;
	enum chase_state state;
	double latency;	   /* of one request to the slowest of some lines, cycles */
	double spread;	   /* that the others are faster by */
	double holds;	   /* bytes: answers to what lies closer together come from there */
	double line, inst; /* cycles from one request to the next: of one instruction, of many with one each */
	char why[160];	   /* UNDECIDED */
};
void way_measure(struct study *s, struct way *w);

/* ---- loads that one warp has under way ---- */
struct chain {
	enum chase_state state;
	unsigned fits; /* loads that go at once ... */
	bool blocks;   /* ... and one more waits; else no more was tried, or could be told */
	bool shared;   /* several warps have no more under way together */
	double height; /* of the jump, in latencies */
	char why[160];
};
void chain_measure(struct study *s, const struct way *w, struct chain *out);

/* ---- curves ---- */
struct curve {
	const struct way *way;
	unsigned loads, group, lanes, stride; /* as in a pattern */
	unsigned light; /* warps that do one load only, besides: as many instructions of more warps */
	enum chase_state state;
	unsigned count, at[GRID + 1]; /* steps that were measured, ascending, and their cycles */
	double cycles[GRID + 1];
	double base; /* of one line, with what comes after as many loads */
	/* the first jump: between `fits` steps and one more */
	bool steep;	  /* more than issue explains, all along: that it does not jump says nothing */
	bool jumps, weak; /* weak: it is there, and too low to be a table's for certain ... */
	bool like; /* ... unless many are as high as this one: what is left of the latency, as a full table makes it */
	unsigned fits;
	unsigned flat;	      /* step behind which it was looked for a jump, and there was none */
	double before, after; /* cycles there */
	double expected;      /* what is left of the latency when the last request that fits has gone */
	char why[160];
};
/* How far a curve can go. A step is one more line.
 *
 * The functions below say what a curve's first n steps are. One counts instructions of warps. The others count entries
 * of a table that serves with one entry `merge` lanes of a line, or `piece` lanes of an instruction. */
unsigned curve_most(const struct study *s, const struct curve *c);
/* Whether it has a jump that a table could have made. */
bool curve_tells(const struct curve *c);
unsigned curve_instructions(const struct study *s, const struct curve *c, unsigned n);
unsigned curve_entries(const struct study *s, const struct curve *c, unsigned n, unsigned merge);
unsigned curve_pieces(const struct study *s, const struct curve *c, unsigned n, unsigned piece);
/* Warps that have a load in the first n steps. */
unsigned curve_warps(const struct study *s, const struct curve *c, unsigned n);
struct pattern curve_pattern(const struct study *s, const struct curve *c, unsigned n);
/* Threads that have all their loads within the first n steps. */
unsigned curve_threads(const struct study *s, const struct curve *c, unsigned n);
void curve_measure(struct study *s, struct curve *c);
/* Whether the curve rises by far more behind step n than before it. PENDING, DONE, or UNDECIDED: it could not be timed. */
enum chase_state curve_rises(struct study *s, const struct curve *c, unsigned n, bool *rises);
/* Looks closely whether there is a jump of some `expected` cycles behind step n, which may be too low to be met on the way. */
enum chase_state curve_look(struct study *s, struct curve *c, unsigned n, double expected);
/* Cycles after n steps, between the points that were measured. */
double curve_cycles(const struct curve *c, unsigned n);

/* Whether what is full belongs to the SM: its last request that fits is not late while others do the same. DONE: *own says so;
 * UNDECIDED: there is no other SM, or it could not be timed. */
enum chase_state beside_measure(struct study *s, const struct curve *c, bool *own, char *why, size_t n);

/* ---- tables ---- */
struct table {
	bool possible, mshr;
	unsigned lo, hi;	     /* entries */
	unsigned merge_lo, merge_hi; /* threads that an entry serves: of a line, or, of a prt, of an instruction */
	unsigned jumps, others;	     /* that it explains, and that it does not */
	bool apart;		     /* one that it explains is where lines lie twice as far apart */
	bool several;		     /* and they are of several numbers of loads, ... */
	bool unlike_warps;	     /* ... and come behind several numbers of warps */
	double back;		     /* cycles that the first to wait takes at least, from memory */
	char why[200];		     /* not possible: what contradicts it */
};
/* Which tables could have made these curves. */
void table_eliminate(const struct study *s, const struct curve *const *c, unsigned count, struct table *mshr,
		     struct table *prt);

/* The step behind which such a table is full. From then until the first that waits goes on it takes *left cycles. The
 * result is 0 if the curve has no such step, or nobody knows what its threads take. */
unsigned table_full_at(const struct study *s, const struct curve *c, const struct table *t, double *left);

/* Whether the curve's jump is the table's. */
bool table_explains(const struct study *s, const struct curve *c, const struct table *t);

/* Concludes at how many threads each curve from memory has its table full, as Lashgar gives it, and what lines an SM
 * has under way. It also looks for rises that are too low to say what the table is, at the steps at which they must be.
 * False: points are missing yet. */
bool fits_conclude(struct study *s, const struct curve *const *c, unsigned count, const struct table *t);

/* Concludes how many lines leave an SM at once, a warp's own one behind the other. Lines wait beyond `entries` of its
 * table of lines; 0: nobody knows them. */
void parallel_conclude(struct study *s, const struct way *l2, unsigned entries);

int outstanding_draw(const struct study *s, struct figure_list *out);

#endif
