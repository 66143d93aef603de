/* Bandwidth and issue latency of loads: many warps, none of whose loads waits for another. */
#include "walk.h"
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
	LOADS = 8,	/* of global memory in a turn; all are under way before the first is needed */
	REGISTERS = 64, /* bytes that loads of one warp alone may wait for: wider ones are fewer */
	FEW_GLOBAL = 2, /* turns, with as many loads under way in both */
	MANY_GLOBAL = 4,
	FEW = 4, /* loads of a round; they are all under way before the first is needed */
	MANY = 12,
	FEW_SHARED = 16, /* whose loads need no registers: more of them hide the loop */
	MANY_SHARED = 48,
	FEW_TOGETHER = 32, /* of shared memory; there is more beside them in a turn */
	MANY_TOGETHER = 96,
	ROUNDS = 1,
	REPEATS = 5,	 /* of a stream of all SMs */
	BLOCK = 128,	 /* threads of one that reads global memory */
	THREADS = 1024,	 /* of those on an SM */
	ROUNDS_NEAR = 8, /* of shared and constant memory */
	WARPS_MOST = 32,
	SHARE = 2,	/* of the memory that an array may take */
	KEPT = 16,	/* of the memory, that it takes at least */
	PLACES = 2,	/* of it that are read */
	PLACES_MOST = 5 /* where those are not alike */
};
#define ALIKE	     1.03 /* places, in their times */
#define QUIET	     0.03 /* a stream of all SMs is not repeated for less, */
#define QUIET_MEMORY 0.01 /* nor one that all memory is to be busy with */
/* Of the value: what the same stream reached on one GPU through two compilers that joined and ordered its loads otherwise. Only
 * loads of shared memory leave them no choice. */
#define CODE 0.2
#define TURNS                                                                                                          \
	0.05 /* the same of shared memory: three runs of eight on two GPUs took a twentieth longer, of launches however long */
#define BEGINS	1.03 /* a link by the difference of two lengths, over one in the longer launch as a whole */
#define GRAIN	(2 << 20)
#define AS_LONG 0.9  /* of blocks that no scheduler prefers to each other */
#define HIDDEN	1.12 /* of a load's time, by the shorter loop alone */
#define PLATEAU 1.04 /* a full SM is no faster than half of one, but for so much */
#define SLOWER	1.15 /* wider loads, in their bytes, than narrower ones, where no more than the memory holds them up */

static unsigned blocks_each(const struct device_info *d)
{
	const unsigned threads =
	    d->max_threads_per_sm && d->max_threads_per_sm < THREADS ? d->max_threads_per_sm : THREADS;
	const unsigned n = threads / BLOCK;
	return n ? n : 1;
}

static unsigned block_of(const struct device_info *d)
{
	return d->max_threads_per_block < BLOCK ? d->max_threads_per_block : BLOCK;
}

void stream_grid(const struct device_info *d, struct job *j)
{
	j->launch.grid[0] = d->sm_count * blocks_each(d);
	j->launch.block[0] = block_of(d);
}

/* Of the largest block, as far as more of them are of use. */
static unsigned warps_most(const struct device_info *d)
{
	const unsigned block = d->max_threads_per_block / d->warp_size;
	return block < WARPS_MOST ? block : WARPS_MOST;
}

bool stream_array(const struct device_info *d, struct job *j, uint64_t bytes, const double *p)
{
	const uint64_t kept = d->memory_bytes / KEPT / GRAIN * GRAIN, all = kept > bytes ? kept : bytes;
	if (bytes > d->memory_bytes / SHARE)
		return false;
	j->launch.buffers[j->launch.buffer_count] =
	    (struct launch_buffer){.space = BUFFER_GLOBAL, .bytes = all, .as_is = true};
	/* Not where powers of two lie. */
	const uint64_t apart = (all - bytes) / PLACES_MOST / GRAIN * GRAIN;
	job_arg_buffer(j, j->launch.buffer_count++, (uint64_t)p[P_PLACE] * apart);
	return true;
}

double stream_usual(const double *ns, unsigned n, struct stream_places *places)
{
	double at = 0, usual = 0, worst = 0;
	unsigned most = 0;

	for (unsigned i = 0; i < n; i++) {
		double sum = 0;
		unsigned alike = 0;
		for (unsigned k = 0; k < n; k++)
			if (ns[k] >= ns[i] && ns[k] <= ALIKE * ns[i]) {
				sum += ns[k];
				alike++;
			}
		worst = fmax(worst, ns[i]);
		if (alike < most || (alike == most && ns[i] >= at))
			continue;
		most = alike;
		at = ns[i];
		usual = sum / alike;
	}
	*places = (struct stream_places){.seen = n, .most = worst / usual - 1};
	for (unsigned i = 0; i < n; i++) {
		places->slower += ns[i] > ALIKE * at;
		places->faster += ns[i] < at;
	}
	return usual;
}

bool stream_is_uneven(const struct timed *place, unsigned n)
{
	unsigned more = 0;
	for (unsigned i = 0; i < n; i++)
		more += place[i].ns > BEGINS * place[i].coarse;
	return more && 2 * more >= n;
}

struct timed stream_ask(struct study *s, const struct timed_pair *k, double timer, struct stream_places *places)
{
	struct timed t[PLACES_MOST], out = {.ok = false};
	double best = INFINITY, worst = 0, ns[PLACES_MOST];
	unsigned n = 0;
	for (unsigned i = 0; i < PLACES_MOST; i++) {
		struct timed_pair at = *k;
		if (i == PLACES && (study_pending(s) || worst <= ALIKE * best))
			break;
		at.p[P_PLACE] = i;
		t[n] = timed_ask(s, &at, timer);
		if (t[n].bad || (!t[n].ok && t[n].repeats)) /* else a point is missing */
			return t[n];
		if (!t[n].ok)
			continue;
		best = fmin(best, t[n].ns);
		worst = fmax(worst, t[n].ns);
		ns[n] = t[n].ns;
		n++;
	}
	if (study_pending(s) || !n)
		return out;
	out = t[0];
	for (unsigned i = 0; i < n; i++) {
		out.lo = fmin(out.lo, t[i].lo);
		out.hi = fmax(out.hi, t[i].hi);
	}
	out.ns = stream_usual(ns, n, places);
	places->uneven = stream_is_uneven(t, n);
	return out;
}

void stream_say(char *out, size_t n, const char *how, const struct stream_places *places)
{
	if (places->faster)
		snprintf(out, n, "%s; of %u places of the memory %u are slower and %u faster than most", how,
			 places->seen, places->slower, places->faster);
	else if (places->slower)
		snprintf(out, n, "%s; %u of %u places of the memory are slower, by up to %.2g %%", how, places->slower,
			 places->seen, 100 * places->most);
	else
		snprintf(out, n, "%s, at %u place%s of the memory", how, places->seen, places->seen == 1 ? "" : "s");
}

const char stream_uneven[] = "launches that read more take longer by more than their share. Longer ones waited for "
			     "what shorter ones found at hand, as translations of pages";

static struct timed_pair global_pair(unsigned bytes)
{
	struct timed_pair k = walk_pair(SPACES + SPACE_GLOBAL, bytes, 0);
	k.few = FEW_GLOBAL;
	k.many = MANY_GLOBAL;
	k.each = LOADS;
	k.first = ROUNDS;
	k.most = REPEATS;
	k.quiet = QUIET_MEMORY;
	k.ends = CODE;
	k.stretch = true;
	return k;
}

int stream_setup(const struct study *s, enum walk_space space, bool together, double x, const double *p, struct job *j)
{
	static const enum native_class class[STREAMS] = {NATIVE_LOAD_GLOBAL, NATIVE_LOAD_SHARED, NATIVE_LOAD_CONST};
	static const uint32_t zeros[64];
	const struct device_info *d = study_device(s);
	const bool global = space == SPACE_GLOBAL;
	unsigned blocks = 1;
	j->template_path = "probes/walk/stream.ptx";
	job_param_text(j, "SPACE", walk_space_name[space]);
	job_param(j, "BYTES", (long long)x);
	job_param(j, "TOGETHER", together);
	job_param(j, "LOADS", global ? LOADS : (long long)p[P_LINKS]);
	snprintf(j->launch.entry, sizeof j->launch.entry, "stream");
	j->launch.flush = global; /* what is read once comes from memory */
	if (global) {
		stream_grid(d, j);
	} else { /* more warps than a block has are several blocks on every SM: where a single one goes is not known */
		blocks = ((unsigned)p[P_MORE] + warps_most(d) - 1) / warps_most(d);
		if (together && blocks > 1)
			return -ENOTSUP;
		j->launch.grid[0] = blocks > 1 ? d->sm_count * blocks : 1;
		j->launch.block[0] = (unsigned)p[P_MORE] / blocks * d->warp_size;
	}
	const unsigned words = CLOCK_WORDS * (global ? 1 : j->launch.grid[0]) + (together ? (unsigned)p[P_MORE] : 0);
	struct launch_buffer *b = j->launch.buffers;
	b[0] = (struct launch_buffer){
	    .space = BUFFER_GLOBAL, .bytes = 4ull * words, .output = !global, .output_words = global ? 0 : words};
	j->launch.buffer_count = 1;
	job_arg_buffer(j, 0, 0);
	/* As much for the shorter launch, so that both read the same. */
	if (!stream_array(d, j,
			  global ? (uint64_t)(x * LOADS * MANY_GLOBAL * p[P_ROUNDS]) * j->launch.grid[0] *
				       j->launch.block[0]
				 : 256,
			  p))
		return -ENOTSUP;
	if (space == SPACE_CONSTANT) {
		b[2] = (struct launch_buffer){
		    .space = BUFFER_CONSTANT, .bytes = sizeof zeros, .init = zeros, .init_bytes = sizeof zeros};
		snprintf(b[2].symbol, sizeof b[2].symbol, "ring");
		j->launch.buffer_count = 3;
	}
	job_arg_u32(j, (uint32_t)(global ? p[P_LINKS] * p[P_ROUNDS] : p[P_ROUNDS]));
	job_arg_u32(j, 0);
	timed_job(j, p[P_REPEATS]);
	if (global)
		j->launch.warmups = 0;
	j->check.cls = class[space];
	j->check.min = global ? LOADS : (unsigned)p[P_LINKS];
	j->check.max = UINT32_MAX;
	j->check.others = UINT32_MAX;
	return 0;
}

/* Loads of a warp alone that are under way at once. */
static unsigned alone_loads(unsigned bytes)
{
	return REGISTERS / bytes < LOADS ? REGISTERS / bytes : LOADS;
}

int alone_setup(const struct study *s, double x, const double *p, struct job *j)
{
	const struct device_info *d = study_device(s);
	const unsigned loads = alone_loads((unsigned)x);
	j->template_path = "probes/walk/stream.ptx";
	job_param_text(j, "SPACE", walk_space_name[SPACE_GLOBAL]);
	job_param(j, "BYTES", (long long)x);
	job_param(j, "TOGETHER", false);
	job_param(j, "LOADS", loads);
	snprintf(j->launch.entry, sizeof j->launch.entry, "stream");
	j->launch.flush = true;
	j->launch.grid[0] = d->sm_count;
	j->launch.block[0] = (uint32_t)p[P_MORE] * d->warp_size;
	j->launch.buffers[0] = (struct launch_buffer){.space = BUFFER_GLOBAL, .bytes = 16};
	j->launch.buffer_count = 1;
	job_arg_buffer(j, 0, 0);
	if (!stream_array(
		d, j, (uint64_t)(x * loads * MANY_GLOBAL * p[P_ROUNDS]) * j->launch.grid[0] * j->launch.block[0], p))
		return -ENOTSUP;
	job_arg_u32(j, (uint32_t)(p[P_LINKS] * p[P_ROUNDS]));
	job_arg_u32(j, 0);
	timed_job(j, p[P_REPEATS]);
	j->check.cls = NATIVE_LOAD_GLOBAL;
	j->check.min = loads;
	j->check.max = UINT32_MAX;
	j->check.others = UINT32_MAX;
	return 0;
}

/* Whether no block was preferred: by their SM's clock all were at work for nearly as long as the one that took
 * longest. */
static bool as_long(const struct point *pt, unsigned blocks)
{
	double least = INFINITY, most = 0;
	for (uint32_t r = 0; pt && r < pt->repeats; r++)
		for (uint32_t b = 0; b < blocks && CLOCK_WORDS * (b + 1) <= pt->words_per_repeat; b++) {
			const uint32_t *w = pt->y + (size_t)r * pt->words_per_repeat + (size_t)CLOCK_WORDS * b;
			least = fmin(least, (uint32_t)(w[1] - w[0]));
			most = fmax(most, (uint32_t)(w[1] - w[0]));
		}
	return most > 0 && least >= AS_LONG * most;
}

/* hidden: set to false where the end of a loop's turn takes time beside its loads. */
static struct timed ask(struct study *s, enum walk_space space, unsigned bytes, unsigned warps, unsigned rounds,
			const struct walk_clock *clock, bool *hidden)
{
	const bool shared = space == SPACE_SHARED, many = warps > warps_most(study_device(s)); /* SMs */
	struct timed_pair k = walk_pair(SPACES + space, bytes, warps);
	k.together = EXPERIMENT_TOGETHER + space - 1;
	k.few = shared ? FEW_SHARED : FEW;
	k.many = shared ? MANY_SHARED : MANY;
	k.first = rounds;
	k.most = many ? REPEATS : 0;
	k.quiet = many ? QUIET : 0;
	k.ends = shared ? TURNS : CODE;
	/* What stays within an SM goes by its clock, which says it fifty times as well as the timer of launches. */
	if (many)
		k.both_hz = clock->hz;
	else
		k.clock_hz = clock->hz;
	/* Those of a scheduler's warps that it prefers may be done long before the others. */
	const bool starves = !many && timed_starves(s, &k);
	if (starves && !study_pending(s)) {
		k.few = shared ? FEW_TOGETHER : k.few;
		k.many = shared ? MANY_TOGETHER : k.many;
		struct timed t = timed_together(s, &k, warps, clock->timer);
		const double ends = k.ends > 0 ? k.ends * t.ns : 0;
		t.lo = fmin(t.lo, t.ns - ends);
		/* Surely reached, with what is not hidden of the end of a turn. */
		t.hi = fmax(fmax(t.hi, t.ns + ends), t.ns + (t.alone - t.ns) * k.few / k.many);
		*hidden = t.alone <= HIDDEN * t.ns;
		return t;
	}
	/* What all SMs do is laid beside what one does. */
	if (many)
		return timed_ask(s, &k, clock->timer);
	/* Warps begin one after the other, and those of longer turns keep the first of them busier until all have. That
	 * is no part of what a load takes. So turns are timed by launches of two lengths. */
	struct timed_pair more = k;
	more.fresh = true;
	const struct timed t = timed_ask(s, &more, clock->timer);
	/* An older recording has one length only. */
	return t.repeats || study_pending(s) ? t : timed_ask(s, &k, clock->timer);
}

/* t: of one load of all these warps; bytes: that they bring together, on `sms` SMs. */
static void conclude(struct study *s, enum walk_space space, unsigned bytes, const struct timed *t, double warps,
		     double sms, const struct walk_clock *clock, const char *how)
{
	const struct device_info *d = study_device(s);
	const double all = warps * d->warp_size * bytes * sms, cycles = clock->hz * 1e-9 / warps;
	const char *evidence = walk_space_name[space];
	char key[64];
	snprintf(key, sizeof key, "memory.%s.%u.bandwidth", walk_space_name[space], bytes);
	study_measured_number(s, key, all / t->ns, all / t->hi, all / t->lo, "card",
			      "run time of independent loads, difference of two lengths", evidence, "%s", how);
	snprintf(key, sizeof key, "memory.%s.%u.issue", walk_space_name[space], bytes);
	if (clock->hz > 0)
		study_measured_number(s, key, t->ns * cycles, t->lo * cycles, t->hi * cycles, "sm",
				      "run time of independent loads, difference of two lengths", evidence, "%s", how);
	else
		walk_verdict(s, space, bytes, "issue", VERDICT_UNSUPPORTED,
			     "the device does not tell its clock, so run times are no cycles");
}

static void stream_global(struct study *s, const struct walk_clock *clock)
{
	static const char boosted[] = "places of the memory take unlike long, and the clock is faster at times";
	const struct device_info *d = study_device(s);
	double most = 0; /* bytes a nanosecond of narrower loads by one thread of each warp */
	for (unsigned bytes = 1; bytes <= 16; bytes *= 2) {
		/* Memory, which all SMs keep busy, does not keep their clock. */
		const struct timed_pair k = global_pair(bytes);
		struct stream_places places = {.seen = 0};
		char how[160];
		const struct timed t = stream_ask(s, &k, clock->timer, &places);
		if (study_pending(s) || walk_failed(s, SPACE_GLOBAL, bytes, "bandwidth", &t)) {
			if (!study_pending(s))
				walk_failed(s, SPACE_GLOBAL, bytes, "issue", &t);
			continue;
		}
		if (places.uneven) {
			walk_verdict(s, SPACE_GLOBAL, bytes, "bandwidth", VERDICT_INCONCLUSIVE, stream_uneven);
			walk_verdict(s, SPACE_GLOBAL, bytes, "issue", VERDICT_INCONCLUSIVE, stream_uneven);
			continue;
		}
		/* Places are not alike then because of when they were read, and most may have been read too fast. */
		if ((places.faster || places.slower) && study_swing(s) > 0) {
			walk_verdict(s, SPACE_GLOBAL, bytes, "bandwidth", VERDICT_INCONCLUSIVE, boosted);
			walk_verdict(s, SPACE_GLOBAL, bytes, "issue", VERDICT_INCONCLUSIVE, boosted);
			continue;
		}
		/* As blocks would that not all of them had place for at once, and of which the last ones read by themselves. */
		const double rate = bytes / t.ns;
		if (most > SLOWER * rate) {
			snprintf(how, sizeof how,
				 "narrower loads bring %.2f times as many bytes at once: not the memory holds these up",
				 most / rate);
			walk_verdict(s, SPACE_GLOBAL, bytes, "bandwidth", VERDICT_INCONCLUSIVE, how);
			walk_verdict(s, SPACE_GLOBAL, bytes, "issue", VERDICT_INCONCLUSIVE, how);
			continue;
		}
		most = fmax(most, rate);
		stream_say(how, sizeof how, "all SMs read what no cache holds", &places);
		conclude(s, SPACE_GLOBAL, bytes, &t, (double)blocks_each(d) * block_of(d) / d->warp_size, d->sm_count,
			 clock, how);
	}
}

/* What the copy kernel tells of one warp: the completion latency of Lemeire's equation 5. It is that of a load only as
 * far as its warp's other loads do not hide it. */
static void stream_alone(struct study *s, const struct walk_clock *clock)
{
	for (unsigned bytes = 1; bytes <= 16; bytes *= 2) {
		struct timed_pair k = walk_pair(EXPERIMENT_ALONE, bytes, 1);
		k.few = FEW_GLOBAL;
		k.many = MANY_GLOBAL;
		k.each = alone_loads(bytes);
		k.first = ROUNDS_NEAR;
		k.most = REPEATS;
		k.quiet = QUIET;
		k.ends = CODE;
		k.stretch = true;
		const struct timed t = timed_ask(s, &k, clock->timer);
		char key[64];
		if (study_pending(s) || walk_failed(s, SPACE_GLOBAL, bytes, "one_warp", &t))
			continue;
		if (!(clock->hz > 0)) {
			walk_verdict(s, SPACE_GLOBAL, bytes, "one_warp", VERDICT_UNSUPPORTED,
				     "the device does not tell its clock, so run times are no cycles");
			continue;
		}
		const double cycles = clock->hz * 1e-9;
		snprintf(key, sizeof key, "memory.%s.%u.one_warp", walk_space_name[SPACE_GLOBAL], bytes);
		study_measured_number(
		    s, key, t.ns * cycles, t.lo * cycles, t.hi * cycles, "card",
		    "run time of independent loads of one warp on each SM, difference of two lengths", "alone",
		    "%u loads are under way before the first is needed; nothing is in a cache", alone_loads(bytes));
	}
}

/* More may come at once than was seen: why. */
static void bound(struct study *s, enum walk_space space, const struct timed *t, double warps, bool bandwidth,
		  const struct walk_clock *clock, const char *why)
{
	const struct device_info *d = study_device(s);
	const double all = warps * d->warp_size * 4 * d->sm_count;
	char key[64];
	snprintf(key, sizeof key, "memory.%s.4.%s", walk_space_name[space], bandwidth ? "bandwidth" : "issue");
	if (bandwidth)
		study_bound(s, key, all / t->hi, INFINITY, "run time of independent loads, difference of two lengths",
			    walk_space_name[space], "%s", why);
	else if (clock->hz > 0)
		study_bound(s, key, -INFINITY, t->hi * clock->hz * 1e-9 / warps,
			    "run time of independent loads, difference of two lengths", walk_space_name[space], "%s",
			    why);
}

/* Warps that an SM takes for certain. */
static unsigned warps_resident(const struct device_info *d)
{
	const unsigned most = warps_most(d), blocks = d->max_threads_per_sm / (most * d->warp_size);
	return blocks > 1 ? blocks * most : most;
}

static void stream_near(struct study *s, enum walk_space space, const struct walk_clock *clock)
{
	static const char *const parts[] = {"bandwidth", "issue"};
	static const char
	    few[] = "as many warps as can be put there are too few to keep it busy",
	    ends[] = "some warps are preferred to others, and what stands at the end of a loop takes time beside "
		     "the loads";
	const struct device_info *d = study_device(s);
	const char *how = "one SM, whose rate is that of each";
	unsigned warps = warps_most(d);
	bool hidden = true;
	struct timed all = ask(s, space, 4, warps, ROUNDS_NEAR, clock, &hidden),
		     half = ask(s, space, 4, warps / 2, ROUNDS_NEAR, clock, &hidden);
	if (all.ok && half.ok && 2 * half.ns > PLATEAU * all.ns && warps_resident(d) >= 2 * warps) {
		/* On all SMs: what they share may hold them up, and then one SM alone is faster. */
		const struct timed every = ask(s, space, 4, 2 * warps, ROUNDS_NEAR, clock, &hidden);
		if (every.ok && every.ns <= PLATEAU * 2 * all.ns && as_long(every.point, 2 * d->sm_count)) {
			half = all;
			all = every;
			warps *= 2;
			how = "every SM, with two of the largest blocks, and one SM with one is as fast";
		}
	}
	if (study_pending(s))
		return;
	const bool unseen = space == SPACE_CONSTANT && all.ok && !study_seen(s, SPACES + space, all.point) &&
			    !study_seen(s, EXPERIMENT_TOGETHER + space - 1, all.point);
	for (size_t i = 0; i < 2; i++)
		if (walk_failed(s, space, 4, parts[i], all.ok ? &half : &all))
			continue;
		else if (unseen)
			walk_verdict(s, space, 4, parts[i], VERDICT_INCONCLUSIVE, walk_unseen);
		else if (2 * half.ns > PLATEAU * all.ns || !hidden)
			bound(s, space, &all, warps, i == 0, clock, hidden ? few : ends);
	if (all.ok && half.ok && 2 * half.ns <= PLATEAU * all.ns && hidden && !unseen)
		conclude(s, space, 4, &all, warps, d->sm_count, clock, how);
}

void stream_study(struct study *s, enum walk_space space, const struct walk_clock *clock)
{
	if (space == SPACE_GLOBAL) {
		stream_global(s, clock);
		stream_alone(s, clock);
	} else {
		stream_near(s, space, clock);
	}
}
