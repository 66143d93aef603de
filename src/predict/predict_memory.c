/* Global, shared and constant memory as one SM sees them: what an access touches, who has it, and when its data are there. */
#include "predict/predict_pipe.h"
#include <math.h>

static enum predict_end way(const struct pipe *p)
{
	return p->q->end;
}

/* A launch that touches more than the L2 holds finds a share of it there that the same launch left. Victims are taken
 * to be drawn: what one access brings in takes the place of any other. */
double memory_kept(const struct pipe *p)
{
	const struct predict_request *q = p->q->walk->q;
	const double size = p->m->has_l2 ? pipe_pick(p, &p->m->l2_size) : 0;
	double bytes = 0, kept = 0;
	for (uint32_t k = 0; k < q->entry->param_count; k++)
		bytes += q->args[k].buffer ? (double)q->args[k].bytes : 0;
	for (unsigned turn = 0; turn < 100 && q->warm && size > 0; turn++)
		kept = exp(-(1 - kept) * bytes / size);
	return kept;
}

/* Whether this is of that share. */
static bool is_kept(const struct pipe *p, uint64_t n)
{
	return (double)(n * 0x9e3779b97f4a7c15u >> 40) < p->kept * 0x1p24;
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
	return seen_touch(&p->l2_seen, n, window, &p->failed) || is_kept(p, n) ? PREDICT_L2 : PREDICT_MEMORY;
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

/* One piece: when its data are there. */
static double bring(struct pipe *p, unsigned level, double t, bool load, uint32_t buffer)
{
	const struct model *m = p->m;
	double wait = 0, common = buffer && buffer < 64 ? p->common[buffer] : 0;
	p->r->bytes[level] += level == PREDICT_MEMORY ? m->fill : m->piece;
	if (level != PREDICT_L1) {
		double cycles = over(m->piece * p->q->share, pipe_pick(p, &m->l2_total));
		wait = fmax(wait, pipe_take(&p->l2, t, cycles) + cycles - t);
	}
	if (level == PREDICT_MEMORY) {
		double cycles = over(m->fill, pipe_pick(p, &m->memory_total)),
		       lone = over(1, pipe_pick(p, &m->scattered));
		if (load && buffer && buffer < 64 && lone > cycles && way(p) != END_FAST)
			cycles += (lone - cycles) * p->lone[buffer];
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

/* Cycles in which the banks of the cache give what the lanes ask for. */
static double passes(const struct pipe *p, const struct step *s)
{
	const struct model *m = p->m;
	return (1 + bank_conflicts(s, m->l1_banks, m->l1_width, m->l1_width)) * pipe_pick(p, &m->l1_pass);
}

static double global_access(struct pipe *p, const struct step *s, double t0, double *alone)
{
	uint64_t piece[STEP_PIECES];
	const struct model *m = p->m;
	bool load = s->in->op != PTX_OP_ST, atomic = s->in->op == PTX_OP_ATOM || s->in->op == PTX_OP_RED;
	uint32_t lanes = (uint32_t)__builtin_popcountll(s->mask), n;
	bool known = s->address_known && s->space != PTX_LOCAL && s->space != PTX_TEX;
	const bool apart = known && out_of_step(p, s);
	if (apart && way(p) == END_SLOW)
		n = pieces_of(s, s->bytes, piece);
	else if (known)
		n = pieces_of(s, m->piece, piece);
	else if (s->space == PTX_LOCAL || way(p) == END_FAST)
		n = (lanes * s->bytes + m->piece - 1) / m->piece;
	else
		n = lanes * ((s->bytes + m->piece - 1) / m->piece);
	/* What a single SM can ask for. */
	const bool near = load && m->has_l1 && !s->skip_l1 && m->l1_rate.there;
	double rate = near ? pipe_pick(p, &m->l1_rate) : pipe_pick(p, &m->l2_rate);
	double cycles = rate > 0 ? n * m->piece / rate : pipe_pick(p, &m->load_issue) * fmax(1, s->bytes / 4.0);
	if (near && known && m->l1_banks && way(p) != END_SLOW)
		cycles = fmax(fmin(cycles, over((double)lanes * s->bytes, rate)), passes(p, s));
	double t = pipe_take(&p->load, t0, cycles), done = t, longest = 0;
	unsigned unknown = known ? 0 : level_unknown(p, s), seen[PREDICT_LEVELS] = {0};
	double *entry = NULL;
	uint64_t line = UINT64_MAX;
	for (uint32_t k = 0; k < n; k++) {
		unsigned level = known ? level_of(p, s, piece[k], load && !atomic) : unknown;
		if (!known && level == PREDICT_MEMORY && is_kept(p, p->asked++))
			level = PREDICT_L2;
		/* What is stored goes on to memory, now or later, once. */
		if (!load && known && way(p) != END_FAST)
			level = seen_touch(&p->stored, piece[k] * m->piece / m->fill, INFINITY, &p->failed) ||
					is_kept(p, piece[k] * m->piece / m->fill)
				    ? PREDICT_L2
				    : PREDICT_MEMORY;
		/* The pieces leave one after the other. */
		double leaves = t + cycles * k / n;
		if (p->entry && load && level != PREDICT_L1) {
			const uint64_t its = m->entry_bytes ? (known ? piece[k] : k) * m->piece / m->entry_bytes : 0;
			if (!entry || its != line) {
				const double before = leaves;
				entry = entry_at(p, &leaves);
				t += leaves - before;
			}
			line = its;
		}
		double there = bring(p, level, leaves, load, s->buffer);
		if (known && load && !atomic)
			there = arrival(p, s, piece[k], level, there);
		if (entry && level != PREDICT_L1)
			*entry = fmax(*entry, there);
		done = fmax(done, there);
		longest = fmax(longest, load ? latency_of(p, level) : 0);
		seen[level] = 1;
	}
	for (unsigned k = 0; k < PREDICT_LEVELS; k++)
		p->r->requests[k] += seen[k];
	if (atomic) {
		bool one = known;
		for (uint64_t rest = s->mask; rest; rest &= rest - 1)
			one = one && s->address[__builtin_ctzll(rest)] == s->address[__builtin_ctzll(s->mask)];
		double same = one ? lanes * pipe_pick(p, &m->atomic_same) * p->q->share : 0;
		double wait = pipe_take(&p->atomics, t, same) + same - t;
		if (m->atomic_latency.there)
			done = t + pipe_pick(p, &m->atomic_latency);
		done += wait;
	}
	*alone += cycles * (n ? (n - 1.0) / n : 0) + longest;
	return done;
}

static double shared_access(struct pipe *p, const struct step *s, double t0, double *alone)
{
	const struct model *m = p->m;
	uint32_t lanes = p->q->walk->warp_size, more = 0;
	if (m->banks && s->address_known)
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
				if ((s->space != PTX_GLOBAL) || !s->address_known || !s->buffer || s->buffer >= 64)
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
