/* The kernels of a run: which were loaded, which template and parameters each came from, and texts that wait to be loaded. Internal to this room. */
#ifndef FATHOM_KERNELS_H
#define FATHOM_KERNELS_H
#include "base/arena.h"
#include "base/str.h"
#include "data/launch.h"
#include "data/native_record.h"

/* Kernels that this run has loaded already; equal texts are loaded once. */
struct kernel_cache {
	struct kernel_entry {
		uint64_t hash[2]; /* of text and entry name, by two seeds */
		uint32_t id;
		struct native_info *native; /* in arena */
		char *problem;		    /* why it could not be loaded, else NULL; in arena */
		enum outcome outcome;	    /* then: REFUSED by the device, or CRASH: the environment failed */
	} * items;
	size_t count, cap;
	struct kernel_call { /* a template with its parameters: what it expands to was found once */
		uint64_t hash[2];
		size_t kernel;
	} * calls;
	size_t call_count, call_cap;
	struct kernel_foreseen { /* a text that was expanded before it is loaded */
		uint64_t call[2], hash[2];
		struct str text;
	} * foreseen;
	size_t foreseen_count, foreseen_cap, foreseen_bytes;
	struct arena arena;
};

void kernels_free(struct kernel_cache *k);
/* The place of a text's kernel; k->count: it was not loaded. */
size_t kernels_find(const struct kernel_cache *k, const uint64_t hash[2]);
/* Takes it on as the last one, still without an id. 0 or -ENOMEM. */
int kernels_add(struct kernel_cache *k, const uint64_t hash[2]);
/* The place of the kernel that a template with its parameters came to, SIZE_MAX: it is not known. */
size_t kernels_of_call(const struct kernel_cache *k, const uint64_t call[2]);
int kernels_add_call(struct kernel_cache *k, const uint64_t call[2], size_t kernel); /* 0 or -ENOMEM */
/* Keeps a text for the batch that loads it, as far as there is room for it; text is taken over. */
void kernels_foresee(struct kernel_cache *k, const uint64_t call[2], const uint64_t hash[2], struct str *text);
/* The place in k->foreseen of a text that is kept, SIZE_MAX: it is not. */
size_t kernels_foreseen(const struct kernel_cache *k, const uint64_t call[2]);

#endif
