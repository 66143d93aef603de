#include "data/fleet.h"
#include "data/run_compare.h"
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SPREAD_OF_MAD 1.4826 /* of a normal distribution, the standard deviation */

static int by_number(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double median(double *v, size_t n)
{
	qsort(v, n, sizeof(*v), by_number);
	return n % 2 ? v[n / 2] : (v[n / 2 - 1] + v[n / 2]) / 2;
}

static bool is_decided(const struct finding *f)
{
	return f && (f->verdict == VERDICT_MEASURED || f->verdict == VERDICT_ABSENT);
}

static bool is_number(const struct finding *f)
{
	return f->verdict == VERDICT_MEASURED && f->value.kind == VALUE_NUMBER;
}

/* ---- models ---- */

static void group_all(struct fleet *f)
{
	for (size_t i = 0; i < f->card_count; i++) {
		const char *gpu = f->card[i].run->device.name;
		size_t g = 0;

		while (g < f->group_count && strcmp(f->group[g].gpu, gpu) != 0)
			g++;
		if (g == f->group_count)
			f->group[f->group_count++] = (struct fleet_group){.gpu = gpu};
		f->group[g].cards++;
		f->card[i].group = g;
	}
}

/* ---- one key of one model ---- */

struct key_of { /* the key's findings: `n` of them, of which cards */
	const struct finding **of;
	size_t *card, n;
	double *number; /* scratch, of as many */
};

static int lies_apart(struct fleet *f, struct arena *a, size_t card, const struct finding *finding, double spreads)
{
	if (f->outlier_count == f->outlier_cap) {
		const size_t cap = f->outlier_cap ? 2 * f->outlier_cap : 16;
		struct fleet_outlier *more = ARENA_ARRAY(a, cap, struct fleet_outlier);

		if (!more)
			return -ENOMEM;
		if (f->outlier_count)
			memcpy(more, f->outlier, f->outlier_count * sizeof(*more));
		f->outlier = more;
		f->outlier_cap = cap;
	}
	f->outlier[f->outlier_count++] = (struct fleet_outlier){f->row_count, card, finding, spreads};
	f->card[card].apart++;
	f->group[f->card[card].group].outliers++;
	return 0;
}

/* Median and spread of those that are numbers. */
static void centre(struct fleet_row *r, const struct key_of *k)
{
	size_t n = 0;

	for (size_t i = 0; i < k->n; i++)
		if (is_number(k->of[i]))
			k->number[n++] = k->of[i]->value.number;
	r->median = median(k->number, n);
	for (size_t i = 0; i < n; i++)
		k->number[i] = fabs(k->number[i] - r->median);
	r->mad = median(k->number, n);
	for (size_t i = 0; i < k->n; i++)
		if (is_number(k->of[i]) &&
		    (!r->like || fabs(k->of[i]->value.number - r->median) < fabs(r->like->value.number - r->median)))
			r->like = k->of[i];
}

static int judge_numbers(struct fleet *f, struct arena *a, const struct fleet_row *r, const struct key_of *k)
{
	struct finding typical = *r->like;
	int rc = 0;

	typical.value.number = typical.lo = typical.hi = r->median;
	for (size_t i = 0; i < k->n && !rc; i++) {
		const struct finding *x = k->of[i];
		const double off = is_number(x) ? fabs(x->value.number - r->median) : INFINITY,
			     spread = SPREAD_OF_MAD * r->mad;

		if (compare_findings(x, &typical) == COMPARE_CONTRADICT && off > FLEET_SPREADS * spread &&
		    (compare_is_whole(x) || off > FLEET_SHARE * fabs(r->median)))
			rc = lies_apart(f, a, k->card[i], x, spread > 0 ? off / spread : INFINITY);
	}
	return rc;
}

/* What more than half of them say: names, lists, and that there is no such thing. */
static int judge_words(struct fleet *f, struct arena *a, struct fleet_row *r, const struct key_of *k)
{
	int rc = 0;

	for (size_t i = 0; i < k->n && !r->like; i++) {
		size_t alike = 0;

		for (size_t j = 0; j < k->n; j++)
			alike += compare_findings(k->of[i], k->of[j]) == COMPARE_AGREE;
		r->like = 2 * alike > k->n ? k->of[i] : NULL;
	}
	for (size_t i = 0; i < k->n && r->like && !rc; i++)
		if (compare_findings(k->of[i], r->like) == COMPARE_CONTRADICT)
			rc = lies_apart(f, a, k->card[i], k->of[i], INFINITY);
	return rc;
}

static int judge_key(struct fleet *f, struct arena *a, size_t group, const char *key, struct key_of *k)
{
	struct fleet_row *r = &f->row[f->row_count];
	size_t numbers = 0;

	k->n = 0;
	for (size_t i = 0; i < f->card_count; i++) {
		const struct finding *x =
		    f->card[i].group == group ? findings_get(&f->card[i].run->findings, key) : NULL;

		if (!is_decided(x))
			continue;
		numbers += is_number(x);
		k->card[k->n] = i;
		k->of[k->n++] = x;
	}
	if (k->n < FLEET_LEAST)
		return 0;
	*r = (struct fleet_row){.key = key, .group = group, .decided = k->n, .is_number = 2 * numbers > k->n};
	if (r->is_number)
		centre(r, k);
	const int rc = r->is_number ? judge_numbers(f, a, r, k) : judge_words(f, a, r, k);
	if (r->like) {
		f->group[group].rows++;
		f->row_count++;
	}
	return rc;
}

/* ---- all ---- */

static int by_text(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Every key once, in order. NULL: out of memory. */
static const char **keys_of(struct arena *a, const struct run *const *runs, size_t n, size_t *count)
{
	size_t all = 0;

	for (size_t i = 0; i < n; i++)
		all += runs[i]->findings.count;
	const char **key = ARENA_ARRAY(a, all + 1, const char *);
	*count = 0;
	if (!key)
		return NULL;
	all = 0;
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < runs[i]->findings.count; k++)
			key[all++] = runs[i]->findings.items[k].key;
	qsort(key, all, sizeof(*key), by_text);
	for (size_t i = 0; i < all; i++)
		if (!*count || strcmp(key[*count - 1], key[i]) != 0)
			key[(*count)++] = key[i];
	return key;
}

int fleet_judge(struct fleet *f, struct arena *a, const struct run *const *runs, const char *const *names, size_t n)
{
	size_t keys;
	const char **key = keys_of(a, runs, n, &keys);
	struct key_of k = {.of = ARENA_ARRAY(a, n, const struct finding *),
			   .card = ARENA_ARRAY(a, n, size_t),
			   .number = ARENA_ARRAY(a, n, double)};
	int rc = 0;

	*f = (struct fleet){.card = ARENA_ARRAY(a, n, struct fleet_card),
			    .card_count = n,
			    .group = ARENA_ARRAY(a, n, struct fleet_group)};
	if (!key || !k.of || !k.card || !k.number || !f->card || !f->group)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		f->card[i] = (struct fleet_card){.run = runs[i], .name = names[i]};
	group_all(f);
	f->row = ARENA_ARRAY(a, keys * f->group_count + 1, struct fleet_row);
	if (!f->row)
		return -ENOMEM;
	for (size_t g = 0; g < f->group_count; g++)
		for (size_t i = 0; i < keys && !rc; i++)
			rc = judge_key(f, a, g, key[i], &k);
	return rc;
}
