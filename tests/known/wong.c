/* Wong 2010 again, on the simulated GTX 280: every published number comes out, in the precision in which it is printed or
 * with the deviation that the row names. Prints the table. */
#include "base/str.h"
#include "data/paper_compare.h"
#include "data/paper_formula.h"
#include "known.h"
#include <stdio.h>
#include <string.h>

#define PAPER "wong2010"
#define SEED  1
#define LEAST 287  /* rows that agree, each fact once */
#define SHARE 0.95 /* of what the description has, that has to be MEASURED */

/* Keys that no probe concludes yet: delete a line when yours does. */
static const char *const not_yet[] = {"device.clock_hz"};

static bool is_asked(const char *key)
{
	for (size_t i = 0; i < sizeof not_yet / sizeof not_yet[0]; i++)
		if (str_glob(not_yet[i], key))
			return false;
	return strcmp(key, PAPER_NO_KEY) != 0 && strcmp(key, PAPER_SETTING) != 0;
}

static void ours(char *out, size_t n, const struct finding *f)
{
	if (!f)
		snprintf(out, n, "no finding");
	else if (f->value.kind == VALUE_NUMBER)
		snprintf(out, n, "%.6g %s", f->value.number,
			 f->verdict == VERDICT_MEASURED ? "" : verdict_name(f->verdict));
	else
		snprintf(out, n, "%s", f->value.kind == VALUE_TEXT ? f->value.text : verdict_name(f->verdict));
}

static unsigned look(const struct paper_comparison *c)
{
	unsigned wrong = 0;
	for (size_t i = 0; i < c->part->count; i++) {
		const struct paper_check *k = &c->checks[i];
		const char *label = paper_result_name(k->result);
		char value[64];
		bool asked = is_asked(k->row->key);
		/* A deviation that is not needed any more has to go. */
		bool stale = *k->row->deviation && k->result == PAPER_AGREES;
		bool ok = !asked || (!stale && (k->result == PAPER_AGREES || k->result == PAPER_EXPLAINED));
		if (!asked && !k->finding)
			continue;
		if (!asked && k->result != PAPER_AGREES)
			label = "not yet";
		ours(value, sizeof value, k->finding);
		printf("%s %-9s %-10s %-34s %10s  %s\n", ok ? "    " : "MISS", stale ? "stale" : label, k->row->where,
		       k->row->key, k->row->printed, value);
		wrong += !ok;
	}
	return wrong;
}

/* False: something concluded contradicts the description, or too much of it was not found. */
static bool is_known(const struct run *r, const struct sim_spec *s, const char *label)
{
	struct score score = {0};
	struct str wrong, missed;
	str_init(&wrong);
	str_init(&missed);
	const int rc = known_score(&score, r, s, label, &wrong, &missed);
	printf("%s%s%s: %u findings, %u wrong, %u of %u measured, %u of %u shown to be absent\n", str_text(&wrong),
	       str_text(&missed), label, score.findings, score.wrong, score.measured, score.exists, score.absent,
	       score.absences);
	str_free(&wrong);
	str_free(&missed);
	return rc == 0 && !score.wrong && score.exists && score.measured >= SHARE * score.exists &&
	       score.absent == score.absences;
}

int main(void)
{
	struct arena a;
	struct err e = {0};
	struct paper *p = NULL;
	struct sim_spec *s = NULL;
	struct paper_comparison c = {0};
	struct run r = {0};
	unsigned wrong = 0;
	bool known = false;
	arena_init(&a);
	int rc = paper_open(&p, &a, PAPER, &e);
	if (rc == 0)
		rc = spec_open(&s, &a, p->parts[0].gpu, &e);
	if (rc == 0) {
		rc = known_measure(&r, s, SEED, &e);
		if (rc == 0)
			rc = paper_compare(&c, &a, p, &p->parts[0], &r);
		if (rc == 0) {
			wrong = look(&c);
			known = is_known(&r, s, p->parts[0].gpu);
		}
		run_free(&r);
	}
	if (rc)
		printf("%s\n", e.text[0] ? e.text : "out of memory");
	arena_free(&a);
	printf("%zu published numbers agree, %zu are explained, %u do not come out\n", c.counts[PAPER_AGREES],
	       c.counts[PAPER_EXPLAINED], wrong);
	return rc || wrong || !known || c.counts[PAPER_AGREES] < LEAST;
}
