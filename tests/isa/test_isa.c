/* The simulator against answers recorded from a real GPU. They agree bit for bit if PTX says what the answer is, and
 * within the documented bound if it gives one.
 *
 * Arguments: the recording, the text of the .gpu file to run on. Exit 77: none there. */
#include "base/embed.h"
#include "base/str.h"
#include "gpu/sim/sim.h"
#include "isa_bound.h"
#include "isa_file.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SHOWN 3 /* differences of one case that are printed */

/* The description of a V100, but for what kernels it takes. */
static int open_gpu(struct gpu **g, struct arena *a, struct err *e)
{
	const struct embedded *f = embed_find("gpus/v100.gpu");
	static const struct {
		const char *key, *line;
	} other[] = {{"device.target", "device.target = sm_90 name # the cases' own"},
		     {"device.ptx_version", "device.ptx_version = 8.5 version # the cases' own"},
		     {"device.compute_capability", "device.compute_capability = 9.0 version # the cases' own"}};
	struct str text;
	struct sim_spec *s;
	str_init(&text);
	for (const char *line = f->data; *line;) {
		size_t n = strcspn(line, "\n");
		const char *put = NULL;
		for (size_t k = 0; k < sizeof other / sizeof *other; k++)
			if (str_starts(line, other[k].key))
				put = other[k].line;
		str_addf(&text, "%.*s\n", put ? (int)strlen(put) : (int)n, put ? put : line);
		line += n + (line[n] != '\0');
	}
	int r = spec_parse(&s, a, "isa.gpu", str_text(&text), text.len, e);
	str_free(&text);
	return r ? r : sim_open_spec(g, s, 1, e);
}

struct recording {
	uint8_t *data;
	size_t size, at;
};

static bool take(struct recording *r, void *to, size_t n)
{
	if (r->size - r->at < n)
		return false;
	memcpy(to, r->data + r->at, n);
	r->at += n;
	return true;
}

static bool read_all(struct recording *r, const char *path)
{
	FILE *f = fopen(path, "rb");
	if (!f)
		return false;
	fseek(f, 0, SEEK_END);
	r->size = (size_t)ftell(f);
	rewind(f);
	r->data = mem_alloc(r->size + 1);
	bool ok = r->data && fread(r->data, 1, r->size, f) == r->size;
	fclose(f);
	if (ok)
		r->data[r->size] = 0;
	return ok;
}

static void inputs(const struct isa_case *c, uint32_t t)
{
	const uint8_t types[] = {c->a, c->b, c->c};
	for (unsigned k = 0; k < 3; k++)
		if (types[k] != PTX_NONE)
			printf(" %c=%llx", "abc"[k], (unsigned long long)isa_input((enum ptx_type)types[k], k, t));
	if (c->p)
		printf(" p=%d", isa_pred(t));
}

/* Differences between what was recorded and what the simulator answers. */
static unsigned compare(const struct isa_case *c, const uint64_t *recorded, uint64_t hash, const uint64_t *answer)
{
	bool approximate = isa_approximate((enum isa_rule)c->rule);
	unsigned wrong = 0;
	for (uint32_t t = 0; t < isa_kept(c); t++) {
		uint64_t have = isa_canonical(c, t, answer[t]);
		double truth = 0;
		bool right = approximate ? isa_within_bound(c, t, recorded[t], &truth) : have == recorded[t];
		if (right || wrong++ >= SHOWN)
			continue;
		printf("%s\n   thread %u:", c->line, t);
		inputs(c, t);
		printf(": recorded %llx, here %llx\n", (unsigned long long)recorded[t], (unsigned long long)have);
	}
	if (!approximate && !wrong && isa_answer_hash(c, answer) != hash) {
		printf("%s\n   the first %u answers agree, others of the %u do not\n", c->line, isa_kept(c),
		       ISA_THREADS);
		wrong++;
	}
	return wrong;
}

static const struct isa_case *find(const struct isa_cases *c, uint64_t hash, size_t *n)
{
	for (*n = 0; *n < c->count; ++*n)
		if (isa_line_hash(&c->list[*n]) == hash)
			return &c->list[*n];
	return NULL;
}

/* Every approximate answer of the simulator, recorded or not. */
static unsigned bounds(const struct isa_cases *c, const uint64_t *answer)
{
	unsigned wrong = 0;
	for (size_t n = 0; n < c->count; n++)
		for (uint32_t t = 0; t < ISA_THREADS && isa_approximate((enum isa_rule)c->list[n].rule); t++) {
			uint64_t v = answer[n * ISA_THREADS + t];
			double truth;
			if (isa_within_bound(&c->list[n], t, v, &truth) || wrong++ >= 20)
				continue;
			printf("%s\n   thread %u:", c->list[n].line, t);
			inputs(&c->list[n], t);
			printf(": %llx, outside of the bound around %g\n", (unsigned long long)v, truth);
		}
	return wrong;
}

/* A thread alone in its warp takes other handlers than a full warp, and half a warp others still. */
static unsigned one_lane(struct gpu *g, const struct isa_cases *c, const uint64_t *answer)
{
	static const uint32_t blocks[] = {1, 16}, threads[] = {192, 512};
	unsigned wrong = 0;
	for (size_t b = 0; b < sizeof blocks / sizeof *blocks; b++) {
		struct err e = {0};
		uint64_t *alone;
		if (isa_run(g, c, threads[b], blocks[b], &alone, NULL, &e)) {
			printf("%s\n", e.text);
			return 1;
		}
		for (size_t n = 0; n < c->count; n++)
			for (uint32_t t = 0; t < threads[b] && isa_alone(&c->list[n]); t++) {
				uint64_t have = alone[n * ISA_THREADS + t], want = answer[n * ISA_THREADS + t];
				if (have == want || wrong++ >= 20)
					continue;
				printf("%s\n   thread %u:", c->list[n].line, t);
				inputs(&c->list[n], t);
				printf(": %llx in blocks of %u, %llx in full warps\n", (unsigned long long)have,
				       blocks[b], (unsigned long long)want);
			}
		mem_free(alone);
	}
	return wrong;
}

static unsigned against(struct recording *r, const struct isa_cases *c, const uint64_t *answer, unsigned *cases)
{
	unsigned wrong = 0;
	uint64_t head[2], recorded[ISA_KEPT_APPROXIMATE];
	while (take(r, head, sizeof head)) {
		size_t n;
		const struct isa_case *k = find(c, head[0], &n);
		if (!k) {
			printf("the recording holds a case that is no longer in the list: record it again\n");
			return wrong + 1;
		}
		for (uint32_t t = 0; t < isa_kept(k); t++) {
			recorded[t] = 0;
			if (!take(r, &recorded[t], isa_width(k))) {
				printf("the recording is cut short\n");
				return wrong + 1;
			}
		}
		unsigned bad = compare(k, recorded, head[1], answer + n * ISA_THREADS);
		wrong += bad != 0;
		++*cases;
	}
	return wrong;
}

int main(int argc, char **argv)
{
	struct recording r = {0};
	struct isa_cases c;
	struct gpu *g = NULL;
	struct arena a;
	struct err e = {0};
	uint64_t *answer = NULL;
	unsigned cases = 0, wrong = 0;
	if (argc != 2)
		return 2;
	arena_init(&a);
	if (isa_cases_open(&c) || open_gpu(&g, &a, &e) || isa_run(g, &c, ISA_THREADS, ISA_BLOCK, &answer, NULL, &e)) {
		printf("%s\n", e.text);
		return 1;
	}
	wrong = bounds(&c, answer) + one_lane(g, &c, answer);
	if (wrong)
		printf("%u answers are wrong whatever was recorded\n", wrong);
	bool there = read_all(&r, argv[1]);
	if (there && strncmp((const char *)r.data, ISA_HEAD, strlen(ISA_HEAD)) == 0) {
		size_t line = strcspn((const char *)r.data, "\n");
		printf("%.*s\n", (int)line, (const char *)r.data);
		r.at = line + 1;
		unsigned differ = against(&r, &c, answer, &cases);
		printf("%u recorded cases, %u differ, %zu are not recorded\n", cases, differ, c.count - cases);
		wrong += differ + (cases == 0);
	} else {
		printf("%s is not there: run `isa_device cuda:0 %s` where there is an NVIDIA GPU\n", argv[1], argv[1]);
	}
	mem_free(r.data);
	mem_free(answer);
	g->ops->close(g);
	isa_cases_close(&c);
	arena_free(&a);
	return wrong ? 1 : there ? 0 : 77;
}
