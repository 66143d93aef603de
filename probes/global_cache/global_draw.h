/* The figures of the probe `global_cache`. Inside this folder. */
#ifndef FATHOM_GLOBAL_DRAW_H
#define FATHOM_GLOBAL_DRAW_H
#include "probe/probe.h"

enum { DRAWN_CHASE };		    /* the experiment */
enum { DRAWN_NEAR, DRAWN_PAST_L1 }; /* kinds of load */
int global_draw(const struct study *s, struct figure_list *out);

#endif
