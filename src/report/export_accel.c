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
#define BASE_L1		128	    /* KB of it and of shared memory together */
#define BASE_SHARED	98304
#define BASE_SETS	4    /* of the L1 */
#define SECTORED	128  /* bytes of a line that has sectors */
#define PORT		32   /* bytes that a cache moves in a cycle */
#define HASHED_LEAST	16   /* sets that the L2's hash knows ... */
#define HASHED_MOST	64   /* ... at most */
#define THREADS_MOST	2048 /* of an SM, and ... */
#define WARP_MOST	32   /* ... of a warp: what its tables have room for */
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
	} of[] = {{"-gpgpu_n_clusters", "device.sm_count", NULL},
		  {"-gpgpu_shader_registers", "regfile.registers_per_sm", NULL},
		  {"-gpgpu_shader_cta", "device.max_blocks_per_sm", NULL},
		  {"-gpgpu_num_sched_per_core", "core.schedulers", NULL},
		  {"-gpgpu_shmem_num_banks", "shared.banks", NULL},
		  {"-gpgpu_shmem_size", "shared.size", NULL},
		  {"-gpgpu_shmem_sizeDefault", "shared.size", NULL},
		  {"-gpgpu_shmem_per_block", "shared.per_block", NULL},
		  {"-gpgpu_smem_latency", "shared.latency", NULL},
		  {"-gpgpu_l1_latency", "cache.global.l1.latency", NULL},
		  {"-gpgpu_l2_rop_latency", "cache.global.l2.latency", "cache.global.l1.latency"},
		  {"-dram_latency", "memory.global.latency", "cache.global.l2.latency"}};
	for (size_t i = 0; i < COUNT_OF(of); i++) {
		double v = NAN, less = 0;
		const struct finding *f = number(w->r, of[i].key, &v),
				     *g = of[i].less ? number(w->r, of[i].less, &less) : f;
		if (!f || !g || !(v > less)) {
			left_to_base(w, of[i].option, f && !g ? of[i].less : of[i].key);
			continue;
		}
		str_addf(w->out, "%s %.0f # %s: %s", of[i].option, round(v - less), how(f), of[i].key);
		if (of[i].less)
			str_addf(w->out, ", less %s (%s)", of[i].less, how(g));
		str_addc(w->out, '\n');
	}
}

static unsigned least(unsigned a, unsigned b)
{
	return a < b ? a : b;
}

/* What the driver tells of the device, and what follows from it. */
static void device(const struct writer *w)
{
	const struct device_info *d = &w->r->device;
	double hz = NAN, launch = NAN;
	const struct finding *clock = number(w->r, "device.clock_hz", &hz),
			     *cost = number(w->r, "host.launch_latency", &launch),
			     *policy = findings_get(&w->r->findings, "core.policy");
	const bool cut = d->max_threads_per_sm > THREADS_MOST || d->warp_size > WARP_MOST;
	str_addf(w->out,
		 "-gpgpu_compute_capability_major %d # told by the driver\n-gpgpu_compute_capability_minor %d # told "
		 "by the driver\n"
		 "-gpgpu_ptx_force_max_capability %d # told by the driver\n-gpgpu_n_cores_per_cluster 1 # as in %s\n"
		 "-gpgpu_registers_per_block %u # told by the driver\n-gpgpu_shader_core_pipeline %u:%u # told by the "
		 "driver%s\n",
		 d->cc / 10, d->cc % 10, d->cc, BASE, d->registers_per_block,
		 least(d->max_threads_per_sm, THREADS_MOST), least(d->warp_size, WARP_MOST),
		 cut ? ", cut to what the simulator has room for" : "");
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
	double schedulers;
	if (!number(w->r, "core.schedulers", &schedulers))
		left_to_base(w, "-gpgpu_sub_core_model", "core.schedulers");
	else if (schedulers == BASE_UNITS)
		str_addf(w->out, "-gpgpu_sub_core_model 1 # as in %s\n", BASE);
	else
		str_addf(w->out, "-gpgpu_sub_core_model 0 # as %.0f schedulers cannot have a part each of %d units\n",
			 schedulers, BASE_UNITS);
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

/* Its caches' sets are a power of two: what else divides their number becomes ways. */
struct shape {
	double sets, line, ways;
	const struct finding *from[3]; /* of each; NULL: not known */
};

static const char *const parts[] = {"sets", "line", "ways"};

static struct shape shape_of(const struct writer *w, const char *level)
{
	struct shape s = {0};
	double *const v[] = {&s.sets, &s.line, &s.ways};
	for (unsigned i = 0; i < COUNT_OF(parts); i++) {
		char key[96];
		snprintf(key, sizeof(key), "%s.%s", level, parts[i]);
		s.from[i] = number(w->r, key, v[i]);
	}
	double even = 1;
	while (s.sets >= 1 && fmod(s.sets, 2 * even) == 0)
		even *= 2;
	if (s.sets >= 1) {
		s.ways *= s.sets / even;
		s.sets = even;
	}
	return s;
}

/* sets:line:ways, with the base's policies around them. */
static void geometry(const struct writer *w, const char *option, const char *level, const char *after)
{
	const struct shape s = shape_of(w, level);
	for (unsigned i = 0; i < COUNT_OF(parts); i++)
		if (!s.from[i]) {
			char key[96];
			snprintf(key, sizeof(key), "%s.%s", level, parts[i]);
			left_to_base(w, option, key);
			return;
		}
	str_addf(w->out, "%s N:%.0f:%.0f:%.0f,%s # %s: %s.sets; %s: line; %s: ways; policies taken from %s\n", option,
		 s.sets, s.line, s.ways, after, how(s.from[0]), level, how(s.from[1]), how(s.from[2]), BASE);
}

/* Sectors are the quarters of a line of 128 bytes, and nothing else. */
static char kind_of(double line)
{
	return line == SECTORED ? 'S' : 'N';
}

/* The first level, and as many KB of it as shared memory may take: both have to agree. */
static void first_level(const struct writer *w)
{
	static const char size_key[] = "cache.global.l1.size", l1[] = "-gpgpu_cache:dl1",
			  unified[] = "-gpgpu_unified_l1d_size";
	struct shape s = shape_of(w, "cache.global.l1");
	double size = 0, shared = BASE_SHARED, room = BASE_L1;
	const struct finding *f = number(w->r, size_key, &size), *all = number(w->r, "shared.size", &shared);
	if (!s.from[1])
		s.line = SECTORED;
	if (!s.from[0] || !s.from[2]) {
		s.sets = BASE_SETS;
		s.ways = round(size / s.line / s.sets);
	}
	const double held = floor(s.sets * s.line * s.ways / 1024);
	if (f && held >= 1) {
		room = held;
		str_addf(w->out, "%s %.0f # %s: %s\n", unified, room, how(f), size_key);
		str_addf(w->out,
			 "%s %c:%.0f:%.0f:%.0f,L:T:m:L:L,A:512:8,16:0,%.0f # %s: %s; line %s; policies taken from %s\n",
			 l1, kind_of(s.line), s.sets, s.line, s.ways, fmin(s.line, PORT), how(f), size_key,
			 s.from[1] ? how(s.from[1]) : "taken from " BASE, BASE);
	} else {
		left_to_base(w, unified, size_key);
		left_to_base(w, l1, size_key);
	}
	const bool absent = !f && findings_get(&w->r->findings, size_key) &&
			    findings_get(&w->r->findings, size_key)->verdict == VERDICT_ABSENT;
	str_addf(w->out, "-gpgpu_gmem_skip_L1D %d # %s\n", absent,
		 absent ? "measured: cache.global.l1.size is ABSENT" : "as in " BASE);
	shared = ceil(shared / 1024);
	if (absent || shared > room) {
		str_addf(
		    w->out,
		    "-gpgpu_adaptive_cache_config 0 # as %.0f KB of shared memory are not part of the first level\n",
		    shared);
		left_to_base(w, "-gpgpu_shmem_option", size_key);
		return;
	}
	static const double option[] = {0, 8, 16, 32, 64, 96};
	str_addf(w->out, "-gpgpu_adaptive_cache_config 1 # as in %s\n-gpgpu_shmem_option ", BASE);
	for (size_t i = 0; i < COUNT_OF(option) && option[i] < shared; i++)
		str_addf(w->out, "%.0f,", option[i]);
	str_addf(w->out, "%.0f # ", shared);
	if (all)
		str_addf(w->out, "%s: shared.size; ", how(all));
	str_addf(w->out, "taken from %s\n", BASE);
}

/* The L2 is of as many parts as the base has. Its hash knows 16, 32 and 64 sets; fewer are chosen by the address. */
static void second_level(const struct writer *w)
{
	double size, line = SECTORED, sets = 1;
	const struct finding *f = number(w->r, "cache.global.l2.size", &size),
			     *g = number(w->r, "cache.global.l2.line", &line);
	if (!f) {
		left_to_base(w, "-gpgpu_cache:dl2", "cache.global.l2.size");
		return;
	}
	while (sets < HASHED_MOST && size / BASE_PARTITIONS / line / (2 * sets) >= BASE_WAYS)
		sets *= 2;
	str_addf(
	    w->out,
	    "-gpgpu_cache:dl2 %c:%.0f:%.0f:%.0f,L:B:m:L:%c,A:192:4,32:0,%.0f # %s: cache.global.l2.size, in %d parts; "
	    "line %s; policies taken from %s\n",
	    kind_of(line), sets, line, fmax(1, round(size / BASE_PARTITIONS / line / sets)),
	    sets >= HASHED_LEAST ? 'P' : 'L', fmin(line, PORT), how(f), BASE_PARTITIONS,
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
	first_level(&w);
	second_level(&w);
	geometry(&w, "-gpgpu_const_cache:l1", "cache.constant.l1", "L:R:f:N:L,S:2:64,4");
	geometry(&w, "-gpgpu_cache:il1", "cache.instruction.l1", "L:R:f:N:L,S:2:48,4");
	geometry(&w, "-gpgpu_tex_cache:l1", "cache.texture.l1", "L:R:m:N:L,T:512:8,128:2");
	str_add(out, "\n# ---- trace.config ----\n");
	trace(&w);
	return out->failed ? err_nomem(e) : 0;
}
