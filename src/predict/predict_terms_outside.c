/* Parameters of runs without a clock in the kernel: whole pipelines' findings, told from run times, stand for operations'. */
#include "predict/predict_impl.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

static bool told(const struct finding *f)
{
	return f && (finding_estimated(f) || f->verdict == VERDICT_BOUND);
}

bool outside_only(const struct terms *t)
{
	for (size_t k = 0; k < t->f->count; k++)
		if (strncmp(t->f->items[k].key, "arith.", 6) == 0 && told(&t->f->items[k]))
			return false;
	return true;
}

static bool named(const char *stem, const char *const *names, size_t n)
{
	for (size_t k = 0; k < n; k++) {
		const size_t length = strlen(names[k]);
		if (strncmp(stem, names[k], length) == 0 && stem[length] == '.')
			return true;
	}
	return false;
}

/* The class of computations that an operation belongs to; NULL: to none. */
static const char *class_named(const char *stem)
{
	static const char *const fused[] = {"fma", "mad"}, *const special[] = {"ex2",	"lg2", "sin", "cos",
									       "rsqrt", "rcp", "sqrt"},
				 *const slow[] = {"div", "rem", "divapprox"};
	const char *type = strchr(stem, '.');
	if (!type || named(stem, slow, sizeof slow / sizeof *slow))
		return NULL;
	if (strcmp(type, ".f64") == 0)
		return named(stem, special, sizeof special / sizeof *special) ? NULL : "dp";
	if (strcmp(type, ".f32") == 0)
		return named(stem, special, sizeof special / sizeof *special) ? "sf"
		       : named(stem, fused, sizeof fused / sizeof *fused)     ? "mad"
									      : "sp";
	return strcmp(type, ".u32") == 0 || strcmp(type, ".s32") == 0 || strcmp(type, ".b32") == 0 ? "int" : NULL;
}

static const char *key_of(char *key, size_t n, const char *stem, const char *what)
{
	const char *class = class_named(stem);
	if (!class)
		return NULL;
	snprintf(key, n, "pipeline.%s.%s", class, what);
	return key;
}

bool outside_known(const struct terms *t, const char *stem)
{
	char key[96];
	return key_of(key, sizeof key, stem, "ilp1.completion") && told(findings_get(t->f, key));
}

struct term outside_latency(struct terms *t, const char *stem)
{
	char key[96];
	return key_of(key, sizeof key, stem, "ilp1.completion") ? term_try(t, key, false)
								: (struct term){.there = false};
}

struct term outside_issue(struct terms *t, const char *stem)
{
	char key[96];
	return key_of(key, sizeof key, stem, "ilp4.issue") ? term_try(t, key, false) : (struct term){.there = false};
}

double outside_least_issue(const struct terms *t)
{
	double least = INFINITY;
	for (size_t k = 0; k < t->f->count; k++) {
		const struct finding *f = &t->f->items[k];
		const size_t n = strlen(f->key);
		if (strncmp(f->key, "pipeline.", 9) == 0 && n > 6 && strcmp(f->key + n - 6, ".issue") == 0 &&
		    finding_estimated(f) && f->value.kind == VALUE_NUMBER && f->value.number > 0)
			least = fmin(least, f->value.number);
	}
	return least;
}

struct term outside_bandwidth(struct terms *t, const struct term *clock_hz)
{
	struct term v = term_try(t, "memory.global.16.bandwidth", true);
	if (!v.there || !clock_hz->there || !(clock_hz->value > 0))
		return (struct term){.there = false};
	const double per_clock = 1e9 / clock_hz->value; /* GB/s */
	return (struct term){true, v.value * per_clock, v.fast * per_clock, v.slow * per_clock};
}
