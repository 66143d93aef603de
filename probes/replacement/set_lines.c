/* From a set's lines to accesses, and back from a point to what they cost. */
#include "base/arena.h"
#include "base/units.h"
#include "replacement.h"
#include "stat/stat.h"
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SHIFT	    4  /* of bytes that a place is counted in: texels, ... */
#define SHIFT_PAGES 6  /* ... and lines of pages, of which a large TLB reaches farther than 64 GB */
#define TOTAL_BITS  17 /* as many lines as they count are said as none */
#define SEED_BITS   5
#define SEED_MORE   1 /* what is left of a word that a double holds */
#define LIST_WORDS  6
#define WORD_BITS   51
#define FLIP_BITS   25
#define STEP_LEAST  32u
#define STEP_BITS   3
#define PAGE_LINE   64u
#define FRONT_TIMES 1.25	/* so many times as much as it holds */
#define FRONT	    (32u << 10) /* bytes of a cache of textures whose size is not known: more than most have */
#define ALIGN_MOST  (1ull << 36)
#define TRIES	    4096
#define ROOMY	    4 /* times as far apart as what is beside a line reaches */

/* Fields of a whole number that a double holds exactly. */
static uint64_t take(uint64_t *from, unsigned bits)
{
	uint64_t v = *from & ((1ull << bits) - 1);
	*from >>= bits;
	return v;
}

static void put(uint64_t *to, unsigned *at, uint64_t v, unsigned bits)
{
	*to |= (v & ((1ull << bits) - 1)) << *at;
	*at += bits;
}

/* Bits of a line's number; those beyond the size are a few more. */
static unsigned list_bits(uint32_t total)
{
	return log2_floor(total + SET_LISTED) + 1;
}

uint32_t set_beyond(uint32_t total)
{
	return 2u << log2_floor(total - 1);
}

/* Lines that words hold of which each is of one of them only. */
static unsigned listed_whole(uint32_t total)
{
	return LIST_WORDS * (WORD_BITS / list_bits(total));
}

unsigned set_listed(uint32_t total)
{
	unsigned n = LIST_WORDS * WORD_BITS / list_bits(total);
	return n < SET_LISTED ? n : SET_LISTED;
}

/* More lines than that: their bits one after the other, from word to word. */
static void put_list(const struct set_lines *l, double *p)
{
	const unsigned bits = list_bits(l->total);
	uint64_t word[LIST_WORDS] = {0};

	for (unsigned i = 0; i < (l->ways + 1) * bits && i < LIST_WORDS * WORD_BITS; i++)
		word[i / WORD_BITS] |= (uint64_t)(l->listed[i / bits] >> i % bits & 1) << i % WORD_BITS;
	for (unsigned i = 0; i < LIST_WORDS; i++)
		p[SET_FIRST + i] = (double)word[i];
}

static void take_list(struct set_lines *l, const double *p)
{
	const unsigned bits = list_bits(l->total);

	for (unsigned i = 0; i < (l->ways + 1) * bits && i < LIST_WORDS * WORD_BITS; i++)
		l->listed[i / bits] |= (uint32_t)((uint64_t)p[SET_FIRST + i / WORD_BITS] >> i % WORD_BITS & 1)
				       << i % bits;
}

/* Lines of caches take no turns in a page: what is read in between is said in place of that. */
static unsigned wide_of(const struct set_lines *l)
{
	return set_pages(l->path) ? l->turn_bits : l->wide;
}

void set_params(const struct set_lines *l, const struct policy_plan *plan, double *p)
{
	uint64_t where = 0, what = 0;
	unsigned at = 0;

	memset(p, 0, POINT_PARAMS * sizeof(*p));
	put(&where, &at, l->path, 3);
	put(&where, &at, l->mode, 2);
	put(&where, &at, l->between, 8);
	put(&where, &at, l->apart, 40);
	at = 0;
	put(&what, &at, plan->seed, SEED_BITS);
	put(&what, &at, plan->kind, 1);
	put(&what, &at, plan->ways, 9);
	put(&what, &at, plan->lines, 9);
	put(&what, &at, wide_of(l), 3);
	put(&what, &at, l->step_bits, 2);
	if (l->mode == SET_STRIDED || l->mode == SET_DENSE) {
		put(&what, &at, l->tile, 3);
		put(&what, &at, 0, 1); /* was: read before the line */
		put(&what, &at, plan->seed >> SEED_BITS, SEED_MORE);
		put(&what, &at, plan->ways >> 9, 1);
		put(&what, &at, plan->lines >> 9, 1);
		p[SET_FIRST] = (double)(l->mode == SET_STRIDED ? l->stride : l->extra);
		p[SET_SECOND] = (double)l->line;
		p[SET_THIRD] = (double)l->bound;
		for (unsigned i = 0; l->flips && i <= SET_FLIPS; i++) {
			const uint64_t is = i == SET_FLIPS ? l->flipped : i < l->flips ? l->flip[i] : 0;
			p[SET_THIRD + 1 + i / 2] += (double)(is << i % 2 * FLIP_BITS);
		}
	} else {
		put(&what, &at, log2_floor(l->line), 6);
		put(&what, &at, l->total, TOTAL_BITS);
		put(&what, &at, plan->seed >> SEED_BITS, SEED_MORE);
		unsigned bits = list_bits(l->total), each = WORD_BITS / bits;
		const bool whole = l->ways < listed_whole(l->total);
		if (!whole)
			put_list(l, p);
		for (unsigned i = 0; i < LIST_WORDS && whole; i++) {
			uint64_t word = 0;
			at = 0;
			for (unsigned k = 0; k < each && i * each + k < SET_LISTED; k++)
				put(&word, &at, l->listed[i * each + k], bits);
			p[SET_FIRST + i] = (double)word;
		}
	}
	p[SET_WHERE] = (double)where;
	p[SET_PLAN] = (double)what;
}

static void decode(const double *p, double x, struct set_lines *l, struct policy_plan *plan)
{
	uint64_t where = (uint64_t)p[SET_WHERE], what = (uint64_t)p[SET_PLAN];

	*l = (struct set_lines){.path = (enum set_path)take(&where, 3)};
	l->mode = (enum set_mode)take(&where, 2);
	l->between = (unsigned)take(&where, 8);
	l->apart = where;
	*plan = (struct policy_plan){.length = (uint32_t)x, .seed = (uint32_t)take(&what, SEED_BITS)};
	plan->kind = (enum policy_kind)take(&what, 1);
	plan->ways = (unsigned)take(&what, 9);
	plan->lines = (unsigned)take(&what, 9);
	*(set_pages(l->path) ? &l->turn_bits : &l->wide) = (unsigned)take(&what, 3);
	l->step_bits = (unsigned)take(&what, 2);
	l->ways = plan->ways;
	l->lines = plan->lines;
	if (l->mode == SET_STRIDED || l->mode == SET_DENSE) {
		l->tile = (unsigned)take(&what, 3);
		take(&what, 1);
		plan->seed |= (uint32_t)take(&what, SEED_MORE) << SEED_BITS;
		l->ways = plan->ways |= (unsigned)take(&what, 1) << 9;
		l->lines = plan->lines |= (unsigned)take(&what, 1) << 9;
		*(l->mode == SET_STRIDED ? &l->stride : &l->extra) = (uint64_t)p[SET_FIRST];
		l->line = (uint64_t)p[SET_SECOND];
		l->bound = (uint64_t)p[SET_THIRD];
		for (unsigned i = 0; i <= SET_FLIPS; i++) {
			uint64_t word = (uint64_t)p[SET_THIRD + 1 + i / 2] >> i % 2 * FLIP_BITS;
			const uint32_t is = (uint32_t)take(&word, FLIP_BITS);
			*(i == SET_FLIPS ? &l->flipped : &l->flip[i]) = is;
			l->flips += i < SET_FLIPS && is;
		}
		return;
	}
	l->line = 1ull << take(&what, 6);
	const uint32_t total = (uint32_t)take(&what, TOTAL_BITS);
	l->total = total ? total : 1u << TOTAL_BITS;
	plan->seed |= (uint32_t)take(&what, SEED_MORE) << SEED_BITS;
	l->bound = l->total * l->line << l->wide;
	unsigned bits = list_bits(l->total), each = WORD_BITS / bits;
	const bool whole = l->ways < listed_whole(l->total);
	if (!whole)
		take_list(l, p);
	for (unsigned i = 0; i < LIST_WORDS && whole; i++) {
		uint64_t word = (uint64_t)p[SET_FIRST + i];
		for (unsigned k = 0; k < each && i * each + k < SET_LISTED; k++)
			l->listed[i * each + k] = (uint32_t)take(&word, bits);
	}
}

void set_point(const struct point *pt, struct set_lines *l, struct policy_plan *plan)
{
	decode(pt->p, pt->x, l, plan);
}

/* Line n of a list: those of the set, the one more, and those that follow from them. */
static uint64_t listed(const struct set_lines *l, unsigned n)
{
	if (n <= l->ways)
		return l->listed[n];
	unsigned base = n - l->ways; /* 1 is the first that was not listed; the one more stands for 0 */
	if (l->mode == SET_HASHED)
		return l->listed[l->ways] ^ l->listed[0] ^ l->listed[base];
	/* One of them is the one more itself. */
	for (unsigned i = 0; i < l->ways; i++)
		if (l->listed[i] + l->total != l->listed[l->ways] && !--base)
			return l->listed[i] + l->total;
	return l->listed[0] + 2ull * l->total;
}

uint64_t set_address(const struct set_lines *l, unsigned n)
{
	uint64_t inner = (1ull << l->tile) - 1;

	switch (l->mode) {
	case SET_STRIDED:
		return (n >> l->tile) * l->stride + (n & inner) * l->line;
	case SET_DENSE:
		return n < l->ways ? n * l->line : l->extra;
	default:
		return listed(l, n) * l->line;
	}
}

static unsigned shift_of(const struct set_lines *l)
{
	return l->path == SET_PAGES ? SHIFT_PAGES : SHIFT;
}

static uint32_t turn_step(const struct set_lines *l)
{
	return STEP_LEAST << l->step_bits;
}

/* Pages lie where others' lines do not, as far as a cache tells them apart. */
static uint32_t place_of(const struct set_lines *l, uint64_t address, uint32_t turn)
{
	if (set_pages(l->path))
		address += (13 * (address / l->line) * PAGE_LINE + (uint64_t)turn * turn_step(l)) % CHASE_PAGE;
	return (uint32_t)(address >> shift_of(l));
}

/* Whether what lies there is in another set than line n. */
static bool elsewhere(const struct set_lines *l, unsigned n, uint64_t address)
{
	if (l->mode == SET_STRIDED) {
		uint64_t tile = l->line << l->tile, off = set_address(l, n) % l->stride / tile * tile;
		uint64_t from = (address % l->stride + l->stride - off) % l->stride;
		return from >= tile && from <= l->stride - l->line;
	}
	const uint64_t line = address / l->line, is = l->wide ? line % l->total : line;
	for (unsigned i = 0; i < l->ways; i++)
		if (l->listed[i] == is)
			return false;
	return true;
}

/* Whether it is not beside a line of the set either, which may share the set where tiles of neighbours do. */
static bool is_aloof(const struct set_lines *l, unsigned n, uint64_t address)
{
	uint64_t beside = l->line << TILE_MOST;
	if (l->mode != SET_STRIDED || l->tile || l->flips || set_pages(l->path))
		return true;
	while (beside * ROOMY > l->stride)
		beside /= 2;
	const uint64_t from = (address % l->stride + l->stride - set_address(l, n) % l->stride) % l->stride;
	return from >= beside && from + beside <= l->stride;
}

static uint64_t flip_of(const struct set_lines *l, unsigned which)
{
	uint64_t all = 0;

	for (unsigned i = 0; i < l->flips; i++)
		all ^= which >> i & 1 ? (uint64_t)l->flip[i] << SHIFT : 0;
	return all;
}

/* Line k of those that differ from line n by flips; of none: UINT64_MAX. */
static uint64_t flipped(const struct set_lines *l, unsigned n, unsigned k)
{
	for (unsigned which = 1; which < 1u << l->flips; which++) {
		const uint64_t to = set_address(l, n) ^ flip_of(l, which);
		if (to + l->line <= l->bound && elsewhere(l, n, to) && !k--)
			return to;
	}
	return UINT64_MAX;
}

/* Line k of those read after line n: in the same set of the level above, as that goes, and in another one here. */
static uint64_t between(const struct set_lines *l, unsigned n, unsigned k)
{
	const uint64_t apart = l->apart ? l->apart : 1;
	uint64_t at = set_address(l, n), first = at % apart, to = at;
	uint64_t count = l->bound > first + l->line ? (l->bound - first - l->line) / apart + 1 : 1;
	unsigned found = 0;

	if (k < l->flipped)
		return flipped(l, n, k);
	k -= l->flipped;
	for (uint64_t i = 1; found <= k && i < TRIES; i++) {
		to = first + (at / apart + i) % count * apart;
		to ^= l->flipped ? 0 : flip_of(l, (unsigned)i & ((1u << l->flips) - 1));
		found += elsewhere(l, n, to) && is_aloof(l, n, to);
	}
	return to;
}

static uint64_t span_of(const struct set_lines *l)
{
	uint64_t most = 0;
	for (unsigned n = 0; n < l->lines; n++)
		most = set_address(l, n) > most ? set_address(l, n) : most;
	return most + l->line;
}

struct chase_load set_load(const struct study *s, enum set_path path)
{
	static const enum chase_way way[] = {
	    [SET_NEAR] = WAY_NEAR,	   [SET_PAST_L1] = WAY_PAST_L1, [SET_TEXTURE] = WAY_TEXTURE,
	    [SET_CONSTANT] = WAY_CONSTANT, [SET_PAGES] = WAY_PAST_L1,	[SET_TEXTURE_PAGES] = WAY_TEXTURE,
	    [SET_READONLY] = WAY_READONLY};
	return chase_load_of(s, way[path]);
}

static struct trace_kernel kernel_of(const struct study *s, enum set_path path)
{
	return (struct trace_kernel){.template_path = path == SET_CONSTANT ? "probes/replacement/constant_trace.ptx"
									   : "probes/replacement/plain_trace.ptx",
				     .load = set_load(s, path),
				     .roomy = path == SET_PAST_L1 || path == SET_PAGES};
}

/* Addresses of the first `lines` lines, and behind each of what is read after it; or before each of what is read before it. */
static uint64_t *addresses(struct arena *a, const struct set_lines *l, unsigned lines)
{
	uint32_t each = 1 + l->between;
	uint64_t *out = ARENA_ARRAY(a, (size_t)lines * each, uint64_t);

	for (unsigned i = 0; out && i < lines; i++) {
		out[i * each] = set_address(l, i);
		for (unsigned k = 0; k < l->between; k++)
			out[i * each + 1 + k] = between(l, i, k);
	}
	return out;
}

static int by_address(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
	return (x > y) - (x < y);
}

/* A cache of textures answers before addresses are translated. Pages therefore have several lines, which take turns, so that it has
 * none of them any more when its turn comes again. Few more than that, and side by side, because the caches behind the TLB should
 * keep all of them. */
static bool take_turns(const struct study *s, struct arena *a, struct set_lines *l)
{
	uint64_t *address = addresses(a, l, l->ways);
	uint32_t all = l->ways * (1 + l->between), pages = 0;
	double size = FRONT, line = PAGE_LINE;

	if (!address)
		return false;
	l->turn_bits = l->step_bits = 0;
	if (set_common(s))
		return true;
	qsort(address, all, sizeof(*address), by_address);
	for (uint32_t i = 0; i < all; i++)
		pages += !i || address[i] != address[i - 1];
	study_number(s, "cache.texture.l1.size", &size);
	study_number(s, "cache.texture.l1.line", &line);
	for (; l->step_bits < STEP_BITS && turn_step(l) < line;)
		l->step_bits++;
	for (; turn_step(l) << l->turn_bits < CHASE_PAGE &&
	       (double)turn_step(l) * (pages << l->turn_bits) < FRONT_TIMES * size;)
		l->turn_bits++;
	return true;
}

/* Accesses before a sequence. The first are as many as it begins with, to other lines of the same page. Then come all
 * lines of all pages once, so that the level behind the TLB knows them. */
static size_t before(const struct set_lines *l)
{
	return l->path == SET_TEXTURE_PAGES ? TRACE_LEAD + ((size_t)l->lines * (1 + l->between) << l->turn_bits) : 0;
}

/* The place of access i of a sequence among all. Nothing is read in between at first, so that the nearest level is
 * seen. */
static size_t position(const struct set_lines *l, uint32_t i)
{
	return before(l) + (i < TRACE_LEAD ? i : TRACE_LEAD + (size_t)(i - TRACE_LEAD) * (1 + l->between));
}

/* The accesses of a sequence, each to its place. address: of each line and of those read after it. */
static bool accesses(struct arena *a, const struct set_lines *l, const struct policy_sequence *q,
		     const uint64_t *address, uint32_t *at)
{
	uint32_t each = 1 + l->between, all = l->lines * each, turns = 1u << l->turn_bits;
	uint32_t *visit = ARENA_ARRAY(a, all, uint32_t);
	uint64_t *sorted = arena_copy(a, address, all * sizeof(*address));
	size_t n = 0;

	if (!visit || !sorted)
		return false;
	/* One page may be read after several lines. */
	qsort(sorted, all, sizeof(*sorted), by_address);
	for (unsigned pass = before(l) ? 0 : 1; pass < 2; pass++) {
		for (uint32_t i = 0; i < TRACE_LEAD; i++)
			at[n++] = place_of(l, address[0], before(l) ? i : 0);
		for (uint32_t i = 0; !pass && i < all * turns; i++)
			at[n++] = place_of(l, address[i / turns], i % turns);
	}
	for (uint32_t i = TRACE_LEAD; i < q->count; i++)
		for (uint32_t k = q->line[i] * each, to = k + each; k < to; k++) {
			const uint64_t *page = bsearch(&address[k], sorted, all, sizeof(*sorted), by_address);
			at[n++] = place_of(l, address[k], visit[page - sorted]++ % turns);
		}
	return true;
}

/* Whether lines are as far apart as those of one set of a hash are: bits of their numbers must not carry into others. */
static bool folded(const struct set_lines *l)
{
	const uint64_t sets = l->stride / l->line - 1;

	return l->mode == SET_STRIDED && l->stride % l->line == 0 && sets > 1 && !(sets & (sets - 1));
}

/* The launch of a plan over a set's lines. */
static int spec_of(struct arena *a, const struct set_lines *l, const struct policy_sequence *q, struct trace_spec *t)
{
	const unsigned shift = shift_of(l);
	uint64_t used = span_of(l);
	uint32_t each = 1 + l->between, all = l->lines * each, turns = 1u << l->turn_bits, places = 0, n = 0;
	uint32_t lead = before(l) ? TRACE_LEAD : 0, count = (uint32_t)position(l, q->count);
	uint64_t *address = addresses(a, l, l->lines);
	uint32_t *sorted = ARENA_ARRAY(a, (size_t)all * turns + lead, uint32_t);
	uint32_t *at = ARENA_ARRAY(a, count, uint32_t);

	if (!address || !sorted || !at)
		return -ENOMEM;
	if (!accesses(a, l, q, address, at))
		return -ENOMEM;
	for (uint32_t i = 0; i < lead; i++)
		sorted[n++] = place_of(l, address[0], i);
	for (uint32_t i = 0; i < all * turns; i++)
		sorted[n++] = place_of(l, address[i / turns], i % turns);
	qsort(sorted, n, sizeof(*sorted), stat_compare_u32);
	for (uint32_t i = 0; i < n; i++)
		if (!places || sorted[i] != sorted[places - 1])
			sorted[places++] = sorted[i];
	if (((uint64_t)sorted[places - 1] << shift) + PAGE_LINE > used)
		used = ((uint64_t)sorted[places - 1] << shift) + PAGE_LINE;
	*t = (struct trace_spec){.shift = shift,
				 .bytes = used,
				 .align = 1u << 20,
				 .places = places,
				 .place = sorted,
				 .count = count,
				 .at = at};
	/* Dealt lines share a set as counted from where all of them were walked over: begin there again, as near as alignment can say it. */
	const uint64_t aligned = l->mode == SET_DEALT && l->lines > l->ways
				     ? ((uint64_t)place_of(l, set_address(l, l->ways), 0) << shift) + PAGE_LINE
				     : used;
	while ((l->mode == SET_HASHED || folded(l) || l->flips || set_pages(l->path)) && t->align < aligned &&
	       t->align < ALIGN_MOST)
		t->align *= 2;
	return used >> shift > UINT32_MAX ? -ENOTSUP : 0;
}

int set_setup_trace(const struct study *s, double x, const double *p, struct job *j)
{
	struct policy_plan plan;
	struct policy_sequence q;
	struct set_lines l;
	struct trace_spec t;

	decode(p, x, &l, &plan);
	struct trace_kernel k = kernel_of(s, l.path);
	if (!policy_sequence(j->arena, &plan, &q))
		return -ENOMEM;
	int rc = spec_of(j->arena, &l, &q, &t);
	return rc ? rc : trace_setup(s, j, &k, &t);
}

/* The lines as a plan reads them. False: out of memory. */
static bool lines_of(const struct set_ask *ask, const struct policy_plan *plan, struct set_lines *l)
{
	*l = *ask->lines;
	l->ways = plan->ways;
	l->lines = plan->lines;
	return l->path != SET_TEXTURE_PAGES || take_turns(ask->study, study_arena(ask->study), l);
}

enum chase_state set_trace(void *ctx, const struct policy_plan *plan, const struct policy_sequence *q, uint32_t **ticks,
			   char *why, size_t why_bytes)
{
	const struct set_ask *ask = ctx;
	struct arena *a = study_arena(ask->study);
	struct trace_kernel k = kernel_of(ask->study, ask->lines->path);
	struct set_lines l;
	double p[POINT_PARAMS];
	struct trace_spec t;

	if (!lines_of(ask, plan, &l))
		return chase_why(why, why_bytes, "out of memory");
	if (plan->seed >> (SEED_BITS + SEED_MORE))
		return chase_why(why, why_bytes, "as many sequences of accesses as there are did not tell");
	set_params(&l, plan, p);
	const struct point *pt = study_ask(ask->study, SET_TRACE, plan->length, p);
	if (!pt) {
		snprintf(why, why_bytes, "a point that is needed was not measured");
		return study_pending(ask->study) ? CHASE_PENDING : CHASE_UNDECIDED;
	}
	const int rc = spec_of(a, &l, q, &t);
	snprintf(why, why_bytes,
		 rc == -ENOTSUP ? "lines of one set lie farther apart than can be read" : "out of memory");
	if (rc)
		return CHASE_UNDECIDED;
	uint32_t *all = ARENA_ARRAY(a, t.count, uint32_t);
	*ticks = ARENA_ARRAY(a, q->count, uint32_t);
	if (!all || !*ticks || !trace_read(pt, &k, &t, all, why, why_bytes))
		return CHASE_UNDECIDED;
	for (uint32_t i = 0; i < q->count; i++)
		(*ticks)[i] = all[position(&l, i)];
	return CHASE_DONE;
}
