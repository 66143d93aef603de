/* The one rule of a verdict, for every key of a level. */
#include "judge/judge.h"

const char *judge_verdict_name(enum judge_verdict v)
{
	static const char *const names[] = {"OPEN", "LIKELY", "MEASURED"};
	return names[v];
}

enum judge_verdict judge_verdict(const struct judge_result *r, enum judge_key k)
{
	if (!r->kept || r->unexplained)
		return JUDGE_OPEN;
	if (r->fact[k].margin >= JUDGE_NATS)
		return JUDGE_MEASURED;
	return r->fact[k].weight >= JUDGE_WEIGHT ? JUDGE_LIKELY : JUDGE_OPEN;
}
