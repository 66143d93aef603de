/* TLBs from rings over pages. A path is one way to memory whose accesses are translated: loads past the L1, or texture
 * fetches. A translation's cost is the difference of two accesses to one line. The line is once the first access to its
 * page (the opener), and once follows another access to that page (the follower). So the line's place, and the cache
 * that has it, cancel. A cost that depends on how many pages were visited in between, and not on how many lines, is a
 * TLB's. */
#ifndef FATHOM_TLB_H
#define FATHOM_TLB_H
#include "judge/pages.h"
#include "probe/chase.h"

/* Experiments "global" and "texture"; x is how many pages are visited. */
enum ring_param {
	RING_STRIDE, /* bytes between pages */
	RING_FROM,   /* pages from this one on ... */
	RING_OFFSET, /* ... lie so many bytes further */
	RING_EXTRA,  /* the last page lies at this number of strides; 0: where it would anyway */
	RING_LINES,  /* of each page, visited in as many laps */
	RING_ORDER,  /* pages are visited in steps of this many; 1: ascending */
	RING_BYTES,  /* of the buffer */
	RING_TURNS,  /* of the whole ring that are timed */
};
#define RING_PARAM_NAMES                                                                                               \
	{                                                                                                              \
		"stride", "from", "offset", "extra", "lines", "order", "buffer", "turns"                               \
	}
#define RING_PAGE 2048u	 /* bytes from a page's first on that are read: fewer than any page has */
#define RING_MOST 16384u /* pages */
#define RING_LINE 64u	 /* bytes between lines */

int ring_setup_global(const struct study *s, double x, const double *p, struct job *j);
int ring_setup_texture(const struct study *s, double x, const double *p, struct job *j);

#define TABLE_LEAST                                                                                                    \
	0.5 /* of the way from a cache of data to the memory: what reads page tables beyond that cache costs no less */

/* Nothing lies between its members: it is compared by its bytes. */
struct tlb_ring {
	uint64_t stride, offset;
	uint32_t pages, from, extra;
	uint32_t lines, order; /* lines 0: as many as the path needs; order 0: far from ascending */
	uint32_t turns;	       /* 0: as many as usual */
};

/* One ring, read back. */
struct tlb_view {
	uint32_t pages, lines, visits; /* visits timed, whole laps over the pages */
	uint32_t order;
	uint32_t skipped;      /* visits to pages of which a cache in front of the TLB had both lines */
	const uint16_t *ticks; /* opener and follower of each visit */
	float *cost;	       /* of each visit's opener beyond the same line as a follower; NAN: not seen as both */
	const bool *
	    moved; /* visits whose cost allows for a clock that was faster at one of both, by an estimate; NULL: none */
};
/* Page of visit v. */
uint32_t ring_page(const struct tlb_view *w, uint32_t v);
/* The visit in which the line that opens v is the follower. */
uint32_t tlb_other_role(const struct tlb_view *w, uint32_t v);

#define GAP_LEAST     3.0 /* cycles within which costs are one */
#define TLB_ODD	      8
#define ROW_COST_MOST 100 /* cycles: no memory takes longer to open a row */
#define TLB_STEPS     5	  /* levels, and the walk behind the last of them */
/* What seems a level. ROWS of the memory: pieces smaller than any page conflict, or it comes on top of other levels' costs. TABLES: more data made it
 * miss, or nothing tells it from page table entries in a cache of data. */
enum tlb_is { TLB_IS_LEVEL, TLB_IS_ROWS, TLB_IS_TABLES };
struct tlb_level {
	double floor; /* cost from which the level was missed */
	double noise; /* how often a visit costs so much without a miss */
	bool blurred; /* single visits do not tell: only what many pages have in common does */
	enum tlb_is is;
	double piece; /* of those, what one costs beyond what all pages do; NAN: none was seen */
	struct chase_fact reach, line, entries, ways, sets;
	bool judged;			  /* one shape explains every ring of the path, and no other one does */
	bool shown;			  /* that it has sets, which need not all be known */
	uint32_t set_size[64], set_count; /* of unequal sets */
};
struct tlb_price {
	enum chase_state state;
	double value;  /* cycles of a page's first access beyond those of a later one */
	double loose;  /* and so much more or less of them with each page, or with all of them, for another reason */
	double either; /* of hits: and so much more or less of them in each cost, beyond the half of what they cost */
	bool usual;    /* none of it was seen while the SM's clock was faster */
	double low, high; /* between which a clock that counts by several leaves it */
	char why[240];
};
/* The paths, by their experiments. */
enum { TLB_ON_GLOBAL, TLB_ON_TEXTURE };

/* DROPPED: a ring of some pages told nothing. UNCLEAR: costs came up that are no level's. */
enum tlb_clarity { TLB_CLEAR, TLB_DROPPED, TLB_UNCLEAR };

struct tlb_path {
	struct study *study;
	unsigned experiment; /* TLB_ON_ ... */
	const char *name;    /* "global" */
	uint64_t bytes;	     /* the buffer */
	uint64_t whole;	     /* the largest power of two in it */
	uint32_t lines;	     /* over all pages, that a cache in front of the TLB does not hold; 0: there is none */
	/* what a closed row of the memory costs; some costs have it in them and others do not; 0: none */
	double rows;
	/* Some pages cost so much more although their lines are at hand. No row makes that, as no memory is asked.
	 * 0: nothing is known of it. */
	double no_row;
	/* lines of a page lie in several rows, so that the cost of one never comes upon all pages of a ring */
	bool rows_short;
	/* as `rows`: the most that pages of this path or another cost by what may or may not be rows */
	double maybe_rows;
	double swing; /* ratio by which the SM's clock ran faster now and then, at most */
	double swing_least;
	bool bare; /* no cache answers loads of global memory: none keeps what walks read */
	/* learned */
	double step[TLB_STEPS + 1];  /* cost of a hit in level k beyond one in the first; the last one is the walk's */
	double near[TLB_STEPS + 1];  /* the least that a ring had of it whose lines were at hand; INFINITY: none had */
	double least[TLB_STEPS + 1]; /* the least that any ring had of it */
	unsigned steps;		     /* step[0] = 0 counts */
	double grain;		     /* cycles that the clock counts at once */
	double gap;		     /* costs nearer than this are one */
	double sigma;		     /* of one visit's cost */
	double front;		     /* ticks up to which a cache in front of the TLB answered; 0: there is none */
	double slowest, quickest;    /* ticks of a follower, the medians of the survey's slowest and quickest rings */
	double beyond;		     /* of the quickest ring that no cache in front of the TLB answered */
	uint32_t most_pages;	     /* of a ring that told a cost */
	bool is_covered;	     /* the last ring told nothing, because a cache in front of the TLB answered */
	enum tlb_clarity clarity;
	double odd[TLB_ODD]; /* of UNCLEAR costs those that are more than nothing */
	unsigned odd_count;
	unsigned level_count;
	struct tlb_level level[TLB_STEPS];
	struct tlb_price price[TLB_STEPS + 1]; /* of what misses level k - 1; the first one is that of hits */
	char why[240];
};

/* Chances and sizes that looks at rings have in common. */
#define TLB_COST_ALIKE 0.03 /* of a cost, by which single visits differ from it */
#define TLB_LAP_LEAST                                                                                                  \
	0.8 /* misses of a lap, of which one is certain where the ring does not fit: so many at least ... */
#define TLB_LAP_MOST   0.6 /* ... and at most where it fits */
#define TLB_SURE_NOT   8   /* standard deviations */
#define TLB_TOLD       0.9 /* of the visits have to say something */
#define TLB_ROW_MISSES 2.5 /* of a lap, two of which one more row makes */
#define TLB_SKIPPED    0.01
#define TLB_LOOKS      2
#define TLB_LOOK_MOST  32768u /* visits */
/* Whether a visit cost as much as a miss of level k. */
static inline bool tlb_missed(const struct tlb_path *c, unsigned k, float cost)
{
	return cost >= (float)c->level[k].floor; /* false for NAN */
}
/* Whether it cost as much less than a hit as a miss costs more. */
static inline bool tlb_is_low(const struct tlb_path *c, unsigned k, float cost)
{
	const float hit = (float)c->step[k], rise = (float)c->level[k].floor - hit;

	return cost <= hit - rise && cost < -(float)c->gap;
}

/* Leaves out what a cache in front of the TLB answered: c->front. */
void tlb_cover(const struct tlb_path *c, struct tlb_view *w);
/* How much more slowly the rest of the GPU answered while the SM's clock ran faster. 1: nothing of it is seen. The
 * array pace[visits] is all TLB_USUAL before, and says which visits met that clock.
 *
 * Openers that cost from `from` on and less than `below` tell it if a cache in the SM answers followers. Such a cache
 * runs at the SM's own clock, so that only translation is late. from NAN: followers tell it. */
enum tlb_pace { TLB_USUAL, TLB_FAST, TLB_CHANGES };
double tlb_clock(const struct tlb_path *c, const struct tlb_view *w, double from, double below, enum tlb_pace *pace);
/* Steps in which pages are visited, with nothing in common with their number: 0 one by one, else several ways. */
uint32_t tlb_order(uint32_t pages, unsigned which);
/* Turns of the whole ring that are timed. */
uint32_t tlb_turns(const struct tlb_path *c, const struct tlb_ring *ring);
/* Lines of each page that the ring reads. */
uint32_t tlb_lines(const struct tlb_path *c, const struct tlb_ring *ring);
enum chase_state tlb_get(struct tlb_path *c, const struct tlb_ring *ring, struct tlb_view *out);
/* Rings over the same pages in the orders from `first` to `last`, all asked for at once; `add` gets each that is there. */
enum chase_state tlb_over_orders(struct tlb_path *c, const struct tlb_ring *ring, unsigned first, unsigned last,
				 uint32_t turns, void (*add)(void *ctx, unsigned order, const struct tlb_view *w),
				 void *ctx);
/* The costs that occur, from rings over the whole buffer. Fills step and steps. */
enum chase_state tlb_survey(struct tlb_path *c);
/* How much the cost of one page differs from visit to visit. */
double tlb_sigma(struct tlb_path *c, const struct tlb_view *w);
/* How often a visit of the survey's rings costs so much more than it should without a miss. In `centre` is what each
 * ring's pages cost, or NAN if not all cost the same. */
double tlb_noise(const struct tlb_view *w, unsigned rings, const double *centre, double rise);
/* Whether pages of a ring that tells no cost cost nothing all the same. */
bool tlb_is_even(const struct tlb_path *c, const struct tlb_view *w);
/* Whether a cache, and not the memory, had a ring's lines: c->slowest. */
bool tlb_at_hand(const struct tlb_path *c, const struct tlb_view *w);
/* Whether lines of no ring of the survey were: they all came from memory. */
bool tlb_none_quick(const struct tlb_path *c);
/* A cost that many pages of one of the survey's rings have. */
#define TLB_SURVEY_RINGS 64
#define TLB_SHARE_REAL	 0.6 /* of the pages of a ring have a cost where it is a level's */
#define TLB_SHARE_ALL	 0.9 /* of them cost what short rows do not make so many cost */
#define TLB_ROWS_ALIKE	 0.1 /* of what a row costs, by which it may differ */
struct tlb_seen {
	double centre, share; /* of its pages */
	unsigned ring;
	uint32_t pages;
};
/* Leaves out, of n costs of one ring, those that come as often as their negatives do. One line of such a page was at
 * hand. It was the opener in one case and the follower in the other. Returns how many are left. */
unsigned tlb_without_whims(const struct tlb_path *c, struct tlb_seen *seen, unsigned n);
/* The steps from what was seen, and rows where they show. near: a flag for each of TLB_SURVEY_RINGS rings, whose lines were at hand. */
void tlb_steps_from(struct tlb_path *c, struct tlb_seen *seen, unsigned n, const bool *near);
/* Fills near and least. */
void tlb_near_steps(struct tlb_path *c, const struct tlb_seen *seen, unsigned n, const bool *near);
/* Survey ring k: at this stride, as many pages as the buffer has. */
#define TLB_SURVEY_MOST 14
uint32_t tlb_survey_pages(const struct tlb_path *c, unsigned k);
unsigned tlb_survey_least(const struct tlb_path *c);
uint64_t tlb_survey_stride(const struct tlb_path *c, unsigned k);
/* Whether the last cost seen may be a hit in one more level, which reaches as far as the memory and so is never missed.
 * The cost is less than what a walk reads takes, and published GPUs have more levels. */
bool tlb_is_behind(const struct tlb_path *c);
/* Whether the last cost is at least what reading a table takes. */
bool tlb_is_walk(const struct tlb_path *c);
/* What the cheapest page costs beyond one that hits level k. */
double tlb_least_cost(const struct tlb_path *c, unsigned k);
/* Median cost of each page, in any order; returns how many were seen. *each: visits that one median is of. Pages that cost
 * now this and now that count, but have no cost: *mixed of them. NULL: have one all the same. */
size_t tlb_page_costs(struct tlb_path *c, const struct tlb_view *w, double *out, double *each, size_t *mixed);
/* What rings over the same pages say by when openers answered, and when followers did: tlb_roles.c. */
struct tlb_roles;
struct tlb_roles *tlb_roles_new(struct arena *a);
void tlb_roles_add(const struct tlb_path *c, const struct tlb_view *w, struct tlb_roles *r);
/* Once all rings of so many laps have been added: finds where misses of level k show. False: nowhere. */
bool tlb_roles_places(const struct tlb_path *c, unsigned k, double laps, struct tlb_roles *r);
/* Each ring once more: counts each page's visits of which a miss would have shown, landing[pages]. */
void tlb_roles_look(const struct tlb_path *c, const struct tlb_view *w, const struct tlb_roles *r, uint32_t *landing);
/* 1: the pages fit, -1: they do not, 0: it does not tell. landing: of the page that has the fewest. */
int tlb_roles_say(const struct tlb_roles *r, double laps, double landing);
/* All that a look at a ring depends on: the key of what is kept of it. */
struct tlb_look {
	struct tlb_ring ring;
	uint64_t bytes;
	double step[TLB_STEPS + 1], odd[TLB_ODD], rows, grain, gap, sigma, front, floor, noise;
	uint32_t experiment, k, steps, odd_count, lines, blurred;
};
void tlb_look_of(const struct tlb_path *c, unsigned k, const struct tlb_ring *ring, struct tlb_look *key);
/* Does level k hold all pages of the ring? */
enum chase_state tlb_fits(struct tlb_path *c, unsigned k, const struct tlb_ring *ring, bool *fits);
/* Geometry of level k; those above have to be known. Fills its facts. PENDING or DONE, whatever could be decided. */
enum chase_state tlb_geometry(struct tlb_path *c, unsigned k);
/* What the judge makes most probable of level k, beside all rings of the path. False: nothing. */
bool tlb_judge(struct tlb_path *c, unsigned k, struct pages_result *out);
/* The verdict on all keys together. OPEN as well if rings that the rules looked at refute the shape. */
enum judge_verdict tlb_judge_verdict(const struct tlb_path *c, unsigned k, const struct pages_result *j);
/* Fills a level's facts from a shape. */
void tlb_know(struct tlb_level *l, const struct pages_shape *q);
/* Pages that the levels before level k hold at this stride, at most. UINT64_MAX: as many as they have entries. */
uint32_t tlb_hidden(const struct tlb_path *c, unsigned k, uint64_t stride);
/* One ring as level k saw it, in the arena. laps is 0 where it does not tell. False: out of memory. */
bool tlb_judge_ring(struct arena *a, const struct tlb_path *c, unsigned k, const struct tlb_ring *ring,
		    const struct tlb_view *w, struct judge_ring *r);
/* Clearly more than so many pages, as far as the buffer has them; one more at least. */
uint32_t tlb_some_more(const struct tlb_path *c, uint32_t pages, uint64_t stride);
/* Refuses level k where it may be page table entries in a cache of data. PENDING or DONE. */
enum chase_state tlb_or_tables(struct tlb_path *c, unsigned k);
/* Refuses level k where it may be the open rows of the memory, and says if it is. PENDING or DONE. */
enum chase_state tlb_or_rows(struct tlb_path *c, unsigned k);
/* Whether a shape is what rows of a memory look like: sets of one entry, no larger than rows are and no dearer. */
bool tlb_are_as_rows(const struct tlb_path *c, unsigned k, const struct pages_shape *q);
/* Its ways and sets, where its reach is known. */
enum chase_state tlb_sets(struct tlb_path *c, unsigned k);
/* Takes back what is known of a level. */
void tlb_refuse(struct tlb_level *l, const char *why);
/* What a page costs that misses level k - 1 and no other, for k up to level_count. A k of 0 asks for the cost of a hit.
 * That level's geometry has to be known. */
enum chase_state tlb_price_of(struct tlb_path *c, unsigned k, struct tlb_price *out);
/* Visits of a lap that cost what a miss of level k does, beyond those that cost as much less than a hit. Noise comes
 * upon openers and followers alike, and is in both. So is a clock that changes its rate between the two accesses to a
 * line. */
struct tlb_surplus {
	double each;   /* of a lap */
	double chance; /* one standard deviation of that */
};
struct tlb_surplus tlb_surplus_of(const struct tlb_path *c, unsigned k, const struct tlb_view *w);
/* Whether one page more makes no more visits miss than the open rows of a memory would. Those make two miss: its own,
 * and that of the page whose row it closed. The surplus `less` is of as many pages as fit, `more` of one more. */
bool tlb_as_rows(const struct tlb_surplus *less, const struct tlb_surplus *more);
/* Counts a ring's visits that cost as much as a miss of level k, and those that cost as much less than a hit. All
 * visits are counted in `visits`. */
enum chase_state tlb_balance(struct tlb_path *c, unsigned k, const struct tlb_ring *ring, double *high, double *low,
			     double *visits);
int tlb_draw(const struct study *s, struct figure_list *out);
/* Rings that only the figures need. */
void tlb_ask_figures(struct tlb_path *c);

#endif
