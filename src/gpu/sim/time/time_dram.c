#include "gpu/sim/time/time_dram.h"
#include "base/arena.h"
#include <errno.h>
#include <math.h>
#include <string.h>

#define FIX	 10 /* as in time_state.h */
#define FRACTION 20

static uint64_t fixed(double cycles)
{
	return (uint64_t)llround(cycles * (1 << FIX));
}

int dram_open(struct time_dram *d, const struct sim_spec *s)
{
	*d = (struct time_dram){.partitions = s->memory_partitions ? s->memory_partitions : 1,
				.banks = s->dram.banks,
				.rows = s->dram.rows ? s->dram.rows : 1,
				.stride = s->partition_stride,
				.row_bytes = s->dram.row_bytes,
				.mixed = s->partition_mapping == MAP_HASH,
				.batch = s->dram.write_batch,
				.miss = fixed(s->dram.row_miss),
				.busy = fixed(s->dram.bank_busy),
				.opening = fixed(s->dram.open_interval),
				.turn = fixed(s->dram.turn)};
	if (s->dram_bandwidth > 0)
		d->byte = (uint64_t)llround((1 << FRACTION) * (double)d->partitions / s->dram_bandwidth);
	d->part = mem_zero(d->partitions, sizeof *d->part);
	if (d->banks) {
		d->bank = mem_zero((size_t)d->partitions * d->banks, sizeof *d->bank);
		d->row = mem_zero((size_t)d->partitions * d->banks * d->rows, sizeof *d->row);
	}
	if (d->part && (!d->banks || (d->bank && d->row)))
		return 0;
	dram_close(d);
	return -ENOMEM;
}

void dram_close(struct time_dram *d)
{
	mem_free(d->part);
	mem_free(d->bank);
	mem_free(d->row);
	d->bank = d->row = NULL;
	d->part = NULL;
}

void dram_flush(struct time_dram *d)
{
	for (size_t i = 0; i < (size_t)d->partitions * d->banks * d->rows; i++)
		d->row[i] = 0;
}

/* Which of so many comes after k of them in turn. Mixed: each round is turned by what two products leave of its number.
 * No two of a round meet then, and rounds that are any stride apart differ. */
static uint32_t turn_of(const struct time_dram *d, uint64_t k, uint32_t many)
{
	uint64_t turn = k / many * 0x9e3779b97f4a7c15u;
	turn = (turn ^ turn >> 29) * 0xbf58476d1ce4e5b9u;
	return (uint32_t)((d->mixed ? k + (turn >> 32) : k) % many);
}

uint32_t dram_partition(const struct time_dram *d, uint64_t address)
{
	return d->partitions > 1 ? turn_of(d, address / d->stride, d->partitions) : 0;
}

uint64_t dram_free(const struct time_dram *d)
{
	uint64_t most = 0;
	for (uint32_t k = 0; k < d->partitions; k++)
		most = d->part[k].bus > most ? d->part[k].bus : most;
	return (most + (1u << FIX) - 1) >> FIX;
}

/* Whether the row is one of those that are open in its bank or wait side by side with it. The first of them is the
 * latest. */
static bool is_open(const struct time_dram *d, size_t bank, uint64_t number)
{
	uint64_t *row = d->row + bank * d->rows;
	for (uint32_t k = 0; k < d->rows; k++)
		if (row[k] == number)
			return true;
	memmove(row + 1, row, (d->rows - 1) * sizeof *row);
	row[0] = number;
	return false;
}

/* From when on the bank of the address can give data, and what it does until then. asked: arrival, or before it. */
static uint64_t activate(struct time_dram *d, uint32_t partition, uint64_t address, uint64_t arrival, uint64_t asked)
{
	uint64_t within = address, open = 0;
	if (d->partitions > 1) /* the partition's own addresses, without gaps */
		within = address / d->stride / d->partitions * d->stride + address % d->stride;
	uint64_t row = within / d->row_bytes;
	size_t n = (size_t)partition * d->banks + turn_of(d, row, d->banks);
	uint64_t start = d->bank[n] > asked ? d->bank[n] : asked;
	if (!is_open(d, n, row / d->banks + 1)) {
		struct dram_part *p = &d->part[partition];
		/* Others open theirs while this one waits for its bank. */
		uint64_t opened = p->opened > asked ? p->opened : asked;
		p->opened = opened + d->opening;
		start = opened > start ? opened : start;
		open = d->miss;
	}
	start += open;
	d->bank[n] = start + d->busy;
	return start > arrival + open ? start : arrival + open;
}

/* The bus moves so many bytes, from `from` on at the earliest. Returns when it begins. */
static uint64_t transfer(const struct time_dram *d, struct dram_part *p, uint64_t bytes, uint64_t from)
{
	if (!d->byte)
		return from;
	from = p->bus > from ? p->bus : from;
	/* Times have FIX bits behind the point; what a transfer takes beyond those is left for the next one. */
	uint64_t takes = bytes * d->byte + p->left;
	p->left = (uint32_t)(takes & ((1u << (FRACTION - FIX)) - 1));
	p->bus = from + (takes >> (FRACTION - FIX));
	return from;
}

uint64_t dram_take(struct time_dram *d, uint64_t address, uint32_t bytes, uint64_t t, uint64_t ahead)
{
	d->bytes += bytes;
	uint64_t arrival = t << FIX, early = ahead << FIX, start = arrival;
	uint32_t p = dram_partition(d, address);
	if (d->banks)
		start = activate(d, p, address, arrival, arrival - early);
	uint64_t from = transfer(d, &d->part[p], bytes, start - early);
	start = from > start ? from : start;
	return start - arrival;
}

void dram_give(struct time_dram *d, uint64_t address, uint32_t bytes, uint64_t t)
{
	struct dram_part *p = &d->part[dram_partition(d, address)];
	if (!d->batch) {
		dram_take(d, address, bytes, t, 0);
		return;
	}
	d->bytes += bytes;
	p->held += bytes;
	if (p->held < d->batch)
		return;
	transfer(d, p, p->held, t << FIX);
	p->bus += d->turn;
	p->held = 0;
}
