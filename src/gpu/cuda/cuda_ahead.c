#include "gpu/cuda/cuda_ahead.h"
#include "base/arena.h"
#include "gpu/cuda/cuda_link.h"
#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#define THREADS_MAX 14		       /* each takes some 15 MB inside the driver */
#define CORES_SPARE 2		       /* for the thread that launches, and for what waits with it */
#define POLITE	    10		       /* nice: what is wanted now goes first */
#define LONG_TEXT   ((size_t)64 << 10) /* bytes: what takes so long by itself has to begin early */

enum ahead_state { AHEAD_WAITING, AHEAD_WORKING, AHEAD_READY, AHEAD_USELESS };

struct ahead_kernel {
	uint64_t hash;
	size_t text_bytes;
	char *name, *entry; /* one allocation, at name */
	char *text;	    /* NULL when it is done */
	void *image;
	size_t image_bytes;
	enum ahead_state state;
	uint32_t group;
	bool soon;
};

struct cuda_ahead {
	struct cuda_gpu *g;
	pthread_mutex_t lock;
	pthread_cond_t work, done;
	struct ahead_kernel **kernels;
	size_t count, cap;
	size_t next[2]; /* before it, none waits; of those that are wanted soon, and of the others */
	bool stop;
	pthread_t threads[THREADS_MAX];
	size_t thread_count;
};

static struct ahead_kernel *find(const struct cuda_ahead *a, const struct kernel_source *src, uint64_t hash,
				 size_t bytes)
{
	for (size_t i = 0; i < a->count; i++) {
		struct ahead_kernel *k = a->kernels[i];
		if (k->hash == hash && k->text_bytes == bytes && !strcmp(k->entry, src->entry))
			return k;
	}
	return NULL;
}

static void compile(struct cuda_ahead *a, struct ahead_kernel *k, bool usable)
{
	const struct kernel_source src = {k->name, k->entry, k->text};
	struct err why = {0}; /* said when it is loaded, by whoever compiles it then */
	void *image = NULL;
	size_t bytes = 0;

	pthread_mutex_unlock(&a->lock);
	const int r = usable ? cuda_link(&a->g->d, &src, &image, &bytes, &why) : -ENODEV;
	pthread_mutex_lock(&a->lock);
	mem_free(k->text);
	k->text = NULL;
	k->image = image;
	k->image_bytes = bytes;
	k->state = r ? AHEAD_USELESS : AHEAD_READY;
	pthread_cond_broadcast(&a->done);
}

/* The next one that waits, NULL: none. */
static struct ahead_kernel *choose(struct cuda_ahead *a)
{
	struct ahead_kernel *longest = NULL;

	for (size_t i = a->next[0] < a->next[1] ? a->next[0] : a->next[1]; i < a->count; i++)
		if (a->kernels[i]->state == AHEAD_WAITING && a->kernels[i]->text_bytes >= LONG_TEXT &&
		    (!longest || a->kernels[i]->text_bytes > longest->text_bytes))
			longest = a->kernels[i];
	if (longest)
		return longest;
	for (unsigned later = 0; later < 2; later++)
		for (size_t *i = &a->next[later]; *i < a->count; ++*i)
			if (a->kernels[*i]->soon == !later && a->kernels[*i]->state == AHEAD_WAITING)
				return a->kernels[*i];
	return NULL;
}

static void *ahead_thread(void *arg)
{
	struct cuda_ahead *a = arg;
	const bool usable = a->g->d.ctx_set_current(a->g->context) == CUDA_SUCCESS;

	setpriority(PRIO_PROCESS, (id_t)syscall(SYS_gettid),
		    POLITE); /* of this thread alone; without it, it is only less polite */
	pthread_mutex_lock(&a->lock);
	while (!a->stop) {
		struct ahead_kernel *k = choose(a);
		if (!k) {
			pthread_cond_wait(&a->work, &a->lock);
			continue;
		}
		k->state = AHEAD_WORKING;
		compile(a, k, usable);
	}
	pthread_mutex_unlock(&a->lock);
	return NULL;
}

/* NULL without memory. Without threads nothing is compiled ahead, and nothing else is missing. */
static struct cuda_ahead *ahead_open(struct cuda_gpu *g)
{
	struct cuda_ahead *a = mem_zero(1, sizeof *a);
	const long cores = sysconf(_SC_NPROCESSORS_ONLN);
	size_t want = cores > CORES_SPARE + 1 ? (size_t)(cores - CORES_SPARE) : cores > 1;

	if (!a)
		return NULL;
	a->g = g;
	pthread_mutex_init(&a->lock, NULL);
	pthread_cond_init(&a->work, NULL);
	pthread_cond_init(&a->done, NULL);
	if (want > THREADS_MAX)
		want = THREADS_MAX;
	while (a->thread_count < want && !pthread_create(&a->threads[a->thread_count], NULL, ahead_thread, a))
		a->thread_count++;
	return a;
}

static void kernel_drop(struct ahead_kernel *k)
{
	mem_free(k->name);
	mem_free(k->text);
	mem_free(k->image);
	mem_free(k);
}

static struct ahead_kernel *kernel_new(const struct kernel_source *src, uint64_t hash)
{
	const size_t name = strlen(src->name) + 1, entry = strlen(src->entry) + 1, text = strlen(src->text) + 1;
	struct ahead_kernel *k = mem_zero(1, sizeof *k);

	if (!k)
		return NULL;
	k->name = mem_alloc(name + entry);
	k->text = mem_alloc(text);
	if (!k->name || !k->text) {
		kernel_drop(k);
		return NULL;
	}
	k->hash = hash;
	k->text_bytes = text - 1;
	memcpy(k->name, src->name, name);
	k->entry = memcpy(k->name + name, src->entry, entry);
	memcpy(k->text, src->text, text);
	return k;
}

static int add(struct cuda_ahead *a, const struct kernel_source *src, uint64_t hash, bool soon)
{
	struct ahead_kernel *k = find(a, src, hash, strlen(src->text));

	if (k && soon && !k->soon) {
		k->soon = true;
		a->next[0] = 0; /* it stands somewhere before those that came later */
	}
	if (k) {
		k->group = src->group ? src->group : k->group;
		return 0;
	}
	if (a->count == a->cap) {
		const size_t cap = a->cap ? 2 * a->cap : 64;
		struct ahead_kernel **grown = mem_grow(a->kernels, cap * sizeof(struct ahead_kernel *));
		if (!grown)
			return -ENOMEM;
		a->kernels = grown;
		a->cap = cap;
	}
	k = kernel_new(src, hash);
	if (!k)
		return -ENOMEM;
	k->soon = soon;
	k->group = src->group;
	a->kernels[a->count++] = k;
	pthread_cond_signal(&a->work);
	return 0;
}

int cuda_ahead_add(struct cuda_gpu *g, const struct kernel_source *src, uint64_t hash, bool soon)
{
	if (!g->ahead)
		g->ahead = ahead_open(g);
	if (!g->ahead)
		return -ENOMEM;
	if (!g->ahead->thread_count)
		return 0;
	pthread_mutex_lock(&g->ahead->lock);
	const int r = add(g->ahead, src, hash, soon);
	pthread_mutex_unlock(&g->ahead->lock);
	return r;
}

size_t cuda_ahead_left(struct cuda_ahead *a, uint32_t group)
{
	size_t bytes = 0;

	if (!a || !a->thread_count)
		return 0;
	pthread_mutex_lock(&a->lock);
	for (size_t i = 0; i < a->count; i++) {
		const struct ahead_kernel *k = a->kernels[i];
		if ((k->state == AHEAD_WAITING || k->state == AHEAD_WORKING) && k->group == group)
			bytes += k->text_bytes;
	}
	pthread_mutex_unlock(&a->lock);
	return bytes;
}

int cuda_ahead_take(struct cuda_ahead *a, const struct kernel_source *src, uint64_t hash, void **image, size_t *bytes,
		    struct err *e)
{
	*image = NULL;
	*bytes = 0;
	if (!a)
		return 0;
	pthread_mutex_lock(&a->lock);
	struct ahead_kernel *k = find(a, src, hash, strlen(src->text));
	if (k && k->state == AHEAD_WAITING)
		k->state = AHEAD_USELESS;
	while (k && k->state == AHEAD_WORKING)
		pthread_cond_wait(&a->done, &a->lock);
	const bool ready = k && k->state == AHEAD_READY; /* which never changes again */
	pthread_mutex_unlock(&a->lock);
	if (!ready)
		return 0;
	/* The image stays here as well: where another kernel of the same load fails, this one is asked for again. */
	*image = mem_alloc(k->image_bytes ? k->image_bytes : 1);
	if (!*image)
		return err_nomem(e);
	memcpy(*image, k->image, k->image_bytes);
	*bytes = k->image_bytes;
	return 0;
}

void cuda_ahead_free(struct cuda_ahead *a)
{
	if (!a)
		return;
	pthread_mutex_lock(&a->lock);
	a->stop = true;
	pthread_cond_broadcast(&a->work);
	pthread_mutex_unlock(&a->lock);
	while (a->thread_count)
		pthread_join(a->threads[--a->thread_count], NULL);
	for (size_t i = 0; i < a->count; i++)
		kernel_drop(a->kernels[i]);
	mem_free(a->kernels);
	pthread_cond_destroy(&a->work);
	pthread_cond_destroy(&a->done);
	pthread_mutex_destroy(&a->lock);
	mem_free(a);
}
