/* Latency of every operation that a description lists, and of shared memory with and without conflicts. */
#include "gate.h"
#include <stdio.h>
#include <string.h>

/* The PTX of one link "v = v op c" of a chain. false: none is known here. */
static bool link_text(char *out, size_t n, const struct sim_spec *s, const struct op_spec *o)
{
	const char *op = o->op, *type = o->type;
	bool real = type[0] == 'f', single = !strcmp(type, "f32"), half = !strncmp(type, "f16", 3);
	static const char *const two[] = {"add", "sub", "min", "max", "and", "or", "xor", "rem"};
	static const char *const approx[] = {"rcp", "sqrt", "rsqrt", "sin", "cos", "ex2", "lg2"};
	for (size_t i = 0; i < sizeof two / sizeof two[0]; i++)
		if (!strcmp(op, two[i]))
			return snprintf(out, n, "%s.%s %%v0, %%v0, %%v1;", op, type) > 0;
	/* From sm_20 on the plain names of a file are those of functions that take subnormal numbers for zero. */
	const char *zero = single && s->cc >= 20 ? ".ftz" : "";
	for (size_t i = 0; i < sizeof approx / sizeof approx[0]; i++) {
		const size_t name = strlen(approx[i]);
		if (!strcmp(op, approx[i]))
			return snprintf(out, n, "%s.approx%s.%s %%v0, %%v0;", op, zero, type) > 0;
		if (!strncmp(op, approx[i], name) && !strcmp(op + name, "sub"))
			return snprintf(out, n, "%s.approx.%s %%v0, %%v0;", approx[i], type) > 0;
	}
	static const char *const rounded[][2] = {{"rcprn", "rcp"}, {"sqrtrn", "sqrt"}};
	for (size_t i = 0; i < sizeof rounded / sizeof rounded[0]; i++)
		if (!strcmp(op, rounded[i][0]))
			return snprintf(out, n, "%s.rn.%s %%v0, %%v0;", rounded[i][1], type) > 0;
	if (!strcmp(op, "not") || !strcmp(op, "neg") || !strcmp(op, "clz"))
		return snprintf(out, n, "%s.%s %%v0, %%v0;", op, type) > 0;
	if (!strcmp(op, "bfe"))
		return snprintf(out, n, "bfe.%s %%v0, %%v0, 1, 8;", type) > 0;
	if (!strcmp(op, "selp"))
		return snprintf(out, n, "selp.%s %%v0, %%v0, %%v1, %%p0;", type) > 0;
	if (!strcmp(op, "madhi"))
		return snprintf(out, n, "mad.hi.%s %%v0, %%v0, %%v1, %%v1;", type) > 0;
	if (!strcmp(op, "madwide"))
		return snprintf(out, n, "mad.wide.%s %%v0, %%r8, %%r8, %%v0;", type) > 0;
	if (!strcmp(op, "shl") || !strcmp(op, "shr"))
		return snprintf(out, n, "%s.%s %%v0, %%v0, %%r8;", op, type) > 0;
	if (!strcmp(op, "mul"))
		return snprintf(out, n, "mul.%s%s %%v0, %%v0, %%v1;", real ? "" : "lo.", type) > 0;
	if (!strcmp(op, "mulhi"))
		return snprintf(out, n, "mul.hi.%s %%v0, %%v0, %%v1;", type) > 0;
	if (!strcmp(op, "mul24"))
		return snprintf(out, n, "mul24.lo.%s %%v0, %%v0, %%v1;", type) > 0;
	if (!strcmp(op, "mad") && !real)
		return snprintf(out, n, "mad.lo.%s %%v0, %%v0, %%v1, %%v1;", type) > 0;
	if (!strcmp(op, "mad") || !strcmp(op, "fma"))
		return snprintf(out, n, "%s.%s%s %%v0, %%v0, %%v1, %%v1;", op,
				single && !strcmp(op, "mad") && s->cc < 20 ? "" : "rn.", type) > 0;
	if (!strcmp(op, "sad"))
		return snprintf(out, n, "sad.%s %%v0, %%v0, %%v1, %%v1;", type) > 0;
	if (!strcmp(op, "div") && !half)
		return snprintf(out, n, "div.%s%s %%v0, %%v0, %%v1;",
				!real		       ? ""
				: single && s->cc < 20 ? "full."
						       : "rn.",
				type) > 0;
	if (!strcmp(op, "shfl"))
		return snprintf(out, n, "shfl.sync.idx.%s %%v0, %%v0, 0, 31, -1;", type) > 0;
	if (!strcmp(op, "divapprox"))
		return snprintf(out, n, "div.approx%s.%s %%v0, %%v0, %%v1;", zero, type) > 0;
	if (!strcmp(op, "divsub") || !strcmp(op, "divfull"))
		return snprintf(out, n, "div.%s.%s %%v0, %%v0, %%v1;", op[3] == 's' ? "approx" : "full", type) > 0;
	return false;
}

/* Cycles of the third pass over `links` links, with two reads of the clock. */
static double chain(struct gate *g, const struct op_spec *o, uint32_t links)
{
	const struct sim_spec *s = g->s;
	char text[128];
	struct str t;
	if (!link_text(text, sizeof text, s, o)) {
		printf("%s: no kernel for arith.%s.%s\n", g->gpu, o->op, o->type);
		g->failures++;
		return -1;
	}
	/* Halves lie in untyped registers. */
	const char *reg = !strcmp(o->type, "f16")     ? "b16"
			  : !strcmp(o->type, "f16x2") ? "b32"
			  : !strcmp(o->op, "madwide") ? (o->type[0] == 'u' ? "u64" : "s64")
						      : o->type;
	str_init(&t);
	gate_head(&t, s, false, 0, "");
	str_addf(&t, "\t.reg .%s %%v<3>;\n\tmov.u32 %%r8, 3;\n\tmov.u32 %%r4, 3;\n\tsetp.eq.u32 %%p0, %%r8, 3;\n", reg);
	if (!strcmp(o->type, "f16"))
		str_add(&t, "\tcvt.u16.u32 %v0, %r8;\n\tcvt.u16.u32 %v1, %r8;\n");
	else if (!strcmp(reg, "b32") || !strcmp(reg, "u32") || !strcmp(reg, "s32"))
		str_addf(&t, "\tmov.%s %%v0, %%r8;\n\tmov.%s %%v1, %%r8;\n", reg, reg);
	else if (strcmp(reg + 1, "64") == 0 && reg[0] != 'f')
		str_add(&t, "\tcvt.u64.u32 %v0, %r8;\n\tcvt.u64.u32 %v1, %r8;\n");
	else
		str_addf(&t, "\tcvt.rn.%s.u32 %%v0, %%r8;\n\tcvt.rn.%s.u32 %%v1, %%r8;\n", reg, reg);
	str_add(&t, "PASS:\n\tmov.u32 %r0, %clock;\n");
	for (uint32_t i = 0; i < links; i++)
		str_addf(&t, "\t%s\n", text);
	/* One more, which waits for the chain, before the clock is read again. */
	str_addf(&t, "\t%s\n", text);
	return gate_third_pass(g, s, &t, 1);
}

/* Results of another type than the operands make no chain: predicates, whole products, counts of bits. sim-native-counts has their instructions. */
static bool is_chain(const struct op_spec *o)
{
	return strcmp(o->op, "setp") != 0 && strcmp(o->op, "mulwide") != 0 &&
	       !(strcmp(o->op, "popc") == 0 && strcmp(o->type, "b64") == 0);
}

void gates_arithmetic(struct gate *g)
{
	for (uint32_t i = 0; i < g->s->op_count; i++) {
		const struct op_spec *o = &g->s->op[i];
		if (!is_chain(o))
			continue;
		/* Short enough for the smallest instruction cache. */
		uint32_t n = 128 / (o->native_ops ? o->native_ops : 1);
		n = n < 4 ? 4 : n;
		double few = chain(g, o, n / 2), many = chain(g, o, n);
		char what[96];
		if (few < 0 || many < 0)
			continue;
		snprintf(what, sizeof what, "latency of %s.%s", o->op, o->type);
		gate_check(g, what, (many - few) / (n - n / 2), o->latency, GATE_LATENCY);
	}
}

/* ---- shared memory ---- */

/* Rows of one bank that an access of all threads asks for, `stride` words apart: the format's page in few words. */
static uint32_t passes_of(const struct sim_spec *s, uint32_t stride)
{
	uint32_t most = s->shared_bank_width > 4 ? s->shared_banks * s->shared_bank_width / 4 : s->shared_banks;
	uint32_t lanes = s->shared_lanes ? s->shared_lanes : s->warp_size;
	uint32_t mode = s->shared_bank_mode ? s->shared_bank_mode : s->shared_bank_width, extra = 0;
	if (lanes > s->shared_banks)
		lanes = s->shared_banks;
	if (lanes > most)
		lanes = most;
	for (uint32_t first = 0; first < s->warp_size; first += lanes) {
		uint32_t worst = 0;
		for (uint32_t bank = 0; bank < s->shared_banks; bank++) {
			uint64_t rows[64];
			uint32_t count = 0;
			for (uint32_t lane = first; lane < first + lanes && lane < s->warp_size; lane++) {
				uint64_t a = 4ull * lane * stride, row = a / (s->shared_banks * s->shared_bank_width);
				bool known = false;
				if (a / mode % s->shared_banks != bank)
					continue;
				for (uint32_t k = 0; k < count; k++)
					known = known || rows[k] == row;
				if (!known)
					rows[count++] = row;
			}
			worst = count > worst ? count : worst;
		}
		extra += worst - 1;
	}
	return extra;
}

static double shared_chain(struct gate *g, uint32_t stride, uint32_t links)
{
	const struct sim_spec *s = g->s;
	struct str t;
	str_init(&t);
	gate_head(&t, s, false, 0, ".shared .align 256 .b8 room[8192];\n");
	/* Each thread's word holds its own address. */
	str_addf(&t,
		 "\tmov.u32 %%r3, %%tid.x;\n\tmul.lo.u32 %%r3, %%r3, %u;\n\tmov.u32 %%r9, room;\n\tadd.u32 %%r3, %%r3, "
		 "%%r9;\n\tst.shared.u32 [%%r3], %%r3;\n"
		 "\tmov.u32 %%r4, 3;\nPASS:\n\tmov.u32 %%r0, %%clock;\n",
		 4 * stride);
	for (uint32_t i = 0; i < links; i++)
		str_add(&t, "\tld.shared.u32 %r3, [%r3];\n");
	str_add(&t, "\tmov.u32 %r5, %r3;\n");
	return gate_third_pass(g, s, &t, s->warp_size);
}

void gates_shared(struct gate *g)
{
	const struct sim_spec *s = g->s;
	for (uint32_t stride = 0; stride <= 32; stride = stride ? 2 * stride : 1) {
		double few = shared_chain(g, stride, 16), many = shared_chain(g, stride, 64);
		char what[64];
		if (few < 0 || many < 0)
			return;
		snprintf(what, sizeof what, "shared memory, threads %u words apart", stride);
		gate_check(g, what, (many - few) / 48,
			   s->shared.memory_latency + s->shared.address_ops * s->shared.address_latency +
			       passes_of(s, stride) * s->shared_conflict_cost +
			       (s->warp_size > 32 ? s->shared.issue : 0), /* behind the first half */
			   GATE_LATENCY);
	}
}
