/* Times, instances and homes as the tables of a simulated GPU have them. */
#ifndef FATHOM_TIME_UNITS_H
#define FATHOM_TIME_UNITS_H
#include "gpu/sim/time/time_state.h"
#include <math.h>

/* The places of the spaces in the caches that they share. Far above any global address. */
#define CONSTANT_HOME (1ull << 42)
#define LOCAL_HOME    (1ull << 43)

/* A time in steps of 1 / FIX_ONE of a cycle; the longest that there is for a longer one. */
static inline uint32_t time_fixed(double cycles)
{
	if (!(cycles > 0))
		return 0;
	return cycles >= (double)(UINT32_MAX >> FIX) ? UINT32_MAX : (uint32_t)llround(cycles * FIX_ONE);
}

static inline uint32_t time_instances(const struct sim_spec *s, enum cache_scope scope)
{
	return scope == SCOPE_SM ? s->sm_count : scope == SCOPE_CLUSTER ? s->cluster_count : 1;
}

#endif
