#include "probe/flight.h"
#include <stdio.h>
#include <string.h>
#include <time.h>

#define PIN_TRIES    8
#define PIN_GRID_MAX (1u << 20)

double engine_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static bool claimed(const struct sample *s)
{
	for (uint32_t r = 0; r < s->repeats; r++) {
		if (s->words[(size_t)r * s->words_per_repeat] == 0)
			return false;
	}
	return true;
}

/* Words of a wrong shape would make every later reader unsafe. A recording may have another number of repeats. */
static void check_shape(const struct flight *f, const struct launch *l, struct sample *s)
{
	const uint32_t repeats = l->repeats ? l->repeats : 1, words = launch_words(l);
	const uint32_t got[2] = {s->repeats, s->words_per_repeat};
	const bool repeated = f->recorded ? s->repeats > 0 : s->repeats == repeats;

	if (s->outcome != OUTCOME_OK || (repeated && s->words_per_repeat == words && (s->words || !words)))
		return;
	sample_free(s);
	s->outcome = f->recorded ? OUTCOME_INVALID : OUTCOME_CRASH;
	s->elapsed_ms = -1;
	snprintf(s->message, sizeof(s->message), "the %s answered with %u x %u words instead of %u x %u",
		 f->recorded ? "recording" : "device", got[0], got[1], repeats, words);
}

static int run_once(struct flight *f, struct item *it)
{
	struct sample *s = &it->sample;

	sample_free(s);
	const double began = engine_now();
	int rc = f->gpu->ops->run(f->gpu, it->id, &it->job.launch, s, &it->why);
	f->seconds += engine_now() - began;
	f->launches++;
	if (rc)
		sample_free(s);
	else
		check_shape(f, &it->job.launch, s);
	return rc;
}

/* Runs until a block landed on the SM: larger grids make it likelier. */
static int run_item(struct flight *f, struct item *it)
{
	struct launch *l = &it->job.launch;
	struct sample *s = &it->sample;
	int rc = run_once(f, it);

	if (!it->job.pinned || f->recorded)
		return rc;
	for (int i = 1; i < PIN_TRIES && !rc && s->outcome == OUTCOME_OK && !claimed(s); i++) {
		if (l->grid[0] < PIN_GRID_MAX)
			l->grid[0] *= 2;
		rc = run_once(f, it);
	}
	if (!rc && s->outcome == OUTCOME_OK && !claimed(s)) {
		const uint32_t sm = (uint32_t)(l->arg_count > 1 ? l->args[1].bits : 0);
		sample_free(s);
		s->outcome = OUTCOME_INVALID;
		snprintf(s->message, sizeof(s->message), "no block landed on SM %u", sm);
	}
	return rc;
}

static void *fly(void *arg)
{
	struct flight *f = arg;
	const double began = engine_now();

	for (size_t i = 0; i < f->count && f->lost < LOST_MAX && !atomic_load(&f->stop); i++) {
		struct item *it = &f->items[i];
		it->sample = (struct sample){.outcome = it->outcome, .elapsed_ms = -1};
		it->rc = 0;
		if (it->outcome == OUTCOME_OK) {
			it->rc = run_item(f, it);
			f->lost = it->rc ? f->lost + 1 : 0;
		}
		atomic_store(&f->done, i + 1);
	}
	f->span += engine_now() - began;
	atomic_store(&f->over, true);
	return NULL;
}

void flight_begin(struct flight *f, struct item *items, size_t n, unsigned lost)
{
	f->items = items;
	f->count = n;
	f->lost = lost;
	f->span = 0;
	atomic_store(&f->done, 0);
	atomic_store(&f->over, false);
	atomic_store(&f->stop, false);
	f->begun = f->gpu->ops->apart && !pthread_create(&f->thread, NULL, fly, f);
	if (f->begun)
		return;
	fly(f);
	f->span = 0; /* the caller has waited itself */
}

bool flight_over(const struct flight *f)
{
	return !f->begun || atomic_load(&f->over);
}

void flight_end(struct flight *f)
{
	if (f->begun)
		pthread_join(f->thread, NULL);
	f->begun = false;
}
