/* One launch: buffers, attributes, warm-ups, repeats, and waiting with an end. */
#include "base/arena.h"
#include "gpu/cuda/cuda_gpu.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define SPIN_NS	   2000000 /* a short kernel is waited for without sleeping */
#define PAUSE_US   100
#define PINNED_MAX (64ull << 20)
#define IMAGE_MAX  (1ull << 20) /* larger output buffers are filled piece by piece instead of from one pinned image */

int64_t cuda_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void lose(struct cuda_gpu *g, const char *label, const char *why)
{
	g->lost = true;
	snprintf(g->lost_why, sizeof g->lost_why, "%.90s: %.100s", label, why);
}

int cuda_said(struct cuda_gpu *g, const struct launch *l, CUresult r, struct sample *out)
{
	struct cuda_words w;

	cuda_words(&g->d, r, &w);
	snprintf(out->message, sizeof out->message, "%s", w.text);
	/* The driver's own limit answers a launch that may never end as ours does. */
	out->outcome = cuda_refuses(r)					? OUTCOME_REFUSED
		       : (int)r == RESULT_LAUNCH_TIMEOUT && l->may_hang ? OUTCOME_TIMEOUT
									: OUTCOME_CRASH;
	if (cuda_sticky(r))
		lose(g, l->label, w.text);
	return 0;
}

int cuda_late(struct cuda_gpu *g, const struct launch *l, int64_t limit_ms, struct sample *out)
{
	out->outcome = OUTCOME_TIMEOUT;
	snprintf(out->message, sizeof out->message, "did not end within %lld ms", (long long)limit_ms);
	lose(g, l->label, out->message);
	return 0;
}

static int refused(struct sample *out, const char *why)
{
	out->outcome = OUTCOME_REFUSED;
	snprintf(out->message, sizeof out->message, "%s", why);
	return 0;
}

struct arguments {
	uint64_t value[LAUNCH_ARGS];
	void *pointer[LAUNCH_ARGS];
};

static unsigned arg_size(enum arg_kind k)
{
	return k == ARG_U32 || k == ARG_F32 ? 4 : 8;
}

/* The driver reads as many arguments as the kernel declares, so all pointers of the array point somewhere. If the
 * driver tells what it expects, a launch that passes something else is our bug and is not let through. */
static int fill_arguments(const struct cuda_gpu *g, const struct cuda_kernel *k, const struct launch *l,
			  const CUdeviceptr *address, struct arguments *a, struct err *e)
{
	memset(a, 0, sizeof *a);
	if (l->arg_count > LAUNCH_ARGS || l->buffer_count > LAUNCH_BUFFERS)
		return err_set(e, -EINVAL, "%s: too many arguments or buffers", l->label);
	for (uint32_t i = 0; i < LAUNCH_ARGS; i++)
		a->pointer[i] = &a->value[i];
	for (uint32_t i = 0; i < l->arg_count; i++) {
		const struct launch_arg *arg = &l->args[i];
		if (arg->kind == ARG_BUFFER && arg->buffer >= l->buffer_count)
			return err_set(e, -EINVAL, "%s: argument %u names buffer %u of %u", l->label, i, arg->buffer,
				       l->buffer_count);
		a->value[i] = arg->kind == ARG_BUFFER	 ? address[arg->buffer] + arg->bits
			      : arg->kind == ARG_TEXTURE ? g->textures[arg->buffer].object
							 : arg->bits;
	}
	if (!g->d.func_get_param_info)
		return 0;
	for (uint32_t i = 0; i <= l->arg_count; i++) {
		size_t offset = 0, size = 0;
		bool has = !g->d.func_get_param_info(k->function, i, &offset, &size);
		if (has != (i < l->arg_count))
			return err_set(e, -EINVAL, "%s: kernel %s takes %s than %u arguments", l->label, k->name,
				       has ? "more" : "fewer", l->arg_count);
		if (has && size != arg_size(l->args[i].kind))
			return err_set(e, -EINVAL, "%s: argument %u of kernel %s has %zu bytes, not %u", l->label, i,
				       k->name, size, arg_size(l->args[i].kind));
	}
	return 0;
}

/* Carve-out and opt-in shared memory, set only when they change. */
static CUresult set_attributes(struct cuda_gpu *g, struct cuda_kernel *k, const struct launch *l)
{
	static const int percent[] = {[CARVEOUT_DEFAULT] = -1, [CARVEOUT_MAX_L1] = 0, [CARVEOUT_MAX_SHARED] = 100};
	int carveout = l->shared_percent ? (int)l->shared_percent : percent[l->carveout], fixed = 0, dynamic = 0;
	CUresult r = CUDA_SUCCESS;

	/* A hint as well; where banks cannot be arranged otherwise it changes nothing. */
	if (l->bank_bytes != k->bank_bytes && g->d.func_set_shared_config &&
	    !g->d.func_set_shared_config(k->function, l->bank_bytes == 8   ? SHARED_CONFIG_EIGHT
						      : l->bank_bytes == 4 ? SHARED_CONFIG_FOUR
									   : SHARED_CONFIG_DEFAULT))
		k->bank_bytes = l->bank_bytes;
	if (!g->d.func_set_attribute)
		return r;
	/* The carve-out is a hint, and devices without one refuse it: the launch is right without it. */
	if (carveout != k->carveout && !g->d.func_set_attribute(k->function, FUNC_CARVEOUT, carveout))
		k->carveout = carveout;
	if (g->d.func_get_attribute)
		g->d.func_get_attribute(&fixed, FUNC_SHARED_BYTES, k->function);
	if (fixed + (uint64_t)l->shared_bytes > g->info.shared_per_block)
		dynamic = (int)l->shared_bytes;
	if (dynamic > k->dynamic_shared) {
		r = g->d.func_set_attribute(k->function, FUNC_MAX_DYNAMIC_SHARED, dynamic);
		if (!r)
			k->dynamic_shared = dynamic;
	}
	return r;
}

struct output {
	const struct launch_buffer *buffer; /* NULL: none */
	CUdeviceptr address;
	size_t image_bytes; /* 0: filled piece by piece */
	size_t word_bytes;  /* one repeat's words */
};

static CUresult pinned_room(struct cuda_gpu *g, size_t bytes)
{
	CUresult r = CUDA_SUCCESS;

	if (g->pinned_bytes >= bytes)
		return r;
	if (g->pinned)
		g->d.mem_free_host(g->pinned);
	g->pinned = NULL;
	g->pinned_bytes = 0;
	if (bytes < 1 << 16)
		bytes = 1 << 16;
	void *p = NULL;
	r = g->d.mem_alloc_host(&p, bytes);
	if (!r) {
		g->pinned = p;
		g->pinned_bytes = bytes;
	}
	return r;
}

/* Events around the kernel of repeat i, or NULL where it is not what is timed. */
static void events_of(struct cuda_gpu *g, const struct launch *l, uint32_t i, bool last, CUevent *from, CUevent *to)
{
	const bool each = l->timed == SPAN_KERNELS, all = l->timed == SPAN_LAUNCHES, one = l->timed == SPAN_KERNEL;
	*from = each ? g->each[2 * i] : (all && i == 0) || (one && last) ? g->begin : NULL;
	*to = each ? g->each[2 * i + 1] : (all || one) && last ? g->end : NULL;
}

static CUresult events_make(struct cuda_gpu *g, uint32_t repeats)
{
	CUresult r = CUDA_SUCCESS;
	for (uint32_t i = 0; i < 2 * repeats && !r; i++)
		if (!g->each[i])
			r = g->d.event_create(&g->each[i], 0);
	return r;
}

/* from, to: recorded before and behind the kernel, NULL: none. timed: the span of the copy in is. */
static CUresult enqueue_one(struct cuda_gpu *g, const struct cuda_kernel *k, const struct launch *l,
			    struct arguments *a, const struct output *o, bool timed, CUevent from, CUevent to,
			    int *nomem)
{
	const struct cuda_driver *d = &g->d;
	CUresult r = CUDA_SUCCESS;

	if (timed && l->timed == SPAN_COPY_IN)
		r = d->event_record(g->begin, NULL);
	if (!r && o->buffer && o->image_bytes)
		r = d->memcpy_htod_async(o->address, g->pinned, o->image_bytes, NULL);
	else if (!r && o->buffer)
		r = cuda_memory_fill(g, o->buffer, o->address, nomem);
	if (!r && !*nomem && timed && l->timed == SPAN_COPY_IN)
		r = d->event_record(g->end, NULL);
	if (!r && !*nomem && l->flush)
		r = cuda_evict(g);
	if (!r && !*nomem && from)
		r = d->event_record(from, NULL);
	if (!r && !*nomem)
		r = d->launch_kernel(k->function, l->grid[0], l->grid[1], l->grid[2], l->block[0], l->block[1],
				     l->block[2], l->shared_bytes, NULL, a->pointer, NULL);
	if (!r && !*nomem && to)
		r = d->event_record(to, NULL);
	return r;
}

int cuda_wait(struct cuda_gpu *g, CUevent event, int64_t limit_ns, CUresult *r)
{
	int64_t start = cuda_now(), spent;

	for (;;) {
		*r = g->d.event_query(event);
		if (*r != CUDA_ERROR_NOT_READY)
			return 1;
		spent = cuda_now() - start;
		if (spent > limit_ns)
			return 0;
		if (spent > SPIN_NS)
			usleep(PAUSE_US);
	}
}

static int run_all(struct cuda_gpu *g, struct cuda_kernel *k, const struct launch *l, struct arguments *a,
		   const struct output *o, struct sample *out, struct err *e)
{
	uint32_t repeats = l->repeats ? l->repeats : 1;
	uint32_t limit_ms = l->time_limit_ms ? l->time_limit_ms : CUDA_TIME_LIMIT_MS;
	CUresult r = CUDA_SUCCESS, waited = CUDA_SUCCESS;
	int nomem = 0;
	float ms = -1;

	if (l->timed == SPAN_KERNELS)
		r = events_make(g, repeats);
	for (uint32_t i = 0; i < l->warmups && !r && !nomem; i++)
		r = enqueue_one(g, k, l, a, o, false, NULL, NULL, &nomem);
	if (l->timed == SPAN_KERNELS && !r && !nomem)
		r = cuda_hold(g);
	for (uint32_t i = 0; i < repeats && !r && !nomem; i++) {
		bool last = i + 1 == repeats, out_timed = last && l->timed == SPAN_COPY_OUT;
		CUevent from, to;
		events_of(g, l, i, last, &from, &to);
		r = enqueue_one(g, k, l, a, o, last, from, to, &nomem);
		if (!r && !nomem && out_timed)
			r = g->d.event_record(g->begin, NULL);
		if (!r && !nomem && o->word_bytes)
			r = g->d.memcpy_dtoh_async(g->pinned + o->image_bytes + i * o->word_bytes, o->address,
						   o->word_bytes, NULL);
		if (!r && !nomem && out_timed)
			r = g->d.event_record(g->end, NULL);
	}
	cuda_hold_end(g);
	/* Even after a refusal what was queued before it has to end before anything is reused. */
	if (cuda_sticky(r))
		return cuda_said(g, l, r, out);
	waited = g->d.event_record(g->done, NULL);
	if (!waited && !cuda_wait(g, g->done, (int64_t)limit_ms * 1000000, &waited))
		return cuda_late(g, l, limit_ms, out);
	if (nomem)
		return err_nomem(e);
	if (r || waited)
		return cuda_said(g, l, cuda_sticky(waited) || !r ? waited : r, out);
	out->outcome = OUTCOME_OK;
	out->repeats = repeats;
	out->words_per_repeat = launch_words(l);
	if (out->words_per_repeat) {
		out->words = mem_alloc((size_t)repeats * out->words_per_repeat * 4);
		if (!out->words)
			return err_nomem(e);
	}
	for (uint32_t i = 0; i < repeats; i++) {
		CUevent from = g->begin, to = g->end;
		if (o->word_bytes)
			memcpy(out->words + (size_t)i * out->words_per_repeat,
			       g->pinned + o->image_bytes + i * o->word_bytes, o->word_bytes);
		if (l->timed != SPAN_KERNELS && i + 1 < repeats)
			continue;
		if (l->timed == SPAN_KERNELS)
			events_of(g, l, i, false, &from, &to);
		ms = -1;
		if (!g->d.event_elapsed_time(&ms, from, to))
			out->elapsed_ms = ms;
		if (l->timed == SPAN_KERNELS)
			launch_set_time(l, out->words, i, 1e6 * ms);
	}
	return 0;
}

static int find_output(struct cuda_gpu *g, const struct launch *l, const CUdeviceptr *address, struct output *o,
		       CUresult *r, struct err *e)
{
	uint64_t repeats = l->repeats ? l->repeats : 1;

	memset(o, 0, sizeof *o);
	*r = CUDA_SUCCESS;
	for (uint32_t i = 0; i < l->buffer_count; i++) {
		if (!l->buffers[i].output)
			continue;
		if (o->buffer)
			return err_set(e, -EINVAL, "%s: more than one output buffer", l->label);
		o->buffer = &l->buffers[i];
		o->address = address[i];
	}
	if (!o->buffer)
		return 0;
	if (o->buffer->space != BUFFER_GLOBAL)
		return err_set(e, -EINVAL, "%s: constant memory cannot be an output", l->label);
	o->word_bytes = (size_t)o->buffer->output_words * 4;
	/* Whole words, so that the repeats' words behind the image are aligned. */
	/* A copy that is timed is one copy. */
	uint64_t image_max = l->timed == SPAN_COPY_IN ? PINNED_MAX / 2 : IMAGE_MAX;
	o->image_bytes = o->buffer->bytes <= image_max ? o->buffer->bytes & ~(size_t)3 : 0;
	if (repeats * o->word_bytes + o->image_bytes > PINNED_MAX)
		return err_set(e, -EINVAL, "%s: more than %llu MB of output", l->label, PINNED_MAX >> 20);
	*r = pinned_room(g, repeats * o->word_bytes + o->image_bytes);
	if (!*r && o->image_bytes)
		cuda_memory_image(o->buffer, o->address, 0, g->pinned, o->image_bytes);
	return 0;
}

/* Everything from the textures on: what they are made of exists only for this launch. */
static int run_prepared(struct cuda_gpu *g, struct cuda_kernel *k, const struct launch *l, const CUdeviceptr *address,
			struct sample *out, struct err *e)
{
	struct arguments a;
	struct output o;
	CUresult r;
	int code = cuda_textures_make(g, l, address, &r, e);

	if (code)
		return code;
	if (r)
		return cuda_said(g, l, r, out);
	code = fill_arguments(g, k, l, address, &a, e);
	if (code)
		return code;
	code = find_output(g, l, address, &o, &r, e);
	if (code)
		return code;
	if (!r)
		r = set_attributes(g, k, l);
	if (r)
		return cuda_said(g, l, r, out);
	if (l->timed == SPAN_COPIES)
		return cuda_copies(g, k, l, a.pointer, out, e);
	if (!l->grid[0] || !l->grid[1] || !l->grid[2] || !l->block[0] || !l->block[1] || !l->block[2])
		return refused(out, "the grid or the block is empty");
	return run_all(g, k, l, &a, &o, out, e);
}

int cuda_run(struct gpu *gpu, uint32_t id, const struct launch *l, struct sample *out, struct err *e)
{
	struct cuda_gpu *g = (struct cuda_gpu *)gpu;
	CUdeviceptr address[LAUNCH_BUFFERS] = {0};
	CUresult r;
	int code;

	memset(out, 0, sizeof *out);
	out->elapsed_ms = -1;
	if (g->lost)
		return err_set(e, -ENODEV, "%s is lost: %s", g->info.spec,
			       g->lost_why[0] ? g->lost_why : "its context died");
	if (id >= g->kernel_count)
		return err_set(e, -EINVAL, "%s: there is no kernel %u", l->label, id);
	if (l->buffer_count > LAUNCH_BUFFERS)
		return err_set(e, -EINVAL, "%s: too many buffers", l->label);
	if (l->timed == SPAN_KERNELS && l->repeats > LAUNCH_TIMED)
		return err_set(e, -EINVAL, "%s: more than %d repeats are timed", l->label, LAUNCH_TIMED);
	code = launch_check_copy(l, e);
	if (code)
		return code;
	if (l->timed != SPAN_COPIES)
		cuda_copies_drop(g);
	struct cuda_kernel *k = g->kernels[id];
	code = l->flush ? cuda_evict_ready(g, e) : 0;
	if (!code)
		code = cuda_scatter_ready(g, l, e);
	if (!code && l->timed == SPAN_KERNELS)
		code = cuda_hold_ready(g, e);
	if (!code)
		code = cuda_kernel_ready(g, k, e);
	if (code)
		return code;
	code = cuda_memory_prepare(g, k, l, address, &r, e);
	if (code)
		return code;
	if (r)
		return cuda_said(g, l, r, out);
	code = run_prepared(g, k, l, address, out, e);
	if (!g->lost)
		cuda_textures_free(g);
	return code;
}
