/* What the texture unit does in a cycle, by dimension, format and filter, and how fine its filter is. */
#include "base/arena.h"
#include "base/units.h"
#include "probe/probe.h"
#include "stat/stat.h"
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
	WARP_WORDS = 3,
	WARPS_MOST = 16,
	REGISTERS = 40, /* of a thread, at most */

	SHORT = 1, /* turns */
	LONG = 6,
	REPEATS = 2,
	EXTRA =
	    8, /* instructions more, of a turn, whose absence shows in nothing where the unit is what holds reads up */
	TEXELS = 256, /* in a row of the texture that is read fast */
	THREADS = 256,
	POINTS = 4096, /* places between two texels */
	SHOWN = 512,
	STEPS_SEEN = 11 /* bits of a weight that they tell apart */
};
enum experiment_name { RATE, FILTER };
enum rate_params { RATE_WARPS, RATE_EXTRA, RATE_LONG };
#define ALIKE 0.02 /* rates that differ by less are one */
#define NEAR  0.15 /* by which an estimate may be too low */

/* What is read: texels of so many channels, in so many dimensions. */
static const struct read {
	const char *name;
	unsigned dim;
	enum texel_type type;
	unsigned channels;
	bool linear;
} reads[] = {{"f32_1d", 1, TEXEL_F32, 1, false},	{"f32_2d", 2, TEXEL_F32, 1, false},
	     {"f32_3d", 3, TEXEL_F32, 1, false},	{"f32_2d_linear", 2, TEXEL_F32, 1, true},
	     {"f32_3d_linear", 3, TEXEL_F32, 1, true},	{"u8_2d", 2, TEXEL_U8, 1, false},
	     {"f32x2_2d", 2, TEXEL_F32, 2, false},	{"f32x4_2d", 2, TEXEL_F32, 4, false},
	     {"f32x4_2d_linear", 2, TEXEL_F32, 4, true}};
enum { READS = sizeof reads / sizeof *reads, PLAIN = 1 };

/* Of a turn. */
static unsigned reads_of(const struct read *r)
{
	return r->channels == 1 ? 32 : 16;
}

static uint32_t texture(struct job *j, unsigned dim, enum texel_type type, unsigned channels, bool linear,
			const void *texels, uint64_t bytes)
{
	static const uint32_t size[][3] = {{TEXELS, 0, 0}, {32, 16, 0}, {16, 16, 4}};
	struct launch *l = &j->launch;
	const uint32_t b = l->buffer_count++, n = l->texture_count++;
	uint64_t count = 1;
	for (unsigned k = 0; k < 3; k++)
		count *= size[dim - 1][k] ? size[dim - 1][k] : 1;
	l->buffers[b] = (struct launch_buffer){
	    .bytes = count * channels * texel_bytes(type), .align = 512, .init = texels, .init_bytes = bytes};
	l->textures[n] = (struct launch_texture){.buffer = b,
						 .place = TEXTURE_ARRAY,
						 .size = {size[dim - 1][0], size[dim - 1][1], size[dim - 1][2]},
						 .type = type,
						 .channels = channels,
						 .linear = linear,
						 .normalized_values = type == TEXEL_U8};
	return n;
}

static unsigned warps_of(const struct study *s)
{
	return job_warps(study_device(s), REGISTERS, WARPS_MOST);
}

/* x: which of reads; p: warps, whether there is more arithmetic, turns. */
static int setup_rate(const struct study *s, double x, const double *p, struct job *j)
{
	const struct device_info *d = study_device(s);
	const struct read *r = &reads[(unsigned)x];
	const unsigned warps = (unsigned)p[RATE_WARPS];
	j->template_path = "probes/texture_unit/rate.ptx";
	job_param(j, "DIM", r->dim);
	job_param(j, "N", r->channels);
	job_param(j, "READS", reads_of(r));
	job_param(j, "STEP", r->dim == 1 ? 8 : 16); /* reads that differ in their coordinates */
	job_param(j, "EXTRA", p[RATE_EXTRA] > 0 ? EXTRA : 0);
	job_param(j, "QUAD", 0);
	job_param(j, "WARPLOG", log2_floor(d->warp_size));
	job_param_text(j, "AT", r->linear ? "0f3f800000" : "0f3f000000");
	snprintf(j->launch.entry, sizeof j->launch.entry, "rate");
	j->launch.block[0] = warps * d->warp_size;
	j->launch.block[1] = j->launch.block[2] = 1;
	job_output(j, WARP_WORDS * warps);
	const uint32_t sink = j->launch.buffer_count++;
	j->launch.buffers[sink] = (struct launch_buffer){.bytes = 4ull * j->launch.block[0], .as_is = true};
	job_arg_buffer(j, sink, 0);
	job_arg_texture(j, texture(j, r->dim, r->type, r->channels, r->linear, NULL, 0));
	j->launch.args[j->launch.arg_count++] = (struct launch_arg){.kind = ARG_U64, .bits = 0};
	job_arg_u32(j, (uint32_t)p[RATE_LONG]);
	j->launch.repeats = REPEATS;
	j->check.cls = NATIVE_TEXTURE;
	j->check.region = 0;
	j->check.min = j->check.max = reads_of(r);
	j->check.others = 4 * reads_of(r) + 32;
	return 0;
}

/* x: dimensions; p[0]: filtered; p[1]: many places between the first two texels, else one in the middle between texels. */
static int setup_filter(const struct study *s, double x, const double *p, struct job *j)
{
	enum { ALL = 32 * 32 };
	const bool many = p[1] > 0;
	float *texels = ARENA_ARRAY(j->arena, ALL, float);
	(void)s;
	if (!texels)
		return -ENOMEM;
	for (unsigned i = 0; i < ALL; i++)
		texels[i] = many ? (float)(i & 1) : (float)i;
	j->template_path = "probes/texture_unit/filter.ptx";
	job_param(j, "DIM", (unsigned)x);
	snprintf(j->launch.entry, sizeof j->launch.entry, "filter");
	j->launch.grid[0] = many ? POINTS / THREADS : 1;
	j->launch.block[0] = many ? THREADS : 1;
	job_output(j, many ? POINTS : 1);
	const uint64_t bytes[] = {TEXELS * sizeof(float), 32 * 16 * sizeof(float), ALL * sizeof(float)};
	job_arg_texture(j, texture(j, (unsigned)x, TEXEL_F32, 1, p[0] > 0, texels, bytes[(unsigned)x - 1]));
	const float at[] = {many ? 0.5f : 2, 1.0f / POINTS};
	for (unsigned k = 0; k < 2; k++) {
		uint32_t bits;
		memcpy(&bits, &at[k], sizeof bits);
		j->launch.args[j->launch.arg_count++] = (struct launch_arg){.kind = ARG_F32, .bits = bits};
	}
	return 0;
}

static const struct experiment experiments[] = {
    [RATE] = {.name = "rate",
	      .axis = "what is read",
	      .unit = "number",
	      .params = {"warps", "more arithmetic", "turns"},
	      .setup = setup_rate},
    [FILTER] = {.name = "filter",
		.axis = "dimensions",
		.unit = "count",
		.params = {"filtered", "many places"},
		.setup = setup_filter},
};

/* ---- rates ---- */

/* Cycles of a repeat from the first warp's begin to the last one's end, and turns of all. */
static bool spent(const struct point *pt, uint32_t repeat, double *cycles, double *turns)
{
	const uint32_t *w = pt->y + (size_t)repeat * pt->words_per_repeat;
	const unsigned warps = pt->words_per_repeat / WARP_WORDS;
	int32_t first = INT32_MAX, last = INT32_MIN;
	*turns = 0;
	for (unsigned k = 0; k < warps; k++) {
		const int32_t begin = (int32_t)(w[WARP_WORDS * k] - w[0]),
			      end = (int32_t)(w[WARP_WORDS * k + 1] - w[0]);
		first = begin < first ? begin : first;
		last = end > last ? end : last;
		*turns += w[WARP_WORDS * k + 2];
	}
	*cycles = (double)last - first;
	return last > first;
}

struct rate {
	bool ok;
	double value, lo, hi; /* threads' reads a cycle */
	double least;	      /* the same of whole launches, of which beginning and end are a part */
	const struct point *bad;
};

static struct rate ask_rate(struct study *s, unsigned which, unsigned warps, bool extra)
{
	const double brief[POINT_PARAMS] = {warps, extra, SHORT}, full[POINT_PARAMS] = {warps, extra, LONG};
	const struct point *a = study_ask(s, RATE, which, brief), *b = study_ask(s, RATE, which, full);
	struct rate r = {.lo = INFINITY, .hi = 0, .least = INFINITY};
	double v[REPEATS], scratch[REPEATS];
	unsigned n = 0;
	if (!a || !b || a->outcome != OUTCOME_OK || b->outcome != OUTCOME_OK) {
		r.bad = a && a->outcome != OUTCOME_OK ? a : b;
		return r;
	}
	for (; n < REPEATS && n < a->repeats && n < b->repeats; n++) {
		double cycles[2], turns[2];
		if (!spent(a, n, &cycles[0], &turns[0]) || !spent(b, n, &cycles[1], &turns[1]) ||
		    cycles[1] <= cycles[0] || turns[1] <= turns[0])
			return r;
		const double each = (double)reads_of(&reads[which]) * study_device(s)->warp_size;
		v[n] = (turns[1] - turns[0]) * each / (cycles[1] - cycles[0]);
		r.least = fmin(r.least, turns[1] * each / cycles[1]);
		r.lo = fmin(r.lo, v[n]);
		r.hi = fmax(r.hi, v[n]);
	}
	r.ok = n > 0;
	r.value = n ? stat_median(v, n, scratch) : 0;
	return r;
}

static bool alike(const struct rate *a, const struct rate *b)
{
	return a->lo <= b->hi * (1 + ALIKE) && b->lo <= a->hi * (1 + ALIKE);
}

/* Instructions of a turn that are no reads, about. */
static double beside_of(const struct read *r)
{
	return reads_of(r) * (r->channels == 1 ? 0.5 : r->channels / 2.0) + 10;
}

static void conclude_rate(struct study *s, const char *key, const struct read *r, const struct rate *full,
			  const struct rate *fewer, const struct rate *more)
{
	static const char method[] = "clock cycles of many warps that read texels at hand, two lengths subtracted";
	const bool filled = fewer->ok && alike(full, fewer);
	double lo = fmin(full->lo, fewer->lo), hi = fmax(full->hi, fewer->hi);
	/* What all other instructions beside the reads may cost, if those that were added cost as much each. */
	const double gap = more->ok ? fmax(0, full->value - more->value) * beside_of(r) / EXTRA : INFINITY;
	if (!full->ok)
		study_verdict(s, key, full->bad ? VERDICT_UNSUPPORTED : VERDICT_INCONCLUSIVE, "rate", "%s",
			      full->bad ? point_why(full->bad) : "longer launches do not take longer");
	else if (!filled || gap > NEAR * full->value)
		study_bound(s, key, full->least, INFINITY, method, "rate", "%s",
			    !filled ? "three quarters of the warps do not come as far: more might come farther"
				    : "more arithmetic beside slows the reads: the unit may not be what holds them up");
	else if (gap > ALIKE * full->value || full->hi > (1 + 2 * ALIKE) * full->lo ||
		 full->least < (1 - 3 * ALIKE) * full->value)
		study_likely_number(
		    s, key, full->value, full->lo - gap, full->hi + gap, "sm", method, "rate",
		    "%.0f %% may be what the SM issues beside the reads, and launches alike differ by %.0f %%",
		    100 * gap / full->value, 100 * (full->hi / full->lo - 1));
	else {
		stat_widen(full->value, ALIKE, &lo, &hi);
		study_measured_number(
		    s, key, full->value, lo, hi + gap, "sm", method, "rate",
		    "three quarters of the warps come as far, and so do all with more arithmetic beside");
	}
}

static void study_rates(struct study *s)
{
	const unsigned warps = warps_of(s);
	for (unsigned k = 0; k < READS; k++) {
		const struct rate full = ask_rate(s, k, warps, false), fewer = ask_rate(s, k, warps * 3 / 4, false),
				  more = ask_rate(s, k, warps, true);
		char key[64];
		if (study_pending(s))
			continue;
		snprintf(key, sizeof key, "texture.%s.rate", reads[k].name);
		conclude_rate(s, key, &reads[k], &full, &fewer, &more);
		if (k == PLAIN)
			conclude_rate(s, "texture.rate", &reads[k], &full, &fewer, &more);
	}
}

/* ---- the filter ---- */

static float float_of(uint32_t bits)
{
	float v;
	memcpy(&v, &bits, sizeof v);
	return v;
}

/* The fewest bits of which all weights are multiples; STEPS_SEEN + 1: more than that. levels: how many weights there were. */
static unsigned bits_of(const struct point *pt, unsigned *levels, bool *rises)
{
	unsigned bits = 0;
	*levels = 1;
	*rises = true;
	for (unsigned k = 0; k < POINTS; k++) {
		const double v = float_of(pt->y[k]), last = k ? float_of(pt->y[k - 1]) : v;
		while (bits <= STEPS_SEEN && ldexp(v, (int)bits) != floor(ldexp(v, (int)bits)))
			bits++;
		*levels += v != last;
		*rises = *rises && v >= last && v >= 0 && v <= 1;
	}
	return bits;
}

static void study_bits(struct study *s)
{
	static const char key[] = "texture.filter.fraction_bits", method[] = "values between two texels";
	const double p[POINT_PARAMS] = {1, 1};
	const struct point *pt = study_ask(s, FILTER, 1, p);
	unsigned levels = 0, bits;
	bool rises;
	if (study_pending(s))
		return;
	if (!pt || pt->outcome != OUTCOME_OK) {
		study_verdict(s, key, VERDICT_UNSUPPORTED, "filter", "%s", point_why(pt));
		return;
	}
	bits = bits_of(pt, &levels, &rises);
	if (!rises || !bits)
		study_verdict(s, key, VERDICT_INCONCLUSIVE, "filter", "values between 0 and 1 do not rise in steps");
	else if (bits > STEPS_SEEN)
		study_bound(s, key, bits, INFINITY, method, "filter",
			    "%d places between two texels have no common step", POINTS);
	else if (levels >= 1u << bits)
		study_measured_number(s, key, bits, bits, bits, "card", method, "filter",
				      "%u values at %d places, all multiples of 1/%u", levels, POINTS, 1u << bits);
	else
		study_verdict(s, key, VERDICT_INCONCLUSIVE, "filter", "%u values where %u bits would have more", levels,
			      bits);
}

/* In the middle of 2, 4 or 8 texels whose values are their numbers; without a filter the last of them. */
static double right_value(unsigned dim, bool linear)
{
	static const unsigned row = 32, rows[] = {0, 0, 32, 16}, slice = 256;
	(void)row;
	const double each = 1 + (dim > 1 ? rows[dim == 2 ? 2 : 3] : 0) + (dim > 2 ? slice : 0);
	return (linear ? 1.5 : 2) * each;
}

static void study_modes(struct study *s)
{
	static const char key[] = "texture.filter.modes";
	unsigned good[2] = {0, 0};
	const struct point *bad = NULL;
	for (unsigned linear = 0; linear < 2; linear++)
		for (unsigned dim = 1; dim <= 3; dim++) {
			const double p[POINT_PARAMS] = {linear};
			const struct point *pt = study_ask(s, FILTER, dim, p);
			if (!pt || pt->outcome != OUTCOME_OK)
				bad = pt;
			else
				good[linear] += float_of(pt->y[0]) == (float)right_value(dim, linear);
		}
	if (study_pending(s))
		return;
	if (bad)
		study_verdict(s, key, VERDICT_UNSUPPORTED, "filter", "%s", point_why(bad));
	else if (good[0] == 3 && (good[1] == 3 || good[1] == 0))
		study_text(s, key, good[1] ? "point,linear" : "point", "one place in one, two and three dimensions",
			   "filter", "the texel that is hit, and %s",
			   good[1] ? "the mean of 2, 4 and 8 of them" : "no other");
	else
		study_verdict(s, key, VERDICT_INCONCLUSIVE, "filter",
			      "%u of 3 dimensions give the texel that is hit, and %u the mean of its neighbours",
			      good[0], good[1]);
}

static void study_texture_unit(struct study *s)
{
	study_bits(s);
	study_modes(s);
	study_rates(s);
}

static int draw_texture_unit(const struct study *s, struct figure_list *out)
{
	const struct series *c = study_series(s, FILTER);
	for (size_t i = 0; c && i < c->count; i++) {
		const struct point *pt = &c->points[i];
		enum { EVERY = 4, DRAWN = SHOWN / EVERY };
		double x[DRAWN], y[DRAWN];
		if (pt->outcome != OUTCOME_OK || pt->p[1] <= 0 || pt->words_per_repeat < POINTS)
			continue;
		for (unsigned k = 0; k < DRAWN; k++) {
			x[k] = (double)(k * EVERY) / POINTS;
			y[k] = float_of(pt->y[k * EVERY]) - x[k];
		}
		struct figure *f = figures_new(out, "texture-weights", "Linear filter: steps of the weight");
		if (!f)
			return -1;
		f->x = (struct figure_axis){.label = "place between two texels", .unit = "ratio"};
		f->y = (struct figure_axis){.label = "weight less the place", .unit = "ratio"};
		return figure_add(f, "the weight's error", MARK_LINE, x, y, NULL, DRAWN);
	}
	return 0;
}

static const char *const claims[] = {"texture.*", NULL};

const struct probe probe_texture_unit = {
    .name = "texture_unit",
    .asks =
	"How many texels does the texture unit read in a cycle, of which dimension, format and filter, and how fine "
	"is the filter?",
    .source = "Nickolls and Kirk, B.6 and B.7; here rates are those of warps that read texels at hand",
    .how = "Many warps of one SM read the same few texels, over and over, for the same time. Two "
	   "lengths are subtracted. Three quarters of the warps and more arithmetic beside the reads show whether the "
	   "unit is what "
	   "holds them up. Places between two texels, one 0 and one 1, show the filter's weights themselves.",
    .fooled =
	"A scheduler that prefers some warps: all stop at one time. Reads that a compiler takes out of the "
	"loop, or channels that nobody uses: the handle changes in a way only the host knows, all channels count, and "
	"the native code is read. An SM that cannot issue as fast: then the rate is a bound.",
    .figure = "texture-weights",
    .claims = claims,
    .experiments = experiments,
    .experiment_count = sizeof experiments / sizeof *experiments,
    .study = study_texture_unit,
    .draw = draw_texture_unit,
};
