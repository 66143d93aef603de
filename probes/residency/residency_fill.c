/* Blocks that are on an SM at a time, of many sizes: what of threads, warps and blocks ran out. */
#include "residency.h"
#include <math.h>
#include <stdio.h>

enum {
	HEADER_WORDS = 2,
	LOOKS = 32,
	READS = 15,    /* of a look, one after the other */
	PATIENT = 4,   /* times as many */
	FIRST = 9,     /* blocks of the largest size for each SM that are tried first */
	MANY = 33,     /* of the smallest */
	BARRIERS = 16, /* that the SM surely has, one for each block of several warps */
	SHAPES = 48
};

/* x: threads of a block; p[0]: blocks for each SM; p[1]: loads, one after the other, without a newcomer for which a block stays. */
int residency_fill_setup(const struct study *s, double x, const double *p, struct job *j)
{
	const struct device_info *d = study_device(s);
	static const uint64_t itself[] = {0};
	const uint32_t loads = (uint32_t)p[1];
	j->template_path = "probes/residency/fill.ptx";
	job_param(j, "READS", READS);
	job_param(j, "BARRIER", x > d->warp_size);
	snprintf(j->launch.entry, sizeof j->launch.entry, "fill");
	j->launch.block[0] = (uint32_t)x;
	j->launch.block[1] = j->launch.block[2] = 1;
	j->launch.grid[0] = d->sm_count * (uint32_t)p[0];
	j->launch.grid[1] = j->launch.grid[2] = 1;
	job_output(j, HEADER_WORDS + 2 * d->sm_count);
	job_arg_buffer(j, job_ring(j, BUFFER_GLOBAL, NULL, sizeof(uint64_t), itself, 1, sizeof(uint64_t)), 0);
	job_arg_u32(j, (loads + READS) / (READS + 1) + 1);
	job_arg_u32(j, d->sm_count);
	return 0;
}

struct shape {
	uint32_t threads, warps, fit; /* of a block, and blocks that an SM has of them at a time */
	bool full;		      /* one more was there to come, and did not fit */
};

struct filling {
	struct study *s;
	const struct device_info *d;
	struct shape shape[SHAPES];
	unsigned count;
	uint32_t kernel_registers;
	const char *why; /* a launch that failed */
};

static uint32_t up(uint32_t n, uint32_t quantum)
{
	return (n + quantum - 1) / quantum * quantum;
}

static uint32_t warps_of(const struct filling *f, uint32_t threads)
{
	return (threads + f->d->warp_size - 1) / f->d->warp_size;
}

/* Blocks that an SM has at a time, of so many that could come; 0: not known (yet). Every SM has to say the same, where there
 * are enough for all. */
static uint32_t count(struct filling *f, uint32_t threads, uint32_t each, uint32_t looks)
{
	const double p[POINT_PARAMS] = {each, looks};
	const struct point *pt = study_ask(f->s, RESIDENCY_FILL, threads, p);
	if (!pt)
		return 0;
	if (pt->outcome != OUTCOME_OK) {
		f->why = point_why(pt);
		return 0;
	}
	const struct native_info *n = study_native(f->s, RESIDENCY_FILL, pt);
	if (n && n->registers > f->kernel_registers)
		f->kernel_registers = n->registers;
	const uint32_t *w = pt->y + HEADER_WORDS;
	uint32_t most = 0;
	bool alike = true;
	for (unsigned i = 0; i < f->d->sm_count; i++) {
		alike &= !w[2 * i] && w[2 * i + 1] == w[1];
		most = w[2 * i + 1] > most ? w[2 * i + 1] : most;
	}
	/* One that gets all it has room for before the next gets any leaves none for the last. */
	if (!alike && most < each)
		f->why = "blocks did not come to all SMs alike";
	return f->why ? 0 : most;
}

/* What one more block would have to come to is said by `each`. False: not known (yet). */
static bool see(struct filling *f, uint32_t threads, uint32_t each)
{
	const uint32_t fit = count(f, threads, each, LOOKS);
	if (!fit || f->count == SHAPES)
		return false;
	f->shape[f->count++] = (struct shape){threads, warps_of(f, threads), fit, fit < each};
	return true;
}

/* Whether registers may be what holds so many blocks back. Registers that nobody has measured are taken to be those of the largest block, and
 * to be given out in large pieces. */
static bool registers_bind(const struct filling *f, uint32_t blocks, uint32_t threads)
{
	double registers = f->d->registers_per_block, thread_quantum = 4.0 * f->d->warp_size, quantum = 8;
	if (!f->kernel_registers || registers <= 0)
		return true;
	study_number(f->s, "regfile.registers_per_sm", &registers);
	study_number(f->s, "regfile.thread_quantum", &thread_quantum);
	study_number(f->s, "regfile.register_quantum", &quantum);
	const double one = (double)up(threads, (uint32_t)fmax(thread_quantum, f->d->warp_size)) *
			   up(f->kernel_registers, (uint32_t)quantum);
	return blocks * one > registers;
}

/* Whether they may be what holds any of the blocks back that were seen. */
static bool tight(const struct filling *f)
{
	bool bind = false;
	for (unsigned i = 0; i < f->count; i++)
		bind |= f->shape[i].full && registers_bind(f, f->shape[i].fit + 1, f->shape[i].threads);
	return bind;
}

/* The numbers that are known to be there, and those that are known not to be. */
struct ends {
	double lo, hi;
	bool proven;	   /* that hi is no matter of something else */
	uint32_t deciding; /* threads of the block that says so */
};

static void bound(struct ends *e, double hi, bool proven, uint32_t threads)
{
	if (hi > e->hi || (hi == e->hi && (e->proven || !proven)))
		return;
	*e = (struct ends){e->lo, hi, proven, threads};
}

/* Of blocks of one size. */
static void ends_of(const struct filling *f, struct ends *threads, struct ends *warps, struct ends *blocks)
{
	*threads = *warps = *blocks = (struct ends){0, INFINITY, false, 0};
	for (unsigned i = 0; i < f->count; i++) {
		const struct shape *s = &f->shape[i];
		threads->lo = fmax(threads->lo, (double)s->fit * s->threads);
		warps->lo = fmax(warps->lo, (double)s->fit * s->warps);
		blocks->lo = fmax(blocks->lo, s->fit);
	}
	for (unsigned i = 0; i < f->count; i++) {
		const struct shape *s = &f->shape[i];
		const uint32_t more = s->fit + 1;
		if (!s->full)
			continue;
		const bool room = !registers_bind(f, more, s->threads), by_blocks = more > blocks->lo,
			   by_threads = (double)more * s->threads > threads->lo,
			   by_warps = (double)more * s->warps > warps->lo;
		if (!by_blocks && !by_threads)
			bound(warps, (double)more * s->warps - 1, room, s->threads);
		/* A thread needs a place in a warp, too: whichever of the two ran out. */
		if (!by_blocks && (!by_warps || s->threads % f->d->warp_size == 0))
			bound(threads, (double)more * s->threads - 1, room, s->threads);
		if (by_blocks)
			bound(blocks, s->fit, room, s->threads);
	}
	/* More warps than blocks of the largest size have are never there, and no more threads than those have. */
	const double all = blocks->hi * warps_of(f, f->d->max_threads_per_block);
	if (blocks->proven && all < warps->hi)
		*warps = (struct ends){warps->lo, all, true, blocks->deciding};
	if (warps->hi * f->d->warp_size < threads->hi || (warps->proven && warps->hi * f->d->warp_size == threads->hi))
		*threads = (struct ends){threads->lo, warps->hi * f->d->warp_size, warps->proven, warps->deciding};
}

/* Whether as many threads, warps and blocks were seen there as one more block of some size would need. That block was
 * there without counting itself in, or something else holds it back. What a count leaves out is then not known to be
 * out of reach. */
static bool leaves_room(const struct filling *f, const struct ends *threads, const struct ends *warps,
			const struct ends *blocks)
{
	for (unsigned i = 0; i < f->count; i++) {
		const struct shape *s = &f->shape[i];
		const uint32_t more = s->fit + 1;
		if (s->full && more <= blocks->lo && (double)more * s->threads <= threads->lo &&
		    (double)more * s->warps <= warps->lo && !registers_bind(f, more, s->threads))
			return true;
	}
	return false;
}

/* The threads of a block of which some number needs a number of warps that may or may not be there. That number is near
 * the middle of those. 0: there is none. */
static uint32_t next_warps(const struct filling *f, const struct ends *warps, const struct ends *blocks)
{
	const uint32_t most = warps_of(f, f->d->max_threads_per_block);
	const double hi = warps->proven ? warps->hi : 2 * warps->lo, middle = (warps->lo + hi + 1) / 2;
	double best = INFINITY;
	uint32_t threads = 0;
	for (uint32_t w = most; w > 1; w--) {
		const double k = fmin(floor(hi / w), fmin(blocks->lo, BARRIERS - 1));
		const uint32_t t = (w - 1) * f->d->warp_size + 1;
		bool asked = false;
		for (unsigned i = 0; i < f->count; i++)
			asked |= f->shape[i].threads == t;
		if (asked || k * w <= warps->lo || fabs(k * w - middle) >= best)
			continue;
		best = fabs(k * w - middle);
		threads = t;
	}
	return threads;
}

/* The same of threads, of blocks whose warps are surely there. */
static uint32_t next_threads(const struct filling *f, const struct ends *threads, const struct ends *warps,
			     const struct ends *blocks)
{
	const double middle = ceil((threads->lo + threads->hi) / 2);
	double best = INFINITY;
	uint32_t chosen = 0;
	for (uint32_t n = 1; n <= blocks->lo; n++) {
		const uint32_t t = (uint32_t)ceil(middle / n);
		const double all = (double)t * n;
		if (t > f->d->max_threads_per_block || (double)n * warps_of(f, t) > warps->lo || all > threads->hi ||
		    all - middle >= best)
			continue;
		best = all - middle;
		chosen = t;
	}
	return chosen;
}

/* Asks blocks that wait longer about a size on which an answer hangs. */
static void confirm(struct filling *f, uint32_t threads)
{
	for (unsigned i = 0; i < f->count; i++) {
		const struct shape *s = &f->shape[i];
		const uint32_t fit = s->threads == threads ? count(f, threads, s->fit + 1, PATIENT * LOOKS) : 0;
		if (fit && fit != s->fit)
			f->why = "blocks that wait longer find more of them";
	}
}

static void conclude(struct filling *f, const char *key, const struct ends *e, const char *what)
{
	static const char method[] = "blocks that are on an SM at a time";
	if (f->why || e->lo <= 0)
		study_verdict(f->s, key, VERDICT_INCONCLUSIVE, "fill", "%s", f->why ? f->why : "not measured");
	else if (isinf(e->hi) || e->hi > 1.1 * e->lo)
		study_bound(f->s, key, e->lo, INFINITY, method, "fill",
			    "%.0f %s are there at a time; whether more would be was not seen", e->lo, what);
	else if (!e->proven)
		study_likely_number(f->s, key, e->lo, e->lo, e->hi, "sm", method, "fill",
				    "%.0f %s are there at a time, %.0f are not, for which registers may not do either",
				    e->lo, what, e->hi + 1);
	else
		study_measured_number(f->s, key, e->lo, e->lo, e->hi, "sm", method, "fill",
				      "%.0f %s are there at a time, %.0f are not, in blocks of %u sizes", e->lo, what,
				      e->hi + 1, f->count);
}

void residency_fill(struct study *s)
{
	struct filling f = {.s = s, .d = study_device(s)};
	struct ends threads, warps, blocks;
	const uint32_t largest = f.d->max_threads_per_block / f.d->warp_size * f.d->warp_size;
	bool first = see(&f, largest, FIRST);
	first = see(&f, 1, MANY) && first;
	if (first && !f.shape[0].full) {
		f.count = 0;
		if (!see(&f, largest, MANY) || !see(&f, 1, 2 * MANY))
			f.count = 0;
	} else if (first && !f.shape[1].full) {
		f.count = 1;
		see(&f, 1, 2 * MANY);
	}
	while (!study_pending(s) && !f.why && f.count >= 2 && f.count < SHAPES) {
		ends_of(&f, &threads, &warps, &blocks);
		uint32_t t = next_warps(&f, &warps, &blocks);
		if (!t && threads.hi > threads.lo)
			t = next_threads(&f, &threads, &warps, &blocks);
		if (!t)
			break;
		const double more = fmin(blocks.lo, floor(2 * warps.lo / warps_of(&f, t))) + 1;
		if (!see(&f, t, (uint32_t)more))
			break;
	}
	if (study_pending(s))
		return;
	ends_of(&f, &threads, &warps, &blocks);
	if (!f.why && leaves_room(&f, &threads, &warps, &blocks))
		f.why = "fewer blocks of one size are there than those of other sizes show room for";
	if (!f.why && f.count >= 2 && threads.proven && warps.proven && blocks.proven)
		for (unsigned i = 0; i < 3 && !f.why; i++)
			confirm(&f, i == 0 ? threads.deciding : i == 1 ? warps.deciding : blocks.deciding);
	/* What blocks cannot come to is not there. */
	if (warps.lo > 0 && blocks.lo < BARRIERS && !tight(&f) && !next_warps(&f, &warps, &blocks))
		warps = (struct ends){warps.lo, warps.lo, true, warps.deciding};
	if (warps.proven && warps.lo == warps.hi)
		bound(&threads, warps.lo * f.d->warp_size, true, warps.deciding);
	conclude(&f, "device.max_threads_per_sm", &threads, "threads");
	conclude(&f, "device.max_warps_per_sm", &warps, "warps");
	conclude(&f, "device.max_blocks_per_sm", &blocks, "blocks");
}
