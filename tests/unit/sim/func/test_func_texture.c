/* Texture reads against a reference that works in another order. It walks over all texels of the texture, and over the
 * images of it that wrapping makes. It sums what each texel counts for, by its distance from the coordinate. */
#include "base/rng.h"
#include "base/str.h"
#include "func_fixture.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#define LANES 32

static const char head[] = ".version 8.0\n.target sm_70\n.address_size 64\n.global .texref n;\n"
			   ".entry k(.param .u64 out, .param .u64 in, .param .u64 tex)\n{\n"
			   ".reg .u64 %o, %i, %t, %w;\n.reg .b32 %l, %a, %b, %c, %d, %x, %y, %z;\n.reg .pred %p;\n"
			   "ld.param.u64 %o, [out];\nld.param.u64 %i, [in];\nld.param.u64 %t, [tex];\nmov.u32 %l, "
			   "%tid.x;\nmul.wide.u32 %w, %l, 16;\nadd.u64 %o, %o, %w;\nadd.u64 %i, %i, %w;\n"
			   "ld.global.b32 %x, [%i];\nld.global.b32 %y, [%i + 4];\nld.global.b32 %z, [%i + 8];\n"
			   "ld.global.b32 %d, [%i + 12];\nsetp.ne.u32 %p, %d, 0;\nmov.b32 %a, 0xa5a5a5a5;\nmov.b32 %b, "
			   "%a;\nmov.b32 %c, %a;\nmov.b32 %d, %a;\n@%p ";
static const char tail[] = "\nst.global.v4.b32 [%o], {%a, %b, %c, %d};\nret;\n}\n";

struct bench {
	struct func_fixture f;
	struct func_region *texels;
	struct func_texture t, sampler;
	uint64_t bound; /* to n */
	float x[LANES][3];
	int32_t n[LANES][3];
	uint32_t active;
	uint32_t out[LANES][4];
};
#define TEXELS_AT 0x30000000ull

static void open_bench(struct bench *b)
{
	memset(b, 0, sizeof *b);
	fixture_open(&b->f);
	assert_int_equal(func_memory_add(&b->f.memory, TEXELS_AT, 1 << 16, &b->texels), 0);
	b->f.out = &b->f.memory.region[0];
	b->f.in = &b->f.memory.region[1];
	b->texels = &b->f.memory.region[2];
	b->active = UINT32_MAX;
}

static void load(struct bench *b, const char *line)
{
	struct str text;
	str_init(&text);
	str_add(&text, head);
	str_add(&text, line);
	str_add(&text, tail);
	if (fixture_load(&b->f, text.data, 70))
		fail_msg("%s", b->f.e.text);
	str_free(&text);
}

static int start(struct bench *b, bool floats, struct func_outcome *end, uint64_t handle)
{
	uint64_t params[3] = {FIXTURE_OUT, FIXTURE_IN, handle};
	const struct func_texture both[2] = {b->t, b->sampler};
	struct func_launch l = {.program = b->f.program,
				.grid = {1, 1, 1},
				.block = {LANES, 1, 1},
				.warp_size = LANES,
				.params = (const uint8_t *)params,
				.memory = &b->f.memory,
				.texture = both,
				.texture_count = b->sampler.dimensions ? 2 : 1,
				.named = &b->bound,
				.named_count = 1};
	for (int k = 0; k < LANES; k++) {
		uint32_t on = b->active >> k & 1;
		memcpy(b->f.in->data + k * 16, floats ? (const void *)b->x[k] : (const void *)b->n[k], 12);
		memcpy(b->f.in->data + k * 16 + 12, &on, 4);
	}
	int r = func_run(&l, &(struct func_how){.limit = 100000}, end);
	memcpy(b->out, b->f.out->data, sizeof b->out);
	return r;
}

static void run(struct bench *b, bool floats)
{
	struct func_outcome end;
	assert_int_equal(start(b, floats, &end, FUNC_TEXTURE_HANDLE), 0);
	if (end.end != FUNC_DONE)
		fail_msg("%s", end.message);
}

/* Channel c of texel (x, y, z) as a number, read where the texture says that it lies. */
static double value_at(const struct bench *b, const int64_t at[3], uint32_t c, uint32_t *bits)
{
	const struct func_texture *t = &b->t;
	uint64_t row = (uint64_t)at[0] * t->texel_bytes, place;
	if (t->tile_bytes) /* tile by tile, the definition written out */
		place = (uint64_t)at[2] * t->slice_pitch +
			((uint64_t)at[1] / t->tile_rows) * t->row_pitch * t->tile_rows +
			(row / t->tile_bytes) * t->tile_bytes * t->tile_rows +
			((uint64_t)at[1] % t->tile_rows) * t->tile_bytes + row % t->tile_bytes;
	else
		place = (uint64_t)at[2] * t->slice_pitch + (uint64_t)at[1] * t->row_pitch + row;
	const uint8_t *p = b->texels->data + place + c * (t->texel_bytes / t->channels);
	uint32_t u = 0, bytes = t->texel_bytes / t->channels;
	memcpy(&u, p, bytes);
	*bits = u;
	if (t->type == PTX_F32) {
		float f;
		memcpy(&f, &u, 4);
		return (double)f;
	}
	int64_t sign = 1ll << (bytes * 8 - 1), v = u;
	if (t->type == PTX_S8 || t->type == PTX_S16 || t->type == PTX_S32) {
		v = (v ^ sign) - sign;
		*bits = (uint32_t)v;
	}
	if (!t->normalized_values)
		return (double)v;
	double unit = t->type == PTX_U8 || t->type == PTX_U16 ? (double)(2 * sign - 1) : (double)(sign - 1);
	return (double)(float)((double)v / unit < -1 ? -1 : (double)v / unit);
}

/* What texel i of an axis of n counts for at coordinate x, over all places where it shows. */
static double share(const struct func_texture *t, unsigned axis, int64_t i, double x)
{
	int64_t n = t->size[axis];
	double sum = 0;
	if (t->normalized_coords)
		x *= (double)n;
	int64_t near = (int64_t)floor(x - (t->linear ? 0.5 : 0));
	const double steps = ldexp(1, t->fraction_bits ? t->fraction_bits : 8);
	double rest = t->linear ? floor((x - 0.5 - (double)near) * steps + 0.5) / steps : 0;
	for (int64_t k = near; k <= near + 1; k++) {
		double weight = k == near ? 1 - rest : rest;
		int64_t period = t->address[axis] == FUNC_TEXTURE_MIRROR ? 2 * n : n, seen = k;
		switch (t->address[axis]) {
		case FUNC_TEXTURE_CLAMP:
			seen = k < 0 ? 0 : k > n - 1 ? n - 1 : k;
			break;
		case FUNC_TEXTURE_BORDER:
			break;
		default:
			while (seen < 0)
				seen += period;
			while (seen >= period)
				seen -= period;
			if (seen >= n)
				seen = period - 1 - seen;
			break;
		}
		if (seen == i)
			sum += weight;
	}
	return sum;
}

static double expected(const struct bench *b, const float x[3], uint32_t c)
{
	const struct func_texture *t = &b->t;
	int64_t at[3];
	double sum = 0;
	uint32_t bits;
	for (at[2] = 0; at[2] < t->size[2]; at[2]++)
		for (at[1] = 0; at[1] < t->size[1]; at[1]++)
			for (at[0] = 0; at[0] < t->size[0]; at[0]++) {
				double weight = 1;
				for (unsigned k = 0; k < t->dimensions && k < 3; k++)
					weight *= share(t, k, at[k], (double)x[k]);
				if (weight > 0)
					sum += weight * value_at(b, at, c, &bits);
			}
	return sum;
}

static void roll(struct bench *b, struct rng *r, unsigned dimensions)
{
	static const uint8_t types[] = {PTX_F32, PTX_U8, PTX_S8, PTX_U16, PTX_S16};
	struct func_texture *t = &b->t;
	uint8_t type = types[rng_below(r, sizeof types)];
	unsigned bytes = type == PTX_F32 ? 4 : type == PTX_U8 || type == PTX_S8 ? 1 : 2;
	*t = (struct func_texture){.base = TEXELS_AT,
				   .dimensions = dimensions,
				   .type = type,
				   .channels = (uint8_t)(1u << rng_below(r, 3)),
				   .normalized_values = type != PTX_F32,
				   .normalized_coords = rng_below(r, 2),
				   .linear = rng_below(r, 2)};
	t->fraction_bits = rng_below(r, 2) ? (uint8_t)(5 + rng_below(r, 6)) : 0;
	t->texel_bytes = (uint8_t)(bytes * t->channels);
	for (unsigned k = 0; k < 3; k++) {
		t->size[k] = k < dimensions ? 1 + (uint32_t)rng_below(r, 12) : 1;
		t->address[k] = (uint8_t)rng_below(r, 4);
		if (!t->normalized_coords && t->address[k] != FUNC_TEXTURE_BORDER)
			t->address[k] = FUNC_TEXTURE_CLAMP;
	}
	t->row_pitch = (uint64_t)t->size[0] * t->texel_bytes;
	uint64_t rows = t->size[1];
	if (rng_below(r, 2)) {
		t->tile_bytes = 16u << rng_below(r, 3);
		t->tile_rows = 1u << rng_below(r, 4);
		t->row_pitch = (t->row_pitch + t->tile_bytes - 1) / t->tile_bytes * t->tile_bytes;
		rows = (rows + t->tile_rows - 1) / t->tile_rows * t->tile_rows;
	}
	t->slice_pitch = t->row_pitch * rows;
	for (size_t k = 0; k < 1 << 16; k++)
		b->texels->data[k] = (uint8_t)rng_next(r);
	for (size_t k = 0; type == PTX_F32 && k < 1 << 14; k++) {
		float f = (float)((double)rng_below(r, 2001) - 1000) / 8;
		memcpy(b->texels->data + 4 * k, &f, 4);
	}
	for (int l = 0; l < LANES; l++)
		for (int k = 0; k < 3; k++) {
			double x = rng_unit(r) * 5 - 2;
			b->x[l][k] = (float)(t->normalized_coords ? x : x * t->size[k]);
			if (rng_below(r, 4) == 0)
				b->x[l][k] = (float)((double)rng_below(r, 9) / 2 - 1);
		}
	b->active = rng_below(r, 4) ? (uint32_t)rng_next(r) | 1 : UINT32_MAX;
}

static void filtered(unsigned dimensions, const char *line)
{
	struct bench b;
	struct rng r;
	rng_seed(&r, dimensions);
	open_bench(&b);
	load(&b, line);
	for (int round = 0; round < 300; round++) {
		roll(&b, &r, dimensions);
		run(&b, true);
		for (int l = 0; l < LANES; l++)
			for (uint32_t c = 0; c < 4; c++) {
				float got;
				memcpy(&got, &b.out[l][c], 4);
				if (!(b.active >> l & 1)) {
					assert_int_equal(b.out[l][c], 0xa5a5a5a5);
					continue;
				}
				double want = c < b.t.channels ? expected(&b, b.x[l], c) : 0;
				if (fabs((double)got - want) > fabs(want) * 0x1p-23 + 1e-12)
					fail_msg("round %d, lane %d, channel %u at %g %g %g: %.9g, not %.9g", round, l,
						 c, (double)b.x[l][0], (double)b.x[l][1], (double)b.x[l][2],
						 (double)got, want);
			}
	}
	fixture_close(&b.f);
}

static void one_dimension(void **state)
{
	(void)state;
	filtered(1, "tex.1d.v4.f32.f32 {%a, %b, %c, %d}, [%t, {%x}];");
}

static void two_dimensions(void **state)
{
	(void)state;
	filtered(2, "tex.2d.v4.f32.f32 {%a, %b, %c, %d}, [%t, {%x, %y}];");
}

static void three_dimensions(void **state)
{
	(void)state;
	filtered(3, "tex.3d.v4.f32.f32 {%a, %b, %c, %d}, [%t, {%x, %y, %z, %z}];");
}

/* Integer coordinates name a texel, whatever the filter and the mode of addresses; bits come back as they are. */
static void whole_texels(void **state)
{
	(void)state;
	static const uint8_t types[] = {PTX_U8, PTX_S8, PTX_U16, PTX_S16, PTX_U32, PTX_S32};
	struct bench b;
	struct rng r;
	rng_seed(&r, 77);
	open_bench(&b);
	load(&b, "tex.2d.v4.u32.s32 {%a, %b, %c, %d}, [%t, {%x, %y}];");
	for (int round = 0; round < 300; round++) {
		struct func_texture *t = &b.t;
		roll(&b, &r, 2);
		t->type = types[rng_below(&r, sizeof types)];
		t->texel_bytes = (uint8_t)(t->channels * ptx_type_bytes((enum ptx_type)t->type));
		t->normalized_values = false;
		t->tile_bytes = 0;
		t->row_pitch = (uint64_t)t->size[0] * t->texel_bytes;
		for (int k = 0; k < 2; k++)
			t->address[k] = rng_below(&r, 2) ? FUNC_TEXTURE_BORDER : FUNC_TEXTURE_CLAMP;
		for (int l = 0; l < LANES; l++)
			for (int k = 0; k < 2; k++)
				b.n[l][k] = rng_below(&r, 8)   ? (int32_t)rng_below(&r, t->size[k] + 4) - 2
					    : rng_below(&r, 2) ? INT32_MIN
							       : INT32_MAX;
		run(&b, false);
		for (int l = 0; l < LANES; l++)
			for (uint32_t c = 0; c < 4 && b.active >> l & 1; c++) {
				int64_t at[3] = {b.n[l][0], b.n[l][1], 0};
				uint32_t want = 0;
				bool in = c < t->channels;
				for (int k = 0; k < 2; k++) {
					in &= at[k] >= 0 && at[k] < t->size[k];
					at[k] = in ? at[k] : 0;
				}
				if (in)
					value_at(&b, at, c, &want);
				assert_int_equal(b.out[l][c], want);
			}
	}
	fixture_close(&b.f);
}

/* Texels of one channel that count from 0 on, read at places from -3 to 8. */
static void open_counted(struct bench *b, uint32_t width, uint32_t height, uint32_t layers)
{
	open_bench(b);
	b->t = (struct func_texture){.base = TEXELS_AT,
				     .dimensions = 2,
				     .size = {width, height, layers ? layers : 1},
				     .layered = layers,
				     .type = PTX_F32,
				     .channels = 1,
				     .texel_bytes = 4,
				     .row_pitch = width * 4ull,
				     .slice_pitch = width * height * 4ull};
	for (uint32_t k = 0; k < width * height * (layers ? layers : 1); k++) {
		const float f = (float)k;
		memcpy(b->texels->data + k * 4, &f, 4);
	}
	for (int k = 0; k < LANES; k++)
		for (int n = 0; n < 3; n++)
			b->x[k][n] = (float)(b->n[k][n] = (k * (n + 3) + n) % 12 - 3);
}

static float result(const struct bench *b, int lane, int c)
{
	float f;
	memcpy(&f, &b->out[lane][c], 4);
	return f;
}

static void offsets_and_residency(void **state)
{
	struct bench b;
	(void)state;
	open_counted(&b, 6, 5, 0);
	load(&b, "tex.2d.v4.f32.s32 {%a, %b, %c, %d}|%p, [%t, {%x, %y}], {1, -2};\nselp.b32 %d, 1, 0, %p;");
	run(&b, false);
	for (int l = 0; l < LANES; l++) {
		const int x = b.n[l][0] + 1, y = b.n[l][1] - 2, in = x >= 0 && x < 6 && y >= 0 && y < 5;
		assert_true(result(&b, l, 0) == (float)(in ? 6 * y + x : 0));
		assert_int_equal(b.out[l][3], 1);
	}
	fixture_close(&b.f);
	open_counted(&b, 6, 5, 0);
	b.t.linear = true;
	load(&b, "tex.level.2d.v4.f32.f32 {%a, %b, %c, %d}, [%t, {%x, %y}], %y, {-1, 3};");
	for (int l = 0; l < LANES; l++) {
		b.x[l][0] = 2.75f;
		b.x[l][1] = -0.5f;
	}
	run(&b, true);
	for (int l = 0; l < LANES; l++)
		assert_true(result(&b, l, 0) == 6 * 2 + 1.25f);
	fixture_close(&b.f);
}

static void halves(void **state)
{
	struct bench b;
	(void)state;
	open_counted(&b, 8, 1, 0);
	b.t.channels = 4;
	b.t.texel_bytes = 16;
	b.t.size[0] = 2;
	load(&b, "tex.2d.v2.f16x2.s32 {%a, %b}, [%t, {1, 0}];\n{ .reg .b16 %h<4>; tex.2d.v4.f16.s32 {%h0, %h1, %h2, "
		 "%h3}, [%t, {0, 0}];"
		 "mov.b32 %c, {%h0, %h1}; mov.b32 %d, {%h2, %h3}; }");
	run(&b, false);
	assert_int_equal(b.out[3][0], 0x45004400); /* 4, 5 */
	assert_int_equal(b.out[3][1], 0x47004600);
	assert_int_equal(b.out[3][2], 0x3c000000); /* 0, 1 */
	assert_int_equal(b.out[3][3], 0x42004000);
	fixture_close(&b.f);
}

/* Faces of one texel each. */
static void arrays_of_cubes(void **state)
{
	struct bench b;
	(void)state;
	open_counted(&b, 1, 1, 18);
	b.t.normalized_coords = true;
	load(&b, "mov.b32 %a, 0;\n{ .reg .u32 %w1; and.b32 %w1, %l, 3; tex.acube.v4.f32.f32 {%a, %b, %c, %d}, [%t, "
		 "{%w1, %x, %y, %z}];"
		 "tld4.r.acube.v4.f32.f32 {%x, %b, %c, %d}, [%t, {%w1, %x, %y, %z}]; }");
	for (int l = 0; l < LANES; l++)
		for (int n = 0; n < 3; n++)
			b.x[l][n] = n != l % 3 ? 0.25f : l & 1 ? -2 : 2;
	run(&b, true);
	for (int l = 0; l < LANES; l++) {
		const int cube = (l & 3) < 3 ? l & 3 : 2, face = 6 * cube + 2 * (l % 3) + (l & 1);
		for (int c = 0; c < 4; c++)
			assert_true(result(&b, l, c) == (float)face);
	}
	fixture_close(&b.f);
}

static void gathers_of_layers(void **state)
{
	struct bench b;
	(void)state;
	open_counted(&b, 4, 3, 2);
	load(&b, "tld4.r.a2d.v4.f32.f32 {%a, %b, %c, %d}, [%t, {1, %x, %y, %y}], {1, 0};");
	for (int l = 0; l < LANES; l++)
		b.x[l][0] = b.x[l][1] = 1;
	run(&b, true);
	assert_true(result(&b, 0, 0) == 12 + 5 && result(&b, 0, 1) == 12 + 6 && result(&b, 0, 2) == 12 + 2 &&
		    result(&b, 0, 3) == 12 + 1);
	fixture_close(&b.f);
}

static void samplers_and_samples(void **state)
{
	struct bench b;
	(void)state;
	open_counted(&b, 4, 4, 0);
	b.sampler = b.t;
	b.sampler.normalized_coords = true;
	b.sampler.address[0] = FUNC_TEXTURE_WRAP;
	load(&b, "mov.b32 %a, 0;\n{ .reg .u64 %s; add.u64 %s, %t, 1; tex.2d.v4.f32.f32 {%a, %b, %c, %d}, [%t, %s, "
		 "{1.375, 0.5}];"
		 "tex.base.2dms.v4.f32.s32 {%b, %c, %d, %x}, [%t, {0, 3, 2, 0}]; }");
	run(&b, true);
	assert_true(result(&b, 7, 0) == 4 * 2 + 1);
	assert_true(result(&b, 7, 1) == 4 * 2 + 3);
	fixture_close(&b.f);
}

static void formatted_stores(void **state)
{
	struct bench b;
	uint16_t halves[4];
	(void)state;
	open_counted(&b, 32, 2, 0);
	b.t.type = PTX_F16;
	b.t.channels = 2;
	load(&b, "mov.b32 %a, 0;\n{ .reg .f32 %u; cvt.rn.f32.u32 %u, %l; sust.p.2d.v4.b32.trap [%t, {%l, 1}], {%u, "
		 "0f40200000, %u, %u};"
		 "sust.p.2d.b32.zero [%t, {99, 1}], %u; }");
	run(&b, true);
	memcpy(halves, b.texels->data + (32 + 3) * 4, sizeof halves);
	assert_int_equal(halves[0], 0x4200); /* 3 */
	assert_int_equal(halves[1], 0x4100); /* 2.5 */
	assert_int_equal(halves[2], 0x4400); /* 4 */
	fixture_close(&b.f);
	open_counted(&b, 32, 2, 0);
	b.t.type = PTX_S8;
	b.t.channels = 4;
	load(&b, "sust.p.2d.v4.b32.trap [%t, {%l, 1}], {-129, 127, 128, -5};");
	run(&b, true);
	memcpy(halves, b.texels->data + 32 * 4, sizeof halves);
	assert_int_equal(halves[0], 0x7f80);
	assert_int_equal(halves[1], 0xfb7f);
	fixture_close(&b.f);
}

static void names_of_the_module(void **state)
{
	struct bench b;
	(void)state;
	open_counted(&b, 6, 5, 0);
	load(&b, "tex.2d.v4.f32.s32 {%a, %b, %c, %d}, [n, {2, 3}];\ntxq.width.b32 %b, [n];\nmov.u64 %t, n;\n"
		 "tex.2d.v4.f32.s32 {%c, %x, %y, %z}, [%t, {3, 3}];");
	run(&b, false);
	for (int c = 0; c < 4; c++)
		assert_int_equal(b.out[5][c], 0);
	b.bound = FUNC_TEXTURE_HANDLE;
	run(&b, false);
	assert_true(result(&b, 5, 0) == 20 && b.out[5][1] == 6 && result(&b, 5, 2) == 21);
	fixture_close(&b.f);
}

static void handles_that_are_none(void **state)
{
	(void)state;
	struct bench b;
	struct func_outcome end;
	struct rng r;
	rng_seed(&r, 5);
	open_bench(&b);
	load(&b, "tex.1d.v4.f32.f32 {%a, %b, %c, %d}, [%t, {%x}];");
	roll(&b, &r, 1);
	assert_int_equal(start(&b, true, &end, FUNC_TEXTURE_HANDLE + 1), 0);
	assert_int_equal(end.end, FUNC_FAULT);
	assert_non_null(strstr(end.message, "0x7e00000002 is no handle of a texture"));
	b.t.dimensions = 2;
	assert_int_equal(start(&b, true, &end, FUNC_TEXTURE_HANDLE), 0);
	assert_int_equal(end.end, FUNC_FAULT);
	b.t.dimensions = 1;
	b.t.base = 0x50000000;
	assert_int_equal(start(&b, true, &end, FUNC_TEXTURE_HANDLE), 0);
	assert_int_equal(end.end, FUNC_FAULT);
	assert_non_null(strstr(end.message, "outside global memory"));
	fixture_close(&b.f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(one_dimension),
	    cmocka_unit_test(two_dimensions),
	    cmocka_unit_test(three_dimensions),
	    cmocka_unit_test(whole_texels),
	    cmocka_unit_test(handles_that_are_none),
	    cmocka_unit_test(offsets_and_residency),
	    cmocka_unit_test(halves),
	    cmocka_unit_test(arrays_of_cubes),
	    cmocka_unit_test(gathers_of_layers),
	    cmocka_unit_test(samplers_and_samples),
	    cmocka_unit_test(formatted_stores),
	    cmocka_unit_test(names_of_the_module),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
