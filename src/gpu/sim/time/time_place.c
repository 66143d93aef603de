#include "gpu/sim/time/time_place.h"
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define BARRIERS      16 /* of one block */
#define CLUSTERS_FROM 90 /* the PTX manual, cluster of CTAs: .target sm_90 */

static uint64_t up(uint64_t n, uint64_t quantum)
{
	return quantum > 1 ? (n + quantum - 1) / quantum * quantum : n;
}

static uint32_t cut(uint64_t n)
{
	return n > UINT32_MAX ? UINT32_MAX : (uint32_t)n;
}

void time_need(struct time_need *n, const struct sim_spec *s, uint64_t threads, uint32_t registers, uint64_t shared,
	       uint32_t barriers)
{
	const struct regfile_spec *f = &s->regfile;
	uint64_t each = up(registers, f->register_quantum), held = up(threads, f->thread_quantum), all;
	if (f->allocation == ALLOCATE_WARP)
		all = (held + s->warp_size - 1) / s->warp_size * up(each * s->warp_size, f->unit);
	else
		all = up(held * each, f->unit);
	*n = (struct time_need){.blocks = 1,
				.warps = cut((threads + s->warp_size - 1) / s->warp_size),
				.threads = cut(threads),
				.registers = cut(all),
				.barriers = barriers,
				.shared = up(shared, s->shared_quantum),
				.room = s->shared_per_sm};
}

uint64_t time_shared_room(const struct sim_spec *s, uint32_t percent, uint64_t block)
{
	const uint64_t asked = s->shared_per_sm * percent / 100, least = asked > block ? asked : block;
	for (uint32_t k = 0; percent && k < s->shared_splits; k++)
		if (s->shared_split[k] >= least)
			return s->shared_split[k];
	return s->shared_per_sm;
}

bool time_fits(const struct sim_spec *s, const struct time_need *used, const struct time_need *n)
{
	uint32_t most = s->max_blocks_per_sm ? s->max_blocks_per_sm : UINT32_MAX;
	return used->blocks < most && used->warps + n->warps <= s->max_warps_per_sm &&
	       used->threads + n->threads <= s->max_threads_per_sm &&
	       (uint64_t)used->registers + n->registers <= s->registers_per_sm && used->shared + n->shared <= n->room &&
	       (!s->barrier_slots || used->barriers + n->barriers <= s->barrier_slots);
}

uint32_t time_most(const struct sim_spec *s, const struct time_need *one, struct time_need *used, uint64_t upto)
{
	*used = (struct time_need){0};
	while (used->blocks < upto && time_fits(s, used, one)) {
		used->blocks++;
		used->warps += one->warps;
		used->threads += one->threads;
		used->registers += one->registers;
		used->barriers += one->barriers;
		used->shared += one->shared;
	}
	return used->blocks;
}

static int refuse(char *why, size_t room, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
static int refuse(char *why, size_t room, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(why, room, fmt, ap);
	va_end(ap);
	return -EINVAL;
}

int time_need_check(const struct sim_spec *s, const struct time_need *n, const struct func_launch *l,
		    const struct func_program *p, char *why, size_t room)
{
	uint64_t threads = (uint64_t)l->block[0] * l->block[1] * l->block[2];
	if (!threads || !l->grid[0] || !l->grid[1] || !l->grid[2])
		return refuse(why, room, "the grid or the block is empty");
	if (p->block[0] && memcmp(p->block, l->block, sizeof p->block) != 0)
		return refuse(why, room,
			      "line %u: the kernel is for blocks of %u x %u x %u threads, not of %u x %u x %u", p->line,
			      p->block[0], p->block[1], p->block[2], l->block[0], l->block[1], l->block[2]);
	if (p->most_threads && threads > p->most_threads)
		return refuse(why, room, "line %u: the kernel is for blocks of at most %llu threads, not of %llu",
			      p->line, (unsigned long long)p->most_threads, (unsigned long long)threads);
	if (threads > s->max_threads_per_block || threads > s->max_threads_per_sm || n->warps > s->max_warps_per_sm)
		return refuse(why, room, "a block of %llu threads is more than the %u that this GPU allows",
			      (unsigned long long)threads, s->max_threads_per_block);
	if (l->shared_bytes > spec_shared_most(s) || n->shared > s->shared_per_sm)
		return refuse(
		    why, room,
		    "line %u: a block with %u bytes of shared memory is more than the %llu that this GPU allows",
		    p->line, l->shared_bytes, (unsigned long long)spec_shared_most(s));
	if (s->regfile.max_per_thread && p->registers > s->regfile.max_per_thread)
		return refuse(why, room, "line %u: a thread needs %u registers, more than the %u that this GPU allows",
			      p->register_line, p->registers, s->regfile.max_per_thread);
	if (n->registers > s->registers_per_sm)
		return refuse(why, room,
			      "line %u: too many resources requested for launch: a block of %llu threads with %u "
			      "registers each needs %u registers, more than the %u of one SM",
			      p->register_line, (unsigned long long)threads, p->registers, n->registers,
			      s->registers_per_sm);
	if (s->barrier_slots && n->barriers > s->barrier_slots)
		return refuse(why, room, "line %u: a block with %u barriers is more than the %u of one SM", p->line,
			      n->barriers, s->barrier_slots);
	const uint32_t blocks = func_cluster_size(l);
	struct time_need used;
	if (blocks > 1 && s->cc < CLUSTERS_FROM)
		return refuse(why, room, "line %u: clusters of blocks begin with sm_%u, and this GPU is sm_%u", p->line,
			      CLUSTERS_FROM, s->cc);
	if (p->cluster[0] && memcmp(p->cluster, l->cluster, sizeof p->cluster) != 0)
		return refuse(
		    why, room, "line %u: the kernel is for clusters of %u x %u x %u blocks, not of %u x %u x %u",
		    p->line, p->cluster[0], p->cluster[1], p->cluster[2], l->cluster[0], l->cluster[1], l->cluster[2]);
	for (unsigned k = 0; blocks > 1 && k < 3; k++)
		if (l->grid[k] % l->cluster[k])
			return refuse(
			    why, room, "line %u: a grid of %u x %u x %u blocks is not made of clusters of %u x %u x %u",
			    p->line, l->grid[0], l->grid[1], l->grid[2], l->cluster[0], l->cluster[1], l->cluster[2]);
	if (blocks > FUNC_CLUSTER_MOST || (blocks > 1 && time_most(s, n, &used, blocks) * s->sm_count < blocks))
		return refuse(why, room, "line %u: a cluster of %u blocks is larger than any that this GPU takes",
			      p->line, blocks);
	if (p->const_bytes > s->constant_bytes)
		return refuse(why, room, "line %u: %llu bytes of constants are more than the %llu that this GPU has",
			      p->line, (unsigned long long)p->const_bytes, (unsigned long long)s->constant_bytes);
	return 0;
}

static bool literal_of(const struct func_program *p, uint16_t row, uint64_t *value)
{
	for (uint32_t k = 0; k < p->literal_count; k++)
		if (p->literal[k].row == row) {
			*value = p->literal[k].bits;
			return true;
		}
	return false;
}

uint32_t time_barriers_named(const struct func_program *p)
{
	uint32_t most = 0;
	for (uint32_t i = 0; i < p->inst_count; i++) {
		const struct func_inst *b = &p->inst[i];
		uint64_t number = 0;
		if (b->kind != FUNC_BARRIER || b->flags & FUNC_WARP_SYNC)
			continue;
		if (b->a != FUNC_NONE && !literal_of(p, b->a, &number))
			return BARRIERS;
		uint32_t upto = (uint32_t)(number % BARRIERS) + 1;
		most = upto > most ? upto : most;
	}
	return most;
}
