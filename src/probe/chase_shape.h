/* What size, line and ways of a level have in common. Private to them. */
#ifndef FATHOM_CHASE_SHAPE_H
#define FATHOM_CHASE_SHAPE_H
#include "probe/chase.h"

#define LINE_MOST 4096

/* The blocks that miss with one more element at extra; hot is NULL when that one finds room, as it may where sets are hashed. */
enum chase_state chase_conflicting(struct chase_path *c, unsigned k, uint64_t start, uint64_t extra, uint64_t stride,
				   struct chase_blocks *out);
/* As chase_step, for rings that have to drive everything out of the levels above. */
uint64_t chase_shape_step(const struct chase_path *c, unsigned k, uint64_t unit, double footprint);
/* Halves *line as long as it is several lines of one set; not below what one miss fetches. *line conflicts with the
 * place `extra`, as do the blocks `of`, all within a size. */
enum chase_state chase_line_alone(struct chase_path *c, unsigned k, uint64_t extra, const struct chase_blocks *of,
				  uint64_t *line);
/* Levels above k may hold so many elements, so that no miss of level k is seen. */
bool chase_hidden(const struct chase_path *c, unsigned k, uint32_t elements);
/* The survey's bracket of level k: bytes that seem to fit, and that do not. */
void chase_bracket(const struct chase_path *c, unsigned k, double *lo, double *hi);
/* Size, line, ways and sets by rings of few lines, where laps over all of them take so long that others are in the way. UNDECIDED: the
 * level is as it was. */
enum chase_state chase_by_strides(struct chase_path *c);
/* Whether lines, not pages, are what does not fit. UNDECIDED: size, line, ways and sets then are, too. */
enum chase_state chase_by_lines(struct chase_path *c, unsigned k);
/* Bytes at which a line is looked for: at the size (j = 0), and some way behind. */
uint64_t chase_line_extra(uint64_t size, unsigned j, uint64_t unit);

#endif
