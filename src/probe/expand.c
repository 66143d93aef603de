#include "probe/expand.h"
#include "base/embed.h"
#include "kernel/kernel.h"
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#define THREADS_MAX 8
#define FEW	    8 /* are expanded sooner than a thread has begun */

void expand_call(const struct job *j, uint64_t hash[2])
{
	uint64_t h = hash64(j->template_path, strlen(j->template_path), j->param_count);

	h = hash64(j->launch.entry, strlen(j->launch.entry), h);
	for (int i = 0; i < 2; i++) {
		for (unsigned k = 0; k < j->param_count; k++) {
			h = hash64(j->param[k].name, strlen(j->param[k].name), h);
			h = hash64(j->param[k].text, strlen(j->param[k].text), h);
		}
		hash[i] = h;
	}
}

struct expansion_wish expand_wish(const struct job *j, const struct kernel_param *param, const uint64_t call[2])
{
	struct expansion_wish w = {.template_path = j->template_path,
				   .param = param,
				   .param_count = j->param_count,
				   .call = {call[0], call[1]}};

	memcpy(w.entry, j->launch.entry, sizeof(w.entry));
	return w;
}

int expand_one(const struct device_info *d, struct expansion_wish *w, struct err *e)
{
	const struct embedded *file = kernel_text(w->template_path, d->dialect);

	str_init(&w->text);
	w->rc = file ? kernel_expand(&w->text, w->template_path, file->data, file->size, w->param, w->param_count, d, e)
		     : err_set(e, -EINVAL, "the kernel text %s does not exist for devices that take %s",
			       w->template_path, d->dialect);
	if (w->rc)
		return w->rc;
	const uint64_t seed = hash64(w->entry, strlen(w->entry), 1);
	w->hash[0] = hash64(w->text.data, w->text.len, seed);
	w->hash[1] = hash64(w->text.data, w->text.len, ~seed);
	return 0;
}

struct crew {
	const struct device_info *device;
	struct expansion_wish *wish;
	size_t count;
	atomic_size_t next;
};

static void *expand_some(void *arg)
{
	struct crew *c = arg;
	struct err why; /* said by whoever wants this text */

	for (size_t i; (i = atomic_fetch_add(&c->next, 1)) < c->count;)
		expand_one(c->device, &c->wish[i], &why);
	return NULL;
}

void expand_all(const struct device_info *d, struct expansion_wish *w, size_t n)
{
	struct crew c = {.device = d, .wish = w, .count = n};
	const long cores = n > FEW ? sysconf(_SC_NPROCESSORS_ONLN) : 1;
	const size_t want = cores > THREADS_MAX ? THREADS_MAX : cores > 1 ? (size_t)cores : 1;
	pthread_t thread[THREADS_MAX];
	size_t started = 0;

	atomic_init(&c.next, 0);
	/* The calling thread works too: without others it does all. */
	while (started + 1 < want && !pthread_create(&thread[started], NULL, expand_some, &c))
		started++;
	expand_some(&c);
	while (started)
		pthread_join(thread[--started], NULL);
}
