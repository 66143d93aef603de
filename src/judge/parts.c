#include "judge/parts.h"
#include <float.h>
#include <math.h>
#include <string.h>

#define BATCH  4  /* pages that are asked for at once */
#define GAPS   6  /* runs of pages that are left out for one set, until all others are known to be apart from it */
#define TRIES  8  /* sets that a page may be of */
#define STAYS  2  /* of the pages, one in so many stays: fewer may be held by a level above */
#define VAGUE  64 /* pages that are asked for one by one at most: each takes as long as a row */
#define COMMON 2  /* rows of one set have one in so many of the smaller one's pages in common */

struct search {
	const struct parts_asks *asks;
	uint32_t n, rows, most;	   /* most: rows that may be asked for */
	uint32_t past[PARTS_ROWS]; /* of each row */
	float *nats;		   /* of each row and page: by how many it misses beyond noise */
	bool *hot;		   /* whether those are the nats of the house */
	uint32_t of[PARTS_ROWS];   /* each row's set, from 1 on */
	uint32_t sets;
	uint32_t *page;			  /* each page's set; 0: none, or several */
	bool *vague;			  /* pages whose set rows do not tell */
	bool *apart;			  /* of each set and page: whether it is known not to be of it */
	double *told;			  /* of one row */
	bool one[PARTS_ROWS][PARTS_ROWS]; /* rows whose sets are one, as rings have said */
	bool again;			  /* come_again */
	bool pending;
};

static const bool *row_of(const struct search *s, uint32_t i)
{
	return s->hot + (size_t)i * s->n;
}

static uint32_t in_both(const bool *a, const bool *b, uint32_t n)
{
	uint32_t both = 0;

	for (uint32_t q = 0; q < n; q++)
		both += a[q] && b[q];
	return both;
}

static bool is_one(const struct search *s, uint32_t i, uint32_t k)
{
	const bool *a = row_of(s, i), *b = row_of(s, k);
	const uint32_t x = in_both(a, a, s->n), y = in_both(b, b, s->n), both = in_both(a, b, s->n);

	return s->one[i][k] || (both && COMMON * both >= (x < y ? x : y));
}

static uint32_t first_row(const struct search *s, uint32_t set)
{
	uint32_t i = 0;

	while (s->of[i] != set)
		i++;
	return i;
}

/* Rows that have pages in common are of one set. */
static void sort_rows(struct search *s)
{
	s->sets = 0;
	for (uint32_t i = 0; i < s->rows; i++) {
		uint32_t k = 0;
		while (k < i && !is_one(s, i, k))
			k++;
		s->of[i] = k < i ? s->of[k] : ++s->sets;
	}
}

/* Whether sets come again behind as many pages as fit, as nearly all do but those that a hash chooses. One page more is
 * then of the set of the page that it was asked for. */
static bool come_again(const struct search *s)
{
	uint32_t own = 0;

	for (uint32_t i = 0; i < s->rows; i++)
		own += row_of(s, i)[s->past[i]];
	return COMMON * own >= s->rows;
}

/* The set of the row that was asked for by this page; 0: none. */
static uint32_t in_turn(const struct search *s, uint32_t q)
{
	for (uint32_t i = 0; s->again && i < s->rows; i++)
		if (s->past[i] == q)
			return s->of[i];
	return 0;
}

/* By how many nats rows of a set say that a page is of it. */
static double is_of(const struct search *s, uint32_t set, uint32_t q)
{
	double sum = 0;

	for (uint32_t i = 0; i < s->rows; i++)
		if (s->of[i] == set)
			sum += fmax(0, s->nats[(size_t)i * s->n + q]);
	return sum;
}

/* What chance makes of one of all pages is no hint, as long as more rows may be asked for. */
static double hint(const struct search *s)
{
	return s->rows < s->most ? log(s->n + 1.0) : DBL_MIN;
}

/* The set that a page is dealt to as most pages are that follow one of its predecessor's set. 0: none. */
static uint32_t in_order(const struct search *s, uint32_t q)
{
	uint32_t votes[PARTS_ROWS + 1] = {0}, best = 0;

	for (uint32_t p = 1; q && s->page[q - 1] && p < s->n; p++)
		if (p != q && s->page[p - 1] == s->page[q - 1] && s->page[p] && ++votes[s->page[p]] > votes[best])
			best = s->page[p];
	return best;
}

/* A page is of the set whose rows say most of it, and vague if not by the nats of the house. Returns how many pages no set has. unseen: the first of those,
 * BATCH at most. */
static uint32_t assign(struct search *s, uint32_t *unseen)
{
	uint32_t open = 0;

	s->again = come_again(s);
	for (uint32_t q = 0; q < s->n; q++) {
		double best = 0, second = 0;
		uint32_t of = 0;
		for (uint32_t set = 1; set <= s->sets; set++) {
			const double nats = is_of(s, set, q);
			second = nats > best ? best : fmax(second, nats);
			of = nats > best ? set : of;
			best = fmax(best, nats);
		}
		s->page[q] = best >= hint(s) ? of : in_turn(s, q);
		s->vague[q] = best - second < JUDGE_NATS;
		if (s->page[q])
			continue;
		if (open < BATCH)
			unseen[open] = q;
		open++;
	}
	return open;
}

/* The first page that none was asked for by. */
static uint32_t next_place(const struct search *s)
{
	uint32_t q = 0;

	for (uint32_t i = 0; i < s->rows; i++)
		if (s->past[i] == q) {
			q++;
			i = UINT32_MAX;
		}
	return q;
}

/* Whether most rows have no page at all. */
static bool are_silent(const struct search *s)
{
	uint32_t silent = 0;

	for (uint32_t i = 0; i < s->rows; i++)
		silent += !in_both(row_of(s, i), row_of(s, i), s->n);
	return COMMON * silent > s->rows;
}

/* Asks for a page more by each of the first pages that no row has, or one after another, until there are none. */
static enum parts_state ask_rows(struct search *s)
{
	for (;;) {
		uint32_t unseen[BATCH];
		sort_rows(s);
		uint32_t n = assign(s, unseen);
		n = n < BATCH ? n : BATCH;
		n = n < s->most - s->rows ? n : s->most - s->rows;
		if (!n)
			return PARTS_DONE;
		for (uint32_t i = 0; i < n; i++) {
			if (!s->again)
				unseen[i] = next_place(s);
			const enum parts_state state = s->asks->row(s->asks->ctx, unseen[i], s->told);
			if (state == PARTS_OPEN)
				return s->rows ? PARTS_DONE : PARTS_OPEN;
			s->pending = s->pending || state == PARTS_PENDING;
			for (uint32_t q = 0; q < s->n && state == PARTS_DONE; q++) {
				s->nats[(size_t)s->rows * s->n + q] = (float)s->told[q];
				s->hot[(size_t)s->rows * s->n + q] = s->told[q] >= JUDGE_NATS;
			}
			s->past[s->rows++] = unseen[i];
		}
		if (s->pending)
			return PARTS_PENDING;
		if (are_silent(s))
			return PARTS_OPEN;
	}
}

/* What the ring of a row says without some pages. From JUDGE_NATS upwards a set overflows; from -JUDGE_NATS downwards
 * all fit, if they did not with those pages. NAN: it is pending. */
static double without(struct search *s, uint32_t row, uint32_t first, uint32_t count)
{
	double nats = 0;
	const enum parts_state state = s->asks->room(s->asks->ctx, s->past[row], first, count, &nats);

	s->pending = s->pending || state == PARTS_PENDING;
	if (state == PARTS_PENDING)
		return NAN;
	return state == PARTS_DONE && (nats > 0 || in_both(row_of(s, row), row_of(s, row), s->n)) ? nats : 0;
}

/* How many sets have to be apart from all others if all are alike. Each set that is so by chance, while others are not,
 * costs the nats of a size. */
static uint32_t enough(const struct search *s)
{
	return (uint32_t)ceil(JUDGE_NATS / log(s->n + 1.0));
}

static bool *apart_from(const struct search *s, uint32_t set)
{
	return s->apart + (size_t)(set - 1) * s->n;
}

/* How many pages of a run are not yet known to be of another set. */
static uint32_t news(const struct search *s, uint32_t set, uint32_t first, uint32_t count)
{
	uint32_t n = 0;

	for (uint32_t q = first; q < first + count; q++)
		n += !apart_from(s, set)[q];
	return n;
}

/* Pages of a set by what a ring says are apart from it, and those of their sets. */
static void set_apart(const struct search *s, uint32_t set, uint32_t first, uint32_t count)
{
	for (uint32_t q = first; q < first + count; q++) {
		apart_from(s, set)[q] = true;
		for (uint32_t p = 0; !s->vague[q] && s->page[q] && p < s->n; p++)
			if (s->page[p] == s->page[q] && !s->vague[p])
				apart_from(s, set)[p] = true;
	}
}

/* The run of pages, none of which is of a set, that says most of it. Returns how many pages; 0: there is none. */
static uint32_t best_gap(const struct search *s, uint32_t set, uint32_t *first)
{
	uint32_t best = 0, count = 0, from = 0;

	for (uint32_t q = 0; q <= s->n; q++) {
		if (q < s->n && s->page[q] != set)
			continue;
		const uint32_t most = s->n - s->n / STAYS, run = q - from < most ? q - from : most,
			       more = news(s, set, from, run);
		if (more > best) {
			best = more;
			*first = from;
			count = run;
		}
		from = q + 1;
	}
	return count;
}

/* The page of a run without which a set fits, and which therefore is of that set. Returns n if there is none, as a
 * level above has held what was left, or nobody knows. */
static uint32_t culprit(struct search *s, uint32_t set, uint32_t first, uint32_t count)
{
	const uint32_t row = first_row(s, set);

	for (;;) {
		const uint32_t part = (count + 1) / 2;
		const double nats = without(s, row, first, part);
		if (!(fabs(nats) >= JUDGE_NATS))
			return s->n;
		if (nats < 0 && part == 1)
			return first;
		if (nats > 0) {
			set_apart(s, set, first, part);
			first += part;
		}
		count = nats > 0 ? count - part : part;
		if (!count)
			return s->n;
	}
}

/* Two sets are one by what rings say. False: that is known. */
static bool join(struct search *s, uint32_t set, uint32_t other)
{
	const uint32_t i = first_row(s, set), k = first_row(s, other);

	if (s->one[i][k])
		return false;
	return s->one[i][k] = s->one[k][i] = true;
}

/* Whether a set is apart from all others. Of pages that no row has those say enough that are left out with others. */
static bool is_settled(const struct search *s, uint32_t set)
{
	for (uint32_t q = 0; q < s->n; q++)
		if (s->page[q] && s->page[q] != set && !apart_from(s, set)[q])
			return false;
	return true;
}

/* Holds a set to rings without pages of others, one at least. Returns whether it is apart from all; *of: a page that is of it, or n. */
static bool is_apart(struct search *s, uint32_t set, uint32_t *of)
{
	const uint32_t row = first_row(s, set);
	uint32_t first = 0, count;

	*of = s->n;
	for (unsigned i = 0; i < GAPS && !(i && is_settled(s, set)) && (count = best_gap(s, set, &first)) > 0; i++) {
		const double nats = without(s, row, first, count);
		if (!(fabs(nats) >= JUDGE_NATS))
			return false;
		if (nats > 0)
			set_apart(s, set, first, count);
		else
			*of = culprit(s, set, first, count);
		if (*of < s->n)
			return false;
	}
	return is_settled(s, set);
}

/* The set of a page that rows do not tell. Of the sets that it may be of, only that one fits without it. 0: none. Sets
 * that both fit without it are one: *again. */
static uint32_t set_without(struct search *s, uint32_t q, bool *again)
{
	const uint32_t last = s->page[q] ? 0 : in_order(s, q);
	uint32_t tried = 0, is = 0, maybe = 0;

	for (uint32_t set = 1; set <= s->sets && tried < TRIES; set++) {
		if (is_of(s, set, q) < hint(s) && in_turn(s, q) != set && last != set)
			continue;
		const double nats = without(s, first_row(s, set), q, 1);
		tried++;
		if (is && nats <= -JUDGE_NATS)
			*again = join(s, is, set) || *again;
		is = nats <= -JUDGE_NATS ? set : is;
		maybe += nats < JUDGE_NATS;
	}
	return maybe == 1 ? is : 0;
}

/* Pages whose set rows do not tell. Returns how many stay open. */
static uint32_t assign_vague(struct search *s, bool *again)
{
	uint32_t open = 0, vague = 0;

	for (uint32_t q = 0; q < s->n; q++)
		vague += s->vague[q];
	if (vague > VAGUE)
		return vague;
	for (uint32_t q = 0; q < s->n; q++) {
		if (!s->vague[q])
			continue;
		const uint32_t set = set_without(s, q, again);
		open += !set;
		s->page[q] = set;
		s->vague[q] = !set;
	}
	return open;
}

/* Whether as many neighbours are of one set as if an entry covered both. Each pair that is not costs the nats of the
 * house. Each pair that is gains those of a choice among the sets. */
static bool in_pairs(const struct search *s)
{
	double nats = 0;

	for (uint32_t q = 0; q + 1 < s->n; q += 2)
		if (s->page[q] && s->page[q + 1])
			nats += s->page[q] == s->page[q + 1] ? log(s->sets) : -JUDGE_NATS;
	return nats >= JUDGE_NATS;
}

/* Joins sets that rings show to be one. *again: some were. Returns whether as many as have to be are apart. */
static bool are_apart(struct search *s, uint32_t tests, bool *again)
{
	bool all = true;

	*again = false;
	memset(s->apart, 0, (size_t)s->sets * s->n * sizeof(*s->apart));
	for (uint32_t set = 1; set <= s->sets && set <= tests; set++) {
		uint32_t of;
		all = is_apart(s, set, &of) && all;
		if (of == s->n || !s->page[of] || s->page[of] == set)
			continue;
		*again = join(s, set, s->page[of]);
		return false;
	}
	return all;
}

/* Sizes of the sets. False: they are not alike. */
static bool sizes(const struct search *s, uint32_t *size)
{
	bool alike = true;

	memset(size, 0, s->sets * sizeof(*size));
	for (uint32_t q = 0; q < s->n; q++)
		if (s->page[q])
			size[s->page[q] - 1]++;
	for (uint32_t i = 1; i < s->sets; i++)
		alike = alike && size[i] == size[0];
	return alike;
}

static enum parts_state partition(struct search *s, struct arena *a, struct parts *out)
{
	uint32_t *size = ARENA_ARRAY(a, PARTS_ROWS, uint32_t), unseen[BATCH];
	bool again = true, apart = false, alike = false;
	uint32_t open = 0;

	if (!size)
		return PARTS_OPEN;
	while (again) {
		sort_rows(s);
		again = false;
		open = assign(s, unseen);
		const uint32_t vague = assign_vague(s, &again);
		if (s->pending)
			return PARTS_PENDING;
		if (again)
			continue;
		alike = sizes(s, size) && size[0] && s->n % size[0] == 0;
		/* Of sets that are alike not all have to be seen. */
		if (vague && (vague > open || !alike)) {
			out->why = "pages that conflict with one more are of no set that is told";
			return PARTS_OPEN;
		}
		/* If noise makes all pages miss, one page less is still too many. */
		apart = s->sets == 1 ? !(without(s, 0, s->n - 1, 1) >= JUDGE_NATS)
				     : are_apart(s, alike ? enough(s) : s->sets, &again);
		if (s->pending)
			return PARTS_PENDING;
	}
	if (!apart || in_pairs(s)) {
		out->why =
		    apart ? "pages miss in pairs, as if an entry covered two" : "sets may be parts of larger ones";
		return PARTS_OPEN;
	}
	out->sets = alike ? s->n / size[0] : s->sets;
	out->size = alike ? NULL : size;
	return PARTS_DONE;
}

enum parts_state judge_parts(struct arena *a, uint32_t n, unsigned rows, const struct parts_asks *asks,
			     struct parts *out)
{
	struct search *s = ARENA_NEW(a, struct search);

	*out = (struct parts){.why = "out of memory"};
	if (!s)
		return PARTS_OPEN;
	*s = (struct search){.asks = asks,
			     .n = n,
			     .most = rows < PARTS_ROWS ? rows : PARTS_ROWS,
			     .hot = ARENA_ARRAY(a, (size_t)PARTS_ROWS * n, bool),
			     .page = ARENA_ARRAY(a, n, uint32_t),
			     .vague = ARENA_ARRAY(a, n, bool),
			     .apart = ARENA_ARRAY(a, (size_t)PARTS_ROWS * n, bool),
			     .nats = ARENA_ARRAY(a, (size_t)PARTS_ROWS * n, float),
			     .told = ARENA_ARRAY(a, n, double)};
	if (!s->hot || !s->nats || !s->told || !s->page || !s->vague || !s->apart)
		return PARTS_OPEN;
	out->why = "one page more than fits makes none miss that is told";
	const enum parts_state state = ask_rows(s);
	if (state != PARTS_DONE)
		return state;
	/* Lines of page tables have neighbours. */
	out->shown = s->sets > 1 && !in_pairs(s);
	return partition(s, a, out);
}
