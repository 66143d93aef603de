/* What a backend said of its devices, kept in a file. */
#include "data/known_devices.h"
#include "base/arena.h"
#include "base/str.h"
#include <dirent.h>
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
	char text[4096];
	FILE *f = fopen(path, "r");
	if (!f)
		return false;
	size_t n = fread(text, 1, sizeof text, f);
	fclose(f);
	return n && known_add(key, "%s: %016llx\n", path, (unsigned long long)hash64(text, n, 1));
}

bool known_add_stat(char key[KNOWN_KEY], const char *path)
{
	struct stat st;
	if (stat(path, &st))
		return known_add(key, "%s: none\n", path);
	return known_add(key, "%s: %llu %llx %o %u %u %lld %lld.%09ld\n", path, (unsigned long long)st.st_ino,
			 (unsigned long long)st.st_rdev, (unsigned)st.st_mode, (unsigned)st.st_uid, (unsigned)st.st_gid,
			 (long long)st.st_size, (long long)st.st_ctim.tv_sec, st.st_ctim.tv_nsec);
}

bool known_add_folder(char key[KNOWN_KEY], const char *path, const char *begins,
		      bool (*add)(char key[KNOWN_KEY], const char *path))
{
	struct dirent **name = NULL;
	char inner[512];
	unsigned found = 0;
	const int n = scandir(path, &name, NULL, alphasort);
	bool ok = true;
	for (int i = 0; i < n; i++) {
		if (ok && name[i]->d_name[0] != '.' && str_starts(name[i]->d_name, begins)) {
			ok = (size_t)snprintf(inner, sizeof inner, "%s/%s", path, name[i]->d_name) < sizeof inner &&
			     add(key, inner);
			found++;
		}
		free(name[i]);
	}
	free(name);
	return ok && found > 0;
}

/* What decides which devices a driver shows, and where it comes from, has names that begin so. */
static bool is_of_drivers(const char *variable)
{
	static const char *const begins[] = {"CUDA_", "NVIDIA_", "LD_",	 "OCL_", "OPENCL_", "POCL_",
					     "GPU_",  "ROCR_",	 "HIP_", "ZE_",	 "RUSTICL_"};
	bool yes = false;
	for (size_t i = 0; i < sizeof begins / sizeof *begins; i++)
		yes |= str_starts(variable, begins[i]);
	return yes;
}

bool known_begin(char key[KNOWN_KEY], const char *root)
{
	char path[512], where[128] = "";
	bool ok;

	memset(key, 0, KNOWN_KEY);
	snprintf(path, sizeof path, "%s/proc/sys/kernel/random/boot_id", root);
	ok = known_add(key, "%s %u\n", FATHOM_VERSION, (unsigned)geteuid()) && known_add_file(key, path);
	/* A container, or a job of a batch system, may see other devices than its neighbour, of the same driver. */
	snprintf(path, sizeof path, "%s/proc/self/cgroup", root);
	known_add_file(key, path);
	snprintf(path, sizeof path, "%s/proc/self/ns/mnt", root);
	if (readlink(path, where, sizeof where - 1) > 0)
		ok = ok && known_add(key, "%s\n", where);
	for (char **v = environ; ok && v && *v; v++)
		if (is_of_drivers(*v))
			ok = known_add(key, "%s\n", *v);
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
		ok = device_check(&item[i], NULL) == 0 && !strcmp(item[i].backend, backend);
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
