/* Statistics of a program's launches. */
#include "exec/driver.h"
#include "gpu/sim/sim_stats.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LOG_MOST (64u << 20) /* of launches that are written one by one */

struct time_stats *exec_stats_of(struct CUfunc_st *f)
{
	if (!exec_process.stats || f->counts)
		return f->counts;
	struct arena *a = &f->module->arena;
	struct time_stats *s = ARENA_NEW(a, struct time_stats);
	if (s && (s->record = ARENA_ARRAY(a, f->program->inst_count, struct time_count)))
		f->counts = s;
	return f->counts;
}

void exec_stats_launch(struct CUfunc_st *f, const struct exec_shape *s, const struct time_result *r)
{
	struct str *log = &exec_process.log;
	f->launches++;
	f->cycles += r->cycles;
	f->ns += r->ns;
	f->shape = *s;
	if (exec_process.stats && log->len < LOG_MOST)
		str_addf(log,
			 "%s{\"kernel\":\"%s\",\"grid\":[%u,%u,%u],\"block\":[%u,%u,%u],\"cycles\":%llu,\"ns\":%.6g,"
			 "\"instructions\":%llu}",
			 log->len ? ",\n" : "", f->name, s->grid[0], s->grid[1], s->grid[2], s->block[0], s->block[1],
			 s->block[2], (unsigned long long)r->cycles, r->ns, (unsigned long long)r->instructions);
}

static struct sim_kernel_stats of(const struct CUfunc_st *f)
{
	const struct exec_shape *s = &f->shape;
	return (struct sim_kernel_stats){.spec = f->module->device->spec,
					 .program = f->program,
					 .counts = f->counts,
					 .grid = {s->grid[0], s->grid[1], s->grid[2]},
					 .block = {s->block[0], s->block[1], s->block[2]},
					 .shared_bytes = f->program->shared_static + s->shared,
					 .launches = f->launches,
					 .cycles = f->cycles,
					 .ns = f->ns};
}

void exec_stats_write(void)
{
	struct exec_process *x = &exec_process;
	if (!x->stats)
		return;
	const bool json = *x->stats;
	uint64_t launches = 0, cycles = 0;
	struct str out;
	str_init(&out);
	double ns = 0;
	for (int n = 0; n < x->devices; n++) {
		if (json)
			str_addf(&out, "%s%s", n ? ", " : "{\"gpu\":\"", x->device[n].spec->name);
		ns += x->device[n].ns;
	}
	if (json)
		str_add(&out, "\",\"kernels\":[");
	for (struct CUmod_st *m = x->modules; m; m = m->next)
		for (struct CUfunc_st *f = m->functions; f; f = f->next) {
			if (!f->counts || !f->launches)
				continue;
			const struct sim_kernel_stats k = of(f);
			if (json)
				str_add(&out, launches ? ",\n" : "\n");
			(json ? sim_stats_json : sim_stats_table)(&out, &k);
			launches += f->launches;
			cycles += f->cycles;
		}
	if (json)
		str_addf(&out, "],\n\"launches\":[%s],\n", str_text(&x->log));
	str_addf(&out,
		 json ? "\"total\":{\"launches\":%llu,\"cycles\":%llu,\"ns\":%.6g}}\n"
		      : "all: %llu launches, %llu cycles of kernels, %.6g ns with copies and launching\n",
		 (unsigned long long)launches, (unsigned long long)cycles, ns);
	FILE *to = json ? fopen(x->stats, "w") : stderr;
	if (out.failed || x->log.failed || !to || fwrite(str_text(&out), 1, out.len, to) != out.len || fflush(to))
		exec_say("the statistics cannot be written");
	if (json && to)
		fclose(to);
	str_free(&out);
}

void exec_stats_open(void)
{
	exec_process.stats = getenv("FATHOM_EXEC_STATS");
	str_init(&exec_process.log);
	if (exec_process.stats && atexit(exec_stats_write))
		exec_process.stats = NULL;
}
