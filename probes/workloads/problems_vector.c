/* Workloads of integers and of sums along vectors: saxpy, sparse matrix times vector, scan, reduction, radix sort. */
#include "base/rng.h"
#include "workloads.h"
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
	BLOCK = 256,
	CHECKED = 512,
	SAXPY_BLOCKS = 64,
	SPARSE_BLOCKS = 6,
	SCAN_BLOCKS = 16,
	SORT_BLOCKS = 1,
	SORT_BITS = 32
};

void workload_param(struct workload_problem *w, const char *name, long long value)
{
	w->param[w->param_count].name = name;
	w->param[w->param_count++].value = value;
}

void workload_input(struct workload_problem *w, const void *data, uint64_t bytes)
{
	w->input[w->input_count++] = (struct workload_input){data, bytes};
}

void workload_u32(struct workload_problem *w, uint32_t v)
{
	w->scalar[w->scalar_count++] = (struct launch_arg){.kind = ARG_U32, .bits = v};
}

float *workload_numbers(struct arena *a, uint64_t n, uint64_t seed)
{
	struct rng r;
	float *v = ARENA_ARRAY(a, n, float);
	rng_seed(&r, seed);
	for (uint64_t i = 0; v && i < n; i++)
		v[i] = (float)((int)(rng_next(&r) % 17) - 8) / 8;
	return v;
}

/* One thread an element, and where these are more than a block may have, half as many. */
static void line_up(struct workload_problem *w, const struct device_info *d, uint32_t blocks_per_sm, uint32_t *n)
{
	const uint32_t threads = d->max_threads_per_block < BLOCK ? d->max_threads_per_block : BLOCK;
	w->block[0] = threads;
	w->block[1] = w->grid[1] = 1;
	w->grid[0] = blocks_per_sm * d->sm_count;
	*n = w->grid[0] * threads;
	w->out_words = *n;
	w->words = *n < CHECKED ? *n : CHECKED;
}

int workload_saxpy(struct workload_problem *w, struct arena *a, const struct device_info *d)
{
	static const float scale = 2.5f;
	uint32_t n, bits;
	line_up(w, d, SAXPY_BLOCKS, &n);
	const float *x = workload_numbers(a, n, 1), *y = workload_numbers(a, n, 2);
	double *sum = ARENA_ARRAY(a, w->words, double);
	if (!x || !y || !sum)
		return -ENOMEM;
	for (uint32_t i = 0; i < w->words; i++)
		sum[i] = (double)scale * x[i] + y[i];
	workload_input(w, x, 4ull * n);
	workload_input(w, y, 4ull * n);
	memcpy(&bits, &scale, sizeof bits);
	w->scalar[w->scalar_count++] = (struct launch_arg){.kind = ARG_F32, .bits = bits};
	w->real = sum;
	w->work = 2.0 * n;
	return 0;
}

/* The Laplacian of a triangulated torus: a vertex and its six neighbours, the vertices numbered row by row. */
static uint32_t neighbours(uint32_t row, uint32_t width, uint32_t n, uint32_t *column)
{
	const uint32_t step[] = {n - width - 1, n - width, n - 1, 0, 1, width, width + 1};
	for (unsigned k = 0; k < 7; k++)
		column[k] = (row + step[k]) % n;
	for (unsigned k = 1; k < 7; k++) /* ascending */
		for (unsigned i = k; i && column[i - 1] > column[i]; i--) {
			const uint32_t c = column[i];
			column[i] = column[i - 1];
			column[i - 1] = c;
		}
	return 7;
}

static int sparse(struct workload_problem *w, struct arena *a, const struct device_info *d, bool cached)
{
	uint32_t n, all = 0;
	line_up(w, d, SPARSE_BLOCKS, &n);
	const uint32_t width = (uint32_t)sqrt(n);
	uint32_t *ap = ARENA_ARRAY(a, n + 1ull, uint32_t), *aj = ARENA_ARRAY(a, 7ull * n, uint32_t);
	float *av = ARENA_ARRAY(a, 7ull * n, float);
	const float *x = workload_numbers(a, n, 3);
	double *sum = ARENA_ARRAY(a, w->words, double);
	if (!ap || !aj || !av || !x || !sum)
		return -ENOMEM;
	for (uint32_t row = 0; row < n; row++) {
		ap[row] = all;
		const uint32_t k = neighbours(row, width, n, aj + all);
		for (uint32_t i = all; i < all + k; i++) {
			av[i] = aj[i] == row ? 6 : -1;
			if (row < w->words)
				sum[row] = (i == all ? 0 : sum[row]) + (double)av[i] * x[aj[i]];
		}
		all += k;
	}
	ap[n] = all;
	workload_param(w, "THREADS", w->block[0]);
	workload_param(w, "CACHED", cached);
	workload_input(w, ap, 4 * (n + 1ull));
	workload_input(w, aj, 4ull * all);
	workload_input(w, av, 4ull * all);
	workload_input(w, x, 4ull * n);
	w->real = sum;
	w->work = all;
	return 0;
}

int workload_spmv(struct workload_problem *w, struct arena *a, const struct device_info *d)
{
	return sparse(w, a, d, false);
}

int workload_spmv_cached(struct workload_problem *w, struct arena *a, const struct device_info *d)
{
	return sparse(w, a, d, true);
}

/* Steps that double, until they span a block. False: its threads are no power of two. */
static bool doubling(struct workload_problem *w)
{
	unsigned steps = 0;
	while (1u << (steps + 1) <= w->block[0])
		steps++;
	workload_param(w, "THREADS", w->block[0]);
	workload_param(w, "STEPS", steps);
	return 1u << steps == w->block[0];
}

static uint32_t *integers(struct arena *a, uint32_t n, uint64_t seed)
{
	struct rng r;
	uint32_t *v = ARENA_ARRAY(a, n, uint32_t);
	rng_seed(&r, seed);
	for (uint32_t i = 0; v && i < n; i++)
		v[i] = (uint32_t)rng_next(&r);
	return v;
}

int workload_scan(struct workload_problem *w, struct arena *a, const struct device_info *d)
{
	uint32_t n;
	line_up(w, d, SCAN_BLOCKS, &n);
	if (!doubling(w))
		return -ENOTSUP;
	const uint32_t *in = integers(a, n, 4);
	uint32_t *sum = ARENA_ARRAY(a, w->words, uint32_t);
	if (!in || !sum)
		return -ENOMEM;
	for (uint32_t i = 0; i < w->words; i++)
		sum[i] = in[i] + (i % w->block[0] ? sum[i - 1] : 0);
	workload_input(w, in, 4ull * n);
	w->whole = sum;
	w->work = n;
	return 0;
}

int workload_reduce(struct workload_problem *w, struct arena *a, const struct device_info *d)
{
	uint32_t n;
	line_up(w, d, SCAN_BLOCKS, &n);
	if (!doubling(w))
		return -ENOTSUP;
	const uint32_t *in = integers(a, n, 5);
	uint32_t *sum = ARENA_ARRAY(a, 1, uint32_t);
	if (!in || !sum)
		return -ENOMEM;
	for (uint32_t i = 0; i < n; i++)
		*sum += in[i];
	w->out_words = w->words = 1;
	workload_input(w, in, 4ull * n);
	w->whole = sum;
	w->work = n;
	return 0;
}

static int ascending(const void *x, const void *y)
{
	const uint32_t a = *(const uint32_t *)x, b = *(const uint32_t *)y;
	return (a > b) - (a < b);
}

int workload_sort(struct workload_problem *w, struct arena *a, const struct device_info *d)
{
	uint32_t n;
	line_up(w, d, SORT_BLOCKS, &n);
	if (!doubling(w))
		return -ENOTSUP;
	const uint32_t *in = integers(a, n, 6);
	uint32_t *out = arena_copy(a, in, in ? 4ull * n : 0);
	if (!in || !out)
		return -ENOMEM;
	for (uint32_t i = 0; i < n; i += w->block[0])
		qsort(out + i, w->block[0], sizeof *out, ascending);
	workload_param(w, "BITS", SORT_BITS);
	workload_input(w, in, 4ull * n);
	w->whole = out;
	w->work = n;
	return 0;
}
