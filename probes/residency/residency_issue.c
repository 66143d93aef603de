/* Warps of one block that run beside each other. Which of them take turns from each other, in which order, and how many
 * instructions a turn has. */
#include "base/arena.h"
#include "base/units.h"
#include "residency.h"
#include "stat/stat.h"
#include <math.h>
#include <stdio.h>

enum {
	HEADER_WORDS = 2,
	BURST = 48, /* instructions of one turn of the loop: the smallest first caches of code hold them */
	TURNS = 24,
	REPEATS = 3,
	STALL = 8,
	REGISTERS = 32, /* of a thread, at most */
	WARPS_MOST = 32,
	STRIDES = 5
};

/* What a warp runs. */
enum stream { STREAM_FLOAT, STREAM_SPECIAL, STREAM_BITS, STREAM_JOINT, STREAM_PAIRS, STREAM_MORE_FLOAT, STREAMS };
static const struct {
	unsigned a, b, chains; /* additions and others in turn */
	bool joint;
	const char *other;
} stream[STREAMS] = {
    [STREAM_FLOAT] = {1, 0, 8, false, "bits"}, [STREAM_SPECIAL] = {0, 1, 8, false, "sfu"},
    [STREAM_BITS] = {0, 1, 8, false, "bits"},  [STREAM_JOINT] = {1, 1, 1, true, "bits"},
    [STREAM_PAIRS] = {1, 1, 4, false, "bits"}, [STREAM_MORE_FLOAT] = {2, 1, 4, false, "bits"},
};

/* x: warps that run; p[0]: each so many behind the one before; p[1]: enum stream; p[2]: whether bursts end with a stall. */
int residency_issue_setup(const struct study *s, double x, const double *p, struct job *j)
{
	const struct device_info *d = study_device(s);
	const unsigned kind = (unsigned)p[1], warps = job_warps(d, REGISTERS, WARPS_MOST),
		       threads = warps * d->warp_size, stall = p[2] > 0 ? STALL : 0;
	j->template_path = "probes/residency/issue.ptx";
	job_param(j, "NA", stream[kind].a);
	job_param(j, "NB", stream[kind].b);
	job_param(j, "CHAINS", stream[kind].chains);
	job_param(j, "JOINT", stream[kind].joint);
	job_param_text(j, "B", stream[kind].other);
	job_param(j, "BURST", BURST);
	job_param(j, "STALL", stall);
	job_param(j, "ITER", TURNS);
	job_param(j, "WARPLOG", log2_floor(d->warp_size));
	snprintf(j->launch.entry, sizeof j->launch.entry, "issue");
	j->launch.block[0] = threads;
	j->launch.block[1] = j->launch.block[2] = 1;
	job_output(j, HEADER_WORDS + 2 * warps);
	job_pin(j, d, 0);
	const uint32_t sink = j->launch.buffer_count++;
	j->launch.buffers[sink] =
	    (struct launch_buffer){.bytes = (uint64_t)threads * (8 * stream[kind].chains + 8), .as_is = true};
	job_arg_buffer(j, sink, 0);
	job_arg_u32(j, 5);
	job_arg_u32(j, (uint32_t)p[0]);
	job_arg_u32(j, (uint32_t)x);
	j->launch.repeats = REPEATS;
	j->check.cls = NATIVE_ALU;
	j->check.region = 0;
	j->check.min = BURST + stall;
	j->check.max = BURST + stall + 8; /* counting turns */
	j->check.others = 8;
	return 0;
}

/* When each of the warps that ran began and ended, from the first begin on. */
struct ran {
	unsigned warps;
	double begin[WARPS_MOST], end[WARPS_MOST], last;
};

static bool read_repeat(const struct point *pt, unsigned r, unsigned warps, unsigned stride, struct ran *out)
{
	const uint32_t *w = pt->y + (size_t)r * pt->words_per_repeat + HEADER_WORDS;
	double first = INFINITY;
	*out = (struct ran){.warps = warps};
	for (unsigned i = 0; i < warps; i++) {
		/* relative to one read, so that a counter that wraps does no harm */
		out->begin[i] = (int32_t)(w[2 * i * stride] - w[0]);
		out->end[i] = (int32_t)(w[2 * i * stride + 1] - w[0]);
		first = fmin(first, out->begin[i]);
	}
	for (unsigned i = 0; i < warps; i++) {
		out->begin[i] -= first;
		out->end[i] -= first;
		out->last = fmax(out->last, out->end[i]);
		if (out->end[i] <= out->begin[i])
			return false;
	}
	return true;
}

static const struct point *ask(struct study *s, enum stream kind, unsigned warps, unsigned stride, bool stall)
{
	const double p[POINT_PARAMS] = {stride, kind, stall};
	return study_ask(s, RESIDENCY_ISSUE, warps, p);
}

/* Instructions a cycle of all warps that run; NAN: not known (yet). */
static double rate(struct study *s, enum stream kind, unsigned warps, unsigned stride)
{
	const struct point *pt = ask(s, kind, warps, stride, false);
	double v[REPEATS], scratch[REPEATS];
	if (!pt || pt->outcome != OUTCOME_OK)
		return NAN;
	for (unsigned r = 0; r < REPEATS; r++) {
		struct ran one;
		if (r >= pt->repeats || !read_repeat(pt, r, warps, stride, &one))
			return NAN;
		v[r] = (double)warps * BURST * TURNS / one.last;
	}
	return stat_median(v, REPEATS, scratch);
}

/* ---- schedulers ---- */

#define ALIKE 0.04 /* by so much rates differ that are the same */
#define APART 1.1  /* times as much: rates that are not */
#define FULL  0.93 /* of what the warps would do one by one: they disturb each other */

static const unsigned strides[STRIDES] = {1, 2, 4, 8, 16};

struct parts {
	unsigned parts; /* 0: not known */
	bool least;	/* or more */
	double one;	/* rate of one of them, instructions a cycle */
};

/* In how many parts the warps fall, by streams of `warps` of them. */
static struct parts parts_by(struct study *s, enum stream kind, unsigned warps, unsigned room)
{
	double r[STRIDES] = {0};
	unsigned n = 0;
	const double alone = rate(s, kind, 1, 1);
	for (; n < STRIDES && (warps - 1) * strides[n] < room; n++)
		r[n] = rate(s, kind, warps, strides[n]);
	const double third = (warps - 1) * 3 < room ? rate(s, kind, warps, 3) : r[0];
	struct parts out = {0};
	if (study_pending(s) || n < 2)
		return out;
	for (unsigned i = 0; i < n; i++)
		if (isnan(r[i]) || (i && r[i] > (1 + ALIKE) * r[i - 1]))
			return out;
	/* Warps three apart are in all parts, if their number is a power of two. */
	if (!(r[n - 1] < FULL * warps * alone) || !(fabs(third - r[0]) <= ALIKE * r[0]))
		return out;
	unsigned i = n - 1;
	while (i && r[i - 1] <= (1 + ALIKE) * r[n - 1])
		i--;
	if (i && r[i - 1] < APART * r[i])
		return out;
	return (struct parts){strides[i], i == n - 1, r[i]};
}

static struct parts parts_of(struct study *s, enum stream kind, unsigned room)
{
	struct parts best = {0};
	for (unsigned warps = 8; warps >= 2; warps /= 2) {
		const struct parts one = parts_by(s, kind, warps, room);
		if (one.parts && (!best.parts || (best.least && (one.parts > best.parts || !one.least))))
			best = one;
	}
	return best;
}

/* False: not known (yet). */
static bool conclude_schedulers(struct study *s, const struct parts *f, const struct parts *x, unsigned *out)
{
	static const char key[] = "core.schedulers", method[] = "warps that take turns from each other";
	const struct parts *best = x->parts > f->parts || (x->parts == f->parts && f->least) ? x : f;
	*out = best->least ? 0 : best->parts;
	if (!best->parts)
		study_verdict(
		    s, key, VERDICT_INCONCLUSIVE, "issue",
		    "no few warps fill what they share, or the numbers of those that do have no step in common");
	else if (best->least)
		study_bound(
		    s, key, best->parts, INFINITY, method, "issue",
		    "warps %u apart disturb each other, nearer ones do not; whether those are of two schedulers "
		    "more was not seen",
		    best->parts);
	else if (best->parts > 1)
		study_measured_number(s, key, best->parts, best->parts, best->parts, "sm", method, "issue",
				      "warps %u apart issue %.3g instructions a cycle and those of twice the step no "
				      "fewer; nearer ones issue more",
				      best->parts, best->one);
	else if (f->parts)
		study_likely_number(
		    s, key, 1, 1, 1, "sm", method, "issue",
		    "whichever warps run, they issue %.3g instructions a cycle; several schedulers that "
		    "share all units would look the same",
		    f->one);
	else {
		*out = 0;
		study_verdict(s, key, VERDICT_INCONCLUSIVE, "issue",
			      "only special functions fill what warps share, which may be of all schedulers");
	}
	return *out > 0;
}

/* ---- policy ---- */

#define NOT_HELD 1.05 /* times as long as alone */
#define HELD	 1.2

enum rule {
	RULE_OTHER,
	RULE_EVEN,
	RULE_OLDEST_FIRST,
	RULE_YOUNGEST_FIRST,
	RULE_SOME_FIRST, /* those that are preferred are not told by their numbers */
};

/* By whose streams end first. */
static enum rule rule_of(const struct ran *r)
{
	double least = INFINITY;
	unsigned up = 0, down = 0;
	for (unsigned i = 0; i < r->warps; i++) {
		least = fmin(least, r->end[i]);
		up += i && r->end[i] > r->end[i - 1] + ALIKE * r->last;
		down += i && r->end[i] < r->end[i - 1] - ALIKE * r->last;
	}
	if (least >= (1 - ALIKE) * r->last)
		return RULE_EVEN;
	if (least > 0.6 * r->last)
		return RULE_OTHER;
	if (up && down)
		return RULE_SOME_FIRST;
	return up ? RULE_OLDEST_FIRST : RULE_YOUNGEST_FIRST;
}

/* Some warps end long before others. */
static bool prefers(enum rule r)
{
	return r == RULE_OLDEST_FIRST || r == RULE_YOUNGEST_FIRST || r == RULE_SOME_FIRST;
}

/* The same rule in all repeats, that some end first if it is not the same ones, or RULE_OTHER. */
static enum rule rule_in(const struct point *pt, unsigned warps, unsigned stride)
{
	enum rule all = RULE_OTHER;
	for (unsigned r = 0; pt && pt->outcome == OUTCOME_OK && r < pt->repeats; r++) {
		struct ran one;
		const enum rule is = read_repeat(pt, r, warps, stride, &one) ? rule_of(&one) : RULE_OTHER;
		if (r && is != all && !(prefers(is) && prefers(all)))
			return RULE_OTHER;
		all = r && is != all ? RULE_SOME_FIRST : is;
	}
	return all;
}

/* How much longer one of the warps takes beside the others, least and most of all repeats. */
static bool held_up(const struct point *pt, const struct point *alone, unsigned warps, unsigned stride, unsigned which,
		    double *least, double *most)
{
	*least = INFINITY;
	*most = 0;
	for (unsigned r = 0; r < REPEATS; r++) {
		struct ran with, without;
		if (r >= pt->repeats || r >= alone->repeats || !read_repeat(pt, r, warps, stride, &with) ||
		    !read_repeat(alone, r, 1, stride, &without))
			return false;
		const double times = (with.end[which]) / without.last;
		*least = fmin(*least, times);
		*most = fmax(*most, times);
	}
	return true;
}

static void study_policy(struct study *s, unsigned schedulers, unsigned room)
{
	static const char key[] = "core.policy", method[] = "when the warps of one scheduler end";
	const unsigned fit = schedulers ? (room - 1) / schedulers + 1 : 0, warps = fit > 8 ? 8 : fit;
	if (warps < 3) {
		study_verdict(s, key, VERDICT_INCONCLUSIVE, "issue",
			      schedulers ? "a block has only %u warps of one scheduler"
					 : "which warps are of one scheduler is not known",
			      warps);
		return;
	}
	const struct point *solid = ask(s, STREAM_FLOAT, warps, schedulers, false),
			   *bursts = ask(s, STREAM_FLOAT, warps, schedulers, true),
			   *alone = ask(s, STREAM_FLOAT, 1, schedulers, true);
	const double one = rate(s, STREAM_FLOAT, 1, schedulers), all = rate(s, STREAM_FLOAT, warps, schedulers);
	if (study_pending(s))
		return;
	const enum rule plain = rule_in(solid, warps, schedulers), stalled = rule_in(bursts, warps, schedulers);
	const bool last = plain == RULE_YOUNGEST_FIRST;
	double least, most;
	if (!(warps * one > 2 * all) || !bursts || !alone || bursts->outcome != OUTCOME_OK ||
	    alone->outcome != OUTCOME_OK ||
	    !held_up(bursts, alone, warps, schedulers, last ? warps - 1 : 0, &least, &most))
		study_verdict(s, key, VERDICT_INCONCLUSIVE, "issue",
			      "%u warps of one scheduler do not take enough turns from each other", warps);
	else if (plain == RULE_EVEN && stalled == RULE_EVEN)
		study_text(s, key, "round_robin", method, "issue", "%u warps of one scheduler all end at one time",
			   warps);
	else if ((plain == RULE_OLDEST_FIRST || last) && stalled == plain && most < NOT_HELD)
		study_text(
		    s, key, last ? "youngest" : "oldest", method, "issue",
		    "of %u warps of one scheduler the %s is done first, and the others' bursts do not hold it up",
		    warps, last ? "last" : "first");
	else if (plain == RULE_OLDEST_FIRST && stalled == plain && least > HELD)
		study_likely_text(s, key, "greedy", method, "issue",
				  "of %u warps of one scheduler the first are done first, and the others' bursts hold "
				  "the first up, %.3g times; warps that take turns in small groups may do so too",
				  warps, least);
	else if (prefers(plain) && prefers(stalled))
		study_likely_text(s, key, "greedy", method, "issue",
				  "of %u warps of one scheduler some run to their end before others begin, not always "
				  "the first or the last ones",
				  warps);
	else
		study_verdict(s, key, VERDICT_INCONCLUSIVE, "issue",
			      "%u warps of one scheduler follow none of the rules that are known: the %s takes %.3g "
			      "to %.3g times as long beside the others",
			      warps, last ? "last, which is done first," : "first", least, most);
}

/* ---- dual issue ---- */

#define MORE_THAN_ONE 1.05 /* instructions a cycle */
#define CLEARLY	      1.15
#define WHOLE	      0.1 /* by so much of a cycle turns may seem to miss whole ones: loops end now and then */
#define UNEVEN	      0.2 /* and by so much where warps end one after the other */

/* Rates of what one scheduler's warps run, instructions a cycle. */
struct mixes {
	double joint, joint_fewer; /* each in need of the last; by three quarters of the warps */
	double a, b;		   /* either operation alone */
	double pairs, more;	   /* side by side, as many of either; twice as many of the first */
};

/* Whether a rate is one instruction in whole cycles, but for `whole` of one: as turns of a scheduler are. */
static bool is_whole(double rate, double whole)
{
	return fabs(1 / rate - round(1 / rate)) < whole;
}

/* Whether issue holds a mix up. It is slower then than two units of those rates could do it and faster than one could.
 * It takes whole cycles, but for `whole` of one. */
static bool is_issue(double mix, double n_a, double n_b, const struct mixes *m, double whole)
{
	const double all = n_a + n_b, two = all / fmax(n_a / m->a, n_b / m->b), one = all / (n_a / m->a + n_b / m->b);
	return mix > CLEARLY * one && CLEARLY * mix < two && is_whole(mix, whole);
}

static void study_dual(struct study *s, unsigned schedulers, unsigned room)
{
	static const char key[] = "core.dual_issue",
			  method[] = "two operations, side by side and in need of each other";
	const unsigned fit = schedulers ? (room - 1) / schedulers + 1 : 0, warps = fit > 16 ? 16 : fit;
	if (warps < 4) {
		study_verdict(s, key, VERDICT_INCONCLUSIVE, "issue",
			      schedulers ? "a block has only %u warps of one scheduler"
					 : "which warps are of one scheduler is not known",
			      warps);
		return;
	}
	const struct mixes m = {.joint = rate(s, STREAM_JOINT, warps, schedulers),
				.joint_fewer = rate(s, STREAM_JOINT, warps * 3 / 4, schedulers),
				.a = rate(s, STREAM_FLOAT, warps, schedulers),
				.b = rate(s, STREAM_BITS, warps, schedulers),
				.pairs = rate(s, STREAM_PAIRS, warps, schedulers),
				.more = rate(s, STREAM_MORE_FLOAT, warps, schedulers)};
	if (study_pending(s))
		return;
	const double most = fmax(fmax(m.pairs, m.more), fmax(m.a, m.b));
	/* The last warps fill nothing if warps end one after the other. */
	bool even = true;
	for (unsigned k = STREAM_FLOAT; k < STREAMS; k++)
		even &= k == STREAM_SPECIAL ||
			rule_in(ask(s, (enum stream)k, warps, schedulers, false), warps, schedulers) == RULE_EVEN;
	if (isnan(m.joint + m.joint_fewer + m.a + m.b + m.pairs + m.more))
		study_verdict(s, key, VERDICT_INCONCLUSIVE, "issue", "points are missing");
	else if (most > MORE_THAN_ONE)
		study_text(s, key, "yes", method, "issue", "one scheduler issues %.3g instructions a cycle", most);
	else if (!even && (is_issue(m.pairs, 1, 1, &m, UNEVEN) || is_issue(m.more, 2, 1, &m, UNEVEN)))
		study_likely_text(s, key, "no", method, "issue",
				  "two units that do %.3g and %.3g a cycle alone get %.3g together; warps end one "
				  "after the other, and the last ones fill no scheduler",
				  m.a, m.b, is_issue(m.pairs, 1, 1, &m, UNEVEN) ? m.pairs : m.more);
	else if (!even)
		study_verdict(s, key, VERDICT_INCONCLUSIVE, "issue",
			      "warps end one after the other, and the last ones fill no scheduler");
	else if (m.joint < MORE_THAN_ONE * m.joint_fewer && m.pairs > CLEARLY * m.joint && is_whole(m.joint, WHOLE))
		study_text(s, key, "yes", method, "issue",
			   "instructions that do not need each other come at %.3g a cycle, others at %.3g however many "
			   "warps there are",
			   m.pairs, m.joint);
	else if (is_issue(m.pairs, 1, 1, &m, WHOLE) || is_issue(m.more, 2, 1, &m, WHOLE))
		study_text(s, key, "no", method, "issue",
			   "two units that do %.3g and %.3g a cycle alone get %.3g together", m.a, m.b,
			   is_issue(m.pairs, 1, 1, &m, WHOLE) ? m.pairs : m.more);
	else
		study_verdict(
		    s, key, VERDICT_INCONCLUSIVE, "issue",
		    "units that do %.3g and %.3g a cycle alone, and %.3g together, leave nothing for a second "
		    "instruction of a turn",
		    m.a, m.b, m.pairs);
}

void residency_issue(struct study *s)
{
	const unsigned room = job_warps(study_device(s), REGISTERS, WARPS_MOST);
	const struct parts f = parts_of(s, STREAM_FLOAT, room), x = parts_of(s, STREAM_SPECIAL, room);
	unsigned schedulers;
	if (study_pending(s))
		return;
	conclude_schedulers(s, &f, &x, &schedulers);
	study_policy(s, schedulers, room);
	study_dual(s, schedulers, room);
}
