/* Sorting, searching, graphs, and numbers. */
#include "programs.h"
#include <math.h>

enum { N = 512 };
static int n = N;

static bool same(const void *a, gpu b, size_t bytes)
{
	void *got = malloc(bytes);
	from_gpu(got, b, bytes);
	bool good = !memcmp(a, got, bytes);
	free(got);
	return good;
}

static int ascending(const void *a, const void *b)
{
	int x = *(const int *)a, y = *(const int *)b;
	return (x > y) - (x < y);
}

static bool bitonic(void)
{
	int v[256];
	for (int i = 0; i < 256; i++)
		v[i] = (int)number();
	gpu d = to_gpu(v, sizeof v);
	go("bitonic", 1, 1, 256, 1, &d, NULL);
	qsort(v, 256, sizeof *v, ascending);
	return same(v, d, sizeof v);
}

static bool search(void)
{
	int v[N], key[100], at[100], keys = 100;
	for (int i = 0; i < N; i++)
		v[i] = (int)(number() % 5000);
	qsort(v, N, sizeof *v, ascending);
	for (int i = 0; i < keys; i++) {
		key[i] = (int)(number() % 5000);
		for (at[i] = 0; at[i] < N && v[at[i]] < key[i];)
			at[i]++;
	}
	gpu dv = to_gpu(v, sizeof v), dk = to_gpu(key, sizeof key), da = to_gpu(NULL, sizeof at);
	go("search", 2, 1, 64, 1, &dv, &n, &dk, &da, &keys, NULL);
	return same(at, da, sizeof at);
}

static bool breadth(void)
{
	int first[N + 1], edge[N * 3], level[N], want[N], more = 1, now = 0;
	for (int i = 0; i < N; i++) {
		first[i] = 3 * i;
		for (int k = 0; k < 3; k++)
			edge[3 * i + k] = (int)(number() % N);
		level[i] = want[i] = i ? -1 : 0;
	}
	first[N] = 3 * N;
	for (int l = 0; l < N; l++)
		for (int v = 0; v < N; v++)
			for (int k = first[v]; want[v] == l && k < first[v + 1]; k++)
				if (want[edge[k]] < 0)
					want[edge[k]] = l + 1;
	gpu df = to_gpu(first, sizeof first), de = to_gpu(edge, sizeof edge), dl = to_gpu(level, sizeof level);
	for (; more; now++) {
		gpu dm = to_gpu(NULL, sizeof more);
		go("breadth", 4, 1, 128, 1, &df, &de, &dl, &now, &dm, &n, NULL);
		from_gpu(&more, dm, sizeof more);
	}
	return same(want, dl, sizeof want);
}

static bool shortest(void)
{
	enum { V = 32 };
	int d[V * V], count = V;
	for (int i = 0; i < V * V; i++)
		d[i] = i % (V + 1) == 0 ? 0 : 1 + (int)(number() % 100);
	gpu g = to_gpu(d, sizeof d);
	for (int k = 0; k < V; k++) {
		go("shortest", V / 16, V / 16, 16, 16, &g, &k, &count, NULL);
		for (int y = 0; y < V; y++)
			for (int x = 0; x < V; x++)
				if (d[y * V + k] + d[k * V + x] < d[y * V + x])
					d[y * V + x] = d[y * V + k] + d[k * V + x];
	}
	return same(d, g, sizeof d);
}

/* The place of a key depends on who came first, but each is there once. */
static bool insert(void)
{
	enum { ROOM = 1024 };
	uint32_t key[N], table[ROOM], seen = 0, distinct = 0;
	int room = ROOM;
	for (int i = 0; i < N; i++)
		key[i] = 1 + number() % 300;
	gpu dk = to_gpu(key, sizeof key), dt = to_gpu(NULL, sizeof table);
	go("insert", 4, 1, 128, 1, &dk, &dt, &room, &n, NULL);
	from_gpu(table, dt, sizeof table);
	for (uint32_t k = 1; k <= 300; k++) {
		bool given = false;
		uint32_t times = 0;
		for (int i = 0; i < N; i++)
			given = given || key[i] == k;
		for (int i = 0; i < ROOM; i++)
			times += table[i] == k;
		distinct += given;
		seen += times == (given ? 1 : 0);
	}
	return seen == 300 && distinct > 100;
}

static bool align(void)
{
	enum { L = 60 };
	char a[L], b[L];
	int score[(L + 1) * (L + 1)], length = L;
	for (int i = 0; i < L; i++) {
		a[i] = "ACGT"[number() % 4];
		b[i] = "ACGT"[number() % 4];
	}
	for (int y = 0; y <= L; y++)
		for (int x = 0; x <= L; x++)
			score[y * (L + 1) + x] = y == 0 ? -x : x == 0 ? -y : 0;
	gpu da = to_gpu(a, sizeof a), db = to_gpu(b, sizeof b), ds = to_gpu(score, sizeof score);
	for (int d = 2; d <= 2 * L; d++)
		go("align", 1, 1, 64, 1, &da, &db, &ds, &length, &d, NULL);
	for (int y = 1; y <= L; y++)
		for (int x = 1; x <= L; x++) {
			int *s = score + y * (L + 1) + x, best = s[-L - 2] + (a[y - 1] == b[x - 1] ? 2 : -1);
			best = s[-L - 1] - 1 > best ? s[-L - 1] - 1 : best;
			*s = s[-1] - 1 > best ? s[-1] - 1 : best;
		}
	return same(score, ds, sizeof score);
}

static bool match(void)
{
	char text[N];
	const char word[] = "ab";
	int length = 2, want = 0;
	for (int i = 0; i < N; i++)
		text[i] = "abc"[number() % 3];
	for (int i = 0; i + 1 < N; i++)
		want += text[i] == 'a' && text[i + 1] == 'b';
	gpu dt = to_gpu(text, sizeof text), dw = to_gpu(word, sizeof word), dc = to_gpu(NULL, sizeof want);
	go("match", 4, 1, 128, 1, &dt, &n, &dw, &length, &dc, NULL);
	return same(&want, dc, sizeof want);
}

/* ---- numbers ---- */

static bool circle(void)
{
	uint32_t want = 0;
	int tries = 50;
	for (uint32_t t = 0; t < 128; t++) {
		uint32_t s = t + 1;
		for (int k = 0; k < tries; k++) {
			s = s * 1664525u + 1013904223u;
			uint64_t x = s >> 8 & 0xffff;
			s = s * 1664525u + 1013904223u;
			uint64_t y = s >> 8 & 0xffff;
			want += x * x + y * y < 0x100000000ull;
		}
	}
	gpu d = to_gpu(NULL, sizeof want);
	go("circle", 2, 1, 64, 1, &d, &tries, NULL);
	return same(&want, d, sizeof want);
}

/* The compiler made fused multiply-adds of it: a point beside the edge may take another number of steps. */
static bool mandelbrot(void)
{
	enum { S = 32, MOST = 60 };
	int got[S * S], size = S, most = MOST, other = 0;
	gpu d = to_gpu(NULL, sizeof got);
	go("mandelbrot", S / 8, S / 8, 8, 8, &d, &size, &most, NULL);
	from_gpu(got, d, sizeof got);
	for (int y = 0; y < S; y++)
		for (int x = 0; x < S; x++) {
			double cr = -2 + 3.0 * x / S, ci = -1.5 + 3.0 * y / S, r = 0, i = 0;
			int k = 0;
			for (; k < MOST && r * r + i * i < 4; k++) {
				double t = r * r - i * i + cr;
				i = 2 * r * i + ci;
				r = t;
			}
			other += k != got[y * S + x];
		}
	return other < 5;
}

static bool divisor(void)
{
	uint64_t a[N], b[N], want[N];
	for (int i = 0; i < N; i++) {
		uint64_t common = 1 + number() % 1000;
		a[i] = common * (1 + number()) * (1 + number() % 64);
		b[i] = common * (1 + number());
		uint64_t p = a[i], q = b[i];
		while (q) {
			uint64_t t = p % q;
			p = q;
			q = t;
		}
		want[i] = p;
	}
	gpu da = to_gpu(a, sizeof a), db = to_gpu(b, sizeof b), dw = to_gpu(NULL, sizeof want);
	go("divisor", 4, 1, 128, 1, &da, &db, &dw, &n, NULL);
	return same(want, dw, sizeof want);
}

static bool collatz(void)
{
	int want[N];
	for (int i = 0; i < N; i++) {
		want[i] = 0;
		for (uint64_t v = (uint64_t)i + 1; v != 1; want[i]++)
			v = v & 1 ? 3 * v + 1 : v / 2;
	}
	gpu d = to_gpu(NULL, sizeof want);
	go("collatz", 4, 1, 128, 1, &d, &n, NULL);
	return same(want, d, sizeof want);
}

static bool checksum(void)
{
	uint8_t data[64 * 16];
	uint32_t want[64];
	int count = 64, bytes = 16;
	for (size_t i = 0; i < sizeof data; i++)
		data[i] = (uint8_t)number();
	for (int i = 0; i < 64; i++) {
		uint32_t c = ~0u;
		for (int k = 0; k < 16; k++) {
			c ^= data[i * 16 + k];
			for (int b = 0; b < 8; b++)
				c = c >> 1 ^ (0xedb88320u & -(c & 1));
		}
		want[i] = ~c;
	}
	gpu d = to_gpu(data, sizeof data), out = to_gpu(NULL, sizeof want);
	go("checksum", 1, 1, 64, 1, &d, &bytes, &out, &count, NULL);
	return same(want, out, sizeof want);
}

static bool close_to(double want, double got)
{
	return fabs(want - got) <= 1e-4 * (1 + fabs(want));
}

static bool gravity(void)
{
	enum { B = 128 };
	float b[B][4], got[B][4];
	int count = B;
	for (int i = 0; i < B; i++)
		for (int k = 0; k < 4; k++)
			b[i][k] = (float)(number() % 1000) / 100;
	gpu d = to_gpu(b, sizeof b), out = to_gpu(NULL, sizeof got);
	go("gravity", 2, 1, 64, 1, &d, &out, &count, NULL);
	from_gpu(got, out, sizeof got);
	for (int i = 0; i < B; i++) {
		double a[3] = {0};
		for (int k = 0; k < B; k++) {
			double v[3] = {b[k][0] - b[i][0], b[k][1] - b[i][1], b[k][2] - b[i][2]};
			double q = v[0] * v[0] + v[1] * v[1] + v[2] * v[2] + (double)0.01f;
			for (int c = 0; c < 3; c++)
				a[c] += b[k][3] * v[c] / (q * sqrt(q));
		}
		for (int c = 0; c < 3; c++)
			if (!close_to(a[c], got[i][c]))
				return false;
	}
	return true;
}

static bool fourier(void)
{
	enum { F = 64 };
	float re[F], im[F], c[F], s[F], x[F];
	int size = F;
	for (int i = 0; i < F; i++) {
		x[i] = (float)(number() % 100) - 50;
		c[i] = (float)cos(2 * 3.14159265358979323846 * i / F);
		s[i] = (float)sin(2 * 3.14159265358979323846 * i / F);
	}
	for (int i = 0; i < F; i++) {
		int r = 0;
		for (int bit = 0; bit < 6; bit++)
			r |= (i >> bit & 1) << (5 - bit);
		re[r] = x[i];
	}
	gpu dr = to_gpu(re, sizeof re), di = to_gpu(NULL, sizeof im), dc = to_gpu(c, sizeof c),
	    ds = to_gpu(s, sizeof s);
	for (int half = 1; half < F; half *= 2)
		go("fourier", 1, 1, 32, 1, &dr, &di, &dc, &ds, &size, &half, NULL);
	from_gpu(re, dr, sizeof re);
	from_gpu(im, di, sizeof im);
	for (int k = 0; k < F; k++) {
		double a = 0, b = 0;
		for (int i = 0; i < F; i++) {
			a += x[i] * cos(2 * 3.14159265358979323846 * i * k / F);
			b -= x[i] * sin(2 * 3.14159265358979323846 * i * k / F);
		}
		if (fabs(a - re[k]) > 0.01 || fabs(b - im[k]) > 0.01)
			return false;
	}
	return true;
}

static bool cluster(void)
{
	float x[N], y[N], cx[8], cy[8];
	int want[N], k = 8;
	for (int i = 0; i < N; i++) {
		x[i] = (float)(number() % 512);
		y[i] = (float)(number() % 512);
	}
	for (int c = 0; c < 8; c++) {
		cx[c] = (float)(number() % 512);
		cy[c] = (float)(number() % 512);
	}
	for (int i = 0; i < N; i++) {
		float best = 1e30f;
		for (int c = 0; c < 8; c++) {
			float d = (x[i] - cx[c]) * (x[i] - cx[c]) + (y[i] - cy[c]) * (y[i] - cy[c]);
			if (d < best) {
				best = d;
				want[i] = c;
			}
		}
	}
	gpu dx = to_gpu(x, sizeof x), dy = to_gpu(y, sizeof y), dcx = to_gpu(cx, sizeof cx),
	    dcy = to_gpu(cy, sizeof cy);
	gpu of = to_gpu(NULL, sizeof want);
	go("cluster", 4, 1, 128, 1, &dx, &dy, &dcx, &dcy, &of, &n, &k, NULL);
	return same(want, of, sizeof want);
}

static bool queens(void)
{
	int want = 40, size = 7; /* of seven on a board of seven by seven */
	gpu d = to_gpu(NULL, sizeof want);
	go("queens", 1, 1, 7, 1, &d, &size, NULL);
	return same(&want, d, sizeof want);
}

static bool turnstile(void)
{
	int order[256], total, good = 0;
	int count = 256;
	gpu d = to_gpu(NULL, sizeof order), t = to_gpu(NULL, sizeof total);
	go("turnstile", 4, 1, 64, 1, &d, &t, &count, NULL);
	from_gpu(order, d, sizeof order);
	from_gpu(&total, t, sizeof total);
	for (int b = 0; b < 4; b++)
		for (int k = 0; k < 64; k++)
			for (int i = 0; i < 64; i++)
				good += order[64 * b + i] == k;
	return total == 256 && good == 256;
}

static bool bits(void)
{
	uint32_t v[N], want[N];
	for (int i = 0; i < N; i++) {
		uint32_t reversed = 0;
		v[i] = number() * number();
		for (int b = 0; b < 8; b++)
			reversed |= (v[i] >> (31 - b) & 1) << b;
		want[i] = (uint32_t)__builtin_popcount(v[i]) << 16 | (uint32_t)__builtin_clz(v[i] | 1) << 8 | reversed;
	}
	gpu d = to_gpu(v, sizeof v), out = to_gpu(NULL, sizeof want);
	go("bits", 4, 1, 128, 1, &d, &out, &n, NULL);
	return same(want, out, sizeof want);
}

const struct program programs_of_graphs[] = {
    {"bitonic", bitonic},	{"search", search},   {"breadth", breadth}, {"shortest", shortest},
    {"insert", insert},		{"align", align},     {"match", match},	    {"circle", circle},
    {"mandelbrot", mandelbrot}, {"divisor", divisor}, {"collatz", collatz}, {"checksum", checksum},
    {"gravity", gravity},	{"fourier", fourier}, {"cluster", cluster}, {"queens", queens},
    {"turnstile", turnstile},	{"bits", bits},	      {NULL, NULL}};
