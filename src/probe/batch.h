/* Measures the wishes of one pass: one load for all their kernels, then one launch after the other. Internal to this room. */
#ifndef FATHOM_BATCH_H
#define FATHOM_BATCH_H
#include "base/str.h"
#include "probe/engine.h"
#include "probe/study.h"

/* Kernels that this run has loaded already; equal texts are loaded once. */
struct kernel_cache {
	struct kernel_entry {
		uint64_t hash[2]; /* of text and entry name, by two seeds */
		uint32_t id;
		struct native_info *native; /* in arena */
		char *problem;		    /* why it could not be loaded, else NULL; in arena */
	} * items;
	size_t count, cap;
	struct kernel_call { /* a template with its parameters: what it expands to was found once */
		uint64_t hash[2];
		size_t kernel;
	} * calls;
	size_t call_count, call_cap;
	struct kernel_foreseen { /* a text that was expanded before it is loaded */
		uint64_t call[2], hash[2];
		struct str text;
	} * foreseen;
	size_t foreseen_count, foreseen_cap, foreseen_bytes;
	struct arena arena;
};

struct batch {
	struct run *run;
	struct gpu *gpu;
	const struct probe *probe;
	const struct engine_events *events;
	struct study *study;
	struct kernel_cache *kernels;
	const struct run *recording; /* NULL on a real device */
	double began;		     /* seconds, when the probe began */
	size_t points_done;
	double compile_seconds, launch_seconds; /* that the backend took */
	size_t compiled, launches;
	unsigned lost; /* launches in a row for which the environment failed */
	int lost_code; /* of the last of them */
	char lost_message[256];
	bool stopped;
};

double engine_now(void); /* seconds of a clock that never goes back */
void kernels_free(struct kernel_cache *k);
/* Keeps a text for the batch that loads it, as far as there is room for it; text is taken over. */
void kernels_foresee(struct kernel_cache *k, const uint64_t call[2], const uint64_t hash[2], struct str *text);
/* Measures all wishes of b->study. 0; -EINTR when stopped (what was measured is kept); -ECANCELED when the device does not
 * work any more or a kernel of ours is wrong: the probe has failed, e says why; -ENODEV when it is gone, and a fresh one cannot be had; other negatives end the run. */
int batch_measure(struct batch *b, struct err *e);

#endif
