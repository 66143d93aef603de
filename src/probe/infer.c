#include "data/paper.h"
#include "probe/batch.h"
#include "probe/chase.h"
#include "probe/engine.h"
#include "probe/gates.h"
#include "probe/study.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>

static const struct probe_record *record_of(const struct run *r, const struct probe *p)
{
	for (size_t i = 0; i < r->probe_count; i++) {
		if (strcmp(r->probes[i].name, p->name) == 0)
			return &r->probes[i];
	}
	return NULL;
}

static int conclude_one(struct run *r, const struct probe *p, struct err *e)
{
	struct study s;
	size_t count;
	int rc = study_open(&s, r, p, STUDY_INFER, e);

	if (rc)
		return rc;
	if (study_pass(&s) || study_publish(&s, &count))
		rc = err_nomem(e);
	study_close(&s);
	return rc;
}

static int conclude_plan(struct run *r, const struct engine_plan *plan, struct err *e)
{
	int rc = 0;

	for (size_t i = 0; !rc && i < plan->count; i++) {
		const struct probe *p = plan->probes[i];
		const struct probe_record *rec = record_of(r, p);
		if (!rec)
			continue;
		switch (rec->state) {
		case PROBE_DONE:
			rc = conclude_one(r, p, e);
			break;
		case PROBE_FAILED:
			rc = study_decline(r, p, VERDICT_FAILED, rec->message) ? err_nomem(e) : 0;
			break;
		case PROBE_SKIPPED:
			rc = study_decline(r, p, VERDICT_UNSUPPORTED, rec->message) ? err_nomem(e) : 0;
			break;
		case PROBE_PENDING:
		case PROBE_INTERRUPTED:
			findings_forget(&r->findings, p->name);
			break;
		}
	}
	return rc;
}

int engine_conclude(struct run *r, struct err *e)
{
	struct engine_plan plan;
	int rc = engine_plan(&plan, NULL, 0, e);

	if (rc)
		return rc;
	/* what probes of another version concluded cannot be concluded again */
	r->findings.count = 0;
	rc = conclude_plan(r, &plan, e);
	mem_free(plan.probes);
	return rc;
}

int findings_finish(struct run *r)
{
	findings_sort(&r->findings);
	same_cache_estimate(&r->findings);
	if (gates_apply(&r->findings))
		return -ENOMEM;
	chase_lent_estimate(&r->findings, 4 * (uint64_t)chase_room(&r->device, true),
			    4 * (uint64_t)chase_split_room(&r->device, gates_find(&r->findings, "shared.splits")));
	same_cache_lent(&r->findings);
	return 0;
}

int engine_infer(struct run *r, struct err *e)
{
	const int rc = engine_conclude(r, e);

	if (rc)
		return rc;
	return findings_finish(r) ? err_nomem(e) : 0;
}

/* Whose it is, and what it is the evidence of: where the probe does not say, of all that it claims. */
static void sign(struct figure *f, const struct run *r, const struct probe *p)
{
	snprintf(f->origin, sizeof(f->origin), "%s, %.10s, fathom %s", r->device.name, r->started, r->fathom);
	for (unsigned i = 0; !f->keys_count && p->claims[i] && i < FIGURE_KEYS; i++)
		figure_key(f, p->claims[i]);
}

int engine_draw(struct run *r, struct figure_list *out, struct err *e)
{
	struct engine_plan plan;
	int rc = engine_plan(&plan, NULL, 0, e);

	if (rc)
		return rc;
	for (size_t i = 0; !rc && i < plan.count; i++) {
		const struct probe *p = plan.probes[i];
		const struct probe_record *rec = record_of(r, p);
		struct study s;
		if (!p->draw || !rec || rec->state == PROBE_PENDING || rec->state == PROBE_SKIPPED)
			continue;
		rc = study_open(&s, r, p, STUDY_INFER, e);
		if (rc)
			break;
		const size_t before = out->count;
		/* What is drawn is what the study looks at. */
		if (study_pass(&s) || stored_draw(&s))
			rc = err_nomem(e);
		else
			rc = p->draw(&s, out);
		for (size_t k = before; rc == 0 && k < out->count;) {
			sign(&out->items[k], r, p);
			if (figure_says(&out->items[k]))
				k++;
			else
				figures_drop(out, k);
		}
		if (rc == -ENOMEM)
			err_nomem(e);
		else if (rc)
			err_set(e, rc, "the figures of the probe %s could not be drawn: %s", p->name, strerror(-rc));
		study_close(&s);
	}
	mem_free(plan.probes);
	return rc ? rc : paper_name_figures(out, e);
}
