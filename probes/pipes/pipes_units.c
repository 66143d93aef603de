/* The units' names, and their own numbers: those of the operation that names each. */
#include "pipes_graph.h"
#include <math.h>
#include <stdio.h>

#define TWICE 1.5 /* times another's time, at least: on two pipes one takes half of what it takes on one */

const char *const graph_kind[ANCHORS] = {"single precision", "integers", "special functions", "double precision",
					 "half precision"};

/* Whether single precision may be on the pipe of integers and on one more like it, or the other way round. Side by side the two then take less
 * than one after the other, as where each has pipes of its own. NVIDIA 2020, GA102: one of two data paths for single precision does integers, too;
 * of other kinds of operations no such GPU is known. */
static bool may_have_both(const struct graph *g, unsigned a, unsigned b)
{
	if (fmax(a, b) > ANCHOR_INTEGER)
		return false;
	const double x = g->u->solo[g->row[a]].cycles, y = g->u->solo[g->row[b]].cycles;
	return fmax(x, y) > TWICE * fmin(x, y);
}

/* Whether the unit is known not to do what anchor b does; guess: or seems not to, as far as issuing lets it show. */
static bool without(struct graph *g, int unit, enum anchor b, bool guess)
{
	for (unsigned a = 0; a < ANCHORS; a++)
		if (g->row[b] != NONE && graph_has(g, unit, (enum anchor)a) &&
		    (g->sure[a][b] == REL_APART || (guess && g->pair[a][b].less && !may_have_both(g, a, b))))
			return true;
	if (guess && g->row[b] == NONE && b == ANCHOR_DOUBLE)
		return true;
	snprintf(g->why[unit], sizeof g->why[unit],
		 g->row[b] == NONE ? "what its unit does is not known: no operation for %s keeps a pipe full%s"
				   : "whether its unit also does %s (%s) cannot be told: the issue rate hides it",
		 graph_kind[b], g->row[b] == NONE ? "" : pipes_name((unsigned)g->row[b]));
	return false;
}

const char *graph_name_of(struct graph *g, int unit, bool guess)
{
	const bool f = graph_has(g, unit, ANCHOR_SINGLE), i = graph_has(g, unit, ANCHOR_INTEGER);
	if (f && i)
		return "sp";
	if (f)
		return without(g, unit, ANCHOR_INTEGER, guess) ? "fp32" : NULL;
	if (!without(g, unit, ANCHOR_SINGLE, guess))
		return NULL;
	if (i)
		return "int32";
	if (!without(g, unit, ANCHOR_INTEGER, guess))
		return NULL;
	if (graph_has(g, unit, ANCHOR_SPECIAL))
		return "sfu";
	if (!without(g, unit, ANCHOR_SPECIAL, guess))
		return NULL;
	if (graph_has(g, unit, ANCHOR_DOUBLE))
		return "dpu";
	if (study_device(g->u->s)->has_f64 && !without(g, unit, ANCHOR_DOUBLE, guess))
		return NULL;
	return "fp16";
}

/* One that only stands for it, as the other cannot be told, shows the unit's pipe, but need not have its numbers. */
void graph_conclude_unit(struct graph *g, int unit)
{
	static const char *const parts[] = {"latency", "throughput", "issue"};
	for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
		const struct arithmetic_row *r = &arithmetic_row[g->row[unit]];
		char from[96], key[96];
		snprintf(from, sizeof from, "arith.%s.%s.%s", r->op, r->type, parts[i]);
		const char *known = g->name[unit], *name = known ? known : g->guess[unit];
		snprintf(key, sizeof key, "unit.%s.%s", name, parts[i]);
		const struct finding *f = study_finding(g->u->s, from);
		const bool stands = g->row[unit] != graph_choice[unit][0], told = f && finding_estimated(f);
		if (!known && (stands || !told))
			continue;
		if (!known)
			study_likely_number(g->u->s, key, f->value.number, f->lo, f->hi, "sm", f->method,
					    pipes_name((unsigned)g->row[unit]), "of %s, which names it if %s",
					    pipes_name((unsigned)g->row[unit]), "issuing hides no more of its pipe");
		else if (stands && told)
			study_likely_number(g->u->s, key, f->value.number, f->lo, f->hi, "sm", f->method,
					    pipes_name((unsigned)g->row[unit]),
					    "of %s, which stands for it: of %s, which names it, too little is known",
					    pipes_name((unsigned)g->row[unit]),
					    pipes_name((unsigned)graph_choice[unit][0]));
		else if (stands)
			study_verdict(g->u->s, key, VERDICT_INCONCLUSIVE, pipes_name((unsigned)g->row[unit]),
				      "%s names it, of which too little is known; %s only stands for it",
				      pipes_name((unsigned)graph_choice[unit][0]), pipes_name((unsigned)g->row[unit]));
		else if (f && f->verdict == VERDICT_MEASURED)
			study_measured_number(g->u->s, key, f->value.number, f->lo, f->hi, "sm", f->method,
					      pipes_name((unsigned)g->row[unit]), "%s, the operation that names it",
					      pipes_name((unsigned)g->row[unit]));
		else
			study_verdict(g->u->s, key, VERDICT_INCONCLUSIVE, pipes_name((unsigned)g->row[unit]),
				      "that of %s is not known", pipes_name((unsigned)g->row[unit]));
	}
}
