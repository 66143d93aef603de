/* Pointer chase: what caches look like from timed dependent loads. Constant and global memory share it.
 *
 * A path is one way to memory (constant space, global memory past or through the L1). The survey finds the classes of
 * latency on it and groups them to levels. The rest asks for the geometry of each level in turn. Everything is
 * concluded from misses of single accesses, never from an average, and needs no replacement policy or set mapping:
 *
 *   fits      one set more full than it can be makes at least one miss in every lap, whatever is replaced. So fewer
 *             misses than laps means that the footprint fits; more than noise explains means that it does not.
 *   conflict  a footprint that just fits plus one line overflows exactly one set: the lines that ever miss are this set.
 */
#ifndef FATHOM_CHASE_H
#define FATHOM_CHASE_H
#include "probe/probe.h"
#include <assert.h>

/* p[] of the experiments "chase" and "lap"; x is the footprint in bytes. */
enum chase_param {
	CHASE_STRIDE, /* bytes between elements */
	CHASE_WARM,   /* accesses before the timed ones */
	CHASE_TIMED,  /* timed accesses; lap: loads of the first of two regions, the other has twice as many */
	CHASE_FLOOR,  /* ticks from which an access is recorded */
	CHASE_START,  /* address of the first element */
	CHASE_EXTRA,  /* address of one more element behind the footprint; 0 = none */
	/* 0 = ascending, else the seed of a shuffle. From CHASE_PAGED on the ring goes page by page: less that, it is
	 * the seed inside the pages and of their order. A seed of 0 is ascending, from another place in each page. */
	CHASE_ORDER,
	CHASE_PLACE, /* 8 x SM + kind; kind is the probe's own: which load, where records go */
};
#define CHASE_PARAM_NAMES                                                                                              \
	{                                                                                                              \
		"stride", "warm", "timed", "floor", "start", "extra", "order", "place"                                 \
	}

#define CHASE_NEAR_LIMIT   (1u << 20)  /* bytes that are walked for a cache of the SM, at most, ... */
#define CHASE_FAR_LIMIT	   (16u << 20) /* ... and for one beyond */
#define CHASE_LIMIT_LEAST  16384u      /* where fewer can be walked no cache is looked for */
#define CHASE_TEXEL	   4
#define CHASE_SHARED_SPARE 1024u /* bytes that a block's parameters take of shared memory on old chips */
#define CHASE_LINE_NEAR	   1024u /* bytes: no line is longer */

#define CHASE_PAGED 1024
#define CHASE_PAGE  4096u /* bytes: no page is smaller, and no entry of a TLB covers less */

#define CHASE_HEAD 8  /* output words before the records */
#define CHASE_PRE  16 /* accesses of the timed loop that are not counted: they fetch its code */
#define CHASE_BRIEF                                                                                                    \
	500 /* accesses of a chase that ends before the clock changes; or a few fewer, where it is asked again */
#define CHASE_AGAIN 16	 /* so many */
#define CHASE_LOADS 32	 /* loads in the shorter region of a lap */
#define CHASE_CAP   4095 /* largest recorded time */

/* A way to memory: the load that takes it. */
enum chase_way { WAY_NEAR, WAY_PAST_L1, WAY_TEXTURE, WAY_CONSTANT, WAY_READONLY, WAY_LOCAL };
struct chase_load {
	const char *name;     /* without operands */
	int class;	      /* enum native_class */
	bool texture;	      /* what it reads lies in global memory and is a texture of 32-bit texels, by index */
	const char *symbol;   /* constant space: its array; else NULL */
	uint64_t space_bytes; /* constant space: its size; else 0 */
};
struct chase_load chase_load_of(const struct study *s, enum chase_way way);
/* How a probe's load is put into the shared kernels. */
struct chase_kernel {
	const char *template_path;
	struct chase_load load;
	uint64_t
	    local_bytes;  /* of a thread, and the ring lies in the local memory of a warp, copied from global; else 0 */
	bool in_shared;	  /* records wait in shared memory; else they go past the L1 */
	uint32_t records; /* that wait there at most; 0: as many as chase_room() */
};
int chase_setup(const struct study *s, double x, const double *p, struct job *j, const struct chase_kernel *k);
/* Records that one launch can bring back: chase_path.room. */
uint32_t chase_room(const struct device_info *d, bool in_shared);
/* Of a launch that gets the least of shared.splits: as many as wait in so much. */
uint32_t chase_split_room(const struct device_info *d, const struct finding *splits);
int lap_setup(const struct study *s, double x, const double *p, struct job *j, const struct chase_kernel *k);

/* ---- one chase, read back ---- */
struct chase_run {
	const struct point *point;
	uint32_t elements;	/* in the ring */
	uint32_t timed, slow;	/* accesses timed; of them at least floor */
	uint32_t kept;		/* of those, recorded */
	const uint32_t *record; /* index << 12 | ticks */
	uint32_t covered;	/* records are complete up to this access */
	uint32_t ticks;		/* of the whole timed part */
	uint32_t entered;	/* records that are left out because another page was accessed before */
	double entered_ticks;	/* all of them together */
};
static inline uint32_t chase_index(uint32_t record)
{
	return record >> 12;
}
static inline uint32_t chase_ticks(uint32_t record)
{
	return record & 4095;
}
uint32_t chase_elements(double x, const double *p);
/* Byte addresses in the order in which they are visited. NULL: out of memory. */
uint64_t *chase_ring(struct arena *a, double x, const double *p);
/* Which element the timed access `index` reads. */
uint32_t chase_at(const double *p, uint32_t elements, uint32_t index);

/* ---- a path and its levels ---- */
#define CHASE_UNEVEN_SAY "conflicting lines are not evenly spaced"

enum chase_state { CHASE_UNDECIDED, CHASE_PENDING, CHASE_DONE };

#define CHASE_CLASSES 10
struct chase_class {
	double centre;
	double first; /* ticks of the fastest peak that is one with it: of nearer parts of its level */
	double share; /* the largest at any footprint */
};

#define CHASE_LEVELS 5
#define CHASE_SETS   32 /* so many sets are looked at one by one; of more, some */
struct chase_fact {	/* one integer property */
	enum chase_state state;
	uint64_t value;
	char why[240]; /* why it is undecided */
};
/* How it is looked for which lines conflict: in many orders, or after so many laps that strangers' lines have left. */
enum chase_look { LOOK_USUAL, LOOK_THOROUGH, LOOK_LATE };
/* How well misses are told. NOISY: some decision needed more than counting them. BLURRED: a hit on a fast clock takes
 * as long as a miss on a slow one. */
enum chase_clarity { CLEAR, NOISY, BLURRED };
/* How lines that conflict lie. UNLIKE: of some sets fewer conflicted than of others, and not all were seen. UNSEEN: which lines share a set addresses do
 * not show, and ways and sets are not asked. */
enum chase_spaced { SPACED_EVENLY, SPACED_UNEVENLY, SPACED_UNLIKE, SPACED_UNSEEN };
/* What gave the shape: laps over all of it, what another path found, or a few of its sets, which a few lines filled. */
enum chase_shape_by { SHAPE_BY_LAPS, SHAPE_BY_PATH, SHAPE_BY_FEW };
struct chase_level {
	unsigned class_first, class_last; /* classes of a hit here */
	double floor;			  /* ticks from which an access missed this level; 0 for the last one */
	double noise;			  /* how often a hit looks like a miss, per access */
	double noise_seen;		  /* accesses that this was estimated from */
	double noise_at;		  /* mean footprint of those */
	double fit_at;	   /* the largest footprint that a ring in small steps was seen to fit in; 0 = none */
	double fit_noise;  /* misses per access that noise can have made there */
	double fit_missed; /* and that it did make, 0 = too few to say */
	bool endless;	   /* the largest footprint still fits */
	uint64_t stride;   /* of rings for this level: short laps, but too many lines for the levels above */
	unsigned patience; /* laps for which rings are warmed before they are timed; 0: as few as usual */
	enum chase_look look;
	enum chase_clarity clarity;
	enum chase_spaced spaced;
	enum chase_shape_by shape_by;
	/* It is in one piece with shared memory, of which the chase takes some, or its sets are so large that it may
	 * be. So much less is left of those sets. */
	bool lent;
	struct chase_fact size, sector, line, ways, sets;
	uint64_t
	    blocks; /* bytes: nearly all pieces of so many begin with an access beyond this level, and have hardly any other; 0: none do */
	uint64_t
	    settled; /* bytes that alone were seen to fit at first, before more settled down beside them; 0: all that fit */
	uint32_t unequal; /* how many sets differ in their ways and were all seen; 0 = they do not, or nobody knows */
	uint32_t set_size[CHASE_SETS]; /* the ways of each of those, ascending */
	bool has_room;		       /* for a line beyond the size, which settled down beside it */
};

/* Whether first touches are slower than anything in a warm footprint. UNSURE: some are, and some are not. */
enum chase_touch { TOUCH_ALIKE, TOUCH_SLOWER, TOUCH_UNSURE };
/* FITS: it misses no more often than smaller ones. MISSES: so it looked by a part of a lap, but whole laps of it do miss. */
enum chase_top { TOP_UNTOLD, TOP_FITS, TOP_MISSES };

#define CHASE_SURVEY 90
struct chase_path {
	/* given */
	struct study *study;
	unsigned chase, lap;	 /* numbers of the experiments */
	unsigned strides;	 /* number of the experiment set up by strides_setup; 0 = there is none */
	unsigned kind, lap_kind; /* 0..7 */
	unsigned quiet_kind;	 /* of latencies: records do not go where the accesses go */
	uint32_t sm;
	uint64_t limit; /* largest footprint */
	uint64_t
	    reach; /* bytes whose translations cost nothing; 0 = all. Beyond, accesses that enter a page do not count */
	uint32_t word;	     /* bytes of a ring word */
	uint32_t room;	     /* records of a launch */
	uint32_t quiet_room; /* those of quiet_kind; 0: there is no such kind, kind will do */
	bool first_only;     /* the survey may stop behind the first level */
	bool beyond_sm;	     /* not even the first level is inside the SM */
	uint64_t stride;     /* of everything after the survey; 0 = the first fill unit */
	uint64_t likely;     /* bytes of the first level as another path has it; 0 = nobody knows */
	/* learned */
	unsigned class_count;
	struct chase_class classes[CHASE_CLASSES];
	unsigned level_count; /* groups of classes; the last one is memory unless first touches are slower */
	struct chase_level level[CHASE_LEVELS];
	enum chase_touch touch;
	uint32_t grain;	    /* ticks are multiples of this */
	double cold;	    /* ticks of a first touch */
	uint64_t cold_unit; /* bytes that it fetches, when slower */
	enum chase_top top; /* then: what the largest footprint does */
	double top_floor;   /* then: ticks from which an access took as long as a first touch */
	double top_noise;   /* and how often one of small footprints seems to, per access: for this one's size */
	double fill_unit;   /* bytes that the nearest level fetches, 0 = no reuse within a lap was seen */
	double swing;	/* of the SM's clock against the memory's, clock.boost. What is beyond the SM may take so much
			     * longer at times, as a ratio; 0 = never seen */
	unsigned again; /* how often latencies were asked for before: their points are others then */
	unsigned doubtful; /* from this level on, levels may be parts of one another; 0 = none */
	char doubt[160];   /* why, unless levels hold about the same */
	unsigned survey_count;
	struct chase_sample {
		double footprint;
		uint32_t n;
		double share[CHASE_CLASSES];
	} survey[CHASE_SURVEY];
	char why[240]; /* of what came back CHASE_UNDECIDED */
};

/* Says in the array `why` what something is not known for. UNDECIDED, and so false. */
#define CHASE_WHY(why, ...) chase_says(chase_why(why, sizeof(why), __VA_ARGS__))
enum chase_state chase_why(char *why, size_t n, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
/* What chase_why returns, in sight of whoever reads the caller alone. */
static inline enum chase_state chase_says(enum chase_state undecided)
{
	assert(undecided == CHASE_UNDECIDED);
	return CHASE_UNDECIDED;
}
/* The same of a fact; or what it is: DONE. */
enum chase_state chase_undecided(struct chase_fact *f, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
enum chase_state chase_decided(struct chase_fact *f, uint64_t value);
/* Of a point that is not there: PENDING, or UNDECIDED where nothing can be measured any more. */
enum chase_state chase_missing(struct chase_path *c);
/* Asks for a chase and reads it. UNDECIDED: it could not be had, path->why says why. If the footprint is beyond the
 * path's reach, the records leave out what entered a page. Only such accesses may have waited for a translation. */
enum chase_state chase_get(struct chase_path *c, struct chase_run *r, double footprint, const double *p);
/* Two walks in steps of a word, cold and warm: first classes, fetch unit, stride. run[2] is filled. */
enum chase_state chase_walk(struct chase_path *c, struct chase_run *run);
/* Bytes that a first touch brings, from what chase_walk gave: a power of two. Nearly each piece's first word is later
 * in the cold walk than in the warm one, and hardly any other word is. Returns 0 if it is not so plain, or memory ran
 * out. Levels need not be known. */
uint64_t chase_first_fetch(struct chase_path *c, const struct chase_run *run);
/* Classes and levels. */
enum chase_state chase_survey(struct chase_path *c);
/* Looks at whole laps of the largest footprint, where the survey timed only a part of it and that hit, and corrects `top`.
 * PENDING or DONE; as an older recording has no such laps, what the survey saw counts there. */
enum chase_state chase_top_again(struct chase_path *c);
/* Of the accesses of classes from .. end - 1, the part that is of class slow or slower, in each of the survey's
 * footprints. Footprints count in which those classes are at least so large a part of the accesses. Array `part` has
 * room for CHASE_SURVEY. Returns how many. */
unsigned chase_parts_slower(const struct chase_path *c, unsigned from, unsigned slow, unsigned end, double least,
			    double *part);
/* How large that is asked to be: a quarter, or where misses fetch many steps, of which all are few accesses, half of the most. */
double chase_parts_least(const struct chase_path *c, unsigned from, unsigned end);
/* Means of such parts in the three smallest and the three largest footprints. False, and 0: there are fewer than six. */
bool chase_parts_ends(const double *part, unsigned n, double *first, double *last);
/* Ticks that divide two classes: nearer to the slower one, because noise only makes an access slower. */
double chase_floor(double below, double above);

/* A ring: elements every `stride` bytes of [start, start + bytes), one more at extra unless 0. */
struct chase_ring_spec {
	uint64_t start, bytes, stride, extra;
	unsigned order;
};
uint32_t chase_spec_elements(const struct chase_ring_spec *ring);
/* Does the ring fit level k? misses: of one lap, NULL when not wanted. */
enum chase_state chase_fits(struct chase_path *c, unsigned k, const struct chase_ring_spec *ring, bool *fits,
			    double *misses);
/* Whether the extra element of a ring that does not fit misses itself, more often than noise makes it. Its own set is
 * then too full. Else something else may be in the way of the others, in their set. */
enum chase_state chase_extra_misses(struct chase_path *c, unsigned k, const struct chase_ring_spec *ring, bool *does);
/* Which blocks of the ring, each what one miss of level k fetches, ever miss, over many laps and several orders. The extra
 * element is not among them. */
struct chase_blocks {
	bool *hot;
	uint32_t count;
	uint64_t unit;
	bool settled; /* undecided, because after a while nothing missed any more: all of it fits */
};
enum chase_state chase_hot(struct chase_path *c, unsigned k, const struct chase_ring_spec *ring,
			   struct chase_blocks *out);
/* Whether the ring stops missing after some laps in an order of its own, which proves that it fits the first level. That it does not proves
 * nothing. */
enum chase_state chase_settles(struct chase_path *c, const struct chase_ring_spec *ring, bool *does);
/* Whether the first level, whose geometry is known, holds more in a launch without shared memory: level->lent. Loads of
 * `kind` have records that go past that level, `room` of them. */
enum chase_state chase_lent(struct chase_path *c, unsigned kind, uint32_t room);
/* Steps that every level above k - 1 misses, as far as it is known, and no smaller than need be. */
uint64_t chase_step(const struct chase_path *c, unsigned k, uint64_t unit, double footprint);
/* Bytes from one access to the next. A lap over pieces of lines may cost every SM more than what is timed; one piece of
 * each line then does as well. */
uint64_t chase_coarser(const struct chase_path *c, unsigned k, uint64_t stride, double footprint);

/* Facts of level k. Each fills level[k]'s fact and returns its state. They build on each other, in this order. */
enum chase_state chase_size(struct chase_path *c, unsigned k);
enum chase_state chase_line(struct chase_path *c, unsigned k);
enum chase_state chase_ways(struct chase_path *c, unsigned k); /* and sets; may correct size for hashed sets */

/* Line, ways and sets at once, for the first level of a path, where sets are not hashed. UNDECIDED: ask chase_line. */
enum chase_state chase_one_set(struct chase_path *c, unsigned k);
/* Size, then line, ways and sets, by whichever way leads there. */
enum chase_state chase_geometry(struct chase_path *c, unsigned k);

/* Whether the level before memory may be the open rows of the memory itself. Those answer faster, fall into sets of
 * banks, and are forgotten, as lines of a cache are. Only their size gives them away: nobody has lines as long as rows.
 * The levels behind one may be the memory's as well, while none has a known size and each is hardly slower than the one
 * before. Returns the number of the first such level, or UINT_MAX. Ask after the geometry. *sure: it is as long as rows
 * are, and cannot be a level; else nobody knows, and chase_rows_why says so. */
unsigned chase_rows_level(const struct chase_path *c, bool *sure);
#define CHASE_MEANS_LEAST 1	/* cycles, ... */
#define CHASE_MEANS_PART  0.005 /* ... and of a latency, by which means over many lines differ that are of one level */
/* Whether the first level of a path is one in the SM. What answers the path first is laid beside what answers loads
 * that pass the SM's caches. Both were walked. The latter may have been seen while the clock was fast. */
enum chase_side {
	CHASE_NEARER, /* by more than one level's lines and a kernel's ways differ: a cache of the SM */
	CHASE_AS_FAR, /* no nearer than means of one level differ by, if at all: none */
	CHASE_UNTOLD  /* between the two: a cache that is hardly faster, or none */
};
enum chase_side chase_side_of(const struct chase_path *near, const struct chase_path *past);
/* Whether a cache that is as far as the L2 overflows where loads past the L1 found that this does. */
bool chase_common_l2(const struct study *s, const struct chase_level *l);
/* One verdict for size, line, sector, ways and sets of the cache that prefix names. */
void chase_say_geometry(struct study *s, const char *prefix, enum verdict v, const char *because);
/* A fact that was decided is MEASURED, as fmt says; of another one its reason is told. */
void chase_conclude_fact(struct study *s, const char *key, const struct chase_fact *f, const char *method,
			 const char *evidence, const char *fmt, ...) __attribute__((format(printf, 6, 7)));
/* Of a path ("constant"), chase_say_nothing says that nothing is known of its levels. The second says that levels
 * `from` .. `end` - 1 are not there. The third notes the sizes of those that are, in a figure over the footprint. */
void chase_say_nothing(struct study *s, const char *path, const char *why);
void chase_say_absent(struct study *s, const char *path, unsigned from, unsigned end);
void chase_note_sizes(const struct study *s, struct figure *f, const char *path, unsigned levels);
extern const char chase_rows_why[], chase_untold_why[];

/* Bytes on a path that the first TLB translates without a miss. What a kernel needs besides is taken off: its output,
 * and pages that begin before a footprint does. UINT64_MAX: there is none, or nobody knows. path: "global" or
 * "texture". */
uint64_t chase_translated(const struct study *s, const char *path);
/* Whether addresses from start on are more than the path's translations reach; extra as in a ring. */
bool chase_beyond_reach(const struct chase_path *c, double start, double bytes, double extra);

/* Drops levels that hold no more than the one above: classes that one level fell into. After the sizes are known. */
void chase_merge(struct chase_path *c);

/* Of the first `levels`, so many that are levels for certain: none of them is in doubt, and each is of known size. After all that may doubt. */
unsigned chase_sure(const struct chase_path *c, unsigned levels);

/* Latency of level k on one SM, cycles from load to use. */
#define CHASE_PARTS 6
struct chase_latency {
	double clock;  /* ticks that reading it added to an access, which value is without; NAN: none was taken off */
	double single; /* ticks of an access of one line alone, where the clock's cost was taken off */
	double value, half; /* value +- half; where UNDECIDED, NAN unless the steps of the clock alone are why */
	double
	    apart; /* cycles by which two chases and the longer one alone differ in what a coarse clock's steps cut off */
	double address_ops; /* arithmetic instructions in the chain, per load */
	bool averaged;	    /* from laps; else from the class of single accesses */
	bool brief;	    /* from short chases, where a coarse clock is faster now and then */
	unsigned parts;	    /* groups of lines with latencies of their own; 0 = lines were not told apart */
	double part[CHASE_PARTS], part_share[CHASE_PARTS]; /* relative to value, ascending */
};
enum chase_state chase_latency(struct chase_path *c, unsigned k, uint32_t sm, struct chase_latency *out);
/* SMs to sample: all up to `most`, else `most` spread evenly. Returns how many were written. */
unsigned chase_placements(const struct device_info *d, unsigned most, uint32_t *sm);

/* ---- from facts to findings; prefix is "cache.constant.l1" ---- */
void chase_conclude_geometry(struct chase_path *c, unsigned k, const char *prefix);
/* Of the first level of a path that begins in the SM: what the judge says. False: it says nothing, as nothing was seen to overflow. */
bool chase_conclude_judged(struct chase_path *c, const char *prefix);
/* Level k was never seen to overflow. Its size is what held of the largest footprint, and what takes conflicts is
 * UNDECIDED. Text `top` says that the footprint fits, for the sentence that says why. */
void chase_leave_endless(struct chase_path *c, unsigned k, const char *top);
#define CHASE_PLACEMENTS 160
struct chase_placed { /* one level over the SMs sampled */
	enum chase_state state;
	double mean, lo, hi;
	unsigned sms;
	double address_ops;
	bool averaged;
	/* If UNDECIDED: cycles that are open from lo to hi, as by the steps of the clock or by how SMs differ. NAN:
	 * nobody knows them. */
	double rough;
	struct chase_latency first; /* on the first SM */
	char why[240];
};
void chase_latency_over(struct chase_path *c, unsigned k, unsigned most, struct chase_placed *out);
/* Takes the address arithmetic off. False when its latency has not been measured. */
bool chase_take_off(const struct study *s, struct chase_placed *l);
void chase_conclude_latency(struct study *s, const char *key, struct chase_placed *l);
/* The memory's latency from that of its open rows, level `rows`, when too few accesses close any to know theirs. It is
 * as long, or as much longer as closing a row is seen to take. A latency that is known is left as it is. */
void chase_rows_served(const struct chase_path *c, unsigned rows, const struct chase_placed *open,
		       struct chase_placed *memory);
/* Mean and slowest single access against footprint, of points of one kind on SM 0. near: the key of the latency that the smallest has. */
int chase_draw(const struct study *s, const struct series *series, const char *near, unsigned kind, const char *name,
	       const char *title, struct figure_list *out, struct figure **figure);

/* Peaks in ticks; exposed for tests. v is reordered. Returns how many, ascending. */
struct chase_peak {
	double centre, share;
	double
	    first; /* of the peaks that lie too near to be told apart, of which the highest is the centre, the fastest one */
};
unsigned chase_peaks(uint32_t *v, uint32_t n, uint32_t grain, double min_share, struct chase_peak *out, unsigned max);

/* ---- average latency over the footprint, as Wong's Figures 10 to 12, 17 and 18 ---- */
/* Asks for the points around the size of one level, around which sets overflow one after the other. They are `stride`
 * bytes apart, or more if those are too many; with `wide` they are from several SMs. A level whose size, line or sets
 * are not known has none. */
void chase_zoom_ask(struct chase_path *c, unsigned k, double stride, bool wide);
/* The figure of one level, from what the findings under prefix say; none when there are no points. 0 or -1. */
int chase_zoom_draw(const struct study *s, const struct series *series, const char *prefix, double stride,
		    const char *name, const char *title, struct figure_list *out);
/* The same over all levels whose size is known, up to a little more than the last of them, from several SMs, by its lines. */
void chase_spread_ask(struct chase_path *c, unsigned levels);
/* prefix: "cache.constant". */
int chase_spread_draw(const struct study *s, const struct series *series, const char *prefix, const char *name,
		      const char *title, struct figure_list *out);

#endif
