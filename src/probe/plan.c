#include "base/arena.h"
#include "base/str.h"
#include "probe/engine.h"
#include <errno.h>
#include <string.h>

const struct probe *probe_find(const char *name)
{
	for (size_t i = 0; i < probe_count; i++) {
		if (strcmp(probe_table[i]->name, name) == 0)
			return probe_table[i];
	}
	return NULL;
}

static int unknown(const char *name, const char *by, struct err *e)
{
	const char *names[128];
	size_t n = 0;

	for (; n < probe_count && n < 128; n++)
		names[n] = probe_table[n]->name;
	if (by)
		return err_set(e, -EINVAL, "the probe %s needs '%s', which does not exist", by, name);
	const char *near = str_nearest(name, names, n);
	return near ? err_set(e, -EINVAL, "there is no probe '%s'; did you mean '%s'?", name, near)
		    : err_set(e, -EINVAL, "there is no probe '%s'; fathom list probes shows all", name);
}

struct path { /* from the probe that was asked for to the one in hand, to notice a circle */
	const struct path *up;
	const struct probe *probe;
};

static int add(struct engine_plan *plan, const struct probe *p, const struct path *up, struct err *e);

static int add_all(struct engine_plan *plan, const char *const *names, const struct path *here, struct err *e)
{
	int rc = 0;
	for (size_t i = 0; names && names[i] && !rc; i++) {
		const struct probe *need = probe_find(names[i]);
		rc = need ? add(plan, need, here, e) : unknown(names[i], here->probe->name, e);
	}
	return rc;
}

/* Depth first: needs stand before those that need them. */
static int add(struct engine_plan *plan, const struct probe *p, const struct path *up, struct err *e)
{
	struct path here = {up, p};
	int rc;

	for (const struct path *q = up; up && q; q = q->up) {
		if (q->probe == p)
			return err_set(e, -EINVAL, "the probes %s and %s need each other", p->name, up->probe->name);
	}
	for (size_t i = 0; i < plan->count; i++) {
		if (plan->probes[i] == p)
			return 0;
	}
	rc = add_all(plan, p->needs, &here, e);
	if (!rc && !plan->quick)
		rc = add_all(plan, p->helped, &here, e);
	if (rc)
		return rc;
	plan->probes[plan->count++] = p;
	return 0;
}

static int plan_begin(struct engine_plan *plan, bool quick, struct err *e)
{
	*plan =
	    (struct engine_plan){.probes = mem_alloc((probe_count + 1) * sizeof(const struct probe *)), .quick = quick};
	return plan->probes ? 0 : err_nomem(e);
}

static int plan_end(struct engine_plan *plan, int rc)
{
	if (rc) {
		mem_free(plan->probes);
		*plan = (struct engine_plan){0};
	}
	return rc;
}

int engine_plan_quick(struct engine_plan *plan, struct err *e)
{
	int rc = plan_begin(plan, true, e);

	if (rc)
		return rc;
	for (size_t i = 0; !rc && i < probe_count; i++)
		if (probe_table[i]->quick)
			rc = add(plan, probe_table[i], NULL, e);
	return plan_end(plan, rc);
}

int engine_plan(struct engine_plan *plan, const char *const *names, size_t count, struct err *e)
{
	bool all = !names || count == 0;
	size_t n = all ? probe_count : count;
	int rc = plan_begin(plan, false, e);

	if (rc)
		return rc;
	for (size_t i = 0; !rc && i < n; i++) {
		const char *name = names && !all ? names[i] : probe_table[i]->name;
		const struct probe *p = probe_find(name);
		rc = p ? add(plan, p, NULL, e) : unknown(name, NULL, e);
	}
	return plan_end(plan, rc);
}
