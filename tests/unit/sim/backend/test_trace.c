/* A trace gives the right reason and the right cycles for each kind of wait, and changes nothing. */
#include "base/arena.h"
#include "gpu/sim/sim.h"
#include <stdio.h>
#include <string.h>

/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
/* clang-format on */

#define HEAD                                                                                                           \
	".version 6.0\n.target sm_70\n.address_size 64\n.visible .entry k(.param .u64 out)\n{\n"                       \
	"	.reg .pred %p, %q;\n	.reg .b32 %t, %a, %b, %c;\n	.reg .b64 %o;\n	.shared .align 4 .b8 "                      \
	"s[4096];\n"                                                                                                   \
	"	ld.param.u64 %o, [out];\n	mov.u32 %t, %tid.x;\n"
#define EVENTS_MAX 4096

struct tape {
	struct time_event ev[EVENTS_MAX];
	uint32_t n;
	char what[EVENTS_MAX][24]; /* names in events last as long as the call */
};

static void record(void *ctx, const struct time_event *ev)
{
	struct tape *t = ctx;
	assert_true(t->n < EVENTS_MAX);
	snprintf(t->what[t->n], sizeof t->what[0], "%s", ev->what ? ev->what : "");
	t->ev[t->n++] = *ev;
}

struct rig {
	struct arena a;
	struct sim_spec *s;
	struct tape *tape;
	const struct func_program *p;
	struct gpu *g;
	uint64_t cycles;
};

static void rig_open(struct rig *r)
{
	struct err e = {0};
	memset(r, 0, sizeof *r);
	arena_init(&r->a);
	assert_int_equal(spec_open(&r->s, &r->a, "toy", &e), 0);
	r->tape = ARENA_NEW(&r->a, struct tape);
}

static void rig_go(struct rig *r, const char *text, uint32_t grid, uint32_t block, bool traced)
{
	struct time_hook hook = {.ctx = r->tape, .issue = record};
	struct err e = {0};
	struct sample s;
	uint32_t id;
	if (r->g)
		r->g->ops->close(r->g);
	assert_int_equal(sim_open_spec(&r->g, r->s, 1, &e), 0);
	struct kernel_source src = {.name = "test", .entry = "k", .text = text};
	if (r->g->ops->load(r->g, &src, 1, &id, NULL, &e))
		fail_msg("%s", e.text);
	struct launch l = {
	    .entry = "k", .grid = {grid, 1, 1}, .block = {block, 1, 1}, .buffer_count = 1, .arg_count = 1};
	l.buffers[0] = (struct launch_buffer){.bytes = 65536, .output = true, .output_words = 16};
	l.args[0].kind = ARG_BUFFER;
	r->tape->n = 0;
	sim_trace(r->g, traced ? &hook : NULL);
	assert_int_equal(r->g->ops->run(r->g, id, &l, &s, &e), 0);
	if (s.outcome != OUTCOME_OK)
		fail_msg("%s", s.message);
	r->p = sim_program(r->g, id);
	r->cycles = sim_result(r->g)->cycles;
	if (traced)
		assert_int_equal(r->tape->n, sim_result(r->g)->instructions);
	sample_free(&s);
}

static void rig_close(struct rig *r)
{
	r->g->ops->close(r->g);
	arena_free(&r->a);
}

/* The n-th event of a warp that stands on a line. */
static const struct time_event *at(const struct rig *r, uint32_t warp, uint32_t line, uint32_t n)
{
	for (uint32_t k = 0; k < r->tape->n; k++) {
		const struct time_event *ev = &r->tape->ev[k];
		if (ev->warp == warp && r->p->info[ev->pc].line == line && !n--)
			return ev;
	}
	fail_msg("warp %u never comes to line %u", warp, line);
	return NULL;
}

static void because(const struct rig *r, const struct time_event *ev, enum time_why why, const char *what)
{
	const char *said = r->tape->what[ev - r->tape->ev];
	if (ev->why != why || strcmp(said, what) != 0)
		fail_msg("line %u: %s \"%s\", not %s \"%s\"", r->p->info[ev->pc].line, time_why_text(ev->why), said,
			 time_why_text(why), what);
}

/* Lines 12 on: loads of one warp with only one in flight, then what they wait for. */
static void operands_and_loads(void **state)
{
	static const char text[] = HEAD "	ld.global.u32 %a, [%o];\n	ld.global.u32 %b, [%o + 4096];\n"
					"	add.u32 %c, %a, 1;\n	add.u32 %c, %c, %b;\n	bra.uni L;\nL:\n"
					"	ld.global.u32 %a, [%o];\n	ld.global.cg.u32 %b, [%o];\n	"
					"st.global.u32 [%o], %c;\n	ret;\n}\n";
	struct rig r;
	(void)state;
	rig_open(&r);
	r.s->loads_in_flight = 1;
	rig_go(&r, text, 1, 1, true);
	const struct time_event *first = at(&r, 0, 12, 0), *second = at(&r, 0, 13, 0);
	because(&r, at(&r, 0, 10, 0), WHY_START, "");
	assert_true(at(&r, 0, 10, 0)->first);
	because(&r, first, WHY_OPERAND, "");
	assert_int_equal(r.p->info[first->why_pc].line, 10);
	assert_int_equal(first->done - first->cycle, 400);
	assert_string_equal(first->where, "memory x1");
	because(&r, second, WHY_LOADS, "");
	assert_int_equal(second->cycle, first->done);
	assert_int_equal(second->before, first->cycle);
	/* the operand of line 12 was there when line 13 went out, so the addition only follows it */
	because(&r, at(&r, 0, 14, 0), WHY_ORDER, "");
	because(&r, at(&r, 0, 15, 0), WHY_OPERAND, "");
	assert_int_equal(r.p->info[at(&r, 0, 15, 0)->why_pc].line, 13);
	because(&r, at(&r, 0, 18, 0), WHY_BRANCH, "");
	assert_int_equal(at(&r, 0, 18, 0)->cycle - at(&r, 0, 16, 0)->cycle, 10);
	assert_string_equal(at(&r, 0, 18, 0)->where, "global.l1 x1");
	assert_int_equal(at(&r, 0, 18, 0)->done - at(&r, 0, 18, 0)->cycle, 30);
	assert_string_equal(at(&r, 0, 19, 0)->where, "global.l2 x1");
	assert_int_equal(at(&r, 0, 20, 0)->transactions, 1);
	rig_close(&r);
}

/* Two warps: the pipe, the port, the barrier, conflicts and uncoalesced lanes. */
static void pipes_ports_and_barriers(void **state)
{
	static const char text[] =
	    HEAD "	add.u32 %a, %t, 1;\n	add.u32 %b, %t, 1;\n	bar.sync 0;\n	mov.u32 %c, s;\n	"
		 "mad.lo.u32 %c, %t, "
		 "16, %c;\n	st.shared.u32 [%c], %a;\n	ld.shared.u32 %a, [s];\n	ret;\n}\n";
	struct rig r;
	(void)state;
	rig_open(&r);
	rig_go(&r, text, 1, 64, true);
	/* an addition of a warp occupies the pipe for two cycles */
	const struct time_event *a = at(&r, 0, 13, 0), *b = at(&r, 1, 13, 0);
	because(&r, a, WHY_PIPE, "alu");
	because(&r, b, WHY_PIPE, "alu");
	const struct time_event *late =
	    at(&r, 0, 14, 0)->cycle > at(&r, 1, 14, 0)->cycle ? at(&r, 0, 14, 0) : at(&r, 1, 14, 0);
	for (uint32_t w = 0; w < 2; w++)
		if (at(&r, w, 15, 0)->cycle == late->cycle + 10)
			because(&r, at(&r, w, 15, 0), WHY_BARRIER, "");
	assert_int_equal(at(&r, 0, 17, 0)->passes, 16 / 4); /* lanes sixteen bytes apart: four of them in a bank */
	assert_int_equal(at(&r, 0, 18, 0)->passes, 1);	    /* one word for all */
	/* Eight pipes' worth of room and one port: now the port is what is waited for. */
	for (uint32_t k = 0; k < r.s->op_count; k++)
		for (uint32_t n = 0; n < r.s->op[k].pipe_count; n++)
			r.s->op[k].rate[n] *= 64;
	rig_go(&r, text, 1, 64, true);
	uint32_t port = 0;
	for (uint32_t k = 0; k < r.tape->n; k++)
		port += r.tape->ev[k].why == WHY_PORT;
	assert_true(port > 4);
	rig_close(&r);
}

static void paths_take_turns(void **state)
{
	static const char text[] =
	    HEAD "	setp.lt.u32 %p, %t, 7;\n	@%p bra A;\n	add.u32 %b, %t, 1;\n	bra.uni E;\nA:\n"
		 "	st.shared.u32 [s], %t;\nE:\n	st.global.u32 [%o], %c;\n	ret;\n}\n";
	struct rig r;
	(void)state;
	rig_open(&r);
	r.s->independent_threads = true;
	rig_go(&r, text, 1, 32, true);
	assert_int_equal(at(&r, 0, 17, 0)->mask, 0x7f);
	assert_int_equal(at(&r, 0, 14, 0)->mask, 0xffffff80);
	because(&r, at(&r, 0, 14, 0), WHY_PATH, "");
	assert_int_equal(at(&r, 0, 19, 0)->mask, UINT32_MAX);
	rig_close(&r);
}

/* With an instruction cache that the code does not fit in. */
static void a_trace_changes_nothing(void **state)
{
	static const char text[] = HEAD "	and.b32 %c, %t, 31;\n	mov.u32 %b, s;\n	mad.lo.u32 %b, %c, 8, "
					"%b;\nL:\n	ld.global.u32 %a, [%o];\n"
					"	st.shared.u32 [%b], %a;\n	ld.shared.u32 %a, [%b];\n	"
					"setp.lt.u32 %p, %c, 9;\n	@%p add.u32 %a, "
					"%a, 1;\n	add.u64 %o, %o, 128;\n	bar.sync 0;\n	sub.u32 %c, %c, "
					"1;\n	setp.gt.s32 %q, %c, 0;\n	@%q bra "
					"L;\n	ret;\n}\n";
	static const char *const gpus[] = {"toy", "gtx280", "v100"};
	(void)state;
	for (size_t k = 0; k < sizeof gpus / sizeof gpus[0]; k++) {
		struct rig r;
		struct err e = {0};
		char own[sizeof text + 64];
		rig_open(&r);
		assert_int_equal(spec_open(&r.s, &r.a, gpus[k], &e), 0);
		snprintf(own, sizeof own, ".version %d.%d\n.target %s\n%s", r.s->ptx_version / 10,
			 r.s->ptx_version % 10, r.s->target, strchr(strchr(text, '\n') + 1, '\n') + 1);
		rig_go(&r, own, 3, 32, false);
		uint64_t cycles = r.cycles;
		rig_go(&r, own, 3, 32, true);
		assert_int_equal(r.cycles, cycles);
		uint64_t last = 0;
		uint32_t fetches = 0;
		for (uint32_t n = 0; n < r.tape->n; n++) {
			const struct time_event *ev = &r.tape->ev[n];
			assert_true(ev->first || ev->cycle > ev->before);
			assert_true(ev->last >= ev->cycle && ev->done > ev->last);
			assert_true(ev->last >= last); /* in the order of their last steps */
			last = ev->last;
			fetches += ev->why == WHY_FETCH;
		}
		assert_int_equal(fetches > 0, r.s->fetch.path.levels > 0);
		rig_close(&r);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(operands_and_loads),
	    cmocka_unit_test(pipes_ports_and_barriers),
	    cmocka_unit_test(paths_take_turns),
	    cmocka_unit_test(a_trace_changes_nothing),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
