/* Findings about memory as parameters of the model. */
#include "predict/predict_impl.h"
#include <math.h>
#include <string.h>

static bool told(const struct terms *t, const char *key)
{
	const struct finding *f = findings_get(t->f, key);
	return f && finding_estimated(f);
}

/* Of a load that misses every cache: by a clock in the kernel, or, where that gave an end only, by run times. */
static struct term memory_latency(struct terms *t)
{
	static const char clocked[] = "memory.global.latency", timed[] = "memory.global.4.timed_latency";
	if (!told(t, clocked) && told(t, timed))
		return term_try(t, timed, false);
	return term_need(t, clocked, false, "loads that miss every cache take no time but their bytes'");
}

/* The cache of an SM is taken to be of one kind with its shared memory, as it is on most. Each bank then gives a row in
 * a pass. */
static void terms_banks(struct model *m, struct terms *t)
{
	const struct term banks = term_try(t, "shared.banks", false), width = term_try(t, "shared.bank_width", false),
			  rate = term_try(t, "shared.bandwidth", true);
	if (!banks.there || !width.there || !rate.there || !(rate.slow > 0))
		return;
	const double row = banks.value * width.value;
	m->l1_banks = (uint32_t)banks.value;
	m->l1_width = (uint32_t)width.value;
	m->l1_pass = (struct term){true, row / rate.value, row / rate.fast, row / rate.slow};
	/* Its own rate may be known as a bound only. */
	if (!told(t, "cache.global.l1.bandwidth"))
		m->l1_rate = (struct term){true, rate.value, rate.fast,
					   fmin(rate.slow, m->l1_rate.there ? m->l1_rate.slow : rate.slow)};
}

void terms_memory(struct model *m, struct terms *t)
{
	m->has_l1 = !term_absent(t, "cache.global.l1.size");
	m->has_l2 = !term_absent(t, "cache.global.l2.size");
	m->memory_latency = memory_latency(t);
	if (outside_only(t))
		m->memory_total = outside_bandwidth(t, &m->clock_hz);
	if (!m->memory_total.there)
		m->memory_total =
		    term_need(t, "memory.global.bandwidth", true, "memory moves any number of bytes at once");
	if (m->has_l2) {
		m->l2_latency = term_get(t, "cache.global.l2.latency", false, "hits of the L2 take as long as misses");
		m->l2_rate =
		    term_get(t, "cache.global.l2.bandwidth", true, "one SM draws any number of bytes from the L2");
		m->l2_total = term_need(t, "cache.global.l2.bandwidth_total", true, "the L2 serves all SMs at once");
		m->l2_size = term_get(t, "cache.global.l2.size", true, "everything that was read stays in the L2");
	}
	if (m->has_l1) {
		m->l1_latency = term_get(t, "cache.global.l1.latency", false, "hits of the L1 take as long as misses");
		m->l1_rate = term_get(t, "cache.global.l1.bandwidth", true, "the L1 gives any number of bytes at once");
		m->l1_size = term_get(t, "cache.global.l1.size", true, "everything that was read stays in the L1");
	}
	if (m->has_l1 && t->compiled)
		terms_banks(m, t);
	struct term piece = term_try(t, "memory.coalesce.segment", false),
		    fill = term_try(t, "memory.global.fetch", false);
	const struct term far = term_try(t, "cache.global.l2.sector", false),
			  near = term_try(t, "cache.global.l1.sector", false);
	const bool nearer = m->has_l1 && near.there && !(m->has_l2 && far.there && far.value < near.value);
	const struct term sector = nearer ? near : m->has_l2 ? far : (struct term){.there = false};
	/* A segment is what one transaction may span; of a line in sectors only those move that are asked for. */
	if (sector.there && !(piece.there && piece.value <= sector.value))
		piece = sector;
	if (!piece.there)
		piece = fill;
	/* A bound is what nobody could tell better. */
	if (m->has_l2 && !told(t, "memory.global.fetch")) {
		const struct term brought = term_try(t, "cache.global.l2.sector", false);
		fill = brought.there ? brought : fill;
	}
	m->scattered = term_try(t, "memory.global.scattered_loads", true);
	if (!piece.there)
		piece = term_get(t, "memory.global.fetch", false,
				 "accesses of scattered lanes move only the bytes that are asked for");
	m->piece = piece.there && piece.value >= 1 ? (uint32_t)lround(piece.value) : 4;
	/* What is brought at once holds whole pieces. */
	m->fill = fill.there && fill.value > m->piece ? (uint32_t)lround(fill.value / m->piece) * m->piece : m->piece;
	m->far = m->has_l2 && far.there && far.value > m->piece ? (uint32_t)far.value : m->piece;
	const struct term sides = term_try(t, "cache.global.l2.sides", false);
	m->sides = m->has_l2 && sides.there && sides.value > 1 ? sides.value : 1;
	m->load_issue = term_try(t, "memory.global.4.issue", false);
	if (!m->has_l2 && !m->has_l1 && !m->load_issue.there)
		m->load_issue =
		    term_get(t, "memory.global.4.issue", false, "one SM issues loads as fast as any instruction");
}

#define ENTRIES_MOST 4096

static uint32_t count_of(struct terms *t, const char *key)
{
	const struct term v = told(t, key) ? term_try(t, key, true) : (struct term){.there = false};
	return v.there && v.value >= 1 && v.value <= ENTRIES_MOST ? (uint32_t)v.value : 0;
}

/* What holds waiting requests, where that is known: an entry a line, or an entry a warp's load. */
void terms_waiting(struct model *m, struct terms *t)
{
	const struct finding *kind = findings_get(t->f, "outstanding.kind");
	m->warp_loads = count_of(t, "outstanding.loads_per_warp");
	if (!kind || !finding_estimated(kind) || kind->value.kind != VALUE_TEXT)
		return;
	m->entries = count_of(t, "outstanding.entries");
	if (strcmp(kind->value.text, "mshr") != 0)
		return;
	struct term fill = {.there = false};
	if (m->has_l1) {
		fill = term_try(t, "cache.global.l1.sector", false);
		fill = fill.there ? fill : term_try(t, "cache.global.l1.line", false);
	}
	m->entry_bytes = fill.there && fill.value > m->piece ? (uint32_t)fill.value : m->piece;
}

/* What was never run may come as late as data. That is so if code was looked for beyond its caches and its latency
 * could not be told, or a cache held all of it. */
void terms_cold(struct model *m, struct terms *t)
{
	static const char key[] = "memory.instruction.latency";
	const struct finding *f = findings_get(t->f, key), *levels = findings_get(t->f, "cache.instruction.levels");
	const bool hidden = (f && f->verdict == VERDICT_INCONCLUSIVE) || (levels && levels->verdict == VERDICT_BOUND),
		   looked = hidden && m->memory_latency.there;
	m->cold = term_get(t, key, false,
			   looked ? "code comes as late as data that miss every cache"
				  : "code is there when a kernel begins");
	if (!m->cold.there && looked)
		m->cold = m->memory_latency;
}

void terms_shared(struct model *m, struct terms *t)
{
	m->shared_latency = term_need(t, "shared.latency", false, "shared memory answers at once");
	m->shared_rate =
	    term_need(t, "shared.bandwidth", true, "shared memory is read as fast as instructions are issued");
	struct term banks = term_get(t, "shared.banks", false, "bank conflicts cost nothing"),
		    width = term_get(t, "shared.bank_width", false, "bank conflicts cost nothing");
	m->conflict = term_need(t, "shared.conflict_cost", false, "bank conflicts cost nothing");
	if (banks.there && width.there && m->conflict.there) {
		m->banks = (uint32_t)banks.value;
		m->bank_width = (uint32_t)width.value;
		const struct term mode = term_try(t, "shared.bank_mode", false);
		/* The next access follows a pass as closely as it follows any, or when that has come. */
		const double close = m->shared_rate.there && m->warp_size.there
					 ? fmin(4 * m->warp_size.value / m->shared_rate.value, m->conflict.value)
					 : m->conflict.value;
		m->pass = (struct term){true, close, fmin(close, m->conflict.fast), m->conflict.slow};
		m->bank_mode = mode.there && mode.value >= 1 ? (uint32_t)mode.value : m->bank_width;
	}
}

/* So many parts of the L2 give one piece each in a cycle. Each part does the atomics on its own. */
void terms_atomics(struct model *m, struct terms *t)
{
	const struct term thread = term_try(t, "atomic.add.line", false);
	const double words = m->piece / 4.0;
	m->atomic_units = m->l2_total.there && m->far ? fmax(1, m->l2_total.value / m->far) : 1;
	const struct term line = term_try(t, "cache.global.l2.line", false);
	m->atomic_line = line.there && line.value > m->far ? line.value : m->far;
	if (thread.there)
		m->atomic_sector = (struct term){true, thread.value * words, thread.fast * words, thread.slow * words};
}

/* Parameters are constants that no launch before had: each line of them comes from the second level, or beyond. */
void terms_parameters(struct model *m, struct terms *t, const struct ptx_func *entry)
{
	const struct term near = term_try(t, "cache.constant.l1.latency", false),
			  line = term_try(t, "cache.constant.l1.line", false),
			  next = term_try(t, "cache.constant.l2.latency", false),
			  far = next.there ? next : term_try(t, "memory.constant.latency", false);
	if (!near.there || !far.there || !line.there || !(line.value > 0) || !t->compiled)
		return;
	const double lines = ceil(entry->param_bytes / line.value);
	m->parameters = (struct term){true, lines * fmax(0, far.value - near.value),
				      lines * fmax(0, far.fast - near.slow), lines * fmax(0, far.slow - near.fast)};
}
