/* What it costs that lanes part: of one warp alone, and of all warps of a scheduler.
 *
 * A loop has branches over a few operations. Lanes either all stay, or every second one skips. The same instructions are issued then, so that
 * what more it takes is the parting and the meeting. One warp shows how long it waits; so many that more do not help show how far apart
 * a scheduler's warps part. */
#include "branch.h"
#include "stat/stat.h"
#include <math.h>
#include <stdio.h>

enum { HEADER_WORDS = 2, SPLITS = 4, FEW = 4, MANY = 12, REPEATS = 4, SHORT = 1, LONG = 40, COUNTS = 4 };
static const double every_second = 0x55555555;

/* x: warps; p[0]: lanes that skip, as a mask; p[1]: operations that they skip; p[2]: turns; p[3]: 1: lanes cannot part. */
int branch_part_setup(const struct study *s, double x, const double *p, struct job *j)
{
	const struct device_info *d = study_device(s);
	j->template_path = "probes/branch/part.ptx";
	job_param(j, "SPLITS", SPLITS);
	job_param(j, "BODY", (long long)p[1]);
	job_param(j, "UNIFORM", p[3] > 0);
	snprintf(j->launch.entry, sizeof j->launch.entry, "part");
	j->launch.block[0] = (uint32_t)x * d->warp_size;
	j->launch.block[1] = j->launch.block[2] = 1;
	job_output(j, HEADER_WORDS + 2 * (uint32_t)x);
	job_pin(j, d, 0);
	job_arg_u32(j, (uint32_t)p[0]);
	job_arg_u32(j, 0);
	job_arg_u32(j, (uint32_t)p[2]);
	j->launch.repeats = REPEATS;
	j->launch.warmups = 1;
	/* Operations that were predicated would have no branch over them. */
	j->check.cls = NATIVE_BRANCH;
	j->check.region = 0;
	j->check.min = 2 * SPLITS + 1;
	j->check.max = 4 * SPLITS + 2;
	j->check.others = SPLITS * ((uint32_t)p[1] + 4) + 8;
	return 0;
}

enum kind { MAY_PART, CANNOT_PART };

struct cost { /* cycles of all warps for one branch of each */
	bool ok;
	double value, lo, hi;
	double apart;			  /* of their time, from the first one's end to the last one's */
	const struct native_region *turn; /* what is executed, once; NULL: not known */
};

/* From the first warp's begin to the last one's end. */
static double cycles_of(const struct point *pt, unsigned repeat, double *apart)
{
	const uint32_t *w = pt->y + (size_t)repeat * pt->words_per_repeat + HEADER_WORDS;
	int32_t from = 0, to = INT32_MIN, first = INT32_MAX;
	for (uint32_t i = 0; i + 1 < pt->words_per_repeat - HEADER_WORDS; i += 2) {
		const int32_t begin = (int32_t)(w[i] - w[0]), end = (int32_t)(w[i + 1] - w[0]);
		from = begin < from ? begin : from;
		to = end > to ? end : to;
		first = end < first ? end : first;
	}
	*apart = fmax(*apart, ((double)to - first) / ((double)to - from));
	return (double)to - from;
}

static struct cost ask_kind(struct study *s, unsigned warps, double skip, unsigned body, enum kind kind,
			    const char **why)
{
	struct cost c = {.ok = true};
	double each[2][REPEATS], low[2] = {INFINITY, INFINITY}, high[2] = {-INFINITY, -INFINITY}, scratch[REPEATS];
	for (unsigned i = 0; i < 2; i++) {
		const double p[POINT_PARAMS] = {skip, body, i ? MANY : FEW, kind};
		const struct point *pt = study_ask(s, EXPERIMENT_PART, warps, p);
		if (!pt || pt->outcome != OUTCOME_OK || pt->repeats != REPEATS) {
			*why = point_why(pt);
			c.ok = false;
			continue;
		}
		const struct native_info *n = study_native(s, EXPERIMENT_PART, pt);
		c.turn = n ? &n->region[0] : NULL;
		for (unsigned r = 0; r < REPEATS; r++) {
			each[i][r] = cycles_of(pt, r, &c.apart);
			low[i] = fmin(low[i], each[i][r]);
			high[i] = fmax(high[i], each[i][r]);
		}
	}
	if (!c.ok)
		return c;
	const double branches = (MANY - FEW) * SPLITS;
	c.value = (stat_median(each[1], REPEATS, scratch) - stat_median(each[0], REPEATS, scratch)) / branches;
	c.lo = (low[1] - high[0]) / branches;
	c.hi = (high[1] - low[0]) / branches;
	return c;
}

static struct cost ask(struct study *s, unsigned warps, double skip, unsigned body, const char **why)
{
	return ask_kind(s, warps, skip, body, MAY_PART, why);
}

/* What one kind of branch takes longer than another, of one warp. The words say what lanes do in either. */
static void conclude_more(struct study *s, const char *key, struct cost with, struct cost without, const char *method,
			  const char *do_with, const char *do_without)
{
	if (with.hi - without.lo < 0.5)
		study_verdict(s, key, VERDICT_ABSENT, "part", "%.4g cycles where %s, %.4g where %s", with.value,
			      do_with, without.value, do_without);
	else if (with.lo - without.hi <= 0)
		study_verdict(s, key, VERDICT_INCONCLUSIVE, "part",
			      "%.4g to %.4g cycles where %s, %.4g to %.4g where %s", with.lo, with.hi, do_with,
			      without.lo, without.hi, do_without);
	else
		study_measured_number(s, key, with.value - without.value, with.lo - without.hi, with.hi - without.lo,
				      "sm", method, "part", "%.4g cycles where %s, %.4g where %s, of %d branches",
				      with.value, do_with, without.value, do_without, SPLITS);
}

#define NEAR	 0.1  /* of a time: alike */
#define KNEE	 0.25 /* of a time: nearly alike */
#define OVER	 1.15 /* times as long as one warp alone: warps wait for each other */
#define TOGETHER 0.3  /* of the time, from the first end to the last: nobody has the turns of others */
#define FULL                                                                                                           \
	1.5 /* times as long as one warp alone: fewer would take turns as they come, and wait longer than they have to */
#define PAST 1.5 /* times as long as where all lanes stay: instructions do not explain it */

/* All warps' times, of one kind of branch: alone, of a half, of three quarters and of all of the warps. */
struct rise {
	unsigned warps[COUNTS];
	struct cost stay, part[COUNTS];
	struct cost long_alone, long_stay, long_part;
};

/* Whether a few warps take as long as one, and more of them proportionally longer. A place that lets one by at a time
 * does that. As many as it can just serve meet by chance, and take somewhat longer. */
static bool is_queue(const struct rise *x)
{
	const double all = x->part[COUNTS - 1].value, alone = x->part[0].value;
	for (unsigned i = 1; i + 1 < COUNTS; i++) {
		const double share = all * x->warps[i] / x->warps[COUNTS - 1], queue = fmax(alone, share),
			     more = fabs(share - alone) < KNEE * queue ? KNEE : NEAR;
		if (x->part[i].value < (1 - NEAR) * queue || x->part[i].value > (1 + more) * queue)
			return false;
	}
	return true;
}

static void conclude_full(struct study *s, const struct rise *x, double split)
{
	static const char key[] = "branch.split_issue",
			  method[] = "a scheduler's warps whose lanes part at each branch";
	const struct finding *f = study_finding(s, "core.schedulers");
	const double schedulers = f && finding_estimated(f) ? f->value.number : 0;
	const bool counted = f && f->verdict == VERDICT_MEASURED;
	if (!(schedulers > 0)) {
		study_verdict(s, key, VERDICT_INCONCLUSIVE, "part", "how many schedulers share the warps is not known");
		return;
	}
	const struct cost *all = &x->part[COUNTS - 1];
	const double warps = x->warps[COUNTS - 1] / schedulers, each = all->value / warps;
	/* Behind longer operations nobody waits, if only the parting itself takes turns. */
	const double hidden = fmax(x->long_stay.value, x->long_alone.value + split),
		     busy = (x->long_part.value - hidden) / warps;
	if (warps != floor(warps))
		study_verdict(s, key, VERDICT_INCONCLUSIVE, "part", "%u warps are not shared evenly by %.0f schedulers",
			      x->warps[COUNTS - 1], schedulers);
	else if (all->value < OVER * x->part[0].value || all->value < PAST * x->stay.value)
		study_bound(
		    s, key, -INFINITY, all->hi / warps, method, "part",
		    "%.0f warps of a scheduler part in %.4g cycles, one alone in %.4g, and as many that stay take %.4g",
		    warps, all->value, x->part[0].value, x->stay.value);
	else if (all->apart > TOGETHER)
		study_bound(s, key, -INFINITY, all->hi / warps, method, "part",
			    "%.0f warps of a scheduler part in %.4g cycles, but some of them end long before others",
			    warps, all->value);
	else if (!is_queue(x))
		study_verdict(s, key, VERDICT_INCONCLUSIVE, "part",
			      "%.4g, %.4g, %.4g and %.4g cycles of 1, %u, %u and %u warps are not those of a queue",
			      x->part[0].value, x->part[1].value, x->part[2].value, all->value, x->warps[1],
			      x->warps[2], x->warps[3]);
	else if (busy > each / 4)
		study_verdict(
		    s, key, VERDICT_INCONCLUSIVE, "part",
		    "%.3g cycles a warp, and %.3g more than the instructions behind operations that take longer: "
		    "others do not issue meanwhile",
		    each, busy);
	else if (!counted)
		study_likely_number(
		    s, key, each, all->lo / warps, all->hi / warps, "sm", method, "part",
		    "%.0f warps take %.4g cycles a branch, and that %.0f schedulers share them is an estimate",
		    warps * schedulers, all->value, schedulers);
	else
		study_measured_number(
		    s, key, each, all->lo / warps, all->hi / warps, "sm", method, "part",
		    "%.0f warps of a scheduler take %.4g cycles a branch, one alone %.4g; %.4g where all "
		    "lanes stay",
		    warps, all->value, x->part[0].value, x->stay.value);
}

/* Whether the native code of both tells all branches apart from what else there is. Older runs counted some as something else. */
static bool counts(const struct cost *c)
{
	return c->turn && c->turn->count[NATIVE_BRANCH] && !c->turn->count[NATIVE_OTHER];
}

/* What a place to meet takes, by a branch of which a compiler sees that lanes cannot part. */
static void conclude_meet(struct study *s, struct cost may, struct cost cannot)
{
	static const char key[] = "branch.meet", ops_key[] = "branch.meet_ops";
	if (!counts(&may) || !counts(&cannot)) {
		study_verdict(s, ops_key, VERDICT_INCONCLUSIVE, "part",
			      "how many native branches there are is not known");
	} else {
		const double ops =
		    ((double)may.turn->count[NATIVE_BRANCH] - cannot.turn->count[NATIVE_BRANCH]) / SPLITS;
		if (ops == 0)
			study_verdict(s, ops_key, VERDICT_ABSENT, "part",
				      "as many native branches where lanes cannot part");
		else if (ops < 0 || ops != floor(ops))
			study_verdict(s, ops_key, VERDICT_INCONCLUSIVE, "part",
				      "%u native branches against %u, which is not as many for each of %d",
				      may.turn->count[NATIVE_BRANCH], cannot.turn->count[NATIVE_BRANCH], SPLITS);
		else
			study_measured_number(s, ops_key, ops, ops, ops, "",
					      "native branches of a loop whose lanes might part, and cannot", "part",
					      "%u against %u, of %d branches", may.turn->count[NATIVE_BRANCH],
					      cannot.turn->count[NATIVE_BRANCH], SPLITS);
	}
	conclude_more(s, key, may, cannot,
		      "a branch at which lanes might part against one at which they cannot, all stay, one warp",
		      "lanes might part", "they cannot");
}

/* How far apart branches of a scheduler's warps begin: so many of them that neither one warp's waiting nor issuing explains the time. */
static void conclude_issue(struct study *s, const struct rise *x, struct cost alone)
{
	static const char key[] = "branch.issue",
			  method[] = "a scheduler's warps that stay at each branch, over their native branches";
	const struct finding *f = study_finding(s, "core.schedulers");
	const double schedulers = f && f->verdict == VERDICT_MEASURED ? f->value.number : 0;
	if (!(schedulers > 0) || !counts(&x->stay) || !x->long_stay.turn) {
		study_verdict(s, key, VERDICT_INCONCLUSIVE, "part",
			      schedulers > 0 ? "how many native branches there are is not known"
					     : "how many schedulers share the warps is not known");
		return;
	}
	const double warps = x->warps[COUNTS - 1] / schedulers,
		     each = warps * x->stay.turn->count[NATIVE_BRANCH] / SPLITS,
		     issue = x->long_stay.value * x->stay.turn->total / x->long_stay.turn->total;
	if (x->stay.value < OVER * issue || x->stay.value < FULL * alone.value)
		study_bound(
		    s, key, -INFINITY, x->stay.hi / each, method, "part",
		    "%.4g cycles a branch of all warps, %.4g of one, and as many instructions of other kinds take %.4g",
		    x->stay.value, alone.value, issue);
	else
		study_measured_number(s, key, x->stay.value / each, x->stay.lo / each, x->stay.hi / each, "sm", method,
				      "part",
				      "%.0f warps of a scheduler take %.4g cycles for each of %d branches, of %u "
				      "native ones a turn; one alone %.4g",
				      warps, x->stay.value, SPLITS, x->stay.turn->count[NATIVE_BRANCH], alone.value);
}

void branch_part(struct study *s)
{
	const struct device_info *d = study_device(s);
	const unsigned most = d->max_threads_per_block / d->warp_size / COUNTS * COUNTS;
	struct rise x = {.warps = {1, most / 2, most / 4 * 3, most}};
	const char *why = "points are missing";
	bool ok = most > 0;
	const struct cost stay = ask(s, 1, 0, SHORT, &why), together = ask_kind(s, 1, 0, SHORT, CANNOT_PART, &why);
	x.part[0] = ask(s, 1, every_second, SHORT, &why);
	for (unsigned i = 1; i < COUNTS && most; i++) {
		x.part[i] = ask(s, x.warps[i], every_second, SHORT, &why);
		ok = ok && x.part[i].ok;
	}
	if (most) {
		x.stay = ask(s, most, 0, SHORT, &why);
		x.long_alone = ask(s, 1, 0, LONG, &why);
		x.long_stay = ask(s, most, 0, LONG, &why);
		x.long_part = ask(s, most, every_second, LONG, &why);
		ok = ok && x.stay.ok && x.long_alone.ok && x.long_stay.ok && x.long_part.ok;
	}
	if (study_pending(s))
		return;
	if (stay.ok && together.ok) {
		conclude_meet(s, stay, together);
	} else {
		study_verdict(s, "branch.meet", VERDICT_INCONCLUSIVE, "part", "%s", why);
		study_verdict(s, "branch.meet_ops", VERDICT_INCONCLUSIVE, "part", "%s", why);
	}
	if (ok && stay.ok)
		conclude_issue(s, &x, stay);
	else
		study_verdict(s, "branch.issue", VERDICT_INCONCLUSIVE, "part", "%s", why);
	if (stay.ok && x.part[0].ok)
		conclude_more(s, "branch.split", x.part[0], stay,
			      "a branch at which every second lane skips against one at which all stay, one warp",
			      "every second lane skips", "all stay");
	else
		study_verdict(s, "branch.split", VERDICT_INCONCLUSIVE, "part", "%s", why);
	if (ok && stay.ok && x.part[0].ok)
		conclude_full(s, &x, x.part[0].value - stay.value);
	else
		study_verdict(s, "branch.split_issue", VERDICT_INCONCLUSIVE, "part", "%s", why);
}
