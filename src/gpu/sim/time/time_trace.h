/* What a trace needs to know and the engine forgets: why each instruction issued no earlier, and where its accesses hit.
 * Private to time/. Without a hook there is no note, and each place that would fill it in costs one branch. */
#ifndef FATHOM_TIME_TRACE_H
#define FATHOM_TIME_TRACE_H
#include "gpu/sim/time/time_state.h"

#define NOTE_PLACES 8

struct note_warp {	/* by SM and warp */
	uint64_t block; /* of the grid, + 1 */
	struct time_past past;
	uint64_t first;	  /* of the first native step of the one being issued */
	const char *from; /* where its latest fetch came from; NULL: it had none */
	uint32_t *writer; /* per slot of the scoreboard: the record that wrote it last */
	uint32_t slots;
	enum time_why why;
	uint32_t why_pc;
	const char *what;
};
struct time_note {
	struct note_warp *warp;
	uint32_t per_sm, warps;
	struct time_event ev;
	bool open; /* ev is being filled in */
	bool fetching;
	const char *fetch_from;
	struct {
		const char *name;
		uint32_t count;
	} place[NOTE_PLACES];
	uint32_t places;
};

int time_note_open(struct time_run *x); /* 0 or -ENOMEM */
void time_note_close(struct time_run *x);
/* A native step of w is about to issue at t, before anything has changed. */
void time_note_step(struct time_run *x, struct time_warp *w, uint64_t mask, uint64_t t);
/* The place at which a transaction found its data: a level of a path, or (NULL) what `other` says. */
void time_note_place(struct time_gpu *g, const struct cache_spec *level, const char *other);
void time_note_passes(struct time_gpu *g, uint32_t passes);
void time_note_stores(struct time_gpu *g, uint32_t transactions);
void time_note_done(struct time_run *x, uint64_t ready); /* of the instruction that issued just now */
/* A fetch of w begins, or is there. */
void time_note_fetch(struct time_gpu *g, const struct time_warp *w, bool begins);
const char *time_level_name(const struct sim_spec *s, const struct cache_spec *c);

#endif
