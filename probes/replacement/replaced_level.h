/* A level whose policy is asked for, by its keys; and what keeps the levels above it out of the way. */
#ifndef FATHOM_REPLACED_LEVEL_H
#define FATHOM_REPLACED_LEVEL_H
#include "replacement.h"

/* A level by its keys: what it takes to ask for its policy. */
struct level {
	struct study *study;
	const char *prefix, *up,
	    *next; /* "cache.texture.l1"; of the level above, NULL none; of the latency behind it */
	enum set_path path;
	uint64_t limit; /* bytes that may be read */
	/* A few lines may lie further apart: within so many bytes, where the first TLB has entries for all of them, and some to spare. */
	uint64_t apart, entries;
	/* bytes that may be read where fewer are too few for the lines of one set; 0: no more than limit */
	uint64_t wider;
	/* they are too few all the same: its lines take half of those entries, what is read in between half of limit */
	bool spread;
	uint64_t size, line, ways, sets;
	bool unequal;
	bool lent;	     /* size and ways are those beside what a trace takes of it as shared memory */
	double largest;	     /* of unequal sets */
	const char *nearest; /* latency of the path's first level */
	/* Of the path's levels, this one at `depth`: lines of one set, filled by study_level; ways 0: nobody knows them. */
	struct set_lines *lists;
	unsigned depth;
	const char *top; /* the first level's prefix, where it is not the level above; NULL */
	double deep;	 /* of pages: cycles that it is slower than the first level */
};

static inline uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* The number of `prefix`.`what`. False: it is not known, or less than 1. */
bool level_number(const struct level *l, const char *prefix, const char *what, uint64_t *v);
/* Whether so many lines, all of them within so many bytes, can be read. */
bool level_reads(const struct level *l, uint64_t lines, uint64_t bytes);
/* Lines to read in between, so that the level above forgets. They are as many of its sets' mates as it has ways. If
 * that was not enough, they are doubled `effort` times. */
void level_between(const struct level *l, struct set_lines *set, unsigned effort);
/* Whether the level above may keep as many of the set's lines as the set has, with nothing read in between that drives them out. */
bool level_kept(const struct level *l, const struct set_lines *set);
/* How much slower what lies behind a level is, by walks over what each holds. NAN: not seen. */
enum chase_state level_gap_behind(const struct level *l, struct set_lines *set, double *gap);
/* Ticks from the nearest part of the common L2 to the farthest, if this level is that one or its lines are those of
 * pages. The result is 0 if none are known. */
double level_spread(const struct level *l);

#define EFFORTS 3 /* to keep lines out of the level above: level_between */
struct spacing {
	bool even;	 /* sets' lines are evenly apart: alone, or as tiles of neighbours */
	bool seen;	 /* less far apart they do not conflict, and were not kept by the level above either */
	unsigned tile;	 /* log2 of the lines of a tile */
	unsigned effort; /* that keeps lines out of the level above */
	bool settled;	 /* as many lines as fit hit, nearly always: it is no noise that conflicts */
};
/* How lines of one set of the level lie. DONE and not even: neither evenly apart nor as tiles. UNDECIDED: `why` says why. */
enum chase_state level_spacing(const struct level *l, const struct set_lines *plain, struct spacing *out, char *why,
			       size_t n);

/* A set whose lines are not evenly spaced: those that conflict with some line beyond the size. */
enum chase_state level_list(const struct level *l, struct set_lines *set, char *why, size_t n);
/* Log2 of the neighbours in a tile. The lines that conflict have to be all that a plain set index, perhaps of higher
 * bits, would put together. -1: none would. */
int level_tile(const struct level *l, const struct set_lines *set);

/* Whether lines of that set conflict, too, when the same few are read after each of them. Lines read after each of its
 * own may fill a hashed set as one more of its lines would. */
enum chase_state level_alone(const struct level *l, const struct set_lines *plain, bool *conflict);

/* Bytes between lines of one set if the two lower digits of a line's number are laid on one another. A digit has as
 * many bits as say a set. */
static inline uint64_t set_folded(const struct level *l)
{
	return (l->sets + 1) * l->line;
}
/* Whether lines so far apart conflict, and those that would be in one set of a plain index do not. PENDING or DONE. */
enum chase_state level_folded(const struct level *l, const struct set_lines *plain, bool *is);

/* Findings `prefix`.`what`. */
void level_verdict(const struct level *l, const char *what, enum verdict v, const char *because);
void level_mapping(const struct level *l, const char *name, const char *because);
/* The policy, and what follows from it. Not for what is PENDING. */
void level_policy(const struct level *l, const struct policy_result *r);

#endif
