#include "code_share.h"
#include "stat/stat.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

#define MOST	  0.3  /* share of jumps that miss from which code was surely evicted */
#define LEAST	  0.06 /* and up to which it was not */
#define HALF	  0.5  /* of jumps that should hit: so many misses, and nothing is told */
#define SMS	  160
#define BANK_MOST 65536u
#define CROWD	  8u /* rivals: in each part of an SM one, however blocks are shared out */

static enum code_state unknown(struct code_shared *out, const char *why)
{
	out->text[0] = '\0';
	snprintf(out->why, sizeof out->why, "%s", why);
	return CODE_MISSING;
}

/* A ring of `part` of what fits, one piece a line. Zero elements: none is large enough to look past the level above. */
static struct code_ring part_of(const struct code *c, const struct code_survey *v, unsigned k, double part)
{
	const struct code_level *l = &v->level[k];
	unsigned per = l->line.known ? l->line.value / c->unit : 1, lines = l->lines ? l->lines : l->fits / per;
	if (k && l->size.known && per)
		lines = l->size.value / l->line.value;
	struct code_ring r = {.first = l->lines ? l->first : c->low, .stride = per, .warm = 3, .laps = 2};
	r.count = (unsigned)(part * lines);
	if (k && r.count * per < v->level[k - 1].over * 1.1)
		r.count = 0;
	return r;
}

static double share_of(const struct code_run *r, double floor)
{
	return (double)code_slow(r, floor) / r->visits;
}

/* Shares of jumps that miss, from the ticks of the slowest answer on and from those of the nearest answer behind. A
 * memory that answers in several ways makes some of the misses slow by the one and all by the other. So may noise. */
enum { BY_FLOOR, BY_MISS, WAYS };
struct shares {
	double of[WAYS];
};

static struct shares shares_of(const struct code_run *r, const struct code_level *l)
{
	return (struct shares){{share_of(r, l->floor), share_of(r, l->miss)}};
}

/* The same laps with next to nothing in between: one constant. */
static enum code_state undisturbed(const struct code *c, struct code_ring r, const struct code_level *l,
				   struct shares *share)
{
	struct code_run run;
	r.rival = 0;
	r.walk = 64;
	enum code_state st = code_get(c, &r, &run);
	if (st == CODE_HERE)
		*share = shares_of(&run, l);
	return st;
}

/* 1 = evicted, 0 = not, -1 = neither is clear. */
static int evicted(const struct code_run *r, const struct code_level *l, const struct shares *before)
{
	const struct shares now = shares_of(r, l);
	int says[WAYS];
	for (unsigned i = 0; i < WAYS; i++) {
		const double more = now.of[i] - before->of[i];
		says[i] = more >= MOST ? 1 : more <= LEAST ? 0 : -1;
	}
	return says[BY_FLOOR] == says[BY_MISS] || before->of[BY_MISS] > HALF ? says[BY_FLOOR] : -1;
}

enum code_state code_scope(const struct code *c, const struct code_survey *v, unsigned k, struct code_shared *out)
{
	const struct code_level *l = &v->level[k];
	const unsigned sms = study_device(c->study)->sm_count;
	struct code_ring r = part_of(c, v, k, 0.75);
	struct code_run run;
	struct shares before = {{0}};
	unsigned yes = 0, unclear = 0, asked = 0, missing = 0;
	int self = -1;
	bool pending = false;
	*out = (struct code_shared){0};
	if (!l->line.known || !r.count)
		return unknown(out, "the level's line is not known, or the level is hardly larger than the one above");
	if (r.first + 2 * r.count * r.stride > c->pieces)
		return unknown(out, "the code is too short for two rings that do not fit together");
	if (sms < 2 || sms > SMS)
		return unknown(out,
			       sms < 2 ? "there is one SM only" : "there are more SMs than can be asked one by one");
	if (undisturbed(c, r, l, &before) == CODE_MISSING || before.of[BY_FLOOR] > HALF)
		return unknown(out, "code that should fit misses with no rival");
	for (unsigned sm = 0; sm < sms; sm++) {
		r.rival = sm + 1;
		enum code_state st = code_get(c, &r, &run);
		pending |= st == CODE_PENDING;
		if (st == CODE_PENDING)
			continue;
		/* A rival that came too late, or never, proves nothing. */
		int was = st == CODE_HERE && run.rival_laps >= r.warm ? evicted(&run, l, &before) : -2;
		if (sm == 0) {
			self = was;
			continue;
		}
		asked++;
		yes += was == 1;
		unclear += was == -1;
		missing += was == -2;
	}
	if (pending || study_pending(c->study))
		return CODE_PENDING;
	if (self == 0 && !yes && !unclear && !missing) {
		r.rival = 0;
		r.rivals = CROWD;
		const enum code_state st = code_get(c, &r, &run);
		if (st == CODE_PENDING)
			return st;
		if (st == CODE_HERE && run.rival_laps >= r.warm && evicted(&run, l, &before) == 1) {
			snprintf(out->text, sizeof out->text, "partition");
			snprintf(out->why, sizeof out->why,
				 "%u rivals on the same SM evict, one does not, nor does any on another SM", CROWD);
			return CODE_HERE;
		}
	}
	if (self != 1 && !yes)
		return unknown(out, self == 0 ? "not even code on the same SM evicts"
					      : "a rival on the same SM could not be placed");
	if (unclear || missing) {
		snprintf(out->why, sizeof out->why,
			 "of rivals on %u other SMs %u evict, for %u it is not clear, %u could not be placed", asked,
			 yes, unclear, missing);
		return CODE_MISSING;
	}
	snprintf(out->text, sizeof out->text, "%s", !yes ? "sm" : yes == asked ? "gpu" : "cluster");
	snprintf(out->why, sizeof out->why, "code on %u of %u other SMs evicts", yes, asked);
	return CODE_HERE;
}

enum code_state code_constants(const struct code *c, const struct code_survey *v, unsigned k, struct code_shared *out)
{
	const struct code_level *l = &v->level[k];
	const uint64_t all = study_device(c->study)->constant_bytes;
	const double held = l->size.known ? l->size.value : (double)l->fits * c->unit;
	struct code_ring r = part_of(c, v, k, held > BANK_MOST ? 0.8 : 0.6);
	struct code_run run;
	*out = (struct code_shared){0};
	if (!r.count)
		return unknown(out, "the level is hardly larger than the one above");
	struct shares before = {{0}};
	if (undisturbed(c, r, l, &before) == CODE_MISSING || before.of[BY_FLOOR] > HALF)
		return unknown(out, "code that should fit misses with no constants read");
	r.walk = all < BANK_MOST ? (unsigned)all : BANK_MOST;
	enum code_state st = code_get(c, &r, &run);
	if (st != CODE_HERE)
		return st == CODE_PENDING ? st : unknown(out, "code and constants could not be run together");
	int was = evicted(&run, l, &before);
	if (was < 0)
		return unknown(out, "constants evict some of the code and not most of it");
	if (was == 0) {
		snprintf(out->text, sizeof out->text, "none");
		snprintf(out->why, sizeof out->why, "reading %u bytes of constants in every lap evicts no code",
			 r.walk);
		return CODE_HERE;
	}
	/* Constants alone never fill a level that holds all of them. */
	if (held > BANK_MOST)
		return unknown(out, "constants evict code, but which level of them holds as many is not known");
	/* One cache has one size on both paths. */
	for (unsigned n = 1; n <= 4; n++) {
		double size;
		if (!study_number(c->study, KEY("cache.constant.l%u.size", n), &size) || size < held * 0.9 ||
		    size > held * (l->size.known ? 1.1 : 1.8))
			continue;
		if (out->text[0])
			return unknown(out, "two levels of constants have this size");
		snprintf(out->text, sizeof out->text, "constant.l%u", n);
		r.walk = (unsigned)size;
	}
	if (!out->text[0])
		return unknown(out, "constants evict code, but no measured level of constants has this level's size");
	st = code_get(c, &r, &run);
	if (st == CODE_PENDING)
		return st;
	if (st == CODE_MISSING || evicted(&run, l, &before) != 1)
		return unknown(out, "constants evict code, but not as many as the level of this size holds");
	snprintf(out->why, sizeof out->why,
		 "reading %u bytes of constants in every lap evicts the code, and the sizes agree", r.walk);
	return CODE_HERE;
}

/* ---- one fetch ---- */

#define READS  CODE_READS
#define ROUNDS 6

/* x: pieces from one line to the next; p: lines, filling instructions of a piece, and behind a read. */
int code_timeline_setup(const struct study *s, double x, const double *p, struct job *j)
{
	const unsigned stride = (unsigned)x, lines = (unsigned)p[0];
	j->template_path = "probes/instruction_cache/timeline.ptx";
	snprintf(j->launch.entry, sizeof j->launch.entry, "timeline");
	job_param(j, "READS", READS);
	job_param(j, "ROUNDS", ROUNDS);
	job_param(j, "BLOCKS", (long long)stride * lines);
	job_param(j, "PADS", (long long)p[1]);
	job_param(j, "MORE", (long long)p[2]);
	/* An older recording has the two side by side. */
	const unsigned evicts = p[3] > 0 ? (unsigned)p[3] : 1;
	job_param(j, "EVICTS", evicts);
	j->launch.block[0] = study_device(s)->warp_size * (evicts + 1);
	job_output(j, CODE_HEAD + 2 * READS * ROUNDS);
	job_pin(j, study_device(s), 0);
	job_arg_u32(j, 0);
	job_arg_u32(j, stride);
	job_arg_u32(j, stride * (lines - 1));
	return 0;
}

static void known_value(struct code_fact *f, uint32_t value)
{
	f->known = true;
	f->value = value;
}

static enum code_state no_fetch(struct code_fact *out, const char *why)
{
	out->known = false;
	snprintf(out->why, sizeof out->why, "%s", why);
	return CODE_MISSING;
}

bool code_lateness(const struct point *pt, double late[CODE_READS])
{
	double scratch[ROUNDS];
	if (pt->outcome != OUTCOME_OK || pt->words_per_repeat != CODE_HEAD + 2 * READS * ROUNDS)
		return false;
	for (unsigned i = 0; i < READS; i++) {
		double v[ROUNDS];
		for (unsigned r = 1; r < ROUNDS; r++) {
			const uint32_t *w = pt->y + CODE_HEAD + 2 * READS * r;
			v[r - 1] = (int32_t)(w[i] - w[READS + i]);
		}
		late[i] = stat_median(v, ROUNDS - 1, scratch);
	}
	return true;
}

/* From one late read to the next, in reads: all late ones are multiples of it apart, and most of those that are are late. */
static unsigned late_period(const bool *late)
{
	for (unsigned d = READS / 3; d > 1; d--)
		for (unsigned o = 0; o < d; o++) {
			unsigned in = 0, all = 0, outside = 0;
			for (unsigned i = 1; i < READS; i++) {
				all += i % d == o;
				in += i % d == o && late[i];
				outside += i % d != o && late[i];
			}
			if (!outside && in >= 3 && in * 3 >= all * 2)
				return d;
		}
	return 0;
}

unsigned code_late_period(const double late[CODE_READS], double behind, unsigned *number)
{
	double scratch[READS];
	bool is_late[READS];
	/* Every second one may be late, never more. */
	const double limit = stat_quantile(late, READS, 0.25, scratch) + behind / 2;

	*number = 0;
	for (unsigned i = 0; i < READS; i++)
		*number += is_late[i] = late[i] >= limit;
	return late_period(is_late);
}

/* evicts: the warp that does; 0: the one next to the one that reads. few: hardly any read was late. */
static enum code_state fetch_by(const struct code *c, const struct code_survey *v, unsigned evicts,
				struct code_fact *out, bool *few)
{
	const struct code_level *l = &v->level[0];
	double late[READS];
	unsigned lines, number;
	*out = (struct code_fact){0};
	*few = false;
	if (!l->line.known || v->levels < 2)
		return no_fetch(out, "the line of the first level is not known");
	unsigned per = l->line.value / c->unit;
	lines = l->size.known && !l->size.likely ? (l->ways.value + 1) * l->sets.value : 2 * (l->fits / per);
	for (unsigned more = 0; more < 2; more++) {
		const double p[POINT_PARAMS] = {lines, c->unit / c->pad - 1, more, evicts};
		const struct point *pt = study_ask(c->study, EXPERIMENT_TIMELINE, per, p);
		if (!pt && study_pending(c->study))
			return CODE_PENDING;
		if (!pt || !code_lateness(pt, late))
			return no_fetch(out, point_why(pt));
		const struct native_info *native = study_native(c->study, EXPERIMENT_TIMELINE, pt);
		if (!native || native->layout.reads < READS)
			return no_fetch(out, "the clock reads do not lie in one row");
		/* From read to read an odd number of instructions: then reads begin everywhere within a fetch, in turn. */
		uint32_t step = native->layout.step, odd = step / c->pad;
		if (step % c->pad || odd % 2 == 0)
			continue;
		const unsigned d = code_late_period(late, v->level[1].ticks - l->ticks, &number);
		*few = number < 3;
		if (*few || !d || d * step % odd)
			return no_fetch(out, *few ? "hardly any read is late when the first level was evicted"
						  : "the reads that are late are not evenly spaced");
		known_value(out, d * step / odd);
		return CODE_HERE;
	}
	return no_fetch(out, "reads are no odd number of instructions apart");
}

enum code_state code_fetch(const struct code *c, const struct code_survey *v, struct code_fact *out)
{
	/* Those that have a scheduler with the first warp, where there are as many. */
	static const unsigned evicts[] = {0, 2, 4, 8};
	bool few;
	enum code_state st = fetch_by(c, v, 0, out, &few);
	for (unsigned i = 1; st == CODE_MISSING && few && i < sizeof evicts / sizeof *evicts; i++) {
		struct code_fact other = {0};
		st = fetch_by(c, v, evicts[i], &other, &few);
		if (st == CODE_HERE)
			*out = other;
	}
	return st;
}
