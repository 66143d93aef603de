/* Workloads of floating point: bodies that pull each other, dense matrices, Fourier transforms. */
#include "base/rng.h"
#include "base/units.h"
#include "workloads.h"
#include <errno.h>
#include <math.h>
#include <string.h>

enum { BODY_WORDS = 4, FORCE_WORDS = 3, BODIES_CHECKED = 64, PULL_MOST = 512, OPERATIONS = 20, UNROLL = 4 };
enum { ROWS = 64, COLUMNS = 16, INNER = 128, ROW_BLOCKS = 8 };
enum { TRANSFORMS = 16 };
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

/* Of a size that is asked for not all pull, as all pull alike. */
static int few(struct workload_problem *w, struct arena *a, const struct device_info *d, struct bodies b)
{
	const uint32_t n = w->size ? w->size : BODIES_SMALL;
	b.blocks = n / b.threads;
	b.pull = w->size > PULL_MOST ? PULL_MOST : n;
	return pulled(w, a, d, &b);
}

int workload_nbody_small(struct workload_problem *w, struct arena *a, const struct device_info *d)
{
	return few(w, a, d, (struct bodies){.threads = 128, .shares = 1, .cached = true});
}

int workload_nbody_split(struct workload_problem *w, struct arena *a, const struct device_info *d)
{
	return few(w, a, d, (struct bodies){.threads = 64, .shares = 4, .cached = true});
}

int workload_sgemm(struct workload_problem *w, struct arena *a, const struct device_info *d)
{
	const uint32_t m = w->size ? w->size : ROWS * ROW_BLOCKS, n = w->size ? w->size : COLUMNS * d->sm_count,
		       inner = w->size ? w->size : INNER;
	const float *x = workload_numbers(a, (uint64_t)m * inner, 8), *y = workload_numbers(a, (uint64_t)inner * n, 9);
	w->words = m;
	double *sum = ARENA_ARRAY(a, w->words, double);
	if (!x || !y || !sum)
		return -ENOMEM;
	for (uint32_t i = 0; i < m; i++) /* the first column */
		for (uint32_t k = 0; k < inner; k++)
			sum[i] += (double)x[(size_t)k * m + i] * y[k];
	w->grid[0] = m / ROWS;
	w->grid[1] = n / COLUMNS;
	w->block[0] = COLUMNS;
	w->block[1] = ROWS / COLUMNS;
	workload_input(w, x, 4ull * m * inner);
	workload_input(w, y, 4ull * inner * n);
	workload_u32(w, m);
	workload_u32(w, inner);
	w->out_words = (uint64_t)m * n;
	w->real = sum;
	w->work = 2.0 * m * n * inner;
	return 0;
}

int workload_fft(struct workload_problem *w, struct arena *a, const struct device_info *d)
{
	/* As many points in all for each length. */
	const uint32_t points = w->size ? w->size : FFT_POINTS, steps = log2_floor(points),
		       blocks = TRANSFORMS * d->sm_count * FFT_POINTS / points;
	const uint64_t n = 2ull * points * blocks;
	const float *in = workload_numbers(a, n, 10);
	float *roots = ARENA_ARRAY(a, points, float);
	w->words = 2 * points; /* the first transform */
	double *sum = ARENA_ARRAY(a, w->words, double);
	if (!in || !roots || !sum)
		return -ENOMEM;
	for (uint32_t k = 0; k < points / 2; k++) {
		roots[2 * k] = (float)cos(TURN * k / points);
		roots[2 * k + 1] = (float)-sin(TURN * k / points);
	}
	for (uint32_t k = 0; k < points; k++)
		for (uint32_t i = 0; i < points; i++) {
			const double angle = -TURN * (double)(i * k % points) / points;
			sum[2 * k] += in[2 * i] * cos(angle) - in[2 * i + 1] * sin(angle);
			sum[2 * k + 1] += in[2 * i] * sin(angle) + in[2 * i + 1] * cos(angle);
		}
	w->grid[0] = blocks;
	w->grid[1] = w->block[1] = 1;
	w->block[0] = points / 2;
	workload_param(w, "POINTS", points);
	workload_param(w, "STEPS", steps);
	workload_input(w, in, 4 * n);
	workload_input(w, roots, 4ull * points);
	w->out_words = n;
	w->real = sum;
	w->work = 5.0 * points * steps * blocks;
	return 0;
}
