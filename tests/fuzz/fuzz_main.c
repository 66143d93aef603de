/* Runs a fuzz target over files given by name or by folder: the corpora as plain tests, with any compiler. */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int run_file(const char *path)
{
	FILE *f = fopen(path, "rb");
	uint8_t *data = NULL;
	size_t size = 0, cap = 0;

	if (!f) {
		perror(path);
		return -1;
	}
	for (;;) {
		size_t n;

		if (size == cap) {
			uint8_t *more = realloc(data, cap = cap ? cap * 2 : 4096);

			if (!more)
				break;
			data = more;
		}
		n = fread(data + size, 1, cap - size, f);
		if (!n)
			break;
		size += n;
	}
	fclose(f);
	/* An exact copy: a read past the end is then seen by the address sanitizer. */
	uint8_t *exact = malloc(size ? size : 1);

	if (exact && data)
		memcpy(exact, data, size);
	free(data);
	if (!exact)
		return -1;
	printf("%s\n", path);
	LLVMFuzzerTestOneInput(exact, size);
	free(exact);
	return 0;
}

static int run_path(const char *path, unsigned *count)
{
	struct stat st;
	struct dirent *entry;
	int rc = 0;
	DIR *dir;

	if (stat(path, &st)) {
		perror(path);
		return -1;
	}
	if (!S_ISDIR(st.st_mode)) {
		++*count;
		return run_file(path);
	}
	dir = opendir(path);
	if (!dir)
		return -1;
	while (rc == 0 && (entry = readdir(dir))) {
		char name[4096];

		if (entry->d_name[0] == '.')
			continue;
		snprintf(name, sizeof(name), "%s/%s", path, entry->d_name);
		rc = run_path(name, count);
	}
	closedir(dir);
	return rc;
}

int main(int argc, char **argv)
{
	unsigned count = 0;

	for (int i = 1; i < argc; i++)
		if (run_path(argv[i], &count))
			return 1;
	printf("%u inputs\n", count);
	return count ? 0 : 1;
}
