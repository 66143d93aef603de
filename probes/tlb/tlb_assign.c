/* Sets of which some pages hide, or seem to be of several: what rings without those pages say. Where pages take turns in missing, one that never did,
 * or that missed in rows of many sets as the kernel's own does, is of the set that holds one page more of it as soon as it is left out. And a page is of
 * no set that still does not hold one more without it: nor are two sets parts of one if that is so of pages of the other one. */
#include "base/arena.h"
#include "tlb.h"
#include <string.h>

#define ORDERS	   3  /* in which pages have to fit */
#define OPEN_PART  4  /* of the pages, one in so many at most, ... */
#define OPEN_MOST  32 /* ... and no more, may be of no set by what was seen */
#define TRIES_MOST 8  /* sets that a page may be of */
#define GAPS_MOST  6  /* runs of pages that are left out for each set */
#define PAIRS                                                                                                          \
	0.75 /* of the neighbours are of one set where an entry covers both; of places by chance half at most are */
#define GAP_PART 2 /* of the pages, one in so many stays at least: fewer may be held by a level above */

struct sets {
	const struct tlb_rooms *rooms;
	const struct tlb_conflicts *rows;
	const uint32_t *past; /* of each row's extra page, in lines behind the reach */
	uint32_t n;
	uint32_t *of;	/* each row's set */
	uint32_t *page; /* each page's, from 1 on; 0: none yet */
	uint32_t *in;	/* how many rows of each set have a page */
	uint32_t *each; /* how many rows each set has */
	bool *vague;	/* pages that may be of another set */
	bool *apart;	/* for each set and page: whether it is known not to be of it; and for each two sets */
	bool *tried;	/* runs of pages, by where they begin, that told nothing of a set */
};

static uint32_t row_of(const struct sets *s, uint32_t set)
{
	uint32_t i = 0;

	while (s->of[i] != set)
		i++;
	return i;
}

static void count_rows(const struct sets *s, uint32_t q)
{
	memset(s->in, 0, s->n * sizeof(*s->in));
	for (uint32_t i = 0; i < s->rows->rows; i++)
		s->in[s->of[i]] += s->rows->hot[(size_t)i * s->rows->n + q];
}

/* A page that is in all rows of one set, and in none of another, is of that one. Returns how many are not. */
static uint32_t assign_plain(const struct sets *s)
{
	uint32_t open = 0;

	for (uint32_t q = 0; q < s->rows->n; q++) {
		uint32_t all = 0, some = 0;
		count_rows(s, q);
		for (uint32_t k = 0; k < s->n; k++) {
			some += s->in[k] > 0;
			all = s->in[k] == s->each[k] ? k + 1 : all;
		}
		s->page[q] = some == 1 ? all : 0;
		open += !s->page[q];
	}
	return open;
}

static void add_try(uint32_t *set, unsigned *n, uint32_t k)
{
	for (unsigned i = 0; i < *n; i++)
		if (set[i] == k)
			return;
	if (*n < TRIES_MOST)
		set[(*n)++] = k;
}

/* The set of the extra page that lies behind the reach as far as page q behind the first one, or one page further than one of the set of its
 * neighbour: 0 where none was asked for. */
static uint32_t in_turn(const struct sets *s, uint32_t q)
{
	for (uint32_t i = 0; i < s->rows->rows; i++)
		if (s->past[i] == q)
			return s->of[i] + 1;
	for (uint32_t i = 0; q && s->page[q - 1] && i < s->rows->rows; i++)
		for (uint32_t r = 0; r < s->rows->rows && s->of[i] + 1 == s->page[q - 1]; r++)
			if (s->past[r] == s->past[i] + 1)
				return s->of[r] + 1;
	return 0;
}

/* Sets that page q may be of: those in whose rows it is, most of them first, and the one whose turn it is. */
static unsigned tries_of(const struct sets *s, uint32_t q, uint32_t *set)
{
	const uint32_t turn = in_turn(s, q);
	unsigned n = 0;

	if (turn)
		add_try(set, &n, turn - 1);
	count_rows(s, q);
	for (unsigned part = 4; part; part--)
		for (uint32_t k = 0; k < s->n; k++)
			if (s->in[k] && 4 * s->in[k] >= part * s->each[k])
				add_try(set, &n, k);
	return n;
}

/* The one set of those that page q may be of that may hold one page more once it is left out; *set is 0 if that is none, or several. One that surely does
 * is that of the page. Otherwise it is if rows have it, and it is of no other. */
static enum chase_state assign_open(const struct sets *s, uint32_t q, uint32_t *set)
{
	uint32_t tried[TRIES_MOST];
	const unsigned n = tries_of(s, q, tried);
	enum chase_state all = CHASE_DONE;
	unsigned left = 0;

	*set = 0;
	for (unsigned i = 0; i < n; i++) {
		const enum tlb_room room = s->rooms->ask(s->rooms->ctx, row_of(s, tried[i]), q, 1);
		all = room == TLB_ROOM_PENDING ? CHASE_PENDING : all;
		if (room != TLB_ROOM_MAYBE && room != TLB_ROOM_IS)
			continue;
		count_rows(s, q);
		left += room == TLB_ROOM_IS || s->in[tried[i]] ? 1 : 2;
		*set = tried[i] + 1;
		s->vague[q] = room == TLB_ROOM_MAYBE;
	}
	if (all == CHASE_DONE && left != 1)
		*set = 0;
	return all;
}

static enum chase_state assign_all_open(struct arena *a, const struct sets *s, bool *told)
{
	uint32_t *set = ARENA_ARRAY(a, s->rows->n, uint32_t);
	enum chase_state all = CHASE_DONE;

	*told = set != NULL;
	/* What one of them says is not looked at before all have been asked for: the next pass has to ask for the same. */
	for (uint32_t q = 0; set && q < s->rows->n; q++)
		if (!s->page[q] && assign_open(s, q, &set[q]) == CHASE_PENDING)
			all = CHASE_PENDING;
	if (all != CHASE_DONE)
		return all;
	for (uint32_t q = 0; set && q < s->rows->n; q++) {
		s->page[q] = s->page[q] ? s->page[q] : set[q];
		*told = *told && s->page[q];
	}
	return CHASE_DONE;
}

/* What is known not to be of a set: pages, and behind them sets. */
static bool *apart_from(const struct sets *s, uint32_t set)
{
	return s->apart + (size_t)set * (s->rows->n + s->n);
}

/* How many sets, and pages that may be of another set than theirs, are in that run and are not known to be none of this one. */
static uint32_t news(const struct sets *s, uint32_t set, uint32_t first, uint32_t count)
{
	const bool *apart = apart_from(s, set);
	uint32_t n = 0;

	memset(s->in, 0, s->n * sizeof(*s->in));
	for (uint32_t q = first; q < first + count; q++) {
		n += !s->vague[q] && !s->in[s->page[q] - 1]++ && !apart[s->rows->n + s->page[q] - 1];
		n += s->vague[q] && !apart[q];
	}
	return n;
}

/* The run of pages, none of which is of this set, with most in it that may be. Returns how many pages; 0: there is none. */
static uint32_t best_gap(const struct sets *s, uint32_t set, uint32_t *first)
{
	uint32_t best = 0, count = 0, from = 0;

	for (uint32_t q = 0; q <= s->rows->n; q++) {
		if (q < s->rows->n && s->page[q] != set + 1)
			continue;
		const uint32_t most = s->rows->n - s->rows->n / GAP_PART, run = q - from < most ? q - from : most,
			       more = s->tried[from] ? 0 : news(s, set, from, run);
		if (more > best) {
			best = more;
			*first = from;
			count = run;
		}
		from = q + 1;
	}
	return count;
}

static void set_apart(const struct sets *s, uint32_t set, uint32_t first, uint32_t count)
{
	for (uint32_t q = first; q < first + count; q++) {
		const uint32_t other = s->page[q] - 1;
		apart_from(s, set)[q] = true;
		if (s->vague[q])
			continue;
		apart_from(s, set)[s->rows->n + other] = apart_from(s, other)[s->rows->n + set] = true;
	}
}

/* Whether all is known not to be of this set that is taken for none of it. */
static bool is_apart(const struct sets *s, uint32_t set)
{
	const bool *apart = apart_from(s, set);

	for (uint32_t other = 0; other < s->n; other++)
		if (other != set && !apart[s->rows->n + other])
			return false;
	for (uint32_t q = 0; q < s->rows->n; q++)
		if (s->vague[q] && s->page[q] != set + 1 && !apart[q])
			return false;
	return true;
}

/* Whether no two sets are parts of one, and no page is of two. */
static enum chase_state are_apart(const struct sets *s, bool *yes)
{
	enum chase_state all = CHASE_DONE;

	*yes = true;
	for (uint32_t set = 0; set < s->n; set++) {
		uint32_t first = 0, count;
		memset(s->tried, 0, s->rows->n * sizeof(*s->tried));
		for (unsigned i = 0; i < GAPS_MOST && (count = best_gap(s, set, &first)) > 0; i++) {
			const enum tlb_room room = s->rooms->ask(s->rooms->ctx, row_of(s, set), first, count);
			s->tried[first] = true;
			all = room == TLB_ROOM_PENDING ? CHASE_PENDING : all;
			*yes = *yes && room != TLB_ROOM_IS;
			/* What is still to be measured is taken to tell, so that no more is asked for than has to be. */
			if (room == TLB_ROOM_PENDING || room == TLB_ROOM_NONE)
				set_apart(s, set, first, count);
		}
	}
	for (uint32_t set = 0; set < s->n; set++)
		*yes = *yes && is_apart(s, set);
	return all;
}

/* Whether two neighbours are of one set, nearly always, as if an entry covered both. page: each page's set, from 1 on; 0: none. */
static bool in_pairs(const uint32_t *page, uint32_t n)
{
	uint32_t pairs = 0, same = 0;

	for (uint32_t q = 0; q + 1 < n; q += 2) {
		pairs += page[q] && page[q + 1];
		same += page[q] && page[q] == page[q + 1];
	}
	return same >= PAIRS * pairs;
}

enum chase_state tlb_assign_by(struct arena *a, const struct tlb_conflicts *rows, const uint32_t *past,
			       const struct tlb_rooms *rooms, uint32_t *size, uint32_t most, uint32_t *sets)
{
	struct sets s = {.rooms = rooms,
			 .rows = rows,
			 .past = past,
			 .of = ARENA_ARRAY(a, rows->rows, uint32_t),
			 .page = ARENA_ARRAY(a, rows->n, uint32_t),
			 .in = ARENA_ARRAY(a, rows->rows, uint32_t),
			 .each = ARENA_ARRAY(a, rows->rows, uint32_t),
			 .vague = ARENA_ARRAY(a, rows->n, bool),
			 .apart = ARENA_ARRAY(a, (size_t)rows->rows * (rows->n + rows->rows), bool),
			 .tried = ARENA_ARRAY(a, rows->n + 1, bool)};
	bool told;

	*sets = 0;
	if (!rows->rows || !s.of || !s.page || !s.in || !s.each || !s.vague || !s.apart || !s.tried)
		return CHASE_DONE;
	s.n = tlb_sets_of_rows(rows, s.of);
	for (uint32_t i = 0; i < rows->rows; i++)
		s.each[s.of[i]]++;
	const uint32_t open = s.n >= 2 && s.n <= most ? assign_plain(&s) : rows->n;
	if (open > OPEN_MOST || OPEN_PART * open > rows->n)
		return CHASE_DONE;
	enum chase_state state = assign_all_open(a, &s, &told);
	if (state == CHASE_DONE && told && !in_pairs(s.page, rows->n))
		state = are_apart(&s, &told);
	else
		told = false;
	if (state == CHASE_PENDING || !told)
		return state;
	memset(size, 0, s.n * sizeof(*size));
	for (uint32_t q = 0; q < rows->n; q++)
		size[s.page[q] - 1]++;
	*sets = s.n;
	return CHASE_DONE;
}

struct left_out {
	struct tlb_path *c;
	unsigned k;
	const struct tlb_conflicts *rows;
	const uint32_t *past;
};

/* A level above that keeps a page of a full set makes room for it, and does so in one order of visits and not in another. */
static enum tlb_room room_without(void *ctx, uint32_t row, uint32_t first, uint32_t count)
{
	const struct left_out *o = ctx;
	const uint64_t line = o->c->level[o->k].line.value;
	struct tlb_ring ring = {.pages = o->rows->n + 1 - count,
				.stride = line,
				.from = first,
				.offset = count * line,
				.extra = o->rows->n + o->past[row] - count};

	for (unsigned which = 1; which <= ORDERS; which++) {
		bool fit = false;
		ring.order = which > 1 ? tlb_order(ring.pages, which) : 0;
		const enum chase_state state = tlb_fits(o->c, o->k, &ring, &fit);
		if (state == CHASE_PENDING)
			return TLB_ROOM_PENDING;
		if (state == CHASE_DONE && !fit)
			return TLB_ROOM_NONE;
		/* Many visits in many orders said so: what others say is not worth as many again. */
		if (state == CHASE_UNDECIDED)
			return TLB_ROOM_MAYBE;
	}
	return TLB_ROOM_IS;
}

enum chase_state tlb_assign(struct tlb_path *c, unsigned k, const struct tlb_conflicts *rows, const uint32_t *past,
			    uint32_t *size, uint32_t most, uint32_t *sets)
{
	struct left_out out = {.c = c, .k = k, .rows = rows, .past = past};
	const struct tlb_rooms rooms = {.ask = room_without, .ctx = &out};

	return tlb_assign_by(study_arena(c->study), rows, past, &rooms, size, most, sets);
}
