#include "gpu/sim/time/time_threads.h"
#include "base/arena.h"
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>

/* Looks at the ticket before a thread goes to sleep: about the time of serving an epoch, so that it is awake for the next one. */
#define SPINS 4000

/* The ticket says all that there is to take: round, how many, and the next one. A thread takes one by adding 1 to the very
 * ticket that it has read, so one that was late never takes a piece of a round it knows nothing of. */
#define NEXT_BITS 20
#define NEXT(t)	  ((uint32_t)(t) & ((1u << NEXT_BITS) - 1))
#define COUNT(t)  ((uint32_t)((t) >> NEXT_BITS) & ((1u << NEXT_BITS) - 1))

struct time_threads {
	_Atomic uint64_t ticket;
	char apart[64];	       /* what everybody writes lies in lines of its own */
	_Atomic uint32_t done; /* of this round */
	_Atomic uint32_t asleep;
	_Atomic bool quit;
	char apart_too[64];
	/* of this round; constant while anything of it is not done */
	struct time_cluster **list;
	void (*job)(struct time_cluster *c, uint64_t arg);
	uint64_t arg;
	uint64_t round;
	pthread_mutex_t lock;
	pthread_cond_t wake;
	uint32_t count;
	pthread_t thread[];
};

static void rest(void)
{
#if defined(__x86_64__) || defined(__i386__)
	__builtin_ia32_pause();
#endif
}

static bool there_is(struct time_threads *p)
{
	uint64_t t = atomic_load(&p->ticket);
	return NEXT(t) < COUNT(t) || atomic_load(&p->quit);
}

/* Takes and does what there is. */
static void work(struct time_threads *p)
{
	uint64_t t = atomic_load(&p->ticket);
	while (NEXT(t) < COUNT(t)) {
		if (!atomic_compare_exchange_weak(&p->ticket, &t, t + 1))
			continue;
		p->job(p->list[NEXT(t)], p->arg);
		atomic_fetch_add(&p->done, 1);
		t = atomic_load(&p->ticket);
	}
}

static void *helper(void *arg)
{
	struct time_threads *p = arg;
	while (!atomic_load(&p->quit)) {
		work(p);
		for (uint32_t k = 0; k < SPINS && !there_is(p); k++)
			rest();
		if (there_is(p))
			continue;
		pthread_mutex_lock(&p->lock);
		atomic_fetch_add(&p->asleep, 1);
		while (!there_is(p))
			pthread_cond_wait(&p->wake, &p->lock);
		atomic_fetch_sub(&p->asleep, 1);
		pthread_mutex_unlock(&p->lock);
	}
	return NULL;
}

static void wake(struct time_threads *p)
{
	if (!atomic_load(&p->asleep))
		return;
	pthread_mutex_lock(&p->lock);
	pthread_cond_broadcast(&p->wake);
	pthread_mutex_unlock(&p->lock);
}

struct time_threads *threads_open(uint32_t others)
{
	struct time_threads *p = mem_zero(1, sizeof *p + others * sizeof p->thread[0]);
	if (!p)
		return NULL;
	pthread_mutex_init(&p->lock, NULL);
	pthread_cond_init(&p->wake, NULL);
	while (p->count < others && !pthread_create(&p->thread[p->count], NULL, helper, p))
		p->count++;
	if (p->count)
		return p;
	threads_close(p);
	return NULL;
}

void threads_close(struct time_threads *p)
{
	if (!p)
		return;
	atomic_store(&p->quit, true);
	pthread_mutex_lock(&p->lock);
	pthread_cond_broadcast(&p->wake);
	pthread_mutex_unlock(&p->lock);
	for (uint32_t k = 0; k < p->count; k++)
		pthread_join(p->thread[k], NULL);
	pthread_cond_destroy(&p->wake);
	pthread_mutex_destroy(&p->lock);
	mem_free(p);
}

void threads_each(struct time_threads *p, struct time_cluster **list, uint32_t count,
		  void (*job)(struct time_cluster *c, uint64_t arg), uint64_t arg)
{
	p->list = list;
	p->job = job;
	p->arg = arg;
	atomic_store(&p->done, 0);
	atomic_store(&p->ticket, ++p->round << 2 * NEXT_BITS | (uint64_t)count << NEXT_BITS);
	wake(p);
	work(p);
	for (uint32_t k = 0; atomic_load(&p->done) < count; k++) {
		rest();
		if (k > SPINS) /* the thread that has the last ones may want this processor */
			sched_yield();
	}
}
