/* Lines of one set where they are not evenly spaced: those that miss when one line more than fits is read. */
#include "base/arena.h"
#include "replacement.h"
#include "stat/stat.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LAPS	   12
#define OFTEN	   0.1 /* share of the accesses */
#define MORE_LEAST 1.25
#define CONFLICTS  4 /* times as many misses as a line that has nothing to do with it */
#define SAMPLE	   2048.0
#define MOSTLY	   0.5 /* of the accesses */
#define FEW	   0.5 /* of a set's pages that miss together */

static int setup(const struct study *s, double x, const double *p, struct job *j, enum set_path path)
{
	const struct chase_kernel k = {.template_path = path == SET_CONSTANT
							    ? "probes/constant_cache/constant_chase.ptx"
							: path == SET_TEXTURE ? "probes/texture_cache/texture_chase.ptx"
									      : "probes/global_cache/global_chase.ptx",
				       .load = set_load(s, path),
				       .in_shared = true};
	return chase_setup(s, x, p, j, &k);
}

#define SETUP(name, path)                                                                                              \
	int name(const struct study *s, double x, const double *p, struct job *j)                                      \
	{                                                                                                              \
		return setup(s, x, p, j, path);                                                                        \
	}
SETUP(set_setup_near, SET_NEAR)
SETUP(set_setup_past, SET_PAST_L1)
SETUP(set_setup_texture, SET_TEXTURE)
SETUP(set_setup_constant, SET_CONSTANT)
SETUP(set_setup_readonly, SET_READONLY)

/* Latencies that occur often over so many lines. */
static enum chase_state often(struct chase_path *c, const struct set_lines *l, double lines, struct chase_peak *peak,
			      unsigned *peaks)
{
	double timed = fmin(fmin(SAMPLE, c->room), 4 * lines), p[POINT_PARAMS] = {0};
	struct chase_run r;

	p[CHASE_STRIDE] = (double)l->line;
	p[CHASE_WARM] = 2 * lines;
	p[CHASE_TIMED] = timed < 16 ? 16 : timed;
	enum chase_state state = chase_get(c, &r, lines * (double)l->line, p);
	if (state != CHASE_DONE)
		return state;
	uint32_t *v = ARENA_ARRAY(study_arena(c->study), r.kept + 1, uint32_t);
	if (!v)
		return CHASE_UNDECIDED;
	for (uint32_t i = 0; i < r.kept; i++)
		v[i] = chase_ticks(r.record[i]);
	*peaks = chase_peaks(v, r.kept, (uint32_t)fmax(1, l->known.grain), OFTEN, peak, TRACE_PEAKS);
	return CHASE_DONE;
}

/* Ticks from which an access misses: all lines that fit hit, and of twice as many some do not. */
static enum chase_state find_floor(struct chase_path *c, const struct set_lines *l, uint32_t total, double *floor)
{
	struct chase_peak low[TRACE_PEAKS], high[TRACE_PEAKS];
	unsigned lows = 0, highs = 0, best = 0;
	double more = fmin(2.0 * total, (double)(c->limit / l->line));

	enum chase_state a = often(c, l, total, low, &lows), b = CHASE_DONE;
	if (more >= MORE_LEAST * total)
		b = often(c, l, more, high, &highs);
	if (a != CHASE_DONE || b != CHASE_DONE)
		return a == CHASE_UNDECIDED || b == CHASE_UNDECIDED ? CHASE_UNDECIDED : CHASE_PENDING;
	for (unsigned i = 1; i < lows; i++)
		best = low[i].share > low[best].share ? i : best;
	double hit = lows ? low[best].centre : NAN, miss = hit + l->known.below;
	double gap = l->known.below > 0 ? 0.4 * l->known.below : 8 + 0.03 * hit;
	for (unsigned i = highs; i-- > 0;)
		if (high[i].centre > hit + gap)
			miss = high[i].centre;
	snprintf(c->why, sizeof(c->why), "what hits and misses take could not be told over all lines");
	*floor = chase_floor(hit, miss);
	return isfinite(miss) ? CHASE_DONE : CHASE_UNDECIDED;
}

static struct chase_path path_of(struct study *s, const struct set_lines *l)
{
	return (struct chase_path){.study = s,
				   .chase = set_chase(l->path),
				   .limit = l->bound,
				   .word = l->path == SET_TEXTURE || l->path == SET_CONSTANT ? 4 : 8,
				   .room = chase_room(study_device(s), true),
				   .beyond_sm = true};
}

enum chase_state set_usual(struct study *s, const struct set_lines *l, uint64_t bytes, uint64_t step, double *ticks,
			   char *why, size_t why_bytes)
{
	struct chase_path c = path_of(s, l);
	struct chase_peak peak[TRACE_PEAKS];
	struct set_lines steps = *l;
	unsigned peaks = 0, best = 0;

	steps.line = step;
	enum chase_state state = often(&c, &steps, (double)(bytes / step), peak, &peaks);
	for (unsigned i = 1; i < peaks; i++)
		best = peak[i].share > peak[best].share ? i : best;
	*ticks = peaks ? peak[best].centre : NAN;
	if (state == CHASE_DONE && (!peaks || peak[best].share < MOSTLY))
		state = CHASE_UNDECIDED;
	if (state == CHASE_UNDECIDED)
		snprintf(why, why_bytes, "its latency is not known, and no usual one is seen over %llu bytes",
			 (unsigned long long)bytes);
	return state;
}

/* Of caches: the shared chase over all lines and one more. */
static enum chase_state by_chase(struct study *s, const struct set_lines *l, uint32_t total, uint32_t extra, bool *hot,
				 char *why, size_t why_bytes)
{
	struct chase_path c = path_of(s, l);
	struct chase_ring_spec ring = {.bytes = total * l->line, .stride = l->line, .extra = extra * l->line};
	struct chase_blocks found;
	enum chase_state state = find_floor(&c, l, total, &c.level[0].floor);
	if (state == CHASE_DONE) {
		c.level[0].sector = (struct chase_fact){.state = CHASE_DONE, .value = l->line};
		state = chase_hot(&c, 0, &ring, &found);
	}
	if (state != CHASE_DONE) {
		snprintf(why, why_bytes, "%.160s", c.why);
		return state;
	}
	for (uint32_t i = 0; i < total; i++)
		hot[i] = i < found.count && found.hot[i];
	return CHASE_DONE;
}

/* What single accesses were, by hits of one latency, and else of several. */
static uint8_t *told(const struct policy_level *of, const struct policy_plan *plan, struct policy_sequence *q,
		     struct policy_result *said)
{
	struct policy_level level = *of;
	uint8_t *seen = policy_classes(&level, plan, q, said);

	level.apart = !seen && said->state == CHASE_UNDECIDED;
	return level.apart ? policy_classes(&level, plan, q, said) : seen;
}

/* Of pages: a trace, in laps over all of them and one more. */
static enum chase_state by_trace(struct study *s, const struct set_lines *l, uint32_t total, uint32_t extra, bool *hot,
				 char *why, size_t why_bytes)
{
	struct set_lines dense = *l;
	struct set_ask ask = {s, &dense};
	struct policy_plan plan = {POLICY_RING, total, total + 1, 0, LAPS * (total + 1)};
	struct policy_sequence q = {0};
	struct policy_result said = {0};

	dense.mode = SET_DENSE;
	dense.extra = extra * l->line;
	dense.between = 0;
	struct policy_level level = {.study = s,
				     .ways = total,
				     .lines = total + 1,
				     .known = l->known,
				     .parts = l->parts,
				     .others = true,
				     .ask = set_trace,
				     .ctx = &ask};
	/* Of all those pages, those of one set miss: in most laps, and at one latency. Other rules than the oldest make fewer misses, and what lies
	 * behind the level may answer at several. */
	level.known.few = FEW * (l->ways + 1.0) / (total + 1.0);
	uint8_t *seen = told(&level, &plan, &q, &said);
	if (!seen && said.state == CHASE_UNDECIDED) {
		level.known.few *= FEW;
		seen = told(&level, &plan, &q, &said);
	}
	uint32_t *misses = ARENA_ARRAY(study_arena(s), total + 1, uint32_t), most = 0;
	if (!seen || !misses) {
		snprintf(why, why_bytes, "%s", said.seen);
		return seen ? CHASE_UNDECIDED : said.state;
	}
	for (uint32_t i = q.from; i < q.count; i++)
		misses[q.line[i]] += seen[i] == TRACE_MISS;
	for (uint32_t i = 0; i < total; i++)
		most = misses[i] > most ? misses[i] : most;
	for (uint32_t i = 0; i < total; i++)
		hot[i] = most >= LAPS / 2 && CONFLICTS * misses[i] >= most;
	return CHASE_DONE;
}

enum chase_state set_conflicts(struct study *s, struct set_lines *l, uint32_t total, uint32_t extra, char *why,
			       size_t why_bytes)
{
	bool *hot = ARENA_ARRAY(study_arena(s), total, bool);
	unsigned n = 0;

	snprintf(why, why_bytes, "out of memory");
	if (!hot)
		return CHASE_UNDECIDED;
	enum chase_state state = (set_pages(l->path) ? by_trace : by_chase)(s, l, total, extra, hot, why, why_bytes);
	if (state != CHASE_DONE)
		return state;
	for (uint32_t i = 0; i < total; i++)
		if (hot[i] && ++n < set_listed(total))
			l->listed[n - 1] = i;
	if (n < 2 || n >= set_listed(total))
		return chase_why(why, why_bytes, "one more line conflicts with %u lines, which are %s", n,
				 n < 2 ? "too few" : "too many to try");
	l->listed[n] = extra;
	l->ways = n;
	return CHASE_DONE;
}
