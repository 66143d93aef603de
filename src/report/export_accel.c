/* Options of Accel-Sim, as its documents and tested configurations name them: those that a run tells. They go behind a base's own files, which set
 * everything else; the options' parser takes the last value that it reads. */
#include "report/render.h"
#include "report/report_export.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

#define COUNT_OF(a)	(sizeof(a) / sizeof *(a))
#define BASE		"SM7_QV100" /* of Accel-Sim's tested configurations: the one that the parts below are of */
#define BASE_UNITS	4	    /* of each kind in an SM */
#define BASE_PARTITIONS 64	    /* of the L2: 32 channels of two */
#define BASE_WAYS	16	    /* at least, of what is left when the sets of an L2's part are a power of two */
#define TUPLE		6

struct writer {
	struct str *out;
	const struct run *r;
};

/* A number that is estimated or bounded, or NULL. */
static const struct finding *number(const struct run *r, const char *key, double *v)
{
	const struct finding *f = findings_get(&r->findings, key);
	if (f && finding_estimated(f) && f->value.kind == VALUE_NUMBER)
		*v = f->value.number;
	else if (f && f->verdict == VERDICT_BOUND && (isfinite(f->lo) || isfinite(f->hi)))
		*v = isfinite(f->lo) ? f->lo : f->hi;
	else
		return NULL;
	return *v > 0 ? f : NULL;
}

static const char *how(const struct finding *f)
{
	return f->verdict == VERDICT_MEASURED ? "measured" : f->verdict == VERDICT_LIKELY ? "estimate" : "bound";
}

static void left_to_base(const struct writer *w, const char *option, const char *key)
{
	const struct finding *f = findings_get(&w->r->findings, key);
	str_addf(w->out, "# %s: taken from %s; %s is %s\n", option, BASE, key,
		 f && f->verdict == VERDICT_ABSENT ? "ABSENT" : "not known");
}

/* ---- one number ---- */

static void scalars(const struct writer *w)
{
	static const struct {
		const char *option, *key, *less; /* less: what is taken off, or NULL */
		double scale;
	} of[] = {{"-gpgpu_n_clusters", "device.sm_count", NULL, 1},
		  {"-gpgpu_shader_registers", "regfile.registers_per_sm", NULL, 1},
		  {"-gpgpu_shader_cta", "device.max_blocks_per_sm", NULL, 1},
		  {"-gpgpu_num_sched_per_core", "core.schedulers", NULL, 1},
		  {"-gpgpu_shmem_num_banks", "shared.banks", NULL, 1},
		  {"-gpgpu_shmem_size", "shared.size", NULL, 1},
		  {"-gpgpu_shmem_sizeDefault", "shared.size", NULL, 1},
		  {"-gpgpu_shmem_per_block", "shared.per_block", NULL, 1},
		  {"-gpgpu_smem_latency", "shared.latency", NULL, 1},
		  {"-gpgpu_unified_l1d_size", "cache.global.l1.size", NULL, 1.0 / 1024},
		  {"-gpgpu_l1_latency", "cache.global.l1.latency", NULL, 1},
		  {"-gpgpu_l2_rop_latency", "cache.global.l2.latency", "cache.global.l1.latency", 1},
		  {"-dram_latency", "memory.global.latency", "cache.global.l2.latency", 1}};
	for (size_t i = 0; i < COUNT_OF(of); i++) {
		double v = NAN, less = 0;
		const struct finding *f = number(w->r, of[i].key, &v),
				     *g = of[i].less ? number(w->r, of[i].less, &less) : f;
		if (!f || !g || !(v > less)) {
			left_to_base(w, of[i].option, f && !g ? of[i].less : of[i].key);
			continue;
		}
		str_addf(w->out, "%s %.0f # %s: %s", of[i].option, round((v - less) * of[i].scale), how(f), of[i].key);
		if (of[i].less)
			str_addf(w->out, ", less %s (%s)", of[i].less, how(g));
		str_addc(w->out, '\n');
	}
}

/* What the driver tells of the device, and what follows from it. */
static void device(const struct writer *w)
{
	const struct device_info *d = &w->r->device;
	double hz = NAN, launch = NAN;
	const struct finding *clock = number(w->r, "device.clock_hz", &hz),
			     *cost = number(w->r, "host.launch_latency", &launch),
			     *policy = findings_get(&w->r->findings, "core.policy");
	str_addf(w->out,
		 "-gpgpu_compute_capability_major %d # told by the driver\n-gpgpu_compute_capability_minor %d # told "
		 "by the driver\n"
		 "-gpgpu_ptx_force_max_capability %d # told by the driver\n-gpgpu_n_cores_per_cluster 1 # as in %s\n"
		 "-gpgpu_registers_per_block %u # told by the driver\n-gpgpu_shader_core_pipeline %u:%u # told by the "
		 "driver\n",
		 d->cc / 10, d->cc % 10, d->cc, BASE, d->registers_per_block, d->max_threads_per_sm, d->warp_size);
	if (clock)
		str_addf(w->out,
			 "-gpgpu_clock_domains %.1f:%.1f:%.1f:850.0 # %s: device.clock_hz; the DRAM's taken from %s\n",
			 hz / 1e6, hz / 1e6, hz / 1e6, how(clock), BASE);
	else
		left_to_base(w, "-gpgpu_clock_domains", "device.clock_hz");
	if (clock && cost)
		str_addf(w->out, "-gpgpu_kernel_launch_latency %.0f # %s: host.launch_latency\n", launch * hz,
			 how(cost));
	else
		left_to_base(w, "-gpgpu_kernel_launch_latency", "host.launch_latency");
	if (policy && finding_estimated(policy) &&
	    (strcmp(policy->value.text, "greedy") == 0 || strcmp(policy->value.text, "round_robin") == 0))
		str_addf(w->out, "-gpgpu_scheduler %s # %s: core.policy\n",
			 strcmp(policy->value.text, "greedy") ? "lrr" : "gto", how(policy));
	else
		left_to_base(w, "-gpgpu_scheduler", "core.policy");
}

/* ---- operations ---- */

struct tuple {
	const char *option;
	const char *op[TUPLE];			  /* arith.<op>; NULL: there is no such operation in a run */
	double latency[TUPLE], initiation[TUPLE]; /* of the base */
};

/* Cycles between two warp instructions of one of the base's units, which give the throughput together. */
static const struct finding *initiation(const struct run *r, const char *op, double *v)
{
	char key[96];
	double rate;
	snprintf(key, sizeof(key), "%s.throughput", op);
	const struct finding *f = number(r, key, &rate);
	if (f)
		*v = fmax(1, round(r->device.warp_size * BASE_UNITS / rate));
	return f;
}

static const struct finding *latency(const struct run *r, const char *op, double *v)
{
	char key[96];
	snprintf(key, sizeof(key), "%s.latency", op);
	const struct finding *f = number(r, key, v);
	if (f)
		*v = round(*v);
	return f;
}

/* Numbers with commas between them, and behind them what each is. */
static void tuple(const struct writer *w, const char *prefix, const struct tuple *t, bool interval)
{
	struct str said;
	unsigned n = 0;
	str_init(&said);
	str_addf(w->out, "%s%s ", prefix, t->option);
	for (; n < TUPLE && (t->op[n] || t->latency[n] > 0); n++) {
		double v = interval ? t->initiation[n] : t->latency[n];
		const struct finding *f = NULL;
		if (t->op[n])
			f = interval ? initiation(w->r, t->op[n], &v) : latency(w->r, t->op[n], &v);
		str_addf(w->out, "%s%.0f", n ? "," : "", v);
		if (f)
			str_addf(&said, "%s%s: %s", n ? "; " : "", how(f), f->key);
		else
			str_addf(&said, "%staken from %s", n ? "; " : "", BASE);
	}
	w->out->failed |= said.failed;
	str_addf(w->out, " # %s\n", str_text(&said));
	str_free(&said);
}

/* ADD,MAX,MUL,MAD,DIV, and SHFL for integers. */
static const struct tuple tuples[] = {
    {"int",
     {"arith.add.s32", "arith.max.s32", "arith.mul.s32", "arith.mad.s32", "arith.div.s32", NULL},
     {4, 13, 4, 5, 145, 21},
     {2, 2, 2, 2, 8, 4}},
    {"fp",
     {"arith.add.f32", "arith.max.f32", "arith.mul.f32", "arith.mad.f32", "arith.div.f32"},
     {4, 13, 4, 5, 39},
     {2, 2, 2, 2, 4}},
    {"dp",
     {"arith.add.f64", "arith.max.f64", "arith.mul.f64", "arith.mad.f64", "arith.div.f64"},
     {8, 19, 8, 8, 330},
     {4, 4, 4, 4, 130}},
    {"sfu", {"unit.sfu"}, {100}, {8}}};

static void operations(const struct writer *w)
{
	for (size_t i = 0; i < COUNT_OF(tuples); i++) {
		tuple(w, "-ptx_opcode_latency_", &tuples[i], false);
		tuple(w, "-ptx_opcode_initiation_", &tuples[i], true);
	}
}

/* The trace front end has one latency and interval a unit: of its additions. */
static void trace(const struct writer *w)
{
	static const struct {
		const char *option, *op;
	} of[] = {{"int", "arith.add.s32"}, {"sp", "arith.add.f32"}, {"dp", "arith.add.f64"}, {"sfu", "unit.sfu"}};
	for (size_t i = 0; i < COUNT_OF(of); i++) {
		char option[64];
		double cycles, interval;
		const struct finding *f = latency(w->r, of[i].op, &cycles), *g = initiation(w->r, of[i].op, &interval);
		snprintf(option, sizeof(option), "-trace_opcode_latency_initiation_%s", of[i].option);
		if (f && g)
			str_addf(w->out, "%s %.0f,%.0f # %s: %s; %s: %s\n", option, cycles, interval, how(f), f->key,
				 how(g), g->key);
		else
			left_to_base(w, option, of[i].op);
	}
}

/* ---- caches ---- */

/* sets:line:ways, with the base's policies around them. */
static void geometry(const struct writer *w, const char *option, const char *level, const char *before,
		     const char *after)
{
	static const char *const what[] = {"sets", "line", "ways"};
	const struct finding *f[3];
	double v[3];
	for (unsigned i = 0; i < 3; i++) {
		char key[96];
		snprintf(key, sizeof(key), "%s.%s", level, what[i]);
		f[i] = number(w->r, key, &v[i]);
		if (!f[i]) {
			left_to_base(w, option, key);
			return;
		}
	}
	str_addf(w->out, "%s %s:%.0f:%.0f:%.0f,%s # %s: %s.sets; %s: line; %s: ways; policies taken from %s\n", option,
		 before, v[0], v[1], v[2], after, how(f[0]), level, how(f[1]), how(f[2]), BASE);
}

/* The L2 is of as many parts as the base has; the sets of a part are a power of two. */
static void second_level(const struct writer *w)
{
	double size, line = 128;
	const struct finding *f = number(w->r, "cache.global.l2.size", &size),
			     *g = number(w->r, "cache.global.l2.line", &line);
	double sets = 1;
	if (!f) {
		left_to_base(w, "-gpgpu_cache:dl2", "cache.global.l2.size");
		return;
	}
	while (size / BASE_PARTITIONS / line / (2 * sets) >= BASE_WAYS)
		sets *= 2;
	str_addf(w->out,
		 "-gpgpu_cache:dl2 S:%.0f:%.0f:%.0f,L:B:m:L:P,A:192:4,32:0,32 # %s: cache.global.l2.size, in %d parts; "
		 "line %s; policies taken "
		 "from %s\n",
		 sets, line, fmax(1, round(size / BASE_PARTITIONS / line / sets)), how(f), BASE_PARTITIONS,
		 g ? how(g) : "taken from " BASE, BASE);
}

int export_accel_sim(struct str *out, const struct run *r, struct err *e)
{
	const struct writer w = {out, r};
	str_add(out, "# What fathom found of ");
	render_clean(out, r->device.name, true);
	str_addf(out,
		 ", for Accel-Sim. Give it behind the base that it completes:\n"
		 "#   accel-sim.out -trace ... -config %s/gpgpusim.config -config %s/trace.config -config THIS\n"
		 "# The last value of an option counts. A line says measured, estimate or bound, and the finding that "
		 "it follows from.\n"
		 "\n# ---- gpgpusim.config ----\n",
		 BASE, BASE);
	device(&w);
	scalars(&w);
	operations(&w);
	geometry(&w, "-gpgpu_cache:dl1", "cache.global.l1", "S", "L:T:m:L:L,A:512:8,16:0,32");
	second_level(&w);
	geometry(&w, "-gpgpu_const_cache:l1", "cache.constant.l1", "N", "L:R:f:N:L,S:2:64,4");
	geometry(&w, "-gpgpu_cache:il1", "cache.instruction.l1", "N", "L:R:f:N:L,S:2:48,4");
	geometry(&w, "-gpgpu_tex_cache:l1", "cache.texture.l1", "N", "L:R:m:N:L,T:512:8,128:2");
	str_add(out, "\n# ---- trace.config ----\n");
	trace(&w);
	return out->failed ? err_nomem(e) : 0;
}
