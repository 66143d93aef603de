#include "code_ring.h"
#include "base/arena.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>

/* Native instructions. START: of the loop in front of its clock read, at most. WHOLE: between this and the first piece
 * if all of the loop is there, at least. BEHIND: of the rest if it is elsewhere, at most. */
#define START  18
#define WHOLE  14
#define BEHIND 32
#define SHAPE  1024
#define BANK   65536

static int kernel(const struct study *s, unsigned pieces, unsigned pads, bool fresh, struct job *j)
{
	const struct device_info *d = study_device(s);
	j->template_path = "probes/instruction_cache/jump.ptx";
	job_param(j, "BLOCKS", pieces);
	job_param(j, "PADS", pads);
	job_param(j, "FRESH", fresh);
	job_param(j, "BANK", d->constant_bytes < BANK ? (long long)d->constant_bytes : BANK);
	snprintf(j->launch.entry, sizeof j->launch.entry, "jump");
	return d->constant_bytes < 1024 ? -ENOTSUP : 0;
}

/* A ring of 32-bit indices, visited from its highest piece down: then nobody who fetches ahead fetches what comes next. */
static uint32_t ring(struct job *j, unsigned pieces, const struct code_ring *r)
{
	uint64_t *order = ARENA_ARRAY(j->arena, r->count, uint64_t);
	if (!order)
		return UINT32_MAX;
	for (unsigned i = 0; i < r->count; i++)
		order[i] = 4ull * code_piece(r, i);
	uint32_t b = job_ring(j, BUFFER_GLOBAL, NULL, 4ull * pieces, order, r->count, 4);
	j->launch.buffers[b].ring_unit = 4;
	return b;
}

/* The first visited of a ring is its highest piece. */
static int setup(const struct study *s, unsigned shape, const struct code_ring *r, struct job *j)
{
	const unsigned pieces = shape / SHAPE, visits = r->count * r->laps, rivals = r->rivals ? r->rivals : 1;
	const bool rival = r->rival || r->rivals;
	struct code_ring other = *r;
	if (rival)
		other.first += r->stride * r->count;
	if (kernel(s, pieces, shape % SHAPE, r->fresh > 0, j) || code_piece(r, 0) >= pieces ||
	    code_piece(&other, 0) >= pieces)
		return -ENOTSUP;
	job_output(j, CODE_HEAD + 2 * visits);
	job_pin(j, study_device(s), 0);
	uint32_t own = ring(j, pieces, r), its = ring(j, pieces, &other);
	if (own == UINT32_MAX || its == UINT32_MAX)
		return -ENOTSUP;
	job_arg_buffer(j, own, 0);
	job_arg_buffer(j, its, 0);
	job_arg_u32(j, code_piece(r, 0));
	job_arg_u32(j, code_piece(&other, 0));
	job_arg_u32(j, r->count * r->warm);
	job_arg_u32(j, visits);
	job_arg_u32(j, r->rivals ? 0 : r->rival - 1);
	job_arg_u32(j, r->walk);
	job_arg_u32(j, rivals);
	if (r->rivals || r->rival == 1) /* several blocks on one SM: enough of them that more come there */
		j->launch.grid[0] *= rivals + 1;
	j->launch.time_limit_ms = 4000;
	j->launch.flush = r->fresh > 0;
	return 0;
}

static struct code_ring common(double x, const double *p)
{
	return (struct code_ring){.first = (unsigned)p[CODE_FIRST],
				  .stride = (unsigned)p[CODE_STRIDE],
				  .count = (unsigned)x,
				  .warm = (unsigned)p[CODE_WARM],
				  .laps = (unsigned)p[CODE_LAPS]};
}

int code_setup(const struct study *s, double x, const double *p, struct job *j)
{
	struct code_ring r = common(x, p);
	r.rival = (unsigned)p[CODE_RIVAL];
	r.walk = (unsigned)p[CODE_WALK];
	r.fresh = p[CODE_FRESH] > 0;
	return setup(s, (unsigned)p[CODE_SHAPE], &r, j);
}

int code_rows_setup(const struct study *s, double x, const double *p, struct job *j)
{
	struct code_ring r = common(x, p);
	r.group = (unsigned)p[CODE_GROUP];
	r.period = (unsigned)p[CODE_PERIOD];
	return setup(s, (unsigned)p[CODE_SHAPE], &r, j);
}

int code_crowd_setup(const struct study *s, double x, const double *p, struct job *j)
{
	struct code_ring r = common(x, p);
	r.rivals = (unsigned)p[CODE_RIVALS];
	return setup(s, (unsigned)p[CODE_SHAPE], &r, j);
}

int code_layout_setup(const struct study *s, double x, const double *p, struct job *j)
{
	const double q[POINT_PARAMS] = {0, 1, 8 * SHAPE + x, 0, 1};
	(void)p;
	return code_setup(s, 8, q, j);
}

/* ---- where the pieces lie ---- */

static const struct native_layout *layout(const struct code *c, unsigned experiment, const struct point *pt,
					  unsigned pieces)
{
	const struct native_info *n = study_native(c->study, experiment, pt);
	if (!n || !n->layout.code_bytes || n->layout.reads + 1 < pieces || n->layout.step < 4)
		return NULL;
	return &n->layout;
}

enum code_state code_open(struct code *c, struct study *s, uint32_t unit, uint32_t bytes)
{
	static const unsigned tried[] = {0, 8};
	uint32_t step[2] = {0};
	*c = (struct code){.study = s};
	for (unsigned i = 0; i < 2; i++) {
		const struct point *pt = study_ask(s, EXPERIMENT_LAYOUT, tried[i], NULL);
		if (!pt && study_pending(s))
			continue;
		const struct native_layout *l = pt ? layout(c, EXPERIMENT_LAYOUT, pt, 8) : NULL;
		if (!pt || pt->outcome != OUTCOME_OK || !l) {
			snprintf(
			    c->why, sizeof c->why, "%s",
			    !pt || pt->outcome != OUTCOME_OK ? point_why(pt)
			    : l				     ? ""
				: "where the native code of equal pieces lies is not known, or they are not equal");
			return CODE_MISSING;
		}
		step[i] = l->step;
	}
	if (study_pending(s))
		return CODE_PENDING;
	uint32_t own = step[0], pad = (step[1] - step[0]) / 8;
	if (step[1] <= step[0] || pad * 8 != step[1] - step[0]) {
		snprintf(c->why, sizeof c->why, "filling instructions have no common length");
		return CODE_MISSING;
	}
	while (unit < own || (unit - own) % pad) {
		unit *= 2;
		if (unit > 1024) {
			snprintf(c->why, sizeof c->why,
				 "pieces of %u bytes and a multiple of %u never get a length that is a power of two",
				 own, pad);
			return CODE_MISSING;
		}
	}
	c->unit = unit;
	c->pad = pad;
	c->pads = (unit - own) / pad;
	c->pieces = bytes / unit < CODE_PARTS ? bytes / unit : CODE_PARTS;
	c->low = 2048 / unit ? 2048 / unit : 1;
	return CODE_HERE;
}

void code_expect(const struct code *c, unsigned few)
{
	const double p[POINT_PARAMS] = {c->low, 1, c->pieces * SHAPE + c->pads, 0, 1},
		     q[POINT_PARAMS] = {[CODE_FIRST] = c->low, 1, few * SHAPE + c->pads, 0, 1, [CODE_FRESH] = 1};
	study_expect(c->study, EXPERIMENT_JUMP, 1, p);
	study_expect(c->study, EXPERIMENT_JUMP, 1, q);
}

bool code_lies(struct code *c, const struct point *pt)
{
	const struct native_layout *l = layout(c, EXPERIMENT_JUMP, pt, c->pieces);
	if (!l || l->step != c->unit || l->reads > c->pieces + 1)
		return false;
	c->begin = l->first + (l->reads > c->pieces ? l->step : 0);
	c->bytes = l->code_bytes;
	/* What the loop does after a piece stands in front of the pieces, where the text has it, or the compiler put it behind. */
	uint32_t front = study_native(c->study, EXPERIMENT_JUMP, pt)->region[0].total, all = front >= WHOLE;
	c->before = (front + START) * c->pad;
	c->behind = all ? 0 : BEHIND * c->pad;
	c->before = c->before < c->begin ? c->before : c->begin;
	c->behind = c->begin + c->pieces * c->unit + c->behind > c->bytes ? c->bytes - c->begin - c->pieces * c->unit
									  : c->behind;
	return true;
}

enum code_state code_get(const struct code *c, const struct code_ring *r, struct code_run *out)
{
	double p[POINT_PARAMS] = {r->first, r->stride, c->pieces * SHAPE + c->pads, r->warm, r->laps};
	unsigned experiment = EXPERIMENT_JUMP;
	if (r->group) {
		experiment = EXPERIMENT_ROWS;
		p[CODE_GROUP] = r->group;
		p[CODE_PERIOD] = r->period;
	} else if (r->rivals) {
		experiment = EXPERIMENT_CROWD;
		p[CODE_RIVALS] = r->rivals;
	} else {
		p[CODE_RIVAL] = r->rival;
		p[CODE_WALK] = r->walk;
		p[CODE_FRESH] = r->fresh;
	}
	const struct point *pt = study_ask(c->study, experiment, r->count, p);
	*out = (struct code_run){.point = pt, .count = r->count, .laps = r->laps, .visits = r->count * r->laps};
	if (!pt)
		return study_pending(c->study) ? CODE_PENDING : CODE_MISSING;
	if (pt->outcome != OUTCOME_OK || pt->words_per_repeat != CODE_HEAD + 2 * out->visits)
		return CODE_MISSING;
	out->word = pt->y + CODE_HEAD;
	out->rival_laps = pt->y[3];
	return CODE_HERE;
}

unsigned code_slow(const struct code_run *r, double floor)
{
	unsigned n = 0;
	for (unsigned i = 0; i < r->visits; i++)
		n += code_ticks(r, i) >= floor;
	return n;
}

unsigned code_slow_always(const struct code_run *r, double floor)
{
	unsigned n = 0;
	for (unsigned first = 0; first < r->count && first < r->visits; first++) {
		unsigned slow = 0, laps = 0;
		for (unsigned i = first; i < r->visits; i += r->count, laps++)
			slow += code_ticks(r, i) >= floor;
		if (2 * slow > laps)
			n += slow;
	}
	return n;
}
