#include "gpu/sim/time/time_threads.h"
#include "base/arena.h"
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>

/* Looks at the ticket before a thread goes to sleep. They take about the time of serving an epoch, so that the thread
 * is awake for the next one. */
#define SPINS 4000

/* Each thread has a share of a round, a run of neighbours in the list, which is about the same from round to round.
 * What a cluster keeps in the host's caches thus stays with one core. A thread takes from the front of its own share,
 * and when that is empty from the ends of the others'.
 *
 * A ticket says all that is left of a share: round, first and end. A thread takes a piece by changing the very ticket
 * that it has read. One that was late thus never takes a piece of a round it knows nothing of. */
#define PLACE_BITS     20
#define PLACES	       ((1u << PLACE_BITS) - 1)
#define FIRST(t)       ((uint32_t)(t)&PLACES)
#define END(t)	       ((uint32_t)((t) >> PLACE_BITS) & PLACES)
#define ONE_FRONT      1ull
#define ONE_BACK       (1ull << PLACE_BITS)
#define LINES_OF_CACHE 128 /* two lines: the host may fetch them in pairs */

struct share {
	_Atomic uint64_t ticket;
	char apart[LINES_OF_CACHE - sizeof(uint64_t)];
};

struct member { /* a helper, when it starts */
	struct time_threads *pool;
	uint32_t number;
};

struct time_threads {
	_Atomic uint64_t round;
	char apart[LINES_OF_CACHE]; /* what is written while others look at something else lies in lines of its own */
	_Atomic uint32_t done;	    /* of this round */
	char apart_too[LINES_OF_CACHE];
	_Atomic uint32_t asleep;
	_Atomic bool quit;
	/* of this round; constant while anything of it is not done */
	struct time_cluster **list;
	void (*job)(struct time_cluster *c, uint64_t arg);
	uint64_t arg;
	pthread_mutex_t lock;
	pthread_cond_t wake;
	uint32_t count; /* helpers: number 1 and up; 0 is the caller */
	pthread_t *thread;
	struct member *member;
	struct share *share;
};

static void rest(void)
{
#if defined(__x86_64__) || defined(__i386__)
	__builtin_ia32_pause();
#endif
}

/* Does what is left of one share; returns how many it did. */
static uint32_t empty(struct time_threads *p, struct share *s, bool own)
{
	uint32_t did = 0;
	uint64_t t = atomic_load(&s->ticket);
	while (FIRST(t) < END(t)) {
		if (!atomic_compare_exchange_weak(&s->ticket, &t, own ? t + ONE_FRONT : t - ONE_BACK))
			continue;
		p->job(p->list[own ? FIRST(t) : END(t) - 1], p->arg);
		did++;
		t = atomic_load(&s->ticket);
	}
	return did;
}

static void work(struct time_threads *p, uint32_t number)
{
	uint32_t did = empty(p, &p->share[number], true);
	for (uint32_t k = 1; k <= p->count; k++)
		did += empty(p, &p->share[(number + k) % (p->count + 1)], false);
	if (did)
		atomic_fetch_add(&p->done, did);
}

static void *helper(void *arg)
{
	const struct member *me = arg;
	struct time_threads *p = me->pool;
	uint64_t seen = 0;
	while (!atomic_load(&p->quit)) {
		for (uint32_t k = 0; k < SPINS && atomic_load(&p->round) == seen; k++)
			rest();
		if (atomic_load(&p->round) == seen) {
			pthread_mutex_lock(&p->lock);
			atomic_fetch_add(&p->asleep, 1);
			while (atomic_load(&p->round) == seen)
				pthread_cond_wait(&p->wake, &p->lock);
			atomic_fetch_sub(&p->asleep, 1);
			pthread_mutex_unlock(&p->lock);
		}
		seen = atomic_load(&p->round);
		work(p, me->number);
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

static void all_free(struct time_threads *p)
{
	mem_free(p->thread);
	mem_free(p->member);
	mem_free(p->share);
	mem_free(p);
}

struct time_threads *threads_open(uint32_t others)
{
	struct time_threads *p = mem_zero(1, sizeof *p);
	if (!p)
		return NULL;
	p->thread = mem_zero(others, sizeof *p->thread);
	p->member = mem_zero(others, sizeof *p->member);
	p->share = mem_zero(others + 1, sizeof *p->share);
	if (!p->thread || !p->member || !p->share) {
		all_free(p);
		return NULL;
	}
	pthread_mutex_init(&p->lock, NULL);
	pthread_cond_init(&p->wake, NULL);
	uint32_t started = 0;
	for (; started < others; started++) {
		p->member[started] = (struct member){.pool = p, .number = started + 1};
		if (pthread_create(&p->thread[started], NULL, helper, &p->member[started]))
			break;
	}
	p->count = started;
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
	atomic_fetch_add(&p->round, 1);
	pthread_mutex_lock(&p->lock);
	pthread_cond_broadcast(&p->wake);
	pthread_mutex_unlock(&p->lock);
	for (uint32_t k = 0; k < p->count; k++)
		pthread_join(p->thread[k], NULL);
	pthread_cond_destroy(&p->wake);
	pthread_mutex_destroy(&p->lock);
	all_free(p);
}

void threads_each(struct time_threads *p, struct time_cluster **list, uint32_t count,
		  void (*job)(struct time_cluster *c, uint64_t arg), uint64_t arg)
{
	uint32_t all = p->count + 1;
	uint64_t round = atomic_load(&p->round) + 1;
	p->list = list;
	p->job = job;
	p->arg = arg;
	atomic_store(&p->done, 0);
	for (uint32_t k = 0; k < all; k++) {
		uint64_t first = (uint64_t)count * k / all, end = (uint64_t)count * (k + 1) / all;
		atomic_store(&p->share[k].ticket, round << 2 * PLACE_BITS | end << PLACE_BITS | first);
	}
	atomic_store(&p->round, round);
	wake(p);
	work(p, 0);
	for (uint32_t k = 0; atomic_load(&p->done) < count; k++) {
		rest();
		if (k > SPINS) /* the thread that has the last ones may want this processor */
			sched_yield();
	}
}
