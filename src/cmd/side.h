/* Several devices measured side by side, each into a run file of its own: what `reproduce` does with a paper of several GPUs. */
#ifndef FATHOM_SIDE_H
#define FATHOM_SIDE_H
#include "cmd/measuring.h"

struct side {
	struct run *run; /* initialised */
	struct gpu *gpu; /* open; NULL: nothing to measure. side_run closes it */
	struct engine_plan plan;
	struct measuring m;	    /* m.c is `c` */
	struct cmd_context c;	    /* its own arena and sentence, so that threads do not share any */
	char name[80];		    /* what its lines on the log begin with where there are several */
	const char *output, *paper; /* path of the run file, NULL: a free name; what is reproduced */
	int rc;			    /* CMD_OK, or why there is nothing; c.error says it */
	int ended;		    /* CMD_OK, or how measuring ended before everything was measured */
	bool begun;		    /* else others ended first, and nothing was measured */
};
/* How many are measured at a time, of `count`: one a thread that this process may use. What remains of the threads is shared out to
 * the simulated GPUs that are opened from now on. */
unsigned side_workers(struct cmd_context *c, size_t count);
/* A side of what `all` measures: its limits, and a context like c. side_free frees it. */
void side_begin(struct side *s, const struct measuring *all, struct cmd_context *c, const char *name, bool alone);
/* Measures all; none is begun any more once one has ended before its end. */
void side_run(struct side *s, size_t count, unsigned workers);
void side_free(struct side *s);

#endif
