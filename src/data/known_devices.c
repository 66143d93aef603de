/* What a backend said of its devices, kept in a file. */
#include "data/known_devices.h"
#include "base/arena.h"
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define KNOWN_MOST 64 /* devices of one machine */

struct known_head {
	char magic[8];
	uint32_t item_bytes, count;
	char key[KNOWN_KEY];
};
static const char magic[8] = "fathom1";

bool known_add(char key[KNOWN_KEY], const char *fmt, ...)
{
	size_t at = strlen(key);
	va_list ap;
	va_start(ap, fmt);
	int n = vsnprintf(key + at, KNOWN_KEY - at, fmt, ap);
	va_end(ap);
	return n >= 0 && (size_t)n < KNOWN_KEY - at;
}

bool known_add_file(char key[KNOWN_KEY], const char *path)
{
	char text[512];
	FILE *f = fopen(path, "r");
	if (!f)
		return false;
	size_t n = fread(text, 1, sizeof text - 1, f);
	fclose(f);
	text[n] = '\0';
	return n && known_add(key, "%s\n", text);
}

bool known_add_variables(char key[KNOWN_KEY], const char *const *name, size_t n)
{
	bool ok = true;
	for (size_t i = 0; ok && i < n; i++) {
		const char *v = getenv(name[i]);
		ok = known_add(key, "%s=%s\n", name[i], v ? v : "(none)");
	}
	return ok;
}

bool known_path(char *path, size_t n, const char *name)
{
	const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
	int len = -1;
	if (cache && *cache == '/')
		len = snprintf(path, n, "%s/fathom/%s", cache, name);
	else if (home && *home == '/')
		len = snprintf(path, n, "%s/.cache/fathom/%s", home, name);
	return len > 0 && (size_t)len < n;
}

static bool ends(const char *text, size_t n)
{
	return memchr(text, '\0', n) != NULL;
}

bool known_read(struct device_list *list, const char *backend, const char *path, const char *key)
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
		ok = ends(item[i].backend, sizeof item[i].backend) && !strcmp(item[i].backend, backend) &&
		     ends(item[i].spec, sizeof item[i].spec) && ends(item[i].name, sizeof item[i].name) &&
		     ends(item[i].uuid, sizeof item[i].uuid) && ends(item[i].driver, sizeof item[i].driver) &&
		     ends(item[i].dialect, sizeof item[i].dialect) && ends(item[i].target, sizeof item[i].target);
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

void known_write(const struct device_list *list, const char *path, const char *key)
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
