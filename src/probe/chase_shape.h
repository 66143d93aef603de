/* What size, line and ways of a level have in common. Private to them. */
#ifndef FATHOM_CHASE_SHAPE_H
#define FATHOM_CHASE_SHAPE_H
#include "probe/chase.h"

#define LINE_MOST 4096

enum chase_state chase_undecided(struct chase_fact *f, const char *why);
enum chase_state chase_decided(struct chase_fact *f, uint64_t value);
/* The blocks that miss with one more element at extra; hot is NULL when that one finds room, as it may where sets are hashed. */
enum chase_state chase_conflicting(struct chase_path *c, unsigned k, uint64_t start, uint64_t extra, uint64_t stride,
				   struct chase_blocks *out);
/* Where a line is looked for: at the size (j = 0), and some way behind. */
uint64_t chase_line_extra(uint64_t size, unsigned j, uint64_t unit);

#endif
