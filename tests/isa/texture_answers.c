/* Texture fetches of every dimension, filter, address mode and kind of texel at random places, on a device:
 *   texture_answers DEVICE FILE           writes down what it answered
 *   texture_answers DEVICE FILE --compare compares, and says for each case how far it is off
 * The file beside this was written by an H200; the test compares the simulator with it. Texels that are not filtered are the same bit for
 * bit. Those that are differ by what the hardware rounds. */
#include "base/arena.h"
#include "base/rng.h"
#include "base/str.h"
#include "gpu/gpu.h"
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { THREADS = 64, WORDS = 4 * THREADS, CASES_MOST = 200, TEXELS_MOST = 16 * 8 * 4 };
#define SEED  20261122
#define MAGIC "fathom textures 1"
/* How far a filtered value between -1 and 1 may be off, by the number of dimensions. The hardware keeps a weight of
 * several fractions to fewer bits than their product has. It keeps half-precision sums as half-precision numbers. The
 * H200 was off by 0.00024, 0.0065 and 0.0097 at most. */
static const double filtered_off[] = {0, 1.0 / 2048, 1.0 / 128, 1.0 / 64};

struct texture_case {
	unsigned dimensions;
	enum texture_place place;
	enum texel_type type;
	unsigned channels;
	bool linear, normalized_values, normalized_coords;
	enum texture_address address;
};

static const char *const types[] = {"u8", "u16", "u32", "s8", "s16", "s32", "f16", "f32"};
static const char *const addresses[] = {"clamp", "wrap", "mirror", "border"};

static bool is_float(const struct texture_case *c)
{
	return c->normalized_values || c->type == TEXEL_F16 || c->type == TEXEL_F32;
}

static size_t list(struct texture_case *out)
{
	static const struct {
		enum texel_type type;
		unsigned channels;
		bool normalized;
	} kinds[] = {{TEXEL_F32, 1, false}, {TEXEL_F32, 4, false}, {TEXEL_F16, 2, false}, {TEXEL_U8, 4, true},
		     {TEXEL_S8, 1, true},   {TEXEL_U16, 1, true},  {TEXEL_S16, 2, true},  {TEXEL_U8, 1, false},
		     {TEXEL_S16, 4, false}, {TEXEL_U32, 1, false}, {TEXEL_S32, 2, false}};
	size_t n = 0;
	for (unsigned dimensions = 1; dimensions <= 3; dimensions++)
		for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
			for (unsigned linear = 0; linear < 2; linear++)
				for (unsigned normal = 0; normal < 2; normal++) {
					struct texture_case c = {.dimensions = dimensions,
								 .place = TEXTURE_ARRAY,
								 .type = kinds[k].type,
								 .channels = kinds[k].channels,
								 .linear = linear,
								 .normalized_values = kinds[k].normalized,
								 .normalized_coords = normal};
					if (linear && !is_float(&c))
						continue;
					/* every mode for some, and one for each of the others */
					c.address = normal ? (enum texture_address)(1 + (k + dimensions) % 3)
						    : (k + linear) % 2 ? TEXTURE_CLAMP
								       : TEXTURE_BORDER;
					out[n++] = c;
				}
	return n;
}

static void describe(const struct texture_case *c, char *out, size_t n)
{
	snprintf(out, n, "%uD %s x%u%s %s %s %s", c->dimensions, types[c->type], c->channels,
		 c->normalized_values ? " normalized" : "", c->linear ? "filtered" : "nearest",
		 c->normalized_coords ? "0 to 1" : "in texels", addresses[c->address]);
}

/* Coordinates inside and outside, among them edges and middles of texels and every 256th of one. */
static void places(struct rng *r, const struct texture_case *c, const uint32_t *size, float *xyz)
{
	for (unsigned i = 0; i < 4 * THREADS; i++) {
		const uint32_t width = i % 4 < c->dimensions ? size[i % 4] : 1;
		double at = (rng_unit(r) * 3 - 1) * width;
		switch (rng_below(r, 4)) {
		case 0:
			at = floor(at);
			break;
		case 1:
			at = floor(2 * at) / 2;
			break;
		case 2:
			at = floor(256 * at) / 256;
			break;
		default:
			break;
		}
		xyz[i] = (float)(c->normalized_coords ? at / width : at);
	}
}

/* Whatever bits, but floats that are numbers of a moderate size. */
static void fill(struct rng *r, const struct texture_case *c, void *texels, size_t bytes)
{
	for (size_t i = 0; i < bytes; i++)
		((uint8_t *)texels)[i] = (uint8_t)rng_next(r);
	for (size_t i = 0; c->type == TEXEL_F32 && i < bytes / 4; i++)
		((float *)texels)[i] = (float)(rng_unit(r) * 2 - 1);
	for (size_t i = 0; c->type == TEXEL_F16 && i < bytes / 2; i++) /* 0.5 to 1, of both signs */
		((uint16_t *)texels)[i] = (uint16_t)(0x3800 | (rng_next(r) & 0x83ff));
}

static int run_case(struct gpu *g, const struct texture_case *c, uint32_t *words, struct err *e)
{
	static const char *const coordinates[] = {"%x", "%x, %y", "%x, %y, %z, %z"};
	static uint32_t texels[TEXELS_MOST * 4];
	const struct device_info *d = g->ops->info(g);
	const uint32_t size[3] = {16, c->dimensions > 1 ? 8 : 1, c->dimensions > 2 ? 4 : 1};
	const size_t bytes = (size_t)size[0] * size[1] * size[2] * c->channels * texel_bytes(c->type);
	const char *kind = is_float(c)								 ? "f32"
			   : c->type == TEXEL_S8 || c->type == TEXEL_S16 || c->type == TEXEL_S32 ? "s32"
												 : "u32";
	float xyz[4 * THREADS];
	char text[2048];
	struct rng r;
	char name[96];

	describe(c, name, sizeof name);
	rng_seed(&r, SEED ^ hash64(name, strlen(name), 1));
	fill(&r, c, texels, bytes);
	places(&r, c, size, xyz);
	snprintf(text, sizeof text,
		 ".version %d.%d\n.target %s\n.address_size 64\n"
		 ".visible .entry k(.param .u64 out, .param .u64 tex, .param .u64 at)\n{\n"
		 "	.reg .b64 %%o, %%t, %%p, %%w;\n	.reg .b32 %%i;\n	.reg .f32 %%x, %%y, %%z, %%u;\n"
		 "	.reg .b32 %%a, %%b, %%c, %%d;\n"
		 "	ld.param.u64 %%o, [out];\n	ld.param.u64 %%t, [tex];\n	ld.param.u64 %%p, [at];\n"
		 "	mov.u32 %%i, %%tid.x;\n	mul.wide.u32 %%w, %%i, 16;\n	add.u64 %%o, %%o, %%w;\n"
		 "	add.u64 %%p, %%p, %%w;\n	ld.global.v4.f32 {%%x, %%y, %%z, %%u}, [%%p];\n"
		 "	tex.%ud.v4.%s.f32 {%%a, %%b, %%c, %%d}, [%%t, {%s}];\n"
		 "	st.global.v4.b32 [%%o], {%%a, %%b, %%c, %%d};\n	ret;\n}\n",
		 d->ptx_version / 10, d->ptx_version % 10, d->target, c->dimensions, kind,
		 coordinates[c->dimensions - 1]);
	struct kernel_source src = {.name = name, .entry = "k", .text = text};
	struct native_info native;
	uint32_t id;
	int rc = g->ops->load(g, &src, 1, &id, &native, e);
	if (rc)
		return rc;
	struct launch l = {.entry = "k",
			   .grid = {1, 1, 1},
			   .block = {THREADS, 1, 1},
			   .buffer_count = 3,
			   .arg_count = 3,
			   .texture_count = 1};
	snprintf(l.label, sizeof l.label, "%s", name);
	l.buffers[0] = (struct launch_buffer){.bytes = WORDS * 4, .output = true, .output_words = WORDS};
	l.buffers[1] =
	    (struct launch_buffer){.bytes = bytes, .align = 512, .init = texels, .init_bytes = (uint32_t)bytes};
	l.buffers[2] = (struct launch_buffer){.bytes = sizeof xyz, .init = xyz, .init_bytes = sizeof xyz};
	l.args[0] = (struct launch_arg){.kind = ARG_BUFFER};
	l.args[1] = (struct launch_arg){.kind = ARG_TEXTURE};
	l.args[2] = (struct launch_arg){.kind = ARG_BUFFER, .buffer = 2};
	l.textures[0] =
	    (struct launch_texture){.buffer = 1,
				    .place = c->place,
				    .size = {size[0], c->dimensions > 1 ? size[1] : 0, c->dimensions > 2 ? size[2] : 0},
				    .type = c->type,
				    .channels = c->channels,
				    .normalized_values = c->normalized_values,
				    .normalized_coords = c->normalized_coords,
				    .linear = c->linear,
				    .address = {c->address, c->address, c->address}};
	struct sample out = {0};
	rc = g->ops->run(g, id, &l, &out, e);
	if (!rc && (out.outcome != OUTCOME_OK || out.words_per_repeat != WORDS))
		rc = err_set(e, -1, "%s: %s", name, out.message);
	if (!rc)
		memcpy(words, out.words, WORDS * 4);
	sample_free(&out);
	return rc;
}

static double value_of(uint32_t bits)
{
	float f;
	memcpy(&f, &bits, sizeof f);
	return (double)f;
}

/* Words that are wrong; *most: how far the worst of the filtered ones is off. */
static unsigned compare(const struct texture_case *c, const uint32_t *got, const uint32_t *want, double *most)
{
	unsigned wrong = 0;
	*most = 0;
	for (unsigned i = 0; i < WORDS; i++) {
		if (i % 4 >= c->channels)
			continue; /* what is missing is not part of the model */
		const double off = is_float(c) ? fabs(value_of(got[i]) - value_of(want[i])) : (got[i] != want[i]);
		*most = fmax(*most, off);
		wrong += c->linear ? !(off <= filtered_off[c->dimensions]) : got[i] != want[i];
	}
	return wrong;
}

int main(int argc, char **argv)
{
	static struct texture_case cases[CASES_MOST];
	const size_t n = list(cases);
	const bool compares = argc == 4 && strcmp(argv[3], "--compare") == 0;
	struct err e = {0};
	struct gpu *g;
	unsigned wrong = 0;

	if (argc != 3 && !compares)
		return fprintf(stderr, "usage: texture_answers DEVICE FILE [--compare]\n"), 2;
	if (gpu_open(&g, argv[1], 1, false, &e))
		return fprintf(stderr, "%s\n", e.text), 3;
	FILE *f = fopen(argv[2], compares ? "rb" : "wb");
	if (!f)
		return perror(argv[2]), 3;
	char head[200] = "";
	if (compares && (!fgets(head, sizeof head, f) || strncmp(head, MAGIC, strlen(MAGIC)) != 0))
		return fprintf(stderr, "%s holds no answers\n", argv[2]), 3;
	if (!compares)
		fprintf(f, MAGIC " %zu cases, on %s, %s\n", n, g->ops->info(g)->name, g->ops->info(g)->driver);
	for (size_t i = 0; i < n; i++) {
		uint32_t words[WORDS] = {0}, want[WORDS];
		char name[96];
		double most;
		describe(&cases[i], name, sizeof name);
		if (run_case(g, &cases[i], words, &e))
			return fprintf(stderr, "%s: %s\n", name, e.text), 1;
		if (!compares) {
			fwrite(words, sizeof words, 1, f);
			continue;
		}
		if (fread(want, sizeof want, 1, f) != 1)
			return fprintf(stderr, "%s ends at %s\n", argv[2], name), 1;
		const unsigned bad = compare(&cases[i], words, want, &most);
		wrong += bad;
		if (bad || cases[i].linear)
			printf("%-60s %3u wrong, at most %.3g off\n", name, bad, most);
	}
	printf("%zu cases, %u words wrong\n", n, wrong);
	if (fclose(f))
		return perror(argv[2]), 3;
	g->ops->close(g);
	return wrong > 0;
}
