/* Random descriptions with one value changed. The reader refuses each with a sentence that names its line, or the GPU
 * that it describes runs a small kernel to its end. Nothing may crash, and nothing may hang.
 *
 * Usage: one_changed_value [GPUS [CHANGES]]: so many seeds, each with so many changes. */
#include "base/rng.h"
#include "base/str.h"
#include "gpu/sim/sim.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#define LINES	   1024
#define ROOM	   (3ull << 30) /* bytes of address space: a cache of 16 GB is refused by the host, not by the reader */
#define TIME_LIMIT 20000	/* ms */

static const char body[] =
    ".address_size 64\n.const .align 4 .b8 table[64];\n.visible .entry k(.param .u64 out)\n{\n	.reg .pred %p;\n"
    "	.reg .b32 %t, %a, %b, %i;\n	.reg .b64 %o, %w;\n	.shared .align 4 .b8 s[16];\n	ld.param.u64 %o, "
    "[out];\n	mov.u32 %t, %tid.x;\n	mul.wide.u32 %w, %t, 4;\n	add.u64 %o, %o, %w;\n	mov.u32 %i, 20;\nL:\n"
    "	mov.u32 %a, %clock;\n	ld.global.u32 %b, [%o];\n	add.u32 %b, %b, %i;\n	mul.lo.u32 %b, %b, "
    "%i;\n	"
    "ld.const.u32 %a, [table + 8];\n	st.shared.u32 [s], %a;\n	bar.sync 0;\n	ld.shared.u32 %a, "
    "[s];\n	"
    "add.u32 %b, %b, %a;\n	st.global.u32 [%o], %b;\n	setp.lt.u32 %p, %t, %i;\n	@%p add.u32 %b, %b, "
    "1;\n	"
    "sub.u32 %i, %i, 1;\n	setp.ne.u32 %p, %i, 0;\n	@%p bra L;\n	ret;\n}\n";

/* 0, or 1: the property does not hold. */
static int run(const struct sim_spec *spec, char *why, size_t n)
{
	struct gpu *g = NULL;
	struct err e = {0};
	struct sample s = {0};
	uint32_t id, threads = spec->max_threads_per_block < 40 ? spec->max_threads_per_block : 40;
	char text[sizeof body + 64];
	int bad = 0;
	snprintf(text, sizeof text, ".version %d.%d\n.target %s\n%s", spec->ptx_version / 10, spec->ptx_version % 10,
		 spec->target, body);
	struct kernel_source src = {.name = "test", .entry = "k", .text = text};
	struct launch l = {.grid = {3, 1, 1},
			   .block = {threads, 1, 1},
			   .buffer_count = 1,
			   .arg_count = 1,
			   .time_limit_ms = TIME_LIMIT};
	l.buffers[0] = (struct launch_buffer){.bytes = 256, .output = true, .output_words = 64};
	l.args[0].kind = ARG_BUFFER;
	if (sim_open_spec(&g, spec, 1, &e)) {
		snprintf(why, n, "not opened: %s", e.text);
		return !*e.text;
	}
	if (g->ops->load(g, &src, 1, &id, NULL, &e) || g->ops->run(g, id, &l, &s, &e))
		bad = !*e.text;
	else
		bad = s.outcome != OUTCOME_OK && s.outcome != OUTCOME_REFUSED;
	snprintf(why, n, "%s %s %s", outcome_name(s.outcome), s.message, e.text);
	sample_free(&s);
	g->ops->close(g);
	return bad;
}

struct text {
	const char *line[LINES];
	size_t length[LINES];
	unsigned lines;
};

static void split(struct text *t, const char *s)
{
	for (t->lines = 0; *s && t->lines < LINES; t->lines++) {
		t->line[t->lines] = s;
		t->length[t->lines] = strcspn(s, "\n");
		s += t->length[t->lines];
		s += *s == '\n';
	}
}

/* The line with another value; false when it has none. */
static bool change(struct str *out, const char *line, size_t length, struct rng *r)
{
	static const char *const values[] = {
	    "0",      "1",     "2",    "3",    "5",	    "7",      "12",	 "16",	 "31",	 "48",
	    "64",     "100",   "255",  "1000", "4096",	    "65536",  "1e6",	 "4e9",	 "0.5",	 "0.001",
	    "-1",     "1e300", "yes",  "no",   "sm",	    "gpu",    "cluster", "lru",	 "plru", "hash",
	    "random", "nan",   "fifo", "inf",  "scheduler", "shared", "add.u32", "none", "",	 "weighted"};
	const char *eq = memchr(line, '=', length);
	const char *end = eq ? memchr(eq, '#', (size_t)(line + length - eq)) : NULL;
	if (!eq || !end)
		return false;
	const char *unit = end;
	while (unit > eq && unit[-1] == ' ')
		unit--;
	while (unit > eq && unit[-1] != ' ')
		unit--;
	double now = strtod(eq + 1, NULL);
	uint64_t how = rng_below(r, 8);
	str_addn(out, line, (size_t)(eq + 2 - line));
	if (how == 0)
		str_addf(out, "%g", now * 2);
	else if (how == 1)
		str_addf(out, "%g", now / 2);
	else if (how == 2)
		str_addf(out, "%g", now + 1);
	else if (how == 3)
		str_addf(out, "%g", now - 1);
	else
		str_add(out, values[rng_below(r, sizeof values / sizeof values[0])]);
	str_add(out, " ");
	str_addn(out, unit, (size_t)(line + length - unit));
	return true;
}

static int one(uint64_t seed, const struct text *t, struct rng *r, unsigned *accepted)
{
	struct str text;
	struct arena a;
	struct err e = {0};
	struct sim_spec *spec;
	char why[1536] = "";
	unsigned which = (unsigned)rng_below(r, t->lines);
	int bad = 0;
	struct str line;
	str_init(&line);
	str_init(&text);
	arena_init(&a);
	if (change(&line, t->line[which], t->length[which], r)) {
		for (unsigned k = 0; k < t->lines; k++) {
			if (k == which)
				str_add(&text, str_text(&line));
			else
				str_addn(&text, t->line[k], t->length[k]);
			str_add(&text, "\n");
		}
		if (spec_parse(&spec, &a, "changed.gpu", str_text(&text), text.len, &e)) {
			bad = !strstr(e.text, "changed.gpu:");
			snprintf(why, sizeof why, "%s", e.text);
		} else {
			++*accepted;
			bad = run(spec, why, sizeof why);
		}
		if (bad)
			printf("seed %llu: %s: %s\n", (unsigned long long)seed, str_text(&line), why);
	}
	str_free(&line);
	str_free(&text);
	arena_free(&a);
	return bad;
}

int main(int argc, char **argv)
{
	unsigned long gpus = argc > 1 ? strtoul(argv[1], NULL, 10) : 30,
		      changes = argc > 2 ? strtoul(argv[2], NULL, 10) : 60;
	unsigned accepted = 0, wrong = 0;
#if !defined(__SANITIZE_ADDRESS__)
	struct rlimit room = {ROOM, ROOM};
	setrlimit(RLIMIT_AS, &room);
#endif
	for (uint64_t seed = 1; seed <= gpus; seed++) {
		struct str text;
		struct text t;
		struct rng r;
		str_init(&text);
		rng_seed(&r, seed * 7919);
		if (spec_random(&text, seed))
			return 1;
		split(&t, str_text(&text));
		for (unsigned long n = 0; n < changes; n++)
			wrong += one(seed, &t, &r, &accepted) != 0;
		str_free(&text);
	}
	printf("%lu changed descriptions, %u accepted and run, %u wrong\n", gpus * changes, accepted, wrong);
	return wrong != 0 || accepted == 0;
}
