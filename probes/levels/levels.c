/* Lemeire's Fig. 7: random walks through growing arrays, and the levels that equation 6 finds in their latencies. */
#include "base/arena.h"
#include "base/rng.h"
#include "probe/launch_time.h"
#include "probe/probe.h"
#include "stat/walk_levels.h"
#include <errno.h>
#include <math.h>
#include <stdio.h>

enum { SPACE_GLOBAL, SPACE_CONSTANT, SPACES };
enum { P_LINKS, P_ROUNDS, P_REPEATS };
enum { CLOCK_WORDS = 3 }; /* before all, after all, and before the walk */
enum {
	FEW = 16, /* loads of a turn */
	MANY = 48,
	ROUNDS =
	    16, /* so that 512 loads tell two lengths apart, each by chance a hit or none; many more would bring pieces of lines */
	LONGER = 4, /* times as many rounds, where those may be too few */
	REPEATS = 5,
	MORE =
	    49152, /* bytes of an array for each turn, where that is more: reading all of it before takes long, and its levels are large */
	THREADS = 256,
	PLACE = 8, /* bytes of an address; an offset takes half */
	LEAST = 512,
	OCTAVE = 3,	   /* sizes in an octave of constant memory */
	OCTAVE_GLOBAL = 2, /* of global memory, whose octaves are many */
	SIZES_MOST = 64,
	ORDER = 128, /* bytes that a size is a multiple of */
	SHARE = 8    /* of the memory that an array may take */
};
#define MOST	    (4.0 * 1024 * 1024) /* bytes: what one thread walks through in a moment */
#define CHANCE	    0.02 /* of a latency: what so few hits and misses leave open, one standard deviation */
#define KNOWN	    0.06 /* of a latency: half of its interval */
#define LINE	    32.0 /* bytes that are fetched together, at least */
#define PLACE_LEAST 4.0
#define PAST	    1.2 /* times a level's size: an array of which some hits miss it */
#define FITS	    2	/* of the smallest array: a level that holds less has nothing but mixtures of hits and misses */
#define FLAT	    2	/* walks at least that show what a first level takes which serves all of them alike */
#define FOUND	    1.45 /* upper end of a capacity's interval, of the lower */
#define MOST_OF	    0.75 /* of the sizes have to be known */
#define MODEL	    0.03 /* of a capacity: lines and sets do not share an array out evenly */
#define ROUGH	    0.3	 /* of a latency: half of the interval of one that is of use in the fit, if not known */
#define HOLE	    1.7	 /* from one size that was told to the next: two levels in between could pass for one */

static const char *const space_name[SPACES] = {"global", "constant"};

static int setup(const struct study *s, unsigned space, double x, const double *p, struct job *j)
{
	const struct device_info *d = study_device(s);
	const bool global = space == SPACE_GLOBAL;
	const uint32_t unit = global ? PLACE : PLACE / 2, places = (uint32_t)x / unit;
	uint32_t *next = ARENA_ARRAY(j->arena, places, uint32_t);
	if (!next)
		return -ENOMEM;
	rng_cycle(next, places, global ? 1 : unit, study_seed(s));
	j->template_path = "probes/levels/levels.ptx";
	job_param_text(j, "SPACE", space_name[space]);
	job_param(j, "BYTES", (long long)x);
	job_param(j, "LINKS", (long long)p[P_LINKS]);
	snprintf(j->launch.entry, sizeof j->launch.entry, "levels");
	const uint32_t threads = d->max_threads_per_block < THREADS ? d->max_threads_per_block : THREADS;
	j->launch.block[0] = !global ? 1 : threads < places ? threads : places;
	struct launch_buffer *b = j->launch.buffers;
	b[0] = (struct launch_buffer){.space = BUFFER_GLOBAL, .bytes = 32, .output = true, .output_words = CLOCK_WORDS};
	b[1] = (struct launch_buffer){.space = BUFFER_GLOBAL, .bytes = global ? (uint64_t)x : PLACE};
	b[2] = (struct launch_buffer){
	    .space = BUFFER_GLOBAL, .bytes = places * 4ull, .init = next, .init_bytes = places * 4ull};
	j->launch.buffer_count = 3;
	if (!global) {
		b[3] = b[2];
		b[3].space = BUFFER_CONSTANT;
		snprintf(b[3].symbol, sizeof b[3].symbol, "ring");
		b[2] = b[1];
		j->launch.buffer_count = 4;
	}
	for (unsigned i = 0; i < 3; i++)
		job_arg_buffer(j, i, 0);
	job_arg_u32(j, places);
	job_arg_u32(j, (uint32_t)p[P_ROUNDS]);
	job_arg_u32(j, 0);
	timed_job(j, p[P_REPEATS]);
	j->check.region = 1; /* the walk */
	j->check.cls = global ? NATIVE_LOAD_GLOBAL : NATIVE_LOAD_CONST;
	j->check.min = (unsigned)p[P_LINKS];
	j->check.max = UINT32_MAX;
	j->check.others = UINT32_MAX;
	return 0;
}

static int setup_global(const struct study *s, double x, const double *p, struct job *j)
{
	return setup(s, SPACE_GLOBAL, x, p, j);
}

static int setup_constant(const struct study *s, double x, const double *p, struct job *j)
{
	return setup(s, SPACE_CONSTANT, x, p, j);
}

#define WALK(space, setup_)                                                                                            \
	{                                                                                                              \
		.name = space, .axis = "size of the array", .unit = "bytes", .params = {"loads", "rounds", "repeats"}, \
		.setup = setup_                                                                                        \
	}

static const struct experiment experiments[] = {
    [SPACE_GLOBAL] = WALK("global", setup_global),
    [SPACE_CONSTANT] = WALK("constant", setup_constant),
};

static unsigned rounds_of(double bytes)
{
	return bytes > (double)ROUNDS * MORE ? (unsigned)(bytes / MORE) : ROUNDS;
}

/* times: so many times the usual rounds. */
static struct timed_pair pair_of(const struct study *s, unsigned space, double bytes, unsigned times)
{
	return (struct timed_pair){.experiment = space,
				   .x = bytes,
				   .links_at = P_LINKS,
				   .rounds_at = P_ROUNDS,
				   .repeats_at = P_REPEATS,
				   .few = FEW,
				   .many = MANY,
				   .first = times * rounds_of(bytes),
				   .most = REPEATS,
				   .quiet = CHANCE,
				   .words = WORDS_INNER,
				   .both_hz = study_device(s)->clock_hz};
}

/* Sizes to walk through, ascending. */
static size_t sizes_of(const struct study *s, unsigned space, double *size)
{
	const struct device_info *d = study_device(s);
	const double most =
	    space == SPACE_CONSTANT ? (double)d->constant_bytes : fmin(MOST, (double)(d->memory_bytes / SHARE));
	const int octave = space == SPACE_CONSTANT ? OCTAVE : OCTAVE_GLOBAL;
	size_t n = 0;
	for (unsigned i = 0; n < SIZES_MOST; i++) {
		const double bytes = floor(LEAST * exp2((double)i / octave) / ORDER) * ORDER;
		if (bytes > most)
			break;
		if (!n || bytes > size[n - 1])
			size[n++] = bytes;
	}
	return n;
}

/* ---- what is concluded ---- */

static const char method[] = "equation 6 of Lemeire 2016, fitted to random walks through growing arrays";

/* Nothing is known of what this walk meets. */
static void nothing(struct study *s, unsigned space, enum verdict v, const char *why)
{
	if (space != SPACE_GLOBAL)
		study_verdict(s, KEY("walk.%s.1.capacity", space_name[space]), v, space_name[space], "%s", why);
	study_verdict(s, KEY("walk.%s.1.latency", space_name[space]), v, space_name[space], "%s", why);
}

/* Whether a step of a walk takes what the level's hits do. */
static bool is_hit(const struct stat_level *l, double ns)
{
	return fabs(ns - l->value) <= KNOWN * l->value;
}

/* Walks that fit into the first level whole. Nothing else tells its capacity from its latency. A curve that grows by
 * the capacity's share from a larger latency grows as well by a smaller share from a lower one. */
static unsigned served_alike(const struct stat_level *l, const double *size, const double *ns, size_t n)
{
	unsigned served = 0;
	for (size_t i = 0; i < n && size[i] <= l->size_lo; i++)
		served += is_hit(l, ns[i]);
	return served;
}

/* The smallest array that, as all larger ones, is slower than the first level: that has no room for it. INFINITY: none is. */
static double slower_from(const struct stat_level *l, const double *size, const double *ns, size_t n)
{
	double from = INFINITY;
	for (size_t i = n; i-- > 0 && ns[i] > (1 + KNOWN) * l->value;)
		from = size[i];
	return from;
}

/* By what factor a level may be larger than its hits say. A walk comes to each place once, so that places beside those
 * that it was at are rarer ahead of it. That shows if the walk is long against the lines that a level holds. */
static double once_of(const struct stat_level *l, unsigned times)
{
	return l->size < (double)MANY * ROUNDS * times * LINE ? LINE / (LINE - PLACE_LEAST) : 1;
}

/* Bytes by which a level may seem larger than it is because the level before it lacks those hits. The lookups that are
 * slower by that look like slower hits of this level. Fewer of its misses are then needed for the rest. Hits are told
 * up to the level's end, half an octave before it in the middle. */
static double seems_more(const struct stat_level *level, size_t k, unsigned times)
{
	const struct stat_level *l = &level[k];
	if (!k)
		return 0;
	const double missing = level[k - 1].size / (l->size / sqrt(2)) * (1 - 1 / once_of(&level[k - 1], times)),
		     slower = (l->value - level[k - 1].value) * missing;
	return slower / (level[k + 1].value - l->value) * l->size;
}

/* Bytes that level k has at least. Accesses that hit the level before it do not reach this one, which may drop their
 * lines meanwhile. Both together then hold what this one seems to hold. */
static double least_of(const struct stat_level *level, size_t k, unsigned times)
{
	const double before = k ? level[k - 1].size : 0;
	return level[k].size_lo * (1 - MODEL) - (level[k].size > 0 ? fmax(seems_more(level, k, times), before) : 0);
}

static double most_of(const struct stat_level *l, unsigned times)
{
	return l->size_hi * (1 + MODEL) * once_of(l, times);
}

/* Whether level k may be no larger than the one before it. No array is sure to be served by it then. Hits that the
 * levels before it miss bend the curve of one level, so that two fit it better. */
static bool within_last(const struct stat_level *level, size_t k, unsigned times)
{
	return k && level[k].size > 0 && least_of(level, k, times) < most_of(&level[k - 1], times);
}

/* Whether what its hits take is hardly told. */
static bool is_vague(const struct stat_level *l)
{
	return l->hi - l->lo > 2 * KNOWN * l->value;
}

/* Whether sizes so far apart fit. */
static bool is_of_any_size(const struct stat_level *level, size_t k, unsigned times)
{
	return level[k].size > 0 && most_of(&level[k], times) > FOUND * least_of(level, k, times);
}

/* size, ns: of n walks; level: of all of them, this is level k of constant memory. That of a level for which no array was too large is not asked. */
static void conclude_capacity(struct study *s, unsigned times, size_t k, const struct stat_level *level,
			      const double *size, const double *ns, size_t n)
{
	const struct stat_level *l = &level[k];
	const double lo = least_of(level, k, times), hi = most_of(l, times);
	const struct key_text key = key_text("walk.%s.%zu.capacity", space_name[SPACE_CONSTANT], k + 1);
	if (!(l->size > 0) && k)
		return;
	if (!(l->size > 0))
		study_bound(s, key.of, size[n - 1], INFINITY, method, space_name[SPACE_CONSTANT],
			    "no array was too large for it, and larger ones were not walked through");
	else if (!k && served_alike(l, size, ns, n) < FLAT)
		study_bound(s, key.of, -INFINITY, hi, method, space_name[SPACE_CONSTANT],
			    "too few of the arrays fit into it whole to say whether any does");
	else if (!k && l->size > slower_from(l, size, ns, n))
		study_verdict(s, key.of, VERDICT_INCONCLUSIVE, space_name[SPACE_CONSTANT],
			      "%.0f bytes fit the curve best, but a walk through %.0f is slower already", l->size,
			      slower_from(l, size, ns, n));
	else if (is_of_any_size(level, k, times))
		study_verdict(s, key.of, VERDICT_INCONCLUSIVE, space_name[SPACE_CONSTANT],
			      "anything from %.0f to %.0f bytes fits the curve", lo, hi);
	else
		study_measured_number(s, key.of, l->size, lo, hi, "sm", method, space_name[SPACE_CONSTANT],
				      "beyond it, loads get slower as fewer of them hit");
}

static void conclude_latency(struct study *s, unsigned space, unsigned times, size_t k, const struct stat_level *level,
			     double hz)
{
	const struct stat_level *l = &level[k];
	const double cycles = hz * 1e-9;
	const struct key_text key = key_text("walk.%s.%zu.latency", space_name[space], k + 1);
	if (!(hz > 0))
		study_verdict(s, key.of, VERDICT_UNSUPPORTED, space_name[space],
			      "the device does not tell its clock, so run times are no cycles");
	else if (is_vague(l))
		study_verdict(s, key.of, VERDICT_INCONCLUSIVE, space_name[space],
			      "anything from %.1f to %.1f cycles fits the curve", l->lo * cycles, l->hi * cycles);
	else if (space == SPACE_CONSTANT && k && is_of_any_size(level, k, times))
		/* The more it holds, the slower its hits would have to be. */
		study_verdict(s, key.of, VERDICT_INCONCLUSIVE, space_name[space],
			      "%.1f cycles fit best, but so does anything from %.0f to %.0f bytes that it may hold",
			      l->value * cycles, least_of(level, k, times), most_of(l, times));
	else if (!k && l->size > 0 && l->size_lo < FITS * LEAST)
		study_verdict(s, key.of, VERDICT_INCONCLUSIVE, space_name[space],
			      "too few of the arrays fit into it whole to say what a hit takes");
	else
		study_measured_number(s, key.of, l->value * cycles, l->lo * cycles, l->hi * cycles, "sm", method,
				      space_name[space], "of the loads that neither hit before it nor miss it");
}

/* Whether a capacity lies where so many sizes were not told that the curve there may be of more than one level. */
static bool in_hole(const struct stat_level *l, const double *size, size_t n)
{
	for (size_t i = 1; i < n && l->size > 0; i++)
		if (size[i] > HOLE * size[i - 1] && l->size_hi > size[i - 1] && l->size_lo < size[i])
			return true;
	return false;
}

/* Concludes nothing from level `from` on, but for that level's own latency, which was met before. If a level is not
 * known, nobody knows which of them those behind it are. */
static void conclude_doubt(struct study *s, size_t from, size_t levels, const char *why)
{
	const char *const name = space_name[SPACE_CONSTANT];
	for (size_t k = from; k < levels; k++) {
		study_verdict(s, KEY("walk.%s.%zu.capacity", name, k + 1), VERDICT_INCONCLUSIVE, name, "%s", why);
		if (k > from)
			study_verdict(s, KEY("walk.%s.%zu.latency", name, k + 1), VERDICT_INCONCLUSIVE, name, "%s",
				      why);
	}
}

/* Levels of whatever memory it is. */
static void conclude_unseen(struct study *s, unsigned space, const struct stat_level *level, size_t levels)
{
	static const char *const parts[] = {"capacity", "latency"};
	for (size_t i = 0; i < 2 * levels; i++)
		study_verdict(
		    s, KEY("walk.%s.%zu.%s", space_name[space], i / 2 + 1, parts[i % 2]), VERDICT_INCONCLUSIVE,
		    space_name[space],
		    "%.4g ns a step, but what runs cannot be read back: whether compilers left these loads to "
		    "constant memory is not known",
		    level[i / 2].value);
}

/* Whether walks that come to more places of arrays that some level has no room for take another time. Of constant
 * memory. After all of an array was read, that level has what its rule of replacement likes. That may be more of the
 * part that the launch before walked through, as each walks through the same. False as well while points are
 * missing. */
static bool begins_unlike(struct study *s, const struct stat_level *level, size_t levels, const double *size,
			  const double *ns, size_t n, double timer, double hz)
{
	bool unlike = false;
	for (size_t k = 0; k < levels; k++) {
		size_t i = 0;
		while (i < n && size[i] < PAST * level[k].size)
			i++;
		if (level[k].size < MANY * ROUNDS * PLACE_LEAST || i == n)
			continue;
		struct timed_pair more = pair_of(s, SPACE_CONSTANT, size[i], LONGER);
		more.both_hz = hz;
		const struct timed t = timed_ask(s, &more, timer);
		unlike |= t.ok && fabs(t.ns - ns[i]) > KNOWN * ns[i];
	}
	return unlike && !study_pending(s);
}

/* True: nothing was concluded, since walks of so many rounds are too short. */
static bool study_space(struct study *s, unsigned space, unsigned times, double timer, double hz)
{
	double asked[SIZES_MOST], size[SIZES_MOST], ns[SIZES_MOST], misfit;
	double fit_size[SIZES_MOST], fit_ns[SIZES_MOST], error[SIZES_MOST];
	struct stat_level level[STAT_LEVELS];
	struct timed last = {.ok = false};
	const struct point *bad = NULL;
	bool unsteady = false;
	const size_t all = sizes_of(s, space, asked);
	size_t n = 0, known = 0, fit = 0;
	for (size_t i = 0; i < all; i++) {
		struct timed_pair k = pair_of(s, space, asked[i], times);
		k.both_hz = hz;
		const struct timed t = timed_ask(s, &k, timer);
		bad = t.bad ? t.bad : bad;
		unsteady |= t.unsteady;
		if (t.bad || t.unsteady || !(t.ns > 0))
			continue;
		/* What is known roughly still says on which side of a level the array lies; how far into it, the others say better. */
		const double half = (t.hi - t.lo) / 2;
		fit_size[fit] = asked[i];
		fit_ns[fit] = t.ns;
		error[fit++] = fmax(t.ok ? half / 2 : 2 * half, CHANCE * t.ns);
		/* A time known only to a third of itself tells no size. It may be a hit's or a few cycles more, so that
		 * it is no miss, either. */
		if (!t.ok && half > ROUGH * t.ns)
			continue;
		known += t.ok;
		size[n] = asked[i];
		ns[n++] = t.ns;
		last = t;
	}
	if (study_pending(s))
		return false;
	if (bad || !n || known < MOST_OF * all || size[0] > HOLE * LEAST) {
		nothing(s, space, bad && bad->outcome != OUTCOME_INVALID ? VERDICT_UNSUPPORTED : VERDICT_INCONCLUSIVE,
			bad	   ? point_why(bad)
			: unsteady ? "by run times and by cycles walks take unlike long: the clock was not steady"
				   : "run times of equal launches differ too much");
		return false;
	}
	const size_t levels = stat_levels(fit_size, fit_ns, error, fit, level, &misfit);
	if (!levels) {
		nothing(s, space, VERDICT_INCONCLUSIVE,
			"no levels of which each holds its share of an array make such a curve");
		return false;
	}
	/* Only the native code tells how an address of constant memory is made from an offset, and whether it is
	 * constant memory. A compiler may read from global memory what a pointer to constants points to. */
	if (space == SPACE_CONSTANT && !study_seen(s, space, last.point)) {
		conclude_unseen(s, space, level, levels);
		return false;
	}
	if (space == SPACE_CONSTANT && times == 1 && begins_unlike(s, level, levels, size, ns, n, timer, hz))
		return true;
	if (study_pending(s))
		return false;
	/* Only the first level's time is asked of global memory. Such a curve also comes from lines that come in
	 * pieces, unlike halves of a cache, and translations. */
	for (size_t k = 0; k < levels; k++) {
		conclude_latency(s, space, times, k, level, hz);
		if (space == SPACE_GLOBAL)
			break;
		/* A capacity that was fitted with one more level than there may be is not known then, either. */
		if (k + 1 < levels && within_last(level, k + 1, times)) {
			conclude_doubt(
			    s, k, levels,
			    "a level may be no larger than the one before it: what looks like two levels may be one");
			break;
		}
		if (in_hole(&level[k], size, n)) {
			conclude_doubt(s, k, levels,
				       "walks of too many sizes around it could not be timed: what looks like one "
				       "level there may be two");
			break;
		}
		conclude_capacity(s, times, k, level, size, ns, n);
	}
	return false;
}

static void study(struct study *s)
{
	struct timed_pair one = pair_of(s, SPACE_CONSTANT, LEAST, 1);
	const char *why;
	double timer = 0;
	const bool told = timed_steady(s, &one, &timer, &why);
	const bool ahead = !told && !why && study_ahead(s);
	for (unsigned space = 0; space < SPACES; space++)
		if (told || ahead) {
			if (study_space(s, space, 1, told ? timer : 0, one.both_hz))
				study_space(s, space, LONGER, timer, one.both_hz);
		} else if (why)
			nothing(s, space, VERDICT_INCONCLUSIVE, why);
}

/* ---- the figure ---- */

/* Mean of whole launches of the longer length, as the paper has it, less those of the shorter one, in cycles a load. */
static size_t curve(const struct study *s, unsigned space, double *x, double *y)
{
	const struct series *c = study_series(s, space);
	const double hz = study_device(s)->clock_hz;
	double size[SIZES_MOST];
	const struct timed_pair pair = pair_of(s, space, LEAST, 1);
	const size_t all = sizes_of(s, space, size);
	size_t n = 0;
	for (size_t i = 0; c && i < all; i++) {
		const struct point *pt[2] = {NULL, NULL};
		for (size_t q = 0; q < c->count; q++) {
			const struct point *o = &c->points[q];
			if (o->outcome == OUTCOME_OK && o->x == size[i] && o->p[P_ROUNDS] >= ROUNDS)
				for (unsigned k = 0; k < 2; k++)
					if (o->p[P_LINKS] == (k ? MANY : FEW) &&
					    (!pt[1 - k] || pt[1 - k]->p[P_ROUNDS] == o->p[P_ROUNDS]))
						pt[k] = o;
		}
		if (!pt[0] || !pt[1] || pt[0]->p[P_ROUNDS] != pt[1]->p[P_ROUNDS])
			continue;
		x[n] = size[i];
		y[n++] = (timed_mean(&pair, pt[1]) - timed_mean(&pair, pt[0])) / ((MANY - FEW) * pt[1]->p[P_ROUNDS]) *
			 (hz > 0 ? hz * 1e-9 : 1);
	}
	return n;
}

static int draw(const struct study *s, struct figure_list *out)
{
	double x[SIZES_MOST], y[SIZES_MOST];
	struct figure *f = figures_new(out, "walk-sizes", "Latency of a random walk against the size of the array");
	if (!f)
		return -1;
	figure_key(f, "walk.*");
	f->x = (struct figure_axis){.label = "size of the array", .unit = "bytes", .log2 = true};
	f->y = (struct figure_axis){.label = "time of a load"};
	snprintf(f->y.unit, sizeof f->y.unit, "%s", study_device(s)->clock_hz > 0 ? "cycles" : "ns");
	for (unsigned space = 0; space < SPACES; space++) {
		const size_t n = curve(s, space, x, y);
		if (n && figure_add(f, space_name[space], MARK_LINE, x, y, NULL, n))
			return -1;
		for (size_t k = 0; k < STAT_LEVELS; k++) {
			double size;
			if (study_number(s, KEY("walk.%s.%zu.capacity", space_name[space], k + 1), &size)) {
				char text[48];
				snprintf(text, sizeof text, "%s %.4g KB", space_name[space], size / 1024);
				figure_note(f, true, size, text);
			}
		}
	}
	return 0;
}

static const char *const claims[] = {"walk.*.*.capacity", "walk.*.*.latency", NULL};

const struct probe probe_levels = {
    .name = "levels",
    .asks = "Which levels does a random walk through a growing array meet, seen from outside?",
    .source = "Lemeire 2016, VI-C, Fig. 7 and equation 6; here fitted for any number of levels, to the difference of "
	      "two lengths",
    .how = "One thread walks through an array in an order nobody can foresee, after all of it was read once. A "
	   "level smaller than the array serves the share of the loads that it has room for. So the mean "
	   "latency rises as one less the level's size over the array's. Sums of such curves are fitted; a "
	   "level is added as long as it makes the fit better by more than chance would. If walks of more "
	   "places take another time, all are longer.",
    .fooled =
	"Two levels of nearly one size or one latency: they are met as one. Lines shorter than 32 bytes. Translations: "
	"their misses cost as a level's do, and are not told from it. Lines of global memory come in pieces: only its "
	"first "
	"level's latency is asked. Curves that are no such sum: how far the fit is off is looked at. A clock that is "
	"not steady: run "
	"times and cycles are laid beside each other.",
    .figure = "walk-sizes",
    .draw = draw,
    .claims = claims,
    .experiments = experiments,
    .experiment_count = SPACES,
    .study = study,
};
