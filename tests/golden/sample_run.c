#include "sample_run.h"
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static const struct device_info device = {
    .backend = "sim",
    .spec = "sim:sample",
    .name = "Sample GPU",
    .uuid = "sim-0123456789abcdef",
    .driver = "fathom 0.1.0",
    .dialect = "ptx",
    .target = "sm_13",
    .ptx_version = 14,
    .cc = 13,
    .sm_count = 30,
    .warp_size = 32,
    .max_threads_per_block = 512,
    .max_threads_per_sm = 1024,
    .registers_per_block = 16384,
    .shared_per_block = 16384,
    .constant_bytes = 65536,
    .memory_bytes = 1073741824,
    .clock_hz = 1.296e9,
    .has_f64 = true,
};

static int finding(struct run *r, const char *key, enum verdict v, double value, double lo, double hi, const char *unit,
		   const char *method, const char *because)
{
	struct finding f = {.verdict = v, .lo = lo, .hi = hi};
	snprintf(f.key, sizeof(f.key), "%s", key);
	snprintf(f.unit, sizeof(f.unit), "%s", unit);
	snprintf(f.method, sizeof(f.method), "%s", method);
	snprintf(f.because, sizeof(f.because), "%s", because);
	snprintf(f.probe, sizeof(f.probe), "%s",
		 strncmp(key, "arith", 5) == 0	 ? "arithmetic"
		 : strncmp(key, "clock", 5) == 0 ? "clock"
		 : strstr(key, "constant")	 ? "constant"
		 : strstr(key, "shared")	 ? "shared"
						 : "global");
	if (v == VERDICT_MEASURED || v == VERDICT_BOUND) {
		f.value = (struct value){.kind = isnan(value) ? VALUE_NONE : VALUE_NUMBER,
					 .number = isnan(value) ? 0 : value};
		snprintf(f.scope, sizeof(f.scope), "sm");
		snprintf(f.evidence[f.evidence_count++], sizeof(f.evidence[0]), "chase");
	}
	return findings_add(&r->findings, &f);
}

static int text(struct run *r, const char *key, const char *value, const char *unit, const char *method)
{
	if (finding(r, key, VERDICT_MEASURED, 0, NAN, NAN, unit, method, ""))
		return -ENOMEM;
	struct finding f = *findings_get(&r->findings, key);
	f.value = (struct value){.kind = VALUE_TEXT};
	snprintf(f.value.text, sizeof(f.value.text), "%s", value);
	return findings_add(&r->findings, &f);
}

static int measured(struct run *r, const char *key, double v, double spread, const char *unit, const char *method)
{
	return finding(r, key, VERDICT_MEASURED, v, v - spread, v + spread, unit, method, "");
}

static int arithmetic(struct run *r)
{
	static const struct {
		const char *op;
		double latency, throughput, issue, native;
	} rows[] = {{"add.u32", 24, 8, 4, 1}, {"mul.u32", 96, 2.07, 15.5, 4}, {"div.u32", 608, 0.28, 114, 0},
		    {"mad.f32", 24, 8, 4, 1}, {"rsqrt.f32", 28, 2, 16, 1},    {"add.f64", 48, 1, 32, 1}};
	char key[96];
	int code = 0;
	for (size_t i = 0; code == 0 && i < sizeof rows / sizeof *rows; i++) {
		snprintf(key, sizeof(key), "arith.%s.latency", rows[i].op);
		code = measured(r, key, rows[i].latency, 0.125, "cycles", "slope of a dependent chain");
		snprintf(key, sizeof(key), "arith.%s.throughput", rows[i].op);
		if (code == 0)
			code =
			    measured(r, key, rows[i].throughput, 0.01, "ops/clk/SM", "16 warps of independent chains");
		snprintf(key, sizeof(key), "arith.%s.issue", rows[i].op);
		if (code == 0)
			code = measured(r, key, rows[i].issue, 0.05, "cycles", "one warp, independent operations");
		snprintf(key, sizeof(key), "arith.%s.native_ops", rows[i].op);
		if (code == 0)
			code = rows[i].native ? measured(r, key, rows[i].native, 0, "count", "native code counted")
					      : finding(r, key, VERDICT_INCONCLUSIVE, NAN, NAN, NAN, "count",
							"native code counted",
							"the operation is a loop: 41 to 63 instructions ran");
	}
	if (code == 0)
		code = finding(r, "arith.add.f16.latency", VERDICT_UNSUPPORTED, NAN, NAN, NAN, "cycles", "",
			       "the device has no f16 arithmetic");
	return code ? code
		    : finding(r, "arith.fma.f16.latency", VERDICT_UNSUPPORTED, NAN, NAN, NAN, "cycles", "",
			      "the device has no f16 arithmetic");
}

static int memory(struct run *r)
{
	const struct {
		const char *key;
		double v, spread;
		const char *unit;
	} rows[] = {
	    {"cache.constant.levels", 2, 0, "count"},
	    {"cache.constant.l1.size", 2048, 0, "bytes"},
	    {"cache.constant.l1.line", 64, 0, "bytes"},
	    {"cache.constant.l1.ways", 4, 0, "count"},
	    {"cache.constant.l1.sets", 8, 0, "count"},
	    {"cache.constant.l1.latency", 8, 0.5, "cycles"},
	    {"cache.constant.l2.size", 8192, 0, "bytes"},
	    {"cache.constant.l2.line", 256, 0, "bytes"},
	    {"cache.constant.l2.sector", 64, 0, "bytes"},
	    {"cache.constant.l2.latency", 81, 0.5, "cycles"},
	    {"cache.constant.l2.bandwidth", 1.2, 0.1, "bytes/clk"}, /* first of its line, and in no column */
	    {"tlb.global.l1.reach", 8 << 20, 0, "bytes"},
	    {"tlb.global.l1.line", 512 << 10, 0, "bytes"},
	    {"tlb.global.l1.entries", 16, 0, "count"},
	    {"unit.sp.latency", 24, 0.1, "cycles"},
	    {"unit.sp.throughput", 7.9, 0.01, "ops/clk/SM"},
	    {"memory.constant.latency", 476.25, 12, "cycles"},
	    {"memory.global.latency", 440, 9, "cycles"},
	    {"shared.latency", 38, 0.25, "cycles"},
	    {"clock.read_latency", 28, 0, "cycles"},
	    {"clock.granularity", 4, 0, "cycles"},
	};
	int code = 0;
	for (size_t i = 0; code == 0 && i < sizeof rows / sizeof *rows; i++)
		code = measured(r, rows[i].key, rows[i].v, rows[i].spread, rows[i].unit,
				"footprint bisection, misses counted");
	if (code == 0)
		code = text(r, "cache.constant.l1.policy", "lru", "name", "eviction order of a conflict set");
	if (code == 0)
		code = text(r, "cache.constant.l1.scope", "sm", "name", "interference between SMs");
	if (code == 0)
		code = text(r, "cache.constant.l2.scope", "cluster", "name", "interference between SMs");
	if (code == 0)
		code = text(r, "cache.constant.l2.shared_with", "instruction", "name", "interference between paths");
	if (code == 0)
		code = text(r, "shared.cached", "no", "yes/no", "latency is flat from 64 bytes to 15 KB");
	if (code == 0)
		code = finding(r, "cache.constant.l2.ways", VERDICT_INCONCLUSIVE, NAN, NAN, NAN, "count", "",
			       "4 and 5 ways explain the misses equally well");
	if (code == 0)
		code = finding(r, "cache.constant.l2.sets", VERDICT_BOUND, NAN, 8, INFINITY, "count",
			       "conflict sets counted", "only 8 sets were reached by the constant space");
	if (code == 0)
		code = finding(r, "cache.global.l1.size", VERDICT_ABSENT, NAN, NAN, NAN, "bytes",
			       "latency against footprint",
			       "the second traversal is as slow as the first at every footprint");
	if (code == 0)
		code = finding(r, "cache.global.l2.size", VERDICT_FAILED, NAN, NAN, NAN, "bytes", "",
			       "the device ran out of memory");
	if (code)
		return code;
	struct finding skewed = *findings_get(&r->findings, "cache.constant.l2.latency");
	skewed.lo = 79;
	skewed.hi = 84.5;
	if (findings_add(&r->findings, &skewed))
		return -ENOMEM;
	struct finding second = *findings_get(&r->findings, "cache.constant.l1.ways");
	second.rival = (struct finding_rival){.shape = "8 sets of 5 lines of 64 bytes",
					      .value = 5,
					      .nats = 113.5,
					      .experiment = "chase",
					      .point = 3,
					      .addresses = 33,
					      .bytes = 2112,
					      .step = 64,
					      .floor = 80,
					      .visits = 198,
					      .misses = 30,
					      .best_least = 6};
	if (findings_add(&r->findings, &second))
		return -ENOMEM;
	struct finding wide = *findings_get(&r->findings, "memory.global.latency");
	snprintf(wide.scope, sizeof(wide.scope), "card");
	if (findings_add(&r->findings, &wide))
		return -ENOMEM;
	struct finding likely = *findings_get(&r->findings, "shared.latency");
	likely.verdict = VERDICT_LIKELY;
	snprintf(likely.because, sizeof(likely.because), "one of two launches says 39");
	if (findings_add(&r->findings, &likely))
		return -ENOMEM;
	struct finding array = *findings_get(&r->findings, "memory.global.latency");
	snprintf(array.key, sizeof(array.key), "memory.global.latency_spectrum");
	array.value = (struct value){.kind = VALUE_ARRAY, .array = {431, 440.5, 449}, .array_count = 3};
	array.lo = array.hi = NAN;
	return findings_add(&r->findings, &array);
}

static int series(struct run *r)
{
	static const char *const probes[] = {"clock", "arithmetic", "shared", "constant", "global"};
	for (size_t i = 0; i < 5; i++) {
		struct probe_record *p = run_probe(r, probes[i]);
		if (!p)
			return -ENOMEM;
		p->state = i < 4 ? PROBE_DONE : PROBE_FAILED;
		p->seconds = 0.25 * (double)(i + 1);
		if (i == 4)
			snprintf(p->message, sizeof(p->message), "the device ran out of memory");
	}
	struct series *s = run_series_new(r, "constant", "chase");
	if (!s)
		return -ENOMEM;
	s->axis = "footprint";
	s->unit = "bytes";
	s->params[0] = "stride";
	s->params[1] = "sm";
	s->seed = 0xfedcba9876543210;
	s->before = (struct condition){1296, 1107, 61, 120.5, 0};
	s->after = (struct condition){-1, -1, -1, -1, -1};
	struct native_info n = {.fingerprint = 0x8000000000000001,
				.instructions = 300,
				.registers = 9,
				.clock_reads = 2,
				.region_count = 1,
				.source = "sim"};
	n.region[0] = (struct native_region){.total = 130, .top_count = 128, .mix = "LDC*128 MOV*2"};
	n.region[0].count[NATIVE_LOAD_CONST] = 128;
	n.region[0].count[NATIVE_ALU] = 2;
	n.layout = (struct native_layout){.code_bytes = 2304, .first = 64, .step = 16, .reads = 2};
	uint32_t kernel = series_add_native(r, s, &n);
	if (kernel == UINT32_MAX)
		return -ENOMEM;
	for (uint32_t i = 0; i < 12; i++) {
		uint32_t words[8];
		for (uint32_t k = 0; k < 8; k++)
			words[k] = 4294967000u + 40 * k + 8 * i * (i > 7); /* runs over 2^32 */
		struct point p = {.x = 256.0 * (i + 1),
				  .p = {64, 3},
				  .repeats = 2,
				  .words_per_repeat = 4,
				  .y = words,
				  .elapsed_ms = 0.125,
				  .native = kernel};
		if (series_add(r, s, &p))
			return -ENOMEM;
	}
	struct point bad = {.x = 65536.5,
			    .p = {64, 3},
			    .outcome = OUTCOME_INVALID,
			    .native = UINT32_MAX,
			    .elapsed_ms = -1,
			    .message = "the timed region holds 64 loads, not 128"};
	return series_add(r, s, &bad);
}

int sample_run(struct run *r)
{
	if (run_init(r))
		return -ENOMEM;
	snprintf(r->fathom, sizeof(r->fathom), "0.1.0");
	snprintf(r->started, sizeof(r->started), "2026-01-02T03:04:05Z");
	r->seed = 42;
	r->seconds = 3.75;
	r->device = device;
	return arithmetic(r) || memory(r) || series(r) ? -ENOMEM : 0;
}

int sample_figures(struct figure_list *l)
{
	enum { N = 56 };
	double x[N], y[N], hi[N];
	for (int i = 0; i < N; i++) {
		x[i] = 256 * pow(2, i / 7.0);
		y[i] = x[i] <= 2048 ? 8 : x[i] <= 2560 ? 8 + 73 * (x[i] - 2048) / 512 : x[i] <= 8192 ? 81 : 226;
		hi[i] = y[i] + 12;
	}
	struct figure *f = figures_new(l, "constant-latency", "Constant memory: latency against footprint");
	if (!f)
		return -ENOMEM;
	f->main = true;
	f->x = (struct figure_axis){"footprint", "bytes", true};
	f->y = (struct figure_axis){"latency of a load", "cycles", false};
	snprintf(f->caption, sizeof(f->caption),
		 "Average of one traversal after a warm one; stride 64 & one warp <sm 3>.");
	if (figure_add(f, "slowest SM", MARK_BAND, x, y, hi, N) ||
	    figure_add(f, "stride 64", MARK_LINE, x, y, NULL, N) ||
	    figure_add(f, "stride 256", MARK_POINTS, x, hi, NULL, N))
		return -ENOMEM;
	snprintf(f->origin, sizeof(f->origin), "Sample GPU, 2026-01-02, fathom 0.1.0");
	figure_repeats(f, "A. Author 2026, Fig. 3", "cache.constant.*");
	figure_note(f, true, 2048, "L1 2 KB");
	figure_note(f, true, 8192, "L2 8 KB");
	figure_note(f, false, 226, "L3");
	f = figures_new(l, "arithmetic-latency", "Latency of every operation");
	if (!f)
		return -ENOMEM;
	f->x = (struct figure_axis){"operation", "", false};
	f->y = (struct figure_axis){"latency", "cycles", true};
	return figure_add(f, "latency", MARK_BARS, (double[]){1, 2, 3, 4}, (double[]){24, 96, 608, 28}, NULL, 4);
}

int sample_paper(struct paper_comparison *parts, struct arena *a, const struct run *r)
{
	static const char text[] =
	    "title = A paper about two GPUs\nauthors = A. Author, B. Author\npublished = 2026\n"
	    "device = First\ngpu = gtx280\n"
	    "Table 1 | add | arith.add.u32.latency | 24 | cycles\n"
	    "Table 1 | add | arith.add.u32.throughput | 7.9 | ops/clk/SM | +- 0.2: read from a plot\n"
	    "Table 1 | mul | arith.mul.u32.latency | 90 | cycles\n"
	    "Table 1 | div | arith.div.u32.native_ops | 5 | count | deviation: native instructions of routines\n"
	    "Table 1 | sqrt | arith.sqrt.f32.latency | 56 | cycles\n"
	    "IV | constants | cache.constant.l1.size | 2 | KB\n"
	    "IV | constants | cache.constant.l2.ways | 4 | count\n"
	    "IV | constants | - | 9 | cycles | nothing that we measure\n"
	    "IV | shared | shared.cached | no | yes/no\n"
	    "device = Second\ngpu = -\n"
	    "Fig. 2 | spectrum | memory.global.latency_spectrum | 431, 440, 449 | cycles\n"
	    "Fig. 2 | sets | cache.constant.l2.sets | <=8 | count\n"
	    "Fig. 2 | L1 | cache.global.l1.size | 0 | KB\n";
	struct paper *p;
	struct err e = {0};
	int rc = paper_parse(&p, a, "sample.paper", text, sizeof text - 1, &e);
	for (size_t i = 0; rc == 0 && i < 2; i++)
		rc = paper_compare(&parts[i], a, p, &p->parts[i], r);
	return rc;
}
