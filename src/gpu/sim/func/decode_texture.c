/* Texture reads and surfaces. The record has no room for eight rows but in pieces. Destinations are as of a load: dst,
 * more[0..2]. The handle is in a, the coordinates are in b, c and more[3], and the TEX_ code is in imm. */
#include "decode.h"
#include <string.h>

struct geometry {
	unsigned dimensions, coordinates; /* that count; more may be written */
	unsigned code;			  /* TEX_LAYERED, TEX_CUBE */
	bool layer_first;		  /* as PTX writes it */
};

static bool geometry_of(const struct ptx_inst *in, struct geometry *g)
{
	static const struct {
		const char *word;
		struct geometry g;
	} all[] = {{"1d", {1, 1, 0, false}},	       {"2d", {2, 2, 0, false}},
		   {"3d", {3, 3, 0, false}},	       {"a1d", {1, 2, TEX_LAYERED, true}},
		   {"a2d", {2, 3, TEX_LAYERED, true}}, {"cube", {2, 3, TEX_CUBE, false}}};
	if (!in->tail) {
		*g = all[in->mods & PTX_GEOM_3D ? 2 : in->mods & PTX_GEOM_2D ? 1 : 0].g;
		return true;
	}
	for (size_t k = 0; k < sizeof all / sizeof *all; k++)
		if (decode_word(in, all[k].word)) {
			*g = all[k].g;
			return true;
		}
	return false;
}

static const struct ptx_operand *element(const struct ptx_inst *in, const struct ptx_operand *o, unsigned k)
{
	return o->kind == PTX_OPND_VECTOR ? &in->vec[o->index + (int)k] : o;
}

static unsigned elements(const struct ptx_operand *o)
{
	return o->kind == PTX_OPND_VECTOR ? o->count : 1;
}

/* Coordinates in the order of the record: a layer comes last. */
static int coordinates(struct decoder *d, struct decode_frame *f, struct decode_record *r, const struct ptx_inst *in,
		       unsigned k, const struct geometry *g, enum ptx_type type, uint16_t *const row[3])
{
	const struct ptx_operand *o = &in->operand[k];
	if (elements(o) < g->coordinates)
		return decode_not(d, in);
	for (unsigned n = 0; n < g->coordinates; n++) {
		const unsigned from = !g->layer_first ? n : n + 1 < g->coordinates ? n + 1 : 0;
		const bool layer = g->layer_first && !from;
		DECODE_TRY(decode_source(d, f, r, element(in, o, from), layer ? PTX_U32 : type, row[n]));
	}
	return 0;
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

/* Of tex.level and tex.grad the level is left alone: no texture here has more than one. */
int decode_texture(struct decoder *d, struct decode_frame *f, const struct ptx_inst *in)
{
	struct decode_record r;
	struct geometry g;
	const bool gather = in->op == PTX_OP_TLD4;
	const enum ptx_type type = gather ? PTX_F32 : in->tail ? decode_word_type(in, 1) : (enum ptx_type)in->type2;
	if (in->operand_count < 3 || elements(&in->operand[0]) != 4 || !geometry_of(in, &g) ||
	    (gather && g.code | (g.dimensions != 2)) || (type != PTX_F32 && type != PTX_S32))
		return decode_not(d, in);
	DECODE_TRY(decode_begin(d, f, in, &r));
	uint16_t *to[] = {&r.i.dst, &r.i.more[0], &r.i.more[1], &r.i.more[2]};
	uint16_t *const row[] = {&r.i.b, &r.i.c, &r.i.more[3]};
	if (in->operand[1].kind != PTX_OPND_REG)
		return unbound(d, f, in);
	r.i.kind = FUNC_LOAD;
	r.i.op = EXEC_texture;
	r.i.space = PTX_TEX;
	r.i.bytes = 16;
	r.i.flags |= FUNC_SKIP_L1;
	r.i.more[3] = FUNC_NONE;
	r.info.space = PTX_TEX;
	for (unsigned k = 0; k < 4; k++)
		DECODE_TRY(decode_dest(d, f, &r, element(in, &in->operand[0], k), to[k]));
	DECODE_TRY(decode_source(d, f, &r, &in->operand[1], PTX_U64, &r.i.a));
	DECODE_TRY(coordinates(d, f, &r, in, 2, &g, type, row));
	const unsigned channel = decode_word(in, "g") ? 1 : decode_word(in, "b") ? 2 : decode_word(in, "a") ? 3 : 0;
	r.i.imm = g.dimensions | g.code | (type == PTX_F32 ? TEX_FLOAT_COORDS : 0) |
		  (gather ? TEX_GATHER | channel << TEX_CHANNEL : 0);
	return decode_emit(d, &r);
}

/* What lies outside reads as zeros. */
static int zeros(struct decoder *d, struct decode_frame *f, const struct ptx_inst *in, const struct ptx_operand *o)
{
	struct decode_record r;
	for (unsigned k = 0; k < elements(o); k++) {
		const struct ptx_operand *e = element(in, o, k);
		if (e->kind != PTX_OPND_REG)
			continue;
		DECODE_TRY(decode_begin(d, f, in, &r));
		DECODE_TRY(decode_dest(d, f, &r, e, &r.i.dst));
		DECODE_TRY(decode_literal(d, 0, decode_reg_wide(f, e->reg), &r.i.a));
		r.i.op = decode_reg_wide(f, e->reg) ? EXEC_mov_64 : EXEC_mov_32;
		DECODE_TRY(decode_emit(d, &r));
	}
	return 0;
}

/* suld.b, sust.b and sured: the address of the access, then the access itself, by lanes that are inside. */
int decode_surface(struct decoder *d, struct decode_frame *f, const struct ptx_inst *in)
{
	const bool reduces = in->op == PTX_OP_SURED, store = in->op == PTX_OP_SUST || reduces,
		   zero = decode_word(in, "zero"), texels = reduces && decode_word(in, "p");
	const unsigned handle = store ? 0 : 1, value = store ? 2 : 0;
	const enum ptx_atom atom = reduces ? decode_atom(in) : PTX_ATOM_NONE;
	struct decode_record r;
	struct geometry g;
	struct ptx_inst one = *in;
	uint16_t address, inside;
	unsigned code = 0;
	one.type = (uint8_t)decode_word_type(in, 0);
	const unsigned bytes = ptx_type_bytes((enum ptx_type)one.type) * elements(&in->operand[value]);
	if (in->operand_count != 3 || (!decode_word(in, "b") && !texels) ||
	    (reduces && (!atom || bytes < 4 || bytes > 8)) || one.type == PTX_NONE || bytes > 16 ||
	    in->operand[handle].kind != PTX_OPND_REG || !geometry_of(in, &g) || g.code & TEX_CUBE)
		return decode_not(d, in);
	DECODE_TRY(decode_new_row(d, true, &address));
	DECODE_TRY(decode_new_pred(d, &inside));
	DECODE_TRY(decode_begin(d, f, in, &r));
	r.i.op = EXEC_pred_set; /* lanes that the instruction's own guard keeps out are not inside, either */
	r.i.guard = FUNC_NONE;
	r.i.dst = inside;
	decode_writes(&r, DECODE_PRED_SLOT + inside);
	DECODE_TRY(decode_emit(d, &r));
	if (zero && !store)
		DECODE_TRY(zeros(d, f, in, &in->operand[value]));
	DECODE_TRY(decode_begin(d, f, in, &r));
	uint16_t *const row[] = {&r.i.b, &r.i.c, &r.i.more[0]};
	r.i.op = EXEC_surface;
	r.i.dst = address;
	r.i.more[1] = inside;
	DECODE_TRY(decode_source(d, f, &r, &in->operand[handle], PTX_U64, &r.i.a));
	DECODE_TRY(coordinates(d, f, &r, in, handle + 1, &g, PTX_S32, row));
	decode_writes(&r, address);
	decode_writes(&r, DECODE_PRED_SLOT + inside);
	r.i.imm = g.dimensions | g.code | (uint64_t)bytes << SURFACE_BYTES | (zero ? SURFACE_ZERO : 0) |
		  (decode_word(in, "clamp") ? SURFACE_CLAMP : 0) | (texels ? SURFACE_TEXELS : 0);
	DECODE_TRY(decode_emit(d, &r));
	if (reduces) {
		const struct decode_place at = {.row = address, .wide = true};
		uint16_t from;
		DECODE_TRY(decode_begin(d, f, in, &r));
		DECODE_TRY(decode_value(d, f, &r, in, value, bytes, &from));
		return decode_reduce(d, f, in, inside, PTX_GLOBAL, &at, atom, (enum ptx_type)one.type, from);
	}
	DECODE_TRY(decode_begin(d, f, in, &r));
	r.i.guard = inside;
	r.i.flags &= (uint8_t)~FUNC_GUARD_NOT;
	decode_reads(d, &r, DECODE_PRED_SLOT + inside);
	decode_reads(d, &r, address);
	r.i.kind = store ? FUNC_STORE : FUNC_LOAD;
	r.i.op = store ? EXEC_store : EXEC_load;
	r.i.space = PTX_GLOBAL;
	r.info.space = PTX_GLOBAL;
	r.i.a = address;
	DECODE_TRY(decode_elements(d, f, &r, &one, &in->operand[value], !store, &code));
	r.i.more[3] = (uint16_t)(code | MEM_ADDRESS_64);
	return decode_emit(d, &r);
}
