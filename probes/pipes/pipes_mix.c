/* The streams: what to launch, and the time of one group of their instructions. */
#include "base/units.h"
#include "pipes.h"
#include "stat/stat.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
	ITERATIONS = 3,
	ROUNDS =
	    64, /* of warps that do not wait for each other: many short ones, for what a warp has begun is not seen ... */
	ROUND = 32, /* ... of so many instructions at least */
	HEADER_WORDS = 2,
	WARP_WORDS = 4,
	ROUND_WORDS = 2,  /* the same of those */
	SHORT = 24,	  /* instructions of the shorter stream, at least */
	LONG = 96,	  /* the same where few of them do not give a steady time */
	APART = 384,	  /* no length: what comes after LONG is a stream whose warps do not wait for each other */
	FULLER_LOADS = 4, /* the loads with which such a stream is tried */
	SPANS = 16,
	GROUP_MOST = 64, /* instructions of a group */
	NATIVE_MOST = 8	 /* of one operation: what is longer is a routine of many parts */
};

#define STEADY 0.04 /* of a time: what its repeats may differ by */
#define FILLED                                                                                                         \
	0.07 /* of the throughput that the arithmetic probe found: a stream that keeps the pipe full is so near */
#define FILLED_SHORT 0.04 /* the same of a short stream */
#define APART_MOST   0.12 /* excess that imperfect overlap explains */
#define HALF_SEEN    0.25 /* excess that the issue rate may hide before nothing can be said */
#define PART_LEAST   0.2
#define SHARED_LEAST 0.85
#define CONTRAST     1.15
#define ISSUE_MARGIN 1.1  /* a stream that takes so much longer than its issue is not held up by that */
#define NEAR_ISSUE   1.6  /* one that takes less may be held up by the order in which warps get their turns ... */
#define BEYOND_ISSUE 1.08 /* ... and one that takes more is held up by something */

/* The row of loads from shared memory, which are no arithmetic. */
#define LOAD_ROW ARITHMETIC_COUNT
static const struct arithmetic_row load_row = {
    .reg = "u32", .kind = "int", .form = "load", .text = "ld.volatile.shared.u32", .suffix = ""};

static void side(struct job *j, char letter, unsigned row)
{
	const struct arithmetic_row *r = row == LOAD_ROW ? &load_row : &arithmetic_row[row];
	const struct {
		const char *stem, *text;
	} texts[] = {{"REG", r->reg}, {"KIND", r->kind}, {"FORM", r->form}, {"OP", r->text}, {"SUFFIX", r->suffix}};
	char name[16];
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
		snprintf(name, sizeof name, "%s%c", texts[i].stem, letter);
		job_param_text(j, name, texts[i].text);
	}
}

int pipes_setup_mix(const struct study *s, unsigned row, double x, const double *p, struct job *j)
{
	const struct device_info *d = study_device(s);
	const unsigned other = (unsigned)p[0], n_a = (unsigned)x, n_b = (unsigned)p[1], groups = (unsigned)p[2],
		       warps = (unsigned)p[3], chains = (unsigned)p[4], rounds = (unsigned)p[5];
	j->template_path = "probes/pipes/mix.ptx";
	side(j, 'A', row);
	side(j, 'B', other);
	job_param(j, "NA", n_a);
	job_param(j, "NB", n_b);
	job_param(j, "GROUPS", groups);
	job_param(j, "CHAINS", chains);
	job_param(j, "ITER", rounds ? rounds : ITERATIONS);
	job_param(j, "APART", rounds > 0);
	job_param(j, "WARPLOG", log2_floor(d->warp_size));
	snprintf(j->launch.entry, sizeof j->launch.entry, "mix");
	arithmetic_block(j, d, warps, HEADER_WORDS + (rounds ? ROUND_WORDS * rounds : WARP_WORDS * ITERATIONS) * warps,
			 16ull * chains);
	/* where few instructions were not steady, more of them more often */
	j->launch.repeats = groups * (n_a + n_b) >= LONG && !rounds ? 4 : 1;
	j->check.cls = NATIVE_ALU;
	j->check.region = 0;
	j->check.min = groups * (n_a + (other == LOAD_ROW ? 0 : n_b)); /* fewer: some were folded */
	j->check.max = UINT32_MAX;
	/* no more: a branch makes a routine, of which not all instructions run */
	j->check.others = 4 + (other == LOAD_ROW ? groups * n_b : 0);
	return 0;
}

/* Cycles of a stream, by the SM's clock. */
struct stretch {
	double span; /* from the first warp's begin to the last one's end */
	double edge; /* of it, between the first begin and the last one, and between the first end and the last one */
};

/* which: 0 the short one, 1 the long one. */
static struct stretch stretch(const uint32_t *words, unsigned iteration, unsigned warps, unsigned which)
{
	const uint32_t *w = words + HEADER_WORDS + (size_t)WARP_WORDS * iteration * warps + 2 * (size_t)which;
	int32_t first = INT32_MAX, last = INT32_MIN, late = INT32_MIN, early = INT32_MAX;
	for (unsigned i = 0; i < warps; i++) {
		/* relative to one read, so that a counter that wraps does no harm */
		const int32_t start = (int32_t)(w[WARP_WORDS * i] - w[0]),
			      end = (int32_t)(w[WARP_WORDS * i + 1] - w[0]);
		first = start < first ? start : first;
		last = end > last ? end : last;
		late = start > late ? start : late;
		early = end < early ? end : early;
	}
	return (struct stretch){(double)last - first, (double)late - first + last - early};
}

struct stream {
	bool ok, steady;
	bool loose; /* its warps begin or end one after the other */
	const struct point *bad;
	double cycles; /* of the SM, for one group of one warp */
	double native; /* instructions of one group */
};

/* How pipes are kept full: parts of the largest block, chains of each operation. More chains need more registers than some
 * SM has for its largest block; a scheduler that issues two instructions of one warp needs them. */
static const struct {
	unsigned part, chains;
} loads[PIPES_LOADS] = {{1, 2}, {1, 4}, {2, 4}, {2, 8}, {4, 8}, {8, 8}};

const unsigned pipes_chains[PIPES_CHAINS] = {2, 4, 8};

static unsigned warps_of(const struct device_info *d, unsigned load)
{
	const unsigned full = d->max_threads_per_block / d->warp_size, n = full / loads[load].part;
	return n ? n : 1;
}

/* Later passes may ask for such a stream, under some load of so many chains. */
static void expect(struct study *s, unsigned a, unsigned n_a, unsigned b, unsigned n_b, unsigned steps, unsigned chains,
		   unsigned instructions)
{
	const double p[POINT_PARAMS] = {b, n_b, (instructions + steps - 1) / steps, 1, chains};
	study_expect(s, pipes_mix_experiment(a), n_a, p);
}

/* The same under all loads. */
static void expect_all(struct study *s, unsigned a, unsigned n_a, unsigned b, unsigned n_b, unsigned steps)
{
	for (unsigned i = 0; i < PIPES_CHAINS; i++)
		expect(s, a, n_a, b, n_b, steps, pipes_chains[i], LONG);
}

/* And of warps that do not wait for each other, under one load: few such streams are asked for in the end. */
static void expect_apart(struct study *s, unsigned a, unsigned n_a, unsigned b, unsigned n_b, unsigned steps,
			 unsigned load)
{
	const unsigned groups = (ROUND + steps - 1) / steps;
	for (unsigned i = 0; i < 2; i++) {
		const double p[POINT_PARAMS] = {b, n_b, i % 2 ? 3 * groups : groups, 1, loads[load].chains, ROUNDS};
		study_expect(s, pipes_mix_experiment(a), n_a, p);
	}
}

/* A stream of so many groups at least. Its repeats have to agree, or it is not ok. */
static struct stream timed(struct study *s, unsigned a, unsigned n_a, unsigned b, unsigned n_b, unsigned steps,
			   unsigned load, unsigned instructions)
{
	const unsigned warps = warps_of(study_device(s), load), groups = (instructions + steps - 1) / steps;
	const double p[POINT_PARAMS] = {b, n_b, groups, warps, loads[load].chains};
	struct stream out = {0};
	const struct point *pt = study_ask(s, pipes_mix_experiment(a), n_a, p);
	if (!pt)
		return out;
	if (pt->outcome != OUTCOME_OK) {
		out.bad = pt;
		return out;
	}
	const struct native_info *n = study_native(s, pipes_mix_experiment(a), pt);
	if (!n || n->problem[0] || n->region_count < 3 || n->region[2].total <= n->region[0].total)
		return out;
	/* The first iteration runs with cold caches. */
	double v[SPANS], scratch[SPANS], edge = 0;
	size_t count = 0;
	for (unsigned r = 0; r < pt->repeats; r++)
		for (unsigned i = 1; i < ITERATIONS && count < SPANS; i++) {
			const uint32_t *w = pt->y + (size_t)r * pt->words_per_repeat;
			const struct stretch few = stretch(w, i, warps, 0), many = stretch(w, i, warps, 1);
			edge = fmax(edge, fabs(many.edge - few.edge) / (2.0 * groups * warps));
			v[count++] = (many.span - few.span) / (2.0 * groups * warps);
		}
	out.cycles = stat_median(v, count, scratch);
	out.native = ((double)n->region[2].total - n->region[0].total) / (2.0 * groups);
	/* nothing has come from outside, nothing left the clocks */
	const bool whole = fabs(n->region[0].total - groups * out.native) <= 0.1 * groups * out.native + 4;
	const double lo = stat_quantile(v, count, 0, scratch), hi = stat_quantile(v, count, 1, scratch);
	/* Warps that begin or end one after the other do not keep the pipe full all the time, which cancels when they do so alike. */
	const double loose = fmax(hi - lo, edge);
	out.steady = out.cycles > 0 && loose <= STEADY * out.cycles;
	out.ok = whole && out.cycles > 0 && loose <= 2 * STEADY * out.cycles;
	out.loose = whole && !out.ok && loose > hi - lo;
	return out;
}

/* A stream whose warps do not wait for each other, in two lengths, timed while all of them run. Where a scheduler prefers some warps,
 * nothing else says how fast the pipes are. */
static struct stream timed_apart(struct study *s, unsigned a, unsigned n_a, unsigned b, unsigned n_b, unsigned steps,
				 unsigned load)
{
	const unsigned warps = warps_of(study_device(s), load), groups = (ROUND + steps - 1) / steps;
	const struct point *pt[2];
	const struct native_info *n[2];
	struct chain_cycles c[2];
	struct stream out = {0};
	for (unsigned i = 0; i < 2; i++) {
		const double p[POINT_PARAMS] = {b, n_b, i ? 3 * groups : groups, warps, loads[load].chains, ROUNDS};
		pt[i] = study_ask(s, pipes_mix_experiment(a), n_a, p);
		if (pt[i] && pt[i]->outcome != OUTCOME_OK)
			out.bad = pt[i];
	}
	if (!pt[0] || !pt[1] || out.bad)
		return out;
	out.cycles = -1; /* nothing that says anything so far */
	for (unsigned i = 0; i < 2; i++) {
		n[i] = study_native(s, pipes_mix_experiment(a), pt[i]);
		if (!n[i] || n[i]->problem[0] || !n[i]->region_count)
			return out;
		c[i] = arithmetic_between_ends(pt[i], warps, ROUNDS, ROUNDS / 4);
	}
	const double lo = (c[1].least - c[0].most) / (2.0 * groups), hi = (c[1].most - c[0].least) / (2.0 * groups);
	if (!(c[0].least > 0 && lo > 0))
		return out;
	out.native = ((double)n[1]->region[0].total - n[0]->region[0].total) / (2.0 * groups);
	const bool whole = fabs(n[0]->region[0].total - groups * out.native) <= 0.1 * groups * out.native + 4;
	out.cycles = (lo + hi) / 2;
	out.steady = hi - lo <= STEADY * out.cycles;
	out.ok = whole && hi - lo <= 2 * STEADY * out.cycles;
	return out;
}

/* A stream of so many instructions at least; where a short one's repeats differ, or its warps do not begin and end together, a
 * longer one. APART: one whose warps do not wait for each other. */
static struct stream stream_of(struct study *s, unsigned a, unsigned n_a, unsigned b, unsigned n_b, unsigned steps,
			       unsigned load, unsigned least)
{
	if (least == APART)
		return timed_apart(s, a, n_a, b, n_b, steps, load);
	const struct stream few = timed(s, a, n_a, b, n_b, steps, load, least);
	if (least >= LONG)
		return few;
	return few.steady || few.bad || few.cycles == 0 ? few : timed(s, a, n_a, b, n_b, steps, load, LONG);
}

static const char routine[] = "it is a routine of many native instructions, which need not have one unit";

bool pipes_asked(const struct study *s, const struct solo *o, unsigned row)
{
	return arithmetic_supported(study_device(s), arithmetic_row[row].need) && o->why != routine;
}

bool pipes_apart(const struct solo *o)
{
	return o->least == APART;
}

static const char *refusal(const struct study *s, unsigned row, double *throughput, unsigned *native)
{
	const struct arithmetic_row *r = &arithmetic_row[row];
	char key[96];
	double count;
	if (!arithmetic_supported(study_device(s), r->need))
		return "the device does not have this operation";
	snprintf(key, sizeof key, "arith.%s.%s.throughput", r->op, r->type);
	if (!study_number(s, key, throughput))
		return "its throughput is not known, so that nobody can say when its pipe is full";
	snprintf(key, sizeof key, "arith.%s.%s.native_ops", r->op, r->type);
	if (!study_number(s, key, &count))
		return "it is not known which native instructions it is";
	if (count > NATIVE_MOST)
		return routine;
	*native = (unsigned)count;
	return NULL;
}

/* The fastest operation and loads beside it go through issue, but not through one pipe. */
static void issue_with_loads(struct pipes *u)
{
	static const unsigned char shares[][2] = {{1, 1}, {2, 1}, {4, 1}, {6, 1}, {1, 2}};
	int fastest = -1;
	for (int i = 0; i < ARITHMETIC_COUNT; i++)
		if (u->solo[i].usable && u->solo[i].native == 1 &&
		    (fastest < 0 || u->solo[i].cycles < u->solo[fastest].cycles))
			fastest = i;
	for (size_t i = 0; fastest >= 0 && i < sizeof shares / sizeof *shares; i++) {
		const unsigned a = shares[i][0], b = shares[i][1];
		const struct stream t = stream_of(u->s, (unsigned)fastest, a, LOAD_ROW, b, a + b, u->solo[fastest].load,
						  u->solo[fastest].least == APART ? APART : LONG);
		if (t.ok)
			u->issue = fmin(u->issue, t.cycles / t.native);
	}
}

void pipes_expect_solo(const struct pipes *u, unsigned row, unsigned chains)
{
	expect(u->s, row, 1, row, 0, u->solo[row].native, chains, SHORT);
	expect(u->s, row, 1, row, 0, u->solo[row].native, chains, LONG);
}

/* One operation by itself, in streams of so many instructions at least. False when no longer stream would help. */
static bool solo_of(struct pipes *u, unsigned row)
{
	struct solo *o = &u->solo[row];
	const double warp = study_device(u->s)->warp_size;
	/* What starting a stream costs differs a little with its length, which shows in a short one. */
	const double filled = o->least < LONG ? FILLED_SHORT : FILLED;
	for (unsigned load = 0; load < (o->least == APART ? FULLER_LOADS : PIPES_LOADS); load++) {
		const struct stream t = stream_of(u->s, row, 1, row, 0, o->native, load, o->least);
		if (!t.ok && !t.bad && t.cycles == 0)
			return false;
		o->loose |= t.loose;
		if (!t.ok)
			continue;
		if (fabs(t.native - o->native) > 0.1 * o->native) {
			o->why = "the compiler makes something else of it in a stream";
			return false;
		}
		o->why = "its stream does not keep its pipe full";
		o->usable = fabs(warp / t.cycles - o->throughput) < filled * o->throughput;
		if (o->usable) {
			u->issue = fmin(u->issue, t.cycles / t.native);
			o->cycles = t.cycles;
			o->load = load;
			return true;
		}
	}
	return true;
}

bool pipes_solos(struct pipes *u)
{
	struct study *s = u->s;
	u->issue = INFINITY;
	for (unsigned i = 0; i < ARITHMETIC_COUNT; i++) {
		struct solo *o = &u->solo[i];
		*o = (struct solo){.cycles = INFINITY};
		o->why = refusal(s, i, &o->throughput, &o->native);
		if (o->why)
			continue;
		o->why = "its stream could not be timed";
		for (unsigned least = SHORT; !o->usable && least <= (o->loose ? APART : LONG); least *= LONG / SHORT) {
			o->least = least;
			if (!solo_of(u, i))
				break;
		}
	}
	if (study_pending(s))
		return false;
	issue_with_loads(u);
	return !study_pending(s);
}

/* Instructions of each in one group, so that both take about as long. */
static void balance(const struct pipes *u, unsigned a, unsigned b, unsigned *n_a, unsigned *n_b)
{
	const double q = u->solo[a].cycles / u->solo[b].cycles;
	double best = INFINITY;
	*n_a = *n_b = 1;
	for (unsigned i = 1; i <= 4; i++) {
		unsigned few = i, many = (unsigned)fmax(1, round(i * fmax(q, 1 / q)));
		if (few + many > GROUP_MOST)
			many = GROUP_MOST - few;
		/* a small group is worth a little imbalance */
		const double off = fabs(log((double)many / few / fmax(q, 1 / q))) + 0.02 * i;
		if (off < best) {
			best = off;
			*n_a = q >= 1 ? few : many;
			*n_b = q >= 1 ? many : few;
		}
	}
}

struct times {
	double slower, both, issue; /* cycles: the slower one alone, one after the other, what issuing takes */
};

static struct times times_of(const struct pipes *u, unsigned a, unsigned n_a, unsigned b, unsigned n_b)
{
	const struct solo *x = &u->solo[a], *y = &u->solo[b];
	const double t_a = n_a * x->cycles, t_b = n_b * y->cycles;
	return (struct times){fmax(t_a, t_b), t_a + t_b, (n_a * x->native + n_b * y->native) * u->issue};
}

double pipes_contrast(const struct pipes *u, unsigned a, unsigned b)
{
	unsigned n_a, n_b;
	balance(u, a, b, &n_a, &n_b);
	const struct times t = times_of(u, a, n_a, b, n_b);
	return t.both / fmax(t.slower, t.issue);
}

/* What so long a time of the two says. */
static struct pair judge(const struct times *t, double cycles)
{
	const double excess = (cycles - t->slower) / (t->both - t->slower), floor = fmax(t->slower, t->issue);
	const double beyond = t->both > CONTRAST * floor ? (cycles - floor) / (t->both - floor) : 0;
	if (excess < -APART_MOST || excess > 1 + APART_MOST)
		return (struct pair){.is = REL_UNKNOWN, .excess = excess}; /* neither order of things explains that */
	if (excess <= APART_MOST || (excess <= HALF_SEEN && beyond <= APART_MOST))
		return (struct pair){.is = REL_APART, .excess = excess};
	const bool seen = cycles > ISSUE_MARGIN * t->issue;
	if (seen && beyond >= SHARED_LEAST)
		return (struct pair){.is = REL_SHARED, .excess = excess};
	if (seen && beyond >= PART_LEAST)
		return (struct pair){.is = REL_PART, .excess = excess};
	return (struct pair){.is = REL_HIDDEN, .excess = excess};
}

void pipes_expect_pair(const struct pipes *u, unsigned a, unsigned b, unsigned chains)
{
	const unsigned x = a < b ? a : b, y = a < b ? b : a;
	unsigned n_x, n_y;
	balance(u, x, y, &n_x, &n_y);
	expect(u->s, x, n_x, y, n_y, n_x * u->solo[x].native + n_y * u->solo[y].native, chains, LONG);
}

/* What may share a pipe, by streams of other proportions: a pipe in common makes none of them shorter than its work takes, while
 * warps that get their turns too late for a pipe that is free do so in some proportions and not in others. Of each stream, what
 * part of one's work at most needs the other's pipe, or of the other's the first one's. */
static struct pair other_proportions(struct pipes *u, unsigned a, unsigned n_a, unsigned b, unsigned n_b,
				     unsigned first, const struct pair *seen)
{
	/* of the more numerous ones, in quarters */
	static const unsigned char quarters[] = {4, 3, 5, 2};
	const struct solo *x = &u->solo[a], *y = &u->solo[b];
	const size_t missing = study_missing(u->s);
	/* An operation of two pipes does only a part of its work on the other's: one that was seen has to be gone. */
	const double nothing = seen->is == REL_PART ? APART_MOST : PART_LEAST;
	double of_a = INFINITY, of_b = INFINITY;
	for (size_t k = 0; k < sizeof quarters && study_missing(u->s) == missing && fmax(of_a, of_b) > nothing; k++) {
		unsigned m_a = n_a, m_b = n_b, *many = n_a > n_b ? &m_a : &m_b, *few = n_a > n_b ? &m_b : &m_a;
		const unsigned times = quarters[k] * *many + 4 * *few <= GROUP_MOST ? 4 : 1;
		*many = (quarters[k] * *many * times + 2) / 4;
		*few *= times;
		while (*many % 2 == 0 && *few % 2 == 0) {
			*many /= 2;
			*few /= 2;
		}
		const double steps = (double)m_a * x->native + (double)m_b * y->native, t_a = m_a * x->cycles,
			     t_b = m_b * y->cycles;
		expect_all(u->s, a, m_a, b, m_b, (unsigned)steps);
		for (unsigned i = 0; i < PIPES_LOADS; i++) {
			const struct stream m =
			    stream_of(u->s, a, m_a, b, m_b, (unsigned)steps, (first + i) % PIPES_LOADS, LONG);
			if (!m.ok || fabs(m.native - steps) > 0.1 * steps)
				continue;
			of_a = fmin(of_a, (m.cycles - t_b) / t_a);
			of_b = fmin(of_b, (m.cycles - t_a) / t_b);
		}
	}
	const double most = fmax(of_a, of_b);
	if (most <= nothing)
		return (struct pair){.is = REL_APART, .excess = most};
	return most < seen->excess - APART_MOST ? (struct pair){.is = REL_HIDDEN, .excess = most} : *seen;
}

/* Times of one pair under the loads so far. */
struct tried {
	unsigned count, warps[PIPES_LOADS], load; /* load: of the shortest */
	double cycles[PIPES_LOADS], shortest;
};

/* Whether warps wait for each other under a load that takes about the shortest time: each takes longer there than where they are fewer. One
 * that takes its time whatever the others do need not wait for a pipe: its instructions may not be at hand. */
static bool wait_for_each_other(const struct tried *t)
{
	for (unsigned i = 0; i < t->count; i++)
		for (unsigned k = 0; k < t->count; k++)
			if (t->warps[i] > t->warps[k] && t->cycles[i] <= (1 + APART_MOST) * t->shortest &&
			    t->cycles[i] * t->warps[i] > (1 + APART_MOST) * t->cycles[k] * t->warps[k])
				return true;
	return false;
}

/* Whether more warps would not be faster: two numbers of them took as long, or as many as there can be were among them. Few that do not
 * hide what holds each of them up, such as code that is not at hand, may wait for each other a little and still take as long as one
 * after the other. */
static bool enough_warps(const struct pipes *u, const struct tried *t)
{
	for (unsigned i = 0; i < t->count; i++)
		for (unsigned k = 0; k < t->count; k++)
			if (t->warps[i] == warps_of(study_device(u->s), 0) ||
			    (t->warps[i] > t->warps[k] &&
			     fmax(t->cycles[i], t->cycles[k]) <= (1 + APART_MOST) * t->shortest))
				return true;
	return false;
}

static void try_load(const struct pipes *u, struct tried *t, unsigned load, double cycles)
{
	t->warps[t->count] = warps_of(study_device(u->s), load);
	t->cycles[t->count++] = cycles;
	if (cycles < t->shortest) {
		t->shortest = cycles;
		t->load = load;
	}
}

/* What warps seem to do that do not wait for each other, again by a stream so short that its code is at hand wherever any is. */
static struct pair by_short(struct pipes *u, unsigned a, unsigned n_a, unsigned b, unsigned n_b, const struct tried *t,
			    const struct pair *seen)
{
	const double steps = (double)n_a * u->solo[a].native + (double)n_b * u->solo[b].native;
	const struct stream m = timed(u->s, a, n_a, b, n_b, (unsigned)steps, t->load, SHORT);
	if (!m.ok && !m.bad && m.cycles == 0)
		return (struct pair){.is = REL_UNKNOWN};
	if (!m.ok || fabs(m.native - steps) > 0.1 * steps)
		return (struct pair){.is = REL_HIDDEN, .excess = seen->excess};
	const struct times all = times_of(u, a, n_a, b, n_b);
	return judge(&all, fmin(m.cycles, t->shortest));
}

struct pair pipes_pair(struct pipes *u, unsigned a, unsigned b, bool closely)
{
	unsigned n_a, n_b;
	if (a == b)
		return (struct pair){.is = REL_SHARED, .excess = 1};
	if (a > b) { /* one stream for both orders */
		const unsigned t = a;
		a = b;
		b = t;
	}
	const struct solo *x = &u->solo[a], *y = &u->solo[b];
	const unsigned first = x->load > y->load ? x->load : y->load;
	struct pair out = {.is = REL_UNKNOWN};
	struct tried tried = {.shortest = INFINITY};
	bool loose = false;
	balance(u, a, b, &n_a, &n_b);
	const double steps = (double)n_a * x->native + (double)n_b * y->native;
	expect_all(u->s, a, n_a, b, n_b, (unsigned)steps);
	/* What lies between both extremes may only be a load under which the two do not overlap well, and in a short stream its ends
	 * count. What issuing hides stays hidden. */
	const bool apart = x->least == APART || y->least == APART;
	for (unsigned least = apart ? APART : LONG; least <= (apart || loose ? APART : LONG); least *= LONG / SHORT) {
		const unsigned count = least == APART ? FULLER_LOADS : PIPES_LOADS;
		tried.count = 0;
		for (unsigned i = 0; i < count; i++) {
			const unsigned load = (first + i) % count;
			if (least == APART)
				expect_apart(u->s, a, n_a, b, n_b, (unsigned)steps, (load + 1) % count);
			const struct stream m = stream_of(u->s, a, n_a, b, n_b, (unsigned)steps, load, least);
			if (!m.ok && !m.bad && m.cycles == 0)
				return out;
			if (m.loose && !loose)
				expect_apart(u->s, a, n_a, b, n_b, (unsigned)steps, first % FULLER_LOADS);
			loose |= m.loose;
			if (!m.ok || fabs(m.native - steps) > 0.1 * steps)
				continue;
			try_load(u, &tried, load, m.cycles);
			u->issue = fmin(u->issue, m.cycles / m.native);
			const struct times t = times_of(u, a, n_a, b, n_b);
			out = judge(&t, tried.shortest);
			out.preferred = least == APART;
			/* Where some warps are preferred too few others may be left at the pipe that is not the slower one's. */
			if (least == APART && out.is == REL_PART)
				out.is = REL_HIDDEN;
			/* Neither do those that seem to take turns, as long as only one number of warps says so. */
			if (out.is == REL_APART || t.both < CONTRAST * t.issue ||
			    (out.is == REL_SHARED && wait_for_each_other(&tried) && enough_warps(u, &tried)))
				return out;
		}
		if (out.is == REL_HIDDEN)
			break;
	}
	if (!out.preferred && (out.is == REL_SHARED || out.is == REL_PART) && !wait_for_each_other(&tried))
		out = by_short(u, a, n_a, b, n_b, &tried, &out);
	const double issue = steps * u->issue;
	if (!apart && ((out.is == REL_PART && tried.shortest < NEAR_ISSUE * issue) ||
		       (out.is == REL_HIDDEN && closely && tried.shortest > BEYOND_ISSUE * issue)))
		return other_proportions(u, a, n_a, b, n_b, first, &out);
	return out;
}
