#include "base/arena.h"
#include "gpu/sim/sim.h"
#include "known_right.h"
#include "probe/engine.h"
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TRUTHS_MAX  2048
#define PROBES_MOST 64		/* of a list */
#define LOCAL_MOST  (16u << 10) /* bytes of a thread */

struct facts {
	struct fact *fact;
	size_t count;
};

/* What the probes of this version have to find out; a key with a star stands for all that match. An arithmetic key counts
 * when the probe asks for it at all: the descriptions list more operations than it does. */
const char *const score_group[SCORE_GROUPS] = {
    "clock.read_latency",
    "clock.granularity",
    "shared.latency",
    "shared.cached",
    "cache.constant.levels",
    "cache.constant.*.size",
    "cache.constant.*.line",
    "cache.constant.*.ways",
    "cache.constant.*.sets",
    "cache.constant.*.latency",
    "memory.constant.latency",
    "cache.global.levels",
    "cache.global.*.size",
    "cache.global.*.line",
    "cache.global.*.sector",
    "cache.global.*.latency",
    "memory.global.latency",
    "arith.*",
    "unit.*",
    "tlb.*.levels",
    "tlb.*.reach",
    "tlb.*.line",
    "tlb.*.entries",
    "tlb.*.ways",
    "tlb.*.sets",
    "tlb.*.l2.latency",
    "branch.*",
    "barrier.*",
    "clock.scope",
    "cache.constant.*.scope",
    "cache.texture.*.scope",
    "topology.*",
    "regfile.*",
    "device.max_threads_per_block",
    "device.max_*_per_sm",
    "core.schedulers",
    "core.policy",
    "shared.size",
    "shared.per_block",
    "memory.constant.size",
    "cache.texture.levels",
    "cache.texture.*.size",
    "cache.texture.*.line",
    "cache.texture.*.ways",
    "cache.texture.*.sets",
    "cache.texture.*.set_sizes",
    "cache.texture.*.latency",
    "cache.texture.*.shared_with",
    "memory.texture.latency",
    "pipeline.*",
    "memory.*.timed_latency",
    "memory.*.timed_hit",
    "shared.bank*",
    "shared.stride*",
    "memory.coalesce.*",
    "memory.partition*",
    "shared.conflict_cost",
    "shared.broadcast",
    "cache.readonly.*",
    "cache.local.*",
    "cache.global.*.policy",
    "cache.texture.*.policy",
    "cache.constant.*.policy",
    "cache.global.*.mapping",
    "cache.texture.*.mapping",
    "cache.constant.*.mapping",
    "cache.*.replacement_probability",
    "tlb.*.policy",
    "tlb.active_window",
    "outstanding.kind",
    "outstanding.entries",
    "outstanding.merge",
    "outstanding.loads_per_warp",
    "float.*",
    "sfu.*.exact_ratio",
    "atomic.*.latency",
    "host.*.bandwidth",
    "host.mapped.latency",
    "host.overlap",
    "texture.filter.*",
};

int known_read(struct str *to, const char *path)
{
	char part[4096];
	FILE *f = fopen(path, "r");
	if (!f)
		return -errno;
	for (size_t n; (n = fread(part, 1, sizeof part, f)) > 0;)
		str_addn(to, part, n);
	fclose(f);
	return to->failed ? -ENOMEM : 0;
}

bool known_describes(const char *probe)
{
	return strcmp(probe, "workloads") != 0;
}

int known_measure(struct run *r, const struct sim_spec *s, uint64_t seed, struct err *e)
{
	return known_measure_probe(r, s, seed, NULL, e);
}

int known_measure_probe(struct run *r, const struct sim_spec *s, uint64_t seed, const char *probe, struct err *e)
{
	struct gpu *g = NULL;
	struct engine_plan plan = {0};
	char list[1024], *rest = list;
	const char *names[PROBES_MOST];
	size_t count = 0;
	int rc = run_init(r);
	if (rc)
		return err_nomem(e);
	if (probe && (size_t)snprintf(list, sizeof list, "%s", probe) >= sizeof list)
		return err_set(e, -EINVAL, "too many probes: %s", probe);
	for (char *name; probe && count < PROBES_MOST && (name = strsep(&rest, ","));)
		names[count++] = name;
	for (size_t i = 0; !probe && i < probe_count && count < PROBES_MOST; i++)
		if (known_describes(probe_table[i]->name))
			names[count++] = probe_table[i]->name;
	r->seed = seed;
	rc = sim_open_spec(&g, s, seed, e);
	if (rc)
		return rc;
	r->device = *g->ops->info(g);
	rc = probe && strcmp(probe, "quick") == 0 ? engine_plan_quick(&plan, e)
						  : engine_plan(&plan, count ? names : NULL, count, e);
	if (rc == 0)
		rc = engine_measure(r, g, &plan, NULL, e);
	g->ops->close(g);
	mem_free(plan.probes);
	return rc;
}

void score_add(struct score *to, const struct score *one)
{
	to->wrong += one->wrong;
	to->exists += one->exists;
	to->measured += one->measured;
	to->absences += one->absences;
	to->absent += one->absent;
	to->findings += one->findings;
	to->left_out += one->left_out;
	for (unsigned i = 0; i < SCORE_GROUPS; i++) {
		to->group_exists[i] += one->group_exists[i];
		to->group_measured[i] += one->group_measured[i];
	}
}

static int remember(void *ctx, const struct truth *t)
{
	struct facts *f = ctx;
	if (f->count == TRUTHS_MAX)
		return -E2BIG;
	struct fact *x = &f->fact[f->count++];
	snprintf(x->key, sizeof x->key, "%s", t->key);
	snprintf(x->text, sizeof x->text, "%s", t->text ? t->text : "");
	x->absent = t->absent;
	x->number = t->number;
	x->tolerance = t->tolerance;
	x->count = t->count;
	if (t->count) {
		x->array = mem_alloc(t->count * sizeof *x->array);
		if (!x->array)
			return -ENOMEM;
		memcpy(x->array, t->array, t->count * sizeof *x->array);
		qsort(x->array, t->count, sizeof *x->array, known_ascending);
	}
	return 0;
}

/* The operation that stands in for one that the description does not list, as the format says: mulhi.u32 is mul.u32. True: none does but
 * core.default_op, so that what is told of it is no property of the GPU described. */
static bool canonical(const struct sim_spec *s, const char *key, char *out, size_t n)
{
	static const char *const variant[][2] = {
	    {"mulhi", "mul"}, {"mulwide", "mul"}, {"madhi", "mad"}, {"madwide", "mad"}, {"divapprox", "div"}};
	char op[16], type[8], rest[32];
	snprintf(out, n, "%s", key);
	if (sscanf(key, "arith.%15[^.].%7[^.].%31s", op, type, rest) != 3)
		return false;
	int at = spec_find_op(s, op, type);
	for (size_t i = 0; at < 0 && i < sizeof variant / sizeof *variant; i++)
		if (strcmp(op, variant[i][0]) == 0)
			at = spec_find_op(s, variant[i][1], type);
	const bool left_out = at < 0;
	if (left_out)
		at = s->default_op;
	snprintf(out, n, "arith.%s.%s.%s", s->op[at].op, s->op[at].type, rest);
	return left_out;
}

static const struct fact *find_fact(const struct facts *f, const struct sim_spec *s, const char *key)
{
	char name[96];
	canonical(s, key, name, sizeof name);
	for (size_t i = 0; i < f->count; i++)
		if (strcmp(f->fact[i].key, name) == 0)
			return &f->fact[i];
	return NULL;
}

void known_value(char *out, size_t n, const struct finding *f)
{
	if (f->verdict == VERDICT_BOUND)
		snprintf(out, n, "%.10g to %.10g", f->lo, f->hi);
	else if (f->value.kind == VALUE_TEXT)
		snprintf(out, n, "%s", f->value.text);
	else if (f->value.kind == VALUE_NUMBER)
		snprintf(out, n, "%.10g", f->value.number);
	else
		snprintf(out, n, "-");
}

static void truth_text(char *out, size_t n, const struct fact *t)
{
	if (t && t->absent)
		snprintf(out, n, "not there");
	else if (t && t->text[0])
		snprintf(out, n, "%s", t->text);
	else if (t)
		snprintf(out, n, "%.10g", t->number);
	else
		snprintf(out, n, "nothing in the description");
}

/* Whether four loads of each thread of a block, each of another line, are more than an SM's table of requests holds.
 * For a table of instructions it is eight loads of each warp. That many also have to leave before the first of them is
 * back. */
static bool is_fillable(const struct sim_spec *s)
{
	const uint32_t threads = s->max_threads_per_block, limit = s->loads_in_flight ? s->loads_in_flight : UINT32_MAX;
	const uint32_t lines = threads * (limit < 4 ? limit : 4),
		       instructions = threads / s->warp_size * (limit < 8 ? limit : 8);
	const bool prt = s->outstanding == OUTSTANDING_PRT;
	const double requests = (double)s->outstanding_entries / (prt ? 1 : s->warp_size);
	return s->outstanding_entries < (prt ? instructions : lines) &&
	       s->outstanding_entries * s->global.issue + requests * s->global.request < s->global.memory_latency;
}

/* Whether local memory asks a cache that a warp's part of it does not overflow. Half of the memory has to do for all
 * threads that may be resident. */
static bool is_past_local(const struct sim_spec *s, const char *key)
{
	uint64_t most = LOCAL_MOST, threads = (uint64_t)s->sm_count * s->max_threads_per_sm;
	while (most * threads > s->memory_bytes / 2)
		most /= 2;
	const bool past = !s->has_l1 || s->local_past_l1;
	return past && str_starts(key, "cache.local.l1.") && !str_ends(key, "shared_with") &&
	       2 * s->global.level[1].size > most * s->warp_size;
}

/* Whether a key is of a last TLB that reaches over all of the memory. Nothing ever misses there. So neither its shape
 * nor the walk behind it shows, and it may be a level or the walk. */
static bool is_past_memory(const struct sim_spec *s, const char *key)
{
	for (unsigned path = 0; path < TLB_PATHS; path++) {
		const bool own = path == TLB_TEXTURE && s->has_texture && !s->tlb_shared;
		const struct tlb_spec *t = &s->tlb[own ? TLB_TEXTURE : TLB_GLOBAL];
		char stem[32];
		snprintf(stem, sizeof stem, "tlb.%s.", path == TLB_TEXTURE ? "texture" : "global");
		if (!str_starts(key, stem) || !t->levels || t->level[t->levels - 1].size < s->memory_bytes)
			continue;
		snprintf(stem + strlen(stem), sizeof stem - strlen(stem), "l%u.", t->levels);
		return str_starts(key, stem) || str_ends(key, ".levels") || str_ends(key, ".miss_latency");
	}
	return false;
}

/* Whether so few warps part on a scheduler that the last one need not wait for the first; or the instructions take as long. */
static bool is_parted(const struct sim_spec *s)
{
	const double warps = s->max_threads_per_block / s->warp_size / 4 * 4 / (double)s->schedulers,
		     way = s->branch_split + 2 * s->branch_latency;
	return warps * s->branch_split_issue < 1.5 * way || s->branch_split_issue < 16 * s->scheduler_issue;
}

/* Whether so few warps branch on a scheduler that each one's own way takes nearly as long; or their instructions do. */
static bool is_unhurried(const struct sim_spec *s)
{
	const double warps = s->max_threads_per_block / s->warp_size / 4 * 4 / (double)s->schedulers,
		     way = s->branch_meet + 2 * s->branch_latency;
	return warps * (2.25 + s->branch_meet_ops) * s->branch_issue < 2 * way ||
	       s->branch_issue < 2 * s->scheduler_issue;
}

/* Whether a fact cannot be told: a limit that is not there, pipes behind the issue rate, clusters that share nothing. A
 * level that holds the whole constant memory, or an L2 that does, hides its structure and what lies behind it from all
 * loads. */
static bool is_hidden(const struct sim_spec *s, const char *key)
{
	static const char *const hidden[] = {
	    "size", "ways", "sets", "scope", "policy", "mapping", "replacement_probability"};
	if (strcmp(key, "regfile.max_per_thread") == 0 || str_starts(key, "regfile.least_used"))
		return !s->regfile.max_per_thread;
	/* As many lanes as a warp has: more never ask for one line at once. And a table that no block fills. */
	if (strcmp(key, "outstanding.merge") == 0 && s->outstanding_merge >= s->warp_size)
		return true;
	if (str_starts(key, "outstanding.") && strcmp(key, "outstanding.loads_per_warp") != 0 && !is_fillable(s))
		return true;
	if (known_unit_hidden(s, key, UNIT_ASKED))
		return true;
	if (strcmp(key, "branch.split_issue") == 0 && is_parted(s))
		return true;
	if (strcmp(key, "branch.issue") == 0 && is_unhurried(s))
		return true;
	/* A cache answers what is asked for again. */
	if (str_starts(key, "memory.partition") &&
	    (s->memory_partitions < 2 || s->partition_mapping != MAP_MODULO || s->has_l1 || s->has_l2))
		return true;
	if (is_past_local(s, key) || is_past_memory(s, key))
		return true;
	bool told = s->clock_scope == SCOPE_CLUSTER;
	if (strcmp(key, "topology.block_order") == 0 && (s->block_order == ORDER_FILL || !told))
		return s->block_order != ORDER_FILL;
	for (uint32_t i = 0; i < s->constant.levels; i++)
		told |= s->constant.level[i].scope == SCOPE_CLUSTER && s->constant.level[i].size < s->constant_bytes;
	/* Clusters are seen by what some SMs share and others do not. */
	if (str_starts(key, "topology.") && (!told || s->sm_per_cluster == 1 || s->cluster_count == 1))
		return true;
	const bool held = s->constant_uses_l2 && s->global.level[1].size >= s->constant_bytes;
	if (held && strcmp(key, "memory.constant.latency") == 0)
		return true;
	for (uint32_t i = 0; i < s->constant.levels; i++) {
		if (s->constant.level[i].size < s->constant_bytes)
			continue;
		char name[96];
		for (size_t k = 0; k < sizeof hidden / sizeof hidden[0]; k++) {
			snprintf(name, sizeof name, "cache.constant.l%u.%s", i + 1, hidden[k]);
			if (strcmp(name, key) == 0)
				return true;
		}
		if (strcmp(key, "memory.constant.latency") == 0)
			return true;
	}
	return false;
}

/* The key's group, or -1: nobody asked for it. */
static int group_of(const struct run *r, const char *key)
{
	for (int i = 0; i < SCORE_GROUPS; i++) {
		if (!str_glob(score_group[i], key))
			continue;
		const struct finding *f = findings_get(&r->findings, key);
		if (!f && r->probe_count + 1 < probe_count) /* all but one are described */
			return -1;
		return str_starts(key, "arith.") && (!f || f->verdict == VERDICT_UNSUPPORTED) ? -1 : i;
	}
	return -1;
}

enum answer known_answer_of(enum verdict v, bool right)
{
	const bool likely = v == VERDICT_LIKELY;
	if (v == VERDICT_INCONCLUSIVE)
		return ANSWER_INCONCLUSIVE;
	if (v == VERDICT_UNSUPPORTED || v == VERDICT_FAILED)
		return ANSWER_SILENT;
	if (!right)
		return likely ? ANSWER_UNLIKELY : ANSWER_WRONG;
	return likely ? ANSWER_LIKELY : v == VERDICT_BOUND ? ANSWER_BOUND : ANSWER_RIGHT;
}

/* A level that is not there is told by the number of levels; only global l1 and l2 have verdicts. And a texture covers only a part of a
 * large memory, in which TLBs may be. */
static bool is_asked(const struct sim_spec *s, const struct fact *t)
{
	if (is_hidden(s, t->key) || isinf(t->number))
		return false;
	return !t->absent || strcmp(t->key, "cache.global.l1.size") == 0 ||
	       strcmp(t->key, "cache.global.l2.size") == 0 ||
	       (strstr(t->key, ".levels") && strcmp(t->key, "tlb.texture.levels") != 0);
}

static void judge(struct known_answer *a, const struct sim_spec *s, const struct fact *t)
{
	const struct finding *f = a->finding;
	char name[96];
	bool right = true;
	a->left_out = canonical(s, a->key, name, sizeof name) && f && finding_estimated(f);
	a->composed = f && known_composed(s, f, &right);
	/* What the description does not know cannot be called right. What cannot be told is not MEASURED, be it right by luck: or more can be told
	 * than is thought. It may be estimated. */
	if (f && !a->composed)
		right = t && known_right(f, t, s) &&
			!(f->verdict == VERDICT_MEASURED && known_unit_hidden(s, a->key, UNIT_SHOWN));
	a->answer = f ? known_answer_of(f->verdict, right) : ANSWER_SILENT;
	a->absent = t && t->absent;
	truth_text(a->truth, sizeof a->truth, a->composed ? NULL : t);
}

/* What is asked for, in the order of the description, and then all other findings of probes that it says something of. */
static int each_answer(const struct facts *facts, const struct run *r, const struct sim_spec *s, known_each_fn *each,
		       void *ctx)
{
	bool *done = mem_zero(r->findings.count + 1, sizeof *done);
	int rc = done ? 0 : -ENOMEM;
	for (size_t i = 0; rc == 0 && i < facts->count; i++) {
		const struct fact *t = &facts->fact[i];
		const struct finding *f = findings_get(&r->findings, t->key);
		struct known_answer a = {.key = t->key, .finding = f, .group = group_of(r, t->key)};
		if (a.group < 0 || !is_asked(s, t))
			continue;
		if (f)
			done[f - r->findings.items] = true;
		judge(&a, s, t);
		rc = each(ctx, &a);
	}
	for (size_t i = 0; rc == 0 && i < r->findings.count; i++) {
		struct known_answer a = {
		    .key = r->findings.items[i].key, .finding = &r->findings.items[i], .group = -1};
		if (done[i] || !known_describes(a.finding->probe))
			continue;
		judge(&a, s, find_fact(facts, s, a.key));
		rc = each(ctx, &a);
	}
	mem_free(done);
	return rc;
}

int known_each(const struct run *r, const struct sim_spec *s, known_each_fn *each, void *ctx)
{
	struct facts facts = {mem_zero(TRUTHS_MAX, sizeof(struct fact)), 0};
	if (!facts.fact)
		return -ENOMEM;
	int rc = spec_truth(s, remember, &facts);
	if (rc == 0)
		rc = each_answer(&facts, r, s, each, ctx);
	for (size_t i = 0; i < facts.count; i++)
		mem_free(facts.fact[i].array);
	mem_free(facts.fact);
	return rc;
}

void known_line(struct str *to, const char *label, const struct known_answer *a)
{
	const struct finding *f = a->finding;
	char value[80] = "-";
	if (f)
		known_value(value, sizeof value, f);
	str_addf(to, "%-12s %-32s %-12s %-16s truth %-12s %s\n", label, a->key,
		 f ? verdict_name(f->verdict) : "no finding", value, a->truth, f ? f->because : "");
}

struct scoring {
	struct score *out;
	const char *label;
	struct str *wrong, *missed;
};

static int score_answer(void *ctx, const struct known_answer *a)
{
	const struct scoring *x = ctx;
	struct score *o = x->out;
	o->findings += a->finding && !a->composed;
	o->left_out += a->left_out;
	if (a->answer == ANSWER_WRONG) {
		o->wrong++;
		known_line(x->wrong, x->label, a);
	}
	if (a->group < 0)
		return 0;
	const bool measured = a->finding && a->finding->verdict == VERDICT_MEASURED;
	if (a->absent) {
		o->absences++;
		o->absent += a->answer == ANSWER_RIGHT;
	} else {
		o->exists++;
		o->group_exists[a->group]++;
		o->measured += a->answer == ANSWER_RIGHT;
		o->group_measured[a->group] += a->answer == ANSWER_RIGHT;
	}
	if (a->answer != ANSWER_RIGHT && (a->absent || !measured))
		known_line(x->missed, x->label, a);
	return 0;
}

int known_score(struct score *out, const struct run *r, const struct sim_spec *s, const char *label, struct str *wrong,
		struct str *missed)
{
	struct scoring x = {out, label, wrong, missed};
	*out = (struct score){0};
	int rc = known_each(r, s, score_answer, &x);
	return rc ? rc : wrong->failed || missed->failed ? -ENOMEM : 0;
}
