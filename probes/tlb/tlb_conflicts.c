/* What rows of pages that conflict with one more say of ways and sets, whichever pages of a set took turns in missing. */
#include "base/arena.h"
#include "tlb.h"
#include <string.h>

#define STEP_ROWS  8	/* rows of pages that conflict, ... */
#define SHOW_SETS  4	/* that rows are of, ... */
#define SHOW_MEET  20	/* ... pages that rows of different ones would have in common by chance, ... */
#define SHOW_PART  4	/* ... and one of so many that may have a neighbour in the same set */
#define STEP_ALIKE 0.99 /* ... and their pages, that tell a step: more are out of it where sets are unequal */

/* How many pages both rows have. */
static uint32_t in_both(const bool *a, const bool *b, uint32_t n)
{
	uint32_t both = 0;

	for (uint32_t q = 0; q < n; q++)
		both += a[q] && b[q];
	return both;
}

/* Rows of one set have most of their pages in common. of: each row's set; returns how many there are. */
uint32_t tlb_sets_of_rows(const struct tlb_conflicts *c, uint32_t *of)
{
	uint32_t sets = 0;

	for (uint32_t i = 0; i < c->rows; i++) {
		const bool *row = c->hot + (size_t)i * c->n;
		const uint32_t size = in_both(row, row, c->n);
		uint32_t k = 0;
		while (k < i) {
			const bool *other = c->hot + (size_t)k * c->n;
			const uint32_t least = in_both(other, other, c->n);
			if (2 * in_both(row, other, c->n) >= (size < least ? size : least))
				break;
			k++;
		}
		of[i] = k < i ? of[k] : sets++;
	}
	return sets;
}

/* A page that others share its set with, too - what the kernel writes, for one - misses now and then whatever the extra is: it is
 * in rows of several sets, and belongs to one that lacks a page without it. */
uint32_t tlb_conflicts_ways(struct arena *a, const struct tlb_conflicts *c)
{
	uint32_t *of = ARENA_ARRAY(a, c->rows, uint32_t), *rows = ARENA_ARRAY(a, c->rows, uint32_t),
		 *own = ARENA_ARRAY(a, c->rows, uint32_t), *strays = ARENA_ARRAY(a, c->rows, uint32_t),
		 *seen = ARENA_ARRAY(a, c->rows, uint32_t);
	uint32_t ways = 0, lack = 0, stray = 0, whole = 0;

	if (!of || !rows || !own || !strays || !seen)
		return 0;
	const uint32_t sets = tlb_sets_of_rows(c, of);
	for (uint32_t i = 0; i < c->rows; i++)
		rows[of[i]]++;
	for (uint32_t q = 0; q < c->n; q++) {
		uint32_t in = 0, last = 0;
		memset(seen, 0, sets * sizeof(*seen));
		for (uint32_t i = 0; i < c->rows; i++)
			seen[of[i]] += c->hot[(size_t)i * c->n + q];
		for (uint32_t k = 0; k < sets; k++)
			if (seen[k]) {
				in++;
				last = k;
			}
		/* Where pages take turns in missing, who knows how many never did. */
		if (!in || (in == 1 && seen[last] < rows[last]))
			return 0;
		own[last] += in == 1;
		stray += in > 1;
		for (uint32_t k = 0; k < sets && in > 1; k++)
			strays[k] += seen[k] == rows[k];
	}
	for (uint32_t k = 0; k < sets; k++)
		ways = own[k] > ways ? own[k] : ways;
	for (uint32_t k = 0; k < sets; k++) {
		if (ways - own[k] > strays[k])
			return 0;
		lack += ways - own[k];
		whole += own[k] == ways;
	}
	return lack == stray && 4 * whole >= 3 * sets && ways * sets == c->n && ways > 1 ? ways : 0;
}

/* Whether rows that have any page in common have all, as many as a quarter of the sets were asked for twice, and every page is in one: where pages
 * take turns in missing, rows of one set differ, or lack some. */
bool tlb_is_partition(const struct tlb_conflicts *c)
{
	uint32_t sets = 0, again = 0, pages = 0;

	for (uint32_t i = 0; i < c->rows; i++) {
		const bool *row = c->hot + (size_t)i * c->n;
		uint32_t k = 0;
		while (k < i && !in_both(row, c->hot + (size_t)k * c->n, c->n))
			k++;
		if (k < i && memcmp(row, c->hot + (size_t)k * c->n, c->n * sizeof(*row)) != 0)
			return false;
		sets += k == i;
		again += k < i;
		pages += k == i ? in_both(row, row, c->n) : 0;
	}
	return pages == c->n && 4 * again >= sets;
}

/* Whether rows that have any page in common have all. */
bool tlb_rows_agree(const struct tlb_conflicts *c)
{
	for (uint32_t i = 0; i < c->rows; i++)
		for (uint32_t k = 0; k < i; k++) {
			const bool *row = c->hot + (size_t)i * c->n, *other = c->hot + (size_t)k * c->n;
			if (in_both(row, other, c->n) && memcmp(row, other, c->n * sizeof(*row)) != 0)
				return false;
		}
	return true;
}

/* Whether of n pages, and the extra one behind them, those that are as many apart as that are in the row all together. */
static bool comes_again(const bool *row, uint32_t n, uint32_t apart)
{
	for (uint32_t q = 0; q + apart < n; q++)
		if (row[q] != row[q + apart])
			return false;
	return true;
}

/* Whether a row's pages could be those of every so many visits. Each order goes round the ring in steps that have no divisor in common with its length,
 * so that pages as far apart as a divisor says are so in each of them: where a policy has every second visit to one set miss, and the pages are even in
 * number, it is the same half of them in all orders, and for another extra page it may be the other half. */
bool tlb_may_be_visits(const struct tlb_conflicts *c)
{
	for (uint32_t i = 0; i < c->rows; i++) {
		const bool *row = c->hot + (size_t)i * c->n;
		if (in_both(row, row, c->n) == c->n) /* all are of one set */
			continue;
		for (uint32_t apart = 2; 2 * apart <= c->n + 1; apart++)
			if ((c->n + 1) % apart == 0 && comes_again(row, c->n, apart))
				return true;
	}
	return false;
}

/* Sets, although not all of their pages have to be seen: each extra page makes others miss, and those that are of no other one's row, which by chance they
 * would be many times over. What a cache holds of page tables makes neighbours miss, whose entries lie in one line, and the same for extra pages that are
 * neighbours. */
bool tlb_sets_show(struct arena *a, const struct tlb_conflicts *c, const uint32_t *past)
{
	uint32_t *of = ARENA_ARRAY(a, c->rows, uint32_t), pages = 0, beside = 0, extras = 0, alike = 0;
	double meet = 0;

	if (!of || tlb_sets_of_rows(c, of) < SHOW_SETS)
		return false;
	for (uint32_t i = 0; i < c->rows; i++) {
		const bool *row = c->hot + (size_t)i * c->n;
		const uint32_t size = in_both(row, row, c->n);
		if (size < 2)
			return false;
		pages += size;
		beside += in_both(row, row + 1, c->n - 1);
		for (uint32_t k = 0; k < i; k++) {
			const bool *other = c->hot + (size_t)k * c->n;
			const bool neighbours = past[i] == past[k] + 1 || past[k] == past[i] + 1;
			extras += neighbours;
			alike += neighbours && of[i] == of[k];
			if (of[i] == of[k])
				continue;
			if (in_both(row, other, c->n))
				return false;
			meet += (double)size * in_both(other, other, c->n) / c->n;
		}
	}
	return meet >= SHOW_MEET && SHOW_PART * beside <= pages && SHOW_PART * alike <= extras;
}

/* How many pages of a row lie as many pages from its extra one as any multiple of `apart`. */
static uint32_t in_step(const struct tlb_conflicts *c, uint32_t i, uint32_t past, uint32_t apart, uint32_t *marks)
{
	const bool *row = c->hot + (size_t)i * c->n;
	uint32_t in = 0;

	*marks = 0;
	for (uint32_t q = 0; q < c->n; q++)
		if (row[q]) {
			++*marks;
			in += (c->n + past - q) % apart == 0;
		}
	return in;
}

/* Whether most pages of the rows are in step with several times as many sets: those that are not may be strays, which rows of the memory or a cache
 * of data set as far apart as their banks are. Where there are no more sets, each of so many times as many has its part of the pages. */
static bool may_be_finer(const uint32_t *fit, uint32_t apart, uint32_t most, uint32_t all)
{
	for (uint32_t times = 2; times * apart <= most; times++)
		if (2 * times * fit[times * apart] > (times + 1) * all)
			return true;
	return false;
}

/* Whether rows whose extra pages would be of one set have pages in common, or each of them with a third one. Those of unequal sets, which are not dealt
 * as far apart as there are sets, do not. */
static bool are_joined(struct arena *a, const struct tlb_conflicts *c, const uint32_t *past, uint32_t apart)
{
	uint32_t *of = ARENA_ARRAY(a, c->rows, uint32_t), *size = ARENA_ARRAY(a, c->rows, uint32_t);

	if (!of || !size)
		return false;
	for (uint32_t i = 0; i < c->rows; i++) {
		const bool *row = c->hot + (size_t)i * c->n;
		of[i] = i;
		size[i] = in_both(row, row, c->n);
		for (uint32_t k = 0; k < i; k++) {
			const uint32_t old = of[k];
			if (old == i || !in_both(row, c->hot + (size_t)k * c->n, c->n))
				continue;
			for (uint32_t r = 0; r < i; r++)
				of[r] = of[r] == old ? i : of[r];
		}
	}
	for (uint32_t i = 0; i < c->rows; i++)
		for (uint32_t k = 0; k < i; k++)
			if ((past[i] + apart - past[k] % apart) % apart == 0 && of[i] != of[k] && size[i] && size[k])
				return false;
	return true;
}

/* The rows without the kernel's own pages, which miss in rows of all sets. False: memory ran out. */
static bool without_strays(struct arena *a, const struct tlb_conflicts *c, struct tlb_conflicts *own)
{
	const size_t all = (size_t)c->rows * c->n;
	bool *hot = ARENA_ARRAY(a, all + 1, bool);

	for (size_t k = 0; hot && k < all; k++)
		hot[k] = c->hot[k];
	for (uint32_t q = 0; hot && q < c->n && c->rows >= STEP_ROWS; q++) {
		uint32_t in = 0;
		for (uint32_t i = 0; i < c->rows; i++)
			in += c->hot[(size_t)i * c->n + q];
		for (uint32_t i = 0; 2 * in > c->rows && i < c->rows; i++)
			hot[(size_t)i * c->n + q] = false;
	}
	*own = (struct tlb_conflicts){c->n, c->rows, hot};
	return hot != NULL;
}

/* Sets that follow one another page by page: the most of them for which each row's pages are those of its extra one's set. Pages that take turns in
 * missing need not all be seen for that. 0: no such number. past: of each row's extra one. */
uint32_t tlb_sets_in_step(struct arena *a, const struct tlb_conflicts *c, const uint32_t *past)
{
	uint32_t *fit = ARENA_ARRAY(a, c->n / 2 + 1, uint32_t);
	struct tlb_conflicts own;

	if (!fit || !without_strays(a, c, &own))
		return 0;
	for (uint32_t apart = c->n / 2; apart > 1; apart--) {
		uint32_t all = 0, rows = 0;
		for (uint32_t i = 0; i < c->rows; i++) {
			uint32_t marks, in = in_step(&own, i, past[i], apart, &marks);
			all += marks;
			fit[apart] += in;
			rows += in >= 2;
		}
		if (fit[apart] < STEP_ALIKE * all)
			continue;
		return c->n % apart == 0 && rows >= STEP_ROWS && 4 * rows >= 3 * c->rows &&
			       !may_be_finer(fit, apart, c->n / 2, all) && are_joined(a, &own, past, apart)
			   ? apart
			   : 0;
	}
	return 0;
}
