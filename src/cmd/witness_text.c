#include "cmd/witness_text.h"
#include "base/arena.h"
#include "probe/witness.h"
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static void say_shape(struct str *out, const struct judge_shape *q)
{
	str_addf(out, "%u sets x %u ways x %u bytes = %llu bytes, sectors of %u", q->sets, q->ways, q->line,
		 (unsigned long long)judge_value(q, JUDGE_SIZE), q->sector);
	if (q->folded)
		str_add(out, ", hashed");
	if (q->shift)
		str_addf(out, ", %u lines in a row in one set", 1u << q->shift);
}

static void say_value(struct str *out, const struct judge_shape *q, enum judge_key k)
{
	if (k == JUDGE_MAPPING)
		str_add(out, q->folded ? "hash" : "modulo");
	else
		str_addf(out, "%llu", (unsigned long long)judge_value(q, k));
}

static void say_ring(struct str *out, const struct judge_ring *r)
{
	str_addf(out, "%u elements over %.0f bytes in steps of %.0f", r->n, r->bytes, r->step);
}

static void say_key(struct str *out, const struct run *r, const struct witness_path *p, const struct judge_result *j,
		    enum judge_key k)
{
	static const char *const say[] = {"nothing to hold against it", "differs", "agrees"};
	const struct judge_fact *f = &j->fact[k];
	char key[96];

	snprintf(key, sizeof(key), "cache.%s.l1.%s", p->path, judge_key_name(k));
	const struct finding *found = findings_get(&r->findings, key);
	str_addf(out, "  %s: %s %s", key, judge_verdict_name(judge_verdict(j, k)),
		 witness_at_least(p, k) ? "at least " : "");
	say_value(out, &j->shape[0], k);
	if (isfinite(f->margin))
		str_addf(out, ", others worse by %.1f nats", f->margin);
	if (f->rival) {
		str_add(out, " (");
		say_value(out, &j->shape[f->rival], k);
		str_add(out, ")");
	}
	str_addf(out, "; finding %s: %s\n", found ? verdict_name(found->verdict) : "none",
		 say[1 + witness_agrees(p, &j->shape[0], k, found)]);
}

static void say_level(struct str *out, const struct run *r, const struct witness_path *p, const struct judge_result *j,
		      const struct judge_ring *ring)
{
	str_addf(out, "%s L1: ", p->path);
	say_shape(out, &j->shape[0]);
	str_addf(out, "\n  of %u shapes beside %u rings", j->candidates, j->rings);
	if (j->rival) {
		str_addf(out, "; next by %.1f nats: ", j->shape[0].ll - j->shape[j->rival].ll);
		say_shape(out, &j->shape[j->rival]);
		str_addf(out, "\n  parted most, by %.1f nats, by ", j->parting_by);
		say_ring(out, &ring[j->parting]);
	}
	str_addf(out, "\n  unexplained: %u of %u rings; worst, %.1f nats beyond what it predicts: ", j->unexplained,
		 j->rings, fmax(0, j->worst_by));
	say_ring(out, &ring[j->worst]);
	if (j->shape[0].exact && j->shape[0].rule != RULES)
		str_addf(out, "\n  %s: %.0f of %.0f accesses otherwise", rule_name(j->shape[0].rule), j->shape[0].wrong,
			 j->shape[0].of);
	str_addc(out, '\n');
	for (enum judge_key k = 0; k < JUDGE_KEYS; k++)
		if (witness_tells(p, k))
			say_key(out, r, p, j, k);
}

int witness_text(struct str *out, struct run *r)
{
	struct judge_result *j = mem_zero(1, sizeof(*j));
	int rc = j ? 0 : -ENOMEM;

	for (unsigned i = 0; !rc && i < witness_count; i++) {
		const struct witness_path *p = &witness_paths[i];
		struct judge_ring *ring = NULL;
		struct arena a;
		unsigned rings;
		arena_init(&a);
		rc = witness_rings(&a, r, p, &ring, &rings);
		if (!rc && rings)
			rc = judge_weigh(ring, rings, j);
		if (!rc && rings && j->kept)
			say_level(out, r, p, j, ring);
		else if (!rc && rings)
			str_addf(out, "%s L1: nothing of it overflows, or nothing ever fits\n", p->path);
		arena_free(&a);
	}
	mem_free(j);
	return rc;
}
