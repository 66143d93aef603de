/* How a study's conclusions become findings. */
#include "base/str.h"
#include "data/keys.h"
#include "probe/study.h"
#include <assert.h>
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

bool probe_claims(const struct probe *p, const char *key)
{
	for (size_t i = 0; p->claims[i]; i++) {
		if (str_glob(p->claims[i], key))
			return true;
	}
	return false;
}

/* An empty finding with the key's unit. */
static struct finding begin(const char *key, enum verdict v)
{
	const struct key_family *family = key_family(key);
	struct finding f = {.verdict = v, .lo = NAN, .hi = NAN};

	assert(family && "no such key: add its family to keys.def");
	assert(strlen(key) < sizeof(f.key));
	snprintf(f.key, sizeof(f.key), "%s", key);
	snprintf(f.unit, sizeof(f.unit), "%s", family ? family->unit : "");
	return f;
}

/* evidence: one place, or several with commas between. */
static void add_evidence(struct finding *f, const char *evidence)
{
	while (evidence && *evidence) {
		size_t n = strcspn(evidence, ",");
		if (n && f->evidence_count < FINDING_EVIDENCE)
			snprintf(f->evidence[f->evidence_count++], sizeof(f->evidence[0]), "%.*s", (int)n, evidence);
		evidence += n;
		evidence += strspn(evidence, ", ");
	}
}

__attribute__((format(printf, 2, 0))) static void add_because(struct finding *f, const char *fmt, va_list ap)
{
	if (fmt)
		vsnprintf(f->because, sizeof(f->because), fmt, ap);
}

void study_conclude(struct study *s, const struct finding *f)
{
	struct finding copy = *f;

	if (s->no_memory)
		return;
	snprintf(copy.probe, sizeof(copy.probe), "%s", s->probe->name);
	if (!copy.unit[0] && key_family(copy.key))
		snprintf(copy.unit, sizeof(copy.unit), "%s", key_family(copy.key)->unit);
	bool claimed = probe_claims(s->probe, copy.key);
	assert(claimed && "a probe concludes only what it claims");
	if (!claimed) {
		copy.verdict = VERDICT_FAILED;
		copy.value = (struct value){0};
		snprintf(copy.because, sizeof(copy.because), "the probe %s does not claim this key", s->probe->name);
	}
	if (findings_add(&s->concluded, &copy))
		s->no_memory = true;
}

void study_note(struct study *s, const char *key, unsigned notes)
{
	for (size_t i = 0; i < s->concluded.count; i++)
		if (strcmp(s->concluded.items[i].key, key) == 0)
			s->concluded.items[i].notes |= notes;
}

void study_second(struct study *s, const char *key, const struct finding_rival *rival)
{
	for (size_t i = 0; i < s->concluded.count; i++)
		if (strcmp(s->concluded.items[i].key, key) == 0)
			s->concluded.items[i].rival = *rival;
}

struct finding study_measured(const char *key, double value, double lo, double hi, const char *method)
{
	struct finding f = begin(key, VERDICT_MEASURED);

	f.value = (struct value){.kind = VALUE_NUMBER, .number = value};
	f.lo = lo;
	f.hi = hi;
	snprintf(f.method, sizeof(f.method), "%s", method);
	return f;
}

static void conclude_number(struct study *s, struct finding f, const char *scope, const char *evidence, const char *fmt,
			    va_list ap)
{
	add_because(&f, fmt, ap);
	if (scope)
		snprintf(f.scope, sizeof(f.scope), "%s", scope);
	add_evidence(&f, evidence);
	study_conclude(s, &f);
}

void study_measured_number(struct study *s, const char *key, double value, double lo, double hi, const char *scope,
			   const char *method, const char *evidence, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	conclude_number(s, study_measured(key, value, lo, hi, method), scope, evidence, fmt, ap);
	va_end(ap);
}

void study_measured_array(struct study *s, const char *key, const double *v, unsigned n, const char *scope,
			  const char *method, const char *evidence, const char *fmt, ...)
{
	struct finding f = study_measured(key, 0, NAN, NAN, method);
	va_list ap;

	assert(n <= VALUE_ARRAY_MAX);
	f.value.kind = VALUE_ARRAY;
	f.value.array_count = n;
	memcpy(f.value.array, v, n * sizeof(*v));
	va_start(ap, fmt);
	conclude_number(s, f, scope, evidence, fmt, ap);
	va_end(ap);
}

void study_likely_number(struct study *s, const char *key, double value, double lo, double hi, const char *scope,
			 const char *method, const char *evidence, const char *fmt, ...)
{
	struct finding f = study_measured(key, value, lo, hi, method);
	va_list ap;

	f.verdict = VERDICT_LIKELY;
	va_start(ap, fmt);
	conclude_number(s, f, scope, evidence, fmt, ap);
	va_end(ap);
}

void study_between(struct study *s, const char *key, double value, double lo, double hi, const char *scope,
		   const char *method, const char *evidence, const char *fmt, ...)
{
	struct finding f = study_measured(key, value, lo, hi, method);
	va_list ap;

	f.verdict = VERDICT_LIKELY;
	if (!(lo > 0 && hi - lo <= STUDY_LIKELY_WIDEST * value))
		f = begin(key, VERDICT_INCONCLUSIVE);
	va_start(ap, fmt);
	conclude_number(s, f, f.verdict == VERDICT_LIKELY ? scope : NULL, evidence, fmt, ap);
	va_end(ap);
}

void study_verdict(struct study *s, const char *key, enum verdict v, const char *evidence, const char *fmt, ...)
{
	struct finding f = begin(key, v);
	va_list ap;

	assert(v != VERDICT_MEASURED && v != VERDICT_LIKELY && v != VERDICT_BOUND); /* those have values */
	va_start(ap, fmt);
	add_because(&f, fmt, ap);
	va_end(ap);
	add_evidence(&f, evidence);
	study_conclude(s, &f);
}

/* One end is known and the other one open; with neither, fmt says why nothing is known. */
static void conclude_bound(struct study *s, const char *key, double lo, double hi, const char *method,
			   const char *evidence, const char *fmt, va_list ap)
{
	const bool known = isfinite(lo) != isfinite(hi);
	struct finding f = begin(key, known ? VERDICT_BOUND : VERDICT_INCONCLUSIVE);

	add_because(&f, fmt, ap);
	if (known) {
		f.lo = lo;
		f.hi = hi;
		f.value = (struct value){.kind = VALUE_NUMBER, .number = isfinite(lo) ? lo : hi};
		snprintf(f.method, sizeof(f.method), "%s", method);
	}
	add_evidence(&f, evidence);
	study_conclude(s, &f);
}

void study_bound(struct study *s, const char *key, double lo, double hi, const char *method, const char *evidence,
		 const char *fmt, ...)
{
	va_list ap;

	assert(isfinite(lo) != isfinite(hi));
	va_start(ap, fmt);
	conclude_bound(s, key, lo, hi, method, evidence, fmt, ap);
	va_end(ap);
}

void study_at_least(struct study *s, const char *key, unsigned least, const char *method, const char *evidence,
		    const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	conclude_bound(s, key, least ? least : -INFINITY, INFINITY, method, evidence, fmt, ap);
	va_end(ap);
}

static void conclude_text(struct study *s, struct finding f, const char *text, const char *method, const char *evidence,
			  const char *fmt, va_list ap)
{
	add_because(&f, fmt, ap);
	f.value.kind = VALUE_TEXT;
	assert(strlen(text) < sizeof(f.value.text));
	snprintf(f.value.text, sizeof(f.value.text), "%s", text);
	snprintf(f.method, sizeof(f.method), "%s", method);
	add_evidence(&f, evidence);
	study_conclude(s, &f);
}

void study_text(struct study *s, const char *key, const char *text, const char *method, const char *evidence,
		const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	conclude_text(s, begin(key, VERDICT_MEASURED), text, method, evidence, fmt, ap);
	va_end(ap);
}

void study_likely_text(struct study *s, const char *key, const char *text, const char *method, const char *evidence,
		       const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	conclude_text(s, begin(key, VERDICT_LIKELY), text, method, evidence, fmt, ap);
	va_end(ap);
}

/* Some point was timed without anybody having seen the code that ran. */
static bool native_unseen(const struct study *s)
{
	for (unsigned k = 0; k < s->probe->experiment_count; k++) {
		const struct series *series = s->series[k];
		for (size_t i = 0; series && i < series->count; i++) {
			const struct point *pt = &series->points[i];
			if (pt->outcome == OUTCOME_OK &&
			    (pt->native >= series->native_count || !series->native[pt->native].fingerprint))
				return true;
		}
	}
	return false;
}

/* A point of this series that the environment failed, or NULL. */
static const struct point *failed_point(const struct series *s)
{
	for (size_t i = 0; s && i < s->count; i++)
		if (s->points[i].outcome == OUTCOME_CRASH)
			return &s->points[i];
	return NULL;
}

/* One that names no experiment as its evidence rests on all. */
static bool rests_on(const struct finding *f, const char *experiment)
{
	bool rests = f->evidence_count == 0;

	for (unsigned i = 0; i < f->evidence_count; i++) {
		const size_t n = strcspn(f->evidence[i], ":");
		rests |= strlen(experiment) == n && memcmp(f->evidence[i], experiment, n) == 0;
	}
	return rests;
}

static const struct point *failed_evidence(const struct study *s, const struct finding *f)
{
	const struct point *failed = NULL;

	for (unsigned k = 0; k < s->probe->experiment_count && !failed; k++)
		failed = rests_on(f, s->probe->experiments[k].name) ? failed_point(s->series[k]) : NULL;
	return failed;
}

/* A rate is one of the clocks that there were, in bytes a clock too, as memory has one of its own. What an SM does by itself takes as many of its
 * cycles at any clock. */
static void tell_throttling(const struct study *s, struct finding *f)
{
	const size_t n = strlen(f->method);
	char words[THROTTLE_WORDS];
	int64_t seen = 0;

	for (unsigned k = 0; k < s->probe->experiment_count; k++) {
		const struct series *series = s->series[k];
		if (!series || !rests_on(f, s->probe->experiments[k].name))
			continue;
		seen |= series->before.throttle > 0 ? series->before.throttle : 0;
		seen |= series->after.throttle > 0 ? series->after.throttle : 0;
	}
	if ((strstr(f->unit, "/s") || strcmp(f->unit, "bytes/clk") == 0) && *throttle_words(seen, words))
		snprintf(f->method + n, sizeof(f->method) - n, "%sclocks were held back by %s", n ? "; " : "", words);
}

/* Not one launch of the probe ran, and no kernel was other than it should be: that says nothing of the GPU. */
static const struct point *nothing_ran(const struct study *s)
{
	const struct point *first = NULL;

	for (unsigned k = 0; k < s->probe->experiment_count; k++) {
		const struct series *series = s->series[k];
		for (size_t i = 0; series && i < series->count; i++) {
			const struct point *pt = &series->points[i];
			if (pt->outcome == OUTCOME_OK || pt->outcome == OUTCOME_INVALID ||
			    pt->outcome == OUTCOME_DEADLOCK)
				return NULL;
			/* What the probe knew the device could not do has no kernel and was not launched. */
			if (!first && (pt->outcome != OUTCOME_REFUSED || pt->native < series->native_count))
				first = pt;
		}
	}
	return first;
}

/* What could not be concluded where points failed is not the GPU's: it FAILED, whatever the study made of it. What is known all the same stays. */
static void blame_environment(const struct study *s, struct finding *f)
{
	const bool nothing =
	    f->verdict == VERDICT_INCONCLUSIVE || f->verdict == VERDICT_UNSUPPORTED || f->verdict == VERDICT_ABSENT;
	const struct point *failed = nothing ? failed_evidence(s, f) : NULL;
	const char *what = "a launch failed";

	/* A device without what it takes is asked nothing, or refuses with that reason. */
	if (!failed && f->verdict == VERDICT_INCONCLUSIVE) {
		failed = nothing_ran(s);
		what = "no launch succeeded";
	}
	if (!failed)
		return;
	f->verdict = VERDICT_FAILED;
	snprintf(f->because, sizeof(f->because), "%s: %.280s", what, point_why(failed));
}

/* Keys that a study never came to, because points failed before. */
static int add_unasked(struct study *s)
{
	const struct finding all = {.evidence_count = 0};
	const struct point *failed = failed_evidence(s, &all);

	for (size_t i = 0; failed && s->probe->claims[i]; i++) {
		const char *key = s->probe->claims[i];
		if (strpbrk(key, "*?") || findings_get(&s->concluded, key))
			continue;
		struct finding f = begin(key, VERDICT_FAILED);
		snprintf(f.probe, sizeof(f.probe), "%s", s->probe->name);
		snprintf(f.because, sizeof(f.because), "a launch failed: %.280s", point_why(failed));
		if (findings_add(&s->concluded, &f))
			return -ENOMEM;
	}
	return 0;
}

int study_publish(struct study *s, size_t *count)
{
	static const char note[] = "; native code not read back";
	bool unseen = native_unseen(s);

	findings_forget(&s->run->findings, s->probe->name);
	*count = s->concluded.count;
	if (*count && add_unasked(s))
		return -ENOMEM;
	for (size_t i = 0; i < s->concluded.count; i++) {
		struct finding *f = &s->concluded.items[i];
		blame_environment(s, f);
		tell_throttling(s, f);
		const size_t n = strlen(f->method);
		if (unseen && finding_estimated(f) && n + sizeof(note) <= sizeof(f->method))
			memcpy(f->method + n, note, sizeof(note));
		if (findings_add(&s->run->findings, f))
			return -ENOMEM;
	}
	return 0;
}

int study_decline(struct run *r, const struct probe *p, enum verdict v, const char *because)
{
	findings_forget(&r->findings, p->name);
	for (size_t i = 0; p->claims[i]; i++) {
		if (strpbrk(p->claims[i], "*?"))
			continue;
		struct finding f = begin(p->claims[i], v);
		snprintf(f.probe, sizeof(f.probe), "%s", p->name);
		snprintf(f.because, sizeof(f.because), "%s", because);
		if (findings_add(&r->findings, &f))
			return -ENOMEM;
	}
	return 0;
}
