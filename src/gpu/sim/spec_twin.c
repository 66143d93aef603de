/* The twin: a .gpu file of what one run found, for the simulator to measure again. */
#include "gpu/sim/spec_twin.h"
#include "base/str.h"
#include "data/run_compare.h"
#include "gpu/sim/spec_twin_lines.h"
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT_OF(a)  (sizeof(a) / sizeof *(a))
#define KEY_BYTES    128
#define ATOMIC_LINE  128 /* bytes of words that the probe of atomics takes for one line ... */
#define ATOMIC_LANES 32	 /* ... and threads of an instruction that go out together */

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

bool twin_absent(const struct twin *t, const char *key)
{
	const struct finding *f = findings_get(&t->r->findings, key);
	return f && f->verdict == VERDICT_ABSENT;
}

struct twin_line *twin_has(const struct twin *t, const char *key)
{
	for (size_t i = 0; i < t->count; i++)
		if (strcmp(t->lines[i].key, key) == 0)
			return &t->lines[i];
	return NULL;
}

static struct twin_choice choice(struct twin *t, const char *text, const char *unit, const char *source)
{
	struct twin_choice c = {.text = text ? arena_strdup(&t->a, text) : NULL,
				.unit = arena_strdup(&t->a, unit),
				.source = arena_strdup(&t->a, source)};
	t->failed |= (text && !c.text) || !c.unit || !c.source;
	return c;
}

/* Verdict and interval. */
static void origin(struct str *out, const struct finding *f, const char *why)
{
	str_add(out, verdict_name(f->verdict));
	if (f->verdict != VERDICT_BOUND && f->value.kind == VALUE_NUMBER && isfinite(f->lo) && isfinite(f->hi))
		str_addf(out, ", %.6g to %.6g", f->lo, f->hi);
	if (why)
		str_addf(out, "; %s", why);
}

static void add(struct twin *t, const char *key, const char *text, const char *unit, const char *source, bool guess)
{
	const char *name = arena_strdup(&t->a, key);
	if (!name || mem_room((void **)&t->lines, &t->cap, t->count, sizeof(*t->lines))) {
		t->failed = true;
		return;
	}
	t->lines[t->count++] =
	    (struct twin_line){.key = name, .count = 1, .guess = guess, .choice = {choice(t, text, unit, source)}};
}

void twin_line(struct twin *t, const char *key, const char *text, const char *unit, const struct finding *f,
	       const char *why)
{
	struct str source;
	str_init(&source);
	if (f)
		origin(&source, f, why);
	else
		str_addf(&source, "guess: %s", why);
	add(t, key, text, unit, str_text(&source), !f);
	t->failed |= source.failed;
	str_free(&source);
}

void twin_choose(struct twin *t, const char *key, const char *text, const char *unit, const char *why, bool first)
{
	struct twin_line *l = twin_has(t, key);
	struct str source;
	if (!l || !l->guess || l->count == TWIN_CHOICES)
		return;
	str_init(&source);
	str_addf(&source, "guess: %s", why);
	const struct twin_choice c = choice(t, text, unit, str_text(&source));
	t->failed |= source.failed;
	str_free(&source);
	if (first)
		memmove(&l->choice[1], &l->choice[0], l->count * sizeof(c));
	/* What stands there is a GPU for certain: the fit moves on from it. */
	l->chosen += first;
	l->choice[first ? 0 : l->count] = c;
	l->count++;
}

void twin_put(struct twin *t, const char *key, double v, const char *unit, const struct finding *f, const char *why)
{
	char text[40];
	const bool whole = strcmp(unit, "count") == 0 || strcmp(unit, "bytes") == 0;
	snprintf(text, sizeof(text), whole ? "%.0f" : "%.9g", v);
	twin_line(t, key, text, unit, f, why);
}

void twin_derive(struct twin *t, const char *key, double v, const char *unit, const char *why)
{
	const size_t was = t->count;
	twin_put(t, key, v, unit, NULL, why);
	if (t->count > was)
		t->lines[was].derived = true;
}

void twin_print(const struct twin *t, struct str *out, struct str *guessed)
{
	for (size_t i = 0; i < t->count; i++) {
		const struct twin_line *l = &t->lines[i];
		const struct twin_choice *c = &l->choice[l->chosen];
		if (!c->text)
			continue;
		const bool quoted = strcmp(c->unit, "name") == 0 && strchr(c->text, ' ') && !strchr(c->text, ',');
		str_addf(out, quoted ? "%s = \"%s\" %s   # %s\n" : "%s = %s %s   # %s\n", l->key, c->text, c->unit,
			 c->source);
		if (l->guess && guessed)
			str_addf(guessed, "#   %s\n", l->key);
	}
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

static const char driver[] = "what the driver says";

static void told(struct twin *t, const char *key, double v, double otherwise, const char *unit)
{
	char text[40];
	snprintf(text, sizeof(text), "%.0f", v);
	if (v > 0)
		add(t, key, text, unit, driver, false);
	else
		twin_put(t, key, otherwise, unit, NULL, "the driver does not say it");
}

static void yes_no(struct twin *t, const char *key, bool yes)
{
	add(t, key, yes ? "yes" : "no", "yes/no", driver, false);
}

/* SMs of a cluster: all clusters of a .gpu file are of one size. */
static void clusters(struct twin *t, unsigned sms)
{
	static const char key[] = "topology.sm_per_cluster";
	const struct finding *f = twin_found(t, key);
	const struct spec_line *b = spec_line(t->base, key);
	const double wanted = f && f->value.kind == VALUE_NUMBER ? f->value.number : b ? strtod(b->value, NULL) : sms;
	unsigned best = sms;
	for (unsigned n = 1; n <= sms; n++)
		if (sms % n == 0 && fabs(n - wanted) < fabs(best - wanted))
			best = n;
	if (f && best == wanted)
		twin_put(t, key, best, "count", f, NULL);
	else
		twin_derive(t, key, best, "count",
			    f ? "clusters are unlike, and here all are of one size" : "the nearest to the base's");
}

static void device(struct twin *t)
{
	const struct device_info *d = &t->r->device;
	const bool ptx = str_starts(d->target, "sm_") && d->cc > 0 && d->ptx_version > 0;
	const int cc = ptx ? d->cc : 70, version = ptx ? d->ptx_version : 60;
	char text[sizeof(d->name)];
	str_clean(text, sizeof(text), d->name[0] ? d->name : "unknown");
	for (char *c = text; *c; c++)
		if (*c == '"')
			*c = '\'';
	add(t, "device.name", text, "name", driver, false);
	const char *from = ptx ? driver : "guess: the run was not made with PTX";
	snprintf(text, sizeof(text), "sm_%d", cc);
	add(t, "device.target", text, "name", from, !ptx);
	snprintf(text, sizeof(text), "%d.%d", version / 10, version % 10);
	add(t, "device.ptx_version", text, "version", from, !ptx);
	snprintf(text, sizeof(text), "%d.%d", cc / 10, cc % 10);
	add(t, "device.compute_capability", text, "version", from, !ptx);
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
	double turn = 30, link = 10, entries, parallel;
	twin_word(t, "core.policy", "round_robin oldest youngest greedy", "", NULL);
	const struct finding *dual = twin_found(t, "core.dual_issue");
	if (dual && dual->value.kind == VALUE_TEXT)
		twin_line(t, "core.dual_issue", dual->value.text, "yes/no", dual, NULL);
	twin_take(t, "clock.read_latency", "cycles", 4, "not known");
	twin_take(t, "clock.granularity", "cycles", 1, "not known");
	twin_word(t, "clock.scope", "sm cluster gpu", "sm", "not known");
	twin_take(t, "barrier.latency", "cycles", 16, "not known");
	if (twin_number(l, "branch.turn", &turn) && twin_number(l, "arith.add.u32.latency", &link))
		twin_derive(t, "branch.latency", fmax(turn - 2 * link, 1), "cycles",
			    "branch.turn less an addition and a comparison");
	else
		twin_put(t, "branch.latency", 10, "cycles", NULL, "of the order of an instruction");
	twin_take(t, "branch.issue", "cycles", 0, "not known");
	twin_take(t, "branch.meet", "cycles", 0, "not known");
	twin_take(t, "branch.meet_ops", "count", 0, "not known");
	twin_take(t, "branch.split", "cycles", 0, "not known");
	twin_take(t, "branch.split_issue", "cycles", 0, "not known");
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
		if (twin_number(l, "outstanding.parallel", &parallel) && twin_found(t, "outstanding.record")) {
			twin_put(t, "outstanding.recorders", parallel / t->r->device.warp_size, "count",
				 twin_found(t, "outstanding.parallel"), NULL);
			twin_take(t, "outstanding.record", "cycles", 0, "");
		}
	}
}

/* The L1 beside the smallest of them, where both are of equal sets that a remainder finds. */
static void split_l1(struct twin *t)
{
	const struct finding *mapping = twin_found(t, "cache.global.l1.mapping");
	if (!twin_found(t, "cache.global.l1.sets") || !twin_found(t, "cache.global.l1.split.sets") ||
	    !twin_found(t, "cache.global.l1.split.size") || !twin_found(t, "cache.global.l1.split.ways") ||
	    (mapping && strcmp(mapping->value.text, "hash") == 0))
		return;
	twin_take(t, "cache.global.l1.split.size", "bytes", 0, "");
	twin_take(t, "cache.global.l1.split.ways", "count", 0, "");
}

/* Up to all of it. An L1 that gives ways to shared memory has no such sizes. */
static void splits(struct twin *t, double size)
{
	const struct finding *f = twin_found(t, "shared.splits");
	struct str list;
	if (!f || f->value.array_count < 2 || twin_found(t, "cache.global.l1.shared_with"))
		return;
	str_init(&list);
	for (unsigned i = 0; i + 1 < f->value.array_count && f->value.array[i] < size; i++)
		str_addf(&list, "%.0f, ", f->value.array[i]);
	str_addf(&list, "%.0f", size);
	twin_line(t, "shared.splits", str_text(&list), "bytes", f, NULL);
	t->failed |= list.failed;
	str_free(&list);
	split_l1(t);
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
	splits(t, size);
	twin_put(t, "shared.per_block", block, "bytes", twin_found(t, "shared.per_block"), "what the driver says");
	twin_take(t, "shared.latency", "cycles", 30, "not known");
	const double banks = twin_take(t, "shared.banks", "count", 32, "usual");
	const double width = twin_take(t, "shared.bank_width", "bytes", 4, "usual");
	const struct finding *mode = twin_found(t, "shared.bank_mode");
	if (mode && mode->value.number < width)
		twin_put(t, "shared.bank_mode", mode->value.number, "bytes", mode, NULL);
	twin_take(t, "shared.conflict_cost", "cycles", 2, "usual");
	twin_number(l, "device.warp_size", &warp);
	if (twin_number(l, "shared.bandwidth", &rate) && rate > 0)
		twin_derive(t, "load.shared.issue", fmax(warp * 4 / rate, 0.25), "cycles",
			    "a warp's words over shared.bandwidth");
	else
		twin_put(t, "load.shared.issue", fmax(warp / banks, 1), "cycles", NULL, "one pass of the banks");
	twin_line(t, "load.shared.unit", "mem", "name", NULL, "one load/store pipe");
}

/* The most that all SMs were seen to draw from the memory, bytes a cycle; 0: nobody knows. */
static double drawn(const struct twin *t)
{
	double most = 0, v, piece, clock = t->r->device.clock_hz;
	char key[KEY_BYTES];
	if (twin_number(&t->r->findings, "memory.global.drawn", &v))
		most = v;
	if (twin_number(&t->r->findings, "memory.global.scattered_loads", &v) &&
	    twin_number(&t->r->findings, "memory.global.fetch", &piece))
		most = fmax(most, v * piece);
	twin_number(&t->r->findings, "device.clock_hz", &clock);
	for (unsigned bytes = 1; bytes <= 16; bytes *= 2) {
		snprintf(key, sizeof(key), "memory.global.%u.bandwidth", bytes);
		if (twin_number(&t->r->findings, key, &v) && clock > 0)
			most = fmax(most, v * 1e9 / clock);
	}
	return most;
}

/* What the pipe takes for a load of global memory besides its transactions. An SM loads `one` bytes a cycle with 16 of
 * each lane. 0: nothing says that there is such a time. */
static double request(const struct twin *t, double segment, double one, double *issue)
{
	const struct finding *l2 = twin_found(t, "cache.global.l2.bandwidth");
	double cycles[2], n[2], warp = 32;
	char key[KEY_BYTES];
	twin_number(&t->r->findings, "device.warp_size", &warp);
	for (unsigned i = 0; i < COUNT_OF(n); i++) {
		snprintf(key, sizeof(key), "memory.global.%u.issue", i + 1);
		n[i] = ceil(warp * (i + 1) / segment);
		if (!twin_number(&t->r->findings, key, &cycles[i]))
			return 0;
	}
	const double most = warp * 16 / segment;
	if (!l2 || l2->value.number != one || most <= n[0])
		return 0;
	*issue = (warp * 16 / one - cycles[0]) / (most - n[0]);
	const double rest = cycles[0] - n[0] * *issue, second = n[1] * *issue + rest;
	/* Three sizes of loads lie on one line. */
	return *issue >= 0.25 && rest > 0 && fabs(second - cycles[1]) <= COMPARE_SHARE * cycles[1] ? rest : 0;
}

/* one: the most that an SM draws from its caches, bytes a cycle; 0: not known. */
static void global_port(struct twin *t, double segment, double one)
{
	double issue = 0;
	const double rest = one > 0 ? request(t, segment, one, &issue) : 0;
	if (rest > 0) {
		twin_derive(t, "load.global.issue", issue, "cycles", "what loads of other widths take more");
		twin_derive(t, "load.global.request", rest, "cycles", "what loads of every width take");
	} else if (one > 0) {
		twin_derive(t, "load.global.issue", fmax(round(segment / one * 8) / 8, 0.25), "cycles",
			    "a transaction over what one SM draws from its caches");
	} else {
		twin_put(t, "load.global.issue", 2, "cycles", NULL, "not known");
	}
}

static void memory(struct twin *t)
{
	const struct device_info *d = &t->r->device;
	double rate = 0, one = 0, segment = 32, warp = 32, v;
	const struct finding_list *l = &t->r->findings;
	told(t, "memory.global.size", (double)d->memory_bytes, 1073741824, "bytes");
	twin_take(t, "memory.constant.size", "bytes", d->constant_bytes ? (double)d->constant_bytes : 65536,
		  "what the driver says");
	if (twin_number(l, "memory.coalesce.segment", &v))
		segment = v;
	twin_put(t, "memory.coalesce.segment", segment, "bytes", twin_found(t, "memory.coalesce.segment"), "usual");
	/* The early rules are those of GPUs without caches for global memory. */
	if (twin_absent(t, "cache.global.l1.size") && twin_absent(t, "cache.global.l2.size"))
		twin_word(t, "memory.coalesce.rule", "lines g80 gt200", "", NULL);
	const struct finding *step = twin_found(t, "memory.partition_stride");
	if (twin_number(l, "memory.partitions", &v) && v > 1 && step) {
		twin_take(t, "memory.partitions", "count", v, NULL);
		twin_take(t, "memory.partition_stride", "bytes", 256, NULL);
	}
	const struct finding *bandwidth = twin_found(t, "memory.global.bandwidth");
	if (bandwidth)
		rate = bandwidth->value.number;
	else
		rate = fmax(drawn(t), twin_number(l, "memory.global.bandwidth", &v) ? v : 0);
	if (!(rate > 0))
		rate = 32;
	twin_put(t, "memory.global.bandwidth", rate, "bytes/clk", bandwidth, "as far as the run says");
	static const char *const from[] = {"cache.global.l1.bandwidth", "cache.global.l2.bandwidth"};
	for (size_t i = 0; i < COUNT_OF(from); i++)
		if (twin_number(l, from[i], &v))
			one = fmax(one, v);
	global_port(t, segment, one);
	twin_line(t, "load.global.unit", "mem", "name", NULL, "one load/store pipe");
	twin_number(l, "device.warp_size", &warp);
	if (twin_number(l, "memory.constant.4.issue", &v))
		twin_derive(t, "load.constant.issue", fmax(v / (warp > 32 ? 2 : 1), 0.25), "cycles",
			    "no slower than a warp's loads, or those of its halves, were seen to be");
	else
		twin_put(t, "load.constant.issue", 2, "cycles", NULL, "not known");
	twin_line(t, "load.constant.unit", "mem", "name", NULL, "one load/store pipe");
}

/* Whether atomics on distinct addresses wait for a unit: those on one address wait for it as well. */
static bool has_atomic_unit(const struct twin *t)
{
	const struct finding *same = findings_get(&t->r->findings, "atomic.add.same_address"),
			     *distinct = twin_found(t, "atomic.add.distinct");
	return !same || !distinct || !isfinite(same->hi) || same->hi >= distinct->lo;
}

static bool timed_atomics(const struct twin *t)
{
	double load, atomic;
	const struct finding_list *l = &t->r->findings;
	if (twin_found(t, "atomic.add.same_address") || !twin_number(l, "atomic.add.latency", &atomic))
		return true;
	return (!twin_number(l, "cache.global.l2.latency", &load) && !twin_number(l, "memory.global.latency", &load)) ||
	       fabs(atomic - load) > 2;
}

/* What an atomic unit takes for a transaction besides its threads. Threads on a line of words share a few transactions,
 * and those far apart have one each. 0: nothing says so. */
static double atomic_request(const struct twin *t)
{
	const struct finding *apart = twin_found(t, "atomic.add.distinct"), *line = twin_found(t, "atomic.add.line");
	double segment, each;
	if (!apart || !line || !twin_number(&t->r->findings, "memory.coalesce.segment", &segment) ||
	    line->hi >= apart->lo)
		return 0;
	each = fmax(1, ATOMIC_LINE / segment) / ATOMIC_LANES;
	const double rest = (apart->value.number - line->value.number) / (1 - each);
	return each < 1 && rest < apart->value.number ? rest : 0;
}

/* Those that take as long as loads, and no limit was seen of, go the way of loads. */
static void atomics(struct twin *t)
{
	static const char *const atoms[] = {"and", "or", "xor", "add", "inc", "dec", "min", "max", "exch", "cas"};
	const struct finding *classes = twin_found(t, "atomic.add.latency_classes");
	const double rest = has_atomic_unit(t) ? atomic_request(t) : 0, far = twin_far_extra(t);
	char key[KEY_BYTES];
	double v, more = far / 2;
	if (!timed_atomics(t))
		return;
	if (far > 0 && classes && twin_number(&t->r->findings, "atomic.add.latency", &v))
		more = v - classes->value.array[0];
	if (rest > 0)
		twin_derive(t, "atomic.request", rest, "cycles",
			    "what atomics far apart take more than those on a line");
	for (size_t i = 0; i < COUNT_OF(atoms); i++) {
		snprintf(key, sizeof(key), "atomic.%s.latency", atoms[i]);
		if (twin_found(t, "%s", key) && twin_number(&t->r->findings, key, &v))
			twin_put(t, key, v - more, "cycles", twin_found(t, "%s", key),
				 far > 0 ? "of a near line" : NULL);
		if (!has_atomic_unit(t))
			continue;
		snprintf(key, sizeof(key), "atomic.%s.same_address", atoms[i]);
		if (twin_found(t, "%s", key))
			twin_take(t, key, "cycles", 0, "");
		snprintf(key, sizeof(key), "atomic.%s.distinct", atoms[i]);
		if (twin_found(t, "%s", key) && twin_number(&t->r->findings, key, &v) && v > rest)
			twin_put(t, key, v - rest, "cycles", twin_found(t, "%s", key),
				 rest > 0 ? "less a transaction's" : NULL);
	}
}

static void atomics_and_host(struct twin *t)
{
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
	atomics(t);
	double each, clock = t->r->device.clock_hz;
	twin_number(&t->r->findings, "device.clock_hz", &clock);
	if (twin_found(t, "host.block_interval") && twin_number(&t->r->findings, "host.block_interval", &each) &&
	    clock > 0)
		twin_derive(t, "core.block_interval", each * clock, "cycles", "host.block_interval");
	for (size_t i = 0; i < COUNT_OF(host); i++)
		if (twin_found(t, "%s", host[i].key))
			twin_take(t, host[i].key, host[i].unit, 0, "");
	if (copy)
		twin_put(t, "host.copy_latency", copy->value.number, "s", copy, "");
	if (rate && twin_has(t, "memory.texture.latency"))
		twin_put(t, "texture.lanes", rate->value.number, "ops/clk/SM", rate, "");
}

int spec_twin(struct str *out, const struct run *r, const char *like, struct err *e)
{
	struct twin t = {.r = r};
	struct str guessed;
	str_init(&guessed);
	arena_init(&t.a);
	int rc = twin_base(&t, like, e);
	if (rc == 0) {
		device(&t);
		core(&t);
		twin_operations(&t);
		shared(&t);
		memory(&t);
		twin_caches(&t);
		atomics_and_host(&t);
		rc = t.failed ? err_nomem(e) : twin_fit(&t, e);
	}
	if (rc == 0) {
		struct str body;
		str_init(&body);
		twin_print(&t, &body, &guessed);
		str_add(out, "# What one run found, as a GPU for the simulator: MEASURED and LIKELY lines are findings "
			     "with their interval.\n"
			     "# Nobody measured these keys; each line says what stands there instead:\n");
		str_add(out, str_text(&guessed));
		str_addc(out, '\n');
		str_add(out, str_text(&body));
		rc = out->failed || body.failed || guessed.failed ? err_nomem(e) : 0;
		str_free(&body);
	}
	str_free(&guessed);
	mem_free(t.lines);
	arena_free(&t.a);
	return rc;
}
