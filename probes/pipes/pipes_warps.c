/* Latency and throughput of single chains against the warps of an SM: how many it takes to keep a pipe full. */
#include "pipes.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { FEW_LINKS = 8, SHORT_LINKS = 32, LONG_LINKS = 96, DENSE = 16, WARPS_MOST = 64 };

#define FULL   0.95 /* of the throughput */
#define UNEVEN 0.7  /* a first warp that ends so early was preferred */
#define UNSURE 0.02 /* of the throughput: what a rate may be off by */
#define HELD   1.5  /* times the warps that the latency asks for: more are held up by something else */
#define BELOW                                                                                                          \
	0.02 /* of what the shorter chains take by the longer ones: they may take so much less of it, and a link */
#define SLOWER 1.03 /* than the latency, which one warp's chains may be */

const unsigned pipes_warps_row[WARPS_ROWS] = {ROW_add_u32, ROW_add_f32,	  ROW_mul_f32,
					      ROW_mul_u32, ROW_rsqrt_f32, ROW_add_f64};

/* x: warps; p[0]: links of a chain. */
int pipes_setup_warps(const struct study *s, unsigned which, double x, const double *p, struct job *j)
{
	const double shape[POINT_PARAMS] = {x, 1};
	const int rc = arithmetic_setup(s, pipes_warps_row[which], p[0], shape, j);
	j->launch.repeats = 1;
	j->launch.warmups = 0; /* the first round is not counted */
	return rc;
}

/* Cycles for one link of every warp; 0: there are none. */
static double link_cycles(const struct point *const pt[2], const unsigned links[2], unsigned warps)
{
	if (!pt[0] || !pt[1] || pt[0]->outcome != OUTCOME_OK || pt[1]->outcome != OUTCOME_OK)
		return 0;
	const double c = (arithmetic_span(pt[1], warps) - arithmetic_span(pt[0], warps)) / (links[1] - links[0]);
	return c > 0 ? c : 0;
}

static const unsigned usual_links[2] = {SHORT_LINKS, LONG_LINKS}, few_links[2] = {FEW_LINKS, SHORT_LINKS};

/* Whether the shorter chains take less than their links' share of the longer ones. The code of the longer ones does not
 * lie in the first instruction cache, and that of the shorter does. */
static bool code_is_far(const struct point *const pt[2], unsigned warps)
{
	const double c = link_cycles(pt, usual_links, warps), share = SHORT_LINKS * c;
	return c > 0 && arithmetic_span(pt[0], warps) < share * (1 - BELOW) - c;
}

/* Of chains of the usual lengths, or, where their code is too long to be at hand, of shorter ones. */
static double ask_cycles(struct study *s, unsigned which, unsigned warps, bool far)
{
	const unsigned e = pipes_warps_experiment(which);
	const double few[POINT_PARAMS] = {FEW_LINKS}, usual[POINT_PARAMS] = {SHORT_LINKS},
		     many[POINT_PARAMS] = {LONG_LINKS};
	const struct point *pt[2] = {study_ask(s, e, warps, usual), study_ask(s, e, warps, many)};
	if (!far && !code_is_far(pt, warps))
		return link_cycles(pt, usual_links, warps);
	const struct point *shorter[2] = {study_ask(s, e, warps, few), pt[0]};
	return link_cycles(shorter, few_links, warps);
}

/* Whether some warps end long before others: how long they take together then says nothing of a steady rate. */
static bool preferred(struct study *s, unsigned which, unsigned warps)
{
	const double many[POINT_PARAMS] = {LONG_LINKS};
	const struct point *pt = study_ask(s, pipes_warps_experiment(which), warps, many);
	return pt && pt->outcome == OUTCOME_OK && arithmetic_evenness(pt, warps, ARITHMETIC_ROUNDS) < UNEVEN;
}

/* Least number of warps that was asked for whose rate is at least so much; 0: none. */
static unsigned reaches(const double *rate, unsigned most, double least)
{
	for (unsigned w = 1; w <= most; w++)
		if (rate[w] >= least)
			return w;
	return 0;
}

/* The next number of warps that was asked for, if their links take no longer than those of so many. If these had filled
 * the pipe, more would wait for it. 0: they take longer, or none was asked for. */
static unsigned free_more(const double *rate, unsigned at, unsigned most)
{
	for (unsigned w = at + 1; w <= most; w++)
		if (rate[w] > 0)
			return rate[w] / w >= (1 - UNSURE) * rate[at] / at ? w : 0;
	return 0;
}

/* Whether warps that come in turns, one for each scheduler at once, explain all times up to the number that fills the
 * pipe. Links of one warp take their latency. Each warp more of a scheduler takes a turn of its share of the pipe. Then
 * nothing else holds them up. More are needed than the latency asks for because each scheduler needs a whole number. */
static bool take_turns(const double *rate, unsigned at)
{
	for (unsigned together = 2; 2 * together <= at; together++) {
		const double turn = at % together ? 0 : together / rate[at];
		bool all = turn > 0;
		for (unsigned w = 1; all && w <= at; w++) {
			const double want = fmax(1 / rate[1], turn * ((w + together - 1) / together));
			all = rate[w] <= 0 || fabs(w / rate[w] - want) <= UNSURE * want;
		}
		if (all)
			return true;
	}
	return false;
}

/* 0: not known. */
static double latency_of(const struct study *s, const struct arithmetic_row *r)
{
	char key[96];
	double latency;
	snprintf(key, sizeof key, "arith.%s.%s.latency", r->op, r->type);
	return study_number(s, key, &latency) ? latency : 0;
}

enum hand { AT_HAND, LONG_IS_FAR, ALL_IS_FAR };

/* Whether the code of chains is at hand, told by one warp alone. Nothing else holds that up, so that each of its links
 * takes as long, however many there are. The same code is as far for any number of warps, whose ends would hide a few
 * cycles. */
static enum hand where_code_is(struct study *s, unsigned which)
{
	const unsigned e = pipes_warps_experiment(which);
	const double few[POINT_PARAMS] = {FEW_LINKS}, usual[POINT_PARAMS] = {SHORT_LINKS},
		     many[POINT_PARAMS] = {LONG_LINKS};
	const struct point *pt[2] = {study_ask(s, e, 1, usual), study_ask(s, e, 1, many)};
	const double c = link_cycles(pt, usual_links, 1);
	double link = latency_of(s, &arithmetic_row[pipes_warps_row[which]]), step = 1,
	       apart = usual_links[1] - usual_links[0];
	const bool known = link > 0;
	if (!known) {
		const struct point *shorter[2] = {study_ask(s, e, 1, few), pt[0]};
		link = link_cycles(shorter, few_links, 1);
		apart = few_links[1] - few_links[0];
	}
	study_number(s, "clock.granularity", &step);
	const double most = 2 * step / apart; /* by which the clock alone makes them differ */
	if (!(c > 0) || !(link > 0))
		return AT_HAND;
	return c > link * (1 + BELOW) + most		 ? LONG_IS_FAR
	       : !known && link > c * (1 + BELOW) + most ? ALL_IS_FAR
							 : AT_HAND;
}

/* Results a cycle of so many warps; 0: not known. However it was timed, a chain is no faster than its latency lets it be. */
static double rate_of(struct study *s, unsigned which, unsigned warps, bool far)
{
	const double cycles = ask_cycles(s, which, warps, far),
		     latency = latency_of(s, &arithmetic_row[pipes_warps_row[which]]);
	return cycles > 0 ? warps * study_device(s)->warp_size / fmax(cycles, latency) : 0;
}

/* Rates of the numbers of warps that tell; 0 where none was asked for. */
static void ask_rates(struct study *s, unsigned which, double *rate, unsigned most, double throughput, bool far)
{
	const double least[] = {(FULL - UNSURE) * throughput, FULL * throughput, (FULL + UNSURE) * throughput};
	for (unsigned w = 1; w <= most; w++) {
		if (most > DENSE && w > DENSE / 2 && w % 4 && w != most)
			continue;
		rate[w] = rate_of(s, which, w, far);
	}
	if (study_pending(s))
		return;
	for (size_t i = 0; i < sizeof least / sizeof *least; i++) {
		const unsigned first = reaches(rate, most, least[i]);
		for (unsigned w = first ? first - 1 : 0; w > 0 && rate[w] <= 0; w--) {
			const double r = rate_of(s, which, w, far);
			rate[w] = r > 0 ? r : -1; /* not again */
		}
	}
}

static void study_row(struct study *s, unsigned which)
{
	const struct device_info *d = study_device(s);
	const struct arithmetic_row *r = &arithmetic_row[pipes_warps_row[which]];
	unsigned most = d->max_threads_per_block / d->warp_size;
	double rate[WARPS_MOST + 1] = {0}, throughput;
	char key[96], from[96], evidence[48];
	snprintf(key, sizeof key, "arith.%s.%s.warps_to_fill", r->op, r->type);
	snprintf(from, sizeof from, "arith.%s.%s.throughput", r->op, r->type);
	snprintf(evidence, sizeof evidence, "%s.%s.warps", r->op, r->type);
	most = most > WARPS_MOST ? WARPS_MOST : most;
	if (!arithmetic_supported(d, r->need)) {
		study_verdict(s, key, VERDICT_UNSUPPORTED, evidence, "the device does not have this operation");
		return;
	}
	if (!study_number(s, from, &throughput)) {
		study_verdict(s, key, VERDICT_INCONCLUSIVE, evidence, "its throughput is not known");
		return;
	}
	const enum hand code = where_code_is(s, which);
	ask_rates(s, which, rate, most, throughput, code == LONG_IS_FAR);
	if (study_pending(s))
		return;
	if (!(rate[1] > 0) || !(rate[most] > 0)) {
		study_verdict(s, key, VERDICT_INCONCLUSIVE, evidence, "the chains could not be timed");
		return;
	}
	const unsigned at = reaches(rate, most, FULL * throughput),
		       hi = reaches(rate, most, (FULL + UNSURE) * throughput);
	unsigned lo = reaches(rate, most, (FULL - UNSURE) * throughput);
	if (code == ALL_IS_FAR) {
		study_verdict(s, key, VERDICT_INCONCLUSIVE, evidence,
			      "links of short chains take longer than those of long ones, and its latency is not "
			      "known: its instructions are not at hand");
		return;
	}
	if (preferred(s, which, at ? at : most)) {
		study_verdict(s, key, VERDICT_INCONCLUSIVE, evidence,
			      "some warps end long before others, so that blocks say nothing of a steady rate");
		return;
	}
	double best = 0;
	for (unsigned w = 1; w <= most; w++)
		best = fmax(best, rate[w]);
	const double cycles = d->warp_size / rate[1], latency = latency_of(s, r);
	if (latency > 0 && cycles > SLOWER * latency) {
		study_verdict(
		    s, key, VERDICT_INCONCLUSIVE, evidence,
		    "a link of one warp takes %.4g cycles, and its latency is %.4g: its instructions are not at hand",
		    cycles, latency);
		return;
	}
	/* What fills a pipe of that rate by the latency of one warp alone. */
	const double enough = FULL * throughput / rate[1];
	if ((at ? at : most + 1) > fmax(HELD * enough, enough + 2) && !(at && take_turns(rate, at))) {
		study_verdict(s, key, VERDICT_INCONCLUSIVE, evidence,
			      "by its latency %.0f warps should be enough, and %u reach %.4g of %.4g results a cycle: "
			      "something else holds them up",
			      ceil(enough), at > 1 ? at - 1 : most, at > 1 ? rate[at - 1] : best, throughput);
		return;
	}
	if (at && rate[at] > (1 + UNSURE) * throughput) {
		study_verdict(
		    s, key, VERDICT_INCONCLUSIVE, evidence,
		    "%u warps give %.4g results a cycle, more than the %.4g that it does at most: how many it takes is "
		    "not sure either",
		    at, rate[at], throughput);
		return;
	}
	/* Warps whose latency leaves no turn free fill the pipe or not, by how they began: fewer than the latency asks for never do. */
	if (at && enough < lo && !take_turns(rate, at))
		lo = (unsigned)ceil(enough);
	const unsigned more = at ? free_more(rate, at, most) : 0;
	if (more && rate[more] > (1 + UNSURE) * throughput) {
		study_verdict(
		    s, key, VERDICT_INCONCLUSIVE, evidence,
		    "%u warps reach %.4g of the %.4g results a cycle that it does at most, but %u take no longer "
		    "and give %.4g",
		    at, rate[at], throughput, more, rate[more]);
		return;
	}
	if (at && hi)
		study_measured_number(s, key, at, lo, hi, "sm", "throughput of single chains against warps", evidence,
				      "%.4g results a cycle with %u warps, %.4g with one less", rate[at], at,
				      at > 1 ? rate[at - 1] : 0.0);
	else if (!lo)
		study_bound(s, key, most + 1, INFINITY, "throughput of single chains against warps", evidence,
			    "%.4g of %.4g results a cycle are the most, with up to %u warps", best, throughput, most);
	else
		study_verdict(s, key, VERDICT_INCONCLUSIVE, evidence,
			      "%.4g of %.4g results a cycle are the most, with up to %u warps: neither full nor not",
			      best, throughput, most);
}

void pipes_study_warps(struct study *s)
{
	for (unsigned i = 0; i < WARPS_ROWS; i++)
		study_row(s, i);
}

/* ---- the figure ---- */

static const struct point *find(const struct series *s, unsigned warps, unsigned links)
{
	for (size_t i = 0; s && i < s->count; i++)
		if (s->points[i].x == warps && s->points[i].p[0] == links)
			return &s->points[i];
	return NULL;
}

int pipes_draw_warps(const struct study *s, struct figure_list *out)
{
	const double lanes = study_device(s)->warp_size;
	struct figure *f = figures_new(out, "warps-latency", "Latency of a link against warps, one chain each");
	if (!f)
		return -1;
	f->x = (struct figure_axis){.label = "warps of the SM", .unit = "count"};
	f->y = (struct figure_axis){.label = "latency", .unit = "cycles"};
	for (unsigned pass = 0; pass < 2; pass++) {
		if (pass == 1) {
			f = figures_new(out, "warps-throughput", "Throughput against warps, one chain each");
			if (!f)
				return -1;
			f->x = (struct figure_axis){.label = "warps of the SM", .unit = "count"};
			f->y = (struct figure_axis){.label = "throughput", .unit = "ops/clk/SM"};
		}
		for (unsigned i = 0; i < WARPS_ROWS; i++) {
			const struct arithmetic_row *r = &arithmetic_row[pipes_warps_row[i]];
			const struct series *series = study_series(s, pipes_warps_experiment(i));
			double x[WARPS_MOST], y[WARPS_MOST];
			size_t n = 0;
			char label[32];
			for (unsigned w = 1; w <= WARPS_MOST; w++) {
				const struct point *few = find(series, w, FEW_LINKS),
						   *usual = find(series, w, SHORT_LINKS),
						   *pt[2] = {usual, find(series, w, LONG_LINKS)},
						   *shorter[2] = {few, usual};
				const double c =
				    few ? link_cycles(shorter, few_links, w) : link_cycles(pt, usual_links, w);
				if (!(c > 0))
					continue;
				x[n] = w;
				y[n++] = pass ? w * lanes / c : c;
			}
			snprintf(label, sizeof label, "%s.%s", r->op, r->type);
			if (n && figure_add(f, label, MARK_LINE, x, y, NULL, n))
				return -1;
		}
	}
	return 0;
}
