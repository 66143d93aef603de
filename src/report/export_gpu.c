/* The twin: a .gpu file of what one run found, for the simulator to measure again. */
#include "report/export_gpu.h"
#include "report/render.h"
#include "report/report_export.h"
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define COUNT_OF(a) (sizeof(a) / sizeof *(a))
#define KEY_BYTES   128

const struct finding *twin_found(const struct twin *t, const char *fmt, ...)
{
	char key[KEY_BYTES];
	va_list list;
	va_start(list, fmt);
	vsnprintf(key, sizeof(key), fmt, list);
	va_end(list);
	const struct finding *f = findings_get(&t->r->findings, key);
	return f && finding_estimated(f) ? f : NULL;
}

bool twin_number(const struct finding_list *l, const char *key, double *v)
{
	const struct finding *f = findings_get(l, key);
	if (f && finding_estimated(f) && f->value.kind == VALUE_NUMBER)
		*v = f->value.number;
	else if (f && f->verdict == VERDICT_BOUND && (isfinite(f->lo) || isfinite(f->hi)))
		*v = isfinite(f->lo) ? f->lo : f->hi;
	else
		return false;
	return isfinite(*v);
}

void twin_line(struct twin *t, const char *key, const char *text, const char *unit, const struct finding *f,
	       const char *why)
{
	str_addf(&t->body, "%s = %s %s   # ", key, text, unit);
	if (f) {
		str_add(&t->body, verdict_name(f->verdict));
		if (f->verdict != VERDICT_BOUND && f->value.kind == VALUE_NUMBER && isfinite(f->lo) &&
		    isfinite(f->hi)) {
			str_add(&t->body, ", ");
			render_number(&t->body, f->lo, 6);
			str_add(&t->body, " to ");
			render_number(&t->body, f->hi, 6);
		}
		if (why)
			str_addf(&t->body, "; %s", why);
	} else {
		str_addf(&t->body, "guess: %s", why);
		str_addf(&t->guessed, "#   %s\n", key);
	}
	str_addc(&t->body, '\n');
}

void twin_put(struct twin *t, const char *key, double v, const char *unit, const struct finding *f, const char *why)
{
	struct str text;
	const bool whole = strcmp(unit, "count") == 0 || strcmp(unit, "bytes") == 0;
	str_init(&text);
	if (whole)
		str_addf(&text, "%.0f", v);
	else
		render_number(&text, v, 9);
	t->body.failed |= text.failed;
	twin_line(t, key, str_text(&text), unit, f, why);
	str_free(&text);
}

double twin_take(struct twin *t, const char *key, const char *unit, double otherwise, const char *why)
{
	const struct finding *f = twin_found(t, "%s", key);
	const bool has = f && f->value.kind == VALUE_NUMBER && isfinite(f->value.number);
	const double v = has ? f->value.number : otherwise;
	twin_put(t, key, v, unit, has ? f : NULL, why && !has ? why : NULL);
	return v;
}

void twin_word(struct twin *t, const char *key, const char *words, const char *otherwise, const char *why)
{
	const struct finding *f = twin_found(t, "%s", key);
	const char *at = f && f->value.kind == VALUE_TEXT && f->value.text[0] ? strstr(words, f->value.text) : NULL;
	const size_t n = at ? strlen(f->value.text) : 0;
	const bool has = at && (at == words || at[-1] == ' ') && (at[n] == ' ' || at[n] == '\0');
	if (has)
		twin_line(t, key, f->value.text, "name", f, NULL);
	else if (otherwise[0])
		twin_line(t, key, otherwise, "name", NULL, why);
}

/* ---- the device ---- */

static void told(struct twin *t, const char *key, double v, double otherwise, const char *unit)
{
	char line[KEY_BYTES];
	if (v > 0)
		snprintf(line, sizeof(line), "%s = %.0f %s   # what the driver says\n", key, v, unit);
	if (v > 0)
		str_add(&t->body, line);
	else
		twin_put(t, key, otherwise, unit, NULL, "the driver does not say it");
}

static void yes_no(struct twin *t, const char *key, bool yes)
{
	str_addf(&t->body, "%s = %s yes/no   # what the driver says\n", key, yes ? "yes" : "no");
}

/* SMs of a cluster: all clusters of a .gpu file are of one size. */
static void clusters(struct twin *t, unsigned sms)
{
	const struct finding *f = twin_found(t, "topology.sm_per_cluster");
	unsigned best = sms;
	if (f && f->value.kind == VALUE_NUMBER)
		for (unsigned n = 1; n <= sms; n++)
			if (sms % n == 0 && fabs(n - f->value.number) < fabs(best - f->value.number))
				best = n;
	if (f && best == f->value.number)
		twin_put(t, "topology.sm_per_cluster", best, "count", f, NULL);
	else
		twin_put(t, "topology.sm_per_cluster", best, "count", NULL,
			 f ? "clusters are unlike, and here all are of one size"
			   : "one cluster, as nothing is known that only some SMs share");
}

static void device(struct twin *t)
{
	const struct device_info *d = &t->r->device;
	const bool ptx = str_starts(d->target, "sm_") && d->cc > 0 && d->ptx_version > 0;
	const int cc = ptx ? d->cc : 70, version = ptx ? d->ptx_version : 60;
	struct str name;
	str_init(&name);
	render_clean(&name, d->name[0] ? d->name : "unknown", true);
	for (size_t i = 0; i < name.len; i++)
		if (name.data[i] == '"')
			name.data[i] = '\'';
	t->body.failed |= name.failed;
	str_addf(&t->body, "device.name = \"%s\" name   # what the driver says\n", str_text(&name));
	str_free(&name);
	const char *from = ptx ? "what the driver says" : "guess: the run was not made with PTX";
	str_addf(&t->body, "device.target = sm_%d name   # %s\n", cc, from);
	str_addf(&t->body, "device.ptx_version = %d.%d version   # %s\n", version / 10, version % 10, from);
	str_addf(&t->body, "device.compute_capability = %d.%d version   # %s\n", cc / 10, cc % 10, from);
	double sms = d->sm_count, warp = d->warp_size ? d->warp_size : 32, block = d->max_threads_per_block;
	twin_number(&t->r->findings, "device.sm_count", &sms);
	twin_take(t, "device.sm_count", "count", sms > 0 ? sms : 1, "what the driver says");
	clusters(t, sms > 0 ? (unsigned)sms : 1);
	warp = twin_take(t, "device.warp_size", "count", warp, "what the driver says");
	block = twin_take(t, "device.max_threads_per_block", "count", block > 0 ? block : 1024, "what the driver says");
	double threads = d->max_threads_per_sm >= block ? d->max_threads_per_sm : block, warps = 0;
	if (twin_number(&t->r->findings, "device.max_threads_per_sm", &threads))
		twin_take(t, "device.max_threads_per_sm", "count", threads, NULL);
	else
		told(t, "device.max_threads_per_sm", d->max_threads_per_sm >= block ? threads : 0, threads, "count");
	if (twin_number(&t->r->findings, "device.max_warps_per_sm", &warps) && warps * warp >= threads)
		twin_take(t, "device.max_warps_per_sm", "count", warps, NULL);
	else
		twin_put(t, "device.max_warps_per_sm", ceil(threads / warp), "count", NULL,
			 "as many as the threads need");
	twin_take(t, "device.max_blocks_per_sm", "count",
		  cc >= 50   ? 32
		  : cc >= 30 ? 16
			     : 8,
		  "usual for the compute capability");
	twin_take(t, "device.clock_hz", "Hz", d->clock_hz > 0 ? d->clock_hz : 1e9, "what the driver says, or 1 GHz");
	yes_no(t, "device.has_f64", d->has_f64);
	yes_no(t, "device.has_f16", d->has_f16);
	yes_no(t, "device.has_fma", d->has_fma);
	twin_word(t, "topology.block_order", "cluster sm fill", "cluster", "not known");
	twin_take(t, "regfile.registers_per_sm", "count", d->registers_per_block ? d->registers_per_block : 65536,
		  "what the driver gives one block");
	twin_take(t, "regfile.max_per_thread", "count", 0, "no limit that was seen");
	twin_take(t, "regfile.register_quantum", "count", 1, "not known");
	twin_take(t, "regfile.thread_quantum", "count", 1, "not known");
}

/* ---- the core beside its pipes, memory, the host ---- */

static void core(struct twin *t)
{
	const struct finding_list *l = &t->r->findings;
	double turn = 30, link = 10, entries;
	twin_word(t, "core.policy", "round_robin oldest youngest greedy", "", NULL);
	const struct finding *dual = twin_found(t, "core.dual_issue");
	if (dual && dual->value.kind == VALUE_TEXT)
		twin_line(t, "core.dual_issue", dual->value.text, "yes/no", dual, NULL);
	twin_take(t, "clock.read_latency", "cycles", 4, "not known");
	twin_take(t, "clock.granularity", "cycles", 1, "not known");
	twin_word(t, "clock.scope", "sm cluster gpu", "sm", "not known");
	twin_take(t, "barrier.latency", "cycles", 16, "not known");
	const bool known = twin_number(l, "branch.turn", &turn) && twin_number(l, "arith.add.u32.latency", &link);
	twin_put(t, "branch.latency", fmax(turn - 2 * link, 1), "cycles", NULL,
		 known ? "branch.turn less an addition and a comparison" : "of the order of an instruction");
	const struct finding *f = twin_found(t, "branch.independent_threads");
	twin_line(t, "branch.independent_threads",
		  f			  ? f->value.text
		  : t->r->device.cc >= 70 ? "yes"
					  : "no",
		  "yes/no", f, f ? NULL : "since compute capability 7.0");
	twin_word(t, "branch.first_path", "taken fallthrough", "taken", "no such order was found");
	twin_take(t, "outstanding.loads_per_warp", "count", 0, "no limit that was seen");
	f = twin_found(t, "outstanding.entries");
	if (twin_found(t, "outstanding.kind") && f && twin_number(l, "outstanding.entries", &entries)) {
		twin_word(t, "outstanding.kind", "mshr prt", "none", "no table that was seen");
		twin_put(t, "outstanding.entries", entries, "count", f, NULL);
		if (twin_found(t, "outstanding.merge") &&
		    strcmp(twin_found(t, "outstanding.kind")->value.text, "mshr") == 0)
			twin_take(t, "outstanding.merge", "count", 0, "");
	}
}

static void shared(struct twin *t)
{
	const struct finding_list *l = &t->r->findings;
	double block = t->r->device.shared_per_block, size, rate = 0, warp = 32;
	twin_number(l, "shared.per_block", &block);
	block = block > 0 ? block : 16384;
	size = block;
	twin_number(l, "shared.size", &size);
	if (size < block)
		block = size;
	twin_put(t, "shared.size", size, "bytes", twin_found(t, "shared.size"), "as much as one block may have");
	twin_put(t, "shared.per_block", block, "bytes", twin_found(t, "shared.per_block"), "what the driver says");
	twin_take(t, "shared.latency", "cycles", 30, "not known");
	const double banks = twin_take(t, "shared.banks", "count", 32, "usual");
	const double width = twin_take(t, "shared.bank_width", "bytes", 4, "usual");
	const struct finding *mode = twin_found(t, "shared.bank_mode");
	if (mode && mode->value.number < width)
		twin_put(t, "shared.bank_mode", mode->value.number, "bytes", mode, NULL);
	twin_take(t, "shared.conflict_cost", "cycles", 2, "usual");
	twin_number(l, "device.warp_size", &warp);
	const bool known = twin_number(l, "shared.bandwidth", &rate) && rate > 0;
	twin_put(t, "load.shared.issue", known ? fmax(round(warp * 4 / rate * 8) / 8, 0.25) : fmax(warp / banks, 1),
		 "cycles", NULL, known ? "a warp's words over shared.bandwidth" : "one pass of the banks");
	twin_line(t, "load.shared.unit", "mem", "name", NULL, "one load/store pipe");
}

static bool is_absent(const struct finding_list *l, const char *key)
{
	const struct finding *f = findings_get(l, key);
	return f && f->verdict == VERDICT_ABSENT;
}

static void memory(struct twin *t)
{
	const struct device_info *d = &t->r->device;
	double rate = 32, one = 0, segment = 32, v;
	const struct finding_list *l = &t->r->findings;
	told(t, "memory.global.size", (double)d->memory_bytes, 1073741824, "bytes");
	twin_take(t, "memory.constant.size", "bytes", d->constant_bytes ? (double)d->constant_bytes : 65536,
		  "what the driver says");
	if (twin_number(l, "memory.coalesce.segment", &v))
		segment = v;
	twin_put(t, "memory.coalesce.segment", segment, "bytes", twin_found(t, "memory.coalesce.segment"), "usual");
	/* The early rules are those of GPUs without caches for global memory. */
	if (is_absent(l, "cache.global.l1.size") && is_absent(l, "cache.global.l2.size"))
		twin_word(t, "memory.coalesce.rule", "lines g80 gt200", "", NULL);
	const struct finding *step = twin_found(t, "memory.partition_stride");
	if (twin_number(l, "memory.partitions", &v) && v > 1 && step) {
		twin_take(t, "memory.partitions", "count", v, NULL);
		twin_take(t, "memory.partition_stride", "bytes", 256, NULL);
	}
	twin_number(l, "memory.global.bandwidth", &rate);
	twin_put(t, "memory.global.bandwidth", rate, "bytes/clk", twin_found(t, "memory.global.bandwidth"),
		 "as far as the run says");
	static const char *const from[] = {"cache.global.l1.bandwidth", "cache.global.l2.bandwidth"};
	for (size_t i = 0; i < COUNT_OF(from); i++)
		if (twin_number(l, from[i], &v))
			one = fmax(one, v);
	v = one > 0 ? fmax(round(segment / one * 8) / 8, 0.25) : 2;
	twin_put(t, "load.global.issue", v, "cycles", NULL, "a transaction over what one SM draws from its caches");
	twin_line(t, "load.global.unit", "mem", "name", NULL, "one load/store pipe");
	v = 2;
	twin_number(l, "memory.constant.4.issue", &v);
	twin_put(t, "load.constant.issue", fmax(v, 0.25), "cycles", NULL,
		 "no slower than a warp's loads were seen to be");
	twin_line(t, "load.constant.unit", "mem", "name", NULL, "one load/store pipe");
}

static void atomics_and_host(struct twin *t)
{
	static const char *const atoms[] = {"and", "or", "xor", "add", "inc", "dec", "min", "max", "exch", "cas"};
	static const char *const what[] = {"latency", "same_address", "distinct"};
	static const struct {
		const char *key, *unit;
	} host[] = {{"host.h2d.bandwidth", "GB/s"},
		    {"host.d2h.bandwidth", "GB/s"},
		    {"host.both.bandwidth", "GB/s"},
		    {"host.h2d.pageable_bandwidth", "GB/s"},
		    {"host.d2h.pageable_bandwidth", "GB/s"},
		    {"host.launch_latency", "s"},
		    {"host.launch_interval", "s"},
		    {"host.mapped.latency", "s"},
		    {"texture.filter.fraction_bits", "count"}};
	const struct finding *copy = twin_found(t, "host.h2d.latency"), *rate = twin_found(t, "texture.rate");
	char key[KEY_BYTES];
	for (size_t i = 0; i < COUNT_OF(atoms); i++)
		for (size_t k = 0; k < COUNT_OF(what); k++) {
			snprintf(key, sizeof(key), "atomic.%s.%s", atoms[i], what[k]);
			if (twin_found(t, "%s", key))
				twin_take(t, key, "cycles", 0, "");
		}
	for (size_t i = 0; i < COUNT_OF(host); i++)
		if (twin_found(t, "%s", host[i].key))
			twin_take(t, host[i].key, host[i].unit, 0, "");
	if (copy)
		twin_put(t, "host.copy_latency", copy->value.number, "s", copy, "");
	if (rate)
		twin_put(t, "texture.lanes", rate->value.number, "ops/clk/SM", rate, "");
}

int export_gpu(struct str *out, const struct run *r, struct err *e)
{
	struct twin t = {.r = r};
	str_init(&t.body);
	str_init(&t.guessed);
	device(&t);
	core(&t);
	twin_operations(&t);
	shared(&t);
	memory(&t);
	twin_caches(&t);
	atomics_and_host(&t);
	str_add(out, "# What one run found, as a GPU for the simulator: MEASURED and LIKELY lines are findings with "
		     "their interval.\n"
		     "# Nobody measured these keys; each line says what stands there instead:\n");
	str_add(out, str_text(&t.guessed));
	str_addc(out, '\n');
	str_add(out, str_text(&t.body));
	out->failed |= t.body.failed || t.guessed.failed;
	str_free(&t.guessed);
	str_free(&t.body);
	return out->failed ? err_nomem(e) : 0;
}
