/* Shorthands with which a probe's setup describes a launch. */
#include "probe/probe.h"
#include <assert.h>
#include <stdio.h>
#include <string.h>

static struct kernel_param *param(struct job *j, const char *name)
{
	assert(j->param_count < sizeof(j->param) / sizeof(j->param[0]));
	struct kernel_param *p = &j->param[j->param_count++];

	assert(strlen(name) < sizeof(p->name));
	snprintf(p->name, sizeof(p->name), "%s", name);
	return p;
}

void job_param(struct job *j, const char *name, long long value)
{
	struct kernel_param *p = param(j, name);

	snprintf(p->text, sizeof(p->text), "%lld", value);
}

void job_param_text(struct job *j, const char *name, const char *text)
{
	struct kernel_param *p = param(j, name);

	assert(strlen(text) < sizeof(p->text));
	snprintf(p->text, sizeof(p->text), "%s", text);
}

static struct launch_arg *arg(struct job *j)
{
	assert(j->launch.arg_count < LAUNCH_ARGS);
	return &j->launch.args[j->launch.arg_count++];
}

void job_arg_u32(struct job *j, uint32_t v)
{
	*arg(j) = (struct launch_arg){.kind = ARG_U32, .bits = v};
}

void job_arg_buffer(struct job *j, uint32_t buffer, uint64_t offset)
{
	assert(buffer < LAUNCH_BUFFERS);
	*arg(j) = (struct launch_arg){.kind = ARG_BUFFER, .bits = offset, .buffer = buffer};
}

void job_output(struct job *j, uint32_t words)
{
	assert(j->launch.buffer_count == 0 && j->launch.arg_count == 0);
	j->launch.buffers[0] = (struct launch_buffer){
	    .space = BUFFER_GLOBAL, .bytes = (uint64_t)words * 4, .output = true, .output_words = words};
	j->launch.buffer_count = 1;
	job_arg_buffer(j, 0, 0);
}

void job_pin(struct job *j, const struct device_info *d, uint32_t sm)
{
	/* Devices spread blocks over all SMs first. On one that does not, the engine tries again with more. */
	j->launch.grid[0] = d->sm_count;
	j->launch.grid[1] = j->launch.grid[2] = 1;
	j->pinned = true;
	job_arg_u32(j, sm);
}

unsigned job_warps(const struct device_info *d, unsigned registers, unsigned most)
{
	const unsigned threads = d->max_threads_per_block / d->warp_size,
		       held = d->registers_per_block / (registers * d->warp_size),
		       warps = held && held < threads ? held : threads;
	return warps > most ? most : warps ? warps : 1;
}

uint32_t job_ring(struct job *j, enum buffer_space space, const char *symbol, uint64_t bytes, const uint64_t *order,
		  uint32_t n, uint8_t word)
{
	assert(j->launch.buffer_count < LAUNCH_BUFFERS);
	struct launch_buffer *b = &j->launch.buffers[j->launch.buffer_count];

	*b = (struct launch_buffer){.space = space, .bytes = bytes, .ring = order, .ring_count = n, .ring_word = word};
	if (symbol)
		snprintf(b->symbol, sizeof(b->symbol), "%s", symbol);
	return j->launch.buffer_count++;
}

uint32_t job_texture(struct job *j, uint32_t buffer, uint64_t texels)
{
	assert(buffer < j->launch.buffer_count && j->launch.texture_count < LAUNCH_TEXTURES);
	j->launch.textures[j->launch.texture_count] = (struct launch_texture){.buffer = buffer,
									      .place = TEXTURE_IN_PLACE,
									      .size = {(uint32_t)texels, 0, 0},
									      .type = TEXEL_U32,
									      .channels = 1};
	return j->launch.texture_count++;
}

void job_arg_texture(struct job *j, uint32_t texture)
{
	assert(texture < j->launch.texture_count);
	*arg(j) = (struct launch_arg){.kind = ARG_TEXTURE, .buffer = texture};
}
