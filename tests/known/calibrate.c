/* Random GPUs, measured by every probe on the simulator: no finding may be wrong, and nearly all that exists has to be found.
 *
 *   calibrate COUNT SEED [-j JOBS] [-p PROBE,...] [--gpu FILE.gpu] [--least SHARE] [--seconds S] [-v] [REPORT.md]
 *
 * GPU i is drawn with seed SEED + i, so one that failed is run again by: calibrate 1 ITS_SEED -v. No GPU is begun after S
 * seconds; those that were begun are the first of COUNT, slow ones as well. Stopped (Ctrl-C, SIGTERM) it says what the
 * GPUs done by then came to, and fails. Runs that are kept and concluded again are the exam's (tests/exam). */
#include "base/arena.h"
#include "known.h"
#include "probe/engine.h"
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define LEAST	 0.95
#define JOBS_MAX 64

struct options {
	unsigned count, jobs;
	uint64_t seed;
	double least;	/* share of what exists that has to be MEASURED */
	double seconds; /* 0: all GPUs */
	bool verbose;
	const char *report, *probe;
	const char *gpu; /* NULL, or a file that is measured instead of what is drawn */
};

struct tally { /* of one job, written by the child and read by the parent */
	struct score score;
	unsigned gpus, broken;
	size_t wrong_bytes, missed_bytes;
};

/* Draws, or reads, measures and scores one GPU. What went wrong in the environment is a broken GPU with its sentence. */
static void one(uint64_t seed, const struct options *opt, struct tally *o, struct str *wrong, struct str *missed)
{
	struct str text;
	struct arena a;
	struct err e = {0};
	struct sim_spec *s;
	struct run r = {0};
	struct score score;
	char label[32];
	snprintf(label, sizeof label, "%llu", (unsigned long long)seed);
	str_init(&text);
	arena_init(&a);
	int rc = opt->gpu ? known_read(&text, opt->gpu) : spec_random(&text, seed);
	if (rc == 0)
		rc = spec_parse(&s, &a, label, str_text(&text), text.len, &e);
	if (rc == 0) {
		rc = known_measure_probe(&r, s, seed, opt->probe, &e);
		if (rc == 0)
			rc = known_score(&score, &r, s, label, wrong, missed);
		run_free(&r);
	}
	o->gpus++;
	if (rc) {
		o->broken++;
		str_addf(wrong, "%-12s BROKEN: %s\n", label, e.text[0] ? e.text : strerror(-rc));
	} else {
		score_add(&o->score, &score);
	}
	arena_free(&a);
	str_free(&text);
}

static double now_seconds(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + t.tv_nsec / 1e9;
}

static volatile sig_atomic_t stopped;

static void stop(int signal)
{
	(void)signal;
	stopped = 1;
}

/* What a job knows by now, over what it knew before, whole even where it is stopped. */
static bool put_down(struct tally *o, const struct str *wrong, const struct str *missed, FILE *out)
{
	sigset_t stops, before;
	sigemptyset(&stops);
	sigaddset(&stops, SIGINT);
	sigaddset(&stops, SIGTERM);
	sigprocmask(SIG_BLOCK, &stops, &before);
	o->wrong_bytes = wrong->len;
	o->missed_bytes = missed->len;
	rewind(out);
	const bool ok = !wrong->failed && !missed->failed && fwrite(o, sizeof *o, 1, out) == 1 &&
			fwrite(str_text(wrong), 1, wrong->len, out) == wrong->len &&
			fwrite(str_text(missed), 1, missed->len, out) == missed->len && fflush(out) == 0;
	sigprocmask(SIG_SETMASK, &before, NULL);
	return ok;
}

/* A job takes the next GPU that nobody has begun: some take ten times as long as others. */
static int child(const struct options *opt, atomic_uint *next, double until, FILE *out)
{
	struct tally o = {0};
	struct str wrong, missed;
	str_init(&wrong);
	str_init(&missed);
	bool ok = put_down(&o, &wrong, &missed, out);
	for (unsigned i; ok && now_seconds() < until && (i = atomic_fetch_add(next, 1)) < opt->count;) {
		one(opt->seed + i, opt, &o, &wrong, &missed);
		if (opt->verbose) {
			fprintf(stderr, "%" PRIu64 ": %u of %u measured, %u wrong\n", opt->seed + i, o.score.measured,
				o.score.exists, o.score.wrong);
		}
		ok = put_down(&o, &wrong, &missed, out);
	}
	str_free(&wrong);
	str_free(&missed);
	return ok ? 0 : 1;
}

static bool collect_text(FILE *in, size_t bytes, struct str *to)
{
	char *copy = mem_alloc(bytes);
	bool ok = copy && fread(copy, 1, bytes, in) == bytes;
	if (ok)
		str_addn(to, copy, bytes);
	mem_free(copy);
	return ok;
}

/* A child that died takes its GPUs with it: that is a failure, never a smaller sample. */
static bool collect(FILE *in, struct tally *total, struct str *wrong, struct str *missed)
{
	struct tally o;
	rewind(in);
	if (fread(&o, sizeof o, 1, in) != 1)
		return false;
	score_add(&total->score, &o.score);
	total->gpus += o.gpus;
	total->broken += o.broken;
	return collect_text(in, o.wrong_bytes, wrong) && collect_text(in, o.missed_bytes, missed);
}

static int run_all(const struct options *opt, struct tally *total, struct str *wrong, struct str *missed)
{
	FILE *file[JOBS_MAX];
	pid_t pid[JOBS_MAX];
	const double until = opt->seconds > 0 ? now_seconds() + opt->seconds : INFINITY;
	atomic_uint *next = mmap(NULL, sizeof *next, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int rc = 0;
	if (next == MAP_FAILED)
		return -errno;
	for (unsigned j = 0; j < opt->jobs; j++) {
		file[j] = tmpfile();
		if (!file[j])
			return -errno;
		fflush(NULL);
		pid[j] = fork();
		if (pid[j] < 0)
			return -errno;
		if (pid[j] == 0)
			_exit(child(opt, next, until, file[j]));
	}
	const struct sigaction act = {.sa_handler = stop}; /* waiting is interrupted */
	sigaction(SIGINT, &act, NULL);
	sigaction(SIGTERM, &act, NULL);
	for (unsigned j = 0; j < opt->jobs; j++) {
		int status = 0;
		while (waitpid(pid[j], &status, 0) < 0 && errno == EINTR)
			for (unsigned k = j; k < opt->jobs && stopped; k++)
				kill(pid[k], SIGTERM);
		if (stopped && WIFSIGNALED(status)) {
			if (!collect(file[j], total, wrong, missed))
				fprintf(stderr, "job %u of %u said nothing\n", j, opt->jobs);
			rc = -EINTR;
		} else if (!WIFEXITED(status) || WEXITSTATUS(status) || !collect(file[j], total, wrong, missed)) {
			fprintf(stderr, "job %u of %u died\n", j, opt->jobs);
			rc = -ECHILD;
		}
		fclose(file[j]);
	}
	munmap(next, sizeof *next);
	return rc;
}

static double share(unsigned part, unsigned whole)
{
	return whole ? 100.0 * part / whole : 0;
}

static void write_report(FILE *out, const struct options *opt, const struct tally *o, double seconds, const char *wrong,
			 const char *missed)
{
	const struct score *s = &o->score;
	fprintf(out, "# Calibration on random GPUs\n\n");
	fprintf(out,
		"Written by `make calibrate`. %u simulated GPUs were drawn with the seeds %llu to %llu, measured by "
		"every\n",
		o->gpus, (unsigned long long)opt->seed, (unsigned long long)(opt->seed + o->gpus - 1));
	fprintf(out, "probe, and each finding was laid beside the description, in %.0f s.\n\n", seconds);
	fprintf(out, "| | |\n|---|---|\n");
	fprintf(out, "| findings that the description contradicts | %u of %u |\n", s->wrong, s->findings);
	fprintf(out, "| what exists and is MEASURED | %u of %u, %.2f %% |\n", s->measured, s->exists,
		share(s->measured, s->exists));
	fprintf(out, "| what does not exist and is ABSENT | %u of %u |\n", s->absent, s->absences);
	fprintf(out, "| GPUs on which a run failed | %u |\n\n", o->broken);
	fprintf(out, "| key | exist | measured | share |\n|---|---:|---:|---:|\n");
	for (unsigned i = 0; i < SCORE_GROUPS; i++)
		if (s->group_exists[i])
			fprintf(out, "| `%s` | %u | %u | %.1f %% |\n", score_group[i], s->group_exists[i],
				s->group_measured[i], share(s->group_measured[i], s->group_exists[i]));
	if (*wrong)
		fprintf(out, "\n## Wrong\n\n```\n%s```\n", wrong);
	if (*missed)
		fprintf(out,
			"\n## Not measured\n\nThe first column is the seed. Everything here is an honest "
			"answer.\n\n```\n%s```\n",
			missed);
}

static int read_options(struct options *opt, int argc, char **argv)
{
	unsigned plain = 0;
	*opt = (struct options){.jobs = 1, .least = LEAST};
	for (int i = 1; i < argc; i++) {
		char *end = NULL;
		if (strcmp(argv[i], "-v") == 0) {
			opt->verbose = true;
		} else if (strcmp(argv[i], "-j") == 0 && i + 1 < argc) {
			opt->jobs = (unsigned)strtoul(argv[++i], &end, 10);
		} else if (strcmp(argv[i], "--least") == 0 && i + 1 < argc) {
			opt->least = strtod(argv[++i], &end);
		} else if (strcmp(argv[i], "--seconds") == 0 && i + 1 < argc) {
			opt->seconds = strtod(argv[++i], &end);
		} else if (strcmp(argv[i], "-p") == 0 && i + 1 < argc) {
			opt->probe = argv[++i];
		} else if (strcmp(argv[i], "--gpu") == 0 && i + 1 < argc) {
			opt->gpu = argv[++i];
		} else if (plain == 0) {
			opt->count = (unsigned)strtoul(argv[i], &end, 10);
			plain++;
		} else if (plain == 1) {
			opt->seed = strtoull(argv[i], &end, 10);
			plain++;
		} else if (!opt->report && argv[i][0] != '-') {
			opt->report = argv[i];
		} else {
			return -1;
		}
		if (end && *end)
			return -1;
	}
	if (opt->jobs > opt->count)
		opt->jobs = opt->count;
	return plain == 2 && opt->count && opt->jobs && opt->jobs <= JOBS_MAX ? 0 : -1;
}

int main(int argc, char **argv)
{
	struct options opt;
	struct tally total = {0};
	struct str wrong, missed;
	if (read_options(&opt, argc, argv)) {
		fprintf(stderr, "usage: calibrate COUNT SEED [-j JOBS] [-p PROBE,...] [--gpu FILE.gpu] [--least SHARE] "
				"[--seconds S] [-v] [REPORT.md]\n");
		return 2;
	}
	str_init(&wrong);
	str_init(&missed);
	const double from = now_seconds();
	int rc = run_all(&opt, &total, &wrong, &missed);
	const double took = now_seconds() - from;
	const struct score *s = &total.score;
	if (wrong.len)
		printf("WRONG (the first column is the seed)\n%s\n", str_text(&wrong));
	if (missed.len)
		printf("not measured\n%s\n", str_text(&missed));
	for (unsigned i = 0; i < SCORE_GROUPS; i++)
		if (s->group_exists[i])
			printf("%-26s %4u of %4u\n", score_group[i], s->group_measured[i], s->group_exists[i]);
	printf("\n%u GPUs, seeds from %llu, %.0f s, %u broken\n", total.gpus, (unsigned long long)opt.seed, took,
	       total.broken);
	printf("wrong: %u of %u findings (0 allowed); %u of operations that the description leaves out\n", s->wrong,
	       s->findings, s->left_out);
	printf("measured: %u of %u that exist, %.2f %% (%.0f %% required); absent: %u of %u\n", s->measured, s->exists,
	       share(s->measured, s->exists), 100 * opt.least, s->absent, s->absences);
	if (rc == 0 && opt.report) {
		FILE *out = fopen(opt.report, "w");
		if (out)
			write_report(out, &opt, &total, took, str_text(&wrong), str_text(&missed));
		if (!out || fclose(out)) {
			fprintf(stderr, "cannot write %s: %s\n", opt.report, strerror(errno));
			rc = -EIO;
		}
	}
	/* Of some probes no key has to be found on every GPU; who asks for none of them says so. */
	bool enough = (s->exists || opt.least <= 0) && s->measured >= opt.least * s->exists;
	str_free(&wrong);
	str_free(&missed);
	const bool all = total.gpus == opt.count || (opt.seconds > 0 && total.gpus > 0);
	return rc || s->wrong || total.broken || !all || !enough;
}
