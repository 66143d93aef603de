/* Measuring a device and predicting a kernel. */
#include "base/str.h"
#include "gpu/gpu.h"
#include "lib/lib_run.h"
#include "predict/predict.h"
#include "probe/engine.h"
#include "store/store.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

/* ---- measuring ---- */

struct measuring {
	const struct fathom_measuring *how;
	struct store *store;
	bool stop;
};

static void on_progress(void *ctx, const struct engine_at *at)
{
	struct measuring *m = ctx;
	const struct fathom_progress p = {.probe = at->probe->name,
					  .index = at->index,
					  .total = at->total,
					  .points_done = at->points_done,
					  .points_wished = at->points_wished};

	if (m->how->progress && m->how->progress(m->how->ctx, &p))
		m->stop = true;
}

static bool on_stop(void *ctx)
{
	return ((struct measuring *)ctx)->stop;
}

static int on_commit(void *ctx, struct run *r, const char *probe, struct err *e)
{
	struct measuring *m = ctx;

	return m->store ? store_probe(m->store, r, probe, e) : 0;
}

static int plan_of(const struct fathom_measuring *how, struct arena *a, struct engine_plan *plan, struct err *e)
{
	char *copy = how->probes ? arena_strdup(a, how->probes) : NULL, *save = NULL;
	const char **names = how->probes ? ARENA_ARRAY(a, strlen(how->probes) + 1, const char *) : NULL;
	size_t count = 0;

	if (how->quick && how->probes)
		return err_set(e, -EINVAL, "quick chooses the probes itself; leave out one of the two");
	if (how->quick)
		return engine_plan_quick(plan, e);
	if (how->probes && (!copy || !names))
		return err_nomem(e);
	for (char *word = copy ? strtok_r(copy, ",", &save) : NULL; word; word = strtok_r(NULL, ",", &save))
		names[count++] = word;
	if (how->probes && !count)
		return err_set(e, -EINVAL, "no probe is named; leave probes out for all of them");
	return engine_plan(plan, names, count, e);
}

static void record(struct run *r, const struct device_info *d, uint64_t seed)
{
	const time_t t = time(NULL);
	struct tm tm;

	gmtime_r(&t, &tm);
	strftime(r->started, sizeof(r->started), "%Y-%m-%dT%H:%M:%SZ", &tm);
	snprintf(r->fathom, sizeof(r->fathom), "%s", FATHOM_VERSION);
	r->seed = seed;
	r->device = *d;
}

static int create(struct measuring *m, struct run *r, const struct engine_plan *plan, struct err *e)
{
	for (size_t i = 0; i < plan->count; i++)
		if (!run_probe(r, plan->probes[i]->name))
			return err_nomem(e);
	return m->how->path ? store_create(&m->store, m->how->path, r, e) : 0;
}

static int pursue(struct measuring *m, struct run *r, struct gpu *gpu, const struct engine_plan *plan, struct err *e)
{
	const struct engine_events events = {.ctx = m, .progress = on_progress, .commit = on_commit, .stop = on_stop};
	int rc = create(m, r, plan, e);

	if (rc)
		return rc;
	rc = engine_measure(r, gpu, plan, &events, e);
	if ((rc && rc != -EINTR) || !m->store)
		return rc;
	int stored = store_findings(m->store, r, e);
	if (stored == 0) {
		stored = store_finish(m->store, e);
		m->store = NULL;
	}
	return stored ? stored : rc;
}

static int open_device(struct gpu **gpu, const struct fathom_measuring *how, struct err *e)
{
	char device[512], reason[512];

	if (how->device) {
		const int rc = gpu_open(gpu, how->device, how->seed, true, e);
		return rc == -ENOENT ? -EINVAL : rc; /* there is no such device */
	}
	return gpu_open_best(gpu, how->seed, device, sizeof(device), reason, sizeof(reason), e);
}

int fathom_measure(struct fathom_run **out, const struct fathom_measuring *how, struct fathom_error *why)
{
	struct measuring m = {.how = how};
	struct engine_plan plan = {0};
	struct gpu *gpu = NULL;
	struct err e = {0};
	struct fathom_run *r;
	int rc;

	*out = NULL;
	if (how->size < sizeof(*how)) {
		err_set(&e, -EINVAL, "size has to be sizeof(struct fathom_measuring)");
		return lib_fail(why, &e, -EINVAL);
	}
	r = lib_new();
	if (!r)
		return lib_fail(why, &e, -ENOMEM);
	rc = plan_of(how, &r->arena, &plan, &e);
	if (rc == 0)
		rc = open_device(&gpu, how, &e);
	if (rc == 0) {
		record(&r->run, gpu->ops->info(gpu), how->seed);
		rc = pursue(&m, &r->run, gpu, &plan, &e);
		gpu->ops->close(gpu);
	}
	store_close(m.store);
	mem_free(plan.probes);
	const int filled = rc == 0 || rc == -EINTR ? lib_fill(r) : rc;
	if (filled) {
		fathom_close(r);
		return lib_fail(why, &e, filled);
	}
	*out = r;
	return rc ? lib_fail(why, &e, rc) : 0;
}

/* ---- predicting ---- */

static const struct ptx_func *entry_of(const struct ptx_module *module, const char *name)
{
	for (uint32_t i = 0; i < module->func_count; i++)
		if (module->funcs[i].entry && (!name || strcmp(module->funcs[i].name, name) == 0))
			return &module->funcs[i];
	return NULL;
}

static int arguments_of(const struct fathom_kernel *k, const struct ptx_func *f, struct arena *a,
			struct predict_arg **args, struct err *e)
{
	if (k->argument_count != f->param_count)
		return err_set(e, -EINVAL, "%s takes %u argument%s, not %zu", f->name, f->param_count,
			       f->param_count == 1 ? "" : "s", k->argument_count);
	*args = ARENA_ARRAY(a, f->param_count + 1, struct predict_arg);
	if (!*args)
		return err_nomem(e);
	for (uint32_t i = 0; i < f->param_count; i++) {
		const struct fathom_argument *from = &k->arguments[i];

		if (from->is_buffer && f->params[i].size != 8)
			return err_set(e, -EINVAL, "parameter %s has %u bytes and can be no buffer", f->params[i].name,
				       f->params[i].size);
		(*args)[i] = from->is_buffer ? (struct predict_arg){.buffer = true, .bytes = from->value}
					     : (struct predict_arg){.bits = from->value};
	}
	return 0;
}

static int predict_in(struct arena *a, const struct fathom_run *run, const struct fathom_kernel *k,
		      struct predict_result *r, struct err *e)
{
	struct ptx_module *module;
	struct predict_arg *args = NULL;
	int rc = ptx_parse(&module, a, "kernel", k->ptx, strlen(k->ptx), e);

	if (rc)
		return rc;
	const struct ptx_func *entry = entry_of(module, k->entry);
	if (!entry)
		return err_set(e, -EINVAL, "the text has no .entry %s", k->entry ? k->entry : "at all");
	rc = arguments_of(k, entry, a, &args, e);
	if (rc)
		return rc;
	struct predict_request q = {.module = module,
				    .entry = entry,
				    .args = args,
				    .shared_bytes = k->shared_bytes,
				    .turns = k->turns,
				    .compiled = strcmp(run->run.device.backend, "sim") != 0};
	memcpy(q.grid, k->grid, sizeof(q.grid));
	memcpy(q.block, k->block, sizeof(q.block));
	return predict(r, a, &q, &run->run.findings, &run->run.device, e);
}

int fathom_predict(const struct fathom_run *run, const struct fathom_kernel *kernel, struct fathom_prediction *out,
		   struct fathom_error *why)
{
	struct predict_result r = {0};
	struct err e = {0};
	struct arena a;
	int rc;

	if (kernel->size < sizeof(*kernel) || out->size < sizeof(*out)) {
		err_set(&e, -EINVAL, "size has to be the sizeof of its struct");
		return lib_fail(why, &e, -EINVAL);
	}
	arena_init(&a);
	rc = predict_in(&a, run, kernel, &r, &e);
	if (rc == 0) {
		out->seconds = r.seconds;
		out->lo = r.lo;
		out->hi = r.hi;
		out->cycles = r.cycles;
		out->blocks_per_sm = r.blocks_per_sm;
		out->warps_per_sm = r.warps_per_sm;
		out->missing = 0;
		for (const struct predict_term *t = r.terms; t; t = t->next)
			out->missing += t->missing;
		snprintf(out->bound, sizeof(out->bound), "%s: %.70s", predict_bound_names[r.bound], r.bound_what);
	}
	arena_free(&a);
	return rc ? lib_fail(why, &e, rc) : 0;
}
