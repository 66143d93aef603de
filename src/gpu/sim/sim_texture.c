/* Textures of a launch: where their texels lie, and the copies that arrays are. */
#include "base/str.h"
#include "gpu/sim/sim_state.h"
#include <errno.h>
#include <string.h>

static enum ptx_type channel_type(enum texel_type t)
{
	static const enum ptx_type types[] = {
	    [TEXEL_U8] = PTX_U8,   [TEXEL_U16] = PTX_U16, [TEXEL_U32] = PTX_U32, [TEXEL_S8] = PTX_S8,
	    [TEXEL_S16] = PTX_S16, [TEXEL_S32] = PTX_S32, [TEXEL_F16] = PTX_F16, [TEXEL_F32] = PTX_F32};
	return types[t];
}

static enum func_texture_address address_mode(const struct launch_texture *t, uint32_t axis)
{
	/* One dimension of linear memory is zero outside, whatever else is asked for. */
	if (t->place == TEXTURE_IN_PLACE && !t->size[1])
		return FUNC_TEXTURE_BORDER;
	switch (t->address[axis]) {
	case TEXTURE_BORDER:
		return FUNC_TEXTURE_BORDER;
	case TEXTURE_WRAP:
		return t->normalized_coords ? FUNC_TEXTURE_WRAP : FUNC_TEXTURE_CLAMP;
	case TEXTURE_MIRROR:
		return t->normalized_coords ? FUNC_TEXTURE_MIRROR : FUNC_TEXTURE_CLAMP;
	default:
		return FUNC_TEXTURE_CLAMP;
	}
}

static uint64_t round_up(uint64_t v, uint32_t to)
{
	return (v + to - 1) / to * to;
}

/* All but its address. */
static struct func_texture shape(const struct sim *g, const struct launch_texture *t)
{
	struct func_texture f = {.dimensions = !t->size[1]   ? 1
					       : !t->size[2] ? 2
							     : 3,
				 .type = (uint8_t)channel_type(t->type),
				 .channels = (uint8_t)t->channels,
				 .texel_bytes = (uint8_t)(texel_bytes(t->type) * t->channels),
				 .fraction_bits = (uint8_t)g->spec->texture_fraction_bits,
				 .normalized_values = t->normalized_values,
				 .normalized_coords = t->normalized_coords,
				 .linear = t->linear};
	for (uint32_t k = 0; k < 3; k++) {
		f.size[k] = t->size[k] ? t->size[k] : 1;
		f.address[k] = (uint8_t)address_mode(t, k);
	}
	f.row_pitch = (uint64_t)f.size[0] * f.texel_bytes;
	uint64_t rows = f.size[1];
	/* One dimension is never tiled: there is nothing beside it that could be near. */
	if (t->place == TEXTURE_ARRAY && f.dimensions > 1 && g->spec->texture_tile_bytes) {
		f.tile_bytes = g->spec->texture_tile_bytes;
		f.tile_rows = g->spec->texture_tile_rows;
		f.row_pitch = round_up(f.row_pitch, f.tile_bytes);
		rows = round_up(rows, f.tile_rows);
	}
	f.slice_pitch = f.row_pitch * rows;
	return f;
}

uint64_t sim_texture_bytes(const struct sim *g, const struct launch *l, uint32_t n)
{
	if (l->textures[n].place != TEXTURE_ARRAY)
		return 0;
	struct func_texture f = shape(g, &l->textures[n]);
	return f.slice_pitch * f.size[2];
}

void sim_textures_place(struct sim *g, const struct launch *l)
{
	for (uint32_t i = 0; i < l->texture_count; i++) {
		const struct launch_texture *t = &l->textures[i];
		g->texture[i] = shape(g, t);
		g->texture[i].base = g->buffer[t->place == TEXTURE_ARRAY ? l->buffer_count + i : t->buffer].base;
	}
}

static struct func_region *region_at(struct sim *g, uint64_t base)
{
	for (uint32_t k = 0; k < g->memory.count; k++)
		if (g->memory.region[k].base == base)
			return &g->memory.region[k];
	return NULL;
}

static void copy(const struct func_texture *t, const uint8_t *from, uint8_t *to)
{
	size_t row = (size_t)t->size[0] * t->texel_bytes;
	for (uint32_t z = 0; z < t->size[2]; z++)
		for (uint32_t y = 0; y < t->size[1]; y++, from += row) {
			if (!t->tile_bytes) {
				memcpy(to + func_texture_place(t, 0, y, z), from, row);
				continue;
			}
			for (size_t at = 0; at < row; at += t->tile_bytes)
				memcpy(to + func_texture_place(t, at / t->texel_bytes, y, z), from + at,
				       row - at < t->tile_bytes ? row - at : t->tile_bytes);
		}
}

int sim_textures_fill(struct sim *g, const struct launch *l, struct err *e)
{
	for (uint32_t i = 0; i < l->texture_count; i++) {
		const struct launch_texture *t = &l->textures[i];
		struct sim_buffer *s = &g->buffer[l->buffer_count + i];
		if (t->place != TEXTURE_ARRAY)
			continue;
		const struct func_region *from = region_at(g, g->buffer[t->buffer].base);
		struct func_region *to = region_at(g, s->base);
		if (!from || !to)
			return err_set(e, -EINVAL, "a texture of the launch has no memory");
		const struct func_texture *f = &g->texture[i];
		uint64_t of[] = {g->buffer[t->buffer].content,
				 from->base,
				 f->base,
				 f->row_pitch,
				 f->slice_pitch,
				 (uint64_t)f->size[0] * f->texel_bytes,
				 (uint64_t)f->size[1] << 32 | f->size[2]};
		uint64_t content = hash64(of, sizeof of, 5) | 1;
		if (content == s->content)
			continue;
		copy(f, from->data, to->data);
		s->content = content;
		time_forget(g->time, TIME_GLOBAL, to->base, to->size);
	}
	return 0;
}
