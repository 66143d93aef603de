#include "gpu/sim/time/time_dram.h"
#include "base/arena.h"
#include <errno.h>
#include <math.h>

#define FIX	 10 /* as in time_state.h */
#define FRACTION 20

int dram_open(struct time_dram *d, const struct sim_spec *s)
{
	*d = (struct time_dram){.partitions = s->memory_partitions ? s->memory_partitions : 1,
				.banks = s->dram.banks,
				.stride = s->partition_stride,
				.row_bytes = s->dram.row_bytes,
				.miss = (uint64_t)llround(s->dram.row_miss * (1 << FIX)),
				.busy = (uint64_t)llround(s->dram.bank_busy * (1 << FIX))};
	if (s->dram_bandwidth > 0)
		d->byte = (uint64_t)llround((1 << FRACTION) * (double)d->partitions / s->dram_bandwidth);
	d->bus = mem_zero(d->partitions, sizeof *d->bus);
	d->left = mem_zero(d->partitions, sizeof *d->left);
	if (d->banks) {
		d->bank = mem_zero((size_t)d->partitions * d->banks, sizeof *d->bank);
		d->row = mem_zero((size_t)d->partitions * d->banks, sizeof *d->row);
	}
	if (d->bus && d->left && (!d->banks || (d->bank && d->row)))
		return 0;
	dram_close(d);
	return -ENOMEM;
}

void dram_close(struct time_dram *d)
{
	mem_free(d->bus);
	mem_free(d->left);
	mem_free(d->bank);
	mem_free(d->row);
	d->bus = d->bank = d->row = NULL;
	d->left = NULL;
}

void dram_flush(struct time_dram *d)
{
	for (size_t i = 0; i < (size_t)d->partitions * d->banks; i++)
		d->row[i] = 0;
}

uint32_t dram_partition(const struct time_dram *d, uint64_t address)
{
	return d->partitions > 1 ? (uint32_t)(address / d->stride % d->partitions) : 0;
}

uint64_t dram_free(const struct time_dram *d)
{
	uint64_t most = 0;
	for (uint32_t k = 0; k < d->partitions; k++)
		most = d->bus[k] > most ? d->bus[k] : most;
	return (most + (1u << FIX) - 1) >> FIX;
}

/* From when on the bank of the address can give data, and what it does until then. asked: arrival, or before it. */
static uint64_t activate(struct time_dram *d, uint32_t partition, uint64_t address, uint64_t arrival, uint64_t asked)
{
	uint64_t within = address, open = 0;
	if (d->partitions > 1) /* the partition's own addresses, without gaps */
		within = address / d->stride / d->partitions * d->stride + address % d->stride;
	uint64_t row = within / d->row_bytes, number = row / d->banks + 1;
	size_t n = (size_t)partition * d->banks + (size_t)(row % d->banks);
	uint64_t start = d->bank[n] > asked ? d->bank[n] : asked;
	if (d->row[n] != number) {
		d->row[n] = number;
		open = d->miss;
	}
	start += open;
	d->bank[n] = start + d->busy;
	return start > arrival + open ? start : arrival + open;
}

uint64_t dram_take(struct time_dram *d, uint64_t address, uint32_t bytes, uint64_t t, uint64_t ahead)
{
	d->bytes += bytes;
	uint64_t arrival = t << FIX, early = ahead << FIX, start = arrival;
	uint32_t p = dram_partition(d, address);
	if (d->banks)
		start = activate(d, p, address, arrival, arrival - early);
	if (d->byte) {
		uint64_t from = d->bus[p] > start - early ? d->bus[p] : start - early;
		/* Times have FIX bits behind the point; what a transfer takes beyond those is left for the next one. */
		uint64_t takes = bytes * d->byte + d->left[p];
		d->left[p] = (uint32_t)(takes & ((1u << (FRACTION - FIX)) - 1));
		d->bus[p] = from + (takes >> (FRACTION - FIX));
		start = from > start ? from : start;
	}
	return start - arrival;
}
