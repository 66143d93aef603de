/* Reading runs: findings and figures. */
#include "lib/lib_run.h"
#include "probe/engine.h"
#include "report/report_overview.h"
#include "store/store.h"
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* The public numbers are ours. */
_Static_assert((int)FATHOM_MEASURED == VERDICT_MEASURED && (int)FATHOM_LIKELY == VERDICT_LIKELY &&
		   (int)FATHOM_BOUND == VERDICT_BOUND && (int)FATHOM_ABSENT == VERDICT_ABSENT &&
		   (int)FATHOM_INCONCLUSIVE == VERDICT_INCONCLUSIVE && (int)FATHOM_UNSUPPORTED == VERDICT_UNSUPPORTED &&
		   (int)FATHOM_FAILED == VERDICT_FAILED,
	       "verdicts");
_Static_assert((int)FATHOM_NONE == VALUE_NONE && (int)FATHOM_NUMBER == VALUE_NUMBER && (int)FATHOM_TEXT == VALUE_TEXT &&
		   (int)FATHOM_ARRAY == VALUE_ARRAY,
	       "kinds of value");

const char *fathom_version(void)
{
	return FATHOM_VERSION;
}

int lib_fail(struct fathom_error *why, const struct err *e, int rc)
{
	if (why)
		snprintf(why->text, sizeof(why->text), "%.*s", (int)sizeof(why->text) - 1,
			 e->text[0] ? e->text : "out of memory");
	return rc;
}

struct fathom_run *lib_new(void)
{
	struct fathom_run *r = mem_zero(1, sizeof(*r));

	if (!r)
		return NULL;
	arena_init(&r->arena);
	if (run_init(&r->run) == 0)
		return r;
	mem_free(r);
	return NULL;
}

static struct fathom_finding public_of(const struct finding *f)
{
	const bool has = finding_estimated(f) || f->verdict == VERDICT_BOUND;
	const enum value_kind kind = has ? f->value.kind : VALUE_NONE;

	return (struct fathom_finding){
	    .key = f->key,
	    .verdict = (enum fathom_verdict)f->verdict,
	    .kind = (enum fathom_kind)kind,
	    .number = kind == VALUE_NUMBER ? f->value.number : NAN,
	    .text = kind == VALUE_TEXT ? f->value.text : "",
	    .array = kind == VALUE_ARRAY ? f->value.array : NULL,
	    .array_count = kind == VALUE_ARRAY ? f->value.array_count : 0,
	    .lo = f->lo,
	    .hi = f->hi,
	    .unit = f->unit,
	    .method = f->method,
	    .because = f->because,
	    .probe = f->probe,
	};
}

int lib_fill(struct fathom_run *r)
{
	const struct device_info *d = &r->run.device;
	struct finding_list *l = &r->run.findings;

	findings_sort(l);
	r->device = (struct fathom_device){.name = d->name,
					   .uuid = d->uuid,
					   .driver = d->driver,
					   .spec = d->spec,
					   .started = r->run.started,
					   .sm_count = d->sm_count,
					   .clock_hz = d->clock_hz,
					   .memory_bytes = d->memory_bytes};
	r->finding = ARENA_ARRAY(&r->arena, l->count + 1, struct fathom_finding);
	if (!r->finding)
		return -ENOMEM;
	for (size_t i = 0; i < l->count; i++)
		r->finding[i] = public_of(&l->items[i]);
	r->finding_count = l->count;
	return 0;
}

int fathom_open(struct fathom_run **out, const char *path, struct fathom_error *why)
{
	struct fathom_run *r = lib_new();
	struct err e = {0};
	int rc;

	*out = NULL;
	if (!r)
		return lib_fail(why, &e, -ENOMEM);
	run_free(&r->run);
	rc = store_load(&r->run, path, &e);
	if (rc == 0)
		rc = lib_fill(r);
	if (rc) {
		fathom_close(r);
		return lib_fail(why, &e, rc);
	}
	*out = r;
	return 0;
}

void fathom_close(struct fathom_run *run)
{
	if (!run)
		return;
	figures_free(&run->drawn);
	run_free(&run->run);
	arena_free(&run->arena);
	mem_free(run);
}

const struct fathom_device *fathom_device(const struct fathom_run *run)
{
	return &run->device;
}

size_t fathom_finding_count(const struct fathom_run *run)
{
	return run->finding_count;
}

const struct fathom_finding *fathom_finding(const struct fathom_run *run, size_t i)
{
	return i < run->finding_count ? &run->finding[i] : NULL;
}

const struct fathom_finding *fathom_find(const struct fathom_run *run, const char *key)
{
	const struct finding *f = findings_get(&run->run.findings, key);

	return f ? &run->finding[f - run->run.findings.items] : NULL;
}

/* ---- figures ---- */

static struct fathom_axis axis_of(const struct figure_axis *a)
{
	return (struct fathom_axis){.label = a->label, .unit = a->unit, .log2 = a->log2};
}

static int figure_of(struct fathom_run *r, const struct figure *f, struct fathom_figure *to)
{
	struct fathom_curve *curve = ARENA_ARRAY(&r->arena, f->marks_count + 1, struct fathom_curve);

	if (!curve)
		return -ENOMEM;
	for (unsigned i = 0; i < f->marks_count; i++) {
		const struct figure_marks *m = &f->marks[i];
		curve[i] =
		    (struct fathom_curve){.label = m->label, .count = m->count, .x = m->x, .y = m->y, .y2 = m->y2};
	}
	*to = (struct fathom_figure){.name = f->name,
				     .title = f->title,
				     .caption = f->caption,
				     .x = axis_of(&f->x),
				     .y = axis_of(&f->y),
				     .curve = curve,
				     .curve_count = f->marks_count};
	return 0;
}

static int draw(struct fathom_run *r, struct err *e)
{
	int rc = engine_draw(&r->run, &r->drawn, e);

	if (rc == 0)
		rc = report_overview(&r->drawn, &r->run);
	r->figure = rc ? NULL : ARENA_ARRAY(&r->arena, r->drawn.count + 1, struct fathom_figure);
	if (rc == 0 && !r->figure)
		rc = -ENOMEM;
	for (size_t i = 0; rc == 0 && i < r->drawn.count; i++)
		rc = figure_of(r, &r->drawn.items[i], &r->figure[i]);
	if (rc) {
		figures_free(&r->drawn);
		r->drawn = (struct figure_list){0};
		return rc;
	}
	r->figure_count = r->drawn.count;
	r->has_figures = true;
	return 0;
}

int fathom_figures(struct fathom_run *run, size_t *count, struct fathom_error *why)
{
	struct err e = {0};
	const int rc = run->has_figures ? 0 : draw(run, &e);

	*count = run->figure_count;
	return rc ? lib_fail(why, &e, rc) : 0;
}

const struct fathom_figure *fathom_figure(const struct fathom_run *run, size_t i)
{
	return i < run->figure_count ? &run->figure[i] : NULL;
}
