#include "isa_run.h"
#include "base/rng.h"
#include "base/str.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>

#define GROUP	12
#define SOURCES 3
#define CELL	16

/* ---- inputs ---- */
static uint64_t edge(enum ptx_type t, struct rng *r)
{
	static const uint64_t ints[] = {
	    0,		1,	    2,		3,	   7,	       31,	   32,	       33,
	    63,		64,	    255,	0x7f,	   0x80,       0x7fff,	   0x8000,     0xffff,
	    0x10000,	0x7fffff,   0x800000,	0xffffff,  0x7fffffff, 0x80000000, 0xffffffff, 1ull << 32,
	    1ull << 62, 1ull << 63, UINT64_MAX, INT64_MAX, -2ull,      -31ull,	   -32768ull,  -129ull};
	static const uint32_t f32[] = {
	    0x00000000, 0x80000000, 0x3f800000, 0xbf800000, 0x7f800000, 0xff800000, 0x7fc00000, 0x7f7fffff, 0xff7fffff,
	    0x00800000, 0x807fffff, 0x00000001, 0x80000001, 0x007fffff, 0x4b800000, 0x4f000000, 0xcf000000, 0x5f000000,
	    0x3f7fffff, 0x33800000, 0x40490fdb, 0x7fc12345, 0xffc00000, 0x3f000000, 0xbf000000, 0x3fc00000, 0x40200000,
	    0x4effffff, 0x477fe000, 0x477ff000, 0x33000000, 0x38800000, 0x387fc000, 0x437f8000, 0x46fffe00};
	static const uint64_t f64[] = {0,
				       1ull << 63,
				       0x3ff0000000000000,
				       0xbff0000000000000,
				       0x7ff0000000000000,
				       0xfff0000000000000,
				       0x7ff8000000000000,
				       0x7fefffffffffffff,
				       0x0010000000000000,
				       1,
				       0x800fffffffffffff,
				       0x43e0000000000000,
				       0xc3e0000000000000,
				       0x43f0000000000000,
				       0x41efffffffe00000,
				       0x41e0000000000000,
				       0x3fe0000000000000,
				       0x3ff8000000000000,
				       0x4004000000000000,
				       0x4340000000000000,
				       0x47efffffe0000000,
				       0x47effffff0000000,
				       0x36a0000000000000,
				       0x3690000000000000,
				       0x380fffffffffffff,
				       0x40effdffffffffff,
				       0x40effe0000000000};
	static const uint16_t f16[] = {0,      0x8000, 0x3c00, 0xbc00, 0x7c00, 0xfc00, 0x7e00, 0x7bff,
				       0xfbff, 0x0400, 0x03ff, 0x0001, 0x8001, 0x3bff, 0x6800, 0x1400,
				       0x3800, 0xb800, 0x3e00, 0x4100, 0x5bf8, 0x83ff};
	switch (t) {
	case PTX_F32:
		return f32[rng_below(r, sizeof f32 / sizeof *f32)];
	case PTX_F64:
		return f64[rng_below(r, sizeof f64 / sizeof *f64)];
	case PTX_F16:
		return f16[rng_below(r, sizeof f16 / sizeof *f16)];
	default:
		return ints[rng_below(r, sizeof ints / sizeof *ints)];
	}
}

static uint64_t mask_of(enum ptx_type t)
{
	unsigned n = ptx_type_bytes(t) * 8;
	return t == PTX_PRED ? 1 : n == 64 ? UINT64_MAX : (1ull << n) - 1;
}

static uint64_t value(enum ptx_type t, struct rng *r)
{
	unsigned kind = (unsigned)rng_below(r, 4);
	if (t == PTX_F16X2)
		return value(PTX_F16, r) << 16 | value(PTX_F16, r);
	if (kind < 2)
		return edge(t, r) & mask_of(t);
	uint64_t v = rng_next(r);
	if (kind == 2) { /* near each other, so that operands meet */
		switch (t) {
		case PTX_F32:
			return (v & 0x807fffff) | (uint64_t)(120 + rng_below(r, 12)) << 23;
		case PTX_F64:
			return (v & 0x800fffffffffffff) | (uint64_t)(1015 + rng_below(r, 16)) << 52;
		case PTX_F16:
			return (v & 0x83ff) | (uint64_t)(10 + rng_below(r, 10)) << 10;
		default:
			return (v >> rng_below(r, 64)) & mask_of(t);
		}
	}
	return v & mask_of(t);
}

uint64_t isa_input(enum ptx_type t, unsigned source, uint32_t thread)
{
	struct rng r;
	rng_seed(&r, ((uint64_t)ISA_SEED << 32) ^ ((uint64_t)t * 4 + source) * ISA_THREADS ^ thread);
	return value(t, &r);
}

bool isa_pred(uint32_t thread)
{
	struct rng r;
	rng_seed(&r, ISA_SEED + thread / 32);
	uint64_t kind = rng_below(&r, 4), bits = rng_next(&r);
	return kind == 0 || (kind > 1 && (bits >> (thread & 31) & 1));
}

/* ---- kernels ---- */
static const char *register_type(enum ptx_type t)
{
	switch (t) {
	case PTX_U8:
		return "u16";
	case PTX_S8:
		return "s16";
	case PTX_B8:
	case PTX_F16:
		return "b16";
	case PTX_F16X2:
		return "b32";
	default:
		return ptx_type_name(t);
	}
}

static bool same_types(const struct isa_case *a, const struct isa_case *b)
{
	return a->a == b->a && a->b == b->b && a->c == b->c;
}

size_t isa_group(const struct isa_cases *c, size_t from, size_t to)
{
	size_t n = from;
	while (n < to && n - from < GROUP && same_types(&c->list[n], &c->list[from]))
		n++;
	return n;
}

static void load(struct str *out, const char *name, enum ptx_type t, unsigned source)
{
	if (t == PTX_NONE)
		return;
	unsigned bytes = ptx_type_bytes(t);
	str_addf(out, "\t.reg .%s %s;\n", register_type(t), name);
	/* The register is as wide as what is loaded, or wider. */
	str_addf(out, "\tld.global.%s %s, [in + %u];\n",
		 bytes == 1	? ptx_type_name(t)
		 : t == PTX_F32 ? "f32"
		 : t == PTX_F64 ? "f64"
		 : bytes == 2	? "b16"
		 : bytes == 4	? "b32"
				: "b64",
		 name, source * 8);
}

void isa_kernel(struct str *out, const struct isa_cases *c, size_t from, size_t to)
{
	const struct isa_case *first = &c->list[from];
	str_add(
	    out,
	    ".version 8.5\n.target sm_90\n.address_size 64\n\n"
	    ".const .align 4 .u32 table[8] = {11, 22, 33, 44, 55, 66, 77, 88};\n"
	    ".func (.param .b32 o) mix(.param .b32 i, .param .b32 j)\n{\n\t.reg .b32 a, b;\n\tld.param.b32 a, [i];\n"
	    "\tld.param.b32 b, [j];\n\tshl.b32 a, a, 3;\n\tadd.u32 a, a, b;\n\tst.param.b32 [o], a;\n\tret;\n}\n\n"
	    ".visible .entry k(.param .u64 pout, .param .u64 pin, .param .u64 pcell)\n{\n"
	    "\t.shared .align 16 .b8 place[2048];\n"
	    "\t.reg .b64 out, in, cell, o0;\n\t.reg .b32 t0, t1, t2, spot, pw;\n\t.reg .pred p;\n"
	    "\tld.param.u64 out, [pout];\n\tld.param.u64 in, [pin];\n\tld.param.u64 cell, [pcell];\n"
	    "\tcvta.to.global.u64 out, out;\n\tcvta.to.global.u64 in, in;\n\tcvta.to.global.u64 cell, cell;\n"
	    "\tmov.u32 t0, %tid.x;\n\tmov.u32 t1, %ctaid.x;\n\tmov.u32 t2, %ntid.x;\n\tmov.u32 spot, place;\n"
	    "\tmad.lo.u32 spot, t0, 16, spot;\n\tmad.lo.u32 t0, t1, t2, t0;\n\tmul.wide.u32 o0, t0, 32;\n"
	    "\tadd.u64 in, in, o0;\n\tmul.wide.u32 o0, t0, 16;\n\tadd.u64 cell, cell, o0;\n"
	    "\tmul.wide.u32 o0, t0, 8;\n\tadd.u64 out, out, o0;\n\tld.global.u32 pw, [in + 24];\n"
	    "\tsetp.ne.u32 p, pw, 0;\n");
	load(out, "a", (enum ptx_type)first->a, 0);
	load(out, "b", (enum ptx_type)first->b, 1);
	load(out, "c", (enum ptx_type)first->c, 2);
	for (size_t n = from; n < to; n++) {
		const struct isa_case *k = &c->list[n];
		enum ptx_type d = (enum ptx_type)k->d;
		unsigned bytes = ptx_type_bytes(d);
		str_addf(out,
			 "\t{\n\t.reg .b32 x, y;\n\t.reg .b64 w, v;\n\t.reg .b16 h;\n\t.reg .pred q, r;\n\t.reg .%s "
			 "d;\n\t%s\n",
			 register_type(d), k->line);
		if (d == PTX_PRED)
			str_addf(out, "\tselp.u32 x, 1, 0, d;\n\tst.global.u32 [out + %zu], x;\n\t}\n",
				 (n - from) * ISA_THREADS * 8);
		else
			str_addf(out, "\tst.global.%s [out + %zu], d;\n\t}\n",
				 bytes == 1	? "b8"
				 : bytes == 2	? "b16"
				 : d == PTX_F32 ? "f32"
				 : d == PTX_F64 ? "f64"
				 : bytes == 4	? "b32"
						: "b64",
				 (n - from) * ISA_THREADS * 8);
	}
	str_add(out, "\tret;\n}\n");
}

/* ---- running ---- */
struct runner {
	struct gpu *g;
	const struct isa_cases *c;
	uint32_t threads, block;
	uint64_t *answer;
	bool *refused;
	struct err *e;
};

static int run_kernel(struct runner *x, uint32_t id, size_t from, size_t to)
{
	const struct isa_case *k = &x->c->list[from];
	const uint8_t types[SOURCES] = {k->a, k->b, k->c};
	size_t words = (to - from) * ISA_THREADS * 2;
	uint64_t *in = mem_zero((size_t)ISA_THREADS * 4, sizeof *in);
	struct launch l = {.entry = "k", .grid = {x->threads / x->block, 1, 1}, .block = {x->block, 1, 1}};
	struct sample s = {0};
	if (!in)
		return err_nomem(x->e);
	for (uint32_t t = 0; t < ISA_THREADS; t++) {
		for (unsigned n = 0; n < SOURCES; n++)
			if (types[n] != PTX_NONE)
				in[t * 4 + n] = isa_input((enum ptx_type)types[n], n, t);
		in[t * 4 + 3] = isa_pred(t);
	}
	snprintf(l.label, sizeof l.label, "isa %zu: %.200s", from, k->line);
	l.buffers[0] = (struct launch_buffer){.bytes = words * 4, .output = true, .output_words = (uint32_t)words};
	l.buffers[1] = (struct launch_buffer){.bytes = ISA_THREADS * 32, .init = in, .init_bytes = ISA_THREADS * 32};
	l.buffers[2] = (struct launch_buffer){.bytes = ISA_THREADS * CELL};
	l.buffer_count = l.arg_count = 3;
	for (uint32_t n = 0; n < 3; n++)
		l.args[n] = (struct launch_arg){.kind = ARG_BUFFER, .buffer = n};
	int r = x->g->ops->run(x->g, id, &l, &s, x->e);
	if (!r && s.outcome != OUTCOME_OK)
		r = err_set(x->e, -EIO, "%s: %s: %s", l.label, outcome_name(s.outcome), s.message);
	if (!r)
		memcpy(x->answer + from * ISA_THREADS, s.words, words * 4);
	sample_free(&s);
	mem_free(in);
	return r;
}

static int compile_and_run(struct runner *x, size_t from, size_t to)
{
	struct native_info native = {0};
	struct str text;
	char name[32];
	uint32_t id = 0;
	str_init(&text);
	isa_kernel(&text, x->c, from, to);
	snprintf(name, sizeof name, "isa %zu", from);
	struct kernel_source src = {.name = name, .entry = "k", .text = str_text(&text)};
	int r = text.failed ? err_nomem(x->e) : x->g->ops->load(x->g, &src, 1, &id, &native, x->e);
	str_free(&text);
	return r ? r : run_kernel(x, id, from, to);
}

static int run_all(struct runner *x)
{
	for (size_t n = 0, end; n < x->c->count; n = end) {
		end = isa_group(x->c, n, x->c->count);
		int r = compile_and_run(x, n, end);
		if (r && !x->refused)
			return r;
		/* One by one, so that only those are lost that are at fault. */
		for (size_t k = n; r && k < end; k++)
			if (compile_and_run(x, k, k + 1)) {
				fprintf(stderr, "%s\n    %s\n", x->c->list[k].line, x->e->text);
				x->refused[k] = true;
			}
	}
	return 0;
}

int isa_run(struct gpu *g, const struct isa_cases *c, uint32_t threads, uint32_t block, uint64_t **answer,
	    bool **refused, struct err *e)
{
	struct runner x = {.g = g, .c = c, .threads = threads, .block = block, .e = e};
	x.answer = mem_zero(c->count * ISA_THREADS, sizeof *x.answer);
	x.refused = refused ? mem_zero(c->count, sizeof *x.refused) : NULL;
	int r = x.answer && (!refused || x.refused) ? run_all(&x) : err_nomem(e);
	if (r) {
		mem_free(x.answer);
		mem_free(x.refused);
		return r;
	}
	*answer = x.answer;
	if (refused)
		*refused = x.refused;
	return 0;
}

bool isa_alone(const struct isa_case *c)
{
	static const char *const words[] = {"shfl", "vote", "match", "lanemask", "laneid", "activemask"};
	for (size_t k = 0; k < sizeof words / sizeof *words; k++)
		if (strstr(c->line, words[k]))
			return false;
	return true;
}

static uint64_t one_nan(enum ptx_type t, uint64_t v)
{
	switch (t) {
	case PTX_F32:
		return (v & 0x7fffffff) > 0x7f800000 ? 0x7fffffff : v;
	case PTX_F64:
		return (v & INT64_MAX) > 0x7ff0000000000000 ? 0x7fffffffffffffff : v;
	case PTX_F16:
		return (v & 0x7fff) > 0x7c00 ? 0x7fff : v;
	case PTX_F16X2:
		return one_nan(PTX_F16, v >> 16) << 16 | one_nan(PTX_F16, v & 0xffff);
	default:
		return v;
	}
}

uint64_t isa_canonical(const struct isa_case *c, uint32_t thread, uint64_t answer)
{
	if (c->rule == ISA_DIVIDES && isa_input((enum ptx_type)c->b, 1, thread) == 0)
		return 0;
	return one_nan((enum ptx_type)c->d, answer & mask_of((enum ptx_type)c->d));
}
