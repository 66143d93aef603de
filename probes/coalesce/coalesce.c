/* How the addresses of a warp become transactions.
 *
 * Warps load in patterns of which the known rules make unlike numbers of transactions and of bytes. A load takes as
 * long as the longest of three things. One is a time for each instruction with some more for each transaction, one the
 * time of the bytes. The third does not depend on the pattern. A rule is dropped if by its numbers no such three
 * explain all patterns. */
#include "base/arena.h"
#include "base/units.h"
#include "probe/probe.h"
#include "stat/stat.h"
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
	HEADER_WORDS = 2,
	LANES = 32,
	LOADS = 8,
	SHORT_TURNS = 4,
	LONG_TURNS = 36, /* what 12 take more than 4 differs by a twentieth between launches alike on an H200 */
	REPEATS = 3,
	REGISTERS = 32, /* of a thread, at most */
	WARPS_MOST = 32,
	APART = 256,
	BYTES = 8192
};

/* ---- patterns ---- */

/* Lane k reads `width` bytes, step x (k xor flip) + shift behind the begin. */
static const struct pattern {
	const char *name;
	uint32_t width, step, flip, shift;
} patterns[] = {
    {"aligned", 4, 4, 0, 0},	 {"shifted", 4, 4, 0, 4},    {"shifted_16", 4, 4, 0, 16}, {"shifted_32", 4, 4, 0, 32},
    {"shifted_64", 4, 4, 0, 64}, {"permuted", 4, 4, 1, 0},   {"stride_2", 4, 8, 0, 0},	  {"stride_4", 4, 16, 0, 0},
    {"stride_8", 4, 32, 0, 0},	 {"stride_16", 4, 64, 0, 0}, {"stride_32", 4, 128, 0, 0}, {"same", 4, 0, 0, 0},
    {"bytes_1", 1, 1, 0, 0},	 {"bytes_2", 2, 2, 0, 0},    {"bytes_8", 8, 8, 0, 0},	  {"shifted_8", 8, 8, 0, 8},
    {"bytes_16", 16, 16, 0, 0},
};
enum { PATTERNS = sizeof patterns / sizeof *patterns };

static uint32_t place(const struct pattern *p, uint32_t lane)
{
	return (lane ^ p->flip) * p->step + p->shift;
}

static unsigned words_of(const struct pattern *p)
{
	return p->width > 4 ? p->width / 4 : 1;
}

/* That a thread has under way. */
static unsigned loads_of(const struct pattern *p)
{
	return p->width > 8 ? LOADS / 2 : LOADS;
}

/* x: the pattern's number; p[0]: turns. */
static int setup(const struct study *s, double x, const double *p, struct job *j)
{
	const struct device_info *d = study_device(s);
	const struct pattern *is = &patterns[(unsigned)x];
	const unsigned words = words_of(is), warps = job_warps(d, REGISTERS, WARPS_MOST);
	uint32_t *table = ARENA_ARRAY(j->arena, d->warp_size, uint32_t);
	if (!table)
		return -ENOMEM;
	/* Wider warps send their loads in two halves, one behind the other: both the same. */
	for (uint32_t k = 0; k < d->warp_size; k++)
		table[k] = place(is, k % LANES);
	char load[32];
	snprintf(load, sizeof load, "ld%s.global%s.%s%s", d->cc >= 70 ? ".volatile" : "",
		 d->cc >= 20 && d->cc < 70 ? ".cg" : "",
		 is->width == 16  ? "v4."
		 : is->width == 8 ? "v2."
				  : "",
		 is->width == 1	  ? "u8"
		 : is->width == 2 ? "u16"
				  : "u32");
	j->template_path = "probes/coalesce/pattern.ptx";
	job_param_text(j, "LOAD", load);
	job_param(j, "WORDS", words);
	job_param(j, "LOADS", loads_of(is));
	job_param(j, "WARPLOG", log2_floor(d->warp_size));
	snprintf(j->launch.entry, sizeof j->launch.entry, "pattern");
	j->launch.block[0] = warps * d->warp_size;
	j->launch.block[1] = j->launch.block[2] = 1;
	job_output(j, HEADER_WORDS + 2 * warps);
	job_pin(j, d, 0);
	const uint32_t data = j->launch.buffer_count++;
	j->launch.buffers[data] = (struct launch_buffer){.bytes = BYTES, .align = BYTES};
	job_arg_buffer(j, data, 0);
	const uint32_t at = j->launch.buffer_count++;
	j->launch.buffers[at] =
	    (struct launch_buffer){.bytes = 4ull * d->warp_size, .init = table, .init_bytes = 4ull * d->warp_size};
	job_arg_buffer(j, at, 0);
	job_arg_u32(j, (uint32_t)p[0]);
	j->launch.args[j->launch.arg_count++] = (struct launch_arg){.kind = ARG_U64};
	j->launch.repeats = REPEATS;
	j->launch.warmups = 1;
	j->check.cls = NATIVE_LOAD_GLOBAL;
	j->check.region = 0;
	j->check.min = j->check.max = loads_of(is);
	j->check.others = 4 * LOADS;
	return 0;
}

static const struct experiment experiments[] = {
    {.name = "pattern", .axis = "pattern", .unit = "number", .params = {"turns"}, .setup = setup},
};

/* Cycles of the SM for a load of one warp; 0: not known (yet). */
struct load_time {
	double value, lo, hi;
};

static bool span(const struct point *pt, unsigned r, unsigned warps, double *out)
{
	const uint32_t *w = pt->y + (size_t)r * pt->words_per_repeat + HEADER_WORDS;
	double first = INFINITY, last = -INFINITY;
	for (unsigned i = 0; i < warps; i++) {
		/* relative to one read, so that a counter that wraps does no harm */
		first = fmin(first, (int32_t)(w[2 * i] - w[0]));
		last = fmax(last, (int32_t)(w[2 * i + 1] - w[0]));
	}
	*out = last - first;
	return last > first;
}

static struct load_time time_of(struct study *s, unsigned pattern)
{
	const unsigned warps = job_warps(study_device(s), REGISTERS, WARPS_MOST);
	const double n = (LONG_TURNS - SHORT_TURNS) * loads_of(&patterns[pattern]) * warps;
	const struct point *pt[2];
	double v[2][REPEATS], scratch[REPEATS];
	struct load_time out = {0};
	bool ok = true;
	for (unsigned i = 0; i < 2; i++) {
		const double p[POINT_PARAMS] = {i ? LONG_TURNS : SHORT_TURNS};
		pt[i] = study_ask(s, 0, pattern, p);
		ok &= pt[i] && pt[i]->outcome == OUTCOME_OK && pt[i]->repeats == REPEATS;
		for (unsigned r = 0; ok && r < REPEATS; r++)
			ok = span(pt[i], r, warps, &v[i][r]);
	}
	if (!ok)
		return out;
	out.value = (stat_median(v[1], REPEATS, scratch) - stat_median(v[0], REPEATS, scratch)) / n;
	out.lo = (stat_quantile(v[1], REPEATS, 0, scratch) - stat_quantile(v[0], REPEATS, 1, scratch)) / n;
	out.hi = (stat_quantile(v[1], REPEATS, 1, scratch) - stat_quantile(v[0], REPEATS, 0, scratch)) / n;
	return out;
}

/* ---- rules ---- */

enum { RULE_G80, RULE_GT200, RULE_LINES, RULES = RULE_LINES + 5 };
static const uint32_t segments[RULES] = {32, 32, 16, 32, 64, 128, 256};

static const char *rule_name(unsigned rule)
{
	return rule == RULE_G80 ? "g80" : rule == RULE_GT200 ? "gt200" : "lines";
}

struct cost {
	double transactions, bytes;
};

/* The distinct segments that 32 lanes touch. */
static struct cost by_lines(const struct pattern *p, uint32_t segment)
{
	uint32_t seen[LANES], n = 0;
	for (uint32_t k = 0; k < LANES; k++) {
		const uint32_t at = place(p, k) / segment;
		uint32_t i = 0;
		while (i < n && seen[i] != at)
			i++;
		if (i == n)
			seen[n++] = at;
	}
	return (struct cost){n, (double)n * segment};
}

/* CUDA Programming Guide 2.0, 5.1.2.1, compute capability 1.0: lane k of a half has to want word k of an aligned block. */
static struct cost by_g80(const struct pattern *p, uint32_t first)
{
	const uint32_t half = LANES / 2, block = p->width * half, size = block < 128 ? block : 128,
		       base = place(p, first);
	bool fits = p->width >= 4 && base % size == 0;
	for (uint32_t k = 0; k < half; k++)
		fits &= place(p, first + k) == base + k * p->width;
	return fits ? (struct cost){(double)block / size, block} : (struct cost){half, 32.0 * half};
}

/* The same, compute capability 1.2: the segment of the lowest lane that waits, cut to its half as long as the other is not touched. */
static struct cost by_gt200(const struct pattern *p, uint32_t first)
{
	const uint32_t segment = p->width == 1 ? 32 : p->width == 2 ? 64 : 128;
	bool done[LANES] = {false};
	struct cost out = {0};
	for (uint32_t k = first; k < first + LANES / 2; k++) {
		uint32_t lo = UINT32_MAX, hi = 0, size = segment;
		for (uint32_t i = k; i < first + LANES / 2 && !done[k]; i++) {
			const uint32_t at = place(p, i);
			if (done[i] || at / segment != place(p, k) / segment)
				continue;
			lo = at < lo ? at : lo;
			hi = at + p->width - 1 > hi ? at + p->width - 1 : hi;
			done[i] = i > k;
		}
		if (done[k])
			continue;
		while (size > 32 && lo / (size / 2) == hi / (size / 2))
			size /= 2;
		out = (struct cost){out.transactions + 1, out.bytes + size};
	}
	return out;
}

static struct cost cost_of(unsigned rule, const struct pattern *p)
{
	if (rule >= RULE_LINES)
		return by_lines(p, segments[rule]);
	const struct cost a = rule == RULE_G80 ? by_g80(p, 0) : by_gt200(p, 0),
			  b = rule == RULE_G80 ? by_g80(p, LANES / 2) : by_gt200(p, LANES / 2);
	return (struct cost){a.transactions + b.transactions, a.bytes + b.bytes};
}

/* What a load takes. All loads that are under way wait, once and for each transaction, and for each byte. The
 * arithmetic that uses a word takes its time, too. A part of a word, which is cut out of it, takes so much at least. */
struct price {
	double wait, once, each, byte, word, part;
};

static double worst_of(const struct load_time *t, const struct cost *c, const struct price *p, uint32_t reach)
{
	double worst = 0;
	for (unsigned i = 0; i < PATTERNS; i++) {
		if (patterns[i].step > reach)
			continue;
		const double by_port = fmax(p->once + p->each * c[i].transactions, p->byte * c[i].bytes),
			     by_warp = fmax(p->wait / loads_of(&patterns[i]), p->word * words_of(&patterns[i])),
			     is = fmax(fmax(by_port, by_warp), patterns[i].width < 4 ? p->part : 0);
		worst = fmax(worst, fabs(is - t[i].value) / t[i].value);
	}
	return worst;
}

/* By how much the best prices miss the time of some pattern whose lanes are no further apart than `reach`, as a share of it. Prices are those of
 * two patterns for transactions and of one for bytes, whichever they are. */
static double miss_of(unsigned rule, const struct load_time *t, uint32_t reach)
{
	struct cost c[PATTERNS];
	double best = INFINITY, wait = INFINITY, word = INFINITY, part = INFINITY;
	for (unsigned i = 0; i < PATTERNS; i++) {
		c[i] = cost_of(rule, &patterns[i]);
		part = patterns[i].width < 4 ? fmin(part, t[i].value) : part;
		wait = fmin(wait, t[i].value * loads_of(&patterns[i]));
		word = fmin(word, t[i].value / words_of(&patterns[i]));
	}
	for (unsigned i = 0; i < PATTERNS; i++)
		for (unsigned k = 0; k < PATTERNS; k++) {
			const double more = c[i].transactions - c[k].transactions,
				     each = i == k ? t[i].value / c[i].transactions : (t[i].value - t[k].value) / more;
			const double once = t[i].value - each * c[i].transactions;
			if ((i != k && more <= 0) || each < 0 || once < -1e-9)
				continue;
			for (unsigned b = 0; b <= PATTERNS; b++) {
				const double byte = b < PATTERNS ? t[b].value / c[b].bytes : 0;
				for (unsigned w = 0; w < 8; w++)
					best = fmin(best, worst_of(t, c,
								   &(struct price){w & 1 ? wait : 0, once, each, byte,
										   w & 2 ? word : 0, w & 4 ? part : 0},
								   reach));
			}
		}
	return best;
}

#define FITS	 0.08 /* times of one cost differ by so much */
#define FITS_NOT 0.16
#define NEARLY	 0.3 /* of an estimate */
#define BETTER	 2   /* times as much the next rule misses */
/* Lanes further apart read several rows of a memory, which banks open side by side: no rule says what that takes. */
#define NEAR 32

struct fit {
	bool known;
	unsigned rule, second; /* by which patterns are explained best, and next */
	double best, next;     /* miss_of them */
	bool by_far;	       /* only patterns that reach far tell it from another */
};

static void conclude(struct study *s, const struct fit *f)
{
	static const char rule_key[] = "memory.coalesce.rule", segment_key[] = "memory.coalesce.segment",
			  method[] = "rules by whose transactions all patterns take what they take";
	const double segment = segments[f->rule];
	if (f->known && f->by_far) {
		for (unsigned i = 0; i < 2; i++)
			study_verdict(s, i ? segment_key : rule_key, VERDICT_INCONCLUSIVE, "pattern",
				      "only lanes that are far apart tell %s of %u bytes from another rule, and they "
				      "may open rows of the memory",
				      rule_name(f->rule), segments[f->rule]);
	} else if (f->known && f->best <= FITS && f->next >= FITS_NOT) {
		study_text(
		    s, rule_key, rule_name(f->rule), method, "pattern",
		    "%d patterns take what it says within %.2g of their times; %s of %u bytes misses one by %.2g",
		    PATTERNS, f->best, rule_name(f->second), segments[f->second], f->next);
		study_measured_number(
		    s, segment_key, segment, segment, segment, "card", method, "pattern",
		    "a warp that reads words side by side moves %.0f bytes, shifted by one word %.0f, with neighbours "
		    "exchanged %.0f, every second one %.0f. Lanes that read one word move %.0f",
		    cost_of(f->rule, &patterns[0]).bytes, cost_of(f->rule, &patterns[1]).bytes,
		    cost_of(f->rule, &patterns[5]).bytes, cost_of(f->rule, &patterns[6]).bytes,
		    cost_of(f->rule, &patterns[11]).bytes);
	} else if (f->known && f->best <= NEARLY && f->next >= fmax(FITS_NOT, BETTER * f->best)) {
		study_likely_text(s, rule_key, rule_name(f->rule), method, "pattern",
				  "it misses one of %d patterns by %.2g of its time; %s of %u bytes by %.2g", PATTERNS,
				  f->best, rule_name(f->second), segments[f->second], f->next);
		study_likely_number(s, segment_key, segment, segment, segment, "card", method, "pattern",
				    "that of the rule that explains the patterns best, which misses one by %.2g of its "
				    "time",
				    f->best);
	} else {
		for (unsigned i = 0; i < 2; i++)
			study_verdict(s, i ? segment_key : rule_key, VERDICT_INCONCLUSIVE, "pattern",
				      !f->known ? "not all patterns have steady times"
						: "%s of %u bytes misses a pattern by %.2g of its time, %s of %u bytes "
						  "by %.2g",
				      rule_name(f->rule), segments[f->rule], f->best, rule_name(f->second),
				      segments[f->second], f->next);
	}
}

static void study_coalesce(struct study *s)
{
	struct load_time t[PATTERNS];
	bool known = true;
	for (unsigned i = 0; i < PATTERNS; i++) {
		t[i] = time_of(s, i);
		known &= t[i].value > 0 && t[i].lo > 0;
	}
	if (study_pending(s))
		return;
	double best = INFINITY, next = INFINITY;
	unsigned rule = 0, second = 0;
	for (unsigned k = 0; known && k < RULES; k++) {
		const double miss = miss_of(k, t, UINT32_MAX);
		if (miss < best) {
			next = best;
			second = rule;
			best = miss;
			rule = k;
		} else if (miss < next) {
			next = miss;
			second = k;
		}
	}
	bool by_far = false;
	for (unsigned k = 0; known && k < RULES; k++)
		by_far |= k != rule && miss_of(k, t, NEAR) < BETTER * miss_of(rule, t, NEAR);
	conclude(s, &(struct fit){known, rule, second, best, next, by_far});
}

static const char *const claims[] = {"memory.coalesce.rule", "memory.coalesce.segment", NULL};

const struct probe probe_coalesce = {
    .name = "coalesce",
    .asks = "How do the addresses of a warp become transactions, and of how many bytes?",
    .source = "Nickolls and Kirk, B.5; CUDA Programming Guide 2.0, 5.1.2.1; here all rules are tried on all patterns",
    .how =
	"Warps of one SM load words side by side, shifted, exchanged, at strides and of several widths. They lie in a "
	"few "
	"kilobytes that a common cache holds. What a load takes in the long run is the most of what its transactions, "
	"its bytes and the instruction itself take. A rule by whose transactions and bytes no such three prices "
	"explain "
	"all patterns is dropped.",
    .fooled =
	"A table of requests, or too few loads at a time, makes patterns alike: then several rules fit, and none is "
	"named. A cache in the SM would put words together by itself: loads pass by it where they can. Memory that is "
	"slower at some places: patterns move over the same places alike. Rows of a memory that open side by side: "
	"patterns "
	"that do not reach far have to tell the same rule.",
    .claims = claims,
    .experiments = experiments,
    .experiment_count = sizeof experiments / sizeof *experiments,
    .study = study_coalesce,
};
