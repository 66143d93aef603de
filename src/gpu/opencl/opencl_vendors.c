#include "gpu/opencl/opencl_vendors.h"
#include <dirent.h>
#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define VENDORS "/etc/OpenCL/vendors"

/* The library that an .icd file names. */
static bool library_of(const char *folder, const char *file, char *library, size_t n)
{
	char path[512];
	FILE *f = NULL;
	if ((size_t)snprintf(path, sizeof path, "%s/%s", folder, file) < sizeof path)
		f = fopen(path, "r");
	const bool there = f && fgets(library, (int)n, f);
	if (f)
		fclose(f);
	if (there)
		library[strcspn(library, "\r\n")] = '\0';
	return there && *library;
}

static bool is_icd(const char *name)
{
	const size_t n = strlen(name);
	return n > 4 && strcmp(name + n - 4, ".icd") == 0;
}

/* True: this one does not load, and why says so. */
static bool fails(const char *folder, const char *file, char why[OPENCL_WHY])
{
	char library[512];
	if (!library_of(folder, file, library, sizeof library)) {
		snprintf(why, OPENCL_WHY, "the driver that %.120s/%.60s should name is not named there", folder, file);
		return true;
	}
	if (dlopen(library, RTLD_LAZY | RTLD_LOCAL))
		return false;
	const char *says = dlerror();
	snprintf(why, OPENCL_WHY, "the driver of %.100s/%.60s does not load: %.200s", folder, file,
		 says ? says : library);
	return true;
}

bool opencl_why_none(char why[OPENCL_WHY])
{
	const char *given = getenv("OCL_ICD_VENDORS"), *folder = given ? given : VENDORS;
	struct dirent **name = NULL;
	unsigned files = 0;
	bool failed = false;
	const int n = scandir(folder, &name, NULL, alphasort);

	for (int i = 0; i < n; i++) {
		if (is_icd(name[i]->d_name)) {
			files++;
			failed = failed || fails(folder, name[i]->d_name, why);
		}
		free(name[i]);
	}
	free(name);
	if (failed)
		return true;
	if (files)
		snprintf(why, OPENCL_WHY, "%u driver%s named in %.200s, and none has a platform", files,
			 files == 1 ? " is" : "s are", folder);
	else
		snprintf(why, OPENCL_WHY, "no driver is installed: there is no .icd file in %.200s%s", folder,
			 given ? ", which OCL_ICD_VENDORS names" : "");
	return false;
}
