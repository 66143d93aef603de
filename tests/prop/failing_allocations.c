/* The n-th allocation fails, for every n, over a whole run, an inference and a report of the toy GPU. Each must end in
 * a right result or in one sentence. Nothing may crash, leak (seen under the address sanitizer) or damage the run file.
 *
 * Usage: failing_allocations FILE.fathom [SECONDS [STEP]]
 *
 * A large run has very many allocations. A test takes each n up to FIRST and from there every STEP-th. Without STEP it
 * takes as many as fit in SECONDS of the processor, so that neither a loaded machine nor a slow disk takes fewer. STEP
 * 1 takes all. FILE is below $TMPDIR, if that is given. */
#include "base/arena.h"
#include "cmd/cmd.h"
#include "store/store.h"
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define FIRST	300 /* start-up and opening: dense, every allocation is another kind */
#define SECONDS 30.0
#define QUICK	0.15 /* seconds of one command: then every n is tried, however many there are */

static double spent_seconds(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec * 1e-9;
}

/* One command as main.c runs it. The sentence, if any, is copied to `said`. */
static int command(const char *const *words, int count, FILE *out, char *said, size_t n)
{
	struct cmd_context c = {.program = "fathom", .build = "0", .out = out, .log = out, .style = {.width = 80}};
	char *argv[16], **operands = argv;
	int rc;

	for (int i = 1; i < count; i++)
		argv[i - 1] = (char *)words[i];
	count--;
	arena_init(&c.arena);
	rc = cmd_parse(&c, cmd_find(words[0]), &count, &operands);
	if (rc == CMD_OK)
		rc = c.verb->run(&c, count, operands);
	snprintf(said, n, "%s", c.error.text);
	arena_free(&c.arena);
	return rc;
}

struct script {
	const char *name;
	const char *words[12];
	int count;
	bool makes_file;
};

/* What a command may do when memory is out: succeed (the allocation was optional), or fail with one sentence. */
static int judge(const struct script *s, const char *path, int rc, const char *said, long n)
{
	struct err e = {0};
	struct run r;

	if (rc != CMD_OK && !*said) {
		fprintf(stderr, "%s, allocation %ld: exit code %d without a sentence\n", s->name, n, rc);
		return 1;
	}
	if (strchr(said, '\n')) {
		fprintf(stderr, "%s, allocation %ld: more than one line: %s\n", s->name, n, said);
		return 1;
	}
	if (access(path, F_OK))
		return 0;
	/* The file is whole or refused in a sentence; a finished run's file is whole. */
	if (run_init(&r))
		return 1;
	if (store_load(&r, path, &e) && (rc == CMD_OK || !s->makes_file)) {
		fprintf(stderr, "%s, allocation %ld: the run file is lost: %s\n", s->name, n, e.text);
		run_free(&r);
		return 1;
	}
	run_free(&r);
	return 0;
}

static int try_all(const struct script *s, const char *path, FILE *out, double seconds, long step)
{
	char said[512];
	long total, tried = 0, refused = 0;
	int bad = 0, rc;
	double began, one;

	if (s->makes_file)
		unlink(path);
	total = mem_count();
	began = spent_seconds();
	rc = command(s->words, s->count, out, said, sizeof(said));
	one = spent_seconds() - began;
	total = mem_count() - total;
	if (rc != CMD_OK) {
		fprintf(stderr, "%s fails without any failing allocation: %s\n", s->name, said);
		return 1;
	}
	if (step <= 0) {
		long fit = (long)(seconds / (one > 1e-4 ? one : 1e-4));

		step = fit >= total || one < QUICK ? 1 : total / (fit > 0 ? fit : 1) + 1;
	}
	for (long n = 1; n <= total && bad < 5; n += n < FIRST && step < FIRST ? 1 : step) {
		if (s->makes_file)
			unlink(path);
		mem_fail_after(n);
		rc = command(s->words, s->count, out, said, sizeof(said));
		mem_fail_after(0);
		bad += judge(s, path, rc, said, n);
		refused += rc != CMD_OK;
		tried++;
	}
	printf("%s: %ld allocations, %ld of them failed in turn: %ld refusals, %ld right results, %d wrong\n", s->name,
	       total, tried, refused, tried - refused - bad, bad);
	fflush(stdout);
	if (!refused) {
		fprintf(stderr, "%s: no failing allocation was ever noticed: this test tests nothing\n", s->name);
		return 1;
	}
	return bad;
}

int main(int argc, char **argv)
{
	const char *path = argc > 1 ? argv[1] : "failing.fathom";
	const struct script scripts[] = {
	    {.name = "run",
	     .words = {"run", "-d", "sim:toy", "-p", "barrier,shared_memory", "-o", path},
	     .count = 7,
	     .makes_file = true},
	    {.name = "run of a cache",
	     .words = {"run", "-d", "sim:toy", "-p", "global_cache", "-o", path},
	     .count = 7,
	     .makes_file = true},
	    {.name = "infer", .words = {"infer", path}, .count = 2},
	    {.name = "report", .words = {"report", path}, .count = 2},
	    {.name = "report json", .words = {"report", path, "--format", "json"}, .count = 4},
	    {.name = "list", .words = {"list"}, .count = 1},
	};
	const char *tmp = getenv("TMPDIR");
	double seconds = argc > 2 ? strtod(argv[2], NULL) : SECONDS;
	long step = argc > 3 ? strtol(argv[3], NULL, 10) : 0;
	FILE *out = fopen("/dev/null", "w");
	char said[512];
	int bad = 0;

	if (!out || (tmp && *tmp && chdir(tmp)))
		return 1;
	setlocale(LC_CTYPE, "");
	for (size_t i = 0; i < sizeof(scripts) / sizeof(scripts[0]); i++) {
		/* The readers need a whole file. */
		if (!scripts[i].makes_file && access(path, F_OK))
			bad += command(scripts[0].words, scripts[0].count, out, said, sizeof(said)) != CMD_OK;
		bad += try_all(&scripts[i], path, out, seconds, step);
		if (scripts[i].makes_file)
			unlink(path);
	}
	unlink(path);
	fclose(out);
	return bad ? 1 : 0;
}
