/* One set of one level: which places share it, and the traces over them. */
#ifndef FATHOM_REPLACEMENT_H
#define FATHOM_REPLACEMENT_H
#include "probe/policy.h"

enum { SET_TRACE, SET_CHASE_NEAR }; /* experiments; a chase for each path of caches follows */
enum set_path { SET_NEAR, SET_PAST_L1, SET_TEXTURE, SET_CONSTANT, SET_PAGES, SET_TEXTURE_PAGES, SET_READONLY };

/* Whether lines are what TLBs translate. */
static inline bool set_pages(enum set_path path)
{
	return path == SET_PAGES || path == SET_TEXTURE_PAGES;
}

struct chase_load set_load(const struct study *s, enum set_path path);
/* The experiment that walks over a path of caches. */
static inline unsigned set_chase(enum set_path path)
{
	return SET_CHASE_NEAR + (path == SET_READONLY ? SET_CONSTANT + 1u : (unsigned)path);
}

/* p[] of the experiment "trace", whole numbers put together from fields; x is how many accesses are meant. */
enum set_param {
	SET_WHERE,  /* path, how lines are given, lines read in between and how far apart those are */
	SET_PLAN,   /* seed, kind, ways, lines, tile; where lines are listed, how to get to the others */
	SET_FIRST,  /* of what is listed; else bytes between tiles, or where the one line more lies */
	SET_SECOND, /* bytes of a line, unless lines are listed */
	SET_THIRD,  /* bytes within which lines in between lie, unless lines are listed */
};
#define SET_PARAM_NAMES                                                                                                \
	{                                                                                                              \
		"where", "plan", "lines0", "lines1", "lines2", "lines3", "lines4", "lines5"                            \
	}

#define SET_PAGES_MOST 1000u /* of a level that are looked at one by one: a plan names fewer than 1024 lines */
#define TILE_MOST      4     /* log2 of the lines of a tile */
#define SET_LISTED     33    /* lines: those of a set, and one more */
#define SET_FLIPS      5
enum set_mode {
	SET_STRIDED, /* evenly apart, perhaps several neighbours at a time */
	SET_DENSE,   /* neighbours, and one line more */
	SET_HASHED,  /* a list; lines that differ from one another as those do share the set, too */
	SET_DEALT,   /* a list; lines one size further share the set, too */
};
struct set_lines {
	enum set_path path;
	enum set_mode mode;
	uint64_t line;	 /* bytes */
	uint64_t stride; /* SET_STRIDED: bytes between tiles */
	unsigned tile;	 /* log2 of the neighbours in a tile */
	uint64_t extra;	 /* SET_DENSE: where the one line more lies */
	uint32_t total;	 /* SET_DEALT: lines of the level; SET_HASHED: more than the listed ones but the last */
	uint32_t held;	 /* lines of the level, where they are listed */
	unsigned ways;	 /* of the set; SET_DENSE: lines side by side */
	unsigned lines;	 /* that a plan may name */
	uint32_t listed[SET_LISTED]; /* line numbers: ways of them, and one more */
	unsigned between;	     /* lines read after each access, to drive it out of the level above */
	uint64_t apart;		     /* bytes between those */
	uint64_t bound;		     /* and within so many from the start */
	/* SET_DEALT: log2 of how many times the level's size that is: lines further share sets as those within it do */
	unsigned wide;
	/* SET_STRIDED: the first `flipped` lines differ from the line before by these, one or more at once, in 16
	 * bytes. If there are none, all lines do besides, because tiles of neighbours share a set of the level
	 * above. */
	unsigned flips, flipped;
	uint32_t flip[SET_FLIPS];
	unsigned turn_bits; /* log2 of the lines of each page that take turns */
	unsigned step_bits; /* log2 of the bytes from one of those to the next, of 32 */
	/* of pages: ticks that some lines are later than others, whatever the TLB does; 0: they are alike */
	double parts;
	struct trace_level known;
};
/* How many lines of a level of so many a point can list. */
unsigned set_listed(uint32_t total);
int set_setup_trace(const struct study *s, double x, const double *p, struct job *j);
int set_setup_near(const struct study *s, double x, const double *p, struct job *j);
int set_setup_past(const struct study *s, double x, const double *p, struct job *j);
int set_setup_texture(const struct study *s, double x, const double *p, struct job *j);
int set_setup_constant(const struct study *s, double x, const double *p, struct job *j);
int set_setup_readonly(const struct study *s, double x, const double *p, struct job *j);

/* p[] of a point of the experiment "trace", and what one was asked for. */
void set_params(const struct set_lines *l, const struct policy_plan *plan, double *p);
void set_point(const struct point *pt, struct set_lines *l, struct policy_plan *plan);
/* The address of line n of the set. */
uint64_t set_address(const struct set_lines *l, unsigned n);
/* policy_level.ask, with a struct set_ask. */
struct set_ask {
	struct study *study;
	const struct set_lines *lines;
};
enum chase_state set_trace(void *ctx, const struct policy_plan *p, const struct policy_sequence *q, uint32_t **ticks,
			   char *why, size_t why_bytes);
/* Whether the first cache of textures is the one that all SMs share. It is asked for addresses that are translated
 * then, and no cache is in front of the TLBs. */
bool set_common(const struct study *s);
/* Lines that share a set with the line at `extra`, of a level of `total` lines whose sets are not evenly spaced. Fills ways and listed. */
enum chase_state set_conflicts(struct study *s, struct set_lines *l, uint32_t total, uint32_t extra, char *why,
			       size_t why_bytes);
/* The first line that differs from all of the level's in a higher bit. */
uint32_t set_beyond(uint32_t total);
/* Ticks that most accesses of a walk over so many bytes of a cache's path take. */
enum chase_state set_usual(struct study *s, const struct set_lines *l, uint64_t bytes, uint64_t step, double *ticks,
			   char *why, size_t why_bytes);

/* Laps over more lines, or pages, than fit: how many of them miss (Mei 2014, Figures 9 and 11). ask: false while points are pending. */
void miss_rates_ask(struct study *s);
int miss_rates_draw(const struct study *s, struct figure_list *out);

#endif
