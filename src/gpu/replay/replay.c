/* A stored run as a device: every launch is answered by the point that bears its label. */
#include "base/arena.h"
#include "data/run.h"
#include "gpu/gpu.h"
#include "store/store.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct entry {
	char label[sizeof(((struct launch *)0)->label)];
	const struct point *point;
};

struct replay {
	struct gpu gpu;
	struct run run;
	struct device_info info;
	struct entry *index; /* sorted by label */
	size_t count;
	uint32_t kernels; /* handed out by load */
};

static int replay_list(struct device_list *list, struct err *e)
{
	(void)e;
	snprintf(list->note, sizeof(list->note), "replay:FILE.fathom answers from a run that was stored before");
	return 0;
}

static int by_label(const void *a, const void *b)
{
	return strcmp(((const struct entry *)a)->label, ((const struct entry *)b)->label);
}

static int make_index(struct replay *g)
{
	size_t n = 0;
	for (size_t i = 0; i < g->run.series_count; i++)
		n += g->run.series[i].count;
	g->index = mem_zero(n + 1, sizeof(*g->index));
	if (!g->index)
		return -ENOMEM;
	for (size_t i = 0; i < g->run.series_count; i++) {
		const struct series *s = &g->run.series[i];
		for (size_t k = 0; k < s->count; k++) {
			struct entry *x = &g->index[g->count++];
			series_label(x->label, sizeof(x->label), s, s->points[k].x, s->points[k].p);
			x->point = &s->points[k];
		}
	}
	qsort(g->index, g->count, sizeof(*g->index), by_label);
	return 0;
}

static void replay_close(struct gpu *gpu)
{
	struct replay *g = (struct replay *)gpu;
	mem_free(g->index);
	run_free(&g->run);
	mem_free(g);
}

static int replay_open(struct gpu **out, const char *spec, uint64_t seed, struct err *e)
{
	(void)seed; /* what was measured was measured with the recording's seed */
	struct replay *g = mem_zero(1, sizeof(*g));
	if (!g)
		return err_nomem(e);
	g->gpu.ops = &gpu_replay;
	int code = store_load(&g->run, spec, e);
	if (code) {
		mem_free(g);
		return code;
	}
	g->info = g->run.device;
	snprintf(g->info.backend, sizeof(g->info.backend), "replay");
	snprintf(g->info.spec, sizeof(g->info.spec), "replay:%s", spec);
	if (make_index(g)) {
		replay_close(&g->gpu);
		return err_nomem(e);
	}
	*out = &g->gpu;
	return 0;
}

static const struct device_info *replay_info(struct gpu *gpu)
{
	return &((struct replay *)gpu)->info;
}

static const struct run *replay_recording(struct gpu *gpu)
{
	return &((struct replay *)gpu)->run;
}

/* Nothing is compiled: the texts need not even be those of the recording. */
static int replay_load(struct gpu *gpu, const struct kernel_source *src, size_t n, uint32_t *ids,
		       struct native_info *native, struct err *e)
{
	(void)src, (void)e;
	struct replay *g = (struct replay *)gpu;
	for (size_t i = 0; i < n; i++) {
		ids[i] = g->kernels++;
		native[i] = (struct native_info){0};
	}
	return 0;
}

static int replay_run(struct gpu *gpu, uint32_t id, const struct launch *l, struct sample *out, struct err *e)
{
	struct replay *g = (struct replay *)gpu;
	struct entry key;
	*out = (struct sample){.elapsed_ms = -1};
	if (id >= g->kernels)
		return err_set(e, -EINVAL, "there is no kernel %u", id);
	snprintf(key.label, sizeof(key.label), "%s", l->label);
	const struct entry *found = bsearch(&key, g->index, g->count, sizeof(key), by_label);
	if (!found) {
		out->outcome = OUTCOME_REFUSED;
		snprintf(out->message, sizeof(out->message), "not in the recording");
		return 0;
	}
	const struct point *p = found->point;
	size_t n = p->y ? (size_t)p->repeats * p->words_per_repeat : 0;
	if (n) {
		out->words = mem_alloc(n * sizeof(*out->words));
		if (!out->words)
			return err_nomem(e);
		memcpy(out->words, p->y, n * sizeof(*out->words));
	}
	out->outcome = p->outcome;
	out->repeats = p->repeats;
	out->words_per_repeat = p->words_per_repeat;
	out->elapsed_ms = p->elapsed_ms;
	snprintf(out->message, sizeof(out->message), "%s", p->message);
	return 0;
}

const struct gpu_ops gpu_replay = {
    .name = "replay",
    .help = "replay:FILE.fathom, a stored run answers as a device",
    .list = replay_list,
    .open = replay_open,
    .info = replay_info,
    .load = replay_load,
    .run = replay_run,
    .recording = replay_recording,
    .close = replay_close,
};
