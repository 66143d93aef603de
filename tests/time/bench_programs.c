/* The rates of the simulator on whole programs of tests/silicon, in warp instructions a second. With one host thread they
 * are of the processor, with two of the wall. A benchmark: it fails only when a kernel does not run.
 *
 *   bench_programs DEVICE DIR NAME... */
#include "../silicon/silicon_list.h"
#include "base/arena.h"
#include "gpu/sim/sim.h"
#include <errno.h>
#include <stdio.h>
#include <time.h>

enum {
	THREADS = 2,
	TIMES = 3
}; /* both take turns, and the best of each counts: whatever else the machine does falls on both */

static double seconds(clockid_t clock)
{
	struct timespec t;
	clock_gettime(clock, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static int launch(struct gpu *g, uint32_t id, const struct silicon_case *c, clockid_t clock, double *best,
		  struct err *e)
{
	struct sample s = {0};
	const double start = seconds(clock);
	int r = g->ops->run(g, id, &c->launch, &s, e);
	const double took = seconds(clock) - start;
	if (!r && s.outcome != OUTCOME_OK)
		r = err_set(e, -EIO, "%s: %s", c->name, s.message);
	sample_free(&s);
	*best = *best > 0 && *best < took ? *best : took;
	return r;
}

static int rates(struct gpu *g, const char *dir, struct silicon_case *c, struct err *e)
{
	double best[THREADS] = {0};
	uint32_t id = 0;
	char *text = silicon_text(dir, c->kernel, e);
	if (!text)
		return -ENOENT;
	const struct kernel_source src = {.name = c->name, .entry = c->kernel, .text = text};
	int r = g->ops->load(g, &src, 1, &id, NULL, e);
	mem_free(text);
	for (unsigned n = 0; n < TIMES * THREADS && !r; n++) {
		sim_threads(g, n % THREADS + 1);
		r = launch(g, id, c, n % THREADS ? CLOCK_MONOTONIC : CLOCK_PROCESS_CPUTIME_ID, &best[n % THREADS], e);
	}
	if (r)
		return r;
	const double instructions = (double)sim_result(g)->instructions;
	printf("%-24s %6.2f M warp instructions: %6.2f M a second, with two threads %6.2f M\n", c->name,
	       instructions / 1e6, instructions / best[0] / 1e6, instructions / best[1] / 1e6);
	return 0;
}

int main(int argc, char **argv)
{
	if (argc < 4) {
		fprintf(stderr, "usage: bench_programs DEVICE DIR NAME...\n");
		return 2;
	}
	return silicon_each(argv[1], argv[2], argv + 3, argc - 3, 1, NULL, rates);
}
