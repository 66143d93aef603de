/* The ways in which launches can divide an SM's memory between its L1 and shared memory. */
#include "limits.h"
#include <math.h>
#include <string.h>

enum {
	BLOCKS = 8, /* of so many none needs so much that the memory is divided otherwise for its sake */
	EACH = BLOCKS + 1,
	ASKED = 32, /* parts of the most shared memory that are asked for, from next to nothing on */
	LEAST = 1,  /* percent */
	STEP = 16   /* bytes */
};

static const char key[] = "shared.splits", evidence[] = "split";

/* Blocks of so many bytes that an SM has at a time if launches ask for so many percent. 0: not known yet. */
static uint32_t resident(struct study *s, unsigned split, unsigned values, double percent, double bytes)
{
	const double p[POINT_PARAMS] = {values, EACH, bytes};
	return limits_together(s, study_ask(s, split, percent, p));
}

struct part {
	double percent, ok, bad; /* bytes of a block of which eight are there, and of which fewer are */
	uint32_t there, fewer;	 /* how many of either */
};

static bool is_told(const struct part *p)
{
	return p->bad - p->ok <= STEP;
}

/* The parts to ask for next: both ends, then the middle between two that differ. Whoever asks for more gets no less, so those between two that are
 * equal are as well. Returns how many; 0: all are told. */
static unsigned choose(struct part *part, unsigned *which)
{
	unsigned n = 0, before = 0;

	for (unsigned i = 0; i < ASKED; i += ASKED - 1)
		if (!is_told(&part[i]))
			which[n++] = i;
	if (n)
		return n;
	for (unsigned i = 1; i < ASKED; i++) {
		if (!is_told(&part[i]))
			continue;
		for (unsigned k = before + 1; k < i && part[before].ok == part[i].ok; k++) {
			const double percent = part[k].percent;
			part[k] = part[i];
			part[k].percent = percent;
		}
		if (i > before + 1 && part[before].ok != part[i].ok)
			which[n++] = (before + i) / 2;
		before = i;
	}
	return n;
}

/* Halves between what fits and what does not, of all of them at once. False: points are missing, or what comes back is no answer. */
static bool narrow(struct study *s, unsigned split, unsigned values, struct part *part, const unsigned *which,
		   unsigned n)
{
	for (bool open = true; open;) {
		open = false;
		for (unsigned i = 0; i < n; i++) {
			struct part *r = &part[which[i]];
			const double bytes = r->ok + floor((r->bad - r->ok) / 2 / STEP) * STEP;
			if (is_told(r))
				continue;
			open = true;
			const uint32_t there = resident(s, split, values, r->percent, bytes);
			if (!there && !study_pending(s))
				return false;
			if (there >= BLOCKS) {
				r->ok = bytes;
				r->there = there;
			} else if (there) {
				r->bad = bytes;
				r->fewer = there;
			}
		}
		if (study_pending(s))
			return false;
	}
	return true;
}

static bool find(struct study *s, unsigned split, unsigned values, struct part *part)
{
	unsigned which[ASKED], n;

	while ((n = choose(part, which)))
		if (!narrow(s, split, values, part, which, n))
			return false;
	return true;
}

/* Bytes that blocks get at a time: a power of two, of which the sizes that just fit are multiples. */
static double piece_of(const struct part *part)
{
	uint64_t all = 0;
	for (unsigned i = 0; i < ASKED; i++)
		all |= (uint64_t)part[i].ok;
	return (double)(all & (~all + 1));
}

/* Whether blocks of a piece more are fewer because what they had is full. A driver may go by how many blocks of a size
 * make up what is asked for. It gives blocks of another size another division, so that what they have changes, too. */
static bool is_full(const struct part *p, double piece)
{
	return p->ok > 0 && (!p->fewer || p->there * p->ok < (p->fewer + 1) * (p->ok + piece));
}

void splits_study(struct study *s, unsigned split, unsigned values, double size)
{
	static const char how[] = "blocks that are on an SM at a time, by what their launch asks for";
	struct part part[ASKED];
	double v[ASKED];
	unsigned n = 0;
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
		part[i] = (struct part){.percent = i ? floor(100.0 * i / (ASKED - 1)) : LEAST, .bad = whole + STEP};
	if (!find(s, split, values, part)) {
		if (!study_pending(s))
			study_verdict(s, key, VERDICT_INCONCLUSIVE, evidence,
				      "how many blocks an SM has at a time is not known under some launch");
		return;
	}
	const double piece = piece_of(part);
	bool falls = false;
	for (unsigned i = 0; i < ASKED; i++) {
		const double bytes = BLOCKS * part[i].ok;
		if (!is_full(&part[i], piece))
			continue;
		falls |= n && bytes < v[n - 1];
		if (!n || bytes > v[n - 1])
			v[n++] = bytes;
	}
	if (falls || n < 2)
		study_verdict(s, key, VERDICT_INCONCLUSIVE, evidence,
			      "what an SM has does not follow from what launches ask for: %u sizes of %d", n, ASKED);
	else
		study_measured_array(s, key, v, n, "sm", how, evidence,
				     "%u sizes, of %d parts of %.0f bytes that launches asked for", n, ASKED, size);
}
