#include "texture_cases.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define LANES 32

static uint32_t load(struct gpu *g, const char *body)
{
	static char text[8192];
	const struct device_info *d = g->ops->info(g);
	struct err e = {0};
	uint32_t id = UINT32_MAX;
	snprintf(text, sizeof text, ".version %d.%d\n.target %s\n.address_size 64\n%s", d->ptx_version / 10,
		 d->ptx_version % 10, d->target, body);
	struct kernel_source src = {.name = "texture", .entry = "k", .text = text};
	struct native_info n;
	if (g->ops->load(g, &src, 1, &id, &n, &e))
		fail_msg("%s", e.text);
	return id;
}

/* Buffer 0 is the output, buffer 1 holds the texels; parameters: output, texture. */
static struct launch shape(uint32_t words, uint64_t bytes)
{
	struct launch l = {.label = "texture", .entry = "k", .grid = {1, 1, 1}, .block = {LANES, 1, 1}};
	l.buffers[0] = (struct launch_buffer){.bytes = words * 4ull, .output = true, .output_words = words};
	l.buffers[1] = (struct launch_buffer){.bytes = bytes, .align = 512};
	l.buffer_count = 2;
	l.args[0] = (struct launch_arg){.kind = ARG_BUFFER};
	l.args[1] = (struct launch_arg){.kind = ARG_TEXTURE};
	l.arg_count = 2;
	l.textures[0] = (struct launch_texture){.buffer = 1, .channels = 1, .type = TEXEL_F32};
	l.texture_count = 1;
	return l;
}

static void run(struct gpu *g, uint32_t id, const struct launch *l, struct sample *out)
{
	struct err e = {0};
	if (g->ops->run(g, id, l, out, &e))
		fail_msg("%s", e.text);
	if (out->outcome != OUTCOME_OK)
		fail_msg("%s: %s", outcome_name(out->outcome), out->message);
}

/* A ring of indices in linear memory. */
static void chase(struct gpu *g)
{
	enum { COUNT = 50, STEPS = 120 };
	uint64_t ring[COUNT];
	uint32_t at[COUNT + 1];
	uint32_t id = load(
	    g, ".visible .entry k(.param .u64 out, .param .u64 tex)\n{\n"
	       ".reg .b64 o, t;\n.reg .b32 x, n, a, b, c;\n.reg .pred p;\n"
	       "ld.param.u64 o, [out];\nld.param.u64 t, [tex];\nmov.u32 n, %tid.x;\nsetp.ne.u32 p, n, 0;\n@p ret;\n"
	       "mov.u32 x, 0;\nLOOP:\n.pragma \"nounroll\";\n"
	       "tex.1d.v4.u32.s32 {x, a, b, c}, [t, {x}];\nst.global.u32 [o], x;\nadd.u64 o, o, 4;\n"
	       "add.u32 n, n, 1;\nsetp.lt.u32 p, n, 120;\n@p bra LOOP;\nret;\n}\n");
	struct launch l = shape(STEPS, 4096);
	struct sample out;
	for (uint32_t i = 0; i < COUNT; i++)
		ring[i] = i * 37 % COUNT * 64;
	l.block[0] = 1;
	l.buffers[1].ring = ring;
	l.buffers[1].ring_count = COUNT;
	l.buffers[1].ring_word = 4;
	l.buffers[1].ring_unit = 4;
	l.textures[0] = (struct launch_texture){.buffer = 1, .size = {1024}, .type = TEXEL_U32, .channels = 1};
	l.repeats = 2;
	run(g, id, &l, &out);
	for (uint32_t i = 0; i <= COUNT; i++)
		at[i] = (uint32_t)(ring[i % COUNT] / 4);
	for (uint32_t i = 0; i < 2 * STEPS; i++)
		assert_int_equal(out.words[i], at[(i % STEPS + 1) % COUNT]);
	sample_free(&out);
}

static const char surface[] =
    ".visible .entry k(.param .u64 out, .param .u64 tex)\n{\n.reg .b64 o, t, w;\n.reg .b32 n, i;\n"
    ".reg .f32 x, y, z, a, b, c, d;\n"
    "ld.param.u64 o, [out];\nld.param.u64 t, [tex];\nmov.u32 n, %%tid.x;\nmul.wide.u32 w, n, 16;\nadd.u64 o, o, w;\n"
    "cvt.rn.f32.u32 x, n;\nmul.f32 x, x, 0f3EC00000;\nadd.f32 x, x, 0f3F000000;\n"		     /* 0.375 n + 0.5 */
    "and.b32 i, n, 7;\ncvt.rn.f32.u32 y, i;\nmul.f32 y, y, 0f3F200000;\nadd.f32 y, y, 0f3F000000;\n" /* 0.625 i + 0.5 */
    "and.b32 i, n, 3;\ncvt.rn.f32.u32 z, i;\nmul.f32 z, z, 0f3F400000;\nadd.f32 z, z, 0f3F000000;\n" /* 0.75 i + 0.5 */
    "tex.%s.v4.f32.f32 {a, b, c, d}, [t, {%s}];\nst.global.v4.f32 [o], {a, b, c, d};\nret;\n}\n";

/* Texels whose value is linear in their place: the filter gives the value of the place between them, exactly. */
static void slope(struct gpu *g, unsigned dimensions, enum texture_place place)
{
	static const char *const geometry[] = {"1d", "2d", "3d"}, *const list[] = {"x", "x, y", "x, y, z, z"};
	char text[2048];
	float texels[16 * 8 * 4][2];
	struct launch l = shape(LANES * 4, sizeof texels);
	struct launch_texture *t = &l.textures[0];
	struct sample out;
	snprintf(text, sizeof text, surface, geometry[dimensions - 1], list[dimensions - 1]);
	uint32_t id = load(g, text);
	for (uint32_t i = 0; i < 16 * 8 * 4; i++) {
		texels[i][0] = (float)(4 * (i % 16) + 128 * (i / 16 % 8) + 2048 * (i / 128));
		texels[i][1] = -texels[i][0];
	}
	l.buffers[1].init = texels;
	l.buffers[1].init_bytes = sizeof texels;
	*t = (struct launch_texture){
	    .buffer = 1, .place = place, .size = {16, 8, 4}, .type = TEXEL_F32, .channels = 2, .linear = true};
	for (unsigned k = dimensions; k < 3; k++)
		t->size[k] = 0;
	l.repeats = 2;
	run(g, id, &l, &out);
	for (uint32_t i = 0; i < LANES; i++) {
		double x = 0.375 * i, y = 0.625 * (i & 7), z = 0.75 * (i & 3);
		double want = 4 * fmin(x, 15) + (dimensions > 1 ? 128 * y : 0) + (dimensions > 2 ? 2048 * z : 0);
		float got[2];
		memcpy(got, &out.words[4 * i], sizeof got);
		if ((double)got[0] != want || (double)got[1] != -want)
			fail_msg("%uD, lane %u: %g and %g, not %g", dimensions, i, (double)got[0], (double)got[1],
				 want);
	}
	sample_free(&out);
}

/* Bytes read as numbers from 0 to 1; coordinates from 0 to 1, repeated. */
static void normalized(struct gpu *g)
{
	uint8_t texels[32 * 8];
	char text[2048];
	struct launch l = shape(LANES * 4, sizeof texels);
	struct sample out;
	snprintf(text, sizeof text, surface, "2d", "x, y");
	uint32_t id = load(g, text);
	for (uint32_t i = 0; i < sizeof texels; i++)
		texels[i] = (uint8_t)(i * 29);
	l.buffers[1].init = texels;
	l.buffers[1].init_bytes = sizeof texels;
	l.textures[0] = (struct launch_texture){.buffer = 1,
						.place = TEXTURE_ARRAY,
						.size = {32, 8},
						.type = TEXEL_U8,
						.channels = 1,
						.normalized_values = true,
						.normalized_coords = true,
						.address = {TEXTURE_WRAP, TEXTURE_MIRROR}};
	run(g, id, &l, &out);
	for (uint32_t i = 0; i < LANES; i++) {
		double x = fmod(0.375 * i + 0.5, 1) * 32, y = fmod(0.625 * (i & 7) + 0.5, 2) * 8;
		uint32_t row = (uint32_t)y < 8 ? (uint32_t)y : 15 - (uint32_t)y;
		float got;
		memcpy(&got, &out.words[4 * i], sizeof got);
		double want = texels[row * 32 + (uint32_t)x] / 255.0;
		if (fabs((double)got - want) > 1e-6)
			fail_msg("lane %u: %g, not %g", i, (double)got, want);
	}
	sample_free(&out);
}

static void refusals(struct gpu *g)
{
	static const struct {
		struct launch_texture t;
		const char *says;
	} bad[] = {
	    {{.buffer = 2, .size = {8}, .channels = 1}, "on a buffer that is not there"},
	    {{.buffer = 0, .size = {8}, .channels = 1}, "on the output"},
	    {{.buffer = 1, .size = {8}, .channels = 3}, "channels"},
	    {{.buffer = 1, .size = {0}, .channels = 1}, "no width"},
	    {{.buffer = 1, .size = {4097}, .channels = 1}, "larger than its buffer"},
	    {{.buffer = 1, .size = {UINT32_MAX, UINT32_MAX, UINT32_MAX}, .channels = 4}, "larger than memory"},
	    {{.buffer = 1, .size = {8}, .channels = 1, .type = TEXEL_U32, .linear = true}, "cannot be filtered"},
	    {{.buffer = 1, .size = {8}, .channels = 1, .type = TEXEL_F32, .linear = true}, "in place in one dimension"},
	    {{.buffer = 1, .size = {3, 3}, .channels = 1}, "multiple of 32 bytes"},
	    {{.buffer = 1, .size = {8, 8, 8}, .channels = 1}, "three dimensions"},
	    {{.buffer = 1, .size = {8}, .channels = 1, .type = TEXEL_S32, .normalized_values = true}, "normalized"},
	};
	char text[2048];
	struct sample out = {0};
	struct err e = {0};
	snprintf(text, sizeof text, surface, "1d", "x");
	uint32_t id = load(g, text);
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		struct launch l = shape(LANES * 4, 4096);
		l.textures[0] = bad[i].t;
		assert_int_not_equal(g->ops->run(g, id, &l, &out, &e), 0);
		if (!strstr(e.text, bad[i].says))
			fail_msg("'%s' does not say '%s'", e.text, bad[i].says);
	}
	struct launch l = shape(LANES * 4, 4096);
	l.textures[0].size[0] = 8;
	l.args[1].buffer = 1;
	assert_int_not_equal(g->ops->run(g, id, &l, &out, &e), 0);
	assert_non_null(strstr(e.text, "names texture 1 of 1"));
}

void texture_cases(struct gpu *g)
{
	chase(g);
	slope(g, 1, TEXTURE_ARRAY);
	slope(g, 2, TEXTURE_ARRAY);
	slope(g, 3, TEXTURE_ARRAY);
	slope(g, 2, TEXTURE_IN_PLACE);
	normalized(g);
	refusals(g);
}
