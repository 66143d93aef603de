/* When a warp goes on. Inline: every issue comes by here. Private to time/. */
#ifndef FATHOM_TIME_NEXT_H
#define FATHOM_TIME_NEXT_H
#include "gpu/sim/time/time_state.h"

/* Until when the warp's last constant load keeps the next one, where those block. */
static inline uint64_t time_blocked(const struct time_run *x, const struct time_warp *w, const struct time_inst *ti)
{
	const struct sim_spec *s = x->g->spec;
	return s->constant_blocks && ti->path == PATH_CONSTANT ? w->flight[s->loads_in_flight] : 0;
}

/* What an instruction writes comes from its pipe, with what else of that is on its way. */
static inline void time_note_together(struct time_warp *w, const struct time_inst *ti, uint64_t ready)
{
	for (uint32_t k = 0; k < ti->write_count; k++)
		w->together->pipe[ti->write[k]] = ti->together;
	if (ti->together && ready > w->together->done[ti->together - 1])
		w->together->done[ti->together - 1] = ready;
}

/* Until when the instruction waits for results that the warp only knows together with others, as far as they are not there at `from`. */
static inline uint64_t time_all_back(const struct time_warp *w, const struct time_inst *ti, uint64_t from)
{
	uint64_t all = 0;
	for (uint32_t k = 0; k < ti->wait_count; k++) {
		const uint8_t pipe = w->together->pipe[ti->wait[k]];
		if (pipe && w->ready[ti->wait[k]] > from && w->together->done[pipe - 1] > all)
			all = w->together->done[pipe - 1];
	}
	return all;
}

/* When all that the instruction reads and writes is there, but not before `earliest`. */
static inline uint64_t time_operands(const struct time_warp *w, const struct time_inst *ti, uint64_t earliest)
{
	for (uint32_t k = 0; k < ti->wait_count; k++) {
		uint64_t r = w->ready[ti->wait[k]];
		earliest = r > earliest ? r : earliest;
	}
	return earliest;
}

static inline void time_go_on(struct time_warp *w, const struct time_inst *ti, uint64_t from, uint64_t earliest)
{
	if (__builtin_expect(earliest >= PENDING, 0))
		w->from = from;
	time_wake(w->sched, w->slot, earliest);
	time_want(w->sched, w->slot, ti->set_first);
}

static inline void time_next_together(struct time_run *x, struct time_warp *w, uint64_t from)
{
	const struct time_inst *ti = &x->ti[w->f.pc];
	uint64_t earliest = from;
	if (__builtin_expect(ti->block != w->held, 0)) {
		earliest = time_fetch_block(x, w, ti->block, from);
		from = earliest < PENDING ? earliest : from;
	}
	earliest = time_operands(w, ti, earliest);
	if (__builtin_expect(w->together != NULL, 0)) {
		uint64_t r = time_all_back(w, ti, from);
		earliest = r > earliest ? r : earliest;
	}
	if (__builtin_expect(x->turn != 0, 0))
		earliest = w->turn > earliest ? w->turn : earliest;
	if (ti->kind == FUNC_LOAD && w->flight) {
		uint64_t r = x->g->spec->loads_in_flight ? w->flight[w->flight_at] : 0;
		earliest = r > earliest ? r : earliest;
		r = ti->before ? 0 : time_blocked(x, w, ti);
		earliest = r > earliest ? r : earliest;
	}
	time_go_on(w, ti, from, earliest);
}

/* The same where the run is plain: most find nothing else to wait for. */
static inline void time_next_plain(struct time_run *x, struct time_warp *w, uint64_t from)
{
	const struct time_inst *ti = &x->ti[w->f.pc];
	if (__builtin_expect(ti->block != w->held || w->together || (ti->kind == FUNC_LOAD && w->flight), 0))
		time_next_together(x, w, from);
	else
		time_go_on(w, ti, from, time_operands(w, ti, from));
}

/* When the instruction at pc may issue as far as its operands say; the pipes are looked at when its turn comes. */
static inline void time_next(struct time_run *x, struct time_warp *w, uint64_t earliest)
{
	if (__builtin_expect(w->f.diverged, 0))
		time_next_path(x, w, earliest);
	else
		time_next_together(x, w, earliest);
}

#endif
