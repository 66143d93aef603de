/* What is said of a level whose policy or mapping was asked for. */
#include "replaced_level.h"
#include "stat/stat.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define VICTIM_WAYS 8 /* of which the chances tell */
/* What a chance may be off by, by two standard deviations, and the greatest one, of itself. Of some ways' chances one is always off by more, and the
 * greatest is likelier to seem greater than it is. */
#define CHANCE_KNOWN 0.03
#define VICTIM_KNOWN 0.07

void level_verdict(const struct level *l, const char *what, enum verdict v, const char *because)
{

	study_verdict(l->study, KEY("%s.%s", l->prefix, what), v, "trace", "%s", because);
}

void level_mapping(const struct level *l, const char *name, const char *because)
{

	study_text(l->study, KEY("%s.mapping", l->prefix), name,
		   "lines that conflict, at strides of one set and of tiles of neighbours", "trace", "%s", because);
}

/* Of a few ways: how often the one that goes most often is replaced, and how much more often than the usual one. */
static void conclude_victim(const struct level *l, const struct policy_result *r)
{
	static const char method[] = "lines replaced, counted by the way that they were in";
	double sorted[VALUE_ARRAY_MAX], most, usual, slack;

	if (r->ways > VICTIM_WAYS)
		return;
	memcpy(sorted, r->chance, r->ways * sizeof(sorted[0]));
	qsort(sorted, r->ways, sizeof(sorted[0]), stat_compare_double);
	most = sorted[r->ways - 1];
	usual = sorted[(r->ways - 1) / 2];
	if (!(usual > r->half))
		return;
	if (r->half > VICTIM_KNOWN * most) {
		char why[96];
		snprintf(why, sizeof(why), "too few lines were replaced: its chance is %.3f, give or take %.3f", most,
			 r->half);
		level_verdict(l, "victim_interval", VERDICT_INCONCLUSIVE, why);
		level_verdict(l, "victim_odds", VERDICT_INCONCLUSIVE, why);
		return;
	}
	slack = 1 + r->half / most;
	study_measured_number(l->study, KEY("%s.victim_interval", l->prefix), 1 / most, 1 / most / slack, slack / most,
			      "sm", method, "trace", "its chance is %.3f, give or take %.3f", most, r->half);
	slack *= 1 + r->half / usual;
	study_measured_number(l->study, KEY("%s.victim_odds", l->prefix), most / usual, most / usual / slack,
			      most / usual * slack, "sm", method, "trace", "chances of %.3f and %.3f", most, usual);
}

void level_policy(const struct level *l, const struct policy_result *r)
{
	static const char method[] = "rules simulated beside single accesses to one set, and dropped when contradicted";
	struct study *s = l->study;

	if (r->state != CHASE_DONE) {
		level_verdict(l, "policy", VERDICT_INCONCLUSIVE, r->seen);
		return;
	}
	study_text(s, KEY("%s.policy", l->prefix), r->name, method, "trace", "%s", r->seen);
	const bool lru = strcmp(r->name, "lru") == 0;
	study_text(s, KEY("%s.lru", l->prefix), lru ? "yes" : "no", method, "trace", "%s", r->seen);
	const bool schedule = strcmp(r->name, "schedule") == 0;
	if ((!schedule && strcmp(r->name, "weighted") != 0) || r->ways > VALUE_ARRAY_MAX || set_pages(l->path) ||
	    l->lent)
		return;
	if (schedule) {
		static const char follow[] =
		    "which way each replaced line was in, beside how many accesses and misses were before";
		study_text(s, KEY("%s.schedule_step", l->prefix), r->step, follow, "trace", "%s", r->seen);
		study_text(s, KEY("%s.schedule", l->prefix), r->schedule, follow, "trace", "%s", r->seen);
	}
	if (r->mixed) {
		level_verdict(
		    l, "replacement_probability", VERDICT_INCONCLUSIVE,
		    "the ways' shares change along the trace: others write into the set, and its ways could not be "
		    "followed");
		return;
	}
	if (!schedule && r->half > CHANCE_KNOWN) {
		char why[96];
		snprintf(why, sizeof(why), "too few lines were replaced: each way's chance is known to %.3f only",
			 r->half);
		level_verdict(l, "replacement_probability", VERDICT_INCONCLUSIVE, why);
		return;
	}
	char seen[96];
	if (schedule)
		snprintf(seen, sizeof(seen), "shares of the list %s", r->schedule);
	else
		snprintf(seen, sizeof(seen), "each within %.3f", r->half);
	study_measured_array(l->study, KEY("%s.replacement_probability", l->prefix), r->chance, r->ways, "",
			     "lines replaced, counted by the way that they were in", "trace",
			     "%s; ways are in no order", seen);
	conclude_victim(l, r);
}
