// Kernels of small programs, in the manner of well-known suites. make_ptx.sh compiles them to kernels.ptx with clang alone: no header of CUDA.
#define KERNEL extern "C" __attribute__((global)) void
#define SHARED __attribute__((shared))
#define CONSTANT __attribute__((constant))
#define DEVICE __attribute__((device)) static
#define TX __nvvm_read_ptx_sreg_tid_x()
#define TY __nvvm_read_ptx_sreg_tid_y()
#define BX __nvvm_read_ptx_sreg_ctaid_x()
#define BY __nvvm_read_ptx_sreg_ctaid_y()
#define NX __nvvm_read_ptx_sreg_ntid_x()
#define NY __nvvm_read_ptx_sreg_ntid_y()
#define GX __nvvm_read_ptx_sreg_nctaid_x()
#define SYNC() __syncthreads()
#define ADD(p, v) __nvvm_atom_add_gen_i((int *)(p), (int)(v))
#define ALL 0xffffffffu
typedef unsigned u32;
typedef unsigned long long u64;

// ---- vectors ----
KERNEL vector_add(const float *a, const float *b, float *c, int n)
{
	int i = BX * NX + TX;
	if (i < n)
		c[i] = a[i] + b[i];
}
KERNEL saxpy(float a, const float *x, float *y, int n)
{
	for (int i = BX * NX + TX; i < n; i += GX * NX)
		y[i] = a * x[i] + y[i];
}
KERNEL triad_double(const double *a, const double *b, double *c, double k, int n)
{
	int i = BX * NX + TX;
	if (i < n)
		c[i] = a[i] + k * b[i];
}
KERNEL reverse(int *v, int n)
{
	SHARED static int s[256];
	s[TX] = v[TX];
	SYNC();
	v[TX] = s[n - 1 - TX];
}
KERNEL gather(const int *from, const int *where, int *to, int n)
{
	int i = BX * NX + TX;
	if (i < n)
		to[i] = from[where[i]];
}
KERNEL half_bytes(const unsigned char *from, unsigned short *to, int n)
{
	int i = BX * NX + TX;
	if (i < n)
		to[i] = (unsigned short)(from[i] * 257 - (signed char)from[i]);
}

// ---- reductions and scans ----
KERNEL reduce_shared(const int *v, int *sum, int n)
{
	SHARED static int s[128];
	int i = BX * NX + TX;
	s[TX] = i < n ? v[i] : 0;
	SYNC();
	for (u32 k = NX / 2; k; k /= 2) {
		if (TX < k)
			s[TX] += s[TX + k];
		SYNC();
	}
	if (TX == 0)
		ADD(sum, s[0]);
}
KERNEL reduce_shuffle(const int *v, int *sum, int n)
{
	int i = BX * NX + TX, x = i < n ? v[i] : 0;
	for (int k = 16; k; k /= 2)
		x += __nvvm_shfl_sync_down_i32(ALL, x, k, 31);
	if (TX % 32 == 0)
		ADD(sum, x);
}
KERNEL dot(const float *a, const float *b, float *out, int n)
{
	float x = 0;
	for (int i = BX * NX + TX; i < n; i += GX * NX)
		x += a[i] * b[i];
	__nvvm_atom_add_gen_f(out, x);
}
KERNEL most(const int *v, int *out, int n)
{
	int i = BX * NX + TX;
	if (i < n)
		__nvvm_atom_max_gen_i(out, v[i]);
}
KERNEL scan(int *v)
{
	SHARED static int s[2][256];
	int in = 0;
	s[0][TX] = v[TX];
	SYNC();
	for (u32 k = 1; k < NX; k *= 2, in ^= 1) {
		s[in ^ 1][TX] = s[in][TX] + (TX >= k ? s[in][TX - k] : 0);
		SYNC();
	}
	v[TX] = s[in][TX];
}
KERNEL compact(const int *v, int *out, int *count)
{
	bool keep = v[TX] % 3 == 0;
	u32 who = __nvvm_vote_ballot_sync(ALL, keep);
	if (keep)
		out[__builtin_popcount(who & ((1u << TX) - 1))] = v[TX];
	if (TX == 0)
		*count = __builtin_popcount(who);
}
KERNEL histogram(const unsigned char *v, int *bins, int n)
{
	SHARED static int s[64];
	if (TX < 64)
		s[TX] = 0;
	SYNC();
	for (int i = BX * NX + TX; i < n; i += GX * NX)
		ADD(&s[v[i] / 4], 1);
	SYNC();
	if (TX < 64)
		ADD(&bins[TX], s[TX]);
}

// ---- matrices ----
KERNEL transpose(const float *a, float *b, int n)
{
	SHARED static float s[16][17];
	s[TY][TX] = a[(BY * 16 + TY) * n + BX * 16 + TX];
	SYNC();
	b[(BX * 16 + TY) * n + BY * 16 + TX] = s[TX][TY];
}
KERNEL multiply(const float *a, const float *b, float *c, int n)
{
	int y = BY * NY + TY, x = BX * NX + TX;
	float sum = 0;
	for (int k = 0; k < n; k++)
		sum += a[y * n + k] * b[k * n + x];
	c[y * n + x] = sum;
}
KERNEL multiply_tiled(const float *a, const float *b, float *c, int n)
{
	SHARED static float p[8][8], q[8][8];
	int y = BY * 8 + TY, x = BX * 8 + TX;
	float sum = 0;
	for (int t = 0; t < n; t += 8) {
		p[TY][TX] = a[y * n + t + TX];
		q[TY][TX] = b[(t + TY) * n + x];
		SYNC();
		for (int k = 0; k < 8; k++)
			sum += p[TY][k] * q[k][TX];
		SYNC();
	}
	c[y * n + x] = sum;
}
KERNEL matrix_vector(const double *a, const double *x, double *y, int n)
{
	int i = BX * NX + TX;
	if (i >= n)
		return;
	double sum = 0;
	for (int k = 0; k < n; k++)
		sum += a[i * n + k] * x[k];
	y[i] = sum;
}
KERNEL sparse(const int *row, const int *column, const float *value, const float *x, float *y, int n)
{
	int i = BX * NX + TX;
	if (i >= n)
		return;
	float sum = 0;
	for (int k = row[i]; k < row[i + 1]; k++)
		sum += value[k] * x[column[k]];
	y[i] = sum;
}
KERNEL eliminate(float *a, int n, int k)
{
	int y = BY * NY + TY + k + 1, x = BX * NX + TX + k + 1;
	if (y < n && x < n)
		a[y * n + x] -= a[y * n + k] / a[k * n + k] * a[k * n + x];
}

// ---- grids ----
KERNEL jacobi(const float *a, float *b, int n)
{
	int y = BY * NY + TY, x = BX * NX + TX;
	if (y > 0 && x > 0 && y < n - 1 && x < n - 1)
		b[y * n + x] = 0.25f * (a[(y - 1) * n + x] + a[(y + 1) * n + x] + a[y * n + x - 1] + a[y * n + x + 1]);
}
extern "C" {
CONSTANT float weight[9];
}
KERNEL convolve(const float *a, float *b, int n)
{
	int y = BY * NY + TY, x = BX * NX + TX;
	float sum = 0;
	for (int dy = -1; dy <= 1; dy++)
		for (int dx = -1; dx <= 1; dx++)
			if (y + dy >= 0 && y + dy < n && x + dx >= 0 && x + dx < n)
				sum += weight[(dy + 1) * 3 + dx + 1] * a[(y + dy) * n + x + dx];
	b[y * n + x] = sum;
}
KERNEL life(const unsigned char *a, unsigned char *b, int n)
{
	int y = BY * NY + TY, x = BX * NX + TX, near = 0;
	for (int k = 0; k < 9; k++)
		if (k != 4)
			near += a[(y + k / 3 - 1 + n) % n * n + (x + k % 3 - 1 + n) % n];
	b[y * n + x] = near == 3 || (near == 2 && a[y * n + x]);
}
KERNEL path(const int *wall, const int *from, int *to, int n)
{
	int x = BX * NX + TX;
	if (x >= n)
		return;
	int best = from[x];
	if (x > 0 && from[x - 1] < best)
		best = from[x - 1];
	if (x < n - 1 && from[x + 1] < best)
		best = from[x + 1];
	to[x] = wall[x] + best;
}
KERNEL sobel(const unsigned char *a, int *b, int n)
{
	int y = BY * NY + TY, x = BX * NX + TX;
	if (y == 0 || x == 0 || y == n - 1 || x == n - 1)
		return;
	const unsigned char *p = a + y * n + x;
	int gx = p[1 - n] + 2 * p[1] + p[1 + n] - p[-1 - n] - 2 * p[-1] - p[n - 1];
	int gy = p[n - 1] + 2 * p[n] + p[n + 1] - p[-n - 1] - 2 * p[-n] - p[1 - n];
	b[y * n + x] = (gx < 0 ? -gx : gx) + (gy < 0 ? -gy : gy);
}

// ---- sorting, searching, graphs ----
KERNEL bitonic(int *v)
{
	SHARED static int s[256];
	s[TX] = v[TX];
	SYNC();
	for (u32 k = 2; k <= NX; k *= 2)
		for (u32 j = k / 2; j; j /= 2) {
			u32 o = TX ^ j;
			if (o > TX && ((TX & k) == 0) == (s[TX] > s[o])) {
				int t = s[TX];
				s[TX] = s[o];
				s[o] = t;
			}
			SYNC();
		}
	v[TX] = s[TX];
}
KERNEL search(const int *sorted, int n, const int *key, int *at, int keys)
{
	int i = BX * NX + TX, low = 0, high = n;
	if (i >= keys)
		return;
	while (low < high) {
		int mid = (low + high) / 2;
		if (sorted[mid] < key[i])
			low = mid + 1;
		else
			high = mid;
	}
	at[i] = low;
}
KERNEL breadth(const int *first, const int *edge, int *level, int now, int *more, int n)
{
	int v = BX * NX + TX;
	if (v >= n || level[v] != now)
		return;
	for (int k = first[v]; k < first[v + 1]; k++)
		if (__nvvm_atom_cas_gen_i(&level[edge[k]], -1, now + 1) == -1)
			*more = 1;
}
KERNEL shortest(int *d, int k, int n)
{
	int y = BY * NY + TY, x = BX * NX + TX, through = d[y * n + k] + d[k * n + x];
	if (through < d[y * n + x])
		d[y * n + x] = through;
}
KERNEL insert(const u32 *key, u32 *table, int room, int n)
{
	int i = BX * NX + TX;
	if (i >= n)
		return;
	u32 at = key[i] * 2654435761u % room;
	for (;;) {
		u32 was = (u32)__nvvm_atom_cas_gen_i((int *)&table[at], 0, (int)key[i]);
		if (was == 0 || was == key[i])
			return;
		at = (at + 1) % room;
	}
}
KERNEL align(const char *a, const char *b, int *score, int n, int diagonal)
{
	int y = TX + 1, x = diagonal - y;
	if (y > n || x < 1 || x > n)
		return;
	int *s = score + y * (n + 1) + x, best = s[-n - 2] + (a[y - 1] == b[x - 1] ? 2 : -1);
	int up = s[-n - 1] - 1, left = s[-1] - 1;
	best = up > best ? up : best;
	*s = left > best ? left : best;
}
KERNEL match(const char *text, int n, const char *word, int m, int *count)
{
	int i = BX * NX + TX, k = 0;
	if (i > n - m)
		return;
	while (k < m && text[i + k] == word[k])
		k++;
	if (k == m)
		ADD(count, 1);
}

// ---- numbers ----
DEVICE u32 random(u32 *s)
{
	*s = *s * 1664525u + 1013904223u;
	return *s >> 8;
}
KERNEL circle(u32 *inside, int tries)
{
	u32 s = BX * NX + TX + 1, in = 0;
	for (int k = 0; k < tries; k++) {
		u32 x = random(&s) & 0xffff, y = random(&s) & 0xffff;
		in += (u64)x * x + (u64)y * y < 0x100000000ull;
	}
	ADD(inside, in);
}
KERNEL mandelbrot(int *steps, int n, int most_steps)
{
	int y = BY * NY + TY, x = BX * NX + TX, k = 0;
	float cr = -2 + 3.0f * x / n, ci = -1.5f + 3.0f * y / n, r = 0, i = 0;
	while (k < most_steps && r * r + i * i < 4) {
		float t = r * r - i * i + cr;
		i = 2 * r * i + ci;
		r = t;
		k++;
	}
	steps[y * n + x] = k;
}
KERNEL divisor(const u64 *a, const u64 *b, u64 *out, int n)
{
	int i = BX * NX + TX;
	if (i >= n)
		return;
	u64 p = a[i], q = b[i];
	while (q) {
		u64 t = p % q;
		p = q;
		q = t;
	}
	out[i] = p;
}
KERNEL collatz(int *steps, int n)
{
	int i = BX * NX + TX;
	if (i >= n)
		return;
	int k = 0;
	for (u64 v = (u64)i + 1; v != 1; k++)
		v = v & 1 ? 3 * v + 1 : v / 2;
	steps[i] = k;
}
KERNEL checksum(const unsigned char *data, int bytes, u32 *out, int n)
{
	int i = BX * NX + TX;
	if (i >= n)
		return;
	u32 c = ~0u;
	for (int k = 0; k < bytes; k++) {
		c ^= data[i * bytes + k];
		for (int b = 0; b < 8; b++)
			c = c >> 1 ^ (0xedb88320u & -(c & 1));
	}
	out[i] = ~c;
}
struct body {
	float x, y, z, mass;
};
KERNEL gravity(const body *b, body *out, int n)
{
	SHARED static body s[64];
	int i = BX * NX + TX;
	float ax = 0, ay = 0, az = 0;
	for (int t = 0; t < n; t += 64) {
		s[TX] = b[t + TX];
		SYNC();
		for (int k = 0; k < 64; k++) {
			float dx = s[k].x - b[i].x, dy = s[k].y - b[i].y, dz = s[k].z - b[i].z;
			float q = dx * dx + dy * dy + dz * dz + 0.01f, d = q * __nvvm_sqrt_rn_f(q);
			ax += s[k].mass * dx / d;
			ay += s[k].mass * dy / d;
			az += s[k].mass * dz / d;
		}
		SYNC();
	}
	out[i] = {ax, ay, az, 0};
}
KERNEL fourier(float *re, float *im, const float *cosine, const float *sine, int n, int half)
{
	int i = BX * NX + TX;
	if (i >= n / 2)
		return;
	int a = i / half * 2 * half + i % half, b = a + half, w = i % half * (n / (2 * half));
	float r = re[b] * cosine[w] + im[b] * sine[w], m = im[b] * cosine[w] - re[b] * sine[w];
	re[b] = re[a] - r;
	im[b] = im[a] - m;
	re[a] += r;
	im[a] += m;
}
KERNEL cluster(const float *x, const float *y, const float *cx, const float *cy, int *of, int n, int k)
{
	int i = BX * NX + TX;
	if (i >= n)
		return;
	float best = 1e30f;
	for (int c = 0; c < k; c++) {
		float dx = x[i] - cx[c], dy = y[i] - cy[c], d = dx * dx + dy * dy;
		if (d < best) {
			best = d;
			of[i] = c;
		}
	}
}
KERNEL queens(int *count, int n)
{
	int place[8], depth = 1;
	place[0] = TX;
	place[1] = -1;
	while (depth > 0) {
		int *p = &place[depth];
		bool good = false;
		while (!good && ++*p < n) {
			good = true;
			for (int k = 0; k < depth; k++)
				good = good && place[k] != *p && place[k] - *p != depth - k && *p - place[k] != depth - k;
		}
		if (!good)
			depth--;
		else if (depth == n - 1)
			ADD(count, 1);
		else
			place[++depth] = -1;
	}
}
KERNEL turnstile(int *order, int *next, int n)
{
	SHARED static int total;
	if (TX == 0)
		total = 0;
	SYNC();
	order[BX * NX + TX] = ADD(&total, 1);
	SYNC();
	if (TX == 0)
		ADD(next, total);
}
KERNEL bits(const u32 *v, u32 *out, int n)
{
	int i = BX * NX + TX;
	if (i < n)
		out[i] = __builtin_popcount(v[i]) << 16 | __builtin_clz(v[i] | 1) << 8 | (__builtin_bitreverse32(v[i]) & 255);
}

// ---- what the interface has beside launches ----
#define SREG(name, var) asm volatile("mov.u32 %0, %" name ";" : "=r"(var))
KERNEL step(int *v, int add, int times, int n) // v = v * times + add
{
	int i = BX * NX + TX;
	if (i < n)
		v[i] = v[i] * times + add;
}
KERNEL grid_sum(int *part, int *all, int n) // blocks meet at a word of the launch's workspace, as the grid of cooperative groups does
{
	u32 high, low;
	SREG("%envreg1", high);
	SREG("%envreg2", low);
	volatile int *met = (volatile int *)(((u64)high << 32 | low) + 4);
	if (!met)
		return;
	if (TX == 0) {
		int sum = 0;
		for (int k = BX; k < n; k += GX)
			sum += k;
		part[BX] = sum;
		__nvvm_membar_gl();
		ADD(met, 1);
		while (*met < GX)
			;
		__nvvm_membar_gl();
		int whole = 0;
		for (int k = 0; k < GX; k++)
			whole += ((volatile int *)part)[k];
		all[BX] = whole;
	}
}
KERNEL surface_turn(u64 from, u64 to, int w, int h)
{
	int x = BX * NX + TX, y = BY * NY + TY, v;
	if (x >= w || y >= h)
		return;
	asm volatile("suld.b.2d.b32.trap {%0}, [%1, {%2, %3}];" : "=r"(v) : "l"(from), "r"(4 * x), "r"(y));
	asm volatile("sust.b.2d.b32.trap [%0, {%1, %2}], {%3};" : : "l"(to), "r"(4 * y), "r"(x), "r"(v + 1) : "memory");
}
KERNEL surface_edges(u64 s, int *out, int w)
{
	int x = TX - 4, zero, clamp;
	asm volatile("suld.b.1d.b32.zero {%0}, [%1, {%2}];" : "=r"(zero) : "l"(s), "r"(4 * x));
	asm volatile("suld.b.1d.b32.clamp {%0}, [%1, {%2}];" : "=r"(clamp) : "l"(s), "r"(4 * x));
	asm volatile("sust.b.1d.b32.zero [%0, {%1}], {%2};" : : "l"(s), "r"(4 * (x + 2 * w)), "r"(7) : "memory");
	out[2 * TX] = zero;
	out[2 * TX + 1] = clamp;
}
#define FETCH(what, ...) asm volatile(what : "=f"(a), "=f"(b), "=f"(c), "=f"(d) : __VA_ARGS__)
KERNEL texture_flat(u64 t, float *out, int w)
{
	float x = TX * 0.5f, y = TY * 0.5f, a, b, c, d;
	FETCH("tex.2d.v4.f32.f32 {%0, %1, %2, %3}, [%4, {%5, %6}];", "l"(t), "f"(x), "f"(y));
	out[TY * w + TX] = a;
}
KERNEL texture_layers(u64 t, float *out, int w)
{
	float x = TX + 0.5f, y = TY + 0.5f, a, b, c, d;
	FETCH("tex.a2d.v4.f32.f32 {%0, %1, %2, %3}, [%4, {%5, %6, %7, %7}];", "l"(t), "r"(BX), "f"(x), "f"(y));
	out[(BX * w + TY) * w + TX] = a;
}
KERNEL texture_cube(u64 t, const float *xyz, float *out)
{
	float x = xyz[3 * TX], y = xyz[3 * TX + 1], z = xyz[3 * TX + 2], a, b, c, d;
	FETCH("tex.cube.v4.f32.f32 {%0, %1, %2, %3}, [%4, {%5, %6, %7, %7}];", "l"(t), "f"(x), "f"(y), "f"(z));
	out[TX] = a;
}
KERNEL texture_gather(u64 t, float *out)
{
	float x = TX + 1.0f, y = 2.0f, a, b, c, d;
	FETCH("tld4.r.2d.v4.f32.f32 {%0, %1, %2, %3}, [%4, {%5, %6}];", "l"(t), "f"(x), "f"(y));
	out[4 * TX] = a;
	out[4 * TX + 1] = b;
	out[4 * TX + 2] = c;
	out[4 * TX + 3] = d;
}
KERNEL texture_line(u64 t, int *out, int n)
{
	int i = BX * NX + TX, a, b, c, d;
	asm volatile("tex.1d.v4.s32.s32 {%0, %1, %2, %3}, [%4, {%5}];" : "=r"(a), "=r"(b), "=r"(c), "=r"(d) : "l"(t), "r"(n - 1 - i));
	if (i < n)
		out[i] = a;
}
struct link {
	struct link *next;
	int value;
};
extern "C" __attribute__((device)) void *malloc(u64);
extern "C" __attribute__((device)) void free(void *);
KERNEL links(int *out, int length) // a list a thread, from the kernels' own heap
{
	struct link *first = 0;
	int sum = 0;
	for (int k = 0; k < length; k++) {
		struct link *l = (struct link *)malloc(sizeof *l);
		if (!l)
			break;
		l->next = first;
		l->value = k * (TX + 1);
		first = l;
	}
	while (first) {
		struct link *l = first;
		sum += l->value;
		first = l->next;
		free(l);
	}
	out[TX] = sum;
}
KERNEL butterfly(const int *v, int *out)
{
	int s = v[BX * 32 + TX], up = s;
	for (int k = 16; k; k /= 2)
		s += __nvvm_shfl_sync_bfly_i32(ALL, s, k, 31);
	for (int k = 1; k < 32; k *= 2) {
		int other = __nvvm_shfl_sync_up_i32(ALL, up, k, 0);
		if (TX >= k)
			up += other;
	}
	out[BX * 33 + TX] = up;
	if (TX == 0)
		out[BX * 33 + 32] = s;
}
DEVICE __attribute__((noinline)) int twice(int x)
{
	return 2 * x;
}
DEVICE __attribute__((noinline)) int square(int x)
{
	return x * x;
}
DEVICE __attribute__((noinline)) int minus(int x)
{
	return -x;
}
KERNEL pointers(const int *which, int *v, int n)
{
	int (*f[3])(int) = {twice, square, minus};
	int i = BX * NX + TX;
	if (i < n)
		v[i] = f[which[i]](v[i]);
}
KERNEL bytes4(const u32 *a, const u32 *b, u32 *out, int n)
{
	int i = BX * NX + TX;
	u32 dot, sad, funnel;
	if (i >= n)
		return;
	asm("dp4a.u32.u32 %0, %1, %2, %3;" : "=r"(dot) : "r"(a[i]), "r"(b[i]), "r"(i));
	asm("vabsdiff4.u32.u32.u32.add %0, %1, %2, %3;" : "=r"(sad) : "r"(a[i]), "r"(b[i]), "r"(0));
	asm("shf.l.wrap.b32 %0, %1, %2, %3;" : "=r"(funnel) : "r"(a[i]), "r"(b[i]), "r"(i));
	out[3 * i] = dot;
	out[3 * i + 1] = sad;
	out[3 * i + 2] = funnel;
}
KERNEL greatest(const float *v, u32 *most, int n) // of positive floats, by compare and swap
{
	int i = BX * NX + TX;
	if (i >= n)
		return;
	u32 old = *most;
	while (v[i] > __nvvm_bitcast_i2f(old)) {
		u32 was = (u32)__nvvm_atom_cas_gen_i((int *)most, (int)old, __nvvm_bitcast_f2i(v[i]));
		if (was == old)
			break;
		old = was;
	}
}

// ---- functions that call themselves ----
#define APART DEVICE __attribute__((noinline))
struct sum {
	double total;
	float scale;
	char steps;
};
APART u32 ackermann(u32 m, u32 n) { return !m ? n + 1 : !n ? ackermann(m - 1, 1) : ackermann(m - 1, ackermann(m, n - 1)); }
APART int is_odd(int n, const int *of);
APART int is_even(int n, const int *of)
{
	int own[4];
	for (int k = 0; k < 4; k++)
		own[k] = n + k;
	return n ? is_odd(n - 1, own) && own[of[0] & 3] == n + (of[0] & 3) : 1;
}
APART int is_odd(int n, const int *of) { return n ? is_even(n - 1, of) : 0; }
APART void sort_part(int *v, int low, int high)
{
	int i = low, j = high, pivot = v[(low + high) / 2];
	if (low >= high)
		return;
	while (i <= j) {
		while (v[i] < pivot)
			i++;
		while (v[j] > pivot)
			j--;
		if (i <= j) {
			int t = v[i];
			v[i++] = v[j];
			v[j--] = t;
		}
	}
	sort_part(v, low, j);
	sort_part(v, i, high);
}
APART sum sum_up(sum s, int n)
{
	sum next = s;
	next.total += n;
	next.scale *= 1.5f;
	next.steps++;
	if (!n)
		return s;
	sum r = sum_up(next, n - 1);
	r.total += s.total;
	return r;
}
typedef int (*visitor)(int depth, u32 path);
APART int left_of(int depth, u32 path);
APART int right_of(int depth, u32 path);
__attribute__((device)) visitor visitors[2] = {left_of, right_of};
APART int left_of(int depth, u32 path) { return depth ? visitors[path & 1](depth - 1, path >> 1) + 1 : 3; }
APART int right_of(int depth, u32 path) { return depth ? 3 * visitors[path & 1](depth - 1, path >> 1) : 5; }
KERNEL call_ackermann(u32 *out) { out[TX] = ackermann(TX % 3, TX % 5); }
KERNEL call_parity(int *out) { out[TX] = is_even(TX % 24, out) + 2 * is_odd(TX % 7, out); }
KERNEL call_sort(int *v, int n) { sort_part(v + TX * n, 0, n - 1); }
KERNEL call_sum(sum *v) { v[TX] = sum_up(v[TX], TX % 9); }
KERNEL call_visitors(int *out) { out[TX] = visitors[TX & 1](TX % 8, TX * 37); }
