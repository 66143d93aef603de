/* The part of a description that says how requests travel. It has tables of what is outstanding, coalescing, partitions
 * and banks of the memory, atomics, and banks of the shared memory. */
#include "gpu/sim/spec_file.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

#define UNTOLD	  1e-3 /* s: any time will do */
#define KEY_BYTES 128

static bool is_power_of_two(uint64_t v)
{
	return v && (v & (v - 1)) == 0;
}

/* What is given although the key that it belongs to says that there is nothing of the kind. */
static int check_idle(const struct spec_file *f, const char *const *keys, size_t n, const char *needs)
{
	for (size_t i = 0; i < n; i++)
		if (spec_line(f, keys[i]))
			return spec_fail(f, spec_line_number(f, keys[i]), "'%s' is given, but %s", keys[i], needs);
	return 0;
}

static int check_outstanding(const struct spec_file *f, const struct sim_spec *s)
{
	static const char *const table[] = {"outstanding.entries", "outstanding.merge", "outstanding.recorders",
					    "outstanding.record"};
	if (s->outstanding == OUTSTANDING_NONE)
		return check_idle(f, table, 4, "'outstanding.kind' is none; it has to be mshr or prt");
	if (s->recorders && !(s->record > 0))
		return spec_fail(f, spec_line_number(f, table[2]),
				 "the key 'outstanding.record' is missing: what a recorder needs for a thread");
	if (!s->recorders && s->record > 0)
		return check_idle(f, table + 3, 1, "there are no 'outstanding.recorders'");
	if (!s->outstanding_entries)
		return spec_fail(f, spec_line_number(f, "outstanding.kind"),
				 "the key 'outstanding.entries' is missing: how many entries the table has");
	if (s->outstanding == OUTSTANDING_PRT)
		return check_idle(f, table + 1, 1,
				  "a pending request table merges nothing: an entry is one instruction");
	return 0;
}

static int check_coalescing(const struct spec_file *f, const struct sim_spec *s)
{
	if (s->coalesce != COALESCE_LINES && s->global.levels)
		return spec_fail(
		    f, spec_line_number(f, "memory.coalesce.rule"),
		    "'memory.coalesce.rule' is of GPUs without caches for global memory, but there are %u levels",
		    s->global.levels);
	return 0;
}

static int check_power(const struct spec_file *f, const char *key, uint64_t value, uint64_t least, const char *what)
{
	if (is_power_of_two(value) && value >= least)
		return 0;
	return spec_fail(f, spec_line_number(f, key),
			 "'%s' is %llu bytes: it has to be a power of two, no less than %s, %llu", key,
			 (unsigned long long)value, what, (unsigned long long)least);
}

static int check_dram(const struct spec_file *f, const struct sim_spec *s)
{
	static const char *const stride[] = {"memory.partition_stride", "memory.partition_mapping"};
	static const char *const bank[] = {"dram.row_bytes", "dram.row_miss", "dram.bank_busy", "dram.rows",
					   "dram.open_interval"};
	static const char *const turn[] = {"dram.turn"};
	uint64_t least = s->coalesce == COALESCE_LINES ? s->coalesce_segment : 128;
	for (uint32_t k = 0; k < CONST_LEVELS; k++)
		if (s->global.level[k].present && s->global.level[k].sector > least)
			least = s->global.level[k].sector;
	if (s->memory_partitions > 1 && !s->partition_stride)
		return spec_fail(
		    f, spec_line_number(f, "memory.partitions"),
		    "the key 'memory.partition_stride' is missing: after how many bytes the next of the %u partitions "
		    "follows",
		    s->memory_partitions);
	int rc = s->memory_partitions > 1 ? check_power(f, stride[0], s->partition_stride, least, "one transaction")
					  : check_idle(f, stride, 2, "'memory.partitions' is not more than 1");
	if (rc == 0 && !s->dram.write_batch)
		rc = check_idle(f, turn, 1, "'dram.write_batch' is 0");
	if (rc)
		return rc;
	if (!s->dram.banks)
		return check_idle(f, bank, sizeof bank / sizeof bank[0], "there are no 'dram.banks'");
	if (!s->dram.row_bytes)
		return spec_fail(f, spec_line_number(f, "dram.banks"),
				 "the key 'dram.row_bytes' is missing: how many bytes one row of a bank has");
	return check_power(f, bank[0], s->dram.row_bytes, least, "one transaction");
}

static int check_banks(const struct spec_file *f, const struct sim_spec *s)
{
	uint32_t mode = s->shared_bank_mode;
	if (mode && (mode > s->shared_bank_width || s->shared_bank_width % mode))
		return spec_fail(f, spec_line_number(f, "shared.bank_mode"),
				 "'shared.bank_mode' is %u bytes: it has to divide 'shared.bank_width', %u", mode,
				 s->shared_bank_width);
	return 0;
}

static int check_boost(const struct spec_file *f, const struct sim_spec *s)
{
	static const char *const keys[] = {"noise.boost_interval", "noise.boost_cycles"};
	const struct noise_spec *n = &s->noise;
	if (!(n->boost > 0))
		return check_idle(f, keys, 2, "'noise.boost' is 0");
	for (size_t i = 0; i < 2; i++)
		if (!spec_line(f, keys[i]))
			return spec_fail(
			    f, spec_line_number(f, "noise.boost"),
			    "the key '%s' is missing: a boost needs a length, and an interval in which it comes once",
			    keys[i]);
	if (n->boost_cycles < 1 || n->boost_interval <= n->boost_cycles)
		return spec_fail(
		    f, spec_line_number(f, keys[1]),
		    "'noise.boost_cycles' is %g: it has to be at least 1 and less than 'noise.boost_interval', %g",
		    n->boost_cycles, n->boost_interval);
	return 0;
}

int spec_check_requests(const struct spec_file *f, const struct sim_spec *s)
{
	int rc = check_outstanding(f, s);
	if (rc == 0)
		rc = check_coalescing(f, s);
	if (rc == 0)
		rc = check_dram(f, s);
	if (rc == 0)
		rc = check_banks(f, s);
	return rc ? rc : check_boost(f, s);
}

/* ---- what a probe should find ---- */

struct teller {
	int (*each)(void *ctx, const struct truth *t);
	void *ctx;
	int rc;
};

static void tell(struct teller *t, const struct truth *one)
{
	if (t->rc == 0)
		t->rc = t->each(t->ctx, one);
}

static void tell_number(struct teller *t, const char *key, double number, double tolerance)
{
	tell(t, &(struct truth){.key = key, .number = number, .tolerance = tolerance});
}

static void tell_text(struct teller *t, const char *key, const char *text)
{
	tell(t, &(struct truth){.key = key, .text = text});
}

static void tell_absent(struct teller *t, const char *key)
{
	tell(t, &(struct truth){.key = key, .absent = true});
}

/* What has no limit is larger than any number: one can say of it that it is at least so much, and no more. */
static void tell_limit(struct teller *t, const char *key, uint32_t limit)
{
	tell_number(t, key, limit ? limit : INFINITY, 0);
}

#define RATE 0.05	 /* of what the host's side takes: how far off a right number may be */
enum { FITS_LOADS = 4 }; /* of a thread, at most */

/* Threads of a block whose lines of `group` threads all have an entry. A line that needs several may come with the first of them, so
 * one line more may seem to fit. */
static void tell_fits(struct teller *t, const struct sim_spec *s, uint32_t loads, uint32_t group)
{
	const uint32_t merge = s->outstanding_merge && s->outstanding_merge < group ? s->outstanding_merge : group,
		       each = (group + merge - 1) / merge;
	uint32_t threads = s->outstanding_entries / loads * s->warp_size;
	char key[KEY_BYTES];

	if (s->outstanding == OUTSTANDING_MSHR)
		threads = s->outstanding_entries / (loads * each) * group;
	snprintf(key, sizeof key, "outstanding.ilp%u.merge%u.threads", loads, group);
	const uint32_t slack = s->outstanding == OUTSTANDING_MSHR && each > 1 ? group : 0,
		       first = s->outstanding_entries / loads + (s->outstanding_entries % loads > 0);
	tell_number(t, key, threads, slack);
	snprintf(key, sizeof key, "outstanding.ilp%u.merge%u.requests", loads, group);
	tell_number(t, key, threads * loads, slack * loads);
	/* Loads go out thread by thread: of the last one that has a part in it, perhaps only the first. */
	snprintf(key, sizeof key, "outstanding.ilp%u.merge%u.warps", loads, group);
	if (s->outstanding == OUTSTANDING_PRT)
		tell_number(t, key, first, 0);
	else
		tell_number(t, key, ceil(ceil((double)s->outstanding_entries / each / loads) * group / s->warp_size),
			    slack ? 1 : 0);
}

/* The L2's port hides who waits for a recorder, as it gives one line behind the other. A pipe that takes a warp no
 * sooner does so, too. */
static void tell_parallel(struct teller *t, const struct sim_spec *s)
{
	const struct cache_spec *l2 = s->has_l2 ? &s->global.level[1] : NULL;
	if (!s->recorders) {
		tell_absent(t, "outstanding.parallel");
		tell_absent(t, "outstanding.record");
	} else if (s->recorders > 1 && l2 && !(l2->bandwidth > 0) && !(l2->interval > 0) &&
		   s->global.issue + s->global.request < s->record * s->warp_size / 4) {
		tell_number(t, "outstanding.parallel", s->recorders * s->warp_size, 0);
		/* A few cycles of the counter, and of what goes on between two loads. */
		tell_number(t, "outstanding.record", s->record,
			    (2 * s->clock_granularity + s->scheduler_issue) / (s->warp_size - 1));
	}
}

static void tell_outstanding(struct teller *t, const struct sim_spec *s)
{
	const uint32_t entries = s->outstanding == OUTSTANDING_NONE ? 0 : s->outstanding_entries;
	for (uint32_t loads = 1; entries && loads <= FITS_LOADS; loads++)
		for (uint32_t group = 1; group <= s->warp_size; group *= 2)
			tell_fits(t, s, loads, group);
	tell_limit(t, "outstanding.requests", s->outstanding == OUTSTANDING_PRT ? entries * s->warp_size : entries);
	if (entries)
		tell_number(t, "outstanding.entry_requests", s->outstanding == OUTSTANDING_PRT ? s->warp_size : 1, 0);
	tell_parallel(t, s);
	tell_limit(t, "outstanding.loads_per_warp", s->loads_in_flight);
	tell_limit(t, "outstanding.entries", entries);
	if (s->outstanding == OUTSTANDING_NONE)
		tell_absent(t, "outstanding.kind");
	else
		tell_text(t, "outstanding.kind", s->outstanding == OUTSTANDING_MSHR ? "mshr" : "prt");
	if (s->outstanding == OUTSTANDING_MSHR)
		tell_limit(t, "outstanding.merge", s->outstanding_merge);
	else
		tell_absent(t, "outstanding.merge");
}

static void tell_host(struct teller *t, const struct host_spec *h)
{
	const struct {
		const char *key;
		double value, unit;
	} all[] = {
	    {"host.h2d.bandwidth", h->h2d, 1e-9},
	    {"host.d2h.bandwidth", h->d2h, 1e-9},
	    {"host.h2d.pageable_bandwidth", h->h2d_pageable > 0 ? h->h2d_pageable : h->h2d, 1e-9},
	    {"host.d2h.pageable_bandwidth", h->d2h_pageable > 0 ? h->d2h_pageable : h->d2h, 1e-9},
	    {"host.h2d.latency", h->copy_latency, 1},
	    {"host.d2h.latency", h->copy_latency, 1},
	};
	const double slower = 2 * fmin(h->h2d, h->d2h);
	for (size_t i = 0; i < sizeof all / sizeof *all; i++)
		if (all[i].value > 0)
			tell_number(t, all[i].key, all[i].value * all[i].unit, RATE * all[i].value * all[i].unit);
	if (slower > 0) {
		const double both = h->both > 0 ? fmin(h->both, slower) : slower;
		tell_number(t, "host.both.bandwidth", 1e-9 * both, RATE * 1e-9 * both);
		tell_text(t, "host.overlap", h->overlap ? "yes" : "no");
	}
	/* Without a latency of its own the host's memory is as the device's, and that by all of its caches. */
	tell_number(t, "host.mapped.latency", h->mapped_latency,
		    h->mapped_latency > 0 ? RATE * h->mapped_latency : UNTOLD);
	/* What an empty kernel takes, at least. */
	tell_number(t, "host.launch_interval", h->launch_interval, RATE * h->launch_interval + 1e-6);
}

/* Rows that lanes served together ask of the bank that is asked for most of them, their words of 4 bytes `stride` apart. */
static uint32_t ways(const struct sim_spec *s, uint32_t mode, uint32_t stride)
{
	const uint32_t row = s->shared_banks * s->shared_bank_width, fed = row / 4 < 32 ? row / 4 : 32,
		       lanes = s->shared_lanes && s->shared_lanes < fed ? s->shared_lanes : fed,
		       group = lanes < s->shared_banks ? lanes : s->shared_banks;
	uint32_t most = 0;
	for (uint32_t a = 0; a < group; a++) {
		uint32_t rows = 0;
		for (uint32_t b = 0; b < group; b++) {
			bool known = false;
			for (uint32_t c = 0; c < b; c++)
				known |=
				    c * stride * 4 / row == b * stride * 4 / row &&
				    c * stride * 4 / mode % s->shared_banks == b * stride * 4 / mode % s->shared_banks;
			rows += !known &&
				b * stride * 4 / mode % s->shared_banks == a * stride * 4 / mode % s->shared_banks;
		}
		most = rows > most ? rows : most;
	}
	return most;
}

static void tell_ways(struct teller *t, const struct sim_spec *s)
{
	const uint32_t mode = s->shared_bank_mode ? s->shared_bank_mode : s->shared_bank_width;
	for (uint32_t stride = 2; stride <= 6; stride += 2) {
		char key[KEY_BYTES];
		snprintf(key, sizeof key, "shared.stride%u.ways", stride);
		tell_number(t, key, ways(s, mode, stride), 0);
		snprintf(key, sizeof key, "shared.stride%u.wide_ways", stride);
		if (s->shared_bank_width % 8 == 0)
			tell_number(t, key, ways(s, 8, stride), 0);
	}
}

int spec_truth_requests(const struct sim_spec *s, int (*each)(void *ctx, const struct truth *t), void *ctx)
{
	struct teller t = {each, ctx, 0};
	tell_outstanding(&t, s);
	const struct host_spec *h = &s->host;
	tell_host(&t, h);
	/* The kernel itself takes some cycles. */
	tell_number(&t, "host.launch_latency", h->launch_latency, 0.05 * h->launch_latency + 1e-6);
	/* How blocks follow each other hangs on answers from beyond a cluster, and is nothing that a description says. */
	tell_number(&t, "host.block_interval", 0, UNTOLD);
	static const char *const rules[] = {"lines", "g80", "gt200"};
	tell_text(&t, "memory.coalesce.rule", rules[s->coalesce]);
	tell_number(&t, "memory.coalesce.segment", s->coalesce == COALESCE_LINES ? s->coalesce_segment : 32, 0);
	/* One partition is none that a stride could find, and so are those that no stride finds. */
	if (s->memory_partitions > 1 && s->partition_mapping == MAP_MODULO) {
		tell_number(&t, "memory.partitions", s->memory_partitions, 0);
		tell_number(&t, "memory.partition_stride", (double)s->partition_stride, 0);
	} else {
		tell_absent(&t, "memory.partitions");
		tell_absent(&t, "memory.partition_stride");
	}
	tell_number(&t, "shared.banks", s->shared_banks, 0);
	tell_number(&t, "shared.bank_width", s->shared_bank_width, 0);
	tell_number(&t, "shared.bank_mode", s->shared_bank_mode ? s->shared_bank_mode : s->shared_bank_width, 0);
	tell_number(&t, "shared.conflict_cost", s->shared_conflict_cost, 0.05 * s->shared_conflict_cost);
	tell_text(&t, "shared.broadcast", "yes");
	tell_ways(&t, s);
	return t.rc;
}
