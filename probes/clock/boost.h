/* Does the SM's clock run faster at times, against that of the memory? */
#ifndef FATHOM_BOOST_H
#define FATHOM_BOOST_H
#include "probe/probe.h"

/* x: loads of a chain, 2, 4 or 16. */
int boost_setup(const struct study *s, double x, const double *p, struct job *j);
void boost_ask(struct study *s, unsigned experiment); /* for what is always measured */
/* Concludes clock.boost, or asks for more. step: cycles that every value of the clock is a multiple of. */
void boost_study(struct study *s, unsigned experiment, double step);

#endif
