/* What a person sees while a run goes on: one live line on a terminal, plain lines elsewhere. */
#ifndef FATHOM_PROGRESS_H
#define FATHOM_PROGRESS_H
#include "probe/engine.h"
#include <stdio.h>

struct progress {
	FILE *log;
	const char *
	    who; /* that lines begin with, where several devices are measured at once; else NULL. Then nothing is live. */
	bool live;
	unsigned width; /* of the live line */
	double drawn;	/* when the line was last drawn, or a plain line said where it stands */
	bool dirty;	/* a live line is on the screen */
	bool stopping_said;
};

void progress_begin(struct progress *p, const struct engine_at *at);
/* now: seconds of a clock that never goes back. */
void progress_step(struct progress *p, const struct engine_at *at, double now);
void progress_end(struct progress *p, const struct engine_at *at, const struct probe_record *r);
/* Tells what took the time, probe by probe; for --verbose. */
void progress_times(struct progress *p, const struct run *r);
/* A line of its own: takes the live line away first. */
void progress_say(struct progress *p, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Whether a line about something that goes on is to be said again: often on a terminal, from time to time elsewhere. It
 * began at p->drawn. */
bool progress_due(struct progress *p, double now);
void progress_line(struct progress *p, const char *line);
void progress_clear(struct progress *p); /* takes the live line away */
/* "about 3 s left", "about 2 min left", or "" when it cannot be told. */
void progress_left(char *out, size_t n, size_t done, size_t wished, double seconds);

#endif
