/* Vectors, reductions, matrices and grids. Values are small integers where sums are compared exactly, whatever their order. */
#include "programs.h"

enum { N = 1000, M = 32 };
static int n = N, m = M;

static void fill(float *v, int count)
{
	for (int i = 0; i < count; i++)
		v[i] = (float)(int)(number() % 17) - 8;
}

static bool same(const float *a, gpu b, int count)
{
	float *got = malloc((size_t)count * sizeof *got);
	from_gpu(got, b, (size_t)count * sizeof *got);
	bool good = !memcmp(a, got, (size_t)count * sizeof *got);
	free(got);
	return good;
}

static bool same_ints(const int *a, gpu b, int count)
{
	return same((const float *)(const void *)a, b, count); /* compared as bytes */
}

static bool vector_add(void)
{
	float a[N], b[N], c[N];
	fill(a, N);
	fill(b, N);
	gpu da = to_gpu(a, sizeof a), db = to_gpu(b, sizeof b), dc = to_gpu(NULL, sizeof c);
	go("vector_add", 8, 1, 128, 1, &da, &db, &dc, &n, NULL);
	for (int i = 0; i < N; i++)
		c[i] = a[i] + b[i];
	return same(c, dc, N);
}

static bool saxpy(void)
{
	float x[N], y[N], k = 3;
	fill(x, N);
	fill(y, N);
	gpu dx = to_gpu(x, sizeof x), dy = to_gpu(y, sizeof y);
	go("saxpy", 2, 1, 96, 1, &k, &dx, &dy, &n, NULL);
	for (int i = 0; i < N; i++)
		y[i] = k * x[i] + y[i];
	return same(y, dy, N);
}

static bool triad_double(void)
{
	double a[N], b[N], c[N], got[N], k = 0.5;
	for (int i = 0; i < N; i++) {
		a[i] = number() % 100;
		b[i] = number() % 100;
		c[i] = a[i] + k * b[i];
	}
	gpu da = to_gpu(a, sizeof a), db = to_gpu(b, sizeof b), dc = to_gpu(NULL, sizeof c);
	go("triad_double", 8, 1, 128, 1, &da, &db, &dc, &k, &n, NULL);
	from_gpu(got, dc, sizeof got);
	return !memcmp(c, got, sizeof c);
}

static bool reverse(void)
{
	int v[256], r[256], count = 256;
	for (int i = 0; i < 256; i++)
		r[255 - i] = v[i] = (int)number();
	gpu d = to_gpu(v, sizeof v);
	go("reverse", 1, 1, 256, 1, &d, &count, NULL);
	return same_ints(r, d, 256);
}

static bool gather(void)
{
	int from[N], where[N], to[N];
	for (int i = 0; i < N; i++) {
		from[i] = (int)number();
		where[i] = (int)(number() % N);
	}
	for (int i = 0; i < N; i++)
		to[i] = from[where[i]];
	gpu a = to_gpu(from, sizeof from), b = to_gpu(where, sizeof where), c = to_gpu(NULL, sizeof to);
	go("gather", 8, 1, 128, 1, &a, &b, &c, &n, NULL);
	return same_ints(to, c, N);
}

static bool half_bytes(void)
{
	uint8_t from[N];
	uint16_t to[N], got[N];
	for (int i = 0; i < N; i++) {
		from[i] = (uint8_t)number();
		to[i] = (uint16_t)(from[i] * 257 - (int8_t)from[i]);
	}
	gpu a = to_gpu(from, sizeof from), b = to_gpu(NULL, sizeof to);
	go("half_bytes", 8, 1, 128, 1, &a, &b, &n, NULL);
	from_gpu(got, b, sizeof got);
	return !memcmp(to, got, sizeof to);
}

/* ---- reductions ---- */

static bool sum_by(const char *kernel, bool most)
{
	int v[N], want = most ? -1 : 0, got;
	for (int i = 0; i < N; i++) {
		v[i] = (int)(number() % 10000);
		want = !most ? want + v[i] : v[i] > want ? v[i] : want;
	}
	gpu a = to_gpu(v, sizeof v), b = to_gpu(NULL, sizeof got);
	go(kernel, 8, 1, 128, 1, &a, &b, &n, NULL);
	from_gpu(&got, b, sizeof got);
	return got == want;
}

static bool reduce_shared(void)
{
	return sum_by("reduce_shared", false);
}

static bool reduce_shuffle(void)
{
	return sum_by("reduce_shuffle", false);
}

static bool most(void)
{
	return sum_by("most", true);
}

static bool dot(void)
{
	float a[N], b[N], want = 0;
	fill(a, N);
	fill(b, N);
	for (int i = 0; i < N; i++)
		want += a[i] * b[i];
	gpu da = to_gpu(a, sizeof a), db = to_gpu(b, sizeof b), sum = to_gpu(NULL, sizeof want);
	go("dot", 2, 1, 64, 1, &da, &db, &sum, &n, NULL);
	return same(&want, sum, 1);
}

static bool scan(void)
{
	int v[256], want[256], sum = 0;
	for (int i = 0; i < 256; i++)
		want[i] = sum += v[i] = (int)(number() % 1000);
	gpu d = to_gpu(v, sizeof v);
	go("scan", 1, 1, 256, 1, &d, NULL);
	return same_ints(want, d, 256);
}

static bool compact(void)
{
	int v[32], want[32] = {0}, count = 0;
	for (int i = 0; i < 32; i++)
		if ((v[i] = (int)(number() % 1000)) % 3 == 0)
			want[count++] = v[i];
	gpu d = to_gpu(v, sizeof v), out = to_gpu(NULL, sizeof want), c = to_gpu(NULL, sizeof count);
	go("compact", 1, 1, 32, 1, &d, &out, &c, NULL);
	return same_ints(want, out, 32) && same_ints(&count, c, 1);
}

static bool histogram(void)
{
	uint8_t v[N];
	int want[64] = {0};
	for (int i = 0; i < N; i++)
		want[(v[i] = (uint8_t)number()) / 4]++;
	gpu d = to_gpu(v, sizeof v), bins = to_gpu(NULL, sizeof want);
	go("histogram", 3, 1, 96, 1, &d, &bins, &n, NULL);
	return same_ints(want, bins, 64);
}

/* ---- matrices ---- */

static bool transpose(void)
{
	float a[M * M], b[M * M];
	fill(a, M * M);
	for (int y = 0; y < M; y++)
		for (int x = 0; x < M; x++)
			b[x * M + y] = a[y * M + x];
	gpu da = to_gpu(a, sizeof a), db = to_gpu(NULL, sizeof b);
	go("transpose", M / 16, M / 16, 16, 16, &da, &db, &m, NULL);
	return same(b, db, M * M);
}

static bool product(const char *kernel)
{
	float a[M * M], b[M * M], c[M * M];
	fill(a, M * M);
	fill(b, M * M);
	for (int y = 0; y < M; y++)
		for (int x = 0; x < M; x++) {
			c[y * M + x] = 0;
			for (int k = 0; k < M; k++)
				c[y * M + x] += a[y * M + k] * b[k * M + x];
		}
	gpu da = to_gpu(a, sizeof a), db = to_gpu(b, sizeof b), dc = to_gpu(NULL, sizeof c);
	go(kernel, M / 8, M / 8, 8, 8, &da, &db, &dc, &m, NULL);
	return same(c, dc, M * M);
}

static bool multiply(void)
{
	return product("multiply");
}

static bool multiply_tiled(void)
{
	return product("multiply_tiled");
}

static bool matrix_vector(void)
{
	double a[M * M], x[M], y[M], got[M];
	for (int i = 0; i < M * M; i++)
		a[i] = number() % 64;
	for (int i = 0; i < M; i++)
		x[i] = number() % 64;
	for (int i = 0; i < M; i++) {
		y[i] = 0;
		for (int k = 0; k < M; k++)
			y[i] += a[i * M + k] * x[k];
	}
	gpu da = to_gpu(a, sizeof a), dx = to_gpu(x, sizeof x), dy = to_gpu(NULL, sizeof y);
	go("matrix_vector", 1, 1, 64, 1, &da, &dx, &dy, &m, NULL);
	from_gpu(got, dy, sizeof got);
	return !memcmp(y, got, sizeof y);
}

static bool sparse(void)
{
	int row[N + 1], column[N * 4];
	float value[N * 4], x[N], y[N];
	fill(x, N);
	fill(value, N * 4);
	row[0] = 0;
	for (int i = 0; i < N; i++) {
		row[i + 1] = row[i] + (int)(number() % 5);
		y[i] = 0;
		for (int k = row[i]; k < row[i + 1]; k++)
			y[i] += value[k] * x[column[k] = (int)(number() % N)];
	}
	gpu dr = to_gpu(row, sizeof row), dc = to_gpu(column, sizeof column), dv = to_gpu(value, sizeof value);
	gpu dx = to_gpu(x, sizeof x), dy = to_gpu(NULL, sizeof y);
	go("sparse", 8, 1, 128, 1, &dr, &dc, &dv, &dx, &dy, &n, NULL);
	return same(y, dy, N);
}

/* Of the product of two triangles of ones: every quotient is 1, so nothing is rounded. */
static bool eliminate(void)
{
	float a[M * M];
	for (int y = 0; y < M; y++)
		for (int x = 0; x < M; x++) {
			a[y * M + x] = (float)((y < x ? y : x) + 1);
		}
	gpu d = to_gpu(a, sizeof a);
	for (int k = 0; k < M - 1; k++)
		go("eliminate", M / 8, M / 8, 8, 8, &d, &m, &k, NULL);
	for (int k = 0; k < M - 1; k++)
		for (int y = k + 1; y < M; y++)
			for (int x = k + 1; x < M; x++)
				a[y * M + x] -= a[y * M + k] / a[k * M + k] * a[k * M + x];
	return same(a, d, M * M);
}

/* ---- grids ---- */

static bool jacobi(void)
{
	float a[M * M], b[M * M];
	fill(a, M * M);
	gpu from = to_gpu(a, sizeof a), to = to_gpu(a, sizeof a);
	for (int step = 0; step < 4; step++) {
		memcpy(b, a, sizeof b);
		for (int y = 1; y < M - 1; y++)
			for (int x = 1; x < M - 1; x++)
				b[y * M + x] = 0.25f * (a[(y - 1) * M + x] + a[(y + 1) * M + x] + a[y * M + x - 1] +
							a[y * M + x + 1]);
		memcpy(a, b, sizeof a);
		go("jacobi", M / 16, M / 8, 16, 8, &from, &to, &m, NULL);
		gpu swap = from;
		from = to;
		to = swap;
	}
	return same(a, from, M * M);
}

static bool convolve(void)
{
	float a[M * M], b[M * M], w[9];
	fill(a, M * M);
	fill(w, 9);
	set_variable("weight", w, sizeof w);
	for (int y = 0; y < M; y++)
		for (int x = 0; x < M; x++) {
			float sum = 0;
			for (int dy = -1; dy <= 1; dy++)
				for (int dx = -1; dx <= 1; dx++)
					if (y + dy >= 0 && y + dy < M && x + dx >= 0 && x + dx < M)
						sum += w[(dy + 1) * 3 + dx + 1] * a[(y + dy) * M + x + dx];
			b[y * M + x] = sum;
		}
	gpu da = to_gpu(a, sizeof a), db = to_gpu(NULL, sizeof b);
	go("convolve", M / 8, M / 8, 8, 8, &da, &db, &m, NULL);
	return same(b, db, M * M);
}

static bool life(void)
{
	uint8_t a[M * M], b[M * M], got[M * M];
	for (int i = 0; i < M * M; i++)
		a[i] = number() % 3 == 0;
	gpu from = to_gpu(a, sizeof a), to = to_gpu(NULL, sizeof a);
	for (int step = 0; step < 3; step++) {
		for (int y = 0; y < M; y++)
			for (int x = 0; x < M; x++) {
				int near = 0;
				for (int k = 0; k < 9; k++)
					if (k != 4)
						near += a[(y + k / 3 - 1 + M) % M * M + (x + k % 3 - 1 + M) % M];
				b[y * M + x] = near == 3 || (near == 2 && a[y * M + x]);
			}
		memcpy(a, b, sizeof a);
		go("life", M / 8, M / 8, 8, 8, &from, &to, &m, NULL);
		gpu swap = from;
		from = to;
		to = swap;
	}
	from_gpu(got, from, sizeof got);
	return !memcmp(a, got, sizeof a);
}

static bool path(void)
{
	int wall[M][N], best[N], next[N];
	for (int y = 0; y < M; y++)
		for (int x = 0; x < N; x++)
			wall[y][x] = (int)(number() % 10);
	memcpy(best, wall[0], sizeof best);
	gpu from = to_gpu(best, sizeof best), to = to_gpu(NULL, sizeof best);
	for (int y = 1; y < M; y++) {
		gpu row = to_gpu(wall[y], sizeof wall[y]);
		for (int x = 0; x < N; x++) {
			int b = best[x];
			b = x > 0 && best[x - 1] < b ? best[x - 1] : b;
			b = x < N - 1 && best[x + 1] < b ? best[x + 1] : b;
			next[x] = wall[y][x] + b;
		}
		memcpy(best, next, sizeof best);
		go("path", 8, 1, 128, 1, &row, &from, &to, &n, NULL);
		gpu swap = from;
		from = to;
		to = swap;
	}
	return same_ints(best, from, N);
}

static bool sobel(void)
{
	uint8_t a[M * M];
	int b[M * M] = {0};
	for (int i = 0; i < M * M; i++)
		a[i] = (uint8_t)number();
	for (int y = 1; y < M - 1; y++)
		for (int x = 1; x < M - 1; x++) {
			const uint8_t *p = a + y * M + x;
			b[y * M + x] = abs(p[1 - M] + 2 * p[1] + p[1 + M] - p[-1 - M] - 2 * p[-1] - p[M - 1]) +
				       abs(p[M - 1] + 2 * p[M] + p[M + 1] - p[-M - 1] - 2 * p[-M] - p[1 - M]);
		}
	gpu da = to_gpu(a, sizeof a), db = to_gpu(NULL, sizeof b);
	go("sobel", M / 8, M / 8, 8, 8, &da, &db, &m, NULL);
	return same_ints(b, db, M * M);
}

const struct program programs_of_vectors[] = {{"vector_add", vector_add},
					      {"saxpy", saxpy},
					      {"triad_double", triad_double},
					      {"reverse", reverse},
					      {"gather", gather},
					      {"half_bytes", half_bytes},
					      {"reduce_shared", reduce_shared},
					      {"reduce_shuffle", reduce_shuffle},
					      {"most", most},
					      {"dot", dot},
					      {"scan", scan},
					      {"compact", compact},
					      {"histogram", histogram},
					      {"transpose", transpose},
					      {"multiply", multiply},
					      {"multiply_tiled", multiply_tiled},
					      {"matrix_vector", matrix_vector},
					      {"sparse", sparse},
					      {"eliminate", eliminate},
					      {"jacobi", jacobi},
					      {"convolve", convolve},
					      {"life", life},
					      {"path", path},
					      {"sobel", sobel},
					      {NULL, NULL}};
