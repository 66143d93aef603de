#include "gpu/cuda/cuda_known.h"
#include <stdio.h>
#include <sys/stat.h>

static bool add_card(char key[KNOWN_KEY], const char *path)
{
	char file[512];

	/* It names the GPU by its UUID: another card may come into the same place. */
	return (size_t)snprintf(file, sizeof file, "%s/information", path) < sizeof file && known_add_file(key, file);
}

/* The parts that a card is divided into have folders of these names, each in that of what it is a part of. */
static bool add_parts(char key[KNOWN_KEY], const char *path)
{
	struct stat st;

	if (!known_add(key, "%s\n", path))
		return false;
	if (stat(path, &st) || !S_ISDIR(st.st_mode))
		return true;
	known_add_folder(key, path, "mig", add_parts);
	known_add_folder(key, path, "gi", add_parts);
	known_add_folder(key, path, "ci", add_parts);
	return known_add(key, "\n"); /* it would not fit where one of those did not */
}

bool cuda_known_key(char key[KNOWN_KEY], const char *root)
{
	char path[512];
	bool ok = known_begin(key, root);

	snprintf(path, sizeof path, "%s/proc/driver/nvidia/version", root);
	ok = ok && known_add_file(key, path);
	snprintf(path, sizeof path, "%s/proc/driver/nvidia/gpus", root);
	ok = ok && known_add_folder(key, path, "", add_card);
	snprintf(path, sizeof path, "%s/dev", root);
	ok = ok && known_add_folder(key, path, "nvidia", known_add_stat);
	snprintf(path, sizeof path, "%s/proc/driver/nvidia/capabilities", root);
	if (ok)
		known_add_folder(key, path, "gpu", add_parts);
	return ok && known_add(key, "\n");
}
