/* Who issues when: every instruction of many warps on several schedulers, against a model that walks cycle by cycle. */
#include "base/rng.h"
#include "tiny.h"
#include <string.h>

/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
/* clang-format on */

#define WARPS  16
#define EVENTS (WARPS * TINY_MAX)
struct event {
	uint64_t cycle;
	uint32_t warp, pc;
};
struct events {
	struct event e[EVENTS];
	uint32_t n;
};

static void note(void *ctx, const struct time_event *ev)
{
	struct events *l = ctx;
	assert_true(l->n < EVENTS);
	l->e[l->n++] = (struct event){ev->cycle, ev->warp, ev->pc};
}

static void launch(struct events *l, const struct sim_spec *s, const struct tiny *t, uint32_t grid, uint32_t block)
{
	struct arena a;
	struct time_program *p;
	struct time_gpu *g;
	struct func_memory m = {0};
	struct time_result r;
	l->n = 0;
	arena_init(&a);
	assert_int_equal(time_open(&g, s, 3), 0);
	assert_int_equal(time_prepare(&p, &a, s, &t->func), 0);
	struct time_hook hook = {.ctx = l, .issue = note};
	struct func_launch f = {.grid = {grid, 1, 1}, .block = {block, 1, 1}, .memory = &m};
	struct time_request q = {.program = p, .launch = &f, .limit_ms = 20000, .hook = &hook};
	assert_int_equal(time_launch(g, &q, &r), 0);
	assert_int_equal(r.end, TIME_DONE);
	time_close(g);
	arena_free(&a);
}

/* ---- the model: one block on one SM, instructions of one step, whole cycles ---- */

struct model {
	const struct sim_spec *s;
	const struct tiny *t;
	uint32_t warps, pc[WARPS], last[16], user[SPEC_PIPES];
	uint64_t ready[WARPS][64], free[16][SPEC_PIPES], port[16];
	uint64_t turned[WARPS], done[WARPS][SPEC_PIPES]; /* latest turn; when all of a pipe's results are there */
	uint8_t from[WARPS][64];			 /* the pipe + 1 that a register's value comes from */
	struct events *out;
};

static const struct op_spec *op_of(const struct model *m, uint32_t pc)
{
	return m->t->inst[pc].kind != FUNC_ALU ? NULL : &m->s->op[m->t->info[pc].ptx_op == PTX_OP_MUL ? 1 : 0];
}

/* An SM-wide pipe is the first scheduler's. */
static uint64_t *pipe_at(struct model *m, uint32_t sched, uint32_t pipe)
{
	return &m->free[m->s->pipe[pipe].per_scheduler ? sched : 0][pipe];
}

/* If a warp cannot tell a pipe's values apart, an instruction that misses one waits for all of them that are on their
 * way. */
static bool there(const struct model *m, uint32_t w, uint32_t reg, uint64_t t)
{
	const uint32_t pipe = m->from[w][reg];
	if (m->ready[w][reg] > t)
		return false;
	return !pipe || !m->s->pipe[pipe - 1].together || m->ready[w][reg] <= m->turned[w] || m->done[w][pipe - 1] <= t;
}

/* The pipe that warp w would take at t: -1 none accepts, -2 needs none, -3 the warp is not ready. */
static int wanted(struct model *m, uint32_t sched, uint32_t w, uint64_t t)
{
	const struct func_info *i = &m->t->info[m->pc[w]];
	const struct op_spec *o = op_of(m, m->pc[w]);
	int best = -1;
	if (m->turned[w] && m->turned[w] != t && t < m->turned[w] + (uint64_t)m->s->warp_interval)
		return -3;
	for (uint32_t k = 0; k < i->read_count; k++)
		if (!there(m, w, i->read[k], t))
			return -3;
	for (uint32_t k = 0; k < i->write_count; k++)
		if (!there(m, w, i->write[k], t))
			return -3;
	for (uint32_t k = 0; o && k < o->pipe_count; k++)
		if (best < 0 || *pipe_at(m, sched, o->pipe[k]) < *pipe_at(m, sched, (uint32_t)best))
			best = (int)o->pipe[k];
	if (!o)
		return -2;
	return *pipe_at(m, sched, (uint32_t)best) <= t ? best : -1;
}

static void issue(struct model *m, uint32_t sched, uint32_t w, uint64_t t)
{
	const struct func_info *i = &m->t->info[m->pc[w]];
	const struct op_spec *o = op_of(m, m->pc[w]);
	int pipe = wanted(m, sched, w, t);
	uint64_t turn = (uint64_t)m->s->scheduler_issue;
	m->out->e[m->out->n++] = (struct event){t, w, m->pc[w]};
	if (o) {
		uint64_t *f = pipe_at(m, sched, (uint32_t)pipe),
			 from = o->pipe_count > 1 ? (t > turn ? t - turn : 0) : t;
		uint32_t copies = m->s->pipe[pipe].per_scheduler ? m->s->schedulers : 1;
		for (uint32_t k = 0; k < o->pipe_count; k++)
			if ((int)o->pipe[k] == pipe)
				*f = (*f > from ? *f : from) + (uint64_t)(32 * copies / o->rate[k]);
		m->user[pipe] = sched;
		uint64_t *done = &m->done[w][o->pipe[0]];
		for (uint32_t k = 0; k < i->write_count; k++) {
			m->ready[w][i->write[k]] = t + (uint64_t)o->latency;
			m->from[w][i->write[k]] = (uint8_t)(o->pipe[0] + 1);
		}
		*done = t + (uint64_t)o->latency > *done ? t + (uint64_t)o->latency : *done;
	}
	m->turned[w] = t;
	m->pc[w] = m->t->inst[m->pc[w]].kind == FUNC_EXIT ? UINT32_MAX : m->pc[w] + 1;
	m->last[sched] = w;
}

/* The warp that the scheduler names at t, or WARPS. Warps started in the order of their numbers. */
static uint32_t named(struct model *m, uint32_t sched, uint64_t t)
{
	uint32_t n = m->s->schedulers, best = WARPS, slots = 0;
	for (uint32_t w = sched; w < m->warps; w += n)
		slots = m->pc[w] != UINT32_MAX ? w / n + 1 : slots;
	for (uint32_t k = 0; k < slots; k++) {
		uint32_t slot = k;
		if (m->s->policy == CORE_ROUND_ROBIN) {
			uint32_t from = m->last[sched] / n + 1;
			slot = ((from < slots ? from : 0) + k) % slots;
		} else if (m->s->policy == CORE_YOUNGEST) {
			slot = slots - 1 - k;
		}
		uint32_t w = slot * n + sched;
		if (m->pc[w] == UINT32_MAX || wanted(m, sched, w, t) == -3 || wanted(m, sched, w, t) == -1)
			continue;
		if (best == WARPS || (m->s->policy == CORE_GREEDY && w == m->last[sched]))
			best = w;
	}
	return best;
}

static void model_cycle(struct model *m, uint64_t t)
{
	uint32_t n = m->s->schedulers, name[16], second[16];
	int used[16];
	for (uint32_t k = 0; k < n; k++) {
		name[k] = m->port[k] <= t ? named(m, k, t) : WARPS;
		second[k] = WARPS;
		used[k] = -1;
	}
	for (int round = 0; round < 2; round++) {
		uint32_t *list = round ? second : name;
		for (uint32_t k = 0; k < n;) {
			if (list[k] == WARPS) {
				k++;
				continue;
			}
			int pipe = wanted(m, k, list[k], t);
			uint32_t who = k;
			for (uint32_t d = 0; pipe >= 0 && !m->s->pipe[pipe].per_scheduler && d < n; d++) {
				who = (m->user[pipe] + 1 + d) % n;
				if (list[who] != WARPS && wanted(m, who, list[who], t) == pipe)
					break;
			}
			uint32_t w = list[who];
			issue(m, who, w, t);
			list[who] = WARPS;
			if (!round) {
				m->port[who] = t + (uint64_t)m->s->scheduler_issue;
				used[who] = pipe;
				second[who] = m->s->dual_issue && pipe >= 0 ? w : WARPS;
			}
			for (uint32_t o = 0; o < n && !round; o++)
				if (list[o] != WARPS)
					list[o] = named(m, o, t);
			for (uint32_t o = 0; o < n; o++) {
				if (second[o] == WARPS)
					continue;
				int p = m->pc[second[o]] == UINT32_MAX ? -1 : wanted(m, o, second[o], t);
				if (round && (p < 0 || p == used[o]))
					second[o] = WARPS;
			}
		}
		for (uint32_t o = 0; o < n && !round; o++) {
			int p = second[o] == WARPS || m->pc[second[o]] == UINT32_MAX ? -1 : wanted(m, o, second[o], t);
			if (p < 0 || p == used[o])
				second[o] = WARPS;
		}
	}
}

static void model_run(struct events *out, const struct sim_spec *s, const struct tiny *t, uint32_t warps)
{
	static struct model m;
	memset(&m, 0, sizeof m);
	m = (struct model){.s = s, .t = t, .warps = warps, .out = out};
	for (uint32_t k = 0; k < SPEC_PIPES; k++)
		m.user[k] = s->schedulers - 1;
	out->n = 0;
	/* far from 0, so that nothing depends on pipes that were never used */
	for (uint64_t at = 1000; out->n < warps * t->func.inst_count; at++)
		model_cycle(&m, at);
	for (uint32_t k = 0; k < out->n; k++)
		out->e[k].cycle -= 1000;
}

static bool earlier(const struct event *a, const struct event *b)
{
	return a->cycle != b->cycle ? a->cycle < b->cycle : a->warp != b->warp ? a->warp < b->warp : a->pc < b->pc;
}

static void sort(struct events *l)
{
	for (uint32_t k = 1; k < l->n; k++)
		for (uint32_t j = k; j && earlier(&l->e[j], &l->e[j - 1]); j--) {
			struct event x = l->e[j];
			l->e[j] = l->e[j - 1];
			l->e[j - 1] = x;
		}
}

static void every_issue_is_the_models(void **state)
{
	(void)state;
	static struct events is, should;
	struct rng r;
	uint32_t dual = 0;
	rng_seed(&r, 20261122);
	for (uint32_t n = 0; n < 300; n++) {
		struct sim_spec s;
		struct tiny t;
		tiny_spec(&s);
		s.schedulers = 1 + (uint32_t)rng_below(&r, 4);
		s.scheduler_issue = 1 + (double)rng_below(&r, 4);
		s.policy = (enum core_policy)rng_below(&r, 4);
		s.dual_issue = rng_below(&r, 2);
		s.pipe_count = 3;
		for (uint32_t k = 0; k < 3; k++)
			s.pipe[k].per_scheduler = rng_below(&r, 2);
		s.op[0].latency = 1 + (double)rng_below(&r, 30);
		s.op[0].rate[0] = 8u << rng_below(&r, 3);
		s.op[1].native_ops = 1;
		s.op[1].latency = 1 + (double)rng_below(&r, 30);
		s.op[1].pipe[0] = (uint32_t)rng_below(&r, 2);
		s.op[1].rate[0] = 8u << rng_below(&r, 3);
		s.op[1].pipe_count = 1 + (uint32_t)rng_below(&r, 2);
		s.op[1].pipe[1] = 2;
		s.op[1].rate[1] = 4u << rng_below(&r, 3);
		s.warp_interval = n % 3 == 1 ? (double)rng_below(&r, 12) : 0;
		for (uint32_t k = 0; k < 3; k++)
			s.pipe[k].together = n % 4 > 1 && rng_below(&r, 2);
		tiny_init(&t);
		for (uint32_t k = 1 + (uint32_t)rng_below(&r, 40); k > 0; k--) {
			uint16_t d = (uint16_t)rng_below(&r, 8), a = (uint16_t)rng_below(&r, 8);
			(rng_below(&r, 2) ? tiny_add : tiny_mul)(&t, d, a, (uint16_t)rng_below(&r, 8));
		}
		tiny_exit(&t, FUNC_NONE, false);
		uint32_t warps = 1 + (uint32_t)rng_below(&r, WARPS);
		launch(&is, &s, &t, 1, warps * 32);
		model_run(&should, &s, &t, warps);
		sort(&is);
		sort(&should);
		assert_int_equal(is.n, should.n);
		for (uint32_t k = 0; k < is.n; k++) {
			if (memcmp(&is.e[k], &should.e[k], sizeof is.e[k]))
				fail_msg(
				    "GPU %u, issue %u: cycle %llu warp %u pc %u, expected cycle %llu warp %u pc %u", n,
				    k, (unsigned long long)is.e[k].cycle, is.e[k].warp, is.e[k].pc,
				    (unsigned long long)should.e[k].cycle, should.e[k].warp, should.e[k].pc);
			dual += k && is.e[k].cycle == is.e[k - 1].cycle && is.e[k].warp == is.e[k - 1].warp;
		}
	}
	assert_true(dual > 300);
}

/* Four schedulers and one pipe that takes an instruction every four cycles: each gets it every sixteen, in turn. */
static void shares_of_one_pipe_are_equal(void **state)
{
	(void)state;
	static struct events l;
	struct sim_spec s;
	struct tiny t;
	tiny_spec(&s);
	s.schedulers = 4;
	s.scheduler_issue = 1;
	tiny_init(&t);
	for (uint16_t k = 0; k < 60; k++)
		tiny_add(&t, (uint16_t)(k % 16), 20, 21);
	tiny_exit(&t, FUNC_NONE, false);
	/* two warps on the first scheduler, one on each of the others */
	launch(&l, &s, &t, 1, 160);
	for (uint32_t k = 0; k < 4 * 50; k++) {
		assert_int_equal(l.e[k].cycle, 4 * k);
		assert_int_equal(l.e[k].warp % 4, k % 4);
	}
}

/* What one scheduler does on a second pipe earns it nothing on the first. */
static void a_second_pipe_buys_no_share(void **state)
{
	(void)state;
	static struct events l;
	struct sim_spec s;
	struct tiny t;
	tiny_spec(&s);
	s.schedulers = 2;
	s.scheduler_issue = 1;
	s.pipe_count = 3;
	s.op[1] = s.op[0];
	strcpy(s.op[1].op, "mul");
	s.op[1].pipe[0] = 2;
	s.op[1].rate[0] = s.op[1].throughput = 16;
	tiny_init(&t);
	tiny_tid(&t, 1);
	tiny_imm(&t, 2, 64);
	tiny_less(&t, 0, 1, 2);
	uint32_t at = tiny_branch(&t, 0, false, 0, FUNC_NO_JOIN);
	for (uint16_t k = 0; k < 60; k++)
		tiny_mul(&t, (uint16_t)(3 + k % 12), 20, 21);
	tiny_exit(&t, FUNC_NONE, false);
	t.inst[at].target = t.func.inst_count;
	for (uint16_t k = 0; k < 60; k++)
		tiny_add(&t, (uint16_t)(3 + k % 12), 20, 21);
	tiny_exit(&t, FUNC_NONE, false);
	/* warps 0 and 1 add, one on each scheduler; warp 3 multiplies on the second one */
	launch(&l, &s, &t, 1, 128);
	uint32_t adds[2] = {0}, last = 2;
	for (uint32_t k = 0; k < l.n; k++) {
		bool add = l.e[k].pc >= t.inst[at].target && t.inst[l.e[k].pc].kind == FUNC_ALU;
		if (!add || adds[0] + adds[1] >= 100)
			continue;
		assert_true(l.e[k].warp != last);
		last = l.e[k].warp;
		adds[last]++;
	}
	assert_int_equal(adds[0], 50);
	assert_int_equal(adds[1], 50);
}

/* Two adds on one pipe are two turns; an add and a multiplication on another pipe are one. */
static void two_pipes_take_two_at_once(void **state)
{
	(void)state;
	static struct events l;
	for (uint32_t k = 0; k < 2; k++) {
		struct sim_spec s;
		struct tiny t;
		tiny_spec(&s);
		s.pipe_count = 3;
		s.dual_issue = true;
		s.op[1] = s.op[0];
		strcpy(s.op[1].op, "mul");
		s.op[1].pipe[0] = k ? 2 : 0;
		tiny_init(&t);
		tiny_add(&t, 1, 5, 5);
		tiny_mul(&t, 2, 5, 5);
		tiny_add(&t, 3, 5, 5);
		tiny_mul(&t, 4, 3, 5); /* needs the one before it */
		tiny_exit(&t, FUNC_NONE, false);
		launch(&l, &s, &t, 1, 32);
		const uint64_t one[] = {0, 4, 8, 18}, two[] = {0, 0, 4, 14};
		for (uint32_t i = 0; i < 4; i++)
			assert_int_equal(l.e[i].cycle, k ? two[i] : one[i]);
	}
}

/* A turn is an instruction, or two that go out at once; the next one is so many cycles later, whatever is ready. */
static void turns_of_a_warp_are_apart(void **state)
{
	(void)state;
	static struct events l;
	for (uint32_t dual = 0; dual < 2; dual++) {
		struct sim_spec s;
		struct tiny t;
		tiny_spec(&s);
		s.pipe_count = 3;
		s.dual_issue = dual;
		s.warp_interval = 9;
		s.op[1] = s.op[0];
		strcpy(s.op[1].op, "mul");
		s.op[1].pipe[0] = 2;
		tiny_init(&t);
		tiny_add(&t, 1, 5, 5);
		tiny_mul(&t, 2, 5, 5);
		tiny_add(&t, 3, 5, 5);
		tiny_mul(&t, 4, 5, 5);
		tiny_exit(&t, FUNC_NONE, false);
		launch(&l, &s, &t, 1, 32);
		const uint64_t one[] = {0, 9, 18, 27, 36}, two[] = {0, 0, 9, 9, 18};
		for (uint32_t i = 0; i < 5; i++)
			assert_int_equal(l.e[i].cycle, dual ? two[i] : one[i]);
	}
}

/* The first result is there after 10 cycles, the third after 18: who needs the first waits for the third, if it looks too early. */
static void results_may_only_be_known_together(void **state)
{
	(void)state;
	static struct events l;
	for (uint32_t together = 0; together < 2; together++) {
		struct sim_spec s;
		struct tiny t;
		tiny_spec(&s);
		s.pipe[0].together = together;
		tiny_init(&t);
		for (uint16_t k = 1; k <= 3; k++)
			tiny_add(&t, k, 5, 5);
		for (uint16_t k = 1; k <= 3; k++)
			tiny_add(&t, k, k, 5);
		tiny_exit(&t, FUNC_NONE, false);
		launch(&l, &s, &t, 1, 32);
		const uint64_t each[] = {0, 4, 8, 12, 16, 20}, all[] = {0, 4, 8, 18, 22, 26};
		assert_int_equal((uint64_t)s.op[0].latency, 10);
		for (uint32_t i = 0; i < 6; i++)
			assert_int_equal(l.e[i].cycle, together ? all[i] : each[i]);
	}
}

/* A slot that is used again holds a young warp. */
static void age_is_not_the_slot(void **state)
{
	(void)state;
	static struct events l;
	static const enum core_policy policies[] = {CORE_OLDEST, CORE_YOUNGEST};
	for (uint32_t n = 0; n < 2; n++) {
		struct sim_spec s;
		struct tiny t;
		tiny_spec(&s);
		s.sm_count = s.sm_per_cluster = s.cluster_count = 1;
		s.policy = policies[n];
		s.max_blocks_per_sm = 2;
		tiny_init(&t);
		for (uint16_t k = 0; k < 150; k++)
			tiny_add(&t, (uint16_t)(k % 10), 20, 21);
		tiny_exit(&t, FUNC_NONE, false);
		launch(&l, &s, &t, 3, 32);
		/* The first to run through is followed in its slot by the third, which is younger than the one that waited. */
		uint32_t first = l.e[0].warp;
		assert_int_equal(first, n);
		uint32_t k = 0;
		while (k < 151)
			assert_int_equal(l.e[k++].warp, first);
		/* That takes its time; meanwhile the one that waited goes on. The old one keeps on to its end ... */
		while (k < 302 && l.e[k].warp != first)
			k++;
		assert_true(n == 0 ? k == 302 : k > 152 && k < 302);
		/* ... and the young one issues in every turn until it has ended. */
		uint64_t from = l.e[k].cycle, turns = 0;
		for (; k < l.n; k++)
			turns += l.e[k].warp == first && l.e[k].cycle == from + 4 * turns;
		assert_int_equal(turns, 151);
		assert_int_equal(l.n, 453);
	}
}

/* Blocks of one warp each, of which some lanes take a branch, on one scheduler. */
static uint64_t parting_cycles(double apart, uint64_t taken)
{
	struct bench b;
	tiny_spec(&b.s);
	b.s.sm_count = b.s.cluster_count = b.s.sm_per_cluster = b.s.schedulers = 1;
	b.s.max_blocks_per_sm = 4;
	b.s.branch_split_issue = apart;
	bench_start(&b);
	tiny_tid(&b.t, 1);
	tiny_imm(&b.t, 2, taken);
	tiny_less(&b.t, 0, 1, 2);
	uint32_t at = tiny_branch(&b.t, 0, false, 0, 0);
	b.t.inst[at].target = b.t.inst[at].join = tiny_add(&b.t, 3, 1, 1);
	bench_go(&b, 4, 32);
	assert_int_equal(b.r.time.end, TIME_DONE);
	const uint64_t cycles = b.r.time.cycles;
	bench_stop(&b);
	return cycles;
}

static void warps_of_a_scheduler_part_one_after_the_other(void **state)
{
	(void)state;
	assert_int_equal(parting_cycles(100, 32), parting_cycles(0, 32));
	assert_int_equal(parting_cycles(150, 16) - parting_cycles(100, 16), 3 * 50);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(warps_of_a_scheduler_part_one_after_the_other),
	    cmocka_unit_test(every_issue_is_the_models),
	    cmocka_unit_test(shares_of_one_pipe_are_equal),
	    cmocka_unit_test(a_second_pipe_buys_no_share),
	    cmocka_unit_test(two_pipes_take_two_at_once),
	    cmocka_unit_test(turns_of_a_warp_are_apart),
	    cmocka_unit_test(results_may_only_be_known_together),
	    cmocka_unit_test(age_is_not_the_slot),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
