/* What the tests of the engine see of a run. */
#ifndef FATHOM_TEST_ENGINE_WATCH_H
#define FATHOM_TEST_ENGINE_WATCH_H
#include "null_gpu.h"
#include "probe/engine.h"

#define NAMES(...) ((const char *const[]){__VA_ARGS__, NULL})

struct watch {
	unsigned begun, ended, committed, progressed;
	unsigned stop_after; /* points; 0 = never */
	int commit_rc;
	char order[128]; /* the probes' names as they began */
	char ends[128];	 /* and as they ended */
};

/* Measures the named probes and what they need; every call of the engine is counted in w. */
int measure(struct run *r, struct null_gpu *g, const char *const *names, size_t n, struct watch *w, struct err *e);
/* The same findings, but for the time they were made. */
void expect_same(const struct finding_list *a, const struct finding_list *b);

#endif
