/* Arrays, and the textures and surfaces that are bound to them. */
#include "calls.h"

static void *array_of(const void *data, size_t w, size_t h, size_t d, int format, unsigned flags)
{
	const struct shape s = {w, h, d, format, 1, flags};
	void *a = NULL;
	if (!good(cuArray3DCreate_v2(&a, &s)))
		return NULL;
	const struct copy c = {.from_type = HOST,
			       .from_host = data,
			       .from_pitch = 4 * w,
			       .from_height = h,
			       .to_type = ARRAY,
			       .to_array = a,
			       .width = 4 * w,
			       .height = h ? h : 1,
			       .depth = d ? d : 1};
	return !data || good(cuMemcpy3D_v2(&c)) ? a : NULL;
}

static gpu surface_of(void *array)
{
	const struct resource r = {.of.array = array};
	gpu s = 0;
	return array && good(cuSurfObjectCreate(&s, &r)) ? s : 0;
}

static gpu texture_of(void *array, bool filtered)
{
	const struct resource r = {.of.array = array};
	const struct how h = {.address = {1, 1, 1}, .filter = filtered};
	gpu t = 0;
	return array && good(cuTexObjectCreate(&t, &r, &h, NULL)) ? t : 0;
}

static bool surface_turn(void)
{
	enum { W = 24, H = 10 };
	int v[H][W], got[W][H], w = W, h = H;
	for (int y = 0; y < H; y++)
		for (int x = 0; x < W; x++)
			v[y][x] = 100 * y + x;
	void *a = array_of(v, W, H, 0, S32, SURFACES), *b = array_of(NULL, H, W, 0, S32, SURFACES);
	gpu from = surface_of(a), to = surface_of(b);
	if (!from || !to)
		return false;
	go("surface_turn", 3, 2, 8, 8, &from, &to, &w, &h, NULL);
	const struct copy c = {.from_type = ARRAY,
			       .from_array = b,
			       .to_type = HOST,
			       .to_host = got,
			       .to_pitch = 4 * H,
			       .width = 4 * H,
			       .height = W,
			       .depth = 1};
	bool right = good(cuMemcpy3D_v2(&c));
	for (int y = 0; y < H; y++)
		for (int x = 0; x < W; x++)
			right = right && got[x][y] == v[y][x] + 1;
	return right && good(cuSurfObjectDestroy(from)) && good(cuSurfObjectDestroy(to)) && good(cuArrayDestroy(a)) &&
	       good(cuArrayDestroy(b));
}

static bool surface_edges(void)
{
	enum { W = 8 };
	int v[W], got[W + 8][2], w = W;
	for (int x = 0; x < W; x++)
		v[x] = 10 + x;
	gpu s = surface_of(array_of(v, W, 0, 0, S32, SURFACES)), out = to_gpu(NULL, sizeof got);
	if (!s)
		return false;
	go("surface_edges", 1, 1, W + 8, 1, &s, &out, &w, NULL);
	from_gpu(got, out, sizeof got);
	for (int k = 0; k < W + 8; k++) {
		const int x = k - 4, at = x < 0 ? 0 : x >= W ? W - 1 : x;
		if (got[k][0] != (x == at ? v[x] : 0) || got[k][1] != v[at])
			return false;
	}
	return true;
}

/* Between texel centres the filter gives the mean of those around. */
static bool texture_flat(void)
{
	enum { W = 8, T = 12 };
	float v[W][W], got[T][T];
	int w = T;
	for (int y = 0; y < W; y++)
		for (int x = 0; x < W; x++)
			v[y][x] = (float)(x + 16 * y);
	gpu t = texture_of(array_of(v, W, W, 0, F32, 0), true), out = to_gpu(NULL, sizeof got);
	if (!t)
		return false;
	go("texture_flat", 1, 1, T, T, &t, &out, &w, NULL);
	from_gpu(got, out, sizeof got);
	for (int y = 0; y < T; y++)
		for (int x = 0; x < T; x++) {
			const float fx = x ? 0.5f * (float)x - 0.5f : 0, fy = y ? 0.5f * (float)y - 0.5f : 0;
			if (got[y][x] != fx + 16 * fy)
				return false;
		}
	return good(cuTexObjectDestroy(t));
}

static bool texture_layers(void)
{
	enum { W = 4, L = 3 };
	float v[L][W][W], got[L][W][W];
	int w = W;
	for (int k = 0; k < L * W * W; k++)
		v[k / (W * W)][k / W % W][k % W] = (float)(k * k);
	gpu t = texture_of(array_of(v, W, W, L, F32, LAYERED), false), out = to_gpu(NULL, sizeof got);
	if (!t)
		return false;
	go("texture_layers", L, 1, W, W, &t, &out, &w, NULL);
	from_gpu(got, out, sizeof got);
	return !memcmp(v, got, sizeof v);
}

/* The middle of each face, in the order of the layers. */
static bool texture_cube(void)
{
	static const float xyz[6][3] = {{1, 0, 0}, {-1, 0, 0}, {0, 1, 0}, {0, -1, 0}, {0, 0, 1}, {0, 0, -1}};
	float v[6][4], got[6];
	for (int k = 0; k < 24; k++)
		v[k / 4][k % 4] = (float)(k / 4);
	gpu t = texture_of(array_of(v, 2, 2, 6, F32, CUBE), false), at = to_gpu(xyz, sizeof xyz),
	    out = to_gpu(NULL, sizeof got);
	if (!t)
		return false;
	go("texture_cube", 1, 1, 6, 1, &t, &at, &out, NULL);
	from_gpu(got, out, sizeof got);
	for (int k = 0; k < 6; k++)
		if (got[k] != (float)k)
			return false;
	return true;
}

static bool texture_gather(void)
{
	enum { W = 4 };
	float v[W][W], got[2][4];
	for (int k = 0; k < W * W; k++)
		v[k / W][k % W] = (float)k;
	gpu t = texture_of(array_of(v, W, W, 0, F32, 8), false), out = to_gpu(NULL, sizeof got);
	if (!t)
		return false;
	go("texture_gather", 1, 1, 2, 1, &t, &out, NULL);
	from_gpu(got, out, sizeof got);
	for (int x = 0; x < 2; x++)
		if (got[x][0] != v[2][x] || got[x][1] != v[2][x + 1] || got[x][2] != v[1][x + 1] ||
		    got[x][3] != v[1][x])
			return false;
	return true;
}

static bool texture_line(void)
{
	int v[N], got[N];
	for (int i = 0; i < N; i++)
		v[i] = (int)number() - 1000;
	gpu dv = to_gpu(v, sizeof v), out = to_gpu(NULL, sizeof got), t;
	const struct resource r = {.kind = 2, .of.linear = {dv, S32, 1, sizeof v}};
	const struct how h = {.flags = 1};
	if (!good(cuTexObjectCreate(&t, &r, &h, NULL)))
		return false;
	go("texture_line", 2, 1, N / 2, 1, &t, &out, &n, NULL);
	from_gpu(got, out, sizeof got);
	for (int i = 0; i < N; i++)
		if (got[i] != v[N - 1 - i])
			return false;
	return true;
}

/* What a texture is, and sums of a surface's texels, one outside. */
static const char text[] =
    ".version 6.0\n.target sm_60\n.address_size 64\n.visible .entry asks(.param .u64 t, .param .u64 s, .param .u64 "
    "out) {\n"
    "	.reg .b32 %r<12>, %i;\n	.reg .b64 %t, %s, %o;\n	ld.param.u64 %t, [t];\n	ld.param.u64 %s, [s];\n"
    "	ld.param.u64 %o, [out];\n	txq.width.b32 %r0, [%t];\n	txq.height.b32 %r1, [%t];\n"
    "	txq.channel_data_type.b32 %r2, [%t];\n	txq.channel_order.b32 %r3, [%t];\n	suq.width.b32 %r4, [%s];\n"
    "	suq.height.b32 %r5, [%s];\n	txq.filter_mode.b32 %r6, [%t];\n	txq.addr_mode_0.b32 %r7, [%t];\n"
    "	st.global.v4.b32 [%o], {%r0, %r1, %r2, %r3};\n	st.global.v4.b32 [%o+16], {%r4, %r5, %r6, %r7};\n"
    "	mov.u32 %i, %tid.x;\n	mov.u32 %r8, 8;\n	mov.u32 %r9, 1;\n	mov.u32 %r10, 3;\n"
    "	sured.b.add.2d.u32.trap [%s, {%r8, %r9}], %i;\n	sured.b.max.2d.s32.zero [%s, {%r8, %r10}], %i;\n"
    "	sured.p.add.2d.b32.clamp [%s, {%r10, %r10}], %r9;\n	ret;\n}\n";

static bool array_questions(void)
{
	enum { W = 4, H = 3, FLOAT = 0x10de, ONE = 0x10b0, CLAMPED = 3, THREADS = 32 };
	int v[H][W] = {{0}}, got[8], kept[H][W];
	void *a = array_of(v, W, H, 0, S32, SURFACES), *module, *f;
	gpu t = texture_of(array_of(v, W, H, 0, F32, 0), true), s = surface_of(a), out = to_gpu(NULL, sizeof got);
	void *params[] = {&t, &s, &out};
	if (!t || !s || !good(cuModuleLoadData(&module, text)) || !good(cuModuleGetFunction(&f, module, "asks")) ||
	    !good(cuLaunchKernel(f, 1, 1, 1, THREADS, 1, 1, 0, NULL, params, NULL)))
		return false;
	from_gpu(got, out, sizeof got);
	const int want[8] = {W, H, FLOAT, ONE, W, H, 1, CLAMPED};
	const struct copy c = {.from_type = ARRAY,
			       .from_array = a,
			       .to_type = HOST,
			       .to_host = kept,
			       .to_pitch = 4 * W,
			       .width = 4 * W,
			       .height = H,
			       .depth = 1};
	v[1][2] = THREADS * (THREADS - 1) / 2;
	v[2][3] = THREADS;
	return good(cuMemcpy3D_v2(&c)) && !memcmp(got, want, sizeof got) && !memcmp(kept, v, sizeof v);
}

const struct program programs_of_arrays[] = {
    {"surface_turn", surface_turn},	{"surface_edges", surface_edges},     {"texture_flat", texture_flat},
    {"texture_layers", texture_layers}, {"texture_cube", texture_cube},	      {"texture_gather", texture_gather},
    {"texture_line", texture_line},	{"array_questions", array_questions}, {NULL, NULL},
};
