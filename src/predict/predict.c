#include "predict/predict_impl.h"
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

const char *const predict_bound_names[] = {"issue", "latency", "bandwidth", "launch"};
const char *const predict_level_names[] = {"L1", "L2", "memory", "shared memory", "constants"};

struct job {
	struct predict_result *r;
	struct arena *a;
	const struct predict_request *q;
	const struct device_info *d;
	struct terms terms;
	struct model model;
	struct native native;
	struct walk walk;
	uint32_t resident;
	struct predict_note **last;
	struct err *e;
};

static int note(struct job *j, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

static int note(struct job *j, const char *fmt, ...)
{
	struct predict_note *n = ARENA_NEW(j->a, struct predict_note);
	va_list ap;
	if (!n)
		return err_nomem(j->e);
	va_start(ap, fmt);
	vsnprintf(n->text, sizeof n->text, fmt, ap);
	va_end(ap);
	*j->last = n;
	j->last = &n->next;
	return 0;
}

/* ---- occupancy ---- */

static double up(double v, double step)
{
	return step > 1 ? ceil(v / step) * step : v;
}

static void limit(struct job *j, double blocks, const char *what, double *least)
{
	if (blocks >= *least)
		return;
	*least = floor(blocks);
	snprintf(j->r->occupancy_limit, sizeof j->r->occupancy_limit, "%s", what);
}

static double value_or(const struct term *t, double otherwise)
{
	return t->there ? t->value : otherwise;
}

static int occupancy(struct job *j)
{
	struct predict_result *r = j->r;
	const uint32_t *b = j->q->block;
	double threads = (double)b[0] * b[1] * b[2], least = INFINITY,
	       padded = (double)j->walk.warps_per_block * j->walk.warp_size;
	struct terms *t = &j->terms;
	struct term all = term_get(t, "regfile.registers_per_sm", true, "registers limit nothing"),
		    quantum = term_try(t, "regfile.register_quantum", false),
		    warps = term_try(t, "regfile.thread_quantum", false);
	double shared = (double)j->walk.shared_static + j->q->shared_bytes;
	int rc = 0;
	r->registers = j->native.registers;
	if (threads > j->d->max_threads_per_block && j->d->max_threads_per_block)
		return err_set(j->e, -EINVAL, "a block of %.0f threads is larger than the %u that the device takes",
			       threads, j->d->max_threads_per_block);
	if (j->d->max_threads_per_sm)
		limit(j, floor(j->d->max_threads_per_sm / padded), "threads of an SM", &least);
	if (all.there && r->registers)
		limit(j, floor(all.value / (up(r->registers, value_or(&quantum, 1)) * up(padded, value_or(&warps, 1)))),
		      "registers", &least);
	if (shared > 0) {
		struct term size = term_get(t, "shared.size", true,
					    "an SM is taken to have as much shared memory as one block may have");
		limit(j, floor(value_or(&size, (double)j->d->shared_per_block) / shared), "shared memory", &least);
	}
	struct term most = term_try(t, "device.max_blocks_per_sm", true);
	if (most.there)
		limit(j, most.value, "blocks of an SM", &least);
	if (least < 1)
		return err_set(j->e, -EINVAL, "no block fits on an SM: %s", r->occupancy_limit);
	if (!isfinite(least)) {
		/* Nothing tells how many threads an SM holds: those of a largest block it does. */
		least = 1;
		if (j->d->max_threads_per_block >= padded)
			least = floor(j->d->max_threads_per_block / padded);
		snprintf(r->occupancy_limit, sizeof r->occupancy_limit, "the threads of a largest block");
		rc = note(j, "how many threads an SM holds is not known; %.0f are taken to fit, as in a largest block",
			  least * padded);
		if (rc)
			return rc;
	}
	/* Blocks that there are. */
	double blocks = r->blocks_of_sm;
	if (least > blocks) {
		least = ceil(blocks);
		snprintf(r->occupancy_limit, sizeof r->occupancy_limit, "the grid");
	}
	if (!most.there && least > 8)
		rc = note(j, "how many blocks an SM takes is not measured; %.0f are taken to fit", least);
	j->resident = (uint32_t)least;
	r->warps_per_block = j->walk.warps_per_block;
	r->blocks_per_sm = j->resident;
	r->warps_per_sm = j->resident * j->walk.warps_per_block;
	return rc;
}

/* ---- the three times ---- */

static int run_once(struct job *j, enum predict_end end, bool apart, bool count, struct pipe_result *p)
{
	const uint32_t *g = j->q->grid;
	double grid = (double)g[0] * g[1] * g[2], sms = j->walk.sm_count;
	struct pipe_request q = {.walk = &j->walk,
				 .model = &j->model,
				 .blocks = (uint64_t)ceil(grid / sms),
				 .first = 0,
				 .stride = (uint64_t)fmin(sms, grid),
				 .resident = j->resident,
				 .apart = apart,
				 .end = end,
				 .count = count};
	/* SMs that share the memory all the time: the last blocks have it more or less for themselves. */
	q.share = grid / (double)q.blocks;
	return pipe_run(p, &q, j->e);
}

/* Without its launch. */
static double seconds_of(const struct job *j, const struct pipe_result *p, enum predict_end end)
{
	return p->cycles / term_at(&j->model.clock_hz, end);
}

static double launch_of(const struct job *j, enum predict_end end)
{
	return j->model.launch.there ? term_at(&j->model.launch, end) : 0;
}

static void name_bound(struct job *j, const struct pipe_result *p)
{
	struct predict_result *r = j->r;
	double hz = j->model.clock_hz.value;
	r->issue = p->issue / hz;
	r->latency = p->latency / hz;
	r->bandwidth = p->bandwidth / hz;
	r->bound = BOUND_LATENCY;
	snprintf(r->bound_what, sizeof r->bound_what, "results that %u warps of an SM wait for", r->warps_per_sm);
	double all = r->seconds - r->launch;
	if (p->handed > fmax(p->latency, fmax(p->issue, p->bandwidth)) && p->handed / hz > r->launch) {
		r->bound = BOUND_LAUNCH;
		snprintf(r->bound_what, sizeof r->bound_what, "handing out the blocks");
	} else if (r->launch > all) {
		r->bound = BOUND_LAUNCH;
		snprintf(r->bound_what, sizeof r->bound_what, "the launch itself");
	} else if (r->issue >= r->bandwidth && r->issue > r->latency * 0.99) {
		r->bound = BOUND_ISSUE;
		snprintf(r->bound_what, sizeof r->bound_what, "%s", p->issue_what);
	} else if (r->bandwidth > r->latency * 0.99) {
		r->bound = BOUND_BANDWIDTH;
		snprintf(r->bound_what, sizeof r->bound_what, "%s", p->bandwidth_what);
	}
}

static int times(struct job *j)
{
	struct predict_result *r = j->r;
	struct pipe_result p, other, fast, slow;
	int rc = run_once(j, END_EXPECTED, false, true, &p);
	if (!rc)
		rc = run_once(j, END_EXPECTED, true, false, &other);
	if (!rc)
		rc = run_once(j, END_FAST, true, false, &fast);
	if (!rc)
		rc = run_once(j, END_SLOW, false, false, &slow);
	if (rc)
		return rc;
	/* The truth lies between one pipeline for all and one for each if it is not known who shares a unit, or which
	 * part. */
	double one = seconds_of(j, &p, END_EXPECTED), each = seconds_of(j, &other, END_EXPECTED);
	r->kernel = (one + each) / 2;
	/* A load that is held up may let others go first. */
	r->kernel_lo = fmin(r->kernel, fmin(each, seconds_of(j, &fast, END_FAST))) / PREDICT_FACTOR;
	r->kernel_hi = fmax(r->kernel, fmax(one, seconds_of(j, &slow, END_SLOW))) * PREDICT_FACTOR;
	r->launch = launch_of(j, END_EXPECTED);
	r->seconds = r->kernel + r->launch;
	r->lo = r->kernel_lo + launch_of(j, END_FAST);
	r->hi = r->kernel_hi + launch_of(j, END_SLOW);
	r->clock_hz = j->model.clock_hz.value;
	r->cycles = r->kernel * r->clock_hz;
	r->steps = p.steps;
	double blocks = (double)j->q->grid[0] * j->q->grid[1] * j->q->grid[2], of_sm = ceil(blocks / j->walk.sm_count);
	for (unsigned k = 0; k < PREDICT_LEVELS; k++) {
		r->bytes[k] = p.bytes[k] * blocks / of_sm;
		r->requests[k] = p.requests[k] * blocks / of_sm;
	}
	name_bound(j, &p);
	if (one > 1.05 * each)
		rc = note(
		    j, "which parts of units operations share is not measured: %.3g s if all of them, %.3g s if none",
		    one, each);
	for (const struct predict_term *t = r->terms; t && !rc; t = t->next) {
		if (!t->open)
			continue;
		r->hi = INFINITY;
		if (strcmp(t->key, "host.launch_latency") != 0)
			r->kernel_hi = INFINITY;
		rc = note(j, "no finding has %s: the time has no upper end", t->key);
	}
	if (!rc && j->walk.endless) {
		r->hi = r->kernel_hi = INFINITY;
		rc = note(j, "data decide how long a loop runs: one turn is counted; --turns N says how many");
	}
	return rc;
}

static int say_decided(struct job *j)
{
	int rc = 0;
	for (uint32_t k = 0; k < j->q->entry->inst_count && !rc; k++) {
		const struct ptx_inst *in = &j->native.run.insts[k];
		if (j->walk.decided[k] == 1)
			rc = note(j, "line %u: data decide which way this branch goes", in->line);
		else if (j->walk.decided[k] == 2)
			rc = note(j, "line %u: data decide which addresses this access has", in->line);
		else if (j->walk.decided[k] == DECIDED_APART)
			rc = note(
			    j,
			    "line %u: no finding tells whether an access that does not begin with a piece of memory is "
			    "taken apart, thread by thread; it is at the slow end",
			    in->line);
	}
	return rc;
}

/* Code that does not fit into the nearest instruction cache is fetched again and again, which is not followed. */
static int say_code(struct job *j)
{
	struct term size = {.there = false}, bytes = {.there = false};
	size = term_try(&j->terms, "cache.instruction.l1.size", true);
	(void)bytes;
	double least = 8.0 * j->q->entry->inst_count;
	if (size.there && least > size.value)
		return note(
		    j,
		    "%u instructions do not fit into an instruction cache of %.0f bytes; fetching them is not followed",
		    j->q->entry->inst_count, size.value);
	return 0;
}

/* As many as a thread has when an SM is full of threads. 0: nobody knows. */
static uint32_t compiler_registers(struct job *j)
{
	if (!j->q->compiled || !j->d->max_threads_per_sm)
		return 0;
	struct term all = term_get(&j->terms, "regfile.registers_per_sm", true, "registers limit nothing");
	return all.there ? (uint32_t)(all.value / j->d->max_threads_per_sm) : 0;
}

int predict(struct predict_result *r, struct arena *a, const struct predict_request *q, const struct finding_list *f,
	    const struct device_info *d, struct err *e)
{
	struct job j = {.r = r, .a = a, .q = q, .d = d, .e = e, .last = &r->notes};
	*r = (struct predict_result){.hi = 0};
	j.terms = (struct terms){.a = a, .f = f, .d = d, .list = &r->terms, .compiled = q->compiled};
	int rc = native_open(&j.native, a, q, d->cc, compiler_registers(&j), e);
	if (rc)
		return rc;
	if (model_open(&j.model, &j.terms, &j.native.cost, &r->classes))
		return err_nomem(e);
	const struct model *m = &j.model;
	if (!m->warp_size.there || !m->sm_count.there || !m->clock_hz.there)
		return err_set(e, -ENODATA,
			       "the run file has no %s: measure it with `fathom run -p bandwidth,block_order`",
			       !m->clock_hz.there    ? "device.clock_hz"
			       : !m->warp_size.there ? "device.warp_size"
						     : "device.sm_count");
	if (m->warp_size.value > PREDICT_LANES)
		return err_set(e, -ENOTSUP, "warps of %.0f lanes are not followed", m->warp_size.value);
	rc = walk_open(&j.walk, a, q, &j.native, (uint32_t)m->warp_size.value, (uint32_t)m->sm_count.value, e);
	if (rc)
		return rc;
	r->blocks_of_sm = ceil((double)q->grid[0] * q->grid[1] * q->grid[2] / m->sm_count.value);
	rc = occupancy(&j);
	if (!rc)
		rc = times(&j);
	if (!rc)
		rc = say_decided(&j);
	if (!rc)
		rc = say_code(&j);
	return !rc && j.terms.no_memory ? err_nomem(e) : rc;
}
