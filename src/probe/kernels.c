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
	if (k->count == k->cap) {
		size_t cap = k->cap ? 2 * k->cap : 64;
		struct kernel_entry *items = mem_grow(k->items, cap * sizeof(*items));
		if (!items)
			return -ENOMEM;
		k->items = items;
		k->cap = cap;
	}
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
	if (k->call_count == k->call_cap) {
		size_t cap = k->call_cap ? 2 * k->call_cap : 64;
		struct kernel_call *calls = mem_grow(k->calls, cap * sizeof(*calls));
		if (!calls)
			return -ENOMEM;
		k->calls = calls;
		k->call_cap = cap;
	}
	k->calls[k->call_count++] = (struct kernel_call){{hash[0], hash[1]}, kernel};
	return 0;
}

void kernels_foresee(struct kernel_cache *k, const uint64_t call[2], const uint64_t hash[2], struct str *text)
{
	if (k->foreseen_count == k->foreseen_cap) {
		size_t cap = k->foreseen_cap ? 2 * k->foreseen_cap : 64;
		struct kernel_foreseen *grown = mem_grow(k->foreseen, cap * sizeof(*grown));
		if (grown) {
			k->foreseen = grown;
			k->foreseen_cap = cap;
		}
	}
	if (k->foreseen_count == k->foreseen_cap || k->foreseen_bytes + text->len > FORESEEN_MAX) {
		str_free(text);
		return;
	}
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
