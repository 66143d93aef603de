#include "data/launch.h"
#include "base/arena.h"
#include <errno.h>
#include <string.h>

static const char *const names[] = {
    [OUTCOME_OK] = "OK",	   [OUTCOME_REFUSED] = "REFUSED",
    [OUTCOME_TIMEOUT] = "TIMEOUT", [OUTCOME_DEADLOCK] = "DEADLOCK",
    [OUTCOME_INVALID] = "INVALID", [OUTCOME_CRASH] = "CRASH",
};
#define COUNT (sizeof(names) / sizeof(names[0]))

const char *outcome_name(enum outcome o)
{
	return (size_t)o < COUNT ? names[o] : "?";
}

bool outcome_hangs(enum outcome o)
{
	return o == OUTCOME_TIMEOUT || o == OUTCOME_DEADLOCK;
}

int outcome_parse(const char *name, enum outcome *o)
{
	for (size_t i = 0; i < COUNT; i++) {
		if (strcmp(name, names[i]) == 0) {
			*o = (enum outcome)i;
			return 0;
		}
	}
	return -EINVAL;
}

void sample_free(struct sample *s)
{
	mem_free(s->words);
	*s = (struct sample){0};
}

uint32_t texel_bytes(enum texel_type t)
{
	switch (t) {
	case TEXEL_U8:
	case TEXEL_S8:
		return 1;
	case TEXEL_U16:
	case TEXEL_S16:
	case TEXEL_F16:
		return 2;
	default:
		return 4;
	}
}

/* Why this texture cannot be, or NULL. */
static const char *texture_fault(const struct launch *l, const struct launch_texture *t)
{
	uint32_t channel = texel_bytes(t->type), dimensions = !t->size[1] ? 1 : !t->size[2] ? 2 : 3;
	bool floats = t->type == TEXEL_F16 || t->type == TEXEL_F32;
	uint64_t texels = t->size[0];
	if (t->buffer >= l->buffer_count || l->buffers[t->buffer].space != BUFFER_GLOBAL)
		return "is on a buffer that is not there";
	if (l->buffers[t->buffer].output)
		return "is on the output, which changes while it is read";
	if (t->channels != 1 && t->channels != 2 && t->channels != 4)
		return "has neither 1, 2 nor 4 channels";
	if (!t->size[0] || (t->size[2] && !t->size[1]))
		return "has no width or no height";
	for (uint32_t k = 1; k < dimensions; k++) {
		if (t->size[k] > UINT64_MAX / 16 / texels)
			return "is larger than memory can be";
		texels *= t->size[k];
	}
	if (texels * t->channels * channel > l->buffers[t->buffer].bytes)
		return "is larger than its buffer";
	if (t->normalized_values && (floats || channel == 4))
		return "cannot have its values normalized: they are not integers of 8 or 16 bits";
	if (t->linear && !floats && !t->normalized_values)
		return "cannot be filtered: its values are integers";
	if (t->place == TEXTURE_ARRAY)
		return NULL;
	if (dimensions == 3)
		return "has three dimensions, so it has to be an array";
	if (dimensions == 1 && (t->linear || t->normalized_coords))
		return "lies in place in one dimension: it has no filter and no normalized coordinates";
	if (dimensions == 2 && (uint64_t)t->size[0] * t->channels * channel % 32)
		return "lies in place in two dimensions: its rows have to be a multiple of 32 bytes";
	return NULL;
}

uint32_t launch_words(const struct launch *l)
{
	uint32_t words = l->timed == SPAN_KERNELS ? 2 : l->timed == SPAN_COPIES ? COPY_WORDS : 0;
	for (uint32_t i = 0; i < l->buffer_count && i < LAUNCH_BUFFERS; i++)
		words += l->buffers[i].output ? l->buffers[i].output_words : 0;
	return words;
}

static void set_ns(uint32_t words[2], double ns)
{
	const uint64_t whole = ns > 0 ? (uint64_t)(ns + 0.5) : 0;
	words[0] = (uint32_t)whole;
	words[1] = (uint32_t)(whole >> 32);
}

void launch_set_time(const struct launch *l, uint32_t *words, uint32_t r, double ns)
{
	set_ns(words + (size_t)(r + 1) * launch_words(l) - 2, ns);
}

void launch_set_copy_time(const struct launch *l, uint32_t *words, uint32_t r, double device_ns, double host_ns)
{
	uint32_t *end = words + (size_t)(r + 1) * launch_words(l);
	set_ns(end - COPY_WORDS, device_ns);
	set_ns(end - COPY_WORDS + 2, host_ns);
}

int launch_check_copy(const struct launch *l, struct err *e)
{
	const bool copies = l->copy.in || l->copy.out;

	if (copies != (l->timed == SPAN_COPIES))
		return err_set(e, -EINVAL, "%s: copies are there and not timed, or the other way round", l->label);
	if (copies && launch_words(l) > COPY_WORDS)
		return err_set(e, -EINVAL, "%s: a launch whose copies are timed has no output", l->label);
	return 0;
}

int launch_check_buffer(const struct launch *l, uint32_t i, uint32_t pointers, struct err *e)
{
	const struct launch_buffer *b = &l->buffers[i];

	if (!b->bytes)
		return err_set(e, -EINVAL, "%s: buffer %u has no bytes", l->label, i);
	if (b->init && b->init_bytes > b->bytes)
		return err_set(e, -EINVAL, "%s: buffer %u has more content than room", l->label, i);
	if (b->align & (b->align - 1))
		return err_set(e, -EINVAL, "%s: buffer %u's alignment is not a power of two", l->label, i);
	if (b->output && (b->space != BUFFER_GLOBAL || (uint64_t)b->output_words * 4 > b->bytes))
		return err_set(e, -EINVAL, "%s: buffer %u cannot hold the output", l->label, i);
	if (!b->ring_count)
		return 0;
	if (b->ring_word != 4 && b->ring_word != pointers)
		return err_set(e, -EINVAL, "%s: buffer %u has pointers of %u bytes", l->label, i, b->ring_word);
	for (uint32_t k = 0; k < b->ring_count; k++)
		if (b->ring[k] > b->bytes || b->bytes - b->ring[k] < b->ring_word)
			return err_set(e, -EINVAL, "%s: buffer %u's ring leaves the buffer", l->label, i);
	return 0;
}

int launch_check_textures(const struct launch *l, struct err *e)
{
	if (l->texture_count > LAUNCH_TEXTURES)
		return err_set(e, -EINVAL, "%s: %u textures are more than %d", l->label, l->texture_count,
			       LAUNCH_TEXTURES);
	for (uint32_t i = 0; i < l->texture_count; i++) {
		const char *fault = texture_fault(l, &l->textures[i]);
		if (fault)
			return err_set(e, -EINVAL, "%s: texture %u %s", l->label, i, fault);
	}
	for (uint32_t i = 0; i < l->arg_count && i < LAUNCH_ARGS; i++)
		if (l->args[i].kind == ARG_TEXTURE && l->args[i].buffer >= l->texture_count)
			return err_set(e, -EINVAL, "%s: argument %u names texture %u of %u", l->label, i + 1,
				       l->args[i].buffer, l->texture_count);
	return 0;
}
