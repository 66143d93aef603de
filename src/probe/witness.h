/* The judge beside the findings: what it makes of the same record. It changes no finding. */
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
};
extern const struct witness_path witness_paths[];
extern const unsigned witness_count;

/* The rings of a path's first level, in the arena. *rings is 0 where nothing was measured. 0 or -ENOMEM. */
int witness_rings(struct arena *a, struct run *r, const struct witness_path *p, struct judge_ring **ring,
		  unsigned *rings);

#endif
