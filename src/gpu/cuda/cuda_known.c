#include "gpu/cuda/cuda_known.h"
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool cuda_known_key(char key[KNOWN_KEY], const char *proc)
{
	static const char *const variables[] = {"CUDA_VISIBLE_DEVICES", "CUDA_DEVICE_ORDER", "LD_LIBRARY_PATH",
						"LD_PRELOAD"};
	char version[512], boot[512], path[512];
	struct dirent **name = NULL;

	memset(key, 0, KNOWN_KEY);
	snprintf(version, sizeof version, "%s/driver/nvidia/version", proc);
	snprintf(boot, sizeof boot, "%s/sys/kernel/random/boot_id", proc);
	bool ok = known_add(key, "%s\n", FATHOM_VERSION) && known_add_file(key, version) && known_add_file(key, boot) &&
		  known_add_variables(key, variables, sizeof variables / sizeof *variables);
	snprintf(path, sizeof path, "%s/driver/nvidia/gpus", proc);
	int n = ok ? scandir(path, &name, NULL, alphasort) : -1;
	ok = n > 2; /* itself, its parent, and at least one GPU */
	for (int i = 0; i < n; i++) {
		if (ok && name[i]->d_name[0] != '.')
			ok = known_add(key, "%s\n", name[i]->d_name);
		free(name[i]);
	}
	free(name);
	return ok;
}
