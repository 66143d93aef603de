#include "gpu/proxy/proxy_ask.h"
#include <errno.h>

#define NS_PER_MS 1000000ll

int64_t proxy_after(int64_t ms)
{
	return wire_now() + ms * NS_PER_MS;
}

void proxy_begin(struct wire *w, enum proxy_request request)
{
	uint32_t r = request;

	wire_clear(w);
	wire_put(w, &r, sizeof r);
}

int proxy_hear(struct proxy_child *c, struct wire *in, int64_t deadline, int *code, struct err *e)
{
	struct err answer;
	int32_t n;
	int r = wire_receive(c->fd, in, deadline);

	if (r == -ENOMEM) /* part of the answer is still on its way: the stream cannot be used any more */
		return -EBADMSG;
	if (r)
		return r;
	wire_get(in, &n, sizeof n);
	wire_get(in, &answer, sizeof answer);
	if (in->failed)
		return -EBADMSG;
	answer.text[sizeof answer.text - 1] = 0;
	*code = n;
	if (n && e)
		*e = answer;
	return 0;
}

int proxy_ask(struct proxy_child *c, struct wire *out, struct wire *in, int64_t deadline, int *code, struct err *e)
{
	if (out->failed)
		return -ENOMEM;
	int r = wire_send(c->fd, out);
	return r ? r : proxy_hear(c, in, deadline, code, e);
}
