/* What the host does to the simulated GPU's memory before a launch. */
#include "base/str.h"
#include "gpu/sim/sim_state.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>

#define ALIGN 256u
#define FRESH_FROM                                                                                                     \
	(256u * 1024) /* larger buffers are zeroed by taking fresh memory, which costs only what is touched */

static int refuse(struct sample *out, const char *text)
{
	out->outcome = OUTCOME_REFUSED;
	snprintf(out->message, sizeof out->message, "%s", text);
	return 1;
}

static uint64_t fingerprint(const struct launch_buffer *b)
{
	uint64_t shape[4] = {b->bytes, b->ring_count, b->ring_word, b->ring_unit};
	uint64_t h = hash64(shape, sizeof shape, 1);
	if (b->init && b->init_bytes)
		h = hash64(b->init, b->init_bytes, h);
	/* Rings can be long, so they are taken a word at a time. */
	for (uint32_t i = 0; i < b->ring_count; i++) {
		h = (h ^ b->ring[i]) * 0x9e3779b97f4a7c15u;
		h ^= h >> 29;
	}
	return h ? h : 1;
}

static int check(const struct launch_buffer *b, struct err *e)
{
	if (b->init_bytes > b->bytes)
		return err_set(e, -EINVAL, "a buffer of %llu bytes is initialised with %llu",
			       (unsigned long long)b->bytes, (unsigned long long)b->init_bytes);
	if (b->output && (uint64_t)b->output_words * 4 > b->bytes)
		return err_set(e, -EINVAL, "%u output words do not fit in a buffer of %llu bytes", b->output_words,
			       (unsigned long long)b->bytes);
	if (b->ring_count && b->ring_word != 4 && b->ring_word != 8)
		return err_set(e, -EINVAL, "the words of a ring have 4 or 8 bytes, not %u", b->ring_word);
	for (uint32_t i = 0; i < b->ring_count; i++)
		if (b->ring[i] > b->bytes || b->bytes - b->ring[i] < b->ring_word)
			return err_set(e, -EINVAL, "entry %u of a ring lies outside its buffer", i);
	return 0;
}

int sim_memory_layout(struct sim *g, uint32_t id, const struct launch *l, struct sample *out, struct err *e)
{
	const struct func_program *p = g->kernel[id].func;
	uint64_t base = FUNC_GLOBAL_BASE, total = p->global_bytes + l->copy.in + l->copy.out;
	struct sim_buffer want[LAUNCH_BUFFERS + LAUNCH_TEXTURES] = {0};
	if (l->buffer_count > LAUNCH_BUFFERS || l->arg_count > LAUNCH_ARGS)
		return err_set(e, -EINVAL, "the launch has too many buffers or arguments");
	if (total > g->spec->memory_bytes)
		return refuse(out, "the copies do not fit in the memory of this GPU");
	for (uint32_t i = 0; i < l->buffer_count; i++) {
		const struct launch_buffer *b = &l->buffers[i];
		int r = check(b, e);
		if (r)
			return r;
		if (b->space == BUFFER_CONSTANT)
			continue;
		uint64_t align = b->align > ALIGN ? b->align : ALIGN;
		base = (base + align - 1) / align * align;
		want[i] = (struct sim_buffer){.base = base, .bytes = b->bytes ? b->bytes : 1};
		total += b->space == BUFFER_HOST ? 0 : want[i].bytes;
		if (total > g->spec->memory_bytes)
			return refuse(out, "the buffers do not fit in the memory of this GPU");
		base += want[i].bytes;
	}
	for (uint32_t i = 0; i < l->texture_count; i++) {
		uint64_t bytes = sim_texture_bytes(g, l, i);
		if (!bytes)
			continue;
		base = (base + ALIGN - 1) / ALIGN * ALIGN;
		want[l->buffer_count + i] = (struct sim_buffer){.base = base, .bytes = bytes};
		total += bytes;
		if (total < bytes || total > g->spec->memory_bytes)
			return refuse(out, "the textures do not fit in the memory of this GPU");
		base += bytes;
	}
	uint32_t count = l->buffer_count + l->texture_count;
	/* Kernels of one text share its variables. */
	const bool module =
	    g->module == id + 1 || (g->module && strcmp(g->kernel[g->module - 1].text, g->kernel[id].text) == 0);
	bool same = module && g->buffer_count == count;
	for (uint32_t i = 0; same && i < count; i++)
		same = g->buffer[i].base == want[i].base && g->buffer[i].bytes == want[i].bytes;
	if (same) {
		g->module = id + 1;
		return 0;
	}

	/* Regions that stay where they were keep their content, so that a warm cache stays right about it. */
	struct func_memory old = g->memory;
	struct sim_buffer was[LAUNCH_BUFFERS + LAUNCH_TEXTURES];
	uint32_t was_count = g->buffer_count;
	memcpy(was, g->buffer, sizeof was);
	memset(&g->memory, 0, sizeof g->memory);
	memset(g->buffer, 0, sizeof g->buffer);
	g->buffer_count = count;
	int r = 0;
	for (uint32_t i = 0; !r && i < count; i++) {
		if (!want[i].bytes)
			continue;
		for (uint32_t k = 0; k < old.count; k++) {
			struct func_region *o = &old.region[k];
			if (!o->data || o->base != want[i].base || o->size != want[i].bytes)
				continue;
			g->memory.region[g->memory.count++] = *o;
			o->data = NULL;
			for (uint32_t n = 0; n < was_count; n++)
				if (was[n].base == want[i].base && was[n].bytes == want[i].bytes)
					want[i].content = was[n].content;
			break;
		}
		if (!g->memory.count || g->memory.region[g->memory.count - 1].base != want[i].base) {
			r = func_memory_add(&g->memory, want[i].base, want[i].bytes, NULL);
			if (!r)
				time_forget(g->time, TIME_GLOBAL, want[i].base, want[i].bytes);
		}
		g->buffer[i] = want[i];
	}
	struct func_region *kept = NULL;
	for (uint32_t k = 0; module && k < old.count; k++)
		if (old.region[k].data && old.region[k].base == FUNC_MODULE_BASE)
			kept = &old.region[k];
	if (!r && kept) {
		g->memory.region[g->memory.count++] = *kept;
		kept->data = NULL;
	} else if (!r && p->global_bytes) {
		struct func_region *v;
		r = func_memory_add(&g->memory, FUNC_MODULE_BASE, p->global_bytes, &v);
		if (!r && p->global_init)
			memcpy(v->data, p->global_init, p->global_bytes);
		time_forget(g->time, TIME_GLOBAL, FUNC_MODULE_BASE, p->global_bytes);
	}
	g->module = id + 1;
	func_memory_free(&old);
	if (r) {
		g->module = 0;
		g->buffer_count = 0;
		return r == -ENOMEM ? err_nomem(e) : err_set(e, r, "the buffers do not fit in the address space");
	}
	return 0;
}

static void put(uint8_t *at, uint64_t value, uint8_t bytes)
{
	uint32_t low = (uint32_t)value;
	if (bytes == 8)
		memcpy(at, &value, 8);
	else
		memcpy(at, &low, 4);
}

/* Bytes, then ring, over memory that is zero. `base` is added to the targets of 8-byte words only. */
static void write_content(uint8_t *data, const struct launch_buffer *b, uint64_t base)
{
	uint32_t unit = b->ring_unit ? b->ring_unit : 1;
	if (b->init && b->init_bytes)
		memcpy(data, b->init, b->init_bytes);
	for (uint32_t i = 0; i < b->ring_count; i++) {
		uint64_t to = b->ring[i + 1 < b->ring_count ? i + 1 : 0];
		put(data + b->ring[i], b->ring_word == 8 ? base + to : to / unit, b->ring_word);
	}
}

static int fill_global(struct sim *g, const struct launch_buffer *b, struct sim_buffer *s)
{
	struct func_region *r = NULL;
	for (uint32_t k = 0; k < g->memory.count; k++)
		if (g->memory.region[k].base == s->base)
			r = &g->memory.region[k];
	if (!r)
		return -EINVAL;
	if (b->as_is)
		return 0;
	uint64_t content = fingerprint(b);
	/* What is there already is not copied again: the caches may keep it. */
	if (content == s->content && !r->written)
		return 0;
	if (s->content || r->written) {
		if (r->size >= FRESH_FROM) {
			uint8_t *fresh = func_region_memory(r->size);
			if (!fresh)
				return -ENOMEM;
			func_region_free(r);
			r->data = fresh;
		} else {
			memset(r->data, 0, r->size);
		}
	}
	write_content(r->data, b, s->base);
	r->written = false;
	s->content = content;
	time_forget(g->time, TIME_GLOBAL, r->base, r->size);
	return 0;
}

static int fill_constant(struct sim *g, uint32_t id, const struct launch *l, struct err *e)
{
	const struct func_program *p = g->kernel[id].func;
	if (p->const_bytes > g->spec->constant_bytes)
		return 0; /* the launch will be refused */
	uint64_t content = p->const_init ? hash64(p->const_init, p->const_bytes, 2) : 2;
	for (uint32_t i = 0; i < l->buffer_count; i++)
		if (l->buffers[i].space == BUFFER_CONSTANT) {
			uint64_t h[2] = {content, fingerprint(&l->buffers[i])};
			content = hash64(h, sizeof h, hash64(l->buffers[i].symbol, strlen(l->buffers[i].symbol), 3));
		}
	if (content == g->constant_content)
		return 0;
	/* Only the bytes that change are written, and only their lines are lost. */
	uint8_t *fresh = mem_zero(g->spec->constant_bytes, 1);
	if (!fresh)
		return err_nomem(e);
	if (p->const_init)
		memcpy(fresh, p->const_init, p->const_bytes);
	for (uint32_t i = 0; i < l->buffer_count; i++) {
		const struct launch_buffer *b = &l->buffers[i];
		if (b->space != BUFFER_CONSTANT)
			continue;
		const struct func_symbol *s = NULL;
		for (uint32_t k = 0; k < p->symbol_count; k++)
			if (p->symbol[k].space == PTX_CONST && !strcmp(p->symbol[k].name, b->symbol))
				s = &p->symbol[k];
		if (!s || b->bytes > s->size) {
			mem_free(fresh);
			return s ? err_set(e, -EINVAL, "%s: %llu bytes do not fit in constant variable %s of %llu",
					   g->kernel[id].name, (unsigned long long)b->bytes, b->symbol,
					   (unsigned long long)s->size)
				 : err_set(e, -EINVAL, "%s has no constant variable named %s", g->kernel[id].name,
					   b->symbol);
		}
		write_content(fresh + s->address, b, 0);
	}
	for (uint64_t at = 0; at < g->spec->constant_bytes; at += 64) {
		uint64_t n = g->spec->constant_bytes - at < 64 ? g->spec->constant_bytes - at : 64;
		if (memcmp(fresh + at, g->constant + at, n))
			time_forget(g->time, TIME_CONSTANT, at, n);
	}
	mem_free(g->constant);
	g->constant = fresh;
	g->constant_content = content;
	return 0;
}

int sim_memory_fill(struct sim *g, uint32_t id, const struct launch *l, struct err *e)
{
	for (uint32_t i = 0; i < l->buffer_count; i++) {
		if (l->buffers[i].space == BUFFER_CONSTANT)
			continue;
		int r = fill_global(g, &l->buffers[i], &g->buffer[i]);
		if (r)
			return r == -ENOMEM ? err_nomem(e) : err_set(e, r, "a buffer of the launch has no memory");
	}
	int r = sim_textures_fill(g, l, e);
	if (r)
		return r;
	return fill_constant(g, id, l, e);
}

/* ---- what is looked at ---- */

static bool memory_of(void *ctx, uint64_t address, struct sim_check_memory *m)
{
	const struct sim *g = ctx;
	for (uint32_t k = 0; k < g->memory.count; k++) {
		const struct func_region *r = &g->memory.region[k];
		*m = (struct sim_check_memory){r->base, r->size, r->base < FUNC_GLOBAL_BASE};
		if (address - r->base < r->size)
			return true;
	}
	return false;
}

int sim_watch_faults(struct gpu *gpu, void (*say)(void *to, const char *sentence), void *to)
{
	struct sim *g = (struct sim *)gpu;
	const struct sim_check_owner owner = {.ctx = g, .memory = memory_of, .to = to, .say = say};
	/* Twice as much: buffers begin at addresses that are aligned. */
	return sim_check_open(&g->check, &owner, FUNC_GLOBAL_BASE, 2 * g->spec->memory_bytes);
}

void sim_faults(const struct gpu *gpu, uint32_t *accesses, uint32_t *places)
{
	sim_check_count(((const struct sim *)gpu)->check, accesses, places);
}

void sim_memory_check(struct sim *g, const struct launch *l)
{
	for (uint32_t i = 0; g->check && i < l->buffer_count; i++) {
		const struct launch_buffer *b = &l->buffers[i];
		if (b->space == BUFFER_CONSTANT || b->as_is)
			continue;
		sim_check_fresh(g->check, g->buffer[i].base, g->buffer[i].bytes);
		sim_check_written(g->check, g->buffer[i].base, b->ring_count ? b->bytes : b->init_bytes);
	}
}

void sim_memory_close(struct sim *g)
{
	sim_check_close(g->check);
	func_memory_free(&g->memory);
	mem_free(g->constant);
	mem_free(g->sfu);
}
