/* Completion latency of loads: a random walk whose every step needs the last one's value, by one thread. */
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
	FEW = 16,
	MANY = 48
};

const char *const walk_space_name[SPACES] = {"global", "shared", "constant", "private"};

/* Sattolo's shuffle: one cycle through all positions. next[i]: where i leads to, in bytes. */
static void sattolo(uint32_t *next, unsigned positions, unsigned bytes, uint64_t seed)
{
	struct rng r;
	rng_seed(&r, seed);
	for (uint32_t i = 0; i < positions; i++)
		next[i] = i;
	for (uint32_t i = positions - 1; i > 0; i--) {
		const uint32_t k = (uint32_t)rng_below(&r, i), keep = next[i];
		next[i] = next[k];
		next[k] = keep;
	}
	for (uint32_t i = 0; i < positions; i++)
		next[i] *= bytes;
}

static unsigned positions_of(enum walk_space space)
{
	return space == SPACE_PRIVATE ? POSITIONS_OWN : POSITIONS;
}

static int setup(const struct study *s, enum walk_space space, double x, const double *p, struct job *j)
{
	const unsigned bytes = (unsigned)x, positions = positions_of(space);
	uint32_t *next = ARENA_ARRAY(j->arena, positions, uint32_t);
	if (!next)
		return -ENOMEM;
	sattolo(next, positions, bytes, study_seed(s));
	j->template_path = "probes/walk/walk.ptx";
	job_param_text(j, "SPACE", walk_space_name[space]);
	job_param(j, "BYTES", bytes);
	job_param(j, "POSITIONS", positions);
	job_param(j, "LINKS", (long long)p[P_LINKS]);
	job_param(j, "POINTER", p[P_MORE] > 0);
	snprintf(j->launch.entry, sizeof j->launch.entry, "walk");
	struct launch_buffer *b = j->launch.buffers;
	b[0] = (struct launch_buffer){.space = BUFFER_GLOBAL, .bytes = 16};
	b[1] = (struct launch_buffer){.space = BUFFER_GLOBAL, .bytes = (uint64_t)POSITIONS * 16};
	b[2] = (struct launch_buffer){
	    .space = BUFFER_GLOBAL, .bytes = positions * 4ull, .init = next, .init_bytes = positions * 4ull};
	j->launch.buffer_count = 3;
	if (space == SPACE_CONSTANT) {
		b[3] = b[2];
		b[3].space = BUFFER_CONSTANT;
		snprintf(b[3].symbol, sizeof b[3].symbol, "ring");
		j->launch.buffer_count = 4;
	}
	for (unsigned i = 0; i < 3; i++)
		job_arg_buffer(j, i, 0);
	job_arg_u32(j, (uint32_t)p[P_ROUNDS]);
	job_arg_u32(j, 0);
	timed_job(j, p[P_REPEATS]);
	static const enum native_class class[SPACES] = {NATIVE_LOAD_GLOBAL, NATIVE_LOAD_SHARED, NATIVE_LOAD_CONST,
							NATIVE_LOAD_LOCAL};
	j->check.cls = class[space];
	j->check.min = (unsigned)p[P_LINKS];
	j->check.max = UINT32_MAX;
	j->check.others = UINT32_MAX;
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

#define LOADS(name_, setup_, more)                                                                                     \
	{                                                                                                              \
		.name = name_, .axis = "size of a load", .unit = "bytes",                                              \
		.params = {"loads", "rounds", "repeats", more}, .setup = setup_                                        \
	}

static const struct experiment experiments[] = {
    [SPACE_GLOBAL] = LOADS("global", setup_global, "pointer"),
    [SPACE_SHARED] = LOADS("shared", setup_shared, "pointer"),
    [SPACE_CONSTANT] = LOADS("constant", setup_constant, "pointer"),
    [SPACE_PRIVATE] = LOADS("private", setup_private, "pointer"),
    [SPACES + SPACE_GLOBAL] = LOADS("stream.global", setup_stream_global, "warps"),
    [SPACES + SPACE_SHARED] = LOADS("stream.shared", setup_stream_shared, "warps"),
    [SPACES + SPACE_CONSTANT] = LOADS("stream.constant", setup_stream_constant, "warps"),
};

/* ---- what is concluded ---- */

static struct timed ask(struct study *s, enum walk_space space, unsigned bytes, bool pointer, double timer)
{
	const struct timed_pair k = {.experiment = space,
				     .x = bytes,
				     .p = {[P_MORE] = pointer},
				     .links_at = P_LINKS,
				     .rounds_at = P_ROUNDS,
				     .repeats_at = P_REPEATS,
				     .few = FEW,
				     .many = MANY};
	return timed_ask(s, &k, timer);
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
		     t->bad ? point_why(t->bad) : "run times of equal launches differ too much");
	return true;
}

/* The walk of this size, and what stands in front of each of its loads, which is taken off. */
static void conclude(struct study *s, enum walk_space space, unsigned bytes, const struct timed *walk, double more,
		     double unsure)
{
	const double cycles = study_device(s)->clock_hz * 1e-9;
	char key[64];
	if (study_pending(s))
		return;
	if (walk_failed(s, space, bytes, "completion", walk))
		return;
	if (!(cycles > 0)) {
		walk_verdict(s, space, bytes, "completion", VERDICT_UNSUPPORTED,
			     "the device does not tell its clock, so run times are no cycles");
		return;
	}
	snprintf(key, sizeof key, "memory.%s.%u.completion", walk_space_name[space], bytes);
	/* How an address of constant or private memory is made from an offset only the native code tells. */
	const struct native_info *native = study_native(s, space, walk->point);
	if ((!native || !native->fingerprint) && (space == SPACE_CONSTANT || space == SPACE_PRIVATE)) {
		study_bound(s, key, -INFINITY, walk->hi * cycles,
			    "run time of a random walk, difference of two lengths", walk_space_name[space],
			    "what making an address of the offset takes is part of it, and could not be told");
		return;
	}
	study_measured_number(
	    s, key, (walk->ns - more) * cycles, (walk->lo - more - unsure) * cycles,
	    (walk->hi - more + unsure) * cycles, "sm", "run time of a random walk, difference of two lengths",
	    walk_space_name[space],
	    "%u positions, which the nearest cache holds; %.4g cycles of address arithmetic taken off",
	    positions_of(space), more * cycles);
}

static void walk_completion(struct study *s, enum walk_space space, double timer)
{
	if (space != SPACE_GLOBAL) {
		const struct timed t = ask(s, space, 4, false, timer);
		conclude(s, space, 4, &t, 0, 0);
		return;
	}
	/* Words of 8 bytes hold offsets as well as addresses: the difference is what adding the base takes. */
	const struct timed offset = ask(s, space, 8, false, timer), pointer = ask(s, space, 8, true, timer);
	const double more = offset.ok && pointer.ok && offset.ns > pointer.ns ? offset.ns - pointer.ns : 0;
	const double unsure = hypot(offset.hi - offset.ns, pointer.hi - pointer.ns);
	for (unsigned bytes = 1; bytes <= 16; bytes *= 2) {
		const bool small = bytes < 8;
		const struct timed t = bytes == 8 ? pointer : ask(s, space, bytes, !small, timer);
		if (small && !(offset.ok && pointer.ok)) {
			if (!study_pending(s))
				walk_verdict(s, space, bytes, "completion", VERDICT_INCONCLUSIVE,
					     "what the address arithmetic takes could not be told");
			continue;
		}
		conclude(s, space, bytes, &t, small ? more : 0, small ? unsure : 0);
	}
}

static void study(struct study *s)
{
	const struct timed_pair one = {.experiment = SPACE_SHARED,
				       .x = 4,
				       .links_at = P_LINKS,
				       .rounds_at = P_ROUNDS,
				       .repeats_at = P_REPEATS,
				       .few = FEW};
	const char *why;
	double timer;
	const bool told = timed_timer(s, &one, &timer, &why);
	if (!told && !why)
		return;
	for (unsigned space = 0; space < SPACES; space++)
		for (unsigned bytes = space == SPACE_GLOBAL ? 1 : 4; why && bytes <= (space == SPACE_GLOBAL ? 16 : 4);
		     bytes *= 2)
			walk_verdict(s, (enum walk_space)space, bytes, "completion", VERDICT_INCONCLUSIVE, why);
	for (unsigned space = 0; space < SPACES && told; space++)
		walk_completion(s, (enum walk_space)space, timer);
	for (unsigned space = 0; space < STREAMS && told; space++)
		stream_study(s, (enum walk_space)space, timer);
}

static const char *const claims[] = {"memory.*.*.completion", "memory.*.*.issue", "memory.*.*.bandwidth", NULL};

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
	   "an address hold offsets; what adding the base takes is known from words of 8 bytes, which can hold either. "
	   "Streams of independent loads of many warps give "
	   "bandwidth and issue latency: of global memory by all SMs after the caches were emptied, of shared and "
	   "constant memory by one SM.",
    .fooled =
	"A compiler that reads less: the loads of the compiled kernel are counted. A timer too coarse: how well "
	"it tells launches apart is "
	"measured first. Caches: the places fit the smallest, and were all visited before, so it is the nearest "
	"cache that is seen. How a compiler joins and orders independent loads: the interval of a stream is as wide as "
	"CUDA and OpenCL were apart on one GPU.",
    .figure = NULL,
    .claims = claims,
    .experiments = experiments,
    .experiment_count = sizeof(experiments) / sizeof(experiments[0]),
    .study = study,
};
