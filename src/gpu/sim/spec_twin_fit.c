/* What stands in a twin's lines that nobody measured: a shipped GPU's, or what other findings say, whichever contradicts fewer findings. */
#include "base/embed.h"
#include "data/run_compare.h"
#include "gpu/sim/spec_twin_lines.h"
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define FOLDER	   "gpus/"
#define SUFFIX	   ".gpu"
#define NAME_BYTES 64
#define KEY_BYTES  128
#define PASSES	   2	    /* over all guesses: one may free another */
#define FINDINGS   10000    /* more than a run has */
#define NO_GPU	   UINT_MAX /* lines that describe none */

/* ---- the shipped GPU that lends ---- */

/* How unlike two GPUs are: another name weighs less than a tenth of the compute capability, and that less than twice the SMs. */
static double unlike(const struct device_info *d, const struct sim_spec *s)
{
	if (strcmp(d->name, s->name) == 0)
		return 0;
	return 1 + fabs((double)d->cc - s->cc) + 0.5 * fabs(log2(fmax(d->sm_count, 1) / s->sm_count));
}

static int nearest(const struct twin *t, char name[NAME_BYTES], struct err *e)
{
	double best = INFINITY;
	for (size_t i = 0; i < embedded_count; i++) {
		const struct embedded *m = &embedded_files[i];
		const size_t head = strlen(FOLDER), tail = strlen(SUFFIX);
		struct arena a;
		struct sim_spec *s;
		if (!str_starts(m->path, FOLDER) || !str_ends(m->path, SUFFIX))
			continue;
		arena_init(&a);
		int rc = spec_parse(&s, &a, m->path, m->data, m->size, e);
		/* One that is itself like another has not all lines of its own. */
		if (rc == 0 && !s->like[0] && unlike(&t->r->device, s) < best) {
			best = unlike(&t->r->device, s);
			snprintf(name, NAME_BYTES, "%.*s", (int)(strlen(m->path) - head - tail), m->path + head);
		}
		arena_free(&a);
		if (rc)
			return rc;
	}
	return 0;
}

int twin_base(struct twin *t, const char *like, struct err *e)
{
	char name[NAME_BYTES] = "", text[NAME_BYTES + 40];
	const struct embedded *base;
	struct spec_file *f = ARENA_NEW(&t->a, struct spec_file);
	int rc = f ? 0 : err_nomem(e);
	if (rc == 0 && !like)
		rc = nearest(t, name, e);
	if (rc == 0) {
		t->base_name = arena_strdup(&t->a, like ? like : name);
		*f = (struct spec_file){.a = &t->a, .e = e, .name = "the base"};
		const int n =
		    snprintf(text, sizeof text, "device.like = %s name # lent", t->base_name ? t->base_name : "");
		rc = t->base_name ? spec_lines(f, text, (size_t)n, &base) : err_nomem(e);
	}
	t->base = f;
	return rc;
}

/* ---- what may be lent ---- */

static bool starts_any(const char *key, const char *const *stems, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (str_starts(key, stems[i]))
			return true;
	return false;
}

/* Lines of a device, its disturbances and its structures are its own. The rest is lent to a level or a path that the twin has. */
static bool may_lend(const struct twin *t, const char *key)
{
	static const char *const own[] = {"device.", "topology.",    "network.", "noise.",	    "pipe.",
					  "dram.",   "outstanding.", "arith.",	 "memory.partition"};
	static const char *const per_level[] = {"cache.constant.l", "cache.global.l", "cache.instruction.l",
						"cache.texture.l",  "tlb.global.l",   "tlb.texture.l"};
	char stem[KEY_BYTES];
	if (starts_any(key, own, sizeof own / sizeof *own) || str_ends(key, ".levels") || str_ends(key, ".policy") ||
	    str_ends(key, ".set_sizes") || str_ends(key, ".sets") || twin_has(t, key) || twin_absent(t, key))
		return false;
	const bool level = starts_any(key, per_level, sizeof per_level / sizeof *per_level);
	if (level || str_starts(key, "tlb.") || str_starts(key, "cache.")) {
		snprintf(stem, sizeof stem, "%.*s.%s", (int)(strrchr(key, '.') - key), key,
			 level			   ? "line"
			 : str_starts(key, "tlb.") ? "levels"
						   : "levels");
		return twin_has(t, stem) || strcmp(key, "cache.constant.backing") == 0;
	}
	if (str_starts(key, "load.texture.") || str_starts(key, "memory.texture.") || str_starts(key, "texture."))
		return twin_has(t, "memory.texture.latency");
	return true;
}

/* If the base says another thing of a key that is guessed, that is a choice. The base's comes first unless other
 * findings say so. */
static void lend(struct twin *t)
{
	char why[NAME_BYTES + 8];
	const size_t own = t->count;
	snprintf(why, sizeof why, "as %s", t->base_name);
	for (size_t i = 0; i < t->base->count; i++) {
		const struct spec_line *b = &t->base->lines[i];
		struct twin_line *l = twin_has(t, b->key);
		if (!b->lent)
			continue;
		if (l && l->guess && l < t->lines + own) {
			if (!str_ends(b->key, ".unit") && !str_starts(b->key, "device.") &&
			    !str_ends(b->key, ".levels") && !str_ends(b->key, "bandwidth") &&
			    !str_starts(b->key, "arith."))
				twin_choose(t, b->key, b->value, b->unit, why, !l->derived);
		} else if (!l && may_lend(t, b->key)) {
			twin_line(t, b->key, NULL, b->unit, NULL, "not at all");
			twin_choose(t, b->key, b->value, b->unit, why, true);
		}
	}
}

/* ---- how well the lines fit ---- */

struct fit {
	const struct twin *t;
	unsigned wrong, right; /* findings that are contradicted, and that agree */
};

/* A truth of the twin as a finding, laid beside the run's. */
static int lay(void *ctx, const struct truth *w)
{
	struct fit *f = ctx;
	const struct finding *is = findings_get(&f->t->r->findings, w->key);
	if (!is || w->array || isinf(w->tolerance) || (!w->text && !w->absent && !isfinite(w->number)))
		return 0;
	struct finding as = {.verdict = w->absent ? VERDICT_ABSENT : VERDICT_MEASURED,
			     .lo = w->number - w->tolerance,
			     .hi = w->number + w->tolerance};
	snprintf(as.key, sizeof as.key, "%s", w->key);
	snprintf(as.unit, sizeof as.unit, "%s", is->unit);
	as.value.kind = w->absent ? VALUE_NONE : w->text ? VALUE_TEXT : VALUE_NUMBER;
	as.value.number = w->number;
	snprintf(as.value.text, sizeof as.value.text, "%s", w->text ? w->text : "");
	const enum compare_state state = compare_findings(is, &as);
	f->wrong += state == COMPARE_CONTRADICT;
	f->right += state == COMPARE_AGREE || state == COMPARE_DIFFER;
	return 0;
}

/* Changes with the lines that operations and pipes depend on, whose part of the truth takes longest to tell. */
static uint64_t core_lines(const struct twin *t)
{
	static const char *const stems[] = {"core.", "pipe.", "arith.", "device.", "branch.", "load.shared."};
	uint64_t h = 1;
	for (size_t i = 0; i < t->count; i++)
		if (starts_any(t->lines[i].key, stems, sizeof stems / sizeof *stems))
			h = hash64(&t->lines[i].chosen, sizeof t->lines[i].chosen, h);
	return h;
}

/* How badly the lines fit: findings that they contradict, and of as many, those that they do not explain. NO_GPU: they describe none, and e says
 * why. 0, or -ENOMEM. */
static int weigh(struct twin *t, unsigned *wrong, struct err *e)
{
	struct fit f = {.t = t};
	struct str text;
	struct arena a;
	struct sim_spec *s = NULL;
	const uint64_t core = core_lines(t);
	str_init(&text);
	arena_init(&a);
	twin_print(t, &text, NULL);
	int rc = text.failed ? err_nomem(e) : spec_parse(&s, &a, "the twin", str_text(&text), text.len, e);
	if (rc == 0)
		rc = spec_truth_rest(s, lay, &f);
	if (rc == 0 && core != t->weighed) {
		struct fit c = {.t = t};
		rc = spec_truth_core(s, lay, &c);
		t->weighed = core;
		t->core_wrong = c.wrong;
		t->core_right = c.right;
	}
	*wrong = rc ? NO_GPU : (f.wrong + t->core_wrong) * FINDINGS + FINDINGS - f.right - t->core_right;
	arena_free(&a);
	str_free(&text);
	return rc == -ENOMEM ? rc : 0;
}

/* The first of a guess's choices by which fewest findings are contradicted. */
static int settle(struct twin *t, struct twin_line *l, unsigned *least, struct err *e)
{
	unsigned best = l->chosen;
	const unsigned was = l->chosen;
	for (unsigned k = 0; k < l->count; k++) {
		unsigned wrong;
		l->chosen = k;
		if (k == was)
			continue;
		const int rc = weigh(t, &wrong, e);
		if (rc)
			return rc;
		if (wrong < *least || (wrong == *least && k < best)) {
			*least = wrong;
			best = k;
		}
	}
	l->chosen = best;
	return 0;
}

/* Lines of one structure are lent together: some mean nothing without another. */
static int settle_group(struct twin *t, size_t from, size_t to, unsigned *least, struct err *e)
{
	unsigned wrong, was[64];
	if (to - from < 2 || to - from > sizeof was / sizeof *was)
		return 0;
	for (size_t i = from; i < to; i++) {
		was[i - from] = t->lines[i].chosen;
		t->lines[i].chosen = 0;
	}
	const int rc = weigh(t, &wrong, e);
	if (rc)
		return rc;
	if (wrong <= *least)
		*least = wrong;
	else
		for (size_t i = from; i < to; i++)
			t->lines[i].chosen = was[i - from];
	return 0;
}

static void take(struct twin_line *l, const char *text, const char *source)
{
	for (unsigned k = 0; k < l->count; k++)
		if ((text && l->choice[k].text && strcmp(l->choice[k].text, text) == 0) ||
		    (source && str_ends(l->choice[k].source, source)))
			l->chosen = k;
}

/* Schedulers as the base's, all at once, and with pipes of their own or as they are: one line of it alone may fit worse. */
static int settle_core(struct twin *t, bool pipes, unsigned *least, struct err *e)
{
	unsigned wrong, *was = ARENA_ARRAY(&t->a, t->count, unsigned);
	if (!was)
		return err_nomem(e);
	for (size_t i = 0; i < t->count; i++) {
		struct twin_line *l = &t->lines[i];
		was[i] = l->chosen;
		if (l->guess && str_starts(l->key, "core."))
			take(l, NULL, t->base_name);
		else if (l->guess && pipes && str_starts(l->key, "pipe.") && str_ends(l->key, ".per"))
			take(l, strcmp(l->key, "pipe.mem.per") == 0 ? "sm" : "scheduler", NULL);
	}
	const int rc = weigh(t, &wrong, e);
	if (rc == 0 && wrong <= *least) {
		*least = wrong;
		return 0;
	}
	for (size_t i = 0; i < t->count; i++)
		t->lines[i].chosen = was[i];
	return rc;
}

static size_t stem_length(const char *key)
{
	const char *dot = strrchr(key, '.');
	return dot ? (size_t)(dot - key) : strlen(key);
}

int twin_fit(struct twin *t, struct err *e)
{
	const size_t own = t->count;
	unsigned least;
	int rc;
	lend(t);
	if (t->failed)
		return err_nomem(e);
	rc = weigh(t, &least, e);
	if (rc || least == NO_GPU)
		return rc ? rc : -EINVAL;
	for (size_t i = own, k; rc == 0 && i < t->count; i = k) {
		const size_t n = stem_length(t->lines[i].key);
		for (k = i + 1; k < t->count && stem_length(t->lines[k].key) == n &&
				memcmp(t->lines[k].key, t->lines[i].key, n) == 0;
		     k++)
			;
		rc = settle_group(t, i, k, &least, e);
	}
	if (rc == 0)
		rc = settle_core(t, false, &least, e);
	if (rc == 0)
		rc = settle_core(t, true, &least, e);
	for (unsigned pass = 0; rc == 0 && pass < PASSES; pass++) {
		bool moved = false;
		for (size_t i = 0; rc == 0 && i < t->count; i++) {
			const unsigned was = t->lines[i].chosen;
			/* What the first pass left as it was preferred stays so. */
			if (t->lines[i].guess && t->lines[i].count > 1 && (pass == 0 || was != 0))
				rc = settle(t, &t->lines[i], &least, e);
			moved |= t->lines[i].chosen != was;
		}
		if (!moved)
			break;
	}
	return rc;
}
