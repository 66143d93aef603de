/* Texture reads. The record has no room for eight rows but in pieces: destinations as of a load (dst, more[0..2]), a: the
 * handle, b c more[3]: the coordinates, imm: TEX_ code. */
#include "decode.h"

static unsigned dimensions(const struct ptx_inst *in)
{
	return in->mods & PTX_GEOM_3D ? 3 : in->mods & PTX_GEOM_2D ? 2 : 1;
}

static const struct ptx_operand *element(const struct ptx_inst *in, const struct ptx_operand *o, unsigned k)
{
	return o->kind == PTX_OPND_VECTOR ? &in->vec[o->index + (int)k] : o;
}

/* A texture that the module names is one that the host binds, and no host does: it reads as zeros. */
static int unbound(struct decoder *d, struct decode_frame *f, const struct ptx_inst *in)
{
	struct decode_record r;
	for (unsigned k = 0; k < 4; k++) {
		DECODE_TRY(decode_begin(d, f, in, &r));
		DECODE_TRY(decode_dest(d, f, &r, element(in, &in->operand[0], k), &r.i.dst));
		if (r.i.dst == FUNC_NONE)
			continue;
		DECODE_TRY(decode_literal(d, 0, false, &r.i.a));
		r.i.op = EXEC_mov_32;
		DECODE_TRY(decode_emit(d, &r));
	}
	return 0;
}

int decode_texture(struct decoder *d, struct decode_frame *f, const struct ptx_inst *in)
{
	struct decode_record r;
	unsigned n = dimensions(in);
	DECODE_TRY(decode_begin(d, f, in, &r));
	uint16_t *to[] = {&r.i.dst, &r.i.more[0], &r.i.more[1], &r.i.more[2]};
	uint16_t *coordinate[] = {&r.i.b, &r.i.c, &r.i.more[3]};
	if (in->operand[1].kind != PTX_OPND_REG)
		return unbound(d, f, in);
	r.i.kind = FUNC_LOAD;
	r.i.op = EXEC_texture;
	r.i.space = PTX_TEX;
	r.i.bytes = 16;
	r.i.flags |= FUNC_SKIP_L1;
	r.info.space = PTX_TEX;
	for (unsigned k = 0; k < 4; k++)
		DECODE_TRY(decode_dest(d, f, &r, element(in, &in->operand[0], k), to[k]));
	DECODE_TRY(decode_source(d, f, &r, &in->operand[1], PTX_U64, &r.i.a));
	for (unsigned k = 0; k < n; k++)
		DECODE_TRY(
		    decode_source(d, f, &r, element(in, &in->operand[2], k), (enum ptx_type)in->type2, coordinate[k]));
	r.i.imm = n | (in->type2 == PTX_F32 ? TEX_FLOAT_COORDS : 0);
	return decode_emit(d, &r);
}
