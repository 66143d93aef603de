/* Listing devices in a child of its own. */
#include "base/arena.h"
#include "gpu/proxy/proxy_ask.h"
#include <errno.h>
#include <stdio.h>

#define LIST_LIMIT_MS 20000

static int take_list(struct wire *in, struct device_list *list, struct err *e)
{
	uint64_t count = 0;

	wire_get(in, list->note, sizeof list->note);
	list->note[sizeof list->note - 1] = 0;
	wire_get(in, &count, sizeof count);
	if (in->failed || count > in->len / sizeof *list->items)
		return err_set(e, -EIO, "the process that lists devices answered nonsense");
	if (!count)
		return 0;
	struct device_info *items = mem_grow(list->items, (list->count + count) * sizeof *items);
	if (!items)
		return err_nomem(e);
	list->items = items;
	if (!wire_get(in, items + list->count, count * sizeof *items))
		return err_set(e, -EIO, "the process that lists devices answered nonsense");
	list->count += count;
	return 0;
}

int gpu_list_isolated(const struct gpu_ops *ops, struct device_list *list, struct err *e)
{
	struct proxy_child child = {0};
	struct wire in = {0}, out = {0};
	char how[80];
	int code = 0, r = proxy_child_start(&child, ops, e);

	if (r)
		return r;
	proxy_begin(&out, PROXY_LIST);
	r = proxy_ask(&child, &out, &in, proxy_after(LIST_LIMIT_MS), &code, e);
	if (r == -ENOMEM) {
		r = err_nomem(e);
	} else if (r) {
		proxy_child_stop(&child, how, sizeof how);
		snprintf(list->note, sizeof list->note, "the process that looks for %s devices %s", ops->name,
			 r == -ETIMEDOUT ? "did not answer" : how);
		r = 0;
	} else {
		r = code ? code : take_list(&in, list, e);
	}
	/* It has nothing left to do; waiting for a driver to shut down would cost more than the question. */
	proxy_child_stop(&child, NULL, 0);
	wire_free(&in);
	wire_free(&out);
	return r;
}
