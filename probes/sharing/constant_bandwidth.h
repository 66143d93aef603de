/* What all SMs together draw from a level of the constant path. Wong 2010, IV-J3, Fig. 19. */
#ifndef FATHOM_CONSTANT_BANDWIDTH_H
#define FATHOM_CONSTANT_BANDWIDTH_H
#include "probe/share.h"

enum bandwidth_param { BANDWIDTH_LEVEL, BANDWIDTH_STRIDE, BANDWIDTH_BYTES, BANDWIDTH_FILL };
#define BANDWIDTH_PARAM_NAMES                                                                                          \
	{                                                                                                              \
		"level", "stride", "footprint", "fill"                                                                 \
	}
/* x: blocks. */
int bandwidth_setup(const struct study *s, double x, const double *p, struct job *j);
/* Asks for the points of level k, whose groups are known, and concludes unless some are pending. One miss of the level
 * above brings `fill` bytes. */
void bandwidth_study(struct share_path *c, unsigned experiment, unsigned k, double fill, const char *key);
int bandwidth_draw(const struct study *s, const struct series *series, struct figure_list *out);

#endif
