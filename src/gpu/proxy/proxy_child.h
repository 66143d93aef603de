/* The child's side: serves one backend until the parent is gone. */
#ifndef FATHOM_PROXY_CHILD_H
#define FATHOM_PROXY_CHILD_H
#include "gpu/gpu.h"
#include <sys/types.h>

enum proxy_request {
	PROXY_LIST,
	PROXY_OPEN,
	PROXY_LOAD,
	PROXY_EXPECT,
	PROXY_UNCOMPILED,
	PROXY_RUN,
	PROXY_SENSE,
	PROXY_CLOSE
};

struct proxy_child {
	pid_t pid; /* 0: none */
	int fd;
};

/* Forks. The child never returns. */
int proxy_child_start(struct proxy_child *c, const struct gpu_ops *ops, struct err *e);
/* Kills it and says how it ended: "was killed by signal 11 (Segmentation fault)", "ended with status 3". */
void proxy_child_stop(struct proxy_child *c, char *how, size_t n);
/* Lets it end by itself after a PROXY_CLOSE, for a while. */
void proxy_child_wait(struct proxy_child *c, int ms);

#endif
