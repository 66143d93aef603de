/* What floating-point operations give: how they round, what they do to denormal numbers, and to infinities and NaNs. */
#include "base/arena.h"
#include "exact_float.h"
#include "float_rows.h"
#include "probe/probe.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>

enum { VECTORS = 256, WORDS_EACH = 2, IN_BYTES = 32 };
#define SMALL_WAYS 4
#define NEAR_ULP                                                                                                       \
	16 /* a result that no rounding explains is approximate where it is no farther off, else something is wrong */

/* x: the row. */
static int setup_values(const struct study *s, double x, const double *p, struct job *j)
{
	const struct device_info *d = study_device(s);
	const struct float_row *row = &float_rows[(unsigned)x];
	char op[64];
	(void)p;
	if (!float_row_runs(row, d))
		return -ENOTSUP;
	snprintf(op, sizeof op, row->op, d->cc >= FLOAT_ROUNDS ? ".rn" : "");
	j->template_path = "probes/float/float.ptx";
	job_param_text(j, "OP", op);
	job_param_text(j, "FROM", row->from_type);
	job_param_text(j, "TO", row->to_type);
	job_param_text(j, "LOAD", row->load);
	job_param_text(j, "STORE", row->store);
	job_param(j, "ARITY", row->arity);
	snprintf(j->launch.entry, sizeof j->launch.entry, "values");
	j->launch.block[0] = VECTORS;
	j->launch.block[1] = j->launch.block[2] = 1;
	job_output(j, VECTORS * WORDS_EACH);
	uint64_t *in = ARENA_ARRAY(j->arena, VECTORS * IN_BYTES / sizeof(uint64_t), uint64_t);
	if (!in)
		return -ENOMEM;
	for (unsigned i = 0; i < VECTORS; i++)
		float_operands(row, study_seed(s), i, in + (size_t)i * (IN_BYTES / sizeof *in));
	struct launch_buffer *b = &j->launch.buffers[j->launch.buffer_count];
	*b = (struct launch_buffer){
	    .space = BUFFER_GLOBAL, .bytes = VECTORS * IN_BYTES, .init = in, .init_bytes = VECTORS * IN_BYTES};
	job_arg_buffer(j, j->launch.buffer_count++, 0);
	j->launch.repeats = 1;
	return 0;
}

static const struct experiment experiments[] = {
    {.name = "values", .axis = "operation", .unit = "number", .setup = setup_values},
};

/* ---- what a way of computing gives ---- */

struct way {
	enum rounding rounding;
	enum { MAD_WHOLE, MAD_CUT, MAD_ROUNDED } product; /* of a multiply-add, before the addition */
	bool flushes_in, flushes_out;
};

static uint64_t rounded_as(const struct float_format *f, const struct way *w, struct exact x)
{
	const uint64_t bits = exact_round(f, x, w->rounding);
	return w->flushes_out ? float_flushed(f, bits) : bits;
}

static struct exact exact_result(const struct float_row *row, const struct way *w, const uint64_t *operand)
{
	struct exact x[3] = {{0}};
	for (unsigned k = 0; k < row->arity; k++) {
		if (!row->from) {
			x[k] = exact_of_integer((int32_t)operand[k]);
			continue;
		}
		x[k] = exact_of(row->from, w->flushes_in ? float_flushed(row->from, operand[k]) : operand[k]);
	}
	switch (row->does) {
	case DOES_ADD:
		return exact_add(x[0], x[1]);
	case DOES_MULTIPLY:
		return exact_multiply(x[0], x[1]);
	case DOES_MULTIPLY_ADD: {
		struct exact product = exact_multiply(x[0], x[1]);
		if (w->product != MAD_WHOLE) {
			const struct way first = {.rounding = w->product == MAD_CUT ? ROUND_ZERO : ROUND_NEAREST,
						  .flushes_out = w->flushes_out};
			product = exact_of(row->to, rounded_as(row->to, &first, product));
		}
		return exact_add(product, x[2]);
	}
	case DOES_DIVIDE:
		return exact_divide(x[0], x[1]);
	case DOES_ROOT:
		return exact_root(x[0]);
	default:
		return x[0];
	}
}

static bool explains(const struct float_row *row, const struct way *w, const uint64_t *operand, uint64_t seen)
{
	const struct exact x = exact_result(row, w, operand);
	if (!row->to)
		return (int32_t)seen == (int32_t)exact_integer(x, w->rounding);
	const uint64_t want = rounded_as(row->to, w, x);
	return float_is_nan(row->to, want) ? float_is_nan(row->to, seen) : want == seen;
}

/* What a vector can tell. BORDER: numbers that only rounding makes normal, which some flush and some do not. */
enum tells { TELLS_ROUNDING, TELLS_DENORMALS, TELLS_SPECIALS, TELLS_BORDER };

static enum tells told_by(const struct float_row *row, const uint64_t *operand)
{
	const struct way plain = {.rounding = ROUND_NEAREST};
	bool small = false;
	for (unsigned k = 0; k < row->arity && row->from; k++) {
		const struct exact x = exact_of(row->from, operand[k]);
		if (x.kind != EXACT_FINITE || !x.significand)
			return TELLS_SPECIALS;
		small |= float_is_subnormal(row->from, operand[k]);
	}
	if (row->does == DOES_MULTIPLY_ADD)
		small |= exact_is_small(
		    row->to, exact_multiply(exact_of(row->from, operand[0]), exact_of(row->from, operand[1])));
	if (!row->to && exact_of(row->from, operand[0]).exponent > 0)
		return TELLS_SPECIALS; /* beyond what an integer holds, perhaps */
	if (!row->to)
		return small ? TELLS_DENORMALS : TELLS_ROUNDING;
	const struct exact x = exact_result(row, &plain, operand);
	const uint64_t bits = exact_round(row->to, x, ROUND_NEAREST);
	if (x.kind != EXACT_FINITE || exact_of(row->to, bits).kind != EXACT_FINITE)
		return small ? TELLS_BORDER : TELLS_SPECIALS;
	if (exact_is_small(row->to, x))
		return float_is_subnormal(row->to, exact_round(row->to, x, ROUND_ZERO)) &&
			       float_is_subnormal(row->to, bits)
			   ? TELLS_DENORMALS
			   : TELLS_BORDER;
	return small ? TELLS_DENORMALS : TELLS_ROUNDING;
}

/* ---- what the results say ---- */

struct row_answer {
	const struct point *pt;
	bool there, explained; /* one way is left of ROUNDING */
	bool approximate;
	struct way way;
	unsigned told[TELLS_BORDER + 1]; /* vectors of each kind */
	bool asked;			 /* for denormal numbers */
	/* which ways to treat them explain what came: bit k is way k, 1: flushes operands, 2: results */
	unsigned small;
	unsigned special_wrong;
	char odd[160]; /* a result that nothing explains */
};

static uint64_t result(const struct float_row *row, const struct point *pt, unsigned i)
{
	const uint32_t *y = pt->y + (size_t)i * WORDS_EACH;
	const uint64_t all = y[0] | (uint64_t)y[1] << 32;
	return row->storage == 64 ? all : all & (((uint64_t)1 << row->storage) - 1);
}

/* In units of the last place, where both are finite; else many. */
static double distance(const struct float_row *row, const uint64_t *operand, uint64_t seen)
{
	const struct way plain = {.rounding = ROUND_NEAREST};
	if (!row->to)
		return 0;
	const uint64_t want = rounded_as(row->to, &plain, exact_result(row, &plain, operand)),
		       sign = (uint64_t)1 << (row->storage - 1);
	if (float_is_nan(row->to, seen) || (seen ^ want) & sign)
		return 1e9;
	return seen > want ? (double)(seen - want) : (double)(want - seen);
}

static bool all_explained(const struct study *s, const struct float_row *row, const struct point *pt,
			  const struct way *w, enum tells kind)
{
	uint64_t operand[3];
	for (unsigned i = 0; i < VECTORS; i++) {
		float_operands(row, study_seed(s), i, operand);
		if (told_by(row, operand) == kind && !explains(row, w, operand, result(row, pt, i)))
			return false;
	}
	return true;
}

static void note_odd(const struct study *s, const struct float_row *row, struct row_answer *a)
{
	const struct way plain = {.rounding = ROUND_NEAREST};
	double most = 0;
	for (unsigned i = 0; i < VECTORS; i++) {
		uint64_t operand[3] = {0};
		float_operands(row, study_seed(s), i, operand);
		const uint64_t seen = result(row, a->pt, i);
		if (told_by(row, operand) != TELLS_ROUNDING || explains(row, &plain, operand, seen))
			continue;
		const double off = distance(row, operand, seen);
		most = off > most ? off : most;
		if (!a->odd[0])
			snprintf(a->odd, sizeof a->odd, "%s of %llx, %llx, %llx gave %llx", row->name,
				 (unsigned long long)operand[0], (unsigned long long)operand[1],
				 (unsigned long long)operand[2], (unsigned long long)seen);
	}
	a->approximate = most > 0 && most <= NEAR_ULP;
}

static void answer_rounding(const struct study *s, const struct float_row *row, struct row_answer *a)
{
	unsigned left = 0;
	const bool sums = row->does == DOES_MULTIPLY_ADD;
	for (int r = 0; r < ROUNDINGS; r++) {
		/* No quotient and no root of such numbers lies half-way between two. */
		if (r == ROUND_AWAY && (row->does == DOES_DIVIDE || row->does == DOES_ROOT))
			continue;
		for (int product = MAD_WHOLE; product <= (sums ? MAD_ROUNDED : MAD_WHOLE); product++) {
			struct way w = {.rounding = (enum rounding)r};
			w.product = product;
			if (!all_explained(s, row, a->pt, &w, TELLS_ROUNDING))
				continue;
			a->way = w;
			left++;
		}
	}
	a->explained = left == 1;
	if (left == 0)
		note_odd(s, row, a);
	else if (left > 1)
		snprintf(a->odd, sizeof a->odd, "%u ways of rounding explain all results", left);
}

/* Each of the four ways to treat small numbers, on top of the rounding that was found. */
static void answer_denormals(const struct study *s, const struct float_row *row, struct row_answer *a)
{
	a->asked = true;
	for (unsigned k = 0; k < SMALL_WAYS; k++) {
		struct way w = a->way;
		w.flushes_in = k & 1;
		w.flushes_out = k >> 1;
		a->small |= (unsigned)all_explained(s, row, a->pt, &w, TELLS_DENORMALS) << k;
	}
}

static void answer_specials(const struct study *s, const struct float_row *row, struct row_answer *a)
{
	uint64_t operand[3];
	for (unsigned i = 0; i < VECTORS; i++) {
		float_operands(row, study_seed(s), i, operand);
		if (told_by(row, operand) == TELLS_SPECIALS)
			a->special_wrong += !explains(row, &a->way, operand, result(row, a->pt, i));
	}
}

static void answer(const struct study *s, const struct float_row *row, struct row_answer *a)
{
	uint64_t operand[3];
	if (!a->pt || a->pt->outcome != OUTCOME_OK)
		return;
	a->there = true;
	for (unsigned i = 0; i < VECTORS; i++) {
		float_operands(row, study_seed(s), i, operand);
		a->told[told_by(row, operand)]++;
	}
	answer_rounding(s, row, a);
	if (!a->explained)
		return;
	if (a->told[TELLS_DENORMALS] && row->from && row->to)
		answer_denormals(s, row, a);
	answer_specials(s, row, a);
}

/* ---- conclusions ---- */

static const char method[] = "results of crafted operands beside exact ones, rounded in every way";

static void conclude_rounding(struct study *s, const struct float_row *row, const struct row_answer *a)
{
	char key[64];
	snprintf(key, sizeof key, "float.%s.rounding", row->name);
	const unsigned vectors = a->told[TELLS_ROUNDING];
	if (!a->there)
		study_verdict(
		    s, key, float_row_runs(row, study_device(s)) ? VERDICT_INCONCLUSIVE : VERDICT_UNSUPPORTED, "values",
		    "%s", float_row_runs(row, study_device(s)) ? point_why(a->pt) : "the device has no such operation");
	else if (a->explained)
		study_text(
		    s, key, a->way.product == MAD_CUT ? "truncated" : rounding_names[a->way.rounding], method, "values",
		    a->way.product == MAD_CUT
			? "the product is cut off, and the sum is rounded to nearest: %u results, and no other way "
			  "gives them"
			: "%u results, and no other way of rounding gives them",
		    vectors);
	else if (a->approximate)
		study_text(s, key, "approximate", method, "values", "no rounding gives all of %u results: %s", vectors,
			   a->odd);
	else
		study_verdict(s, key, VERDICT_INCONCLUSIVE, "values", "%s", a->odd);
}

static void conclude_fused(struct study *s, const struct row_answer *a)
{
	static const char key[] = "float.mad.fused";
	if (!a->there || !a->explained)
		study_verdict(s, key, VERDICT_INCONCLUSIVE, "values", "%s", a->there ? a->odd : point_why(a->pt));
	else
		study_text(s, key, a->way.product == MAD_WHOLE ? "yes" : "no", method, "values",
			   a->way.product == MAD_WHOLE
			       ? "what is left of a product and its negative is there: it is rounded once"
			       : "what is left of a product and its negative is lost before the addition");
}

/* Of all operations of one format whose rounding is known: the ways that explain each of them. */
static void conclude_denormals(struct study *s, const struct row_answer *a, const struct float_format *f,
			       const char *key)
{
	unsigned ways = (1u << SMALL_WAYS) - 1;
	bool lacks = true;
	char who[160] = "";
	for (unsigned r = 0; r < float_row_count; r++) {
		const struct float_row *row = &float_rows[r];
		if (row->from != f || row->to != f)
			continue;
		lacks &= !float_row_runs(row, study_device(s));
		if (!a[r].asked)
			continue;
		ways &= a[r].small;
		snprintf(who + strlen(who), sizeof who - strlen(who), "%s%s", who[0] ? ", " : "", row->name);
	}
	const bool one = ways && !(ways & (ways - 1)), in = ways & 0xa, out = ways & 0xc;
	if (who[0] && one)
		study_text(s, key, in || out ? "no" : "yes", method, "values",
			   "%s: subnormal operands are %s, subnormal results are %s", who,
			   in ? "flushed to zero" : "taken as they are", out ? "flushed to zero" : "kept");
	else if (lacks)
		study_verdict(s, key, VERDICT_UNSUPPORTED, "values", "the device has no such operations");
	else
		study_verdict(s, key, VERDICT_INCONCLUSIVE, "values", "%s: %s", who[0] ? who : "no operation",
			      !who[0] ? "no rounding is known"
			      : ways  ? "results do not tell keeping from flushing"
				      : "neither keeping nor flushing explains all results");
}

static void conclude_specials(struct study *s, const struct row_answer *a)
{
	static const char key[] = "float.specials";
	unsigned all = 0, wrong = 0;
	const char *first = "";
	for (unsigned r = 0; r < float_row_count; r++) {
		/* A product that is cut off overflows in nobody's standard way. */
		if (!a[r].explained || a[r].way.product != MAD_WHOLE || !float_rows[r].from || !float_rows[r].to)
			continue;
		all += a[r].told[TELLS_SPECIALS];
		if (a[r].special_wrong && !wrong)
			first = float_rows[r].name;
		wrong += a[r].special_wrong;
	}
	if (!all)
		study_verdict(s, key, VERDICT_INCONCLUSIVE, "values", "no operation's rounding is known");
	else if (wrong)
		study_text(s, key, "no", method, "values", "%u of %u results are not those of IEEE 754, %s first",
			   wrong, all, first);
	else
		study_text(s, key, "yes", method, "values",
			   "all of %u results of infinities, NaNs, zeros and overflows", all);
}

static void study_float(struct study *s)
{
	struct row_answer *a = ARENA_ARRAY(study_arena(s), float_row_count, struct row_answer);
	for (unsigned r = 0; a && r < float_row_count; r++)
		if (float_row_runs(&float_rows[r], study_device(s)))
			a[r].pt = study_ask(s, 0, r, NULL);
	if (!a || study_pending(s))
		return;
	for (unsigned r = 0; r < float_row_count; r++) {
		answer(s, &float_rows[r], &a[r]);
		conclude_rounding(s, &float_rows[r], &a[r]);
		if (strcmp(float_rows[r].name, "mad") == 0)
			conclude_fused(s, &a[r]);
	}
	conclude_denormals(s, a, &format_f32, "float.denormals");
	conclude_denormals(s, a, &format_f64, "float.f64.denormals");
	conclude_denormals(s, a, &format_f16, "float.f16.denormals");
	conclude_specials(s, a);
}

static const char *const claims[] = {"float.*", NULL};

const struct probe probe_float = {
    .name = "float",
    .asks = "How do floating-point operations round, and what do they do to denormal numbers, infinities and NaNs?",
    .source = "Nickolls and Kirk, B.6; here every way of rounding is tried on operands that tell them apart",
    .how = "Every operation gets 256 operands from memory: random ones, ties, products whose negative is added, "
	   "denormal numbers, "
	   "infinities and NaNs. Exact results, rounded in every way that there is, are laid beside what came back. "
	   "One way has to "
	   "be left: to nearest, away, up, down, towards zero; of a multiply-add with its product whole, cut off or "
	   "rounded.",
    .fooled = "A compiler that computes beforehand or fuses: operands come from memory, and each operation is written "
	      "with its "
	      "rounding. Numbers that only rounding makes normal: some units flush them and some do not, so they count "
	      "for nothing. "
	      "An approximation that happens to be right: one result that no rounding gives is enough.",
    .claims = claims,
    .experiments = experiments,
    .experiment_count = sizeof experiments / sizeof *experiments,
    .study = study_float,
};
