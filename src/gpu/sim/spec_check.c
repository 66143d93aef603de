/* What no single line of a .gpu file can tell: values that contradict each other. */
#include "gpu/sim/func/func.h"
#include "gpu/sim/spec_file.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KEY_BYTES 128

static bool is_power_of_two(uint64_t v)
{
	return v && (v & (v - 1)) == 0;
}

static int check_device(const struct spec_file *f, const struct sim_spec *s)
{
	const struct {
		const char *key;
		uint64_t value;
		const char *limit_key;
		uint64_t limit;
	} order[] = {
	    {"device.max_threads_per_block", s->max_threads_per_block, "device.max_threads_per_sm",
	     s->max_threads_per_sm},
	    {"device.max_threads_per_sm", s->max_threads_per_sm, "device.max_warps_per_sm x device.warp_size",
	     (uint64_t)s->max_warps_per_sm * s->warp_size},
	    {"shared.per_block", s->shared_per_block, "shared.size", s->shared_per_sm},
	    {"shared.opt_in", s->shared_opt_in, "shared.size", s->shared_per_sm},
	    {"memory.constant.size", s->constant_bytes, "memory.global.size", s->memory_bytes},
	};
	for (size_t i = 0; i < sizeof order / sizeof order[0]; i++)
		if (order[i].value > order[i].limit)
			return spec_fail(f, spec_line_number(f, order[i].key),
					 "'%s' is %llu, more than %s, which is %llu", order[i].key,
					 (unsigned long long)order[i].value, order[i].limit_key,
					 (unsigned long long)order[i].limit);
	char *end = NULL;
	long number = strncmp(s->target, "sm_", 3) == 0 ? strtol(s->target + 3, &end, 10) : 0;
	if (!end || *end || number != s->cc)
		return spec_fail(f, spec_line_number(f, "device.target"),
				 "'device.target' is '%s'; for compute capability %d.%d it has to be sm_%d", s->target,
				 s->cc / 10, s->cc % 10, s->cc);
	if (s->warp_size > FUNC_LANES && s->independent_threads)
		return spec_fail(f, spec_line_number(f, "device.warp_size"),
				 "'device.warp_size' is %u; with independent threads a warp has at most %d",
				 s->warp_size, FUNC_LANES);
	if (!s->texture_tile_bytes != !s->texture_tile_rows)
		return spec_fail(
		    f, spec_line_number(f, s->texture_tile_bytes ? "texture.tile.bytes" : "texture.tile.rows"),
		    "a tile needs both 'texture.tile.bytes' and 'texture.tile.rows'");
	if (s->texture_tile_bytes && (!is_power_of_two(s->texture_tile_bytes) || s->texture_tile_bytes < 16))
		return spec_fail(f, spec_line_number(f, "texture.tile.bytes"),
				 "'texture.tile.bytes' is %u; it has to be a power of two from 16 on",
				 s->texture_tile_bytes);
	if (s->texture_tile_rows && !is_power_of_two(s->texture_tile_rows))
		return spec_fail(f, spec_line_number(f, "texture.tile.rows"),
				 "'texture.tile.rows' is %u, no power of two", s->texture_tile_rows);
	const struct regfile_spec *r = &s->regfile;
	if (r->allocation == ALLOCATE_WARP && r->unit > 1 && r->unit % s->warp_size)
		return spec_fail(f, spec_line_number(f, "regfile.unit"),
				 "'regfile.unit' is %u, no multiple of the warp's %u threads, which share it", r->unit,
				 s->warp_size);
	if (r->allocation == ALLOCATE_WARP && r->thread_quantum > 1 && r->thread_quantum % s->warp_size)
		return spec_fail(f, spec_line_number(f, "regfile.thread_quantum"),
				 "'regfile.thread_quantum' is %u, but registers are given to whole warps of %u",
				 r->thread_quantum, s->warp_size);
	if (s->barrier_slots && s->barrier_slots < 16)
		return spec_fail(f, spec_line_number(f, "core.barrier_slots"),
				 "'core.barrier_slots' is %u, fewer than the 16 that one block may name",
				 s->barrier_slots);
	if (!is_power_of_two(s->coalesce_segment))
		return spec_fail(f, spec_line_number(f, "memory.coalesce.segment"),
				 "'memory.coalesce.segment' is %u, no power of two", s->coalesce_segment);
	return 0;
}

static int check_op(const struct spec_file *f, const struct sim_spec *s, const struct op_spec *o)
{
	char key[KEY_BYTES];
	const char *type = o->type;
	snprintf(key, sizeof key, "arith.%s.%s.latency", o->op, type);
	unsigned line = spec_line_number(f, key);
	if (strcmp(type, "f64") == 0 && !s->has_f64)
		return spec_fail(f, line, "'%s' is given, but 'device.has_f64' is no", key);
	if (strncmp(type, "f16", 3) == 0 && !s->has_f16)
		return spec_fail(f, line, "'%s' is given, but 'device.has_f16' is no", key);
	if (strcmp(o->op, "fma") == 0 && strcmp(type, "f32") == 0 && !s->has_fma)
		return spec_fail(f, line, "'%s' is given, but 'device.has_fma' is no", key);
	if (o->latency < o->native_ops * s->scheduler_issue)
		return spec_fail(f, line, "'%s' is %g cycles, less than %u native instructions take to issue", key,
				 o->latency, o->native_ops);
	if (o->latency < s->warp_interval)
		return spec_fail(f, line, "'%s' is %g cycles, less than 'core.warp_interval', %g", key, o->latency,
				 s->warp_interval);
	double most = s->warp_size * s->schedulers * (s->dual_issue ? 2 : 1) / (s->scheduler_issue * o->native_ops);
	snprintf(key, sizeof key, "arith.%s.%s.throughput", o->op, type);
	if (o->throughput > most * 1.000001)
		return spec_fail(f, spec_line_number(f, key),
				 "'%s' is %g ops/clk/SM, but the schedulers can issue %g at most", key, o->throughput,
				 most);
	/* A chain cannot be faster than the pipe that one of its instructions keeps busy. */
	for (uint32_t i = 0; i < o->pipe_count; i++) {
		double copies = s->pipe[o->pipe[i]].per_scheduler ? s->schedulers : 1;
		double busy = s->warp_size * copies / o->rate[i];
		if (busy > o->latency * 1.000001)
			return spec_fail(
			    f, line, "'arith.%s.%s.latency' is %g cycles, but one warp keeps the pipe %s busy for %g",
			    o->op, type, o->latency, s->pipe[o->pipe[i]].name, busy);
	}
	return 0;
}

static int check_geometry(const struct spec_file *f, const struct cache_spec *c, const char *path, const char *level)
{
	char key[KEY_BYTES];
#define AT(property) (snprintf(key, sizeof key, "cache.%s.%s." property, path, level), spec_line_number(f, key))
	if (!is_power_of_two(c->line))
		return spec_fail(f, AT("line"), "'%s' is %u bytes, no power of two", key, c->line);
	if (c->sector > c->line || !is_power_of_two(c->sector))
		return spec_fail(f, AT("sector"),
				 "'%s' is %u bytes: it has to be a power of two, at most the line of %u", key,
				 c->sector, c->line);
	if (c->policy == POLICY_PLRU && !is_power_of_two(c->ways))
		return spec_fail(f, AT("policy"), "'%s' is plru, which needs a power of two of ways, not %u", key,
				 c->ways);
	if (c->mapping != MAP_MODULO && !is_power_of_two(c->sets))
		return spec_fail(f, AT("mapping"), "'%s' is %s, which needs a power of two of sets, not %u", key,
				 c->mapping == MAP_HASH ? "hash" : "scramble", c->sets);
	if (c->policy == POLICY_WEIGHTED) {
		double sum = 0;
		for (uint32_t i = 0; i < c->ways; i++)
			sum += c->weight[i];
		if (AT("replacement_probability") == 0)
			return spec_fail(f, AT("policy"),
					 "the policy is weighted, but cache.%s.%s.replacement_probability is missing",
					 path, level);
		if (fabs(sum - 1) > 1e-6)
			return spec_fail(f, AT("replacement_probability"), "'%s' sums to %g, not to 1", key, sum);
	}
	if (c->partitions == 1 && c->far_extra > 0)
		return spec_fail(f, AT("far_extra"), "'%s' needs two partitions", key);
	if (c->partitions > 1 && c->scope != SCOPE_GPU)
		return spec_fail(f, AT("partitions"), "'%s' is for caches with scope gpu", key);
	snprintf(key, sizeof key, "cache.%s.%s", path, level);
	return spec_check_cache(f, c, key);
#undef AT
}

static double nearest_cluster(const struct sim_spec *s)
{
	double v = 0;
	for (uint32_t i = 0; i < s->cluster_count; i++)
		if (s->cluster_offset[i] < v)
			v = s->cluster_offset[i];
	return v;
}

static int check_pair(const struct spec_file *f, const struct cache_spec *up, const struct cache_spec *c,
		      const char *path, const char *level)
{
	char key[KEY_BYTES];
#define AT(property) (snprintf(key, sizeof key, "cache.%s.%s." property, path, level), spec_line_number(f, key))
	if (c->size <= up->size)
		return spec_fail(f, AT("size"), "'%s' is %llu bytes, no more than the level above has", key,
				 (unsigned long long)c->size);
	if (c->scope < up->scope)
		return spec_fail(f, AT("scope"), "'%s' is shared by fewer SMs than the level above", key);
	if (c->line < up->sector)
		return spec_fail(f, AT("line"), "'%s' is %u bytes, less than the level above fills at once", key,
				 c->line);
	return 0;
#undef AT
}

static int check_slower(const struct spec_file *f, const char *key, double latency, double above)
{
	if (latency > above)
		return 0;
	return spec_fail(f, spec_line_number(f, key),
			 "'%s' gives %g cycles in the nearest cluster, no more than the level above (%g)", key, latency,
			 above);
}

/* Each level is slower, larger and shared by no fewer than the one above, wherever the cluster sits. */
static int check_order(const struct spec_file *f, const struct sim_spec *s, const struct path_spec *p, const char *path)
{
	char key[KEY_BYTES];
	const struct cache_spec *up = NULL;
	/* A fetch that hits the first level may cost nothing. */
	double near = nearest_cluster(s), above = p == &s->fetch.path ? -1 : 0;
	for (uint32_t i = 0; i < CONST_LEVELS; i++) {
		const struct cache_spec *c = &p->level[i];
		if (!c->present)
			continue;
		double latency = c->latency + (c->scope == SCOPE_GPU ? near : 0);
		snprintf(key, sizeof key, "cache.%s.%s.latency", path, spec_level_names[i]);
		int rc = check_slower(f, key, latency, above);
		if (rc == 0 && up)
			rc = check_pair(f, up, c, path, spec_level_names[i]);
		if (rc)
			return rc;
		above = latency + c->far_extra;
		up = c;
	}
	snprintf(key, sizeof key, "memory.%s.latency", path);
	return check_slower(f, key, p->memory_latency + near, above);
}

static int check_path(const struct spec_file *f, const struct sim_spec *s, const struct path_spec *p, const char *path)
{
	for (uint32_t i = 0; i < CONST_LEVELS; i++) {
		const struct cache_spec *c = &p->level[i];
		int rc = c->present ? check_geometry(f, c, path, spec_level_names[i]) : 0;
		if (rc)
			return rc;
	}
	return check_order(f, s, p, path);
}

static int check_paths(const struct spec_file *f, const struct sim_spec *s)
{
	int rc = check_path(f, s, &s->constant, "constant");
	if (rc == 0)
		rc = check_path(f, s, &s->global, "global");
	if (rc == 0 && s->fetch.path.levels)
		rc = check_path(f, s, &s->fetch.path, "instruction");
	if (rc == 0 && s->has_texture)
		rc = check_path(f, s, &s->texture, "texture");
	if (rc == 0)
		rc = spec_check_texture(f, s);
	if (rc == 0)
		rc = spec_check_tlbs(f, s);
	if (rc == 0)
		rc = spec_check_fetch(f, s);
	if (rc)
		return rc;
	const struct cache_spec *l1 = s->has_l1 ? &s->global.level[0] : NULL;
	const struct cache_spec *l2 = s->has_l2 ? &s->global.level[1] : NULL;
	if (l1 && l1->scope != SCOPE_SM)
		return spec_fail(f, spec_line_number(f, "cache.global.l1.scope"),
				 "'cache.global.l1.scope' has to be sm");
	if (l2 && l2->scope != SCOPE_GPU)
		return spec_fail(f, spec_line_number(f, "cache.global.l2.scope"),
				 "'cache.global.l2.scope' has to be gpu");
	if (s->l1_shares_shared && l1 && l1->size <= s->shared_per_sm)
		return spec_fail(
		    f, spec_line_number(f, "cache.global.l1.shared_with"),
		    "the L1 shares its memory with the shared memory, so 'cache.global.l1.size' has to be larger "
		    "than 'shared.size'");
	if (s->l1_shares_shared && l1 && l1->set_ways)
		return spec_fail(f, spec_line_number(f, "cache.global.l1.shared_with"),
				 "the L1 gives ways to the shared memory, so its sets have to be equal: leave out "
				 "'cache.global.l1.set_sizes'");
	if (s->readonly_by_texture && !(s->has_texture && s->texture.levels))
		return spec_fail(f, spec_line_number(f, "cache.readonly.l1.shared_with"),
				 "'cache.readonly.l1.shared_with' is texture.l1, but there is no such cache");
	if (s->local_past_l1 && !(l1 && l2))
		return spec_fail(f, spec_line_number(f, "cache.local.l1.shared_with"),
				 "'cache.local.l1.shared_with' is global.l2, but there is none behind an L1");
	for (uint32_t k = 0; k < CONST_LEVELS; k++) {
		/* What a cache above the last one wrote back would have to be looked up below it. */
		bool last = k == (l2 ? 1u : 0u);
		char key[KEY_BYTES];
		snprintf(key, sizeof key, "cache.constant.%s.write", spec_level_names[k]);
		if (s->constant.level[k].present && s->constant.level[k].write == WRITE_BACK)
			return spec_fail(f, spec_line_number(f, key), "'%s' is back, but nothing stores to constants",
					 key);
		snprintf(key, sizeof key, "cache.global.%s.write", spec_level_names[k]);
		if (s->global.level[k].present && s->global.level[k].write == WRITE_BACK && !last)
			return spec_fail(f, spec_line_number(f, key), "'%s' is back, which only the last level can be",
					 key);
	}
	if (s->constant_uses_l2 && !l2)
		return spec_fail(f, spec_line_number(f, "cache.constant.backing"),
				 "'cache.constant.backing' is global.l2, but there is no such cache");
	return 0;
}

int spec_check(const struct spec_file *f, const struct sim_spec *s)
{
	int rc = check_device(f, s);
	for (uint32_t i = 0; rc == 0 && i < s->op_count; i++)
		rc = check_op(f, s, &s->op[i]);
	if (rc == 0)
		rc = check_paths(f, s);
	if (rc)
		return rc;
	rc = spec_check_requests(f, s);
	if (rc)
		return rc;
	double sum = 0;
	for (uint32_t i = 0; i < s->cluster_count; i++)
		sum += s->cluster_offset[i];
	if (fabs(sum) > 1e-6 * s->cluster_count)
		return spec_fail(f, spec_line_number(f, "network.cluster_offset"),
				 "'network.cluster_offset' sums to %g, not to 0: the latencies are means over clusters",
				 sum);
	if (s->noise.refresh_interval > 0 && s->noise.refresh_cycles >= s->noise.refresh_interval)
		return spec_fail(f, spec_line_number(f, "noise.refresh_cycles"),
				 "'noise.refresh_cycles' is no shorter than 'noise.refresh_interval'");
	return 0;
}
