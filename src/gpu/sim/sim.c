/* The simulated GPU behind the seam of gpu.h. */
#include "base/embed.h"
#include "base/str.h"
#include "gpu/sim/func/compile.h"
#include "gpu/sim/func/fold.h"
#include "gpu/sim/sim_state.h"
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Decoded kernels above this are put away, the one used longest ago first; their text stays. */
#define DECODED_MAX	  (48u << 20)
#define DEFAULT_LIMIT_MS  60000u
#define MODULE_NAME_BYTES 64

void sim_describe(struct device_info *d, const struct sim_spec *s, const char *name)
{
	*d = (struct device_info){.ptx_version = s->ptx_version,
				  .cc = s->cc,
				  .sm_count = s->sm_count,
				  .warp_size = s->warp_size,
				  .max_threads_per_block = s->max_threads_per_block,
				  .max_threads_per_sm = s->max_threads_per_sm,
				  .registers_per_block = s->registers_per_sm,
				  .shared_per_block = s->shared_per_block,
				  .constant_bytes = s->constant_bytes,
				  .memory_bytes = s->memory_bytes,
				  .clock_hz = s->clock_hz,
				  .has_f64 = s->has_f64,
				  .has_f16 = s->has_f16,
				  .has_fma = s->has_fma};
	snprintf(d->backend, sizeof d->backend, "sim");
	snprintf(d->spec, sizeof d->spec, "sim:%s", name);
	snprintf(d->name, sizeof d->name, "%s", s->name);
	snprintf(d->uuid, sizeof d->uuid, "SIM-%016llx", (unsigned long long)s->hash);
	snprintf(d->driver, sizeof d->driver, "simulated");
	snprintf(d->dialect, sizeof d->dialect, "ptx");
	snprintf(d->target, sizeof d->target, "%s", s->target);
}

static int list(struct device_list *out, struct err *e)
{
	for (size_t i = 0; i < embedded_count; i++) {
		const struct embedded *f = &embedded_files[i];
		if (!str_starts(f->path, "gpus/") || !str_ends(f->path, ".gpu"))
			continue;
		struct arena a;
		struct sim_spec *s;
		char name[MODULE_NAME_BYTES];
		snprintf(name, sizeof name, "%.*s", (int)(strlen(f->path) - strlen("gpus/.gpu")),
			 f->path + strlen("gpus/"));
		arena_init(&a);
		int r = spec_open(&s, &a, name, e);
		if (!r) {
			struct device_info *more = mem_grow(out->items, (out->count + 1) * sizeof *more);
			if (more) {
				out->items = more;
				sim_describe(&more[out->count++], s, name);
			} else {
				r = err_nomem(e);
			}
		}
		arena_free(&a);
		if (r)
			return r;
	}
	return 0;
}

static void kernel_free(struct sim_kernel *k)
{
	mem_free(k->name);
	mem_free(k->entry);
	mem_free(k->text);
	arena_free(&k->arena);
}

static void close_gpu(struct gpu *gpu)
{
	struct sim *g = (struct sim *)gpu;
	if (!g)
		return;
	for (uint32_t i = 0; i < g->kernel_count; i++)
		kernel_free(&g->kernel[i]);
	mem_free(g->kernel);
	mem_free(g->print.text);
	sim_memory_close(g);
	time_close(g->time);
	arena_free(&g->arena);
	mem_free(g);
}

#define THREADS_MOST  256
#define THREADS_USUAL 16 /* more hardly help one launch */

/* How many host threads a launch may use: what FATHOM_THREADS says, else one a processor. */
static int threads_wanted(uint32_t *threads, struct err *e)
{
	const char *text = getenv("FATHOM_THREADS");
	if (!text || !*text) {
		long n = sysconf(_SC_NPROCESSORS_ONLN);
		*threads = n < 1 ? 1 : n > THREADS_USUAL ? THREADS_USUAL : (uint32_t)n;
		return 0;
	}
	char *end;
	errno = 0;
	unsigned long n = strtoul(text, &end, 10);
	if (errno || *end || *text == '-' || n < 1 || n > THREADS_MOST)
		return err_set(e, -EINVAL, "FATHOM_THREADS is \"%s\", not a number of threads from 1 to %d", text,
			       THREADS_MOST);
	*threads = (uint32_t)n;
	return 0;
}

static int open_with(struct sim *g, const struct sim_spec *s, const char *name, uint64_t seed, struct err *e)
{
	uint32_t threads = 1;
	if (threads_wanted(&threads, e))
		return -EINVAL;
	g->spec = s;
	sim_describe(&g->info, s, name);
	g->constant = mem_zero(s->constant_bytes ? s->constant_bytes : 1, 1);
	g->sfu = mem_zero(1, sizeof *g->sfu);
	if (!g->constant || !g->sfu || time_open(&g->time, s, seed))
		return err_nomem(e);
	time_threads(g->time, threads);
	return 0;
}

int sim_open_spec(struct gpu **out, const struct sim_spec *s, uint64_t seed, struct err *e)
{
	struct sim *g = mem_zero(1, sizeof *g);
	if (!g)
		return err_nomem(e);
	g->gpu.ops = &gpu_sim;
	arena_init(&g->arena);
	int r = open_with(g, s, s->file, seed, e);
	if (r) {
		close_gpu(&g->gpu);
		return r;
	}
	*out = &g->gpu;
	return 0;
}

static int open_gpu(struct gpu **out, const char *name, uint64_t seed, struct err *e)
{
	struct sim *g = mem_zero(1, sizeof *g);
	struct sim_spec *s;
	if (!g)
		return err_nomem(e);
	g->gpu.ops = &gpu_sim;
	arena_init(&g->arena);
	int r = spec_open(&s, &g->arena, name, e);
	if (!r)
		r = open_with(g, s, name, seed, e);
	if (r) {
		close_gpu(&g->gpu);
		return r;
	}
	*out = &g->gpu;
	return 0;
}

static const struct device_info *info(struct gpu *gpu)
{
	return &((struct sim *)gpu)->info;
}

/* ---- kernels ---- */

int sim_check_features(const struct sim_spec *s, const char *name, const struct func_program *p, const char *target,
		       struct err *e)
{
	int least = str_starts(target, "sm_") ? (int)strtol(target + 3, NULL, 10) : 0;
	if (least > s->cc)
		return err_set(e, -EINVAL, "%s: the kernel is for %s, but %s is %s", name, target, s->name, s->target);
	for (uint32_t pc = 0; pc < p->inst_count; pc++) {
		const struct func_info *i = &p->info[pc];
		bool f16 = i->type == PTX_F16 || i->type == PTX_F16X2;
		const char *what = i->type == PTX_F64 && !s->has_f64		   ? "double precision"
				   : f16 && !s->has_f16 && i->ptx_op != PTX_OP_CVT ? "half precision arithmetic"
				   : i->ptx_op == PTX_OP_FMA && i->type == PTX_F32 && !s->has_fma
				       ? "a fused multiply-add (fma.f32)"
				       : NULL;
		if (what)
			return err_set(e, -EINVAL, "%s:%u: %s has no %s", name, i->line, s->name, what);
	}
	return 0;
}

int sim_decode(struct sim *g, struct sim_kernel *k, struct err *e)
{
	if (k->func)
		return 0;
	struct arena scratch;
	struct ptx_module *m;
	struct func_target t;
	spec_target(g->spec, &t);
	t.sfu = g->sfu;
	arena_init(&scratch);
	int r = ptx_parse(&m, &scratch, k->name, k->text, strlen(k->text), e);
	if (!r)
		r = func_decode(&k->func, &k->arena, k->name, m, k->entry, &t, e);
	if (!r)
		r = sim_check_features(g->spec, k->name, k->func, m->target, e);
	if (!r && time_prepare(&k->time, &k->arena, g->spec, k->func))
		r = err_nomem(e);
	arena_free(&scratch);
	if (!r && k->func->uses_sfu && !g->sfu_built) {
		sfu_build(g->sfu, g->spec->sfu);
		g->sfu_built = true;
	}
	if (r) {
		arena_free(&k->arena);
		k->func = NULL;
		k->compiled = NULL;
		return r;
	}
	g->decoded_bytes += k->arena.bytes;
	k->used = ++g->runs;
	while (g->decoded_bytes > DECODED_MAX) {
		struct sim_kernel *old = NULL;
		for (uint32_t i = 0; i < g->kernel_count; i++) {
			struct sim_kernel *c = &g->kernel[i];
			if (c != k && c->func && (!old || c->used < old->used))
				old = c;
		}
		if (!old)
			break;
		g->decoded_bytes -= old->arena.bytes;
		arena_free(&old->arena);
		old->func = NULL;
		old->time = old->compiled = NULL;
	}
	return 0;
}

int sim_compile(const struct sim_spec *s, struct func_program **p, struct time_program **out, struct arena *a)
{
	struct func_program *f = *p;
	if ((s->compiler_registers && func_compile(&f, a, *p, s->compiler_registers)) ||
	    (s->shared_operands && func_fold(&f, a, f)) || time_prepare(out, a, s, f))
		return -ENOMEM;
	*p = f;
	return 0;
}

/* What a launch runs: the kernel as it is written, or in the order of the modelled device's compiler. NULL: no memory. */
static struct time_program *program_of(struct sim *g, struct sim_kernel *k, bool compiled)
{
	struct func_program *f = k->func;
	size_t before = k->arena.bytes;
	if (!compiled || !(g->spec->compiler_registers || g->spec->shared_operands))
		return k->time;
	if (!k->compiled && sim_compile(g->spec, &f, &k->compiled, &k->arena))
		k->compiled = NULL;
	g->decoded_bytes += k->arena.bytes - before;
	return k->compiled;
}

static char *copy(const char *text)
{
	size_t n = strlen(text) + 1;
	char *p = mem_alloc(n);
	return p ? memcpy(p, text, n) : NULL;
}

static int load_one(struct sim *g, const struct kernel_source *src, struct native_info *native, struct err *e)
{
	if (g->kernel_count == g->kernel_cap) {
		uint32_t cap = g->kernel_cap ? g->kernel_cap * 2 : 32;
		struct sim_kernel *more = mem_grow(g->kernel, cap * sizeof *more);
		if (!more)
			return err_nomem(e);
		g->kernel = more;
		g->kernel_cap = cap;
	}
	struct sim_kernel *k = &g->kernel[g->kernel_count];
	*k = (struct sim_kernel){.name = copy(src->name), .entry = copy(src->entry), .text = copy(src->text)};
	arena_init(&k->arena);
	int r = k->name && k->entry && k->text ? sim_decode(g, k, e) : err_nomem(e);
	if (!r && native && sim_native(native, g->spec, k->func, k->time))
		r = err_nomem(e);
	if (r) {
		if (k->func)
			g->decoded_bytes -= k->arena.bytes;
		kernel_free(k);
		return r;
	}
	g->kernel_count++;
	return 0;
}

static int load(struct gpu *gpu, const struct kernel_source *src, size_t n, uint32_t *ids, struct native_info *native,
		struct err *e)
{
	struct sim *g = (struct sim *)gpu;
	for (size_t i = 0; i < n; i++) {
		int r = load_one(g, &src[i], native ? &native[i] : NULL, e);
		if (r)
			return r;
		ids[i] = g->kernel_count - 1;
	}
	return 0;
}

/* ---- launches ---- */

static int arguments(const struct sim *g, const struct sim_kernel *k, const struct launch *l, uint8_t *params,
		     struct err *e)
{
	if (l->arg_count != k->func->param_count)
		return err_set(e, -EINVAL, "%s takes %u argument%s, not %u", k->name, k->func->param_count,
			       k->func->param_count == 1 ? "" : "s", l->arg_count);
	for (uint32_t i = 0; i < l->arg_count; i++) {
		const struct launch_arg *a = &l->args[i];
		const struct ptx_param *p = &k->func->param[i];
		uint64_t bits = a->bits;
		if (g->given[i]) {
			memcpy(params + p->offset, g->given[i], p->size);
			continue;
		}
		uint32_t bytes = a->kind == ARG_U32 || a->kind == ARG_F32 ? 4 : 8;
		if (a->kind == ARG_BUFFER) {
			if (a->buffer >= l->buffer_count || l->buffers[a->buffer].space == BUFFER_CONSTANT)
				return err_set(e, -EINVAL, "argument %u of %s names a buffer that is not there", i + 1,
					       k->name);
			bits += g->buffer[a->buffer].base;
		} else if (a->kind == ARG_TEXTURE) {
			bits = FUNC_TEXTURE_HANDLE + a->buffer;
		}
		if (bytes != p->size && !(bytes == 4 && p->size < 4))
			return err_set(e, -EINVAL, "argument %u of %s has %u bytes, its parameter %u", i + 1, k->name,
				       bytes, p->size);
		memcpy(params + p->offset, &bits, p->size);
	}
	return 0;
}

static const uint8_t *output_of(const struct sim *g, const struct launch *l, uint32_t *words)
{
	*words = 0;
	for (uint32_t i = 0; i < l->buffer_count; i++) {
		if (!l->buffers[i].output || l->buffers[i].space != BUFFER_GLOBAL)
			continue;
		*words = l->buffers[i].output_words;
		for (uint32_t k = 0; k < g->memory.count; k++)
			if (g->memory.region[k].base == g->buffer[i].base)
				return g->memory.region[k].data;
	}
	return NULL;
}

static uint64_t output_bytes(const struct launch *l)
{
	for (uint32_t i = 0; i < l->buffer_count; i++)
		if (l->buffers[i].output && l->buffers[i].space == BUFFER_GLOBAL)
			return l->buffers[i].bytes;
	return 0;
}

static int launches(struct sim *g, uint32_t id, const struct launch *l, struct func_launch *f, struct sample *out,
		    struct err *e)
{
	uint32_t repeats = l->repeats ? l->repeats : 1, words;
	double behind = 0; /* seconds of the launches behind the first */
	struct time_request q = {.program = program_of(g, &g->kernel[id], l->compiled),
				 .launch = f,
				 .no_solo = g->general,
				 .apart = g->apart,
				 .hook = g->hook,
				 .check = sim_check_launch(g->check, g->kernel[id].name, g->kernel[id].func),
				 .stats = g->stats,
				 .limit_cycles = g->limit_cycles,
				 .limit_instructions = g->limit_instructions,
				 .watch = g->watch,
				 .untimed = g->untimed,
				 .limit_ms = l->time_limit_ms ? l->time_limit_ms : DEFAULT_LIMIT_MS};
	if (!q.program)
		return err_nomem(e);
	output_of(g, l, &words);
	double in = sim_copy_seconds(g->spec, g->spec->host.h2d, output_bytes(l));
	double back = sim_copy_seconds(g->spec, g->spec->host.d2h, 4ull * words);
	q.host_ns = 1e9 * (in + back + g->spec->host.launch_latency);
	const uint32_t each = launch_words(l);
	if (each) {
		out->words = mem_zero((size_t)repeats * each, sizeof *out->words);
		if (!out->words)
			return err_nomem(e);
	}
	out->repeats = repeats;
	out->words_per_repeat = each;
	if (l->timed == SPAN_COPIES)
		return sim_copies(g, id, l, f, &q, out, e);
	for (uint64_t n = 0; n < (uint64_t)l->warmups + repeats; n++) {
		int r = sim_kernel_once(g, id, l, f, &q, out, e);
		if (r)
			return r < 0 ? r : 0;
		out->elapsed_ms = l->timed == SPAN_COPY_IN ? in * 1e3
				  : l->timed == SPAN_COPY_OUT
				      ? back * 1e3
				      : g->result.ns * 1e-6 + g->spec->host.launch_latency * 1e3;
		behind += n > l->warmups ? fmax(g->spec->host.launch_interval, 1e-9 * g->result.ns) : 0;
		if (n >= l->warmups && words) {
			const uint8_t *data = output_of(g, l, &words);
			memcpy(out->words + (n - l->warmups) * each, data, (size_t)words * 4);
		}
		if (n >= l->warmups && l->timed == SPAN_KERNELS)
			launch_set_time(l, out->words, (uint32_t)(n - l->warmups), 1e6 * out->elapsed_ms);
	}
	out->elapsed_ms += l->timed == SPAN_LAUNCHES ? 1e3 * behind : 0;
	return 0;
}

static int run(struct gpu *gpu, uint32_t id, const struct launch *l, struct sample *out, struct err *e)
{
	struct sim *g = (struct sim *)gpu;
	uint8_t params[LAUNCH_ARGS * 8 + 4096] = {0};
	*out = (struct sample){.outcome = OUTCOME_OK, .elapsed_ms = -1};
	if (id >= g->kernel_count)
		return err_set(e, -EINVAL, "kernel %u was not loaded", id);
	struct sim_kernel *k = &g->kernel[id];
	int r = sim_decode(g, k, e);
	if (r)
		return r;
	k->used = ++g->runs;
	if (k->func->param_bytes > sizeof params)
		return err_set(e, -EINVAL, "%s has %u bytes of parameters, more than %zu", k->name,
			       k->func->param_bytes, sizeof params);
	r = launch_check_textures(l, e);
	if (!r)
		r = launch_check_copy(l, e);
	if (!r)
		r = sim_memory_layout(g, id, l, out, e);
	if (r)
		return r > 0 ? 0 : r;
	sim_textures_place(g, l);
	sim_memory_check(g, l);
	r = arguments(g, k, l, params, e);
	if (r)
		return r;
	uint64_t shared = k->func->shared_static;
	if (l->shared_bytes)
		shared = ((shared + 15) & ~15ull) + l->shared_bytes;
	if (shared > UINT32_MAX)
		shared = UINT32_MAX; /* refused by the launch */
	struct func_launch f = {.grid = {l->grid[0], l->grid[1], l->grid[2]},
				.block = {l->block[0], l->block[1], l->block[2]},
				.shared_bytes = (uint32_t)shared,
				.params = params,
				.constant_bytes = g->spec->constant_bytes,
				.memory = &g->memory,
				.texture = g->texture,
				.texture_count = l->texture_count};
	for (uint32_t i = 0; i < l->buffer_count; i++)
		if (l->buffers[i].space == BUFFER_HOST) {
			f.host_base = g->buffer[i].base;
			f.host_bytes = l->buffers[i].bytes;
		}
	g->print.length = 0;
	g->print.lost = false;
	if (k->func->prints) {
		if (!g->print.text && !(g->print.text = mem_alloc(FUNC_PRINT_MOST)))
			return err_nomem(e);
		f.print = &g->print;
	}
	r = launches(g, id, l, &f, out, e);
	if (r || (out->outcome != OUTCOME_OK && !sim_keeps(g, out))) {
		mem_free(out->words);
		out->words = NULL;
		out->repeats = out->words_per_repeat = 0;
	}
	return r;
}

/* ---- beyond the seam ---- */

void sim_trace(struct gpu *gpu, const struct time_hook *hook)
{
	((struct sim *)gpu)->hook = hook;
}

void sim_stats(struct gpu *gpu, struct time_stats *s)
{
	((struct sim *)gpu)->stats = s;
}

void sim_limit(struct gpu *gpu, uint64_t cycles, uint64_t instructions)
{
	((struct sim *)gpu)->limit_cycles = cycles;
	((struct sim *)gpu)->limit_instructions = instructions;
}

void sim_untimed(struct gpu *gpu, bool on)
{
	((struct sim *)gpu)->untimed = on;
}

void sim_watch(struct gpu *gpu, const struct func_watch *w)
{
	((struct sim *)gpu)->watch = w;
}

const uint8_t *sim_buffer(const struct gpu *gpu, uint32_t n, uint64_t *bytes)
{
	const struct sim *g = (const struct sim *)gpu;
	for (uint32_t k = 0; n < g->buffer_count && g->buffer[n].bytes && k < g->memory.count; k++)
		if (g->memory.region[k].base == g->buffer[n].base) {
			*bytes = g->buffer[n].bytes;
			return g->memory.region[k].data;
		}
	return NULL;
}

void sim_threads(struct gpu *gpu, uint32_t threads)
{
	time_threads(((struct sim *)gpu)->time, threads);
}

void sim_general(struct gpu *gpu, bool on)
{
	((struct sim *)gpu)->general = on;
}

void sim_apart(struct gpu *gpu, bool on)
{
	((struct sim *)gpu)->apart = on;
}

const struct sim_spec *sim_described(const struct gpu *gpu)
{
	return ((const struct sim *)gpu)->spec;
}

const struct time_result *sim_result(const struct gpu *gpu)
{
	return &((const struct sim *)gpu)->result;
}

void sim_argument(struct gpu *gpu, uint32_t n, const uint8_t *bytes)
{
	((struct sim *)gpu)->given[n] = bytes;
}

const struct func_print *sim_printed(const struct gpu *gpu)
{
	return &((const struct sim *)gpu)->print;
}

const struct func_program *sim_program(struct gpu *gpu, uint32_t id)
{
	struct sim *g = (struct sim *)gpu;
	struct err e = {0};
	if (id >= g->kernel_count || sim_decode(g, &g->kernel[id], &e))
		return NULL;
	return g->kernel[id].func;
}

const struct gpu_ops gpu_sim = {
    .name = "sim",
    .help = "sim:NAME or sim:FILE.gpu, a simulated GPU: built in, or described by a file",
    .list = list,
    .open = open_gpu,
    .info = info,
    .load = load,
    .run = run,
    .close = close_gpu,
};
