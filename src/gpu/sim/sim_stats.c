#include "gpu/sim/sim_stats.h"
#include "gpu/sim/time/time_place.h"
#include <string.h>

#define HOTTEST 10

uint32_t sim_blocks_per_sm(const struct sim_spec *s, const struct func_program *p, uint64_t threads, uint64_t shared,
			   const char **limit)
{
	struct time_need one, used;
	*limit = "threads";
	if (!threads || threads > s->max_threads_per_block)
		return 0;
	time_need(&one, s, threads, p->registers, shared, time_barriers_named(p));
	const uint32_t n = time_most(s, &one, &used, UINT32_MAX);
	*limit = s->max_blocks_per_sm && used.blocks >= s->max_blocks_per_sm	  ? "blocks"
		 : used.warps + one.warps > s->max_warps_per_sm			  ? "warps"
		 : used.threads + one.threads > s->max_threads_per_sm		  ? "threads"
		 : (uint64_t)used.registers + one.registers > s->registers_per_sm ? "registers"
		 : used.shared + one.shared > s->shared_per_sm			  ? "shared memory"
										  : "barriers";
	return n;
}

/* ---- classes of instructions ---- */

enum class {
	CLASS_INTEGER,
	CLASS_FLOAT32,
	CLASS_FLOAT64,
	CLASS_HALF,
	CLASS_MATRIX,
	CLASS_CONVERSION,
	CLASS_MOVE,
	CLASS_EXCHANGE,
	CLASS_LOAD_GLOBAL,
	CLASS_LOAD_SHARED,
	CLASS_LOAD_CONSTANT,
	CLASS_LOAD_LOCAL,
	CLASS_TEXTURE,
	CLASS_STORE_GLOBAL,
	CLASS_STORE_SHARED,
	CLASS_STORE_LOCAL,
	CLASS_ATOMIC,
	CLASS_BRANCH,
	CLASS_BARRIER,
	CLASS_FENCE,
	CLASS_CLOCK,
	CLASS_EXIT,
	CLASSES
};
static const char *const class_name[CLASSES] = {
    "integer",	   "float32",	  "float64",	"half",	      "matrix",	 "conversion",	 "move",	 "exchange",
    "load.global", "load.shared", "load.const", "load.local", "texture", "store.global", "store.shared", "store.local",
    "atomic",	   "branch",	  "barrier",	"fence",      "clock",	 "exit"};

static enum class arithmetic(const struct func_info *i) {
	switch (i->ptx_op){
		case PTX_OP_MMA : case PTX_OP_WMMA : return CLASS_MATRIX;
		case PTX_OP_CVT : case PTX_OP_CVTA : return CLASS_CONVERSION;
		case PTX_OP_MOV : case PTX_OP_LD : /* parameters */
		    return CLASS_MOVE;
		case PTX_OP_VOTE : case PTX_OP_SHFL : case PTX_OP_MATCH : return CLASS_EXCHANGE;
		default : break;
	}
switch (i->type)
{
case PTX_F32:
case PTX_TF32:
	return CLASS_FLOAT32;
case PTX_F64:
	return CLASS_FLOAT64;
case PTX_F16:
case PTX_F16X2:
case PTX_BF16:
case PTX_BF16X2:
	return CLASS_HALF;
default:
	return CLASS_INTEGER;
}
}

/* By the space that is written: a generic access counts as global. */
static enum class class_of(const struct func_inst *f, const struct func_info *i) {
	switch ((enum func_kind)f->kind){
		case FUNC_LOAD : return f->space == PTX_SHARED ? CLASS_LOAD_SHARED
		: f->space == PTX_CONST			       ? CLASS_LOAD_CONSTANT
		: f->space == PTX_LOCAL			       ? CLASS_LOAD_LOCAL
		: f->space == PTX_TEX			       ? CLASS_TEXTURE
							       : CLASS_LOAD_GLOBAL;
		case FUNC_STORE : return f->space == PTX_SHARED ? CLASS_STORE_SHARED
		: f->space == PTX_LOCAL				? CLASS_STORE_LOCAL
								: CLASS_STORE_GLOBAL;
		case FUNC_ATOMIC : return CLASS_ATOMIC;
		case FUNC_BRANCH : return CLASS_BRANCH;
		case FUNC_BARRIER : return CLASS_BARRIER;
		case FUNC_FENCE : return CLASS_FENCE;
		case FUNC_CLOCK : return CLASS_CLOCK;
		case FUNC_EXIT : return CLASS_EXIT;
		default : return arithmetic(i);
	}
}

/* ---- sums ---- */

struct line { /* of the source */
	uint32_t number;
	uint64_t issues, waited;
};
struct sums {
	uint64_t issues, off, lanes, waited, by_class[CLASSES];
	uint64_t requests, transactions;	 /* beyond shared memory */
	uint64_t shared_requests, shared_passes; /* of shared memory */
	uint64_t atomic_lanes;
	struct line hot[HOTTEST]; /* most cycles of warps first */
	uint32_t hot_count;
};

static void keep_hot(struct sums *s, const struct line *l)
{
	uint32_t at = s->hot_count;
	while (at && s->hot[at - 1].issues + s->hot[at - 1].waited < l->issues + l->waited)
		at--;
	if (at == HOTTEST)
		return;
	uint32_t end = s->hot_count < HOTTEST ? s->hot_count++ : HOTTEST - 1;
	memmove(&s->hot[at + 1], &s->hot[at], (end - at) * sizeof *s->hot);
	s->hot[at] = *l;
}

/* Records of one line mostly follow each other: those that come back later, as of a function that is called twice, are looked for. */
static void add_lines(struct sums *s, const struct sim_kernel_stats *k)
{
	const struct func_program *p = k->program;
	for (uint32_t pc = 0; pc < p->inst_count; pc++) {
		struct line l = {.number = p->info[pc].source ? p->info[pc].source : p->info[pc].line};
		bool earlier = false;
		for (uint32_t n = 0; n < p->inst_count; n++) {
			uint32_t line = p->info[n].source ? p->info[n].source : p->info[n].line;
			if (line != l.number)
				continue;
			earlier = earlier || n < pc;
			l.issues += k->counts->record[n].issues;
			l.waited += k->counts->record[n].waited;
		}
		if (!earlier && l.issues)
			keep_hot(s, &l);
	}
}

static void add_up(struct sums *s, const struct sim_kernel_stats *k)
{
	const struct func_program *p = k->program;
	memset(s, 0, sizeof *s);
	for (uint32_t pc = 0; pc < p->inst_count; pc++) {
		const struct time_count *n = &k->counts->record[pc];
		enum class c = class_of(&p->inst[pc], &p->info[pc]);
		s->issues += n->issues;
		s->off += n->off;
		s->lanes += n->lanes;
		s->waited += n->waited;
		s->by_class[c] += n->issues;
		s->transactions += n->transactions;
		s->shared_passes += n->passes;
		if (n->transactions)
			s->requests += n->issues - n->off;
		if (n->passes)
			s->shared_requests += n->issues - n->off;
		if (c == CLASS_ATOMIC)
			s->atomic_lanes += n->lanes;
	}
	add_lines(s, k);
}

static double ratio(double a, double b)
{
	return b > 0 ? a / b : 0;
}

struct reached { /* what follows from the sums */
	uint32_t blocks;
	const char *limit;
	double ipc, possible, occupancy, lanes, dram;
};

static struct reached reached_of(const struct sim_kernel_stats *k, const struct sums *s)
{
	const struct sim_spec *d = k->spec;
	struct reached r;
	const uint64_t threads = (uint64_t)k->block[0] * k->block[1] * k->block[2];
	const double sm_cycles = (double)k->cycles * d->sm_count, most = d->max_warps_per_sm;
	r.blocks = sim_blocks_per_sm(d, k->program, threads, k->shared_bytes, &r.limit);
	r.possible = ratio(r.blocks * (double)((threads + d->warp_size - 1) / d->warp_size), most);
	r.occupancy = ratio((double)k->counts->resident, sm_cycles * most);
	r.ipc = ratio((double)s->issues, sm_cycles);
	r.lanes = ratio((double)s->lanes, (double)(s->issues - s->off) * d->warp_size);
	r.dram = ratio((double)k->counts->dram_bytes, (double)k->cycles * d->dram_bandwidth);
	return r;
}

/* ---- for programs ---- */

static void member(struct str *o, const char *name, uint64_t v)
{
	str_addf(o, ",\"%s\":%llu", name, (unsigned long long)v);
}

static void share(struct str *o, const char *name, double v)
{
	str_addf(o, ",\"%s\":%.6g", name, v);
}

/* A name of PTX has no character that JSON would want written otherwise. */
void sim_stats_json(struct str *o, const struct sim_kernel_stats *k)
{
	struct sums s;
	add_up(&s, k);
	const struct reached r = reached_of(k, &s);
	str_addf(o, "{\"kernel\":\"%s\",\"launches\":%llu,\"grid\":[%u,%u,%u],\"block\":[%u,%u,%u]", k->program->name,
		 (unsigned long long)k->launches, k->grid[0], k->grid[1], k->grid[2], k->block[0], k->block[1],
		 k->block[2]);
	member(o, "cycles", k->cycles);
	share(o, "ns", k->ns);
	member(o, "instructions", s.issues);
	member(o, "without_lanes", s.off);
	member(o, "lanes", s.lanes);
	share(o, "instructions_per_sm_cycle", r.ipc);
	share(o, "lane_efficiency", r.lanes);
	str_add(o, ",\"classes\":{");
	for (int c = 0, any = 0; c < CLASSES; c++)
		if (s.by_class[c])
			str_addf(o, "%s\"%s\":%llu", any++ ? "," : "", class_name[c],
				 (unsigned long long)s.by_class[c]);
	str_addf(o, "},\"occupancy\":{\"blocks_per_sm\":%u,\"limited_by\":\"%s\",\"possible\":%.6g,\"reached\":%.6g}",
		 r.blocks, r.limit, r.possible, r.occupancy);
	str_addf(o, ",\"registers\":%u,\"shared_bytes\":%llu,\"local_bytes\":%llu", k->program->registers,
		 (unsigned long long)k->shared_bytes, (unsigned long long)k->program->local_bytes);
	str_add(o, ",\"waited\":{");
	for (int w = 0; w < TIME_WHYS; w++)
		str_addf(o, "%s\"%s\":%llu", w ? "," : "", time_why_text((enum time_why)w),
			 (unsigned long long)k->counts->waited[w]);
	str_add(o, "},\"caches\":{");
	for (uint32_t n = 0; n < k->counts->levels; n++)
		str_addf(o, "%s\"%s\":{\"hits\":%llu,\"misses\":%llu}", n ? "," : "", k->counts->level[n].name,
			 (unsigned long long)k->counts->level[n].hits, (unsigned long long)k->counts->level[n].misses);
	str_addf(o, "},\"memory\":{\"requests\":%llu,\"transactions\":%llu}", (unsigned long long)s.requests,
		 (unsigned long long)s.transactions);
	str_addf(o, ",\"shared\":{\"requests\":%llu,\"passes\":%llu,\"conflicts\":%llu}",
		 (unsigned long long)s.shared_requests, (unsigned long long)s.shared_passes,
		 (unsigned long long)(s.shared_passes - s.shared_requests));
	str_addf(o, ",\"atomics\":{\"instructions\":%llu,\"lanes\":%llu}", (unsigned long long)s.by_class[CLASS_ATOMIC],
		 (unsigned long long)s.atomic_lanes);
	str_addf(o, ",\"dram\":{\"bytes\":%llu,\"of_bandwidth\":%.6g},\"lines\":[",
		 (unsigned long long)k->counts->dram_bytes, r.dram);
	for (uint32_t n = 0; n < s.hot_count; n++)
		str_addf(o, "%s{\"line\":%u,\"instructions\":%llu,\"waited\":%llu}", n ? "," : "", s.hot[n].number,
			 (unsigned long long)s.hot[n].issues, (unsigned long long)s.hot[n].waited);
	str_add(o, "]}");
}

/* ---- for people ---- */

static void row(struct str *o, const char *name, uint64_t v, double of, const char *unit)
{
	str_addf(o, "  %-28s %14llu", name, (unsigned long long)v);
	if (of > 0)
		str_addf(o, "  %5.1f %% %s", 100 * (double)v / of, unit);
	str_add(o, "\n");
}

void sim_stats_table(struct str *o, const struct sim_kernel_stats *k)
{
	struct sums s;
	add_up(&s, k);
	const struct reached r = reached_of(k, &s);
	str_addf(o, "kernel %s: %llu launch%s, %llu cycles (%.6g us)\n", k->program->name,
		 (unsigned long long)k->launches, k->launches == 1 ? "" : "es", (unsigned long long)k->cycles,
		 k->ns * 1e-3);
	str_addf(o, "  instructions %llu, %.3g a cycle of an SM; of the lanes of a warp %.1f %% took part\n",
		 (unsigned long long)s.issues, r.ipc, 100 * r.lanes);
	str_addf(o,
		 "  occupancy %.1f %% of %.1f %%: %u blocks of an SM, limited by %s; %u registers, %llu bytes of local "
		 "memory\n",
		 100 * r.occupancy, 100 * r.possible, r.blocks, r.limit, k->program->registers,
		 (unsigned long long)k->program->local_bytes);
	str_add(o, " instructions by class\n");
	for (int c = 0; c < CLASSES; c++)
		if (s.by_class[c])
			row(o, class_name[c], s.by_class[c], (double)s.issues, "");
	str_add(o, " cycles that warps waited for\n");
	for (int w = 0; w < TIME_WHYS; w++)
		if (k->counts->waited[w])
			row(o, time_why_text((enum time_why)w), k->counts->waited[w], (double)s.waited, "");
	str_add(o, " memory\n");
	for (uint32_t n = 0; n < k->counts->levels; n++) {
		const struct time_level_count *l = &k->counts->level[n];
		if (l->hits + l->misses)
			str_addf(o, "  %-28s %14llu  %5.1f %% hit\n", l->name,
				 (unsigned long long)(l->hits + l->misses),
				 100 * ratio((double)l->hits, (double)(l->hits + l->misses)));
	}
	if (s.requests)
		str_addf(o, "  %-28s %14llu  %5.2f a request\n", "transactions", (unsigned long long)s.transactions,
			 ratio((double)s.transactions, (double)s.requests));
	if (s.shared_requests)
		str_addf(o, "  %-28s %14llu  in %llu passes\n", "shared memory", (unsigned long long)s.shared_requests,
			 (unsigned long long)s.shared_passes);
	str_addf(o, "  %-28s %14llu  %5.1f %% of its bandwidth\n", "bytes of DRAM",
		 (unsigned long long)k->counts->dram_bytes, 100 * r.dram);
	str_add(o, " lines that took most\n");
	for (uint32_t n = 0; n < s.hot_count; n++)
		str_addf(o, "  line %-23u %14llu  %5.1f %% of the warps' cycles\n", s.hot[n].number,
			 (unsigned long long)(s.hot[n].issues + s.hot[n].waited),
			 100 * ratio((double)(s.hot[n].issues + s.hot[n].waited), (double)(s.issues + s.waited)));
}
