#include "probe/order.h"
#include "base/str.h"
#include "probe/expand.h"
#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define LITTLE ((size_t)256 << 10) /* bytes of text: it takes a fraction of a second to compile, even by itself */

/* The text of a kernel that was expanded, unless it is expected already. */
static void add_text(struct order *o, struct order_texts *t, struct expansion_wish *w)
{
	if (t->count == t->cap) {
		const size_t cap = t->cap ? 2 * t->cap : 64;
		struct kernel_source *grown = mem_grow(t->src, cap * sizeof(*grown));
		if (grown) {
			t->src = grown;
			t->cap = cap;
		}
	}
	/* What is wrong with it is said when the point is measured. */
	if (w->rc || t->count == t->cap) {
		str_free(&w->text);
		return;
	}
	if (hash_set_add(&o->texts, w->hash[0])) {
		const char *copy = arena_copy(&t->arena, w->text.data, w->text.len + 1);
		const char *entry = arena_strdup(&t->arena, w->entry);
		if (copy && entry) {
			t->src[t->count++] = (struct kernel_source){w->template_path, entry, copy};
			if (t->probe)
				t->probe->bytes += w->text.len;
		}
	}
	kernels_foresee(o->kernels, w->call, w->hash, &w->text);
}

/* What hangs takes its process along, with all that was compiled there. Said as soon as it is known, as that takes a while as well. */
static void brace(struct order *o)
{
	unsigned n = 0;

	for (size_t i = 0; i < o->plan->count; i++)
		n += o->probes[i].hangs && o->probes[i].state != ORDER_ENDED;
	o->unbraced = false;
	if (o->gpu->ops->brace)
		o->gpu->ops->brace(o->gpu, n);
}

static void add_wishes(struct order *o, struct order_texts *t, const struct study *s, const struct wish *wishes,
		       size_t n)
{
	struct arena kept = {0};
	struct expansion_wish *wish = ARENA_ARRAY(&kept, n, struct expansion_wish);
	size_t count = 0;

	for (size_t i = 0; i < n && wish; i++) {
		const struct experiment *x = &s->probe->experiments[wishes[i].experiment];
		struct arena arena;
		arena_init(&arena);
		struct job j = {.arena = &arena, .check = {.cls = -1}};
		uint64_t call[2];
		if (x->setup(s, wishes[i].x, wishes[i].p, &j) == 0) {
			if (j.launch.may_hang && t->probe && !t->probe->hangs) {
				t->probe->hangs = true;
				brace(o);
			}
			expand_call(&j, call);
			if (hash_set_add(&o->calls, call[0])) {
				const struct kernel_param *param =
				    arena_copy(&kept, j.param, j.param_count * sizeof(*j.param));
				if (param)
					wish[count++] = expand_wish(&j, param, call);
			}
		}
		arena_free(&arena);
	}
	expand_all(&o->run->device, wish, count);
	for (size_t i = 0; i < count; i++)
		add_text(o, t, &wish[i]);
	arena_free(&kept);
}

static void texts_drop(struct order_texts *t)
{
	arena_free(&t->arena);
	mem_free(t->src);
}

static void expect(const struct order *o, const struct order_texts *t, bool soon)
{
	struct err why = {0};

	if (t->count)
		o->gpu->ops->expect(o->gpu, t->src, t->count, soon, &why);
}

void order_foresee(struct order *o, const struct study *s)
{
	if (o->gpu->ops->expect)
		add_wishes(o, &o->untold, s, s->likely, s->likely_count);
}

void order_tell(struct order *o)
{
	expect(o, &o->untold, true);
	texts_drop(&o->untold);
	o->untold = (struct order_texts){0};
}

/* What its first pass wishes for, and takes for likely. */
static void look_at(struct order *o, const struct probe *p, struct order_texts *t)
{
	struct study s;
	struct err why = {0};

	if (study_open(&s, o->run, p, STUDY_MEASURE, &why))
		return;
	s.quick = o->plan->quick;
	s.for_figures = o->plan->for_figures;
	s.sight = STUDY_FORESEES;
	if (study_pass(&s) == 0) {
		add_wishes(o, t, &s, s.wishes, s.wish_count);
		add_wishes(o, t, &s, s.likely, s.likely_count);
	}
	study_close(&s);
}

static bool names(const char *const *list, const char *name)
{
	for (size_t i = 0; list && list[i]; i++)
		if (strcmp(list[i], name) == 0)
			return true;
	return false;
}

static bool must_wait(const struct order *o, const struct probe *p)
{
	for (size_t i = 0; i < o->plan->count; i++)
		if (o->probes[i].state != ORDER_ENDED &&
		    (names(p->needs, o->plan->probes[i]->name) || names(p->helped, o->plan->probes[i]->name)))
			return true;
	return false;
}

/* Whether a probe of the plan waits for it. */
static bool is_awaited(const struct order *o, const struct probe *p)
{
	for (size_t i = 0; i < o->plan->count; i++) {
		const struct probe *q = o->plan->probes[i];
		if (o->probes[i].state != ORDER_ENDED && (names(q->needs, p->name) || names(q->helped, p->name)))
			return true;
	}
	return false;
}

static bool is_much(const struct order_probe *q)
{
	return q->bytes >= LITTLE;
}

/* Probes with much text begin at once, as they only wait for their kernels so far, and others go on meanwhile. What may
 * hang comes next, as processes are kept ready for it. What others wait for follows, as their needs are not known
 * before. */
static unsigned rank(const struct order_probe *q)
{
	return is_much(q) ? !q->awaited : q->hangs ? 2 : q->awaited ? 3 : 4;
}

static bool comes_before(const struct order_probe *a, const struct order_probe *b)
{
	const unsigned x = rank(a), y = rank(b);

	if (x != y)
		return x < y;
	if (a->bytes != b->bytes)
		return a->bytes < b->bytes;
	return a < b; /* as in the plan */
}

/* What is little is compiled first, as it is measured while the rest compiles. */
static int by_need(const void *a, const void *b)
{
	const struct order_probe *x = ((const struct order_texts *)a)->probe,
				 *y = ((const struct order_texts *)b)->probe;

	if (is_much(x) != is_much(y))
		return is_much(x) ? 1 : -1;
	return comes_before(x, y) ? -1 : 1;
}

/* Looks at all probes that could come now and were not looked at yet. */
static void look(struct order *o)
{
	struct order_texts *all = mem_zero(o->plan->count + 1, sizeof(*all));
	size_t n = 0;

	if (!all)
		return;
	for (size_t i = 0; i < o->plan->count; i++) {
		struct order_probe *q = &o->probes[i];
		if (q->state != ORDER_WAITS || q->seen || must_wait(o, o->plan->probes[i]))
			continue;
		q->seen = true;
		q->awaited = is_awaited(o, o->plan->probes[i]);
		all[n].probe = q;
		look_at(o, o->plan->probes[i], &all[n++]);
	}
	qsort(all, n, sizeof(*all), by_need);
	for (size_t i = 0; i < n; i++) {
		expect(o, &all[i], false);
		texts_drop(&all[i]);
	}
	mem_free(all);
}

int order_open(struct order *o, struct run *r, struct gpu *g, struct kernel_cache *kernels,
	       const struct engine_plan *plan)
{
	*o = (struct order){.run = r, .gpu = g, .kernels = kernels, .plan = plan};
	o->probes = mem_zero(plan->count + 1, sizeof(*o->probes));
	if (!o->probes)
		return -ENOMEM;
	for (size_t i = 0; i < plan->count; i++)
		if (run_probe(r, plan->probes[i]->name)->state == PROBE_DONE)
			order_end(o, i);
	return 0;
}

void order_begin(struct order *o, size_t index)
{
	assert(o->probes[index].state == ORDER_WAITS);
	o->probes[index].state = ORDER_BEGUN;
}

void order_close(struct order *o)
{
	mem_free(o->probes);
	texts_drop(&o->untold);
	hash_set_free(&o->calls);
	hash_set_free(&o->texts);
	*o = (struct order){0};
}

size_t order_next(struct order *o, bool eager)
{
	size_t best = o->plan->count;

	if (o->unbraced)
		brace(o);
	if (o->gpu->ops->expect)
		look(o);
	for (size_t i = 0; i < o->plan->count; i++) {
		const struct order_probe *q = &o->probes[i];
		if (q->state != ORDER_WAITS || must_wait(o, o->plan->probes[i]) || (eager && !is_much(q)))
			continue;
		if (best == o->plan->count || comes_before(q, &o->probes[best]))
			best = i;
	}
	return best;
}

void order_end(struct order *o, size_t index)
{
	assert(o->probes[index].state != ORDER_ENDED);
	o->probes[index].state = ORDER_ENDED;
	o->ended++;
	o->unbraced |= o->probes[index].hangs;
}
