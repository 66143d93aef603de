/* fathom exec: a CUDA program with our driver and runtime (src/exec) in place of NVIDIA's. */
#include "cmd/cmd.h"
#include "gpu/sim/spec.h"
#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifndef FATHOM_EXEC_FOLDER
#define FATHOM_EXEC_FOLDER "/usr/local/lib/fathom"
#endif

static bool has_driver(const char *folder, struct arena *a)
{
	const char *path = folder ? arena_printf(a, "%s/libcuda.so.1", folder) : NULL;
	return path && access(path, R_OK) == 0;
}

/* Beside this program in its build folder or in the folder that it was unpacked to, else where it was installed to. */
static int libraries(struct cmd_context *c, const char **folder)
{
	char self[4096];
	ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
	char *slash = NULL;
	if (n > 0) {
		self[n] = '\0';
		slash = strrchr(self, '/');
	}
	static const char *const near[] = {"src/exec", "../lib/fathom"};
	for (size_t i = 0; slash && i < sizeof near / sizeof *near; i++) {
		*slash = '\0';
		*folder = arena_printf(&c->arena, "%s/%s", self, near[i]);
		if (has_driver(*folder, &c->arena))
			return CMD_OK;
	}
	*folder = FATHOM_EXEC_FOLDER;
	return has_driver(*folder, &c->arena)
		   ? CMD_OK
		   : cmd_fail(c, CMD_DEVICE, "there is no libcuda.so.1 of fathom in %s: build or install fathom whole",
			      *folder);
}

/* The program may change its folder: a file is named from the root on. */
static int gpu_of(struct cmd_context *c, const char **gpu)
{
	struct arena a;
	struct sim_spec *s;
	arena_init(&a);
	int r = spec_open(&s, &a, *gpu, &c->error);
	arena_free(&a);
	if (r)
		return cmd_gpu_code(*gpu, r);
	if (strchr(*gpu, '/') || str_ends(*gpu, ".gpu")) {
		char *whole = realpath(*gpu, NULL);
		*gpu = whole ? arena_strdup(&c->arena, whole) : NULL;
		free(whole);
	}
	return *gpu ? CMD_OK : cmd_fail(c, CMD_DEVICE, "out of memory");
}

/* All that the program has, with commas between. */
static int gpus_of(struct cmd_context *c, const char **gpus)
{
	char *rest = arena_strdup(&c->arena, cmd_value(c, "gpu"));
	*gpus = "";
	for (char *name; rest && (name = strtok_r(rest, ",", &rest)) != NULL;) {
		const char *one = name;
		int rc = gpu_of(c, &one);
		if (rc)
			return rc;
		*gpus = arena_printf(&c->arena, "%s%s%s", *gpus, **gpus ? "," : "", one);
		if (!*gpus)
			break;
	}
	if (*gpus && !**gpus)
		return cmd_fail(c, CMD_USAGE, "--gpu names no simulated GPU");
	return *gpus ? CMD_OK : cmd_fail(c, CMD_DEVICE, "out of memory");
}

/* Puts `first` before what a variable of the loader's says. */
static int put_before(struct cmd_context *c, const char *name, const char *first)
{
	const char *old = getenv(name);
	const char *whole = old && *old ? arena_printf(&c->arena, "%s:%s", first, old) : first;
	return first && whole && setenv(name, whole, 1) == 0 ? CMD_OK : cmd_fail(c, CMD_DEVICE, "out of memory");
}

/* The library writes its statistics to this absolute path, or to standard error if it is empty. The file is made now: a
 * folder that cannot be written is told at once. */
static int stats_to(struct cmd_context *c, const char *path)
{
	FILE *f = path ? fopen(path, "w") : NULL;
	char *whole = f ? realpath(path, NULL) : NULL;
	int bad = errno;
	if (f)
		fclose(f);
	int failed = (path && !whole) || setenv("FATHOM_EXEC_STATS", path ? whole : "", 1);
	free(whole);
	return failed ? cmd_fail(c, CMD_FILE, "cannot write %s: %s", path ? path : "FATHOM_EXEC_STATS", strerror(bad))
		      : CMD_OK;
}

/* Of 64 bits and without a loader: then nothing is put before its libraries, because it has none. */
static bool is_static(const char *path)
{
	Elf64_Ehdr h;
	Elf64_Phdr p;
	FILE *f = fopen(path, "rb");
	bool loader = !f || fread(&h, sizeof h, 1, f) != 1 || memcmp(h.e_ident, ELFMAG, SELFMAG) != 0 ||
		      h.e_ident[EI_CLASS] != ELFCLASS64 || h.e_phentsize != sizeof p ||
		      fseek(f, (long)h.e_phoff, SEEK_SET);
	for (unsigned k = 0; !loader && k < h.e_phnum; k++)
		loader = fread(&p, sizeof p, 1, f) != 1 || p.p_type == PT_INTERP;
	if (f)
		fclose(f);
	return !loader;
}

int cmd_exec(struct cmd_context *c, int argc, char **argv)
{
	const char *folder, *gpu;
	if (cmd_flag(c, "untimed") && cmd_flag(c, "stats"))
		return cmd_fail(c, CMD_USAGE, "--untimed counts no cycles: there are no --stats of it");
	int rc = cmd_threads(c);
	if (!rc)
		rc = gpus_of(c, &gpu);
	if (!rc)
		rc = libraries(c, &folder);
	if (!rc)
		rc = put_before(c, "LD_LIBRARY_PATH", folder);
	if (!rc)
		rc = put_before(c, "LD_PRELOAD", "libfathom-exec.so"); /* a path with a blank would be two */
	if (rc)
		return rc;
	if (cmd_flag(c, "stats") && stats_to(c, cmd_value(c, "stats")))
		return CMD_FILE;
	if (cmd_flag(c, "check") && setenv("FATHOM_EXEC_CHECK", "1", 1))
		return cmd_fail(c, CMD_DEVICE, "out of memory");
	if (cmd_flag(c, "untimed") && setenv("FATHOM_EXEC_UNTIMED", "1", 1))
		return cmd_fail(c, CMD_DEVICE, "out of memory");
	char **words = ARENA_ARRAY(&c->arena, (size_t)argc + 1, char *);
	if (!words || setenv("FATHOM_EXEC_GPU", gpu, 1))
		return cmd_fail(c, CMD_DEVICE, "out of memory");
	memcpy(words, argv, (size_t)argc * sizeof *words);
	if (is_static(words[0]))
		fprintf(stderr,
			"fathom exec: %s is linked statically and loads no libcuda.so.1: it finds no simulated GPU\n",
			words[0]);
	execvp(words[0], words);
	return cmd_fail(c, CMD_FILE, "cannot run %s: %s", words[0], strerror(errno));
}
