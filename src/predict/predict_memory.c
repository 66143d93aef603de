/* Global, shared and constant memory as one SM sees them: what an access touches, who has it, and when its data are there. */
#include "predict/predict_pipe.h"
#include <math.h>

static enum predict_end way(const struct pipe *p)
{
	return p->q->end;
}

/* The same launch left what it touches in the L2 if all of it fits. Of more than that nothing is left when its turn comes
 * again: what came later has taken its place. */
bool memory_kept(const struct pipe *p)
{
	const struct predict_request *q = p->q->walk->q;
	const double size = p->m->has_l2 ? pipe_pick(p, &p->m->l2_size) : 0;
	double bytes = 0;
	for (uint32_t k = 0; k < q->entry->param_count; k++)
		bytes += q->args[k].buffer ? (double)q->args[k].bytes : 0;
	return q->warm && bytes <= size;
}

/* The level at which a piece is found; brings it in if it is not there. */
static unsigned level_of(struct pipe *p, const struct step *s, uint64_t piece, bool load)
{
	const struct model *m = p->m;
	double bytes = m->piece;
	if (load && m->has_l1 && !s->skip_l1) {
		double window = m->l1_size.there ? m->l1_size.value / bytes : INFINITY;
		if (seen_touch(&p->l1_seen, piece, window, &p->failed))
			return PREDICT_L1;
	}
	if (!m->has_l2)
		return PREDICT_MEMORY;
	/* What memory fills at once is there for the piece beside it; what other SMs bring takes room as well. */
	double window = m->l2_size.there ? m->l2_size.value / m->fill / p->q->share : INFINITY;
	const uint64_t n = piece * m->piece / m->fill;
	return seen_touch(&p->l2_seen, n, window, &p->failed) || p->kept ? PREDICT_L2 : PREDICT_MEMORY;
}

/* The level if the data decide the address. */
static unsigned level_unknown(const struct pipe *p, const struct step *s)
{
	const struct model *m = p->m;
	const struct predict_request *q = p->q->walk->q;
	double size = INFINITY;
	if (s->buffer && s->buffer <= q->entry->param_count && q->args[s->buffer - 1].buffer)
		size = (double)q->args[s->buffer - 1].bytes;
	bool l1 = m->has_l1 && !s->skip_l1, in_l1 = l1 && m->l1_size.there && size <= m->l1_size.value,
	     in_l2 = m->has_l2 && m->l2_size.there && size <= m->l2_size.value;
	if (way(p) == END_FAST)
		return l1 ? PREDICT_L1 : m->has_l2 ? PREDICT_L2 : PREDICT_MEMORY;
	if (way(p) == END_SLOW)
		return PREDICT_MEMORY;
	return in_l1 ? PREDICT_L1 : in_l2 ? PREDICT_L2 : PREDICT_MEMORY;
}

static double latency_of(const struct pipe *p, unsigned level)
{
	const struct model *m = p->m;
	const struct term *t = level == PREDICT_L1   ? &m->l1_latency
			       : level == PREDICT_L2 ? &m->l2_latency
						     : &m->memory_latency;
	return pipe_pick(p, t->there ? t : &m->memory_latency);
}

/* Cycles that `bytes` take of the rate, 0 when it is not known. */
static double over(double bytes, double rate)
{
	return rate > 0 ? bytes / rate : 0;
}

static bool is_atomic(const struct step *s)
{
	return s->in->op == PTX_OP_ATOM || s->in->op == PTX_OP_RED;
}

/* One piece: when its data are there. beside: what the L2 gives for another one of the access holds it. */
static double bring(struct pipe *p, const struct step *s, unsigned level, double t, bool beside)
{
	const struct model *m = p->m;
	const bool load = s->in->op != PTX_OP_ST, named = s->buffer && s->buffer < 64;
	double wait = 0, common = named ? p->common[s->buffer] : 0;
	p->r->bytes[level] += level == PREDICT_MEMORY ? m->fill : m->piece;
	if (load && level != PREDICT_L1) {
		const double cycles = over(m->piece, pipe_pick(p, &m->l2_rate));
		wait = pipe_take(&p->link, t, cycles) + cycles - t;
	}
	if (level != PREDICT_L1 && !beside) {
		double cycles = over(m->far * p->q->share * (load ? 1 : m->sides), pipe_pick(p, &m->l2_total));
		wait = fmax(wait, pipe_take(load ? &p->l2 : &p->l2_in, t, cycles) + cycles - t);
	}
	if (level == PREDICT_MEMORY) {
		double cycles = over(m->fill, pipe_pick(p, &m->memory_total)),
		       lone = over(1, pipe_pick(p, &m->scattered));
		if (load && named && lone > cycles && way(p) != END_FAST)
			cycles += (lone - cycles) * (s->sure == SURE_KNOWN ? p->lone[s->buffer] : 1);
		cycles *= p->q->share * (1 - common) + common;
		wait = fmax(wait, pipe_take(&p->memory, t, cycles) - t);
	}
	return load ? t + latency_of(p, level) + wait : t;
}

/* ---- what waits ---- */

static uint32_t loads_of(const struct pipe *p)
{
	return p->m->warp_loads <= WARP_LOADS ? p->m->warp_loads : 0;
}

static uint32_t earliest(const double *until, uint32_t n)
{
	uint32_t best = 0;
	for (uint32_t k = 1; k < n; k++)
		if (until[k] < until[best])
			best = k;
	return best;
}

static bool waits_there(const struct step *s)
{
	return s->in->op != PTX_OP_ST && s->space != PTX_SHARED && s->space != PTX_CONST;
}

double memory_free(const struct pipe *p, const struct warp *w)
{
	const uint32_t n = loads_of(p);
	return n && w->s.space && waits_there(&w->s) ? w->load[earliest(w->load, n)] : 0;
}

void memory_sent(const struct pipe *p, struct warp *w, double t)
{
	const uint32_t n = loads_of(p);
	if (n && waits_there(&w->s))
		w->load[earliest(w->load, n)] = t;
}

/* An entry for what leaves at t, as soon as one is free; until then the load/store unit stands still. */
static double *entry_at(struct pipe *p, double *t)
{
	double *entry = &p->entry[earliest(p->entry, p->m->entries)];
	if (*entry > *t) {
		p->load.free += *entry - *t;
		*t = *entry;
	}
	return entry;
}

/* Without caches a memory may take an access that does not begin with a piece apart, thread by thread. No finding tells. */
static bool out_of_step(const struct pipe *p, const struct step *s)
{
	const struct model *m = p->m;
	if (m->has_l1 || m->has_l2 || !s->mask || s->bytes >= m->piece ||
	    s->address[__builtin_ctzll(s->mask)] % m->piece == 0)
		return false;
	if (!p->q->walk->decided[s->number])
		p->q->walk->decided[s->number] = DECIDED_APART;
	return true;
}

/* What is on its way already comes when it does. */
static double arrival(struct pipe *p, const struct step *s, uint64_t piece, unsigned level, double there)
{
	double *far = seen_there(&p->l2_seen, piece * p->m->piece / p->m->fill),
	       *near = p->m->has_l1 && !s->skip_l1 ? seen_there(&p->l1_seen, piece) : NULL;
	if (level == PREDICT_L2 && far)
		there = fmax(there, *far);
	if (level == PREDICT_L1 && near)
		there = fmax(there, *near);
	if (level == PREDICT_MEMORY && far)
		*far = there;
	if (level != PREDICT_L1 && near)
		*near = there;
	return there;
}

/* Cycles in which the banks of the cache give n pieces: each pass gives a row of each bank, and pieces are given whole. */
static double passes(const struct pipe *p, const struct step *s, uint32_t n)
{
	const struct model *m = p->m;
	const double rows = (double)n * m->piece / (m->l1_banks * m->l1_width);
	return fmax(rows, 1 + bank_conflicts(s, m->l1_banks, m->l1_width, m->l1_width)) * pipe_pick(p, &m->l1_pass);
}

/* An access has addresses that are followed: its own, or drawn ones, which are what is expected. */
static bool is_placed(const struct pipe *p, const struct step *s)
{
	return s->sure >= (way(p) == END_EXPECTED ? SURE_DRAWN : SURE_KNOWN) && s->space != PTX_LOCAL &&
	       s->space != PTX_TEX;
}

/* Pieces that an access touches. */
static uint32_t touched(struct pipe *p, const struct step *s, uint64_t *piece)
{
	const struct model *m = p->m;
	const uint32_t lanes = (uint32_t)__builtin_popcountll(s->mask);
	if (is_placed(p, s))
		return pieces_of(s, out_of_step(p, s) && way(p) == END_SLOW ? s->bytes : m->piece, piece);
	if (s->space == PTX_LOCAL || way(p) == END_FAST)
		return (lanes * s->bytes + m->piece - 1) / m->piece;
	return lanes * ((s->bytes + m->piece - 1) / m->piece);
}

/* The level that has piece k of an access. Of a drawn one only this SM's L1 knows whether it was touched before. */
static unsigned level_at(struct pipe *p, const struct step *s, const uint64_t *piece, uint32_t k)
{
	const struct model *m = p->m;
	const bool load = s->in->op != PTX_OP_ST, atomic = is_atomic(s);
	const uint64_t fill = is_placed(p, s) ? piece[k] * m->piece / m->fill : 0;
	if (s->sure == SURE_KNOWN && is_placed(p, s)) {
		const unsigned level = level_of(p, s, piece[k], load && !atomic);
		/* What is stored goes on to memory, now or later, once. */
		if (load || way(p) == END_FAST)
			return level;
		return seen_touch(&p->stored, fill, INFINITY, &p->failed) || p->kept ? PREDICT_L2 : PREDICT_MEMORY;
	}
	unsigned level = level_unknown(p, s);
	if (is_placed(p, s)) {
		const double window = m->l1_size.there ? m->l1_size.value / m->piece : INFINITY;
		if (load && !atomic && m->has_l1 && !s->skip_l1 &&
		    seen_touch(&p->l1_seen, piece[k], window, &p->failed))
			return PREDICT_L1;
		level = level == PREDICT_L1 && m->has_l2 ? PREDICT_L2 : level;
	}
	return level == PREDICT_MEMORY && p->kept ? PREDICT_L2 : level;
}

/* The L2 gives as many bytes at once as it has in a sector: a piece beside one that is asked for costs nothing. */
static bool is_beside(const struct pipe *p, const struct step *s, const uint64_t *piece, uint32_t k)
{
	const uint32_t each = p->m->far / p->m->piece;
	for (uint32_t i = 0; i < k && is_placed(p, s); i++)
		if (piece[i] / each == piece[k] / each)
			return true;
	return false;
}

/* How long atomics that leave at t wait for others of all SMs. The parts of the L2 share them by lines: a small buffer has few of them busy. */
static double atomics_wait(struct pipe *p, const struct step *s, double t, uint32_t n)
{
	const struct model *m = p->m;
	const uint32_t lanes = (uint32_t)__builtin_popcountll(s->mask);
	const double bytes = s->buffer && s->buffer <= p->q->walk->q->entry->param_count
				 ? (double)p->q->walk->q->args[s->buffer - 1].bytes
				 : 0,
		     common = s->buffer && s->buffer < 64 ? p->common[s->buffer] : 0;
	bool one = s->sure == SURE_KNOWN;
	for (uint64_t rest = s->mask; rest; rest &= rest - 1)
		one = one && s->address[__builtin_ctzll(rest)] == s->address[__builtin_ctzll(s->mask)];
	/* At addresses that data decide one part may have them all, or each part its share. */
	const bool open = s->sure != SURE_KNOWN && way(p) != END_EXPECTED;
	const double lines = one && common > 0 ? 1 : bytes / m->atomic_line,
		     parts = !open		  ? lines
			     : way(p) == END_SLOW ? 1
						  : m->atomic_units,
		     units = fmax(1, fmin(m->atomic_units, parts));
	const double busy = one ? lanes * pipe_pick(p, &m->atomic_same) * (common > 0 ? 1 : 1 / units)
				: n * pipe_pick(p, &m->atomic_sector) / units;
	return pipe_take(&p->atomics, t, busy * p->q->share) + busy * p->q->share - t;
}

/* Cycles of the path between the SM and what answers. */
static double path_cycles(const struct pipe *p, const struct step *s, uint32_t n)
{
	const struct model *m = p->m;
	const bool near = s->in->op != PTX_OP_ST && m->has_l1 && !s->skip_l1 && m->l1_rate.there;
	const double rate = near ? pipe_pick(p, &m->l1_rate) : pipe_pick(p, &m->l2_rate);
	const double cycles = rate > 0 ? n * m->piece / rate : pipe_pick(p, &m->load_issue) * fmax(1, s->bytes / 4.0);
	if (near && is_placed(p, s) && m->l1_banks && way(p) != END_SLOW)
		return passes(p, s, n);
	return cycles;
}

static double global_access(struct pipe *p, const struct step *s, double t0, double *alone)
{
	uint64_t piece[STEP_PIECES];
	const struct model *m = p->m;
	const bool load = s->in->op != PTX_OP_ST, atomic = is_atomic(s), placed = is_placed(p, s);
	const uint32_t n = touched(p, s, piece);
	const double cycles = path_cycles(p, s, n);
	double t = pipe_take(&p->load, t0, cycles), done = t, longest = 0;
	unsigned seen[PREDICT_LEVELS] = {0};
	double *entry = NULL;
	uint64_t line = UINT64_MAX;
	for (uint32_t k = 0; k < n; k++) {
		const unsigned level = level_at(p, s, piece, k);
		/* The pieces leave one after the other. */
		double leaves = t + cycles * k / n;
		if (p->entry && load && level != PREDICT_L1) {
			const uint64_t its = m->entry_bytes ? (placed ? piece[k] : k) * m->piece / m->entry_bytes : 0;
			if (!entry || its != line) {
				const double before = leaves;
				entry = entry_at(p, &leaves);
				t += leaves - before;
			}
			line = its;
		}
		double there = bring(p, s, level, leaves, is_beside(p, s, piece, k));
		if (placed && load && !atomic)
			there = arrival(p, s, piece[k], level, there);
		if (entry && level != PREDICT_L1)
			*entry = fmax(*entry, there);
		done = fmax(done, there);
		longest = fmax(longest, load ? latency_of(p, level) : 0);
		seen[level] = 1;
	}
	for (unsigned k = 0; k < PREDICT_LEVELS; k++)
		p->r->requests[k] += seen[k];
	/* What is stored waits where all accesses pass, unless it is on its way for no longer than an answer takes. */
	if (!load)
		p->load.free = fmax(p->load.free, p->l2_in.free - latency_of(p, PREDICT_L2));
	if (atomic)
		done =
		    (m->atomic_latency.there ? t + pipe_pick(p, &m->atomic_latency) : done) + atomics_wait(p, s, t, n);
	*alone += cycles * (n ? (n - 1.0) / n : 0) + longest;
	return done;
}

static double shared_access(struct pipe *p, const struct step *s, double t0, double *alone)
{
	const struct model *m = p->m;
	uint32_t lanes = p->q->walk->warp_size, more = 0;
	if (m->banks && is_placed(p, s))
		more = bank_conflicts(s, m->banks, m->bank_width, m->bank_mode);
	else if (m->banks && way(p) == END_SLOW)
		more = lanes - 1;
	double cost = more * pipe_pick(p, &m->conflict);
	double cycles = over(lanes * fmax(4, s->bytes), pipe_pick(p, &m->shared_rate)) + more * pipe_pick(p, &m->pass);
	double t = pipe_take(&p->load, t0, cycles);
	p->r->bytes[PREDICT_SHARED] += (double)s->bytes * __builtin_popcountll(s->mask);
	p->r->requests[PREDICT_SHARED]++;
	if (s->in->op == PTX_OP_ST)
		return t;
	*alone += pipe_pick(p, &m->shared_latency) + cost;
	return t + pipe_pick(p, &m->shared_latency) + cost;
}

double memory_access(struct pipe *p, struct warp *w, double t, double *alone)
{
	const struct step *s = &w->s;
	if (s->space == PTX_SHARED)
		return shared_access(p, s, t, alone);
	if (s->space != PTX_CONST)
		return global_access(p, s, t, alone);
	p->r->requests[PREDICT_CONSTANT]++;
	*alone += pipe_pick(p, &p->m->constant_latency);
	return t + pipe_pick(p, &p->m->constant_latency);
}

/* ---- what two blocks that neighbours run have in common, and what of it stands alone ---- */

/* Memory brings this piece of a buffer, and of what lies beside it none is read. */
static bool is_lone(const struct pipe *p, const struct seen *fills, uint64_t piece)
{
	const uint64_t fill = piece * p->m->piece / p->m->fill;
	return !seen_has(fills, fill - 1) && !seen_has(fills, fill + 1);
}

void memory_compare(struct pipe *p)
{
	const struct pipe_request *q = p->q;
	struct warp *w = &p->warp[0];
	struct seen first = {0}, fills = {0};
	double all[64] = {0}, both[64] = {0}, loads[64] = {0}, lone[64] = {0};
	uint64_t piece[STEP_PIECES], grid = (uint64_t)q->walk->q->grid[0] * q->walk->q->grid[1] * q->walk->q->grid[2];
	double steps = 0;
	/* One, its neighbour, and the neighbour again, when all that both load is known. */
	for (unsigned turn = 0; grid > 1 && turn < 3; turn++)
		for (uint32_t k = 0; k < q->walk->warps_per_block; k++) {
			walker_start(&w->w, q->walk, (grid / 2 + (turn > 0)) % grid, k);
			while (walker_next(&w->w, &w->s) && steps++ < STEPS_WISH) {
				const struct step *s = &w->s;
				if ((s->space != PTX_GLOBAL) || s->sure != SURE_KNOWN || !s->buffer || s->buffer >= 64)
					continue;
				const bool load = s->in->op == PTX_OP_LD || s->in->op == PTX_OP_LDU;
				uint32_t n = pieces_of(s, p->m->piece, piece);
				for (uint32_t i = 0; i < n; i++) {
					if (!turn)
						seen_touch(&first, piece[i], INFINITY, &p->failed);
					all[s->buffer] += turn == 1;
					both[s->buffer] += turn == 1 && seen_has(&first, piece[i]);
					if (load && turn < 2)
						seen_touch(&fills, piece[i] * p->m->piece / p->m->fill, INFINITY,
							   &p->failed);
					loads[s->buffer] += load && turn == 2;
					lone[s->buffer] += load && turn == 2 && is_lone(p, &fills, piece[i]);
				}
			}
		}
	for (unsigned k = 0; k < 64; k++) {
		p->common[k] = all[k] > 0 ? both[k] / all[k] : 0;
		p->lone[k] = loads[k] > 0 ? lone[k] / loads[k] : 0;
	}
	seen_free(&first);
	seen_free(&fills);
}
