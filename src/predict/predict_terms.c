/* Findings as parameters of the model, and which instruction takes which. */
#include "predict/predict_impl.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

#define SCALING 3   /* instructions: a comparison and two products */
#define PAIRED	1.1 /* single chains take so much longer for each instruction: pairs are what makes the difference */

/* ---- findings ---- */

static struct predict_term *listed(struct terms *t, const char *key)
{
	for (struct predict_term *p = *t->list; p; p = p->next)
		if (strcmp(p->key, key) == 0)
			return p;
	struct predict_term *p = ARENA_NEW(t->a, struct predict_term);
	if (!p) {
		t->no_memory = true;
		return NULL;
	}
	snprintf(p->key, sizeof p->key, "%s", key);
	p->next = *t->list;
	*t->list = p;
	return p;
}

static bool read_term(const struct finding *f, struct term *v, bool more_is_faster)
{
	double lo, hi;
	if (!f || f->verdict == VERDICT_ABSENT || !finding_answered(f))
		return false;
	if (finding_estimated(f)) {
		if (f->value.kind != VALUE_NUMBER)
			return false;
		v->value = f->value.number;
		lo = isfinite(f->lo) ? f->lo : v->value;
		hi = isfinite(f->hi) ? f->hi : v->value;
	} else {
		v->value = lo = hi = isfinite(f->lo) ? f->lo : f->hi;
		if (!isfinite(f->lo)) /* no quantity is less than nothing */
			lo = 0;
	}
	v->there = isfinite(v->value);
	v->fast = more_is_faster ? hi : lo;
	v->slow = more_is_faster ? lo : hi;
	return v->there;
}

struct term term_try(struct terms *t, const char *key, bool more_is_faster)
{
	struct term v = {.there = false};
	const struct finding *f = findings_get(t->f, key);
	if (!read_term(f, &v, more_is_faster))
		return v;
	struct predict_term *p = listed(t, key);
	if (!p)
		return v;
	p->missing = false;
	p->value = v.value;
	p->lo = fmin(v.fast, v.slow);
	p->hi = fmax(v.fast, v.slow);
	snprintf(p->unit, sizeof p->unit, "%s", f->unit);
	snprintf(p->effect, sizeof p->effect, "%s",
		 f->verdict == VERDICT_BOUND	? "only bounded: its known end is taken"
		 : f->verdict == VERDICT_LIKELY ? "an estimate"
						: "");
	return v;
}

bool term_absent(const struct terms *t, const char *key)
{
	const struct finding *f = findings_get(t->f, key);
	return f && f->verdict == VERDICT_ABSENT;
}

struct term term_get(struct terms *t, const char *key, bool more_is_faster, const char *effect)
{
	struct term v = term_try(t, key, more_is_faster);
	if (v.there || term_absent(t, key))
		return v;
	struct predict_term *p = listed(t, key);
	if (p) {
		p->missing = true;
		snprintf(p->effect, sizeof p->effect, "%s", effect);
	}
	return v;
}

struct term term_need(struct terms *t, const char *key, bool more_is_faster, const char *effect)
{
	struct term v = term_get(t, key, more_is_faster, effect);
	struct predict_term *p = v.there || term_absent(t, key) ? NULL : listed(t, key);
	if (p)
		p->open = true;
	return v;
}

/* What a device says of itself, where nothing was measured. */
static struct term said(struct terms *t, const char *key, double says)
{
	struct term v = term_try(t, key, false);
	if (v.there || !(says > 0))
		return v;
	struct predict_term *p = listed(t, key);
	if (p) {
		p->value = p->lo = p->hi = says;
		snprintf(p->effect, sizeof p->effect, "not measured: what the device says of itself");
	}
	return (struct term){true, says, says, says};
}

double term_at(const struct term *t, enum predict_end end)
{
	return end == END_FAST ? t->fast : end == END_SLOW ? t->slow : t->value;
}

/* ---- instructions ---- */

/* What the file of findings calls the operation; NULL: by its own name. compiled: what a compiler makes of it counts. */
static const char *variant_of(const struct ptx_inst *in, bool compiled)
{
	switch (in->op) {
	case PTX_OP_MUL:
	case PTX_OP_MAD:
		return in->mods & PTX_HI_PART || (compiled && in->mods & PTX_WIDE) ? "mulhi" : NULL;
	case PTX_OP_DIV:
		return in->mods & (PTX_APPROX | PTX_FULL) ? "divapprox" : NULL;
	case PTX_OP_RCP:
	case PTX_OP_SQRT: /* rounded: a first value and Newton's steps, as a quotient */
		return !compiled || in->mods & PTX_APPROX ? NULL : "div";
	default:
		return NULL;
	}
}

/* A function of single precision that keeps subnormal numbers: the argument's range is compared, it is scaled, and so is the result.
 * Compilers put these between those of neighbouring iterations, so that nothing waits for them. */
static bool scales(const struct ptx_inst *in)
{
	const bool function = in->op == PTX_OP_EX2 || in->op == PTX_OP_LG2 || in->op == PTX_OP_RSQRT ||
			      in->op == PTX_OP_RCP || in->op == PTX_OP_SQRT || in->op == PTX_OP_DIV;
	return function && in->type == PTX_F32 && in->mods & PTX_APPROX && !(in->mods & PTX_FTZ);
}

static const char *type_of(uint8_t type)
{
	switch (type) {
	case PTX_PRED:
	case PTX_B8:
	case PTX_B16:
	case PTX_B32:
	case PTX_B64:
	case PTX_B128:
		return "b32";
	case PTX_U8:
	case PTX_U16:
	case PTX_U64:
		return "u32";
	case PTX_S8:
	case PTX_S16:
	case PTX_S64:
		return "s32";
	default:
		return ptx_type_name((enum ptx_type)type);
	}
}

/* Whether its latency was measured, or an end of it: a compiler may have made something else of the operation. */
static bool known_op(const struct terms *t, const char *stem)
{
	char key[96];
	snprintf(key, sizeof key, "arith.%s.latency", stem);
	const struct finding *f = findings_get(t->f, key);
	return (f && (finding_estimated(f) || f->verdict == VERDICT_BOUND)) ||
	       (outside_only(t) && outside_known(t, stem));
}

/* Whether it is one native instruction, as far as that was counted. */
static bool is_single(const struct terms *t, const char *stem)
{
	char key[96];
	struct term ops = {.there = false};
	snprintf(key, sizeof key, "arith.%s.native_ops", stem);
	return !read_term(findings_get(t->f, key), &ops, false) || ops.value <= 1;
}

/* What stands in for operations that have no findings. A maximum compares and selects, so it goes where comparisons,
 * selections and moves go, unless several instructions do it. Without one it is an addition, or whatever of the type
 * was measured. */
static void stand_in(const struct terms *t, const char *type, char *stem, size_t n)
{
	static const char *const names[] = {"max", "add", "mad", "mul"};
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		snprintf(stem, n, "%s.%s", names[i], type);
		if (known_op(t, stem) && is_single(t, stem))
			return;
	}
	snprintf(stem, n, "add.%s", type);
}

/* A chain of integers that the compiler made of two instructions in turn fills two units. A kernel's own operations may be one of them, on one
 * unit, or both. */
static bool is_mixture(const struct terms *t, const char *stem)
{
	char key[96];
	const char *type = strchr(stem, '.');
	snprintf(key, sizeof key, "arith.%s.unit", stem);
	const struct finding *f = findings_get(t->f, key);
	return f && f->verdict == VERDICT_UNSUPPORTED && is_single(t, stem) && type &&
	       (!strcmp(type, ".u32") || !strcmp(type, ".s32") || !strcmp(type, ".b32"));
}

/* "fma.f32" of the findings, or what stands in for it. */
static void stem_of(const struct terms *t, const struct ptx_inst *in, char *stem, size_t n, bool *stands_in)
{
	const char *variant = variant_of(in, t->compiled), *type = type_of(in->type),
		   *name = ptx_op_name((enum ptx_op)in->op);
	*stands_in = false;
	snprintf(stem, n, "%s.%s", variant ? variant : name, type);
	if (known_op(t, stem))
		return;
	snprintf(stem, n, "%s.%s", name, type);
	if (variant && known_op(t, stem))
		return;
	/* Bits are shifted and combined as numbers, and the other way round. */
	snprintf(stem, n, "%s.%s", name, strcmp(type, "b32") == 0 ? "u32" : "b32");
	if (strcmp(type, "b32") == 0 || strcmp(type, "u32") == 0 || strcmp(type, "s32") == 0)
		if (known_op(t, stem))
			return;
	*stands_in = true;
	bool real = in->type == PTX_F32 || in->type == PTX_F64;
	stand_in(t, real ? type : "u32", stem, n);
}

/* Issue latency from the issue, else from the throughput. */
static struct term issue_of(struct terms *t, const char *stem, double warp)
{
	char key[96];
	snprintf(key, sizeof key, "arith.%s.issue", stem);
	struct term v = term_try(t, key, false);
	if (v.there)
		return v;
	snprintf(key, sizeof key, "arith.%s.throughput", stem);
	struct term rate = term_try(t, key, true);
	if (rate.there && rate.slow > 0)
		return (struct term){true, warp / rate.value, warp / rate.fast, warp / rate.slow};
	if (outside_only(t) && outside_known(t, stem))
		return outside_issue(t, stem);
	snprintf(key, sizeof key, "arith.%s.issue", stem);
	return term_need(t, key, false, "its instructions are issued as fast as any");
}

static uint32_t unit_named(struct model *m, const char *name)
{
	for (uint32_t k = 1; k < m->units; k++)
		if (strcmp(m->unit[k], name) == 0)
			return k;
	if (m->units == TIMING_UNITS)
		return 0;
	snprintf(m->unit[m->units], sizeof m->unit[0], "%s", name);
	return m->units++;
}

static uint32_t unit_number(struct model *m, const struct terms *t, const char *stem)
{
	char key[96];
	snprintf(key, sizeof key, "arith.%s.unit", stem);
	const struct finding *f = findings_get(t->f, key);
	if (!f || !finding_estimated(f) || f->value.kind != VALUE_TEXT || !strcmp(f->value.text, "other"))
		return 0;
	return unit_named(m, f->value.text);
}

/* Cycles of a warp of the quickest operation of the unit; 0: nobody knows. */
static double quickest_of(const struct terms *t, const char *unit)
{
	double least = outside_only(t) ? outside_least_issue(t) : INFINITY;
	for (size_t k = 0; k < t->f->count; k++) {
		const struct finding *f = &t->f->items[k];
		const size_t n = strlen(f->key);
		char key[96];
		struct term v = {.there = false};
		if (n < 5 || strcmp(f->key + n - 5, ".unit") != 0 || !finding_estimated(f) ||
		    f->value.kind != VALUE_TEXT || strcmp(f->value.text, unit) != 0)
			continue;
		snprintf(key, sizeof key, "%.*s.issue", (int)(n - 5), f->key);
		if (read_term(findings_get(t->f, key), &v, false) && v.value > 0)
			least = fmin(least, v.value);
	}
	return isfinite(least) ? least : 0;
}

/* Several native instructions each take the whole unit, as far as they explain why the operation is slow. */
static double part_of(struct terms *t, const struct model *m, const struct timing *at, const char *stem)
{
	char key[96];
	snprintf(key, sizeof key, "arith.%s.native_ops", stem);
	const struct term ops = term_try(t, key, false);
	const double least = at->unit ? quickest_of(t, m->unit[at->unit]) : 0;
	return least > 0 ? least * (ops.there && ops.value > 1 ? ops.value : 1) : INFINITY;
}

static struct predict_class *class_of(struct terms *t, struct predict_class **list, const char *name, const char *key)
{
	struct predict_class **at = list;
	for (; *at; at = &(*at)->next)
		if (strcmp((*at)->name, name) == 0)
			return *at;
	*at = ARENA_NEW(t->a, struct predict_class);
	if (!*at) {
		t->no_memory = true;
		return NULL;
	}
	snprintf((*at)->name, sizeof(*at)->name, "%s", name);
	snprintf((*at)->key, sizeof(*at)->key, "%s", key);
	return *at;
}

static bool is_memory(const struct ptx_inst *in)
{
	return (in->op == PTX_OP_LD && in->space != PTX_PARAM) || in->op == PTX_OP_LDU || in->op == PTX_OP_ST ||
	       in->op == PTX_OP_ATOM || in->op == PTX_OP_RED || in->op == PTX_OP_TEX;
}

static bool is_control(const struct ptx_inst *in)
{
	switch (in->op) {
	case PTX_OP_BRA:
	case PTX_OP_RET:
	case PTX_OP_EXIT:
	case PTX_OP_BAR_SYNC:
	case PTX_OP_BAR_ARRIVE:
	case PTX_OP_BARRIER_SYNC:
	case PTX_OP_BAR_WARP_SYNC:
	case PTX_OP_MEMBAR:
	case PTX_OP_FENCE:
		return true;
	default:
		return false;
	}
}

static const char *space_name(uint8_t space)
{
	switch (space) {
	case PTX_SHARED:
		return "shared";
	case PTX_CONST:
		return "const";
	case PTX_LOCAL:
		return "local";
	case PTX_TEX:
		return "texture";
	default:
		return "global";
	}
}

static void scale(struct term *t, double fast, double value, double slow)
{
	t->fast *= fast;
	t->value *= value;
	t->slow *= slow;
}

/* Lanes exchange their values over the paths of shared memory, where that is known. */
static bool time_exchange(struct terms *t, double warp, struct timing *out)
{
	const struct term rate = term_try(t, "shared.bandwidth", true), late = term_try(t, "shared.latency", false);
	if (!rate.there || !late.there || !(rate.slow > 0))
		return false;
	out->issue = (struct term){true, 4 * warp / rate.value, 4 * warp / rate.fast, 4 * warp / rate.slow};
	out->latency = late;
	return true;
}

/* Of a mixture: one of its instructions, and which part of the unit's time it takes where the compiler spreads them. */
static void time_mixture(struct model *m, struct terms *t, const char *stem, double warp, struct timing *out)
{
	char one[64], key[96];
	const double both = out->issue.value;
	stand_in(t, "u32", one, sizeof one);
	if (!is_mixture(t, stem) || !known_op(t, one))
		return;
	out->issue = issue_of(t, one, warp);
	snprintf(key, sizeof key, "arith.%s.latency", one);
	out->latency = term_try(t, key, false);
	out->unit = unit_number(m, t, one);
	out->spread = fmin(1, both / out->issue.value);
}

static void time_arithmetic(struct model *m, struct terms *t, const struct ptx_inst *in, double warp,
			    struct predict_class **classes, struct timing *out)
{
	char stem[64], key[96], name[32];
	bool stands_in;
	stem_of(t, in, stem, sizeof stem, &stands_in);
	out->issue = issue_of(t, stem, warp);
	snprintf(key, sizeof key, "arith.%s.latency", stem);
	out->latency = outside_only(t) && outside_known(t, stem)
			   ? outside_latency(t, stem)
			   : term_need(t, key, false, "its result is there when the next instruction can issue");
	out->unit = unit_number(m, t, stem);
	out->spread = 1;
	time_mixture(m, t, stem, warp, out);
	out->part = part_of(t, m, out, stem);
	out->kind = in->type == PTX_F32 && !strstr(out->unit ? m->unit[out->unit] : "", "sfu") ? KIND_SINGLE
		    : in->type == PTX_U32 || in->type == PTX_S32 || in->type == PTX_B32 ? KIND_INTEGER
											: KIND_OTHER;
	snprintf(key, sizeof key, "arith.%s.native_ops", stem);
	const struct term ops = term_try(t, key, false);
	/* What could not be counted is a program with ways of its own: as many instructions as the SM issues while it takes one. */
	const struct finding *counted = findings_get(t->f, key);
	out->turns = ops.there && ops.value > 1 ? ops.value : 1;
	if (counted && counted->verdict == VERDICT_INCONCLUSIVE && m->issue_least > 0)
		out->turns = fmax(1, out->issue.value / m->issue_least);
	/* A 64-bit integer may be two of 32 bits. It is where a compiler translates for registers of 32 bits. */
	bool two = in->type == PTX_U64 || in->type == PTX_S64 || in->type == PTX_B64;
	scale(&out->issue, 1, two && t->compiled ? 2 : 1, two ? 2 : 1);
	scale(&out->latency, 1, two && t->compiled ? 2 : 1, two ? 2 : 1);
	out->turns *= two && t->compiled ? 2 : 1;
	if (t->compiled && scales(in))
		out->turns += SCALING;
	if (t->compiled && in->op == PTX_OP_SHFL && time_exchange(t, warp, out))
		out->unit = unit_named(m, "the exchange of lanes");
	if (stands_in)
		snprintf(name, sizeof name, "%s.%s",
			 in->op == PTX_OP_LD ? "ld.param" : ptx_op_name((enum ptx_op)in->op),
			 ptx_type_name((enum ptx_type)in->type));
	else
		snprintf(name, sizeof name, "%.31s", stem);
	snprintf(key, sizeof key, "arith.%s", stem);
	out->cls = class_of(t, classes, name, key);
	if (out->cls) {
		out->cls->issue = out->issue.value;
		out->cls->latency = out->latency.value;
	}
}

static void time_other(struct terms *t, const struct ptx_inst *in, struct predict_class **classes, struct timing *out)
{
	char name[32];
	if (is_memory(in))
		snprintf(name, sizeof name, "%s.%s", ptx_op_name((enum ptx_op)in->op), space_name(in->space));
	else
		snprintf(name, sizeof name, "%s", ptx_op_name((enum ptx_op)in->op));
	out->cls = class_of(t, classes, name, is_memory(in) ? "memory" : "control");
}

/* The smallest issue latency of any operation: no two instructions of the SM follow each other closer. */
static double least_issue(const struct terms *t)
{
	double least = INFINITY;
	for (size_t k = 0; k < t->f->count; k++) {
		const struct finding *f = &t->f->items[k];
		size_t n = strlen(f->key);
		if (strncmp(f->key, "arith.", 6) != 0 || n < 6 || strcmp(f->key + n - 6, ".issue") != 0)
			continue;
		struct term v = {.there = false};
		if (read_term(f, &v, false) && v.value > 0 && finding_estimated(f))
			least = fmin(least, v.value);
	}
	return isfinite(least) ? least : 0;
}

/* Between two independent instructions of one warp: four chains side by side come no closer than this. */
static void get_gaps(struct model *m, struct terms *t)
{
	static const struct {
		enum timing_kind kind;
		const char *key;
	} chains[] = {{KIND_SINGLE, "pipeline.sp.ilp4.completion"},
		      {KIND_SINGLE, "pipeline.mad.ilp4.completion"},
		      {KIND_INTEGER, "pipeline.int.ilp4.completion"}};
	for (unsigned k = 0; k < sizeof chains / sizeof chains[0]; k++) {
		struct term *gap = &m->kind_gap[chains[k].kind], v = {.there = false};
		if (!read_term(findings_get(t->f, chains[k].key), &v, false) || (gap->there && gap->value <= v.value))
			continue;
		*gap = term_try(t, chains[k].key, false);
		if (!m->warp_gap.there || gap->value < m->warp_gap.value)
			m->warp_gap = *gap;
	}
	if (!m->warp_gap.there)
		m->warp_gap = term_get(t, chains[0].key, false,
				       "independent instructions of one warp are issued as closely as those of many");
}

/* The turn of an instruction that goes out in a pair with another one of its warp. Such pairs show when full pipes of
 * single chains get less than those of several. */
static struct term turn_of_two(struct terms *t)
{
	struct term one = {.there = false}, four = {.there = false};
	if (!read_term(findings_get(t->f, "pipeline.sp.ilp1.issue"), &one, false) ||
	    !read_term(findings_get(t->f, "pipeline.sp.ilp4.issue"), &four, false) ||
	    !(one.value > PAIRED * four.value))
		return (struct term){.there = false};
	return term_try(t, "pipeline.sp.ilp1.issue", false);
}

static bool uses(const struct ptx_func *f, uint8_t space, bool atomic)
{
	for (uint32_t k = 0; k < f->inst_count; k++) {
		const struct ptx_inst *in = &f->insts[k];
		bool is_atomic = in->op == PTX_OP_ATOM || in->op == PTX_OP_RED;
		if (is_memory(in) && is_atomic >= atomic &&
		    (in->space == space || (!in->space && space == PTX_GLOBAL) ||
		     (space == PTX_GLOBAL && (in->space == PTX_LOCAL || in->space == PTX_TEX))))
			return true;
	}
	return false;
}

static bool has_op(const struct ptx_func *f, enum ptx_op op)
{
	for (uint32_t k = 0; k < f->inst_count; k++)
		if (f->insts[k].op == op)
			return true;
	return false;
}

static void get_control(struct model *m, struct terms *t, const struct ptx_func *f)
{
	if (has_op(f, PTX_OP_BAR_SYNC) || has_op(f, PTX_OP_BARRIER_SYNC))
		m->barrier = term_get(t, "barrier.latency", false, "barriers cost only waiting");
	if (!has_op(f, PTX_OP_BRA))
		return;
	m->split = term_try(t, "branch.split", false);
	m->meet = term_try(t, "branch.meet", false);
	const struct term ops = term_try(t, "branch.meet_ops", false);
	m->meet_ops = ops.there ? ops.value : 0;
	/* A bound from above says that nothing of the kind was seen. */
	const struct finding *queue = findings_get(t->f, "branch.split_issue");
	if (m->schedulers_known && queue && finding_estimated(queue))
		m->split_turn = term_try(t, "branch.split_issue", false);
	if (m->schedulers_known)
		m->branch = term_try(t, "branch.issue", false);
	/* A turn is an addition, a comparison and the branch. */
	char stem[64], key[96];
	stand_in(t, "u32", stem, sizeof stem);
	snprintf(key, sizeof key, "arith.%s.latency", stem);
	struct term turn = term_get(t, "branch.turn", false, "branches that are taken cost no more than others"),
		    compare = term_try(t, key, false), add = term_try(t, "arith.add.u32.latency", false);
	add = add.there ? add : compare;
	if (!turn.there || !compare.there)
		return;
	m->turn_extra =
	    (struct term){true, fmax(0, turn.value - add.value - compare.value),
			  fmax(0, turn.fast - add.slow - compare.slow), fmax(0, turn.slow - add.fast - compare.fast)};
}

int model_open(struct model *m, struct terms *t, const struct ptx_func *entry, struct predict_class **classes)
{
	*m = (struct model){.units = 1};
	m->warp_size = said(t, "device.warp_size", t->d->warp_size);
	m->sm_count = said(t, "device.sm_count", t->d->sm_count);
	m->clock_hz = said(t, "device.clock_hz", t->d->clock_hz);
	m->launch = term_need(t, "host.launch_latency", false, "a launch costs nothing");
	m->blocks = term_get(t, "host.block_interval", false, "blocks begin as soon as there is room for them");
	/* Who hands blocks out lies beyond the SMs: it hears of the room and answers no sooner than the L2 answers a load. */
	m->refill = term_try(t, "cache.global.l2.latency", false);
	m->issue_least = least_issue(t);
	const struct term schedulers = term_try(t, "core.schedulers", false);
	m->schedulers_known = schedulers.there && schedulers.value >= 1 && schedulers.value <= MODEL_SCHEDULERS;
	m->schedulers = m->schedulers_known ? (uint32_t)schedulers.value : 1;
	get_gaps(m, t);
	m->turn = turn_of_two(t);
	/* The second one of a pair does not wait for the first: then gaps are those of pairs. */
	for (unsigned k = 0; m->turn.there && k < TIMING_KINDS; k++)
		m->kind_gap[k].there = false;
	m->timing = ARENA_ARRAY(t->a, entry->inst_count + 1, struct timing);
	if (!m->timing)
		return -1;
	double warp = m->warp_size.there ? m->warp_size.value : 0;
	for (uint32_t k = 0; k < entry->inst_count; k++) {
		const struct ptx_inst *in = &entry->insts[k];
		if (is_memory(in) || is_control(in))
			time_other(t, in, classes, &m->timing[k]);
		else
			time_arithmetic(m, t, in, warp, classes, &m->timing[k]);
	}
	if (uses(entry, PTX_GLOBAL, false)) {
		terms_memory(m, t);
		terms_waiting(m, t);
	}
	if (uses(entry, PTX_SHARED, false))
		terms_shared(m, t);
	if (uses(entry, PTX_CONST, false))
		m->constant_latency = term_get(t, "cache.constant.l1.latency", false, "constants are there at once");
	if (uses(entry, PTX_GLOBAL, true)) {
		m->atomic_latency = term_get(t, "atomic.add.latency", false, "an atomic takes as long as a load");
		m->atomic_same =
		    term_need(t, "atomic.add.same_address", false, "atomics on one address do not wait for each other");
		terms_atomics(m, t);
	}
	get_control(m, t, entry);
	terms_cold(m, t);
	terms_parameters(m, t, entry);
	return t->no_memory ? -1 : 0;
}
