/* Memory of a simulated GPU, handed out in pieces: the first gap that is large enough. */
#ifndef FATHOM_EXEC_HEAP_H
#define FATHOM_EXEC_HEAP_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum exec_kind { EXEC_DEVICE, EXEC_HOST, EXEC_MANAGED };
struct exec_block {		    /* an allocation; sorted by address */
	uint64_t base, bytes, room; /* asked for; taken */
	enum exec_kind kind;
	bool module;			 /* a module's own: programs cannot free it */
	struct exec_graph_memory *graph; /* a graph's: what programs free of it is given back to that */
	struct CUmemPool_st *pool;	 /* that it was taken through */
};
struct exec_heap {
	uint64_t base, size, align; /* of all memory; of each allocation */
	uint64_t
	    apart; /* bytes behind each that belong to none; then what is given back is taken last of all, so that who still uses it is seen */
	uint64_t fresh; /* from here on nothing was ever taken */
	struct exec_block *block;
	size_t count, cap;
};

/* So many bytes, in *out until the next call. 0, -EINVAL for none, -ENOMEM. */
int exec_heap_take(struct exec_heap *h, uint64_t bytes, struct exec_block **out);
struct exec_block *exec_heap_at(const struct exec_heap *h, uint64_t address); /* that it lies in, or NULL */
void exec_heap_give(struct exec_heap *h, struct exec_block *b);

#endif
