/* Texture reads and surfaces. The record has no room for eight rows but in pieces. Destinations are as of a load: dst,
 * more[0..2]. The handle is in a, the coordinates are in b, c and more[3], and the TEX_ code is in imm. What more there
 * is has rows in program->many, from imm >> TEX_MANY on. */
#include "decode.h"
#include <string.h>

struct geometry {
	unsigned dimensions, coordinates; /* that count, of a cube the layer not; more may be written */
	unsigned code;			  /* TEX_LAYERED, TEX_CUBE */
	unsigned samples;		  /* 1: the number of a sample comes first */
};

static bool geometry_of(const struct ptx_inst *in, struct geometry *g)
{
	static const struct {
		const char *word;
		struct geometry g;
	} all[] = {{"1d", {1, 1, 0, 0}},
		   {"2d", {2, 2, 0, 0}},
		   {"3d", {3, 3, 0, 0}},
		   {"a1d", {1, 2, TEX_LAYERED, 0}},
		   {"a2d", {2, 3, TEX_LAYERED, 0}},
		   {"cube", {2, 3, TEX_CUBE, 0}},
		   {"acube", {2, 3, TEX_CUBE | TEX_LAYERED, 0}},
		   {"2dms", {2, 2, 0, 1}},
		   {"a2dms", {2, 3, TEX_LAYERED, 1}}};
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

/* A register of so many bytes, or a constant. */
static bool is_value(const struct decode_frame *f, const struct ptx_operand *o, unsigned bytes)
{
	if (o->kind == PTX_OPND_REG)
		return !o->negated && ptx_type_bytes((enum ptx_type)f->f->regs[o->reg].type) == bytes;
	return o->kind == PTX_OPND_INT || (bytes == 4 && (o->kind == PTX_OPND_F32 || o->kind == PTX_OPND_F64));
}

/* Of a texture or surface: a register of 64 bits, or a name of the module. */
static bool is_handle(const struct decoder *d, const struct decode_frame *f, const struct ptx_operand *o)
{
	if (o->kind == PTX_OPND_SYMBOL)
		return o->sym >= 0 && d->m->vars[o->sym].space == PTX_TEX;
	return o->kind == PTX_OPND_REG && decode_reg_wide(f, o->reg);
}

/* A coordinate: of a register that has a type, its own. */
static bool is_coordinate(const struct decode_frame *f, const struct ptx_operand *o, enum ptx_type type)
{
	const char class = o->kind == PTX_OPND_REG ? ptx_type_class((enum ptx_type)f->f->regs[o->reg].type) : 'b';
	return is_value(f, o, 4) && (class == 'b' || class == ptx_type_class(type));
}

/* Coordinates in the order of the record: a layer comes last. The rows of an array of cubes and of samples are among
 * `more`. */
static int coordinates(struct decoder *d, struct decode_frame *f, struct decode_record *r, const struct ptx_inst *in,
		       unsigned k, const struct geometry *g, enum ptx_type type, uint16_t *const row[3],
		       uint16_t more[TEX_MORE])
{
	const struct ptx_operand *o = &in->operand[k];
	const bool layered = g->code & TEX_LAYERED, cubes = layered && g->code & TEX_CUBE;
	unsigned from = g->samples;
	if (elements(o) < g->samples + g->coordinates + cubes)
		return decode_fail(d, "%s%s takes %u coordinates, not %u", ptx_op_name((enum ptx_op)in->op), in->tail,
				   g->samples + g->coordinates + cubes, elements(o));
	for (unsigned n = 0; n < g->samples + g->coordinates + cubes; n++)
		if (!is_coordinate(f, element(in, o, n), n < g->samples + layered ? PTX_U32 : type))
			return decode_fail(d, "a coordinate of %s%s has 32 bits and its type",
					   ptx_op_name((enum ptx_op)in->op), in->tail);
	if (g->samples)
		DECODE_TRY(decode_source(d, f, r, element(in, o, 0), PTX_U32, &more[TEX_MORE_SAMPLE]));
	if (layered)
		DECODE_TRY(decode_source(d, f, r, element(in, o, from++), PTX_U32,
					 cubes ? &more[TEX_MORE_LAYER] : row[g->dimensions]));
	for (unsigned n = 0; n < 3 && n < g->coordinates - (layered && !cubes); n++)
		DECODE_TRY(decode_source(d, f, r, element(in, o, from++), type, row[n]));
	return 0;
}

/* Registers that take the four values: pairs of them in two with .f16x2. */
static int results(struct decoder *d, struct decode_frame *f, struct decode_record *r, const struct ptx_inst *in)
{
	const enum ptx_type type = decode_word_type(in, 0);
	const unsigned count = type == PTX_F16X2 ? 2 : 4, bytes = type == PTX_F16 ? 2 : 4;
	uint16_t *to[] = {&r->i.dst, &r->i.more[0], &r->i.more[1], &r->i.more[2]};
	const struct ptx_operand *o = &in->operand[0];
	if (type != PTX_F32 && type != PTX_S32 && type != PTX_U32 && type != PTX_F16 && type != PTX_F16X2)
		return decode_not(d, in);
	if (o->kind != PTX_OPND_VECTOR || o->count != count)
		return decode_fail(d, "%s%s gives %u registers", ptx_op_name((enum ptx_op)in->op), in->tail, count);
	for (unsigned k = 0; k < 4; k++) {
		const struct ptx_operand *e = &in->vec[o->index + (int)k];
		*to[k] = FUNC_NONE;
		if (k >= count || e->kind == PTX_OPND_SINK)
			continue;
		if (e->kind != PTX_OPND_REG || !is_value(f, e, bytes))
			return decode_fail(d, "a result of %s%s is a register of %u bits",
					   ptx_op_name((enum ptx_op)in->op), in->tail, bytes * 8);
		DECODE_TRY(decode_dest(d, f, r, e, to[k]));
	}
	r->i.imm |= type == PTX_F16 ? TEX_HALF : type == PTX_F16X2 ? TEX_PAIRS : 0;
	return 0;
}

/* What may follow the coordinates. A level or gradients change nothing where there is one level. Neither does a depth
 * to compare with: no sampler of CUDA's compares, and an H200 gives the texel. Rows of an offset go into `more`. */
static int further(struct decoder *d, struct decode_frame *f, struct decode_record *r, const struct ptx_inst *in,
		   unsigned k, const struct geometry *g, uint16_t more[TEX_MORE])
{
	k += decode_word(in, "level") ? 1 : decode_word(in, "grad") ? 2 : 0;
	if (k < in->operand_count && in->operand[k].kind == PTX_OPND_VECTOR) {
		const struct ptx_operand *o = &in->operand[k++];
		if (elements(o) < g->dimensions || g->code & TEX_CUBE)
			return decode_not(d, in);
		for (unsigned n = 0; n < g->dimensions; n++) {
			if (!is_value(f, element(in, o, n), 4))
				return decode_fail(d, "an offset has 32 bits");
			DECODE_TRY(decode_source(d, f, r, element(in, o, n), PTX_S32, &more[TEX_MORE_OFFSET + n]));
		}
	}
	if (k < in->operand_count && is_value(f, &in->operand[k], 4))
		k++;
	return k == in->operand_count ? 0 : decode_not(d, in);
}

/* Records ahead wait for what one record cannot wait for. */
static int keep_further(struct decoder *d, struct decode_frame *f, struct decode_record *r, const struct ptx_inst *in,
			const uint16_t more[TEX_MORE])
{
	bool any = false;
	for (unsigned k = 0; k < TEX_MORE; k++)
		any |= more[k] != FUNC_NONE;
	if (!any)
		return 0;
	r->i.imm |= TEX_FURTHER | (uint64_t)d->manies << TEX_MANY;
	for (unsigned k = 0; k < TEX_MORE; k++)
		DECODE_TRY(decode_keep_row(d, more[k]));
	return r->info.read_count < FUNC_READS ? 0 : decode_wait_for(d, f, in, r->info.read, r->info.read_count);
}

/* Everything that is asked for is there. */
static int resident(struct decoder *d, struct decode_frame *f, const struct ptx_inst *in)
{
	struct decode_record r;
	if (in->operand[1].kind == PTX_OPND_SINK)
		return 0;
	if (!decode_is_pred(f, &in->operand[1]))
		return decode_not(d, in);
	DECODE_TRY(decode_begin(d, f, in, &r));
	r.i.op = EXEC_pred_set;
	r.i.imm = 1;
	DECODE_TRY(decode_dest(d, f, &r, &in->operand[1], &r.i.dst));
	return decode_emit(d, &r);
}

/* Of tex.level and tex.grad the level is left alone: no texture here has more than one. */
int decode_texture(struct decoder *d, struct decode_frame *f, const struct ptx_inst *in)
{
	enum { HANDLE = 2 };
	struct decode_record r;
	struct geometry g;
	const bool gather = in->op == PTX_OP_TLD4;
	const enum ptx_type type = decode_word_type(in, 1);
	uint16_t more[TEX_MORE];
	if (in->operand_count < HANDLE + 2 || !is_handle(d, f, &in->operand[HANDLE]) || !geometry_of(in, &g) ||
	    (gather && g.dimensions != 2) || (type != PTX_F32 && type != PTX_S32))
		return decode_not(d, in);
	const unsigned at = ptx_coordinates_at(in, f->f->regs, HANDLE);
	if (at >= in->operand_count)
		return decode_not(d, in);
	memset(more, 0xff, sizeof more); /* FUNC_NONE */
	DECODE_TRY(decode_begin(d, f, in, &r));
	uint16_t *const row[] = {&r.i.b, &r.i.c, &r.i.more[3]};
	r.i.kind = FUNC_LOAD;
	r.i.op = EXEC_texture;
	r.i.space = PTX_TEX;
	r.i.bytes = 16;
	r.i.flags |= FUNC_SKIP_L1;
	r.info.space = PTX_TEX;
	DECODE_TRY(results(d, f, &r, in));
	r.i.more[3] = FUNC_NONE;
	DECODE_TRY(decode_source(d, f, &r, &in->operand[HANDLE], PTX_U64, &r.i.a));
	DECODE_TRY(coordinates(d, f, &r, in, at, &g, type, row, more));
	DECODE_TRY(further(d, f, &r, in, at + 1, &g, more));
	const unsigned channel = decode_word(in, "g") ? 1 : decode_word(in, "b") ? 2 : decode_word(in, "a") ? 3 : 0;
	r.i.imm |= g.dimensions | g.code | (type == PTX_F32 ? TEX_FLOAT_COORDS : 0) |
		   (gather ? TEX_GATHER | channel << TEX_CHANNEL : 0);
	if (at == HANDLE + 2 && in->operand[HANDLE + 1].kind == PTX_OPND_REG)
		DECODE_TRY(decode_source(d, f, &r, &in->operand[HANDLE + 1], PTX_U64, &more[TEX_MORE_SAMPLER]));
	DECODE_TRY(keep_further(d, f, &r, in, more));
	DECODE_TRY(decode_emit(d, &r));
	return resident(d, f, in);
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

/* sust.p: channels of 32 bits, which become those of the surface */
static int formatted(struct decoder *d, struct decode_frame *f, struct decode_record *r, const struct ptx_inst *in)
{
	uint16_t *const row[] = {&r->i.b, &r->i.more[0], &r->i.more[1], &r->i.more[2]};
	const struct ptx_operand *o = &in->operand[2];
	r->i.op = EXEC_store_texel;
	r->i.bytes = 16;
	DECODE_TRY(decode_source(d, f, r, &in->operand[0], PTX_U64, &r->i.c));
	for (unsigned k = 0; k < 4; k++) {
		*row[k] = FUNC_NONE;
		if (k >= elements(o))
			continue;
		if (!is_value(f, element(in, o, k), 4) || element(in, o, k)->kind == PTX_OPND_F64)
			return decode_not(d, in);
		DECODE_TRY(decode_source(d, f, r, element(in, o, k), PTX_B32, row[k]));
	}
	return decode_emit(d, r);
}

/* suld.b, sust and sured: the address of the access, then the access itself, by lanes that are inside. */
int decode_surface(struct decoder *d, struct decode_frame *f, const struct ptx_inst *in)
{
	const bool reduces = in->op == PTX_OP_SURED, store = in->op == PTX_OP_SUST || reduces,
		   zero = decode_word(in, "zero"), texels = store && decode_word(in, "p");
	const unsigned handle = store ? 0 : 1, value = store ? 2 : 0;
	const enum ptx_atom atom = reduces ? decode_atom(in) : PTX_ATOM_NONE;
	struct decode_record r;
	struct geometry g;
	struct ptx_inst one = *in;
	uint16_t address, inside;
	unsigned code = 0;
	one.type = (uint8_t)decode_word_type(in, 0);
	const unsigned bytes =
	    in->operand_count > value ? ptx_type_bytes((enum ptx_type)one.type) * elements(&in->operand[value]) : 0;
	if (in->operand_count != 3 || (!decode_word(in, "b") && !texels) ||
	    (reduces && (!atom || bytes < 4 || bytes > 8)) || one.type == PTX_NONE || bytes > 16 ||
	    !is_handle(d, f, &in->operand[handle]) || !geometry_of(in, &g) || g.code & TEX_CUBE || g.samples)
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
	DECODE_TRY(coordinates(d, f, &r, in, handle + 1, &g, PTX_S32, row, NULL));
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
	if (texels)
		return formatted(d, f, &r, in);
	DECODE_TRY(decode_elements(d, f, &r, &one, &in->operand[value], !store, &code));
	r.i.more[3] = (uint16_t)(code | MEM_ADDRESS_64);
	return decode_emit(d, &r);
}
