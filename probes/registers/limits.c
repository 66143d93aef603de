/* Limits of a launch: what is let through, and what is refused. */
#include "limits.h"
#include <math.h>
#include <stdio.h>

enum { SECTIONS = 8, BLOCKS_EACH = 33, HEADER_WORDS = 2, MORE = 6, HALVES = 2 };

static const struct {
	const char *key, *name, *what;
	double first, step; /* the smallest that is tried, and what a launch differs by */
	unsigned doublings;
} limit[LIMITS] = {
    [LIMIT_THREADS] = {"device.max_threads_per_block", "threads", "threads", 1, 1, 14},
    [LIMIT_SHARED] = {"shared.per_block", "shared", "bytes of shared memory", 256, 16, 14},
    [LIMIT_CONSTANT] = {"memory.constant.size", "constants", "bytes of constants", 1024, 4, 10},
};

int limits_setup(const struct study *s, enum limit which, double x, struct job *j)
{
	(void)s;
	j->template_path = "probes/registers/limits.ptx";
	job_param(j, "CONSTANTS", which == LIMIT_CONSTANT ? (long long)x : 0);
	snprintf(j->launch.entry, sizeof j->launch.entry, "limits");
	j->launch.block[0] = which == LIMIT_THREADS ? (uint32_t)x : 1;
	j->launch.block[1] = j->launch.block[2] = 1;
	if (which == LIMIT_SHARED)
		j->launch.shared_bytes = (uint32_t)x;
	job_output(j, HEADER_WORDS);
	job_arg_u32(j, 0);
	return 0;
}

struct range {
	double ok, bad; /* the largest that ran, the smallest that was refused; INFINITY: none was */
	bool strange;	/* something else happened, or what is refused is no matter of size */
};

static void see(struct study *s, unsigned experiment, double x, struct range *r)
{
	const struct point *pt = study_ask(s, experiment, x, NULL);
	if (!pt)
		return;
	const bool ran = pt->outcome == OUTCOME_OK && pt->y[0] == 1;
	if (!ran && pt->outcome != OUTCOME_REFUSED)
		r->strange = true;
	else if (ran)
		r->ok = fmax(r->ok, x);
	else
		r->bad = fmin(r->bad, x);
	r->strange |= r->bad <= r->ok;
}

/* Doubles, then looks right above what ran, then divides what is left. False: points are missing. */
static bool find(struct study *s, unsigned experiment, enum limit which, struct range *r)
{
	const double step = limit[which].step;
	*r = (struct range){0, INFINITY, false};
	for (unsigned i = 0; i < limit[which].doublings; i++)
		see(s, experiment, limit[which].first * (1u << i), r);
	if (study_pending(s) || r->strange || isinf(r->bad) || r->ok == 0)
		return !study_pending(s);
	see(s, experiment, r->ok + step, r);
	while (!study_pending(s) && !r->strange && r->bad - r->ok > step) {
		const double from = r->ok, part = fmax(step, floor((r->bad - r->ok) / SECTIONS / step) * step);
		const double to = r->bad;
		for (unsigned i = 1; i < SECTIONS && from + i * part < to; i++)
			see(s, experiment, from + i * part, r);
		/* A stored run that lacks these points gets no others. */
		if (r->ok == from && r->bad == to)
			break;
	}
	return !study_pending(s);
}

static void conclude(struct study *s, enum limit which, const struct range *r)
{
	const char *key = limit[which].key, *evidence = limit[which].name;
	if (r->strange || r->ok == 0)
		study_verdict(s, key, VERDICT_INCONCLUSIVE, evidence,
			      r->strange      ? "what is let through does not depend on the size alone"
			      : isinf(r->bad) ? "it was not measured"
					      : "not even the smallest that was tried is let through");
	else if (isinf(r->bad))
		study_bound(s, key, r->ok, INFINITY, "launches that are let through", evidence,
			    "%.0f %s are let through, the most that were tried", r->ok, limit[which].what);
	else
		study_measured_number(s, key, r->ok, r->ok, r->bad - 1, "card", "launches that are refused", evidence,
				      "%.0f %s are let through, %.0f are not", r->ok, limit[which].what, r->bad);
}

uint32_t limits_together(const struct study *s, const struct point *pt)
{
	if (!pt || pt->outcome != OUTCOME_OK)
		return 0;
	const uint32_t *w = pt->y + HEADER_WORDS, most = w[1];
	for (unsigned i = 0; i < study_device(s)->sm_count; i++)
		if (w[2 * i] || w[2 * i + 1] != most)
			return 0;
	return most;
}

/* Blocks of so many bytes that an SM has at a time; 0: not known (yet). */
static uint32_t resident(struct study *s, unsigned together, unsigned values, double bytes, unsigned each)
{
	const double p[POINT_PARAMS] = {study_device(s)->warp_size, each, bytes};
	return limits_together(s, study_ask(s, together, values, p));
}

struct share {
	uint32_t blocks;
	double ok, bad; /* bytes of each: the most of which an SM has so many blocks, the least of which it has fewer */
};

/* False: points are missing. ok 0: an SM never has so many. */
static bool find_share(struct study *s, unsigned together, unsigned values, struct share *r)
{
	const double step = limit[LIMIT_SHARED].step;
	while (r->bad - r->ok > step) {
		const double part = fmax(step, floor((r->bad - r->ok) / HALVES / step) * step);
		const struct share was = *r;
		for (unsigned i = 1; i < HALVES && was.ok + i * part < was.bad; i++) {
			const double bytes = was.ok + i * part;
			const uint32_t n = resident(s, together, values, bytes, r->blocks);
			if (n == r->blocks)
				r->ok = fmax(r->ok, bytes);
			else if (n)
				r->bad = fmin(r->bad, bytes);
		}
		if (study_pending(s))
			return false;
		if (r->ok == was.ok && r->bad == was.bad)
			break;
	}
	if (r->bad - r->ok > step)
		r->ok = 0;
	return true;
}

static double common(double a, double b)
{
	return b == 0 ? a : common(b, fmod(a, b));
}

/* As many of the largest blocks as an SM has, and how large blocks may be of which it has one more, two more, ... What each
 * block is rounded up to divides all of these sizes. */
static void shared_size(struct study *s, unsigned together, unsigned split, unsigned values, const struct range *block)
{
	static const char key[] = "shared.size", evidence[] = "together";
	const double step = limit[LIMIT_SHARED].step;
	struct share more[MORE];
	if (block->strange || block->ok == 0 || isinf(block->bad)) {
		study_verdict(s, key, VERDICT_INCONCLUSIVE, evidence, "how much one block may have is not known");
		return;
	}
	const uint32_t most = resident(s, together, values, block->ok, BLOCKS_EACH);
	if (study_pending(s))
		return;
	if (most == 0 || most == BLOCKS_EACH) {
		study_verdict(
		    s, key, VERDICT_INCONCLUSIVE, evidence,
		    most ? "an SM has at least %u blocks of %.0f bytes at a time"
			 : "how many blocks an SM has at a time is not known, or SMs differ (%u, of %.0f bytes)",
		    most, block->ok);
		return;
	}
	bool done = true;
	for (unsigned i = 0; i < MORE; i++) {
		more[i] = (struct share){most + 1 + i, 0, block->ok + step};
		done &= find_share(s, together, values, &more[i]);
	}
	if (!done)
		return;
	double lo = most * block->ok, hi = INFINITY, piece = 0;
	uint32_t best = most;
	for (unsigned i = 0; i < MORE; i++)
		piece = common(piece, more[i].ok);
	for (unsigned i = 0; i < MORE; i++) {
		if (more[i].ok == 0)
			continue;
		if (more[i].blocks * more[i].ok > lo) {
			lo = more[i].blocks * more[i].ok;
			best = more[i].blocks;
		}
		hi = fmin(hi, more[i].blocks * (more[i].ok + piece) - 1);
	}
	/* Beyond its own memory a block may take some that nobody can use. */
	hi = fmax(hi, lo);
	if (hi > 1.1 * lo)
		study_bound(s, key, lo, INFINITY, "blocks that are on an SM at a time", evidence,
			    "%u blocks of %.0f bytes are there at a time; how large one more may be was not seen", best,
			    lo / best);
	else
		study_measured_number(
		    s, key, lo, lo, hi, "card", "blocks that are on an SM at a time", evidence,
		    "%u blocks of %.0f bytes are there at a time; %.0f bytes are too many in blocks of "
		    "whichever of %d sizes",
		    best, lo / best, hi + 1, MORE);
	splits_study(s, split, values, lo);
}

void limits_study(struct study *s, unsigned experiment, unsigned together, unsigned split, unsigned values)
{
	struct range r[LIMITS];
	bool done = true;
	for (unsigned i = 0; i < LIMITS; i++)
		done &= find(s, experiment + i, (enum limit)i, &r[i]);
	if (r[LIMIT_SHARED].ok > 0 && !study_pending(s))
		shared_size(s, together, split, values, &r[LIMIT_SHARED]);
	if (!done || study_pending(s))
		return;
	for (unsigned i = 0; i < LIMITS; i++)
		conclude(s, (enum limit)i, &r[i]);
	if (r[LIMIT_SHARED].ok == 0)
		study_verdict(s, "shared.size", VERDICT_INCONCLUSIVE, "shared",
			      "not even a small block is let through");
}
