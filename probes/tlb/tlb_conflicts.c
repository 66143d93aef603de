/* What rows of pages that conflict with one more say of ways and sets, whichever pages of a set took turns in missing. */
#include "base/arena.h"
#include "tlb.h"
#include <string.h>

#define SHOW_SETS 4  /* that rows are of, ... */
#define SHOW_MEET 20 /* ... pages that rows of different ones would have in common by chance, ... */
#define SHOW_PART 4  /* ... and one of so many that may have a neighbour in the same set */

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
