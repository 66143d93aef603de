/* One run in memory: what a run file holds. store reads and writes it; infer and report work on it. */
#ifndef FATHOM_RUN_H
#define FATHOM_RUN_H
#include "base/arena.h"
#include "data/device.h"
#include "data/figure.h"
#include "data/finding.h"
#include "data/series.h"

enum probe_state { PROBE_PENDING, PROBE_DONE, PROBE_FAILED, PROBE_SKIPPED, PROBE_INTERRUPTED };
const char *probe_state_name(enum probe_state s);
int probe_state_parse(const char *name, enum probe_state *s);
struct probe_record {
	char name[32];
	enum probe_state state;
	double seconds;
	char message[256]; /* why it failed or was skipped */
	/* Of `seconds`, those that the backend spent compiling kernels and running launches, and how many; of this process's
	 * measuring only, not stored. */
	double compile_seconds, launch_seconds;
	size_t kernels, launches;
};

struct run {
	struct arena arena; /* owns series' arrays and names */
	char fathom[32];    /* version that measured */
	char concluded[32]; /* version that concluded the findings; "": the same */
	char shown_by[32];  /* version that shows them; "": not known. Not stored */
	char started[32];   /* ISO 8601 UTC */
	uint64_t seed;
	double seconds;
	struct device_info device;
	struct series *series;
	size_t series_count, series_cap;
	struct probe_record *probes;
	size_t probe_count, probe_cap;
	struct finding_list findings;
};
int run_init(struct run *r);
/* The version that concluded the findings. */
const char *run_concluded(const struct run *r);
/* Was that another one than the one that shows them? Then a sentence about it, else "", in text[RUN_FOREIGN]. */
#define RUN_FOREIGN 192
const char *run_foreign(const struct run *r, char *text);
void run_free(struct run *r);
struct series *run_series(struct run *r, const char *probe, const char *experiment);	 /* NULL when none */
struct series *run_series_new(struct run *r, const char *probe, const char *experiment); /* NULL: out of memory */
struct probe_record *run_probe(struct run *r, const char *name); /* finds or adds; NULL: out of memory */
/* Copies the point and its words into the run's arena. 0 or -ENOMEM. */
int series_add(struct run *r, struct series *s, const struct point *pt);
/* Index of the same fingerprint, added when new; UINT32_MAX when out of memory. */
uint32_t series_add_native(struct run *r, struct series *s, const struct native_info *n);
/* The point with these coordinates, or NULL. */
const struct point *series_find(const struct series *s, double x, const double *p);

#endif
