#include "cmd/side.h"
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

#define THREADS_MOST 16 /* that a run may use when nobody says how many */

static uint64_t threads_of(void)
{
	const char *text = getenv("FATHOM_THREADS");
	long n = text && *text ? strtol(text, NULL, 10) : sysconf(_SC_NPROCESSORS_ONLN);

	if (!(text && *text) && n > THREADS_MOST)
		n = THREADS_MOST;
	return n < 1 ? 1 : (uint64_t)n; /* a word that is no number is refused where a device opens */
}

unsigned side_workers(struct cmd_context *c, size_t count)
{
	uint64_t threads = threads_of();
	size_t workers = count < threads ? count : threads;
	char each[24];

	if (workers < 2)
		return 1;
	snprintf(each, sizeof(each), "%llu", (unsigned long long)(threads / workers));
	/* The devices live in child processes, which inherit it. Without memory for it they have more threads than they need. */
	if (setenv("FATHOM_THREADS", each, 1))
		fprintf(c->log, "out of memory for FATHOM_THREADS\n");
	return (unsigned)workers;
}

void side_begin(struct side *s, const struct measuring *all, struct cmd_context *c, const char *name, bool alone)
{
	*s = (struct side){.m = *all, .c = *c};
	arena_init(&s->c.arena);
	s->c.error = (struct err){0};
	s->m.c = &s->c;
	snprintf(s->name, sizeof(s->name), "%s", name);
	if (alone)
		return;
	s->m.progress.who = s->name;
	s->m.progress.live = false; /* there is one last line, and several would draw it */
}

/* ---- the threads ---- */

struct sides {
	struct side *s;
	size_t count;
	atomic_size_t next;
	atomic_bool stop;
	pthread_mutex_t names; /* whoever holds it looks for a free name, and takes it */
};

static void measure(struct sides *all, struct side *s)
{
	s->begun = true;
	pthread_mutex_lock(&all->names);
	s->rc = measuring_create(&s->m, s->run, &s->plan, s->output);
	pthread_mutex_unlock(&all->names);
	if (s->rc == CMD_OK)
		s->rc = measuring_run(&s->m, s->run, s->gpu, &s->plan);
	if (s->rc == CMD_OK) {
		s->m.then = arena_printf(&s->c.arena, "fathom reproduce %s --from %s", s->paper, s->m.path);
		s->ended = measuring_outcome(&s->m, s->run);
		progress_say(&s->m.progress, "wrote %s", s->m.path);
	}
	store_close(s->m.store);
	s->m.store = NULL;
	if (s->rc || s->ended)
		atomic_store(&all->stop, true);
}

static void *work(void *arg)
{
	struct sides *all = arg;

	for (size_t i = atomic_fetch_add(&all->next, 1); i < all->count; i = atomic_fetch_add(&all->next, 1)) {
		struct side *s = &all->s[i];

		if (!s->gpu || !s->plan.count)
			s->begun = true;
		else if (!atomic_load(&all->stop))
			measure(all, s);
	}
	return NULL;
}

void side_run(struct side *s, size_t count, unsigned workers)
{
	struct sides all = {.s = s, .count = count};
	pthread_t *helper = workers > 1 ? mem_zero(workers - 1, sizeof(*helper)) : NULL;
	unsigned helpers = 0;

	pthread_mutex_init(&all.names, NULL);
	/* Whoever does not come is not needed: one after the other does it, too. */
	while (helper && helpers + 1 < workers && pthread_create(&helper[helpers], NULL, work, &all) == 0)
		helpers++;
	work(&all);
	while (helpers-- > 0)
		pthread_join(helper[helpers], NULL);
	pthread_mutex_destroy(&all.names);
	mem_free(helper);
	for (size_t i = 0; i < count; i++)
		if (s[i].gpu) {
			s[i].gpu->ops->close(s[i].gpu);
			s[i].gpu = NULL;
		}
}

void side_free(struct side *s)
{
	if (s->gpu)
		s->gpu->ops->close(s->gpu);
	mem_free(s->plan.probes);
	arena_free(&s->c.arena);
}
