/* The judge beside the findings: what it makes of the same record. It proves nothing that they deny, and estimates what they leave open. */
#ifndef FATHOM_WITNESS_H
#define FATHOM_WITNESS_H
#include "base/err.h"
#include "data/run.h"
#include "judge/judge.h"

/* A path whose first level lies in the SM. */
struct witness_path {
	const char *path;		/* of the keys: "constant" */
	const char *probe, *experiment; /* whose chases it reads */
	unsigned kind;			/* of their loads */
	bool beside; /* records lie in shared memory, which may have taken a part: size and ways are of what it left */
	bool plane;  /* it may be a texture cache, whose lines lie in two dimensions: no mapping is told */
};
extern const struct witness_path witness_paths[];
extern const unsigned witness_count;

/* The rings of a path's first level, in the arena. *rings is 0 where nothing was measured. 0 or -ENOMEM. */
int witness_rings(struct arena *a, struct run *r, const struct witness_path *p, struct judge_ring **ring,
		  unsigned *rings);
/* Whether a key of the path's first level can be told at all. */
bool witness_tells(const struct witness_path *p, enum judge_key k);
/* Whether it is only what shared memory left of it. */
bool witness_at_least(const struct witness_path *p, enum judge_key k);
/* Whether a finding of that key says what the shape says: 1, 0, or -1 where it is none that can be held against it. f: may be NULL. */
int witness_agrees(const struct witness_path *p, const struct judge_shape *q, enum judge_key k,
		   const struct finding *f);
/* Makes keys of first levels that are INCONCLUSIVE LIKELY, where the judge has a value and its shape agrees with everything that was MEASURED of the
 * level, of which there is something. Before the gates. 0 or -ENOMEM. */
int witness_estimate(struct run *r);

#endif
