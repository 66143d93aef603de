/* What a walk through a few places should find: the latency of the nearest cache that holds them, or of the memory. */
#include "gpu/sim/spec_file.h"
#include <math.h>
#include <stdio.h>

#define PLACES	  64
#define OWN	  4 /* of private memory: a word of each lane lies beside those of the others */
#define TOLERANCE 0.05

struct wait {
	double cycles, tolerance;
};

/* Of a load of one thread by this path, whose places take so many bytes. */
static struct wait wait_of(const struct sim_spec *s, const struct path_spec *p, bool global, uint64_t bytes)
{
	struct wait w = {p->memory_latency + s->dram.row_miss / 2, s->dram.row_miss / 2};
	const uint32_t levels = global ? 2 : p->levels;
	enum cache_scope scope = SCOPE_GPU;
	for (uint32_t i = 0; i < levels; i++) {
		const struct cache_spec *c = &p->level[i];
		if ((global && !(i ? s->has_l2 : s->has_l1)) || c->size < bytes)
			continue;
		const double far = c->partitions > 1 ? c->far_extra : 0;
		w = (struct wait){c->latency + far / 2, far / 2};
		scope = c->scope;
		break;
	}
	for (uint32_t k = 0; scope == SCOPE_GPU && k < s->cluster_count; k++)
		w.tolerance = fmax(w.tolerance, fabs(s->cluster_offset[k]));
	if (scope != SCOPE_SM)
		w.tolerance += s->noise.jitter_probability * s->noise.jitter_cycles;
	w.cycles += p->address_ops * p->address_latency;
	w.tolerance += 1 + TOLERANCE * w.cycles;
	return w;
}

int spec_truth_walk(const struct sim_spec *s, int (*each)(void *ctx, const struct truth *t), void *ctx)
{
	const struct {
		const char *space;
		const struct path_spec *path;
		uint32_t least, most;
		uint64_t places;
	} rows[] = {{"global", &s->global, 1, 16, PLACES},
		    {"shared", &s->shared, 4, 4, PLACES},
		    {"constant", &s->constant, 4, 4, PLACES},
		    {"private", &s->global, 4, 4, (uint64_t)OWN * s->warp_size}};
	int rc = 0;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		for (uint32_t bytes = rows[i].least; bytes <= rows[i].most && !rc; bytes *= 2) {
			char key[64];
			const struct wait w =
			    wait_of(s, rows[i].path, rows[i].path == &s->global, rows[i].places * bytes);
			snprintf(key, sizeof key, "memory.%s.%u.completion", rows[i].space, bytes);
			rc = each(ctx, &(struct truth){.key = key, .number = w.cycles, .tolerance = w.tolerance});
		}
	return rc;
}
