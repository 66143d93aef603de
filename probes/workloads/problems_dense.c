/* Workloads of floating point: bodies that pull each other, dense matrices, Fourier transforms. */
#include "base/rng.h"
#include "workloads.h"
#include <errno.h>
#include <math.h>
#include <string.h>

enum { BODY_WORDS = 4, FORCE_WORDS = 3, BODIES_CHECKED = 64, BODIES_SMALL = 1024, OPERATIONS = 20, UNROLL = 4 };
enum { ROWS = 64, COLUMNS = 16, INNER = 128, ROW_BLOCKS = 8 };
enum { POINTS = 256, POINT_STEPS = 8, TRANSFORMS = 16 };
#define SOFTENING 0.01f /* as the kernel has it */
#define TURN	  6.28318530717958647692

/* Bodies of a block, threads of each, how many there are and how many pull. */
struct bodies {
	uint32_t threads, shares, blocks, pull;
	bool cached;
};

/* What the first ones are pulled by, each component. */
static void forces(const float *body, uint32_t pull, uint32_t n, double *out)
{
	for (uint32_t i = 0; i < n; i++) {
		double *sum = out + (size_t)FORCE_WORDS * i;
		for (uint32_t j = 0; j < pull; j++) {
			const float *p = body + (size_t)BODY_WORDS * j, *q = body + (size_t)BODY_WORDS * i;
			const double d[] = {p[0] - q[0], p[1] - q[1], p[2] - q[2]};
			const double r = d[0] * d[0] + d[1] * d[1] + d[2] * d[2] + (double)SOFTENING;
			for (unsigned k = 0; k < FORCE_WORDS; k++)
				sum[k] += d[k] * p[3] / (r * sqrt(r));
		}
	}
}

static int pulled(struct workload_problem *w, struct arena *a, const struct device_info *d, const struct bodies *b)
{
	const uint32_t n = b->threads * b->blocks, all = n > b->pull ? n : b->pull;
	struct rng r;
	if (b->threads * b->shares > d->max_threads_per_block || 16 * b->threads * b->shares > d->shared_per_block)
		return -ENOTSUP;
	w->words = FORCE_WORDS * BODIES_CHECKED;
	float *body = ARENA_ARRAY(a, (uint64_t)BODY_WORDS * all, float);
	double *sum = ARENA_ARRAY(a, w->words, double);
	if (!body || !sum)
		return -ENOMEM;
	rng_seed(&r, 7);
	for (uint64_t i = 0; i < (uint64_t)BODY_WORDS * all; i++)
		body[i] = (float)(i % BODY_WORDS == 3 ? 0.5 + rng_unit(&r) : 2 * rng_unit(&r) - 1);
	forces(body, b->pull, BODIES_CHECKED, sum);
	w->grid[0] = b->blocks;
	w->grid[1] = 1;
	w->block[0] = b->threads;
	w->block[1] = b->shares;
	workload_param(w, "THREADS", b->threads);
	workload_param(w, "SHARES", b->shares);
	workload_param(w, "CACHED", b->cached);
	workload_param(w, "UNROLL", UNROLL);
	workload_input(w, body, 4ull * BODY_WORDS * all);
	workload_u32(w, b->pull);
	w->out_words = (uint64_t)FORCE_WORDS * n;
	w->real = sum;
	w->work = (double)OPERATIONS * n * b->pull;
	return 0;
}

int workload_nbody_plain(struct workload_problem *w, struct arena *a, const struct device_info *d)
{
	return pulled(w, a, d, &(struct bodies){.threads = 128, .shares = 1, .blocks = 2 * d->sm_count, .pull = 128});
}

/* So many bodies that all SMs are full; those that pull are fewer, as all pull alike. */
int workload_nbody(struct workload_problem *w, struct arena *a, const struct device_info *d)
{
	return pulled(
	    w, a, d,
	    &(struct bodies){.threads = 128, .shares = 1, .blocks = 4 * d->sm_count, .pull = 256, .cached = true});
}

int workload_nbody_small(struct workload_problem *w, struct arena *a, const struct device_info *d)
{
	return pulled(
	    w, a, d,
	    &(struct bodies){
		.threads = 128, .shares = 1, .blocks = BODIES_SMALL / 128, .pull = BODIES_SMALL, .cached = true});
}

int workload_nbody_split(struct workload_problem *w, struct arena *a, const struct device_info *d)
{
	return pulled(
	    w, a, d,
	    &(struct bodies){
		.threads = 64, .shares = 4, .blocks = BODIES_SMALL / 64, .pull = BODIES_SMALL, .cached = true});
}

int workload_sgemm(struct workload_problem *w, struct arena *a, const struct device_info *d)
{
	const uint32_t m = ROWS * ROW_BLOCKS, n = COLUMNS * d->sm_count;
	const float *x = workload_numbers(a, (uint64_t)m * INNER, 8), *y = workload_numbers(a, (uint64_t)INNER * n, 9);
	w->words = m;
	double *sum = ARENA_ARRAY(a, w->words, double);
	if (!x || !y || !sum)
		return -ENOMEM;
	for (uint32_t i = 0; i < m; i++) /* the first column */
		for (uint32_t k = 0; k < INNER; k++)
			sum[i] += (double)x[(size_t)k * m + i] * y[k];
	w->grid[0] = ROW_BLOCKS;
	w->grid[1] = d->sm_count;
	w->block[0] = COLUMNS;
	w->block[1] = ROWS / COLUMNS;
	workload_input(w, x, 4ull * m * INNER);
	workload_input(w, y, 4ull * INNER * n);
	workload_u32(w, m);
	workload_u32(w, INNER);
	w->out_words = (uint64_t)m * n;
	w->real = sum;
	w->work = 2.0 * m * n * INNER;
	return 0;
}

int workload_fft(struct workload_problem *w, struct arena *a, const struct device_info *d)
{
	const uint32_t blocks = TRANSFORMS * d->sm_count;
	const uint64_t n = 2ull * POINTS * blocks;
	const float *in = workload_numbers(a, n, 10);
	float *roots = ARENA_ARRAY(a, POINTS, float);
	w->words = 2 * POINTS; /* the first transform */
	double *sum = ARENA_ARRAY(a, w->words, double);
	if (!in || !roots || !sum)
		return -ENOMEM;
	for (uint32_t k = 0; k < POINTS / 2; k++) {
		roots[2 * k] = (float)cos(TURN * k / POINTS);
		roots[2 * k + 1] = (float)-sin(TURN * k / POINTS);
	}
	for (uint32_t k = 0; k < POINTS; k++)
		for (uint32_t i = 0; i < POINTS; i++) {
			const double angle = -TURN * (double)(i * k % POINTS) / POINTS;
			sum[2 * k] += in[2 * i] * cos(angle) - in[2 * i + 1] * sin(angle);
			sum[2 * k + 1] += in[2 * i] * sin(angle) + in[2 * i + 1] * cos(angle);
		}
	w->grid[0] = blocks;
	w->grid[1] = w->block[1] = 1;
	w->block[0] = POINTS / 2;
	workload_param(w, "POINTS", POINTS);
	workload_param(w, "STEPS", POINT_STEPS);
	workload_input(w, in, 4 * n);
	workload_input(w, roots, 4ull * POINTS);
	w->out_words = n;
	w->real = sum;
	w->work = 5.0 * POINTS * POINT_STEPS * blocks;
	return 0;
}
