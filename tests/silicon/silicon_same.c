/* A compiler's order changes when, not what. The named kernels run on a simulated GPU as they are written and in the
 * compiler's order. The buffers that they write are compared word by word:
 *
 *   silicon_same sim:h200 DIR NAME... */
#include "base/arena.h"
#include "gpu/gpu.h"
#include "silicon_list.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>

#define WORDS_MOST 65536u

/* Its last buffer that is only written answers, from zeros; the times are dropped. False: it has none. */
static bool answer_from_last(struct launch *l)
{
	uint32_t last = 0;
	for (uint32_t n = 1; n < l->buffer_count; n++)
		if (l->buffers[n].as_is)
			last = n;
	struct launch_buffer *b = &l->buffers[last];
	l->buffers[0].output = false;
	b->as_is = false;
	b->output = true;
	b->output_words = b->bytes / 4 < WORDS_MOST ? (uint32_t)(b->bytes / 4) : WORDS_MOST;
	return last != 0;
}

static int compare(struct gpu *g, uint32_t id, struct launch *l, const char *name, struct err *e)
{
	struct sample s[2] = {0};
	int r = 0;
	for (int n = 0; n < 2 && !r; n++) {
		l->compiled = n;
		r = g->ops->run(g, id, l, &s[n], e);
		if (!r && s[n].outcome != OUTCOME_OK)
			r = err_set(e, -EIO, "%s: %s", name, s[n].message);
	}
	for (uint32_t w = 0; !r && w < s[0].words_per_repeat; w++)
		if (s[0].words[w] != s[1].words[w])
			r = err_set(e, -EIO, "%s: word %u is %08x, in the compiler's order %08x", name, w,
				    s[0].words[w], s[1].words[w]);
	if (!r && s[0].elapsed_ms == s[1].elapsed_ms)
		r = err_set(e, -EIO, "%s: the compiler's order takes as long: it was not used", name);
	sample_free(&s[0]);
	sample_free(&s[1]);
	return r;
}

static int run_case(struct gpu *g, const char *dir, struct silicon_case *c, struct err *e)
{
	uint32_t id = 0;
	char *text = silicon_text(dir, c->kernel, e);
	if (!text)
		return -ENOENT;
	struct kernel_source src = {.name = c->name, .entry = c->kernel, .text = text};
	struct native_info native = {0};
	int r = g->ops->load(g, &src, 1, &id, &native, e);
	mem_free(text);
	if (r)
		return r;
	if (!answer_from_last(&c->launch))
		return err_set(e, -EINVAL, "%s writes nothing", c->name);
	return compare(g, id, &c->launch, c->name, e);
}

int main(int argc, char **argv)
{
	if (argc < 4) {
		fprintf(stderr, "usage: silicon_same DEVICE DIR NAME...\n");
		return 2;
	}
	return silicon_each(argv[1], argv[2], argv + 3, argc - 3, 1, NULL, run_case);
}
