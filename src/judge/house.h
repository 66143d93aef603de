/* Constants of the house: what every look at a record shares, each named once and with its source. */
#ifndef FATHOM_HOUSE_H
#define FATHOM_HOUSE_H

/* L, nats: a rival has to be so much worse. exp(-20) is 2e-9. With 10^4 candidates and 10^2 levels of a run, that would
 * be one wrong answer in 500 runs, were the noise model exact. The rest of the nats is for what the model lacks. */
#define JUDGE_NATS 20.0
/* The weight that a LIKELY value has at least: it may be wrong in one of 20 cases. */
#define JUDGE_WEIGHT 0.95
/* log of the chance that a miss that has to be is seen as a hit. A clock that is fast, or another line's miss, hides
 * one in fifty. */
#define JUDGE_HIDDEN -3.9
/* The most noise that is explained: where more of what fits misses, something else is at work. Wong 2010 and Mei 2014 see none at all. */
#define JUDGE_NOISE 0.05
/* What noise may be blamed for in one look at a ring. A level is looked at by some 100 rings, so that one look in 100
 * levels is wrong. */
#define JUDGE_CHANCE 1e-4
/* The same of a look that alone decides: with 10^2 levels of a run and 10 such looks each, one wrong answer in 1000 runs. */
#define JUDGE_CHANCE_ALONE 1e-6
/* Standard deviations: a normal distribution is beyond three once in 370 times, and beyond four and a half once in 150,000. */
#define JUDGE_SIGMA	 3.0
#define JUDGE_SIGMA_SURE 4.5
/* Standard deviations in a median absolute deviation of a normal distribution: 1 / 0.6745, its third quartile. */
#define JUDGE_DEVIATION 1.4826

#endif
