/* Which pipe does an operation, found out from what slows down what.
 *
 * Two operations that need one pipe take turns: together they take as long as one after the other. Two on different
 * pipes take as long as the slower one. So a stream of both, in proportions that keep either pipe equally busy, takes
 * between once and twice as long. The time in between says what part of the work has to wait for the other's pipe. The
 * fastest stream says what issuing the instructions takes. If that alone explains the time, nothing is said of pipes.
 *
 * Five operations stand for the purposes of pipes. They are addition of single precision and of integers, the
 * reciprocal square root, and additions of double and of half precision. Those that share a pipe are one unit, whose
 * name says what it does. Every other operation is on the units that it shares. */
#include "pipes_graph.h"
#include "stat/stat.h"
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define SOME	    0.25 /* of the slower one's time more: not nothing */
#define ELSEWHERE   0.75 /* of the same: this may be a pipe in common */
#define ALL_OF_IT   0.94 /* of the same: nothing of it is anywhere else */
#define SURE_OF_ALL 0.96 /* of the same, where no other proportions tell */
#define ALIKE	    0.01 /* of a throughput: what one pipe's operations may differ by */

/* ---- one operation ---- */

static enum anchor likely(const struct arithmetic_row *r)
{
	if (!strcmp(r->type, "f64"))
		return ANCHOR_DOUBLE;
	if (!strncmp(r->type, "f16", 3))
		return ANCHOR_HALF;
	if (arithmetic_is_function(r))
		return ANCHOR_SPECIAL;
	return strcmp(r->type, "f32") ? ANCHOR_INTEGER : ANCHOR_SINGLE;
}

/* The operation of the unit that shows best whether the row shares its pipe. */
static int witness(const struct graph *g, int unit, unsigned row)
{
	int best = NONE;
	double contrast = 0;
	for (unsigned k = 0; k < g->nodes; k++) {
		bool member = false;
		for (unsigned a = 0; a < ANCHORS; a++)
			member |= graph_has(g, unit, (enum anchor)a) && (a == k || g->sure[a][k] == REL_SHARED);
		if (g->row[k] == NONE || !member)
			continue;
		if ((unsigned)g->row[k] == row)
			return g->row[k];
		const double c = pipes_contrast(g->u, row, (unsigned)g->row[k]);
		if (c > contrast + 0.2) {
			contrast = c;
			best = g->row[k];
		}
	}
	return best;
}

/* Asks uneven streams if issuing hides the row's relation to its likely unit. They are of the row and of those of the
 * unit's operations that take longer. */
static void by_uneven(struct graph *g, int unit, unsigned row, struct pair *p, int *with)
{
	for (unsigned a = 0; a < ANCHORS; a++) {
		if (!graph_has(g, unit, (enum anchor)a) || (unsigned)g->row[a] == row)
			continue;
		const struct pair uneven = pipes_pair_uneven(g->u, row, (unsigned)g->row[a]);
		if (uneven.is == REL_HIDDEN)
			continue;
		*p = uneven;
		*with = g->row[a];
		return;
	}
}

/* Asks links if issuing hides the row's relation to a unit. An operation of one instruction that shares more with the
 * two than it has shows the relation. */
static struct pair by_link(struct graph *g, int unit, unsigned row)
{
	for (unsigned k = 0; k < g->nodes; k++) {
		double most = 0;
		for (unsigned a = 0; a < ANCHORS; a++)
			if (graph_has(g, unit, (enum anchor)a) && a != k && graph_shares(g->pair[k][a].is))
				most = fmax(most, g->pair[k][a].excess);
		if (g->row[k] == NONE || (unsigned)g->row[k] == row || most == 0 || g->u->solo[g->row[k]].native != 1)
			continue;
		const struct pair p = pipes_pair(g->u, row, (unsigned)g->row[k], false);
		if (graph_shares(p.is) && p.excess + most > MORE_THAN_ALL)
			return (struct pair){.is = REL_PART, .excess = p.excess};
	}
	return (struct pair){.is = REL_HIDDEN};
}

struct verdict_of {
	char name[PIPES_TYPE_BYTES];
	char because[300];
	bool known;
};

static void add_text(char *out, size_t n, const char *fmt, const char *a, const char *b, double v)
{
	const size_t at = strlen(out);
	snprintf(out + at, n - at, fmt, a, b, v);
}

/* An operation whose pipe the row takes although it slows down none of those that show its units best; NONE: there is none. Then these are
 * no unit, whatever put them into one. */
static int contradicts(struct graph *g, unsigned row)
{
	for (unsigned a = 0; a < ANCHORS; a++)
		if (g->row[a] != NONE && graph_shares(pipes_pair(g->u, row, (unsigned)g->row[a], false).is))
			return g->row[a];
	return NONE;
}

/* Whether there may be a unit for it although nobody can tell its operations. */
static bool is_unseen(const struct graph *g, enum anchor a)
{
	const struct device_info *d = study_device(g->u->s);
	return g->row[a] == NONE && (a != ANCHOR_DOUBLE || d->has_f64) && (a != ANCHOR_HALF || d->has_f16);
}

/* Names the units of a row that shares all of no unit's pipe, or of one while it seems to be on another, too. */
static struct verdict_of several(struct graph *g, unsigned row)
{
	struct verdict_of v = {.known = true};
	double sum = 0, least = 1;
	unsigned parts = 0, hidden = 0;
	for (int unit = 0; unit < ANCHORS; unit++) {
		if (!graph_has(g, unit, (enum anchor)unit))
			continue;
		const int w = witness(g, unit, row);
		struct pair p =
		    w == NONE ? (struct pair){.is = REL_UNKNOWN} : pipes_pair(g->u, row, (unsigned)w, false);
		if (p.is == REL_HIDDEN && p.excess > 0.5)
			p = by_link(g, unit, row);
		const char *as = w == NONE ? "?" : pipes_name((unsigned)w);
		if (p.is == REL_APART)
			continue;
		if (!graph_shares(p.is)) {
			hidden++;
			add_text(v.because, sizeof v.because,
				 "%s%s: the issue rate hides it, or there are no data (%.2f); ", "with ", as, p.excess);
			continue;
		}
		parts++;
		sum += p.excess;
		least = fmin(least, p.excess);
		add_text(v.because, sizeof v.because, "%s%s: %.2f of the slower one's time more; ", "with ", as,
			 p.excess);
		if (!g->name[unit]) {
			v.known = false;
			add_text(v.because, sizeof v.because, "%s%s; ", "", g->why[unit], 0);
			continue;
		}
		add_text(v.name, sizeof v.name, "%s%s", v.name[0] ? ", " : "", g->name[unit], 0);
	}
	for (unsigned a = 0; a < ANCHORS && !parts; a++) {
		if (!is_unseen(g, (enum anchor)a))
			continue;
		hidden++;
		add_text(v.because, sizeof v.because, "%s%s is known; ", "no unit for ", graph_kind[a], 0);
	}
	if (parts == 0 && hidden == 0) {
		const int against = contradicts(g, row);
		v.known = against == NONE;
		snprintf(v.name, sizeof v.name, "other");
		add_text(v.because, sizeof v.because, "it slows %s down%s",
			 v.known ? "none of the other units" : pipes_name((unsigned)against),
			 v.known ? "" : ", but none of the operations that show units best", 0);
	}
	const bool split = parts > 1 && sum > 0.8 && sum < 1.2, one = parts == 1 && least >= HALF_OF_IT;
	if (hidden || (parts && !split && !one))
		v.known = false;
	return v;
}

/* Whether the row slows down none of the other units by much, as far as is known. A row whose steps or preferred warps
 * overlap badly seems to share the pipe of whatever is beside it. A row of a single step that does so by half may have
 * two pipes, one of which the preferred warps hardly use. Or its warps come to the pipe in common while it is free. */
static bool nowhere_else(struct graph *g, unsigned row, int unit)
{
	const double most = g->u->solo[row].native > 1 ? ELSEWHERE : SOME;
	for (int other = 0; other < ANCHORS; other++) {
		if (other == unit || !graph_has(g, other, (enum anchor)other))
			continue;
		const int w = witness(g, other, row);
		const struct pair p =
		    w == NONE ? (struct pair){.is = REL_UNKNOWN} : pipes_pair(g->u, row, (unsigned)w, false);
		if (p.is == REL_SHARED || (p.is != REL_APART && p.excess > most))
			return false;
	}
	return true;
}

/* Whether the row is as fast as what it shares a pipe with: then one pipe limits both. A faster or slower operation may
 * be on other pipes as well and still take turns with it. A warp that waits for the pipe in common keeps the others
 * waiting. */
static bool as_fast(const struct graph *g, unsigned row, unsigned witness)
{
	const double a = g->u->solo[row].throughput, b = g->u->solo[witness].throughput;
	return fabs(a - b) <= ALIKE * b;
}

/* Whether the row is seen to slow down another unit. */
static bool seen_elsewhere(struct graph *g, unsigned row, int unit)
{
	for (int other = 0; other < ANCHORS; other++) {
		const int w = other != unit && graph_has(g, other, (enum anchor)other) ? witness(g, other, row) : NONE;
		const struct pair p =
		    w == NONE ? (struct pair){.is = REL_UNKNOWN} : pipes_pair(g->u, row, (unsigned)w, false);
		if (graph_shares(p.is) && p.excess > SOME)
			return true;
	}
	return false;
}

/* Whether a part of a row may be on another pipe although all of it seems to be on the witness's. Nothing beside it
 * shows that part, as the other pipe need not be full. */
static bool may_be_on_two(struct graph *g, unsigned row, unsigned witness, const struct pair *p, char *why, size_t n)
{
	if (g->u->solo[row].native > 1 || row == witness || as_fast(g, row, witness))
		return false;
	const double mostly = pipes_mostly(g->u, row, witness);
	if (isnan(mostly)) {
		snprintf(why, n,
			 "with %s it takes %.2f of the slower one's time more, and whether a part of it is on another "
			 "pipe no other proportions tell",
			 pipes_name(witness), p->excess);
		return p->excess < SURE_OF_ALL;
	}
	snprintf(why, n,
		 "with %s it takes %.2f of the slower one's time more. Beside more of it, it takes only %.2f of its "
		 "own: a part of it may be on another pipe",
		 pipes_name(witness), p->excess, mostly);
	return mostly < ALL_OF_MOST;
}

/* Which of all units with a name is left for an operation. It is the only one whose pipe the operation surely has, or
 * that its time does not exclude although it should. NONE: several are, or none. */
static int only_unit(struct graph *g, unsigned row, enum anchor first)
{
	int whole = NONE, open = NONE;
	unsigned wholes = 0, opens = 0, unasked = 0;
	bool shows = false;
	for (int unit = 0; unit < ANCHORS; unit++) {
		if (!graph_has(g, unit, (enum anchor)unit))
			continue;
		const int w = witness(g, unit, row);
		const struct pair p =
		    w == NONE ? (struct pair){.is = REL_UNKNOWN} : pipes_pair(g->u, row, (unsigned)w, false);
		if (p.is == REL_SHARED) {
			whole = unit;
			wholes++;
		} else if (!p.asked) {
			unasked++;
		} else if (p.is != REL_APART && !p.less) {
			open = unit;
			opens++;
			shows = p.more || (g->row[first] != NONE && g->unit[first] == unit);
		}
	}
	if (wholes == 1 && !opens)
		return whole;
	return !wholes && opens == 1 && !unasked && shows ? open : NONE;
}

/* Says, if nothing is proven, which unit is left, or why none is. */
static __attribute__((format(printf, 4, 5))) void estimate(struct graph *g, unsigned row, const char *key,
							   const char *fmt, ...)
{
	const struct arithmetic_row *r = &arithmetic_row[row];
	const int unit = only_unit(g, row, likely(r));
	char why[240];
	va_list args;
	va_start(args, fmt);
	vsnprintf(why, sizeof why, fmt, args);
	va_end(args);
	if (unit != NONE && g->guess[unit])
		study_likely_text(g->u->s, key, g->guess[unit], "units that its time beside their operations leaves",
				  pipes_name(row), "beside all others it takes less than one after the other; %s", why);
	else
		study_verdict(g->u->s, key, VERDICT_INCONCLUSIVE, pipes_name(row), "%s", why);
}

static void conclude_row(struct graph *g, unsigned row)
{
	struct study *s = g->u->s;
	const struct arithmetic_row *r = &arithmetic_row[row];
	const struct solo *o = &g->u->solo[row];
	const size_t missing = study_missing(s);
	char key[96];
	snprintf(key, sizeof key, "arith.%s.%s.unit", r->op, r->type);
	if (!o->usable) {
		study_verdict(s, key, pipes_asked(s, o, row) ? VERDICT_INCONCLUSIVE : VERDICT_UNSUPPORTED,
			      pipes_name(row), "%s", o->why);
		return;
	}
	if (o->estimated) {
		estimate(g, row, key, "its throughput is an estimate");
		return;
	}
	const enum anchor first = likely(r);
	bool elsewhere = false; /* some of it seems to be on the likely unit */
	for (unsigned k = 0; k < ANCHORS; k++) {
		/* the likely unit first: an operation that has all of its pipe in common with one is nowhere else */
		const unsigned a = k == 0 ? first : k <= first ? k - 1 : k;
		if (g->row[a] == NONE || (k > 0 && g->unit[a] == g->unit[first]))
			continue;
		int w = witness(g, g->unit[a], row);
		struct pair p =
		    w == NONE ? (struct pair){.is = REL_UNKNOWN} : pipes_pair(g->u, row, (unsigned)w, false);
		if (study_missing(s) > missing)
			return;
		if (k == 0 && g->name[g->unit[a]] && (w == NONE || p.is == REL_HIDDEN))
			by_uneven(g, g->unit[a], row, &p, &w);
		if (study_missing(s) > missing)
			return;
		if (p.is != REL_SHARED) {
			elsewhere |= k == 0 && p.is != REL_APART && p.excess > SOME;
			continue;
		}
		if (elsewhere) /* an operation of two pipes may take nearly all of one from others */
			break;
		const int unit = g->unit[a];
		const bool badly = pipes_apart(o) || p.preferred || o->native > 1 || p.excess < ALL_OF_IT,
			   twice = badly ? !nowhere_else(g, row, unit)
					 : !as_fast(g, row, (unsigned)w) && seen_elsewhere(g, row, unit);
		if (study_missing(s) > missing)
			return;
		/* Of all units those for special functions are known to do a part of what others do. */
		if (o->native == 1 && p.excess < ALL_OF_IT && first != ANCHOR_SPECIAL && is_unseen(g, ANCHOR_SPECIAL)) {
			estimate(g, row, key,
				 "with %s it takes %.2f of the slower one's time more. A part of it may be on the unit "
				 "for %s, of which nothing is known",
				 pipes_name((unsigned)w), p.excess, graph_kind[ANCHOR_SPECIAL]);
			return;
		}
		if (twice) {
			estimate(g, row, key,
				 "it slows down more than one unit, as if it were on the pipes of all of them");
			return;
		}
		char why[200];
		const bool two = g->name[unit] && may_be_on_two(g, row, (unsigned)w, &p, why, sizeof why);
		if (study_missing(s) > missing)
			return;
		if (two)
			estimate(g, row, key, "%s", why);
		else if (g->name[unit])
			study_text(s, key, g->name[unit], "slowed down by operations of known units", pipes_name(row),
				   "in turn with %s it takes %.2f of the slower one's time more, as on one pipe",
				   (unsigned)w == row ? "itself" : pipes_name((unsigned)w), p.excess);
		else
			estimate(g, row, key, "on one pipe with %s; %s", pipes_name((unsigned)w), g->why[unit]);
		return;
	}
	const struct verdict_of v = several(g, row);
	if (study_missing(s) > missing)
		return;
	if (v.known)
		study_text(s, key, v.name, "slowed down by operations of known units", pipes_name(row), "%s",
			   v.because);
	else
		estimate(g, row, key, "%s", v.because[0] ? v.because : "the streams contradict each other");
}

/* Every operation will be asked about beside each anchor. Until its stream was timed, it takes what the arithmetic probe found. */
static void expect(const struct pipes *u)
{
	struct pipes guess = *u;
	for (unsigned i = 0; i < ARITHMETIC_COUNT; i++) {
		struct solo *o = &guess.solo[i];
		if (!o->usable && pipes_asked(u->s, o, i) && o->throughput > 0 && o->native)
			o->cycles = study_device(u->s)->warp_size / o->throughput;
	}
	for (unsigned c = 0; c < PIPES_CHAINS; c++)
		for (unsigned i = 0; i < ARITHMETIC_COUNT; i++)
			if (isfinite(guess.solo[i].cycles))
				pipes_expect_solo(&guess, i, pipes_chains[c]);
	for (unsigned c = 0; c < PIPES_CHAINS; c++)
		for (unsigned a = 0; a < ANCHORS; a++)
			for (unsigned i = 0; i < ARITHMETIC_COUNT; i++)
				if (i != (unsigned)graph_choice[a][0] && isfinite(guess.solo[i].cycles) &&
				    isfinite(guess.solo[graph_choice[a][0]].cycles))
					pipes_expect_pair(&guess, i, (unsigned)graph_choice[a][0], pipes_chains[c]);
}

static void study_pipes(struct study *s)
{
	struct pipes u = {.s = s};
	struct graph g = {.u = &u};
	pipes_study_warps(s);
	const bool timed = pipes_solos(&u);
	expect(&u);
	if (!timed || !graph_relate(&g))
		return;
	graph_group(&g);
	for (int a = 0; a < ANCHORS; a++) {
		const bool is = graph_has(&g, a, (enum anchor)a);
		g.guess[a] = is ? graph_name_of(&g, a, true) : NULL;
		g.name[a] = is ? graph_name_of(&g, a, false) : NULL;
	}
	for (unsigned row = 0; row < ARITHMETIC_COUNT; row++)
		conclude_row(&g, row);
	if (study_pending(s))
		return;
	for (int a = 0; a < ANCHORS; a++)
		if (g.name[a] || g.guess[a])
			graph_conclude_unit(&g, a);
}

/* ---- tables ---- */

#define ROW_SETUP(op, type, ID, reg, kind, form, text, suffix, round, need)                                            \
	static int setup_##ID(const struct study *s, double x, const double *p, struct job *j)                         \
	{                                                                                                              \
		return pipes_setup_mix(s, ROW_##ID, x, p, j);                                                          \
	}
ARITHMETIC_ROWS(ROW_SETUP)
#undef ROW_SETUP

/* The rows of pipes_warps_row. */
/* clang-format off */
#define WARPS_TABLE(X) \
	X(0, "add.u32.warps") \
	X(1, "add.f32.warps") \
	X(2, "mul.f32.warps") \
	X(3, "mul.u32.warps") \
	X(4, "rsqrt.f32.warps") \
	X(5, "add.f64.warps")
/* clang-format on */

#define WARPS_SETUP(n, name)                                                                                           \
	static int setup_warps_##n(const struct study *s, double x, const double *p, struct job *j)                    \
	{                                                                                                              \
		return pipes_setup_warps(s, n, x, p, j);                                                               \
	}
WARPS_TABLE(WARPS_SETUP)
#undef WARPS_SETUP

static const struct experiment experiments[] = {
#define ROW_EXPERIMENT(op, type, ID, reg, kind, form, text, suffix, round, need)                                       \
	{.name = op "." type,                                                                                          \
	 .axis = "operations in a group",                                                                              \
	 .unit = "count",                                                                                              \
	 .params = {"other", "others", "groups", "warps", "chains", "rounds"},                                         \
	 .setup = setup_##ID},
    ARITHMETIC_ROWS(ROW_EXPERIMENT)
#undef ROW_EXPERIMENT
#define WARPS_EXPERIMENT(n, title)                                                                                     \
	{.name = title, .axis = "warps", .unit = "count", .params = {"links"}, .setup = setup_warps_##n},
	WARPS_TABLE(WARPS_EXPERIMENT)
#undef WARPS_EXPERIMENT
};

unsigned pipes_mix_experiment(unsigned row)
{
	return row;
}

unsigned pipes_warps_experiment(unsigned which)
{
	return ARITHMETIC_COUNT + which;
}

const char *pipes_name(unsigned row)
{
	return experiments[row].name;
}

static const char *const needs[] = {"arithmetic", NULL};
static const char *const helped[] = {"clock", NULL};
static const char *const claims[] = {"arith.*.unit", "arith.*.warps_to_fill", "unit.*", NULL};

const struct probe probe_pipes = {
    .name = "pipes",
    .asks = "Which pipe does each operation, what does a pipe do in a cycle, and how many warps keep it full?",
    .source = "Wong 2010, IV-B, Tables II to IV, Figure 6. His units are partly the vendor's, here operations are "
	      "mixed and what slows down what is one unit",
    .how = "Two operations stand in one stream, in proportions that keep either pipe equally busy. On two pipes "
	   "they take as long as the slower one alone, on one pipe as long as both together. An operation of "
	   "two pipes waits for a part of its work. A unit is what slows each other down, and is named by what "
	   "it does: sp, fp32, int32, sfu, dpu or fp16. Single chains in blocks of 1, 2, 3 ... warps show how "
	   "many of them keep a pipe full.",
    .fooled = "An issue rate that hides the pipes: the fastest stream of operations and loads tells what issuing "
	      "takes. If that alone explains a time, nothing is proven. A slower operation on the same pipe may "
	      "still show it, or a stream with more of the slower of the two. Two that take clearly less than one "
	      "after the other are not on one pipe as a whole, though: the unit that this leaves to an operation "
	      "is its likely one. A stream that does not keep its pipe full: it has to reach the throughput that "
	      "is known. Warps that begin or end one after the other have to do so alike in the short and the long "
	      "stream. Two that do not overlap under one load, or whose instructions come late: what shares a pipe "
	      "has to make warps wait for each other, or to do so in a short stream as well. If issuing takes most "
	      "of the time, it has to do so in other proportions, too. The same holds if the two take less than "
	      "half of one's time more. An operation of two pipes that takes turns with those of one pipe as if it "
	      "had no other: if it is not just as fast as they are, it has to do so beside three times as many of "
	      "them, too. A compiler that makes something else of it, moves it over a clock read or lets it pass a "
	      "barrier: native instructions are counted, and what is behind a barrier waits for a load. Times that "
	      "differ from run to run are not used. Warps that a scheduler prefers: then streams run over and over "
	      "without waiting for each other. What counts is what all of them do until the first one is done. The "
	      "numbers of warps say nothing then, which the finding says.",
    .figure = "warps-throughput",
    .needs = needs,
    .helped = helped,
    .claims = claims,
    .experiments = experiments,
    .experiment_count = sizeof experiments / sizeof *experiments,
    .study = study_pipes,
    .draw = pipes_draw_warps,
};
