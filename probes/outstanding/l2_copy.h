/* The size of the L2 by the time of copies. */
#ifndef FATHOM_L2_COPY_H
#define FATHOM_L2_COPY_H
#include "probe/chase.h"

enum { COPY_MOST = 2 << 20 }; /* bytes that are copied, at most */

struct copied {
	double size, least, most; /* bytes; size 0: at least `least`, all that was tried */
	double share;		  /* of the time from memory that is gained when the L2 holds all */
	char why[160];
};
int copy_setup(const struct study *s, double x, const double *p, struct job *j);
enum chase_state copy_size(struct study *s, unsigned experiment, struct copied *out);

#endif
