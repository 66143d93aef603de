/* What goes on between the host and the device: copies, launches one behind the other, and loads of the host's memory. */
#include "host.h"
#include "base/arena.h"
#include "base/rng.h"
#include "stat/stat.h"
#include <errno.h>
#include <math.h>
#include <stdio.h>

enum {
	REPEATS = 7,
	LARGE = 3, /* repeats of large copies */
	LARGE_FROM = 1 << 22,
	SPIN_LINKS = 16,
	MAPPED_LINKS = 16, /* of one turn */
	MAPPED_TURNS = 64, /* that a ring has links for */
	MAPPED_STEP = 256, /* bytes from one link's place to the next: no line has two */
};

/* x: bytes; p[0]: enum way; p[1]: pinned memory; p[2]: turns of a kernel beside it. */
static int setup_copy(const struct study *s, double x, const double *p, struct job *j)
{
	const bool beside = p[COPY_TURNS] > 0;
	(void)s;
	if (beside)
		host_spin(j, p[COPY_TURNS]);
	else
		host_idle(j);
	j->launch.copy = (struct launch_copy){.in = p[COPY_WAY] == WAY_OUT ? 0 : (uint64_t)x,
					      .out = p[COPY_WAY] == WAY_IN ? 0 : (uint64_t)x,
					      .pinned = p[COPY_PINNED] > 0,
					      .beside = beside};
	j->launch.timed = SPAN_COPIES;
	j->launch.warmups = 1;
	j->launch.repeats = x < LARGE_FROM ? REPEATS : LARGE;
	return 0;
}

/* x: launches; p[0]: which of several alike. */
static int setup_launches(const struct study *s, double x, const double *p, struct job *j)
{
	(void)s;
	(void)p;
	host_idle(j);
	j->launch.timed = SPAN_LAUNCHES;
	j->launch.warmups = 2;
	j->launch.repeats = (uint32_t)x;
	return 0;
}

/* x: turns. */
static int setup_spin(const struct study *s, double x, const double *p, struct job *j)
{
	(void)s;
	(void)p;
	host_spin(j, x);
	j->launch.timed = SPAN_KERNELS;
	j->launch.warmups = 1;
	j->launch.repeats = LARGE;
	return 0;
}

/* What a kernel writes to, so that its loads are not left out. */
static void add_sink(struct job *j)
{
	j->launch.buffers[0] = (struct launch_buffer){.bytes = 256, .as_is = true};
	j->launch.buffer_count = 1;
	job_arg_buffer(j, 0, 0);
}

/* x: turns, each of which reads links that nobody has read in this launch. */
static int setup_mapped(const struct study *s, double x, const double *p, struct job *j)
{
	enum { PLACES = MAPPED_LINKS * MAPPED_TURNS };
	uint32_t *next = ARENA_ARRAY(j->arena, PLACES, uint32_t);
	uint64_t *order = ARENA_ARRAY(j->arena, PLACES, uint64_t);
	(void)p;
	if (!next || !order)
		return -ENOMEM;
	if (study_device(s)->dialect[0] != 'p')
		return -ENOTSUP;
	rng_cycle(next, PLACES, 1, study_seed(s));
	for (uint32_t k = 0, at = 0; k < PLACES; k++, at = next[at])
		order[k] = (uint64_t)at * MAPPED_STEP;
	j->template_path = "probes/host/mapped.ptx";
	job_param(j, "LINKS", MAPPED_LINKS);
	snprintf(j->launch.entry, sizeof j->launch.entry, "mapped");
	add_sink(j);
	const uint32_t ring = job_ring(j, BUFFER_HOST, NULL, (uint64_t)PLACES * MAPPED_STEP, order, PLACES, 8);
	job_arg_buffer(j, ring, 0);
	job_arg_u32(j, (uint32_t)x);
	j->launch.timed = SPAN_KERNELS;
	j->launch.warmups = 1;
	j->launch.repeats = REPEATS;
	return 0;
}

void host_idle(struct job *j)
{
	j->template_path = "probes/host/idle.ptx";
	snprintf(j->launch.entry, sizeof j->launch.entry, "idle");
}

void host_spin(struct job *j, double turns)
{
	j->template_path = "probes/host/spin.ptx";
	job_param(j, "LINKS", SPIN_LINKS);
	snprintf(j->launch.entry, sizeof j->launch.entry, "spin");
	add_sink(j);
	job_arg_u32(j, (uint32_t)turns);
}

static const struct experiment experiments[] = {
    [HOST_COPY] = {.name = "copy",
		   .axis = "bytes",
		   .unit = "bytes",
		   .params = {"way", "pinned", "turns beside"},
		   .setup = setup_copy},
    [HOST_LAUNCHES] =
	{.name = "launches", .axis = "launches", .unit = "count", .params = {"trial"}, .setup = setup_launches},
    [HOST_SPIN] = {.name = "spin", .axis = "turns", .unit = "count", .setup = setup_spin},
    [HOST_MAPPED] = {.name = "mapped", .axis = "turns", .unit = "count", .setup = setup_mapped},
};

double host_ns(const struct point *pt, uint32_t repeat, unsigned from_end)
{
	const uint32_t *w = pt->y + (size_t)(repeat + 1) * pt->words_per_repeat - from_end;
	return (double)(w[0] | (uint64_t)w[1] << 32);
}

struct times host_times(const struct point *pt, unsigned from_end)
{
	struct times t = {.bad = pt && pt->outcome == OUTCOME_OK ? NULL : pt, .lo = INFINITY, .hi = -INFINITY};
	double v[REPEATS], scratch[REPEATS];
	uint32_t n = 0;
	if (!pt || pt->outcome != OUTCOME_OK || pt->words_per_repeat < from_end)
		return t;
	for (; n < pt->repeats && n < REPEATS; n++) {
		v[n] = host_ns(pt, n, from_end);
		t.lo = fmin(t.lo, v[n]);
		t.hi = fmax(t.hi, v[n]);
	}
	t.ns = n ? stat_median(v, n, scratch) : 0;
	t.ok = n && t.lo > 0;
	return t;
}

/* ---- launches ---- */

/* Launches that wait for each other: what one more of them takes. */
static void study_launches(struct study *s)
{
	enum { FEW = 16, MANY = 272, TRIALS = 5 };
	double v[TRIALS], scratch[TRIALS], lo = INFINITY, hi = 0;
	const struct point *bad = NULL;
	unsigned n = 0;
	for (unsigned k = 0; k < TRIALS; k++) {
		const double p[POINT_PARAMS] = {k};
		const struct point *few = study_ask(s, HOST_LAUNCHES, FEW, p),
				   *many = study_ask(s, HOST_LAUNCHES, MANY, p);
		const bool both = few && many && few->outcome == OUTCOME_OK && many->outcome == OUTCOME_OK;
		if (!both || few->elapsed_ms < 0 || many->elapsed_ms <= few->elapsed_ms) {
			bad = few && few->outcome != OUTCOME_OK ? few : many;
			continue;
		}
		v[n] = 1e-3 * (many->elapsed_ms - few->elapsed_ms) / (MANY - FEW);
		lo = fmin(lo, v[n]);
		hi = fmax(hi, v[n]);
		n++;
	}
	if (study_pending(s))
		return;
	static const char key[] = "host.launch_interval",
			  method[] = "time of launches of an empty kernel one behind the other, two numbers subtracted";
	const double interval = n ? stat_median(v, n, scratch) : 0;
	const double differ = 100 * (hi / lo - 1);
	stat_widen(interval, HOST_BETWEEN_RUNS, &lo, &hi);
	if (n == TRIALS)
		study_likely_number(s, key, interval, lo, hi, "card", method, "launches",
				    "the host has a part in it: rows of %d and %d launches differ by %.0f %%", FEW,
				    MANY, differ);
	else
		study_verdict(s, key, VERDICT_UNSUPPORTED, "launches", "%s",
			      bad && bad->outcome != OUTCOME_OK ? point_why(bad) : "launches have no time");
}

/* ---- loads of the host's memory ---- */

static void study_mapped(struct study *s)
{
	static const char key[] = "host.mapped.latency";
	const struct times few = host_times(study_ask(s, HOST_MAPPED, MAPPED_TURNS / 8, NULL), 2),
			   many = host_times(study_ask(s, HOST_MAPPED, MAPPED_TURNS, NULL), 2);
	const double links = MAPPED_LINKS * (MAPPED_TURNS - MAPPED_TURNS / 8), ns = (many.ns - few.ns) / links;
	double lo = (many.lo - few.hi) / links, hi = (many.hi - few.lo) / links;
	if (study_pending(s))
		return;
	if (!few.ok || !many.ok || lo <= 0) {
		const struct point *bad = few.bad ? few.bad : many.bad;
		study_verdict(s, key, VERDICT_UNSUPPORTED, "mapped", "%s",
			      bad ? point_why(bad) : "the timer does not tell launches apart");
		return;
	}
	static const char method[] = "time of chains of loads of the host's memory, two lengths subtracted";
	if (hi <= 1.2 * lo) {
		stat_widen(ns, MAPPED_BETWEEN_RUNS, &lo, &hi);
		study_measured_number(s, key, 1e-9 * ns, 1e-9 * lo, 1e-9 * hi, "card", method, "mapped",
				      "each load asks for a line that the launch has not read, of %d in random order",
				      MAPPED_LINKS * MAPPED_TURNS);
	} else
		study_likely_number(s, key, 1e-9 * ns, 1e-9 * lo, 1e-9 * hi, "card", method, "mapped",
				    "launches alike differ by %.0f %%", 100 * (hi / lo - 1));
}

static void study_host(struct study *s)
{
	host_copies(s);
	study_launches(s);
	study_mapped(s);
}

static const char *const claims[] = {"host.h2d.*",	     "host.d2h.*",	    "host.both.*", "host.overlap",
				     "host.launch_interval", "host.mapped.latency", NULL};

const struct probe probe_host = {
    .name = "host",
    .asks = "How fast are copies between the host and the device, loads of the host's memory, and launches one behind "
	    "the other?",
    .source = "Nickolls and Kirk, B.2 and B.9; here copies of two sizes are subtracted, as their beginnings are alike",
    .how =
	"Copies of 4 bytes to 256 MB are timed, each way and both ways at once. They are of pinned memory, and of "
	"memory "
	"as programs have it. What each of the largest sizes takes more than the next gives the bandwidth, and four "
	"bytes the latency. A kernel that "
	"takes "
	"as long as a copy "
	"runs beside it: both together take as long as one of them, or as both. Chains of loads of the host's memory "
	"and rows of empty launches are timed in two lengths.",
    .fooled = "Memory that was never touched: it is written before. A copy that the driver makes from its own "
	      "buffer: copies of memory that is not pinned have keys of their own. A timer too coarse for four bytes: "
	      "that is timed by "
	      "the host's clock. Copies that take no time say nothing.",
    .figure = "host-copies",
    .claims = claims,
    .experiments = experiments,
    .experiment_count = sizeof experiments / sizeof *experiments,
    .study = study_host,
    .draw = host_draw,
};
