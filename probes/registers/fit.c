#include "fit.h"
#include <math.h>

/* How registers are given. Blocks get them in pieces of `unit`, for whole `threads` threads of whole `registers` each.
 * Or warps get them, and then `unit` is what a warp gets more at a time. */
struct rule {
	uint32_t registers, threads, unit;
	bool warp;
};

static uint32_t up(uint32_t n, uint32_t quantum)
{
	return (n + quantum - 1) / quantum * quantum;
}

static double need(const struct rule *r, uint32_t threads, uint32_t registers, uint32_t warp)
{
	const uint32_t each = up(registers, r->registers), held = up(threads, r->threads);
	return r->warp ? (double)up(held, warp) / warp * up(each * warp, r->unit) : up(held * each, r->unit);
}

struct range {
	double lo, hi; /* [lo, hi): the known ends of a size */
};

/* False: contradicted. block, sm: what a block and what an SM may have, as the rule would have it. */
static bool holds(const struct rule *r, const struct regs_seen *seen, size_t count, uint32_t warp, struct range *block,
		  struct range *sm)
{
	*block = *sm = (struct range){0, INFINITY};
	for (size_t i = 0; i < count; i++) {
		const struct regs_seen *s = &seen[i];
		const double one = need(r, s->threads, s->registers, warp);
		struct range *of = s->launch ? block : sm;
		of->lo = fmax(of->lo, s->fit * one);
		if (s->full)
			of->hi = fmin(of->hi, (s->fit + 1) * one);
		if (block->lo >= block->hi || sm->lo >= sm->hi)
			return false;
	}
	/* A block is on an SM. */
	sm->lo = fmax(sm->lo, block->lo);
	return sm->lo < sm->hi;
}

static void take(struct regs_fit *f, uint32_t registers, uint32_t threads, const struct range *block,
		 const struct range *sm)
{
	if (!f->rules++) {
		*f = (struct regs_fit){1, registers, registers, threads, threads, sm->lo, sm->lo, sm->hi, block->lo};
		return;
	}
	f->register_lo = registers < f->register_lo ? registers : f->register_lo;
	f->register_hi = registers > f->register_hi ? registers : f->register_hi;
	f->thread_lo = threads < f->thread_lo ? threads : f->thread_lo;
	f->thread_hi = threads > f->thread_hi ? threads : f->thread_hi;
	f->used_lo = fmin(f->used_lo, sm->lo);
	f->used_hi = fmax(f->used_hi, sm->lo);
	f->room = fmax(f->room, sm->hi);
	f->block_lo = fmin(f->block_lo, block->lo);
}

static const uint32_t steps[] = {1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 24, 32};
enum { STEPS = sizeof steps / sizeof *steps, UNITS = 8, SMALLEST = 32, POWERS = 6, RULES_LOOKED_AT = 48, GUESSES = 3 };

/* The rule with this number: false behind the last. */
static bool rule_at(unsigned n, uint32_t warp, struct rule *r)
{
	const unsigned kind = n % (UNITS + 2), g = n / (UNITS + 2) % STEPS, t = n / (UNITS + 2) / STEPS;
	if (t >= POWERS + STEPS)
		return false;
	*r = (struct rule){.registers = steps[g],
			   .threads = t < POWERS ? 1u << t : warp * steps[t - POWERS],
			   .unit = kind ? SMALLEST << (kind - 1) : 1};
	if (kind == UNITS + 1)
		*r = (struct rule){.registers = 1, .threads = r->threads, .unit = warp * steps[g], .warp = true};
	return true;
}

static bool is_new(const struct rule *r, unsigned n, uint32_t warp)
{
	return n / (UNITS + 2) / STEPS >= POWERS || (!r->warp && r->threads < warp);
}

void regs_fit(struct regs_fit *out, const struct regs_seen *seen, size_t count, const struct regs_limits *l)
{
	struct range block, sm;
	struct rule r;
	*out = (struct regs_fit){0};
	for (unsigned n = 0; rule_at(n, l->warp, &r); n++)
		if (is_new(&r, n, l->warp) && holds(&r, seen, count, l->warp, &block, &sm))
			take(out, r.warp ? r.unit / l->warp : r.registers, r.threads, &block, &sm);
}

/* One way in which things may be: a rule, and what blocks and SMs may have. */
struct guess {
	struct rule rule;
	double block, sm;
};

/* k of GUESSES, from the lowest to the highest. */
static double inside(const struct range *r, unsigned k)
{
	const double hi = isinf(r->hi) ? 3 * r->lo : r->hi - 1;
	return floor(r->lo + (hi - r->lo) * k / (GUESSES - 1));
}

/* How many blocks fit, then. */
static unsigned says(const struct guess *g, const struct regs_try *t, const struct regs_limits *l)
{
	const double one = need(&g->rule, t->threads, t->registers, l->warp);
	return t->launch ? one <= g->block : (unsigned)fmin(floor(g->sm / one), l->sm / up(t->threads, l->warp));
}

/* Of the guesses, those left when it comes out in the worst way. */
static unsigned left(const struct guess *guess, unsigned count, const struct regs_try *t, const struct regs_limits *l)
{
	enum { OUTCOMES = 16 };
	unsigned with[OUTCOMES] = {0}, worst = 0;
	for (unsigned i = 0; i < count; i++) {
		const unsigned n = says(&guess[i], t, l);
		with[n < OUTCOMES ? n : OUTCOMES - 1]++;
	}
	for (unsigned i = 0; i < OUTCOMES; i++)
		worst = with[i] > worst ? with[i] : worst;
	return worst;
}

static bool was_tried(const struct regs_try *t, const struct regs_try *tried, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (tried[i].threads == t->threads && tried[i].registers == t->registers &&
		    tried[i].launch == t->launch)
			return true;
	return false;
}

/* Block sizes worth a try: sixteenths of the largest, and one thread less or more. 0: no more. */
static uint32_t size_at(unsigned n, const struct regs_limits *l)
{
	const uint32_t t = l->block * (n / 3 + 1) / 16 + n % 3 - 1;
	return n >= 48 ? 0 : t > l->block || !t ? 1 : t;
}

/* Whether a few such blocks take about all registers: elsewhere the rules do not differ. Many small blocks are more than an
 * SM takes, whatever they need. */
static bool is_close(const struct regs_try *t, double registers, const struct regs_limits *l)
{
	const double part = registers / ((double)t->threads * t->registers), blocks = floor(part + 0.5);
	if (t->launch)
		return fabs(part - 1) < 0.15;
	return 8 * t->threads >= l->sm && blocks >= 1 && fabs(part / blocks - 1) < 0.15;
}

size_t regs_next(struct regs_try *out, size_t most, const struct regs_seen *seen, size_t count,
		 const struct regs_limits *l, const struct regs_try *tried, size_t tried_count)
{
	struct guess guess[RULES_LOOKED_AT * GUESSES];
	struct regs_fit all;
	struct rule r;
	struct range block, sm;
	unsigned guesses = 0, nth = 0;
	size_t found = 0;
	regs_fit(&all, seen, count, l);
	for (unsigned n = 0; guesses < RULES_LOOKED_AT * GUESSES && rule_at(n, l->warp, &r); n++)
		if (is_new(&r, n, l->warp) && holds(&r, seen, count, l->warp, &block, &sm) &&
		    nth++ % (all.rules / RULES_LOOKED_AT + 1) == 0)
			for (unsigned k = 0; k < GUESSES; k++)
				guess[guesses++] = (struct guess){r, inside(&block, k), inside(&sm, k)};
	for (unsigned n = 0; size_at(n, l); n++)
		for (unsigned launch = 0; launch < 2; launch++) {
			struct regs_try best = {.left = guesses};
			for (uint32_t g = 8; g <= l->registers; g++) {
				struct regs_try t = {size_at(n, l), g, launch, 0};
				if (!is_close(&t, all.used_hi, l))
					continue;
				t.left = left(guess, guesses, &t, l);
				if (t.left < best.left && !was_tried(&t, tried, tried_count))
					best = t;
			}
			if (best.left == guesses)
				continue;
			size_t at = found < most ? found++ : most;
			for (; at > 0 && out[at - 1].left > best.left; at--)
				if (at < most)
					out[at] = out[at - 1];
			if (at < most)
				out[at] = best;
		}
	return found;
}
