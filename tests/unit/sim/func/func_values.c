#include "func_values.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

uint64_t type_mask(enum ptx_type t)
{
	unsigned bits = ptx_type_bytes(t) * 8;
	return t == PTX_PRED ? 1 : bits == 64 ? UINT64_MAX : (1ull << bits) - 1;
}

uint64_t value_of(struct rng *r, enum ptx_type t)
{
	static const uint32_t f32[] = {0x00000000, 0x80000000, 0x3f800000, 0xbf800000, 0x7f800000,
				       0xff800000, 0x7fc00000, 0x7f7fffff, 0xff7fffff, 0x00800000,
				       0x807fffff, 0x00000001, 0x80000001, 0x007fffff, 0x4b800000,
				       0x4f000000, 0x3f7fffff, 0x33800000, 0x40490fdb, 0x7f800001};
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
				       0x43e0000000000000,
				       0xc3e0000000000000,
				       0x41efffffffe00000,
				       0x3fe0000000000000,
				       0x4340000000000000};
	static const uint16_t f16[] = {0,      0x8000, 0x3c00, 0xbc00, 0x7c00, 0xfc00, 0x7e00, 0x7bff,
				       0x0400, 0x03ff, 0x0001, 0x8001, 0x3bff, 0x6800, 0x1400};
	static const uint64_t ints[] = {0,	    1,		2,	    3,		7,	    31,
					32,	    33,		63,	    64,		255,	    0x7f,
					0x80,	    0x7fff,	0x8000,	    0xffff,	0x10000,    0x7fffff,
					0x800000,   0xffffff,	0x7fffffff, 0x80000000, 0xffffffff, 1ull << 32,
					1ull << 62, 1ull << 63, UINT64_MAX, INT64_MAX,	-2ull,	    -31ull};
	bool edge = rng_below(r, 2);
	switch (t) {
	case PTX_F32:
		if (edge)
			return f32[rng_below(r, sizeof f32 / sizeof *f32)];
		/* near 1, so that operands meet: exponents all over the range would only ever give one of them back */
		return (rng_next(r) & 0x807fffff) | (uint64_t)(112 + rng_below(r, 32)) << 23;
	case PTX_F64:
		if (edge)
			return f64[rng_below(r, sizeof f64 / sizeof *f64)];
		return (rng_next(r) & 0x800fffffffffffff) | (uint64_t)(1000 + rng_below(r, 60)) << 52;
	case PTX_F16:
		return edge ? f16[rng_below(r, sizeof f16 / sizeof *f16)] : rng_next(r) & 0xffff;
	case PTX_F16X2:
		return value_of(r, PTX_F16) << 16 | value_of(r, PTX_F16);
	default:
		return (edge ? ints[rng_below(r, sizeof ints / sizeof *ints)] : rng_next(r) >> rng_below(r, 64)) &
		       type_mask(t);
	}
}

/* The type that a value has in memory: registers of 16 bits and halves travel as they are. */
static const char *memory_type(enum ptx_type t)
{
	switch (ptx_type_bytes(t)) {
	case 1:
		return "b8";
	case 2:
		return "b16";
	case 4:
		return "b32";
	default:
		return "b64";
	}
}

static const char *register_type(enum ptx_type t)
{
	switch (t) {
	case PTX_U8:
	case PTX_S8:
	case PTX_B8:
		return "b16";
	case PTX_F16:
		return "b16";
	case PTX_F16X2:
		return "b32";
	default:
		return ptx_type_name(t);
	}
}

static void load(struct str *text, const char *name, enum ptx_type t, unsigned k)
{
	if (t == PTX_NONE)
		return;
	str_addf(text, "\t.reg .%s %s;\n\tld.global.%s %s, [pin+%u];\n", register_type(t), name, memory_type(t), name,
		 k * 256);
}

void one_op_open(struct one_op *o, const char *line, enum ptx_type d, enum ptx_type a, enum ptx_type b, enum ptx_type c,
		 int cc)
{
	struct str text;
	memset(o, 0, sizeof *o);
	fixture_open(&o->f);
	o->d = d;
	o->a = a;
	o->b = b;
	o->c = c;
	o->mask = UINT32_MAX;
	str_init(&text);
	str_addf(&text, ".version 8.0\n.target sm_%d\n", cc);
	str_add(&text, ".address_size 64\n.entry k(.param .u64 out, .param .u64 in)\n{\n"
		       "\t.reg .u64 pin, pout, off;\n\t.reg .u32 t, word, m;\n\t.reg .pred p, q, on;\n"
		       "\tld.param.u64 pout, [out];\n\tld.param.u64 pin, [in];\n\tmov.u32 t, %tid.x;\n"
		       "\tmul.wide.u32 off, t, 8;\n\tadd.u64 pout, pout, off;\n"
		       "\tld.global.u32 word, [pin+768];\n\tld.global.u32 m, [pin+772];\n\tadd.u64 pin, pin, off;\n"
		       "\tshr.u32 word, word, t;\n\tand.b32 word, word, 1;\n\tsetp.ne.u32 p, word, 0;\n"
		       "\tshr.u32 m, m, t;\n\tand.b32 m, m, 1;\n\tsetp.ne.u32 on, m, 0;\n");
	load(&text, "a", a, 0);
	load(&text, "b", b, 1);
	load(&text, "c", c, 2);
	if (d == PTX_PRED) {
		str_addf(&text,
			 "\t.reg .pred d;\n\t.reg .u64 r;\n\tsetp.ne.u32 d, 0, 0;\n\t@on %s\n\tselp.u64 r, 1, 0, d;\n"
			 "\tst.global.u64 [pout], r;\n\tret;\n}\n",
			 line);
	} else {
		str_addf(&text,
			 "\t.reg .%s d;\n\t.reg .b64 old;\n\tmov.u64 old, 0xA5A5A5A5A5A5A5A5;\n\tst.global.u64 [pout], "
			 "old;\n"
			 "\tld.global.%s d, [pout];\n\t@on %s\n\tst.global.%s [pout], d;\n\tret;\n}\n",
			 register_type(d), memory_type(d), line, memory_type(d));
	}
	if (text.failed)
		fail();
	if (fixture_load(&o->f, text.data, cc))
		fail_msg("%s\n%s", o->f.e.text, text.data);
	str_free(&text);
}

void one_op_fill(struct one_op *o, struct rng *r)
{
	const enum ptx_type types[] = {o->a, o->b, o->c};
	for (int k = 0; k < 3; k++)
		for (int l = 0; l < 32; l++)
			o->in[k][l] = types[k] == PTX_NONE ? 0 : value_of(r, types[k]);
	o->pred = (uint32_t)rng_next(r);
}

void one_op_run(struct one_op *o)
{
	uint8_t *in = o->f.in->data;
	memcpy(in, o->in, sizeof o->in);
	memcpy(in + 768, &o->pred, 4);
	memcpy(in + 772, &o->mask, 4);
	fixture_run(&o->f);
	memcpy(o->out, o->f.out->data, sizeof o->out);
	for (int l = 0; l < 32; l++)
		o->out[l] &= type_mask(o->d);
}

void one_op_close(struct one_op *o)
{
	fixture_close(&o->f);
}
