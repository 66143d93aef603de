/* Which lines share a set, if only a few of them are ever replaced.
 *
 * A cache may choose victims so that a launch misses the same part of a set of hundreds of lines again and again. Each
 * launch misses another part. No count of misses shows the whole set. All lines that miss agree in the number of their
 * set, however, which is made of parities. Each bit of that number says whether an odd number of certain address bits
 * is set. */
#include "base/arena.h"
#include "probe/chase_fit.h"
#include <math.h>
#include <string.h>

enum {
	LINES = 8,	/* that miss in a run, without which it says nothing */
	SURELY = 24,	/* more lines than an address has bits: so rarely do lines of all sets seem to agree */
	BITS_MOST = 13, /* of a line's number */
	LINE_LONGEST = 4096
};
#define STRAY	 0.05 /* of the lines that miss: they are of other sets, where something else was for a while */
#define COMPLETE 0.7  /* of the lines that miss, all parts do: at the beginning and the end of a run they are cut */
/* Two runs miss lines of one set, each as many as it likes. If a run is as likely to miss one line of the set as
 * another, two runs have this many in common. The first limit is for all pairs of runs together, the second for a
 * single pair that expects enough of them. */
#define COMMON_LEAST  50
#define COMMON_PAIR   20
#define COMMON_ALL    0.3
#define COMMON_ONE    0.5
#define COMMON_CHANCE 4 /* standard deviations: there are many pairs */

/* Parities that the lines of a set agree in with the line too many: of the bits of each mask. */
struct parities {
	uint32_t mask[BITS_MOST];
	unsigned count, bits;
};

static bool odd(uint32_t v)
{
	v ^= v >> 16;
	v ^= v >> 8;
	v ^= v >> 4;
	return 0x6996 >> (v & 15) & 1;
}

/* apart: a line's number, each bit of it against that of the line too many. */
static bool in_set(const struct parities *s, uint32_t apart)
{
	for (unsigned i = 0; i < s->count; i++)
		if (odd(apart & s->mask[i]))
			return false;
	return true;
}

/* Takes off v what the masks before say already. */
static uint32_t reduced(const struct parities *s, uint32_t v)
{
	for (unsigned i = 0; i < s->count; i++)
		v = (v ^ s->mask[i]) < v ? v ^ s->mask[i] : v;
	return v;
}

/* Masks in which nearly all of n lines agree. */
static struct parities agreed(const uint32_t *apart, uint32_t n, unsigned bits)
{
	struct parities s = {.bits = bits};
	for (uint32_t mask = 1; mask < 1u << bits && s.count < bits; mask++) {
		uint32_t others = 0;
		for (uint32_t i = 0; i < n && others <= STRAY * n; i++)
			others += odd(apart[i] & mask);
		if (others > STRAY * n)
			continue;
		const uint32_t left = reduced(&s, mask);
		if (left)
			s.mask[s.count++] = left;
	}
	return s;
}

/* Blocks that missed in the later half of the laps of a run. False: too few laps, or out of memory. */
static bool late_misses(struct arena *a, const struct chase_ring_spec *ring, const struct chase_run *r, uint64_t unit,
			uint32_t blocks, bool *missed)
{
	const double *p = r->point->p;
	const uint32_t laps = r->covered / r->elements;
	const uint64_t *at = chase_ring(a, (double)ring->bytes, p);
	if (!at || laps < CHASE_PARITY_LAPS)
		return false;
	memset(missed, 0, blocks * sizeof(*missed));
	for (uint32_t i = 0; i < r->kept; i++) {
		const uint32_t index = chase_index(r->record[i]), e = chase_at(p, r->elements, index);
		if (index / r->elements >= laps / 2 && at[e] != ring->extra)
			missed[(at[e] - ring->start) / unit] = true;
	}
	return true;
}

/* Of groups of `parts` blocks of which one missed, those that missed altogether; and how many groups there are. */
static double complete(const bool *missed, uint32_t blocks, uint32_t parts, uint32_t *groups)
{
	uint32_t whole = 0;
	for (uint32_t i = 0; i + parts <= blocks; i += parts) {
		uint32_t n = 0;
		for (uint32_t k = 0; k < parts; k++)
			n += missed[i + k];
		*groups += n > 0;
		whole += n == parts;
	}
	return whole;
}

/* The most blocks that miss together: those of a line. */
static uint32_t parts_of_line(bool *const *missed, unsigned runs, uint32_t blocks, uint64_t unit)
{
	uint32_t parts = 1;
	for (uint32_t p = 2; p * unit <= LINE_LONGEST && blocks % p == 0; p *= 2) {
		double whole = 0;
		uint32_t groups = 0;
		for (unsigned i = 0; i < runs; i++)
			whole += complete(missed[i], blocks, p, &groups);
		if (whole >= COMPLETE * groups)
			parts = p;
	}
	return parts;
}

/* missed: by blocks; becomes so by lines. Returns how many lines. */
static uint32_t by_lines(bool *missed, uint32_t blocks, uint32_t parts)
{
	uint32_t n = 0;
	for (uint32_t i = 0; i < blocks / parts; i++) {
		bool any = false;
		for (uint32_t k = 0; k < parts; k++)
			any = any || missed[i * parts + k];
		missed[i] = any;
		n += any;
	}
	return n;
}

/* Whether the runs' lines are drawn from all of `set` lines alike. Of a smaller set each run would miss more of the same, or none. */
static bool drawn_from_all(bool *const *missed, const uint32_t *count, unsigned runs, uint32_t lines, double set)
{
	double expected = 0, common = 0;
	for (unsigned i = 0; i < runs; i++)
		for (unsigned k = 0; k < i; k++) {
			const double e = (double)count[i] * count[k] / set;
			double both = 0;
			for (uint32_t q = 0; q < lines; q++)
				both += missed[i][q] && missed[k][q];
			if (e >= COMMON_PAIR && fabs(both - e) > fmax(COMMON_ONE * e, COMMON_CHANCE * sqrt(e)))
				return false;
			expected += e;
			common += both;
		}
	return expected >= COMMON_LEAST && fabs(common - expected) <= COMMON_ALL * expected;
}

bool chase_parity(struct arena *a, const struct chase_ring_spec *ring, uint64_t unit, const struct chase_run *run,
		  unsigned runs, bool *hot)
{
	const uint32_t blocks = (uint32_t)((ring->bytes + unit - 1) / unit);
	bool *missed[CHASE_PARITY_RUNS];
	uint32_t count[CHASE_PARITY_RUNS], lines_seen = 0;
	unsigned n = 0;

	if (!ring->extra || ring->bytes % unit)
		return false;
	for (unsigned i = 0; i < runs && n < CHASE_PARITY_RUNS; i++) {
		missed[n] = ARENA_ARRAY(a, blocks, bool);
		if (!missed[n])
			return false;
		n += late_misses(a, ring, &run[i], unit, blocks, missed[n]);
	}
	const uint32_t parts = parts_of_line(missed, n, blocks, unit), lines = blocks / parts;
	const uint64_t line = parts * unit, extra = ring->extra / line;
	if (!n || blocks % parts || ring->start % line)
		return false;
	unsigned bits = 0;
	while (bits <= BITS_MOST && (extra | (ring->start / line + lines - 1)) >> bits)
		bits++;
	uint32_t *apart = ARENA_ARRAY(a, (size_t)lines * CHASE_PARITY_RUNS, uint32_t), all = 0;
	bool *ever = ARENA_ARRAY(a, lines, bool);
	if (!apart || !ever || bits > BITS_MOST)
		return false;
	unsigned kept = 0;
	for (unsigned i = 0; i < n; i++) {
		if (by_lines(missed[i], blocks, parts) < LINES)
			continue;
		missed[kept] = missed[i];
		for (uint32_t q = 0; q < lines; q++)
			if (missed[kept][q]) {
				apart[all++] = (uint32_t)((ring->start / line + q) ^ extra);
				lines_seen += !ever[q];
				ever[q] = true;
			}
		kept++;
	}
	const struct parities set = agreed(apart, all, bits);
	if (!set.count || lines_seen < bits + SURELY)
		return false;
	uint32_t members = 0;
	for (uint32_t q = 0; q < lines; q++)
		members += ever[q] = in_set(&set, (uint32_t)((ring->start / line + q) ^ extra));
	for (unsigned i = 0; i < kept; i++) {
		count[i] = 0;
		for (uint32_t q = 0; q < lines; q++)
			count[i] += missed[i][q] = missed[i][q] && ever[q];
	}
	/* What just fits fills every set. */
	if ((uint64_t)members << set.count != lines || !drawn_from_all(missed, count, kept, lines, members))
		return false;
	for (uint32_t i = 0; i < blocks; i++)
		hot[i] = ever[i / parts];
	return true;
}
