/* --check: what a program's kernels do that is wrong, and what it never frees. */
#include "exec/driver.h"
#include <stdlib.h>
#include <unistd.h>

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
	const struct exec_heap *heaps[] = {&exec_process.heap, &exec_process.host};
	uint64_t left = 0, bytes = 0;
	uint32_t wrong, places;
	if (!exec_process.check)
		return;
	for (unsigned n = 0; n < 2; n++)
		for (size_t k = 0; k < heaps[n]->count; k++)
			if (!heaps[n]->block[k].module && !heaps[n]->block[k].graph) {
				left++;
				bytes += heaps[n]->block[k].bytes;
			}
	if (left)
		exec_say("check: %llu allocations of %llu bytes were never freed", (unsigned long long)left,
			 (unsigned long long)bytes);
	sim_check_count(exec_process.check, &wrong, &places);
	exec_say("check: %u accesses of kernels are wrong, at %u places", wrong, places);
}

void exec_check_open(void)
{
	const struct sim_check_owner owner = {.memory = memory, .say = say};
	if (!getenv("FATHOM_EXEC_CHECK"))
		return;
	if (sim_check_open(&exec_process.check, &owner, EXEC_BASE, exec_process.memory.region[0].size) ||
	    atexit(exec_check_write)) {
		exec_say("out of memory for --check");
		_exit(EXEC_EXIT);
	}
}
