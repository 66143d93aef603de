/* Instruction fetch: every cycle of it, against a model that keeps lists of lines and looks at nothing else. */
#include "base/rng.h"
#include "tiny.h"
#include <string.h>

/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
/* clang-format on */

static void level(struct cache_spec *c, uint32_t sets, uint32_t ways, uint32_t line, double latency,
		  enum cache_scope scope)
{
	*c = (struct cache_spec){.present = true,
				 .size = (uint64_t)sets * ways * line,
				 .line = line,
				 .sector = line,
				 .ways = ways,
				 .sets = sets,
				 .scope = scope,
				 .latency = latency,
				 .partitions = 1};
}

/* ---- the reference: one warp, least recently used lines in lists ---- */

#define LINES 4096
struct list {
	const struct cache_spec *c;
	uint64_t line[LINES], ready[LINES], used[LINES];
	uint32_t count;
	uint64_t port; /* free again */
};
struct model {
	const struct sim_spec *s;
	struct list level[3];
	uint64_t ahead[16], ahead_ready[16];
	uint32_t ahead_at;
	uint64_t stamp, held;
};

static void model_start(struct model *m, const struct sim_spec *s)
{
	memset(m, 0, sizeof *m);
	m->s = s;
	m->held = UINT64_MAX;
	for (uint32_t k = 0; k < s->fetch.path.levels; k++)
		m->level[k].c = &s->fetch.path.level[k];
}

static int find(const struct list *l, uint64_t address)
{
	for (uint32_t k = 0; k < l->count; k++)
		if (l->line[k] == address / l->c->line)
			return (int)k;
	return -1;
}

static void use(struct model *m, struct list *l, uint64_t address, uint64_t ready)
{
	uint64_t line = address / l->c->line;
	int at = find(l, address);
	uint32_t same = 0, oldest = LINES;
	if (at >= 0) {
		l->used[at] = ++m->stamp;
		return;
	}
	for (uint32_t k = 0; k < l->count; k++) {
		if (l->line[k] % l->c->sets != line % l->c->sets)
			continue;
		same++;
		if (oldest == LINES || l->used[k] < l->used[oldest])
			oldest = k;
	}
	if (same < l->c->ways)
		oldest = l->count++;
	l->line[oldest] = line;
	l->ready[oldest] = ready;
	l->used[oldest] = ++m->stamp;
}

static uint64_t later(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* Cycles until the level's port has begun to move the bytes; a port of powers of two, so that all is whole. */
static uint64_t queue(struct list *l, uint64_t t, uint64_t bytes)
{
	if (!(l->c->bandwidth > 0))
		return 0;
	uint64_t from = later(l->port, t);
	l->port = from + bytes / (uint64_t)l->c->bandwidth;
	return from - t;
}

static uint64_t model_fetch(struct model *m, uint64_t address, uint64_t t)
{
	const struct fetch_spec *f = &m->s->fetch;
	uint64_t block = address / f->block, unit = f->path.level[0].line, line = address / unit, ready = 0;
	if (block == m->held)
		return t;
	bool enters = m->held == UINT64_MAX || m->held * f->block / unit != line;
	m->held = block;
	int at = find(&m->level[0], address);
	uint64_t hit = t + (uint64_t)f->path.level[0].latency + queue(&m->level[0], t, at < 0 ? unit : f->block);
	if (at >= 0) {
		ready = m->level[0].ready[at];
	} else {
		for (uint32_t k = 0; k < f->ahead; k++)
			if (m->ahead_ready[k] && m->ahead[k] == line) {
				ready = m->ahead_ready[k];
				m->ahead_ready[k] = 0;
			}
		uint64_t wait = 0, moved = unit;
		bool asked = !ready; /* what was taken along asks nobody again */
		uint32_t k = 1;
		for (; !ready && k < f->path.levels; k++) {
			at = find(&m->level[k], line * unit);
			moved = at < 0 ? f->path.level[k].line : moved;
			wait = later(wait, queue(&m->level[k], t, moved));
			if (at >= 0)
				ready = later(m->level[k].ready[at], t + wait + (uint64_t)f->path.level[k].latency);
			if (at >= 0)
				break;
		}
		if (!ready)
			ready = t + wait + (uint64_t)f->path.memory_latency;
		for (uint32_t n = 1; asked && n <= k && n < f->path.levels; n++)
			use(m, &m->level[n], line * unit, ready);
	}
	use(m, &m->level[0], address, ready);
	for (uint32_t n = 1; enters && n <= f->ahead; n++) {
		uint64_t next = (line + n) * unit;
		bool have = find(&m->level[0], next) >= 0;
		for (uint32_t k = 0; k < f->ahead; k++)
			have = have || (m->ahead_ready[k] && m->ahead[k] == line + n);
		at = find(&m->level[1], next);
		if (have || at < 0)
			continue;
		use(m, &m->level[1], next, 0);
		m->ahead[m->ahead_at] = line + n;
		m->ahead_ready[m->ahead_at] =
		    later(m->level[1].ready[at], t + (uint64_t)f->path.level[1].latency + queue(&m->level[1], t, unit));
		m->ahead_at = (m->ahead_at + 1) % f->ahead;
	}
	return later(ready, hit);
}

/* The clock values of one warp over the program's `passes` rounds of its loop, from the first on. */
static uint32_t model_run(struct model *m, const struct tiny *t, uint32_t loop, uint32_t passes, uint32_t *clock)
{
	const struct sim_spec *s = m->s;
	uint64_t ready[64] = {0}, now = 1000, port = 0, sp = 0, lsu = 0, address[TINY_MAX], at = s->fetch.base;
	uint32_t clocks = 0, pc = 0, rounds = 0;
	for (uint32_t k = 0; k < t->func.inst_count; k++) {
		uint32_t own = t->inst[k].kind == FUNC_ALU ? s->op[0].bytes : 0, bytes = own ? own : s->fetch.bytes;
		at = (at + bytes - 1) / bytes * bytes;
		address[k] = at;
		at += bytes;
	}
	while (t->inst[pc].kind != FUNC_EXIT) {
		const struct func_info *i = &t->info[pc];
		enum func_kind kind = (enum func_kind)t->inst[pc].kind;
		uint64_t go = model_fetch(m, address[pc], now);
		for (uint32_t k = 0; k < i->read_count; k++)
			go = later(go, ready[i->read[k]]);
		for (uint32_t k = 0; k < i->write_count; k++)
			go = later(go, ready[i->write[k]]);
		go = later(go, port);
		go = kind == FUNC_ALU ? later(go, sp) : kind == FUNC_STORE ? later(go, lsu) : go;
		port = go + 4;
		now = go;
		for (uint32_t k = 0; k < i->write_count; k++)
			ready[i->write[k]] = go + 10;
		if (kind == FUNC_ALU)
			sp = go + 4;
		if (kind == FUNC_STORE)
			lsu = go + 4;
		if (kind == FUNC_CLOCK) {
			clock[clocks++] = (uint32_t)go;
			now = go + 4;
		}
		pc++;
		if (kind == FUNC_BRANCH) {
			now = go + 4;
			pc = ++rounds < passes ? loop : pc;
		}
	}
	for (uint32_t k = clocks; k-- > 0;)
		clock[k] -= clock[0];
	return clocks;
}

/* `adds` independent instructions between two clock reads, `passes` times, code in a straight line. Returns the loop. */
static uint32_t straight(struct bench *b, uint32_t adds, uint32_t passes)
{
	bench_start(b);
	struct tiny *t = &b->t;
	tiny_imm(t, 1, 1);
	tiny_imm(t, 8, 0);
	tiny_imm(t, 9, passes);
	tiny_imm(t, 13, 8);
	uint32_t loop = tiny_clock(t, 10);
	for (uint32_t k = 0; k < adds; k++)
		tiny_add(t, (uint16_t)(2 + k % 6), 1, 1);
	tiny_clock(t, 11);
	tiny_store(t, PTX_GLOBAL, OUT, 0, 10);
	tiny_store(t, PTX_GLOBAL, OUT, 4, 11);
	tiny_add(t, OUT, OUT, 13);
	tiny_add(t, 8, 8, 1);
	tiny_less(t, 0, 8, 9);
	tiny_branch(t, 0, false, loop, t->func.inst_count + 1);
	return loop;
}

static void check(struct bench *b, uint32_t adds, uint32_t passes, int how)
{
	static struct model m;
	uint32_t clock[64], loop = straight(b, adds, passes);
	tiny_exit(&b->t, FUNC_NONE, false);
	model_start(&m, &b->s);
	uint32_t n = model_run(&m, &b->t, loop, passes, clock);
	tiny_run(&b->r, b->g, &b->s, &b->t, 1, 1, NULL, 4096, NULL, 0, how);
	assert_int_equal(b->r.time.end, TIME_DONE);
	assert_int_equal(n, 2 * passes);
	for (uint32_t k = 1; k < n; k++)
		if (b->r.out[k] - b->r.out[0] != clock[k])
			fail_msg("clock %u of %u adds: %u, expected %u", k, adds, b->r.out[k] - b->r.out[0], clock[k]);
	bench_stop(b);
}

static void every_cycle_is_the_models(void **state)
{
	(void)state;
	struct rng r;
	rng_seed(&r, 20261120);
	for (uint32_t n = 0; n < 300; n++) {
		struct bench b;
		tiny_spec(&b.s);
		struct fetch_spec *f = &b.s.fetch;
		uint32_t line = 32u << rng_below(&r, 4), sets = 1 + (uint32_t)rng_below(&r, 5);
		uint32_t ways = 1 + (uint32_t)rng_below(&r, 5), levels = 1 + (uint32_t)rng_below(&r, 3);
		double latency = (double)rng_below(&r, 3) * 5;
		f->path.levels = levels;
		for (uint32_t k = 0; k < levels; k++) {
			level(&f->path.level[k], sets, ways, line, latency, (enum cache_scope)k);
			latency += 1 + (double)rng_below(&r, 150);
			sets *= 1 + (uint32_t)rng_below(&r, 3);
			ways += 1 + (uint32_t)rng_below(&r, 2);
			line <<= rng_below(&r, 2);
			f->path.level[k].bandwidth = rng_below(&r, 3) ? 0 : (double)(1u << rng_below(&r, 4));
		}
		f->path.memory_latency = latency;
		f->block = 32u << rng_below(&r, 2);
		if (f->block > f->path.level[0].line)
			f->block = f->path.level[0].line;
		f->ahead = levels > 1 ? (uint32_t)rng_below(&r, 4) : 0;
		f->base = rng_below(&r, 1000);
		f->bytes = 4u << rng_below(&r, 4);
		b.s.op[0].bytes = rng_below(&r, 2) ? 4u << rng_below(&r, 4) : 0;
		check(&b, 1 + (uint32_t)rng_below(&r, 200), 1 + (uint32_t)rng_below(&r, 4), n & 1 ? TINY_GENERAL : 0);
	}
}

/* Three levels as a GTX 280 has them, a sixteenth of the size. Cycles of the last pass. */
static void small(struct sim_spec *s, uint32_t ahead)
{
	tiny_spec(s);
	struct fetch_spec *f = &s->fetch;
	f->path.levels = 3;
	level(&f->path.level[0], 2, 2, 64, 0, SCOPE_SM);
	level(&f->path.level[1], 4, 2, 64, 20, SCOPE_CLUSTER);
	level(&f->path.level[2], 8, 4, 64, 90, SCOPE_GPU);
	f->path.memory_latency = 300;
	f->block = 32;
	f->bytes = 8;
	f->ahead = ahead;
}

static uint32_t last_pass(struct bench *b, uint32_t adds)
{
	straight(b, adds, 3);
	bench_go(b, 1, 1);
	uint32_t ticks = b->r.out[5] - b->r.out[4];
	bench_stop(b);
	return ticks;
}

static void code_beyond_a_level_pays_for_each_line(void **state)
{
	(void)state;
	struct bench b;
	small(&b.s, 0);
	assert_int_equal(last_pass(&b, 16), 16 * 4 + 4); /* 256 bytes with the loop around it: all of it fits */
	/* 64 more instructions are eight more lines, all of them in the L3 or in the memory. */
	b.s.fetch.path.level[0].latency = 0;
	uint32_t at96 = last_pass(&b, 96), at160 = last_pass(&b, 160);
	assert_int_equal(at160 - at96, 64 * 4 + 8 * (90 - 4));
	/* What is missed comes while nothing else is done; the last instruction of a line issues 4 cycles before the next. */
	b.s.fetch.path.level[2].size /= 4;
	b.s.fetch.path.level[2].sets /= 4;
	at96 = last_pass(&b, 96);
	at160 = last_pass(&b, 160);
	assert_int_equal(at160 - at96, 64 * 4 + 8 * (300 - 4));
}

static void a_line_taken_along_hides_the_second_level(void **state)
{
	(void)state;
	struct bench b;
	/* 40 instructions: five lines and more in a first level of four. */
	small(&b.s, 0);
	uint32_t bare = last_pass(&b, 40);
	small(&b.s, 1);
	uint32_t ahead = last_pass(&b, 40);
	assert_int_equal(ahead, 40 * 4 + 4); /* a line takes 32 cycles, the second level 20 */
	assert_true(bare >= ahead + 4 * (20 - 4));
}

static void nothing_changes_without_caches(void **state)
{
	(void)state;
	struct bench b;
	tiny_spec(&b.s);
	assert_int_equal(last_pass(&b, 200), 200 * 4 + 4);
	/* Neither do they with caches that everything fits in. */
	small(&b.s, 1);
	level(&b.s.fetch.path.level[0], 64, 4, 64, 0, SCOPE_SM);
	assert_int_equal(last_pass(&b, 200), 200 * 4 + 4);
}

/* Two warps come to one cold line 4 cycles apart: the line is filled once, and both go on when it is there. */
static void a_fill_is_shared(void **state)
{
	(void)state;
	struct bench b;
	small(&b.s, 0);
	bench_start(&b);
	b.t.func.inst_count = 0;
	tiny_imm(&b.t, OUT, TINY_OUT); /* 0 */
	tiny_imm(&b.t, 1, 4);
	tiny_tid(&b.t, 2);
	tiny_add(&b.t, 3, 2, 2);
	tiny_add(&b.t, 3, 3, 3);
	tiny_add(&b.t, 3, 3, OUT);
	tiny_clock(&b.t, 4);
	tiny_add(&b.t, 6, 1, 1); /* 7: the end of the first line */
	tiny_clock(&b.t, 5);
	tiny_store(&b.t, PTX_GLOBAL, 3, 0, 4);
	tiny_store(&b.t, PTX_GLOBAL, 3, 512, 5);
	bench_go(&b, 1, 64);
	/* Which warp comes first is the scheduler's choice. */
	const uint32_t *in = b.r.out, *out = b.r.out + 128;
	uint32_t first = in[0] < in[32] ? in[0] : in[32], again = out[0] < out[32] ? out[0] : out[32];
	assert_int_equal(in[0] + in[32], 2 * first + 4);
	/* The first warp's add follows the other's clock read; its fetch begins then. */
	assert_int_equal(again - first, 8 + 300);
	assert_int_equal(out[0] + out[32], 2 * again + 4);
	bench_stop(&b);
}

/* One warp runs through cold code while the other goes round in a line that it has. */
static void a_miss_delays_only_its_warp(void **state)
{
	(void)state;
	uint32_t ticks[2];
	for (uint32_t k = 0; k < 2; k++) {
		struct bench b;
		small(&b.s, 0);
		bench_start(&b);
		struct tiny *t = &b.t;
		tiny_imm(t, 1, 1);
		tiny_imm(t, 2, 32);
		tiny_tid(t, 3);
		tiny_less(t, 0, 3, 2);
		tiny_imm(t, 9, 40);
		tiny_imm(t, 8, 0);
		uint32_t at = tiny_branch(t, 0, false, 0, FUNC_NO_JOIN); /* the first warp goes elsewhere */
		while (t->func.inst_count % 8 != 0)
			tiny_imm(t, 7, 0);
		tiny_clock(t, 10);
		uint32_t loop = tiny_add(t, 8, 8, 1);
		tiny_less(t, 1, 8, 9);
		tiny_branch(t, 1, false, loop, t->func.inst_count + 1);
		tiny_clock(t, 11);
		tiny_store(t, PTX_GLOBAL, OUT, 0, 10);
		tiny_store(t, PTX_GLOBAL, OUT, 4, 11);
		tiny_exit(t, FUNC_NONE, false);
		t->inst[at].target = t->func.inst_count;
		/* k = 0: the first warp leaves at once */
		for (uint32_t n = 0; k && n < 104; n++)
			if (n % 8 == 0)
				tiny_imm(t, (uint16_t)(2 + n / 8 % 4), 0);
			else if (n % 8 == 1)
				tiny_branch(t, FUNC_NONE, false, t->func.inst_count + 7, t->func.inst_count + 7);
			else
				tiny_imm(t, 7, 0);
		bench_go(&b, 1, 64);
		ticks[k] = b.r.out[1] - b.r.out[0];
		assert_true(k == 0 || b.r.time.cycles > 12 * 300);
		bench_stop(&b);
	}
	/* The other warp's few instructions take their turns; its misses, each 300 cycles, take nothing. */
	assert_in_range(ticks[0], 900, 1200);
	assert_in_range(ticks[1] - ticks[0], 0, 99);
}

/* Code and constants in one second level of four lines. Three lines of code and two of constants go round in it and
 * never find themselves again. In levels of their own they do. */
static uint32_t shared_pass(bool share)
{
	struct bench b;
	static const uint32_t constant[64];
	small(&b.s, 0);
	struct fetch_spec *f = &b.s.fetch;
	f->path.levels = 2;
	level(&f->path.level[0], 1, 1, 64, 0, SCOPE_SM);
	level(&f->path.level[1], 1, 4, 64, 20, SCOPE_CLUSTER);
	f->share[1] = share ? SHARE_CONSTANT_L2 : SHARE_NONE;
	level(&b.s.constant.level[0], 1, 1, 64, 12, SCOPE_SM);
	level(&b.s.constant.level[1], 1, 4, 64, 100, SCOPE_CLUSTER);
	bench_start(&b);
	struct tiny *t = &b.t;
	tiny_imm(t, 1, 1);
	tiny_imm(t, 8, 0);
	tiny_imm(t, 9, 4);
	tiny_imm(t, 12, 0);
	while (t->func.inst_count % 8 != 0)
		tiny_imm(t, 7, 0);
	uint32_t loop = tiny_clock(t, 10);
	tiny_load(t, PTX_CONST, 4, 12, 0);
	tiny_add(t, 5, 4, 4);
	tiny_load(t, PTX_CONST, 4, 12, 64);
	tiny_add(t, 5, 4, 4);
	while (t->func.inst_count < loop + 18)
		tiny_add(t, (uint16_t)(2 + t->func.inst_count % 2), 1, 1);
	tiny_add(t, 8, 8, 1);
	tiny_less(t, 0, 8, 9);
	tiny_add(t, 6, 10, 12);
	tiny_branch(t, 0, false, loop, t->func.inst_count + 1);
	tiny_clock(t, 11);
	tiny_store(t, PTX_GLOBAL, OUT, 0, 6);
	tiny_store(t, PTX_GLOBAL, OUT, 4, 11);
	tiny_exit(t, FUNC_NONE, false);
	tiny_run(&b.r, b.g, &b.s, t, 1, 1, NULL, 4096, constant, 64, 0);
	assert_int_equal(b.r.time.end, TIME_DONE);
	uint32_t ticks = b.r.out[1] - b.r.out[0];
	bench_stop(&b);
	return ticks;
}

static void a_shared_level_holds_both(void **state)
{
	(void)state;
	/* The last pass begins behind the fetch of its first line and ends with its branch: two lines of code and two constants. */
	assert_int_equal(shared_pass(true) - shared_pass(false), 2 * (300 - 20) + 2 * (400 - 100));
}

static void another_program_finds_no_code(void **state)
{
	(void)state;
	struct bench b;
	small(&b.s, 0);
	uint64_t cycles[5];
	struct tiny other;
	straight(&b, 10, 1);
	tiny_exit(&b.t, FUNC_NONE, false);
	tiny_init(&other);
	tiny_exit(&other, FUNC_NONE, false);
	for (uint32_t k = 0; k < 5; k++) {
		tiny_run(&b.r, b.g, &b.s, k == 2 ? &other : &b.t, 1, 1, NULL, 4096, NULL, 0, 0);
		cycles[k] = b.r.time.cycles;
		tiny_free(&b.r);
	}
	assert_true(cycles[1] < cycles[0] - 300);
	assert_int_equal(cycles[3], cycles[0]);
	assert_int_equal(cycles[4], cycles[1]);
	b.r = (struct tiny_result){0};
	bench_stop(&b);
}

/* Steps of one operation that lie in several blocks are fetched in turn; a subroutine lies once, however often it is called. */
static void long_operations_are_fetched_too(void **state)
{
	(void)state;
	uint64_t cycles[2];
	for (uint32_t k = 0; k < 2; k++) {
		struct bench b;
		small(&b.s, 0);
		level(&b.s.fetch.path.level[0], 64, 4, 64, 0, SCOPE_SM);
		b.s.op[1].native_ops = 64; /* eight lines */
		b.s.op[1].latency = 640;
		b.s.op[1].routine = k;
		b.s.op[1].throughput = b.s.op[1].rate[0] = 0.5;
		bench_start(&b);
		tiny_imm(&b.t, 1, 1);
		for (uint32_t n = 0; n < 6; n++)
			tiny_mul(&b.t, 2, 2, 1);
		struct arena a;
		struct time_program *p;
		uint32_t bytes;
		arena_init(&a);
		assert_int_equal(time_prepare(&p, &a, &b.s, &b.t.func), 0);
		/* three instructions of 8 bytes in front; the routine begins behind all eight of the program */
		assert_int_equal(time_address(p, 2, &bytes), k ? 8 * 8 : 2 * 8);
		assert_int_equal(time_address(p, 3, &bytes), k ? 8 * 8 : (2 + 64) * 8);
		assert_int_equal(bytes, 8);
		arena_free(&a);
		bench_go(&b, 1, 1);
		cycles[k] = b.r.time.cycles;
		bench_stop(&b);
	}
	/* Cold, each line costs what the memory takes more than the 10 cycles of a step. Inlined, the program is 387
	 * instructions, 48 lines behind the first. With a routine it is nine, and the routine behind them ends in the
	 * ninth line. */
	assert_int_equal(cycles[0] - cycles[1], (48 - 9) * (300 - 10));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(every_cycle_is_the_models),
	    cmocka_unit_test(code_beyond_a_level_pays_for_each_line),
	    cmocka_unit_test(a_line_taken_along_hides_the_second_level),
	    cmocka_unit_test(nothing_changes_without_caches),
	    cmocka_unit_test(a_fill_is_shared),
	    cmocka_unit_test(a_miss_delays_only_its_warp),
	    cmocka_unit_test(a_shared_level_holds_both),
	    cmocka_unit_test(another_program_finds_no_code),
	    cmocka_unit_test(long_operations_are_fetched_too),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
