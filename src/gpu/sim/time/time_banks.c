/* A bank gives one row of its memory at a time. An access therefore takes as many passes as its most wanted bank has
 * rows wanted. The mode decides which bank a byte lies in. If banks are 8 bytes wide and follow each other every 4, a
 * row holds the words i and i + banks (Kepler's 4-byte mode). Otherwise a row is one word. */
#include "gpu/sim/time/time_banks.h"
#include "gpu/sim/func/func_lanes.h"

#define LANES 32
#define ITEMS (LANES * 16) /* words of all lanes: 16 bytes each in banks of one */

void banks_init(struct time_banks *b, const struct sim_spec *s, uint32_t mode)
{
	uint32_t width = s->shared_bank_width ? s->shared_bank_width : 4;
	*b = (struct time_banks){.banks = s->shared_banks ? s->shared_banks : 1,
				 .lanes = s->shared_lanes ? s->shared_lanes : LANES,
				 .mode = mode && width % mode == 0 ? mode
					 : s->shared_bank_mode	   ? s->shared_bank_mode
								   : width,
				 .one_word = s->shared_broadcast == BROADCAST_ONE};
	b->bytes = b->banks * width;
	b->shifts = !(b->banks & (b->banks - 1)) && !(b->mode & (b->mode - 1)) && !(width & (width - 1));
	if (b->shifts) {
		b->mode_shift = (uint8_t)__builtin_ctz(b->mode);
		b->row_shift = (uint8_t)__builtin_ctz(b->bytes);
	}
}

struct item {
	uint64_t row;
	uint32_t bank;
};

static struct item item_of(const struct time_banks *b, uint64_t address)
{
	if (b->shifts)
		return (struct item){address >> b->row_shift, (uint32_t)(address >> b->mode_shift) & (b->banks - 1)};
	return (struct item){address / b->bytes, (uint32_t)(address / b->mode % b->banks)};
}

/* The distinct rows that each bank is asked for. */
struct tally {
	uint64_t used[BANKS_MAX / 64];	       /* banks that were asked at all: the rest of the table is not set */
	uint64_t lo[BANKS_MAX], hi[BANKS_MAX]; /* rows of the bank lie within */
	uint16_t count[BANKS_MAX], last[BANKS_MAX];
	uint16_t before[ITEMS + 1]; /* the row of the same bank that was noted before this one, 0 = none */
	uint64_t row[ITEMS + 1];
	uint32_t rows, most;
	bool repeated; /* some row was asked for twice */
};

/* Rows mostly rise or fall along the lanes, so the bounds of what is noted answer without looking through it. */
static void note(struct tally *t, struct item i)
{
	uint64_t bit = 1ull << i.bank % 64;
	if (!(t->used[i.bank / 64] & bit)) {
		t->used[i.bank / 64] |= bit;
		t->lo[i.bank] = t->hi[i.bank] = i.row;
		t->count[i.bank] = t->last[i.bank] = 0;
	} else if (i.row > t->hi[i.bank]) {
		t->hi[i.bank] = i.row;
	} else if (i.row < t->lo[i.bank]) {
		t->lo[i.bank] = i.row;
	} else {
		for (uint16_t k = t->last[i.bank]; k; k = t->before[k])
			if (t->row[k] == i.row) {
				t->repeated = true;
				return;
			}
	}
	uint16_t n = (uint16_t)++t->rows;
	t->row[n] = i.row;
	t->before[n] = t->last[i.bank];
	t->last[i.bank] = n;
	if (++t->count[i.bank] > t->most)
		t->most = t->count[i.bank];
}

/* The old parts' rule. In each pass the word of the first waiting lane goes to all that want it, and each other bank
 * serves one lane. */
static uint32_t passes_one_word(const struct item *item, uint32_t n)
{
	bool served[ITEMS] = {false};
	uint32_t passes = 0, first = 0;
	while (first < n) {
		uint64_t busy[BANKS_MAX / 64] = {0};
		struct item all = item[first];
		passes++;
		busy[all.bank / 64] |= 1ull << all.bank % 64;
		for (uint32_t k = first; k < n; k++) {
			uint64_t *word = &busy[item[k].bank / 64], bit = 1ull << item[k].bank % 64;
			if (served[k])
				continue;
			if (item[k].bank == all.bank ? item[k].row != all.row : (*word & bit) != 0)
				continue;
			*word |= bit;
			served[k] = true;
		}
		while (first < n && served[first])
			first++;
	}
	return passes;
}

/* Whether all that is asked for lies in words that follow each other, no more than there are banks. Each bank then has
 * one of them. */
static bool follow(const struct time_banks *b, const uint64_t *address, uint32_t lanes, uint32_t words)
{
	uint64_t least, extent = func_lanes_extent(address, lanes, &least);
	return b->shifts && (least & (b->mode - 1)) + extent + (uint64_t)words * b->mode <= (uint64_t)b->banks
												<< b->mode_shift;
}

/* Whether one pass does where it gives one word to many: that word is the only one asked for. Or each lane, of no more than there are banks,
 * wants a word of its own behind that of the lane before it. */
static bool one_or_each(const struct time_banks *b, const uint64_t *address, uint32_t lanes)
{
	struct func_spread s = {.bytes = b->mode};
	if (!b->shifts)
		return false;
	func_lanes(address, lanes, &s);
	return !(s.apart >> b->mode_shift) || !s.skew;
}

static uint32_t group_extra(const struct time_banks *b, const uint64_t *address, uint32_t lanes, uint32_t words)
{
	if (!lanes || (b->one_word ? one_or_each(b, address, lanes) : follow(b, address, lanes, words)))
		return 0;
	struct item item[ITEMS];
	struct tally t; /* not cleared whole: it is larger than what one access looks at */
	uint32_t n = 0;
	for (uint32_t k = 0; k < BANKS_MAX / 64; k++)
		t.used[k] = 0;
	t.rows = t.most = 0;
	t.repeated = false;
	for (uint32_t rest = lanes; rest; rest &= rest - 1) {
		uint64_t a = address[__builtin_ctz(rest)];
		for (uint32_t k = 0; k < words; k++) {
			struct item i = item_of(b, a + (uint64_t)k * b->mode);
			note(&t, i);
			if (b->one_word)
				item[n++] = i;
		}
	}
	if (b->one_word && t.repeated)
		return passes_one_word(item, n) - 1;
	return t.most ? t.most - 1 : 0;
}

/* The old parts know accesses of one word only. A wider one is one of each of its words, one after another (CUDA
 * Programming Guide 3, G.3.3.4). */
static uint32_t word_by_word(const struct time_banks *b, const uint64_t *address, uint32_t mask, uint32_t words)
{
	uint32_t extra = 0;
	for (uint32_t k = 0; k < words; k++) {
		uint64_t word[LANES];
		for (uint32_t rest = mask; rest; rest &= rest - 1)
			word[__builtin_ctz(rest)] = address[__builtin_ctz(rest)] + (uint64_t)k * b->mode;
		extra += banks_extra(b, word, mask, b->mode);
	}
	return extra;
}

uint32_t banks_extra(const struct time_banks *b, const uint64_t *address, uint32_t mask, uint32_t bytes)
{
	uint32_t words = bytes > b->mode ? bytes / b->mode : 1, group = bytes ? b->bytes / bytes : b->banks, extra = 0;
	group = group > b->banks ? b->banks : group;
	group = group > b->lanes ? b->lanes : group;
	group = group ? group : 1;
	words = words > ITEMS / LANES ? ITEMS / LANES : words;
	if (b->one_word && words > 1)
		return word_by_word(b, address, mask, words);
	if (group >= LANES)
		return group_extra(b, address, mask, words);
	for (uint32_t first = 0; first < LANES; first += group) {
		uint32_t lanes = mask & ((1u << group) - 1) << first;
		if (lanes & (lanes - 1) || words > 1)
			extra += group_extra(b, address, lanes, words);
	}
	return extra;
}
