#ifndef FATHOM_SHAPE_OF_H
#define FATHOM_SHAPE_OF_H
#include "gpu/sim/spec.h"
#include "model/cache.h"

/* What the simulator's description says, in the model's words. */
static inline struct model_shape shape_of(const struct cache_spec *s)
{
	static const enum rule rule[] = {
	    [POLICY_LRU] = RULE_LRU,	       [POLICY_FIFO] = RULE_FIFO, [POLICY_RANDOM] = RULE_RANDOM,
	    [POLICY_PLRU] = RULE_PLRU,	       [POLICY_NRU] = RULE_NRU,	  [POLICY_WEIGHTED] = RULE_WEIGHTED,
	    [POLICY_SCHEDULE] = RULE_SCHEDULE,
	};
	return (struct model_shape){
	    .line = s->line,
	    .sector = s->sector ? s->sector : s->line,
	    .sets = s->sets,
	    .ways = s->ways,
	    .set_ways = s->set_ways,
	    .shift = s->set_bits_from ? s->set_bits_from - (uint32_t)__builtin_ctz(s->line) : 0,
	    .folded = s->mapping == MAP_HASH,
	    .rule = {.rule = rule[s->policy],
		     .weight = s->weight,
		     .schedule = s->schedule,
		     .schedule_count = s->schedule_count,
		     .by_access = s->policy == POLICY_SCHEDULE && s->step == STEP_ACCESS},
	};
}

#endif
