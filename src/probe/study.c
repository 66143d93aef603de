#include "probe/study.h"
#include "base/str.h"
#include "data/keys.h"
#include <assert.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define WISH_BIT 0x80000000u

static const double zeros[POINT_PARAMS];

static struct series *series_of(const struct study *s, unsigned experiment)
{
	assert(experiment < s->probe->experiment_count);
	return run_series(s->run, s->probe->name, s->probe->experiments[experiment].name);
}

/* ---- where points are ---- */

static bool at(const struct study *s, const struct study_slot *slot, unsigned experiment, double x, const double *p)
{
	const double *have_p;
	double have_x;

	if (slot->experiment != experiment)
		return false;
	if (slot->point & WISH_BIT) {
		const struct wish *w = &s->wishes[(slot->point & ~WISH_BIT) - 1];
		have_x = w->x;
		have_p = w->p;
	} else {
		const struct point *pt = &s->series[experiment]->points[slot->point - 1];
		have_x = pt->x;
		have_p = pt->p;
	}
	if (have_x != x)
		return false;
	for (unsigned i = 0; i < POINT_PARAMS; i++) {
		if (have_p[i] != p[i])
			return false;
	}
	return true;
}

static uint64_t place_hash(unsigned experiment, double x, const double *p)
{
	double all[POINT_PARAMS + 1];

	assert(!isnan(x));
	all[0] = x + 0.0; /* -0 becomes 0: equal numbers need equal bytes */
	for (unsigned i = 0; i < POINT_PARAMS; i++)
		all[i + 1] = p[i] + 0.0;
	return hash64(all, sizeof(all), experiment);
}

/* The slot of these coordinates, or the free one where they belong. */
static struct study_slot *slot_find(const struct study *s, unsigned experiment, double x, const double *p)
{
	size_t i = place_hash(experiment, x, p) & (s->slot_count - 1);
	while (s->slots[i].point && !at(s, &s->slots[i], experiment, x, p))
		i = (i + 1) & (s->slot_count - 1);
	return &s->slots[i];
}

void study_series_moved(struct study *s)
{
	for (unsigned k = 0; k < s->probe->experiment_count; k++)
		s->series[k] = series_of(s, k);
}

/* Points only: wishes are forgotten, and asked again, with every pass. */
static int slots_rebuild(struct study *s)
{
	size_t points = 0, want = 256;

	study_series_moved(s);
	for (unsigned k = 0; k < s->probe->experiment_count; k++)
		points += s->series[k] ? s->series[k]->count : 0;
	while (want < 4 * (points + 1))
		want *= 2;
	if (want > s->slot_count) {
		mem_free(s->slots);
		s->slot_count = 0;
		s->slots = mem_alloc(want * sizeof(*s->slots));
		if (!s->slots)
			return -ENOMEM;
		s->slot_count = want;
	}
	memset(s->slots, 0, s->slot_count * sizeof(*s->slots));
	s->slot_used = 0;
	for (unsigned k = 0; k < s->probe->experiment_count; k++) {
		const struct series *series = s->series[k];
		for (size_t i = 0; series && i < series->count; i++) {
			struct study_slot *slot = slot_find(s, k, series->points[i].x, series->points[i].p);
			if (!slot->point) {
				*slot = (struct study_slot){.experiment = k, .point = (uint32_t)i + 1};
				s->slot_used++;
			}
		}
	}
	return 0;
}

static int slots_double(struct study *s)
{
	struct study_slot *old = s->slots;
	size_t n = s->slot_count;
	struct study_slot *fresh = mem_zero(2 * n, sizeof(*fresh));

	if (!fresh)
		return -ENOMEM;
	s->slots = fresh;
	s->slot_count = 2 * n;
	for (size_t i = 0; i < n; i++) {
		const struct study_slot *o = &old[i];
		if (!o->point)
			continue;
		const bool wish = o->point & WISH_BIT;
		const uint32_t index = (o->point & ~WISH_BIT) - 1;
		const struct point *pt = wish ? NULL : &s->series[o->experiment]->points[index];
		*slot_find(s, o->experiment, wish ? s->wishes[index].x : pt->x, wish ? s->wishes[index].p : pt->p) = *o;
	}
	mem_free(old);
	return 0;
}

static int wish_add(struct wish **list, size_t *count, size_t *cap, unsigned experiment, double x, const double *p)
{
	if (*count == *cap) {
		size_t more = *cap ? 2 * *cap : 64;
		struct wish *w = mem_grow(*list, more * sizeof(*w));
		if (!w)
			return -ENOMEM;
		*list = w;
		*cap = more;
	}
	struct wish *w = &(*list)[(*count)++];
	w->experiment = experiment;
	w->x = x;
	memcpy(w->p, p, sizeof(w->p));
	return 0;
}

static int wish(struct study *s, struct study_slot *slot, unsigned experiment, double x, const double *p)
{
	if (wish_add(&s->wishes, &s->wish_count, &s->wish_cap, experiment, x, p))
		return -ENOMEM;
	*slot = (struct study_slot){.experiment = experiment, .point = (uint32_t)s->wish_count | WISH_BIT};
	if (++s->slot_used * 2 > s->slot_count)
		return slots_double(s);
	return 0;
}

/* ---- a study's life ---- */

static int needs_of(struct study *s, const struct probe *p);

static int gather(struct study *s, const char *const *names)
{
	for (size_t i = 0; names && names[i]; i++) {
		const struct probe *need = probe_find(names[i]);
		bool known = !need;
		for (size_t k = 0; k < s->needed_count; k++)
			known |= s->needed[k] == need;
		if (known)
			continue;
		const struct probe **list = mem_grow(s->needed, (s->needed_count + 1) * sizeof(const struct probe *));
		if (!list)
			return -ENOMEM;
		s->needed = list;
		s->needed[s->needed_count++] = need;
		int rc = needs_of(s, need);
		if (rc)
			return rc;
	}
	return 0;
}

static int needs_of(struct study *s, const struct probe *p)
{
	int rc = gather(s, p->needs);
	return rc ? rc : gather(s, p->helped);
}

int study_open(struct study *s, struct run *r, const struct probe *p, enum study_mode mode, struct err *e)
{
	*s = (struct study){.probe = p, .run = r, .mode = mode};
	arena_init(&s->scratch);
	s->series = mem_zero(p->experiment_count + 1, sizeof(const struct series *));
	if (!s->series || needs_of(s, p) || slots_rebuild(s) || stored_open(s)) {
		study_close(s);
		return err_nomem(e);
	}
	return 0;
}

int study_pass(struct study *s)
{
	arena_free(&s->scratch);
	s->wish_count = s->likely_count = s->missing = 0;
	s->sight = s->sight ? STUDY_FORESEES : STUDY_BLIND;
	s->concluded.count = 0;
	s->no_memory = slots_rebuild(s) != 0;
	if (!s->no_memory)
		s->probe->study(s);
	return s->no_memory ? -ENOMEM : 0;
}

void study_close(struct study *s)
{
	arena_free(&s->scratch);
	arena_free(&s->kept_arena);
	findings_free(&s->concluded);
	mem_free(s->wishes);
	mem_free(s->likely);
	hash_set_free(&s->told);
	mem_free(s->slots);
	stored_close(s);
	mem_free(s->series);
	mem_free(s->needed);
	*s = (struct study){0};
}

/* ---- what passes leave to later ones ---- */

const void *study_recall(const struct study *s, const char *what, const void *key, size_t key_bytes)
{
	const uint64_t hash = hash64(key, key_bytes, key_bytes);

	for (const struct study_kept *k = s->kept[hash % STUDY_KEPT]; k; k = k->next)
		if (k->hash == hash && k->key_bytes == key_bytes && memcmp(k->key, key, key_bytes) == 0 &&
		    strcmp(k->what, what) == 0)
			return k->value;
	return NULL;
}

/* Memory that runs out only costs the time of computing it again. */
void study_keep(struct study *s, const char *what, const void *key, size_t key_bytes, const void *value, size_t bytes)
{
	const uint64_t hash = hash64(key, key_bytes, key_bytes);
	struct study_kept *k = ARENA_NEW(&s->kept_arena, struct study_kept), **list = &s->kept[hash % STUDY_KEPT];

	if (!k)
		return;
	*k = (struct study_kept){.what = what,
				 .key = arena_copy(&s->kept_arena, key, key_bytes),
				 .value = arena_copy(&s->kept_arena, value, bytes),
				 .key_bytes = key_bytes,
				 .hash = hash,
				 .next = *list};
	if (k->key && k->value)
		*list = k;
}

/* ---- what a study sees ---- */

const struct device_info *study_device(const struct study *s)
{
	return &s->run->device;
}

struct arena *study_arena(struct study *s)
{
	return &s->scratch;
}

uint64_t study_seed(const struct study *s)
{
	return s->run->seed;
}

bool study_for_figures(const struct study *s)
{
	return s->for_figures || s->mode != STUDY_MEASURE;
}

static bool is_left_out(const struct study *s, unsigned experiment)
{
	return s->quick && s->probe->experiments[experiment].thorough;
}

const struct point *study_ask(struct study *s, unsigned experiment, double x, const double *p)
{
	assert(experiment < s->probe->experiment_count);
	if (s->no_memory)
		return NULL;
	if (!p)
		p = zeros;
	struct study_slot *slot = slot_find(s, experiment, x, p);
	if (slot->point && !(slot->point & WISH_BIT)) {
		slot->asked = true;
		s->no_memory = stored_check(s, experiment, slot->point - 1) != 0;
		return s->no_memory ? NULL : &s->series[experiment]->points[slot->point - 1];
	}
	if (is_left_out(s, experiment))
		return NULL;
	if (s->sight == STUDY_AHEAD) {
		study_expect(s, experiment, x, p);
		return NULL;
	}
	if (!slot->point && s->mode == STUDY_MEASURE && wish(s, slot, experiment, x, p))
		s->no_memory = true;
	s->missing += s->mode == STUDY_MEASURE;
	return NULL;
}

bool study_asked(const struct study *s, unsigned experiment, size_t index)
{
	const struct point *pt = &s->series[experiment]->points[index];
	const struct study_slot *slot = slot_find(s, experiment, pt->x, pt->p);
	return slot->asked && slot->point == index + 1;
}

void study_expect(struct study *s, unsigned experiment, double x, const double *p)
{
	assert(experiment < s->probe->experiment_count);
	if (!s->sight || s->no_memory || s->mode != STUDY_MEASURE || is_left_out(s, experiment))
		return;
	if (!p)
		p = zeros;
	if (!slot_find(s, experiment, x, p)->point && hash_set_add(&s->told, place_hash(experiment, x, p)))
		(void)wish_add(&s->likely, &s->likely_count, &s->likely_cap, experiment, x, p); /* costs time only */
}

bool study_ahead(struct study *s)
{
	if (s->sight && study_pending(s))
		s->sight = STUDY_AHEAD;
	return s->sight == STUDY_AHEAD;
}

bool study_pending(const struct study *s)
{
	return s->wish_count > 0 || s->no_memory;
}

size_t study_missing(const struct study *s)
{
	return s->missing;
}

const struct series *study_series(const struct study *s, unsigned experiment)
{
	assert(experiment < s->probe->experiment_count);
	return s->series[experiment];
}

const struct native_info *study_native(const struct study *s, unsigned experiment, const struct point *pt)
{
	const struct series *series = study_series(s, experiment);

	return series && pt && pt->native < series->native_count ? &series->native[pt->native] : NULL;
}

bool study_seen(const struct study *s, unsigned experiment, const struct point *pt)
{
	const struct native_info *native = study_native(s, experiment, pt);
	return native && native->fingerprint && !native->problem[0];
}

/* Only what is sure to be there whichever probes were asked for: this probe's and those of what it needs or is
 * helped by. */
const struct finding *study_finding(const struct study *s, const char *key)
{
	const struct finding *f = findings_get(&s->concluded, key);

	if (f)
		return f;
	f = findings_get(&s->run->findings, key);
	if (f && s->mode == STUDY_DRAW && strcmp(f->probe, s->probe->name) == 0)
		return f;
	for (size_t i = 0; f && i < s->needed_count; i++) {
		if (strcmp(f->probe, s->needed[i]->name) == 0)
			return f;
	}
	return NULL;
}

double study_code_room(const struct study *s)
{
	const struct finding *levels = study_finding(s, "cache.instruction.levels"),
			     *size = study_finding(s, "cache.instruction.l1.size");
	double bytes;
	if (levels && levels->verdict == VERDICT_ABSENT)
		return INFINITY;
	if (study_number(s, "cache.instruction.l1.size", &bytes))
		return bytes;
	return size && (size->verdict == VERDICT_BOUND || size->verdict == VERDICT_LIKELY) && isfinite(size->lo)
		   ? size->lo
		   : 0;
}

double study_swing(const struct study *s)
{
	double least;
	return study_swing_from(s, &least);
}

double study_swing_from(const struct study *s, double *least)
{
	const struct finding *boost = study_finding(s, "clock.boost");

	*least = 0;
	if (!boost)
		return 0;
	/* One that is there, but not known well enough, has an interval too. */
	const bool there = boost->verdict == VERDICT_MEASURED || boost->verdict == VERDICT_INCONCLUSIVE;
	if (!there || !(boost->lo > 0) || !isfinite(boost->hi))
		return 0;
	*least = boost->lo;
	return boost->hi;
}

bool study_number(const struct study *s, const char *key, double *value)
{
	const struct finding *f = study_finding(s, key);

	if (!f || f->verdict != VERDICT_MEASURED || f->value.kind != VALUE_NUMBER)
		return false;
	*value = f->value.number;
	return true;
}

void study_take_clock(const struct study *s, struct figure *f, const char *key)
{
	const struct finding *known = study_finding(s, key);

	figure_take_clock(
	    f, known && finding_estimated(known) && known->value.kind == VALUE_NUMBER ? known->value.number : NAN);
}

bool study_level_held(const struct study *s, const char *level, double *bytes)
{

	if (study_number(s, KEY("%s.near_size", level), bytes))
		return true;
	return study_number(s, KEY("%s.size", level), bytes);
}
