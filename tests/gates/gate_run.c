#include "gate.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void gate_check(struct gate *g, const char *what, double value, double truth, double tolerance)
{
	g->checks++;
	if (fabs(value - truth) <= tolerance)
		return;
	g->failures++;
	if (!g->off)
		printf("%s: %s is %.10g, the description says %.10g\n", g->gpu, what, value, truth);
}

static uint64_t broken(struct gate *g, const char *why)
{
	printf("%s: a kernel did not run: %s\n", g->gpu, why);
	g->broken = true;
	g->failures++;
	return 0;
}

/* Another GPU: each latency a little longer, each structure of another size, each rate lower. */
static void put_off(struct sim_spec *s)
{
	struct cache_spec *levels[6 * CONST_LEVELS];
	uint32_t n = 0;
	for (uint32_t i = 0; i < s->op_count; i++)
		s->op[i].latency += 2;
	for (uint32_t k = 0; k < CONST_LEVELS; k++) {
		levels[n++] = &s->constant.level[k];
		levels[n++] = &s->global.level[k];
		levels[n++] = &s->fetch.path.level[k];
		levels[n++] = &s->texture.level[k];
		levels[n++] = &s->tlb[TLB_GLOBAL].level[k];
		levels[n++] = &s->tlb[TLB_TEXTURE].level[k];
	}
	for (uint32_t i = 0; i < n; i++) {
		struct cache_spec *c = levels[i];
		if (!c->present && !c->size)
			continue;
		c->latency += 2;
		if (c->set_ways || c->policy == POLICY_WEIGHTED || c->policy == POLICY_SCHEDULE || c->ways == 1)
			continue;
		c->size -= c->size / c->ways;
		c->ways--;
	}
	s->constant.memory_latency += 2;
	s->global.memory_latency += 2;
	s->texture.memory_latency += 2;
	s->fetch.path.memory_latency += 4;
	s->shared.memory_latency += 2;
	s->shared.issue *= 1.2;
	s->barrier_latency += 2;
	s->branch_latency += 2;
	s->clock_issue += 2;
	s->dram_bandwidth *= 0.9;
}

uint64_t gate_run(struct gate *g, struct gate_launch *l, uint32_t *out)
{
	struct kernel_source src = {.name = "gate", .entry = "k", .text = l->text};
	struct launch *q = mem_zero(1, sizeof *q);
	struct native_info native;
	struct sample sample = {0};
	struct err e = {0};
	struct gpu *gpu = NULL;
	uint32_t id;
	uint64_t cycles = 0;
	struct sim_spec other = *l->s;
	if (!q)
		return broken(g, "out of memory");
	if (g->off)
		put_off(&other);
	*q = (struct launch){.repeats = 1, .grid = {l->grid, 1, 1}, .block = {l->block, 1, 1}, .time_limit_ms = 60000};
	snprintf(q->entry, sizeof q->entry, "k");
	q->buffers[q->buffer_count++] =
	    (struct launch_buffer){.bytes = 4ull * l->words, .output = true, .output_words = l->words};
	q->args[q->arg_count++] = (struct launch_arg){.kind = ARG_BUFFER, .buffer = 0};
	if (l->bytes) {
		struct launch_buffer *b = &q->buffers[q->buffer_count++];
		*b = (struct launch_buffer){
		    .bytes = l->bytes, .align = 1 << 21, .ring = l->ring, .ring_count = l->ring_count, .ring_word = 8};
		if (l->constant) {
			b->space = BUFFER_CONSTANT;
			b->align = 0;
			b->ring_word = 4;
			snprintf(b->symbol, sizeof b->symbol, "ring");
		} else if (l->texture) {
			b->ring_word = b->ring_unit = 4;
			q->textures[q->texture_count++] = (struct launch_texture){
			    .buffer = 1, .size = {(uint32_t)(l->bytes / 4), 0, 0}, .type = TEXEL_U32, .channels = 1};
			q->args[q->arg_count++] = (struct launch_arg){.kind = ARG_TEXTURE};
		} else {
			q->args[q->arg_count++] = (struct launch_arg){.kind = ARG_BUFFER, .buffer = 1};
		}
	}
	for (uint32_t i = 0; i < l->args; i++)
		q->args[q->arg_count++] = (struct launch_arg){.kind = ARG_U32, .bits = l->arg[i]};
	if (sim_open_spec(&gpu, &other, 1, &e))
		broken(g, e.text);
	else if (gpu->ops->load(gpu, &src, 1, &id, &native, &e) || gpu->ops->run(gpu, id, q, &sample, &e))
		broken(g, e.text);
	else if (sample.outcome != OUTCOME_OK)
		broken(g, sample.message);
	else {
		memcpy(out, sample.words, 4ull * l->words);
		cycles = sim_result(gpu)->cycles;
		l->native = native.instructions;
	}
	sample_free(&sample);
	if (gpu)
		gpu->ops->close(gpu);
	mem_free(q);
	return cycles;
}

void gate_head(struct str *t, const struct sim_spec *s, bool ring, uint32_t args, const char *before)
{
	str_addf(t, ".version %d.%d\n.target %s\n%s.entry k (.param .u64 out", s->ptx_version / 10, s->ptx_version % 10,
		 s->target, before);
	if (ring)
		str_add(t, ", .param .u64 ring");
	for (uint32_t i = 0; i < args; i++)
		str_addf(t, ", .param .u32 a%u", i);
	str_add(t, ")\n{\n\t.reg .u64 %o, %q;\n\t.reg .u32 %r<16>;\n\t.reg .pred %p<4>;\n\tld.param.u64 %o, [out];\n");
	if (ring)
		str_add(t, "\tld.param.u64 %q, [ring];\n");
	for (uint32_t i = 0; i < args; i++)
		str_addf(t, "\tld.param.u32 %%r%u, [a%u];\n", 10 + i, i);
}

/* ---- chases ---- */

static const char *load_of(const struct gate_ring *r, const struct sim_spec *s)
{
	if (r->path == GATE_CONSTANT)
		return "ld.const.u32 %r9, [%r9];";
	if (r->path == GATE_TEXTURE)
		return "tex.1d.v4.u32.s32 {%x, %y0, %y1, %y2}, [%q, {%x}];";
	/* Targets without caches know no cache operators. */
	return r->path == GATE_GLOBAL_L2 && s->cc >= 20 ? "ld.global.cg.u64 %q, [%q];" : "ld.global.u64 %q, [%q];";
}

static const char *use_of(const struct gate_ring *r)
{
	return r->path == GATE_CONSTANT	 ? "mov.u32 %r8, %r9;"
	       : r->path == GATE_TEXTURE ? "mov.b32 %r8, %x;"
					 : "cvt.u32.u64 %r8, %q;";
}

static uint64_t run_ring(struct gate *g, const struct sim_spec *s, const struct gate_ring *r, struct str *t,
			 uint32_t passes, uint32_t steps, uint32_t limit, uint32_t out[4])
{
	uint64_t *ring = mem_zero(r->n, sizeof *ring), cycles = 0;
	if (!ring || t->failed) {
		mem_free(ring);
		return broken(g, "out of memory");
	}
	for (uint64_t i = 0; i < r->n; i++)
		ring[i] = i * (r->stride + r->skew);
	struct gate_launch l = {.s = s,
				.text = str_text(t),
				.grid = 1,
				.block = 1,
				.words = 4,
				.ring = ring,
				.ring_count = (uint32_t)r->n,
				.bytes = r->path == GATE_CONSTANT ? s->constant_bytes : r->n * (r->stride + r->skew),
				.constant = r->path == GATE_CONSTANT,
				.texture = r->path == GATE_TEXTURE,
				.arg = {passes, steps, limit},
				.args = 3};
	cycles = gate_run(g, &l, out);
	mem_free(ring);
	return cycles;
}

static void chase_head(struct str *t, const struct sim_spec *s, const struct gate_ring *r)
{
	char before[80] = "";
	if (r->path == GATE_CONSTANT)
		snprintf(before, sizeof before, ".const .align 256 .b8 ring[%llu];\n",
			 (unsigned long long)s->constant_bytes);
	gate_head(t, s, r->path != GATE_CONSTANT, 3, before);
	str_add(t, "\t.reg .b32 %x, %y<3>;\n\tmov.u32 %x, 0;\n\tmov.u32 %r9, 0;\n");
}

/* A lap in rounds of `unroll` loads, each round timed; the sum over the last pass. */
static double lap_sum(struct gate *g, const struct sim_spec *s, const struct gate_ring *r, uint32_t unroll)
{
	struct str t;
	uint32_t out[4] = {0};
	str_init(&t);
	chase_head(&t, s, r);
	str_add(&t, "PASS:\n\tmov.u32 %r3, 0;\n\tmov.u32 %r4, %r11;\nROUND:\n\tmov.u32 %r0, %clock;\n");
	for (uint32_t i = 0; i < unroll; i++)
		str_addf(&t, "\t%s\n", load_of(r, s));
	str_addf(&t,
		 "\t%s\n\tmov.u32 %%r1, %%clock;\n\tsub.u32 %%r2, %%r1, %%r0;\n\tadd.u32 %%r3, %%r3, %%r2;\n"
		 "\tsub.u32 %%r4, %%r4, 1;\n\tsetp.ne.u32 %%p0, %%r4, 0;\n\t@%%p0 bra ROUND;\n"
		 "\tsub.u32 %%r10, %%r10, 1;\n\tsetp.ne.u32 %%p0, %%r10, 0;\n\t@%%p0 bra PASS;\n"
		 "\tst.global.u32 [%%o], %%r3;\n\tst.global.u32 [%%o+4], %%r8;\n\texit;\n}\n",
		 use_of(r));
	uint64_t ran = run_ring(g, s, r, &t, r->laps + 1, (uint32_t)(r->n / unroll), 0, out);
	str_free(&t);
	return ran ? (double)out[0] : -1;
}

double gate_chase(struct gate *g, const struct sim_spec *s, const struct gate_ring *r)
{
	/* n/8 and n/32 rounds of one lap differ by what a round costs beside its loads. */
	double many = lap_sum(g, s, r, 8), few = lap_sum(g, s, r, 32);
	if (many < 0 || few < 0)
		return -1;
	double n = (double)r->n, round = (many - few) / (n / 8 - n / 32);
	return (few - round * n / 32) / n;
}

double gate_slow(struct gate *g, const struct sim_spec *s, const struct gate_ring *r, double limit)
{
	struct str t;
	uint32_t out[4] = {0};
	str_init(&t);
	chase_head(&t, s, r);
	/* What the reads of the clock and the use cost is measured first, without a load. */
	str_addf(
	    &t,
	    "\tmov.u32 %%r6, 0;\nEMPTY:\n\tmov.u32 %%r0, %%clock;\n\t%s\n\tmov.u32 %%r1, %%clock;\n"
	    "\tsub.u32 %%r5, %%r1, %%r0;\n\tadd.u32 %%r6, %%r6, 1;\n\tsetp.lt.u32 %%p0, %%r6, 3;\n\t@%%p0 bra EMPTY;\n"
	    "\tadd.u32 %%r5, %%r5, %%r12;\n",
	    use_of(r));
	str_addf(&t,
		 "PASS:\n\tmov.u32 %%r3, 0;\n\tmov.u32 %%r4, %%r11;\nROUND:\n\tmov.u32 %%r0, %%clock;\n\t%s\n\t%s\n"
		 "\tmov.u32 %%r1, %%clock;\n\tsub.u32 %%r2, %%r1, %%r0;\n\tsetp.gt.u32 %%p1, %%r2, %%r5;\n"
		 "\t@%%p1 add.u32 %%r3, %%r3, 1;\n"
		 "\tsub.u32 %%r4, %%r4, 1;\n\tsetp.ne.u32 %%p0, %%r4, 0;\n\t@%%p0 bra ROUND;\n"
		 "\tsub.u32 %%r10, %%r10, 1;\n\tsetp.ne.u32 %%p0, %%r10, 0;\n\t@%%p0 bra PASS;\n"
		 "\tst.global.u32 [%%o], %%r3;\n\tst.global.u32 [%%o+4], %%r8;\n\texit;\n}\n",
		 load_of(r, s), use_of(r));
	uint64_t ran = run_ring(g, s, r, &t, r->laps + 1, (uint32_t)r->n, (uint32_t)lround(limit), out);
	str_free(&t);
	return ran ? (double)out[0] : -1;
}

double gate_third_pass(struct gate *g, const struct sim_spec *s, struct str *t, uint32_t threads)
{
	uint32_t out[1] = {0};
	str_add(t, "\tmov.u32 %r1, %clock;\n\tsub.u32 %r2, %r1, %r0;\n\tsub.u32 %r4, %r4, 1;\n"
		   "\tsetp.ne.u32 %p0, %r4, 0;\n\t@%p0 bra PASS;\n\tst.global.u32 [%o], %r2;\n\texit;\n}\n");
	struct gate_launch l = {.s = s, .text = str_text(t), .grid = 1, .block = threads, .words = 1};
	uint64_t ran = gate_run(g, &l, out);
	str_free(t);
	return ran ? (double)out[0] : -1;
}
