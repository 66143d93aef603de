#include "probe/kernels.h"
#include <errno.h>

#define FORESEEN_MAX ((size_t)128 << 20) /* bytes of texts kept from when they were expected to when they are loaded */

void kernels_free(struct kernel_cache *k)
{
	for (size_t i = 0; i < k->foreseen_count; i++)
		str_free(&k->foreseen[i].text);
	mem_free(k->foreseen);
	mem_free(k->items);
	mem_free(k->calls);
	arena_free(&k->arena);
	*k = (struct kernel_cache){0};
}

size_t kernels_find(const struct kernel_cache *k, const uint64_t hash[2])
{
	size_t i = 0;

	while (i < k->count && (k->items[i].hash[0] != hash[0] || k->items[i].hash[1] != hash[1]))
		i++;
	return i;
}

int kernels_add(struct kernel_cache *k, const uint64_t hash[2])
{
	void *items = k->items;

	if (mem_room(&items, &k->cap, k->count, sizeof(*k->items)))
		return -ENOMEM;
	k->items = items;
	struct native_info *n = ARENA_NEW(&k->arena, struct native_info);
	if (!n)
		return -ENOMEM;
	k->items[k->count++] = (struct kernel_entry){.hash = {hash[0], hash[1]}, .native = n};
	return 0;
}

size_t kernels_of_call(const struct kernel_cache *k, const uint64_t hash[2])
{
	for (size_t i = k->call_count; i-- > 0;)
		if (k->calls[i].hash[0] == hash[0] && k->calls[i].hash[1] == hash[1])
			return k->calls[i].kernel;
	return SIZE_MAX;
}

int kernels_add_call(struct kernel_cache *k, const uint64_t hash[2], size_t kernel)
{
	void *calls = k->calls;

	if (mem_room(&calls, &k->call_cap, k->call_count, sizeof(*k->calls)))
		return -ENOMEM;
	k->calls = calls;
	k->calls[k->call_count++] = (struct kernel_call){{hash[0], hash[1]}, kernel};
	return 0;
}

void kernels_foresee(struct kernel_cache *k, const uint64_t call[2], const uint64_t hash[2], struct str *text)
{
	void *foreseen = k->foreseen;

	if (k->foreseen_bytes + text->len > FORESEEN_MAX ||
	    mem_room(&foreseen, &k->foreseen_cap, k->foreseen_count, sizeof(*k->foreseen))) {
		str_free(text);
		return;
	}
	k->foreseen = foreseen;
	k->foreseen[k->foreseen_count++] = (struct kernel_foreseen){{call[0], call[1]}, {hash[0], hash[1]}, *text};
	k->foreseen_bytes += text->len;
	str_init(text);
}

size_t kernels_foreseen(const struct kernel_cache *k, const uint64_t call[2])
{
	for (size_t i = 0; i < k->foreseen_count; i++)
		if (k->foreseen[i].call[0] == call[0] && k->foreseen[i].call[1] == call[1])
			return i;
	return SIZE_MAX;
}
