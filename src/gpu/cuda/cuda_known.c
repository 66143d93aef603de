#include "gpu/cuda/cuda_known.h"
#include "base/arena.h"
#include <dirent.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define KNOWN_MOST 64 /* GPUs of one machine */

struct known_head {
	char magic[8];
	uint32_t item_bytes, count;
	char key[CUDA_KNOWN_KEY];
};
static const char magic[8] = "fathom1";

static bool add(char key[CUDA_KNOWN_KEY], const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static bool add(char key[CUDA_KNOWN_KEY], const char *fmt, ...)
{
	size_t at = strlen(key);
	va_list ap;
	va_start(ap, fmt);
	int n = vsnprintf(key + at, CUDA_KNOWN_KEY - at, fmt, ap);
	va_end(ap);
	return n >= 0 && (size_t)n < CUDA_KNOWN_KEY - at;
}

static bool add_file(char key[CUDA_KNOWN_KEY], const char *proc, const char *name)
{
	char path[512], text[512];
	snprintf(path, sizeof path, "%s/%s", proc, name);
	FILE *f = fopen(path, "r");
	if (!f)
		return false;
	size_t n = fread(text, 1, sizeof text - 1, f);
	fclose(f);
	text[n] = '\0';
	return n && add(key, "%s\n", text);
}

bool cuda_known_key(char key[CUDA_KNOWN_KEY], const char *proc)
{
	static const char *const variables[] = {"CUDA_VISIBLE_DEVICES", "CUDA_DEVICE_ORDER", "LD_LIBRARY_PATH",
						"LD_PRELOAD"};
	char path[512];
	struct dirent **name = NULL;

	memset(key, 0, CUDA_KNOWN_KEY);
	bool ok = add(key, "%s\n", FATHOM_VERSION) && add_file(key, proc, "driver/nvidia/version") &&
		  add_file(key, proc, "sys/kernel/random/boot_id");
	for (size_t i = 0; ok && i < sizeof variables / sizeof *variables; i++) {
		const char *v = getenv(variables[i]);
		ok = add(key, "%s=%s\n", variables[i], v ? v : "(none)");
	}
	snprintf(path, sizeof path, "%s/driver/nvidia/gpus", proc);
	int n = ok ? scandir(path, &name, NULL, alphasort) : -1;
	ok = n > 2; /* itself, its parent, and at least one GPU */
	for (int i = 0; i < n; i++) {
		if (ok && name[i]->d_name[0] != '.')
			ok = add(key, "%s\n", name[i]->d_name);
		free(name[i]);
	}
	free(name);
	return ok;
}

bool cuda_known_path(char *path, size_t n)
{
	const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
	int len = -1;
	if (cache && *cache == '/')
		len = snprintf(path, n, "%s/fathom/devices", cache);
	else if (home && *home == '/')
		len = snprintf(path, n, "%s/.cache/fathom/devices", home);
	return len > 0 && (size_t)len < n;
}

static bool ends(const char *text, size_t n)
{
	return memchr(text, '\0', n) != NULL;
}

bool cuda_known_read(struct device_list *list, const char *path, const char *key)
{
	struct known_head head;
	struct device_info item[KNOWN_MOST];
	char more;
	FILE *f = fopen(path, "rb");
	if (!f)
		return false;
	bool ok = fread(&head, sizeof head, 1, f) == 1 && !memcmp(head.magic, magic, sizeof magic) &&
		  head.item_bytes == sizeof *item && head.count && head.count <= KNOWN_MOST &&
		  !memcmp(head.key, key, sizeof head.key) && fread(item, sizeof *item, head.count, f) == head.count &&
		  fread(&more, 1, 1, f) == 0;
	fclose(f);
	for (uint32_t i = 0; ok && i < head.count; i++)
		ok = !strcmp(item[i].backend, "cuda") && ends(item[i].spec, sizeof item[i].spec) &&
		     ends(item[i].name, sizeof item[i].name) && ends(item[i].uuid, sizeof item[i].uuid) &&
		     ends(item[i].driver, sizeof item[i].driver) && ends(item[i].dialect, sizeof item[i].dialect) &&
		     ends(item[i].target, sizeof item[i].target);
	if (!ok)
		return false;
	struct device_info *items = mem_grow(list->items, (list->count + head.count) * sizeof *items);
	if (!items)
		return false;
	memcpy(items + list->count, item, head.count * sizeof *items);
	list->items = items;
	list->count += head.count;
	return true;
}

void cuda_known_write(const struct device_list *list, const char *path, const char *key)
{
	struct known_head head = {.item_bytes = sizeof *list->items, .count = (uint32_t)list->count};
	char part[576];
	if (!list->count || list->count > KNOWN_MOST)
		return;
	memcpy(head.magic, magic, sizeof magic);
	memcpy(head.key, key, sizeof head.key);
	/* The folder, and the one it lies in. */
	for (int up = 2; up >= 1; up--) {
		snprintf(part, sizeof part, "%s", path);
		for (int k = 0; k < up; k++) {
			char *slash = strrchr(part, '/');
			if (!slash || slash == part)
				return;
			*slash = '\0';
		}
		if (mkdir(part, 0755) && errno != EEXIST)
			return;
	}
	if ((size_t)snprintf(part, sizeof part, "%s.%ld", path, (long)getpid()) >= sizeof part)
		return;
	FILE *f = fopen(part, "wb");
	if (!f)
		return;
	bool ok = fwrite(&head, sizeof head, 1, f) == 1 &&
		  fwrite(list->items, sizeof *list->items, list->count, f) == list->count;
	ok = fclose(f) == 0 && ok;
	if (!ok || rename(part, path))
		unlink(part);
}
