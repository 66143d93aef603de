#include "silicon_list.h"
#include "base/rng.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SEED	  20261128u
#define TEXT_MOST (1u << 20)

static uint64_t read_bytes(const char *s, char **end)
{
	uint64_t n = strtoull(s, end, 10);
	if (**end == 'K' || **end == 'M')
		n <<= *(*end)++ == 'K' ? 10 : 20;
	return n;
}

/* "32,8" or "4*SM,2" */
static bool read_extent(uint32_t extent[3], char *s, uint32_t sm_count)
{
	extent[0] = extent[1] = extent[2] = 1;
	for (unsigned d = 0; d < 3; d++) {
		uint64_t n = *s == 'S' ? 1 : strtoull(s, &s, 10);
		if (*s == '*')
			s++;
		if (!strncmp(s, "SM", 2)) {
			n *= sm_count;
			s += 2;
		}
		if (!n || n > UINT32_MAX)
			return false;
		extent[d] = (uint32_t)n;
		if (*s != ',')
			return !*s;
		s++;
	}
	return false;
}

static void fill_words(uint32_t *w, uint64_t count, const char *kind, uint64_t range, struct rng *r)
{
	uint64_t rising = 0;
	for (uint64_t i = 0; i < count; i++) {
		uint64_t bits = rng_next(r);
		if (!strcmp(kind, "float")) {
			float f = (float)(bits >> 40) * 0x1p-24f;
			memcpy(&w[i], &f, 4);
		} else if (!strcmp(kind, "half")) /* two from 0.5 to 1 */
			w[i] = 0x38003800u | (uint32_t)(bits & 0x03ff03ffu);
		else if (!strcmp(kind, "index"))
			w[i] = (uint32_t)(bits % range);
		else if (!strcmp(kind, "sorted"))
			w[i] = (uint32_t)(rising += bits & 4095);
		else
			w[i] = (uint32_t)bits;
	}
}

/* "float:4M": the launch's next buffer, and the argument that points to it. False: it is not well formed. */
static bool add_buffer(struct launch *l, char *text, struct arena *a, bool *full)
{
	char *kind = text, *rest = strchr(text, ':');
	struct launch_buffer *b = &l->buffers[l->buffer_count];
	uint64_t range = 0;
	*rest++ = 0;
	bool counted = !strcmp(kind, "index") || !strcmp(kind, "sorted");
	if (!counted && strcmp(kind, "out") && strcmp(kind, "float") && strcmp(kind, "half") && strcmp(kind, "word"))
		return false;
	b->bytes = read_bytes(rest, &rest) * (counted ? 4 : 1);
	if (!strcmp(kind, "index") && (*rest++ != ':' || !(range = read_bytes(rest, &rest))))
		return false;
	if (*rest || !b->bytes || b->bytes % 4 || l->buffer_count == LAUNCH_BUFFERS)
		return false;
	if (!strcmp(kind, "out")) {
		b->as_is = true;
	} else {
		struct rng r;
		uint32_t *w = arena_alloc(a, b->bytes / 4, 4);
		*full = !w;
		if (!w)
			return false;
		rng_seed(&r, SEED + l->buffer_count);
		fill_words(w, b->bytes / 4, kind, range, &r);
		b->init = w;
		b->init_bytes = b->bytes;
	}
	l->args[l->arg_count] = (struct launch_arg){.kind = ARG_BUFFER, .buffer = l->buffer_count++};
	return true;
}

/* 7, 0.5f or 0.5 */
static bool add_number(struct launch *l, char *text)
{
	struct launch_arg *arg = &l->args[l->arg_count];
	char *end;
	if (!strchr(text, '.')) {
		arg->kind = ARG_U32;
		arg->bits = strtoull(text, &end, 10);
		return !*end;
	}
	double v = strtod(text, &end);
	if (*end == 'f') {
		float f = (float)v;
		arg->kind = ARG_F32;
		memcpy(&arg->bits, &f, sizeof f);
		end++;
	} else {
		arg->kind = ARG_F64;
		memcpy(&arg->bits, &v, sizeof v);
	}
	return !*end;
}

char *silicon_text(const char *dir, const char *kernel, struct err *e)
{
	char path[1024];
	snprintf(path, sizeof path, "%s/kernels/%s.ptx", dir, kernel);
	FILE *f = fopen(path, "rb");
	char *text = mem_zero(TEXT_MOST, 1);
	size_t n = f && text ? fread(text, 1, TEXT_MOST - 1, f) : 0;
	if (f)
		fclose(f);
	if (n)
		return text;
	mem_free(text);
	err_set(e, -ENOENT, "%s cannot be read.", path);
	return NULL;
}

uint32_t silicon_blocks(const struct silicon_case *c)
{
	return c->launch.grid[0] * c->launch.grid[1] * c->launch.grid[2];
}

/* Returns 1 for a line without a configuration, 0, or -EINVAL or -ENOMEM with a sentence that names the line's number. */
static int read_case(struct silicon_case *c, char *line, unsigned number, uint32_t sm_count, struct arena *a,
		     struct err *e)
{
	static const char blank[] = " \t\r\n";
	char *save, *word[4];
	struct launch *l = &c->launch;
	line[strcspn(line, "#\n")] = 0;
	for (unsigned n = 0; n < 4; n++) {
		word[n] = strtok_r(n ? NULL : line, blank, &save);
		if (!word[n])
			return n ? err_set(e, -EINVAL, "kernels.txt:%u: needs a name, a kernel, a grid and a block.",
					   number)
				 : 1;
	}
	memset(c, 0, sizeof *c);
	snprintf(c->name, sizeof c->name, "%s", word[0]);
	snprintf(c->kernel, sizeof c->kernel, "%s", word[1]);
	snprintf(l->label, sizeof l->label, "silicon.%s", word[0]);
	snprintf(l->entry, sizeof l->entry, "%s", word[1]);
	if (!read_extent(l->grid, word[2], sm_count) || !read_extent(l->block, word[3], sm_count))
		return err_set(e, -EINVAL, "kernels.txt:%u: '%s' and '%s' should be a grid and a block.", number,
			       word[2], word[3]);
	uint32_t words = silicon_blocks(c) * SILICON_TIMES_WORDS;
	l->buffers[0] = (struct launch_buffer){.bytes = (uint64_t)words * 4, .output = true, .output_words = words};
	l->args[0] = (struct launch_arg){.kind = ARG_BUFFER};
	l->buffer_count = l->arg_count = 1;
	for (char *w; (w = strtok_r(NULL, blank, &save)); l->arg_count++) {
		bool full = false;
		if (l->arg_count == LAUNCH_ARGS || !(strchr(w, ':') ? add_buffer(l, w, a, &full) : add_number(l, w)))
			return full ? err_nomem(e)
				    : err_set(e, -EINVAL, "kernels.txt:%u: '%s' is no argument.", number, w);
	}
	return 0;
}

static bool is_wanted(const char *name, char **names, int count)
{
	for (int n = 0; n < count; n++)
		if (!strcmp(name, names[n]))
			return true;
	return !count;
}

int silicon_each(const char *device, const char *dir, char **names, int count, uint32_t repeats,
		 void (*begin)(const struct device_info *d), silicon_run *run)
{
	struct gpu *g;
	struct err e = {0};
	char line[512], path[1024];
	int ran = 0, failed = 0;
	snprintf(path, sizeof path, "%s/kernels.txt", dir);
	FILE *list = fopen(path, "r");
	if (!list || gpu_open(&g, device, 1, true, &e)) {
		fprintf(stderr, "%s\n", list ? e.text : path);
		return 1;
	}
	if (begin)
		begin(g->ops->info(g));
	for (unsigned number = 1; fgets(line, sizeof line, list); number++) {
		struct silicon_case c;
		struct arena a;
		char name[64] = "";
		if (sscanf(line, "%63s", name) != 1 || *name == '#' || !is_wanted(name, names, count))
			continue;
		ran++;
		arena_init(&a);
		int r = read_case(&c, line, number, g->ops->info(g)->sm_count, &a, &e);
		c.launch.repeats = repeats;
		if (!r)
			r = run(g, dir, &c, &e);
		if (r < 0) {
			fprintf(stderr, "%s: %s\n", name, e.text);
			failed++;
		}
		arena_free(&a);
	}
	g->ops->close(g);
	fclose(list);
	return failed || (count && ran != count);
}
