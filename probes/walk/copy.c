/* Lemeire's Fig. 6: what the loop of a copy kernel costs. */
#include "walk.h"
#include <errno.h>
#include <math.h>
#include <stdio.h>

enum { REPEATS = 5, WORD = 4, POINTS_MOST = 256 };
#define QUIET 0.03
#define CODE  0.2 /* of the value: compilers order and join the loads, each in its way */

static const char *const kinds[] = {"dynamic", "constant", "unrolled"};
enum { KINDS = sizeof kinds / sizeof *kinds };

int loop_setup(const struct study *s, double x, const double *p, struct job *j)
{
	const struct device_info *d = study_device(s);
	stream_grid(d, j);
	j->template_path = "probes/walk/copy.ptx";
	job_param_text(j, "KIND", kinds[(unsigned)p[P_MORE]]);
	job_param(j, "LINKS", (long long)p[P_LINKS]);
	snprintf(j->launch.entry, sizeof j->launch.entry, "copy");
	j->launch.buffers[0] = (struct launch_buffer){.space = BUFFER_GLOBAL, .bytes = 16};
	j->launch.buffer_count = 1;
	job_arg_buffer(j, 0, 0);
	j->launch.flush = true;
	/* One array for both lengths, as streams have it. */
	const double links = walk_pair(EXPERIMENT_COPY, WORD, 0).many;
	if (!stream_array(d, j, (uint64_t)(x * links * p[P_ROUNDS]) * j->launch.grid[0] * j->launch.block[0], p))
		return -ENOTSUP;
	job_arg_u32(j, (uint32_t)p[P_LINKS]);
	job_arg_u32(j, (uint32_t)p[P_ROUNDS]);
	job_arg_u32(j, 0);
	timed_job(j, p[P_REPEATS]);
	j->launch.warmups = 0;
	j->check.cls = NATIVE_LOAD_GLOBAL;
	j->check.min = 1;
	j->check.max = UINT32_MAX;
	j->check.others = UINT32_MAX;
	return 0;
}

void loop_study(struct study *s, const struct walk_clock *clock)
{
	const struct device_info *d = study_device(s);
	struct job grid = {.template_path = NULL};
	stream_grid(d, &grid);
	const double bytes = (double)WORD * grid.launch.grid[0] * grid.launch.block[0];
	for (unsigned kind = 0; kind < KINDS; kind++) {
		struct timed_pair k = walk_pair(EXPERIMENT_COPY, WORD, kind);
		k.first = 1;
		k.most = REPEATS;
		k.quiet = QUIET;
		k.ends = CODE;
		k.stretch = true;
		struct stream_places places = {.seen = 0};
		const struct timed t = stream_ask(s, &k, clock->timer, &places);
		char key[64], how[160];
		if (study_pending(s))
			continue;
		snprintf(key, sizeof key, "memory.global.loop.%s", kinds[kind]);
		if (t.ok && places.uneven) {
			study_verdict(s, key, VERDICT_INCONCLUSIVE, "copy", "%s", stream_uneven);
			continue;
		}
		if (t.ok)
			stream_say(how, sizeof how, "all SMs read what no cache holds, 4 bytes a load", &places);
		if (t.ok)
			study_measured_number(s, key, bytes / t.ns, bytes / t.hi, bytes / t.lo, "card",
					      "run time of a copy kernel, difference of two lengths", "copy", "%s",
					      how);
		else
			study_verdict(s, key, t.bad ? VERDICT_UNSUPPORTED : VERDICT_INCONCLUSIVE, "copy", "%s",
				      t.bad ? point_why(t.bad) : "run times of equal launches differ too much");
	}
}

/* Bandwidth against reads of a thread, ascending, of whole run times as the paper has them. */
static size_t curve(const struct study *s, const struct series *c, unsigned kind, double *x, double *y)
{
	struct job grid = {.template_path = NULL};
	size_t n = 0;
	stream_grid(study_device(s), &grid);
	for (size_t i = 0; c && i < c->count && n < POINTS_MOST; i++) {
		const struct point *pt = &c->points[i];
		if (pt->outcome != OUTCOME_OK || pt->p[P_MORE] != kind || pt->p[P_PLACE] > 0)
			continue;
		const double reads = pt->p[P_LINKS] * pt->p[P_ROUNDS], ns = timed_mean(NULL, pt);
		size_t at = n++;
		for (; at > 0 && x[at - 1] > reads; at--) {
			x[at] = x[at - 1];
			y[at] = y[at - 1];
		}
		x[at] = reads;
		y[at] = reads * WORD * grid.launch.grid[0] * grid.launch.block[0] / fmax(ns, 1);
	}
	return n;
}

int loop_draw(const struct study *s, struct figure_list *out)
{
	double x[POINTS_MOST], y[POINTS_MOST];
	struct figure *f = figures_new(out, "copy-loops", "Bandwidth of a copy kernel against its reads");
	if (!f)
		return -1;
	figure_key(f, "memory.global.loop.*");
	f->x = (struct figure_axis){.label = "reads of a thread", .unit = "count", .log2 = true};
	f->y = (struct figure_axis){.label = "bandwidth of whole launches", .unit = "GB/s"};
	for (unsigned kind = 0; kind < KINDS; kind++) {
		const size_t n = curve(s, study_series(s, EXPERIMENT_COPY), kind, x, y);
		if (n && figure_add(f, kinds[kind], MARK_LINE, x, y, NULL, n))
			return -1;
	}
	return 0;
}
