/* --check: what a program's kernels do that is wrong, and what it never frees. */
#include "exec/driver.h"
#include <stdlib.h>
#include <unistd.h>

#define APART 256 /* bytes between two allocations: who goes beyond the end of one meets no other */

static bool memory(void *ctx, uint64_t address, struct sim_check_memory *m)
{
	(void)ctx;
	const struct exec_block *b = exec_block_of(address);
	const bool registered = !b && !exec_is_device(address) && exec_at(address, 1);
	if (b)
		*m = (struct sim_check_memory){b->base, b->bytes, b->kind != EXEC_DEVICE};
	if (registered)
		*m = (struct sim_check_memory){0, UINT64_MAX, true};
	return b || registered;
}

static void say(void *to, const char *sentence)
{
	(void)to;
	exec_say("check: %s", sentence);
}

void exec_check_write(void)
{
	uint64_t left = 0, bytes = 0;
	uint32_t wrong = 0, places = 0;
	if (!exec_process.device[0].check)
		return;
	for (int n = 0; n <= exec_process.devices; n++) {
		const struct exec_device *d = n < exec_process.devices ? &exec_process.device[n] : NULL;
		const struct exec_heap *h = d ? &d->heap : &exec_process.host;
		uint32_t one = 0, at = 0;
		for (size_t k = 0; k < h->count; k++)
			if (!h->block[k].module && !h->block[k].graph) {
				left++;
				bytes += h->block[k].bytes;
			}
		if (d)
			sim_check_count(d->check, &one, &at);
		wrong += one;
		places += at;
	}
	if (left)
		exec_say("check: %llu allocations of %llu bytes were never freed", (unsigned long long)left,
			 (unsigned long long)bytes);
	exec_say("check: %u accesses of kernels are wrong, at %u places", wrong, places);
}

void exec_check_open(struct exec_device *d)
{
	const struct sim_check_owner owner = {.memory = memory, .say = say};
	if (!getenv("FATHOM_EXEC_CHECK"))
		return;
	if (sim_check_open(&d->check, &owner, d->heap.base, d->heap.size) || (!d->index && atexit(exec_check_write))) {
		exec_say("out of memory for --check");
		_exit(EXEC_EXIT);
	}
	d->heap.apart = APART;
}
