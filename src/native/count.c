/* Native instructions into regions, classes and a mix. Knows no encoding. */
#include "base/str.h"
#include "native/native.h"
#include <stdio.h>
#include <string.h>

/* More distinct names than any region of a microbenchmark has; beyond them a region still counts, its mix says "...". */
#define NAMES_MAX 96

struct tally {
	const char *name;
	uint32_t n;
};

static uint32_t tally_add(struct tally *t, uint32_t used, const char *name, bool *overflow)
{
	for (uint32_t i = 0; i < used; i++)
		if (!strcmp(t[i].name, name)) {
			t[i].n++;
			return used;
		}
	if (used == NAMES_MAX) {
		*overflow = true;
		return used;
	}
	t[used].name = name;
	t[used].n = 1;
	return used + 1;
}

/* Most frequent first; among equals the one met first, so that the same code always reads the same. */
static void tally_sort(struct tally *t, uint32_t n)
{
	for (uint32_t i = 1; i < n; i++) {
		struct tally x = t[i];
		uint32_t j = i;
		for (; j && t[j - 1].n < x.n; j--)
			t[j] = t[j - 1];
		t[j] = x;
	}
}

static void region_fill(struct native_region *r, const struct native_op *ops, size_t n)
{
	struct tally t[NAMES_MAX];
	uint32_t used = 0;
	bool overflow = false;

	memset(r, 0, sizeof *r);
	r->total = (uint32_t)n;
	for (size_t i = 0; i < n; i++) {
		r->count[ops[i].cls]++;
		used = tally_add(t, used, ops[i].name, &overflow);
	}
	tally_sort(t, used);
	r->top_count = used ? t[0].n : 0;
	size_t len = 0;
	for (uint32_t i = 0; i < used; i++) {
		char token[48];
		int k = snprintf(token, sizeof token, "%s%.32s*%u", len ? " " : "", t[i].name, t[i].n);
		/* Leave room for the ellipsis, so that a cut mix is never mistaken for a whole one. */
		if (k < 0 || len + (size_t)k + 5 > sizeof r->mix) {
			overflow = true;
			break;
		}
		memcpy(r->mix + len, token, (size_t)k);
		len += (size_t)k;
	}
	if (overflow)
		memcpy(r->mix + len, " ...", 4);
}

/* One more clock read, of which `reads` were met before. */
static void layout_add(struct native_layout *best, struct native_layout *now, uint32_t at, uint32_t last,
		       uint32_t reads)
{
	if (!reads || at <= last)
		return;
	if (now->reads && at - last == now->step) {
		now->reads++;
	} else {
		now->first = last;
		now->step = at - last;
		now->reads = 2;
	}
	if (now->reads > best->reads) {
		best->first = now->first;
		best->step = now->step;
		best->reads = now->reads;
	}
}

void native_count(struct native_info *out, const struct native_op *ops, size_t n, const char *source)
{
	uint64_t hash = 0;
	size_t last = 0;
	struct native_layout run = {0};

	memset(out, 0, sizeof *out);
	snprintf(out->source, sizeof out->source, "%s", source);
	out->instructions = (uint32_t)n;
	for (size_t i = 0; i < n; i++) {
		hash = hash64(ops[i].name, strlen(ops[i].name) + 1, hash + (uint64_t)ops[i].cls);
		if (ops[i].cls != NATIVE_CLOCK)
			continue;
		if (out->clock_reads && out->region_count < NATIVE_REGIONS)
			region_fill(&out->region[out->region_count++], ops + last + 1, i - last - 1);
		layout_add(&out->layout, &run, ops[i].address, ops[last].address, out->clock_reads);
		out->clock_reads++;
		last = i;
	}
	if (!out->clock_reads && n)
		region_fill(&out->region[out->region_count++], ops, n);
	out->fingerprint = n ? hash | (hash == 0) : 0;
}
