/* Texture reads: coordinates to texels, texels to values, and a filter between them.
 *
 * A coordinate becomes one texel, or under the linear filter two of them and a fraction. The fraction has one value
 * more than its bits have, so that 1 is one of them. The sum over the 2, 4 or 8 texels is exact but for one rounding at
 * its end. */
#include "exec.h"
#include "gpu/sim/func/func_lanes.h"
#include <math.h>
#include <string.h>

#define OUTSIDE	      (-1)
#define FRACTION_BITS 8

static uint32_t one_of(const struct func_texture *t)
{
	return 1u << (t->fraction_bits ? t->fraction_bits : FRACTION_BITS);
}

struct axis { /* one coordinate: texels and what the second of them counts for */
	int64_t index[2];
	uint32_t second; /* of one_of() */
};

static int64_t wrap(int64_t i, int64_t n)
{
	int64_t rest = i % n;
	return rest < 0 ? rest + n : rest;
}

static int64_t inside(const struct func_texture *t, unsigned axis, int64_t i)
{
	int64_t n = t->size[axis];
	if (i >= 0 && i < n)
		return i;
	if (n < 1) /* an axis without texels */
		return OUTSIDE;
	switch (t->address[axis]) {
	case FUNC_TEXTURE_BORDER:
		return OUTSIDE;
	case FUNC_TEXTURE_WRAP:
		return wrap(i, n);
	case FUNC_TEXTURE_MIRROR:
		i = wrap(i, 2 * n);
		return i < n ? i : 2 * n - 1 - i;
	default:
		return i < 0 ? 0 : n - 1;
	}
}

/* A number of a texel: no mode of addresses counts, and outside of the texture there is nothing, as on an H200. */
static struct axis integer_axis(const struct func_texture *t, unsigned axis, int32_t x, int32_t offset)
{
	const int64_t i = (int64_t)x + offset;
	return (struct axis){.index = {i >= 0 && i < t->size[axis] ? i : OUTSIDE, OUTSIDE}};
}

static struct axis float_axis(const struct func_texture *t, unsigned axis, float x, bool pairs, int32_t offset)
{
	struct axis a = {.index = {0, OUTSIDE}};
	double v = x != x ? 0 : x;
	if (t->normalized_coords)
		v *= t->size[axis];
	if (pairs)
		v -= 0.5;
	/* Beyond this a float names no single texel any more, and an index still fits its type. */
	v = v > 0x1p60 ? 0x1p60 : v < -0x1p60 ? -0x1p60 : v;
	double whole = floor(v);
	a.index[0] = inside(t, axis, (int64_t)whole + offset);
	if (!pairs)
		return a;
	a.index[1] = inside(t, axis, (int64_t)whole + offset + 1);
	a.second = (uint32_t)((v - whole) * one_of(t) + 0.5);
	return a;
}

/* Address of byte `at` of a row within the texture. */
static uint64_t place_byte(const struct func_texture *t, uint64_t at, uint64_t y, uint64_t z)
{
	if (!t->tile_bytes)
		return z * t->slice_pitch + y * t->row_pitch + at;
	uint64_t tile = y / t->tile_rows * (t->row_pitch / t->tile_bytes) + at / t->tile_bytes;
	return z * t->slice_pitch + tile * t->tile_bytes * t->tile_rows + y % t->tile_rows * t->tile_bytes +
	       at % t->tile_bytes;
}

static uint64_t place(const struct func_texture *t, uint64_t x, uint64_t y, uint64_t z)
{
	return place_byte(t, x * t->texel_bytes, y, z);
}

uint64_t func_texture_place(const struct func_texture *t, uint64_t x, uint64_t y, uint64_t z)
{
	return place(t, x, y, z);
}

/* One channel as it is in memory, in 32 bits: integers extended, halves and normalized integers as floats. */
static uint32_t channel(const struct func_texture *t, const uint8_t *p)
{
	int8_t s8;
	int16_t s16;
	uint16_t u16;
	uint32_t u32;
	float f;
	switch (t->type) {
	case PTX_U8:
		f = (float)*p / 255;
		u32 = *p;
		break;
	case PTX_S8:
		memcpy(&s8, p, 1);
		f = s8 == INT8_MIN ? -1 : (float)s8 / INT8_MAX;
		u32 = (uint32_t)s8;
		break;
	case PTX_U16:
		memcpy(&u16, p, 2);
		f = (float)u16 / UINT16_MAX;
		u32 = u16;
		break;
	case PTX_S16:
		memcpy(&s16, p, 2);
		f = s16 == INT16_MIN ? -1 : (float)s16 / INT16_MAX;
		u32 = (uint32_t)s16;
		break;
	case PTX_F16:
		memcpy(&u16, p, 2);
		f = (float)exec_from_half(u16);
		memcpy(&u32, &f, 4);
		return u32;
	default:
		memcpy(&u32, p, 4);
		return u32;
	}
	if (t->normalized_values)
		memcpy(&u32, &f, 4);
	return u32;
}

static uint32_t blend(const uint32_t *value, const double *weight, unsigned n)
{
	double sum = 0;
	uint32_t bits;
	float f;
	for (unsigned k = 0; k < n; k++) {
		memcpy(&f, &value[k], 4);
		/* What does not count must not make a NaN of an infinity. */
		sum += weight[k] > 0 ? f * weight[k] : 0;
	}
	f = (float)sum;
	memcpy(&bits, &f, 4);
	return f != f ? FUNC_NAN32 : bits;
}

/* Everything that one lane reads; false: outside of memory. */
static bool read_lane(struct func_warp *w, const struct func_inst *i, const struct func_texture *t, uint32_t lane,
		      const struct axis *axis, unsigned dimensions, uint32_t out[4])
{
	const bool gather = i->imm & TEX_GATHER, outside = i->imm & TEX_FLOAT_COORDS;
	const uint32_t one = one_of(t);
	unsigned corners = gather || (t->linear && i->imm & TEX_FLOAT_COORDS) ? 1u << dimensions : 1;
	uint32_t value[4][FUNC_TEXELS];
	double weight[FUNC_TEXELS];
	for (unsigned k = 0; k < corners; k++) {
		uint64_t at[3] = {0, 0, t->layered ? (uint64_t)axis[2].index[0] : 0};
		bool in = true;
		weight[k] = 1;
		for (unsigned n = 0; n < dimensions; n++) {
			unsigned side = k >> n & 1;
			int64_t index = axis[n].index[side];
			in &= index != OUTSIDE;
			at[n] = in ? (uint64_t)index : 0;
			if (corners > 1)
				weight[k] *= (side ? axis[n].second : one - axis[n].second) / (double)one;
		}
		/* A texel of the border is read from nowhere; its lane still asks for the texture's first one. */
		uint64_t address = t->base + (in ? place(t, at[0], at[1], at[2]) : 0);
		const uint8_t *p = func_global(w->block->launch->memory, address, t->texel_bytes);
		if (k)
			w->block->texel[k - 1][w->first_lane + lane] = address;
		else
			w->addr[lane] = address;
		if (!p) {
			w->fault_address = address;
			return false;
		}
		for (unsigned c = 0; c < t->channels; c++)
			value[c][k] = in	? channel(t, p + c * (t->texel_bytes / t->channels))
				      : outside ? t->border[c]
						: 0;
	}
	for (unsigned c = 0; c < 4; c++) {
		static const uint8_t turn[] = {2, 3, 1, 0}; /* as tld4 gives them, PTX ISA 9.7.10.4 */
		const unsigned from = i->imm >> TEX_CHANNEL & 3;
		if (gather)
			out[c] = from < t->channels && turn[c] < corners ? value[from][turn[c]] : 0;
		else
			out[c] = c >= t->channels ? 0 : corners > 1 ? blend(value[c], weight, corners) : value[c][0];
	}
	return true;
}

/* NULL: there is none. Nothing is bound to a name that the host did not bind something to: it has no dimensions. */
static const struct func_texture *texture_of(const struct func_warp *w, uint64_t handle)
{
	static const struct func_texture unbound = {.dimensions = 0};
	const struct func_launch *l = w->block->launch;
	const uint64_t name = handle - FUNC_TEXTURE_NAMED;
	if (name < FUNC_TEXTURE_HANDLE - FUNC_TEXTURE_NAMED - 1)
		handle = name < l->named_count ? l->named[name] : 0;
	const uint64_t k = handle - FUNC_TEXTURE_HANDLE;
	return k < l->texture_count ? &l->texture[k] : handle ? NULL : &unbound;
}

static float as_float(uint32_t bits)
{
	float f;
	memcpy(&f, &bits, sizeof f);
	return f;
}

/* Face of a cube that a direction meets, and where, from 0 to 1 (CUDA C++ Programming Guide, cubemap textures). */
static unsigned face_of(const float d[3], float at[2])
{
	const float x = fabsf(d[0]), y = fabsf(d[1]), z = fabsf(d[2]);
	const unsigned axis = z >= x && z >= y ? 2 : y >= x ? 1 : 0; /* of equal ones the last, as on an H200 */
	const bool minus = d[axis] < 0;
	const float most = axis == 0 ? x : axis == 1 ? y : z;
	const float s = axis == 0 ? (minus ? d[2] : -d[2]) : axis == 1 ? d[0] : minus ? -d[0] : d[0];
	const float t = axis != 1 ? -d[1] : minus ? -d[2] : d[2];
	at[0] = (s / most + 1) / 2;
	at[1] = (t / most + 1) / 2;
	return 2 * axis + minus;
}

/* What one lane asks for. */
struct ask {
	uint32_t bits[3]; /* coordinates, of a layer behind the others */
	uint32_t cube;	  /* of an array of them */
	int32_t offset[3];
	bool beyond; /* another sample than the only one */
};

/* From -8 to 7: of a register the lowest 4 bits count, as on an H200. */
static int32_t offset_of(uint32_t v)
{
	return (int32_t)((v & 15) ^ 8) - 8;
}

static struct ask ask_of(struct func_warp *w, const struct func_inst *i, uint32_t lane)
{
	const uint16_t coordinate[3] = {i->b, i->c, i->more[3]};
	struct ask a = {.cube = 0};
	for (unsigned n = 0; n < 3; n++)
		a.bits[n] = coordinate[n] == FUNC_NONE ? 0 : exec_row(w, coordinate[n])[lane];
	if (!(i->imm & TEX_FURTHER))
		return a;
	const uint16_t *more = w->block->launch->program->many + (i->imm >> TEX_MANY);
	if (more[TEX_MORE_LAYER] != FUNC_NONE)
		a.cube = exec_row(w, more[TEX_MORE_LAYER])[lane];
	for (unsigned n = 0; n < 3; n++)
		if (more[TEX_MORE_OFFSET + n] != FUNC_NONE)
			a.offset[n] = offset_of(exec_row(w, more[TEX_MORE_OFFSET + n])[lane]);
	if (more[TEX_MORE_SAMPLE] != FUNC_NONE)
		a.beyond = exec_row(w, more[TEX_MORE_SAMPLE])[lane] != 0;
	return a;
}

/* The texture as a sampler of its own reads it. */
static const struct func_texture *sampled(struct func_warp *w, const struct func_inst *i, uint32_t lane,
					  const struct func_texture *t, struct func_texture *mixed)
{
	const uint16_t *more = w->block->launch->program->many + (i->imm >> TEX_MANY);
	if (!(i->imm & TEX_FURTHER) || more[TEX_MORE_SAMPLER] == FUNC_NONE)
		return t;
	const struct func_texture *how = texture_of(w, exec_row64(w, more[TEX_MORE_SAMPLER])[lane]);
	if (!how || !how->dimensions)
		return t;
	*mixed = *t;
	memcpy(mixed->address, how->address, sizeof mixed->address);
	mixed->normalized_coords = how->normalized_coords;
	mixed->linear = how->linear;
	return mixed;
}

/* The coordinates of one lane, of a layer behind the others. */
static void axes_of(const struct func_inst *i, const struct func_texture *t, const struct ask *ask, struct axis axis[3])
{
	enum { FACES = 6 };
	const unsigned dimensions = i->imm & TEX_DIMENSIONS;
	const uint32_t *bits = ask->bits;
	const bool pairs = t->linear || i->imm & TEX_GATHER;
	float at[3] = {as_float(bits[0]), as_float(bits[1]), as_float(bits[2])};
	uint32_t layer = bits[dimensions % 3];
	if (i->imm & TEX_CUBE) {
		const float d[3] = {at[0], at[1], at[2]};
		const uint32_t cubes = t->size[2] / FACES, cube = cubes && ask->cube >= cubes ? cubes - 1 : ask->cube;
		layer = cube * FACES + face_of(d, at);
		at[0] *= t->normalized_coords ? 1 : (float)t->size[0];
		at[1] *= t->normalized_coords ? 1 : (float)t->size[1];
	}
	for (unsigned n = 0; n < dimensions; n++)
		axis[n] = i->imm & TEX_FLOAT_COORDS ? float_axis(t, n, at[n], pairs, ask->offset[n])
						    : integer_axis(t, n, (int32_t)bits[n], ask->offset[n]);
	if (t->layered) /* one beyond the last is the last */
		axis[2].index[0] = layer < t->size[2] ? layer : t->size[2] - 1;
}

static void put(struct func_warp *w, const struct func_inst *i, uint32_t lane, uint32_t out[4])
{
	const uint16_t to[4] = {i->dst, i->more[0], i->more[1], i->more[2]};
	if (i->imm & (TEX_HALF | TEX_PAIRS))
		for (unsigned c = 0; c < 4; c++)
			out[c] = exec_to_half(as_float(out[c]), PTX_RN);
	if (i->imm & TEX_PAIRS) {
		out[0] |= out[1] << 16;
		out[1] = out[2] | out[3] << 16;
	}
	for (unsigned c = 0; c < 4; c++)
		if (to[c] != FUNC_NONE)
			exec_row(w, to[c])[lane] = out[c];
}

void exec_wide_texture(struct func_warp *w, const struct func_inst *i, uint32_t mask)
{
	unsigned dimensions = i->imm & TEX_DIMENSIONS;
	w->space = PTX_TEX;
	w->texels = 1;
	EACH_LANE(l, mask)
	{
		uint64_t handle = exec_row64(w, i->a)[l];
		const struct func_texture *t = texture_of(w, handle);
		struct axis axis[3] = {{{0}, 0}};
		struct func_texture mixed;
		uint32_t out[4] = {0};
		if (t && !t->dimensions) { /* the lane still asks for something */
			w->addr[l] = FUNC_GLOBAL_BASE;
			put(w, i, l, out);
			continue;
		}
		if (!t || t->dimensions != dimensions || t->layered != !!(i->imm & (TEX_LAYERED | TEX_CUBE))) {
			w->fault = FUNC_FAULT_TEXTURE;
			w->fault_lane = (uint8_t)l;
			w->fault_address = handle;
			return;
		}
		w->texel_bytes = t->texel_bytes;
		const struct ask ask = ask_of(w, i, l);
		t = sampled(w, i, l, t, &mixed);
		axes_of(i, t, &ask, axis);
		if (ask.beyond)
			axis[0].index[0] = OUTSIDE;
		if (!read_lane(w, i, t, l, axis, dimensions, out)) {
			w->fault = FUNC_FAULT_BOUNDS;
			w->fault_lane = (uint8_t)l;
			return;
		}
		if (i->imm & TEX_GATHER || (t->linear && i->imm & TEX_FLOAT_COORDS))
			w->texels = (uint8_t)(1u << dimensions);
		put(w, i, l, out);
	}
}
EXEC_FORWARD(texture)

/* ---- questions ---- */

/* As OpenCL counts them (PTX manual, channel data type and channel order fields). */
static uint32_t channel_of(const struct func_texture *t)
{
	const bool norm = t->normalized_values;
	switch (t->type) {
	case PTX_S8:
		return norm ? 0x10d0 : 0x10d7;
	case PTX_S16:
		return norm ? 0x10d1 : 0x10d8;
	case PTX_U8:
		return norm ? 0x10d2 : 0x10da;
	case PTX_U16:
		return norm ? 0x10d3 : 0x10db;
	case PTX_S32:
		return 0x10d9;
	case PTX_U32:
		return 0x10dc;
	default:
		return t->type == PTX_F16 ? 0x10dd : 0x10de;
	}
}

static uint32_t answer(const struct func_texture *t, unsigned what)
{
	if (!t->dimensions)
		return 0;
	static const uint8_t modes[] = {
	    [FUNC_TEXTURE_WRAP] = 0, [FUNC_TEXTURE_MIRROR] = 1, [FUNC_TEXTURE_CLAMP] = 3, [FUNC_TEXTURE_BORDER] = 4};
	enum { ORDER_R = 0x10b0, ORDER_RG = 0x10b2, ORDER_RGBA = 0x10b5 };
	switch (what) {
	case QUERY_ZERO:
	case QUERY_ONE:
		return what == QUERY_ONE;
	case QUERY_WIDTH:
		return t->size[0];
	case QUERY_HEIGHT:
		return t->dimensions > 1 ? t->size[1] : 0;
	case QUERY_DEPTH:
		return t->dimensions > 2 ? t->size[2] : 0;
	case QUERY_LAYERS:
		return t->layered ? t->size[2] : 0;
	case QUERY_CHANNEL:
		return channel_of(t);
	case QUERY_ORDER:
		return t->channels == 1 ? ORDER_R : t->channels == 2 ? ORDER_RG : ORDER_RGBA;
	case QUERY_NORMALIZED:
		return t->normalized_coords;
	case QUERY_FILTER:
		return t->linear;
	default:
		return modes[t->address[what - QUERY_ADDRESS]];
	}
}

void exec_wide_query(struct func_warp *w, const struct func_inst *i, uint32_t mask)
{
	EACH_LANE(l, mask)
	{
		const uint64_t handle = exec_row64(w, i->a)[l];
		const struct func_texture *t = texture_of(w, handle);
		if (!t) {
			w->space = PTX_TEX;
			w->fault = FUNC_FAULT_TEXTURE;
			w->fault_lane = (uint8_t)l;
			w->fault_address = handle;
			return;
		}
		exec_row(w, i->dst)[l] = answer(t, i->more[0]);
	}
}
EXEC_FORWARD(query)

/* ---- surfaces: an address for the load or store behind it ---- */

/* The place of coordinate x in [0, n), for an access of so many elements; false: outside. */
static bool on_axis(const struct func_inst *i, int32_t x, uint64_t n, uint64_t of, uint64_t *at)
{
	const uint64_t last = n > of ? n - of : 0;
	const bool in = x >= 0 && (uint64_t)x <= last;
	*at = in ? (uint64_t)x : x < 0 || !(i->imm & SURFACE_CLAMP) ? 0 : last;
	return in;
}

void exec_wide_surface(struct func_warp *w, const struct func_inst *i, uint32_t mask)
{
	const uint16_t coordinate[3] = {i->b, i->c, i->more[0]};
	const unsigned dimensions = i->imm & TEX_DIMENSIONS;
	uint32_t inside = 0;
	EACH_LANE(l, mask)
	{
		const uint64_t handle = exec_row64(w, i->a)[l];
		const struct func_texture *t = texture_of(w, handle);
		uint64_t at[3] = {0, 0, 0};
		bool in = true;
		if (!t || t->dimensions != dimensions || t->layered != !!(i->imm & TEX_LAYERED)) {
			w->fault = FUNC_FAULT_TEXTURE;
			w->fault_lane = (uint8_t)l;
			w->fault_address = handle;
			return;
		}
		const unsigned bytes = i->imm & SURFACE_TEXELS ? t->texel_bytes : i->imm >> SURFACE_BYTES & 31;
		for (unsigned n = 0; n < 3; n++) {
			const unsigned from = n == 2 && t->layered ? dimensions % 3 : n;
			if (n >= dimensions && !(n == 2 && t->layered))
				continue;
			const uint32_t unit = !n && i->imm & SURFACE_TEXELS ? t->texel_bytes : 1;
			const int32_t x = (int32_t)(exec_row(w, coordinate[from])[l] * unit);
			in &= n ? on_axis(i, x, t->size[n], 1, &at[n])
				: on_axis(i, x, (uint64_t)t->size[0] * t->texel_bytes, bytes, &at[0]);
		}
		exec_put(w, i->dst, true, l, t->base + place_byte(t, at[0], at[1], at[2]));
		if (!in && !(i->imm & (SURFACE_CLAMP | SURFACE_ZERO))) {
			w->fault = FUNC_FAULT_BOUNDS;
			w->fault_lane = (uint8_t)l;
			w->fault_address = t->base;
			return;
		}
		inside |= (uint32_t)(in || i->imm & SURFACE_CLAMP) << l;
	}
	exec_put_pred(w, i->more[1], mask, inside);
}
EXEC_FORWARD(surface)

/* A channel of a texel, of what a formatted store hands over. Integers end where the format ends. Binary16 is cut, and
 * no number stays what it is (seen on an H200). */
static uint32_t packed(const struct func_texture *t, uint32_t v)
{
	const unsigned cut = 13; /* bits of binary32's fraction that binary16 has not */
	const int64_t value = (int32_t)v;
	switch (t->type) {
	case PTX_F16:
		if (as_float(v) != as_float(v))
			return (v >> 16 & 0x8000) | 0x7c00 | (v >> cut & 0x3ff);
		return exec_to_half(as_float(v), PTX_RZ);
	case PTX_U8:
		return v > UINT8_MAX ? UINT8_MAX : v;
	case PTX_U16:
		return v > UINT16_MAX ? UINT16_MAX : v;
	case PTX_S8:
		return (uint32_t)(value < INT8_MIN ? INT8_MIN : value > INT8_MAX ? INT8_MAX : value);
	case PTX_S16:
		return (uint32_t)(value < INT16_MIN ? INT16_MIN : value > INT16_MAX ? INT16_MAX : value);
	default:
		return v;
	}
}

void exec_wide_store_texel(struct func_warp *w, const struct func_inst *i, uint32_t mask)
{
	const uint16_t from[4] = {i->b, i->more[0], i->more[1], i->more[2]};
	const struct func_texture *texture[FUNC_LANES];
	uint8_t order[FUNC_LANES], *to[FUNC_LANES];
	unsigned texel = 0;
	w->space = PTX_GLOBAL;
	EACH_LANE(l, mask)
	{
		texture[l] = texture_of(w, exec_row64(w, i->c)[l]);
		if (!texture[l] || !texture[l]->channels) /* the record before has refused it */
			return;
		texel = texel ? texel : texture[l]->texel_bytes;
		to[l] = exec_find(w, PTX_GLOBAL, l, exec_row64(w, i->a)[l], texture[l]->texel_bytes, true);
		if (!to[l])
			return;
	}
	const unsigned lanes = func_store_order(mask, texel, order);
	for (unsigned at = 0; at < lanes; at++) {
		const struct func_texture *t = texture[order[at]];
		const unsigned bytes = t->texel_bytes / t->channels;
		for (unsigned c = 0; c < t->channels; c++)
			exec_write_bytes(to[order[at]] + (size_t)c * bytes, bytes,
					 from[c] == FUNC_NONE ? 0 : packed(t, exec_row(w, from[c])[order[at]]));
	}
}
EXEC_FORWARD(store_texel)
