/* Who shares what on small GPUs whose SMs have shuffled numbers. Some have a level that cannot be filled, and others
 * one that hides a nearly as fast one behind it. Random GPUs have levels that can be filled. Only the probe of sharing
 * and those that it needs run. */
#include "base/embed.h"
#include "gpu/sim/sim.h"
#include "known.h"
#include "probe/engine.h"
#include <stdio.h>
#include <string.h>

#define SEED 1

/* The toy GPU with twelve SMs. */
static const char base[] = "device.sm_count = 12 count # test\n"
			   "topology.sm_per_cluster = 3 count # test\n"
			   "topology.sm_numbers = 7, 2, 11, 0, 5, 9, 4, 10, 1, 8, 3, 6 count # test\n"
			   "clock.scope = gpu name # test\n"
			   "cache.constant.{l2,l3}.line = 64 bytes # test\n"
			   "cache.constant.{l2,l3}.ways = 4 count # test\n"
			   "cache.constant.{l2,l3}.policy = lru name # test\n"
			   "cache.constant.l2.latency = 60 cycles # test\n"
			   "cache.constant.l3.latency = 80 cycles # test\n";
static const char *const dropped[] = {"device.sm_count", "topology.", "clock.scope", "cache.constant.l2",
				      "cache.constant.levels"};

static const struct sharing_case {
	const char *name, *add;
	struct {
		const char *key, *text; /* NULL: the number, or that there is none when it is 0 */
		double number;
	} want[3];
} cases[] = {
    {"a level that holds the whole space",
     "cache.constant.levels = 3 count # test\n"
     "cache.constant.l2.size = 16 KB # test\ncache.constant.l2.scope = cluster name # test\n"
     "cache.constant.l3.size = 64 KB # test\ncache.constant.l3.scope = gpu name # test\n",
     {{"cache.constant.l1.scope", "sm", 0},
      {"cache.constant.l2.scope", "cluster", 0},
      {"topology.cluster_count", NULL, 4}}},
    {"one that is hardly slower behind it",
     "cache.constant.levels = 3 count # test\n"
     "cache.constant.l2.size = 16 KB # test\ncache.constant.l2.scope = sm name # test\n"
     "cache.constant.l3.size = 64 KB # test\ncache.constant.l3.scope = cluster name # test\n",
     {{"cache.constant.l1.scope", "sm", 0}, {"cache.constant.l2.scope", "sm", 0}, {"topology.cluster_count", NULL, 0}}},
};

static void describe(const struct sharing_case *c, struct str *out)
{
	const struct embedded *m = embed_find("gpus/toy.gpu");
	for (const char *p = m->data; *p;) {
		size_t n = strcspn(p, "\n");
		bool drop = false;
		for (size_t i = 0; i < sizeof dropped / sizeof dropped[0]; i++)
			drop |= str_starts(p, dropped[i]);
		n += p[n] == '\n';
		if (!drop)
			str_addn(out, p, n);
		p += n;
	}
	str_add(out, base);
	str_add(out, c->add);
}

static int measure(struct run *r, const struct sim_spec *s, struct err *e)
{
	const char *probe = "sharing";
	struct gpu *g = NULL;
	struct engine_plan plan = {0};
	int rc = run_init(r);
	if (rc)
		return err_nomem(e);
	r->seed = SEED;
	rc = sim_open_spec(&g, s, SEED, e);
	if (rc)
		return rc;
	r->device = *g->ops->info(g);
	rc = engine_plan(&plan, &probe, 1, e);
	if (rc == 0)
		rc = engine_measure(r, g, &plan, NULL, e);
	g->ops->close(g);
	mem_free(plan.probes);
	return rc;
}

static unsigned judge(const struct sharing_case *c, const struct run *r)
{
	unsigned bad = 0;
	for (size_t i = 0; i < sizeof c->want / sizeof c->want[0]; i++) {
		const struct finding *f = findings_get(&r->findings, c->want[i].key);
		const char *text = c->want[i].text;
		bool measured = f && f->verdict == VERDICT_MEASURED;
		bool right = text		      ? measured && strcmp(f->value.text, text) == 0
			     : c->want[i].number == 0 ? f && !measured
						      : measured && f->value.number == c->want[i].number;
		if (right)
			continue;
		printf("%s: %s is %s %s: %s\n", c->name, c->want[i].key, f ? verdict_name(f->verdict) : "missing",
		       f ? f->value.text : "", f ? f->because : "");
		bad++;
	}
	return bad;
}

int main(void)
{
	unsigned bad = 0;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct arena a;
		struct str text;
		struct err e = {0};
		struct sim_spec *s;
		struct run r = {0};
		arena_init(&a);
		str_init(&text);
		describe(&cases[i], &text);
		int rc = spec_parse(&s, &a, cases[i].name, str_text(&text), text.len, &e);
		if (rc == 0) {
			rc = measure(&r, s, &e);
			bad += rc ? 0 : judge(&cases[i], &r);
			run_free(&r);
		}
		if (rc)
			printf("%s\n", e.text[0] ? e.text : "out of memory");
		bad += rc != 0;
		str_free(&text);
		arena_free(&a);
	}
	printf("%zu GPUs, %u findings are not as they should be\n", sizeof cases / sizeof cases[0], bad);
	return bad != 0;
}
