/* A wish of a pass on its way to a point. Internal to this room. */
#ifndef FATHOM_ITEM_H
#define FATHOM_ITEM_H
#include "gpu/gpu.h"
#include "probe/study.h"

struct item {
	const struct wish *wish;
	struct job job;
	struct arena arena;
	bool ready;	      /* job is filled */
	uint64_t call[2];     /* expand_call's, of a job that was filled once */
	size_t kernel;	      /* index in the cache, SIZE_MAX when there is none */
	uint32_t id;	      /* what the gpu calls that kernel */
	enum outcome outcome; /* not OK: decided without a launch */
	char message[256];
	struct sample sample; /* what the launch answered */
	int rc;		      /* 0, or why there is no answer, as *why says */
	struct err why;
};

#endif
