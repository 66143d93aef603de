/* Every allocation of the program fails once, in a run of each probe on the toy GPU and in each command. Allocations
 * are told apart by the path of calls that leads to them. Each time the command must end in a right result or in one
 * sentence. Nothing may stay allocated, and a run file that is there must be whole. (failing_allocations.c makes the
 * n-th one fail, of which a long run has too many.)
 *
 * Usage: failing_paths FOLDER [PART PARTS [SECONDS]]
 *
 * It takes the paths whose hash is PART modulo PARTS, and with SECONDS as many of them as fit. */
#include "base/arena.h"
#include "cmd/cmd.h"
#include "path_memory.h"
#include "probe/probe.h"
#include "store/store.h"
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define WORDS 20
#define PATHS 65536
#define SHAPE "--grid", "4", "--block", "64"

/* What needs tables: shared and constant memory, a barrier, a loop, an atomic; and a call, which is not followed in a prediction. */
#define HEAD                                                                                                           \
	".version 2.3\n.target sm_20\n.address_size 64\n.const .align 4 .b32 table[4] = {1, 2, 3, 4};\n"               \
	".func (.reg .b32 %y) twice(.reg .b32 %x)\n{\n	add.u32 %y, %x, %x;\n	ret;\n}\n"                                \
	".visible .entry k(.param .u64 out)\n{\n	.reg .pred %p;\n	.reg .b32 %a, %b, %i;\n	.reg .b64 "                  \
	"%o, %w;\n"                                                                                                    \
	"	.shared .align 4 .b8 room[256];\n	ld.param.u64 %o, [out];\n	mov.u32 %a, %tid.x;\n	"                          \
	"mov.u32 %i, 0;\n"
#define TAIL                                                                                                           \
	"	and.b32 %b, %a, 31;\n	mul.lo.u32 %i, %b, 4;\n	mov.u32 %b, room;\n	add.u32 %b, %b, %i;\n"                     \
	"	st.shared.u32 [%b], %a;\n	bar.sync 0;\n	ld.shared.u32 %a, [%b];\n	mul.wide.u32 %w, %i, "                     \
	"1;\n"                                                                                                         \
	"	add.u64 %o, %o, %w;\n	atom.global.add.u32 %b, [%o], 1;\n	ld.global.u32 %a, [%o];\n"                          \
	"	st.global.u32 [%o], %a;\n	ret;\n}\n"
static const char plain_text[] = HEAD "L:\n	ld.const.u32 %b, [table + 8];\n	add.u32 %a, %a, %b;\n	add.u32 %i, "
				      "%i, 1;\n	setp.lt.u32 %p, %i, 3;\n"
				      "	@%p bra L;\n" TAIL;
static const char call_text[] = HEAD "	call (%a), twice, (%a);\n" TAIL;
static const char paper_text[] = "title = A paper\nauthors = Nobody\npublished = Nowhere\ndevice = Toy\ngpu = toy\n"
				 "Table I | clock | clock.granularity | 1 | cycles\n"
				 "Table I | clock | clock.read_latency | 99 | cycles | +- 2: rounded | a note\n"
				 "Table I | who | clock.scope | sm | name\nFig. 1 | more | - | 1, 2, 3 | count\n";

struct script {
	const char *words[WORDS]; /* ends with NULL */
	bool makes_file;
};

struct trial {
	const char *file; /* the run file */
	FILE *out;
	unsigned part, parts;
	double until; /* seconds; 0: no limit */
	unsigned tried, refused, wrong;
};

static bool put_file(const char *path, const char *text)
{
	FILE *f = fopen(path, "w");
	bool good = f && fputs(text, f) >= 0;
	return (!f || !fclose(f)) && good;
}

static double now_seconds(void)
{
	struct timespec ts;
	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec * 1e-9;
}

/* One command as main.c runs it. */
static __attribute__((noinline)) int command(const struct script *s, FILE *out, char *said, size_t n)
{
	struct cmd_context c = {.program = "fathom", .build = "0", .out = out, .log = out, .style = {.width = 80}};
	char *argv[WORDS], **operands = argv;
	int count = 0;
	path_start_here();
	while (s->words[count + 1]) {
		argv[count] = (char *)s->words[count + 1];
		count++;
	}
	arena_init(&c.arena);
	int rc = cmd_parse(&c, cmd_find(s->words[0]), &count, &operands);
	if (rc == CMD_OK)
		rc = c.verb->run(&c, count, operands);
	snprintf(said, n, "%s", c.error.text);
	arena_free(&c.arena);
	return rc;
}

static const char *judge(const struct trial *j, const struct script *s, int rc, const char *said, long live)
{
	struct err e = {0};
	struct run r;
	if (path_live() != live)
		return "memory stays allocated";
	if (rc != CMD_OK && !*said)
		return "no sentence";
	if (strchr(said, '\n'))
		return "more than one line";
	struct stat st;
	if (stat(j->file, &st) || !st.st_size) /* not even begun */
		return s->makes_file && rc == CMD_OK ? "no run file" : NULL;
	path_begin(false, 0);
	if (run_init(&r))
		return "this test has no memory";
	int lost = store_load(&r, j->file, &e);
	run_free(&r);
	return lost ? "the run file is lost" : NULL;
}

static void try_paths(struct trial *j, const struct script *s)
{
	static uint64_t path[PATHS];
	char said[512], name[200] = "";
	size_t from = path_count(), n = 0;
	for (int i = 0; s->words[i] && i < 5; i++)
		snprintf(name + strlen(name), sizeof name - strlen(name), "%s%s", i ? " " : "", s->words[i]);
	if (j->until && now_seconds() > j->until)
		return;
	/* Twice: what is set up once and kept is there the second time. */
	for (unsigned again = 0; again < 2; again++) {
		if (s->makes_file)
			unlink(j->file);
		path_begin(!again, 0);
		int rc = command(s, j->out, said, sizeof said);
		if (rc != CMD_OK && !(rc == CMD_INCOMPLETE && !strcmp(s->words[0], "reproduce"))) {
			fprintf(stderr, "%s fails without any failing allocation: %s\n", name, said);
			j->wrong++;
			return;
		}
	}
	for (size_t i = from; i < path_count() && n < PATHS; i++)
		if (path_at(i) % j->parts == j->part)
			path[n++] = path_at(i);
	unsigned tried = 0, refused = 0;
	for (size_t i = 0; i < n && j->wrong < 40; i++) {
		if (j->until && now_seconds() > j->until)
			break;
		if (s->makes_file)
			unlink(j->file);
		long live = path_live();
		path_begin(false, path[i]);
		int rc = command(s, j->out, said, sizeof said);
		bool failed = path_failed();
		path_begin(false, 0);
		const char *why = failed ? judge(j, s, rc, said, live) : NULL;
		if (why) {
			fprintf(stderr, "%s: %s (exit code %d, said: %s), without the allocation at\n", name, why, rc,
				said);
			path_print_failed();
			j->wrong++;
		}
		tried += failed;
		refused += rc != CMD_OK;
	}
	printf("%-44s %5zu new paths, %4u of them failed: %u refusals\n", name, path_count() - from, tried, refused);
	fflush(stdout);
	j->tried += tried;
	j->refused += refused;
}

int main(int argc, char **argv)
{
	char file[512], figures[512], kernel[512], call[512], paper[512], trace[512], said[512];
	struct trial j = {.parts = 1};
	if (argc != 2 && argc != 4 && argc != 5) {
		fprintf(stderr, "usage: failing_paths FOLDER [PART PARTS [SECONDS]]\n");
		return 2;
	}
	if (argc > 3) {
		j.part = (unsigned)strtoul(argv[2], NULL, 10);
		j.parts = (unsigned)strtoul(argv[3], NULL, 10);
	}
	if (argc > 4)
		j.until = now_seconds() + strtod(argv[4], NULL);
	mkdir(argv[1], 0777);
	snprintf(file, sizeof file, "%s/paths-%u.fathom", argv[1], j.part);
	snprintf(figures, sizeof figures, "%s/figures-%u", argv[1], j.part);
	snprintf(kernel, sizeof kernel, "%s/kernel-%u.ptx", argv[1], j.part);
	snprintf(call, sizeof call, "%s/call-%u.ptx", argv[1], j.part);
	snprintf(paper, sizeof paper, "%s/paper-%u.paper", argv[1], j.part);
	snprintf(trace, sizeof trace, "%s/trace-%u.json", argv[1], j.part);
	j.file = file;
	j.out = fopen("/dev/null", "w");
	if (!j.out || !j.parts || !put_file(kernel, plain_text) || !put_file(call, call_text) ||
	    !put_file(paper, paper_text))
		return 2;
	setlocale(LC_CTYPE, "");
	setenv("FATHOM_THREADS", "1", 1); /* what fails first must not depend on who is faster */
	const struct script first = {.words = {"run", "-d", "sim:toy", "-p", "clock,shared_memory", "-o", file},
				     .makes_file = true};
	const struct script readers[] = {
	    {.words = {"infer", file}},
	    {.words = {"report", file}},
	    {.words = {"report", file, "--format", "summary"}},
	    {.words = {"report", file, "--format", "json"}},
	    {.words = {"report", file, "--format", "csv"}},
	    {.words = {"report", file, "--format", "markdown"}},
	    {.words = {"report", file, "--figures", figures}},
	    {.words = {"compare", file, file}},
	    {.words = {"compare", file, file, "--format", "json"}},
	    {.words = {"list"}},
	    {.words = {"list", "probes", "--format", "markdown"}},
	    {.words = {"list", "keys"}},
	    {.words = {"list", "gpus"}},
	    {.words = {"list", "papers"}},
	    {.words = {"sim", kernel, "--gpu", "toy", SHAPE, "--arg", "out:32"}},
	    {.words = {"sim", call, "--gpu", "toy", SHAPE, "--arg", "out:32"}},
	    {.words = {"sim", kernel, "--gpu", "toy", SHAPE, "--arg", "out:32", "--trace"}},
	    {.words = {"sim", kernel, "--gpu", "toy", SHAPE, "--arg", "out:32", "--trace", trace}},
	    {.words = {"sim", kernel, "--gpu", "gtx780", SHAPE, "--arg", "out:32"}},
	    {.words = {"sim", kernel, "--gpu", "m2070", SHAPE, "--arg", "out:32"}},
	    {.words = {"sim", kernel, "--gpu", "hd7970", SHAPE, "--arg", "out:32"}},
	    {.words = {"predict", kernel, SHAPE, "--from", file, "--arg", "out=buf:128"}},
	    {.words = {"predict", kernel, SHAPE, "--from", file, "--arg", "buf:128", "--format", "json", "--check",
		       "sim:toy"}},
	    {.words = {"reproduce", paper, "--from", file}},
	    {.words = {"reproduce", "wong2010", "--from", file, "--format", "json"}},
	    {.words = {"reproduce", paper, "--gpu", "toy", "-o", file, "--figures", figures}, .makes_file = true},
	    {.words = {"run", "-d", "sim:toy", "-p", "clock", "-o", file, "--resume"}},
	};
	try_paths(&j, &first);
	/* The last of its trials may have failed before there was a file, and the readers want one. */
	path_begin(false, 0);
	unlink(file);
	if (command(&first, j.out, said, sizeof said) != CMD_OK) {
		fprintf(stderr, "no run file for the readers: %s\n", said);
		return 2;
	}
	for (size_t i = 0; i < sizeof readers / sizeof *readers; i++)
		try_paths(&j, &readers[i]);
	for (size_t i = 0; i < probe_count; i++) {
		const struct script one = {.words = {"run", "-d", "sim:toy", "-p", probe_table[i]->name, "-o", file},
					   .makes_file = true};
		try_paths(&j, &one);
	}
	printf("%zu paths, %u failed: %u refusals, %u wrong\n", path_count(), j.tried, j.refused, j.wrong);
	unlink(file);
	fclose(j.out);
	return j.wrong || !j.refused;
}
