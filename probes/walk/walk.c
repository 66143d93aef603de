/* Completion latency of loads: a random walk whose every step needs the last one's value, by one thread. Round a few places it says
 * what the nearest cache takes; through places that were never visited since the caches were emptied, what memory takes. */
#include "walk.h"
#include "base/arena.h"
#include "base/rng.h"
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
	POSITIONS = 64,	   /* that a byte can tell apart, and the smallest caches hold */
	POSITIONS_OWN = 4, /* of private memory, where each thread's words lie far apart */
	SIZES = 5,	   /* of loads: 1 to 16 bytes */
	FEW = 16,
	MANY = 48,
	SHIFT_NEAR = 3, /* of bytes, from one place of global memory to the next: all sizes but the largest lie alike */
	SHIFT_COLD = 9, /* no cache brings what is so far off beside what was asked for */
	COLD_PLACES = 3, /* memories answer some places later than others */
	COLD_REPEATS = 5,
	COLD_SHARE = 8 /* of the memory that a region may take */
};

#define COLD_QUIET 0.02 /* regions differ by more */
#define UNEVEN	   1.03 /* a step of the longer loop, over one of the shorter with its part of the loop */

const char *const walk_space_name[SPACES] = {"global", "shared", "constant", "private"};

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
	job_param(j, "POINTER", !cold && p[P_MORE] > 0);
	job_param(j, "SHIFT", shift);
	job_param(j, "COLD", cold);
	/* What comes again and again, as a refresh does, falls into step with a regular walk, and then meets it at the same moment
	 * every time. So no step of a walk through memory is as long as the next, nor as those of the other regions. */
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
	rng_cycle(next, POSITIONS, 1, study_seed(s));
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

#define STREAM(space, ID)                                                                                              \
	static int setup_stream_##space(const struct study *s, double x, const double *p, struct job *j)               \
	{                                                                                                              \
		return stream_setup(s, ID, x, p, j);                                                                   \
	}
STREAM(global, SPACE_GLOBAL)
STREAM(shared, SPACE_SHARED)
STREAM(constant, SPACE_CONSTANT)

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
		.params = {"loads", "rounds", "repeats", more}, .setup = setup_                                        \
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
};

/* ---- what is concluded ---- */

static struct timed ask(struct study *s, unsigned experiment, unsigned bytes, unsigned more,
			const struct walk_clock *clock)
{
	const bool cold = experiment == EXPERIMENT_COLD;
	struct timed_pair k = walk_pair(experiment, bytes, more);
	k.most = cold ? COLD_REPEATS : 0;
	k.quiet = cold ? COLD_QUIET : 0;
	k.fresh = cold;
	k.both_hz = clock->hz;
	return timed_ask(s, &k, clock->timer);
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

/* What the walks take that stands in front of a load: it is taken off. */
struct more {
	double ns, unsure;
	bool told;	   /* false: it could not be had */
	double of_another; /* ns: it was measured around words of another size, which compilers may treat differently */
};

static const char method[] = "run time of a random walk, difference of two lengths";

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
	if (walk_failed(s, space, bytes, part, t))
		return;
	if (!(cycles > 0)) {
		walk_verdict(s, space, bytes, part, VERDICT_UNSUPPORTED,
			     "the device does not tell its clock, so run times are no cycles");
		return;
	}
	snprintf(key, sizeof key, "memory.%s.%u.%s", walk_space_name[space], bytes, part);
	/* How an address of constant or private memory is made from an offset only the native code tells. */
	const struct native_info *native = study_native(s, experiment, t->point);
	if ((!native || !native->fingerprint || native->problem[0]) &&
	    (space == SPACE_CONSTANT || space == SPACE_PRIVATE)) {
		study_bound(s, key, -INFINITY, t->hi * cycles, method, evidence,
			    "what making an address of the offset takes is part of it, and could not be told");
		return;
	}
	const bool seen = native && native->fingerprint && !native->problem[0];
	const double unsure = more->unsure + (seen ? 0 : more->of_another);
	study_measured_number(s, key, (t->ns - more->ns) * cycles, (t->lo - more->ns - unsure) * cycles,
			      (t->hi - more->ns + unsure) * cycles, "sm", method, evidence,
			      "%s; %.4g cycles of address arithmetic taken off", how, more->ns * cycles);
}

/* Pauses take as long between loads of shared memory, which nothing else delays. */
static struct timed without_pauses(struct study *s, struct timed t, unsigned pauses, const struct walk_clock *clock)
{
	const struct timed with = ask(s, SPACE_SHARED, 4, pauses, clock), plain = ask(s, SPACE_SHARED, 4, 0, clock);
	const double pause = with.ns - plain.ns, unsure = hypot(with.hi - with.ns, plain.hi - plain.ns);
	t.ok = t.ok && with.ok && plain.ok;
	t.ns -= pause;
	t.lo -= pause + unsure;
	t.hi += unsure - pause;
	return t;
}

/* Of walks through memory, all told, those whose longer loop took longer for a step than the shorter one did. Places of a memory
 * answer unlike fast, but it is not always the longer loop's that are slow; where it is, its instructions did not come as fast. */
struct loops {
	unsigned told, uneven;
};

/* Several regions: what one memory answers to each of them is between the extremes. */
static struct timed cold_walk(struct study *s, unsigned bytes, const struct walk_clock *clock, struct loops *loops)
{
	struct timed all = {.ok = false};
	double sum = 0;
	for (unsigned k = 0; k < COLD_PLACES; k++) {
		const struct timed walk = ask(s, EXPERIMENT_COLD, bytes, k, clock),
				   t = without_pauses(s, walk, 1 + k, clock);
		loops->told += walk.ok;
		loops->uneven += walk.ok && walk.ns > UNEVEN * walk.alone;
		if (!k || (all.ok && !t.ok)) {
			all = t;
		} else if (all.ok) {
			all.lo = fmin(all.lo, t.lo);
			all.hi = fmax(all.hi, t.hi);
		}
		sum += t.ns;
	}
	all.ns = all.ok ? sum / COLD_PLACES : all.ns;
	return all;
}

static void walk_global(struct study *s, const struct walk_clock *clock)
{
	static const char near_how[] = "64 places that the nearest cache holds, or memory where there is none",
			  cold_how[] = "places that no launch had visited since the caches were emptied",
			  slow_code[] =
			      "steps of the longer loop through memory take longer than those of the shorter: "
			      "its instructions did not come as fast";
	const struct more none = {.told = true};
	/* Words of 8 bytes hold numbers of places as well as addresses: the difference is what making an address takes. */
	const struct timed number = ask(s, SPACE_GLOBAL, 8, false, clock),
			   pointer = ask(s, SPACE_GLOBAL, 8, true, clock);
	const struct more more = {.ns = number.ns > pointer.ns ? number.ns - pointer.ns : 0,
				  .unsure = hypot(number.hi - number.ns, pointer.hi - pointer.ns),
				  .told = number.ok && pointer.ok};
	struct more other = more;
	other.of_another = more.ns;
	struct timed t[SIZES], cold[SIZES];
	struct loops loops = {0, 0};
	for (unsigned i = 0; i < SIZES; i++) {
		t[i] = i == 3 ? pointer : ask(s, SPACE_GLOBAL, 1u << i, i > 3, clock);
		cold[i] = cold_walk(s, 1u << i, clock, &loops);
	}
	for (unsigned i = 0; i < SIZES; i++) {
		const unsigned bytes = 1u << i;
		const bool uneven = loops.told && loops.uneven == loops.told && !study_pending(s);
		if (uneven && i < 3) /* what is taken off is the difference of two loops that are as long */
			walk_verdict(s, SPACE_GLOBAL, bytes, "nearest", VERDICT_INCONCLUSIVE, slow_code);
		else
			conclude(s, SPACE_GLOBAL, bytes, "nearest", &t[i], i < 3 ? &other : &none, clock, SPACE_GLOBAL,
				 near_how);
		if (cold[i].ok && uneven)
			walk_verdict(s, SPACE_GLOBAL, bytes, "completion", VERDICT_INCONCLUSIVE, slow_code);
		else
			conclude(s, SPACE_GLOBAL, bytes, "completion", &cold[i], i == 3 ? &more : &other, clock,
				 EXPERIMENT_COLD, cold_how);
	}
}

/* Memory without caches has one latency; of constant and private memory what the nearest cache holds is all that is walked through. */
static const char *part_of(enum walk_space space)
{
	return space == SPACE_SHARED ? "completion" : "nearest";
}

static void walk_space(struct study *s, enum walk_space space, const struct walk_clock *clock)
{
	const struct more none = {.told = true};
	if (space == SPACE_GLOBAL) {
		walk_global(s, clock);
		return;
	}
	const struct timed t = ask(s, space, 4, false, clock);
	conclude(s, space, 4, part_of(space), &t, &none, clock, space,
		 space == SPACE_SHARED ? "64 places" : "a few places that the nearest cache holds");
}

static void without_timer(struct study *s, const char *why)
{
	for (unsigned bytes = 1; bytes <= 16; bytes *= 2) {
		walk_verdict(s, SPACE_GLOBAL, bytes, "completion", VERDICT_INCONCLUSIVE, why);
		walk_verdict(s, SPACE_GLOBAL, bytes, "nearest", VERDICT_INCONCLUSIVE, why);
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
	if (!told && !why)
		return;
	if (why)
		without_timer(s, why);
	for (unsigned space = 0; space < SPACES && told; space++)
		walk_space(s, (enum walk_space)space, &clock);
	if (!told || study_pending(s)) /* streams share an array, which no other launch is to displace */
		return;
	for (unsigned space = 0; space < STREAMS; space++)
		stream_study(s, (enum walk_space)space, &clock);
	loop_study(s, &clock);
}

static const char *const claims[] = {"memory.*.*.completion", "memory.*.*.nearest",   "memory.*.*.issue",
				     "memory.*.*.bandwidth",  "memory.global.loop.*", NULL};

const struct probe probe_walk = {
    .name = "walk",
    .asks = "How long does a load of each size take from each memory, and how many come at once, seen from outside?",
    .source = "Lemeire 2016, VI and Table III: copy kernel, random walk by Sattolo's shuffle; here the difference of "
	      "two lengths "
	      "instead of one whole run time",
    .how = "One thread walks through 64 places in an order nobody can foresee, each of which says where the next one "
	   "is. Two kernels "
	   "differ only in how many steps their loop has; what their run times differ by, over the steps, is a load's. "
	   "Words too small for "
	   "an address hold numbers of places; what making an address of one takes is known from words of 8 bytes, "
	   "which can "
	   "hold either. Round the same places again and again it is the nearest cache that answers. For memory's own "
	   "latency "
	   "no place is visited twice, the caches are emptied before each launch, and steps take unlike long, so that "
	   "they "
	   "do not fall into step with refreshes. "
	   "Streams of independent loads of many warps give "
	   "bandwidth and issue latency: of global memory by all SMs after the caches were emptied, of shared and "
	   "constant memory by one SM. The paper's copy kernel shows what its loop costs: one whose end the launch "
	   "tells, one of "
	   "known length, and none.",
    .fooled =
	"A compiler that reads less: the loads of the compiled kernel are counted. A timer too coarse: how well "
	"it tells launches apart is "
	"measured first. Caches that nobody told of and that are larger than what is read to empty them. Pages: "
	"a region "
	"has few, and the launch before has come to all of them. A loop too long for the nearest instruction cache: "
	"of the walk through memory, the shorter loop has to take no less a step than the longer. Memory that is "
	"slower to read in some "
	"places: one array serves all streams. How a compiler joins and orders independent "
	"loads: the interval of a stream is as wide as "
	"CUDA and OpenCL were apart on one GPU.",
    .figure = "copy-loops",
    .draw = loop_draw,
    .claims = claims,
    .experiments = experiments,
    .experiment_count = sizeof(experiments) / sizeof(experiments[0]),
    .study = study,
};
