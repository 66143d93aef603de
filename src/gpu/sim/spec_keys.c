/* The table of keys of a .gpu file: the parser, the error messages and the test of doc/gpu-file.md all read it. */
#include "base/str.h"
#include "gpu/sim/spec_file.h"
#include <stdio.h>
#include <string.h>

#define IN_SPEC(member)	 HOME_SPEC, offsetof(struct sim_spec, member)
#define IN_CACHE(member) HOME_CACHE, offsetof(struct cache_spec, member)
#define IN_PATH(member)	 HOME_PATH, offsetof(struct path_spec, member)
#define IN_OP(member)	 HOME_OP, offsetof(struct op_spec, member)
#define IN_TLB(member)	 HOME_TLB, offsetof(struct cache_spec, member)
#define IN_WALK(member)	 HOME_WALK, offsetof(struct tlb_spec, member)
#define NO_WORDS	 NULL
#define REQUIRED	 NULL
#define GIB		 (1024.0 * 1024 * 1024)

const char *const spec_level_names[CONST_LEVELS] = {"l1", "l2", "l3", "l4"};

/* clang-format off */
const struct spec_key spec_keys[] = {
	/* pattern, dimension, kind, where it goes, least, most, fallback, words, meaning */
	{"device.like", DIM_NAME, KIND_TEXT, IN_SPEC(like), 1, 96, "", NO_WORDS, "a built-in description, whose lines hold for all keys that this one does not give"},
	{"device.name", DIM_NAME, KIND_TEXT, IN_SPEC(name), 1, 128, REQUIRED, NO_WORDS, "the product's name, in quotes when it has spaces"},
	{"device.sm_count", DIM_COUNT, KIND_U32, IN_SPEC(sm_count), 1, 1024, REQUIRED, NO_WORDS, "streaming multiprocessors (SMs) of the whole GPU"},
	{"device.warp_size", DIM_COUNT, KIND_U32, IN_SPEC(warp_size), 1, 64, "32", NO_WORDS, "threads that execute one instruction together"},
	{"device.clock_hz", DIM_HZ, KIND_DOUBLE, IN_SPEC(clock_hz), 1e3, 1e11, REQUIRED, NO_WORDS, "the SM's clock, the one that all cycles count"},
	{"device.target", DIM_NAME, KIND_TEXT, IN_SPEC(target), 4, 16, REQUIRED, NO_WORDS, "the PTX .target that kernels are written for, such as sm_70"},
	{"device.ptx_version", DIM_VERSION, KIND_TENTHS, IN_SPEC(ptx_version), 1, 20, REQUIRED, NO_WORDS, "the PTX .version that kernels are written in, such as 6.0"},
	{"device.compute_capability", DIM_VERSION, KIND_TENTHS, IN_SPEC(cc), 1, 99, REQUIRED, NO_WORDS, "the compute capability, such as 7.0"},
	{"device.max_threads_per_block", DIM_COUNT, KIND_U32, IN_SPEC(max_threads_per_block), 1, 4096, REQUIRED, NO_WORDS, "most threads that one block may have"},
	{"device.max_threads_per_sm", DIM_COUNT, KIND_U32, IN_SPEC(max_threads_per_sm), 1, 8192, REQUIRED, NO_WORDS, "most threads resident in one SM"},
	{"device.max_warps_per_sm", DIM_COUNT, KIND_U32, IN_SPEC(max_warps_per_sm), 1, 256, REQUIRED, NO_WORDS, "most warps resident in one SM"},
	{"device.max_blocks_per_sm", DIM_COUNT, KIND_U32, IN_SPEC(max_blocks_per_sm), 1, 64, REQUIRED, NO_WORDS, "most blocks resident in one SM"},
	{"device.has_f64", DIM_YESNO, KIND_BOOL, IN_SPEC(has_f64), 0, 1, REQUIRED, NO_WORDS, "whether there is 64-bit floating point"},
	{"device.has_f16", DIM_YESNO, KIND_BOOL, IN_SPEC(has_f16), 0, 1, REQUIRED, NO_WORDS, "whether there is 16-bit floating point arithmetic"},
	{"device.has_fma", DIM_YESNO, KIND_BOOL, IN_SPEC(has_fma), 0, 1, REQUIRED, NO_WORDS, "whether there is a fused multiply-add of 32-bit floating point numbers"},
	{"topology.sm_per_cluster", DIM_COUNT, KIND_U32, IN_SPEC(sm_per_cluster), 1, 1024, REQUIRED, NO_WORDS, "SMs in one cluster (TPC, GPC); the number of SMs is a multiple of it"},
	{"topology.sm_numbers", DIM_COUNT, KIND_CUSTOM, HOME_SPEC, 0, 0, 1023, "", NO_WORDS, "the number by which each SM calls itself, cluster by cluster; absent: 0, 1, 2 ..."},
	{"topology.block_order", DIM_NAME, KIND_WORD, IN_SPEC(block_order), 0, 0, "cluster", "cluster sm fill", "who gets the first blocks of a launch: each cluster one in turn, then the next SM of each; each SM one in turn, cluster after cluster; or each SM as many as it has room for"},
	{"regfile.registers_per_sm", DIM_COUNT, KIND_U32, IN_SPEC(registers_per_sm), 32, 1e7, REQUIRED, NO_WORDS, "32-bit registers of one SM"},
	{"regfile.max_per_thread", DIM_COUNT, KIND_U32, IN_SPEC(regfile.max_per_thread), 0, 1e5, "0", NO_WORDS, "most registers of one thread; 0: no limit"},
	{"regfile.register_quantum", DIM_COUNT, KIND_U32, IN_SPEC(regfile.register_quantum), 1, 1024, "1", NO_WORDS, "the registers of a thread are rounded up to a multiple of this"},
	{"regfile.thread_quantum", DIM_COUNT, KIND_U32, IN_SPEC(regfile.thread_quantum), 1, 1024, "1", NO_WORDS, "the threads of a block that registers are given out for are rounded up to a multiple of this"},
	{"regfile.unit", DIM_COUNT, KIND_U32, IN_SPEC(regfile.unit), 1, 65536, "1", NO_WORDS, "registers are given out in pieces of this many, to a block or to each warp"},
	{"regfile.allocation", DIM_NAME, KIND_WORD, IN_SPEC(regfile.allocation), 0, 0, "block", "block warp", "who gets whole pieces of regfile.unit registers"},
	{"compiler.registers", DIM_COUNT, KIND_U32, IN_SPEC(compiler_registers), 0, 256, "0", NO_WORDS, "registers of a thread that a compiler keeps to when it puts loads ahead of their first use, in launches of compiled kernels; a kernel that needs more has as many as it needs, in steps of eight; 0: every launch runs the code as it is written"},
	{"compiler.shared_operands", DIM_YESNO, KIND_BOOL, IN_SPEC(shared_operands), 0, 1, "no", NO_WORDS, "whether a compiler makes a load of one word of shared memory an operand of the one instruction that uses it (compiled launches)"},
	{"core.block_interval", DIM_CYCLES, KIND_DOUBLE, IN_SPEC(block_interval), 0, 1e5, "0", NO_WORDS, "cycles from one block that the GPU hands out to its next, whatever SM takes it"},
	{"core.block_launch", DIM_CYCLES, KIND_DOUBLE, IN_SPEC(block_launch), 0, 1e6, "0", NO_WORDS, "cycles from the end of a block, or the start of the launch, to the first instruction of the block that follows"},
	{"core.warp_launch", DIM_CYCLES, KIND_DOUBLE, IN_SPEC(warp_launch), 0, 1e6, "0", NO_WORDS, "cycles from the start of one warp of a block to the start of its next"},
	{"core.barrier_slots", DIM_COUNT, KIND_U32, IN_SPEC(barrier_slots), 0, 1024, "0", NO_WORDS, "barriers of one SM, shared out to its blocks; 0: no limit"},

	{"core.schedulers", DIM_COUNT, KIND_U32, IN_SPEC(schedulers), 1, 16, REQUIRED, NO_WORDS, "warp schedulers of one SM; warp w belongs to scheduler w modulo this"},
	{"core.issue_interval", DIM_CYCLES, KIND_DOUBLE, IN_SPEC(scheduler_issue), 0.25, 64, REQUIRED, NO_WORDS, "cycles between two instructions that one scheduler issues"},
	{"core.policy", DIM_NAME, KIND_WORD, IN_SPEC(policy), 0, 0, "round_robin", "round_robin oldest youngest greedy", "which of its ready warps a scheduler takes"},
	{"core.dual_issue", DIM_YESNO, KIND_BOOL, IN_SPEC(dual_issue), 0, 1, "no", NO_WORDS, "whether a scheduler may issue a second, independent instruction of the same warp in the same cycle to another pipe"},
	{"core.warp_interval", DIM_CYCLES, KIND_DOUBLE, IN_SPEC(warp_interval), 0, 1000, "0", NO_WORDS, "cycles from one instruction of a warp, or two that go out together, to its next"},
	{"core.default_op", DIM_NAME, KIND_CUSTOM, HOME_SPEC, 0, 0, 0, REQUIRED, NO_WORDS, "the operation, as op.type, whose timing an instruction takes that the file does not list (moves, compares, conversions)"},
	{"outstanding.loads_per_warp", DIM_COUNT, KIND_U32, IN_SPEC(loads_in_flight), 0, 4096, "0", NO_WORDS, "loads that one warp may have in flight; 0 is no limit"},
	{"outstanding.kind", DIM_NAME, KIND_WORD, IN_SPEC(outstanding), 0, 0, "none", "none mshr prt", "what remembers an SM's requests to global memory that are not back. None is never full; an mshr has an entry a line, a prt one a warp instruction"},
	{"outstanding.entries", DIM_COUNT, KIND_U32, IN_SPEC(outstanding_entries), 1, 65536, "", NO_WORDS, "entries of that table in each SM; required for mshr and prt"},
	{"outstanding.merge", DIM_COUNT, KIND_U32, IN_SPEC(outstanding_merge), 0, 65536, "0", NO_WORDS, "threads' requests for one line that one entry of an mshr serves; 0 is any number"},
	{"outstanding.recorders", DIM_COUNT, KIND_U32, IN_SPEC(recorders), 0, 32, "0", NO_WORDS, "units of an SM that enter requests into that table, each those of one instruction of a warp; 0: it takes no time"},
	{"outstanding.record", DIM_CYCLES, KIND_DOUBLE, IN_SPEC(record), 0, 1000, "0", NO_WORDS, "cycles that one of them needs for each thread"},
	{"pipe.<pipe>.per", DIM_NAME, KIND_CUSTOM, HOME_PIPE, 0, 0, 0, REQUIRED, "sm scheduler", "declares an execution pipe, and whether an SM has one of it or each scheduler has its own"},
	{"pipe.<pipe>.results", DIM_NAME, KIND_CUSTOM, HOME_PIPE, 0, 0, 0, "each", "each together", "whether a warp knows of each result from this pipe when it is there, or only when all that are on their way are"},

	{"arith.<op>.<type>.latency", DIM_CYCLES, KIND_DOUBLE, IN_OP(latency), 1, 100000, REQUIRED, NO_WORDS, "cycles of the whole operation, from its issue to the issue of one that needs its result"},
	{"arith.<op>.<type>.throughput", DIM_OPS, KIND_DOUBLE, IN_OP(throughput), 1e-4, 4096, REQUIRED, NO_WORDS, "results per cycle of one SM with enough warps, lanes counted, all pipes together"},
	{"arith.<op>.<type>.native_ops", DIM_COUNT, KIND_U32, IN_OP(native_ops), 1, 1000, "1", NO_WORDS, "native instructions that the operation expands to, one dependent on the other"},
	{"arith.<op>.<type>.bytes", DIM_BYTES, KIND_U32, IN_OP(bytes), 4, 32, "", NO_WORDS, "size of each of its native instructions, a power of two; absent: native.bytes"},
	{"arith.<op>.<type>.routine", DIM_YESNO, KIND_BOOL, IN_OP(routine), 0, 1, "no", NO_WORDS, "yes: its native instructions are a subroutine that stands once behind the program, and each use is one call"},
	{"arith.<op>.<type>.unit", DIM_NAME, KIND_CUSTOM, HOME_OP, 0, 0, 0, REQUIRED, NO_WORDS, "the pipe that executes it; up to three with commas between them, when each can take it"},
	{"arith.<op>.<type>.rates", DIM_OPS, KIND_CUSTOM, HOME_OP, 0, 1e-4, 4096, "", NO_WORDS, "what each pipe of unit contributes, in the same order; they sum to the throughput; required when there are several pipes"},

	{"clock.read_latency", DIM_CYCLES, KIND_CUSTOM, HOME_SPEC, 0, 1, 10000, REQUIRED, NO_WORDS, "cycles from a clock read to an independent instruction behind it"},
	{"clock.native_ops", DIM_COUNT, KIND_U32, IN_SPEC(clock_native_ops), 1, 16, "1", NO_WORDS, "native instructions of one clock read, one dependent on the other"},
	{"clock.op_latency", DIM_CYCLES, KIND_DOUBLE, IN_SPEC(clock_op_latency), 0, 10000, "0", NO_WORDS, "cycles from one of those to the next; required when there are several"},
	{"clock.granularity", DIM_CYCLES, KIND_U32, IN_SPEC(clock_granularity), 1, 4096, REQUIRED, NO_WORDS, "clock values are multiples of this"},
	{"clock.scope", DIM_NAME, KIND_WORD, IN_SPEC(clock_scope), 0, 0, REQUIRED, "sm cluster gpu", "who shares one clock counter"},
	{"barrier.latency", DIM_CYCLES, KIND_DOUBLE, IN_SPEC(barrier_latency), 1, 10000, REQUIRED, NO_WORDS, "cycles of one barrier in a block of one warp"},
	{"cluster.barrier_latency", DIM_CYCLES, KIND_DOUBLE, IN_SPEC(cluster_barrier), 0, 10000, "0", NO_WORDS, "cycles from the last arrival at a cluster's barrier until its warps go on; 0: as barrier.latency"},
	{"cluster.shared_latency", DIM_CYCLES, KIND_DOUBLE, IN_SPEC(cluster_shared), 0, 10000, "0", NO_WORDS, "cycles from a load of another block's shared memory, within the cluster, to its use; 0: as of a block's own"},
	{"barrier.interval", DIM_CYCLES, KIND_DOUBLE, IN_SPEC(barrier_interval), 0, 10000, "0", NO_WORDS, "cycles from one warp that comes to a barrier to the next one of its SM; 0: any number at once"},
	{"branch.predicate", DIM_CYCLES, KIND_DOUBLE, IN_SPEC(branch_predicate), 0, 10000, "0", NO_WORDS, "cycles from an instruction that computes a predicate to one that needs it; 0: the operation's own latency"},
	{"branch.split", DIM_CYCLES, KIND_DOUBLE, IN_SPEC(branch_split), 0, 10000, "0", NO_WORDS, "cycles more when lanes of a warp part at a branch"},
	{"branch.split_issue", DIM_CYCLES, KIND_DOUBLE, IN_SPEC(branch_split_issue), 0, 10000, "0", NO_WORDS, "cycles from one parting of lanes to the next, of all warps of a scheduler; another waits so long"},
	{"branch.issue", DIM_CYCLES, KIND_DOUBLE, IN_SPEC(branch_issue), 0, 1000, "0", NO_WORDS, "cycles from one native branch to the next, of all warps of a scheduler; another waits so long"},
	{"branch.meet", DIM_CYCLES, KIND_DOUBLE, IN_SPEC(branch_meet), 0, 10000, "0", NO_WORDS, "cycles more that a forward branch takes at which lanes might part, for the place where they would meet again"},
	{"branch.meet_ops", DIM_COUNT, KIND_U32, IN_SPEC(branch_meet_ops), 0, 8, "0", NO_WORDS, "native branches that such a branch takes besides its own"},
	{"branch.latency", DIM_CYCLES, KIND_DOUBLE, IN_SPEC(branch_latency), 1, 10000, REQUIRED, NO_WORDS, "cycles from a branch to the next instruction of its warp"},
	{"branch.independent_threads", DIM_YESNO, KIND_BOOL, IN_SPEC(independent_threads), 0, 1, REQUIRED, NO_WORDS, "yes: threads of a warp make progress on their own; no: a reconvergence stack"},
	{"branch.first_path", DIM_NAME, KIND_WORD, IN_SPEC(first_path), 0, 0, "taken", "taken fallthrough", "which side of a divergent branch runs first"},
	{"branch.yield_after", DIM_COUNT, KIND_U32, IN_SPEC(yield_after), 64, 1e9, "65536", NO_WORDS, "independent threads: backward branches of a warp after which lanes that wait to meet others go on without them"},

	{"shared.size", DIM_BYTES, KIND_U64, IN_SPEC(shared_per_sm), 1, 1e8, REQUIRED, NO_WORDS, "shared memory of one SM"},
	{"shared.splits", DIM_BYTES, KIND_CUSTOM, HOME_SPEC, 0, 1, 1e8, "", NO_WORDS, "the sizes of an SM's shared memory that a launch can choose, ascending to shared.size, which it has if it does not; at most 16"},
	{"shared.per_block", DIM_BYTES, KIND_U64, IN_SPEC(shared_per_block), 1, 1e8, REQUIRED, NO_WORDS, "most shared memory that one block may have"},
	{"shared.opt_in", DIM_BYTES, KIND_U64, IN_SPEC(shared_opt_in), 0, 1e8, "0", NO_WORDS, "most shared memory of a block whose kernel opts in to more than shared.per_block; 0: none can"},
	{"shared.latency", DIM_CYCLES, KIND_DOUBLE, IN_SPEC(shared.memory_latency), 1, 10000, REQUIRED, NO_WORDS, "cycles from a load in shared memory to its use, without conflicts and without address operations"},
	{"shared.quantum", DIM_BYTES, KIND_U64, IN_SPEC(shared_quantum), 1, 65536, "1", NO_WORDS, "the shared memory of a block is rounded up to a multiple of this"},
	{"shared.banks", DIM_COUNT, KIND_U32, IN_SPEC(shared_banks), 1, 256, REQUIRED, NO_WORDS, "banks of the shared memory"},
	{"shared.bank_width", DIM_BYTES, KIND_U32, IN_SPEC(shared_bank_width), 1, 64, REQUIRED, NO_WORDS, "bytes that one bank gives at once"},
	{"shared.conflict_cost", DIM_CYCLES, KIND_DOUBLE, IN_SPEC(shared_conflict_cost), 0, 10000, REQUIRED, NO_WORDS, "cycles for each further access to one bank"},
	{"shared.conflict_issue", DIM_CYCLES, KIND_DOUBLE, IN_SPEC(shared_conflict_issue), 0, 10000, "0", NO_WORDS, "cycles that each further access keeps shared memory from the next load or store; 0: conflict_cost"},
	{"shared.operand_issue", DIM_CYCLES, KIND_DOUBLE, IN_SPEC(shared_operand_issue), 0, 1000, "0", NO_WORDS, "cycles that an arithmetic instruction keeps its pipe longer when one of its operands comes from shared memory"},
	{"shared.lanes", DIM_COUNT, KIND_U32, IN_SPEC(shared_lanes), 1, 32, "", NO_WORDS, "threads that one access serves at most, 16 where half-warps go one after the other; absent: as many as the banks can feed"},
	{"shared.bank_mode", DIM_BYTES, KIND_U32, IN_SPEC(shared_bank_mode), 1, 64, "", NO_WORDS, "bytes after which the next bank follows; absent: the bank width"},
	{"shared.broadcast", DIM_NAME, KIND_WORD, IN_SPEC(shared_broadcast), 0, 0, "all", "all one", "words that several threads may read at once without a conflict"},

	{"cache.<p>.levels", DIM_COUNT, KIND_CUSTOM, HOME_PATH, 0, 0, CONST_LEVELS, REQUIRED, NO_WORDS, "cache levels on the path; 0 says that there is none"},
	{"cache.<p>.<l>.size", DIM_BYTES, KIND_U64, IN_CACHE(size), 1, 16 * GIB, REQUIRED, NO_WORDS, "bytes of data that the level holds: sets x ways x line, all partitions together"},
	{"cache.<p>.<l>.line", DIM_BYTES, KIND_U32, IN_CACHE(line), 4, 65536, REQUIRED, NO_WORDS, "bytes under one tag, a power of two"},
	{"cache.<p>.<l>.sector", DIM_BYTES, KIND_U32, IN_CACHE(sector), 4, 65536, "", NO_WORDS, "bytes that one miss fills, a power of two; absent: the whole line"},
	{"cache.<p>.<l>.ways", DIM_COUNT, KIND_U32, IN_CACHE(ways), 1, CACHE_WAYS_MAX, "", NO_WORDS, "lines of one set; required without set_sizes, whose largest it is"},
	{"cache.<p>.<l>.sets", DIM_COUNT, KIND_U32, IN_CACHE(sets), 1, 1e9, "", NO_WORDS, "sets; absent: size / (ways x line)"},
	{"cache.<p>.<l>.set_sizes", DIM_COUNT, KIND_CUSTOM, HOME_CACHE, 0, 1, CACHE_WAYS_MAX, "", NO_WORDS, "the ways of each set, where sets are unequal: lines are dealt round the sets, passing by those that are full; size is their sum x line"},
	{"cache.<p>.<l>.policy", DIM_NAME, KIND_WORD, IN_CACHE(policy), 0, 0, REQUIRED, "lru fifo random plru weighted nru schedule qlru duel", "which line of a full set is replaced"},
	{"cache.<p>.<l>.replacement_probability", DIM_RATIO, KIND_CUSTOM, HOME_CACHE, 0, 0, 1, "", NO_WORDS, "the chance of each way to be replaced, one a way, summing to 1; for policy weighted, and required there"},
	{"cache.<p>.<l>.schedule", DIM_COUNT, KIND_CUSTOM, HOME_CACHE, 0, 1, SCHEDULE_WAYS, "", NO_WORDS, "the ways, counted from 1, that a pointer goes round, each of them at least once; a full set replaces the one that its pointer is at; for policy schedule, and required there"},
	{"cache.<p>.<l>.schedule_step", DIM_NAME, KIND_WORD, IN_CACHE(step), 0, 0, "access", "access miss", "what moves the pointer of a set on by one: every load that looks the set up, or every line that is replaced"},
	{"cache.<p>.<l>.insert_age", DIM_COUNT, KIND_U32, IN_CACHE(insert_age), 0, QLRU_OLDEST, "2", NO_WORDS, "the age of a line that comes in, from 0, which a hit makes it, to 3, which goes next; for policy qlru"},
	{"cache.<p>.<l>.victims", DIM_COUNT, KIND_U32, IN_CACHE(victims), 0, 64, "0", NO_WORDS, "lines that a buffer beside the level keeps of those that it replaces, the last ones; one that is asked for again comes back at the cost of a hit"},
	{"cache.<p>.<l>.mapping", DIM_NAME, KIND_WORD, IN_CACHE(mapping), 0, 0, "modulo", "modulo hash scramble", "how a line finds its set: number modulo sets, an xor of the number's bits, or one with a product of its upper bits. The last needs a power of two of sets"},
	{"cache.<p>.<l>.set_bits_from", DIM_COUNT, KIND_U32, IN_CACHE(set_bits_from), 0, 39, "0", NO_WORDS, "the number of the address bit where the set index starts, counted from 0; higher than the line needs, neighbouring lines share a set, as in caches laid out for two dimensions; 0: the bit above the line"},
	{"cache.<p>.<l>.write", DIM_NAME, KIND_WORD, IN_CACHE(write), 0, 0, "through", "through back evict", "what a store does to the line: through updates it and goes on, back keeps it until replaced, evict drops it and goes on"},
	{"cache.<p>.<l>.write_allocate", DIM_YESNO, KIND_BOOL, IN_CACHE(write_allocate), 0, 1, "no", NO_WORDS, "whether a store that misses makes room for its line"},
	{"cache.<p>.<l>.bandwidth", DIM_BYTES_CLK, KIND_DOUBLE, IN_CACHE(bandwidth), 0, 1e6, "0", NO_WORDS, "bytes that one such cache gives or takes in a cycle; hits and fills queue behind each other; 0: no limit"},
	{"cache.<p>.<l>.access", DIM_BYTES, KIND_U32, IN_CACHE(access), 0, 4096, "0", NO_WORDS, "aligned bytes whose sectors, asked for one behind the other, are one access; 0: each sector is its own"},
	{"cache.<p>.<l>.store_interval", DIM_CYCLES, KIND_DOUBLE, IN_CACHE(store_interval), 0, 10000, "0", NO_WORDS, "cycles from one access of a store that such a cache keeps to the next; what it moves takes the port, too; an SM takes no further block before its stores have been taken; 0: no limit"},
	{"cache.<p>.<l>.interval", DIM_CYCLES, KIND_DOUBLE, IN_CACHE(interval), 0, 10000, "0", NO_WORDS, "cycles from one access that one such cache takes to the next, whatever it moves; 0: no limit"},
	{"cache.<p>.<l>.addressed", DIM_NAME, KIND_WORD, IN_CACHE(addressed), 0, 0, "physical", "physical virtual", "virtual: the level is looked up before the address is translated, so a hit asks no TLB"},
	{"cache.<p>.<l>.scope", DIM_NAME, KIND_WORD, IN_CACHE(scope), 0, 0, REQUIRED, "sm cluster gpu", "who shares one such cache"},
	{"cache.<p>.<l>.latency", DIM_CYCLES, KIND_DOUBLE, IN_CACHE(latency), 0, 100000, REQUIRED, NO_WORDS, "cycles from a load to its use when this level hits, address operations not counted; near partition, mean over clusters"},
	{"cache.<p>.<l>.partitions", DIM_COUNT, KIND_U32, IN_CACHE(partitions), 1, 2, "1", NO_WORDS, "1, or 2: lines are spread over two halves of the cache, and each cluster is near to one of them"},
	{"cache.<p>.<l>.far_extra", DIM_CYCLES, KIND_DOUBLE, IN_CACHE(far_extra), 0, 100000, "0", NO_WORDS, "cycles more when the line lives in the far partition"},
	{"cache.global.l1.miss_cost", DIM_CYCLES, KIND_DOUBLE, IN_SPEC(global.level[0].miss_cost), 0, 1000, "0", NO_WORDS, "cycles that a load which does not find its line here takes longer than one that skips the level: the look-up in vain"},
	{"cache.global.l1.tags", DIM_COUNT, KIND_U32, IN_SPEC(global.level[0].tags), 0, 64, "0", NO_WORDS, "lines that the level looks up in a cycle; its data lie in banks as shared memory's do, and a load takes a cycle for each further word of one bank; 0: a load's transactions go one behind the other, each load.global.issue"},
	{"cache.global.l1.emptied", DIM_YESNO, KIND_BOOL, IN_SPEC(global.level[0].emptied), 0, 1, "no", NO_WORDS, "whether every launch finds the level empty"},
	{"cache.global.l1.fill_cost", DIM_CYCLES, KIND_DOUBLE, IN_SPEC(global.level[0].fill_cost), 0, 1000, "0", NO_WORDS, "cycles that the level's line takes longer from memory than what a load that skips the level brings from there; not where the L2 has it"},
	{"cache.global.l1.split.size", DIM_BYTES, KIND_U64, IN_SPEC(l1_split.size), 1, GIB, "", NO_WORDS, "bytes of data that the level holds in launches that get the smallest of shared.splits; absent: as in all others"},
	{"cache.global.l1.split.ways", DIM_COUNT, KIND_U32, IN_SPEC(l1_split.ways), 1, CACHE_WAYS_MAX, "", NO_WORDS, "lines of one of its sets then; where they are other ways than a list of them was given for, the oldest line is replaced"},
	{"cache.global.l1.shared_with", DIM_NAME, KIND_CUSTOM, HOME_SPEC, 0, 0, 0, "none", "none shared", "shared: the level gives up as much as the shared memory of resident blocks takes, and its size is that with none"},
	{"cache.instruction.<l>.shared_with", DIM_NAME, KIND_CUSTOM, HOME_SPEC, 0, 0, 0, "none", "none constant.l1 constant.l2 constant.l3 constant.l4 global.l2", "the level of another path that is the very same cache; the geometries agree"},
	{"cache.instruction.fetch_bytes", DIM_BYTES, KIND_U32, IN_SPEC(fetch.block), 4, 4096, "", NO_WORDS, "bytes that one fetch takes from the first level, a power of two; required when there are levels"},
	{"cache.instruction.prefetch", DIM_COUNT, KIND_U32, IN_SPEC(fetch.ahead), 0, 16, "0", NO_WORDS, "lines behind the one that a warp enters that are taken along into a buffer beside the first level, if the second level has them"},
	{"native.base", DIM_BYTES, KIND_U64, IN_SPEC(fetch.base), 0, 1e9, "0", NO_WORDS, "address of a program's first native instruction"},
	{"native.bytes", DIM_BYTES, KIND_U32, IN_SPEC(fetch.bytes), 4, 32, "8", NO_WORDS, "size of a native instruction, a power of two"},
	{"cache.texture.<l>.shared_with", DIM_NAME, KIND_CUSTOM, HOME_SPEC, 0, 0, 0, "none", "none global.l2", "global.l2: the level is the global path's L2, seen with a latency of its own; the geometries agree"},
	{"cache.readonly.l1.shared_with", DIM_NAME, KIND_CUSTOM, HOME_SPEC, 0, 0, 0, "global.l1", "global.l1 texture.l1", "the first level that loads marked read-only (`ld.global.nc`) ask: that of plain loads, if there is one, or that of textures and all behind it"},
	{"cache.local.l1.shared_with", DIM_NAME, KIND_CUSTOM, HOME_SPEC, 0, 0, 0, "global.l1", "global.l1 global.l2", "the first level that accesses to local memory ask: that of plain loads, if there is one, or the one behind it"},
	{"cache.constant.backing", DIM_NAME, KIND_CUSTOM, HOME_SPEC, 0, 0, 0, "memory", "memory global.l2", "where a constant load goes that misses every constant level"},

	{"load.<m>.issue", DIM_CYCLES, KIND_DOUBLE, IN_PATH(issue), 0.25, 10000, REQUIRED, NO_WORDS, "cycles that the load/store pipe is busy with one load of a warp"},
	{"load.<m>.request", DIM_CYCLES, KIND_DOUBLE, IN_PATH(request), 0, 10000, "0", NO_WORDS, "cycles that the load/store pipe is busy with each load instruction besides its transactions"},
	{"load.<m>.unit", DIM_NAME, KIND_PIPE, IN_PATH(pipe), 0, 0, REQUIRED, NO_WORDS, "the pipe that takes the load"},
	{"load.constant.blocking", DIM_YESNO, KIND_BOOL, IN_SPEC(constant_blocks), 0, 1, "no", NO_WORDS, "yes: a warp waits for a constant load before it issues its next one, whatever needs the result"},
	{"load.<m>.address_ops", DIM_COUNT, KIND_U32, IN_PATH(address_ops), 0, 16, "0", NO_WORDS, "arithmetic instructions that the hardware needs within one dependent load"},
	{"load.<m>.address_op", DIM_NAME, KIND_CUSTOM, HOME_PATH, 0, 0, 0, "", NO_WORDS, "the operation, as op.type, whose latency each of those takes; required when there are any"},
	{"memory.<p>.latency", DIM_CYCLES, KIND_DOUBLE, IN_PATH(memory_latency), 1, 100000, REQUIRED, NO_WORDS, "cycles from a load to its use when every level misses, address operations not counted; mean over clusters"},
	{"memory.global.size", DIM_BYTES, KIND_U64, IN_SPEC(memory_bytes), 1, 1024 * GIB, REQUIRED, NO_WORDS, "global memory"},
	{"memory.constant.size", DIM_BYTES, KIND_U64, IN_SPEC(constant_bytes), 1, 1e9, REQUIRED, NO_WORDS, "constant memory that a kernel may declare"},
	{"memory.global.bandwidth", DIM_BYTES_CLK, KIND_DOUBLE, IN_SPEC(dram_bandwidth), 0.01, 1e6, REQUIRED, NO_WORDS, "bytes a cycle between all SMs and the memory"},
	{"memory.coalesce.segment", DIM_BYTES, KIND_U32, IN_SPEC(coalesce_segment), 4, 4096, REQUIRED, NO_WORDS, "bytes of one memory transaction, a power of two"},
	{"memory.coalesce.rule", DIM_NAME, KIND_WORD, IN_SPEC(coalesce), 0, 0, "lines", "lines g80 gt200", "how the threads' addresses become transactions"},
	{"memory.partitions", DIM_COUNT, KIND_U32, IN_SPEC(memory_partitions), 1, 256, "1", NO_WORDS, "partitions of the memory, each with its share of the bandwidth"},
	{"memory.partition_stride", DIM_BYTES, KIND_U64, IN_SPEC(partition_stride), 32, GIB, "", NO_WORDS, "consecutive bytes in one partition; required when there are several"},
	{"memory.partition_mapping", DIM_NAME, KIND_WORD, IN_SPEC(partition_mapping), 0, 0, "modulo", "modulo hash", "how addresses find partitions: in turn, or each round of partitions, and of banks, in an order of its own"},
	{"dram.banks", DIM_COUNT, KIND_U32, IN_SPEC(dram.banks), 0, 1024, "0", NO_WORDS, "banks of one partition; 0: the memory has no banks and rows"},
	{"dram.row_bytes", DIM_BYTES, KIND_U64, IN_SPEC(dram.row_bytes), 32, GIB, "", NO_WORDS, "bytes of one row; required when there are banks"},
	{"dram.row_miss", DIM_CYCLES, KIND_DOUBLE, IN_SPEC(dram.row_miss), 0, 10000, "0", NO_WORDS, "cycles more when another row of the bank is open"},
	{"dram.bank_busy", DIM_CYCLES, KIND_DOUBLE, IN_SPEC(dram.bank_busy), 0, 10000, "0", NO_WORDS, "cycles from the start of one access to a bank until it takes the next"},
	{"dram.rows", DIM_COUNT, KIND_U32, IN_SPEC(dram.rows), 1, 16, "1", NO_WORDS, "rows of a bank that its queue puts together: accesses to the last so many find their row open"},
	{"dram.open_interval", DIM_CYCLES, KIND_DOUBLE, IN_SPEC(dram.open_interval), 0, 10000, "0", NO_WORDS, "cycles from one opening of a row in a partition to the next, in whatever bank"},
	{"dram.write_batch", DIM_BYTES, KIND_U64, IN_SPEC(dram.write_batch), 0, GIB, "0", NO_WORDS, "bytes that a partition keeps until it writes them in one go; 0: it writes each as it comes"},
	{"dram.turn", DIM_CYCLES, KIND_DOUBLE, IN_SPEC(dram.turn), 0, 10000, "0", NO_WORDS, "cycles that a partition's bus is lost when it turns from reading to writing and back, once a batch"},
	{"texture.tile.bytes", DIM_BYTES, KIND_U32, IN_SPEC(texture_tile_bytes), 0, 65536, "0", NO_WORDS, "width of a tile of a texture array, a power of two; 0: arrays lie row by row"},
	{"texture.tile.rows", DIM_COUNT, KIND_U32, IN_SPEC(texture_tile_rows), 0, 65536, "0", NO_WORDS, "rows of a tile of a texture array, a power of two"},
	{"texture.lanes", DIM_OPS, KIND_DOUBLE, IN_SPEC(texture_lanes), 0, 1024, "0", NO_WORDS, "threads of a texture read that the unit serves in a cycle; 0: as fast as its transactions go"},
	{"texture.turn_bytes", DIM_BYTES, KIND_U32, IN_SPEC(texture_turn_bytes), 0, 64, "0", NO_WORDS, "bytes of a texel that it reads in one turn, a larger one takes as many turns; 0: any number"},
	{"texture.turn_filtered", DIM_BYTES, KIND_U32, IN_SPEC(texture_turn_filtered), 0, 1024, "0", NO_WORDS, "bytes of all texels of a thread that it filters in one turn, more take as many turns; 0: any number"},
	{"texture.filter.fraction_bits", DIM_COUNT, KIND_U32, IN_SPEC(texture_fraction_bits), 1, 16, "8", NO_WORDS, "bits of the weight between two texels of a linear filter"},
	{"matrix.sum_bits", DIM_COUNT, KIND_U32, IN_SPEC(matrix_sum_bits), 0, 64, "0", NO_WORDS, "bits below the largest product to which mma keeps a sum of binary32; 0: it is rounded once from double precision"},
	{"matrix.byte_sum_bits", DIM_COUNT, KIND_U32, IN_SPEC(matrix_byte_bits), 0, 64, "0", NO_WORDS, "bits below the largest term to which wgmma keeps sums of 8-bit floating-point numbers, and of what they sum up to; 0: as matrix.sum_bits"},
	{"network.cluster_offset", DIM_CYCLES, KIND_CUSTOM, HOME_SPEC, 0, -10000, 10000, "", NO_WORDS, "cycles that a load beyond the cluster takes more or less, one number a cluster, summing to 0; absent: no difference"},

	{"atomic.latency", DIM_CYCLES, KIND_DOUBLE, IN_SPEC(atomic_any.latency), 0, 100000, "0", NO_WORDS, "cycles from an atomic on global memory to the use of its result, when the level that performs it has the line; 0: as a load"},
	{"atomic.same_address", DIM_CYCLES, KIND_DOUBLE, IN_SPEC(atomic_any.same_address), 0, 100000, "0", NO_WORDS, "cycles between two atomics on one address, of whichever SMs; 0: lanes of one warp go at the rate of loads, others do not wait"},
	{"atomic.distinct", DIM_CYCLES, KIND_DOUBLE, IN_SPEC(atomic_any.distinct), 0, 100000, "0", NO_WORDS, "cycles between two threads' atomics in one unit, on whatever addresses"},
	{"atomic.<atom>.latency", DIM_CYCLES, KIND_CUSTOM, HOME_SPEC, 0, 0, 100000, "", NO_WORDS, "the same of one operation; absent: atomic.latency"},
	{"atomic.<atom>.same_address", DIM_CYCLES, KIND_CUSTOM, HOME_SPEC, 0, 0, 100000, "", NO_WORDS, "the same of one operation; absent: atomic.same_address"},
	{"atomic.<atom>.distinct", DIM_CYCLES, KIND_CUSTOM, HOME_SPEC, 0, 0, 100000, "", NO_WORDS, "the same of one operation; absent: atomic.distinct"},
	{"atomic.request", DIM_CYCLES, KIND_DOUBLE, IN_SPEC(atomic_request), 0, 100000, "0", NO_WORDS, "cycles that a unit takes for each transaction of an instruction, besides its threads"},
	{"atomic.units", DIM_COUNT, KIND_U32, IN_SPEC(atomic_units), 0, 1024, "0", NO_WORDS, "units that perform atomics, over which the lines of the last cache are spread by a hash; 0: one a memory partition"},
	{"atomic.unit_bytes", DIM_BYTES, KIND_U32, IN_SPEC(atomic_unit_bytes), 0, 65536, "0", NO_WORDS, "consecutive bytes of one of the units; 0: a line of the last cache"},
	{"atomic.queue", DIM_COUNT, KIND_U32, IN_SPEC(atomic_queue), 0, 1024, "0", NO_WORDS, "warp instructions of one SM that may wait for their atomics to be performed; the load/store pipe stands still for more; 0: any number"},
	{"atomic.issue", DIM_CYCLES, KIND_DOUBLE, IN_SPEC(atomic_issue), 0, 10000, "0", NO_WORDS, "cycles that one thread's atomic keeps the load/store pipe busy; 0: as the transactions of a load"},
	{"atomic.shared.latency", DIM_CYCLES, KIND_DOUBLE, IN_SPEC(shared_atomic_latency), 0, 100000, "0", NO_WORDS, "cycles from an atomic on shared memory to the use of its result; 0: as a load"},
	{"atomic.shared.same_address", DIM_CYCLES, KIND_DOUBLE, IN_SPEC(shared_atomic_same), 0, 100000, "0", NO_WORDS, "cycles for each further thread of a warp on one address; 0: as a bank conflict"},

	{"float.denormals", DIM_YESNO, KIND_WORD, IN_SPEC(denormals), 0, 0, "capability", "capability no yes", "whether f32 keeps denormal numbers, else operands and results are flushed to zero; capability: from 2.0 on"},
	{"float.mad.fused", DIM_YESNO, KIND_WORD, IN_SPEC(mad_fused), 0, 0, "capability", "capability no yes", "whether mad.f32 rounds once; capability: from 2.0 on"},
	{"float.mad.rounding", DIM_NAME, KIND_WORD, IN_SPEC(mad_product), 0, 0, "truncated", "truncated nearest", "what a mad.f32 that is not fused does to its product before it adds, which is rounded to nearest"},
	{"sfu.<sfu>.index_bits", DIM_COUNT, KIND_CUSTOM, HOME_SPEC, 0, SFU_INDEX_LEAST, SFU_INDEX_MOST, "", NO_WORDS, "upper bits of an argument that choose its three coefficients"},
	{"sfu.<sfu>.c0_bits", DIM_COUNT, KIND_CUSTOM, HOME_SPEC, 0, 18, 28, "", NO_WORDS, "fraction bits of the constant coefficient"},
	{"sfu.<sfu>.c1_bits", DIM_COUNT, KIND_CUSTOM, HOME_SPEC, 0, 10, 20, "", NO_WORDS, "bits of the linear coefficient's word"},
	{"sfu.<sfu>.c2_bits", DIM_COUNT, KIND_CUSTOM, HOME_SPEC, 0, 6, 13, "", NO_WORDS, "bits of the quadratic coefficient's word"},
	{"sfu.<sfu>.square_bits", DIM_COUNT, KIND_CUSTOM, HOME_SPEC, 0, 0, 42, "", NO_WORDS, "upper bits that are kept of the square of an argument's lower bits; 0: all"},

	{"tlb.page_size", DIM_BYTES, KIND_U64, IN_SPEC(page_size), 256, 16 * GIB, "", NO_WORDS, "bytes of one page; required when there are TLBs"},
	{"tlb.<t>.levels", DIM_COUNT, KIND_CUSTOM, HOME_SPEC, 0, 0, TLB_LEVELS, "0", NO_WORDS, "TLB levels on the path; 0: no access ever waits for a translation"},
	{"tlb.<t>.<l>.entries", DIM_COUNT, KIND_CUSTOM, HOME_TLB, 0, 1, 1e6, "", NO_WORDS, "entries of the level; required without set_sizes, whose sum it is"},
	{"tlb.<t>.<l>.line", DIM_BYTES, KIND_U32, IN_TLB(line), 256, 1 * GIB, REQUIRED, NO_WORDS, "bytes of memory that one entry covers, a power of two of pages"},
	{"tlb.<t>.<l>.sector", DIM_BYTES, KIND_U32, IN_TLB(sector), 256, 1 * GIB, "", NO_WORDS, "bytes whose translation one miss brings into the entry; absent: all that it covers"},
	{"tlb.<t>.<l>.ways", DIM_COUNT, KIND_U32, IN_TLB(ways), 1, CACHE_WAYS_MAX, "", NO_WORDS, "entries of one set; absent: all of them, any entry may hold any page"},
	{"tlb.<t>.<l>.set_sizes", DIM_COUNT, KIND_CUSTOM, HOME_TLB, 0, 1, CACHE_WAYS_MAX, "", NO_WORDS, "the entries of each set, where sets are unequal, as of caches"},
	{"tlb.<t>.<l>.policy", DIM_NAME, KIND_WORD, IN_TLB(policy), 0, 0, "lru", "lru fifo random plru weighted nru schedule", "which entry of a full set is replaced; weighted and schedule are for caches only"},
	{"tlb.<t>.<l>.mapping", DIM_NAME, KIND_WORD, IN_TLB(mapping), 0, 0, "modulo", "modulo hash", "how an entry finds its set, as of caches"},
	{"tlb.<t>.<l>.scope", DIM_NAME, KIND_WORD, IN_TLB(scope), 0, 0, REQUIRED, "sm cluster gpu", "who shares one such TLB"},
	{"tlb.<t>.<l>.latency", DIM_CYCLES, KIND_DOUBLE, IN_TLB(latency), 0, 100000, "0", NO_WORDS, "cycles that a hit in this level takes more than one in the level above; of l1 mostly 0, as the latencies of caches and memory are those of a translation that is at hand"},
	{"tlb.<t>.miss_latency", DIM_CYCLES, KIND_DOUBLE, IN_WALK(miss_latency), 0, 100000, "0", NO_WORDS, "cycles that a miss in every level takes more than a hit in the last one"},
	{"tlb.<t>.walk", DIM_NAME, KIND_WORD, IN_WALK(walk), 0, 0, "fixed", "fixed global.l2", "where a miss finds its page table entry: fixed: after miss_latency; global.l2: in the L2, where entries of 8 bytes lie side by side, or in memory"},
	{"tlb.<t>.walk_memory", DIM_CYCLES, KIND_DOUBLE, IN_WALK(walk_memory), 0, 100000, "0", NO_WORDS, "cycles that a walk through global.l2 takes more when the page table entry is not there"},
	{"tlb.texture.shared_with", DIM_NAME, KIND_CUSTOM, HOME_SPEC, 0, 0, 0, "none", "none global", "global: the texture path asks the TLBs of the global path"},
	{"tlb.active_window", DIM_BYTES, KIND_U64, IN_SPEC(tlb_window), 0, 1024 * GIB, "0", NO_WORDS, "bytes, aligned, whose pages can be walked at a time; 0: all"},
	{"tlb.window_switch", DIM_CYCLES, KIND_DOUBLE, IN_SPEC(tlb_window_switch), 0, 1e6, "0", NO_WORDS, "cycles that a walk takes more when its page lies outside of the active window, which then becomes the active one"},

	{"host.h2d.bandwidth", DIM_BYTES_S, KIND_DOUBLE, IN_SPEC(host.h2d), 0, 1e15, "0", NO_WORDS, "of copies from host to device; 0: they take no time for their bytes"},
	{"host.d2h.bandwidth", DIM_BYTES_S, KIND_DOUBLE, IN_SPEC(host.d2h), 0, 1e15, "0", NO_WORDS, "of copies from device to host; 0: they take no time for their bytes"},
	{"host.both.bandwidth", DIM_BYTES_S, KIND_DOUBLE, IN_SPEC(host.both), 0, 1e15, "0", NO_WORDS, "of copies both ways at once, together; 0: each is as fast as alone"},
	{"host.h2d.pageable_bandwidth", DIM_BYTES_S, KIND_DOUBLE, IN_SPEC(host.h2d_pageable), 0, 1e15, "0", NO_WORDS, "of copies to the device from memory that the host may page out; 0: as of pinned memory"},
	{"host.d2h.pageable_bandwidth", DIM_BYTES_S, KIND_DOUBLE, IN_SPEC(host.d2h_pageable), 0, 1e15, "0", NO_WORDS, "of copies from the device to memory that the host may page out; 0: as of pinned memory"},
	{"host.copy_latency", DIM_SECONDS, KIND_DOUBLE, IN_SPEC(host.copy_latency), 0, 10, "0", NO_WORDS, "of each copy, besides its bytes"},
	{"host.launch_latency", DIM_SECONDS, KIND_DOUBLE, IN_SPEC(host.launch_latency), 0, 10, "0", NO_WORDS, "from the launch of an empty kernel to its end, as a timer of events on the device sees it"},
	{"host.launch_interval", DIM_SECONDS, KIND_DOUBLE, IN_SPEC(host.launch_interval), 0, 10, "0", NO_WORDS, "from one launch to the next that waits behind it, at least"},
	{"host.mapped.latency", DIM_SECONDS, KIND_DOUBLE, IN_SPEC(host.mapped_latency), 0, 1, "0", NO_WORDS, "of a kernel's load of the host's memory, which no cache keeps; 0: it is as the device's"},
	{"host.overlap", DIM_YESNO, KIND_BOOL, IN_SPEC(host.overlap), 0, 1, "yes", NO_WORDS, "whether copies go on beside a kernel; no: they wait for each other"},

	{"noise.jitter_probability", DIM_RATIO, KIND_DOUBLE, IN_SPEC(noise.jitter_probability), 0, 1, "0", NO_WORDS, "chance of a memory access beyond the SM to be late"},
	{"noise.jitter_cycles", DIM_CYCLES, KIND_DOUBLE, IN_SPEC(noise.jitter_cycles), 0, 1e6, "0", NO_WORDS, "a late access takes up to this much longer"},
	{"noise.refresh_interval", DIM_CYCLES, KIND_DOUBLE, IN_SPEC(noise.refresh_interval), 0, 1e9, "0", NO_WORDS, "cycles from one refresh of the memory to the next; 0: none"},
	{"noise.refresh_cycles", DIM_CYCLES, KIND_DOUBLE, IN_SPEC(noise.refresh_cycles), 0, 1e6, "0", NO_WORDS, "cycles that the memory stalls for one refresh"},
	{"noise.neighbour_rate", DIM_EVICTIONS, KIND_DOUBLE, IN_SPEC(noise.neighbour_rate), 0, 1000, "0", NO_WORDS, "lines of caches with scope gpu that somebody else's traffic evicts"},
	{"noise.neighbour_insert", DIM_RATIO, KIND_DOUBLE, IN_SPEC(noise.neighbour_insert), 0, 1, "0", NO_WORDS, "share of those evictions that leave a stranger's line behind, which stays until it is replaced itself"},
	{"noise.boost", DIM_RATIO, KIND_DOUBLE, IN_SPEC(noise.boost), 0, 2, "0", NO_WORDS, "how much faster the core clock runs while it is boosted"},
	{"noise.boost_interval", DIM_CYCLES, KIND_DOUBLE, IN_SPEC(noise.boost_interval), 0, 1e12, "0", NO_WORDS, "cycles in which it is boosted once, at a time that the seed says"},
	{"noise.boost_cycles", DIM_CYCLES, KIND_DOUBLE, IN_SPEC(noise.boost_cycles), 0, 1e12, "0", NO_WORDS, "cycles that a boost lasts"},
	{"noise.drift", DIM_RATIO, KIND_DOUBLE, IN_SPEC(noise.drift), 0, 0.05, "0", NO_WORDS, "how far the core clock drifts slowly against the memory"},
};
/* clang-format on */
const size_t spec_key_count = sizeof spec_keys / sizeof spec_keys[0];

static const struct {
	const char *text;
	enum spec_dim dim;
	double scale;
} units[] = {
    {"cycles", DIM_CYCLES, 1},	 {"count", DIM_COUNT, 1},	 {"bytes", DIM_BYTES, 1},
    {"KB", DIM_BYTES, 1024},	 {"MB", DIM_BYTES, 1024 * 1024}, {"GB", DIM_BYTES, GIB},
    {"Hz", DIM_HZ, 1},		 {"kHz", DIM_HZ, 1e3},		 {"MHz", DIM_HZ, 1e6},
    {"GHz", DIM_HZ, 1e9},	 {"ops/clk/SM", DIM_OPS, 1},	 {"bytes/clk", DIM_BYTES_CLK, 1},
    {"ratio", DIM_RATIO, 1},	 {"%", DIM_RATIO, 0.01},	 {"name", DIM_NAME, 1},
    {"yes/no", DIM_YESNO, 1},	 {"version", DIM_VERSION, 1},	 {"evictions/kcycle", DIM_EVICTIONS, 1},
    {"bytes/s", DIM_BYTES_S, 1}, {"MB/s", DIM_BYTES_S, 1e6},	 {"GB/s", DIM_BYTES_S, 1e9},
    {"s", DIM_SECONDS, 1},	 {"ms", DIM_SECONDS, 1e-3},	 {"us", DIM_SECONDS, 1e-6},
    {"ns", DIM_SECONDS, 1e-9},
};

const char *spec_unit_list(void)
{
	return "cycles, count, bytes, KB, MB, GB, Hz, kHz, MHz, GHz, ops/clk/SM, bytes/clk, ratio, %, name, yes/no, "
	       "version, evictions/kcycle, bytes/s, MB/s, GB/s, s, ms, us, ns";
}

bool spec_unit(const char *unit, enum spec_dim *d, double *scale)
{
	for (size_t i = 0; i < sizeof units / sizeof units[0]; i++)
		if (strcmp(units[i].text, unit) == 0) {
			*d = units[i].dim;
			*scale = units[i].scale;
			return true;
		}
	return false;
}

const char *spec_dim_name(enum spec_dim d)
{
	for (size_t i = 0; i < sizeof units / sizeof units[0]; i++)
		if (units[i].dim == d)
			return units[i].text;
	return "?";
}

/* ---- places ---- */
static const char *const cached_paths[] = {"constant", "global", "instruction", "texture"};
static const char *const load_paths[] = {"constant", "global", "shared", "texture"};
static const char *const types[] = {"u16", "s16", "u32", "s32",	  "u64", "s64", "b16",
				    "b32", "b64", "f16", "f16x2", "f32", "f64", "pred"};
/* PTX spellings, and those of variants: doc/gpu-file.md says which. */
static const char *const ops[] = {
    "add",    "sub",	"mul",	   "mulhi",    "mulwide", "mul24", "mad",   "mad24",   "fma",	"div",	  "divapprox",
    "rem",    "abs",	"neg",	   "min",      "max",	  "sad",   "and",   "or",      "xor",	"not",	  "cnot",
    "shl",    "shr",	"shf",	   "bfe",      "bfi",	  "bfind", "popc",  "clz",     "brev",	"lop3",	  "prmt",
    "rcp",    "sqrt",	"rsqrt",   "sin",      "cos",	  "ex2",   "lg2",   "tanh",    "mov",	"cvt",	  "setp",
    "set",    "selp",	"slct",	   "shfl",     "vote",	  "match", "madhi", "madwide", "rcprn", "sqrtrn", "divfull",
    "divsub", "rcpsub", "sqrtsub", "rsqrtsub", "ex2sub",  "lg2sub"};

const char *const spec_atomics[SPEC_ATOMICS] = {"and", "or", "xor", "add", "inc", "dec", "min", "max", "exch", "cas"};

struct place {
	const char *text;
	const char *const *names;
	size_t count; /* 0: any identifier */
};
static const struct place places[] = {
    {"<p>", cached_paths, sizeof cached_paths / sizeof cached_paths[0]},
    {"<m>", load_paths, sizeof load_paths / sizeof load_paths[0]},
    {"<t>", spec_tlb_paths, TLB_PATHS},
    {"<l>", spec_level_names, CONST_LEVELS},
    {"<op>", ops, sizeof ops / sizeof ops[0]},
    {"<type>", types, sizeof types / sizeof types[0]},
    {"<sfu>", sfu_names, SFU_FUNCTIONS},
    {"<atom>", spec_atomics, SPEC_ATOMICS},
    {"<pipe>", NULL, 0},
};

static const struct place *place_at(const char *pattern)
{
	for (size_t i = 0; i < sizeof places / sizeof places[0]; i++)
		if (str_starts(pattern, places[i].text))
			return &places[i];
	return NULL;
}

static bool is_identifier(const char *s, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!((s[i] >= 'a' && s[i] <= 'z') || (s[i] >= '0' && s[i] <= '9') || s[i] == '_'))
			return false;
	return n > 0 && n < 16;
}

static bool place_takes(const struct place *p, const char *s, size_t n)
{
	if (p->count == 0)
		return is_identifier(s, n);
	for (size_t i = 0; i < p->count; i++)
		if (strlen(p->names[i]) == n && memcmp(p->names[i], s, n) == 0)
			return true;
	return false;
}

static bool key_matches(const char *pattern, const char *key)
{
	while (*pattern && *key) {
		const struct place *p = *pattern == '<' ? place_at(pattern) : NULL;
		size_t n = strcspn(key, ".");
		if (p) {
			if (!place_takes(p, key, n))
				return false;
			pattern += strlen(p->text);
			key += n;
		} else if (*pattern++ != *key++) {
			return false;
		}
	}
	return *pattern == *key;
}

const struct spec_key *spec_key_find(const char *key)
{
	for (size_t i = 0; i < spec_key_count; i++)
		if (key_matches(spec_keys[i].pattern, key))
			return &spec_keys[i];
	return NULL;
}

void spec_key_fill(char *out, size_t n, const char *pattern, const char *first, const char *second)
{
	size_t len = 0;
	while (*pattern && len + 1 < n) {
		const struct place *p = *pattern == '<' ? place_at(pattern) : NULL;
		if (!p) {
			out[len++] = *pattern++;
			continue;
		}
		for (const char *c = first; *c && len + 1 < n; c++)
			out[len++] = *c;
		first = second;
		pattern += strlen(p->text);
	}
	out[len] = '\0';
}

/* The pattern with each place filled by what the key has there, or by the nearest name that may stand there. */
static void imitate(char *out, size_t n, const char *pattern, const char *key)
{
	size_t len = 0;
	while (*pattern && len + 1 < n) {
		size_t pn = strcspn(pattern, "."), kn = strcspn(key, ".");
		const struct place *p = place_at(pattern);
		char word[32];
		snprintf(word, sizeof word, "%.*s", (int)(p ? kn : pn), p ? key : pattern);
		if (p && !place_takes(p, key, kn) && p->count) {
			const char *near = str_nearest(word, p->names, p->count);
			snprintf(word, sizeof word, "%s", near ? near : p->names[0]);
		}
		int put = snprintf(out + len, n - len, "%s%s", word, pattern[pn] ? "." : "");
		len += put > 0 ? (size_t)put : 0;
		pattern += pn + (pattern[pn] == '.');
		key += kn + (key[kn] == '.');
	}
	out[len < n ? len : n - 1] = '\0';
}

void spec_key_nearest(char *out, size_t n, const char *key)
{
	char text[sizeof spec_keys / sizeof spec_keys[0]][96];
	const char *names[sizeof spec_keys / sizeof spec_keys[0]];
	for (size_t i = 0; i < spec_key_count; i++) {
		imitate(text[i], sizeof text[i], spec_keys[i].pattern, key);
		names[i] = text[i];
	}
	const char *near = str_nearest(key, names, spec_key_count);
	snprintf(out, n, "%s", near ? near : "");
}
