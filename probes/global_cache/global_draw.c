/* Latency of global memory against footprint, through the L1 and past it. */
#include "global_draw.h"
#include "probe/chase.h"

/* The key of the latency of the smallest footprint, through the L1 or past it. */
static const char *nearest(const struct study *s, unsigned kind)
{
	static const char *const sizes[] = {"cache.global.l1.size", "cache.global.l2.size"},
				 *const latencies[] = {"cache.global.l1.latency", "cache.global.l2.latency"};

	for (; kind < 2; kind++) {
		const struct finding *f = study_finding(s, sizes[kind]);
		if (!f || f->verdict != VERDICT_ABSENT)
			return latencies[kind];
	}
	return "memory.global.latency";
}

int global_draw(const struct study *s, struct figure_list *out)
{
	static const char *const names[] = {"global-latency", "global-latency-past-l1"};
	static const char *const titles[] = {"Global memory: latency against footprint",
					     "Global memory past the L1: latency against footprint"};

	for (unsigned kind = 0; kind < 2; kind++) {
		struct figure *f;
		double size;
		int rc = chase_draw(s, study_series(s, DRAWN_CHASE), nearest(s, kind), kind, names[kind], titles[kind],
				    out, &f);
		if (rc)
			return rc;
		if (f && kind == DRAWN_NEAR && study_number(s, "cache.global.l1.size", &size))
			figure_note(f, true, size, "L1");
		if (f && study_level_held(s, "cache.global.l2", &size))
			figure_note(f, true, size, "L2");
	}
	return 0;
}
