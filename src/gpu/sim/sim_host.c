/* The host's side: a launch of a kernel, and copies, and what they take. */
#include "gpu/sim/sim_state.h"
#include <math.h>
#include <stdio.h>

double sim_copy_seconds(const struct sim_spec *s, double bandwidth, uint64_t bytes)
{
	return bytes ? s->host.copy_latency + (bandwidth > 0 ? (double)bytes / bandwidth : 0) : 0;
}

double sim_copies_seconds(const struct sim_spec *s, const struct launch_copy *c, double kernel)
{
	const struct host_spec *h = &s->host;
	const double in = sim_copy_seconds(s, c->pinned || h->h2d_pageable <= 0 ? h->h2d : h->h2d_pageable, c->in),
		     out = sim_copy_seconds(s, c->pinned || h->d2h_pageable <= 0 ? h->d2h : h->d2h_pageable, c->out),
		     joint = c->in && c->out ? sim_copy_seconds(s, h->both, c->in + c->out) : 0,
		     copies = fmax(joint, fmax(in, out));
	if (!c->beside)
		return copies;
	return h->overlap ? fmax(copies, kernel) : copies + kernel;
}

static enum outcome outcome_of(enum time_end end)
{
	switch (end) {
	case TIME_REFUSED:
		return OUTCOME_REFUSED;
	case TIME_DEADLOCK:
		return OUTCOME_DEADLOCK;
	case TIME_LIMIT:
		return OUTCOME_TIMEOUT;
	case TIME_FAULT:
		return OUTCOME_CRASH;
	case TIME_DONE:
		break;
	}
	return OUTCOME_OK;
}

bool sim_keeps(const struct sim *g, const struct sample *s)
{
	return (g->limit_cycles || g->limit_instructions || g->watch) && s->outcome == OUTCOME_TIMEOUT;
}

int sim_kernel_once(struct sim *g, uint32_t id, const struct launch *l, struct func_launch *f,
		    const struct time_request *q, struct sample *out, struct err *e)
{
	int r = sim_memory_fill(g, id, l, e);
	if (r)
		return r;
	f->constant = g->constant;
	if (l->flush)
		time_flush(g->time);
	time_arrange_banks(g->time, l->bank_bytes);
	time_divide_shared(g->time, l->shared_percent);
	if (time_launch(g->time, q, &g->result))
		return err_nomem(e);
	if (g->result.end == TIME_DONE)
		return 0;
	out->outcome = outcome_of(g->result.end);
	snprintf(out->message, sizeof out->message, "%s", g->result.message);
	return !sim_keeps(g, out);
}

int sim_copies(struct sim *g, uint32_t id, const struct launch *l, struct func_launch *f, const struct time_request *q,
	       struct sample *out, struct err *e)
{
	for (uint32_t n = 0; n < out->repeats; n++) {
		int r = l->copy.beside ? sim_kernel_once(g, id, l, f, q, out, e) : 0;
		if (r)
			return r < 0 ? r : 0;
		const double kernel = 1e-9 * g->result.ns + g->spec->host.launch_latency,
			     ns = 1e9 * sim_copies_seconds(g->spec, &l->copy, kernel);
		launch_set_copy_time(l, out->words, n, ns, ns);
		out->elapsed_ms = 1e-6 * ns;
	}
	return 0;
}
