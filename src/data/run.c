#include "data/run.h"
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

static const char *const names[] = {
    [PROBE_PENDING] = "PENDING",	 [PROBE_DONE] = "DONE", [PROBE_FAILED] = "FAILED", [PROBE_SKIPPED] = "SKIPPED",
    [PROBE_INTERRUPTED] = "INTERRUPTED",
};
#define COUNT (sizeof(names) / sizeof(names[0]))

const char *probe_state_name(enum probe_state s)
{
	return (size_t)s < COUNT ? names[s] : "?";
}

int probe_state_parse(const char *name, enum probe_state *s)
{
	for (size_t i = 0; i < COUNT; i++) {
		if (strcmp(name, names[i]) == 0) {
			*s = (enum probe_state)i;
			return 0;
		}
	}
	return -EINVAL;
}

const char *run_concluded(const struct run *r)
{
	return *r->concluded ? r->concluded : r->fathom;
}

const char *run_foreign(const struct run *r, char *text)
{
	*text = '\0';
	if (*r->shown_by && strcmp(r->shown_by, run_concluded(r)) != 0)
		snprintf(text, RUN_FOREIGN,
			 "concluded by fathom %s, and this is fathom %s: `fathom infer` concludes again",
			 run_concluded(r), r->shown_by);
	return text;
}

int run_init(struct run *r)
{
	*r = (struct run){0};
	arena_init(&r->arena);
	return 0;
}

void run_free(struct run *r)
{
	for (size_t i = 0; i < r->series_count; i++) {
		mem_free(r->series[i].points);
		mem_free(r->series[i].native);
	}
	mem_free(r->series);
	mem_free(r->probes);
	findings_free(&r->findings);
	arena_free(&r->arena);
	*r = (struct run){0};
}

/* Room for one more element; the lists grow by doubling. */
struct series *run_series(struct run *r, const char *probe, const char *experiment)
{
	for (size_t i = 0; i < r->series_count; i++) {
		if (strcmp(r->series[i].probe, probe) == 0 && strcmp(r->series[i].experiment, experiment) == 0)
			return &r->series[i];
	}
	return NULL;
}

struct series *run_series_new(struct run *r, const char *probe, const char *experiment)
{
	void *items = r->series;
	const char *p = arena_strdup(&r->arena, probe), *x = arena_strdup(&r->arena, experiment);

	if (!p || !x || mem_room(&items, &r->series_cap, r->series_count, sizeof(*r->series)))
		return NULL;
	r->series = items;
	struct series *s = &r->series[r->series_count++];
	*s = (struct series){.probe = p, .experiment = x, .axis = "", .unit = "", .seed = r->seed};
	s->before = s->after = (struct condition){-1, -1, -1, -1, -1};
	return s;
}

struct probe_record *run_probe(struct run *r, const char *name)
{
	for (size_t i = 0; i < r->probe_count; i++) {
		if (strcmp(r->probes[i].name, name) == 0)
			return &r->probes[i];
	}
	void *items = r->probes;
	if (mem_room(&items, &r->probe_cap, r->probe_count, sizeof(*r->probes)))
		return NULL;
	r->probes = items;
	struct probe_record *p = &r->probes[r->probe_count++];
	*p = (struct probe_record){.state = PROBE_PENDING};
	snprintf(p->name, sizeof(p->name), "%s", name);
	return p;
}

int series_add(struct run *r, struct series *s, const struct point *pt)
{
	struct point copy = *pt;
	void *items = s->points;

	copy.y = NULL;
	if (pt->y) {
		copy.y = arena_copy(&r->arena, pt->y, (size_t)pt->repeats * pt->words_per_repeat * sizeof(*pt->y));
		if (!copy.y)
			return -ENOMEM;
	}
	if (mem_room(&items, &s->cap, s->count, sizeof(*s->points)))
		return -ENOMEM;
	s->points = items;
	s->points[s->count++] = copy;
	return 0;
}

uint32_t series_add_native(struct run *r, struct series *s, const struct native_info *n)
{
	void *items = s->native;

	(void)r;
	for (size_t i = 0; i < s->native_count; i++) {
		/* without a fingerprint only the whole record can tell two kernels apart */
		if (n->fingerprint ? s->native[i].fingerprint == n->fingerprint
				   : memcmp(&s->native[i], n, sizeof(*n)) == 0)
			return (uint32_t)i;
	}
	if (mem_room(&items, &s->native_cap, s->native_count, sizeof(*s->native)))
		return UINT32_MAX;
	s->native = items;
	s->native[s->native_count] = *n;
	return (uint32_t)s->native_count++;
}

const struct point *series_find(const struct series *s, double x, const double *p)
{
	static const double zeros[POINT_PARAMS];

	if (!p)
		p = zeros;
	for (size_t i = 0; i < s->count; i++) {
		const struct point *pt = &s->points[i];
		bool same = pt->x == x;
		for (unsigned k = 0; same && k < POINT_PARAMS; k++)
			same = pt->p[k] == p[k];
		if (same)
			return pt;
	}
	return NULL;
}
