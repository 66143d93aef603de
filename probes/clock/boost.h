/* Does the SM's clock run faster at times, against that of the memory? */
#ifndef FATHOM_BOOST_H
#define FATHOM_BOOST_H
#include "probe/probe.h"

/* x: loads of a chain, 2 or 4. */
int boost_setup(const struct study *s, double x, const double *p, struct job *j);
/* Asks for both and concludes clock.boost. */
void boost_study(struct study *s, unsigned experiment);

#endif
