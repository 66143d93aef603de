/* Ticks of hits and of misses, as share_groups.c tells one from the other. */
#ifndef FATHOM_SHARE_TICKS_H
#define FATHOM_SHARE_TICKS_H
#include "probe/share.h"

/* Leaves the level open, and says why. */
__attribute__((format(printf, 2, 3))) void share_unclear(struct share_level *l, const char *fmt, ...);
/* The most ticks that a hit takes where it takes so many on average. */
double share_slowest(const struct share_level *l, double ticks);
/* The most ticks that a hit of a cold level may take, as both latencies say; 0: nobody knows. */
double share_most_of_hit(const struct share_path *c, unsigned k);
bool share_too_slow(const struct share_path *c, unsigned k, double ticks);
/* The ticks that divide hits from misses, of each level. Those from the first one on that cannot be told from its neighbours are
 * undecided. */
enum chase_state share_calibrate(struct share_path *c);

#endif
