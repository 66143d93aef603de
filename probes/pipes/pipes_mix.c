/* The streams: what to launch, and the time of one group of their instructions. */
#include "base/units.h"
#include "pipes_stream.h"
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
	ROUND_WORDS = 2, /* the same of those */
	SPANS = 16,
	NATIVE_MOST = 8 /* of one operation: what is longer is a routine of many parts */
};

#define STEADY 0.04 /* of a time: what its repeats may differ by */
#define FILLED                                                                                                         \
	0.07 /* of the throughput that the arithmetic probe found: a stream that keeps the pipe full is so near */
#define FILLED_SHORT 0.04 /* the same of a short stream */

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
	j->launch.repeats = groups * (n_a + n_b) >= STREAM_LONG && !rounds ? 4 : 1;
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

/* How pipes are kept full: parts of the largest block, chains of each operation. More chains need more registers than some
 * SM has for its largest block; a scheduler that issues two instructions of one warp needs them. */
struct stream_load {
	unsigned part, chains;
};
static const struct stream_load loads[PIPES_LOADS] = {{1, 2}, {1, 4}, {2, 4}, {2, 8}, {4, 8}, {8, 8}};
/* The same of halves, of which a compiler packs two chains into one. */
static const struct stream_load single_loads[PIPES_LOADS] = {{1, 1}, {2, 1}, {4, 1}, {1, 2}, {1, 4}, {2, 4}};

static bool is_single(unsigned a, unsigned b)
{
	return arithmetic_is_single(&arithmetic_row[a]) || (b != LOAD_ROW && arithmetic_is_single(&arithmetic_row[b]));
}

static const struct stream_load *load_of(unsigned a, unsigned b, unsigned load)
{
	return is_single(a, b) ? &single_loads[load] : &loads[load];
}

bool stream_is_packed(unsigned a, unsigned b, const struct stream *m)
{
	return is_single(a, b) && m->bad && m->bad->outcome == OUTCOME_INVALID;
}

const unsigned pipes_chains[PIPES_CHAINS] = {2, 4, 8};

unsigned stream_warps(const struct device_info *d, unsigned a, unsigned b, unsigned load)
{
	const unsigned full = d->max_threads_per_block / d->warp_size, n = full / load_of(a, b, load)->part;
	return n ? n : 1;
}

/* Later passes may ask for such a stream, under some load of so many chains. */
void stream_expect(struct study *s, unsigned a, unsigned n_a, unsigned b, unsigned n_b, unsigned steps, unsigned chains,
		   unsigned instructions)
{
	const unsigned each = is_single(a, b) ? chains / 2 : chains;
	const double p[POINT_PARAMS] = {b, n_b, (instructions + steps - 1) / steps, 1, each};
	/* Of halves more are asked for only where no compiler packs them. */
	if (!is_single(a, b) || each == 1)
		study_expect(s, pipes_mix_experiment(a), n_a, p);
}

/* The same under all loads. */
void stream_expect_all(struct study *s, unsigned a, unsigned n_a, unsigned b, unsigned n_b, unsigned steps)
{
	for (unsigned i = 0; i < PIPES_CHAINS; i++)
		stream_expect(s, a, n_a, b, n_b, steps, pipes_chains[i], STREAM_LONG);
}

/* And of warps that do not wait for each other, under one load: few such streams are asked for in the end. */
void stream_expect_apart(struct study *s, unsigned a, unsigned n_a, unsigned b, unsigned n_b, unsigned steps,
			 unsigned load)
{
	const unsigned groups = (ROUND + steps - 1) / steps;
	for (unsigned i = 0; i < 2; i++) {
		const double p[POINT_PARAMS] = {b,     n_b, i % 2 ? 3 * groups : groups, 1, load_of(a, b, load)->chains,
						ROUNDS};
		study_expect(s, pipes_mix_experiment(a), n_a, p);
	}
}

/* A stream of so many groups at least. Its repeats have to agree, or it is not ok. */
struct stream stream_together(struct study *s, unsigned a, unsigned n_a, unsigned b, unsigned n_b, unsigned steps,
			      unsigned load, unsigned instructions)
{
	const unsigned warps = stream_warps(study_device(s), a, b, load), groups = (instructions + steps - 1) / steps;
	const double p[POINT_PARAMS] = {b, n_b, groups, warps, load_of(a, b, load)->chains};
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

/* A stream whose warps do not wait for each other, in two lengths, timed while all of them run. Nothing else says how
 * fast the pipes are if a scheduler prefers some warps. */
static struct stream timed_apart(struct study *s, unsigned a, unsigned n_a, unsigned b, unsigned n_b, unsigned steps,
				 unsigned load)
{
	const unsigned warps = stream_warps(study_device(s), a, b, load), groups = (ROUND + steps - 1) / steps;
	const struct point *pt[2];
	const struct native_info *n[2];
	struct chain_cycles c[2];
	struct stream out = {0};
	for (unsigned i = 0; i < 2; i++) {
		const double p[POINT_PARAMS] = {b,     n_b, i ? 3 * groups : groups, warps, load_of(a, b, load)->chains,
						ROUNDS};
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
		c[i] = arithmetic_between_ends(s, pipes_mix_experiment(a), pt[i], warps, ROUNDS, ROUNDS / 4);
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

/* A stream of so many instructions at least. It is longer if a short one's repeats differ, or its warps do not begin
 * and end together. STREAM_APART: one whose warps do not wait for each other. */
struct stream stream_of(struct study *s, unsigned a, unsigned n_a, unsigned b, unsigned n_b, unsigned steps,
			unsigned load, unsigned least)
{
	if (least == STREAM_APART)
		return timed_apart(s, a, n_a, b, n_b, steps, load);
	const struct stream few = stream_together(s, a, n_a, b, n_b, steps, load, least);
	if (least >= STREAM_LONG)
		return few;
	return few.steady || few.bad || few.cycles == 0 ? few
							: stream_together(s, a, n_a, b, n_b, steps, load, STREAM_LONG);
}

static const char routine[] = "it is a routine of many native instructions, which need not have one unit";

static const char mixture[] = "the compiler makes several instructions of it in turn, which need not have one unit";

bool pipes_asked(const struct study *s, const struct solo *o, unsigned row)
{
	return arithmetic_supported(study_device(s), arithmetic_row[row].need) && o->why != routine &&
	       o->why != mixture;
}

bool pipes_apart(const struct solo *o)
{
	return o->least == STREAM_APART;
}

static const char *refusal(const struct study *s, unsigned row, struct solo *o)
{
	const struct arithmetic_row *r = &arithmetic_row[row];
	char key[96];
	double count;
	if (!arithmetic_supported(study_device(s), r->need))
		return "the device does not have this operation";
	snprintf(key, sizeof key, "arith.%s.%s.throughput", r->op, r->type);
	const struct finding *f = study_finding(s, key);
	if (f && (f->notes & NOTE_MIXTURE))
		return mixture;
	if (!f || !finding_estimated(f))
		return "skipped: needs the throughput, which could not be measured";
	o->estimated = f->verdict == VERDICT_LIKELY;
	o->throughput = f->value.number;
	o->least_rate = o->estimated ? f->lo : o->throughput;
	o->most_rate = o->estimated ? f->hi : o->throughput;
	snprintf(key, sizeof key, "arith.%s.%s.native_ops", r->op, r->type);
	if (!study_number(s, key, &count))
		return "it is not known which native instructions it is";
	if (count > NATIVE_MOST)
		return routine;
	o->native = (unsigned)count;
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
						  u->solo[fastest].least == STREAM_APART ? STREAM_APART : STREAM_LONG);
		if (t.ok)
			u->issue = fmin(u->issue, t.cycles / t.native);
	}
}

void pipes_expect_solo(const struct pipes *u, unsigned row, unsigned chains)
{
	stream_expect(u->s, row, 1, row, 0, u->solo[row].native, chains, STREAM_SHORT);
	stream_expect(u->s, row, 1, row, 0, u->solo[row].native, chains, STREAM_LONG);
}

/* One operation by itself, in streams of so many instructions at least. False when no longer stream would help. */
static bool solo_of(struct pipes *u, unsigned row)
{
	struct solo *o = &u->solo[row];
	const double warp = study_device(u->s)->warp_size;
	/* What starting a stream costs differs a little with its length, which shows in a short one. */
	const double filled = o->least < STREAM_LONG ? FILLED_SHORT : FILLED;
	for (unsigned load = 0; load < (o->least == STREAM_APART ? FULLER_LOADS : PIPES_LOADS); load++) {
		const struct stream t = stream_of(u->s, row, 1, row, 0, o->native, load, o->least);
		if (!t.ok && !t.bad && t.cycles == 0)
			return false;
		o->loose |= t.loose;
		if (stream_is_packed(row, row, &t))
			break;
		if (!t.ok)
			continue;
		if (fabs(t.native - o->native) > 0.1 * o->native) {
			o->why = "the compiler makes something else of it in a stream";
			return false;
		}
		o->why = "its stream does not keep its pipe full";
		const double rate = warp / t.cycles;
		o->usable = rate > (1 - filled) * o->least_rate && rate < (1 + filled) * o->most_rate;
		if (o->usable) {
			u->issue = fmin(u->issue, t.cycles / t.native);
			u->issue_most = fmin(u->issue_most, warp / o->throughput / o->native);
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
	u->issue = u->issue_most = INFINITY;
	for (unsigned i = 0; i < ARITHMETIC_COUNT; i++) {
		struct solo *o = &u->solo[i];
		*o = (struct solo){.cycles = INFINITY};
		o->why = refusal(s, i, o);
		if (o->why)
			continue;
		o->why = "its stream could not be timed";
		for (unsigned least = STREAM_SHORT; !o->usable && least <= (o->loose ? STREAM_APART : STREAM_LONG);
		     least *= STREAM_LONG / STREAM_SHORT) {
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
