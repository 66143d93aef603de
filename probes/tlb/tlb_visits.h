/* What single visits of a ring's pages cost, by one clock as far as that can be told. */
#ifndef FATHOM_TLB_VISITS_H
#define FATHOM_TLB_VISITS_H
#include "tlb.h"

#define TLB_VISITS_LEAST 64 /* of which a price is made */

/* Costs of the visits of a ring's pages, of those that cost as much as one level does: cycles, in the study's arena. */
struct tlb_visits {
	double *cost, *scratch;
	size_t n;
	bool near;  /* no memory was asked */
	bool usual; /* all at the SM's usual clock */
	/* cycles that a clock which was faster for one access of a visit's two may have put to a cost, or taken from it */
	double astray;
};
/* The visits that cost at least `from` and less than `below`. PENDING, DONE, or UNDECIDED with a sentence in out->why; the same is in out->state. */
enum chase_state tlb_visits_get(struct tlb_path *c, const struct tlb_ring *ring, double from, double below,
				struct tlb_visits *v, struct tlb_price *out);

#endif
