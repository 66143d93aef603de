/* The register file: how large it is, and in which pieces threads get it.
 *
 * Kernels of many values that live at once are launched in blocks of more and more threads. A launch that is refused says as
 * much as one that runs. What an SM holds beyond one block is seen from blocks that wait for each other. Every rule by which
 * registers may be given out is tried on all launches, and those that one launch contradicts are dropped. */
#include "registers.h"
#include "base/arena.h"
#include "fit.h"
#include "limits.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
	HEADER_WORDS = 2,
	KERNELS_MAX = 640,
	SEEN_MAX = 4096,
	POLLS = 12,
	PATIENT = 8, /* times as many */
	ROUNDS = 8,
	TRIES = 6,
	VALUES_FEW = 8,
	FIRST_GAP = 8 /* kernels, from one to the next that is looked at first */
};

/* A register file is known when what is too much is no more than this times what was in use. */
#define ROOM 1.1
enum {
	EXPERIMENT_BLOCK = REGISTERS_BLOCK,
	EXPERIMENT_TOGETHER,
	EXPERIMENT_LIMITS,
	EXPERIMENT_SPLIT = EXPERIMENT_LIMITS + LIMITS
};

/* ---- experiments ---- */

static void hold(struct job *j, double values, double threads, uint32_t polls, uint32_t sms)
{
	j->template_path = "probes/registers/hold.ptx";
	job_param(j, "N", (long long)values);
	snprintf(j->launch.entry, sizeof j->launch.entry, "hold");
	j->launch.block[0] = (uint32_t)threads;
	j->launch.block[1] = j->launch.block[2] = 1;
	job_output(j, HEADER_WORDS + (polls ? 2 * sms : 0));
	job_arg_u32(j, 0);
	job_arg_u32(j, polls);
	job_arg_u32(j, sms);
}

/* x: values that live at once; p[0]: threads of the one block. */
static int setup_block(const struct study *s, double x, const double *p, struct job *j)
{
	(void)s;
	hold(j, x, p[0], 0, 0);
	return 0;
}

/* Runs blocks of x values that live at once. The threads of a block are p[0], blocks for each SM p[1], and bytes of
 * shared memory of each p[2]. If p[3] is 1, they wait longer for others. */
static int setup_together(const struct study *s, double x, const double *p, struct job *j)
{
	const uint32_t sms = study_device(s)->sm_count;
	hold(j, x, p[0], p[3] > 0 ? PATIENT * POLLS : POLLS, sms);
	j->launch.grid[0] = sms * (uint32_t)p[1];
	j->launch.grid[1] = j->launch.grid[2] = 1;
	j->launch.shared_bytes = (uint32_t)p[2];
	j->launch.carveout = p[2] > 0 ? CARVEOUT_MAX_SHARED : CARVEOUT_DEFAULT;
	return 0;
}

/* See splits_study(). */
static int setup_split(const struct study *s, double x, const double *p, struct job *j)
{
	const struct device_info *d = study_device(s);
	hold(j, p[0], d->warp_size, POLLS, d->sm_count);
	j->launch.grid[0] = d->sm_count * (uint32_t)p[1];
	j->launch.grid[1] = j->launch.grid[2] = 1;
	j->launch.shared_bytes = (uint32_t)p[2];
	j->launch.shared_percent = (uint32_t)x;
	return 0;
}

static int setup_threads(const struct study *s, double x, const double *p, struct job *j)
{
	(void)p;
	return limits_setup(s, LIMIT_THREADS, x, j);
}

static int setup_shared(const struct study *s, double x, const double *p, struct job *j)
{
	(void)p;
	return limits_setup(s, LIMIT_SHARED, x, j);
}

static int setup_constants(const struct study *s, double x, const double *p, struct job *j)
{
	(void)p;
	return limits_setup(s, LIMIT_CONSTANT, x, j);
}

static const struct experiment experiments[] = {
    [EXPERIMENT_BLOCK] = {.name = "block",
			  .axis = "values that live at once",
			  .unit = "count",
			  .params = {"threads"},
			  .setup = setup_block},
    [EXPERIMENT_TOGETHER] = {.name = "together",
			     .axis = "values that live at once",
			     .unit = "count",
			     .params = {"threads", "blocks for each SM", "shared bytes", "patient"},
			     .setup = setup_together},
    [EXPERIMENT_LIMITS +
	LIMIT_THREADS] = {.name = "threads", .axis = "threads of a block", .unit = "count", .setup = setup_threads},
    [EXPERIMENT_LIMITS +
	LIMIT_SHARED] = {.name = "shared", .axis = "shared memory of a block", .unit = "bytes", .setup = setup_shared},
    [EXPERIMENT_LIMITS + LIMIT_CONSTANT] = {.name = "constants",
					    .axis = "constant memory of a kernel",
					    .unit = "bytes",
					    .setup = setup_constants},
    [EXPERIMENT_SPLIT] = {.name = "split",
			  .axis = "shared memory that a launch asks for",
			  .unit = "%",
			  .params = {"values", "blocks for each SM", "shared bytes"},
			  .setup = setup_split},
};

/* ---- what a study knows so far ---- */

struct regs_study {
	struct study *s;
	const struct device_info *d;
	uint32_t registers[VALUES_MAX + 1]; /* of the kernel with so many values, 0: not known */
	const char *why;		    /* a launch failed in another way than by being refused */
	struct regs_seen *seen;
	size_t count;
	struct block_seen {
		uint32_t values, threads;
		bool ran;
	} * block; /* launches of one block, SEEN_MAX at most */
	size_t blocks;
	uint32_t values_ok, values_bad; /* most values that a thread may have; fewest that it may not, 0: none */
	uint32_t most_ok, least_bad;	/* the same in registers */
	bool kept;			/* more values do not make more registers */
};

static void see(struct regs_study *r, struct regs_seen one)
{
	for (size_t i = 0; i < r->count; i++) {
		const struct regs_seen *o = &r->seen[i];
		if (o->threads == one.threads && o->registers == one.registers && o->fit == one.fit &&
		    o->full == one.full && o->launch == one.launch)
			return;
	}
	if (r->count < SEEN_MAX)
		r->seen[r->count++] = one;
}

enum answer { WAITING = -1, REFUSED, RAN };

/* Whether a block of so many threads may be launched. */
static enum answer launches(struct regs_study *r, uint32_t values, uint32_t threads)
{
	const double p[POINT_PARAMS] = {threads};
	const struct point *pt = study_ask(r->s, EXPERIMENT_BLOCK, values, p);
	if (!pt)
		return WAITING;
	const struct native_info *n = study_native(r->s, EXPERIMENT_BLOCK, pt);
	if ((pt->outcome != OUTCOME_OK && pt->outcome != OUTCOME_REFUSED) || !n || !n->registers) {
		r->why = n ? point_why(pt) : "how many registers the kernel has is not known";
		return WAITING;
	}
	r->registers[values] = n->registers;
	const bool ran = pt->outcome == OUTCOME_OK && pt->y[0] == 1;
	if (pt->outcome == OUTCOME_OK && !ran) {
		r->why = "a block that was launched did not run";
		return WAITING;
	}
	return ran ? RAN : REFUSED;
}

/* Blocks of so many threads that an SM has at a time, 0: not known (yet). Every SM has to say the same. */
static uint32_t together(struct regs_study *r, uint32_t values, uint32_t threads, uint32_t each, bool patient)
{
	const double p[POINT_PARAMS] = {threads, each, 0, patient};
	const struct point *pt = study_ask(r->s, EXPERIMENT_TOGETHER, values, p);
	if (!pt || pt->outcome != OUTCOME_OK)
		return 0;
	const struct native_info *n = study_native(r->s, EXPERIMENT_TOGETHER, pt);
	if (!n || !n->registers)
		return 0;
	r->registers[values] = n->registers;
	return limits_together(r->s, pt);
}

/* ---- what a single thread may have ---- */

/* Launches of one thread. False: wait. */
static bool find_limit(struct regs_study *r)
{
	static const uint32_t first[] = {8, 16, 32, 48, 64, 96, 128, 160, 192, 224, 256, 320, 384, VALUES_MAX};
	enum { FIRST = sizeof first / sizeof *first };
	const double one[POINT_PARAMS] = {1};
	enum answer a[FIRST];
	for (unsigned i = 0; i < FIRST; i++)
		a[i] = launches(r, first[i], 1);
	/* Any number of values may be what the next questions are about, one pass for each; more than a byte can name is rare. */
	for (uint32_t v = 1; v <= UINT8_MAX; v++)
		study_expect(r->s, EXPERIMENT_BLOCK, v, one);
	if (study_pending(r->s) || r->why)
		return false;
	for (unsigned i = 0; i < FIRST && a[i] == RAN; i++)
		r->values_ok = first[i];
	for (unsigned i = FIRST; i-- > 0;)
		if (a[i] == REFUSED)
			r->values_bad = first[i];
	while (r->values_bad > r->values_ok + 1) {
		const uint32_t middle = (r->values_ok + r->values_bad) / 2;
		const enum answer x = launches(r, middle, 1);
		if (x == WAITING)
			return false;
		*(x == RAN ? &r->values_ok : &r->values_bad) = middle;
	}
	if (!r->values_ok)
		return true;
	r->most_ok = r->registers[r->values_ok];
	r->least_bad = r->registers[r->values_bad];
	/* A compiler that keeps the rest in memory: the fewest values that fill a thread. */
	uint32_t lo = 0, hi = r->values_ok;
	for (unsigned i = 0; i < FIRST; i++) {
		if (r->registers[first[i]] >= r->most_ok)
			hi = first[i] < hi ? first[i] : hi;
		else if (first[i] < r->values_ok)
			lo = first[i];
	}
	r->kept = hi + 64 <= r->values_ok;
	while (r->kept && hi > lo + 1) {
		const uint32_t middle = (lo + hi) / 2;
		if (launches(r, middle, 1) == WAITING)
			return false;
		*(r->registers[middle] >= r->most_ok ? &hi : &lo) = middle;
	}
	if (r->kept)
		r->values_ok = hi;
	return true;
}

/* ---- one block ---- */

/* As launches(), and not asked if others have told: more threads or more values never take less. */
static enum answer fits_block(struct regs_study *r, uint32_t values, uint32_t threads)
{
	for (size_t i = 0; i < r->blocks; i++) {
		const struct block_seen *o = &r->block[i];
		if (o->ran && o->values >= values && o->threads >= threads)
			return RAN;
		if (!o->ran && o->values <= values && o->threads <= threads)
			return REFUSED;
	}
	const enum answer a = launches(r, values, threads);
	if (a != WAITING && r->blocks < SEEN_MAX)
		r->block[r->blocks++] = (struct block_seen){values, threads, a == RAN};
	return a;
}

/* Finds the most values, or threads, that are let through with so many of the other, and sees both ends. The one that
 * is asked for is 0. False: wait. */
static bool see_most(struct regs_study *r, uint32_t values, uint32_t threads)
{
	const uint32_t limit = threads ? r->values_ok : r->d->max_threads_per_block;
	uint32_t ok = !threads, bad = limit + 1;
	for (uint32_t x = limit; bad > ok + 1; x = (ok + bad) / 2) {
		const enum answer a = fits_block(r, threads ? x : values, threads ? threads : x);
		if (a == WAITING)
			return false;
		*(a == RAN ? &ok : &bad) = x;
	}
	for (unsigned fit = 0; fit < 2; fit++) {
		const uint32_t x = fit ? ok : bad, v = threads ? x : values, t = threads ? threads : x;
		if (!x || x > limit)
			continue;
		/* The largest block of each kernel runs, for all that others tell. */
		if ((!r->registers[v] || (fit && !threads && t > 1)) && launches(r, v, t) == WAITING)
			return false;
		see(r, (struct regs_seen){t, r->registers[v], fit, !fit, true});
	}
	return true;
}

/* Values whose kernel has about so many registers. */
static uint32_t values_for(const struct regs_study *r, uint32_t registers)
{
	const uint32_t more = r->registers[32] > 32 ? r->registers[32] - 32 : 0;
	const uint32_t v = registers > more ? registers - more : 1;
	return v > r->values_ok ? r->values_ok : v;
}

/* Fig. 9, and the same the other way round: as fine as registers are, at blocks of sixteenths. Few kernels tell most of what those between them
 * would. False: wait. */
static bool see_blocks(struct regs_study *r)
{
	const uint32_t step = r->most_ok > 256 ? 16 : 8, last = (r->most_ok - 1) / step + 1,
		       largest = r->d->max_threads_per_block;
	bool all = true;
	for (uint32_t gap = FIRST_GAP; gap && all; gap /= 2)
		for (uint32_t k = gap; k <= last; k += gap)
			if (gap == FIRST_GAP || k / gap % 2)
				all = see_most(r, values_for(r, k * step), 0) && all;
	for (uint32_t first = 3; first <= 4 && all; first++)
		for (uint32_t k = first; k <= 16; k += 2)
			if (k * largest / 16)
				all = see_most(r, 0, k * largest / 16) && all;
	return all;
}

/* ---- blocks that are there together ---- */

/* each: blocks for each SM. False: wait. Nothing is learned where something else is full before the registers are: a kernel of
 * few registers tells. */
static bool see_together(struct regs_study *r, uint32_t values, uint32_t threads, uint32_t each)
{
	const uint32_t small = together(r, 1, threads, each, false);
	uint32_t n = together(r, values, threads, each, false);
	/* Warps that wait for others may be preferred to those that begin, and a long kernel begins late. Its first
	 * blocks may be gone before the last one comes. What was seen has to do if nobody asked for more patience, as
	 * in an older recording. */
	if (n && n < small) {
		const uint32_t more = together(r, values, threads, each, true);
		n = more > n ? more : n;
	}
	if (study_pending(r->s))
		return false;
	if (n && small && n <= small)
		see(r, (struct regs_seen){threads, r->registers[values], n, n < small, false});
	return true;
}

/* Blocks of which j should just fit, and of which j should just not fit. */
static bool see_fractions(struct regs_study *r, const struct regs_fit *f)
{
	const uint32_t warp = r->d->warp_size, quantum = f->thread_lo > warp ? f->thread_lo : warp;
	bool all = true;
	for (uint32_t j = 1; j <= 3; j++) {
		uint32_t fits[2] = {0}, beyond[2] = {0};
		double best_fit = 0, best_beyond = INFINITY;
		for (uint32_t t = quantum; t <= r->d->max_threads_per_block; t += quantum)
			for (uint32_t g = f->register_lo; g <= r->most_ok; g += f->register_lo) {
				const double takes = (double)t * g;
				if (j * (t + warp) > r->d->max_threads_per_sm || g < 8)
					continue;
				if (j * takes <= f->used_hi && takes > best_fit) {
					best_fit = takes;
					fits[0] = t;
					fits[1] = g;
				}
				if (j * takes > f->used_hi && takes < best_beyond) {
					best_beyond = takes;
					beyond[0] = t;
					beyond[1] = g;
				}
			}
		if (fits[0])
			all = see_together(r, values_for(r, fits[1]), fits[0], 2 * j + 1) && all;
		if (beyond[0])
			all = see_together(r, values_for(r, beyond[1]), beyond[0], 2 * j + 1) && all;
	}
	return all;
}

/* Round after round of what tells the rules that are left from each other. False: wait. */
static bool see_apart(struct regs_study *r, struct regs_fit *f, const struct regs_limits *l)
{
	struct regs_try tried[ROUNDS * TRIES] = {0};
	size_t n = 0;
	for (unsigned round = 0; round < ROUNDS; round++) {
		regs_fit(f, r->seen, r->count, l);
		if (!f->rules ||
		    (f->register_lo == f->register_hi && f->thread_lo == f->thread_hi && f->room <= ROOM * f->used_lo))
			return true;
		const size_t more = regs_next(tried + n, TRIES, r->seen, r->count, l, tried, n);
		if (!more)
			return true;
		for (size_t i = n; i < n + more; i++) {
			const uint32_t values = values_for(r, tried[i].registers);
			if (!tried[i].launch) {
				const double one = (double)tried[i].threads * tried[i].registers;
				see_together(r, values, tried[i].threads, (uint32_t)(f->used_hi / one) + 3);
				continue;
			}
			const enum answer a = launches(r, values, tried[i].threads);
			if (a != WAITING)
				see(r, (struct regs_seen){tried[i].threads, r->registers[values], a == RAN,
							  a == REFUSED, true});
		}
		if (study_pending(r->s))
			return false;
		n += more;
	}
	regs_fit(f, r->seen, r->count, l);
	return true;
}

/* ---- conclusions ---- */

/* The multiple of the largest power of two in [lo, hi]: register files are made of equal arrays. */
static double roundest(double lo, double hi)
{
	double step = 1, best = lo;
	for (; ceil(lo / step) * step <= hi; step *= 2)
		best = ceil(lo / step) * step;
	return best;
}

static void conclude_size(struct regs_study *r, const struct regs_fit *f, unsigned launched)
{
	static const char key[] = "regfile.registers_per_sm";
	if (f->room <= ROOM * f->used_lo)
		study_measured_number(
		    r->s, key, roundest(f->used_lo, f->room - 1), f->used_lo, f->room - 1, "card",
		    "blocks that are let through, blocks that are on an SM at a time; the roundest number between",
		    "block, together",
		    "%.0f are in use at once, and %.0f are too many, by the rules that none of %u kinds "
		    "of launches contradicts",
		    f->used_lo, f->room, launched);
	else
		study_bound(r->s, key, f->used_lo, INFINITY, "blocks that are let through", "block, together",
			    "at least %.0f are in use at once; that more are too many was not seen closely enough",
			    f->used_lo);
}

static void conclude_quantum(struct regs_study *r, const struct regs_fit *f, const char *key, uint32_t lo, uint32_t hi,
			     const char *what, unsigned launched)
{
	if (lo == hi)
		study_measured_number(r->s, key, lo, lo, lo, "card",
				      "rules of giving out registers that no launch contradicts", "block, together",
				      "%u rules are left after %u kinds of launches, all with this one", f->rules,
				      launched);
	else
		study_verdict(r->s, key, VERDICT_INCONCLUSIVE, "block, together",
			      "%s from %u to %u explain all %u kinds of launches", what, lo, hi, launched);
}

static void conclude_limit(struct regs_study *r, const struct regs_fit *f)
{
	static const char key[] = "regfile.max_per_thread";
	const uint32_t hold = f->thread_hi > r->d->warp_size ? f->thread_hi : r->d->warp_size;
	if (r->kept)
		study_measured_number(r->s, key, r->most_ok, r->most_ok, r->most_ok, "card",
				      "registers of kernels whose values do not fit", "block",
				      "kernels of up to %u more values have no more registers: the rest lies in memory",
				      VALUES_MAX - r->values_ok);
	else if (r->values_bad && r->least_bad == r->most_ok + 1 &&
		 (double)hold * ((r->least_bad + f->register_hi - 1) / f->register_hi * f->register_hi) <= f->block_lo)
		study_measured_number(r->s, key, r->most_ok, r->most_ok, r->most_ok, "card",
				      "launches of one thread that are refused", "block",
				      "%u are refused, though larger blocks have %.0f registers altogether",
				      r->least_bad, f->block_lo);
	else
		study_bound(r->s, key, r->most_ok, INFINITY, "launches of one thread", "block",
			    r->values_bad ? "%u are let through; more are too many for the register file as a whole"
					  : "%u are let through, the most that were tried",
			    r->most_ok);
}

/* Registers that fit a block badly leave many unused. Which number is the worst follows from the quanta; the largest block with
 * it is launched all the same, and one thread more. */
static void conclude_worst_fit(struct regs_study *r, const struct regs_fit *f)
{
	static const char *const keys[] = {"regfile.least_used", "regfile.least_used_registers",
					   "regfile.least_used_threads"};
	static const char evidence[] = "block";
	const uint32_t q = f->register_hi, largest = r->d->max_threads_per_block;
	const double file = roundest(f->used_lo, f->room - 1);
	uint32_t worst = 0, threads = 0;
	const bool known = q == f->register_lo && f->thread_lo == f->thread_hi && f->room <= ROOM * f->used_lo;
	for (uint32_t n = q; known && n < r->most_ok + q; n += q) {
		const uint32_t t = (uint32_t)(file / n / f->thread_lo) * f->thread_lo;
		if (t && t < largest && (!worst || t * n < threads * worst)) {
			worst = n;
			threads = t;
		}
	}
	const bool told = known && (r->values_bad || r->kept);
	for (unsigned i = 0; i < sizeof keys / sizeof *keys && !(told && worst); i++)
		study_verdict(r->s, keys[i], told ? VERDICT_ABSENT : VERDICT_INCONCLUSIVE, evidence, "%s",
			      told    ? "the largest block fits with any number of registers"
			      : known ? "how many registers a thread may have is not known"
				      : "how registers are given out is not known");
	if (!told || !worst)
		return;
	const uint32_t values = values_for(r, worst < r->most_ok ? worst : r->most_ok);
	const enum answer fits = launches(r, values, threads), more = launches(r, values, threads + 1);
	const uint32_t registers = r->registers[values];
	const double values_of[] = {(double)threads * worst, worst, threads};
	for (unsigned i = 0; i < sizeof keys / sizeof *keys; i++)
		if (fits == RAN && more == REFUSED && registers <= worst && registers + q > worst)
			study_measured_number(
			    r->s, keys[i], values_of[i], values_of[i], values_of[i], "card",
			    "the largest block at the number of registers that suits it worst", evidence,
			    "%u threads with %u registers each are let through, %u are not: %.0f %% are used", threads,
			    registers, threads + 1, 100.0 * threads * worst / file);
		else
			study_verdict(
			    r->s, keys[i], VERDICT_INCONCLUSIVE, evidence,
			    "%u threads with %u registers each should be the most, but launches say otherwise", threads,
			    registers);
}

static void all_inconclusive(struct study *s, enum verdict v, const char *why)
{
	static const char *const keys[] = {"regfile.registers_per_sm",	"regfile.max_per_thread",
					   "regfile.thread_quantum",	"regfile.register_quantum",
					   "regfile.least_used",	"regfile.least_used_registers",
					   "regfile.least_used_threads"};
	for (unsigned i = 0; i < sizeof keys / sizeof *keys; i++)
		study_verdict(s, keys[i], v, "block", "%s", why);
}

static void study_registers(struct study *s)
{
	struct regs_fit f = {0};
	limits_study(s, EXPERIMENT_LIMITS, EXPERIMENT_TOGETHER, EXPERIMENT_SPLIT, VALUES_FEW);
	struct regs_study *r = ARENA_NEW(study_arena(s), struct regs_study);
	if (r)
		*r = (struct regs_study){.s = s,
					 .d = study_device(s),
					 .seen = ARENA_ARRAY(study_arena(s), SEEN_MAX, struct regs_seen),
					 .block = ARENA_ARRAY(study_arena(s), SEEN_MAX, struct block_seen)};
	if (!r || !r->seen || !r->block) {
		all_inconclusive(s, VERDICT_FAILED, "out of memory");
		return;
	}
	bool done = find_limit(r) && r->values_ok && see_blocks(r);
	const struct regs_limits l = {r->d->warp_size, r->d->max_threads_per_block, r->d->max_threads_per_sm,
				      r->most_ok};
	if (done && !study_pending(s)) {
		regs_fit(&f, r->seen, r->count, &l);
		done = f.rules && see_fractions(r, &f) && !study_pending(s) && see_apart(r, &f, &l);
	}
	if (study_pending(s))
		return;
	if (!done || !f.rules) {
		all_inconclusive(s, VERDICT_INCONCLUSIVE,
				 r->why		 ? r->why
				 : !r->values_ok ? "not even a small kernel may be launched"
				 : !f.rules	 ? "no rule of giving out registers explains all launches"
						 : "points are missing");
		return;
	}
	const unsigned n = (unsigned)r->count;
	conclude_worst_fit(r, &f);
	conclude_size(r, &f, n);
	conclude_limit(r, &f);
	conclude_quantum(r, &f, "regfile.thread_quantum", f.thread_lo, f.thread_hi, "pieces of threads", n);
	conclude_quantum(r, &f, "regfile.register_quantum", f.register_lo, f.register_hi, "pieces of registers", n);
}

static const char *const claims[] = {"regfile.*",
				     "device.max_threads_per_block",
				     "shared.per_block",
				     "shared.size",
				     "shared.splits",
				     "memory.constant.size",
				     NULL};

const struct probe probe_registers = {
    .name = "registers",
    .asks = "How many registers has an SM, in which pieces are they given to threads, and how large may a launch be?",
    .source = "Wong 2010, IV-E; here every rule of giving them out is tried on all launches, refused or not",
    .how = "Kernels of more and more values that live at once are launched with one block of more and more "
	   "threads. A launch that is refused says as much as one that runs. What an SM holds beyond one block "
	   "is seen from blocks that count themselves and wait. Rules of giving out registers (to blocks or to "
	   "warps, in pieces of many sizes) are tried on all of it. Those that one launch contradicts are "
	   "dropped, and the next launches are those about which the rest disagree. The largest block, the most "
	   "shared memory and the most constants are looked for in the same way. Launches that ask for more "
	   "and more of the shared memory show in which sizes it comes.",
    .fooled =
	"A compiler that needs more or fewer registers than there are values: their number is read back from the "
	"compiled kernel. One that keeps values in memory: then more values make no more registers, and that is "
	"the limit of a thread. A limit of blocks or threads that comes before the registers: the same blocks "
	"with few registers show it. Blocks that come late: every SM has to say the same. "
	"A driver that counts how many blocks make up what is asked for: blocks of another size get another division, "
	"whose sizes are left out.",
    .figure = "registers-block",
    .claims = claims,
    .experiments = experiments,
    .experiment_count = sizeof experiments / sizeof *experiments,
    .study = study_registers,
    .draw = registers_draw,
};
