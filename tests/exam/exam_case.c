/* One case of the exam: a run and what is true of it.
 *
 * Usage: exam_case draw SEED                   a GPU of spec_random.c, as a description, to standard output
 *        exam_case make FILE.gpu RUN.fathom [PROBE,...]
 *                                              measures the description, by every probe or these, and keeps the run
 *        exam_case mark RUN.fathom FILE        concludes again from a kept run, and lays each finding beside FILE: the description that it was
 *                                              made from, or the .truth of a card
 * mark prints a line a key, with tabs between: asked or told, the answer, the key, the verdict, the value, the truth, the reason. */
#include "exam_truth.h"
#include "gpu/sim/spec.h"
#include "known.h"
#include "probe/engine.h"
#include "store/store.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SEED 1 /* of the noise of a simulated GPU */

static const char *const answer_names[ANSWERS] = {"right",  "likely",	"bound", "inconclusive",
						  "silent", "unlikely", "wrong"};

static int print_answer(void *ctx, const struct known_answer *a)
{
	const struct finding *f = a->finding;
	char value[80] = "-";
	(void)ctx;
	if (f)
		known_value(value, sizeof value, f);
	printf("%s\t%s\t%s\t%s\t%s\t%s\t%s\n", a->group < 0 ? "told" : "asked", answer_names[a->answer], a->key,
	       f ? verdict_name(f->verdict) : "-", value, a->truth, f ? f->because : "");
	return ferror(stdout) ? -EIO : 0;
}

static int read_spec(struct sim_spec **s, struct arena *a, const char *path, struct err *e)
{
	struct str text;
	str_init(&text);
	int rc = known_read(&text, path);
	if (rc)
		err_set(e, rc, "cannot read %s: %s", path, strerror(-rc));
	else
		rc = spec_parse(s, a, path, str_text(&text), text.len, e);
	str_free(&text);
	return rc;
}

/* Into a file of another name first, so that one that was stopped leaves no half run. */
static int keep(const struct run *r, const char *path, struct err *e)
{
	char part[4096];
	struct store *store = NULL;
	if ((size_t)snprintf(part, sizeof part, "%s.part", path) >= sizeof part)
		return err_set(e, -ENAMETOOLONG, "the name is too long: %s", path);
	unlink(part);
	int rc = store_create(&store, part, r, e);
	for (size_t i = 0; rc == 0 && i < r->probe_count; i++)
		rc = store_probe(store, r, r->probes[i].name, e);
	if (rc == 0)
		rc = store_findings(store, r, e);
	if (store)
		store_close(store);
	if (rc == 0 && rename(part, path))
		rc = err_set(e, -errno, "cannot write %s", path);
	return rc;
}

static int make_run(const char *gpu, const char *path, const char *probes, struct err *e)
{
	struct arena a;
	struct sim_spec *s;
	struct run r = {0};
	arena_init(&a);
	int rc = read_spec(&s, &a, gpu, e);
	if (rc == 0) {
		rc = known_measure_probe(&r, s, SEED, probes, e);
		if (rc == 0)
			rc = keep(&r, path, e);
		run_free(&r);
	}
	arena_free(&a);
	return rc;
}

static int mark(const char *path, const char *truth, struct err *e)
{
	struct arena a;
	struct sim_spec *s;
	struct run r = {0};
	arena_init(&a);
	int rc = store_load(&r, path, e);
	if (rc == 0) {
		findings_free(&r.findings);
		memset(&r.findings, 0, sizeof r.findings);
		rc = engine_infer(&r, e);
		if (rc == 0 && str_ends(truth, ".truth"))
			rc = exam_truth_each(&r, truth, print_answer, NULL, e);
		else if (rc == 0 && (rc = read_spec(&s, &a, truth, e)) == 0)
			rc = known_each(&r, s, print_answer, NULL);
		run_free(&r);
	}
	arena_free(&a);
	return rc;
}

static int draw(const char *seed, struct err *e)
{
	struct str text;
	str_init(&text);
	int rc = spec_random(&text, strtoull(seed, NULL, 10));
	if (rc == 0 && fwrite(str_text(&text), 1, text.len, stdout) != text.len)
		rc = err_set(e, -EIO, "cannot write the description");
	str_free(&text);
	return rc;
}

int main(int argc, char **argv)
{
	struct err e = {0};
	int rc;
	if (argc == 3 && strcmp(argv[1], "draw") == 0) {
		rc = draw(argv[2], &e);
	} else if ((argc == 4 || argc == 5) && strcmp(argv[1], "make") == 0) {
		rc = make_run(argv[2], argv[3], argv[4], &e);
	} else if (argc == 4 && strcmp(argv[1], "mark") == 0) {
		rc = mark(argv[2], argv[3], &e);
	} else {
		fprintf(stderr, "usage: exam_case draw SEED | make FILE.gpu RUN.fathom [PROBE,...] | mark RUN.fathom "
				"FILE.gpu|FILE.truth\n");
		return 2;
	}
	if (rc)
		fprintf(stderr, "%s\n", e.text[0] ? e.text : strerror(-rc));
	return rc != 0;
}
