/* Negative controls: the toy GPU without one of its caches. What is not there must be shown to be absent or stay without a
 * number, and the rest must still come out. */
#include "base/embed.h"
#include "known.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

#define SEED	  1
#define OPEN_MOST 4 /* keys of the toy that may be open */

struct control {
	const char *name;
	const char *drop[3]; /* lines that start so are left out */
	const char *add;
	const char *absent[4]; /* keys that have to be ABSENT */
	const char *no_number; /* keys that must not have a number */
	const char *bound[2];  /* keys that have to be BOUND from below */
	const char *probe;     /* only these, which ask for what is left out; NULL: all */
};
static const struct control controls[] = {
    {"the toy", {NULL}, "", {NULL}, "none"},
    {"no constant caches",
     {"cache.constant."},
     "cache.constant.levels = 0 count # control\n",
     {"cache.constant.levels"},
     "cache.constant.*",
     {NULL},
     "constant_cache,sharing,replacement,instruction_cache"},
    {"one constant cache",
     {"cache.constant.l2.", "cache.constant.levels"},
     "cache.constant.levels = 1 count # control\n",
     {"cache.constant.l2.size"},
     "cache.constant.l2.*",
     {NULL},
     "constant_cache,sharing,replacement,instruction_cache"},
    {"no data caches",
     {"cache.global."},
     "cache.global.levels = 0 count # control\n",
     {"cache.global.levels", "cache.global.l1.size", "cache.global.l2.size"},
     "cache.global.l*.*",
     {NULL},
     "global_cache,local_cache,readonly_cache,paths,spectrum,bandwidth,replacement,levels"},
    {"no data L1",
     {"cache.global.l1.", "cache.global.levels"},
     "cache.global.levels = 1 count # control\n",
     {"cache.global.l1.size"},
     "cache.global.l1.*",
     {NULL},
     "global_cache,local_cache,readonly_cache,paths,spectrum,bandwidth,replacement,levels"},
    {"no data L2",
     {"cache.global.l2.", "cache.global.levels"},
     "cache.global.levels = 1 count # control\n",
     {"cache.global.l2.size"},
     "cache.global.l2.*",
     {NULL},
     "global_cache,local_cache,readonly_cache,paths,spectrum,bandwidth,replacement,levels"},
    {"no texture caches",
     {NULL},
     "cache.texture.levels = 0 count # control\nmemory.texture.latency = 310 cycles # control\n"
     "load.texture.issue = 2 cycles # control\nload.texture.unit = mem name # control\n",
     {"cache.texture.levels", "cache.texture.l1.size"},
     "cache.texture.l*.*",
     {NULL},
     "texture_cache,replacement,sharing,paths"},
    /* No table can be told from one that is never full. */
    {"any number of requests",
     {"outstanding."},
     "",
     {NULL},
     "outstanding.*",
     {"outstanding.entries", "outstanding.loads_per_warp"},
     "outstanding"},
    {"more entries than a block fills",
     {"outstanding."},
     "outstanding.kind = mshr name # control\noutstanding.entries = 4096 count # control\n",
     {NULL},
     "outstanding.*",
     {"outstanding.entries", "outstanding.loads_per_warp"},
     "outstanding"},
    {"more entries than a block has instructions",
     {"outstanding."},
     "outstanding.kind = prt name # control\noutstanding.entries = 256 count # control\n",
     {NULL},
     "outstanding.*",
     {"outstanding.entries", "outstanding.loads_per_warp"},
     "outstanding"},
    /* Run times of some launches are no cycles then. */
    {"a clock that boosts",
     {"noise."},
     "noise.boost = 0.1 ratio # control\nnoise.boost_interval = 2000000 cycles # control\n"
     "noise.boost_cycles = 200000 cycles # control\n",
     {NULL},
     "none",
     {NULL},
     "walk"},
};

static bool is_dropped(const struct control *c, const char *line)
{
	for (size_t i = 0; i < sizeof c->drop / sizeof c->drop[0] && c->drop[i]; i++)
		if (str_starts(line, c->drop[i]))
			return true;
	return false;
}

static void describe(const struct control *c, struct str *out)
{
	const struct embedded *m = embed_find("gpus/toy.gpu");
	for (const char *p = m->data; *p;) {
		size_t n = strcspn(p, "\n");
		n += p[n] == '\n';
		if (!is_dropped(c, p))
			str_addn(out, p, n);
		p += n;
	}
	str_add(out, c->add);
}

static unsigned judge(const struct control *c, const struct run *r)
{
	unsigned bad = 0;
	for (size_t i = 0; i < sizeof c->absent / sizeof c->absent[0] && c->absent[i]; i++) {
		const struct finding *f = findings_get(&r->findings, c->absent[i]);
		if (f && f->verdict == VERDICT_ABSENT)
			continue;
		printf("%s: %s is %s, not ABSENT: %s\n", c->name, c->absent[i],
		       f ? verdict_name(f->verdict) : "not concluded", f ? f->because : "");
		bad++;
	}
	for (size_t i = 0; i < sizeof c->bound / sizeof c->bound[0] && c->bound[i]; i++) {
		const struct finding *f = findings_get(&r->findings, c->bound[i]);
		if (f && f->verdict == VERDICT_BOUND && isfinite(f->lo) && f->hi == INFINITY)
			continue;
		printf("%s: %s is %s, not BOUND from below: %s\n", c->name, c->bound[i],
		       f ? verdict_name(f->verdict) : "not concluded", f ? f->because : "");
		bad++;
	}
	for (size_t i = 0; i < r->findings.count; i++) {
		const struct finding *f = &r->findings.items[i];
		if (f->verdict != VERDICT_MEASURED || !str_glob(c->no_number, f->key))
			continue;
		printf("%s: %s is MEASURED as %g\n", c->name, f->key, f->value.number);
		bad++;
	}
	return bad;
}

/* What the toy itself leaves open, its controls may leave open, too: *open_keys is set by the control that changes nothing. */
static int try_control(const struct control *c, unsigned *open_keys)
{
	struct arena a;
	struct err e = {0};
	struct str text, wrong, missed;
	struct sim_spec *s;
	struct run r = {0};
	struct score score = {0};
	unsigned bad = 0;
	arena_init(&a);
	str_init(&text);
	str_init(&wrong);
	str_init(&missed);
	describe(c, &text);
	int rc = spec_parse(&s, &a, c->name, str_text(&text), text.len, &e);
	if (rc == 0) {
		rc = known_measure_probe(&r, s, SEED, c->probe, &e);
		if (rc == 0)
			rc = known_score(&score, &r, s, c->name, &wrong, &missed);
		if (rc == 0)
			bad = judge(c, &r);
		run_free(&r);
	}
	if (rc)
		printf("%s: %s\n", c->name, e.text);
	printf("%s%s%s: %u wrong, %u of %u measured, %u of %u absent\n", str_text(&wrong), str_text(&missed), c->name,
	       score.wrong, score.measured, score.exists, score.absent, score.absences);
	str_free(&text);
	str_free(&wrong);
	str_free(&missed);
	arena_free(&a);
	const bool more = score.measured + *open_keys < score.exists;
	if (!c->add[0] && !c->drop[0])
		*open_keys = score.exists - score.measured;
	return rc || bad || score.wrong || (!c->probe && score.exists == 0) || more;
}

int main(void)
{
	unsigned failed = 0, open_keys = OPEN_MOST;
	for (size_t i = 0; i < sizeof controls / sizeof controls[0]; i++)
		failed += try_control(&controls[i], &open_keys) != 0;
	printf("%zu controls, %u failed\n", sizeof controls / sizeof controls[0], failed);
	return failed != 0;
}
