#include "proxy_toy.h"
#include "base/arena.h"
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct toy {
	struct gpu base;
	struct device_info info;
	uint64_t seed;
	char text[16][64];
	uint32_t kernels, expected, soon;
	bool lost;
};

static int toy_list(struct device_list *list, struct err *e)
{
	list->items = mem_zero(2, sizeof *list->items);
	if (!list->items)
		return err_nomem(e);
	list->count = 2;
	snprintf(list->items[1].name, sizeof list->items[1].name, "second");
	snprintf(list->note, sizeof list->note, "a note");
	return 0;
}

static int toy_open(struct gpu **out, const char *spec, uint64_t seed, struct err *e)
{
	if (!strcmp(spec, "none"))
		return err_set(e, -ENODEV, "there is no such toy");
	if (!strcmp(spec, "dies"))
		_exit(3);
	struct toy *t = mem_zero(1, sizeof *t);
	if (!t)
		return err_nomem(e);
	t->base.ops = &toy_ops;
	t->seed = seed;
	snprintf(t->info.name, sizeof t->info.name, "toy %s", spec);
	t->info.sm_count = (uint32_t)getpid();
	*out = &t->base;
	return 0;
}

static const struct device_info *toy_info(struct gpu *g)
{
	return &((struct toy *)g)->info;
}

static int toy_load(struct gpu *g, const struct kernel_source *src, size_t n, uint32_t *ids, struct native_info *native,
		    struct err *e)
{
	struct toy *t = (struct toy *)g;
	int marked = 0;

	for (size_t i = 0; i < n; i++) {
		if (sscanf(src[i].text, "kills the compiler %d", &marked) == 1 && marked == getpid())
			raise(SIGSEGV);
		if (!strcmp(src[i].text, "broken"))
			return err_set(e, -EINVAL, "kernel %s: line 1", src[i].name);
		if (!strcmp(src[i].text, "kills the compiler"))
			raise(SIGSEGV);
		ids[i] = t->kernels;
		snprintf(t->text[t->kernels++], sizeof t->text[0], "%s", src[i].text);
		memset(&native[i], 0, sizeof native[i]);
		native[i].instructions = (uint32_t)strlen(src[i].text);
		snprintf(native[i].source, sizeof native[i].source, "toy");
	}
	return 0;
}

static int toy_expect(struct gpu *g, const struct kernel_source *src, size_t n, bool soon, struct err *e)
{
	struct toy *t = (struct toy *)g;

	(void)e;
	for (size_t i = 0; i < n; i++) {
		if (!strcmp(src[i].text, "kills the compiler"))
			raise(SIGSEGV);
		t->expected += (uint32_t)strlen(src[i].text);
	}
	t->soon += soon;
	return 0;
}

static int toy_run(struct gpu *g, uint32_t id, const struct launch *l, struct sample *out, struct err *e)
{
	struct toy *t = (struct toy *)g;

	memset(out, 0, sizeof *out);
	if (t->lost)
		return err_set(e, -ENODEV, "the toy is lost");
	if (!strcmp(l->label, "hang"))
		for (;;)
			pause();
	if (!strcmp(l->label, "crash"))
		raise(SIGSEGV);
	int marked = 0;
	if (sscanf(l->label, "crash process %d", &marked) == 1 && marked == getpid())
		raise(SIGSEGV);
	if (!strcmp(l->label, "exit"))
		_exit(5);
	if (!strcmp(l->label, "fails"))
		return err_set(e, -EIO, "the toy is broken");
	if (!strcmp(l->label, "lose it"))
		t->lost = true;
	if (!strcmp(l->label, "own limit")) {
		t->lost = true;
		out->outcome = OUTCOME_TIMEOUT;
		return 0;
	}
	if (!strcmp(l->label, "interrupted")) /* Ctrl-C reaches the child too */
		raise(SIGINT);
	out->repeats = 1;
	out->words_per_repeat = 8;
	out->elapsed_ms = 2.5;
	out->words = mem_zero(8, sizeof *out->words);
	if (!out->words)
		return err_nomem(e);
	out->words[0] = (uint32_t)strlen(t->text[id]);
	out->words[1] = (uint32_t)t->seed;
	out->words[2] = l->grid[0];
	for (uint32_t i = 0; i < l->buffer_count; i++) {
		for (uint64_t k = 0; k < l->buffers[i].init_bytes; k++)
			out->words[3] += ((const uint8_t *)l->buffers[i].init)[k];
		for (uint32_t k = 0; k < l->buffers[i].ring_count; k++)
			out->words[4] += (uint32_t)l->buffers[i].ring[k];
	}
	out->words[5] = (uint32_t)getpid();
	out->words[6] = t->expected;
	out->words[7] = t->soon;
	snprintf(out->message, sizeof out->message, "%s", l->entry);
	return 0;
}

static int toy_sense(struct gpu *g, struct condition *c, struct err *e)
{
	(void)g;
	(void)e;
	*c = (struct condition){1000, 2000, 50, 300, 4};
	return 0;
}

static void toy_close(struct gpu *g)
{
	mem_free(g);
}

const struct gpu_ops toy_ops = {
    .name = "toy",
    .help = "toy:NAME",
    .list = toy_list,
    .open = toy_open,
    .info = toy_info,
    .load = toy_load,
    .expect = toy_expect,
    .run = toy_run,
    .sense = toy_sense,
    .close = toy_close,
};
