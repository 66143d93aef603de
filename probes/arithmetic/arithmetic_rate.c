/* Throughput: what loads of warps and chains say about how fast a unit is. */
#include "arithmetic.h"
#include <math.h>
#include <stdarg.h>
#include <stdio.h>

#define BLOCKS_MISS  1.02 /* how much a steady rate may differ from that of whole blocks, which it is no less than */
#define BLOCKS_LEAST 0.99 /* of what whole blocks seem to reach: they do */
#define AGREE	     0.05 /* of a steady rate: what it may be known to */
#define ALONE	     0.98 /* of the unit's rate: a warp that reaches it fills the unit alone */
#define TELLS	     0.97 /* of the best rate: a load that reaches it gives the same */
#define NOT_HALF     0.65 /* of the rate: what half of the warps reach only where the unit is what holds all of them up */
#define HIGHER	     1.04 /* a rate so much higher is another rate */
#define CLOCK	     2	  /* cycles that the clock reads around a few links may be off by */
#define MAY_WAIT                                                                                                       \
	0.75 /* of what the fastest warp issues: so may any that waits for its turns, each of which is a whole cycle */
#define HARDLY_MORE                                                                                                    \
	1.2 /* times what a load reaches: a unit that may not be full by it; it was less than that of 99 such in the exam */
#define LOST	0.05  /* of the time, while the last warps have the unit to themselves: no more is */
#define KNOWN	1.1   /* between the ends of a rate that is worth an estimate */
#define SHARP	0.01  /* of a rate, to either side: it is known well */
#define AS_FAST 0.96  /* of the best rate: it is the same one, or nearly */
#define ALL_OF	0.995 /* of what latency lets a load have: nothing else holds it up */
#define AMPLE                                                                                                          \
	1.1 /* times the best rate: of a few warps more than it takes some schedulers have one more, which alone are held up */
#define STEADY 0.015 /* spread of slopes that instruction fetch has no part in */

static double rate_of(const struct slope *s, const struct load *l, const struct device_info *d)
{
	return (double)l->warps * d->warp_size * l->chains / s->value;
}

/* Concludes throughput and issue of a row whose unit is known to reach `reached`, and `sure` for certain. It hardly
 * exceeds `most`, which is INFINITY if nobody can tell. */
static __attribute__((format(printf, 7, 8))) void reached_rate(struct study *s, unsigned row, double reached,
							       double sure, double most, const char *evidence,
							       const char *why, ...)
{
	static const char how[] = "best slope over several loads of the unit", per[] = "warp size over throughput";
	const double least = BLOCKS_LEAST * sure, lanes = study_device(s)->warp_size;
	char key[KEY_BYTES], issue[KEY_BYTES], because[320];
	va_list args;
	va_start(args, why);
	vsnprintf(because, sizeof because, why, args);
	va_end(args);
	arithmetic_key(key, &arithmetic_row[row], PART_THROUGHPUT);
	arithmetic_key(issue, &arithmetic_row[row], PART_ISSUE);
	if (isfinite(most)) {
		study_likely_number(s, key, reached, least, most, "sm", how, evidence, "%s", because);
		study_likely_number(s, issue, lanes / reached, lanes / most, lanes / least, "sm", per, evidence, "%s",
				    because);
		return;
	}
	study_bound(s, key, least, INFINITY, how, evidence, "%s", because);
	study_bound(s, issue, -INFINITY, lanes / least, per, evidence, "%s", because);
}

/* Whether code an eighth as long, which stays at hand where the usual one may not, is faster for sure under the same load. */
static bool shorter_is_faster(struct study *s, unsigned row, const struct slope *few, const struct load *l,
			      double value, const char *evidence)
{
	const struct device_info *d = study_device(s);
	if (!few->ok || !(few->lo > 0))
		return false;
	/* The clock counts whole cycles, which matters over so few links. If some warps are preferred, the last one of
	 * so short a chain is done sooner or later by chance. Two slopes that differ are no rate then. */
	const bool preferred = arithmetic_evenness(few->last, l->warps, ARITHMETIC_ROUNDS) < APART;
	const double cycles = fmax(few->value + (double)CLOCK / few->unit, preferred ? few->hi : 0),
		     sure = (double)l->warps * d->warp_size * l->chains / cycles;
	if (sure <= HIGHER * value)
		return false;
	reached_rate(s, row, value, value, fmax(sure, HARDLY_MORE * value), evidence,
		     "%u links reach %.4g, and %u only %.4g: instructions may not be at hand", few->unit * LENGTHS,
		     sure, l->unit * LENGTHS, value);
	return true;
}

/* What whole blocks reach is a bound, too, and where it is the better one they have hardly lost anything. */
static struct arithmetic_steady with_blocks(const struct arithmetic_steady *t, double blocks)
{
	return (struct arithmetic_steady){fmax(t->lo, BLOCKS_LEAST * blocks), fmax(t->hi, blocks / BLOCKS_LEAST)};
}

/* Whether the steady rate is known well enough, and is no less than what blocks reach. */
static bool is_told(const struct arithmetic_steady *t, double blocks)
{
	const struct arithmetic_steady x = with_blocks(t, blocks);
	return t->lo > 0 && isfinite(t->hi) && t->hi >= blocks / BLOCKS_MISS && x.hi - x.lo <= AGREE * x.hi;
}

bool arithmetic_steady_is_wide(const struct arithmetic_steady *t, const struct slope *blocks, const struct load *load,
			       const struct device_info *d)
{
	const double reached = rate_of(blocks, load, d);
	return t->lo > 0 && isfinite(t->hi) && t->hi > BLOCKS_MISS * reached && !is_told(t, reached);
}

bool arithmetic_steady_is_more(const struct arithmetic_steady *t, const struct slope *blocks, const struct load *load,
			       const struct device_info *d)
{
	const double reached = rate_of(blocks, load, d);
	return t->lo > BLOCKS_MISS * reached && t->hi > BLOCKS_MISS * t->all && is_told(t, reached);
}

/* The steady rate, where warps are not treated alike. False: it says nothing that the blocks do not. */
static bool conclude_steady(struct study *s, unsigned row, const struct arithmetic_steady *t, double blocks,
			    const char *evidence)
{
	const struct arithmetic_steady x = with_blocks(t, blocks);
	const double lanes = study_device(s)->warp_size, lo = x.lo, hi = x.hi, value = (lo + hi) / 2;
	char key[KEY_BYTES], issue[KEY_BYTES];
	arithmetic_key(key, &arithmetic_row[row], PART_THROUGHPUT);
	arithmetic_key(issue, &arithmetic_row[row], PART_ISSUE);
	if (is_told(t, blocks)) {
		study_measured_number(s, key, value, lo, hi, "sm", "ends of short chains while all warps run", evidence,
				      "some warps end long before others, whole blocks reach %.4g", blocks);
		study_measured_number(s, issue, lanes / value, lanes / hi, lanes / lo, "sm",
				      "warp size over throughput", evidence,
				      "some warps end long before others, whole blocks reach %.4g", blocks);
		return true;
	}
	if (t->hi <= BLOCKS_MISS * blocks)
		return false;
	if (isinf(t->hi))
		reached_rate(
		    s, row, blocks, blocks, INFINITY, evidence,
		    "whole blocks reach %.4g, and three quarters of their warps clearly less: the unit may not be full",
		    blocks);
	else
		reached_rate(s, row, blocks, blocks, fmax(t->hi, HARDLY_MORE * blocks), evidence,
			     "some warps end long before others, and the rates of their chains differ: %.4g and %.4g",
			     t->lo, t->hi);
	return true;
}

/* Cycles between the first warp's end and the last one's. */
static double ends(const struct point *pt, const struct load *l)
{
	return (1 - arithmetic_evenness(pt, l->warps, ARITHMETIC_ROUNDS)) * arithmetic_span(pt, l->warps);
}

/* What part of the time, at most, warps have to themselves while others are done, and do not use: longer chains make that longer, too. */
static double lost(const struct slope *s, const struct load *l, const struct slope *lat, const struct device_info *d)
{
	const double more = arithmetic_span(s->last, l->warps) - arithmetic_span(s->first, l->warps),
		     alone = lat->ok && lat->value > 0 ? l->chains * (double)d->warp_size / lat->value : 0;
	return more > 0 ? (ends(s->last, l) - ends(s->first, l)) / more * (1 - fmin(1, alone / rate_of(s, l, d))) : 0;
}

/* Whether warps end much closer together after long chains than after short ones. They were not treated alike then.
 * Something evened that out, such as instructions that come late, and was part of the time. */
static bool closes_up(const struct slope *s, const struct load *l)
{
	const double more = arithmetic_span(s->last, l->warps) - arithmetic_span(s->first, l->warps);
	return ends(s->first, l) - ends(s->last, l) > LOST * more;
}

/* Whether this load's time says how fast the unit is. If some warps are preferred, the last one of a block runs alone,
 * which costs nothing only if it fills the unit by itself.
 *
 * preferred: warps are preferred under other loads of one chain, too. Those are then held up alike, by a scheduler that
 * goes on with the warp that it has. If `surely`, ends that are a little apart cost nothing, either. */
static bool tells_rate(const struct slope *s, const struct load *l, const struct slope *lat, bool preferred,
		       bool surely, const struct device_info *d)
{
	if (!preferred && arithmetic_evenness(s->last, l->warps, ARITHMETIC_ROUNDS) >= APART && !closes_up(s, l) &&
	    (!surely || lost(s, l, lat, d) <= LOST))
		return true;
	return lat->ok && lat->value > 0 && l->chains * (double)d->warp_size / lat->value >= ALONE * rate_of(s, l, d);
}

int arithmetic_best(const struct slope *slope, const struct load *load, unsigned n, const struct device_info *d)
{
	int best = -1;
	for (unsigned i = 0; i < n; i++) {
		if (!slope[i].ok || !(slope[i].lo > 0) || slope[i].hi - slope[i].lo > 0.05 * slope[i].value)
			continue;
		if (best < 0 || rate_of(&slope[i], &load[i], d) > rate_of(&slope[best], &load[best], d))
			best = (int)i;
	}
	return best;
}

/* Whether fewer warps with as many chains do not reach its rate. One warp alone then does not, either, whatever its
 * latency promises. A warp's chains may not overlap. */
static bool fewer_do_not(const struct slope *slope, const struct load *load, unsigned n, unsigned i,
			 const struct device_info *d)
{
	bool any = false;
	for (unsigned k = 0; k < n; k++)
		any |= load[k].warps < load[i].warps && load[k].chains >= load[i].chains && slope[k].ok &&
		       slope[k].value > 0 && rate_of(&slope[k], &load[k], d) < ALONE * rate_of(&slope[i], &load[i], d);
	return any;
}

/* Whether each of the load's warps may be as fast as any warp can be, and the unit not full. A warp that has to wait
 * for its next turn is not faster with any operation. One that issues each cycle does not wait. */
static bool may_wait_for_turns(const struct rates *x, unsigned i, const struct device_info *d)
{
	const double own = rate_of(&x->slope[i], &x->load[i], d) / (x->load[i].warps * (double)d->warp_size);
	return own < EACH_CYCLE && (!(x->fastest > 0) || own > MAY_WAIT * x->fastest);
}

/* Chains of a warp that may not issue as often as it could do not let it fill the unit alone, whatever their latency promises. */
bool arithmetic_blocks_tell(const struct rates *x, unsigned best, const struct slope *single, bool surely,
			    const struct device_info *d)
{
	const struct slope *const slope = x->slope;
	const struct load *const load = x->load;
	const unsigned n = x->count;
	const double value = rate_of(&slope[best], &load[best], d);
	unsigned most = 0, told = 0; /* warps of any load; of one that tells */
	bool tells = false, preferred = false;
	for (unsigned i = 0; i < n; i++) {
		most = load[i].warps > most ? load[i].warps : most;
		preferred |=
		    slope[i].ok && arithmetic_evenness(slope[i].last, load[i].warps, ARITHMETIC_ROUNDS) < APART;
	}
	for (unsigned i = 0; i < n; i++)
		preferred &= load[i].chains == 1;
	for (unsigned i = 0; i < n && !tells; i++) {
		if (!slope[i].ok || !(slope[i].value > 0) || rate_of(&slope[i], &load[i], d) <= TELLS * value ||
		    !tells_rate(&slope[i], &load[i], single, preferred, surely, d) ||
		    (arithmetic_evenness(slope[i].last, load[i].warps, ARITHMETIC_ROUNDS) < APART &&
		     (fewer_do_not(slope, load, n, i, d) ||
		      (x->fastest > 0 && x->fastest * d->warp_size < ALONE * rate_of(&slope[i], &load[i], d)))))
			continue;
		/* What few warps reach together is the unit's if others are as fast, or all. */
		tells = load[i].warps == most || (told && load[i].warps != told) || !may_wait_for_turns(x, i, d);
		told = load[i].warps;
	}
	return tells;
}

/* NULL, or the mixture of instructions that a load's code is. */
static const char *mixture_of(const struct study *s, unsigned row, const struct rates *x, unsigned load)
{
	return arithmetic_mixture(study_native(s, row, x->slope[load].last),
				  LENGTHS * x->load[load].unit * x->load[load].chains);
}

/* Of the loads whose rates lie within the best one's interval, the one that is known best. The best load itself is the
 * answer if its rate is known well. The greatest of several is mostly too great. */
static unsigned sharpest_of(struct study *s, unsigned row, const struct rates *x, unsigned best)
{
	const struct device_info *d = study_device(s);
	const struct slope *b = &x->slope[best];
	const double lanes = (double)x->load[best].warps * d->warp_size * x->load[best].chains;
	unsigned sharpest = best;
	for (unsigned i = 0; i < x->count && b->hi - b->lo > 2 * SHARP * b->value; i++) {
		const struct slope *t = &x->slope[i], *least = &x->slope[sharpest];
		if (!t->ok || !(t->lo > 0) || (t->hi - t->lo) * least->value >= (least->hi - least->lo) * t->value)
			continue;
		const double rate = rate_of(t, &x->load[i], d);
		if (rate >= lanes / b->hi && rate <= lanes / b->lo && !mixture_of(s, row, x, i))
			sharpest = i;
	}
	return sharpest;
}

static bool overlap(const struct slope *a, const struct load *la, const struct slope *b, const struct load *lb,
		    const struct device_info *d)
{
	return rate_of(a, la, d) * a->value / a->hi <= rate_of(b, lb, d) * b->value / b->lo &&
	       rate_of(b, lb, d) * b->value / b->hi <= rate_of(a, la, d) * a->value / a->lo;
}

/* A load whose rate is known well and reached by another one, if the best one's rate is clearly greater than both. The
 * greatest of several may be too great by chance. -1: there is none. */
static int usual_of(struct study *s, unsigned row, const struct rates *x, unsigned best)
{
	const struct device_info *d = study_device(s);
	const double value = rate_of(&x->slope[best], &x->load[best], d);
	int usual = -1;
	for (unsigned i = 0; i < x->count; i++) {
		const struct slope *t = &x->slope[i];
		bool again = false;
		if (!t->ok || !(t->lo > 0) || t->hi - t->lo > 2 * SHARP * t->value ||
		    rate_of(t, &x->load[i], d) < AS_FAST * value || mixture_of(s, row, x, i))
			continue;
		if (overlap(t, &x->load[i], &x->slope[best], &x->load[best], d)) {
			if (i != best)
				return -1;
			continue;
		}
		for (unsigned k = 0; k < x->count; k++)
			again |= k != best && k != i && x->slope[k].ok && x->slope[k].lo > 0 &&
				 (x->load[k].warps != x->load[i].warps || x->load[k].chains != x->load[i].chains) &&
				 overlap(t, &x->load[i], &x->slope[k], &x->load[k], d);
		if (again && (usual < 0 || (t->hi - t->lo) * x->slope[usual].value <
					       (x->slope[usual].hi - x->slope[usual].lo) * t->value))
			usual = (int)i;
	}
	return usual;
}

/* Whether some load that tells the unit's rate reaches nearly the best one, and less than its links' latency allows.
 * The unit is what holds it up then. If latency alone does, all loads of as many links under way reach the same. */
static bool unit_holds_up(const struct rates *x, unsigned best, const struct device_info *d)
{
	const struct slope *single = x->single;
	const double value = rate_of(&x->slope[best], &x->load[best], d);
	if (!single || !single->ok || !(single->value > 0))
		return true;
	/* Warps that wait for their turns may hold up other loads, while latency alone holds up the best one. */
	if (x->fastest > 0 && x->fastest < EACH_CYCLE &&
	    value >= ALL_OF * x->load[best].warps * d->warp_size * x->load[best].chains / single->value)
		return false;
	for (unsigned i = 0; i < x->count; i++) {
		const struct slope *t = &x->slope[i];
		const struct load *l = &x->load[i];
		if (!t->ok || !(t->value > 0))
			continue;
		const double rate = rate_of(t, l, d),
			     allowed = (double)l->warps * d->warp_size * l->chains / single->value;
		if (rate > AS_FAST * value && rate < TELLS * allowed && allowed > AMPLE * value &&
		    tells_rate(t, l, single, false, false, d))
			return true;
	}
	return false;
}

/* What whole blocks say of the unit. */
struct blocks {
	bool told;	   /* its rate; else no more than that it reaches so much */
	double rate;	   /* operations a cycle that are reached */
	unsigned agree;	   /* other loads that do */
	int usual;	   /* see usual_of() */
	char because[320]; /* why they do not tell it */
};

static __attribute__((format(printf, 3, 4))) void not_told(struct blocks *o, double reached, const char *why, ...)
{
	va_list args;
	va_start(args, why);
	vsnprintf(o->because, sizeof o->because, why, args);
	va_end(args);
	o->told = false;
	o->rate = reached;
}

/* Whether one of several loads surely reaches more than the best, whose slopes are closer. */
static bool one_reaches_more(const struct rates *x, unsigned best, const struct device_info *d, struct blocks *o)
{
	const struct load *l = &x->load[best];
	const double value = rate_of(&x->slope[best], l, d);
	for (unsigned i = 0; i < x->count; i++) {
		const struct slope *t = &x->slope[i];
		const struct load *k = &x->load[i];
		const double sure = t->ok && t->lo > 0 ? (double)k->warps * d->warp_size * k->chains / t->hi : 0;
		if (sure <= HIGHER * value)
			continue;
		not_told(o, sure, "%u warps of %u chains reach %.4g, and %u of %u at least %.4g, but not steadily",
			 l->warps, l->chains, value, k->warps, k->chains, sure);
		return true;
	}
	return false;
}

/* Whether enough other loads reach what the best one does. A full unit gives the same rate to another load. A rate that
 * no other load reaches may be that load's own. Instruction fetch may hold up long sequences alike. It then shows in
 * code of different length that does not take quite proportional time under some load. */
static bool others_agree(const struct rates *x, unsigned best, const struct device_info *d, unsigned *agree)
{
	const struct slope *b = &x->slope[best];
	const struct load *l = &x->load[best];
	const double value = rate_of(b, l, d);
	unsigned other_warps = 0;
	double most_of_fewer = 0; /* rate that at most half of the warps reach */
	bool steady = true;
	*agree = 0;
	for (unsigned i = 0; i < x->count; i++) {
		const struct slope *t = &x->slope[i];
		const struct load *k = &x->load[i];
		bool again = k->warps == l->warps && k->chains == l->chains;
		for (unsigned j = 0; j < i; j++)
			again = again || (k->warps == x->load[j].warps && k->chains == x->load[j].chains);
		if (again)
			continue;
		steady = steady && t->ok && t->hi - t->lo <= STEADY * t->value;
		const bool reaches = t->ok && t->value > 0, same = reaches && rate_of(t, k, d) > AS_FAST * value;
		*agree += same;
		other_warps += same && k->warps != l->warps;
		if (reaches && 2 * k->warps <= l->warps)
			most_of_fewer = fmax(most_of_fewer, rate_of(t, k, d));
	}
	steady = steady && b->hi - b->lo <= STEADY * b->value;
	/* A warp may have only one sequence under way, whatever its chains. Loads of as many warps then agree below the
	 * unit's rate, and half of the warps reach half of it. Code of a few steps stays in the cache that fetched it,
	 * and that is proof enough. */
	return *agree && !(l->unit == LONG_UNIT && !other_warps && (x->is_long || most_of_fewer < NOT_HALF * value)) &&
	       !(x->is_long && (*agree < 2 || !steady));
}

static void blocks_say(struct study *s, unsigned row, const struct rates *x, unsigned best, struct blocks *o)
{
	const struct device_info *d = study_device(s);
	const struct slope *b = &x->slope[best], *const single = x->single;
	const struct load *l = &x->load[best];
	const double value = rate_of(b, l, d);
	*o = (struct blocks){.told = true, .rate = value, .usual = -1};
	/* One warp of a scheduler may be held up where several are not. */
	if (one_reaches_more(x, best, d, o))
		return;
	/* Nobody knows what one warp alone may reach of a sequence. If chains that end while all warps run say nothing,
	 * only a load whose warps end together tells. */
	const struct slope unknown = {0};
	const bool untold = x->steady && !(x->steady->hi > 0);
	if ((single || untold) && !arithmetic_blocks_tell(x, best, single ? single : &unknown, false, d)) {
		not_told(o, value, "reached by %u warps of %u chains, some of which end long before others", l->warps,
			 l->chains);
		return;
	}
	if (!others_agree(x, best, d, &o->agree)) {
		not_told(o, value, "reached by %u warps of %u chains and %u other loads: the unit may not be full",
			 l->warps, l->chains, o->agree);
		return;
	}
	if (!unit_holds_up(x, best, d)) {
		not_told(o, value,
			 "reached by %u warps of %u chains, which come up to what their latency lets them have; with "
			 "more under way some warps end long before others",
			 l->warps, l->chains);
		return;
	}
	o->usual = usual_of(s, row, x, best);
	if (o->usual < 0)
		return;
	/* A unit has one rate. If two are known well and so far apart, something else holds up one, and may hold up
	 * both. */
	const struct load *m = &x->load[o->usual];
	const struct slope *t = &x->slope[o->usual];
	const double lanes = (double)m->warps * d->warp_size * m->chains, rate = rate_of(t, m, d);
	if (value * b->value / b->hi > (1 + SHARP) * lanes / t->lo)
		not_told(o, rate,
			 "%u warps of %u chains reach %.4g, and %u of %u %.4g: something else may hold up both",
			 m->warps, m->chains, rate, l->warps, l->chains, value);
}

bool arithmetic_blocks_decide(struct study *s, unsigned row, const struct rates *x)
{
	struct blocks say;
	const int best = arithmetic_best(x->slope, x->load, x->count, study_device(s));
	if (best < 0 || mixture_of(s, row, x, (unsigned)best))
		return true;
	blocks_say(s, row, x, (unsigned)best, &say);
	return say.told;
}

/* Under no load does the time grow linearly. Neither are rates of two lengths then known well, but the best is about what the unit reaches. */
static void conclude_none(struct study *s, unsigned row, const struct rates *x, const char *evidence)
{
	const struct device_info *d = study_device(s);
	const struct point *bad = NULL;
	double least = 0, most = 0; /* of the load that surely reaches most */
	for (unsigned i = 0; i < x->count; i++) {
		const struct slope *t = &x->slope[i];
		if (t->bad)
			bad = t->bad;
		if (!t->ok || !(t->lo > 0))
			continue;
		const double lanes = (double)x->load[i].warps * d->warp_size * x->load[i].chains;
		if (lanes / t->hi > least) {
			least = lanes / t->hi;
			most = lanes / t->lo;
		}
	}
	const struct arithmetic_steady *t = x->steady;
	if (t && t->lo > 0 && isfinite(t->hi)) {
		reached_rate(s, row, (t->lo + t->hi) / 2, t->lo, HARDLY_MORE * t->hi, evidence,
			     "under no load does the time of whole blocks grow linearly with the chain; ends of short "
			     "chains give from %.4g to %.4g",
			     t->lo, t->hi);
		return;
	}
	if (least > 0) {
		reached_rate(
		    s, row, (least + most) / 2, least, most <= KNOWN * least ? HARDLY_MORE * most : INFINITY, evidence,
		    "under no load does the time grow linearly with the chain: the best one reaches from %.4g to "
		    "%.4g",
		    least, most);
		return;
	}
	arithmetic_verdicts(s, &arithmetic_row[row], PART_THROUGHPUT, PART_ISSUE,
			    bad && bad->outcome == OUTCOME_CRASH ? VERDICT_FAILED : VERDICT_INCONCLUSIVE, evidence,
			    bad ? (bad->message[0] ? bad->message : outcome_name(bad->outcome))
				: "under no load does the time grow with the chain");
}

/* The unit's rate, as whole blocks tell it. */
static void conclude_blocks(struct study *s, unsigned row, const struct rates *x, unsigned best,
			    const struct blocks *say)
{
	const struct device_info *d = study_device(s);
	const struct arithmetic_row *r = &arithmetic_row[row];
	const struct slope *b = &x->slope[best];
	const struct load *l = &x->load[best];
	const unsigned told = say->usual >= 0 ? (unsigned)say->usual : sharpest_of(s, row, x, best);
	const struct load *m = &x->load[told];
	const struct slope *t = &x->slope[told];
	/* The best one still is a rate that was seen, even if it is an exception. */
	const double lanes = (double)m->warps * d->warp_size * m->chains, rate = rate_of(t, m, d),
		     most = say->usual >= 0 ? say->rate * b->value / b->lo : lanes / t->lo;
	char key[KEY_BYTES], issue[KEY_BYTES], evidence[64], how[96] = "";
	arithmetic_key(key, r, PART_THROUGHPUT);
	arithmetic_key(issue, r, PART_ISSUE);
	if (say->usual >= 0)
		snprintf(how, sizeof how, "; %u warps of %u chains seem to reach %.4g", l->warps, l->chains, say->rate);
	snprintf(evidence, sizeof evidence, "%s.%s:%u", r->op, r->type, m->unit * LENGTHS);
	study_measured_number(s, key, rate, lanes / t->hi, most, "sm", "best slope over several loads of the unit",
			      evidence, "%u warps of %u chains on one SM; %u other loads within 4 %%%s", m->warps,
			      m->chains, say->agree, how);
	/* the three quotients round on their own, and a value must not fall out of its interval by that */
	const double cycles = d->warp_size / rate;
	study_measured_number(s, issue, cycles, fmin(cycles, d->warp_size / most),
			      fmax(cycles, d->warp_size * t->hi / lanes), "sm", "warp size over throughput", evidence,
			      "%u warps of %u chains on one SM%s", m->warps, m->chains, how);
}

/* Which of the mixtures that a compiler makes is fastest nobody has tried. */
static void conclude_mixture(struct study *s, unsigned row, double value, const char *evidence, const char *mix)
{
	reached_rate(s, row, value, value, HARDLY_MORE * value, evidence, "of a mixture that the compiler makes: %s",
		     mix);
	for (unsigned part = PART_THROUGHPUT; part <= PART_ISSUE; part++) {
		char key[KEY_BYTES];
		arithmetic_key(key, &arithmetic_row[row], part);
		study_note(s, key, NOTE_MIXTURE);
	}
}

void arithmetic_conclude_rates(struct study *s, unsigned row, const struct rates *x)
{
	const struct device_info *d = study_device(s);
	const struct arithmetic_row *r = &arithmetic_row[row];
	char evidence[64];
	struct blocks say;
	const int best = arithmetic_best(x->slope, x->load, x->count, d);
	snprintf(evidence, sizeof evidence, "%s.%s", r->op, r->type);
	if (best < 0) {
		conclude_none(s, row, x, evidence);
		return;
	}
	const struct load *l = &x->load[best];
	const double value = rate_of(&x->slope[best], l, d);
	snprintf(evidence, sizeof evidence, "%s.%s:%u", r->op, r->type, l->unit * LENGTHS);
	const char *mix = mixture_of(s, row, x, (unsigned)best);
	if (mix) {
		conclude_mixture(s, row, value, evidence, mix);
		return;
	}
	if (shorter_is_faster(s, row, x->few, l, x->steady ? fmax(value, x->steady->hi) : value, evidence) ||
	    (x->steady && conclude_steady(s, row, x->steady, value, evidence)))
		return;
	blocks_say(s, row, x, (unsigned)best, &say);
	if (say.told)
		conclude_blocks(s, row, x, (unsigned)best, &say);
	else
		reached_rate(s, row, say.rate, say.rate,
			     x->steady && x->steady->hi > 0 ? HARDLY_MORE * say.rate : INFINITY, evidence, "%s",
			     say.because);
}
