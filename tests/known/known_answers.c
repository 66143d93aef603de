/* Every shipped .gpu file, measured by every probe on the simulator: nothing concluded may contradict the file, and what the
 * file has is found. Usage: known_answers [--least SHARE] [--probe NAME] [NAME...] (default: all). */
#include "base/embed.h"
#include "known.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SEED  1
#define LEAST 0.95 /* share of what exists that has to be MEASURED */

static int one(const char *path, const char *probe, double least, struct score *total)
{
	const struct embedded *m = embed_find(path);
	struct arena a;
	struct err e = {0};
	struct sim_spec *s;
	struct run r = {0};
	struct str wrong, missed;
	char label[64];
	struct score score = {0};
	arena_init(&a);
	str_init(&wrong);
	str_init(&missed);
	snprintf(label, sizeof label, "%.*s", (int)(strlen(path) - strlen("gpus/.gpu")), path + strlen("gpus/"));
	int rc = spec_parse(&s, &a, path, m->data, m->size, &e);
	if (rc == 0) {
		rc = known_measure_probe(&r, s, SEED, probe, &e);
		if (rc == 0)
			rc = known_score(&score, &r, s, label, &wrong, &missed);
		run_free(&r);
	}
	if (rc)
		printf("%s: %s\n", label, e.text[0] ? e.text : "out of memory");
	if (wrong.len)
		printf("WRONG\n%s", str_text(&wrong));
	if (missed.len)
		printf("missed\n%s", str_text(&missed));
	printf("%s: %u findings, %u wrong, %u of %u measured, %u of %u shown to be absent\n\n", label, score.findings,
	       score.wrong, score.measured, score.exists, score.absent, score.absences);
	score_add(total, &score);
	str_free(&wrong);
	str_free(&missed);
	arena_free(&a);
	/* A GPU on which nothing could be concluded is no success. */
	return rc || score.wrong || score.measured < least * score.exists || score.exists == 0 ||
	       score.absent != score.absences;
}

static bool wanted(const char *path, int argc, char **argv)
{
	char name[128];
	for (int i = 1; i < argc; i++) {
		snprintf(name, sizeof name, "gpus/%s.gpu", argv[i]);
		if (strcmp(name, path) == 0)
			return true;
	}
	return argc == 1 && str_starts(path, "gpus/") && str_ends(path, ".gpu");
}

int main(int argc, char **argv)
{
	struct score total = {0};
	unsigned gpus = 0, failed = 0;
	double least = LEAST;
	const char *probe = NULL; /* every one */
	if (argc > 2 && strcmp(argv[1], "--least") == 0) {
		least = strtod(argv[2], NULL);
		argc -= 2;
		argv += 2;
	}
	if (argc > 2 && strcmp(argv[1], "--probe") == 0) {
		probe = argv[2];
		argc -= 2;
		argv += 2;
	}
	for (size_t i = 0; i < embedded_count; i++) {
		if (!wanted(embedded_files[i].path, argc, argv))
			continue;
		gpus++;
		failed += one(embedded_files[i].path, probe, least, &total) != 0;
	}
	printf("%u GPUs, %u failed: %u wrong, %u of %u measured\n", gpus, failed, total.wrong, total.measured,
	       total.exists);
	return failed || gpus == 0;
}
