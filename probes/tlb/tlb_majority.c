/* Sets of pages of which some missed where they should not, or never did: what most rows of conflicts say of each page. */
#include "base/arena.h"
#include "tlb.h"
#include <string.h>

#define STRAY_MOST 0.03 /* of the pages in rows are in one of another set */
#define CLEAR	   2	/* times as often as in those of any other set is a page in rows of its own */
#define COVERED	   0.8	/* of a set's pages are in one of its rows */
#define PAIRS                                                                                                          \
	0.75	/* of the neighbours are of one set where an entry covers both; of places by chance half at most are */
#define AGAIN 2 /* rows of a set, that a page of it is in */

struct most {
	uint32_t sets, unseen, strays, marks;
	uint32_t *of;	/* each row's set */
	uint32_t *page; /* each page's, from 1 on; 0: in no row */
	uint32_t *size, *rows, *in;
};

/* Which set each page is of. False: two sets have it about as often. */
static bool assign(const struct tlb_conflicts *c, struct most *m)
{
	for (uint32_t i = 0; i < c->rows; i++)
		m->rows[m->of[i]]++;
	for (uint32_t q = 0; q < c->n; q++) {
		uint32_t best = 0, first = 0, second = 0;
		memset(m->in, 0, m->sets * sizeof(*m->in));
		for (uint32_t i = 0; i < c->rows; i++)
			m->in[m->of[i]] += c->hot[(size_t)i * c->n + q];
		for (uint32_t k = 0; k < m->sets; k++) {
			m->marks += m->in[k];
			if (m->in[k] > first) {
				second = first;
				first = m->in[k];
				best = k + 1;
			} else if (m->in[k] > second)
				second = m->in[k];
			m->strays += m->in[k];
		}
		m->strays -= first;
		if (second && first < CLEAR * second)
			return false;
		m->page[q] = best;
		m->unseen += !best;
		if (best)
			m->size[best - 1]++;
	}
	return true;
}

bool tlb_in_pairs(const uint32_t *page, uint32_t n)
{
	uint32_t pairs = 0, same = 0;

	for (uint32_t q = 0; q + 1 < n; q += 2) {
		pairs += page[q] && page[q + 1];
		same += page[q] && page[q] == page[q + 1];
	}
	return same >= PAIRS * pairs;
}

/* Whether each page is in several rows of its set, and in every second one at least, so that it is no stray of another set; and one row of each set has
 * nearly all of it: no two of them are parts of one. */
static bool all_covered(const struct tlb_conflicts *c, const struct most *m)
{
	for (uint32_t q = 0; q < c->n; q++) {
		const uint32_t set = m->page[q] - 1;
		uint32_t in = 0;
		for (uint32_t i = 0; i < c->rows; i++)
			in += m->of[i] == set && c->hot[(size_t)i * c->n + q];
		if (in < AGAIN || 2 * in < m->rows[set])
			return false;
	}
	for (uint32_t k = 0; k < m->sets; k++) {
		bool covered = false;
		for (uint32_t i = 0; i < c->rows; i++) {
			uint32_t own = 0;
			for (uint32_t q = 0; q < c->n && m->of[i] == k; q++)
				own += c->hot[(size_t)i * c->n + q] && m->page[q] == k + 1;
			covered = covered || own >= COVERED * m->size[k];
		}
		if (!covered)
			return false;
	}
	return true;
}

uint32_t tlb_majority(struct arena *a, const struct tlb_conflicts *c, uint32_t *size, uint32_t most, bool *equal)
{
	struct most m = {.of = ARENA_ARRAY(a, c->rows, uint32_t), .page = ARENA_ARRAY(a, c->n, uint32_t)};
	uint32_t ways = 0, lack = 0, whole = 0;

	m.size = ARENA_ARRAY(a, 3 * (size_t)c->rows, uint32_t);
	if (!m.of || !m.page || !m.size || !c->rows)
		return 0;
	m.rows = m.size + c->rows;
	m.in = m.rows + c->rows;
	m.sets = tlb_sets_of_rows(c, m.of);
	if (m.sets < 2 || m.sets > most || !assign(c, &m) || m.strays > STRAY_MOST * m.marks ||
	    tlb_in_pairs(m.page, c->n))
		return 0;
	for (uint32_t k = 0; k < m.sets; k++)
		ways = m.size[k] > ways ? m.size[k] : ways;
	for (uint32_t k = 0; k < m.sets; k++) {
		lack += ways - m.size[k];
		whole += m.size[k] == ways;
		size[k] = m.size[k];
	}
	/* Pages that never missed are those that sets lack, where all sets are alike. */
	*equal = ways > 1 && ways * m.sets == c->n && lack == m.unseen && 4 * whole >= 3 * m.sets;
	return *equal || (!m.unseen && all_covered(c, &m)) ? m.sets : 0;
}
