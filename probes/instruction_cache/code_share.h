/* Who shares a cache of instructions, and what one fetch takes from it. Private to this probe. */
#ifndef FATHOM_CODE_SHARE_H
#define FATHOM_CODE_SHARE_H
#include "code_ring.h"

/* What the whole of a level's rivals say. */
struct code_shared {
	char text[32]; /* "sm"; "constant.l2"; "none" */
	char why[200]; /* what was seen; when text is empty, why nothing is known */
};
/* Scope of level k: rivals on one SM after another go round code that does not fit beside ours. */
enum code_state code_scope(const struct code *c, const struct code_survey *v, unsigned k, struct code_shared *out);
/* The constant level that is the same cache as level k: constants are read between laps. */
enum code_state code_constants(const struct code *c, const struct code_survey *v, unsigned k, struct code_shared *out);

int code_timeline_setup(const struct study *s, double x, const double *p, struct job *j);
/* Bytes of one fetch from the first level, by warps that evict one of its sets while another one reads the clock. */
enum code_state code_fetch(const struct code *c, const struct code_survey *v, struct code_fact *out);

/* Cycles of each read behind that of the other warp, the median of the rounds. False: the point has no reads. */
#define CODE_READS 40
bool code_lateness(const struct point *pt, double late[CODE_READS]);
/* From one late read to the next, in reads; 0: they are not evenly spaced. An answer of the next level takes `behind`
 * ticks longer. In `number` is how many reads are late. */
unsigned code_late_period(const double late[CODE_READS], double behind, unsigned *number);
int code_draw(const struct study *s, struct figure_list *out);

#endif
