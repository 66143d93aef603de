/* Which caches loads marked read-only and loads of local memory ask first, by single accesses. Mei 2014, 2 and 3.2. */
#include "data/native_record.h"
#include "probe/probe.h"
#include "stat/stat.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { HEAD = 8, ROUNDS = 96, COLD = 8, STEP = 512, WORDS = 4, APART = 5, LAPS = 12, CAP = 4095, TEXEL = 4 };
#define STRETCH_MOST (1u << 20)	  /* bytes that are read to drive out what a cache of an SM holds */
#define STRETCH	     (512u << 10) /* where its size is not known */
#define TIMES	     2
#define PIECE	     32
#define GAP_LEAST    4.0 /* cycles that a level has to be nearer than what lies behind it */
#define LATER_LEAST  3	 /* cycles by which a path may be later without anybody wondering */
#define ALIKE	     0.3 /* of the way between both: so near is the same */
#define ASKED	     3	 /* launches of a point that a clock which is faster now and then may have made longer, ... */
#define ASKED_MOST   6	 /* ... and at most */
#define SPREAD	     0.2 /* of the accesses on either side may be otherwise, by noise or by a page that they enter */

enum { REUSE, LINES };
enum way { BY_L1, PAST_L1, BY_READONLY, BY_TEXTURE, BY_NOTHING, WAYS };
enum reuse_param { REUSE_FIRST, REUSE_AGAIN };
enum lines_param { LINES_WAY, LINES_STEP, LINES_WORDS };

static const char *load_of(enum way w)
{
	return w == PAST_L1 ? "ld.global.cg.u32" : w == BY_READONLY ? "ld.global.nc.u32" : "ld.global.ca.u32";
}

/* The buffer that is read, of zeros, and the texture on it. */
static void stretch(struct job *j, uint64_t bytes, bool texture)
{
	struct launch *l = &j->launch;
	const uint32_t b = l->buffer_count++;

	l->buffers[b] = (struct launch_buffer){.space = BUFFER_GLOBAL, .bytes = bytes, .align = 1u << 16};
	job_arg_buffer(j, b, 0);
	if (texture) {
		job_texture(j, b, bytes / TEXEL);
		job_arg_texture(j, 0);
	}
	l->carveout = CARVEOUT_MAX_L1;
	l->flush = true;
	/* Region 0 is one timed access: the load, a comparison and a branch. */
	j->check.region = 0;
	j->check.min = j->check.max = 1;
	j->check.others = 12;
}

/* x: the way of the timed access. */
static int setup_reuse(const struct study *s, double x, const double *p, struct job *j)
{
	const enum way first = (enum way)p[REUSE_FIRST], second = (enum way)x;

	j->template_path = "probes/paths/reuse.ptx";
	snprintf(j->launch.entry, sizeof(j->launch.entry), "reuse");
	job_param_text(j, "FIRST", load_of(first));
	job_param_text(j, "SECOND", load_of(second));
	job_param(j, "FIRST_TEXTURE", first == BY_TEXTURE);
	job_param(j, "SECOND_TEXTURE", second == BY_TEXTURE);
	job_param(j, "STEP", STEP);
	j->launch.block[0] = j->launch.block[1] = j->launch.block[2] = 1;
	job_output(j, HEAD + ROUNDS);
	job_pin(j, study_device(s), 0);
	stretch(j, (uint64_t)ROUNDS * STEP, first == BY_TEXTURE || second == BY_TEXTURE);
	job_arg_u32(j, ROUNDS);
	j->check.cls = second == BY_TEXTURE ? NATIVE_TEXTURE : NATIVE_LOAD_GLOBAL;
	return 0;
}

/* x: bytes that are read on a way in between. */
static int setup_lines(const struct study *s, double x, const double *p, struct job *j)
{
	const enum way w = (enum way)p[LINES_WAY];

	j->template_path = "probes/paths/lines.ptx";
	snprintf(j->launch.entry, sizeof(j->launch.entry), "lines");
	job_param_text(j, "LOAD", load_of(w));
	job_param(j, "TEXTURE", w == BY_TEXTURE);
	job_param(j, "NONE", w == BY_NOTHING);
	job_param(j, "WORDS", (long long)p[LINES_WORDS]);
	job_param(j, "APART", APART);
	job_param(j, "STEP", (long long)p[LINES_STEP]);
	j->launch.block[0] = j->launch.block[1] = j->launch.block[2] = 1;
	job_output(j, HEAD + (uint32_t)p[LINES_WORDS] * LAPS);
	job_pin(j, study_device(s), 0);
	stretch(j, (uint64_t)fmax(x, STEP), w == BY_TEXTURE);
	job_arg_u32(j, LAPS);
	job_arg_u32(j, (uint32_t)x);
	j->check.cls = NATIVE_LOAD_LOCAL;
	return 0;
}

static const struct experiment experiments[] = {
    [REUSE] = {.name = "reuse", .axis = "way", .unit = "", .params = {"first", "again"}, .setup = setup_reuse},
    [LINES] = {.name = "lines",
	       .axis = "read in between",
	       .unit = "bytes",
	       .params = {"way", "step", "words"},
	       .setup = setup_lines},
};

/* Ticks of the accesses of one point. */
struct ticks {
	bool known;
	double low, middle, high; /* most of them lie from low to high */
	double mean; /* of those: a clock that counts in steps makes one time two, and their median is one of these */
	bool again;  /* asked for anew, because the clock is faster now and then: the fastest of the answers */
	bool torn;   /* then: no other answer was like it */
	char why[200];
};

static struct ticks ticks_of(struct study *s, unsigned experiment, double x, const double *p, uint32_t from,
			     uint32_t count)
{
	struct ticks out = {.known = false};
	const struct point *pt = study_ask(s, experiment, x, p);
	double v[ROUNDS > WORDS * LAPS ? ROUNDS : WORDS * LAPS];

	if (!pt) {
		snprintf(out.why, sizeof(out.why), "a point that is needed was not measured");
		return out;
	}
	if (pt->outcome != OUTCOME_OK || pt->words_per_repeat < HEAD + count || pt->y[2] != count) {
		snprintf(out.why, sizeof(out.why), "timed accesses came back %s%s%.120s", outcome_name(pt->outcome),
			 pt->message[0] ? ": " : "", pt->message);
		return out;
	}
	for (uint32_t i = from; i < count; i++)
		v[i - from] = pt->y[HEAD + i];
	qsort(v, count - from, sizeof(*v), stat_compare_double);
	const double last = count - from - 1;
	out.low = v[(uint32_t)(SPREAD * last)];
	out.middle = v[(uint32_t)(last / 2)];
	out.high = v[(uint32_t)((1 - SPREAD) * last)];
	const uint32_t first = (uint32_t)(SPREAD * last), end = (uint32_t)((1 - SPREAD) * last) + 1;
	for (uint32_t i = first; i < end; i++)
		out.mean += v[i] / (end - first);
	out.known = true;
	return out;
}

static bool counts_cycles(const struct study *s)
{
	double grain = INFINITY;

	study_number(s, "clock.granularity", &grain);
	return grain <= 1;
}

/* Cycles from one value of the clock to the next. */
static double grain_of(const struct study *s)
{
	double grain = 1;

	study_number(s, "clock.granularity", &grain);
	return grain;
}

/* Each of two times is less than a step off. */
static double steps_of(const struct study *s)
{
	const double grain = grain_of(s);

	return fmax(1 + grain, 2 * grain - 1);
}

/* Cycles that a faster clock of the SM may have added to a time beyond the SM, in one of two launches. */
static double boosted(const struct study *s, double cycles)
{
	return study_swing(s) * cycles;
}

/* Whether a launch's accesses are apart by as much as the SM's clock makes of them. The clock may have become faster,
 * or slower, while it ran. */
static bool is_mixed(const struct study *s, const struct ticks *t)
{
	return t->high - t->low > steps_of(s) && t->high - t->low <= boosted(s, t->high) + steps_of(s);
}

/* If the SM's clock may have made the time longer, the least of some launches that are apart in time. Each is asked for
 * after the one before, until another one was as fast. */
static struct ticks reuse(struct study *s, enum way first, enum way second)
{
	double p[POINT_PARAMS] = {[REUSE_FIRST] = first};
	struct ticks least = ticks_of(s, REUSE, second, p, COLD, ROUNDS);
	double mean[ASKED_MOST] = {least.mean};
	bool alike = false;

	for (unsigned n = 1; n < ASKED_MOST && boosted(s, least.middle) > steps_of(s) && !(alike && n >= ASKED); n++) {
		p[REUSE_AGAIN] = n;
		const struct ticks t = ticks_of(s, REUSE, second, p, COLD, ROUNDS);
		/* An older recording lacks it. */
		if (!t.known)
			return least;
		mean[n] = t.mean;
		if (t.mean < least.mean)
			least = t;
		unsigned like = 0;
		for (unsigned i = 0; i <= n; i++)
			like += fabs(mean[i] - least.mean) <= steps_of(s);
		alike = like > 1;
		least.again = n + 1 >= ASKED;
		/* Launches of which each met both clocks are alike as well. */
		least.torn = !alike || is_mixed(s, &least);
	}
	return least;
}

/* As boosted, of the difference of two times. */
static double boosted_either(const struct study *s, const struct ticks *a, const struct ticks *b)
{
	const double most = boosted(s, fmin(a->middle, b->middle));
	return a->again && b->again && !a->torn && !b->torn ? 0 : most;
}

/* Of two that ask one level the one that met the usual clock. */
static const struct ticks *usual_of(const struct study *s, const struct ticks *a, const struct ticks *b)
{
	return boosted(s, fmin(a->middle, b->middle)) > steps_of(s) && b->mean < a->mean ? b : a;
}

/* A level answers `near` where it has a line, and `far` stands for what lies behind it. */
struct level {
	struct ticks near, far;
	double gap; /* so much nearer than that is the level; more than 0 */
};

/* Whether most of the accesses were as fast as the level, or as slow as what lies behind it; else nobody knows. */
enum seen { SEEN_NOTHING, SEEN_HERE, SEEN_BEYOND };
static enum seen where(const struct level *l, const struct ticks *t)
{
	if (!t->known)
		return SEEN_NOTHING;
	if (t->high <= l->near.middle + ALIKE * l->gap)
		return SEEN_HERE;
	return t->low >= l->near.middle + (1 - ALIKE) * l->gap ? SEEN_BEYOND : SEEN_NOTHING;
}

static void say(struct study *s, const char *path, enum verdict v, const char *because)
{

	study_verdict(s, KEY("cache.%s.l1.shared_with", path), v, strcmp(path, "local") == 0 ? "lines" : "reuse", "%s",
		      because);
}

static void say_shared(struct study *s, const char *path, const char *with, const char *method, const char *seen)
{

	study_text(s, KEY("cache.%s.l1.shared_with", path), with, method,
		   strcmp(path, "readonly") == 0 ? "reuse" : "lines", "%s", seen);
}

static double least_gap(const struct study *s)
{
	return fmax(GAP_LEAST, 2 * grain_of(s));
}

/* What a level that is known by another path's name takes, from how much sooner or later this path's loads are back. A difference that the
 * single accesses' own does not let be told is none, nor is one that the SM's clock may have made. */
static void conclude_latency(struct study *s, const char *path, const char *with, const struct ticks *own,
			     const struct ticks *other)
{
	const struct finding *known;
	char key[64], name[64];
	double there;

	snprintf(name, sizeof(name), "cache.%s.latency", with);
	snprintf(key, sizeof(key), "cache.%s.l1.latency", path);
	known = study_finding(s, name);
	if (!known || !study_number(s, name, &there))
		return;
	/* One of the two may have been seen while the clock was faster. */
	const double swing = boosted_either(s, own, other), steps = steps_of(s),
		     most = boosted(s, fmin(own->middle, other->middle));
	/* Lines near and far are as many for both: those of one rank are laid beside each other. */
	const double low = own->low - other->low, middle = own->middle - other->middle, high = own->high - other->high,
		     apart = fmax(low, fmax(middle, high)) - fmin(low, fmin(middle, high)), plain = steps + apart / 2,
		     half = plain + swing, later = own->mean - other->mean;
	/* A clock that counts every cycle, and is never faster, makes no difference by which most accesses are all alike apart. */
	const bool alike = counts_cycles(s) && apart <= 0 && swing <= 0 && fabs(later - middle) < 0.5;
	const double told = alike || fabs(later) > half ? later : 0;
	/* All launches of one of the two may have met it, alike as they are. */
	if (own->torn || other->torn || (fabs(later) > plain && fabs(later) <= plain + most)) {
		study_verdict(
		    s, key, VERDICT_INCONCLUSIVE, "reuse",
		    "%.0f cycles more than loads that ask %s take, and the SM's clock, which is faster now and then, "
		    "may have made %.0f of them",
		    later, name, most);
		return;
	}
	/* So many may be of steps of the clock, and may as well be the path's. */
	if (!(fabs(told) > 0) && fabs(later) >= fmax(LATER_LEAST, grain_of(s))) {
		study_verdict(s, key, VERDICT_INCONCLUSIVE, "reuse",
			      "%.0f cycles more than loads that ask %s take, of which single accesses hide up to %.0f",
			      later, name, half);
		return;
	}
	study_measured_number(s, key, there + told, known->lo + told - half, known->hi + told + half, "sm",
			      "single accesses beside those of a path whose latency is known", "reuse",
			      "%.0f cycles more than loads that ask %s take", later, name);
}

static const char clock_why[] = "a line that was read before is faster by no more than the SM's clock may have made it";

static void study_readonly(struct study *s)
{
	static const char method[] = "a line read on one way, and the same line at once on another";
	const struct ticks own = reuse(s, BY_READONLY, BY_READONLY), past = reuse(s, PAST_L1, BY_READONLY),
			   by_l1 = reuse(s, BY_L1, BY_READONLY), by_texture = reuse(s, BY_TEXTURE, BY_READONLY),
			   l1 = reuse(s, BY_L1, BY_L1), texture = reuse(s, BY_TEXTURE, BY_TEXTURE),
			   straight = reuse(s, PAST_L1, PAST_L1);
	char seen[300];
	double l2;

	if (study_pending(s))
		return;
	if (!own.known || !past.known || !straight.known)
		return say(s, "readonly", VERDICT_INCONCLUSIVE,
			   !own.known	 ? own.why
			   : !past.known ? past.why
					 : straight.why);
	const struct level l = {own, past, past.middle - own.middle};
	snprintf(seen, sizeof(seen),
		 "%.0f cycles where the line was read so before, %.0f where it was read past the L1", own.middle,
		 past.middle);
	if (fabs(l.gap) <= least_gap(s)) {
		/* No cache of the SM: the first one that such a load can hit is that of all loads. */
		if (!study_number(s, "cache.global.l2.latency", &l2))
			return say(s, "readonly", VERDICT_INCONCLUSIVE, "no cache in front of the memory is known");
		say_shared(s, "readonly", "global.l2", method, seen);
		conclude_latency(s, "readonly", "global.l2", usual_of(s, &own, &past), &straight);
		return;
	}
	if (l.gap < 0)
		return say(s, "readonly", VERDICT_INCONCLUSIVE, "lines read before are slower than others");
	/* Launches apart in time may all have met the faster clock on one way, and not on the other. */
	if (l.gap <= least_gap(s) + boosted(s, own.middle))
		return say(s, "readonly", VERDICT_INCONCLUSIVE, clock_why);
	const enum seen in_l1 = where(&l, &by_l1), in_texture = where(&l, &by_texture);
	snprintf(seen, sizeof(seen),
		 "a line read so before takes %.0f cycles, %.0f after a load by the L1, %.0f after a texture fetch, "
		 "%.0f read past the L1",
		 own.middle, by_l1.middle, by_texture.middle, past.middle);
	if (in_l1 == SEEN_HERE) {
		say_shared(s, "readonly", "global.l1", method, seen);
		conclude_latency(s, "readonly", "global.l1", &own, &l1);
	} else if (in_l1 == SEEN_BEYOND && in_texture == SEEN_HERE) {
		say_shared(s, "readonly", "texture.l1", method, seen);
		if (texture.known)
			conclude_latency(s, "readonly", "texture.l1", &own, &texture);
	} else if (in_l1 == SEEN_BEYOND && in_texture == SEEN_BEYOND) {
		say_shared(s, "readonly", "none", method, seen);
	} else {
		say(s, "readonly", VERDICT_INCONCLUSIVE, seen);
	}
}

/* Bytes that drive out all of a path's first level. They are read in the smallest pieces that a miss fetches. An H100's
 * L1 keeps the pieces of lines that were fetched. One piece of each of twice as many lines as it has drove nothing
 * out. */
static double stretch_of(const struct study *s, const char *path)
{
	double size;

	return study_number(s, KEY("cache.%s.l1.size", path), &size) && TIMES * size <= STRETCH_MOST ? TIMES * size
												     : STRETCH;
}

static struct ticks after(struct study *s, enum way w, uint32_t words)
{
	const double p[POINT_PARAMS] = {[LINES_WAY] = w, [LINES_STEP] = PIECE, [LINES_WORDS] = words};
	/* What passes by the L1 is as much as what does not. */
	const double bytes = w != BY_NOTHING ? stretch_of(s, w == BY_TEXTURE ? "texture" : "global") : 0;

	return ticks_of(s, LINES, bytes, p, words, words * LAPS);
}

/* Whether most of the words were driven out, though a cache that replaces at random kept some: the rest is nowhere else slower. */
static bool most_beyond(const struct level *l, const struct ticks *t)
{
	return t->known && t->middle >= l->near.middle + (1 - ALIKE) * l->gap;
}

/* Whether words that are slower than lines of the common cache are yet nearer to it than to memory. Its parts answer at
 * unlike speeds, and no cache of the SM is slower. */
static bool in_common(const struct study *s, const struct ticks *own, const struct ticks *straight)
{
	double memory, l2;
	return own->middle > straight->middle && study_number(s, "memory.global.latency", &memory) &&
	       study_number(s, "cache.global.l2.latency", &l2) && own->high < straight->middle + (memory - l2) / 2;
}

static bool is_open(const struct study *s, const char *key)
{
	const struct finding *f = study_finding(s, key);
	return f && f->verdict == VERDICT_INCONCLUSIVE;
}

static void study_local(struct study *s)
{
	static const char method[] = "words of local memory read again after others were read on another way";
	const struct ticks own = after(s, BY_NOTHING, WORDS), one = after(s, BY_NOTHING, 1),
			   by_l1 = after(s, BY_L1, WORDS), past = after(s, PAST_L1, WORDS),
			   by_texture = after(s, BY_TEXTURE, WORDS), straight = reuse(s, PAST_L1, PAST_L1);
	char seen[300];
	double l2;

	if (study_pending(s))
		return;
	if (!own.known || !by_l1.known || !past.known || !straight.known)
		return say(s, "local", VERDICT_INCONCLUSIVE,
			   !own.known	  ? own.why
			   : !by_l1.known ? by_l1.why
			   : !past.known  ? past.why
					  : straight.why);
	const struct level l = {own, straight, straight.middle - own.middle};
	snprintf(
	    seen, sizeof(seen),
	    "%.0f cycles at once, %.0f after loads by the L1, %.0f after loads past it, %.0f after texture fetches; "
	    "a line in the common cache takes %.0f",
	    own.middle, by_l1.middle, past.middle, by_texture.middle, straight.middle);
	if (fabs(l.gap) <= least_gap(s) || in_common(s, &own, &straight)) {
		/* Some words may drive each other out of a cache; one by itself does not. */
		if (!one.known || fabs(one.middle - own.middle) > least_gap(s))
			return say(s, "local", VERDICT_INCONCLUSIVE, "one word alone is faster than some in turn");
		if (!study_number(s, "cache.global.l2.latency", &l2))
			return say(s, "local", VERDICT_INCONCLUSIVE, "no cache in front of the memory is known");
		return say_shared(s, "local", "global.l2", method, seen);
	}
	const enum seen kept = where(&l, &past), in_l1 = where(&l, &by_l1), in_texture = where(&l, &by_texture);
	if (l.gap < 0 || kept != SEEN_HERE)
		say(s, "local", VERDICT_INCONCLUSIVE, seen);
	else if (l.gap <= least_gap(s) + boosted(s, own.middle))
		say(s, "local", VERDICT_INCONCLUSIVE, clock_why);
	else if (in_l1 == SEEN_BEYOND || (in_l1 == SEEN_NOTHING && most_beyond(&l, &by_l1))) {
		say_shared(s, "local", "global.l1", method, seen);
		/* Lines that one path brought another may not find, though both take their places from one cache. */
		if (in_texture == SEEN_BEYOND && is_open(s, "cache.texture.l1.shared_with"))
			say_shared(s, "texture", "global.l1", method, seen);
	} else
		/* What was read may not have been enough to drive out all of a level that nobody knows. */
		say(s, "local", VERDICT_INCONCLUSIVE, seen);
}

static void study_paths(struct study *s)
{
	const uint32_t cc = study_device(s)->cc;

	if (cc < 20) {
		study_verdict(s, "cache.local.l1.shared_with", VERDICT_UNSUPPORTED, "lines",
			      "loads of this device cannot pass by a cache");
		study_verdict(s, "cache.readonly.l1.shared_with", VERDICT_UNSUPPORTED, "reuse",
			      "this device has no loads marked read-only");
		return;
	}
	study_local(s);
	if (cc >= 35)
		study_readonly(s);
	else
		study_verdict(s, "cache.readonly.l1.shared_with", VERDICT_UNSUPPORTED, "reuse",
			      "this device has no loads marked read-only");
}

static const char *const claims[] = {"cache.readonly.l1.shared_with", "cache.readonly.l1.latency",
				     "cache.local.l1.shared_with", "cache.texture.*.shared_with", NULL};
static const char *const needs[] = {"clock", "global_cache", NULL};
static const char *const helped[] = {"texture_cache", "replacement", NULL};

const struct probe probe_paths = {
    .name = "paths",
    .asks = "Which caches do loads marked read-only and loads of local memory ask?",
    .source = "Mei 2014, 2 and 3.2: the paths that its Table 1 lists, by single accesses. That they are told by "
	      "what other paths left in a cache is ours",
    .how = "A fresh line is read on one way and at once on another, which is timed. If both ask one cache, it "
	   "is as fast as a second access on its own way. Local memory has lines that no other way reaches. So "
	   "some of its words are read, then more of global memory than the first cache holds, on one way or "
	   "another. Then those words are read again: slow ones were driven out.",
    .fooled = "Noise and pages that are entered: four of five accesses have to agree. A cache that replaces at "
	      "random keeps some of the words that are driven out. So half have to be slow, and hardly any when "
	      "the same was read past the L1. A common cache that is so small that what passes by the L1 drives "
	      "out local words as well: nothing is concluded where those are slow then.",
    .needs = needs,
    .helped = helped,
    .claims = claims,
    .experiments = experiments,
    .experiment_count = sizeof(experiments) / sizeof(experiments[0]),
    .study = study_paths,
};
