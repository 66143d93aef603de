#include "base/embed.h"
#include <string.h>

const struct embedded *embed_find(const char *path)
{
	size_t lo = 0, hi = embedded_count;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;
		int c = strcmp(path, embedded_files[mid].path);
		if (c == 0)
			return &embedded_files[mid];
		if (c < 0)
			hi = mid;
		else
			lo = mid + 1;
	}
	return NULL;
}
