#include "probe/chase_walk.h"
#include "base/arena.h"
#include "stat/stat.h"
#include <math.h>

/* floor: ticks from which an access counts, of whatever class; 0 = only those of first_class on do. */
static struct chase_walked walked(struct chase_path *c, const struct chase_run *run, unsigned runs,
				  unsigned first_class, double floor)
{
	struct chase_walked w = {0};
	size_t total = 0, n = 0;
	uint64_t some[UNIT_SAMPLES];

	for (unsigned i = 0; i < runs; i++)
		total += run[i].kept;
	uint64_t *at = ARENA_ARRAY(study_arena(c->study), total + 1, uint64_t);
	size_t *from = ARENA_ARRAY(study_arena(c->study), runs + 1, size_t);
	/* Which of them are of one of these classes, not only slower than all. */
	bool *own = ARENA_ARRAY(study_arena(c->study), total + 1, bool);
	if (!at || !from || !own)
		return w;
	for (unsigned i = 0; i < runs; i++) {
		from[i] = n;
		for (uint32_t k = 0; k < run[i].kept; k++) {
			double ticks = chase_ticks(run[i].record[k]);
			/* In a class, not only slower than another one: jitter is slow anywhere. */
			for (unsigned q = first_class; q < c->class_count && !own[n]; q++)
				own[n] = fabs(ticks - c->classes[q].centre) <= chase_reach(ticks, c->grain);
			/* Slower than every class: of one that only first touches belong to. */
			double slowest = c->classes[c->class_count - 1].centre;
			if (own[n] || (floor > 0 && ticks >= floor) ||
			    (first_class < c->class_count && ticks > slowest + 3 * chase_reach(ticks, c->grain)))
				at[n++] = (uint64_t)chase_at(run[i].point->p, run[i].elements,
							     chase_index(run[i].record[k])) *
					  c->word;
		}
	}
	from[runs] = n;
	if (n < 8 || n > 0.97 * (double)total)
		return w;
	/* A part drawn at random is as good as all, and much cheaper; every n-th would have a period of its own. */
	size_t few = n < UNIT_SAMPLES ? n : UNIT_SAMPLES;
	for (size_t k = 0; k < few; k++)
		some[k] = at[few == n ? k : (k * 2654435761u + 12345) % n];
	w.unit = stat_gcd_robust(some, few, 0.85, UNIT_MOST);
	/* Lines and sectors are powers of two; anything else is a stall that keeps step. */
	if (w.unit & (w.unit - 1))
		w.unit = 0;
	for (unsigned i = 0; i < runs && w.unit; i++) {
		double half[2] = {0}, mine = 0, could = (double)run[i].kept * c->word / (double)w.unit;
		for (size_t k = from[i]; k < from[i + 1]; k++) {
			if (at[k] % w.unit)
				continue;
			half[at[k] / w.unit % 2]++;
			mine += own[k];
		}
		w.own_coverage = fmax(w.own_coverage, mine / could);
		double more = fmax(half[0], half[1]), less = fmin(half[0], half[1]);
		if ((more + less) / could <= w.coverage)
			continue;
		w.coverage = (more + less) / could;
		w.lopsided = more >= 8 && less < 0.35 * more;
	}
	for (unsigned i = 0; i < runs && w.unit && w.coverage < 0.5; i++)
		for (uint64_t unit = 2 * w.unit; unit <= UNIT_MOST && !w.blocks; unit *= 2) {
			double have = 0, units = (double)run[i].kept * c->word / (double)unit,
			       rest = units * ((double)unit / (double)w.unit - 1);
			double others = 0;
			for (size_t k = from[i]; k < from[i + 1]; k++) {
				have += own[k] && at[k] % unit == 0;
				others += at[k] % unit != 0;
			}
			if (units >= 16 && have >= 0.85 * units && have / units >= 3 * others / rest)
				w.blocks = unit;
		}
	return w;
}

struct chase_walked chase_walk_of(struct chase_path *c, const struct chase_run *run, unsigned runs,
				  unsigned first_class)
{
	return walked(c, run, runs, first_class, 0);
}

struct chase_walked chase_walk_slower(struct chase_path *c, const struct chase_run *run, unsigned runs,
				      unsigned first_class, double floor)
{
	return walked(c, run, runs, first_class, floor);
}

struct chase_walked chase_walk_beyond(struct chase_path *c, const struct chase_run *run, unsigned runs, unsigned k)
{
	const unsigned behind = c->level[k + 1].class_first;
	const struct chase_walked own = walked(c, run, runs, behind, 0),
				  all = walked(c, run, runs, behind, c->level[k].floor);

	return all.unit > c->word && all.unit < own.unit && all.coverage >= 0.5 ? all : own;
}

#define LATE_LEAST   0.9  /* of the places where pieces begin: first touches are late there ... */
#define LATE_MOST    0.05 /* ... and hardly anywhere else */
#define PIECES_LEAST 64

uint64_t chase_first_fetch(struct chase_path *c, const struct chase_run *run)
{
	const uint64_t words = run[0].elements;
	uint32_t *warm = ARENA_ARRAY(study_arena(c->study), words + 1, uint32_t);

	if (!warm)
		return 0;
	for (uint32_t k = 0; k < run[1].kept; k++)
		warm[(uint64_t)chase_at(run[1].point->p, run[1].elements, chase_index(run[1].record[k])) % words] =
		    chase_ticks(run[1].record[k]);
	for (uint64_t unit = 2; unit * c->word <= UNIT_MOST; unit *= 2) {
		double begins = 0, late = 0, others = 0, others_late = 0;
		for (uint32_t k = 0; k < run[0].kept; k++) {
			const uint64_t at =
			    (uint64_t)chase_at(run[0].point->p, run[0].elements, chase_index(run[0].record[k]));
			const double ticks = chase_ticks(run[0].record[k]), again = warm[at % words];
			if (again <= 0)
				continue;
			const bool is_late = ticks > again + 2 * chase_reach(ticks, c->grain);
			begins += at % unit == 0;
			late += at % unit == 0 && is_late;
			others += at % unit != 0;
			others_late += at % unit != 0 && is_late;
		}
		if (begins < PIECES_LEAST || late < LATE_LEAST * begins)
			continue;
		return others_late <= LATE_MOST * others ? unit * c->word : 0;
	}
	return 0;
}
