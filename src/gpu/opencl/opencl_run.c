/* One launch: buffers, arguments, warm-ups, repeats, and waiting with an end. */
#include "base/arena.h"
#include "base/str.h"
#include "gpu/opencl/opencl_gpu.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define TIME_LIMIT_MS 5000
#define SPIN_NS	      2000000 /* a short kernel is waited for without sleeping */
#define PAUSE_US      100

int64_t opencl_now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

int64_t opencl_limit_ns(const struct launch *l)
{
	return (int64_t)(l->time_limit_ms ? l->time_limit_ms : TIME_LIMIT_MS) * 1000000;
}

int opencl_late(struct opencl_gpu *g, const struct launch *l, int64_t limit_ms, struct sample *out)
{
	out->outcome = OUTCOME_TIMEOUT;
	snprintf(out->message, sizeof out->message, "did not end within %lld ms", (long long)limit_ms);
	g->lost = true;
	snprintf(g->lost_why, sizeof g->lost_why, "%.90s: %.100s", l->label, out->message);
	return 0;
}

int opencl_said(struct opencl_gpu *g, const struct launch *l, cl_int r, struct sample *out)
{
	char room[OPENCL_WORDS];
	snprintf(out->message, sizeof out->message, "%s", opencl_words(r, room));
	out->outcome = opencl_refuses(r) ? OUTCOME_REFUSED : OUTCOME_CRASH;
	if (opencl_lost(r)) {
		g->lost = true;
		snprintf(g->lost_why, sizeof g->lost_why, "%.90s: %.100s", l->label, out->message);
	}
	return 0;
}

static int refused(struct sample *out, const char *why)
{
	out->outcome = OUTCOME_REFUSED;
	snprintf(out->message, sizeof out->message, "%s", why);
	return 0;
}

/* ---- buffers ---- */

static bool has_content(const struct launch_buffer *b)
{
	return b->ring_count || (b->init && b->init_bytes);
}

static uint64_t content_hash(const struct launch_buffer *b)
{
	uint64_t h = hash64(&b->bytes, sizeof b->bytes, b->ring_unit + 1);
	if (b->init)
		h = hash64(b->init, b->init_bytes, h);
	if (b->ring_count)
		h = hash64(b->ring, b->ring_count * sizeof *b->ring, h);
	return h ? h : 1;
}

/* Zeros, then bytes, then the ring. */
static cl_int fill(struct opencl_gpu *g, const struct launch_buffer *b, cl_mem memory, cl_event *event, bool *nomem)
{
	const cl_uint zero = 0;
	uint64_t unit = b->ring_unit ? b->ring_unit : 1;
	*nomem = false;
	if (!has_content(b))
		return g->api.fill_buffer(g->queue, memory, &zero, sizeof zero, 0, b->bytes & ~3ull, 0, NULL, event);
	uint8_t *image = mem_zero(b->bytes, 1);
	if (!image) {
		*nomem = true;
		return CL_SUCCESS;
	}
	if (b->init)
		memcpy(image, b->init, b->init_bytes);
	for (uint32_t i = 0; i < b->ring_count; i++) {
		uint32_t to = (uint32_t)(b->ring[i + 1 == b->ring_count ? 0 : i + 1] / unit);
		memcpy(image + b->ring[i], &to, sizeof to);
	}
	cl_int r = g->api.write_buffer(g->queue, memory, CL_TRUE, 0, b->bytes, image, 0, NULL, event);
	mem_free(image);
	return r;
}

static struct opencl_block *block_of(struct opencl_gpu *g, const struct launch *l, uint32_t buffer)
{
	return l->buffers[buffer].as_is ? &g->as_is[buffer] : &g->block[buffer];
}

/* larger: a block that is larger does as well. *made: it is new memory. */
static cl_int room(struct opencl_gpu *g, struct opencl_block *block, uint64_t bytes, bool larger, bool *made)
{
	cl_int r = CL_SUCCESS;
	*made = false;
	if (block->memory && (block->bytes == bytes || (larger && block->bytes > bytes)))
		return r;
	if (block->memory)
		g->api.release_memory(block->memory);
	*block = (struct opencl_block){0};
	block->memory = g->api.create_buffer(g->context, CL_MEM_READ_WRITE, bytes, NULL, &r);
	block->bytes = r ? 0 : bytes;
	*made = !r;
	if (r)
		block->memory = NULL;
	return r;
}

/* *r: what the driver refused. What is written by kernels is set again before each launch, by enqueue_one. */
static int prepare(struct opencl_gpu *g, const struct launch *l, cl_int *r, struct err *e)
{
	int rc = 0;
	*r = CL_SUCCESS;
	for (uint32_t i = 0; i < l->buffer_count && !rc && !*r; i++) {
		const struct launch_buffer *b = &l->buffers[i];
		struct opencl_block *block = block_of(g, l, i);
		bool nomem = false, made;
		rc = launch_check_buffer(l, i, 4, e);
		if (rc)
			break;
		*r = room(g, block, b->bytes, b->as_is, &made);
		/* Filled once, because what a processor's memory never held is not there to be read. */
		if (!*r && b->as_is) {
			rc = made ? opencl_fill_large(g, block->memory, b->bytes, r, e) : 0;
			continue;
		}
		uint64_t content = has_content(b) && !b->output ? content_hash(b) : 0;
		if (*r || b->output || (content && block->content == content))
			continue;
		block->content = 0;
		*r = fill(g, b, block->memory, NULL, &nomem);
		if (nomem)
			rc = err_nomem(e);
		else if (!*r)
			block->content = content;
	}
	return rc;
}

void opencl_memory_free(struct opencl_gpu *g)
{
	for (uint32_t i = 0; i < LAUNCH_BUFFERS; i++) {
		if (g->block[i].memory)
			g->api.release_memory(g->block[i].memory);
		if (g->as_is[i].memory)
			g->api.release_memory(g->as_is[i].memory);
	}
	memset(g->block, 0, sizeof g->block);
	memset(g->as_is, 0, sizeof g->as_is);
	if (g->scratch)
		g->api.release_memory(g->scratch);
	g->scratch = NULL;
}

/* ---- arguments ---- */

struct arguments {
	cl_mem part[LAUNCH_ARGS]; /* sub-buffers of this launch */
	uint32_t count;
};

static cl_int set_buffer(struct opencl_gpu *g, struct opencl_kernel *k, cl_uint at, const struct opencl_block *b,
			 uint64_t offset, struct arguments *a)
{
	cl_mem memory = b->memory;
	cl_int r = CL_SUCCESS;
	if (offset) {
		cl_buffer_region region = {.origin = offset, .size = b->bytes - offset};
		memory = g->api.create_sub_buffer(memory, CL_MEM_READ_WRITE, CL_BUFFER_CREATE_TYPE_REGION, &region, &r);
		if (r)
			return r;
		a->part[a->count++] = memory;
	}
	return g->api.set_arg(k->kernel, at, sizeof memory, &memory);
}

static int set_arguments(struct opencl_gpu *g, struct opencl_kernel *k, const struct launch *l, struct arguments *a,
			 cl_int *r, struct err *e)
{
	cl_uint at = 0, takes = 0;
	*r = CL_SUCCESS;
	for (uint32_t i = 0; i < l->arg_count && !*r; i++) {
		const struct launch_arg *arg = &l->args[i];
		if (arg->kind == ARG_BUFFER &&
		    (arg->buffer >= l->buffer_count || arg->bits >= l->buffers[arg->buffer].bytes))
			return err_set(e, -EINVAL, "%s: argument %u names no place in a buffer", l->label, i);
		if (arg->kind == ARG_BUFFER)
			*r = set_buffer(g, k, at++, block_of(g, l, arg->buffer), arg->bits, a);
		else
			*r = g->api.set_arg(k->kernel, at++, arg->kind == ARG_U32 || arg->kind == ARG_F32 ? 4 : 8,
					    &arg->bits);
	}
	for (uint32_t i = 0; i < l->buffer_count && !*r; i++)
		if (l->buffers[i].space == BUFFER_CONSTANT)
			*r = set_buffer(g, k, at++, block_of(g, l, i), 0, a);
	if (l->shared_bytes && !*r)
		*r = g->api.set_arg(k->kernel, at++, l->shared_bytes, NULL);
	/* A launch that passes something else than the kernel takes is our bug. */
	if (*r == CL_INVALID_ARG_INDEX || *r == CL_INVALID_ARG_SIZE ||
	    (!*r && !g->api.get_kernel_info(k->kernel, CL_KERNEL_NUM_ARGS, sizeof takes, &takes, NULL) && takes != at))
		return err_set(e, -EINVAL, "%s: kernel %s does not take the launch's %u arguments", l->label, k->name,
			       at);
	return 0;
}

/* ---- the queue ---- */

struct spans { /* events of what is timed, NULL: none; of every repeat with SPAN_KERNELS, else of the last one */
	cl_event event[LAUNCH_TIMED];
};

static void spans_free(const struct opencl_gpu *g, struct spans *s)
{
	for (uint32_t i = 0; i < LAUNCH_TIMED; i++)
		if (s->event[i])
			g->api.release_event(s->event[i]);
	*s = (struct spans){0};
}

/* event: where that of the span goes which is timed; NULL: nothing is. */
static cl_int enqueue_one(struct opencl_gpu *g, const struct opencl_kernel *k, const struct launch *l, int output,
			  cl_event *event, bool *nomem)
{
	size_t all[3], block[3];
	cl_int r = CL_SUCCESS;
	*nomem = false;
	for (unsigned i = 0; i < 3; i++) {
		block[i] = l->block[i];
		all[i] = (size_t)l->grid[i] * l->block[i];
	}
	if (output >= 0)
		r = fill(g, &l->buffers[output], g->block[output].memory, l->timed == SPAN_COPY_IN ? event : NULL,
			 nomem);
	if (!r && !*nomem && l->flush)
		r = opencl_evict(g);
	if (!r && !*nomem)
		r = g->api.launch(g->queue, k->kernel, 3, NULL, all, block, 0, NULL,
				  l->timed == SPAN_COPY_IN || l->timed == SPAN_COPY_OUT ? NULL : event);
	return r;
}

int opencl_wait(struct opencl_gpu *g, cl_event done, int64_t limit_ns, cl_int *r)
{
	int64_t start = opencl_now(), spent;
	for (;;) {
		cl_int status = CL_QUEUED;
		*r = g->api.get_event_info(done, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, NULL);
		if (*r || status <= CL_COMPLETE) {
			*r = *r ? *r : status;
			return 1;
		}
		spent = opencl_now() - start;
		if (spent > limit_ns)
			return 0;
		if (spent > SPIN_NS)
			usleep(PAUSE_US);
	}
}

/* From the start of one to the end of another, or of the same. */
static double elapsed_ms(const struct opencl_gpu *g, cl_event event, cl_event end)
{
	cl_ulong from = 0, to = 0;
	if (!event || !end || g->api.get_profiling_info(event, CL_PROFILING_COMMAND_START, sizeof from, &from, NULL) ||
	    g->api.get_profiling_info(end, CL_PROFILING_COMMAND_END, sizeof to, &to, NULL) || to < from)
		return -1;
	return 1e-6 * (double)(to - from);
}

static int run_all(struct opencl_gpu *g, const struct opencl_kernel *k, const struct launch *l, int output,
		   struct sample *out, struct err *e)
{
	const uint32_t repeats = l->repeats ? l->repeats : 1;
	const int64_t limit = opencl_limit_ns(l);
	size_t word_bytes = output >= 0 ? (size_t)l->buffers[output].output_words * 4 : 0;
	struct spans s = {0};
	cl_event done = NULL;
	cl_int r = CL_SUCCESS, ended = CL_SUCCESS;
	bool nomem = false;
	size_t stride = (size_t)launch_words(l) * 4;
	uint8_t *words = mem_zero(repeats, stride ? stride : 1);
	if (!words)
		return err_nomem(e);
	for (uint32_t i = 0; i < l->warmups && !r && !nomem; i++)
		r = enqueue_one(g, k, l, output, NULL, &nomem);
	for (uint32_t i = 0; i < repeats && !r && !nomem; i++) {
		const bool each = l->timed == SPAN_KERNELS, last = i + 1 == repeats,
			   first = i == 0 && l->timed == SPAN_LAUNCHES;
		const uint32_t at = each ? i : last && l->timed == SPAN_LAUNCHES && i ? 1 : 0;
		r = enqueue_one(g, k, l, output, each || first || last ? &s.event[at] : NULL, &nomem);
		if (!r && !nomem && word_bytes)
			r = g->api.read_buffer(g->queue, g->block[output].memory, CL_FALSE, 0, word_bytes,
					       words + i * stride, 0, NULL,
					       last && l->timed == SPAN_COPY_OUT ? &s.event[0] : NULL);
	}
	/* Even after a refusal what was queued before it has to end before anything is reused. */
	cl_int marked = g->api.marker(g->queue, 0, NULL, &done);
	g->api.flush(g->queue);
	/* If late, the words' memory is lost with the device, which may still write there. */
	if (!marked && !opencl_wait(g, done, limit, &ended))
		return opencl_late(g, l, limit / 1000000, out);
	if (!marked)
		g->api.release_event(done);
	r = r ? r : marked ? marked : ended;
	const uint32_t from = l->timed == SPAN_KERNELS ? repeats - 1 : 0,
		       to = l->timed == SPAN_LAUNCHES && repeats > 1 ? 1 : from;
	out->elapsed_ms = r ? -1 : elapsed_ms(g, s.event[from], s.event[to]);
	for (uint32_t i = 0; i < repeats && l->timed == SPAN_KERNELS && !r && !nomem; i++)
		launch_set_time(l, (uint32_t *)(void *)words, i, 1e6 * elapsed_ms(g, s.event[i], s.event[i]));
	spans_free(g, &s);
	if (nomem || r) {
		mem_free(words);
		if (nomem)
			return err_nomem(e);
		opencl_said(g, l, r, out);
		if (ended) /* it was let through, and did not end as it should */
			out->outcome = OUTCOME_CRASH;
		return 0;
	}
	out->outcome = OUTCOME_OK;
	out->repeats = repeats;
	out->words_per_repeat = (uint32_t)(stride / 4);
	out->words = stride ? (uint32_t *)(void *)words : NULL;
	if (!stride)
		mem_free(words);
	return 0;
}

/* What a kernel of OpenCL 1.2 cannot be given. NULL: nothing of it. */
static const char *cannot(const struct opencl_gpu *g, const struct launch *l)
{
	if (l->texture_count)
		return "textures are not passed to OpenCL kernels";
	for (uint32_t i = 0; i < l->buffer_count; i++)
		if (l->buffers[i].space == BUFFER_HOST)
			return "the host's memory is not passed to OpenCL kernels";
	for (uint32_t i = 0; i < l->buffer_count; i++)
		if (l->buffers[i].ring_count && l->buffers[i].ring_word != 4)
			return "an OpenCL buffer cannot hold addresses";
	for (uint32_t i = 0; i < l->arg_count; i++)
		if (l->args[i].kind == ARG_BUFFER && g->sub_align && l->args[i].bits % g->sub_align)
			return "an OpenCL buffer cannot be passed from this offset on";
	for (unsigned i = 0; i < 3; i++)
		if (!l->grid[i] || !l->block[i])
			return "the grid or the block is empty";
	return NULL;
}

int opencl_run(struct gpu *gpu, uint32_t id, const struct launch *l, struct sample *out, struct err *e)
{
	struct opencl_gpu *g = (struct opencl_gpu *)gpu;
	struct arguments a = {.count = 0};
	int output = -1;
	cl_int r;

	memset(out, 0, sizeof *out);
	out->elapsed_ms = -1;
	if (g->lost)
		return err_set(e, -ENODEV, "%s is lost: %s", g->info.spec, g->lost_why);
	if (id >= g->kernel_count)
		return err_set(e, -EINVAL, "%s: there is no kernel %u", l->label, id);
	if (l->buffer_count > LAUNCH_BUFFERS || l->arg_count > LAUNCH_ARGS)
		return err_set(e, -EINVAL, "%s: too many arguments or buffers", l->label);
	if (l->timed == SPAN_KERNELS && l->repeats > LAUNCH_TIMED)
		return err_set(e, -EINVAL, "%s: more than %d repeats are timed", l->label, LAUNCH_TIMED);
	int checked = launch_check_copy(l, e);
	if (checked)
		return checked;
	const char *why = cannot(g, l);
	if (why)
		return refused(out, why);
	for (uint32_t i = 0; i < l->buffer_count; i++) {
		if (l->buffers[i].output && output >= 0)
			return err_set(e, -EINVAL, "%s: more than one output buffer", l->label);
		output = l->buffers[i].output ? (int)i : output;
	}
	int rc = l->flush ? opencl_evict_ready(g, e) : 0;
	if (rc)
		return rc;
	rc = prepare(g, l, &r, e);
	if (!rc && !r)
		rc = set_arguments(g, &g->kernels[id], l, &a, &r, e);
	if (!rc && r)
		rc = opencl_said(g, l, r, out);
	else if (!rc && l->timed == SPAN_COPIES)
		rc = opencl_copies(g, &g->kernels[id], l, out, e);
	else if (!rc)
		rc = run_all(g, &g->kernels[id], l, output, out, e);
	for (uint32_t i = 0; i < a.count && !g->lost; i++)
		g->api.release_memory(a.part[i]);
	return rc;
}
