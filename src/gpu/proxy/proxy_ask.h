/* Requests to a child and its answers. Private to the proxy. */
#ifndef FATHOM_PROXY_ASK_H
#define FATHOM_PROXY_ASK_H
#include "gpu/proxy/proxy_child.h"
#include "gpu/proxy/proxy_wire.h"

int64_t proxy_after(int64_t ms); /* a deadline, so long from now */
void proxy_begin(struct wire *w, enum proxy_request request);
/* Receives an answer into in. 0: *code and *e are the child's answer. -EPIPE, -ETIMEDOUT, -EBADMSG: the child is of no use any more. */
int proxy_hear(struct proxy_child *c, struct wire *in, int64_t deadline, int *code, struct err *e);
/* Sends out and hears the answer. -ENOMEM: nothing happened. */
int proxy_ask(struct proxy_child *c, struct wire *out, struct wire *in, int64_t deadline, int *code, struct err *e);

#endif
