/* Every shipped .gpu file, measured by every probe on the simulator: nothing concluded may contradict the file, and what the
 * file has is found. Usage: known_answers [--least SHARE] [--left-out MOST] [--without PROBE,...] [--with PROBE,...] [--run FILE] [NAME...]
 * (default: all). FILE: the run of the last one is stored there. --with: probes that a file says nothing of. */
#include "base/embed.h"
#include "known.h"
#include "probe/probe.h"
#include "store/store.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SEED  1
#define LEAST 0.95 /* share of what exists that has to be MEASURED */

struct options {
	double least;
	unsigned left_out;	    /* findings of operations that a description leaves out, at most, of each GPU */
	const char *without, *with; /* with commas between */
	const char *probes;	    /* the same, of all that are measured */
	const char *run;	    /* file, or NULL */
	char list[1024];
};

/* A line for each number of a level, "cache.global.l1.size", whose path does not say that it has levels. How many. */
static unsigned levels_untold(const struct finding_list *l, struct str *out)
{
	unsigned n = 0;
	for (size_t i = 0; i < l->count; i++) {
		const struct finding *f = &l->items[i];
		char path[64], key[96];
		unsigned level;
		if (!(finding_estimated(f) || f->verdict == VERDICT_BOUND) ||
		    (sscanf(f->key, "cache.%63[a-z].l%u.", path, &level) != 2 &&
		     sscanf(f->key, "tlb.%63[a-z].l%u.", path, &level) != 2))
			continue;
		snprintf(key, sizeof key, "%.*s%s.levels", (int)(strchr(f->key, '.') + 1 - f->key), f->key, path);
		const struct finding *by = findings_get(l, key);
		if (!by || (finding_answered(by) && by->verdict != VERDICT_ABSENT))
			continue;
		str_addf(out, "%s: %s, but %s is %s\n", f->key, verdict_name(f->verdict), key,
			 verdict_name(by->verdict));
		n++;
	}
	return n;
}

static int store(const char *path, const struct run *r, struct err *e)
{
	struct store *to = NULL;
	int rc = store_create(&to, path, r, e);
	for (size_t i = 0; rc == 0 && i < r->probe_count; i++)
		rc = store_probe(to, r, r->probes[i].name, e);
	if (rc == 0)
		rc = store_findings(to, r, e);
	if (rc == 0)
		return store_finish(to, e);
	store_close(to);
	return rc;
}

static int one(const char *path, const struct options *opt, struct score *total)
{
	const struct embedded *m = embed_find(path);
	struct arena a;
	struct err e = {0};
	struct sim_spec *s;
	struct run r = {0};
	struct str wrong, missed;
	unsigned untold = 0;
	char label[64];
	struct score score = {0};
	arena_init(&a);
	str_init(&wrong);
	str_init(&missed);
	snprintf(label, sizeof label, "%.*s", (int)(strlen(path) - strlen("gpus/.gpu")), path + strlen("gpus/"));
	int rc = spec_parse(&s, &a, path, m->data, m->size, &e);
	if (rc == 0) {
		rc = known_measure_probe(&r, s, SEED, opt->probes, &e);
		if (rc == 0)
			rc = known_score(&score, &r, s, label, &wrong, &missed);
		if (rc == 0 && opt->run)
			rc = store(opt->run, &r, &e);
		untold = levels_untold(&r.findings, &wrong);
		run_free(&r);
	}
	if (rc)
		printf("%s: %s\n", label, e.text[0] ? e.text : "out of memory");
	if (wrong.len)
		printf("WRONG\n%s", str_text(&wrong));
	if (missed.len)
		printf("missed\n%s", str_text(&missed));
	printf("%s: %u findings, %u wrong, %u of %u measured, %u of %u shown to be absent\n", label, score.findings,
	       score.wrong, score.measured, score.exists, score.absent, score.absences);
	printf("%s: %u findings of operations that the description leaves out are core.default_op's (%u at most)\n\n",
	       label, score.left_out, opt->left_out);
	score_add(total, &score);
	str_free(&wrong);
	str_free(&missed);
	arena_free(&a);
	/* A GPU on which nothing could be concluded is no success. */
	return rc || score.wrong || untold || score.measured < opt->least * score.exists || score.exists == 0 ||
	       score.absent != score.absences || score.left_out > opt->left_out;
}

static bool wanted(const char *path, int argc, char **argv)
{
	char name[128];
	for (int i = 0; i < argc; i++) {
		snprintf(name, sizeof name, "gpus/%s.gpu", argv[i]);
		if (strcmp(name, path) == 0)
			return true;
	}
	return argc == 0 && str_starts(path, "gpus/") && str_ends(path, ".gpu");
}

static bool is_listed(const char *list, const char *name)
{
	const size_t n = strlen(name);
	for (const char *at = strstr(list, name); at; at = strstr(at + n, name))
		if ((at == list || at[-1] == ',') && (at[n] == ',' || !at[n]))
			return true;
	return false;
}

/* Every probe but those of one list, and those of the other. */
static void choose(struct options *opt)
{
	size_t n = 0;
	for (size_t i = 0; i < probe_count && n < sizeof opt->list; i++) {
		const char *name = probe_table[i]->name;
		if (is_listed(opt->with, name) || (known_describes(name) && !is_listed(opt->without, name)))
			n += (size_t)snprintf(opt->list + n, sizeof opt->list - n, "%s%s", n ? "," : "", name);
	}
	opt->probes = opt->list;
}

int main(int argc, char **argv)
{
	struct score total = {0};
	struct options opt = {.least = LEAST, .without = "", .with = ""};
	unsigned gpus = 0, failed = 0;
	for (argc--, argv++; argc > 1 && str_starts(argv[0], "--"); argc -= 2, argv += 2) {
		if (strcmp(argv[0], "--least") == 0)
			opt.least = strtod(argv[1], NULL);
		else if (strcmp(argv[0], "--left-out") == 0)
			opt.left_out = (unsigned)strtoul(argv[1], NULL, 10);
		else if (strcmp(argv[0], "--without") == 0)
			opt.without = argv[1];
		else if (strcmp(argv[0], "--with") == 0)
			opt.with = argv[1];
		else if (strcmp(argv[0], "--run") == 0)
			opt.run = argv[1];
		else
			return 2;
	}
	choose(&opt);
	for (size_t i = 0; i < embedded_count; i++) {
		if (!wanted(embedded_files[i].path, argc, argv))
			continue;
		gpus++;
		failed += one(embedded_files[i].path, &opt, &total) != 0;
	}
	printf("%u GPUs, %u failed: %u wrong, %u of %u measured\n", gpus, failed, total.wrong, total.measured,
	       total.exists);
	return failed || gpus == 0;
}
