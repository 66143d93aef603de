/* Completion latency of loads: a random walk whose every step needs the last one's value, by one thread. Round a few places it says
 * what the nearest cache takes; through places that were never visited since the caches were emptied, what memory takes. */
#include "walk.h"
#include "base/arena.h"
#include "base/rng.h"
#include "stat/stat.h"
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
	POSITIONS = 64,	   /* that a byte can tell apart, and the smallest caches hold */
	POSITIONS_OWN = 4, /* of private memory, where each thread's words lie far apart */
	FEW = 16,
	MANY = 48,
	SHIFT_NEAR = 3, /* of bytes, from one place of global memory to the next: all sizes but the largest lie alike */
	SHIFT_COLD = 9, /* no cache brings what is so far off beside what was asked for */
	COLD_ROUNDS = 8,
	COLD_REPEATS = 5,
	COLD_SHARE = 8 /* of the memory that a region may take */
};

#define COLD_QUIET 0.02 /* regions differ by more */
#define VAGUE	   0.15 /* of a latency: an interval as wide says too little */
#define ENDS	   0.01 /* of the value: what beginning and end of a launch may hide */

const char *const walk_space_name[SPACES] = {"global", "shared", "constant", "private"};
/* A compiler may read from global memory what a pointer to constants points to. */
const char walk_unseen[] =
    "what runs cannot be read back: whether compilers left these loads to constant memory is not known";

static unsigned positions_of(enum walk_space space)
{
	return space == SPACE_PRIVATE ? POSITIONS_OWN : POSITIONS;
}

/* What all walks have in common. next: of `positions` places. */
static void job_of(struct job *j, enum walk_space space, unsigned bytes, const double *p, unsigned shift, bool cold,
		   const uint32_t *next, unsigned positions)
{
	static const enum native_class class[SPACES] = {NATIVE_LOAD_GLOBAL, NATIVE_LOAD_SHARED, NATIVE_LOAD_CONST,
							NATIVE_LOAD_LOCAL};
	j->template_path = "probes/walk/walk.ptx";
	job_param_text(j, "SPACE", walk_space_name[space]);
	job_param(j, "BYTES", bytes);
	job_param(j, "POSITIONS", positions);
	job_param(j, "LINKS", (long long)p[P_LINKS]);
	job_param(j, "POINTER", space == SPACE_GLOBAL && !cold && p[P_MORE] > 0);
	job_param(j, "SHIFT", shift);
	job_param(j, "COLD", cold);
	/* A refresh or the like falls into step with a regular walk, and then meets it at the same moment every time.
	 * So no step of a walk through memory is as long as the next, or as those of the other regions. */
	job_param(j, "PAUSES", cold ? 1 + (long long)p[P_MORE] : space == SPACE_SHARED ? (long long)p[P_MORE] : 0);
	snprintf(j->launch.entry, sizeof j->launch.entry, "walk");
	struct launch_buffer *b = j->launch.buffers;
	b[0] = (struct launch_buffer){.space = BUFFER_GLOBAL, .bytes = 24, .output = true, .output_words = CLOCK_WORDS};
	b[1] = (struct launch_buffer){.space = BUFFER_GLOBAL, .bytes = (uint64_t)POSITIONS << shift};
	b[2] = (struct launch_buffer){
	    .space = BUFFER_GLOBAL, .bytes = positions * 4ull, .init = next, .init_bytes = positions * 4ull};
	j->launch.buffer_count = 3;
	timed_job(j, p[P_REPEATS]);
	j->check.cls = class[space];
	j->check.min = (unsigned)p[P_LINKS];
	j->check.max = UINT32_MAX;
	j->check.others = UINT32_MAX;
}

static void arguments(struct job *j, const double *p, uint64_t begin)
{
	for (unsigned i = 0; i < 3; i++)
		job_arg_buffer(j, i, i == 1 ? begin : 0);
	job_arg_u32(j, (uint32_t)p[P_ROUNDS]);
	job_arg_u32(j, 0);
}

static int setup(const struct study *s, enum walk_space space, double x, const double *p, struct job *j)
{
	const unsigned bytes = (unsigned)x, positions = positions_of(space);
	uint32_t *next = ARENA_ARRAY(j->arena, positions, uint32_t);
	if (!next)
		return -ENOMEM;
	/* Numbers of places of global memory, else offsets. */
	rng_cycle(next, positions, space == SPACE_GLOBAL ? 1 : bytes, study_seed(s));
	job_of(j, space, bytes, p, SHIFT_NEAR + (bytes == 16), false, next, positions);
	struct launch_buffer *b = j->launch.buffers;
	if (space == SPACE_CONSTANT) {
		b[3] = b[2];
		b[3].space = BUFFER_CONSTANT;
		snprintf(b[3].symbol, sizeof b[3].symbol, "ring");
		j->launch.buffer_count = 4;
	}
	arguments(j, p, 0);
	return 0;
}

/* One random cycle through all places, from the first one on. By chance FEW steps of a turn may miss pages that MANY
 * come to. The time to translate those would pass for the memory's. So FEW steps in a row, counted from the first, come
 * once into each of the FEW parts of a turn's places. Both loops come to the same pages then, but for those smaller
 * than a part. */
static void cycle_of_parts(uint32_t *next, uint64_t seed)
{
	enum { EACH = POSITIONS / FEW };
	uint64_t part[EACH][FEW], place[FEW][EACH];
	uint32_t order[POSITIONS];
	struct rng r;
	rng_seed(&r, seed);
	for (unsigned i = 0; i < FEW; i++) {
		for (unsigned k = 0; k < EACH; k++)
			place[i][k] = i * EACH + k;
		rng_shuffle(&r, place[i], EACH);
	}
	for (unsigned k = 0; k < EACH; k++) {
		for (unsigned i = 0; i < FEW; i++)
			part[k][i] = i;
		rng_shuffle(&r, part[k], FEW);
		for (unsigned i = 0; i < FEW; i++)
			order[k * FEW + i] = (uint32_t)place[part[k][i]][k];
	}
	/* Numbered so that the first one is 0: parts stay parts. */
	const uint32_t first = order[0];
	for (unsigned i = 0; i < POSITIONS; i++)
		next[order[i] ^ first] = order[(i + 1) % POSITIONS] ^ first;
}

/* Every turn has POSITIONS places of its own, whose order is always the same. */
static int setup_cold(const struct study *s, double x, const double *p, struct job *j)
{
	const unsigned bytes = (unsigned)x;
	const uint64_t turn = (uint64_t)POSITIONS << SHIFT_COLD, region = turn * (uint64_t)p[P_ROUNDS],
		       all = region * COLD_PLACES;
	if (all > study_device(s)->memory_bytes / COLD_SHARE)
		return -ENOTSUP;
	uint32_t *next = ARENA_ARRAY(j->arena, POSITIONS, uint32_t);
	uint8_t *image = ARENA_ARRAY(j->arena, all, uint8_t);
	if (!next || !image)
		return -ENOMEM;
	cycle_of_parts(next, study_seed(s));
	for (uint64_t at = 0; at < all >> SHIFT_COLD; at++)
		image[at << SHIFT_COLD] = (uint8_t)next[at % POSITIONS]; /* the low byte of a word of any size */
	job_of(j, SPACE_GLOBAL, bytes, p, SHIFT_COLD, true, next, POSITIONS);
	j->launch.buffers[1].bytes = all;
	j->launch.buffers[1].init = image;
	j->launch.buffers[1].init_bytes = all;
	j->launch.flush = true;
	arguments(j, p, region * (uint64_t)p[P_MORE]);
	return 0;
}

#define SETUP(space, ID)                                                                                               \
	static int setup_##space(const struct study *s, double x, const double *p, struct job *j)                      \
	{                                                                                                              \
		return setup(s, ID, x, p, j);                                                                          \
	}
SETUP(global, SPACE_GLOBAL)
SETUP(shared, SPACE_SHARED)
SETUP(constant, SPACE_CONSTANT)
SETUP(private, SPACE_PRIVATE)

#define STREAM(space, ID, together)                                                                                    \
	static int setup_##space(const struct study *s, double x, const double *p, struct job *j)                      \
	{                                                                                                              \
		return stream_setup(s, ID, together, x, p, j);                                                         \
	}
STREAM(stream_global, SPACE_GLOBAL, false)
STREAM(stream_shared, SPACE_SHARED, false)
STREAM(stream_constant, SPACE_CONSTANT, false)
STREAM(together_shared, SPACE_SHARED, true)
STREAM(together_constant, SPACE_CONSTANT, true)

struct timed_pair walk_pair(unsigned experiment, unsigned bytes, unsigned more)
{
	return (struct timed_pair){.experiment = experiment,
				   .x = bytes,
				   .p = {[P_MORE] = more},
				   .links_at = P_LINKS,
				   .rounds_at = P_ROUNDS,
				   .repeats_at = P_REPEATS,
				   .few = FEW,
				   .many = MANY};
}

#define LOADS(name_, setup_, more)                                                                                     \
	{                                                                                                              \
		.name = name_, .axis = "size of a load", .unit = "bytes",                                              \
		.params = {"loads", "rounds", "repeats", more, "place"}, .setup = setup_                               \
	}

static const struct experiment experiments[] = {
    [SPACE_GLOBAL] = LOADS("global", setup_global, "pointer"),
    [SPACE_SHARED] = LOADS("shared", setup_shared, "pauses"),
    [SPACE_CONSTANT] = LOADS("constant", setup_constant, "pointer"),
    [SPACE_PRIVATE] = LOADS("private", setup_private, "pointer"),
    [SPACES + SPACE_GLOBAL] = LOADS("stream.global", setup_stream_global, "warps"),
    [SPACES + SPACE_SHARED] = LOADS("stream.shared", setup_stream_shared, "warps"),
    [SPACES + SPACE_CONSTANT] = LOADS("stream.constant", setup_stream_constant, "warps"),
    [EXPERIMENT_COLD] = LOADS("cold", setup_cold, "place"),
    [EXPERIMENT_COPY] = LOADS("copy", loop_setup, "loop"),
    [EXPERIMENT_ALONE] = LOADS("alone", alone_setup, "warps"),
    [EXPERIMENT_TOGETHER + SPACE_SHARED - 1] = LOADS("together.shared", setup_together_shared, "warps"),
    [EXPERIMENT_TOGETHER + SPACE_CONSTANT - 1] = LOADS("together.constant", setup_together_constant, "warps"),
};

/* ---- what is concluded ---- */

static const struct walk_loops usual_loops = {FEW, MANY};

struct timed walk_ask_all(struct study *s, unsigned experiment, unsigned bytes, unsigned more, struct walk_loops loops,
			  bool all, const struct walk_clock *clock)
{
	const bool cold = experiment == EXPERIMENT_COLD;
	struct timed_pair k = walk_pair(experiment, bytes, more);
	k.all = all;
	k.few = loops.few;
	k.many = loops.many;
	k.first = cold ? COLD_ROUNDS : 0;
	k.most = cold ? COLD_REPEATS : 0;
	k.quiet = cold ? COLD_QUIET : 0;
	k.fresh = cold;
	k.both_hz = clock->hz;
	return timed_ask(s, &k, clock->timer);
}

struct timed walk_ask(struct study *s, unsigned experiment, unsigned bytes, unsigned more, struct walk_loops loops,
		      const struct walk_clock *clock)
{
	return walk_ask_all(s, experiment, bytes, more, loops, false, clock);
}

void walk_verdict(struct study *s, enum walk_space space, unsigned bytes, const char *part, enum verdict v,
		  const char *because)
{
	char key[64];
	snprintf(key, sizeof key, "memory.%s.%u.%s", walk_space_name[space], bytes, part);
	study_verdict(s, key, v, walk_space_name[space], "%s", because);
}

bool walk_failed(struct study *s, enum walk_space space, unsigned bytes, const char *part, const struct timed *t)
{
	if (t->ok && !t->bad)
		return false;
	walk_verdict(s, space, bytes, part,
		     t->bad && t->bad->outcome != OUTCOME_INVALID ? VERDICT_UNSUPPORTED : VERDICT_INCONCLUSIVE,
		     t->bad	   ? point_why(t->bad)
		     : t->unsteady ? "by run times and by cycles it takes unlike long: the clock was not steady"
				   : "run times of equal launches differ too much");
	return true;
}

static const char method[] = "run time of a random walk, difference of two lengths";

/* Its repeats differ by more than a measured time's may, and say between what it lies. */
static bool is_rough(const struct timed *t)
{
	return !t->ok && !t->bad && !t->unsteady && t->ns > 0;
}

/* What memory.<space>.<bytes>.<part> is: t of a walk's step in this experiment. how: what was walked through. */
static void conclude(struct study *s, enum walk_space space, unsigned bytes, const char *part, const struct timed *t,
		     const struct more *more, const struct walk_clock *clock, unsigned experiment, const char *how)
{
	const char *evidence = experiments[experiment].name;
	const double cycles = clock->hz * 1e-9;
	char key[64];
	if (study_pending(s))
		return;
	if (!more->told) {
		walk_verdict(s, space, bytes, part, VERDICT_INCONCLUSIVE,
			     "what the address arithmetic takes could not be told");
		return;
	}
	if (!is_rough(t) && walk_failed(s, space, bytes, part, t))
		return;
	if (!(cycles > 0)) {
		walk_verdict(s, space, bytes, part, VERDICT_UNSUPPORTED,
			     "the device does not tell its clock, so run times are no cycles");
		return;
	}
	snprintf(key, sizeof key, "memory.%s.%u.%s", walk_space_name[space], bytes, part);
	const bool seen = study_seen(s, experiment, t->point);
	if (!seen && space == SPACE_CONSTANT) {
		study_verdict(s, key, VERDICT_INCONCLUSIVE, evidence, "%.4g cycles with the address arithmetic, but %s",
			      t->ns * cycles, walk_unseen);
		return;
	}
	/* How an address of private memory is made from an offset only the native code tells. */
	if (!seen && space == SPACE_PRIVATE) {
		study_bound(s, key, -INFINITY, t->hi * cycles, method, evidence,
			    "what making an address of the offset takes is part of it, and could not be told");
		return;
	}
	const double unsure = more->unsure + (seen ? 0 : more->of_another), value = t->ns - more->ns;
	/* Places of a memory answer unlike fast; what is at hand has one latency. */
	const double lo = (t->lo - more->ns - unsure) * cycles, hi = (t->hi - more->ns + unsure) * cycles;
	if (is_rough(t) || (experiment != EXPERIMENT_COLD && t->hi - t->lo + 2 * unsure > VAGUE * value)) {
		study_between(s, key, value * cycles, lo, hi, "sm", method, evidence,
			      "from %.4g to %.4g cycles: run times of equal launches differ", lo, hi);
		return;
	}
	study_measured_number(s, key, value * cycles, lo, hi, "sm", method, evidence,
			      "%s; %.4g cycles of address arithmetic taken off", how, more->ns * cycles);
}

/* A walk through numbers beside the one whose address arithmetic is taken off. Both have the same instructions. What
 * their beginnings and ends hide goes away with it, but for what they are apart. */
static struct timed beside_number(struct timed t, const struct timed *number)
{
	const double off = t.half + ENDS * fabs(t.ns - number->ns);
	t.lo = t.ns - off;
	t.hi = t.ns + off;
	return t;
}

/* Asks shorter loops if instructions of the usual ones come late, or their pauses do. */
static unsigned ask_shorter(struct study *s, const struct walk_clock *clock, struct cold *cold, unsigned good,
			    const char **why)
{
	struct cold shorter;
	const char *why_shorter;
	if (good >= 2 && !cold_uneven(s, cold, clock)) {
		if (cold_bends(s, cold, clock))
			*why = cold_late;
		return good;
	}
	const enum cold_code code = cold_compare(s, cold, walk_short_loops, clock);
	if (study_pending(s) || code == COLD_UNKNOWN || (code == COLD_AS_LONG && !*why))
		return good;
	if (code == COLD_LATE) {
		*why = cold_late;
		return good;
	}
	cold_ask(s, walk_short_loops, clock, &shorter);
	if (study_pending(s))
		return good;
	/* Two parts of them, which take as long, tell of their instructions; links that differ in their pauses do not. */
	memset(shorter.code, 0, sizeof shorter.code);
	const unsigned is = cold_good(&shorter, &why_shorter);
	*cold = shorter;
	*why = why_shorter;
	return is;
}

static void conclude_global(struct study *s, const struct cold *cold, const struct near *near, unsigned good,
			    const char *why, const struct walk_clock *clock)
{
	static const char near_how[] = "64 places that the nearest cache holds, or memory where there is none",
			  cold_how[] = "places that no launch had visited since the caches were emptied";
	const struct more none = {.told = true}, *more = &near->more;
	struct more other = *more, same;
	other.of_another = more->ns;
	same = other;
	same.unsure = hypot(near->number.half, near->pointer.hi - near->pointer.ns);
	for (unsigned i = 0; i < WALK_SIZES; i++) {
		const unsigned bytes = 1u << i;
		const bool alike = i < 3 && near_alike(&near->walk[i], &near->number);
		const struct timed far = cold_walk(cold->walk[i], good),
				   beside = alike ? beside_number(near->walk[i], &near->number) : near->walk[i];
		if (!good && i < 3) /* what is taken off is the difference of two loops that are as long */
			walk_verdict(s, SPACE_GLOBAL, bytes, "timed_hit", VERDICT_INCONCLUSIVE, why);
		else if (near->why && i < 3 && !alike)
			walk_verdict(s, SPACE_GLOBAL, bytes, "timed_hit", VERDICT_INCONCLUSIVE, near->why);
		else
			conclude(s, SPACE_GLOBAL, bytes, "timed_hit", &beside,
				 alike	 ? &same
				 : i < 3 ? &other
					 : &none,
				 clock, SPACE_GLOBAL, near_how);
		if (far.ok && why)
			walk_verdict(s, SPACE_GLOBAL, bytes, "timed_latency", VERDICT_INCONCLUSIVE, why);
		else
			conclude(s, SPACE_GLOBAL, bytes, "timed_latency", &far, i == 3 ? more : &other, clock,
				 EXPERIMENT_COLD, cold_how);
	}
}

/* *late: instructions of the usual loops through memory come late. */
static void walk_global(struct study *s, const struct walk_clock *clock, bool *late)
{
	struct near near;
	struct cold cold;
	const char *why;
	near_ask(s, usual_loops, clock, &near);
	cold_ask(s, usual_loops, clock, &cold);
	if (study_pending(s))
		return;
	const unsigned usual = cold_good(&cold, &why), good = ask_shorter(s, clock, &cold, usual, &why);
	if (study_pending(s))
		return;
	*late = (usual < 2 && cold.told[0]) || why == cold_late;
	near_in_time(s, *late, cold.loops.many == walk_short_loops.many, clock, &near);
	if (!study_pending(s))
		conclude_global(s, &cold, &near, good, why, clock);
}

/* Memory without caches has one latency; of constant and private memory what the nearest cache holds is all that is walked through. */
static const char *part_of(enum walk_space space)
{
	return space == SPACE_SHARED ? "timed_latency" : "timed_hit";
}

static void walk_space(struct study *s, enum walk_space space, const struct walk_clock *clock, bool *late)
{
	const struct more none = {.told = true};
	const char *why;
	if (space == SPACE_GLOBAL) {
		walk_global(s, clock, late);
		return;
	}
	const struct timed t = walk_in_time(s, space, usual_loops, *late, clock, &why);
	if (why && !study_pending(s)) {
		walk_verdict(s, space, 4, part_of(space), VERDICT_INCONCLUSIVE, why);
		return;
	}
	conclude(s, space, 4, part_of(space), &t, &none, clock, space,
		 space == SPACE_SHARED ? "64 places" : "a few places that the nearest cache holds");
}

static void without_timer(struct study *s, const char *why)
{
	for (unsigned bytes = 1; bytes <= 16; bytes *= 2) {
		walk_verdict(s, SPACE_GLOBAL, bytes, "timed_latency", VERDICT_INCONCLUSIVE, why);
		walk_verdict(s, SPACE_GLOBAL, bytes, "timed_hit", VERDICT_INCONCLUSIVE, why);
	}
	for (unsigned space = SPACE_GLOBAL + 1; space < SPACES; space++)
		walk_verdict(s, (enum walk_space)space, 4, part_of((enum walk_space)space), VERDICT_INCONCLUSIVE, why);
}

static void study(struct study *s)
{
	struct timed_pair one = {.experiment = SPACE_SHARED,
				 .x = 4,
				 .links_at = P_LINKS,
				 .rounds_at = P_ROUNDS,
				 .repeats_at = P_REPEATS,
				 .few = FEW,
				 .both_hz = study_device(s)->clock_hz};
	struct walk_clock clock;
	const char *why;
	const bool told = timed_steady(s, &one, &clock.timer, &why);
	clock.hz = one.both_hz;
	const bool ahead = !told && !why && study_ahead(s);
	bool late = false;
	if (ahead)
		clock.timer = 0;
	if (why)
		without_timer(s, why);
	for (unsigned space = 0; space < SPACES && (told || ahead); space++)
		walk_space(s, (enum walk_space)space, &clock, &late);
	if (!ahead && (!told || study_pending(s))) /* streams share an array, which no other launch is to displace */
		return;
	for (unsigned space = 0; space < STREAMS; space++)
		stream_study(s, (enum walk_space)space, &clock);
	loop_study(s, &clock);
}

static const char *const helped[] = {"clock", "instruction_cache", NULL};
static const char *const claims[] = {"memory.*.*.timed_latency",
				     "memory.*.*.timed_hit",
				     "memory.*.*.issue",
				     "memory.*.*.bandwidth",
				     "memory.*.*.one_warp",
				     "memory.global.loop.*",
				     NULL};

const struct probe probe_walk = {
    .name = "walk",
    .asks = "How long does a load of each size take from each memory, and how many come at once, seen from outside?",
    .source = "Lemeire 2016, VI and Table III: copy kernel, random walk by Sattolo's shuffle; here the difference of "
	      "two lengths "
	      "instead of one whole run time",
    .how = "One thread walks through 64 places in an order nobody can foresee, each of which says where the "
	   "next one is. Two kernels differ only in how many steps their loop has; what their run times differ "
	   "by, over the steps, is a load's. Words too small for an address hold numbers of places. What making "
	   "an address of one takes is known from words of 8 bytes, which can hold either. Round the same "
	   "places again and again it is the nearest cache that answers. For memory's own latency no place is "
	   "visited twice, and the caches are emptied before each launch. Steps take unlike long, so that they "
	   "do not fall into step with refreshes. Streams of independent loads of many warps give bandwidth and "
	   "issue latency. Global memory is read by all SMs after the caches were emptied, shared and constant "
	   "memory by one SM. One warp alone on each SM shows what a load takes that only its own warp's other "
	   "loads hide. The paper's copy kernel shows what its loop costs: one whose end the launch tells, one "
	   "of known length, and none.",
    .fooled = "A compiler that reads less: the loads of the compiled kernel are counted. A timer "
	      "too coarse: how well it tells launches apart is measured first. Caches that nobody "
	      "told of and that are larger than what is read to empty them. Pages: a region has "
	      "few, and the launch before has come to all of them. If no TLB holds as many, both "
	      "loops come to the same ones in each turn. A loop too long for the nearest "
	      "instruction cache: of the walk through memory, the shorter loop has to take no less "
	      "a step than the longer in two regions at least. Round a few places, loops with a "
	      "sixth of the steps tell where those of the longer take more. Memory that is slower "
	      "to read in some places: one array serves all streams. How a compiler joins and "
	      "orders independent loads: the interval of a stream is as wide as CUDA and OpenCL "
	      "were apart on one GPU. Schedulers that prefer some warps: if one of a block is "
	      "behind when the first ends, all stop with the first, and the turns that they made "
	      "count.",
    .figure = "copy-loops",
    .draw = loop_draw,
    .helped = helped,
    .claims = claims,
    .experiments = experiments,
    .experiment_count = sizeof(experiments) / sizeof(experiments[0]),
    .study = study,
};
