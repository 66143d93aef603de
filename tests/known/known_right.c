#include "known_right.h"
#include "base/arena.h"
#include "gpu/sim/time/time_cache.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BRACKET	       0.1  /* of a size */
#define LIKELY_BRACKET 0.25 /* of what is LIKELY (doc/exam.md) */
#define PRICE_BRACKET  0.25 /* of a TLB's cost */
#define STEPPED	       0.02 /* of a latency that a clock of steps measured */
#define DUEL_BEGINS    3    /* one side far ahead, even, the other side */
#define RATE_TOLERANCE 0.06 /* of a share of misses, where victims are drawn */
#define FIT_BRACKET    0.45 /* of a size by equation 6 */

int known_ascending(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

/* The same values, in whatever order. */
static bool is_right_array(const struct value *v, const struct fact *t)
{
	if (v->kind != VALUE_ARRAY || v->array_count != t->count)
		return false;
	double *sorted = mem_alloc(t->count * sizeof *sorted);
	bool right = sorted != NULL;
	for (uint32_t i = 0; right && i < t->count; i++)
		sorted[i] = v->array[i];
	if (right)
		qsort(sorted, t->count, sizeof *sorted, known_ascending);
	for (uint32_t i = 0; right && i < t->count; i++)
		right = fabs(sorted[i] - t->array[i]) <= t->tolerance;
	mem_free(sorted);
	return right;
}

/* The classes of latency of a partitioned level: one for each partition, near one first, wherever the cluster sits. */
static bool is_right_classes(const struct sim_spec *s, const struct finding *f)
{
	for (unsigned path = 0; path < 2; path++)
		for (unsigned k = 0; k < CONST_LEVELS; k++) {
			const struct cache_spec *c = path ? &s->global.level[k] : &s->constant.level[k];
			char key[64];
			snprintf(key, sizeof key, "cache.%s.l%u.latency_classes", path ? "global" : "constant", k + 1);
			if (strcmp(key, f->key) != 0)
				continue;
			if (!c->present || f->value.kind != VALUE_ARRAY || f->value.array_count != c->partitions)
				return false;
			for (unsigned i = 0; i < f->value.array_count; i++) {
				double near = INFINITY, far = -INFINITY, is = f->value.array[i];
				for (uint32_t n = 0; n < s->cluster_count; n++) {
					double offset = c->scope == SCOPE_GPU ? s->cluster_offset[n] : 0;
					near = fmin(near, c->latency + i * c->far_extra + offset);
					far = fmax(far, c->latency + i * c->far_extra + offset);
				}
				if (is < near - 1 || is > far + 1)
					return false;
			}
			return true;
		}
	return false;
}

/* Near and far lines where the L2 has parts; with noise or rows, whatever else. */
static bool is_right_atomic(const struct sim_spec *s, const struct finding *f)
{
	const struct cache_spec *c = &s->global.level[1];
	const bool parts = s->has_l2 && c->partitions > 1 && c->far_extra > 0;
	const double apart = f->value.array_count == 2 ? f->value.array[1] - f->value.array[0] : 0;
	/* Rows of the memory, and lines that others evict, have latencies of their own. */
	if (s->dram.row_miss > 0 || s->noise.neighbour_rate > 0 || s->tlb[TLB_GLOBAL].levels)
		return true;
	return f->value.array_count == 1 ? !parts || c->far_extra <= 10
					 : parts && fabs(apart - c->far_extra) <= 2 + s->clock_granularity;
}

/* Latencies of data, and what translations add to them: each of the spectrum is one of the former with some of the latter. */
static bool is_right_spectrum(const struct sim_spec *s, const struct finding *f)
{
	const struct path_spec *p = &s->global;
	const struct tlb_spec *t = &s->tlb[TLB_GLOBAL];
	double data[4] = {p->memory_latency + s->dram.row_miss / 2}, slack[4] = {s->dram.row_miss / 2},
	       more[TLB_LEVELS + 4];
	unsigned kinds = 1, extras = 1;
	/* Of loads that ask the L1 first, or of all kinds. */
	const bool first = str_starts(f->key, "cache.global.l1.");
	const double vain[3] = {first ? p->level[0].miss_cost + p->level[0].fill_cost : 0, 0,
				first ? p->level[0].miss_cost : 0};
	bool near = false, far = false;
	for (unsigned k = 0; k < 2; k++)
		if (k ? s->has_l2 : s->has_l1) {
			data[kinds] = p->level[k].latency + vain[k + 1] +
				      (p->level[k].partitions > 1 ? p->level[k].far_extra / 2 : 0);
			slack[kinds++] = p->level[k].partitions > 1 ? p->level[k].far_extra / 2 : 0;
		}
	more[0] = 0;
	for (unsigned k = 1; k < t->levels; k++, extras++)
		more[extras] = more[extras - 1] + t->level[k].latency;
	if (t->levels) {
		double walk = more[extras - 1] + t->miss_latency, change = s->tlb_window ? s->tlb_window_switch : 0;
		more[extras++] = walk;
		more[extras++] = walk + t->walk_memory;
		more[extras++] = walk + t->walk_memory + change;
		more[extras++] = walk + change;
	}
	double offset = 0;
	for (uint32_t n = 0; n < s->cluster_count; n++)
		offset = fmax(offset, fabs(s->cluster_offset[n]));
	data[0] += vain[0];
	/* One chain of them all has what memory gives to the L1, too. */
	if (!first && s->has_l1) {
		slack[kinds] = slack[0];
		data[kinds++] = data[0] + p->level[0].miss_cost + p->level[0].fill_cost;
	}
	for (unsigned i = 0; i < f->value.array_count; i++) {
		bool is = false;
		for (unsigned k = 0; k < kinds; k++)
			for (unsigned m = 0; m < extras; m++) {
				bool one = fabs(f->value.array[i] - data[k] - more[m]) <= 2.5 + slack[k] + offset;
				is |= one;
				far |= one && !k && !m;
				near |= one && k && !m;
			}
		if (!is)
			return false;
	}
	return far && (near || kinds == 1);
}

/* The worst of laps over up to half as much again as the L1 holds, of a cache alone. A schedule's pointers may begin anywhere, and a
 * duel with either side ahead. */
static double worst_rate(const struct cache_spec *c, uint8_t begin)
{
	const unsigned fits = (unsigned)(c->size / c->line), laps = 32;
	double worst = 0;
	for (unsigned i = 0; i <= 12; i++) {
		const unsigned lines = (unsigned)(fits * (1 + 0.5 * i / 12));
		struct time_cache cache;
		unsigned missed = 0;
		cache_init(&cache, c, 1, 0);
		if (cache_reserve(&cache))
			return NAN;
		for (unsigned k = 0; cache.turn && k < c->sets; k++)
			cache.turn[k] = begin;
		if (c->policy == POLICY_DUEL)
			cache.duel = begin * cache.duel;
		for (unsigned k = 0; k < laps * lines; k++) {
			uint64_t *fill = cache_touch(&cache, (uint64_t)(k % lines) * c->line, k);
			missed += *fill == CACHE_INVALID && k >= laps / 4 * lines;
			*fill = 0;
		}
		cache_free(&cache);
		worst = fmax(worst, missed / ((laps - laps / 4) * (double)lines));
	}
	return worst;
}

static bool is_right_rate(const struct sim_spec *s, const struct finding *f)
{
	const struct cache_spec *c = &s->global.level[0];
	double least = s->has_l1 ? worst_rate(c, 0) : NAN, most = least;
	const uint32_t begins = c->policy == POLICY_DUEL ? DUEL_BEGINS : c->schedule_count;
	for (uint32_t k = 1; k < begins; k++) {
		least = fmin(least, worst_rate(c, (uint8_t)k));
		most = fmax(most, worst_rate(c, (uint8_t)k));
	}
	return f->value.number >= least - RATE_TOLERANCE && f->value.number <= most + RATE_TOLERANCE;
}

/* Whether a latency is told as well as a clock that counts in steps can. Its interval says something and holds what may
 * be the truth. */
static bool is_right_in_steps(const struct finding *f, const struct fact *t, const struct sim_spec *s)
{
	const bool latency =
	    str_ends(f->key, ".latency") && (str_starts(f->key, "cache.") || str_starts(f->key, "memory."));
	return latency && s->clock_granularity > 1 && f->hi - f->lo <= STEPPED * t->number &&
	       t->number + t->tolerance >= f->lo && t->number - t->tolerance <= f->hi;
}

bool known_right(const struct finding *f, const struct fact *t, const struct sim_spec *s)
{
	const struct value *v = &f->value;
	if (f->verdict == VERDICT_ABSENT)
		return t->absent;
	if (f->verdict == VERDICT_BOUND) /* nothing is bounded that is not there */
		return !t->absent && t->number >= f->lo - t->tolerance && t->number <= f->hi + t->tolerance;
	if (!finding_estimated(f))
		return true;
	if (t->absent)
		return false;
	if (t->count)
		return is_right_array(v, t);
	if (t->text[0])
		return v->kind == VALUE_TEXT && strcmp(v->text, t->text) == 0;
	if (v->kind != VALUE_NUMBER)
		return false;
	/* A size that was bracketed, and not found to the byte, promises its interval, which has to say something. So
	 * does the cost of a translation, of which a clock of wide steps hides some cycles. So does the number of warps
	 * that rates can tell. */
	const bool price = str_starts(f->key, "tlb.") && str_ends(f->key, "latency"),
		   fitted = str_ends(f->key, ".capacity"), warps = str_ends(f->key, ".ridge"),
		   likely = f->verdict == VERDICT_LIKELY,
		   within = t->number >= f->lo && t->number <= f->hi &&
			    f->hi - f->lo <= fmax(warps ? 1 : 0, (fitted   ? FIT_BRACKET
								  : price  ? PRICE_BRACKET
								  : likely ? LIKELY_BRACKET
									   : BRACKET) *
								     t->number); /* counts differ by one at the least */
	if (str_ends(f->key, ".size") && f->hi > f->lo)
		return within;
	return fabs(v->number - t->number) <= t->tolerance || ((price || fitted || warps || likely) && within) ||
	       is_right_in_steps(f, t, s);
}

bool known_composed(const struct sim_spec *s, const struct finding *f, bool *right)
{
	const bool says = finding_estimated(f);
	if (strcmp(f->key, "atomic.add.latency_classes") == 0)
		*right = !says || is_right_atomic(s, f);
	else if (str_ends(f->key, ".latency_classes"))
		*right = !says || is_right_classes(s, f);
	else if (str_ends(f->key, ".latency_spectrum"))
		*right = !says || is_right_spectrum(s, f);
	else if (strcmp(f->key, "cache.global.l1.miss_rate") == 0)
		*right = says ? is_right_rate(s, f) : f->verdict != VERDICT_ABSENT || !s->has_l1;
	else
		return false;
	return true;
}
