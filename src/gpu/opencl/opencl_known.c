#include "gpu/opencl/opencl_known.h"
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* What a file is, as far as that tells whether it was replaced. */
static bool add_stat(char key[KNOWN_KEY], const char *path)
{
	struct stat st;
	if (stat(path, &st))
		return known_add(key, "%s: none\n", path);
	return known_add(key, "%s: %llu %lld %lld.%09ld\n", path, (unsigned long long)st.st_ino, (long long)st.st_size,
			 (long long)st.st_mtim.tv_sec, st.st_mtim.tv_nsec);
}

/* One vendor's driver: its .icd names the library. */
static bool add_vendor(char key[KNOWN_KEY], const char *folder, const char *name)
{
	char path[512], library[512];
	if ((size_t)snprintf(path, sizeof path, "%s/%s", folder, name) >= sizeof path)
		return false;
	FILE *f = fopen(path, "r");
	const bool there = f && fgets(library, sizeof library, f);
	if (f)
		fclose(f);
	if (!there)
		return false;
	library[strcspn(library, "\r\n")] = '\0';
	return add_stat(key, path) && known_add(key, "%s\n", library) && (library[0] != '/' || add_stat(key, library));
}

bool opencl_known_key(char key[KNOWN_KEY], const char *proc, const char *vendors)
{
	static const char *const variables[] = {"OCL_ICD_VENDORS",    "OPENCL_VENDOR_PATH",   "OCL_ICD_FILENAMES",
						"OPENCL_LAYERS",      "POCL_DEVICES",	      "POCL_MAX_COMPUTE_UNITS",
						"POCL_MEMORY_LIMIT",  "CUDA_VISIBLE_DEVICES", "CUDA_DEVICE_ORDER",
						"GPU_DEVICE_ORDINAL", "LD_LIBRARY_PATH",      "LD_PRELOAD"};
	static const char *const elsewhere[] = {"OCL_ICD_VENDORS", "OPENCL_VENDOR_PATH", "OCL_ICD_FILENAMES"};
	char version[512], boot[512];
	struct dirent **name = NULL;

	memset(key, 0, KNOWN_KEY);
	for (size_t i = 0; i < sizeof elsewhere / sizeof *elsewhere; i++)
		if (getenv(elsewhere[i])) /* drivers of which nothing is known here */
			return false;
	snprintf(version, sizeof version, "%s/driver/nvidia/version", proc);
	snprintf(boot, sizeof boot, "%s/sys/kernel/random/boot_id", proc);
	bool ok = known_add(key, "%s\n", FATHOM_VERSION) && known_add_file(key, boot) &&
		  known_add_variables(key, variables, sizeof variables / sizeof *variables);
	if (ok && !known_add_file(key, version))
		ok = known_add(key, "no NVIDIA driver\n");
	int n = ok ? scandir(vendors, &name, NULL, alphasort) : -1;
	ok = n > 2;
	for (int i = 0; i < n; i++) {
		if (ok && name[i]->d_name[0] != '.')
			ok = add_vendor(key, vendors, name[i]->d_name);
		free(name[i]);
	}
	free(name);
	return ok;
}
