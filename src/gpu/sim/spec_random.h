/* Pieces of random GPUs. Private to the reader of .gpu files. */
#ifndef FATHOM_SPEC_RANDOM_H
#define FATHOM_SPEC_RANDOM_H
#include <stdbool.h>
#include <stdint.h>

struct str;
struct cache_drawn { /* a cache as it was drawn */
	int line, ways, sets;
	const char *policy, *mapping;
};
struct cache_twist {	    /* what it is instead; at most one of them */
	const char *policy; /* NULL: as drawn */
	bool unequal;	    /* spec_random_unequal instead of ways and sets */
	int set_bits_from;  /* 0: as usual */
};
/* stem: "cache.constant.l1". The same stem and seed, the same twist. */
void spec_random_twist(struct cache_twist *out, const char *stem, uint64_t seed, const struct cache_drawn *c);
void spec_random_unequal(struct str *out, const char *stem, uint64_t seed, const struct cache_drawn *c);
void spec_random_schedule(struct str *out, const char *stem, uint64_t seed, const struct cache_drawn *c);
/* Ports and write policies of the caches that there are. */
void spec_random_extras(struct str *out, uint64_t seed, int constant_levels, bool l1, bool l2);
/* How soon a cache of that latency takes its next access. */
void spec_random_interval(struct str *out, const char *stem, uint64_t seed, int latency);
/* What an L1 costs those who do not find their line there. */
void spec_random_costs(struct str *out, uint64_t seed);
void spec_random_ordinary(struct str *out, uint64_t seed,
			  bool l1); /* what tells on kernels of people more than on probes */
/* The texture path and the TLBs. spread: cycles between the nearest cluster and the farthest. */
void spec_random_paths(struct str *out, uint64_t seed, int spread, bool l1, bool l2);

/* spec_random_common.c: caches that two paths have in common. stem, from, to: as "cache.global.l2". 0: no such line. */
long long spec_random_number(const struct str *s, const char *stem, const char *property);
bool spec_random_says(const struct str *s, const char *stem, const char *property, const char *word);
/* All that is said of the array `from` is said of `to`, which is the same one. */
void spec_random_again(struct str *out, const char *from, const char *to);

/* spec_random_requests.c: how textures lie in memory. */
void spec_random_tiles(struct str *out, uint64_t seed);
void spec_random_texture_unit(struct str *out, uint64_t seed);
/* Tables of requests, partitions, rows, atomics, boost; `uncached`: and, as no cache keeps lines, rules of coalescing. */
void spec_random_requests(struct str *out, uint64_t seed, bool uncached);
/* What lanes that part do. warp: threads of one. */
void spec_random_control(struct str *out, uint64_t seed, int warp);

/* spec_random_core.c: numbers of SMs, policies, quanta, instruction caches. threads: of a warp. */
void spec_random_core(struct str *out, uint64_t seed, unsigned clusters, unsigned per_cluster, int threads);
/* Threads of a warp. */
int spec_random_warp(uint64_t seed);
/* Bytes of a transaction, of GPUs without caches for global memory not always 32. */
int spec_random_segment(uint64_t seed, bool uncached);
/* Most warps of an SM whose threads make so many: sometimes there is room for more. */
int spec_random_warps(uint64_t seed, int warps);
/* The size of the register file, the most of one thread, and the order of blocks. threads: of one SM. */
void spec_random_places(struct str *out, uint64_t seed, unsigned threads);
/* The host's side, and what shows in few kernels: native instructions, routines, barriers of an SM. */
void spec_random_host(struct str *out, uint64_t seed);
/* Which pipes there are, and which does what. */
struct pipes_drawn {
	const char *declared; /* all of them, with commas between */
	const char *integer, *single, *special, *twice, *half;
	double share; /* of the special functions' pipe in the multiplications of single precision; 0: it does none */
};
void spec_random_pipes(struct pipes_drawn *out, uint64_t seed);
/* Whether a warp knows of each result of special functions, where they have a pipe of their own. */
void spec_random_results(struct str *out, const struct pipes_drawn *p, uint64_t seed);
/* How long a warp has no second turn. nearest: what the quickest operation or load takes, cycles. */
void spec_random_turns(struct str *out, uint64_t seed, double nearest);
/* Cycles of the load/store pipe for each instruction. */
void spec_random_values(struct str *out, uint64_t seed);
void spec_random_loads(struct str *out, uint64_t seed, double nearest);
/* The banks of the shared memory: how wide they are, and after how many bytes the next one follows. With one_word, a
 * pass brings one word to several threads, no more. */
void spec_random_banks(struct str *out, uint64_t seed, bool one_word);
/* Whether a second instruction of a warp goes out with the first. */
void spec_random_dual(struct str *out, uint64_t seed);

#endif
