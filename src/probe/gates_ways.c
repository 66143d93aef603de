/* Gates over what two methods find that share nothing. Loops are timed from outside by the whole launch; single
 * operations and accesses are timed by the SM's clock. Each has its own intervals. If even those, made wider, have
 * nothing in common, one of the methods is wrong. */
#include "probe/chase.h"
#include "probe/gates.h"
#include "probe/policy.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

#define SLACK	    0.05 /* of a rate or a latency, beside both intervals */
#define SLACK_TICKS 1.0	 /* of a latency */
#define SLACK_NEAR  0.03 /* of a latency that another one must not fall below */
/* How far apart two methods' values may be if their intervals have nothing in common. Values of what an operation takes
 * were never seen more than 0.016 apart, on cards 0.005. Those of loads from the nearest cache were 0.031 apart, or 1.2
 * cycles. */
#define APART_PIPE     0.025
#define APART_SHARED   0.025
#define APART_NEAR     0.05
#define APART_TICKS    1.5
#define COARSER	       2    /* times as wide an interval */
#define SLACK_BYTES    0.15 /* of a capacity that a curve of run times gave */
#define SLACK_WALK     0.12 /* of a latency, where levels nearly as fast are met as one */
#define SLACK_STREAM   0.1  /* of what memory gives */
#define NEARLY_AS_FAST 1.3  /* levels whose latencies are no further apart */
#define WALK_LEVELS    8
#define CHAINS	       3

/* Lowest and highest that a finding leaves room for; nothing, where it says nothing. */
struct room {
	double lo, hi;
};

static struct room room_of(const struct finding *f, double slack, double ticks)
{
	double v;
	if (!f || !gates_number(f, &v))
		return (struct room){gates_at_least(f), gates_at_most(f)};
	const double lo = isfinite(f->lo) ? f->lo : v, hi = isfinite(f->hi) ? f->hi : v;
	return (struct room){lo - slack * fabs(lo) - ticks, hi + slack * fabs(hi) + ticks};
}

/* Whether two findings deny each other: a measures `times` of what b does. */
static bool deny(const struct finding *a, const struct finding *b, double times, double slack, double ticks)
{
	const struct room x = room_of(a, 0, 0), y = room_of(b, 0, 0);
	double v, w;
	return gates_number(a, &v) && gates_number(b, &w) && (x.lo > times * y.hi || x.hi < times * y.lo) &&
	       fabs(v - times * w) > fmax(slack * times * w, ticks);
}

static struct finding *of_level(struct gates *g, const char *path, unsigned k, const char *what)
{
	return gates_find(g->list, KEY("cache.%s.l%u.%s", path, k, what));
}

static struct finding *of_memory(struct gates *g, const char *path)
{
	return gates_find(g->list, KEY("memory.%s.latency", path));
}

/* What a class of operations is measured by: one link is so many operations. */
struct class
{
	const char *name, *op[2]; /* the second where the first is not there */
	double operations;
};
static const struct class classes[] = {
    {"sp", {"add.f32", NULL}, 1}, {"mad", {"fma.f32", "mad.f32"}, 1}, {"int", {"mad.u32", NULL}, 2},
    {"dp", {"add.f64", NULL}, 1}, {"sf", {"cos.f32", NULL}, 1},
};

static struct finding *arith(struct gates *g, const struct class *c, const char *what)
{
	struct finding *f = NULL;
	double v;
	for (unsigned i = 0; i < 2 && c->op[i]; i++) {
		f = gates_find(g->list, KEY("arith.%s.%s", c->op[i], what));
		/* One that is there and not known is no reason to take another one, which may be slower. */
		if (f && f->verdict != VERDICT_UNSUPPORTED)
			return gates_number(f, &v) ? f : NULL;
	}
	return NULL;
}

static struct finding *pipeline(struct gates *g, const struct class *c, unsigned chains, const char *what)
{
	return gates_find(g->list, KEY("pipeline.%s.ilp%u.%s", c->name, 1u << chains, what));
}

/* One chain of one warp takes an operation's latency. */
static void class_latency(struct gates *g, const struct class *c)
{
	struct finding *one = arith(g, c, "latency"), *loop = pipeline(g, c, 0, "completion");
	double v;
	if (!one || !gates_number(loop, &v))
		return;
	if (deny(one, loop, c->operations, APART_PIPE, 0))
		gates_fail(g, (struct finding *[]){one, loop}, 2,
			   "%s: a loop of one chain takes %.6g cycles an operation, and a chain by the SM's clock %.6g",
			   one->key, v * c->operations, one->value.number);
}

/* No number of chains does more than the pipe, and one of them as much. */
static void class_rate(struct gates *g, const struct class *c)
{
	static const char *const same[] = {"peak", "issue", "performance", "ridge"}; /* the last begins near the peak */
	struct finding *one = arith(g, c, "throughput"), *best = NULL;
	char stem[64], why[200];
	unsigned n = 0;
	double v, most = 0;
	if (!one)
		return;
	for (unsigned i = 0; i < CHAINS; i++) {
		struct finding *loop = pipeline(g, c, i, "peak");
		if (!gates_number(loop, &v))
			continue;
		if (v > most) {
			most = v;
			best = loop;
		}
		n++;
	}
	const double reached = most / c->operations;
	if (!best || !deny(best, one, c->operations, APART_PIPE, 0) || (n < CHAINS && reached <= one->value.number))
		return;
	snprintf(why, sizeof why, "%s: loops timed from outside reach %.6g a cycle, and by the SM's clock %.6g",
		 one->key, reached, one->value.number);
	snprintf(stem, sizeof stem, "%.*s", (int)(strlen(one->key) - strlen("throughput")), one->key);
	gates_fail_of(g, stem, (const char *const[]){"throughput", "issue"}, 2, why);
	for (unsigned i = 0; i < CHAINS; i++) {
		snprintf(stem, sizeof stem, "pipeline.%s.ilp%u.", c->name, 1u << i);
		gates_fail_of(g, stem, same, sizeof same / sizeof *same, why);
	}
}

/* Loads that the nearest cache answers do not come before it answers. They may come later, for what their addresses
 * cost. With a path, a failure also casts doubt on its caches. A nearer one may have gone unseen, so that no level is
 * the one that it passes for. NULL: no path. */
static void nearest(struct gates *g, const char *outside, const char *inside, const char *path)
{
	struct finding *loop = gates_find(g->list, outside), *one = gates_find(g->list, inside);
	double a, b;
	if (!gates_number(loop, &a) || !gates_number(one, &b))
		return;
	if (room_of(loop, SLACK_NEAR, 0).hi >= room_of(one, SLACK_NEAR, 0).lo)
		return;
	static const char why[] =
	    "a load takes %.6g cycles in loops that are timed from outside, and %.6g by the SM's clock";
	gates_fail(g, (struct finding *[]){loop, one}, 2, why, a, b);
	char stem[32];
	snprintf(stem, sizeof stem, "cache.%s.l", path ? path : "");
	for (size_t i = 0; path && i < g->list->count; i++) {
		struct finding *f = &g->list->items[i];
		if (!strncmp(f->key, stem, strlen(stem)) && f->verdict <= VERDICT_ABSENT)
			gates_fail(g, &f, 1, why, a, b);
	}
}

/* Two findings deny each other. A timer from outside that is clearly coarser than the clock takes nothing back that the clock told: it falls alone. */
static void fail_coarser(struct gates *g, struct finding *loop, struct finding *one)
{
	const bool coarser = loop->hi - loop->lo > COARSER * (one->hi - one->lo);
	gates_fail(g, (struct finding *[]){loop, one}, coarser ? 1 : 2,
		   "a load takes %.6g cycles in loops that are timed from outside, and %.6g by the SM's clock",
		   loop->value.number, one->value.number);
}

/* And where their addresses cost nothing, or that was taken off, they come no later. */
static void later(struct gates *g, const char *outside, const char *inside, double slack, double ticks)
{
	struct finding *loop = gates_find(g->list, outside), *one = gates_find(g->list, inside);
	double a, b;
	if (gates_number(loop, &a) && gates_number(one, &b) && deny(loop, one, 1, slack, ticks))
		fail_coarser(g, loop, one);
}

/* What a warp's loads take of an SM's shared memory, and its bytes a cycle. */
static void shared_rate(struct gates *g)
{
	struct finding *issue = gates_find(g->list, "memory.shared.4.issue"),
		       *bytes = gates_find(g->list, "memory.shared.4.bandwidth"),
		       *rate = gates_find(g->list, "shared.bandwidth"), *warp = gates_find(g->list, "device.warp_size");
	double threads;
	if (!issue || !rate || !gates_number(warp, &threads))
		return;
	const struct room a = room_of(issue, SLACK, 0), b = room_of(rate, SLACK, 0);
	const double moved = 4 * threads;
	if (a.hi * b.hi >= moved && a.lo * b.lo <= moved)
		return;
	struct finding *all[] = {issue, rate, bytes};
	gates_fail(g, all, bytes ? 3 : 2,
		   "warps that load 4 bytes a thread take %.6g to %.6g cycles of shared memory each. A bandwidth of "
		   "%.6g to %.6g bytes a cycle contradicts that",
		   a.lo, a.hi, b.lo, b.hi);
}

/* What a load costs beside the cache, its address arithmetic, from loads that the nearest cache answers. False where it is not known. */
static bool beside_cache(struct gates *g, const char *path, double *cycles)
{
	double loop, one;
	if (!gates_number(gates_find(g->list, KEY("memory.%s.4.timed_hit", path)), &loop))
		return false;
	if (!gates_number(of_level(g, path, 1, "latency"), &one))
		return false;
	*cycles = loop - one;
	return true;
}

/* Whether a level of the walk is level k by single accesses: as large and, where both say it, as far. Unknown: it may be. */
static bool same_level(struct gates *g, const char *path, unsigned k, const struct finding *capacity,
		       const struct finding *latency, bool *as_large)
{
	double size, v, more;
	*as_large = false;
	if (!gates_number(of_level(g, path, k, "size"), &size))
		return true;
	const struct room held = room_of(capacity, SLACK_BYTES, 0);
	if (size < held.lo || size > held.hi)
		return false;
	*as_large = true;
	const struct finding *one = of_level(g, path, k, "latency");
	if (!gates_number(one, &v) || !gates_number(latency, &v) || !beside_cache(g, path, &more))
		return true;
	const struct room a = room_of(one, SLACK_WALK, SLACK_TICKS), b = room_of(latency, 0, 0);
	return a.lo + more <= b.hi && b.lo <= a.hi + more;
}

/* A walk's level is as slow as single accesses find it. That is asked only if none of its neighbours is nearly as fast,
 * which could be met with it. */
static void as_slow(struct gates *g, const char *path, unsigned k, struct finding *latency)
{
	double v, of, next, more;
	const struct finding *one = of_level(g, path, k, "latency");
	if (!gates_number(one, &of) || !gates_number(latency, &v) || !beside_cache(g, path, &more))
		return;
	for (unsigned n = k - 1; n <= k + 1; n += 2) {
		if (!n)
			continue;
		if (!gates_number(of_level(g, path, n, "latency"), &next) &&
		    (n < k || !gates_number(of_memory(g, path), &next)))
			return;
		if (fmax(of, next) < NEARLY_AS_FAST * fmin(of, next))
			return;
	}
	const struct room a = room_of(one, SLACK, SLACK_TICKS), b = room_of(latency, 0, 0);
	if (a.lo + more > b.hi || b.lo > a.hi + more)
		gates_fail(g, &latency, 1,
			   "a walk through %s says %.4g cycles of level %u, and single accesses say %.4g", path, v, k,
			   of + more);
}

/* All that is said of one level of a path. */
static void fail_level(struct gates *g, const char *path, unsigned k, const char *why)
{
	char stem[64];
	const size_t n = (size_t)snprintf(stem, sizeof stem, "cache.%s.l%u.", path, k);
	for (size_t i = 0; i < g->list->count; i++)
		if (!strncmp(g->list->items[i].key, stem, n) && g->list->items[i].verdict <= VERDICT_ABSENT)
			gates_fail(g, (struct finding *[]){&g->list->items[i]}, 1, "%s", why);
}

/* A curve that gets slower as fewer loads hit is fitted; single accesses find each level by itself. If all levels are
 * known, one of the walk that is none of them is wrong. It is two that the curve did not tell apart, or half of one.
 * Levels behind it are then counted wrongly. If the walk has more levels before one than single accesses have, either
 * of them may be wrong. */
static void walked(struct gates *g, const char *path)
{
	char why[200];
	double v;
	bool apart = false, none = false; /* none: one of the walk's levels is not even as large as any */
	struct finding *counted = gates_find(g->list, KEY("cache.%s.levels", path));
	const bool all = gates_number(counted, &v);
	const double least = gates_at_least(counted);
	const unsigned levels = least > 0 && least < WALK_LEVELS ? (unsigned)least : 0;
	for (unsigned n = 1; levels; n++) {
		struct finding *capacity = gates_find(g->list, KEY("walk.%s.%u.capacity", path, n));
		struct finding *latency = gates_find(g->list, KEY("walk.%s.%u.latency", path, n)), *both[2];
		size_t count = 0;
		unsigned last = 0, large = 0; /* levels by single accesses that this one may be, and that is as large */
		if (capacity)
			both[count++] = capacity;
		if (latency)
			both[count++] = latency;
		if (!count)
			return;
		const bool fitted = gates_number(capacity, &v);
		for (unsigned k = 1; fitted && k <= levels; k++) {
			bool as_large;
			last = same_level(g, path, k, capacity, latency, &as_large) ? k : last;
			large = as_large ? k : large;
		}
		apart = apart || (fitted && (last ? last < n : all));
		if (!apart && last && latency)
			as_slow(g, path, last, latency);
		if (!apart)
			continue;
		snprintf(why, sizeof why,
			 "level %u of a walk through %s, or one before it, is none of those that single accesses find",
			 n, path);
		gates_fail(g, both, count, "%s", why);
		if (fitted && n > last && (last || n > levels)) {
			gates_fail(g, &counted, 1, "%s", why);
			/* What passes for the memory may be a level, too. */
			struct finding *memory = of_memory(g, path);
			if (memory && memory->verdict <= VERDICT_ABSENT)
				gates_fail(g, &memory, 1, "%s", why);
			if (!none || !last)
				fail_level(g, path, last ? last : levels + 1, why);
			/* As large, but not as far: it may be this one and the one before it, of which nothing else is known. */
			if (!last && large && large < n)
				fail_level(g, path, large, why);
		}
		none = none || (fitted && !last);
	}
}

/* No loads bring more than the memory gives: what was taken for that may have been what the SMs take. */
static void stream(struct gates *g, const char *bytes)
{
	double rate, hz, v;
	struct finding *drawn = gates_find(g->list, KEY("memory.global.%s.bandwidth", bytes)),
		       *most = gates_find(g->list, "memory.global.bandwidth");
	struct finding *issue = gates_find(g->list, KEY("memory.global.%s.issue", bytes));
	if (!gates_number(drawn, &rate) || !gates_number(most, &v) ||
	    !gates_number(gates_find(g->list, "device.clock_hz"), &hz))
		return;
	const double gives = room_of(most, 0, 0).hi * hz * 1e-9;
	if (rate > (1 + SLACK_STREAM) * gives)
		gates_fail(g, (struct finding *[]){drawn, most, issue}, issue ? 3 : 2,
			   "a stream of %s bytes a load draws %.4g GB/s, and memory gives %.4g by the SM's clock",
			   bytes, rate, gives);
}

/* Loads twice as wide take a warp no longer than narrower ones, but for the bytes they bring. The widest tell how long
 * bytes take. Narrower loads that take longer waited for something. */
static void wider(struct gates *g)
{
	static const unsigned widths[] = {16, 8, 4, 2, 1};
	struct finding *issue[5], *rate;
	double v, bytes = INFINITY;
	for (unsigned i = 0; i < 5; i++) {
		issue[i] = gates_find(g->list, KEY("memory.global.%u.issue", widths[i]));
		if (gates_number(issue[i], &v) && isinf(bytes))
			bytes = room_of(issue[i], 0, 0).hi / widths[i];
	}
	for (unsigned i = 1; i + 1 < 5; i++) {
		if (!gates_number(issue[i], &v) || !gates_number(issue[i + 1], &v))
			continue;
		const double most = fmax(room_of(issue[i + 1], 0, 0).hi, bytes * widths[i]);
		if (room_of(issue[i], 0, 0).lo <= most)
			continue;
		rate = gates_find(g->list, KEY("memory.global.%u.bandwidth", widths[i]));
		gates_fail(
		    g, (struct finding *[]){issue[i], rate}, rate ? 2 : 1,
		    "loads of %u bytes take %.4g cycles each, and by wider and by narrower ones it is %.4g at most",
		    widths[i], issue[i]->value.number, most);
	}
}

void gates_ways(struct gates *g)
{
	for (size_t i = 0; i < sizeof classes / sizeof *classes; i++) {
		class_latency(g, &classes[i]);
		class_rate(g, &classes[i]);
	}
	nearest(g, "memory.global.4.timed_hit", "cache.global.l1.latency", "global");
	nearest(g, "memory.constant.4.timed_hit", "cache.constant.l1.latency", "constant");
	nearest(g, "memory.shared.4.timed_latency", "shared.latency", NULL);
	later(g, "memory.shared.4.timed_latency", "shared.latency", APART_SHARED, 0);
	static const char *const near[] = {"memory.global.1.timed_hit", "memory.global.2.timed_hit",
					   "memory.global.4.timed_hit", "memory.global.8.timed_hit",
					   "memory.global.16.timed_hit"};
	for (size_t i = 0; i < sizeof near / sizeof *near; i++)
		later(g, near[i], "cache.global.l1.latency", APART_NEAR, APART_TICKS);
	shared_rate(g);
	walked(g, "constant");
	stream(g, "1");
	stream(g, "2");
	stream(g, "4");
	stream(g, "8");
	stream(g, "16");
	wider(g);
}
