/* Wong 2010 again, on the simulated GTX 280: every published number that a probe asks for comes out at the precision at which
 * it is printed. Prints the table beside the findings. */
#include "base/embed.h"
#include "data/paper.h"
#include "known.h"
#include "probe/probe.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

#define PAPER "papers/wong2010.paper"
#define SEED  1
#define LEAST 100 /* rows: Table III has 76 numbers, the constant caches 18 */

/* What is asked for in this version: another probe may claim the whole family of a key and not conclude this one. */
static bool is_asked(const struct run *r, const char *key)
{
	static const char *const families[] = {"clock.read_latency",
					       "clock.granularity",
					       "shared.latency",
					       "shared.cached",
					       "cache.constant.levels",
					       "cache.constant.*.size",
					       "cache.constant.*.line",
					       "cache.constant.*.ways",
					       "cache.constant.*.sets",
					       "cache.constant.*.latency",
					       "memory.constant.latency",
					       "memory.global.latency",
					       "cache.global.levels",
					       "branch.*",
					       "barrier.*",
					       "clock.scope"};
	for (size_t i = 0; i < sizeof families / sizeof families[0]; i++)
		if (str_glob(families[i], key))
			return true;
	return str_starts(key, "arith.") && findings_get(&r->findings, key);
}

/* A latency that the paper gives over its TPCs is a range of ours too. */
static bool agrees(const struct paper_row *row, const struct finding *f)
{
	double slack = 1e-9 * (1 + fabs(row->hi));
	if (row->is_word)
		return f->value.kind == VALUE_TEXT && strcmp(f->value.text, row->printed) == 0;
	if (f->verdict == VERDICT_ABSENT)
		return row->lo == 0 && row->hi == 0;
	return f->verdict == VERDICT_MEASURED && f->value.kind == VALUE_NUMBER && f->value.number >= row->lo - slack &&
	       f->value.number <= row->hi + slack;
}

static unsigned compare(const struct paper *p, const struct run *r, unsigned *asked)
{
	unsigned misses = 0;
	for (size_t i = 0; i < p->count; i++) {
		const struct paper_row *row = &p->rows[i];
		char ours[64] = "no finding";
		if (strcmp(row->key, "-") == 0 || !is_asked(r, row->key))
			continue;
		const struct finding *f = findings_get(&r->findings, row->key);
		bool ok = f && agrees(row, f);
		if (f && f->value.kind == VALUE_NUMBER)
			snprintf(ours, sizeof ours, "%.6g %s", f->value.number,
				 f->verdict == VERDICT_MEASURED ? "" : verdict_name(f->verdict));
		else if (f && f->value.kind == VALUE_TEXT)
			snprintf(ours, sizeof ours, "%s", f->value.text);
		else if (f)
			snprintf(ours, sizeof ours, "%s", verdict_name(f->verdict));
		printf("%-4s %-10s %-34s %10s  %s\n", ok ? "ok" : "MISS", row->where, row->key, row->printed, ours);
		misses += !ok;
		++*asked;
	}
	return misses;
}

int main(void)
{
	const struct embedded *m = embed_find(PAPER);
	struct arena a;
	struct err e = {0};
	struct paper *p;
	struct sim_spec *s;
	struct run r = {0};
	unsigned misses = 0, asked = 0;
	arena_init(&a);
	int rc = m ? paper_parse(&p, &a, PAPER, m->data, m->size, &e) : 1;
	if (rc == 0)
		rc = spec_open(&s, &a, p->gpu, &e);
	if (rc == 0) {
		rc = known_measure(&r, s, SEED, &e);
		if (rc == 0)
			misses = compare(p, &r, &asked);
		run_free(&r);
	}
	if (rc)
		printf("%s\n", e.text[0] ? e.text : "the paper is missing");
	arena_free(&a);
	printf("%u published numbers were asked for, %u do not come out\n", asked, misses);
	return rc || misses || asked < LEAST;
}
