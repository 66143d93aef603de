/* The gates over the shipped GPUs:
 *
 *   gates [NAME...]      default: all
 *   gates --off NAME...  the GPU that runs differs from its description, and each kind of gate has to find it out */
#include "base/embed.h"
#include "gate.h"
#include <stdio.h>
#include <string.h>

static bool wanted(const char *name, int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		if (!strcmp(argv[i], name))
			return true;
	return argc == 1;
}

static const struct {
	const char *name;
	void (*run)(struct gate *g);
} kinds[] = {{"arithmetic", gates_arithmetic}, {"shared memory", gates_shared},	   {"core", gates_core},
	     {"caches", gates_caches},	       {"translation", gates_translation}, {"fetch", gates_fetch},
	     {"bandwidth", gates_bandwidth}};

static unsigned one(const struct embedded *m, const char *name, bool off)
{
	struct arena a;
	struct err e = {0};
	struct sim_spec *s;
	arena_init(&a);
	if (spec_parse(&s, &a, m->path, m->data, m->size, &e)) {
		printf("%s\n", e.text);
		arena_free(&a);
		return 1;
	}
	memset(&s->noise, 0, sizeof s->noise);
	struct gate g = {.gpu = name, .s = s, .off = off};
	unsigned blind = 0;
	for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
		unsigned before = g.failures;
		kinds[i].run(&g);
		/* Without instruction caches or TLBs, nothing of theirs can be off. */
		bool nothing = kinds[i].run == gates_fetch && !s->fetch.path.levels;
		if (off && g.failures == before && !nothing) {
			printf("%s: the gates of %s do not notice another GPU\n", name, kinds[i].name);
			blind++;
		}
	}
	printf("%s: %u checks, %u failed\n", name, g.checks, g.failures);
	if (off)
		g.failures = blind + g.broken;
	arena_free(&a);
	return g.failures || g.checks == 0;
}

int main(int argc, char **argv)
{
	unsigned gpus = 0, failed = 0;
	bool off = argc > 1 && !strcmp(argv[1], "--off");
	argc -= off;
	argv += off;
	for (size_t i = 0; i < embedded_count; i++) {
		const char *path = embedded_files[i].path;
		char name[64];
		if (!str_starts(path, "gpus/") || !str_ends(path, ".gpu"))
			continue;
		snprintf(name, sizeof name, "%.*s", (int)(strlen(path) - strlen("gpus/.gpu")), path + strlen("gpus/"));
		if (!wanted(name, argc, argv))
			continue;
		gpus++;
		failed += one(&embedded_files[i], name, off) != 0;
	}
	printf("%u GPUs, %u failed\n", gpus, failed);
	return failed || gpus == 0;
}
