/* A run as libfathom hands it out. Internal to this room. */
#ifndef FATHOM_LIB_RUN_H
#define FATHOM_LIB_RUN_H
#include "base/err.h"
#include "data/run.h"
#include "lib/fathom.h"

struct fathom_run {
	struct run run;
	struct arena arena; /* of everything below */
	struct fathom_device device;
	struct fathom_finding *finding;
	size_t finding_count;
	struct figure_list drawn;
	struct fathom_figure *figure;
	size_t figure_count;
	bool has_figures;
};

/* Puts the sentence where the caller wants it. Returns rc. */
int lib_fail(struct fathom_error *why, const struct err *e, int rc);
/* Empty; NULL: out of memory. */
struct fathom_run *lib_new(void);
/* Fills what is handed out from the run, whose findings are sorted for it. 0 or -ENOMEM. */
int lib_fill(struct fathom_run *r);

#endif
