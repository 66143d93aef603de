/* Streams of two operations, and what their times say about the pipes behind them. */
#ifndef FATHOM_PIPES_H
#define FATHOM_PIPES_H
#include "../arithmetic/arithmetic_rows.h"
#include "probe/probe.h"

enum { PIPES_LOADS = 6, PIPES_TYPE_BYTES = 32 };

/* One operation by itself. */
struct solo {
	bool usable;	   /* all that is said of it below is known */
	const char *why;   /* else: the reason */
	double throughput; /* ops/clk/SM, as the arithmetic probe has it */
	bool estimated;	   /* it is LIKELY, within the next two, and so is all that follows */
	double least_rate, most_rate;
	unsigned native; /* native instructions of one */
	double cycles;	 /* of the SM for one warp instruction, in this stream */
	unsigned load;	 /* the load under which it takes that */
	unsigned least;	 /* instructions that a stream of it needs */
	bool loose;	 /* warps that begin or end one after the other did not let it be timed */
};

enum relation {
	REL_UNKNOWN, /* no data */
	REL_APART,   /* side by side, they take no longer than the slower one alone */
	REL_SHARED,  /* they take as long as one after the other */
	REL_PART,    /* between the two, and longer than issuing them takes */
	REL_HIDDEN   /* issuing them takes so long that the pipes cannot be seen */
};
#define ALL_OF_MOST 0.8 /* of the row's time, beside so much more of another operation that less is done elsewhere */
#define HALF_OF_IT  0.5 /* of the slower one's time more: less is no pipe in common that a unit could be named after */
struct pair {
	enum relation is;
	double excess; /* 0: as long as the slower one; 1: as long as both together */
	/* The two are neither surely apart nor surely on one pipe. If `less`, most loads took clearly less than one
	 * after the other. If `more`, none did, and they took more than issuing them takes. */
	bool less, more;
	bool asked; /* some load could be timed */
	/* some warps begin or end before others, and only warps that do not wait for each other could be timed */
	bool preferred;
};

struct pipes {
	struct study *s;
	struct solo solo[ARITHMETIC_COUNT];
	double issue;	   /* cycles of the SM for one native instruction, at most, as any stream has it */
	double issue_most; /* the same, as operations alone have it, whose rates are known */
};

/* Fills j with a stream of groups, each of x operations of the row and p[1] of the row p[0]. The short stream has p[2]
 * groups, and p[3] warps run it with p[4] chains of each operation. If p[5] is not 0, warps run it so often without
 * waiting for each other, and there is no longer stream. */
int pipes_setup_mix(const struct study *s, unsigned row, double x, const double *p, struct job *j);
/* Experiment number of the streams of a row. */
unsigned pipes_mix_experiment(unsigned row);
const char *pipes_name(unsigned row); /* "add.u32" */

/* Times all operations alone. False while points are missing. */
bool pipes_solos(struct pipes *u);
/* Whether the question makes sense for this operation on this device. */
bool pipes_asked(const struct study *s, const struct solo *o, unsigned row);
/* Whether it was timed by warps that do not wait for each other, since a scheduler prefers some. */
bool pipes_apart(const struct solo *o);
/* The two together; also lowers u->issue when they issue faster than anything before. closely: more is asked where something
 * besides issuing them makes them slow. */
struct pair pipes_pair(struct pipes *u, unsigned a, unsigned b, bool closely);
/* The same by a stream that is longest on one pipe, as far as issuing lets it. If issuing hides two that take as long
 * in turn, more of the slower one may show them. The result is `hidden` as well if even that would not. */
struct pair pipes_pair_uneven(struct pipes *u, unsigned a, unsigned b);
/* What part of the row's work a stream that is mostly of the other operation waits for; 1: all, as on one pipe. NAN: not known, or
 * points are missing. */
double pipes_mostly(struct pipes *u, unsigned row, unsigned with);
/* Streams that later passes may ask for: of every operation alone, and of two together if the cycles of both stay what
 * they are. Each operation has so many chains; the kernel does not depend on the warps. */
enum { PIPES_CHAINS = 3 };
extern const unsigned pipes_chains[PIPES_CHAINS]; /* all that streams have */
void pipes_expect_solo(const struct pipes *u, unsigned row, unsigned chains);
void pipes_expect_pair(const struct pipes *u, unsigned a, unsigned b, unsigned chains);
/* How much longer the two take on one pipe than on two, at least as far as issuing lets them: 1 = no difference. */
double pipes_contrast(const struct pipes *u, unsigned a, unsigned b);

/* Latency and throughput against warps, and the warps that fill a pipe. */
enum { WARPS_ROWS = 6 };
extern const unsigned pipes_warps_row[WARPS_ROWS];
int pipes_setup_warps(const struct study *s, unsigned which, double x, const double *p, struct job *j);
unsigned pipes_warps_experiment(unsigned which);
void pipes_study_warps(struct study *s);
int pipes_draw_warps(const struct study *s, struct figure_list *out);

#endif
