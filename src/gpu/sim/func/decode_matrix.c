/* Matrix operations of a warp to records: see exec_matrix.c. */
#include "decode.h"
#include <stdio.h>
#include <string.h>

static const struct {
	const char *word;
	enum matrix_format format;
	unsigned bits;
} formats[] = {{"f16", MATRIX_F16, 16}, {"bf16", MATRIX_BF16, 16}, {"tf32", MATRIX_TF32, 32}, {"f64", MATRIX_F64, 64},
	       {"f32", MATRIX_F32, 32}, {"s32", MATRIX_S32, 32},   {"s8", MATRIX_S8, 8},      {"u8", MATRIX_U8, 8},
	       {"s4", MATRIX_S4, 4},	{"u4", MATRIX_U4, 4},	   {"b1", MATRIX_B1, 1},      {"e4m3", MATRIX_E4M3, 8},
	       {"e5m2", MATRIX_E5M2, 8}};
enum { FORMATS = sizeof formats / sizeof *formats, OPERANDS = 4, ROWS_MOST = 64 };

/* The k-th format among the words: an index of formats[], or -1. */
static int format_of(const struct ptx_inst *in, unsigned k)
{
	for (const char *at = in->tail; at && *at == '.'; at = strchr(at + 1, '.')) {
		size_t n = strcspn(at + 1, ".");
		for (int x = 0; x < FORMATS; x++)
			if (strlen(formats[x].word) == n && strncmp(at + 1, formats[x].word, n) == 0 && k-- == 0)
				return x;
	}
	return -1;
}

static bool shape_of(const struct ptx_inst *in, unsigned *m, unsigned *n, unsigned *k)
{
	for (const char *at = in->tail; at && *at == '.'; at = strchr(at + 1, '.'))
		if (sscanf(at, ".m%un%uk%u", m, n, k) == 3)
			return *m <= 32 && *n <= 32 && *k <= 256 && *m && *n && *k;
	return false;
}

static const struct ptx_operand *element(const struct ptx_inst *in, unsigned k, unsigned x)
{
	const struct ptx_operand *o = &in->operand[k];
	return o->kind == PTX_OPND_VECTOR ? &in->vec[o->index + (int)x] : o;
}

static unsigned elements(const struct ptx_inst *in, unsigned k)
{
	return in->operand[k].kind == PTX_OPND_VECTOR ? in->operand[k].count : 1;
}

/* A record writes at most FUNC_WRITES rows: records behind it stand for the others, so that they are known to be made here. */
static int made(struct decoder *d, struct decode_frame *f, const struct ptx_inst *in, const struct decode_record *first,
		const uint16_t *row, unsigned n)
{
	struct decode_record r = *first;
	for (unsigned k = 0; k < n; k++) {
		if (k && k % FUNC_WRITES == 0) {
			DECODE_TRY(decode_emit(d, &r));
			DECODE_TRY(decode_begin(d, f, in, &r));
		}
		decode_writes(&r, row[k]);
	}
	return decode_emit(d, &r);
}

static int product(struct decoder *d, struct decode_frame *f, const struct ptx_inst *in)
{
	struct decode_record r, scratch;
	const bool wmma = in->op == PTX_OP_WMMA,
		   sparse = !wmma && (decode_word(in, "sp") || decode_word(in, "sp::ordered_metadata"));
	unsigned m, n, k;
	int format[OPERANDS];
	uint16_t all[OPERANDS * ROWS_MOST];
	unsigned count = 0;
	if (!shape_of(in, &m, &n, &k) || in->operand_count != OPERANDS + (sparse ? 2 : 0) ||
	    decode_word(in, "kind::f8f6f4") || (sparse && in->operand[OPERANDS + 1].kind != PTX_OPND_INT))
		return decode_not(d, in);
	for (unsigned x = 0; x < OPERANDS; x++)
		format[x] = format_of(in, x);
	if (wmma && format[2] < 0) { /* of binary16 only d and c are told */
		format[3] = format[1];
		format[1] = format[2] = 0;
	}
	if (format[0] < 0 || format[1] < 0 || format[2] < 0 || format[3] < 0 || (!wmma && (m > 16 || n != 8)))
		return decode_not(d, in);
	const bool quads = !wmma && m == 8 && k == 4 && formats[format[1]].format == MATRIX_F16;
	uint32_t at = d->manies;
	DECODE_TRY(decode_begin(d, f, in, &scratch));
	for (unsigned x = 0; x < OPERANDS; x++) {
		unsigned height = x == 2 ? k : m, width = x == 1 ? k / (sparse ? 2 : 1) : n,
			 bits = formats[format[x]].bits, each = height * width / (quads ? 8 : FUNC_LANES),
			 want = each * bits / (bits == 64 ? 64 : 32), have = elements(in, x);
		if (have != want && !(wmma && bits == 16 && have == 8 && want < 8))
			return decode_not(d, in);
		DECODE_TRY(decode_keep_row(d, (uint16_t)have));
		for (unsigned y = 0; y < have; y++) {
			uint16_t row;
			const struct ptx_operand *o = element(in, x, y);
			if (o->kind != PTX_OPND_REG ||
			    ptx_type_bytes((enum ptx_type)f->f->regs[o->reg].type) != (bits == 64 ? 8 : 4))
				return decode_not(d, in);
			DECODE_TRY(decode_reg(d, f, o->reg, &row));
			DECODE_TRY(decode_keep_row(d, row));
			all[count++] = row;
		}
	}
	if (sparse) {
		DECODE_TRY(decode_value(d, f, &scratch, in, OPERANDS, 4, &all[count]));
		DECODE_TRY(decode_keep_row(d, all[count++]));
	}
	const unsigned results = d->many[at]; /* they come first, and are not read */
	if (count - results > FUNC_READS)
		DECODE_TRY(decode_wait_for(d, f, in, all + results, count - results));
	DECODE_TRY(decode_begin(d, f, in, &r));
	for (unsigned x = results; x < count; x++)
		decode_reads(d, &r, all[x]);
	unsigned flags = (wmma ? MATRIX_WMMA : 0) | (decode_word(in, "satfinite") ? MATRIX_CLAMP : 0) |
			 (decode_word(in, "xor") ? MATRIX_XOR : 0);
	if (sparse)
		flags |= MATRIX_SPARSE | ((unsigned)in->operand[OPERANDS + 1].imm & 3) << MATRIX_SELECTOR;
	if (quads)
		flags |= MATRIX_QUADS;
	if (wmma || quads) { /* the first layout is that of a, the second that of b */
		const char *row = strstr(in->tail, ".row"), *col = strstr(in->tail, ".col");
		flags |= col && (!row || col < row) ? MATRIX_A_COLUMNS : 0;
		flags |= col && (!row || row < col || strstr(col + 4, ".col")) ? MATRIX_B_COLUMNS : 0;
	}
	r.i.op = EXEC_mma;
	r.i.imm = at;
	r.i.more[0] = (uint16_t)m;
	r.i.more[1] = (uint16_t)(n | k << 6);
	r.i.more[2] = (uint16_t)((unsigned)formats[format[0]].format | (unsigned)formats[format[1]].format << 5 |
				 (unsigned)formats[format[2]].format << 10);
	r.i.more[3] = (uint16_t)((unsigned)formats[format[3]].format | flags << 5);
	return made(d, f, in, &r, all, results);
}

static int result_rows(struct decoder *d, struct decode_frame *f, const struct ptx_inst *in, unsigned k, unsigned want,
		       uint16_t *all, unsigned *count)
{
	if (elements(in, k) != want)
		return decode_not(d, in);
	DECODE_TRY(decode_keep_row(d, (uint16_t)want));
	for (unsigned x = 0; x < want; x++) {
		const struct ptx_operand *o = element(in, k, x);
		if (o->kind != PTX_OPND_REG || ptx_type_bytes((enum ptx_type)f->f->regs[o->reg].type) != 4)
			return decode_not(d, in);
		DECODE_TRY(decode_reg(d, f, o->reg, &all[*count]));
		DECODE_TRY(decode_keep_row(d, all[*count]));
		++*count;
	}
	return 0;
}

/* Whether the result's former value is added: a predicate, or a number. */
static int adds(struct decoder *d, struct decode_frame *f, const struct ptx_inst *in, const struct ptx_operand *o,
		struct decode_record *r, unsigned *flags)
{
	r->i.c = FUNC_NONE;
	if (decode_is_pred(f, o)) {
		DECODE_TRY(decode_pred_source(d, f, r, o, &r->i.c));
		*flags |= o->negated ? WARPGROUP_ADDS_NOT : 0;
		return 0;
	}
	*flags |= o->kind == PTX_OPND_INT && o->imm ? WARPGROUP_ADDS : 0;
	return o->kind == PTX_OPND_INT ? 0 : decode_not(d, in);
}

/* wgmma.mma_async is done at once, so that its fences and groups have nothing to wait for but time. */
static int warpgroup(struct decoder *d, struct decode_frame *f, const struct ptx_inst *in)
{
	enum { N_MOST = 256, REGISTERS = 4 };
	struct decode_record r;
	unsigned m, n, k, count = 0, flags = decode_word(in, "satfinite") ? WARPGROUP_CLAMP : 0;
	uint16_t all[N_MOST / 2 + REGISTERS + 1];
	const char *shape = strstr(in->tail, ".m64n");
	const bool sparse = decode_word(in, "sp");
	const unsigned next = sparse ? 5 : 3; /* behind the matrices, and which elements are there */
	DECODE_TRY(decode_begin(d, f, in, &r));
	if (decode_word(in, "fence") || decode_word(in, "commit_group") || decode_word(in, "wait_group"))
		return decode_emit(d, &r);
	const int to = format_of(in, 0), from = format_of(in, 1), other = format_of(in, 2);
	if (!decode_word(in, "mma_async") || !shape || sscanf(shape, ".m%un%uk%u", &m, &n, &k) != 3 || n % 8 || !n ||
	    n > N_MOST || to < 0 || from < 0 || other < 0 || formats[from].bits > 32 ||
	    k * formats[from].bits != (sparse ? 512 : 256) || in->operand_count <= next ||
	    (sparse && (in->operand[4].kind != PTX_OPND_INT || formats[from].bits < 8)))
		return decode_not(d, in);
	const bool in_registers = in->operand[1].kind == PTX_OPND_VECTOR;
	for (unsigned x = next + 3; x < in->operand_count; x++)
		if (in->operand[x].kind != PTX_OPND_INT)
			return decode_not(d, in);
		else if (in->operand[x].imm)
			flags |= x == next + 3 && !in_registers ? WARPGROUP_A_ACROSS : WARPGROUP_B_ACROSS;
	for (unsigned x = next + 1; x < in->operand_count && x < next + 3; x++)
		if ((int64_t)in->operand[x].imm == -1)
			flags |= x == next + 1 ? WARPGROUP_MINUS_A : WARPGROUP_MINUS_B;
	if (sparse)
		flags |= WARPGROUP_SPARSE | ((unsigned)in->operand[4].imm & 3) << WARPGROUP_SELECTOR;
	const uint32_t at = d->manies;
	DECODE_TRY(result_rows(d, f, in, 0, n / 2 / (formats[to].bits == 16 ? 2 : 1), all, &count));
	const unsigned results = count;
	if (in_registers)
		DECODE_TRY(result_rows(d, f, in, 1, REGISTERS, all, &count));
	if (sparse) {
		DECODE_TRY(decode_value(d, f, &r, in, 3, 4, &all[count]));
		DECODE_TRY(decode_keep_row(d, all[count++]));
	}
	DECODE_TRY(decode_wait_for(d, f, in, all, count));
	DECODE_TRY(decode_begin(d, f, in, &r));
	r.i.a = FUNC_NONE;
	if (!in_registers)
		DECODE_TRY(decode_value(d, f, &r, in, 1, 8, &r.i.a));
	DECODE_TRY(decode_value(d, f, &r, in, 2, 8, &r.i.b));
	DECODE_TRY(adds(d, f, in, &in->operand[next], &r, &flags));
	r.i.op = EXEC_wgmma;
	r.i.imm = at;
	r.i.more[0] = (uint16_t)n;
	r.i.more[1] = (uint16_t)(formats[from].bits < 8 ? k * formats[from].bits / 8 : k);
	r.i.more[2] = (uint16_t)((unsigned)formats[to].format | (unsigned)formats[from].format << 5 |
				 (unsigned)formats[other].format << 10);
	r.i.more[3] = (uint16_t)flags;
	return made(d, f, in, &r, all, results);
}

/* A row for one half of a register: what a store takes, or what a load brings. */
static int half_of(struct decoder *d, struct decode_frame *f, const struct ptx_inst *in, const struct ptx_operand *e,
		   unsigned high, bool store, uint16_t *part)
{
	struct decode_record r;
	DECODE_TRY(decode_new_row(d, false, part));
	if (!store)
		return 0;
	DECODE_TRY(decode_begin(d, f, in, &r));
	DECODE_TRY(decode_source(d, f, &r, e, PTX_B32, &r.i.a));
	r.i.op = high ? EXEC_unpack_16_hi : EXEC_unpack_16;
	r.i.dst = *part;
	decode_writes(&r, *part);
	return decode_emit(d, &r);
}

/* The lower half goes into the register as it is, the upper one above it. */
static int join_half(struct decoder *d, struct decode_frame *f, const struct ptx_inst *in, const struct ptx_operand *e,
		     unsigned high, uint16_t part)
{
	struct decode_record r;
	DECODE_TRY(decode_begin(d, f, in, &r));
	DECODE_TRY(decode_dest(d, f, &r, e, &r.i.dst));
	r.i.op = high ? EXEC_pack_32 : EXEC_mov_32;
	r.i.a = high ? r.i.dst : part;
	r.i.b = part;
	decode_reads(d, &r, r.i.a);
	decode_reads(d, &r, part);
	return decode_emit(d, &r);
}

/* wmma.load and .store: each lane's part by plain accesses, from a place of its own. */
static int fragment(struct decoder *d, struct decode_frame *f, const struct ptx_inst *in, bool store)
{
	struct decode_record r;
	unsigned m, n, k;
	const bool a = decode_word(in, "a"), b = decode_word(in, "b");
	const unsigned list = store ? 1 : 0, where = store ? 0 : 1;
	int format = format_of(in, 0);
	const struct ptx_operand *o = &in->operand[where];
	if (!shape_of(in, &m, &n, &k) || format < 0 || in->operand_count < 2 || in->operand_count > 3 ||
	    o->kind != PTX_OPND_ADDRESS)
		return decode_not(d, in);
	const unsigned height = b ? k : m, width = a ? k : n, bits = formats[format].bits,
		       each = height * width / FUNC_LANES * bits / 8;
	const bool columns = decode_word(in, "col"), across = columns && !a && !b,
		   wide = !o->has_reg || decode_reg_wide(f, o->reg);
	const unsigned line = (columns && !across ? height : width) * bits / 8, have = elements(in, list),
		       word = bits == 64 ? 8 : 4;
	if (line < each || (across && bits < 16))
		return decode_not(d, in);
	struct ptx_operand stride = {.kind = PTX_OPND_INT, .imm = (uint64_t)line * 8 / bits, .sym = -1, .reg = -1};
	if (in->operand_count == 3)
		stride = in->operand[2];
	enum ptx_space space = decode_word(in, "shared") || decode_word(in, "shared::cta") ? PTX_SHARED
			       : decode_word(in, "global")				   ? PTX_GLOBAL
											   : PTX_GENERIC;
	/* Along a line whole words, across it elements. */
	const unsigned piece = across ? bits / 8 : word;
	for (unsigned x = 0; x < each / piece; x++) {
		unsigned code = 0;
		uint16_t base;
		const unsigned reg = x * piece / word;
		if (across || x == 0) {
			DECODE_TRY(decode_new_row(d, wide, &base));
			DECODE_TRY(decode_begin(d, f, in, &r));
			DECODE_TRY(decode_address(d, f, &r, o, &code));
			if (stride.kind != PTX_OPND_INT && stride.kind != PTX_OPND_REG)
				return decode_not(d, in);
			DECODE_TRY(decode_source(d, f, &r, &stride, PTX_B32, &r.i.b));
			r.i.op = EXEC_wmma_place;
			r.i.dst = base;
			decode_writes(&r, base);
			r.i.imm = bits;
			r.i.more[0] = (uint16_t)each;
			r.i.more[1] = (uint16_t)line;
			r.i.more[2] = wide;
			r.i.more[3] = (uint16_t)(across ? 1 + x : 0);
			DECODE_TRY(decode_emit(d, &r));
		}
		struct ptx_operand *e = (struct ptx_operand *)element(in, list, reg);
		if (reg >= have || e->kind != PTX_OPND_REG)
			return decode_not(d, in);
		uint16_t part = FUNC_NONE;
		if (across && bits == 16)
			DECODE_TRY(half_of(d, f, in, e, x % 2, store, &part));
		DECODE_TRY(decode_begin(d, f, in, &r));
		r.i.kind = store ? FUNC_STORE : FUNC_LOAD;
		r.i.op = store ? EXEC_store : EXEC_load;
		r.i.space = (uint8_t)space;
		r.info.space = r.i.space;
		r.i.a = base;
		decode_reads(d, &r, base);
		r.i.imm = (uint64_t)o->offset + (o->has_reg || o->sym < 0 ? 0 : d->address[o->sym]) +
			  (across ? 0 : x * piece);
		r.i.bytes = (uint8_t)piece;
		if (part != FUNC_NONE && store) {
			r.i.b = part;
			decode_reads(d, &r, part);
		} else if (part != FUNC_NONE) {
			r.i.dst = part;
			decode_writes(&r, part);
		} else {
			DECODE_TRY(store ? decode_source(d, f, &r, e, word == 8 ? PTX_B64 : PTX_B32, &r.i.b)
					 : decode_dest(d, f, &r, e, &r.i.dst));
		}
		r.i.more[3] = (uint16_t)((unsigned)(piece == 8	 ? PTX_B64
						    : piece == 2 ? PTX_B16
								 : PTX_B32) |
					 1u << MEM_COUNT_SHIFT | word << MEM_WIDTH_SHIFT | (wide ? MEM_ADDRESS_64 : 0));
		DECODE_TRY(decode_emit(d, &r));
		if (part != FUNC_NONE && !store)
			DECODE_TRY(join_half(d, f, in, e, x % 2, part));
	}
	const unsigned once = each / word;
	for (unsigned x = once; once && !store && x < have; x++) { /* binary16 has each element twice */
		uint16_t from, to;
		DECODE_TRY(decode_begin(d, f, in, &r));
		DECODE_TRY(decode_reg(d, f, element(in, list, x % once)->reg, &from));
		DECODE_TRY(decode_reg(d, f, element(in, list, x)->reg, &to));
		r.i.op = word == 8 ? EXEC_mov_64 : EXEC_mov_32;
		r.i.a = from;
		r.i.dst = to;
		decode_reads(d, &r, from);
		decode_writes(&r, to);
		DECODE_TRY(decode_emit(d, &r));
	}
	return 0;
}

static int rows_of_eight(struct decoder *d, struct decode_frame *f, const struct ptx_inst *in)
{
	struct decode_record r;
	const bool store = in->op == PTX_OP_STMATRIX;
	const unsigned list = store ? 1 : 0, where = store ? 0 : 1;
	unsigned count = decode_word(in, "x4") ? 4 : decode_word(in, "x2") ? 2 : 1, code = 0;
	uint16_t *rows[] = {&r.i.dst, &r.i.more[2], &r.i.more[3], &r.i.b};
	if (!decode_word(in, "m8n8") || !decode_word(in, "b16") || in->operand_count != 2 ||
	    elements(in, list) != count || in->operand[where].kind != PTX_OPND_ADDRESS)
		return decode_not(d, in);
	DECODE_TRY(decode_begin(d, f, in, &r));
	for (unsigned k = 0; k < count; k++) {
		const struct ptx_operand *e = element(in, list, k);
		if (e->kind != PTX_OPND_REG || ptx_type_bytes((enum ptx_type)f->f->regs[e->reg].type) != 4)
			return decode_not(d, in);
		DECODE_TRY(store ? decode_source(d, f, &r, e, PTX_B32, rows[k]) : decode_dest(d, f, &r, e, rows[k]));
	}
	DECODE_TRY(decode_address(d, f, &r, &in->operand[where], &code));
	r.i.kind = FUNC_LOAD;
	r.i.op = store ? EXEC_stmatrix : EXEC_ldmatrix;
	r.i.space = PTX_SHARED;
	r.info.space = PTX_SHARED;
	r.i.bytes = 16;
	r.i.more[0] = (uint16_t)(count | (decode_word(in, "trans") ? 8u : 0));
	r.i.more[1] = (code & MEM_ADDRESS_64) != 0;
	return decode_emit(d, &r);
}

int decode_matrix(struct decoder *d, struct decode_frame *f, const struct ptx_inst *in)
{
	struct decode_record r;
	switch ((enum ptx_op)in->op) {
	case PTX_OP_MMA:
		d->p->borrows = "mma";
		return product(d, f, in);
	case PTX_OP_WGMMA:
		d->p->borrows = "wgmma";
		return warpgroup(d, f, in);
	case PTX_OP_WMMA:
		return decode_word(in, "mma") ? product(d, f, in) : fragment(d, f, in, decode_word(in, "store"));
	case PTX_OP_MOVMATRIX:
		if (in->operand_count != 2 || in->operand[0].kind != PTX_OPND_REG)
			return decode_not(d, in);
		DECODE_TRY(decode_begin(d, f, in, &r));
		DECODE_TRY(decode_dest(d, f, &r, &in->operand[0], &r.i.dst));
		DECODE_TRY(decode_value(d, f, &r, in, 1, 4, &r.i.a));
		r.i.op = EXEC_movmatrix;
		return decode_emit(d, &r);
	default:
		return rows_of_eight(d, f, in);
	}
}
