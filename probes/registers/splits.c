/* The ways in which launches can divide an SM's memory between its L1 and shared memory. */
#include "limits.h"
#include <math.h>
#include <string.h>

enum {
	BLOCKS = 8, /* of so many none needs so much that the memory is divided otherwise for its sake */
	EACH = BLOCKS + 1,
	ASKED = 16, /* parts of the most shared memory that are asked for, from next to nothing on */
	LEAST = 1,  /* percent */
	AGAIN = 2,  /* launches that ask for different parts have to get a size */
	STEP = 16   /* bytes */
};

static const char key[] = "shared.splits", evidence[] = "split";

/* Blocks of so many bytes that an SM has at a time of those that come, where that is what is asked for; 0: not known (yet). */
static uint32_t resident(struct study *s, unsigned split, unsigned values, double percent, double bytes)
{
	const double p[POINT_PARAMS] = {values, EACH, bytes};
	return limits_together(s, study_ask(s, split, percent, p));
}

struct part {
	double percent, ok, bad; /* bytes of a block of which eight are there, and of which fewer are */
};

/* All of them together. False: points are missing, or what comes back is no answer. */
static bool find(struct study *s, unsigned split, unsigned values, struct part *part)
{
	bool open = true;
	while (open) {
		open = false;
		for (unsigned i = 0; i < ASKED; i++) {
			struct part *r = &part[i];
			const double bytes = r->ok + floor((r->bad - r->ok) / 2 / STEP) * STEP;
			if (r->bad - r->ok <= STEP)
				continue;
			open = true;
			const uint32_t n = resident(s, split, values, r->percent, bytes);
			if (!n && !study_pending(s))
				return false;
			if (n >= BLOCKS)
				r->ok = bytes;
			else if (n)
				r->bad = bytes;
		}
		if (study_pending(s))
			return false;
	}
	return true;
}

void splits_study(struct study *s, unsigned split, unsigned values, double size)
{
	static const char how[] = "blocks that are on an SM at a time, by what their launch asks for";
	struct part part[ASKED];
	double v[ASKED];
	unsigned n = 0, times[ASKED] = {0};
	const double whole = floor(size / BLOCKS / STEP) * STEP;
	const uint32_t small = resident(s, split, values, 100, STEP), most = resident(s, split, values, LEAST, whole);
	if (study_pending(s))
		return;
	if (small < BLOCKS || !most) {
		study_verdict(s, key, VERDICT_INCONCLUSIVE, evidence,
			      "how many blocks an SM has at a time is not known, or fewer than %d", BLOCKS);
		return;
	}
	if (most >= BLOCKS) {
		study_verdict(s, key, VERDICT_ABSENT, evidence,
			      "%d blocks of %.0f bytes are there at a time, also where their launch asks for the least",
			      BLOCKS, whole);
		return;
	}
	for (unsigned i = 0; i < ASKED; i++)
		part[i] = (struct part){i ? floor(100.0 * i / (ASKED - 1)) : LEAST, 0, whole + STEP};
	if (!find(s, split, values, part)) {
		if (!study_pending(s))
			study_verdict(s, key, VERDICT_INCONCLUSIVE, evidence,
				      "how many blocks an SM has at a time is not known under some launch");
		return;
	}
	bool falls = false, once = false;
	for (unsigned i = 0; i < ASKED; i++) {
		const double bytes = BLOCKS * part[i].ok;
		falls |= n && bytes < v[n - 1];
		if (!n || bytes > v[n - 1])
			v[n++] = bytes;
		times[n - 1]++;
	}
	/* A driver may have reasons of its own, such as what a launch before asked for. */
	for (unsigned k = 0; k < n; k++)
		once |= times[k] < AGAIN;
	if (falls || once || n < 2 || !(v[0] > 0))
		study_verdict(s, key, VERDICT_INCONCLUSIVE, evidence,
			      "what an SM has does not follow from what launches ask for: %u sizes of %d%s", n, ASKED,
			      once ? ", some of them once only" : "");
	else
		study_measured_array(s, key, v, n, "sm", how, evidence,
				     "%u sizes, of %d parts of %.0f bytes that launches asked for", n, ASKED, size);
}
