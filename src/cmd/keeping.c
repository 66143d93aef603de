#include "cmd/keeping.h"
#include "base/arena.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>

static void part_free(struct run *part)
{
	mem_free(part->series);
	mem_free(part->probes);
	findings_free(&part->findings);
	*part = (struct run){0};
}

/* Series and findings of the probe, its record, and what says which run it is. Points and words stay where they are: they lie in the run's arena, and
 * only a study that goes on adds to them. */
static int part_take(struct run *part, const struct run *r, const char *probe, struct err *e)
{
	int rc = 0;

	*part = *r;
	part->arena = (struct arena){0};
	part->series = mem_zero(r->series_count + 1, sizeof(*part->series));
	part->probes = mem_zero(r->probe_count + 1, sizeof(*part->probes));
	part->findings = (struct finding_list){0};
	part->series_count = part->probe_count = 0;
	if (!part->series || !part->probes)
		rc = -ENOMEM;
	for (size_t i = 0; !rc && i < r->series_count; i++)
		if (strcmp(r->series[i].probe, probe) == 0)
			part->series[part->series_count++] = r->series[i];
	for (size_t i = 0; !rc && i < r->probe_count; i++)
		if (strcmp(r->probes[i].name, probe) == 0)
			part->probes[part->probe_count++] = r->probes[i];
	for (size_t i = 0; !rc && i < r->findings.count; i++)
		if (strcmp(r->findings.items[i].probe, probe) == 0)
			rc = findings_add(&part->findings, &r->findings.items[i]);
	if (rc)
		part_free(part);
	return rc ? err_nomem(e) : 0;
}

static void *keep(void *arg)
{
	struct keeping *k = arg;

	k->result = store_probe(k->store, &k->part, k->probe, &k->why);
	return NULL;
}

int keeping_end(struct keeping *k, struct err *e)
{
	if (k->threaded)
		pthread_join(k->thread, NULL);
	part_free(&k->part);
	const int rc = k->result;
	if (rc)
		err_set(e, rc, "%s", k->why.text);
	*k = (struct keeping){0};
	return rc;
}

int keeping_begin(struct keeping *k, struct store *s, const struct run *r, const char *probe, struct err *e)
{
	int rc = keeping_end(k, e);

	if (rc)
		return rc;
	k->store = s;
	snprintf(k->probe, sizeof(k->probe), "%s", probe);
	rc = part_take(&k->part, r, probe, e);
	if (rc)
		return rc;
	k->threaded = pthread_create(&k->thread, NULL, keep, k) == 0;
	if (k->threaded)
		return 0;
	keep(k);
	return keeping_end(k, e);
}
