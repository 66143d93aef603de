#include "gpu/opencl/opencl_known.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* One vendor's driver: its .icd names the library. */
static bool add_vendor(char key[KNOWN_KEY], const char *path)
{
	char library[512];
	FILE *f = fopen(path, "r");
	const bool there = f && fgets(library, sizeof library, f);
	if (f)
		fclose(f);
	if (!there)
		return false;
	library[strcspn(library, "\r\n")] = '\0';
	return known_add_stat(key, path) && known_add(key, "%s\n", library) &&
	       (library[0] != '/' || known_add_stat(key, library));
}

bool opencl_known_key(char key[KNOWN_KEY], const char *root, const char *vendors)
{
	static const char *const elsewhere[] = {"OCL_ICD_VENDORS", "OPENCL_VENDOR_PATH", "OCL_ICD_FILENAMES"};
	static const char *const devices[][2] = {{"dev", "nvidia"}, {"dev", "kfd"}, {"dev/dri", ""}};
	char path[512];
	bool ok = known_begin(key, root);

	for (size_t i = 0; i < sizeof elsewhere / sizeof *elsewhere; i++)
		if (getenv(elsewhere[i])) /* drivers of which nothing is known here */
			return false;
	ok = ok && known_add_folder(key, vendors, "", add_vendor);
	for (size_t i = 0; i < sizeof devices / sizeof *devices && ok; i++) {
		snprintf(path, sizeof path, "%s/%s", root, devices[i][0]);
		known_add_folder(key, path, devices[i][1], known_add_stat); /* there may be none */
	}
	snprintf(path, sizeof path, "%s/proc/driver/nvidia/version", root);
	if (ok)
		known_add_file(key, path);
	return ok && known_add(key, "\n");
}
