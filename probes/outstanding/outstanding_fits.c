/* The number of threads from which on the requests of a block no longer fit. */
#include "outstanding.h"
#include <math.h>
#include <stdio.h>

static unsigned entries_after(const struct study *s, const struct curve *c, unsigned n, const struct table *t,
			      unsigned merge)
{
	return t->mshr ? curve_entries(s, c, n, merge) : curve_pieces(s, c, n, merge);
}

/* The last step that the table has room for; 0: that is beyond the curve. */
static unsigned last_that_fits(const struct study *s, const struct curve *c, const struct table *t, unsigned merge)
{
	const unsigned most = curve_most(s, c);

	for (unsigned n = 1; n < most; n++)
		if (entries_after(s, c, n + 1, t, merge) > t->lo)
			return n;
	return 0;
}

/* Whether the curve has a rise where its requests no longer fit, and there or where: *fits. */
static bool has_rise(struct study *s, const struct curve *c, const struct table *t, unsigned *fits)
{
	bool rises = false;

	*fits = c->fits;
	if (c->state != CHASE_DONE)
		return false;
	if (curve_tells(c))
		return table_explains(s, c, t);
	*fits = last_that_fits(s, c, t, t->merge_lo);
	/* The step at which the table is full is not known if the number of lanes that an entry serves is not. */
	return *fits > 1 && *fits == last_that_fits(s, c, t, t->merge_hi) &&
	       curve_rises(s, c, *fits, &rises) == CHASE_DONE && rises;
}

/* What of a block is under way when the table is full: loads of threads, and warps that have some. */
static void conclude_under_way(struct study *s, const struct curve *c, unsigned fits, unsigned threads)
{
	static const char method[] = "latency against threads";
	const unsigned warp = study_device(s)->warp_size, loads = threads * c->loads;
	const struct pattern m = curve_pattern(s, c, fits);
	const unsigned warps = (m.threads + m.more + warp - 1) / warp;
	char key[64];

	snprintf(key, sizeof key, "outstanding.ilp%u.merge%u.requests", c->loads, c->group);
	study_measured_number(s, key, loads, loads, loads, "sm", method, "memory", "%u loads of each of %u threads",
			      c->loads, threads);
	snprintf(key, sizeof key, "outstanding.ilp%u.merge%u.warps", c->loads, c->group);
	study_measured_number(s, key, warps, warps, warps, "sm", method, "memory",
			      "the last line that fits is of warp %u", warps);
}

bool fits_conclude(struct study *s, const struct curve *const *c, unsigned count, const struct table *t)
{
	const unsigned each = t->mshr ? 1 : t->merge_lo, all = t->lo * each;
	unsigned under_way = 0, fits;
	char key[64];

	for (unsigned k = 0; k < count; k++) {
		if (c[k]->way->number != LATENCY_MEMORY || c[k]->lanes || c[k]->stride != LATENCY_STRIDE_BYTES ||
		    (c[k]->group & (c[k]->group - 1)) || !has_rise(s, c[k], t, &fits))
			continue;
		const unsigned threads = curve_threads(s, c[k], fits);
		under_way = fits > under_way ? fits : under_way;
		snprintf(key, sizeof key, "outstanding.ilp%u.merge%u.threads", c[k]->loads, c[k]->group);
		study_measured_number(s, key, threads, threads, threads, "sm", "latency against threads", "memory",
				      "the latency rises behind %u lines, of %u loads with %u threads a line", fits,
				      c[k]->loads, c[k]->group);
		conclude_under_way(s, c[k], fits, threads);
	}
	if (study_pending(s))
		return false;
	if (under_way < all) {
		study_bound(s, "outstanding.requests", under_way, INFINITY, "latency against threads", "memory",
			    "so many lines were under way before the latency rose");
		return true;
	}
	study_measured_number(s, "outstanding.requests", all, all, all, "sm", "latency against threads", "memory",
			      "the latency rises where so many lines are under way, and no earlier");
	study_measured_number(s, "outstanding.entry_requests", each, each, each, "sm", "lines under way over entries",
			      "memory", "%u lines in %u entries", all, t->lo);
	return true;
}
