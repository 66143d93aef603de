/* Loads of each size from each memory, timed from outside: what the files of this folder share. */
#ifndef FATHOM_WALK_H
#define FATHOM_WALK_H
#include "probe/launch_time.h"
#include "probe/probe.h"

enum walk_space { SPACE_GLOBAL, SPACE_SHARED, SPACE_CONSTANT, SPACE_PRIVATE, SPACES };
enum { CLOCK_WORDS = 2 };	  /* in front of the words of a launch that writes its clock */
enum { STREAMS = SPACE_PRIVATE }; /* private memory has none */
enum {
	EXPERIMENT_COLD = SPACES + STREAMS,
	EXPERIMENT_COPY,
	EXPERIMENT_ALONE,
	EXPERIMENT_TOGETHER /* and behind it one for each space with streams but the first: their warps stop with the first */
};
extern const char *const walk_space_name[SPACES];
/* Why nothing is said of constant memory where what runs cannot be read back. */
extern const char walk_unseen[];

/* params of all experiments; x is bytes. For walks P_MORE says whether words are addresses, and for cold walks which
 * region. For streams it is how many warps an SM has, and for copies which loop. For streams and copies P_PLACE is the
 * place in their array at which they begin. */
enum { P_LINKS, P_ROUNDS, P_REPEATS, P_MORE, P_PLACE };

struct walk_clock {
	double timer; /* ns: how well the timer of launches tells them apart */
	double hz;    /* at which the SM's clock runs, by that timer; 0: not known */
};

/* Links of the two loops of a pair. */
struct walk_loops {
	unsigned few, many;
};
/* What a step takes in this experiment. */
struct timed walk_ask(struct study *s, unsigned experiment, unsigned bytes, unsigned more, struct walk_loops loops,
		      const struct walk_clock *clock);

/* all: repeats from the beginning, as some of this kind are known to be disturbed. */
struct timed walk_ask_all(struct study *s, unsigned experiment, unsigned bytes, unsigned more, struct walk_loops loops,
			  bool all, const struct walk_clock *clock);

/* walk_shorter.c: loops that are so much shorter than usual that their instructions come in time if any do. */
extern const struct walk_loops walk_short_loops;
/* Why walks do not tell. The loops of walks through memory are too long, and there are no shorter ones of this one, or
 * not even those tell. */
extern const char walk_late_too[], walk_always_late[];
/* Whether the code of the longer loop is known to have room in the first instruction cache. */
bool walk_has_room(const struct study *s, unsigned experiment, const struct timed *walk);
/* Whether a step takes longer than one of another pair of loops, by more than both are known. */
bool walk_is_later(const struct timed *walk, const struct timed *than);
/* Whether the instructions of the longer one of these loops come late. A step then takes longer in the second half of
 * what they differ by than in the first. */
bool walk_bends(struct study *s, enum walk_space space, struct walk_loops loops, const struct walk_clock *clock);
/* What a step takes round a few places of shared, constant or private memory, by these loops. Shorter ones tell it if
 * the instructions of these come late. late: instructions of longer loops come late. *why: NULL, or why neither
 * tell. */
struct timed walk_in_time(struct study *s, enum walk_space space, struct walk_loops loops, bool late,
			  const struct walk_clock *clock, const char **why);

/* A verdict without a value for memory.<space>.<bytes>.<part>. */
void walk_verdict(struct study *s, enum walk_space space, unsigned bytes, const char *part, enum verdict v,
		  const char *because);
/* Why the time could not be had, as a verdict. False: it could. */
bool walk_failed(struct study *s, enum walk_space space, unsigned bytes, const char *part, const struct timed *t);

/* cold_walk.c: walks of one size through each region, without their pauses.
 *
 * The counts are of walks of each region, of all sizes:
 *
 *   told    that have a time
 *   code    of those, whose longer loop took longer for a step than the shorter one
 *   pages   that took not as long for a step in half as many rounds, as pages were translated
 *   longer  that took longer for a step in all rounds than in half of them
 *
 * Places of a memory answer at unlike speeds, but the slow ones are not always the longer loop's, or those of more
 * rounds. If they are, instructions did not come as fast, or pages were translated that were at hand before. */
enum {
	WALK_SIZES = 5, /* of loads: 1 to 16 bytes */
	COLD_PLACES = 3 /* memories answer some places later than others */
};
struct cold {
	struct walk_loops loops;
	struct timed raw[WALK_SIZES]; /* of the first region, with its pauses */
	struct timed walk[WALK_SIZES][COLD_PLACES];
	unsigned told[COLD_PLACES], code[COLD_PLACES], pages[COLD_PLACES], longer[COLD_PLACES];
};
void cold_ask(struct study *s, struct walk_loops loops, const struct walk_clock *clock, struct cold *c);
/* So many regions, from the first one on, say what a load takes; or why they do not. */
extern const char cold_late[];
unsigned cold_good(const struct cold *c, const char **why);
/* What they say. */
struct timed cold_walk(const struct timed *walk, unsigned good);
/* Whether one pause more does not always take as long between loads of shared memory. Pauses then do not take what is
 * taken off for them. Instructions of loops as long are not at hand, either. A longer loop's steps may still seem as
 * long if all wait for translations. */
bool cold_uneven(struct study *s, const struct cold *c, const struct walk_clock *clock);
/* Whether steps take unlike long in both halves of what the loops differ by. The longer loop then has no room in the
 * first instruction cache. The more of it has none, the more of its instructions come late. In the first region nothing
 * else shows that. False as well if an older recording does not say. */
bool cold_bends(struct study *s, const struct cold *c, const struct walk_clock *clock);
/* As cold_uneven, with loops that are so much shorter that their instructions come in time if any do. A step in the
 * first region takes as long, or less. It is LATE if it is not as long in both halves of what these differ by, so that
 * theirs come late, too. UNKNOWN: not yet, or it cannot be had. */
enum cold_code { COLD_UNKNOWN, COLD_AS_LONG, COLD_SHORTER, COLD_LATE };
enum cold_code cold_compare(struct study *s, const struct cold *c, struct walk_loops loops,
			    const struct walk_clock *clock);

/* near_walk.c: what the walks take that stands in front of a load; it is taken off. */
struct more {
	double ns, unsure;
	bool told;	   /* false: it could not be had */
	double of_another; /* ns: it was measured around words of another size, which compilers may treat differently */
};

/* Walks round a few places of global memory, and what making an address of a number takes. */
struct near {
	struct timed number, pointer, walk[WALK_SIZES];
	struct more more;
	const char *why; /* NULL, or why walks of numbers tell only where all take as long */
};
void near_ask(struct study *s, struct walk_loops loops, const struct walk_clock *clock, struct near *n);
/* Whether two walks of the same instructions take as long. The first repeats of both were as good as exact, so that
 * others were not asked for. */
bool near_alike(const struct timed *a, const struct timed *b);
/* Asked if these loops may have no room in the first instruction cache. The place of the code then decides how many of
 * their instructions come late. So walks of numbers take unlike long although they have the same ones. Steps of shorter
 * loops that take less are put in their place.
 *
 * late: instructions of walks through memory come late. cold_shorter: shorter loops told of those. */
void near_in_time(struct study *s, bool late, bool cold_shorter, const struct walk_clock *clock, struct near *n);

/* stream.c: independent loads. The experiment of a space is SPACES + space; together: EXPERIMENT_TOGETHER + space - 1. */
int stream_setup(const struct study *s, enum walk_space space, bool together, double x, const double *p, struct job *j);
/* Of one warp on each SM, from global memory: EXPERIMENT_ALONE. */
int alone_setup(const struct study *s, double x, const double *p, struct job *j);
void stream_study(struct study *s, enum walk_space space, const struct walk_clock *clock);
/* As many threads as SMs take for certain. */
void stream_grid(const struct device_info *d, struct job *j);
/* Adds the array of which a launch reads `bytes` from the place that p names on. All launches have the same array, as
 * far as it suffices. False: the memory is too small. */
bool stream_array(const struct device_info *d, struct job *j, uint64_t bytes, const double *p);
/* The time of a link of this pair, whose launches read such an array, at a few places of it. On one GPU some launches,
 * of one place or another, took up to 14 % longer than others. So a place or two that are slower do not count for the
 * value, only for its interval. Faster ones do not, either, if most places are alike: the SM's clock may have been
 * faster for one of two lengths. */
struct stream_places {
	unsigned seen, slower, faster; /* places, and those that do not count */
	double most;		       /* by so much the slowest takes longer, of the value */
	bool uneven;		       /* the longer launch waited for what the shorter did not */
};
extern const char stream_uneven[]; /* the same, as a reason */
/* The mean of those times that most have in common, of as many the least ones. */
double stream_usual(const double *ns, unsigned n, struct stream_places *places);
/* Whether a link takes longer, at half of the places at least, by the difference than in the longer launch as a whole.
 * That launch has a beginning and an end beside its links, too. */
bool stream_is_uneven(const struct timed *place, unsigned n);
struct timed stream_ask(struct study *s, const struct timed_pair *k, double timer, struct stream_places *places);
/* Adds to a sentence what there is to say of them. */
void stream_say(char *out, size_t n, const char *how, const struct stream_places *places);
/* A pair of launches of this folder's kernels, as far as all of them are alike. */
struct timed_pair walk_pair(unsigned experiment, unsigned bytes, unsigned more);

/* copy.c: the kernel with which Lemeire measures bandwidths, by its loop. */
int loop_setup(const struct study *s, double x, const double *p, struct job *j);
void loop_study(struct study *s, const struct walk_clock *clock);
int loop_draw(const struct study *s, struct figure_list *out);

#endif
