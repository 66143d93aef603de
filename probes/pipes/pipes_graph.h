/* Five operations stand for what pipes are for, and units are made of those that share one. Inside this folder. */
#ifndef FATHOM_PIPES_GRAPH_H
#define FATHOM_PIPES_GRAPH_H
#include "pipes.h"

enum anchor { ANCHOR_SINGLE, ANCHOR_INTEGER, ANCHOR_SPECIAL, ANCHOR_DOUBLE, ANCHOR_HALF, ANCHORS };
enum { NODES = 9, NONE = -1, GRAPH_CHOICES = 4 };
#define MORE_THAN_ALL 1.25 /* of an operation's work: one that shares so much with two shares a pipe with both */

/* Rows of an anchor's kind: the first that can be used stands for it. */
extern const int graph_choice[ANCHORS][GRAPH_CHOICES];

struct graph {
	struct pipes *u;
	unsigned nodes;
	int row[NODES]; /* the anchors first; NONE: there is none */
	struct pair pair[NODES][NODES];
	enum relation sure[NODES][NODES]; /* with what follows from others; PART counts as shared */
	int unit[ANCHORS];		  /* the least anchor of its unit */
	const char *name[ANCHORS];	  /* of the unit of that anchor; NULL: not known */
	const char *guess[ANCHORS];	  /* the same, if what issuing hides is not there either; NULL: no likely one */
	char why[ANCHORS][200];
};

bool graph_shares(enum relation r);
/* All relations of the anchors. False while points are missing. */
bool graph_relate(struct graph *g);
/* Anchors that share a pipe are one unit. */
void graph_group(struct graph *g);
bool graph_has(const struct graph *g, int unit, enum anchor a);

/* pipes_units.c */
extern const char *const graph_kind[ANCHORS]; /* "single precision" */
/* The unit's name, by the first of these that it does. Single precision and integers are sp, one of the two is fp32 or
 * int32, special functions are sfu. Double precision is dpu, and half precision fp16. It is a guess as far as issuing
 * lets it show if `guess`. NULL: not known. */
const char *graph_name_of(struct graph *g, int unit, bool guess);
void graph_conclude_unit(struct graph *g, int unit);

#endif
