/* Bandwidth of a level against the number of SMs that ask. */
#include "constant_bandwidth.h"
#include "base/arena.h"
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MARKS = 7, FROM = 1, TO = 5, HEAD = 2, PER_BLOCK = 12, GROUP = 16, GROUPS = 2, SPIN = 1 << 16, POINTS = 32 };

int bandwidth_setup(const struct study *s, double x, const double *p, struct job *j)
{
	const struct device_info *d = study_device(s);
	if (p[BANDWIDTH_BYTES] > (double)d->constant_bytes)
		return -ENOTSUP;
	j->template_path = "probes/sharing/constant_stream.ptx";
	job_param(j, "SIZE", (long long)d->constant_bytes);
	job_param(j, "STRIDE", (long long)p[BANDWIDTH_STRIDE]);
	job_param(j, "ELEMENTS", (long long)(p[BANDWIDTH_BYTES] / p[BANDWIDTH_STRIDE]));
	job_param(j, "SMS", d->sm_count);
	job_param(j, "MARKS", MARKS);
	job_param(j, "GROUPS", GROUPS);
	job_param(j, "SPIN", SPIN);
	snprintf(j->launch.entry, sizeof j->launch.entry, "stream");
	j->launch.grid[0] = (uint32_t)x;
	j->launch.grid[1] = j->launch.grid[2] = 1;
	j->launch.block[0] = j->launch.block[1] = j->launch.block[2] = 1;
	j->launch.warmups = 1;
	job_output(j, HEAD + PER_BLOCK * (uint32_t)x);
	job_arg_u32(j, (uint32_t)x);
	return 0;
}

/* Bytes a cycle of all blocks together, while all of them read. */
static double rate_of(const struct point *pt)
{
	unsigned blocks = (unsigned)pt->x;
	double rate = 0;
	if (pt->outcome != OUTCOME_OK || !pt->repeats || pt->words_per_repeat < HEAD + PER_BLOCK * blocks)
		return NAN;
	for (unsigned b = 0; b < blocks; b++) {
		const uint32_t *y = pt->y + HEAD + (size_t)PER_BLOCK * b, *mark = y + 3;
		uint32_t took = mark[TO] - mark[FROM];
		if (!y[0] || !took)
			return NAN;
		rate += (TO - FROM) * GROUPS * GROUP * pt->p[BANDWIDTH_FILL] / took;
	}
	return rate;
}

/* Whether each block had an SM for itself. A block's reads also have to be gone from the level above when another SM of
 * the same group comes there. In `active` is the number of groups with a block. */
static bool apart(const struct share_path *c, unsigned k, const struct point *pt, unsigned *active)
{
	const struct share_level *up = &c->level[k - 1];
	unsigned blocks = (unsigned)pt->x, sms = study_device(c->study)->sm_count,
		 elements = (unsigned)(pt->p[BANDWIDTH_BYTES] / pt->p[BANDWIDTH_STRIDE]);
	*active = 0;
	for (unsigned b = 0; b < blocks; b++) {
		const uint32_t *y = pt->y + HEAD + (size_t)PER_BLOCK * b;
		unsigned mates = 1, nearest = elements;
		bool first = true;
		if (y[1] >= sms)
			return false;
		for (unsigned i = 0; i < blocks; i++) {
			const uint32_t *z = pt->y + HEAD + (size_t)PER_BLOCK * i;
			if (i == b || z[1] >= sms || up->group[z[1]] != up->group[y[1]])
				continue;
			if (z[1] == y[1])
				return false;
			unsigned ahead = (z[2] + elements - y[2]) % elements;
			nearest = ahead < nearest ? ahead : nearest;
			mates++;
			first = first && i > b;
		}
		*active += first;
		if (nearest * mates * pt->p[BANDWIDTH_STRIDE] < 1.3 * (double)up->size)
			return false;
	}
	return true;
}

/* Whether one SM on its way round misses every level above, nearly always. */
static enum chase_state misses_above(struct share_path *c, unsigned k, double bytes, double *share)
{
	double p[POINT_PARAMS];
	struct share_run r;
	share_ring(c, k, p);
	p[SHARE_STRIDE] = (double)c->level[k].line;
	p[SHARE_OTHER] = 0;
	enum chase_state s = share_get(c->study, c->experiment, bytes, p, &r, c->why, sizeof c->why);
	*share = s == CHASE_DONE ? (r.slow - r.miss) / r.counted : 0;
	return s;
}

void bandwidth_study(struct share_path *c, unsigned experiment, unsigned k, double fill, const char *key)
{
	struct study *s = c->study;
	const struct share_level *l = &c->level[k];
	unsigned sms = study_device(s)->sm_count, count = 0, active = 0, half_active = 0;
	double p[POINT_PARAMS] = {0}, line = (double)l->line, share;
	unsigned elements = (unsigned)(0.75 * (double)l->size / line),
		 middle = l[-1].groups < sms ? l[-1].groups : sms / 2;
	const struct point *one = NULL, *half = NULL, *all = NULL;
	p[BANDWIDTH_LEVEL] = k + 1;
	p[BANDWIDTH_STRIDE] = line;
	p[BANDWIDTH_BYTES] = elements * line;
	p[BANDWIDTH_FILL] = fill;
	enum chase_state state = misses_above(c, k, elements * line, &share);
	for (unsigned i = 0; i < POINTS; i++) {
		unsigned b = sms <= POINTS ? i + 1 : 1 + i * (sms - 1) / (POINTS - 1);
		if (b > sms)
			break;
		const struct point *pt = study_ask(s, experiment, b, p);
		one = b == 1 ? pt : one;
		all = b == sms ? pt : all;
		count++;
	}
	half = study_ask(s, experiment, middle, p);
	if (study_pending(s))
		return;
	if (state != CHASE_DONE || !one || !half || !all || isnan(rate_of(one)) || isnan(rate_of(half)) ||
	    isnan(rate_of(all))) {
		study_verdict(s, key, VERDICT_INCONCLUSIVE, "bandwidth", "%s", point_why(all));
		return;
	}
	double alone = rate_of(one), some = rate_of(half), total = rate_of(all);
	if (share < 0.995)
		study_verdict(s, key, VERDICT_INCONCLUSIVE, "bandwidth",
			      "only %.1f%% of the accesses of one SM on its way round are hits of this level",
			      100 * share);
	else if (!apart(c, k, all, &active) || !apart(c, k, half, &half_active))
		study_verdict(s, key, VERDICT_INCONCLUSIVE, "bandwidth",
			      "SMs that share the level above may have read what others had brought there");
	else if (active * alone < 1.1 * total || half_active * alone < 1.1 * some)
		study_verdict(
		    s, key, VERDICT_INCONCLUSIVE, "bandwidth",
		    "one SM draws %.3f bytes a cycle, %u draw %.2f: nothing shows that this level is the limit", alone,
		    sms, total);
	else if (fabs(total - some) > 0.01 * total)
		study_verdict(s, key, VERDICT_INCONCLUSIVE, "bandwidth",
			      "%u SMs draw %.2f bytes a cycle and %u draw %.2f: not yet all that there is", middle,
			      some, sms, total);
	else
		study_measured_number(s, key, total, fmin(total, some), fmax(total, some), "card",
				      "bytes a cycle of all SMs that read past each other, while all of them read",
				      "bandwidth", "%u SMs draw as much as %u; one draws %.3f", sms, middle, alone);
}

int bandwidth_draw(const struct study *s, const struct series *series, struct figure_list *out)
{
	double x[POINTS + 1], y[POINTS + 1];
	size_t n = 0;
	(void)s;
	for (size_t i = 0; series && i < series->count && n <= POINTS; i++) {
		const struct point *pt = &series->points[i];
		double rate = rate_of(pt);
		/* The last level is the paper's. */
		if (isnan(rate) || pt->p[BANDWIDTH_LEVEL] < series->points[series->count - 1].p[BANDWIDTH_LEVEL])
			continue;
		size_t at = n++;
		for (; at && x[at - 1] > pt->x; at--) {
			x[at] = x[at - 1];
			y[at] = y[at - 1];
		}
		x[at] = pt->x;
		y[at] = rate;
	}
	if (n < 2)
		return 0;
	struct figure *f =
	    figures_new(out, "constant-bandwidth", "Constant memory: what many SMs draw from the last level");
	if (!f)
		return -1;
	f->x = (struct figure_axis){.label = "blocks, one thread each", .unit = "count"};
	f->y = (struct figure_axis){.label = "all together", .unit = "bytes/clk"};
	return figure_add(f, "read", MARK_LINE, x, y, NULL, n);
}
