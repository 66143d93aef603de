/* Which PTX a driver takes, as the release notes of NVIDIA's PTX manual list it. The driver's version gives the newest
 * .version, and .version gives the targets. Kept apart from the backend's own table, which it checks. */
#include "fake_targets.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct
    release { /* of PTX, with the CUDA version of its driver and the targets that it brought; "-": what it no longer has */
	int ptx, driver;
	const char *brings;
} releases[] = {
    {20, 3000, "sm_20"},
    {21, 3010, ""},
    {23, 4000, "sm_21"},
    {30, 4010, "sm_30"},
    {31, 5000, "sm_35"},
    {32, 5050, ""},
    {40, 6000, "sm_32 sm_50"},
    {41, 6050, "sm_37 sm_52"},
    {42, 7000, "sm_53"},
    {43, 7050, ""},
    {50, 8000, "sm_60 sm_61 sm_62"},
    {60, 9000, "sm_70"},
    {61, 9010, "sm_72"},
    {62, 9020, ""},
    {63, 10000, "sm_75"},
    {64, 10010, ""},
    {65, 10020, ""},
    {70, 11000, "sm_80"},
    {71, 11010, "sm_86"},
    {72, 11020, ""},
    {73, 11030, ""},
    {74, 11040, "sm_87"},
    {75, 11050, ""},
    {76, 11060, ""},
    {77, 11070, ""},
    {78, 11080, "sm_89 sm_90"},
    {80, 12000, ""},
    {81, 12010, ""},
    {82, 12020, ""},
    {83, 12030, ""},
    {84, 12040, ""},
    {85, 12050, ""},
    {86, 12070, "sm_100 sm_101"},
    {87, 12080, "sm_120"},
    {88, 12090, "sm_103 sm_121"},
    {90, 13000, "sm_88 sm_110 -sm_101"},
};

static bool lists(const char *words, const char *word, bool gone)
{
	const size_t n = strlen(word);

	for (const char *s = words; (s = strstr(s, word)) != NULL; s += n)
		if ((s[n] == ' ' || !s[n]) && (s > words && s[-1] == '-') == gone)
			return true;
	return false;
}

bool fake_takes(int ptx, const char *target, int driver, int cc, char *why, size_t n)
{
	bool known = false, spoken = false;

	for (size_t i = 0; i < sizeof releases / sizeof *releases; i++) {
		const struct release *r = &releases[i];
		spoken |= r->ptx == ptx && r->driver <= driver;
		known |= r->ptx <= ptx && lists(r->brings, target, false);
		known &= r->driver > driver || !lists(r->brings, target, true);
	}
	if (!spoken)
		snprintf(why, n, "input:1:1: Unsupported .version %d.%d", ptx / 10, ptx % 10);
	else if (!known)
		snprintf(why, n, "input:2:1: PTX .version %d.%d does not support .target %s", ptx / 10, ptx % 10,
			 target);
	else if (strtol(target + 3, NULL, 10) > cc)
		snprintf(why, n,
			 "input:2:1: SM version specified by .target is higher than default SM version assumed");
	else
		return true;
	return false;
}
