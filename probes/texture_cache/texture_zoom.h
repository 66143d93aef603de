/* Average latency around the size of one level, as Wong's Figures 11 and 12: sets overflow one after the other there. */
#ifndef FATHOM_TEXTURE_ZOOM_H
#define FATHOM_TEXTURE_ZOOM_H
#include "probe/chase.h"

/* Asks for the points, from several SMs where wide is set. A level whose size, line or sets are not known has none. */
void zoom_ask(struct chase_path *c, unsigned k, bool wide);
/* The figure of one level, from what its findings say; none when there are no points. 0 or -1. */
int zoom_draw(const struct study *s, const struct series *series, const char *prefix, const char *name,
	      const char *title, struct figure_list *out);

#endif
